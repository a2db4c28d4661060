//! The colours of voxels: compared with many samples of each, and the same in any order.
use crate::common::oklab::{Light, distance, oklab};
use crate::common::paths::neighbours;
use crate::common::prelude::*;
use trivox::{Blend, ColorOptions, color};

fn painted(mesh: &PlacedMesh, mode: Mode) -> VoxelGrid {
    blended(mesh, mode, Blend::All)
}

fn blended(mesh: &PlacedMesh, mode: Mode, blend: Blend) -> VoxelGrid {
    let mut options = ColorOptions::new(mode);
    options.blend = blend;
    color(mesh, in_mode(mesh, mode).grid, &options, &NoProgress).unwrap().0
}

fn surface_colors(mesh: &PlacedMesh) -> Colors {
    painted(mesh, Mode::Surface).colors.unwrap()
}

fn placed(mesh: &Mesh, voxel_size: f64) -> PlacedMesh {
    padded(mesh, PlaceOptions::new(Sizing::VoxelSize(voxel_size)), 1)
}

fn read_linearly(wrap: [Wrap; 2]) -> TextureRef {
    TextureRef { texture: 0, wrap, filter: Filter::Linear }
}

/// A material of the first texture.
fn of_texture(wrap: [Wrap; 2]) -> Material {
    Material { texture: Some(read_linearly(wrap)), ..Material::default() }
}

/// Texture coordinates of the triangles of a square, with these at its corners.
fn over_square([a, b, c, d]: [[f32; 2]; 4]) -> [[[f32; 2]; 3]; 2] {
    [[a, b, c], [a, c, d]]
}

/// A whole texture.
const WHOLE: [[f32; 2]; 4] = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];

/// Patches of a colour, so that large footprints differ from one another.
fn noise(rng: &mut Rng, size: [u32; 2]) -> Texture {
    let cell = size.map(|s| s.div_ceil(4));
    let hues: Vec<[u8; 3]> = (0..25).map(|_| [rng.u8(..), rng.u8(..), rng.u8(..)]).collect();
    let texels = (0..size[0] * size[1]).map(|i| {
        let [x, y] = [i % size[0] / cell[0], i / size[0] / cell[1]];
        let [r, g, b] = hues[(y * 5 + x) as usize].map(|c| c / 2 + rng.u8(..128));
        [r, g, b, 255]
    });
    Texture::new(size, texels.collect())
}

/// What is at `uv` of a texture, found in a way of its own.
fn bilinear(texture: &Texture, uv: [f64; 2], wrap: [Wrap; 2]) -> Light {
    let [width, height] = texture.size();
    let fold = |c: f64, wrap: Wrap| match wrap {
        Wrap::Repeat => c.rem_euclid(1.0),
        Wrap::Mirror => {
            let c = c.rem_euclid(2.0);
            if c > 1.0 { 2.0 - c } else { c }
        }
        Wrap::Clamp => c.clamp(0.0, 1.0),
    };
    let texel = |x: i64, y: i64| {
        let at = |i: i64, n: u32, wrap: Wrap| match wrap {
            Wrap::Repeat => i.rem_euclid(n.into()),
            _ => i.clamp(0, i64::from(n) - 1),
        };
        let index = at(y, height, wrap[1]) * i64::from(width) + at(x, width, wrap[0]);
        let [r, g, b, a] = texture.texels()[index as usize];
        [r, g, b].map(|c| f64::from(linear_of(c)) / 65535.0 * f64::from(a) / 255.0)
    };
    let x = fold(uv[0], wrap[0]) * f64::from(width) - 0.5;
    let y = fold(uv[1], wrap[1]) * f64::from(height) - 0.5;
    let (i, j) = (x.floor() as i64, y.floor() as i64);
    let (s, t) = (x - x.floor(), y - y.floor());
    let corners = [texel(i, j), texel(i + 1, j), texel(i, j + 1), texel(i + 1, j + 1)];
    let weights = [(1.0 - s) * (1.0 - t), s * (1.0 - t), (1.0 - s) * t, s * t];
    [0, 1, 2].map(|c| (0..4).map(|k| corners[k][c] * weights[k]).sum())
}

