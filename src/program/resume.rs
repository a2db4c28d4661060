//! `--resume`: whether a mesh's voxels are there already, as this run would make them.

use std::fs;
use std::path::Path;

use trivox::formats::{GridFormat, read_grid};
use trivox::{Lattice, Mesh, Sizing, VoxelGrid, World, place};

use crate::program::cli::Job;
use crate::program::plan::Task;
use crate::program::summary::Skipped;
use crate::program::task::place_options;

/// What an earlier run made of `task`, if its file is whole, not older than the mesh, and
/// of the size that `job` asks for, as far as that can be known without reading the mesh.
pub fn kept(job: &Job, task: &Task) -> Option<Skipped> {
    let target = task.target.as_deref()?;
    if !is_as_new(target, &task.mesh) {
        return None;
    }
    let loaded = read_grid(target).ok()?;
    // No warnings, and a place in the world where the format has one: it is a file of ours.
    let is_ours = loaded.warnings.is_empty()
        && (loaded.grid.world.is_some() || GridFormat::of_path(target) == Ok(GridFormat::Npy));
    let is_done = is_ours && agrees(job, &loaded.grid);
    is_done.then(|| Skipped::new(&task.mesh, target, &loaded.grid))
}

/// Whether `file` is a regular file, and last changed when `mesh` was or later.
fn is_as_new(file: &Path, mesh: &Path) -> bool {
    let Ok(file) = fs::metadata(file) else {
        return false;
    };
    let mesh = fs::metadata(mesh).and_then(|mesh| mesh.modified());
    file.is_file() && mesh.is_ok_and(|mesh| file.modified().is_ok_and(|file| file >= mesh))
}

/// Whether `grid` has the size that `job` asks for. What nothing is known about does not agree.
fn agrees(job: &Job, grid: &VoxelGrid) -> bool {
    let options = place_options(job);
    if grid.world.is_some_and(|world| world.up != job.up.into()) {
        return false;
    }
    match (lattice_of_bounds(job), options.sizing) {
        (Some(lattice), _) => {
            let same = |world| world == World::of(&lattice, job.up.into());
            grid.dims() == lattice.dims && grid.world.is_none_or(same)
        }
        (None, Sizing::Resolution(res)) => {
            let longest = grid.dims().into_iter().max().map(u64::from);
            longest == Some(u64::from(res) + 2 * u64::from(options.pad))
        }
        (None, Sizing::VoxelSize(size)) => grid.world.is_some_and(|w| w.voxel_size == size),
    }
}

/// The lattice of any mesh within explicit bounds.
fn lattice_of_bounds(job: &Job) -> Option<Lattice> {
    let bounds = job.bounds?;
    let diagonal = Mesh::new(vec![bounds.min, bounds.max], vec![[0, 1, 1]]).ok()?;
    Some(*place(&diagonal, &place_options(job)).ok()?.lattice())
}
