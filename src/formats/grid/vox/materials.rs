//! The materials of palette entries, from the attributes `metallic`, `roughness` and `emission`.
//!
//! MagicaVoxel has a material for each entry: a chunk `MATL` with the entry's index and a
//! dictionary of texts. `_metal` and `_rough` are from 0 to 1; the strength of light is
//! `_emit * (_flux + 1)`, where `_flux` is 0 to 4, and its colour is that of the entry.
//!
//! Voxels of a colour are of several *kinds* if their properties, rounded to tenths, differ, also
//! where MagicaVoxel ignores them, since other programs read them. The most frequent kind has the
//! colour's entry. The others, by frequency, have entries of their own as long as there are unused
//! ones; those left over join the most frequent. An entry has the means of its voxels.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::iter;

use super::write::{Chunk, IndexedVoxels};
use crate::base::numbers::counted;
use crate::base::srgb::Rgba;
use crate::formats::WriteOptions;
use crate::grid::{
    Attribute, AttributeSet, Attributes, BrickKey, VoxelGrid, mask_place, mask_voxels,
};
use crate::surface::palette::MAX_COLORS;

pub(super) const ATTRIBUTES: [Attribute; 3] =
    [Attribute::Metallic, Attribute::Roughness, Attribute::Emission];
/// The largest value of each attribute.
const MOST: [f32; 3] = [1.0, 1.0, 5.0];
/// The attributes of a file with a scene graph, which has named parts too.
pub(super) const ATTRIBUTES_AND_LABEL: [Attribute; 4] =
    [Attribute::Metallic, Attribute::Roughness, Attribute::Emission, Attribute::Label];

/// Metalness, roughness, and the largest component of the emitted light.
type Properties = [f32; 3];

/// The sums of the properties of some voxels.
#[derive(Clone, Copy, Default)]
struct Sum {
    voxels: u64,
    properties: [f64; 3],
}

impl Sum {
    fn add(&mut self, voxels: u64, properties: [f64; 3]) {
        self.voxels += voxels;
        iter::zip(&mut self.properties, properties).for_each(|(sum, value)| *sum += value);
    }
}

/// The materials of the voxels of a grid. Palette indices are from 1.
pub(super) struct Materials {
    held: AttributeSet,
    /// The palette index of each colour's index and kind.
    entries: HashMap<(u8, [u8; 3]), u8>,
    sums: BTreeMap<u8, Sum>,
    /// The number of kinds without an entry of their own.
    joined: u64,
}

/// What the materials in a file of `grid` do not hold, a sentence each.
pub(super) fn lost(grid: &VoxelGrid, options: &WriteOptions) -> [Option<String>; 2] {
    if held(grid).is_empty() {
        return [None, None];
    }
    let Some(Materials { sums, joined, .. }) = IndexedVoxels::new(grid, options).materials else {
        return [None, None];
    };
    let kinds = counted(joined, "kind");
    let [.., most] = MOST;
    let joined = (joined > 0).then(|| {
        format!("the palette has no room for {kinds} of metal, roughness and light: means are kept")
    });
    let is_lit = sums.values().any(|sum| sum.properties[2] > 0.0);
    let light =
        format!("light and surface have one colour, their sum, and light a strength up to {most}");
    [joined, is_lit.then_some(light)]
}

fn held(grid: &VoxelGrid) -> AttributeSet {
    let set = grid.attributes.as_ref().map(Attributes::set).unwrap_or_default();
    ATTRIBUTES.into_iter().filter(|attribute| set.contains(attribute)).collect()
}

