//! `voxelize slice`: what it prints, draws and refuses.

use trivox::grid::Colors;

use super::*;

const RED: [u8; 4] = [200, 10, 20, 255];

fn grid_of(dims: [u32; 3], voxels: &[[u32; 3]]) -> VoxelGrid {
    VoxelGrid::from_voxels(dims, voxels.iter().copied()).unwrap()
}

/// A folder with `a.npy`: an L in the layer z = 1, and one voxel above its foot.
fn with_grid() -> Folder {
    let folder = folder();
    let voxels = [[0, 0, 1], [1, 0, 1], [2, 0, 1], [0, 1, 1], [0, 2, 1], [2, 0, 2]];
    folder.write_grid("a.npy", &grid_of([5, 4, 3], &voxels));
    folder
}

#[test]
fn ascii_is_a_character_a_voxel_along_every_axis_and_blocks_are_two_rows_a_line() {
    let folder = with_grid();
    let grid = grid_of([2, 3, 1], &[[0, 0, 0], [0, 1, 0], [1, 2, 0]]);
    folder.write_grid("red.npz", &grid.with_colors(Colors::uniform(RED)));
    // Full blocks, and a last row by itself.
    let full = grid_of([2, 3, 1], &[[0, 0, 0], [0, 1, 0], [0, 2, 0], [1, 2, 0]]);
    folder.write_grid("full.npy", &full);
    for (args, expected) in [
        ("a.npy -z 1 --ascii", ".....\n#....\n#....\n###..\n"),
        ("a.npy -z 2 --ascii", ".....\n.....\n.....\n..#..\n"),
        ("a.npy -y 0 --ascii", "..#..\n###..\n.....\n"),
        ("a.npy -x 0 --ascii", "....\n###.\n....\n"),
        ("a.npy -x 4 --ascii", "....\n....\n....\n"),
        ("a.npy -z 1", "▄    \n█▄▄  \n"),
        ("a.npy", "▄    \n█▄▄  \n"),
        ("red.npz -z 0", "▄▀\n▀ \n"),
        ("full.npy", "█▀\n▀ \n"),
    ] {
        assert_eq!(folder.printed(format!("slice {args}")), expected, "{args}");
    }
}

#[test]
fn a_header_says_what_is_where() {
    let folder = with_grid();
    let run = folder.succeeds("slice a.npy -y 0 --ascii");
    let header =
        "slice     y = 0, 4 voxels occupied; x to the right from 0 to 4, z upwards from 0 to 2\n";
    assert_eq!(stderr(&run), header);
    let quiet = folder.succeeds("slice a.npy -y 0 --ascii -q");
    assert!(quiet.stdout == run.stdout && quiet.stderr.is_empty());
}

#[test]
fn json_has_counts_and_no_voxels() {
    let folder = with_grid();
    let found = folder.json("slice a.npy -x 0 -q");
    for (field, expected) in [
        ("file", json!("a.npy")),
        ("occupied", json!(6)),
        ("dims", json!([5, 4, 3])),
        ("axis", json!("x")),
        ("index", json!(0)),
        ("plane", json!(["y", "z"])),
        ("size", json!([4, 3])),
        ("voxels", json!(3)),
        ("bounds", json!([[0, 1], [2, 1]])),
    ] {
        assert_eq!(found[field], expected, "{field}");
    }
    assert!(found.get("output").is_none());
    let empty = folder.json("slice a.npy -x 4 -q");
    assert_eq!((&empty["voxels"], &empty["bounds"]), (&0.into(), &().into()));
}

/// Relative luminance, as WCAG 2 defines it.
fn luminance([r, g, b, _]: [u8; 4]) -> f64 {
    let linear = [r, g, b].map(|c| f64::from(trivox::base::srgb::linear_of(c)) / 65535.0);
    0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
}

#[test]
fn a_picture_has_so_many_pixels_a_voxel_in_its_colour() {
    let folder = with_grid();
    let grid = grid_of([3, 2, 1], &[[0, 0, 0], [2, 1, 0]]).with_colors(Colors::uniform(RED));
    folder.write_grid("red.npz", &grid);
    for (scale, has_lines) in [(1, false), (7, false), (8, true), (20, true)] {
        let size = format!("wrote     s.png, {} x {} pixels, ", 3 * scale, 2 * scale);
        folder.says(format!("slice red.npz -z 0 -o s.png --pixels {scale}"), &size);
        let picture = image::open(folder.join("s.png")).unwrap().to_rgba8();
        assert_eq!(picture.dimensions(), (3 * scale, 2 * scale));
        let of = |i: u32, j: u32| picture.get_pixel(i * scale + scale / 2, j * scale + scale / 2).0;
        assert_eq!([of(2, 0), of(0, 1)], [RED, RED], "{scale}");
        for empty in [of(0, 0), of(1, 0), of(1, 1), of(2, 1)] {
            for voxel in [[255; 4], [0; 4]] {
                let [a, b] = [voxel, empty].map(luminance);
                let contrast = (a.max(b) + 0.05) / (a.min(b) + 0.05);
                assert!(contrast > 3.0, "{scale}: {empty:?} beside {voxel:?}");
            }
        }
        // Left of the last voxel of the upper row, and above the first of the lower.
        let lines = [(2 * scale, 0), (0, scale)].map(|(x, y)| picture.get_pixel(x, y).0);
        assert!(lines.iter().all(|&line| (line != RED) == has_lines), "{scale}: {lines:?}");
        assert_eq!(picture.get_pixel(3 * scale - 1, 0).0, RED, "{scale}");
    }
    let found = folder.json("slice a.npy -z 1 -o t.png");
    assert_eq!((&found["output"], &found["width"]), (&"t.png".into(), &160.into()));
    let bytes = folder.read("t.png");
    assert_eq!(found["bytes"], bytes.len());
    assert!(folder.succeeds("slice a.npy -z 1 -o - -q").stdout == bytes);
}

