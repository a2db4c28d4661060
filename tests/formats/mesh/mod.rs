//! The mesh formats: what real files hold, files that other people's programs write,
//! and a clear sentence with the place for every bad one.
//!
//! The tests with trimesh need `TRIVOX_PYTHON` to name a Python that has it.

pub(crate) mod gltf;
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
use trivox::formats::MeshFile;

/// Reads `bytes`, a file with this extension, without sidecar files.
fn read_as(
    extension: &str,
    bytes: impl AsRef<[u8]>,
    options: &ReadOptions,
) -> Result<LoadedMesh, ReadError> {
    let spec = MeshSpec::of_extension(extension).unwrap();
    read_mesh_from(bytes.as_ref().to_vec(), spec, &Sidecars::none(), options)
}

/// The rows of a table: a text, and its message after a bar or indented below. A line that ends in
/// `\` goes on in the next.
fn rows(table: &str) -> Vec<(String, String)> {
    let mut rows: Vec<(String, String)> = Vec::new();
    for line in table.replace("\\\n", "").lines().filter(|line| !line.is_empty()) {
        if let Some(part) = line.strip_prefix("    ") {
            let (_, said) = rows.last_mut().expect("a text before its message");
            *said = format!("{said} {part}").trim_start().to_owned();
        } else {
            let (text, said) = line.split_once(" | ").unwrap_or((line, ""));
            rows.push((text.to_owned(), said.to_owned()));
        }
    }
    rows
}

/// Small files of each format, with some of everything: name, extension and bytes.
fn seeds() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    vec![
        ("OBJ", "obj", obj::SEED_FILE.into()),
        ("binary STL", "stl", stl::binary()),
        ("text STL", "stl", stl::TEXT.into()),
        ("text PLY", "ply", ply::TEXT.into()),
        ("little-endian PLY", "ply", ply::binary(false)),
        ("big-endian PLY", "ply", ply::binary(true)),
        ("text OFF", "off", off::TEXT.into()),
        ("glTF", "gltf", gltf::embedded()),
        ("GLB", "glb", gltf::binary()),
        ("3MF", "3mf", package_3mf(threemf::MODEL.as_bytes())),
        ("model of 3MF", MODEL, threemf::MODEL.trim_ascii_end().into()),
        ("coloured STL", "stl", stl::colored()),
        ("coloured text PLY", "ply", ply::COLORED.into()),
        ("GLB with a texture", "glb", gltf::painted_binary()),
        ("GLB with Draco", "glb", compression::draco_glb()),
        ("GLB with meshopt", "glb", compression::meshopt_glb()),
    ]
}

/// The rows of a table, `old => new` with `\\n` for line ends, applied to `file` one by one: each
/// changed text, with its expected message.
fn changes(file: &str, table: &str) -> Vec<(String, String)> {
    let changed = |(change, said): (String, String)| {
        let change = change.replace("\\n", "\n");
        let (old, new) = change.split_once(" =>").unwrap();
        assert!(file.contains(old), "{old:?} is not there");
        (file.replacen(old, new.strip_prefix(' ').unwrap_or(new), 1), said)
    };
    rows(table).into_iter().map(changed).collect()
}

/// The extension of the model in a package of 3MF.
const MODEL: &str = "model";

fn read_seed(extension: &str, bytes: &[u8]) -> Result<LoadedMesh, ReadError> {
    match extension {
        MODEL => threemf::read(package_3mf(bytes)),
        extension => read_as(extension, bytes, &ReadOptions::default()),
    }
}

