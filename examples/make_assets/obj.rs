//! Writes OBJ files. Every part is a loft: rings of points joined by quads, its ends closed by
//! polygons, so that all parts are closed and face outward by construction.

use std::collections::HashMap;

use super::shapes::{Point, Rings};

/// A part of a texture, as an affine map: `uv = corner + s around + t along`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Region {
    /// Where `s` and `t` are 0.
    pub(crate) corner: [f64; 2],
    /// What `s` adds from 0 to 1, around a ring.
    pub(crate) around: [f64; 2],
    /// What `t` adds from 0 to 1, from ring to ring.
    pub(crate) along: [f64; 2],
}

/// How a face looks.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Paint {
    /// A material without texture.
    Plain(&'static str),
    /// The texture's region once on this face.
    Tiled(&'static str, Region),
    /// The texture's region once around and along the whole part.
    Wrapped(&'static str, Region),
}

/// A face of a loft.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Facet {
    /// From a ring to the next, and from a segment of theirs to the next.
    Side { ring: usize, segment: usize },
    /// The polygon that closes the first ring.
    First,
    /// The polygon that closes the last ring.
    Last,
}

/// The same material everywhere.
pub(crate) fn plain(material: &'static str) -> impl Fn(Facet) -> Paint {
    move |_| Paint::Plain(material)
}

/// An OBJ file in the making.
#[derive(Debug)]
pub(crate) struct Obj {
    text: String,
    vertices: usize,
    /// Texture coordinates, as written, and their numbers.
    uvs: HashMap<String, usize>,
}

/// A face before it is painted.
struct Face {
    facet: Facet,
    corners: Vec<Corner>,
}

#[derive(Clone, Copy)]
struct Corner {
    /// Counted from 1, as the file does.
    vertex: usize,
    /// Ring and segment; the segment where the ring ends is not the one where it starts.
    at: [usize; 2],
}

impl Obj {
    /// A file that starts with the lines of `header`.
    pub(crate) fn new(header: &str) -> Self {
        Self { text: format!("{header}\n"), vertices: 0, uvs: HashMap::new() }
    }

    /// The file's bytes.
    pub(crate) fn finish(self) -> Vec<u8> {
        self.text.into_bytes()
    }

    /// What follows belongs to an object of this name.
    pub(crate) fn object(&mut self, name: &str) {
        self.line("o", [name]);
    }

    /// Adds the solid within `rings`. Ends are closed by polygons, unless the last ring is the
    /// first again.
    pub(crate) fn solid(&mut self, rings: &Rings, paint: impl Fn(Facet) -> Paint) {
        let size = [rings.len() - 1, rings.iter().map(Vec::len).max().unwrap_or(1)];
        let faces = faces(&self.add_points(rings));
        let mut painted: Vec<(Paint, &Face)> = faces.iter().map(|f| (paint(f.facet), f)).collect();
        painted.sort_by_key(|(paint, _)| paint.material());
        for group in painted.chunk_by(|a, b| a.0.material() == b.0.material()) {
            self.line("usemtl", [group[0].0.material()]);
            group.iter().for_each(|(paint, face)| self.add_face(*paint, face, size));
        }
    }

    /// Adds the solid within `rings`, of no material.
    pub(crate) fn bare_solid(&mut self, rings: &Rings) {
        for face in faces(&self.add_points(rings)) {
            self.line("f", face.corners.iter().map(|corner| corner.vertex));
        }
    }

    fn add_points(&mut self, rings: &Rings) -> Vec<Vec<usize>> {
        let (last, others) = rings.split_last().expect("a solid has rings");
        let mut add = |ring: &Vec<Point>| ring.iter().map(|p| self.add_point(p)).collect();
        let mut numbers: Vec<Vec<usize>> = others.iter().map(&mut add).collect();
        numbers.push(match others.first() {
            Some(first) if first == last => numbers[0].clone(),
            _ => add(last),
        });
        numbers
    }

    fn add_point(&mut self, point: &Point) -> usize {
        self.line("v", point.map(decimal));
        self.vertices += 1;
        self.vertices
    }

    fn add_uv(&mut self, uv: [f64; 2]) -> usize {
        let text = uv.map(decimal).join(" ");
        if let Some(&number) = self.uvs.get(&text) {
            return number;
        }
        self.line("vt", [&text]);
        let number = self.uvs.len() + 1;
        self.uvs.insert(text, number);
        number
    }

    fn add_face(&mut self, paint: Paint, face: &Face, size: [usize; 2]) {
        let mut corners = Vec::new();
        for corner in &face.corners {
            let uv = paint.uv(face.facet, corner.at, size).map(|uv| self.add_uv(uv));
            corners.push(match uv {
                Some(uv) => format!("{}/{uv}", corner.vertex),
                None => corner.vertex.to_string(),
            });
        }
        self.line("f", corners);
    }

    fn line(&mut self, keyword: &str, words: impl IntoIterator<Item = impl ToString>) {
        self.text.push_str(keyword);
        for word in words {
            self.text.push(' ');
            self.text.push_str(&word.to_string());
        }
        self.text.push('\n');
    }
}

/// With at most four decimals, and no `-0`.
fn decimal(value: f64) -> String {
    ((value * 1e4).round() / 1e4 + 0.0).to_string()
}

/// The faces between rings of vertices, and those that close the ends.
fn faces(rings: &[Vec<usize>]) -> Vec<Face> {
    let mut faces: Vec<Face> = (0..rings.len() - 1)
        .flat_map(|ring| side_faces(ring, &rings[ring], &rings[ring + 1]))
        .collect();
    let [first, .., last] = rings else { return faces };
    if first != last {
        let corner = |&vertex: &usize| Corner { vertex, at: [0; 2] };
        let ends = [
            Face { facet: Facet::First, corners: first.iter().rev().map(corner).collect() },
            Face { facet: Facet::Last, corners: last.iter().map(corner).collect() },
        ];
        faces.extend(ends.into_iter().filter(|face| face.corners.len() > 2));
    }
    faces
}

/// Quads from ring `ring` to the next; triangles where either is a pole.
fn side_faces(ring: usize, below: &[usize], above: &[usize]) -> Vec<Face> {
    let segments = below.len().max(above.len());
    let corner = |segment: usize, up: usize| {
        let points = [below, above][up];
        Corner { vertex: points[segment % points.len()], at: [ring + up, segment] }
    };
    let face = |segment: usize| {
        let next = segment + 1;
        let quad = [corner(segment, 0), corner(next, 0), corner(next, 1), corner(segment, 1)];
        let mut corners = quad.to_vec();
        corners.dedup_by_key(|corner| corner.vertex);
        Face { facet: Facet::Side { ring, segment }, corners }
    };
    (0..segments).map(face).collect()
}

impl Paint {
    fn material(&self) -> &'static str {
        match self {
            Self::Plain(name) | Self::Tiled(name, _) | Self::Wrapped(name, _) => name,
        }
    }

    /// The texture coordinate of the corner `at` ring and segment of a part of `size` rings and
    /// segments.
    fn uv(&self, facet: Facet, at: [usize; 2], size: [usize; 2]) -> Option<[f64; 2]> {
        let Facet::Side { ring, segment } = facet else { return None };
        let (region, [t, s]) = match self {
            Self::Plain(_) => return None,
            Self::Tiled(_, region) => (region, [at[0] - ring, at[1] - segment].map(|c| c as f64)),
            Self::Wrapped(_, region) => (region, [0, 1].map(|a| at[a] as f64 / size[a] as f64)),
        };
        Some([0, 1].map(|a| region.corner[a] + s * region.around[a] + t * region.along[a]))
    }
}
