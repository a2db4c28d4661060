//! A mesh in memory: of a file, or of arrays.

use std::cell::Cell;

use js_sys::Uint8Array;
use serde_json::{Value, json};
use trivox::base::srgb::{Linear, Rgba, linear_of_rgba};
use trivox::engine::{Distances, Remedy, Timings, Warning};
use trivox::formats::{LoadedMesh, MeshFile, MeshSpec, Sidecars};
use trivox::mesh::appearance::{Alpha, Material, Texture};
use trivox::{Appearance, Mesh, PlacedMesh, Voxelized};
use wasm_bindgen::prelude::*;
use web_time::{Duration, Instant};

use crate::options::{MEMORY, voxelizer};
use crate::progress::Reporter;
use crate::{Failure, with_room};

/// A mesh, and the name of its file.
#[wasm_bindgen]
pub struct Model {
    name: String,
    mesh: Mesh,
    /// On the file.
    warnings: Vec<Warning>,
    /// The time of reading, for the first report.
    load: Cell<Option<Duration>>,
}

#[wasm_bindgen]
impl Model {
    /// Reads the mesh in `bytes`, a file of this name, with the colours that `options` need. Its
    /// sidecar files (materials, textures, buffers) are found by their names among `names`, whose
    /// bytes are in `contents`.
    pub fn read(
        name: &str,
        bytes: Vec<u8>,
        names: Vec<String>,
        contents: Vec<Uint8Array>,
        options: &str,
    ) -> Result<Model, Failure> {
        let began = Instant::now();
        let options = voxelizer(options)?.read_options();
        let spec = MeshSpec::of_path(name).map_err(Failure::of_file(name))?;
        let contents = contents.iter().map(Uint8Array::to_vec);
        let sidecars = Sidecars::in_memory(names.into_iter().zip(contents)).of_mesh(name);
        let file = MeshFile::of_bytes(bytes, spec, &sidecars, &options);
        let loaded = file.parse(&Reporter).map_err(Failure::of_file(name))?;
        let LoadedMesh { mesh, warnings, .. } = loaded;
        let warnings = warnings.into_iter().map(Warning::File).collect();
        Ok(Self { name: name.into(), mesh, warnings, load: Cell::new(Some(began.elapsed())) })
    }

    /// A mesh of x, y, z of each vertex and three vertices of each triangle.
    pub fn of_arrays(
        name: &str,
        positions: &[f64],
        indices: &[u32],
        look: Option<Look>,
    ) -> Result<Model, Failure> {
        let triangles = indices.as_chunks().0;
        let mesh = Mesh::new(positions.as_chunks().0.to_vec(), triangles.to_vec());
        let mesh = mesh.and_then(|mesh| match look {
            Some(look) => mesh.with_appearance(look.appearance(triangles)),
            None => Ok(mesh),
        });
        let mesh = mesh.map_err(Failure::of_file(name))?;
        Ok(Self { name: name.into(), mesh, warnings: vec![], load: Cell::default() })
    }

    /// The number of triangles.
    #[wasm_bindgen(getter)]
    pub fn triangles(&self) -> usize {
        self.mesh.triangles().len()
    }

    /// The minimum and the maximum corner, in mesh units.
    #[wasm_bindgen(getter)]
    pub fn bounds(&self) -> Vec<f64> {
        self.mesh.bounds().as_flattened().to_vec()
    }

    /// The corners of its triangles, nine coordinates each, in voxels of the grid that `options`
    /// give.
    pub fn placed(&self, options: &str) -> Result<Vec<f32>, Failure> {
        let placed = voxelizer(options)?.place(&self.mesh).map_err(Failure::of_file(&self.name))?;
        let voxels_per_unit = 1.0 / f64::from(placed.mesh.lattice().units_per_voxel());
        let mut corners = with_room(9 * placed.mesh.len() as u64)?;
        let coordinates = placed.mesh.triangles().flatten().flatten();
        corners.extend(coordinates.map(|units| (f64::from(units) * voxels_per_unit) as f32));
        Ok(corners)
    }

    /// The estimated cost of voxelizing it, as JSON.
    pub fn estimate(&self, options: &str) -> Result<String, Failure> {
        let estimate = voxelizer(options)?.estimate(&self.mesh);
        let mut report = json!(estimate.map_err(Failure::of_file(&self.name))?);
        report["memory_limit"] = json!(MEMORY);
        Ok(report.to_string())
    }
}

impl Model {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// What the program reports with `--json` of the voxels that were `done` of `placed`.
    pub(crate) fn report(&self, placed: &PlacedMesh, done: &mut Voxelized) -> String {
        done.timings.load = self.load.take();
        let mut report = json!(done.summary());
        report["degenerate"] = json!(placed.degenerate());
        report["hash"] = json!(done.grid.hash());
        report["has_colors"] = json!(done.grid.colors.is_some());
        self.complete(report, &done.timings, &done.warnings)
    }

