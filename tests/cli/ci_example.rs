//! The example for other people's continuous integration, in a fresh folder as their repository.
#![cfg(all(unix, feature = "gpu"))]
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

use saphyr::{LoadableYamlNode, Yaml};
use tempfile::TempDir;

use crate::adapter;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const WORKFLOW: &str = include_str!("../../examples/ci/voxelize.yml");
const CHECK: &str = "trivox/examples/ci/check.sh";
const NO_VOXELIZE: &str = "no voxelize on the PATH: cargo install";

/// A repository with two meshes and trivox, in which `runs` are to be checked.
fn repository(runs: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (asset, name) in [("cube.obj", "cube.obj"), ("tetrahedron.obj", "a tetrahedron.obj")] {
        fs::copy(Path::new(ROOT).join("assets").join(asset), folder.path().join(name)).unwrap();
    }
    symlink(ROOT, folder.path().join("trivox")).unwrap();
    fs::write(folder.path().join("voxelize.runs"), runs).unwrap();
    folder
}

/// What a step of the workflow does, with the program that is being tested.
fn step(folder: &Path, command: &str) -> Output {
    let programs = Path::new(env!("CARGO_BIN_EXE_voxelize")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    Command::new("bash")
        .current_dir(folder)
        .env("PATH", path)
        .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", command])
        .output()
        .unwrap()
}

/// All that was said, after making sure of the exit code.
fn said(output: &Output, code: i32) -> String {
    let said = [&*output.stdout, &*output.stderr].concat();
    let said = String::from_utf8(said).unwrap();
    assert_eq!(output.status.code(), Some(code), "{said}");
    said
}

fn read(folder: &TempDir, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).unwrap()
}

#[test]
fn hashes_that_are_not_recorded_fail_until_they_are() {
    let Some(_) = adapter() else { return };
    let repository = repository("# the cube\n\ncube.obj --res 8\n");
    let before = said(&step(repository.path(), CHECK), 1);
    assert!(before.contains(&format!("if that is meant: {CHECK} --update")), "{before}");
    said(&step(repository.path(), &format!("{CHECK} --update")), 0);
    let after = said(&step(repository.path(), CHECK), 0);
    assert!(after.contains("the same, bit for bit"), "{after}");
    let made = repository.path().join("voxelize-out/1/cube.vox");
    let hash = trivox::formats::read_grid(made).unwrap().grid.hash();
    let recorded = read(&repository, "voxelize.hashes");
    assert_eq!(recorded, format!("# cube.obj --res 8\n{hash}  cube.obj\n"));
}

#[test]
fn a_changed_mesh_fails_with_both_hashes() {
    let Some(_) = adapter() else { return };
    let repository = repository("cube.obj --res 8");
    said(&step(repository.path(), &format!("{CHECK} --update")), 0);
    let old = read(&repository, "voxelize.hashes");
    said(&step(repository.path(), "cp 'a tetrahedron.obj' cube.obj"), 0);
    let complaint = said(&step(repository.path(), CHECK), 1);
    let new = read(&repository, "voxelize-out/hashes");
    for (sign, hashes) in [("-", &old), ("+", &new)] {
        let hash = hashes.lines().last().unwrap();
        assert!(complaint.contains(&format!("\n{sign}{hash}\n")), "{complaint}");
    }
    assert!(complaint.contains("(+) is not what voxelize.hashes says (-)"), "{complaint}");
    assert_eq!(read(&repository, "voxelize.hashes"), old);
}

#[test]
fn changed_options_fail_even_where_the_voxels_are_the_same() {
    let Some(_) = adapter() else { return };
    let repository = repository("cube.obj --res 8");
    said(&step(repository.path(), &format!("{CHECK} --update")), 0);
    fs::write(repository.path().join("voxelize.runs"), "cube.obj --voxel-size 0.125").unwrap();
    let complaint = said(&step(repository.path(), CHECK), 1);
    assert!(complaint.contains("\n+# cube.obj --voxel-size 0.125\n"), "{complaint}");
}

#[test]
fn all_meshes_of_a_run_have_a_hash() {
    let Some(_) = adapter() else { return };
    let repository = repository("@list --res 8\n'a tetrahedron.obj' --res 9\n");
    fs::write(repository.path().join("list"), "cube.obj\na tetrahedron.obj\n").unwrap();
    said(&step(repository.path(), &format!("{CHECK} --update")), 0);
    let hashes = read(&repository, "voxelize.hashes");
    let lines: Vec<&str> = hashes.lines().map(|line| line.split("  ").last().unwrap()).collect();
    let meshes = ["# @list --res 8", "cube.obj", "a tetrahedron.obj"];
    let last = ["# 'a tetrahedron.obj' --res 9", "a tetrahedron.obj"];
    assert_eq!(lines, [&meshes[..], &last[..]].concat());
}

