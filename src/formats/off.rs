//! The OFF reader: Geomview's Object File Format, as text.
//!
//! The header is `OFF`, before it `C` where vertices have colours, `N` for normals, `ST` for texture
//! coordinates; then the numbers of vertices, faces and edges, which may follow `OFF` without a space, as
//! in ModelNet. A vertex is a line of a position, a normal, a colour and texture coordinates; a face is a
//! line of its number of corners, these, and perhaps a colour. Colours are integers from 0 to 255 or
//! fractions from 0 to 1.

use crate::appearance::{Appearance, Material};
use crate::formats::flat_colors::PlainColors;
use crate::formats::polygons::{CROSSING, CUT, Cutter};
use crate::formats::tokens::{Words, number, quoted};
use crate::formats::{Loaded, MeshSpec, ReadError, ReadOptions, check_memory, counted};
use crate::mesh::Mesh;
use crate::srgb::{Linear, Rgba, linear_of_rgba};

/// Geomview's.
pub const SPEC: MeshSpec = MeshSpec {
    extension: "off",
    name: "OFF",
    carries: "faces of any shape, text; colours of vertices or faces",
    check_start: |start, _| match Words::new(start).next() {
        Some(word) if !word.starts_with(b"#") && header_of(word).is_none() => Err(not_off()),
        _ => Ok(()),
    },
    read: |bytes, _, options| read_with(&bytes, options),
};

/// Bytes of memory that do not depend on the file.
const REST: u64 = 4 << 10;

/// Reads the mesh in `bytes`.
///
/// # Errors
/// No OFF text, malformed or cut off, indices out of range, coordinates that are not finite, no faces.
pub fn read(bytes: &[u8]) -> Result<Loaded, ReadError> {
    read_with(bytes, &ReadOptions::default())
}

/// The same, as `options` say; `bytes` are a part of the memory that it may take.
///
/// # Errors
/// It could take more; all that [`read`] refuses.
pub fn read_with(bytes: &[u8], options: &ReadOptions) -> Result<Loaded, ReadError> {
    if bytes.is_empty() {
        return Err(ReadError::Content("the file is empty".into()));
    }
    let mut lines = Lines { words: Words::new(bytes) };
    let header = Header::read(&mut lines)?;
    header.check_room(bytes.len())?;
    let shown = options.appearance;
    let mut faces = lines.clone();
    for _ in 0..header.vertices {
        faces.next("a vertex")?;
    }
    let counts = FaceCounts::of(faces, header.faces)?;
    if counts.triangles == 0 {
        return Err(ReadError::Content("no faces found: nothing to voxelize".into()));
    }
    let for_colors = match shown {
        true => {
            let vertices = if header.colors { 8 * header.vertices } else { 0 };
            vertices + 4 * counts.triangles + PlainColors::most_memory(counts.colored)
        }
        false => 0,
    };
    let for_mesh = 24 * header.vertices + 12 * counts.triangles + CUT * counts.largest;
    check_memory(bytes.len() as u64 + for_mesh + for_colors + REST, options.memory)?;

    let mut build = Build::new(&header, &counts, shown);
    for vertex in 0..header.vertices {
        build.add_vertex(&header, &mut lines, vertex)?;
    }
    for face in 0..header.faces {
        build.add_face(&mut lines, face)?;
    }
    build.finish(&header)
}

/// The lines of a file that are neither blank nor comments.
#[derive(Clone)]
struct Lines<'a> {
    words: Words<'a>,
}

impl<'a> Lines<'a> {
    /// Goes to the next line; `what` is expected there.
    fn next(&mut self, what: &str) -> Result<(), ReadError> {
        self.words.rest_of_line();
        self.start(what)
    }

    /// Goes to the next line from the start of one.
    fn start(&mut self, what: &str) -> Result<(), ReadError> {
        loop {
            self.words.skip_blank_lines();
            match self.words.clone().next_in_line() {
                Some(word) if word.starts_with(b"#") => _ = self.words.rest_of_line(),
                Some(_) => return Ok(()),
                None => {
                    let what = format!("the file ends where {what} belongs: it is cut off");
                    return Err(self.words.error(what));
                }
            }
        }
    }

    /// The next word of the line, up to a comment.
    fn word(&mut self) -> Option<&'a [u8]> {
        let mut ahead = self.words.clone();
        let word = ahead.next_in_line().filter(|word| !word.starts_with(b"#"))?;
        self.words = ahead;
        Some(word)
    }

    /// The next word of the line as an integer.
    fn integer(&mut self, what: &str) -> Result<u64, ReadError> {
        let word = self.word().unwrap_or_default();
        let integer = str::from_utf8(word).ok().and_then(|word| word.parse().ok());
        integer.ok_or_else(|| self.words.error(format!("{} where {what} belongs", quoted(word))))
    }

    fn error(&self, what: String) -> ReadError {
        self.words.error(what)
    }
}

