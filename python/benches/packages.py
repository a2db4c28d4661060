"""Times trivox beside other packages and programs that voxelize meshes, on one mesh and machine.

Usage: python packages.py MESH RESOLUTION [--chart FILE.svg] [PACKAGE...]
Each line says what is computed: the packages do not compute the same. *Step* is from a mesh in memory to
voxels; *whole* is from the file to voxels, each package with its own reader; that of a program is a process,
from a .glb to a .vox. Packages and programs that are not installed are left out. Build the wheel with
--release, and install the programs from crates.io (`cargo install voxquant`).
"""

import argparse
import importlib.metadata
import importlib.util
import pathlib
import shutil
import struct
import subprocess
import tempfile
import time

import chart

import numpy as np

import trivox

SECONDS = 20.0
PACKAGES = ("trimesh", "open3d", "pyvista", "point_cloud_utils")
# What each program computes, and its arguments for a .glb, a .vox and a resolution.
PROGRAMS = {
    "voxelize": ("all voxels that the surface touches", ["{glb}", "--res", "{res}", "--quiet", "-o", "{vox}"]),
    "voxquant": ("about the touched voxels", ["-i", "{glb}", "-o", "{vox}", "-r", "{res}"]),
}


def best_ms(call, runs=9):
    """The fastest of up to `runs` calls, or of as many as fit in some seconds; and the last result.

    Other load makes runs slower, and none faster.
    """
    times, result = [], None
    while len(times) < runs and sum(times) < SECONDS:
        began = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - began)
    return min(times) * 1e3, result


def with_trimesh(pitch):
    import trimesh

    return (
        "cells of the vertices of a subdivided surface",
        lambda path: trimesh.load(path, process=False, force="mesh"),
        lambda mesh: mesh.voxelized(pitch),
        lambda voxels: voxels.filled_count,
    )


def with_open3d(pitch):
    import open3d

    create = open3d.geometry.VoxelGrid.create_from_triangle_mesh
    return (
        "touched voxels, in floating point",
        open3d.io.read_triangle_mesh,
        lambda mesh: create(mesh, pitch),
        lambda voxels: len(voxels.get_voxels()),
    )


def with_pyvista(pitch):
    import pyvista

    return (
        "a dense solid",
        pyvista.read,
        lambda mesh: mesh.voxelize_binary_mask(spacing=pitch),
        lambda image: int(np.count_nonzero(image["mask"])),
    )


def with_point_cloud_utils(pitch):
    import point_cloud_utils

    voxelize = point_cloud_utils.voxelize_triangle_mesh
    return (
        "a part of the touched voxels",
        point_cloud_utils.load_mesh_vf,
        lambda mesh: voxelize(mesh[0].astype("f8"), mesh[1].astype("i4"), pitch, mesh[0].min(0).astype("f8")),
        len,
    )


def with_trivox(resolution, **options):
    vox = trivox.Voxelizer(resolution, backend="cpu", color=False, **options)
    return trivox.read_mesh, vox, len


def voxels_of_vox(path):
    """The number of voxels in the models of a .vox file."""
    data, at, voxels = path.read_bytes(), 20, 0
    while at < len(data):
        name, content, _ = struct.unpack_from("<4sII", data, at)
        voxels += struct.unpack_from("<I", data, at + 12)[0] if name == b"XYZI" else 0
        at += 12 + content
    return voxels


def time_program(name, glb, resolution):
    """The time of a process, and the number of voxels."""
    with tempfile.TemporaryDirectory() as folder:
        vox = pathlib.Path(folder, "out.vox")
        places = {"glb": glb, "vox": vox, "res": resolution}
        command = [name, *(argument.format(**places) for argument in PROGRAMS[name][1])]
        whole, _ = best_ms(lambda: subprocess.run(command, check=True, capture_output=True))
        return whole, voxels_of_vox(vox)


def as_glb(mesh, folder):
    import trimesh

    path = pathlib.Path(folder, "mesh.glb")
    trimesh.Trimesh(mesh.vertices, mesh.faces, process=False).export(path)
    return path


def overhead_ms(vox, mesh):
    """A call from Python, and what of it is above the library's own steps; the least of runs."""
    whole, above = [], []
    for _ in range(101):
        began = time.perf_counter()
        grid = vox(mesh)
        whole.append((time.perf_counter() - began) * 1e3)
        above.append(whole[-1] - sum(grid.report["timings_ms"].values()))
    return min(whole), min(above)


def main(path, resolution, packages, chart_path):
    mesh = trivox.read_mesh(path)
    pitch = float((mesh.vertices.max(0) - mesh.vertices.min(0)).max() / resolution)
    rows = [
        ("trivox", "all voxels that the surface touches", *with_trivox(resolution)),
        ("trivox, thin", "a 6-separating surface", *with_trivox(resolution, mode="thin")),
        ("trivox, solid", "all voxels whose centre is inside", *with_trivox(resolution, mode="solid")),
        *((name, *globals()[f"with_{name}"](pitch)) for name in packages),
    ]
    title = f"{pathlib.Path(path).name}, {len(mesh.faces):,} triangles, {resolution} voxels along the longest axis"
    print(f"{title}\n")
    print("| package | computes | step, ms | whole, ms | voxels |\n|---|---|--:|--:|--:|")
    bars = []
    for name, what, load, voxelize, count in rows:
        theirs = load(path)
        step, voxels = best_ms(lambda: voxelize(theirs))
        whole, _ = best_ms(lambda: voxelize(load(path)))
        print(f"| {name} | {what} | {step:,.1f} | {whole:,.1f} | {count(voxels):,} |", flush=True)
        bars.append((name, what, step, whole))
    with tempfile.TemporaryDirectory() as folder:
        for name in filter(shutil.which, PROGRAMS if importlib.util.find_spec("trimesh") else ()):
            whole, voxels = time_program(name, as_glb(mesh, folder), resolution)
            what = PROGRAMS[name][0]
            print(f"| {name}, program | {what} | | {whole:,.1f} | {voxels:,} |", flush=True)
            bars.append((f"{name}, program", what, None, whole))
    if chart_path:
        pathlib.Path(chart_path).write_text(chart.draw(title, bars))
    vox = with_trivox(resolution)[1]
    grid = vox(mesh)
    whole, above = overhead_ms(vox, mesh)
    took, coords = best_ms(grid.coords, 51)
    made, _ = best_ms(lambda: trivox.Mesh(mesh.vertices, mesh.faces), 51)
    print(f"\nA call takes {whole:.2f} ms, {above:.2f} ms of it above the library's steps")
    print(f"coords() of {len(coords):,} voxels takes {took:.2f} ms; Mesh(vertices, faces) {made:.2f} ms")
    versions = [f"{name} {importlib.metadata.version(name)}" for name in ("trivox", "numpy", *packages)]
    print(", ".join(versions))


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("mesh")
    arguments.add_argument("resolution", type=int)
    arguments.add_argument("packages", nargs="*", default=PACKAGES)
    arguments.add_argument("--chart")
    given = arguments.parse_intermixed_args()
    installed = [name for name in given.packages if importlib.util.find_spec(name)]
    main(given.mesh, given.resolution, installed, given.chart)
