//! The base of all other modules: numbers and vectors, names, progress, memory, errors.

pub mod error_code;
pub(crate) mod forest;
pub(crate) mod lanes;
#[cfg(feature = "memory")]
pub mod memory;
pub(crate) mod morton;
pub(crate) mod names;
pub mod numbers;
pub mod ordered;
pub mod progress;
pub mod srgb;
pub mod vector;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serializer;
use web_time::Instant;

/// Locks, ignoring poison: no holder leaves the data in an invalid state.
#[doc(hidden)]
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Consecutive parts of `whole`, of these lengths.
///
/// # Panics
/// `whole` is shorter than its parts.
pub(crate) fn divided<T>(
    mut whole: &mut [T],
    lens: impl IntoIterator<Item = usize>,
) -> Vec<&mut [T]> {
    let part = |len| whole.split_off_mut(..len).expect("as long as its parts");
    lens.into_iter().map(part).collect()
}

/// Whether `c` is a control character or a bidirectional override: these could change a terminal,
/// or reorder a line.
#[doc(hidden)]
#[must_use]
pub fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// `text` with the control characters escaped that are not `kept`.
#[doc(hidden)]
#[must_use]
pub fn escaped_except(text: &str, kept: &[char]) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        if is_control(c) && !kept.contains(&c) {
            escaped.extend(c.escape_default());
        } else {
            escaped.push(c);
        }
    }
    escaped
}

/// The result of `step`, and its time.
///
/// # Errors
/// Those of `step`.
#[doc(hidden)]
pub fn timed<T, E>(step: impl FnOnce() -> Result<T, E>) -> Result<(T, Duration), E> {
    let began = Instant::now();
    let result = step()?;
    Ok((result, began.elapsed()))
}

/// Milliseconds, rounded to three decimals, the resolution of clocks.
#[doc(hidden)]
#[must_use]
pub fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

/// [`milliseconds`], for serde.
///
/// # Errors
/// Those of `serializer`.
#[doc(hidden)]
pub fn ms<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(milliseconds(*time))
}

/// [`milliseconds`] of a step that may not have been taken, for serde.
///
/// # Errors
/// Those of `serializer`.
#[doc(hidden)]
pub fn some_ms<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => ms(time, serializer),
        None => serializer.serialize_none(),
    }
}
