//! Windows of a lattice: a mesh on the part of a grid that one machine voxelizes.
//!
//! A window begins and ends at bricks. Its mesh has the lattice points of the whole, shifted by
//! whole bricks, and only the triangles that its voxels can depend on; so its voxels and its
//! colours are those of the whole, to the bit. Around the window lies a halo of one brick: the thin
//! surface treats the grid's far face apart, and a solid's exposed voxels take colours of their
//! neighbours.
//!
//! Properties of the whole mesh (whether it is closed, which parts are flipped) are found on the
//! whole mesh, which the mesh of a window keeps.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use rayon::prelude::*;
use serde::Serialize;
use thiserror::Error;

use crate::base::error_code::ErrorCode;
use crate::base::numbers::{AXES, counted, grouped};
use crate::base::vector::minus;
use crate::lattice::choice::cube;
use crate::lattice::{
    Aabb, Lattice, MAX_DIM, MAX_SPAN_VOXELS, MIN_FRACTION_BITS, PlaceError, PlacedMesh, SPAN_BITS,
};

/// Windows begin at multiples of this many voxels: the edge of a brick.
pub(crate) const WINDOW_STEP: u32 = 8;

/// Voxels around a window that are computed with it.
const HALO: u32 = WINDOW_STEP;

/// A box of voxels of a lattice, half-open. Its corners are corners of bricks, or lie at the end of
/// the lattice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct Window {
    /// The first voxel; multiples of 8.
    pub from: [u32; 3],
    /// After the last voxel; multiples of 8, or the dimension.
    pub to: [u32; 3],
}

impl Window {
    /// Voxels along each axis.
    #[must_use]
    pub fn dims(&self) -> [u32; 3] {
        [0, 1, 2].map(|a| self.to[a].saturating_sub(self.from[a]))
    }

    /// With the halo, within `dims`.
    fn with_halo(&self, dims: [u32; 3]) -> Self {
        Self {
            from: self.from.map(|c| c.saturating_sub(HALO)),
            to: [0, 1, 2].map(|a| (self.to[a] + HALO).min(dims[a])),
        }
    }
}

/// The number of tiles of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tiles {
    /// Tiles along each axis.
    Along([u32; 3]),
    /// Tiles in all: each prime factor, the largest first, divides the axis along which tiles are
    /// longest.
    Total(u32),
}

/// One of the tiles into which a grid is cut: brick by brick, as evenly as can be.
///
/// `3/8` is the third of eight tiles, `3/4x2x1` the third of four along x times two along y. They
/// are counted from 1, with x fastest, then y, then z.
///
/// ```
/// use trivox::lattice::{Tile, Window};
/// use trivox::{Lattice, Mesh, PlaceOptions, Sizing};
///
/// let corners = vec![[0.0; 3], [100.0, 0.0, 0.0], [0.0, 50.0, 20.0]];
/// let mesh = Mesh::new(corners, vec![[0, 1, 2]])?;
/// let lattice = Lattice::of(&mesh, &PlaceOptions::new(Sizing::Resolution(100)))?;
/// let tile: Tile = "2/2x1x1".parse()?;
/// assert_eq!(lattice.tile(&tile)?, Window { from: [48, 0, 0], to: [100, 50, 20] });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tile {
    /// The tile's number, from 0.
    pub index: u64,
    /// The tiles of the grid.
    pub of: Tiles,
}

/// A tile or a window that cannot be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TileError {
    /// Text that is not a tile.
    #[error("write I/N or I/XxYxZ, such as 3/8 or 3/2x2x2 for the third of eight tiles")]
    Syntax,
    /// No tile has this number.
    #[error("there is no tile {number} of {count}: tiles are counted from 1 to {count}")]
    Number {
        /// The number, from 1.
        number: u64,
        /// How many tiles there are.
        count: u64,
    },
    /// More tiles than bricks.
    #[error(
        "{tiles} tiles along the {axis} axis are too many: the grid has {} of 8 voxels there",
        counted((*.bricks).into(), "brick")
    )]
    TooMany {
        /// `x`, `y` or `z`.
        axis: char,
        /// The tiles along it.
        tiles: u32,
        /// The bricks along it.
        bricks: u32,
    },
    /// A window that is empty, outside the lattice or not of bricks.
    #[error(
        "the window from {from} to {to} along the {axis} axis is not possible: it must begin at a \
         multiple of 8, and end after that at a multiple of 8 or at the grid's end, {dim}"
    )]
    Window {
        /// `x`, `y` or `z`.
        axis: char,
        /// The first voxel.
        from: u32,
        /// After the last voxel.
        to: u32,
        /// Voxels along the axis.
        dim: u32,
    },
    /// A window that is larger than a grid in memory can be.
    #[error(
        "a tile of {} voxels along the {axis} axis, with 8 more on each side, is too large: at most \
         {} are supported: use more tiles", grouped((*.voxels).into()), grouped(MAX_DIM.into())
    )]
    TooLarge {
        /// `x`, `y` or `z`.
        axis: char,
        /// Voxels along it.
        voxels: u32,
    },
}

