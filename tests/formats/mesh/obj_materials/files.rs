//! Material files and images, wherever they are and however they are named.

use super::*;

const FACES: &str = "usemtl a\nf 1/1 2/2 3/3\n";
const RED_MTL: &str = "newmtl a\nKd 1 0 0\n";

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
        ("materials", "materials"),
        ("sub/m.mtl", "sub/m.mtl"),
        ("sub/m.mtl", "sub\\m.mtl"),
        ("Sub/M.mtl", ".\\sub\\m.MTL"),
        ("m.mtl", "C:\\Users\\me\\models\\m.mtl"),
        ("m.mtl", "/home/me/models/M.mtl"),
        ("m.mtl", "../no such/m.mtl"),
        ("GRÜN.mtl", "grün.mtl"),
    ] {
        let folder = Folder::new().with(there, RED_MTL);
        assert_eq!(color(&folder, named), screen(TO_RED), "{there} as {named}");
    }
    let folder = Folder::new().with("grün.mtl", RED_MTL);
    let appearance = folder.quiet([b"mtllib gr\xfcn.mtl\n", FACES.as_bytes()].concat());
    assert_eq!(only(&appearance).color, screen(TO_RED));
    let folder = Folder::new().with("m.mtl", RED_MTL);
    let absolute = folder.path("m.mtl");
    assert_eq!(color(&Folder::new(), absolute.to_str().unwrap()), screen(TO_RED));
}

#[test]
fn of_several_material_files_all_are_read_and_the_first_counts() {
    let folder = Folder::new()
        .with("one.mtl", "newmtl b\nKd 0 0 1\n")
        .with("my two.mtl", RED_MTL)
        .with("three.mtl", "newmtl a\nKd 0 1 0\n");
    assert_eq!(color(&folder, "one.mtl my two.mtl"), screen(TO_RED));
    assert_eq!(color(&folder, "ONE.MTL\tMY TWO.MTL  # note"), screen(TO_RED));
    assert_eq!(color(&folder, "one.mtl\nmtllib three.mtl"), screen(TO_GREEN));
    assert_eq!(color(&folder, "my two.mtl\nmtllib ./my two.mtl"), screen(TO_RED));
    let (appearance, _) = folder.warned(format!("mtllib three.mtl my two.mtl\n{FACES}"));
    assert_eq!(only(&appearance).color, screen(TO_GREEN));
}

#[test]
fn a_material_file_may_be_named_behind_the_faces() {
    let folder = Folder::new().with("m.mtl", RED_MTL);
    assert_eq!(only(&folder.quiet(format!("{FACES}mtllib m.mtl"))).color, screen(TO_RED));
}

