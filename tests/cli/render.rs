//! `voxelize render`: what it draws and refuses.

use super::*;

#[test]
fn a_grid_is_drawn_to_a_png_and_that_is_said() {
    let folder = folder();
    succeeds(&folder, "mesh.obj --res 21 -o a.vox");
    let run = voxelize(&folder, "render a.vox -o a.png --size 40x30");
    assert!(run.status.success() && run.stdout.is_empty(), "{}", stderr(&run));
    let said = stderr(&run);
    assert!(said.contains("drew      40 x 30 pixels in ") && said.contains("wrote     a.png, "));
    let bytes = folder.read("a.png");
    assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"));

    let json = json_of(&folder, "render a.vox -o b.png --size 40x30 --json -q --threads 1");
    assert_eq!((&json["file"], &json["output"]), (&"a.vox".into(), &"b.png".into()));
    assert_eq!((&json["width"], &json["height"]), (&40.into(), &30.into()));
    assert_eq!(json["bytes"], bytes.len() as u64);
    assert_eq!(folder.read("b.png"), bytes);
    let run = voxelize(&folder, "render a.vox -o - --size 40x30 -q");
    assert!(run.stdout == bytes && stderr(&run).is_empty());
}

#[test]
fn where_the_camera_is_is_said_in_the_meshs_units() {
    let folder = folder();
    // The mesh is 4 units wide, of which the grid's front shows 4 x 4.
    for unit in [0.5, 0.25] {
        succeeds(&folder, &format!("mesh.obj --voxel-size {unit} -o a.vdb"));
        let front = "render a.vdb -o a.png --view front --size 80x40 --json -q";
        let said = json_of(&folder, front);
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
    let said = json_of(&folder, "render a.vdb -o a.png --size 80x40 --json -q");
    let camera = &said["camera"];
    assert_eq!(camera["projection"], "perspective");
    let window: Vec<f64> = serde_json::from_value(camera["screen_window"].clone()).unwrap();
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
    succeeds(&folder, "mesh.obj --res 9 -o a.npz");
    let drawn = |args: &str| {
        let render = format!("render a.npz -o a.png --size 60x60 --json -q {args}");
        let said = voxelize(&folder, &render);
        (json(&said)["camera"].clone(), folder.read("a.png"))
    };
    let plain = drawn("");
    assert!(plain == drawn("--view three-quarter"));
    assert!(plain == drawn("--up y") && plain.0 != drawn("--up z").0);
    assert_eq!(drawn("--view iso").0["projection"], "orthographic");
    let (camera, _) = drawn("--azimuth -90 --elevation 30");
    assert_eq!(camera["projection"], "perspective");
    let expected = [-(0.75_f64.sqrt()), 0.5, 0.0];
    for (i, expected) in expected.into_iter().enumerate() {
        assert!((camera["back"][i].as_f64().unwrap() - expected).abs() < 1e-12, "{camera}");
    }
    let close = drawn("--zoom 2").0;
    let left = |camera: &serde_json::Value| {
        let window: [f64; 4] = serde_json::from_value(camera["screen_window"].clone()).unwrap();
        window[1] - window[0]
    };
    assert!((left(&plain.0) - 2.0 * left(&close)).abs() < 1e-12, "{close}");
    for option in ["--light -20,10", "--no-edges"] {
        let (camera, picture) = drawn(option);
        assert!(camera == plain.0 && picture != plain.1, "{option}");
    }
}

#[test]
fn a_mesh_is_drawn_as_the_main_job_makes_it() {
    let folder = super::color::in_colors();
    let small = "--size 60x60 --samples 1 --view right --camera perspective --up z -q";
    let mut pictures = Vec::new();
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
        succeeds(&folder, &format!("three.obj {options} -o made.npz"));
        let of_grid = voxelize(&folder, &format!("render made.npz -o - {small}"));
        let of_mesh = succeeds(&folder, &format!("render three.obj {options} -o - {small}"));
        assert!(of_grid.stdout == of_mesh.stdout, "{options}");
        pictures.push(of_mesh.stdout);
    }
    for (n, picture) in pictures.iter().enumerate().skip(1) {
        assert!(*picture != pictures[0], "option {n} has no effect");
    }
}

