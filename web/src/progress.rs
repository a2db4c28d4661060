//! Progress, handed to JavaScript as it happens: a worker that computes can still post messages.

use std::cell::RefCell;

use js_sys::Function;
use trivox::Progress;
use wasm_bindgen::prelude::*;
use web_time::{Duration, Instant};

/// The shortest time between two messages of a step.
const PAUSE: Duration = Duration::from_millis(80);

thread_local! {
    static CALLBACK: RefCell<Option<Function>> = const { RefCell::new(None) };
    static STATE: RefCell<State> = RefCell::default();
}

#[derive(Default)]
struct State {
    step: String,
    total: u64,
    done: u64,
    /// The time of the last message of this step.
    reported: Option<Instant>,
}

/// Sets the progress callback, `callback(step, share)`. `share` is the completed fraction of the
/// step, from 0 to 1, or null if it is unknown.
#[wasm_bindgen(js_name = onProgress)]
pub fn on_progress(callback: Function) {
    CALLBACK.with_borrow_mut(|own| *own = Some(callback));
}

/// Reports to the callback.
#[derive(Debug)]
pub struct Reporter;

/// Changes the state, and calls the callback unless the last message of this step is too recent.
fn report(change: impl FnOnce(&mut State)) {
    let due = STATE.with_borrow_mut(|state| {
        change(state);
        if state.reported.is_some_and(|last| last.elapsed() < PAUSE) {
            return None;
        }
        state.reported = Some(Instant::now());
        let share = (state.total > 0).then(|| state.done as f64 / state.total as f64);
        Some((JsValue::from_str(&state.step), share.map_or(JsValue::NULL, JsValue::from_f64)))
    });
    let Some((step, share)) = due else { return };
    CALLBACK.with_borrow(|callback| {
        if let Some(callback) = callback {
            // A page that fails to show progress is no reason to end the work.
            let _ = callback.call2(&JsValue::NULL, &step, &share);
        }
    });
}

impl Progress for Reporter {
    fn start(&self, step: &str, total: u64) {
        report(|state| *state = State { step: step.to_owned(), total, ..State::default() });
    }

    fn advance(&self, units: u64) {
        report(|state| state.done += units);
    }
}
