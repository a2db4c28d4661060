//! The fuzz targets on their corpus: the seeds, which are made here, and every input that ever
//! failed. `TRIVOX_BLESS=1 cargo test --test slow fuzz` writes the seeds.
//!
//! `TRIVOX_MUTATIONS=100000` sets how many changed inputs each target gets, and `TRIVOX_SEED`
//! which. `TRIVOX_FUZZ=folder` names another corpus to replay, such as one that `cargo fuzz` grew.
#![cfg(all(feature = "images", feature = "palette"))]
#[path = "../../fuzz/src/targets.rs"]
mod targets;

use crate::common::compression;
use crate::common::files::package_3mf;
use crate::common::prelude::*;
use std::panic::catch_unwind;

use trivox::formats::{MESH_FORMATS, write_grid};

type Target = fn(&[u8]);

const TARGETS: [(&str, Target); 6] = [
    ("fills", targets::fills),
    ("grids", targets::grids),
    ("meshes", targets::meshes),
    ("predicates", targets::predicates),
    ("round_trips", targets::round_trips),
    ("voxelize", targets::voxelize),
];

fn corpus() -> PathBuf {
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    environment::path("TRIVOX_FUZZ").unwrap_or_else(own)
}

/// The files of a folder, by name.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn every_input_of_the_corpus_passes() {
    for (name, target) in TARGETS {
        let inputs = files(&corpus().join(name));
        assert!(inputs.len() >= 4, "{name} has no corpus");
        for input in inputs {
            let bytes = fs::read(&input).unwrap();
            assert!(catch_unwind(|| target(&bytes)).is_ok(), "{}", input.display());
        }
    }
}

/// A few changes of `input`: bytes, numbers at the ends of their range, parts left out, repeated,
/// or taken from `other`.
fn mutated(rng: &mut Rng, input: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..1 << rng.u32(0..4) {
        if bytes.is_empty() {
            break;
        }
        let at = rng.usize(..bytes.len());
        let end = bytes.len().min(at + (1 << rng.u32(0..7)));
        match rng.u32(0..8) {
            0 => bytes[at] ^= 1 << rng.u32(0..8),
            1 => bytes[at] = rng.u8(..),
            2 => bytes[at] = *rng.choice(b"0129-.eE \n/\"[]{},").expect("some"),
            3 => {
                let value = *rng.choice(&[0u32, 1, !0, 1 << 31, !0 >> 1, 0xffff]).expect("some");
                let len = (bytes.len() - at).min(4);
                bytes[at..at + len].copy_from_slice(&value.to_le_bytes()[..len]);
            }
            4 => drop(bytes.drain(at..end)),
            5 => {
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            6 => bytes.truncate(at),
            _ => {
                let from = rng.usize(..=other.len());
                let part = other[from..other.len().min(from + (end - at))].to_vec();
                bytes.splice(at..end, part);
            }
        }
    }
    bytes
}

#[test]
fn changed_inputs_pass() {
    let count: u64 = environment::number("TRIVOX_MUTATIONS", 300);
    let seed: u64 = environment::number("TRIVOX_SEED", 1);
    for (name, target) in TARGETS {
        let read = |path: &PathBuf| fs::read(path).unwrap();
        let inputs: Vec<Vec<u8>> = files(&corpus().join(name)).iter().map(read).collect();
        let began = std::time::Instant::now();
        for round in 0..count {
            let mut rng = Rng::with_seed(seed << 32 | round);
            let [input, other] = [(); 2].map(|()| &inputs[rng.usize(..inputs.len())]);
            let bytes = mutated(&mut rng, input, other);
            if catch_unwind(|| target(&bytes)).is_err() {
                let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{round}"));
                fs::write(&path, &bytes).unwrap();
                panic!("{name}: {} fails", path.display());
            }
        }
        println!("{name}: {count} changed inputs in {:?}", began.elapsed());
    }
}

#[test]
fn the_seeds_are_those_that_this_program_makes() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    for (target, name, bytes) in seeds() {
        let path = corpus.join(target).join(name);
        if environment::blesses() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &bytes).unwrap();
        }
        let written = fs::read(&path).unwrap_or_default();
        let how = "TRIVOX_BLESS=1 cargo test --test slow fuzz";
        assert!(written == bytes, "{}: {how}", path.display());
    }
}