/// The mean light of the samples in each voxel, and how much area they stand for.
type Samples = HashMap<[u32; 3], (Light, f64)>;

fn sampled(mesh: &PlacedMesh, spacing: f64, light: impl Fn(usize, [f64; 3]) -> Light) -> Samples {
    let units_per_voxel = f64::from(mesh.lattice().units_per_voxel());
    let mut voxels = HashMap::new();
    for (index, triangle) in mesh.triangles().enumerate() {
        let [a, b, c] = triangle.map(|corner| corner.map(|c| f64::from(c) / units_per_voxel));
        let [e, f, g] = [minus(b, a), minus(c, a), minus(c, b)];
        let n = (length(e).max(length(f)).max(length(g)) / spacing).ceil().max(1.0);
        let area = length(cross(e, f)) / 2.0 / (n * n);
        // The centroids of n * n equal parts of the triangle, two of which make a parallelogram.
        let pairs = (0..n as u32).flat_map(|i| (0..n as u32 - i).map(move |j| [i, j]));
        for (place, third) in pairs.flat_map(|place| [(place, 1.0), (place, 2.0)]) {
            let [s, t] = place.map(|k| (f64::from(k) + third / 3.0) / n);
            if s + t > 1.0 {
                continue;
            }
            let light = light(index, [1.0 - s - t, s, t]);
            let voxel = [0, 1, 2].map(|k| (a[k] + s * e[k] + t * f[k]).floor() as u32);
            let (sum, total) = voxels.entry(voxel).or_insert(([0.0; 3], 0.0));
            *sum = plus(*sum, light.map(|c| area * c));
            *total += area;
        }
    }
    voxels.values_mut().for_each(|(sum, total)| *sum = sum.map(|c| c / *total));
    voxels
}

/// The mean distance, in Oklab, of voxels that have at least a hundredth of a face in them, and
/// their number.
fn error(colors: &Colors, expected: &Samples) -> (f64, usize) {
    let large = expected.iter().filter(|(_, (_, area))| *area > 0.01);
    let distances = large.map(|(&voxel, (light, _))| {
        let [r, g, b, _] = colors.of(voxel);
        let found = [r, g, b].map(|c| f64::from(linear_of(c)) / 65535.0);
        distance(oklab(found), oklab(*light))
    });
    let distances: Vec<f64> = distances.collect();
    (distances.iter().sum::<f64>() / distances.len() as f64, distances.len())
}

#[test]
fn textures_are_seen_as_many_samples_in_each_voxel_see_them() {
    let mut rng = Rng::with_seed(1);
    for (size, tiles) in [([5, 3], 1.0), ([64, 64], 1.0), ([256, 100], 1.0), ([1024, 512], 2.0)] {
        for wrap in [[Wrap::Repeat, Wrap::Clamp], [Wrap::Mirror, Wrap::Repeat]] {
            let mesh = float_soup(&mut rng, 40);
            let mut coordinate = || tiles * (3.0 * rng.f32() - 1.0);
            let uvs: Vec<[[f32; 2]; 3]> =
                (0..40).map(|_| [(); 3].map(|()| [(); 2].map(|()| coordinate()))).collect();
            let texture = noise(&mut rng, size);
            let mesh = textured(mesh, of_texture(wrap), texture.clone(), &uvs);
            let mesh = placed(&mesh, 0.4);
            let expected = sampled(&mesh, 0.01, |triangle, weights| {
                let corners = uvs[triangle].map(|uv| uv.map(f64::from));
                let uv = [0, 1].map(|i| (0..3).map(|k| weights[k] * corners[k][i]).sum());
                bilinear(&texture, uv, wrap)
            });
            let (mean, count) = error(&surface_colors(&mesh), &expected);
            assert!(count > 200 && mean < 0.01, "{size:?} {wrap:?}: {mean} of {count} voxels");
        }
    }
}

