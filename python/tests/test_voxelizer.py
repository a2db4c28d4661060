import hashlib
import logging
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import typing
import warnings

import numpy as np
import pytest

import trivox
from trivox import _reports
from conftest import ASSETS, CORNERS, SIDES, torus, write_obj


def test_a_voxelizer_is_its_options():
    vox = trivox.Voxelizer(64, mode="solid", fill="winding", pad=1, memory="2 GiB", threads=2)
    assert vox.options == {
        "resolution": 64,
        "mode": "solid",
        "fill": "winding",
        "pad": 1,
        "memory": 2 << 30,
        "threads": 2,
    }
    copy = pickle.loads(pickle.dumps(vox))
    assert copy == vox and hash(copy) == hash(vox) and repr(copy) == repr(vox)
    assert trivox.Voxelizer(**vox.options) == vox != trivox.Voxelizer()
    bounded = trivox.Voxelizer(voxel_size=0.5, bounds=[[0, 0, 0], [1, 2, 3]])
    assert pickle.loads(pickle.dumps(bounded)) == bounded
    negative = trivox.Voxelizer(voxel_size=0.5, bounds=[[-0.0, 0, -0.0], [1, 2, 3]])
    assert negative == bounded and hash(negative) == hash(bounded)
    assert trivox.Voxelizer(res=64) == trivox.Voxelizer(64) != trivox.Voxelizer(res=32)


def test_arrays_are_a_mesh(tetrahedron, torus_obj):
    vox = trivox.Voxelizer(8, mode="solid")
    arrays = tetrahedron.vertices, tetrahedron.faces
    grid = vox(tetrahedron)
    assert vox(*arrays) == vox(*map(np.ndarray.tolist, arrays)) == grid
    assert vox.voxelize(*arrays, progress=lambda *_: None) == grid
    assert vox.distances(*arrays, width=2) == vox.distances(tetrahedron, width=2) != vox.distances(*arrays)
    assert vox.estimate(*arrays) == vox.estimate(tetrahedron)
    points = np.random.default_rng(9).uniform(0, 8, (50, 3))
    inside = trivox.Proximity(tetrahedron).contains(points)
    assert np.array_equal(trivox.Proximity(*arrays).contains(points), inside)
    for call in (vox, vox.distances, vox.estimate, trivox.Proximity):
        with pytest.raises(TypeError, match=r"faces takes an array of shape \(m, 3\), not float|^faces is an array, not 2.5: give width"):
            call(tetrahedron, 2.5)
        with pytest.raises(trivox.MeshError, match="vertex"):
            call(arrays[0], arrays[1] + 1)
        for mesh in (torus_obj, tetrahedron):
            with pytest.raises(TypeError, match="vertices takes an array"):
                call(mesh, arrays[1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"resolution": 8, "voxel_size": 1}, "not both"),
        ({"resolution": 0}, "use 1 to 65536"),
        ({"resolution": 8, "res": 8}, "give resolution or res, not both"),
        ({"res": 0}, "res 0 is not possible: use 1 to 65536"),
        ({"res": 8, "voxel_size": 1}, "not both"),
        ({"resolution": 8, "height": 8}, "give resolution or height, not both"),
        ({"height": 8, "length": 8}, "give height or length, not both"),
        ({"width": 0}, "width 0 is not possible: use 1 to 65536"),
        ({"height": 8, "cube": 8}, "height, width and length .* leave one out"),
        ({"voxel_size": -1.0}, "positive"),
        ({"bounds": [[0, 2, 0], [1, 0, 1]]}, "y axis"),
        ({"mode": "hollow"}, "'surface', 'thin', 'solid'"),
        ({"fill": "vote"}, "mode='solid'"),
        ({"filter": "cubic"}, "'auto', 'nearest', 'linear'"),
        ({"filter": "linear", "color": False}, "color=False ignores"),
        ({"blend": "most"}, "'all', 'visible', 'none'"),
        ({"blend": "none", "color": False}, "color=False ignores"),
        ({"backend": "cuda"}, "'auto', 'gpu', 'cpu'"),
        ({"backend": "cpu", "adapter": "x"}, "leave one out"),
        ({"memory": "much"}, "2 GiB"),
        ({"memory": "2bbb"}, "2 GiB"),
        ({"memory": -1}, "memory -1 is not possible: use 0 to"),
        ({"memory": 1 << 70}, "use 0 to"),
        ({"voxel_size": 10**400}, "voxel_size is not possible: use a number between"),
        ({"scale": -(10**400)}, "scale is not possible: use a number between"),
        ({"time_limit": 10**400}, "time_limit is not possible: use a number between"),
        ({"threads": 0}, "threads 0 is not possible: use 1 to 1024"),
        ({"time_limit": -1}, "seconds"),
        ({"time_limit": 0}, "time_limit 0 is not possible: use a positive number of seconds"),
        ({"resolution": -1}, "resolution -1 is not possible: use 1 to 65536"),
        ({"resolution": 1 << 70}, "use 1 to 65536"),
        ({"resolution": 1 << 30, "tile": "1/8"}, "use 1 to 1048576"),
        ({"pad": -1}, "pad -1 is not possible: use 0 to 65536"),
        ({"bounds": [0, 0, 0, 1, 1, 1]}, r"bounds of shape \(6,\) is not possible: use \(2, 3\)"),
        ({"interior_color": (1, 2, 300), "mode": "solid"}, "interior_color 300 .* use 0 to 255"),
        ({"interior_color": (1, 2), "mode": "solid"}, "interior_color takes 3 whole numbers"),
        ({"cube": 0}, "cube 0 is not possible"),
        ({"dims": (8, 8, 70000)}, "dims 70000 is not possible"),
        ({"cube": 8, "dims": (8, 8, 8)}, "cube or dims, not both"),
        ({"cube": 8, "pad": 1}, "leave bounds and pad out"),
        ({"dims": (8, 8, 8), "bounds": [[0, 0, 0], [1, 1, 1]]}, "leave bounds and pad out"),
        ({"scale": -1}, "a scale of -1 is not possible: use a positive number"),
        ({"rotate": "w:90"}, "rotate 'w:90' .* such as x:90"),
        ({"strict": True, "mode": "thin"}, "strict is of solids: give mode='solid'"),
        ({"strict": "closed"}, "strict is of solids: give mode='solid'"),
        ({"strict": "open", "mode": "solid"}, "strict 'open' is not possible: use True, False or 'closed'"),
    ],
)
def test_impossible_options_are_refused_at_once(options, message):
    with pytest.raises(trivox.OptionError, match=message):
        trivox.Voxelizer(**options)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"resolution": 64.0}, "resolution"),
        ({"length": 64.0}, "length takes a whole number, not float"),
        ({"pad": "1"}, "pad"),
        ({"bounds": "all"}, "bounds"),
        ({"dims": 8}, "dims"),
        ({"rotate": 90}, "rotate"),
        ({"resolution": True}, "resolution takes a whole number, not bool"),
        ({"memory": True}, "memory takes a whole number, not bool"),
        ({"memory": 2.5}, "memory takes a whole number, not float"),
        ({"voxel_size": True}, "voxel_size takes a number, not bool"),
        ({"scale": np.True_}, "scale takes a number, not bool"),
        ({"voxel_size": "1"}, "voxel_size takes a number, not str"),
        ({"time_limit": "1"}, "time_limit takes a number, not str"),
        ({"mode": None}, "mode takes text, not NoneType"),
        ({"backend": 3}, "backend takes text, not int"),
        ({"adapter": 3}, "adapter takes text, not int"),
        ({"center": "yes"}, "center takes True or False, not str"),
        ({"strict": 1}, "strict takes True, False or 'closed', not int"),
        ({"color": 3}, "color takes True, False or (red, green, blue), not int"),
        ({"interior_color": "red", "mode": "solid"}, "3 whole numbers from 0 to 255"),
    ],
)
def test_options_of_another_type_are_a_type_error_that_names_them(options, name):
    with pytest.raises(TypeError) as caught:
        trivox.Voxelizer(**options)
    assert name in str(caught.value)


