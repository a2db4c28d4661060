//! A picture beside the main job's output.

use super::*;

#[test]
fn a_preview_is_the_picture_that_render_draws() {
    let folder = folder();
    let run = succeeds(&folder, "mesh.obj --res 8 -o mesh.vox --preview a.png");
    assert!(stderr(&run).contains("drew      a.png\n"), "{}", stderr(&run));
    succeeds(&folder, "render mesh.vox -o b.png --size 512 --samples 2 -q");
    let [a, b] = ["a.png", "b.png"].map(|name| folder.read(name));
    assert!(a == b);
    let alone = json_of(&folder, "mesh.obj --res 8 --preview c.png --json");
    assert_eq!(alone["preview"], "c.png");
    assert!(folder.read("c.png") == a);
}

#[test]
fn a_preview_has_the_colours_of_the_file() {
    let folder = folder();
    for (output, more) in [("a.schem", ""), ("b.litematic", "--dither"), ("c.vox", "--dither")] {
        let run = format!("{LIGHTHOUSE} --res 24 {more} -o {output} --preview a.png");
        let told = json_of(&folder, &format!("{run} --json"));
        let render = format!("render {output} -o b.png --size 512 --samples 2 -q");
        succeeds(&folder, &render);
        let [a, b] = ["a.png", "b.png"].map(|name| folder.read(name));
        assert!(a == b, "{output}");
        // The list of blocks, before and after.
        let info = json_of(&folder, &format!("info {output} --json"));
        assert_eq!(told["blocks"], info["blocks"], "{output}");
        assert_eq!(told["blocks"].is_array(), output != "c.vox");
    }
    let said = stderr(&voxelize(&folder, &format!("{LIGHTHOUSE} --res 24 -o a.schem -v")));
    assert!(said.contains("\nblocks    ") && said.contains("for Minecraft 1."), "{said}");
    let info = String::from_utf8(voxelize(&folder, "info a.schem").stdout).unwrap();
    assert!(info.contains("\nblocks    ") && info.contains(" light_blue_concrete\n"), "{info}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_preview_that_cannot_be_written_leaves_the_older_output() {
    let folder = folder();
    std::os::unix::fs::symlink("/dev/full", folder.join("a.png")).unwrap();
    folder.write("mesh.vox", "older");
    fails(&folder, "mesh.obj --res 8 -o mesh.vox --preview a.png", "a.png: No space left");
    assert_eq!(folder.read("mesh.vox"), b"older");
}

#[test]
fn previews_that_cannot_be_are_refused_before_the_work() {
    let folder = with_meshes(2);
    for (args, complaint) in [
        ("mesh.obj --res 8 --preview a.jpg", "a.jpg: unknown file extension '.jpg': pictures are"),
        ("mesh.obj --res 8 --preview a.gif", "a.gif: a .gif is an animation: use --turntable N of"),
        ("mesh.obj --res 8 --preview mesh.obj", "mesh.obj: unknown file extension"),
        ("mesh.obj --res 8 --preview none/a.png", "none/a.png: "),
        ("mesh.obj --res 8 --preview -", "a picture beside other output needs a file"),
        ("0.obj 1.obj --res 8 --preview a.png", "--preview draws one mesh"),
    ] {
        refuses(&folder, args, complaint);
    }
}

#[test]
fn a_picture_is_shown_in_a_terminal_with_colours() {
    let folder = folder();
    let show = |colors: &str, more: &str| {
        let args = format!("mesh.obj --res 8 --color #0f0 --show {more}");
        let mut command = Command::new(VOXELIZE);
        command.current_dir(&folder).args(args.split_whitespace());
        stderr(&command.env("CLICOLOR_FORCE", "1").env("COLORTERM", colors).output().unwrap())
    };
    let picture = show("truecolor", "");
    // Rows of characters of two pixels: a colour each, above and below.
    let rows: Vec<&str> = picture.lines().filter(|line| line.contains('▀')).collect();
    assert!((10..=32).contains(&rows.len()), "{picture}");
    assert!(rows[rows.len() / 2].contains("\x1b[38;2;"), "{picture}");
    assert!(rows[rows.len() / 2].contains("\x1b[48;2;"), "{picture}");
    assert!(!picture.contains("no file is written"), "{picture}");
    assert!(show("", "").contains("\x1b[38;5;"));
    // A voxel is an eighth of a pixel wide.
    let line = "v 0 0 0\nv 512 0 0\nv 512 0.5 0.5\nf 1 2 3\n";
    folder.write("line.obj", line);
    let mut command = Command::new(VOXELIZE);
    command.current_dir(&folder).args(["line.obj", "--res", "512", "--show"]);
    assert!(stderr(&command.env("CLICOLOR_FORCE", "1").output().unwrap()).contains(['▀', '▄']));
    // The colours of the file.
    let drawn = |more| -> Vec<String> {
        let said = show("truecolor", more);
        said.lines().filter(|line| line.contains(['▀', '▄'])).map(str::to_owned).collect()
    };
    let [blocks, voxels] = ["-o a.schem", "-o a.npz"].map(drawn);
    assert!(blocks.len() == voxels.len() && blocks != voxels);
    let run = succeeds(&folder, "mesh.obj --res 8 --show");
    assert!(stderr(&run).contains("warning: --show had no effect: standard error is no terminal"));
    assert!(stderr(&run).contains("no file is written"));
    assert!(!stderr(&run).contains('▀'));
    fails(&folder, "mesh.obj --res 8 --show -q", "cannot be used with");
}
