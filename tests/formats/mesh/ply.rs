//! PLY: text and binary.

use super::*;

pub(crate) fn read(bytes: impl AsRef<[u8]>) -> Result<LoadedMesh, ReadError> {
    read_as("ply", bytes, &ReadOptions::default())
}

/// With colours, an element of its own, and more properties than are read.
pub(crate) const TEXT: &str = "ply\nformat ascii 1.0\ncomment caf\u{e9}\nobj_info none\n\
    element vertex 5\nproperty float x\nproperty list uchar short extra\nproperty double z\n\
    property float32 y\nproperty uchar red\n\
    element note 2\nproperty char a\nproperty list uint8 float b\n\
    element face 2\nproperty uchar flag\nproperty list uchar int vertex_indices\n\
    element edge 1\nproperty int vertex1\nproperty int vertex2\nend_header\n\
    0 0 0 0 255\n1 1 7 0 0 255\n1 2 7 8 0 1 255\n0 0 0 1 255\n.5 0 0 .75 255\n\
    1 0\n2 2 1.5 2.5\n\
    9 5 0 1 2 4 3\n9 3 0 1 2\n\
    0 1\n";

/// The types of the numbers of [`TEXT`], line by line.
const TYPES: &str = "f4 u1 f8 f4 u1, f4 u1 i2 f8 f4 u1, f4 u1 i2 i2 f8 f4 u1, f4 u1 f8 f4 u1,
    f4 u1 f8 f4 u1, i1 u1, i1 u1 f4 f4, u1 u1 i4 i4 i4 i4 i4, u1 u1 i4 i4 i4, i4 i4";

/// What the above would be in bytes.
pub(crate) fn binary(is_big: bool) -> Vec<u8> {
    let (header, records) = TEXT.split_once("end_header\n").unwrap();
    let order = if is_big { "binary_big_endian" } else { "binary_little_endian" };
    let mut bytes = format!("{}end_header\n", header.replace("ascii", order)).into_bytes();
    let types = TYPES.split([' ', ',', '\n']).filter(|kind| !kind.is_empty());
    for (number, kind) in records.split_whitespace().zip(types) {
        let number: f64 = number.parse().unwrap();
        let mut number = match kind {
            "u1" | "i1" => vec![number as u8],
            "i2" => (number as i16).to_le_bytes().to_vec(),
            "i4" => (number as i32).to_le_bytes().to_vec(),
            "f4" => (number as f32).to_le_bytes().to_vec(),
            _ => number.to_le_bytes().to_vec(),
        };
        if is_big {
            number.reverse();
        }
        bytes.extend(number);
    }
    bytes
}

/// A header of elements, each with its number and its properties.
fn header(format: &str, comments: &str, elements: &[(&str, usize, &str)]) -> String {
    let mut header = format!("ply\nformat {format} 1.0\n{comments}");
    for (element, number, properties) in elements {
        header += &format!("element {element} {number}\n");
        for property in properties.split(", ").filter(|property| !property.is_empty()) {
            header += &format!("property {property}\n");
        }
    }
    header + "end_header\n"
}

const XYZ: &str = "float x, float y, float z";
const CORNERS: &str = "list uchar int vertex_index";
const SQUARE: &str = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n";

/// A file with the square's corners, then `rest`.
fn with_square(faces: usize, rest: &str) -> String {
    header("ascii", "", &[("vertex", 4, XYZ), ("face", faces, CORNERS)]) + SQUARE + rest
}

#[test]
fn text_and_binary_of_either_order_are_the_same_mesh() {
    let text = read(TEXT).unwrap();
    assert_eq!(text.mesh.positions()[..4], [A, B, C, D]);
    assert_eq!(text.mesh.triangles().len(), 4);
    let of_red = "colours of the element 'vertex' were ignored: they need red, green and blue";
    assert_eq!(text.warnings, [of_red, "1 point or line was skipped: no surface"]);
    for is_big in [false, true] {
        let bytes = binary(is_big);
        let loaded = read(&bytes).unwrap();
        assert_eq!((loaded.mesh, loaded.warnings), (text.mesh.clone(), text.warnings.clone()));
    }
}

#[test]
fn polygons_of_any_shape_are_covered() {
    let bow_tie = with_square(1, "4 0 2 1 3\n");
    assert!(warnings(read(bow_tie))[0].starts_with("1 polygon crosses itself"));
    // With a fan, the notch at the last corner would be filled.
    let notched = obj::area_of(&corners(&read(TEXT).unwrap().mesh)[..3]);
    assert_eq!(notched, 1.0 - 0.125);
}

