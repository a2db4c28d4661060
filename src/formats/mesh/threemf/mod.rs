//! The 3MF reader: the build of a model, in the XML of a zip package.
//!
//! After the 3MF Consortium, *3D Manufacturing Format Core Specification* 1.3, with the paths of
//! the *Production Extension* 1.1 and the colour groups of the *Materials and Properties Extension*
//! 1.2.

mod model;
mod package;

use crate::base::numbers::grouped;
use crate::base::srgb::Rgba;
use crate::formats::io::bytes::Budget;
use crate::formats::mesh::flat_colors::FlatColors;
use crate::formats::mesh::threemf::model::{Counts, Model, Object, Paint};
use crate::formats::mesh::threemf::package::{Package, check_start};
use crate::formats::mesh::transform::Transform;
use crate::formats::{LoadedMesh, MeshSpec, ReadError, ReadOptions};
use crate::mesh::appearance::{Appearance, Material};
use crate::mesh::{Labels, Mesh, check_counts};

pub const SPEC: MeshSpec = MeshSpec {
    extension: "3mf",
    name: "3MF",
    carries: "objects and components of the build; base materials and colour groups",
    check_start: |start, _| check_start(start),
    read: |bytes, _, options| read(&bytes, options),
};

/// Bytes of memory independent of the file.
const REST: u64 = 64 << 10;
/// Maximum number of triangles that components and items place, in any file: a few kilobytes could
/// ask for minutes of work.
const MANY: u64 = 1 << 26;
/// Maximum number of placed triangles per triangle in the file, where that is above [`MANY`].
const MAX_COPIES: u64 = 256;

fn read(bytes: &[u8], options: &ReadOptions) -> Result<LoadedMesh, ReadError> {
    let mut memory = Budget::new(options.memory);
    memory.take(bytes.len() as u64 + REST)?;
    let package = Package::open(bytes)?;
    let model = Model::read(&package, &mut memory)?;
    build(&model, options.appearance, memory)
}

/// Joins the build items of a model to a mesh, in the model's unit.
fn build(
    model: &Model,
    with_appearance: bool,
    mut memory: Budget,
) -> Result<LoadedMesh, ReadError> {
    let items = model.build.iter().map(|item| model.objects[item.object].counts);
    let Counts { vertices, triangles, meshes, .. } = items.fold(Counts::default(), Counts::plus);
    check_counts(vertices, triangles)?;
    let stored: u64 = model.objects.iter().map(|object| object.triangles.len() as u64).sum();
    ensure!(
        triangles <= MANY.max(MAX_COPIES * stored),
        "its components and items repeat objects too often: {} triangles of {} in the file; export \
         the model in parts",
        grouped(triangles),
        grouped(stored)
    );
    let is_painted = |object: &Object| !object.paints.is_empty();
    let has_colors = with_appearance && model.objects.iter().any(is_painted);
    // Positions in double precision and rounded, which exist at once, and triangles.
    memory.take((24 + 12) * vertices + 12 * triangles)?;
    if has_colors {
        let bases = model.bases.len() as u64 * size_of::<Material>() as u64;
        let paints = model.objects.iter().map(|object| object.paints.len() as u64).sum();
        memory.take(4 * triangles + bases + FlatColors::most_memory(paints))?;
    }
    memory.take(meshes.saturating_mul(Labels::OBJECT + 2 * model.longest_name))?;

    let base = |(name, color): &(String, Rgba)| {
        let name = name.clone();
        Material { name, ..FlatColors::material(*color) }
    };
    let mut materials = Vec::new();
    if has_colors {
        materials.push(Material::default());
        materials.extend(model.bases.iter().map(base));
    }
    let mut build = Build {
        model,
        has_colors,
        positions: Vec::with_capacity(vertices as usize),
        triangles: Vec::with_capacity(triangles as usize),
        material_of: Vec::with_capacity(if has_colors { triangles as usize } else { 0 }),
        materials: FlatColors::new(materials),
        objects: Vec::new(),
    };
    for item in &model.build {
        build.add(item.object, item.transform, "");
    }
    let mut warnings = model.warnings();
    let labels = Labels::of(build.objects, build.triangles.len(), false);
    let mesh = Mesh::new(build.positions, build.triangles)?.with_labels(labels);
    let appearance = Appearance {
        materials: build.materials.finish(&[], &mut warnings),
        material_of: build.material_of,
        ..Appearance::default()
    };
    let appearance = has_colors.then_some(appearance);
    Ok(LoadedMesh::new(mesh.with_appearance(appearance)?, warnings))
}

struct Build<'a> {
    model: &'a Model,
    has_colors: bool,
    positions: Vec<[f64; 3]>,
    triangles: Vec<[u32; 3]>,
    material_of: Vec<u32>,
    materials: FlatColors,
    /// The first triangle of each mesh, and its name.
    objects: Vec<(usize, &'a str)>,
}

impl<'a> Build<'a> {
    /// Adds an object and its components; `name` is the default for objects without a name.
    fn add(&mut self, object: usize, transform: Transform, name: &'a str) {
        let object = &self.model.objects[object];
        if object.counts.triangles == 0 {
            return;
        }
        let name = if object.name.is_empty() { name } else { &object.name };
        if !object.triangles.is_empty() {
            self.objects.push((self.triangles.len(), name));
            self.add_mesh(object, transform);
        }
        for component in &object.components {
            self.add(component.object, transform.times(component.transform), name);
        }
    }

    fn add_mesh(&mut self, object: &Object, transform: Transform) {
        let first = self.positions.len();
        self.positions.extend_from_slice(&object.positions);
        transform.apply(&mut self.positions[first..]);
        let is_mirror = transform.is_mirror();
        let placed = |triangle: &[u32; 3]| {
            let [a, b, c] = triangle.map(|vertex| first as u32 + vertex);
            if is_mirror { [a, c, b] } else { [a, b, c] }
        };
        self.triangles.extend(object.triangles.iter().map(placed));
        if self.has_colors {
            for &paint in &object.paints {
                self.material_of.push(match paint {
                    None => 0,
                    Some(Paint::Base(base)) => 1 + base,
                    Some(Paint::Color(color)) => self.materials.material_of(color),
                });
            }
            self.material_of.resize(self.triangles.len(), 0);
        }
    }
}
