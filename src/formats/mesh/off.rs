//! The OFF reader: Geomview's Object File Format, as text.
//!
//! The header is `OFF`, with the prefixes `C` for vertex colours, `N` for normals, `ST` for texture
//! coordinates: `STCNOFF` in Geomview's manual, but other programs write `NCOFF`. Then follow the
//! numbers of vertices, faces and edges, which may be behind `OFF` without a space, as in ModelNet.
//! A vertex is a position, a normal, a colour and texture coordinates; a face is its number of
//! corners, their indices, and optionally a colour. In nearly all files each is a line, whose end
//! tells how many numbers a colour has. Otherwise line ends are white space: then vertex colours
//! have four numbers, faces have none, and nothing may follow. Colours are integers from 0 to 255
//! or fractions from 0 to 1. Many programs write the fraction 1 as `1`, so the scale is chosen once
//! for all vertices and once for all faces.

use std::ops::Range;

use crate::base::srgb::{Rgba, linear_of_rgba};
use crate::formats::io::tokens::{Tokens, is_line_end, is_space, number, quoted};
use crate::formats::io::warnings::counted_warning;
use crate::formats::mesh::flat_colors::{ColorScale, FlatColors};
use crate::formats::mesh::out_of_range::clamped_colors;
use crate::formats::mesh::polygons::{TRIANGULATION, Triangulator, most_triangles};
use crate::formats::{LoadedMesh, MeshSpec, ReadError, ReadOptions, check_memory, content};
use crate::mesh::Mesh;
use crate::mesh::appearance::{Appearance, Material};

pub const SPEC: MeshSpec = MeshSpec {
    extension: "off",
    name: "OFF",
    carries: "faces of any shape, text; colours of vertices or faces",
    check_start: |start, _| match Tokens::new(start).next() {
        Some(token) if !token.starts_with(b"#") && header_of(token).is_none() => Err(not_off()),
        _ => Ok(()),
    },
    read: |mut bytes, _, options| read(&mut bytes, options),
};

/// Bytes of memory independent of the file.
const REST: u64 = 4 << 10;
/// Numbers after a position, at most: a normal, a colour and texture coordinates.
const MOST: usize = 3 + 4 + 2;
/// Bytes of a colour in a list.
const COLOR: u64 = size_of::<(Range<usize>, Numbers)>() as u64;

/// Reads the mesh in `bytes`, whose comments are overwritten.
fn read(bytes: &mut [u8], options: &ReadOptions) -> Result<LoadedMesh, ReadError> {
    let start = Tokens::new(bytes).offset();
    blank_comments(&mut bytes[start..]);
    let mut lines = Lines { tokens: Tokens::new(bytes), is_free: false };
    let header = Header::read(&mut lines)?;
    // The shortest records are `0 0 0` and `0`, with a line end each.
    let Header { vertices, faces, .. } = header;
    ensure!(
        vertices.saturating_mul(6).saturating_add(faces.saturating_mul(2))
            <= bytes.len() as u64 + 2,
        "the header says {vertices} vertices and {faces} faces, but the file is too short for that: \
         it is cut off, or the header is wrong"
    );
    let mut free = Lines { is_free: true, ..lines.clone() };
    // The number of edges.
    free.token();
    let read = |lines| Body::read(bytes.len() as u64, &header, lines, options);
    match read(lines) {
        Err(error @ ReadError::Line { .. }) => read(free).map_err(|_| error),
        read => read,
    }
}

/// Overwrites comments, which begin at a word and end with the line, with spaces.
fn blank_comments(bytes: &mut [u8]) {
    let (mut is_comment, mut is_after_space) = (false, true);
    for byte in bytes {
        is_comment |= is_after_space && *byte == b'#';
        is_comment &= !is_line_end(*byte);
        if is_comment {
            *byte = b' ';
        }
        is_after_space = is_space(*byte) || is_line_end(*byte);
    }
}

/// The lines of a file that are not blank.
#[derive(Clone)]
struct Lines<'a> {
    tokens: Tokens<'a>,
    /// Whether line ends are white space, so that all is one line.
    is_free: bool,
}

impl<'a> Lines<'a> {
    /// Moves to the next line, where `what` is expected.
    fn next(&mut self, what: &str) -> Result<(), ReadError> {
        if !self.is_free {
            self.tokens.rest_of_line();
        }
        self.tokens.skip_blank_lines();
        let first = self.tokens.clone().next_in_line();
        first.map(|_| ()).ok_or_else(|| self.tokens.misplaced(None, what))
    }

