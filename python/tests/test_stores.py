"""Zarr, safetensors and Parquet hold the grid that was saved; others read it."""

import itertools
import multiprocessing
import os
import re

import numpy as np
import pytest

import trivox
from trivox import stores

zarr = pytest.importorskip("zarr")
safetensors = pytest.importorskip("safetensors.numpy")


def octahedron(colored: bool = True) -> trivox.Mesh:
    corners = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]) * 5.0
    faces = [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]]
    colors = np.arange(24, dtype=np.uint8).reshape(8, 3) * 9
    return trivox.Mesh(corners, faces, face_colors=colors if colored else None)


@pytest.mark.parametrize("mode", ["surface", "solid"])
@pytest.mark.parametrize("shard", [8, 64, 96, 128])
def test_zarr_holds_the_voxels_and_colors(tmp_path, mode, shard):
    # At most 64 files, and one part of one.
    grid = trivox.Voxelizer(min(70, 3 * shard + 1), mode=mode, pad=2)(octahedron())
    stores.save_zarr(grid, tmp_path / "a.zarr", shard=shard)
    loaded = stores.load_zarr(tmp_path / "a.zarr")
    assert loaded == grid and loaded.hash == grid.hash
    assert loaded.voxel_size == grid.voxel_size
    np.testing.assert_array_equal(loaded.colors(), grid.colors())
    np.testing.assert_array_equal(loaded.origin, grid.origin)
    group = zarr.open_group(str(tmp_path / "a.zarr"), mode="r")
    np.testing.assert_array_equal(group["occupied"][:], grid.dense())
    edge = {8: 8, 64: 64, 96: 32, 128: 64}[shard]
    assert group["occupied"].chunks == (edge,) * 3
    assert group["occupied"].shards == (None if edge == shard else (shard,) * 3)
    x, y, z = grid.coords().T
    np.testing.assert_array_equal(group["rgba"][:][x, y, z], grid.colors())
    assert not group["rgba"][:][~grid.dense()].any()


def test_zarr_without_colors_or_voxels(tmp_path):
    grid = trivox.Voxelizer(20)(octahedron(colored=False))
    stores.save_zarr(grid, tmp_path / "a.zarr")
    assert "rgba" not in zarr.open_group(str(tmp_path / "a.zarr"), mode="r")
    empty = trivox.Grid.from_coords(np.empty((0, 3), int), (9, 8, 7))
    stores.save_zarr(empty, tmp_path / "a.zarr")
    assert stores.load_zarr(tmp_path / "a.zarr") == empty


def test_a_folder_of_other_files_is_not_replaced(tmp_path):
    grid = trivox.Voxelizer(8)(octahedron())
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(FileExistsError, match="name a new folder"):
        stores.save_zarr(grid, tmp_path)
    assert (tmp_path / "thesis.txt").exists()


def test_a_box_of_a_zarr_is_read(tmp_path):
    grid = trivox.Voxelizer(70, mode="solid")(octahedron())
    stores.save_zarr(grid, tmp_path / "a.zarr")
    box = stores.load_zarr(tmp_path / "a.zarr", start=(3, 10, 60), stop=(70, 33, 69))
    np.testing.assert_array_equal(box.dense(), grid.dense()[3:70, 10:33, 60:69])
    x, y, z = box.coords().T
    whole = np.zeros((*grid.dims, 4), np.uint8)
    whole[tuple(grid.coords().T)] = grid.colors()
    np.testing.assert_array_equal(box.colors(), whole[3:70, 10:33, 60:69][x, y, z])
    np.testing.assert_allclose(box.origin, grid.origin + np.array([3, 10, 60]) * grid.voxel_size)
    assert stores.load_zarr(tmp_path / "a.zarr", start=np.array([3, 10, 60]), stop=[70, 33, 69]) == box
    for wrong in ({"start": (-4, 0, 0)}, {"stop": (400, 33, 69)}, {"start": (5, 5, 5), "stop": (9, 5, 9)}):
        with pytest.raises(trivox.OptionError, match="there is no box from"):
            stores.load_zarr(tmp_path / "a.zarr", **wrong)