#[test]
fn the_seeds_of_readers_are_valid_files() {
    for (target, name, bytes) in seeds() {
        let format = usize::from(bytes[0]);
        if target == "meshes" {
            let [file, sidecar] = targets::files(&bytes[1..]);
            let sidecars = Sidecars::in_memory([("a.mtl", sidecar), ("a.bin", sidecar)]);
            let spec = MESH_FORMATS[format];
            let read = read_mesh_from(file.into(), spec, &sidecars, &ReadOptions::default());
            assert!(read.is_ok(), "{name}: {:?}", read.err());
        }
        if target == "grids" {
            let read = read_grid_from(
                &mut &bytes[1..],
                targets::grid_formats()[format],
                &ReadOptions::default(),
            );
            assert_eq!(read.unwrap().grid.occupied(), 515, "{name}");
        }
    }
}

/// Each seed's target, name and bytes.
fn seeds() -> Vec<(&'static str, String, Vec<u8>)> {
    let mut seeds = Vec::new();
    for (name, bytes) in mesh_files() {
        let extension = name.rsplit('.').next().unwrap();
        let format = MESH_FORMATS.iter().position(|spec| spec.extension == extension).unwrap();
        seeds.push(("meshes", name.to_owned(), [&[format as u8], &bytes[..]].concat()));
    }
    // A NanoVDB file is too large for a seed; `round_trips` changes bytes of those that it writes.
    let is_small = |(_, format): &(usize, GridFormat)| *format != GridFormat::Nvdb;
    for (number, format) in targets::grid_formats().into_iter().enumerate().filter(is_small) {
        for (name, grid) in [("plain", grid()), ("colored", colored())] {
            let mut bytes = vec![number as u8];
            write_grid(&grid, format, &mut bytes).unwrap();
            seeds.push(("grids", format!("{name}.{}", format.extension()), bytes));
        }
    }
    let mut rng = Rng::with_seed(1);
    let formats = GridFormat::ALL.len();
    for (target, count) in
        [("fills", 8), ("predicates", 8), ("voxelize", 8), ("round_trips", formats)]
    {
        for number in 0..count {
            let mut bytes: Vec<u8> = (0..60 + 20 * number).map(|_| rng.u8(..)).collect();
            // The kind of a grid or of triangles, and a grid's format.
            bytes[3] = number as u8;
            if target == "round_trips" {
                bytes[4] = number as u8;
            }
            seeds.push((target, format!("random-{number}"), bytes));
        }
    }
    seeds
}

/// Voxels in several bricks, one of them full.
fn grid() -> VoxelGrid {
    let full = voxels_in([8, 0, 0], [16, 8, 8]);
    let few = [[0, 0, 0], [17, 3, 4], [3, 11, 9]];
    let world = World::at([-1.5, 0.25, 2.0], 0.125, Up::Y);
    VoxelGrid::from_voxels([18, 12, 10], full.chain(few)).unwrap().with_world(world)
}

fn colored() -> VoxelGrid {
    let grid = grid();
    let own = grid.bricks().take(2).map(|(key, mask)| {
        let count = trivox::grid::count(&mask);
        (key, mask, (0..count).map(|n| [n as u8, 3, 9, 255]).collect())
    });
    let colors = Colors::from_bricks(own.collect(), [200, 40, 90, 255]);
    grid.with_colors(colors)
}

/// A part with a property, in a mirrored component.
const MODEL_3MF: &[u8] = br##"<model unit="inch"><resources>
<basematerials id="1"><base name="a" displaycolor="#FF8000"/></basematerials>
<object id="2" pid="1" pindex="0"><mesh><vertices><vertex x="0" y="0" z="0"/><vertex x="1" y="0" z="0"/>
<vertex x="0" y="1" z="0"/></vertices><triangles><triangle v1="0" v2="1" v3="2" p1="0"/></triangles></mesh></object>
<object id="3"><components><component objectid="2" transform="-1 0 0 0 1 0 0 0 1 3 0 0"/></components></object>
</resources><build><item objectid="2"/><item objectid="3"/></build></model>"##;

