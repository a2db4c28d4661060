"""Grids and distances as Zarr v3 arrays, safetensors files and Parquet tables of bricks, through the packages that own
the formats.

Needs the packages of the extra ``stores``: ``pip install 'trivox[stores]'``, or in a clone
``pip install './python[stores]'``.

>>> import tempfile, trivox, trivox.stores
>>> mesh = trivox.Mesh([[0, 0, 0], [4, 0, 0], [0, 4, 0]], [[0, 1, 2]])
>>> grid = trivox.Voxelizer(resolution=4)(mesh)
>>> with tempfile.TemporaryDirectory() as folder:
...     trivox.stores.save_zarr(grid, folder + "/grid.zarr")
...     trivox.stores.load_zarr(folder + "/grid.zarr") == grid
True
"""

from __future__ import annotations

import asyncio
import errno
import itertools
import json
import math
import operator
import os
import re
import shutil
import time
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ._errors import OptionError, ReadError, TrivoxWarning
from ._glue import _values
from ._trivox import DistanceField, Grid

__all__ = [
    "load_parquet",
    "load_safetensors",
    "load_zarr",
    "save_parquet",
    "save_safetensors",
    "save_zarr",
]

_BRICK = 8

_LAYERS: dict[str, tuple[str, list[int], int]] = {
    "occupied": ("bool", [], 0),
    "rgba": ("uint8", [4], 0),
    "normal": ("float32", [3], 0),
    "area": ("float32", [], 0),
    "metallic": ("float32", [], 0),
    "roughness": ("float32", [], 0),
    "emission": ("float32", [3], 0),
    "alpha": ("float32", [], 0),
    "uv": ("float32", [2], 0),
    "coverage": ("float32", [], 0),
    "triangle": ("int32", [], -1),
    "material": ("int32", [], -1),
    "label": ("int32", [], -1),
    "inside": ("bool", [], 0),
    "distance": ("float32", [], math.nan),
}
"""The arrays that a group may have: dtype, shape of a voxel's value, and the value of empty voxels."""

_COLUMNS = [name for name in _LAYERS if name not in ("occupied", "rgba", "inside")]
"""Those of a table of bricks that are lists."""

T = TypeVar("T")
Values = dict[str, NDArray[Any]]


