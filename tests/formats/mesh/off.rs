//! OFF: Geomview's text.

use super::*;

pub(crate) fn read(bytes: impl AsRef<[u8]>) -> Result<LoadedMesh, ReadError> {
    read_as("off", bytes, &ReadOptions::default())
}

pub(crate) const TEXT: &str = "COFF # coloured\n4 2 0\n0 0 0 255 0 0\n1 0 0 255 0 0 255\n\n\
    # of fractions\n1 1 0 0.0 0.0 1.0\n0 1 0 0. 0. 1. 1.\n3 0 1 2\n4 0 1 2 3 255 0 0\n";

const SQUARE: &str = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n";
/// A triangle and the square.
const TRIANGLES: [[[f64; 3]; 3]; 3] = [[A, B, C], [A, B, C], [A, C, D]];

#[test]
fn counts_are_in_the_next_line_or_after_the_word_or_in_it() {
    for header in ["OFF\n4 2 5\n", "OFF 4 2 5\n", "OFF4 2 5\n", "\u{feff}# a\nOFF\r\n\n4 2\n"] {
        let text = format!("{header}{SQUARE}3 0 1 2\n4 0 1 2 3\n");
        assert_eq!(triangles(read(text)), TRIANGLES, "{header}");
    }
}

#[test]
fn line_ends_are_white_space_where_records_are_no_lines() {
    let square = "OFF 4 2 0 0 0 0 1 0 0 1 1 0 0 1 0 3 0 1 2 4 0 1 2 3";
    let in_pairs = "OFF\n4 2 0\n0 0 0 1 0 0 # two\n1 1 0 0 1 0\n3 0 1 2\n4 0 1 2 3\n";
    let wrapped = format!("OFF 4 2 0\n{SQUARE}3 0\n1 2\n4 0 1\n\n2 3\n");
    let numbers = square.replace(' ', "\n");
    for text in [square, in_pairs, &wrapped, &numbers, &square.replace(' ', "\r\n#\n\t")] {
        assert_eq!(triangles(read(text)), TRIANGLES, "{text}");
    }
    let more = "0 0 1 255 0 0 128 0.5 0.5";
    let painted = format!("STNCOFF 3 1 0 0 0 0 {more} 1 0 0 {more} 1 1 0 {more} 3 0 1 2");
    let loaded = read(&painted).unwrap();
    let colors = &loaded.mesh.appearance().unwrap().vertex_colors;
    assert_eq!(colors[..], [linear_of_rgba([255, 0, 0, 128]); 3]);
    let bare = ReadOptions { appearance: false, ..ReadOptions::default() };
    assert_eq!(triangles(read_as("off", painted, &bare)), [[A, B, C]]);
    // Too few numbers and too many are errors, of lines.
    for text in [&square[..square.len() - 2], &format!("{square} 3 0 1 2")] {
        let expected = "line 1: the file ends where a vertex belongs: it is cut off";
        assert_eq!(fault(read(text)), expected, "{text}");
    }
}

#[test]
fn colours_of_vertices_and_faces_are_read() {
    let said = "2 vertices have a colour with values outside their range: the nearest in it are \
                used, and 0 for NaN";
    let mesh = warned(read(TEXT), said);
    let look = mesh.appearance().unwrap();
    assert_eq!(look.vertex_colors, [RED, RED, BLUE, BLUE].map(linear_of_rgba));
    assert_eq!(look.material_of, [0, 1, 1]);
    assert!(look.materials[0].has_vertex_colors && !look.materials[1].has_vertex_colors);
    assert_eq!(look.materials[1].color, linear_of_rgba(RED));
    let indexed = format!("OFF 4 1 0\n{SQUARE}3 0 1 2 7\n");
    let said = "1 face has no colour of three or four numbers, and the plain one";
    assert_eq!(warnings(read(indexed)), [said]);
}

/// The colours of the vertices of a triangle, and the warnings.
fn colored(header: &str, colors: [&str; 3]) -> (Vec<[u16; 4]>, String) {
    let [a, b, c] = colors;
    let text = format!("{header}\n3 1 0\n0 0 0 {a}\n1 0 0 {b}\n0 1 0 {c}\n3 0 1 2\n");
    let loaded = read(text).unwrap();
    let colors = loaded.mesh.appearance().map(|look| look.vertex_colors.clone());
    (colors.unwrap_or_default(), loaded.warnings.join("; "))
}

#[test]
fn all_colours_of_vertices_are_fractions_or_integers() {
    let [red, green, dark] = [RED, GREEN, [1, 0, 0, 255]].map(linear_of_rgba);
    let fractions = "the colours of vertices have no value above 1: they are read as fractions";
    let beyond = "2 vertices have a colour with values outside their range: the nearest in it are \
                  used, and 0 for NaN";
    for (corners, expected, said) in [
        (["1 0 0 1", "1 0 0", "0 1.0 0"], [red, red, green], ""),
        (["1 0 0", "1e0 0 0", "0 1 0"], [red, red, green], ""),
        (["1 0 0 1", "1 0 0", "0 1 0"], [red, red, green], fractions),
        (["1 0 0", "255 0 0", "0 255 0"], [dark, red, green], ""),
        // With a point they are fractions, whatever they are.
        (["255.0 0 0", "1 -1 0", "0 1 0"], [red, red, green], beyond),
    ] {
        assert_eq!(colored("COFF", corners), (expected.to_vec(), said.to_owned()), "{corners:?}");
    }
    let face = format!("OFF 4 1 0\n{SQUARE}3 0 1 2 300 0 0\n");
    assert_eq!(warnings(read(face)), [beyond.replace("2 vertices have", "1 face has")]);
}

