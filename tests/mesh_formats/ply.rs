//! PLY: text and binary.

use std::path::Path;

use trivox::formats::ply::read as read_beside;
use trivox::formats::{Loaded, ReadError};

use super::{A, B, C, D, corners, fault, triangles, warnings};

pub(crate) fn read(bytes: &[u8]) -> Result<Loaded, ReadError> {
    read_beside(bytes, Path::new("mesh.ply"))
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

/// What the above would be in bytes.
pub(crate) fn binary(is_big: bool) -> Vec<u8> {
    let (header, body) = TEXT.split_once("end_header\n").unwrap();
    let order = if is_big { "binary_big_endian" } else { "binary_little_endian" };
    let mut bytes = format!("{}end_header\n", header.replace("ascii", order)).into_bytes();
    let types: [&[&str]; 4] =
        [&["f4", "u1", "f8", "f4", "u1"], &["i1", "u1"], &["u1", "u1"], &["i4", "i4"]];
    let elements = [(0, 5), (1, 2), (2, 2), (3, 1)];
    let item = ["i2", "f4", "i4", ""];
    let mut lines = body.lines();
    let put = |bytes: &mut Vec<u8>, kind: &str, number: f64| {
        let mut number = match kind {
            "u1" => vec![number as u8],
            "i1" => vec![number as i8 as u8],
            "i2" => (number as i16).to_le_bytes().to_vec(),
            "i4" => (number as i32).to_le_bytes().to_vec(),
            "f4" => (number as f32).to_le_bytes().to_vec(),
            _ => number.to_le_bytes().to_vec(),
        };
        if is_big {
            number.reverse();
        }
        bytes.extend(number);
    };
    for (element, count) in elements {
        for line in lines.by_ref().take(count) {
            let mut numbers = line.split(' ').map(|n| n.parse::<f64>().unwrap());
            for (at, kind) in types[element].iter().enumerate() {
                let number = numbers.next().unwrap();
                put(&mut bytes, kind, number);
                // In each element but the last, the second property is a list.
                if at == 1 && element < 3 {
                    (0..number as usize)
                        .for_each(|_| put(&mut bytes, item[element], numbers.next().unwrap()));
                }
            }
            assert_eq!(numbers.next(), None, "{line}");
        }
    }
    bytes
}

/// A file with the square's corners, then `rest`.
fn with_square(faces: usize, rest: &str) -> String {
    format!(
        "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\n\
         property float z\nelement face {faces}\nproperty list uchar int vertex_index\nend_header\n\
         0 0 0\n1 0 0\n1 1 0\n0 1 0\n{rest}"
    )
}

#[test]
fn text_and_binary_of_either_order_are_the_same_mesh() {
    let text = read(TEXT.as_bytes()).unwrap();
    assert_eq!(text.mesh.positions()[..4], [A, B, C, D]);
    assert_eq!(text.mesh.triangles().len(), 4);
    let expected =
        ["1 point or line was skipped: no surface", "colours and textures are not used yet"];
    assert_eq!(text.warnings, expected);
    for is_big in [false, true] {
        let bytes = binary(is_big);
        let loaded = read(&bytes).unwrap();
        assert_eq!((loaded.mesh, loaded.warnings), (text.mesh.clone(), text.warnings.clone()));
    }
}

#[test]
fn polygons_of_any_shape_are_covered() {
    // With a fan, the notch at the last corner would be filled.
    let mesh = read(TEXT.as_bytes()).unwrap().mesh;
    let area = |[a, b, c]: [[f64; 3]; 3]| {
        ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])).abs() / 2.0
    };
    let notched = corners(&mesh)[..3].iter().map(|&triangle| area(triangle)).sum::<f64>();
    assert_eq!(notched, 1.0 - 0.125);
    assert_eq!(triangles(read(with_square(1, "4 0 1 2 3\n").as_bytes())), [[A, B, C], [A, C, D]]);
    let bow_tie = with_square(1, "4 0 2 1 3\n");
    assert!(warnings(read(bow_tie.as_bytes()))[0].starts_with("1 polygons cross themselves"));
}

