//! Points, clipping and occlusion.

pub type Vec3 = [f64; 3];

pub fn dot(a: Vec3, b: Vec3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub fn sub(a: Vec3, b: Vec3) -> Vec3 {
    [0, 1, 2].map(|i| a[i] - b[i])
}

/// Linear interpolation from `a` (`t = 0`) to `b` (`t = 1`).
pub fn between(a: Vec3, b: Vec3, t: f64) -> Vec3 {
    [0, 1, 2].map(|i| a[i] + t * (b[i] - a[i]))
}

fn normalized(v: Vec3) -> Vec3 {
    let length = dot(v, v).sqrt();
    v.map(|c| c / length)
}

/// An orthographic view, y up.
#[derive(Debug, Clone, Copy)]
pub struct View {
    right: Vec3,
    up: Vec3,
    /// Unit vector.
    pub to_eye: Vec3,
}

impl View {
    /// The view from the direction `to_eye`.
    pub fn new(to_eye: Vec3) -> Self {
        let to_eye = normalized(to_eye);
        let right = normalized(cross([0.0, 1.0, 0.0], to_eye));
        Self { right, up: cross(to_eye, right), to_eye }
    }

    /// Coordinates in the drawing: right and down.
    pub fn project(&self, point: Vec3) -> [f64; 2] {
        [dot(point, self.right), -dot(point, self.up)]
    }
}

/// Clips a convex polygon, segment or point to the box of half edges `half` around the
/// origin (I. Sutherland and G. Hodgman, *Reentrant Polygon Clipping*, 1974).
pub fn clip(polygon: &[Vec3], half: Vec3) -> Vec<Vec3> {
    let sides = (0..3).flat_map(|axis| [(axis, 1.0), (axis, -1.0)]);
    sides.fold(polygon.to_vec(), |polygon, (axis, sign)| {
        let outside = |point: Vec3| sign * point[axis] - half[axis];
        let corners = polygon.iter().zip(polygon.iter().cycle().skip(1));
        corners
            .flat_map(|(&a, &b)| {
                let (from, to) = (outside(a), outside(b));
                let crosses = (from > 0.0) != (to > 0.0);
                let crossing = crosses.then(|| between(a, b, from / (from - to)));
                [(from <= 0.0).then_some(a), crossing].into_iter().flatten()
            })
            .collect()
    })
}

/// Clips a ray to the box of half edges `half` around the origin; parameters are in lengths of the
/// direction.
pub fn within_box(origin: Vec3, direction: Vec3, half: Vec3) -> Option<[f64; 2]> {
    let slab = |a: usize| {
        let ends = [-half[a], half[a]].map(|side| (side - origin[a]) / direction[a]);
        [ends[0].min(ends[1]), ends[0].max(ends[1])]
    };
    let [from, to] = (0..3).map(slab).fold([0.0, f64::INFINITY], |all, slab| {
        [f64::max(all[0], slab[0]), f64::min(all[1], slab[1])]
    });
    (from < to).then_some([from, to])
}

/// Whether a ray hits a triangle beyond its origin (T. Möller and B. Trumbore, 1997).
pub fn meets(origin: Vec3, direction: Vec3, [a, b, c]: [Vec3; 3]) -> bool {
    const NEAR: f64 = 1e-6;
    let (ab, ac) = (sub(b, a), sub(c, a));
    let across = cross(direction, ac);
    let volume = dot(ab, across);
    if volume.abs() < NEAR {
        return false;
    }
    let from_a = sub(origin, a);
    let u = dot(from_a, across) / volume;
    let turned = cross(from_a, ab);
    let v = dot(direction, turned) / volume;
    u >= 0.0 && v >= 0.0 && u + v <= 1.0 && dot(ac, turned) / volume > NEAR
}
