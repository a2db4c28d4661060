//! The attributes of voxels: compared with another way to clip, and the same in any order.

use crate::common::prelude::*;
use trivox::engine::Warning;
use trivox::grid::{Attribute, VoxelSample};
use trivox::mesh::Labels;
use trivox::mesh::appearance::TextureRef;

fn voxelizer() -> Voxelizer {
    // Coverage is of solids: `coverage.rs` has its tests.
    let all = Attribute::ALL.iter().copied().filter(|&of| of != Attribute::Coverage);
    Voxelizer::new().backend(BackendChoice::Cpu).color(ColorSource::None).attributes(all)
}

fn samples(grid: &VoxelGrid) -> Vec<([u32; 3], VoxelSample)> {
    grid.voxels().zip(grid.attributes.as_ref().unwrap().of_voxels(grid)).collect()
}

type Point = [f64; 3];

/// The area of a triangle in a box, by clipping at one half-space after the other.
fn area_in(corners: [Point; 3], low: Point, high: Point) -> f64 {
    let mut polygon = corners.to_vec();
    for a in 0..3 {
        for (sign, bound) in [(1.0, low[a]), (-1.0, high[a])] {
            let inside = |p: &Point| sign * (p[a] - bound);
            let mut clipped = Vec::new();
            for i in 0..polygon.len() {
                let (p, q) = (polygon[i], polygon[(i + 1) % polygon.len()]);
                let (s, t) = (inside(&p), inside(&q));
                if s >= 0.0 {
                    clipped.push(p);
                }
                if s * t < 0.0 {
                    clipped.push([0, 1, 2].map(|k| p[k] + s / (s - t) * (q[k] - p[k])));
                }
            }
            polygon = clipped;
        }
    }
    let fan = |i: usize| cross(minus(polygon[i], polygon[0]), minus(polygon[i + 1], polygon[0]));
    let sum = (1..polygon.len().saturating_sub(1)).map(fan);
    length(sum.fold([0.0; 3], plus)) / 2.0
}

/// The corners of the triangles, in voxels.
fn in_voxels(mesh: &PlacedMesh) -> Vec<[Point; 3]> {
    let units = f64::from(mesh.lattice().units_per_voxel());
    mesh.triangles().map(|corners| corners.map(|p| p.map(|c| f64::from(c) / units))).collect()
}

#[test]
fn attributes_are_those_of_triangles_clipped_one_by_one() {
    let mut rng = Rng::with_seed(1);
    for size in [0.3, 0.9] {
        let mesh = float_soup(&mut rng, 60);
        let voxelizer = voxelizer().voxel_size(size).pad(1);
        let triangles = in_voxels(&voxelizer.place(&mesh).unwrap().mesh);
        let grid = voxelizer.run(&mesh).unwrap().grid;
        let (mut total, mut decided) = (0.0, 0);
        for (voxel, sample) in samples(&grid) {
            let low = voxel.map(f64::from);
            let high = low.map(|c| c + 1.0);
            let areas: Vec<f64> = triangles.iter().map(|&t| area_in(t, low, high)).collect();
            let area: f64 = areas.iter().sum();
            assert!((f64::from(sample.area) - area).abs() < 1e-4, "{voxel:?}: {area} {sample:?}");
            assert_eq!(sample.material, -1);
            let largest = areas.iter().copied().fold(0.0, f64::max);
            let found = areas[sample.triangle as usize];
            assert!(found > largest - 1e-5, "{voxel:?}: {found} of {largest}");
            let sum = triangles.iter().zip(&areas).fold([0.0; 3], |sum, (&[a, b, c], area)| {
                let normal = cross(minus(b, a), minus(c, a));
                let unit = normal.map(|n| n / length(normal));
                [0, 1, 2].map(|k| sum[k] + area * unit[k])
            });
            if length(sum) > 0.3 * area && area > 0.1 {
                let difference = minus(sample.normal.map(f64::from), sum.map(|c| c / length(sum)));
                assert!(length(difference) < 1e-3, "{voxel:?}: {sum:?} {sample:?}");
                decided += 1;
            }
            total += f64::from(sample.area);
        }
        let expected: f64 =
            triangles.iter().map(|&[a, b, c]| length(cross(minus(b, a), minus(c, a))) / 2.0).sum();
        assert!((total / expected - 1.0).abs() < 1e-5, "{total} of {expected}");
        assert!(decided > 100, "{decided}");
    }
}