    /// The next token of the line.
    fn token(&mut self) -> Option<&'a [u8]> {
        if self.is_free { self.tokens.next() } else { self.tokens.next_in_line() }
    }

    /// The other tokens of the line, at most one more than a vertex can have, or `count` where line
    /// ends are white space.
    fn rest(&mut self, count: usize, rest: &mut Vec<&'a [u8]>) {
        let most = if self.is_free { count } else { MOST + 1 };
        rest.clear();
        rest.extend(std::iter::from_fn(|| self.token()).take(most));
    }

    /// The next token of the line as an integer.
    fn integer(&mut self, what: &str) -> Result<u64, ReadError> {
        let token = self.token().unwrap_or_default();
        let integer = str::from_utf8(token).ok().and_then(|token| token.parse().ok());
        integer.ok_or_else(|| self.tokens.misplaced(Some(token), what))
    }
}

/// The vertex attributes, and the numbers of vertices and faces.
#[derive(Debug)]
struct Header {
    colors: bool,
    normals: bool,
    texcoords: bool,
    vertices: u64,
    faces: u64,
}

fn not_off() -> ReadError {
    content("not an OFF file: it does not begin with 'OFF'")
}

/// The prefix of `OFF` in the first token, and the digits after it.
fn header_of(token: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = token.windows(3).position(|part| part == b"OFF")?;
    let (before, after) = (&token[..at], &token[at + 3..]);
    let is_known = attributes(before).is_some() || matches!(before, [.., b'4'] | [.., b'n']);
    (is_known && after.iter().all(u8::is_ascii_digit)).then_some((before, after))
}

/// Whether the prefix announces colours, normals and texture coordinates; `None` if it has anything
/// else.
fn attributes(mut prefix: &[u8]) -> Option<[bool; 3]> {
    const NAMES: [&[u8]; 3] = [b"C", b"N", b"ST"];
    let mut present = [false; 3];
    while !prefix.is_empty() {
        let which = NAMES.iter().position(|name| prefix.starts_with(name))?;
        if std::mem::replace(&mut present[which], true) {
            return None;
        }
        prefix = &prefix[NAMES[which].len()..];
    }
    Some(present)
}

impl Header {
    fn read(lines: &mut Lines) -> Result<Self, ReadError> {
        let first = lines.tokens.next();
        let first = first.ok_or_else(|| lines.tokens.misplaced(None, "'OFF'"))?;
        let (before, after) = header_of(first).ok_or_else(not_off)?;
        let Some([colors, normals, texcoords]) = attributes(before) else {
            let what = format!("{}: only vertices of three coordinates are read", quoted(first));
            return Err(lines.tokens.error(what));
        };
        if lines.clone().token() == Some(&b"BINARY"[..]) {
            bail!("binary OFF is not read: save the mesh as text, or as PLY");
        }
        let what = "the number of vertices";
        let vertices = match str::from_utf8(after).ok().and_then(|digits| digits.parse().ok()) {
            Some(vertices) => vertices,
            None => {
                if lines.clone().token().is_none() {
                    lines.next(what)?;
                }
                lines.integer(what)?
            }
        };
        lines.is_free = true;
        let faces = lines.integer("the number of faces")?;
        lines.is_free = false;
        Ok(Self { colors, normals, texcoords, vertices, faces })
    }
}

/// Red, green, blue, and opacity if there is one.
type Numbers = ([f64; 3], Option<f64>);

/// Colours, each with its place: a vertex, or the triangles of a face.
struct Colors<T> {
    list: Vec<(T, Numbers)>,
    /// Whether a number has a point, as only fractions have.
    has_points: bool,
    /// The largest number.
    largest: f64,
}

impl<T> Colors<T> {
    fn with_capacity(count: usize) -> Self {
        Self { list: Vec::with_capacity(count), has_points: false, largest: 0.0 }
    }

    /// Adds the colour that `words` begin with, three or four numbers; returns whether there is
    /// one.
    fn add(&mut self, place: T, words: &[&[u8]]) -> bool {
        let numbers: Option<Vec<f64>> = words.iter().take(4).map(|word| number(word)).collect();
        let Some([r, g, b, opacity @ ..]) = numbers.as_deref() else { return false };
        let is_point = |byte: &u8| b".eE".contains(byte);
        self.has_points |= words.iter().take(4).any(|word| word.iter().any(is_point));
        self.largest = numbers.iter().flatten().copied().fold(self.largest, f64::max);
        self.list.push((place, ([*r, *g, *b], opacity.first().copied())));
        true
    }

