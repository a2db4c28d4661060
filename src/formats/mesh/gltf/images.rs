//! The textures of a glTF document: images in buffers, data URIs or sidecar files, and their
//! samplers.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use percent_encoding::percent_decode_str;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::formats::error::TOO_LARGE;
use crate::formats::mesh::gltf::accessors::Arrays;
use crate::formats::mesh::gltf::buffers::data_of_uri;
use crate::formats::mesh::gltf::materials::items;
use crate::formats::mesh::textures::TextureLoader;
use crate::formats::{Sidecars, excerpt};
use crate::mesh::appearance::{Filter, Texture, TextureRef, Wrap};

/// The textures of a document that were read.
pub(super) struct DocumentTextures {
    pub(super) list: Vec<Texture>,
    /// By index in the document.
    references: HashMap<usize, TextureRef>,
    pub(super) warnings: Vec<String>,
}

impl DocumentTextures {
    /// Reads the textures at the indices `wanted`, each image once, in at most `limit` bytes of
    /// memory.
    pub(super) fn read(
        arrays: &Arrays,
        sidecars: &Sidecars,
        wanted: impl Iterator<Item = usize>,
        limit: u64,
    ) -> Self {
        let document = arrays.document;
        let (textures, images) = (items(document.textures), items(document.images));
        let samplers: Vec<Result<Sampler, String>> = items(document.samplers);
        let mut loader = TextureLoader::new(sidecars, limit);
        let mut images = Images { arrays, images: &images, requests: HashMap::new() };
        let mut requests: HashMap<usize, (Option<usize>, Sampler)> = HashMap::new();
        for index in wanted {
            requests.entry(index).or_insert_with(|| match texture_of(&textures, index) {
                Ok((image, sampler)) => {
                    let sampler = sampler.and_then(|at| samplers.get(at)?.as_ref().ok().copied());
                    (images.request(image, &mut loader), sampler.unwrap_or_default())
                }
                Err(why) => {
                    loader.fail(&format!("texture {index}"), &why);
                    (None, Sampler::default())
                }
            });
        }
        let loaded = loader.decode();
        let reference = |(index, (request, sampler)): (usize, (Option<usize>, Sampler))| {
            Some((index, sampler.texture_ref(loaded.of_request(request?)?)))
        };
        let references = requests.into_iter().filter_map(reference).collect();
        Self { references, list: loaded.list, warnings: loaded.warnings }
    }

    /// The texture at `index` in the document, if it could be read.
    pub(super) fn get(&self, index: usize) -> Option<TextureRef> {
        self.references.get(&index).copied()
    }
}

/// The indices of a texture's image and sampler.
fn texture_of(
    textures: &[Result<TextureInfo, String>],
    index: usize,
) -> Result<(usize, Option<usize>), String> {
    let texture = textures.get(index).ok_or("there is no such texture")?;
    let texture = texture.as_ref().map_err(Clone::clone)?;
    Ok((texture.source()?, texture.sampler))
}

/// The images of a document, and the requests of those in use.
struct Images<'a> {
    arrays: &'a Arrays<'a>,
    images: &'a [Result<ImageInfo, String>],
    requests: HashMap<ImageKey, Option<usize>>,
}

/// Several images may be in one part of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum ImageKey {
    Image(usize),
    BufferView(usize),
}

impl<'a> Images<'a> {
    /// Requests the image at `index`, if it has data. Returns the number of the request: the same
    /// for repeated calls.
    fn request(&mut self, index: usize, loader: &mut TextureLoader<'a>) -> Option<usize> {
        let key = match self.images.get(index) {
            Some(&Ok(ImageInfo { uri: None, buffer_view: Some(view), .. })) => {
                ImageKey::BufferView(view)
            }
            _ => ImageKey::Image(index),
        };
        let (arrays, images) = (self.arrays, self.images);
        let request = || request_image(arrays, images, index, loader);
        *self.requests.entry(key).or_insert_with(request)
    }
}

