//! The OFF reader: Geomview's Object File Format, as text.
//!
//! The header is `OFF`, with the prefixes `C` for vertex colours, `N` for normals, `ST` for texture
//! coordinates: `STCNOFF` in Geomview's manual, but other programs write `NCOFF`. Then follow the
//! numbers of vertices, faces and edges, which may be behind `OFF` without a space, as in ModelNet.
//! A vertex is a position, a normal, a colour and texture coordinates; a face is its number of
//! corners, their indices, and optionally a colour. In nearly all files each is a line, whose end
//! tells how many numbers a colour has. Otherwise line ends are white space: then vertex colours
//! have four numbers, faces have none, and nothing may follow. Colours are integers from 0 to 255 or
//! fractions from 0 to 1. Many programs write the fraction 1 as `1`, so the scale is chosen once for
//! all vertices and once for all faces.

use crate::base::srgb::{Linear, Rgba, linear_of_rgba};
use crate::formats::io::tokens::{Tokens, number, quoted};
use crate::formats::io::warnings::{counted_warning, points_and_lines_warning};
use crate::formats::mesh::flat_colors::FlatColors;
use crate::formats::mesh::out_of_range::{clamped_colors, is_unit};
use crate::formats::mesh::polygons::{TRIANGULATION, Triangulator};
use crate::formats::{LoadedMesh, MeshSpec, ReadError, ReadOptions, check_memory, content};
use crate::mesh::Mesh;
use crate::mesh::appearance::{Appearance, Material};

/// OFF of Geomview, `.off`.
pub const SPEC: MeshSpec = MeshSpec {
    extension: "off",
    name: "OFF",
    carries: "faces of any shape, text; colours of vertices or faces",
    check_start: |start, _| match Tokens::new(start).next() {
        Some(token) if !token.starts_with(b"#") && header_of(token).is_none() => Err(not_off()),
        _ => Ok(()),
    },
    read: |bytes, _, options| read(&bytes, options),
};

/// Bytes of memory independent of the file.
const REST: u64 = 4 << 10;

/// Reads the mesh in `bytes`.
///
/// # Errors
/// Not OFF, malformed or truncated content, indices out of range, coordinates that are not finite,
/// no faces.
fn read(bytes: &[u8], options: &ReadOptions) -> Result<LoadedMesh, ReadError> {
    let mut lines = Lines { tokens: Tokens::new(bytes), is_free: false };
    let header = Header::read(&mut lines)?;
    header.check_room(bytes.len())?;
    let mut free = Lines { is_free: true, ..lines.clone() };
    // The number of edges.
    free.token();
    match read_body(bytes, &header, lines, options) {
        Err(error @ ReadError::Line { .. }) => {
            read_body(bytes, &header, free, options).map_err(|_| error)
        }
        read => read,
    }
}

/// Reads the vertices and faces in `lines`.
fn read_body(
    bytes: &[u8],
    header: &Header,
    mut lines: Lines,
    options: &ReadOptions,
) -> Result<LoadedMesh, ReadError> {
    let with_appearance = options.appearance;
    let mut ahead = lines.clone();
    let vertex_scale = header.vertex_scale(&mut ahead)?;
    let counts = FaceCounts::of(ahead, header.faces)?;
    if counts.triangles == 0 {
        return Err(content("no faces found: nothing to voxelize"));
    }
    let for_colors = match with_appearance {
        true => {
            let vertices = if header.colors { 8 * header.vertices } else { 0 };
            vertices + 4 * counts.triangles + FlatColors::most_memory(counts.colored)
        }
        false => 0,
    };
    let for_mesh = 24 * header.vertices + 12 * counts.triangles + TRIANGULATION * counts.largest;
    check_memory(bytes.len() as u64 + for_mesh + for_colors + REST, options.memory)?;

    let mut build = Build::new(header, vertex_scale, &counts, with_appearance);
    for vertex in 0..header.vertices {
        build.add_vertex(header, &mut lines, vertex)?;
    }
    for face in 0..header.faces {
        build.add_face(&mut lines, face)?;
    }
    if lines.is_free && lines.token().is_some() {
        return Err(lines.error("more numbers than the header counts".into()));
    }
    build.finish(header, lines.count())
}

