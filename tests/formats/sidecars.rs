//! Sidecar files in memory: they are found, and nothing else is opened.

use crate::common::files::{png_of, without_buffer};
use crate::common::prelude::*;
use crate::mesh::gltf::with_image;

const RED: [u8; 3] = [255, 0, 0];

fn png() -> Vec<u8> {
    png_of([2, 2], &[RED; 4])
}

/// A triangle with the material `a` of the file `library`.
fn obj(library: &str) -> String {
    format!(
        "mtllib {library}\nusemtl a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\n"
    )
}

fn mtl(image: &str) -> String {
    format!("newmtl a\nmap_Kd {image}\n")
}

/// The glTF document of a square with the texture in the file `image` and the buffer in the file
/// `buffer`, and the bytes of the latter.
fn gltf(buffer: &str, image: &str) -> (String, Vec<u8>) {
    let (document, bytes) = without_buffer(&with_image(&format!(r#"{{"uri": "{image}"}}"#)));
    let of_file = format!(r#""buffers": [{{"uri": "{buffer}", "#);
    (document.replace(r#""buffers": [{"#, &of_file), bytes)
}

fn spec(name: &str) -> &'static MeshSpec {
    MeshSpec::of_path(name).unwrap()
}

fn read(name: &str, file: &str, sidecars: &Sidecars) -> Result<LoadedMesh, ReadError> {
    read_mesh_from(file.into(), spec(name), sidecars, &ReadOptions::default())
}

/// Whether the mesh has its texture, and nothing is to be said.
fn is_textured(loaded: LoadedMesh) -> bool {
    assert_eq!(loaded.warnings, Vec::<String>::new());
    let [texture] = &loaded.mesh.appearance().unwrap().textures[..] else { return false };
    texture.texels().iter().all(|&[r, g, b, _]| [r, g, b] == RED)
}

#[test]
fn names_are_relative_to_the_folder_of_the_mesh() {
    let files =
        [("model/a.mtl", mtl("../t.png").into_bytes()), ("t.png", png()), ("a.mtl", vec![0])];
    let sidecars = Sidecars::in_memory(files);
    let named = obj("a.mtl");
    assert!(is_textured(read("a.obj", &named, &sidecars.clone().of_mesh("model/a.obj")).unwrap()));
    let zeros = read("a.obj", &named, &sidecars).unwrap();
    assert!(zeros.warnings[0].contains("zero bytes"), "{:?}", zeros.warnings);
}

#[test]
fn buffers_and_images_of_a_gltf_in_memory_are_found() {
    for (named, image) in [
        ("a%20b.bin", "t.png"),
        ("A B.BIN", "textures/T.png"),
        ("C:\\\\me\\\\a b.bin", "C:\\\\me\\\\t.png"),
    ] {
        let (document, buffer) = gltf(named, image);
        let sidecars = Sidecars::in_memory([("a b.bin", buffer), ("t.png", png())]);
        let loaded = read("a.gltf", &document, &sidecars).unwrap();
        assert!(is_textured(loaded), "{named}");
    }
    let (document, buffer) = gltf("a.bin", "");
    let cut_off = Sidecars::in_memory([("a.bin", &buffer[..79])]);
    let said = read("a.gltf", &document, &cut_off).unwrap_err().to_string();
    assert!(said.contains("has 79 bytes where the document says 80"), "{said}");
}

#[test]
fn no_file_is_opened_for_untrusted_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let there = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().replace('\\', "/")
    };
    let image = there("t.png", &png());
    let obj = obj(&there("m.mtl", mtl(&image).as_bytes()));
    let (gltf, buffer) = gltf("BUFFER", &image);
    let data = "data:;base64,".to_owned() + &"A".repeat(107) + "=";
    let with_data = gltf.replace("BUFFER", &data);
    let gltf = gltf.replace("BUFFER", &there("a.bin", &buffer));
    let ply = format!(
        "ply\nformat ascii 1.0\ncomment TextureFile {image}\nelement vertex 3\nproperty float x\n\
         property float y\nproperty float z\nelement face 1\nproperty list uchar int vertex_indices\n\
         property list uchar float texcoord\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2 6 0 0 1 0 0 1\n"
    );
    let textures = |loaded: LoadedMesh| loaded.mesh.appearance().map_or(0, |a| a.textures.len());
    let files = [("a.obj", &obj), ("a.ply", &ply)];
    // The names are right: with a folder on disk all are read.
    for (name, file) in files.into_iter().chain([("a.gltf", &gltf)]) {
        assert_eq!(textures(read(name, file, &Sidecars::folder("")).unwrap()), 1, "{name}");
    }
    for sidecars in [Sidecars::none(), Sidecars::in_memory([("else", "")])] {
        for (name, file) in files.into_iter().chain([("a.gltf", &with_data)]) {
            let loaded = read(name, file, &sidecars).unwrap();
            assert!(!loaded.warnings.is_empty(), "{name}");
            assert_eq!(textures(loaded), 0, "{name}");
        }
        let said = read("a.gltf", &gltf, &sidecars).unwrap_err().to_string();
        assert!(said.contains("which is not beside the model"), "{said}");
    }
    let inside = Sidecars::in_memory([("m.mtl", mtl(&image))]);
    let loaded = read("a.obj", &obj, &inside).unwrap();
    assert_eq!(loaded.warnings.len(), 1, "{:?}", loaded.warnings);
    assert_eq!(textures(loaded), 0);
}

#[cfg(unix)]
#[test]
fn a_confined_mesh_reads_files_beside_it_and_below_only() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("models");
    fs::create_dir_all(folder.join("textures")).unwrap();
    fs::write(root.path().join("secret.png"), png()).unwrap();
    fs::write(folder.join("textures/inside.png"), png()).unwrap();
    std::os::unix::fs::symlink("../secret.png", folder.join("link.png")).unwrap();
    std::os::unix::fs::symlink("..", folder.join("out")).unwrap();
    let absolute = root.path().join("secret.png").display().to_string();
    let path = folder.join("mesh.obj");
    fs::write(&path, obj("mesh.mtl")).unwrap();
    let textures = |image: &str, options: &ReadOptions| {
        fs::write(folder.join("mesh.mtl"), mtl(image)).unwrap();
        let loaded = read_mesh_with(&path, options, &NoProgress).unwrap();
        let is_silent = loaded.warnings.is_empty();
        let appearance = loaded.mesh.appearance().unwrap().clone();
        let textured = appearance.materials.iter().any(|material| material.texture.is_some());
        assert_eq!(textured, is_silent, "{image}: {:?}", loaded.warnings);
        textured
    };
    let confined = ReadOptions { confined: true, ..ReadOptions::default() };
    for inside in ["textures/inside.png", "inside.png", "../models/textures/inside.png"] {
        assert!(textures(inside, &confined), "{inside}");
    }
    for outside in ["../secret.png", "link.png", "out/secret.png", absolute.as_str()] {
        assert!(textures(outside, &ReadOptions::default()), "{outside} is found");
        assert!(!textures(outside, &confined), "{outside} is read");
    }
}
