//! The mesh formats besides OBJ: what real files hold, files that other people's programs write,
//! and a clear sentence with the place for every bad one.
//!
//! The tests with trimesh need `TRIVOX_PYTHON` to name a Python that has it.

mod gltf;
mod gltf_compression;
mod obj;
mod obj_materials;
mod obj_oracle;
mod off;
mod ply;
mod stl;
mod threemf;
mod trimesh;

use crate::common::compression;
use crate::common::files::{grey_png, package_3mf, png_of as png};
use crate::common::prelude::*;
use png::BitDepth;

/// A reader of files' bytes.
type Reader = fn(&[u8]) -> Result<LoadedMesh, ReadError>;

/// Reads `bytes`, a file with this extension, without sidecar files.
fn read_as(
    extension: &str,
    bytes: impl AsRef<[u8]>,
    options: &ReadOptions,
) -> Result<LoadedMesh, ReadError> {
    let spec = MeshSpec::of_extension(extension).unwrap();
    read_mesh_from(bytes.as_ref().to_vec(), spec, &Sidecars::none(), options)
}

/// The rows of a table: a line and, indented below it, the sentence that is said of it.
fn rows(table: &str) -> Vec<(&str, String)> {
    let mut rows: Vec<(&str, String)> = Vec::new();
    for line in table.lines().filter(|line| !line.is_empty()) {
        match (line.strip_prefix("    "), rows.last_mut()) {
            (None, _) => rows.push((line, String::new())),
            (Some(part), Some((_, said))) if said.is_empty() => part.clone_into(said),
            (Some(part), Some((_, said))) => *said = format!("{said} {part}"),
            (Some(part), None) => panic!("'{part}' is said of nothing"),
        }
    }
    rows
}

/// Small files of each format, with some of everything.
fn seeds() -> Vec<(&'static str, Reader, Vec<u8>)> {
    let stl: Reader = |bytes| stl::read(bytes);
    let ply: Reader = |bytes| ply::read(bytes);
    let off: Reader = |bytes| off::read(bytes);
    let gltf: Reader = |bytes| gltf::read(bytes);
    let threemf: Reader = |bytes| threemf::read(bytes);
    let model: Reader = |bytes| threemf::read(package_3mf(bytes));
    vec![
        ("binary STL", stl, stl::binary()),
        ("text STL", stl, stl::TEXT.into()),
        ("text PLY", ply, ply::TEXT.into()),
        ("little-endian PLY", ply, ply::binary(false)),
        ("big-endian PLY", ply, ply::binary(true)),
        ("text OFF", off, off::TEXT.into()),
        ("glTF", gltf, gltf::embedded()),
        ("GLB", gltf, gltf::binary()),
        ("3MF", threemf, package_3mf(threemf::MODEL.as_bytes())),
        ("model of 3MF", model, threemf::MODEL.trim_ascii_end().into()),
        ("coloured STL", stl, stl::colored()),
        ("coloured text PLY", ply, ply::COLORED.into()),
        ("GLB with a texture", gltf, gltf::painted_binary()),
        ("GLB with Draco", gltf, compression::draco_glb()),
        ("GLB with meshopt", gltf, compression::meshopt_glb()),
    ]
}

fn corners(mesh: &Mesh) -> Vec<[[f64; 3]; 3]> {
    mesh.triangles().iter().map(|t| t.map(|i| mesh.positions()[i as usize])).collect()
}

/// The corners of the triangles in what must be read without a warning.
fn triangles(result: Result<LoadedMesh, ReadError>) -> Vec<[[f64; 3]; 3]> {
    let loaded = result.unwrap();
    assert_eq!(loaded.warnings, Vec::<String>::new());
    corners(&loaded.mesh)
}

/// The warnings of what is read all the same.
fn warnings(result: Result<LoadedMesh, ReadError>) -> Vec<String> {
    result.unwrap().warnings
}

/// The mesh of what is read with this warning and no other.
fn warned(result: Result<LoadedMesh, ReadError>, expected: &str) -> Mesh {
    let loaded = result.unwrap();
    assert_eq!(loaded.warnings, [expected]);
    loaded.mesh
}

