//! The images of a mesh's materials: requested one by one, then decoded in parallel within a memory
//! limit. Missing or unreadable images are warnings, not errors.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::Cursor;
use std::path::PathBuf;
use std::slice::from_ref;

use rayon::prelude::*;

use crate::base::numbers::listed;
use crate::base::srgb::Rgba;
use crate::formats::ReadError;
use crate::formats::error::shortened;
use crate::formats::mesh::sidecars::{Finder, IMAGE_FOLDERS, Sidecars};
use crate::formats::read::proportionate;
use crate::mesh::appearance::texture::decode::{ImageMemory, ReadSeek};
use crate::mesh::appearance::{Texture, TextureError};

/// Collects the images that a mesh's materials use, and decodes them.
#[derive(Debug)]
pub(crate) struct TextureLoader<'a> {
    finder: Finder<'a>,
    requests: Vec<Request<'a>>,
    /// By path, and by whether it is an opacity map.
    of_files: HashMap<(PathBuf, bool), usize>,
    missing: HashSet<String>,
    pub(crate) failures: Failures,
    /// Bytes of memory that are left for the images.
    pub(crate) limit: u64,
}

#[derive(Debug)]
struct Request<'a> {
    /// For messages; its extension may indicate the format.
    name: String,
    source: Source<'a>,
    /// Whether only its opacity is used; its brightness if the image is opaque.
    is_opacity: bool,
}

#[derive(Debug)]
enum Source<'a> {
    File(PathBuf),
    Bytes(Cow<'a, [u8]>),
}

/// The bytes of a decoder besides the texels: for a palette, a colour profile and texts of a PNG.
const METADATA: u64 = 1 << 20;

/// The images that could be read.
pub(crate) struct LoadedTextures {
    pub(crate) list: Vec<Texture>,
    /// The index of each request's texture, if it could be read.
    pub(crate) of_requests: Vec<Option<u32>>,
    pub(crate) warnings: Vec<String>,
}

impl<'a> TextureLoader<'a> {
    /// No images yet; they and their decoding may take at most `limit` bytes of memory.
    pub(crate) fn new(sidecars: &'a Sidecars, limit: u64) -> Self {
        Self {
            finder: Finder::new(sidecars),
            requests: Vec::new(),
            of_files: HashMap::new(),
            missing: HashSet::new(),
            failures: Failures::default(),
            limit,
        }
    }

    /// The sidecar file that the model calls by one of `names`, in or near `folders`. Different
    /// spellings of a path give the same result.
    pub(crate) fn find(&mut self, names: &[&str], folders: &[PathBuf]) -> Option<PathBuf> {
        let found = names.iter().find_map(|name| self.finder.find(name, folders, &IMAGE_FOLDERS));
        if let (None, Some(&name)) = (&found, names.last())
            && self.missing.insert(name.to_owned())
        {
            self.failures.add(name, "there is no such file beside the model");
        }
        found.map(|path| self.finder.sidecars.canonical(path))
    }

    /// Whether [`find`](Self::find) finds a file of this name.
    pub(crate) fn has(&mut self, name: &str, folders: &[PathBuf]) -> bool {
        self.finder.find(name, folders, &IMAGE_FOLDERS).is_some()
    }

    /// Requests the image at `path`, which [`find`](Self::find) gave. Returns the number of the
    /// request: the same for repeated calls.
    pub(crate) fn request_file(&mut self, path: PathBuf, is_opacity: bool) -> usize {
        let next = self.requests.len();
        let number = *self.of_files.entry((path.clone(), is_opacity)).or_insert(next);
        if number == next {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let source = match self.finder.sidecars.held(&path) {
                Some(bytes) => Source::Bytes(Cow::Borrowed(bytes)),
                None => Source::File(path),
            };
            self.requests.push(Request { name, source, is_opacity });
        }
        number
    }

    /// Requests the image beside the model that it calls by one of `names`, if there is one.
    pub(crate) fn request_beside(&mut self, names: &[&str]) -> Option<usize> {
        let Sidecars { folder, .. } = self.finder.sidecars;
        let path = self.find(names, from_ref(folder))?;
        Some(self.request_file(path, false))
    }

    /// Requests the image in `bytes`. Returns the number of the request.
    pub(crate) fn request_bytes(&mut self, name: String, bytes: Cow<'a, [u8]>) -> usize {
        // Borrowed bytes are counted already.
        let own = if matches!(bytes, Cow::Owned(_)) { bytes.len() as u64 } else { 0 };
        self.limit = self.limit.saturating_sub(own);
        let source = Source::Bytes(bytes);
        self.requests.push(Request { name, source, is_opacity: false });
        self.requests.len() - 1
    }