#[test]
fn a_grid_of_another_tool_passes_only_if_it_is_right() {
    let repository = repository("verify cube.obj theirs.npy --res 8\n");
    said(&step(repository.path(), "voxelize cube.obj --res 8 -o theirs.npy"), 0);
    said(&step(repository.path(), CHECK), 0);
    said(&step(repository.path(), "voxelize 'a tetrahedron.obj' --res 8 -o theirs.npy"), 0);
    let complaint = said(&step(repository.path(), CHECK), 1);
    assert!(complaint.contains("run 1 failed with exit code 1: voxelize verify"), "{complaint}");
    assert!(complaint.contains("spurious"), "{complaint}");
}

#[test]
fn a_solid_passes_only_if_it_is_beyond_doubt() {
    let Some(_) = adapter() else { return };
    let repository = repository("cube.obj --res 8 --mode solid --fill parity --strict\n");
    said(&step(repository.path(), &format!("{CHECK} --update")), 0);
    let open = read(&repository, "cube.obj").replacen("\nf ", "\n# f ", 1);
    fs::write(repository.path().join("cube.obj"), open).unwrap();
    let complaint = said(&step(repository.path(), CHECK), 1);
    assert!(complaint.contains("run 1 failed with exit code 1: voxelize cube.obj"), "{complaint}");
    assert!(complaint.contains("\n+failed with exit code 1\n"), "{complaint}");
}

#[test]
fn a_run_that_fails_does_not_stop_the_others_nor_become_a_hash() {
    // Without any adapter this one is missing too.
    let repository = repository("cube.obj --res 8 --adapter voodoo\nverify cube.obj none.npy\n");
    fs::write(repository.path().join("voxelize.hashes"), "old\n").unwrap();
    for arguments in ["", " --update"] {
        let complaint = said(&step(repository.path(), &format!("{CHECK}{arguments}")), 2);
        assert!(complaint.contains("run 1 failed with exit code 2: voxelize cube.obj"));
        assert!(complaint.contains("run 2 failed with exit code 2: voxelize verify"));
        assert_eq!(read(&repository, "voxelize.hashes"), "old\n");
    }
    assert!(read(&repository, "voxelize-out/hashes").ends_with("\nfailed with exit code 2\n"));
}

#[test]
fn nothing_to_check_is_refused_with_the_fix() {
    let cases = [
        (CHECK, "voxelize.runs: holds no runs"),
        ("trivox/examples/ci/check.sh none.runs", "none.runs: no such file: write the arguments"),
        ("trivox/examples/ci/check.sh --check", "usage: check.sh [--update] [RUNS]"),
        ("trivox/examples/ci/check.sh a b", "usage: check.sh [--update] [RUNS]"),
        ("PATH=/usr/bin:/bin trivox/examples/ci/check.sh", NO_VOXELIZE),
    ];
    for (command, complaint) in cases {
        let repository = repository("# nothing\n");
        let said = said(&step(repository.path(), command), 2);
        assert!(said.contains(complaint), "{command}: {said}");
    }
    let repository = repository("cube.obj --res '8\n");
    let said = said(&step(repository.path(), CHECK), 2);
    assert!(said.contains("unmatched single quote"), "{said}");
}

/// The workflow's steps.
fn steps<'a>(workflow: &'a Yaml<'a>) -> &'a [Yaml<'a>] {
    workflow["jobs"]["voxelize"]["steps"].as_vec().unwrap()
}

fn text<'a>(step: &'a Yaml<'a>, key: &str) -> Option<&'a str> {
    step.as_mapping_get(key).and_then(|value| value.as_str())
}

#[test]
fn the_workflow_may_only_read_and_names_actions_by_their_major_version() {
    let workflow = &Yaml::load_from_str(WORKFLOW).unwrap()[0];
    let permissions = workflow["permissions"].as_mapping().unwrap();
    assert_eq!(permissions.len(), 1);
    assert_eq!(text(&workflow["permissions"], "contents"), Some("read"));
    let actions: Vec<&str> = steps(workflow).iter().filter_map(|step| text(step, "uses")).collect();
    assert_eq!(actions.len(), 3, "{actions:?}");
    for action in actions {
        let (name, version) = action.split_once("@v").unwrap();
        assert!(name.starts_with("actions/") && version.parse::<u32>().is_ok(), "{action}");
    }
    assert!(!WORKFLOW.contains("secrets"));
}

#[test]
fn the_workflow_runs_as_written() {
    let Some(_) = adapter() else { return };
    let workflow = &Yaml::load_from_str(WORKFLOW).unwrap()[0];
    let repository = repository("cube.obj --res 8\n");
    said(&step(repository.path(), &format!("{CHECK} --update")), 0);
    let commands = steps(workflow).iter().filter_map(|step| text(step, "run"));
    let (installs, checks): (Vec<&str>, Vec<&str>) =
        commands.partition(|run| run.contains("install"));
    assert_eq!((installs.len(), checks.len()), (2, 1));
    for check in checks {
        said(&step(repository.path(), check), 0);
    }
    let kept = steps(workflow).last().unwrap();
    assert_eq!(text(kept, "if"), Some("failure()"));
    assert!(repository.path().join(text(&kept["with"], "path").unwrap()).is_dir());
}
