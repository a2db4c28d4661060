//! The vector instruction sets that the batched predicates are compiled for, to compare them.
//! Otherwise the best one is chosen at run time.

use pulp::Arch;

/// The instruction sets of this processor, with their names: the best one first, scalar code last.
#[must_use]
pub fn instruction_sets() -> Vec<(&'static str, Arch)> {
    let mut sets = vector_sets();
    sets.push(("scalar", Arch::Scalar));
    sets
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
fn vector_sets() -> Vec<(&'static str, Arch)> {
    let avx512 = pulp::x86::V4::try_new().map(|simd| ("AVX-512", Arch::V4(simd)));
    let avx2 = pulp::x86::V3::try_new().map(|simd| ("AVX2", Arch::V3(simd)));
    avx512.into_iter().chain(avx2).collect()
}

#[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
fn vector_sets() -> Vec<(&'static str, Arch)> {
    let name = if cfg!(target_arch = "aarch64") { "NEON" } else { "vectors" };
    match Arch::new() {
        Arch::Scalar => vec![],
        best => vec![(name, best)],
    }
}