    /// Decodes all images, each in at most half the default memory for a file of its length: no
    /// picture compresses better. The number of threads has no effect on the set of images that
    /// fit.
    pub(crate) fn decode(self) -> LoadedTextures {
        let Self { finder, requests, mut failures, limit, .. } = self;
        let sidecars = finder.sidecars;
        let plan = |request: &Request| {
            let most = limit.min(proportionate(request.length(sidecars)) / 2);
            let peak = request.peak_memory(sidecars, most);
            let is_disproportionate = most < limit && !matches!(peak, Ok(peak) if peak <= most);
            (peak.map(|peak| peak.min(most)), is_disproportionate)
        };
        let (peaks, are_disproportionate): (Vec<Result<u64, TextureError>>, Vec<bool>) =
            requests.iter().map(plan).unzip();
        let all = peaks.iter().flatten().copied().fold(0, u64::saturating_add);
        let decode = |request: &Request, peak: Result<u64, TextureError>, left: u64| {
            request.decode(sidecars, left.min(peak?.saturating_add(METADATA)))
        };
        let results: Vec<Result<Texture, TextureError>> = if all <= limit {
            let work = requests.par_iter().zip(peaks);
            work.map(|(request, peak)| decode(request, peak, limit)).collect()
        } else {
            // One by one, as long as they fit.
            let mut left = limit;
            let decode_next = |(request, peak)| {
                let texture = decode(request, peak, left)?;
                left -= texture.bytes().min(left);
                Ok(texture)
            };
            requests.iter().zip(peaks).map(decode_next).collect()
        };
        let mut list = Vec::new();
        let mut of_requests = Vec::with_capacity(requests.len());
        for ((request, result), is_disproportionate) in
            requests.iter().zip(results).zip(are_disproportionate)
        {
            of_requests.push(result.is_ok().then_some(list.len() as u32));
            match result {
                Ok(texture) => list.push(texture),
                Err(TextureError::Memory) if is_disproportionate => {
                    let why = "its texels are out of proportion to the bytes of its file: make it \
                               smaller, or read the mesh without colours";
                    failures.add(&request.name, why);
                }
                Err(why) => failures.add(&request.name, &why.to_string()),
            }
        }
        let warnings = finder.warning().into_iter().chain(failures.warning()).collect();
        LoadedTextures { list, of_requests, warnings }
    }
}

impl Request<'_> {
    /// Bytes of the encoded image.
    fn length(&self, sidecars: &Sidecars) -> u64 {
        match &self.source {
            Source::File(path) => sidecars.cost(path),
            Source::Bytes(bytes) => bytes.len() as u64,
        }
    }

    /// An estimate of the peak memory of decoding, in bytes, the file included.
    fn peak_memory(&self, sidecars: &Sidecars, limit: u64) -> Result<u64, TextureError> {
        let (file, cost): (Box<dyn ReadSeek>, u64) = match &self.source {
            Source::File(path) => (Box::new(sidecars.open(path)?), sidecars.cost(path)),
            Source::Bytes(bytes) => (Box::new(Cursor::new(bytes)), 0),
        };
        let left = limit.checked_sub(cost).ok_or(TextureError::Memory)?;
        let ImageMemory { texels, peak } = Texture::memory(file, &self.name, left)?;
        // The opacity map is a copy.
        let peak = if self.is_opacity { peak.max(texels.saturating_mul(2)) } else { peak };
        Ok(cost.saturating_add(peak))
    }

    /// Decodes the image, in at most `limit` bytes of memory.
    fn decode(&self, sidecars: &Sidecars, limit: u64) -> Result<Texture, TextureError> {
        let texture = match &self.source {
            Source::Bytes(bytes) => Texture::decode(bytes, &self.name, limit),
            Source::File(path) => {
                let bytes = sidecars.read(path, limit).map_err(|error| match error {
                    ReadError::Memory { .. } => TextureError::Memory,
                    ReadError::Io(error) => TextureError::Io(error),
                    other => TextureError::Malformed(other.to_string()),
                })?;
                Texture::decode(&bytes, &self.name, limit.saturating_sub(bytes.len() as u64))
            }
        }?;
        Ok(if self.is_opacity { opacity(texture) } else { texture })
    }
}

/// The opacity map of `texture`: its opacity, or its brightness if it is fully opaque.
fn opacity(texture: Texture) -> Texture {
    if texture.has_transparency() {
        return texture;
    }
    // Rec. 709 luma weights, in 256ths.
    let brightness = |[r, g, b, _]: [u8; 4]| {
        ((54 * u32::from(r) + 183 * u32::from(g) + 19 * u32::from(b) + 128) >> 8) as u8
    };
    let texels =
        texture.texels().iter().map(|&texel| -> Rgba { [255, 255, 255, brightness(texel)] });
    Texture::new(texture.size(), texels.collect())
}

/// Images that cannot be used: the first few, each with the reason.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    named: Vec<String>,
    count: u64,
}

impl Failures {
    pub(crate) fn add(&mut self, name: &str, why: &str) {
        const NAMED: usize = 5;
        self.count += 1;
        if self.named.len() < NAMED {
            self.named.push(format!("'{}' ({})", shortened(name, 80), shortened(why, 120)));
        }
    }

    fn warning(&self) -> Option<String> {
        let names = listed(&self.named, self.count);
        match self.count {
            0 => None,
            1 => Some(format!("a texture was replaced by a plain colour: {names}")),
            n => Some(format!("{n} textures were replaced by plain colours: {names}")),
        }
    }
}