def save_zarr(grid: Grid | DistanceField, store: Any, *, shard: int = 64) -> None:
    """Writes a grid or distances to a Zarr v3 group, in chunks of 64 x 64 x 64 voxels.

    The group has the array ``occupied`` (bool, shape (nx, ny, nz), index [x, y, z]) and, if the grid
    has colours, ``rgba`` (uint8, shape (nx, ny, nz, 4); 0 where a voxel is empty). ``Grid.attributes`` are
    arrays of their names, 0 or, for indices, -1 where a voxel is empty. Of distances it has ``distance`` (float32, in
    voxels; NaN outside the band) and ``inside`` (bool) instead. The group's attributes are ``origin`` (the minimum
    corner) and ``voxel_size``, both in mesh units, ``up``, ``names``, which are ``Grid.names``, ``width``, that of
    the band, and ``incomplete`` while it is written. Chunks without voxels are not stored, and some 64 MiB of chunks
    are dense in memory at a time.

    A grid that a `Voxelizer` made with ``tile`` is written to its place in the array of the whole grid.
    Processes may write their tiles at the same time: no two share a file.

    Parameters
    ----------
    grid : Grid or DistanceField
    store : str, os.PathLike or a store of zarr-python
        Where the group is, or will be. A whole grid replaces a group that is there, which is lost if the save is
        interrupted.
    shard : int, default 64
        Voxels along the edge of what one file or object holds: a multiple of 8. Chunks have 64, 32, 16 or 8
        voxels along an edge, the most that divide it; where it is larger than 64, the file is a shard of
        several chunks.

    Raises
    ------
    OptionError
        A shard that is no multiple of 8; a tile that begins or ends within a shard, or is of another grid
        than the tiles in the group: of another lattice or up axis, or the only one with or without
        colours or an attribute; a group without tiles.
    FileExistsError
        A folder of other files, which the group would replace.
    """
    import zarr

    _check(grid)
    shard = operator.index(shard)
    if isinstance(store, os.PathLike):
        store = os.fspath(store)
    if isinstance(store, str) and os.path.isdir(store):
        # Another process that begins the same group writes a .partial file first.
        names = [name for name in os.listdir(store) if not name.endswith(".partial")]
        if names and not {"zarr.json", ".zgroup", ".zarray"} & set(names):
            raise FileExistsError(errno.EEXIST, "it has other files: name a new folder", store)

    if shard <= 0 or shard % _BRICK:
        raise OptionError(f"a shard of {shard} voxels is not possible: use a multiple of {_BRICK}", "option.shard")
    tile = grid.report.get("tile")
    at, shape = (tile["from"], grid.report["lattice"]["dims"]) if tile else ([0, 0, 0], list(grid.dims))
    for begin, size, whole in zip(at, grid.dims, shape):
        end = begin + size
        if begin % shard or (end % shard and end != whole):
            message = (
                f"the tile from {begin} to {end} begins or ends within a shard of {shard} voxels: "
                f"cut the grid at multiples of {shard}, or use shard={_BRICK}"
            )
            raise OptionError(message, "option.shard")
    attributes: dict[str, Any] = {}
    if isinstance(grid, DistanceField):
        attributes["width"] = grid.width
        inside, band = _parts(grid)
        parts: list[tuple[Grid, Values]] = [(inside, {"inside": _each(inside)}), (band, {"distance": grid.distances()})]
    else:
        colors = {} if (rgba := grid.colors()) is None else {"rgba": rgba}
        parts = [(grid, {"occupied": _each(grid), **colors, **grid.attributes})]
        attributes |= {"names": grid.names} if grid.names else {}
    if grid.origin is not None and grid.voxel_size is not None:
        # Of the lattice: computed from a tile's, it would depend on the tile in its last bits.
        origin = grid.report["lattice"]["origin"] if tile else grid.origin.tolist()
        attributes.update(origin=origin, voxel_size=grid.voxel_size, up=grid.up)
    if tile:
        attributes["lattice"] = grid.report["lattice"]
        # A tile without voxels has no colours either way.
        if isinstance(grid, Grid) and len(grid):
            attributes |= {"has_colors": grid.has_colors, "layers": sorted(grid.attributes)}
        group = _settled(lambda: _group_of_tiles(store, attributes))
    else:
        group = zarr.open_group(store, mode="w", zarr_format=3, attributes=attributes | {"incomplete": True})
    names = [name for _, values in parts for name in values]
    if tile:  # Saved before, it may have had more.
        names += [n for n in _LAYERS if n not in names and _settled(partial(group.__contains__, n))]
    arrays = {name: _settled(partial(_array, group, name, shape, shard)) for name in names}
    box = [range(a // shard, -(-(a + d) // shard)) for a, d in zip(at, grid.dims)]
    if tile:
        complete = _note_of_tile(arrays[names[0]][0], [*at, *grid.dims])
        # A save that is interrupted leaves no note of an earlier one.
        _gather([arrays[names[0]][0].store.delete(complete)])
    # Chunks of an earlier save of this tile; a new array has none here.
    stale = {name: set() if is_new else _stored(array, box) for name, (array, is_new) in arrays.items()}
    blocks = itertools.chain.from_iterable(_blocks(part, shard, values) for part, values in parts)
    per_voxel = sum(array.dtype.itemsize * math.prod(_LAYERS[name][1]) for name, (array, _) in arrays.items())
    for some in _batches(blocks, shard, per_voxel):
        writes = []
        for key, layers in some:
            index = tuple(int(b.start + k) for b, k in zip(box, key))
            for name, layer in layers.items():
                array, _ = arrays[name]
                stale[name].discard(index)
                region = tuple(slice(i * shard, i * shard + n) for i, n in zip(index, layer.shape))
                writes.append(array._async_array.setitem(region, layer))
        _gather(writes)
    for name, (array, _) in arrays.items():
        keys = [_chunk_key(array, index) for index in sorted(stale[name])]
        _gather([array.store.delete(key) for key in keys])
    if tile:
        # Stores that cannot create a file exclusively let a process replace what another has created.
        _check_same(_settled(lambda: zarr.open_group(store, mode="r").attrs), attributes)
        for name in names:
            _settled(partial(_array, group, name, shape, shard))
        _gather([_mark(arrays[names[0]][0].store, complete)])
    else:
        del group.attrs["incomplete"]


def _note_of_tile(array: Any, tile: list[int]) -> str:
    """The key of the note that a tile, of this first voxel and these dimensions, is complete."""
    return f"{array.path}/tiles/{'-'.join(map(str, tile))}"


async def _mark(store: Any, key: str) -> None:
    from zarr.core.buffer import default_buffer_prototype

    await store.set(key, default_buffer_prototype().buffer.from_bytes(b"complete"))


def _left_out(array: Any, begin: tuple[int, ...], end: tuple[int, ...]) -> int:
    """How many voxels of a box no complete tile has; 0 of an array without notes."""

    async def noted() -> list[str]:
        return [key async for key in array.store.list_prefix(f"{array.path}/tiles/")]

    if not array.store.supports_listing or not (keys := _gather([noted()])[0]):
        return 0
    left = math.prod(b - a for a, b in zip(begin, end))
    for numbers in ([int(n) for n in key.rsplit("/", 1)[1].split("-")] for key in keys):
        sides = zip(begin, end, numbers[:3], numbers[3:])
        left -= math.prod(max(0, min(b, at + size) - max(a, at)) for a, b, at, size in sides)
    return max(0, left)


def _check(grid: object) -> None:
    if not isinstance(grid, (Grid, DistanceField)):
        message = "is no Grid or DistanceField: make one of an array by from_dense or from_coords"
        raise TypeError(f"{type(grid).__name__} {message}")


def _each(grid: Grid) -> NDArray[np.bool_]:
    """True for each voxel, in the memory of one."""
    return np.broadcast_to(np.True_, len(grid))


def _parts(field: DistanceField) -> tuple[Grid, Grid]:
    """The voxels inside, and those of the band."""
    return field.inside(), Grid.from_coords(field.coords(), field.dims)


def _settled(read: Callable[[], T]) -> T:
    """What is read of metadata. zarr-python before 3.1 shows those that another process is about to write."""
    for _ in range(200):
        try:
            return read()
        except json.JSONDecodeError:
            time.sleep(0.01)
    return read()


def _group_of_tiles(store: Any, attributes: dict[str, Any]) -> Any:
    """The group of tiles with these attributes. Its metadata are one document, of the first that creates it."""
    import zarr
    from zarr.core.buffer import default_buffer_prototype
    from zarr.storage._common import make_store_path

    async def create() -> None:
        document = {"zarr_format": 3, "node_type": "group", "attributes": attributes}
        content = default_buffer_prototype().buffer.from_bytes(json.dumps(document).encode())
        await (await make_store_path(store, mode="a") / "zarr.json").set_if_not_exists(content)

    try:
        group = zarr.open_group(store, mode="r+", zarr_format=3)
    except FileNotFoundError:
        _gather([create()])
        group = zarr.open_group(store, mode="r+", zarr_format=3)
    if {"origin", "incomplete"} & set(group.attrs):
        _check_same(group.attrs, attributes)
    if not attributes.keys() <= group.attrs.keys():
        # The first tile had no voxels, or the group no grid.
        group.attrs.update(attributes)
    return group


def _check_same(before: Any, now: dict[str, Any]) -> None:
    if "lattice" not in before:
        raise OptionError("the group holds no tiles, but a whole grid or another program's: use a new group", "option.store")
    for name, what in [
        ("lattice", "lattice"), ("up", "up axis"), ("has_colors", "choice of colours"),
        ("layers", "choice of attributes"),
    ]:  # fmt: skip
        if name in before and name in now and before[name] != now[name]:
            message = (
                f"the group holds a grid of another {what} than this tile: make all tiles with the same options, "
                "or use a new group"
            )
            raise OptionError(message, "option.store")


def load_zarr(store: Any, *, start: tuple[int, int, int] | None = None,
              stop: tuple[int, int, int] | None = None) -> Grid | DistanceField:
    """Reads a grid or distances, or a box of them, from a Zarr group that `save_zarr` wrote.

    Parameters
    ----------
    store : str, os.PathLike or a store of zarr-python
    start, stop : (int, int, int), optional
        The first voxel of the box, and after its last; the whole grid by default.

    Returns
    -------
    Grid or DistanceField
        What the group has.

    Raises
    ------
    OptionError
        A box that is empty, or not inside the grid.
    ReadError
        `save_zarr` was interrupted while it wrote the group, or did not write it.

    Warns
    -----
    TrivoxWarning
        A tile is missing.
    """
    import zarr

    group = zarr.open_group(os.fspath(store) if isinstance(store, os.PathLike) else store, mode="r")
    if group.attrs.get("incomplete"):
        raise ReadError("the group is incomplete, as save_zarr was interrupted: save the grid again", "read.grid")
    is_field = "distance" in group
    voxels = "inside" if is_field else "occupied"
    if voxels not in group:
        raise ReadError(f"the group has no array '{voxels}': load_zarr reads groups of save_zarr", "read.content")
    shape = group[voxels].shape
    begin = (0, 0, 0) if start is None else tuple(map(operator.index, start))
    end = shape if stop is None else tuple(map(operator.index, stop))
    if not all(0 <= a < b <= d for a, b, d in zip(begin, end, shape, strict=True)):
        message = f"there is no box from {begin} to {end} in a grid of {tuple(shape)} voxels"
        raise OptionError(message, "option.box")
    if "lattice" in group.attrs and (left_out := _left_out(group[voxels], begin, end)):
        message = f"the tiles in the group leave {left_out:,} voxels empty: save the missing ones with save_zarr"
        warnings.warn(message, TrivoxWarning, stacklevel=2)
    place: dict[str, Any] = {}
    if "origin" in group.attrs:
        size = float(group.attrs["voxel_size"])
        origin = np.asarray(group.attrs["origin"], np.float64) + np.asarray(begin) * size
        place = {"origin": origin, "voxel_size": size, "up": group.attrs.get("up", "y")}
    names = [] if is_field else [name for name in _LAYERS if name in group and name != voxels]
    dense, coords, values = _read(group, voxels, names, begin, end)
    if dense is not None:
        grid = Grid.from_dense(dense, **place)
    else:
        dims = tuple(b - a for a, b in zip(begin, end))
        place |= {"colors": values.pop("rgba", None)}
        if values:
            place |= {"attributes": values, "names": group.attrs.get("names", {})}
        grid = Grid.from_coords(coords, dims, **place)
    if not is_field:
        return grid
    _, coords, values = _read(group, "distance", ["distance"], begin, end)
    return DistanceField.from_coords(coords, values["distance"], grid, group.attrs["width"])


def _read(
    group: Any, voxels: str, names: list[str], begin: tuple[int, ...], end: tuple[int, ...]
) -> tuple[NDArray[np.bool_] | None, NDArray[np.int32], Values]:
    """The voxels of an array in a box: as a dense array where that is smaller, else listed, with values of others."""
    # Opened once: each time it is, its metadata are read.
    arrays = {name: group[name] for name in {voxels, *names}}
    array = arrays[voxels]
    step = (array.shards or array.chunks)[0]
    places = sorted(_stored(array, [range(a // step, -(-b // step)) for a, b in zip(begin, end)]))
    dims = tuple(b - a for a, b in zip(begin, end))
    dense: NDArray[np.bool_] | None = None
    coords: list[NDArray[np.int32]] = []
    values = {name: [np.empty((0, *_LAYERS[name][1]), _LAYERS[name][0])] for name in names}
    for some in _batches(places, step, 4 * (1 + len(names))):
        boxes = [
            tuple(slice(max(i * step, a), min((i + 1) * step, b)) for i, a, b in zip(index, begin, end))
            for index in some
        ]
        layers = {name: _gather([a._async_array.getitem(box) for box in boxes]) for name, a in arrays.items()}
        for number, (box, block) in enumerate(zip(boxes, layers[voxels])):
            block = block if block.dtype == bool else ~np.isnan(block)
            corner = [axis.start - a for axis, a in zip(box, begin)]
            if dense is not None:
                dense[tuple(slice(c, c + n) for c, n in zip(corner, block.shape))] = block
                continue
            occupied = np.flatnonzero(block)
            along = np.unravel_index(occupied, block.shape)
            coords.append(np.stack([axis + c for axis, c in zip(along, corner)], axis=1, dtype=np.int32))
            for name in names:
                # Rows taken by their numbers are faster than by a mask.
                rows = layers[name][number].reshape(block.size, *_LAYERS[name][1])
                values[name].append(rows[occupied])
        # Dense, a voxel is a byte; listed, an occupied one has twelve.
        if dense is None and not names and 12 * sum(map(len, coords)) > math.prod(dims):
            dense = np.zeros(dims, bool)
            while coords:
                dense[tuple(coords.pop().T)] = True
    listed = {name: np.concatenate(parts) for name, parts in values.items()}
    return dense, np.concatenate([np.empty((0, 3), np.int32), *coords]), listed


def save_safetensors(grid: Grid | DistanceField, path: str | os.PathLike[str]) -> None:
    """Writes a grid or distances to a safetensors file, as the sparse arrays that networks take.

    The tensors are ``coords`` (int32, shape (n, 3), in x, y, z), ``dims`` (int32, shape (3,)), and where
    the grid has them ``colors`` (uint8, shape (n, 4), one for each of ``coords``), ``origin`` (float64,
    shape (3,)) and ``voxel_size`` (float64, shape (1,)), in mesh units. Of distances, ``coords`` are those of the
    band; ``distances`` (float32, shape (n,)), ``inside`` (int32, shape (m, 3), the coordinates of the voxels
    inside) and ``width`` (float32, shape (1,)) are beside them, in voxels. The metadata has ``up`` and ``hash``.
    ``Grid.attributes`` are tensors of their names, and ``Grid.names`` are JSON in the metadata ``names``.

    Parameters
    ----------
    grid : Grid or DistanceField
    path : str or os.PathLike
        The file; it is written whole or not at all.
    """
    from safetensors.numpy import save_file

    _check(grid)
    metadata = {"up": grid.up, "hash": grid.hash}
    tensors: Values = {"coords": grid.coords(), "dims": np.asarray(grid.dims, np.int32), **_values(grid)}
    if isinstance(grid, DistanceField):
        tensors["inside"] = grid.inside().coords()
        tensors["width"] = np.asarray([grid.width], np.float32)
    else:
        metadata["names"] = json.dumps(grid.names)
    if grid.origin is not None:
        tensors["origin"] = grid.origin
        tensors["voxel_size"] = np.asarray([grid.voxel_size], np.float64)
    with _whole_file(path) as temporary:
        save_file(tensors, temporary, metadata=metadata)


def load_safetensors(path: str | os.PathLike[str]) -> Grid | DistanceField:
    """Reads a grid or distances from a file that `save_safetensors` wrote.

    Parameters
    ----------
    path : str or os.PathLike

    Returns
    -------
    Grid or DistanceField
        What the file has.

    Raises
    ------
    ReadError
        A file that `save_safetensors` did not write.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(os.fspath(path), framework="numpy") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}
            metadata = file.metadata() or {}
    except SafetensorError as error:
        raise ReadError(f"it is not a safetensors file, or damaged ({error})", "read.content", os.fspath(path)) from error
    needed = {"coords", "dims"} | ({"inside", "width"} if "distances" in tensors else set())
    if not needed <= tensors.keys():
        missing = ", ".join(sorted(needed - tensors.keys()))
        message = f"it has no tensors {missing}: load_safetensors reads files of save_safetensors"
        raise ReadError(message, "read.content", os.fspath(path))
    place: dict[str, Any] = {}
    if "origin" in tensors:
        place = {"origin": tensors["origin"], "voxel_size": float(tensors["voxel_size"][0])}
        place["up"] = metadata.get("up", "y")
    dims = tuple(int(d) for d in tensors["dims"])
    if "distances" not in tensors:
        if attributes := {name: array for name, array in tensors.items() if name in _LAYERS}:
            place |= {"attributes": attributes, "names": json.loads(metadata.get("names", "{}"))}
        return Grid.from_coords(tensors["coords"], dims, colors=tensors.get("colors"), **place)
    inside = Grid.from_coords(tensors["inside"], dims, **place)
    return DistanceField.from_coords(tensors["coords"], tensors["distances"], inside, float(tensors["width"][0]))


def save_parquet(grids: Iterable[tuple[Any, Grid | DistanceField]], path: Any) -> None:
    """Writes the bricks of many grids or distances to a Parquet file, a row for each brick of 8 x 8 x 8 voxels.

    The columns are ``id`` (string), ``x``, ``y``, ``z`` (int32: the brick's corner divided by 8), ``mask``
    (64 bytes: one for each x and y, x slowest, with bit z for the voxel at z), ``colors`` (binary: red, green, blue and
    opacity) and the names of ``Grid.attributes`` (lists of float32 or int32, of ``normal`` three numbers a voxel): the
    values of each voxel in the mask, by x, then y, then z; null where a grid has none. Of distances the mask is of the
    band, ``distance`` (a list of float32, in voxels) has its values, and ``inside`` (64 bytes) is the mask of the voxels
    inside. The metadata ``trivox`` is JSON: for each id ``dims``, ``hash`` and, where there are any, ``origin``,
    ``voxel_size``, ``up``, ``names`` and the ``width`` of the band. One grid at a time is in memory.

    Parameters
    ----------
    grids : iterable of (id, Grid or DistanceField)
        Such as ``vox.many(paths, on_error="skip")``; ids are written as text. In the name of a file that
        is not UTF-8, the byte FF is written as ``\\udcff``; before such text that is in a name itself,
        backslashes are doubled. `load_parquet` gives the names as they were.
    path : str, os.PathLike or a file object
        A file by its path is written whole or not at all.

    Raises
    ------
    OptionError
        Two grids have one id.
    Exception
        That of an item of `Voxelizer.many` which failed: see its ``on_error``.
    """
    if not isinstance(path, (str, os.PathLike)):
        return _write_bricks(grids, path)
    with _whole_file(path) as temporary:
        _write_bricks(grids, temporary)
    return None


def load_parquet(path: Any, ids: Iterable[Any] | None = None) -> dict[str, Grid | DistanceField]:
    """Reads grids and distances from a Parquet file that `save_parquet` wrote.

    Parameters
    ----------
    path : str, os.PathLike or a file object
    ids : iterable, optional
        Those of the grids to read; all by default. Others are skipped in the file.

    Returns
    -------
    dict of str to Grid or DistanceField

    Raises
    ------
    KeyError
        An id that is not in the file.
    ReadError
        A file that `save_parquet` did not write.
    """
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
    except ValueError as error:
        raise _foreign(path, f"it is not a Parquet file, or damaged ({error})") from error
    with file:
        try:
            places = json.loads((file.metadata.metadata or {})[b"trivox"])
        except (KeyError, ValueError) as error:
            raise _foreign(path, "it has no metadata 'trivox'") from error
        groups: dict[str, list[int]] = {name: [] for name in places}
        for group in range(file.num_row_groups):
            column = file.metadata.row_group(group).column(0)
            # A row group has the bricks of one grid.
            if (statistics := column.statistics) is not None and statistics.has_min_max:
                name = statistics.min
            else:  # Those of an id of several kB are not kept.
                name = file.read_row_group(group, columns=["id"])["id"][0].as_py()
            groups[name].append(group)
        columns = [name for name in file.schema_arrow.names if name != "id"]
        keys = places if ids is None else (_escaped(str(key)) for key in ids)
        return {
            _restored(name): _of_bricks(file.read_row_groups(groups[name], columns=columns), dict(places[name]))
            for name in keys
        }


def _of_bricks(table: Any, place: dict[str, Any]) -> Grid | DistanceField:
    bricks = np.stack([table[axis].to_numpy() for axis in "xyz"], -1).astype(np.int64)

    def voxels(name: str) -> NDArray[np.int64]:
        masks = np.frombuffer(b"".join(table[name].to_pylist()), np.uint8)
        row, *voxel = np.nonzero(_cubes(masks))
        return bricks[row] * _BRICK + np.stack(voxel, -1)

    coords, values, width = voxels("mask"), {}, place.pop("width", None)
    for name in _COLUMNS if table.num_rows else ():
        if not table[name].null_count:
            dtype, more, _ = _LAYERS[name]
            values[name] = table[name].combine_chunks().flatten().to_numpy().astype(dtype).reshape(-1, *more)
    dims, names = place.pop("dims"), place.pop("names", {})
    del place["hash"]
    if width is not None:
        inside = Grid.from_coords(voxels("inside"), dims, **place)
        return DistanceField.from_coords(coords, values.get("distance", []), inside, width)
    if table.num_rows and not table["colors"].null_count:
        colors = np.frombuffer(b"".join(table["colors"].to_pylist()), np.uint8)
        place["colors"] = colors.reshape(-1, 4)
    if values:
        place |= {"attributes": values, "names": names}
    return Grid.from_coords(coords, dims, **place)


def _foreign(path: Any, what: str) -> ReadError:
    name = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    message = f"{what}: load_parquet reads files of save_parquet; for parts of trivox.ray use trivox.ray.rows"
    return ReadError(message, "read.content", name)


def _escaped(name: str) -> str:
    """With ``\\udcff`` in place of the surrogate U+DCFF, which UTF-8 does not hold.

    Backslashes before it, and before text that looks like it, are doubled. So their number is odd before
    what was a surrogate, and even before text: no two names become one, and `_restored` is the inverse.
    """

    def escape(match: re.Match[str]) -> str:
        slashes, what = match[1] * 2, match[2]
        return f"{slashes}{what}" if len(what) > 1 else f"{slashes}\\u{ord(what):04x}"

    return re.sub(r"(\\*)([\ud800-\udfff]|(?<=\\)ud[89a-f][0-9a-f]{2})", escape, name)


def _restored(text: str) -> str:
    def restore(match: re.Match[str]) -> str:
        slashes, is_surrogate = divmod(len(match[1]), 2)
        return "\\" * slashes + (chr(int(match[2][1:], 16)) if is_surrogate else match[2])

    return re.sub(r"(\\+)(ud[89a-f][0-9a-f]{2})", restore, text)


def _write_bricks(grids: Iterable[tuple[Any, Grid | DistanceField]], file: Any) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {"id": pa.string(), "x": pa.int32(), "y": pa.int32(), "z": pa.int32(), "mask": pa.binary(64)}
    types |= {"colors": pa.large_binary(), "inside": pa.binary(64)}
    types |= {name: pa.large_list(pa.type_for_alias(_LAYERS[name][0])) for name in _COLUMNS}
    schema = pa.schema(types)
    places: dict[str, Any] = {}
    with pq.ParquetWriter(file, schema, compression="zstd", use_dictionary=["id"]) as writer:
        for pair in grids:
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise TypeError("grids takes pairs of an id and a Grid or DistanceField, as Voxelizer.many yields them")
            key, grid = pair
            name = _escaped(str(key))
            if isinstance(grid, Exception):
                raise grid
            _check(grid)
            if name in places:
                raise OptionError(f"two grids have the id '{name}': give each one of its own", "option.id")
            place = places[name] = {"dims": list(grid.dims), "hash": grid.hash}
            if grid.origin is not None:
                place |= {"origin": grid.origin.tolist(), "voxel_size": grid.voxel_size, "up": grid.up}
            if isinstance(grid, DistanceField):
                place["width"] = grid.width
                bricks, octets, inside = _union(*(part.bricks() for part in reversed(_parts(grid))))
                columns: dict[str, Any] = {"inside": _fixed(inside)}
                values: Values = {"distance": grid.distances()}
            else:
                place |= {"names": grid.names} if grid.names else {}
                bricks, masks = grid.bricks()
                octets, columns, values = _octets(masks), {}, _values(grid)
            count = len(bricks)
            if count == 0:
                continue
            ends = np.concatenate([[0], np.cumsum(_BITS[octets].sum(-1, dtype=np.int64))])
            for column, array in values.items():
                offsets = ends * (array.size // max(1, len(array)))
                if column == "colors":
                    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(array)]
                    columns[column] = pa.LargeBinaryArray.from_buffers(pa.large_binary(), count, buffers)
                else:
                    columns[column] = pa.LargeListArray.from_arrays(offsets, array.reshape(-1))
            columns |= {"id": pa.repeat(name, count), **dict(zip("xyz", bricks.T)), "mask": _fixed(octets)}
            arrays = [columns[column] if column in columns else pa.nulls(count, type) for column, type in types.items()]
            # All of a grid is one row group.
            writer.write_table(pa.table(arrays, schema=schema), row_group_size=count)
        writer.add_key_value_metadata({"trivox": json.dumps(places)})


def _octets(masks: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """The bytes of each brick's mask."""
    return masks.astype("<u8").view(np.uint8).reshape(-1, _BRICK**2)


def _fixed(octets: NDArray[np.uint8]) -> Any:
    import pyarrow as pa

    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(64), len(octets), [None, pa.py_buffer(octets)])


def _union(*parts: tuple[NDArray[Any], NDArray[Any]]) -> tuple[NDArray[Any], ...]:
    """All bricks of these, in a grid's order, and the bytes of the masks that each of them has there."""
    keys, rows = np.unique(np.concatenate([bricks for bricks, _ in parts])[:, ::-1], axis=0, return_inverse=True)
    found, begin = [np.ascontiguousarray(keys[:, ::-1])], 0
    for bricks, masks in parts:
        octets = np.zeros((len(keys), _BRICK**2), np.uint8)
        octets[rows.reshape(-1)[begin : begin + len(bricks)]] = _octets(masks)
        found, begin = [*found, octets], begin + len(bricks)
    return tuple(found)


@contextmanager
def _whole_file(path: str | os.PathLike[str]) -> Iterator[str]:
    """The name of a file to write, which gets the name `path` if all goes well."""
    path = os.path.realpath(os.fspath(path))
    folder, name = os.path.split(path)
    # Readers of a folder of parts skip names that begin so.
    temporary = os.path.join(folder, f".{name}.{uuid.uuid4().hex}.tmp")
    try:
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        if os.path.exists(path):
            shutil.copymode(path, temporary)
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.remove(temporary)
        raise


def _array(group: Any, name: str, shape: list[int], shard: int) -> tuple[Any, bool]:
    """An array of a group, and whether it is new."""
    from zarr.errors import ContainsArrayError

    dtype, more, fill = _LAYERS[name]
    chunk = next(edge for edge in (64, 32, 16, 8) if shard % edge == 0)
    whole, file = (*shape, *more), (*[shard] * 3, *more)
    if name not in group:
        try:
            return group.create_array(
                name,
                shape=whole,
                chunks=(*[chunk] * 3, *more),
                shards=file if chunk < shard else None,
                dtype=dtype,
                fill_value=fill,
                dimension_names=["x", "y", "z", "channel"][: len(whole)],
            ), True
        except ContainsArrayError:
            pass  # Another process made it in between, for another tile.
    array = group[name]
    if array.shape != whole or (array.shards or array.chunks) != file:
        message = (
            f"the array '{name}' that is there has shape {array.shape} in shards of "
            f"{array.shards or array.chunks}: write the tiles of one grid, with one shard, to one group"
        )
        raise OptionError(message, "option.store")
    return array, False


def _batches(of_cubes: Iterable[T], edge: int, per_voxel: int = 4) -> Iterator[list[T]]:
    """What belongs to cubes of `edge` voxels, for some 64 MiB at so many bytes of a voxel at a time."""
    rest = iter(of_cubes)
    while some := list(itertools.islice(rest, max(1, (64 << 20) // (per_voxel * edge**3)))):
        yield some


def _gather(work: list[Any]) -> list[Any]:
    """The results of coroutines of zarr, run at the same time."""
    from zarr.core.sync import sync

    async def gather() -> list[Any]:
        return await asyncio.gather(*work)

    return sync(gather())


def _chunk_key(array: Any, index: tuple[int, ...]) -> str:
    whole = (*index, *[0] * (array.ndim - len(index)))
    return f"{array.path}/{array.metadata.encode_chunk_key(whole)}"


def _stored(array: Any, box: list[range]) -> set[tuple[int, ...]]:
    """The places of the files of an array in a box: x, y and z, in files."""
    name = re.compile(re.escape(f"{array.path}/c/") + r"(\d+)/(\d+)/(\d+)(?:/0)?")
    if not array.store.supports_listing or not name.fullmatch(_chunk_key(array, (1, 2, 3))):
        return set(itertools.product(*box))

    async def of_slice(x: int) -> list[str]:
        return [key async for key in array.store.list_prefix(f"{array.path}/c/{x}/")]

    keys = itertools.chain(*_gather([of_slice(x) for x in box[0]]))
    places = (tuple(map(int, match.groups())) for match in map(name.fullmatch, keys) if match)
    return {place for place in places if all(i in axis for i, axis in zip(place, box))}


def _blocks(grid: Grid, edge: int, values: Values) -> Iterator[tuple[NDArray[Any], Values]]:
    """Each cube of `edge` voxels with a voxel: its place, and the values of each of its voxels."""
    bricks, masks = grid.bricks()
    octets = _octets(masks)
    ends = np.cumsum(_BITS[octets].sum(-1, dtype=np.int64))
    per_edge = edge // _BRICK
    for key, rows in _by_block(bricks // per_edge):
        cubes = _cubes(octets[rows]).astype(bool)
        begins = np.where(rows > 0, ends[rows - 1], 0)
        x, y, z = (bricks[rows] - key * per_edge).T
        blocks = {}
        for name, of_voxels in values.items():
            dtype, more, fill = _LAYERS[name]
            layer = np.full((*cubes.shape, *more), fill, dtype)
            layer[cubes] = np.concatenate([of_voxels[a:b] for a, b in zip(begins, ends[rows])])
            block = np.full((*[per_edge] * 3, *layer.shape[1:]), fill, dtype)
            block[x, y, z] = layer
            block = np.moveaxis(block, (3, 4, 5), (1, 3, 5)).reshape(*[edge] * 3, *more)
            blocks[name] = block[tuple(slice(d - k * edge) for d, k in zip(grid.dims, key.tolist()))]
        yield key, blocks


def _by_block(keys: NDArray[Any]) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Each block, and the rows of `keys` that are in it."""
    if len(keys) == 0:
        return
    order = np.lexsort(keys.T)
    ordered = keys[order]
    begins = np.flatnonzero(np.any(ordered[1:] != ordered[:-1], axis=1)) + 1
    for rows in np.split(order, begins):
        yield keys[rows[0]], rows


_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(-1, dtype=np.uint8)
"""The number of bits in each byte."""


def _cubes(octets: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The voxels of bricks, shape (n, 8, 8, 8), index [brick, x, y, z], of the bytes of their masks."""
    # In a word for each x, bit 8 y + z: a byte for each y, from the lowest bit up.
    bits = np.unpackbits(octets.reshape(-1, _BRICK, _BRICK), axis=-1, bitorder="little")
    return bits.reshape(-1, *[_BRICK] * 3)