fn request_image<'a>(
    arrays: &'a Arrays,
    images: &'a [Result<ImageInfo, String>],
    index: usize,
    loader: &mut TextureLoader<'a>,
) -> Option<usize> {
    let mut name = format!("image {index}");
    let image = images.get(index).ok_or_else(|| "there is no such image".to_owned());
    let source = image.and_then(|image| {
        let image = image.as_ref().map_err(Clone::clone)?;
        image.called().into_iter().for_each(|called| name = called);
        image.source(arrays, loader.left())
    });
    match source {
        Ok(Source::Bytes(bytes)) => Some(loader.request_bytes(name, bytes)),
        Ok(Source::File(uri)) => {
            // Some programs write names as they are.
            let decoded = percent_decode_str(uri).decode_utf8_lossy();
            loader.request_beside(&[&decoded, uri])
        }
        Err(why) => {
            loader.fail(&name, &why);
            None
        }
    }
}

#[derive(Deserialize)]
#[serde(expecting = "a texture")]
struct TextureInfo {
    source: Option<usize>,
    sampler: Option<usize>,
    #[serde(default)]
    extensions: BTreeMap<String, Extension>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Extension {
    /// An image of another type.
    Image {
        source: usize,
    },
    Other(IgnoredAny),
}

impl TextureInfo {
    fn source(&self) -> Result<usize, String> {
        let images = self.extensions.iter().filter_map(|(name, extension)| match *extension {
            Extension::Image { source } => Some((name, source)),
            Extension::Other(_) => None,
        });
        match (self.source, images.clone().find(|(name, _)| *name == "EXT_texture_webp")) {
            (Some(source), _) | (None, Some((_, source))) => Ok(source),
            (None, None) => Err(match images.map(|(name, _)| name).next() {
                Some(name) => {
                    let name = excerpt(name);
                    format!("an image of {name} is not read: use PNG, JPEG or WebP")
                }
                None => "it has no image".into(),
            }),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an image")]
struct ImageInfo {
    uri: Option<String>,
    buffer_view: Option<usize>,
    name: Option<String>,
}

/// Where an image is.
enum Source<'a> {
    Bytes(Cow<'a, [u8]>),
    /// The URI of a sidecar file.
    File(&'a str),
}

impl ImageInfo {
    /// The image's name for messages; its extension may indicate the format.
    fn called(&self) -> Option<String> {
        let uri = self.uri.as_ref().filter(|uri| !uri.starts_with("data:"));
        uri.or(self.name.as_ref()).cloned()
    }

    /// Where the image is; embedded bytes take at most `limit` bytes of memory.
    fn source<'a>(&'a self, arrays: &'a Arrays, limit: u64) -> Result<Source<'a>, String> {
        let Some(uri) = &self.uri else {
            let view = self.buffer_view.ok_or("it has no data")?;
            return arrays.view(view).map(|bytes| Source::Bytes(Cow::Borrowed(bytes)));
        };
        if uri.len() as u64 / 4 * 3 > limit {
            return Err(TOO_LARGE.into());
        }
        if let Some(data) = data_of_uri(uri) {
            return data.map(|bytes| Source::Bytes(Cow::Owned(bytes)));
        }
        let uri = uri.strip_prefix("file://").unwrap_or(uri);
        if uri.contains("://") {
            return Err("it is not beside the model: download it, and write its name there".into());
        }
        Ok(Source::File(uri))
    }
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Sampler {
    wrap_s: u32,
    wrap_t: u32,
    mag_filter: u32,
}

impl Sampler {
    fn texture_ref(self, texture: u32) -> TextureRef {
        let filter = if self.mag_filter == LINEAR { Filter::Linear } else { Filter::Nearest };
        TextureRef { texture, wrap: [self.wrap_s, self.wrap_t].map(wrap), filter }
    }
}

const LINEAR: u32 = 9729;
const CLAMP_TO_EDGE: u32 = 33071;
const MIRRORED_REPEAT: u32 = 33648;

fn wrap(mode: u32) -> Wrap {
    match mode {
        CLAMP_TO_EDGE => Wrap::Clamp,
        MIRRORED_REPEAT => Wrap::Mirror,
        _ => Wrap::Repeat,
    }
}
