import collections
import concurrent.futures
import errno
import glob
import io
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import trivox
from conftest import torus, write_obj
from workers import Deadly, write, write_as_a_daemon

ray = pytest.importorskip("ray")
pq = pytest.importorskip("pyarrow.parquet")
import pyarrow.dataset  # noqa: E402

import trivox.ray  # noqa: E402

RESOLUTION = 48


@pytest.fixture(scope="module")
def meshes(tmp_path_factory):
    """Sixty small meshes, two that are broken, and one that takes more memory than is allowed."""
    folder = tmp_path_factory.mktemp("meshes")
    paths = [write_obj(folder / f"{n:02}.obj", torus(12 + n, 8)) for n in range(60)]
    broken = folder / "20x.obj"
    broken.write_text("v 0 0 0\nv 1 0 0\nf 1 2 99\n")
    return paths[:20] + [str(broken)] + paths[20:] + [str(folder / "none.obj")]


@pytest.fixture(scope="module")
def expected(meshes):
    vox = trivox.Voxelizer(RESOLUTION)
    results = vox.many(meshes)
    return {key: grid.hash if isinstance(grid, trivox.Grid) else None for key, grid in results}


def rows(output):
    return [row for part in glob.glob(f"{output}/*.parquet") for row in pq.read_table(part).to_pylist()]


def check(output, expected):
    found = rows(output)
    assert collections.Counter(row["id"] for row in found) == collections.Counter(expected.keys())
    assert {row["id"]: row["hash"] for row in found} == expected
    assert all((row["hash"] is None) == (row["error"] is not None) for row in found)
    assert all((row["hash"] is None) == (row["grid"] is None) for row in found)
    return found


def test_rows_of_a_cube_are_of_one_shape(meshes):
    worker = trivox.ray.Voxelize(trivox.Voxelizer(cube=16, rotate="x:90"))
    rows = [worker.row(path) for path in meshes[:3]]
    assert [row["dims"] for row in rows] == [[16, 16, 16]] * 3
    assert rows[0]["hash"] == trivox.Voxelizer(cube=16, rotate="x:90")(meshes[0]).hash


def test_rows_of_distances_are_npz(cluster, meshes, tmp_path):
    # Three voxels remain around each mesh.
    vox = trivox.Voxelizer(18, cube=24)
    output = str(tmp_path / "out")
    summary = trivox.ray.voxelize([*meshes[:3], "none.obj"], output, vox, width=2.5)
    assert (summary.done, summary.failed) == (3, 1)
    found = {row["id"]: row for row in rows(output)}
    for path in meshes[:3]:
        field = vox.distances(path, width=2.5)
        row = found[path]
        assert (row["hash"], row["occupied"], row["dims"]) == (field.hash, len(field), [24] * 3)
        arrays = np.load(io.BytesIO(row["grid"]))
        assert np.array_equal(arrays["distances"], field.distances())
        assert np.array_equal(arrays["coords"], field.coords())
        decoded = trivox.ray.decode(row["grid"])
        assert decoded == field and (decoded.up, decoded.voxel_size) == (field.up, field.voxel_size)
        assert np.array_equal(decoded.origin, field.origin)


@pytest.mark.parametrize("format", ["parquet", "webdataset"])
def test_rows_have_the_attributes_of_the_voxels(meshes, tmp_path, format):
    vox = trivox.Voxelizer(16, attributes=["normal", "label"])
    with concurrent.futures.ThreadPoolExecutor(1) as executor:
        summary = trivox.ray.voxelize(meshes[:2], str(tmp_path), vox, format=format, executor=executor)
    assert (summary.done, summary.warned) == (2, 0)
    for row in trivox.ray.rows(str(tmp_path)):
        grid, whole = trivox.ray.decode(row["grid"]), vox(row["id"])
        assert grid == whole and grid.names == whole.names and set(grid.attributes) == {"normal", "label"}
        assert all(np.array_equal(grid.attributes[name], array) for name, array in whole.attributes.items())
    plain = trivox.ray.Voxelize(trivox.Voxelizer(16)).row(meshes[0])
    assert isinstance(trivox.ray.decode(plain["grid"]), trivox.Grid)


def writers():
    """Ray's processes that write a batch: between two batches they have another name."""
    from psutil import process_iter

    found = process_iter(["cmdline"])
    return [process for process in found if "ray::_write" in " ".join(process.info["cmdline"] or [])]


