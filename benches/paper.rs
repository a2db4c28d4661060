//! Section 3 of T. Akenine-Möller, "Fast 3D Triangle-Box Overlap Testing", Journal of Graphics
//! Tools 6(1), 2001, with the exact tests beside the published ones: 100,000 random triangles with
//! corners in a 4x4x4 cube, against the unit cube, both around the origin, 100 rounds.
//!
//! `cargo bench --bench paper` takes about four seconds; with `-- --quick`, or when run as a test,
//! it does five rounds.

#[path = "../tests/common/published/mod.rs"]
#[allow(dead_code, reason = "a part of it is used")]
mod published;

use std::hint::black_box;
use std::rc::Rc;
use std::time::Instant;

use published::moller::{box_normals_separate, edges_separate, plane_separates};
use published::{Aabb, Point, Triangle, moller, obb, sat};
use trivox::lattice::{SPAN_BITS, Triangle as LatticeTriangle};
use trivox::predicate::blocks::{LANES, Pairs};
use trivox::predicate::boxes::BoxRange;
use trivox::predicate::{InstructionSet, touches};

const TRIANGLES: usize = 100_000;
const ROUNDS: usize = 100;
const QUICK_ROUNDS: usize = 5;

/// The corners' cube is `[-2, 2]^3`.
const REACH: f64 = 2.0;
/// Half the edge of the unit cube. Of 4 million such triangles 50.8 % overlap it, so among 100,000
/// a share within 0.3 % of that is to be expected; of a cube twice as wide it would be 87 %.
const HALF: f64 = 0.5;

/// Lattice units per unit of length: as fine as the bit budget allows.
const UNITS: f64 = (1 << (SPAN_BITS - 1)) as f64 / REACH;

/// One answer per triangle, 64 to a word.
type Answers = Vec<u64>;

/// A test, and all rounds' times in seconds.
struct Candidate<'a> {
    name: String,
    pass: Box<dyn Fn() -> Answers + 'a>,
    seconds: Vec<f64>,
}

impl<'a> Candidate<'a> {
    fn new(name: impl Into<String>, pass: impl Fn() -> Answers + 'a) -> Self {
        Self { name: name.into(), pass: Box::new(pass), seconds: Vec::new() }
    }

    /// A test of one triangle, run on each.
    fn each<T>(name: &'static str, triangles: &'a [T], test: impl Fn(&T) -> bool + 'a) -> Self {
        Self::new(name, move || {
            let word = |chunk: &[T]| {
                chunk.iter().rev().fold(0, |word, triangle| word << 1 | u64::from(test(triangle)))
            };
            triangles.chunks(64).map(word).collect()
        })
    }

    fn run(&mut self) {
        let start = Instant::now();
        black_box((self.pass)());
        self.seconds.push(start.elapsed().as_secs_f64());
    }

    /// Nanoseconds per test: the fastest round, and the median one.
    fn nanoseconds(&self) -> [f64; 2] {
        let mut sorted = self.seconds.clone();
        sorted.sort_by(f64::total_cmp);
        [sorted[0], sorted[sorted.len() / 2]].map(|s| s * 1e9 / TRIANGLES as f64)
    }
}

fn main() {
    // Cargo passes --bench to a benchmark, and not to one that it runs as a test.
    let argument = |name: &str| std::env::args().any(|arg| arg == name);
    let quick = argument("--quick") || !argument("--bench");
    let rounds = if quick { QUICK_ROUNDS } else { ROUNDS };

    let triangles = random_triangles();
    let rounded: Vec<LatticeTriangle> = triangles.iter().map(to_lattice).collect();
    let mut candidates = candidates(&triangles, &rounded);
    for _ in 0..rounds {
        // In turn, so that a slow moment of the machine is shared by all.
        candidates.iter_mut().for_each(Candidate::run);
    }
    report(&candidates, rounds);
}

fn random_triangles() -> Vec<Triangle> {
    let mut rng = fastrand::Rng::with_seed(2001);
    let mut coordinate = || REACH * (2.0 * rng.f64() - 1.0);
    let mut point = || -> Point { [coordinate(), coordinate(), coordinate()] };
    (0..TRIANGLES).map(|_| [point(), point(), point()]).collect()
}

fn to_lattice(triangle: &Triangle) -> LatticeTriangle {
    triangle.map(|corner| corner.map(|c| (c * UNITS).round_ties_even() as i32))
}

const OPTIMISED: &str = "optimised";
const EXACT: &str = "touches, exact";
/// And the instruction set.
const BLOCKS: &str = "blocks, exact, ";

/// The unit cube as the first of the boxes of `2^BOX_BITS` units.
const BOX_BITS: u32 = SPAN_BITS - 2;