    /// The colours, and the number of those outside their range.
    fn converted(self) -> (Vec<(T, Rgba)>, u64) {
        let most = if self.has_points || self.largest <= 1.0 { 1.0 } else { 255.0 };
        let scale = ColorScale { light: most, opacity: most };
        let mut clamped = 0;
        let convert = |(place, ([r, g, b], opacity)): (T, Numbers)| {
            let color = [r, g, b, opacity.unwrap_or(most)];
            clamped += u64::from(!scale.holds(color));
            (place, scale.srgb(color))
        };
        let colors = self.list.into_iter().map(convert).collect();
        (colors, clamped)
    }

    /// A warning if the numbers have an ambiguous scale: none is above 1 or has a point.
    fn warning(&self, whose: &str) -> Option<String> {
        let is_assumed = !self.has_points && self.largest == 1.0;
        is_assumed.then(|| {
            format!("the colours of {whose} have no value above 1: they are read as fractions")
        })
    }
}

/// The vertices and faces.
struct Body<'a> {
    header: &'a Header,
    lines: Lines<'a>,
    has_appearance: bool,
    /// The numbers after the position of a vertex, or after the corners of a face.
    rest: Vec<&'a [u8]>,
    positions: Vec<[f64; 3]>,
    triangles: Vec<[u32; 3]>,
    of_vertices: Colors<usize>,
    of_faces: Colors<Range<usize>>,
    triangulator: Triangulator,
    /// Faces whose colour is an index of an external colour map.
    indexed: u64,
    /// Vertices with more numbers than the header announces.
    longer: u64,
}

impl<'a> Body<'a> {
    /// Reads the vertices and faces in `lines`, of a file of `bytes` bytes.
    fn read(
        bytes: u64,
        header: &'a Header,
        lines: Lines<'a>,
        options: &ReadOptions,
    ) -> Result<LoadedMesh, ReadError> {
        let has_colors = options.appearance && header.colors;
        let per_vertex = 24 + if has_colors { 8 + COLOR } else { 0 };
        let fixed = bytes + per_vertex * header.vertices + REST;
        check_memory(fixed + 12 * header.faces, options.memory)?;
        let [vertices, faces] = [header.vertices, header.faces].map(|count| count as usize);
        let mut body = Self {
            header,
            lines,
            has_appearance: options.appearance,
            rest: Vec::new(),
            positions: Vec::with_capacity(vertices),
            triangles: Vec::with_capacity(faces),
            of_vertices: Colors::with_capacity(if has_colors { vertices } else { 0 }),
            of_faces: Colors::with_capacity(0),
            triangulator: Triangulator::default(),
            indexed: 0,
            longer: 0,
        };
        for vertex in 0..vertices {
            body.add_vertex(vertex)?;
        }
        let mut corners = Vec::new();
        for face in 0..faces {
            body.lines.next("a face")?;
            let count = body.lines.integer("the number of a face's corners")?;
            // A corner takes two bytes of the file.
            let most = count.min(bytes / 2) as usize;
            let triangles = body.triangles.len() + most_triangles(most);
            check_memory(fixed + body.memory(triangles, most, faces), options.memory)?;
            body.read_corners(face, count, &mut corners)?;
            body.add_face(&corners);
        }
        ensure!(!body.triangles.is_empty(), "no faces found: nothing to voxelize");
        if body.lines.is_free && body.lines.token().is_some() {
            return Err(body.lines.tokens.error("more numbers than the header counts".into()));
        }
        body.finish()
    }

    /// Maximum memory of `triangles`, the polygon in work included, in bytes.
    fn memory(&self, triangles: usize, corners: usize, faces: usize) -> u64 {
        // Lists may just have grown.
        let room = if triangles > faces { 3 * triangles } else { faces };
        let colored = self.of_faces.list.len() + 1;
        let for_colors = 3 * COLOR * colored as u64 + FlatColors::most_memory(colored as u64);
        let corners = (TRIANGULATION + 40) * corners as u64;
        16 * room as u64 + corners + if colored > 1 { for_colors } else { 0 }
    }

    fn add_vertex(&mut self, vertex: usize) -> Result<(), ReadError> {
        let Self { header, lines, rest, .. } = self;
        lines.next("a vertex")?;
        let mut position = [0.0; 3];
        for coordinate in &mut position {
            let token = lines.token().unwrap_or_default();
            let finite = number(token).filter(|number| number.is_finite());
            *coordinate = finite.ok_or_else(|| {
                lines.tokens.error(format!(
                    "vertex {vertex} (counted from 0): {} is not a finite number",
                    quoted(token)
                ))
            })?;
        }
        self.positions.push(position);
        let size = |is_there: bool, size: usize| if is_there { size } else { 0 };
        let (normal, texcoords) = (size(header.normals, 3), size(header.texcoords, 2));
        lines.rest(normal + size(header.colors, 4) + texcoords, rest);
        if header.colors && self.has_appearance {
            let end = rest.len().saturating_sub(texcoords);
            self.of_vertices.add(vertex, rest.get(normal..end).unwrap_or_default());
        } else if !header.colors && !header.texcoords {
            self.longer += u64::from(rest.len() > normal);
        }
        Ok(())
    }

