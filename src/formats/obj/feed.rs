//! What of a text `tobj` is given: the statements that make the surface, and they alone. The rest
//! is counted, so that nothing is left out in silence.
//!
//! `tobj` keeps the faces of a group in a list of some hundred bytes each, and finds their vertices
//! in a hash map, until the next group begins. The groups of the file mean nothing to voxels, so
//! groups are made instead that are small enough for both to stay near the processor: of a million
//! triangles, a quarter less time and a third of the memory. A vertex that several groups use is in
//! the mesh once for each, as it is where the file has the groups.

use std::borrow::Cow;
use std::io::{self, BufRead, Read};
use std::path::Path;

use crate::formats::excerpt;
use crate::formats::obj::text::{first_word, statements, without_comment};

/// Statements without effect on the shape.
const HARMLESS: [&str; 31] = [
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
    "usemtl",
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
/// Bytes of a corner of a face with more than four, which are kept apart.
pub(super) const CORNER: usize = 24;

/// The memory that `tobj` needs for the faces of a group, as it is used up.
#[derive(Debug, Default)]
pub(super) struct Group {
    bytes: usize,
}

impl Group {
    /// Bytes, up to the rounding of allocations: enough that few vertices are repeated.
    const MOST: usize = 16 << 20;

    /// Counts a face. Whether the group should end with it.
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

/// What was left out of a file.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    /// `p` and `l` statements.
    pub(super) points_and_lines: usize,
    /// Statements of curves, surfaces and patches.
    pub(super) free_form: usize,
    /// Lines that would include a file or run a command.
    pub(super) calls: Named,
    /// Words that begin a line and are no OBJ keywords.
    pub(super) unknown: Named,
    /// Material files that are not there.
    pub(super) missing: Named,
}

/// Things of which the first few are told by name.
#[derive(Debug, Default)]
pub(super) struct Named {
    pub(super) names: Vec<String>,
    /// How often any was met.
    pub(super) count: usize,
    /// How often one that is not in `names` was met.
    pub(super) others: usize,
}

impl Named {
    fn add(&mut self, name: &str) {
        const MOST: usize = 3;
        let name = excerpt(name);
        self.count += 1;
        match self.names.len() {
            _ if self.names.contains(&name) => {}
            0..MOST => self.names.push(name),
            _ => self.others += 1,
        }
    }

    /// The names in quotation marks.
    pub(super) fn quoted(&self) -> String {
        let names: Vec<String> = self.names.iter().map(|name| format!("'{name}'")).collect();
        names.join(", ")
    }
}

/// Which statements are fed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Part {
    All,
    /// Positions, texture coordinates and normals.
    Vertices,
    Faces,
}

/// The statements of a text that make the surface, for `tobj` to read.
pub(super) struct Feed<'a, S> {
    statements: S,
    part: Part,
    folder: &'a Path,
    /// What is being read, from `at` on.
    line: String,
    at: usize,
    group: Group,
    is_group_full: bool,
    pub(super) left_out: LeftOut,
}

/// The feed of `part` of `text`, whose material files should be in `folder`.
pub(super) fn feed<'a>(
    text: &'a str,
    part: Part,
    folder: &'a Path,
) -> Feed<'a, impl Iterator<Item = Cow<'a, str>>> {
    Feed {
        statements: statements(text).map(|(_, statement)| statement),
        part,
        folder,
        line: String::new(),
        at: 0,
        group: Group::default(),
        is_group_full: false,
        left_out: LeftOut::default(),
    }
}

impl<'a, S: Iterator<Item = Cow<'a, str>>> Feed<'a, S> {
    /// Takes the next line that is fed; an empty one where there are no more.
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
        // Nearly all lines, at once.
        match line.as_bytes() {
            [b'v', b' ', ..] => return self.vertex(line),
            [b'f', b' ', ..] => return self.face(line),
            _ => {}
        }
        let Some(keyword) = first_word(line) else {
            return;
        };
        match keyword {
            "v" | "vt" | "vn" => self.vertex(line),
            "f" => self.face(line),
            // The keyword of faces in the oldest files, as long as it is.
            "fo" => self.face(&line.replacen("fo", "f ", 1)),
            // A line of three points would be taken for a triangle.
            "p" | "l" => self.left_out.points_and_lines += 1,
            "curv" | "surf" | "bzp" | "bsp" | "cdc" | "cdp" => self.left_out.free_form += 1,
            "call" | "csh" => self.left_out.calls.add(line.trim()),
            "mtllib" => self.materials(line.trim_start()[keyword.len()..].trim()),
            word if word.starts_with('#') || HARMLESS.contains(&word) => {}
            word => self.left_out.unknown.add(word),
        }
    }

    fn vertex(&mut self, line: &str) {
        if self.part != Part::Faces {
            self.push(without_comment(line));
        }
    }

    fn face(&mut self, line: &str) {
        if self.part == Part::Vertices {
            return;
        }
        let line = without_comment(line);
        self.push(line);
        self.is_group_full = self.group.add(line);
    }

    /// Counts those of the files called `names` that are not there. There may be spaces in a name.
    fn materials(&mut self, names: &str) {
        let is_there = |name: &str| self.folder.join(name).is_file();
        if is_there(names) {
            return;
        }
        let each = without_comment(names).split_inclusive(".mtl ").map(str::trim);
        let missing = each.filter(|name| !name.is_empty() && !is_there(name));
        missing.for_each(|name| self.left_out.missing.add(name));
    }

    fn push(&mut self, line: &str) {
        self.line.push_str(line);
        self.line.push('\n');
    }
}

impl<'a, S: Iterator<Item = Cow<'a, str>>> BufRead for Feed<'a, S> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.line.len() {
            self.advance();
        }
        Ok(&self.line.as_bytes()[self.at..])
    }

    fn consume(&mut self, amount: usize) {
        self.at += amount;
    }

    /// As without, but for the search of the line's end and the check of its encoding.
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

impl<'a, S: Iterator<Item = Cow<'a, str>>> Read for Feed<'a, S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}
