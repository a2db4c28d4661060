//! README.md and docs/: every command runs, every option exists, and what the program prints is
//! what the pages show.
//!
//! `TRIVOX_BLESS=1 cargo test --test docs readme` rewrites what is generated: the table in
//! `docs/formats.md`.
#![cfg(feature = "gpu")]
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::environment::{self, python_with};
use tempfile::TempDir;

pub const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Pages whose commands need what is built elsewhere, which their own tests run; and the list of
/// pages.
const TESTED_ELSEWHERE: [&str; 3] = ["docs/python.md", "docs/web.md", "docs/SUMMARY.md"];

/// Options in the pages that are not of `voxelize`: of cargo, of the benches and of example
/// scripts.
const OTHERS_OPTIONS: &str = "
    --array --bench --chart --device --example --features --ignored --lib --locked --mask
    --nocapture --no-default-features --open --path --release --sanitizer --software --test
    --update
";

/// One test for each page, which runs its blocks in a folder of its own and then looks for the
/// files that they must have made.
macro_rules! pages {
    ($($name:ident: $page:literal makes [$($file:literal),*];)*) => {
        const PAGES: &[&str] = &[$($page),*];
        $(
            #[cfg(unix)]
            #[test]
            fn $name() {
                run_page($page, &[$($file),*]);
            }
        )*
    };
}

pages! {
    commands_of_the_readme_run: "README.md" makes
        ["lighthouse.vox", "lighthouse.png", "tower.schem", "knot.npz", "knot.vti", "turning.png", "lighthouse.nvdb"];
    commands_of_architecture_run: "docs/architecture.md" makes [];
    commands_of_batches_run: "docs/batches.md" makes
        ["voxels/cube.vox", "small/lighthouse.npz", "sharded/torus-knot.vox", "report.jsonl"];
    commands_of_benchmarks_run: "docs/benchmarks.md" makes [];
    commands_of_bricks_run: "docs/bricks.md" makes [];
    commands_of_colours_run: "docs/colours.md" makes ["brown.vox", "colours.npz"];
    commands_of_concepts_run: "docs/concepts.md" makes [];
    commands_of_distances_run: "docs/distances.md" makes ["knot.vdb", "knot.npz", "knot.npy"];
    commands_of_dependencies_run: "docs/dependencies.md" makes [];
    commands_of_exactness_run: "docs/exactness.md" makes [];
    commands_of_formats_run: "docs/formats.md" makes
        ["knot.glb", "knot.bricks", "again.npz", "lighthouse.ply"];
    commands_of_games_run: "docs/games.md" makes ["edit.vox", "cottage.schem", "lighthouse.glb"];
    commands_of_glossary_run: "docs/glossary.md" makes [];
    commands_of_guide_run: "docs/guide.md" makes
        ["knot.vox", "lighthouse.png", "turned.npz", "turning.png"];
    commands_of_how_it_works_run: "docs/how-it-works.md" makes [];
    commands_of_large_grids_run: "docs/large-grids.md" makes ["whole.npz", "second.npz"];
    commands_of_library_run: "docs/library.md" makes ["raytraced.png"];
    commands_of_reliability_run: "docs/reliability.md" makes [];
    commands_of_renderers_run: "docs/renderers.md" makes ["lighthouse.ply", "camera.json"];
    commands_of_rendering_run: "docs/rendering.md" makes
        ["lighthouse.png", "evening.png", "turning.png", "turning.gif", "layer.png"];
    commands_of_scripts_run: "docs/scripts.md" makes ["report.json", "cube.vdb", "bounded.vox"];
    commands_of_simulation_run: "docs/simulation.md" makes
        ["part.npz", "part.vti", "parts.npz", "parts.vti", "distances.vti", "map.npz"];
    commands_of_style_run: "docs/style.md" makes [];
    commands_of_solids_run: "docs/solids.md" makes ["solid.vox"];
    commands_of_the_front_page_run: "docs/README.md" makes [];
    commands_of_training_run: "docs/training.md" makes ["set/torus-knot.npz"];
    commands_of_troubleshooting_run: "docs/troubleshooting.md" makes [];
    commands_of_verify_run: "docs/verify.md" makes ["differences.png", "voxelize.hashes"];
}

pub fn text_of(page: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(page)).unwrap_or_else(|error| panic!("{page}: {error}"))
}

/// A fenced block: the word after the fence, and the lines.
pub struct Block<'a> {
    language: &'a str,
    lines: Vec<&'a str>,
}

