//! What is read of a material, and what it means.

use crate::common::prelude::*;

use super::*;
use crate::mesh::obj::mutate;

#[test]
fn colours_are_values_as_on_a_screen() {
    for (statements, expected) in [
        ("Kd 1 0.5 0", screen([1.0, 0.5, 0.0])),
        ("Kd 0.25", screen([0.25; 3])),
        ("Kd 0 1.000001 1e-9 # note", screen(TO_GREEN)),
        ("Ka 1 0 0\nKs 1 1 1", PLAIN),
        ("Kd 1 0 0\nKd 0 1 0", screen(TO_GREEN)),
    ] {
        assert_eq!(material(statements).color, expected, "{statements}");
    }
}

/// A colour as on a screen, and that of a triangle with the material `name` of `mtl`.
fn assert_color(mtl: impl AsRef<[u8]>, name: &str, color: [f64; 3]) {
    let folder = Folder::new().with("m.mtl", mtl);
    let appearance = folder.quiet(format!("mtllib m.mtl\nusemtl {name}\n{BARE}"));
    assert_eq!(only(&appearance).color, screen(color), "{name}");
}

#[test]
fn keywords_are_known_in_any_case_with_any_spaces_and_line_ends() {
    for text in [
        "NEWMTL a\nKD 1 0 0\n",
        "\t newmtl\ta \n \t kd\t1  0\t0\t\n",
        "newmtl a\r\nKd 1 0 0\r\n",
        "newmtl a\rKd 1 0 0\r",
        "\u{feff}newmtl a\nKd 1 0 \\\n0",
        "# C:\\\nnewmtl a # note\nKd 1 0 0 # note\n",
        "Kd 0 1 0\nnewmtl a\nKd 1 0 0\nnewmtl b\nKd 0 0 1",
    ] {
        assert_color(text, "a", TO_RED);
    }
}

#[test]
fn names_may_hold_spaces_and_signs_in_any_encoding() {
    for name in ["my  red brick", "Material #25", "grün", "a/b\\c", "-1", "#ff0000"] {
        let mtl = format!("newmtl Material #24\nKd 0 1 0\nnewmtl {name}\nKd 1 0 0\n");
        assert_color(mtl, name, TO_RED);
    }
    let folder = Folder::new().with("m.mtl", b"newmtl gr\xfcn\nKd 0 1 0\n");
    let faces = b"mtllib m.mtl\nusemtl gr\xfcn\nf 1 2 3\n";
    assert_eq!(only(&folder.quiet(faces)).color, screen(TO_GREEN));
}

#[test]
fn a_comment_behind_a_name_is_not_part_of_it() {
    assert_color("newmtl brick # old\nKd 1 0 0\n", "brick", TO_RED);
    assert_color("newmtl brick # old\nKd 1 0 0\n", "brick # old", TO_RED);
    assert_color("newmtl brick\nKd 1 0 0\n", "brick # new", TO_RED);
}

#[test]
fn opacity_is_what_d_says_and_else_what_tr_leaves() {
    for (statements, opacity) in [
        ("", 1.0),
        ("d 0.5", 0.5),
        ("d 0", 0.0),
        ("d -halo 0.25", 0.25),
        ("Tr 0.25", 0.75),
        ("Tr 0", 1.0),
        ("d 0.5\nTr 0.9", 0.5),
        ("Tr 0.9\nd 0.5", 0.5),
        ("d 1\nTr 1", 1.0),
        // MeshLab means that it is opaque.
        ("Tr 1", 1.0),
        ("Tr 1.000000", 1.0),
    ] {
        let material = material(statements);
        assert_eq!(material.color[3], (opacity * 65535.0_f64).round() as u16, "{statements}");
        let expected = if opacity < 1.0 { Alpha::Blend } else { Alpha::Opaque };
        assert_eq!(material.alpha, expected, "{statements}");
    }
}

