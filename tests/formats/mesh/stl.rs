//! STL, of both kinds.

use super::*;

pub(crate) fn read(bytes: impl AsRef<[u8]>) -> Result<LoadedMesh, ReadError> {
    read_as("stl", bytes, &ReadOptions::default())
}

pub(crate) const TEXT: &str = "solid a square\n\
    facet normal 0 0 1\n outer loop\n  vertex 0 0 0\n  vertex 1 0 0\n  vertex 1 1 0\n endloop\n\
    endfacet\nfacet normal 0 0 1\n outer loop\n  vertex 0 0 0\n  vertex 1 1 0\n  vertex 0 1 0\n\
    endloop\nendfacet\nendsolid a square\n";

/// A binary file that says it has `count` triangles, and has those given.
fn file(header: &[u8], count: u32, triangles: &[[[f64; 3]; 3]]) -> Vec<u8> {
    let mut bytes = header.to_vec();
    bytes.resize(80, b' ');
    bytes.extend(count.to_le_bytes());
    for triangle in triangles {
        bytes.extend([0.0_f32, 0.0, 1.0].iter().flat_map(|c| c.to_le_bytes()));
        bytes.extend(triangle.concat().iter().flat_map(|&c| (c as f32).to_le_bytes()));
        bytes.extend([0, 0]);
    }
    bytes
}

const SQUARE: [[[f64; 3]; 3]; 2] = [[A, B, C], [A, C, D]];

pub(crate) fn binary() -> Vec<u8> {
    file(b"some program", 2, &SQUARE)
}

#[test]
fn binary_files_are_read_also_if_they_begin_as_text_does() {
    for header in ["some program", "solid", "solid part\nfacet normal 0 0 0\nouter loop\n"] {
        assert_eq!(triangles(read(file(header.as_bytes(), 2, &SQUARE))), SQUARE);
        let said = fault(read(file(header.as_bytes(), 3, &SQUARE)));
        assert!(said.contains("says that it holds 3 triangles, but there is room for 2"), "{said}");
    }
}

#[test]
fn text_is_read_in_any_case_with_any_spaces_and_line_ends() {
    let on_one_line = TEXT.replace("\n", " ");
    for (claim, text) in [
        ("as it is", TEXT.to_owned()),
        ("capital letters", TEXT.to_uppercase()),
        ("spaces", TEXT.replace(' ', " \t ").replace('\n', "\n\n  \t")),
        ("spaces before", format!("\u{feff} \n{TEXT}")),
        ("no normals", TEXT.replace("normal 0 0 1", "normal nan -nan(ind) inf")),
        ("lines of names", on_one_line.replace("square ", "square\n")),
        ("one line", on_one_line.clone()),
        ("one line without names", on_one_line.replace("a square ", "")),
    ] {
        for ending in ["\n", "\r\n", "\r"] {
            let text = text.replace('\n', ending);
            assert_eq!(triangles(read(&text)), SQUARE, "{claim}: {text}");
        }
    }
}

#[test]
fn all_solids_are_one_mesh_and_names_may_be_anything() {
    let other = "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 1 0\nvertex 1 1 0\nvertex 0 0 0\n\
                 endloop\nendfacet\nendsolid\n";
    let mut bytes = TEXT.as_bytes().to_vec();
    bytes.extend(b"solid facet \xe9 endsolid\nendsolid vertex\n");
    bytes.extend(other.bytes());
    assert_eq!(triangles(read(&bytes)), [SQUARE.to_vec(), vec![[D, C, A]]].concat());
}

#[test]
fn several_solids_may_be_on_one_line_and_such_a_line_takes_linear_time() {
    let two = [TEXT, TEXT].concat().replace("\n", " ");
    let named = two.replace("solid a square", "solid facet of a solid");
    for text in [two, named] {
        assert_eq!(triangles(read(text)), [SQUARE, SQUARE].concat());
    }
    let many = TEXT.replace("\n", " ").repeat(2000);
    let begun = std::time::Instant::now();
    assert_eq!(triangles(read(many)).len(), 4000);
    _ = read("solid x endsolid solid ".repeat(40_000));
    assert!(begun.elapsed() < std::time::Duration::from_secs(5), "{:?}", begun.elapsed());
}

