//! Meshes as the shaders take them: vertex numbers by threes, then coordinates by threes.

use std::borrow::Cow;
use std::ops::Range;

use crate::gpu::Device;
use crate::place::PlacedMesh;

/// Words of a triangle that shares no vertex: no batch needs more for each.
pub(super) const UNSHARED_WORDS: usize = 12;

/// The triangles of a mesh that are on the GPU at once.
pub(super) struct Batch<'a> {
    triangles: Cow<'a, [[u32; 3]]>,
    vertices: Cow<'a, [[i32; 3]]>,
}

impl<'a> Batch<'a> {
    /// The triangles of `mesh` in `range`: all of them as they are, some with vertices of their own.
    pub(super) fn new(mesh: &'a PlacedMesh, range: Range<usize>) -> Self {
        let is_whole = range.len() == mesh.len();
        if is_whole && mesh.vertices().len() <= 3 * mesh.len() {
            return Self { triangles: mesh.indices().into(), vertices: mesh.vertices().into() };
        }
        let numbers = (0..range.len() as u32).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]);
        Self {
            triangles: numbers.collect(),
            vertices: range.flat_map(|index| mesh.triangle(index)).collect(),
        }
    }

    /// How many triangles it has.
    pub(super) fn len(&self) -> u32 {
        self.triangles.len() as u32
    }

    /// The word at which its vertices begin.
    pub(super) fn vertex_words(&self) -> u32 {
        3 * self.len()
    }

    /// Words of both lists.
    pub(super) fn words(&self) -> u64 {
        3 * (self.triangles.len() + self.vertices.len()) as u64
    }

    /// Hands it to the driver.
    pub(super) fn upload(&self, device: &Device, buffer: &wgpu::Buffer) {
        let triangles: &[u8] = bytemuck::cast_slice(&self.triangles);
        device.queue.write_buffer(buffer, 0, triangles);
        let vertices = bytemuck::cast_slice(&self.vertices);
        device.queue.write_buffer(buffer, triangles.len() as u64, vertices);
    }
}