#[test]
fn what_is_to_be_said_of_a_meshs_voxels_is_said_with_its_picture() {
    let folder = super::color::in_colors();
    for (options, expected) in [
        ("", "voxels in which all is transparent were left out: --keep-transparent keeps them"),
        ("--mode solid", "warning: the fill is doubtful: "),
    ] {
        let main = voxelize(&folder, &format!("three.obj --res 25 {options}"));
        let main = stderr(&main);
        let warnings: Vec<&str> = main.lines().filter(|l| l.starts_with("warning: ")).collect();
        let render = format!("render three.obj --res 25 {options} -o a.png --size 9x9");
        let said = says(&folder, &render, expected);
        let drawn: Vec<&str> = said.lines().filter(|l| l.starts_with("warning: ")).collect();
        assert_eq!(drawn, warnings);
    }
}

#[test]
fn a_mesh_past_the_bound_of_memory_is_refused() {
    let folder = folder();
    for (bound, what) in [("1kB", "reading the mesh"), ("60MiB", "the grid")] {
        let args = format!("render mesh.obj --res 4096 --memory {bound} -o a.png");
        refuses(&folder, &args, &format!("mesh.obj: for {what} the program needs"));
    }
}

#[test]
fn an_empty_grid_is_said_to_be_so() {
    let folder = folder();
    write_grid(&folder, "empty.npy", &VoxelGrid::empty([4, 5, 6]).unwrap());
    says(&folder, "render empty.npy -o a.png --size 8x8", "warning: no voxel is occupied");
}

#[test]
fn what_cannot_be_drawn_is_refused_and_changes_nothing() {
    let folder = folder();
    write_grid(&folder, "one.npy", &VoxelGrid::from_voxels([1; 3], [[0; 3]]).unwrap());
    let jpg = "a.jpg: unknown file extension '.jpg': pictures are .png files";
    for (args, complaint) in [
        ("render old.npy -o a.png", "old.npy: "),
        ("render one.npy -o a.jpg", jpg),
        ("render one.npy -o a", "a: no file extension"),
        ("render one.npy -o a.gif", "a.gif: a .gif is an animation: use --turntable N"),
        ("render one.npy -o nowhere/a.png", "there is no folder 'nowhere'"),
        ("render one.npy -o - --json", "both write to standard output"),
        ("render mesh.obj --res 0 -o a.png", "use 1 to 65,536"),
        ("render mesh.obj --voxel-size nan -o a.png", "mesh.obj: a voxel size of NaN is not"),
        ("render mesh.obj --res 8 --fill flood -o a.png", "--fill is for solids"),
        ("render mesh.obj --res 8 --mode thin --shell -o a.png", "--include-surface is for solids"),
        ("render one.npy --res 8 -o a.png", "one.npy: is no mesh, so --res has no effect"),
        ("render one.npy --voxel-size 8 -o a.png", "--voxel-size has no effect"),
        ("render one.npy --mode surface -o a.png", "--mode has no effect"),
        ("render one.npy --fill flood -o a.png", "--fill has no effect"),
        ("render one.npy --shell -o a.png", "--include-surface has no effect"),
        ("render one.npy --keep-transparent -o a.png", "--keep-transparent has no effect"),
        ("render one.npy --color none -o a.png", "--color has no effect"),
    ] {
        refuses(&folder, args, complaint);
    }
    for (args, complaint) in [
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
    ] {
        fails(&folder, &format!("render one.npy -o a.png {args}"), complaint);
    }
    assert!(!folder.join("a.png").exists());
    // Without a name the picture has that of the grid, but not that of a texture.
    succeeds(&folder, "render one.npy --size 8");
    assert!(folder.join("one.voxels.png").is_file() && !folder.join("one.png").exists());
}

/// Pixels of the same rectangle in two sheets.
fn is_same(
    a: &image::RgbImage,
    b: &image::RgbImage,
    [left, top]: [u32; 2],
    size: [u32; 2],
) -> bool {
    let part = |sheet: &image::RgbImage| {
        image::imageops::crop_imm(sheet, left, top, size[0], size[1]).to_image().into_raw()
    };
    part(a) == part(b)
}

