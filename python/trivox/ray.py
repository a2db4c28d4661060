"""Batches on a Ray cluster: every item exactly once, errors as rows, resumed by id.

`voxelize` writes Parquet or WebDataset parts straight from the workers, so that grids do not pass
through Ray's object store. `Voxelize` is the callable class for pipelines of one's own.

Each part is written under a temporary name and renamed, and its name is made of the ids in it: a batch
that is tried again, because its worker died, replaces its own part. A later run with the same output
leaves out the ids that are in complete parts.
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
import os
import re
import tarfile
import tempfile
import time
import uuid
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field
from glob import escape
from itertools import islice
from multiprocessing import get_context
from pathlib import PurePosixPath
from typing import Any, Literal
from urllib.parse import unquote

import numpy as np

from . import DistanceField, Grid, Mesh, OptionError, TrivoxError, Voxelizer, read_mesh

__all__ = ["Summary", "Voxelize", "expand", "read", "voxelize"]

log = logging.getLogger("trivox.ray")

FIELDS = ("id", "error", "code", "hash", "occupied", "dims", "origin", "voxel_size", "seconds", "grid")
"""Columns of a result. ``error`` and ``code`` are None where there is a grid; ``grid`` is the content of
a .bricks file, for ``trivox.load_bytes``, or of distances of an .npz file, for ``numpy.load``."""


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


def read(path: str, **storage: Any) -> Mesh:
    """Reads a mesh from a local path or an fsspec URL, with the files that it names beside it."""
    if "://" not in path:
        return read_mesh(path)
    import fsspec

    system, remote = fsspec.core.url_to_fs(path, **storage)
    with tempfile.TemporaryDirectory(prefix="trivox-") as folder:
        name = PurePosixPath(remote).name
        waiting, done = [name], set()
        while waiting:
            sidecar = waiting.pop().replace("\\", "/").removeprefix("./")
            if sidecar in done or ".." in PurePosixPath(sidecar).parts or sidecar.startswith("/"):
                continue
            done.add(sidecar)
            local = os.path.join(folder, sidecar)
            os.makedirs(os.path.dirname(local), exist_ok=True)
            try:
                system.get_file(str(PurePosixPath(remote).parent / sidecar), local)
            except FileNotFoundError:
                if sidecar == name:
                    raise FileNotFoundError(2, "No such file or directory", path) from None
                continue  # The reader warns of a sidecar that is not there.
            for named in _named_in(local):
                # Relative to the file that names it, or to the mesh.
                waiting += [named, str(PurePosixPath(sidecar).parent / named.replace("\\", "/"))]
        return read_mesh(os.path.join(folder, name))


def _named_in(path: str) -> list[str]:
    """The files that an OBJ, MTL or glTF file names."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix == ".gltf":
        with open(path, encoding="utf-8", errors="replace") as file:
            try:
                document = json.load(file)
            except json.JSONDecodeError:
                return []  # The reader says what is wrong.
        lists = [document.get(key) for key in ("buffers", "images")] if isinstance(document, dict) else []
        entries = [entry for some in lists if isinstance(some, list) for entry in some]
        uris = [entry.get("uri") for entry in entries if isinstance(entry, dict)]
        return [unquote(uri) for uri in uris if isinstance(uri, str) and not uri.startswith("data:")]
    if suffix not in (".obj", ".mtl"):
        return []
    key = re.compile(r"^\s*(?:mtllib|map_\w+|bump|disp|decal|refl)\s+(.*\S)", re.IGNORECASE)
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = [match[1] for match in map(key.match, file) if match]
    # A name may have spaces; options come before it.
    return [name for line in lines for name in {line, line.split()[-1]}]


