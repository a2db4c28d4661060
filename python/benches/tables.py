"""What trivox takes beside other packages, in three tables: voxels, signed distances, Zarr.

Usage: python tables.py [--sizes 64,128,256] MESH...
Meshes are in memory, and each time is CPU time of the process, the least of some runs: it depends less on what
else the machine does. Packages that are not installed are left out:
`pip install open3d pyvista trimesh point-cloud-utils mesh2sdf 'zarr>=3'`. Build the wheel with --release.
"""

import argparse
import importlib.metadata
import importlib.util
import pathlib
import tempfile
import time
import warnings
from functools import partial

import numpy as np
import packages

import trivox

SECONDS = 4.0
WIDTH = 3


def cpu_seconds(call, runs=5):
    """The CPU time of the fastest of up to `runs` calls, or of as many as fit in some seconds; and the last result."""
    times, result = [], None
    while len(times) < runs and sum(times) < SECONDS:
        began = time.process_time()
        result = call()
        times.append(time.process_time() - began)
    return min(times), result


def is_installed(name):
    return importlib.util.find_spec(name) is not None


def print_head(title, columns):
    print(f"\n{title}\n\n| {' | '.join(columns)} |\n|---|{'--:|' * (len(columns) - 1)}", flush=True)


def mesh_of_trimesh(vertices, faces):
    import trimesh

    return trimesh.Trimesh(vertices, faces, process=False)


def mesh_of_open3d(vertices, faces):
    import open3d

    triangles = open3d.utility.Vector3iVector(faces)
    return open3d.geometry.TriangleMesh(open3d.utility.Vector3dVector(vertices), triangles)


def mesh_of_pyvista(vertices, faces):
    import pyvista

    return pyvista.PolyData.from_regular_faces(vertices, faces)


def mesh_of_point_cloud_utils(vertices, faces):
    return vertices, faces


def voxels(paths, sizes):
    """Meshes per CPU second, at several numbers of voxels along the longest axis."""
    print_head(f"Meshes per CPU second, of {len(paths)}, by voxels along the longest axis", ["package", *map(str, sizes)])
    meshes = [trivox.read_mesh(path) for path in paths]

    def print_row(name, seconds):
        rates = (len(paths) / sum(seconds(size, mesh) for mesh in meshes) for size in sizes)
        print(f"| {name} | {' | '.join(f'{rate:,.2f}' for rate in rates)} |", flush=True)

    def of_trivox(options, size, mesh):
        vox = packages.with_trivox(size, **options)[1]
        return cpu_seconds(lambda: vox(mesh))[0]

    def of_package(name, size, mesh):
        pitch = float(np.ptp(mesh.bounds, axis=0).max() / size)
        voxelize = getattr(packages, f"with_{name}")(pitch)[2]
        theirs = globals()[f"mesh_of_{name}"](mesh.vertices, mesh.faces)
        return cpu_seconds(lambda: voxelize(theirs))[0]

    print_row("trivox", partial(of_trivox, {}))
    print_row("trivox, solid", partial(of_trivox, {"mode": "solid"}))
    for name in filter(is_installed, packages.PACKAGES):
        print_row(name, partial(of_package, name))


def with_open3d_scene(vertices, faces, points):
    import open3d

    scene = open3d.t.geometry.RaycastingScene()
    tensor = open3d.core.Tensor
    scene.add_triangles(tensor(vertices.astype("f4")), tensor(faces.astype("u4")))
    return scene.compute_signed_distance(tensor(points.astype("f4"))).numpy()


def with_mesh2sdf(vertices, faces, points):
    import mesh2sdf

    return mesh2sdf.compute(vertices, faces, size=round(len(points) ** (1 / 3))).ravel()


def with_proximity(vertices, faces, points):
    return trivox.Proximity(vertices, faces).distances(points)


