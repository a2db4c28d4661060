//! The attributes of voxels: compared with another way to clip, and the same in any order.

use crate::common::polygons::clip;
use crate::common::prelude::*;
use trivox::engine::Warning;
use trivox::grid::VoxelSample;
use trivox::mesh::Labels;

fn voxelizer() -> Voxelizer {
    // Coverage is of solids: `coverage.rs` has its tests.
    let all = Attribute::ALL.iter().copied().filter(|&of| of != Attribute::Coverage);
    Voxelizer::new().backend(BackendChoice::Cpu).color(ColorSource::None).attributes(all)
}

fn samples(grid: &VoxelGrid) -> Vec<([u32; 3], VoxelSample)> {
    grid.voxels().zip(grid.attributes.as_ref().unwrap().of_voxels(grid)).collect()
}

type Point = [f64; 3];

/// The triangle's normal, twice its area long.
fn normal([a, b, c]: [Point; 3]) -> Point {
    cross(minus(b, a), minus(c, a))
}

/// The area of a triangle in a voxel, by clipping at one half-space after the other.
fn area_in(corners: [Point; 3], voxel: [u32; 3]) -> f64 {
    let clip_along = |polygon: Vec<Point>, axis: usize| clip(&polygon, axis, voxel[axis].into());
    let polygon = (0..3).fold(corners.to_vec(), clip_along);
    let fan = (2..polygon.len()).map(|i| normal([polygon[0], polygon[i - 1], polygon[i]]));
    length(fan.fold([0.0; 3], plus)) / 2.0
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
        let (mut total, mut decided) = (0.0, 0);
        for (voxel, sample) in samples(&voxelizer.run(&mesh).unwrap().grid) {
            let areas: Vec<f64> = triangles.iter().map(|&t| area_in(t, voxel)).collect();
            let area: f64 = areas.iter().sum();
            assert!((f64::from(sample.area) - area).abs() < 1e-4, "{voxel:?}: {area} {sample:?}");
            assert_eq!(sample.material, -1);
            let largest = areas.iter().copied().fold(0.0, f64::max);
            let found = areas[sample.triangle as usize];
            assert!(found > largest - 1e-5, "{voxel:?}: {found} of {largest}");
            let weighted = triangles.iter().zip(&areas).map(|(&triangle, area)| {
                let normal = normal(triangle);
                normal.map(|c| area * c / length(normal))
            });
            let sum = weighted.fold([0.0; 3], plus);
            if length(sum) > 0.3 * area && area > 0.1 {
                let difference = minus(sample.normal.map(f64::from), sum.map(|c| c / length(sum)));
                assert!(length(difference) < 1e-3, "{voxel:?}: {sum:?} {sample:?}");
                decided += 1;
            }
            total += f64::from(sample.area);
        }
        let expected: f64 = triangles.iter().map(|&t| length(normal(t)) / 2.0).sum();
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
    assert_eq!(one(vec![[0, 3, 2], [0, 2, 1]]), down);
}

