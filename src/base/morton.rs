//! Morton codes, by which neighbours in space are near each other in a list.

/// Bits per axis.
const BITS: u32 = 19;

/// The Morton code of a cell with coordinates below `2^19`: 57 bits.
pub(crate) fn code(cell: [u64; 3]) -> u64 {
    let spread = |value: u64| (0..BITS).map(|bit| (value >> bit & 1) << (3 * bit)).sum::<u64>();
    spread(cell[0]) << 2 | spread(cell[1]) << 1 | spread(cell[2])
}
