//! What the program does where memory or the disk is short.

use super::*;

/// The MiB that the message of a refusal says would do.
fn suggested(output: &Output) -> u32 {
    let message = stderr(output);
    let (_, bound) = message.trim_end().rsplit_once("or try --memory ").expect(&message);
    bound.trim_end_matches("MiB").parse().unwrap()
}

#[test]
fn a_grid_past_the_bound_is_refused_with_a_figure_that_does() {
    let folder = with_meshes(4);
    let args = "mesh.obj --res 4096 --backend cpu";
    let refused = folder.exits(format!("{args} --memory 60MiB"), 2);
    let said = stderr(&refused);
    let start = "error: mesh.obj: for the grid the program needs at least";
    assert!(said.starts_with(start) && said.contains("but --memory allows 60 MiB"), "{said}");
    let bound = suggested(&refused);
    let made = folder.json(format!("{args} --memory {bound}MiB"));
    assert_eq!(made["hash"], folder.json(args)["hash"]);

    // A mesh that fits alone is not refused among others; four threads need more besides.
    let several = "@list.txt --res 4096 --backend cpu --json --threads 4 --memory";
    let output = folder.succeeds(format!("{several} {}MiB", bound + 64));
    assert_eq!(json_lines(&output).len(), 4);

    let colored = format!("{LIGHTHOUSE} --res 1500 -o l.bricks --memory 160MiB --color");
    suggested(&folder.exits(format!("{colored} auto"), 2));
    folder.succeeds(format!("{colored} none"));
}

#[test]
fn the_figures_of_refusals_lead_to_the_result_and_no_further() {
    let folder = Folder::new();
    // The MiB that are enough for each, and half as much again.
    for (args, most) in [
        ("lighthouse.obj --res 1024 -o a.npz", 300),
        ("lighthouse.obj --res 1024 --mode solid -o a.npz", 300),
        ("torus-knot.obj --res 512 --distance 3 -o a.npz", 300),
        ("lighthouse.obj --res 256 --mode solid --attributes coverage -o a.npz", 200),
    ] {
        let mut bound = 1;
        let made = (0..8).any(|_| {
            let run = format!("{ROOT}/assets/{args} --backend cpu --memory {bound}MiB");
            let output = folder.voxelize(run);
            if !output.status.success() {
                bound = suggested(&output);
            }
            output.status.success()
        });
        assert!(made && bound < most, "{args}: {bound}");
    }
}

#[test]
fn a_mesh_past_the_bound_is_refused_before_it_is_read_and_alone_among_others() {
    let folder = folder();
    let refused = folder.exits("mesh.obj --res 8 --memory 1kB", 2);
    let message = stderr(&refused);
    assert!(message.starts_with("error: mesh.obj: for reading the mesh the program"), "{message}");
    folder.succeeds(format!("mesh.obj --res 8 --memory {}MiB", suggested(&refused)));

    // Twelve bytes a corner in the text, a hundred in memory.
    let large: String = (0..400_000).map(|i| format!("v {i} 0 0\nf 1 2 {}\n", i + 1)).collect();
    folder.write("large.obj", large);
    let args = "large.obj mesh.obj --res 8 --threads 1 --backend cpu --json --memory 60MiB";
    let lines = json_lines(&folder.exits(args, 2));
    assert!(lines[0]["error"].as_str().unwrap().contains("for reading the mesh"), "{lines:?}");
    assert!(lines.len() == 2 && lines[1]["hash"].is_string(), "{lines:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_limit_of_the_address_space_is_a_refusal_and_no_abort() {
    let folder = folder();
    folder.succeeds("mesh.obj --res 8 -o grid.npz");
    let grid = ["the limit of its address space is", "(ulimit -v)"];
    let picture = ["too little memory for a picture of 16384x16384", ""];
    for (kilobytes, args, complaints) in [
        (1_500_000, "mesh.obj --res 65536 --backend cpu --threads 2", grid),
        (1_000_000, "render grid.npz --size 16384x16384 -o a.png", picture),
    ] {
        let output = folder.bash(format!("ulimit -v {kilobytes}; {VOXELIZE} {args}"));
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(complaints.iter().all(|complaint| message.contains(complaint)), "{message}");
    }
}

#[test]
fn a_bound_that_is_no_size_is_refused() {
    for size in ["ten", "-1", "", "1XB"] {
        folder().fails(format!("mesh.obj --res 8 --memory={size}"), "--memory");
    }
}

#[test]
fn a_dense_file_that_the_disk_cannot_hold_is_refused_before_the_work() {
    let folder = folder();
    folder.write("mesh.npy", "old");
    let grid = folder.fails("mesh.obj --res 32768 -o mesh.npy", "use a sparse format such as .vox");
    let distances = folder.fails("mesh.obj --res 32768 --distance 1 -o mesh.npy", "");
    for (message, tebibytes) in [(grid, "8,7"), (distances, "35,")] {
        let start = format!("error: mesh.npy: the file would have at least {tebibytes}");
        assert!(message.starts_with(&start), "{message}");
    }
    assert_eq!(folder.read("mesh.npy"), b"old");
    assert_eq!(folder.files(), ["mesh.npy", "mesh.obj"]);
}

#[test]
fn many_threads_need_little_memory_for_a_small_grid() {
    folder().succeeds("mesh.obj --res 8 --threads 256 --memory 100MiB");
}

/// /proc/meminfo cannot be opened, nor much else: an answer or an error, never a panic.
#[cfg(target_os = "linux")]
#[test]
fn a_process_without_descriptors_does_not_panic() {
    let folder = folder();
    let run = format!("{VOXELIZE} mesh.obj --res 8 --backend cpu -q -o a.npz");
    for descriptors in 4..12 {
        let output = folder.bash(format!("ulimit -n {descriptors}; exec {run}"));
        let said = String::from_utf8_lossy(&output.stderr);
        let code = output.status.code();
        assert!(matches!(code, Some(0 | 2)), "{descriptors}: {code:?} {said}");
        assert_eq!(code == Some(2), said.starts_with("error: "), "{descriptors}: {said}");
    }
}
