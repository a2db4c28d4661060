//! Writing in two passes: models are counted first, which gives all chunk lengths, then streamed.

use std::array;
use std::collections::{BTreeMap, HashMap};
use std::io::Write;

use super::materials::{Materials, properties_of};
use super::{ATTRIBUTE, Description, Frame, MAX_MODEL, MAX_SCENE, NAME, REST, light};
use crate::base::numbers::{AXES, counted, grouped};
use crate::base::ordered::in_pool;
use crate::base::srgb::Rgba;
use crate::formats::{Out, WriteError, WriteOptions};
use crate::grid::{
    Attribute, Attributes, BRICK, BrickKey, BrickRun, Channel, Colors, Mask, VoxelGrid, count,
    mask_place, mask_voxels, union_bounds,
};
use crate::surface::palette::IndexedColors;

const VERSION: i32 = 150;
/// The palette index, from 1, of all voxels of a grid without colours.
pub(super) const UNCOLORED: u8 = 1;
/// Most labels that are parts: to write a part takes as long as to visit the bricks of its box.
pub(super) const MAX_PARTS: usize = 4096;
/// Bytes of a chunk's name and lengths.
const CHUNK_HEAD: u64 = 12;

/// Writes `grid`, in its colours or those of the options' palette.
pub fn write(grid: &VoxelGrid, options: &WriteOptions, out: &mut Out) -> Result<(), WriteError> {
    let grid = &*light::lit(grid);
    let voxels = IndexedVoxels::new(grid, options);
    let models = match voxels.labels {
        Some(labels) if grid.occupied() > 0 => Model::labeled(grid, labels),
        _ => Model::all(grid),
    };
    let scene = if options.plain { Vec::new() } else { scene_graph(grid, &models) };
    let palette = voxels.palette_chunks();
    let children =
        models.iter().map(Model::file_len).sum::<u64>() + (scene.len() + palette.len()) as u64;
    let Ok(children) = i32::try_from(children) else {
        return Err(WriteError::Unsupported(format!(
            "the grid's {} would take {}, but .vox files hold at most {}: use a lower \
             resolution, or write .npy",
            counted(grid.occupied(), "voxel"),
            counted(children, "byte"),
            grouped(i32::MAX as u64)
        )));
    };

    out.write_all(b"VOX ")?;
    out.write_all(&VERSION.to_le_bytes())?;
    write_head(out, b"MAIN", 0, children)?;
    for model in &models {
        voxels.write_model(model, out)?;
    }
    out.write_all(&scene)?;
    Ok(out.write_all(&palette)?)
}

/// Checks that one model can hold a plain grid of `dims` voxels; that MagicaVoxel's world, which
/// clips the rest, can hold any other.
pub fn check_dims(dims: [u32; 3], options: &WriteOptions) -> Result<(), WriteError> {
    let [x, y, z] = dims;
    if options.plain && x.max(y).max(z) > MAX_MODEL {
        return Err(WriteError::Unsupported(format!(
            "a plain .vox has one model of at most {MAX_MODEL} voxels along each axis, and the \
             grid is {x}x{y}x{z}: write one that is not plain, or lower the resolution"
        )));
    }
    let too_long = AXES.into_iter().zip(dims).find(|&(_, d)| d > MAX_SCENE);
    too_long.map_or(Ok(()), |(axis, voxels)| {
        Err(WriteError::Unsupported(format!(
            "the grid is {} voxels along the {axis} axis, but a .vox holds at most {}: use a lower \
             resolution, tiles, or another format such as .vdb",
            grouped(voxels.into()),
            grouped(MAX_SCENE.into())
        )))
    })
}

/// The voxels of a grid with their palette indices, from 1.
pub(super) struct IndexedVoxels<'a> {
    pub(super) grid: &'a VoxelGrid,
    colors: Option<(&'a Colors, IndexedColors)>,
    pub(super) materials: Option<Materials>,
    /// The labels, if each has models of its own.
    labels: Option<&'a Channel>,
}

impl<'a> IndexedVoxels<'a> {
    pub(super) fn new(grid: &'a VoxelGrid, options: &WriteOptions) -> Self {
        let colors = grid.colors.as_ref().zip(options.indexed(grid));
        let channels =
            grid.attributes.as_ref().filter(|_| !options.plain).map(Attributes::channels);
        let labels = channels.and_then(|channels| channels.get(&Attribute::Label));
        let labels = labels.filter(|_| parts_over_limit(grid).is_none());
        let mut voxels = Self { grid, colors, materials: None, labels };
        voxels.materials = Materials::new(&voxels);
        voxels
    }

