//! A picture beside the main job's output.

use super::*;

#[test]
fn a_preview_is_the_picture_that_render_draws() {
    let folder = folder();
    folder.says("mesh.obj --res 8 -o mesh.vox --preview a.png", "drew      a.png\n");
    folder.succeeds("render mesh.vox -o b.png --size 512 --samples 2 -q");
    assert!(folder.read("a.png") == folder.read("b.png"));
    assert_eq!(folder.json("mesh.obj --res 8 --preview c.png")["preview"], "c.png");
    assert!(folder.read("a.png") == folder.read("c.png"));
}

#[test]
fn a_preview_has_the_colours_of_the_file() {
    let folder = Folder::new();
    for (output, more) in [("a.schem", ""), ("b.litematic", "--dither"), ("c.vox", "--dither")] {
        let run = format!("{LIGHTHOUSE} --res 24 {more} -o {output} --preview a.png");
        let told = folder.json(run);
        folder.succeeds(format!("render {output} -o b.png --size 512 --samples 2 -q"));
        assert!(folder.read("a.png") == folder.read("b.png"), "{output}");
        // The list of blocks, before and after.
        let info = folder.json(format!("info {output}"));
        assert_eq!(told["blocks"], info["blocks"], "{output}");
        assert_eq!(told["blocks"].is_array(), output != "c.vox");
    }
    let said = folder.says(format!("{LIGHTHOUSE} --res 24 -o a.schem -v"), "\nblocks    ");
    assert!(said.contains("for Minecraft 1."), "{said}");
    let info = folder.printed("info a.schem");
    assert!(info.contains("\nblocks    ") && info.contains(" light_blue_concrete\n"), "{info}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_preview_that_cannot_be_written_leaves_the_older_output() {
    let folder = folder();
    std::os::unix::fs::symlink("/dev/full", folder.join("a.png")).unwrap();
    folder.write("mesh.vox", "older");
    folder.fails("mesh.obj --res 8 -o mesh.vox --preview a.png", "a.png: No space left");
    assert_eq!(folder.read("mesh.vox"), b"older");
}

#[test]
fn previews_that_cannot_be_are_refused_before_the_work() {
    let folder = with_meshes(2);
    folder.each("_ --res 8").refuses(&[
        ("mesh.obj --preview a.jpg", "a.jpg: unknown file extension '.jpg': pictures are"),
        ("mesh.obj --preview a.gif", "a.gif: a .gif is an animation: use --turntable N of"),
        ("mesh.obj --preview mesh.obj", "mesh.obj: unknown file extension"),
        ("mesh.obj --preview none/a.png", "none/a.png: "),
        ("mesh.obj --preview -", "a picture beside other output needs a file"),
        ("0.obj 1.obj --preview a.png", "--preview draws one mesh"),
    ]);
}

#[test]
fn a_picture_is_shown_in_a_terminal_with_colours() {
    let folder = folder();
    let show = |colors: &str, args: &str| {
        let mut command = folder.command(VOXELIZE, format!("{args} --show"));
        command.env("CLICOLOR_FORCE", "1").env("COLORTERM", colors);
        stderr(&command.output().unwrap())
    };
    let mesh = "mesh.obj --res 8 --color #0f0";
    let picture = show("truecolor", mesh);
    // Rows of characters of two pixels: a colour each, above and below.
    let rows: Vec<&str> = picture.lines().filter(|line| line.contains('▀')).collect();
    assert!((10..=32).contains(&rows.len()), "{picture}");
    let middle = rows[rows.len() / 2];
    assert!(middle.contains("\x1b[38;2;") && middle.contains("\x1b[48;2;"), "{picture}");
    assert!(!picture.contains("no file is written"), "{picture}");
    assert!(show("", mesh).contains("\x1b[38;5;"));
    // A voxel is an eighth of a pixel wide.
    folder.write("line.obj", "v 0 0 0\nv 512 0 0\nv 512 0.5 0.5\nf 1 2 3\n");
    assert!(show("", "line.obj --res 512").contains(['▀', '▄']));
    // The colours of the file.
    let [blocks, voxels] = ["a.schem", "a.npz"].map(|file| -> Vec<String> {
        let said = show("truecolor", &format!("{mesh} -o {file}"));
        said.lines().filter(|line| line.contains(['▀', '▄'])).map(str::to_owned).collect()
    });
    assert!(blocks.len() == voxels.len() && blocks != voxels);
    let no_effect = "warning: --show had no effect: standard error is no terminal";
    let said = folder.says("mesh.obj --res 8 --show", no_effect);
    assert!(said.contains("no file is written") && !said.contains('▀'), "{said}");
    folder.fails("mesh.obj --res 8 --show -q", "cannot be used with");
}