/// What vertices have, and how many there are.
#[derive(Debug)]
struct Header {
    colors: bool,
    normals: bool,
    vertices: u64,
    faces: u64,
}

fn not_off() -> ReadError {
    ReadError::Content("not an OFF file: it does not begin with 'OFF'".into())
}

/// The letters before `OFF` in the first word, and the digits after it.
fn header_of(word: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = word.windows(3).position(|part| part == b"OFF")?;
    let (before, after) = (&word[..at], &word[at + 3..]);
    let is_known = matches!(before, b"" | b"C" | b"N" | b"CN" | b"ST" | b"STC" | b"STN" | b"STCN")
        || matches!(before, [.., b'4'] | [.., b'n']);
    (is_known && after.iter().all(u8::is_ascii_digit)).then_some((before, after))
}

impl Header {
    fn read(lines: &mut Lines) -> Result<Self, ReadError> {
        lines.start("'OFF'")?;
        let first = lines.word().unwrap_or_default();
        let Some((before, after)) = header_of(first) else {
            return Err(not_off());
        };
        if before.ends_with(b"4") || before.ends_with(b"n") {
            let what = format!("{}: only vertices of three coordinates are read", quoted(first));
            return Err(lines.error(what));
        }
        let is_binary = |word: Option<&[u8]>| word == Some(b"BINARY");
        if is_binary(lines.clone().word()) {
            let what = "binary OFF is not read: save the mesh as text, or as PLY";
            return Err(ReadError::Content(what.into()));
        }
        let what = "the number of vertices";
        let vertices = match str::from_utf8(after).ok().and_then(|digits| digits.parse().ok()) {
            Some(vertices) => vertices,
            None => {
                if lines.clone().word().is_none() {
                    lines.next(what)?;
                }
                lines.integer(what)?
            }
        };
        let faces = lines.integer("the number of faces")?;
        let [colors, normals] = [b'C', b'N'].map(|letter| before.contains(&letter));
        Ok(Self { colors, normals, vertices, faces })
    }

    /// Refuses more records than the file has room for: `0 0 0` and `0` are the shortest, with a line
    /// end each.
    fn check_room(&self, bytes: usize) -> Result<(), ReadError> {
        let needed = self.vertices.saturating_mul(6).saturating_add(self.faces.saturating_mul(2));
        match needed > bytes as u64 + 2 {
            true => Err(ReadError::Content(format!(
                "the header says {} vertices and {} faces, but the file is too short for that: it \
                 is cut off, or the header is wrong",
                self.vertices, self.faces
            ))),
            false => Ok(()),
        }
    }
}

/// What faces are cut into, at most.
#[derive(Debug, Default)]
struct FaceCounts {
    triangles: u64,
    /// Corners of the largest face.
    largest: u64,
    /// Triangles of faces with a colour.
    colored: u64,
}

impl FaceCounts {
    fn of(mut lines: Lines, faces: u64) -> Result<Self, ReadError> {
        let mut counts = Self::default();
        for _ in 0..faces {
            lines.next("a face")?;
            let corners = lines.integer("the number of a face's corners")?;
            let mut words = 0;
            while lines.word().is_some() {
                words += 1;
            }
            if words < corners {
                let what = format!("a face of {corners} corners, but {words} numbers follow");
                return Err(lines.error(what));
            }
            let triangles = corners.saturating_sub(2);
            counts.triangles += triangles;
            counts.largest = counts.largest.max(corners);
            counts.colored += if words > corners { triangles } else { 0 };
        }
        Ok(counts)
    }
}

struct Build {
    positions: Vec<[f64; 3]>,
    triangles: Vec<[u32; 3]>,
    vertex_colors: Vec<Linear>,
    material_of: Vec<u32>,
    materials: PlainColors,
    has_face_colors: bool,
    shown: bool,
    cutter: Cutter,
    /// Faces of fewer than three corners.
    lean: u64,
    /// Faces whose colour is a number in a table elsewhere.
    indexed: u64,
    corners: Vec<u32>,
    numbers: Vec<f64>,
}

impl Build {
    fn new(header: &Header, counts: &FaceCounts, shown: bool) -> Self {
        let vertices = header.vertices as usize;
        let material = Material { has_vertex_colors: header.colors, ..Material::default() };
        let has_face_colors = shown && counts.colored > 0;
        let room = |needed: bool, count: usize| if needed { count } else { 0 };
        Self {
            positions: Vec::with_capacity(vertices),
            triangles: Vec::with_capacity(counts.triangles as usize),
            vertex_colors: Vec::with_capacity(room(shown && header.colors, vertices)),
            material_of: Vec::with_capacity(room(has_face_colors, counts.triangles as usize)),
            materials: PlainColors::new(vec![material]),
            has_face_colors,
            shown,
            cutter: Cutter::default(),
            lean: 0,
            indexed: 0,
            corners: Vec::new(),
            numbers: Vec::new(),
        }
    }

