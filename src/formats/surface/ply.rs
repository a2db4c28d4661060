//! Stanford `.ply`, binary and little-endian: quads with vertex colours.
//!
//! Coordinates are `double` if `float` would round by more than a ten-thousandth of a voxel: for
//! grids past about 2,000 voxels per axis, or far from the origin. Colours are `red`, `green` and
//! `blue` in sRGB, with `alpha` if a voxel is not opaque. The format has no up axis.

use std::io::Write;

use super::{Element, Size, Surface, is_opaque, placed};
use crate::formats::{GridSpec, Out, WriteError, lost_up};
use crate::grid::{Place, VoxelGrid};

/// Stanford PLY, as a mesh of voxel faces.
pub const SPEC: GridSpec = GridSpec {
    extension: "ply",
    name: "Stanford",
    carries: "visible faces in quads of up to 64 by 64 voxels, with T-junctions; position; RGBA",
    write: Some(|grid, _, out| write(grid, out)),
    lost: |grid, _| lost_up(grid),
    has_colors: true,
    ..GridSpec::PLAIN
};

/// Writes the surface of `grid`.
pub fn write(grid: &VoxelGrid, out: &mut Out) -> Result<(), WriteError> {
    let surface = Surface::new(grid);
    let size = surface.size.checked()?;
    let place = grid.world.place.unwrap_or_default();
    let is_double = !suits_floats(&place, grid.dims());
    let channels = match &grid.colors {
        None => 0,
        Some(_) => 3 + usize::from(!is_opaque(grid)),
    };
    out.write_all(header(size, is_double, channels).as_bytes())?;
    surface.write(out, |element, bytes| {
        let Element::Vertex(corner, color) = element else { return };
        let point = placed(&place, corner);
        if is_double {
            bytes.extend(point.map(f64::to_le_bytes).as_flattened())
        } else {
            bytes.extend(point.map(|c| (c as f32).to_le_bytes()).as_flattened())
        }
        bytes.extend(&color.unwrap_or_default()[..channels]);
    })?;
    surface.write(out, |element, bytes| {
        let Element::Quad(vertices) = element else { return };
        bytes.push(4);
        bytes.extend(vertices.map(|number| (number as u32).to_le_bytes()).as_flattened());
    })?;
    Ok(())
}

/// Whether 32-bit floats represent all voxel corners to a ten-thousandth of a voxel.
fn suits_floats(place: &Place, dims: [u32; 3]) -> bool {
    let corners = [placed(place, [0; 3]), placed(place, dims)];
    let largest = corners.as_flattened().iter().fold(0.0, |most: f64, c| most.max(c.abs())) as f32;
    // The spacing of floats is largest at the largest value; past the last float it is not a
    // number.
    f64::from(largest.next_up() - largest) / 2.0 <= 1e-4 * place.voxel_size
}

fn header(Size { vertices, quads }: Size, is_double: bool, channels: usize) -> String {
    let number = if is_double { "double" } else { "float" };
    let channels = &["red", "green", "blue", "alpha"][..channels];
    let colors: String = channels.iter().map(|name| format!("property uchar {name}\n")).collect();
    format!(
        "ply\n\
         format binary_little_endian 1.0\n\
         element vertex {vertices}\n\
         property {number} x\n\
         property {number} y\n\
         property {number} z\n\
         {colors}\
         element face {quads}\n\
         property list uchar uint vertex_indices\n\
         end_header\n"
    )
}
