//! Files that trimesh writes hold the mesh that its OBJ file holds, and look as trimesh was told.

use crate::common::prelude::*;
use serde::Deserialize;
use trivox::base::srgb::Linear;

/// The hash of the voxels of a mesh, and its triangles.
fn voxels(path: &Path) -> (String, usize) {
    let mesh = read_mesh(path).unwrap().mesh;
    (surface(&at_resolution(&mesh, 100)).hash().to_string(), mesh.triangles().len())
}

#[test]
fn all_that_trimesh_writes_of_a_mesh_has_the_same_voxels() {
    let Some(python) = environment::python_with("trimesh") else { return };
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    let folder = tempfile::tempdir().unwrap();
    // Coordinates that text and 32-bit numbers hold.
    let script = "
import io, trimesh, numpy
for name in ['lighthouse', 'torus-knot']:
    lines = open('ASSETS/' + name + '.obj').read().splitlines()
    text = '\\n'.join(line for line in lines if line[:2] in ('v ', 'f '))
    mesh = trimesh.load(io.StringIO(text), file_type='obj', process=False, force='mesh')
    mesh = trimesh.Trimesh(numpy.round(mesh.vertices * 256) / 256, mesh.faces, process=False)
    write = lambda end, **options: mesh.export(name + '.' + end, **options)
    write('obj', digits=9)
    write('stl')
    write('ply')
    write('glb')
    open(name + '.text.stl', 'w').write(trimesh.exchange.stl.export_stl_ascii(mesh))
    open(name + '.text.ply', 'wb').write(trimesh.exchange.ply.export_ply(mesh, encoding='ascii'))
    scene = trimesh.Scene()
    turn = trimesh.transformations.rotation_matrix(numpy.pi / 2, [1, 0, 0]).round()
    turn[:3, 3] = [3, -50, 7.5]
    double = numpy.diag([-2, 1, 1, 1.0])
    scene.add_geometry(mesh, geom_name='it', node_name='one', transform=turn)
    scene.graph.update(frame_from='one', frame_to='two', matrix=double, geometry='it')
    scene.export(name + '.scene.glb')
    for file, data in trimesh.exchange.gltf.export_gltf(scene).items():
        open(file if file != 'model.gltf' else name + '.scene.gltf', 'wb').write(data)
    scene.to_mesh().export(name + '.scene.obj', digits=9)
"
    .replace("ASSETS", &assets.display().to_string());
    environment::run_python(&python, &script, folder.path());
    let mut hashes = Vec::new();
    for name in ["lighthouse", "torus-knot"] {
        let file = |end: &str| folder.path().join(format!("{name}.{end}"));
        let expected = voxels(&file("obj"));
        for end in ["stl", "ply", "glb", "text.stl", "text.ply"] {
            assert!(fs::metadata(file(end)).unwrap().len() > 100_000, "{name}.{end}");
            assert_eq!(voxels(&file(end)), expected, "{name}.{end}");
        }
        let scene = voxels(&file("scene.obj"));
        assert_eq!(voxels(&file("scene.glb")), scene, "{name}.scene.glb");
        if name == "torus-knot" {
            // The buffers of the other were overwritten.
            assert_eq!(voxels(&file("scene.gltf")), scene, "{name}.scene.gltf");
        }
        hashes.extend([expected, scene]);
    }
    hashes.dedup();
    assert_eq!(hashes.len(), 4);
}

/// What trimesh was told of a box.
#[derive(Deserialize)]
struct Told {
    /// Of vertices and of faces, in 8 bits.
    colors: Vec<[u8; 4]>,
    faces: Vec<[usize; 3]>,
    /// Of vertices, `v` up.
    uvs: Vec<[f64; 2]>,
    texels: Vec<[u8; 3]>,
}

#[test]
fn all_that_trimesh_writes_of_a_look_is_read() {
    let Some(python) = environment::python_with("trimesh") else { return };
    let script = "
import json, trimesh, numpy
from PIL import Image
random = numpy.random.default_rng(7)
color = lambda count: random.integers(1, 256, (count, 4)).astype('u1')
corners, faces = color(8), color(12)
uvs = random.random((8, 2)).astype('f4')
texels = random.integers(0, 256, (3, 4, 3)).astype('u1')
image = Image.fromarray(texels)
def write(visual, *names):
    mesh = trimesh.creation.box()
    mesh.visual = visual(mesh)
    for name in names: mesh.export(name)
    return mesh
colored = trimesh.visual.ColorVisuals
write(lambda mesh: colored(mesh, vertex_colors=corners), 'corners.ply', 'corners.glb')
write(lambda mesh: colored(mesh, face_colors=faces), 'faces.ply')
material = trimesh.visual.material.PBRMaterial(
    baseColorTexture=image, baseColorFactor=[255, 51, 0, 255], alphaMode='MASK', alphaCutoff=0.25)
write(lambda mesh: trimesh.visual.TextureVisuals(uv=uvs, material=material), 'image.glb')
mesh = write(lambda mesh: trimesh.visual.TextureVisuals(uv=uvs, image=image), 'image.ply')
image.save('the image.png')
text = open('image.ply', 'rb').read()
comment = b'ply\\ncomment TextureFile the image.png\\n'
open('image.ply', 'wb').write(text.replace(b'ply\\n', comment, 1))
told = dict(colors=numpy.concatenate([corners, faces]).tolist(), faces=mesh.faces.tolist(),
    uvs=uvs.tolist(), texels=texels.reshape(-1, 3).tolist())
json.dump(told, open('told.json', 'w'))
";
    let folder = tempfile::tempdir().unwrap();
    environment::run_python(&python, script, folder.path());
    let text = fs::read_to_string(folder.path().join("told.json")).unwrap();
    let told: Told = serde_json::from_str(&text).unwrap();
    let look = |name: &str| {
        let loaded = read_mesh(folder.path().join(name)).unwrap();
        assert_eq!(loaded.warnings, Vec::<String>::new(), "{name}");
        loaded.mesh.appearance().unwrap().clone()
    };
    let (corners, faces) = told.colors.split_at(8);
    let in_linear_light: Vec<Linear> = corners.iter().map(|&color| linear_of_rgba(color)).collect();
    assert_eq!(look("corners.ply").vertex_colors, in_linear_light);
    // Of which glTF says that they are in linear light.
    let as_they_are: Vec<Linear> = corners.iter().map(|c| c.map(|c| u16::from(c) * 257)).collect();
    assert_eq!(look("corners.glb").vertex_colors, as_they_are);
    let plain = look("faces.ply");
    let found: Vec<[u8; 4]> = (0..12).map(|face| rgba_of(plain.material(face).color)).collect();
    assert_eq!(found, faces);
    for name in ["image.glb", "image.ply"] {
        let look = look(name);
        let texels = look.textures[0].texels().iter().map(|&[r, g, b, _]| [r, g, b]);
        assert_eq!((look.textures[0].size(), texels.collect()), ([4, 3], told.texels.clone()));
        assert_eq!(look.uvs.len(), 12);
        for (found, face) in look.uvs.iter().zip(&told.faces) {
            let expected = face.map(|vertex| [told.uvs[vertex][0], 1.0 - told.uvs[vertex][1]]);
            for (found, expected) in found.as_flattened().iter().zip(expected.as_flattened()) {
                assert!((f64::from(*found) - expected).abs() < 1e-6, "{name}");
            }
        }
    }
    let material = look("image.glb").materials[0].clone();
    assert_eq!(material.color, [65535, 13107, 0, 65535]);
    assert_eq!(material.alpha, trivox::mesh::appearance::Alpha::Mask(16384));
}
