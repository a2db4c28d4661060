"""Batches on a cluster of Ray, Dask or MPI: every item exactly once, errors as rows, resumed by id.

`voxelize` writes Parquet or WebDataset parts straight from the workers, so that grids do not pass
through Ray's object store. `Voxelize` is the callable class for pipelines of one's own.

A part is one file or object, with its ids and error codes in it, and it appears whole: a local file is
renamed, and an object store shows an object once it is complete. So every part that is there is complete,
and no run removes one. Its name is a digest of its ids: all tries of a batch write the same items to the
same name. A later run with the same output leaves out the ids that are in parts. Each part has the options of its run.

A worker writes the ids of a batch to a ``_*.started`` file before it begins, and removes that file at the
end. A run first finishes the batches of such files as they are, because a worker of an earlier run may
still write them. Runs at the same time may nevertheless put one item into parts of different batches, and
``retry_errors`` does so on purpose: `rows` gives each item once.
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import logging
import os
import tarfile
import time
from collections import Counter, deque
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from glob import escape
from itertools import islice
from multiprocessing import current_process, get_context
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

from . import (
    DistanceField, DoubtfulError, Grid, Mesh, OptionError, ReadError, TrivoxError, Voxelizer, __version__, load_bytes,
    read_mesh,
)  # fmt: skip
from ._errors import MemoryLimitError
from ._trivox import _missing_sidecars, _read_files
from .stores import _escaped, _restored, _whole_file

__all__ = ["Summary", "Voxelize", "decode", "expand", "failures", "read", "rows", "voxelize"]

log: logging.Logger = logging.getLogger("trivox.ray")

_TYPES: dict[str, str | tuple[str, int]] = {
    "id": "string", "error": "string", "code": "string", "hash": "string", "occupied": "int64", "dims": ("int32", 3),
    "origin": ("double", 3), "voxel_size": "double", "up": "string", "fill": "string", "doubtful": "bool",
    "warnings": ("string", -1), "seconds": "double", "version": "string", "grid": "large_binary",
}  # fmt: skip
"""Arrow's names of the types of columns; of a list with its length, or -1."""

FIELDS: tuple[str, ...] = tuple(_TYPES)
"""Columns of a result. ``error`` and ``code`` are None where there is a grid; ``grid`` is the content of a .bricks
file, or of an .npz file for distances and for a voxelizer with ``attributes``: `decode` reads both. ``fill`` is
the rule that filled a solid, and ``doubtful`` whether its inside is uncertain; both are None for surfaces.
``warnings`` is a list of sentences, and ``version`` that of trivox."""


def expand(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], **storage: Any
) -> list[str]:
    """The files that patterns name.

    Parameters
    ----------
    paths : str, os.PathLike or iterable of them
        Local paths or fsspec URLs such as ``s3://bucket/meshes/*.glb``; those without ``*`` are kept
        as they are.
    **storage
        Options of the fsspec file system.

    Returns
    -------
    list of str
        Sorted within each pattern.
    """
    import fsspec

    found = []
    for path in [paths] if isinstance(paths, (str, os.PathLike)) else paths:
        path = os.fspath(path)
        if "*" in path:
            files = fsspec.open_files(path, **storage)
            found += sorted(file.full_name if "://" in path else file.path for file in files)
        else:
            found.append(path)
    return found


def read(path: str, *, confine: bool = False, **storage: Any) -> Mesh:
    """Reads a mesh from a local path or an fsspec URL, with the files that it names.

    Those of a URL are beside it and below in any case; those of a local path with ``confine=True``.
    """
    if "://" not in path:
        return read_mesh(path, confine=confine)
    return _parsed(path, _fetched(path, *_system(path, storage)))


def _system(path: str, storage: dict[str, Any]) -> tuple[Any, str]:
    """The file system of a path or URL, and the name that the path has there."""
    import fsspec

    return fsspec.core.url_to_fs(path, **storage)


def _fetched(path: str, system: Any, remote: str) -> dict[str, bytes]:
    """The files of a mesh by their names: itself, and those that it names in its folder."""
    folder, _, name = remote.rpartition("/")
    try:
        files = {name: system.cat_file(remote)}
    except (FileNotFoundError, IsADirectoryError):
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", path) from None
    tried: set[str] = set()

    def is_found(names: list[str]) -> bool:
        for file in names:
            if file not in tried:
                tried.add(file)
                # The reader warns of a sidecar that is not there; some stores forbid what they do not have.
                with suppress(FileNotFoundError, IsADirectoryError, PermissionError):
                    files[file] = system.cat_file(f"{folder}/{file}")
                    return True
        return False

    # A sidecar may name others.
    while any([is_found(names) for names in _missing_sidecars(name, files)]):
        pass
    return files


