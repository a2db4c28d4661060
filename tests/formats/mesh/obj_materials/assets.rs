//! Models as people have them look as they do elsewhere: their texture coordinates meet the right
//! texels.

use crate::common::prelude::*;

use super::*;

/// The texel under the middle of each triangle with a texture, and the number of its material.
fn middles(appearance: &Appearance) -> Vec<(u32, [u8; 4])> {
    let textured = appearance.uvs.iter().enumerate().filter_map(|(triangle, uvs)| {
        let texture = appearance.material(triangle).texture?.texture;
        let texture = &appearance.textures[texture as usize];
        let [column, row] = [0, 1].map(|axis| {
            let middle = uvs.iter().map(|uv| uv[axis]).sum::<f32>() / 3.0;
            let size = texture.size()[axis];
            ((middle.rem_euclid(1.0) * size as f32) as usize).min(size as usize - 1)
        });
        let texel = texture.texels()[row * texture.size()[0] as usize + column];
        Some((appearance.material_of.get(triangle).copied().unwrap_or(0), texel))
    });
    textured.collect()
}

#[test]
fn the_lighthouse_has_its_bands_roof_stones_and_planks() {
    let loaded = read_mesh(Path::new("assets/lighthouse.obj")).unwrap();
    assert_eq!(loaded.warnings, Vec::<String>::new());
    let appearance = appearance(&loaded.mesh);
    assert_eq!((appearance.textures.len(), appearance.materials.len()), (1, 31));
    let middles = middles(&appearance);
    let is_reddish = |[r, g, b, _]: [u8; 4]| r > 180 && g < 150 && b < 100;
    let is_pale = |[r, g, b, _]: [u8; 4]| r > 200 && g > 180 && b > 150;
    let is_grey = |[r, g, b, _]: [u8; 4]| r.abs_diff(b) < 40 && g.abs_diff(b) < 40;
    let is_brown = |[r, g, b, _]: [u8; 4]| r > g && g > b && r < 220;
    let kinds: [&dyn Fn([u8; 4]) -> bool; 4] =
        [&|texel| is_reddish(texel) || is_pale(texel), &is_reddish, &is_grey, &is_brown];
    let mut materials: Vec<u32> = middles.iter().map(|&(material, _)| material).collect();
    materials.sort_unstable();
    materials.dedup();
    assert_eq!(materials.len(), 4);
    for material in materials {
        let texels = || middles.iter().filter(|&&(of, _)| of == material).map(|&(_, texel)| texel);
        let fits = |kind: &&dyn Fn([u8; 4]) -> bool| {
            texels().filter(|&texel| kind(texel)).count() * 10 > texels().count() * 9
        };
        assert!(kinds.iter().any(fits), "{:?}", texels().collect::<Vec<_>>());
    }
}

#[test]
fn the_bottle_has_its_blue_band_at_the_neck_and_red_below() {
    let Some(folder) = environment::models() else { return };
    let loaded = read_mesh(folder.join("fuze.obj")).unwrap();
    assert_eq!(loaded.warnings, Vec::<String>::new());
    let appearance = appearance(&loaded.mesh);
    // `Tr 1` is no transparency, and `Kd 1 1 1` no colour.
    let material = only(&appearance);
    assert_eq!((material.color, material.alpha), (WHITE, trivox::mesh::appearance::Alpha::Opaque));
    let [min, max] = loaded.mesh.bounds();
    let height = |corners: &[u32; 3]| {
        let z = corners.iter().map(|&i| loaded.mesh.positions()[i as usize][2]).sum::<f64>() / 3.0;
        (z - min[2]) / (max[2] - min[2])
    };
    let texels: Vec<[u8; 4]> = middles(&appearance).into_iter().map(|(_, texel)| texel).collect();
    assert_eq!(texels.len(), loaded.mesh.triangles().len());
    let share_of = |from: f64, to: f64, is_so: fn([u8; 4]) -> bool| {
        let triangles = loaded.mesh.triangles().iter().zip(&texels);
        let band = triangles.filter(|(corners, _)| (from..to).contains(&height(corners)));
        let band: Vec<[u8; 4]> = band.map(|(_, &texel)| texel).collect();
        band.iter().filter(|&&texel| is_so(texel)).count() as f64 / band.len() as f64
    };
    let [blue, red] =
        [share_of(0.82, 0.86, |[r, _, b, _]| b > r), share_of(0.3, 0.7, |[r, _, b, _]| r > b)];
    assert!(blue > 0.8 && red > 0.8, "{blue} of the band is blue, {red} below is red");
}
