"""What a report has: the keys of the program's ``--json``, the same for every mode and fill."""

from __future__ import annotations

from typing import Literal, TypedDict

__all__ = ["FillReport", "Report"]

Numbers = list[float]
Ints = list[int]


class Lattice(TypedDict):
    """Where the voxels of the whole grid lie, for ``Voxelizer(lattice=...)``."""

    dims: Ints
    origin: Numbers
    voxel_size: float
    scale: float
    fraction_bits: int
    anchor: Numbers
    anchor_voxel: Ints


Tile = TypedDict("Tile", {"from": Ints, "to": Ints})
"""The first voxel of a tile in the whole grid, and after its last."""


class Band(TypedDict):
    """The band of distances: its width in voxels, and the number of its voxels."""

    width: float
    voxels: int


class Doubt(TypedDict):
    """Why a fill is doubtful, and the fill that may do better."""

    kind: str
    text: str
    better: str | None


class AxisDisagreement(TypedDict):
    """Where rays along the three axes disagree."""

    voxels: int
    columns: int
    of_columns: int
    share: float
    odd_columns: Ints
    worst: Ints | None
    worst_position: Numbers | None


class FillReport(TypedDict):
    """How a solid was filled; None where a rule does not find it. The manual's page on solids has the fields."""

    rule: Literal["parity", "winding", "flood", "vote"]
    reason: str
    doubtful: bool
    doubts: list[Doubt]
    sentence: str
    closed: bool
    oriented: bool
    shells: int
    edges: int
    open_edges: int
    non_manifold_edges: int
    inconsistent_edges: int
    odd_edges: int
    unbalanced_edges: int
    example: list[Numbers] | None
    boundary_loops: int | None
    uncertain_voxels: int | None
    flipped_triangles: int
    flipped_patches: int
    caps: str | None
    open_columns: int | None
    overlapping_columns: int | None
    opposed_columns: int | None
    axis_disagreement: AxisDisagreement | None
    enclosed: int | None
    leaked: int | None
    empty_shells: int | None
    empty_shells_text: str | None
    pieces: int | None
    pieces_text: str | None
    voxel_volume: float
    mesh_volume: float | None


class Report(TypedDict):
    """The report on a voxelization. ``fill`` is None for a surface, ``distances`` for voxels, ``tile`` for a whole
    grid, and ``adapter`` without a GPU; ``timings_ms`` has the steps that were taken."""

    triangles: int
    dims: Ints
    voxel_size: float
    origin: Numbers
    fraction_bits: int
    lattice: Lattice
    tile: Tile | None
    occupied: int
    bricks: int
    backend: Literal["cpu", "gpu"]
    adapter: str | None
    reason: str
    fill: FillReport | None
    distances: Band | None
    transparent: int
    attribute_names: dict[str, list[str]]
    timings_ms: dict[str, float]
