//! Surfaces that enclose something, or nearly: all with their triangles counter-clockwise as seen
//! from outside, wherever there is one.

use std::array::from_fn;
use std::f64::consts::TAU;

use trivox::Mesh;

use super::shapes::mesh_of;
use super::vector::plus;

/// An axis-aligned cube: twelve triangles, two a side, on eight vertices.
pub fn cube(min: [f64; 3], size: f64) -> Mesh {
    cuboid(min, min.map(|c| c + size))
}

/// The corners of each side of a box, of which bit `a` is set at the upper end of axis `a`.
pub const SIDES: [[u32; 4]; 6] =
    [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];

/// An axis-aligned box. The last two triangles are its lid, towards positive z.
pub fn cuboid(min: [f64; 3], max: [f64; 3]) -> Mesh {
    let corner = |i: usize| from_fn(|a| if i >> a & 1 == 1 { max[a] } else { min[a] });
    let triangles = SIDES.into_iter().flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]);
    Mesh::new((0..8).map(corner).collect(), triangles.collect()).expect("a valid mesh")
}

/// A cube without its lid towards positive z.
pub fn lidless_cube(min: [f64; 3], size: f64) -> Mesh {
    first_triangles(&cube(min, size), 10)
}

/// A sphere about the origin: `rings` of latitude by `segments` of longitude, the poles two
/// vertices.
pub fn sphere(radius: f64, rings: u32, segments: u32) -> Mesh {
    let point = |ring: u32, segment: u32| {
        let (polar, angle) = (part(ring, rings) / 2.0, part(segment, segments));
        from_fn(|a| radius * [polar.sin() * angle.cos(), polar.sin() * angle.sin(), polar.cos()][a])
    };
    let between = (1..rings).flat_map(|ring| (0..segments).map(move |s| point(ring, s)));
    let poles = [[0.0, 0.0, radius], [0.0, 0.0, -radius]];
    let number = |ring: u32, segment: u32| match ring {
        0 => 0,
        ring if ring == rings => 1,
        ring => 2 + (ring - 1) * segments + segment % segments,
    };
    let triangles = sheet(rings, segments, number);
    let is_whole = |&[a, b, c]: &[u32; 3]| a != b && b != c && c != a;
    let positions = poles.into_iter().chain(between).collect();
    Mesh::new(positions, triangles.filter(is_whole).collect()).expect("a valid mesh")
}

/// A torus about the z axis: `along` segments by `around`.
pub fn torus(radius: f64, tube: f64, along: u32, around: u32) -> Mesh {
    let point = |i: u32, j: u32| {
        let (long, short) = (part(i, along), part(j, around));
        let r = radius + tube * short.cos();
        [r * long.cos(), r * long.sin(), tube * short.sin()]
    };
    let positions = (0..along).flat_map(|i| (0..around).map(move |j| point(i, j)));
    let number = |i: u32, j: u32| i % along * around + j % around;
    Mesh::new(positions.collect(), sheet(along, around, number).collect()).expect("a valid mesh")
}

/// A strip with half a turn: `along` by `across` quads, one-sided, its seam at positive x.
pub fn moebius_strip(along: u32, across: u32) -> Mesh {
    let point = |i: u32, j: u32| {
        let angle = part(i, along);
        let from_middle = f64::from(j) / f64::from(across) - 0.5;
        let r = 1.0 + from_middle * (angle / 2.0).cos();
        [r * angle.cos(), r * angle.sin(), from_middle * (angle / 2.0).sin()]
    };
    let positions = (0..along).flat_map(|i| (0..=across).map(move |j| point(i, j)));
    let number = |i: u32, j: u32| {
        if i == along { across - j } else { i * (across + 1) + j }
    };
    Mesh::new(positions.collect(), sheet(along, across, number).collect()).expect("a valid mesh")
}

/// A Klein bottle, the one with a figure of eight for a section: `along` by `around` quads, the
/// latter even, its seam at positive x. No vertices meet where it passes through itself.
pub fn klein_bottle(along: u32, around: u32) -> Mesh {
    let point = |i: u32, j: u32| {
        let (long, short) = (part(i, along), part(2 * j + 1, 2 * around));
        let (half, figure) = (long / 2.0, [short.sin(), (2.0 * short).sin()]);
        let r = 3.0 + half.cos() * figure[0] - half.sin() * figure[1];
        [r * long.cos(), r * long.sin(), half.sin() * figure[0] + half.cos() * figure[1]]
    };
    let positions = (0..along).flat_map(|i| (0..around).map(move |j| point(i, j)));
    let number = |i: u32, j: u32| {
        let j = j % around;
        if i == along { around - 1 - j } else { i * around + j }
    };
    Mesh::new(positions.collect(), sheet(along, around, number).collect()).expect("a valid mesh")
}

