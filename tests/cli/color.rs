//! What voxels look like.

use std::collections::BTreeSet;

use trivox::grid::Colors;

use super::*;

/// A red and a blue square, and one in which all is transparent.
pub(super) fn in_colors() -> Folder {
    let folder = Folder::new();
    let square = |x: u32| {
        let corners = [[0, 0], [1, 0], [1, 1], [0, 1]];
        corners.map(|[dx, y]| format!("v {} {y} {}\n", x + dx, x + dx)).concat()
    };
    let text = format!(
        "mtllib three.mtl\n{}{}{}usemtl red\nf 1 2 3 4\nusemtl blue\nf 5 6 7 8\nusemtl air\n\
         f 9 10 11 12\n",
        square(0),
        square(2),
        square(4)
    );
    let materials = "newmtl red\nKd 1 0 0\nnewmtl blue\nKd 0 0 1\nnewmtl air\nKd 0 1 0\nd 0\n";
    folder.write("three.obj", text);
    folder.write("three.mtl", materials);
    folder
}

/// The different colours of a file's voxels.
fn colors(folder: &Folder, name: &str) -> Vec<[u8; 4]> {
    let grid = folder.grid(name);
    let colors = grid.colors.as_ref().unwrap();
    let mut all: Vec<[u8; 4]> = grid.voxels().map(|voxel| colors.of(voxel)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

const RED: [u8; 4] = [255, 0, 0, 255];
const BLUE: [u8; 4] = [0, 0, 255, 255];

#[test]
fn voxels_have_the_colours_of_the_mesh_and_what_is_transparent_none() {
    let folder = in_colors();
    for name in ["three.vox", "three.npz", "three.bricks", "three.vdb"] {
        let said = "voxels in which all is transparent were left out";
        says(&folder, &format!("three.obj --res 25 -o {name}"), said);
        assert_eq!(colors(&folder, name), [BLUE, RED], "{name}");
    }
    assert_eq!(folder.grid("three.vox"), folder.grid("three.npz"));
}

#[test]
fn the_interior_colour_holds_for_a_mesh_of_one_colour_and_is_missed_without_colours() {
    let folder = folder();
    let cube = include_str!("../../assets/cube.obj");
    let shape: Vec<&str> =
        cube.lines().filter(|l| l.starts_with("v ") || l.starts_with("f ")).collect();
    folder.write("plain.obj", shape.join("\n"));
    folder.write("red.obj", format!("mtllib red.mtl\nusemtl red\n{}", shape.join("\n")));
    folder.write("red.mtl", "newmtl red\nKd 1 0 0\n");
    let solid = "--res 16 --mode solid --interior-color #0000ff -o a.vox";
    let run = voxelize(&folder, &format!("red.obj {solid}"));
    assert!(run.status.success() && !stderr(&run).contains("no effect"), "{}", stderr(&run));
    assert_eq!(colors(&folder, "a.vox"), [BLUE, RED]);
    says(&folder, &format!("plain.obj {solid}"), "the interior colour had no effect");
}

#[test]
fn transparent_voxels_are_kept_where_asked_and_where_looks_are_of_no_interest() {
    let folder = in_colors();
    let occupied = |args: &str| {
        let found = json_of(&folder, &format!("three.obj --res 25 --json {args}"));
        (found["occupied"].as_u64().unwrap(), found["transparent"].as_u64().unwrap())
    };
    let (seen, left_out) = occupied("");
    let all = seen + left_out;
    assert!(left_out > 25, "{left_out}");
    assert_eq!(occupied("-o a.npy"), (seen, left_out));
    assert_eq!(occupied("--color #102030 -o a.vox"), (seen, left_out));
    assert_eq!(occupied("--keep-transparent"), (all, 0));
    assert_eq!(occupied("--keep-transparent -o a.vox"), (all, 0));
    assert_eq!(occupied("--color none -o a.vox"), (all, 0));
    assert!(folder.grid("a.vox").colors.is_none());
}

#[test]
fn verify_leaves_out_what_is_transparent_as_the_main_job_does() {
    let folder = in_colors();
    succeeds(&folder, "three.obj --res 25 -o seen.vox");
    succeeds(&folder, "three.obj --res 25 --color none -o all.vox");
    for (args, code) in [
        ("seen.vox", 0),
        ("all.vox", 1),
        ("seen.vox --keep-transparent", 1),
        ("all.vox --keep-transparent", 0),
    ] {
        exits(&folder, &format!("verify three.obj {args}"), code);
    }
}

#[test]
fn texels_are_squares_unless_a_filter_is_asked_for() {
    let folder = in_colors();
    let corners = "v 0 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n";
    folder.write("t.obj", format!("mtllib t.mtl\n{corners}usemtl t\nf 1/1 2/2 3/3 4/4\n"));
    folder.write("t.mtl", "newmtl t\nmap_Kd t.png\n");
    // Red, and blue of which the right column is cut out.
    let texels = [RED, RED, BLUE, [0; 4]];
    let image = image::RgbaImage::from_raw(2, 2, texels.concat()).unwrap();
    image.save(folder.join("t.png")).unwrap();
    for filter in ["", "--filter auto", "--filter Nearest"] {
        succeeds(&folder, &format!("t.obj --voxel-size 0.5 {filter} -o t.npz --resume"));
        assert_eq!(colors(&folder, "t.npz"), [BLUE, RED], "{filter}");
        assert_eq!(folder.grid("t.npz").occupied(), 12, "{filter}");
    }
    succeeds(&folder, "t.obj --voxel-size 0.5 --filter linear -o t.npz --resume");
    assert!(colors(&folder, "t.npz").iter().any(|&[r, _, b, _]| r > 0 && b > 0));
    // Of voxels of one colour it decides which are transparent.
    for (filter, count) in [("nearest", 300), ("linear", 400)] {
        let run = format!("t.obj --voxel-size 0.1 --color red --filter {filter} -o red.npz");
        succeeds(&folder, &run);
        assert_eq!(folder.grid("red.npz").occupied(), count, "{filter}");
    }
    succeeds(&folder, "render t.obj t2.png --res 8 --filter linear");
    // Without blending each voxel has the colour of a texel.
    let half = |blend| format!("t.obj --voxel-size 0.8 --blend {blend} -o half.npz --resume");
    succeeds(&folder, &half("all"));
    assert!(colors(&folder, "half.npz").iter().any(|&[r, _, b, _]| r > 0 && b > 0));
    succeeds(&folder, &half("none"));
    assert_eq!(colors(&folder, "half.npz"), [BLUE, RED]);
    for (args, complaint) in [
        ("t.obj --filter cubic -o old.npy", "possible values: auto, nearest, linear"),
        ("t.obj --filter linear --color none -o old.npy", "which --color none ignores"),
        ("t.obj --filter linear --distance 2 -o old.npy", "--distance writes distances"),
        ("render t.npz --filter linear", "so --filter has no effect"),
        ("t.obj --blend most -o old.npy", "possible values: all, visible, none"),
        ("t.obj --blend none --color none -o old.npy", "which --color none ignores"),
        ("t.obj --blend none --distance 2 -o old.npy", "--distance writes distances"),
        ("slice t.npz --blend none", "so --blend has no effect"),
    ] {
        fails(&folder, args, complaint);
    }
}

#[test]
fn one_colour_can_be_asked_for() {
    let folder = in_colors();
    for color in ["#C08040", "c08040"] {
        succeeds(&folder, &format!("three.obj --res 9 --color {color} -o one.npz"));
        assert_eq!(colors(&folder, "one.npz"), [[192, 128, 64, 255]]);
    }
    let complaint = "use auto, none or a CSS colour such as red, #fff";
    fails(&folder, "three.obj --res 9 --color foggy -o two.npz", complaint);
}

#[test]
fn a_palette_can_be_given() {
    let folder = in_colors();
    let image = image::RgbImage::from_raw(2, 1, vec![200, 20, 10, 5, 5, 90]).unwrap();
    image.save(folder.join("two.png")).unwrap();
    succeeds(&folder, "three.obj --res 9 --palette two.png -o few.vox");
    assert_eq!(colors(&folder, "few.vox"), [[5, 5, 90, 255], [200, 20, 10, 255]]);
    succeeds(&folder, "convert few.vox many.npz");
    succeeds(&folder, "convert many.npz again.vox --palette two.png --dither");
    assert_eq!(folder.read("again.vox"), folder.read("few.vox"));
    for (options, complaint) in [
        ("--palette none.png -o new.vox", "none.png: "),
        ("--palette three.mtl -o new.vox", "three.mtl: not an image"),
        ("--palette . -o new.vox", ".: is a folder: name a file in it"),
        ("--blocks . -o new.schem", ".: is a folder: name a file in it"),
    ] {
        refuses(&folder, &format!("three.obj --res 9 {options}"), complaint);
    }
}

#[test]
fn a_palette_is_chosen_of_as_many_colours_as_asked_for() {
    let folder = in_colors();
    let said = "note: 3 colours are approximated by 2 or fewer, as asked for";
    says(
        &folder,
        "three.obj --keep-transparent --res 9 --colors 2 -o few.vox --preview few.png",
        said,
    );
    assert_eq!(colors(&folder, "few.vox").len(), 2);
    succeeds(&folder, "three.obj --keep-transparent --res 9 --colors 3 -o all.vox");
    assert_eq!(colors(&folder, "all.vox").len(), 3);
    says(&folder, "convert all.vox few.vox --colors 2", "by 2 or fewer, as asked for");
    let of_other = "--colors had no effect: .npz files hold no palette";
    says(&folder, "three.obj --keep-transparent --res 9 --colors 2 -o a.npz", of_other);
    for colors in ["1", "256", "-3"] {
        let run = format!("three.obj --colors {colors} -o new.vox");
        fails(&folder, &run, "use a whole number from 2 to 255");
    }
}

#[test]
fn a_given_palette_is_counted() {
    let folder = in_colors();
    image::RgbImage::from_raw(2, 1, vec![200, 20, 10, 255, 255, 255])
        .unwrap()
        .save(folder.join("two.png"))
        .unwrap();
    let said = "note: 2 colours of the voxels, each the nearest of the palette's 2";
    says(&folder, "three.obj --res 9 --palette two.png -o few.vox", said);
    succeeds(&folder, "three.obj --res 9 -o all.npz");
    says(&folder, "convert all.npz few.vox --palette two.png", said);
    let blocks = "note: each colour becomes the nearest block";
    says(&folder, "three.obj --res 9 -o a.schem", blocks);
    says(&folder, "convert all.npz a.schem", blocks);
}

#[test]
fn blocks_of_no_known_version_and_of_a_mesh_without_colours_are_said() {
    let folder = in_colors();
    folder.write("blocks.txt", "oak_plank red\nfoo:marble blue\n");
    folder.write("known.txt", "oak_planks[a=b] red\ncherry_planks blue\n");
    folder.write("mesh.obj", MESH);
    let said = stderr(&voxelize(&folder, "three.obj --res 9 --blocks blocks.txt -o a.schem"));
    let unknown = "blocks of an unknown version of Minecraft: ";
    let names = ["'oak_plank' (similar: 'oak_planks')", "'foo:marble'"];
    assert!(said.contains(unknown) && names.iter().all(|name| said.contains(name)), "{said}");
    assert!(!said.contains("for Minecraft"), "{said}");
    says(
        &folder,
        "mesh.obj --res 9 -o a.vox",
        "note: the mesh has no colours: all voxels are light grey",
    );
    let said = stderr(&voxelize(&folder, "three.obj --res 9 --blocks known.txt -o a.schem"));
    assert!(said.contains("for Minecraft 1.20 or later") && !said.contains(unknown), "{said}");
    for (args, block) in [
        ("", Some("stone")),
        ("--blocks known.txt", Some("oak_planks[a=b]")),
        ("--color none", None),
    ] {
        let said = stderr(&voxelize(&folder, &format!("mesh.obj --res 9 -o a.schem {args}")));
        let note = "note: the mesh has no colours: all blocks are ";
        let found = said.split_once(note).map(|(_, rest)| rest.split(' ').next().unwrap());
        assert_eq!(found, block, "{args}: {said}");
    }
}

#[test]
fn blocks_can_be_given() {
    let folder = in_colors();
    let blocks =
        "\u{feff}// Of a house.\n\noak_planks #a2834f\ncreate:asurine rgb(31, 67, 140)\n# Of it.\n";
    folder.write("blocks.txt", blocks);
    let made = "three.obj --res 9 --blocks blocks.txt -o house.schem";
    says(&folder, made, "note: the schematic is ");
    says(&folder, "convert house.schem again.npz", "not known are grey: 'create:asurine'");
    succeeds(&folder, "diff house.schem again.npz");
    for (text, why) in [
        ("oak_planks nowhere\n", "bad.txt: line 1: needs a block and a CSS colour"),
        (
            "oak_plank\n",
            "line 1: 'oak_plank' is none of the blocks that are known (similar: oak_planks",
        ),
        ("\nstone red\nOak red\n", "'Oak' is no name of a block"),
        ("stone red\nminecraft:stone blue\n", "the block 'minecraft:stone' appears twice"),
        ("// None.\n", "a list of blocks has 1 to 255, but this has 0"),
        ("stone #888\nair #fff\n", "'air' is no block to build of"),
    ] {
        folder.write("bad.txt", text);
        refuses(&folder, "three.obj --res 9 --blocks bad.txt -o new.schem", why);
    }
    folder.write("bad.txt", b"VOX \xff");
    let why = "bad.txt: is no text: write a block and its CSS colour on each line";
    refuses(&folder, "three.obj --res 9 --blocks bad.txt -o new.schem", why);
    refuses(&folder, "three.obj --res 9 --blocks nowhere.txt -o new.schem", "nowhere.txt: ");
}

#[test]
fn known_blocks_can_be_named_by_patterns() {
    let folder = in_colors();
    folder.write(
        "mixed.txt",
        "# Known, and one that is not.\nred_wool\n*_wool\ncreate:asurine #00f\n",
    );
    let blocks = |list: &str| {
        let args = format!("three.obj --res 9 --blocks {list} -o a.schem --json");
        let blocks = json(&succeeds(&folder, &args))["blocks"].clone();
        let names = blocks.as_array().unwrap().iter().map(|of| of[0].as_str().unwrap().to_owned());
        names.collect::<BTreeSet<_>>()
    };
    let mixed = blocks("mixed.txt");
    assert!(
        mixed.contains("create:asurine") && mixed.contains("minecraft:orange_wool"),
        "{mixed:?}"
    );
    let wool = blocks("minecraft:stone,*_wool");
    assert!(wool.len() == 2 && wool.iter().all(|name| name.ends_with("_wool")), "{wool:?}");
    for (list, why) in [
        ("wool", "--blocks: 'wool' is none of the blocks that are known (similar: white_wool, "),
        (
            "*_wool,oak_plank",
            "'oak_plank' is none of the blocks that are known (similar: oak_planks",
        ),
        ("*_xyzzy", "'*_xyzzy' is none of the blocks that are known: a block of your own"),
    ] {
        refuses(&folder, &format!("three.obj --res 9 --blocks {list} -o new.schem"), why);
    }
}

#[test]
fn options_that_a_format_has_no_use_for_are_said() {
    let folder = in_colors();
    folder.write("blocks.txt", "stone grey\n");
    for (args, warning) in [
        ("--color #102030 -o a.npy", "--color had no effect: .npy files hold no colours"),
        ("--dither -o a.npz", "--dither had no effect: .npz files hold no palette"),
        ("--blocks blocks.txt -o a.vox", "--blocks had no effect: .vox files hold no blocks"),
        ("--dither --preview a.png", "--dither had no effect: no voxels are written"),
    ] {
        says(&folder, &format!("three.obj --res 9 {args}"), warning);
    }
    // The picture has them.
    for color in ["#102030", "auto"] {
        let args = format!("three.obj --res 9 --color {color} -o a.npy --preview a.png");
        let said = stderr(&voxelize(&folder, &args));
        assert!(!said.contains("had no effect") && !said.contains("hold none"), "{said}");
        assert!(said.contains("note: the voxels' colours are not kept"), "{said}");
    }
}

#[test]
fn options_of_colors_that_the_voxels_do_not_have_are_said() {
    let folder = in_colors();
    folder.write("blocks.txt", "stone grey\n");
    let lost = |args: &str| {
        let said = stderr(&voxelize(&folder, args));
        said.matches("had no effect: the voxels have no colours").count()
    };
    assert_eq!(lost("three.obj --res 9 --color none -o a.npz"), 0);
    assert_eq!(lost("three.obj --res 9 --color none --dither -o a.vox"), 1);
    folder.write("bricks.txt", "bricks #966153\nstone grey\n");
    assert_eq!(lost("convert a.npz b.schem --dither --blocks bricks.txt"), 1);
    let info = stdout(&voxelize(&folder, "info b.schem"));
    assert!(info.contains(" bricks") && !info.contains("stone"), "{info}");
    assert_eq!(lost("three.obj --res 9 --dither -o c.vox"), 0);
}

#[test]
fn info_and_diff_tell_of_colours() {
    let folder = in_colors();
    let grid = VoxelGrid::from_voxels([2, 1, 1], [[0, 0, 0], [1, 0, 0]]).unwrap();
    let in_one = |color| grid.clone().with_colors(Colors::uniform(color));
    write_grid(&folder, "none.npz", &grid);
    write_grid(&folder, "red.npz", &in_one(RED));
    write_grid(&folder, "blue.npz", &in_one(BLUE));
    let info = |name: &str| json_of(&folder, &format!("info {name} --json"));
    assert_eq!(info("none.npz")["colors"], serde_json::Value::Null);
    assert_eq!(info("red.npz")["colors"], 1);
    let text = String::from_utf8(voxelize(&folder, "info red.npz").stdout).unwrap();
    assert!(text.contains("colours   1\n"), "{text}");
    let diff = |a: &str, b: &str| voxelize(&folder, &format!("diff {a} {b} --json"));
    let differing = |run: &Output| {
        assert_eq!(run.status.code(), Some(0), "colours are no difference of voxels");
        json(run)["other_colors"].as_u64()
    };
    assert_eq!(differing(&diff("red.npz", "blue.npz")), Some(2));
    assert_eq!(differing(&diff("red.npz", "red.npz")), Some(0));
    assert_eq!(differing(&diff("red.npz", "none.npz")), None);
}
