//! Reports the results of a run, mesh by mesh, and the totals.

use std::time::Instant;

use anyhow::Result;
use serde::Serialize;

use crate::ExitStatus;
use crate::cli::VoxelizeArgs;
use crate::console::{CodedError, StdoutClosed, print_error, print_json};
use crate::inputs::Task;
use crate::plan::Plan;
use crate::progress::TerminalProgress;
use crate::summary::{MeshSummary, Outcome};
use crate::text::{counted, duration, escaped, grouped, listed, shown};
use crate::write::terminal;

/// Writes reports to standard error, and JSON to standard output if requested.
pub struct Report<'a> {
    plan: &'a Plan<'a>,
    progress: &'a TerminalProgress,
    began: Instant,
    totals: Totals,
    /// The reader closed standard output.
    stdout_is_closed: bool,
}

#[derive(Debug, Default)]
struct Totals {
    made: u64,
    skipped: u64,
    differing: u64,
    /// The number of meshes that `--strict` refused.
    refused: u64,
    /// The names of the meshes that failed.
    failed: Vec<String>,
    occupied: u64,
}

impl<'a> Report<'a> {
    /// Starts the report and its clock.
    pub fn new(plan: &'a Plan, progress: &'a TerminalProgress) -> Self {
        let (began, totals) = (Instant::now(), Totals::default());
        Self { plan, progress, began, totals, stdout_is_closed: false }
    }

    /// Reports the entries that are left out, in JSON, of the first shard: warnings name them
    /// otherwise.
    pub fn start(&mut self) -> Result<()> {
        let Plan { job, left_out, .. } = self.plan;
        if job.shard.is_some_and(|shard| !shard.is_first()) {
            return Ok(());
        }
        left_out.iter().try_for_each(|entry| self.print_json(entry))
    }

    /// Reports the result of `task`. An error ends the run: standard output cannot be written
    /// to, or is [`StdoutClosed`] and no output remains to be made.
    pub fn take(&mut self, task: &Task, result: Result<Outcome>) -> Result<()> {
        let outcome = result.unwrap_or_else(|error| {
            let (mesh, report) = (task.name(), CodedError::of(&error));
            Outcome::Failed { mesh, report }
        });
        self.totals.add(task, &outcome);
        let progress = self.progress;
        progress.aside(|| {
            self.print_text(task, &outcome);
            self.print_json(&outcome)
        })
    }

    /// Reports the totals.
    pub fn finish(self) -> ExitStatus {
        self.progress.finish();
        if self.plan.is_batch && !self.plan.job.quiet {
            print_error(&self.last_line());
            print_error(&self.failures());
        }
        self.totals.status()
    }

    fn print_json(&mut self, outcome: &impl Serialize) -> Result<()> {
        if !self.plan.job.json || self.stdout_is_closed {
            return Ok(());
        }
        match print_json(outcome) {
            // The files are still wanted.
            Err(error) if error.is::<StdoutClosed>() && self.plan.job.output.is_some() => {
                self.stdout_is_closed = true;
                Ok(())
            }
            Err(error) if error.is::<StdoutClosed>() => {
                Err(StdoutClosed { status: self.totals.status() }.into())
            }
            printed => printed,
        }
    }

    fn print_text(&self, task: &Task, outcome: &Outcome) {
        let text = match outcome {
            Outcome::Failed { mesh, report: CodedError { error, .. } } => {
                let mesh = escaped(mesh);
                let is_named = !self.plan.is_batch || error.starts_with(&mesh);
                let name = if is_named { String::new() } else { format!("{mesh}: ") };
                format!("error: {name}{error}\n")
            }
            Outcome::Made(summary) => self.description(task, summary),
            Outcome::Skipped { .. } if self.plan.job.quiet => return,
            Outcome::Skipped { mesh, reason, output, remarks, .. } => {
                let [mesh, output] = [mesh, output].map(|name| escaped(name));
                let warnings = remarks.warnings.iter();
                let warnings = warnings.map(|text| format!("warning: {mesh}: {text}\n"));
                let skipped = format!("{mesh}: skipped, {output} is there: {reason}\n");
                warnings.chain([skipped]).collect()
            }
        };
        print_error(&text);
        if let Outcome::Made(summary) = outcome {
            summary.shown.iter().for_each(|picture| terminal::print(picture));
        }
    }

