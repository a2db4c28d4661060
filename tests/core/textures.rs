//! Textured voxels against a reference that shares no code with the library: each texel is a
//! square, clipped against each piece of a triangle, and counts by its exact area.
use crate::common::oklab::light;
use crate::common::polygons::clip;
use crate::common::prelude::*;
use trivox::mesh::appearance::FilterChoice;
use trivox::{ColorOptions, color};

/// A flat mesh in a layer of `count * count` voxels, with one material.
struct Case {
    corners: Vec<[f64; 2]>,
    triangles: Vec<[u32; 3]>,
    uvs: Vec<[[f32; 2]; 3]>,
    texture: Texture,
    wrap: [Wrap; 2],
    filter: Filter,
    alpha: Alpha,
    color: [u16; 4],
    vertex_color: Option<[u16; 4]>,
    count: u32,
}

impl Case {
    /// A square over the whole layer, at whose corners are these texture coordinates.
    fn square(texture: Texture, wrap: Wrap, uv: [f32; 2], alpha: Alpha, count: u32) -> Self {
        let n = f64::from(count);
        Self {
            corners: vec![[0.0, 0.0], [n, 0.0], [n, n], [0.0, n]],
            triangles: vec![[0, 1, 2], [0, 2, 3]],
            uvs: square_uvs([uv; 2]),
            texture,
            wrap: [wrap; 2],
            filter: Filter::Linear,
            alpha,
            color: [u16::MAX; 4],
            vertex_color: None,
            count,
        }
    }

    fn mesh(&self) -> PlacedMesh {
        let positions = self.corners.iter().map(|&[x, y]| [x, y, 0.5]).collect::<Vec<_>>();
        let texture = TextureRef { texture: 0, wrap: self.wrap, filter: self.filter };
        let look = Appearance {
            materials: vec![Material {
                color: self.color,
                texture: Some(texture),
                alpha: self.alpha,
                has_vertex_colors: self.vertex_color.is_some(),
                ..Material::default()
            }],
            textures: vec![self.texture.clone()],
            uvs: self.uvs.clone(),
            vertex_colors: self.vertex_color.map_or(vec![], |c| vec![c; positions.len()]),
            ..Appearance::default()
        };
        let mesh = Mesh::new(positions, self.triangles.clone()).unwrap();
        in_grid(&mesh.with_appearance(look).unwrap(), [self.count, self.count, 1])
    }

    fn grid(&self, mode: Mode) -> VoxelGrid {
        self.filtered(mode, FilterChoice::Auto)
    }

    fn filtered(&self, mode: Mode, filter: FilterChoice) -> VoxelGrid {
        let mesh = self.mesh();
        let grid = in_mode(&mesh, mode).grid;
        let mut options = ColorOptions::new(mode);
        options.filter = filter;
        color(&mesh, grid, &options, &NoProgress).unwrap().0
    }

    /// Of each voxel: the sums over area of light times opacity, of opacity, of what is not
    /// altogether transparent, and the area.
    fn reference(&self) -> HashMap<[u32; 2], [f64; 6]> {
        let mesh = self.mesh();
        let units_per_voxel = f64::from(mesh.lattice().units_per_voxel());
        let size = self.texture.size().map(f64::from);
        let mut voxels = HashMap::new();
        for (index, triangle) in mesh.triangles().enumerate() {
            let [a, b, c] = triangle
                .map(|p| [f64::from(p[0]) / units_per_voxel, f64::from(p[1]) / units_per_voxel]);
            let uvs = self.uvs[index].map(|uv| [0, 1].map(|i| f64::from(uv[i]) * size[i]));
            let double = cross(a, b, c);
            let texels_at = |p: [f64; 2]| {
                let weights = [cross(p, b, c) / double, cross(a, p, c) / double];
                let third = 1.0 - weights[0] - weights[1];
                [0, 1].map(|i| weights[0] * uvs[0][i] + weights[1] * uvs[1][i] + third * uvs[2][i])
            };
            for [x, y, _] in voxels_in([0; 3], [self.count, self.count, 1]) {
                let piece = clip(&clip(&[a, b, c], 0, x.into()), 1, y.into());
                let real = area(&piece);
                if real < 1e-9 {
                    continue;
                }
                let flat: Vec<[f64; 2]> = piece.iter().map(|&p| texels_at(p)).collect();
                let stretch = real / area(&flat);
                let sums = voxels.entry([x, y]).or_insert([0.0; 6]);
                for j in range(&flat, 1) {
                    let row = clip(&flat, 1, j as f64);
                    for i in range(&row, 0) {
                        let part = area(&clip(&row, 0, i as f64)) * stretch;
                        let sample = self.texel([i, j]);
                        (0..5).for_each(|k| sums[k] += part * sample[k]);
                        sums[5] += part;
                    }
                }
            }
        }
        voxels
    }