@pytest.mark.parametrize(
    ("options", "dims"),
    [
        ({"width": 40}, (40, 10, 20)),
        ({"height": 30}, (120, 30, 60)),
        ({"length": 10}, (20, 5, 10)),
        ({"up": "z", "height": 10}, (20, 5, 10)),
        ({"up": "z", "length": 10}, (40, 10, 20)),
    ],
)
def test_a_size_along_one_axis_is_that_of_the_grid(options, dims):
    box = trivox.Mesh([[0, 0, 0], [4, 1, 2], [4, 0, 2]], [[0, 1, 2]])
    vox = trivox.Voxelizer(**options)
    assert vox(box).dims == dims and vox.options == options
    assert trivox.Voxelizer(**vox.options) == vox == pickle.loads(pickle.dumps(vox))
    with pytest.raises(trivox.PlaceError, match="y"):
        trivox.Voxelizer(height=4)(trivox.Mesh([[0, 0, 0], [4, 0, 0], [0, 0, 4]], [[0, 1, 2]]))


def test_arguments_of_another_type_are_a_type_error_that_names_them(tetrahedron):
    grid, vox = trivox.Voxelizer(8)(tetrahedron), trivox.Voxelizer(8)
    field = vox.distances(tetrahedron)
    for call, message in [
        (lambda: grid.coords(None), "order takes text, not NoneType"),
        (lambda: grid.to_bytes(3), "format takes text, not int"),
        (lambda: grid.render(8, turn="1"), "turn takes a number, not str"),
        (lambda: field.coords(None), "order takes text, not NoneType"),
        (lambda: vox.distances(tetrahedron, width=True), "width takes a number, not bool"),
        (lambda: vox.many_distances([], "3"), "width takes a number, not str"),
        (lambda: vox.many([], on_error=None), "on_error takes text, not NoneType"),
        (lambda: vox.many({"a": tetrahedron}), r"many takes an iterable of meshes, not a dict: give its items\(\)"),
        (lambda: vox((CORNERS, SIDES)), r"tuple is no mesh: .* of two arrays trivox.Mesh\(vertices, faces\)"),
        (lambda: trivox.Mesh.join([tetrahedron]), "meshes takes a dict of names to meshes, not list"),
        (lambda: trivox.load_bytes("a.npz", "npz"), "data takes bytes, not str"),
        (lambda: trivox.load_bytes(b"", None), "format takes text, not NoneType"),
        (lambda: trivox.read_mesh(b"", 3), "format takes text, not int"),
        (lambda: trivox.read_mesh(b"", "obj", sidecars={"a": "b"}), "sidecars takes a dict of text to bytes"),
        (lambda: trivox.verify(tetrahedron, grid, voxel_size=True), "voxel_size takes a number, not bool"),
    ]:
        with pytest.raises(TypeError, match=message):
            call()


