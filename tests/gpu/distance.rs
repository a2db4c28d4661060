//! Distances on every adapter: of points from triangles against fractions of big integers, and of
//! meshes against the CPU.
//!
//! `TRIVOX_PAIRS=1000000` sets how many random pairs are compared on each adapter.
use crate::common::distances::{Fraction, SCALE_BITS, is_nearest, random_mesh, scaled, squared};
use crate::common::prelude::*;
use std::sync::Arc;

use rayon::prelude::*;
use trivox::base::numbers::grouped;
use trivox::solid::distance::{DistanceField, distances};
use trivox::view::gpu::distance_texture;
use wgpu::BufferUsages as Usage;

/// A point and a triangle, in voxels of `2^fraction_bits`.
#[derive(Debug, Clone, Copy)]
struct Pair {
    p: [i32; 3],
    triangle: Triangle,
    fraction_bits: u32,
}

/// Of many sizes, and of all shapes: points and segments, and slivers; the point above, beside, in
/// the plane, at a corner.
fn any_pair(random: &mut Rng) -> Pair {
    let half = 1 << random.u32(0..24);
    let mut point = |within: i32| [(); 3].map(|()| random.i32(-within / 2..=within / 2));
    let mut triangle = [(); 3].map(|()| point(half));
    let mut p = point(half);
    match random.u32(0..8) {
        0 => p = triangle[0],
        1 => triangle[1] = triangle[0],
        // On a line with two corners.
        2 => triangle[2] = [0, 1, 2].map(|i| i32::midpoint(triangle[0][i], triangle[1][i])),
        3 => p = [0, 1, 2].map(|i| i32::midpoint(triangle[0][i], triangle[1][i])),
        // At whole distances, many of them powers of two.
        4 => triangle.iter_mut().for_each(|corner| corner[0] = 0),
        5 => p = [0, 1, 2].map(|i| triangle[0][i] + [1 << random.u32(0..20), 0, 0][i]),
        _ => {}
    }
    Pair { p, triangle, fraction_bits: random.u32(4..=16) }
}

/// Whether `least <= distance <= most`, in lattice units.
fn is_between(least: f32, squared: &Fraction, most: f32) -> bool {
    let square = |bound: f32| scaled(bound.into()).pow(2) * &squared.1;
    let distance = &squared.0 << (2 * SCALE_BITS);
    (least <= 0.0 || square(least) <= distance) && square(most) >= distance
}

#[test]
fn distances_of_points_are_the_nearest_floats_and_within_their_bounds() {
    let source = module("exact/distance")
        + &module("distance/bounds").replace(&module("exact/shapes"), "")
        + include_str!("wgsl/distance.wgsl");
    let count = environment::number("TRIVOX_PAIRS", 100_000);
    for kernel in kernels(&source) {
        let mut rng = Rng::with_seed(71);
        let pairs: Vec<Pair> = (0..count).map(|_| any_pair(&mut rng)).collect();
        let mut loose = 0;
        for pairs in pairs.chunks(1 << 18) {
            let words = pairs.iter().flat_map(|Pair { p, triangle: [a, b, c], fraction_bits }| {
                [*p, *a, *b, *c].concat().into_iter().chain([*fraction_bits as i32])
            });
            let found = kernel.run(&words.collect::<Vec<_>>(), pairs.len(), 3);
            let check = |(pair, found): (&Pair, &[u32])| {
                let [distance, least, most] = [0, 1, 2].map(|i| f32::from_bits(found[i]));
                let exact = squared(pair.p.map(i128::from), &pair.triangle);
                let is_right = is_nearest(distance, &exact, pair.fraction_bits);
                assert!(is_right, "{}: {pair:?}: {distance}", kernel.label);
                let holds = is_between(least, &exact, most);
                assert!(holds, "{}: {pair:?}: {least} to {most}", kernel.label);
                let units = distance * (1 << pair.fraction_bits) as f32;
                usize::from(most - least > 0.01 * units)
            };
            loose += pairs.par_iter().zip(found.par_chunks(3)).map(check).sum::<usize>();
        }
        println!("{}: {count} pairs, {loose} with bounds more than 1 % apart", kernel.label);
        assert!(loose < count / 3, "{}: {loose} of {count}", kernel.label);
    }
}

fn field<'a>(backend: impl Into<Backend<'a>>, mesh: &PlacedMesh, width: f32) -> DistanceField {
    let inside = VoxelGrid::empty(mesh.lattice().dims).unwrap();
    distances(backend, mesh, inside, width, u64::MAX, &NoProgress).unwrap()
}

