//! The first pass: counts the statements of a text, and collects its names. The counts give the
//! sizes of all buffers, the memory, and the vertices before each face, which relative indices
//! need.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::convert::Infallible;
use std::mem::take;

use rayon::prelude::*;

use crate::formats::ReadError;
use crate::formats::io::warnings::NameCounts;
use crate::formats::mesh::obj::text::{Fault, Keyword, after_keyword, first_word, parts, visit};
use crate::formats::mesh::polygons::{TRIANGULATION, most_triangles};
use crate::mesh::Labels;

/// Bytes of text that a thread parses at a time: little enough for the CPU cache.
const PART: usize = 256 << 10;
/// Bytes of memory per vertex: a position, a colour, and the colour in linear light.
const VERTEX: u64 = 24 + 24 + 8;
/// Bytes of memory per triangle: its vertices and its slot.
const TRIANGLE: u64 = 12 + 4;
/// More bytes per triangle with materials: texture coordinates.
const PAINTED: u64 = 24;
/// Bytes of memory per corner of the largest polygon: the corner, as its list grows, and its
/// triangulation.
const POLYGON: u64 = 36 + 24 + TRIANGULATION;
/// Bytes of a material in all its forms, besides its name and its file's text.
const MATERIAL: u64 = 1024;
/// Bytes of memory per part: its counts, and empty lists of names.
const PART_BYTES: u64 = 1024;
/// Bytes of memory independent of the text.
const REST: u64 = 64 << 10;

/// Statements without effect on the surface.
const HARMLESS: &str = "\
    s vp mg bevel c_interp d_interp lod shadow_obj trace_obj maplib usemap ctech \
    stech cstype deg bmat step parm trim hole scrv sp end con res unmerge merge \
    curv2";

/// The keyword of comments in which ZBrush writes the colours of vertices.
pub(super) const PAINTED_KEYWORD: &str = "#MRGB";

/// Numbers of vertices, texture coordinates and normals.
pub(super) type Counts = [usize; 3];

/// The omitted statements of a file.
#[derive(Debug, Default)]
pub(super) struct Skipped {
    /// `p` and `l` statements.
    pub(super) points_and_lines: u64,
    /// Statements of curves, surfaces and patches.
    pub(super) free_form: usize,
    /// Statements that include a file or run a command.
    pub(super) calls: NameCounts,
    /// Unknown keywords.
    pub(super) unknown: NameCounts,
}

impl Skipped {
    fn append(&mut self, other: Self) {
        self.points_and_lines += other.points_and_lines;
        self.free_form += other.free_form;
        self.calls.append(other.calls);
        self.unknown.append(other.unknown);
    }
}

#[derive(Debug, Default)]
pub(super) struct Part<'a> {
    pub(super) text: &'a str,
    /// Numbers of its own statements.
    pub(super) counts: Counts,
    /// Numbers of the statements in the parts before it.
    pub(super) before: Counts,
    /// Whether it has faces or names of objects.
    pub(super) has_faces: bool,
    /// Bytes for the colours of vertices in comments.
    pub(super) painted: u64,
    /// An upper bound of its triangles.
    pub(super) triangles: usize,
    /// The material at its beginning.
    pub(super) material: u32,
    /// The last material that was set, if any was.
    last_material: Option<u32>,
    /// Whether its first faces have the last material of the part before.
    inherits: bool,
    libraries: Names,
    materials: Names,
    skipped: Skipped,
    /// Bytes for the names of objects and groups.
    objects: u64,
    /// Bytes for the largest polygon and the longest statement.
    scratch: u64,
}

#[derive(Debug, Default)]
pub(super) struct Contents<'a> {
    pub(super) parts: Vec<Part<'a>>,
    pub(super) totals: Counts,
    /// The arguments of `mtllib`: possibly several files, possibly with a comment.
    pub(super) libraries: Names,
    /// The materials that are named; 0 is the empty name: none.
    pub(super) materials: Names,
    pub(super) skipped: Skipped,
    /// The material at the end.
    material: u32,
    /// An upper bound of the memory for reading, in bytes, `text` included.
    pub(super) memory: u64,
}

