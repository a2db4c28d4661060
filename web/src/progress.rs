//! Progress, handed to JavaScript as it happens: a worker that computes can still post messages.

use std::cell::{Cell, RefCell};

use js_sys::Function;
use trivox::Progress;
use wasm_bindgen::JsValue;
use web_time::{Duration, Instant};

/// Messages are at least so far apart.
const PAUSE: Duration = Duration::from_millis(80);

thread_local! {
    static CALLBACK: RefCell<Option<Function>> = const { RefCell::new(None) };
    static STATE: RefCell<State> = RefCell::default();
    static LAST: Cell<Option<Instant>> = const { Cell::new(None) };
}

#[derive(Default)]
struct State {
    step: String,
    total: u64,
    done: u64,
}

/// Has `callback(step, share)` called.
pub fn set(callback: Function) {
    CALLBACK.with_borrow_mut(|own| *own = Some(callback));
}

/// Reports to the callback.
#[derive(Debug, Default)]
pub struct Reporter;

fn report(is_first: bool) {
    let is_soon = LAST.get().is_some_and(|last| last.elapsed() < PAUSE);
    if is_soon && !is_first {
        return;
    }
    LAST.set(Some(Instant::now()));
    let (step, share) = STATE.with_borrow(|state| {
        let share = if state.total == 0 { -1.0 } else { state.done as f64 / state.total as f64 };
        (JsValue::from_str(&state.step), JsValue::from_f64(share))
    });
    CALLBACK.with_borrow(|callback| {
        if let Some(callback) = callback {
            // A page that fails to show progress is no reason to end the work.
            let _ = callback.call2(&JsValue::NULL, &step, &share);
        }
    });
}

impl Progress for Reporter {
    fn start(&self, step: &str, total: u64) {
        STATE.set(State { step: step.to_owned(), total, done: 0 });
        report(true);
    }

    fn advance(&self, units: u64) {
        STATE.with_borrow_mut(|state| state.done += units);
        report(false);
    }
}
