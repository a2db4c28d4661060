//! Shells, edges, volume and area of placed meshes: of surfaces whose facts are known, of soups
//! against brute force, and of real models.
use crate::common::prelude::*;

use trivox::Topology;
use trivox::solid::topology::Edge;

/// The facts of a mesh one unit of which is one voxel.
fn topology(mesh: &Mesh) -> Topology {
    Topology::of(&at_voxel_size(mesh, 1.0))
}

/// A mesh placed so finely that rounding hardly moves it.
fn topology_in_detail(mesh: &Mesh) -> Topology {
    Topology::of(&at_resolution(mesh, 256))
}

/// Collapsed triangles, shells and edges; of the edges the open, the non-manifold, the
/// inconsistent, the odd and the unbalanced.
type Counts = [u64; 8];

const CUBE: Counts = [0, 1, 18, 0, 0, 0, 0, 0];

fn counts(of: &Topology) -> Counts {
    let [open, non_manifold] = [of.open_edges, of.non_manifold_edges];
    let [inconsistent, odd, unbalanced] =
        [of.inconsistent_edges, of.odd_edges, of.unbalanced_edges];
    [of.collapsed, of.shells, of.edges, open, non_manifold, inconsistent, odd, unbalanced]
}

fn lattice_edge(one: [i32; 3], other: [i32; 3]) -> Option<Edge> {
    Some([one, other].map(|p| p.map(|c| c * UNIT)))
}

/// What is known of meshes of cubes: counts, six times the volume, the area, and the first edge at
/// fault.
#[test]
fn cubes_have_the_facts_that_are_counted_by_hand() {
    let one = cube([0.0; 3], 4.0);
    let and = |corner: [f64; 3]| together(&[one.clone(), cube(corner, 4.0)]);
    let hollow = together(&[one.clone(), inside_out(&cube([1.0; 3], 2.0))]);
    let twice = with_triangles(&one, one.triangles().repeat(2));
    let paper = first_triangles(&one, 1);
    let paper = together(&[inside_out(&paper), paper]);
    let line = mesh_of(&[[[1.0; 3], [2.0; 3], [3.0; 3]]]);
    let room = cube([4.0, 0.0, 0.0], 4.0);
    let rooms = together(&[one.clone(), with_triangles(&room, room.triangles()[2..].to_vec())]);
    let beside = together(&[one.clone(), line.clone()]);
    let (flipped, flipped_edge) = (with_flipped(&one, 0), lattice_edge([0; 3], [0, 0, 4]));
    let lidless = lidless_cube([0.0; 3], 4.0);
    let collapsed = mesh_of(&[[[0.0; 3], [1.0, 2.0, 3.0], [0.0; 3]], [[1.0, 2.0, 3.0]; 3]]);

    let two = [0, 2, 36, 0, 0, 0, 0, 0];
    let lid_edge = lattice_edge([0, 0, 4], [0, 4, 4]);
    let wall_edge = lattice_edge([4, 0, 0], [4, 0, 4]);
    for (name, mesh, expected, volume, area, example) in [
        ("twelve edges and six diagonals", one.clone(), CUBE, 6 * 64, 96.0, None),
        // Of the six cones from the centre one is missing.
        ("no lid", lidless, [0, 1, 17, 4, 0, 0, 4, 4], 5 * 64, 80.0, lid_edge),
        ("a cavity is a shell of its own", hollow, two, 6 * (64 - 8), 120.0, None),
        ("an overlap counts twice", and([1.0; 3]), two, 6 * 128, 192.0, None),
        // Four edges and the diagonal, each of four triangles.
        ("a face", and([4.0, 0.0, 0.0]), [0, 1, 31, 0, 5, 0, 0, 0], 6 * 128, 192.0, None),
        ("an edge", and([4.0, 4.0, 0.0]), [0, 1, 35, 0, 1, 0, 0, 0], 6 * 128, 192.0, None),
        ("a common vertex", and([4.0; 3]), two, 6 * 128, 192.0, None),
        ("inside out", inside_out(&one), CUBE, -6 * 64, 96.0, None),
        // The lower half of the side towards negative x: the half of a cone counts against it.
        ("flipped", flipped, [0, 1, 18, 0, 0, 3, 0, 3], 5 * 64, 96.0, flipped_edge),
        ("all triangles twice", twice, [0, 1, 18, 0, 18, 0, 0, 0], 6 * 128, 192.0, None),
        ("a line beside it", beside, [1, 1, 18, 0, 0, 0, 0, 0], 6 * 64, 96.0, None),
        ("nothing but a line", line, [1, 0, 0, 0, 0, 0, 0, 0], 0, 0.0, None),
        ("a line there and back, and a point", collapsed, [2, 0, 0, 0, 0, 0, 0, 0], 0, 0.0, None),
        ("a triangle back to back", paper, [0, 1, 3, 0, 0, 0, 0, 0], 0, 16.0, None),
        // Odd edges and no open ones.
        ("a wall within", rooms, [0, 1, 31, 0, 4, 0, 4, 4], 6 * 128, 176.0, wall_edge),
    ] {
        let found = topology(&mesh);
        assert_eq!(counts(&found), expected, "{name}");
        assert_eq!(found.volume_times_six, volume * i128::from(UNIT).pow(3), "{name}");
        let area = area * f64::from(UNIT).powi(2);
        assert_eq!((found.area, found.example), (area, example), "{name}");
        let [.., odd, unbalanced] = expected;
        assert_eq!([found.is_closed(), found.is_oriented()], [odd == 0, unbalanced == 0], "{name}");
    }
}

