//! The band of distances around a surface.

use std::fmt;

use rayon::prelude::*;
use thiserror::Error;

use crate::grid::{
    BRICK, BrickKey, BrickValues, ContentHash, GridError, VoxelGrid, World, count, mask_place,
    mask_places, mask_voxels,
};

/// A narrow-band level set: signed distances from voxel centres to a surface, for the voxels nearer
/// than `width` voxels, after rounding. Outside the band a voxel is only known to be inside or
/// outside.
///
/// A distance is the `f32` nearest to the exact distance to the mesh on its lattice, in voxels,
/// negative inside. So two fields of the same mesh with the same options are equal to the bit. `==`
/// does not compare where they lie in the world.
#[derive(Clone, PartialEq)]
pub struct DistanceField {
    width: f32,
    /// The voxels with a distance.
    band: VoxelGrid,
    /// The voxels whose centre is inside.
    inside: VoxelGrid,
    /// The bricks of the band, in canonical order.
    keys: Vec<BrickKey>,
    /// The first distance of each brick, and at the end the number of distances (CSR offsets).
    starts: Vec<usize>,
    /// Without their signs: by brick, then in the order of its mask.
    distances: Vec<f32>,
}

/// Why voxels and distances are no field.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum FieldError {
    /// A width that is not above 0 and finite.
    #[error("a width of {0} voxels is not possible: use a finite number above 0")]
    Width(f32),
    /// A voxel outside of the grid.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// A voxel with two distances.
    #[error("voxel ({}, {}, {}) appears twice", .0[0], .0[1], .0[2])]
    Twice([u32; 3]),
    /// A distance that is not below the width, or of the wrong sign.
    #[error(
        "a distance of {distance} is not possible for voxel ({}, {}, {}), which is {}: use numbers \
         of voxels below the width, {width}, negative inside",
        .voxel[0], .voxel[1], .voxel[2], if *.is_inside { "inside" } else { "outside" }
    )]
    Distance {
        /// In voxels.
        distance: f32,
        /// Its voxel.
        voxel: [u32; 3],
        /// Whether the voxel's centre is inside.
        is_inside: bool,
        /// In voxels.
        width: f32,
    },
}

impl DistanceField {
    /// `distances` are without signs, in the order of [`distances`](Self::distances); the grids
    /// must agree in dimensions.
    pub(crate) fn new(width: f32, [band, inside]: [VoxelGrid; 2], distances: Vec<f32>) -> Self {
        let mut keys = Vec::with_capacity(band.brick_count() as usize);
        let mut starts = vec![0];
        let mut end = 0;
        for (key, mask) in band.bricks() {
            end += count(&mask) as usize;
            keys.push(key);
            starts.push(end);
        }
        Self { width, band, inside, keys, starts, distances }
    }

    /// A field of its parts: the voxels with a distance, those inside, and the distances in the
    /// order of [`distances`](Self::distances), signed or not. `None` if they do not belong
    /// together, or the width is not above 0 and finite.
    #[must_use]
    pub fn of_parts(
        width: f32,
        [band, inside]: [VoxelGrid; 2],
        distances: Vec<f32>,
    ) -> Option<Self> {
        let is_distance = |distance: &f32| distance.abs() < width;
        let is_whole = width > 0.0
            && width.is_finite()
            && band.dims() == inside.dims()
            && band.occupied() == distances.len() as u64
            && distances.iter().all(is_distance);
        let distances = distances.into_iter().map(f32::abs).collect();
        is_whole.then(|| Self::new(width, [band, inside], distances))
    }

    /// A field from the solid `inside` and the band's voxels with their signed distances, in any
    /// order.
    ///
    /// # Errors
    /// A width that is not above 0 and finite; a voxel that is repeated or outside of the grid; a
    /// distance that is not below the width, or whose sign contradicts `inside`.
    pub fn of_voxels(
        width: f32,
        inside: VoxelGrid,
        mut voxels: Vec<([u32; 3], f32)>,
    ) -> Result<Self, FieldError> {
        if !(width > 0.0 && width.is_finite()) {
            return Err(FieldError::Width(width));
        }
        let dims = inside.dims();
        let is_outside = |&&(voxel, _): &&([u32; 3], f32)| (0..3).any(|a| voxel[a] >= dims[a]);
        if let Some(&(voxel, _)) = voxels.iter().find(is_outside) {
            return Err(GridError::Outside { voxel, dims }.into());
        }
        voxels.par_sort_unstable_by_key(|&(v, _)| (BrickKey::of_voxel(v), mask_place(v)));
        if let Some(twice) = voxels.windows(2).find(|two| two[0].0 == two[1].0) {
            return Err(FieldError::Twice(twice[0].0));
        }
        let is_wrong = |&&(voxel, distance): &&([u32; 3], f32)| {
            let is_contrary = distance != 0.0 && (distance < 0.0) != inside.contains(voxel);
            is_contrary || distance.is_nan() || distance.abs() >= width
        };
        if let Some(&(voxel, distance)) = voxels.par_iter().find_first(is_wrong) {
            let is_inside = inside.contains(voxel);
            return Err(FieldError::Distance { distance, voxel, is_inside, width });
        }
        let band = VoxelGrid::from_voxels(dims, voxels.iter().map(|&(voxel, _)| voxel))?;
        let distances = voxels.iter().map(|(_, distance)| distance.abs()).collect();
        Ok(Self::new(width, [band.with_world(inside.world), inside], distances))
    }