#[test]
fn the_triangle_is_the_lowest_of_equals_and_opposite_sides_have_no_normal() {
    let corners = vec![[0.0, 0.0, 0.5], [1.0, 0.0, 0.5], [0.0, 1.0, 0.5], [0.5, 0.0, 0.5]];
    let bounds = Bounds { min: [0.0; 3], max: [1.0; 3] };
    let one = |triangles: Vec<[u32; 3]>| {
        let mesh = Mesh::new(corners.clone(), triangles).unwrap();
        let grid = voxelizer().voxel_size(1.0).bounds(bounds).run(&mesh).unwrap().grid;
        samples(&grid)[0].1
    };
    let none = VoxelSample::NONE;
    let up = VoxelSample { normal: [0.0, 0.0, 1.0], triangle: 0, label: 0, area: 0.5, ..none };
    assert_eq!(one(vec![[0, 1, 2]]), up);
    assert_eq!(one(vec![[0, 1, 2], [1, 2, 0]]), VoxelSample { area: 1.0, ..up });
    let both = VoxelSample { normal: [0.0; 3], area: 1.0, ..up };
    assert_eq!(one(vec![[0, 1, 2], [0, 2, 1]]), both);
    let down = VoxelSample { normal: [0.0, 0.0, -1.0], triangle: 1, area: 0.75, ..up };
    let half = one(vec![[0, 3, 2], [0, 2, 1]]);
    assert_eq!(half, down);
}

#[test]
fn materials_and_labels_are_those_of_the_triangles_and_the_inside_has_none() {
    let (name, color) = ("red".to_owned(), [65535, 0, 0, 65535]);
    let red = || Material { name: name.clone(), color, ..Material::default() };
    let mesh = sphere(1.0, 40, 40);
    let count = mesh.triangles().len() as u32;
    let look = Appearance {
        materials: vec![red(), Material::default(), red()],
        material_of: (0..count).map(|triangle| triangle % 3).collect(),
        ..Appearance::default()
    };
    let objects = (0..3).map(|third| (third * count as usize / 3, ["low", "mid", "low"][third]));
    let labels = Labels::of(objects, count as usize, true).unwrap();
    let mesh = mesh.with_appearance(look).unwrap().with_labels(labels.clone());
    let solid = voxelizer().resolution(20).mode(Mode::Solid(Solid::default()));
    let grid = solid.run(&mesh).unwrap().grid;
    let names = grid.attributes.as_ref().unwrap().names();
    assert_eq!(names[&Attribute::Label], ["low", "mid"]);
    // Materials of one name are one, as those with and without a texture in a file.
    assert_eq!(names[&Attribute::Material], ["red", ""]);
    let all = samples(&grid);
    let (touched, inside): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|(_, sample)| sample.triangle >= 0);
    assert!(touched.iter().all(|(_, sample)| sample.material == sample.triangle % 3 % 2));
    let label = |triangle: i32| labels.of_triangle(triangle as usize) as i32;
    assert!(touched.iter().all(|(_, sample)| sample.label == label(sample.triangle)));
    assert!(touched.iter().any(|(_, sample)| sample.label == 1));
    assert!(inside.iter().all(|(_, sample)| *sample == VoxelSample::NONE));
    assert!(touched.len() > 300 && inside.len() > 1000);
}

