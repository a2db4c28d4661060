//! Files are whole or not there, whatever happens; what is no file is not replaced.

use super::*;

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_old_file_and_no_other() {
    let folder = folder();
    folder.write("out.npy", "an old file");
    // 8 blocks of 512 or 1024 bytes are the most that a file may grow to; the grid needs 64^2.
    for signal_is in ["", "trap '' XFSZ; "] {
        let script =
            format!("{signal_is}ulimit -f 1; exec {VOXELIZE} mesh.obj --res 200 -o out.npy --json");
        let output = bash(&folder, &script);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).starts_with("error: out.npy: "), "{}", stderr(&output));
        assert_eq!(json_lines(&output)[0]["code"], "write.io");
        assert_eq!(files(&folder), ["mesh.obj", "out.npy"]);
        assert_eq!(fs::read_to_string(folder.join("out.npy")).unwrap(), "an old file");
    }
}

/// Begins a run of `command` that writes 2 GB to `out.npy`, and returns once its temporary file
/// exists.
#[cfg(unix)]
fn begin_to_write(mut command: Command, path: &Path) -> std::process::Child {
    use std::process::Stdio;
    let args = ["mesh.obj", "--res", "2000", "-o", "out.npy", "-q", "--json"];
    command.current_dir(path).args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
    let run = command.spawn();
    // An empty one may be that of the check that the folder is writable.
    let holds_data = |name: String| fs::metadata(path.join(name)).is_ok_and(|m| m.len() > 0);
    let begun = becomes(|| temporary(path).into_iter().any(holds_data));
    assert!(begun, "no temporary file with data was seen");
    run.unwrap()
}

#[cfg(unix)]
fn temporary(path: &Path) -> Vec<String> {
    files(path).into_iter().filter(|name| name.ends_with(".tmp")).collect()
}

/// As `nohup` does.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_is_ignored_from_the_start_stays_ignored() {
    let folder = folder();
    let mut ignoring = Command::new("env");
    ignoring.args(["--default-signal", "--ignore-signal=HUP", VOXELIZE]);
    let mut run = begin_to_write(ignoring, &folder);
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
        let path = &folder;
        fs::write(path.join("out.npy"), "an old file").unwrap();
        let run = begin_to_write(signalled(), path);
        send(signal, &run);
        let output = run.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{signal}");
        let why = format!("stopped by SIG{signal}: the unfinished output was removed");
        assert_eq!(stderr(&output), format!("error: {why}\n"));
        assert_eq!(json_lines(&output), [serde_json::json!({"error": why, "code": "cancelled"})]);
        assert_eq!(files(path), ["mesh.obj", "out.npy"], "{signal}");
        assert_eq!(fs::read_to_string(path.join("out.npy")).unwrap(), "an old file");
    }
}

#[cfg(unix)]
#[test]
fn a_run_removes_what_a_killed_one_left_a_day_ago_but_nothing_of_a_living_one() {
    let folder = folder();
    let mut killed = begin_to_write(signalled(), &folder);
    killed.kill().unwrap();
    killed.wait().unwrap();
    let left = temporary(&folder);
    assert_eq!(left.len(), 1);
    for (hours, all) in
        [(23, [&left[0][..], "a.vox", "mesh.obj"].as_slice()), (25, &["a.vox", "mesh.obj"])]
    {
        let modified = std::time::SystemTime::now() - std::time::Duration::from_secs(hours * 3600);
        let file = fs::File::options().write(true).open(folder.join(&left[0])).unwrap();
        file.set_modified(modified).unwrap();
        succeeds(&folder, "mesh.obj --res 8 -o a.vox");
        assert_eq!(files(&folder), all, "after {hours} hours");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn help_that_cannot_be_printed_is_an_error() {
    for args in ["--help", "--version", "verify -h", "formats"] {
        let script = format!("{VOXELIZE} {args} > /dev/full");
        let output = Command::new("sh").args(["-c", &script]).output().unwrap();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{args}: {said}");
        assert!(said.starts_with("error: standard output: No space left"), "{args}: {said}");
    }
    let script = format!("set -o pipefail; {VOXELIZE} --help | true");
    let output = Command::new("bash").args(["-c", &script]).output().unwrap();
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_is_written_to_and_not_replaced() {
    let folder = folder();
    fails(&folder, "mesh.obj --res 64 -o /dev/full --format npy", "/dev/full: No space left");
    use std::os::unix::fs::FileTypeExt;
    assert!(fs::metadata("/dev/full").unwrap().file_type().is_char_device());
    succeeds(&folder, "mesh.obj --res 64 -o /dev/null --format npy");
}

#[test]
fn standard_output_and_pipes_by_any_name_carry_the_file() {
    let folder = folder();
    succeeds(&folder, "mesh.obj --res 8 -o a.npy");
    let expected = folder.read("a.npy");
    assert_eq!(voxelize(&folder, "mesh.obj --res 8 -o - --format npy -q").stdout, expected);
    #[cfg(target_os = "linux")]
    for args in ["-o /dev/stdout --format npy", "-o >(cat) --format npy"] {
        let script = format!("{{ {VOXELIZE} mesh.obj --res 8 -q {args}; }} | cat");
        let output = bash(&folder, &script);
        assert_eq!((stderr(&output), output.stdout), (String::new(), expected.clone()), "{args}");
    }
}

/// A signal while the mesh still comes through standard input.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_removes_the_copy_of_standard_input() {
    use std::io::Write;
    use std::process::Stdio;
    let folder = folder();
    for args in ["info - --input-format obj", "- --input-format obj -o a.vox"] {
        let mut command = signalled();
        command.current_dir(&folder).env("TMPDIR", folder.as_os_str()).args(args.split(' '));
        let mut run = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut pipe = run.stdin.take().unwrap();
        pipe.write_all(b"v 0 0 0\n").unwrap();
        let copy_begun = |name: &String| {
            let copy = folder.join(name).join("standard-input.obj");
            fs::metadata(copy).is_ok_and(|copy| copy.len() > 0)
        };
        let begun = becomes(|| files(&folder).iter().any(copy_begun));
        assert!(begun, "{args}: no copy of standard input was seen");
        send("TERM", &run);
        let output = run.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(143), "{args}");
        assert_eq!(stderr(&output), "error: stopped by SIGTERM\n", "{args}");
        assert_eq!(files(&folder), ["mesh.obj"], "{args}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_is_followed_and_permissions_are_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = folder();
    folder.write("real.npy", "old");
    fs::set_permissions(folder.join("real.npy"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real.npy", folder.join("link.npy")).unwrap();
    succeeds(&folder, "mesh.obj --res 8 -o link.npy");
    assert!(fs::symlink_metadata(folder.join("link.npy")).unwrap().is_symlink());
    assert!(read_grid(folder.join("real.npy")).is_ok());
    assert_eq!(fs::metadata(folder.join("real.npy")).unwrap().permissions().mode() & 0o777, 0o640);
}

#[cfg(unix)]
#[test]
fn a_link_to_a_file_that_is_not_there_yet_is_followed() {
    let folder = folder();
    std::os::unix::fs::symlink("new.npy", folder.join("link.npy")).unwrap();
    std::os::unix::fs::symlink("round.npy", folder.join("round.npy")).unwrap();
    succeeds(&folder, "mesh.obj --res 8 -o link.npy");
    assert!(fs::symlink_metadata(folder.join("link.npy")).unwrap().is_symlink());
    assert!(read_grid(folder.join("new.npy")).is_ok());
    refuses(&folder, "mesh.obj --res 8 -o round.npy", "too many links");
}