impl Materials {
    /// `None` if the voxels have no attributes of materials.
    pub(super) fn new(voxels: &IndexedVoxels) -> Option<Self> {
        let (grid, held) = (voxels.grid, held(voxels.grid));
        if held.is_empty() {
            return None;
        }
        let (entries, sums, joined) = (HashMap::new(), BTreeMap::new(), 0);
        let mut materials = Self { held, entries, sums, joined };
        let mut kinds: HashMap<(u8, [u8; 3]), Sum> = HashMap::new();
        for (key, mask) in grid.bricks() {
            let (color_of, properties_of) = (voxels.colors_of(key), properties_of(grid, key));
            for voxel in mask_voxels(key.first_voxel(), mask) {
                let properties = properties_of(voxel);
                let sum = kinds.entry((color_of(voxel), kind_of(properties))).or_default();
                sum.add(1, properties.map(f64::from));
            }
        }
        let mut kinds: Vec<_> = kinds.into_iter().collect();
        kinds.sort_unstable_by_key(|&(kind, sum)| (Reverse(sum.voxels), kind));
        let palette = voxels.palette();
        // Without colours all voxels have index 1; the others are colours to paint with.
        let is_free = |&index: &u8| match grid.colors {
            Some(_) => palette[usize::from(index) - 1][3] == 0,
            None => index > 1,
        };
        let mut free = (1..=MAX_COLORS as u8).filter(is_free);
        for (kind @ (color, _), sum) in kinds {
            let own = if materials.sums.contains_key(&color) { free.next() } else { Some(color) };
            materials.joined += u64::from(own.is_none());
            let index = own.unwrap_or(color);
            materials.entries.insert(kind, index);
            materials.sums.entry(index).or_default().add(sum.voxels, sum.properties);
        }
        Some(materials)
    }

    /// The palette index of a voxel of this `color`.
    pub(super) fn index(&self, color: u8, properties: Properties) -> u8 {
        self.entries[&(color, kind_of(properties))]
    }

    /// The chunks; entries for kinds get their colour in `palette`.
    pub(super) fn chunks(&self, palette: &mut [Rgba; 256]) -> Vec<u8> {
        for (&(color, _), &index) in &self.entries {
            palette[usize::from(index) - 1] = palette[usize::from(color) - 1];
        }
        self.sums.iter().flat_map(|(&index, sum)| self.chunk(index, sum)).collect()
    }

    fn chunk(&self, index: u8, sum: &Sum) -> Vec<u8> {
        let rounded = |value: f64| (1000.0 * value).round() / 1000.0;
        let [metal, rough, light] = sum.properties.map(|all| rounded(all / sum.voxels as f64));
        let flux = (light.ceil() - 1.0).max(0.0);
        let kind = match (light > 0.0, metal > 0.0) {
            (true, _) => "_emit",
            (false, true) => "_metal",
            (false, false) => "_diffuse",
        };
        let texts = [
            (Attribute::Metallic, "_metal", metal),
            (Attribute::Roughness, "_rough", rough),
            (Attribute::Emission, "_emit", rounded(light / (flux + 1.0))),
            (Attribute::Emission, "_flux", flux),
        ]
        .map(|(of, key, value)| (of, key, value.to_string()));
        let texts = texts.iter().filter(|(of, ..)| self.held.contains(of));
        let entries =
            iter::once(("_type", kind)).chain(texts.map(|(_, key, text)| (*key, &**text)));
        let entries: Vec<(&str, &str)> = entries.collect();
        Chunk::default().int(index.into()).dict(&entries).finish(b"MATL")
    }
}

/// The properties of the voxels of a brick.
pub(super) fn properties_of(grid: &VoxelGrid, key: BrickKey) -> impl Fn([u32; 3]) -> Properties {
    let channel = |of| Some(grid.attributes.as_ref()?.channels().get(&of)?.of_brick(key));
    let channels = ATTRIBUTES.map(channel);
    move |voxel| {
        let (x, bit) = mask_place(voxel);
        [0, 1, 2].map(|n| {
            let bits = channels[n].as_ref().map(|channel| channel.at(x as u32, bit));
            let components = bits.unwrap_or_default().map(f32::from_bits);
            components.into_iter().fold(0.0, f32::max).min(MOST[n])
        })
    }
}

/// The properties in tenths.
fn kind_of(properties: Properties) -> [u8; 3] {
    properties.map(|value| (10.0 * value).round() as u8)
}
