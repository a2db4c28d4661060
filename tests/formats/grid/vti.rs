//! Reading `.vti`: all encodings of VTK, and the errors of malformed files.

use std::io::Write;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::attributes::everything;
use super::npy::{VTK, python};
use super::*;

/// A file in ASCII: a voxel at the origin, and one at the other end.
pub(crate) const ASCII: &str = r#"<?xml version="1.0"?>
<VTKFile type="ImageData" version="1.0" byte_order="LittleEndian" header_type="UInt64">
  <ImageData WholeExtent="0 2 0 1 0 2" Origin="1 2 3" Spacing="0.5 0.5 0.5" Direction="1 0 0 0 1 0 0 0 1">
    <FieldData>
      <DataArray type="UInt8" Name="up" NumberOfTuples="1" format="ascii">2</DataArray>
    </FieldData>
    <Piece Extent="0 2 0 1 0 2">
      <PointData></PointData>
      <CellData Scalars="occupied">
        <DataArray type="UInt8" Name="occupied" format="ascii" RangeMin="0" RangeMax="7">
          1 0 0 7
          <InformationKey name="L2_NORM_RANGE" location="vtkDataArray" length="1"><Value index="0">7</Value></InformationKey>
        </DataArray>
      </CellData>
    </Piece>
  </ImageData>
</VTKFile>
"#;

fn load_ascii(replacements: &[(&str, &str)]) -> Result<LoadedGrid, ReadError> {
    load_bytes(Vti, replaced(replacements).as_bytes())
}

fn replaced(replacements: &[(&str, &str)]) -> String {
    replacements.iter().fold(ASCII.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    })
}

/// The cell data of one array.
fn array(kind: &str, name: &str, components: usize, values: &str) -> String {
    format!(
        r#"<CellData><DataArray type="{kind}" Name="{name}" NumberOfComponents="{components}" format="ascii">{values}</DataArray></CellData><CellData>"#
    )
}