def test_empty_shards_are_not_stored(tmp_path):
    grid = trivox.Grid.from_coords([[0, 0, 0], [511, 511, 511]], (512, 512, 512))
    stores.save_zarr(grid, tmp_path / "a.zarr")
    files = [f for _, _, files in os.walk(tmp_path) for f in files if f != "zarr.json"]
    assert len(files) == 2
    assert stores.load_zarr(tmp_path / "a.zarr") == grid


def test_requests_are_for_chunks_with_voxels():
    store = zarr.storage.LoggingStore(zarr.storage.MemoryStore(), log_level="CRITICAL")
    one = trivox.Grid.from_coords([[4095, 7, 64]], [4096] * 3, colors=np.uint8([[1, 2, 3, 255]]))
    stores.save_zarr(one, store)
    assert stores.load_zarr(store) == one
    assert sum(store.counter.values()) < 100, store.counter
    stores.save_zarr(one, store, shard=128)
    assert stores.load_zarr(store) == one


def test_a_zarr_of_chunks_of_bricks_in_shards_is_read(tmp_path):
    grid = trivox.Voxelizer(70)(octahedron())
    group = zarr.open_group(str(tmp_path / "a.zarr"), mode="w", zarr_format=3)
    colors = np.zeros((*grid.dims, 4), np.uint8)
    colors[tuple(grid.coords().T)] = grid.colors()
    for name, array in {"occupied": grid.dense(), "rgba": colors}.items():
        more = array.shape[3:]
        options = {"chunks": (8, 8, 8, *more), "shards": (64, 64, 64, *more), "fill_value": 0}
        group.create_array(name, shape=array.shape, dtype=array.dtype, **options)[...] = array
    loaded = stores.load_zarr(tmp_path / "a.zarr")
    assert loaded == grid
    np.testing.assert_array_equal(loaded.colors(), grid.colors())


@pytest.mark.parametrize("encoding", [{"name": "v2", "separator": "."}, {"name": "default", "separator": "."}])
def test_a_zarr_with_other_names_of_chunks_is_read(tmp_path, encoding):
    grid = trivox.Voxelizer(100)(octahedron(colored=False))
    group = zarr.open_group(str(tmp_path / "a.zarr"), mode="w", zarr_format=3)
    options = {"chunks": (32, 32, 32), "dtype": bool, "chunk_key_encoding": encoding}
    group.create_array("occupied", shape=grid.dims, **options)[...] = grid.dense()
    assert stores.load_zarr(tmp_path / "a.zarr") == grid


def test_shards_are_whole_bricks(tmp_path):
    grid = trivox.Voxelizer(20)(octahedron())
    for shard in (0, 12, -8):
        with pytest.raises(trivox.OptionError, match="multiple of 8"):
            stores.save_zarr(grid, tmp_path / "a.zarr", shard=shard)
    assert not (tmp_path / "a.zarr").exists()


def test_a_group_is_there_after_a_call_that_is_refused(tmp_path):
    grid, path = trivox.Voxelizer(20)(octahedron()), tmp_path / "a.zarr"
    stores.save_zarr(grid, path)
    for shard, error in [(8.0, TypeError), ("8", TypeError), (12, trivox.OptionError)]:
        with pytest.raises(error):
            stores.save_zarr(grid, path, shard=shard)
        assert stores.load_zarr(path) == grid
    stores.save_zarr(grid, path, shard=np.int64(8))
    assert stores.load_zarr(path) == grid


def test_an_interrupted_save_leaves_no_grid(tmp_path, monkeypatch):
    grid = trivox.Voxelizer(100)(octahedron())
    stores.save_zarr(grid, tmp_path / "g.zarr")
    assert "incomplete" not in zarr.open_group(tmp_path / "g.zarr", mode="r").attrs
    batches = stores._batches

    def interrupted(*arguments):
        yield next(batches(*arguments))
        raise KeyboardInterrupt

    monkeypatch.setattr(stores, "_batches", interrupted)
    with pytest.raises(KeyboardInterrupt):
        stores.save_zarr(grid, tmp_path / "g.zarr")
    monkeypatch.undo()
    with pytest.raises(trivox.ReadError, match="the group is incomplete"):
        stores.load_zarr(tmp_path / "g.zarr")
    for number in (1, 2):
        stores.save_zarr(trivox.Voxelizer(128, tile=f"{number}/2x1x1")(octahedron()), tmp_path / "tiles.zarr")
    assert stores.load_zarr(tmp_path / "tiles.zarr") == trivox.Voxelizer(128)(octahedron())
    monkeypatch.setattr(stores, "_batches", interrupted)
    with pytest.raises(KeyboardInterrupt):
        stores.save_zarr(trivox.Voxelizer(128, tile="2/2x1x1")(octahedron()), tmp_path / "tiles.zarr")
    monkeypatch.undo()
    with pytest.warns(trivox.TrivoxWarning, match="the tiles in the group leave 1,048,576 voxels empty"):
        stores.load_zarr(tmp_path / "tiles.zarr")