    /// Voxels along each axis.
    #[must_use]
    pub fn dims(&self) -> [u32; 3] {
        self.band.dims()
    }

    /// The up axis, and the place of the field.
    #[must_use]
    pub fn world(&self) -> World {
        self.band.world
    }

    /// The same distances at `world`.
    #[must_use]
    pub fn with_world(mut self, world: World) -> Self {
        (self.band.world, self.inside.world) = (world, world);
        self
    }

    /// All distances are below this, in voxels.
    #[must_use]
    pub fn width(&self) -> f32 {
        self.width
    }

    /// The voxels that have a distance.
    #[must_use]
    pub fn band(&self) -> &VoxelGrid {
        &self.band
    }

    /// The voxels whose centre is inside the surface, in the band or not.
    #[must_use]
    pub fn inside(&self) -> &VoxelGrid {
        &self.inside
    }

    /// The signed distance of voxel `(x, y, z)` in voxels; outside the band plus or minus the
    /// width, and outside the grid plus the width.
    #[must_use]
    pub fn get(&self, voxel: [u32; 3]) -> f32 {
        if (0..3).any(|a| voxel[a] >= self.inside.dims()[a]) {
            return self.width;
        }
        let (x, bit) = mask_place(voxel);
        self.in_brick(BrickKey::of_voxel(voxel))(x as u32, bit)
    }

