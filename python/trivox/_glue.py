"""Warnings and logs, and what is easier said in Python than in the extension."""

from __future__ import annotations

import base64
import html
import json
import logging
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ._errors import OptionError, TrivoxError, TrivoxWarning
from ._meshes import mesh_parts

__all__ = [
    "Difference", "Verdict", "collate", "log_done", "log_failed", "mesh_parts", "of_part", "page", "progress_bar",
    "warn"
]  # fmt: skip

if TYPE_CHECKING:
    from ._trivox import DistanceField, Grid

log = logging.getLogger("trivox")
log.addHandler(logging.NullHandler())


def warn(sentences: list[str]) -> None:
    # Functions of the extension have no frame: level 2 is the line that called one.
    for sentence in sentences:
        warnings.warn(sentence, TrivoxWarning, stacklevel=2)


def of_part(name: str, error: BaseException) -> BaseException:
    """`error` of a part of a scene, with the name of the part before its message."""
    if isinstance(error, TrivoxError):
        return type(error)(f"part '{name}': {error.args[0]}", error.code)
    return error


def log_done(name: str, report_json: str) -> None:
    if log.isEnabledFor(logging.DEBUG):
        report = json.loads(report_json)
        times = ", ".join(f"{step} {ms:.1f} ms" for step, ms in report["timings_ms"].items())
        band = report["distances"]
        voxels = f"{band['voxels']} voxels in the band" if band else f"{report['occupied']} voxels"
        log.debug("%s: %s on %s (%s)", name, voxels, report["backend"], times)


def log_failed(key: object, error: BaseException) -> None:
    log.warning("%s: %s: %s", key, type(error).__name__, error)


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
    other_attributes : dict of str to int
        For each attribute that both have, the voxels in both with another value.
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
    other_attributes: dict[str, int]
    bounds: list[list[int]] | None
    first: list[tuple[tuple[int, int, int], str]]

    # It has lists.
    __hash__: ClassVar[None] = None  # type: ignore[assignment]

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

    # It has lists.
    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return self.missing + self.spurious == 0


def collate(
    grids: Iterable[Grid | DistanceField],
    *,
    order: Literal["xyz", "zyx"] = "xyz",
    convert: Callable[[NDArray[Any]], Any] | None = None,
) -> dict[str, Any]:
    """Puts sparse grids or distances together to a batch, for the ``collate_fn`` of a ``DataLoader``.

    Parameters
    ----------
    grids : iterable of Grid or DistanceField
        The samples, at least one; of one kind.
    order : {"xyz", "zyx"}, default "xyz"
        The order of coordinates, as of ``Grid.coords``.
    convert : callable, optional
        What makes an array of each NumPy array, such as ``torch.from_numpy``.

    Returns
    -------
    dict of str to array
        ``coords`` (int32, shape (n, 4): sample, then coordinates), ``offsets`` (int64, shape (samples + 1,): those of
        sample i are from ``offsets[i]`` to before ``offsets[i + 1]``), and one value for each of ``coords``:
        ``distances`` of distances; of grids their `Grid.attributes`, and ``colors`` if any has colours. Samples without
        an attribute or colours that others have get 0, or -1 for ``triangle``, ``material`` and ``label``.

    Raises
    ------
    OptionError
        No sample; grids together with distances.

    Examples
    --------
    >>> mesh = trivox.Mesh([[0, 0, 0], [4, 0, 0], [0, 4, 0]], [[0, 1, 2]])
    >>> batch = trivox.collate([trivox.Voxelizer(n, color=(255, 0, 0))(mesh) for n in (4, 8)])
    >>> {name: array.shape for name, array in batch.items()}
    {'coords': (56, 4), 'offsets': (3,), 'colors': (56, 4)}
    """
    samples = list(grids)
    for sample in samples:
        # An item of `many` that failed.
        if isinstance(sample, BaseException):
            raise sample
    if not samples:
        raise OptionError("there are no samples: give one or more", "option.samples")
    of_samples = [_values(grid) for grid in samples]
    if len({"distances" in values for values in of_samples}) > 1:
        raise OptionError("grids and distances are not put together: give samples of one kind", "option.samples")
    batch = {
        "coords": np.concatenate([grid.coords(order, batch=n) for n, grid in enumerate(samples)]),
        "offsets": np.cumsum([0, *map(len, samples)], dtype=np.int64),
    }
    for name, like in {name: array for values in of_samples for name, array in values.items()}.items():
        none = -1 if np.issubdtype(like.dtype, np.signedinteger) else 0
        absent = [np.full((len(grid), *like.shape[1:]), none, like.dtype) for grid in samples]
        batch[name] = np.concatenate([values.get(name, rest) for values, rest in zip(of_samples, absent)])
    return batch if convert is None else {name: convert(array) for name, array in batch.items()}


def _values(grid: Grid | DistanceField) -> dict[str, NDArray[Any]]:
    if hasattr(grid, "distances"):
        return {"distances": grid.distances()}
    colors = grid.colors()
    return {**grid.attributes} | ({} if colors is None else {"colors": colors})


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
