import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, TypeAlias, TypedDict, TypeVar, final, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._glue import Difference, Verdict

__all__ = [
    "DistanceField",
    "Grid",
    "Mesh",
    "Voxelizer",
    "_Batch",
    "_grid_formats",
    "_mesh_formats",
    "_restore_field",
    "_restore_grid",
    "_restore_mesh",
    "adapters",
    "diff",
    "join",
    "load",
    "load_bytes",
    "read_mesh",
    "verify",
]

_Path: TypeAlias = str | os.PathLike[str]
_MeshLike: TypeAlias = Mesh | _Path | Any
_Mode: TypeAlias = Literal["surface", "thin", "solid"]
_Fill: TypeAlias = Literal["auto", "parity", "winding", "flood", "vote"]
_View: TypeAlias = Literal["three-quarter", "iso", "front", "back", "left", "right", "top", "bottom"]
_Up: TypeAlias = Literal["y", "z"]
_Order: TypeAlias = Literal["xyz", "zyx"]
_R = TypeVar("_R", covariant=True)
_S = TypeVar("_S", bound=np.generic)
_Progress: TypeAlias = Callable[[str, int, int], object]

class _Adapter(TypedDict):
    label: str
    driver: str
    is_software: bool

class _Estimate(TypedDict):
    dims: list[int]
    brick_pairs: int
    core_seconds: float
    memory: int

@final
class Mesh:
    def __new__(
        cls,
        vertices: ArrayLike | Any,
        faces: ArrayLike | None = None,
        *,
        vertex_colors: ArrayLike | None = None,
        face_colors: ArrayLike | None = None,
        uv: ArrayLike | None = None,
        texture: ArrayLike | None = None,
    ) -> Mesh: ...
    @property
    def vertices(self) -> NDArray[np.float64]: ...
    @property
    def faces(self) -> NDArray[np.int64]: ...
    @property
    def bounds(self) -> NDArray[np.float64]: ...
    @property
    def has_colors(self) -> bool: ...
    @property
    def warnings(self) -> tuple[str, ...]: ...
    @property
    def path(self) -> os.PathLike[str] | None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...