/// What a mesh that is read without a warning looks like.
fn look(result: Result<LoadedMesh, ReadError>) -> Appearance {
    let loaded = result.unwrap();
    assert_eq!(loaded.warnings, Vec::<String>::new());
    loaded.mesh.appearance().unwrap().clone()
}

const RED: Rgba = [255, 0, 0, 255];
const GREEN: Rgba = [0, 255, 0, 255];
const BLUE: Rgba = [0, 0, 255, 255];

fn fault(result: Result<LoadedMesh, ReadError>) -> String {
    result.map(|loaded| loaded.mesh).unwrap_err().to_string()
}

const A: [f64; 3] = [0.0, 0.0, 0.0];
const B: [f64; 3] = [1.0, 0.0, 0.0];
const C: [f64; 3] = [1.0, 1.0, 0.0];
const D: [f64; 3] = [0.0, 1.0, 0.0];

/// Reads what may be anything: it must be a valid mesh or an error.
fn check(name: &str, read: Reader, bytes: &[u8]) -> bool {
    match std::panic::catch_unwind(|| read(bytes)) {
        Err(_) => panic!("{name} panicked: {}", bytes.escape_ascii()),
        Ok(Ok(loaded)) => {
            let mesh = loaded.mesh;
            let (positions, triangles) = (mesh.positions().len(), mesh.triangles());
            assert!(triangles.iter().flatten().all(|&i| positions > i as usize), "{name}");
            // Twelve vertices a byte are those of a list of the shortest numbers.
            assert!(triangles.len() < 12 * bytes.len(), "{name}: {}", triangles.len());
            true
        }
        Ok(Err(error)) => {
            let said = error.to_string();
            assert!(!said.is_empty() && said.len() < 500, "{name}: {said}");
            false
        }
    }
}

#[test]
fn every_prefix_is_refused_or_a_valid_mesh() {
    for (name, read, bytes) in seeds() {
        assert!(check(name, read, &bytes), "{name}");
        let whole = corners(&read(&bytes).unwrap().mesh).len();
        for len in 0..bytes.len() {
            if check(name, read, &bytes[..len]) {
                // The last line of a text may lack its end, or a part of a name or number.
                let found = read(&bytes[..len]).unwrap().mesh.triangles().len();
                let lost = bytes.len() - len;
                let is_end = name.contains("text") && lost <= 10 && found == whole;
                assert!(is_end, "{name}, {len} bytes");
            }
        }
    }
}

#[test]
fn changed_files_are_read_or_refused_and_never_a_panic() {
    for (name, read, bytes) in seeds() {
        let (mut accepted, mut refused) = (0, 0);
        for seed in 0..20_000 {
            let mut rng = Rng::with_seed(seed);
            let mut changed = bytes.clone();
            for _ in 0..rng.u32(1..=4) {
                change(&mut rng, &mut changed);
            }
            *if check(name, read, &changed) { &mut accepted } else { &mut refused } += 1;
        }
        println!("{name}: {accepted} accepted, {refused} refused");
        assert!(accepted > 200 && refused > 2000, "{name}: {accepted} accepted, {refused} refused");
    }
}

fn change(rng: &mut Rng, bytes: &mut Vec<u8>) {
    if bytes.is_empty() {
        return;
    }
    let at = rng.usize(0..bytes.len());
    let end = (at + rng.usize(0..12)).min(bytes.len());
    match rng.u32(0..8) {
        0 => bytes[at] ^= 1 << rng.u32(0..8),
        1 => bytes[at] = rng.u8(..),
        2 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][rng.usize(0..5)],
        3 => bytes[at] = b"0123456789-.,:[]{}\" \n\re"[rng.usize(0..23)],
        4 => _ = bytes.drain(at..end),
        5 => bytes[at..end].fill(0xff),
        6 => bytes[at..end].fill(b'9'),
        _ => {
            let copy = bytes[at..end].to_vec();
            let to = rng.usize(0..=bytes.len());
            bytes.splice(to..to, copy);
        }
    }
}

