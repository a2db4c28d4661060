"""Times trivox for Python beside other packages that voxelize meshes, on one mesh and machine.

Usage: python bench.py MESH RESOLUTION [PACKAGE...]
Each line says what is computed: the packages do not compute the same. Packages that are not installed are
left out. Build the wheel with --release.
"""

import statistics
import sys
import time

import numpy as np

import trivox

SECONDS = 20.0


def median_ms(call, runs=9):
    """Median of up to `runs` calls, or of as many as fit in some seconds; and the last result."""
    times, result = [], None
    while len(times) < runs and sum(times) < SECONDS:
        began = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1e3, result


def line(what, ms, voxels):
    print(f"| {what} | {ms:,.1f} | {voxels:,} |", flush=True)


def overhead(vox, mesh):
    """Part of a call from Python that is not in the library's steps, in percent; median of runs."""
    parts = []
    for _ in range(15):
        began = time.perf_counter()
        grid = vox(mesh)
        whole = (time.perf_counter() - began) * 1e3
        inside = sum(grid.report["timings_ms"].values())
        parts.append((whole - inside) / inside * 100)
    return statistics.median(parts)


def main(path, resolution, packages):
    mesh = trivox.read_mesh(path)
    vertices, faces = mesh.vertices, mesh.faces
    extent = (vertices.max(0) - vertices.min(0)).max()
    pitch = extent / resolution
    print(f"{path}: {len(faces):,} triangles, {resolution} voxels along the longest axis\n")
    print("| what | ms | voxels |\n|---|--:|--:|")
    vox = trivox.Voxelizer(resolution, backend="cpu", color=False)
    ms, grid = median_ms(lambda: vox(mesh))
    line("trivox: all voxels that the surface touches", ms, len(grid))
    thin = trivox.Voxelizer(resolution, backend="cpu", color=False, mode="thin")
    ms, found = median_ms(lambda: thin(mesh))
    line("trivox, thin: a 6-separating surface", ms, len(found))
    solid = trivox.Voxelizer(resolution, backend="cpu", color=False, mode="solid")
    ms, found = median_ms(lambda: solid(mesh))
    line("trivox, solid: all voxels whose centre is inside", ms, len(found))
    ms, found = median_ms(lambda: trivox.Mesh(vertices, faces))
    line("trivox: Mesh(vertices, faces)", ms, len(found.faces))
    ms, found = median_ms(grid.coords)
    line("trivox: coords()", ms, len(found))
    if "trimesh" in packages:
        import trimesh

        theirs = trimesh.Trimesh(vertices, faces, process=False)
        ms, found = median_ms(lambda: theirs.voxelized(pitch))
        line("trimesh, voxelized: cells of the points of a subdivided surface", ms, found.filled_count)
    if "open3d" in packages:
        import open3d

        theirs = open3d.geometry.TriangleMesh(
            open3d.utility.Vector3dVector(vertices), open3d.utility.Vector3iVector(faces.astype("i4"))
        )
        create = open3d.geometry.VoxelGrid.create_from_triangle_mesh
        ms, found = median_ms(lambda: create(theirs, pitch))
        line("Open3D, create_from_triangle_mesh: touched voxels, in floating point", ms, len(found.get_voxels()))
    if "pyvista" in packages:
        import pyvista

        theirs = pyvista.PolyData.from_regular_faces(vertices, faces)
        ms, found = median_ms(lambda: theirs.voxelize_binary_mask(spacing=pitch))
        line("PyVista, voxelize_binary_mask: a dense solid", ms, int(np.count_nonzero(found["mask"])))
    if "point_cloud_utils" in packages:
        import point_cloud_utils

        call = point_cloud_utils.voxelize_triangle_mesh
        ms, found = median_ms(lambda: call(vertices, faces.astype("i4"), pitch, vertices.min(0)))
        line("point-cloud-utils, voxelize_triangle_mesh: voxels of sampled points", ms, len(found))
    print(f"\nOverhead of a call over the library's steps: {overhead(vox, mesh):.1f} %")
    for name in packages:
        if name in sys.modules:
            print(name, getattr(sys.modules[name], "__version__", ""))


if __name__ == "__main__":
    import importlib.util

    known = ["trimesh", "open3d", "pyvista", "point_cloud_utils"]
    wanted = sys.argv[3:] or known
    main(sys.argv[1], int(sys.argv[2]), [n for n in wanted if importlib.util.find_spec(n)])
