import copy
import multiprocessing
import pickle
import zipfile
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

import trivox


def test_arrays_of_a_field_agree(tetrahedron):
    field = trivox.Voxelizer(voxel_size=0.5).distances(tetrahedron, width=2.5)
    assert field.shape == field.dims == (22, 22, 22) and field.width == 2.5
    assert np.array_equal(field.origin, [-1.5] * 3) and field.voxel_size == 0.5
    coords, distances, dense = field.coords(), field.distances(), field.dense()
    assert coords.shape == (len(field), 3) and coords.dtype == np.int32
    assert distances.shape == (len(field),) and distances.dtype == np.float32
    again = np.where(field.inside().dense(), -field.width, field.width).astype(np.float32)
    again[tuple(coords.T)] = distances
    assert np.array_equal(again, dense)
    # Half a voxel from three sides.
    assert dense[3, 3, 3] == -0.5 and dense[2, 3, 3] == 0.5
    assert (np.abs(dense) < 2.5).sum() == len(field)


def test_a_sample_is_interpolated_between_voxel_centres(tetrahedron):
    field = trivox.Voxelizer(voxel_size=0.5).distances(tetrahedron, width=2.5)
    assert np.array_equal(field.sample(field.centers()), field.distances())
    # Below the side at z = 0 the distance is the height, in voxels.
    heights = np.linspace(-1, 1, 9)
    points = np.column_stack([np.full(9, 2.0), np.full(9, 2.0), heights])
    assert np.allclose(field.sample(points), -heights / 0.5, atol=1e-6)
    assert field.sample([-1.5, -1.5, -1.5]) == np.float32(2.5)
    assert np.isnan(field.sample([[0, 0, 100], [np.nan, 0, 0]])).all()
    assert field.sample(np.zeros((0, 3))).shape == (0,)
    with pytest.raises(trivox.OptionError, match=r"use \(n, 3\)"):
        field.sample([1.0, 2.0])


def test_a_field_is_an_array_for_other_libraries(tetrahedron):
    field = trivox.Voxelizer(20).distances(tetrahedron)
    assert np.asarray(field).dtype == np.float32
    assert np.array_equal(np.asarray(field), field.dense())
    assert np.array_equal(np.from_dlpack(field), field.dense())
    assert np.array_equal(field.centers(), field.origin + (field.coords() + 0.5) * field.voxel_size)
    assert np.array_equal(field.coords("zyx", batch=2)[:, :0:-1], field.coords())


def test_a_field_survives_pickling_and_copying(tetrahedron):
    field = trivox.Voxelizer(20, up="z").distances(tetrahedron)
    for again in (pickle.loads(pickle.dumps(field)), copy.deepcopy(field)):
        assert again == field and hash(again) == hash(field) and again.hash == field.hash
        assert again.report == field.report and again.up == "z" and again.width == field.width
        assert np.array_equal(again.origin, field.origin) and again.voxel_size == field.voxel_size
        assert np.array_equal(again.dense(), field.dense())
    callable_, (band, *rest) = field.__reduce__()
    with pytest.raises(trivox.ReadError):
        callable_(band[:-9], *rest)


def test_another_process_may_compute_a_field(tetrahedron):
    vox = trivox.Voxelizer(20)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        found = pool.submit(vox.distances, tetrahedron, width=2.5).result()
    assert found == vox.distances(tetrahedron, width=2.5)


def test_distances_of_many_meshes_are_those_of_each(tetrahedron):
    vox = trivox.Voxelizer(20)
    items = [("a", tetrahedron), "none.obj", tetrahedron, 3]
    found = list(vox.many_distances(items, 2.5))
    assert [key for key, _ in found] == ["a", "none.obj", 2, 3]
    expected = vox.distances(tetrahedron, width=2.5)
    assert found[0][1] == expected and found[2][1] == expected
    assert found[0][1].report["distances"]["voxels"] == len(expected)
    assert isinstance(found[1][1], FileNotFoundError) and isinstance(found[3][1], TypeError)
    assert len(list(vox.many_distances(items, on_error="skip"))) == 2
    with pytest.raises(FileNotFoundError):
        list(vox.many_distances(items, on_error="raise"))
    for width in (0, -1, float("nan"), 2000):
        with pytest.raises(trivox.OptionError, match="width"):
            vox.many_distances(items, width)


