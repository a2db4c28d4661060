//! The project's own models: the committed files are what the program makes, and what it makes is
//! what the names promise.

#[path = "../../examples/make_assets/main.rs"]
#[allow(dead_code, reason = "the program's entry point is not called")]
mod make_assets;

use std::collections::{BTreeSet, HashMap};
use std::io::Cursor;
use std::path::{Path, PathBuf};

use trivox::formats::read_mesh;
use trivox::{Cpu, Mesh, NoProgress, PlaceOptions, Sizing, VoxelGrid, place};

fn asset(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets").join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(asset(name)).unwrap()
}

fn mesh(name: &str) -> Mesh {
    let loaded = read_mesh(asset(name)).unwrap();
    assert!(loaded.warnings.is_empty(), "{name}: {:?}", loaded.warnings);
    loaded.mesh
}

/// The names of `files` that are not the same in `assets`.
fn stale(files: &[(&'static str, Vec<u8>)]) -> Vec<&'static str> {
    let differs =
        |(name, bytes): &&(&str, Vec<u8>)| std::fs::read(asset(name)).ok().as_ref() != Some(bytes);
    files.iter().filter(differs).map(|(name, _)| *name).collect()
}

#[test]
fn committed_files_are_what_the_program_makes() {
    let mut files = make_assets::files();
    assert_eq!(stale(&files), [""; 0], "run `cargo run --example make_assets`");

    // One changed byte is seen.
    files[1].1[0] ^= 1;
    assert_eq!(stale(&files), [files[1].0]);
}

/// A position, by which vertices are the same.
type Spot = [u64; 3];

fn spots(mesh: &Mesh) -> impl Iterator<Item = [Spot; 3]> {
    let spot = |&vertex: &u32| mesh.positions()[vertex as usize].map(f64::to_bits);
    mesh.triangles().iter().map(move |triangle| triangle.each_ref().map(spot))
}

/// How many triangles run along each edge, by direction.
fn edges(mesh: &Mesh) -> HashMap<[Spot; 2], usize> {
    let mut edges = HashMap::new();
    for [a, b, c] in spots(mesh) {
        for edge in [[a, b], [b, c], [c, a]] {
            *edges.entry(edge).or_default() += 1;
        }
    }
    edges
}

/// Whether every edge has two triangles, one in each direction.
fn is_closed_manifold(mesh: &Mesh) -> bool {
    let edges = edges(mesh);
    edges.iter().all(|(&[a, b], &count)| count == 1 && edges.contains_key(&[b, a]))
}

/// Whether every edge has as many triangles in one direction as in the other. Closed parts that
/// share edges are closed together.
fn is_closed(mesh: &Mesh) -> bool {
    let edges = edges(mesh);
    edges.iter().all(|(&[a, b], count)| edges.get(&[b, a]) == Some(count))
}

/// The mesh without its last triangle, and with that triangle the wrong way round.
fn damaged(mesh: &Mesh) -> [Mesh; 2] {
    let (&[a, b, c], others) = mesh.triangles().split_last().unwrap();
    let turned = [others, &[[a, c, b]]].concat();
    [others.to_vec(), turned].map(|t| Mesh::new(mesh.positions().to_vec(), t).unwrap())
}

#[test]
fn plain_models_are_closed_manifolds() {
    for name in ["cube.obj", "tetrahedron.obj", "torus-knot.obj"] {
        let mesh = mesh(name);
        assert!(is_closed_manifold(&mesh), "{name}");
        assert!(!damaged(&mesh).iter().any(is_closed_manifold), "{name}: damage goes unseen");
    }
}

#[test]
fn lighthouse_is_closed() {
    let mesh = mesh("lighthouse.obj");
    assert!(is_closed(&mesh));
    assert!(!damaged(&mesh).iter().any(is_closed), "damage goes unseen");
}

/// The volume that triangles enclose; negative where they face inward.
fn volume(triangles: &[[Spot; 3]]) -> f64 {
    let six_times = |triangle: &[Spot; 3]| {
        let [a, b, c] = triangle.map(|spot| spot.map(f64::from_bits));
        (0..3).map(move |i| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            a[i] * (b[j] * c[k] - b[k] * c[j])
        })
    };
    triangles.iter().flat_map(six_times).sum::<f64>() / 6.0
}

#[test]
fn plain_models_have_their_volumes() {
    let volume = |name| volume(&spots(&mesh(name)).collect::<Vec<_>>());
    assert_eq!(volume("cube.obj"), 1.0);
    assert_eq!(volume("tetrahedron.obj"), 1.0 / 3.0);
    // A tube's is the area of its section, here 0.629 (24 corners at 0.45), times the length of its
    // middle line, here the integral of sqrt(9 + 4 (2 + cos 3t)^2) over a turn, 31.899.
    let knot = volume("torus-knot.obj");
    assert!((20.0..20.1).contains(&knot), "{knot}");
}

/// The triangles of each part: of those that are connected by common positions.
fn parts(mesh: &Mesh) -> Vec<Vec<[Spot; 3]>> {
    let mut neighbours: HashMap<Spot, Vec<usize>> = HashMap::new();
    let triangles: Vec<[Spot; 3]> = spots(mesh).collect();
    for (index, triangle) in triangles.iter().enumerate() {
        triangle.iter().for_each(|&spot| neighbours.entry(spot).or_default().push(index));
    }
    let mut parts = Vec::new();
    for start in 0..triangles.len() {
        let (mut part, mut queue) = (Vec::new(), vec![start]);
        while let Some(index) = queue.pop() {
            let reached = |spot| neighbours.remove(spot).unwrap_or_default();
            let fresh: Vec<usize> = triangles[index].iter().flat_map(reached).collect();
            queue.extend(&fresh);
            part.extend(fresh);
        }
        part.sort_unstable();
        part.dedup();
        if !part.is_empty() {
            parts.push(part.into_iter().map(|index| triangles[index]).collect());
        }
    }
    parts
}

#[test]
fn every_part_of_the_lighthouse_faces_outward() {
    let mesh = mesh("lighthouse.obj");
    let mut parts = parts(&mesh);
    assert_eq!(parts.iter().map(Vec::len).sum::<usize>(), mesh.triangles().len());
    assert!(parts.len() > 50, "{} parts", parts.len());
    for part in &mut parts {
        assert!(volume(part) > 0.5, "{} at {:?}", volume(part), part[0][0].map(f64::from_bits));
        part.iter_mut().for_each(|triangle| triangle.reverse());
        assert!(volume(part) < 0.0);
    }
}

/// What follows `keyword` on the lines that start with it.
fn named<'a>(text: &'a str, keyword: &str) -> BTreeSet<&'a str> {
    text.lines().filter_map(|line| line.strip_prefix(keyword)?.strip_prefix(' ')).collect()
}

