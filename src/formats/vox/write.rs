//! Writing: the models of a grid are counted first, so that every chunk's length is known, and then
//! streamed.

use std::io::{BufWriter, Write};

use super::{ATTRIBUTE, Frame, MAX_MODEL, MAX_SCENE, describe, is_possible};
use crate::formats::WriteError;
use crate::grid::{BRICK, BrickKey, VoxelGrid, count, mask_voxels};

const VERSION: i32 = 150;
/// The colour of every voxel, as an index into the palette counted from 1.
const COLOR: u8 = 1;
/// Bytes of a chunk's name and lengths.
const CHUNK_HEAD: u64 = 12;
/// Bricks along the edge of the largest model.
const MODEL_BRICKS: u32 = MAX_MODEL / BRICK;

/// Writes `grid` in one colour.
///
/// # Errors
/// `out` fails; more than 2000 voxels along an axis, which MagicaVoxel would clip; more bytes than
/// the format's 32-bit lengths can say.
pub fn write(grid: &VoxelGrid, out: &mut dyn Write) -> Result<(), WriteError> {
    check_size(grid)?;
    let models = models(grid);
    let scene = scene_graph(grid, &models);
    let palette = Chunk::default().bytes(palette().as_flattened()).finish(b"RGBA");
    let children =
        models.iter().map(Model::file_len).sum::<u64>() + (scene.len() + palette.len()) as u64;
    let Ok(children) = i32::try_from(children) else {
        let what = format!(
            "the grid's {} voxels would take {children} bytes, but .vox files hold at most {}: \
             use a lower resolution, or write .npy",
            grid.occupied(),
            i32::MAX
        );
        return Err(WriteError::Unsupported(what));
    };

    let mut out = BufWriter::new(out);
    out.write_all(b"VOX ")?;
    out.write_all(&VERSION.to_le_bytes())?;
    write_head(&mut out, b"MAIN", 0, children)?;
    for model in &models {
        write_model(grid, model, &mut out)?;
    }
    out.write_all(&scene)?;
    out.write_all(&palette)?;
    Ok(out.flush()?)
}

fn check_size(grid: &VoxelGrid) -> Result<(), WriteError> {
    check_dims(grid.dims())?;
    match grid.world.filter(|world| !is_possible(world)) {
        Some(world) => Err(WriteError::Unsupported(format!("a grid cannot lie at {world:?}"))),
        None => Ok(()),
    }
}

/// Whether MagicaVoxel's world can hold a grid of `dims` voxels.
///
/// # Errors
/// It cannot.
pub fn check_dims(dims: [u32; 3]) -> Result<(), WriteError> {
    let too_long = ['x', 'y', 'z'].into_iter().zip(dims).find(|&(_, d)| d > MAX_SCENE);
    too_long.map_or(Ok(()), |(axis, voxels)| {
        Err(WriteError::Unsupported(format!(
            "the grid is {voxels} voxels along the {axis} axis, but MagicaVoxel holds at most \
             {MAX_SCENE}: use a resolution of at most that, padding included, or write .npy"
        )))
    })
}

/// A part of the grid, aligned to bricks.
struct Model {
    /// The minimum corner, in the grid's voxels.
    base: [u32; 3],
    /// Its box.
    frame: Frame,
    /// At most 256 cubed, 2^24.
    voxels: u32,
}

impl Model {
    fn content_len(&self) -> u32 {
        4 + 4 * self.voxels
    }

    /// Bytes of both its chunks.
    fn file_len(&self) -> u64 {
        CHUNK_HEAD + 12 + CHUNK_HEAD + u64::from(self.content_len())
    }

    /// Where the pivot lies in MagicaVoxel's world, the whole scene being `scene`.
    fn pivot(&self, scene: &Frame) -> [i64; 3] {
        let [dx, dy, dz] = self.frame.dims;
        let [x, y, z] = self.base;
        let ends = [[x, y, z], [x + dx - 1, y + dy - 1, z + dz - 1]];
        let [a, b] = ends.map(|end| scene.vox_from_grid(end));
        let (corner, size) = (scene.corner(), self.frame.size());
        std::array::from_fn(|i| corner[i] + i64::from(a[i].min(b[i]) + size[i] / 2))
    }
}

