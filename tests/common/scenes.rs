//! Random scenes of boxes, hollow or not, whose solid follows from arithmetic: nested, touching,
//! doubled and overlapping, turned in space, and some of them inside out as a whole.

use fastrand::Rng;
use trivox::backend::BackendChoice;
use trivox::lattice::{Tile, Tiles};
use trivox::solid::Fill;
use trivox::{Mesh, VoxelGrid, Voxelizer};

use super::solids::{SIDES, cuboid, inside_out, together, with_triangles, with_vertices_repeated};
use super::voxels::{by_fill, grid_where, in_grid, solid, voxels_in, within};

type Point = [f64; 3];

/// Voxels of one mesh unit along each axis.
const DIM: u32 = 40;
/// Cells of the scenes without overlaps: two along each axis.
const CELL: f64 = 18.0;

#[derive(Clone, Copy, PartialEq)]
struct Cuboid {
    min: Point,
    max: Point,
}

impl Cuboid {
    fn holds(&self, p: Point) -> bool {
        (0..3).all(|a| self.min[a] < p[a] && p[a] < self.max[a])
    }

    /// Whether `other` is in it, or touches it from within.
    fn encloses(&self, other: &Self) -> bool {
        (0..3).all(|a| self.min[a] <= other.min[a] && other.max[a] <= self.max[a])
    }

    /// Random corners within it, `gap` from its sides or more; `None` if it is too small.
    fn within(&self, rng: &mut Rng, gap: f64) -> Option<Self> {
        let [mut min, mut max] = [self.min, self.max];
        for a in 0..3 {
            let room = max[a] - min[a] - 2.0 * gap - 2.0;
            if room < 0.0 {
                return None;
            }
            let [one, other] = [(); 2].map(|()| f64::from(rng.u32(0..=room as u32 / 2)));
            min[a] += gap + one;
            max[a] -= gap + other;
        }
        (min != self.min || max != self.max).then_some(Self { min, max })
    }

    /// Its twelve triangles, each side divided by either diagonal; facing inwards if `is_inward`.
    fn shell(&self, rng: &mut Rng, is_inward: bool) -> Mesh {
        let mut triangles = Vec::new();
        for mut side in SIDES {
            side.rotate_left(rng.usize(0..2));
            let [a, b, c, d] = side;
            triangles.extend([[a, b, c], [a, c, d]]);
        }
        if is_inward {
            triangles.iter_mut().for_each(|triangle| triangle.swap(1, 2));
        }
        with_triangles(&cuboid(self.min, self.max), triangles)
    }
}

/// A box, and perhaps a cavity in it.
#[derive(Clone, Copy)]
struct Body {
    outer: Cuboid,
    cavity: Option<Cuboid>,
}

impl Body {
    fn new(rng: &mut Rng, outer: Cuboid, gap: f64) -> Self {
        let cavity = if rng.bool() { outer.within(rng, gap) } else { None };
        Self { outer, cavity }
    }

    fn holds(&self, p: Point) -> bool {
        self.outer.holds(p) && !self.cavity.is_some_and(|cavity| cavity.holds(p))
    }

    fn boxes(&self) -> impl Iterator<Item = Cuboid> {
        [Some(self.outer), self.cavity].into_iter().flatten()
    }

    /// Its walls; inside out if `is_inverted`.
    fn walls(&self, rng: &mut Rng, is_inverted: bool) -> Vec<Mesh> {
        let outer = self.outer.shell(rng, is_inverted);
        let cavity = self.cavity.map(|cavity| cavity.shell(rng, !is_inverted));
        [Some(outer), cavity].into_iter().flatten().collect()
    }
}

pub struct Scene {
    pub what: String,
    pub mesh: Mesh,
    bodies: Vec<Body>,
    turn: [Point; 3],
}

