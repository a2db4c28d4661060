//! Memory, as the allocator counts it: what reading a mesh takes stays under the bound that is
//! computed beforehand, so does what its topology takes, and writing a grid takes next to nothing.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;

use std::f64::consts::TAU;
use std::io::{self, BufReader, Read, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::common::prelude::*;
use peak_alloc::PeakAlloc;
use trivox::Topology;
use trivox::formats::{write_distances, write_grid, write_grid_with};
use trivox::grid::count;
use trivox::solid::distance::distances;
use trivox::solid::fill::{along_x, flood, vote};
use trivox::surface::attributes::attributes;
use trivox::surface::color::{ColorOptions, color};
use trivox::surface::palette::count_colors;

use common::files::{as_glb, floats, gltf, grey_png, gzipped};
use common::memory::until_it_fits;

/// Counts a buffer that grows by moving as the old and the new one together.
#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Held by each test while it runs: what others allocate would be counted too.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    // Threads of the pool allocate when they start, which may be late.
    rayon::broadcast(|_| ());
    alone
}

/// Bytes by which [`peak`] may be wrong: meanwhile the test harness allocates and frees little.
const HARNESS: u64 = 1 << 16;

/// The result of `work`, and the most bytes that it had allocated at any time.
fn peak<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let result = work();
    (result, ALLOCATOR.peak_usage().saturating_sub(before) as u64)
}

/// Reads `bytes`, a file with this extension, in `limit` bytes of memory.
fn read_as(
    extension: &str,
    bytes: &[u8],
    sidecars: &Sidecars,
    limit: u64,
) -> Result<LoadedMesh, ReadError> {
    let spec = MeshSpec::of_extension(extension).unwrap();
    let options = ReadOptions { memory: limit, ..ReadOptions::default() };
    read_mesh_from(bytes.to_vec(), spec, sidecars, &options)
}

/// The same without sidecar files.
fn read_alone(extension: &str, bytes: &[u8], limit: u64) -> Result<LoadedMesh, ReadError> {
    read_as(extension, bytes, &Sidecars::none(), limit)
}

/// Reads `bytes` within the least memory that is not refused, which must suffice. Returns the peak
/// and that memory.
fn checked_peak(name: &str, extension: &str, bytes: &[u8]) -> (u64, u64) {
    let mut bound = 0;
    while let Err(ReadError::Memory { needed, limit }) = read_alone(extension, bytes, bound) {
        assert!(needed > limit && needed > bound, "{name}: {needed} are needed of {limit}");
        bound = needed;
    }
    let (_, peak) = peak(|| _ = read_alone(extension, bytes, bound));
    let len = bytes.len() as f64;
    println!("{name}: peak {:.1}, bound {:.1} bytes a byte", peak as f64 / len, bound as f64 / len);
    assert!(peak <= bound, "{name}: reading took {peak} bytes, the bound was {bound}");
    (peak, bound)
}

/// The corners of an open tube of `n` by `n` quads, and the quads.
fn tube_of(n: usize) -> (Vec<[f64; 3]>, Vec<[usize; 4]>) {
    let corner = |i: usize| {
        let (along, angle) = ((i / n) as f64, (i % n) as f64 / n as f64 * TAU);
        [angle.cos(), angle.sin(), along / n as f64]
    };
    let quad = |i: usize| {
        let next = i / n * n + (i + 1) % n;
        [i, next, next + n, i + n]
    };
    ((0..n * n).map(corner).collect(), (0..n * (n - 1)).map(quad).collect())
}

/// It as a text, with lines made by `face` of the numbers of each quad's corners, from 1.
fn tube(
    n: usize,
    vertex: impl Fn([f64; 3]) -> String,
    face: impl Fn([usize; 4]) -> String,
) -> String {
    let (corners, quads) = tube_of(n);
    let quads = quads.into_iter().map(|quad| face(quad.map(|i| i + 1)));
    corners.into_iter().map(vertex).chain(quads).collect()
}

fn position([x, y, z]: [f64; 3]) -> String {
    format!("v {x:.6} {y:.6} {z:.6}\n")
}

fn two_triangles([a, b, c, d]: [usize; 4]) -> String {
    format!("f {a} {b} {c}\nf {a} {c} {d}\n")
}

/// A file's name in messages, its extension and its bytes.
type File = (&'static str, &'static str, Vec<u8>);

fn ordinary_texts() -> Vec<File> {
    let with_attributes = |p: [f64; 3]| {
        position(p) + &format!("vt {:.4} {:.4}\nvn {:.4} {:.4} 0\n", p[2], p[0], p[0], p[1])
    };
    let corners = |face: [usize; 4]| face.map(|i| format!(" {i}/{i}/{i}")).concat();
    let colored = |p: [f64; 3]| position(p).replace('\n', " 0.5 0.25 1\n");
    let texts = [
        ("small triangles", tube(20, position, two_triangles)),
        ("triangles", tube(350, position, two_triangles)),
        ("coloured triangles", tube(250, colored, two_triangles)),
        ("quads", tube(350, position, |[a, b, c, d]| format!("f {a} {b} {c} {d}\n"))),
        ("quads with attributes", tube(200, with_attributes, |f| format!("f{}\n", corners(f)))),
    ];
    texts.map(|(name, text)| (name, "obj", text.into_bytes())).into()
}

#[test]
fn the_bound_on_reading_holds_and_is_not_far_above_what_ordinary_files_take() {
    let _alone = alone();
    for (files, most, least_vertices, have_looks) in [
        (ordinary_texts(), 4, 400, false),
        (ordinary_files(), 2, 40_000, false),
        (files_with_looks(), 3, 400, true),
    ] {
        for (name, extension, bytes) in files {
            let (peak, bound) = checked_peak(name, extension, &bytes);
            assert!(bound <= most * peak, "{name}: {bound} bytes are allowed, {peak} were taken");
            let found = read_alone(extension, &bytes, u64::MAX).unwrap();
            assert!(found.mesh.positions().len() >= least_vertices, "{name}");
            let has_look = found.mesh.appearance().is_some() || !found.warnings.is_empty();
            assert!(has_look || !have_looks, "{name}");
        }
    }
    let Some(folder) = environment::models() else { return };
    for path in models_in(&folder) {
        let name = path.display().to_string();
        let (peak, bound) = checked_peak(&name, "obj", &fs::read(&path).unwrap());
        assert!(bound <= 4 * peak, "{name}");
    }
}

/// About as many bytes of `line`, over and over.
fn many(line: &str) -> String {
    line.repeat(1_200_000 / line.len())
}

/// A polygon whose corners go around a circle `turns` times, each second one at `radius`.
fn polygon(corners: usize, turns: f64, radius: f64) -> String {
    let corner = |i: usize| {
        let angle = i as f64 / corners as f64 * turns * TAU;
        let r = if i.is_multiple_of(2) { 1.0 } else { radius };
        position([r * angle.cos(), r * angle.sin(), 0.0])
    };
    let numbers: String = (1..=corners).map(|i| format!(" {i}")).collect();
    (0..corners).map(corner).collect::<String>() + &format!("f{numbers}\n")
}

