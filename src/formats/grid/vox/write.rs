//! Writing in two passes: models are counted first, which gives all chunk lengths, then streamed.

use std::io::{BufWriter, Write};

use super::parts::{Region, VoxPart};
use super::{ATTRIBUTE, Description, Frame, MAX_MODEL, MAX_SCENE};
use crate::base::numbers::{AXES, counted, grouped};
use crate::base::ordered::in_pool;
use crate::base::srgb::Rgba;
use crate::formats::write::check_place;
use crate::formats::{WriteError, WriteOptions};
use crate::grid::{BrickKey, BrickRun, Colors, Mask, VoxelGrid, World, count, mask_voxels};
use crate::surface::palette::IndexedColors;

const VERSION: i32 = 150;
/// The palette index, from 1, of all voxels of a grid without colours.
pub(super) const UNCOLORED: u8 = 1;
/// Bytes of a chunk's name and lengths.
const CHUNK_HEAD: u64 = 12;

/// Writes `grid`, in its colours or those of the options' palette.
///
/// # Errors
/// `out` fails; more than 2000 voxels along an axis, which MagicaVoxel would clip (use
/// [`VoxFiles`]); more bytes than 32-bit lengths can express.
pub fn write(
    grid: &VoxelGrid,
    options: &WriteOptions,
    out: &mut dyn Write,
) -> Result<(), WriteError> {
    check_dims(grid.dims())?;
    let files = VoxFiles::new(grid, options);
    files.write(&files.parts()[0], out)
}

/// Checks that MagicaVoxel's world can hold a grid of `dims` voxels.
///
/// # Errors
/// The grid is too large.
pub fn check_dims(dims: [u32; 3]) -> Result<(), WriteError> {
    let too_long = AXES.into_iter().zip(dims).find(|&(_, d)| d > MAX_SCENE);
    too_long.map_or(Ok(()), |(axis, voxels)| {
        Err(WriteError::Unsupported(format!(
            "the grid is {} voxels along the {axis} axis, but one .vox file holds at most {}: use a \
             lower resolution or another format such as .npz; the program `voxelize` writes several \
             files beside each other if a file is named",
            grouped(voxels.into()),
            grouped(MAX_SCENE.into())
        )))
    })
}

/// # Errors
/// The grid has more than one model.
fn check_plain([x, y, z]: [u32; 3]) -> Result<(), WriteError> {
    if x.max(y).max(z) <= MAX_MODEL {
        return Ok(());
    }
    Err(WriteError::Unsupported(format!(
        "a plain .vox has one model of at most {MAX_MODEL} voxels along each axis, and the grid is \
         {x}x{y}x{z}: leave --plain out, or lower the resolution"
    )))
}

/// A grid split into files with one palette; a single file if the grid fits MagicaVoxel's world.
#[derive(Debug)]
pub struct VoxFiles<'a> {
    grid: &'a VoxelGrid,
    colors: Option<(&'a Colors, IndexedColors)>,
    parts: Vec<VoxPart>,
    is_plain: bool,
}

impl<'a> VoxFiles<'a> {
    /// The files of `grid`.
    #[must_use]
    pub fn new(grid: &'a VoxelGrid, options: &WriteOptions) -> Self {
        let indexed = IndexedColors::new(grid, options.palette.as_ref(), options.dither);
        let colors = grid.colors.as_ref().zip(indexed);
        Self { grid, colors, parts: VoxPart::all(grid), is_plain: options.plain }
    }

    /// The parts that are not empty, in order; for an empty grid the first part.
    #[must_use]
    pub fn parts(&self) -> &[VoxPart] {
        &self.parts
    }

    /// Writes one of the parts.
    ///
    /// # Errors
    /// `out` fails; more bytes than 32-bit lengths can express.
    pub fn write(&self, part: &VoxPart, out: &mut dyn Write) -> Result<(), WriteError> {
        let world = part.world(self.grid.world);
        check_place(world.place)?;
        let models = part.region.divided(self.grid, MAX_MODEL).into_iter();
        let models = models.map(|(region, voxels)| Model {
            region,
            frame: Frame { dims: region.dims, up: world.up },
            voxels: voxels as u32,
        });
        let models: Vec<Model> = models.collect();
        let scene = if self.is_plain {
            check_plain(self.grid.dims()).map(|()| Vec::new())?
        } else {
            scene_graph(part, world, &models)
        };
        let palette = self.palette_chunk();
        let children =
            models.iter().map(Model::file_len).sum::<u64>() + (scene.len() + palette.len()) as u64;
        let Ok(children) = i32::try_from(children) else {
            let voxels: u64 = models.iter().map(|model| u64::from(model.voxels)).sum();
            let what = format!(
                "the grid's {} would take {}, but .vox files hold at most {}: use a lower \
                 resolution, or write .npy",
                counted(voxels, "voxel"),
                counted(children, "byte"),
                grouped(i32::MAX as u64)
            );
            return Err(WriteError::Unsupported(what));
        };

        let mut out = BufWriter::new(out);
        out.write_all(b"VOX ")?;
        out.write_all(&VERSION.to_le_bytes())?;
        write_head(&mut out, b"MAIN", 0, children)?;
        for model in &models {
            self.write_model(model, &mut out)?;
        }
        out.write_all(&scene)?;
        out.write_all(&palette)?;
        Ok(out.flush()?)
    }