#[test]
fn vertex_colours_are_seen_as_samples_see_them() {
    let mut rng = Rng::with_seed(2);
    let mesh = float_soup(&mut rng, 60);
    let color = |_| [rng.u16(..), rng.u16(..), rng.u16(..), u16::MAX];
    let colors: Vec<[u16; 4]> = (0..180).map(color).collect();
    let mesh = placed(&vertex_colored(mesh, colors.clone()), 0.3);
    let expected = sampled(&mesh, 0.015, |triangle, weights| {
        let corners = &colors[3 * triangle..];
        [0, 1, 2].map(|i| (0..3).map(|k| weights[k] * f64::from(corners[k][i]) / 65535.0).sum())
    });
    let (mean, count) = error(&surface_colors(&mesh), &expected);
    assert!(count > 300 && mean < 0.003, "{mean} of {count} voxels");
}

fn in_one_voxel(mesh: &Mesh) -> PlacedMesh {
    within(mesh, 2.0, [0.0; 3], [2.0; 3])
}

#[test]
fn a_voxels_colour_is_the_mean_in_linear_light_by_area_and_opacity() {
    let blue = |opacity: u16| Material {
        color: [0, 0, u16::MAX, opacity],
        alpha: Alpha::Blend,
        ..Material::default()
    };
    let srgb = |share: f64| rgba_of([(share * 65535.0) as u16, 0, 0, 0])[0];
    for (red_share, opacity, expected) in [
        // Half of the light is the sRGB value 188, not 128.
        (0.5, u16::MAX, [188, 0, 188, 255]),
        (0.25, u16::MAX, [srgb(0.25), 0, srgb(0.75), 255]),
        // What is half transparent counts half, and three quarters are opaque.
        (0.5, 32768, [srgb(2.0 / 3.0), 0, srgb(1.0 / 3.0), 191]),
        (0.1, 0, RED),
    ] {
        let part = |from: f64, to: f64| {
            quad([[from, 0.0, 1.0], [to, 0.0, 1.0], [to, 2.0, 1.0], [from, 2.0, 1.0]])
        };
        let mesh = together(&[part(0.0, 2.0 * red_share), part(2.0 * red_share, 2.0)]);
        let mesh = with_materials(mesh, vec![plain(RED), blue(opacity)], vec![0, 0, 1, 1]);
        let found = surface_colors(&in_one_voxel(&mesh)).of([0; 3]);
        assert_eq!(found, expected, "{red_share} red, opacity {opacity}");
    }
}

#[test]
fn colours_are_the_same_in_any_order_and_on_any_number_of_threads() {
    let mut rng = Rng::with_seed(3);
    let soup = float_soup(&mut rng, 900);
    let texture = noise(&mut rng, [64, 32]);
    let mut corner = || [rng.f32(), rng.f32()];
    let uvs: Vec<_> = (0..900).map(|_| [corner(), corner(), corner()]).collect();
    let material = |i: usize| Material {
        color: [(); 4].map(|()| rng.u16(..)),
        texture: (i > 2).then(|| read_linearly([Wrap::Repeat; 2])),
        alpha: [Alpha::Opaque, Alpha::Blend][i % 2],
        ..Material::default()
    };
    let materials: Vec<Material> = (0..5).map(material).collect();
    let material_of: Vec<u32> = (0..900).map(|_| rng.u32(0..5)).collect();
    let mut order: Vec<usize> = (0..900).collect();
    let mut all = Vec::new();
    for round in 0..4 {
        let look = Appearance {
            materials: materials.clone(),
            material_of: order.iter().map(|&i| material_of[i]).collect(),
            textures: vec![texture.clone()],
            uvs: order.iter().map(|&i| uvs[i]).collect(),
            ..Appearance::default()
        };
        let triangles = order.iter().map(|&i| soup.triangles()[i]).collect();
        let mesh = with_triangles(&soup, triangles).with_appearance(look).unwrap();
        let mesh = placed(&mesh, 0.1);
        let colors = on_threads(1 + round % 3, || surface_colors(&mesh));
        all.push(colors.bricks().map(|(k, m, own)| (k, m, own.to_vec())).collect::<Vec<_>>());
        rng.shuffle(&mut order);
    }
    assert!(all[0].len() > 100);
    assert!(all.iter().all(|bricks| *bricks == all[0]));
}