/// The triangles of `rows` by `columns` quads whose corners have the vertices that `number` says.
fn sheet(
    rows: u32,
    columns: u32,
    number: impl Fn(u32, u32) -> u32,
) -> impl Iterator<Item = [u32; 3]> {
    (0..rows * columns).flat_map(move |quad| {
        let (i, j) = (quad / columns, quad % columns);
        let [a, b, c, d] =
            [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)].map(|(i, j)| number(i, j));
        [[a, b, c], [a, c, d]]
    })
}

/// The angle of part `i` of `n` of a circle.
fn part(i: u32, n: u32) -> f64 {
    f64::from(i) / f64::from(n) * TAU
}

/// All of them as one mesh that shares no vertices.
pub fn together(meshes: &[Mesh]) -> Mesh {
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for mesh in meshes {
        let first = positions.len() as u32;
        positions.extend_from_slice(mesh.positions());
        triangles.extend(mesh.triangles().iter().map(|t| t.map(|vertex| first + vertex)));
    }
    Mesh::new(positions, triangles).expect("a valid mesh")
}

/// Every triangle the other way round.
pub fn inside_out(mesh: &Mesh) -> Mesh {
    let triangles = mesh.triangles().iter().map(|&[a, b, c]| [a, c, b]);
    with_triangles(mesh, triangles.collect())
}

/// Triangle `index` the other way round.
pub fn with_flipped(mesh: &Mesh, index: usize) -> Mesh {
    let mut triangles = mesh.triangles().to_vec();
    triangles[index].swap(1, 2);
    with_triangles(mesh, triangles)
}

/// The first `count` triangles.
pub fn first_triangles(mesh: &Mesh, count: usize) -> Mesh {
    with_triangles(mesh, mesh.triangles()[..count].to_vec())
}

/// `mesh` without the triangles for whose index `is_lost` is true.
pub fn without(mesh: &Mesh, is_lost: impl Fn(usize) -> bool) -> Mesh {
    let kept = mesh.triangles().iter().enumerate().filter(|(index, _)| !is_lost(*index));
    with_triangles(mesh, kept.map(|(_, &triangle)| triangle).collect())
}

/// Its triangles apart from each other, each scaled by `factor` towards its centre.
pub fn apart(mesh: &Mesh, factor: f64) -> Mesh {
    let scaled = |corners: [[f64; 3]; 3]| {
        let center = [0, 1, 2].map(|a| (corners[0][a] + corners[1][a] + corners[2][a]) / 3.0);
        corners.map(|p| [0, 1, 2].map(|a| center[a] + factor * (p[a] - center[a])))
    };
    mesh_of(&corners_of(mesh).map(scaled).collect::<Vec<_>>())
}

/// The same vertices with other triangles.
pub fn with_triangles(mesh: &Mesh, triangles: Vec<[u32; 3]>) -> Mesh {
    Mesh::new(mesh.positions().to_vec(), triangles).expect("a valid mesh")
}

/// Every triangle with vertices of its own.
pub fn with_vertices_repeated(mesh: &Mesh) -> Mesh {
    mesh_of(&corners_of(mesh).collect::<Vec<_>>())
}

/// The corners of each triangle.
pub fn corners_of(mesh: &Mesh) -> impl Iterator<Item = [[f64; 3]; 3]> {
    mesh.triangles().iter().map(|t| t.map(|corner| mesh.positions()[corner as usize]))
}

/// The mesh, moved.
pub fn shifted(mesh: Mesh, by: [f64; 3]) -> Mesh {
    mesh.with_positions(|p| plus(p, by)).expect("a valid mesh")
}

/// An octahedron with corners at this distance from the origin.
pub fn octahedron(radius: f64) -> Mesh {
    let corners = (0..6).map(|i| {
        let mut corner = [0.0; 3];
        corner[i / 2] = if i % 2 == 0 { radius } else { -radius };
        corner
    });
    let faces = (0..8_u32).map(|i| {
        let [x, y, z] = [i & 1, 2 + (i >> 1 & 1), 4 + (i >> 2)];
        if i.count_ones() % 2 == 0 { [x, y, z] } else { [x, z, y] }
    });
    Mesh::new(corners.collect(), faces.collect()).expect("a valid mesh")
}

/// Separate triangles with corners anywhere in a cube.
pub fn large_triangles(count: usize) -> Vec<[[f64; 3]; 3]> {
    let mut rng = fastrand::Rng::with_seed(51);
    (0..count).map(|_| [(); 3].map(|()| [(); 3].map(|()| rng.f64()))).collect()
}