impl ErrorCode for TileError {
    fn code(&self) -> &'static str {
        "place.tile"
    }
}

impl Tiles {
    /// How many along each axis of a grid of `dims` voxels.
    #[must_use]
    pub fn along(self, dims: [u32; 3]) -> [u32; 3] {
        let mut rest = match self {
            Self::Along(tiles) => return tiles,
            Self::Total(count) => count,
        };
        let mut factors = Vec::new();
        let mut factor = 2;
        while u64::from(factor).pow(2) <= u64::from(rest) {
            while rest.is_multiple_of(factor) {
                factors.push(factor);
                rest /= factor;
            }
            factor += 1;
        }
        factors.push(rest);
        let mut tiles = [1; 3];
        for factor in factors.into_iter().rev() {
            // `dims[a] / tiles[a]`, compared without division; the first of equals.
            let longer = |a: usize, b: usize| {
                u64::from(dims[b]) * u64::from(tiles[a]) > u64::from(dims[a]) * u64::from(tiles[b])
            };
            let longest = (1..3).fold(0, |a, b| if longer(a, b) { b } else { a });
            tiles[longest] *= factor;
        }
        tiles
    }

    /// How many in all.
    #[must_use]
    pub fn count(self) -> u64 {
        match self {
            Self::Along(tiles) => {
                tiles.into_iter().fold(1, |count, tiles| count.saturating_mul(tiles.into()))
            }
            Self::Total(count) => count.into(),
        }
    }
}

impl FromStr for Tile {
    type Err = TileError;

    fn from_str(text: &str) -> Result<Self, TileError> {
        let (number, of) = text.split_once('/').ok_or(TileError::Syntax)?;
        let tiles = |text: &str| text.trim().parse::<u32>().ok().filter(|&tiles| tiles > 0);
        let of: Option<Vec<u32>> = of.split(['x', ',']).map(tiles).collect();
        let of = match of.as_deref() {
            Some(&[count]) => Tiles::Total(count),
            Some(&[x, y, z]) => Tiles::Along([x, y, z]),
            _ => return Err(TileError::Syntax),
        };
        let number: u64 = number.trim().parse().map_err(|_| TileError::Syntax)?;
        match number.checked_sub(1) {
            Some(index) if number <= of.count() => Ok(Self { index, of }),
            _ => Err(TileError::Number { number, count: of.count() }),
        }
    }
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.index.saturating_add(1);
        match self.of {
            Tiles::Along([x, y, z]) => write!(f, "{number}/{x}x{y}x{z}"),
            Tiles::Total(count) => write!(f, "{number}/{count}"),
        }
    }
}

impl Lattice {
    /// The window of `tile`. All tiles together are the lattice, and no two share a voxel.
    ///
    /// # Errors
    /// More tiles along an axis than bricks; a tile that does not exist.
    pub fn tile(&self, tile: &Tile) -> Result<Window, TileError> {
        let of = tile.of.along(self.dims);
        let bricks = self.dims.map(|dim| dim.div_ceil(WINDOW_STEP));
        if let Some(a) = (0..3).find(|&a| of[a] > bricks[a]) {
            return Err(TileError::TooMany { axis: AXES[a], tiles: of[a], bricks: bricks[a] });
        }
        let count = tile.of.count();
        if tile.index >= count {
            return Err(TileError::Number { number: tile.index.saturating_add(1), count });
        }
        let [x, y, z] = of.map(u64::from);
        let at = [tile.index % x, tile.index / x % y, tile.index / x / y % z];
        // Below 2^17 bricks times 2^17 tiles.
        let cut =
            |a: usize, at: u64| (at * u64::from(bricks[a]) / u64::from(of[a])) as u32 * WINDOW_STEP;
        Ok(Window {
            from: [0, 1, 2].map(|a| cut(a, at[a])),
            to: [0, 1, 2].map(|a| cut(a, at[a] + 1).min(self.dims[a])),
        })
    }

