import os
import pickle
import subprocess
import sys
from collections.abc import Hashable

import numpy as np
import pytest

import trivox
from conftest import torus


@pytest.fixture(scope="module")
def grid():
    return trivox.Voxelizer(40)(torus())


def test_a_tetrahedron_has_the_voxels_that_are_known(tetrahedron):
    grid = trivox.Voxelizer(8, mode="solid")(tetrahedron)
    assert (grid.dims, len(grid), grid.report["fill"]["rule"]) == ((8, 8, 8), 84, "parity")


def test_coords_dense_bricks_and_contains_are_the_same_voxels(grid):
    coords = grid.coords()
    assert coords.dtype == np.int32 and coords.shape == (grid.occupied, 3)
    dense = grid.dense()
    assert dense.dtype == bool and dense.shape == grid.shape
    assert sorted(map(tuple, np.argwhere(dense))) == sorted(map(tuple, coords))
    positions, masks = grid.bricks()
    assert masks.dtype == np.uint64 and len(positions) == grid.brick_count
    bits = np.unpackbits(masks.view(np.uint8), bitorder="little").reshape(-1, 8, 8, 8)
    brick, x, y, z = np.nonzero(bits)
    assert np.array_equal(positions[brick] * 8 + np.stack([x, y, z], 1), coords)
    assert tuple(coords[7]) in grid and (0, 0, -1) not in grid


def test_columns_of_coords_are_as_asked(grid):
    xyz = grid.coords()
    assert np.array_equal(grid.coords("zyx"), xyz[:, ::-1])
    batched = grid.coords("zyx", batch=5)
    assert np.array_equal(batched[:, 1:], xyz[:, ::-1]) and set(batched[:, 0]) == {5}
    with pytest.raises(trivox.OptionError, match="'xyz' or 'zyx'") as caught:
        grid.coords("yxz")
    assert caught.value.code == "option.order"


def test_centers_are_in_mesh_units(grid):
    expected = grid.origin + (grid.coords() + 0.5) * grid.voxel_size
    assert np.array_equal(grid.centers(), expected)
    distance = np.abs(np.hypot(np.hypot(expected[:, 0], expected[:, 2]) - 2, expected[:, 1]) - 1)
    assert distance.max() < grid.voxel_size


def test_the_surface_as_a_mesh_encloses_the_voxels():
    for seed, shape in ((1, (5, 6, 7)), (2, (70, 3, 9))):
        dense = np.random.default_rng(seed).random(shape) < 0.6
        grid = trivox.Grid.from_dense(dense, origin=[-2, 0, 7], voxel_size=0.5)
        vertices, faces, colors = grid.mesh()
        assert (vertices.dtype, faces.dtype, colors) == (np.float64, np.int64, None)
        a, b, c = (vertices[faces[:, n]] for n in range(3))
        volume = np.einsum("ij,ij->", a, np.cross(b, c)) / 6
        assert np.isclose(volume, dense.sum() * 0.5**3)
        exposed = sum(np.abs(np.diff(np.pad(dense, 1).astype(int), axis=n)).sum() for n in range(3))
        area = np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2
        assert np.isclose(area, exposed * 0.5**2)
        assert set(faces.ravel().tolist()) == set(range(len(vertices)))
    # Without a place in voxels.
    vertices, faces, _ = trivox.Grid.from_dense(np.ones((2, 3, 4), bool)).mesh()
    assert vertices.max(axis=0).tolist() == [2, 3, 4] and faces.shape == (12, 3)
    assert [array.shape for array in trivox.Grid.from_coords(np.empty((0, 3), int), (4, 4, 4)).mesh()[:2]] == [
        (0, 3), (0, 3),
    ]  # fmt: skip


def test_the_surface_as_a_mesh_has_the_colours_of_its_voxels():
    coords = np.argwhere(np.ones((6, 6, 6), bool))
    palette = np.array([[255, 0, 0, 255], [0, 0, 255, 255]], np.uint8)
    own = palette[(coords[:, 0] > 2).astype(int)]
    grid = trivox.Grid.from_coords(coords, (6, 6, 6), colors=own)
    vertices, faces, colors = grid.mesh()
    assert colors.dtype == np.uint8 and colors.shape == (len(vertices), 4)
    centers = vertices[faces].mean(axis=1)
    assert np.array_equal(colors[faces], np.repeat(palette[(centers[:, 0] > 3).astype(int)][:, None], 3, axis=1))
    again = trivox.Voxelizer(voxel_size=1.0, bounds=[[0, 0, 0], [6, 6, 6]], mode="solid")(
        trivox.Mesh(vertices, faces, vertex_colors=colors)
    )
    assert np.array_equal(again.dense(), grid.dense())
    trimesh = pytest.importorskip("trimesh")
    mesh = trimesh.Trimesh(vertices, faces, vertex_colors=colors, process=False)
    assert np.isclose(mesh.volume, 216) and np.array_equal(mesh.visual.vertex_colors, colors)


def test_dense_arrays_of_any_type_and_layout_are_the_same_voxels():
    rng = np.random.default_rng(1)
    for shape in [(1, 1, 1), (9, 17, 31), (40, 3, 8)]:
        dense = rng.random(shape) < 0.3
        expected = trivox.Grid.from_coords(np.argwhere(dense), shape)
        wide = np.zeros([2 * n for n in shape], bool)
        wide[::2, ::2, ::2] = dense
        others = [dense, np.asfortranarray(dense), wide[::2, ::2, ::2], dense.tolist()]
        others += [dense * np.float32(1), dense * np.int8(-3), (dense * np.uint8(2)).view(bool)]
        for other in others:
            assert trivox.Grid.from_dense(other) == expected
    with pytest.raises(trivox.OptionError):
        trivox.Grid.from_dense(np.zeros((0, 4, 4), bool))