#[test]
fn what_is_welded_is_what_lies_at_one_lattice_point() {
    for mesh in [cube([0.0; 3], 4.0), torus(2.0, 1.0, 30, 20), lidless_cube([0.0; 3], 4.0)] {
        let repeated = with_vertices_repeated(&mesh);
        assert_eq!(topology_in_detail(&repeated), topology_in_detail(&mesh));
    }
    // A gap of less than half a lattice unit is none, one of more is.
    let apart = |units: f64| {
        let gap = units / f64::from(UNIT);
        topology(&together(&[cube([0.0; 3], 4.0), cube([4.0 + gap, 0.0, 0.0], 4.0)])).shells
    };
    assert_eq!([apart(0.0), apart(0.4), apart(0.6)], [1, 1, 2]);
}

#[test]
fn volumes_are_exact_at_the_ends_of_the_lattice() {
    let end = f64::from(1 << 24);
    let fills = |mesh: &Mesh, size: f64| {
        let mesh = within(mesh, f64::from(UNIT), [0.0; 3], [size; 3]);
        assert_eq!(mesh.lattice().fraction_bits, 16);
        Topology::of(&mesh)
    };
    let all = cuboid([0.0; 3], [end; 3]);
    let one = fills(&all, end);
    assert_eq!((one.volume_times_six, one.area), (6 << 72, 6.0 * end * end));
    // As many as a sum has room for, and more.
    let copies = 2000;
    let many = fills(&with_triangles(&all, all.triangles().repeat(copies)), end);
    assert_eq!(many.volume_times_six, one.volume_times_six * copies as i128);
    assert_eq!(many.area, one.area * copies as f64);
    // A mesh far from its grid.
    let size = 64.0 * f64::from(UNIT);
    let beyond = fills(&cuboid([size - end; 3], [-1.0; 3]), size);
    let side = (1 << 24) - (64 << 16) - 1_i128;
    assert_eq!(beyond.volume_times_six, 6 * side.pow(3));
}

/// The counts, the first edge at fault and six times the volume.
type Facts = (Counts, Option<Edge>, i128);

fn facts(topology: &Topology) -> Facts {
    (counts(topology), topology.example, topology.volume_times_six)
}

/// The facts by brute force, from the corners of the triangles alone, and the area.
fn oracle(mesh: &PlacedMesh) -> (Facts, f64) {
    let is_collapsed = |[a, b, c]: Triangle| a == b || b == c || c == a;
    let has_area = |corners: &Triangle| {
        let [a, b, c] = corners.map(|corner| corner.map(i64::from));
        cross(minus(b, a), minus(c, a)) != [0; 3]
    };
    let all: Vec<Triangle> = mesh.triangles().filter(|&t| !is_collapsed(t)).collect();
    let mut shells = shells(all.len(), edges(&all).values());
    shells.retain(|shell| shell.iter().any(|&number| has_area(&all[number])));
    let triangles: Vec<Triangle> = shells.concat().into_iter().map(|number| all[number]).collect();
    let edges = edges(&triangles);
    let having = |is_one: &dyn Fn(usize, usize) -> bool| {
        edges.values().filter(|[up, down]| is_one(up.len(), down.len())).count() as u64
    };
    let counts = [
        (mesh.len() - triangles.len()) as u64,
        shells.len() as u64,
        edges.len() as u64,
        having(&|up, down| up + down == 1),
        having(&|up, down| up + down > 2),
        having(&|up, down| up + down == 2 && up != down),
        having(&|up, down| (up + down) % 2 == 1),
        having(&|up, down| up != down),
    ];
    let find = |is_one: &dyn Fn(usize, usize) -> bool| {
        edges.iter().find(|(_, [up, down])| is_one(up.len(), down.len())).map(|(&edge, _)| edge)
    };
    let example = find(&|up, down| up + down == 1)
        .or_else(|| find(&|up, down| (up + down) % 2 == 1))
        .or_else(|| find(&|up, down| up != down));
    let (volume, area) = measures(mesh);
    ((counts, example, volume), area)
}

