//! An upper bound of the memory for reading a text, from the counts of its statements.
//!
//! The bound models the allocations of `tobj` 4.0 and of the standard library, so it holds for
//! every text; a test checks it. What counts do not determine is assumed at its worst: no two
//! corners of a group's faces share a vertex.

use crate::formats::obj::face_materials::{FaceMaterials, Names, has_uvs};
use crate::formats::obj::filter::{CORNER, FACE, Group};
use crate::formats::obj::text::{first_word, statements, without_comment};
use crate::formats::polygons::CUT;

/// Bytes of an entry of `tobj`'s hash maps: a key, a value and a control byte.
const ENTRY: u64 = 17;
/// Bytes of a finished group, besides its vectors.
const MODEL: u64 = 1024;
/// Bytes of a material in all its forms, besides its name and its file's text.
const MATERIAL: u64 = 1024;
/// Bytes independent of the text.
const REST: u64 = 64 << 10;

/// An upper bound of the peak memory of reading `text`, in bytes, `text` included.
pub(super) fn loading_memory(text: &str) -> u64 {
    let counts = Counts::of(text);
    let models: u64 = counts.groups.iter().map(|group| counts.model(group)).sum();
    let group = counts.groups.iter().map(|group| counts.while_grouped(group)).max();
    let while_parsed = counts.attributes() + group.unwrap_or(0);
    let while_gathered = counts.mesh() + counts.gathered() + CUT * counts.largest_face;
    // A line exists as a statement, as filtered and as parsed.
    let line = 3 * growing(counts.longest, 1) + 3 * CORNER as u64 * counts.largest_face;
    text.len() as u64
        + line
        + counts.face_materials()
        + models
        + while_parsed.max(while_gathered)
        + REST
}

/// An upper bound of [`loading_memory`] for all texts of `len` bytes. A corner takes at least two
/// bytes, and most memory in a polygon that is triangulated.
pub(super) fn at_worst(len: usize) -> u64 {
    1024 * len as u64 + REST
}

/// The statements of a text, counted.
#[derive(Default)]
struct Counts {
    positions: u64,
    colors: u64,
    texcoords: u64,
    normals: u64,
    triangles: u64,
    groups: Vec<Faces>,
    /// Bytes of the longest statement.
    longest: u64,
    /// Corners of the largest face.
    largest_face: u64,
    /// The names of materials and their files.
    names: Names,
    /// Faces whose material may differ from that of the face before.
    changes: u64,
    last_had_uvs: bool,
}

/// The faces of a group.
#[derive(Default)]
struct Faces {
    count: u64,
    corners: u64,
    /// Corners of faces with more than four.
    polygon_corners: u64,
}

impl Counts {
    fn of(text: &str) -> Self {
        let mut counts = Self { groups: vec![Faces::default()], ..Self::default() };
        let mut group = Group::default();
        for (_, statement) in statements(text) {
            counts.longest = counts.longest.max(statement.len() as u64);
            let line = without_comment(&statement);
            match first_word(line) {
                Some("v") => {
                    counts.positions += 1;
                    counts.colors += u64::from(most_numbers(line) >= 6);
                }
                Some("vt") => counts.texcoords += 1,
                Some("vn") => counts.normals += 1,
                Some("f" | "fo") => {
                    counts.add_face(most_numbers(line));
                    let has_uvs = has_uvs(line);
                    counts.changes += u64::from(has_uvs != counts.last_had_uvs);
                    counts.last_had_uvs = has_uvs;
                    if group.add(line) {
                        counts.groups.push(Faces::default());
                    }
                }
                Some("usemtl" | "mtllib") => {
                    counts.names.number(&statement);
                    counts.changes += 1;
                }
                _ => {}
            }
        }
        counts
    }

