//! Parses material files (MTL): the colour, opacity and images of each material.
//!
//! `tobj` reads one statement at a time, since it drops a whole file at its first malformed line,
//! and panics at a colour of fewer than three numbers. The format is that of Wavefront, "Material
//! Library File" (1995), with common deviations:
//! - a colour of one number is a grey;
//! - images have options;
//! - `Tr` is transparency, but `Tr 1` means opaque, as MeshLab writes it;
//! - colours are sRGB;
//! - `interpolateMode` is the filter of the images after it, as G3D and Mineways have it;
//! - a colour with a value of 2 or more has a scale of 255 instead of 1, but an emission is light
//!   of that strength.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Display;
use std::path::PathBuf;

use crate::formats::error::shortened;
use crate::formats::io::warnings::NamedWarnings;
use crate::formats::mesh::obj::text::{first_word, statements, without_comment};
use crate::formats::mesh::out_of_range::clamped_factors;
use crate::mesh::appearance::Filter;

/// The statements of images, in lower case: of colour, opacity, emission, metal and roughness.
const MAPS: [&str; 5] = ["map_kd", "map_d", "map_ke", "map_pm", "map_pr"];
/// Indices of images.
pub(super) const COLOR: usize = 0;
pub(super) const OPACITY: usize = 1;
pub(super) const EMISSION: usize = 2;

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Definition {
    /// `Kd`: sRGB, from 0 to 1.
    pub(super) color: Option<[f64; 3]>,
    /// `d`: opacity, from 0 to 1.
    dissolve: Option<f64>,
    /// `Tr`: transparency, from 0 to 1.
    transparency: Option<f64>,
    /// `Pm`, from 0 to 1.
    pub(super) metallic: Option<f64>,
    /// `Pr`, from 0 to 1.
    pub(super) roughness: Option<f64>,
    /// `Ke`: see [`tint_and_strength`].
    pub(super) emission: Option<[f64; 3]>,
    /// Whether the base colour and its image are the emission's.
    pub(super) has_color_of_light: bool,
    /// The images, in the order of [`MAPS`].
    pub(super) maps: [Option<Map>; 5],
    /// Whether an image was left out: one of emission, metal or roughness, with another placement
    /// than the first image.
    pub(super) has_other_maps: bool,
}

impl Definition {
    /// The opacity, from 0 to 1.
    pub(super) fn opacity(&self) -> f64 {
        let transparency = self.transparency.filter(|&t| t < 1.0);
        self.dissolve.unwrap_or(1.0 - transparency.unwrap_or(0.0))
    }

    /// A material that is black but for its emission has the colour and the image of this. Images
    /// that are placed otherwise than the first are left out.
    fn completed(mut self) -> Self {
        let black = [0.0; 3];
        let is_black = self.maps[COLOR].is_none() && self.color.is_none_or(|color| color == black);
        let emission = self.emission.filter(|&color| color != black);
        if is_black && (emission.is_some() || self.maps[EMISSION].is_some()) {
            self.color = emission.map(|emission| tint_and_strength(emission).0);
            self.maps[COLOR] = self.maps[EMISSION].clone();
            self.has_color_of_light = true;
        }
        let placement = self.map().map(|map| map.placement);
        for map in &mut self.maps[EMISSION..] {
            let other = map.take_if(|map| Some(map.placement) != placement);
            self.has_other_maps |= other.is_some();
        }
        self
    }

    /// The image whose options transform the texture coordinates, if there is one.
    pub(super) fn map(&self) -> Option<&Map> {
        self.maps.iter().flatten().next()
    }
}

/// An image on a material.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Map {
    /// The file name as written, possibly with a comment.
    pub(super) file: String,
    /// `-clamp on`: the image does not repeat.
    pub(super) clamp: bool,
    pub(super) filter: Filter,
    pub(super) placement: Placement,
}