/// The numbers of the triangles at each edge, of those that rise and of those that fall.
fn edges(triangles: &[Triangle]) -> BTreeMap<Edge, [Vec<usize>; 2]> {
    let mut edges: BTreeMap<Edge, [Vec<usize>; 2]> = BTreeMap::new();
    for (number, corners) in triangles.iter().enumerate() {
        for [from, to] in [0, 1, 2].map(|i| [corners[i], corners[(i + 1) % 3]]) {
            let edge = [from.min(to), from.max(to)];
            edges.entry(edge).or_default()[usize::from(from > to)].push(number);
        }
    }
    edges
}

/// The numbers of the triangles in each piece, of so many triangles.
fn shells<'a>(
    triangles: usize,
    edges: impl Iterator<Item = &'a [Vec<usize>; 2]> + Clone,
) -> Vec<Vec<usize>> {
    // At last, the lowest number of each triangle's piece.
    let mut lowest: Vec<usize> = (0..triangles).collect();
    let mut is_changed = true;
    while is_changed {
        is_changed = false;
        for at_edge in edges.clone() {
            let least = at_edge.iter().flatten().map(|&number| lowest[number]).min().unwrap();
            for &number in at_edge.iter().flatten() {
                is_changed |= lowest[number] != least;
                lowest[number] = least;
            }
        }
    }
    let mut shells: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (number, lowest) in lowest.into_iter().enumerate() {
        shells.entry(lowest).or_default().push(number);
    }
    shells.into_values().collect()
}

/// Six times the volume as a sum of determinants, and the area from scalar products.
fn measures(mesh: &PlacedMesh) -> (i128, f64) {
    let lattice = mesh.lattice();
    let center = lattice.dims.map(|d| i128::from(d) * i128::from(lattice.units_per_voxel()) / 2);
    let determinant = |corners: Triangle| {
        let [a, b, c] = corners.map(|p| minus(p.map(i128::from), center));
        dot(a, cross(b, c))
    };
    let area = |[a, b, c]: Triangle| {
        let [e, f] = [b, c].map(|p| minus(p, a).map(f64::from));
        (dot(e, e) * dot(f, f) - dot(e, f).powi(2)).max(0.0).sqrt() / 2.0
    };
    (mesh.triangles().map(determinant).sum(), mesh.triangles().map(area).sum())
}

fn assert_as_brute_force(mesh: &PlacedMesh) -> Topology {
    let topology = Topology::of(mesh);
    let (expected, area) = oracle(mesh);
    assert_eq!(facts(&topology), expected);
    assert!((topology.area - area).abs() <= 1e-6 * area, "{} and {area}", topology.area);
    topology
}

/// The triangles by numbers of vertices that they share.
fn indexed(triangles: &[Triangle]) -> Mesh {
    let mut points: Vec<[i32; 3]> = triangles.concat();
    points.sort_unstable();
    points.dedup();
    let number = |p: [i32; 3]| points.binary_search(&p).unwrap() as u32;
    let triangles = triangles.iter().map(|t| t.map(number)).collect();
    Mesh::new(points.iter().map(|p| p.map(f64::from)).collect(), triangles).unwrap()
}

/// The lattice triangles placed as they are, as [`placed`] does, but with shared vertices.
fn placed_indexed(triangles: &[Triangle], dims: [u32; 3]) -> PlacedMesh {
    let size = f64::from(UNIT);
    within(&indexed(triangles), size, [0.0; 3], dims.map(|d| f64::from(d) * size))
}

#[test]
fn soups_have_the_facts_that_brute_force_finds() {
    let mut rng = Rng::with_seed(1);
    let (mut seen, mut most_shells) = ([0; 8], 0);
    for round in 0..300 {
        // From two points an axis to seven, so that edges have many triangles or few.
        let reach = rng.i32(1..=6) * UNIT;
        let count = 1 << rng.u32(0..10);
        let triangles = match round % 3 {
            0 => degenerate_soup(&mut rng, count, reach, UNIT),
            _ => soup(&mut rng, count, reach, UNIT),
        };
        let topology = assert_as_brute_force(&placed(&triangles, [8; 3]));
        assert_eq!(Topology::of(&placed_indexed(&triangles, [8; 3])), topology);
        let found = counts(&topology);
        (0..8).for_each(|i| seen[i] += u64::from(found[i] > 0));
        most_shells = most_shells.max(found[1]);
    }
    assert!(seen.iter().all(|&rounds| rounds > 10) && most_shells > 10, "{seen:?}, {most_shells}");
}

