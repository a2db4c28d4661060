//! What voxels look like.

use std::collections::BTreeSet;

use trivox::grid::Colors;

use super::*;

pub const RED: [u8; 4] = [255, 0, 0, 255];
pub const BLUE: [u8; 4] = [0, 0, 255, 255];

/// A folder with `three.obj`: a red and a blue square, and one in which all is transparent.
pub fn in_colors() -> Folder {
    let folder = Folder::new();
    let square = |material: &str, x: u32| {
        let corners = [[x, 0], [x + 1, 0], [x + 1, 1], [x, 1]];
        let corners = corners.map(|[x, y]| format!("v {x} {y} {x}\n")).concat();
        format!("usemtl {material}\n{corners}f -4 -3 -2 -1\n")
    };
    let squares = square("red", 0) + &square("blue", 2) + &square("air", 4);
    folder.write("three.obj", format!("mtllib three.mtl\n{squares}"));
    let materials = "newmtl red\nKd 1 0 0\nnewmtl blue\nKd 0 0 1\nnewmtl air\nKd 0 1 0\nd 0\n";
    folder.write("three.mtl", materials);
    folder
}

/// The different colours of a file's voxels.
fn colors(folder: &Folder, name: &str) -> Vec<[u8; 4]> {
    let grid = folder.grid(name);
    let colors = grid.colors.as_ref().unwrap();
    let all: BTreeSet<[u8; 4]> = grid.voxels().map(|voxel| colors.of(voxel)).collect();
    all.into_iter().collect()
}

/// Whether some voxel of a file has a colour between red and blue.
fn has_mixed(folder: &Folder, name: &str) -> bool {
    colors(folder, name).iter().any(|&[r, _, b, _]| r > 0 && b > 0)
}

/// Writes `two.png`, a picture of these two pixels.
pub fn write_palette(folder: &Folder, pixels: [[u8; 3]; 2]) {
    let picture = image::RgbImage::from_raw(2, 1, pixels.concat()).unwrap();
    picture.save(folder.join("two.png")).unwrap();
}

#[test]
fn voxels_have_the_colours_of_the_mesh_and_what_is_transparent_none() {
    let folder = in_colors();
    for name in ["three.vox", "three.npz", "three.bricks", "three.vdb"] {
        let said = "voxels in which all is transparent were left out";
        folder.says(format!("three.obj --res 25 -o {name}"), said);
        assert_eq!(colors(&folder, name), [BLUE, RED], "{name}");
    }
    assert_eq!(folder.grid("three.vox"), folder.grid("three.npz"));
}

#[test]
fn the_interior_colour_holds_for_a_mesh_of_one_colour_and_is_missed_without_colours() {
    let folder = Folder::new();
    folder.write("plain.obj", cube(0.0, 1.0));
    folder.write("red.obj", format!("mtllib red.mtl\nusemtl red\n{}", cube(0.0, 1.0)));
    folder.write("red.mtl", "newmtl red\nKd 1 0 0\n");
    let solid = "--res 16 --mode solid --interior-color #0000ff -o a.vox";
    let said = folder.said(format!("red.obj {solid}"));
    assert!(!said.contains("no effect"), "{said}");
    assert_eq!(colors(&folder, "a.vox"), [BLUE, RED]);
    folder.says(format!("plain.obj {solid}"), "the interior colour had no effect");
}

#[test]
fn transparent_voxels_are_kept_where_asked_and_where_looks_are_of_no_interest() {
    let folder = in_colors();
    let occupied = |args: &str| {
        let found = folder.json(format!("three.obj --res 25 {args}"));
        ["occupied", "transparent"].map(|count| found[count].as_u64().unwrap())
    };
    let [seen, left_out] = occupied("");
    assert!(left_out > 25, "{left_out}");
    for args in ["-o a.npy", "--color #102030 -o a.vox"] {
        assert_eq!(occupied(args), [seen, left_out], "{args}");
    }
    for args in ["--keep-transparent", "--keep-transparent -o a.vox", "--color none -o a.vox"] {
        assert_eq!(occupied(args), [seen + left_out, 0], "{args}");
    }
    assert!(folder.grid("a.vox").colors.is_none());
    // As the main job does, so does `verify`.
    folder.succeeds("three.obj --res 25 -o seen.vox");
    for (args, code) in [
        ("seen.vox", 0),
        ("a.vox", 1),
        ("seen.vox --keep-transparent", 1),
        ("a.vox --keep-transparent", 0),
    ] {
        folder.exits(format!("verify three.obj {args}"), code);
    }
}