#[test]
fn a_mesh_that_names_no_material_file_has_that_of_its_own_name() {
    for name in ["mesh.mtl", "mesh.obj.mtl"] {
        let folder = Folder::new().with(name, RED_MTL);
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
    let zeros = Folder::new().with("m.mtl", "newmtl a\0\n");
    let loaded = zeros.read(format!("mtllib m.mtl\n{FACES}"));
    let why = "it contains zero bytes: save it in UTF-8";
    assert_eq!(loaded.warnings, [format!("material file 'm.mtl' is not used: {why}")]);
    assert_eq!(loaded.mesh.appearance(), None);
    let folder = Folder::new().with("m.mtl", RED_MTL.to_owned() + &"#".repeat(2_000_000));
    folder.read(format!("mtllib m.mtl\n{FACES}"));
    let options = ReadOptions { memory: 10_000_000, ..ReadOptions::default() };
    let loaded = read_mesh_with(folder.path("mesh.obj"), &options, &NoProgress).unwrap();
    let why = "it is too large for the memory that is left";
    assert_eq!(loaded.warnings, [format!("material file 'm.mtl' is not used: {why}")]);
    let folder = Folder::new().with("m.mtl/file", "");
    let loaded = folder.read(format!("mtllib m.mtl\n{FACES}"));
    assert_eq!(loaded.warnings, ["material files not found: 'm.mtl'"]);
    let folder = Folder::new().with("a.mtl", RED_MTL);
    let loaded = folder.read(format!("mtllib a.mtl no such.mtl b.mtl # note\n{FACES}"));
    assert_eq!(loaded.warnings, ["material files not found: 'no such.mtl', 'b.mtl'"]);
}

/// Whether the image of `a` is found in `folder`, named so in a material file in `place`.
fn is_found(folder: Folder, place: &str, named: impl AsRef<[u8]>) -> bool {
    let mtl = [b"newmtl a\nmap_Kd ", named.as_ref()].concat();
    let appearance = folder.with(place, mtl).quiet(format!("mtllib {place}\n{FACES}"));
    appearance.textures[0].texels() == TEXELS
}

#[test]
fn images_are_found_however_they_are_named() {
    for (there, named) in [
        ("t.png", "t.png"),
        ("t.png", ".\\T.PNG"),
        ("My Image.Png", "my image.png"),
        ("sub/deeper/t.png", "sub\\deeper\\t.png"),
        ("Sub/T.png", "sub//t.PNG"),
        ("t.png", "C:\\Documents and Settings\\me\\t.png"),
        ("t.png", "\\\\server\\share\\t.png"),
        ("t.png", "/home/me/T.png"),
        ("t.png", "../../elsewhere/t.png"),
        ("textures/t.png", "t.png"),
        ("Textures/t.png", "C:\\t.PNG"),
        ("tex/t.png", "t.png"),
        ("texture/t.png", "t.png"),
        ("images/t.png", "t.png"),
        ("maps/t.png", "no such/t.png"),
        ("grün.png", "GRÜN.png"),
    ] {
        let folder = Folder::new().with(there, png(&TEXELS));
        assert!(is_found(folder, "m.mtl", named), "{there} as {named}");
    }
    let folder = Folder::new().with("grün.png", png(&TEXELS));
    assert!(is_found(folder, "m.mtl", b"gr\xfcn.png"));
}

#[test]
fn images_may_be_beside_the_material_file_or_the_mesh() {
    let [texels, other] = [png(&TEXELS), png(&[BLUE; 4])];
    for (there, named) in [
        ("mats/t.png", "t.png"),
        ("t.png", "t.png"),
        ("t.png", "..\\t.png"),
        ("mats/Textures/t.png", "t.png"),
        ("textures/t.png", "../textures/t.png"),
        ("textures/t.png", "textures/t.png"),
    ] {
        let folder = Folder::new().with(there, &texels);
        assert!(is_found(folder, "mats/m.mtl", named), "{there} as {named}");
    }
    let folder = Folder::new().with("mats/t.png", &texels).with("t.png", &other);
    assert!(is_found(folder, "mats/m.mtl", "t.png"));
    let folder = Folder::new().with("t.png", &texels).with("T.png", &other);
    assert!(is_found(folder, "m.mtl", "t.png"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_name_that_several_files_have_is_said() {
    let folder = defined("map_Kd T.PNG").with("t.png", png(&[BLUE; 4]));
    let folder = folder.with("T.png", png(&TEXELS));
    let (appearance, warning) = folder.warned(format!("mtllib m.mtl\n{FACES}"));
    assert_eq!(appearance.textures[0].texels(), TEXELS);
    let said = "several files have the name if case is ignored, and the first is used: 'T.PNG'";
    assert_eq!(warning, said);
}

#[test]
fn images_that_are_not_there_are_said_once_by_name() {
    let mtl: String = (0..14)
        .map(|n| format!("newmtl m{n}\nKd 0 0 1\nmap_Kd c:\\no\\{}.png # x\n", n / 2))
        .collect();
    let folder = Folder::new().with("m.mtl", mtl);
    let faces: String = (0..14).map(|n| format!("usemtl m{n}\n{PAINTED}")).collect();
    let (appearance, warning) = folder.warned(format!("mtllib m.mtl\n{faces}"));
    let missing = |n| format!(r"'c:\no\{n}.png' (there is no such file beside the model)");
    let names = [0, 1, 2, 3, 4].map(missing).join(", ");
    assert_eq!(warning, format!("7 textures were replaced by plain colours: {names} and 2 more"));
    assert_eq!(appearance.material(1).color, screen([0.0, 0.0, 1.0]));
    assert!(appearance.textures.is_empty() && appearance.uvs.is_empty());
}
