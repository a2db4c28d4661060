//! Rays a second: what following a ray to its first voxel takes, by resolution, and beside other
//! tracers.
//!
//! Prints a Markdown table for the project's torus knot, and for the dragon where the folder that
//! `TRIVOX_MESHES` names has it: nanoseconds a ray on one thread, on all and on a GPU. Primary rays
//! go through the pixels of a picture, in their order; sky rays begin where these end, and each
//! goes anywhere on its face's side. Times are the fastest of several runs; on one thread the sum
//! of each block's, so that other programs disturb them little.
//!
//! A second table has the same rays, to the bit, followed by programs of other people, where a C++
//! compiler and their headers are: NanoVDB's walk through the same voxels, and Embree on their
//! surface. These compute in floats; how many rays they answer otherwise is counted.
//!
//! A GPU in software is left out unless `--software` asks for it. `--quick` goes to 64 only; so
//! does `cargo test`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use common::{Patience, Result, timed};
use gpu::OpenGpu;
use others::Others;
use peak_alloc::PeakAlloc;
use rayon::prelude::*;
use trivox::formats::read_mesh;
use trivox::view::trace::{Hit, Ray, Scene};
use trivox::{Cpu, Mesh, Mode, NoProgress, PlaceOptions, Sizing, place, voxelize};

#[path = "../common/mod.rs"]
mod common;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(not(feature = "gpu"))]
#[path = "no_gpu.rs"]
mod gpu;
mod others;
mod views;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Rays that a thread takes at a time.
const BLOCK: usize = 4096;

/// What is measured, and how.
struct Bench {
    resolutions: &'static [u32],
    /// Those at which other tracers follow the rays, too.
    compared: &'static [u32],
    /// Of the picture, in pixels.
    side: u32,
    patience: Patience,
    gpu: Option<OpenGpu>,
    others: Others,
}

/// What building a thing to be searched took, and following rays to it.
struct Figures {
    /// Of all that is searched.
    bytes: u64,
    build_ms: f64,
    /// For all rays, on one thread.
    one_ms: f64,
    /// On all threads.
    all_ms: f64,
}

fn main() -> Result<()> {
    let quick = common::is_quick();
    let bench = Bench {
        resolutions: if quick { &[64] } else { &[256, 512, 1024, 2048, 4096] },
        compared: if quick { &[64] } else { &[256, 1024] },
        side: if quick { 64 } else { 1024 },
        patience: Patience {
            runs: if quick { 1 } else { 3 },
            time: Duration::from_millis(if quick { 0 } else { 1000 }),
        },
        gpu: OpenGpu::open(std::env::args().any(|arg| arg == "--software")),
        others: Others::build()?,
    };
    println!("CPU: {}", common::cpu_name());
    bench.gpu.iter().for_each(|gpu| println!("GPU: {}", gpu.label()));
    bench.print_head();
    let mut compared = Vec::new();
    for path in models() {
        let mesh = read_mesh(&path)?.mesh;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut first_ms = None;
        for &resolution in bench.resolutions {
            compared.extend(bench.measure(&name, &mesh, resolution, &mut first_ms)?);
        }
    }
    others::print_table(&compared);
    Ok(())
}

fn models() -> Vec<PathBuf> {
    let mut models = vec![PathBuf::from("assets/torus-knot.obj")];
    if let Some(folder) = std::env::var_os("TRIVOX_MESHES") {
        models.extend(Some(Path::new(&folder).join("dragon.obj")).filter(|path| path.is_file()));
    }
    models
}

impl Bench {
    fn print_head(&self) {
        let rays = self.side * self.side;
        let first = self.resolutions[0];
        println!(
            "\n{rays} rays each. log: the logarithm of the resolution, divided by that at {first}.\n"
        );
        print!("| mesh | res | rays | hit % | grid MiB | scene MiB | scene ms | ns/ray, 1 thread ");
        print!("| / {first} | log | ns/ray, all | M rays/s, all |");
        println!("{}", self.gpu.as_ref().map_or("", |_| gpu::COLUMNS));
        let on_gpu = self.gpu.as_ref().map_or(0, |_| gpu::COLUMNS.matches('|').count());
        println!("|---|--:|---|{}", "--:|".repeat(9 + on_gpu));
    }

