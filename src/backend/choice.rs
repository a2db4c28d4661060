//! Selects the backend for a mesh: as requested, or by comparing the work with the overhead of a
//! GPU.

use std::fmt;
#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
use std::sync::Arc;

use crate::backend::cpu::Cpu;
#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
use crate::backend::gpu::Gpu;
#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
use crate::backend::shared_gpu::SharedGpu;
use crate::backend::{Backend, BackendError, brick_pairs};
use crate::base::names::named;
use crate::base::numbers::{counted, grouped};
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

/// The backend that computed voxels.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UsedBackend {
    /// The GPU adapter's label; `None` for the CPU.
    pub adapter: Option<String>,
    /// The reason for this backend, as a phrase.
    pub reason: String,
}

impl UsedBackend {
    /// `cpu` or `gpu`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        if self.adapter.is_some() { "gpu" } else { "cpu" }
    }
}

impl fmt::Display for UsedBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.adapter {
            Some(adapter) => write!(f, "gpu, {adapter}"),
            None => f.write_str("cpu"),
        }
    }
}

/// A backend that was chosen.
#[derive(Debug)]
pub struct Chosen {
    /// `None`: the CPU.
    #[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
    pub(crate) gpu: Option<Arc<Gpu>>,
    /// Its description.
    pub used: UsedBackend,
    /// The failure of a GPU that was preferred.
    pub(crate) warning: Option<String>,
    /// Whether the CPU replaces a GPU that fails.
    pub(crate) has_fallback: bool,
}

impl Chosen {
    /// The CPU or, with its label, a GPU that the caller has.
    pub(crate) fn new(adapter: Option<String>, reason: impl Into<String>) -> Self {
        Self {
            #[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
            gpu: None,
            used: UsedBackend { adapter, reason: reason.into() },
            warning: None,
            has_fallback: false,
        }
    }

    pub(crate) fn cpu(reason: impl Into<String>) -> Self {
        Self::new(None, reason)
    }

    #[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
    pub(crate) fn gpu(gpu: Arc<Gpu>, reason: &str) -> Self {
        Self { gpu: Some(Arc::clone(&gpu)), ..Self::new(Some(gpu.device().label()), reason) }
    }

    /// The backend.
    #[must_use]
    pub fn backend(&self) -> Backend<'_> {
        #[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
        if let Some(gpu) = &self.gpu {
            return Backend::Gpu(gpu);
        }
        Backend::Cpu(&Cpu)
    }

    /// The CPU, if it replaces this backend, which failed.
    pub(crate) fn replacement(&self, error: &BackendError) -> Option<Self> {
        let is_replaced = self.has_fallback && *error != BackendError::Cancelled;
        let label = self.used.adapter.as_ref().filter(|_| is_replaced)?;
        let warning = Some(format!("gpu, {label}: {error}; computed on the CPU instead"));
        Some(Self { warning, ..Self::cpu(format!("gpu, {label} failed")) })
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

/// CPU time that a GPU saves per pair, for voxels and the distances in a `band` of this width in
/// voxels; 0 without distances. On the models measured, the distances of a pair take a CPU thread
/// 0.4 to 1.4 microseconds times the width plus 1; 16 threads take 1.3 to 3.5 times as long as an
/// NVIDIA H200, which therefore saves about half of this CPU time.
fn nanoseconds_saved_per_pair(band: f32) -> u64 {
    let of_distances = if band > 0.0 { 500.0 * (1.0 + band) } else { 0.0 };
    NANOSECONDS_PER_PAIR + of_distances as u64
}

/// The backends of a process, shared by any number of meshes: the CPU, and at most one GPU.
///
/// ```
/// use std::sync::Arc;
/// use trivox::backend::{BackendChoice, Backends};
/// use trivox::{Mesh, Voxelizer};
///
/// let backends = Arc::new(Backends::new(BackendChoice::Auto, None));
/// let voxelizer = Voxelizer::new().resolution(4).backends(backends);
/// let corners = vec![[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]];
/// let voxelized = voxelizer.run(Mesh::new(corners, vec![[0, 1, 2]])?)?;
/// assert_eq!((voxelized.grid.occupied(), voxelized.backend.name()), (13, "cpu"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Backends {
    pub(crate) choice: BackendChoice,
    /// A part of the label of the GPU to use.
    pub(crate) adapter: Option<String>,
    #[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
    gpu: Arc<SharedGpu>,
    /// Number of meshes that share one start of the GPU.
    meshes: u64,
}