#[test]
fn line_ends_do_not_matter() {
    let text = with_square(1, "\n3 0 1 2");
    for ending in ["\n", "\r\n", "\r"] {
        assert_eq!(triangles(read(text.replace('\n', ending))), [[A, B, C]], "{ending:?}");
    }
    let expected = read(binary(false)).unwrap().mesh;
    let start = binary(false).windows(11).position(|w| w == b"end_header\n").unwrap() + 11;
    for ending in ["\r\n", "\r"] {
        let header = String::from_utf8(binary(false)[..start].to_vec()).unwrap();
        let mut bytes = header.replace('\n', ending).into_bytes();
        bytes.extend(&binary(false)[start..]);
        assert_eq!(read(&bytes).unwrap().mesh, expected, "{ending:?}");
    }
}

#[test]
fn line_ends_are_white_space_where_records_are_no_lines() {
    let (header, records) = TEXT.split_once("end_header\n").unwrap();
    let corners = |text: &str| corners(&read(text).unwrap().mesh);
    let [one, each] =
        [" ", "\n"].map(|end| records.split_whitespace().collect::<Vec<_>>().join(end));
    for records in [&one, &each] {
        let text = format!("{header}end_header\n{records}");
        assert_eq!(corners(&text), corners(TEXT), "{text}");
        let longer = fault(read(format!("{text} 1")));
        let is_said = ["fewer numbers in the line", "ends"].iter().any(|why| longer.contains(why));
        assert!(is_said, "{longer}");
    }
}

#[test]
fn files_are_these_triangles() {
    let quad = with_square(1, "4 0 1 2 3\n \n\n");
    let before = header("ascii", "", &[("face", 1, CORNERS), ("vertex", 4, XYZ)]);
    let strips = with_square(1, "9 0 1 3 2 -1 0 1 -1 2\n").replace("face", "tristrips");
    let nothing = "element nothing 18446744073709551615\nelement face";
    let square = [[A, B, C], [A, C, D]];
    for (claim, text, expected) in [
        ("quads are two triangles", quad.clone(), square),
        ("faces may come before vertices", before + "4 0 1 2 3\n" + SQUARE, square),
        ("strips face one way", strips, [[A, B, D], [B, C, D]]),
        ("elements without properties take no time", quad.replace("element face", nothing), square),
        ("types have another name", quad.replace("float", "float32"), square),
        ("indices of 4 bytes", quad.replace("int", "uint32"), square),
        ("indices of 1 byte", quad.replace("int", "int8"), square),
        ("counts of 2 bytes", quad.replace("uchar", "ushort"), square),
    ] {
        assert_eq!(triangles(read(text)), expected, "{claim}");
    }
    let precise = with_square(1, "3 0 1 2\n").replace("1 1 0", "1234567.0000001 1 0");
    assert_eq!(triangles(read(precise))[0][2][0], 1_234_567.000_000_1);
}

#[test]
fn bad_records_of_binary_files_are_named_by_place() {
    let mut bytes = binary(false);
    let at = bytes.len() - 12;
    bytes[at] = 100;
    let said = fault(read(&bytes));
    assert!(said.starts_with("'face' 1 (counted from 0), before byte "), "{said}");
    let end = "vertex index 100 is out of range: there are 5, counted from 0";
    assert!(said.ends_with(end), "{said}");
}

/// Changes of a triangle among the square's corners, `\\n` for line ends, and why they are refused.
const BAD_FILES: &str = "
3 0 1 2 => 3 0 1 4 | {face}: vertex index 4 is out of range: there are 4, counted from 0
3 0 1 2 => 3 0 1 -1 | {face}: vertex index -1 is out of range: there are 4, counted from 0
3 0 1 2 => 3 0 1 4 5\\n3 0 1 2 | {face}: vertex index 4 is out of range: there are 4, counted from 0
3 0 1 2 => 4 0 1 2 9 | {face}: vertex index 9 is out of range: there are 4, counted from 0
3 0 1 2 => 3 0 1 1.5 | {face}: '1.5' is not a number of the type that the header declares
3 0 1 2 => 3 0 1 x | {face}: 'x' is not a number of the type that the header declares
3 0 1 2 => -3 0 1 2 | {face}: '-3' is not a number of the type that the header declares
3 0 1 2 => 3 0 1\\n2 9 | {face}: fewer numbers in the line than the header declares
3 0 1 2\\n => 3 0 1 | {face}: the file ends: it is cut off
1 1 0 => 1 nan 0 | vertex 2 has the coordinate NaN, which is not a finite number
3 0 1 2 => 2 0 1 | no faces found, only 1 point or line: nothing to voxelize
face 1 => face 0
    no faces found, only 4 points: reconstruct the surface of a point cloud first