/// Meshes with their bands.
fn meshes() -> Vec<(&'static str, PlacedMesh, f32)> {
    let mut rng = Rng::with_seed(72);
    let lines = mesh_of(&[[[0.0; 3], [4.0, 3.0, 2.0], [8.0, 6.0, 4.0]], [[1.0, 7.0, 1.0]; 3]]);
    let meshes = [
        ("few", random_mesh(12, &mut rng), 30, 3, 3.0),
        ("many", random_mesh(300, &mut rng), 24, 1, 2.5),
        // More clusters near a brick than an item has.
        ("thousands in a brick", random_mesh(4000, &mut rng), 7, 0, 9.0),
        ("a segment and a point", lines.clone(), 19, 2, 2.0),
        ("one voxel", lines, 1, 0, 0.5),
    ];
    let placed = |(name, mesh, n, pad, width)| (name, padded(&mesh, resolution(n), pad), width);
    meshes.map(placed).into()
}

#[test]
fn fields_are_those_of_the_cpu_on_every_adapter() {
    let gpus: Vec<_> = gpus(adapters()).collect();
    for (name, mesh, width) in meshes() {
        let expected = field(&Cpu, &mesh, width);
        assert!(expected.band().occupied() > 0, "{name}");
        for (label, gpu) in &gpus {
            let found = field(gpu, &mesh, width);
            assert!(found == expected, "{name} on {label}: {found:?}, {expected:?}");
        }
    }
}

/// The texels of a texture, by x, then y, then z.
fn texels(gpu: &Gpu, texture: &wgpu::Texture) -> Vec<u32> {
    let (device, size) = (gpu.device(), texture.size());
    let row = size.width.next_multiple_of(64);
    let words = u64::from(row) * u64::from(size.height) * u64::from(size.depth_or_array_layers);
    let staging = device.buffer("staging", words, Usage::MAP_READ | Usage::COPY_DST);
    let layout = wgpu::TexelCopyBufferLayout {
        offset: 0,
        bytes_per_row: Some(4 * row),
        rows_per_image: Some(size.height),
    };
    let mut encoder = device.device.create_command_encoder(&Default::default());
    let target = wgpu::TexelCopyBufferInfo { buffer: &staging, layout };
    encoder.copy_texture_to_buffer(texture.as_image_copy(), target, size);
    let words = device.submit_and_read(encoder, &staging).unwrap();
    words.chunks(row as usize).flat_map(|row| &row[..size.width as usize]).copied().collect()
}

/// The texels of a field.
fn texels_of(field: &DistanceField) -> Vec<u32> {
    let [nx, ny, nz] = field.dims();
    let row = |(y, z)| (0..nx).map(move |x| field.get([x, y, z]).to_bits());
    (0..nz).flat_map(|z| (0..ny).map(move |y| (y, z))).flat_map(row).collect()
}

/// A solid with full bricks and others.
fn some_inside(dims: [u32; 3]) -> VoxelGrid {
    let mut rng = Rng::with_seed(dims[0].into());
    let block = (0..16).flat_map(|x| (0..16).flat_map(move |y| (0..16).map(move |z| [x, y, z])));
    let block = block.filter(|voxel| (0..3).all(|a| voxel[a] < dims[a]));
    let others: Vec<_> = (0..2000).map(|_| dims.map(|d| rng.u32(0..d))).collect();
    VoxelGrid::from_voxels(dims, block.chain(others)).unwrap()
}

#[test]
fn textures_hold_the_fields_of_the_cpu_on_every_adapter() {
    let gpus: Vec<_> = gpus(adapters()).collect();
    for (name, mesh, width) in meshes() {
        let inside = some_inside(mesh.lattice().dims);
        let field = distances(&Cpu, &mesh, inside.clone(), width, u64::MAX, &NoProgress).unwrap();
        let expected = texels_of(&field);
        for (label, gpu) in &gpus {
            let counts = Counts::default();
            let texture = distance_texture(gpu, &mesh, &inside, width, u64::MAX, &counts).unwrap();
            let found = texels(gpu, &texture);
            let wrong = found.iter().zip(&expected).position(|(a, b)| a != b);
            assert_eq!((found.len(), wrong), (expected.len(), None), "{name} on {label}");
            assert_eq!(counts.total.into_inner(), counts.done.into_inner(), "{name} on {label}");
        }
    }
}

