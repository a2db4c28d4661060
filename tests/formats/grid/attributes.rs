//! Attributes of voxels: what NumPy and VTK read is what the grid holds.

use trivox::formats::GridFormat;
use trivox::grid::Attribute;
use trivox::{Mesh, VoxelGrid, Voxelizer};

use super::npy::python;
use super::written;
use crate::common::environment::python_with;

fn bent() -> VoxelGrid {
    let corners =
        vec![[0.0; 3], [29.0, 3.0, 1.0], [2.0, 18.5, 7.0], [28.0, 19.0, 42.0], [5.0, 3.0, 40.0]];
    let triangles = vec![[0, 1, 2], [1, 3, 2], [0, 4, 1], [2, 3, 4]];
    let mesh = Mesh::new(corners, triangles).unwrap();
    let all = Attribute::ALL.iter().copied();
    Voxelizer::new().voxel_size(1.0).pad(2).attributes(all).run(&mesh).unwrap().grid
}

#[test]
fn numpy_and_vtk_read_attributes_voxel_for_voxel() {
    let grid = bent();
    let folder = tempfile::tempdir().unwrap();
    for format in [GridFormat::Npz, GridFormat::Vti] {
        let path = folder.path().join("grid").with_extension(format.extension());
        std::fs::write(path, written(&grid, format)).unwrap();
    }
    let attributes = grid.attributes.as_ref().unwrap();
    let line = |([x, y, z], of): ([u32; 3], trivox::grid::SurfaceSample)| {
        let [a, b, c] = of.normal;
        format!("{x} {y} {z} {a} {b} {c} {} {} {}\n", of.triangle, of.material, of.area)
    };
    let list: String = grid.voxels().zip(attributes.of_voxels(&grid)).map(line).collect();
    std::fs::write(folder.path().join("grid.txt"), list).unwrap();
    let script = "
import numpy
file = numpy.load('grid.npz')
lines = numpy.loadtxt('grid.txt')
coords = file['coords']
assert (coords == lines[:, :3]).all() and file['occupied'].sum() == len(coords)
assert file['occupied'][tuple(coords.T)].all()
for name, kind, columns in [
    ('normal', 'f4', slice(3, 6)), ('triangle', 'i4', 6), ('material', 'i4', 7), ('area', 'f4', 8),
]:
    found = file[name]
    assert found.dtype == kind, name
    assert (found == lines[:, columns].astype(kind)).all(), name
assert set(file['triangle']) == {0, 1, 2, 3}
print('done')
";
    let Some(output) = python(script, folder.path()) else { return };
    assert_eq!(output.trim(), "done");
    if python_with("vtkmodules").is_none() {
        println!("skipped: Python has no vtk");
        return;
    }
    let script = "
import numpy
from vtkmodules.vtkIOXML import vtkXMLImageDataReader
from vtkmodules.util.numpy_support import vtk_to_numpy
reader = vtkXMLImageDataReader()
reader.SetFileName('grid.vti')
reader.Update()
image = reader.GetOutput()
nx, ny, nz = (n - 1 for n in image.GetDimensions())
file = numpy.load('grid.npz')
for name, empty in [('normal', 0), ('triangle', -1), ('material', -1), ('area', 0)]:
    array = vtk_to_numpy(image.GetCellData().GetArray(name))
    array = array.reshape(nz, ny, nx, *array.shape[1:]).swapaxes(0, 2)
    assert array.dtype == file[name].dtype, name
    assert (array[tuple(file['coords'].T)] == file[name]).all(), name
    assert (array[~file['occupied']] == empty).all(), name
print('done')
";
    assert_eq!(python(script, folder.path()).unwrap().trim(), "done");
}

#[test]
fn formats_without_attributes_say_so() {
    let grid = bent();
    for format in GridFormat::ALL {
        let is_lost = format.lost(&grid).iter().any(|lost| lost.contains("attributes"));
        assert_eq!(is_lost, !format.spec().has_attributes, "{format:?}");
        assert_eq!(format.check_attributes().is_err(), is_lost, "{format:?}");
    }
}
