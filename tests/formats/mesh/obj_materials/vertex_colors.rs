//! Colours of vertices: `v x y z r g b`.

use trivox::formats::read_mesh;

use super::*;

/// A mesh of these vertices in one triangle, and of those that follow in others.
fn read(vertices: &[&str]) -> LoadedMesh {
    let lines: String = vertices.iter().map(|vertex| format!("v {vertex}\n")).collect();
    let faces: String =
        (3..=vertices.len()).map(|i| format!("f {} {} {i}\n", i - 2, i - 1)).collect();
    let folder = Folder::new().with("mesh.obj", lines + &faces);
    read_mesh(folder.path("mesh.obj")).unwrap()
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

fn clamped(vertices: usize) -> String {
    let have = if vertices == 1 { "vertex has" } else { "vertices have" };
    format!(
        "{vertices} {have} a colour with values outside their range: the nearest in it are used, \
         and 0 for NaN"
    )
}

#[test]
fn they_are_values_as_on_a_screen_up_to_1_or_255_and_clamped() {
    let of_255 = "colours of vertices exceed 1, and are read as 0 to 255".to_owned();
    let red = screen(TO_RED);
    for (vertices, expected, warnings) in [
        (
            ["0 0 0 1 0 0", "1 0 0 0.5 0.25 0.501961", "2 1 0 0 1 0.123456789"],
            [
                red,
                [linear(0.5), linear(0.25), linear_of(128), u16::MAX],
                screen([0.0, 1.0, 0.123456789]),
            ],
            vec![],
        ),
        (["0 0 0 1 -1 0", "1 0 0 1.5 0 0", "2 1 0 1.000001 0 0"], [red; 3], vec![clamped(2)]),
        (
            ["0 0 0 255 0 0", "1 0 0 1 1 128", "2 1 0 300 0 2.5"],
            [
                red,
                [linear_of(1), linear_of(1), linear_of(128), u16::MAX],
                [u16::MAX, 0, linear(2.5 / 255.0), u16::MAX],
            ],
            vec![of_255, clamped(1)],
        ),
    ] {
        let loaded = read(&vertices);
        assert_eq!((&loaded.warnings, colors(&loaded)), (&warnings, expected.to_vec()));
        let material = only(&appearance(&loaded.mesh));
        assert_eq!((material.color, material.has_vertex_colors), (WHITE, true));
    }
}

const SOME_MISSING: &str =
    "some vertices have no colour: their faces have the colour of the material";

#[test]
fn a_face_with_a_vertex_without_a_colour_has_that_of_the_material() {
    let [red, green] = ["1 0 0", "0 1 0"];
    let expected = |vertex| match vertex % 2 == 0 {
        true => screen(TO_RED),
        false => screen(TO_GREEN),
    };
    for which in 1..31 {
        let which: Vec<usize> = (0..5).filter(|vertex| which >> vertex & 1 == 1).collect();
        let vertex = |vertex: usize| match which.contains(&vertex) {
            true => format!("{vertex} {} 0 {}", vertex * vertex, [red, green][vertex % 2]),
            false => format!("{vertex} {} 0", vertex * vertex),
        };
        let vertices: Vec<String> = (0..5).map(vertex).collect();
        let vertices: Vec<&str> = vertices.iter().map(|vertex| &vertex[..]).collect();
        let loaded = read(&vertices);
        assert_eq!(loaded.warnings, [SOME_MISSING], "{which:?}");
        let colors = colors(&loaded);
        which.iter().for_each(|&vertex| assert_eq!(colors[vertex], expected(vertex), "{which:?}"));
        for first in 0..3 {
            let is_colored = (first..first + 3).all(|vertex| which.contains(&vertex));
            let material = appearance(&loaded.mesh).material(first).clone();
            assert_eq!(material.has_vertex_colors, is_colored, "{which:?}");
            assert_eq!(material.color, if is_colored { WHITE } else { PLAIN }, "{which:?}");
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
    let folder = folder.with("mesh.obj", mesh);
    let loaded = read_mesh(folder.path("mesh.obj")).unwrap();
    let said = "colours of vertices are shown instead of those of materials: 'Red'";
    assert_eq!(loaded.warnings, [SOME_MISSING, said]);
    let look = appearance(&loaded.mesh);
    let [plain, colored] = [0, 1].map(|triangle| look.material(triangle));
    let [r, g, b, _] = screen([0.8, 0.1, 0.1]);
    assert_eq!((plain.color, plain.has_vertex_colors), ([r, g, b, 32768], false));
    assert_eq!((colored.color[3], colored.has_vertex_colors), (32768, true));
}

/// As ZBrush writes them, also where the text is parsed in parts.
#[test]
fn comments_of_zbrush_are_colours_of_all_vertices_or_of_none() {
    let read = |vertices: usize, colors: &str, face: &str| {
        let vertices = "v 0 0 0\nv 1 0 0\nv 2 1 0\n".repeat(vertices / 3);
        let header = "#The following MRGB block contains colours\n";
        let folder = Folder::new().with("mesh.obj", format!("{vertices}{header}{colors}{face}"));
        read_mesh(folder.path("mesh.obj")).unwrap()
    };
    let face = "# End of MRGB block\nf -3 -2 -1\n";
    let block = "#MRGB ffff0000ff00ff00\n#MRGB 000000FF\n";
    let loaded = read(3, block, face);
    assert_eq!(loaded.warnings, Vec::<String>::new());
    let expected = [screen(TO_RED), screen(TO_GREEN), screen([0.0, 0.0, 1.0])];
    assert_eq!(colors(&loaded), expected);
    let many = read(300_000, &block.repeat(100_000), face);
    let looks = appearance(&many.mesh);
    assert!(looks.vertex_colors.iter().all(|color| expected.contains(color)));
    assert_eq!(many.warnings, Vec::<String>::new());
    for (colors, count) in [("#MRGB ffff0000\n", 1), ("#MRGB ffff0000ff00ff0x000000ff\n", 2)] {
        let loaded = read(3, colors, face);
        let said = format!("colours (#MRGB) are of {count} vertices, not of 3, and are not shown");
        assert_eq!((loaded.warnings, loaded.mesh.appearance()), (vec![said], None));
    }
    let own = "v 0 0 0 0 0 1\nv 1 0 0 0 0 1\nv 2 1 0 0 0 1\n#MRGB ffff0000\n";
    assert_eq!(colors(&read(0, own, face))[0], screen([0.0, 0.0, 1.0]));
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
    let coloured = ["0 0 0 1 0 0 0.5", "1 0 0 0 1 0 1", "2 1 0 0 0 1 0"];
    let said = "the seventh numbers of vertices are taken for opacities, and not used";
    for first in 0..3 {
        let mut vertices = coloured;
        vertices[..first].iter_mut().zip(["0 0 0", "1 0 0"]).for_each(|(to, from)| *to = from);
        let loaded = read(&vertices);
        assert!(loaded.warnings.iter().any(|warning| warning == said), "{:?}", loaded.warnings);
        assert_eq!(colors(&loaded)[2], screen([0.0, 0.0, 1.0]));
    }
}

#[test]
fn they_stay_with_their_vertices_among_very_many_faces() {
    let vertices = ["0 0 0 1 0 0", "1 0 0 0 1 0", "2 1 0 0 0 1"];
    let lines: String = vertices.iter().map(|vertex| format!("v {vertex}\n")).collect();
    let faces = "f 3 1 2\nf -1 -2 -3\n".repeat(100_000);
    let folder = Folder::new().with("mesh.obj", lines + &faces);
    let loaded = read_mesh(folder.path("mesh.obj")).unwrap();
    assert_eq!(loaded.warnings, Vec::<String>::new());
    let mesh = loaded.mesh;
    let appearance = mesh.appearance().unwrap();
    assert_eq!(mesh.positions().len(), 3);
    for (position, color) in mesh.positions().iter().zip(&appearance.vertex_colors) {
        let mut expected = [0, 0, 0, u16::MAX];
        expected[position[0] as usize] = u16::MAX;
        assert_eq!(*color, expected);
    }
}

#[test]
fn they_show_where_there_is_no_image_and_what_does_not_is_said() {
    let text = "v 0 0 0 1 0 0\nv 1 0 0 1 0 0\nv 0 1 0 1 0 0\nvt 0 0\nmtllib m.mtl\n";
    let mtl = "newmtl plain\nKd 1 1 1\nnewmtl green\nKd 0 1 0\nd 0.5\nnewmtl image\nmap_Kd t.png\n\
               newmtl broken\nmap_Kd b.png\n";
    let folder = Folder::new().with("m.mtl", mtl).with("t.png", png(&TEXELS)).with("b.png", "no");
    let read = |faces: &str| {
        std::fs::write(folder.path("mesh.obj"), format!("{text}{faces}")).unwrap();
        let loaded = read_mesh(folder.path("mesh.obj")).unwrap();
        let material = only(&appearance(&loaded.mesh));
        (material.color, material.has_vertex_colors, material.texture.is_some(), loaded.warnings)
    };
    let face = "f 1/1 2/1 3/1\n";
    assert_eq!(read(&format!("usemtl plain\n{face}")), (WHITE, true, false, vec![]));
    let glass = [u16::MAX, u16::MAX, u16::MAX, 32768];
    let said = "colours of vertices are shown instead of those of materials: 'green'".to_owned();
    assert_eq!(read(&format!("usemtl green\n{face}")), (glass, true, false, vec![said]));
    let said = "colours of vertices are not shown on materials with an image: 'image'".to_owned();
    assert_eq!(read(&format!("usemtl image\n{face}")), (WHITE, false, true, vec![said]));
    let (color, shows, is_textured, _) = read(&format!("usemtl broken\n{face}"));
    assert_eq!((color, shows, is_textured), (WHITE, true, false));
}
