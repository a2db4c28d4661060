"""Arguments and camera, shared by the scripts in this folder.

All coordinates are in the axes and units of the mesh that was voxelized; so are the files.
"""

import argparse
import itertools
import json
import os
import sys
from types import SimpleNamespace

import numpy

# Sine of half the angle that the bounding sphere subtends, and the share of the picture to fill.
HALF_ANGLE_SINE, ROOM = 0.26, 0.88

# Fields of `camera` in the JSON of `voxelize render`.
KEYS = ["projection", "eye", "right", "up", "back", "screen_window"]


def arguments(about, extensions, samples):
    """Parses the command line; inside Blender, only what follows `--`."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("voxels", help=f"file that voxelize wrote: {', '.join(extensions)}")
    parser.add_argument("picture", help=".png file to write")
    parser.add_argument("--camera", help="output of voxelize render --json, for the same view")
    parser.add_argument("--size", type=int, nargs=2, default=[512, 512], metavar=("W", "H"),
                        help="in pixels, without --camera")
    parser.add_argument("--samples", type=int, default=samples, help="rays per pixel")
    parser.add_argument("--up", choices=["y", "z"], default="y", help="up axis of the mesh")
    parser.add_argument("--mask", action="store_true",
                        help="draw the silhouette as opacity: regular rays, no lights, no ground")
    own = sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else sys.argv[1:]
    args = parser.parse_args(own)
    args.extension = os.path.splitext(args.voxels)[1].lower()
    if args.extension not in extensions:
        parser.error(f"{args.voxels}: not one of {', '.join(extensions)}: voxelize convert makes them")
    for file in filter(None, [args.voxels, args.camera]):
        if not os.path.isfile(file):
            parser.error(f"{file}: no such file")
    folder, name = os.path.split(args.picture)
    if not name.lower().endswith(".png"):
        parser.error(f"{args.picture}: pictures are .png files")
    if not os.path.isdir(folder or "."):
        parser.error(f"{args.picture}: there is no folder {folder}")
    if args.samples < 1 or min(args.size) < 1:
        parser.error("--samples and --size begin at 1")
    return args


def camera(args, low, high):
    """Returns the camera of `args`, otherwise one that frames the box from `low` to `high`."""
    if not args.camera:
        return around(low, high, args)
    try:
        with open(args.camera) as file:
            said = json.load(file)
        own = {key: said["camera"][key] for key in KEYS}
        return SimpleNamespace(size=[said["width"], said["height"]], **own)
    except (ValueError, KeyError, TypeError):
        refuse(f"{args.camera}: not what voxelize render --json prints")


def refuse(complaint):
    """Exits with a message, as for bad usage."""
    print(f"{os.path.basename(sys.argv[0])}: {complaint}", file=sys.stderr)
    sys.exit(2)


def around(low, high, args):
    """Returns a perspective camera in front, to the right and above."""
    low, high, size = numpy.array(low), numpy.array(high), numpy.array(args.size)
    above, front = ([0, 1, 0], [0, 0, 1]) if args.up == "y" else ([0, 0, 1], [0, -1, 0])
    back = 0.54 * numpy.array([1, 0, 0]) + 0.47 * numpy.array(above) + 0.70 * numpy.array(front)
    back /= numpy.linalg.norm(back)
    right = numpy.cross(above, back)
    right /= numpy.linalg.norm(right)
    up = numpy.cross(back, right)
    eye = (low + high) / 2 + numpy.linalg.norm(high - low) / 2 / HALF_ANGLE_SINE * back
    x, y, z = numpy.array([right, up, back]) @ (list(itertools.product(*zip(low, high))) - eye).T
    seen = numpy.array([x, y]) / -z
    least, most = seen.min(axis=1), seen.max(axis=1)
    half = max((most - least) / size) / ROOM * size / 2
    (left, bottom), (right_edge, top) = (least + most) / 2 - half, (least + most) / 2 + half
    return SimpleNamespace(projection="perspective", size=args.size, eye=eye, right=right, up=up,
                           back=back, screen_window=[left, right_edge, bottom, top])
