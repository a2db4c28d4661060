//! The README's commands, run as they stand.
#![cfg(feature = "gpu")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::python::python_with;

const README: &str = include_str!("../README.md");
const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The command lines of all `sh` blocks.
fn commands() -> Vec<&'static str> {
    let blocks = README.split("```sh\n").skip(1);
    let lines = blocks.flat_map(|block| block.split("```").next().unwrap().lines());
    lines.filter(|line| !line.is_empty()).collect()
}

/// Runs `line` in a shell in `folder`, with the program that is being tested.
fn run(folder: &Path, line: &str) {
    // Programs and examples as they are built for this test; the other profile is no difference.
    let example = format!("cargo run --quiet --manifest-path '{ROOT}/Cargo.toml' --example");
    let line = line
        .replace("cargo run --release --example", &example)
        .replace("cargo run --release --", "voxelize");
    let programs = Path::new(env!("CARGO_BIN_EXE_voxelize")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let output = Command::new("sh")
        .current_dir(folder)
        .env("PATH", path)
        .args(["-c", &line])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {said}");
    assert!(!said.contains("warning"), "{line}: {said}");
}

/// The same for a script, if there is a Python that has what it imports: a small picture is enough to run it.
fn run_script(folder: &Path, script: &str) {
    let module = if script.contains("blender.py") { "bpy" } else { "mitsuba" };
    match python_with(module) {
        Some(python) => run(folder, &format!("{python} -B {script} --size 48 48 --samples 4")),
        None => println!("skipped: {script}"),
    }
}

#[cfg(unix)]
#[test]
fn every_command_runs() {
    let no_gpu = trivox::gpu::Adapter::preferred().is_empty();
    let folder = tempfile::TempDir::new().unwrap();
    let link = std::os::unix::fs::symlink::<std::path::PathBuf, std::path::PathBuf>;
    link(Path::new(ROOT).join("assets"), folder.path().join("assets")).unwrap();
    link(ROOT.into(), folder.path().join("trivox")).unwrap();
    link(Path::new(ROOT).join("examples"), folder.path().join("examples")).unwrap();
    let mut ran = 0;
    for line in commands() {
        if let Some(script) = line.strip_prefix("python ") {
            run_script(folder.path(), script);
            continue;
        }
        match line {
            // That is what runs this test.
            "tests/run" => assert!(Path::new(ROOT).join(line).is_file()),
            _ if no_gpu && line.contains("check.sh") => println!("skipped: no adapter: {line}"),
            _ => run(folder.path(), line),
        }
        ran += 1;
    }
    assert!(ran >= 12, "{ran} commands found");
    let made = ["lighthouse.vox", "knot.vox", "knot.npy", "report.jsonl", "voxels/cube.vox"];
    let others = ["small/lighthouse.npy", "sharded/torus-knot.vox", "raytraced.png"];
    for file in made.iter().chain(&others) {
        assert!(fs::metadata(folder.path().join(file)).unwrap().len() > 500, "{file}");
    }
    let report = fs::read_to_string(folder.path().join("report.jsonl")).unwrap();
    assert_eq!(report.matches("\"skipped\":true").count(), 4, "{report}");
}

#[test]
fn the_printed_summary_is_that_of_the_first_command() {
    let folder = Path::new(ROOT);
    let output = Command::new(env!("CARGO_BIN_EXE_voxelize"))
        .current_dir(folder)
        .args(["assets/lighthouse.obj", "--res", "128", "--backend", "cpu"])
        .output()
        .unwrap();
    let summary = String::from_utf8(output.stderr).unwrap();
    let lines = summary.lines().filter(|line| !line.starts_with("time"));
    let missing: Vec<&str> = lines.filter(|line| !README.contains(line)).collect();
    assert_eq!(missing, Vec::<&str>::new(), "not in the README");
}

#[test]
fn every_option_is_in_the_table() {
    let help = Command::new(env!("CARGO_BIN_EXE_voxelize")).arg("-h").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let options = help.split_whitespace().filter(|word| word.starts_with("--"));
    let options: Vec<&str> =
        options.map(|word| word.trim_end_matches(['|', '.', ',', ':'])).collect();
    assert!(options.len() > 10, "{options:?}");
    for option in options {
        let option = option.split(['|', '>']).next().unwrap();
        let known = ["--help", "--version", "--output", "--quiet", "--verbose"].contains(&option);
        assert!(known || README.contains(&format!("`{option}")), "{option} is not in the README");
    }
}

#[test]
fn the_table_of_formats_is_the_programs() {
    let output = Command::new(env!("CARGO_BIN_EXE_voxelize")).arg("formats").output().unwrap();
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.lines().count() > 4 && README.contains(&table), "{table}");
}

#[test]
fn files_and_headings_that_it_links_to_are_there() {
    let links = README.split("](").skip(1).map(|rest| rest.split(')').next().unwrap());
    let links: Vec<&str> = links.filter(|link| !link.starts_with("http")).collect();
    assert!(links.len() > 3);
    let headings = README.lines().filter(|line| line.starts_with('#'));
    let anchor = |line: &str| line.trim_start_matches(['#', ' ']).to_lowercase().replace(' ', "-");
    let headings: Vec<String> = headings.map(anchor).collect();
    for link in links {
        let there = match link.strip_prefix('#') {
            Some(heading) => headings.contains(&heading.to_owned()),
            None => Path::new(ROOT).join(link).exists(),
        };
        assert!(there, "{link}");
    }
}
