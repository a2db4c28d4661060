//! The label of each voxel: its object.
//!
//! In a solid it is the last object that is closed by itself and whose own solid holds the voxel's
//! centre: objects that touch divide at the face, to the bit, and of overlapping ones the later
//! wins. Any other voxel has the label of its largest triangle, or none.

use rayon::prelude::*;

use crate::backend::{BackendError, check_cancelled, check_memory};
use crate::base::progress::{Progress, Unreported};
use crate::grid::{Attribute, BrickKey, Channel, Mask, VoxelGrid, VoxelValues, count, own_values};
use crate::lattice::PlacedMesh;
use crate::solid::mode::Mode;
use crate::solid::{Fill, unreported_solid};
use crate::surface::attributes::{Sampled, coverage};
use crate::surface::color::integrator::voxels_of;

/// The voxels of an object in a brick.
struct ObjectBrick {
    key: BrickKey,
    mask: Mask,
    label: u32,
}

/// An upper bound of the bytes of memory of an object, for each of its triangles: their numbers,
/// the vertices twice, and those in use in order.
const BYTES_A_TRIANGLE: u64 = 120;

/// Whether the mesh has several objects.
pub(super) fn has_several_objects(mesh: &PlacedMesh) -> bool {
    mesh.labels().is_some_and(|labels| labels.names().len() > 1)
}

/// The open and the thin objects of a solid.
#[derive(Default)]
pub(super) struct Objects {
    /// With holes.
    pub(super) open: Vec<u32>,
    /// Thinner on average than a sub-voxel of the coverage.
    pub(super) thin: Vec<u32>,
}

/// The labels of the voxels of `grid`, where `sampled` is the surface, in order of its bricks, and
/// of a solid the objects that are open or thin. Takes at most `memory` bytes.
pub(super) fn channel(
    mesh: &PlacedMesh,
    grid: &VoxelGrid,
    sampled: &Sampled,
    mode: Mode,
    memory: u64,
    progress: &dyn Progress,
) -> Result<(Channel, Objects), BackendError> {
    if !has_several_objects(mesh) {
        return Ok((Channel::Scalar(VoxelValues::uniform(0)), Objects::default()));
    }
    let (solids, found) = match mode {
        Mode::Solid(_) => solids_of_objects(mesh, memory, &Unreported(progress))?,
        _ => Default::default(),
    };
    check_cancelled(progress)?;
    let [none, ..] = Attribute::Label.none();
    // Most voxels have no value of their own.
    let rest = most_frequent(&solids).unwrap_or(none);
    let own_of = |(key, mask): (BrickKey, Mask)| {
        let labels = labels_of(key, sampled, &solids, none);
        let (own, values) = own_values(mask, rest, |x, bit| labels[(64 * x + bit) as usize]);
        (!values.is_empty()).then_some((key, own, values))
    };
    let labelled = || grid.bricks().par_bridge().filter_map(own_of);
    let bytes_of_own = |own: &[u32]| VoxelValues::<u32>::bytes_of(1, own.len() as u64);
    let bytes: u64 = labelled().map(|(.., own)| bytes_of_own(&own)).sum();
    // The values in lists that grow, and in order.
    check_memory(4 * bytes + bytes_of(solids.len() as u64), memory)?;
    Ok((Channel::Scalar(VoxelValues::from_bricks(labelled().collect(), rest)), found))
}

/// The labels of all voxels of a brick.
fn labels_of(key: BrickKey, sampled: &Sampled, solids: &[ObjectBrick], none: u32) -> [u32; 512] {
    let mut labels = [none; 512];
    if let Ok(at) = sampled.bricks.binary_search_by_key(&key, |brick| brick.key) {
        let brick = &sampled.bricks[at];
        let own = sampled.column(Attribute::Label, brick);
        voxels_of(&brick.mask).zip(own).for_each(|(voxel, &label)| labels[voxel] = label);
    }
    let first = solids.partition_point(|brick| brick.key < key);
    for brick in solids[first..].iter().take_while(|brick| brick.key == key) {
        voxels_of(&brick.mask).for_each(|voxel| labels[voxel] = brick.label);
    }
    labels
}

/// The solids of all objects that are closed by themselves, brick by brick, in each brick in the
/// order of the objects.
fn solids_of_objects(
    mesh: &PlacedMesh,
    memory: u64,
    progress: &dyn Progress,
) -> Result<(Vec<ObjectBrick>, Objects), BackendError> {
    let (mut solids, mut found) = (Vec::new(), Objects::default());
    let sub_voxel = f64::from(mesh.lattice().units_per_voxel() >> coverage::BITS);
    let objects = mesh.labels().map(|labels| labels.objects(mesh.whole().len()));
    for (label, ranges) in (0..).zip(objects.into_iter().flatten()) {
        let triangles: Vec<u32> = ranges.into_iter().flatten().collect();
        let kept = bytes_of(solids.len() as u64) + BYTES_A_TRIANGLE * triangles.len() as u64;
        check_memory(kept, memory)?;
        let object = mesh.only(&triangles);
        if object.is_empty() {
            continue;
        }
        let solid = unreported_solid(&object, Fill::Auto, true, memory - kept, progress);
        let solid = solid.map_err(|error| error.with_kept_bytes(kept, memory))?;
        let Some((solid, _, topology)) = solid else {
            found.open.push(label);
            continue;
        };
        // A sheet with two sides encloses nothing.
        if topology.volume_times_six != 0 && topology.thickness() < sub_voxel {
            found.thin.push(label);
        }
        let more = solid.brick_count();
        check_memory(kept + solid.bytes() + bytes_of(more), memory)?;
        solids.extend(solid.bricks().map(|(key, mask)| ObjectBrick { key, mask, label }));
    }
    // Stable: a later object stays after the others.
    solids.par_sort_by_key(|brick| brick.key);
    Ok((solids, found))
}

/// Bytes of memory of a list of so many bricks of objects, also while it grows or is sorted.
fn bytes_of(bricks: u64) -> u64 {
    3 * bricks * size_of::<ObjectBrick>() as u64
}

/// The label of the most voxels, the lowest of equals.
fn most_frequent(solids: &[ObjectBrick]) -> Option<u32> {
    let last = solids.iter().map(|brick| brick.label).max()?;
    let mut voxels = vec![0_u64; last as usize + 1];
    for brick in solids {
        voxels[brick.label as usize] += u64::from(count(&brick.mask));
    }
    (0..=last).max_by_key(|&label| (voxels[label as usize], u32::MAX - label))
}
