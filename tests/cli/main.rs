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
#[cfg(unix)]
use std::process::{Child, Stdio};
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;
use trivox::VoxelGrid;
use trivox::formats::{GridFormat, read_grid};

const VOXELIZE: &str = env!("CARGO_BIN_EXE_voxelize");
const ROOT: &str = env!("CARGO_MANIFEST_DIR");
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

    fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    fn picture(&self, name: &str) -> image::RgbImage {
        image::open(self.join(name)).unwrap().to_rgb8()
    }

    /// The voxels of a file.
    fn grid(&self, name: &str) -> VoxelGrid {
        read_grid(self.join(name)).unwrap().grid
    }

    /// The grid as a file of the format that `name` has.
    fn write_grid(&self, name: &str, grid: &VoxelGrid) {
        let format = GridFormat::of_path(name).unwrap();
        let mut file = fs::File::create(self.join(name)).unwrap();
        trivox::formats::write_grid(grid, format, &mut file).unwrap();
    }

    /// The names of what is in the folder, sorted.
    fn files(&self) -> Vec<String> {
        self.files_in("")
    }

    /// The names of what is in a folder of it, sorted.
    fn files_in(&self, name: &str) -> Vec<String> {
        let entries = fs::read_dir(self.join(name)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    fn command(&self, program: &str, args: impl AsRef<str>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self).args(args.as_ref().split_whitespace());
        // Without SwiftShader, which takes 4 times as long as llvmpipe: a GPU is a GPU here.
        command.env_remove("VK_ADD_DRIVER_FILES");
        command
    }

    fn voxelize(&self, args: impl AsRef<str>) -> Output {
        self.command(VOXELIZE, args).output().unwrap()
    }

    /// The same with a file as standard input.
    fn voxelize_from(&self, input: &str, args: &str) -> Output {
        let input = fs::File::open(self.join(input)).unwrap();
        self.command(VOXELIZE, args).stdin(input).output().unwrap()
    }

    #[cfg(unix)]
    fn bash(&self, script: impl AsRef<str>) -> Output {
        let mut bash = Command::new("bash");
        bash.current_dir(self).args(["-c", script.as_ref()]).output().unwrap()
    }

    /// Starts the program, with the default action for each signal: whoever runs these tests may
    /// ignore some, as `nohup` and shells do for what runs in the background.
    #[cfg(unix)]
    fn start(&self, args: &str) -> Child {
        let mut run = self.command("env", format!("--default-signal {VOXELIZE} {args}"));
        run.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs `args`, which must end with this exit code.
    fn exits(&self, args: impl AsRef<str>, code: i32) -> Output {
        let output = self.voxelize(&args);
        assert_eq!(output.status.code(), Some(code), "{}: {}", args.as_ref(), stderr(&output));
        output
    }

    /// Runs `args`, which must succeed.
    fn succeeds(&self, args: impl AsRef<str>) -> Output {
        self.exits(args, 0)
    }

    /// Runs `args`, which must succeed, and returns what is on standard output.
    fn printed(&self, args: impl AsRef<str>) -> String {
        stdout(&self.succeeds(args))
    }

    /// Runs `args`, which must succeed, and returns what is on standard error.
    fn said(&self, args: impl AsRef<str>) -> String {
        stderr(&self.succeeds(args))
    }

    /// Runs `args`, which must succeed with `expected` on standard error; returns standard error.
    fn says(&self, args: impl AsRef<str>, expected: &str) -> String {
        let said = self.said(&args);
        assert!(said.contains(expected), "{}: {said}", args.as_ref());
        said
    }

    /// Runs `args`, which must fail with exit code 2 and a message that contains `complaint`;
    /// returns the message.
    fn fails(&self, args: impl AsRef<str>, complaint: &str) -> String {
        let message = stderr(&self.exits(&args, 2));
        assert!(message.contains(complaint), "{}: {message}", args.as_ref());
        message
    }

    /// Runs `args`, which must fail with exit code 2, one sentence that contains `complaint` (with
    /// `--json` also as JSON), and nothing made or changed.
    fn refuses(&self, args: impl AsRef<str>, complaint: &str) {
        let args = args.as_ref();
        self.write("old.npy", "an old file");
        let before = self.files();
        let output = self.exits(args, 2);
        let message = stderr(&output);
        assert!(message.contains(complaint), "{args}: {message}");
        assert!(message.starts_with("error: ") && message.lines().count() == 1, "{message}");
        let lines = json_lines(&output);
        assert_eq!(lines.len(), usize::from(args.contains("--json")), "{args}");
        assert!(lines.iter().all(|line| line["error"].is_string()), "{args}: {lines:?}");
        assert_eq!(self.files(), before, "{args}");
        assert_eq!(self.text("old.npy"), "an old file", "{args}");
    }

    /// Runs `args` with `--json`; returns the one object that is printed, and the exit code.
    fn report(&self, args: impl AsRef<str>) -> (Value, Option<i32>) {
        let output = self.voxelize(format!("{} --json", args.as_ref()));
        (serde_json::from_slice(&output.stdout).unwrap(), output.status.code())
    }

    /// Runs `args` with `--json`, which must succeed, and returns the one object that is printed.
    fn json(&self, args: impl AsRef<str>) -> Value {
        let output = self.succeeds(format!("{} --json", args.as_ref()));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// The dimensions of the grid of a run.
    fn dims(&self, args: impl AsRef<str>) -> [u32; 3] {
        serde_json::from_value(self.json(args)["dims"].take()).unwrap()
    }

    /// Checks of `template` with various arguments in place of its `_`.
    fn each<'a>(&'a self, template: &'a str) -> Each<'a> {
        assert!(template.contains('_'), "{template}");
        Each { folder: self, template }
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

struct Each<'a> {
    folder: &'a Folder,
    template: &'a str,
}

impl Each<'_> {
    fn args(&self, args: &str) -> String {
        self.template.replacen('_', args, 1)
    }

    /// [`Folder::refuses`] for pairs of arguments and a complaint.
    fn refuses(&self, cases: &[(&str, &str)]) {
        for (args, complaint) in cases {
            self.folder.refuses(self.args(args), complaint);
        }
    }

    /// [`Folder::fails`] for pairs of arguments and a complaint.
    fn fails(&self, cases: &[(&str, &str)]) {
        for (args, complaint) in cases {
            self.folder.fails(self.args(args), complaint);
        }
    }

    /// [`Folder::says`] for pairs of arguments and a text of the output.
    fn says(&self, cases: &[(&str, &str)]) {
        for (args, expected) in cases {
            self.folder.says(self.args(args), expected);
        }
    }
}

/// A folder with `mesh.obj`.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("mesh.obj", MESH);
    folder
}

/// `folder` with `number` more meshes, `0.obj` and so on, no two of the same shape, and `list.txt`
/// of these.
fn with_meshes(number: usize) -> Folder {
    let folder = folder();
    for index in 0..number {
        let text = MESH.replace("v 4 4 1", &format!("v 4 4 {}", 1.0 + index as f64 / 100.0));
        folder.write(format!("{index}.obj"), text);
    }
    let list: String = (0..number).map(|index| format!("{index}.obj\n")).collect();
    folder.write("list.txt", list);
    folder
}

/// The unit cube as an OBJ file, each corner at its `place`.
fn cube_by(place: impl Fn([f64; 3]) -> [f64; 3]) -> String {
    let corners = (0..8).map(|i| {
        let [x, y, z] = place([i & 1, i >> 1 & 1, i >> 2].map(f64::from));
        format!("v {x} {y} {z}\n")
    });
    let sides = ["1 5 7 3", "2 4 8 6", "1 2 6 5", "3 7 8 4", "1 3 4 2", "5 6 8 7"];
    corners.chain(sides.map(|side| format!("f {side}\n"))).collect()
}

/// A cube with this corner and edge as an OBJ file.
fn cube(min: f64, edge: f64) -> String {
    cube_by(|corner| corner.map(|c| min + edge * c))
}

/// A tetrahedron with its right angle at the origin as an OBJ file.
fn tetrahedron(edge: u32) -> String {
    let corners = format!("v 0 0 0\nv {edge} 0 0\nv 0 {edge} 0\nv 0 0 {edge}\n");
    corners + "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// What was printed, one value a line.
fn json_lines(output: &Output) -> Vec<Value> {
    stdout(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The names of the meshes that were printed.
fn meshes(output: &Output) -> Vec<String> {
    let lines = json_lines(output);
    lines.iter().map(|line| line["mesh"].as_str().unwrap().to_owned()).collect()
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
fn send(signal: &str, run: &Child) {
    let pid = run.id().to_string();
    assert!(Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
}

/// The adapter that is used unless another one is asked for; a line says where there is none.
#[cfg(feature = "gpu")]
fn adapter() -> Option<trivox::gpu::Adapter> {
    use trivox::gpu::Adapter;
    let is_listed = |adapter: &Adapter| !adapter.label().contains("SwiftShader");
    let adapter = Adapter::find(None).ok().filter(is_listed);
    let adapter = adapter.or_else(|| Adapter::find(Some("llvmpipe")).ok());
    if adapter.is_none() {
        environment::skip_without_adapter("no adapter");
    }
    adapter
}
