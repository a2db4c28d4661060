//! Filters the text for `tobj`: only the statements of the surface pass. Materials of faces and
//! omitted statements are recorded, so that nothing is dropped silently.
//!
//! `tobj` keeps the faces of a group in a list of about a hundred bytes each, and their vertices in
//! a hash map, until the group ends. Groups have no effect on voxels, so the filter replaces them
//! by groups whose list and map fit the CPU cache: for a million triangles, a quarter less time and
//! a third of the memory. A vertex used by several groups is duplicated for each, as with the
//! file's own groups.

use std::borrow::Cow;
use std::io::{self, BufRead, Read};

use crate::formats::obj::diagnose::{Counts, bad_corner};
use crate::formats::obj::face_materials::FaceMaterials;
use crate::formats::obj::text::{first_word, statements, without_comment};
use crate::formats::tally::Tally;

/// Statements without effect on the surface.
const HARMLESS: [&str; 30] = [
    "vp",
    "o",
    "g",
    "s",
    "mg",
    "bevel",
    "c_interp",
    "d_interp",
    "lod",
    "shadow_obj",
    "trace_obj",
    "maplib",
    "usemap",
    "ctech",
    "stech",
    "cstype",
    "deg",
    "bmat",
    "step",
    "parm",
    "trim",
    "hole",
    "scrv",
    "sp",
    "end",
    "con",
    "res",
    "unmerge",
    "merge",
    "curv2",
];

/// Bytes of an entry of `tobj`'s list of faces.
pub(super) const FACE: usize = 104;
/// Bytes per corner of a face with more than four, which `tobj` stores separately.
pub(super) const CORNER: usize = 24;

/// The memory that `tobj` has used for the faces of the current group.
#[derive(Debug, Default)]
pub(super) struct Group {
    bytes: usize,
}

impl Group {
    /// Limit in bytes, up to the rounding of allocations: large enough that few vertices are
    /// duplicated.
    const MOST: usize = 16 << 20;

    /// Counts a face. Returns whether the group should end after it.
    pub(super) fn add(&mut self, line: &str) -> bool {
        // Every second byte may be a corner.
        self.bytes += FACE + CORNER / 2 * line.len();
        let is_full = self.bytes >= Self::MOST;
        if is_full {
            self.bytes = 0;
        }
        is_full
    }
}

/// The omitted statements of a file.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    /// `p` and `l` statements.
    pub(super) points_and_lines: usize,
    /// Statements of curves, surfaces and patches.
    pub(super) free_form: usize,
    /// Statements that include a file or run a command.
    pub(super) calls: Tally,
    /// Unknown keywords.
    pub(super) unknown: Tally,
    /// Vertices with a seventh number, which is taken for an opacity.
    pub(super) opacities: usize,
    /// Vertices with a weight other than 1, which only rational curves and surfaces use.
    pub(super) weights: usize,
}

/// The statements that pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Part {
    All,
    /// Positions, texture coordinates and normals.
    Vertices,
    Faces,
}

/// How vertex colours pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Colors {
    /// Unchanged. If only some vertices have colours, `tobj` assigns them to the wrong vertices.
    AsWritten,
    /// One for each vertex: NaN if it has none.
    OfEachVertex,
}

/// How the corners of faces pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Corners {
    AsWritten,
    /// Faces with invalid indices of texture coordinates or normals pass without these.
    Checked(Counts),
}

/// A reader of the filtered text, for `tobj`.
pub(super) struct Feed<S> {
    statements: S,
    part: Part,
    colors: Colors,
    corners: Corners,
    /// Statements before this one.
    counts: Counts,
    /// The current line; unread from `at` on.
    line: String,
    at: usize,
    group: Group,
    is_group_full: bool,
    pub(super) face_materials: FaceMaterials,
    pub(super) left_out: LeftOut,
}

/// The feed of `part` of `text`.
pub(super) fn feed(
    text: &str,
    part: Part,
    colors: Colors,
    corners: Corners,
) -> Feed<impl Iterator<Item = Cow<'_, str>>> {
    Feed {
        statements: statements(text).map(|(_, statement)| statement),
        part,
        colors,
        corners,
        counts: Counts::default(),
        line: String::new(),
        at: 0,
        group: Group::default(),
        is_group_full: false,
        face_materials: FaceMaterials::default(),
        left_out: LeftOut::default(),
    }
}

impl<'a, S: Iterator<Item = Cow<'a, str>>> Feed<S> {
    /// Moves to the next line that passes; an empty line at the end.
    fn advance(&mut self) {
        self.at = 0;
        self.line.clear();
        if std::mem::take(&mut self.is_group_full) {
            self.line.push_str("g\n");
        }
        while self.line.is_empty()
            && let Some(statement) = self.statements.next()
        {
            self.take(&statement);
        }
    }