    /// The colour of each palette index, before materials divide it.
    pub(super) fn palette(&self) -> [Rgba; 256] {
        let mut palette = uncolored_palette();
        if let Some((_, colors)) = &self.colors {
            palette.fill([0; 4]);
            let colors = colors.palette().colors();
            palette[..colors.len()].copy_from_slice(colors);
        }
        palette
    }

    fn palette_chunks(&self) -> Vec<u8> {
        let mut palette = self.palette();
        let materials = self.materials.as_ref().map(|materials| materials.chunks(&mut palette));
        let palette = Chunk::default().bytes(palette.as_flattened()).finish(b"RGBA");
        [palette, materials.unwrap_or_default()].concat()
    }

    fn write_model(&self, model: &Model, out: &mut dyn Write) -> Result<(), WriteError> {
        let size = model.frame.size().map(|d| d as i32);
        out.write_all(&size.into_iter().fold(Chunk::default(), Chunk::int).finish(b"SIZE"))?;
        write_head(out, b"XYZI", model.content_len() as i32, 0)?;
        out.write_all(&model.voxels.to_le_bytes())?;

        /// Bricks that are encoded at once.
        const BRICKS: usize = 256;
        let end = array::from_fn(|a| (model.base[a] + model.frame.dims[a]).div_ceil(BRICK));
        let runs = self.grid.brick_runs_in(model.base.map(|b| b / BRICK), end);
        let each = |run: BrickRun| (0..run.len).map(move |n| (run.start.along_x(n), run.mask));
        let mut bricks = runs.flat_map(each);
        let batches = std::iter::from_fn(|| {
            let batch: Vec<(BrickKey, Mask)> = bricks.by_ref().take(BRICKS).collect();
            (!batch.is_empty()).then_some(batch)
        });
        let encode = |batch: Vec<(BrickKey, Mask)>| self.voxels(model, &batch);
        Ok(in_pool(batches, encode, |bytes| out.write_all(&bytes))?)
    }

    /// The places in `model` and the palette indices of the voxels of `bricks`.
    fn voxels(&self, model: &Model, bricks: &[(BrickKey, Mask)]) -> Vec<u8> {
        let voxels: u32 = bricks.iter().map(|(_, mask)| count(mask)).sum();
        let mut bytes = Vec::with_capacity(4 * voxels as usize);
        for &(key, mask) in bricks {
            let (index_of, labels) = (self.indices_of(key), self.labels.map(|of| of.of_brick(key)));
            let is_other = |voxel| {
                labels.as_ref().is_some_and(|labels| {
                    let (x, bit) = mask_place(voxel);
                    Some(labels.at(x as u32, bit)[0]) != model.label || !model.holds(voxel)
                })
            };
            for voxel in mask_voxels(key.first_voxel(), mask).filter(|&voxel| !is_other(voxel)) {
                let place = std::array::from_fn(|a| voxel[a] - model.base[a]);
                let [x, y, z] = model.frame.vox_from_grid(place).map(|c| c as u8);
                bytes.extend([x, y, z, index_of(voxel)]);
            }
        }
        bytes
    }

    /// The palette indices of the voxels of a brick.
    fn indices_of(&self, key: BrickKey) -> impl Fn([u32; 3]) -> u8 {
        let color_of = self.colors_of(key);
        let material_of = self.materials.as_ref().map(|all| (all, properties_of(self.grid, key)));
        move |voxel| match &material_of {
            Some((all, properties_of)) => all.index(color_of(voxel), properties_of(voxel)),
            None => color_of(voxel),
        }
    }

    /// The palette indices of the colours of a brick.
    pub(super) fn colors_of(&self, key: BrickKey) -> impl Fn([u32; 3]) -> u8 {
        let colors = self.colors.as_ref().map(|(colors, indexed)| (colors.of_brick(key), indexed));
        move |voxel| {
            colors
                .map_or(UNCOLORED, |(colors, indexed)| 1 + indexed.index(voxel, &colors.of(voxel)))
        }
    }
}

/// A box of a grid: of all its voxels, aligned to bricks, or of those with a label.
struct Model {
    /// `None` without labels.
    label: Option<u32>,
    /// The minimum corner, in the grid's voxels.
    base: [u32; 3],
    frame: Frame,
    /// At most 256 cubed, 2^24.
    voxels: u32,
}