    /// # Errors
    /// A window that this lattice does not have.
    fn check_window(&self, window: &Window) -> Result<(), TileError> {
        for (a, axis) in AXES.into_iter().enumerate() {
            let (from, to, dim) = (window.from[a], window.to[a], self.dims[a]);
            let is_end = to == dim || to.is_multiple_of(WINDOW_STEP) && to < dim;
            if !(from.is_multiple_of(WINDOW_STEP) && from < to && is_end) {
                return Err(TileError::Window { axis, from, to, dim });
            }
        }
        Ok(())
    }

    /// The lattice of `dims` voxels from voxel `from` on, with the same lattice points.
    fn part(&self, from: [u32; 3], dims: [u32; 3]) -> Self {
        let origin = |a: usize| self.origin[a] + f64::from(from[a]) * self.voxel_size;
        Self {
            dims,
            origin: [0, 1, 2].map(origin),
            anchor_voxel: [0, 1, 2].map(|a| self.anchor_voxel[a] - from[a] as i32),
            ..*self
        }
    }
}

/// The triangles on which the voxels of a window can depend.
///
/// In ascending order: each includes the triangles of those before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WindowReach {
    /// The triangles at the window: for surfaces.
    Box,
    /// Also the triangles that columns along `x` through the window can cross: for solids by parity
    /// or winding.
    ColumnsAlongX,
    /// Also the triangles that columns along any axis through the window can cross: for solids by
    /// vote.
    Columns,
}

impl WindowReach {
    /// Whether it includes a triangle that overlaps the window along these axes.
    fn includes(self, overlaps: [bool; 3]) -> bool {
        match self {
            Self::Box => overlaps == [true; 3],
            Self::ColumnsAlongX => overlaps[1] && overlaps[2],
            Self::Columns => overlaps.iter().filter(|&&overlaps| overlaps).count() >= 2,
        }
    }
}

/// The whole mesh of a part in a window, and the place of the part in it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WindowPart {
    /// The whole mesh, on the whole lattice.
    whole: PlacedMesh,
    /// The window that was asked for, in voxels of the whole lattice.
    window: Window,
    /// The rule by which its triangles were chosen.
    reach: WindowReach,
    /// The first voxel of the part's lattice.
    from: [u32; 3],
    /// The number of each triangle in the whole mesh.
    sources: Vec<u32>,
}

impl PlacedMesh {
    /// The mesh in a window, on a lattice that holds the window and a halo: the part of the whole
    /// mesh that `reach` says. [`trivox::Mode::reach`](crate::Mode::reach) tells it for a mode; a
    /// mode that needs a larger one is refused.
    ///
    /// The bit budget of the part is that of its own triangles: those left out need no bits. Where
    /// large triangles remain, the part's lattice may begin before the halo.
    ///
    /// # Errors
    /// A window that the lattice does not have; one that is larger than a grid can be.
    pub fn in_window(&self, window: &Window, reach: WindowReach) -> Result<Self, PlaceError> {
        let whole = self.whole();
        whole.lattice.check_window(window)?;
        let halo = window.with_halo(whole.lattice.dims);
        let bits = whole.lattice.fraction_bits;
        // Below 2^24: dimensions are at most 2^(24 - F).
        let [lo, hi] = [halo.from, halo.to].map(|corner| corner.map(|c| (c << bits) as i32));
        let is_needed = |&index: &u32| {
            let own = Aabb::of(&whole.triangle(index as usize));
            reach.includes([0, 1, 2].map(|a| own.hi[a] >= lo[a] && own.lo[a] <= hi[a]))
        };
        let sources: Vec<u32> = (0..whole.len() as u32).into_par_iter().filter(is_needed).collect();
        let from = whole.origin_for(&halo, &sources);
        let dims = [0, 1, 2].map(|a| halo.to[a] - from[a]);
        if let Some(a) = (0..3).find(|&a| dims[a] > MAX_DIM) {
            return Err(TileError::TooLarge { axis: AXES[a], voxels: window.dims()[a] }.into());
        }
        let part = WindowPart { whole: whole.clone(), window: *window, reach, from, sources };
        Ok(part.into_mesh(dims))
    }