impl Scene {
    pub fn random(seed: u64) -> Self {
        let rng = &mut Rng::with_seed(seed);
        let kind = ["nested", "touching", "doubled", "overlapping"][rng.usize(0..4)];
        let bodies = match kind {
            "nested" => {
                let gap = f64::from(rng.u32(0..=1));
                nested(rng, gap)
            }
            // Sides that are there four times could be paired in several ways.
            "doubled" => nested(rng, 1.0),
            "touching" => touching(rng),
            _ => overlapping(rng),
        };
        let mut walls = Vec::new();
        for body in &bodies {
            let is_inverted = rng.bool();
            let once = body.walls(rng, is_inverted);
            let is_doubled = kind == "doubled" && rng.bool();
            match (is_doubled, rng.usize(0..3)) {
                (false, _) => walls.extend(once),
                // The same vertices.
                (true, 0) => walls.extend(once.iter().map(|wall| {
                    let both = [wall.triangles(), inside_out(wall).triangles()].concat();
                    with_triangles(wall, both)
                })),
                // The same vertices, and other diagonals.
                (true, 1) => {
                    let others = body.walls(rng, !is_inverted);
                    walls.extend(once.iter().zip(others).map(|(wall, other)| {
                        let triangles = [wall.triangles(), other.triangles()].concat();
                        with_triangles(wall, triangles)
                    }));
                }
                (true, _) => {
                    walls.extend(once);
                    walls.extend(body.walls(rng, !is_inverted));
                }
            }
        }
        rng.shuffle(&mut walls);
        let mut mesh = together(&walls);
        let is_soup = rng.u32(0..4) == 0;
        if is_soup {
            mesh = with_vertices_repeated(&mesh);
        }
        let is_turned = rng.bool();
        let turn = if is_turned { rotation(rng) } else { UNTURNED };
        mesh = mesh.with_positions(|p| to_world(&turn, p)).expect("valid");
        let mut triangles = mesh.triangles().to_vec();
        rng.shuffle(&mut triangles);
        mesh = with_triangles(&mesh, triangles);
        let what = format!("seed {seed}, {kind}, turned {is_turned}, soup {is_soup}");
        Self { what, mesh, bodies, turn }
    }

    /// Whether a point is inside; `None` if it is at a surface.
    fn is_inside(&self, p: Point) -> Option<bool> {
        let own = to_own(&self.turn, p);
        let near = 1e-3;
        let at = |step: Point| {
            let p = [0, 1, 2].map(|a| own[a] + near * step[a]);
            self.bodies.iter().any(|body| body.holds(p))
        };
        let corners = (0..8).map(|i| [0, 1, 2].map(|a| if i >> a & 1 == 1 { 1.0 } else { -1.0 }));
        let inside = at([0.0; 3]);
        corners.into_iter().all(|step| at(step) == inside).then_some(inside)
    }

    /// Whether each voxel is inside, `z` fastest.
    fn expected(&self) -> Vec<Option<bool>> {
        let all = voxels_in([0; 3], [DIM; 3]);
        all.map(|voxel| self.is_inside(voxel.map(|c| f64::from(c) + 0.5))).collect()
    }

    /// Checks the solid in every way; returns whether it is doubtful, and an error if it is wrong
    /// in silence.
    pub fn check(&self, seed: u64) -> Result<bool, String> {
        let rng = &mut Rng::with_seed(!seed);
        let whole = in_grid(&self.mesh, [DIM; 3]);
        let expected = self.expected();
        let known = |[x, y, z]: [u32; 3]| expected[((x * DIM + y) * DIM + z) as usize];
        let inside = grid_where([DIM; 3], |voxel| known(voxel) == Some(true));
        // A voxel in which grids differ that is not at a surface.
        let differing = |a: &VoxelGrid, b: &VoxelGrid| {
            a.differing_voxels(b).map(|(voxel, _)| voxel).find(|&voxel| known(voxel).is_some())
        };
        let judge = |fill: Fill| {
            let (grid, report) = solid(&whole, fill);
            let is_doubtful = !report.doubts.is_empty();
            match differing(&grid, &inside) {
                Some(voxel) if !is_doubtful => {
                    Err(format!("{}: {fill}: {voxel:?}: {}", self.what, report.sentence()))
                }
                _ => Ok((grid, is_doubtful)),
            }
        };
        let (grid, is_doubtful) = judge(Fill::Auto)?;
        for fill in [Fill::Winding, Fill::Parity, Fill::Vote] {
            judge(fill)?;
        }
        // Other axes.
        let cycled = self.mesh.clone().with_positions(|[x, y, z]| [z, x, y]).expect("valid");
        let (other, _) = solid(&in_grid(&cycled, [DIM; 3]), Fill::Auto);
        let back = other.voxels().map(|[x, y, z]| [y, z, x]);
        let back = VoxelGrid::from_voxels([DIM; 3], back).expect("a grid");
        if let Some(voxel) = differing(&back, &grid) {
            return Err(format!("{}: other axes: {voxel:?}", self.what));
        }
        // A crop.
        let min = [0; 3].map(|_| rng.u32(0..20));
        let max = [0, 1, 2].map(|a| rng.u32(min[a] + 1..=DIM));
        let crop = within(&self.mesh, 1.0, min.map(f64::from), max.map(f64::from));
        let (crop, _) = solid(&crop, Fill::Auto);
        let dims = [0, 1, 2].map(|a| max[a] - min[a]);
        let part = grid.in_box(min.map(i64::from), dims).expect("a part");
        if crop != part {
            return Err(format!("{}: bounds {min:?} to {max:?}", self.what));
        }
        // A tile.
        let of = Tiles::Along([2, 3, 2]);
        let tile = Tile { index: rng.u64(0..of.count()), of };
        let window = whole.lattice().tile(&tile).expect("a window");
        let voxelizer = Voxelizer::new().backend(BackendChoice::Cpu).mode(by_fill(Fill::Auto));
        let voxelizer = voxelizer.lattice(*whole.lattice()).window(window);
        let tile = voxelizer.run(&self.mesh).expect("a tile").grid;
        let part = grid.in_box(window.from.map(i64::from), window.dims()).expect("a part");
        if tile != part {
            return Err(format!("{}: window {window:?}", self.what));
        }
        Ok(is_doubtful)
    }
}