#[test]
fn attributes_are_the_same_on_any_number_of_threads_and_of_triangles_in_any_order() {
    let mut rng = Rng::with_seed(2);
    let mesh = float_soup(&mut rng, 500);
    let run = |voxelizer: Voxelizer, mesh: &Mesh| {
        samples(&voxelizer.voxel_size(0.1).run(mesh).unwrap().grid)
    };
    let expected = run(voxelizer().threads(1), &mesh);
    for threads in [2, 5] {
        assert!(run(voxelizer().threads(threads), &mesh) == expected, "{threads}");
    }
    let mut order: Vec<usize> = (0..500).collect();
    rng.shuffle(&mut order);
    let triangles = order.iter().map(|&index| mesh.triangles()[index]).collect();
    let shuffled = with_triangles(&mesh, triangles);
    let same = run(voxelizer(), &shuffled).into_iter().zip(&expected).filter(|((_, a), (_, b))| {
        assert_eq!((a.normal, a.area), (b.normal, b.area));
        order[a.triangle as usize] == b.triangle as usize
    });
    // The lowest of equals depends on the order, in voxels that triangles only touch.
    assert!(same.count() * 100 > expected.len() * 99);
}

#[test]
fn tiles_and_bounds_have_the_attributes_of_the_whole() {
    let mesh = float_soup(&mut Rng::with_seed(3), 200);
    let voxelizer = voxelizer().resolution(60);
    let whole = voxelizer.run(&mesh).unwrap().grid;
    let expected: HashMap<_, _> = samples(&whole).into_iter().collect();
    let joined = joined_tiles(&voxelizer, &mesh, [2, 2, 1], whole.dims());
    assert!(samples(&joined) == samples(&whole));
    let part = whole.in_box([3, 5, 7], [20, 21, 22]).unwrap();
    assert!(part.occupied() > 100);
    for (voxel, sample) in samples(&part) {
        assert_eq!(sample, expected[&[voxel[0] + 3, voxel[1] + 5, voxel[2] + 7]]);
    }
}

#[test]
fn the_area_between_two_voxels_is_divided_among_those_that_are_occupied() {
    // On the faces of voxels, bricks and tiles, with a face that two boxes share.
    let mesh = together(&[cuboid([0.0; 3], [16.0, 8.0, 4.0]), cuboid([16.0, 0.0, 0.0], [20.0; 3])]);
    let area = |[a, b, c]: [Point; 3]| length(cross(minus(b, a), minus(c, a))) / 2.0;
    let expected: f64 = corners_of(&mesh).map(area).sum();
    let solid = |include_surface| Mode::Solid(Solid { include_surface, ..Solid::default() });
    for mode in [Mode::Surface, Mode::Thin, solid(false), solid(true)] {
        for pad in [0, 1] {
            let voxelizer = voxelizer().mode(mode).voxel_size(1.0).pad(pad);
            let whole = voxelizer.run(&mesh).unwrap().grid;
            let all = samples(&whole);
            let sum: f64 = all.iter().map(|(_, of)| f64::from(of.area)).sum();
            assert!((sum - expected).abs() < 1e-3, "{mode:?}, {pad}: {sum} of {expected}");
            let joined = joined_tiles(&voxelizer, &mesh, [2, 2, 2], whole.dims());
            assert!(samples(&joined) == all, "{mode:?}, {pad}");
        }
    }
    // A half on both sides, or all where the other is empty; in the plane of the grid's end too.
    let sheet = square(1.0, 1.0);
    let areas = |height: f64| {
        let bounds = Bounds { min: [0.0; 3], max: [1.0, 1.0, height] };
        let grid = voxelizer().voxel_size(1.0).bounds(bounds).run(&sheet).unwrap().grid;
        samples(&grid).iter().map(|(_, of)| of.area).collect::<Vec<f32>>()
    };
    assert_eq!((areas(2.0), areas(1.0)), (vec![0.5; 2], vec![1.0]));
}

fn close(found: f32, expected: f64, most: f64) -> bool {
    (f64::from(found) - expected).abs() <= most
}

/// Steps of 1 / 65,535 for a material, for a texture, and for their product.
const STEPS: f64 = 1.5 / 65535.0;

