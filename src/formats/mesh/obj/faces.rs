//! The third pass: faces, triangulated.

use std::ops::Range;

use rayon::prelude::*;

use crate::base::divided;
use crate::base::srgb::Linear;
use crate::formats::io::tokens::shown;
use crate::formats::mesh::flat_colors::{NO_COLOR, lacks_color};
use crate::formats::mesh::obj::contents::{Contents, Counts, Part};
use crate::formats::mesh::obj::libraries::Materials;
use crate::formats::mesh::obj::materials::Placement;
use crate::formats::mesh::obj::text::{
    Fault, Keyword, Words, after_keyword, first_word, visit, without_comment,
};
use crate::formats::mesh::obj::vertices::Vertices;
use crate::formats::mesh::polygons::{FaceFaults, Triangulator};
use crate::mesh::Labels;
use crate::mesh::appearance::is_placed;

/// The texture coordinates of a triangle without any.
const NO_UVS: [[f32; 2]; 3] = [[f32::NAN; 2]; 3];

/// The material of a triangle, and which of its appearance attributes are undefined.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Slot {
    pub(super) material: u32,
    /// No texture coordinates: the material without its images.
    pub(super) is_plain: bool,
    /// A vertex has no colour: the material without the colours of vertices.
    pub(super) is_colorless: bool,
}

impl Slot {
    /// The slot as 32 bits, the least of which are the flags.
    fn pack(self) -> u32 {
        4 * self.material + 2 * u32::from(self.is_colorless) + u32::from(self.is_plain)
    }

    pub(super) fn unpack(bits: u32) -> Self {
        Self { material: bits / 4, is_plain: bits & 1 != 0, is_colorless: bits & 2 != 0 }
    }
}

/// A statement that names the object or group of the faces after it.
#[derive(Debug)]
struct NameStatement {
    /// The first triangle after it.
    first: usize,
    is_group: bool,
    name: String,
}

/// The triangles of all faces of a text, in order.
#[derive(Debug, Default)]
pub(super) struct Faces {
    pub(super) triangles: Vec<[u32; 3]>,
    /// The packed [`Slot`] of each triangle; empty without materials.
    pub(super) slots: Vec<u32>,
    /// The texture coordinates of each triangle; empty without images.
    pub(super) uvs: Vec<[[f32; 2]; 3]>,
    names: Vec<NameStatement>,
    pub(super) faults: FaceFaults,
    /// The first face with an invalid index of a texture coordinate or normal.
    pub(super) bad_corners: Option<Fault>,
    /// The number of faces with such an index.
    pub(super) bad_corners_count: usize,
    pub(super) fault: Option<Fault>,
}

impl Faces {
    pub(super) fn of(contents: &Contents, vertices: &Vertices, materials: &Materials) -> Self {
        let parts = &contents.parts;
        let lengths =
            |is_kept: bool| parts.iter().map(move |part| if is_kept { part.triangles } else { 0 });
        let (has_slots, has_uvs) = (materials.any_defined, materials.any_mapped);
        let mut triangles = vec![[0; 3]; lengths(true).sum()];
        let mut slots = vec![0; lengths(has_slots).sum()];
        let mut uvs = vec![NO_UVS; lengths(has_uvs).sum()];
        let slot_parts = divided(&mut slots, lengths(has_slots));
        let appearances = slot_parts.into_iter().zip(divided(&mut uvs, lengths(has_uvs)));
        let buffers = divided(&mut triangles, lengths(true)).into_iter().zip(appearances);
        let work: Vec<_> = parts.iter().zip(buffers).enumerate().collect();
        let read = work.into_par_iter().map(|(at, (part, (triangles, (slots, uvs))))| {
            let mut reader = Reader {
                contents,
                vertices,
                materials,
                part: at,
                counts: part.before,
                material: part.material,
                triangles,
                slots,
                uvs,
                len: 0,
                corners: Vec::new(),
                triangulator: Triangulator::default(),
                others: Self::default(),
            };
            reader.read(part);
            reader.others.faults = reader.triangulator.faults;
            (reader.len, reader.others)
        });
        let read: Vec<(usize, Self)> = read.collect();

        let mut all = Self::default();
        let (mut start, mut end) = (0, 0);
        for (part, (len, read)) in parts.iter().zip(read) {
            let part_of = start..start + len;
            move_down(&mut triangles, part_of.clone(), end);
            move_down(&mut slots, part_of.clone(), end);
            move_down(&mut uvs, part_of, end);
            all.append(read, end);
            start += part.triangles;
            end += len;
        }
        triangles.truncate(end);
        slots.truncate(end);
        uvs.truncate(end);
        Self { triangles, slots, uvs, ..all }
    }

