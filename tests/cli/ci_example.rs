//! The example for other people's continuous integration, in a fresh folder as their repository.
#![cfg(all(unix, feature = "gpu"))]

use std::os::unix::fs::symlink;

use saphyr::{LoadableYamlNode, Yaml};

use super::*;

const WORKFLOW: &str = include_str!("../../examples/ci/voxelize.yml");
const CHECK: &str = "trivox/examples/ci/check.sh";
const UPDATE: &str = "trivox/examples/ci/check.sh --update";

/// A repository with two meshes and trivox, in which `runs` are to be checked.
fn repository(runs: &str) -> Folder {
    let folder = Folder::new();
    for (asset, name) in [("cube.obj", "cube.obj"), ("tetrahedron.obj", "a tetrahedron.obj")] {
        fs::copy(Path::new(ROOT).join("assets").join(asset), folder.join(name)).unwrap();
    }
    symlink(ROOT, folder.join("trivox")).unwrap();
    folder.write("voxelize.runs", runs);
    folder
}

/// Runs `command` as a step of the workflow, with the program that is being tested; it must end
/// with this exit code. Returns all that is said.
fn step(repository: &Folder, command: &str, code: i32) -> String {
    let programs = Path::new(VOXELIZE).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut bash = Command::new("bash");
    bash.current_dir(repository).env("PATH", path);
    let options = ["--noprofile", "--norc", "-eo", "pipefail", "-c", command];
    let output = bash.args(options).output().unwrap();
    let said = stdout(&output) + &stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{command}: {said}");
    said
}

#[test]
fn hashes_of_all_meshes_fail_until_they_are_recorded() {
    let Some(_) = adapter() else { return };
    let (list, one) = ("@list --res 8\n", "'a tetrahedron.obj' --res 9\n");
    let repository = repository(&format!("# two meshes\n\n{list}{one}"));
    repository.write("list", "cube.obj\na tetrahedron.obj\n");
    let before = step(&repository, CHECK, 1);
    assert!(before.contains(&format!("if that is meant: {CHECK} --update")), "{before}");
    step(&repository, UPDATE, 0);
    let after = step(&repository, CHECK, 0);
    assert!(after.contains("the same, bit for bit"), "{after}");
    let line = |folder: u32, name: &str| {
        let grid = repository.grid(&format!("voxelize-out/{folder}/{name}.vox"));
        format!("{}  {name}.obj\n", grid.hash())
    };
    let of_list = line(1, "cube") + &line(1, "a tetrahedron");
    let expected = format!("# {list}{of_list}# {one}{}", line(2, "a tetrahedron"));
    assert_eq!(repository.text("voxelize.hashes"), expected);
}

#[test]
fn a_changed_mesh_fails_with_both_hashes() {
    let Some(_) = adapter() else { return };
    let repository = repository("cube.obj --res 8");
    step(&repository, UPDATE, 0);
    let old = repository.text("voxelize.hashes");
    step(&repository, "cp 'a tetrahedron.obj' cube.obj", 0);
    let complaint = step(&repository, CHECK, 1);
    for (sign, hashes) in [("-", &old), ("+", &repository.text("voxelize-out/hashes"))] {
        let hash = hashes.lines().last().unwrap();
        assert!(complaint.contains(&format!("\n{sign}{hash}\n")), "{complaint}");
    }
    assert!(complaint.contains("(+) is not what voxelize.hashes says (-)"), "{complaint}");
    assert_eq!(repository.text("voxelize.hashes"), old);
}

#[test]
fn other_options_fail_with_the_same_voxels_and_a_strict_solid_with_an_open_mesh() {
    let Some(_) = adapter() else { return };
    let solid = "cube.obj --res 8 --mode solid --fill parity --strict\n";
    for (runs, change, complaints) in [
        (
            "cube.obj --res 8",
            "echo cube.obj --voxel-size 0.125 > voxelize.runs",
            ["\n+# cube.obj --voxel-size 0.125\n", "\n-# cube.obj --res 8\n"],
        ),
        (
            solid,
            "grep -v '^f 1 2 6 5' cube.obj > open; mv open cube.obj",
            ["run 1 failed with exit code 1: voxelize cube.obj", "\n+failed with exit code 1\n"],
        ),
    ] {
        let repository = repository(runs);
        step(&repository, UPDATE, 0);
        step(&repository, change, 0);
        let said = step(&repository, CHECK, 1);
        assert!(complaints.iter().all(|complaint| said.contains(complaint)), "{said}");
    }
}

#[test]
fn a_grid_of_another_tool_passes_only_if_it_is_right() {
    let repository = repository("verify cube.obj theirs.npy --res 8\n");
    step(&repository, "voxelize cube.obj --res 8 -o theirs.npy", 0);
    step(&repository, CHECK, 0);
    step(&repository, "voxelize 'a tetrahedron.obj' --res 8 -o theirs.npy", 0);
    let said = step(&repository, CHECK, 1);
    assert!(said.contains("run 1 failed with exit code 1: voxelize verify"), "{said}");
    assert!(said.contains("spurious"), "{said}");
}

#[test]
fn a_run_that_fails_does_not_stop_the_others_nor_become_a_hash() {
    // Without any adapter this one is missing too.
    let repository = repository("cube.obj --res 8 --adapter voodoo\nverify cube.obj none.npy\n");
    repository.write("voxelize.hashes", "old\n");
    for check in [CHECK, UPDATE] {
        let said = step(&repository, check, 2);
        assert!(said.contains("run 1 failed with exit code 2: voxelize cube.obj"), "{said}");
        assert!(said.contains("run 2 failed with exit code 2: voxelize verify"), "{said}");
        assert_eq!(repository.text("voxelize.hashes"), "old\n");
    }
    assert!(repository.text("voxelize-out/hashes").ends_with("\nfailed with exit code 2\n"));
}

#[test]
fn nothing_to_check_is_refused_with_the_fix() {
    for (runs, command, complaint) in [
        ("# nothing\n", "CHECK", "voxelize.runs: holds no runs"),
        ("# nothing\n", "CHECK none.runs", "none.runs: no such file: write the arguments"),
        ("# nothing\n", "CHECK --check", "usage: check.sh [--update] [RUNS]"),
        ("# nothing\n", "CHECK a b", "usage: check.sh [--update] [RUNS]"),
        ("# nothing\n", "PATH=/usr/bin:/bin CHECK", "no voxelize on the PATH: cargo install"),
        ("cube.obj --res '8\n", "CHECK", "unmatched single quote"),
    ] {
        let said = step(&repository(runs), &command.replace("CHECK", CHECK), 2);
        assert!(said.contains(complaint), "{command}: {said}");
    }
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
    assert_eq!(workflow["permissions"].as_mapping().unwrap().len(), 1);
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
    step(&repository, UPDATE, 0);
    let commands = steps(workflow).iter().filter_map(|step| text(step, "run"));
    let (installs, checks): (Vec<&str>, Vec<&str>) =
        commands.partition(|run| run.contains("install"));
    assert_eq!((installs.len(), checks.len()), (2, 1));
    step(&repository, checks[0], 0);
    let kept = steps(workflow).last().unwrap();
    assert_eq!(text(kept, "if"), Some("failure()"));
    assert!(repository.join(text(&kept["with"], "path").unwrap()).is_dir());
}