#[test]
fn what_materials_say_is_the_area_weighted_mean_of_all_in_a_voxel() {
    let mut rng = Rng::with_seed(5);
    let mesh = float_soup(&mut rng, 60);
    let materials: Vec<Material> = (0..60)
        .map(|_| Material {
            color: [65535, 0, 0, rng.u16(..)],
            alpha: Alpha::Blend,
            metallic: Some(rng.f32()),
            roughness: Some(rng.f32()),
            emission: Some([rng.f32(), 5.0 * rng.f32(), 0.0]),
            ..Material::default()
        })
        .collect();
    let material_of = (0..60).collect();
    let look = Appearance { materials: materials.clone(), material_of, ..Appearance::default() };
    let mesh = mesh.with_appearance(look).unwrap();
    let voxelizer = voxelizer().voxel_size(0.6).pad(1);
    let triangles = in_voxels(&voxelizer.place(&mesh).unwrap().mesh);
    let found = voxelizer.run(&mesh).unwrap();
    let missing = Warning::NoAttribute(Attribute::Uv, "the mesh has no textures");
    assert_eq!(found.warnings, [missing]);
    let mut mixed = 0;
    for (voxel, sample) in samples(&found.grid).into_iter().filter(|(_, of)| of.area > 0.05) {
        let low = voxel.map(f64::from);
        let areas = triangles.iter().map(|&t| area_in(t, low, low.map(|c| c + 1.0)));
        let areas: Vec<f64> = areas.collect();
        let mean = |of: &dyn Fn(&Material) -> f64| {
            let parts = areas.iter().zip(&materials).map(|(area, material)| area * of(material));
            parts.sum::<f64>() / areas.iter().sum::<f64>()
        };
        let light = |axis: usize| mean(&|of| f64::from(of.emission.unwrap()[axis]));
        for (found, expected) in [
            (sample.metallic, mean(&|of| f64::from(of.metallic.unwrap()))),
            (sample.roughness, mean(&|of| f64::from(of.roughness.unwrap()))),
            (sample.alpha, mean(&|of| f64::from(of.color[3]) / 65535.0)),
            (sample.emission[0] / 5.0, light(0) / 5.0),
            (sample.emission[1] / 5.0, light(1) / 5.0),
            (sample.emission[2], 0.0),
        ] {
            assert!(close(found, expected, 2e-4), "{voxel:?}: {sample:?}, not {expected}");
        }
        mixed += u32::from(areas.iter().filter(|&&area| area > 0.01).count() > 1);
    }
    assert!(mixed > 20, "{mixed}");
}

#[test]
fn maps_are_read_texel_by_texel_and_factors_multiply_them() {
    let texels = [[9, 10, 20, 0], [1, 200, 100, 255], [255, 0, 255, 7], [66, 77, 88, 99]];
    check_maps(texels, texels);
    check_maps(texels, [[0, 250, 0, 1], [0, 30, 90, 2], [0, 99, 0, 3], [1, 2, 3, 4]]);
}

