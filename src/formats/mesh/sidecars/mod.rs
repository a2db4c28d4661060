//! The sidecar files of a mesh: the material files, images and buffers that its file names.

mod finder;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufReader, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use crate::base::lock;
use crate::base::progress::NoProgress;
use crate::formats::ReadError;
use crate::formats::io::bytes::checked_bytes;

pub(super) use crate::formats::mesh::sidecars::finder::{Finder, IMAGE_FOLDERS};

/// The places in which a mesh reader looks for sidecar files. Cheap to clone.
///
/// The same search finds a file on disk and in memory: as named; in another case of letters; by the
/// last component of its name alone, for images also in folders such as `textures`. Backslashes
/// separate folders. An absolute name is searched for by its components in memory, and opened as it
/// is on disk: read files that you do not trust with [`confined`](Self::confined),
/// [`none`](Self::none) or [`in_memory`](Self::in_memory).
///
/// ```
/// use trivox::formats::{MeshSpec, ReadOptions, Sidecars, read_mesh_from};
///
/// let obj = b"mtllib Red.mtl\nusemtl red\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n".to_vec();
/// let sidecars = Sidecars::in_memory([("red.mtl", "newmtl red\nKd 1 0 0\n")]);
/// let spec = MeshSpec::of_path("mesh.obj")?;
/// let loaded = read_mesh_from(obj, spec, &sidecars, &ReadOptions::default())?;
/// assert!(loaded.mesh.appearance().is_some() && loaded.warnings.is_empty());
/// # Ok::<(), trivox::formats::ReadError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Sidecars {
    files: Files,
    /// The folder to which names are relative.
    pub(super) folder: PathBuf,
    /// The file name of the mesh, if it has one.
    mesh: Option<OsString>,
    /// Whether only files in `folder` and below are read.
    is_confined: bool,
    /// If the reader's caller asks for it, of files on disk.
    log: Option<Log>,
    /// The same, of files in memory.
    missing: Option<Missing>,
}

/// A sidecar file on disk that a reader looked for, or that the mesh names.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sidecar {
    /// Its path.
    pub path: PathBuf,
    /// When it was last modified before it was opened; `None` if there is no such file.
    pub modified: Option<SystemTime>,
    /// Whether the mesh depends on it: `false` for an image without effect on colours and
    /// attributes.
    pub is_used: bool,
}

/// The files that a reader looked for or a mesh names, by their paths.
type Log = Arc<Mutex<BTreeMap<PathBuf, Sidecar>>>;

#[derive(Debug, Clone)]
enum Files {
    OnDisk,
    /// By their normalized names: components separated by `/`, without `.` and `..`.
    InMemory(Arc<BTreeMap<String, Vec<u8>>>),
}

/// The sidecar files missing in memory: the candidate names of each, the likeliest first.
pub(crate) type Missing = Arc<Mutex<Vec<Vec<String>>>>;

impl Sidecars {
    fn new(files: Files, folder: PathBuf) -> Self {
        Self { files, folder, mesh: None, is_confined: false, log: None, missing: None }
    }

    /// No sidecar files. No file is opened.
    #[must_use]
    pub fn none() -> Self {
        Self::in_memory::<&str, Vec<u8>>([])
    }

    /// The files in `folder` on disk, and wherever else the mesh says that they are.
    #[must_use]
    pub fn folder(folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        let is_here = folder.as_os_str().is_empty();
        Self::new(Files::OnDisk, if is_here { PathBuf::from(".") } else { folder })
    }

    /// The files beside the mesh at `path` on disk, and wherever else the mesh says that they are.
    #[must_use]
    pub fn beside(path: &Path) -> Self {
        let folder = path.parent().unwrap_or(Path::new(""));
        Self { mesh: path.file_name().map(Into::into), ..Self::folder(folder) }
    }

    /// The files of `files` alone, each with its name relative to the mesh. Of two files of the
    /// same name the last counts. Their bytes are no part of [`ReadOptions::memory`].
    ///
    /// [`ReadOptions::memory`]: crate::formats::ReadOptions::memory
    #[must_use]
    pub fn in_memory<N: AsRef<str>, B: Into<Vec<u8>>>(
        files: impl IntoIterator<Item = (N, B)>,
    ) -> Self {
        let named = |(name, bytes): (N, B)| (normalized(name.as_ref()), bytes.into());
        let files = files.into_iter().map(named).collect();
        Self::new(Files::InMemory(Arc::new(files)), PathBuf::new())
    }

