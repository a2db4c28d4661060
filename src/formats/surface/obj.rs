//! Wavefront `.obj`: quads, and behind the coordinates of a vertex its colour.
//!
//! Coordinates are written in as many digits as a `double` needs, colours as display values (sRGB) from
//! 0 to 1, as MeshLab and Blender read them; there is no material file. How opaque voxels are,
//! and which axis is up, is not part of the format.

use std::io::{BufWriter, Write};

use super::{Part, parts, placed, world};
use crate::formats::{GridSpec, WriteError, lost_opacity, lost_up};
use crate::grid::VoxelGrid;

/// Wavefront's, as a mesh of voxels.
pub const SPEC: GridSpec = GridSpec {
    extension: "obj",
    name: "Wavefront",
    carries: "visible faces in quads of up to 64 by 64 voxels, with T-junctions; position; RGB",
    read: None,
    write: Some(|grid, _, out| write(grid, out)),
    check_dims: |_| Ok(()),
    file_size: |_| None,
    lost: |grid| [lost_up(grid), lost_opacity(grid)].concat(),
    has_colors: true,
};

/// Writes the surface of `grid`, in little memory.
///
/// # Errors
/// `out` fails.
pub fn write(grid: &VoxelGrid, out: &mut dyn Write) -> Result<(), WriteError> {
    let mut out = BufWriter::new(out);
    let world = world(grid);
    parts(grid, |part| {
        match part {
            Part::Vertex(corner, color) => {
                let [x, y, z] = placed(&world, corner);
                write!(out, "v {x} {y} {z}")?;
                if let Some([r, g, b, _]) = color {
                    // Three digits tell all values of 8 bits apart.
                    let [r, g, b] = [r, g, b].map(|value| f64::from(value) / 255.0);
                    write!(out, " {r:.3} {g:.3} {b:.3}")?;
                }
                writeln!(out)?;
            }
            Part::Quad(vertices) => {
                let [a, b, c, d] = vertices.map(|number| number + 1);
                writeln!(out, "f {a} {b} {c} {d}")?;
            }
        }
        Ok(())
    })?;
    Ok(out.flush()?)
}