#[test]
fn texels_are_squares_unless_a_filter_is_asked_for() {
    let folder = Folder::new();
    let corners = "v 0 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n";
    folder.write("t.obj", format!("mtllib t.mtl\n{corners}usemtl t\nf 1/1 2/2 3/3 4/4\n"));
    folder.write("t.mtl", "newmtl t\nmap_Kd t.png\n");
    // Red, and blue of which the right column is cut out.
    let texels = [RED, RED, BLUE, [0; 4]];
    let image = image::RgbaImage::from_raw(2, 2, texels.concat()).unwrap();
    image.save(folder.join("t.png")).unwrap();
    for filter in ["", "--filter auto", "--filter Nearest"] {
        folder.succeeds(format!("t.obj --voxel-size 0.5 {filter} -o t.npz --resume"));
        assert_eq!(colors(&folder, "t.npz"), [BLUE, RED], "{filter}");
        assert_eq!(folder.grid("t.npz").occupied(), 12, "{filter}");
    }
    folder.succeeds("t.obj --voxel-size 0.5 --filter linear -o t.npz --resume");
    assert!(has_mixed(&folder, "t.npz"));
    // Of voxels of one colour it decides which are transparent.
    for (filter, count) in [("nearest", 300), ("linear", 400)] {
        folder.succeeds(format!("t.obj --voxel-size 0.1 --color red --filter {filter} -o red.npz"));
        assert_eq!(folder.grid("red.npz").occupied(), count, "{filter}");
    }
    folder.succeeds("render t.obj t2.png --res 8 --filter linear");
    // Without blending each voxel has the colour of a texel.
    for (blend, is_mixed) in [("all", true), ("none", false)] {
        folder.succeeds(format!("t.obj --voxel-size 0.8 --blend {blend} -o half.npz --resume"));
        assert_eq!(has_mixed(&folder, "half.npz"), is_mixed);
    }
    assert_eq!(colors(&folder, "half.npz"), [BLUE, RED]);
    folder.each("_").fails(&[
        ("t.obj --filter cubic -o old.npy", "possible values: auto, nearest, linear"),
        ("t.obj --filter linear --color none -o old.npy", "which --color none ignores"),
        ("t.obj --filter linear --distance 2 -o old.npy", "--distance writes distances"),
        ("render t.npz --filter linear", "so --filter has no effect"),
        ("t.obj --blend most -o old.npy", "possible values: all, visible, none"),
        ("t.obj --blend none --color none -o old.npy", "which --color none ignores"),
        ("t.obj --blend none --distance 2 -o old.npy", "--distance writes distances"),
        ("slice t.npz --blend none", "so --blend has no effect"),
        ("slice t.obj --color none --blend none", "which --color none ignores"),
        ("render t.obj old.png --color none --filter linear", "which --color none ignores"),
    ]);
}

#[test]
fn one_colour_can_be_asked_for() {
    let folder = in_colors();
    for (color, [r, g, b]) in [
        ("#C08040", [192, 128, 64]),
        ("c08040", [192, 128, 64]),
        ("#fff", [255; 3]),
        ("red", [255, 0, 0]),
    ] {
        folder.succeeds(format!("three.obj --res 9 --color {color} -o one.npz"));
        assert_eq!(colors(&folder, "one.npz"), [[r, g, b, 255]]);
    }
    let complaint = "use auto, none or a CSS colour such as red, #fff or #C08040";
    for color in ["#", "#C0804", "#C080401", "#C0804G", "+C0804", "##C08040", "mauve-ish"] {
        folder.fails(format!("three.obj --res 9 --color {color} -o two.npz"), complaint);
    }
    folder.fails("three.obj --res 9 --color= -o two.npz", complaint);
}

#[test]
fn a_palette_can_be_given_and_is_counted() {
    let folder = in_colors();
    write_palette(&folder, [[200, 20, 10], [5, 5, 90]]);
    folder.succeeds("three.obj --res 9 --palette two.png -o few.vox");
    assert_eq!(colors(&folder, "few.vox"), [[5, 5, 90, 255], [200, 20, 10, 255]]);
    folder.succeeds("convert few.vox many.npz");
    folder.succeeds("convert many.npz again.vox --palette two.png --dither");
    assert_eq!(folder.read("again.vox"), folder.read("few.vox"));
    folder.each("three.obj --res 9 _").refuses(&[
        ("--palette none.png -o new.vox", "none.png: "),
        ("--palette three.mtl -o new.vox", "three.mtl: not an image"),
        ("--palette . -o new.vox", ".: is a folder: name a file in it"),
        ("--blocks . -o new.schem", ".: is a folder: name a file in it"),
    ]);
    // Of this one a colour is far from all voxels.
    write_palette(&folder, [[200, 20, 10], [255; 3]]);
    folder.succeeds("three.obj --res 9 -o all.npz");
    let counted = "note: 2 colours of the voxels, each the nearest of the palette's 2";
    let blocks = "note: each colour becomes the nearest block";
    folder.each("_").says(&[
        ("three.obj --res 9 --palette two.png -o few.vox", counted),
        ("convert all.npz few.vox --palette two.png", counted),
        ("three.obj --res 9 -o a.schem", blocks),
        ("convert all.npz a.schem", blocks),
    ]);
}