#[test]
fn labels_are_the_solids_of_text() {
    let (other, nameless) = (TEXT.replace("a square", " facet\t2 "), TEXT.replace("a square", ""));
    let both = [TEXT, "solid empty\nendsolid\n", &other, TEXT].concat();
    let of_both = &[0, 0, 1, 1, 2, 2][..];
    for (file, names, of_triangles) in [
        (both.as_bytes(), "a square,facet\t2,a square", of_both),
        (both.replace('\n', " ").as_bytes(), "a square,facet\t2,a square", of_both),
        (TEXT.as_bytes(), "a square", &[0, 0]),
        (nameless.as_bytes(), "", &[]),
        (&binary(), "", &[]),
    ] {
        let found = labels(&read(file).unwrap().mesh);
        assert_eq!(found, (names.to_owned(), of_triangles.to_vec()), "{}", file.escape_ascii());
    }
}

#[test]
fn text_keeps_all_digits() {
    let text = TEXT.replacen("vertex 1 0 0", "vertex 1234567.0000001 -1E-300 +.5", 1);
    assert_eq!(triangles(read(text))[0][1], [1_234_567.000_000_1, -1e-300, 0.5]);
}

#[test]
fn bad_text_is_named_by_line() {
    for (old, new, expected) in [
        ("vertex 1 0 0", "vertex 1 0", "line 6: 'vertex' is not a finite number"),
        ("vertex 1 0 0", "vertex 1 0 nan", "line 5: 'nan' is not a finite number"),
        ("vertex 1 0 0", "vertex 1 0 1e999", "line 5: '1e999' is not a finite number"),
        ("vertex 1 0 0", "vertex 1,5 0 0", "line 5: '1,5' is not a finite number"),
        ("vertex 1 0 0", "vertex 1 0 0 0", "line 5: '0' where 'vertex' belongs"),
        (" endloop", "vertex 1 1 1\nendloop", "line 7: 'vertex' where 'endloop' belongs"),
        ("  vertex 1 1 0\n", "", "line 6: 'endloop' where 'vertex' belongs"),
        ("outer loop", "inner loop", "line 3: 'inner' where 'outer' belongs"),
        ("outer loop", "outer", "line 4: 'vertex' where 'loop' belongs"),
        ("endfacet", "endface", "line 8: 'endface' where 'endfacet' belongs"),
        ("facet", "color", "line 2: 'color' where 'facet' or 'endsolid' belongs"),
        ("endsolid a square", "", "line 15: the file ends without 'endsolid': it is cut off"),
        ("endsolid", "endsolid\nmore", "line 17: 'more' where 'solid' belongs"),
    ] {
        for ending in ["\n", "\r\n"] {
            let text = TEXT.replacen(old, new, 1).replace('\n', ending);
            assert_eq!(fault(read(text)), expected, "{new} with {ending:?}");
        }
    }
    let said = fault(read(&TEXT.as_bytes()[..60]));
    assert!(said.starts_with("line 4: the file ends where"), "{said}");
}

#[test]
fn counts_that_lie_are_refused_or_said() {
    let said = |count| fault(read(file(b"", count, &SQUARE)));
    let cut_off = "the header (bytes 80 to 83) says that it holds 3 triangles, but there is room for \
                   2: the file is cut off, or no STL file";
    assert_eq!(said(3), cut_off);
    assert!(said(u32::MAX).contains("says that it holds 4,294,967,295 triangles"));
    let none = "the header says that there are no triangles, but 100 bytes follow, which would be \
                2: write the number into bytes 80 to 83, little-endian";
    assert_eq!(said(0), none);
    let skipped = "50 bytes after the last of the 1 triangles that the header counts were skipped";
    assert_eq!(corners(&warned(read(file(b"", 1, &SQUARE)), skipped)), SQUARE[..1]);
    let skipped = "1 byte after the last of the 2 triangles that the header counts were skipped";
    warned(read([&binary()[..], b"\n"].concat()), skipped);
}

