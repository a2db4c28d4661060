"""The manual's blocks of Python run, one after another; and the docstrings' examples."""

import doctest
import inspect
import os
import pathlib
import re
import sys

import pytest

import trivox
import trivox._trivox
from conftest import torus, write_obj

HERE = pathlib.Path(__file__).parent
DOCS = next(folder for folder in (HERE, HERE.parents[1] / "docs") if (folder / "python.md").exists())
BLOCKS = [
    (f"{name}, block {index}", block)
    for name in ("python.md", "large-grids.md")
    for index, block in enumerate(
        re.findall(r"^```python\n(.*?)^```", (DOCS / name).read_text(), re.DOTALL | re.MULTILINE)
    )
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs")
    write_obj(folder / "bunny.obj", torus())
    before = os.getcwd()
    os.chdir(folder)
    yield {"__name__": "__main__"}
    os.chdir(before)


def test_there_are_blocks():
    assert len(BLOCKS) >= 8


@pytest.mark.parametrize(("name", "block"), BLOCKS)
@pytest.mark.filterwarnings("ignore")
def test_a_block_of_the_manual_runs(folder, name, block, request):
    for package in re.findall(r"^(?:import|from) (\w+)", block, re.MULTILINE):
        pytest.importorskip(package)
    if "trivox.stores" in block:
        pytest.importorskip("zarr")
    if "trivox.ray" in block:
        request.getfixturevalue("cluster")
    exec(compile(block, name, "exec"), folder)


@pytest.mark.parametrize("module", [trivox, trivox._trivox])
def test_examples_of_docstrings_run(module):
    found = doctest.testmod(module)
    assert found.failed == 0


def test_all_that_is_public_is_documented():
    for name in trivox.__all__:
        thing = getattr(trivox, name)
        if name.isupper():
            continue
        assert len(thing.__doc__ or "") > 20, name
        for method in (m for m in vars(thing) if not m.startswith("_")) if isinstance(thing, type) else ():
            documented = getattr(thing, method).__doc__ or isinstance(thing, type) and issubclass(thing, Exception)
            assert documented or method in thing.__doc__, f"{name}.{method}"


def public_callables():
    for name in trivox.__all__:
        thing = getattr(trivox, name)
        made_by_calling = (trivox.Mesh, trivox.Voxelizer)
        if callable(thing) and (not isinstance(thing, type) or thing in made_by_calling):
            yield name, thing
    for kind in (trivox.DistanceField, trivox.Grid, trivox.Mesh, trivox.Voxelizer):
        for name in vars(kind):
            if not name.startswith("_") and callable(getattr(kind, name)):
                yield f"{kind.__name__}.{name}", getattr(kind, name)


@pytest.mark.parametrize(("name", "thing"), list(public_callables()))
def test_what_is_called_has_a_docstring_and_its_parameters(name, thing):
    parameters = inspect.signature(thing).parameters.values()
    assert len(inspect.getdoc(thing)) > 20
    assert not any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters)


def test_a_bar_without_tqdm_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match="pip install tqdm"), trivox.progress_bar():
        pass
