//! Pairs of a triangle and a box: published ones, ones that published tests decide wrongly, and one
//! pair with a single common point.
//!
//! All six boxes of the published scene are here, and one pair for each known trap that can be
//! drawn.

use trivox::predicate::touches;

use super::geometry::Vec3;

/// A triangle and a box, in integers.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// What the pair shows.
    pub title: &'static str,
    /// Its source.
    pub source: &'static str,
    pub triangle: [[i32; 3]; 3],
    pub center: [i32; 3],
    /// Half the edges of the box.
    pub half: [i32; 3],
    /// Units that correspond to 1 in the source.
    pub unit: i32,
    /// Direction to the viewer.
    pub to_eye: Vec3,
    /// The triangle is drawn up to this distance from the centre of the box, in longest half edges.
    pub reach: f64,
}

const SCENE: [[i32; 3]; 3] = [[-2, 10, 0], [4, 4, -6], [10, 10, 0]];
const GRID_WIDE: [[i32; 3]; 3] = [
    [14_194_729, 9_753_958, 9_083_134],
    [14_179_627, 1_447_791, 9_830_309],
    [12_225_171, 6_652_889, 4_305_534],
];

/// A box of the published scene, with its triangle.
const fn scene(title: &'static str, center: [i32; 3], half: [i32; 3], to_eye: Vec3) -> Case {
    let source = "published scene of six boxes";
    Case { title, source, triangle: SCENE, center, half, unit: 2, to_eye, reach: 7.0 }
}

/// A triangle and the box of half edges 1 around the origin.
const fn at_origin(
    title: &'static str,
    source: &'static str,
    triangle: [[i32; 3]; 3],
    to_eye: Vec3,
) -> Case {
    Case { title, source, triangle, center: [0; 3], half: [1; 3], unit: 1, to_eye, reach: 7.0 }
}

/// A triangle as wide as the lattice, and the box whose corner it comes nearest to.
const fn grid_wide(title: &'static str, half: i32) -> Case {
    Case {
        title,
        source: "trap: as wide as the grid",
        triangle: GRID_WIDE,
        center: [14_078_102, 8_127_720, 9_056_989],
        half: [half; 3],
        unit: 1,
        to_eye: [0.9, -0.4, 0.55],
        reach: 2.2,
    }
}

/// All pairs, in the order of the drawing.
pub const CASES: [Case; 12] = [
    scene("Through its middle", [4, 8, -2], [1; 3], [0.5, 0.35, 1.0]),
    scene("A corner at its middle", [-2, 10, 0], [1; 3], [-0.6, 0.4, 1.0]),
    scene("Inside, a corner on its face", [0, 0, 0], [10, 14, 10], [0.9, 0.35, 1.0]),
    scene("Across it, all corners outside", [4, 6, -6], [6, 1, 4], [0.45, 0.6, 1.0]),
    scene("Apart in z, not in x and y", [4, 4, 4], [2; 3], [1.0, 0.25, 0.45]),
    scene("Apart in y, not in x and z", [-4, -4, -4], [2; 3], [0.2, 0.3, 1.0]),
    at_origin(
        "An edge along an axis",
        "trap: a zero axis made a unit vector",
        [[0, 0, 0], [5, 0, 0], [0, 5, 5]],
        [-0.55, 0.5, 1.0],
    ),
    at_origin(
        "Apart along one axis of thirteen",
        "trap: one index mistyped",
        [[-2, 1, 1], [0, 0, 2], [1, 0, 2]],
        [1.0, 0.06, 0.32],
    ),
    at_origin(
        "One point in common: it counts",
        "rule: triangles and boxes are closed",
        [[3, 0, 0], [0, 3, 0], [0, 0, 3]],
        [1.0, 0.45, 0.35],
    ),
    Case {
        title: "Three points on a line, in tenths",
        source: "trap: a normal of rounding errors",
        triangle: [[0, 0, 0], [38, 30, 36], [57, 45, 54]],
        center: [38, 30, 36],
        half: [5; 3],
        unit: 10,
        to_eye: [0.9, 0.45, -0.5],
        reach: 7.6,
    },
    grid_wide("Missed by 3e-19 of its edge", 1 << 15),
    grid_wide("The box one unit larger", (1 << 15) + 1),
];

impl Case {
    /// Whether triangle and box have a common point, by the exact test for voxels. That test takes
    /// cubes, so both are scaled along the axes until the box is a cube, which preserves overlap.
    #[must_use]
    pub fn overlaps(&self) -> bool {
        let [x, y, z] = self.half;
        let edge = lcm(lcm(x, y), z);
        let stretched = |p: [i32; 3]| [0, 1, 2].map(|i| p[i] * (edge / self.half[i]));
        touches(&self.triangle.map(stretched), stretched(self.center), edge)
    }
}

fn lcm(a: i32, b: i32) -> i32 {
    a / gcd(a, b) * b
}

fn gcd(a: i32, b: i32) -> i32 {
    if b == 0 { a } else { gcd(b, a % b) }
}
