//! The textures of a glTF document: images in buffers, data URIs or sidecar files, and their
//! samplers.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::slice::from_ref;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::formats::error::TOO_LARGE;
use crate::formats::mesh::gltf::accessors::Arrays;
use crate::formats::mesh::gltf::buffers::{DATA, decoded, names_of};
use crate::formats::mesh::gltf::materials::items;
use crate::formats::mesh::textures::TextureLoader;
use crate::formats::{Sidecars, excerpt};
use crate::mesh::appearance::{Filter, Texture, TextureRef, Wrap};

/// The textures of a document that were read.
#[derive(Default)]
pub(super) struct DocumentTextures {
    pub(super) list: Vec<Texture>,
    /// By index in the document.
    pub(super) references: HashMap<usize, TextureRef>,
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
        let textures: Vec<Result<TextureInfo, String>> = items(document.textures);
        let images: Vec<Result<ImageInfo, String>> = items(document.images);
        let samplers: Vec<Result<Sampler, String>> = items(document.samplers);
        let named = images.iter().flatten().filter_map(ImageInfo::file_names);
        sidecars.note_images(named, from_ref(&sidecars.folder));
        let mut loader = TextureLoader::new(sidecars, limit);
        // By the part of a buffer, in which several images may be, or by the image.
        let mut of_images: HashMap<[Option<usize>; 2], Option<usize>> = HashMap::new();
        let mut requests: HashMap<usize, Option<(usize, Sampler)>> = HashMap::new();
        for index in wanted {
            requests.entry(index).or_insert_with(|| {
                let texture = item(&textures, index, "there is no such texture");
                let texture = texture.and_then(|texture| Ok((texture.source()?, texture.sampler)));
                let (image, sampler) = match texture {
                    Ok(found) => found,
                    Err(why) => {
                        loader.failures.add(&format!("texture {index}"), &why);
                        return None;
                    }
                };
                let sampler = sampler.and_then(|at| item(&samplers, at, "").ok().copied());
                let view = item(&images, image, "").ok().and_then(ImageInfo::view);
                let request = of_images
                    .entry([view, view.is_none().then_some(image)])
                    .or_insert_with(|| request_image(arrays, &images, image, &mut loader));
                Some(((*request)?, sampler.unwrap_or_default()))
            });
        }
        let loaded = loader.decode();
        let reference = |(index, request): (usize, Option<(usize, Sampler)>)| {
            let (request, sampler) = request?;
            Some((index, sampler.texture_ref(loaded.of_requests[request]?)))
        };
        let references = requests.into_iter().filter_map(reference).collect();
        Self { references, list: loaded.list, warnings: loaded.warnings }
    }
}

/// The item at `index` of a list, or why there is none: `missing` past its end.
fn item<'a, T>(
    items: &'a [Result<T, String>],
    index: usize,
    missing: &str,
) -> Result<&'a T, String> {
    items.get(index).ok_or(missing)?.as_ref().map_err(Clone::clone)
}

/// Requests the image at `index`, if it has data. Returns the number of the request.
fn request_image<'a>(
    arrays: &'a Arrays,
    images: &'a [Result<ImageInfo, String>],
    index: usize,
    loader: &mut TextureLoader<'a>,
) -> Option<usize> {
    let image = item(images, index, "there is no such image");
    let called = image.as_ref().ok().and_then(|image| image.called());
    let name = called.unwrap_or_else(|| format!("image {index}"));
    let request = image.and_then(|image| image.request(arrays, &name, loader));
    request.unwrap_or_else(|why| {
        loader.failures.add(&name, &why);
        None
    })
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

impl ImageInfo {
    /// The part of a buffer that it is in.
    fn view(&self) -> Option<usize> {
        self.buffer_view.filter(|_| self.uri.is_none())
    }

    /// The image's name for messages; its extension may indicate the format.
    fn called(&self) -> Option<String> {
        let uri = self.uri.as_ref().filter(|uri| !uri.starts_with(DATA));
        uri.or(self.name.as_ref()).cloned()
    }

    /// Requests the image. Embedded bytes take at most the memory that is left.
    fn request<'a>(
        &'a self,
        arrays: &'a Arrays,
        name: &str,
        loader: &mut TextureLoader<'a>,
    ) -> Result<Option<usize>, String> {
        let Some(uri) = &self.uri else {
            let view = self.view().ok_or("it has no data")?;
            let bytes = Cow::Borrowed(arrays.view(view)?);
            return Ok(Some(loader.request_bytes(name.to_owned(), bytes)));
        };
        if uri.len() as u64 / 4 * 3 > loader.limit {
            return Err(TOO_LARGE.into());
        }
        if let Some(data) = uri.strip_prefix(DATA).map(decoded) {
            return Ok(Some(loader.request_bytes(name.to_owned(), Cow::Owned(data?))));
        }
        let elsewhere = "it is not beside the model: download it, and write its name there";
        let names = self.file_names().ok_or(elsewhere)?;
        Ok(loader.request_beside(&names.each_ref().map(|name| &**name)))
    }

    /// The names that a file of the image may have.
    fn file_names(&self) -> Option<[Cow<'_, str>; 2]> {
        let uri = self.uri.as_deref().filter(|uri| !uri.starts_with(DATA))?;
        let uri = uri.strip_prefix("file://").unwrap_or(uri);
        (!uri.contains("://")).then(|| names_of(uri))
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
