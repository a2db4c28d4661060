//! What is read of a material, and what it means.

use crate::common::prelude::*;

use super::*;
use crate::mesh::change;

/// A bare triangle with the material `name` of `mtl` is red.
fn assert_red(mtl: impl AsRef<[u8]>, name: impl AsRef<[u8]>) {
    let lines = [b"mtllib m.mtl\nusemtl ", name.as_ref(), b"\nf 1 2 3\n"].concat();
    let appearance = Folder::new().with("m.mtl", &mtl).quiet(lines);
    assert_eq!(only(&appearance).color, screen(TO_RED), "{}", mtl.as_ref().escape_ascii());
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
        assert_red(text, "a");
    }
}

#[test]
fn names_may_hold_spaces_and_signs_in_any_encoding_but_no_comment() {
    for name in ["my  red brick", "Material #25", "grün", "a/b\\c", "-1", "#ff0000"] {
        assert_red(format!("newmtl Material #24\nKd 0 1 0\nnewmtl {name}\nKd 1 0 0\n"), name);
    }
    assert_red(b"newmtl gr\xfcn\nKd 1 0 0\n", b"gr\xfcn");
    for name in ["brick", "brick # old"] {
        assert_red("newmtl brick # old\nKd 1 0 0\n", name);
    }
    assert_red("newmtl brick\nKd 1 0 0\n", "brick # new");
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

/// The colours of the triangles of a mesh with the materials `red`, `green` and `blue`.
fn colors_of_triangles(text: String) -> Vec<Linear> {
    let mtl = "newmtl red\nKd 1 0 0\nnewmtl green\nKd 0 1 0\nnewmtl blue\nKd 0 0 1\n";
    let mesh = Folder::new().with("m.mtl", mtl).read_text(text).mesh;
    let look = appearance(&mesh);
    (0..mesh.triangles().len()).map(|triangle| look.material(triangle).color).collect()
}

#[test]
fn faces_have_the_material_that_was_named_last() {
    let [red, green, blue] = [TO_RED, TO_GREEN, [0.0, 0.0, 1.0]].map(screen);
    let named = "f 1 2 3\nmtllib m.mtl\nusemtl green\nf 1 2 3\nv 1 1 0\nf 1 2 4 3\nusemtl red\n\
                 usemtl blue\ng other\nf 1 2 3\nusemtl green\nf 1 2 3\nusemtl\nf 1 2 3\n";
    let expected = [PLAIN, green, green, green, blue, green, PLAIN];
    assert_eq!(colors_of_triangles(format!("{CORNERS}{named}")), expected);
    let among_points_and_lines = "mtllib m.mtl\nv 1 1 0\nv .5 .5 0\nusemtl red\nf 1 2\nf 1\nf\n\
                                  l 1 2 3\nf 1 2 4 3 5\nusemtl green\nf 1 2 3\n";
    let found = colors_of_triangles(format!("{CORNERS}{among_points_and_lines}"));
    assert_eq!(found, [red, red, red, green]);
    // Very many faces, of two triangles and of one, behind the vertices and before them.
    let faces = "f 1/1 2/2 3/3\nf 1 2 3 3\n".repeat(50_000);
    let many = format!("mtllib m.mtl\nusemtl red\n{faces}usemtl green\n{faces}");
    for text in [format!("{CORNERS}{many}"), format!("{many}{CORNERS}")] {
        assert_eq!(colors_of_triangles(text), [vec![red; 150_000], vec![green; 150_000]].concat());
    }
}

#[test]
fn materials_that_are_not_defined_are_grey_and_named() {
    let lines = format!("usemtl A\n{BARE}usemtl a\n{BARE}usemtl no such # note\n{BARE}usemtl b\n");
    let (appearance, warning) = defined("Kd 1 0 0").warned(format!("mtllib m.mtl\n{lines}"));
    assert_eq!(warning, "materials are not defined, and light grey: 'A', 'no such # note'");
    let colors = [0, 1, 2].map(|triangle| appearance.material(triangle).color);
    assert_eq!(colors, [PLAIN, screen(TO_RED), PLAIN]);
}

#[test]
fn of_two_definitions_the_first_counts() {
    let (appearance, warning) = defined("Kd 1 0 0\nnewmtl a\nKd 0 1 0").warned(BARE_BY_A);
    assert_eq!(only(&appearance).color, screen(TO_RED));
    let said = "materials are defined more than once, and their first definition is used: 'a'";
    assert_eq!(warning, said);
    defined("Kd 1 0 0\nnewmtl a\nKd 1 0 0").quiet(BARE_BY_A);
}

#[test]
fn colours_are_values_as_on_a_screen_and_what_has_no_effect_is_said_by_name() {
    let spectra = "colours of materials were ignored that are given as spectra or XYZ";
    let malformed = "malformed lines of material files were skipped";
    let large = "colours of materials exceed 1, and are read as 0 to 255";
    let clamped = "factors of materials are outside their range";
    let [red, green, blue] = [TO_RED, TO_GREEN, [0.0, 0.0, 1.0]].map(screen);
    let [r, g, b, _] = PLAIN;
    for (statements, color, said, names) in [
        ("Kd 1 0.5 0", screen([1.0, 0.5, 0.0]), "", ""),
        ("Kd 0.25", screen([0.25; 3]), "", ""),
        ("Kd 0 1.000001 1e-9 # note", green, "", ""),
        ("Ka 1 0 0\nKs 1 1 1", PLAIN, "", ""),
        ("Kd 1 0 0\nKd 0 1 0", green, "", ""),
        // A black material that emits has the colour of its emission, a colour times a strength.
        ("Kd 0 0 0\nKe 1 0 0", red, "", ""),
        ("Ke 1 0 0\nKd 0 0 0", red, "", ""),
        ("Ke 1 0 0", red, "", ""),
        ("Kd 0 0 0\nKe 5 0 0", red, "", ""),
        ("Kd 0 0 0\nKe 500 250 0", screen([1.0, 0.5, 0.0]), "", ""),
        ("Kd 0 0 1\nKe 1 0 0", blue, "", ""),
        ("Kd 0 0 0\nKe 0 0 0", screen([0.0; 3]), "", ""),
        ("Kd spectral red.rfl 1", PLAIN, spectra, "'a'"),
        ("Kd xyz 0.5 0.5 0.5", PLAIN, spectra, "'a'"),
        ("Kd 1 0", PLAIN, malformed, "'m.mtl:2: Kd 1 0'"),
        ("Kd", PLAIN, malformed, "'m.mtl:2: Kd '"),
        (
            "Kd 0,5 0 0\nKd nan 0 0",
            PLAIN,
            malformed,
            "'m.mtl:2: Kd 0,5 0 0', 'm.mtl:3: Kd nan 0 0'",
        ),
        ("Kd 1 0 0\nKd red", red, malformed, "'m.mtl:3: Kd red'"),
        ("d half\nTr", PLAIN, malformed, "'m.mtl:2: d half', 'm.mtl:3: Tr '"),
        ("Kd 255 51 0", screen([1.0, 0.2, 0.0]), large, "'a'"),
        ("Kd -1 1.5 0", green, clamped, "'a: Kd -1 1.5 0, used as 0 1 0'"),
        ("Kd 1 0 0\nKe 0 -1 1.5", red, clamped, "'a: Ke 0 -1 1.5, used as 0 0 1.5'"),
        ("Pm -1\nPr 3", PLAIN, clamped, "'a: Pm -1, used as 0', 'a: Pr 3, used as 1'"),
        ("d 7", PLAIN, clamped, "'a: d 7, used as 1'"),
        ("d -3", [r, g, b, 0], clamped, "'a: d -3, used as 0'"),
        ("Tr -1", PLAIN, clamped, "'a: Tr -1, used as 0'"),
    ] {
        let loaded = defined(statements).read(BARE_BY_A);
        assert_eq!(only(&appearance(&loaded.mesh)).color, color, "{statements}");
        let expected = if said.is_empty() { vec![] } else { vec![format!("{said}: {names}")] };
        assert_eq!(loaded.warnings, expected, "{statements}");
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
    for (statements, expected) in [
        ("map_Kd t.png", WHITE),
        ("Kd 0 0 0\nmap_Kd t.png", WHITE),
        ("Kd 0.8 0.8 0.8\nmap_Kd t.png", WHITE),
        ("Kd 0.5\nmap_Kd t.png", WHITE),
        ("Kd 1 0.5 0.5\nmap_Kd t.png", screen([1.0, 0.5, 0.5])),
        ("Kd 0 0 0\nmap_Kd t.png\nKe 1 0 0", WHITE),
        ("Kd 0 0 0\nKe 1 1 1\nmap_Ke t.png", WHITE),
    ] {
        let material = only(&painted(statements));
        assert_eq!((material.color, material.alpha), (expected, Alpha::Opaque), "{statements}");
        assert!(material.texture.is_some() && !material.has_vertex_colors, "{statements}");
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
}

/// Triangles of the tiles 1001, 1002 and 1011, the last of which reaches into a fourth.
const IN_TILES: &str = "mtllib m.mtl\nusemtl a\nvt 1.1 0.1\nvt 1.9 0.1\nvt 1.9 0.9\nvt 0.1 1.1\n\
                        vt 0.5 2.01\nvt 0.1 1.9\nf 1/1 2/2 3/3\nf 1/4 2/5 3/6\nf 1/7 2/8 3/9\n";

#[test]
fn images_in_udim_tiles_are_those_of_the_triangles_in_them() {
    let image = |color| png(&[color; 2]);
    for named in ["t.<UDIM>.png", "t_<UDIM>.png", "t.1001.png"] {
        let mut folder = defined(&format!("map_Kd {named}"));
        for (tile, color) in [("1001", RED), ("1002", GREEN), ("1011", BLUE)] {
            folder =
                folder.with(&named.replace("<UDIM>", tile).replace("1001", tile), image(color));
        }
        let look = folder.quiet(IN_TILES);
        let texel = |triangle| {
            let material = look.material(triangle);
            assert_eq!(material.name, "a");
            look.textures[material.texture.unwrap().texture as usize].texels()[0]
        };
        assert_eq!([0, 1, 2].map(texel), [RED, GREEN, BLUE], "{named}");
    }
    // Without other tiles the first image is repeated, as a name may end so for another reason.
    let look = defined("map_Kd t.1001.png").with("t.1001.png", image(RED)).quiet(IN_TILES);
    assert_eq!((only(&look).texture.unwrap().wrap, look.textures.len()), ([Wrap::Repeat; 2], 1));
    let folder = defined("Kd 0 1 0\nmap_Kd t.<UDIM>.png").with("t.1001.png", image(RED));
    let (look, warning) = folder.warned(IN_TILES);
    let why = "there is no such file beside the model";
    let names = format!("'t.1002.png' ({why}), 't.1011.png' ({why})");
    assert_eq!(warning, format!("2 textures were replaced by plain colours: {names}"));
    assert!(look.material(0).texture.is_some() && look.material(1) == look.material(2));
    assert_eq!(look.material(1).color, screen(TO_GREEN));
}

#[test]
fn metal_roughness_and_emission_are_read_with_the_image_of_emission() {
    for (statements, metallic, roughness, emission) in [
        ("Kd 1 0 0", None, None, None),
        ("Pm 0.25\nPr 1\nKe 1 0 0", Some(0.25), Some(1.0), Some([1.0, 0.0, 0.0])),
        ("Ke 5 0 0", None, None, Some([5.0, 0.0, 0.0])),
        ("Ke 1.5 1.5 1.5", None, None, Some([1.5; 3])),
    ] {
        let found = material(statements);
        let expected = (metallic, roughness, emission);
        assert_eq!((found.metallic, found.roughness, found.emission), expected, "{statements}");
    }
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
    for map in ["map_Ke", "map_Pm", "map_Pr"] {
        let folder = pictured(&format!("map_Kd t.png\n{map} -s 2 2 2 t.png"));
        let (look, warning) = folder.warned(PAINTED_BY_A);
        let Material { emission, metallic, roughness, .. } = only(&look);
        assert_eq!((emission, metallic, roughness), (None, None, None), "{map}");
        let said = "images of emission, metal and roughness (map_Ke, map_Pm, map_Pr) with another \
                    scale or offset than the first image were ignored: 'a'";
        assert_eq!(warning, said, "{map}");
        assert_eq!(without_maps(&folder).warnings, Vec::<String>::new(), "{map}");
    }
}

/// Reads a painted triangle without images of emission, metal and roughness.
fn without_maps(folder: &Folder) -> LoadedMesh {
    let options = ReadOptions { maps: false, ..ReadOptions::default() };
    folder.read_with(format!("{CORNERS}{PAINTED_BY_A}").as_bytes(), &options)
}

#[test]
fn images_of_metal_and_roughness_are_read_if_they_are_asked_for() {
    for (statements, factors, images) in [
        ("map_Pm m.png", [Some(1.0), None], [Some(0), None]),
        ("Pm 0\nPr 0.5\nmap_Pm m.png", [Some(1.0), Some(0.5)], [Some(0), None]),
        ("Pm 0.25\nPr 1\nmap_Pm m.png\nmap_Pr m.png", [Some(0.25), Some(1.0)], [Some(0); 2]),
        ("Pr 0.5\nmap_Pm m.png\nmap_Pr t.png", [Some(1.0), Some(0.5)], [Some(0), Some(1)]),
        ("map_Pm no.png", [None; 2], [None; 2]),
    ] {
        let texels = [[9, 10, 20, 255], [1, 200, 100, 255]];
        let folder = pictured(statements).with("m.png", png(&texels));
        let loaded = folder.read(PAINTED_BY_A);
        let material = only(&appearance(&loaded.mesh));
        assert_eq!([material.metallic, material.roughness], factors, "{statements}");
        let found = [material.metallic_texture, material.roughness_texture];
        assert_eq!(found.map(|image| image.map(|of| of.texture)), images, "{statements}");
        assert_eq!(loaded.warnings.is_empty(), images[0].is_some(), "{:?}", loaded.warnings);
        let bare = without_maps(&folder);
        assert_eq!((bare.warnings.len(), appearance(&bare.mesh).textures.len()), (0, 0));
    }
}

/// White would be a mesh that glows for want of a file.
#[test]
fn an_image_of_emission_that_cannot_be_read_emits_nothing_but_the_colour_that_is_stated() {
    for (stated, emission) in [("", None), ("Ke 0 1 0\n", Some([0.0, 1.0, 0.0]))] {
        let folder = pictured(&format!("map_Kd t.png\n{stated}map_Ke no.png"));
        let (look, warning) = folder.warned(PAINTED_BY_A);
        assert!(warning.contains("'no.png'"), "{warning}");
        assert_eq!(only(&look).emission, emission, "{stated}");
    }
}

#[test]
fn what_of_an_image_has_no_effect_is_said_and_the_image_is_shown() {
    let options = "options of images have no effect: '-mm', '-t', '-imfchan' and 1 others";
    let opacity = "the scale and offset of opacity maps (map_d) were ignored: those of map_Kd are \
                   used: 'a'";
    let malformed = "malformed lines of material files were skipped: 'm.mtl:2: interpolateMode \
                     SHARP'";
    for (statements, corner, said) in [
        ("map_Kd -mm 0 1 -t 1 1 1 -imfchan r -type sphere t.png", [1.0, 1.0], options),
        ("map_Kd -s 2 2 t.png\nmap_d o.png", [2.0, 1.0], opacity),
        ("interpolateMode SHARP\nmap_Kd t.png", [1.0, 1.0], malformed),
    ] {
        let folder = pictured(statements).with("o.png", png(&TEXELS));
        let (look, warning) = folder.warned(PAINTED_BY_A);
        assert_eq!(warning, said);
        assert_eq!((look.textures[0].texels(), look.uvs[0][1]), (&TEXELS[..], corner), "{said}");
    }
}

#[test]
fn names_of_images_follow_options_and_may_look_like_options_and_comments() {
    let harmless = "-blendu on -blendv off -cc on -bm 1 -boost 2.5 -texres 512 my  image.png";
    for (written, name) in [
        (harmless, "my  image.png"),
        ("  -bm\t0.5  my  image.png", "my  image.png"),
        ("my  image.png", "my  image.png"),
        ("t.png # note", "t.png"),
        ("\"t.png\"", "t.png"),
        ("-clamp off \"t.png\" ", "t.png"),
        ("-s.png", "-s.png"),
        ("-clamp", "-clamp"),
        ("-clamp.png", "-clamp.png"),
        ("-o up.png", "-o up.png"),
        ("a #1.png", "a #1.png"),
        ("1 1.png", "1 1.png"),
        ("-unknown 1.png", "-unknown 1.png"),
    ] {
        let folder = defined(&format!("map_Kd {written}")).with(name, png(&TEXELS));
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
    let loaded = folder.read_text(format!("v 0 0 0\nv 1 0 0\nv 0 1 0\n{PAINTED_BY_A}"));
    assert_eq!(only(&appearance(&loaded.mesh)).color, screen(TO_RED));
    assert_eq!(loaded.warnings.len(), 1);
}

#[test]
fn polygons_keep_their_texture_coordinates() {
    let lines = "v 1 1 0\nvt 1 1\nmtllib m.mtl\nusemtl a\nf 1/1 2/2 4/4 3/3\n";
    let expected = [[[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]], [[0.0, 1.0], [1.0, 0.0], [0.25, 0.25]]];
    assert_eq!(pictured("map_Kd t.png").quiet(lines).uvs, expected);
}

#[test]
fn an_image_of_opacity_is_its_own_opacity_or_else_its_brightness() {
    for (texels, expected) in [
        ([[0, 0, 0, 1], [9, 9, 9, 2], [255; 4], [8; 4]], [1, 2, 255, 8]),
        ([[0, 0, 0, 255], GREY, [255; 4], [77, 77, 77, 255]], [0, 128, 255, 77]),
        ([RED, GREEN, BLUE, [0, 0, 0, 255]], [54, 182, 19, 0]),
    ] {
        for (statements, color, corner) in [
            ("Kd 0.5\nmap_Kd t.png\nmap_d o.png", WHITE, [1.0, 1.0]),
            ("Kd 1 0 0\nmap_d -s 2 2 2 o.png", screen(TO_RED), [2.0, 1.0]),
        ] {
            let look = pictured(statements).with("o.png", png(&texels)).quiet(PAINTED_BY_A);
            let material = only(&look);
            let is_colored = statements.contains("map_Kd");
            assert_eq!((material.texture.is_some(), material.color), (is_colored, color));
            assert_eq!((material.alpha, look.uvs[0][1]), (Alpha::Blend, corner), "{statements}");
            assert_ne!(material.texture, material.opacity, "{statements}");
            let image = &look.textures[material.opacity.unwrap().texture as usize];
            let opacities: Vec<u8> = image.texels().iter().map(|texel| texel[3]).collect();
            assert_eq!(opacities, expected, "{statements}");
        }
    }
}

#[test]
fn the_opacity_of_an_image_counts_also_if_it_is_named_for_that_too() {
    let glass = [RED, [0, 255, 0, 9], BLUE, GREY];
    for (statements, texels, alpha) in [
        ("map_Kd t.png", glass, Alpha::Blend),
        ("map_Kd t.png\nmap_d .\\T.PNG", glass, Alpha::Blend),
        ("map_Kd t.png\nmap_d .\\T.PNG", TEXELS, Alpha::Opaque),
    ] {
        let look = defined(statements).with("t.png", png(&texels)).quiet(PAINTED_BY_A);
        let material = only(&look);
        assert_eq!((material.alpha, material.opacity), (alpha, None), "{statements}");
        assert_eq!((look.textures.len(), look.textures[0].texels()), (1, &texels[..]));
    }
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
        (0..rng.u32(1..=6)).for_each(|_| change(&mut rng, &mut bytes, fragments));
        folder = folder.with("m.mtl", bytes);
        let loaded = folder.read(PAINTED_BY_A);
        plain += usize::from(loaded.mesh.appearance().is_none());
    }
    assert!((1..2000).contains(&plain), "{plain} lost their material");
}
