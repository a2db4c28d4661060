//! A hall with columns, arches and beams: what scans are not. A few triangles as large as the
//! whole, hundreds as long as it and a finger wide, and small ones by the ten thousand.

use std::f64::consts::PI;

use trivox::Mesh;

type Point = [f64; 3];

/// In metres.
const LENGTH: f64 = 60.0;
const WIDTH: f64 = 24.0;
const HEIGHT: f64 = 18.0;
/// Columns of each of two rows.
const COLUMNS: usize = 12;
/// From the middle of the hall to a row of columns.
const AISLE: f64 = 6.0;
const COLUMN_HEIGHT: f64 = 8.0;

/// About 66,000 triangles.
pub fn hall() -> Mesh {
    let mut hall = Hall::default();
    hall.shell();
    for side in [-AISLE, AISLE] {
        (0..COLUMNS).for_each(|i| hall.column([along(i as f64), 0.0, side]));
        (0..COLUMNS - 1).for_each(|i| hall.arch([along(i as f64 + 0.5), COLUMN_HEIGHT, side]));
        (0..40).for_each(|i| hall.baluster([along(0.275 * f64::from(i)), 13.0, side]));
        hall.bar([0.0, 14.0, side - 0.1], [LENGTH, 14.1, side + 0.1]);
    }
    hall.beams();
    Mesh::new(hall.positions, hall.triangles).expect("valid by construction")
}

/// Where column `i` stands.
fn along(i: f64) -> f64 {
    LENGTH * (i + 0.5) / COLUMNS as f64
}

#[derive(Default)]
struct Hall {
    positions: Vec<Point>,
    triangles: Vec<[u32; 3]>,
}

impl Hall {
    /// `m` by `n` quads, with corners at the `point` of two parameters from 0 to 1.
    fn sheet(&mut self, [m, n]: [u32; 2], point: impl Fn(f64, f64) -> Point) {
        let first = self.positions.len() as u32;
        for i in 0..=m {
            let u = f64::from(i) / f64::from(m);
            self.positions.extend((0..=n).map(|j| point(u, f64::from(j) / f64::from(n))));
        }
        for quad in 0..m * n {
            let a = first + quad / n * (n + 1) + quad % n;
            let [b, c, d] = [a + 1, a + n + 2, a + n + 1];
            self.triangles.extend([[a, b, c], [a, c, d]]);
        }
    }

    /// The six sides of a box.
    fn bar(&mut self, lo: Point, hi: Point) {
        let at = |a: usize, t: f64| lo[a] + t * (hi[a] - lo[a]);
        for end in [0.0, 1.0] {
            self.sheet([1, 1], |u, v| [at(0, end), at(1, u), at(2, v)]);
            self.sheet([1, 1], |u, v| [at(0, u), at(1, end), at(2, v)]);
            self.sheet([1, 1], |u, v| [at(0, u), at(1, v), at(2, end)]);
        }
    }

    /// Floor, walls and a gabled roof, of two triangles each; and the floor's boards.
    fn shell(&mut self) {
        let half = WIDTH / 2.0;
        self.sheet([1, 1], |u, v| [LENGTH * u, 0.0, WIDTH * v - half]);
        for side in [-half, half] {
            self.sheet([1, 1], |u, v| [LENGTH * u, HEIGHT * v, side]);
            self.sheet([1, 1], |u, v| [LENGTH * u, HEIGHT + 5.0 * v, side * (1.0 - v)]);
        }
        for end in [0.0, LENGTH] {
            self.sheet([1, 1], |u, v| [end, HEIGHT * u, WIDTH * v - half]);
        }
        for i in 0..160 {
            let z = f64::from(i) * 0.15 - half;
            self.sheet([1, 1], |u, v| [LENGTH * u, 0.02, z + 0.14 * v]);
        }
    }

    fn column(&mut self, [x, y, z]: Point) {
        self.sheet([14, 48], |u, v| {
            let flutes = 0.04 * (24.0 * PI * v).cos();
            let radius = 0.55 + 0.3 * (2.0 * u - 1.0).powi(6) + flutes;
            let (sin, cos) = (2.0 * PI * v).sin_cos();
            [x + radius * cos, y + COLUMN_HEIGHT * u, z + radius * sin]
        });
    }

    /// Half a torus, from column to column.
    fn arch(&mut self, [x, y, z]: Point) {
        let span = LENGTH / COLUMNS as f64 / 2.0;
        self.sheet([32, 16], |u, v| {
            let (sin, cos) = (2.0 * PI * v).sin_cos();
            let radius = span + 0.4 * cos;
            [x + radius * (PI * u).cos(), y + radius * (PI * u).sin(), z + 0.4 * sin]
        });
    }

    fn baluster(&mut self, [x, y, z]: Point) {
        self.sheet([6, 10], |u, v| {
            let radius = 0.06 + 0.04 * (3.0 * PI * u).sin();
            let (sin, cos) = (2.0 * PI * v).sin_cos();
            [x + radius * cos, y + u, z + radius * sin]
        });
    }

    /// Rafters across, purlins along the whole roof, and a chain to every tenth rafter.
    fn beams(&mut self) {
        for i in 0..60 {
            let x = f64::from(i) + 0.4;
            self.bar([x, HEIGHT - 0.3, -WIDTH / 2.0], [x + 0.2, HEIGHT, WIDTH / 2.0]);
        }
        for i in 0..40 {
            let z = (f64::from(i) - 19.5) * 0.6;
            self.bar([0.0, HEIGHT, z], [LENGTH, HEIGHT + 0.05, z + 0.05]);
        }
        for i in 0..6 {
            let x = 10.0 * f64::from(i) + 0.5;
            self.bar([x, 6.0, 0.0], [x + 0.02, HEIGHT, 0.02]);
        }
    }
}