    /// What the program reports with `--json` of these distances.
    pub(crate) fn report_of_distances(&self, distances: &Distances) -> String {
        self.complete(json!(distances.summary()), &distances.timings, &distances.warnings)
    }

    fn complete(&self, mut report: Value, timings: &Timings, warnings: &[Warning]) -> String {
        report["mesh"] = json!(self.name);
        report["timings_ms"] = json!(timings);
        report["warnings"] = self.warnings.iter().chain(warnings).map(sentence).collect();
        report.to_string()
    }
}

/// A warning, with the option that helps.
fn sentence(warning: &Warning) -> String {
    warning.with_remedy(|remedy| match remedy {
        Remedy::Fill(fill) => format!("the fill {fill}"),
        Remedy::KeepTransparent => "keepTransparent".to_owned(),
        Remedy::InteriorColor => "interiorColor".to_owned(),
    })
}

/// The colours of a mesh of arrays.
#[wasm_bindgen]
pub struct Look(Colors);

enum Colors {
    OfVertices(Vec<Linear>),
    /// The texture coordinates of the vertices: `v` points down.
    OfTexture(Vec<[f32; 2]>, Texture),
}

#[wasm_bindgen]
impl Look {
    /// The sRGB bytes and the opacity of each vertex.
    pub fn of_srgb(colors: &[u8]) -> Look {
        let colors: &[Rgba] = colors.as_chunks().0;
        Self(Colors::OfVertices(colors.iter().copied().map(linear_of_rgba).collect()))
    }

    /// The linear light and the opacity of each vertex, from 0 to 1.
    pub fn of_linear(colors: &[f32]) -> Result<Look, Failure> {
        if let Some(wrong) = colors.iter().find(|c| !(0.0..=1.0).contains(*c)) {
            return Err(Failure::option(format!(
                "colors: as floats they are linear light from 0 to 1, and one is {wrong}: give \
                 sRGB bytes as a Uint8Array"
            )));
        }
        let colors: &[[f32; 4]] = colors.as_chunks().0;
        let linear = |color: &[f32; 4]| color.map(|c| (c * 65535.0).round() as u16);
        Ok(Self(Colors::OfVertices(colors.iter().map(linear).collect())))
    }

    /// u, v of each vertex, and the bytes of an image file of this name.
    pub fn of_image(uvs: &[f32], v_is_up: bool, name: &str, bytes: &[u8]) -> Result<Look, Failure> {
        let decoded = Texture::decode(bytes, name, MEMORY);
        let texture = decoded.map_err(|error| Failure::option(format!("{name}: {error}")))?;
        Self::textured(uvs, v_is_up, texture)
    }

    /// u, v of each vertex, and the RGBA bytes of an image, row by row from the top.
    pub fn of_pixels(
        uvs: &[f32],
        v_is_up: bool,
        width: u32,
        bytes: &[u8],
    ) -> Result<Look, Failure> {
        let (texels, rest) = bytes.as_chunks();
        let rows = texels.len().checked_div(width as usize).unwrap_or_default();
        if rows == 0 || rows * width as usize != texels.len() || !rest.is_empty() {
            return Err(Failure::option(format!(
                "texture: {} bytes are no rows of {width} pixels of 4 bytes",
                bytes.len()
            )));
        }
        Self::textured(uvs, v_is_up, Texture::new([width, rows as u32], texels.to_vec()))
    }
}

impl Look {
    fn textured(uvs: &[f32], v_is_up: bool, texture: Texture) -> Result<Self, Failure> {
        if let Some(wrong) = uvs.iter().find(|c| !c.is_finite()) {
            return Err(Failure::option(format!(
                "uvs: {wrong} is not possible: use finite numbers"
            )));
        }
        let uvs: &[[f32; 2]] = uvs.as_chunks().0;
        let down = |&[u, v]: &[f32; 2]| [u, if v_is_up { 1.0 - v } else { v }];
        Ok(Self(Colors::OfTexture(uvs.iter().map(down).collect(), texture)))
    }

    /// For a mesh of these triangles, which may use a vertex without texture coordinates: such
    /// meshes are refused elsewhere.
    fn appearance(self, triangles: &[[u32; 3]]) -> Appearance {
        match self.0 {
            Colors::OfVertices(vertex_colors) => {
                let alpha = Alpha::of_colors(&vertex_colors);
                let material = Material { has_vertex_colors: true, alpha, ..Material::default() };
                let materials = vec![material];
                Appearance { materials, vertex_colors, ..Appearance::default() }
            }
            Colors::OfTexture(of_vertices, texture) => {
                let materials = vec![Material::textured(0, &texture)];
                let uv = |vertex| of_vertices.get(vertex as usize).copied().unwrap_or_default();
                let uvs = triangles.iter().map(|triangle| triangle.map(uv)).collect();
                Appearance { materials, textures: vec![texture], uvs, ..Appearance::default() }
            }
        }
    }
}
