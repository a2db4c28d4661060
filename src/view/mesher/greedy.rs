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

#[cfg(test)]
mod tests {
    use super::*;

    /// The reference: the same algorithm cell by cell.
    fn expected(cells: &Plane, joins: &Joins) -> Vec<Cells> {
        let mut left = *cells;
        let mut found = Vec::new();
        let is = |plane: &Plane, a: usize, b: usize| plane[a] >> b & 1 == 1;
        for (a, b) in (0..64).flat_map(|a| (0..64).map(move |b| (a, b))) {
            if !is(&left, a, b) {
                continue;
            }
            let mut length = 1;
            while b + length < 64 && is(&left, a, b + length) && is(&joins.along, a, b + length - 1)
            {
                length += 1;
            }
            let mut width = 1;
            while a + width < 64
                && (b..b + length)
                    .all(|b| is(&left, a + width, b) && is(&joins.across, a + width, b))
            {
                width += 1;
            }
            for (a, b) in (a..a + width).flat_map(|a| (b..b + length).map(move |b| (a, b))) {
                left[a] &= !(1 << b);
            }
            let [first, count] =
                [[a, b], [width, length]].map(|pair: [usize; 2]| pair.map(|n| n as u32));
            found.push(Cells { first, count });
        }
        found
    }

    #[test]
    fn word_operations_find_the_rectangles_of_the_reference() {
        let mut random = fastrand::Rng::with_seed(2);
        for round in 0..300 {
            let mut any = |dense: u32| {
                let word = |random: &mut fastrand::Rng| {
                    (0..dense).fold(random.u64(..), |word, _| word | random.u64(..))
                };
                std::array::from_fn(|_| word(&mut random))
            };
            let dense = round % 8;
            let cells: Plane = if dense == 7 { [u64::MAX; 64] } else { any(dense) };
            let joins = match round % 3 {
                0 => Joins::ALL,
                _ => Joins { along: any(dense), across: any(dense) },
            };
            let mut found = Vec::new();
            let mut left = cells;
            rectangles(&mut left, &joins, |cells| {
                found.push(cells);
                Ok::<(), ()>(())
            })
            .expect("all");
            assert_eq!(left, [0; 64]);
            assert_eq!(found, expected(&cells, &joins), "round {round}");
        }
    }
}
