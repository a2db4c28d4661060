//! Meshes with materials.

use trivox::base::srgb::{Rgba, linear_of_rgba};
use trivox::mesh::appearance::{Material, Texture};
use trivox::{Appearance, Mesh};

/// A material of this colour.
pub fn plain(color: Rgba) -> Material {
    Material { color: linear_of_rgba(color), ..Material::default() }
}

/// `mesh`, whose triangle `t` has the material `materials[material_of[t]]`.
pub fn with_materials(mesh: Mesh, materials: Vec<Material>, material_of: Vec<u32>) -> Mesh {
    let look = Appearance { materials, material_of, ..Appearance::default() };
    mesh.with_appearance(look).unwrap()
}

/// `mesh`, whose triangle `t` has the material `materials[t % n]`, where `n` is their number.
pub fn in_turn(mesh: Mesh, materials: Vec<Material>) -> Mesh {
    let (triangles, count) = (mesh.triangles().len() as u32, materials.len() as u32);
    with_materials(mesh, materials, (0..triangles).map(|t| t % count).collect())
}

/// `mesh` with one material, its texture, and the texture coordinates of each triangle's corners.
pub fn textured(mesh: Mesh, material: Material, texture: Texture, uvs: &[[[f32; 2]; 3]]) -> Mesh {
    let look = Appearance {
        materials: vec![material],
        textures: vec![texture],
        uvs: uvs.to_vec(),
        ..Appearance::default()
    };
    mesh.with_appearance(look).unwrap()
}

/// `mesh`, whose vertices have these colours, in linear light.
pub fn vertex_colored(mesh: Mesh, vertex_colors: Vec<[u16; 4]>) -> Mesh {
    let materials = vec![Material { has_vertex_colors: true, ..plain([255; 4]) }];
    let look = Appearance { materials, vertex_colors, ..Appearance::default() };
    mesh.with_appearance(look).unwrap()
}
