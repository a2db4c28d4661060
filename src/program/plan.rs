//! The tasks of a run, determined before it starts: the meshes and their outputs.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use trivox::formats::{GridFormat, is_mesh};
use trivox::grid::Attribute;

use crate::cli::Job;
use crate::inputs::{self, is_read_grid};
use crate::options::DEFAULT_RES;
use crate::text::shown;
use crate::tips::nearest_command;
use crate::write::destination::{self, Outputs};

/// One mesh to voxelize.
#[derive(Debug, Clone)]
pub struct Task {
    pub mesh: PathBuf,
    /// The mesh's folder, relative to the folder that was named; empty if it lies there or was named
    /// itself.
    pub below: PathBuf,
    /// The output file, if any.
    pub target: Option<PathBuf>,
}

impl From<PathBuf> for Task {
    fn from(mesh: PathBuf) -> Self {
        Self { mesh, below: PathBuf::new(), target: None }
    }
}

/// All meshes of a run.
#[derive(Debug)]
pub struct Plan {
    /// In the order given.
    pub tasks: Vec<Task>,
    /// The outputs of all shards.
    pub outputs: Outputs,
    /// The number of meshes of all shards.
    pub named: usize,
    /// Whether the run is one of several meshes by its arguments, however many there are, so that a
    /// script gets output of one shape.
    pub several: bool,
    /// Inputs left out.
    pub warnings: Vec<String>,
}

impl Plan {
    /// Determines the tasks of `job`, and creates the output folders.
    pub fn new(job: &Job) -> Result<Self> {
        refuse_likely_mistakes(job)?;
        let (mut tasks, has_list) = inputs::meshes(&job.meshes, job.recursive)?;
        let warnings = inputs::leave_out_repeated(&mut tasks);
        let named = tasks.len();
        let several = named + warnings.len() > 1 || has_list || job.shard.is_some();
        // Outputs of all shards are checked, so that no shard overwrites another's file.
        let folder = destination::assign(job, several, &mut tasks)?;
        let outputs = Outputs::of(&tasks);
        if let Some(shard) = job.shard {
            tasks = shard.of(tasks, |task| work(&task.mesh, job));
        }
        if let Some(folder) = folder {
            destination::prepare(folder, &tasks)?;
        }
        Ok(Self { tasks, outputs, named, several, warnings })
    }
}

/// The estimated work of a mesh, in bytes of an OBJ file: one takes 3 ns. By measure a mesh takes
/// 0.4 ms more, and 40 ns for each of `res * res` voxels.
fn work(mesh: &Path, job: &Job) -> u64 {
    let bytes = fs::metadata(mesh).map_or(0, |file| file.len());
    let res = u64::from(job.expected_res().unwrap_or(DEFAULT_RES));
    bytes + (128 << 10) + 14 * res * res
}

/// Refuses a mistyped command, a grid in place of a mesh, and an attribute, an output or a resolution
/// without its option.
fn refuse_likely_mistakes(job: &Job) -> Result<()> {
    let [first, others @ ..] = &job.meshes[..] else { return Ok(()) };
    let is_attribute = |path: &&PathBuf| {
        path.to_str().is_some_and(|word| word.parse::<Attribute>().is_ok()) && !path.exists()
    };
    if let Some(name) = job.meshes.iter().find(is_attribute).map(shown) {
        bail!(
            "{name}: there is no such mesh: attributes are joined by commas, such as \
             --attributes normal,{name}"
        );
    }
    let word = first.to_str().filter(|word| !word.contains(['.', '/', '\\', '@', '*']));
    if let Some(word) = word.filter(|_| !first.exists()) {
        let hint = match nearest_command(word) {
            Some(typed) => format!("did you mean `voxelize {typed}`?"),
            None => "see `voxelize --help`".to_owned(),
        };
        bail!("{word}: is neither a command nor a file: {hint}");
    }
    if let Some(last) = others.last().filter(|last| !last.exists()) {
        let name = shown(last);
        let is_written = GridFormat::of_path(last).is_ok_and(|format| format.spec().is_written());
        // A possible mesh fails alone, and does not stop the others.
        if is_written && !is_mesh(last) && job.output.is_none() {
            bail!("{name}: there is no such file: did you mean -o {name}?");
        }
        if last.to_str().is_some_and(|word| word.parse::<u32>().is_ok()) {
            bail!("{name}: there is no such file: did you mean --res {name}?");
        }
    }
    let is_grid = |path: &&PathBuf| !is_mesh(path) && is_read_grid(path) && path.is_file();
    match job.meshes.iter().find(is_grid) {
        Some(grid) => bail!(
            "{}: is a grid of voxels, and not a mesh: use `voxelize convert` to write it in \
             another format, `voxelize render` to draw it",
            shown(grid)
        ),
        None => Ok(()),
    }
}
