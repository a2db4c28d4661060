//! Colours of vertices: `v x y z r g b`.

use super::*;

/// A mesh of these vertices in one triangle, and of those that follow in others.
fn read(vertices: &[impl AsRef<str>]) -> LoadedMesh {
    let lines = vertices.iter().map(|vertex| format!("v {}\n", vertex.as_ref()));
    let faces = (3..=vertices.len()).map(|i| format!("f {} {} {i}\n", i - 2, i - 1));
    Folder::new().read_text(lines.chain(faces).collect::<String>())
}

/// The colours of the vertices at `x` = 0, 1, 2...
fn colors(loaded: &LoadedMesh) -> Vec<Linear> {
    let appearance = loaded.mesh.appearance().unwrap();
    let color_at = |x: f64| {
        let at = loaded.mesh.positions().iter().position(|position| position[0] == x).unwrap();
        appearance.vertex_colors[at]
    };
    (0..loaded.mesh.positions().len()).map(|x| color_at(x as f64)).collect()
}

#[test]
fn they_are_values_as_on_a_screen_up_to_1_or_255_and_clamped() {
    let of_255 = "colours of vertices exceed 1, and are read as 0 to 255; ";
    let clamped = "a colour with values outside their range: the nearest in it are used, and 0 for \
                   NaN";
    let red = screen(TO_RED);
    for (vertices, expected, said) in [
        (
            ["0 0 0 1 0 0", "1 0 0 0.5 0.25 0.501961", "2 1 0 0 1 0.123456789"],
            [
                red,
                [linear(0.5), linear(0.25), linear_of(128), u16::MAX],
                screen([0.0, 1.0, 0.123456789]),
            ],
            String::new(),
        ),
        (
            ["0 0 0 1 -1 0", "1 0 0 1.5 0 0", "2 1 0 1.000001 0 0"],
            [red; 3],
            format!("2 vertices have {clamped}"),
        ),
        (
            ["0 0 0 255 0 0", "1 0 0 1 1 128", "2 1 0 300 0 2.5"],
            [
                red,
                [linear_of(1), linear_of(1), linear_of(128), u16::MAX],
                [u16::MAX, 0, linear(2.5 / 255.0), u16::MAX],
            ],
            format!("{of_255}1 vertex has {clamped}"),
        ),
    ] {
        let loaded = read(&vertices);
        assert_eq!((loaded.warnings.join("; "), colors(&loaded)), (said, expected.to_vec()));
        let material = only(&appearance(&loaded.mesh));
        assert_eq!((material.color, material.has_vertex_colors), (WHITE, true));
    }
}

const SOME_MISSING: &str =
    "some vertices have no colour: their faces have the colour of the material";

#[test]
fn a_face_with_a_vertex_without_a_colour_has_that_of_the_material() {
    for colored in 1..31 {
        let is_colored = |vertex: usize| colored >> vertex & 1 == 1;
        let vertices: Vec<String> = (0..5)
            .map(|vertex| {
                let color = if is_colored(vertex) { ["1 0 0", "0 1 0"][vertex % 2] } else { "" };
                format!("{vertex} {} 0 {color}", vertex * vertex)
            })
            .collect();
        let loaded = read(&vertices);
        assert_eq!(loaded.warnings, [SOME_MISSING], "{vertices:?}");
        let colors = colors(&loaded);
        for vertex in (0..5).filter(|&vertex| is_colored(vertex)) {
            assert_eq!(colors[vertex], screen([TO_RED, TO_GREEN][vertex % 2]), "{vertices:?}");
        }
        for first in 0..3 {
            let is_colored = (first..first + 3).all(is_colored);
            let material = appearance(&loaded.mesh).material(first).clone();
            assert_eq!(material.has_vertex_colors, is_colored, "{vertices:?}");
            assert_eq!(material.color, if is_colored { WHITE } else { PLAIN }, "{vertices:?}");
        }
    }
}

/// As Blender 5.0 writes two objects, one with a material, the other with colours.
#[test]
fn objects_without_colours_keep_their_materials_beside_objects_with_colours() {
    let mesh = "mtllib b.mtl\no plain\nv 0 0 0\nv 1 0 0\nv 0 0 -1\nusemtl Red\nf 1 2 3\n\
                o colored\nv 2 0 0 0.2 0.4 0.6\nv 3 0 0 0.2 0.4 0.6\nv 2 0 -1 0.2 0.4 0.6\n\
                f 4 5 6\n";
    let folder = Folder::new().with("b.mtl", "newmtl Red\nKd 0.8 0.1 0.1\nd 0.5\n");
    let loaded = folder.read_text(mesh);
    let said = "colours of vertices are shown instead of those of materials: 'Red'";
    assert_eq!(loaded.warnings, [SOME_MISSING, said]);
    let look = appearance(&loaded.mesh);
    let [plain, colored] = [0, 1].map(|triangle| look.material(triangle));
    let [r, g, b, _] = screen([0.8, 0.1, 0.1]);
    assert_eq!((plain.color, plain.has_vertex_colors), ([r, g, b, 32768], false));
    assert_eq!((colored.color[3], colored.has_vertex_colors), (32768, true));
}

