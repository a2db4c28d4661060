//! The meshes of a run, in the order given: from arguments, folders, patterns and `@` lists.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result, bail};
use bytesize::ByteSize;
use tempfile::TempDir;
use trivox::formats::temporary::folder_of;
use trivox::formats::{GridFormat, check_known_extension, is_mesh, is_unread_mesh};

use crate::cli::{self, Cli, Command};
use crate::memory::Memory;
use crate::text::{counted_as, grouped, listed, path_text, shown};

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
}

impl From<PathBuf> for Task {
    fn from(mesh: PathBuf) -> Self {
        Self { mesh, others: Vec::new(), below: PathBuf::new(), target: None }
    }
}

impl Task {
    /// One task for the meshes of all `tasks`.
    pub fn joined(tasks: Vec<Self>) -> Vec<Self> {
        let mut meshes = tasks.into_iter().map(|task| task.mesh);
        let first = meshes.next().map(Self::from);
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

/// The meshes that `args` name, whether one of them stands for several, and the meshes of folders
/// in formats that are not read.
pub fn meshes(args: &[PathBuf], recursive: bool) -> Result<(Vec<Task>, bool, Vec<PathBuf>)> {
    let (mut meshes, mut unread): (Vec<Task>, _) = (Vec::new(), Vec::new());
    let mut has_list = false;
    let mut has_folder = false;
    for arg in args {
        if let Some(list) = list(arg) {
            meshes.extend(read_list(list)?.into_iter().map(Task::from));
            has_list = true;
        } else if arg.is_dir() {
            meshes.extend(meshes_in(arg, recursive, &mut unread)?);
            (has_list, has_folder) = (true, true);
        } else if let Some(found) = matching(arg)? {
            meshes.extend(found.into_iter().map(Task::from));
            has_list = true;
        } else {
            meshes.push(arg.clone().into());
        }
    }
    if recursive && !has_folder {
        bail!("--recursive is for folders, and no mesh is one: name a folder, or leave it out");
    }
    Ok((meshes, has_list, unread))
}

/// The list that an argument names.
pub fn list(arg: &Path) -> Option<&str> {
    arg.to_str().and_then(|name| name.strip_prefix(LIST))
}

/// The meshes in a folder, by name; with `recursive` also those in subfolders.
fn meshes_in(folder: &Path, recursive: bool, unread: &mut Vec<PathBuf>) -> Result<Vec<Task>> {
    let mut meshes = Vec::new();
    add_meshes(folder, Path::new(""), recursive, (&mut meshes, unread))?;
    if meshes.is_empty() {
        unread
            .first()
            .map_or(Ok(()), |mesh| check_known_extension(mesh))
            .with_context(|| shown(folder))?;
        let deeper = if recursive { "" } else { ", or look below it with --recursive" };
        bail!("{}: no mesh is in this folder: name another{deeper}", shown(folder));
    }
    Ok(meshes)
}

fn add_meshes(
    folder: &Path,
    below: &Path,
    recursive: bool,
    (meshes, unread): (&mut Vec<Task>, &mut Vec<PathBuf>),
) -> Result<()> {
    for path in sorted(folder).with_context(|| shown(folder))? {
        let kind = fs::metadata(&path);
        if kind.as_ref().is_ok_and(fs::Metadata::is_dir) {
            // Links to folders are not followed: they may be cyclic.
            if recursive && !path.is_symlink() {
                let below = below.join(path.file_name().unwrap_or_default());
                add_meshes(&path, &below, recursive, (meshes, unread))?;
            }
        } else if is_mesh(&path) {
            if kind.is_ok_and(|kind| !kind.is_file()) {
                let advice = "is a pipe or a device: name it itself, or take it out of the folder";
                bail!("{}: {advice}", shown(&path));
            }
            // What cannot be looked at, such as a link to a missing file, is an error when it is
            // read.
            meshes.push(Task { below: below.to_owned(), ..Task::from(path) });
        } else if is_unread_mesh(&path) {
            unread.push(path);
        } else if let Err(error) = kind
            && recursive
            && !path.is_symlink()
        {
            // It may be a folder of meshes.
            return Err(error).with_context(|| shown(&path));
        }
    }
    Ok(())
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

/// The files that match the pattern `arg`, for shells that do not expand patterns; `None` if it is
/// not a pattern or is a file. Brackets are a set of characters unless files match that have them
/// in their names.
fn matching(arg: &Path) -> Result<Option<Vec<PathBuf>>> {
    let Some(pattern) = arg.to_str().filter(|text| text.contains(['*', '?'])) else {
        return Ok(None);
    };
    if arg.exists() {
        return Ok(None);
    }
    // The pattern `[[]` matches the character `[`.
    for pattern in [&pattern.replace('[', "[[]"), pattern] {
        let paths = glob::glob(pattern).with_context(|| shown(arg))?;
        let mut paths = paths.collect::<Result<Vec<_>, _>>()?;
        paths.retain(|path| !path.is_dir());
        if !paths.is_empty() {
            return Ok(Some(paths));
        }
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

/// One path per line; blank lines and lines that begin with `#` are skipped.
fn parse_list(bytes: &[u8]) -> Result<Vec<PathBuf>> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        bail!("the list is UTF-16 text: save it as UTF-8, one path a line");
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut meshes = Vec::new();
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.trim_ascii().is_empty() || line.starts_with(b"#") {
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

/// The warning about meshes of a folder in formats that are not read.
pub fn left_out(unread: &[PathBuf]) -> Option<String> {
    /// Most names.
    const MOST: usize = 5;
    let names: Vec<String> = unread.iter().take(MOST).map(shown).collect();
    let count = unread.len() as u64;
    (count > 0).then(|| {
        let meshes = counted_as(count, "mesh is", "meshes are");
        format!("{meshes} left out, in formats that are not read: {}", listed(&names, count))
    })
}

/// Keeps the first of several names of one file; a warning for each of the others.
pub fn leave_out_repeated(meshes: &mut Vec<Task>) -> Vec<String> {
    let mut names = HashMap::new();
    let mut warnings = Vec::new();
    meshes.retain(|Task { mesh, .. }| {
        // A missing file is reported when it is read.
        let mut file = fs::canonicalize(mesh).unwrap_or_else(|_| mesh.clone());
        // A link of another name than its target has an output of its own.
        if mesh.is_symlink()
            && let Some(name) = mesh.file_name().filter(|&name| Some(name) != file.file_name())
        {
            let folder = fs::canonicalize(folder_of(mesh)).unwrap_or_default();
            file = folder.join(name);
        }
        let Some(first) = names.get(&file) else {
            names.insert(file, mesh.clone());
            return true;
        };
        let name = shown(mesh);
        warnings.push(if first == mesh {
            format!("{name}: the mesh is named twice, and made once")
        } else {
            format!("{name}: the same mesh as {}, and made once", shown(first))
        });
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
