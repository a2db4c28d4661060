"""Other packages' meshes as arrays; warnings and logs."""

from __future__ import annotations

import base64
import html
import json
import logging
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._errors import MeshError, TrivoxWarning

log = logging.getLogger("trivox")
log.addHandler(logging.NullHandler())


def warn(sentences: list[str]) -> None:
    # Functions of the extension have no frame: level 2 is the line that called one.
    for sentence in sentences:
        warnings.warn(sentence, TrivoxWarning, stacklevel=2)


def log_done(name: str, report_json: str) -> None:
    if log.isEnabledFor(logging.DEBUG):
        report = json.loads(report_json)
        times = ", ".join(f"{step} {ms:.1f} ms" for step, ms in report["timings_ms"].items())
        log.debug("%s: %d voxels on %s (%s)", name, report["occupied"], report["backend"], times)


def log_failed(key: object, error: BaseException) -> None:
    log.warning("%s: %s: %s", key, type(error).__name__, error)


def mesh_arrays(mesh: Any) -> dict[str, Any]:
    """The arguments of :class:`trivox.Mesh` for a mesh of another package."""
    if isinstance(mesh, (str, os.PathLike)):
        raise TypeError("a path is no mesh: use trivox.read_mesh(path)")
    package = type(mesh).__module__.partition(".")[0]
    known = {"trimesh": _trimesh, "open3d": _open3d, "pyvista": _pyvista, "meshio": _meshio}
    if package in known:
        arrays = known[package](mesh)
    elif hasattr(mesh, "points") and hasattr(mesh, "regular_faces"):
        arrays = _pyvista(mesh)
    elif hasattr(mesh, "vertices") and hasattr(mesh, "faces"):
        arrays = {"vertices": mesh.vertices, "faces": mesh.faces}
    else:
        raise TypeError(
            f"{type(mesh).__name__} is no mesh: give a path, a trivox.Mesh, a mesh of trimesh, "
            "Open3D, PyVista or meshio, or an object with vertices and faces"
        )
    for name in ("vertices", "faces"):
        if arrays[name] is None:
            raise TypeError(f"the {name} of this {type(mesh).__name__} are None: give an array of shape (n, 3)")
    return {name: value for name, value in arrays.items() if value is not None}


def _trimesh(mesh: Any) -> dict[str, Any]:
    if hasattr(mesh, "to_mesh"):
        mesh = mesh.to_mesh()
    elif hasattr(mesh, "geometry"):
        mesh = mesh.dump(concatenate=True)
    if not hasattr(mesh, "faces"):
        raise MeshError(f"a trimesh {type(mesh).__name__} has no triangles", "mesh.no_triangles")
    arrays = {"vertices": mesh.vertices, "faces": mesh.faces}
    visual = mesh.visual
    if visual.kind == "vertex":
        arrays["vertex_colors"] = visual.vertex_colors
    elif visual.kind == "face":
        arrays["face_colors"] = visual.face_colors
    elif visual.kind == "texture" and visual.uv is not None:
        material = visual.material
        image = getattr(material, "baseColorTexture", None) or getattr(material, "image", None)
        if image is not None:
            mode = "RGBA" if "A" in image.getbands() or "transparency" in image.info else "RGB"
            arrays |= {"uv": visual.uv, "texture": np.asarray(image.convert(mode))}
        else:
            color = np.asarray(material.main_color, np.uint8)
            arrays["face_colors"] = np.tile(color, (len(mesh.faces), 1))
    return arrays


def _open3d(mesh: Any) -> dict[str, Any]:
    if hasattr(mesh, "triangle") and hasattr(mesh, "vertex"):
        arrays = {
            "vertices": mesh.vertex.positions.numpy(),
            "faces": mesh.triangle.indices.numpy(),
        }
        if "colors" in mesh.vertex:
            arrays["vertex_colors"] = mesh.vertex.colors.numpy()
        return arrays
    if not hasattr(mesh, "triangles"):
        raise TypeError(f"an Open3D {type(mesh).__name__} has no triangles")
    arrays = {"vertices": np.asarray(mesh.vertices), "faces": np.asarray(mesh.triangles)}
    if mesh.has_textures() and mesh.has_triangle_uvs():
        images = [np.asarray(image) for image in mesh.textures if not image.is_empty()]
        if len(images) == 1 and images[0].ndim == 3:
            uv = np.asarray(mesh.triangle_uvs).reshape(-1, 3, 2)
            # Open3D has v pointing down.
            return arrays | {"uv": uv * [1, -1] + [0, 1], "texture": images[0]}
    if mesh.has_vertex_colors():
        arrays["vertex_colors"] = np.asarray(mesh.vertex_colors)
    return arrays