def test_bytes_are_read_from_whatever_holds_bytes(grid):
    data = grid.to_bytes("npz")
    for same in (data, bytearray(data), memoryview(data), np.frombuffer(data, np.uint8)):
        assert trivox.load_bytes(same, "npz") == grid
    with pytest.raises(TypeError):
        trivox.load_bytes(list(data), "npz")
    with pytest.raises(trivox.ReadError, match="unknown file extension '.abc'"):
        trivox.load_bytes(data, "abc")
    for mesh in ("obj", ".ply", "stl"):
        with pytest.raises(trivox.ReadError, match="is a format of meshes, .*read_mesh") as caught:
            trivox.load_bytes(b"", mesh)
        assert caught.value.code == "read.unsupported"


def test_what_an_npz_lacks_is_said(tmp_path):
    path, dense = tmp_path / "a.npz", np.eye(4, dtype=bool)[None]
    for place in ({"origin": np.zeros(3)}, {"voxel_size": np.float64(2)}):
        np.savez(path, occupied=dense, **place)
        with pytest.warns(trivox.TrivoxWarning, match="it needs both origin.npy and voxel_size.npy"):
            assert trivox.load(path).origin is None
    np.savez(path, voxels=dense.astype("f4") / 2)
    with pytest.raises(trivox.ReadError, match="no array of voxels: occupied.npy.*; voxels.npy: "):
        trivox.load(path)


@pytest.mark.skipif(os.name != "posix", reason="POSIX only")
def test_a_link_is_written_through(grid, tmp_path):
    (tmp_path / "file.npz").touch()
    (tmp_path / "link.npz").symlink_to("file.npz")
    grid.save(tmp_path / "link.npz")
    assert (tmp_path / "link.npz").is_symlink() and trivox.load(tmp_path / "file.npz") == grid


LITTLE_MEMORY = """
import resource, trivox
grid = trivox.Grid.from_coords([[0, 0, 0]], (65536, 65536, 65536))
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
field = trivox.DistanceField.from_coords([], [], grid, 2)
for value, format in [(grid, "npy"), (grid, "vti"), (grid, "vol"), (grid, "binvox"), (grid, "npz"), (field, "npy")]:
    try:
        value.to_bytes(format)
    except trivox.MemoryLimitError as error:
        assert "the bytes would be at least" in str(error)
        print(format)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS")
def test_bytes_that_do_not_fit_are_a_memory_error():
    done = subprocess.run([sys.executable, "-c", LITTLE_MEMORY], capture_output=True, text=True)
    assert done.stdout.split() == ["npy", "vti", "vol", "binvox", "npz", "npy"], done.stderr


LARGE_ARRAYS = """
import resource, pathlib, pickle, numpy as np, trivox
corners, sides = [[0, 0, 0], [8, 0, 0], [0, 8, 0], [0, 0, 8]], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
mesh, vox = trivox.Mesh(corners, sides), trivox.Voxelizer(8, backend="cpu")
grid, field, proximity = vox(mesh), vox.distances(mesh), trivox.Proximity(mesh)
points, faces = np.zeros((4_000_000, 3)), np.zeros((4_000_000, 3), np.int32)
large = trivox.Mesh(np.zeros((4_000_000, 3)), sides)
grid.first_hits(points[:1], [1, 1, 1]), proximity.contains(points[:1])
used = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (50 << 20),) * 2)
for call in [
    lambda: grid.first_hits(points, [1, 1, 1]),
    lambda: proximity.contains(points),
    lambda: proximity.nearest(points),
    lambda: proximity.distances(points, signed=False),
    lambda: field.sample(points),
    lambda: trivox.Grid.from_coords(faces, (4, 4, 4)),
    lambda: trivox.Mesh(points, sides),
    lambda: trivox.Mesh(corners, faces),
    lambda: trivox.Proximity(points, sides),
    lambda: pickle.dumps(large),
    lambda: large.vertices,
    lambda: trivox.Mesh.join({"a": large, "b": large}),
]:
    try:
        call()
    except MemoryError:
        print("refused")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS")
def test_arrays_that_do_not_fit_are_a_memory_error():
    done = subprocess.run([sys.executable, "-c", LARGE_ARRAYS], capture_output=True, text=True)
    assert done.stdout.split() == ["refused"] * 12, done.stderr


def test_names_without_attributes_are_refused():
    with pytest.raises(trivox.OptionError, match="names of 'label' are without its array"):
        trivox.Grid.from_coords([[0, 0, 0]], (4, 4, 4), names={"label": ["a"]})


def test_collate_raises_the_error_of_an_item(grid):
    with pytest.raises(FileNotFoundError, match="no.obj"):
        trivox.collate([result for _, result in trivox.Voxelizer(8).many(["no.obj"], on_error="return")])


def test_dense_arrays_go_to_other_libraries_and_may_not_fit(grid):
    assert np.from_dlpack(grid).sum() == len(grid) == np.asarray(grid).sum()
    for dtype in ("float32", np.float32, np.dtype("f4")):
        assert grid.dense(dtype).dtype == np.float32
    assert grid.dense(bool).dtype == bool and grid.dense("uint8").max() == 1
    for dtype in ("float64", float, "much"):
        with pytest.raises(trivox.OptionError, match="'bool', 'uint8' or 'float32'"):
            grid.dense(dtype)
    # 65,536 voxels along each axis are 2^48 bytes.
    line = trivox.Mesh([[0, 0, 0], [1, 1, 1], [1, 1, 1]], [[0, 1, 2]])
    with pytest.raises(MemoryError):
        trivox.Voxelizer(65536)(line).dense()