/// The number of labels of `grid`, if it is above [`MAX_PARTS`]: then a file has no parts.
pub(super) fn parts_over_limit(grid: &VoxelGrid) -> Option<usize> {
    let labels = grid.attributes.as_ref()?.names().get(&Attribute::Label)?.len();
    (labels > MAX_PARTS).then_some(labels)
}

impl Model {
    /// The occupied boxes of [`MAX_MODEL`] voxels along each axis, or fewer at the end, `x`
    /// fastest; of an empty grid the first box.
    fn all(grid: &VoxelGrid) -> Vec<Self> {
        let mut counts: BTreeMap<[u32; 3], u32> = BTreeMap::new();
        let place_of = |key: BrickKey| {
            let [x, y, z] = key.position().map(|b| b / (MAX_MODEL / BRICK));
            [z, y, x]
        };
        let mut bricks = grid.bricks().peekable();
        // One look-up for the bricks of a box that follow each other.
        while let Some((key, mask)) = bricks.next() {
            let (place, mut voxels) = (place_of(key), count(&mask));
            while let Some((_, mask)) = bricks.next_if(|&(key, _)| place_of(key) == place) {
                voxels += count(&mask);
            }
            *counts.entry(place).or_default() += voxels;
        }
        if counts.is_empty() {
            counts.insert([0; 3], 0);
        }
        let model = |([z, y, x], voxels): ([u32; 3], u32)| {
            let base = [x, y, z].map(|place| place * MAX_MODEL);
            let dims = array::from_fn(|a| MAX_MODEL.min(grid.dims()[a] - base[a]));
            Self { label: None, base, frame: Frame { dims, up: grid.world.up }, voxels }
        };
        counts.into_iter().map(model).collect()
    }

    /// The models of each label, by label, -1 last: boxes from its first voxel along each axis to
    /// its last.
    fn labeled(grid: &VoxelGrid, labels: &Channel) -> Vec<Self> {
        let voxels = || grid.voxels().zip(labels.of_voxels(grid).map(|[label, ..]| label));
        let mut bounds: HashMap<u32, [[u32; 3]; 2]> = HashMap::new();
        for (voxel, label) in voxels() {
            let bounds = bounds.entry(label).or_insert([voxel; 2]);
            *bounds = union_bounds(*bounds, [voxel; 2]);
        }
        let mut counts: HashMap<_, u32> = HashMap::new();
        for (voxel, label) in voxels() {
            let [first, _] = bounds[&label];
            let [x, y, z] = array::from_fn(|a| (voxel[a] - first[a]) / MAX_MODEL);
            *counts.entry((label, [z, y, x])).or_default() += 1;
        }
        let model = |((label, [z, y, x]), voxels): ((u32, [u32; 3]), u32)| {
            let ([first, last], place) = (bounds[&label], [x, y, z]);
            let base: [u32; 3] = array::from_fn(|a| first[a] + MAX_MODEL * place[a]);
            let dims = array::from_fn(|a| MAX_MODEL.min(last[a] + 1 - base[a]));
            Self { label: Some(label), base, frame: Frame { dims, up: grid.world.up }, voxels }
        };
        BTreeMap::from_iter(counts).into_iter().map(model).collect()
    }

    fn holds(&self, voxel: [u32; 3]) -> bool {
        (0..3).all(|a| (self.base[a]..self.base[a] + self.frame.dims[a]).contains(&voxel[a]))
    }

    /// The name of its label, if it has one.
    fn name<'a>(&self, grid: &'a VoxelGrid) -> Option<&'a str> {
        let names = grid.attributes.as_ref()?.names().get(&Attribute::Label)?;
        let name = names.get(self.label? as usize).map_or(REST, |name| name);
        (!name.is_empty()).then_some(name)
    }

    fn content_len(&self) -> u32 {
        4 + 4 * self.voxels
    }

    /// Bytes of the two chunks.
    fn file_len(&self) -> u64 {
        CHUNK_HEAD + 12 + CHUNK_HEAD + u64::from(self.content_len())
    }

    fn pivot(&self, scene: &Frame) -> [i64; 3] {
        let last = std::array::from_fn(|a| self.base[a] + self.frame.dims[a] - 1);
        let [a, b] = [self.base, last].map(|end| scene.vox_from_grid(end));
        let (corner, size) = (scene.corner(), self.frame.size());
        std::array::from_fn(|i| corner[i] + i64::from(a[i].min(b[i]) + size[i] / 2))
    }
}

