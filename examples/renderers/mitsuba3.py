"""Renders voxels with Mitsuba 3 (`pip install mitsuba`).

The surface of the voxels, in their colours:

    voxelize model.obj --res 128 -o voxels.ply
    python mitsuba3.py voxels.ply picture.png

A volume:

    voxelize model.obj --res 128 --mode solid --include-surface -o voxels.vol
    python mitsuba3.py voxels.vol picture.png --samples 256

The same view as in a picture of voxelize:

    voxelize render voxels.vox -o ours.png --json > camera.json
    python mitsuba3.py voxels.ply picture.png --camera camera.json
"""

import math
import struct

import mitsuba
import numpy

import view

mitsuba.set_variant("scalar_rgb")
Transform = mitsuba.ScalarTransform4f

# Optical depth of one voxel of the volume, and the opaque one for a mask.
DENSITY, MASK_DENSITY = 0.7, 18
ALBEDO = [0.98, 0.95, 0.88]
# Colour of a mesh that has none.
PLAIN = [0.73, 0.72, 0.69]


def mesh(file):
    """Returns the surface of the voxels, diffuse and with vertex colours, and its bounding box.

    Mitsuba expects triangles and linear colours; voxelize writes quads, and bytes in sRGB.
    """
    points, quads, colors = quads_of(file)
    triangles = quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
    reflectance = {"type": "rgb", "value": PLAIN}
    if colors is not None:
        reflectance = {"type": "mesh_attribute", "name": "vertex_color"}
    surface = {"type": "twosided", "inner": {"type": "diffuse", "reflectance": reflectance}}
    properties = mitsuba.Properties()
    properties["bsdf"] = mitsuba.load_dict(surface)
    shape = mitsuba.Mesh("voxels", len(points), len(triangles), props=properties)
    if colors is not None:
        shape.add_attribute("vertex_color", 3, linear(colors).astype(numpy.float32).ravel())
    parameters = mitsuba.traverse(shape)
    parameters["vertex_positions"] = points.astype(numpy.float32).ravel()
    parameters["faces"] = triangles.astype(numpy.uint32).ravel()
    parameters.update()
    return shape, points.min(axis=0), points.max(axis=0)


def quads_of(file):
    """Returns the vertices of a .ply, its quads, and the colours of the vertices or None."""
    kinds = {"float": "<f4", "double": "<f8", "uchar": "u1"}
    with open(file, "rb") as data:
        header, _, body = data.read().partition(b"end_header\n")
    lines = [line.split() for line in header.decode(errors="replace").splitlines()]
    counts = [int(line[2]) for line in lines if line[0] == "element"]
    fields = [(line[2], kinds[line[1]]) for line in lines if line[0] == "property" and line[1] in kinds]
    if ["format", "binary_little_endian", "1.0"] not in lines or len(counts) != 2 or 0 in counts:
        view.refuse(f"{file}: no quads as voxelize writes them")
    try:
        vertices = numpy.frombuffer(body, fields, counts[0])
        sides = [("sides", "u1"), ("corners", "<u4", 4)]
        faces = numpy.frombuffer(body, sides, counts[1], vertices.nbytes)
    except ValueError as error:
        view.refuse(f"{file}: {error}")
    columns = lambda *names: numpy.column_stack([vertices[name] for name in names])
    colors = columns("red", "green", "blue") if "red" in vertices.dtype.names else None
    return columns("x", "y", "z").astype(float), faces["corners"], colors


def linear(bytes_of_srgb):
    """Converts sRGB bytes to linear light."""
    value = bytes_of_srgb / 255
    return numpy.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def cloud(file, density):
    """Returns the voxels as a medium inside the box of the grid, and the corners of the box."""
    with open(file, "rb") as data:
        header = data.read(48)
    if len(header) < 48 or not header.startswith(b"VOL\x03"):
        view.refuse(f"{file}: no .vol file")
    _, _, across, _, _, _, *corners = struct.unpack("<4s5i6f", header)
    low, high = numpy.array(corners[:3]), numpy.array(corners[3:])
    voxel = (high[0] - low[0]) / across
    # `nearest` keeps voxels cubes: no interpolation between their centres.
    voxels = {"type": "gridvolume", "filename": file, "use_grid_bbox": True,
              "filter_type": "nearest", "raw": True}
    medium = {"type": "heterogeneous", "sigma_t": voxels, "scale": density / voxel,
              "albedo": {"type": "rgb", "value": ALBEDO}}
    place = Transform().translate((low + high) / 2).scale((high - low) / 2)
    box = {"type": "cube", "to_world": place, "bsdf": {"type": "null"}, "interior": medium}
    return box, low, high