def test_grids_are_equal_by_their_voxels(grid):
    same = trivox.Grid.from_coords(grid.coords()[::-1], grid.dims)
    assert same == grid and hash(same) == hash(grid) and same.hash == grid.hash
    other = trivox.Grid.from_coords(grid.coords()[1:], grid.dims)
    assert other != grid
    assert trivox.Grid.from_dense(grid.dense(), origin=[1, 2, 3], voxel_size=0.5) == grid
    with pytest.raises(trivox.OptionError, match=r"uint8 of shape \(2, 4\) or \(2, 3\)"):
        trivox.Grid.from_coords([[0, 0, 0]] * 2, grid.dims, colors=[[0.5, 1, 0]] * 2)
    found = trivox.diff(grid, other)
    assert found and (found.both, found.only_a, found.only_b) == (len(grid) - 1, 1, 0)
    assert found.first == [(tuple(grid.coords()[0].tolist()), "a")]
    assert not trivox.diff(grid, same)


def test_a_grid_of_coords_has_their_colors():
    random = np.random.default_rng(1)
    coords = random.integers(0, (30, 9, 17), (2000, 3))
    colors = random.integers(0, 256, (2000, 4)).astype(np.uint8)
    grid = trivox.Grid.from_coords(coords, (30, 9, 17), colors=colors)
    first = dict(zip(map(tuple, coords[::-1].tolist()), colors[::-1].tolist()))
    assert dict(zip(map(tuple, grid.coords().tolist()), grid.colors().tolist())) == first
    opaque = trivox.Grid.from_coords(coords, (30, 9, 17), colors=colors[:, :3])
    assert (opaque.colors()[:, 3] == 255).all()


@pytest.mark.parametrize("coords", [[[0.9, 1.9, -0.9]], [[np.nan] * 3], [[True] * 3]])
def test_coords_that_are_no_integers_are_refused(coords):
    with pytest.raises(trivox.OptionError, match="points are voxelized, or floored first") as caught:
        trivox.Grid.from_coords(coords, (4, 4, 4))
    assert caught.value.code == "option.dtype"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"coords": [0, 0, 0]}, r"coords of shape \(3,\)"),
        ({"dims": (4, 4, -4)}, "dims -4 is not possible"),
        ({"voxel_size": 1.0}, "given together"),
        ({"voxel_size": 1.0, "origin": [1, 2]}, r"origin of shape \(2,\)"),
    ],
)
def test_what_is_no_grid_says_why(arguments, message):
    with pytest.raises(trivox.OptionError, match=message):
        trivox.Grid.from_coords(**{"coords": [[0, 0, 0]], "dims": (4, 4, 4)} | arguments)


def test_a_grid_of_no_voxels_is_empty():
    assert len(trivox.Grid.from_coords([], (4, 4, 4))) == 0


def test_all_of_a_grid_is_compared_by_its_bytes(grid):
    moved = trivox.Grid.from_coords(grid.coords(), grid.dims, origin=[1, 2, 3], voxel_size=1)
    colored = trivox.Grid.from_coords(grid.coords(), grid.dims, colors=np.ones((len(grid), 4), np.uint8))
    same = pickle.loads(pickle.dumps(grid))
    assert grid == moved == colored == same
    alike = [other.to_bytes("bricks") == grid.to_bytes("bricks") for other in (moved, colored, same)]
    assert alike == [False, False, True]


def test_bounds_are_voxels_and_become_mesh_units(grid):
    box = grid.origin + grid.voxel_size * (grid.bounds + [[0], [1]])
    assert np.allclose(box, torus().bounds, atol=grid.voxel_size)


@pytest.mark.parametrize("name", [n for n, how in trivox.GRID_FORMATS.items() if how == "rw"])
def test_files_are_read_back(grid, tmp_path, name, recwarn):
    path = tmp_path / f"grid.{name}"
    grid.save(path)
    # A format may have a cube of voxels, or no voxels past the last occupied ones.
    read = trivox.load(path)
    assert trivox.Grid.from_coords(read.coords(), grid.dims) == grid
    assert path.read_bytes() == grid.to_bytes(name)


def test_a_file_that_cannot_be_written_leaves_the_old_one(grid, tmp_path):
    path = tmp_path / "grid.vox"
    path.write_bytes(b"old")
    large = trivox.Grid.from_coords([[0, 0, 0]], (60000, 1, 1))
    with pytest.raises(trivox.WriteError, match=str(path)):
        large.save(path)
    assert path.read_bytes() == b"old" and [p.name for p in tmp_path.iterdir()] == ["grid.vox"]
    with pytest.raises(trivox.WriteError, match="unknown file extension"):
        grid.save(tmp_path / "grid.xyz")
    with pytest.raises(FileNotFoundError):
        grid.save(tmp_path / "none" / "grid.npz")


def test_what_a_format_loses_is_a_warning(grid, tmp_path):
    with pytest.warns(trivox.TrivoxWarning, match="not kept") as caught:
        grid.save(tmp_path / "grid.npy")
    assert caught[0].filename == __file__


def test_pictures_are_arrays_and_png_files(grid):
    picture = grid.render((48, 32), background="transparent", samples=1)
    assert picture.shape == (32, 48, 4) and picture.dtype == np.uint8
    assert 0 < (picture[..., 3] > 0).sum() < 32 * 48
    assert grid.png(16).startswith(b"\x89PNG")
    assert grid._repr_png_().startswith(b"\x89PNG") and "<img" in grid._repr_html_()
    with pytest.raises(trivox.OptionError, match="'iso', 'front'"):
        grid.render(view="side")
    with pytest.raises(trivox.OptionError, match="16384"):
        grid.render(20000)