    /// The error if nothing is kept. Else warnings, then the summary or an error in its place; then
    /// notes, unless each mesh has one line.
    fn description(&self, task: &Task, summary: &MeshSummary) -> String {
        let VoxelizeArgs { quiet, verbose, force, .. } = *self.plan.job;
        let several = self.plan.is_batch;
        let mesh = if several { format!("{}: ", escaped(&summary.mesh)) } else { String::new() };
        if let Some(check) = summary.check.as_ref().filter(|_| summary.differs()) {
            return format!("error: {mesh}{check}\n");
        }
        let is_block = !several || verbose;
        let result = match summary.refused {
            true => self.refusal(task, summary),
            false if quiet => String::new(),
            false if is_block => summary.text(verbose),
            false => summary.line(),
        };
        if quiet || summary.refused && !force {
            return result;
        }
        let is_in_refusal = |text: &&String| summary.refused && summary.doubts.contains(text);
        let warnings = summary.warnings.iter().filter(|text| !is_in_refusal(text));
        let warnings: String = warnings.map(|text| format!("warning: {mesh}{text}\n")).collect();
        let notes = summary.notes.iter().filter(|_| is_block);
        let notes: String = notes.map(|text| format!("note: {mesh}{text}\n")).collect();
        let end = if several && is_block { "\n" } else { "" };
        warnings + &result + &notes + end
    }

    fn refusal(&self, task: &Task, summary: &MeshSummary) -> String {
        let written = match (&self.plan.job.output, &summary.output) {
            (_, Some(output)) => format!("; written nevertheless: {}", escaped(output)),
            (Some(_), None) => {
                let older = task.target.as_deref().filter(|target| target.is_file());
                let older = older.map(|file| format!("; an older {} is still there", shown(file)));
                let older = older.unwrap_or_default();
                format!("; nothing is written (--force writes it nevertheless){older}")
            }
            (None, None) => String::new(),
        };
        let MeshSummary { doubts, result, .. } = summary;
        let holes = result.fill.iter().filter(|_| doubts.is_empty()).map(|fill| {
            let edges = counted(fill.topology.odd_edges, "edge");
            format!("the mesh is not closed: {edges} of an odd number of triangles")
        });
        let reasons: Vec<String> = doubts.iter().cloned().chain(holes).collect();
        format!("error: {}: {}{written}\n", escaped(&summary.mesh), reasons.join("; "))
    }

    /// The line with the names of the meshes that failed, and that about a missing output.
    fn failures(&self) -> String {
        /// Most names.
        const MOST: usize = 20;
        let (VoxelizeArgs { output, check, json, verbose, .. }, failed) =
            (self.plan.job, &self.totals.failed);
        let named = listed(&failed[..failed.len().min(MOST)], failed.len() as u64);
        let failed = if failed.is_empty() { String::new() } else { format!("failed: {named}\n") };
        let is_silent = !check && !json && !*verbose && !self.plan.job.draws();
        let is_unwritten = output.is_none() && is_silent;
        let unwritten = if is_unwritten && self.totals.made > 0 {
            "note: no file is written: name a folder with -o\n"
        } else {
            ""
        };
        failed + unwritten
    }

    fn last_line(&self) -> String {
        let &Totals { made, skipped, differing, refused, ref failed, occupied } = &self.totals;
        let named = counted(self.plan.total_meshes as u64, "mesh");
        let of = match self.plan.job.shard {
            Some(shard) => format!("shard {shard}, {} of {named}", self.plan.tasks.len()),
            None => named,
        };
        let mut parts = vec![format!("{} voxelized", grouped(made))];
        let others = [
            (skipped, "skipped"),
            (differing, "differing"),
            (refused, "refused"),
            (failed.len() as u64, "failed"),
        ];
        let others = others.iter().filter(|(number, _)| *number > 0);
        parts.extend(others.map(|(number, what)| format!("{} {what}", grouped(*number))));
        parts.push(format!("{} occupied", counted(occupied, "voxel")));
        parts.push(duration(self.began.elapsed()));
        format!("{of}: {}\n", parts.join(", "))
    }
}

impl Totals {
    fn add(&mut self, task: &Task, outcome: &Outcome) {
        match outcome {
            Outcome::Failed { .. } => self.failed.push(shown(&task.mesh)),
            Outcome::Skipped { contents, .. } => {
                self.skipped += 1;
                self.occupied += contents.occupied;
            }
            Outcome::Made(summary) if summary.differs() => self.differing += 1,
            Outcome::Made(summary) if summary.refused => self.refused += 1,
            Outcome::Made(summary) => {
                self.made += 1;
                self.occupied += summary.result.occupied;
            }
        }
    }

    fn status(&self) -> ExitStatus {
        match self {
            Self { failed, .. } if !failed.is_empty() => ExitStatus::Failed,
            Self { differing: 1.., .. } | Self { refused: 1.., .. } => ExitStatus::Differs,
            _ => ExitStatus::Done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_worse_than_a_difference_and_that_than_none() {
        let of = |differing, refused, failed| {
            let failed = vec!["a.obj".to_owned(); failed];
            Totals { made: 9, differing, refused, failed, ..Totals::default() }.status()
        };
        assert_eq!(of(0, 0, 0), ExitStatus::Done);
        assert_eq!(of(2, 0, 0), ExitStatus::Differs);
        assert_eq!(of(0, 2, 0), ExitStatus::Differs);
        assert_eq!(of(0, 0, 1), ExitStatus::Failed);
        assert_eq!(of(2, 2, 1), ExitStatus::Failed);
    }
}