    fn add_face(&mut self, corners: u64) {
        self.triangles += corners.saturating_sub(2);
        self.largest_face = self.largest_face.max(corners);
        if let Some(faces) = self.groups.last_mut() {
            faces.count += 1;
            faces.corners += corners;
            faces.polygon_corners += if corners > 4 { corners } else { 0 };
        }
    }

    /// Bytes of colours: if some vertices have one, all get one.
    fn colors(&self) -> u64 {
        if self.colors > 0 { self.positions } else { 0 }
    }

    /// The vectors of positions, colours, texture coordinates and normals, all just reallocated.
    fn attributes(&self) -> u64 {
        let vectors = [3 * self.positions, 3 * self.colors(), 2 * self.texcoords, 3 * self.normals];
        vectors.iter().map(|&numbers| growing(numbers, 8)).sum()
    }

    /// Vertices of a group, texture coordinates and normals.
    fn distinct(&self, faces: &Faces) -> [u64; 3] {
        [self.positions, self.texcoords, self.normals].map(|all| all.min(faces.corners))
    }

    /// Bytes of a finished group.
    fn model(&self, faces: &Faces) -> u64 {
        let [positions, texcoords, normals] = self.distinct(faces);
        let colors = if self.colors > 0 { positions } else { 0 };
        let numbers = [3 * positions, 3 * colors, 2 * texcoords, 3 * normals];
        let numbers: u64 = numbers.iter().map(|&numbers| grown(numbers, 8)).sum();
        let indices = [positions, texcoords, normals].iter().filter(|&&used| used > 0).count();
        let indices = indices as u64 * grown(faces.corners, 4);
        numbers + indices + grown(faces.count, 4) + MODEL
    }

    /// Bytes that `tobj` needs until a group is finished: its faces, hash maps, and the old copies
    /// of reallocated vectors.
    fn while_grouped(&self, faces: &Faces) -> u64 {
        let maps = self.distinct(faces).map(|entries| growing(entries * 8 / 7, ENTRY));
        let polygons = 2 * CORNER as u64 * faces.polygon_corners;
        growing(faces.count, FACE as u64)
            + polygons
            + maps.iter().sum::<u64>()
            + self.model(faces) / 2
    }

    /// The memory of the materials of faces: names in a map and in order,
    /// the materials of these names and of these without their images, and which of them faces
    /// have.
    fn face_materials(&self) -> u64 {
        let count = self.names.len() as u64;
        let names =
            growing(count * 8 / 7, Names::ENTRY) + count * MATERIAL + 3 * self.names.bytes();
        names + growing(1 + self.changes, FaceMaterials::RUN)
    }

    /// The positions and triangles of all groups.
    fn mesh(&self) -> u64 {
        24 * self.vertices() + 12 * self.triangles
    }

    /// The appearance attributes of all groups.
    fn gathered(&self) -> u64 {
        let colors = if self.colors > 0 { 8 * self.vertices() } else { 0 };
        let materials = if self.has_materials() { 4 * self.triangles } else { 0 };
        let uvs = if self.has_materials() && self.texcoords > 0 { 24 * self.triangles } else { 0 };
        colors + materials + uvs
    }

    fn has_materials(&self) -> bool {
        self.names.len() > 0
    }

    fn vertices(&self) -> u64 {
        self.groups.iter().map(|group| self.distinct(group)[0]).sum()
    }
}

/// An upper bound of the tokens after the first: the number of spaces. Spaces outside ASCII take at
/// least two bytes.
fn most_numbers(line: &str) -> u64 {
    line.bytes().filter(|&byte| byte <= b' ' || byte >= 0x80).count() as u64
}

/// Bytes of a vector of `len` items that were pushed one by one.
fn grown(len: u64, item: u64) -> u64 {
    match len {
        0 => 0,
        _ => item * len.next_power_of_two().max(8),
    }
}

/// As [`grown`], at its peak: during a reallocation to twice the capacity.
fn growing(len: u64, item: u64) -> u64 {
    grown(len, item) / 2 * 3
}