element face 1\\nproperty list uchar int vertex_index\\n =>
    no faces found, only 4 points: reconstruct the surface of a point cloud first
ply => PLX | not a PLY file: it does not begin with 'ply'
end_header => end | line 14: the file ends without a line 'end_header': it is cut off
ascii => utf8
    line 2: the format 'utf8' is unknown: use ascii, binary_little_endian or binary_big_endian
ascii 1.0 => ascii 2.0 | line 2: the version '2.0' of PLY is unknown: save it as 1.0
format ascii 1.0\\n => comment\\n
    the header does not say how the file is written: add a line such as 'format ascii 1.0'
vertex 4 => vertex -4 | line 3: '-4' where the number of the element's records belongs
vertex 4 => vertex | line 3: '' where the number of the element's records belongs
vertex 4 => vertex 4000000000
    the header says that there are 4,000,000,000 records of the element 'vertex', but the file is
    too short for that: it is cut off, or the header is wrong
face 1 => face 99999999999
    the header says that there are 99,999,999,999 records of the element 'face', but the file is
    too short for that: it is cut off, or the header is wrong
float x => flat x | line 4: 'flat' is no type of PLY, such as float or uchar
uchar int => uchar | line 8: 'vertex_index' is no type of PLY, such as float or uchar
float x => float | line 4: a property without a name
element vertex 4\\n => comment\\n | line 4: a property before the first element
float z => float w | the element 'vertex' has no property 'z'
vertex_index => corners | the element 'face' has no property list 'vertex_indices'
element face => elements face | line 7: 'elements' is no keyword of a PLY header
end_header => element vertex 0\\nproperty int x\\nproperty int y\\nproperty int z\\nend_header
    the header declares the element 'vertex' twice: remove one
";

#[test]
fn bad_files_are_refused_with_the_reason_and_the_place() {
    let text = with_square(1, "3 0 1 2\n");
    for (changed, expected) in changes(&text, BAD_FILES) {
        let expected = expected.replace("{face}", "line 14: 'face' 0 (counted from 0)");
        assert_eq!(fault(read(&changed)), expected, "{changed}");
    }
    let nothing = "ply\nformat ascii 1.0\nend_header\n";
    assert_eq!(fault(read(nothing)), "no faces found: is this a PLY mesh?");
}

#[test]
fn what_is_skipped_is_a_warning() {
    let unknown = with_square(1, "3 0 1 2\n").replace("element face", "made_by x 1\nelement face");
    let after = with_square(1, "3 0 1 2\n3 0 1 2\n");
    let longer = with_square(2, "3 0 1 2 3 0 1 2\n3 0 2 3 9\n");
    for (text, expected, said) in [
        (unknown, &[[A, B, C]][..], "header lines were skipped: 'made_by' are not PLY keywords"),
        (after, &[[A, B, C]], "8 bytes after the last element were skipped"),
        (
            longer,
            &[[A, B, C], [A, C, D]],
            "2 lines have more numbers than the header declares: they were skipped",
        ),
    ] {
        assert_eq!(corners(&warned(read(text), said)), expected);
    }
    let said = warnings(read([&binary(true)[..], &[0]].concat()));
    assert_eq!(said.last().unwrap(), "1 byte after the last element were skipped");
}

/// The square, with what `properties` declare after its corners' positions and its faces' corners.
fn painted_square(
    comments: &str,
    [vertex, face]: [&str; 2],
    corners: [&str; 4],
    faces: &[&str],
) -> String {
    let [vertex, face] = [format!("{XYZ}, {vertex}"), format!("{CORNERS}, {face}")];
    let elements = [("vertex", 4, &vertex[..]), ("face", faces.len(), &face)];
    let vertices = SQUARE.lines().zip(corners).map(|(place, more)| format!("{place} {more}\n"));
    let records = vertices.collect::<String>() + &faces.join("\n") + "\n";
    header("ascii", comments, &elements) + &records
}

