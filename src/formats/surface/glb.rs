//! Binary glTF 2.0, `.glb`: triangles with vertex colours.
//!
//! Positions are in voxels, exact in 32-bit floats; the node's matrix transforms them to mesh
//! coordinates. In glTF `y` is up: for grids with `z` up the matrix also rotates, `(x, y, z)` to
//! `(x, z, -y)`, without mirroring. Without normals, faces are shaded flat. Colours are 16-bit
//! linear values (`COLOR_0`) on a white, rough material, which is blended if a voxel is not opaque.
//! An empty grid is a scene without a mesh.

use std::io::Write;

use serde_json::{Value, json};

use super::{Element, Size, Surface};
use crate::base::srgb::linear_of_rgba;
use crate::formats::{GridSpec, Out, WriteError};
use crate::grid::{Place, Up, VoxelGrid, World};

pub const SPEC: GridSpec = GridSpec {
    extension: "glb",
    name: "glTF 2.0",
    carries: "visible faces in rectangles of up to 64 by 64 voxels, with T-junctions; position; \
              RGBA",
    has_colors: true,
    ..GridSpec::plain(|grid, _, out| write(grid, out))
};

/// Bytes of a rectangle's two triangles.
const INDICES: u64 = 6 * 4;

/// glTF's constants of component types and buffer targets.
const FLOAT: u32 = 5126;
const UNSIGNED_SHORT: u32 = 5123;
const UNSIGNED_INT: u32 = 5125;
const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;

pub fn write(grid: &VoxelGrid, out: &mut Out) -> Result<(), WriteError> {
    let surface = Surface::new(grid);
    let size = surface.size.checked()?;
    let bytes: u64 = parts(grid, size).iter().sum();
    let mut text = document(grid, size).to_string();
    // A chunk's length is a multiple of 4.
    text.extend(std::iter::repeat_n(' ', text.len().next_multiple_of(4) - text.len()));
    let chunk = if bytes > 0 { 8 + bytes } else { 0 };
    let length = checked(12 + 8 + text.len() as u64 + chunk)?;
    out.write_all(b"glTF")?;
    write_numbers(out, [2, length, text.len() as u32])?;
    out.write_all(b"JSON")?;
    out.write_all(text.as_bytes())?;
    if bytes > 0 {
        write_numbers(out, [bytes as u32])?;
        out.write_all(b"BIN\0")?;
        surface.write(out, |element, bytes| {
            let Element::Vertex(corner, color) = element else { return };
            bytes.extend(corner.map(|c| (c as f32).to_le_bytes()).as_flattened());
            if let Some(color) = color {
                bytes.extend(linear_of_rgba(color).map(u16::to_le_bytes).as_flattened());
            }
        })?;
        surface.write(out, |element, bytes| {
            let Element::Quad(vertices) = element else { return };
            let [a, b, c, d] = vertices.map(|number| number as u32);
            bytes.extend([a, b, c, a, c, d].map(u32::to_le_bytes).as_flattened());
        })?;
    }
    Ok(())
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

/// Bytes per vertex.
fn stride(grid: &VoxelGrid) -> u64 {
    if grid.colors.is_some() { 12 + 8 } else { 12 }
}

/// The parts of the binary chunk: bytes of vertices, and of triangles.
fn parts(grid: &VoxelGrid, size: Size) -> [u64; 2] {
    [size.vertices * stride(grid), size.quads * INDICES]
}

/// The JSON document. Its members are in alphabetical order, which is the order of `serde_json`
/// without and, here, with its feature `preserve_order`.
fn document(grid: &VoxelGrid, size: Size) -> Value {
    let asset = json!({ "generator": "trivox", "version": "2.0" });
    let matrix = matrix(grid.world);
    let scenes = json!([{ "nodes": [0] }]);
    let Some(bounds) = grid.occupied_bounds() else {
        let nodes = json!([{ "matrix": matrix, "name": "voxels" }]);
        return json!({ "asset": asset, "nodes": nodes, "scene": 0, "scenes": scenes });
    };
    let attributes = match grid.colors {
        Some(_) => json!({ "COLOR_0": 2, "POSITION": 0 }),
        None => json!({ "POSITION": 0 }),
    };
    let [vertices, triangles] = parts(grid, size);
    let color = json!({
        "baseColorFactor": [1, 1, 1, 1],
        "metallicFactor": 0,
        "roughnessFactor": 1,
    });
    json!({
        "accessors": accessors(grid, bounds, size),
        "asset": asset,
        "bufferViews": [
            {
                "buffer": 0,
                "byteLength": vertices,
                "byteOffset": 0,
                "byteStride": stride(grid),
                "target": ARRAY_BUFFER,
            },
            {
                "buffer": 0,
                "byteLength": triangles,
                "byteOffset": vertices,
                "target": ELEMENT_ARRAY_BUFFER,
            },
        ],
        "buffers": [{ "byteLength": vertices + triangles }],
        "materials": [{
            "alphaMode": if grid.is_opaque() { "OPAQUE" } else { "BLEND" },
            "pbrMetallicRoughness": color,
        }],
        "meshes": [{
            "primitives": [{ "attributes": attributes, "indices": 1, "material": 0 }],
        }],
        "nodes": [{ "matrix": matrix, "mesh": 0, "name": "voxels" }],
        "scene": 0,
        "scenes": scenes,
    })
}

fn accessors(grid: &VoxelGrid, [min, last]: [[u32; 3]; 2], size: Size) -> Vec<Value> {
    let Size { vertices, quads } = size;
    let mut accessors = vec![
        json!({
            "bufferView": 0,
            "componentType": FLOAT,
            "count": vertices,
            "max": last.map(|c| c + 1),
            "min": min,
            "type": "VEC3",
        }),
        json!({
            "bufferView": 1,
            "componentType": UNSIGNED_INT,
            "count": 6 * quads,
            "type": "SCALAR",
        }),
    ];
    if grid.colors.is_some() {
        accessors.push(json!({
            "bufferView": 0,
            "byteOffset": 12,
            "componentType": UNSIGNED_SHORT,
            "count": vertices,
            "normalized": true,
            "type": "VEC4",
        }));
    }
    accessors
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