    /// The mesh of some of the triangles of the whole mesh, in ascending order, in the same window
    /// and on the same lattice; without appearance and labels.
    pub(crate) fn only(&self, triangles: &[u32]) -> Self {
        let whole = self.whole();
        let corners = |&index: &u32| whole.triangles[index as usize];
        let mut used: Vec<u32> = triangles.par_iter().flat_map_iter(corners).collect();
        used.par_sort_unstable();
        used.dedup();
        let renumbered = |index: &u32| {
            corners(index).map(|vertex| used.partition_point(|&other| other < vertex) as u32)
        };
        let only = Self {
            lattice: whole.lattice,
            vertices: Arc::new(used.iter().map(|&index| whole.vertices[index as usize]).collect()),
            triangles: Arc::new(triangles.par_iter().map(renumbered).collect()),
            appearance: None,
            labels: None,
            part: None,
        };
        let Some(part) = &self.part else { return only };
        let is_in_part = |&n: &u32| part.sources.binary_search(&triangles[n as usize]).is_ok();
        let sources = (0..triangles.len() as u32).into_par_iter().filter(is_in_part).collect();
        let WindowPart { window, reach, from, .. } = **part;
        WindowPart { whole: only, window, reach, from, sources }.into_mesh(self.lattice.dims)
    }

    /// The same lattice points and window with voxels a `2^bits`th as wide, without appearance and
    /// labels. `None` if a voxel would have fewer units than [`MIN_FRACTION_BITS`], or a dimension
    /// reach [`MAX_DIM`].
    pub(crate) fn finer(&self, bits: u32) -> Option<Self> {
        let Lattice { dims, fraction_bits, .. } = self.lattice;
        let has_units = fraction_bits >= MIN_FRACTION_BITS + bits;
        let is_possible = has_units && dims.iter().all(|&dim| dim < MAX_DIM >> bits);
        is_possible.then(|| self.divided(bits))
    }

    /// The bit budget holds: in lattice units the grid is as large as before, or a smaller cube, of
    /// [`MIN_CUBE`](crate::lattice::MIN_CUBE) voxels.
    fn divided(&self, bits: u32) -> Self {
        let divided = |corner: [u32; 3]| corner.map(|c| c << bits);
        let lattice = Lattice {
            dims: divided(self.lattice.dims),
            fraction_bits: self.lattice.fraction_bits - bits,
            voxel_size: self.lattice.voxel_size / f64::from(1_u32 << bits),
            anchor_voxel: self.lattice.anchor_voxel.map(|c| c << bits),
            ..self.lattice
        };
        let part = self.part.as_deref().map(|part| {
            let Window { from, to } = part.window;
            Arc::new(WindowPart {
                whole: part.whole.divided(bits),
                window: Window { from: divided(from), to: divided(to) },
                from: divided(part.from),
                ..part.clone()
            })
        });
        Self { lattice, part, appearance: None, labels: None, ..self.clone() }
    }

    /// The first voxel of the lattice of a part: at `halo`, or as far before it as the bit budget
    /// requires for the triangles in `sources`.
    fn origin_for(&self, halo: &Window, sources: &[u32]) -> [u32; 3] {
        let bits = self.lattice.fraction_bits;
        let span = 1_i64 << (SPAN_BITS - bits);
        let edge = i64::from(cube(halo.dims()));
        let boxes = sources.par_iter().map(|&index| Aabb::of(&self.triangle(index as usize)));
        let lowest = boxes.reduce(|| Aabb::EMPTY, Aabb::union).lo;
        [0, 1, 2].map(|a| {
            let lowest = i64::from(lowest[a] >> bits);
            let begin = i64::from(halo.from[a]);
            // The cube must end within a span of the lowest vertex. As the whole's cube does, and
            // is no smaller, this is at least 0.
            let latest = if lowest < begin { begin.min(lowest + span - edge) } else { begin };
            latest.max(0) as u32 / WINDOW_STEP * WINDOW_STEP
        })
    }

    /// This mesh, if its grid can be in memory as a whole.
    ///
    /// # Errors
    /// A dimension above [`MAX_DIM`].
    pub(crate) fn in_memory(self) -> Result<Self, PlaceError> {
        match (0..3).find(|&a| self.lattice.dims[a] > MAX_DIM) {
            Some(a) => {
                let voxels = f64::from(self.lattice.dims[a]);
                Err(PlaceError::TooManyVoxels { axis: AXES[a], voxels, limit: MAX_DIM })
            }
            None => Ok(self),
        }
    }