def test_every_item_is_there_once_though_a_worker_is_killed(cluster, meshes, expected, tmp_path):
    output = str(tmp_path / "out")
    killed, done = [], threading.Event()

    def kill():
        while not glob.glob(f"{output}/part-*.parquet") and not done.is_set():
            time.sleep(0.005)
        while not killed and not done.is_set():
            for process in writers()[:1]:
                os.kill(process.pid, signal.SIGKILL)
                killed.append(process.pid)

    killer = threading.Thread(target=kill)
    killer.start()
    slow = trivox.Voxelizer(RESOLUTION)
    try:
        summary = trivox.ray.voxelize(meshes, output, slow, batch_size=4, concurrency=3)
    finally:
        done.set()
        killer.join()
    assert killed, "no worker was found to be killed"
    assert (summary.done, summary.failed) == (60, 2)
    assert summary.codes == {"read.line": 1, "FileNotFoundError": 1}
    check(output, expected)
    assert not glob.glob(f"{output}/*.started")


DRIVER = """
import sys, trivox, trivox.ray
trivox.ray.voxelize(sys.argv[2:], sys.argv[1], trivox.Voxelizer(48), batch_size=4, concurrency=2)
"""


def test_a_run_whose_driver_was_killed_is_resumed(cluster, meshes, expected, tmp_path):
    output = str(tmp_path / "out")
    environment = os.environ | {"RAY_ADDRESS": cluster}
    driver = subprocess.Popen([sys.executable, "-c", DRIVER, output, *meshes], env=environment)
    until = time.monotonic() + 90
    while not glob.glob(f"{output}/part-*.parquet") and time.monotonic() < until:
        time.sleep(0.01)
    driver.kill()
    driver.wait()
    while writers() and time.monotonic() < until:  # Workers end after their driver.
        time.sleep(0.01)
    summary = trivox.ray.voxelize(meshes, output, trivox.Voxelizer(RESOLUTION), batch_size=4)
    assert summary.skipped > 0 and summary.skipped + summary.done + summary.failed == 62
    check(output, expected)
    again = trivox.ray.voxelize(meshes, output, trivox.Voxelizer(RESOLUTION))
    assert (again.skipped, again.done, again.failed) == (62, 0, 0)
    assert again.skipped_failed == 2
    assert again.skipped_codes == {"read.line": 1, "FileNotFoundError": 1}
    for other in ({"mode": "solid"}, {"resolution": 32}):
        vox = trivox.Voxelizer(**{"resolution": RESOLUTION} | other)
        with pytest.raises(trivox.OptionError, match=f"of a run with {[*other][0]}=.*another folder"):
            trivox.ray.voxelize(meshes, output, vox)
    with pytest.raises(trivox.OptionError, match="format='parquet', not 'webdataset'"):
        trivox.ray.voxelize(meshes, output, trivox.Voxelizer(RESOLUTION), format="webdataset")
    os.remove(glob.glob(f"{output}/part-*.parquet")[0])
    some = trivox.ray.voxelize(meshes, output, trivox.Voxelizer(RESOLUTION), batch_size=3)
    assert 0 < some.done + some.failed <= 4
    check(output, expected)
    other = trivox.Voxelizer(RESOLUTION, memory="4 GiB", time_limit=600)
    assert trivox.ray.voxelize(meshes, output, other).skipped == 62


def test_a_folder_may_have_brackets_in_its_name(cluster, meshes, tmp_path):
    (tmp_path / "out1").mkdir()
    output, vox = str(tmp_path / "out[1]"), trivox.Voxelizer(8)
    assert trivox.ray.voxelize(meshes[:3], output, vox, batch_size=2).done == 3
    assert trivox.ray.voxelize(meshes[:3], output, vox).skipped == 3


def test_files_in_folders_beside_a_remote_mesh_are_read():
    system = pytest.importorskip("fsspec").filesystem("memory")
    image = trivox.Voxelizer(8)(torus()).png(size=8)
    system.pipe_file("/remote/m/a.mtl", b"newmtl a\nmap_Kd t.png\n")
    system.pipe_file("/remote/m/t.png", image)
    face = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nusemtl a\nf 1/1 2/2 3/3\n"
    for name in ("./m/a.mtl", "m/a.mtl", "m\\a.mtl"):
        system.pipe_file("/remote/a.obj", f"mtllib {name}\n{face}".encode())
        read = trivox.ray.read("memory://remote/a.obj")
        assert read.warnings == () and trivox.Voxelizer(8)(read).colors() is not None
    # Without a name, in another folder, and with options before the name.
    system.pipe_file("/remote/own.mtl", b"newmtl a\nmap_Kd -s 1 1 1 C:\\\\x\\\\my tex.png\n")
    system.pipe_file("/remote/textures/my tex.png", image)
    system.pipe_file("/remote/own.obj", face.encode())
    with pytest.warns(trivox.TrivoxWarning, match="names no material file"):
        read = trivox.ray.read("memory://remote/own.obj")
    assert trivox.Voxelizer(8)(read).colors() is not None
    uri = '{"asset": {"version": "2.0"}, "buffers": [{"uri": "b%20c/d.bin", "byteLength": 36}]}'
    system.pipe_file("/remote/b c/d.bin", bytes(36))
    system.pipe_file("/remote/a.gltf", uri.encode())
    with pytest.raises(trivox.TrivoxError, match="(?!.*beside)"):
        trivox.ray.read("memory://remote/a.gltf")