#[test]
fn the_program_reads_all_formats_by_their_extension_and_says_which() {
    let folder = tempfile::tempdir().unwrap();
    let extensions = ["stl", "STL", "ply", "PLY", "ply", "off", "gltf", "glb", "3mf"];
    for ((name, _, bytes), extension) in seeds().into_iter().zip(extensions) {
        let path = folder.path().join(format!("mesh.{extension}"));
        std::fs::write(&path, &bytes).unwrap();
        let run = |args: &[&str], path: &Path| {
            let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_voxelize"));
            program.args(args).arg(path).output().unwrap()
        };
        let output = run(&["info", "--json"], &path);
        let said = String::from_utf8(output.stdout).unwrap();
        let format = format!("\"format\":\"{}\"", extension.to_lowercase());
        assert!(output.status.success() && said.contains(&format), "{name}: {said}");
        assert!(run(&["--res", "8", "--backend", "cpu"], &path).status.success(), "{name}");
        std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        let output = run(&["--res", "8", "--backend", "cpu"], &path);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(said.contains(&path.display().to_string()), "{name}: {said}");
    }
}

#[test]
fn an_image_of_too_many_texels_is_refused_by_its_header() {
    let chunk = |kind: &[u8; 4], data: &[u8]| {
        let content = [kind, data].concat();
        let crc = crc32fast::hash(&content).to_be_bytes();
        [&(data.len() as u32).to_be_bytes(), &content[..], &crc].concat()
    };
    let image = |size: u32| {
        let header = [&size.to_be_bytes()[..], &size.to_be_bytes(), &[8, 6, 0, 0, 0]].concat();
        let signature = b"\x89PNG\r\n\x1a\n".to_vec();
        [signature, chunk(b"IHDR", &header), chunk(b"IDAT", &[])].concat()
    };
    let decode = |size: u32, limit: u64| {
        Texture::decode(&image(size), "a.png", limit).unwrap_err().to_string()
    };
    let too_many = "it has 30000 x 30000 texels, and 268435456 at most are read: make it smaller";
    assert_eq!(decode(30_000, u64::MAX), too_many);
    let too_large = "it is too large for the memory that is left";
    assert_eq!(decode(1000, 3_999_999), too_large);
}

#[test]
fn images_out_of_proportion_to_their_files_are_refused_before_they_are_decoded() {
    let mesh = "mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nusemtl a\nf 1/1 2/1 3/1\n";
    for size in [[16384, 16384], [1 << 28, 1]] {
        let image = grey_png(size, BitDepth::One, 0);
        assert!(image.len() < 100_000, "{}", image.len());
        let files = [("a.mtl", b"newmtl a\nmap_Kd a.png\n".to_vec()), ("a.png", image)];
        let spec = MeshSpec::of_extension("obj").unwrap();
        let sidecars = Sidecars::in_memory(files);
        let begun = std::time::Instant::now();
        let read = read_mesh_from(mesh.into(), spec, &sidecars, &ReadOptions::default());
        let said = warnings(read).join("; ");
        assert!(said.contains("'a.png' (its texels are out of proportion to the bytes"), "{said}");
        assert!(begun.elapsed() < std::time::Duration::from_secs(1), "{:?}", begun.elapsed());
    }
}

#[test]
fn an_image_is_judged_by_its_own_file_whatever_is_beside_it() {
    let face = |name: &str| format!("usemtl {name}\nf 1/1 2/1 3/1\n");
    let vertices = "mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\n";
    let mesh = format!("{vertices}{}{}{}", face("a"), face("b"), face("c"));
    let bad = || grey_png([16384, 16384], BitDepth::One, 0);
    // Bytes after the end of an image are not read.
    let long = [grey_png([1, 1], BitDepth::Eight, 0), vec![0; 5_000_000]].concat();
    let library =
        ["a", "b", "c"].map(|name| format!("newmtl {name}\nmap_Kd {name}.png\n")).concat();
    let files = [("a.mtl", library.into()), ("a.png", bad()), ("b.png", long), ("c.png", bad())];
    let spec = MeshSpec::of_extension("obj").unwrap();
    let options = ReadOptions::default();
    let loaded = read_mesh_from(mesh.into(), spec, &Sidecars::in_memory(files), &options).unwrap();
    let said = loaded.warnings.join("; ");
    assert_eq!(said.matches("out of proportion").count(), 2, "{said}");
    assert!(said.contains("'a.png'") && !said.contains("'b.png'"), "{said}");
    assert_eq!(loaded.mesh.appearance().unwrap().textures.len(), 1);
}