def test_floats_that_are_measured_are_no_voxels():
    measured = trivox.Voxelizer(16).distances(torus(), width=2)
    for array in (measured.dense(), np.full((2, 2, 2), np.nan), np.full((2, 2, 2), 0.3)):
        with pytest.raises(trivox.OptionError, match="array > 0.5, or distances < 0") as caught:
            trivox.Grid.from_dense(array)
        assert caught.value.code == "option.values"
    expected = measured.dense() < 0
    for of_zeros_and_ones in (expected, expected.astype(np.float32), expected.astype(np.int64) * 7):
        assert trivox.Grid.from_dense(of_zeros_and_ones).occupied == expected.sum() > 0


def test_a_grid_that_no_file_holds_is_refused_at_once(tmp_path):
    huge = trivox.Grid.from_coords([[0, 0, 1]], [65536] * 3)
    for name, error, why in (
        ("a.npy", OSError, "there is space for"),
        ("a.vox", trivox.WriteError, "a .vox holds at most 2,000"),
    ):
        with pytest.raises(error, match=why):
            huge.save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_the_end_of_python_leaves_no_unfinished_file(tmp_path):
    # Compressing 1 GiB takes long, and writes little: a slow disk would delay the end of a process.
    script = """
import os, threading, time, trivox
grid = trivox.Grid.from_coords([[0, 0, 1]], [1024] * 3)
saving = threading.Thread(target=grid.save, args=("a.npz",), daemon=True)
saving.start()
while saving.is_alive() and not any(name.endswith(".tmp") for name in os.listdir()):
    time.sleep(0.001)
assert saving.is_alive()
"""
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True, timeout=60)
    assert os.listdir(tmp_path) == []


def test_set_operations_are_those_of_dense_arrays():
    random = np.random.default_rng(5)
    a, b = (random.random((20, 9, 17)) < 0.4 for _ in range(2))
    place = {"origin": [1, 2, 3], "voxel_size": 0.5, "up": "z"}
    one, two = (trivox.Grid.from_dense(dense, **place) for dense in (a, b))
    results = [(one | two, a | b), (one & two, a & b), (one - two, a & ~b), (one ^ two, a ^ b)]
    for found, expected in results:
        assert np.array_equal(found.dense(), expected)
        assert found.origin.tolist() == [1, 2, 3] and (found.voxel_size, found.up) == (0.5, "z")
    with pytest.raises(TypeError):
        one - 3


def test_set_operations_on_grids_of_one_lattice_take_the_box_of_both():
    make = trivox.Grid.from_coords
    one = make([[0, 0, 0], [3, 1, 1]], (4, 2, 2), origin=[0, 0, 0], voxel_size=0.5)
    two = make([[0, 0, 0], [1, 1, 1]], (2, 2, 2), origin=[1, 0, -0.5], voxel_size=0.5)
    # In voxels of the common box, two begins at (2, 0, 0), and one at (0, 0, 1).
    expected = {
        "|": {(0, 0, 1), (3, 1, 2), (2, 0, 0), (3, 1, 1)},
        "&": set(),
        "-": {(0, 0, 1), (3, 1, 2)},
        "^": {(0, 0, 1), (3, 1, 2), (2, 0, 0), (3, 1, 1)},
    }
    found = {"|": one | two, "&": one & two, "-": one - two, "^": one ^ two}
    for operation, grid in found.items():
        assert grid.dims == (4, 2, 3) and grid.origin.tolist() == [0, 0, -0.5]
        assert {tuple(voxel) for voxel in grid.coords().tolist()} == expected[operation], operation
    shifted = {"origin": [0.25, 0, 0], "voxel_size": 0.5}
    coarse = {"origin": [0, 0, 0], "voxel_size": 1}
    for place in ({}, shifted, coarse):
        with pytest.raises(trivox.OptionError, match="the grids are not of one lattice"):
            one | make([[0, 0, 0]], (4, 2, 2), **place)


def test_a_grid_is_cropped_and_padded_with_its_colours_where_it_lies():
    colors = np.array([[10, 20, 30, 255], [40, 50, 60, 255]], np.uint8)
    coords = [[1, 2, 3], [5, 2, 9]]
    grid = trivox.Grid.from_coords(
        coords, (8, 8, 12), colors=colors, origin=[1, 1, 1], voxel_size=2, up="z"
    )
    tight = grid.crop()
    assert tight.dims == (5, 1, 7) and tight.coords().tolist() == [[0, 0, 0], [4, 0, 6]]
    assert tight.origin.tolist() == [3, 5, 7] and (tight.voxel_size, tight.up) == (2, "z")
    assert np.array_equal(tight.colors(), colors)
    assert np.array_equal(tight.centers(), grid.centers())
    part = grid.crop([[1, 0, 0], [7, 7, 3]])
    assert part.dims == (7, 8, 4) and part.coords().tolist() == [[0, 2, 3]]
    assert np.array_equal(grid.dense()[1:8, 0:8, 0:4], part.dense())
    wide = tight.pad(3)
    assert np.array_equal(wide.dense(), np.pad(tight.dense(), 3))
    assert np.array_equal(wide.centers(), grid.centers())
    sides = ((1, 2), (2, 5), (3, 2))
    assert np.array_equal(tight.pad(sides).dense(), np.pad(tight.dense(), sides))
    assert tight.pad(((1, 2), (2, 5), (3, 2))) == grid
    assert np.array_equal(tight.pad((1, 2)).dense(), np.pad(tight.dense(), (1, 2)))
    assert tight.pad(np.array([[1, 2]] * 3)) == tight.pad([1, 2])
    for call, message in [
        (lambda: grid.crop([[0, 0, 0], [8, 7, 11]]), "are not a box in this grid"),
        (lambda: grid.crop([[3, 0, 0], [2, 7, 11]]), "are not a box in this grid"),
        (lambda: grid.crop([[0, 0, 0]]), r"use \(2, 3\)"),
        (lambda: grid.crop([0, 0, 0, 3, 3, 3]), r"bounds of shape \(6,\) .*: use \(2, 3\)"),
        (lambda: grid.crop("x"), r"use \(2, 3\)"),
        (lambda: trivox.Grid.from_dense(np.zeros((2, 2, 2), bool)).crop(), "no voxel is occupied"),
        (lambda: grid.pad(-1), "width -1 is not possible"),
        (lambda: grid.pad([(1, 1)]), r"\(x0, x1\)"),
        (lambda: grid.pad((1, 2, 3)), r"\(before, after\), or \(\(x0, x1\)"),
        (lambda: grid.pad(((1, 2), 3)), r"\(x0, x1\)"),
        (lambda: grid.pad((1, -1)), "width -1 is not possible"),
        (lambda: grid.pad(65_000), "use 1 to 65,536 per axis"),
    ]:
        with pytest.raises(trivox.OptionError, match=message):
            call()
    with pytest.raises(TypeError):
        grid.pad(1.5)


