import pytest

CALLS = """
import numpy as np
import numpy.typing
import trivox

vox = trivox.Voxelizer(np.int64(8), color=np.array([1, 2, 3]), interior_color=[1, 2, 3], pad=np.int8(1))
grid = trivox.Grid.from_coords([[0, 0, 0]], np.array([4, 4, 4]))
grid.render([3, 4], background=[1, 2, 3])
grid.png(np.array([3, 4]), background=np.array([1, 2, 3]), samples=np.int64(1))
grid.pad((1, 2)).pad(np.int64(1))
grid.coords(batch=np.int64(3))
flags: np.typing.NDArray[np.bool_] = grid.dense(None)
grid.dense("u1")
grid.dense(">f4")
trivox.Voxelizer(8, mode="solid", strict="closed")
trivox.Proximity("a.obj", strict="closed")
vox.distances(np.eye(3), [[0, 1, 2]], width=2).dense()
vox.estimate(np.eye(3), [[0, 1, 2]])["dims"]
trivox.read_mesh(bytearray(b"v 0 0 0"), "obj")
trivox.read_mesh(memoryview(b"v 0 0 0"), "obj")
"""


def test_the_stubs_accept_what_the_package_accepts(tmp_path):
    api = pytest.importorskip("mypy.api")
    path = tmp_path / "calls.py"
    path.write_text(CALLS)
    found, errors, status = api.run(["--strict", f"--cache-dir={tmp_path}", str(path)])
    assert status == 0, found + errors
