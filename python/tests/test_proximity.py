import pickle

import numpy as np
import pytest

import trivox
from conftest import torus, write_obj


def by_brute_force(mesh, points):
    """Distances by many points of each triangle."""
    steps = np.linspace(0, 1, 41)
    weights = np.array([(1 - u - v, u, v) for u in steps for v in steps if u + v <= 1 + 1e-9])
    on_mesh = np.einsum("wk,tkc->twc", weights, mesh.vertices[mesh.faces]).reshape(-1, 3)
    return np.linalg.norm(points[:, None] - on_mesh[None], axis=2).min(axis=1)


def test_distances_and_sides_are_those_of_the_nearest_points(tetrahedron):
    mesh = tetrahedron
    proximity = trivox.Proximity(mesh)
    points = np.random.default_rng(5).uniform(-4, 10, (300, 3))
    signed, unsigned = proximity.distances(points), proximity.distances(points, signed=False)
    assert signed.dtype == np.float64 and signed.shape == (300,)
    inside = (points > 0).all(axis=1) & (points.sum(axis=1) < 8)
    assert 5 < inside.sum() < 295
    assert np.array_equal(proximity.contains(points), inside)
    assert np.array_equal(signed, np.where(inside, -unsigned, unsigned))
    assert np.abs(unsigned - by_brute_force(mesh, points)).max() < 0.2
    distances, triangles, weights, nearest = proximity.nearest(points)
    assert np.array_equal(distances, unsigned)
    assert triangles.dtype == np.int64 and weights.shape == nearest.shape == (300, 3)
    corners = mesh.vertices[mesh.faces[triangles]]
    assert np.allclose((weights[:, :, None] * corners).sum(axis=1), nearest, atol=1e-12)
    assert np.allclose(np.linalg.norm(points - nearest, axis=1), distances, atol=1e-6)
    assert proximity.fill == "winding" and repr(proximity).startswith("<trivox.Proximity: 4 ")


def test_arrays_of_any_kind_are_points(tetrahedron):
    proximity = trivox.Proximity(tetrahedron, threads=1)
    points = np.random.default_rng(6).uniform(-4, 10, (50, 3)).astype(np.float32)
    single = proximity.distances(points)
    assert single.dtype == np.float32
    double = proximity.distances(points.astype(np.float64))
    assert np.array_equal(double.astype(np.float32), single)
    assert np.array_equal(proximity.distances(np.asfortranarray(points)[::2]), single[::2])
    assert [array.dtype.name for array in proximity.nearest(points)] == [
        "float32", "int64", "float32", "float32",
    ]
    assert proximity.distances([1, 1, 2]).tolist() == [-1.0]
    empty = np.empty((0, 3), np.float32)
    assert proximity.contains(empty).shape == (0,) and proximity.nearest(empty)[3].shape == (0, 3)


def test_centres_of_a_solid_are_inside(tmp_path):
    path = tmp_path / "torus.obj"
    write_obj(path, torus())
    grid = trivox.Voxelizer(32, mode="solid", pad=2)(path)
    proximity = trivox.Proximity(path)
    assert proximity.contains(grid.centers()).all()
    everywhere = grid.origin + (np.argwhere(~grid.dense()) + 0.5) * grid.voxel_size
    assert not proximity.contains(everywhere).any()
    assert proximity.mesh.path == path


def test_a_plane_contains_nothing_and_its_distances_have_no_sign():
    plane = trivox.Proximity(trivox.Mesh([[0, 0, 0], [4, 0, 0], [0, 4, 0]], [[0, 1, 2]]))
    points = [[1, 1, -1], [1, 1, 1], [1, 1, 0]]
    with pytest.warns(trivox.TrivoxWarning, match="3 open edges"):
        assert plane.distances(points).tolist() == [1, 1, 0]
    # On it, the winding number is 1/2.
    assert plane.contains(points).tolist() == [False, False, True]