#[test]
fn the_bound_on_reading_holds_for_texts_that_nobody_would_write() {
    let _alone = alone();
    let check = |name: &str, text: &[u8]| {
        let (_, bound) = checked_peak(name, "obj", text);
        // With that much, the bound is not even counted.
        assert!(bound <= 1024 * text.len() as u64 + (64 << 10), "{name}: {bound}");
    };
    let square = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvn 0 0 1\n";
    // Lines between bars.
    let repeated = "v 0 0 0\n|v 0 0 0 0 0 0\n|v 0 0 0\nvt 0 0\nvn 0 0 0\n|vt 0 0\n|f\n|f \n|\
        f 1\n|f 1 2\n|f 1 2 3\n|f 1 2 3 4\n|f 1 2 3 4 1\n|f 1/1/1 2/1/1 3/1/1\n|f -1 -2 -3\n|\
        f\u{3000}1\u{3000}2\u{3000}3\n|f 1 2 \\\n3\n|fo 1 2 3\n|g\nf 1 2 3\n|o a\nf 1 2 3\n|\
        usemtl a\nf 1 2 3\n|usemtl a\nf 1/1 2/1 3/1\nf 1 2 3\n|\
        usemtl a\nf 1/1 2/1 3/1 4/1 1/1 2/1\n|v 0 0 0 0 0 0 0\nf -1 -1 -1\n|\
        v 0 0 0 0 0 0\nv 0 0 0\nv 0 0 0 0.5\nf -1 -2 -3\n|v 0 0 0\nf -1 -1 -1\n|\
        v 0 0 0\nf -1 -1 -1 -1 -1\n|l 1 2 3\n|p 1\n|#\n|\n|\\\n|x\n|mtllib a\n";
    for line in repeated.split('|') {
        check(&format!("{line:?}"), format!("{square}{}", many(line)).as_bytes());
        check(&format!("{line:?} first"), format!("{}{square}", many(line)).as_bytes());
        let old_mac = format!("{square}{}", many(line)).replace('\n', "\r");
        check(&format!("{line:?}, ends \\r"), old_mac.as_bytes());
    }
    let distinct: String = (0..300_000).map(|i| format!("x{i}\nmtllib {i}\n")).collect();
    check("words", format!("{square}{distinct}").as_bytes());
    let distinct: String = (0..100_000).map(|i| format!("usemtl {i}\nf 1/1 2/1 3/1\n")).collect();
    check("materials", format!("{square}{distinct}").as_bytes());
    check("a corner often", format!("{square}f{}\n", many(" 1")).as_bytes());
    check("corners often", format!("{square}f{}\n", many(" 1 2 3 4")).as_bytes());
    check("numbers often", format!("{square}v{}\n", many(" 1")).as_bytes());
    check("a long word", format!("{square}f 1 2 3{}\n", many("4")).as_bytes());
    check("a long line", format!("{square}{}\n", many("x ")).as_bytes());
    check("a convex polygon", polygon(100_000, 1.0, 1.0).as_bytes());
    check("a concave polygon", polygon(20_000, 1.0, 0.9).as_bytes());
    check("a polygon that crosses itself", polygon(3_001, 1000.0, 1.0).as_bytes());
    let mut no_text = square.as_bytes().to_vec();
    no_text.resize(1_200_000, 0xff);
    check("no text", &no_text);
    let fault = format!("{}f 1 2 x\n", tube(100, position, two_triangles));
    check("a fault at the end", fault.as_bytes());
}

#[test]
fn reading_materials_and_images_takes_no_more_memory_than_is_left() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let formats = ["png", "bmp", "tga", "webp", "gif", "jpg"];
    let image = image::RgbImage::from_fn(700, 700, |x, y| image::Rgb([x as u8, y as u8, 9]));
    for format in formats {
        image.save(path(&format!("{format}.{format}"))).unwrap();
    }
    let deep = image::DynamicImage::ImageRgb8(image).into_rgba16();
    deep.save(path("deep.png")).unwrap();
    let names = || formats.map(|format| format!("{format}.{format}")).into_iter();
    let define =
        |(i, name): (usize, String)| format!("newmtl {i}\nmap_Kd {name}\nmap_d deep.png\n");
    let define_plain = |i: usize| format!("newmtl {i}\nKd 0 0 1\n");
    let mtl: String = names().enumerate().map(define).chain((6..5000).map(define_plain)).collect();
    fs::write(path("m.mtl"), &mtl).unwrap();
    let quad =
        |[a, b, c, d]: [usize; 4]| format!("usemtl {}\nf {a}/1 {b}/1 {c}/1 {d}/1\n", a % 5000);
    let text = format!("mtllib m.mtl\nvt 0 0\n{}", tube(100, position, quad)).into_bytes();
    let sidecars = Sidecars::beside(&path("mesh.obj"));
    let read = |limit: u64| read_as("obj", &text, &sidecars, limit);
    let Err(ReadError::Memory { needed, .. }) = read(0) else { panic!("read in no memory") };
    let mut found = Vec::new();
    for megabytes in [0, 1, 5, 8, 10, 12, 16, 20, 25, 30, 100] {
        let limit = needed + megabytes * 1_000_000;
        let (loaded, peak) = peak(|| read(limit).unwrap());
        assert!(peak <= limit, "{megabytes} MB: reading took {peak} bytes of {limit}");
        found.push(loaded.mesh.appearance().map_or(0, |appearance| appearance.textures.len()));
    }
    assert!(found.is_sorted() && found[0] == 0 && found[10] == 7, "{found:?}");
}

#[test]
fn a_material_file_takes_memory_in_proportion_whatever_it_names() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let statements: String = (0..20_000).map(|n| format!("x <UDIM>a{n}\n")).collect();
    fs::write(folder.path().join("m.mtl"), &statements).unwrap();
    let text = b"mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    let sidecars = Sidecars::beside(&folder.path().join("mesh.obj"));
    let (loaded, peak) = peak(|| read_as("obj", text, &sidecars, u64::MAX));
    assert!(loaded.is_ok() && peak <= 64 * statements.len() as u64 + HARNESS, "{peak}");
}

#[test]
fn a_mesh_is_refused_where_reading_may_take_too_much_and_read_where_not() {
    let _alone = alone();
    let text = tube(20, position, two_triangles);
    let (_, bound) = checked_peak("a tube", "obj", text.as_bytes());
    let expected = read_alone("obj", text.as_bytes(), u64::MAX).unwrap().mesh;
    assert_eq!(read_alone("obj", text.as_bytes(), bound).unwrap().mesh, expected);
    assert!(read_alone("obj", text.as_bytes(), bound - 1).is_err());

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tube.obj");
    fs::write(&path, &text).unwrap();
    let read = |limit| {
        read_mesh_with(&path, &ReadOptions { memory: limit, ..ReadOptions::default() }, &NoProgress)
    };
    assert_eq!(read(bound).unwrap().mesh, expected);
    let refused = |limit| read(limit).unwrap_err().to_string();
    let said = refused(50_000);
    assert!(said.starts_with("reading it may take "), "{said}");
    assert!(said.contains(" KiB of memory, but"), "{said}");
    assert!(said.contains("48.9 KiB are left for that: allow more, or divide it into"), "{said}");
    // Only the first 4 KiB of a file are read, through a buffer of 8 KiB, if the text alone is
    // larger.
    let long = text.as_bytes().repeat(16);
    assert!(long.len() > 65_536, "{}", long.len());
    fs::write(&path, long).unwrap();
    let (_, peak) = peak(|| refused(1000));
    assert!(peak < 16_384, "{peak}");
}

