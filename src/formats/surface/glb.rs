//! Binary glTF 2.0, `.glb`: triangles with vertex colours.
//!
//! Positions are in voxels, exact in 32-bit floats; the node's matrix transforms them to mesh
//! coordinates. In glTF `y` is up: for grids with `z` up the matrix also rotates, `(x, y, z)` to
//! `(x, z, -y)`, without mirroring. Without normals, faces are shaded flat. Colours are 16-bit
//! linear values (`COLOR_0`) on a white, rough material, which is blended if a voxel is not opaque.
//! An empty grid is a scene without a mesh.

use std::io::{BufWriter, Write};

use super::{Element, Size, Surface, is_opaque};
use crate::formats::{GridSpec, WriteError};
use crate::grid::{Place, Up, VoxelGrid, World};
use crate::srgb::linear_of_rgba;

/// Binary glTF, as a mesh of voxel faces.
pub const SPEC: GridSpec = GridSpec {
    extension: "glb",
    name: "glTF 2.0",
    carries: "visible faces in rectangles of up to 64 by 64 voxels, with T-junctions; position; \
              RGBA",
    write: Some(|grid, _, out| write(grid, out)),
    has_colors: true,
    ..GridSpec::PLAIN
};

/// Bytes of a rectangle's two triangles.
const INDICES: u64 = 6 * 4;

/// glTF's constants of component types and buffer targets.
const FLOAT: u32 = 5126;
const UNSIGNED_SHORT: u32 = 5123;
const UNSIGNED_INT: u32 = 5125;
const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;

/// Writes the surface of `grid`.
///
/// # Errors
/// `out` fails; the file would exceed 4 GiB, the format's limit.
pub fn write(grid: &VoxelGrid, out: &mut dyn Write) -> Result<(), WriteError> {
    let mut out = BufWriter::new(out);
    let surface = Surface::new(grid);
    let layout = Layout { size: surface.size.checked()?, has_colors: grid.colors.is_some() };
    let mut text = document(grid, layout);
    // A chunk's length is a multiple of 4.
    text.extend(std::iter::repeat_n(' ', text.len().next_multiple_of(4) - text.len()));
    let chunk = if layout.bytes() > 0 { 8 + layout.bytes() } else { 0 };
    let length = 12 + 8 + text.len() as u64 + chunk;
    let length = checked(length)?;
    out.write_all(b"glTF")?;
    write_numbers(&mut out, [2, length, text.len() as u32])?;
    out.write_all(b"JSON")?;
    out.write_all(text.as_bytes())?;
    if layout.bytes() > 0 {
        write_numbers(&mut out, [layout.bytes() as u32])?;
        out.write_all(b"BIN\0")?;
        surface.write(&mut out, put_vertex)?;
        surface.write(&mut out, put_triangles)?;
    }
    Ok(out.flush()?)
}

/// The file length, if the format can hold it.
fn checked(length: u64) -> Result<u32, WriteError> {
    u32::try_from(length).map_err(|_| {
        WriteError::Unsupported(format!(
            "the file would have {length} bytes, and a .glb has {} at most: write .ply, or at a \
             lower resolution",
            u32::MAX
        ))
    })
}

fn write_numbers<const N: usize>(out: &mut dyn Write, numbers: [u32; N]) -> std::io::Result<()> {
    out.write_all(numbers.map(u32::to_le_bytes).as_flattened())
}

fn put_vertex(element: Element, bytes: &mut Vec<u8>) {
    let Element::Vertex(corner, color) = element else { return };
    bytes.extend(corner.map(|c| (c as f32).to_le_bytes()).as_flattened());
    if let Some(color) = color {
        bytes.extend(linear_of_rgba(color).map(u16::to_le_bytes).as_flattened());
    }
}

fn put_triangles(element: Element, bytes: &mut Vec<u8>) {
    let Element::Quad(vertices) = element else { return };
    let [a, b, c, d] = vertices.map(|number| number as u32);
    bytes.extend([a, b, c, a, c, d].map(u32::to_le_bytes).as_flattened());
}

/// The binary chunk: vertices, then triangles.
#[derive(Debug, Clone, Copy)]
struct Layout {
    size: Size,
    has_colors: bool,
}