#[test]
fn opacity_of_vertices_counts_unless_nothing_could_be_seen() {
    let file = |opacity| {
        let corner = |at| format!("{at} 255 0 0 {opacity}\n");
        format!("COFF 3 1 0\n{}3 0 1 2\n", ["0 0 0", "1 0 0", "0 1 0"].map(corner).concat())
    };
    let alpha = |mesh: Mesh| mesh.appearance().unwrap().materials[0].alpha;
    assert_eq!(alpha(read(file(9)).unwrap().mesh), Alpha::Blend);
    let said = "opacity was ignored, as all would be transparent: that of vertices";
    assert_eq!(alpha(warned(read(file(0)), said)), Alpha::Opaque);
}

#[test]
fn what_is_skipped_is_said() {
    let longer = "1 vertex has more numbers than 'OFF' announces, which were skipped: colours need \
                  'COFF', normals 'NOFF'";
    let none = "2 vertices have no colour of three or four numbers: they are white";
    let texture = "texture coordinates were skipped: OFF names no image for them";
    for (header, corners, expected, said) in [
        ("OFF", ["9 9 9", "", ""], &[][..], longer),
        ("NOFF", ["0 0 1 9", "0 0 1", "0 0 1"], &[], longer),
        ("COFF", ["255 0 0", "255 0 blue", ""], &[RED, [255; 4], [255; 4]], none),
        ("STOFF", ["0 0", "1 0", "0 1"], &[], texture),
    ] {
        let expected: Vec<_> = expected.iter().map(|&color| linear_of_rgba(color)).collect();
        assert_eq!(colored(header, corners), (expected, said.to_owned()), "{header}");
    }
    let more = format!("OFF 4 1 0\n{SQUARE}3 0 1 2\n3 0 2 3\n\n# end\n3 0 1 3\n");
    let said = "2 lines were skipped after the faces that the header counts";
    assert_eq!(warnings(read(more)), [said]);
}

#[test]
fn colours_follow_normals_and_precede_texture_coordinates_in_any_order_of_the_letters() {
    let glass = [RED[0], RED[1], RED[2], 128];
    for (color, expected) in [("255 0 0", RED), ("255 0 0 128", glass)] {
        for [header, before, after] in [
            ["CNOFF", "0 0 1", ""],
            ["NCOFF", "0 0 1", ""],
            ["STCOFF", "", "0.5 0.5"],
            ["CSTOFF", "", "0.5 0.5"],
            ["STCNOFF", "0 0 1", "0.5 0.5"],
            ["NCSTOFF", "0 0 1", "0.5 0.5"],
        ] {
            let (colors, _) = colored(header, [&format!("{before} {color} {after}"); 3]);
            assert_eq!(colors, [linear_of_rgba(expected); 3], "{header}");
        }
    }
    for header in ["CCOFF", "SCOFF", "XOFF"] {
        let said = "not an OFF file: it does not begin with 'OFF'";
        assert_eq!(fault(read(format!("{header} 3 1 0\n"))), said);
    }
    let (_, warnings) = colored("STCOFF", ["255 0 0 1", "255 0 0 0 0", "255 0 0 0 0"]);
    let said = "1 vertex has no colour of three or four numbers: they are white";
    assert!(warnings.contains(said), "{warnings}");
}

/// Files, `/` for line ends and `+` for the square's corners, and why they are refused.
const BAD_FILES: &str = "
PLY/ | not an OFF file: it does not begin with 'OFF'
/ | line 1: the file ends where 'OFF' belongs: it is cut off
OFF BINARY/+ | binary OFF is not read: save the mesh as text, or as PLY
4OFF/+ | line 1: '4OFF': only vertices of three coordinates are read
OFF/4 x 0/+ | line 2: 'x' where the number of faces belongs
OFF/4 1 0/+3 0 1 4/
    line 7: face 0 (counted from 0): vertex index 4 is out of range: there are 4, counted from 0
OFF/4 1 0/+3 0 1/ | line 7: a face of 3 corners, but 2 numbers follow
OFF/4 1 0/+3 0 1 -1/ | line 7: '-1' where the index of a vertex belongs
OFF/4 2 0/+3 0 1 2/ | line 7: the file ends where a face belongs: it is cut off
OFF/4 1 0/+2 0 1/ | no faces found: nothing to voxelize
OFF/4 1 0/0 0 0/1 0 0/1 nan 0/0 1 0/3 0 1 2/
    line 5: vertex 2 (counted from 0): 'nan' is not a finite number
OFF 9999999 9 9/0 0 0/
    the header says 9999999 vertices and 9 faces, but the file is too short for that: it is cut off,
    or the header is wrong
";

#[test]
fn what_is_wrong_is_refused_with_the_line() {
    for (file, expected) in rows(BAD_FILES) {
        let text = file.replace('/', "\n").replace('+', SQUARE);
        assert_eq!(fault(read(&text)), expected, "{text}");
    }
}
