//! The program as a user runs it, in a fresh folder: what it prints, writes and refuses.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod attributes;
mod ci_example;
mod color;
mod convert;
mod diff;
mod distance;
#[path = "../common/environment.rs"]
#[allow(dead_code, reason = "the program's tests use a part of it")]
mod environment;
mod files;
mod forgives;
#[cfg(feature = "gpu")]
mod gpu;
mod lists;
mod many;
mod memory;
mod outputs;
mod preview;
mod refusals;
mod render;
mod resume;
mod run;
mod slice;
mod solid;
mod tiles;
mod turntable;
mod verify;

use std::fs;
use std::ops::Deref;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;
use trivox::VoxelGrid;
use trivox::formats::{GridFormat, read_grid};

const VOXELIZE: &str = env!("CARGO_BIN_EXE_voxelize");

const LIGHTHOUSE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/lighthouse.obj");

/// Two triangles of four corners; the second quad's worth of a mesh.
const MESH: &str = "v 0 0 0\nv 4 0 0\nv 4 4 1\nv 0 4 1\nf 1 2 3 4\n";

/// A fresh folder, which is removed with what is in it.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn write(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        fs::write(self.join(name), content).unwrap();
    }

    fn read(&self, name: impl AsRef<Path>) -> Vec<u8> {
        fs::read(self.join(name)).unwrap()
    }

    /// The voxels of a file.
    fn grid(&self, name: &str) -> VoxelGrid {
        read_grid(self.join(name)).unwrap().grid
    }
}

impl Deref for Folder {
    type Target = Path;

    fn deref(&self) -> &Path {
        self.0.path()
    }
}

impl AsRef<Path> for Folder {
    fn as_ref(&self) -> &Path {
        self
    }
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("mesh.obj", MESH);
    folder
}

/// `folder` with `number` more meshes, `0.obj` and so on, no two of the same shape.
fn with_meshes(number: usize) -> Folder {
    let folder = folder();
    for index in 0..number {
        let text = MESH.replace("v 4 4 1", &format!("v 4 4 {}", 1.0 + index as f64 / 100.0));
        folder.write(format!("{index}.obj"), text);
    }
    folder
}

fn voxelize(folder: &Path, args: &str) -> Output {
    let args = args.split_whitespace();
    Command::new(VOXELIZE).current_dir(folder).args(args).output().unwrap()
}

/// The same with a file as standard input.
fn voxelize_from(folder: &Path, input: &str, args: &str) -> Output {
    let input = fs::File::open(folder.join(input)).unwrap();
    let args = args.split_whitespace();
    Command::new(VOXELIZE).current_dir(folder).args(args).stdin(input).output().unwrap()
}

/// Runs `args`, which must succeed.
fn succeeds(folder: &Path, args: &str) -> Output {
    let output = voxelize(folder, args);
    assert!(output.status.success(), "{args}: {}", stderr(&output));
    output
}

/// Runs `args`, which must end with this exit code.
fn exits(folder: &Path, args: &str, code: i32) -> Output {
    let output = voxelize(folder, args);
    assert_eq!(output.status.code(), Some(code), "{args}: {}", stderr(&output));
    output
}

/// Runs `args`, which must fail with exit code 2 and a message that contains `complaint`; returns
/// the message.
fn fails(folder: &Path, args: &str, complaint: &str) -> String {
    let message = stderr(&exits(folder, args, 2));
    assert!(message.contains(complaint), "{args}: {message}");
    message
}

/// Runs `args`, which must succeed, and returns the JSON that it prints of one thing.
fn json_of(folder: &Path, args: &str) -> serde_json::Value {
    json(&voxelize(folder, args))
}

/// Runs `args`, which must succeed and say `expected`; returns all that is said.
fn says(folder: &Path, args: &str, expected: &str) -> String {
    let said = stderr(&succeeds(folder, args));
    assert!(said.contains(expected), "{args}: {said}");
    said
}

#[cfg(unix)]
fn bash(folder: &Path, script: &str) -> Output {
    Command::new("bash").current_dir(folder).args(["-c", script]).output().unwrap()
}

/// The program, with the default action for each signal: whoever runs these tests may ignore some,
/// as `nohup` and shells do for what runs in the background.
#[cfg(unix)]
fn signalled() -> Command {
    let mut command = Command::new("env");
    command.args(["--default-signal", VOXELIZE]);
    command
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Whether this becomes so within some seconds.
fn becomes(mut is_so: impl FnMut() -> bool) -> bool {
    (0..10_000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(1));
        is_so()
    })
}

/// Sends `signal` to the program.
#[cfg(unix)]
fn send(signal: &str, run: &std::process::Child) {
    let pid = run.id().to_string();
    assert!(Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
}

/// The adapter that is used unless another one is asked for; a line says where there is none.
#[cfg(feature = "gpu")]
fn adapter() -> Option<trivox::gpu::Adapter> {
    let adapter = trivox::gpu::Adapter::find(None).ok();
    if adapter.is_none() {
        environment::skip_without_adapter("no adapter");
    }
    adapter
}

/// The grid as a file of the format that `name` has.
fn write_grid(folder: &Path, name: &str, grid: &VoxelGrid) {
    let format = GridFormat::of_path(name).unwrap();
    let mut file = fs::File::create(folder.join(name)).unwrap();
    trivox::formats::write_grid(grid, format, &mut file).unwrap();
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// What it printed of one thing, in JSON, and its exit code.
fn report(folder: &Path, args: &str) -> (serde_json::Value, Option<i32>) {
    let output = voxelize(folder, args);
    (serde_json::from_slice(&output.stdout).unwrap(), output.status.code())
}

fn files(folder: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string();
    let mut names: Vec<String> = fs::read_dir(folder).unwrap().map(|e| name(e).unwrap()).collect();
    names.sort();
    names
}

/// What it printed, one value a line.
fn json_lines(output: &Output) -> Vec<serde_json::Value> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn json(output: &Output) -> serde_json::Value {
    assert!(output.status.success(), "{}", stderr(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Runs `args`, which must fail with exit code 2, one sentence that contains `complaint` (with
/// `--json` also as JSON), and nothing made or changed.
fn refuses(folder: &Path, args: &str, complaint: &str) {
    fs::write(folder.join("old.npy"), "an old file").unwrap();
    let before = files(folder);
    let output = exits(folder, args, 2);
    let message = stderr(&output);
    assert!(message.contains(complaint), "{args}: {message}");
    assert!(message.starts_with("error: ") && message.lines().count() == 1, "{args}: {message}");
    let lines = json_lines(&output);
    assert_eq!(lines.len(), usize::from(args.contains("--json")), "{args}");
    assert!(lines.iter().all(|line| line["error"].is_string()), "{args}: {lines:?}");
    assert_eq!(files(folder), before, "{args}");
    assert_eq!(fs::read_to_string(folder.join("old.npy")).unwrap(), "an old file", "{args}");
}