def test_grids_survive_pickling(grid):
    copy = pickle.loads(pickle.dumps(grid))
    assert copy == grid and copy.report == grid.report
    assert np.array_equal(copy.origin, grid.origin) and copy.voxel_size == grid.voxel_size


def test_colours_are_in_the_order_of_coords():
    corners = [[0, 0, 0], [8, 0, 0], [0, 8, 0]]
    red, green, blue = [255, 0, 0], [0, 255, 0], [0, 0, 255]
    mesh = trivox.Mesh(corners, [[0, 1, 2]], vertex_colors=np.array([red, green, blue], np.uint8))
    grid = trivox.Voxelizer(8)(mesh)
    colors = dict(zip(map(tuple, grid.coords().tolist()), grid.colors().tolist()))
    # The corner voxels are nearly of the vertices' colours.
    for corner, channel in [((0, 0, 0), 0), ((7, 0, 0), 1), ((0, 7, 0), 2)]:
        assert np.argmax(colors[corner][:3]) == channel and colors[corner][3] == 255
    assert trivox.Voxelizer(8, color=False)(mesh).colors() is None
    assert pickle.loads(pickle.dumps(grid)).colors().tolist() == grid.colors().tolist()


def test_a_verdict_names_the_wrong_voxels(grid):
    coords = grid.coords()
    faulty = trivox.Grid.from_coords(coords[1:], grid.dims, origin=grid.origin, voxel_size=grid.voxel_size)
    assert trivox.verify(torus(), grid)
    verdict = trivox.verify(torus(), faulty)
    # They have lists.
    assert not any(isinstance(found, Hashable) for found in (verdict, trivox.diff(grid, faulty)))
    assert not verdict and (verdict.missing, verdict.spurious) == (1, 0)
    assert verdict.first == [(tuple(coords[0].tolist()), "missing")] and verdict.exact == grid
    dense = grid.dense()
    sources = [(grid, {}), (dense, {}), (dense, {"resolution": 40})]
    found = [trivox.verify(torus(), grid, **placed).source for grid, placed in sources]
    assert found == ["file", "fit", "options"]
    moved = {"scale": 2, "rotate": ["z:30"], "center": True}
    assert trivox.verify(torus(), trivox.Voxelizer(20, **moved)(torus()), **moved)
    dense = trivox.Voxelizer(20, cube=31)(torus()).dense()
    assert trivox.verify(torus(), dense, resolution=20, cube=31)
    assert trivox.verify(torus(), dense, resolution=20, dims=(31, 31, 31))
    with pytest.raises(trivox.OptionError, match="resolution or voxel_size, not both"):
        trivox.verify(torus(), grid, resolution=40, voxel_size=1)
    with pytest.raises(trivox.OptionError, match="cube, or dims, or bounds and pad"):
        trivox.verify(torus(), grid, cube=40, pad=1)
    with pytest.raises(trivox.PlaceError, match="a padding of 20 on both sides leaves nothing"):
        trivox.verify(torus(), grid, pad=20)


def test_a_verdict_leaves_out_transparent_voxels_and_warns_as_the_voxelizer_does(tmp_path):
    (tmp_path / "two.mtl").write_text("newmtl clear\nd 0\nnewmtl red\nKd 1 0 0\n")
    corners = "v 0 0 0\nv 9 0 0\nv 0 9 0\nv 0 0 5\nv 9 0 5\nv 0 9 5\n"
    faces = "usemtl clear\nf 1 2 3\nusemtl red\nf 4 5 6\n"
    (tmp_path / "two.obj").write_text("mtllib two.mtl\n" + corners + faces)
    with pytest.warns(trivox.TrivoxWarning, match="transparent"):
        grid = trivox.Voxelizer(20)(tmp_path / "two.obj")
    assert trivox.verify(tmp_path / "two.obj", grid)
    open_box = trivox.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    with pytest.warns(trivox.TrivoxWarning, match="doubtful"):
        solid = trivox.Voxelizer(8, mode="solid")(open_box)
    with pytest.warns(trivox.TrivoxWarning, match="doubtful"):
        trivox.verify(open_box, solid, mode="solid")


def test_a_dense_array_may_be_judged_and_compared(grid):
    assert trivox.verify(torus(), grid.dense()).agreeing == len(grid)
    assert not trivox.diff(grid, grid.dense("uint8"))
    with pytest.raises(TypeError, match="Grid.from_dense"):
        trivox.verify(torus(), grid.dense().tolist())
    with pytest.raises(trivox.OptionError, match=r"shape \(40, 40\)"):
        trivox.verify(torus(), np.ones((40, 40), bool))


