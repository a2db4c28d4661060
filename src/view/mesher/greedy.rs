//! Greedy decomposition of a 64 by 64 bit plane into rectangles.

/// A bit plane: bit `b` of word `a` is cell `(a, b)`.
pub(super) type Plane = [u64; 64];

/// A rectangle of cells: its first cell, and the number of cells along each axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cells {
    pub(super) first: [u32; 2],
    pub(super) count: [u32; 2],
}

/// The pairs of neighbouring cells that may be merged.
#[derive(Debug, Clone)]
pub(super) struct Joins {
    /// Bit `b` of word `a`: merge `(a, b)` with `(a, b + 1)`.
    pub(super) along: Plane,
    /// Bit `b` of word `a`: merge `(a, b)` with `(a - 1, b)`.
    pub(super) across: Plane,
}

impl Joins {
    /// All neighbours may be merged.
    pub(super) const ALL: Self = Self { along: [u64::MAX; 64], across: [u64::MAX; 64] };
}

/// Moves rectangles from `cells` to `take` until none is left. Each grows from the first cell left,
/// first along `b`, then along `a`.
pub(super) fn rectangles<E>(
    cells: &mut Plane,
    joins: &Joins,
    mut take: impl FnMut(Cells) -> Result<(), E>,
) -> Result<(), E> {
    for a in 0..64 {
        while cells[a] != 0 {
            let b = cells[a].trailing_zeros();
            let length = length(cells[a] >> b, joins.along[a] >> b);
            let row = u64::MAX >> (64 - length) << b;
            let fits = |&next: &usize| cells[next] & joins.across[next] & row == row;
            let width = 1 + (a + 1..64).take_while(fits).count();
            cells[a..a + width].iter_mut().for_each(|cells| *cells &= !row);
            take(Cells { first: [a as u32, b], count: [width as u32, length] })?;
        }
    }
    Ok(())
}

/// The number of cells from the first on that are set and joined.
fn length(cells: u64, joins: u64) -> u32 {
    let continues = joins & cells >> 1;
    continues.trailing_ones() + 1
}
