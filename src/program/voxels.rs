//! The voxels that `render` and `slice` show: those of a grid's file, or of a mesh.

use std::fs;
use std::iter;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use trivox::backend::BackendChoice;
use trivox::formats::{GridFormat, LoadedGrid, check_known_extension, is_mesh};
use trivox::{PlaceOptions, VoxelGrid, Voxelizer};

use crate::cli::{SceneArgs, SourceArgs, VoxelArgs};
use crate::memory::Memory;
use crate::options::{given, sizing};
use crate::progress::TerminalProgress;
use crate::text::{sentences, shown};
use crate::write::sink::{Inputs, Sink};

/// The voxels of a file.
pub struct Voxels {
    pub grid: VoxelGrid,
    pub warnings: Vec<String>,
    /// The sidecar files of the mesh.
    pub sidecars: Inputs,
}

impl Voxels {
    /// Reads a grid, or voxelizes a mesh. `sink` is the output, if there is one.
    pub fn load(
        file: &Path,
        args: &SourceArgs,
        sink: Option<&Sink>,
        progress: &Arc<TerminalProgress>,
    ) -> Result<Self> {
        if !is_mesh(file) {
            fs::metadata(file).with_context(|| shown(file))?;
            check_known_extension(file).with_context(|| shown(file))?;
            let LoadedGrid { grid, warnings, .. } =
                progress.load(file, args.read.memory, args.scene)?;
            return Ok(Self { grid, warnings, sidecars: Inputs::default() });
        }
        let memory = Memory::new(args.read.memory);
        let voxelizer = Voxelizer::new()
            .memory_from(move || memory.left())
            .backend(BackendChoice::Cpu)
            .progress(progress.clone())
            .place_options(PlaceOptions::new(sizing(args.res, args.voxel_size)));
        let voxelizer = args.voxels.apply_to(voxelizer).color(args.color.unwrap_or_default());
        // As the main command does.
        let of_mesh = || {
            let placed = voxelizer.place(file)?;
            let replaced = sink.and_then(Sink::file).into_iter();
            let sidecars = Inputs::of_meshes(iter::once(file), &voxelizer, &placed, replaced)?;
            let voxelized = voxelizer.paint(&placed.mesh, voxelizer.voxelize(&placed)?)?;
            let warnings = sentences(&voxelized.warnings).collect();
            anyhow::Ok(Self { grid: voxelized.grid, warnings, sidecars })
        };
        of_mesh().map_err(|error| memory.explain(error)).with_context(|| shown(file))
    }
}

/// Refuses the options that are given, as they have no effect on `file`, which is not of this kind.
pub fn refuse_given(file: &Path, kind: &str, options: &[(&str, bool)]) -> Result<()> {
    if let Some(option) = given(options) {
        bail!("{}: is no {kind}, so {option} has no effect: leave it out", shown(file));
    }
    Ok(())
}

impl SceneArgs {
    pub fn are_of(file: &Path) -> bool {
        GridFormat::of_path(file).is_ok_and(|format| format == GridFormat::Vox)
    }

    /// Refuses the options for a file of another format.
    pub fn refuse_for_others(self, file: &Path) -> Result<()> {
        let of_scenes = [("--visible-only", self.visible_only), ("--frame", self.frame.is_some())];
        if Self::are_of(file) { Ok(()) } else { refuse_given(file, ".vox", &of_scenes) }
    }
}

impl SourceArgs {
    /// Refuses contradictory options of a mesh, and for a grid all options of meshes.
    pub fn refuse_contradictions(&self, file: &Path) -> Result<()> {
        let Self { res, voxel_size, voxels, color, .. } = self;
        if is_mesh(file) {
            return voxels.refuse_contradictions().with_context(|| shown(file));
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
