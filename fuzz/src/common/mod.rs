//! The slow oracles of the tests.
#![allow(dead_code, unreachable_pub, reason = "the tests use the rest")]

#[path = "../../../tests/common/columns.rs"]
pub mod columns;
#[path = "../../../tests/common/dense.rs"]
pub mod dense;
#[path = "../../../tests/common/oracle.rs"]
pub mod oracle;
#[path = "../../../tests/common/pairs.rs"]
pub mod pairs;
#[path = "../../../tests/common/paths.rs"]
pub mod paths;
#[path = "../../../tests/common/rules.rs"]
pub mod rules;
#[path = "../../../tests/common/shapes.rs"]
pub mod shapes;
#[path = "../../../tests/common/solids.rs"]
pub mod solids;
#[path = "../../../tests/common/vector.rs"]
pub mod vector;
#[path = "../../../tests/common/voxels.rs"]
pub mod voxels;