def sensor(camera, low, high, samples, is_mask):
    """Returns `camera` in Mitsuba's convention: x left, y up, z forwards."""
    left, right, bottom, top = camera.screen_window
    middle = [(left + right) / 2, (bottom + top) / 2]
    eye, x, y, back = map(numpy.array, (camera.eye, camera.right, camera.up, camera.back))
    reach = numpy.linalg.norm(eye - (low + high) / 2) + numpy.linalg.norm(high - low)
    lens = {"type": "perspective", "fov_axis": "x", "fov": 2 * math.degrees(math.atan((right - left) / 2)),
            "principal_point_offset_x": middle[0] / (right - left),
            "principal_point_offset_y": -middle[1] / (top - bottom)}
    unit = 1
    if camera.projection == "orthographic":
        # Mitsuba's orthographic film is two units wide and centred.
        lens, unit = {"type": "orthographic"}, (right - left) / 2
        eye = eye + middle[0] * x + middle[1] * y
    columns = numpy.column_stack([-unit * x, unit * y, -back, eye])
    film = {"type": "hdrfilm", "width": camera.size[0], "height": camera.size[1],
            "pixel_format": "rgba", "rfilter": {"type": "box" if is_mask else "gaussian"}}
    # Without jitter the rays pass through the centres of equal parts of the pixel.
    sampler = {"type": "stratified", "sample_count": samples, "jitter": not is_mask}
    return {**lens, "to_world": Transform(numpy.vstack([columns, [0, 0, 0, 1]])), "film": film,
            "sampler": sampler, "near_clip": reach * 1e-4, "far_clip": reach * 4}


def studio(low, high, up):
    """Returns a sun, a sky and the ground below the voxels."""
    axis = {"y": 1, "z": 2}[up]
    sun, sky, far = [0.5, 0.8, 0.45], [0.34, 0.42, 0.55], numpy.linalg.norm(high - low)
    if up == "z":
        sun = [sun[0], -sun[2], sun[1]]
    foot = (low + high) / 2
    foot[axis] = low[axis] - 1e-3 * far
    ground = Transform().translate(foot).scale([40 * far] * 3)
    if up == "y":
        ground = ground.rotate([1, 0, 0], -90)
    paper = {"type": "diffuse", "reflectance": {"type": "rgb", "value": 0.6}}
    towards = [-c for c in sun]
    return {
        "sun": {"type": "directional", "direction": towards,
                "irradiance": {"type": "rgb", "value": [1.9, 1.75, 1.5]}},
        "sky": {"type": "constant", "radiance": {"type": "rgb", "value": sky}},
        "ground": {"type": "rectangle", "to_world": ground, "bsdf": paper},
    }


def main():
    args = view.arguments(__doc__.splitlines()[0], [".ply", ".vol"], 64)
    is_cloud = args.extension == ".vol"
    if is_cloud:
        voxels, low, high = cloud(args.voxels, MASK_DENSITY if args.mask else DENSITY)
    else:
        voxels, low, high = mesh(args.voxels)
    low, high = numpy.array(low, dtype=float), numpy.array(high, dtype=float)
    camera = view.camera(args, low, high)
    lights = {} if args.mask else studio(low, high, args.up)
    depth = 2 if args.mask else 24 if is_cloud else 6
    tracer = {"type": "volpathmis" if is_cloud else "path", "max_depth": depth, "hide_emitters": args.mask}
    scene = {"type": "scene", "integrator": tracer, "voxels": voxels, **lights,
             "sensor": sensor(camera, low, high, args.samples, args.mask)}
    image = mitsuba.render(mitsuba.load_dict(scene))
    pixels = mitsuba.Bitmap.PixelFormat.RGBA if args.mask else mitsuba.Bitmap.PixelFormat.RGB
    picture = mitsuba.Bitmap(image).convert(pixels, mitsuba.Struct.Type.UInt8, srgb_gamma=True)
    picture.write(args.picture)


if __name__ == "__main__":
    main()