fn corners(mesh: &Mesh) -> Vec<[[f64; 3]; 3]> {
    corners_of(mesh).collect()
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

/// The names of a mesh's labels, with commas, and the label of each triangle.
fn labels(mesh: &Mesh) -> (String, Vec<u32>) {
    let Some(labels) = mesh.labels() else { return Default::default() };
    let of_triangles = (0..mesh.triangles().len()).map(|triangle| labels.of_triangle(triangle));
    (labels.names().join(","), of_triangles.collect())
}

/// What a mesh that is read without a warning looks like.
fn look(result: Result<LoadedMesh, ReadError>) -> Appearance {
    let loaded = result.unwrap();
    assert_eq!(loaded.warnings, Vec::<String>::new());
    loaded.mesh.appearance().unwrap().clone()
}

fn fault(result: Result<LoadedMesh, ReadError>) -> String {
    result.map(|loaded| loaded.mesh).unwrap_err().to_string()
}

const A: [f64; 3] = [0.0, 0.0, 0.0];
const B: [f64; 3] = [1.0, 0.0, 0.0];
const C: [f64; 3] = [1.0, 1.0, 0.0];
const D: [f64; 3] = [0.0, 1.0, 0.0];

/// Reads what may be anything: it must be a valid mesh or an error, of a line that is there.
fn check(name: &str, extension: &str, bytes: &[u8]) -> bool {
    let Ok(read) = std::panic::catch_unwind(|| read_seed(extension, bytes)) else {
        panic!("{name} panicked: {}", bytes.escape_ascii());
    };
    match read {
        Ok(loaded) => {
            let mesh = loaded.mesh;
            let (positions, triangles) = (mesh.positions().len(), mesh.triangles());
            assert!(triangles.iter().flatten().all(|&i| positions > i as usize), "{name}");
            // Twelve vertices a byte are those of a list of the shortest numbers.
            assert!(triangles.len() < 12 * bytes.len(), "{name}: {}", triangles.len());
            true
        }
        Err(error) => {
            let said = error.to_string();
            assert!(!said.is_empty() && said.len() < 500, "{name}: {said}");
            if let ReadError::Line { line, what } = error {
                let lines = bytes.iter().filter(|byte| b"\r\n".contains(byte)).count() + 1;
                assert!((1..=lines).contains(&line) && !what.is_empty(), "{name}: {said}");
            }
            false
        }
    }
}

#[test]
fn every_prefix_is_refused_or_a_valid_mesh() {
    for (name, extension, bytes) in seeds() {
        assert!(check(name, extension, &bytes), "{name}");
        let whole = corners(&read_seed(extension, &bytes).unwrap().mesh).len();
        for len in 0..bytes.len() {
            if check(name, extension, &bytes[..len]) {
                let found = read_seed(extension, &bytes[..len]).unwrap().mesh.triangles().len();
                let lost = bytes.len() - len;
                // The last line of a text may lack its end, or a part of a name or number.
                let is_end = name.contains("text") && lost <= 10 && found == whole;
                // Some of the lines of an OBJ file are one too.
                let is_part = extension == "obj" && found <= whole;
                assert!(is_end || is_part, "{name}, {len} bytes");
            }
        }
    }
}

#[test]
fn changed_files_are_read_or_refused_and_never_a_panic() {
    for (name, extension, bytes) in seeds() {
        let (files, most_changes, fragments, least) = match extension {
            "obj" => (60_000, 6, obj::FRAGMENTS, [5_000, 5_000]),
            _ => (20_000, 4, "", [200, 2_000]),
        };
        let (mut accepted, mut refused) = (0, 0);
        for seed in 0..files {
            let mut rng = Rng::with_seed(seed);
            let mut changed = bytes.clone();
            (0..rng.u32(1..=most_changes)).for_each(|_| change(&mut rng, &mut changed, fragments));
            *if check(name, extension, &changed) { &mut accepted } else { &mut refused } += 1;
        }
        println!("{name}: {accepted} accepted, {refused} refused");
        assert!(accepted > least[0] && refused > least[1], "{name}: too few of one kind");
    }
}

/// Changes some bytes of a file, or puts one of the `fragments` of a text, between bars, in their
/// place.
fn change(rng: &mut Rng, bytes: &mut Vec<u8>, fragments: &str) {
    if bytes.is_empty() {
        return;
    }
    let at = rng.usize(0..bytes.len());
    let end = (at + rng.usize(0..12)).min(bytes.len());
    let fragments: Vec<&str> = fragments.split('|').collect();
    match rng.u32(0..if fragments.len() > 1 { 12 } else { 8 }) {
        0 => bytes[at] ^= 1 << rng.u32(0..8),
        1 => bytes[at] = rng.u8(..),
        2 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][rng.usize(0..5)],
        3 => bytes[at] = b"0123456789-.,:[]{}\" \n\re"[rng.usize(0..23)],
        4 => _ = bytes.drain(at..end),
        5 => bytes[at..end].fill(0xff),
        6 => bytes[at..end].fill(b'9'),
        7 => {
            let copy = bytes[at..end].to_vec();
            let to = rng.usize(0..=bytes.len());
            bytes.splice(to..to, copy);
        }
        _ => _ = bytes.splice(at..end, fragments[rng.usize(0..fragments.len())].bytes()),
    }
}

