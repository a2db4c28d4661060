"""The notebook runs in a fresh folder, and shows what the library gives."""

import json
import pathlib
import shutil

import pytest

import trivox
from conftest import ASSETS

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ray")
pytest.importorskip("trimesh")
pytest.importorskip("PIL")

HERE = pathlib.Path(__file__).parent
NOTEBOOK = HERE.parent / "examples" / "meshes_to_training.ipynb"
FOUND = """
import json
json.dumps({
    "grid": grid.hash,
    "lighthouse": [trivox.load("lighthouse.vox").hash, lighthouse.colors().sum(0).tolist()],
    "picture": [picture.shape, int(picture.std()) > 0],
    "many": [str(r) if isinstance(r, Exception) else r.hash for r in results.values()],
    "summary": [summary.items, summary.done, summary.failed, summary.codes, again.skipped],
    "rows": {row["id"]: row["hash"] for row in rows},
    "shapes": shapes,
})
"""


def test_the_notebook_is_committed_without_outputs():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)


def test_the_notebook_runs(tmp_path):
    shutil.copytree(ASSETS, tmp_path / "assets")
    folder = tmp_path / "python" / "examples"
    folder.mkdir(parents=True)
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(FOUND))
    client = nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}})
    client.execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert sum("image/png" in o.get("data", {}) or "<img" in o.get("data", {}).get("text/html", "")
               for o in outputs) == 2, "a grid shows itself"
    found = json.loads(eval(outputs[-1]["data"]["text/plain"]))

    meshes = sorted((folder / "meshes").glob("*.glb"))
    assert [mesh.stem for mesh in meshes] == [mesh.stem for mesh in sorted(ASSETS.glob("*.obj"))]
    grids = [trivox.Voxelizer(64)(mesh) for mesh in meshes]
    hashes = [grid.hash for grid in grids]
    assert found["grid"] == hashes[[mesh.stem for mesh in meshes].index("torus-knot")]
    lighthouse = trivox.Voxelizer(96, mode="solid")(folder / "meshes" / "lighthouse.glb")
    assert found["lighthouse"] == [lighthouse.hash, lighthouse.colors().sum(0).tolist()]
    assert found["picture"] == [[240, 320, 4], True]
    assert found["many"][:-1] == hashes and "broken.glb" in found["many"][-1]
    count = len(meshes)
    assert found["summary"] == [count + 1, count, 1, {"read.content": 1}, count + 1]
    assert sorted(found["rows"].values()) == sorted(hashes)
    count = sum(grid.occupied for grid in grids)
    for name, width in {"coords": [4], "normal": [3], "label": [], "colors": [4]}.items():
        shapes = [shape[name] for shape in found["shapes"] if name in shape]
        assert sum(shape[0] for shape in shapes) <= count and shapes[0][1:] == width, name
    assert sum(shape["label"][0] for shape in found["shapes"]) == count
