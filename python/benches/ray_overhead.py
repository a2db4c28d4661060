"""Ray's own overhead, and what a mesh costs.

Usage: python ray_overhead.py ASSETS [RESOLUTION [ROUNDS]]
       python ray_overhead.py --cost
       python ray_overhead.py --latency
The first makes 1,200 meshes, turned copies of those in the folder ASSETS, and one that is broken. It
voxelizes them by `Voxelizer.many` in one process, by `multiprocessing`, and by `trivox.ray.voxelize` on a local
cluster of this machine's cores, in turns. Wall time is that of the caller. CPU time is that of all processes, Ray's
included: it depends less on what else the machine does. The second times whole items (read, voxelize,
encode, compress) on one core, for tori of several sizes. The third is a worker that reads from a file system
on which each request takes 50 ms, one by one and ahead.
Needs psutil. Build the wheel with --release.
"""

import contextlib
import multiprocessing
import os
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

import trivox
import trivox.ray

NAMES = ["torus-knot", "lighthouse", "torus-knot", "cube", "tetrahedron"]
# A worker waits for the other's last batch: a small part of a run as short as this.
BATCH = 32


def turned_copies(assets, folder, count):
    """Files of `count` meshes, turned at random but always the same."""
    random = np.random.default_rng(7)
    for name in ("lighthouse.mtl", "lighthouse.png"):
        (folder / name).write_bytes((assets / name).read_bytes())
    lines = {name: (assets / f"{name}.obj").read_text().splitlines() for name in NAMES}
    paths = []
    for number in range(count):
        name = NAMES[number % len(NAMES)]
        points = np.array([line.split()[1:4] for line in lines[name] if line.startswith("v ")], float)
        turn, _ = np.linalg.qr(random.normal(size=(3, 3)))
        text = "\n".join("v %.9g %.9g %.9g" % tuple(point) for point in points @ turn.T)
        rest = "\n".join(line for line in lines[name] if not line.startswith("v "))
        paths.append(folder / f"{number:04}-{name}.obj")
        paths[-1].write_text(f"{text}\n{rest}\n")
    broken = folder / "broken.obj"
    broken.write_text("v 0 0 0\nv 1 0 0\nf 1 2 99\n")
    return [str(path) for path in paths[: count // 2] + [broken] + paths[count // 2 :]]


def measured(call):
    """Wall seconds, and CPU seconds of this process and of all that it started."""
    import psutil

    me, used, over = psutil.Process(), {}, threading.Event()

    def look():
        for process in [me, *me.children(recursive=True)]:
            with contextlib.suppress(psutil.Error):
                times = process.cpu_times()
                used.setdefault(process.pid, []).append(times.user + times.system)

    def watch():
        # A process that ends is counted to within this time.
        while not over.wait(0.2):
            look()

    look()
    before = set(used)
    watcher = threading.Thread(target=watch)
    watcher.start()
    began = time.perf_counter()
    call()
    wall = time.perf_counter() - began
    over.set()
    watcher.join()
    look()
    cpu = sum(times[-1] - (times[0] if pid in before else 0) for pid, times in used.items())
    return wall, cpu


def by_many(vox, paths):
    failed = sum(isinstance(result, Exception) for _, result in vox.many(paths))
    assert failed == 1


def by_many_to_parquet(vox, paths, folder):
    """One process that writes what Ray's workers write."""
    sink, rows = trivox.ray._Sink(folder, "parquet", {}), []
    results = vox.many(paths)
    for at, (path, result) in enumerate(results, 1):
        rows.append(trivox.ray._row(path, result, "bricks"))
        if len(rows) == BATCH or at == len(paths):
            sink.write(sink.name([row["id"] for row in rows]), rows)
            rows = []


def write_batch(vox, paths, folder):
    sink, worker = trivox.ray._Sink(folder, "parquet", {}), trivox.ray.Voxelize(vox)
    sink.write(sink.name(paths), [worker.row(path) for path in paths])


def by_pool_to_parquet(vox, paths, folder):
    """The loop that one writes by oneself: a process for each core, nothing resumed."""
    batches = [(vox, paths[at : at + BATCH], folder) for at in range(0, len(paths), BATCH)]
    with multiprocessing.get_context("spawn").Pool() as pool:
        pool.starmap(write_batch, batches, chunksize=1)


def by_ray(vox, paths, folder):
    summary = trivox.ray.voxelize(paths, folder, vox, batch_size=BATCH)
    assert summary.done + summary.failed == len(paths) and summary.failed <= 1


def overhead(assets, resolution, rounds):
    # Workers otherwise yield to all other processes.
    os.environ.setdefault("RAY_worker_niceness", "0")
    import ray

    vox = trivox.Voxelizer(resolution, backend="cpu")
    with tempfile.TemporaryDirectory() as folder:
        paths = turned_copies(Path(assets), Path(folder), 1200)
        start, _ = measured(lambda: ray.init(include_dashboard=False, log_to_driver=False))
        first, _ = measured(lambda: by_ray(vox, paths[:2], f"{folder}/first"))
        print(f"{len(paths):,} meshes, {resolution} voxels, {os.cpu_count()} cores, Ray {ray.__version__}")
        print(f"Ray starts in {start:.1f} s; the first two meshes take {first:.1f} s more\n")
        jobs = {
            "many": lambda out: by_many(vox, paths),
            "many, to Parquet": lambda out: by_many_to_parquet(vox, paths, out),
            "a pool of processes, to Parquet": lambda out: by_pool_to_parquet(vox, paths, out),
            "trivox.ray": lambda out: by_ray(vox, paths, out),
        }
        found = {name: [] for name in jobs}
        for number in range(rounds):
            for name, job in jobs.items():
                found[name].append(measured(lambda: job(f"{folder}/{name}-{number}")))
        print("| | wall s | meshes/s | CPU s | wall, ratio to many | CPU, ratio to many |")
        print("|---|--:|--:|--:|--:|--:|")
        for name, times in found.items():
            wall, cpu = (statistics.median(column) for column in zip(*times))
            # Of times of one round, which other load meets alike.
            ratios = [[t / m for t, m in zip(ts, ms)] for ts, ms in zip(times, found["many"])]
            relative = " | ".join(f"{statistics.median(column):.2f}" for column in zip(*ratios))
            print(f"| {name} | {wall:.2f} | {len(paths) / wall:.0f} | {cpu:.2f} | {relative} |")


def torus(triangles):
    sides = max(3, round((triangles / 4) ** 0.5))
    rings = triangles // (2 * sides)
    u, v = np.meshgrid(np.arange(rings), np.arange(sides), indexing="ij")
    a, b = u * 2 * np.pi / rings, v * 2 * np.pi / sides
    r = 2 + np.cos(b)
    points = np.stack([r * np.cos(a), np.sin(b), r * np.sin(a)], -1).reshape(-1, 3)
    at = lambda i, j: (i % rings) * sides + j % sides  # noqa: E731
    quads = np.stack([at(u, v), at(u + 1, v), at(u + 1, v + 1), at(u, v + 1)], -1).reshape(-1, 4)
    return points, np.concatenate([quads[:, :3], quads[:, [0, 2, 3]]])


def write_torus(path, triangles):
    points, faces = torus(triangles)
    with open(path, "w") as file:
        file.writelines("v %.9g %.9g %.9g\n" % tuple(point) for point in points)
        file.writelines("f %d %d %d\n" % tuple(face) for face in faces + 1)
    return len(faces)


def latency():
    import fsspec
    from fsspec.implementations.memory import MemoryFileSystem

    class Far(MemoryFileSystem):
        protocol, store, pseudo_dirs, seconds = "far", {}, [""], 0.05

        def cat_file(self, path, **options):
            time.sleep(self.seconds)
            return super().cat_file(path, **options)

    fsspec.register_implementation("far", Far)
    worker = trivox.ray.Voxelize(trivox.Voxelizer(64, backend="cpu", threads=1))
    with tempfile.TemporaryDirectory() as folder:
        write_torus(f"{folder}/torus.obj", 1000)
        urls = [f"far://set/{number}.obj" for number in range(400)]
        for url in urls:
            fsspec.filesystem("far").pipe_file(url, Path(f"{folder}/torus.obj").read_bytes())
        for seconds, ahead in ((0, 1), (0.05, 1), (0.05, trivox.ray.READS_AHEAD)):
            Far.seconds, trivox.ray.READS_AHEAD = seconds, ahead
            began = time.perf_counter()
            rows = [worker.row(*item) for item in trivox.ray._read_ahead(urls, {})]
            assert not any(row["error"] for row in rows)
            rate = len(urls) / (time.perf_counter() - began)
            print(f"{1000 * seconds:.0f} ms for a request, {ahead} at a time: {rate:.0f} items a second")


def cost():
    print("| triangles | voxels along the longest axis | surface | solid | a surface in Parquet |")
    print("|--:|--:|--:|--:|--:|")
    for triangles in (1_000, 10_000, 100_000):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/torus.obj"
            faces = write_torus(path, triangles)
            for resolution in (64, 128, 256):
                rates = []
                for mode in ("surface", "solid"):
                    vox = trivox.Voxelizer(resolution, mode=mode, backend="cpu", threads=1)
                    worker = trivox.ray.Voxelize(vox)
                    sink = trivox.ray._Sink(f"{folder}/{mode}-{resolution}", "parquet", {})
                    sink.write("one", [worker.row(path)])
                    items, times = max(4, 100_000 // triangles), []
                    for _ in range(5):
                        began = time.process_time()
                        sink.write("part", [worker.row(path) for _ in range(items)])
                        times.append((time.process_time() - began) / items)
                    rates.append(1 / min(times))
                    if mode == "surface":
                        size = os.path.getsize(sink.path("one.parquet"))
                surface, solid = (f"{rate:,.0f}/s" for rate in rates)
                print(f"| {faces:,} | {resolution} | {surface} | {solid} | {size / 1000:.1f} kB |")


if __name__ == "__main__":
    if sys.argv[1] == "--cost":
        cost()
    elif sys.argv[1] == "--latency":
        latency()
    else:
        assets, resolution, rounds = (sys.argv[1:] + ["128", "5"][len(sys.argv) - 2 :])[:3]
        overhead(assets, int(resolution), int(rounds))