def test_without_colours_transparent_voxels_are_kept():
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
    faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
    clear = trivox.Mesh(corners, faces, vertex_colors=np.full((4, 4), [255, 0, 0, 0], np.uint8))
    plain = trivox.Voxelizer(12)(trivox.Mesh(corners, faces))
    with pytest.warns(trivox.TrivoxWarning, match="transparent") as caught:
        assert trivox.Voxelizer(12)(clear).occupied == 0
    assert any("keep_transparent=True keeps them" in str(one.message) for one in caught)
    assert trivox.Voxelizer(12, color=False)(clear) == plain
    assert trivox.Voxelizer(12, keep_transparent=True)(clear).occupied == plain.occupied


def test_rays_hit_what_dense_columns_show(grid):
    nx, ny, nz = grid.dims
    dense = grid.dense()
    y, z = (index.ravel() for index in np.meshgrid(range(ny), range(nz), indexing="ij"))
    centers = np.stack([np.full(len(y), -2.5), y + 0.5, z + 0.5], 1)
    origins = np.asarray(grid.origin) + grid.voxel_size * centers
    voxels, normals, distances = grid.first_hits(origins, (2, 0, 0))
    dtypes = (voxels.dtype, normals.dtype, distances.dtype)
    assert dtypes == (np.int32, np.int8, np.float64) and distances.shape == (ny * nz,)
    columns = dense[:, y, z]
    hits, first = columns.any(0), columns.argmax(0)
    assert 0 < hits.sum() < len(hits)
    assert np.array_equal(voxels[hits], np.stack([first, y, z], 1)[hits])
    assert np.array_equal(normals[hits], np.tile([-1, 0, 0], (hits.sum(), 1)))
    assert np.allclose(distances[hits], grid.voxel_size * (first[hits] + 2.5))
    missed = (voxels[~hits] == -1).all() and not normals[~hits].any()
    assert missed and np.isinf(distances[~hits]).all()


def test_rays_begin_in_voxels_and_are_few_or_none(grid):
    centers = grid.centers()
    voxels, normals, distances = grid.first_hits(centers, centers[0] + 1e6)
    assert np.array_equal(voxels, grid.coords()) and not normals.any() and not distances.any()
    assert grid.first_hits(centers[0], [0, 0, 1])[0].shape == (1, 3)
    empty = grid.first_hits(np.empty((0, 3)), [1, 0, 0])
    assert [array.shape for array in empty] == [(0, 3), (0, 3), (0,)]
    # Without a place, in voxels from the grid's corner.
    placeless = trivox.Grid.from_coords([[3, 1, 2]], (4, 4, 4))
    voxels, normals, distances = placeless.first_hits([3.5, 1.5, 9], [0, 0, -1])
    assert (voxels.tolist(), normals.tolist(), distances.tolist()) == ([[3, 1, 2]], [[0, 0, 1]], [6])


@pytest.mark.parametrize(
    ("origins", "directions", "message"),
    [
        ([[0, 0, 0]] * 2, [[1, 0, 0]] * 3, "2 origins and 3 directions"),
        ([[0, 0, 0]] * 2, [[1, 0, 0], [0, 0, 0]], r"ray 1, in voxels: a ray to \(0, 0, 0\)"),
        ([0, np.nan, 0], [1, 0, 0], "ray 0, in voxels: a ray from"),
        ([[0, 0, 0]], [1, 0], r"directions of shape \(2,\)"),
    ],
)
def test_impossible_rays_are_refused(grid, origins, directions, message):
    with pytest.raises(trivox.OptionError, match=message):
        grid.first_hits(origins, directions)
    with pytest.raises(TypeError, match="origins takes numbers"):
        grid.first_hits("north", directions)


def test_a_dense_array_of_other_values_is_refused():
    for array in (np.full((2, 2, 2), -1.5, object), np.full((2, 2, 2), "0"), np.full((2, 2, 2), 0.5j)):
        with pytest.raises(trivox.OptionError, match="booleans or integers"):
            trivox.Grid.from_dense(array)
    with pytest.raises(TypeError, match="masked"):
        trivox.Grid.from_dense(np.ma.masked_array(np.ones((2, 2, 2), bool), True))
    ones = [np.ones((2, 2, 2), dtype) for dtype in (bool, "u1", "i8", "f4")]
    assert len({trivox.Grid.from_dense(array) for array in ones}) == 1


def test_an_up_axis_needs_no_place(tmp_path):
    for make in (
        lambda **place: trivox.Grid.from_dense(np.ones((2, 2, 2), bool), **place),
        lambda **place: trivox.Grid.from_coords([[0, 0, 0]], (2, 2, 2), **place),
    ):
        grid = make(up="z")
        assert (grid.up, grid.origin, grid.voxel_size) == ("z", None, None)
        grid.save(tmp_path / "grid.npz")
        assert trivox.load(tmp_path / "grid.npz").up == "z"
        assert pickle.loads(pickle.dumps(grid)).up == "z"
        assert make(up="z", origin=(0, 0, 0), voxel_size=1).up == "z"


def test_bytes_warn_of_what_the_format_does_not_hold(grid):
    with pytest.warns(trivox.TrivoxWarning, match="padded"):
        assert trivox.load_bytes(grid.to_bytes("binvox"), "binvox").occupied == grid.occupied


def test_indices_past_any_grid_are_not_in_it(grid):
    assert (2**63, 0, 0) not in grid and (-(2**70), 0, 0) not in grid and (2**32, 0, 0) not in grid
    with pytest.raises(trivox.TrivoxError, match="outside a grid"):
        trivox.Grid.from_coords(np.array([[2**64 - 1, 0, 0]], "u8"), (2, 2, 2))


