import pathlib
import signal
import uuid

import numpy as np
import pytest

import trivox

# Background jobs of a shell ignore SIGINT, and so would all processes of the tests.
signal.signal(signal.SIGINT, signal.default_int_handler)

HERE = pathlib.Path(__file__).parent
ASSETS = next(at / "assets" for at in HERE.parents if (at / "assets").exists())

CORNERS = np.array([[0, 0, 0], [8, 0, 0], [0, 8, 0], [0, 0, 8]], float)
SIDES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


@pytest.fixture
def tetrahedron():
    return trivox.Mesh(CORNERS, SIDES)


def torus(rings: int = 48, sides: int = 24) -> trivox.Mesh:
    """A closed mesh with curvature."""
    u, v = np.meshgrid(np.arange(rings), np.arange(sides), indexing="ij")
    a, b = u * 2 * np.pi / rings, v * 2 * np.pi / sides
    r = 2 + np.cos(b)
    points = np.stack([r * np.cos(a), np.sin(b), r * np.sin(a)], -1).reshape(-1, 3)
    at = lambda i, j: (i % rings) * sides + j % sides  # noqa: E731
    quads = np.stack([at(u, v), at(u + 1, v), at(u + 1, v + 1), at(u, v + 1)], -1).reshape(-1, 4)
    return trivox.Mesh(points, np.concatenate([quads[:, :3], quads[:, [0, 2, 3]]]))


def write_obj(path, mesh) -> str:
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in mesh.vertices.tolist()]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in mesh.faces.tolist()]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.fixture
def torus_obj(tmp_path):
    return write_obj(tmp_path / "torus.obj", torus())


@pytest.fixture(scope="session")
def cluster():
    """The address of the tests' only cluster of Ray."""
    ray = pytest.importorskip("ray")
    options = {"num_cpus": 3, "object_store_memory": 100 << 20}
    yield ray.init(include_dashboard=False, log_to_driver=False, **options).address_info["address"]
    ray.shutdown()


@pytest.fixture
def bucket(monkeypatch):
    """A bucket of an S3 server on this machine, and the options of its file system."""
    server = pytest.importorskip("moto.server")
    s3fs = pytest.importorskip("s3fs")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    storage = {"endpoint_url": f"http://{host}:{port}"}
    # Servers of one process have the same buckets.
    name = f"voxels-{uuid.uuid4()}"
    s3fs.S3FileSystem(**storage).mkdir(name)
    yield f"s3://{name}", storage
    running.stop()