#[test]
fn faces_have_the_material_that_was_named_last() {
    let mtl = "newmtl red\nKd 1 0 0\nnewmtl green\nKd 0 1 0\nnewmtl blue\nKd 0 0 1\n";
    let folder = Folder::new().with("m.mtl", mtl);
    let lines = "f 1 2 3\nmtllib m.mtl\nusemtl green\nf 1 2 3\nv 1 1 0\nf 1 2 4 3\nusemtl red\n\
                 usemtl blue\ng other\nf 1 2 3\nusemtl green\nf 1 2 3\nusemtl\nf 1 2 3\n";
    let appearance = folder.quiet(lines);
    let colors: Vec<Linear> = (0..7).map(|triangle| appearance.material(triangle).color).collect();
    let [green, blue] = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(screen);
    assert_eq!(colors, [PLAIN, green, green, green, blue, green, PLAIN]);
    assert_eq!(appearance.materials.len(), 3);
}

#[test]
fn faces_among_points_lines_and_polygons_keep_their_materials() {
    let folder = Folder::new().with("m.mtl", "newmtl red\nKd 1 0 0\nnewmtl green\nKd 0 1 0\n");
    let square = "v 1 1 0\nv .5 .5 0\n";
    let lines =
        "mtllib m.mtl\nusemtl red\nf 1 2\nf 1\nf\nl 1 2 3\nf 1 2 4 3 5\nusemtl green\nf 1 2 3\n";
    let loaded = folder.read(format!("{square}{lines}"));
    let appearance = appearance(&loaded.mesh);
    let [red, green] = [TO_RED, TO_GREEN].map(screen);
    let colors: Vec<Linear> =
        (0..loaded.mesh.triangles().len()).map(|t| appearance.material(t).color).collect();
    assert_eq!(colors, [red, red, red, green]);
}

#[test]
fn materials_stay_with_their_faces_among_very_many() {
    let folder = Folder::new().with("m.mtl", "newmtl red\nKd 1 0 0\nnewmtl green\nKd 0 1 0\n");
    let faces = "f 1/1 2/2 3/3\nf 1 2 3 3\n".repeat(50_000);
    let lines = format!("mtllib m.mtl\nusemtl red\n{faces}usemtl green\n{faces}");
    for text in [format!("{CORNERS}{lines}"), format!("{lines}{CORNERS}")] {
        let folder = Folder::new()
            .with("mesh.obj", text)
            .with("m.mtl", std::fs::read(folder.path("m.mtl")).unwrap());
        let mesh = read_mesh(folder.path("mesh.obj")).unwrap().mesh;
        let appearance = mesh.appearance().unwrap();
        assert_eq!(mesh.triangles().len(), 300_000);
        let is_right = |triangle: usize| {
            let expected = if triangle < 150_000 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
            appearance.material(triangle).color == screen(expected)
        };
        assert!((0..300_000).all(is_right));
    }
}

#[test]
fn materials_that_are_not_defined_are_grey_and_named() {
    let folder = defined("Kd 1 0 0");
    let (appearance, warning) = folder.warned(format!(
        "mtllib m.mtl\nusemtl A\n{BARE}usemtl a\n{BARE}usemtl no such # note\n{BARE}usemtl unused\n"
    ));
    assert_eq!(warning, "materials are not defined, and light grey: 'A', 'no such # note'");
    let colors = [0, 1, 2].map(|triangle| appearance.material(triangle).color);
    assert_eq!(colors, [PLAIN, screen(TO_RED), PLAIN]);
}

#[test]
fn of_two_definitions_the_first_counts() {
    let folder = defined("Kd 1 0 0\nnewmtl a\nKd 0 1 0");
    let (appearance, warning) = folder.warned(format!("mtllib m.mtl\nusemtl a\n{BARE}"));
    assert_eq!(only(&appearance).color, screen(TO_RED));
    let said = "materials are defined more than once, and their first definition is used: 'a'";
    assert_eq!(warning, said);
    let folder = defined("Kd 1 0 0\nnewmtl a\nKd 1 0 0");
    folder.quiet(format!("mtllib m.mtl\nusemtl a\n{BARE}"));
}

