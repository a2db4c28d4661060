import numpy as np
import pytest

import trivox


def tetrahedron():
    corners = [[0, 0, 0], [8, 0, 0], [0, 8, 0], [0, 0, 8]]
    return trivox.Mesh(corners, [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def test_arrays_of_a_field_agree():
    field = trivox.Voxelizer(voxel_size=0.5).distances(tetrahedron(), width=2.5)
    assert field.shape == field.dims == (22, 22, 22) and field.width == 2.5
    assert np.array_equal(field.origin, [-1.5] * 3) and field.voxel_size == 0.5
    coords, distances, dense = field.coords(), field.distances(), field.dense()
    assert coords.shape == (len(field), 3) and coords.dtype == np.int32
    assert distances.shape == (len(field),) and distances.dtype == np.float32
    again = np.where(field.inside().dense(), -field.width, field.width).astype(np.float32)
    again[tuple(coords.T)] = distances
    assert np.array_equal(again, dense)
    # Half a voxel from three sides.
    assert dense[3, 3, 3] == -0.5 and dense[2, 3, 3] == 0.5
    assert (np.abs(dense) < 2.5).sum() == len(field)


def test_distances_do_not_depend_on_the_threads():
    fields = [trivox.Voxelizer(40, threads=n).distances(tetrahedron(), 3) for n in (1, 2, 5)]
    assert fields[0] == fields[1] == fields[2]
    assert len({field.hash for field in fields}) == 1
    assert fields[0] != trivox.Voxelizer(40).distances(tetrahedron(), 2)


def test_a_field_is_saved(tmp_path):
    field = trivox.Voxelizer(16).distances(tetrahedron(), 3)
    for name in ("a.vdb", "a.nvdb"):
        field.save(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000
    field.save(tmp_path / "a.npy")
    assert np.array_equal(np.load(tmp_path / "a.npy"), field.dense())
    field.save(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as arrays:
        assert np.array_equal(arrays["coords"], field.coords())
        assert np.array_equal(arrays["distances"], field.distances())
    with pytest.raises(trivox.WriteError, match=r"use one of \.npy"):
        field.save(tmp_path / "a.vox")


@pytest.mark.parametrize("width", [0, -1, float("nan"), 2000])
def test_impossible_widths_are_refused(width):
    with pytest.raises(trivox.OptionError, match="at most 1024"):
        trivox.Voxelizer(16).distances(tetrahedron(), width)


def test_a_doubtful_inside_is_a_warning():
    sheet = trivox.Mesh([[0, 0, 0], [4, 0, 0], [0, 4, 1]], [[0, 1, 2]])
    with pytest.warns(trivox.TrivoxWarning):
        trivox.Voxelizer(16).distances(sheet)