/// The name of the image of a UDIM tile, whose number is in place of `<UDIM>`, or of the number of
/// the first tile before the extension.
pub(super) fn name_of_tile(file: &str, tile: impl Display) -> Option<String> {
    if file.contains(TILE) {
        return Some(file.replace(TILE, &tile.to_string()));
    }
    let (stem, extension) = file.rsplit_once('.')?;
    let stem = stem.strip_suffix("1001")?;
    stem.ends_with(['.', '_', '-']).then(|| format!("{stem}{tile}.{extension}"))
}

/// The placeholder for the number of a tile.
pub(super) const TILE: &str = "<UDIM>";

/// The transform of texture coordinates: `scale * uv + offset`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Placement {
    /// `-s`.
    pub(super) scale: [f64; 2],
    /// `-o`.
    pub(super) offset: [f64; 2],
}

impl Default for Placement {
    fn default() -> Self {
        Self { scale: [1.0; 2], offset: [0.0; 2] }
    }
}

/// The materials, by name; the first of duplicates.
#[derive(Debug, Default)]
pub(super) struct Library {
    materials: HashMap<String, Material>,
    /// Names with a trailing comment, by the name before it.
    commented: HashMap<String, String>,
    pub(super) is_any_read: bool,
    /// The image names in statements, used or not: the text after the options, and its last word in
    /// case of an unknown option.
    pub(super) named: BTreeSet<[String; 2]>,
    /// The filter of the next image.
    filter: Filter,
    /// The name of the file, and the line of the statement.
    place: (String, usize),
    /// Properties that are ignored or reinterpreted.
    pub(super) warnings: NamedWarnings,
}

#[derive(Debug, Clone)]
pub(super) struct Material {
    pub(super) definition: Definition,
    /// The folders that its images may be in.
    pub(super) folders: [PathBuf; 2],
}

const MALFORMED: &str = "malformed lines of material files were skipped";

impl Library {
    /// Adds the materials in the `text` of the file `name`, whose images may be in these folders.
    pub(super) fn add(&mut self, text: &str, name: &str, folders: [PathBuf; 2]) {
        let mut current: Option<(String, Definition)> = None;
        self.filter = Filter::default();
        name.clone_into(&mut self.place.0);
        for (number, statement) in statements(text) {
            let line = statement.trim();
            let Some(keyword) = first_word(line) else { continue };
            self.place.1 = number;
            let rest = line[keyword.len()..].trim();
            if keyword.eq_ignore_ascii_case("newmtl") {
                self.insert(current.replace((rest.to_owned(), Definition::default())), &folders);
            } else if keyword.eq_ignore_ascii_case("interpolateMode") {
                self.set_filter(rest);
            } else {
                self.note_image(rest);
                if let Some((name, definition)) = &mut current {
                    self.read(keyword, rest, name, definition);
                }
            }
        }
        self.insert(current, &folders);
        self.is_any_read = true;
    }

    /// Warns of a malformed statement.
    fn skip(&mut self, keyword: &str, rest: &str) {
        let (file, line) = &self.place;
        let line = format!("{file}:{line}: {keyword} {rest}");
        self.warnings.add_whole(MALFORMED, shortened(&line, 80));
    }

    /// Notes the image that the values of a statement may name.
    fn note_image(&mut self, rest: &str) {
        let Some(last) = without_comment(rest).split_whitespace().next_back() else { return };
        if number(last).is_some() {
            return;
        }
        // A library of its own: warnings about options are for used images only.
        let Some(map) = Self::default().map(rest) else { return };
        self.named.insert([map.file, last.to_owned()]);
    }

    fn insert(&mut self, named: Option<(String, Definition)>, folders: &[PathBuf; 2]) {
        let Some((name, definition)) = named else { return };
        let definition = definition.completed();
        if let Some(known) = self.materials.get(&name) {
            if known.definition != definition {
                let what =
                    "materials are defined more than once, and their first definition is used";
                self.warnings.add(what, &name);
            }
            return;
        }
        let bare = before_comment(&name);
        if bare.len() < name.len() {
            self.commented.entry(bare.to_owned()).or_insert_with(|| name.clone());
        }
        self.materials.insert(name, Material { definition, folders: folders.clone() });
    }

