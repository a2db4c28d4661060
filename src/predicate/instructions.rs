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
        let mut sets = Vec::new();
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        {
            let avx512 = pulp::x86::V4::try_new().map(|simd| ("AVX-512", Arch::V4(simd)));
            let avx2 = pulp::x86::V3::try_new().map(|simd| ("AVX2", Arch::V3(simd)));
            sets.extend(avx512.into_iter().chain(avx2));
        }
        #[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
        if !matches!(Arch::new(), Arch::Scalar) {
            let name = if cfg!(target_arch = "aarch64") { "NEON" } else { "vectors" };
            sets.push((name, Arch::new()));
        }
        sets.push(("scalar", Arch::Scalar));
        sets.into_iter().map(|(name, arch)| Self { name, arch }).collect()
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
