//! The meshes of a run, in the order given: from arguments, folders, patterns and `@` lists.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::iter;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Error, Result, anyhow, bail};
use bytesize::ByteSize;
use serde::Serialize;
use tempfile::TempDir;
use trivox::formats::temporary::folder_of;
use trivox::formats::{GridFormat, check_known_extension, is_mesh, is_unread_mesh};

use crate::cli::{self, Cli, Command};
use crate::console::CodedError;
use crate::memory::Memory;
use crate::text::{counted_as, escaped, grouped, listed, path_text, shown};

/// The name of standard input in messages.
const STDIN: &str = "standard input";
/// The prefix of a list.
const LIST: &str = "@";

/// One mesh to voxelize.
#[derive(Debug, Clone)]
pub struct Task {
    pub mesh: PathBuf,
    /// More meshes in the same grid.
    pub others: Vec<PathBuf>,
    /// The mesh's folder relative to the named folder; empty if the mesh lies in it or was itself
    /// named.
    pub below: PathBuf,
    /// The output file, if any.
    pub target: Option<PathBuf>,
    /// The error of an unreadable entry of a folder.
    pub error: Option<CodedError>,
}

impl From<PathBuf> for Task {
    fn from(mesh: PathBuf) -> Self {
        Self { mesh, others: Vec::new(), below: PathBuf::new(), target: None, error: None }
    }
}

impl Task {
    /// One task for the meshes of all `tasks`.
    pub fn joined(tasks: Vec<Self>) -> Vec<Self> {
        let error = tasks.iter().find_map(|task| task.error.clone());
        let mut meshes = tasks.into_iter().map(|task| task.mesh);
        let first = meshes.next().map(|mesh| Self { error, ..Self::from(mesh) });
        first.into_iter().map(|task| Self { others: meshes.by_ref().collect(), ..task }).collect()
    }

    /// Its name in reports: that of its mesh, and how many more there are.
    pub fn name(&self) -> String {
        match self.others.len() {
            0 => path_text(&self.mesh),
            more => format!("{} and {} more", path_text(&self.mesh), grouped(more as u64)),
        }
    }

    /// All its meshes.
    pub fn meshes(&self) -> impl Iterator<Item = &Path> {
        iter::once(&self.mesh).chain(&self.others).map(PathBuf::as_path)
    }

    /// The names of its meshes as objects: the names of the files, with their extensions or folders
    /// only as far as that tells them apart.
    pub fn objects(&self) -> Vec<String> {
        let stem: fn(&Path) -> Option<PathBuf> = |path| path.file_stem().map(PathBuf::from);
        let file: fn(&Path) -> Option<PathBuf> = |path| path.file_name().map(PathBuf::from);
        let mut names: Vec<PathBuf> = self.meshes().map(Path::to_owned).collect();
        for shorter in [file, stem] {
            let mut counts = HashMap::new();
            let short: Vec<Option<PathBuf>> = self.meshes().map(shorter).collect();
            short.iter().for_each(|name| *counts.entry(name).or_insert(0) += 1);
            for (name, short) in names.iter_mut().zip(&short) {
                if let (1, Some(short)) = (counts[short], short) {
                    name.clone_from(short);
                }
            }
        }
        names.iter().map(|name| name.to_string_lossy().into_owned()).collect()
    }
}

/// The meshes named by the arguments.
#[derive(Debug, Default)]
pub struct Named {
    pub tasks: Vec<Task>,
    /// Whether an argument stands for several meshes.
    pub has_list: bool,
    pub left_out: Vec<LeftOut>,
}

/// An entry of a folder or a pattern that is left out; in JSON a line.
#[derive(Debug, Serialize)]
pub struct LeftOut {
    mesh: String,
    #[serde(rename = "left_out")]
    why: &'static str,
}

/// Reasons to leave an entry out.
const UNREAD: &str = "its format is not read";
const LINKED: &str = "a link to a folder, which is not followed";
const MATCHED: &str = "a folder that matches a pattern";
const OF_MACOS: &str = "an AppleDouble file of macOS";
const OF_OUTPUT: &str = "in the output folder (-o)";

