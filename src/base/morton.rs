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