#[test]
fn line_ends_do_not_matter() {
    let text = with_square(1, "\n3 0 1 2");
    for ending in ["\n", "\r\n", "\r"] {
        assert_eq!(
            triangles(read(text.replace('\n', ending).as_bytes())),
            [[A, B, C]],
            "{ending:?}"
        );
    }
    let expected = read(&binary(false)).unwrap().mesh;
    let start = binary(false).windows(11).position(|w| w == b"end_header\n").unwrap() + 11;
    for ending in ["\r\n", "\r"] {
        let header = String::from_utf8(binary(false)[..start].to_vec()).unwrap();
        let mut bytes = header.replace('\n', ending).into_bytes();
        bytes.extend(&binary(false)[start..]);
        assert_eq!(read(&bytes).unwrap().mesh, expected, "{ending:?}");
    }
}

#[test]
fn types_are_known_by_both_names_and_text_keeps_all_digits() {
    let text = with_square(1, "3 0 1 2\n");
    for (old, new) in
        [("float", "float32"), ("int", "uint32"), ("int", "int8"), ("uchar", "ushort")]
    {
        assert_eq!(triangles(read(text.replace(old, new).as_bytes())), [[A, B, C]], "{new}");
    }
    let precise = text.replace("1 1 0", "1234567.0000001 1 0");
    assert_eq!(triangles(read(precise.as_bytes()))[0][2][0], 1_234_567.000_000_1);
}

#[test]
fn faces_may_come_before_vertices() {
    let text = "ply\nformat ascii 1.0\nelement face 1\nproperty list uchar int vertex_indices\n\
                element vertex 4\nproperty int x\nproperty int y\nproperty int z\nend_header\n\
                4 0 1 2 3\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n";
    assert_eq!(triangles(read(text.as_bytes())), [[A, B, C], [A, C, D]]);
}

#[test]
fn strips_are_triangles_that_face_one_way() {
    let text = with_square(1, "9 0 1 3 2 -1 0 1 -1 2\n").replace("face", "tristrips");
    assert_eq!(triangles(read(text.as_bytes())), [[A, B, D], [B, C, D]]);
}

#[test]
fn points_without_faces_say_what_they_are() {
    let expected = "no faces found, only 4 points: reconstruct the surface of a point cloud first";
    let points = with_square(0, "");
    let faces = "element face 0\nproperty list uchar int vertex_index\n";
    assert_eq!(fault(read(points.as_bytes())), expected);
    assert_eq!(fault(read(points.replace(faces, "").as_bytes())), expected);
    let line = with_square(1, "2 0 1\n");
    assert_eq!(
        fault(read(line.as_bytes())),
        "no faces found, only 1 point or line: nothing to voxelize"
    );
    let nothing = "ply\nformat ascii 1.0\nend_header\n";
    assert_eq!(fault(read(nothing.as_bytes())), "no faces found: is this a PLY mesh?");
}