#[test]
fn brute_force_tells_a_mesh_from_one_with_a_triangle_flipped_or_missing() {
    let mesh = torus(2.0, 1.0, 30, 20);
    let right = at_resolution(&mesh, 64);
    let expected = assert_as_brute_force(&right);
    for wrong in [with_flipped(&mesh, 7), first_triangles(&mesh, mesh.triangles().len() - 1)] {
        assert_ne!(oracle(&at_resolution(&wrong, 64)).0, facts(&expected));
    }
}

/// Many small triangles, in a box long enough that their vertices fill several parts.
fn large_soup(rng: &mut Rng, count: usize) -> Vec<Triangle> {
    let triangle = |rng: &mut Rng| -> Triangle {
        let base: [i32; 3] = [rng.i32(0..60), rng.i32(0..30), rng.i32(0..30)];
        std::array::from_fn(|_| base.map(|c| (c + rng.i32(0..=1)) << 16))
    };
    (0..count).map(|_| triangle(rng)).collect()
}

#[test]
fn large_soups_have_the_facts_that_brute_force_finds() {
    let mut rng = Rng::with_seed(2);
    let triangles = large_soup(&mut rng, 100_000);
    let mesh = placed(&triangles, [62, 32, 32]);
    assert_as_brute_force(&mesh);
    // One vertex of all triangles: the longest lists of half-edges that there can be.
    let fan: Vec<Triangle> =
        triangles.iter().take(20_000).map(|&[_, b, c]| [[0; 3], b, c]).collect();
    assert_as_brute_force(&placed(&fan, [62, 32, 32]));
}

#[test]
fn more_vertices_than_the_smallest_parts_hold_are_in_larger_ones() {
    let count = (1 << 23) / 3 + 1;
    let triangles = large_soup(&mut Rng::with_seed(3), count);
    let mesh = placed(&triangles, [62, 32, 32]);
    assert!(mesh.vertices().len() > 1 << 23);
    let shared = placed_indexed(&triangles, [62, 32, 32]);
    assert_eq!(Topology::of(&mesh), Topology::of(&shared));
}

/// The same surface: triangles, vertices and the corners of each triangle in another order.
fn in_another_order(mesh: &Mesh, rng: &mut Rng) -> Mesh {
    let mut order: Vec<u32> = (0..mesh.positions().len() as u32).collect();
    rng.shuffle(&mut order);
    let mut positions = vec![[0.0; 3]; order.len()];
    for (position, &number) in mesh.positions().iter().zip(&order) {
        positions[number as usize] = *position;
    }
    let renumbered = |triangle: &[u32; 3]| triangle.map(|vertex| order[vertex as usize]);
    let mut triangles: Vec<[u32; 3]> = mesh.triangles().iter().map(renumbered).collect();
    triangles.iter_mut().for_each(|triangle| triangle.rotate_left(rng.usize(0..3)));
    rng.shuffle(&mut triangles);
    Mesh::new(positions, triangles).unwrap()
}

#[test]
fn order_and_threads_change_nothing() {
    let mut rng = Rng::with_seed(4);
    let soup = large_soup(&mut rng, 60_000);
    let meshes = [
        indexed(&soup),
        with_vertices_repeated(&indexed(&soup)),
        sphere(1.0, 150, 300),
        klein_bottle(150, 150),
    ];
    for mesh in meshes {
        let expected = topology_in_detail(&mesh);
        for threads in [1, 2, 5] {
            let other = in_another_order(&mesh, &mut rng);
            let found = on_threads(threads, || topology_in_detail(&other));
            assert_eq!(found, expected, "{threads} threads");
        }
    }
}

#[test]
fn real_models_have_the_facts_that_are_known_of_them() {
    let Some(folder) = environment::models() else { return };
    let of = |name: &str| {
        let mesh = read_mesh(folder.join(name)).unwrap().mesh;
        let topology = topology_in_detail(&mesh);
        println!("{name}: {topology:?}");
        counts(&topology)
    };
    for name in ["spot", "fandisk", "rocker-arm", "fuze", "armadillo"] {
        let found = of(&format!("{name}.obj"));
        assert_eq!(found, [0, 1, found[2], 0, 0, 0, 0, 0], "{name}");
    }
    assert_eq!(of("bunny.obj"), [0, 1, 104_288, 223, 0, 0, 223, 223]);
    let [_, shells, _, open, non_manifold, ..] = of("suzanne.obj");
    assert_eq!([shells, open, non_manifold], [3, 42, 1]);
    // Of its vertices 2100 repeat others, along what its numbering alone takes for open edges.
    assert_eq!(of("dragon.obj"), [108, 1, 1_306_959, 0, 0, 0, 0, 0]);
}
