//! Morton codes, by which neighbours in space are near each other in a list.

/// Bits per axis.
const BITS: u32 = 19;

/// The Morton code of a cell with coordinates below `2^19`: 57 bits.
pub(crate) fn code(cell: [u64; 3]) -> u64 {
    let spread = |value: u64| (0..BITS).map(|bit| (value >> bit & 1) << (3 * bit)).sum::<u64>();
    spread(cell[0]) << 2 | spread(cell[1]) << 1 | spread(cell[2])
}

/// A sort key that groups objects of similar size, in Morton order: the length as a power of 4,
/// then the Morton code of the centre's cell.
pub(crate) fn key(length: u64, cell: [u64; 3]) -> u64 {
    u64::from(length.max(1).ilog2() / 2) << (3 * BITS) | code(cell)
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    #[test]
    fn keys_have_the_size_then_one_bit_of_each_axis_in_turn() {
        let mut rng = Rng::with_seed(27);
        for _ in 0..1000 {
            let (length, cell) = (rng.u64(1..1 << 24), [(); 3].map(|()| rng.u64(0..1 << 19)));
            let mut bits = format!("{:07b}", length.ilog(4));
            let cells = cell.map(|c| format!("{c:019b}"));
            (0..19).for_each(|bit| cells.iter().for_each(|cell| bits.push_str(&cell[bit..=bit])));
            assert_eq!(u64::from_str_radix(&bits, 2), Ok(key(length, cell)), "{length}, {cell:?}");
        }
        assert_eq!(key(0, [0; 3]), 0);
    }
}
