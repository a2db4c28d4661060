//! Files that trimesh writes hold the mesh that its OBJ file holds.

use std::fs;
use std::path::Path;
use std::process::Command;

use trivox::formats::read_mesh;
use trivox::{Backend, Cpu, NoProgress, PlaceOptions, Sizing, place};

/// Runs `script` in `folder`, if there is a Python that has trimesh.
fn has_run(script: &str, folder: &Path) -> bool {
    let Some(interpreter) = std::env::var_os("TRIVOX_PYTHON") else {
        println!("skipped: TRIVOX_PYTHON not set");
        return false;
    };
    let python = |script| {
        let mut python = Command::new(&interpreter);
        python.args(["-c", script]).current_dir(folder).output().unwrap()
    };
    if !python("import trimesh").status.success() {
        assert!(std::env::var_os("TRIVOX_TRIMESH").is_none(), "trimesh was promised");
        println!("skipped: no trimesh");
        return false;
    }
    let output = python(script);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    true
}

/// The hash of the voxels of a mesh, and its triangles.
fn voxels(path: &Path) -> (String, usize) {
    let mesh = read_mesh(path).unwrap().mesh;
    let placed = place(&mesh, &PlaceOptions::new(Sizing::Resolution(100))).unwrap();
    let grid = Cpu::default().voxelize(&placed, &NoProgress).unwrap();
    (grid.hash().to_string(), mesh.triangles().len())
}

#[test]
fn all_that_trimesh_writes_of_a_mesh_has_the_same_voxels() {
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
    if !has_run(&script, folder.path()) {
        return;
    }
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