#[test]
fn comments_of_zbrush_are_colours_of_all_vertices_or_of_none() {
    let face = "# End of MRGB block\nf -3 -2 -1\n";
    let read = |times: usize, colors: &str| {
        let vertices = "v 0 0 0\nv 1 0 0\nv 2 1 0\n".repeat(times);
        let header = "#The following MRGB block contains colours\n";
        Folder::new().read_text(format!("{vertices}{header}{colors}{face}"))
    };
    let block = "#MRGB ffff0000ff00ff00\n#MRGB 000000FF\n";
    let expected = [TO_RED, TO_GREEN, [0.0, 0.0, 1.0]].map(screen);
    for times in [1, 100_000] {
        let loaded = read(times, &block.repeat(times));
        assert_eq!(loaded.warnings, Vec::<String>::new());
        let colors = appearance(&loaded.mesh).vertex_colors;
        assert_eq!(colors.len(), loaded.mesh.positions().len());
        for (position, color) in loaded.mesh.positions().iter().zip(colors) {
            assert_eq!(color, expected[position[0] as usize]);
        }
    }
    for (colors, count) in [
        ("#MRGB ffff0000\n", 1),
        ("#MRGB ffff0000ff00ff0x000000ff\n", 2),
        ("#MRGB ffff0000+100ff00000000ff\n", 2),
    ] {
        let loaded = read(1, colors);
        let said = format!("colours (#MRGB) are of {count} vertices, not of 3, and are not shown");
        assert_eq!((loaded.warnings, loaded.mesh.appearance()), (vec![said], None));
    }
    let own = "v 0 0 0 0 0 1\nv 1 0 0 0 0 1\nv 2 1 0 0 0 1\n#MRGB ffff0000\n";
    assert_eq!(colors(&read(0, own))[0], screen([0.0, 0.0, 1.0]));
}

#[test]
fn a_vertex_with_a_weight_among_coloured_ones_is_where_it_should_be() {
    let loaded = read(&["0 0 0 1 0 0", "1 0 4 2", "2 1 0 0 0 1"]);
    assert_eq!(loaded.mesh.positions(), [[0.0; 3], [1.0, 0.0, 4.0], [2.0, 1.0, 0.0]]);
    assert_eq!(loaded.warnings.last().unwrap(), SOME_MISSING);
}

#[test]
fn a_colour_that_is_not_made_of_numbers_is_none() {
    for color in ["nan 0 0", "red green blue", "1 1 x"] {
        let loaded = read(&["0 0 0 1 0 0", &format!("1 0 0 {color}"), "2 1 0 0 0 1"]);
        assert_eq!(only(&appearance(&loaded.mesh)).color, PLAIN, "{color}");
        assert_eq!(loaded.warnings, [SOME_MISSING], "{color}");
        let loaded = read(&[&format!("0 0 0 {color}"), "1 0 0", "2 1 0"]);
        assert_eq!(loaded.mesh.appearance(), None, "{color}");
    }
}

#[test]
fn a_seventh_number_is_an_opacity_that_is_not_used() {
    let [a, b, c] = ["0 0 0 1 0 0 0.5", "1 0 0 0 1 0 1", "2 1 0 0 0 1 0"];
    let said = "the seventh numbers of vertices are taken for opacities, and not used";
    for vertices in [[a, b, c], ["0 0 0", b, c], ["0 0 0", "1 0 0", c]] {
        let loaded = read(&vertices);
        assert!(loaded.warnings.iter().any(|warning| warning == said), "{:?}", loaded.warnings);
        assert_eq!(colors(&loaded)[2], screen([0.0, 0.0, 1.0]));
    }
}

#[test]
fn they_stay_with_their_vertices_among_very_many_faces() {
    let vertices = "v 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 2 1 0 0 0 1\n";
    let faces = "f 3 1 2\nf -1 -2 -3\n".repeat(100_000);
    let loaded = Folder::new().read_text(format!("{vertices}{faces}"));
    assert_eq!(loaded.warnings, Vec::<String>::new());
    let expected = [TO_RED, TO_GREEN, [0.0, 0.0, 1.0]].map(screen);
    assert_eq!(colors(&loaded), expected);
}

#[test]
fn they_show_where_there_is_no_image_and_what_does_not_is_said() {
    let mtl = "newmtl plain\nKd 1 1 1\nnewmtl green\nKd 0 1 0\nd 0.5\nnewmtl image\nmap_Kd t.png\n\
               newmtl broken\nmap_Kd b.png\n";
    let folder = Folder::new().with("m.mtl", mtl).with("t.png", png(&TEXELS)).with("b.png", "no");
    let glass = [u16::MAX, u16::MAX, u16::MAX, 32768];
    let instead = "colours of vertices are shown instead of those of materials: 'green'";
    let image = "colours of vertices are not shown on materials with an image: 'image'";
    let broken = "a texture was replaced by a plain colour: 'b.png' (it is cut off)";
    for (name, color, is_textured, said) in [
        ("plain", WHITE, false, ""),
        ("green", glass, false, instead),
        ("image", WHITE, true, image),
        ("broken", WHITE, false, broken),
    ] {
        let text = "v 0 0 0 1 0 0\nv 1 0 0 1 0 0\nv 0 1 0 1 0 0\nvt 0 0\nmtllib m.mtl\nusemtl ";
        let loaded = folder.read_text(format!("{text}{name}\nf 1/1 2/1 3/1\n"));
        let material = only(&appearance(&loaded.mesh));
        assert_eq!((material.color, loaded.warnings.join("; ")), (color, said.to_owned()));
        assert_eq!(material.has_vertex_colors, !is_textured, "{name}");
        assert_eq!(material.texture.is_some(), is_textured, "{name}");
    }
}