/// The file with such an array before its own.
fn with_array(kind: &str, name: &str, components: usize, values: &str) -> String {
    let array = array(kind, name, components, values);
    replaced(&[(r#"<CellData Scalars="occupied">"#, &array)])
}

/// The file with such an array instead of its own.
fn of_array(kind: &str, name: &str, components: usize, values: &str) -> String {
    let text = with_array(kind, name, components, values);
    let (begin, end) = (text.rfind("<CellData>").unwrap(), text.rfind("</CellData>").unwrap() + 11);
    text[..begin].to_owned() + &text[end..]
}

#[test]
fn what_vtk_saves_is_read_in_each_encoding() {
    let Some(_) = python_with("vtkmodules") else { return };
    let folder = tempdir().unwrap();
    let grid = everything();
    write_into(&folder, &grid, Vti);
    let script = format!(
        "{VTK}
from vtkmodules.vtkIOXML import vtkXMLImageDataWriter
def save(name, mode, compressor, encode=False, bits=64, pieces=1, big=False):
    writer = vtkXMLImageDataWriter()
    writer.SetInputData(image)
    writer.SetFileName(name + '.vti')
    getattr(writer, 'SetDataModeTo' + mode)()
    getattr(writer, 'SetCompressorTypeTo' + compressor)()
    getattr(writer, 'SetHeaderTypeToUInt' + str(bits))()
    writer.SetEncodeAppendedData(encode)
    writer.SetNumberOfPieces(pieces)
    if big: writer.SetByteOrderToBigEndian()
    assert writer.Write() == 1
for mode, encode in [('Ascii', False), ('Binary', False), ('Appended', False), ('Appended', True)]:
    for compressor in ['None', 'ZLib']:
        for bits in [32, 64]:
            name = '-'.join([mode, compressor, str(encode), str(bits)])
            save(name, mode, compressor, encode, bits)
            print(name)
save('lz4', 'Appended', 'LZ4')
save('lzma', 'Binary', 'LZMA')
save('big', 'Appended', 'ZLib', big=True)
save('pieces', 'Appended', 'ZLib', pieces=2)
"
    );
    let output = python(&script, folder.path()).unwrap();
    let bytes = written(&grid, Vti);
    assert_eq!(output.lines().count(), 16);
    for name in output.lines() {
        let loaded = load(&folder, name, Vti).unwrap();
        assert_eq!(loaded.warnings, Vec::<String>::new(), "{name}");
        assert!(loaded.grid == grid && loaded.grid.world == grid.world, "{name}");
        // Colours, attributes and names too.
        assert!(written(&loaded.grid, Vti) == bytes, "{name}");
    }
    for (name, attribute, value, instead) in [
        ("lz4", "compressor", "vtkLZ4DataCompressor", "vtkZLibDataCompressor"),
        ("lzma", "compressor", "vtkLZMADataCompressor", "vtkZLibDataCompressor"),
        ("big", "byte_order", "BigEndian", "LittleEndian"),
    ] {
        let error = load(&folder, name, Vti).unwrap_err().to_string();
        assert!(error.contains(&unread(attribute, value, instead)), "{error}");
    }
    let error = load(&folder, "pieces", Vti).unwrap_err().to_string();
    assert!(error.contains("it is in several pieces: save it as one"), "{error}");
}

/// Why a value of an attribute is refused.
fn unread(attribute: &str, value: &str, instead: &str) -> String {
    format!("its {attribute} is '{value}', which is not read: save it with {instead}")
}

#[test]
fn a_file_in_ascii_is_read() {
    let loaded = load_ascii(&[]).unwrap();
    assert_eq!(loaded.warnings, Vec::<String>::new());
    assert_eq!(voxel_set(&loaded.grid), [[0, 0, 0], [1, 0, 1]].into());
    assert_eq!(loaded.grid.world, World::at([1.0, 2.0, 3.0], 0.5, Up::Z));
    let extent = ("0 2 0 1 0 2", "-3 -1 0 1 4 6");
    let moved = load_ascii(&[extent]).unwrap().grid;
    assert_eq!((&moved, moved.world), (&loaded.grid, World::at([-0.5, 2.0, 5.0], 0.5, Up::Z)));
    // What files need not say.
    let bare = [
        (r#" byte_order="LittleEndian" header_type="UInt64""#, ""),
        (r#" Origin="1 2 3" Spacing="0.5 0.5 0.5" Direction="1 0 0 0 1 0 0 0 1""#, ""),
        (r#"Name="up""#, r#"Name="down""#),
    ];
    let bare = load_ascii(&bare).unwrap();
    assert_eq!(bare.grid.world, World::at([0.0; 3], 1.0, Up::Y));
    assert_eq!(bare.warnings, ["arrays that are not read: 'down'"]);
}

#[test]
fn numbers_of_each_type_are_voxels_where_they_are_not_zero() {
    for (kind, values) in [
        ("UInt8", "1 0 0 255"),
        ("Int8", "-1 0 0 -128"),
        ("UInt16", "256 0 0 65535"),
        ("Int16", "-32768 0 0 1"),
        ("UInt32", "65536 0 0 4294967295"),
        ("Int32", "-2147483648 0 0 1"),
        ("UInt64", "18446744073709551615 0 0 1"),
        ("Int64", "-9223372036854775808 0 0 1"),
        ("Float16", "1 0 -0 -2"),
        ("Float32", "1e-40 0 -0.0 -inf"),
        ("Float64", "0.5 nan -0 1e300"),
    ] {
        for name in ["occupied", "mask"] {
            let text = of_array(kind, name, 1, values);
            let loaded = load_bytes(Vti, text.as_bytes()).unwrap();
            assert_eq!(voxel_set(&loaded.grid), [[0, 0, 0], [1, 0, 1]].into(), "{kind}");
            let said = "the voxels are those where the array 'mask' is not 0: there is none named \
                        'occupied'";
            let warnings: &[&str] = if name == "mask" { &[said] } else { &[] };
            assert_eq!(loaded.warnings, warnings, "{kind}");
        }
    }
    let x_fastest = of_array("UInt8", "occupied", 1, "0 1 0 0");
    assert_eq!(voxel_set(&read(Vti, x_fastest.as_bytes()).unwrap()), [[1, 0, 0]].into());
    for (kind, values) in [
        ("Float64", "-1.5 0 2 -0"),
        ("Int8", "-2 0 2 -1"),
        ("Int32", "-2 0 2 -1"),
        ("Float32", "-1.5 0 2 -0"),
    ] {
        let text = of_array(kind, "distance", 1, values);
        let loaded = load_bytes(Vti, text.as_bytes()).unwrap();
        assert_eq!(voxel_set(&loaded.grid), [[0, 0, 0], [1, 0, 1]].into(), "{kind}");
        assert_eq!(loaded.warnings, Vec::<String>::new());
        // The farthest voxels are outside the band. A voxel is half a unit.
        let field = loaded.distances.unwrap();
        let far: f32 = if kind == "Float64" || kind == "Float32" { -1.5 } else { -2.0 };
        let expected = [[0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 1]].map(|v| field.get(v));
        let last = if kind.starts_with("Int") { -2.0 } else { -0.0 };
        assert_eq!((field.width(), expected), (4.0, [2.0 * far, 0.0, 4.0, last]), "{kind}");
    }
    let text = of_array("Float32", "distance", 1, "nan 1 -2 3");
    let error = load_bytes(Vti, text.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("the distance of voxel [0, 0, 0] is not a number"), "{error}");
    // The field data `up`, under another name and type.
    let of_width = |number: &str| {
        let text = of_array("Float32", "distance", 1, "0.5 1 -2 3").replace("\"up\"", "\"width\"");
        let text = text.replacen("UInt8", "Float32", 1).replacen(">2<", &format!(">{number}<"), 1);
        load_bytes(Vti, text.as_bytes())
    };
    assert_eq!(of_width("3").unwrap().distances.unwrap().band().occupied(), 2);
    let error = of_width("3 4").unwrap_err().to_string();
    assert!(error.contains("the array 'width' is not one number"), "{error}");
    for (values, why) in
        [("0 0 0 0", "a width of 0 voxels"), ("1 2 inf 3", "a width of inf voxels")]
    {
        let loaded = load_bytes(Vti, of_array("Float32", "distance", 1, values).as_bytes());
        let LoadedGrid { distances, warnings, .. } = loaded.unwrap();
        assert!(distances.is_none() && warnings.concat().contains(why), "{warnings:?}");
    }
}

#[test]
fn equal_distances_are_one_field_whatever_the_type_of_their_numbers() {
    let field = |kind: &str, values: &str| {
        let text = of_array(kind, "distance", 1, values);
        load_bytes(Vti, text.as_bytes()).unwrap().distances.expect("distances")
    };
    let expected = field("Float32", "-1.5 0 2 -0");
    assert_eq!(field("Float64", "-1.5 0 2 -0"), expected);
    for other in ["-1.5 0 3 -0", "-1.5 0 2 0", "-1.5000001 0 2 -0"] {
        assert_ne!(field("Float64", other), expected, "{other}");
    }
    let whole = field("Float32", "-2 0 2 1");
    for kind in ["Float64", "Int8", "Int16", "Int32", "Int64"] {
        assert_eq!(field(kind, "-2 0 2 1"), whole, "{kind}");
    }
}

#[test]
fn colours_without_opacity_are_opaque_and_other_arrays_are_named() {
    let text = with_array("UInt8", "color", 3, "1 2 3 0 0 0 0 0 0 9 8 7");
    let grid = read(Vti, text.as_bytes()).unwrap();
    let colors = [[0, 0, 0], [1, 0, 1]].map(|voxel| grid.color(voxel).unwrap());
    assert_eq!(colors, [[1, 2, 3, 255], [9, 8, 7, 255]]);
    for (kind, name, components, values) in [
        ("Float32", "color", 3, "x"),
        ("UInt8", "color", 1, ""),
        ("Int64", "label", 1, "0 0 0 0"),
        ("Float32", "normal", 2, ""),
        ("Bit", "flags", 1, "0 1"),
        ("String", "names", 1, ""),
        ("UInt8", "occupied", 1, "0 0 0 0"),
    ] {
        let text = with_array(kind, name, components, values);
        // Of two arrays with one name, the first is read.
        let loaded = load_bytes(Vti, text.as_bytes()).unwrap();
        assert_eq!(loaded.warnings, [format!("arrays that are not read: '{name}'")]);
        assert!(loaded.grid.colors.is_none() && loaded.grid.attributes.is_none());
    }
}

#[test]
fn malformed_files_are_refused_with_the_reason() {
    let (extent, ascii) = ("0 2 0 1 0 2", "format=\"ascii\" R");
    let text = "the array 'occupied' has the format 'text': save it as ascii, binary or appended";
    for (from, to, why) in [
        ("<VTKFile", "<File", "not a .vti file: there is no <VTKFile>"),
        ("<VTKFile", "<a/><VTKFile", "XML, line 2: the root element is not <VTKFile>"),
        ("</VTKFile>", "</VTKFile> more", "is cut off, or has more bytes after that"),
        ("</ImageData>", "", "XML, line 1"),
        ("<ImageData", "<a/><ImageData", "there is no <ImageData> in it"),
        ("0.5 0.5 0.5", "0.5 0.5 0.25", "its voxels are of 0.5 x 0.5 x 0.25, not cubes: resample"),
        ("0.5 0.5 0.5", "0 0 0", "a grid cannot lie at [1.0, 2.0, 3.0] with voxels of 0"),
        ("0.5 0.5 0.5", "-1 -1 -1", "a grid cannot lie at [1.0, 2.0, 3.0] with voxels of -1"),
        ("0.5 0.5 0.5", "0.5 0.5", "XML, line 3: its Spacing is '0.5 0.5', not 3 numbers"),
        ("1 2 3", "1 2 x", "XML, line 3: its Origin is '1 2 x', not 3 numbers"),
        ("1 2 3", "1 2 inf", "a grid cannot lie at [1.0, 2.0, inf]"),
        ("1 0 0 0 1 0 0 0 1", "0 1 0 1 0 0 0 0 1", "it is turned by its Direction: resample it"),
        ("1 0 0 0 1 0 0 0 1", "1 0 0", "XML, line 3: its Direction is '1 0 0', not 9 numbers"),
        ("WholeExtent", "Extent", "XML, line 3: its WholeExtent is '', not 6 numbers"),
        ("<Piece Extent", "<Piece extent", "XML, line 7: its Extent is '', not 6 numbers"),
        (extent, "0 2 0 1 5 5", "2x1x0"),
        (extent, "0 2 0 1 2 0", "2x1x0"),
        (extent, "0 65537 0 1 0 2", "65537"),
        (extent, "-2147483648 2147483647 0 1 0 2", "4294967295"),
        (extent, "0 3 0 1 0 2", "'occupied': its values have 4 bytes, but the extent needs 6"),
        (" Extent=\"0 2", " Extent=\"0 1", "it is in several pieces: save it as one"),
        ("</Piece>", "</Piece><Piece Extent=\"0 2 0 1 0 2\"/>", "it is in several pieces"),
        ("1 0 0 7", "1 0 0", "its values have 3 bytes, but the extent needs 4"),
        ("1 0 0 7", "1 0 0 256", "the array 'occupied': '256' is no value"),
        ("1 0 0 7", "1 0 0 -1", "the array 'occupied': '-1' is no value"),
        ("1 0 0 7", "1 0 0 0.5", "the array 'occupied': '0.5' is no value"),
        (">2<", ">3<", "the array 'up' is neither 1, for y, nor 2, for z"),
        (">2<", "><", "the array 'up' is neither 1, for y, nor 2, for z"),
        ("Name=\"occ", "NumberOfComponents=\"2\" Name=\"occ", "one number, not 2 of type UInt8"),
        ("Name=\"occ", "NumberOfComponents=\"x\" Name=\"occ", "is not a valid number"),
        ("\"UInt8\" Name=\"occ", "\"Bit\" Name=\"occ", "values of type 'Bit' are not read"),
        ("\"UInt8\" Name=\"occ", "\"UInt12\" Name=\"occ", "values of type 'UInt12' are not read"),
        ("\"UInt8\" Name=\"occ", "\"String\" Name=\"occ", "one number, not 1 of type String"),
        ("CellData", "PointData", "arrays of points only, 'occupied', and voxels are cells"),
        ("CellData", "RowData", "it has no arrays: voxels are an array of cells"),
        (ascii, "format=\"appended\" R", "<DataArray> has no attribute 'offset'"),
        (ascii, "format=\"text\" R", text),
        (ascii, "format=\"appended\" offset=\"5\" R", "more than the file has there"),
        (ascii, "format=\"binary\" R", "the array 'occupied': "),
    ] {
        refused(Vti, replaced(&[(from, to)]).as_bytes(), why);
    }
    for (from, attribute, value, instead) in [
        ("type=\"ImageData\"", "type", "PolyData", "ImageData"),
        ("byte_order=\"LittleEndian\"", "byte_order", "BigEndian", "LittleEndian"),
        ("header_type=\"UInt64\"", "header_type", "UInt16", "UInt64"),
        ("header_type=\"UInt64\"", "compressor", "UInt64", "vtkZLibDataCompressor"),
    ] {
        let text = replaced(&[(from, &format!("{attribute}=\"{value}\""))]);
        refused(Vti, text.as_bytes(), &unread(attribute, value, instead));
    }
    let two = with_array("Float32", "b", 1, "").replace("Name=\"occupied\"", "Name=\"a\"");
    let why = "no array of cells is named 'occupied': rename one of 'b', 'a'";
    refused(Vti, two.as_bytes(), why);
    refused(Vti, &[b'x'; 5000], "not a .vti file");
    refused(Vti, b"<VTKFile>\xff</VTKFile>", "not in UTF-8");
}

#[test]
fn values_of_an_attribute_in_empty_cells_are_not_judged() {
    let text = with_array("Int32", "triangle", 1, "-1 -7 -7 3");
    let grid = load_silently(Vti, text.as_bytes());
    assert!(attributes_of(&grid).of_voxels(&grid).map(|of| of.triangle).eq([-1, 3]));
    let text = with_array("Int32", "triangle", 1, "-1 -7 -7 -2");
    let why = "the array 'triangle': voxel [1, 0, 1]: -2 is not possible: use -1 or more";
    refused(Vti, text.as_bytes(), why);
}

/// The place of the first array in a file that was written, and its numbers: of blocks, of bytes in
/// a block and in the last one, and of the first compressed block.
#[test]
fn lengths_that_lie_are_refused() {
    let good = written(&block([60, 100, 100], [0; 3], [30, 50, 99]), Vti);
    let at = position(&good, b">\n_") + 3;
    let number = |n: usize| u64::from_le_bytes(*good[at + 8 * n..].first_chunk().unwrap());
    assert_eq!([0, 1, 2].map(number), [3, 256 << 10, 600_000 % (256 << 10)]);
    let more = "are announced, which are more than the file has there";
    let length = "bytes, but the extent needs 600000";
    for (n, value, why) in [
        (0, 0, "its values have 0 bytes, but the extent needs 600000"),
        (0, 2, length),
        (0, 4, ""),
        (0, u64::MAX, more),
        (0, u64::MAX / 8, more),
        (1, 0, length),
        (1, 1 << 18 | 1, length),
        (1, u64::MAX, length),
        (2, 0, length),
        (2, u64::MAX, length),
        (3, 0, ""),
        (3, number(3) - 1, "the array 'occupied': "),
        (3, number(3) + 1, "the array 'occupied': "),
        (3, u64::MAX, more),
        (4, u64::MAX - number(3), more),
        (5, u64::MAX - 1, more),
    ] {
        refused(Vti, &patched(&good, at + 8 * n, &u64s(&[value])), why);
    }
    // A block that inflates to less or more than it should, and one with another checksum.
    let swapped = patched(&good, at + 8, &u64s(&[number(2), 256 << 10]));
    refused(Vti, &swapped, "the extent needs");
    let sum = at + 8 * 6 + number(3) as usize - 1;
    refused(Vti, &patched(&good, sum, &[good[sum] ^ 1]), "the array 'occupied': ");
}

#[test]
fn changed_files_of_all_encodings_are_read_or_refused() {
    read_with_changes(Vti, &written(&everything(), Vti));
    for base64 in
        ["BAAAAAAAAAABAAAH", "BAAAAAAAAAABAAAHx", "BAAAAAAAAAAB====", "=", "BAAA AAAAAAABAAAH"]
    {
        let text = replaced(&[("format=\"ascii\" R", "format=\"binary\" R"), ("1 0 0 7", base64)]);
        let read = read(Vti, text.as_bytes());
        assert_eq!(read.is_ok(), base64.len() <= 17 && base64.starts_with("BAAAAAAAAAABAAAH"));
        read_with_changes(Vti, text.as_bytes());
    }
    read_with_changes(Vti, ASCII.as_bytes());
}

/// Base 64 of an array in one compressed block of `len` bytes.
fn compressed(values: &[u8], len: u64) -> String {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(values).unwrap();
    let stream = encoder.finish().unwrap();
    let numbers = [1, len, 0, stream.len() as u64].map(u64::to_le_bytes);
    BASE64_STANDARD.encode(numbers.as_flattened()) + &BASE64_STANDARD.encode(stream)
}

#[test]
fn files_that_need_too_much_memory_are_refused() {
    // Eight layers of colours.
    let grid = block([2000, 2000, 9], [0; 3], [9; 3]).with_colors(Colors::uniform(RED));
    refused_within(100 << 20, Vti, &written(&grid, Vti));
    // Texts without characters, as values of a field.
    let zlib = (" header", " compressor=\"vtkZLibDataCompressor\" header");
    let bomb = compressed(&[0; 8 << 20], 8 << 20);
    let names = format!(
        r#"<Array type="String" Name="label_names" format="binary">{bomb}</Array></FieldData>"#
    );
    let label = array("Int32", "label", 1, "0 0 0 0");
    let labelled =
        [("<CellData Scalars=\"occupied\">", &label[..]), ("</FieldData>", &names), zlib];
    let text = replaced(&labelled);
    assert!(read(Vti, text.as_bytes()).is_ok());
    refused_within(256 << 20, Vti, text.as_bytes());
    // A block that says that it is large, and one that is, but does not say so.
    let binary = ("format=\"ascii\" R", "format=\"binary\" R");
    let many = ("0 2 0 1 0 2", "0 65536 0 65536 0 65536");
    let text = replaced(&[zlib, binary, many, ("1 0 0 7", &compressed(&[7; 4], 1 << 48))]);
    refused_within(1 << 30, Vti, text.as_bytes());
    let text = replaced(&[zlib, binary, ("1 0 0 7", &compressed(&[7; 8 << 20], 4))]);
    refused(Vti, text.as_bytes(), "the array 'occupied': a block has another length");
    let text = replaced(&[zlib, binary, ("1 0 0 7", &compressed(&[7; 4], 4))]);
    assert_eq!(read(Vti, text.as_bytes()).unwrap().occupied(), 4);
}
