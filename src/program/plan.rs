//! The plan of a run, made before it starts: the meshes, their outputs, and what they share.

use std::path::Path;

use anyhow::{Result, bail};
use trivox::Lattice;
use trivox::formats::{MeshSpec, WriteOptions};

use crate::cli::{LabelBy, VoxelizeArgs};
use crate::console::print_warnings;
use crate::inputs::{self, LeftOut, Named, Task};
use crate::memory::Memory;
use crate::tips::refuse_likely_mistakes;
use crate::write::destination;
use crate::write::sink::Inputs;
use crate::write::terminal;

/// A run, before it starts.
pub struct Plan<'a> {
    pub job: &'a VoxelizeArgs,
    /// In the order given.
    pub tasks: Vec<Task>,
    pub left_out: Vec<LeftOut>,
    /// The number of meshes of all shards.
    pub total_meshes: usize,
    /// Whether the arguments can name several meshes, such as a folder or a list, even if they name
    /// one: reports then have the form of a batch, on which a script can rely.
    pub is_batch: bool,
    /// The files that all tasks read.
    pub inputs: Inputs,
    pub write_options: WriteOptions,
    /// The options to compare with those of earlier runs; `None` without `--resume`.
    pub resume: Option<String>,
    pub memory: Memory,
}

impl<'a> Plan<'a> {
    /// Determines the tasks of `job`, reads the files that options name, and creates the output
    /// folders if nothing is refused. Prints warnings about meshes that are left out and about
    /// `--show`.
    pub fn new(job: &'a VoxelizeArgs, lattice: Option<&Lattice>) -> Result<Self> {
        refuse_likely_mistakes(job)?;
        // Only outputs that are meshes can be taken for inputs.
        let is_of_meshes = MeshSpec::of_extension(job.format_in_folder().extension()).is_ok();
        let output = job.output.as_deref().filter(|_| is_of_meshes);
        let Named { mut tasks, has_list, left_out } =
            inputs::named(&job.meshes, job.recursive, output)?;
        let is_several = tasks.len() > 1 || has_list || job.shard.is_some();
        let mut warnings = inputs::leave_out_repeated(&mut tasks);
        warnings.extend(inputs::warnings(&left_out));
        let is_joined = job.label == Some(LabelBy::File);
        if is_joined {
            tasks = Task::joined(tasks);
        }
        let total_meshes = tasks.len();
        let is_batch = is_several && !is_joined;
        // Outputs of all shards are checked, so that no shard overwrites another's file.
        let folder = destination::assign(job, is_batch, &mut tasks)?;
        if folder.is_some() {
            job.check_format(job.format_in_folder())?;
        }
        if let Some(shard) = job.shard {
            tasks = shard.of(tasks);
        }
        if is_batch && job.preview.is_some() {
            bail!("--preview draws one mesh: use `voxelize render` for each of several");
        }
        if job.show && !terminal::has_colors() {
            let why = "--show had no effect: standard error is no terminal with colours";
            warnings.push(why.to_owned());
        }
        print_warnings(&warnings, job.quiet);
        let mut memory = Memory::new(job.compute.memory);
        memory.at_once = tasks.len().min(rayon::current_num_threads());
        let write_options = job.palette.write_options()?;
        let resume = job.resume.then(|| job.determining(lattice, &write_options));
        let lists = job.meshes.iter().filter_map(|arg| inputs::list(arg).map(Path::new));
        let inputs = Inputs::new(job.palette.files().chain(job.lattice.as_deref()).chain(lists));
        if let Some(folder) = folder {
            destination::prepare(folder, &tasks)?;
        }
        Ok(Self {
            job,
            tasks,
            left_out,
            total_meshes,
            is_batch,
            inputs,
            write_options,
            resume,
            memory,
        })
    }
}