    fn take(&mut self, line: &str) {
        // A fast path for nearly all lines.
        match line.as_bytes() {
            [b'v', b' ', ..] => return self.vertex(line),
            [b'f', b' ', ..] => return self.face(line),
            _ => {}
        }
        let Some(keyword) = first_word(line) else {
            return;
        };
        match keyword {
            "v" => self.vertex(line),
            "vt" | "vn" => {
                self.counts.add(keyword);
                self.attribute(line);
            }
            "f" => self.face(line),
            // The keyword of faces in the oldest files; the replacement has the same length.
            "fo" => self.face(&line.replacen("fo", "f ", 1)),
            // A line of three points would be taken for a triangle.
            "p" | "l" => self.left_out.points_and_lines += 1,
            "curv" | "surf" | "bzp" | "bsp" | "cdc" | "cdp" => self.left_out.free_form += 1,
            "call" | "csh" => self.left_out.calls.add(line.trim()),
            "mtllib" => _ = self.face_materials.libraries.number(after(keyword, line)),
            "usemtl" => self.face_materials.set_material(after(keyword, line)),
            word if word.starts_with('#') || HARMLESS.contains(&word) => {}
            word => self.left_out.unknown.add(word),
        }
    }

    fn vertex(&mut self, line: &str) {
        self.counts.add("v");
        let bare = without_comment(line);
        if number_count(bare) == 4
            && let Some((position, weight)) = bare.trim_end().rsplit_once(char::is_whitespace)
            && let Ok(weight) = weight.parse::<f64>()
        {
            self.left_out.weights += usize::from(weight != 1.0);
            return self.position(position);
        }
        self.position(line);
    }

    fn position(&mut self, line: &str) {
        match self.colors {
            Colors::AsWritten => self.attribute(line),
            Colors::OfEachVertex => self.colored_vertex(without_comment(line)),
        }
    }

    fn colored_vertex(&mut self, line: &str) {
        // One more than the maximum.
        let words: Vec<&str> = line.split_whitespace().take(9).collect();
        self.left_out.opacities += usize::from(words.len() == 8);
        if self.part == Part::Faces {
            return;
        }
        let is_number = |word: &&str| word.parse::<f64>().is_ok();
        match words[..] {
            [_, _, _, _, ref color @ ..] if color.len() == 3 && color.iter().all(is_number) => {
                self.push(line);
            }
            [_, x, y, z, ref color @ ..] if matches!(color.len(), 0 | 3 | 4) => {
                let color = color.get(..3).filter(|color| color.iter().all(is_number));
                let [r, g, b] = color.map_or(["nan"; 3], |color| [color[0], color[1], color[2]]);
                self.push(&format!("v {x} {y} {z} {r} {g} {b}"));
            }
            _ => self.push(line),
        }
    }

    fn attribute(&mut self, line: &str) {
        if self.part != Part::Faces {
            self.push(without_comment(line));
        }
    }

    fn face(&mut self, line: &str) {
        if self.part == Part::Vertices {
            return;
        }
        let line = without_comment(line);
        if let Corners::Checked(totals) = self.corners
            && bad_corner(line, self.counts, totals).is_some()
        {
            let corners = line.split_whitespace().skip(1);
            let vertices = corners.map(|corner| corner.split('/').next().unwrap_or_default());
            let bare = vertices.fold("f".to_owned(), |line, vertex| line + " " + vertex);
            return self.add_face(&bare);
        }
        self.add_face(line);
    }

    fn add_face(&mut self, line: &str) {
        self.face_materials.add_face(line);
        self.push(line);
        self.is_group_full = self.group.add(line);
    }

    fn push(&mut self, line: &str) {
        self.line.push_str(line);
        self.line.push('\n');
    }
}

impl<'a, S: Iterator<Item = Cow<'a, str>>> BufRead for Feed<S> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.line.len() {
            self.advance();
        }
        Ok(&self.line.as_bytes()[self.at..])
    }

    fn consume(&mut self, amount: usize) {
        self.at += amount;
    }

    /// Faster than the default, which searches the line end and validates UTF-8.
    fn read_line(&mut self, line: &mut String) -> io::Result<usize> {
        if self.at == self.line.len() {
            self.advance();
        }
        let rest = &self.line[self.at..];
        line.push_str(rest);
        self.at = self.line.len();
        Ok(rest.len())
    }
}

impl<'a, S: Iterator<Item = Cow<'a, str>>> Read for Feed<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

/// The rest of a line after its keyword.
fn after<'a>(keyword: &str, line: &'a str) -> &'a str {
    line.trim_start()[keyword.len()..].trim()
}

/// The number of tokens after the keyword of a line.
fn number_count(line: &str) -> usize {
    let is_space = |byte: u8| matches!(byte, b' ' | b'\t'..=b'\r');
    let mut before = true;
    let starts = line.bytes().filter(|&byte| {
        let is_start = before && !is_space(byte);
        before = is_space(byte);
        is_start
    });
    starts.count().saturating_sub(1)
}
