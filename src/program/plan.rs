//! What a run has to do, settled before it starts: which meshes, and where their voxels go.

use std::path::PathBuf;

use anyhow::{Result, bail};
use trivox::formats::GridFormat;

use crate::program::cli::Job;
use crate::program::destination::Destination;
use crate::program::inputs;

/// One mesh to voxelize.
#[derive(Debug, Clone)]
pub struct Task {
    pub mesh: PathBuf,
    /// The file for its voxels, if they are wanted.
    pub target: Option<PathBuf>,
}

/// All meshes of a run.
#[derive(Debug)]
pub struct Plan {
    /// In the order given.
    pub tasks: Vec<Task>,
    /// How many meshes were named, for all shards together.
    pub named: usize,
    /// Whether the run is one of several meshes by the way it was asked for, however many those
    /// turn out to be: a script that reads the output need not tell them apart.
    pub several: bool,
}

impl Plan {
    /// Settles what `job` asks for, and makes the output folder.
    ///
    /// # Errors
    /// No list, a mesh named twice, two meshes for one file, a folder that cannot be written in.
    pub fn new(job: &Job) -> Result<Self> {
        refuse_likely_mistakes(job)?;
        let (meshes, has_list) = inputs::meshes(&job.meshes, job.recursive)?;
        let named = meshes.len();
        let several = named > 1 || has_list || job.shard.is_some();
        let destination = Destination::new(job.output.as_deref(), job.format, job.tile, several)?;
        // Of all shards, so that none of them overwrites what another wrote.
        let targets = destination.targets(&meshes)?;
        let tasks = meshes.into_iter().zip(targets).map(|(mesh, target)| Task { mesh, target });
        let mut tasks: Vec<Task> = tasks.collect();
        if let Some(shard) = job.shard {
            tasks = shard.of(tasks);
        }
        destination.prepare()?;
        Ok(Self { tasks, named, several })
    }
}

/// Words that are typed as commands, and what to type for them.
const COMMANDS: [(&str, &str); 12] = [
    ("adapters", "adapters"),
    ("completions", "completions"),
    ("convert", "convert"),
    ("diff", "diff"),
    ("formats", "formats"),
    ("help", "help"),
    ("info", "info"),
    ("man", "man"),
    ("render", "render"),
    ("slice", "slice"),
    ("verify", "verify"),
    ("version", "--version"),
];

/// A mistyped command, and an output without `-o`.
fn refuse_likely_mistakes(job: &Job) -> Result<()> {
    let [first, others @ ..] = &job.meshes[..] else { return Ok(()) };
    let word = first.to_str().filter(|word| !word.contains(['.', '/', '\\', '@', '*']));
    if let Some(word) = word.filter(|_| !first.exists()) {
        let alike = |(name, _): &&(&str, &str)| strsim::damerau_levenshtein(name, word);
        let nearest = COMMANDS.iter().min_by_key(alike).filter(|one| alike(one) <= 2);
        let hint = match nearest {
            Some((_, typed)) => format!("did you mean `voxelize {typed}`?"),
            None => "see `voxelize --help`".to_owned(),
        };
        bail!("{word}: is neither a command nor a file: {hint}");
    }
    let last = others.last().filter(|_| job.output.is_none());
    if let Some(last) = last.filter(|last| !last.exists()) {
        let is_written = GridFormat::of_path(last).is_ok_and(|format| format.spec().is_written());
        if is_written {
            let name = last.display();
            bail!("{name}: there is no such file: did you mean -o {name}?");
        }
    }
    Ok(())
}