/// The corners and the quads of [`tube_of`] in the types of files.
fn floats_of_tube(n: usize) -> (Vec<[f32; 3]>, Vec<[u32; 4]>) {
    let (corners, quads) = tube_of(n);
    let corners = corners.iter().map(|at| at.map(|c| c as f32)).collect();
    (corners, quads.iter().map(|quad| quad.map(|i| i as u32)).collect())
}

fn halves(quads: &[[u32; 4]]) -> Vec<[u32; 3]> {
    quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect()
}

fn ply_header(format: &str, vertices: usize, faces: usize) -> String {
    format!(
        "ply\nformat {format} 1.0\nelement vertex {vertices}\nproperty float x\nproperty float y\n\
         property float z\nelement face {faces}\nproperty list uchar int vertex_indices\nend_header\n"
    )
}

/// A binary STL file of these triangles, each with its attribute.
fn binary_stl(
    corners: &[[f32; 3]],
    triangles: &[[u32; 3]],
    attribute: impl Fn(u16) -> u16,
) -> Vec<u8> {
    let mut bytes = vec![0; 80];
    bytes.extend((triangles.len() as u32).to_le_bytes());
    for (at, triangle) in triangles.iter().enumerate() {
        bytes.extend([0; 12]);
        let triangle = triangle.map(|i| corners[i as usize]);
        bytes.extend(triangle.concat().iter().flat_map(|c| c.to_le_bytes()));
        bytes.extend(attribute(at as u16).to_le_bytes());
    }
    bytes
}

/// What a file has besides for the vertex or the face of a number.
type Besides = fn(u32) -> Vec<u8>;

const NOTHING: Besides = |_| Vec::new();

/// A binary PLY file with more properties of vertices and of faces, and their values.
fn binary_ply<const N: usize>(
    corners: &[[f32; 3]],
    faces: &[[u32; N]],
    [vertex, face]: [&str; 2],
    [of_vertex, of_face]: [Besides; 2],
) -> Vec<u8> {
    let header = ply_header("binary_little_endian", corners.len(), faces.len())
        .replace("element face", &format!("{vertex}element face"))
        .replace("end_header", &format!("{face}end_header"));
    let mut bytes = header.into_bytes();
    for (at, corner) in corners.iter().enumerate() {
        bytes.extend(corner.map(f32::to_le_bytes).as_flattened());
        bytes.extend(of_vertex(at as u32));
    }
    for (at, face) in faces.iter().enumerate() {
        bytes.push(N as u8);
        bytes.extend(face.map(u32::to_le_bytes).as_flattened());
        bytes.extend(of_face(at as u32));
    }
    bytes
}

/// The corners and the indices of triangles, as arrays of glTF.
fn gltf_arrays(corners: &[[f32; 3]], triangles: &[[u32; 3]]) -> [(String, Vec<u8>); 2] {
    let indices = triangles.as_flattened();
    [
        (kind(5126, corners.len(), "VEC3"), floats(corners.as_flattened())),
        (kind(5125, indices.len(), "SCALAR"), bytemuck::cast_slice(indices).to_vec()),
    ]
}

