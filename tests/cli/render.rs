//! `voxelize render`: what it draws and refuses.

use super::*;

#[test]
fn a_grid_is_drawn_to_a_png_and_that_is_said() {
    let folder = folder();
    folder.succeeds("mesh.obj --res 21 -o a.vox");
    let run = folder.succeeds("render a.vox -o a.png --size 40x30");
    let said = stderr(&run);
    assert!(said.contains("drew      40 x 30 pixels in ") && said.contains("wrote     a.png, "));
    assert!(run.stdout.is_empty());
    let bytes = folder.read("a.png");
    assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"));

    let json = folder.json("render a.vox -o b.png --size 40x30 -q --threads 1");
    assert_eq!((&json["file"], &json["output"]), (&"a.vox".into(), &"b.png".into()));
    assert_eq!((&json["width"], &json["height"]), (&40.into(), &30.into()));
    assert_eq!(json["bytes"], bytes.len());
    assert_eq!(folder.read("b.png"), bytes);
    let run = folder.succeeds("render a.vox -o - --size 40x30 -q");
    assert!(run.stdout == bytes && run.stderr.is_empty());
}

/// The width of the screen window of a camera.
fn window_width(camera: &Value) -> f64 {
    let [left, right] = [0, 1].map(|i| camera["screen_window"][i].as_f64().unwrap());
    right - left
}

#[test]
fn where_the_camera_is_is_said_in_the_meshs_units() {
    let folder = folder();
    // The mesh is 4 units wide, of which the grid's front shows 4 x 4.
    for unit in [0.5, 0.25] {
        folder.succeeds(format!("mesh.obj --voxel-size {unit} -o a.vdb"));
        let said = folder.json("render a.vdb -o a.png --view front --size 80x40 -q");
        let camera = &said["camera"];
        assert_eq!(camera["projection"], "orthographic");
        let [right, up, back] = ["right", "up", "back"].map(|axis| camera[axis].to_string());
        assert_eq!([right, up, back], ["[1.0,0.0,0.0]", "[0.0,1.0,0.0]", "[0.0,0.0,1.0]"]);
        let number = |key: &str, i: usize| camera[key][i].as_f64().unwrap();
        let edges = [0, 1, 2, 3].map(|i| number("screen_window", i) + number("eye", i / 2));
        let half = 2.0 / 0.88;
        for (edge, expected) in edges.into_iter().zip([-2.0, 2.0, -1.0, 1.0]) {
            assert!((edge - 2.0 - expected * half).abs() < 1e-12, "{edge}, {unit}: {said}");
        }
    }
    let said = folder.json("render a.vdb -o a.png --size 80x40 -q");
    let camera = &said["camera"];
    assert_eq!(camera["projection"], "perspective");
    let window: [f64; 4] = serde_json::from_value(camera["screen_window"].clone()).unwrap();
    let [width, height] = [window[1] - window[0], window[3] - window[2]];
    assert!((width - 2.0 * height).abs() < 1e-12 && (0.3..0.8).contains(&height), "{said}");
    // From the front, the right and above.
    for (i, expected) in [0.54, 0.47, 0.70].into_iter().enumerate() {
        assert!((camera["back"][i].as_f64().unwrap() - expected).abs() < 0.01, "{said}");
        assert!(camera["eye"][i].as_f64().unwrap() > 4.0, "{said}");
    }
}

#[test]
fn view_zoom_light_and_edges_are_as_asked_for() {
    let folder = folder();
    folder.succeeds("mesh.obj --res 9 -o a.npz");
    let drawn = |args: &str| {
        let mut said = folder.json(format!("render a.npz -o a.png --size 60x60 -q {args}"));
        (said["camera"].take(), folder.read("a.png"))
    };
    let plain = drawn("");
    assert!(plain == drawn("--view three-quarter"));
    assert!(plain == drawn("--up y") && plain.0 != drawn("--up z").0);
    assert_eq!(drawn("--view iso").0["projection"], "orthographic");
    let (camera, _) = drawn("--azimuth -90 --elevation 30");
    assert_eq!(camera["projection"], "perspective");
    for (i, expected) in [-(0.75_f64.sqrt()), 0.5, 0.0].into_iter().enumerate() {
        assert!((camera["back"][i].as_f64().unwrap() - expected).abs() < 1e-12, "{camera}");
    }
    let (close, _) = drawn("--zoom 2");
    assert!((window_width(&plain.0) - 2.0 * window_width(&close)).abs() < 1e-12, "{close}");
    for option in ["--light -20,10", "--no-edges"] {
        let (camera, picture) = drawn(option);
        assert!(camera == plain.0 && picture != plain.1, "{option}");
    }
}

#[test]
fn a_mesh_is_drawn_as_the_main_job_makes_it() {
    let folder = color::in_colors();
    let small = "--size 60x60 --samples 1 --view right --camera perspective --up z -q";
    let mut plain = None;
    for options in [
        "--res 25",
        "--voxel-size 0.25",
        "--res 25 --mode thin",
        "--res 25 --mode solid --shell",
        "--res 25 --keep-transparent",
        "--res 25 --color none",
        "--res 25 --color #C08040",
        "--res 25 --mode solid --fill flood",
    ] {
        folder.succeeds(format!("three.obj {options} -o made.npz"));
        let of_grid = folder.succeeds(format!("render made.npz -o - {small}")).stdout;
        let of_mesh = folder.succeeds(format!("render three.obj {options} -o - {small}")).stdout;
        assert!(of_grid == of_mesh, "{options}");
        assert!(plain.as_ref() != Some(&of_mesh), "{options} has no effect");
        plain.get_or_insert(of_mesh);
    }
}

