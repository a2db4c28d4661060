//! 3MF: packages, builds, colours, and what is refused.

use super::*;
use crate::common::files::{RELATIONSHIPS_3MF, zip_of};

pub(crate) fn read(bytes: impl AsRef<[u8]>) -> Result<LoadedMesh, ReadError> {
    read_as("3mf", bytes, &ReadOptions::default())
}

/// A square of two triangles, and its mirror image in a component.
pub(crate) const MODEL: &str = r##"<?xml version="1.0" encoding="UTF-8"?>
<model unit="millimeter" xml:lang="en-US"
 xmlns="http://schemas.microsoft.com/3dmanufacturing/core/2015/02"
 xmlns:m="http://schemas.microsoft.com/3dmanufacturing/material/2015/02" requiredextensions="m">
 <metadata name="Title">A square &amp; more</metadata>
 <resources>
  <basematerials id="1"><base name="PLA red" displaycolor="#FF0000"/>
   <base name="glass" displaycolor="#0000FF80"/></basematerials>
  <m:colorgroup id="2"><m:color color="#00FF00"/><m:color color="#0000FFFF"/></m:colorgroup>
  <object id="3" type="model" name="square" pid="1" pindex="0">
   <mesh>
    <vertices><vertex x="0" y="0" z="0"/><vertex x="1" y="0" z="0"/><vertex x="1" y="1" z="0"/>
     <vertex x="0" y="1" z="0"/></vertices>
    <triangles><triangle v1="0" v2="1" v3="2"/>
     <triangle v1="0" v2="2" v3="3" pid="2" p1="0"/></triangles>
   </mesh>
  </object>
  <object id="4" name="pair"><components>
   <component objectid="3" transform="-1 0 0 0 1 0 0 0 1 3 0 0.5"/></components></object>
 </resources>
 <build><item objectid="3"/><item objectid="4" transform="1 0 0 0 1 0 0 0 1 0 10 0"/></build>
</model>
"##;

fn model(text: impl AsRef<[u8]>) -> Result<LoadedMesh, ReadError> {
    read(package_3mf(text.as_ref()))
}

/// A model of these resources, whose build is object 3.
fn of(resources: &str) -> String {
    format!(
        "<model><resources>{resources}</resources><build><item objectid=\"3\"/></build></model>"
    )
}

const VERTICES: &str = "<vertices><vertex x=\"0\" y=\"0\" z=\"0\"/>\
    <vertex x=\"1\" y=\"0\" z=\"0\"/><vertex x=\"1\" y=\"1\" z=\"0\"/></vertices>";
const TRIANGLE: &str = r#"<triangles><triangle v1="0" v2="1" v3="2"/></triangles>"#;

/// Object 3, a triangle, with these attributes.
fn object(attributes: &str) -> String {
    format!("<object id=\"3\" {attributes}><mesh>{VERTICES}{TRIANGLE}</mesh></object>")
}

#[test]
fn the_build_is_read_with_components_transforms_and_mirrors() {
    let moved = |[x, y, z]: [f64; 3]| [3.0 - x, y + 10.0, z + 0.5];
    let [a, b, c, d] = [A, B, C, D].map(moved);
    let loaded = model(MODEL);
    let mesh = &loaded.as_ref().unwrap().mesh;
    assert_eq!(labels(mesh), ("square,square".to_owned(), vec![0, 0, 1, 1]));
    assert_eq!(triangles(loaded), [[A, B, C], [A, C, D], [a, c, b], [a, d, c]]);
}

#[test]
fn a_transform_is_the_one_of_the_specification() {
    // A point is a row: (x y z 1) times the matrix of four rows.
    let text = of(&object(""))
        .replace("objectid=\"3\"", "objectid=\"3\" transform=\"1 2 3 4 5 6 7 8 10 11 12 13\"");
    let row = |[x, y, z]: [f64; 3]| {
        [
            x + 4.0 * y + 7.0 * z + 11.0,
            2.0 * x + 5.0 * y + 8.0 * z + 12.0,
            3.0 * x + 6.0 * y + 10.0 * z + 13.0,
        ]
    };
    // The determinant is -3: a mirror.
    assert_eq!(triangles(model(text)), [[A, C, B].map(row)]);
}

#[test]
fn base_materials_and_colour_groups_are_colours() {
    let look = look(model(MODEL));
    let names: Vec<&str> = look.materials.iter().map(|m| &m.name[..]).collect();
    assert_eq!(names, ["", "PLA red", "glass", "#00ff00"]);
    let color = |index: usize| look.materials[index].color;
    assert_eq!(color(1), linear_of_rgba(RED));
    assert_eq!(color(2), linear_of_rgba([0, 0, 255, 128]));
    assert_eq!(color(3), linear_of_rgba(GREEN));
    assert_eq!(look.material_of, [1, 3, 1, 3]);
}

