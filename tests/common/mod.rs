//! What the integration tests share: slow oracles and a generator of adversarial pairs.
#![allow(dead_code, unreachable_pub, reason = "each test program uses a part of it")]

pub mod columns;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod lattice;
pub mod oracle;
pub mod pairs;
pub mod shapes;