#[test]
fn textures_of_several_submissions_are_whole_and_what_cannot_be_one_is_an_error() {
    let Some(gpu) = fast_gpu() else { return };
    // A triangle near every block of a grid of several batches.
    let mesh = mesh_of(&[[[0.0; 3], [210.0, 10.0, 20.0], [20.0, 210.0, 210.0]]]);
    let mesh = at_voxel_size(&mesh, 1.0);
    let texture = |mesh: &PlacedMesh, width, memory, progress: &Counts| {
        let inside = some_inside(mesh.lattice().dims);
        distance_texture(&gpu, mesh, &inside, width, memory, progress)
    };
    let inside = some_inside(mesh.lattice().dims);
    let field = distances(&Cpu, &mesh, inside.clone(), 190.0, u64::MAX, &NoProgress).unwrap();
    let counts = Counts::default();
    let found = texture(&mesh, 190.0, u64::MAX, &counts).unwrap();
    assert!(texels(&gpu, &found) == texels_of(&field));
    let bricks: u64 = mesh.lattice().dims.map(|d| u64::from(d.div_ceil(8))).iter().product();
    assert_eq!((counts.total.into_inner(), counts.done.into_inner()), (bricks, bricks));
    let size = found.size();
    let words = size.width.next_multiple_of(64) * size.height * size.depth_or_array_layers;
    assert!(words > 2 << 22, "{words} words in one submission");

    let error = |mesh, width, memory, progress: Counts| {
        texture(mesh, width, memory, &progress).expect_err("no texture").to_string()
    };
    let of_width = error(&mesh, 0.0, u64::MAX, Counts::default());
    assert_eq!(of_width, "a width of 0 voxels is not possible: use more than 0, at most 1024");
    // Too little for the scene of the solid, then for a batch.
    let partial = inside.bricks().filter(|(_, mask)| *mask != FULL).count() as u64;
    assert!(partial < inside.brick_count());
    for (memory, of_scene) in [(256 * partial - 1, true), (256 * partial, false)] {
        let error = texture(&mesh, 3.0, memory, &Counts::default()).unwrap_err();
        let BackendError::Memory { needed, .. } = error else { panic!("{error}") };
        assert_eq!(needed == 256 * partial, of_scene, "{needed}");
    }
    let cancelled = Counts::cancelled_at(bricks / 4);
    assert_eq!(error(&mesh, 190.0, u64::MAX, cancelled), "cancelled");
    let most = gpu.device().device.limits().max_texture_dimension_3d;
    let line = mesh_of(&[[[0.0; 3], [f64::from(most), 0.5, 0.5], [1.0, 1.0, 1.0]]]);
    let too_long = error(&at_voxel_size(&line, 0.5), 1.0, u64::MAX, Counts::default());
    let limit = format!("a 3D texture of this GPU at most {} texels", grouped(most.into()));
    assert!(too_long.contains(&limit), "{too_long}");
}

#[test]
fn a_voxelizer_has_the_texels_and_the_warnings_of_its_distances() {
    let Some(gpu) = fast_gpu().map(Arc::new) else { return };
    let mesh = octahedron(1.0);
    let whole = Voxelizer::new().resolution(20);
    let cut = whole.clone().bounds([[-1.0; 3], [1.0, 0.5, 1.0]]);
    for (voxelizer, warnings) in [(whole, 0), (cut, 2)] {
        let expected = voxelizer.distances(&mesh, 2.5).unwrap();
        let found = voxelizer.distance_texture(&gpu, &mesh, 2.5).unwrap();
        assert!(texels(&gpu, &found.texture) == texels_of(&expected.field));
        assert_eq!(found.lattice, expected.lattice);
        assert_eq!(found.fill_report.unwrap().fill, expected.fill_report.unwrap().fill);
        assert_eq!((found.warnings.len(), &found.warnings), (warnings, &expected.warnings));
    }
    let error = Voxelizer::new().distance_texture(&gpu, &mesh, 2000.0).unwrap_err();
    assert!(error.to_string().contains("a width of 2000 voxels is not possible"), "{error}");
}