#[test]
fn what_of_a_material_has_no_effect_is_said_by_name() {
    let spectra = "colours of materials were ignored that are given as spectra or XYZ";
    let malformed = "malformed lines of material files were skipped";
    let large = "colours of materials exceed 1, and are read as 0 to 255";
    let clamped = "factors of materials are outside their range";
    let [r, g, b, _] = PLAIN;
    for (statements, color, said, names) in [
        ("Kd spectral red.rfl 1", PLAIN, spectra, "'a'"),
        ("Kd xyz 0.5 0.5 0.5", PLAIN, spectra, "'a'"),
        ("Kd 1 0", PLAIN, malformed, "'Kd 1 0'"),
        ("Kd", PLAIN, malformed, "'Kd '"),
        ("Kd 0,5 0 0\nKd nan 0 0", PLAIN, malformed, "'Kd 0,5 0 0', 'Kd nan 0 0'"),
        ("Kd 1 0 0\nKd red", screen(TO_RED), malformed, "'Kd red'"),
        ("d half\nTr", PLAIN, malformed, "'d half', 'Tr '"),
        ("Kd 255 51 0", screen([1.0, 0.2, 0.0]), large, "'a'"),
        ("Kd -1 1.5 0", screen(TO_GREEN), clamped, "'a: Kd -1 1.5 0, used as 0 1 0'"),
        ("Kd 1 0 0\nKe 0 -1 1.5", screen(TO_RED), clamped, "'a: Ke 0 -1 1.5, used as 0 0 1.5'"),
        ("Pm -1\nPr 3", PLAIN, clamped, "'a: Pm -1, used as 0', 'a: Pr 3, used as 1'"),
        ("d 7", PLAIN, clamped, "'a: d 7, used as 1'"),
        ("d -3", [r, g, b, 0], clamped, "'a: d -3, used as 0'"),
        ("Tr -1", PLAIN, clamped, "'a: Tr -1, used as 0'"),
    ] {
        let lines = format!("mtllib m.mtl\nusemtl a\n{BARE}");
        let (appearance, warning) = defined(statements).warned(lines);
        assert_eq!(only(&appearance).color, color, "{statements}");
        assert_eq!(warning, format!("{said}: {names}"), "{statements}");
    }
}

/// A folder with the material `a`, defined so, and an image.
fn pictured(statements: &str) -> Folder {
    defined(statements).with("t.png", png(&TEXELS))
}

/// The appearance of a painted triangle whose material `a` has an image, and these statements.
fn painted(statements: &str) -> Appearance {
    pictured(statements).quiet(PAINTED_BY_A)
}

#[test]
fn a_grey_says_nothing_where_there_is_an_image_and_a_colour_multiplies_it() {
    for (color, expected) in [
        ("", WHITE),
        ("Kd 0 0 0", WHITE),
        ("Kd 0.8 0.8 0.8", WHITE),
        ("Kd 0.5", WHITE),
        ("Kd 1 0.5 0.5", screen([1.0, 0.5, 0.5])),
    ] {
        let material = only(&painted(&format!("{color}\nmap_Kd t.png")));
        assert_eq!(material.color, expected, "{color}");
        assert!(material.texture.is_some() && !material.has_vertex_colors);
        assert_eq!(material.alpha, Alpha::Opaque);
    }
    assert_eq!(only(&painted("Kd 0.5\nd 0.5\nmap_Kd t.png")).color[3], 32768);
}

