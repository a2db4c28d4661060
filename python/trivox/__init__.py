"""Exact mesh voxelization: the same voxels on every CPU and GPU.

>>> import trivox
>>> mesh = trivox.Mesh([[0, 0, 0], [4, 0, 0], [0, 4, 0]], [[0, 1, 2]])
>>> grid = trivox.Voxelizer(resolution=4)(mesh)
>>> grid.coords().shape
(13, 3)

Logs go to the logger ``trivox``; what a caller may not expect is a `TrivoxWarning`.
"""

import atexit as _atexit
from importlib.metadata import version as _version

from . import _errors
from ._errors import *  # noqa: F403
from ._glue import Difference, Verdict, collate, progress_bar
from ._reports import FillReport, Report
from ._trivox import (
    DistanceField,
    Grid,
    Mesh,
    Proximity,
    Voxelizer,
    _grid_formats,
    _mesh_formats,
    _remove_temporary_files,
    adapters,
    diff,
    join,
    load,
    load_bytes,
    load_distances,
    read_mesh,
    verify,
)

__version__ = _version("trivox")

_atexit.register(_remove_temporary_files)

MESH_FORMATS: tuple[str, ...] = tuple(_mesh_formats())
"""Extensions of the mesh formats that are read."""

GRID_FORMATS: dict[str, str] = {
    name: "rw" if is_read else "w" for name, is_read in _grid_formats()
}
"""Extensions of the grid formats: "rw", or "w" where they are written and not read."""

__all__ = [
    "GRID_FORMATS",
    "MESH_FORMATS",
    "Difference",
    "DistanceField",
    "FillReport",
    "Grid",
    "Mesh",
    "Proximity",
    "Report",
    "Verdict",
    "Voxelizer",
    "adapters",
    "collate",
    "diff",
    "join",
    "load",
    "load_bytes",
    "load_distances",
    "progress_bar",
    "read_mesh",
    "verify",
]
__all__ += _errors.__all__
