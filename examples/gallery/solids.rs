//! Meshes that are broken in the ways that meshes are, as solids cut open, by each fill.

use std::f64::consts::{PI, TAU};

use anyhow::Result;
use image::{DynamicImage, GenericImage, Rgba, RgbaImage};
use trivox::solid::{Fill, Solid};
use trivox::view::render::{RenderOptions, Renderer};
use trivox::{Mesh, Mode, NoProgress, Up, VoxelGrid};

use super::models::{painted, voxels_of};
use super::scenes::INSIDE;
use super::strip::png;

/// From top to bottom.
const FILLS: [Fill; 3] = [Fill::Auto, Fill::Vote, Fill::Flood];
/// Pixels of a picture.
const SIZE: [u32; 2] = [72, 72];
const OUTSIDE: [u8; 3] = [92, 146, 190];

/// A column for each mesh, and a row for each fill.
pub fn broken_meshes_cut_open() -> Result<Vec<u8>> {
    let meshes = broken_meshes()?;
    let [width, height] = SIZE;
    let mut sheet = RgbaImage::new(width * meshes.len() as u32, height * FILLS.len() as u32);
    for (mesh, left) in meshes.iter().zip((0..).step_by(width as usize)) {
        for (fill, top) in FILLS.into_iter().zip((0..).step_by(height as usize)) {
            let picture = Renderer::new(&cut_open(mesh, fill)?)
                .render(&RenderOptions::new(SIZE), &NoProgress)?;
            let tile = RgbaImage::from_fn(width, height, |x, y| Rgba(picture.at(x, y)));
            sheet.copy_from(&tile, left, top)?;
        }
    }
    png(&DynamicImage::from(sheet).to_rgb8().into())
}

/// The half of the solid that is away from the eye, and its cut in another colour.
fn cut_open(mesh: &Mesh, fill: Fill) -> Result<VoxelGrid> {
    let solid = voxels_of(mesh, Mode::Solid(Solid { fill, include_surface: false }), 48, Up::Z)?;
    let middle = solid.dims()[1] / 2;
    painted(&solid, |[_, y, _]| match y {
        y if y < middle => None,
        y if y == middle => Some(INSIDE),
        _ => Some(OUTSIDE),
    })
}

/// Each with triangles that face outside, but where they are broken.
fn broken_meshes() -> Result<Vec<Mesh>> {
    let ball = sphere([0.0; 3], 1.0);
    let each = |keep: &dyn Fn(usize) -> bool, triangles: &[Corners]| -> Vec<Corners> {
        let kept = triangles.iter().enumerate().filter(|(index, _)| keep(*index));
        kept.map(|(_, &corners)| corners).collect()
    };
    let flipped = |triangles: &[Corners], flip: &dyn Fn(usize) -> bool| -> Vec<Corners> {
        let turn = |(index, &[a, b, c]): (usize, &Corners)| {
            if flip(index) { [a, c, b] } else { [a, b, c] }
        };
        triangles.iter().enumerate().map(turn).collect()
    };
    let open = |at: [f64; 3], radius: f64| each(&|index| index >= 2 * AROUND, &sphere(at, radius));
    let box_ = cuboid([-1.0; 3], [1.0; 3]);
    let meshes = [
        // Small holes all over.
        each(&|index| index % 9 != 0, &ball),
        // The top is missing.
        each(&|index| index >= 12 * AROUND, &ball),
        // Parts that overlap, both open.
        [open([0.0; 3], 1.0), open([0.9, 0.0, 0.2], 0.7)].concat(),
        // Faces that are flipped, and a hole.
        flipped(&each(&|index| index >= 4 * AROUND, &ball), &|index| index % 5 == 0),
        // A part of its own that is inside out.
        [open([-0.6, 0.0, 0.0], 0.8), flipped(&open([1.2, 0.0, 0.0], 0.8), &|_| true)].concat(),
        // A side that is there twice.
        [&box_[..], &box_[10..]].concat(),
        // A wall within.
        [box_.clone(), wall()].concat(),
        // A skirt that hangs from a hole's rim.
        [each(&|index| index < 44 * AROUND, &ball), skirt()].concat(),
        // Shells that intersect, closed.
        [box_, cuboid([-0.4, -0.4, -0.4], [1.6, 1.6, 1.6])].concat(),
        // A slit from pole to pole.
        each(&|index| index % (2 * AROUND) > 3, &ball),
    ];
    meshes.iter().map(|triangles| mesh_of(triangles)).collect()
}

type Corners = [[f64; 3]; 3];

/// Triangles of a ring of a sphere are twice as many.
const AROUND: usize = 48;
const DOWN: usize = 24;

fn mesh_of(triangles: &[Corners]) -> Result<Mesh> {
    let numbers = (0..triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]);
    Ok(Mesh::new(triangles.as_flattened().to_vec(), numbers.collect())?)
}

/// Ring by ring from the top.
fn sphere(center: [f64; 3], radius: f64) -> Vec<Corners> {
    let point = |i: usize, j: usize| {
        let (sin_a, cos_a) = libm::sincos((i % AROUND) as f64 / AROUND as f64 * TAU);
        let (sin_b, cos_b) = match j {
            0 => (0.0, 1.0),
            DOWN => (0.0, -1.0),
            j => libm::sincos(j as f64 / DOWN as f64 * PI),
        };
        let direction = [sin_b * cos_a, sin_b * sin_a, cos_b];
        [0, 1, 2].map(|axis| center[axis] + radius * direction[axis])
    };
    let quads = (0..DOWN).flat_map(|j| (0..AROUND).map(move |i| (i, j)));
    quads
        .flat_map(|(i, j)| {
            let [a, b, c, d] =
                [(i, j), (i, j + 1), (i + 1, j + 1), (i + 1, j)].map(|(i, j)| point(i, j));
            [[a, b, c], [a, c, d]]
        })
        .collect()
}

fn cuboid(min: [f64; 3], max: [f64; 3]) -> Vec<Corners> {
    let corner =
        |i: usize| [0, 1, 2].map(|axis| if i >> axis & 1 == 1 { max[axis] } else { min[axis] });
    let sides =
        [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let quads = sides.map(|side| side.map(corner));
    quads.into_iter().flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]).collect()
}

/// Across the box.
fn wall() -> Vec<Corners> {
    let [a, b, c, d] =
        [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]].map(|[y, z]| [0.3, y, z]);
    vec![[a, b, c], [a, c, d]]
}

/// Below the ring at which the ball ends.
fn skirt() -> Vec<Corners> {
    let angle = 22.0 / DOWN as f64 * PI;
    let (sin_b, cos_b) = libm::sincos(angle);
    let point = |i: usize, z: f64| {
        let (sin_a, cos_a) = libm::sincos((i % AROUND) as f64 / AROUND as f64 * TAU);
        [sin_b * cos_a, sin_b * sin_a, z]
    };
    (0..AROUND)
        .flat_map(|i| {
            let (a, b) = (point(i, cos_b), point(i, -1.25));
            let (c, d) = (point(i + 1, -1.25), point(i + 1, cos_b));
            [[a, b, c], [a, c, d]]
        })
        .collect()
}