#[test]
fn colours_of_corners_are_averaged_with_a_warning() {
    let text = MODEL.replace("p1=\"0\"", "p1=\"0\" p2=\"0\" p3=\"1\"");
    let said = "1 triangle has different colours at the corners: each has their mean";
    let mesh = warned(model(text), said);
    let look = mesh.appearance().unwrap();
    let mean = look.materials[look.material_of[1] as usize].color;
    for (channel, share) in mean.into_iter().zip([0.0, 2.0, 1.0, 3.0]) {
        let expected = share / 3.0 * 65535.0;
        // The material's colour is rounded to 8 bits of sRGB.
        assert!((f64::from(channel) - expected).abs() < 300.0, "{mean:?}");
    }
}

#[test]
fn parts_in_other_files_are_read_once() {
    let part = of(&object("name=\"inner\""));
    let root = r#"<model requiredextensions="p"
        xmlns:p="http://schemas.microsoft.com/3dmanufacturing/production/2015/06"><resources>
        <object id="8" name="outer"><components>
        <component p:path="/3D/Objects/A.model" objectid="3"/>
        <component p:path="/3D/Objects/A.model" objectid="3" transform="1 0 0 0 1 0 0 0 1 0 0 2"/>
        </components></object></resources><build><item objectid="8"/>
        <item p:path="/3D/Objects/A.model" objectid="3"/></build></model>"#;
    let package = |part: &[(&str, &[u8])]| {
        let root =
            [("_rels/.rels", RELATIONSHIPS_3MF.as_bytes()), ("3D/3dmodel.model", root.as_bytes())];
        read(zip_of(&[&root, part].concat()))
    };
    let up = |[x, y, z]: [f64; 3]| [x, y, z + 2.0];
    let expected = [[A, B, C], [A, B, C].map(up), [A, B, C]];
    assert_eq!(triangles(package(&[("3d/objects/a.model", part.as_bytes())])), expected);
    let said = "the package has no part /3D/Objects/A.model, to which it refers";
    assert_eq!(fault(package(&[])), said);
    let nested = part.replace(
        "</resources>",
        r#"<object id="4"><components><component objectid="3" p:path="/x"/></components></object>
        </resources>"#,
    );
    let said = fault(package(&[("3D/Objects/A.model", nested.as_bytes())]));
    assert!(said.ends_with("only the root model may refer to other parts by a path"), "{said}");
}

#[test]
fn helpers_of_the_slicer_are_skipped_and_said() {
    let helper = object("type=\"other\"").replace("id=\"3\"", "id=\"5\"");
    let part = "<component objectid=\"3\"";
    let text = MODEL
        .replace("<object id=\"4\"", &format!("{helper}<object id=\"4\""))
        .replace(part, &format!("<component objectid=\"5\"/>{part}"));
    let said = "objects that are no parts of the model were skipped, of the type: 'other'";
    assert_eq!(warned(model(text), said).triangles().len(), 4);
}

/// Changes of a model of one triangle, and the warnings about what is not read.
const NOT_READ: &str = r#"
<object id="3" > => <m:texture2dgroup id="9" texid="1"><m:tex2coord u="0" v="0"/>\
</m:texture2dgroup><object id="3" pid="9" pindex="0">
    1 triangle has a texture, a composite or several properties, which are not read: plain
v3="2" => v3="2" paint_color="4"
    1 triangle has colours painted in the program's own way, which are not read
</mesh> => <b:beamlattice><b:beams><b:beam v1="0" v2="1"/></b:beams></b:beamlattice></mesh>
    1 beam lattice was skipped: only triangles are read
<model> => <model unit="furlong"> | coordinates are in a unit that 3MF does not have: 'furlong'
"#;

#[test]
fn what_is_not_read_is_said() {
    for (changed, said) in changes(&of(&object("")), NOT_READ) {
        assert_eq!(corners(&warned(model(changed), &said)), [[A, B, C]]);
    }
    // The vertices of slices are no vertices of the mesh.
    let sliced = of(&object(""))
        .replace("<triangles>", "<s:vertices><s:vertex x=\"9\" y=\"9\"/></s:vertices><triangles>");
    assert_eq!(triangles(model(sliced)), [[A, B, C]]);
}

/// Changes of a model of one triangle, and why they are refused, after the name of the part.
const BAD_MODELS: &str = r#"
v3="2" => v3="3" | line 1: vertex index 3 is out of range: there are 3, counted from 0
v3="2" => v3="-1" | line 1: v3="-1" is not a valid number
 v3="2" => | line 1: <triangle> has no attribute 'v3'
