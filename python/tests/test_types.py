import types

import numpy as np
import pytest

import trivox

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
trivox.Voxelizer(8, mode="solid", strict="closed", rotate=("x:90", "y:45"))
trivox.Voxelizer(lattice=grid.report["lattice"])
trivox.Voxelizer(lattice={"dims": [1, 2, 3]})
trivox.Proximity("a.obj", strict="closed")
vox.distances(np.eye(3), [[0, 1, 2]], width=2).dense()
vox.estimate(np.eye(3), [[0, 1, 2]])["dims"]
trivox.read_mesh(bytearray(b"v 0 0 0"), "obj")
trivox.read_mesh(memoryview(b"v 0 0 0"), "obj")
"""


WRONG = [
    'trivox.Voxelizer(8, rotate={"x:90"})',
    'trivox.verify("a.obj", np.ones((4, 4, 4)), rotate={"x:90"})',
    "trivox.Voxelizer(lattice=types.MappingProxyType({}))",
]


def check(path, text):
    api = pytest.importorskip("mypy.api")
    path.write_text(text)
    return api.run(["--strict", f"--cache-dir={path.parent}", str(path)])


def test_the_stubs_accept_what_the_package_accepts(tmp_path):
    found, errors, status = check(tmp_path / "calls.py", CALLS)
    assert status == 0, found + errors


def test_the_stubs_refuse_what_the_package_refuses(tmp_path):
    found, errors, _ = check(tmp_path / "wrong.py", "\n".join(["import types", "import numpy as np, trivox", *WRONG]))
    assert [f":{line}: error: Argument" in found for line in (3, 4, 5)] == [True] * 3, found + errors
    for call in WRONG:
        with pytest.raises(TypeError):
            eval(call, {"trivox": trivox, "np": np, "types": types})
