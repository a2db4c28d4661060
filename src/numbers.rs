//! Units in messages.

/// Formats a number of bytes in the largest binary unit that is not larger, rounded up.
pub(crate) fn binary_bytes(number: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let unit = units.iter().find(|(bits, _)| number >> bits >= 1);
    unit.map_or(format!("{number} bytes"), |(bits, unit)| {
        format!("{:.1} {unit}", (number as f64 / f64::from(1u32 << bits) * 10.0).ceil() / 10.0)
    })
}