def _parsed(path: str, files: dict[str, bytes]) -> Mesh:
    try:
        return _read_files(next(iter(files)), files)
    except TrivoxError as error:
        error.path = path
        raise


READS_AHEAD = 32
"""The most meshes that a worker reads at a time: 50 ms of latency for each are hidden by 1.6 ms of work."""

BYTES_AHEAD = 256 << 20
"""About the most bytes of meshes that a worker has read and not voxelized, where their sizes are alike."""


def _read_ahead(
    paths: Iterable[str], storage: dict[str, Any]
) -> Iterator[tuple[str, Future[dict[str, bytes]] | None]]:
    """Each path with its files, which are read before they are asked for; None for a local path."""
    # The largest of the last files is what the next ones are taken for. Before the first, four are read.
    expected = BYTES_AHEAD // 4

    def fetched(path: str, shared: tuple[Any, str] | None) -> dict[str, bytes]:
        nonlocal expected
        files = _fetched(path, *(shared or _system(path, storage)))
        expected = max(expected // 2, sum(map(len, files.values())), 1)
        return files

    def submitted(path: str) -> Future[dict[str, bytes]] | None:
        if "://" not in path:
            return None
        with suppress(Exception):  # To be raised again for the item.
            system, remote = _system(path, storage)
            # Others, such as FTP, serve one thread.
            return pool.submit(fetched, path, (system, remote) if system.async_impl else None)
        return None

    rest = iter(paths)
    waiting: deque[tuple[str, Future[dict[str, bytes]] | None]] = deque()
    pool = ThreadPoolExecutor(READS_AHEAD)
    try:
        while True:
            room = min(READS_AHEAD, max(1, BYTES_AHEAD // expected)) - len(waiting)
            for path in islice(rest, max(0, room)):
                waiting.append((path, submitted(path)))
            if not waiting:
                return
            yield waiting.popleft()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


class Voxelize:
    """Callable class for ``ray.data.Dataset.map_batches``: paths in, rows with the columns `FIELDS` out.

    Other columns of the input are kept; those with a name of `FIELDS` are replaced.

    Parameters
    ----------
    voxelizer : Voxelizer
        One thread is given to it where it does not say: Ray counts CPUs, and one worker each is what
        scales.
    column : str, default "id"
        The column with paths or fsspec URLs, which are the ids of the rows.
    data : str, optional
        The column with the content of the files, where they are not to be read by their paths.
    keep_grid : bool, default True
        Whether rows have the grid.
    width : float, optional
        Signed distances up to this, in voxels, instead of voxels: those of `Voxelizer.distances`.
    storage : dict, optional
        Options of the fsspec file system.

    Raises
    ------
    OptionError, BackendError
        A width that is not possible, or distances with ``tile``.
    TypeError
        `voxelizer` is no `Voxelizer`.

    Examples
    --------
    >>> rows = ray.data.from_items([{"id": "a.glb"}]).map_batches(        # doctest: +SKIP
    ...     trivox.ray.Voxelize, fn_constructor_args=(trivox.Voxelizer(128),),
    ...     compute=ray.data.ActorPoolStrategy(size=8))
    """

    def __init__(
        self,
        voxelizer: Voxelizer,
        *,
        column: str = "id",
        data: str | None = None,
        keep_grid: bool = True,
        width: float | None = None,
        storage: dict[str, Any] | None = None,
    ):
        _check(voxelizer, width)
        self.voxelizer: Voxelizer = Voxelizer(**({"threads": 1} | voxelizer.options))
        self.column: str = column
        self.data: str | None = data
        self.keep_grid: bool = keep_grid
        is_plain = width is None and not voxelizer.options.get("attributes")
        self.format: Literal["bricks", "npz"] = "bricks" if is_plain else "npz"
        self.width: float | None = width
        self.storage: dict[str, Any] = storage or {}

    def __call__(self, batch: dict[str, np.ndarray]) -> dict[str, Any]:
        names = map(str, batch[self.column])
        contents = zip(names, batch[self.data]) if self.data is not None else _read_ahead(names, self.storage)
        table = _table([self.row(*item) for item in contents])
        for name, values in batch.items():
            if name != self.data and name not in FIELDS:
                table = table.append_column(name, _column(values))
        return table

    def row(self, name: str, content: bytes | Future[dict[str, bytes]] | None = None) -> dict[str, Any]:
        """What becomes of one file, or of its content; it never raises an ``Exception``."""
        began = time.perf_counter()
        warnings: tuple[str, ...] = ()
        try:
            if isinstance(content, Future):
                mesh = _parsed(name, content.result())
            elif content is not None:
                mesh = read_mesh(bytes(content), os.path.splitext(name)[1])
            else:
                mesh = read(name, **self.storage) if "://" in name else name
            warnings = mesh.warnings if isinstance(mesh, Mesh) else ()
            made = (
                self.voxelizer(mesh)
                if self.width is None
                else self.voxelizer.distances(mesh, width=self.width)
            )
            row = _row(name, made, self.format if self.keep_grid else None)
        except Exception as error:
            if isinstance(error, TrivoxError):
                error.path = error.path or name
            row = _row(name, error, None)
        return row | {"warnings": [*warnings, *row["warnings"]], "seconds": time.perf_counter() - began}


def decode(data: bytes) -> Grid | DistanceField:
    """The grid, with its attributes, or the distances of the column ``grid`` of a row."""
    if not data.startswith(b"PK"):
        return load_bytes(data, "bricks")
    with np.load(io.BytesIO(data)) as arrays:
        if "distances" not in arrays:
            return load_bytes(data, "npz")
        place = {"origin": arrays["origin"], "voxel_size": float(arrays["voxel_size"]), "up": str(arrays["up"])}
        inside = Grid.from_dense(arrays["occupied"], **place)
        return DistanceField.from_coords(arrays["coords"], arrays["distances"], inside, float(arrays["width"]))


def _check(voxelizer: Voxelizer, width: float | None) -> None:
    """Raises what the arguments would raise for every item."""
    if not isinstance(voxelizer, Voxelizer):
        kind = type(voxelizer).__name__
        raise TypeError(f"voxelizer is a trivox.Voxelizer, not {kind}: give trivox.Voxelizer(resolution)")
    if width is not None:
        dot = Mesh(np.eye(3), [[0, 1, 2]])
        trial = Voxelizer(1, tile=voxelizer.options.get("tile"), backend="cpu", memory=1)
        # The arguments are checked before the memory, of which there is too little for any work.
        with suppress(MemoryLimitError):
            trial.distances(dot, width=width)


def _row(name: str, result: Grid | DistanceField | Exception, format: str | None) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(FIELDS) | {"id": name, "warnings": [], "version": __version__}
    if not isinstance(result, Exception) or isinstance(result, DoubtfulError):
        row["warnings"] = list(result.warnings)
        if result.report and (fill := result.report["fill"]):
            row |= {"fill": fill["rule"], "doubtful": fill["doubtful"]}
    if isinstance(result, Exception):
        code = result.code if isinstance(result, TrivoxError) else type(result).__name__
        return row | {"error": f"{type(result).__name__}: {result}", "code": code}
    return row | {
        "hash": result.hash,
        "occupied": len(result),
        "dims": list(result.dims),
        "origin": result.origin.tolist(),
        "voxel_size": result.voxel_size,
        "up": result.up,
        "grid": None if format is None else result.to_bytes(format),
    }


def _table(rows: Sequence[dict[str, Any]]) -> Any:
    import pyarrow as pa

    def type_of(kind: str | tuple[str, int]) -> Any:
        return pa.type_for_alias(kind) if isinstance(kind, str) else pa.list_(pa.type_for_alias(kind[0]), kind[1])

    schema = pa.schema([(name, type_of(kind)) for name, kind in _TYPES.items()])
    return pa.Table.from_pylist([_printable(row) for row in rows], schema=schema)


def _column(values: Any) -> Any:
    import pyarrow as pa

    if getattr(values, "ndim", 1) == 1:
        return pa.array(values)
    from ray.data.extensions import ArrowTensorArray

    return ArrowTensorArray.from_numpy(values)


def _printable(row: dict[str, Any]) -> dict[str, Any]:
    """With escapes in place of the bytes of file names that are not UTF-8, which Arrow refuses."""

    def printable(text: str) -> str:
        return text.encode("utf-8", "backslashreplace").decode()

    text = {name: printable(value) for name, value in row.items() if isinstance(value, str)}
    warnings = [printable(warning) for warning in row["warnings"]]
    return row | text | {"id": _escaped(row["id"]), "warnings": warnings}


WITHOUT_EFFECT = ("adapter", "backend", "memory", "threads", "time_limit")
"""Options of a voxelizer that change no grid."""


INDEX = "__index__"
"""The first member of a .tar part: a line of JSON with the options of the run, then one, id and code, for each item.
Readers of WebDataset skip it: its name has no extension."""

OPTIONS = b"trivox.options"
"""The key of the options of the run in the metadata of a .parquet part."""


def _options(voxelizer: Voxelizer, width: float | None, format: str) -> str:
    """As JSON, what all parts of a folder have in common."""
    options = {k: v for k, v in voxelizer.options.items() if k not in WITHOUT_EFFECT}
    options |= {"width": width, "format": format}
    return json.dumps(options, default=lambda value: np.asarray(value).tolist(), sort_keys=True)


class _Sink:
    """Parts of an output, each written whole or not at all."""

    def __init__(
        self, output: str, format: str, storage: dict[str, Any], member: str = "bricks", options: str = "null"
    ):
        self.system, self.folder = _system(output, storage)
        self.format, self.member, self.options = format, member, options
        self.suffix = {"parquet": ".parquet", "webdataset": ".tar"}[format]
        self.system.makedirs(self.folder, exist_ok=True)

    def name(self, ids: list[str]) -> str:
        return f"part-{_digest(json.dumps(ids))}"

    def path(self, name: str) -> str:
        return f"{self.folder}/{name}"

    def begin(self, ids: list[str]) -> bool:
        """Marks a batch as begun. False if it is marked already."""
        mark = self.mark(ids)
        if self.system.exists(self.path(mark)):
            return False
        self._put(mark, json.dumps(ids).encode())
        return True

    def mark(self, ids: list[str]) -> str:
        # Readers of Parquet folders skip names that begin so.
        return f"_{self.name(ids)}.started"

    def begun(self) -> set[str]:
        """The names of the batches that are begun or written."""
        files = _files(self.system, self.folder, ".started", self.suffix)
        return {PurePosixPath(file).stem.lstrip("_") for file in files}

    def end(self, ids: list[str]) -> None:
        self._remove(self.path(self.mark(ids)))

    def marks(self) -> dict[str, list[str]]:
        """The ids of the batches that are marked as begun, by the names of the marks."""
        marks = {}
        for mark in _files(self.system, self.folder, ".started"):
            with suppress(FileNotFoundError):  # A run at the same time has ended the batch.
                marks[mark] = self._load(mark)
        return marks

    def tidy(self, done: Container[str]) -> None:
        """Removes marks of batches whose items are all done, perhaps in other batches."""
        for mark, ids in self.marks().items():
            if all(name in done for name in ids):
                self._remove(mark)

    def write(self, name: str, rows: list[dict[str, Any]]) -> None:
        self._put(name + self.suffix, self.encode(rows))

    def encode(self, rows: list[dict[str, Any]]) -> bytes:
        out = io.BytesIO()
        if self.format == "parquet":
            import pyarrow.parquet as pq

            table = _table(rows).replace_schema_metadata({OPTIONS: self.options})
            pq.write_table(table, out, compression="zstd", use_dictionary=False)
            return out.getvalue()
        rows = [_printable(row) for row in rows]
        with tarfile.open(fileobj=out, mode="w") as tar:

            def add(name: str, content: bytes) -> None:
                member = tarfile.TarInfo(name)
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))

            index = [json.dumps([row["id"], row["code"]]) for row in rows]
            add(INDEX, "\n".join([self.options, *index]).encode())
            for row in rows:
                key = _digest(row["id"])
                meta = {name: value for name, value in row.items() if name != "grid"}
                add(f"{key}.json", json.dumps(meta).encode())
                if row["grid"] is not None:
                    add(f"{key}.{self.member}", row["grid"])
        return out.getvalue()

    def _put(self, name: str, content: bytes) -> None:
        target = self.path(name)
        is_local = getattr(self.system, "protocol", None) in ("file", ("file", "local"))
        try:
            if is_local:
                with _whole_file(target) as temporary:
                    Path(temporary).write_bytes(content)
            else:
                # Object stores show an object only once it is complete.
                self.system.pipe_file(target, content)
        except OSError as error:
            message = f"{error.strerror or error} (when that is mended, the same call resumes the run)"
            raise OSError(error.errno or errno.EIO, message, target) from error

    def _load(self, path: str) -> list[str]:
        try:
            value = json.loads(self.system.cat_file(path))
            if not isinstance(value, list):
                raise ValueError("a list is expected")
        except ValueError as error:
            message = f"the file is damaged ({error}): remove it, and run again"
            raise ReadError(message, "read.content", path) from error
        return value

    def _remove(self, path: str) -> None:
        with suppress(FileNotFoundError):  # A run at the same time has removed it.
            self.system.rm_file(path)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def _files(system: Any, folder: str, *suffixes: str) -> list[str]:
    system.invalidate_cache(folder)  # Other processes write to it.
    return sorted(path for path in system.glob(f"{escape(folder)}/[!.]*") if path.endswith(suffixes))


T = TypeVar("T")


def _of_part(system: Any, part: str, read: Callable[[Any], Iterable[T]], **options: Any) -> Iterator[T]:
    try:
        with system.open(part, "rb", **options) as file:
            yield from read(file)
    except Exception as error:
        message = f"the part cannot be read ({error}): if it is damaged, remove it, and run again"
        raise ReadError(message, "read.content", part) from error


class _Place(NamedTuple):
    """Where a row of an item is. The least of several counts: one without an error, if there is one."""

    is_error: bool
    part: str
    code: str | None


def _places(system: Any, folder: str, options: str | None = None) -> dict[str, _Place]:
    """Where the row of each id is that counts. Other `options` than those of a part are an ``OptionError``."""

    def index(part: str) -> list[Any]:
        read = _parquet_index if part.endswith(".parquet") else _tar_index
        return list(_of_part(system, part, read, block_size=1 << 18))

    places: dict[str, _Place] = {}
    parts = _files(system, folder, ".parquet", ".tar")
    with ThreadPoolExecutor(16) as pool:
        for part, (earlier, *items) in zip(parts, pool.map(index, parts)):
            if options is not None and earlier is not None:
                _compare(earlier, json.loads(options), folder)
            shared: dict[str | None, _Place] = {}
            for name, code in items:
                place = shared.setdefault(code, _Place(code is not None, part, code))
                name = _restored(name)
                places[name] = min(place, places.get(name, place))
    return places


def _compare(earlier: dict[str, Any], now: dict[str, Any], folder: str) -> None:
    for name in sorted(earlier.keys() | now.keys()):
        old, new = earlier.get(name), now.get(name)
        if old != new:
            message = f"the folder is of a run with {name}={old!r}, not {new!r}: use another folder"
            raise OptionError(message, "option.output", folder)


def _parquet_index(file: Any) -> Iterable[Any]:
    """The options of the run, then id and code of each row."""
    import pyarrow.parquet as pq

    part = pq.ParquetFile(file)
    table = part.read(columns=["id", "code"])
    yield json.loads((part.metadata.metadata or {}).get(OPTIONS, "null"))
    yield from zip(table["id"].to_pylist(), table["code"].to_pylist())


def _tar_index(file: Any) -> Iterable[Any]:
    with tarfile.open(fileobj=file, mode="r|") as tar:
        first = tar.next()
        if first is None or first.name != INDEX:
            raise ValueError(f"its first member is not {INDEX}")
        return map(json.loads, _content(tar, first).splitlines())


def _parquet_rows(file: Any, with_grid: bool) -> Iterator[dict[str, Any]]:
    import pyarrow.parquet as pq

    part = pq.ParquetFile(file)
    columns = [name for name in part.schema_arrow.names if with_grid or name != "grid"]
    for batch in part.iter_batches(64, columns=columns):
        yield from batch.to_pylist()


def _tar_rows(file: Any, with_grid: bool) -> Iterator[dict[str, Any]]:
    with tarfile.open(fileobj=file, mode="r|") as tar:
        row: dict[str, Any] = {}
        for member in tar:
            content = _content(tar, member)
            if member.name.endswith(".json"):
                if row:
                    yield row
                row = json.loads(content) | {"grid": None}
            elif member.name != INDEX and with_grid:
                row["grid"] = content
        if row:
            yield row


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = tar.extractfile(member)
    if file is None:
        raise ValueError(f"its member {member.name} is not a file")
    return file.read()


def rows(output: str, **storage: Any) -> Iterator[dict[str, Any]]:
    """The rows of an output of `voxelize`, each item once.

    An item may be in several parts: ``retry_errors`` tried it again, or two runs made it at the same time.
    A row without an error counts, else that of the first part by name.

    Parameters
    ----------
    output : str
        The folder, as it was given to `voxelize`.
    **storage
        Options of the fsspec file system.

    Yields
    ------
    dict
        With the keys `FIELDS`. ``id`` is the item that was given.

    Raises
    ------
    FileNotFoundError
        There is no such folder.
    ReadError
        A part that is damaged.
    """
    return _rows(output, storage, with_grid=True)


def failures(output: str, **storage: Any) -> Any:
    """The items of an output of `voxelize` that have an error, each once.

    Parameters
    ----------
    output : str
        The folder, as it was given to `voxelize`.
    **storage
        Options of the fsspec file system.

    Returns
    -------
    pyarrow.Table
        With the columns ``id``, ``code``, ``error``, ``warnings``, ``seconds`` and ``version`` of `FIELDS`.

    Raises
    ------
    FileNotFoundError, ReadError
        As `rows`.
    """
    failed = (row for row in _rows(output, storage, with_grid=False) if row["code"] is not None)
    return _table(list(failed)).select(["id", "code", "error", "warnings", "seconds", "version"])


def _rows(output: str, storage: dict[str, Any], with_grid: bool) -> Iterator[dict[str, Any]]:
    """The rows that count: only those with an error, if the grids are not asked for."""
    system, folder = _system(output, storage)
    if not system.exists(folder):
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", output)
    places = {
        name: place
        for name, place in _places(system, folder).items()
        if with_grid or place.is_error
    }
    for part in sorted({place.part for place in places.values()}):
        read = partial(_parquet_rows if part.endswith(".parquet") else _tar_rows, with_grid=with_grid)
        for row in _of_part(system, part, read):
            name = _restored(row["id"])
            if name in places and places[name].part == part:
                # Parts of earlier versions have fewer columns.
                yield dict.fromkeys(FIELDS) | row | {"id": name, "warnings": row.get("warnings") or []}


class _Writer:
    """What a worker does with a batch: ids in, a part written, what the driver is to know of the items out."""

    def __init__(self, voxelize: Voxelize, sink: _Sink):
        self.voxelize, self.sink = voxelize, sink

    def __call__(self, ids: list[str]) -> list[dict[str, Any]]:
        name = self.sink.name(ids)
        if self.sink.begin(ids):
            rows = [self.voxelize.row(*item) for item in _read_ahead(ids, self.voxelize.storage)]
        else:
            # An earlier try did not end: one of these items may kill its worker.
            log.warning("%s: tried again, each item in a process of its own", name)
            rows = list(_isolated(self.voxelize, ids))
        self.sink.write(name, rows)
        self.sink.end(ids)
        said = ("id", "code", "error", "warnings", "doubtful")
        return [{key: row[key] for key in said} for row in rows if row["code"] or row["warnings"]]


def _write(writer: _Writer, ids: list[str]) -> list[dict[str, Any]]:
    return writer(ids)


class _RayTasks:
    """Batches as tasks of Ray."""

    def __init__(self, writer: _Writer, num_cpus: float, num_gpus: float, remote_args: dict[str, Any] | None):
        import ray

        if not ray.is_initialized():
            ray.init(log_to_driver=False)
        total = ray.cluster_resources()
        of = [total.get("CPU", 1) / num_cpus] if num_cpus else []
        of += [total.get("GPU", 0) / num_gpus] if num_gpus else []
        # Ray has room for so many; as many again wait, so that no worker does.
        self.concurrency = 2 * max(1, int(min(of, default=1)))
        # A task whose worker died goes to another. A worker keeps its process, and with it its GPU.
        options = {"num_cpus": num_cpus, "num_gpus": num_gpus, "max_retries": -1, "max_calls": 0}
        self.write = ray.remote(**(options | (remote_args or {})))(_write)
        self.writer = ray.put(writer)
        self.ray = ray

    def submit(self, batch: list[str]) -> Any:
        return self.write.remote(self.writer, batch)

    def wait(self, tasks: list[Any], seconds: float) -> Iterable[Any]:
        return self.ray.wait(tasks, timeout=seconds)[0]

    def result(self, task: Any) -> list[dict[str, Any]]:
        try:
            return self.ray.get(task)
        except self.ray.exceptions.RayTaskError as error:
            raise error.cause from error

    def cancel(self, task: Any) -> None:
        self.ray.cancel(task)


class _ExecutorTasks:
    """Batches as calls of an executor, which has workers of its own."""

    concurrency = 1024

    def __init__(self, writer: _Writer, executor: Executor):
        self.writer, self.executor = writer, executor

    def submit(self, batch: list[str]) -> Future[list[dict[str, Any]]]:
        return self.executor.submit(_write, self.writer, batch)

    def wait(self, tasks: list[Any], seconds: float) -> Iterable[Any]:
        return wait(tasks, seconds, FIRST_COMPLETED).done

    def result(self, task: Future[list[dict[str, Any]]]) -> list[dict[str, Any]]:
        return task.result()

    def cancel(self, task: Future[list[dict[str, Any]]]) -> None:
        task.cancel()


def _isolated(voxelize: Voxelize, ids: list[str]) -> Iterable[dict[str, Any]]:
    # Dask's workers are daemons, which may not have children.
    current_process()._config["daemon"] = False  # type: ignore[attr-defined]
    executor = None
    for name in ids:
        if executor is None:
            executor = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
        try:
            yield executor.submit(voxelize.row, name).result()
        except BrokenProcessPool:
            executor = None
            message = "the worker was killed, perhaps for want of memory: set memory= of the voxelizer"
            yield _row(name, TrivoxError(), None) | {"error": message, "code": "worker_died"}
    if executor is not None:
        executor.shutdown()


@dataclass
class Summary:
    """What became of the items of a run.

    Attributes
    ----------
    items : int
        How many there are.
    skipped : int
        Those of them that an earlier run had completed, `skipped_failed` of them with an error.
    done, failed : int
        Those that this run voxelized, and those that have an error.
    warned, doubtful : int
        Those of this run with a warning, and with a doubtful solid; see the columns of these names.
    seconds : float
        Time of this run, that of starting workers included.
    codes : dict of str to int
        How often each error code came in this run.
    skipped_codes : dict of str to int
        How often each error code is among the skipped items. ``retry_errors=True`` tries these again.
    """

    items: int
    skipped: int = 0
    done: int = 0
    failed: int = 0
    warned: int = 0
    doubtful: int = 0
    seconds: float = 0.0
    codes: dict[str, int] = field(default_factory=dict)
    skipped_codes: dict[str, int] = field(default_factory=dict)

    @property
    def skipped_failed(self) -> int:
        """How many of the skipped items have an error."""
        return sum(self.skipped_codes.values())

    def count(self, noted: list[dict[str, Any]], items: int) -> None:
        """Adds a batch of so many items, some of which failed or have warnings."""
        failures = [row for row in noted if row["code"] is not None]
        self.done += items - len(failures)
        self.failed += len(failures)
        self.warned += sum(bool(row["warnings"]) for row in noted)
        self.doubtful += sum(bool(row["doubtful"]) for row in noted)
        for row in noted:
            sentences = row["warnings"] if row["code"] is None else [row["error"]]
            for sentence in sentences:
                log.warning("%s: %s", row["id"], sentence)
        for row in failures:
            self.codes[row["code"]] = self.codes.get(row["code"], 0) + 1


def voxelize(
    items: Iterable[str],
    output: str,
    voxelizer: Voxelizer,
    *,
    format: Literal["parquet", "webdataset"] = "parquet",
    batch_size: int = 64,
    concurrency: int | None = None,
    num_cpus: float = 1,
    num_gpus: float = 0,
    width: float | None = None,
    retry_errors: bool = False,
    ray_remote_args: dict[str, Any] | None = None,
    executor: Executor | None = None,
    progress: Callable[[str, int, int], object] | None = None,
    storage: dict[str, Any] | None = None,
) -> Summary:
    """Voxelizes files on a cluster into parts of a Parquet dataset or of WebDataset.

    After an error or an interrupt, workers complete the batches that they have begun, and the others are
    cancelled.

    Parameters
    ----------
    items : iterable of str
        Local paths or fsspec URLs; they are the ids, and repeated ones are one item.
    output : str
        A folder, as a path that all workers see or as an fsspec URL. Ids that are in its parts are left
        out: a run that was interrupted is resumed by the same call. All runs into one folder
        have the same options; only those that change no grid may differ.
    voxelizer : Voxelizer
        Its ``memory`` and ``time_limit`` hold for each item, and with ``strict`` a doubtful solid is one with an error.
    format : {"parquet", "webdataset"}, default "parquet"
        A row, or a sample, for each item, those with errors included.
    batch_size : int, default 64
        Items in a part.
    concurrency : int, optional
        Batches at the same time; by default as many as the cluster's CPUs (or GPUs) are enough for, and 1,024 that
        an `executor` is given.
    num_cpus, num_gpus : float
        What Ray reserves for a worker. With a GPU, give the voxelizer ``backend="gpu"``.
    width : float, optional
        Signed distances up to this, in voxels, instead of voxels: those of `Voxelizer.distances`, as
        .npz.
    retry_errors : bool, default False
        Whether items with an error in an earlier run are tried again. Their older rows stay in their
        parts; `rows` gives the one without an error.
    ray_remote_args : dict, optional
        Options of ``ray.remote`` for the workers, such as ``resources``, ``memory``, ``runtime_env`` and
        ``scheduling_strategy``.
    executor : concurrent.futures.Executor, optional
        What runs the batches instead of Ray: a ``ProcessPoolExecutor``, Dask's ``client.get_executor(pure=False)``,
        an ``MPIPoolExecutor`` of mpi4py.
    progress : callable, optional
        Is called with the step, the number of items that this run has done, and how many it has to do, such as
        what `trivox.progress_bar` gives.
    storage : dict, optional
        Options of the fsspec file system.

    Returns
    -------
    Summary

    Raises
    ------
    OptionError, BackendError
        A format, a width or a number that is not possible; distances with ``tile``; a folder of a run with
        other options.
    ReadError
        A file in the folder that is damaged.
    OSError
        A part that cannot be written, for example on a full disk. The same call resumes the run.
    TypeError
        `items` is one path instead of an iterable of them, or has others than paths; `voxelizer` is no `Voxelizer`.
    """
    if isinstance(items, (str, bytes, os.PathLike)):
        raise TypeError(f"voxelize takes an iterable of paths, not one {type(items).__name__}: give [path]")
    paths = list(items)
    for path in paths:
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"voxelize takes paths or URLs, not {type(path).__name__}: `Voxelizer.many` takes meshes")
    ids = list(dict.fromkeys(map(str, paths)))
    if format not in ("parquet", "webdataset"):
        message = f"there is no format {format!r}: use 'parquet' or 'webdataset'"
        raise OptionError(message, "option.format")
    if batch_size < 1:
        raise OptionError(f"batch_size={batch_size} is not possible: use 1 or more", "option.batch_size")
    if concurrency is not None and concurrency < 1:
        raise OptionError(f"concurrency={concurrency} is not possible: use 1 or more", "option.concurrency")
    if executor is not None and (num_cpus, num_gpus, ray_remote_args) != (1, 0, None):
        message = "num_cpus, num_gpus and ray_remote_args are for Ray: an executor has workers of its own"
        raise OptionError(message, "option.executor")
    work = Voxelize(voxelizer, width=width, storage=storage)
    options = _options(voxelizer, width, format)
    sink = _Sink(output, format, storage or {}, work.format, options)
    # In this order: a batch that another run ends in between is seen as complete.
    begun = sink.marks().values()
    places = _places(sink.system, sink.folder, options)
    rest = [n for n in ids if n not in places or (retry_errors and places[n].is_error)]
    skipped = [places[n] for n in set(ids).difference(rest)]
    summary = Summary(items=len(ids), skipped=len(skipped))
    summary.skipped_codes = dict(Counter(place.code for place in skipped if place.code is not None))
    log.info("%d items, %d of them complete", summary.items, summary.skipped)
    if summary.skipped_failed:
        log.warning("%d of them with an error: retry_errors=True tries them again", summary.skipped_failed)
    done = {*places, *ids}
    if not rest:
        sink.tidy(done)
        return summary
    began = logged = time.monotonic()
    writer = _Writer(work, sink)
    tasks: _RayTasks | _ExecutorTasks = (
        _RayTasks(writer, num_cpus, num_gpus, ray_remote_args)
        if executor is None
        else _ExecutorTasks(writer, executor)
    )
    most = concurrency or tasks.concurrency
    batches = _batches(rest, begun, batch_size)
    running: dict[Any, list[str]] = {}
    try:
        while True:
            for batch in islice(batches, most - len(running)):
                running[tasks.submit(batch)] = batch
            if not running:
                break
            for task in tasks.wait(list(running), 10):
                batch = running.pop(task)
                summary.count(tasks.result(task), len(batch))
            now, finished = time.monotonic(), summary.done + summary.failed
            if progress is not None:
                progress("voxelize", finished, len(rest))
            if now - logged > 10:
                logged = now
                rate = finished / (now - began)
                log.info(
                    "%d of %d, %.1f a second, %d failed", finished, len(rest), rate, summary.failed
                )
    finally:
        # A batch that is begun is completed, so that its work is not lost. Besides, Ray 2.60 aborts a driver
        # that cancels a task whose result arrives at the same time (ray-project/ray#54527).
        # If the folder cannot be listed, none is cancelled, and the first error is raised.
        with suppress(OSError):
            marked = sink.begun() if running else set()
            for task, batch in running.items():
                if sink.name(batch) not in marked:
                    tasks.cancel(task)
    sink.tidy(done)
    summary.seconds = time.monotonic() - began
    return summary


def _batches(names: list[str], begun: Iterable[list[str]], size: int) -> Iterator[list[str]]:
    """Batches of so many names; first those that were begun, as they are."""
    rest = dict.fromkeys(names)
    for ids in begun:
        if all(name in rest for name in ids):
            yield ids
            for name in ids:
                del rest[name]
    names = list(rest)
    for at in range(0, len(names), size):
        yield names[at : at + size]