fn mesh_files() -> Vec<(&'static str, Vec<u8>)> {
    let written = |format| {
        let voxels = VoxelGrid::from_voxels([2, 1, 1], [[0, 0, 0], [1, 0, 0]]).unwrap();
        let mut bytes = Vec::new();
        let colors = Colors::uniform([200, 40, 90, 255]);
        write_grid(&voxels.with_colors(colors), format, &mut bytes).unwrap();
        bytes
    };
    let with_sidecar =
        |file: &str, sidecar: &[u8]| [file.as_bytes(), targets::SIDECAR, sidecar].concat();
    let text = |text: &str| text.as_bytes().to_vec();
    // Two triangles, 50 bytes each; the second has a colour.
    let mut stl = [&[b' '; 80][..], &2u32.to_le_bytes()].concat();
    for (color, corner) in [(0u16, 1.0f32), (0x801f, 2.0)] {
        let floats = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, corner, 0.0, 0.0, 0.0, corner, 0.5];
        stl.extend(floats.iter().flat_map(|c: &f32| c.to_le_bytes()));
        stl.extend(color.to_le_bytes());
    }
    let mut buffer: Vec<u8> = Vec::new();
    buffer.extend([0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0].map(f32::to_le_bytes).concat());
    buffer.extend([0f32, 0.0, 1.0, 0.0, 0.0, 1.0].map(f32::to_le_bytes).concat());
    buffer.extend([0u16, 1, 2].map(u16::to_le_bytes).concat());
    vec![
        ("voxels.obj", written(GridFormat::Obj)),
        ("voxels.ply", written(GridFormat::Ply)),
        ("voxels.glb", written(GridFormat::Glb)),
        ("draco.glb", compression::draco_glb()),
        ("meshopt.glb", compression::meshopt_glb()),
        ("binary.stl", stl),
        (
            "materials.obj",
            with_sidecar(
                "mtllib a.mtl\no part\nusemtl red\nv 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 0 1 0 0 0 1\n\
                 v 1 1 1\nvt 0 0\nvt 1 0\nvt 0 1\nvn 0 0 1\nf 1/1/1 2/2/1 3/3/1\nusemtl clear\n\
                 f -1 -2 -3 1\nl 1 2\n",
                b"newmtl red\nKd 1 0 0\nmap_Kd -s 2 2 2 -clamp on a.png\nnewmtl clear\nd 0.5\nTf 1 1 1\n",
            ),
        ),
        (
            "text.stl",
            text(
                "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n\
                 vertex 0 1e0 .5\nendloop\nendfacet\nendsolid a\n",
            ),
        ),
        (
            "text.ply",
            text(
                "ply\nformat ascii 1.0\ncomment TextureFile a.png\nelement vertex 4\n\
                 property float x\nproperty double y\nproperty float z\nproperty uchar red\n\
                 property uchar green\nproperty uchar blue\nelement face 2\n\
                 property list uchar int vertex_indices\nproperty list uchar float texcoord\n\
                 end_header\n0 0 0 255 0 0\n1 0 0 0 255 0\n0 1 0 0 0 255\n1 1 1 9 9 9\n\
                 3 0 1 2 6 0 0 1 0 0 1\n4 0 1 3 2 0\n",
            ),
        ),
        ("text.off", text("COFF # a comment\n4 2 0\n0 0 0 255 0 0 255\n1 0 0 0.5 0 0 1\n0 1 0 3\n1 1 1 \n3 0 1 2\n4 0 1 3 2 0.1 0.2 0.3\n")),
        ("package.3mf", package_3mf(MODEL_3MF)),
        (
            "buffer.gltf",
            with_sidecar(
                r#"{"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],
"nodes":[{"children":[1],"rotation":[0,0,0.7071,0.7071],"scale":[1,2,1]},{"mesh":0,"translation":[1,0,0]}],
"meshes":[{"primitives":[{"attributes":{"POSITION":0,"TEXCOORD_0":1},"indices":2,"material":0}]}],
"materials":[{"pbrMetallicRoughness":{"baseColorFactor":[1,0.5,0,1],"baseColorTexture":{"index":0}},"alphaMode":"MASK"}],
"textures":[{"source":0,"sampler":0}],"samplers":[{"wrapS":33071}],"images":[{"uri":"a.png"}],
"buffers":[{"uri":"a.bin","byteLength":66}],
"bufferViews":[{"buffer":0,"byteLength":36},{"buffer":0,"byteOffset":36,"byteLength":24},{"buffer":0,"byteOffset":60,"byteLength":6}],
"accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"},
{"bufferView":1,"componentType":5126,"count":3,"type":"VEC2"},
{"bufferView":2,"componentType":5123,"count":3,"type":"SCALAR"}]}"#,
                &buffer,
            ),
        ),
    ]
}