/// The meshes named by `args`. The folder `output` is left out below another folder. With
/// `recursive`, folders stand for their subfolders too.
pub fn named(args: &[PathBuf], recursive: bool, output: Option<&Path>) -> Result<Named> {
    let output = output.and_then(|output| fs::canonicalize(output).ok());
    let mut search = Search { recursive, output, named: Named::default() };
    let mut has_folder = false;
    for arg in args {
        if let Some(list) = list(arg) {
            search.named.tasks.extend(read_list(list)?.into_iter().map(Task::from));
        } else if arg.is_dir() {
            search.add_argument(arg)?;
            has_folder = true;
        } else if let Some((base, found)) = matching(arg)? {
            let is_deep = arg.components().any(|part| part.as_os_str() == "**");
            search.add_matches(&base, &found, is_deep);
            has_folder = true;
        } else {
            search.named.tasks.push(arg.clone().into());
            continue;
        }
        search.named.has_list = true;
    }
    if recursive && !has_folder {
        bail!(
            "--recursive is for folders and patterns in quotes, and no mesh is one: name a \
             folder, or leave it out"
        );
    }
    Ok(search.named)
}

/// The list that an argument names.
pub fn list(arg: &Path) -> Option<&str> {
    arg.to_str().and_then(|name| name.strip_prefix(LIST))
}

/// A search of folders.
struct Search {
    recursive: bool,
    /// The output folder.
    output: Option<PathBuf>,
    named: Named,
}

impl Search {
    /// Adds the meshes in a folder, by name. Refuses a folder without any.
    fn add_argument(&mut self, folder: &Path) -> Result<()> {
        let [before, left_out] = [self.named.tasks.len(), self.named.left_out.len()];
        self.add(folder, Path::new(""))?;
        if self.named.tasks.len() == before {
            self.named.left_out[left_out..]
                .iter()
                .find(|entry| entry.why == UNREAD)
                .map_or(Ok(()), |entry| check_known_extension(Path::new(&entry.mesh)))
                .with_context(|| shown(folder))?;
            let deeper = if self.recursive { "" } else { ", or look below it with --recursive" };
            bail!("{}: no mesh is in this folder: name another{deeper}", shown(folder));
        }
        Ok(())
    }

    fn add(&mut self, folder: &Path, below: &Path) -> Result<()> {
        for path in sorted(folder).with_context(|| shown(folder))? {
            let kind = fs::metadata(&path);
            if kind.as_ref().is_ok_and(fs::Metadata::is_dir) {
                if self.recursive {
                    self.add_subfolder(&path, below);
                }
            } else if is_mesh(&path) {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                if name.starts_with("._") {
                    self.leave_out(&path, OF_MACOS);
                } else if kind.is_ok_and(|kind| !kind.is_file()) {
                    let why = "is a pipe or a device: name it itself, or take it out of the folder";
                    self.fail(&path, &anyhow!("{}: {why}", shown(&path)));
                } else {
                    // What cannot be looked at, such as a link to a missing file, is an error when
                    // it is read.
                    self.named.tasks.push(Task { below: below.to_owned(), ..Task::from(path) });
                }
            } else if is_unread_mesh(&path) {
                self.leave_out(&path, UNREAD);
            } else if let Err(error) = kind
                && self.recursive
                && !path.is_symlink()
            {
                // It may be a folder of meshes.
                self.fail(&path, &Error::new(error).context(shown(&path)));
            }
        }
        Ok(())
    }

    fn add_subfolder(&mut self, path: &Path, below: &Path) {
        if path.is_symlink() {
            // They may be cyclic.
            self.leave_out(path, LINKED);
        } else if self.is_output(path) {
            self.leave_out(path, OF_OUTPUT);
        } else {
            let below = below.join(path.file_name().unwrap_or_default());
            if let Err(error) = self.add(path, &below) {
                self.fail(path, &error);
            }
        }
    }

