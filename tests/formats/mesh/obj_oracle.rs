//! The OBJ reader and the crate `tobj` read the same triangles, from real files and from mutated
//! ones.
//!
//! `tobj` refuses more files: it knows no comments after numbers, no continued lines,
//! no colours of some vertices only, no vertices after the group that uses them, and no invalid
//! texture coordinates. Besides, these differ on purpose:
//! - `l` and `p`: `tobj` takes a line of three points for a triangle. They are not compared.
//! - A carriage return alone: `tobj` ends no line there. It is not compared, nor what is not ASCII.
//! - `fo`, the keyword of faces in the oldest files: `tobj` skips it. It is not compared.
//! - Weights of vertices: `tobj` divides by them, but only rational curves and surfaces use them.
//! - Vertices of too many numbers, corners of more than three indices of which some are empty, and
//!   coordinates that are not finite: `tobj` reads them.
//! - Polygons: `tobj` has no correct triangulation, so only their corners are compared.

use super::change;
use crate::common::prelude::*;
use std::panic::catch_unwind;

/// `tobj` has 32-bit floats, without the feature by which it would have others in the library too.
type Point = [f32; 3];

/// The faces that `tobj` reads; `None` where it refuses the file, or panics.
fn faces(text: &str) -> Option<Vec<Vec<Point>>> {
    let is_compared = |line: &&str| !matches!(line.split_whitespace().next(), Some("l" | "p"));
    let lines: Vec<&str> = text.lines().filter(is_compared).collect();
    let text = lines.join("\n");
    let load = || {
        let materials = |_: &Path| Ok(Default::default());
        tobj::load_obj_buf(&mut text.as_bytes(), &tobj::LoadOptions::default(), materials)
    };
    let (models, _) = catch_unwind(load).ok()?.ok()?;
    let mut faces = Vec::new();
    for mesh in models.into_iter().map(|model| model.mesh) {
        let (positions, _) = mesh.positions.as_chunks::<3>();
        let points: Vec<Point> = mesh.indices.iter().map(|&i| positions[i as usize]).collect();
        let mut rest = &points[..];
        let triangles = vec![3; if mesh.face_arities.is_empty() { points.len() / 3 } else { 0 }];
        for arity in [mesh.face_arities, triangles].concat() {
            let (face, after) = rest.split_at(arity as usize);
            rest = after;
            faces.push(face.to_vec());
        }
    }
    Some(faces)
}

fn read(bytes: &[u8]) -> Result<LoadedMesh, ReadError> {
    super::read_as("obj", bytes, &ReadOptions { appearance: false, ..ReadOptions::default() })
}

fn triangles(loaded: &LoadedMesh) -> Vec<[Point; 3]> {
    let positions = loaded.mesh.positions();
    let point = |i: u32| positions[i as usize].map(|c| c as f32);
    loaded.mesh.triangles().iter().map(|t| t.map(point)).collect()
}

/// Whether these triangles are those of the faces, in order: a triangle itself; of a polygon some
/// with its corners. One that crosses itself may have fewer or more than others, so all numbers
/// are tried.
fn are_same(faces: &[Vec<Point>], triangles: &[[Point; 3]]) -> bool {
    let mut ends = BTreeSet::from([0]);
    for face in faces.iter().filter(|face| face.len() >= 3) {
        let is_of_face = |triangle: &&[Point; 3]| match face.len() {
            3 => triangle[..] == face[..],
            _ => triangle.iter().all(|corner| face.contains(corner)),
        };
        let ends_after = |start: usize| {
            let most = triangles[start..].iter().take(2 * face.len() - 5).take_while(is_of_face);
            start + 1..=start + most.count()
        };
        ends = ends.into_iter().flat_map(ends_after).collect();
    }
    ends.contains(&triangles.len())
}

#[test]
fn real_files_have_the_same_triangles() {
    let mut folders = vec![std::path::PathBuf::from("assets")];
    folders.extend(environment::models());
    let mut read_files = 0;
    for folder in folders {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.extension().is_none_or(|extension| extension != "obj") {
                continue;
            }
            let bytes = std::fs::read(&path).unwrap();
            let expected = faces(&String::from_utf8_lossy(&bytes)).unwrap();
            let found = triangles(&read(&bytes).unwrap());
            assert!(are_same(&expected, &found), "{}", path.display());
            // A wrong triangle would be seen.
            let mut wrong = found;
            let last = wrong.last_mut().unwrap();
            last[1] = last[1].map(|c| c + 1.0);
            assert!(!are_same(&expected, &wrong), "{}", path.display());
            read_files += 1;
        }
    }
    assert!(read_files >= 3, "{read_files}");
}

