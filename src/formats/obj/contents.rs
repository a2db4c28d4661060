//! The first pass: counts the statements of a text, and collects its names. The counts give the
//! sizes of all buffers, the memory, and the vertices before each face, which relative indices
//! need.

use std::cmp::Reverse;
use std::convert::Infallible;

use crate::formats::ReadError;
use crate::formats::obj::names::{Names, Uses};
use crate::formats::obj::parallel::{Fault, each};
use crate::formats::obj::text::{Keyword, after_keyword, first_word, parts, visit};
use crate::formats::polygons::CUT;
use crate::formats::tally::Named;

/// Bytes of text that a thread parses at a time: little enough for the CPU cache.
const PART: usize = 256 << 10;
/// Bytes of memory per vertex: a position, a colour, and the colour in linear light.
const VERTEX: u64 = 24 + 24 + 8;
/// Bytes of memory per triangle with materials: a slot and texture coordinates.
const PAINTED: u64 = 4 + 24;
/// Bytes of memory per corner of the largest polygon: the corner, as its list grows, and its
/// triangulation.
const POLYGON: u64 = 36 + 24 + CUT;
/// Bytes of a material in all its forms, besides its name and its file's text.
const MATERIAL: u64 = 1024;
/// Bytes of memory independent of the text.
const REST: u64 = 64 << 10;

/// Statements without effect on the surface.
const HARMLESS: [&str; 30] = [
    "g",
    "s",
    "o",
    "vp",
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

/// Numbers of vertices, texture coordinates and normals.
pub(super) type Counts = [usize; 3];

/// The omitted statements of a file.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    /// `p` and `l` statements.
    pub(super) points_and_lines: usize,
    /// Statements of curves, surfaces and patches.
    pub(super) free_form: usize,
    /// Statements that include a file or run a command.
    pub(super) calls: Named,
    /// Unknown keywords.
    pub(super) unknown: Named,
}

impl LeftOut {
    fn append(&mut self, other: Self) {
        self.points_and_lines += other.points_and_lines;
        self.free_form += other.free_form;
        self.calls.append(other.calls);
        self.unknown.append(other.unknown);
    }
}

/// A part of a text.
#[derive(Debug)]
pub(super) struct Part<'a> {
    pub(super) text: &'a str,
    /// Numbers of its own statements.
    pub(super) counts: Counts,
    /// Numbers of the statements in the parts before it.
    pub(super) before: Counts,
    pub(super) has_faces: bool,
    /// An upper bound of its triangles.
    pub(super) triangles: usize,
    /// The material at its beginning.
    pub(super) material: u32,
}

/// The contents of a text.
#[derive(Debug, Default)]
pub(super) struct Contents<'a> {
    pub(super) parts: Vec<Part<'a>>,
    pub(super) totals: Counts,
    /// The arguments of `mtllib`: possibly several files, possibly with a comment.
    pub(super) libraries: Names,
    pub(super) materials: Uses,
    pub(super) left_out: LeftOut,
    /// An upper bound of the memory for reading, in bytes, `text` included.
    pub(super) memory: u64,
}

/// What is found in a part.
#[derive(Default)]
struct Found {
    counts: Counts,
    faces: usize,
    triangles: usize,
    libraries: Names,
    materials: Uses,
    /// The last material that was set, if any was.
    material: Option<u32>,
    /// Whether faces have the material of the part before.
    inherits: bool,
    left_out: LeftOut,
    /// Bytes for the largest polygon and the longest statement.
    scratch: u64,
}

impl<'a> Contents<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let mut contents = Self::default();
        let texts = parts(text, PART);
        let all = each(texts.clone(), Found::of);
        let mut scratch: Vec<u64> = all.iter().map(|found| found.scratch).collect();
        let mut names = 0;
        let mut material = 0;
        let mut triangles = 0;
        for (text, found) in texts.into_iter().zip(all) {
            names += found.materials.names.bytes() + found.libraries.bytes();
            triangles += found.triangles;
            contents.parts.push(Part {
                text,
                counts: found.counts,
                before: contents.totals,
                has_faces: found.faces > 0,
                triangles: found.triangles,
                material,
            });
            for (total, count) in contents.totals.iter_mut().zip(found.counts) {
                *total += count;
            }
            for name in found.libraries.in_order() {
                contents.libraries.number(name);
            }
            if found.inherits {
                contents.materials.set_used(material);
            }
            let locals = [""].into_iter().chain(found.materials.names.in_order());
            for (local, name) in (0..).zip(locals) {
                let number = contents.materials.number(name);
                if found.materials.is_used(local) {
                    contents.materials.set_used(number);
                }
                if found.material == Some(local) {
                    material = number;
                }
            }
            contents.left_out.append(found.left_out);
        }
        // The most that all threads have at one time.
        scratch.sort_by_key(|&bytes| Reverse(bytes));
        let scratch: u64 = scratch.iter().take(rayon::current_num_threads()).sum();
        let [vertices, texcoords, _] = contents.totals.map(|count| count as u64);
        let count = contents.materials.names.len() as u64;
        let painted = if count > 0 { PAINTED } else { 0 };
        names += contents.materials.names.bytes() + contents.libraries.bytes() + count * MATERIAL;
        contents.memory = text.len() as u64
            + VERTEX * vertices
            + 16 * texcoords
            + (12 + painted) * triangles as u64
            + names
            + scratch
            + 512 * contents.parts.len() as u64
            + REST;
        contents
    }

    /// An error with its line.
    pub(super) fn error(&self, fault: Fault) -> ReadError {
        let before = self.parts[..fault.part].iter().map(|part| part.text);
        let ends = |text: &str| text.bytes().filter(|&byte| byte == b'\n').count();
        ReadError::Line { line: before.map(ends).sum::<usize>() + fault.line, what: fault.what }
    }
}

impl Found {
    fn of(text: &str) -> Self {
        let mut found = Self::default();
        let Ok(()) = visit(text, |_, statement, keyword, words| -> Result<(), Infallible> {
            // Joined, with ASCII spaces, and both as they grow.
            found.scratch = found.scratch.max(6 * statement.len() as u64);
            match keyword {
                Keyword::Vertex => found.counts[0] += 1,
                Keyword::Texcoord => found.counts[1] += 1,
                Keyword::Normal => found.counts[2] += 1,
                Keyword::Face => found.face(words.count()),
                Keyword::Other => found.other(statement),
            }
            Ok(())
        });
        found
    }

    fn other(&mut self, statement: &str) {
        match first_word(statement).unwrap_or_default() {
            "usemtl" => self.material = Some(self.materials.number(after_keyword(statement))),
            "mtllib" => _ = self.libraries.number(after_keyword(statement)),
            "p" | "l" => self.left_out.points_and_lines += 1,
            "curv" | "surf" | "bzp" | "bsp" | "cdc" | "cdp" => self.left_out.free_form += 1,
            "call" | "csh" => self.left_out.calls.add(statement.trim()),
            word if word.is_empty() || word.starts_with('#') || HARMLESS.contains(&word) => {}
            word => self.left_out.unknown.add(word),
        }
    }

    #[inline]
    fn face(&mut self, corners: usize) {
        self.faces += 1;
        self.triangles += corners.saturating_sub(2);
        self.scratch = self.scratch.max(POLYGON * corners as u64);
        match self.material {
            Some(material) => self.materials.set_used(material),
            None => self.inherits = true,
        }
    }
}