    /// Adds the files that a pattern matches, in recursion with their folders below `base`. In a
    /// deep search links to folders are not followed.
    fn add_matches(&mut self, base: &Path, found: &[PathBuf], is_deep: bool) {
        let parents: HashSet<&Path> = found.iter().filter_map(|path| path.parent()).collect();
        // A pattern may name files beside their outputs.
        let is_beside = self.is_output(&Path::new(".").join(base));
        let mut links = HashSet::new();
        for path in found {
            let folders = path.ancestors().skip(1).take_while(|folder| *folder != base);
            let link = folders.filter(|folder| is_deep && folder.is_symlink()).last();
            if let Some(link) = link {
                if links.insert(link) {
                    self.leave_out(link, LINKED);
                }
            } else if path.is_dir() {
                if !parents.contains(&**path) {
                    self.leave_out(path, MATCHED);
                }
            } else if !is_beside && self.is_output(folder_of(path)) {
                self.leave_out(path, OF_OUTPUT);
            } else {
                let below = path.parent().and_then(|folder| folder.strip_prefix(base).ok());
                let below = below.filter(|_| self.recursive).unwrap_or(Path::new("")).to_owned();
                self.named.tasks.push(Task { below, ..Task::from(path.clone()) });
            }
        }
    }

    /// Whether a folder is the output folder, or below it.
    fn is_output(&self, folder: &Path) -> bool {
        let is_below = |output: &PathBuf| {
            fs::canonicalize(folder).is_ok_and(|folder| folder.starts_with(output))
        };
        self.output.as_ref().is_some_and(is_below)
    }

    fn leave_out(&mut self, path: &Path, why: &'static str) {
        self.named.left_out.push(LeftOut { mesh: path_text(path), why });
    }

    /// Adds an entry that fails, while the others are made.
    fn fail(&mut self, path: &Path, error: &Error) {
        let error = Some(CodedError::of(error));
        self.named.tasks.push(Task { error, ..Task::from(path.to_owned()) });
    }
}

/// Whether a path is that of a grid, by its extension.
pub fn is_read_grid(path: &Path) -> bool {
    GridFormat::of_path(path).is_ok_and(|format| format.spec().is_read())
}

/// The entries of a folder, by name.
fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = entries.collect::<io::Result<Vec<_>>>()?;
    paths.sort_unstable();
    Ok(paths)
}

/// The paths that match the pattern `arg`, for shells that do not expand patterns, and the folder
/// before its first wildcard; `None` if it is not a pattern or is a file. Brackets are a set of
/// characters unless files match that have them in their names.
fn matching(arg: &Path) -> Result<Option<(PathBuf, Vec<PathBuf>)>> {
    let Some(pattern) = arg.to_str().filter(|text| text.contains(['*', '?'])) else {
        return Ok(None);
    };
    if arg.exists() {
        return Ok(None);
    }
    let mut has_folders = false;
    // The pattern `[[]` matches the character `[`.
    for (pattern, wildcards) in
        [(&pattern.replace('[', "[[]")[..], &['*', '?'][..]), (pattern, &['*', '?', '['])]
    {
        let paths = glob::glob(pattern).with_context(|| shown(arg))?;
        let paths = paths.collect::<Result<Vec<_>, _>>()?;
        if paths.iter().any(|path| !path.is_dir()) {
            let is_fixed =
                |part: &Component| !part.as_os_str().to_string_lossy().contains(wildcards);
            // The paths have no `./`.
            let parts = arg.components().filter(|part| *part != Component::CurDir);
            return Ok(Some((parts.take_while(is_fixed).collect(), paths)));
        }
        has_folders |= !paths.is_empty();
    }
    if has_folders {
        bail!("{pattern}: only folders match this pattern: name them, or the files in them");
    }
    bail!("{pattern}: no file matches this pattern")
}

/// The temporary file that is a copy of standard input. A process has one, in a folder of its own.
pub static STDIN_COPY: OnceLock<PathBuf> = OnceLock::new();

/// `text` for the user, with "standard input" for the name of its copy.
pub fn with_stdin_named(text: &str) -> Cow<'_, str> {
    match STDIN_COPY.get() {
        Some(path) => text.replace(&shown(path), STDIN).into(),
        None => text.into(),
    }
}

