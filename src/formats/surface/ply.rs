//! Stanford `.ply`, binary and little-endian: quads with vertex colours, or a point cloud.
//!
//! Coordinates are `double` if `float` would round by more than a ten-thousandth of a voxel: for
//! grids past about 2,000 voxels per axis, or far from the origin. Colours are `red`, `green` and
//! `blue` in sRGB, with `alpha` if a voxel is not opaque. The format has no up axis.
//!
//! A point cloud has no faces, but the centres of the occupied voxels in the order of
//! [`VoxelGrid::voxels`], each with its attributes by the [names] that other programs read.
//! A comment has the voxel size.

use std::io::Write;

use super::{Element, Surface, placed};
use crate::base::srgb::Rgba;
use crate::formats::{GridSpec, Out, WriteError, lost_names, lost_up};
use crate::grid::{Attribute, Attributes, Place, VoxelGrid, mask_voxels};

pub const SPEC: GridSpec = GridSpec {
    extension: "ply",
    name: "Stanford",
    carries: "visible faces in quads of up to 64 by 64 voxels, with T-junctions; position; RGBA; \
              or points with attributes",
    lost: |grid, options| {
        let names = if options.points { lost_names(grid) } else { None };
        vec![lost_up(grid), names]
    },
    has_colors: true,
    attributes: |options| if options.points { Attribute::ALL } else { &[] },
    ..GridSpec::plain(
        |grid, options, out| {
            if options.points { write_points(grid, out) } else { write(grid, out) }
        },
    )
};

pub fn write(grid: &VoxelGrid, out: &mut Out) -> Result<(), WriteError> {
    let surface = Surface::new(grid);
    let size = surface.size.checked()?;
    let vertices = Vertices::of(grid);
    out.write_all(vertices.header(size.vertices).as_bytes())?;
    let faces = "property list uchar uint vertex_indices\nend_header";
    writeln!(out, "element face {}\n{faces}", size.quads)?;
    surface.write(out, |element, bytes| {
        let Element::Vertex(corner, color) = element else { return };
        vertices.put(corner, color, bytes);
    })?;
    surface.write(out, |element, bytes| {
        let Element::Quad(vertices) = element else { return };
        bytes.push(4);
        bytes.extend(vertices.map(|number| (number as u32).to_le_bytes()).as_flattened());
    })?;
    Ok(())
}

/// Writes the centres of the voxels of `grid` with their attributes.
fn write_points(grid: &VoxelGrid, out: &mut Out) -> Result<(), WriteError> {
    let vertices = Vertices::of(grid);
    let set = grid.attributes.as_ref().map(Attributes::set).unwrap_or_default();
    let mut header = vertices.header(grid.occupied());
    for &attribute in &set {
        let number = if attribute.is_float() { "float" } else { "int" };
        names(attribute).iter().for_each(|name| header += &format!("property {number} {name}\n"));
    }
    if let Some(Place { voxel_size, .. }) = grid.world.place {
        header += &format!("comment voxel_size {voxel_size}\n");
    }
    out.write_all((header + "end_header\n").as_bytes())?;
    let mut samples = grid.attributes.iter().flat_map(|all| all.of_voxels(grid));
    let mut bytes = Vec::new();
    for (key, mask) in grid.bricks() {
        let colors = grid.colors.as_ref().map(|colors| colors.of_brick(key));
        for voxel in mask_voxels(key.first_voxel(), mask) {
            let color = colors.as_ref().map(|colors| colors.of(voxel));
            vertices.put(voxel.map(|c| f64::from(c) + 0.5), color, &mut bytes);
            let Some(sample) = samples.next() else { continue };
            for &attribute in &set {
                let bits = attribute.bits_of(&sample).map(u32::to_le_bytes);
                bytes.extend(bits[..attribute.components()].as_flattened());
            }
        }
        out.write_all(&bytes)?;
        bytes.clear();
    }
    Ok(())
}

/// The properties of a point for the components of `attribute`.
fn names(attribute: Attribute) -> Vec<&'static str> {
    match attribute {
        Attribute::Normal => vec!["nx", "ny", "nz"],
        Attribute::Emission => vec!["emission_r", "emission_g", "emission_b"],
        // Texture coordinates of the names `u` and `v` have `v` up.
        Attribute::Uv => vec!["uv_u", "uv_v"],
        // `alpha` is that of the colour.
        Attribute::Alpha => vec!["opacity"],
        _ => vec![attribute.name()],
    }
}

/// The place and the form of vertices.
struct Vertices {
    place: Place,
    is_double: bool,
    /// The number of components of a colour.
    channels: usize,
}

impl Vertices {
    fn of(grid: &VoxelGrid) -> Self {
        let place = grid.world.place.unwrap_or_default();
        let channels = match &grid.colors {
            None => 0,
            Some(_) => 3 + usize::from(!grid.is_opaque()),
        };
        Self { place, is_double: !suits_floats(&place, grid.dims()), channels }
    }

    /// The beginning of the header of a file with `count` vertices.
    fn header(&self, count: u64) -> String {
        let number = if self.is_double { "double" } else { "float" };
        let channels = &["red", "green", "blue", "alpha"][..self.channels];
        let colors = channels.iter().map(|name| format!("property uchar {name}\n"));
        let colors: String = colors.collect();
        format!(
            "ply\n\
             format binary_little_endian 1.0\n\
             element vertex {count}\n\
             property {number} x\n\
             property {number} y\n\
             property {number} z\n\
             {colors}"
        )
    }

    /// Appends a vertex `at` a position in voxels.
    fn put(&self, at: [impl Into<f64> + Copy; 3], color: Option<Rgba>, bytes: &mut Vec<u8>) {
        let point = placed(&self.place, at);
        if self.is_double {
            bytes.extend(point.map(f64::to_le_bytes).as_flattened())
        } else {
            bytes.extend(point.map(|c| (c as f32).to_le_bytes()).as_flattened())
        }
        bytes.extend(&color.unwrap_or_default()[..self.channels]);
    }
}

/// Whether 32-bit floats represent all voxel corners to a ten-thousandth of a voxel.
fn suits_floats(place: &Place, dims: [u32; 3]) -> bool {
    let corners = [placed(place, [0; 3]), placed(place, dims)];
    let largest = corners.as_flattened().iter().fold(0.0, |most: f64, c| most.max(c.abs())) as f32;
    // The spacing of floats is largest at the largest value; past the last float it is not a
    // number.
    f64::from(largest.next_up() - largest) / 2.0 <= 1e-4 * place.voxel_size
}
