//! Selects the backend for a mesh: as requested, or by comparing the work with the overhead of a
//! GPU.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::base::names::named;
use crate::base::progress::Progress;
use crate::cpu::Cpu;
use crate::engine::backend::BackendError;
use crate::engine::backend::shared_gpu::SharedGpu;
use crate::engine::backend::{Backend, Rule, Run, RunOptions, brick_pairs};
#[cfg(feature = "gpu")]
use crate::gpu::Device;
#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
use crate::gpu::voxelize::Gpu;
use crate::lattice::PlacedMesh;

/// The requested backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BackendChoice {
    /// The backend that is likely to be faster; the CPU if there is no GPU.
    Auto,
    /// The GPU, or an error.
    Gpu,
    /// The CPU.
    Cpu,
}

named!(BackendChoice, "backend", { Auto = "auto", Gpu = "gpu", Cpu = "cpu" });

/// A backend ready to run, with the reason for its choice. If [`BackendChoice::Auto`] chose a GPU
/// and it fails, this and all later runs of this value use the CPU, with a warning.
pub struct ChosenBackend {
    backend: Box<dyn Backend + Send + Sync>,
    adapter: Option<String>,
    reason: String,
    warning: Option<String>,
    /// The fallback, and the error of the backend, once it failed.
    replacement: Option<(Cpu, OnceLock<BackendError>)>,
}

impl fmt::Debug for ChosenBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { adapter, reason, warning, .. } = self;
        f.debug_struct("ChosenBackend")
            .field("adapter", adapter)
            .field("reason", reason)
            .field("warning", warning)
            .finish_non_exhaustive()
    }
}

impl ChosenBackend {
    /// A GPU backend, without a fallback.
    #[must_use]
    pub fn gpu(
        backend: Box<dyn Backend + Send + Sync>,
        adapter: String,
        reason: impl Into<String>,
    ) -> Self {
        let (adapter, reason) = (Some(adapter), reason.into());
        Self { backend, adapter, reason, warning: None, replacement: None }
    }

    /// The CPU.
    #[must_use]
    pub fn cpu(reason: impl Into<String>) -> Self {
        let (backend, reason) = (Box::new(Cpu::default()), reason.into());
        Self { backend, adapter: None, reason, warning: None, replacement: None }
    }

    /// The CPU after the GPU with this label failed.
    #[cfg(feature = "gpu")]
    pub(crate) fn cpu_instead_of(label: &str, error: &BackendError) -> Self {
        Self {
            warning: Some(instead_of(label, error)),
            ..Self::cpu(format!("gpu, {label} failed"))
        }
    }

    /// Adds the CPU as a fallback.
    #[must_use]
    pub fn or_cpu(self) -> Self {
        Self { replacement: Some((Cpu::default(), OnceLock::new())), ..self }
    }

    /// The error after which the CPU is used, if any.
    fn failure(&self) -> Option<&BackendError> {
        self.replacement.as_ref()?.1.get()
    }

    /// `cpu` or `gpu`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        if self.adapter().is_some() { "gpu" } else { "cpu" }
    }

    /// The GPU adapter's label; `None` for the CPU.
    #[must_use]
    pub fn adapter(&self) -> Option<&str> {
        self.adapter.as_deref().filter(|_| self.failure().is_none())
    }

    /// The reason for this choice, as a phrase.
    #[must_use]
    pub fn reason(&self) -> String {
        match (self.failure(), &self.adapter) {
            (Some(_), Some(adapter)) => format!("gpu, {adapter} failed"),
            _ => self.reason.clone(),
        }
    }

    /// The failure of a preferred backend, if any.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        match (self.failure(), &self.adapter) {
            (Some(error), Some(adapter)) => Some(instead_of(adapter, error)),
            _ => self.warning.clone(),
        }
    }
}

/// The warning that the CPU computed, as the GPU with this label failed.
fn instead_of(label: &str, error: &BackendError) -> String {
    format!("gpu, {label}: {error}; computed on the CPU instead")
}

impl Backend for ChosenBackend {
    fn run(
        &self,
        mesh: &PlacedMesh,
        rule: Rule,
        options: &RunOptions,
        progress: &dyn Progress,
    ) -> Result<Run, BackendError> {
        let Some((cpu, failure)) = &self.replacement else {
            return self.backend.run(mesh, rule, options, progress);
        };
        if failure.get().is_none() {
            match self.backend.run(mesh, rule, options, progress) {
                Ok(run) => return Ok(run),
                Err(BackendError::Cancelled) => return Err(BackendError::Cancelled),
                Err(error) => failure.get_or_init(|| error),
            };
        }
        cpu.run(mesh, rule, options, progress)
    }

