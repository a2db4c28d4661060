//! What the benchmarks share: how they are asked to run, the machine's name, and the clock.

use std::hint::black_box;
use std::time::{Duration, Instant};

use trivox::predicate::InstructionSet;

pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Whether to do as little as shows that all works: with `--quick`, or when run as a test.
pub fn is_quick() -> bool {
    // Cargo passes --bench to a benchmark, and not to one that it runs as a test.
    let given = |flag: &str| std::env::args().any(|arg| arg == flag);
    given("--quick") || !given("--bench")
}

/// The processor, how many threads it runs, and the vector instructions that are used of it.
pub fn cpu_name() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let name = name.map_or(std::env::consts::ARCH, |(_, name)| name);
    let threads = rayon::current_num_threads();
    format!("{name}, {threads} threads, {}", InstructionSet::available()[0].name())
}

/// When something that is done over and over was done often enough to call its fastest time known.
#[derive(Clone, Copy)]
pub struct Patience {
    pub runs: u32,
    /// In all.
    pub time: Duration,
}

impl Patience {
    /// Calls `run` at least `runs` times, and until `time` is up.
    pub fn repeat<E>(
        self,
        mut run: impl FnMut() -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let start = Instant::now();
        let mut done = 0;
        while done < self.runs || start.elapsed() < self.time {
            run()?;
            done += 1;
        }
        Ok(())
    }
}

/// Runs `step`; its result, and its time in milliseconds.
pub fn timed<T>(step: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let result = black_box(step());
    (result, start.elapsed().as_secs_f64() * 1e3)
}