    /// The material of that name. Either name may have a trailing comment, but an exact match takes
    /// precedence, as in `Material #25`.
    pub(super) fn find(&self, name: &str) -> Option<&Material> {
        let commented = || self.commented.get(name).and_then(|name| self.materials.get(name));
        let exact = |name| self.materials.get(name);
        exact(name).or_else(|| exact(before_comment(name))).or_else(commented)
    }

    fn read(&mut self, keyword: &str, rest: &str, name: &str, definition: &mut Definition) {
        let lower = &keyword.to_ascii_lowercase()[..];
        if let Some(at) = MAPS.iter().position(|&map| map == lower) {
            definition.maps[at] = self.map(rest);
            return;
        }
        let Definition { color, dissolve, transparency, metallic, roughness, emission, .. } =
            definition;
        match lower {
            "kd" => *color = self.color(name, keyword, rest).or(*color),
            "ke" => *emission = self.light(name, keyword, rest).or(*emission),
            "d" => *dissolve = self.last_number(name, keyword, rest).or(*dissolve),
            "tr" => *transparency = self.last_number(name, keyword, rest).or(*transparency),
            "pm" => *metallic = self.last_number(name, keyword, rest).or(*metallic),
            "pr" => *roughness = self.last_number(name, keyword, rest).or(*roughness),
            _ => {}
        }
    }

    /// Parses a colour from 0 to 1.
    fn color(&mut self, name: &str, keyword: &str, rest: &str) -> Option<[f64; 3]> {
        let color = self.color_numbers(name, keyword, rest)?;
        let is_of_255 = exceeds_display(color);
        if is_of_255 {
            self.warnings.add("colours of materials exceed 1, and are read as 0 to 255", name);
        }
        let most = if is_of_255 { 255.0 } else { 1.0 };
        let color = clamped_factors(&mut self.warnings, [name, keyword], color, most);
        Some(color.map(|value| value / most))
    }

    /// Parses an emission, which may be brighter than white.
    fn light(&mut self, name: &str, keyword: &str, rest: &str) -> Option<[f64; 3]> {
        let light = self.color_numbers(name, keyword, rest)?;
        Some(clamped_factors(&mut self.warnings, [name, keyword], light, f32::MAX.into()))
    }

    /// Parses the numbers of a colour; a single one is a grey.
    fn color_numbers(&mut self, name: &str, keyword: &str, rest: &str) -> Option<[f64; 3]> {
        let words: Vec<&str> = without_comment(rest).split_whitespace().take(4).collect();
        if matches!(words.first(), Some(&("spectral" | "xyz"))) {
            self.warnings
                .add("colours of materials were ignored that are given as spectra or XYZ", name);
            return None;
        }
        let rgb = match words[..] {
            [grey] => Some(format!("{grey} {grey} {grey}")),
            // Three at least: `tobj` panics at fewer.
            [_, _, _] => Some(words.join(" ")),
            _ => None,
        };
        let color = rgb.and_then(|rgb| statement("Kd", &rgb)?.diffuse);
        let color = color.map(|color| color.map(decimal));
        let color = color.filter(|color| color.iter().all(|value| value.is_finite()));
        if color.is_none() {
            self.skip(keyword, rest);
        }
        color
    }

    /// Parses a number from 0 to 1, possibly after an option.
    fn last_number(&mut self, name: &str, keyword: &str, rest: &str) -> Option<f64> {
        let word = without_comment(rest).split_whitespace().next_back();
        let dissolve = word.and_then(|word| statement("d", word)?.dissolve);
        let number = dissolve.map(decimal).filter(|number| number.is_finite());
        if number.is_none() {
            self.skip(keyword, rest);
        }
        let [number] = clamped_factors(&mut self.warnings, [name, keyword], [number?], 1.0);
        Some(number)
    }

    /// Sets the filter of the images that follow; the name begins with that of the magnification.
    fn set_filter(&mut self, mode: &str) {
        self.filter = match mode.split('_').next() {
            Some("NEAREST") => Filter::Nearest,
            Some("LINEAR" | "BILINEAR" | "TRILINEAR") => Filter::Linear,
            _ => return self.skip("interpolateMode", mode),
        };
    }