@pytest.mark.parametrize("is_solid", [False, True])
def test_voxels_are_listed_or_dense_whichever_is_smaller(tmp_path, is_solid):
    dense = np.zeros((300, 40, 70), bool)
    dense[:, 10:30] = is_solid
    dense[::7, ::3, ::5] = True
    grid = trivox.Grid.from_dense(dense)
    stores.save_zarr(grid, tmp_path / "g.zarr", shard=128)
    group = zarr.open_group(tmp_path / "g.zarr", mode="r")
    found, coords, _ = stores._read(group, "occupied", [], (0, 0, 0), dense.shape)
    assert (found is not None) == is_solid and (len(coords) == 0) == is_solid
    assert stores.load_zarr(tmp_path / "g.zarr") == grid


@pytest.mark.parametrize("colored", [True, False])
def test_safetensors_hold_the_sparse_arrays(tmp_path, colored):
    grid = trivox.Voxelizer(50, up="z")(octahedron(colored))
    stores.save_safetensors(grid, tmp_path / "a.safetensors")
    tensors = safetensors.load_file(tmp_path / "a.safetensors")
    np.testing.assert_array_equal(tensors["coords"], grid.coords())
    assert ("colors" in tensors) == colored
    if colored:
        np.testing.assert_array_equal(tensors["colors"], grid.colors())
    loaded = stores.load_safetensors(tmp_path / "a.safetensors")
    np.testing.assert_array_equal(loaded.colors(), grid.colors())
    assert loaded == grid and loaded.up == "z" and loaded.voxel_size == grid.voxel_size
    assert os.listdir(tmp_path) == ["a.safetensors"]


ATTRIBUTES = ["normal", "triangle", "label", "area"]


def assert_same(loaded, grid):
    """Voxels, place, colours, attributes and their names."""
    assert loaded == grid and loaded.up == grid.up and loaded.names == grid.names
    np.testing.assert_array_equal(loaded.origin, grid.origin)
    np.testing.assert_array_equal(loaded.colors(), grid.colors())
    assert loaded.attributes.keys() == grid.attributes.keys()
    for name, array in grid.attributes.items():
        np.testing.assert_array_equal(loaded.attributes[name], array)


def test_attributes_are_tensors(tmp_path):
    grid = trivox.Voxelizer(20, attributes=ATTRIBUTES)(octahedron())
    stores.save_safetensors(grid, tmp_path / "a.safetensors")
    tensors = safetensors.load_file(tmp_path / "a.safetensors")
    for name, array in grid.attributes.items():
        np.testing.assert_array_equal(tensors[name], array)
    assert_same(stores.load_safetensors(tmp_path / "a.safetensors"), grid)