#[test]
fn slices_that_cannot_be_are_refused_and_change_nothing() {
    let folder = with_grid();
    folder.write_grid("long.npy", &VoxelGrid::empty([1000, 1, 1]).unwrap());
    folder.write("mesh.xyz", "");
    folder.each("slice _").refuses(&[
        ("a.npy -z 3", "a.npy: there is no slice z = 3: use z from 0 to 2"),
        ("a.npy -x 5 -o s.png", "a.npy: there is no slice x = 5: use x from 0 to 4"),
        ("old.npy -z 0", "old.npy: "),
        ("a.npy --res 8", "a.npy: is no mesh, so --res has no effect: leave it out"),
        ("a.npy --confine", "a.npy: is no mesh, so --confine has no effect: leave it out"),
        ("mesh.obj --res 8 -z 9", "mesh.obj: there is no slice z = 9: use z from 0 to 1"),
        ("mesh.obj --fill flood", "mesh.obj: --fill is for solids: add --mode solid"),
        ("mesh.obj --memory 1kB", "mesh.obj: for reading the mesh the program"),
        ("mesh.xyz -z 0", "mesh.xyz: unknown file extension '.xyz': use one of .obj"),
        ("a.npy -z 0 -o s.jpg", "s.jpg: unknown file extension '.jpg'"),
        ("a.npy -z 0 -o gone/s.png", "there is no folder 'gone'"),
        ("a.npy -z 0 -o - --json", "both write to standard output"),
        ("long.npy -z 0 -o s.png --pixels 66", "s.png: 1,000 voxels of 66 pixels are more than"),
        ("long.npy -z 0 -o s.png --pixels 66", "use --pixels 65 or less"),
    ]);
    folder.each("slice a.npy _").fails(&[
        ("-x 0 -z 0", "cannot be used with"),
        ("-z -1", "'-1' for '--z"),
        ("-z 0 --ascii --json", "cannot be used with"),
        ("-z 0 --ascii -o s.png", "cannot be used with"),
        ("-z 0 --pixels 4", "--output <OUT>"),
        ("-z 0 --ascii --pixels 4", "cannot be used with"),
        ("-z 0 -o s.png --pixels 0", "'0' for '--pixels"),
    ]);
    assert!(!folder.join("s.png").exists());
}

#[test]
fn a_slice_of_a_mesh_is_that_of_its_voxels() {
    let folder = folder();
    for (options, place) in [("--res 9", "-z 1"), ("--res 9 --mode thin --color red", "-x 2")] {
        folder.succeeds(format!("mesh.obj {options} -o v.npz"));
        for output in ["--ascii", "-o -"] {
            let [of_grid, of_mesh] = ["v.npz", &format!("mesh.obj {options}")]
                .map(|file| folder.succeeds(format!("slice {file} {place} -q {output}")).stdout);
            assert!(of_mesh == of_grid, "{options} {output}");
            assert!(output != "--ascii" || of_mesh.contains(&b'#'), "{options}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = Folder::new();
    folder.write_grid("a.npy", &VoxelGrid::empty([60, 20000, 1]).unwrap());
    let run = format!("{VOXELIZE} slice a.npy -z 0 --ascii -q");
    let run = folder.bash(format!("({run}; echo $? >&2) | head -n 1"));
    assert_eq!(stderr(&run), "0\n");
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_shows_as_many_columns_as_it_has() {
    let folder = Folder::new();
    let grid = grid_of([30, 1, 1], &[[20, 0, 0], [24, 0, 0]]).with_colors(Colors::uniform(RED));
    folder.write_grid("red.npz", &grid);
    // What a terminal of 10 columns shows.
    let shown = |args: &str| {
        let inside = format!("stty cols 10 rows 5; {VOXELIZE} slice red.npz -z 0 {args}");
        let run = folder.bash(format!("script -qec '{inside}' /dev/null"));
        assert!(run.status.success(), "{}", stdout(&run));
        stdout(&run).replace('\r', "")
    };
    let colored = shown("");
    // In clap's colour.
    let warning = "\u{1b}[1m\u{1b}[33mwarning:\u{1b}[0m the slice is 30 voxels wide and the \
                   terminal 10: x from 17 to 26 is shown";
    assert!(colored.contains(warning), "{colored}");
    assert!(colored.ends_with("   ▀   ▀  \n"), "{colored:?}");
    assert_eq!(shown("--ascii -q"), "...#...#..\n");
    let all = folder.printed("slice red.npz -z 0 --ascii -q");
    assert_eq!(all.trim_end().len(), 30);
}