/// The models that hold a voxel, or an empty one where there are no voxels at all.
fn models(grid: &VoxelGrid) -> Vec<Model> {
    let dims = grid.dims();
    let [nx, ny, nz] = dims.map(|d| d.div_ceil(MAX_MODEL));
    let mut voxels = vec![0; (nx * ny * nz) as usize];
    for (key, mask) in grid.bricks() {
        let [x, y, z] = key.position().map(|b| b / MODEL_BRICKS);
        voxels[((z * ny + y) * nx + x) as usize] += count(&mask);
    }
    let model = |(index, voxels): (u32, u32)| {
        let place = [index % nx, index / nx % ny, index / nx / ny];
        let base = place.map(|p| p * MAX_MODEL);
        let dims = std::array::from_fn(|a| MAX_MODEL.min(dims[a] - base[a]));
        Model { base, frame: Frame::new(dims, grid.world), voxels }
    };
    let is_empty = voxels.iter().all(|&n| n == 0);
    let wanted = |&(index, n): &(u32, u32)| n > 0 || is_empty && index == 0;
    (0..).zip(voxels).filter(wanted).map(model).collect()
}

fn write_model(grid: &VoxelGrid, model: &Model, out: &mut dyn Write) -> Result<(), WriteError> {
    let size = model.frame.size().map(|d| d as i32);
    out.write_all(&size.into_iter().fold(Chunk::default(), Chunk::int).finish(b"SIZE"))?;
    write_head(out, b"XYZI", model.content_len() as i32, 0)?;
    out.write_all(&model.voxels.to_le_bytes())?;

    let first = model.base.map(|b| b / BRICK);
    let last: [u32; 3] = std::array::from_fn(|a| (model.base[a] + model.frame.dims[a] - 1) / BRICK);
    let mut bytes = Vec::with_capacity(4 * BRICK.pow(3) as usize);
    for (z, y) in (first[2]..=last[2]).flat_map(|z| (first[1]..=last[1]).map(move |y| (z, y))) {
        let [from, to] = [first[0], last[0]].map(|x| BrickKey::new([x, y, z]));
        for (key, mask) in grid.bricks_between(from, to) {
            let position = key.position();
            let base = std::array::from_fn(|a| position[a] * BRICK - model.base[a]);
            bytes.clear();
            for voxel in mask_voxels(base, mask) {
                let [x, y, z] = model.frame.vox_from_grid(voxel).map(|c| c as u8);
                bytes.extend([x, y, z, COLOR]);
            }
            out.write_all(&bytes)?;
        }
    }
    Ok(())
}

/// Transform 0 over group 1 over a transform and a shape for each model.
fn scene_graph(grid: &VoxelGrid, models: &[Model]) -> Vec<u8> {
    let scene = Frame::new(grid.dims(), grid.world);
    let root =
        Transform { id: 0, attributes: &[(ATTRIBUTE, &describe(grid))], child: 1, layer: -1 };
    let mut graph = root.chunk(&[]);
    // At most 8 cubed models.
    let count = models.len() as i32;
    let group = Chunk::default().int(1).dict(&[]).int(count);
    graph.extend((0..count).fold(group, |group, i| group.int(2 + 2 * i)).finish(b"nGRP"));
    for (i, model) in (0..).zip(models) {
        let [x, y, z] = model.pivot(&scene);
        let place = Transform { id: 2 + 2 * i, attributes: &[], child: 3 + 2 * i, layer: 0 };
        graph.extend(place.chunk(&[("_t", &format!("{x} {y} {z}"))]));
        let shape = Chunk::default().int(3 + 2 * i).dict(&[]);
        graph.extend(shape.int(1).int(i).dict(&[]).finish(b"nSHP"));
    }
    graph
}

/// A transform node. No dictionary of ours has more than one entry, so that readers that keep them
/// in hash maps write stable bytes too.
struct Transform<'a> {
    id: i32,
    attributes: &'a [(&'a str, &'a str)],
    child: i32,
    /// The root is in none, -1.
    layer: i32,
}

impl Transform<'_> {
    /// With one frame.
    fn chunk(&self, frame: &[(&str, &str)]) -> Vec<u8> {
        const RESERVED: i32 = -1;
        let node = Chunk::default().int(self.id).dict(self.attributes);
        node.int(self.child).int(RESERVED).int(self.layer).int(1).dict(frame).finish(b"nTRN")
    }
}

/// Our colour, then colours to paint with: a cube of six steps per channel and a ramp of greys.
/// The last entry belongs to no index.
fn palette() -> [[u8; 4]; 256] {
    const LIGHT_GREY: [u8; 4] = [200, 200, 200, 255];
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

/// The content of a chunk without children, as it grows.
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

    /// The whole chunk. All that are made this way are small.
    fn finish(self, name: &[u8; 4]) -> Vec<u8> {
        let len = (self.0.len() as i32).to_le_bytes();
        [&name[..], &len, &[0; 4], &self.0].concat()
    }
}