#[test]
fn a_palette_is_chosen_of_as_many_colours_as_asked_for() {
    let folder = in_colors();
    let said = "note: 3 colours are approximated by 2 or fewer, as asked for";
    let run = "three.obj --keep-transparent --res 9";
    folder.says(format!("{run} --colors 2 -o few.vox --preview few.png"), said);
    assert_eq!(colors(&folder, "few.vox").len(), 2);
    folder.succeeds(format!("{run} --colors 3 -o all.vox"));
    assert_eq!(colors(&folder, "all.vox").len(), 3);
    folder.says("convert all.vox few.vox --colors 2", "by 2 or fewer, as asked for");
    let of_other = "--colors had no effect: .npz files hold no palette";
    folder.says(format!("{run} --colors 2 -o a.npz"), of_other);
    for number in ["1", "256", "-3"] {
        let args = format!("three.obj --colors {number} -o new.vox");
        folder.fails(args, "use a whole number from 2 to 255");
    }
}

#[test]
fn blocks_of_no_known_version_and_of_a_mesh_without_colours_are_said() {
    let folder = in_colors();
    folder.write("blocks.txt", "oak_plank red\nfoo:marble blue\n");
    folder.write("known.txt", "oak_planks[a=b] red\ncherry_planks blue\n");
    folder.write("mesh.obj", MESH);
    let said = folder.said("three.obj --res 9 --blocks blocks.txt -o a.schem");
    let unknown = "blocks of an unknown version of Minecraft: ";
    let names = ["'oak_plank' (similar: 'oak_planks')", "'foo:marble'"];
    assert!(said.contains(unknown) && names.iter().all(|name| said.contains(name)), "{said}");
    assert!(!said.contains("for Minecraft"), "{said}");
    let said = folder.said("three.obj --res 9 --blocks known.txt -o a.schem");
    assert!(said.contains("for Minecraft 1.20 or later") && !said.contains(unknown), "{said}");
    let grey = "note: the mesh has no colours: all voxels are light grey";
    folder.says("mesh.obj --res 9 -o a.vox", grey);
    let note = "note: the mesh has no colours: all blocks are ";
    for (args, expected) in [
        ("", &*format!("{note}stone ")),
        ("--blocks known.txt", &format!("{note}oak_planks[a=b] ")),
    ] {
        folder.says(format!("mesh.obj --res 9 -o a.schem {args}"), expected);
    }
    assert!(!folder.said("mesh.obj --res 9 -o a.schem --color none").contains(note));
}

#[test]
fn blocks_can_be_given() {
    let folder = in_colors();
    let blocks =
        "\u{feff}// Of a house.\n\noak_planks #a2834f\ncreate:asurine rgb(31, 67, 140)\n# Of it.\n";
    folder.write("blocks.txt", blocks);
    let made = "three.obj --res 9 --blocks blocks.txt -o house.schem";
    folder.says(made, "note: the schematic is ");
    folder.says("convert house.schem again.npz", "not known are grey: 'create:asurine'");
    folder.succeeds("diff house.schem again.npz");
    let unknown = "bad.txt: line 1: 'oak_plank' is none of the blocks that are known";
    for (text, why) in [
        ("oak_planks nowhere\n", "bad.txt: line 1: needs a block and a CSS colour"),
        ("oak_plank\n", &*format!("{unknown} (similar: oak_planks")),
        ("\nstone red\nOak red\n", "line 3: 'Oak' is no name of a block"),
        ("stone red\nminecraft:stone blue\n", "the block 'minecraft:stone' appears twice"),
        ("// None.\n", "a list of blocks has 1 to 255, but this has 0"),
        ("stone #888\nair #fff\n", "line 2: 'air' is no block to build of"),
    ] {
        folder.write("bad.txt", text);
        folder.refuses("three.obj --res 9 --blocks bad.txt -o new.schem", why);
    }
    folder.write("bad.txt", b"VOX \xff");
    let no_text = "bad.txt: is no text: write a block and its CSS colour on each line";
    folder.refuses("three.obj --res 9 --blocks bad.txt -o new.schem", no_text);
    folder.refuses("three.obj --res 9 --blocks nowhere.txt -o new.schem", "nowhere.txt: ");
}