/// The fenced blocks of a page in order, and its lines outside of them.
pub fn parse(text: &str) -> (Vec<Block<'_>>, Vec<&str>) {
    let (mut blocks, mut prose) = (Vec::new(), Vec::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        match line.strip_prefix("```") {
            Some(language) => {
                let lines = lines.by_ref().take_while(|line| *line != "```").collect();
                blocks.push(Block { language, lines });
            }
            None => prose.push(line),
        }
    }
    (blocks, prose)
}

/// The page with the commands in the cells of its tables as blocks.
#[cfg(unix)]
fn with_commands_of_tables(text: &str) -> String {
    let rows = text.lines().filter(|line| line.starts_with('|'));
    let code = rows.flat_map(|row| row.split('`').skip(1).step_by(2));
    let commands: Vec<&str> = code.filter(|code| code.starts_with("voxelize ")).collect();
    assert!(commands.len() > 3, "{commands:?}");
    format!("```sh\n{}\n```\n{text}", commands.join("\n"))
}

#[cfg(unix)]
fn run_page(page: &str, made: &[&str]) {
    let folder = TempDir::new().unwrap();
    for (from, to) in [("assets", "assets"), ("examples", "examples"), ("", "trivox")] {
        std::os::unix::fs::symlink(Path::new(ROOT).join(from), folder.path().join(to)).unwrap();
    }
    let mut text = text_of(page);
    if page == "README.md" {
        text = with_commands_of_tables(&text);
    }
    let mut is_complete = true;
    for block in parse(&text).0 {
        match block.language {
            "sh" => {
                for line in block.lines.iter().filter(|line| !line.is_empty()) {
                    is_complete &= run_line(folder.path(), line);
                }
            }
            // Those of the Python package are run by its tests.
            "python" if !block.lines.iter().any(|line| line.contains("import trivox")) => {
                run_python(folder.path(), &block.lines.join("\n"))
            }
            // bash: for other machines, such as installers and clusters. Rust: doctests.
            _ => {}
        }
    }
    for file in made {
        let bytes = fs::metadata(folder.path().join(file)).map_or(0, |file| file.len());
        if bytes == 0 && !is_complete {
            println!("skipped: {file}, of a skipped command");
            continue;
        }
        assert!(bytes > 100, "{page}: {file} has {bytes} bytes");
    }
}

/// Runs one command line; false if the machine lacks what it needs.
#[cfg(unix)]
fn run_line(folder: &Path, line: &str) -> bool {
    let needs_gpu = ["check.sh", "--compare-backends", "--backend gpu"];
    let needs_gpu = needs_gpu.iter().any(|what| line.contains(what));
    if needs_gpu && trivox::gpu::Adapter::find(None).is_err() {
        println!("skipped: no adapter: {line}");
        return false;
    }
    let Some(script) = line.strip_prefix("python ") else {
        run(folder, line);
        return true;
    };
    let module = if script.contains("blender.py") { "bpy" } else { "mitsuba" };
    let Some(python) = python_with(module) else {
        println!("skipped: {line}");
        return false;
    };
    // A small picture is enough to run a script.
    run(folder, &format!("{} -B {script} --size 48 48 --samples 4", python.display()));
    true
}

/// Runs `line` in a shell in `folder`, with the program that is being tested.
#[cfg(unix)]
fn run(folder: &Path, line: &str) {
    // Programs and examples as they are built for this test; the other profile is no difference.
    let example = format!("cargo run --quiet --manifest-path '{ROOT}/Cargo.toml' --example");
    let command = line.replace("cargo run --release --example", &example);
    let command = command.replace("cargo run --release -- ", "voxelize ");
    let programs = Path::new(env!("CARGO_BIN_EXE_voxelize")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let shell = Command::new("sh")
        .current_dir(folder)
        .env("PATH", path)
        // Without SwiftShader, which takes 4 times as long as llvmpipe.
        .env_remove("VK_ADD_DRIVER_FILES")
        .args(["-c", &command])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&shell.stderr);
    assert!(shell.status.success(), "{line}: {said}");
    // That a GPU in software is slow depends on the machine.
    let warns = |text: &&str| text.contains("warning") && !text.contains("software");
    assert_eq!(said.lines().find(warns), None, "{line}");
}

#[cfg(unix)]
fn run_python(folder: &Path, program: &str) {
    let module = if program.contains("import pyvista") { "pyvista" } else { "numpy" };
    let Some(python) = python_with(module) else { return };
    environment::run_python(&python, program, folder);
}