/// Copies standard input to a temporary file if a command names it as `-`, and replaces that name.
/// The folder with the copy is removed when it is dropped, and on a signal.
pub fn replace_stdin(cli: &mut Cli) -> Result<Option<TempDir>> {
    let job = &mut cli.job;
    let (paths, cli::Input { input_format: format }, memory) = match &mut cli.command {
        None => (job.meshes.iter_mut().collect(), &job.input, job.compute.memory),
        Some(Command::Info(args)) => (vec![&mut args.file], &args.input, args.read.memory),
        Some(Command::Convert(args)) => (vec![&mut args.grid], &args.input, None),
        Some(Command::Diff(args)) => (vec![&mut args.a, &mut args.b], &args.input, None),
        Some(Command::Verify(args)) => {
            (vec![&mut args.mesh, &mut args.grid], &args.input, args.compute.memory)
        }
        Some(Command::Render(args)) => (vec![&mut args.file], &args.input, args.source.read.memory),
        Some(Command::Slice(args)) => (vec![&mut args.file], &args.input, args.source.read.memory),
        Some(_) => return Ok(None),
    };
    let mut named = paths.into_iter().filter(|path| path.as_os_str() == "-");
    let (path, format) = match (named.next(), format) {
        (None, None) => return Ok(None),
        (None, Some(_)) => {
            bail!("--input-format is for standard input: write `- < FILE`, or leave it out")
        }
        (Some(_), None) => {
            bail!("standard input: its format is not known: name it, such as --input-format obj")
        }
        (Some(path), Some(format)) => (path, format),
    };
    if named.next().is_some() {
        bail!("standard input can be read once: name a file for the other");
    }
    let extension = format.trim_start_matches('.');
    let name = PathBuf::from(format!("standard-input.{extension}"));
    let is_name = !extension.contains(std::path::is_separator);
    if !is_name || !is_mesh(&name) && !is_read_grid(&name) {
        bail!("--input-format {format} is not read: see `voxelize formats`");
    }
    let advice =
        "cannot copy standard input to a temporary file: does TMPDIR name a folder with room?";
    let folder = tempfile::Builder::new().prefix("voxelize-").tempdir().context(advice)?;
    let copy = folder.path().join(&name);
    // From here on a signal removes it.
    _ = STDIN_COPY.set(copy.clone());
    // A mesh takes as much memory as its file; the bricks of a grid may take less.
    let most = if is_mesh(&name) { Memory::new(memory).left() } else { u64::MAX };
    let mut input = io::stdin().lock().take(most.saturating_add(1));
    let copied = File::create(&copy).and_then(|mut file| io::copy(&mut input, &mut file));
    if copied.context(advice)? > most {
        let most = ByteSize::b(most);
        bail!("standard input: has more than {most}, the memory left for the mesh");
    }
    *path = copy;
    Ok(Some(folder))
}

fn read_list(name: &str) -> Result<Vec<PathBuf>> {
    let (bytes, named) = match name {
        _ if is_mesh(Path::new(name)) => {
            bail!("{name}: '@' names a list of meshes: write ./@{name} for a mesh of this name")
        }
        "" => bail!("'@' names no list: write @list.txt, or @- for standard input"),
        "-" => (read_bounded(io::stdin().lock()), STDIN),
        file => (File::open(file).and_then(read_bounded), file),
    };
    let bytes =
        bytes.context("cannot read the list of meshes").with_context(|| named.to_owned())?;
    parse_list(&bytes).with_context(|| named.to_owned())
}

/// All bytes of a file of options, such as a list.
pub fn read_bounded(input: impl Read) -> io::Result<Vec<u8>> {
    /// 64 MiB are a million long paths.
    const MOST: u64 = 64 << 20;
    let mut bytes = Vec::new();
    input.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return Err(io::Error::other("has more than 64 MiB: name a smaller file"));
    }
    Ok(bytes)
}