    /// Parses an image with its options; `None` without a file name, as some programs write.
    fn map(&mut self, rest: &str) -> Option<Map> {
        let mut map = Map {
            file: String::new(),
            clamp: false,
            filter: self.filter,
            placement: Placement::default(),
        };
        let mut rest = rest;
        while let Some(after) = self.option(rest, &mut map) {
            rest = after;
        }
        map.file = rest.trim_matches('"').to_owned();
        (!map.file.is_empty()).then_some(map)
    }

    /// Takes the option at the beginning of `text`; returns the rest. The name of an option without
    /// valid values is a file name.
    fn option<'a>(&mut self, text: &'a str, map: &mut Map) -> Option<&'a str> {
        let (name, mut rest) = split_word(text)?;
        match name {
            "-clamp" => (map.clamp, rest) = switch(rest)?,
            "-s" => (map.placement.scale, rest) = numbers(rest, 3, 1.0)?,
            "-o" => (map.placement.offset, rest) = numbers(rest, 3, 0.0)?,
            "-blendu" | "-blendv" | "-cc" => (_, rest) = switch(rest)?,
            "-bm" | "-boost" | "-texres" => (_, rest) = numbers(rest, 1, 0.0)?,
            "-mm" => (_, rest) = numbers(rest, 2, 0.0)?,
            "-t" => (_, rest) = numbers(rest, 3, 0.0)?,
            "-imfchan" | "-type" => (_, rest) = split_word(rest)?,
            _ => return None,
        }
        // The others have no effect on the colour.
        if matches!(name, "-t" | "-mm" | "-imfchan" | "-type") {
            self.warnings.add("options of images have no effect", name);
        }
        Some(rest)
    }
}

/// The reading of one statement of a material by `tobj`.
fn statement(keyword: &str, rest: &str) -> Option<tobj::Material> {
    let text = format!("newmtl m\n{keyword} {rest}\n");
    tobj::load_mtl_buf(&mut text.as_bytes()).ok()?.0.pop()
}

/// The decimal number of up to six digits that `tobj` rounded.
fn decimal(number: impl ToString) -> f64 {
    number.to_string().parse().unwrap_or(f64::NAN)
}

/// The sRGB tint of an emission, from 0 to 1, and its strength, a factor of linear light: exporters
/// write their product.
pub(super) fn tint_and_strength(emission: [f64; 3]) -> ([f64; 3], f64) {
    let strength = emission.into_iter().fold(1.0, f64::max);
    (emission.map(|value| value / strength), strength)
}

/// A name without a trailing comment.
pub(super) fn before_comment(name: &str) -> &str {
    without_comment(name).trim_end()
}

/// Whether the values of a colour are from 0 to 255 instead of 0 to 1. Values slightly above 1 may
/// come from rounding or from lights; and values up to 2 of 255 would be black.
pub(super) fn exceeds_display(color: [f64; 3]) -> bool {
    color.iter().any(|&value| value >= 2.0)
}

fn number(word: &str) -> Option<f64> {
    word.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Parses `on` or `off` at the beginning of `text`; returns it with the rest.
fn switch(text: &str) -> Option<(bool, &str)> {
    let (word, rest) = split_word(text)?;
    matches!(word, "on" | "off").then_some((word == "on", rest))
}

/// Parses one to `most` numbers at the beginning of `text`; returns the first two, or `default`,
/// and the rest.
fn numbers(text: &str, most: usize, default: f64) -> Option<([f64; 2], &str)> {
    let mut values = [default; 2];
    let mut rest = text;
    let mut count = 0;
    while count < most
        && let Some((word, after)) = split_word(rest)
        && let Some(value) = number(word)
    {
        if let Some(place) = values.get_mut(count) {
            *place = value;
        }
        count += 1;
        rest = after;
    }
    (count > 0).then_some((values, rest))
}

fn split_word(text: &str) -> Option<(&str, &str)> {
    let word = first_word(text)?;
    Some((word, text.trim_start()[word.len()..].trim_start()))
}
