//! Material files and images, wherever they are and however they are named.

use super::*;

const FACES: &str = "usemtl a\nf 1/1 2/2 3/3\n";
const RED_MTL: &str = "newmtl a\nKd 1 0 0\n";

/// A folder with the file `name`, which defines `a` as red.
fn red(name: &str) -> Folder {
    Folder::new().with(name, RED_MTL)
}

/// The colour of the only material in `folder`, of a mesh that names its material files so.
fn color(folder: &Folder, names: &str) -> Linear {
    only(&folder.quiet(format!("mtllib {names}\n{FACES}"))).color
}

#[test]
fn material_files_are_found_however_they_are_named() {
    for (there, named) in [
        ("m.mtl", "m.mtl"),
        ("m.mtl", "./m.mtl"),
        ("m.mtl", "m.mtl # note"),
        ("m.mtl", "M.MTL"),
        ("Model.MTL", "model.mtl"),
        ("my  own.mtl", "my  own.mtl"),
        ("my own.mtl", "My Own.mtl"),
        ("a #1.mtl", "a #1.mtl"),
        ("a.mtl b.mtl", "a.mtl b.mtl"),
        ("my own.mtl", "\"my own.mtl\""),
        ("materials", "materials"),
        ("sub/m.mtl", "sub/m.mtl"),
        ("sub/m.mtl", "sub\\m.mtl"),
        ("Sub/M.mtl", ".\\sub\\m.MTL"),
        ("sub/deeper/M.mtl", "sub//deeper\\m.mtl"),
        ("m.mtl", "\\\\server\\share\\m.mtl"),
        ("m.mtl", "C:\\Users\\me\\models\\m.mtl"),
        ("m.mtl", "/home/me/models/M.mtl"),
        ("m.mtl", "../no such/m.mtl"),
        ("GRÜN.mtl", "grün.mtl"),
    ] {
        assert_eq!(color(&red(there), named), screen(TO_RED), "{there} as {named}");
    }
    let latin_1 = red("grün.mtl").quiet([b"mtllib gr\xfcn.mtl\n", FACES.as_bytes()].concat());
    assert_eq!(only(&latin_1).color, screen(TO_RED));
    let folder = red("m.mtl");
    let absolute = folder.path("m.mtl");
    assert_eq!(color(&Folder::new(), absolute.to_str().unwrap()), screen(TO_RED));
}

#[test]
fn of_several_material_files_all_are_read_and_the_first_counts() {
    let folder = red("my two.mtl")
        .with("one.mtl", "newmtl b\nKd 0 0 1\n")
        .with("three.mtl", "newmtl a\nKd 0 1 0\n");
    for (names, expected) in [
        ("one.mtl my two.mtl", TO_RED),
        ("ONE.MTL\tMY TWO.MTL  # note", TO_RED),
        ("one.mtl\nmtllib three.mtl", TO_GREEN),
        ("my two.mtl\nmtllib ./my two.mtl", TO_RED),
    ] {
        assert_eq!(color(&folder, names), screen(expected), "{names}");
    }
    let quoted = folder.warned(format!("mtllib \"three.mtl\" \"my two.mtl\"\n{FACES}"));
    let (appearance, _) = folder.warned(format!("mtllib three.mtl my two.mtl\n{FACES}"));
    assert!(quoted.0 == appearance);
    assert_eq!(only(&appearance).color, screen(TO_GREEN));
}

#[test]
fn a_material_file_may_be_named_behind_the_faces() {
    let appearance = red("m.mtl").quiet(format!("{FACES}mtllib m.mtl"));
    assert_eq!(only(&appearance).color, screen(TO_RED));
}

#[test]
fn a_mesh_that_names_no_material_file_has_that_of_its_own_name() {
    for name in ["mesh.mtl", "mesh.obj.mtl"] {
        let folder = red(name);
        let (appearance, warning) = folder.warned(FACES);
        assert_eq!(only(&appearance).color, screen(TO_RED));
        assert_eq!(warning, format!("the file names no material file: '{name}' is used"));
        assert_eq!(folder.read(BARE).warnings, Vec::<String>::new());
        let warnings = folder.read(format!("mtllib other.mtl\n{FACES}")).warnings;
        assert_eq!(warnings, ["material files not found: 'other.mtl'"]);
    }
}