/// One path per line, without blank lines and comments (`#`); or zero-terminated paths, as of
/// `find -print0`.
fn parse_list(bytes: &[u8]) -> Result<Vec<PathBuf>> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        bail!("the list is UTF-16 text: save it as UTF-8, one path a line");
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut meshes = Vec::new();
    // As of `find -print0`.
    let end = if bytes.contains(&0) { 0 } else { b'\n' };
    for (index, line) in bytes.split(|&byte| byte == end).enumerate() {
        let line = if end == 0 { line } else { line.strip_suffix(b"\r").unwrap_or(line) };
        if line.trim_ascii().is_empty() || end != 0 && line.starts_with(b"#") {
            continue;
        }
        let path = path_of(line).with_context(|| format!("line {}", index + 1))?;
        if line.starts_with(LIST.as_bytes()) {
            bail!(
                "line {}: a list cannot name another: write ./{} if that is a mesh",
                index + 1,
                shown(&path)
            );
        }
        meshes.push(path);
    }
    if meshes.is_empty() {
        bail!("the list names no mesh: write one path a line");
    }
    Ok(meshes)
}

/// The path with these bytes: on Unix any.
#[cfg(unix)]
fn path_of(bytes: &[u8]) -> Result<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Ok(std::ffi::OsStr::from_bytes(bytes).into())
}

/// The path with these bytes, which must be UTF-8.
#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> Result<PathBuf> {
    Ok(std::str::from_utf8(bytes).context("is not UTF-8 text: save the list as UTF-8")?.into())
}

/// The warnings about entries that are left out.
pub fn warnings(left_out: &[LeftOut]) -> impl Iterator<Item = String> {
    /// Most names.
    const MOST: usize = 5;
    let kinds = [
        (UNREAD, ["mesh is", "meshes are"], "in formats that are not read"),
        (LINKED, ["link to a folder is", "links to folders are"], "as links are not followed"),
        (MATCHED, ["folder is", "folders are"], "as patterns stand for files"),
        (OF_MACOS, ["file is", "files are"], "as AppleDouble files of macOS"),
        (OF_OUTPUT, ["entry is", "entries are"], OF_OUTPUT),
    ];
    kinds.into_iter().filter_map(|(why, [one, more], reason)| {
        let own = || left_out.iter().filter(|entry| entry.why == why);
        let count = own().count() as u64;
        let names: Vec<String> = own().take(MOST).map(|entry| escaped(&entry.mesh)).collect();
        (count > 0).then(|| {
            let entries = counted_as(count, one, more);
            format!("{entries} left out, {reason}: {}", listed(&names, count))
        })
    })
}

/// Leaves out all but the first of several names of one file; returns a warning for each. A link is
/// a file of its own if it has another name or lies in another folder below the named one.
pub fn leave_out_repeated(tasks: &mut Vec<Task>) -> Vec<String> {
    let mut known: HashMap<(PathBuf, Option<PathBuf>), PathBuf> = HashMap::new();
    let mut warnings = Vec::new();
    tasks.retain(|Task { mesh, below, .. }| {
        // A missing file is reported when it is read.
        let file = fs::canonicalize(mesh).unwrap_or_else(|_| mesh.clone());
        let name = mesh.file_name().unwrap_or_default();
        let itself = if mesh.is_symlink() {
            fs::canonicalize(folder_of(mesh)).unwrap_or_default().join(name)
        } else {
            file.clone()
        };
        let keys = [(itself, None), (file, Some(below.join(name)))];
        let Some(first) = keys.iter().find_map(|key| known.get(key)) else {
            known.extend(keys.into_iter().map(|key| (key, mesh.clone())));
            return true;
        };
        let why = if first == mesh {
            "the mesh is named twice, and made once".to_owned()
        } else {
            format!("the same mesh as {}, and made once", shown(first))
        };
        warnings.push(format!("{}: {why}", shown(mesh)));
        false
    });
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_have_the_names_of_files_as_short_as_tells_them_apart() {
        let names = |paths: &[&str]| {
            let tasks = paths.iter().map(|path| Task::from(PathBuf::from(path)));
            Task::joined(tasks.collect())[0].objects().join(" ")
        };
        assert_eq!(names(&["x/a.stl", "b.obj"]), "a b");
        assert_eq!(names(&["x/a.stl", "a.obj", "c.ply"]), "a.stl a.obj c");
        assert_eq!(names(&["x/a.stl", "y/a.stl", "y/b.stl"]), "x/a.stl y/a.stl b");
    }
}
