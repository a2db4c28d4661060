//! `voxelize convert`: what it writes, warns of and refuses.

use trivox::{Up, VoxelGrid, World};

use super::*;

/// A MagicaVoxel file without our attribute and without a scene graph: a model for each of these
/// lengths, in MagicaVoxel's axes a pole along z, of which the ends are occupied.
fn poles(lengths: &[u8]) -> Vec<u8> {
    let mut vox = b"VOX \x96\0\0\0MAIN\0\0\0\0".to_vec();
    vox.extend([48 * lengths.len() as u8, 0, 0, 0]);
    for &length in lengths {
        vox.extend(b"SIZE\x0c\0\0\0\0\0\0\0\x01\0\0\0\x01\0\0\0");
        vox.extend([length, 0, 0, 0]);
        vox.extend(b"XYZI\x0c\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\x01\0\0");
        vox.extend([length - 1, 1]);
    }
    vox
}

#[test]
fn voxels_and_their_place_go_through_every_format_that_carries_them() {
    let folder = folder();
    folder.succeeds("mesh.obj --res 21 --up z -o a.vox");
    let mut last = "a.vox".to_owned();
    for format in ["npz", "bricks", "vox"] {
        let next = format!("b.{format}");
        let said = folder.says(format!("convert {last} {next}"), &format!("wrote     {next}, "));
        assert!(!said.contains("warning"), "{said}");
        last = next;
    }
    assert_eq!(folder.read("a.vox"), folder.read("b.vox"));
}

#[test]
fn an_up_axis_that_was_forgotten_can_be_given_later() {
    let folder = folder();
    for args in [
        "mesh.obj --res 21 -o y.npz",
        "mesh.obj --res 21 --up z -o z.npz",
        "convert y.npz turned.vox --up z",
        // A file without a place.
        "convert y.npz y.npy",
        "convert y.npy unplaced.npz --up Z",
    ] {
        folder.succeeds(args);
    }
    assert_eq!(folder.grid("turned.vox").world, folder.grid("z.npz").world);
    assert_eq!(folder.grid("unplaced.npz").world, World { up: Up::Z, place: None });
}

#[test]
fn a_frame_of_magicavoxel_is_read_and_other_formats_have_none() {
    let folder = folder();
    folder.write("two.vox", poles(&[1, 2]));
    let info = folder.printed("info two.vox --frame 1 --visible-only");
    assert!(info.contains("grid      1 x 1 x 2 voxels"), "{info}");
    for frame in [0, 1] {
        folder.succeeds(format!("convert two.vox a.npz --frame {frame}"));
        assert_eq!(folder.grid("a.npz").dims(), [1, 1, 1 + frame]);
        folder.succeeds(format!("slice two.vox --frame {frame} -z {frame}"));
    }
    let no_frame = "two.vox: there is no frame 2: the file has the frames 0 to 1";
    folder.each("_").refuses(&[
        ("convert two.vox b.npz", "two.vox: the file has 2 models but no scene graph"),
        ("render two.vox b.png --frame 2", no_frame),
        ("info a.npz --frame 0", "a.npz: is no .vox, so --frame has no effect: leave it out"),
        ("slice mesh.obj --visible-only", "mesh.obj: is no .vox, so --visible-only has no effect"),
        ("convert a.npz b.npz --visible-only", "a.npz: is no .vox, so --visible-only has"),
    ]);
}

#[test]
fn what_a_format_does_not_hold_is_said() {
    let folder = folder();
    folder.succeeds("mesh.obj --res 8 --up z -o a.vox");
    folder.each("convert a.vox _").says(&[
        ("b.npy", "note: where the grid lies, its voxel size and which axis"),
        ("b.binvox", "note: the grid of 8 x 8 x 2 voxels is padded to 8 x 8 x 8"),
        ("b.binvox", "note: that z is up is not kept"),
    ]);
    assert!(!folder.said("convert b.npy c.npz").contains("note"));
    assert!(folder.said("convert -q a.vox b.npy").is_empty());
    assert!(folder.printed("convert a.vox b.npy").is_empty());
    let json = folder.json("convert a.vox b.npy -q");
    assert_eq!((&json["file"], &json["output"]), (&"a.vox".into(), &"b.npy".into()));
    assert_eq!(json["notes"].as_array().unwrap().len(), 1);
    assert_eq!(json["bytes"], folder.read("b.npy").len());
}

#[test]
fn the_simplest_form_of_a_format_is_written_where_it_has_one() {
    let folder = folder();
    folder.succeeds("mesh.obj --res 21 -o a.npz");
    folder.each("_ --plain").says(&[
        ("convert a.npz a.vox", "a plain .vox does not hold where the grid lies"),
        ("convert a.npz b.npz", "--plain had no effect: .npz has one form"),
        ("convert a.npz a.schem", ""),
        ("mesh.obj --res 21", "--plain had no effect: no voxels are written"),
    ]);
    folder.fails("mesh.obj --res 257 --plain -o a.vox", "write one that is not plain");
    folder.succeeds("info a.npz --memory 10kB");
    folder.fails("info a.schem --memory 1kB", "a.schem: reading it may take ");
}

#[test]
fn the_format_that_is_named_is_written_to_standard_output_and_to_any_file() {
    let folder = folder();
    folder.succeeds("mesh.obj --res 8 -o a.vox");
    let run = folder.succeeds("convert a.vox - --format binvox");
    assert!(run.stdout.starts_with(b"#binvox 1\n"));
    folder.succeeds("convert a.vox b.data --format npy");
    assert!(folder.read("b.data").starts_with(b"\x93NUMPY"));
}

#[test]
fn what_cannot_be_converted_is_refused_and_changes_nothing() {
    let folder = folder();
    folder.write_grid("long.npy", &VoxelGrid::empty([2001, 1, 1]).unwrap());
    folder.write("grid.vol", "");
    folder.each("convert _").refuses(&[
        ("long.npy b.stl", "b.stl: .stl files are read, but not written: use one of .vox"),
        ("long.npy b.xyz", "b.xyz: unknown file extension '.xyz'"),
        ("a.fbx b.npy", "a.fbx: No such file"),
        ("long.npy - --format vox", "2,001 voxels along the x axis"),
        ("long.npy long.npy", "long.npy: would overwrite an input: name another file"),
        ("old.npy b.vox", "old.npy: "),
        ("long.npy .", ".: is a folder"),
        ("long.npy -", "give the format with --format"),
        ("long.npy - --format npy --json", "--json and -o - both write to standard output"),
        ("long.npy nowhere/b.npy", "there is no folder 'nowhere'"),
        ("grid.vol b.npy", "grid.vol: .vol files are written, but not read"),
    ]);
    folder.exits("convert long.npy", 2);
}

#[test]
fn a_conversion_of_no_voxels_says_so() {
    let folder = folder();
    let none = VoxelGrid::empty([3, 4, 5]).unwrap();
    let mut file = Vec::new();
    trivox::formats::write_grid(&none, trivox::formats::GridFormat::Npy, &mut file).unwrap();
    folder.write("none.npy", file);
    for to in ["none.obj", "none.npz"] {
        let report = folder.json(format!("convert none.npy {to}"));
        assert_eq!(report["warnings"], json!(["no voxel is occupied"]), "{to}");
    }
}