/// Triangles of another material, though an equal one, are no repetitions.
#[test]
fn repeated_triangles_count_as_often_as_they_are_there() {
    let mut rng = Rng::with_seed(61);
    let soup = float_soup(&mut rng, 12);
    let texture = noise(&mut rng, [16, 16]);
    let own: Vec<_> = (0..12).map(|_| [(); 3].map(|()| [rng.f32(), rng.f32()])).collect();
    let order: Vec<(usize, u32)> = (0..4)
        .flat_map(|copy| (0..12).filter(move |i| i % 4 >= copy).map(move |i| (i, copy as u32)))
        .collect();
    let mesh = |is_repeated: bool| {
        let material_of = |&(_, copy): &_| if is_repeated { 0 } else { copy };
        let look = Appearance {
            materials: vec![of_texture([Wrap::Repeat; 2]); 4],
            material_of: order.iter().map(material_of).collect(),
            textures: vec![texture.clone()],
            uvs: order.iter().map(|&(triangle, _)| own[triangle]).collect(),
            ..Appearance::default()
        };
        let triangles = order.iter().map(|&(triangle, _)| soup.triangles()[triangle]).collect();
        with_triangles(&soup, triangles).with_appearance(look).unwrap()
    };
    let voxelizer = Voxelizer::new().backend(BackendChoice::Cpu).resolution(64);
    let voxelizer = voxelizer.attributes(Attribute::ALL.iter().copied());
    for mode in [Mode::Surface, Mode::Thin] {
        let voxelizer = voxelizer.clone().mode(mode);
        let [repeated, listed] =
            [true, false].map(|is_repeated| voxelizer.run(mesh(is_repeated)).unwrap().grid);
        assert!(repeated == listed && repeated.occupied() > 1000);
        let once = voxelizer.run(&soup).unwrap().grid;
        assert!(once.voxels().eq(repeated.voxels()));
    }
}

#[test]
fn every_voxel_of_a_surface_has_a_colour_of_its_own() {
    let mut rng = Rng::with_seed(4);
    for voxel_size in [0.05, 0.5] {
        let mesh = float_soup(&mut rng, 300);
        let mesh = placed(&in_turn(mesh, vec![plain(RED), plain(BLUE)]), voxel_size);
        let grid = painted(&mesh, Mode::Surface);
        assert_eq!(grid.colors.as_ref().unwrap().own_count(), grid.occupied());
    }
}

/// A texture of which one half along `u` is red and the other not there.
fn half_a_leaf(alpha: Alpha) -> Mesh {
    let texels = (0..64 * 4).map(|i| if i % 64 < 32 { RED } else { [9, 9, 9, 0] });
    let material = Material { alpha, ..of_texture([Wrap::Clamp; 2]) };
    let texture = Texture::new([64, 4], texels.collect());
    textured(square(8.0, 0.5), material, texture, &over_square(WHOLE))
}

#[test]
fn what_is_cut_out_leaves_no_voxels_unless_they_are_to_be_kept() {
    for (alpha, left) in
        [(Alpha::Opaque, 64), (Alpha::Mask(32768), 32), (Alpha::Mask(0), 64), (Alpha::Blend, 32)]
    {
        let mesh = in_grid(&half_a_leaf(alpha), [8, 8, 1]);
        let mut options = ColorOptions::new(Mode::Surface);
        let colored =
            |options: &ColorOptions| color(&mesh, surface(&mesh), options, &NoProgress).unwrap();
        let (grid, transparent) = colored(&options);
        assert_eq!((grid.occupied(), transparent), (left, 64 - left), "{alpha:?}");
        for voxel in grid.voxels() {
            let [r, g, b, a] = grid.color(voxel).unwrap();
            assert_eq!([r, g, b], if voxel[0] < 4 { [255, 0, 0] } else { [9; 3] }, "{alpha:?}");
            // What is opaque shows what its texture would hide.
            assert!(alpha != Alpha::Opaque || a == 255);
        }
        options.keep_transparent = true;
        let (grid, transparent) = colored(&options);
        assert_eq!((grid.occupied(), transparent), (64, 0));
    }
}