@final
class Grid:
    @staticmethod
    def from_coords(
        coords: ArrayLike,
        dims: tuple[int, int, int] | list[int] | NDArray[np.integer[Any]],
        *,
        colors: ArrayLike | None = None,
        origin: ArrayLike | None = None,
        voxel_size: float | None = None,
        up: _Up = "y",
    ) -> Grid: ...
    @staticmethod
    def from_dense(
        array: ArrayLike,
        *,
        origin: ArrayLike | None = None,
        voxel_size: float | None = None,
        up: _Up = "y",
    ) -> Grid: ...
    @property
    def dims(self) -> tuple[int, int, int]: ...
    @property
    def shape(self) -> tuple[int, int, int]: ...
    @property
    def occupied(self) -> int: ...
    @property
    def brick_count(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def origin(self) -> NDArray[np.float64] | None: ...
    @property
    def voxel_size(self) -> float | None: ...
    @property
    def up(self) -> _Up: ...
    @property
    def bounds(self) -> NDArray[np.int32] | None: ...
    @property
    def hash(self) -> str: ...
    @property
    def has_colors(self) -> bool: ...
    @property
    def report(self) -> dict[str, Any]: ...
    @property
    def warnings(self) -> tuple[str, ...]: ...
    def coords(self, order: _Order = "xyz", batch: int | None = None) -> NDArray[np.int32]: ...
    def centers(self) -> NDArray[np.float64]: ...
    def bricks(self) -> tuple[NDArray[np.int32], NDArray[np.uint64]]: ...
    @overload
    def dense(
        self, dtype: Literal["bool"] | type[bool] | type[np.bool_] = "bool"
    ) -> NDArray[np.bool_]: ...
    @overload
    def dense(self, dtype: Literal["uint8"] | type[np.uint8]) -> NDArray[np.uint8]: ...
    @overload
    def dense(self, dtype: Literal["float32"] | type[np.float32]) -> NDArray[np.float32]: ...
    @overload
    def dense(self, dtype: np.dtype[_S]) -> NDArray[_S]: ...
    def colors(self) -> NDArray[np.uint8] | None: ...
    def first_hits(
        self, origins: ArrayLike, directions: ArrayLike
    ) -> tuple[NDArray[np.int32], NDArray[np.int8], NDArray[np.float64]]: ...
    def save(self, path: _Path) -> None: ...
    def to_bytes(self, format: str) -> bytes: ...
    def render(
        self,
        size: int | tuple[int, int] | None = None,
        *,
        view: _View = "three-quarter",
        turn: float | None = None,
        camera: Literal["perspective", "orthographic"] | None = None,
        background: Literal["gradient", "transparent"] | tuple[int, int, int] | None = None,
        samples: int = 3,
    ) -> NDArray[np.uint8]: ...
    def png(
        self,
        size: int | tuple[int, int] | None = None,
        *,
        view: _View = "three-quarter",
        turn: float | None = None,
        camera: Literal["perspective", "orthographic"] | None = None,
        background: Literal["gradient", "transparent"] | tuple[int, int, int] | None = None,
        samples: int = 3,
    ) -> bytes: ...
    def __len__(self) -> int: ...
    def __or__(self, other: Grid, /) -> Grid: ...
    def __and__(self, other: Grid, /) -> Grid: ...
    def __sub__(self, other: Grid, /) -> Grid: ...
    def __contains__(self, voxel: object, /) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]: ...
    def __dlpack__(self, **options: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...

@final
class DistanceField:
    @property
    def dims(self) -> tuple[int, int, int]: ...
    @property
    def shape(self) -> tuple[int, int, int]: ...
    @property
    def width(self) -> float: ...
    @property
    def origin(self) -> NDArray[np.float64] | None: ...
    @property
    def voxel_size(self) -> float | None: ...
    @property
    def up(self) -> Literal["y", "z"]: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def hash(self) -> str: ...
    @property
    def report(self) -> dict[str, Any]: ...
    @property
    def warnings(self) -> tuple[str, ...]: ...
    def inside(self) -> Grid: ...
    def coords(self, order: _Order = "xyz", batch: int | None = None) -> NDArray[np.int32]: ...
    def centers(self) -> NDArray[np.float64]: ...
    def distances(self) -> NDArray[np.float32]: ...
    def sample(self, points: ArrayLike) -> NDArray[np.float32]: ...
    def dense(self) -> NDArray[np.float32]: ...
    def save(self, path: _Path) -> None: ...
    def to_bytes(self, format: str) -> bytes: ...
    def __len__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]: ...
    def __dlpack__(self, **options: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...

@final
class _Batch(Iterator[tuple[Any, _R]]):
    def __next__(self) -> tuple[Any, _R]: ...

@final
class Voxelizer:
    def __new__(
        cls,
        resolution: int | None = None,
        *,
        voxel_size: float | None = None,
        bounds: ArrayLike | None = None,
        pad: int = 0,
        cube: int | None = None,
        dims: tuple[int, int, int] | list[int] | NDArray[np.integer[Any]] | None = None,
        scale: float | None = None,
        rotate: str | Iterable[str] | None = None,
        center: bool = False,
        mode: _Mode = "surface",
        fill: _Fill = "auto",
        include_surface: bool = False,
        up: _Up = "y",
        color: bool = True,
        keep_transparent: bool = False,
        interior_color: tuple[int, int, int] | list[int] | None = None,
        tile: str | None = None,
        backend: Literal["auto", "cpu", "gpu"] = "auto",
        adapter: str | None = None,
        threads: int | None = None,
        memory: int | str | None = None,
        time_limit: float | None = None,
    ) -> Voxelizer: ...
    def __call__(self, mesh: _MeshLike, *, progress: _Progress | None = None) -> Grid: ...
    def voxelize(self, mesh: _MeshLike, *, progress: _Progress | None = None) -> Grid: ...
    @overload
    def many(
        self,
        items: Iterable[_MeshLike | tuple[Any, _MeshLike]],
        *,
        on_error: Literal["return"] = "return",
    ) -> _Batch[Grid | Exception]: ...
    @overload
    def many(
        self,
        items: Iterable[_MeshLike | tuple[Any, _MeshLike]],
        *,
        on_error: Literal["raise", "skip"],
    ) -> _Batch[Grid]: ...
    def distances(
        self, mesh: _MeshLike, width: float = 3.0, *, progress: _Progress | None = None
    ) -> DistanceField: ...
    @overload
    def many_distances(
        self,
        items: Iterable[_MeshLike | tuple[Any, _MeshLike]],
        width: float = 3.0,
        *,
        on_error: Literal["return"] = "return",
    ) -> _Batch[DistanceField | Exception]: ...
    @overload
    def many_distances(
        self,
        items: Iterable[_MeshLike | tuple[Any, _MeshLike]],
        width: float = 3.0,
        *,
        on_error: Literal["raise", "skip"],
    ) -> _Batch[DistanceField]: ...
    def estimate(self, mesh: _MeshLike) -> _Estimate: ...
    @property
    def options(self) -> dict[str, Any]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...

def read_mesh(
    source: _Path | bytes,
    format: str | None = None,
    *,
    sidecars: dict[str, bytes] | None = None,
) -> Mesh: ...
def load(path: _Path) -> Grid: ...
def load_bytes(
    data: bytes | bytearray | memoryview | NDArray[np.uint8], format: str
) -> Grid: ...
def join(tiles: Iterable[Grid]) -> Grid: ...
def diff(a: Grid | NDArray[Any], b: Grid | NDArray[Any], *, named: int = 8) -> Difference: ...
def verify(
    mesh: _MeshLike,
    grid: Grid | NDArray[Any],
    *,
    mode: _Mode = "surface",
    fill: _Fill = "auto",
    include_surface: bool = False,
    resolution: int | None = None,
    voxel_size: float | None = None,
    bounds: ArrayLike | None = None,
    pad: int | None = None,
    as_placed: bool = False,
    named: int = 8,
) -> Verdict: ...
def adapters() -> list[_Adapter]: ...
def _grid_formats() -> list[tuple[str, bool, bool]]: ...
def _mesh_formats() -> list[str]: ...
def _restore_field(
    band: bytes,
    inside: bytes,
    width: float,
    distances: bytes,
    report: str,
    warnings: list[str],
) -> DistanceField: ...
def _restore_grid(bytes: bytes, report: str, warnings: list[str]) -> Grid: ...
def _restore_mesh(
    positions: bytes,
    triangles: bytes,
    look: bytes | None,
    warnings: list[str],
    path: _Path | None,
) -> Mesh: ...