/// A binary file of two triangles with these attributes.
fn with_attributes(header: &[u8], attributes: [u16; 2]) -> Vec<u8> {
    let mut bytes = file(header, 2, &SQUARE);
    for (triangle, attribute) in attributes.into_iter().enumerate() {
        bytes[84 + 50 * triangle + 48..][..2].copy_from_slice(&attribute.to_le_bytes());
    }
    bytes
}

pub(crate) fn colored() -> Vec<u8> {
    with_attributes(b"COLOR=\xff\x80\0\xff", [0b11111, 0x8000])
}

fn colors(bytes: &[u8]) -> Vec<Rgba> {
    let look = look(read(bytes));
    assert!(look.materials.iter().all(|material| material.alpha == Alpha::Opaque));
    (0..2).map(|triangle| rgba_of(look.material(triangle).color)).collect()
}

#[test]
fn colours_are_blue_first_where_the_top_bit_is_set_or_red_first_where_the_header_has_one() {
    let magics = b"a name COLOR=\xff\0\0\xff,MATERIAL=";
    // MeshLab sets the top bit of its colours, and writes no opacity.
    let meshlab = b"STLB MeshLab COLOR=\x7f\x7f\x7f MATERIAL=\x7f\x7f\x7f ";
    let [blue, green, red] = [0b11111_u16, 0b11_00000, 0b11111_00000_00000];
    let set = 0x8000;
    for (header, attributes, expected) in [
        (&b""[..], [set | red, 0], [RED, [200, 200, 200, 255]]),
        (b"", [set | green, set | blue], [[0, 25, 0, 255], BLUE]),
        (b"COLOR=\xff\x80\0\xff", [blue, set], [RED, [255, 128, 0, 255]]),
        (magics, [red, 0], [BLUE, [0, 0, 0, 255]]),
        // No colour of a triangle at all: they are not meant to be black.
        (b"COLOR=\0\xff\0\xff", [0, 0], [GREEN; 2]),
        (b"COLOR=\0\xff\0\0", [0, 0], [GREEN; 2]),
        (meshlab, [0x801f, 0x83e0], [RED, GREEN]),
        (meshlab, [0, 0], [[127, 127, 127, 255]; 2]),
    ] {
        let file = with_attributes(header, attributes);
        assert_eq!(colors(&file), expected, "{} {attributes:x?}", header.escape_ascii());
    }
    let glass = look(read(with_attributes(b"COLOR=\0\xff\0\x80", [0, 0])));
    assert_eq!((glass.materials[0].alpha, glass.materials[0].color[3]), (Alpha::Blend, 0x8080));
}

#[test]
fn attributes_that_are_no_colours_are_a_warning() {
    let said = "attributes of triangles were ignored: they are not colours";
    let mesh = warned(read(with_attributes(b"", [0x8000 | 31, 31])), said);
    assert_eq!(mesh.appearance(), None);
}

#[test]
fn numbers_of_binary_files_that_are_not_finite_are_named_by_place() {
    let mut bytes = binary();
    bytes[84 + 50 + 12 + 24..][..4].copy_from_slice(&f32::NAN.to_le_bytes());
    let nan = "triangle 1 (counted from 0) has the coordinate NaN in the corner at byte 170, which \
               is not a finite number: remove the triangle or repair the mesh";
    assert_eq!(fault(read(&bytes)), nan);
}

#[test]
fn files_that_are_no_stl_say_so() {
    let neither = "not an STL file: it neither begins with 'solid' nor has a binary file's header \
                   of 84 bytes";
    assert_eq!(fault(read(b"v 0 0 0\n")), neither);
    assert_eq!(fault(read(b"solid x\nendsolid x\n")), "the mesh has no triangles");
    assert_eq!(fault(read(file(b"", 0, &[]))), "the mesh has no triangles");
    assert!(fault(read(b"v 0 0 0\n".repeat(99))).ends_with("is cut off, or no STL file"));
}