#[test]
fn an_opacity_map_has_wrap_modes_of_its_own_however_far_the_coordinates_are() {
    // Repeated, the map would hide the half of each tile that is transparent.
    let opacity = (0..64 * 4).map(|i| if i % 64 < 32 { [0; 4] } else { [0, 0, 0, 255] });
    for tile in [1.0, 2.0, 3.0, 8.0] {
        for (wrap, expected) in [(Wrap::Clamp, 64), (Wrap::Mirror, 32)] {
            let map = TextureRef { texture: 1, ..read_linearly([wrap; 2]) };
            let alpha = Alpha::Mask(32768);
            let material = Material { opacity: Some(map), alpha, ..of_texture([Wrap::Repeat; 2]) };
            let opacity = Texture::new([64, 4], opacity.clone().collect());
            let within = WHOLE.map(|uv| uv.map(|c| tile + 0.1 + 0.8 * c));
            let look = Appearance {
                materials: vec![material],
                textures: vec![Texture::new([1, 1], vec![RED]), opacity],
                uvs: over_square(within).to_vec(),
                ..Appearance::default()
            };
            let mesh = square(8.0, 0.5).with_appearance(look).unwrap();
            let grid = painted(&in_grid(&mesh, [8, 8, 1]), Mode::Surface);
            assert_eq!(grid.occupied(), expected, "{tile}, {wrap:?}");
        }
    }
}

#[test]
fn a_texture_whose_texels_do_not_fit_its_size_is_not_read() {
    let texture = Texture::new([2, 1], vec![RED, BLUE]);
    let written = serde_json::to_string(&texture).unwrap();
    assert_eq!(serde_json::from_str::<Texture>(&written).unwrap(), texture);
    for (from, to) in [("[2,1]", "[2,2]"), ("[2,1]", "[0,0]"), ("[2,1]", "[4294967295,2]")] {
        let wrong = written.replace(from, to);
        assert!(wrong != written && serde_json::from_str::<Texture>(&wrong).is_err(), "{wrong}");
    }
}

#[test]
fn of_a_solid_what_is_seen_looks_like_its_surface_and_the_rest_has_one_colour() {
    let mesh = in_turn(sphere(1.0, 40, 60), vec![plain(RED), plain(BLUE)]);
    let mesh = padded(&mesh, resolution(60), 1);
    let grid = painted(&mesh, Mode::Solid(Solid::default()));
    let colors = grid.colors.as_ref().unwrap();
    let surface = surface(&mesh);
    let mut untouched = 0;
    for voxel in grid.voxels() {
        let own = colors.of_brick(BrickKey::new(voxel.map(|c| c / BRICK))).mask();
        let [x, y, z] = voxel.map(|c| c % BRICK);
        let has_own = own[x as usize] >> (8 * y + z) & 1 == 1;
        let is_exposed = !neighbours(voxel, grid.dims()).all(|next| grid.contains(next));
        assert_eq!(has_own, surface.contains(voxel) || is_exposed, "{voxel:?}");
        untouched += u32::from(has_own && !surface.contains(voxel));
    }
    assert!(untouched > 100, "{untouched}");
    assert_eq!(colors.of([30; 3]), colors.rest());
}

#[test]
fn all_voxels_of_a_translucent_solid_have_its_opacity() {
    let glass = |color| Material { alpha: Alpha::Blend, ..plain(color) };
    let materials = vec![glass([255, 0, 0, 128]), glass([0, 0, 255, 128])];
    let mesh = placed(&in_turn(sphere(1.0, 40, 60), materials), 0.05);
    let grid = painted(&mesh, Mode::Solid(Solid::default()));
    assert!(grid.voxels().all(|voxel| grid.color(voxel).unwrap()[3] == 128));
}