    /// These places for a mesh of this name: the names in its file are relative to its folder, and
    /// an OBJ mesh that names no material file has that of its own name.
    #[must_use]
    pub fn of_mesh(self, name: &str) -> Self {
        let name = PathBuf::from(normalized(name));
        let folder = match name.parent() {
            Some(inside) if inside != Path::new("") => self.folder.join(inside),
            _ => self.folder,
        };
        Self { folder, mesh: name.file_name().map(Into::into), ..self }
    }

    /// The same files, but only those in the folder and below it. A name that leads elsewhere, by
    /// `..`, as an absolute path or through a symbolic link, counts as that of a missing file.
    #[must_use]
    pub fn confined(self) -> Self {
        Self { is_confined: true, ..self }
    }

    /// Whether the file or folder on disk may be looked at.
    fn allows(&self, path: &Path) -> bool {
        let is_inside =
            |folder: PathBuf| fs::canonicalize(path).is_ok_and(|path| path.starts_with(folder));
        !self.is_confined || fs::canonicalize(&self.folder).is_ok_and(is_inside)
    }

    /// Logs a file on disk, if there is a log; `is_used` as in [`Sidecar`].
    fn log(&self, path: &Path, modified: Option<SystemTime>, is_used: bool) {
        if let Some(log) = &self.log {
            let new = || Sidecar { path: path.to_owned(), modified, is_used };
            lock(log).entry(path.to_owned()).or_insert_with(new).is_used |= is_used;
        }
    }

    /// Logs a file on disk before it is opened; an error if these sidecar files do not include it.
    fn log_opened(&self, path: &Path) -> io::Result<()> {
        let why = match self.files {
            Files::InMemory(..) => "it is not among the given files",
            Files::OnDisk if !self.allows(path) => "it is outside the mesh's folder",
            Files::OnDisk => {
                self.log(path, modified(path), true);
                return Ok(());
            }
        };
        Err(io::Error::new(ErrorKind::NotFound, why))
    }

    /// The same files, with an empty log.
    pub(crate) fn with_new_log(&self) -> Self {
        Self { log: Some(Log::default()), ..self.clone() }
    }

    /// The same files, without a log.
    pub(super) fn without_log(&self) -> Self {
        Self { log: None, missing: None, ..self.clone() }
    }

    /// Logs the images on disk, in or near `folders`, that a mesh names, used or not; of several
    /// names for an image, the first with a file.
    pub(super) fn note_images<N: AsRef<str>>(
        &self,
        named: impl IntoIterator<Item = impl AsRef<[N]>>,
        folders: &[PathBuf],
    ) {
        let (Files::OnDisk, Some(_)) = (&self.files, &self.log) else { return };
        // A missing image is not logged.
        let other = self.without_log();
        let mut finder = Finder::new(&other);
        for names in named {
            let mut names = names.as_ref().iter().map(AsRef::as_ref);
            let found = names.find_map(|name| finder.find(name, folders, &IMAGE_FOLDERS));
            if let Some(path) = found.map(|path| self.canonical(path)) {
                self.log(&path, modified(&path), false);
            }
        }
    }

    /// The files on disk that a reader looked for or the mesh names, in the order of their paths.
    pub(crate) fn noted(&self) -> Vec<Sidecar> {
        self.log.iter().flat_map(|log| Vec::from_iter(lock(log).values().cloned())).collect()
    }

    /// Notes a file that was not found at any of these paths, the likeliest first.
    pub(super) fn note_missing(&self, paths: impl IntoIterator<Item = PathBuf>) {
        /// A hostile file names millions.
        const MAX_FILES: usize = 1 << 10;
        const MAX_NAME_BYTES: usize = 1 << 10;
        if let (Files::InMemory(_), Some(missing)) = (&self.files, &self.missing) {
            let mut missing = lock(missing);
            if missing.len() < MAX_FILES {
                let names = paths.into_iter().map(|path| normalized_path(&path));
                missing.push(names.filter(|name| name.len() <= MAX_NAME_BYTES).collect());
            }
        } else if self.log.is_some() {
            // A file that appears there later counts, for `--resume`.
            paths.into_iter().for_each(|path| _ = self.is_file(&path));
        }
    }

