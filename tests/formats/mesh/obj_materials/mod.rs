//! What OBJ files look like: materials, images and colours of vertices, as real files have them.
//! Whatever is wrong with any of these, the shape is read, and what is shown otherwise is said.
mod files;
mod images;
mod materials;
mod vertex_colors;

use crate::common::prelude::*;
use tempfile::TempDir;
use trivox::base::srgb::{Linear, linear};

/// A triangle's corners and texture coordinates, all different in each.
const CORNERS: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0.25 0.75\n";
/// It with texture coordinates, and without.
const PAINTED: &str = "f 1/1 2/2 3/3\n";
const BARE: &str = "f 1 2 3\n";
/// The same with the material `a` of `m.mtl`.
const PAINTED_BY_A: &str = "mtllib m.mtl\nusemtl a\nf 1/1 2/2 3/3\n";
const BARE_BY_A: &str = "mtllib m.mtl\nusemtl a\nf 1 2 3\n";

/// The colour of what has none.
const PLAIN: Linear = [linear_of(200), linear_of(200), linear_of(200), u16::MAX];
const WHITE: Linear = [u16::MAX; 4];
const TO_RED: [f64; 3] = [1.0, 0.0, 0.0];
const TO_GREEN: [f64; 3] = [0.0, 1.0, 0.0];

/// An opaque colour in linear light, from values as on a screen.
fn screen(color: [f64; 3]) -> Linear {
    let [r, g, b] = color.map(linear);
    [r, g, b, u16::MAX]
}

/// A folder, and the files of a model in it by name.
struct Folder {
    root: TempDir,
    files: Vec<(String, Vec<u8>)>,
}

impl Folder {
    fn new() -> Self {
        Self { root: tempfile::tempdir().unwrap(), files: Vec::new() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// With another file, in a folder of its own where the name says so.
    fn with(mut self, name: &str, bytes: impl AsRef<[u8]>) -> Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, &bytes).unwrap();
        self.files.retain(|(other, _)| other != name);
        self.files.push((name.to_owned(), bytes.as_ref().to_vec()));
        self
    }

    /// Reads a mesh with these lines besides [`CORNERS`].
    fn read(&self, lines: impl AsRef<[u8]>) -> LoadedMesh {
        self.read_text([CORNERS.as_bytes(), lines.as_ref()].concat())
    }

    /// Reads a mesh beside the files. The same files in memory are found by the same rules.
    fn read_text(&self, text: impl AsRef<[u8]>) -> LoadedMesh {
        let text = text.as_ref();
        let loaded = self.read_with(text, &ReadOptions::default());
        // Files outside the folder are found on disk only.
        let outside = std::env::temp_dir().into_os_string().into_encoded_bytes();
        if !text.windows(outside.len()).any(|part| part == outside) {
            let sidecars = Sidecars::in_memory(self.files.clone()).of_mesh("mesh.obj");
            let (spec, options) = (MeshSpec::of_extension("obj").unwrap(), ReadOptions::default());
            let in_memory = read_mesh_from(text.to_vec(), spec, &sidecars, &options).unwrap();
            assert_eq!(in_memory.warnings, loaded.warnings);
            let [found, expected] = [&in_memory.mesh, &loaded.mesh];
            // Some texture coordinates are NaN, which is not equal to itself.
            assert!(found == expected || format!("{found:?}") == format!("{expected:?}"));
        }
        loaded
    }

    /// Reads a mesh beside the files on disk.
    fn read_with(&self, text: &[u8], options: &ReadOptions) -> LoadedMesh {
        let path = self.path("mesh.obj");
        fs::write(&path, text).unwrap();
        read_mesh_with(path, options, &NoProgress).unwrap()
    }

    /// The look of a mesh with these lines, of which nothing is to be said.
    fn quiet(&self, lines: impl AsRef<[u8]>) -> Appearance {
        let loaded = self.read(lines);
        assert_eq!(loaded.warnings, Vec::<String>::new());
        appearance(&loaded.mesh)
    }

    /// The same, and the one thing that is to be said.
    fn warned(&self, lines: impl AsRef<[u8]>) -> (Appearance, String) {
        let loaded = self.read(lines);
        let [warning] = &loaded.warnings[..] else { panic!("{:?}", loaded.warnings) };
        (appearance(&loaded.mesh), warning.clone())
    }
}

fn appearance(mesh: &Mesh) -> Appearance {
    mesh.appearance().expect("an appearance").clone()
}

/// A folder with the material `a`, defined so, in `m.mtl`.
fn defined(statements: &str) -> Folder {
    Folder::new().with("m.mtl", format!("newmtl a\n{statements}\n"))
}

/// The only material of a triangle that has `a`, defined so.
fn material(statements: &str) -> Material {
    only(&defined(statements).quiet(BARE_BY_A))
}

fn only(appearance: &Appearance) -> Material {
    assert_eq!((appearance.materials.len(), appearance.material_of.len()), (1, 0));
    appearance.materials[0].clone()
}

/// A PNG of these RGBA texels, two in a row.
fn png(texels: &[[u8; 4]]) -> Vec<u8> {
    encoded(texels, image::ImageFormat::Png)
}

fn encoded(texels: &[[u8; 4]], format: image::ImageFormat) -> Vec<u8> {
    let size = [2, texels.len() as u32 / 2];
    let image = image::RgbaImage::from_raw(size[0], size[1], texels.concat()).unwrap();
    encode(image.into(), format)
}

fn encode(image: image::DynamicImage, format: image::ImageFormat) -> Vec<u8> {
    let mut bytes = Vec::new();
    image.write_to(&mut std::io::Cursor::new(&mut bytes), format).unwrap();
    bytes
}

const GREY: [u8; 4] = [128, 128, 128, 255];
/// Red and green above blue and grey.
const TEXELS: [[u8; 4]; 4] = [RED, GREEN, BLUE, GREY];

/// The texture of a painted triangle with the only material of `folder`.
fn texture(folder: &Folder) -> Texture {
    let appearance = folder.quiet(PAINTED_BY_A);
    assert_eq!(only(&appearance).texture.unwrap().texture, 0);
    assert_eq!(appearance.textures.len(), 1);
    appearance.textures[0].clone()
}

#[test]
fn a_file_that_says_nothing_of_its_looks_has_no_appearance() {
    for lines in [BARE.to_owned(), PAINTED.to_owned(), format!("usemtl a\n{BARE}")] {
        let loaded = Folder::new().read(&lines);
        assert_eq!(loaded.warnings, Vec::<String>::new(), "{lines}");
        assert_eq!(loaded.mesh.appearance(), None, "{lines}");
    }
    let unused = defined("Kd 1 0 0").read(format!("mtllib m.mtl\n{BARE}"));
    assert_eq!((unused.mesh.appearance(), unused.warnings.len()), (None, 0));
}