#[test]
fn meshes_of_one_colour_take_no_memory_for_it_and_those_of_none_have_none() {
    let mesh = unit_cube();
    assert!(painted(&at_resolution(&mesh, 20), Mode::Surface).colors.is_none());
    let mesh = with_materials(mesh, vec![plain(BLUE)], vec![]);
    let colors = surface_colors(&at_resolution(&mesh, 20));
    assert_eq!((colors.rest(), colors.own_count()), (BLUE, 0));
}

#[test]
fn a_texture_that_is_repeated_a_thousand_times_in_a_voxel_is_its_mean() {
    for size in [[1, 1], [2, 2], [64, 16]] {
        let texels = (0..size[0] * size[1]).map(|i| if i % 2 == 0 { RED } else { BLUE });
        let mesh = mesh_of(&[[[0.2, 0.2, 1.0], [1.8, 0.2, 1.0], [0.2, 1.8, 1.0]]]);
        let uvs = [[[0.3, 0.0], [1000.3, 0.0], [0.3, 1000.0]]];
        let texture = Texture::new(size, texels.collect());
        let mesh = textured(mesh, of_texture([Wrap::Repeat; 2]), texture, &uvs);
        let expected = if size == [1, 1] { RED } else { [188, 0, 188, 255] };
        assert_eq!(surface_colors(&in_one_voxel(&mesh)).of([0; 3]), expected, "{size:?}");
    }
}

/// A square over the whole of one voxel, with these texture coordinates of its corners.
fn textured_square(texture: Texture, filter: Filter, uv: [[f32; 2]; 4]) -> Mesh {
    let of = TextureRef { filter, ..read_linearly([Wrap::Repeat; 2]) };
    let material = Material { texture: Some(of), alpha: Alpha::Blend, ..Material::default() };
    textured(square(2.0, 1.0), material, texture, &over_square(uv))
}

#[test]
fn a_texture_read_along_a_line_is_weighted_by_the_surface_along_it() {
    // The middle, which the centroids of both triangles see, is transparent.
    let texel = |i: usize| match i {
        4..12 => [0; 4],
        _ => [BLUE, RED][usize::from(i < 4)],
    };
    let columns = Texture::new([16, 2], (0..32).map(|i| texel(i % 16)).collect());
    let rows = Texture::new([2, 16], (0..32).map(|i| texel(i / 2)).collect());
    let diagonal = Texture::new([16, 16], (0..256).map(|i| texel(i / 16)).collect());
    for filter in [Filter::Linear, Filter::Nearest] {
        for (texture, [u, v]) in
            [(&columns, [1.0, 0.0]), (&rows, [0.0, 1.0]), (&diagonal, [0.7, 1.0])]
        {
            // The other coordinate is the same at all corners.
            let at = |share: f32| [0.3 + u * (share - 0.3), 0.3 + v * (share - 0.3)];
            let uv = [at(0.0), at(1.0), at(1.0), at(0.0)];
            let mesh = in_one_voxel(&textured_square(texture.clone(), filter, uv));
            let [r, g, b, opacity] = surface_colors(&mesh).of([0; 3]);
            let color = format!("{filter:?}, {u}, {v}: {:?}", [r, g, b, opacity]);
            assert!(r.abs_diff(188) <= 1 && g == 0 && b.abs_diff(188) <= 1, "{color}");
            // A linear filter makes half a texel at each side translucent.
            assert!(opacity > 215, "{color}");
        }
    }
}