/// The reason not to use a GPU where there is none.
pub(super) const WITHOUT_GPU: &str = if cfg!(feature = "gpu") {
    "a GPU does not run as a blocking backend here"
} else {
    "built without the GPU backend (cargo feature `gpu`)"
};

impl Backends {
    /// Chooses by `choice`. `adapter` is a part of the label of the GPU to use; with it, `Auto`
    /// means that GPU. Nothing is opened yet.
    #[must_use]
    pub fn new(choice: BackendChoice, adapter: Option<String>) -> Self {
        Self {
            choice,
            #[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
            gpu: Arc::new(SharedGpu::new(adapter.clone())),
            adapter,
            meshes: 1,
        }
    }

    /// For `meshes` of similar size, over which the start of the GPU is amortized.
    #[must_use]
    pub fn for_meshes(self, meshes: usize) -> Self {
        Self { meshes: meshes.max(1) as u64, ..self }
    }

    /// The GPU if one was asked for, by choice or by name, else the CPU. A GPU is opened on first
    /// use.
    ///
    /// # Errors
    /// The GPU cannot be opened.
    pub fn asked_for(&self) -> Result<Chosen, BackendError> {
        match (self.choice, &self.adapter) {
            (BackendChoice::Gpu, _) => self.open("asked for"),
            (BackendChoice::Auto, Some(_)) => self.open("its adapter was asked for"),
            _ => Ok(Chosen::cpu("asked for")),
        }
    }

    /// These backends with another choice, of the same GPU: if it failed to open, it still has.
    pub(crate) fn with_choice(&self, choice: BackendChoice) -> Self {
        Self { choice, ..self.clone() }
    }

    /// These backends with the GPU that has `name` in its label; it is not opened yet.
    pub(crate) fn with_adapter(&self, name: String) -> Self {
        Self { meshes: self.meshes, ..Self::new(self.choice, Some(name)) }
    }

    /// These backends with a GPU that is open, whatever the mesh.
    #[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
    pub(crate) fn with_gpu(&self, gpu: Arc<Gpu>) -> Self {
        let gpu = Arc::new(SharedGpu::of(gpu));
        Self { choice: BackendChoice::Gpu, adapter: None, gpu, meshes: self.meshes }
    }

    /// The backend for the voxels of `mesh`, and for distances in a `band` of this width in voxels;
    /// 0 without distances. A GPU is opened when it is first chosen.
    ///
    /// # Errors
    /// A GPU that was requested, by choice or by name, cannot be opened.
    pub(crate) fn choose(&self, mesh: &PlacedMesh, band: f32) -> Result<Chosen, BackendError> {
        match (self.choice, &self.adapter) {
            (BackendChoice::Auto, None) => Ok(self.weigh(brick_pairs(mesh), band)),
            _ => self.asked_for(),
        }
    }

    /// The backend for a mesh of `pairs` (triangle, brick) pairs.
    fn weigh(&self, pairs: u64, band: f32) -> Chosen {
        let least = self.pairs_worth_a_gpu(band);
        let work = |relation: &str| {
            format!(
                "about {}, {relation} the {} that are worth a GPU",
                counted(pairs, "triangle-brick pair"),
                grouped(least)
            )
        };
        if pairs < least {
            return Chosen::cpu(work("fewer than"));
        }
        if let Some(reason) = self.why_not() {
            return Chosen::cpu(reason);
        }
        match self.open(&work("no fewer than")) {
            Ok(chosen) => Chosen { has_fallback: true, ..chosen },
            Err(error) => {
                let warning = Some(format!("{error}; using the CPU instead"));
                Chosen { warning, ..Chosen::cpu("the GPU failed to start") }
            }
        }
    }