/// Of vertices and faces, with a texture named.
pub(crate) const COLORED: &str = "ply\nformat ascii 1.0\ncomment TextureFile none.png\n\
    element vertex 3\nproperty float x\nproperty float y\nproperty float z\nproperty float red\n\
    property float green\nproperty float blue\nproperty uchar alpha\nelement face 1\n\
    property list uchar int vertex_indices\nproperty list uchar float texcoord\n\
    property int texnumber\nproperty uchar red\nproperty uchar green\nproperty uchar blue\n\
    end_header\n0 0 0 1 .5 0 255\n1 0 0 0 0 0 0\n1 1 0 1 1 1 255\n3 0 1 2 6 0 0 1 0 1 1 0 1 2 3\n";

const COLORS: &str = "uchar red, uchar green, uchar blue";

fn vertex_colors(properties: &str, corners: [&str; 4]) -> (Vec<Rgba>, Alpha) {
    let file = painted_square("", [properties, ""], corners, &["4 0 1 2 3"]);
    let look = look(read(file));
    assert!(look.materials[0].has_vertex_colors && look.material_of.is_empty());
    let colors = look.vertex_colors.iter().map(|&color| rgba_of(color)).collect();
    (colors, look.materials[0].alpha)
}

#[test]
fn colours_of_vertices_are_display_values_of_any_type_and_by_any_name() {
    let expected = (vec![RED, GREEN, BLUE, [255, 128, 0, 255]], Alpha::Opaque);
    let bytes = ["255 0 0", "0 255 0", "0 0 255", "255 128 0"];
    let shorts = ["65535 0 0", "0 65535 0", "0 0 65535", "65535 32896 0"];
    let floats = ["1 0 0", "0 1 0", "0 0 1", "1 0.50196 0"];
    for (kinds, corners) in [
        (&["uchar", "uint8", "int", "float", "double"][..], bytes),
        (&["ushort", "uint", "float"], shorts),
        (&["float", "double"], floats),
    ] {
        for kind in kinds {
            for names in ["red green blue", "r g b", "diffuse_red diffuse_green diffuse_blue"] {
                let names: Vec<_> = names.split(' ').map(|name| format!("{kind} {name}")).collect();
                let found = vertex_colors(&names.join(", "), corners);
                assert_eq!(found, expected, "{names:?}");
            }
        }
    }
    // In linear light, not as they are written.
    let faces = ["3 0 1 2"];
    let file = painted_square("", [COLORS, ""], ["188 0 255"; 4], &faces);
    let half = look(read(file)).vertex_colors[0];
    assert_eq!(half, [linear_of(188), 0, 65535, 65535]);
    assert!(half[0].abs_diff(32768) < 300);
    // Light beyond that of a display.
    let floats = "float red, float green, float blue";
    let file = painted_square("", [floats, ""], ["1.5 0 0", "1 0 nan", "1 0 0", "1 0 0"], &faces);
    let said = "2 vertices have a colour with values outside their range: the nearest in it are \
                used, and 0 for NaN";
    let bright = warned(read(file), said);
    assert_eq!(bright.appearance().unwrap().vertex_colors, [linear_of_rgba(RED); 4]);
    let file = painted_square("", ["", floats], [""; 4], &["4 0 1 2 3 1 -1 0"]);
    let bright = warned(read(file), &said.replace("2 vertices have", "1 face has"));
    assert_eq!(plain(bright.appearance().unwrap(), 2), [RED; 2]);
}

#[test]
fn colours_are_read_in_binary_files_and_before_other_properties() {
    let vertex = format!("{COLORS}, ushort alpha, uchar x, uchar y, uchar z");
    let elements = [("face", 1, "list uchar uchar vertex_indices"), ("vertex", 3, &vertex)];
    for (order, [high, low]) in [("big", [0x80, 0]), ("little", [0, 0x80])] {
        let format = format!("binary_{order}_endian");
        let mut bytes = header(&format, "", &elements).into_bytes();
        bytes.extend([3, 0, 1, 2]);
        for [x, y] in [[0, 0], [1, 0], [1, 1]] {
            bytes.extend([255, 0, 0, high, low, x, y, 0]);
        }
        let look = look(read(&bytes));
        assert_eq!(look.vertex_colors, [[65535, 0, 0, 0x8000]; 3]);
        assert_eq!(look.materials[0].alpha, Alpha::Blend);
    }
}