#[test]
fn texture_coordinates_point_up_in_the_file_and_options_of_an_image_move_and_clamp_them() {
    let whole = [[0.0, 1.0], [1.0, 1.0], [0.25, 0.25]];
    for (options, uvs, wrap) in [
        ("", whole, Wrap::Repeat),
        ("-clamp off", whole, Wrap::Repeat),
        ("-clamp on", whole, Wrap::Clamp),
        ("-s 2 4 1", [[0.0, 1.0], [2.0, 1.0], [0.5, -2.0]], Wrap::Repeat),
        ("-s 2", [[0.0, 1.0], [2.0, 1.0], [0.5, 0.25]], Wrap::Repeat),
        ("-o 0.5 0.25", [[0.5, 0.75], [1.5, 0.75], [0.75, 0.0]], Wrap::Repeat),
        ("-o 0.5 0.25 0 -s 2 4 1", [[0.5, 0.75], [2.5, 0.75], [1.0, -2.25]], Wrap::Repeat),
    ] {
        let look = painted(&format!("map_Kd {options} t.png"));
        assert_eq!(look.uvs, [uvs], "{options}");
        assert_eq!(only(&look).texture.unwrap().wrap, [wrap; 2], "{options}");
    }
}

#[test]
fn an_image_has_the_filter_of_the_interpolate_mode_before_it_or_else_none() {
    for (statement, expected) in [
        ("", Filter::Nearest),
        ("interpolateMode NEAREST_MAGNIFICATION_TRILINEAR_MIPMAP_MINIFICATION", Filter::Nearest),
        ("interpolateMode BILINEAR_NO_MIPMAP", Filter::Linear),
        ("interpolatemode TRILINEAR_MIPMAP", Filter::Linear),
        ("interpolateMode TRILINEAR_MIPMAP\ninterpolateMode NEAREST_MIPMAP", Filter::Nearest),
    ] {
        let appearance = painted(&format!("{statement}\nmap_Kd t.png"));
        assert_eq!(only(&appearance).texture.unwrap().filter, expected, "{statement}");
    }
    let after = painted("map_Kd t.png\ninterpolateMode TRILINEAR_MIPMAP");
    assert_eq!(only(&after).texture.unwrap().filter, Filter::Nearest);
    let folder = pictured("interpolateMode SHARP\nmap_Kd t.png");
    let (_, warning) = folder.warned(PAINTED_BY_A);
    assert_eq!(warning, "malformed lines of material files were skipped: 'interpolateMode SHARP'");
}

/// Triangles of the tiles 1001, 1002 and 1011, the last of which reaches into a fourth.
const IN_TILES: &str = "vt 1.1 0.1\nvt 1.9 0.1\nvt 1.9 0.9\nvt 0.1 1.1\nvt 0.5 2.01\n\
                        vt 0.1 1.9\nf 1/1 2/2 3/3\nf 1/4 2/5 3/6\nf 1/7 2/8 3/9\n";

#[test]
fn images_in_udim_tiles_are_those_of_the_triangles_in_them() {
    let image = |color| png(&[color; 2]);
    for named in ["t.<UDIM>.png", "t_<UDIM>.png", "t.1001.png"] {
        let file = |tile: &str| named.replace("<UDIM>", tile).replace("1001", tile);
        let folder = defined(&format!("map_Kd {named}"));
        let folder = folder.with(&file("1001"), image(RED)).with(&file("1002"), image(GREEN));
        let folder = folder.with(&file("1011"), image(BLUE));
        let look = folder.quiet(format!("mtllib m.mtl\nusemtl a\n{IN_TILES}"));
        let texel = |triangle| {
            let material = look.material(triangle);
            assert_eq!(material.name, "a");
            look.textures[material.texture.unwrap().texture as usize].texels()[0]
        };
        assert_eq!([0, 1, 2].map(texel), [RED, GREEN, BLUE], "{named}");
    }
    // Without other tiles the first image is repeated, as a name may end so for another reason.
    let folder = defined("map_Kd t.1001.png").with("t.1001.png", image(RED));
    let look = folder.quiet(format!("mtllib m.mtl\nusemtl a\n{IN_TILES}"));
    assert_eq!((only(&look).texture.unwrap().wrap, look.textures.len()), ([Wrap::Repeat; 2], 1));
    let folder = defined("Kd 0 1 0\nmap_Kd t.<UDIM>.png").with("t.1001.png", image(RED));
    let (look, warning) = folder.warned(format!("mtllib m.mtl\nusemtl a\n{IN_TILES}"));
    let why = "there is no such file beside the model";
    let names = format!("'t.1002.png' ({why}), 't.1011.png' ({why})");
    assert_eq!(warning, format!("2 textures were replaced by plain colours: {names}"));
    assert!(look.material(0).texture.is_some() && look.material(1) == look.material(2));
    assert_eq!(look.material(1).color, screen(TO_GREEN));
}

