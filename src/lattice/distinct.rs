//! Triangles that a mesh repeats: the same corners in the same order and, for colours, of the same
//! appearance. A surface, its distances and its colours need each only once.

use std::borrow::Cow;
use std::sync::Arc;

use crate::lattice::{Aabb, PlacedMesh};

/// The least extent of a triangle, in voxels, for a search for its repetitions. To find a smaller
/// one takes about as long as to voxelize it.
const MIN_EXTENT: i32 = 16;
/// Slots of the hash table: several times the triangles of a file of 1 MB.
const MAX_SLOTS: usize = 1 << 17;

/// A triangle's corners, and the material, texture coordinates and colours at them.
type Key = [u32; 28];

/// The triangles of a mesh without repetitions.
pub(crate) struct Distinct<'a> {
    pub(crate) mesh: &'a PlacedMesh,
    /// How often each triangle is there; 0 for a repetition of an earlier one. Empty if none is.
    copies: Vec<u32>,
}

impl<'a> Distinct<'a> {
    /// Finds the triangles that differ in corners or, `with_appearance`, in appearance. Misses a
    /// repetition if another triangle took the slot of the first one.
    pub(crate) fn of(mesh: &'a PlacedMesh, with_appearance: bool) -> Self {
        let min_extent = MIN_EXTENT << mesh.lattice().fraction_bits;
        let slots = mesh.len().clamp(1 << 10, MAX_SLOTS).next_power_of_two();
        // The hash and the index of a triangle, a later one in place of an earlier one.
        let mut remembered = vec![(0, u32::MAX); slots];
        let mut copies = Vec::new();
        for (index, triangle) in mesh.triangles().enumerate() {
            if Aabb::of(&triangle).length() < min_extent {
                continue;
            }
            let key = key(mesh, index, with_appearance);
            let hash = key.iter().fold(0, |hash: u64, &word| {
                (hash.rotate_left(23) ^ u64::from(word)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
            });
            let slot = &mut remembered[(hash >> 40) as usize % slots];
            let (of, first) = (hash as u32, slot.1 as usize);
            if slot.0 == of && first < mesh.len() && self::key(mesh, first, with_appearance) == key
            {
                copies.resize(mesh.len(), 1);
                copies[first] += 1;
                copies[index] = 0;
            } else {
                *slot = (of, index as u32);
            }
        }
        Self { mesh, copies }
    }

    /// How often a triangle is there; 0 for a repetition of an earlier one.
    #[inline]
    pub(crate) fn copies(&self, triangle: u32) -> u32 {
        self.copies.get(triangle as usize).copied().unwrap_or(1)
    }

    /// The indices of the triangles that repeat no earlier one.
    pub(crate) fn triangles(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.mesh.len() as u32).filter(|&triangle| self.copies(triangle) > 0)
    }

    /// A mesh without repeated triangles and without appearance.
    pub(crate) fn into_mesh(self) -> Cow<'a, PlacedMesh> {
        if self.copies.is_empty() {
            return Cow::Borrowed(self.mesh);
        }
        let indices = self.mesh.indices();
        let triangles = self.triangles().map(|triangle| indices[triangle as usize]).collect();
        let (triangles, appearance) = (Arc::new(triangles), None);
        Cow::Owned(PlacedMesh { triangles, appearance, part: None, ..self.mesh.clone() })
    }
}

fn key(mesh: &PlacedMesh, index: usize, with_appearance: bool) -> Key {
    let mut key = [0; 28];
    let corners = mesh.triangle(index);
    for (word, coordinate) in key.iter_mut().zip(corners.as_flattened()) {
        *word = coordinate.cast_unsigned();
    }
    if let Some(look) = mesh.appearance().filter(|_| with_appearance) {
        let source = mesh.source(index);
        key[9] = look.material_index(source);
        let uvs = look.uvs.get(source).into_iter().flatten().flatten().map(|c| c.to_bits());
        let color = |&vertex: &u32| look.vertex_colors.get(vertex as usize).copied();
        let colors = mesh.indices()[index].iter().filter_map(color).flatten().map(u32::from);
        for (word, value) in key[10..].iter_mut().zip(uvs.chain(colors)) {
            *word = value;
        }
    }
    key
}
