//! Conversion between sRGB (IEC 61966-2-1) and linear light, in integers: the same on every
//! platform.
//!
//! Linear light has 16 bits per channel: the darkest sRGB values are 19 or 20 apart.

/// An sRGB colour with 8 bits per channel, and opacity: 255 is opaque.
pub type Rgba = [u8; 4];

/// A colour in linear light with 16 bits per channel, and opacity: 65,535 is opaque.
pub type Linear = [u16; 4];

/// The linear light of each sRGB value.
const LINEAR: [u16; 256] = table(0.0);

/// Exclusive end of the range of linear values whose nearest value in sRGB is each value; unused
/// for 255.
pub(crate) const ENDS: [u16; 256] = table(0.5);

const fn table(offset: f64) -> [u16; 256] {
    let mut table = [0; 256];
    let mut value = 0;
    while value < 256 {
        table[value] = linear((value as f64 + offset) / 255.0);
        value += 1;
    }
    table
}

/// The linear light of an sRGB value from 0 to 1; other values are clamped, NaN is black.
#[must_use]
pub const fn linear(value: f64) -> u16 {
    let light = match value {
        0.0..=0.04045 => value / 12.92,
        0.04045..1.0 => power_of_2_4((value + 0.055) / 1.055),
        1.0.. => 1.0,
        _ => 0.0,
    };
    (light * 65535.0 + 0.5) as u16
}

/// `x^2.4` for `x` from 0.09 to 1, by additions, multiplications and divisions only: `powf` may
/// differ between platforms in the last bit.
const fn power_of_2_4(x: f64) -> f64 {
    let square = x * x;
    // Fifth root by Newton's method from above: decreasing until rounding stops it.
    let mut root = 1.0;
    loop {
        let next = root - (root - square / (root * root * root * root)) / 5.0;
        if next >= root {
            return square * root;
        }
        root = next;
    }
}

/// The linear light of an sRGB value.
#[must_use]
#[inline]
pub const fn linear_of(value: u8) -> u16 {
    LINEAR[value as usize]
}

/// The nearest sRGB value of a linear value.
#[must_use]
#[inline]
pub fn srgb_of(light: u16) -> u8 {
    // Without branches: which of the two values is nearest is unpredictable.
    let value = NEAREST[usize::from(light >> 4)];
    value + u8::from((value < u8::MAX) & (ENDS[usize::from(value)] <= light))
}

/// The nearest sRGB value of every 16th linear value. sRGB values are at least 19 apart, so the
/// nearest value of a linear value in between is at most one more.
const NEAREST: [u8; 4096] = {
    let mut table = [0; 4096];
    let (mut index, mut value) = (0, 0);
    while index < 4096 {
        while value < 255 && ENDS[value] <= (index * 16) as u16 {
            value += 1;
        }
        table[index] = value as u8;
        index += 1;
    }
    table
};

/// Converts an sRGB colour to linear light.
#[must_use]
pub fn linear_of_rgba([r, g, b, opacity]: Rgba) -> Linear {
    [linear_of(r), linear_of(g), linear_of(b), u16::from(opacity) * 257]
}

/// The nearest sRGB colour of a colour in linear light.
#[must_use]
pub fn rgba_of([r, g, b, opacity]: Linear) -> Rgba {
    let opacity = (u32::from(opacity) + 128) / 257;
    [srgb_of(r), srgb_of(g), srgb_of(b), opacity as u8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_within_a_rounding_of_the_standards_formula() {
        let formula = |c: f64| match c {
            ..=0.04045 => c / 12.92,
            _ => ((c + 0.055) / 1.055).powf(2.4),
        };
        for step in 0..=100_000 {
            let value = f64::from(step) / 1e5;
            let expected = 65535.0 * formula(value);
            let found = f64::from(linear(value));
            assert!((found - expected).abs() < 0.5 + 1e-6, "{value}: {found}, not {expected}");
        }
    }

    #[test]
    fn srgb_values_come_back_from_linear_light() {
        for value in 0..=255 {
            assert_eq!(srgb_of(linear_of(value)), value);
            let color = [value, 255 - value, 3, value];
            assert_eq!(rgba_of(linear_of_rgba(color)), color);
        }
    }

    #[test]
    fn values_that_are_none_are_clamped() {
        let found = [-1.0, f64::NAN, f64::NEG_INFINITY, 2.0, f64::INFINITY].map(linear);
        assert_eq!(found, [0, 0, 0, 65535, 65535]);
    }

    #[test]
    fn the_nearest_value_is_the_first_that_ends_above_the_light() {
        for light in 0..=u16::MAX {
            let expected = ENDS[..255].partition_point(|&end| end <= light);
            assert_eq!(usize::from(srgb_of(light)), expected, "{light}");
        }
    }
}