def test_attributes_and_distances_are_columns_of_a_table_of_bricks(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    grid = trivox.Voxelizer(20, mode="solid", attributes=ATTRIBUTES)(octahedron())
    field = trivox.Voxelizer(20, up="z").distances(octahedron(), width=2.5)
    nothing = trivox.DistanceField.from_coords([], [], trivox.Grid.from_coords([], (9, 8, 7)), 2)
    path = tmp_path / "a.parquet"
    stores.save_parquet({"grid": grid, "field": field, "nothing": nothing}.items(), path)
    loaded = stores.load_parquet(path)
    assert_same(loaded["grid"], grid)
    assert loaded["nothing"] == nothing
    assert loaded["field"] == field and loaded["field"].hash == field.hash and loaded["field"].up == "z"
    # By pyarrow alone.
    rows = pq.read_table(path).to_pylist()
    for name, array in grid.attributes.items():
        np.testing.assert_array_equal(np.concatenate([row[name] for row in rows if row["id"] == "grid"]), array.ravel())
    of_field = [row for row in rows if row["id"] == "field"]
    np.testing.assert_array_equal(np.concatenate([row["distance"] for row in of_field]), field.distances())
    bits = [np.unpackbits(np.frombuffer(row["inside"], np.uint8)).sum() for row in of_field]
    assert sum(bits) == field.inside().occupied and all(row["normal"] is None for row in of_field)


@pytest.mark.parametrize("shard", [8, 64])
def test_distances_are_arrays_of_a_zarr(tmp_path, shard):
    field = trivox.Voxelizer(60, up="z").distances(octahedron(), width=2.5)
    stores.save_zarr(field, tmp_path / "a.zarr", shard=shard)
    loaded = stores.load_zarr(tmp_path / "a.zarr")
    assert loaded == field and loaded.hash == field.hash and loaded.up == "z"
    np.testing.assert_array_equal(loaded.origin, field.origin)
    box = stores.load_zarr(tmp_path / "a.zarr", start=(3, 10, 2), stop=(30, 17, 65))
    np.testing.assert_array_equal(box.dense(), field.dense()[3:30, 10:17, 2:65])
    # By zarr alone.
    group = zarr.open_group(str(tmp_path / "a.zarr"), mode="r")
    band, inside, width = group["distance"][:], group["inside"][:], group.attrs["width"]
    np.testing.assert_array_equal(np.where(np.isnan(band), np.where(inside, -width, width), band), field.dense())


def test_a_zarr_has_an_array_for_each_attribute():
    with pytest.raises(trivox.OptionError) as caught:
        trivox.Voxelizer(8, attributes=["none"])
    possible = re.findall(r"'(\w+)'", str(caught.value).partition("use")[2])
    assert set(stores._LAYERS) == {"occupied", "rgba", "inside", "distance", *possible}


@pytest.mark.parametrize("tiles", [1, 8])
@pytest.mark.parametrize("shard", [8, 64])
def test_attributes_are_arrays_of_a_zarr(tmp_path, tiles, shard):
    # Tiles of one shard.
    options = {"cube": 2 * shard, "attributes": ATTRIBUTES}
    whole = trivox.Voxelizer(**options)(octahedron())
    for number in range(1, tiles + 1):
        tile = {"tile": f"{number}/{tiles}"} if tiles > 1 else {}
        stores.save_zarr(trivox.Voxelizer(**options, **tile)(octahedron()), tmp_path / "a.zarr", shard=shard)
    group = zarr.open_group(str(tmp_path / "a.zarr"), mode="r")
    assert group.attrs["names"] == whole.names
    for name, array in whole.attributes.items():
        dense = group[name][:]
        assert dense.dtype == array.dtype
        np.testing.assert_array_equal(dense[tuple(whole.coords().T)], array)
        assert (dense[~whole.dense()] == (-1 if array.dtype == np.int32 else 0)).all()
    assert_same(stores.load_zarr(tmp_path / "a.zarr"), whole)
    if tiles > 1:
        other = trivox.Voxelizer(cube=2 * shard, tile="1/8")(octahedron())
        with pytest.raises(trivox.OptionError, match="another choice of attributes"):
            stores.save_zarr(other, tmp_path / "a.zarr", shard=shard)


@pytest.mark.parametrize("mode", [{}, {"up": "z"}])
def test_safetensors_hold_distances(tmp_path, mode):
    field = trivox.Voxelizer(30, pad=4, **mode).distances(octahedron(), width=2.5)
    stores.save_safetensors(field, tmp_path / "a.safetensors")
    tensors = safetensors.load_file(tmp_path / "a.safetensors")
    np.testing.assert_array_equal(tensors["distances"], field.distances())
    loaded = stores.load_safetensors(tmp_path / "a.safetensors")
    assert isinstance(loaded, trivox.DistanceField)
    assert loaded == field and loaded.hash == field.hash and loaded.up == field.up
    np.testing.assert_array_equal(loaded.dense(), field.dense())
    np.testing.assert_array_equal(loaded.origin, field.origin)


def test_tiles_fill_one_zarr_in_any_order(tmp_path):
    options = {"resolution": 128, "mode": "solid", "interior_color": (5, 6, 7)}
    whole = trivox.Voxelizer(**options)(octahedron())
    for number in (3, 8, 1, 2, 7, 6, 5, 4):
        tile = trivox.Voxelizer(**options, tile=f"{number}/8")(octahedron())
        stores.save_zarr(tile, tmp_path / "a.zarr")
        if number == 3:
            with pytest.warns(trivox.TrivoxWarning, match="the tiles in the group leave 1,835,008 voxels empty"):
                stores.load_zarr(tmp_path / "a.zarr")
            # The box of the tile.
            assert stores.load_zarr(tmp_path / "a.zarr", start=(0, 64, 0), stop=(64, 128, 64)).occupied == tile.occupied
    assert stores.load_zarr(tmp_path / "a.zarr") == whole
    group = zarr.open_group(str(tmp_path / "a.zarr"), mode="r")
    x, y, z = whole.coords().T
    np.testing.assert_array_equal(group["rgba"][:][x, y, z], whole.colors())
    assert group.attrs["origin"] == whole.origin.tolist()


def store_at(place, index):
    """A path, or a store of zarr-python on an object store."""
    folder, storage = place
    url = f"{folder}/{index}.zarr"
    return zarr.storage.FsspecStore.from_url(url, storage_options=storage) if storage else url


def save_tile_at_the_same_time(number, place, rounds, barrier, errors):
    tile = trivox.Voxelizer(cube=128, tile=f"{number}/2x2x1")(octahedron())
    for index in range(rounds):
        barrier.wait(120)
        try:
            stores.save_zarr(tile, store_at(place, index))
        except Exception as error:
            errors.put(f"{type(error).__name__}: {error}")


@pytest.mark.parametrize(("store", "rounds"), [("folder", 12), ("s3", 3)])
def test_processes_may_begin_one_zarr_at_the_same_time(tmp_path, store, rounds, request):
    place = (str(tmp_path), None) if store == "folder" else request.getfixturevalue("bucket")
    context = multiprocessing.get_context("spawn")
    barrier, errors = context.Barrier(4), context.SimpleQueue()
    workers = [
        context.Process(target=save_tile_at_the_same_time, args=(number, place, rounds, barrier, errors))
        for number in range(1, 5)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert errors.empty(), errors.get()
    assert [worker.exitcode for worker in workers] == [0] * 4
    whole = trivox.Voxelizer(cube=128)(octahedron())
    for index in range(rounds):
        loaded = stores.load_zarr(store_at(place, index))
        assert loaded == whole, index
        np.testing.assert_array_equal(loaded.colors(), whole.colors())


def test_tiles_fill_one_zarr_on_any_file_system():
    pytest.importorskip("fsspec")
    url = "memory://stores/a.zarr"
    for options in ({"mode": "solid", "interior_color": (1, 2, 3)}, {"mode": "surface"}):
        whole = trivox.Voxelizer(cube=128, **options)(octahedron())
        for number in range(1, 9):
            stores.save_zarr(trivox.Voxelizer(cube=128, **options, tile=f"{number}/8")(octahedron()), url)
        loaded = stores.load_zarr(url)
        assert loaded == whole
        np.testing.assert_array_equal(loaded.colors(), whole.colors())


def test_a_tile_that_is_saved_again_leaves_nothing_of_before(tmp_path):
    file = tmp_path / "a.zarr"
    options = {"mode": "solid", "interior_color": (1, 2, 3)}
    stores.save_zarr(trivox.Voxelizer(256, tile="1/8", **options)(octahedron()), file)
    other = trivox.Voxelizer(256, mode="thin", tile="1/8")(octahedron())
    stores.save_zarr(other, file)
    with pytest.warns(trivox.TrivoxWarning, match="the tiles in the group leave"):
        assert stores.load_zarr(file).occupied == other.occupied
    assert np.count_nonzero(zarr.open_group(str(file), mode="r")["rgba"][..., 3]) == other.occupied


def test_tiles_of_another_grid_are_refused(tmp_path):
    def tile(number, resolution=128, **options):
        return trivox.Voxelizer(resolution, tile=f"{number}/2x1x1", **options)(octahedron())

    file = tmp_path / "a.zarr"
    stores.save_zarr(tile(1), file)
    for other, what in [
        (tile(2, scale=2.0), "another lattice"),
        (tile(2, up="z"), "another up axis"),
        (tile(2, color=False), "another choice of colours"),
    ]:
        with pytest.raises(trivox.OptionError, match=f"{what} than this tile: make all tiles"):
            stores.save_zarr(other, file)
    stores.save_zarr(tile(2), file)
    whole = trivox.Voxelizer(128)(octahedron())
    assert stores.load_zarr(file) == whole
    stores.save_zarr(whole, tmp_path / "whole.zarr")
    with pytest.raises(trivox.OptionError, match="holds no tiles, but a whole grid or another program's: use a new group"):
        stores.save_zarr(tile(1), tmp_path / "whole.zarr")


def test_the_origin_of_tiles_is_that_of_the_whole(tmp_path):
    box = [[0.1, 0.1, 0.1], [1.38, 1.38, 1.38]]
    mesh = trivox.Mesh(np.asarray(octahedron().vertices) * 0.12 + 0.74, octahedron().faces)
    for number in range(1, 9):
        tile = trivox.Voxelizer(voxel_size=0.01, bounds=box, tile=f"{number}/8")(mesh)
        stores.save_zarr(tile, tmp_path / "a.zarr")
        origin = zarr.open_group(str(tmp_path / "a.zarr"), mode="r").attrs["origin"]
        assert origin == tile.report["lattice"]["origin"] == [0.1, 0.1, 0.1], number


def test_a_tile_within_a_shard_is_refused(tmp_path):
    tile = trivox.Voxelizer(100, tile="2/2x1x1")(octahedron())
    with pytest.raises(trivox.OptionError, match="cut the grid at multiples of 64, or use shard=8"):
        stores.save_zarr(tile, tmp_path / "a.zarr")
    stores.save_zarr(tile, tmp_path / "a.zarr", shard=8)
    with pytest.raises(trivox.OptionError, match="one grid, with one shard"):
        stores.save_zarr(trivox.Voxelizer(100, tile="1/2x1x1")(octahedron()), tmp_path / "a.zarr", shard=16)


def test_parquet_holds_the_bricks_of_many_grids(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    grids = {
        "colored": trivox.Voxelizer(50, mode="solid", up="z")(octahedron()),
        "grey": trivox.Voxelizer(20)(octahedron(colored=False)),
        "empty": trivox.Grid.from_coords(np.empty((0, 3), int), (9, 8, 7)),
    }
    path = tmp_path / "a.parquet"
    stores.save_parquet(grids.items(), path)
    assert os.listdir(tmp_path) == ["a.parquet"]
    loaded = stores.load_parquet(path)
    assert loaded == grids and list(loaded) == list(grids)
    assert [grid.hash for grid in loaded.values()] == [grid.hash for grid in grids.values()]
    assert loaded["colored"].up == "z" and loaded["colored"].voxel_size == grids["colored"].voxel_size
    np.testing.assert_array_equal(loaded["colored"].colors(), grids["colored"].colors())
    assert not loaded["grey"].has_colors
    assert stores.load_parquet(path, ["grey"]) == {"grey": grids["grey"]}
    with pytest.raises(KeyError, match="none"):
        stores.load_parquet(path, ["none"])
    # By pyarrow alone: a bit for each voxel, and a colour for each bit that is set.
    rows = pq.read_table(path).to_pylist()
    assert len(rows) == sum(grid.brick_count for grid in grids.values())
    for name in ("colored", "grey"):
        dense, coords, seen = grids[name].dense(), grids[name].coords().tolist(), 0
        colors = dict(zip(map(tuple, coords), map(bytes, grids["colored"].colors())))
        for row in (row for row in rows if row["id"] == name):
            corner = 8 * np.array([row["x"], row["y"], row["z"]])
            inside = [
                tuple((corner + (x, y, z)).tolist())
                for x in range(8) for y in range(8) for z in range(8)
                if row["mask"][8 * x + y] >> z & 1
            ]
            assert all(dense[voxel] for voxel in inside)
            seen += len(inside)
            own = None if name == "grey" else b"".join(colors[voxel] for voxel in inside)
            assert row["colors"] == own
        assert seen == grids[name].occupied


def test_parquet_of_a_batch_is_whole_or_not_there(tmp_path):
    pytest.importorskip("pyarrow.parquet")
    mesh = octahedron()
    with pytest.raises(trivox.OptionError, match="two grids have the id 'a'"):
        stores.save_parquet(trivox.Voxelizer(20).many([("a", mesh), ("a", mesh)]), tmp_path / "a.parquet")
    with pytest.raises(FileNotFoundError):
        stores.save_parquet(trivox.Voxelizer(20).many([("a", mesh), "none.obj"]), tmp_path / "a.parquet")
    assert os.listdir(tmp_path) == []


def test_parquet_holds_names_that_are_not_utf8(tmp_path):
    pytest.importorskip("pyarrow.parquet")
    names = [os.fsdecode(b"\xff.obj"), "\\udcff.obj", "\\\\udcff.obj", "C:\\up\\a.obj", "\\\udcff.obj"]
    path = tmp_path / "a.parquet"
    stores.save_parquet(trivox.Voxelizer(20).many([(name, octahedron()) for name in names]), path)
    assert list(stores.load_parquet(path)) == names
    assert list(stores.load_parquet(path, names[:1])) == names[:1]
    assert stores._escaped(names[3]) == names[3]


def test_escapes_of_names_are_reversible():
    pieces = ["\\", "\udcff", "udcff", "ud800", "u", "a"]
    names = {"".join(some) for n in range(6) for some in itertools.product(pieces, repeat=n)}
    escaped = {name: stores._escaped(name) for name in names}
    assert len(set(escaped.values())) == len(names)
    for name, text in escaped.items():
        text.encode()
        assert stores._restored(text) == name


def test_a_parquet_file_of_another_origin_is_refused(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": ["a"]}), path)
    with pytest.raises(trivox.ReadError, match="a.parquet: it has no metadata 'trivox': .*trivox.ray.rows"):
        stores.load_parquet(path)
    path.write_bytes(b"no such thing")
    with pytest.raises(trivox.ReadError, match="a.parquet: it is not a Parquet file"):
        stores.load_parquet(path)


def test_what_is_no_grid_or_no_file_of_these_functions_is_said(tmp_path):
    dense = np.eye(4, dtype=bool)[None]
    grid = trivox.Grid.from_dense(dense)
    for save in (stores.save_zarr, stores.save_safetensors, lambda of, path: stores.save_parquet([("a", of)], path)):
        with pytest.raises(TypeError, match="ndarray is no Grid or DistanceField"):
            save(dense, tmp_path / "a")
    for grids in ([grid], {"ab": grid}, [("a", grid, 1)]):
        with pytest.raises(TypeError, match="grids takes pairs of an id and a Grid"):
            stores.save_parquet(grids, tmp_path / "a.parquet")
    assert not os.listdir(tmp_path)
    safetensors.save_file({"weights": np.zeros(3)}, tmp_path / "other.safetensors")
    (tmp_path / "broken.safetensors").write_bytes(b"no tensors")
    for name, message in [("other", "it has no tensors coords, dims"), ("broken", "it is not a safetensors file, or damaged")]:
        with pytest.raises(trivox.ReadError, match=f"{name}.safetensors: {message}") as caught:
            stores.load_safetensors(tmp_path / f"{name}.safetensors")
        assert caught.value.code == "read.content"
    tile = trivox.Voxelizer(128, tile="1/8")(octahedron())
    stores.save_zarr(tile, tmp_path / "tiles.zarr")
    # The note of a tile is none of the group's members.
    assert sorted(zarr.open_group(str(tmp_path / "tiles.zarr"), mode="r").array_keys()) == ["occupied", "rgba"]
    zarr.open_group(str(tmp_path / "other.zarr"), mode="w")
    with pytest.raises(trivox.ReadError, match="the group has no array 'occupied'"):
        stores.load_zarr(tmp_path / "other.zarr")