def test_what_no_run_can_do_is_refused_at_once(tmp_path):
    vox = trivox.Voxelizer(8)
    with pytest.raises(TypeError, match="not one str"):
        trivox.ray.voxelize("a.obj", str(tmp_path), vox)
    with pytest.raises(TypeError, match="takes paths or URLs, not Mesh: .*many"):
        trivox.ray.voxelize([torus()], str(tmp_path / "meshes"), vox)
    assert not (tmp_path / "meshes").exists()
    with pytest.raises(trivox.OptionError, match="use 'parquet' or 'webdataset'"):
        trivox.ray.voxelize([], str(tmp_path), vox, format="csv")
    with pytest.raises(trivox.OptionError, match="batch_size=0 is not possible"):
        trivox.ray.voxelize([], str(tmp_path), vox, batch_size=0)
    output = tmp_path / "out"
    with pytest.raises(TypeError, match="trivox.Voxelizer, not int"):
        trivox.ray.voxelize([], str(output), 16)
    for width in (-3, float("nan"), 2000):
        with pytest.raises(trivox.OptionError, match=f"width of {width} voxels".replace("nan", "NaN")):
            trivox.ray.voxelize([], str(output), vox, width=width)
    with pytest.raises(TypeError):
        trivox.ray.voxelize([], str(output), vox, width="3")
    with pytest.raises(trivox.BackendError, match="not available for tiles"):
        trivox.ray.voxelize([], str(output), trivox.Voxelizer(64, tile="1/8"), width=3)
    assert not output.exists()
    trivox.ray.voxelize([], str(output), vox, width=1024)


def ids(rows):
    return sorted(row["id"] for row in rows)


def test_a_run_removes_no_part_that_another_is_writing(meshes, tmp_path, monkeypatch):
    put = trivox.ray._Sink._put

    def put_beside_a_run(sink, name, content):
        put(sink, name, content)
        if name.startswith("part-"):
            trivox.ray.voxelize([], str(tmp_path), trivox.Voxelizer(8))

    monkeypatch.setattr(trivox.ray._Sink, "_put", put_beside_a_run)
    write(tmp_path, meshes[:3])
    assert ids(rows(tmp_path)) == meshes[:3]
    assert trivox.ray.voxelize(meshes[:3], str(tmp_path), trivox.Voxelizer(8)).skipped == 3


class Interrupted(trivox.ray.Voxelize):
    def row(self, name, content=None):
        raise KeyboardInterrupt


def test_a_batch_that_a_worker_without_driver_still_writes_is_made_as_it_is(cluster, meshes, tmp_path):
    output, vox = str(tmp_path / "out"), trivox.Voxelizer(8)
    with pytest.raises(KeyboardInterrupt):
        write(output, meshes[1:4], Interrupted(vox))
    assert trivox.ray.voxelize(meshes[:6], output, vox, batch_size=2).done == 6
    write(output, meshes[1:4])
    assert ids(rows(output)) == meshes[:6]
    assert not glob.glob(f"{output}/*.started")


def test_marks_of_batches_whose_items_are_in_others_are_removed(meshes, tmp_path):
    for items in (meshes[:2], meshes[1:4]):
        with pytest.raises(KeyboardInterrupt):
            write(tmp_path, items, Interrupted(trivox.Voxelizer(8)))
    write(tmp_path, meshes[:3])
    trivox.ray.voxelize([], str(tmp_path), trivox.Voxelizer(8))
    [mark] = glob.glob(f"{tmp_path}/*.started")
    write(tmp_path, meshes[1:4])
    assert not os.path.exists(mark)