    /// The signed distance at a point, in voxels: by trilinear interpolation between the eight
    /// nearest voxel centres, in `f64`, rounded once. `point` is in voxels from the grid's minimum
    /// corner, as [`Place::to_voxels`](crate::Place::to_voxels) gives it. Less than half a voxel
    /// from the grid's boundary it is that at the nearest point between centres. A voxel outside
    /// the band counts as plus or minus the width. `None` outside the grid.
    ///
    /// ```
    /// use trivox::{Mesh, Voxelizer};
    ///
    /// let corners = vec![[0.0, 0.0, 0.0], [8.0, 0.0, 0.0], [0.0, 8.0, 0.0], [0.0, 0.0, 8.0]];
    /// let mesh = Mesh::new(corners, vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])?;
    /// let field = Voxelizer::new().resolution(8).distances(&mesh, 2.0)?.field;
    /// let place = field.world().place.expect("that of the mesh");
    /// // Half a unit, and half a voxel, below the side at z = 0.
    /// assert_eq!(field.sample(place.to_voxels([2.0, 2.0, -0.5])), Some(0.5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn sample(&self, point: [f64; 3]) -> Option<f32> {
        let dims = self.dims();
        // False for NaN.
        if !(0..3).all(|a| (0.0..=f64::from(dims[a])).contains(&point[a])) {
            return None;
        }
        let center = [0, 1, 2].map(|a| (point[a] - 0.5).clamp(0.0, f64::from(dims[a] - 1)));
        let low = center.map(|c| c as u32);
        let high = [0, 1, 2].map(|a| (low[a] + 1).min(dims[a] - 1));
        let share = [0, 1, 2].map(|a| center[a] - f64::from(low[a]));
        let along = |axis: usize, [from, to]: [f64; 2]| from + share[axis] * (to - from);
        let edge = |x, y| along(2, [low[2], high[2]].map(|z| self.get([x, y, z]).into()));
        let face = |x| along(1, [low[1], high[1]].map(|y| edge(x, y)));
        Some(along(0, [low[0], high[0]].map(face)) as f32)
    }

    /// The voxels of the band with their signed distances in voxels, brick by brick.
    pub fn distances(&self) -> impl Iterator<Item = ([u32; 3], f32)> + '_ {
        self.band.bricks().flat_map(|(key, mask)| {
            let distances = self.in_brick(key);
            let distances = mask_places(mask).map(move |(x, bit)| distances(x, bit));
            mask_voxels(key.first_voxel(), mask).zip(distances)
        })
    }

    /// The voxels whose distances differ. `other` has the same dimensions. Outside its band a voxel
    /// counts as plus or minus the width; outside both bands only the signs are compared.
    pub fn differing_voxels<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = [u32; 3]> + 'a {
        // Voxels that only the other has in its band.
        let is_new = |&(voxel, _): &([u32; 3], f32)| !self.band.contains(voxel);
        let either = self.distances().chain(other.distances().filter(is_new));
        let differ = |&voxel: &[u32; 3]| self.get(voxel) != other.get(voxel);
        let in_bands = either.map(|(voxel, _)| voxel).filter(differ);
        let is_outside =
            |voxel: &[u32; 3]| !self.band.contains(*voxel) && !other.band.contains(*voxel);
        let signs = self.inside.differing_voxels(&other.inside).map(|(voxel, _)| voxel);
        in_bands.chain(signs.filter(is_outside))
    }

    /// A function from the word and the bit of a voxel in a brick's mask to its signed distance,
    /// which outside the band is plus or minus the width.
    pub(crate) fn in_brick(&self, key: BrickKey) -> impl Fn(u32, u32) -> f32 {
        let at = self.keys.binary_search(&key);
        let own = at.map_or(&[][..], |at| &self.distances[self.starts[at]..self.starts[at + 1]]);
        let distances = BrickValues::new(self.band.mask_of(key), own, self.width);
        let inside = self.inside.mask_of(key);
        move |x, bit| {
            let distance = distances.at(x, bit);
            // Inside, a zero is -0.
            if inside[x as usize] >> bit & 1 == 1 { -distance } else { distance }
        }
    }

    /// Writes the signed distances in voxels of all voxels, by index `[x, y, z]` in C order;
    /// outside the band plus or minus the width.
    ///
    /// # Panics
    /// `out` does not have one element for each voxel.
    pub fn fill_dense(&self, out: &mut [f32]) {
        let [nx, ny, nz] = self.dims().map(|d| d as usize);
        assert_eq!(out.len(), nx * ny * nz, "elements");
        let layers = out.par_chunks_mut(ny * nz).enumerate();
        layers.for_each(|(x, layer)| self.fill_layer(x as u32, layer));
    }

    /// Writes the signed distances of the voxels at one `x`.
    pub(crate) fn fill_layer(&self, x: u32, out: &mut [f32]) {
        let [_, ny, nz] = self.dims();
        let starts = |voxels: u32| (0..voxels).step_by(BRICK as usize);
        for (y, z) in starts(ny).flat_map(|y| starts(nz).map(move |z| (y, z))) {
            let key = BrickKey::new([x, y, z].map(|c| c / BRICK));
            let distances = self.in_brick(key);
            for row in 0..BRICK.min(ny - y) {
                let first = (y + row) as usize * nz as usize + z as usize;
                for (bit, out) in (8 * row..).zip(&mut out[first..][..BRICK.min(nz - z) as usize]) {
                    *out = distances(x % BRICK, bit);
                }
            }
        }
    }

    /// Bytes of memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let index = size_of_val(&self.keys[..]) + size_of_val(&self.starts[..]);
        self.band.bytes() + self.inside.bytes() + (index + size_of_val(&self.distances[..])) as u64
    }

    /// A hash of the dimensions, the width, the voxels inside, those in the band and their
    /// distances: the same on every machine.
    ///
    /// The first 128 bits of BLAKE3 over the text `trivox distances 1`, the hashes of band and
    /// inside as [`VoxelGrid::hash`] prints them, and width and distances, without signs, as
    /// little-endian `f32`.
    #[must_use]
    pub fn hash(&self) -> ContentHash {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"trivox distances 1");
        hasher.update(self.band.hash().to_string().as_bytes());
        hasher.update(self.inside.hash().to_string().as_bytes());
        hasher.update(&self.width.to_le_bytes());
        for distances in self.distances.chunks(1 << 12) {
            let bytes: Vec<u8> = distances.iter().flat_map(|d| d.to_le_bytes()).collect();
            hasher.update(&bytes);
        }
        ContentHash::of(&hasher)
    }
}

impl fmt::Debug for DistanceField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([x, y, z], width, count) = (self.dims(), self.width, self.distances.len());
        write!(f, "DistanceField({x}x{y}x{z}, {count} distances below {width}, {})", self.hash())
    }
}