    /// Prints the rows of a mesh at one resolution, and returns those of the second table.
    /// `first_ms` are the times on one thread at the lowest.
    fn measure(
        &self,
        name: &str,
        mesh: &Mesh,
        resolution: u32,
        first_ms: &mut Option<[f64; 2]>,
    ) -> Result<Vec<String>> {
        let placed = place(mesh, &PlaceOptions::new(Sizing::Resolution(resolution)))?;
        let used = [ALLOCATOR.current_usage()];
        let grid = voxelize(&Cpu, &placed, Mode::Surface, &Default::default(), &NoProgress)?.grid;
        let used = [used[0], ALLOCATOR.current_usage()];
        let (scene, build_ms) = timed(|| Scene::new(&grid));
        let bytes = [used[1] - used[0], ALLOCATOR.current_usage() - used[1]];
        let primary = views::primary_rays(&grid, self.side)?;
        let sky = views::sky_rays(&scene, &primary)?;

        let views = [("primary", primary), ("sky", sky)];
        let followed = views.each_ref().map(|(_, rays)| self.follow(&scene, rays));
        let first_ms = *first_ms.get_or_insert(followed.each_ref().map(|([one_ms, _], _)| *one_ms));
        let mut compared = Vec::new();
        for (((kind, rays), ([one_ms, all_ms], hits)), first_ms) in
            views.iter().zip(&followed).zip(first_ms)
        {
            let what = format!("{name} | {resolution} | {kind}");
            let figures = Figures {
                bytes: bytes.iter().sum::<usize>() as u64,
                build_ms,
                one_ms: *one_ms,
                all_ms: *all_ms,
            };
            let percent = 100.0 * hits.iter().flatten().count() as f64 / hits.len() as f64;
            print!("| {what} | {percent:.1} | {:.1} | {:.2} ", mib(bytes[0]), mib(bytes[1]));
            print!("| {build_ms:.2} ");
            self.print_times(&figures, rays.len(), first_ms, resolution);
            match &self.gpu {
                Some(gpu) => println!("{}", gpu.cells(&scene, rays, hits, self.patience)?),
                None => println!(),
            }
            if self.compared.contains(&resolution) {
                compared.extend(self.others.rows(&what, &grid, rays, &figures, hits)?);
            }
        }
        Ok(compared)
    }

    fn print_times(&self, figures: &Figures, rays: usize, first_ms: f64, resolution: u32) {
        let Figures { one_ms, all_ms, .. } = *figures;
        let ns = |ms: f64| ms * 1e6 / rays as f64;
        let log = f64::from(resolution).log2() / f64::from(self.resolutions[0]).log2();
        print!("| {:.1} | {:.2} | {log:.2} ", ns(one_ms), one_ms / first_ms);
        print!("| {:.1} | {:.2} |", ns(all_ms), 1e3 / ns(all_ms));
    }

    /// Milliseconds of the fastest runs on one thread, of each block, and on all, and the hits.
    fn follow(&self, scene: &Scene, rays: &[Ray]) -> ([f64; 2], Vec<Option<Hit>>) {
        let mut hits = vec![None; rays.len()];
        let follow = |(rays, hits): (&[Ray], &mut [Option<Hit>])| {
            rays.iter().zip(hits).for_each(|(ray, hit)| *hit = scene.first_hit(ray));
        };
        let mut blocks_ms = vec![f64::INFINITY; rays.len().div_ceil(BLOCK)];
        self.repeat(|| {
            let blocks = rays.chunks(BLOCK).zip(hits.chunks_mut(BLOCK));
            for (block, fastest) in blocks.zip(&mut blocks_ms) {
                *fastest = fastest.min(timed(|| follow(block)).1);
            }
        });
        let mut all_ms = f64::INFINITY;
        self.repeat(|| {
            let blocks = rays.par_chunks(BLOCK).zip(hits.par_chunks_mut(BLOCK));
            all_ms = all_ms.min(timed(|| blocks.for_each(follow)).1);
        });
        ([blocks_ms.iter().sum(), all_ms], hits)
    }

    fn repeat(&self, mut run: impl FnMut()) {
        let Ok(()) = self.patience.repeat(|| {
            run();
            Ok::<(), std::convert::Infallible>(())
        });
    }
}

fn mib(bytes: usize) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