/// Runs the program without a terminal, which leaves help 100 columns wide.
fn voxelize(arguments: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_voxelize"));
    program.current_dir(ROOT).env_remove("COLUMNS").args(arguments).output().unwrap()
}

pub fn printed(arguments: &[&str]) -> String {
    let output = voxelize(arguments);
    assert!(output.status.success(), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Asserts that `page` is `generated`, or makes it so.
fn hold(page: &str, generated: &str) {
    if environment::blesses() {
        fs::write(Path::new(ROOT).join(page), generated).unwrap();
    }
    let current = text_of(page);
    let differs = current.lines().zip(generated.lines()).find(|(current, made)| current != made);
    assert!(
        current == generated,
        "{page}: TRIVOX_BLESS=1 cargo test --test docs readme ({differs:?})"
    );
}

/// The names of the commands, by the help of the program.
pub fn commands(help: &str) -> Vec<&str> {
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let list = list.take_while(|line| !line.is_empty());
    let names =
        list.filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    names.map(|line| line.split(' ').next().unwrap()).filter(|name| *name != "help").collect()
}

#[test]
fn help_leaves_out_the_option_that_verify_refuses() {
    let lists = |command| printed(&[command, "--help"]).contains("--interior-color");
    assert!(lists("render") && !lists("verify"));
}

#[test]
fn the_table_of_formats_is_the_programs() {
    const BEGIN: &str = "<!-- voxelize formats -->\n";
    const END: &str = "<!-- end -->";
    let rows: Vec<serde_json::Value> =
        serde_json::from_str(&printed(&["formats", "--json"])).unwrap();
    let mut table = "| format | read | written | carries |\n|---|---|---|---|\n".to_owned();
    for row in &rows {
        let [name, extension, read, written, carries] =
            ["name", "extension", "read", "written", "carries"]
                .map(|cell| row[cell].as_str().unwrap_or_default());
        table += &format!("| {name} .{extension} | {read} | {written} | {carries} |\n");
        assert!(printed(&["formats"]).contains(&format!(".{extension} ")), "{extension}");
    }
    let page = text_of("docs/formats.md");
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    hold("docs/formats.md", &format!("{before}{BEGIN}{table}{END}{after}"));
}

#[test]
fn the_printed_summary_is_that_of_the_first_command() {
    let folder = TempDir::new().unwrap();
    let [voxels, picture] =
        ["lighthouse.vox", "lighthouse.png"].map(|name| folder.path().join(name));
    let (voxels, picture) = (voxels.to_str().unwrap(), picture.to_str().unwrap());
    let first = ["assets/lighthouse.obj", "--res", "128", "-o", voxels, "--preview", picture];
    let output = voxelize(&[&first[..], &["--backend", "cpu"]].concat());
    let summary = String::from_utf8(output.stderr).unwrap();
    let summary = summary.replace(&format!("{}/", folder.path().display()), "");
    let readme = text_of("README.md");
    let (_, block) = readme.split_once("```text\n").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    let lines = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !line.starts_with("time")).map(str::to_owned).collect()
    };
    assert_eq!(lines(&summary), lines(block));
}

/// The words of `text` that look like long options.
fn options(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !(c.is_ascii_lowercase() || c == '-'));
    words.filter(|word| word.len() > 3 && word.starts_with("--") && !word.ends_with('-')).collect()
}

#[test]
fn options_that_the_pages_name_exist() {
    let help = printed(&["--help"]);
    let mut all = help.clone();
    for name in commands(&help) {
        all += &printed(&[name, "--help"]);
    }
    let (known, others) = (options(&all), options(OTHERS_OPTIONS));
    assert!(known.len() > 30, "{known:?}");
    for page in PAGES {
        let text = text_of(page);
        let named = options(&text);
        let unknown: Vec<_> =
            named.difference(&known).filter(|option| !others.contains(*option)).collect();
        assert_eq!(unknown, Vec::<&&str>::new(), "{page}");
    }
}

/// The names of the crates in the sections of `manifest` that end in `dependencies]`.
fn dependencies(manifest: &str) -> BTreeSet<&str> {
    let sections = manifest.split("\n[").filter_map(|section| section.split_once("]\n"));
    let tables = sections
        .filter(|(name, _)| name.ends_with("dependencies") && !name.ends_with("dev-dependencies"));
    let lines = tables.flat_map(|(_, lines)| lines.lines());
    lines.filter_map(|line| line.split_once(" = ")).map(|(name, _)| name).collect()
}

