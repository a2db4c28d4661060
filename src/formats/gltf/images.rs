//! The textures of a glTF document: images in buffers, data URIs or sidecar files, and their
//! samplers.

use std::borrow::Cow;
use std::collections::HashMap;

use percent_encoding::percent_decode_str;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::appearance::{Filter, Texture as Pixels, TextureRef, Wrap};
use crate::formats::Sidecars;
use crate::formats::gltf::accessors::Arrays;
use crate::formats::gltf::buffers::data_of_uri;
use crate::formats::gltf::materials::items;
use crate::formats::textures::Textures;

/// The textures of a document; each image is read on first use.
pub(super) struct Images<'a> {
    arrays: &'a Arrays<'a>,
    textures: Vec<Result<Texture, String>>,
    images: Vec<Result<Image, String>>,
    samplers: Vec<Result<Sampler, String>>,
    /// Textures by where their images are.
    read: HashMap<Key, Option<u32>>,
    pixels: Textures<'a>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Image(usize),
    /// Several images may be in one part of a buffer.
    BufferView(usize),
    TextureWithoutImage(usize),
}

impl<'a> Images<'a> {
    /// Those of a document with these `sidecars`, in at most `left` bytes of memory.
    pub(super) fn new(arrays: &'a Arrays<'a>, sidecars: &'a Sidecars, left: u64) -> Self {
        let document = arrays.document;
        Self {
            arrays,
            textures: items(document.textures),
            images: items(document.images),
            samplers: items(document.samplers),
            read: HashMap::new(),
            pixels: Textures::new(sidecars, left),
        }
    }

    /// The texture at `index` in the document, if it can be read.
    pub(super) fn texture(&mut self, index: usize) -> Option<TextureRef> {
        let image = self.image_of(index);
        let key = image.as_ref().map_or(Key::TextureWithoutImage(index), |&at| self.key(at));
        let texture = match self.read.get(&key) {
            Some(&known) => known,
            None => {
                let read = match image {
                    Ok(at) => self.read_image(at),
                    Err(what) => self.pixels.add(&format!("texture {index}"), Err(what)),
                };
                self.read.insert(key, read);
                read
            }
        }?;
        let sampler = self.textures.get(index).and_then(|texture| texture.as_ref().ok()?.sampler);
        let sampler = sampler.and_then(|at| self.samplers.get(at)?.as_ref().ok());
        Some(sampler.copied().unwrap_or_default().texture_ref(texture))
    }

    fn key(&self, image: usize) -> Key {
        match self.images.get(image) {
            Some(&Ok(Image { uri: None, buffer_view: Some(view), .. })) => Key::BufferView(view),
            _ => Key::Image(image),
        }
    }

    /// The image index of a texture.
    fn image_of(&self, index: usize) -> Result<usize, String> {
        let texture = self.textures.get(index).ok_or("there is no such texture")?;
        let texture = texture.as_ref().map_err(Clone::clone)?;
        texture.source().ok_or_else(|| texture.fault().to_owned())
    }

    fn read_image(&mut self, at: usize) -> Option<u32> {
        let numbered = format!("image {at}");
        match self.images.get(at) {
            None => self.pixels.add(&numbered, Err("there is no such image".into())),
            Some(Err(what)) => self.pixels.add(&numbered, Err(what.clone())),
            Some(Ok(image)) => {
                let name = image.called().unwrap_or(numbered);
                match image.source(self.arrays, self.pixels.left()) {
                    Ok(Source::Bytes(bytes)) => self.pixels.add(&name, Ok(bytes)),
                    // Some programs write names as they are.
                    Ok(Source::File(uri)) => {
                        let decoded = percent_decode_str(uri).decode_utf8_lossy();
                        self.pixels.add_file(&[&decoded, uri])
                    }
                    Err(why) => self.pixels.add(&name, Err(why)),
                }
            }
        }
    }

    /// The textures that were read, and warnings about the others.
    pub(super) fn finish(self) -> (Vec<Pixels>, Vec<String>) {
        self.pixels.finish()
    }
}

#[derive(Deserialize)]
struct Texture {
    source: Option<usize>,
    sampler: Option<usize>,
    #[serde(default)]
    extensions: Extensions,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Extensions {
    #[serde(rename = "EXT_texture_webp")]
    webp: Option<WebpImage>,
    #[serde(rename = "KHR_texture_basisu")]
    basisu: Option<IgnoredAny>,
    #[serde(rename = "MSFT_texture_dds")]
    dds: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct WebpImage {
    source: usize,
}

impl Texture {
    fn source(&self) -> Option<usize> {
        self.source.or(self.extensions.webp.as_ref().map(|webp| webp.source))
    }

    /// The reason why there is no image.
    fn fault(&self) -> &'static str {
        match self.extensions {
            Extensions { basisu: Some(_), .. } => {
                "a KTX 2 image of KHR_texture_basisu is not read: use PNG, JPEG or WebP"
            }
            Extensions { dds: Some(_), .. } => {
                "a DDS image of MSFT_texture_dds is not read: use PNG, JPEG or WebP"
            }
            _ => "it has no image",
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Image {
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

impl Image {
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
            return Err("it is too large for the memory that is left".into());
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
        let filter = if self.mag_filter == NEAREST { Filter::Nearest } else { Filter::Linear };
        TextureRef { texture, wrap: [self.wrap_s, self.wrap_t].map(wrap), filter }
    }
}

const NEAREST: u32 = 9728;
const CLAMP_TO_EDGE: u32 = 33071;
const MIRRORED_REPEAT: u32 = 33648;

fn wrap(mode: u32) -> Wrap {
    match mode {
        CLAMP_TO_EDGE => Wrap::Clamp,
        MIRRORED_REPEAT => Wrap::Mirror,
        _ => Wrap::Repeat,
    }
}