def test_many_voxels_are_looked_up_at_once(grid):
    voxels = np.random.default_rng(1).integers(-3, 43, (2000, 3))
    found = grid.contains(voxels)
    assert found.dtype == bool and found.tolist() == [tuple(voxel) in grid for voxel in voxels.tolist()]
    assert 0 < found.sum() < 2000 and grid.contains(grid.coords()).all()
    assert grid.contains([]).shape == (0,)
    for wrong in ([[0.5, 1, 2]], [1, 2, 3]):
        with pytest.raises(trivox.OptionError, match="voxels of"):
            grid.contains(wrong)
    assert np.array(grid.coords()[0]) in grid
    for wrong, code in [((0, 0), "option.shape"), ("x", "option.shape"), ((0.0, 0, 0), "option.dtype")]:
        with pytest.raises(trivox.OptionError, match="voxels of") as caught:
            wrong in grid
        assert caught.value.code == code


ASSEMBLY = """v 0 0 0
v 8 0 0
v 0 8 0
v 0 0 8
o base
f 1 3 2
o side wall
f 1 2 4
f 1 4 3
"""


@pytest.fixture
def assembly():
    return trivox.read_mesh(ASSEMBLY.encode(), "obj")


def test_attributes_are_arrays_in_the_order_of_coords(assembly):
    vox = trivox.Voxelizer(16, attributes=["label", "normal", "triangle", "area"])
    assert vox.options["attributes"] == ["label", "normal", "triangle", "area"]
    grid = vox(assembly)
    attributes = grid.attributes
    assert list(attributes) == ["normal", "triangle", "label", "area"]
    expected = {"normal": np.float32, "triangle": np.int32, "label": np.int32, "area": np.float32}
    assert {name: array.dtype.type for name, array in attributes.items()} == expected
    shapes = {array.shape for name, array in attributes.items() if name != "normal"}
    assert shapes == {(grid.occupied,)} and attributes["normal"].shape == (grid.occupied, 3)
    assert grid.names == {"label": ["base", "side wall"]} == grid.report["attribute_names"]
    assert trivox.diff(grid, grid).other_attributes == dict.fromkeys(attributes, 0)
    other = trivox.Voxelizer(16, attributes=["normal"])(assembly)
    assert list(trivox.diff(grid, other).other_attributes) == ["normal"]
    # The base is in the plane z = 0, one wall in y = 0 and one in x = 0.
    floor = (grid.coords()[:, :2] > 1).all(1)
    assert floor.any() and set(grid.labels()[floor]) == {0} == set(grid.triangles()[floor])
    assert np.array_equal(grid.normals()[floor], np.broadcast_to([0, 0, -1], (floor.sum(), 3)))
    assert np.array_equal(grid.labels() > 0, grid.triangles() > 0)
    assert grid.triangles().max() == 2 and attributes["area"].sum() > 3 * 120


def test_materials_give_metal_roughness_emission_and_opacity(tmp_path):
    (tmp_path / "m.mtl").write_text("newmtl a\nd 0.5\nPm 0.5\nPr 0.25\nKe 1 0 0\n")
    (tmp_path / "m.obj").write_text("mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl a\nf 1 2 3\n")
    names = ["metallic", "roughness", "emission", "alpha"]
    grid = trivox.Voxelizer(8, attributes=names)(tmp_path / "m.obj")
    assert list(grid.attributes) == names and not grid.warnings
    for name, expected in zip(names, [0.5, 0.25, [1, 0, 0], 0.5]):
        array = grid.attributes[name]
        assert array.dtype == np.float32 and len(array) == grid.occupied
        np.testing.assert_allclose(array, np.broadcast_to(expected, array.shape), atol=2e-5)
    with pytest.warns(trivox.TrivoxWarning, match="no textures: voxels have no attribute 'uv'"):
        assert not trivox.Voxelizer(8, attributes=["uv"])(tmp_path / "m.obj").attributes


def test_a_joined_mesh_has_a_label_for_each_part_and_coverage(tmp_path):
    corners = np.array([[0, 0, 0], [8, 0, 0], [0, 8, 0], [0, 0, 8]], float)
    sides = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
    parts = {"large": trivox.Mesh(corners, sides), "small": trivox.Mesh(corners / 2, sides)}
    mesh = trivox.Mesh.join(parts)
    assert len(mesh.faces) == 8 and mesh.faces.max() == 7
    turned = trivox.Mesh(corners / 2, np.array(sides)[:, [0, 2, 1]])
    with pytest.warns(trivox.TrivoxWarning, match="^small is inside out"):
        joined = trivox.Mesh.join({**parts, "small": turned})
    assert np.array_equal(joined.faces, mesh.faces)
    # What was said is not said again.
    assert trivox.Mesh.join({"both": joined}).warnings == ("both: " + joined.warnings[0],)
    vox = trivox.Voxelizer(voxel_size=0.5, mode="solid", include_surface=True, attributes=["label", "coverage"])
    grid = vox(mesh)
    assert grid.names == {"label": ["large", "small"]} and list(grid.attributes) == ["label", "coverage"]
    is_small = (grid.centers() < 4).all(1) & (grid.centers().sum(1) < 4)
    inside = grid.attributes["coverage"] == 1
    assert is_small.any() and np.array_equal(grid.labels()[inside] == 1, is_small[inside])
    volume = grid.attributes["coverage"].sum() * 0.5**3
    assert grid.attributes["coverage"].dtype == np.float32 and abs(volume / (8**3 / 6) - 1) < 0.02
    grid.save(tmp_path / "parts.npz")
    again = trivox.load(tmp_path / "parts.npz")
    assert again.names == grid.names
    assert all(np.array_equal(again.attributes[name], array) for name, array in grid.attributes.items())
    with pytest.raises(trivox.MeshError, match="no triangles"):
        trivox.Mesh.join({})
    with pytest.raises(TypeError):
        trivox.Mesh.join({"a": None})