def test_the_report_of_a_field_says_how_the_inside_was_found(tetrahedron):
    report = trivox.Voxelizer(20).distances(tetrahedron).report
    assert report["triangles"] == 4 and report["fill"]["rule"] == "parity"
    assert report["timings_ms"]["distance"] > 0


def test_distances_do_not_depend_on_the_threads(tetrahedron):
    fields = [trivox.Voxelizer(40, threads=n).distances(tetrahedron, width=3) for n in (1, 2, 5)]
    assert fields[0] == fields[1] == fields[2]
    assert len({field.hash for field in fields}) == 1
    assert fields[0] != trivox.Voxelizer(40).distances(tetrahedron, width=2)


def test_a_field_is_saved(tmp_path, tetrahedron):
    field = trivox.Voxelizer(16).distances(tetrahedron, width=3)
    for name in ("a.vdb", "a.nvdb"):
        field.save(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000
    with pytest.warns(trivox.TrivoxWarning, match="where the grid lies"):
        field.save(tmp_path / "a.npy")
    assert np.array_equal(np.load(tmp_path / "a.npy"), field.dense())
    field.save(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as arrays:
        assert np.array_equal(arrays["coords"], field.coords())
        assert np.array_equal(arrays["distances"], field.distances())
    assert (tmp_path / "a.npz").read_bytes() == field.to_bytes("npz")
    with pytest.raises(trivox.WriteError, match=r"use one of \.npy"):
        field.save(tmp_path / "a.vox")


@pytest.mark.parametrize("width", [0, -1, float("nan"), 2000])
def test_impossible_widths_are_refused(width, tetrahedron):
    with pytest.raises(trivox.OptionError, match="at most 1024"):
        trivox.Voxelizer(16).distances(tetrahedron, width=width)
    with pytest.raises(TypeError, match="faces is an array, not .*: give width=.* by name"):
        trivox.Voxelizer(16).distances(tetrahedron, width)
    inside = trivox.Grid.from_coords([], (4, 4, 4))
    with pytest.raises(trivox.OptionError, match="at most 1024") as caught:
        trivox.DistanceField.from_coords([], [], inside, width)
    assert caught.value.code == "option.width"


def test_options_without_effect_on_distances_are_a_warning(tetrahedron):
    for options, names in [
        ({"mode": "thin", "color": (1, 2, 3)}, 'mode="thin", color'),
        (
            {"mode": "solid", "include_surface": True, "interior_color": (1, 2, 3), "blend": "none"},
            "include_surface, interior_color, blend",
        ),
    ]:
        vox = trivox.Voxelizer(8, **options)
        sentence = f"options without effect on distances: {names}"
        with pytest.warns(trivox.TrivoxWarning) as caught:
            assert vox.distances(tetrahedron).warnings == (sentence,)
        assert [str(one.message) for one in caught] == [sentence]
        assert [field.warnings for _, field in vox.many_distances([tetrahedron])] == [(sentence,)]
    for options in ({}, {"mode": "solid", "fill": "winding"}, {"color": False}):
        assert trivox.Voxelizer(8, **options).distances(tetrahedron).warnings == ()


def test_a_doubtful_inside_is_a_warning():
    sheet = trivox.Mesh([[0, 0, 0], [4, 0, 0], [0, 4, 1]], [[0, 1, 2]])
    with pytest.warns(trivox.TrivoxWarning):
        trivox.Voxelizer(16).distances(sheet)
    with pytest.warns(trivox.TrivoxWarning) as caught:
        trivox.Voxelizer(16, mode="solid", fill="vote").distances(sheet)
    assert any(str(one.message).endswith('; try fill="winding"') for one in caught)


def test_a_field_is_read_back_from_its_file_and_made_of_its_arrays(tmp_path, tetrahedron):
    field = trivox.Voxelizer(16, up="z").distances(tetrahedron, width=2)
    # A voxel is a half: distances in mesh units are exact, too.
    assert np.log2(field.voxel_size) % 1 == 0
    for format in ("vdb", "nvdb", "vti", "npz"):
        field.save(tmp_path / f"field.{format}")
        again = trivox.load_distances(tmp_path / f"field.{format}")
        assert again == field and again.hash == field.hash and again.warnings == ()
        assert again.up == "z" and np.array_equal(again.origin, field.origin)
    assert again == field and again.hash == field.hash and again.up == "z"
    assert np.array_equal(again.origin, field.origin) and again.voxel_size == field.voxel_size
    assert np.array_equal(again.sample([[1, 1, 1]]), field.sample([[1, 1, 1]]))
    order = np.random.default_rng(2).permutation(len(field))
    coords, distances, inside = field.coords()[order], field.distances()[order], field.inside()
    assert trivox.DistanceField.from_coords(coords, distances, inside, 2) == field

    make = trivox.DistanceField.from_coords
    for call, message in [
        (lambda: make(coords, -distances, inside, 2), "negative inside"),
        (lambda: make(coords, distances, inside, 1), "below the width, 1"),
        (lambda: make(coords, distances * np.nan, inside, 2), "a distance of NaN"),
        (lambda: make([[0, 0, 0]] * 2, [1.5, 1.5], inside, 2), "appears twice"),
        (lambda: make(coords + 99, distances, inside, 2), "lies outside a grid"),
        (lambda: make(coords, distances[1:], inside, 2), "distances of shape"),
        (lambda: make([], [], inside, 0), "a width of 0 voxels is not possible"),
    ]:
        with pytest.raises(trivox.OptionError, match=message):
            call()


def test_a_field_is_made_of_a_dense_array(tmp_path, tetrahedron):
    field = trivox.Voxelizer(20, up="z").distances(tetrahedron, width=2)
    make = trivox.DistanceField.from_dense
    place = {"origin": field.origin, "voxel_size": field.voxel_size, "up": "z"}
    for dense in (field.dense(), np.asfortranarray(field.dense()), field.dense().astype("f8")):
        again = make(dense, 2, **place)
        assert again == field and again.up == "z" and np.array_equal(again.origin, field.origin)
    assert make(field.dense(), 1).inside() == field.inside()
    zeros = make([[[0.0, -0.0, 1.0, -1.0]]], 1)
    assert zeros.coords().tolist() == [[0, 0, 0], [0, 0, 1]] and zeros.inside().coords().tolist() == [[0, 0, 1], [0, 0, 3]]
    for call, message in [
        (lambda: make(np.zeros((2, 2)), 2), "distances of shape"),
        (lambda: make([[[1.0, np.nan]]], 2), r"the distance of voxel \[0, 0, 1\] is not a number"),
        (lambda: make(np.zeros((0, 2, 2)), 2), "a grid of 0x2x2"),
        (lambda: make([[[1.0]]], 0), "a width of 0"),
    ]:
        with pytest.raises(trivox.TrivoxError, match=message):
            call()
    with pytest.warns(trivox.TrivoxWarning, match="where the grid lies, its voxel size and which axis is up are not kept"):
        field.save(tmp_path / "field.npy")
    with pytest.warns(trivox.TrivoxWarning, match="where the grid lies is not known"):
        make([[[1.0]]], 2).to_bytes("vti")


def test_files_without_distances_are_refused(tmp_path, tetrahedron):
    grid = trivox.Voxelizer(8)(tetrahedron)
    for name, message in [
        ("grid.npz", "no distances are read from it: trivox.load reads its voxels"),
        ("grid.vdb", "no distances are read from it: trivox.load reads its voxels"),
    ]:
        grid.save(tmp_path / name)
        with pytest.raises(trivox.ReadError, match=message):
            trivox.load_distances(tmp_path / name)
    field = trivox.Voxelizer(8).distances(tetrahedron, width=2)
    field.save(tmp_path / "field.npz")
    arrays = dict(np.load(tmp_path / "field.npz"))
    of_type = [
        ({"distances": arrays["distances"].astype(str)}, "distances.npy is not float32 or float64 of shape"),
        ({"distances": arrays["distances"] + 1j}, "distances.npy is not float32 or float64 of shape"),
        ({"coords": arrays["coords"].astype(str)}, "coords.npy is not int32 or int64 of shape"),
        ({"coords": arrays["coords"].astype(object)}, "coords.npy is not int32 or int64 of shape"),
        ({"width": np.ones(2)}, "width.npy is not one number"),
        ({"width": np.array("2")}, "width.npy is not one number"),
        ({"width": np.array(2 + 1j)}, "width.npy is not one number"),
    ]
    of_value = [
        ({"distances": -arrays["distances"]}, "a distance of .* is not possible for voxel"),
        ({"distances": arrays["distances"] * np.nan}, "a distance of NaN is not possible for voxel"),
        ({"coords": arrays["coords"][1:]}, "coords.npy has .* rows, and distances.npy"),
        ({"coords": arrays["coords"] - [0, 5, 0]}, r"row .* of coords.npy, \[.*, -\d, .*\], lies outside a grid"),
        ({"coords": arrays["coords"][[0, *range(len(arrays["coords"]) - 1)]]}, "voxel .* appears twice"),
        ({"width": np.array(1.0)}, "below the width, 1"),
        ({"width": np.array(-1)}, "width.npy: a width of -1 voxels is not possible"),
    ]
    for changed, message in of_type + of_value:
        np.savez(tmp_path / "other.npz", **(arrays | changed))
        with pytest.raises(trivox.ReadError, match=f"other.npz: .*{message}"):
            trivox.load_distances(tmp_path / "other.npz")
    for changed, message in of_value:
        np.savez(tmp_path / "other.npz", **(arrays | changed))
        with pytest.raises(trivox.ReadError, match=message):
            trivox.load(tmp_path / "other.npz")
    # Arrays of another program.
    for changed, message in of_type:
        np.savez(tmp_path / "other.npz", **(arrays | changed))
        with pytest.warns(trivox.TrivoxWarning, match=f"its distances are not read .{message}"):
            assert trivox.load(tmp_path / "other.npz") == field.inside()
    order = np.random.default_rng(2).permutation(len(field))
    wide = {name: arrays[name][order].astype(dtype) for name, dtype in [("coords", "i8"), ("distances", "f8")]}
    fortran = {"coords": np.asfortranarray(arrays["coords"])}
    for changed in (wide, fortran):
        np.savez(tmp_path / "other.npz", **(arrays | changed))
        assert trivox.load_distances(tmp_path / "other.npz") == field
    for name in ("coords", "distances", "width"):
        for content in (b"", b"no array", b"\x93NUMPY\x01\x00\x06\x00({'a'\n", b"\x93NUMPY\x01\x00\x02\x00{}"):
            with zipfile.ZipFile(tmp_path / "field.npz") as whole, zipfile.ZipFile(tmp_path / "other.npz", "w") as other:
                for member in whole.namelist():
                    other.writestr(member, content if member == f"{name}.npy" else whole.read(member))
            with pytest.raises(trivox.ReadError, match="other.npz: "):
                trivox.load_distances(tmp_path / "other.npz")
    del arrays["voxel_size"]
    np.savez(tmp_path / "other.npz", **arrays)
    with pytest.warns(trivox.TrivoxWarning, match="other.npz: the grid's position is ignored") as caught:
        again = trivox.load_distances(tmp_path / "other.npz")
    assert len(caught) == len(again.warnings) == 1 and again == field and again.origin is None
    (tmp_path / "broken.npz").write_bytes(b"PK")
    with pytest.raises(trivox.ReadError, match="broken.npz"):
        trivox.load_distances(tmp_path / "broken.npz")
    with pytest.raises(FileNotFoundError):
        trivox.load_distances(tmp_path / "gone.npz")
