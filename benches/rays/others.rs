//! Programs of other people that follow the same rays: built here, where they can be.

use std::ffi::OsString;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use trivox::VoxelGrid;
use trivox::formats::{GridFormat, write_grid};
use trivox::view::mesher;
use trivox::view::trace::{Hit, Ray};

use crate::common::Result;
use crate::{Figures, mib};

/// A program, and how it is built and called.
struct Other {
    name: &'static str,
    program: &'static str,
    source: &'static str,
    libraries: &'static [&'static str],
    /// What it searches.
    input: &'static str,
    option: Option<&'static str>,
}

const OTHERS: [Other; 3] = [
    Other {
        name: "NanoVDB",
        program: "nanovdb",
        source: include_str!("nanovdb.cpp"),
        libraries: &[],
        input: "grid.nvdb",
        option: None,
    },
    Other {
        name: "Embree",
        program: "embree",
        source: include_str!("embree.cpp"),
        libraries: &["-lembree3"],
        input: "rectangles",
        option: None,
    },
    Other {
        name: "Embree, robust",
        program: "embree",
        source: include_str!("embree.cpp"),
        libraries: &["-lembree3"],
        input: "rectangles",
        option: Some("robust"),
    },
];

/// Runs of which a program tells the fastest.
const RUNS: u32 = 5;

/// The programs that could be built, in a folder that is theirs.
pub struct Others {
    folder: TempDir,
    built: Vec<&'static Other>,
}

impl Others {
    /// Builds them, by `$CXX` or `c++`, and says of which it cannot and why.
    pub fn build() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        std::fs::write(folder.path().join("rays.h"), include_str!("rays.h"))?;
        let mut built = Vec::new();
        for other in &OTHERS {
            match other.build(folder.path()) {
                Ok(()) => built.push(other),
                Err(why) => eprintln!("{}: left out: {why}", other.name),
            }
        }
        Ok(Self { folder, built })
    }

    /// The table's rows for rays against `grid`, the first of which is `ours`.
    pub fn rows(
        &self,
        what: &str,
        grid: &VoxelGrid,
        rays: &[Ray],
        ours: &Figures,
        hits: &[Option<Hit>],
    ) -> Result<Vec<String>> {
        if self.built.is_empty() {
            return Ok(vec![]);
        }
        self.write_input(grid, rays)?;
        let ns = |ms: f64| ms * 1e6 / rays.len() as f64;
        let row = |name: &str, figures: &Figures, others: [usize; 2]| {
            let Figures { bytes, build_ms, one_ms, all_ms } = *figures;
            let ratios = [one_ms / ours.one_ms, all_ms / ours.all_ms];
            format!(
                "| {what} | {name} | {build_ms:.1} | {:.1} | {:.1} | {:.2} | {:.1} | {:.2} | {} | {} |",
                mib(bytes as usize),
                ns(one_ms),
                ratios[0],
                ns(all_ms),
                ratios[1],
                others[0],
                others[1]
            )
        };
        let mut rows = vec![row("trivox", ours, [0, 0])];
        for other in &self.built {
            let (figures, theirs) = self.run(other)?;
            let differing = hits.iter().zip(&theirs);
            let differing = differing.filter(|(a, b)| a.map(|hit| hit.voxel) != **b);
            let lost = differing.clone().filter(|(_, theirs)| theirs.is_none()).count();
            rows.push(row(other.name, &figures, [differing.count(), lost]));
        }
        Ok(rows)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write_input(&self, grid: &VoxelGrid, rays: &[Ray]) -> Result<()> {
        let create = |name| std::fs::File::create(self.file(name)).map(BufWriter::new);
        let mut file = create("grid.nvdb")?;
        write_grid(grid, GridFormat::Nvdb, &mut file)?;
        file.flush()?;
        let mut file = create("rectangles")?;
        mesher::rectangles(grid, |rectangle| {
            let corners = rectangle.corners().map(|corner| corner.map(|c| c as f32));
            file.write_all(bytemuck::bytes_of(&corners))
        })?;
        file.flush()?;
        let mut file = create("rays")?;
        for ray in rays {
            let numbers = [ray.origin(), ray.direction()].map(|v| v.map(|c| c as f32));
            debug_assert_eq!(numbers.map(|v| v.map(f64::from)), [ray.origin(), ray.direction()]);
            file.write_all(bytemuck::bytes_of(&numbers))?;
        }
        Ok(file.flush()?)
    }

    /// What it took, and the voxel that each ray hits.
    fn run(&self, other: &Other) -> Result<(Figures, Vec<Option<[u32; 3]>>)> {
        let [threads, runs] = [rayon::current_num_threads().to_string(), RUNS.to_string()];
        let mut command = Command::new(self.file(other.program));
        command.args([other.input, "rays", "hits", &threads, &runs]).args(other.option);
        let output = command.current_dir(self.folder.path()).output()?;
        if !output.status.success() {
            return Err(
                format!("{}: {}", other.name, String::from_utf8_lossy(&output.stderr)).into()
            );
        }
        let printed = String::from_utf8(output.stdout)?;
        let numbers = printed.split_whitespace().map(str::parse);
        let numbers: Vec<f64> = numbers.collect::<std::result::Result<_, _>>()?;
        let [bytes, build_ms, one_ms, all_ms] = numbers[..] else {
            return Err(format!("{} printed {printed}", other.name).into());
        };
        let hits = std::fs::read(self.file("hits"))?;
        let voxels = hits.as_chunks::<12>().0.iter().map(|bytes| {
            let voxel: [i32; 3] = bytemuck::pod_read_unaligned(bytes);
            (voxel != [-1; 3]).then(|| voxel.map(|c| c as u32))
        });
        Ok((Figures { bytes: bytes as u64, build_ms, one_ms, all_ms }, voxels.collect()))
    }
}

impl Other {
    fn build(&self, folder: &Path) -> std::result::Result<(), String> {
        let source = folder.join(self.program).with_extension("cpp");
        std::fs::write(&source, self.source).map_err(|e| e.to_string())?;
        let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
        let mut command = Command::new(&compiler);
        command.args(["-std=c++17", "-O3", "-march=native", "-DNDEBUG", "-w", "-pthread"]);
        // Where the tests look for it.
        command.args(
            std::env::var_os("TRIVOX_NANOVDB")
                .map(|folder| [OsString::from("-I"), folder])
                .into_iter()
                .flatten(),
        );
        command.arg(source).arg("-o").arg(folder.join(self.program)).args(self.libraries);
        let output = command.output().map_err(|e| format!("{}: {e}", compiler.display()))?;
        let said = String::from_utf8_lossy(&output.stderr);
        let error = said.lines().find(|line| line.contains("error")).unwrap_or("it does not build");
        if output.status.success() { Ok(()) } else { Err(error.to_owned()) }
    }
}

/// Prints the second table, if anything was compared.
pub fn print_table(rows: &[String]) {
    if rows.is_empty() {
        return;
    }
    println!(
        "\nThe same rays, by other tracers. Ratios are to trivox. The last columns count rays with \
         different\nanswers, and those of these rays that pass through what they hit, to the outside.\n"
    );
    print!("| mesh | res | rays | tracer | build ms | MiB | ns/ray, 1 thread | / trivox ");
    println!("| ns/ray, all | / trivox | different | through |");
    println!("|---|--:|---|---|{}", "--:|".repeat(8));
    rows.iter().for_each(|row| println!("{row}"));
}