def test_the_memory_is_a_number_of_bytes_or_text_with_a_unit():
    sizes = {7: 7, "7": 7, "2 GiB": 2 << 30, "500 MB": 500_000_000, " 1.5 kib ": 1536, "3k": 3000}
    assert {memory: trivox.Voxelizer(8, memory=memory).options["memory"] for memory in sizes} == sizes


def test_numbers_past_float64_are_an_option_error(tetrahedron):
    grid, vox, large = trivox.Voxelizer(8)(tetrahedron), trivox.Voxelizer(8), 10**400
    for call in [
        lambda: grid.render(8, turn=large),
        lambda: vox.distances(tetrahedron, width=large),
        lambda: trivox.Grid.from_dense(grid.dense(), origin=[0, 0, 0], voxel_size=large),
        lambda: trivox.verify(tetrahedron, grid, scale=large),
        lambda: trivox.Proximity(tetrahedron, memory=large),
    ]:
        with pytest.raises(trivox.OptionError, match="is not possible: use"):
            call()


def test_numbers_of_numpy_are_options():
    options = {"resolution": np.int64(8), "scale": np.float32(2), "center": np.True_, "time_limit": np.int8(9)}
    assert trivox.Voxelizer(**options).options == {"resolution": 8, "scale": 2, "center": True, "time_limit": 9}
    assert trivox.Voxelizer(voxel_size=np.float64(0.5)).options == {"voxel_size": 0.5}


# What `voxelize assets/<mesh>.obj <options> --json` prints.
OF_THE_PROGRAM = {
    "--cube 32": (
        {"cube": 32},
        {"torus-knot": "5a6651c0558cb50fba04b2824a2c992b", "cube": "ca69b2dd54904dc2211933c0ce176a3e"},
    ),
    "--dims 40,32,24 --res 20": (
        {"dims": (40, 32, 24), "resolution": 20},
        {"torus-knot": "2fa7caf3c223765a78dc1b329526a668", "cube": "3aebf52eb600b54601b66d8b6817fe16"},
    ),
    "--cube 24 --scale 2 --rotate x:90 --rotate z:30 --center --mode solid": (
        {"cube": 24, "scale": 2, "rotate": ["x:90", "z:30"], "center": True, "mode": "solid"},
        {"torus-knot": "215538c304fd7b314ce3cb8672566f52", "cube": "e137bc24aec733756330f8f964a0f6c1"},
    ),
    "--res 16 --scale 0.5 --rotate y:-45": (
        {"resolution": 16, "scale": 0.5, "rotate": "y:-45"},
        {"torus-knot": "e281a45277addad323a28e0de0bba496", "cube": "558f35851a09dc7e1dd2fbf21ea0b7f6"},
    ),
}


@pytest.mark.parametrize(("options", "hashes"), OF_THE_PROGRAM.values(), ids=OF_THE_PROGRAM.keys())
def test_transformed_meshes_have_the_voxels_that_the_program_makes(options, hashes):
    vox = trivox.Voxelizer(**options)
    copy = pickle.loads(pickle.dumps(vox))
    assert copy == vox and copy.options == vox.options
    paths = {name: ASSETS / f"{name}.obj" for name in hashes}
    assert {name: vox(path).hash for name, path in paths.items()} == hashes
    assert {name: vox(trivox.read_mesh(path)).hash for name, path in paths.items()} == hashes
    assert {name: grid.hash for name, grid in copy.many(paths.items())} == hashes


def test_a_cube_gives_grids_of_equal_shape_of_meshes_and_distances():
    vox = trivox.Voxelizer(cube=24)
    meshes = [torus(), ASSETS / "torus-knot.obj", ASSETS / "tetrahedron.obj"]
    assert {grid.shape for _, grid in vox.many(meshes)} == {(24, 24, 24)}
    # Vertices and faces are a mesh, not a key and a mesh.
    arrays = [(torus().vertices, torus().faces.tolist())] * 2
    assert [key for key, _ in vox.many(arrays, on_error="raise")] == [0, 1]
    of_tuples = tuple(map(tuple, torus().vertices)), tuple(map(tuple, torus().faces))
    keys = [key for key, _ in vox.many([of_tuples, ({"id": 1}, torus())], on_error="raise")]
    assert keys == [0, {"id": 1}]
    [(key, error)] = vox.many([("k", (1, 2, 3))])
    assert key == "k" and isinstance(error, TypeError)
    with pytest.warns(trivox.TrivoxWarning, match="the band of distances is cut off"):
        assert {vox.distances(mesh, width=3).shape for mesh in meshes} == {(24, 24, 24)}
    roomy = trivox.Voxelizer(18, cube=24)
    assert {roomy.distances(mesh, width=3).shape for mesh in meshes} == {(24, 24, 24)}
    assert vox.estimate(meshes[0])["dims"] == [24, 24, 24]
    # As `voxelize assets/torus-knot.obj --cube 32 --distance 3 --json` prints it.
    with pytest.warns(trivox.TrivoxWarning, match="the band of distances is cut off"):
        field = trivox.Voxelizer(cube=32).distances(meshes[1], width=3)
    assert field.hash == "96e735ac02672a57a26c3ca4a8ace593"