#[test]
fn a_triangle_within_equal_texels_has_their_colour() {
    const LEFT: [u8; 4] = [10, 200, 90, 255];
    let texels = (0..64).map(|i| if i % 8 < 4 { LEFT } else { BLUE });
    let texture = Texture::new([8, 8], texels.collect());
    for (filter, last, is_pure) in [
        (Filter::Linear, 0.437, true),
        (Filter::Linear, 0.49, false),
        (Filter::Nearest, 0.5, true),
        (Filter::Nearest, 0.52, false),
    ] {
        let uv = [[0.2, 0.1], [last, 0.1], [last, 0.5], [0.2, 0.5]];
        let mesh = in_one_voxel(&textured_square(texture.clone(), filter, uv));
        let color = surface_colors(&mesh).of([0; 3]);
        assert_eq!(color == LEFT, is_pure, "{filter:?} {last}: {color:?}");
    }
}

#[test]
fn voxels_that_triangles_touch_only_in_points_have_their_colour() {
    // The edges of these triangles run through corners of voxels, where they round.
    let mesh = mesh_of(&[
        [[1.0, 0.0, 2.0], [1.0, 5.0, 6.0], [3.0, 1.0, 1.0]],
        [[1.0, 1.0, 0.0], [0.0, 3.0, 5.0], [3.0, 5.0, 2.0]],
        [[18.0, 0.0, 0.0], [18.0, 4.0, 0.0], [18.0, 0.0, 4.0]],
    ]);
    let [blue, red] = [BLUE, RED].map(linear_of_rgba);
    let faded = |[r, g, b, a]: [u16; 4]| [r / 2, g / 2, b / 2, a];
    let corners = [blue, blue, red].map(|color| [color, color, faded(color)]);
    let mesh = at_resolution(&vertex_colored(mesh, corners.concat()), 36);
    let grid = painted(&mesh, Mode::Surface);
    assert_eq!(grid.colors.as_ref().unwrap().own_count(), grid.occupied());
    for voxel in grid.voxels() {
        let [r, _, b, _] = grid.color(voxel).unwrap();
        assert_eq!([r > 0, b > 0], [voxel[0] >= 20, voxel[0] < 20], "{voxel:?}");
    }
}

/// A white box whose top has a red sheet in front of it, a hundredth of a voxel away, as a mesh on
/// a lattice of unit voxels. The sheet's triangles are reversed if `is_reversed`.
fn box_under_a_sheet(is_reversed: bool) -> PlacedMesh {
    let sheet = quad([[2.0, 2.0, 9.61], [14.0, 2.0, 9.61], [14.0, 14.0, 9.61], [2.0, 14.0, 9.61]]);
    let sheet = if is_reversed { inside_out(&sheet) } else { sheet };
    let mesh = together(&[cuboid([1.5; 3], [14.5, 14.5, 9.6]), sheet]);
    let material_of = [[0; 12].as_slice(), &[1; 2]].concat();
    let mesh = with_materials(mesh, vec![plain([255; 4]), plain(RED)], material_of);
    within(&mesh, 1.0, [0.0; 3], [16.0; 3])
}

#[test]
fn surfaces_behind_others_are_not_seen() {
    // By default, hidden surfaces count too.
    let default = ColorOptions::new(Mode::Surface).blend;
    assert_eq!((default, Blend::default()), (Blend::All, Blend::All));
    let top = |z: u32| (3..13).flat_map(move |x| (3..13).map(move |y| [x, y, z]));
    let is = |grid: &VoxelGrid, voxel, color| grid.color(voxel) == Some(color);
    for mode in [Mode::Surface, Mode::Thin, Mode::Solid(Solid::default())] {
        let mesh = box_under_a_sheet(false);
        let all = blended(&mesh, mode, Blend::All);
        assert!(top(9).all(|voxel| !is(&all, voxel, RED)), "{mode}");
        for blend in [Blend::Visible, Blend::None] {
            let seen = blended(&mesh, mode, blend);
            assert!(top(9).all(|voxel| is(&seen, voxel, RED)), "{mode} {blend}");
            let [bottom, side] = [[8, 8, 1], [1, 8, 5]];
            if mode == Mode::Surface {
                assert!([bottom, side].iter().all(|&v| is(&seen, v, [255; 4])), "{mode} {blend}");
            }
            assert!(seen.voxels().eq(all.voxels()), "{mode} {blend}");
        }
    }
    // From outside the reversed sheet shows its back, from inside the box shows its own: nothing is
    // seen, and all surfaces count.
    let mesh = box_under_a_sheet(true);
    let [all, seen] = [Blend::All, Blend::Visible].map(|b| blended(&mesh, Mode::Surface, b));
    assert!(top(9).all(|voxel| seen.color(voxel) == all.color(voxel)));
}