#[test]
fn metal_roughness_and_emission_are_read_with_the_image_of_emission() {
    let of = |statements: &str| {
        let Material { metallic, roughness, emission, .. } = material(statements);
        (metallic, roughness, emission)
    };
    assert_eq!(of("Kd 1 0 0"), (None, None, None));
    assert_eq!(of("Pm 0.25\nPr 1\nKe 1 0 0"), (Some(0.25), Some(1.0), Some([1.0, 0.0, 0.0])));
    assert_eq!(of("Ke 5 0 0").2, Some([5.0, 0.0, 0.0]));
    assert_eq!(of("Ke 1.5 1.5 1.5").2, Some([1.5; 3]));
    for (statements, emission) in [
        ("map_Kd t.png\nKe 0 1 0\nmap_Ke t.png", [0.0, 1.0, 0.0]),
        ("map_Kd t.png\nmap_Ke t.png", [1.0; 3]),
        ("Kd 1 0 0\nKe 0 0 0\nmap_Ke t.png", [1.0; 3]),
    ] {
        let look = painted(statements);
        let Material { emission_texture, emission: found, .. } = only(&look);
        assert_eq!((found, look.textures.len()), (Some(emission), 1), "{statements}");
        assert!(emission_texture.is_some() && !look.uvs.is_empty(), "{statements}");
    }
    let other = "-s 2 2 2 t.png";
    for unread in ["map_Ke", "map_Pm", "map_Pr"].map(|map| format!("map_Kd t.png\n{map} {other}")) {
        let folder = pictured(&unread);
        let (look, warning) = folder.warned(PAINTED_BY_A);
        let Material { emission, metallic, roughness, .. } = only(&look);
        assert_eq!((emission, metallic, roughness), (None, None, None), "{unread}");
        let said = "images of emission, metal and roughness (map_Ke, map_Pm, map_Pr) with another \
                    scale or offset than the first image were ignored: 'a'";
        assert_eq!(warning, said, "{unread}");
        let options = ReadOptions { maps: false, ..ReadOptions::default() };
        let loaded = read_mesh_with(folder.path("mesh.obj"), &options, &NoProgress).unwrap();
        assert_eq!(loaded.warnings, Vec::<String>::new(), "{unread}");
    }
}

#[test]
fn images_of_metal_and_roughness_are_read_if_they_are_asked_for() {
    let texels = [[9, 10, 20, 255], [1, 200, 100, 255]];
    for (statements, metallic, roughness) in [
        ("map_Pm m.png", Some((1.0, 0)), None),
        ("Pm 0\nPr 0.5\nmap_Pm m.png", Some((1.0, 0)), Some(0.5)),
        ("Pm 0.25\nPr 0.5\nmap_Pm m.png\nmap_Pr m.png", Some((0.25, 0)), Some(0.5)),
        ("Pr 0.5\nmap_Pm m.png\nmap_Pr t.png", Some((1.0, 0)), Some(0.5)),
        ("map_Pm no.png", None, None),
    ] {
        let folder = pictured(statements).with("m.png", png(&texels));
        let loaded = folder.read(PAINTED_BY_A);
        let look = appearance(&loaded.mesh);
        let material = only(&look);
        assert_eq!((material.metallic, material.roughness), (metallic.map(|of| of.0), roughness));
        let metallic_texture = material.metallic_texture.map(|of| of.texture);
        assert_eq!(metallic_texture, metallic.map(|of| of.1), "{statements}");
        assert_eq!(material.roughness_texture.is_some(), statements.contains("map_Pr"));
        let is_shared = material.metallic_texture == material.roughness_texture;
        assert_eq!(is_shared, statements.contains("map_Pr m") || statements.contains("no.png"));
        assert_eq!(loaded.warnings.is_empty(), metallic.is_some(), "{:?}", loaded.warnings);
        let options = ReadOptions { maps: false, ..ReadOptions::default() };
        let bare = read_mesh_with(folder.path("mesh.obj"), &options, &NoProgress).unwrap();
        assert_eq!((bare.warnings.len(), appearance(&bare.mesh).textures.len()), (0, 0));
    }
}