@pytest.fixture
def holed(tetrahedron):
    return trivox.Mesh(tetrahedron.vertices, tetrahedron.faces[:3])


def test_a_strict_voxelizer_refuses_what_is_doubtful(holed, tetrahedron, tmp_path):
    lax, strict = trivox.Voxelizer(16, mode="solid"), trivox.Voxelizer(16, mode="solid", strict=True)
    assert strict != lax and pickle.loads(pickle.dumps(strict)) == strict and strict.options["strict"]
    assert strict(tetrahedron) == lax(tetrahedron) and strict.distances(tetrahedron) == lax.distances(tetrahedron)
    path = write_obj(tmp_path / "holed.obj", holed)
    with pytest.warns(trivox.TrivoxWarning):
        grid = lax(path)
    many = [dict(call([path, tetrahedron])) for call in (strict.many, strict.many_distances)]
    assert isinstance(many[0][1], trivox.Grid) and isinstance(many[1][1], trivox.DistanceField)
    errors = [results[path] for results in many]
    for call in (strict, strict.distances):
        with pytest.raises(trivox.DoubtfulError, match="holed.obj: the fill is doubtful: the mesh has large") as caught:
            call(path)
        errors.append(caught.value)
    for error in errors:
        assert isinstance(error, trivox.DoubtfulError) and (error.code, error.path) == ("solid.doubtful", path)
        assert error.report["fill"]["doubts"][0]["kind"] == "uncertain"
        copy = pickle.loads(pickle.dumps(error))
        assert (str(copy), copy.report, copy.warnings) == (str(error), error.report, error.warnings)
    assert errors[0].report["fill"] == grid.report["fill"] and errors[0].warnings == grid.warnings


def test_a_voxelizer_that_is_strict_about_closed_meshes_refuses_any_hole(tetrahedron, tmp_path):
    pricked = trivox.Mesh(torus().vertices, torus().faces[1:])
    path, message = write_obj(tmp_path / "pricked.obj", pricked), "the mesh is not closed: 3 edges of an odd number"
    strict, closed = (trivox.Voxelizer(16, mode="solid", strict=how) for how in (True, "closed"))
    assert strict(pricked).warnings == () and strict.options["strict"] is True
    copy = pickle.loads(pickle.dumps(closed))
    assert copy == closed != strict and copy.options["strict"] == "closed"
    assert closed(tetrahedron) == strict(tetrahedron) and closed.distances(tetrahedron) == strict.distances(tetrahedron)
    for call in (copy, copy.distances):
        with pytest.raises(trivox.DoubtfulError, match=f"pricked.obj: {message}") as caught:
            call(path)
        assert caught.value.report["fill"]["closed"] is False and caught.value.report["fill"]["doubtful"] is False
    for _, result in (*copy.many([pricked]), *copy.many_distances([pricked])):
        assert isinstance(result, trivox.DoubtfulError) and str(result).startswith(message)


def keys(kind):
    return set(typing.get_type_hints(kind))


@pytest.mark.filterwarnings("ignore::trivox.TrivoxWarning")
@pytest.mark.parametrize("of_distances", [False, True])
@pytest.mark.parametrize(
    "options", [{"mode": "surface"}, {"mode": "thin"}, {"tile": "1/2", "attributes": ["label"]}]
    + [{"mode": "solid", "fill": fill} for fill in ("auto", "parity", "winding", "flood", "vote")],
)
def test_reports_have_the_same_keys_for_every_mode_and_fill(options, of_distances, tetrahedron, holed):
    vox = trivox.Voxelizer(16, **options)
    if of_distances and "tile" in options:
        return
    for mesh in (tetrahedron, holed):
        report = (vox.distances(mesh) if of_distances else vox(mesh)).report
        assert set(report) == keys(trivox.Report) and set(report["lattice"]) == keys(_reports.Lattice)
        if report["fill"] is not None:
            assert set(report["fill"]) == keys(trivox.FillReport)
            assert all(set(doubt) == keys(_reports.Doubt) for doubt in report["fill"]["doubts"])
        for part, kind in [
            (report["tile"], _reports.Tile), (report["distances"], _reports.Band),
            ((report["fill"] or {}).get("axis_disagreement"), _reports.AxisDisagreement),
        ]:  # fmt: skip
            assert part is None or set(part) == keys(kind)
        assert (report["fill"] is None) == (options.get("mode") != "solid" and not of_distances)