def test_a_grid_of_arrays_may_have_attributes(assembly):
    grid = trivox.Voxelizer(16, attributes=["normal", "label"])(assembly)
    order = np.random.default_rng(1).permutation(len(grid))
    coords, arrays = grid.coords()[order], {name: array[order] for name, array in grid.attributes.items()}
    copy = trivox.Grid.from_coords(coords, grid.dims, attributes=arrays, names=grid.names)
    assert copy == grid and copy.names == grid.names and copy.attributes.keys() == arrays.keys()
    assert all(np.array_equal(copy.attributes[name], array) for name, array in grid.attributes.items())
    for wrong, names, message in [
        ({"normal": arrays["label"]}, {}, r"normal of shape .* is not possible: use \(\d+, 3\)"),
        ({"label": arrays["label"] + 0.5}, {}, "label has .*use whole numbers of 32 bits"),
        ({"label": arrays["label"]}, {"material": ["a"]}, "names of 'material' are without its array"),
        ({"colour": arrays["label"]}, {}, "'normal', 'triangle'"),
        ({"normal": np.where(np.arange(len(coords))[:, None] == 7, np.nan, arrays["normal"])}, {},
         "normal, row 7: NaN is not possible: use -1 to 1"),
        ({"label": arrays["label"]}, {"label": ["a"]}, r"label, row \d+: 1 is not possible: use -1 to 0"),
    ]:
        with pytest.raises(trivox.OptionError, match=message):
            trivox.Grid.from_coords(coords, grid.dims, attributes=wrong, names=names)


def test_attributes_are_kept_by_pickles_tiles_and_files(assembly, tmp_path):
    grid = trivox.Voxelizer(16, attributes=("triangle", "label"))(pickle.loads(pickle.dumps(assembly)))
    grid.save(tmp_path / "grid.npz")
    copies = [pickle.loads(pickle.dumps(grid)), trivox.load(tmp_path / "grid.npz")]
    vox = [trivox.Voxelizer(16, tile=f"{n}/2", attributes=["triangle", "label"]) for n in (1, 2)]
    copies.append(trivox.join([tile(assembly) for tile in vox]))
    for copy in copies:
        assert copy == grid and copy.names == grid.names and list(copy.attributes) == ["triangle", "label"]
        assert all(np.array_equal(copy.attributes[name], grid.attributes[name]) for name in grid.attributes)
    with np.load(tmp_path / "grid.npz") as file:
        assert np.array_equal(file["coords"], grid.coords())
        assert np.array_equal(file["label"], grid.labels())


def test_attributes_that_are_not_there_are_none_and_unknown_ones_are_refused(assembly, tetrahedron):
    grid = trivox.Voxelizer(16)(assembly)
    assert grid.attributes == {} == grid.names
    assert grid.normals() is None and grid.triangles() is None and grid.labels() is None
    with pytest.raises(trivox.OptionError, match="attribute 'colour' is not possible: use 'normal'"):
        trivox.Voxelizer(16, attributes=["colour"])
    for wrong in ["normal", [1], 3]:
        with pytest.raises(TypeError, match="attributes takes a sequence of names"):
            trivox.Voxelizer(16, attributes=wrong)
    with pytest.warns(trivox.TrivoxWarning, match="the mesh has no materials"):
        assert trivox.Voxelizer(16, attributes=["material"])(assembly).attributes == {}
    with pytest.warns(trivox.TrivoxWarning, match="without effect on distances: attributes"):
        trivox.Voxelizer(16, attributes=["normal"]).distances(tetrahedron)


def test_grids_and_distances_are_collated(tetrahedron):
    vox = trivox.Voxelizer(8, attributes=["normal", "label"])
    red = trivox.Voxelizer(16, attributes=["normal", "label"], color=(255, 0, 0))(tetrahedron)
    grey, none = vox(tetrahedron), trivox.Grid.from_coords(np.empty((0, 3), int), (4, 4, 4))
    samples = [grey, none, red]
    batch = trivox.collate(samples, order="zyx")
    assert batch["offsets"].tolist() == [0, len(grey), len(grey), len(grey) + len(red)]
    assert set(batch) == {"coords", "offsets", "colors", "normal", "label"}
    for number, grid in enumerate(samples):
        part = slice(*batch["offsets"][number : number + 2])
        np.testing.assert_array_equal(batch["coords"][part], grid.coords("zyx", batch=number))
        for name, array in grid.attributes.items():
            np.testing.assert_array_equal(batch[name][part], array)
    assert not batch["colors"][: len(grey)].any() and (batch["colors"][len(grey) :] == red.colors()).all()
    assert trivox.collate([grey], convert=lambda array: array.tolist())["offsets"] == [0, len(grey)]
    field = trivox.Voxelizer(8).distances(tetrahedron, width=2)
    batch = trivox.collate(iter([field, field]))
    np.testing.assert_array_equal(batch["distances"], np.tile(field.distances(), 2))
    assert batch["coords"][:, 0].tolist() == [0] * len(field) + [1] * len(field)
    without = trivox.collate([grey, trivox.Voxelizer(8)(tetrahedron)])
    assert not without["normal"][len(grey) :].any() and (without["label"][len(grey) :] == -1).all()
    assert len(without["label"]) > len(grey)
    with pytest.raises(trivox.OptionError, match="grids and distances are not put together"):
        trivox.collate([grey, field])
    with pytest.raises(trivox.OptionError, match="there are no samples: give one or more"):
        trivox.collate([])
