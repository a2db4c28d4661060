//! The vector instruction sets that the batched predicates are compiled for.

use pulp::{Arch, WithSimd};

/// A set of vector instructions that this processor has.
#[derive(Debug, Clone, Copy)]
pub struct InstructionSet {
    name: &'static str,
    arch: Arch,
}

impl InstructionSet {
    /// The instruction sets of this processor: the best first, scalar code last.
    #[must_use]
    pub fn available() -> Vec<Self> {
        let mut sets = vector_sets();
        sets.push(Self { name: "scalar", arch: Arch::Scalar });
        sets
    }

    /// Its name, such as `AVX2`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Runs `task` compiled for this instruction set.
    pub(crate) fn dispatch<T: WithSimd>(&self, task: T) -> T::Output {
        self.arch.dispatch(task)
    }
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
fn vector_sets() -> Vec<InstructionSet> {
    let avx512 = pulp::x86::V4::try_new().map(|simd| ("AVX-512", Arch::V4(simd)));
    let avx2 = pulp::x86::V3::try_new().map(|simd| ("AVX2", Arch::V3(simd)));
    avx512.into_iter().chain(avx2).map(|(name, arch)| InstructionSet { name, arch }).collect()
}

#[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
fn vector_sets() -> Vec<InstructionSet> {
    let name = if cfg!(target_arch = "aarch64") { "NEON" } else { "vectors" };
    match Arch::new() {
        Arch::Scalar => vec![],
        arch => vec![InstructionSet { name, arch }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalar_code_is_last_and_the_default_first() {
        let sets = InstructionSet::available();
        assert_eq!(sets.last().map(InstructionSet::name), Some("scalar"));
        let [first, default] = [sets[0].arch, Arch::new()].map(|arch| format!("{arch:?}"));
        assert_eq!(first, default);
    }
}
