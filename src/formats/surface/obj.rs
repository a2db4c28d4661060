//! Wavefront `.obj`: quads, with colours after the vertex coordinates.
//!
//! Coordinates have as many digits as a `double` needs; colours are sRGB values from 0 to 1, as
//! MeshLab and Blender read them; there is no material file. The format has no opacity and no up
//! axis.

use std::io::{BufWriter, Write};

use super::{Element, elements, placed, world};
use crate::formats::{GridSpec, WriteError, lost_opacity, lost_up};
use crate::grid::VoxelGrid;

/// Wavefront OBJ, as a mesh of voxel faces.
pub const SPEC: GridSpec = GridSpec {
    extension: "obj",
    name: "Wavefront",
    carries: "visible faces in quads of up to 64 by 64 voxels, with T-junctions; position; RGB",
    write: Some(|grid, _, out| write(grid, out)),
    lost: |grid| [lost_up(grid), lost_opacity(grid)].concat(),
    has_colors: true,
    ..GridSpec::PLAIN
};

/// Writes the surface of `grid`, in constant memory.
///
/// # Errors
/// `out` fails.
pub fn write(grid: &VoxelGrid, out: &mut dyn Write) -> Result<(), WriteError> {
    let mut out = BufWriter::new(out);
    let world = world(grid);
    elements(grid, |element| {
        match element {
            Element::Vertex(corner, color) => {
                let [x, y, z] = placed(&world, corner);
                write!(out, "v {x} {y} {z}")?;
                if let Some([r, g, b, _]) = color {
                    // Three digits distinguish all 8-bit values.
                    let [r, g, b] = [r, g, b].map(|value| f64::from(value) / 255.0);
                    write!(out, " {r:.3} {g:.3} {b:.3}")?;
                }
                writeln!(out)?;
            }
            Element::Quad(vertices) => {
                let [a, b, c, d] = vertices.map(|number| number + 1);
                writeln!(out, "f {a} {b} {c} {d}")?;
            }
        }
        Ok(())
    })?;
    Ok(out.flush()?)
}