#[test]
fn a_folder_is_drawn_as_one_sheet_in_which_each_file_has_its_own_picture_and_name() {
    let folder = folder();
    fs::create_dir(folder.join("models")).unwrap();
    for name in ["a.obj", "b.obj", "c.obj"] {
        folder.write(format!("models/{name}"), MESH);
    }
    write_grid(&folder, "models/d.npy", &VoxelGrid::from_voxels([1; 3], [[0; 3]]).unwrap());
    folder.write("models/readme.txt", "no mesh");
    let args = "render models --res 16 --size 40x30 --samples 1";
    let said = says(&folder, &format!("{args} -o sheet.png"), "4 pictures of 40 x 30 pixels in ");
    assert!(
        said.contains("read      models\n") && said.contains("wrote     sheet.png, "),
        "{said}"
    );
    let sheet = image::open(folder.join("sheet.png")).unwrap().to_rgb8();
    // Three columns and two rows: a picture, 12 pixels for its name, and 8 of space.
    assert_eq!(sheet.dimensions(), (8 + 3 * 48, 8 + 2 * 50));
    let single = |name: &str| {
        let file = format!("render models/{name} --size 40x30 --samples 1 -o one.png");
        let mesh = if name.ends_with("obj") { " --res 16" } else { "" };
        succeeds(&folder, &(file + mesh));
        image::open(folder.join("one.png")).unwrap().to_rgb8()
    };
    for (n, name) in (0..).zip(["a.obj", "b.obj", "c.obj", "d.npy"]) {
        let [left, top] = [8 + 48 * (n % 3), 8 + 50 * (n / 3)];
        let drawn = image::imageops::crop_imm(&sheet, left, top, 40, 30).to_image();
        assert!(drawn == single(name), "{name}");
    }

    // Of a file that cannot be read the picture alone is another.
    folder.write("models/b.obj", "v 0 0 0\nf 1 2 9\n");
    let run = exits(&folder, &format!("{args} -o failed.png --json"), 2);
    let json = &json_lines(&run)[0];
    assert_eq!(
        (&json["pictures"], &json["failed"][0]["file"]),
        (&4.into(), &"models/b.obj".into())
    );
    assert_eq!(json["failed"].as_array().unwrap().len(), 1);
    assert!(stderr(&run).contains("error: models/b.obj: line 2: "), "{}", stderr(&run));
    let failed = image::open(folder.join("failed.png")).unwrap().to_rgb8();
    assert!(is_same(&failed, &sheet, [0, 0], [56, 108]), "a.obj and d.npy");
    assert!(!is_same(&failed, &sheet, [56, 8], [40, 30]), "the picture of b.obj");
    assert!(is_same(&failed, &sheet, [56, 38], [96, 20]), "the names of b.obj and c.obj");
    // A shorter name than the others has other pixels.
    fs::rename(folder.join("models/c.obj"), folder.join("models/ca.obj")).unwrap();
    exits(&folder, &format!("{args} -o renamed.png"), 2);
    let renamed = image::open(folder.join("renamed.png")).unwrap().to_rgb8();
    assert!(!is_same(&failed, &renamed, [104, 38], [48, 20]), "the name of c.obj");

    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("gone.obj", folder.join("models/dangling.obj")).unwrap();
        let run = exits(&folder, &format!("{args} -o dangling.png"), 2);
        assert!(stderr(&run).contains("error: models/dangling.obj: No such file"), "{run:?}");
    }
}

#[test]
fn a_folder_that_cannot_be_a_sheet_is_refused() {
    let folder = folder();
    for (name, files) in [("empty", 0), ("one", 1), ("full", 401)] {
        fs::create_dir(folder.join(name)).unwrap();
        (0..files).for_each(|n| folder.write(format!("{name}/{n}.npy"), ""));
    }
    for (args, complaint) in [
        ("render empty -o a.png", "empty: no grid and no mesh is in this folder"),
        ("render full -o a.png", "full: 401 grids and meshes are more than the 400 of a sheet"),
        ("render one --turntable 3 -o a.png", "one: a folder becomes one picture"),
        ("render one --res 8 -o a.png", "one/0.npy: is no mesh, so --res has no effect"),
        ("render one --size 16384 -o a.png", "the sheet of 1 picture: use a smaller --size"),
    ] {
        fails(&folder, args, complaint);
        assert!(!folder.join("a.png").exists(), "{args}");
    }
}

#[test]
fn the_picture_at_the_top_of_the_readme_is_what_the_program_draws() {
    let folder = folder();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mesh = root.join("assets/lighthouse.obj");
    let args = format!("render {} --res 128 --size 800 -o a.png -q", mesh.display());
    succeeds(&folder, &args);
    let pixels = |path: &Path| image::open(path).unwrap().to_rgb8().into_raw();
    let [drawn, committed] = [folder.join("a.png"), root.join("docs/lighthouse.png")];
    assert!(pixels(&drawn) == pixels(&committed), "voxelize {args}");
}