    /// The least number of pairs for which a GPU saves more time than its start and its run cost.
    fn pairs_worth_a_gpu(&self, band: f32) -> u64 {
        let threads = rayon::current_num_threads() as u64;
        let pairs_in = |milliseconds: u64| {
            milliseconds * 1_000_000 / nanoseconds_saved_per_pair(band) * threads
        };
        let start = if self.is_ready() { 0 } else { pairs_in(START_MILLISECONDS) };
        pairs_in(RUN_MILLISECONDS) + start / self.meshes
    }
}

#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
impl Backends {
    fn is_ready(&self) -> bool {
        self.gpu.is_ready()
    }

    fn why_not(&self) -> Option<String> {
        self.gpu.why_not()
    }

    fn open(&self, reason: &str) -> Result<Chosen, BackendError> {
        Ok(Chosen::gpu(self.gpu.open()?, reason))
    }
}

#[cfg(not(all(feature = "gpu", not(target_arch = "wasm32"))))]
impl Backends {
    fn is_ready(&self) -> bool {
        false
    }

    fn why_not(&self) -> Option<String> {
        Some(WITHOUT_GPU.into())
    }

    fn open(&self, _reason: &str) -> Result<Chosen, BackendError> {
        Err(BackendError::WithoutGpu(WITHOUT_GPU))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auto(meshes: usize) -> Backends {
        Backends::new(BackendChoice::Auto, None).for_meshes(meshes)
    }

    /// The pairs that all threads process in a time.
    fn pairs_in(milliseconds: u64) -> u64 {
        milliseconds * 1_000_000 / NANOSECONDS_PER_PAIR * rayon::current_num_threads() as u64
    }

    #[test]
    fn meshes_of_a_batch_share_the_start() {
        let (start, run) = (pairs_in(START_MILLISECONDS), pairs_in(RUN_MILLISECONDS));
        assert!(start > run && run > 0);
        assert_eq!(auto(1).pairs_worth_a_gpu(0.0), run + start);
        assert_eq!(auto(8).pairs_worth_a_gpu(0.0), run + start / 8);
        assert_eq!(auto(usize::MAX).pairs_worth_a_gpu(0.0), run);
        assert_eq!(auto(0).pairs_worth_a_gpu(0.0), auto(1).pairs_worth_a_gpu(0.0));
    }

    #[test]
    fn distances_make_a_gpu_worth_its_start_for_fewer_pairs() {
        let least = |band| auto(1).pairs_worth_a_gpu(band);
        assert!(least(0.0) > 30 * least(1.0) && least(1.0) > 5 * least(12.0) && least(12.0) > 0);
    }

    #[test]
    fn a_small_job_stays_on_the_cpu_and_says_the_numbers() {
        let least = auto(1).pairs_worth_a_gpu(0.0);
        let chosen = auto(1).weigh(least - 1, 0.0);
        assert_eq!((chosen.used.name(), chosen.warning), ("cpu", None));
        let [pairs, least] = [least - 1, least].map(grouped);
        let reason = format!(
            "about {pairs} triangle-brick pairs, fewer than the {least} that are worth a GPU"
        );
        assert_eq!(chosen.used.reason, reason);
    }

    #[test]
    fn a_large_job_asks_for_a_gpu() {
        let reason = auto(1).weigh(auto(1).pairs_worth_a_gpu(0.0), 0.0).used.reason;
        assert!(!reason.contains("fewer than the"), "{reason}");
    }

    #[cfg(feature = "gpu")]
    #[test]
    fn an_open_gpu_costs_no_start_if_it_is_hardware() {
        let Some(adapter) = crate::gpu::promised().into_iter().next() else { return };
        let backends = Backends::new(BackendChoice::Auto, Some(adapter.label()));
        assert!(backends.gpu.open().is_ok());
        let start = if backends.gpu.why_not().is_none() { 0 } else { START_MILLISECONDS };
        let least = pairs_in(RUN_MILLISECONDS) + pairs_in(start);
        assert_eq!(backends.pairs_worth_a_gpu(0.0), least);
    }
}