#[test]
fn lighthouse_uses_each_of_its_materials() {
    let (obj, mtl) = (text("lighthouse.obj"), text("lighthouse.mtl"));
    assert_eq!(named(&obj, "mtllib"), BTreeSet::from(["lighthouse.mtl"]));
    let materials = named(&mtl, "newmtl");
    assert!(materials.len() > 10, "{materials:?}");
    assert_eq!(named(&obj, "usemtl"), materials);
}

#[test]
fn lighthouse_has_its_texture_and_coordinates_within_it() {
    let textures = named(&text("lighthouse.mtl"), "map_Kd").len();
    assert_eq!(textures, 1);
    let file = std::fs::read(asset("lighthouse.png")).unwrap();
    assert!(file.len() < 40_000, "{} bytes", file.len());
    let mut picture = png::Decoder::new(Cursor::new(file)).read_info().unwrap();
    let mut texels = vec![0; picture.output_buffer_size().unwrap()];
    picture.next_frame(&mut texels).unwrap();

    let obj = text("lighthouse.obj");
    let uvs = named(&obj, "vt");
    let within =
        |uv: &&str| uv.split(' ').all(|c| (0.0..=1.0).contains(&c.parse::<f64>().unwrap()));
    assert!(!uvs.is_empty() && uvs.iter().all(within));
}

fn voxels(name: &str) -> VoxelGrid {
    let placed = place(&mesh(name), &PlaceOptions::new(Sizing::Resolution(32))).unwrap();
    assert_eq!(placed.degenerate(), 0, "{name}");
    Cpu::default().voxelize(&placed, &NoProgress).unwrap()
}

#[test]
fn cube_is_a_shell_of_one_voxel() {
    assert_eq!(voxels("cube.obj").dims(), [32; 3]);
    assert_eq!(voxels("cube.obj").occupied(), 32 * 32 * 32 - 30 * 30 * 30);
}

#[test]
fn models_are_shells_that_fill_their_grids() {
    let models = [
        ("tetrahedron.obj", [32, 32, 32], [16, 16, 16]),
        ("torus-knot.obj", [31, 32, 15], [28, 16, 7]),
        // A place within the tower's wall.
        ("lighthouse.obj", [32, 32, 32], [13, 12, 14]),
    ];
    for (name, dims, inside) in models {
        let grid = voxels(name);
        assert_eq!(grid.dims(), dims, "{name}");
        assert_eq!(grid.occupied_bounds(), Some([[0; 3], dims.map(|d| d - 1)]), "{name}");
        let volume = u64::from(dims.iter().product::<u32>());
        assert!((volume / 10..volume / 3).contains(&grid.occupied()), "{name}: {grid:?}");
        assert!(!grid.contains(inside), "{name}: the surface only");
    }
}