#[test]
fn progress_ends_at_its_total_and_memory_and_cancelling_end_the_work() {
    let adapter = adapters().into_iter().max_by_key(|a| a.label().contains("llvmpipe"));
    let Some(adapter) = adapter else { return };
    // A triangle near all bricks, more than those of a batch.
    let mesh = mesh_of(&[[[0.0; 3], [210.0, 10.0, 20.0], [20.0, 210.0, 210.0]]]);
    let mesh = at_voxel_size(&mesh, 1.0);
    let bricks: u64 = mesh.lattice().dims.map(|d| u64::from(d.div_ceil(8))).iter().product();
    let gpu = Gpu::new(&adapter).unwrap();
    let run = |by: Backend, memory: u64, progress: &Counts| {
        let inside = VoxelGrid::empty(mesh.lattice().dims).unwrap();
        distances(by, &mesh, inside, 190.0, memory, progress)
    };
    let counts = Counts::default();
    let expected = run(Backend::Cpu(&Cpu), u64::MAX, &Counts::default()).unwrap();
    assert!(run(Backend::Gpu(&gpu), u64::MAX, &counts).unwrap() == expected);
    assert_eq!((counts.total.into_inner(), counts.done.into_inner()), (bricks, bricks));

    let cancelled = Counts::cancelled_at(bricks / 4);
    assert!(matches!(run(Backend::Gpu(&gpu), u64::MAX, &cancelled), Err(BackendError::Cancelled)));
    assert!(cancelled.done.into_inner() < bricks);

    // Enough for a batch, not for the band.
    for (memory, least) in [(100 << 20, 120 << 20), (1 << 20, 1 << 20)] {
        let error = run(Backend::Gpu(&gpu), memory, &Counts::default()).expect_err("it fits");
        let is_more = matches!(error, BackendError::Memory { needed, .. } if needed > least);
        assert!(is_more, "{memory}: {error}");
    }
}

type Vector = [f32; 3];

/// `start - along * edge`, by fused operations and by others.
fn twice_from(start: [Vector; 2], along: f32, edge: Vector) -> [Vector; 2] {
    let [fused, plain] = start;
    let fused = [0, 1, 2].map(|i| (-along).mul_add(edge[i], fused[i]));
    [fused, [0, 1, 2].map(|i| plain[i] - along * edge[i])]
}

/// `distance_bounds` in `shaders/distance/bounds.wgsl` with that `error`, in units of the largest
/// 1-norm, where products take one of two evaluations of `v`, and the length the other.
fn bounds_by_two(pair: &Pair, is_fused: bool, error: f32) -> [f32; 2] {
    let [a, b, c] = pair.triangle.map(|corner| [0, 1, 2].map(|i| (pair.p[i] - corner[i]) as f32));
    let shorter = |a: [Vector; 2], b: [Vector; 2]| {
        if dot(a[0], a[0]) < dot(b[0], b[0]) { a } else { b }
    };
    let from_edge = |start: Vector, end: Vector| {
        let edge = minus(start, end);
        let along = (dot(start, edge) / dot(edge, edge).max(1.0)).clamp(0.0, 1.0);
        twice_from([start; 2], along, edge)
    };
    let mut v = shorter(shorter(from_edge(a, b), from_edge(b, c)), from_edge(c, a));
    let normal = cross(minus(a, b), minus(b, c));
    let weights = [cross(b, c), cross(c, a), cross(a, b)].map(|side| dot(side, normal));
    let sum: f32 = weights.iter().sum();
    if weights.iter().all(|&weight| weight >= 0.0) && sum > 0.0 {
        let [_, y, z] = weights.map(|weight| (weight / sum).min(1.0));
        v = shorter(v, twice_from(twice_from([a; 2], y, minus(a, b)), z, minus(a, c)));
    }
    let norm_1 = |v: Vector| v.iter().map(|c| c.abs()).sum::<f32>();
    let error = error * norm_1(a).max(norm_1(b)).max(norm_1(c));
    let [multiplied, measured] = [v[usize::from(!is_fused)], v[usize::from(is_fused)]];
    let length = dot(measured, measured).sqrt();
    let products = [a, b, c].map(|corner| dot(multiplied, corner));
    let least = products.into_iter().fold(f32::INFINITY, f32::min);
    let least = least / length.max(error).max(2.0_f32.powi(-20));
    [if length > error { least - error } else { 0.0 }, length + error]
}

#[test]
fn bounds_hold_where_a_compiler_fuses_one_use_of_a_vector_and_not_another() {
    let mut random = fastrand::Rng::with_seed(72);
    let pairs: Vec<Pair> = (0..40_000).map(|_| any_pair(&mut random)).collect();
    let wrong = |error| {
        let fails = |pair: &&Pair| {
            let exact = squared(pair.p.map(i128::from), &pair.triangle);
            [false, true].into_iter().any(|is_fused| {
                let [least, most] = bounds_by_two(pair, is_fused, error);
                !is_between(least, &exact, most)
            })
        };
        pairs.par_iter().find_first(fails)
    };
    let wrong_with = wrong(2.0_f32.powi(-17));
    assert!(wrong_with.is_none(), "{wrong_with:?}");
    assert!(wrong(0.0).is_some(), "no bound is needed");
}