def test_signs_of_an_open_mesh_are_doubtful(tmp_path, tetrahedron):
    closed = trivox.Proximity(tetrahedron, strict=True)
    assert closed.is_closed and closed.warnings == ()
    path = tmp_path / "open.obj"
    write_obj(path, trivox.Mesh(tetrahedron.vertices, tetrahedron.faces[:2]))
    for fill, rule in (("auto", "winding"), ("parity", "parity"), ("vote", "vote")):
        proximity = trivox.Proximity(path, fill=fill)
        assert not proximity.is_closed and proximity.fill == rule
        (sentence,) = proximity.warnings
        assert "the mesh is not closed, as it has 4 open edges" in sentence
        point = [[1.0, 1.0, 1.0]]
        # Without signs there is no doubt.
        proximity.nearest(point)
        proximity.distances(point, signed=False)
        for ask in (proximity.contains, proximity.distances):
            again = pickle.loads(pickle.dumps(proximity))
            with pytest.warns(trivox.TrivoxWarning) as caught:
                getattr(again, ask.__name__)(point)
            assert [str(warning.message) for warning in caught] == [f"{path}: {sentence}"]
            # Once.
            again.contains(point)
            again.distances(point)
        # A warning that is an error is raised again.
        for ask in (proximity.distances, proximity.distances):
            with pytest.raises(trivox.TrivoxWarning, match="not closed"):
                ask(point)
        for strict in (True, "closed"):
            with pytest.raises(trivox.DoubtfulError, match="4 open edges") as refused:
                trivox.Proximity(path, fill=fill, strict=strict)
            assert refused.value.code == "solid.doubtful" and refused.value.path == str(path)
            assert refused.value.warnings == (sentence,) and refused.value.report is None
    for strict in (False, True, "closed"):
        copy = pickle.loads(pickle.dumps(trivox.Proximity(tetrahedron, strict=strict)))
        assert copy.__getnewargs_ex__()[1]["strict"] == strict


def test_signs_of_a_mesh_that_cannot_be_oriented_are_doubtful():
    # The projective plane with six vertices.
    around = [[0, n, n % 5 + 1] for n in range(1, 6)]
    across = [[n, n % 5 + 1, (n + 2) % 5 + 1] for n in range(1, 6)]
    plane = trivox.Mesh(np.random.default_rng(8).uniform(0, 8, (6, 3)), around + across)
    proximity = trivox.Proximity(plane)
    assert proximity.is_closed and proximity.fill == "parity"
    with pytest.warns(trivox.TrivoxWarning, match="inconsistently oriented"):
        proximity.contains([1, 1, 1])
    with pytest.raises(trivox.DoubtfulError, match="inconsistently oriented"):
        trivox.Proximity(plane, strict=True)


def test_refusals_name_the_point_or_the_option(tetrahedron):
    proximity = trivox.Proximity(tetrahedron)
    points = np.zeros((100, 3))
    points[42, 1] = np.nan
    for ask in (proximity.distances, proximity.nearest, proximity.contains):
        with pytest.raises(trivox.OptionError, match="point 42 is at") as caught:
            ask(points)
        assert caught.value.code == "option.points"
    with pytest.raises(trivox.OptionError, match=r"use \(n, 3\)"):
        proximity.distances([1.0, 2.0])
    with pytest.raises(TypeError, match="points takes numbers"):
        proximity.contains("here")
    with pytest.raises(TypeError, match="signed takes True or False"):
        proximity.distances([0, 0, 0], signed="no")
    with pytest.raises(trivox.OptionError, match="flood") as caught:
        trivox.Proximity(tetrahedron, fill="flood")
    assert caught.value.code == "option.fill"
    with pytest.raises(trivox.MemoryLimitError, match="the search tree of the mesh needs"):
        trivox.Proximity(tetrahedron, memory=100)
    with pytest.raises(trivox.PlaceError):
        trivox.Proximity(trivox.Mesh([[1, 1, 1]] * 3, [[0, 1, 2]]))
    with pytest.raises(FileNotFoundError):
        trivox.Proximity("no such mesh.obj")


def test_pickling_builds_the_tree_again(tetrahedron):
    proximity = trivox.Proximity(tetrahedron, fill="parity", threads=2, memory="1 GB")
    again = pickle.loads(pickle.dumps(proximity))
    assert again.fill == "parity" and again.mesh == proximity.mesh
    points = np.random.default_rng(7).uniform(-4, 10, (50, 3))
    assert np.array_equal(again.distances(points), proximity.distances(points))