/// Up to eight bodies in cells of their own, some with others in their cavities, which may touch.
fn nested(rng: &mut Rng, gap: f64) -> Vec<Body> {
    let mut bodies = Vec::new();
    let mut cells: Vec<usize> = (0..8).collect();
    rng.shuffle(&mut cells);
    for cell in &cells[..rng.usize(1..5)] {
        let min = [0, 1, 2].map(|a| 2.0 + CELL * (cell >> a & 1) as f64);
        let cell = Cuboid { min, max: min.map(|c| c + CELL) };
        let mut next = cell.within(rng, 1.0);
        while let Some(outer) = next {
            let body = Body::new(rng, outer, gap);
            bodies.push(body);
            next = match body.cavity {
                Some(cavity) if rng.bool() => cavity.within(rng, gap),
                _ => None,
            };
        }
    }
    bodies
}

/// Bodies side by side, in the cells of a random division of a box.
fn touching(rng: &mut Rng) -> Vec<Body> {
    let cuts = [(); 3].map(|()| {
        let mut cuts = vec![f64::from(rng.u32(2..8))];
        for _ in 0..rng.u32(1..4) {
            let last = cuts.last().copied().unwrap_or_default();
            cuts.push(last + f64::from(rng.u32(3..10)));
        }
        cuts
    });
    let mut bodies = Vec::new();
    for x in cuts[0].windows(2) {
        for y in cuts[1].windows(2) {
            for z in cuts[2].windows(2) {
                if rng.u32(0..3) > 0 {
                    let outer = Cuboid { min: [x[0], y[0], z[0]], max: [x[1], y[1], z[1]] };
                    bodies.push(Body::new(rng, outer, 1.0));
                }
            }
        }
    }
    if bodies.is_empty() { nested(rng, 1.0) } else { bodies }
}

/// Bodies beside each other: none lies in a wall or a cavity of another.
fn overlapping(rng: &mut Rng) -> Vec<Body> {
    let mut bodies: Vec<Body> = Vec::new();
    let count = rng.usize(2..6);
    for _ in 0..100 {
        let min = [(); 3].map(|()| f64::from(rng.u32(1..30)));
        let max = [0, 1, 2].map(|a| (min[a] + f64::from(rng.u32(3..20))).min(39.0));
        let body = Body::new(rng, Cuboid { min, max }, 1.0);
        let is_apart = |other: &Body| {
            body.boxes()
                .all(|one| other.boxes().all(|two| !one.encloses(&two) && !two.encloses(&one)))
        };
        if bodies.iter().all(is_apart) {
            bodies.push(body);
        }
        if bodies.len() == count {
            break;
        }
    }
    bodies
}

const UNTURNED: [Point; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// A turn about a random axis.
fn rotation(rng: &mut Rng) -> [Point; 3] {
    let [a, b, c, d] = [(); 4].map(|()| rng.f64() - 0.5);
    let norm = (a * a + b * b + c * c + d * d).sqrt();
    let [w, x, y, z] = [a, b, c, d].map(|q| q / norm);
    [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
}

const CENTER: f64 = DIM as f64 / 2.0;

fn to_world(turn: &[Point; 3], p: Point) -> Point {
    let p = p.map(|c| c - CENTER);
    [0, 1, 2].map(|i| CENTER + (0..3).map(|j| turn[i][j] * p[j]).sum::<f64>())
}

fn to_own(turn: &[Point; 3], p: Point) -> Point {
    let p = p.map(|c| c - CENTER);
    [0, 1, 2].map(|i| CENTER + (0..3).map(|j| turn[j][i] * p[j]).sum::<f64>())
}

/// Checks the scenes of `seeds`, and returns how many are doubtful.
pub fn check(seeds: std::ops::Range<u64>) -> u64 {
    let (mut doubtful, mut errors) = (0, Vec::new());
    for seed in seeds {
        match Scene::random(seed).check(seed) {
            Ok(is_doubtful) => doubtful += u64::from(is_doubtful),
            Err(error) => errors.push(error),
        }
    }
    assert!(errors.is_empty(), "{} scenes: {:#?}", errors.len(), &errors[..errors.len().min(20)]);
    doubtful
}