    fn add_vertex(
        &mut self,
        header: &Header,
        lines: &mut Lines,
        vertex: u64,
    ) -> Result<(), ReadError> {
        lines.next("a vertex")?;
        let mut position = [0.0; 3];
        for coordinate in &mut position {
            *coordinate = self.coordinate(lines, vertex)?;
        }
        self.positions.push(position);
        if self.shown && header.colors {
            for _ in 0..if header.normals { 3 } else { 0 } {
                lines.word();
            }
            let color = self.color(lines).unwrap_or([u8::MAX; 4]);
            self.vertex_colors.push(linear_of_rgba(color));
        }
        Ok(())
    }

    fn coordinate(&self, lines: &mut Lines, vertex: u64) -> Result<f64, ReadError> {
        let word = lines.word().unwrap_or_default();
        number(word).filter(|number| number.is_finite()).ok_or_else(|| {
            lines.error(format!(
                "vertex {vertex} (counted from 0): {} is not a finite number",
                quoted(word)
            ))
        })
    }

    fn add_face(&mut self, lines: &mut Lines, face: u64) -> Result<(), ReadError> {
        lines.next("a face")?;
        let count = lines.integer("the number of a face's corners")?;
        self.corners.clear();
        for _ in 0..count {
            let index = lines.integer("the index of a vertex")?;
            let Some(index) = u32::try_from(index).ok().filter(|&i| u64::from(i) < self.vertices())
            else {
                return Err(lines.error(format!(
                    "face {face} (counted from 0): vertex index {index} is out of range: there are \
                     {}, counted from 0",
                    self.vertices()
                )));
            };
            self.corners.push(index);
        }
        let material = if self.has_face_colors { self.material(lines) } else { 0 };
        let before = self.triangles.len();
        match self.corners[..] {
            [] | [_] | [_, _] => self.lean += 1,
            [a, b, c] => self.triangles.push([a, b, c]),
            _ => {
                let outline = self.corners.iter().map(|&i| self.positions[i as usize]);
                let outline: Vec<[f64; 3]> = outline.collect();
                let cut = self.cutter.cut(&outline);
                let corners = &self.corners;
                self.triangles.extend(cut.iter().map(|t| t.map(|i| corners[i as usize])));
            }
        }
        if self.has_face_colors {
            let added = self.triangles.len() - before;
            self.material_of.extend(std::iter::repeat_n(material, added));
        }
        Ok(())
    }

    fn vertices(&self) -> u64 {
        self.positions.len() as u64
    }

    /// The material with the colour that a face's line ends with.
    fn material(&mut self, lines: &mut Lines) -> u32 {
        let has_any = lines.clone().word().is_some();
        match self.color(lines) {
            Some(color) => self.materials.material_of(color),
            None => {
                self.indexed += u64::from(has_any);
                0
            }
        }
    }

    /// The colour of the three or four numbers that come next: integers from 0 to 255, or fractions
    /// from 0 to 1 if one is written with a point.
    fn color(&mut self, lines: &mut Lines) -> Option<Rgba> {
        self.numbers.clear();
        let mut is_fraction = false;
        while self.numbers.len() < 4
            && let Some(word) = lines.word()
        {
            is_fraction |= word.contains(&b'.');
            self.numbers.push(number(word)?);
        }
        let most = if is_fraction { 255.0 } else { 1.0 };
        let channel = |&number: &f64| (number * most).round().clamp(0.0, 255.0) as u8;
        match &self.numbers[..] {
            [r, g, b] => Some([channel(r), channel(g), channel(b), u8::MAX]),
            [r, g, b, a] => Some([r, g, b, a].map(channel)),
            _ => None,
        }
    }

    fn finish(self, header: &Header) -> Result<Loaded, ReadError> {
        let mut warnings = Vec::new();
        if self.lean > 0 {
            let lean = counted(self.lean, "point or line was", "points and lines were");
            warnings.push(format!("{lean} skipped: no surface"));
        }
        if self.cutter.crossing > 0 {
            warnings.push(format!("{} {CROSSING}", self.cutter.crossing));
        }
        if self.indexed > 0 {
            let faces = counted(self.indexed, "face has", "faces have");
            warnings.push(format!("{faces} no colour of three or four numbers, and the plain one"));
        }
        let mesh = Mesh::new(self.positions, self.triangles)?;
        if !self.shown || !header.colors && !self.has_face_colors {
            return Ok(Loaded { mesh, warnings });
        }
        let (mut materials, changes) = self.materials.finish();
        warnings.extend(changes);
        if self.vertex_colors.iter().any(|color| color[3] < u16::MAX) {
            materials[0].alpha = crate::appearance::Alpha::Blend;
        }
        let mesh = mesh.with_appearance(Appearance {
            materials,
            material_of: self.material_of,
            vertex_colors: self.vertex_colors,
            ..Appearance::default()
        })?;
        Ok(Loaded { mesh, warnings })
    }
}
