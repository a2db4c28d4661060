"""Exceptions and warnings. All are picklable and carry a stable ``code``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._reports import Report

__all__ = [
    "BackendError",
    "DoubtfulError",
    "InternalError",
    "MemoryLimitError",
    "MeshError",
    "OptionError",
    "PlaceError",
    "ReadError",
    "TimeLimitError",
    "TrivoxError",
    "TrivoxWarning",
    "WriteError",
]


class TrivoxError(Exception):
    """Base class of all errors of trivox.

    An argument of a wrong type is a ``TypeError``, and a file that is not there the built-in
    ``FileNotFoundError``, with its ``filename``.

    Attributes
    ----------
    code : str
        What went wrong, stable across versions, such as ``"mesh.index_out_of_range"``.
    path : str or None
        The file concerned, where there is one.
    """

    code: str = "trivox"
    path: str | None = None

    def __init__(self, message: str = "", code: str | None = None, path: str | None = None):
        super().__init__(message)
        if code is not None:
            self.code = code
        self.path = path

    def __str__(self) -> str:
        message = self.args[0] if self.args else ""
        return f"{self.path}: {message}" if self.path else str(message)

    def __repr__(self) -> str:
        path = f", path={self.path!r}" if self.path else ""
        return f"{type(self).__name__}({self.args[0] if self.args else ''!r}, code={self.code!r}{path})"

    def __reduce__(self) -> tuple[type[TrivoxError], tuple[Any, ...]]:
        return type(self), (self.args[0] if self.args else "", self.code, self.path)


class OptionError(TrivoxError, ValueError):
    """An option, or a combination of options, that is not possible (``option.*``)."""

    code = "option"


class MeshError(TrivoxError, ValueError):
    """Arrays that are no valid mesh (``mesh.*``)."""

    code = "mesh"


class PlaceError(TrivoxError, ValueError):
    """A mesh that cannot be placed on a lattice as asked (``place.*``)."""

    code = "place"


class ReadError(TrivoxError, ValueError):
    """A file, or bytes, that cannot be read as a mesh or grid (``read.*``): ``read.line`` where a line
    of text is malformed, ``read.content`` elsewhere."""

    code = "read"


class WriteError(TrivoxError, ValueError):
    """A grid that a format cannot hold (``write.*``)."""

    code = "write"


class BackendError(TrivoxError, RuntimeError):
    """The CPU or GPU backend failed (``backend.*``)."""

    code = "backend"


class DoubtfulError(TrivoxError, ValueError):
    """A solid, or the inside of distances, that a strict voxelizer or `Proximity` refuses: doubtful,
    or of a mesh with a hole (``solid.doubtful``).

    Attributes
    ----------
    report : Report or None
        As ``Grid.report``: its ``fill`` has the doubts, and the fills that may do better. None of a `Proximity`.
    warnings : tuple of str
        As ``Grid.warnings``.
    """

    code = "solid.doubtful"

    def __init__(
        self,
        message: str = "",
        code: str | None = None,
        path: str | None = None,
        report: Report | str | None = None,
        warnings: Sequence[str] = (),
    ):
        super().__init__(message, code, path)
        self.report: Report | None = json.loads(report) if isinstance(report, str) else report
        self.warnings: tuple[str, ...] = tuple(warnings)

    def __reduce__(self) -> tuple[type[TrivoxError], tuple[Any, ...]]:
        return type(self), (*super().__reduce__()[1], self.report, self.warnings)


class MemoryLimitError(TrivoxError, MemoryError):
    """More memory is needed than is allowed (``memory``)."""

    code = "memory"


class TimeLimitError(TrivoxError, TimeoutError):
    """An item took longer than its time limit (``time_limit``)."""

    code = "time_limit"


class InternalError(TrivoxError, RuntimeError):
    """A bug in trivox (``bug``): please report it with the mesh."""

    code = "bug"


class TrivoxWarning(UserWarning):
    """Something in a mesh, or in how it was voxelized, that the caller may not expect."""