    /// Voxels along each axis of the window; of a whole mesh, those of its lattice.
    #[must_use]
    pub fn window_dims(&self) -> [u32; 3] {
        self.window().map_or(self.lattice.dims, Window::dims)
    }

    /// The whole mesh, of which this is the part in a window; else this mesh.
    #[must_use]
    pub fn whole(&self) -> &Self {
        self.part.as_ref().map_or(self, |part| &part.whole)
    }

    /// The window, in voxels of the lattice of [`whole`](Self::whole); `None` if this is a whole
    /// mesh.
    #[must_use]
    pub fn window(&self) -> Option<&Window> {
        self.part.as_ref().map(|part| &part.window)
    }

    /// Whether voxels of the window that depend on the triangles in `reach` can be found.
    pub(crate) fn has(&self, reach: WindowReach) -> bool {
        self.part.as_ref().is_none_or(|part| part.reach >= reach)
    }

    /// The window in this mesh's own lattice, which is larger by the halo.
    pub(crate) fn own_window(&self) -> Option<Window> {
        self.part.as_ref().map(|part| Window {
            from: minus(part.window.from, part.from),
            to: minus(part.window.to, part.from),
        })
    }

    /// The lattice point of the whole mesh where this mesh's lattice begins.
    pub(crate) fn first_point(&self) -> [i32; 3] {
        let bits = self.lattice.fraction_bits;
        self.part.as_ref().map_or([0; 3], |part| part.from.map(|c| (c << bits) as i32))
    }

    /// The number of triangle `index` in the whole mesh, which its appearance is for.
    #[inline]
    pub(crate) fn source(&self, index: usize) -> usize {
        self.part.as_ref().map_or(index, |part| part.sources[index] as usize)
    }

    /// The same mesh, with the orientation of the flagged triangles of the whole mesh reversed.
    pub(crate) fn with_flipped(&self, is_reversed: &[bool]) -> Self {
        self.with_replaced(is_reversed, |[a, b, c]| [a, c, b])
    }

    /// The same mesh, with the flagged triangles of the whole mesh collapsed to a corner.
    pub(crate) fn with_collapsed(&self, is_collapsed: &[bool]) -> Self {
        self.with_replaced(is_collapsed, |[a, _, _]| [a; 3])
    }

    /// The same mesh, with the flagged triangles of the whole mesh replaced by those with the
    /// vertices that `replace` returns.
    fn with_replaced(&self, flags: &[bool], replace: fn([u32; 3]) -> [u32; 3]) -> Self {
        let Some(part) = &self.part else {
            let triangles = self.triangles.par_iter().zip(flags);
            let replaced = |(&triangle, &flag)| if flag { replace(triangle) } else { triangle };
            return Self { triangles: Arc::new(triangles.map(replaced).collect()), ..self.clone() };
        };
        let whole = part.whole.with_replaced(flags, replace);
        let part = WindowPart { whole, ..WindowPart::clone(part) };
        let triangles = Arc::new(part.triangles());
        Self { triangles, part: Some(Arc::new(part)), ..self.clone() }
    }
}

impl WindowPart {
    /// The mesh of this part, on a lattice of `dims` voxels.
    fn into_mesh(self, dims: [u32; 3]) -> PlacedMesh {
        let whole = &self.whole;
        let shift = self.from.map(|c| (c << whole.lattice.fraction_bits) as i32);
        // An unused vertex may be anywhere.
        let shifted = |v: &[i32; 3]| [0, 1, 2].map(|a| v[a].wrapping_sub(shift[a]));
        PlacedMesh {
            lattice: whole.lattice.part(self.from, dims),
            vertices: Arc::new(whole.vertices.par_iter().map(shifted).collect()),
            triangles: Arc::new(self.triangles()),
            appearance: whole.appearance.clone(),
            labels: whole.labels.clone(),
            part: Some(Arc::new(self)),
        }
    }

    fn triangles(&self) -> Vec<[u32; 3]> {
        self.sources.par_iter().map(|&index| self.whole.triangles[index as usize]).collect()
    }
}

const _: () =
    assert!(MAX_SPAN_VOXELS.is_multiple_of(WINDOW_STEP) && HALO.is_multiple_of(WINDOW_STEP));