/// The members of an accessor of so many elements.
fn kind(component: u32, count: usize, of: &str) -> String {
    format!(r#""componentType": {component}, "count": {count}, "type": "{of}""#)
}

/// Ordinary files of all formats but OBJ.
fn ordinary_files() -> Vec<File> {
    let (corners, quads) = floats_of_tube(200);
    let triangles = halves(&quads);
    let mut text = b"solid tube\n".to_vec();
    for triangle in &triangles {
        let triangle = triangle.map(|i| corners[i as usize]);
        text.extend(b"facet normal 0 0 1\nouter loop\n");
        for [x, y, z] in triangle {
            text.extend(format!("vertex {x:.6} {y:.6} {z:.6}\n").bytes());
        }
        text.extend(b"endloop\nendfacet\n");
    }
    text.extend(b"endsolid tube\n");

    let mut ascii = ply_header("ascii", corners.len(), triangles.len());
    corners.iter().for_each(|[x, y, z]| ascii += &format!("{x:.6} {y:.6} {z:.6}\n"));
    triangles.iter().for_each(|[a, b, c]| ascii += &format!("3 {a} {b} {c}\n"));

    let document = |nodes: &str| {
        let sections = format!(
            r#""nodes": [{nodes}], "meshes": [{{"primitives": [{{"indices": 1,
            "attributes": {{"POSITION": 0}}}}]}}]"#
        );
        gltf(&sections, &gltf_arrays(&corners, &triangles))
    };
    let instances = [r#"{"mesh": 0, "translation": [1, 2, 3]}"#; 5].join(", ");
    vec![
        ("binary STL", "stl", binary_stl(&corners, &triangles, |_| 0)),
        ("text STL", "stl", text),
        ("binary PLY", "ply", binary_ply(&corners, &triangles, [""; 2], [NOTHING; 2])),
        ("binary PLY of quads", "ply", binary_ply(&corners, &quads, [""; 2], [NOTHING; 2])),
        ("text PLY", "ply", ascii.into_bytes()),
        ("embedded glTF", "gltf", document(r#"{"mesh": 0}"#).into()),
        ("GLB", "gltf", as_glb(&document(r#"{"mesh": 0}"#))),
        ("GLB with instances", "gltf", as_glb(&document(&instances))),
    ]
}

#[test]
fn the_bound_on_reading_other_formats_holds_for_files_that_nobody_would_write() {
    let _alone = alone();
    let n = 100_000;
    let words = format!("solid {}\nendsolid\n", "x".repeat(n));
    checked_peak("text STL of names", "stl", words.as_bytes());
    let facets =
        "facet outer loop vertex 0 0 0 vertex 0 0 0 vertex 0 0 0 endloop endfacet ".repeat(n / 10);
    checked_peak("the shortest text STL", "stl", format!("solid\n{facets}endsolid").as_bytes());

    let circle: String = (0..n)
        .map(|i| i as f64 / n as f64 * TAU)
        .map(|a| format!("{:.3} {:.3} 0\n", a.cos(), a.sin()))
        .collect();
    let indices: String = (0..n).map(|i| format!(" {i}")).collect();
    let polygon =
        ply_header("ascii", n, 1).replace("uchar", "int") + &circle + &format!("{n}{indices}\n");
    checked_peak("a PLY of one polygon", "ply", polygon.as_bytes());
    let strip = polygon.replace("face", "tristrips");
    checked_peak("a PLY of one strip", "ply", strip.as_bytes());
    let bytes = |faces: usize, face: &[u8]| {
        let header = ply_header("binary_big_endian", 3, faces).replace("float", "uchar");
        let mut bytes = header.replace("uchar int", "uchar uchar").into_bytes();
        bytes.extend([0, 0, 0, 1, 0, 0, 0, 1, 0]);
        (0..faces).for_each(|_| bytes.extend(face));
        bytes
    };
    checked_peak("a PLY of faces of bytes", "ply", &bytes(n, &[3, 0, 1, 2]));
    checked_peak("a PLY of faces of no corner", "ply", &bytes(n, &[0]));
    let large = bytes(n / 100, &[[200].as_slice(), &[1; 200]].concat());
    checked_peak("a PLY of large faces of bytes", "ply", &large);
    for (name, line) in [("properties", "property int x\n"), ("elements", "element a 0\n")] {
        let lines = line.repeat(n) + "end_header";
        let header = ply_header("ascii", 3, 1).replace("end_header", &lines);
        checked_peak(&format!("a PLY of {name}"), "ply", header.as_bytes());
    }
    let off = |vertex: &str, face: &str| {
        format!("OFF\n3 1 0\n0 0 0{vertex}\n1 0 0\n0 1 0\n{face}\n").into_bytes()
    };
    let numbers = many(" 0");
    checked_peak("an OFF of one long vertex", "off", &off(&numbers, "3 0 1 2"));
    checked_peak("an OFF of one long face", "off", &off("", &format!("3 0 1 2{numbers}")));
    let corners = many(" 0 1 2");
    let polygon = format!("{}{corners}", corners.len() / 2);
    checked_peak("an OFF of one polygon", "off", &off("", &polygon));

    let empty = |of: &str| vec![of; n].join(",");
    for (what, each) in [
        ("nodes", "{}"),
        ("nodes", r#"{"mesh":0}"#),
        ("nodes", r#"{"children":[0,0,0,0,0,0,0,0,0,0,0,0]}"#),
        ("scenes", "[]"),
        ("scenes", "[[]]"),
        ("scenes", r#"{"nodes":[0,0,0,0,0,0,0,0,0,0,0,0]}"#),
        ("materials", "{}"),
        ("materials", r#"{"alphaMode":0}"#),
        ("textures", "{}"),
        ("images", r#"{"uri":"a"}"#),
        ("samplers", "0"),
        ("extensionsUsed", r#""""#),
        ("extensionsUsed", r#""\n\n\n\n\n\n\n\n\n\n\n\n""#),
        ("accessors", r#"{"componentType":0,"count":0,"type":""}"#),
        ("buffers", r#"{"byteLength":0}"#),
        ("meshes", r#"{"primitives":[{"attributes":{}}]}"#),
        ("meshes", r#"{"primitives":[{"attributes":{"POSITION":0}}]}"#),
        ("meshes", r#"{"primitives":[{"attributes":{"A":0,"B":0,"C":0,"D":0}}]}"#),
    ] {
        let text = format!(r#"{{"asset":{{"version":"2.0"}},"{what}":[{}]}}"#, empty(each));
        checked_peak(&format!("{what} of {each}"), "gltf", text.as_bytes());
    }
    let children = format!(
        r#"{{"asset":{{"version":"2.0"}},"nodes":[{{"children":[{}]}},{{}}],"scene":0,"scenes":[[0]]}}"#,
        empty("1")
    );
    checked_peak("children", "gltf", children.as_bytes());
}

/// The tube as files that tell what it looks like, of each format but OBJ. Textures are not there.
fn files_with_looks() -> Vec<File> {
    let (corners, quads) = floats_of_tube(150);
    let triangles = halves(&quads);
    let stl =
        |attribute: fn(u16) -> u16| binary_stl(&corners, &triangles, |at| 0x8000 | attribute(at));
    let ply = |properties, values| binary_ply(&corners, &triangles, properties, values);
    let color: Besides = |at| at.to_le_bytes()[..3].to_vec();
    let colors = "property uchar red\nproperty uchar green\nproperty uchar blue\n";
    let texcoords = "property list uchar float texcoord\ncomment TextureFile none.png\n";
    let of_corners: Besides = |_| [vec![6], vec![0; 24]].concat();
    let of_vertex = "property float s\nproperty float t\ncomment TextureFile none.png\n";

    // Of all kinds, the texels of a grey image grow most when they are decoded.
    let image = grey_png([8; 2], png::BitDepth::Eight, 128);
    let mut arrays = gltf_arrays(&corners, &triangles).to_vec();
    arrays.push((kind(5126, corners.len(), "VEC2"), vec![0; 8 * corners.len()]));
    arrays.push((kind(5121, image.len(), "SCALAR"), image));
    let sections = r#""nodes": [{"mesh": 0}, {"mesh": 1}],
        "meshes": [{"primitives": [{"material": 0, "indices": 1,
        "attributes": {"POSITION": 0, "COLOR_0": 0, "TEXCOORD_0": 2}}]},
        {"primitives": [{"indices": 1, "attributes": {"POSITION": 0}}]}],
        "materials": [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}],
        "textures": [{"source": 0}], "images": [{"bufferView": 3}]"#;
    vec![
        ("STL of a colour", "stl", stl(|_| 7)),
        ("STL of many colours", "stl", stl(|at| at)),
        ("PLY with colours of vertices", "ply", ply([colors, ""], [color, NOTHING])),
        ("PLY with colours of faces", "ply", ply(["", colors], [NOTHING, color])),
        ("PLY with a texture on faces", "ply", ply(["", texcoords], [NOTHING, of_corners])),
        ("PLY with a texture on vertices", "ply", ply([of_vertex, ""], [|_| vec![0; 8], NOTHING])),
        ("GLB with all", "gltf", as_glb(&gltf(sections, &arrays))),
    ]
}

#[test]
fn textures_take_no_more_than_what_is_left_of_the_memory() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let grey = grey_png([1000; 2], png::BitDepth::Eight, 128);
    // A file that is named twice is read once.
    for name in ["large.png", "other.png"] {
        fs::write(folder.path().join(name), &grey).unwrap();
    }
    let header = ply_header("ascii", 3, 2).replace(
        "end_header",
        "property list uchar float texcoord\nproperty int texnumber\ncomment TextureFile large.png\n\
         comment TextureFile other.png\nend_header",
    );
    let faces = "3 0 1 2 6 0 0 1 0 1 1 0\n3 0 1 2 6 0 0 1 0 1 1 1\n";
    let file = format!("{header}0 0 0\n1 0 0\n1 1 0\n{faces}");
    let mut read = [0; 3];
    for limit in (1..=20).map(|mb| mb << 20) {
        let sidecars = Sidecars::beside(&folder.path().join("mesh.ply"));
        let (loaded, peak) = peak(|| read_as("ply", file.as_bytes(), &sidecars, limit).unwrap());
        assert!(peak <= limit, "{limit} bytes were left, {peak} were taken");
        let textures = loaded.mesh.appearance().map_or(0, |look| look.textures.len());
        assert_eq!(loaded.warnings.is_empty(), textures == 2);
        read[textures] += 1;
    }
    assert!(read.iter().all(|&count| count > 0), "{read:?}");
}

#[test]
fn lying_files_take_memory_in_proportion() {
    let _alone = alone();
    let mut rng = Rng::with_seed(1);
    for (name, extension, bytes) in ordinary_files() {
        // The part that describes the rest.
        let head = bytes.len().min(1500);
        let allowed = 64 * bytes.len() as u64 + (1 << 20);
        let mut worst = 0;
        for _ in 0..200 {
            let mut changed = bytes.clone();
            let at = rng.usize(0..head);
            let digit = changed[at].is_ascii_digit();
            changed[at] = if digit { rng.u8(b'0'..=b'9') } else { rng.u8(..) };
            worst = peak(|| _ = read_alone(extension, &changed, u64::MAX)).1.max(worst);
        }
        println!("{name}: at most {:.1} bytes a byte", worst as f64 / bytes.len() as f64);
        assert!(worst < allowed, "{name}: {worst} bytes for {}", bytes.len());
    }
}

/// Takes so many bytes, and no more.
struct Disk {
    room: u64,
    is_full: bool,
}

impl Disk {
    fn of(room: u64) -> Self {
        Self { room, is_full: false }
    }
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.is_full = bytes.len() as u64 > self.room;
        self.room = self.room.checked_sub(bytes.len() as u64).ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Bricks that lie about a sphere which fills a grid of `n` voxels cubed, in its first `x` slabs.
fn cap(n: u32, slabs: u32) -> VoxelGrid {
    let half = n as f64 / 16.0;
    let ring = |x: u32| {
        let radius = (half * half - (half - f64::from(x) - 0.5).powi(2)).sqrt();
        let count = (8.0 * radius) as u32 + 8;
        (0..count).map(move |i| {
            let angle = f64::from(i) / f64::from(count) * TAU;
            let at = |c: f64| ((half + radius * c) as u32).min(n / 8 - 1);
            (BrickKey::new([x, at(angle.cos()), at(angle.sin())]), [1 << (i % 64); 8])
        })
    };
    VoxelGrid::from_bricks([n; 3], (0..slabs).flat_map(ring).collect()).unwrap()
}

fn scattered(dims: [u32; 3], count: usize) -> VoxelGrid {
    common::voxels::scattered(dims, count, &mut Rng::with_seed(1))
}

/// `n` by `n` full bricks in the first layer of a grid of 8 n voxels cubed.
fn slab(n: u32) -> VoxelGrid {
    let bricks = (0..n * n).map(|i| (BrickKey::new([0, i / n, i % n]), FULL));
    VoxelGrid::from_bricks([8 * n; 3], bricks.collect()).unwrap()
}

/// Bytes that writing a format may take.
fn most(format: GridFormat) -> u64 {
    use GridFormat::{Glb, Litematic, Npz, Obj, Ply, Schem, Vdb, Vox, Vti};
    let threads = match format {
        Glb | Litematic | Npz | Obj | Ply | Schem | Vdb | Vox | Vti => rayon::current_num_threads(),
        _ => 0,
    };
    (4 + 10 * threads as u64) << 20
}

/// Writes the grid in these formats within their bounds of memory, each to a disk of `room` bytes,
/// which may be too few.
fn check_writing(
    name: &str,
    grid: &VoxelGrid,
    formats: &[GridFormat],
    room: fn(GridFormat) -> u64,
) {
    for &format in formats {
        let mut disk = Disk::of(room(format));
        let (written, peak) = peak(|| write_grid(grid, format, &mut disk));
        assert!(written.is_ok() || disk.is_full, "{name}, {format:?}: {written:?}");
        println!("{name}, {format:?}: {peak} bytes");
        assert!(peak <= most(format), "{name}, {format:?}: writing took {peak} bytes");
    }
}

#[test]
fn writing_takes_little_memory_whatever_the_grid() {
    use GridFormat::*;
    let _alone = alone();
    for (name, grid, formats) in [
        ("scattered, 2000 cubed", scattered([2000; 3], 200_000), &[Vox][..]),
        ("a sphere, 1600 cubed", cap(1600, 200), &[Vox]),
        ("scattered, 4096 cubed", scattered([4096; 3], 200_000), &[Npy, Bricks, Ply, Vdb, Nvdb]),
        ("scattered in a slab", scattered([8, 16384, 16384], 200_000), &[Npy, Binvox]),
        ("a full slab, 4096 cubed", slab(512), &[Npy, Binvox, Glb, Vdb, Nvdb]),
        ("a sphere, 4096 cubed", cap(4096, 512), &[Npy, Binvox]),
        ("a sphere, 16384 cubed", cap(16384, 512), &[Npy, Obj, Vdb, Nvdb]),
        ("scattered, deflated", scattered([1024; 3], 20_000), &[Npz]),
        ("scattered cells", scattered([65536, 64, 64], 3_000_000), &[Vti]),
        ("scattered floats", scattered([65536, 1024, 1024], 200_000), &[Vol]),
        ("scattered blocks", scattered([65535, 33, 64], 100_000), &[Schem]),
        ("scattered blocks", scattered([65536, 33, 64], 100_000), &[Litematic]),
        ("scattered, the longest", scattered([65536; 3], 20_000), &[Glb, Vdb, Nvdb]),
        ("scattered, the longest", scattered([65536, 65536, 1024], 200_000), &[Npy]),
    ] {
        check_writing(name, &grid, formats, |_| 100 << 20);
    }
}

/// The same grid with colours: of each brick that is not full all voxels have one of their own.
fn colored(grid: &VoxelGrid) -> VoxelGrid {
    let bricks = grid.bricks().filter(|(_, mask)| *mask != FULL);
    let own = bricks.map(|(key, mask)| {
        // None of the rest's colour.
        let number = |n| [n as u8, key.position()[0] as u8, key.position()[2] as u8 | 4, 255];
        (key, mask, (0..count(&mask)).map(number).collect())
    });
    grid.clone().with_colors(Colors::from_bricks(own.collect(), [1, 2, 3, 255]))
}

#[test]
fn writing_colours_takes_little_memory_whatever_the_grid() {
    use GridFormat::*;
    let _alone = alone();
    for (name, grid, formats) in [
        ("scattered, 1024 cubed", scattered([1024; 3], 20_000), &[Npz][..]),
        ("scattered rows", scattered([8, 1024, 65536], 100_000), &[Npz]),
        ("a sphere, 16384 cubed", cap(16384, 512), &[Npz, Vdb, Obj]),
        ("a full slab, 4096 cubed", slab(512), &[Npz, Vdb, Nvdb, Glb]),
        ("scattered cells", scattered([65536, 64, 64], 1_000_000), &[Vti]),
        ("scattered bricks", scattered([4096; 3], 200_000), &[Bricks]),
        ("scattered, 4096 cubed", scattered([4096; 3], 100_000), &[Vdb, Ply, Obj]),
        ("scattered, 4096 cubed", scattered([4096; 3], 20_000), &[Nvdb]),
        ("scattered, the longest", scattered([65536; 3], 20_000), &[Vdb]),
        ("scattered, the longest", scattered([65536; 3], 2_000), &[Nvdb, Glb]),
        ("scattered blocks", scattered([65535, 33, 8], 20_000), &[Schem, Litematic]),
    ] {
        // 2 MiB deflated are a gigabyte.
        check_writing(name, &colored(&grid), formats, |format| match format {
            Npz => 2 << 20,
            _ => 100 << 20,
        });
    }
}

/// The grid from a file of its own, and the peak of reading it.
fn read_back(grid: &VoxelGrid, format: GridFormat) -> (VoxelGrid, u64) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grid").with_extension(format.extension());
    write_grid(grid, format, &mut fs::File::create(&path).unwrap()).unwrap();
    peak(|| read_grid(&path).unwrap().grid)
}

#[test]
fn reading_trees_and_colours_takes_a_few_times_what_they_do() {
    use GridFormat::{Bricks, Npz, Nvdb, Vdb};
    let _alone = alone();
    let (sphere, trees) = (cap(4096, 100), [Vdb, Nvdb]);
    for (name, grid, formats, most) in [
        ("a sphere, 4096 cubed", sphere.clone(), &trees[..], 4),
        ("scattered", scattered([1024; 3], 5_000), &trees, 4),
        ("a coloured sphere", colored(&sphere), &[Vdb, Nvdb, Bricks], 5),
        ("scattered colours", colored(&scattered([256; 3], 5_000)), &[Vdb, Nvdb, Bricks, Npz], 5),
        ("a full slab in colours", colored(&slab(64)), &[Vdb, Nvdb, Bricks, Npz], 5),
    ] {
        let size = grid.bytes() + grid.colors.as_ref().map_or(0, Colors::bytes);
        for &format in formats {
            let (back, peak) = read_back(&grid, format);
            assert!(grid.voxels().all(|voxel| back.color(voxel) == grid.color(voxel)), "{name}");
            assert!(back == grid, "{name}");
            println!("{name}, .{}: {peak} bytes, the grid {size}", format.extension());
            assert!(peak <= most * size + (1 << 20), "{name}, {format:?}: {peak} bytes of {size}");
        }
    }
}

/// A schematic whose blocks repeat `pattern`: 0 is air, 1 dirt and 2 sand.
fn schematic(pattern: &[i8]) -> Vec<u8> {
    let size: [i16; 3] = [256, 64, 256];
    let volume = size.iter().map(|&d| d as usize).product();
    let data = pattern.iter().copied().cycle().take(volume).collect();
    let tags = fastnbt::nbt!({
        "Version": 2, "Width": size[0], "Height": size[1], "Length": size[2],
        "Palette": {"air": 0, "dirt": 1, "sand": 2}, "BlockData": fastnbt::ByteArray::new(data),
    });
    gzipped(&fastnbt::to_bytes(&tags).unwrap())
}

/// The same of 16 blocks, by two bits each.
fn litematic(pattern: u32) -> Vec<u8> {
    let place = |[x, y, z]: [i32; 3]| fastnbt::nbt!({ "x": x, "y": y, "z": z });
    let word = i64::from(pattern) << 32 | i64::from(pattern);
    let tags = fastnbt::nbt!({ "Version": 5, "Regions": { "r": {
        "Position": place([0; 3]), "Size": place([256, 64, 256]),
        "BlockStatePalette": [{ "Name": "air" }, { "Name": "dirt" }, { "Name": "sand" }],
        "BlockStates": fastnbt::LongArray::new(vec![word; 256 * 64 * 256 / 32]),
    } } });
    gzipped(&fastnbt::to_bytes(&tags).unwrap())
}

#[test]
fn reading_grids_takes_no_more_memory_than_it_may() {
    use GridFormat::*;
    let _alone = alone();
    // Buffers of decoders and of nodes, and the table of known blocks.
    const BUFFERS: u64 = 1 << 20;
    let mut files = vec![
        ("one colour", Schem, schematic(&[1, 1, 1, 1, 1, 1, 1, 0])),
        ("a colour per brick", Schem, schematic(&[1, 1, 1, 1, 1, 1, 1, 0, 2, 2, 2, 2, 2, 2, 2, 0])),
        ("colours for all", Schem, schematic(&[1, 2, 1])),
        ("air", Schem, schematic(&[0])),
        ("one colour", Litematic, litematic(0x1555_1555)),
        ("a colour per brick", Litematic, litematic(0x2aaa_1555)),
        ("colours for all", Litematic, litematic(0x1999_9999)),
        ("air", Litematic, litematic(0)),
    ];
    let plain = scattered([256; 3], 20_000);
    let colored = colored(&plain);
    let uniform = plain.clone().with_colors(Colors::uniform([9, 8, 7, 255]));
    let slab = slab(128);
    for (name, grid, formats) in [
        ("scattered", &plain, &[Npz, Npy, Binvox, Bricks, Vdb, Nvdb][..]),
        ("scattered colours", &colored, &[Npz, Bricks, Vdb, Nvdb]),
        ("scattered, one colour", &uniform, &[Npz, Vdb, Nvdb]),
        ("a full slab", &slab, &[Binvox, Bricks]),
    ] {
        for &format in formats {
            let mut bytes = Vec::new();
            write_grid(grid, format, &mut bytes).unwrap();
            files.push((name, format, bytes));
        }
    }
    let voxelizer = Voxelizer::new().resolution(200).memory(256 << 20);
    let field = voxelizer.distances(asset("torus-knot.obj"), 3.0).unwrap().field;
    for format in [Npz, Vdb, Nvdb, Vti] {
        let mut bytes = Vec::new();
        write_distances(&field, format, &mut bytes).unwrap();
        files.push(("distances", format, bytes));
    }
    for (name, format, bytes) in files {
        let read = |limit| {
            let options = ReadOptions { memory: limit, ..ReadOptions::default() };
            peak(|| read_grid_from(&mut &bytes[..], format, &options))
        };
        let (whole, most) = read(u64::MAX);
        let whole = whole.unwrap();
        let mut limit = 1 << 18;
        loop {
            let (loaded, peak) = read(limit);
            let allowed = limit + BUFFERS;
            assert!(peak <= allowed, "{name}, {format:?}: {peak} bytes of {limit}");
            match loaded {
                Ok(loaded) if loaded.warnings == whole.warnings => break,
                // Colours beside other voxels.
                Ok(loaded) => assert!(loaded.warnings.concat().contains("allow more"), "{name}"),
                Err(ReadError::Memory { .. }) => {}
                Err(error) => panic!("{name}, {format:?}: {error}"),
            }
            limit += limit / 4;
        }
        println!("{name}, {format:?}: peak {most}, read within {limit}");
        assert!(limit <= 8 * most + BUFFERS, "{name}, {format:?}: {limit} for {most}");
    }
}

#[test]
fn writing_few_colours_takes_32_bytes_for_each_of_the_grid_besides() {
    let _alone = alone();
    let voxels = 1 << 20;
    let at = |brick: u32| BrickKey::new([brick % 128, brick / 128, 0]);
    let bricks = (0..voxels / 512).map(|brick| {
        let color = |i: u32| {
            let [_, r, g, b] = (512 * brick + i).wrapping_mul(0x00C2_B2AE).to_be_bytes();
            [r, g, b, 255]
        };
        (at(brick), FULL, (0..512).map(color).collect())
    });
    let colors = Colors::from_bricks(bricks.collect(), [0; 4]);
    let full = (0..voxels / 512).map(|brick| (at(brick), FULL));
    let grid = VoxelGrid::from_bricks([1024, 128, 8], full.collect()).unwrap().with_colors(colors);
    let distinct = count_colors(&grid) as u64;
    assert!(distinct > 1 << 18);
    for dither in [false, true] {
        let options = WriteOptions { dither, ..WriteOptions::default() };
        let (written, peak) =
            peak(|| write_grid_with(&grid, GridFormat::Vox, &options, &mut Disk::of(100 << 20)));
        written.unwrap();
        println!("{distinct} colours: {peak} bytes");
        assert!(peak <= (4 << 20) + 32 * distinct, "{distinct} colours took {peak} bytes");
    }
}

#[test]
fn reading_npy_takes_a_fraction_of_a_dense_slab() {
    let _alone = alone();
    let dims = [8, 8192, 4096];
    let len = GridFormat::Npy.file_size(dims).unwrap();
    let mut header = [0; 128];
    let written =
        write_grid(&VoxelGrid::empty(dims).unwrap(), GridFormat::Npy, &mut &mut header[..]);
    assert!(written.is_err(), "more than the header went into 128 bytes");
    let zeros = io::repeat(0).take(len - 129);
    let mut file = BufReader::new((&header[..]).chain(zeros).chain(&[1][..]));
    let (grid, peak) =
        peak(|| read_grid_from(&mut file, GridFormat::Npy, &ReadOptions::default()).unwrap());
    assert_eq!(grid.grid.voxels().collect::<Vec<_>>(), [dims.map(|d| d - 1)]);
    // A mask for each brick of the slab would be 64 bytes, 32 MiB.
    assert!(peak < 8 << 20, "{peak}");
}

/// The first voxel, and the one after the last, of each column along `axis` of a ball of diameter
/// `n - 2`.
fn flips_of_ball(n: u32, axis: usize) -> VoxelGrid {
    let middle = i64::from(n / 2);
    let columns = (0..n * n).flat_map(|i| {
        let [b, c] = [i % n, i / n].map(|c| i64::from(c) - middle);
        let length = (middle - 1).pow(2) - b * b - c * c;
        let half = u32::try_from(length).map_or(0, u32::isqrt);
        let ends = [middle as u32 - half, middle as u32 + half];
        ends.into_iter().filter(move |_| half > 0).map(move |a| {
            let mut voxel = [a, i % n, i / n];
            voxel.rotate_right(axis);
            voxel
        })
    });
    VoxelGrid::from_voxels([n; 3], columns).unwrap()
}

/// What `make` gives of `input` in the memory that it asks for, which it must not exceed; the peak,
/// that memory, and how often it was refused.
fn made_as_it_asks<I, T>(
    name: &str,
    input: impl Fn() -> I,
    make: impl Fn(I, u64) -> Result<T, BackendError>,
) -> (T, [u64; 2], u32) {
    let run = |memory| {
        let input = input();
        let (made, peak) = peak(|| make(input, memory));
        made.map(|made| (made, peak))
    };
    let ((made, peak), needed, refusals) = until_it_fits(name, run);
    println!("{name}: peak {peak}, needed {needed}");
    assert!(peak <= needed, "{name}: took {peak} bytes of {needed}");
    (made, [peak, needed], refusals)
}

/// A filling does not ask for much more than it takes.
fn checked_filling(name: &str, fill: impl Fn(u64) -> Result<VoxelGrid, BackendError>) {
    // Threads that start allocate.
    let expected = fill(u64::MAX).unwrap();
    let (grid, [peak, needed], refusals) = made_as_it_asks(name, || (), |(), memory| fill(memory));
    assert!(grid == expected && refusals == 1, "{name}: {refusals}");
    assert!(fill(needed - 1).is_err(), "{name}: less than {needed} bytes suffices");
    assert!(needed <= peak * 3 / 2, "{name} asked for {needed} bytes and took {peak}");
}

#[test]
fn filling_takes_no_more_memory_than_it_asks_for() {
    let _alone = alone();
    for n in [100, 700] {
        let flips = [0, 1, 2].map(|axis| flips_of_ball(n, axis));
        checked_filling("along x", |memory| Ok(along_x(&flips[0], [n; 3], memory, &NoProgress)?.0));
        checked_filling(
            "vote",
            |memory| Ok(vote(flips.each_ref(), [n; 3], memory, &NoProgress)?.0),
        );
        // Columns that end past the ball: in all, its shell.
        let shell = flips[0].union(&flips[1]).union(&flips[2]);
        checked_filling("flood", |memory| Ok(flood(&shell, memory, &NoProgress)?.0));
        // Some in doubt, in every layer.
        let hurt = flips[0].subtract(&scattered([n; 3], (20 * n * n) as usize));
        checked_filling("in doubt", |memory| {
            Ok(vote([&hurt, &flips[1], &flips[2]], [n; 3], memory, &NoProgress)?.0)
        });
    }
}

#[test]
fn solids_take_no_more_memory_than_they_are_allowed() {
    let _alone = alone();
    let whole = sphere(1.0, 40, 80);
    let open = first_triangles(&whole, 6000);
    let apart = apart(&sphere(1.0, 20, 40), 0.97);
    let meshes = [
        ("sphere", whole, 400),
        ("open sphere", open, 400),
        ("strip", moebius_strip(40, 8), 400),
        ("bottle", klein_bottle(40, 24), 400),
        ("triangles apart", apart, 40),
    ];
    let fills = [Fill::Auto, Fill::Parity, Fill::Winding, Fill::Flood, Fill::Vote];
    for ((name, mesh, size), fill) in meshes.iter().flat_map(|mesh| fills.map(|fill| (mesh, fill)))
    {
        let mesh = at_resolution(mesh, *size);
        let make = |memory| {
            let options = RunOptions { memory, ..RunOptions::default() };
            let mode = Mode::Solid(Solid { fill, include_surface: true });
            voxelize(&Cpu, &mesh, mode, &options, &NoProgress)
        };
        let expected = make(u64::MAX).unwrap().grid;
        // Each step knows what it needs when those before it are done.
        let name = format!("{name}, {fill}");
        let (voxels, _, refusals) = made_as_it_asks(&name, || (), |(), memory| make(memory));
        assert!(voxels.grid == expected && refusals <= 8, "{name}: {refusals}");
    }
}

#[test]
fn distances_take_no_more_memory_than_they_are_allowed() {
    let _alone = alone();
    let meshes = [("sphere", sphere(1.0, 40, 80)), ("cube", cube([0.0; 3], 1.0))];
    for ((name, mesh), width) in meshes.iter().flat_map(|mesh| [(mesh, 1.5), (mesh, 9.0)]) {
        let mesh = padded(mesh, resolution(150), 10);
        let inside = in_mode(&mesh, Mode::Solid(Solid::default())).grid;
        // The grid of the inside is moved into the result.
        let make = |memory| distances(&Cpu, &mesh, inside.clone(), width, memory, &NoProgress);
        let expected = make(u64::MAX).unwrap();
        // Less does not suffice for the queues of the threads.
        for memory in (18..32).map(|shift| 1 << shift) {
            let (field, peak) = peak(|| make(memory));
            let peak = peak - inside.bytes();
            println!("{name}, {width}: peak {peak} of {memory}");
            assert!(peak <= memory, "{name}, {width}: took {peak} bytes of {memory}");
            match field {
                Ok(field) => assert!(field == expected, "{name}, {width} in {memory} bytes"),
                Err(BackendError::Memory { needed, .. }) => assert!(needed > memory),
                Err(error) => panic!("{error}"),
            }
        }
        assert!(make(4 * expected.bytes() + (64 << 20)).is_ok(), "{name}, {width}");
        assert!(matches!(make(1 << 12), Err(BackendError::Memory { .. })), "{name}, {width}");
    }
}

fn within_memory(mode: Mode, memory: u64) -> ColorOptions {
    let mut options = ColorOptions::new(mode);
    options.memory = memory;
    options
}

#[test]
fn colours_take_no_more_memory_than_they_are_allowed() {
    let _alone = alone();
    // Squares in all layers, whose corners have colours of their own: all bricks are full.
    let layers = 65;
    let squares: Vec<Mesh> = (0..layers).map(|z| square(64.0, f64::from(z))).collect();
    let shade = |corner: u32| [0, 1, 2].map(|a| (corner * (7919 + 977 * a) % 65536) as u16);
    let colors = (0..4 * layers).map(shade).map(|[r, g, b]| [r, g, b, 65535]).collect();
    let mesh = at_voxel_size(&vertex_colored(together(&squares), colors), 1.0);
    let shell = Mode::Solid(Solid { fill: Fill::Flood, include_surface: true });
    for mode in [Mode::Surface, shell] {
        let grid = in_mode(&mesh, mode).grid;
        assert!(grid.bricks().all(|(_, mask)| mask == FULL));
        let run = |grid, memory| color(&mesh, grid, &within_memory(mode, memory), &NoProgress);
        let (colored, ..) = made_as_it_asks(&format!("{mode:?}"), || grid.clone(), run);
        assert!(colored.0.colors.unwrap().own_count() > 100_000);
    }
}

#[test]
fn attributes_take_no_more_memory_than_they_are_allowed() {
    let _alone = alone();
    // The inside of neither object is most of the voxels.
    let parts = [sphere(1.0, 40, 80), sphere(0.8, 20, 40)];
    let mesh = at_resolution(&Mesh::join(["a", "b"].into_iter().zip(&parts)).unwrap(), 150);
    let solid_by = |fill| Mode::Solid(Solid { fill, include_surface: true });
    let solid = solid_by(Fill::Winding);
    let of_surface = [Attribute::Normal, Attribute::Triangle, Attribute::Area];
    for (mode, set) in [
        (Mode::Surface, &of_surface[..]),
        (Mode::Surface, &[Attribute::Label]),
        (solid, &[Attribute::Label]),
        (solid, &[Attribute::Coverage]),
        // Its grid grows while slabs are added.
        (solid_by(Fill::Parity), &[Attribute::Coverage]),
    ] {
        let grid = in_mode(&mesh, mode).grid;
        let attributes_of = set.iter().copied().collect();
        let run = |(), memory| {
            attributes(&mesh, &grid, &attributes_of, &within_memory(mode, memory), &NoProgress)
        };
        let (found, _, refusals) = made_as_it_asks(&format!("{mode:?}, {set:?}"), || (), run);
        assert_eq!(found.attributes.set(), attributes_of);
        // The first refusal counts the values of a surface; only lists of triangles cause others.
        assert!(mode != Mode::Surface || refusals < 100, "{set:?}: {refusals} refusals");
    }
}

#[test]
fn the_lists_of_a_crowded_brick_count() {
    let _alone = alone();
    // Many small triangles in a brick, and a large one many times in all of them.
    let corners = [[0.0, 0.0, 0.5], [255.0, 0.0, 0.5], [0.0, 255.0, 0.5]];
    let repeated = Mesh::new(corners.to_vec(), vec![[0, 1, 2]; 4_000]).unwrap();
    for (mesh, resolution) in [(sphere(1.0, 150, 300), 8), (repeated, 256)] {
        let mesh = at_resolution(&in_turn(mesh, vec![plain(RED), plain(BLUE)]), resolution);
        let grid = in_mode(&mesh, Mode::Surface).grid;
        let with = |memory| within_memory(Mode::Surface, memory);
        let run = |grid, memory| color(&mesh, grid, &with(memory), &NoProgress);
        let (colored, _, refusals) = made_as_it_asks("colours", || grid.clone(), run);
        let whole = color(&mesh, grid.clone(), &with(u64::MAX), &NoProgress).unwrap();
        assert!(colored.0 == whole.0 && refusals > 1, "{refusals}");
        let set = [Attribute::Normal].into();
        let run = |(), memory| attributes(&mesh, &grid, &set, &with(memory), &NoProgress);
        made_as_it_asks("normals", || (), run);
    }
}

/// What the topology of `mesh` takes at its peak, which must not be more than it may.
fn checked_topology_peak(name: &str, mesh: &Mesh) -> (u64, u64) {
    let mesh = at_resolution(mesh, 256);
    let bound = Topology::bytes(&mesh);
    let (_, peak) = peak(|| Topology::of(&mesh));
    let len = mesh.len() as f64;
    println!("{name}: peak {:.1}, bound {:.1} a triangle", peak as f64 / len, bound as f64 / len);
    assert!(peak <= bound, "{name}: the topology took {peak} bytes, the bound was {bound}");
    (peak, bound)
}

#[test]
fn the_bound_on_the_topology_holds_and_ordinary_meshes_take_less_than_40_bytes_a_triangle() {
    let _alone = alone();
    checked_topology_peak("cube", &cube([0.0; 3], 1.0));
    let sphere = sphere(1.0, 300, 600);
    let (peak, bound) = checked_topology_peak("sphere", &sphere);
    let len = sphere.triangles().len() as u64;
    assert!(peak < 40 * len && bound < 48 * len, "{peak} and {bound} bytes for {len} triangles");
    checked_topology_peak("vertices repeated", &with_vertices_repeated(&sphere));

    // One vertex of all triangles, and so one list of half of all half-edges.
    let fan = sphere.triangles().iter().map(|&[_, b, c]| [0, b, c]).collect();
    checked_topology_peak("fan", &with_triangles(&sphere, fan));
    // All vertices but a few at one point.
    let mut positions = vec![[0.0; 3]; 300_000];
    positions.extend([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
    let point = (0..300_000).map(|i| [i, 300_000, 300_001]).collect();
    checked_topology_peak("point", &Mesh::new(positions, point).unwrap());
    // Far more vertices than triangles use.
    let mut positions = sphere.positions().to_vec();
    positions.extend((0..400_000).map(|i| [0.0, 0.0, f64::from(i) / 400_000.0]));
    let unused = Mesh::new(positions, sphere.triangles()[..1000].to_vec()).unwrap();
    checked_topology_peak("unused vertices", &unused);
}

#[test]
fn a_peak_counts_what_is_freed_again_and_both_copies_of_what_grows() {
    let _alone = alone();
    let (_, freed) = peak(|| drop(std::hint::black_box(vec![1_u8; 1 << 20])));
    assert!(freed.abs_diff(1 << 20) < HARNESS, "{freed}");
    let (_, grown) = peak(|| {
        let mut bytes = std::hint::black_box(vec![1_u8; 1 << 20]);
        bytes.reserve_exact(1 << 20);
        bytes
    });
    assert!(grown.abs_diff(3 << 20) < HARNESS, "{grown}");
}