#[test]
fn the_program_reads_all_formats_by_their_extension_and_says_which() {
    let folder = tempfile::tempdir().unwrap();
    for (at, (name, extension, bytes)) in seeds().into_iter().take(10).enumerate() {
        let extension = if at % 2 == 1 { extension.to_uppercase() } else { extension.to_owned() };
        let path = folder.path().join(format!("mesh.{extension}"));
        std::fs::write(&path, &bytes).unwrap();
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_voxelize"));
        let output = program.args(["info", "--json"]).arg(&path).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let format = format!("\"format\":\"{}\"", extension.to_lowercase());
        assert!(output.status.success() && said.contains(&format), "{name}: {said}");
    }
}

#[test]
fn an_empty_file_says_so_and_looks_that_are_not_asked_for_are_none() {
    let bare = ReadOptions { appearance: false, ..ReadOptions::default() };
    for (name, extension, bytes) in seeds() {
        if extension != MODEL {
            assert_eq!(fault(read_seed(extension, b"")), "the file is empty", "{name}");
            let loaded = read_as(extension, &bytes, &bare).unwrap();
            assert_eq!(loaded.mesh.appearance(), None, "{name}");
            let is_of_looks = |said: &String| said.contains("colour") || said.contains("material");
            assert!(!loaded.warnings.iter().any(is_of_looks), "{name}: {:?}", loaded.warnings);
            let whole = read_seed(extension, &bytes).unwrap();
            let is_plain = ["binary STL", "text STL", "glTF", "GLB"].contains(&name);
            assert!(!is_plain || whole.mesh.appearance().is_none(), "{name}");
            assert_eq!(corners(&loaded.mesh), corners(&whole.mesh), "{name}");
        }
    }
}

#[test]
fn sidecars_that_are_not_in_memory_are_named_as_far_as_they_are_known() {
    let missing = |name: &str, mesh: &str, files: &[(&str, &str)]| {
        let sidecars = Sidecars::in_memory(files.iter().copied()).of_mesh(name);
        let spec = MeshSpec::of_path(name).unwrap();
        let file = MeshFile::of_bytes(mesh.into(), spec, &sidecars, &ReadOptions::default());
        file.missing_sidecars().into_iter().map(|names| names.join(" | ")).collect::<Vec<_>>()
    };
    let face = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nusemtl a\nf 1/1 2/1 3/1\n";
    let obj = format!("mtllib .\\lib\\A b.mtl\n{face}");
    assert_eq!(missing("a.obj", &obj, &[]), ["lib/A b.mtl | A b.mtl"]);
    // The image name of the material file follows options.
    let library = ("a B.MTL", "newmtl a\nmap_Kd -s 1 1 1 C:\\x\\my tex.png\n");
    let names = missing("a.obj", &obj, &[library]);
    assert!(names[0].starts_with("C:/x/my tex.png | ") && names[0].contains("| my tex.png |"));
    assert!(names[0].contains("| textures/my tex.png |"), "{names:?}");
    assert_eq!(missing("a.obj", &obj, &[library, ("tex/My Tex.png", "")]), [""; 0]);
    // A file without a name for its materials, and one with an error.
    assert_eq!(missing("x/a.obj", face, &[]), ["x/a.mtl | x/a.obj.mtl"]);
    let gltf =
        r#"{"asset": {"version": "2.0"}, "buffers": [{"uri": "b%20c.bin", "byteLength": 9}]}"#;
    assert_eq!(missing("a.gltf", gltf, &[]), ["b c.bin | b c.bin", "b%20c.bin | b%20c.bin"]);
    assert_eq!(missing("a.stl", "solid", &[]), [""; 0]);
}

