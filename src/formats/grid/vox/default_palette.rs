//! MagicaVoxel's default palette, used by files without one.

use crate::base::srgb::Rgba;

/// Entry `n` is the colour of index `n + 1`; the last entry has no index.
pub(super) fn default_palette() -> [Rgba; 256] {
    /// Ramps from light to dark.
    const RAMP: [u8; 10] = [0xee, 0xdd, 0xbb, 0xaa, 0x88, 0x77, 0x55, 0x44, 0x22, 0x11];
    std::array::from_fn(|entry| match entry as u8 {
        // A cube of six steps per channel, from white, without black.
        n @ 0..215 => {
            let [r, g, b] = [n / 36, n / 6 % 6, n % 6].map(|step| 255 - 51 * step);
            [r, g, b, 255]
        }
        n @ 215..255 => {
            let value = RAMP[usize::from((n - 215) % 10)];
            let [r, g, b] = match (n - 215) / 10 {
                0 => [value, 0, 0],
                1 => [0, value, 0],
                2 => [0, 0, value],
                _ => [value; 3],
            };
            [r, g, b, 255]
        }
        255 => [0; 4],
    })
}