#[test]
fn what_is_to_be_said_of_a_meshs_voxels_is_said_with_its_picture() {
    let folder = color::in_colors();
    for (options, expected) in [
        ("", "voxels in which all is transparent were left out: --keep-transparent keeps them"),
        ("--mode solid", "warning: the fill is doubtful: "),
    ] {
        let main = format!("three.obj --res 25 {options}");
        let render = format!("render {main} -o a.png --size 9x9");
        let [made, drawn] = [main, render].map(|args| -> Vec<String> {
            let said = folder.says(args, expected);
            said.lines().filter(|line| line.starts_with("warning: ")).map(str::to_owned).collect()
        });
        assert_eq!(drawn, made);
    }
    folder.write_grid("empty.npy", &VoxelGrid::empty([4, 5, 6]).unwrap());
    folder.says("render empty.npy -o a.png --size 8x8", "warning: no voxel is occupied");
}

#[test]
fn what_cannot_be_drawn_is_refused_and_changes_nothing() {
    let folder = folder();
    folder.write_grid("one.npy", &VoxelGrid::from_voxels([1; 3], [[0; 3]]).unwrap());
    folder.each("render _").refuses(&[
        ("old.npy -o a.png", "old.npy: "),
        (". -o a.png", ".: is a folder: name a file in it"),
        (". --res 8", ".: is a folder: name a file in it"),
        ("one.npy -o a.jpg", "a.jpg: unknown file extension '.jpg': pictures are .png files"),
        ("one.npy -o a", "a: no file extension"),
        ("one.npy -o a.gif", "a.gif: a .gif is an animation: use --turntable N"),
        ("one.npy -o nowhere/a.png", "there is no folder 'nowhere'"),
        ("one.npy -o - --json", "both write to standard output"),
        ("mesh.obj --res 0 -o a.png", "use 1 to 65,536"),
        ("mesh.obj --voxel-size nan -o a.png", "mesh.obj: a voxel size of NaN is not"),
        ("mesh.obj --res 8 --fill flood -o a.png", "--fill is for solids"),
        ("mesh.obj --res 8 --mode thin --shell -o a.png", "--include-surface is for solids"),
        ("mesh.obj --res 4096 --memory 1kB -o a.png", "mesh.obj: for reading the mesh the program"),
        ("mesh.obj --res 4096 --memory 60MiB -o a.png", "mesh.obj: for the grid the program needs"),
        ("one.npy --res 8 -o a.png", "one.npy: is no mesh, so --res has no effect"),
        ("one.npy --voxel-size 8 -o a.png", "--voxel-size has no effect"),
        ("one.npy --mode surface -o a.png", "--mode has no effect"),
        ("one.npy --fill flood -o a.png", "--fill has no effect"),
        ("one.npy --shell -o a.png", "--include-surface has no effect"),
        ("one.npy --keep-transparent -o a.png", "--keep-transparent has no effect"),
        ("one.npy --color none -o a.png", "--color has no effect"),
    ]);
    folder.each("render one.npy -o a.png _").fails(&[
        ("--size 0x8", "width and height of 1 to 16,384 pixels"),
        ("--size 20000x8", "such as 1920x1080"),
        ("--view above", "'above' for '--view"),
        ("--camera fish", "'fish' for '--camera"),
        ("--background foggy", "use gradient, transparent or a CSS colour such as #C08040"),
        ("--azimuth inf", "an azimuth of inf degrees is not possible"),
        ("--elevation -91", "an elevation of -91 degrees is not possible: use -90 to 90"),
        ("--zoom 0", "a zoom of 0 is not possible: use 0.01 to 100"),
        ("--light 10", "use azimuth and elevation in degrees, such as -45,30"),
        ("--light 10,-5", "a sun at an elevation of -5 degrees"),
        ("--samples 0", "'0' for '--samples"),
        ("--samples 17", "'17' for '--samples"),
        ("--turntable 0", "'0' for '--turntable"),
        ("--turntable 10000", "'10000' for '--turntable"),
        ("--turntable 2 --fps 0", "'0' for '--fps"),
        ("--fps 24", "--turntable <N>"),
        ("--res 8 --voxel-size 8", "cannot be used with"),
    ]);
    assert!(!folder.join("a.png").exists());
    // Without a name the picture has that of the grid, but not that of a texture.
    folder.succeeds("render one.npy --size 8");
    assert!(folder.join("one.voxels.png").is_file() && !folder.join("one.png").exists());
}

#[test]
fn the_picture_at_the_top_of_the_readme_is_what_the_program_draws() {
    let folder = Folder::new();
    let args = format!("render {LIGHTHOUSE} --res 128 --size 800 -o a.png -q");
    folder.succeeds(&args);
    let committed = image::open(Path::new(ROOT).join("docs/lighthouse.png")).unwrap().to_rgb8();
    assert!(folder.picture("a.png") == committed, "voxelize {args}");
}
