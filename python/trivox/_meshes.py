"""Other packages' meshes as arrays.

A part is a name and a dict of arguments of `trivox.Mesh`, which takes colours of vertices, colours of faces, or one
texture. The name, which may be empty, is that of an object of a scene; other parts have None.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._errors import MeshError

Part = tuple[str | None, dict[str, Any]]

WHITE = np.full(4, 255, np.uint8)


def mesh_parts(mesh: Any) -> tuple[list[Part], list[str]]:
    """The parts of a mesh of another package, and warnings of what was left out."""
    if isinstance(mesh, (str, os.PathLike)):
        raise TypeError("a path is no mesh: use trivox.read_mesh(path)")
    package = type(mesh).__module__.partition(".")[0]
    known = {"trimesh": _trimesh, "open3d": _open3d, "pyvista": _pyvista, "meshio": _meshio}
    notes: list[str] = []
    if package in known:
        parts = known[package](mesh, notes)
    elif hasattr(mesh, "points") and hasattr(mesh, "regular_faces"):
        parts = _pyvista(mesh, notes)
    elif hasattr(mesh, "vertices") and hasattr(mesh, "faces"):
        parts = [(None, {"vertices": mesh.vertices, "faces": mesh.faces})]
    else:
        raise TypeError(
            f"{type(mesh).__name__} is no mesh: give a path, a trivox.Mesh, a mesh of trimesh, "
            "Open3D, PyVista or meshio, or an object with vertices and faces; of two arrays trivox.Mesh(vertices, faces)"
        )
    for name in ("vertices", "faces"):
        if any(part[name] is None for _, part in parts):
            raise TypeError(f"the {name} of this {type(mesh).__name__} are None: give an array of shape (n, 3)")
    if len(parts) > 1:
        named = [(name or str(number), part) for number, (name, part) in enumerate(parts)]
        notes += [f"part '{name}' has no triangles: it was left out" for name, part in named if not len(part["faces"])]
        parts = [part for part in parts if len(part[1]["faces"])]
    if not parts:
        raise MeshError(f"this {type(mesh).__name__} has no triangles", "mesh.no_triangles")
    given = [(name, {key: value for key, value in part.items() if value is not None}) for name, part in parts]
    return given, list(dict.fromkeys(notes))


def _trimesh(mesh: Any, notes: list[str]) -> list[Part]:
    if hasattr(mesh, "geometry"):
        return list(_of_trimesh_scene(mesh, notes))
    mesh = mesh.to_mesh() if hasattr(mesh, "to_mesh") else mesh
    return [(None, _of_trimesh(mesh, notes))] if hasattr(mesh, "faces") else []


def _of_trimesh_scene(scene: Any, notes: list[str]) -> Iterator[Part]:
    # Not Scene.dump: it copies, for which face colours need SciPy.
    from trimesh.transformations import transform_points

    for node in scene.graph.nodes_geometry:
        matrix, name = scene.graph[node]
        mesh = scene.geometry[name]
        if not hasattr(mesh, "faces"):
            notes.append(f"part '{node}' has no triangles: it was left out")
            continue
        part = _of_trimesh(mesh, notes)
        if not np.allclose(matrix, np.eye(4), atol=1e-8):
            part["vertices"] = transform_points(part["vertices"], matrix)
            if np.linalg.det(matrix[:3, :3]) < 0:
                part["faces"] = np.fliplr(part["faces"])
        yield node, part


def _of_trimesh(mesh: Any, notes: list[str]) -> dict[str, Any]:
    part = {"vertices": mesh.vertices, "faces": mesh.faces}
    visual = mesh.visual
    if visual.kind == "vertex":
        return part | {"vertex_colors": visual.vertex_colors}
    if visual.kind == "face":
        return part | {"face_colors": visual.face_colors}
    if visual.kind != "texture":
        return part
    material = visual.material
    if hasattr(material, "materials"):
        notes.append("the colours of a trimesh mesh with several materials were left out: give its scene, or the file")
        return part
    if "color" in getattr(visual, "vertex_attributes", {}):
        notes.append("the vertex colours of a trimesh mesh with a material were left out")
    if hasattr(material, "baseColorFactor"):
        image, factor = material.baseColorTexture, material.baseColorFactor
        factor = np.ones(4) if factor is None else np.asarray(factor) / 255
        alpha, cutoff = material.alphaMode or "OPAQUE", material.alphaCutoff
    else:
        image = getattr(material, "image", None)
        color = np.asarray(material.main_color) / 255
        # A grey colour beside an image is an exporter's default: see the reader of OBJ.
        is_factor = image is None or len(set(color[:3])) > 1
        factor = np.append(_linear(color[:3]) if is_factor else np.ones(3), color[3])
        alpha, cutoff = "BLEND", None
    if image is not None and visual.uv is not None:
        texels = np.asarray(image.convert("RGBA"))
        return part | {"uv": visual.uv, "texture": _colored(texels, factor, alpha, cutoff)}
    return part | _flat(mesh.faces, factor, alpha, cutoff)


def _open3d(mesh: Any, notes: list[str]) -> list[Part]:
    if hasattr(mesh, "meshes") and hasattr(mesh, "materials"):
        materials = dict(enumerate(mesh.materials))
        return [(info.mesh_name, _of_open3d_model(info.mesh, materials.get(info.material_idx))) for info in mesh.meshes]
    if hasattr(mesh, "triangle") and hasattr(mesh, "vertex"):
        return [(None, _of_open3d_tensors(mesh, notes))]
    if not hasattr(mesh, "triangles"):
        raise TypeError(f"an Open3D {type(mesh).__name__} has no triangles")
    part = {"vertices": np.asarray(mesh.vertices), "faces": np.asarray(mesh.triangles)}
    if not ((0 <= part["faces"]) & (part["faces"] < len(part["vertices"]))).all():
        # `Mesh` names the fault.
        return [(None, part)]
    if mesh.has_textures() and mesh.has_triangle_uvs():
        # Here v points down, other than in tensor meshes and models.
        uv = np.asarray(mesh.triangle_uvs).reshape(-1, 3, 2) * [1, -1] + [0, 1]
        ids = np.asarray(mesh.triangle_material_ids)
        ids = ids if len(ids) == len(uv) else np.zeros(len(uv), int)
        images = [None if image.is_empty() else _texels(np.asarray(image)) for image in mesh.textures]
        if any(image is None for image in images[: ids.max(initial=0) + 1]) or ids.max(initial=0) >= len(images):
            notes.append("an Open3D mesh has triangles of a material without an image: they are white")
        if mesh.has_vertex_colors():
            notes.append("the vertex colours of an Open3D mesh with textures were left out")
        parts = []
        for index in np.unique(ids):
            rows = ids == index
            used, faces = np.unique(part["faces"][rows], return_inverse=True)
            some = {"vertices": part["vertices"][used], "faces": faces.reshape(-1, 3)}
            image = images[index] if 0 <= index < len(images) else None
            parts.append((None, some if image is None else some | {"uv": uv[rows], "texture": image}))
        return parts
    if mesh.has_textures() or mesh.has_triangle_uvs():
        notes.append("an Open3D mesh has a texture or texture coordinates, but not both: they were left out")
    if mesh.has_vertex_colors():
        part["vertex_colors"] = np.asarray(mesh.vertex_colors)
    return [(None, part)]


def _of_open3d_tensors(mesh: Any, notes: list[str]) -> dict[str, Any]:
    if "positions" not in mesh.vertex or "indices" not in mesh.triangle:
        return {"vertices": np.zeros((0, 3)), "faces": np.zeros((0, 3), int)}
    part = {"vertices": mesh.vertex.positions.numpy(), "faces": mesh.triangle.indices.numpy()}
    material = mesh.material
    is_given = mesh.has_valid_material()
    factor = np.ones(4)
    if is_given and "base_color" in material.vector_properties:
        factor = np.asarray(material.vector_properties["base_color"], float)
    if is_given and "albedo" in material.texture_maps and "texture_uvs" in mesh.triangle:
        if "colors" in mesh.vertex:
            notes.append("the vertex colours of an Open3D mesh with a texture were left out")
        texels = _texels(material.texture_maps["albedo"].as_tensor().numpy())
        alpha = "BLEND" if "Transparency" in material.material_name else "OPAQUE"
        return part | {"uv": mesh.triangle.texture_uvs.numpy(), "texture": _colored(texels, factor, alpha)}
    if "texture_uvs" in mesh.triangle or (is_given and "albedo" in material.texture_maps):
        notes.append("an Open3D mesh has a texture or texture coordinates, but not both: they were left out")
    if "colors" in mesh.vertex:
        if not np.all(factor == 1):
            notes.append("the base colour of an Open3D mesh with vertex colours was left out")
        return part | {"vertex_colors": mesh.vertex.colors.numpy()}
    if "colors" in mesh.triangle:
        return part | {"face_colors": mesh.triangle.colors.numpy()}
    if not np.all(factor == 1):
        return part | _flat(part["faces"], factor)
    return part


def _of_open3d_model(mesh: Any, material: Any) -> dict[str, Any]:
    part = {"vertices": np.asarray(mesh.vertices), "faces": np.asarray(mesh.triangles)}
    if material is None:
        return part
    factor = np.asarray(material.base_color, float)
    alpha = "BLEND" if "Transparency" in material.shader else "OPAQUE"
    image = material.albedo_img
    if image is not None and not image.is_empty() and mesh.has_triangle_uvs():
        uv = np.asarray(mesh.triangle_uvs).reshape(-1, 3, 2)
        return part | {"uv": uv, "texture": _colored(_texels(np.asarray(image)), factor, alpha)}
    if mesh.has_vertex_colors():
        return part | {"vertex_colors": np.asarray(mesh.vertex_colors)}
    return part | _flat(part["faces"], factor, alpha)


def _pyvista(mesh: Any, notes: list[str]) -> list[Part]:
    def leaves(data: Any, name: str | None) -> Iterator[Part]:
        if hasattr(data, "n_blocks"):
            for index, block in enumerate(data):
                if block is not None:
                    yield from leaves(block, data.get_block_name(index) or "")
        else:
            yield name, _of_pyvista(data, notes)

    return list(leaves(mesh, None))


def _of_pyvista(mesh: Any, notes: list[str]) -> dict[str, Any]:
    if not hasattr(mesh, "is_all_triangles"):
        mesh = mesh.extract_surface()
    if not mesh.is_all_triangles:
        mesh = mesh.triangulate()
    part = {"vertices": mesh.points, "faces": mesh.regular_faces}
    for name in ("RGBA", "RGB", "COLOR_0"):
        if name in mesh.point_data:
            return part | {"vertex_colors": np.asarray(mesh.point_data[name])}
    for name in ("RGBA", "RGB"):
        if name in mesh.cell_data:
            return part | {"face_colors": np.asarray(mesh.cell_data[name])}
    # Those of a material of glTF.
    data = mesh.field_data
    has_texture = mesh.active_texture_coordinates is not None
    if "BaseColorTextureIndex" in data:
        has_texture = int(np.ravel(data["BaseColorTextureIndex"])[0]) >= 0
    if has_texture:
        notes.append(
            "PyVista keeps no texture with a mesh, so its colours were left out: give the file, or "
            "trivox.Mesh(vertices, faces, uv=..., texture=...)"
        )
    elif "BaseColorMultiplier" in data:
        factor = np.append(np.ravel(data["BaseColorMultiplier"]), 1.0)[:4]
        return part | _flat(part["faces"], factor)
    return part


def _meshio(mesh: Any, notes: list[str]) -> list[Part]:
    faces = []
    for cells in mesh.cells:
        if cells.type == "triangle":
            faces.append(cells.data)
        elif cells.type == "quad":
            faces += _halves(mesh.points, cells.data)
        elif cells.type not in ("vertex", "line"):
            notes.append(f"{len(cells.data)} cells of type {cells.type} are no triangles: left out")
    points = mesh.points
    if points.shape[1] == 2:
        points = np.column_stack([points, np.zeros(len(points))])
    arrays = {"vertices": points, "faces": np.concatenate(faces) if faces else np.zeros((0, 3), int)}
    channels = [mesh.point_data[name] for name in ("red", "green", "blue") if name in mesh.point_data]
    if len(channels) == 3:
        colors = np.column_stack(channels)
        # meshio reads unsigned bytes of PLY as signed ones.
        arrays["vertex_colors"] = colors.view("uint8") if colors.dtype == "int8" else colors
    return [(None, arrays)]


def _halves(points: NDArray[Any], quads: NDArray[Any]) -> list[NDArray[Any]]:
    """The triangles of quads, cut along the first diagonal, or along the second where the first is outside."""
    a, b, c, d = np.moveaxis(np.asarray(points, float)[quads], 1, 0)
    width = a.shape[1]
    a, b, c, d = (np.pad(corner, [(0, 0), (0, 3 - width)]) for corner in (a, b, c, d))
    is_inside = (np.cross(b - a, c - a) * np.cross(c - a, d - a)).sum(1, keepdims=True) >= 0
    first = np.where(is_inside, quads[:, [0, 1, 2]], quads[:, [0, 1, 3]])
    return [first, np.where(is_inside, quads[:, [0, 2, 3]], quads[:, [1, 2, 3]])]


def _linear(srgb: NDArray[Any]) -> NDArray[Any]:
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def _srgb(linear: NDArray[Any]) -> NDArray[Any]:
    return np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)


def _colored(
    texels: NDArray[np.uint8], factor: NDArray[Any], mode: str, cutoff: float | None = None
) -> NDArray[np.uint8]:
    """RGBA in sRGB, multiplied by a factor in linear light, with the opacity that a mode of glTF gives it."""
    if not np.all(factor == 1):
        factor = np.clip(factor, 0, 1)
        values = np.arange(256) / 255
        tables = [_srgb(_linear(values) * f) for f in factor[:3]] + [values * factor[3]]
        table = np.rint(np.stack(tables) * 255).astype(np.uint8)
        texels = np.stack([table[channel][texels[..., channel]] for channel in range(4)], -1)
    if mode == "BLEND":
        return texels
    opaque: Any = 255
    if mode == "MASK":
        opaque = np.where(texels[..., 3] >= 255 * (0.5 if cutoff is None else cutoff), 255, 0)
    texels = texels.copy()
    texels[..., 3] = opaque
    return texels


def _texels(image: NDArray[Any]) -> NDArray[np.uint8]:
    """An image of one to four channels as RGBA."""
    image = image.reshape(*image.shape[:2], -1)
    if image.dtype != np.uint8:
        most = 1 if image.dtype.kind == "f" else np.iinfo(image.dtype).max
        image = np.rint(np.clip(image / most, 0, 1) * 255).astype(np.uint8)
    gray, alpha = image[..., :1], image[..., -1:]
    color = image[..., :3] if image.shape[-1] > 2 else np.repeat(gray, 3, -1)
    return np.concatenate([color, alpha if image.shape[-1] in (2, 4) else np.full_like(gray, 255)], -1)


def _flat(faces: Any, factor: NDArray[Any], mode: str = "OPAQUE", cutoff: float | None = None) -> dict[str, Any]:
    """Colours of faces that all have the colour `factor`, in linear light."""
    return {"face_colors": np.tile(_colored(WHITE, factor, mode, cutoff), (len(faces), 1))}