/// As the CPU backend tests them: those whose bounding box meets the cube, eight at a time, each
/// with a block that is one box.
fn by_blocks(from_corner: &[LatticeTriangle], set: InstructionSet) -> Answers {
    let mut answers = vec![0; from_corner.len().div_ceil(64)];
    let (mut pairs, mut indices) = (Pairs::new(BOX_BITS), [0; LANES]);
    let mut solve = |pairs: &mut Pairs, indices: &[usize]| {
        for (index, mask) in indices.iter().zip(pairs.solve_by(set, [1; 3])) {
            answers[index / 64] |= mask << (index % 64);
        }
    };
    for (index, triangle) in from_corner.iter().enumerate() {
        let BoxRange { lo, hi } = BoxRange::of_triangle(triangle, BOX_BITS);
        if (0..3).all(|axis| (lo[axis]..=hi[axis]).contains(&0)) {
            indices[pairs.len()] = index;
            pairs.push(triangle, [0; 3]);
        }
        if pairs.len() == LANES {
            solve(&mut pairs, &indices);
        }
    }
    let rest = pairs.len();
    solve(&mut pairs, &indices[..rest]);
    answers
}

fn candidates<'a>(triangles: &'a [Triangle], rounded: &'a [LatticeTriangle]) -> Vec<Candidate<'a>> {
    // Opaque to the compiler, which would fold the constants into some tests and not others.
    let cube = black_box(Aabb { center: [0.0; 3], half: [HALF; 3] });
    let (center, half) = black_box(([0; 3], (HALF * UNITS) as i32));
    // The parts, as the paper numbers them. The box is at the origin already, so the optimised test
    // is order 3 1 2 and a subtraction.
    let b1 = move |t: &Triangle| !box_normals_separate(t, cube.half);
    let b2 = move |t: &Triangle| !plane_separates(t, cube.half);
    let b3 = move |t: &Triangle| !edges_separate(t, cube.half);
    let mut candidates = vec![
        Candidate::each("thirteen axes", triangles, move |t| sat::overlaps(t, &cube)),
        Candidate::each(OPTIMISED, triangles, move |t| moller::overlaps(t, &cube)),
        Candidate::each("order 1 2 3", triangles, move |t| b1(t) && b2(t) && b3(t)),
        Candidate::each("order 1 3 2", triangles, move |t| b1(t) && b3(t) && b2(t)),
        Candidate::each("order 2 1 3", triangles, move |t| b2(t) && b1(t) && b3(t)),
        Candidate::each("order 2 3 1", triangles, move |t| b2(t) && b3(t) && b1(t)),
        Candidate::each("order 3 1 2", triangles, move |t| b3(t) && b1(t) && b2(t)),
        Candidate::each("order 3 2 1", triangles, move |t| b3(t) && b2(t) && b1(t)),
        Candidate::each("oriented box", triangles, move |t| obb::overlaps(t, &cube.into())),
        Candidate::each(EXACT, rounded, move |t| touches(t, center, half)),
    ];
    let from_corner = |t: &LatticeTriangle| t.map(|corner| corner.map(|c| c + half));
    let from_corner: Rc<[LatticeTriangle]> = rounded.iter().map(from_corner).collect();
    for set in InstructionSet::available() {
        let from_corner = Rc::clone(&from_corner);
        let pass = move || by_blocks(&from_corner, set);
        candidates.push(Candidate::new(format!("{BLOCKS}{}", set.name()), pass));
    }
    candidates
}

fn report(candidates: &[Candidate], rounds: usize) {
    let by_name = |name: &str| candidates.iter().find(|c| c.name == name).expect("in the list");
    let exact = (by_name(EXACT).pass)();
    for blocks in candidates.iter().filter(|c| c.name.starts_with(BLOCKS)) {
        assert_eq!((blocks.pass)(), exact, "{} differs from touches", blocks.name);
    }
    let [reference, _] = by_name(OPTIMISED).nanoseconds();

    let share = |count: u32| 100.0 * f64::from(count) / TRIANGLES as f64;
    println!("{TRIANGLES} triangles, {rounds} rounds: ns per test, ratio of the minimum to the");
    println!("optimised test's, and share of triangles on which touches says the same");
    println!("instruction set chosen: {}", InstructionSet::available()[0].name());
    println!("{:.2} % overlap", share(exact.iter().map(|word| word.count_ones()).sum()));
    println!("{:<24} {:>8} {:>8} {:>6} {:>9}", "", "min", "median", "ratio", "agree");
    for candidate in candidates {
        let [min, median] = candidate.nanoseconds();
        let differ = (candidate.pass)().iter().zip(&exact).map(|(a, b)| (a ^ b).count_ones()).sum();
        println!(
            "{:<24} {min:>8.2} {median:>8.2} {:>6.2} {:>7.3} %",
            candidate.name,
            min / reference,
            100.0 - share(differ),
        );
    }
}