def distances(path, sizes):
    """Signed distances at all points of a lattice, and in the band of the voxels."""
    mesh = trivox.read_mesh(path)
    low, high = mesh.bounds
    # The box that mesh2sdf takes.
    vertices = (mesh.vertices - (low + high) / 2) * 1.8 / (high - low).max()
    makers = {"trivox, Proximity": with_proximity}
    makers |= {"Open3D": with_open3d_scene} if is_installed("open3d") else {}
    makers |= {"mesh2sdf": with_mesh2sdf} if is_installed("mesh2sdf") else {}
    for size in sizes:
        axis = np.arange(size) * 2 / size - 1
        points = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
        title = f"Signed distances at {size}^3 points around {path.name}, {len(mesh.faces):,} triangles"
        print_head(title, ["package", "CPU seconds", "largest error, lattice steps", "other signs"])
        exact = None
        for name, make in makers.items():
            took, found = cpu_seconds(lambda: make(vertices, mesh.faces, points), 2)
            exact = found if exact is None else exact
            error = np.abs(np.abs(found) - np.abs(exact)).max() * size / 2
            print(f"| {name} | {took:.2f} | {error:.2g} | {np.count_nonzero((found < 0) != (exact < 0)):,} |", flush=True)
        vox = trivox.Voxelizer(voxel_size=2 / size, bounds=[[-1] * 3, [1] * 3], backend="cpu")
        normalized = trivox.Mesh(vertices, mesh.faces)
        took, field = cpu_seconds(lambda: vox.distances(normalized, width=WIDTH))
        print(f"| trivox, {len(field):,} voxels within {WIDTH} | {took:.2f} | | |", flush=True)


def stored_bytes(folder):
    return sum(path.stat().st_size for path in pathlib.Path(folder).rglob("*") if path.is_file())


def save_plainly(layers, folder):
    import zarr

    group = zarr.open_group(folder, mode="w")
    for name, layer in layers.items():
        chunks = (*[min(64, n) for n in layer.shape[:3]], *layer.shape[3:])
        group.create_array(name, shape=layer.shape, dtype=layer.dtype, chunks=chunks)[:] = layer


def load_plainly(folder):
    import zarr

    return {name: array[:] for name, array in zarr.open_group(folder, mode="r").arrays()}


def zarrs(path, sizes):
    """Grids in Zarr, beside dense arrays of the same values written by zarr itself."""
    import trivox.stores

    print_head(f"Zarr, {path.name}", ["grid", "save, CPU s", "plain", "load, CPU s", "plain", "MB", "plain"])
    for size in sizes:
        for attributes in ([], ["normal", "label"]):
            grid = trivox.Voxelizer(size, attributes=attributes, backend="cpu", color=False)(path)
            with tempfile.TemporaryDirectory() as folder:
                own, plain = f"{folder}/own.zarr", f"{folder}/plain.zarr"
                saved, _ = cpu_seconds(lambda: trivox.stores.save_zarr(grid, own))
                loaded, again = cpu_seconds(lambda: trivox.stores.load_zarr(own))
                assert again == grid
                layers = load_plainly(own)
                saved_plainly, _ = cpu_seconds(lambda: save_plainly(layers, plain))
                loaded_plainly, _ = cpu_seconds(lambda: load_plainly(plain))
                megabytes = [stored_bytes(each) / 1e6 for each in (own, plain)]
            what = ", ".join([f"{size}, {grid.occupied:,} voxels", *attributes])
            times = ' | '.join(f'{s:.3f}' for s in (saved, saved_plainly, loaded, loaded_plainly))
            print(f"| {what} | {times} | {megabytes[0]:.2f} | {megabytes[1]:.2f} |", flush=True)


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("meshes", nargs="+", type=pathlib.Path, metavar="MESH")
    arguments.add_argument("--sizes", type=lambda text: [int(size) for size in text.split(",")], default=[64, 128, 256])
    given = arguments.parse_args()
    # Holes and cut bands are no matter here.
    warnings.simplefilter("ignore", trivox.TrivoxWarning)
    voxels(given.meshes, given.sizes)
    distances(given.meshes[0], given.sizes)
    if is_installed("zarr"):
        zarrs(given.meshes[0], given.sizes)
    names = ("trivox", "numpy", *packages.PACKAGES, "mesh2sdf", "zarr")
    print("\n" + ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names if is_installed(name)))


if __name__ == "__main__":
    main()