@pytest.mark.parametrize("format", ["parquet", "webdataset"])
def test_rows_have_each_item_once(meshes, tmp_path, format):
    new = write_obj(tmp_path / "new.obj", torus())
    os.rename(new, tmp_path / "later.obj")
    output = tmp_path / "out"
    write(output, [*meshes[:3], new], format=format)
    os.rename(tmp_path / "later.obj", new)
    write(output, [meshes[2], new, meshes[20]], format=format)
    write(output, [meshes[20], meshes[3]], format=format)
    found = list(trivox.ray.rows(str(output)))
    assert ids(found) == sorted([*meshes[:4], meshes[20], new])
    assert [row["id"] for row in found if row["error"]] == [meshes[20]]
    for row in found:
        assert tuple(row) == trivox.ray.FIELDS
        if row["grid"] is not None:
            assert trivox.load_bytes(row["grid"], "bricks").hash == row["hash"]
    assert found == list(trivox.ray.rows(str(output)))
    with pytest.raises(FileNotFoundError, match="nowhere"):
        list(trivox.ray.rows(str(tmp_path / "nowhere")))


@pytest.mark.parametrize("format", ["parquet", "webdataset"])
def test_parts_are_on_any_file_system(meshes, format):
    output, vox = f"memory://parts-{format}", trivox.Voxelizer(8)
    write(output, meshes[:3], format=format)
    assert trivox.ray.voxelize(meshes[:3], output, vox, format=format).skipped == 3
    assert ids(trivox.ray.rows(output)) == meshes[:3]


def test_errors_of_earlier_runs_are_counted(cluster, meshes, tmp_path):
    output, vox = str(tmp_path / "out"), trivox.Voxelizer(8)
    items = [meshes[0], meshes[20], str(tmp_path / "new.obj")]
    trivox.ray.voxelize(items, output, vox)
    summary = trivox.ray.voxelize([*items, meshes[1]], output, vox)
    assert (summary.done, summary.failed, summary.skipped, summary.skipped_failed) == (1, 0, 3, 2)
    assert summary.skipped_codes == {"read.line": 1, "FileNotFoundError": 1}
    write_obj(tmp_path / "new.obj", torus())
    summary = trivox.ray.voxelize(items, output, vox, retry_errors=True)
    assert (summary.done, summary.failed, summary.skipped, summary.skipped_failed) == (1, 1, 1, 0)
    assert trivox.ray.voxelize(items, output, vox).skipped_codes == {"read.line": 1}
    assert ids(trivox.ray.rows(output)) == sorted([*items, meshes[1]])


class Hasty(trivox.ray.Voxelize):
    def row(self, name, content=None):
        for mark in glob.glob(f"{self.column}/*.started"):
            os.remove(mark)
        return super().row(name, content)


def test_a_batch_may_be_ended_by_another_run(meshes, tmp_path):
    write(tmp_path, meshes[:2], Hasty(trivox.Voxelizer(8), column=tmp_path))
    assert ids(rows(tmp_path)) == meshes[:2]


def test_damaged_files_are_named(meshes, tmp_path):
    vox = trivox.Voxelizer(8)
    write(tmp_path, meshes[:2])
    trivox.ray.voxelize([], str(tmp_path), vox)
    [part] = glob.glob(f"{tmp_path}/*.parquet")
    mark = part.replace("part-", "_part-").replace(".parquet", ".started")
    for path, content in [
        (part, b"PAR1"), (part, b""), (part.replace(".parquet", ".tar"), b"x" * 2000), (mark, b""),
        (mark, b"{}"),
    ]:
        before = open(path, "rb").read() if os.path.exists(path) else None
        with open(path, "wb") as file:
            file.write(content)
        with pytest.raises(trivox.ReadError, match="damaged.*remove it, and run again") as caught:
            trivox.ray.voxelize([], str(tmp_path), vox)
        assert caught.value.path == path and str(caught.value).count(path) == 1
        os.remove(path)
        if before is not None:
            with open(path, "wb") as file:
                file.write(before)


@pytest.mark.parametrize("format", ["parquet", "webdataset"])
def test_parts_have_the_options_of_their_run(meshes, tmp_path, format):
    vox = trivox.Voxelizer(8, bounds=[[-4, -4, -4], [4, 4, 4]], memory="1 GiB")
    with concurrent.futures.ThreadPoolExecutor(1) as executor:
        trivox.ray.voxelize(meshes[:2], str(tmp_path), vox, format=format, executor=executor)
    [part] = os.listdir(tmp_path)
    assert part.startswith("part-")
    assert trivox.ray.voxelize(meshes[:2], str(tmp_path), vox, format=format).skipped == 2
    with pytest.raises(trivox.OptionError, match="use another folder") as caught:
        trivox.ray.voxelize([], str(tmp_path), vox, format=format, width=3)
    assert str(caught.value).count(str(tmp_path)) == 1


