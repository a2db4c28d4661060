//! The figures by which `auto` weighs the backends, as this machine has them.

use trivox::formats::read_mesh;
use trivox::{PlaceOptions, Sizing, place};

use crate::common::{Patience, Result, timed};
use crate::gpu::OpenGpu;
use crate::job::Job;

/// Prints what the CPU takes for a pair, and what the GPU takes whatever the work.
pub fn print(jobs: &[Job], gpu: &OpenGpu, patience: Patience) -> Result<()> {
    let threads = rayon::current_num_threads() as f64;
    let mut pair: Vec<f64> =
        (jobs.iter()).map(|job| job.ms.voxelize * 1e6 * threads / job.brick_pairs as f64).collect();
    pair.sort_by(f64::total_cmp);
    let [least, middle, most] = [0, pair.len() / 2, pair.len() - 1].map(|i| pair[i]);
    let run = small_run(gpu, patience)?;

    println!("\n### Constants by which `auto` chooses the backend\n");
    println!("| | | measured |");
    println!("|---|---|--:|");
    print!("| `NANOSECONDS_A_PAIR` | of one CPU thread, for a (triangle, brick) pair ");
    println!("| {middle:.0} ({least:.0} to {most:.0}) |");
    print!("| `MILLISECONDS_A_START` | to find and open the GPU, ready for the first mesh ");
    println!("| {:.0} |", gpu.start_ms());
    print!("| `MILLISECONDS_A_RUN` | of the open GPU, for four triangles at 16 ");
    println!("| {run:.2} |");
    Ok(())
}

/// Milliseconds of a run on an open GPU with next to nothing to do.
fn small_run(gpu: &OpenGpu, patience: Patience) -> Result<f64> {
    let mesh = read_mesh("assets/tetrahedron.obj")?.mesh;
    let placed = place(&mesh, &PlaceOptions::new(Sizing::Resolution(16)))?;
    let mut fastest = f64::INFINITY;
    patience.repeat(|| {
        let (run, ms) = timed(|| gpu.run(&placed));
        fastest = fastest.min(ms);
        run.map(drop)
    })?;
    Ok(fastest)
}