#[test]
fn materials_and_labels_are_those_of_the_triangles_and_the_inside_has_none() {
    let red = Material { name: "red".to_owned(), ..Material::default() };
    let mesh = sphere(1.0, 40, 40);
    let count = mesh.triangles().len();
    let objects = (0..3).map(|third| (third * count / 3, ["low", "mid", "low"][third]));
    let labels = Labels::of(objects, count, true).unwrap();
    let mesh = in_turn(mesh, vec![red.clone(), Material::default(), red]);
    let mesh = mesh.with_labels(labels.clone());
    let solid = voxelizer().resolution(20).mode(Mode::Solid(Solid::default()));
    let grid = solid.run(&mesh).unwrap().grid;
    let names = grid.attributes.as_ref().unwrap().names();
    assert_eq!(names[&Attribute::Label], ["low", "mid"]);
    // Materials of one name are one, as those with and without a texture in a file.
    assert_eq!(names[&Attribute::Material], ["red", ""]);
    let mut touched = [0; 2];
    let mut inside = 0;
    for (voxel, sample) in samples(&grid) {
        if sample.triangle < 0 {
            assert_eq!(sample, VoxelSample::NONE, "{voxel:?}");
            inside += 1;
            continue;
        }
        assert_eq!(sample.material, sample.triangle % 3 % 2, "{voxel:?}");
        let label = labels.of_triangle(sample.triangle as usize);
        assert_eq!(sample.label, label as i32, "{voxel:?}");
        touched[label as usize] += 1;
    }
    assert!(touched[0] > 200 && touched[1] > 100 && inside > 1000, "{touched:?} {inside}");
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
    let expected: f64 = corners_of(&mesh).map(|corners| length(normal(corners)) / 2.0).sum();
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

/// Steps of 1 / 65,535 for a material, for a texture, and for their product.
const STEPS: f64 = 1.5 / 65535.0;

#[test]
fn what_materials_say_is_the_area_weighted_mean_of_all_in_a_voxel() {
    let mut rng = Rng::with_seed(5);
    let mesh = float_soup(&mut rng, 60);
    let material = |_| Material {
        color: [65535, 0, 0, rng.u16(..)],
        alpha: Alpha::Blend,
        metallic: Some(rng.f32()),
        roughness: Some(rng.f32()),
        emission: Some([rng.f32(), 5.0 * rng.f32(), 0.0]),
        ..Material::default()
    };
    let materials: Vec<Material> = (0..60).map(material).collect();
    let mesh = in_turn(mesh, materials.clone());
    let voxelizer = voxelizer().voxel_size(0.6).pad(1);
    let triangles = in_voxels(&voxelizer.place(&mesh).unwrap().mesh);
    let found = voxelizer.run(&mesh).unwrap();
    let missing = Warning::NoAttribute(Attribute::Uv, "the mesh has no textures");
    assert_eq!(found.warnings, [missing]);
    let mut mixed = 0;
    for (voxel, sample) in samples(&found.grid).into_iter().filter(|(_, of)| of.area > 0.05) {
        let areas: Vec<f64> = triangles.iter().map(|&t| area_in(t, voxel)).collect();
        let mean = |of: &dyn Fn(&Material) -> f32| {
            let parts = areas.iter().zip(&materials).map(|(area, m)| area * f64::from(of(m)));
            parts.sum::<f64>() / areas.iter().sum::<f64>()
        };
        for (found, expected, most) in [
            (sample.metallic, mean(&|of| of.metallic.unwrap()), 2e-4),
            (sample.roughness, mean(&|of| of.roughness.unwrap()), 2e-4),
            (sample.alpha, mean(&|of| f32::from(of.color[3]) / 65535.0), 2e-4),
            (sample.emission[0], mean(&|of| of.emission.unwrap()[0]), 1e-3),
            (sample.emission[1], mean(&|of| of.emission.unwrap()[1]), 1e-3),
            (sample.emission[2], 0.0, 2e-4),
        ] {
            let error = (f64::from(found) - expected).abs();
            assert!(error <= most, "{voxel:?}: {sample:?}, not {expected}");
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
        uvs: vec![[[0.0; 2], [1.0, 0.0], [1.0; 2]], [[0.0; 2], [1.0; 2], [0.0, 1.0]]],
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
                let error = (f64::from(found) - expected).abs();
                assert!(error <= most, "{voxel:?}: {sample:?}, not {expected}");
            }
            // The diagonal divides voxels between the triangles; so it does the whole.
            let (expected, most) = match size {
                1.0 if pad == 0 && x != y => ([x, y].map(|c| (c + 0.5) / 4.0), 1e-6),
                1.0 => ([x, y].map(|c| (c + 0.5) / 4.0), 0.15),
                _ => ([2.0 / 3.0, 1.0 / 3.0], 1e-6),
            };
            let errors = [0, 1].map(|i| (f64::from(sample.uv[i]) - expected[i]).abs());
            assert!(errors.iter().all(|&error| error < most), "{voxel:?}: {:?}", sample.uv);
        }
    }
}

#[test]
fn what_no_material_states_is_absent_and_the_others_have_the_usual_value() {
    let asked = [Attribute::Metallic, Attribute::Roughness, Attribute::Emission];
    let run = |materials: Vec<Material>| {
        let mesh = with_materials(square(4.0, 0.5), materials, vec![0; 2]);
        voxelizer().voxel_size(1.0).attributes(asked).run(mesh).unwrap()
    };
    let without = run(vec![Material::default()]);
    assert!(without.grid.attributes.is_none());
    let said = without.warnings.iter().map(ToString::to_string).collect::<Vec<_>>();
    let names = [("metalness", "metallic"), ("roughness", "roughness"), ("emission", "emission")];
    let expected = names.map(|(what, name)| {
        format!("no material states {what}: voxels have no attribute '{name}'")
    });
    assert_eq!(said, expected);
    let metal = Material { metallic: Some(1.0), ..Material::default() };
    let partly = run(vec![Material::default(), metal]);
    let set = partly.grid.attributes.as_ref().unwrap().set();
    assert!(set.into_iter().eq([Attribute::Metallic]));
    assert_eq!(partly.warnings.len(), 2);
    assert!(samples(&partly.grid).iter().all(|(_, of)| of.metallic == 0.0 && of.triangle == -1));
}

#[test]
fn labels_of_a_larger_mesh_leave_those_of_the_triangles_that_are_there() {
    let labels = Labels::of([(0, "a"), (14, "b")], 20, false).unwrap();
    let mesh = cube([0.0; 3], 4.0).with_labels(labels);
    let solid = voxelizer().resolution(4).mode(Mode::Solid(Solid::default()));
    let grid = solid.run(&mesh).unwrap().grid;
    let labels: Vec<i32> = samples(&grid).into_iter().map(|(_, sample)| sample.label).collect();
    assert_eq!(labels, [0; 64]);
}

#[test]
fn a_part_of_a_grid_keeps_its_colours_and_attributes() {
    let whole =
        Voxelizer::new().resolution(30).attributes([Attribute::Normal, Attribute::Triangle]);
    let whole = whole.run(asset("lighthouse.obj")).unwrap().grid;
    let known: HashMap<_, _> = samples(&whole).into_iter().collect();
    let even = whole.voxels().filter(|voxel| voxel[1] % 2 == 0);
    let even = VoxelGrid::from_voxels(whole.dims(), even).unwrap();
    for part in [whole.intersection(&even), whole.subtract(&even)] {
        assert!(part.occupied() > 500);
        for (voxel, sample) in samples(&part) {
            assert_eq!((part.color(voxel), sample), (whole.color(voxel), known[&voxel]));
        }
        let own = part.colors.as_ref().unwrap().own_count();
        assert!(own <= part.occupied(), "{own} colours");
    }
    assert!(whole.union(&even).attributes.is_none());
}