def test_the_report_of_a_fill_has_what_the_program_prints(holed):
    with pytest.warns(trivox.TrivoxWarning):
        report = trivox.Voxelizer(16, mode="solid")(holed).report
    fill = report["fill"]
    assert report["triangles"] == 3 and report["lattice"]["dims"] == [16, 16, 16]
    assert (fill["open_edges"], fill["boundary_loops"], fill["flipped_patches"]) == (3, 1, 0)
    assert trivox.Voxelizer(16)(holed).report["fill"] is None


def test_bounds_may_be_flat_where_the_mesh_is():
    flat = trivox.Mesh([[0, 0, 5], [4, 0, 5], [0, 4, 5]], [[0, 1, 2]])
    vox = trivox.Voxelizer(4, bounds=[[0, 0, 5], [4, 4, 5]])
    assert vox(flat) == trivox.Voxelizer(4)(flat)
    with pytest.raises(trivox.PlaceError, match="z axis"):
        vox(trivox.Mesh([[0, 0, 5], [4, 0, 5], [0, 4, 6]], [[0, 1, 2]]))


LITTLE_MEMORY = """
import resource, trivox
mesh = trivox.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
grid = trivox.Grid.from_coords([[0, 0, 0]], (8, 8, 8))
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
for make in (lambda: trivox.Voxelizer(8).distances(mesh, width=512), lambda: trivox.Voxelizer(16_000)(mesh),
             lambda: grid.render(16384), lambda: grid.png(16384)):
    try:
        make()
    except trivox.MemoryLimitError as error:
        print(error.code)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS")
def test_the_memory_is_bounded_without_an_option():
    done = subprocess.run([sys.executable, "-c", LITTLE_MEMORY], capture_output=True, text=True)
    assert done.stdout.split() == ["memory"] * 4, done.stderr


def test_meshes_share_a_lattice_and_may_have_one_color():
    large, small = torus(), trivox.Mesh(np.asarray(torus().vertices) * 0.5, torus().faces)
    first = trivox.Voxelizer(40, pad=2)(large)
    lattice = first.report["lattice"]
    vox = trivox.Voxelizer(lattice=lattice, color=(200, 100, 0))
    second = vox(small)
    assert second.dims == first.dims and second.report["lattice"] == lattice
    assert (second.colors() == [200, 100, 0, 255]).all()
    assert pickle.loads(pickle.dumps(vox)) == vox and hash(pickle.loads(pickle.dumps(vox))) == hash(vox)
    assert vox.options == {"color": (200, 100, 0), "lattice": lattice}
    for wrong, match in [
        ({"lattice": lattice, "resolution": 9}, "leave the others out"),
        ({"lattice": {"dims": 3}}, "none of a grid's report"),
        ({"color": (1, 2, 300)}, "0 to 255"),
        ({"time_limit": 1e300}, "below 1e19"),
    ]:
        with pytest.raises(trivox.OptionError, match=match):
            trivox.Voxelizer(**wrong)
    with pytest.raises(TypeError, match="tile takes text"):
        trivox.Voxelizer(tile=(1, 3))


def test_modes_threads_and_memory_give_one_truth():
    mesh = torus()
    surface = trivox.Voxelizer(50)(mesh)
    assert surface == trivox.Voxelizer(50, threads=1)(mesh)
    thin = trivox.Voxelizer(50, mode="thin")(mesh)
    solid = trivox.Voxelizer(50, mode="solid")(mesh)
    assert len(thin) < len(surface) < len(solid)
    assert abs(solid.report["fill"]["voxel_volume"] - 4 * 3.14159**2) < 1
    with pytest.raises(trivox.MemoryLimitError) as caught:
        trivox.Voxelizer(512, memory=1000)(mesh)
    assert caught.value.code == "memory" and isinstance(caught.value, MemoryError)


def test_a_mesh_without_extent_needs_a_voxel_size():
    point = trivox.Mesh([[1, 2, 3]] * 3, [[0, 1, 2]])
    with pytest.raises(trivox.PlaceError) as caught:
        trivox.Voxelizer(8)(point)
    assert caught.value.code == "place.no_extent"
    with pytest.warns(trivox.TrivoxWarning, match="are the units those you mean"):
        assert len(trivox.Voxelizer(voxel_size=1.0)(point)) == 1


def test_what_is_unexpected_is_a_warning_of_the_callers_line():
    with pytest.warns(trivox.TrivoxWarning, match="outside the bounds") as caught:
        grid = trivox.Voxelizer(16, bounds=[[0, 0, 0], [1, 1, 1]])(torus())
    assert caught[0].filename == __file__ and len(grid.warnings) == len(caught)


def test_a_warning_about_a_file_names_it(torus_obj):
    vox = trivox.Voxelizer(16, bounds=[[0, 0, 0], [1, 1, 1]])
    for step in (vox, vox.distances):
        with pytest.warns(trivox.TrivoxWarning) as caught:
            made = step(torus_obj)
        assert [str(one.message) for one in caught] == [f"{torus_obj}: {w}" for w in made.warnings]


def test_runs_are_logged(caplog, tetrahedron):
    with caplog.at_level(logging.DEBUG, "trivox"):
        grid = trivox.Voxelizer(8)(tetrahedron)
    assert f"{len(grid)} voxels on cpu" in caplog.text
    for call in (trivox.Voxelizer(8).distances, lambda mesh: list(trivox.Voxelizer(8).many_distances([mesh]))[0][1]):
        caplog.clear()
        with caplog.at_level(logging.DEBUG, "trivox"):
            field = call(tetrahedron)
        assert f"{len(field)} voxels in the band on cpu" in caplog.text


def test_an_estimate_is_near_the_truth():
    estimate = trivox.Voxelizer(128).estimate(torus())
    grid = trivox.Voxelizer(128)(torus())
    assert tuple(estimate["dims"]) == grid.dims
    assert grid.brick_count <= estimate["brick_pairs"] < 20 * grid.brick_count
    assert estimate["memory"] > grid.nbytes


def test_a_batch_has_every_item_in_order_with_its_errors(tmp_path, tetrahedron, caplog):
    path = write_obj(tmp_path / "torus.obj", torus())
    broken = tmp_path / "broken.obj"
    broken.write_text("f 1 2 3\n")
    items = [path, ("mine", tetrahedron), str(broken), tmp_path / "none.obj", tetrahedron, 7]
    vox = trivox.Voxelizer(16)
    results = list(vox.many(items))
    assert [key for key, _ in results] == [path, "mine", str(broken), tmp_path / "none.obj", 4, 5]
    grids = [result for _, result in results]
    assert grids[0] == vox(path) and grids[1] == grids[4] == vox(tetrahedron)
    assert [type(error) for error in grids[2:4] + grids[5:]] == [
        trivox.MeshError if isinstance(grids[2], trivox.MeshError) else trivox.ReadError,
        FileNotFoundError,
        TypeError,
    ]
    assert grids[2].path == str(broken) and grids[3].filename == str(tmp_path / "none.obj")
    assert [key for key, _ in vox.many(items, on_error="skip")] == [path, "mine", 4]
    assert "none.obj" in caplog.text
    batch = vox.many(items, on_error="raise")
    next(batch), next(batch)
    with pytest.raises(trivox.TrivoxError, match="broken.obj"):
        next(batch)


def test_a_batch_takes_items_as_they_are_needed(tetrahedron):
    taken = []

    def items():
        for number in range(10_000):
            taken.append(number)
            yield tetrahedron

    batch = trivox.Voxelizer(8, threads=1).many(items())
    assert [next(batch)[0] for _ in range(5)] == [0, 1, 2, 3, 4]
    assert len(taken) < 20
    with pytest.raises(ZeroDivisionError):
        list(trivox.Voxelizer(8).many(1 // 0 for _ in range(3)))


def test_what_the_items_raise_comes_after_the_results_before_it(tetrahedron):
    def items():
        yield from [tetrahedron] * 3
        raise ValueError("no more")

    batch = trivox.Voxelizer(8).many(items())
    assert [next(batch)[0] for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="no more"):
        next(batch)
    assert list(batch) == []


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="POSIX only")
def test_a_batch_goes_on_after_a_signal():
    class Alarm(Exception):
        pass

    def ring(*_):
        raise Alarm

    vox = trivox.Voxelizer(1200, mode="solid", threads=2)
    items = [("large", torus(400, 200))] + [(n, torus(3 + n, 3)) for n in range(1, 6)]
    batch, found, alarms = vox.many(items), [], 0
    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        while len(found) < len(items):
            try:
                found.append(next(batch))
            except Alarm:
                alarms += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert alarms == 1 and [key for key, _ in found] == [key for key, _ in items]
    for (_, mesh), (_, grid) in zip(items, found):
        assert grid == vox(mesh)


def test_progress_is_told_in_the_calling_thread_and_may_end_the_run():
    steps = []

    def progress(step, done, total):
        steps.append((step, threading.get_ident()))

    # A run of some tenths of a second.
    trivox.Voxelizer(700, mode="solid", threads=1)(torus(400, 200), progress=progress)
    assert {thread for _, thread in steps} == {threading.get_ident()}

    class Enough(Exception):
        pass

    def stop(step, done, total):
        raise Enough

    with pytest.raises(Enough):
        trivox.Voxelizer(1500, mode="solid", threads=1)(torus(400, 200), progress=stop)


def test_a_time_limit_ends_a_run():
    with pytest.raises(trivox.TimeLimitError) as caught:
        trivox.Voxelizer(3000, mode="solid", time_limit=0.1)(torus(400, 200))
    assert caught.value.code == "time_limit" and isinstance(caught.value, TimeoutError)


def test_the_error_of_a_time_limit_names_the_file(tmp_path):
    path = str(write_obj(tmp_path / "slow.obj", torus(400, 200)))
    with pytest.raises(trivox.TimeLimitError, match="slow.obj: the time limit") as caught:
        trivox.Voxelizer(3000, mode="solid", time_limit=0.1)(path)
    assert caught.value.path == path


def test_a_time_limit_holds_for_each_mesh_of_a_batch(tetrahedron):
    slow = torus(400, 200)
    vox = trivox.Voxelizer(3000, mode="solid", time_limit=0.1)
    results = dict(vox.many([("slow", slow), ("slower", slow)]))
    assert [type(error) for error in results.values()] == [trivox.TimeLimitError] * 2
    # The limit begins with each mesh, not with the batch.
    quick = trivox.Voxelizer(16, time_limit=5).many([tetrahedron] * 20)
    assert all(isinstance(grid, trivox.Grid) for _, grid in quick)


@pytest.mark.parametrize("one", ["cube.obj", b"cube.obj", ASSETS / "cube.obj", torus()], ids=type)
def test_one_mesh_is_no_batch(one):
    with pytest.raises(TypeError, match=r"an iterable of meshes, .*: give \[item\]"):
        trivox.Voxelizer(8).many(one)


INTERRUPTED = """
import os, signal, sys, threading, time, trivox
sys.path.insert(0, {tests!r})
from conftest import torus
mesh, vox = torus(400, 200), trivox.Voxelizer(6000, mode={mode!r})
asked = []
def interrupt():
    asked.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)
