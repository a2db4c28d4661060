//! The jobs as Markdown tables.

use crate::floor::{Rates, bytes_read, bytes_written};
use crate::job::Job;

fn head(columns: &[&str], texts: usize) {
    println!("| {} |", columns.join(" | "));
    println!("|{}{}", "---|".repeat(texts), "--:|".repeat(columns.len() - texts));
}

pub fn steps_head(has_gpu: bool) {
    let columns = [
        "mesh",
        "triangles",
        "res",
        "occupied",
        "load",
        "place",
        "cpu",
        "hash",
        "write .vox",
        "gpu",
        "gpu / cpu",
    ];
    println!("\n### Time of each step (milliseconds)\n");
    head(&columns[..if has_gpu { 11 } else { 9 }], 1);
}

pub fn steps_row(job: &Job) {
    let Job { mesh, triangles, resolution, occupied, ms, .. } = job;
    print!(
        "| {mesh} | {triangles} | {resolution} | {occupied} | {:.2} | {:.2} ",
        ms.load, ms.place
    );
    print!("| {:.2} | {:.2} | {:.2} |", ms.voxelize, ms.hash, ms.write);
    if let Some(gpu) = job.gpu_ms {
        print!(" {gpu:.2} | {:.2} |", gpu / ms.voxelize);
    }
    println!();
}

pub fn floor(jobs: &[Job], rates: &Rates) {
    println!("\n### CPU time and its lower bound\n");
    println!(
        "The lower bound: the placed mesh is read once, at {:.1} GB/s, and its bricks of 72 bytes are\n\
         written once to fresh memory, at {:.1} GB/s; all threads reached these rates in this run. A\n\
         pair is a triangle and a voxel that it touches.\n",
        rates.read / 1e6,
        rates.write / 1e6
    );
    let columns = [
        "mesh",
        "res",
        "pairs",
        "ms",
        "ns/triangle",
        "ns/pair",
        "ns/voxel",
        "MB read",
        "MB written",
        "bound ms",
        "ms / bound",
    ];
    head(&columns, 1);
    for job in jobs {
        let (ms, floor) = (job.ms.voxelize, rates.floor(job));
        let per = |count: u64| ms * 1e6 / count as f64;
        let [read, written] = [bytes_read(job), bytes_written(job)].map(|b| b as f64 / 1e6);
        print!("| {} | {} | {} | {ms:.2} ", job.mesh, job.resolution, job.touching_pairs);
        print!("| {:.1} | {:.1} ", per(job.triangles), per(job.touching_pairs));
        print!("| {:.1} | {read:.2} | {written:.2} ", per(job.occupied));
        println!("| {floor:.3} | {:.1} |", ms / floor);
    }
}

pub fn whole_jobs(jobs: &[Job]) {
    println!("\n### From an OBJ file to a .vox in memory (milliseconds)\n");
    head(&["mesh", "triangles", "res", "load", "others", "others / load", "total"], 1);
    for job in jobs {
        let (load, rest) = (job.ms.load, job.ms.after_load());
        print!("| {} | {} | {} ", job.mesh, job.triangles, job.resolution);
        println!("| {load:.2} | {rest:.2} | {:.2} | {:.2} |", rest / load, load + rest);
    }
}
