"""Renders voxels with Blender Cycles.

Needs `pip install bpy`, or Blender itself: blender -b -P blender.py -- voxels.ply picture.png

The surface of the voxels, in their colours:

    voxelize model.obj --res 128 -o voxels.ply
    python blender.py voxels.ply picture.png

A volume, in their colours:

    voxelize model.obj --res 128 --mode solid --include-surface -o voxels.vdb
    python blender.py voxels.vdb picture.png

The same view as in a picture of voxelize:

    voxelize render voxels.vdb -o ours.png --json > camera.json
    python blender.py voxels.ply picture.png --camera camera.json
"""

import math
import os
import sys

import bpy
from mathutils import Matrix, Vector

# Blender does not search the folder of its script for modules.
sys.path.append(os.path.dirname(os.path.abspath(__file__)))
import view

# Optical depth of one voxel of the volume.
DENSITY = 3
# Colour of voxels that have none.
PLAIN = (0.73, 0.72, 0.69, 1)


def mesh(file):
    """Reads the surface of the voxels, without rotating it to Blender's axes."""
    try:
        bpy.ops.wm.ply_import(filepath=file, forward_axis="Y", up_axis="Z", import_colors="SRGB")
    except RuntimeError as error:
        view.refuse(f"{file}: {error}")
    voxels = bpy.context.object
    voxels.data.materials.append(paint(voxels.data.color_attributes))
    return voxels


def paint(colors):
    """Returns a diffuse material with the vertex colours of the mesh."""
    material, nodes, links = empty_material("paint")
    surface = nodes.new("ShaderNodeBsdfDiffuse")
    surface.inputs["Color"].default_value = PLAIN
    if colors:
        color = nodes.new("ShaderNodeVertexColor")
        color.layer_name = colors[0].name
        links.new(color.outputs["Color"], surface.inputs["Color"])
    links.new(surface.outputs["BSDF"], nodes["out"].inputs["Surface"])
    return material


def volume(file):
    """Reads the voxels as a volume, with the colours of the grid `Cd` if there is one."""
    data = bpy.data.volumes.new("voxels")
    data.filepath = os.path.abspath(file)
    data.grids.load()
    names = [grid.name for grid in data.grids]
    if "density" not in names:
        view.refuse(f"{file}: no grid named density: {data.grids.error_message or names}")
    voxel = data.grids["density"].matrix_object.to_scale()[0]
    data.materials.append(fog(DENSITY / voxel, "Cd" in names))
    voxels = bpy.data.objects.new("voxels", data)
    bpy.context.scene.collection.objects.link(voxels)
    return voxels


def fog(density, has_colors):
    material, nodes, links = empty_material("fog")
    inside = nodes.new("ShaderNodeVolumePrincipled")
    inside.inputs["Density"].default_value = density
    inside.inputs["Color"].default_value = PLAIN
    if has_colors:
        color = nodes.new("ShaderNodeAttribute")
        color.attribute_name = "Cd"
        # Multiple scattering applies the albedo many times: raise it, to keep the colour.
        of_one = nodes.new("ShaderNodeGamma")
        of_one.inputs["Gamma"].default_value = 0.4
        links.new(color.outputs["Color"], of_one.inputs["Color"])
        links.new(of_one.outputs["Color"], inside.inputs["Color"])
    links.new(inside.outputs["Volume"], nodes["out"].inputs["Volume"])
    return material


def empty_material(name):
    material = bpy.data.materials.new(name)
    nodes, links = nodes_of(material)
    nodes.new("ShaderNodeOutputMaterial").name = "out"
    return material, nodes, links


def nodes_of(owner):
    """Returns the emptied node tree of a material or a world: its nodes and links."""
    if not owner.node_tree:
        owner.use_nodes = True  # Needed before Blender 5.
    owner.node_tree.nodes.clear()
    return owner.node_tree.nodes, owner.node_tree.links


def box_about(thing):
    """Returns the corners of the bounding box in the coordinates of the file."""
    bpy.context.view_layer.update()
    corners = [list(corner) for corner in thing.bound_box]
    return list(map(min, *corners)), list(map(max, *corners))