#[test]
fn opacity_counts_unless_nothing_could_be_seen() {
    let with_alpha = &format!("{COLORS}, uchar alpha");
    assert_eq!(vertex_colors(with_alpha, ["1 2 3 255"; 4]).1, Alpha::Opaque);
    let corners = ["1 2 3 255", "1 2 3 0", "1 2 3 128", "1 2 3 255"];
    let (colors, alpha) = vertex_colors(with_alpha, corners);
    assert_eq!((colors[2], alpha), ([1, 2, 3, 128], Alpha::Blend));
    let faces = ["3 0 1 2 0 0 255 128", "3 0 1 3 0 0 255 255"];
    let glass = look(read(painted_square("", ["", with_alpha], [""; 4], &faces)));
    assert_eq!(plain(&glass, 2), [[0, 0, 255, 128], BLUE]);
    assert_eq!([0, 1].map(|i| glass.material(i).alpha), [Alpha::Blend, Alpha::Opaque]);
    for (properties, corner, face, of) in [
        ([with_alpha, ""], "1 2 3 0", "3 0 1 2", "vertices"),
        (["", with_alpha], "", "3 0 1 2 0 0 1 0", "faces"),
    ] {
        let said = format!("opacity was ignored, as all would be transparent: that of {of}");
        let mesh = warned(read(painted_square("", properties, [corner; 4], &[face])), &said);
        assert_eq!(mesh.appearance().unwrap().material(0).alpha, Alpha::Opaque);
    }
}

/// The colours of the triangles, if all is plain.
fn plain(look: &Appearance, triangles: usize) -> Vec<Rgba> {
    assert!(look.textures.is_empty() && look.vertex_colors.is_empty() && look.uvs.is_empty());
    (0..triangles).map(|triangle| rgba_of(look.material(triangle).color)).collect()
}

#[test]
fn colours_of_faces_are_materials() {
    let faces = ["4 0 1 2 3 255 0 0", "3 0 1 2 0 0 255", "3 1 2 3 255 0 0"];
    let look = look(read(painted_square("", ["", COLORS], [""; 4], &faces)));
    assert_eq!(plain(&look, 4), [RED, RED, BLUE, RED]);
    // That of what has no colour, and two.
    assert_eq!(look.materials.len(), 3);
    let both = painted_square("", [COLORS, COLORS], ["0 255 0"; 4], &faces);
    let mesh = warned(read(both), "colours of faces were ignored: those of vertices are shown");
    assert_eq!(mesh.appearance().unwrap().vertex_colors, [linear_of_rgba(GREEN); 4]);
}

#[test]
fn zeros_are_no_colour_in_files_of_blender_only() {
    let properties = [&format!("{COLORS}, uchar alpha"), ""];
    let corners = ["9 9 9 255", "9 9 9 255", "9 9 9 255", "0 0 0 0"];
    let zeros = "1 triangle has no colour (0 0 0 0 in files of Blender): shown in white";
    for (comment, said, expected) in [
        ("comment Created in Blender version 5.0.1\n", zeros, (false, Alpha::Opaque)),
        ("comment Created by hand\n", "", (true, Alpha::Blend)),
    ] {
        let file = painted_square(comment, properties, corners, &["3 0 1 2", "3 0 2 3"]);
        let loaded = read(file).unwrap();
        assert_eq!(loaded.warnings.join("; "), said);
        let look = loaded.mesh.appearance().unwrap();
        let [colored, without] = [0, 1].map(|triangle| look.material(triangle));
        assert!(colored.has_vertex_colors);
        assert_eq!((without.has_vertex_colors, without.alpha), expected);
        assert_eq!(rgba_of(look.vertex_colors[0]), [9, 9, 9, 255]);
    }
}

#[test]
fn more_colours_of_faces_than_65536_are_rounded_and_a_warning() {
    let color = |i: u32| format!("3 0 1 2 {} {} {}", i >> 16, i >> 8 & 255, i & 255);
    let faces: Vec<String> = (0..65_537).map(color).collect();
    let mut faces: Vec<&str> = faces.iter().map(|face| &face[..]).collect();
    let exact = look(read(painted_square("", ["", COLORS], [""; 4], &faces[..65_536])));
    assert_eq!(rgba_of(exact.material(0x1234).color), [0, 0x12, 0x34, 255]);
    faces.push("3 0 1 2 200 100 50");
    let said = "faces have more than 65536 colours: the others were rounded to 16 steps a channel";
    let mesh = warned(read(painted_square("", ["", COLORS], [""; 4], &faces)), said);
    let last = mesh.appearance().unwrap().material(65_537).color;
    assert_eq!(rgba_of(last), [204, 102, 51, 255]);
}