def test_a_folder_is_a_table_for_others(cluster, meshes, tmp_path):
    output = str(tmp_path / "out")
    write(output, meshes[:3])
    write(output, [meshes[3], meshes[20]])
    everything = sorted([*meshes[:4], meshes[20]])
    assert sorted(row["id"] for row in ray.data.read_parquet(output).take_all()) == everything
    polars = pytest.importorskip("polars")
    table = polars.scan_parquet(output)
    assert sorted(table.collect()["id"]) == everything
    assert table.filter(polars.col("code").is_null()).collect()["dims"].to_list() == [[8, 3, 8]] * 4
    with pytest.raises(KeyboardInterrupt):
        write(output, meshes[5:7], Interrupted(trivox.Voxelizer(8)))
    assert sorted(pyarrow.dataset.dataset(output).to_table()["id"].to_pylist()) == everything


def test_a_full_disk_is_an_error_with_the_name_of_the_part(meshes, tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device .*the same call resumes.*part-") as caught:
        write(tmp_path, meshes[:2])
    assert caught.value.errno == errno.ENOSPC
    assert os.listdir(tmp_path) == []


def test_an_error_of_a_worker_is_raised_as_it_is(cluster, meshes, expected, tmp_path, monkeypatch):
    output, release = tmp_path / "out", tmp_path / "release"

    class Full(trivox.ray._Sink):
        """A disk that is full for the first item. Others are written once `release` exists."""

        def write(self, name, rows):
            if rows[0]["id"] == meshes[0]:
                raise OSError(errno.ENOSPC, "full", "a part")
            until = time.monotonic() + 120
            while not release.exists() and time.monotonic() < until:
                time.sleep(0.05)
            super().write(name, rows)

    cancelled, cancel = [], ray.cancel
    monkeypatch.setattr(trivox.ray, "_Sink", Full)
    monkeypatch.setattr(ray, "cancel", lambda task: (cancelled.append(task), cancel(task)))
    some = meshes[:7]
    with pytest.raises(OSError, match="full: 'a part'") as caught:
        trivox.ray.voxelize(some, str(output), trivox.Voxelizer(RESOLUTION), batch_size=1)
    assert type(caught.value) is OSError
    assert 2 <= len(cancelled) <= 5
    release.touch()
    # Six batches are submitted to three workers: one failed, and at least two wait. A batch that its
    # worker had not marked yet may have been cancelled too late.
    ended = 0
    for task in cancelled:
        try:
            ray.get(task, timeout=60)
        except (ray.exceptions.TaskCancelledError, KeyboardInterrupt):
            ended += 1
    assert ended >= 2
    monkeypatch.undo()
    until = time.monotonic() + 60
    while len(rows(output)) < 5 - ended and time.monotonic() < until:
        time.sleep(0.1)
    assert len(rows(output)) == 5 - ended
    trivox.ray.voxelize(some, str(output), trivox.Voxelizer(RESOLUTION))
    check(output, {name: expected[name] for name in some})


def test_an_item_that_kills_its_worker_has_an_error(meshes, expected, tmp_path):
    sink = trivox.ray._Sink(str(tmp_path), "parquet", {})
    writer = trivox.ray._Writer(Deadly(trivox.Voxelizer(RESOLUTION)), sink)
    some = meshes[11:16]
    # What a first try leaves that was killed.
    sink.begin(some)
    [noted] = writer(some)
    assert "13.obj" in noted["id"] and noted["code"] == "worker_died" and "memory=" in noted["error"]
    found = {row["id"]: row["hash"] for row in rows(tmp_path)}
    assert found == {m: expected[m] if "13.obj" not in m else None for m in some}


def test_meshes_are_read_from_any_file_system_with_their_sidecars(tmp_path):
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("memory")
    mesh = torus()
    text = open(write_obj(tmp_path / "torus.obj", mesh)).read()
    system.pipe("/set/torus.obj", ("mtllib look.mtl\nusemtl red\n" + text).encode())
    system.pipe("/set/look.mtl", b"newmtl red\nKd 1 0 0\n")
    read = trivox.ray.read("memory://set/torus.obj")
    assert read.has_colors and np.array_equal(read.vertices[read.faces], mesh.vertices[mesh.faces])
    assert trivox.ray.expand("memory://set/*.obj") == ["memory:///set/torus.obj"]
    row = trivox.ray.Voxelize(trivox.Voxelizer(16)).row("memory://set/none.obj")
    assert row["code"] == "FileNotFoundError" and "memory://set/none.obj" in row["error"]


@pytest.fixture
def far():
    """A file system on which a request ends once four wait, or after a time; and the files that were read."""
    memory = pytest.importorskip("fsspec.implementations.memory")
    fsspec = pytest.importorskip("fsspec")
    together, requests = threading.Barrier(4), []

    class Far(memory.MemoryFileSystem):
        protocol, store, pseudo_dirs = "far", {}, [""]

        def cat_file(self, path, **options):
            requests.append(path)
            if "tail" not in path:
                together.wait(60)
            return super().cat_file(path, **options)

    fsspec.register_implementation("far", Far, clobber=True)
    return fsspec.filesystem("far"), requests


def test_meshes_are_read_ahead(far, meshes, tmp_path):
    system, requests = far
    content = open(meshes[0], "rb").read()
    items = [f"far://set/{n}.obj" for n in range(8)] + [meshes[1], "nowhere://x.obj", "far://set/tail-none.obj"]
    for item in items[:8]:
        system.pipe_file(item, content)
    # One at a time, none of the requests would end.
    write(tmp_path, items)
    found = rows(tmp_path)
    assert [row["id"] for row in found] == items
    assert len({row["hash"] for row in found[:8]}) == 1 and found[8]["hash"] is not None
    assert [row["code"] for row in found[9:]] == ["ValueError", "FileNotFoundError"]
    assert sorted(set(requests)) == sorted(requests) and len(requests) == 9
    table = trivox.ray.Voxelize(trivox.Voxelizer(8))({"id": np.array(items[:8])})
    assert table["hash"].to_pylist() == [row["hash"] for row in found[:8]]


def test_meshes_and_parts_are_on_s3(bucket, meshes, expected):
    url, storage = bucket
    system = pytest.importorskip("s3fs").S3FileSystem(**storage)
    for path in meshes[:24]:
        system.put_file(path, f"{url}/meshes/{os.path.basename(path)}")
    found = trivox.ray.expand(f"{url}/meshes/*.obj", **storage)
    assert [os.path.basename(name) for name in found] == sorted(map(os.path.basename, meshes[:24]))
    vox = trivox.Voxelizer(RESOLUTION)
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        options = {"batch_size": 5, "executor": executor, "storage": storage}
        summary = trivox.ray.voxelize(found, f"{url}/out", vox, **options)
        assert (summary.done, summary.codes) == (23, {"read.line": 1})
        assert trivox.ray.voxelize(found, f"{url}/out", vox, **options).skipped == 24
    hashes = {os.path.basename(row["id"]): row["hash"] for row in trivox.ray.rows(f"{url}/out", **storage)}
    assert hashes == {os.path.basename(path): expected[path] for path in meshes[:24]}


def test_what_is_read_ahead_is_bounded(far, monkeypatch):
    system, requests = far
    items = [f"far://set/tail-{n}.obj" for n in range(40)]
    for item in items:
        system.pipe_file(item, b"v 0 0 0\n" * 1000)
    monkeypatch.setattr(trivox.ray, "BYTES_AHEAD", 3 * 8000)
    for number, (name, read) in enumerate(trivox.ray._read_ahead(items, {})):
        assert name == items[number] and len(read.result()) == 1
        assert len(requests) <= number + 4
    assert sorted(requests) == sorted(items)
    requests.clear()
    monkeypatch.undo()
    reader = trivox.ray._read_ahead(items, {})
    next(reader)
    reader.close()
    assert len(requests) <= 4


def test_errors_of_remote_meshes_name_the_url():
    system = pytest.importorskip("fsspec").filesystem("memory")
    worker = trivox.ray.Voxelize(trivox.Voxelizer(8))
    point = "v 0 0 0\nv 0 0 0\nv 0 0 0\nf 1 2 3\n"
    for content, error in [
        ("v 0 0 0\nf 1 2 99\n", "ReadError: memory://bad/a.obj: line 2"),
        (point, "PlaceError: memory://bad/a.obj: all vertices"),
    ]:
        system.pipe_file("/bad/a.obj", content.encode())
        assert worker.row("memory://bad/a.obj")["error"].startswith(error)
    system.pipe_file("/bad/a.obj", b"")
    with pytest.raises(trivox.ReadError) as caught:
        trivox.ray.read("memory://bad/a.obj")
    assert caught.value.path == "memory://bad/a.obj"


def test_samples_of_webdataset_are_grids(meshes, expected, tmp_path):
    webdataset = pytest.importorskip("webdataset")
    sink = trivox.ray._Sink(str(tmp_path), "webdataset", {})
    worker = trivox.ray.Voxelize(trivox.Voxelizer(RESOLUTION))
    trivox.ray._Writer(worker, sink)(meshes[:3] + meshes[20:21])
    [part] = glob.glob(f"{tmp_path}/*.tar")
    samples = list(webdataset.WebDataset(part, shardshuffle=False))
    assert len(samples) == 4 and "bricks" not in samples[3]
    for path, sample in zip(meshes, samples[:3]):
        assert trivox.load_bytes(sample["bricks"], "bricks").hash == expected[path]


def test_a_file_name_that_is_not_utf8_is_a_row(cluster, meshes, tmp_path):
    # The third name looks like what is written for the second.
    items = [meshes[0], os.fsdecode(b"\xff.obj"), "\\udcff.obj"]
    for format in ("parquet", "webdataset"):
        output, vox = str(tmp_path / format), trivox.Voxelizer(8)
        assert trivox.ray.voxelize(items, output, vox, format=format).failed == 2
        assert trivox.ray.voxelize(items, output, vox, format=format).skipped == 3
        assert ids(trivox.ray.rows(output)) == sorted(items)
    found = rows(tmp_path / "parquet")
    assert [row["id"] for row in found if row["error"]] == ["\\udcff.obj", "\\\\udcff.obj"]


def test_the_callable_class_is_for_map_batches_of_ray_data(cluster, meshes, expected):
    items = ray.data.from_items([{"id": path} for path in meshes])
    found = items.map_batches(
        trivox.ray.Voxelize,
        fn_constructor_args=(trivox.Voxelizer(RESOLUTION),),
        batch_size=16,
        compute=ray.data.ActorPoolStrategy(size=2),
    )
    assert {row["id"]: row["hash"] for row in found.take_all()} == expected


def test_ray_data_reads_files_and_writes_a_folder(cluster, meshes, expected, tmp_path):
    output = str(tmp_path / "out")
    ray.data.read_binary_files(meshes[:30], include_paths=True).map_batches(
        trivox.ray.Voxelize,
        fn_constructor_args=(trivox.Voxelizer(RESOLUTION),),
        fn_constructor_kwargs={"column": "path", "data": "bytes"},
        batch_size=16,
        compute=ray.data.ActorPoolStrategy(size=1),
    ).write_parquet(output)
    found = {os.path.normpath(row["id"]): row for row in trivox.ray.rows(output)}
    assert {name: row["hash"] for name, row in found.items()} == {name: expected[name] for name in meshes[:30]}
    assert trivox.load_bytes(found[meshes[0]]["grid"], "bricks").hash == expected[meshes[0]]
    assert trivox.ray.failures(output)["code"].to_pylist() == ["read.line"]


@pytest.fixture
def half_open(tmp_path):
    """A solid of which half the surface is missing, with a material file that is missing too."""
    path = tmp_path / "half.obj"
    path.write_text("mtllib none.mtl\nv 0 0 0\nv 8 0 0\nv 0 8 0\nv 0 0 8\nusemtl a\nf 1 3 2\nf 1 2 4\n")
    return str(path)


@pytest.mark.filterwarnings("ignore::trivox.TrivoxWarning")
@pytest.mark.parametrize("format", ["parquet", "webdataset"])
def test_warnings_and_doubts_come_from_the_workers(cluster, meshes, half_open, tmp_path, format, caplog):
    output, vox = str(tmp_path / "out"), trivox.Voxelizer(16, mode="solid", up="z")
    steps = []
    summary = trivox.ray.voxelize(
        [*meshes[:2], half_open], output, vox, format=format, batch_size=2,
        ray_remote_args={"num_cpus": 0.5}, progress=lambda *step: steps.append(step),
    )
    assert (summary.done, summary.failed, summary.warned, summary.doubtful) == (3, 0, 1, 1)
    assert steps[-1] == ("voxelize", 3, 3)
    assert "half.obj: the fill is doubtful" in caplog.text
    found = {row["id"]: row for row in trivox.ray.rows(output)}
    row = found[half_open]
    assert row["warnings"] == list(vox(half_open).warnings) and len(row["warnings"]) == 2
    assert (row["doubtful"], row["fill"], row["up"], row["version"]) == (True, "winding", "z", trivox.__version__)
    assert (found[meshes[0]]["doubtful"], found[meshes[0]]["fill"]) == (False, "parity")
    assert found[meshes[0]]["warnings"] == []


@pytest.mark.filterwarnings("ignore::trivox.TrivoxWarning")
def test_warnings_of_reading_a_remote_mesh_are_kept(half_open):
    fsspec = pytest.importorskip("fsspec")
    fsspec.filesystem("memory").pipe("/warn/half.obj", open(half_open, "rb").read())
    worker = trivox.ray.Voxelize(trivox.Voxelizer(16, mode="solid"))
    remote, local = worker.row("memory://warn/half.obj"), worker.row(half_open)
    assert remote["warnings"] == local["warnings"] and len(remote["warnings"]) == 2


@pytest.mark.filterwarnings("ignore::trivox.TrivoxWarning")
def test_a_doubtful_solid_is_a_failure_of_a_strict_run(cluster, meshes, half_open, tmp_path):
    output, vox = str(tmp_path / "out"), trivox.Voxelizer(16, mode="solid", strict=True)
    items = [*meshes[:2], half_open, meshes[20]]
    summary = trivox.ray.voxelize(items, output, vox)
    assert summary.codes == {"solid.doubtful": 1, "read.line": 1} and summary.done == 2
    [row] = [row for row in trivox.ray.rows(output) if row["code"] == "solid.doubtful"]
    assert row["grid"] is None and row["hash"] is None and row["doubtful"] and len(row["warnings"]) == 2
    assert "half.obj: the fill is doubtful: the mesh has large holes" in row["error"]
    table = trivox.ray.failures(output)
    assert {row["id"]: row["code"] for row in table.to_pylist()} == {
        half_open: "solid.doubtful", meshes[20]: "read.line",
    }
    with pytest.raises(trivox.OptionError, match="strict=True, not None: use another folder"):
        trivox.ray.voxelize(items, output, trivox.Voxelizer(16, mode="solid"))


def test_parts_of_before_have_no_warnings(meshes, tmp_path):
    write(tmp_path, meshes[:2])
    [part] = glob.glob(f"{tmp_path}/*.parquet")
    table = pq.read_table(part)
    pq.write_table(table.drop_columns(["warnings", "doubtful", "fill", "up", "version"]), part)
    found = list(trivox.ray.rows(str(tmp_path)))
    assert ids(found) == meshes[:2] and all(tuple(row) == trivox.ray.FIELDS for row in found)
    assert trivox.ray.failures(str(tmp_path)).num_rows == 0


def test_columns_of_the_input_are_kept(cluster, meshes):
    items = ray.data.from_items(
        [{"path": path, "label": n, "pose": np.eye(4, dtype="f4") * n, "up": "?"} for n, path in enumerate(meshes[:4])]
    )
    found = items.map_batches(
        trivox.ray.Voxelize,
        fn_constructor_args=(trivox.Voxelizer(8),),
        fn_constructor_kwargs={"column": "path", "keep_grid": False},
        compute=ray.data.ActorPoolStrategy(size=1),
    ).take_all()
    for row in found:
        assert row["id"] == row["path"] == meshes[row["label"]] and row["up"] == "y"
        np.testing.assert_array_equal(row["pose"], np.eye(4) * row["label"])


def test_an_executor_runs_the_batches(meshes, expected, tmp_path, monkeypatch):
    output, vox, some = str(tmp_path / "out"), trivox.Voxelizer(RESOLUTION), meshes[:24]
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        with pytest.raises(trivox.OptionError, match="num_gpus and ray_remote_args are for Ray"):
            trivox.ray.voxelize(some, output, vox, executor=executor, num_gpus=1)
        summary = trivox.ray.voxelize(some[:9], output, vox, batch_size=2, concurrency=3, executor=executor)
        assert (summary.done, summary.codes) == (9, {})
    monkeypatch.setattr(trivox.ray, "Voxelize", Deadly)
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as executor:
        # The fourteenth item kills its worker, and with it the executor.
        with pytest.raises(concurrent.futures.process.BrokenProcessPool):
            trivox.ray.voxelize(some, output, vox, batch_size=8, executor=executor)
    with concurrent.futures.ThreadPoolExecutor(1) as executor:
        summary = trivox.ray.voxelize(some, output, vox, batch_size=8, executor=executor)
    assert summary.codes == {"worker_died": 1, "read.line": 1}
    check(output, {name: None if "13.obj" in name else expected[name] for name in some})


def test_a_worker_that_is_a_daemon_isolates_items(meshes, tmp_path):
    sink = trivox.ray._Sink(str(tmp_path), "parquet", {})
    assert sink.begin(meshes[12:15])
    arguments = (str(tmp_path), meshes[12:15])
    worker = multiprocessing.get_context("spawn").Process(target=write_as_a_daemon, args=arguments, daemon=True)
    worker.start()
    worker.join()
    assert [row["code"] for row in rows(tmp_path)] == [None, "worker_died", None]