#[test]
fn every_direct_dependency_has_a_note() {
    let manifest = text_of("Cargo.toml");
    let crates = dependencies(&manifest);
    assert!(crates.len() > 20 && crates.contains("wgpu") && crates.contains("rustix"));
    let page = text_of("docs/dependencies.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let noted: BTreeSet<&str> = rows.map(|(name, _)| name).collect();
    assert_eq!(noted, crates);
}

#[test]
fn every_code_of_an_error_is_explained() {
    let files = glob::glob(&format!("{ROOT}/src/**/*.rs")).unwrap();
    let sources: Vec<String> =
        files.map(|path| fs::read_to_string(path.unwrap()).unwrap()).collect();
    let impls = sources.iter().flat_map(|text| text.split("impl ErrorCode for ").skip(1));
    let impls = impls.map(|rest| rest.split("\n}\n").next().unwrap());
    let is_code = |text: &&str| text.chars().all(|c| c.is_ascii_lowercase() || "._".contains(c));
    let codes = impls.flat_map(|text| text.split('"').skip(1).step_by(2)).filter(is_code);
    let mut codes: BTreeSet<&str> = codes.filter(|&code| code != "gpu").collect();
    assert!(codes.len() > 40 && codes.contains("mesh.no_triangles"), "{codes:?}");
    codes.extend(["time_limit", "usage", "other"]);
    let page = text_of("docs/scripts.md");
    let (_, section) = page.split_once("\n## Codes of errors\n").unwrap();
    let (table, _) = section.split_once("\n## ").unwrap();
    let cells = table.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('|'));
    let named = cells.flat_map(|(cell, _)| cell.split('`').step_by(2));
    assert_eq!(named.filter(|code| !code.trim().is_empty()).collect::<BTreeSet<_>>(), codes);
}

#[test]
fn the_readme_is_short() {
    let lines = text_of("README.md").lines().count();
    assert!(lines <= 160, "{lines} lines");
}

/// The names in `text` of variables that begin with `TRIVOX_`.
fn variables(text: &str) -> BTreeSet<String> {
    let is_of_name = |c: char| c.is_ascii_uppercase() || c == '_';
    let names = text.split(|c| !is_of_name(c)).filter(|name| name.starts_with("TRIVOX_"));
    names.filter(|name| !name.ends_with('_')).map(str::to_owned).collect()
}

#[test]
fn every_variable_of_the_tests_has_its_row() {
    let page = text_of("tests/README.md");
    let rows: String = page.lines().filter(|line| line.starts_with("| `TRIVOX")).collect();
    let mut read = variables(&(text_of(".ci/run") + &text_of("web/test") + &text_of("web/ci")));
    let files = glob::glob(&format!("{ROOT}/tests/**/*")).unwrap().map(Result::unwrap);
    let is_program = |path: &PathBuf| path.extension().is_none_or(|extension| extension == "rs");
    for path in files.filter(|path| path.is_file() && is_program(path)) {
        read.extend(variables(&String::from_utf8_lossy(&fs::read(path).unwrap())));
    }
    assert!(read.len() > 12, "{read:?}");
    assert_eq!(variables(&rows), read);
}

#[test]
fn every_page_is_tested_and_every_rust_block_is_a_doctest() {
    let library = text_of("src/lib.rs");
    for entry in fs::read_dir(Path::new(ROOT).join("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let page = format!("docs/{name}");
        let is_page = name.ends_with(".md") && !TESTED_ELSEWHERE.contains(&page.as_str());
        assert!(!is_page || PAGES.contains(&page.as_str()), "{page} is not in the list of pages");
    }
    for page in PAGES {
        let text = text_of(page);
        let has_rust = parse(&text).0.iter().any(|block| block.language.starts_with("rust"));
        let is_doctest = library.contains(&format!("include_str!(\"../{page}\")"));
        assert!(is_doctest || !has_rust, "src/lib.rs does not include {page}");
    }
}

#[test]
fn canary_pages_are_parsed() {
    let (blocks, prose) = parse("# A\n```sh\nx --one\n\ny\n```\n[b](#c)\n```text\n--two\n```\n");
    assert_eq!(blocks.iter().map(|block| block.language).collect::<Vec<_>>(), ["sh", "text"]);
    assert_eq!(blocks[0].lines, ["x --one", "", "y"]);
    assert_eq!(prose, ["# A", "[b](#c)"]);
    let found = options("`--no-edges` and --res=3, --- or a--b");
    assert_eq!(found, BTreeSet::from(["--no-edges", "--res"]));
}