    fn texel(&self, at: [i64; 2]) -> [f64; 5] {
        let size = self.texture.size();
        let [x, y] = [0, 1].map(|a| {
            let n = i64::from(size[a]);
            let i = at[a];
            match self.wrap[a] {
                Wrap::Repeat => i.rem_euclid(n),
                Wrap::Clamp => i.max(0).min(n - 1),
                Wrap::Mirror if i.div_euclid(n) % 2 == 0 => i.rem_euclid(n),
                Wrap::Mirror => n - 1 - i.rem_euclid(n),
            }
        });
        let texel = self.texture.texels()[(y * i64::from(size[0]) + x) as usize];
        let vertex = self.vertex_color.unwrap_or([u16::MAX; 4]);
        let factor = |i: usize| f64::from(self.color[i]) * f64::from(vertex[i]) / 65535.0 / 65535.0;
        let [r, g, b] = [0, 1, 2].map(|i| light(texel[i]) * factor(i));
        let opacity = f64::from(texel[3]) / 255.0 * factor(3);
        let opacity = match self.alpha {
            Alpha::Mask(least) => f64::from(u8::from(opacity * 65535.0 >= f64::from(least))),
            Alpha::Blend => opacity,
            Alpha::Opaque => 1.0,
        };
        [r * opacity, g * opacity, b * opacity, opacity, f64::from(u8::from(opacity > 0.0))]
    }

    /// The differences of all channels of all voxels, of 255.
    fn differences(&self) -> Vec<f64> {
        let grid = self.grid(Mode::Surface);
        let mut all = Vec::new();
        for ([x, y], [r, g, b, opacity, seen, area]) in self.reference() {
            let share = opacity / area;
            // What is next to nothing may be left out, and the weight of what is tiny is rounded.
            if area < 1e-3 || (1e-4..2e-3).contains(&share) {
                continue;
            }
            let found = grid.color([x, y, 0]);
            let is_seen = found.is_some();
            assert_eq!(is_seen, share >= 2e-3, "{:?} at {:?}: {share}", self.about(), [x, y]);
            let Some(found) = found else { continue };
            let expected =
                [srgb(r / opacity), srgb(g / opacity), srgb(b / opacity), opacity / seen];
            let difference = |i: usize| (f64::from(found[i]) - 255.0 * expected[i]).abs();
            all.extend((0..4).map(difference));
        }
        all
    }

    fn about(&self) -> impl std::fmt::Debug {
        let Self { wrap, filter, alpha, count, uvs, .. } = self;
        (self.texture.size(), *wrap, *filter, *alpha, *count, uvs.clone())
    }
}

/// The texture coordinates of a square, from the first to the second along each axis.
fn square_uvs([[left, right], [low, high]]: [[f32; 2]; 2]) -> Vec<[[f32; 2]; 3]> {
    let [a, b, c, d] = [[left, low], [right, low], [right, high], [left, high]];
    vec![[a, b, c], [a, c, d]]
}

fn srgb(light: f64) -> f64 {
    if light <= 0.0031308 { light * 12.92 } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 }
}