class Voxelize:
    """Callable class for ``ray.data.Dataset.map_batches``: paths in, rows out.

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

    Examples
    --------
    >>> rows = ray.data.from_items([{"id": "a.glb"}]).map_batches(        # doctest: +SKIP
    ...     trivox.ray.Voxelize, fn_constructor_args=(trivox.Voxelizer(128),), concurrency=8)
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
        self.voxelizer = Voxelizer(**({"threads": 1} | voxelizer.options))
        self.column, self.data, self.keep_grid = column, data, keep_grid
        self.width, self.storage = width, storage or {}

    def __call__(self, batch: dict[str, np.ndarray]) -> dict[str, Any]:
        rows = [
            self.row(str(name), None if self.data is None else batch[self.data][index])
            for index, name in enumerate(batch[self.column])
        ]
        return _table(rows)

    def row(self, name: str, content: bytes | None = None) -> dict[str, Any]:
        """What becomes of one file; it never raises an ``Exception``."""
        began = time.perf_counter()
        try:
            if content is None:
                mesh = read(name, **self.storage) if "://" in name else name
            else:
                mesh = read_mesh(bytes(content), os.path.splitext(name)[1].lstrip("."))
            made = (
                self.voxelizer(mesh)
                if self.width is None
                else self.voxelizer.distances(mesh, self.width)
            )
            row = _row(name, made, self.keep_grid)
        except Exception as error:
            row = _row(name, error, False)
        row["seconds"] = time.perf_counter() - began
        return row


def _row(name: str, result: Grid | DistanceField | Exception, keep_grid: bool) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(FIELDS) | {"id": name}
    if isinstance(result, Exception):
        return row | _failed(result)
    return row | {
        "hash": result.hash,
        "occupied": len(result),
        "dims": list(result.dims),
        "origin": result.origin.tolist(),
        "voxel_size": result.voxel_size,
        "grid": result.to_bytes("bricks" if isinstance(result, Grid) else "npz") if keep_grid else None,
    }


def _failed(error: BaseException) -> dict[str, Any]:
    code = error.code if isinstance(error, TrivoxError) else type(error).__name__
    return {"error": f"{type(error).__name__}: {error}", "code": code}


def _table(rows: Sequence[dict[str, Any]]) -> Any:
    import pyarrow as pa

    schema = pa.schema(
        [
            ("id", pa.string()),
            ("error", pa.string()),
            ("code", pa.string()),
            ("hash", pa.string()),
            ("occupied", pa.int64()),
            ("dims", pa.list_(pa.int32(), 3)),
            ("origin", pa.list_(pa.float64(), 3)),
            ("voxel_size", pa.float64()),
            ("seconds", pa.float64()),
            ("grid", pa.large_binary()),
        ]
    )
    return pa.Table.from_pylist([_printable(row) for row in rows], schema=schema)


def _printable(row: dict[str, Any]) -> dict[str, Any]:
    """With escapes in place of the bytes of file names that are not UTF-8, which Arrow refuses."""
    text = {
        name: value.encode("utf-8", "backslashreplace").decode()
        for name, value in row.items()
        if isinstance(value, str)
    }
    return row | text


WITHOUT_EFFECT = ("adapter", "backend", "memory", "threads", "time_limit")
"""Options of a voxelizer that change no grid."""


class _Sink:
    """Parts of an output, each written whole or not at all."""

    def __init__(
        self, output: str, format: str, storage: dict[str, Any], member: str = "bricks"
    ):
        import fsspec

        self.system, self.folder = fsspec.core.url_to_fs(output, **storage)
        self.format, self.member = format, member
        self.suffix = {"parquet": ".parquet", "webdataset": ".tar"}[format]
        self.system.makedirs(self.folder, exist_ok=True)

    def check(self, voxelizer: Voxelizer, width: float | None) -> None:
        """Raises ``OptionError`` if the folder is that of a run with other options."""
        options = {k: v for k, v in voxelizer.options.items() if k not in WITHOUT_EFFECT}
        options |= {"width": width, "format": self.format}
        text = json.dumps(options, default=lambda value: np.asarray(value).tolist(), sort_keys=True)
        path = self.path("_options.json")
        if not self.system.exists(path):
            self._put("_options.json", text.encode())
            return
        earlier, now = json.loads(self.system.cat_file(path)), json.loads(text)
        for name in sorted(earlier.keys() | now.keys()):
            old, new = earlier.get(name), now.get(name)
            if old != new:
                message = f"{self.folder} is of a run with {name}={old!r}, not {new!r}"
                raise OptionError(f"{message}: use another folder", "option.output", self.folder)

    def name(self, ids: Iterable[str]) -> str:
        digest = hashlib.blake2b("\n".join(ids).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
        return f"part-{digest}"

    def path(self, name: str) -> str:
        return f"{self.folder}/{name}"

    def write(self, name: str, rows: list[dict[str, Any]]) -> None:
        content = self.encode(rows)
        index = "\n".join(json.dumps([row["id"], row["code"], row["hash"]]) for row in rows)
        self._put(name + self.suffix, content)
        # The index is written last: a part without one is not complete.
        self._put(name + ".index", index.encode())

    def encode(self, rows: list[dict[str, Any]]) -> bytes:
        out = io.BytesIO()
        if self.format == "parquet":
            import pyarrow.parquet as pq

            pq.write_table(_table(rows), out, compression="zstd", use_dictionary=False)
            return out.getvalue()
        with tarfile.open(fileobj=out, mode="w") as tar:
            for row in rows:
                key = hashlib.blake2b(row["id"].encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
                meta = {name: value for name, value in row.items() if name != "grid"}
                members = {"json": json.dumps(meta).encode()}
                if row["grid"] is not None:
                    members[self.member] = row["grid"]
                for suffix, content in members.items():
                    member = tarfile.TarInfo(f"{key}.{suffix}")
                    member.size = len(content)
                    tar.addfile(member, io.BytesIO(content))
        return out.getvalue()

    def _put(self, name: str, content: bytes) -> None:
        target = self.path(name)
        if getattr(self.system, "protocol", None) in ("file", ("file", "local")):
            temporary = self.path(f".{name}.{uuid.uuid4().hex}.tmp")
            try:
                with open(temporary, "wb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(temporary, target)
            except BaseException:
                with suppress(FileNotFoundError):
                    os.remove(temporary)
                raise
        else:
            # Object stores show an object only once it is complete.
            self.system.pipe_file(target, content)

    def complete(self) -> dict[str, tuple[str | None, str | None]]:
        """Code and hash of each id in a complete part.

        Parts without an index, which a run that was killed left, are removed: their items are made again,
        and perhaps in other parts.
        """
        done = {}
        files = set(self.system.glob(f"{escape(self.folder)}/part-*"))
        indices = []
        for part in sorted(path for path in files if path.endswith(self.suffix)):
            index = part.removesuffix(self.suffix) + ".index"
            if index in files:
                indices.append(escape(index))
            else:
                log.info("%s is not complete: it is removed", part)
                self.system.rm_file(part)
        # Many at once, where the file system can.
        for index in self.system.cat(indices).values() if indices else ():
            for line in index.decode().splitlines():
                name, code, digest = json.loads(line)
                done[name] = (code, digest)
        return done


class _Writer:
    """What a worker does with a batch: ids in, a part written, the failed items out."""

    def __init__(self, voxelize: Voxelize, sink: _Sink):
        self.voxelize, self.sink = voxelize, sink

    def __call__(self, ids: list[str]) -> list[tuple[str, str, str]]:
        name = self.sink.name(ids)
        started = self.sink.path(f"{name}.started")
        if self.sink.system.exists(started):
            # An earlier try did not end: one of these items may kill its worker.
            log.warning("%s: tried again, each item in a process of its own", name)
            rows = list(_isolated(self.voxelize, ids))
        else:
            self.sink.system.touch(started)
            rows = [self.voxelize.row(item) for item in ids]
        self.sink.write(name, rows)
        self.sink.system.rm_file(started)
        return [(row["id"], row["code"], row["error"]) for row in rows if row["code"] is not None]


def _write(writer: _Writer, ids: list[str]) -> list[tuple[str, str, str]]:
    return writer(ids)


def _isolated(voxelize: Voxelize, ids: list[str]) -> Iterable[dict[str, Any]]:
    executor = None
    for name in ids:
        if executor is None:
            executor = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
        try:
            yield executor.submit(voxelize.row, name).result()
        except BrokenProcessPool:
            executor = None
            message = "the worker was killed, perhaps for want of memory: set memory= of the voxelizer"
            yield dict.fromkeys(FIELDS) | {"id": name, "error": message, "code": "worker_died"}
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
        Those of them that an earlier run had completed.
    done, failed : int
        Those that this run voxelized, and those that have an error.
    seconds : float
        Time of this run, that of starting workers included.
    codes : dict of str to int
        How often each error code came.
    """

    items: int
    skipped: int = 0
    done: int = 0
    failed: int = 0
    seconds: float = 0.0
    codes: dict[str, int] = field(default_factory=dict)

    def count(self, failures: list[tuple[str, str, str]], items: int) -> None:
        """Adds a batch of so many items, some of which failed."""
        self.done += items - len(failures)
        self.failed += len(failures)
        for name, code, error in failures:
            self.codes[code] = self.codes.get(code, 0) + 1
            log.warning("%s: %s", name, error)


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
    storage: dict[str, Any] | None = None,
) -> Summary:
    """Voxelizes files on a Ray cluster into parts of a Parquet dataset or of WebDataset.

    Parameters
    ----------
    items : iterable of str
        Local paths or fsspec URLs; they are the ids, and repeated ones are one item.
    output : str
        A folder, as a path that all workers see or as an fsspec URL. Ids that are in its complete parts
        are left out: a run that was interrupted is resumed by the same call. All runs into one folder
        have the same options; only those that change no grid may differ.
    voxelizer : Voxelizer
        Its ``memory`` and ``time_limit`` hold for each item.
    format : {"parquet", "webdataset"}, default "parquet"
        A row, or a sample, for each item, those with errors included.
    batch_size : int, default 64
        Items in a part.
    concurrency : int, optional
        Batches at the same time; by default as many as the cluster's CPUs (or GPUs) are enough for.
    num_cpus, num_gpus : float
        What Ray reserves for a worker. With a GPU, give the voxelizer ``backend="gpu"``.
    width : float, optional
        Signed distances up to this, in voxels, instead of voxels: those of `Voxelizer.distances`, as
        .npz.
    retry_errors : bool, default False
        Whether items with an error in an earlier run are tried again. Their older rows stay in their
        parts: take the row without an error.
    storage : dict, optional
        Options of the fsspec file system.

    Returns
    -------
    Summary

    Raises
    ------
    OptionError
        A format or a number that is not possible; a folder of a run with other options.
    TypeError
        `items` is one path instead of an iterable of them.
    """
    import ray

    if isinstance(items, (str, bytes, os.PathLike)):
        raise TypeError(f"voxelize takes an iterable of paths, not one {type(items).__name__}: give [path]")
    if format not in ("parquet", "webdataset"):
        message = f"there is no format {format!r}: use 'parquet' or 'webdataset'"
        raise OptionError(message, "option.format")
    if batch_size < 1:
        raise OptionError(f"batch_size={batch_size} is not possible: use 1 or more", "option.batch_size")
    if concurrency is not None and concurrency < 1:
        raise OptionError(f"concurrency={concurrency} is not possible: use 1 or more", "option.concurrency")
    sink = _Sink(output, format, storage or {}, "bricks" if width is None else "npz")
    sink.check(voxelizer, width)
    ids = list(dict.fromkeys(str(item) for item in items))
    complete = sink.complete()
    rest = [n for n in ids if n not in complete or (retry_errors and complete[n][0] is not None)]
    summary = Summary(items=len(ids), skipped=len(ids) - len(rest))
    log.info("%d items, %d of them complete", summary.items, summary.skipped)
    if not rest:
        return summary
    if not ray.is_initialized():
        ray.init(log_to_driver=False)
    if concurrency is None:
        total = ray.cluster_resources()
        of = [total.get("CPU", 1) / num_cpus] if num_cpus else []
        of += [total.get("GPU", 0) / num_gpus] if num_gpus else []
        # Ray has room for so many; as many again wait, so that no worker does.
        concurrency = 2 * max(1, int(min(of, default=1)))
    began = logged = time.monotonic()
    writer = ray.put(_Writer(Voxelize(voxelizer, width=width, storage=storage), sink))
    # A task whose worker died goes to another. A worker keeps its process, and with it its GPU.
    write = ray.remote(
        num_cpus=num_cpus, num_gpus=num_gpus, max_retries=-1, max_calls=0
    )(_write)
    batches = (rest[at : at + batch_size] for at in range(0, len(rest), batch_size))
    running: dict[Any, int] = {}
    try:
        while True:
            for ids in islice(batches, concurrency - len(running)):
                running[write.remote(writer, ids)] = len(ids)
            if not running:
                break
            ready, _ = ray.wait(list(running), timeout=10)
            for task in ready:
                summary.count(ray.get(task), running.pop(task))
            now = time.monotonic()
            if now - logged > 10:
                logged, finished = now, summary.done + summary.failed
                rate = finished / (now - began)
                log.info(
                    "%d of %d, %.1f a second, %d failed", finished, len(rest), rate, summary.failed
                )
    finally:
        for task in running:
            ray.cancel(task)
    summary.seconds = time.monotonic() - began
    return summary