/// White would be a mesh that glows for want of a file.
#[test]
fn an_image_of_emission_that_cannot_be_read_emits_nothing_but_the_colour_that_is_stated() {
    for (stated, emission) in [("", None), ("Ke 0 1 0\n", Some([0.0, 1.0, 0.0]))] {
        let statements = format!("map_Kd t.png\n{stated}map_Ke no.png");
        let folder = pictured(&statements);
        let (look, warning) = folder.warned(PAINTED_BY_A);
        assert!(warning.contains("'no.png'"), "{warning}");
        assert_eq!(only(&look).emission, emission, "{stated}");
    }
}

#[test]
fn a_black_material_that_emits_has_the_colour_of_its_emission() {
    let red = screen(TO_RED);
    for (statements, expected) in [
        ("Kd 0 0 0\nKe 1 0 0", red),
        ("Ke 1 0 0\nKd 0 0 0", red),
        ("Ke 1 0 0", red),
        // A colour times a strength.
        ("Kd 0 0 0\nKe 5 0 0", red),
        ("Kd 0 0 0\nKe 500 250 0", screen([1.0, 0.5, 0.0])),
        ("Kd 0 0 1\nKe 1 0 0", screen([0.0, 0.0, 1.0])),
        ("Kd 0 0 0\nKe 0 0 0", screen([0.0; 3])),
    ] {
        assert_eq!(material(statements).color, expected, "{statements}");
    }
    let textured = only(&painted("Kd 0 0 0\nKe 1 1 1\nmap_Ke t.png"));
    assert!(textured.texture.is_some() && textured.color == WHITE);
    assert_eq!(only(&painted("Kd 0 0 0\nmap_Kd t.png\nKe 1 0 0")).color, WHITE);
}

#[test]
fn options_before_the_name_of_an_image_are_not_part_of_it() {
    let harmless = "-blendu on -blendv off -cc on -bm 1 -boost 2.5 -texres 512";
    for options in [harmless, "  -bm\t0.5 ", ""] {
        let map = format!("map_Kd {options} my  image.png");
        let folder = defined(&map).with("my  image.png", png(&TEXELS));
        assert_eq!(texture(&folder).texels(), TEXELS, "{map}");
    }
}

#[test]
fn options_that_would_change_the_look_are_said() {
    let options = "-mm 0 1 -t 1 1 1 -imfchan r -type sphere";
    let folder = pictured(&format!("map_Kd {options} t.png"));
    let (appearance, warning) = folder.warned(PAINTED_BY_A);
    assert_eq!(appearance.textures[0].texels(), TEXELS);
    assert_eq!(warning, "options of images have no effect: '-mm', '-t', '-imfchan' and 1 others");
}

#[test]
fn names_of_images_may_look_like_options_and_comments() {
    for name in
        ["-s.png", "-clamp", "-clamp.png", "-o up.png", "a #1.png", "1 1.png", "-unknown 1.png"]
    {
        let folder = defined(&format!("map_Kd {name}")).with(name, png(&TEXELS));
        assert_eq!(texture(&folder).texels(), TEXELS, "{name}");
    }
    for written in ["t.png # note", "\"t.png\"", "-clamp off \"t.png\" "] {
        let folder = pictured(&format!("map_Kd {written}"));
        assert_eq!(texture(&folder).texels(), TEXELS, "{written}");
    }
}