def look(camera, low, high, upright):
    """Adds `camera` in Blender's convention: x right, y up, z backwards."""
    left, right, bottom, top = camera.screen_window
    data = bpy.data.cameras.new("camera")
    data.sensor_fit = "HORIZONTAL"
    data.shift_x = (left + right) / 2 / (right - left)
    data.shift_y = (bottom + top) / 2 / (right - left)
    if camera.projection == "orthographic":
        data.type, data.ortho_scale = "ORTHO", right - left
    else:
        data.lens = data.sensor_width / (right - left)
    columns = [Vector(column) for column in (camera.right, camera.up, camera.back, camera.eye)]
    low, high = Vector(low), Vector(high)
    reach = (columns[3] - (low + high) / 2).length + (high - low).length
    data.clip_start, data.clip_end = reach * 1e-4, reach * 1e3
    viewer = bpy.data.objects.new("camera", data)
    viewer.matrix_world = upright @ Matrix([*zip(*columns), (0, 0, 0, 1)])
    scene = bpy.context.scene
    scene.collection.objects.link(viewer)
    scene.camera = viewer
    scene.render.resolution_x, scene.render.resolution_y = camera.size


def studio(low, high):
    """Adds a sun, a sky and the ground below the voxels; z is up."""
    scene = bpy.context.scene
    sun = bpy.data.lights.new("sun", "SUN")
    sun.energy, sun.angle, sun.color = 2.6, math.radians(2), (1, 0.93, 0.8)
    lamp = bpy.data.objects.new("sun", sun)
    lamp.rotation_euler = Vector((0.5, -0.45, 0.8)).to_track_quat("Z", "Y").to_euler()
    scene.collection.objects.link(lamp)
    scene.world = bpy.data.worlds.new("sky")
    nodes, links = nodes_of(scene.world)
    sky = nodes.new("ShaderNodeBackground")
    sky.inputs["Color"].default_value = (0.34, 0.42, 0.55, 1)
    links.new(sky.outputs["Background"], nodes.new("ShaderNodeOutputWorld").inputs["Surface"])
    size = (high - low).length
    middle = (low + high) / 2
    bpy.ops.mesh.primitive_plane_add(size=80 * size, location=(middle.x, middle.y, low.z - 1e-3 * size))
    material, nodes, links = empty_material("paper")
    paper = nodes.new("ShaderNodeBsdfDiffuse")
    paper.inputs["Color"].default_value = (0.6, 0.6, 0.6, 1)
    links.new(paper.outputs["BSDF"], nodes["out"].inputs["Surface"])
    bpy.context.object.data.materials.append(material)


def draw(picture, samples, is_mask):
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    cycles = scene.cycles
    cycles.device, cycles.samples, cycles.use_denoising = "CPU", samples, not is_mask
    cycles.max_bounces, cycles.volume_bounces = 16, 16
    # sRGB as it is, without the filmic tone curve.
    scene.view_settings.view_transform = "Standard"
    if is_mask:
        # A narrow filter: practically all rays pass through the centre of the pixel.
        cycles.pixel_filter_type, cycles.filter_width, cycles.max_bounces = "BLACKMAN_HARRIS", 0.01, 0
        scene.render.film_transparent = True
    scene.render.image_settings.file_format = "PNG"
    scene.render.image_settings.color_mode = "RGBA" if is_mask else "RGB"
    scene.render.filepath = os.path.abspath(picture)
    bpy.ops.render.render(write_still=True)


def main():
    readers = {".ply": mesh, ".vdb": volume}
    args = view.arguments(__doc__.splitlines()[0], list(readers), 64)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    voxels = readers[args.extension](os.path.abspath(args.voxels))
    # Blender has its z axis up.
    upright = Matrix.Rotation(math.pi / 2, 4, "X") if args.up == "y" else Matrix.Identity(4)
    voxels.matrix_world = upright
    low, high = box_about(voxels)
    look(view.camera(args, low, high), low, high, upright)
    if not args.mask:
        corners = [upright @ Vector(corner) for corner in (low, high)]
        low, high = (Vector(map(side, *corners)) for side in (min, max))
        studio(low, high)
    draw(args.picture, args.samples, args.mask)


if __name__ == "__main__":
    main()
