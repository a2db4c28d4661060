//! Files are whole or not there, whatever happens; what is no file is not replaced.

use super::*;

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_old_file_and_no_other() {
    let folder = folder();
    folder.write("out.npy", "an old file");
    // 8 blocks of 512 or 1024 bytes are the most that a file may grow to; the grid needs 64^2.
    for signal_is in ["", "trap '' XFSZ; "] {
        let run = format!("{VOXELIZE} mesh.obj --res 200 -o out.npy --json");
        let output = folder.bash(format!("{signal_is}ulimit -f 1; exec {run}"));
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).starts_with("error: out.npy: "), "{}", stderr(&output));
        assert_eq!(json_lines(&output)[0]["code"], "write.io");
        assert_eq!(folder.files(), ["mesh.obj", "out.npy"]);
        assert_eq!(folder.text("out.npy"), "an old file");
    }
}

/// A run that writes 2 GB.
#[cfg(unix)]
const LONG_RUN: &str = "mesh.obj --res 2000 -o out.npy -q --json";

/// Returns the name of the temporary file of a run once the file holds data: an empty one may be
/// that of the check that the folder is writable.
#[cfg(unix)]
fn temporary_file(folder: &Folder) -> String {
    let mut found = None;
    let is_there = becomes(|| {
        let mut names = folder.files().into_iter().filter(|name| name.ends_with(".tmp"));
        found = names.find(|name| fs::metadata(folder.join(name)).is_ok_and(|m| m.len() > 0));
        found.is_some()
    });
    assert!(is_there, "no temporary file with data was seen");
    found.unwrap()
}

/// As `nohup` does.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_is_ignored_from_the_start_stays_ignored() {
    let folder = folder();
    let ignoring = format!("--default-signal --ignore-signal=HUP {VOXELIZE} {LONG_RUN}");
    let mut run = folder.command("env", ignoring).spawn().unwrap();
    temporary_file(&folder);
    send("HUP", &run);
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(run.try_wait().unwrap(), None);
    send("TERM", &run);
    assert_eq!(run.wait().unwrap().code(), Some(143));
}

#[cfg(unix)]
#[test]
fn a_signal_leaves_the_old_file_and_no_other() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129), ("XCPU", 152)] {
        let folder = folder();
        folder.write("out.npy", "an old file");
        let run = folder.start(LONG_RUN);
        temporary_file(&folder);
        send(signal, &run);
        let output = run.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{signal}");
        let why = format!("stopped by SIG{signal}: the unfinished output was removed");
        assert_eq!(stderr(&output), format!("error: {why}\n"));
        assert_eq!(json_lines(&output), [json!({"error": why, "code": "cancelled"})]);
        assert_eq!(folder.files(), ["mesh.obj", "out.npy"], "{signal}");
        assert_eq!(folder.text("out.npy"), "an old file");
    }
}

#[cfg(unix)]
#[test]
fn a_run_removes_what_a_killed_one_left_a_day_ago_but_nothing_of_a_living_one() {
    let folder = folder();
    let mut killed = folder.start(LONG_RUN);
    let left = temporary_file(&folder);
    killed.kill().unwrap();
    killed.wait().unwrap();
    for (hours, all) in
        [(23, [&*left, "a.vox", "mesh.obj"].as_slice()), (25, &["a.vox", "mesh.obj"])]
    {
        let modified = std::time::SystemTime::now() - std::time::Duration::from_secs(hours * 3600);
        let file = fs::File::options().write(true).open(folder.join(&left)).unwrap();
        file.set_modified(modified).unwrap();
        folder.succeeds("mesh.obj --res 8 -o a.vox");
        assert_eq!(folder.files(), all, "after {hours} hours");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn help_that_cannot_be_printed_is_an_error() {
    let folder = Folder::new();
    for args in ["--help", "--version", "verify -h", "formats"] {
        let output = folder.bash(format!("{VOXELIZE} {args} > /dev/full"));
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{args}: {said}");
        assert!(said.starts_with("error: standard output: No space left"), "{args}: {said}");
    }
    // A reader takes what it wants of it.
    for args in ["--help", "formats"] {
        let output = folder.bash(format!("set -o pipefail; {VOXELIZE} {args} | true"));
        assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_is_written_to_and_not_replaced() {
    use std::os::unix::fs::FileTypeExt;
    let folder = folder();
    folder.fails("mesh.obj --res 64 -o /dev/full --format npy", "/dev/full: No space left");
    assert!(fs::metadata("/dev/full").unwrap().file_type().is_char_device());
    folder.succeeds("mesh.obj --res 64 -o /dev/null --format npy");
}

#[test]
fn standard_output_and_pipes_by_any_name_carry_the_file() {
    let folder = folder();
    folder.succeeds("mesh.obj --res 8 -o a.npy");
    let expected = folder.read("a.npy");
    assert_eq!(folder.succeeds("mesh.obj --res 8 -o - --format npy -q").stdout, expected);
    #[cfg(target_os = "linux")]
    for output in ["/dev/stdout", ">(cat)"] {
        let run = format!("{VOXELIZE} mesh.obj --res 8 -q -o {output} --format npy");
        let piped = folder.bash(format!("{{ {run}; }} | cat"));
        assert_eq!((stderr(&piped), &piped.stdout), (String::new(), &expected), "{output}");
    }
}

/// A signal while the mesh still comes through standard input.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_removes_the_copy_of_standard_input() {
    use std::io::Write;
    let folder = folder();
    for args in ["info - --input-format obj", "- --input-format obj -o a.vox"] {
        let args = format!("--default-signal TMPDIR={} {VOXELIZE} {args}", folder.display());
        let mut command = folder.command("env", args);
        let mut run = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut pipe = run.stdin.take().unwrap();
        pipe.write_all(b"v 0 0 0\n").unwrap();
        let copy_begun = |name: &String| {
            let copy = folder.join(name).join("standard-input.obj");
            fs::metadata(copy).is_ok_and(|copy| copy.len() > 0)
        };
        let begun = becomes(|| folder.files().iter().any(copy_begun));
        assert!(begun, "no copy of standard input was seen");
        send("TERM", &run);
        let output = run.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(143));
        assert_eq!(stderr(&output), "error: stopped by SIGTERM\n");
        assert_eq!(folder.files(), ["mesh.obj"]);
    }
}

#[cfg(unix)]
#[test]
fn a_link_is_followed_and_permissions_are_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = folder();
    folder.write("real.npy", "old");
    fs::set_permissions(folder.join("real.npy"), fs::Permissions::from_mode(0o640)).unwrap();
    // The file of one is there, that of another is not yet, and one leads to itself.
    for (link, target) in
        [("link.npy", "real.npy"), ("early.npy", "new.npy"), ("round.npy", "round.npy")]
    {
        symlink(target, folder.join(link)).unwrap();
    }
    for (link, target) in [("link.npy", "real.npy"), ("early.npy", "new.npy")] {
        folder.succeeds(format!("mesh.obj --res 8 -o {link}"));
        assert!(fs::symlink_metadata(folder.join(link)).unwrap().is_symlink());
        assert!(read_grid(folder.join(target)).is_ok());
    }
    assert_eq!(fs::metadata(folder.join("real.npy")).unwrap().permissions().mode() & 0o777, 0o640);
    folder.refuses("mesh.obj --res 8 -o round.npy", "too many links");
}