fn cross(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

fn area(polygon: &[[f64; 2]]) -> f64 {
    let fan = (2..polygon.len()).map(|i| cross(polygon[0], polygon[i - 1], polygon[i]));
    fan.sum::<f64>().abs() / 2.0
}

fn range(polygon: &[[f64; 2]], axis: usize) -> std::ops::RangeInclusive<i64> {
    let values = polygon.iter().map(|p| p[axis]);
    let (low, high) = values.fold((f64::MAX, f64::MIN), |(l, h), c| (l.min(c), h.max(c)));
    // Empty for an empty polygon: from the largest integer to the smallest.
    low.floor() as i64..=high.floor() as i64
}

fn worst(differences: &[f64]) -> f64 {
    differences.iter().copied().fold(0.0, f64::max)
}

/// No difference is above `most`, nor their mean above `most_mean`.
fn check(differences: &[f64], most_mean: f64, most: f64) {
    let (count, worst) = (differences.len(), worst(differences));
    let mean = differences.iter().sum::<f64>() / count as f64;
    println!("mean {mean:.3}, worst {worst:.2} of {count}");
    assert!(count > 1000, "{count} channels");
    assert!(mean <= most_mean && worst <= most, "mean {mean}, worst {worst}");
}

fn noise(rng: &mut Rng, size: [u32; 2]) -> Texture {
    let opacity = [0, 60, 128, 200, 255];
    let texel = |rng: &mut Rng| [rng.u8(..), rng.u8(..), rng.u8(..), opacity[rng.usize(..5)]];
    Texture::new(size, (0..size[0] * size[1]).map(|_| texel(rng)).collect())
}

fn random_case(rng: &mut Rng) -> Case {
    let size = [[1, 1], [1, 7], [5, 3], [2, 2], [33, 64], [100, 37], [128, 128]][rng.usize(..7)];
    let wraps = [Wrap::Repeat, Wrap::Mirror, Wrap::Clamp];
    let alpha =
        [Alpha::Opaque, Alpha::Mask(0), Alpha::Mask(32768), Alpha::Mask(9000), Alpha::Blend];
    let longest = f64::from(size[0].max(size[1]));
    // Texels along the layer, so that the reference does not take too long.
    let texels = [3.0, 40.0, 300.0][rng.usize(..3)];
    let offset = [0.0, -0.5, -2.25, 1000.25][rng.usize(..4)];
    let scale = texels / longest;
    let count = [1, 3, 6][rng.usize(..3)];
    let uv = |rng: &mut Rng| [(); 2].map(|()| (offset + scale * (rng.f64() - 0.3)) as f32);
    let n = f64::from(count);
    let color = [rng.u16(..), u16::MAX, rng.u16(..), rng.u16(40_000..)];
    let alpha = alpha[rng.usize(..5)];
    let vertex_opacity = if alpha == Alpha::Blend { rng.u16(20_000..) } else { u16::MAX };
    Case {
        corners: (0..6).map(|_| [n * rng.f64(), n * rng.f64()]).collect(),
        triangles: vec![[0, 1, 2], [3, 4, 5]],
        uvs: (0..2).map(|_| [uv(rng), uv(rng), uv(rng)]).collect(),
        texture: noise(rng, size),
        wrap: [wraps[rng.usize(..3)], wraps[rng.usize(..3)]],
        filter: Filter::Nearest,
        alpha,
        color,
        vertex_color: rng.bool().then(|| [rng.u16(..), u16::MAX, 9000, vertex_opacity]),
        count,
    }
}

#[test]
fn unfiltered_textures_are_the_mean_of_their_texels_under_all_wraps_sizes_and_alpha_modes() {
    let mut rng = Rng::with_seed(1);
    let mut all = Vec::new();
    for _ in 0..250 {
        let case = random_case(&mut rng);
        let found = case.differences();
        assert!(worst(&found) <= 4.0, "{:?}: {}", case.about(), worst(&found));
        all.extend(found);
    }
    check(&all, 0.5, 4.0);
}

#[test]
fn filtered_textures_of_many_texels_a_voxel_are_the_mean_of_their_texels() {
    let mut rng = Rng::with_seed(2);
    let mut all = Vec::new();
    for wrap in [Wrap::Repeat, Wrap::Mirror, Wrap::Clamp] {
        for alpha in [Alpha::Opaque, Alpha::Mask(32768), Alpha::Blend] {
            for size in [[256, 256], [100, 37], [31, 200]] {
                let texture = noise(&mut rng, size);
                for uvs in [[0.0, 1.0], [-1.0, 2.0], [7.3, 9.1]] {
                    all.extend(Case::square(texture.clone(), wrap, uvs, alpha, 3).differences());
                }
            }
        }
    }
    check(&all, 1.5, 4.0);
}

#[test]
fn textures_repeated_more_often_than_tiles_are_walked_are_right_along_both_axes() {
    let mut rng = Rng::with_seed(3);
    for wrap in [[Wrap::Repeat, Wrap::Clamp], [Wrap::Mirror, Wrap::Repeat]] {
        let mut case =
            Case::square(noise(&mut rng, [5, 3]), Wrap::Repeat, [0.0, 1.0], Alpha::Blend, 2);
        case.uvs = square_uvs([[0.0, 150.0], [-0.4, 1.5]]);
        case.filter = Filter::Nearest;
        case.wrap = wrap;
        assert!(worst(&case.differences()) <= 4.0, "{wrap:?}");
    }
}

/// With few texels along the edges of voxels: there a coarser level of the texture is used.
#[test]
fn large_textures_repeated_in_a_voxel_are_the_mean_of_their_texels() {
    let mut rng = Rng::with_seed(4);
    for (wrap, alpha) in [(Wrap::Repeat, Alpha::Blend), (Wrap::Mirror, Alpha::Opaque)] {
        let mut case = Case::square(noise(&mut rng, [256, 300]), wrap, [-0.3, 4.8], alpha, 1);
        case.filter = Filter::Nearest;
        assert!(worst(&case.differences()) <= 2.0, "{:?}", case.about());
    }
    // Black and white stripes of one texel.
    let stripe = |texel: u32| [[0, 0, 0, 255], [255; 4]][(texel % 2) as usize];
    let texture = Texture::new([512, 512], (0..512 * 512).map(stripe).collect());
    let case = Case::square(texture, Wrap::Repeat, [0.01, 3.51], Alpha::Opaque, 1);
    assert!(worst(&case.differences()) <= 2.0);
}

/// Opaque red in a border of `clear` texels that are transparent.
fn decal(size: u32, clear: u32) -> Texture {
    let inside = |c: u32| (clear..size - clear).contains(&c);
    let is_inside = |i: u32| inside(i % size) && inside(i / size);
    let texel = |i: u32| if is_inside(i) { RED } else { [0, 255, 0, 0] };
    Texture::new([size, size], (0..size * size).map(texel).collect())
}

#[test]
fn a_clamped_decal_with_a_transparent_border_ends_at_its_border_at_every_resolution() {
    for count in [3, 8, 30, 64, 100, 256] {
        let case =
            Case::square(decal(1024, 8), Wrap::Clamp, [-1.0, 2.0], Alpha::Mask(32768), count);
        let n = f64::from(count);
        let [from, to] = [1.0 + 8.0 / 1024.0, 2.0 - 8.0 / 1024.0].map(|c| c / 3.0 * n);
        let grid = case.grid(Mode::Surface);
        for [x, y, _] in voxels_in([0; 3], [count, count, 1]) {
            let cover = |c: u32| f64::from(c + 1).min(to) - f64::from(c).max(from);
            let share = cover(x).max(0.0) * cover(y).max(0.0);
            if !(1e-4..0.1).contains(&share) {
                assert_eq!(grid.contains([x, y, 0]), share > 0.0, "{x} {y} of {count}: {share}");
            }
        }
        assert_eq!(grid.color([count / 2, count / 2, 0]), Some(RED));
    }
}

#[test]
fn what_a_cutoff_hides_has_no_part_in_the_colour() {
    let texel = |i: u32| if (i | (i / 64)) & 1 == 0 { BLUE } else { [255, 0, 0, 100] };
    let texture = Texture::new([64, 64], (0..64 * 64).map(texel).collect());
    for count in [1, 2, 5, 8, 16, 33, 64, 200] {
        let mask = Alpha::Mask(32768);
        let grid = Case::square(texture.clone(), Wrap::Repeat, [0.0, 1.0], mask, count)
            .grid(Mode::Surface);
        assert!(grid.occupied() > 0);
        assert!(grid.voxels().all(|voxel| grid.color(voxel) == Some(BLUE)), "{count}");
    }
}

#[test]
fn cut_outs_have_no_voxels_in_thin_surfaces_and_are_kept_in_solids() {
    let case = Case::square(decal(64, 16), Wrap::Clamp, [0.0, 1.0], Alpha::Mask(32768), 16);
    assert_eq!(case.grid(Mode::Thin).occupied(), 64);
    let mesh = case.mesh();
    let solid = Mode::Solid(Solid::default());
    let options = ColorOptions::new(solid);
    let (grid, transparent) = color(&mesh, surface(&mesh), &options, &NoProgress).unwrap();
    assert_eq!((grid.occupied(), transparent), (256, 0));
}

/// Two texels over four voxels: their centres are at the boundaries of the first and the last.
#[test]
fn the_filter_is_the_textures_own_unless_one_is_chosen_and_a_cutoff_hides_whole_texels() {
    // The interpolant between the centres is the mean 3/4 and 1/4, and constant before and after.
    let [more, less] = [0.75, 0.25].map(|share: f64| (255.0 * srgb(share)).round() as u8);
    let squares = [RED, RED, BLUE, BLUE];
    let blend = [RED, [more, 0, less, 255], [less, 0, more, 255], BLUE];
    // The interpolant would fall below the cutoff, 128, in the fourth voxel only.
    let (translucent, mask) = ([0, 0, 255, 100], Alpha::Mask(32768));
    let cut = [RED, RED, [0; 4], [0; 4]];
    for (second, alpha, own, choice, expected) in [
        (BLUE, Alpha::Opaque, Filter::Nearest, FilterChoice::Auto, squares),
        (BLUE, Alpha::Opaque, Filter::Linear, FilterChoice::Auto, blend),
        (BLUE, Alpha::Opaque, Filter::Linear, FilterChoice::Nearest, squares),
        (BLUE, Alpha::Opaque, Filter::Nearest, FilterChoice::Linear, blend),
        (translucent, mask, Filter::Linear, FilterChoice::Auto, cut),
        (translucent, mask, Filter::Linear, FilterChoice::Nearest, cut),
        (translucent, mask, Filter::Linear, FilterChoice::Linear, cut),
    ] {
        let texture = Texture::new([2, 1], vec![RED, second]);
        let mut case = Case::square(texture, Wrap::Clamp, [0.0, 1.0], alpha, 4);
        case.filter = own;
        let grid = case.filtered(Mode::Surface, choice);
        let found = [0, 1, 2, 3].map(|x| grid.color([x, 3, 0]).unwrap_or_default());
        assert_eq!(found, expected, "{own:?}, {choice:?}, {alpha:?}");
    }
}

#[test]
fn places_far_outside_a_texture_and_absurd_ones_have_a_colour() {
    let mut rng = Rng::with_seed(4);
    for wrap in [Wrap::Repeat, Wrap::Mirror, Wrap::Clamp] {
        for far in [1e6_f32, 1e20, f32::MAX, -f32::MAX] {
            for filter in [Filter::Nearest, Filter::Linear] {
                let texture = noise(&mut rng, [7, 5]);
                let mut case = Case::square(texture, wrap, [0.0, far], Alpha::Opaque, 4);
                case.filter = filter;
                assert_eq!(case.grid(Mode::Surface).occupied(), 16);
            }
        }
    }
}