    fn read_corners(
        &mut self,
        face: usize,
        count: u64,
        corners: &mut Vec<u32>,
    ) -> Result<(), ReadError> {
        let lines = &mut self.lines;
        corners.clear();
        for indices in 0..count {
            if lines.clone().token().is_none() {
                let what = format!("a face of {count} corners, but {indices} numbers follow");
                return Err(lines.tokens.error(what));
            }
            let index = lines.integer("the index of a vertex")?;
            let vertices = self.positions.len() as u64;
            if index >= vertices {
                return Err(lines.tokens.error(format!(
                    "face {face} (counted from 0): vertex index {index} is out of range: there are \
                     {vertices}, counted from 0"
                )));
            }
            // Past 32 bits, `Mesh::new` fails.
            corners.push(index as u32);
        }
        Ok(())
    }

    /// Adds a face, with its colour if the file has one.
    fn add_face(&mut self, corners: &[u32]) {
        self.lines.rest(0, &mut self.rest);
        let start = self.triangles.len();
        let position = |corner: usize| self.positions[corners[corner] as usize];
        let triangles = self.triangulator.face(corners.len(), position);
        self.triangles.extend(triangles.iter().map(|t| t.map(|i| corners[i as usize])));
        if self.has_appearance && !self.rest.is_empty() {
            let is_color = self.of_faces.add(start..self.triangles.len(), &self.rest);
            self.indexed += u64::from(!is_color);
        }
    }

    fn finish(mut self) -> Result<LoadedMesh, ReadError> {
        let mut warnings = Vec::new();
        let more = std::iter::from_fn(|| self.lines.next("").ok()).count() as u64;
        let after = "skipped after the faces that the header counts";
        warnings.extend(counted_warning(more, ["line was", "lines were"], after));
        let vertices_have = ["vertex has", "vertices have"];
        let more_numbers = "more numbers than 'OFF' announces, which were skipped: colours need \
                            'COFF', normals 'NOFF'";
        let longer = if self.has_appearance { self.longer } else { 0 };
        warnings.extend(counted_warning(longer, vertices_have, more_numbers));
        if self.has_appearance && self.header.texcoords {
            warnings.push("texture coordinates were skipped: OFF names no image for them".into());
        }
        let vertices = self.positions.len();
        let has_vertex_colors = self.has_appearance && self.header.colors;
        if has_vertex_colors {
            let uncolored = (vertices - self.of_vertices.list.len()) as u64;
            let white = "no colour of three or four numbers: they are white";
            warnings.extend(counted_warning(uncolored, vertices_have, white));
        }
        warnings.extend(self.of_vertices.warning("vertices"));
        warnings.extend(self.of_faces.warning("faces"));
        let (of_vertices, clamped_vertices) = self.of_vertices.converted();
        let (of_faces, clamped_faces) = self.of_faces.converted();
        warnings.extend(clamped_colors([clamped_vertices, clamped_faces]));
        warnings.extend(self.triangulator.faults.warnings());
        let plain = "no colour of three or four numbers, and the plain one";
        warnings.extend(counted_warning(self.indexed, ["face has", "faces have"], plain));
        let count = self.triangles.len();
        let mesh = Mesh::new(self.positions, self.triangles)?;
        let has_face_colors = !of_faces.is_empty() || self.indexed > 0;
        if !has_vertex_colors && !has_face_colors {
            return Ok(LoadedMesh::new(mesh, warnings));
        }
        let mut vertex_colors = vec![[u16::MAX; 4]; if has_vertex_colors { vertices } else { 0 }];
        for (vertex, color) in of_vertices {
            vertex_colors[vertex] = linear_of_rgba(color);
        }
        let mut materials = FlatColors::new(vec![Material::default()]);
        let mut material_of = vec![0; if has_face_colors { count } else { 0 }];
        for (triangles, color) in of_faces {
            material_of[triangles].fill(materials.material_of(color));
        }
        let materials = materials.finish(&vertex_colors, &mut warnings);
        let mesh = mesh.with_appearance(Appearance {
            materials,
            material_of,
            vertex_colors,
            ..Appearance::default()
        })?;
        Ok(LoadedMesh::new(mesh, warnings))
    }
}