#[test]
fn without_blending_each_colour_is_one_of_the_texture() {
    let mut rng = Rng::with_seed(12);
    let texels: Vec<[u8; 4]> = (0..64).map(|_| [rng.u8(..), rng.u8(..), rng.u8(..), 255]).collect();
    let texture = Texture::new([8, 8], texels.clone());
    let uvs = [[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]; 12];
    let mesh = textured(cube([0.0; 3], 8.0), of_texture([Wrap::Clamp; 2]), texture, &uvs);
    for voxel_size in [1.0, 0.37, 2.5] {
        let mesh = placed(&mesh, voxel_size);
        for (blend, expected) in [(Blend::None, true), (Blend::Visible, false)] {
            let grid = blended(&mesh, Mode::Surface, blend);
            let are_texels = grid.voxels().all(|v| texels.contains(&grid.color(v).unwrap()));
            assert_eq!(are_texels, expected, "{blend}, voxels of {voxel_size}");
        }
    }
}

#[test]
fn a_triangle_without_area_has_the_texel_of_its_first_corner() {
    let texture = Texture::new([4, 1], vec![RED, GREEN, BLUE, BLUE]);
    let line = mesh_of(&[[[1.5, 1.5, 1.5], [9.5, 5.5, 3.5], [5.5, 3.5, 2.5]]]);
    let uvs = [[[0.3, 0.5], [0.9, 0.5], [0.6, 0.5]]];
    let mesh = textured(line, of_texture([Wrap::Clamp; 2]), texture, &uvs);
    let grid = blended(&within(&mesh, 1.0, [0.0; 3], [12.0; 3]), Mode::Surface, Blend::None);
    assert!(grid.occupied() > 8 && grid.voxels().all(|v| grid.color(v) == Some(GREEN)));
}

#[test]
fn what_is_cut_out_shows_what_is_behind_it() {
    let cut_out = Material { alpha: Alpha::Mask(32768), ..of_texture([Wrap::Clamp; 2]) };
    let look = Appearance {
        materials: vec![plain(BLUE), cut_out],
        material_of: vec![0, 0, 1, 1],
        textures: vec![Texture::new([2, 1], vec![RED, [0; 4]])],
        uvs: [[[0.0; 2]; 4], WHOLE].map(over_square).concat(),
        ..Appearance::default()
    };
    let mesh = together(&[square(8.0, 0.4), square(8.0, 0.5)]).with_appearance(look).unwrap();
    let seen = blended(&in_grid(&mesh, [8, 8, 1]), Mode::Surface, Blend::None);
    for voxel in seen.voxels() {
        assert_eq!(seen.color(voxel), Some(if voxel[0] < 4 { RED } else { BLUE }), "{voxel:?}");
    }
}

#[test]
fn visible_colours_of_tiles_are_those_of_the_whole() {
    let mesh = in_turn(float_soup(&mut Rng::with_seed(5), 300), vec![plain(RED), plain(BLUE)]);
    for mode in [Mode::Surface, Mode::Thin] {
        let voxelizer = Voxelizer::new().resolution(40).mode(mode).blend(Blend::Visible);
        let whole = voxelizer.run(&mesh).unwrap().grid;
        let joined = joined_tiles(&voxelizer, &mesh, [2; 3], whole.dims());
        assert_eq!(joined, whole, "{mode}");
        for voxel in whole.voxels() {
            assert_eq!(joined.color(voxel), whole.color(voxel), "{mode} {voxel:?}");
        }
    }
}
