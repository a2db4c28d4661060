//! The voxels that `render` and `slice` show: those of a grid's file, or of a mesh.

use std::fs;
use std::iter;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use trivox::backend::BackendChoice;
use trivox::formats::{GridFormat, ReadError, check_known_extension, is_mesh};
use trivox::{PlaceOptions, VoxelGrid, Voxelizer};

use crate::cli::{SceneArgs, SourceArgs, VoxelArgs};
use crate::memory::Memory;
use crate::options::{DEFAULT_SIZING, given, sizing};
use crate::progress::TerminalProgress;
use crate::text::{sentences, shown};
use crate::write::sink::{Sink, refuse_sidecars};

/// Reads the grid in `file`, or voxelizes the mesh in it. Returns the grid, and warnings. The file
/// must have passed [`check_input`]; the output, `sink`, must be none of the mesh's sidecar files.
pub fn voxels(
    file: &Path,
    args: &SourceArgs,
    sink: Option<&Sink>,
    progress: &Arc<TerminalProgress>,
) -> Result<(VoxelGrid, Vec<String>)> {
    if !is_mesh(file) {
        return Ok(progress.load(file, args.read.memory, args.scene)?.into_grid());
    }
    let memory = Memory::new(args.read.memory);
    let sizing = sizing(args.res, args.voxel_size);
    let voxelizer = Voxelizer::new()
        .memory_from(move || memory.left())
        .backend(BackendChoice::Cpu)
        .progress(progress.clone())
        .place_options(PlaceOptions::new(sizing.unwrap_or(DEFAULT_SIZING)));
    let voxelizer = args.voxels.apply_to(voxelizer).color(args.color.unwrap_or_default());
    // The main command's steps, without its reports.
    let named = || shown(file);
    let of_mesh = || {
        let placed = voxelizer.place(file).with_context(named)?;
        refuse_sidecars(sink.as_slice(), iter::once(file), &voxelizer, &placed)?;
        let voxelized = voxelizer.voxelize(&placed).with_context(named)?;
        let voxelized = voxelizer.paint(&placed.mesh, voxelized).with_context(named)?;
        anyhow::Ok((voxelized.grid, sentences(&voxelized.warnings).collect()))
    };
    of_mesh().map_err(|error| memory.explain(error))
}

/// Checks that `file` exists, is no folder, and has the extension of a mesh or a grid.
pub fn check_input(file: &Path) -> Result<()> {
    let named = || shown(file);
    // A missing file is reported before an unknown format.
    if fs::metadata(file).with_context(named)?.is_dir() {
        let why = "is a folder: name a file in it".to_owned();
        return Err(ReadError::Unsupported(why)).with_context(named);
    }
    check_known_extension(file).with_context(named)
}

/// Refuses the options that are given, as they have no effect on `file`, which is not of this kind.
pub fn refuse_given(file: &Path, kind: &str, options: &[(&str, bool)]) -> Result<()> {
    if let Some(option) = given(options) {
        bail!("{}: is no {kind}, so {option} has no effect: leave it out", shown(file));
    }
    Ok(())
}

impl SceneArgs {
    /// Refuses the options for a file of another format.
    pub fn refuse_for_others(self, file: &Path) -> Result<()> {
        let of_scenes = [("--visible-only", self.visible_only), ("--frame", self.frame.is_some())];
        match GridFormat::of_path(file) {
            Ok(GridFormat::Vox) => Ok(()),
            _ => refuse_given(file, ".vox", &of_scenes),
        }
    }
}

impl SourceArgs {
    /// Refuses contradictory options of a mesh, and those that have no effect on `file`.
    pub fn refuse_contradictions(&self, file: &Path) -> Result<()> {
        let Self { scene, res, voxel_size, voxels, color, .. } = self;
        scene.refuse_for_others(file)?;
        if is_mesh(file) {
            return voxels.refuse_contradictions(*color).with_context(|| shown(file));
        }
        let &VoxelArgs { mode, fill, include_surface, interior_color, .. } = voxels;
        let &VoxelArgs { keep_transparent, filter, blend, confine, .. } = voxels;
        let of_meshes = [
            ("--res", res.is_some()),
            ("--voxel-size", voxel_size.is_some()),
            ("--mode", mode.is_some()),
            ("--fill", fill.is_some()),
            ("--include-surface", include_surface),
            ("--interior-color", interior_color.is_some()),
            ("--keep-transparent", keep_transparent),
            ("--filter", filter.is_some()),
            ("--blend", blend.is_some()),
            ("--confine", confine),
            ("--color", color.is_some()),
        ];
        refuse_given(file, "mesh", &of_meshes)
    }
}
