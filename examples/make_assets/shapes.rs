//! Where parts stand, and the rings of points that they are lofted from.

/// A position, `y` up.
pub(crate) type Point = [f64; 3];

/// Cross sections of a part, one after the other: each of equally many points, or of a single one,
/// a pole. Seen from where they lead to, they run counter-clockwise.
pub(crate) type Rings = Vec<Vec<Point>>;

/// Cosine and sine of an angle given in turns.
///
/// Their last bits differ between platforms, so they are cut off here. All else is basic
/// arithmetic, which does not differ: neither do the files.
pub(crate) fn cos_sin(turns: f64) -> [f64; 2] {
    const STEPS: f64 = (1u64 << 40) as f64;
    let (sin, cos) = (turns * std::f64::consts::TAU).sin_cos();
    [cos, sin].map(|c| (c * STEPS).round() / STEPS)
}

/// The point at `turns` around the `y` axis, counter-clockwise seen from above.
pub(crate) fn polar(turns: f64, radius: f64, y: f64) -> Point {
    let [cos, sin] = cos_sin(turns);
    [radius * cos, y, -radius * sin]
}

/// Where a part stands: its own axes, turned about `y` and moved.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    at: Point,
    cos_sin: [f64; 2],
}

impl Frame {
    /// At `at`, along the world's axes.
    pub(crate) fn new(at: Point) -> Self {
        Self { at, cos_sin: [1.0, 0.0] }
    }

    /// Turned so that the part's `z` axis leaves the world's towards `x`.
    pub(crate) fn turned(self, turns: f64) -> Self {
        Self { cos_sin: cos_sin(turns), ..self }
    }

    /// Moved along its own axes.
    pub(crate) fn moved(self, by: Point) -> Self {
        Self { at: self.world(by), ..self }
    }

    fn world(&self, [x, y, z]: Point) -> Point {
        let [cos, sin] = self.cos_sin;
        [self.at[0] + x * cos + z * sin, self.at[1] + y, self.at[2] + z * cos - x * sin]
    }

    /// Rings given along the part's own axes.
    pub(crate) fn rings(&self, mut rings: Rings) -> Rings {
        rings.iter_mut().flatten().for_each(|p| *p = self.world(*p));
        rings
    }

    /// An outline in the `xy` plane, counter-clockwise, drawn out along `z`.
    pub(crate) fn prism(&self, outline: &[[f64; 2]], z: [f64; 2]) -> Rings {
        self.rings(z.map(|z| outline.iter().map(|&[x, y]| [x, y, z]).collect()).to_vec())
    }

    /// The box between two corners. Its segments, around `z`: bottom, right, top, left.
    pub(crate) fn cuboid(&self, [x0, y0, z0]: Point, [x1, y1, z1]: Point) -> Rings {
        self.prism(&[[x0, y0], [x1, y0], [x1, y1], [x0, y1]], [z0, z1])
    }

    /// A profile of radii and heights, its outside walked upwards, turned about `y`.
    pub(crate) fn lathe(&self, profile: &[[f64; 2]], segments: usize) -> Rings {
        let circle = |&[radius, y]: &[f64; 2]| match radius {
            0.0 => vec![[0.0, y, 0.0]],
            _ => (0..segments).map(|i| polar(i as f64 / segments as f64, radius, y)).collect(),
        };
        self.rings(profile.iter().map(circle).collect())
    }
}

/// The value at `x` of the line through `points`, ordered by their first coordinate.
pub(crate) fn piecewise(points: &[[f64; 2]], x: f64) -> f64 {
    let after = points.partition_point(|p| p[0] < x).clamp(1, points.len() - 1);
    let [[x0, y0], [x1, y1]] = [points[after - 1], points[after]];
    y0 + (y1 - y0) * ((x - x0) / (x1 - x0)).clamp(0.0, 1.0)
}

/// A number from -1 to 1 that looks random and depends on nothing but `keys`.
pub(crate) fn noise(keys: [usize; 2]) -> f64 {
    // The finalizer of MurmurHash3: an odd multiplier and a shift, twice.
    let mut hash = (keys[0] as u64) << 32 | keys[1] as u64;
    for multiplier in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
        hash = (hash ^ hash >> 33).wrapping_mul(multiplier);
    }
    (hash >> 40) as f64 / f64::from(1 << 23) - 1.0
}
