//! Upload of meshes: vertex indices, three per triangle, then coordinates, three per vertex.

use std::ops::Range;
use std::sync::{Arc, Weak};

use crate::gpu::Device;
use crate::lattice::PlacedMesh;

/// Words of a triangle without shared vertices: the maximum per triangle.
pub(crate) const UNSHARED_WORDS: usize = 12;

/// Triangles of a mesh that are uploaded together.
pub(crate) struct Batch {
    triangles: Arc<Vec<[u32; 3]>>,
    vertices: Arc<Vec<[i32; 3]>>,
}

impl Batch {
    /// The triangles of `mesh` in `range`: indexed if this is the whole mesh, else with own
    /// vertices.
    pub(crate) fn new(mesh: &PlacedMesh, range: Range<usize>) -> Self {
        let is_whole = range.len() == mesh.len();
        if is_whole && mesh.vertices().len() <= 3 * mesh.len() {
            let (triangles, vertices) = (Arc::clone(&mesh.triangles), Arc::clone(&mesh.vertices));
            return Self { triangles, vertices };
        }
        let indices = (0..range.len() as u32).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]);
        Self {
            triangles: Arc::new(indices.collect()),
            vertices: Arc::new(range.flat_map(|index| mesh.triangle(index)).collect()),
        }
    }

    pub(crate) fn len(&self) -> u32 {
        self.triangles.len() as u32
    }

    /// Offset of the vertices, in words.
    pub(crate) fn vertex_words(&self) -> u32 {
        3 * self.len()
    }

    /// Words of indices and coordinates.
    pub(crate) fn words(&self) -> u64 {
        3 * (self.triangles.len() + self.vertices.len()) as u64
    }
}

/// The mesh in a buffer. A weak reference does not keep the data alive, but keeps its address
/// from being reused.
#[derive(Debug, Default)]
pub(crate) struct Uploaded {
    triangles: Weak<Vec<[u32; 3]>>,
    vertices: Weak<Vec<[i32; 3]>>,
}

impl Uploaded {
    /// Writes the part of `batch` that `buffer` does not hold: runs by several rules share a mesh,
    /// and runs at several resolutions its triangles. Returns the number of bytes written.
    pub(crate) fn update(&mut self, device: &Device, buffer: &wgpu::Buffer, batch: &Batch) -> u64 {
        let Batch { triangles, vertices } = batch;
        let has_triangles = self.triangles.as_ptr() == Arc::as_ptr(triangles);
        // Other triangles may have been written over the vertices.
        let has_vertices = has_triangles && self.vertices.as_ptr() == Arc::as_ptr(vertices);
        let mut written = 0;
        let mut write = |word: u32, bytes: &[u8]| {
            device.queue.write_buffer(buffer, 4 * u64::from(word), bytes);
            written += bytes.len() as u64;
        };
        if !has_triangles {
            write(0, bytemuck::cast_slice(triangles));
        }
        if !has_vertices {
            write(batch.vertex_words(), bytemuck::cast_slice(vertices));
        }
        *self = Self { triangles: Arc::downgrade(triangles), vertices: Arc::downgrade(vertices) };
        written
    }
}