#[test]
fn textures_that_do_not_fit_are_plain_and_a_warning() {
    let large = png([300, 300], &[RED; 90_000]);
    let sidecars = Sidecars::in_memory([("large.png", large)]);
    for (extension, file, small) in
        [("ply", ply::large(), 200_000), ("gltf", gltf::large(), 300_000)]
    {
        let spec = MeshSpec::of_extension(extension).unwrap();
        let read = |memory| {
            let options = ReadOptions { memory, ..ReadOptions::default() };
            read_mesh_from(file.clone().into(), spec, &sidecars, &options).unwrap()
        };
        assert_eq!(read(4 << 20).warnings, Vec::<String>::new());
        let small = read(small);
        let expected = "a texture was replaced by a plain colour: 'large.png' (it is too large for \
                        the memory that is left)";
        assert_eq!(small.warnings, [expected]);
        assert!(small.mesh.appearance().is_none_or(|look| look.textures.is_empty()));
    }
}

#[test]
fn an_image_of_too_many_texels_is_refused_by_its_header() {
    let decode = |size: u32, limit: u64| {
        let mut image = png([1, 1], &[RED]);
        image[16..24].copy_from_slice(&[size.to_be_bytes(); 2].concat());
        let crc = crc32fast::hash(&image[12..29]);
        image[29..33].copy_from_slice(&crc.to_be_bytes());
        Texture::decode(&image, "a.png", limit).unwrap_err().to_string()
    };
    let too_many = "it has 30000 x 30000 texels, and 268435456 at most are read: make it smaller";
    assert_eq!(decode(30_000, u64::MAX), too_many);
    let too_large = "it is too large for the memory that is left";
    assert_eq!(decode(1000, 3_999_999), too_large);
}

#[test]
fn an_image_is_judged_by_its_own_file_whatever_is_beside_it() {
    let face = |name: &str| format!("usemtl {name}\nf 1/1 2/1 3/1\n");
    let vertices = "mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\n";
    let mesh = format!("{vertices}{}{}{}", face("a"), face("b"), face("c"));
    let bad = |size| grey_png(size, BitDepth::One, 0);
    let [wide, long_row] = [[16384, 16384], [1 << 28, 1]].map(bad);
    assert!(wide.len() < 100_000 && long_row.len() < 100_000);
    // Bytes after the end of an image are not read.
    let long = [grey_png([1, 1], BitDepth::Eight, 0), vec![0; 5_000_000]].concat();
    let library =
        ["a", "b", "c"].map(|name| format!("newmtl {name}\nmap_Kd {name}.png\n")).concat();
    let files = [("a.mtl", library.into()), ("a.png", wide), ("b.png", long), ("c.png", long_row)];
    let spec = MeshSpec::of_extension("obj").unwrap();
    let options = ReadOptions::default();
    let loaded = read_mesh_from(mesh.into(), spec, &Sidecars::in_memory(files), &options).unwrap();
    let said = loaded.warnings.join("; ");
    for name in ["a", "c"] {
        let expected = format!("'{name}.png' (its texels are out of proportion to the bytes");
        assert!(said.contains(&expected) && !said.contains("'b.png'"), "{said}");
    }
    assert_eq!(loaded.mesh.appearance().unwrap().textures.len(), 1);
}