#[cfg(feature = "tobj")]
#[test]
fn models_of_tobj_are_a_mesh() {
    let text = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv .5 .25 0\nf 1 5 2 3 4\no b\nf 1 2 3\nl 1 2\n";
    let materials = |_: &Path| Ok(Default::default());
    let options = tobj::LoadOptions { ignore_lines: true, ..Default::default() };
    let (models, _) = tobj::load_obj_buf(&mut text.as_bytes(), &options, materials).unwrap();
    let mesh = trivox::Mesh::try_from(&models[..]).unwrap();
    let loaded = read(text.as_bytes()).unwrap();
    assert!(corners_of(&mesh).eq(corners_of(&loaded.mesh)));
    let mut wrong = models;
    wrong[0].mesh.indices[0] = 9999;
    assert!(trivox::Mesh::try_from(&wrong[..]).is_err());
}

/// Some of all statements, as `tobj` reads them too.
const SEED_FILE: &str = "mtllib a.mtl\no thing\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv .5 .5 1e0\n\
v -1.25 7.0625 0.1\nvt 0 0\nvt 1 1\nvn 0 0 1\nusemtl red\ng a b\nf 1 2 3\nf 1/1/1 2/2/1 3/-1/-1\n\
f -1 -2 -3\nv 3 4 5\nf 1//1 2//1 7//1\nf 1 2 3 4\ns off\ng c\nf -7 -6 -1\nf 4 5 6\n";

/// Fragments that are likelier than random bytes to reach odd places, between bars.
const FRAGMENTS: &str = "\n| |\t|/|//|-|0|9|1|.|e5|99999999999999999999|nan|-0|f |\nf 3 2 1|\
    \nf 1 2 3 4 5|\nv 2 2 2|\nvt 1|\ng|\nusemtl|\r\n";

#[test]
fn mutated_files_have_the_same_triangles() {
    let (mut compared, mut only_ours, mut refused) = (0, 0, 0);
    for seed in 0..80_000 {
        let mut rng = Rng::with_seed(seed);
        let mut bytes = SEED_FILE.as_bytes().to_vec();
        (0..rng.u32(1..=4)).for_each(|_| change(&mut rng, &mut bytes, FRAGMENTS));
        let text = String::from_utf8_lossy(&bytes);
        let is_of_text = |byte| matches!(byte, b' '..=b'~' | b'\t' | b'\n');
        let is_text = text.replace("\r\n", "\n").bytes().all(is_of_text);
        let is_compared = |line: &str| {
            let keyword = line.split_whitespace().next().unwrap_or_default();
            keyword != "fo" && !line.contains('\\')
        };
        if !is_text || !text.lines().all(is_compared) {
            continue;
        }
        let ours = catch_unwind(|| read(text.as_bytes()));
        let ours = ours.unwrap_or_else(|_| panic!("seed {seed} panicked: {text:?}"));
        match (faces(&text), ours) {
            (Some(_), Ok(loaded)) if loaded.warnings.concat().contains("a weight") => {}
            (Some(expected), Ok(loaded)) => {
                let found = triangles(&loaded);
                assert!(are_same(&expected, &found), "seed {seed}: {text:?}: {found:?}");
                compared += 1;
            }
            (Some(_), Err(error)) => {
                let message = error.to_string();
                let on_purpose = ["not a finite", "numbers where 3", "no faces", "more than three"];
                let is_known = on_purpose.iter().any(|known| message.contains(known));
                assert!(is_known, "seed {seed}: {message}: {text:?}");
                refused += 1;
            }
            (None, Ok(_)) => only_ours += 1,
            (None, Err(_)) => {}
        }
    }
    println!("{compared} compared, {only_ours} read by ours only, {refused} refused by ours only");
    assert!(compared > 5_000, "{compared}");
}