#[test]
fn known_blocks_can_be_named_by_patterns() {
    let folder = in_colors();
    let mixed = "# Known, and one that is not.\nred_wool\n*_wool\ncreate:asurine #00f\n";
    folder.write("mixed.txt", mixed);
    let blocks = |list: &str| -> BTreeSet<String> {
        let summary = folder.json(format!("three.obj --res 9 --blocks {list} -o a.schem"));
        let blocks = summary["blocks"].as_array().unwrap();
        blocks.iter().map(|block| block[0].as_str().unwrap().to_owned()).collect()
    };
    let found = blocks("mixed.txt");
    assert!(found.contains("create:asurine"), "{found:?}");
    assert!(found.contains("minecraft:orange_wool"), "{found:?}");
    let wool = blocks("minecraft:stone,*_wool");
    assert!(wool.len() == 2 && wool.iter().all(|name| name.ends_with("_wool")), "{wool:?}");
    let unknown = "is none of the blocks that are known";
    folder.each("three.obj --res 9 --blocks _ -o new.schem").refuses(&[
        ("wool", &format!("--blocks: 'wool' {unknown} (similar: white_wool, ")),
        ("STONE", &format!("--blocks: 'STONE' {unknown} (similar: stone, ")),
        ("*_wool,oak_plank", &format!("'oak_plank' {unknown} (similar: oak_planks")),
        ("*_xyzzy", &format!("'*_xyzzy' {unknown}: a block of your own")),
    ]);
}

#[test]
fn options_that_a_format_or_the_voxels_have_no_use_for_are_said() {
    let folder = in_colors();
    folder.write("blocks.txt", "bricks #966153\nstone grey\n");
    folder.each("three.obj --res 9 _").says(&[
        ("--color #102030 -o a.npy", "--color had no effect: .npy files hold no colours"),
        ("--dither -o a.npz", "--dither had no effect: .npz files hold no palette"),
        ("--blocks blocks.txt -o a.vox", "--blocks had no effect: .vox files hold no blocks"),
        ("--dither --preview a.png", "--dither had no effect: no voxels are written"),
    ]);
    // The picture has them.
    for color in ["#102030", "auto"] {
        let args = format!("three.obj --res 9 --color {color} -o a.npy --preview a.png");
        let said = folder.says(args, "note: the voxels' colours are not kept");
        assert!(!said.contains("had no effect") && !said.contains("hold none"), "{said}");
    }
    for (args, lost) in [
        ("three.obj --res 9 --color none -o a.npz", 0),
        ("three.obj --res 9 --color none --dither -o a.vox", 1),
        ("convert a.npz b.schem --dither --blocks blocks.txt", 1),
        ("three.obj --res 9 --dither -o c.vox", 0),
    ] {
        let said = folder.said(args);
        let count = said.matches("had no effect: the voxels have no colours").count();
        assert_eq!(count, lost, "{args}: {said}");
    }
    let info = folder.printed("info b.schem");
    assert!(info.contains(" bricks") && !info.contains("stone"), "{info}");
}

#[test]
fn info_and_diff_tell_of_colours() {
    let folder = Folder::new();
    let grid = VoxelGrid::from_voxels([2, 1, 1], [[0, 0, 0], [1, 0, 0]]).unwrap();
    folder.write_grid("none.npz", &grid);
    folder.write_grid("red.npz", &grid.clone().with_colors(Colors::uniform(RED)));
    folder.write_grid("blue.npz", &grid.with_colors(Colors::uniform(BLUE)));
    assert_eq!(folder.json("info none.npz")["colors"], Value::Null);
    assert_eq!(folder.json("info red.npz")["colors"], 1);
    let text = folder.printed("info red.npz");
    assert!(text.contains("colours   1\n"), "{text}");
    // Colours are no difference of voxels.
    for (grids, differing) in [
        ("red.npz blue.npz", json!(2)),
        ("red.npz red.npz", json!(0)),
        ("red.npz none.npz", json!(null)),
    ] {
        assert_eq!(folder.json(format!("diff {grids}"))["other_colors"], differing, "{grids}");
    }
}