#[test]
fn a_map_without_a_name_is_none() {
    for map in ["map_Kd", "map_Kd ", "map_Kd -clamp on", "map_Kd t.png\nmap_Kd", "map_d"] {
        let material = material(map);
        assert_eq!((material.texture, material.opacity, material.color), (None, None, PLAIN));
    }
}

#[test]
fn a_face_without_texture_coordinates_has_its_materials_plain_colour() {
    let folder = pictured("Kd 0.5\nmap_Kd t.png");
    let said = "faces without texture coordinates have the plain colour of their materials: 'a'";
    let unusable = ["vt nan 0", "vt 0 inf", "vt 1e300 0"].map(|vt| (vt, "f 1/1 2/2 3/4\n"));
    let partly =
        ["f 1/1 2/2 3\n", "f 1/1/1 2/2/1 3//1\n", "f 1 2/1 3/1\n", BARE].map(|f| ("vn 0 0 1", f));
    for (line, face) in unusable.into_iter().chain(partly) {
        let lines = format!("{line}\nmtllib m.mtl\nusemtl a\n{PAINTED}{face}{PAINTED}");
        let (appearance, warning) = folder.warned(lines);
        assert_eq!(warning, said, "{line} {face}");
        let textures = [0, 1, 2].map(|triangle| appearance.material(triangle).texture.is_some());
        assert_eq!(textures, [true, false, true], "{line} {face}");
        assert_eq!(appearance.material(1).color, screen([0.5; 3]));
        assert!(appearance.uvs[1].as_flattened().iter().all(|coordinate| coordinate.is_nan()));
        assert_eq!(appearance.uvs[2], appearance.uvs[0]);
    }
}

#[test]
fn texture_coordinates_that_the_file_leaves_out_are_none() {
    let folder = pictured("Kd 1 0 0\nmap_Kd t.png");
    let text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nmtllib m.mtl\nusemtl a\nf 1/1 2/2 3/3\n";
    let folder = folder.with("mesh.obj", text);
    let loaded = read_mesh(folder.path("mesh.obj")).unwrap();
    assert_eq!(only(&appearance(&loaded.mesh)).color, screen(TO_RED));
    assert_eq!(loaded.warnings.len(), 1);
}

#[test]
fn polygons_keep_their_texture_coordinates() {
    let folder = pictured("map_Kd t.png");
    let lines = "v 1 1 0\nvt 1 1\nmtllib m.mtl\nusemtl a\nf 1/1 2/2 4/4 3/3\n";
    let expected = [[[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]], [[0.0, 1.0], [1.0, 0.0], [0.25, 0.25]]];
    assert_eq!(folder.quiet(lines).uvs, expected);
}

#[test]
fn the_opacity_of_an_image_counts() {
    let folder = defined("map_Kd t.png").with("t.png", png(&[RED, [0, 255, 0, 9], BLUE, GREY]));
    let appearance = folder.quiet(PAINTED_BY_A);
    let material = only(&appearance);
    assert_eq!((material.alpha, material.opacity), (Alpha::Blend, None));
    assert_eq!(appearance.textures[0].texels()[1], [0, 255, 0, 9]);
}

