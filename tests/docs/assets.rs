//! The project's own models: the committed files are what the program makes, and what it makes is
//! what the names promise.

#[path = "../../examples/make_assets/main.rs"]
#[allow(dead_code, reason = "the program's entry point is not called")]
mod make_assets;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn asset(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets").join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(asset(name)).unwrap()
}

/// The names of `files` that are not the same in `assets`.
fn stale(files: &[(&'static str, Vec<u8>)]) -> Vec<&'static str> {
    let differs =
        |(name, bytes): &&(&str, Vec<u8>)| std::fs::read(asset(name)).ok().as_ref() != Some(bytes);
    files.iter().filter(differs).map(|(name, _)| *name).collect()
}

#[test]
fn committed_files_are_what_the_program_makes() {
    let mut files = make_assets::files();
    assert_eq!(stale(&files), [""; 0], "run `cargo run --example make_assets`");

    // One changed byte is seen.
    files[1].1[0] ^= 1;
    assert_eq!(stale(&files), [files[1].0]);
}

/// The JSON report of `voxelize` on a mesh.
fn report(mesh: &Path, args: &str) -> serde_json::Value {
    let mut voxelize = Command::new(env!("CARGO_BIN_EXE_voxelize"));
    let path = mesh.display().to_string();
    let args = args.split(' ').map(|arg| arg.replace("MESH", &path));
    let run = voxelize.args(args).arg("--json").output().unwrap();
    serde_json::from_slice(&run.stdout).unwrap()
}

/// The topology of a mesh's surface.
fn surface(mesh: &Path) -> serde_json::Value {
    let mut info = report(mesh, "info MESH");
    assert_eq!(info["warnings"], serde_json::json!([]), "{}", mesh.display());
    info["surface"].take()
}

/// The triangles of parts that do not face outwards.
fn flipped_triangles(mesh: &Path) -> serde_json::Value {
    let mut report = report(mesh, "MESH --res 32 --mode solid");
    assert_eq!(report["degenerate"], 0, "{}", mesh.display());
    report["fill"]["flipped_triangles"].take()
}

#[test]
fn models_are_closed_face_outward_and_have_their_volumes() {
    // A tube's is the area of its section, here 0.629 (24 corners at 0.45), times the length of its
    // middle line, here the integral of sqrt(9 + 4 (2 + cos 3t)^2) over a turn, 31.899.
    for (name, shells, volume) in [
        ("cube.obj", 1..=1, 1.0..=1.0),
        ("tetrahedron.obj", 1..=1, 0.333_333..=0.333_334),
        ("torus-knot.obj", 1..=1, 20.0..=20.1),
        // Closed parts; some share edges.
        ("lighthouse.obj", 50..=200, 100_000.0..=130_000.0),
    ] {
        assert_eq!(flipped_triangles(&asset(name)), 0, "{name}");
        let surface = surface(&asset(name));
        for (property, expected) in [("closed", true), ("oriented", true), ("inside_out", false)] {
            assert_eq!(surface[property], expected, "{name}: {surface}");
        }
        let is_manifold = surface["non_manifold_edges"] == 0;
        assert!(is_manifold || name == "lighthouse.obj", "{name}: {surface}");
        assert!(shells.contains(&surface["shells"].as_u64().unwrap()), "{name}: {surface}");
        assert!(volume.contains(&surface["volume"].as_f64().unwrap()), "{name}: {surface}");
    }
    // A face less is seen.
    let (folder, cube) = (tempfile::tempdir().unwrap(), text("cube.obj"));
    let open = folder.path().join("open.obj");
    std::fs::write(&open, cube.replacen("\nf ", "\n# f ", 1)).unwrap();
    assert_eq!(surface(&open)["closed"], false);
    // So is a part that faces inwards.
    let parts = folder.path().join("parts.obj");
    let corners = |x: u32| format!("v {x} 0 0\nv {} 0 0\nv {x} 1 0\nv {x} 0 1\n", x + 1);
    let outwards = "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    let inwards = "f 5 6 7\nf 5 8 6\nf 5 7 8\nf 6 8 7\n";
    std::fs::write(&parts, [&*corners(0), &*corners(3), outwards, inwards].concat()).unwrap();
    assert_eq!(flipped_triangles(&parts), 4);
}

/// What follows `keyword` on the lines that start with it.
fn named<'a>(text: &'a str, keyword: &str) -> BTreeSet<&'a str> {
    text.lines().filter_map(|line| line.strip_prefix(keyword)?.strip_prefix(' ')).collect()
}

#[test]
fn lighthouse_uses_each_of_its_materials_and_its_texture() {
    let (obj, mtl) = (text("lighthouse.obj"), text("lighthouse.mtl"));
    assert_eq!(named(&obj, "mtllib"), BTreeSet::from(["lighthouse.mtl"]));
    let materials = named(&mtl, "newmtl");
    assert!(materials.len() > 10, "{materials:?}");
    assert_eq!(named(&obj, "usemtl"), materials);
    assert_eq!(named(&mtl, "map_Kd").len(), 1);
    let size = std::fs::metadata(asset("lighthouse.png")).unwrap().len();
    assert!(size < 40_000, "{size} bytes");
    let uvs = named(&obj, "vt");
    let within =
        |uv: &&str| uv.split(' ').all(|c| (0.0..=1.0).contains(&c.parse::<f64>().unwrap()));
    assert!(!uvs.is_empty() && uvs.iter().all(within));
}
