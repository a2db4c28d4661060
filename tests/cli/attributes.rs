//! `--attributes`: what voxels hold of the surface.

use super::*;

#[test]
fn attributes_are_written_and_formats_without_them_are_refused_before_any_work() {
    let folder = color::in_colors();
    let path = folder.path();
    let run = "three.obj --res 25 --attributes normal,triangle,material,AREA --color none -o";
    for name in ["all.npz", "all.vti"] {
        let output = voxelize(path, &format!("{run} {name} --json"));
        let summary = json(&output);
        assert!(summary["timings_ms"]["attributes"].as_f64().unwrap() > 0.0);
        let file = fs::read(path.join(name)).unwrap();
        let has = |text: &str| file.windows(text.len()).any(|window| window == text.as_bytes());
        for attribute in ["normal", "triangle", "material", "area"] {
            assert!(has(attribute), "{name}: {attribute}");
        }
    }
    let refused = ".vox files cannot hold attributes: use one of .npz, .vti";
    refuses(path, "three.obj --attributes normal -o out.vox", refused);
    for (args, complaint) in [
        ("--attributes normal,colour -o out.npz", "invalid value 'colour'"),
        ("--attributes normal", "--output"),
        ("--attributes normal --distance 2 -o out.npz", "cannot be used with"),
    ] {
        let output = voxelize(path, &format!("three.obj --res 8 {args}"));
        let message = stderr(&output);
        assert!(output.status.code() == Some(2) && message.contains(complaint), "{message}");
    }
}

#[test]
fn attributes_are_the_same_on_any_number_of_threads() {
    let folder = color::in_colors();
    let write = |threads: u32| {
        let args = "three.obj --res 60 --mode thin --attributes normal,area -o out.npz";
        let run = voxelize(folder.path(), &format!("{args} --threads {threads}"));
        assert!(run.status.success(), "{}", stderr(&run));
        fs::read(folder.path().join("out.npz")).unwrap()
    };
    assert!(write(1) == write(4));
}