x="1" => x="nan" | line 1: x is NaN, not a finite number
x="1" => x="1,5" | line 1: x="1,5" is not a valid number
y="1" => \n\n\ny="up" | line 4: y="up" is not a valid number
v3="2" => v3="2" pid="7" | line 1: there is no group of properties with the identifier 7
object id="3" => object id="9"
    line 1: object 3 does not exist, or is defined after this reference to it
</resources> => <object id="3"><mesh/></object></resources> | line 1: there are two objects 3
<mesh> => <components/><mesh>
    line 1: object 3 needs a mesh or components, and not both: only these are read
</resources> => <object id="4"/></resources>
    line 1: object 4 needs a mesh or components, and not both: only these are read
</resources> => <object id="4"><components><component objectid="4"/></components></object>\
</resources> | line 1: object 4 does not exist, or is defined after this reference to it
item objectid="3" => item objectid="3" transform="1 2 3"
    line 1: transform="1 2 3" is not 12 finite numbers
<resources> => <resources><basematerials id="1"><base name="a" displaycolor="red"/></basematerials>
    line 1: the colour 'red' is neither #RRGGBB nor #RRGGBBAA
<model> => <model xmlns:v="http://v" requiredextensions="v">
    line 1: it requires the extension v (http://v), which is not read: export the model without it,
    or as .stl
<model> => <!DOCTYPE a [<!ENTITY b "c">]><model> | line 1: a document type is not allowed
<model> => <svg> | line 1: the root element is not <model>
</mesh> => </wrong> | line 1:
"#;

#[test]
fn malformed_models_are_refused_with_the_line() {
    for (changed, expected) in changes(&of(&object("")), BAD_MODELS) {
        let said = fault(model(&changed));
        let expected = format!("/3D/3dmodel.model, {expected}");
        let is_begin = expected.ends_with(':') && said.starts_with(&expected);
        assert!(is_begin || said == expected, "{changed}: {said}");
    }
    for (model_text, said) in [
        (&b"<model><resources>\n"[..], "/3D/3dmodel.model, line 2: it ends within an element"),
        (b"<model><resources/><build/></model>", "the mesh has no triangles"),
        (b"\xff<model/>", "/3D/3dmodel.model is not in UTF-8: export it in UTF-8"),
    ] {
        assert_eq!(fault(model(model_text)), said);
    }
}

#[test]
fn components_may_not_multiply_without_bound() {
    // Each object is twice the one before it.
    let doubled = |count: u32| {
        let mut objects = object("").replace("id=\"3\"", "id=\"100\"");
        for id in 101..=100 + count {
            let twice = format!("<component objectid=\"{}\"/>", id - 1).repeat(2);
            objects += &format!("<object id=\"{id}\"><components>{twice}</components></object>");
        }
        of(&objects).replace("item objectid=\"3\"", &format!("item objectid=\"{}\"", 100 + count))
    };
    assert_eq!(model(doubled(10)).unwrap().mesh.triangles().len(), 1024);
    assert!(fault(model(doubled(40))).starts_with("the mesh has 3298534883328 vertices; at most"));
    let said =
        "its components and items repeat objects too often: 134,217,728 triangles of 1 in the file";
    assert!(fault(model(doubled(27))).starts_with(said));
    assert!(fault(model(doubled(70))).ends_with("more than 64 deep"));
    let options = ReadOptions { memory: 1 << 20, ..ReadOptions::default() };
    let limited = read_as("3mf", package_3mf(doubled(20).as_bytes()), &options);
    assert!(matches!(limited, Err(ReadError::Memory { .. })), "{limited:?}");
    // Without a triangle, doubling takes no time.
    let empty = doubled(60).replace(TRIANGLE, "<triangles/>");
    assert_eq!(fault(model(empty)), "the mesh has no triangles");
}

#[test]
fn packages_are_refused_with_a_reason() {
    let office = RELATIONSHIPS_3MF.replace("3dmanufacturing/2013/01/3dmodel", "other");
    let other = "a package of another format than 3MF: _rels/.rels names no 3D model";
    for (package, said) in [
        (b"solid".to_vec(), "not a 3MF file: it is no zip archive"),
        (
            zip_of(&[("word/document.xml", b"<a/>")]),
            "a zip archive, but no 3MF file: it has no file _rels/.rels",
        ),
        (zip_of(&[("_rels/.rels", office.as_bytes())]), other),
        (zip_of(&[("a", b""), ("A", b"")]), "the zip archive has two files named A"),
    ] {
        assert_eq!(fault(read(package)), said);
    }
    // The archive has a checksum of the content.
    let mut damaged = package_3mf(MODEL.as_bytes());
    let at = damaged.windows(5).position(|bytes| bytes == b"x=\"1\"").unwrap() + 3;
    damaged[at] = b'2';
    let said = fault(read(damaged));
    assert!(said.starts_with("/3D/3dmodel.model is cut off, or damaged: "), "{said}");
}
