//! The image files of a mesh's materials: located, and decoded in parallel within a memory limit.
//! Unreadable images are warnings, not errors.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

#[cfg(feature = "images")]
use image::{ImageDecoder, ImageFormat, ImageReader};
use rayon::prelude::*;

use crate::appearance::Texture;
use crate::formats::sidecars::{Finder, IMAGE_FOLDERS, Sidecars};
use crate::formats::tally::Tally;
use crate::srgb::Rgba;

/// The channels of an image that are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Use {
    /// Colour and opacity.
    Color,
    /// Opacity, or brightness as opacity if the image is opaque.
    Opacity,
}

/// The images of a mesh.
#[derive(Debug)]
pub(super) struct Images<'a> {
    sidecars: &'a Sidecars,
    finder: Finder<'a>,
    numbers: HashMap<(PathBuf, Use), usize>,
    missing: Tally,
}

impl<'a> Images<'a> {
    pub(super) fn new(sidecars: &'a Sidecars) -> Self {
        let (numbers, missing) = (HashMap::new(), Tally::default());
        Self { sidecars, finder: Finder::new(sidecars), numbers, missing }
    }

    /// The first image in or near `folders` with one of `names`. Different spellings of a path give
    /// the same result.
    pub(super) fn locate(&mut self, names: &[&str], folders: &[PathBuf]) -> Option<PathBuf> {
        let found = names.iter().find_map(|name| self.finder.find(name, folders, &IMAGE_FOLDERS));
        match (found, names) {
            (Some(path), _) => Some(self.sidecars.canonical(path)),
            (None, names) => {
                names.last().into_iter().for_each(|name| self.missing.add(name));
                None
            }
        }
    }

    /// The index of the image at `path`; the same for repeated calls.
    pub(super) fn number(&mut self, path: PathBuf, of: Use) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry((path, of)).or_insert(next)
    }

    /// Decodes all images, by index, in at most `limit` bytes of memory. Also returns warnings.
    /// Which images fit does not depend on the number of threads.
    pub(super) fn decode(self, limit: u64) -> (Vec<Option<Texture>>, Vec<String>) {
        let Self { sidecars, finder, numbers, missing } = self;
        let mut files: Vec<((PathBuf, Use), usize)> = numbers.into_iter().collect();
        files.sort_unstable_by_key(|&(_, number)| number);
        let files: Vec<(PathBuf, Use)> = files.into_iter().map(|(file, _)| file).collect();
        let peaks: Vec<u64> = files.iter().map(|(path, _)| most_memory(sidecars, path)).collect();
        let peak = peaks.iter().copied().fold(0, u64::saturating_add);
        let results: Vec<Result<Texture, String>> = match limit.checked_sub(peak) {
            Some(spare) => {
                let each = files.par_iter().zip(&peaks);
                let decode = |((path, of), peak): (&(PathBuf, Use), &u64)| {
                    decode(sidecars, path, *of, peak.saturating_add(spare))
                };
                each.map(decode).collect()
            }
            None => one_by_one(sidecars, &files, limit),
        };
        let missing = missing.warning("images not found, plain colours are used instead");
        let mut warnings: Vec<String> = missing.into_iter().chain(finder.warning()).collect();
        warnings.extend(failures(&files, &results));
        (results.into_iter().map(Result::ok).collect(), warnings)
    }
}

/// Decodes images one by one, as long as they fit.
fn one_by_one(
    sidecars: &Sidecars,
    files: &[(PathBuf, Use)],
    limit: u64,
) -> Vec<Result<Texture, String>> {
    let mut left = limit;
    let decode = |(path, of): &(PathBuf, Use)| {
        let result = decode(sidecars, path, *of, left);
        left -= result.as_ref().map_or(0, Texture::bytes).min(left);
        result
    };
    files.iter().map(decode).collect()
}

/// Warnings about images that could not be read: the first few one by one, with the reason.
fn failures(files: &[(PathBuf, Use)], results: &[Result<Texture, String>]) -> Vec<String> {
    const MOST: usize = 3;
    let failed = files.iter().zip(results).filter_map(|(file, result)| {
        let why = result.as_ref().err()?;
        let name = file.0.file_name().unwrap_or_default().to_string_lossy();
        Some(format!("image '{name}' is not used, but a plain colour instead: {why}"))
    });
    let mut failed: Vec<String> = failed.collect();
    if failed.len() > MOST {
        let others = failed.len() - MOST;
        failed.truncate(MOST);
        failed.push(format!("nor are {others} other images used"));
    }
    failed
}

/// An estimate of the peak memory of decoding; the file's length if it cannot be decoded.
fn most_memory(sidecars: &Sidecars, path: &Path) -> u64 {
    sidecars.cost(path).saturating_add(decoded_memory(sidecars, path))
}

/// As [`most_memory`], without the file itself.
#[cfg(feature = "images")]
fn decoded_memory(sidecars: &Sidecars, path: &Path) -> u64 {
    let format = ImageFormat::from_path(path).ok();
    let decoder = sidecars.open(path).and_then(|file| {
        let mut reader = ImageReader::new(file);
        format.into_iter().for_each(|format| reader.set_format(format));
        reader.with_guessed_format()
    });
    decoder.ok().and_then(|reader| reader.into_decoder().ok()).map_or(0, |decoder| {
        let (width, height) = decoder.dimensions();
        let texels = u64::from(width).saturating_mul(u64::from(height)).saturating_mul(4);
        // The limit that `Texture::decode` requires, or the copy for an opacity map.
        decoder.total_bytes().saturating_mul(5).max(2 * texels.min(u64::MAX / 2))
    })
}

#[cfg(not(feature = "images"))]
fn decoded_memory(_: &Sidecars, _: &Path) -> u64 {
    0
}

fn decode(sidecars: &Sidecars, path: &Path, of: Use, limit: u64) -> Result<Texture, String> {
    let cost = sidecars.cost(path);
    let bytes = sidecars.read(path, limit).map_err(|_| match cost > limit {
        true => TOO_LARGE.to_owned(),
        false => "it cannot be read".to_owned(),
    })?;
    let name = path.to_string_lossy();
    let texture = Texture::decode(&bytes, &name, limit.saturating_sub(cost))
        .map_err(|why| if is_known(&bytes, path) { why } else { UNKNOWN.to_owned() })?;
    Ok(match of {
        Use::Color => texture,
        Use::Opacity => opacity(texture),
    })
}

const TOO_LARGE: &str = "it is too large for the memory that is left";
const UNKNOWN: &str = "files of this kind are not read; save it as PNG or JPEG";

/// Whether the image is of a format that is read.
#[cfg(feature = "images")]
fn is_known(bytes: &[u8], path: &Path) -> bool {
    let format = image::guess_format(bytes).or_else(|_| ImageFormat::from_path(path));
    format.is_ok_and(|format| format.reading_enabled())
}

/// Without the feature `images`, [`Texture::decode`] reports the error.
#[cfg(not(feature = "images"))]
fn is_known(_bytes: &[u8], _path: &Path) -> bool {
    true
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