const TEXCOORDS: &str = "list uchar float texcoord, int texnumber";
const GLASS: &str = "comment TextureFile glass.png\n";

/// Reads a file in a folder with two textures.
fn beside_textures(file: &str) -> Result<LoadedMesh, ReadError> {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("Maps")).unwrap();
    fs::write(path("Maps/A red One.png"), png([1, 1], &[RED])).unwrap();
    fs::write(path("glass.png"), png([2, 1], &[GREEN, [0; 4]])).unwrap();
    fs::write(path("square.ply"), file).unwrap();
    read_mesh(path("square.ply"))
}

#[test]
fn textures_lie_on_the_corners_of_faces_with_v_up() {
    let header = "comment TextureFile maps\\a RED one.PNG\ncomment made by hand\n\
                  comment TextureFile  C:\\me\\glass.png \ncomment TextureFile GLASS.png\n";
    let faces = ["4 0 1 2 3 8 0 0 1 0 1 .75 0 1 1", "3 0 1 2 6 0 0 .5 0 1 1 0", "3 0 1 2 0 -1"];
    let file = painted_square(header, ["", TEXCOORDS], [""; 4], &faces);
    let look = look(beside_textures(&file));
    let [a, b, c, d] = [[0.0, 1.0], [1.0, 1.0], [1.0, 0.25], [0.0, 0.0]];
    let [none, half, corner] = [[0.0; 2], [0.5, 1.0], [1.0, 0.0]];
    assert_eq!(look.uvs, [[a, b, c], [a, c, d], [a, half, corner], [none; 3]]);
    let painting = |triangle: usize| look.material(triangle).texture.map(|of| of.texture);
    assert_eq!([0, 1, 2, 3].map(painting), [Some(1), Some(1), Some(0), None]);
    assert_eq!([0, 2].map(|i| look.material(i).alpha), [Alpha::Blend, Alpha::Opaque]);
    assert_eq!((look.textures.len(), look.textures[1].texels()), (2, &[GREEN, [0, 0, 0, 0]][..]));
}

#[test]
fn corners_that_are_cut_keep_their_place_on_the_texture() {
    // Not convex: the cut is not a fan.
    let face = "list uchar float texcoord, list uchar int vertex_indices";
    let elements = [("vertex", 5, XYZ), ("face", 1, face)];
    let text = header("ascii", GLASS, &elements)
        + "0 0 0\n.5 .75 0\n0 1 0\n1 1 0\n1 0 0\n10 0 1 .5 .25 0 0 1 0 1 1 5 0 1 2 3 4\n";
    let loaded = beside_textures(&text).unwrap();
    let uvs = &loaded.mesh.appearance().unwrap().uvs;
    for (triangle, uvs) in corners(&loaded.mesh).iter().zip(uvs) {
        assert_eq!(triangle.map(|[x, y, _]| [x as f32, y as f32]), *uvs);
    }
    assert_eq!(uvs.len(), 3);
}

#[test]
fn textures_lie_on_vertices_by_any_name() {
    let corners = ["0 0", "1 0", "1 1", "0 .75"];
    let [a, b, c, d] = [[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.25]];
    for names in [["s", "t"], ["u", "v"], ["texture_u", "texture_v"]] {
        let properties = names.map(|name| format!("float {name}")).join(", ");
        let faces = painted_square(GLASS, [&properties, ""], corners, &["4 0 1 2 3"]);
        let strip = faces.replace("element face", "element tristrips");
        for (file, expected) in [(faces, [[a, b, c], [a, c, d]]), (strip, [[a, b, c], [b, d, c]])] {
            let look = look(beside_textures(&file));
            assert_eq!(look.uvs, expected, "{names:?}");
            assert!(look.material(1).texture.is_some());
        }
    }
}

#[test]
fn a_texture_without_coordinates_of_a_known_name_is_a_warning() {
    let properties = ["float texcoord_x, float texcoord_y", ""];
    let file = painted_square(GLASS, properties, ["0 0"; 4], &["4 0 1 2 3"]);
    let said = warnings(beside_textures(&file)).join("\n");
    assert!(said.starts_with("the texture 'glass.png' is not shown: no texture coord"), "{said}");
}