    /// Marks triangles with a vertex of [`NO_COLOR`]: the colour of their material applies.
    pub(super) fn mark_colorless(&mut self, colors: &[Linear]) {
        if colors.contains(&NO_COLOR) {
            self.slots.resize(self.triangles.len(), Slot::default().pack());
            for (packed, &triangle) in self.slots.iter_mut().zip(&self.triangles) {
                if lacks_color(triangle, colors) {
                    *packed = Slot { is_colorless: true, ..Slot::unpack(*packed) }.pack();
                }
            }
        }
    }

    /// The objects of the triangles; their groups where there are several, but no two objects.
    pub(super) fn labels(&self) -> Option<Labels> {
        let [objects, groups] = [false, true].map(|is_group| {
            let names = self.names.iter().filter(|statement| statement.is_group == is_group);
            let names = names.map(|statement| (statement.first, &statement.name[..]));
            Labels::of(names, self.triangles.len(), true)
        });
        let count = |labels: &Option<Labels>| labels.as_ref().map_or(0, |all| all.names().len());
        if count(&objects) > 1 || count(&groups) < 2 { objects.or(groups) } else { groups }
    }

    /// Merges the names, counts and faults of the next part, which begins at triangle `first`.
    fn append(&mut self, next: Self, first: usize) {
        let moved = |name: NameStatement| NameStatement { first: first + name.first, ..name };
        self.names.extend(next.names.into_iter().map(moved));
        self.faults.points_and_lines += next.faults.points_and_lines;
        self.faults.crossing += next.faults.crossing;
        self.bad_corners = self.bad_corners.take().or(next.bad_corners);
        self.bad_corners_count += next.bad_corners_count;
        self.fault = self.fault.take().or(next.fault);
    }
}

/// Moves a part to `end`: before it, polygons may have fewer triangles than counted. The list may
/// be empty.
fn move_down<T: Copy>(list: &mut [T], part: Range<usize>, end: usize) {
    if end < part.start && !list.is_empty() {
        list.copy_within(part, end);
    }
}

/// A corner of a face: the indices of its vertex and its texture coordinate.
#[derive(Debug, Clone, Copy)]
struct Corner {
    vertex: u32,
    uv: Option<u32>,
}

struct Reader<'a> {
    contents: &'a Contents<'a>,
    vertices: &'a Vertices,
    materials: &'a Materials,
    /// The part's index.
    part: usize,
    /// The numbers of vertices, texture coordinates and normals before the current statement.
    counts: Counts,
    material: u32,
    triangles: &'a mut [[u32; 3]],
    slots: &'a mut [u32],
    uvs: &'a mut [[[f32; 2]; 3]],
    /// Triangles so far.
    len: usize,
    /// The corners of the current face.
    corners: Vec<Corner>,
    triangulator: Triangulator,
    /// Names, counts and faults; no triangles.
    others: Faces,
}