    #[cfg(feature = "gpu")]
    fn device(&self) -> Option<&Device> {
        self.backend.device().filter(|_| self.failure().is_none())
    }

    #[cfg(feature = "gpu")]
    fn fall_back_to_cpu(&self, error: BackendError) -> Result<(), BackendError> {
        let Some((_, failure)) = &self.replacement else { return Err(error) };
        failure.get_or_init(|| error);
        Ok(())
    }
}

impl fmt::Display for ChosenBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.adapter() {
            Some(adapter) => write!(f, "gpu, {adapter}"),
            None => f.write_str("cpu"),
        }
    }
}

/// CPU time per (triangle, brick) pair: 15 to 60 ns per thread on the models measured.
pub(crate) const NANOSECONDS_PER_PAIR: u64 = 30;
/// Time to open a GPU: 190 ms on an NVIDIA H200 whose driver has the kernels in its cache, 800 ms
/// the first time.
const START_MILLISECONDS: u64 = 200;
/// Fixed overhead of a run on an open GPU, for transfers, a wait, and sorting the bricks: 0.25 to
/// 1 ms on an NVIDIA H200.
const RUN_MILLISECONDS: u64 = 1;

/// Number of pairs that all CPU threads process in a time.
fn pairs_in(milliseconds: u64) -> u64 {
    milliseconds * 1_000_000 / NANOSECONDS_PER_PAIR * rayon::current_num_threads() as u64
}

/// The backends of a process, shared by any number of meshes: the CPU, and at most one GPU.
///
/// ```
/// use trivox::engine::backend::{BackendChoice, Backends};
/// use trivox::Backend;
/// # use trivox::{Mesh, NoProgress, PlaceOptions, Sizing, place};
/// # let corners = vec![[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]];
/// # let options = PlaceOptions::new(Sizing::Resolution(4));
/// # let mesh = place(&Mesh::new(corners, vec![[0, 1, 2]])?, &options)?;
/// let backends = Backends::new(BackendChoice::Auto, None);
/// let chosen = backends.choose(&mesh)?;
/// let grid = chosen.voxelize(&mesh, &NoProgress)?;
/// assert_eq!((grid.occupied(), chosen.name()), (13, "cpu"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Backends {
    choice: BackendChoice,
    gpu: SharedGpu,
    /// Number of meshes that share one start of the GPU.
    meshes: u64,
    /// Held by whoever uses the GPU; that of a given GPU, which other voxelizers may use too.
    turn: Arc<Mutex<()>>,
}

impl Backends {
    /// Chooses by `choice`. `adapter` is a part of the label of the GPU to use; with it, `Auto`
    /// means that GPU. Nothing is opened yet.
    #[must_use]
    pub fn new(choice: BackendChoice, adapter: Option<String>) -> Self {
        Self { choice, gpu: SharedGpu::new(adapter), meshes: 1, turn: Arc::default() }
    }

    /// For `meshes` of similar size, over which the start of the GPU is amortized.
    #[must_use]
    pub fn for_meshes(self, meshes: usize) -> Self {
        Self { meshes: meshes.max(1) as u64, ..self }
    }

    /// Opens the GPU if one was asked for: called while the first mesh is read, it saves the time
    /// that opening takes. An error is that of the first [`choose`](Self::choose).
    pub fn open_early(&self) {
        if self.choice == BackendChoice::Gpu || self.gpu.name().is_some() {
            _ = self.gpu.open();
        }
    }

    /// The choice that was made.
    pub(crate) fn choice(&self) -> BackendChoice {
        self.choice
    }

    /// A part of the label of the GPU to use.
    pub(crate) fn adapter(&self) -> Option<&str> {
        self.gpu.name()
    }

    /// The same with another choice; no GPU is opened yet.
    pub(crate) fn with_choice(&self, choice: BackendChoice) -> Self {
        let (gpu, turn) = (self.gpu.unopened(), self.turn.clone());
        Self { choice, gpu, meshes: self.meshes, turn }
    }

    /// The same with the GPU that has `name` in its label; it is not opened yet.
    pub(crate) fn with_adapter(&self, name: String) -> Self {
        Self { meshes: self.meshes, ..Self::new(self.choice, Some(name)) }
    }

    /// The same with a GPU that is open, whatever the mesh.
    #[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
    pub(crate) fn with_gpu(&self, gpu: Arc<Gpu>) -> Self {
        let (choice, turn) = (BackendChoice::Gpu, gpu.turn.clone());
        Self { choice, gpu: SharedGpu::of(gpu), meshes: self.meshes, turn }
    }