/// Transform 0 over group 1 over a transform and a shape for each model. A label with several
/// models has a transform and a group over these. The highest transform of a label has its name.
fn scene_graph(grid: &VoxelGrid, models: &[Model]) -> Vec<u8> {
    let scene = Frame { dims: grid.dims(), up: grid.world.up };
    let (mut parts, mut nodes) = (Vec::new(), Vec::new());
    let (mut id, mut index) = (2, 0);
    for part in models.chunk_by(|a, b| a.label.is_some() && a.label == b.label) {
        parts.push(id);
        let mut name = part[0].name(grid).map(|name| (NAME, name));
        if part.len() > 1 {
            nodes.extend(transform([id, id + 1, 0], name.take().as_slice(), &[]));
            let children = (1..).map(|n| id + 2 * n).take(part.len());
            nodes.extend(group(id + 1, &children.collect::<Vec<_>>()));
            id += 2;
        }
        for model in part {
            let [x, y, z] = model.pivot(&scene);
            let place = format!("{x} {y} {z}");
            nodes.extend(transform([id, id + 1, 0], name.as_slice(), &[("_t", &place)]));
            let shape = Chunk::default().int(id + 1).dict(&[]);
            nodes.extend(shape.int(1).int(index).dict(&[]).finish(b"nSHP"));
            (id, index) = (id + 2, index + 1);
        }
    }
    let text = Description::of(grid).to_string();
    // No layer.
    let root = transform([0, 1, -1], &[(ATTRIBUTE, &text)], &[]);
    [root, group(1, &parts), nodes].concat()
}

fn group(id: i32, children: &[i32]) -> Vec<u8> {
    let group = Chunk::default().int(id).dict(&[]).int(children.len() as i32);
    children.iter().fold(group, |group, &child| group.int(child)).finish(b"nGRP")
}

/// A transform node with one frame: its number, its child and its layer, its attributes and the
/// frame's. A dictionary has at most one entry, so that programs that keep it in a hash map write
/// reproducible files too.
fn transform(
    [id, child, layer]: [i32; 3],
    attributes: &[(&str, &str)],
    frame: &[(&str, &str)],
) -> Vec<u8> {
    const RESERVED: i32 = -1;
    let node = Chunk::default().int(id).dict(attributes);
    node.int(child).int(RESERVED).int(layer).int(1).dict(frame).finish(b"nTRN")
}

/// The palette of a grid without colours: the grid's light grey, then colours to paint with: a cube
/// of six steps per channel and a ramp of greys. The last entry has no index.
pub(super) fn uncolored_palette() -> [Rgba; 256] {
    const LIGHT_GREY: Rgba = [200, 200, 200, 255];
    std::array::from_fn(|entry| match entry as u8 {
        0 => LIGHT_GREY,
        n @ 1..=216 => {
            let n = n - 1;
            let [r, g, b] = [n / 36, n / 6 % 6, n % 6].map(|step| 51 * step);
            [r, g, b, 255]
        }
        n @ 217..=254 => {
            let grey = 6 * (n - 216);
            [grey, grey, grey, 255]
        }
        255 => [0; 4],
    })
}

fn write_head(
    out: &mut dyn Write,
    name: &[u8; 4],
    content: i32,
    children: i32,
) -> std::io::Result<()> {
    out.write_all(name)?;
    out.write_all(&content.to_le_bytes())?;
    out.write_all(&children.to_le_bytes())
}

/// A builder of chunks without children.
#[derive(Default)]
pub(super) struct Chunk(Vec<u8>);

impl Chunk {
    fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    pub(super) fn int(self, value: i32) -> Self {
        self.bytes(&value.to_le_bytes())
    }

    pub(super) fn dict(self, entries: &[(&str, &str)]) -> Self {
        let texts = entries.iter().flat_map(|&(key, value)| [key, value]);
        let chunk = self.int(entries.len() as i32);
        texts.fold(chunk, |chunk, text| chunk.int(text.len() as i32).bytes(text.as_bytes()))
    }

    /// The whole chunk, which must be shorter than 2 GiB.
    pub(super) fn finish(self, name: &[u8; 4]) -> Vec<u8> {
        let len = (self.0.len() as i32).to_le_bytes();
        [&name[..], &len, &[0; 4], &self.0].concat()
    }
}