/// The lines of a file that are neither blank nor comments.
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
        self.start(what)
    }

    /// Moves to the next line, from the beginning of a line.
    fn start(&mut self, what: &str) -> Result<(), ReadError> {
        loop {
            self.tokens.skip_blank_lines();
            match self.tokens.clone().next_in_line() {
                Some(token) if token.starts_with(b"#") => _ = self.tokens.rest_of_line(),
                Some(_) => return Ok(()),
                None => {
                    let what = format!("the file ends where {what} belongs: it is cut off");
                    return Err(self.error(what));
                }
            }
        }
    }

    /// The number of lines that follow.
    fn count(mut self) -> u64 {
        let mut count = 0;
        while self.next("").is_ok() {
            count += 1;
        }
        count
    }

    /// The next token of the line, before a comment.
    fn token(&mut self) -> Option<&'a [u8]> {
        if self.is_free {
            self.start("").ok()?;
        }
        let mut ahead = self.tokens.clone();
        let token = ahead.next_in_line().filter(|token| !token.starts_with(b"#"))?;
        self.tokens = ahead;
        Some(token)
    }

    fn skip(&mut self, tokens: usize) {
        (0..tokens).for_each(|_| _ = self.token());
    }

    /// The next token of the line as an integer.
    fn integer(&mut self, what: &str) -> Result<u64, ReadError> {
        let token = self.token().unwrap_or_default();
        let integer = str::from_utf8(token).ok().and_then(|token| token.parse().ok());
        integer.ok_or_else(|| self.error(format!("{} where {what} belongs", quoted(token))))
    }

    fn error(&self, what: String) -> ReadError {
        self.tokens.error(what)
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

/// A colour of three or four numbers.
#[derive(Debug, Clone, Copy)]
struct ColorNumbers {
    rgb: [f64; 3],
    opacity: Option<f64>,
    has_point: bool,
}

impl ColorNumbers {
    /// The next numbers of a line that ends with `after` other numbers; `None` if they are no
    /// colour.
    fn next(lines: &mut Lines, after: usize) -> Option<Self> {
        let mut ahead = lines.clone();
        let count = if lines.is_free {
            4
        } else {
            std::iter::from_fn(|| ahead.token()).count().saturating_sub(after)
        };
        if count < 3 {
            return None;
        }
        let mut has_point = false;
        let mut next = || {
            let token = lines.token()?;
            has_point |= token.iter().any(|byte| b".eE".contains(byte));
            Some(number(token))
        };
        let rgb = [next()??, next()??, next()??];
        let opacity = if count > 3 { Some(next()??) } else { None };
        Some(Self { rgb, opacity, has_point })
    }
}

/// Whether colours are fractions from 0 to 1 or integers from 0 to 255.
#[derive(Debug, Clone, Copy, Default)]
struct Scale {
    has_points: bool,
    /// The largest number.
    largest: f64,
}

impl Scale {
    fn add(&mut self, color: ColorNumbers) {
        let ColorNumbers { rgb, opacity, has_point } = color;
        self.has_points |= has_point;
        self.largest = rgb.into_iter().chain(opacity).fold(self.largest, f64::max);
    }

    fn is_fraction(self) -> bool {
        self.has_points || self.largest <= 1.0
    }

    /// Whether the numbers of a colour are in the range.
    fn holds(self, ColorNumbers { rgb, opacity, .. }: ColorNumbers) -> bool {
        let most = if self.is_fraction() { 1.0 } else { 255.0 };
        rgb.into_iter().chain(opacity).all(|number| is_unit(number / most))
    }

    fn color(self, ColorNumbers { rgb, opacity, .. }: ColorNumbers) -> Rgba {
        let most = if self.is_fraction() { 255.0 } else { 1.0 };
        let channel = |number: f64| (number * most).round().clamp(0.0, 255.0) as u8;
        let [r, g, b] = rgb.map(channel);
        [r, g, b, opacity.map_or(u8::MAX, channel)]
    }

    /// A warning if the numbers do not show what they are.
    fn warning(self, whose: &str) -> Option<String> {
        let is_assumed = !self.has_points && self.largest == 1.0;
        is_assumed.then(|| {
            format!("the colours of {whose} have no value above 1: they are read as fractions")
        })
    }
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
        lines.start("'OFF'")?;
        let first = lines.token().unwrap_or_default();
        let Some((before, after)) = header_of(first) else {
            return Err(not_off());
        };
        let Some([colors, normals, texcoords]) = attributes(before) else {
            let what = format!("{}: only vertices of three coordinates are read", quoted(first));
            return Err(lines.error(what));
        };
        if lines.clone().token() == Some(&b"BINARY"[..]) {
            let what = "binary OFF is not read: save the mesh as text, or as PLY";
            return Err(content(what));
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

    /// Skips the normal of a vertex, if there is one.
    fn pass_normal(&self, lines: &mut Lines) {
        lines.skip(if self.normals { 3 } else { 0 });
    }

    /// Skips the texture coordinates of a vertex, if no line end tells where they end.
    fn pass_texcoords(&self, lines: &mut Lines) {
        lines.skip(if self.texcoords && lines.is_free { 2 } else { 0 });
    }

    /// The colour of a vertex, before its texture coordinates.
    fn vertex_color(&self, lines: &mut Lines) -> Option<ColorNumbers> {
        ColorNumbers::next(lines, if self.texcoords { 2 } else { 0 })
    }

    /// Moves to the last vertex. Returns the scale of the vertices' colours.
    fn vertex_scale(&self, lines: &mut Lines) -> Result<Scale, ReadError> {
        let mut scale = Scale::default();
        for _ in 0..self.vertices {
            lines.next("a vertex")?;
            if self.colors || lines.is_free {
                lines.skip(3);
                self.pass_normal(lines);
            }
            if self.colors
                && let Some(color) = self.vertex_color(lines)
            {
                scale.add(color);
            }
            self.pass_texcoords(lines);
        }
        Ok(scale)
    }

    /// Rejects counts that exceed the file's length; the shortest records are `0 0 0` and `0`, with
    /// a line end each.
    fn check_room(&self, bytes: usize) -> Result<(), ReadError> {
        let needed = self.vertices.saturating_mul(6).saturating_add(self.faces.saturating_mul(2));
        if needed > bytes as u64 + 2 {
            Err(content(format!(
                "the header says {} vertices and {} faces, but the file is too short for that: it \
                 is cut off, or the header is wrong",
                self.vertices, self.faces
            )))
        } else {
            Ok(())
        }
    }
}

/// An upper bound of the triangles of faces.
#[derive(Debug, Default)]
struct FaceCounts {
    triangles: u64,
    /// Corners of the largest face.
    largest: u64,
    /// Triangles of faces with a colour.
    colored: u64,
    scale: Scale,
}

impl FaceCounts {
    fn of(mut lines: Lines, faces: u64) -> Result<Self, ReadError> {
        let mut counts = Self::default();
        for _ in 0..faces {
            lines.next("a face")?;
            let corners = lines.integer("the number of a face's corners")?;
            for indices in 0..corners {
                if lines.token().is_none() {
                    let what = format!("a face of {corners} corners, but {indices} numbers follow");
                    return Err(lines.error(what));
                }
            }
            let triangles = corners.saturating_sub(2);
            counts.triangles += triangles;
            counts.largest = counts.largest.max(corners);
            if !lines.is_free && lines.clone().token().is_some() {
                counts.colored += triangles;
                if let Some(color) = ColorNumbers::next(&mut lines, 0) {
                    counts.scale.add(color);
                }
            }
        }
        Ok(counts)
    }
}

struct Build {
    positions: Vec<[f64; 3]>,
    triangles: Vec<[u32; 3]>,
    vertex_colors: Vec<Linear>,
    material_of: Vec<u32>,
    materials: FlatColors,
    has_face_colors: bool,
    with_appearance: bool,
    vertex_scale: Scale,
    face_scale: Scale,
    triangulator: Triangulator,
    /// Faces of fewer than three corners.
    points_and_lines: u64,
    /// Faces whose colour is an index of an external colour map.
    indexed: u64,
    /// Vertices and faces with a colour outside the range of its scale.
    clamped: [u64; 2],
    /// Vertices without the colour that the header announces.
    uncolored: u64,
    /// Vertices with more numbers than the header announces.
    longer: u64,
    corners: Vec<u32>,
}

impl Build {
    fn new(
        header: &Header,
        vertex_scale: Scale,
        counts: &FaceCounts,
        with_appearance: bool,
    ) -> Self {
        let vertices = header.vertices as usize;
        let material = Material { has_vertex_colors: header.colors, ..Material::default() };
        let has_face_colors = with_appearance && counts.colored > 0;
        let room = |needed: bool, count: usize| if needed { count } else { 0 };
        Self {
            positions: Vec::with_capacity(vertices),
            triangles: Vec::with_capacity(counts.triangles as usize),
            vertex_colors: Vec::with_capacity(room(with_appearance && header.colors, vertices)),
            material_of: Vec::with_capacity(room(has_face_colors, counts.triangles as usize)),
            materials: FlatColors::new(vec![material]),
            has_face_colors,
            with_appearance,
            vertex_scale,
            face_scale: counts.scale,
            triangulator: Triangulator::default(),
            points_and_lines: 0,
            indexed: 0,
            clamped: [0; 2],
            uncolored: 0,
            longer: 0,
            corners: Vec::new(),
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
        if !self.with_appearance && !lines.is_free {
            return Ok(());
        }
        header.pass_normal(lines);
        if header.colors {
            let color = header.vertex_color(lines);
            self.uncolored += u64::from(color.is_none());
            let is_clamped = color.is_some_and(|color| !self.vertex_scale.holds(color));
            self.clamped[0] += u64::from(is_clamped);
            let color = color.map_or([u8::MAX; 4], |color| self.vertex_scale.color(color));
            if self.with_appearance {
                self.vertex_colors.push(linear_of_rgba(color));
            }
        } else if !header.texcoords && !lines.is_free {
            self.longer += u64::from(lines.token().is_some());
        }
        header.pass_texcoords(lines);
        Ok(())
    }

    fn coordinate(&self, lines: &mut Lines, vertex: u64) -> Result<f64, ReadError> {
        let token = lines.token().unwrap_or_default();
        number(token).filter(|number| number.is_finite()).ok_or_else(|| {
            lines.error(format!(
                "vertex {vertex} (counted from 0): {} is not a finite number",
                quoted(token)
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
            [] | [_] | [_, _] => self.points_and_lines += 1,
            [a, b, c] => self.triangles.push([a, b, c]),
            _ => {
                let outline = self.corners.iter().map(|&i| self.positions[i as usize]);
                let outline: Vec<[f64; 3]> = outline.collect();
                let triangles = self.triangulator.triangulate(&outline);
                let corners = &self.corners;
                self.triangles.extend(triangles.iter().map(|t| t.map(|i| corners[i as usize])));
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

    /// The material of the colour at the end of a face's line.
    fn material(&mut self, lines: &mut Lines) -> u32 {
        let has_any = lines.clone().token().is_some();
        match ColorNumbers::next(lines, 0) {
            Some(color) => {
                self.clamped[1] += u64::from(!self.face_scale.holds(color));
                self.materials.material_of(self.face_scale.color(color))
            }
            None => {
                self.indexed += u64::from(has_any);
                0
            }
        }
    }

    /// The mesh; `more` lines follow its faces.
    fn finish(self, header: &Header, more: u64) -> Result<LoadedMesh, ReadError> {
        let mut warnings = Vec::new();
        let after = "skipped after the faces that the header counts";
        warnings.extend(counted_warning(more, ["line was", "lines were"], after));
        let vertices_have = ["vertex has", "vertices have"];
        let more_numbers = "more numbers than 'OFF' announces, which were skipped: colours need \
                            'COFF', normals 'NOFF'";
        warnings.extend(counted_warning(self.longer, vertices_have, more_numbers));
        if self.with_appearance && header.texcoords {
            warnings.push("texture coordinates were skipped: OFF names no image for them".into());
        }
        let white = "no colour of three or four numbers: they are white";
        warnings.extend(counted_warning(self.uncolored, vertices_have, white));
        if self.with_appearance {
            warnings.extend(self.vertex_scale.warning("vertices"));
            warnings.extend(self.face_scale.warning("faces"));
            warnings.extend(clamped_colors(self.clamped));
        }
        warnings.extend(points_and_lines_warning(self.points_and_lines));
        warnings.extend(self.triangulator.warning());
        let plain = "no colour of three or four numbers, and the plain one";
        warnings.extend(counted_warning(self.indexed, ["face has", "faces have"], plain));
        let mesh = Mesh::new(self.positions, self.triangles)?;
        if !self.with_appearance || !header.colors && !self.has_face_colors {
            return Ok(LoadedMesh::new(mesh, warnings));
        }
        let (mut materials, changes) = self.materials.finish();
        warnings.extend(changes);
        if self.vertex_colors.iter().any(|color| color[3] < u16::MAX) {
            materials[0].alpha = crate::mesh::appearance::Alpha::Blend;
        }
        let mesh = mesh.with_appearance(Appearance {
            materials,
            material_of: self.material_of,
            vertex_colors: self.vertex_colors,
            ..Appearance::default()
        })?;
        Ok(LoadedMesh::new(mesh, warnings))
    }
}
