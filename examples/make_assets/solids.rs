//! The plain models: a cube, a tetrahedron and a torus knot.

use super::obj::Obj;
use super::shapes::{Frame, Point, Rings, cos_sin};

/// The unit cube, of six quads.
pub(crate) fn cube() -> Vec<u8> {
    bare("unit cube", &Frame::new([0.0; 3]).cuboid([0.0; 3], [1.0; 3]))
}

/// The regular tetrahedron on four corners of the unit cube.
pub(crate) fn tetrahedron() -> Vec<u8> {
    let base = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]];
    bare("regular tetrahedron", &vec![base, vec![[0.0, 1.0, 1.0]]])
}

/// Cross sections of the knot's tube.
const SECTIONS: usize = 200;
/// Points of a cross section.
const SIDES: usize = 24;
/// Radius of the tube. The torus it winds on has radii 2 and 1.
const TUBE: f64 = 0.45;

/// A tube along the (2, 3) torus knot, a trefoil: twice around the torus's axis, and three times
/// around its core.
pub(crate) fn torus_knot() -> Vec<u8> {
    // The last section is the first again.
    let sections: Rings =
        (0..=SECTIONS).map(|i| section((i % SECTIONS) as f64 / SECTIONS as f64)).collect();
    bare("(2, 3) torus knot", &sections)
}

/// The points around the knot at `turns` of its length. The torus's normal is square to every curve
/// on it, so it orients the sections, and the last meets the first.
fn section(turns: f64) -> Vec<Point> {
    let [c2, s2] = cos_sin(2.0 * turns);
    let [c3, s3] = cos_sin(3.0 * turns);
    let radius = 2.0 + c3;
    let center = [radius * c2, radius * s2, s3];
    let normal = [c3 * c2, c3 * s2, s3];
    let tangent =
        [-3.0 * s3 * c2 - 2.0 * radius * s2, -3.0 * s3 * s2 + 2.0 * radius * c2, 3.0 * c3];
    let binormal = unit(cross(tangent, normal));
    (0..SIDES)
        .map(|i| {
            let [c, s] = cos_sin(i as f64 / SIDES as f64);
            [0, 1, 2].map(|a| center[a] + TUBE * (c * normal[a] + s * binormal[a]))
        })
        .collect()
}

fn cross(a: Point, b: Point) -> Point {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn unit(a: Point) -> Point {
    let length = (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]).sqrt();
    a.map(|c| c / length)
}

fn bare(title: &str, rings: &Rings) -> Vec<u8> {
    let mut obj = Obj::new(&format!("# {title}\n# made by the program make_assets"));
    obj.bare_solid(rings);
    obj.finish()
}
