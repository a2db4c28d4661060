//! Upload of meshes: vertex indices, three per triangle, then coordinates, three per vertex.

use std::borrow::Cow;
use std::ops::Range;

use crate::gpu::Device;
use crate::place::PlacedMesh;

/// Words of a triangle without shared vertices: the maximum per triangle.
pub(super) const UNSHARED_WORDS: usize = 12;

/// Triangles of a mesh that are uploaded together.
pub(super) struct Batch<'a> {
    triangles: Cow<'a, [[u32; 3]]>,
    vertices: Cow<'a, [[i32; 3]]>,
}

impl<'a> Batch<'a> {
    /// The triangles of `mesh` in `range`: indexed if this is the whole mesh, else with own
    /// vertices.
    pub(super) fn new(mesh: &'a PlacedMesh, range: Range<usize>) -> Self {
        let is_whole = range.len() == mesh.len();
        if is_whole && mesh.vertices().len() <= 3 * mesh.len() {
            return Self { triangles: mesh.indices().into(), vertices: mesh.vertices().into() };
        }
        let indices = (0..range.len() as u32).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]);
        Self {
            triangles: indices.collect(),
            vertices: range.flat_map(|index| mesh.triangle(index)).collect(),
        }
    }

    /// Number of triangles.
    pub(super) fn len(&self) -> u32 {
        self.triangles.len() as u32
    }

    /// Offset of the vertices, in words.
    pub(super) fn vertex_words(&self) -> u32 {
        3 * self.len()
    }

    /// Words of indices and coordinates.
    pub(super) fn words(&self) -> u64 {
        3 * (self.triangles.len() + self.vertices.len()) as u64
    }

    /// Writes it to `buffer`.
    pub(super) fn upload(&self, device: &Device, buffer: &wgpu::Buffer) {
        let triangles: &[u8] = bytemuck::cast_slice(&self.triangles);
        device.queue.write_buffer(buffer, 0, triangles);
        let vertices = bytemuck::cast_slice(&self.vertices);
        device.queue.write_buffer(buffer, triangles.len() as u64, vertices);
    }
}