impl<'a> Contents<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let mut contents = Self::default();
        contents.materials.number("");
        let mut parts: Vec<Part> = parts(text, PART).into_par_iter().map(Part::of).collect();
        let mut scratch: Vec<u64> = parts.iter().map(|part| part.scratch).collect();
        // The most that all threads have at one time.
        scratch.sort_by_key(|&bytes| Reverse(bytes));
        let scratch: u64 = scratch.iter().take(rayon::current_num_threads()).sum();
        contents.memory = text.len() as u64 + scratch + REST;
        parts.iter_mut().for_each(|part| contents.append(part));
        contents.parts = parts;
        let [vertices, texcoords, _] = contents.totals.map(|count| count as u64);
        let triangles: u64 = contents.parts.iter().map(|part| part.triangles as u64).sum();
        let materials = contents.materials.len() as u64 - 1;
        let per_triangle = TRIANGLE + if materials > 0 { PAINTED } else { 0 };
        contents.memory += VERTEX * vertices + 16 * texcoords + per_triangle * triangles;
        // Names are here, in the list of materials, and in up to three appearances of each.
        contents.memory += 5 * contents.materials.bytes() + contents.libraries.bytes();
        contents.memory += materials * MATERIAL;
        contents
    }

    /// Takes the names of the next part, and sets what depends on the parts before it.
    fn append(&mut self, part: &mut Part) {
        let (libraries, materials) = (take(&mut part.libraries), take(&mut part.materials));
        self.memory += PART_BYTES + materials.bytes() + libraries.bytes();
        self.memory += part.objects + part.painted;
        (part.before, part.material) = (self.totals, self.material);
        self.totals = [0, 1, 2].map(|which| part.before[which] + part.counts[which]);
        if part.inherits {
            self.materials.set_used(part.material);
        }
        for (local, name) in (0..).zip(materials.in_order()) {
            let number = self.materials.number(name);
            if materials.is_used(local) {
                self.materials.set_used(number);
            }
            if part.last_material == Some(local) {
                self.material = number;
            }
        }
        for name in libraries.in_order() {
            self.libraries.number(name);
        }
        self.skipped.append(take(&mut part.skipped));
    }

    /// An error with its line.
    pub(super) fn error(&self, fault: Fault) -> ReadError {
        let before = self.parts[..fault.part].iter().map(|part| part.text);
        let ends = |text: &str| text.bytes().filter(|&byte| byte == b'\n').count();
        ReadError::Line { line: before.map(ends).sum::<usize>() + fault.line, what: fault.what }
    }
}

impl<'a> Part<'a> {
    fn of(text: &'a str) -> Self {
        let mut found = Self { text, ..Self::default() };
        found.materials.number("");
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
            "usemtl" => {
                self.last_material = Some(self.materials.number(after_keyword(statement)));
            }
            "o" | "g" => {
                self.has_faces = true;
                self.objects += Labels::OBJECT + 2 * statement.len() as u64;
            }
            "mtllib" => _ = self.libraries.number(after_keyword(statement)),
            // Eight digits are three bytes, as their list grows and in the list of all parts.
            PAINTED_KEYWORD => self.painted += 2 * statement.len() as u64,
            "p" | "l" => self.skipped.points_and_lines += 1,
            "curv" | "surf" | "bzp" | "bsp" | "cdc" | "cdp" => self.skipped.free_form += 1,
            "call" | "csh" => self.skipped.calls.add(statement.trim()),
            "" => {}
            word if word.starts_with('#') || HARMLESS.split(' ').any(|known| known == word) => {}
            word => self.skipped.unknown.add(word),
        }
    }

    #[inline]
    fn face(&mut self, corners: usize) {
        self.has_faces = true;
        self.triangles += most_triangles(corners);
        self.scratch = self.scratch.max(POLYGON * corners as u64);
        match self.last_material {
            Some(material) => self.materials.set_used(material),
            None => self.inherits = true,
        }
    }
}

/// Distinct names, numbered from 0 in order of first use.
#[derive(Debug, Default)]
pub(super) struct Names {
    numbers: HashMap<String, u32>,
    /// Whether any face has each material, up to the last that one has; empty for libraries.
    is_used: Vec<bool>,
}

impl Names {
    /// Bytes of an entry of the hash map, besides the name: a string, a number and a control byte.
    const ENTRY: u64 = 33;

    /// The number of `name`, which is added if it is new.
    pub(super) fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.numbers.len() as u32;
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// The number of `name`, if it has one.
    pub(super) fn find(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// An upper bound of bytes of memory, while it grows.
    pub(super) fn bytes(&self) -> u64 {
        let names: u64 = self.numbers.keys().map(|name| name.capacity() as u64).sum();
        names + 3 * Self::ENTRY * (self.numbers.len() as u64 + 4)
    }

    /// The names by their numbers.
    pub(super) fn in_order(&self) -> Vec<&str> {
        let mut names = vec![""; self.numbers.len()];
        self.numbers.iter().for_each(|(name, &number)| names[number as usize] = name);
        names
    }

    pub(super) fn set_used(&mut self, material: u32) {
        let at = material as usize;
        if self.is_used.len() <= at {
            self.is_used.resize(at + 1, false);
        }
        self.is_used[at] = true;
    }

    pub(super) fn is_used(&self, material: u32) -> bool {
        self.is_used.get(material as usize) == Some(&true)
    }
}