#[test]
fn bad_records_are_named_by_place() {
    for (rest, expected) in [
        ("3 0 1 4", "vertex index 4 is out of range: there are 4, counted from 0"),
        ("3 0 1 -1", "vertex index -1 is out of range: there are 4, counted from 0"),
        ("4 0 1 2 9", "vertex index 9 is out of range: there are 4, counted from 0"),
        ("3 0 1 1.5", "'1.5' is not a number of the type that the header declares"),
        ("3 0 1 x", "'x' is not a number of the type that the header declares"),
        ("-3 0 1 2", "'-3' is not a number of the type that the header declares"),
        ("3 0 1 2 3 0 1 2", "more numbers in the line than the header declares, from '3' on"),
        ("3 0 1\n2", "fewer numbers in the line than the header declares"),
        ("3 0 1", "the file ends: it is cut off"),
    ] {
        let said = fault(read(with_square(1, rest).as_bytes()));
        assert_eq!(said, format!("line 14: 'face' 0 (counted from 0): {expected}"), "{rest}");
    }
    let mut bytes = binary(false);
    let at = bytes.len() - 12;
    bytes[at] = 100;
    let said = fault(read(&bytes));
    assert!(said.starts_with("'face' 1 (counted from 0), before byte "), "{said}");
    assert!(
        said.ends_with("vertex index 100 is out of range: there are 5, counted from 0"),
        "{said}"
    );
    let nan = with_square(1, "3 0 1 2").replace("1 1 0", "1 nan 0");
    let expected = "vertex 2 has the coordinate NaN, which is not a finite number";
    assert_eq!(fault(read(nan.as_bytes())), expected);
}

#[test]
fn bad_headers_are_refused_with_the_reason() {
    let text = with_square(1, "3 0 1 2\n");
    for (old, new, expected) in [
        ("ply", "PLX", "not a PLY file: it does not begin with 'ply'"),
        ("end_header", "end", "line 15: the file ends without a line 'end_header': it is cut off"),
        (
            "ascii",
            "utf8",
            "line 2: the format 'utf8' is unknown: use ascii, binary_little_endian or \
          binary_big_endian",
        ),
        (
            "format ascii 1.0\n",
            "",
            "the header does not say how the file is written: add a line such \
          as 'format ascii 1.0'",
        ),
        ("vertex 4", "vertex -4", "line 3: '-4' where the number of the element's records belongs"),
        ("vertex 4", "vertex", "line 3: '' where the number of the element's records belongs"),
        (
            "vertex 4",
            "vertex 4000000000",
            "the header says that there are 4000000000 records of the \
          element 'vertex', but the file is too short for that: it is cut off, or the header is wrong",
        ),
        (
            "face 1",
            "face 99999999999",
            "the header says that there are 99999999999 records of the \
          element 'face', but the file is too short for that: it is cut off, or the header is wrong",
        ),
        ("float x", "flat x", "line 4: 'flat' is no type of PLY, such as float or uchar"),
        ("uchar int", "uchar", "line 8: 'vertex_index' is no type of PLY, such as float or uchar"),
        ("float x", "float", "line 4: a property without a name"),
        ("element vertex 4\n", "", "line 3: a property before the first element"),
        ("float z", "float w", "the element 'vertex' has no property 'z'"),
        ("vertex_index", "corners", "the element 'face' has no property list 'vertex_indices'"),
        ("element face", "elements face", "line 7: 'elements' is no keyword of a PLY header"),
        (
            "end_header",
            "element vertex 0\nproperty int x\nproperty int y\nproperty int z\nend_header",
            "the header declares the element 'vertex' twice: remove one",
        ),
    ] {
        assert_eq!(fault(read(text.replacen(old, new, 1).as_bytes())), expected, "{new}");
    }
    assert_eq!(fault(read(b"")), "the file is empty");
}

#[test]
fn what_follows_the_last_element_is_a_warning() {
    assert_eq!(triangles(read(with_square(1, "3 0 1 2\n \n\n").as_bytes())), [[A, B, C]]);
    let more = with_square(1, "3 0 1 2\n3 0 1 2\n");
    assert_eq!(warnings(read(more.as_bytes())), ["8 bytes after the last element were skipped"]);
    let mut bytes = binary(true);
    bytes.push(0);
    let said = warnings(read(&bytes));
    assert_eq!(said.last().unwrap(), "1 byte after the last element were skipped");
}

#[test]
fn elements_without_properties_take_no_time() {
    let text = with_square(1, "3 0 1 2\n")
        .replace("end_header", "element nothing 18446744073709551615\nend_header");
    assert_eq!(triangles(read(text.as_bytes())), [[A, B, C]]);
}