/// A square of 4 x 4 voxels with a texture of 2 x 2 texels, half its metal, four times its emission
/// and the roughness of another.
fn check_maps(texels: [Rgba; 4], rough: [Rgba; 4]) {
    let uv = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    let map = TextureRef { texture: 0, wrap: [Wrap::Repeat; 2], filter: Filter::Nearest };
    let of_roughness = TextureRef { texture: u32::from(rough != texels), ..map };
    let look = Appearance {
        materials: vec![Material {
            metallic: Some(0.5),
            roughness: Some(1.0),
            metallic_texture: Some(map),
            roughness_texture: Some(of_roughness),
            emission: Some([4.0, 1.0, 0.5]),
            emission_texture: Some(map),
            ..Material::default()
        }],
        textures: [texels, rough].map(|all| Texture::new([2, 2], all.to_vec())).to_vec(),
        uvs: vec![[uv[0], uv[1], uv[2]], [uv[0], uv[2], uv[3]]],
        ..Appearance::default()
    };
    let mesh = square(4.0, 0.5).with_appearance(look).unwrap();
    for (size, pad) in [(1.0, 0), (1.0, 1), (4.0, 0)] {
        let grid = voxelizer().voxel_size(size).pad(pad).run(&mesh).unwrap().grid;
        let all = samples(&grid);
        let count = if size > 1.0 { 1 } else { (4 + 2 * pad).pow(2) * (1 + pad) };
        assert_eq!(all.len() as u32, count);
        for (voxel, sample) in all {
            // Voxels around the square, which it touches in an edge or a corner, have its rim.
            let [x, y, _] = voxel.map(|c| f64::from(c.max(pad)) - f64::from(pad));
            let at = (x.min(3.0) / 2.0) as usize + 2 * (y.min(3.0) / 2.0) as usize;
            let mean = |all: [Rgba; 4], of: &dyn Fn(Rgba) -> f64| match size {
                1.0 => of(all[at]),
                _ => all.into_iter().map(of).sum::<f64>() / 4.0,
            };
            let light = |c: usize| mean(texels, &|texel| f64::from(linear_of(texel[c])) / 65535.0);
            for (found, expected, most) in [
                (sample.metallic, mean(texels, &|of| f64::from(of[2]) / 510.0), STEPS),
                (sample.roughness, mean(rough, &|of| f64::from(of[1]) / 255.0), STEPS),
                (sample.emission[0], 4.0 * light(0), 4.0 * STEPS),
                (sample.emission[1], light(1), 4.0 * STEPS),
                (sample.emission[2], light(2) / 2.0, 4.0 * STEPS),
                (sample.alpha, 1.0, 0.0),
            ] {
                assert!(close(found, expected, most), "{voxel:?}: {sample:?}, not {expected}");
            }
            let middle = |c: f64| (c + 0.5) / 4.0;
            // The diagonal divides voxels between the triangles; so it does the whole.
            let [u, v] = sample.uv.map(f64::from);
            let is_near = (u - middle(x)).abs() < 0.15 && (v - middle(y)).abs() < 0.15;
            assert!(size > 1.0 || is_near, "{voxel:?}: {u}, {v}");
            if size == 1.0 && pad == 0 && x != y {
                assert!((u - middle(x)).abs() < 1e-6 && (v - middle(y)).abs() < 1e-6);
            }
            if size > 1.0 {
                assert!((u - 2.0 / 3.0).abs() < 1e-6 && (v - 1.0 / 3.0).abs() < 1e-6);
            }
        }
    }
}

#[test]
fn what_no_material_states_is_absent_and_the_others_have_the_usual_value() {
    let mesh = |materials: Vec<Material>| {
        let look = Appearance { materials, material_of: vec![0; 2], ..Appearance::default() };
        square(4.0, 0.5).with_appearance(look).unwrap()
    };
    let asked = [Attribute::Metallic, Attribute::Roughness, Attribute::Emission];
    let run = |mesh: &Mesh| voxelizer().voxel_size(1.0).attributes(asked).run(mesh).unwrap();
    let without = run(&mesh(vec![Material::default()]));
    assert!(without.grid.attributes.is_none());
    let said: Vec<String> = without.warnings.iter().map(ToString::to_string).collect();
    let expected =
        |(what, name)| format!("no material states {what}: voxels have no attribute '{name}'");
    let names = [("metalness", "metallic"), ("roughness", "roughness"), ("emission", "emission")];
    assert_eq!(said, names.map(expected));
    let metal = Material { metallic: Some(1.0), ..Material::default() };
    let partly = run(&mesh(vec![Material::default(), metal]));
    let set = partly.grid.attributes.as_ref().unwrap().set();
    assert_eq!(
        (set.into_iter().collect::<Vec<_>>(), partly.warnings.len()),
        (asked[..1].to_vec(), 2)
    );
    assert!(samples(&partly.grid).iter().all(|(_, of)| of.metallic == 0.0 && of.triangle == -1));
}