    /// The backend for `mesh`. A GPU is opened when it is first chosen.
    ///
    /// # Errors
    /// A GPU that was requested, by choice or by name, cannot be opened.
    pub fn choose(&self, mesh: &PlacedMesh) -> Result<ChosenBackend, BackendError> {
        match self.choice {
            BackendChoice::Cpu => Ok(ChosenBackend::cpu("asked for")),
            BackendChoice::Gpu => self.open("asked for"),
            BackendChoice::Auto if self.gpu.name().is_some() => {
                self.open("its adapter was asked for")
            }
            BackendChoice::Auto => Ok(self.weigh(brick_pairs(mesh))),
        }
    }

    /// Waits until nobody else uses the GPU.
    pub(crate) fn gpu_turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A different backend, regardless of the requested one: the CPU if the other used this
    /// `adapter`, the GPU if it used none.
    ///
    /// # Errors
    /// The GPU cannot be opened.
    pub fn other_than(&self, adapter: Option<&str>) -> Result<ChosenBackend, BackendError> {
        match adapter {
            Some(_) => Ok(ChosenBackend::cpu("to check the GPU")),
            None => self.open("to check the CPU"),
        }
    }

    /// The backend for a mesh of `pairs` (triangle, brick) pairs.
    fn weigh(&self, pairs: u64) -> ChosenBackend {
        let least = self.pairs_worth_a_gpu();
        let work = |relation: &str| {
            format!(
                "about {pairs} triangle-brick pairs, {relation} the {least} that are worth a GPU"
            )
        };
        if pairs < least {
            return ChosenBackend::cpu(work("fewer than"));
        }
        if let Some(reason) = self.gpu.why_not() {
            return ChosenBackend::cpu(reason);
        }
        match self.open(&work("no fewer than")) {
            Ok(chosen) => chosen.or_cpu(),
            Err(error) => {
                let warning = Some(format!("{error}; using the CPU instead"));
                ChosenBackend { warning, ..ChosenBackend::cpu("the GPU failed to start") }
            }
        }
    }

    fn pairs_worth_a_gpu(&self) -> u64 {
        let start = if self.gpu.is_ready() { 0 } else { pairs_in(START_MILLISECONDS) };
        pairs_in(RUN_MILLISECONDS) + start / self.meshes
    }

    fn open(&self, reason: &str) -> Result<ChosenBackend, BackendError> {
        let (backend, label) = self.gpu.open()?;
        Ok(ChosenBackend::gpu(backend, label, reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auto(meshes: usize) -> Backends {
        Backends::new(BackendChoice::Auto, None).for_meshes(meshes)
    }

    #[test]
    fn meshes_of_a_batch_share_the_start() {
        let (start, run) = (pairs_in(START_MILLISECONDS), pairs_in(RUN_MILLISECONDS));
        assert!(start > run && run > 0);
        assert_eq!(auto(1).pairs_worth_a_gpu(), run + start);
        assert_eq!(auto(8).pairs_worth_a_gpu(), run + start / 8);
        assert_eq!(auto(usize::MAX).pairs_worth_a_gpu(), run);
        assert_eq!(auto(0).pairs_worth_a_gpu(), auto(1).pairs_worth_a_gpu());
    }

    #[test]
    fn a_small_job_stays_on_the_cpu_and_says_the_numbers() {
        let least = auto(1).pairs_worth_a_gpu();
        let chosen = auto(1).weigh(least - 1);
        assert_eq!((chosen.name(), chosen.warning()), ("cpu", None));
        let reason = format!(
            "about {} triangle-brick pairs, fewer than the {least} that are worth a GPU",
            least - 1
        );
        assert_eq!(chosen.reason(), reason);
    }

    #[test]
    fn a_large_job_asks_for_a_gpu() {
        let chosen = auto(1).weigh(auto(1).pairs_worth_a_gpu());
        assert!(!chosen.reason().contains("fewer than the"), "{}", chosen.reason());
    }

    #[cfg(feature = "gpu")]
    #[test]
    fn an_open_gpu_costs_no_start_if_it_is_hardware() {
        let backends = auto(1);
        if backends.gpu.open().is_err() {
            assert!(std::env::var_os("TRIVOX_GPU").is_none(), "an adapter was promised");
            println!("skipped: no adapter");
            return;
        }
        let start = if backends.gpu.why_not().is_none() { 0 } else { START_MILLISECONDS };
        let least = pairs_in(RUN_MILLISECONDS) + pairs_in(start);
        assert_eq!(backends.pairs_worth_a_gpu(), least);
    }
}
