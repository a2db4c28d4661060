//! Wavefront `.obj`: quads, with colours after the vertex coordinates.
//!
//! Coordinates have as many digits as a `double` needs; colours are sRGB values from 0 to 1, as
//! MeshLab and Blender read them; there is no material file. The format has no opacity and no up
//! axis.

use std::io::{self, Write};

use super::{Element, Surface, placed};
use crate::base::srgb::Rgba;
use crate::formats::{GridSpec, Out, WriteError, lost_opacity, lost_up};
use crate::grid::VoxelGrid;

pub const SPEC: GridSpec = GridSpec {
    extension: "obj",
    name: "Wavefront",
    carries: "visible faces in quads of up to 64 by 64 voxels, with T-junctions; position; RGB",
    lost: |grid, _| vec![lost_up(grid), lost_opacity(grid)],
    has_colors: true,
    ..GridSpec::plain(|grid, _, out| write(grid, out))
};

pub fn write(grid: &VoxelGrid, out: &mut Out) -> Result<(), WriteError> {
    let place = grid.world.place.unwrap_or_default();
    Surface::new(grid).write(out, |element, bytes| {
        let written = match element {
            Element::Vertex(corner, color) => write_vertex(placed(&place, corner), color, bytes),
            Element::Quad(vertices) => {
                let [a, b, c, d] = vertices.map(|number| number + 1);
                writeln!(bytes, "f {a} {b} {c} {d}")
            }
        };
        written.expect("a list takes all bytes");
    })?;
    Ok(())
}

fn write_vertex([x, y, z]: [f64; 3], color: Option<Rgba>, out: &mut Vec<u8>) -> io::Result<()> {
    write!(out, "v {x} {y} {z}")?;
    if let Some([r, g, b, _]) = color {
        // Three digits distinguish all 8-bit values.
        let [r, g, b] = [r, g, b].map(|value| f64::from(value) / 255.0);
        write!(out, " {r:.3} {g:.3} {b:.3}")?;
    }
    writeln!(out)
}
