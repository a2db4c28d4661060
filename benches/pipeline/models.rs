//! The models: files, and some that are made here and written to files, so that all load alike.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use trivox::Mesh;
use trivox::formats::read_mesh;

use crate::common::Result;
use crate::hall::hall;

pub struct Model {
    pub name: String,
    pub path: PathBuf,
}

/// The project's models and those in the folder that `TRIVOX_MESHES` names, by name; then those
/// that are made, in `folder`: the hall, and unless `quick` the dragon in four times its triangles.
pub fn models(folder: &Path, quick: bool) -> Result<Vec<Model>> {
    // Cargo runs benches in the project's folder, and so does the measuring script.
    let mut models = in_folder("assets".as_ref())?;
    if let Some(more) = std::env::var_os("TRIVOX_MESHES") {
        models.extend(in_folder(more.as_ref())?);
    }
    models.sort_by(|a, b| a.name.cmp(&b.name));

    let mut made = vec![write(folder, "hall", &hall())?];
    if let Some(dragon) = models.iter().find(|model| model.name == "dragon" && !quick) {
        made.push(write(folder, "dragon x4", &subdivided(&read_mesh(&dragon.path)?.mesh)?)?);
    }
    models.extend(made);
    Ok(models)
}

fn in_folder(folder: &Path) -> Result<Vec<Model>> {
    let mut models = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension() == Some(OsStr::new("obj")) {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            models.push(Model { name, path });
        }
    }
    Ok(models)
}

fn write(folder: &Path, name: &str, mesh: &Mesh) -> Result<Model> {
    let path = folder.join(name).with_extension("obj");
    let mut file = BufWriter::new(File::create(&path)?);
    for [x, y, z] in mesh.positions() {
        writeln!(file, "v {x:.6} {y:.6} {z:.6}")?;
    }
    for triangle in mesh.triangles() {
        let [a, b, c] = triangle.map(|index| index + 1);
        writeln!(file, "f {a} {b} {c}")?;
    }
    file.flush()?;
    Ok(Model { name: name.to_owned(), path })
}

/// Each triangle divided into four at the middles of its edges.
fn subdivided(mesh: &Mesh) -> Result<Mesh> {
    let mut positions = mesh.positions().to_vec();
    let mut middles = HashMap::new();
    let mut middle = |a: u32, b: u32| {
        *middles.entry([a.min(b), a.max(b)]).or_insert_with(|| {
            let [p, q] = [a, b].map(|index| mesh.positions()[index as usize]);
            positions.push([0, 1, 2].map(|axis| (p[axis] + q[axis]) / 2.0));
            positions.len() as u32 - 1
        })
    };
    let divide = |&[a, b, c]: &[u32; 3]| {
        let [ab, bc, ca] = [middle(a, b), middle(b, c), middle(c, a)];
        [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
    };
    let triangles = mesh.triangles().iter().flat_map(divide).collect();
    Ok(Mesh::new(positions, triangles)?)
}
