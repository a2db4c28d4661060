//! `voxelize convert`: what it writes, warns of and refuses.

use super::*;

use trivox::{Up, World};

#[test]
fn voxels_and_their_place_go_through_every_format_that_carries_them() {
    let folder = folder();
    succeeds(&folder, "mesh.obj --res 21 --up z -o a.vox");
    let mut last = "a.vox".to_owned();
    for format in ["npz", "bricks", "vox"] {
        let next = format!("b.{format}");
        let wrote = format!("wrote     {next}, ");
        let said = says(&folder, &format!("convert {last} {next}"), &wrote);
        assert!(!said.contains("warning"), "{said}");
        last = next;
    }
    assert_eq!(folder.read("a.vox"), folder.read(&last));
}

#[test]
fn an_up_axis_that_was_forgotten_can_be_given_later() {
    let folder = folder();
    for args in ["mesh.obj --res 21 -o y.npz", "mesh.obj --res 21 --up z -o z.npz"] {
        succeeds(&folder, args);
    }
    succeeds(&folder, "convert y.npz turned.vox --up z");
    assert_eq!(folder.grid("turned.vox").world, folder.grid("z.npz").world);
    // A file without a place.
    succeeds(&folder, "convert y.npz y.npy");
    succeeds(&folder, "convert y.npy unplaced.npz --up Z");
    assert_eq!(folder.grid("unplaced.npz").world, World { up: Up::Z, place: None });
}

#[test]
fn voxels_of_magicavoxel_stand_upright_in_every_format() {
    let folder = folder();
    // A pole along z in MagicaVoxel's axes, in a file of one model without our attribute.
    let mut vox = b"VOX \x96\0\0\0MAIN\0\0\0\0\x30\0\0\0".to_vec();
    vox.extend(b"SIZE\x0c\0\0\0\0\0\0\0\x01\0\0\0\x01\0\0\0\x02\0\0\0");
    vox.extend(b"XYZI\x0c\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\x01\0\0\x01\x01");
    folder.write("pole.vox", vox);
    for extension in ["npz", "bricks", "schem", "litematic", "vdb", "nvdb", "vti"] {
        let name = &format!("pole.{extension}");
        succeeds(&folder, &format!("convert pole.vox {name}"));
        succeeds(&folder, &format!("convert {name} back.vox"));
        let (grid, back) = (folder.grid(name), folder.grid("back.vox"));
        assert_eq!((grid.dims(), grid.world.up), ([1, 1, 2], Up::Z), "{name}");
        assert_eq!(back, folder.grid("pole.vox"), "{name}");
    }
    let blocks = GridFormat::Schem.blocks(&folder.grid("pole.vox"));
    assert_eq!(blocks, Some([1, 2, 1]), "width, height and length");
}

#[test]
fn a_frame_of_magicavoxel_is_read_and_other_formats_have_none() {
    let folder = folder();
    // Two models without a scene graph: one voxel, and two.
    let mut vox = b"VOX \x96\0\0\0MAIN\0\0\0\0\x60\0\0\0".to_vec();
    for length in [1, 2] {
        vox.extend(b"SIZE\x0c\0\0\0\0\0\0\0\x01\0\0\0\x01\0\0\0");
        vox.extend([length, 0, 0, 0]);
        vox.extend(b"XYZI\x0c\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\x01\0\0");
        vox.extend([length - 1, 1]);
    }
    folder.write("two.vox", vox);
    let info = succeeds(&folder, "info two.vox --frame 1 --visible-only");
    assert!(stdout(&info).contains("grid      1 x 1 x 2 voxels"), "{}", stdout(&info));
    for frame in [0, 1] {
        succeeds(&folder, &format!("convert two.vox a.npz --frame {frame}"));
        assert_eq!(folder.grid("a.npz").dims(), [1, 1, 1 + frame]);
        succeeds(&folder, &format!("slice two.vox --frame {frame} -z {frame}"));
    }
    // Of a folder the options are for what has scenes.
    fs::create_dir(folder.join("all")).unwrap();
    for name in ["two.vox", "mesh.obj"] {
        folder.write(Path::new("all").join(name), folder.read(name));
    }
    succeeds(&folder, "render all -o all.png --frame 1 --samples 1 --size 32x32");
    fs::remove_file(folder.join("all/two.vox")).unwrap();
    refuses(&folder, "render all -o b.png --frame 1", "mesh.obj: is no .vox, so --frame has no");
    for (args, complaint) in [
        ("convert two.vox b.npz", "two.vox: the file has 2 models but no scene graph"),
        (
            "render two.vox b.png --frame 2",
            "two.vox: there is no frame 2: the file has the frames 0 to 1",
        ),
        ("info a.npz --frame 0", "a.npz: is no .vox, so --frame has no effect: leave it out"),
        ("slice mesh.obj --visible-only", "mesh.obj: is no .vox, so --visible-only has no effect"),
        ("convert a.npz b.npz --visible-only", "a.npz: is no .vox, so --visible-only has"),
    ] {
        refuses(&folder, args, complaint);
    }
}

