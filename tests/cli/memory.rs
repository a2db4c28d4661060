//! What the program does where memory or the disk is short.

use super::*;

/// What the message of a refusal says would do.
fn suggested(output: &Output) -> String {
    let message = stderr(output);
    let (_, bound) = message.trim_end().rsplit_once("or try --memory ").expect(&message);
    bound.to_owned()
}

#[test]
fn a_grid_past_the_bound_is_refused_with_a_figure_that_does() {
    let folder = folder();
    let args = "mesh.obj --res 4096 --backend cpu --json --memory";
    let refused = exits(&folder, &format!("{args} 60MiB"), 2);
    assert!(
        stderr(&refused).starts_with("error: mesh.obj: for the grid the program needs at least")
    );
    assert!(stderr(&refused).contains("but --memory allows 60 MiB"), "{}", stderr(&refused));

    let bound = suggested(&refused);
    let made = succeeds(&folder, &format!("{args} {bound}"));
    let unbounded = voxelize(&folder, "mesh.obj --res 4096 --backend cpu --json");
    assert_eq!(json(&made)["hash"], json(&unbounded)["hash"]);

    let colored = format!("{LIGHTHOUSE} --res 1500 -o l.bricks --memory 160MiB --color");
    suggested(&exits(&folder, &format!("{colored} auto"), 2));
    succeeds(&folder, &format!("{colored} none"));
}

#[test]
fn the_figures_of_refusals_lead_to_the_result_and_no_further() {
    let folder = folder();
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    // The MiB that are enough for each, and half as much again.
    for (args, most) in [
        ("lighthouse.obj --res 1024 -o a.npz", 300),
        ("lighthouse.obj --res 1024 --mode solid -o a.npz", 300),
        ("torus-knot.obj --res 512 --distance 3 -o a.npz", 300),
        ("lighthouse.obj --res 256 --mode solid --attributes coverage -o a.npz", 200),
    ] {
        let mut bound = "1MiB".to_owned();
        let made = (0..8).any(|_| {
            let mesh = assets.join(args).display().to_string();
            let run = voxelize(&folder, &format!("{mesh} --backend cpu --memory {bound}"));
            if !run.status.success() {
                bound = suggested(&run);
            }
            run.status.success()
        });
        let mib = bound.trim_end_matches("MiB").parse::<u32>().unwrap();
        assert!(made && mib < most, "{args}: {bound}");
    }
}

#[test]
fn a_mesh_past_the_bound_is_refused_before_it_is_read() {
    let folder = folder();
    let refused = exits(&folder, "mesh.obj --res 8 --memory 1kB", 2);
    let message = stderr(&refused);
    assert!(message.starts_with("error: mesh.obj: for reading the mesh the program"), "{message}");
    succeeds(&folder, &format!("mesh.obj --res 8 --memory {}", suggested(&refused)));
}

#[test]
fn of_several_meshes_only_those_that_need_too_much_are_refused() {
    let folder = folder();
    // Twelve bytes a corner in the text, a hundred in memory.
    let large: String = (0..400_000).map(|i| format!("v {i} 0 0\nf 1 2 {}\n", i + 1)).collect();
    folder.write("large.obj", large);
    let args = "large.obj mesh.obj --res 8 --threads 1 --backend cpu --json --memory 60MiB";
    let output = exits(&folder, args, 2);
    let [large, mesh] = &json_lines(&output)[..] else { panic!("{output:?}") };
    assert!(large["error"].as_str().unwrap().contains("for reading the mesh"), "{large}");
    assert!(mesh["hash"].is_string(), "{mesh}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_limit_of_the_address_space_is_a_refusal_and_no_abort() {
    let folder = folder();
    succeeds(&folder, "mesh.obj --res 8 -o grid.npz");
    let grid = ["the limit of its address space is", "(ulimit -v)"];
    let picture = ["too little memory for a picture of 16384x16384", ""];
    for (kilobytes, args, complaints) in [
        (1_500_000, "mesh.obj --res 65536 --backend cpu --threads 2", grid),
        (1_000_000, "render grid.npz --size 16384x16384 -o a.png", picture),
    ] {
        let output = bash(&folder, &format!("ulimit -v {kilobytes}; {VOXELIZE} {args}"));
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(complaints.iter().all(|complaint| message.contains(complaint)), "{message}");
    }
}

#[test]
fn a_bound_that_is_no_size_is_refused() {
    for size in ["ten", "-1", "", "1XB"] {
        fails(&folder(), &format!("mesh.obj --res 8 --memory={size}"), "--memory");
    }
}

#[test]
fn a_dense_file_that_the_disk_cannot_hold_is_refused_before_the_work() {
    let folder = folder();
    folder.write("mesh.npy", "old");
    let message = stderr(&exits(&folder, "mesh.obj --res 32768 -o mesh.npy", 2));
    assert!(message.starts_with("error: mesh.npy: the file would have at least 8,7"), "{message}");
    assert!(message.contains("use a sparse format such as .vox"), "{message}");
    let distances = voxelize(&folder, "mesh.obj --res 32768 --distance 1 -o mesh.npy");
    let message = stderr(&distances);
    assert!(message.starts_with("error: mesh.npy: the file would have at least 35,"), "{message}");
    assert_eq!(folder.read("mesh.npy"), b"old");
    assert_eq!(files(&folder), ["mesh.npy", "mesh.obj"]);
}

#[test]
fn a_mesh_that_fits_alone_is_not_refused_among_others() {
    let folder = folder();
    let alone = voxelize(&folder, "mesh.obj --res 4096 --backend cpu --memory 60MiB");
    let bound = suggested(&alone);
    for copy in 0..4 {
        fs::copy(folder.join("mesh.obj"), folder.join(format!("{copy}.obj"))).unwrap();
    }
    let args = "0.obj 1.obj 2.obj 3.obj --res 4096 --backend cpu --json --threads 4 --memory";
    // What four threads have besides.
    let bound = bound.trim_end_matches("MiB").parse::<u32>().unwrap() + 64;
    let output = succeeds(&folder, &format!("{args} {bound}MiB"));
    assert_eq!(json_lines(&output).len(), 4);
}

#[test]
fn many_threads_need_little_memory_for_a_small_grid() {
    let folder = folder();
    succeeds(&folder, "mesh.obj --res 8 --threads 256 --memory 100MiB");
}

/// /proc/meminfo cannot be opened, nor much else: an answer or an error, never a panic.
#[cfg(target_os = "linux")]
#[test]
fn a_process_without_descriptors_does_not_panic() {
    let folder = folder();
    for descriptors in 4..12 {
        let program = crate::VOXELIZE;
        let script = format!(
            "ulimit -n {descriptors}; exec '{program}' mesh.obj --res 8 --backend cpu -q -o a.npz"
        );
        let output = bash(&folder, &script);
        let said = String::from_utf8_lossy(&output.stderr);
        let code = output.status.code();
        assert!(matches!(code, Some(0 | 2)), "{descriptors}: {code:?} {said}");
        assert_eq!(code == Some(2), said.starts_with("error: "), "{descriptors}: {said}");
    }
}
