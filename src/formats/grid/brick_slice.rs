//! The bricks of a slice one brick thick, while a dense array is read.

/// Peak bytes per brick: in a growing list, in its sorted copy, and in the grid.
pub(crate) const BRICK_BYTES: u64 = 3 * 72 + 16;

/// Values of the bricks of a slice by index. Its memory grows with the data read, by four bytes per
/// brick and the values, so that a false header allocates nothing.
pub(crate) struct BrickSlice<T> {
    /// For each brick: 0 if it has no value, else the index of its value in `values` plus 1.
    numbers: Vec<u32>,
    /// The values, each with the index of its brick.
    values: Vec<(usize, T)>,
}

impl<T> BrickSlice<T> {
    pub(crate) fn new() -> Self {
        Self { numbers: Vec::new(), values: Vec::new() }
    }

    /// The value of `brick`; `new` if it has none.
    #[inline]
    pub(crate) fn get_or_insert(&mut self, brick: usize, new: impl FnOnce() -> T) -> &mut T {
        if self.numbers.len() <= brick {
            self.numbers.resize(brick + 1, 0);
        }
        if self.numbers[brick] == 0 {
            self.values.push((brick, new()));
            // A slice has at most 8192 squared bricks.
            self.numbers[brick] = self.values.len() as u32;
        }
        &mut self.values[self.numbers[brick] as usize - 1].1
    }

    /// The number of bricks with a value.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// Removes all values: returns each with the index of its brick, in the order of insertion.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = (usize, T)> {
        self.values.iter().for_each(|&(brick, _)| self.numbers[brick] = 0);
        self.values.drain(..)
    }
}