#[test]
fn what_a_format_does_not_hold_is_said() {
    let folder = folder();
    succeeds(&folder, "mesh.obj --res 8 --up z -o a.vox");
    let said = |args: &str| stderr(&voxelize(&folder, args));
    let npy = said("convert a.vox b.npy");
    assert!(npy.contains("note: where the grid lies, its voxel size and which axis"), "{npy}");
    let binvox = said("convert a.vox b.binvox");
    let padded = "note: the grid of 8 x 8 x 2 voxels is padded to 8 x 8 x 8";
    assert!(binvox.contains(padded), "{binvox}");
    assert!(binvox.contains("note: that z is up is not kept"), "{binvox}");
    assert!(!said("convert b.npy c.npz").contains("note"));
    assert!(said("convert -q a.vox b.npy").is_empty());
    let json = json_of(&folder, "convert a.vox b.npy --json -q");
    assert_eq!((&json["file"], &json["output"]), (&"a.vox".into(), &"b.npy".into()));
    assert_eq!(json["notes"].as_array().unwrap().len(), 1);
    assert_eq!(json["bytes"], fs::metadata(folder.join("b.npy")).unwrap().len());
}

#[test]
fn the_simplest_form_of_a_format_is_written_where_it_has_one() {
    let folder = folder();
    succeeds(&folder, "mesh.obj --res 21 -o a.npz");
    for (args, said) in [
        ("convert a.npz a.vox --plain", "a plain .vox does not hold where the grid lies"),
        ("convert a.npz b.npz --plain", "--plain had no effect: .npz has one form"),
        ("convert a.npz a.schem --plain", ""),
        ("mesh.obj --res 21 --plain", "--plain had no effect: no voxels are written"),
    ] {
        says(&folder, args, said);
    }
    fails(&folder, "mesh.obj --res 257 --plain -o a.vox", "write one that is not plain");
    succeeds(&folder, "info a.npz --memory 10kB");
    fails(&folder, "info a.schem --memory 1kB", "a.schem: reading it may take ");
}

#[test]
fn standard_output_takes_the_format_that_is_named() {
    let folder = folder();
    succeeds(&folder, "mesh.obj --res 8 -o a.vox");
    let run = voxelize(&folder, "convert a.vox - --format binvox");
    assert!(run.status.success() && run.stdout.starts_with(b"#binvox 1\n"));
    succeeds(&folder, "convert a.vox b.data --format npy");
    assert!(folder.read("b.data").starts_with(b"\x93NUMPY"));
    assert!(stdout(&voxelize(&folder, "convert a.vox b.npy")).is_empty());
}

#[test]
fn what_cannot_be_converted_is_refused_and_changes_nothing() {
    let folder = folder();
    write_grid(&folder, "long.npy", &VoxelGrid::empty([2001, 1, 1]).unwrap());
    folder.write("grid.vol", "");
    for (args, complaint) in [
        ("convert mesh.obj b.npy", "mesh.obj: is a mesh: voxelize it first"),
        ("convert long.npy b.stl", "b.stl: .stl files are read, but not written: use one of .vox"),
        ("convert long.npy b.xyz", "b.xyz: unknown file extension '.xyz'"),
        ("convert a.fbx b.npy", "a.fbx: No such file"),
        ("convert long.npy - --format vox", "2,001 voxels along the x axis"),
        ("convert long.npy long.npy", "long.npy: would overwrite an input: name another file"),
        ("convert old.npy b.vox", "old.npy: "),
        ("convert long.npy .", ".: is a folder"),
        ("convert long.npy -", "give the format with --format"),
        ("convert long.npy - --format npy --json", "--json and -o - both write to standard output"),
        ("convert long.npy nowhere/b.npy", "there is no folder 'nowhere'"),
        ("convert grid.vol b.npy", "grid.vol: .vol files are written, but not read"),
    ] {
        refuses(&folder, args, complaint);
    }
    exits(&folder, "convert long.npy", 2);
}