impl Reader<'_> {
    fn read(&mut self, part: &Part) {
        if !part.has_faces {
            return;
        }
        let read = visit(part.text, |line, statement, keyword, words| {
            match keyword {
                Keyword::Face => self.face(line, words).map_err(|what| (line, what))?,
                Keyword::Vertex => self.counts[0] += 1,
                Keyword::Texcoord => self.counts[1] += 1,
                Keyword::Normal => self.counts[2] += 1,
                Keyword::Other => self.other(statement),
            }
            Ok(())
        });
        let fault = |(line, what)| Fault { part: self.part, line, what };
        self.others.fault = read.err().map(fault);
    }

    fn other(&mut self, statement: &str) {
        let keyword = first_word(statement).unwrap_or_default();
        match keyword {
            "usemtl" => {
                let name = after_keyword(statement);
                self.material = self.contents.materials.find(name).unwrap_or(0);
            }
            "o" | "g" => {
                let name = without_comment(after_keyword(statement)).trim_end().to_owned();
                let is_group = keyword == "g";
                self.others.names.push(NameStatement { first: self.len, is_group, name });
            }
            _ => {}
        }
    }

    #[inline]
    fn face(&mut self, line: usize, words: Words) -> Result<(), String> {
        self.corners.clear();
        let mut first_invalid = None;
        for word in words {
            if let Some(vertex) = self.resolve(word, 0) {
                self.corners.push(Corner { vertex, uv: None });
                continue;
            }
            let mut indices = word.split(|&byte| byte == b'/');
            let vertex = self.resolve(indices.next().unwrap_or_default(), 0);
            let vertex = vertex.ok_or_else(|| self.fault(word, 0))?;
            let mut uv = None;
            for kind in 1..3 {
                let text = indices.next().unwrap_or_default();
                if text.is_empty() {
                    continue;
                }
                let resolved = self.resolve(text, kind);
                if kind == 1 {
                    uv = resolved;
                }
                // Files without any texture coordinates or normals may still refer to them.
                let is_absent = self.contents.totals[kind] == 0 && index(text).is_some();
                if resolved.is_none() && !is_absent && first_invalid.is_none() {
                    first_invalid = Some(self.fault(word, kind));
                }
            }
            if indices.next().is_some() {
                return Err(format!("'{}' has more than three indices", shown(word)));
            }
            self.corners.push(Corner { vertex, uv });
        }
        if let Some(what) = first_invalid {
            self.corners.iter_mut().for_each(|corner| corner.uv = None);
            self.others.bad_corners_count += 1;
            self.others.bad_corners.get_or_insert(Fault { part: self.part, line, what });
        }
        let position =
            |corner: usize| self.vertices.positions[self.corners[corner].vertex as usize];
        let triangles = self.triangulator.face(self.corners.len(), position);
        triangles.iter().for_each(|&corners| self.add(corners));
        Ok(())
    }

    /// The index, from 0, of a vertex (`kind` 0), texture coordinate (1) or normal (2); `None` if
    /// it is invalid. A negative index is relative to the number of preceding statements.
    #[inline]
    fn resolve(&self, text: &[u8], kind: usize) -> Option<u32> {
        let index = index(text)?;
        let at = match index {
            1.. => index - 1,
            0 => return None,
            _ => self.counts[kind] as i64 + index,
        };
        let at = usize::try_from(at).ok().filter(|&at| at < self.contents.totals[kind])?;
        // Past 32 bits, `Mesh::new` fails.
        Some(at as u32)
    }

    /// The message about an invalid index of a corner `v`, `v/vt`, `v//vn` or `v/vt/vn`; `kind` as
    /// in [`resolve`](Self::resolve).
    #[cold]
    fn fault(&self, corner: &[u8], kind: usize) -> String {
        let corner_shown = shown(corner);
        let mut indices = corner.split(|&byte| byte == b'/');
        let text = indices.nth(kind).unwrap_or_default();
        if indices.nth(2 - kind).is_some() {
            return format!("'{corner_shown}' has more than three indices");
        }
        let name = ["vertex", "texture coordinate", "normal"][kind];
        match index(text) {
            None => format!("'{}' in '{corner_shown}' is not an index", shown(text)),
            Some(0) => format!("{name} index 0 in '{corner_shown}': indices start at 1"),
            Some(index) => {
                let counts = if index < 0 { self.counts } else { self.contents.totals };
                let limit = counts[kind];
                format!(
                    "{name} index {index} in '{corner_shown}' is out of range: there are {limit}"
                )
            }
        }
    }

    /// Adds the triangle between these corners of the current face.
    #[inline]
    fn add(&mut self, corners: [u32; 3]) {
        let corners = corners.map(|corner| self.corners[corner as usize]);
        self.triangles[self.len] = corners.map(|corner| corner.vertex);
        if self.materials.any_defined {
            let placement = self.materials.placement(self.material);
            let uvs = placement.map(|placement| self.placed_uvs(corners, placement));
            let (material, is_plain) = (self.material, uvs == Some(None));
            self.slots[self.len] = Slot { material, is_plain, is_colorless: false }.pack();
            if self.materials.any_mapped {
                self.uvs[self.len] = uvs.flatten().unwrap_or(NO_UVS);
            }
        }
        self.len += 1;
    }

    /// The texture coordinates of these corners, transformed by `placement` and flipped, as `v`
    /// points up in the file. `None` if one is undefined in the face, or not finite.
    fn placed_uvs(&self, corners: [Corner; 3], placement: Placement) -> Option<[[f32; 2]; 3]> {
        if self.corners.iter().any(|corner| corner.uv.is_none()) {
            return None;
        }
        let Placement { scale, offset } = placement;
        let mut uvs = NO_UVS;
        for (uv, corner) in uvs.iter_mut().zip(corners) {
            let [u, v] = self.vertices.texcoords[corner.uv? as usize];
            let moved = [u * scale[0] + offset[0], 1.0 - (v * scale[1] + offset[1])];
            *uv = moved.map(|coordinate| coordinate as f32);
        }
        is_placed(&uvs).then_some(uvs)
    }
}

#[inline]
fn index(word: &[u8]) -> Option<i64> {
    // 18 digits fit; few indices have more, or a sign.
    let digit =
        |value: i64, byte: &u8| byte.is_ascii_digit().then(|| 10 * value + i64::from(byte - b'0'));
    let digits = || word.iter().try_fold(0, digit);
    let is_short = (1..=18).contains(&word.len());
    is_short.then(digits).flatten().or_else(|| str::from_utf8(word).ok()?.parse().ok())
}