#[test]
fn an_image_of_opacity_is_its_own_opacity_or_else_its_brightness() {
    let opacities = |appearance: &Appearance, index: u32| {
        let texels = appearance.textures[index as usize].texels();
        texels.iter().map(|texel| texel[3]).collect::<Vec<u8>>()
    };
    for (texels, expected) in [
        ([[0, 0, 0, 1], [9, 9, 9, 2], [255; 4], [8; 4]], [1, 2, 255, 8]),
        ([[0, 0, 0, 255], GREY, [255; 4], [77, 77, 77, 255]], [0, 128, 255, 77]),
        ([RED, GREEN, BLUE, [0, 0, 0, 255]], [54, 182, 19, 0]),
    ] {
        let folder = defined("Kd 0.5\nmap_Kd t.png\nmap_d o.png");
        let folder = folder.with("t.png", png(&TEXELS)).with("o.png", png(&texels));
        let appearance = folder.quiet(PAINTED_BY_A);
        let material = only(&appearance);
        assert_eq!((material.alpha, material.color), (Alpha::Blend, WHITE));
        assert_ne!(material.texture, material.opacity);
        assert_eq!(opacities(&appearance, material.opacity.unwrap().texture), expected);

        let folder = defined("Kd 1 0 0\nmap_d -s 2 2 2 o.png").with("o.png", png(&texels));
        let appearance = folder.quiet(PAINTED_BY_A);
        let material = only(&appearance);
        assert_eq!((material.texture, material.color), (None, screen(TO_RED)));
        assert_eq!(opacities(&appearance, 0), expected);
        assert_eq!(appearance.uvs[0][1], [2.0, 1.0]);
    }
}

#[test]
fn an_image_that_is_named_for_its_opacity_too_is_used_once() {
    for (texels, alpha) in
        [(TEXELS, Alpha::Opaque), ([RED, [0, 255, 0, 9], BLUE, GREY], Alpha::Blend)]
    {
        let folder = defined("map_Kd t.png\nmap_d .\\T.PNG").with("t.png", png(&texels));
        let appearance = folder.quiet(PAINTED_BY_A);
        let material = only(&appearance);
        assert_eq!((material.alpha, material.opacity), (alpha, None));
        assert_eq!(appearance.textures.len(), 1);
    }
}

#[test]
fn an_image_of_opacity_lies_where_that_of_colour_does() {
    let folder = defined("map_Kd -s 2 2 t.png\nmap_d o.png");
    let folder = folder.with("t.png", png(&TEXELS)).with("o.png", png(&TEXELS));
    let (appearance, warning) = folder.warned(PAINTED_BY_A);
    assert_eq!(appearance.uvs[0][1], [2.0, 1.0]);
    let said =
        "the scale and offset of opacity maps (map_d) were ignored: those of map_Kd are used";
    assert_eq!(warning, format!("{said}: 'a'"));
}

#[test]
fn images_of_materials_that_no_face_has_are_not_looked_for() {
    let folder = defined("Kd 1 0 0\nnewmtl b\nmap_Kd no such.png");
    let appearance = folder.quiet(format!("mtllib m.mtl\nusemtl b\nusemtl a\n{PAINTED}"));
    assert!(appearance.textures.is_empty() && appearance.uvs.iter().flatten().count() == 0);
}

#[test]
fn mutated_material_files_are_read() {
    let seed = "\u{feff}# made\nnewmtl a\nKa 1 1 1\nKd 0.5 0.25 1\nd -halo 0.5\nTr 0.5\n\
                map_Kd -clamp on -s 1 2 3 -o 1 -mm 0 1 t.png # \\\nmap_d \"t.png\"\nnewmtl \\\nb\n";
    let fragments = "\n|\r|\\\n| |-|#|\"|1e999|nan|-o|-s 1|\nnewmtl |\nmap_Kd";
    let mut folder = Folder::new().with("t.png", png(&TEXELS));
    let mut plain = 0;
    for seed_of_run in 0..3000 {
        let mut rng = fastrand::Rng::with_seed(seed_of_run);
        let mut bytes = seed.as_bytes().to_vec();
        (0..rng.u32(1..=6)).for_each(|_| mutate(&mut rng, &mut bytes, fragments, 0..=255));
        folder = folder.with("m.mtl", bytes);
        let loaded = folder.read(PAINTED_BY_A);
        plain += usize::from(loaded.mesh.appearance().is_none());
    }
    assert!((1..2000).contains(&plain), "{plain} lost their material");
}