impl Layout {
    /// Bytes per vertex.
    fn stride(self) -> u64 {
        if self.has_colors { 12 + 8 } else { 12 }
    }

    fn vertex_bytes(self) -> u64 {
        self.size.vertices * self.stride()
    }

    fn triangle_bytes(self) -> u64 {
        self.size.quads * INDICES
    }

    fn bytes(self) -> u64 {
        self.vertex_bytes() + self.triangle_bytes()
    }
}

/// The JSON document, with members in a fixed order.
fn document(grid: &VoxelGrid, layout: Layout) -> String {
    let head =
        r#""asset":{"version":"2.0","generator":"trivox"},"scene":0,"scenes":[{"nodes":[0]}]"#;
    let matrix = matrix(grid.world);
    match grid.occupied_bounds() {
        None => format!(r#"{{{head},"nodes":[{{"name":"voxels","matrix":{matrix:?}}}]}}"#),
        Some(bounds) => {
            let mesh = mesh(bounds, layout, is_opaque(grid));
            format!(
                r#"{{{head},"nodes":[{{"name":"voxels","mesh":0,"matrix":{matrix:?}}}],{mesh}}}"#
            )
        }
    }
}

/// The mesh, its material, accessors, buffer views and buffer.
fn mesh([min, last]: [[u32; 3]; 2], layout: Layout, is_opaque: bool) -> String {
    let max = last.map(|c| c + 1);
    let Size { vertices, quads } = layout.size;
    let [stride, bytes] = [layout.stride(), layout.bytes()];
    let [vertex_bytes, triangle_bytes] = [layout.vertex_bytes(), layout.triangle_bytes()];
    let [attribute, accessor] = match layout.has_colors {
        false => [String::new(), String::new()],
        true => [
            r#","COLOR_0":2"#.to_owned(),
            format!(
                r#",{{"bufferView":0,"byteOffset":12,"componentType":{UNSIGNED_SHORT},"normalized":true,"count":{vertices},"type":"VEC4"}}"#
            ),
        ],
    };
    let alpha = if is_opaque { "OPAQUE" } else { "BLEND" };
    [
        format!(
            r#""meshes":[{{"primitives":[{{"attributes":{{"POSITION":0{attribute}}},"indices":1,"material":0}}]}}]"#
        ),
        format!(
            r#""materials":[{{"pbrMetallicRoughness":{{"baseColorFactor":[1,1,1,1],"metallicFactor":0,"roughnessFactor":1}},"alphaMode":"{alpha}"}}]"#
        ),
        format!(
            r#""accessors":[{{"bufferView":0,"componentType":{FLOAT},"count":{vertices},"type":"VEC3","min":{min:?},"max":{max:?}}},{{"bufferView":1,"componentType":{UNSIGNED_INT},"count":{},"type":"SCALAR"}}{accessor}]"#,
            6 * quads
        ),
        format!(
            r#""bufferViews":[{{"buffer":0,"byteOffset":0,"byteLength":{vertex_bytes},"byteStride":{stride},"target":{ARRAY_BUFFER}}},{{"buffer":0,"byteOffset":{vertex_bytes},"byteLength":{triangle_bytes},"target":{ELEMENT_ARRAY_BUFFER}}}]"#
        ),
        format!(r#""buffers":[{{"byteLength":{bytes}}}]"#),
    ]
    .join(",")
}

/// The matrix from voxels to glTF coordinates, column-major.
fn matrix(World { up, place }: World) -> [f64; 16] {
    let Place { origin: [x, y, z], voxel_size: s } = place.unwrap_or_default();
    match up {
        Up::Y => [s, 0.0, 0.0, 0.0, 0.0, s, 0.0, 0.0, 0.0, 0.0, s, 0.0, x, y, z, 1.0],
        // `0.0 - y` is never -0.
        Up::Z => [s, 0.0, 0.0, 0.0, 0.0, 0.0, -s, 0.0, 0.0, s, 0.0, 0.0, x, z, 0.0 - y, 1.0],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_more_than_4_gib_are_refused() {
        assert_eq!(checked((1 << 32) - 1).ok(), Some(u32::MAX));
        let error = checked(1 << 32).expect_err("too long").to_string();
        assert!(error.starts_with("the file would have 4294967296 bytes, and a .glb"), "{error}");
    }
}