    /// The same files in memory, and the list of missing ones, which a reader fills.
    pub(crate) fn with_missing(&self) -> (Self, Missing) {
        let missing = Missing::default();
        (Self { missing: Some(missing.clone()), ..self.clone() }, missing)
    }

    /// The path of the mesh, if it is known.
    pub(super) fn mesh_path(&self) -> Option<PathBuf> {
        Some(self.folder.join(self.mesh.as_ref()?))
    }

    pub(super) fn is_file(&self, path: &Path) -> bool {
        match &self.files {
            Files::OnDisk => {
                let is_file = path.is_file() && self.allows(path);
                if !is_file {
                    self.log(path, None, true);
                }
                is_file
            }
            Files::InMemory(..) => self.held(path).is_some(),
        }
    }

    /// Whether `path` is a file or a folder.
    fn exists(&self, path: &Path) -> bool {
        match &self.files {
            Files::OnDisk => path.exists() && self.allows(path),
            Files::InMemory(..) => self.is_file(path) || !self.list(path).is_empty(),
        }
    }

    /// The names in a folder, in order; none where it cannot be read.
    fn list(&self, folder: &Path) -> Vec<OsString> {
        let mut names: Vec<OsString> = match &self.files {
            Files::OnDisk if !self.allows(folder) => Vec::new(),
            Files::OnDisk => {
                let entries = fs::read_dir(folder).into_iter().flatten().flatten();
                entries.map(|entry| entry.file_name()).collect()
            }
            Files::InMemory(files) => {
                let mut prefix = normalized_path(folder);
                if !prefix.is_empty() {
                    prefix.push('/');
                }
                let inside = files.range(prefix.clone()..);
                let inside = inside.map_while(|(name, _)| name.strip_prefix(&prefix));
                inside.filter_map(|name| name.split('/').next()).map(Into::into).collect()
            }
        };
        names.sort_unstable();
        names.dedup();
        names
    }

    /// One path for each file, whichever names lead to it.
    pub(super) fn canonical(&self, path: PathBuf) -> PathBuf {
        match &self.files {
            Files::OnDisk => fs::canonicalize(&path).unwrap_or(path),
            Files::InMemory(..) => normalized_path(&path).into(),
        }
    }

    /// Bytes of memory that the content of a file takes when it is read: none if it is there
    /// already.
    pub(super) fn cost(&self, path: &Path) -> u64 {
        match &self.files {
            Files::OnDisk if self.allows(path) => fs::metadata(path).map_or(0, |file| file.len()),
            _ => 0,
        }
    }

    /// The content of a file, in at most `limit` more bytes of memory.
    pub(super) fn read(&self, path: &Path, limit: u64) -> Result<Cow<'_, [u8]>, ReadError> {
        if let Some(bytes) = self.held(path) {
            return Ok(Cow::Borrowed(bytes));
        }
        self.log_opened(path)?;
        checked_bytes(path, limit, |_, _| Ok(()), &NoProgress).map(Cow::Owned)
    }

    /// A file on disk, to be read in parts.
    pub(super) fn open(&self, path: &Path) -> io::Result<BufReader<File>> {
        self.log_opened(path)?;
        Ok(BufReader::new(File::open(path)?))
    }

    /// The content of a file in memory; `None` if it is on disk or unknown.
    pub(super) fn held(&self, path: &Path) -> Option<&[u8]> {
        match &self.files {
            Files::OnDisk => None,
            Files::InMemory(files) => files.get(&normalized_path(path)).map(Vec::as_slice),
        }
    }
}

/// `None` if there is no file.
fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|file| file.modified()).ok()
}

fn normalized_path(path: &Path) -> String {
    normalized(&path.to_string_lossy())
}

/// A name of components separated by `/`, without `.`; `..` ends at the outermost folder.
fn normalized(name: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in name.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    parts.join("/")
}