#[test]
fn colours_of_signed_bytes_are_unsigned() {
    let vertex = "char x, char y, char z, char red, char green, char blue";
    let elements = [("vertex", 3, vertex), ("face", 1, CORNERS)];
    let mut file = header("binary_little_endian", "", &elements).into_bytes();
    for [x, y] in [[0, 0], [1, 0], [0, 1]] {
        file.extend([x, y, 255, 255, 200, 100]);
    }
    file.extend([3, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]);
    let loaded = read(&file).unwrap();
    assert_eq!(loaded.mesh.positions()[0], [0.0, 0.0, -1.0]);
    let look = loaded.mesh.appearance().unwrap();
    assert_eq!(rgba_of(look.vertex_colors[0]), [255, 200, 100, 255]);
}

#[test]
fn textures_that_cannot_be_read_are_plain_and_a_warning_by_name() {
    let header = "comment TextureFile none.png\ncomment TextureFile square.ply\n\
                  comment TextureFile Maps\ncomment TextureFile glass.png\n";
    let faces = ["3 0 1 2 6 0 0 1 0 1 1 0", "3 0 1 2 6 0 0 1 0 1 1 3"];
    let file = painted_square(header, ["", TEXCOORDS], [""; 4], &faces);
    let loaded = beside_textures(&file).unwrap();
    let expected = "3 textures were replaced by plain colours: 'none.png' (there is no such file \
                    beside the model), 'Maps' (there is no such file beside the model), \
                    'square.ply' (files of this kind are not read; save it as PNG or JPEG)";
    assert_eq!(loaded.warnings, [expected]);
    let look = loaded.mesh.appearance().unwrap();
    assert_eq!([0, 1].map(|i| look.material(i).texture.is_some()), [false, true]);
    let alone = file.replace("glass", "other").replace("\ncomment TextureFile square.ply", "");
    let loaded = beside_textures(&alone).unwrap();
    assert_eq!(loaded.mesh.appearance(), None);
    let said = "3 textures were replaced by plain colours: 'none.png' (";
    assert!(loaded.warnings[0].starts_with(said));
}

/// A triangle with the texture `large.png`.
pub(crate) fn large() -> String {
    let faces = ["3 0 1 2 6 0 0 1 0 1 1 0"];
    painted_square("comment TextureFile large.png\n", ["", TEXCOORDS], [""; 4], &faces)
}

#[test]
fn what_does_not_fit_of_a_texture_is_a_warning() {
    let said = |comments: &str, vertex: &str, corner: &str, faces: &[&str]| {
        let file = painted_square(comments, [vertex, TEXCOORDS], [corner; 4], faces);
        warnings(beside_textures(&file)).join("; ")
    };
    let faces = ["3 0 1 2 6 0 0 1 0 1 1 7", "4 0 1 2 3 6 0 0 1 0 1 1 0"];
    let expected = "2 faces have a texture that the header does not name, or not two coordinates a \
                    corner: a plain colour is shown";
    assert_eq!(said(GLASS, "", "", &faces), expected);
    let expected =
        "1 triangle has texture coordinates that are not finite: shown in a plain colour";
    assert_eq!(said(GLASS, "", "", &["3 0 1 2 6 0 0 nan 0 1 1 0"]), expected);
    let textured = ["3 0 1 2 6 0 0 1 0 1 1 0", "3 0 1 2 0 -1"];
    let expected = "colours of vertices were ignored where there is a texture";
    assert_eq!(said(GLASS, COLORS, "1 2 3", &textured), expected);
    let expected = "texture coordinates were ignored: add a line such as 'comment TextureFile \
                    image.png' to the header";
    assert_eq!(said("", "", "", &textured), expected);
}

#[test]
fn faces_without_a_texture_have_the_colours_of_vertices() {
    let faces = ["3 0 1 2 6 0 0 1 0 1 1 0", "3 0 1 2 0 -1"];
    let file = painted_square(GLASS, [COLORS, TEXCOORDS], ["0 0 255"; 4], &faces);
    let loaded = beside_textures(&file).unwrap();
    let look = loaded.mesh.appearance().unwrap();
    assert_eq!([0, 1].map(|i| look.material(i).has_vertex_colors), [false, true]);
    assert_eq!(look.vertex_colors, [linear_of_rgba(BLUE); 4]);
}