    fn palette_chunk(&self) -> Vec<u8> {
        let mut palette = uncolored_palette();
        if let Some((_, colors)) = &self.colors {
            palette.fill([0; 4]);
            let colors = colors.palette().colors();
            palette[..colors.len()].copy_from_slice(colors);
        }
        Chunk::default().bytes(palette.as_flattened()).finish(b"RGBA")
    }

    fn write_model(&self, model: &Model, out: &mut dyn Write) -> Result<(), WriteError> {
        let size = model.frame.size().map(|d| d as i32);
        out.write_all(&size.into_iter().fold(Chunk::default(), Chunk::int).finish(b"SIZE"))?;
        write_head(out, b"XYZI", model.content_len() as i32, 0)?;
        out.write_all(&model.voxels.to_le_bytes())?;

        /// Bricks that are encoded at once.
        const BRICKS: usize = 256;
        let [first, end] = model.region.bricks();
        let runs = self.grid.brick_runs_in(first, end);
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
            let color_of = self.colors_of(key);
            for voxel in mask_voxels(key.first_voxel(), mask) {
                let place = std::array::from_fn(|a| voxel[a] - model.region.base[a]);
                let [x, y, z] = model.frame.vox_from_grid(place).map(|c| c as u8);
                bytes.extend([x, y, z, color_of(voxel)]);
            }
        }
        bytes
    }

    /// The palette indices, from 1, of the voxels of a brick.
    fn colors_of(&self, key: BrickKey) -> impl Fn([u32; 3]) -> u8 {
        let colors = self.colors.as_ref().map(|(colors, indexed)| (colors.of_brick(key), indexed));
        move |voxel| {
            colors
                .map_or(UNCOLORED, |(colors, indexed)| 1 + indexed.index(voxel, &colors.of(voxel)))
        }
    }
}

/// A box of a part.
struct Model {
    region: Region,
    frame: Frame,
    /// At most 256 cubed, 2^24.
    voxels: u32,
}

impl Model {
    fn content_len(&self) -> u32 {
        4 + 4 * self.voxels
    }

    /// Bytes of the two chunks.
    fn file_len(&self) -> u64 {
        CHUNK_HEAD + 12 + CHUNK_HEAD + u64::from(self.content_len())
    }

    /// The pivot's position in MagicaVoxel's world, in the scene of `part`.
    fn pivot(&self, part: &VoxPart, scene: &Frame) -> [i64; 3] {
        let first: [u32; 3] = std::array::from_fn(|a| self.region.base[a] - part.region.base[a]);
        let last = std::array::from_fn(|a| first[a] + self.frame.dims[a] - 1);
        let [a, b] = [first, last].map(|end| scene.vox_from_grid(end));
        let (corner, size) = (scene.corner(), self.frame.size());
        std::array::from_fn(|i| corner[i] + i64::from(a[i].min(b[i]) + size[i] / 2))
    }
}

/// Transform 0 over group 1 over a transform and a shape for each model.
fn scene_graph(part: &VoxPart, world: World, models: &[Model]) -> Vec<u8> {
    let scene = Frame { dims: part.dims(), up: world.up };
    let text = Description { dims: part.dims(), world, part: part.part() }.to_string();
    // No layer.
    let mut graph = transform([0, 1, -1], &[(ATTRIBUTE, &text)], &[]);
    // At most 8 cubed models.
    let count = models.len() as i32;
    let group = Chunk::default().int(1).dict(&[]).int(count);
    graph.extend((0..count).fold(group, |group, i| group.int(2 + 2 * i)).finish(b"nGRP"));
    for (i, model) in (0..).zip(models) {
        let [x, y, z] = model.pivot(part, &scene);
        let place = format!("{x} {y} {z}");
        graph.extend(transform([2 + 2 * i, 3 + 2 * i, 0], &[], &[("_t", &place)]));
        let shape = Chunk::default().int(3 + 2 * i).dict(&[]);
        graph.extend(shape.int(1).int(i).dict(&[]).finish(b"nSHP"));
    }
    graph
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
struct Chunk(Vec<u8>);

impl Chunk {
    fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    fn int(self, value: i32) -> Self {
        self.bytes(&value.to_le_bytes())
    }

    fn dict(self, entries: &[(&str, &str)]) -> Self {
        let texts = entries.iter().flat_map(|&(key, value)| [key, value]);
        let chunk = self.int(entries.len() as i32);
        texts.fold(chunk, |chunk, text| chunk.int(text.len() as i32).bytes(text.as_bytes()))
    }

    /// The whole chunk, which must be shorter than 2 GiB.
    fn finish(self, name: &[u8; 4]) -> Vec<u8> {
        let len = (self.0.len() as i32).to_le_bytes();
        [&name[..], &len, &[0; 4], &self.0].concat()
    }
}