#[test]
fn material_files_that_cannot_be_used_are_said() {
    let zeros = Folder::new().with("m.mtl", "newmtl a\0\n").read(PAINTED_BY_A);
    let said = "material file 'm.mtl' is not used: it contains zero bytes: save it in UTF-8";
    assert_eq!((zeros.warnings, zeros.mesh.appearance()), (vec![said.to_owned()], None));
    let large = Folder::new().with("m.mtl", RED_MTL.to_owned() + &"#".repeat(2_000_000));
    let options = ReadOptions { memory: 10_000_000, ..ReadOptions::default() };
    let text = format!("{CORNERS}{PAINTED_BY_A}");
    let said = "material file 'm.mtl' is not used: it is too large for the memory that is left";
    assert_eq!(large.read_with(text.as_bytes(), &options).warnings, [said]);
    let is_folder = Folder::new().with("m.mtl/file", "").read(PAINTED_BY_A);
    assert_eq!(is_folder.warnings, ["material files not found: 'm.mtl'"]);
    let loaded = red("a.mtl").read(format!("mtllib a.mtl no such.mtl b.mtl # note\n{FACES}"));
    assert_eq!(loaded.warnings, ["material files not found: 'no such.mtl', 'b.mtl'"]);
}

/// Whether the image of `a` is found in `folder`, named so in a material file in `place`.
fn is_found(folder: Folder, place: &str, named: impl AsRef<[u8]>) -> bool {
    let mtl = [b"newmtl a\nmap_Kd ", named.as_ref()].concat();
    let appearance = folder.with(place, mtl).quiet(format!("mtllib {place}\n{FACES}"));
    appearance.textures[0].texels() == TEXELS
}

#[test]
fn images_are_found_however_they_are_named_beside_the_material_file_or_the_mesh() {
    for (place, there, named) in [
        ("m.mtl", "t.png", "t.png"),
        ("m.mtl", "textures/t.png", "t.png"),
        ("m.mtl", "Textures/t.png", "C:\\t.PNG"),
        ("m.mtl", "tex/t.png", "t.png"),
        ("m.mtl", "texture/t.png", "t.png"),
        ("m.mtl", "images/t.png", "t.png"),
        ("m.mtl", "maps/t.png", "no such/t.png"),
        ("mats/m.mtl", "mats/t.png", "t.png"),
        ("mats/m.mtl", "t.png", "t.png"),
        ("mats/m.mtl", "t.png", "..\\t.png"),
        ("mats/m.mtl", "mats/Textures/t.png", "t.png"),
        ("mats/m.mtl", "textures/t.png", "../textures/t.png"),
        ("mats/m.mtl", "textures/t.png", "textures/t.png"),
    ] {
        let folder = Folder::new().with(there, png(&TEXELS));
        assert!(is_found(folder, place, named), "{there} as {named} in {place}");
    }
    let folder = Folder::new().with("grün.png", png(&TEXELS));
    assert!(is_found(folder, "m.mtl", b"gr\xfcn.png"));
    let folder = Folder::new().with("mats/t.png", png(&TEXELS)).with("t.png", png(&[BLUE; 4]));
    assert!(is_found(folder, "mats/m.mtl", "t.png"), "beside the material file first");
    let folder = Folder::new().with("GRÜN.png", png(&TEXELS));
    assert!(is_found(folder, "m.mtl", "grün.png"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_name_that_several_files_have_is_said() {
    let folder = defined("map_Kd T.PNG").with("t.png", png(&[BLUE; 4]));
    let (appearance, warning) = folder.with("T.png", png(&TEXELS)).warned(PAINTED_BY_A);
    assert_eq!(appearance.textures[0].texels(), TEXELS);
    let said = "several files have the name if case is ignored, and the first is used: 'T.PNG'";
    assert_eq!(warning, said);
    let folder = Folder::new().with("t.png", png(&TEXELS)).with("T.png", png(&[BLUE; 4]));
    assert!(is_found(folder, "m.mtl", "t.png"));
}

#[test]
fn images_that_are_not_there_or_cannot_be_read_are_one_warning_by_name() {
    let mtl: String = (0..14)
        .map(|n| format!("newmtl m{n}\nKd 0 0 1\nmap_Kd c:\\no\\{}.png # x\n", n / 2))
        .collect();
    let mut folder = Folder::new().with("m.mtl", mtl);
    for name in ["4.png", "5.png", "6.png"] {
        folder = folder.with(name, b"DDS |\0\0\0");
    }
    let faces: String = (0..14).map(|n| format!("usemtl m{n}\n{PAINTED}")).collect();
    let (appearance, warning) = folder.warned(format!("mtllib m.mtl\n{faces}"));
    let missing = |n| format!(r"'c:\no\{n}.png' (there is no such file beside the model), ");
    let names = [0, 1, 2, 3].map(missing).concat()
        + "'4.png' (files of this kind are not read; save it as PNG or JPEG)";
    assert_eq!(warning, format!("7 textures were replaced by plain colours: {names} and 2 more"));
    assert_eq!(appearance.material(1).color, screen([0.0, 0.0, 1.0]));
    assert!(appearance.textures.is_empty() && appearance.uvs.is_empty());
}