threading.Timer(0.4, interrupt).start()
try:
    {call}
    print("finished")
except KeyboardInterrupt:
    print(time.perf_counter() - asked[0])
assert len(trivox.Voxelizer(32)(mesh)) > 0
"""


@pytest.mark.skipif(os.name != "posix", reason="SIGINT is sent by os.kill")
@pytest.mark.parametrize("mode", ["surface", "solid"])
@pytest.mark.parametrize("call", ["vox(mesh)", "list(vox.many([mesh] * 4))"])
def test_ctrl_c_ends_a_run_within_a_tenth_of_a_second(mode, call):
    code = INTERRUPTED.format(tests=os.path.dirname(__file__), mode=mode, call=call)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    # A shared machine may be late itself: four times the bound.
    assert float(done.stdout) < 0.4, done.stdout


def test_other_python_threads_run_meanwhile():
    ticks, over = [], threading.Event()

    def tick():
        while not over.wait(0.005):
            ticks.append(time.perf_counter())

    thread = threading.Thread(target=tick)
    thread.start()
    began = time.perf_counter()
    trivox.Voxelizer(1024, mode="solid", threads=1)(torus(400, 200))
    took = time.perf_counter() - began
    over.set()
    thread.join()
    assert len(ticks) > took / 0.005 / 10


def hashes(mesh, folder):
    """Of results of all that has work for a pool."""
    vox = trivox.Voxelizer(64)
    tile, field, grid = trivox.Voxelizer(64, tile="2/3")(mesh), vox.distances(mesh, width=2), vox(mesh)
    colors = np.random.default_rng(5).integers(1, 256, (len(grid), 4), np.uint8)
    colored = trivox.Grid.from_coords(grid.coords(), grid.dims, colors=colors)
    field.save(folder / "a.npz")
    fields = [field, trivox.load_distances(folder / "a.npz"), pickle.loads(pickle.dumps(field))]
    fields += [trivox.DistanceField.from_coords(field.coords(), field.distances(), field.inside(), 2)]
    grids = [grid, vox(ASSETS / "cube.obj"), tile, trivox.Grid.from_dense(tile.dense()), grid | tile, grid.crop()]
    grids += [trivox.join([tile]), trivox.load_bytes(grid.to_bytes("npz"), "npz"), pickle.loads(pickle.dumps(grid))]
    arrays = [colored.render(32), *colored.mesh(), *colored.bricks(), field.dense(), field.sample([[1, 1, 1]])]
    arrays += [*grid.first_hits([9, 9, 9], [-1, -1, -1]), grid.bounds, trivox.Proximity(mesh).distances([[1, 1, 1]])]
    files = []
    for format in trivox.GRID_FORMATS:
        files.append(colored.to_bytes(format))
        colored.save(folder / f"a.{format}")
        assert (folder / f"a.{format}").stat().st_size > 0
    numbers = [vox.estimate(mesh)["brick_pairs"], trivox.diff(grid, colored).both, trivox.verify(mesh, grid).agreeing]
    digests = [hashlib.sha256(data).hexdigest() for data in [*map(np.ndarray.tobytes, arrays), *files]]
    return [made.hash for made in grids + fields] + numbers + digests


def child(queue, mesh, folder):
    warnings.simplefilter("ignore")
    queue.put(hashes(mesh, folder))


@pytest.mark.parametrize("method", sorted({"fork", "spawn"} & set(multiprocessing.get_all_start_methods())))
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::trivox.TrivoxWarning")
def test_a_child_process_works_after_its_parent_has(method, tmp_path):
    mesh = torus()
    expected = hashes(mesh, tmp_path)
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    # One that waits for ever is ended with this process.
    process = context.Process(target=child, args=(queue, mesh, tmp_path), daemon=True)
    process.start()
    assert queue.get(timeout=60) == expected
    process.join(10)
    assert process.exitcode == 0


@pytest.mark.skipif(sys.platform != "linux", reason="/proc lists threads")
def test_pools_of_other_numbers_of_threads_end(tetrahedron):
    def count():
        return len(os.listdir("/proc/self/task"))

    before, until = count(), time.monotonic() + 30
    for threads in range(10, 40):
        trivox.Voxelizer(8, threads=threads)(tetrahedron)
    # Those of the last two: the work of the last but one may not have ended when the last began.
    while count() > before + 80 and time.monotonic() < until:
        time.sleep(0.01)
    assert count() <= before + 80


def test_threads_share_a_voxelizer():
    mesh, vox = torus(), trivox.Voxelizer(96)
    hashes = []
    threads = [threading.Thread(target=lambda: hashes.append(vox(mesh).hash)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(hashes) == 6 and len(set(hashes)) == 1


def test_a_gpu_gives_the_same_grid():
    adapters = trivox.adapters()
    if not adapters:
        assert "TRIVOX_GPU" not in os.environ, "an adapter was promised"
        pytest.skip("no adapter")
    mesh = torus()
    for adapter in adapters:
        vox = trivox.Voxelizer(32, backend="gpu", adapter=adapter["label"])
        grid = vox(mesh)
        assert grid == trivox.Voxelizer(32, backend="cpu")(mesh)
        assert grid.report["adapter"] == adapter["label"]
        for _, same in vox.many([mesh] * 3):
            assert same == grid
    with pytest.raises(trivox.BackendError, match="no adapter matches"):
        trivox.Voxelizer(8, backend="gpu", adapter="nobody's")(mesh)


def test_what_would_have_no_effect_is_a_type_error(tetrahedron, torus_obj):
    with pytest.raises(TypeError, match="progress takes a callable, not int"):
        trivox.Voxelizer(8)(tetrahedron, progress=5)
    for options in ({"format": "stl"}, {"sidecars": {}}):
        with pytest.raises(TypeError, match="apply to bytes only"):
            trivox.read_mesh(torus_obj, **options)


def test_tiles_joined_are_the_whole():
    mesh = torus()
    whole = trivox.Voxelizer(50)(mesh)
    tiles = [trivox.Voxelizer(50, tile=f"{n}/4")(mesh) for n in range(1, 5)]
    assert trivox.join(tiles) == whole
    with pytest.warns(trivox.TrivoxWarning, match="a tile is missing: these are 7. % of the grid"):
        assert trivox.join(tiles[:3]) != whole
    with pytest.raises(trivox.OptionError, match="no tiles"):
        trivox.join([])
    assert tiles[3].report["tile"]["to"] == list(whole.dims)
    assert tiles[3].report["lattice"] == whole.report["lattice"]
    assert sum(tile.occupied for tile in tiles) == whole.occupied
    assert whole.report["tile"] is None
    vox = trivox.Voxelizer(50, mode="solid", tile="2/2x1x1", interior_color=(1, 2, 3))
    assert pickle.loads(pickle.dumps(vox)) == vox
    with pytest.warns(trivox.TrivoxWarning, match="interior colour had no effect"):
        assert vox(mesh).dims[0] < whole.dims[0]
    for tile in ("", "3/2", "1/2x2", "1/99x1x1"):
        with pytest.raises((trivox.OptionError, trivox.PlaceError)):
            trivox.Voxelizer(50, tile=tile)(mesh)
    with pytest.raises(trivox.OptionError, match="overlap"):
        trivox.join([whole, whole])
    with pytest.raises(trivox.OptionError):
        trivox.join([])


def test_nobody_can_change_the_options_of_a_voxelizer(tetrahedron):
    vox = trivox.Voxelizer(8, bounds=[[0, 0, 0], [8, 8, 8]])
    grid, before = vox(tetrahedron), hash(vox)
    vox.options["bounds"][0][0] = -50.0
    assert hash(vox) == before and pickle.loads(pickle.dumps(vox))(tetrahedron) == grid
    lattice = trivox.Voxelizer(8)(tetrahedron).report["lattice"]
    vox = trivox.Voxelizer(lattice=lattice)
    same = trivox.Voxelizer(lattice=dict(reversed(lattice.items())))
    assert vox == same and hash(vox) == hash(same)
    lattice["origin"][0] += 1000
    assert pickle.loads(pickle.dumps(vox)) == same


def test_an_interrupt_while_a_mesh_is_converted_ends_a_batch():
    class Scan:
        faces = SIDES

        @property
        def vertices(self):
            raise KeyboardInterrupt

    for on_error in ("return", "raise", "skip"):
        with pytest.raises(KeyboardInterrupt):
            list(trivox.Voxelizer(8).many([Scan()], on_error=on_error))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_batch_of_another_process_is_an_error(tetrahedron):
    batch = trivox.Voxelizer(8, backend="cpu").many([tetrahedron])
    child = os.fork()
    if child == 0:
        try:
            next(batch)
        except RuntimeError:
            os._exit(7)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert len(list(batch)) == 1


def test_a_batch_can_be_closed(tetrahedron):
    with trivox.Voxelizer(8).many(tetrahedron for _ in range(1000)) as batch:
        assert isinstance(next(batch)[1], trivox.Grid)
    assert list(batch) == []
    batch.close()


def test_a_batch_is_for_one_thread_at_a_time(tetrahedron):
    asked, answered, found = threading.Event(), threading.Event(), []

    def items():
        asked.set()
        assert answered.wait(30)
        yield tetrahedron

    batch = trivox.Voxelizer(8).many(items())
    thread = threading.Thread(target=lambda: found.extend(batch))
    thread.start()
    assert asked.wait(30)
    for use in (next, list, lambda batch: batch.close()):
        with pytest.raises(RuntimeError, match="let one thread at a time use it"):
            use(batch)
    answered.set()
    thread.join()
    assert len(found) == 1 and list(batch) == []
