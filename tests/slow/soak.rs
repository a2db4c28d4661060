//! Many mixed jobs in one process, and batches of the program that are killed at random: the same
//! voxels each time, no memory lost, nothing missing.
//!
//! `TRIVOX_SOAK=10000` sets the number of jobs; one kill for every hundred of them.
use crate::common::prelude::*;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use tempfile::TempDir;
use trivox::backend::Backends;
use trivox::formats::write_grid;

const ASSETS: [&str; 4] = ["cube.obj", "tetrahedron.obj", "torus-knot.obj", "lighthouse.obj"];

fn jobs() -> usize {
    environment::number("TRIVOX_SOAK", 40)
}

/// Bytes of memory that this process occupies; 0 where that is not known.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or(0) * 1024
}

/// A job by its number among all that there are.
fn job(number: usize, backends: &Arc<Backends>) -> (Voxelizer, &'static str, GridFormat) {
    let mut rng = Rng::with_seed(number as u64);
    let fills = [Fill::Auto, Fill::Vote, Fill::Winding, Fill::Flood];
    let mode = match number % 3 {
        0 => Mode::Surface,
        1 => Mode::Thin,
        _ => Mode::Solid(Solid { fill: fills[rng.usize(0..4)], ..Solid::default() }),
    };
    let voxelizer = Voxelizer::new()
        .resolution(rng.u32(3..=60))
        .pad(rng.u32(0..3))
        .mode(mode)
        .backends(backends.clone());
    // The lighthouse's texture takes a second to read.
    let asset = if number.is_multiple_of(20) { 3 } else { rng.usize(0..3) };
    (voxelizer, ASSETS[asset], GridFormat::ALL[rng.usize(0..GridFormat::ALL.len())])
}

#[test]
fn mixed_jobs_in_one_process_give_the_same_each_time_and_keep_no_memory() {
    let jobs = jobs();
    // Each of them many times.
    let distinct = (jobs / 4).clamp(12, 200);
    let mut backends = vec![Arc::new(Backends::new(BackendChoice::Cpu, None))];
    if environment::is_set("TRIVOX_GPU") {
        backends.push(Arc::new(Backends::new(BackendChoice::Gpu, None)));
    }
    let mut known = BTreeMap::new();
    let mut early = 0;
    let mut rng = Rng::with_seed(7);
    for done in 0..jobs {
        let number = rng.usize(0..distinct);
        let (voxelizer, name, format) = job(number, &backends[rng.usize(0..backends.len())]);
        let grid = voxelizer.run(asset_path(name)).unwrap().grid;
        let mut file = Vec::new();
        write_grid(&grid, format, &mut file).unwrap();
        let result = (grid.hash(), blake3::hash(&file));
        assert_eq!(known.entry(number).or_insert(result), &result, "{name}, {number}");
        if done == jobs / 2 {
            early = resident();
        }
    }
    let late = resident();
    println!("{jobs} jobs: {} MiB after half, {} MiB at the end", early >> 20, late >> 20);
    // The allocator keeps some; a leak of 40 kB a job would be more.
    assert!(late < early + (32 << 20) + 40_000 * jobs as u64 / 10, "{early} {late}");
}

/// Starts a batch over all models of `folder`.
fn batch(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_voxelize"));
    command.current_dir(folder).args("models -o out --res 40 --resume -q --backend cpu".split(' '));
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// The files that a batch has written so far, by name.
fn outputs(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder.join("out")).into_iter().flatten().map(Result::unwrap);
    let files = entries.filter(|entry| entry.file_type().unwrap().is_file());
    files.map(|f| (f.file_name().into_string().unwrap(), fs::read(f.path()).unwrap())).collect()
}

#[test]
fn a_batch_that_is_killed_again_and_again_ends_with_the_same_files() {
    let models = 24;
    let make = || {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("models")).unwrap();
        for number in 0..models {
            let name = ASSETS[1 + number % 2];
            let text = fs::read_to_string(asset_path(name)).unwrap();
            let path = folder.path().join(format!("models/{number:02}.obj"));
            fs::write(path, format!("{text}\nv {number} 0 0\n")).unwrap();
        }
        folder
    };
    let whole = make();
    let began = Instant::now();
    assert!(batch(whole.path()).status().unwrap().success());
    let time = began.elapsed();
    let expected = outputs(whole.path());
    assert_eq!(expected.len(), models);

    let killed = make();
    let mut rng = Rng::with_seed(9);
    let mut kills = 0;
    for _ in 0..(jobs() / 100).max(3) {
        // A batch with nothing left to do is started afresh.
        if outputs(killed.path()).len() == models {
            fs::remove_dir_all(killed.path().join("out")).unwrap();
        }
        let mut child = batch(killed.path()).spawn().unwrap();
        std::thread::sleep(time.mul_f64(0.9 * rng.f64()).max(Duration::from_millis(1)));
        kills += usize::from(child.try_wait().unwrap().is_none());
        let _ = child.kill();
        child.wait().unwrap();
        // What is there is whole.
        for (name, bytes) in outputs(killed.path()) {
            assert!(!name.ends_with(".vox") || expected[&name] == bytes, "{name} is cut short");
        }
    }
    assert!(kills > 0, "no batch was killed in time");
    // Temporary files of killed runs are removed by the next run once they are a day old.
    let out = killed.path().join("out");
    let found = outputs(killed.path());
    let temporary: Vec<_> = found.keys().filter(|name| name.ends_with(".tmp")).collect();
    for name in &temporary {
        let file = fs::File::options().write(true).open(out.join(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(25 * 3600)).unwrap();
    }
    _ = fs::remove_file(out.join("00.vox"));
    assert!(batch(killed.path()).status().unwrap().success());
    let found = outputs(killed.path());
    assert!(found == expected, "{:?}", found.keys().collect::<Vec<_>>());
    println!("{kills} kills, {} temporary files removed", temporary.len());
}
