//! The 3MF reader: the build of a model, in the XML of a zip package.
//!
//! After the 3MF Consortium, *3D Manufacturing Format Core Specification* 1.3, with the paths of
//! the *Production Extension* 1.1 and the colour groups of the *Materials and Properties Extension*
//! 1.2.

mod build;
mod model;
mod package;

use crate::formats::io::bytes::Budget;
use crate::formats::mesh::threemf::build::build;
use crate::formats::mesh::threemf::model::Model;
use crate::formats::mesh::threemf::package::{Package, check_start};
use crate::formats::{LoadedMesh, MeshSpec, ReadError, ReadOptions};

pub const SPEC: MeshSpec = MeshSpec {
    extension: "3mf",
    name: "3MF",
    carries: "objects and components of the build; base materials and colour groups",
    check_start: |start, _| check_start(start),
    read: |bytes, _, options| read(&bytes, options),
};

/// Bytes of memory independent of the file.
const REST: u64 = 64 << 10;

fn read(bytes: &[u8], options: &ReadOptions) -> Result<LoadedMesh, ReadError> {
    let mut memory = Budget::new(options.memory);
    memory.take(bytes.len() as u64 + REST)?;
    let package = Package::open(bytes)?;
    let model = Model::read(&package, &mut memory)?;
    build(model, options.appearance, memory)
}