def _pyvista(mesh: Any) -> dict[str, Any]:
    if not hasattr(mesh, "is_all_triangles"):
        mesh = mesh.extract_surface()
    if not mesh.is_all_triangles:
        mesh = mesh.triangulate()
    colors = None
    for name in ("RGBA", "RGB"):
        if name in mesh.point_data:
            colors = np.asarray(mesh.point_data[name])
    return {"vertices": mesh.points, "faces": mesh.regular_faces, "vertex_colors": colors}


def _meshio(mesh: Any) -> dict[str, Any]:
    faces = []
    for cells in mesh.cells:
        if cells.type == "triangle":
            faces.append(cells.data)
        elif cells.type == "quad":
            faces += [cells.data[:, [0, 1, 2]], cells.data[:, [0, 2, 3]]]
        elif cells.type not in ("vertex", "line"):
            warn([f"{len(cells.data)} cells of type {cells.type} are no triangles: left out"])
    points = mesh.points
    if points.shape[1] == 2:
        points = np.column_stack([points, np.zeros(len(points))])
    arrays = {"vertices": points, "faces": np.concatenate(faces) if faces else np.zeros((0, 3), int)}
    channels = [mesh.point_data[name] for name in ("red", "green", "blue") if name in mesh.point_data]
    if len(channels) == 3:
        colors = np.column_stack(channels)
        # meshio reads unsigned bytes of PLY as signed ones.
        arrays["vertex_colors"] = colors.view("uint8") if colors.dtype == "int8" else colors
    return arrays


def page(text: str, png: bytes) -> str:
    image = base64.b64encode(png).decode()
    return f'<img src="data:image/png;base64,{image}" width="320"/><br/>{html.escape(text)}'


@dataclass(frozen=True)
class Difference:
    """How two grids, A and B, differ; truthy if they do.

    Attributes
    ----------
    equal : bool
        The same dimensions and the same voxels.
    dims : tuple of two lists of 3 int
        Voxels along each axis of A and of B.
    both, only_a, only_b : int
        Voxels that are in both, only in A, only in B.
    iou : float
        Intersection over union.
    other_colors : int or None
        Voxels in both with different colours; None where the colours of either are not known.
    bounds : list or None
        Smallest and largest differing voxel per axis.
    first : list of ((x, y, z), "a" or "b")
        The first differing voxels, and the grid that has each.
    """

    equal: bool
    dims: tuple[list[int], list[int]]
    both: int
    only_a: int
    only_b: int
    iou: float
    other_colors: int | None
    bounds: list[list[int]] | None
    first: list[tuple[tuple[int, int, int], str]]

    def __bool__(self) -> bool:
        return not self.equal


@dataclass(frozen=True)
class Verdict:
    """What is right and wrong in a grid, by the exact voxels of its mesh; truthy if all is right.

    Attributes
    ----------
    exact : trivox.Grid
        The exact grid, as the mesh was placed.
    source : str
        What says how the mesh lies, in the words of the program: "options", "file", "file bounds",
        "fit" (its longest axis fills the grid) or "centre" (it fills the grid from its centre).
    alignment : str
        How the grid lies relative to the exact one, in words.
    agreeing, missing, spurious : int
        Voxels that are rightly occupied, that should be and are not, that should not be and are.
    iou : float
        Intersection over union with the exact grid.
    bounds : list or None
        Smallest and largest wrong voxel per axis.
    first : list of ((x, y, z), "missing" or "spurious")
        The first wrong voxels.
    """

    exact: Any
    source: str
    alignment: str
    agreeing: int
    missing: int
    spurious: int
    iou: float
    bounds: list[list[int]] | None
    first: list[tuple[tuple[int, int, int], str]]

    def __bool__(self) -> bool:
        return self.missing + self.spurious == 0


@contextmanager
def progress_bar(description: str = "") -> Iterator[Callable[[str, int, int], None]]:
    """A bar of tqdm (in a terminal or a notebook) for ``Voxelizer.voxelize``.

    Raises
    ------
    ImportError
        There is no tqdm: ``pip install tqdm``.

    Examples
    --------
    >>> with trivox.progress_bar("bunny") as progress:           # doctest: +SKIP
    ...     grid = trivox.Voxelizer(1024)("bunny.obj", progress=progress)
    """
    try:
        from tqdm.auto import tqdm
    except ModuleNotFoundError as error:
        raise ImportError("progress_bar needs tqdm: pip install tqdm") from error

    with tqdm(total=0, desc=description, bar_format="{l_bar}{bar}| {postfix} {elapsed}") as bar:

        def progress(step: str, done: int, total: int) -> None:
            bar.total, bar.n = total or None, done
            bar.set_postfix_str(step, refresh=True)

        yield progress
