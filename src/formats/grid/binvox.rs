//! `.binvox`: run-length encoded cubes of voxels, read by many geometry and machine learning tools.
//!
//! The format is Patrick Min's (*binvox voxel file format specification*, 2004 to 2024): a text
//! header, then pairs of bytes, a value and a run length. `y` is fastest, then `z`, then `x`.
//! `translate` is the grid's corner and `scale` the edge of the whole cube, so a grid that is not a
//! cube is padded at its far ends, and is read back as the cube. A grid without a world position is
//! written with its corner at the origin and voxels of size 1. The format does not store the up
//! axis: reading assumes `y`.

use std::io::{self, BufRead, ErrorKind, Read, Write};
use std::ops::Range;

use crate::formats::grid::brick_slice::{BRICK_BYTES, BrickSlice};
use crate::formats::grid::dense::{bytes_of_bits, volume};
use crate::formats::grid::layers::{Layers, RowAxis};
use crate::formats::io::tokens::numbers;
use crate::formats::{
    GridSpec, LoadedGrid, Out, ReadError, WriteError, assumed_place, check_memory, checked_dims,
    content, excerpt, lost_colors, lost_up, stated_place,
};
use crate::grid::{BRICK, BrickKey, FULL, GridError, Mask, Place, Up, VoxelGrid, World};

pub const SPEC: GridSpec = GridSpec {
    extension: "binvox",
    name: "binvox",
    carries: "up to 65,536 voxels per axis, padded to a cube; position and voxel size",
    read: Some(|input, options| read(input, options.memory)),
    file_size: |dims| Some(2 * u64::from(edge(dims)).pow(3).div_ceil(LONGEST_RUN)),
    lost: |grid, _| lost(grid),
    ..GridSpec::plain(|grid, _, out| write(grid, out))
};

/// Most voxels in one run.
const LONGEST_RUN: u64 = 255;

/// Longest header that is read, in bytes; `write` makes about 100.
const MAX_HEADER: u64 = 1 << 12;

/// The edge, in voxels, of the cube that contains a grid of `dims`.
fn edge([x, y, z]: [u32; 3]) -> u32 {
    x.max(y).max(z)
}

fn lost(grid: &VoxelGrid) -> Vec<Option<String>> {
    let [x, y, z] = grid.dims();
    let n = edge(grid.dims());
    let padded = format!("the grid of {x} x {y} x {z} voxels is padded to {n} x {n} x {n}");
    let padded = Some(padded).filter(|_| [x, y, z] != [n; 3]);
    vec![padded, assumed_place(grid), lost_up(grid), lost_colors(grid)]
}

/// Reads a grid, which need not be a cube, as some tools write. Every value but 0 is occupied.
pub fn read(input: &mut dyn BufRead, limit: u64) -> Result<LoadedGrid, ReadError> {
    let header = read_header(input)?;
    let mut bricks = Bricks::new(header.dims);
    let voxels = volume(header.dims);
    let mut at = 0;
    while let Some([value, count]) = read_pair(input, at, voxels)? {
        let end = at + u64::from(count);
        ensure!(end <= voxels, "there are more voxels than the {voxels} of the grid");
        if value != 0 {
            bricks.occupy(at..end);
            check_memory(bricks.bytes(), limit)?;
        }
        at = end;
    }
    let mut grid = bricks.finish()?;
    let (place, warning) = header.place()?;
    grid.world = World { up: Up::Y, place };
    Ok(LoadedGrid::new(grid, warning.into_iter().collect()))
}

/// The next value and its count; `None` at the end of the file, if the `at` voxels read so far are
/// all `voxels`.
#[inline]
fn read_pair(input: &mut dyn BufRead, at: u64, voxels: u64) -> Result<Option<[u8; 2]>, ReadError> {
    if at == voxels && input.fill_buf()?.is_empty() {
        return Ok(None);
    }
    let mut pair = [0; 2];
    input.read_exact(&mut pair).map(|()| Some(pair)).map_err(|error| match error.kind() {
        ErrorKind::UnexpectedEof if at == voxels => {
            content("there are more bytes after the voxels")
        }
        ErrorKind::UnexpectedEof => content(format!("the file ends after {at} of {voxels} voxels")),
        _ => error.into(),
    })
}

#[derive(Debug, Default, PartialEq)]
struct Header {
    dims: [u32; 3],
    translate: Option<[f64; 3]>,
    scale: Option<f64>,
}

impl Header {
    /// The place, if stated, and a warning.
    fn place(&self) -> Result<(Option<Place>, Option<String>), ReadError> {
        let [x, y, z] = self.dims;
        if self.translate.is_some() && self.scale.is_some() && (x != y || y != z) {
            let warning = "the grid's position is ignored: 'scale' is defined for cubes only";
            return Ok((None, Some(warning.to_owned())));
        }
        let voxel_size = self.scale.map(|scale| scale / f64::from(x));
        stated_place(self.translate, voxel_size, ["'translate'", "'scale'"])
    }
}

fn read_header(input: &mut dyn BufRead) -> Result<Header, ReadError> {
    let mut input = input.take(MAX_HEADER);
    let mut line = || {
        let mut line = Vec::new();
        input.read_until(b'\n', &mut line)?;
        match line.pop() {
            Some(b'\n') => Ok(String::from_utf8_lossy(&line).into_owned()),
            _ => bail!("the file ends in the header, or is not a .binvox file"),
        }
    };
    let first = line()?;
    let version = first.strip_prefix("#binvox").map(str::trim);
    match version {
        Some("1" | "2") => {}
        Some(other) => {
            bail!(".binvox version '{}' is not supported, only 1 and 2", excerpt(other));
        }
        None => bail!("not a .binvox file: it does not begin with '#binvox'"),
    }
    let mut header = Header::default();
    loop {
        let line = line()?;
        let mut words = line.split_ascii_whitespace();
        let key = words.next().unwrap_or_default();
        let malformed = || content(format!("the header has a malformed line '{}'", excerpt(&line)));
        match key {
            "data" => break,
            "dim" => {
                // The file's order of axes, slowest first.
                let [x, z, y]: [u64; 3] = numbers(words).ok_or_else(malformed)?;
                header.dims = checked_dims([x, y, z])?;
            }
            "translate" => header.translate = Some(numbers(words).ok_or_else(malformed)?),
            "scale" => {
                let [scale] = numbers(words).ok_or_else(malformed)?;
                header.scale = Some(scale);
            }
            // Comments and fields of other programs.
            _ => {}
        }
    }
    ensure!(header.dims[0] > 0, "the header has no 'dim'");
    Ok(header)
}

/// Collects voxels in file order into bricks, one slice of bricks along `x` at a time.
struct Bricks {
    dims: [u32; 3],
    /// The current slice, in bricks.
    x: u32,
    /// By brick of the slice, `y` fastest.
    masks: BrickSlice<Mask>,
    /// For each brick of the slice the index of its last run, plus 1; 0 for none.
    last: Vec<u32>,
    /// Runs of full bricks along `x`.
    runs: Vec<(BrickKey, u32)>,
    /// Bricks that are not full.
    bricks: Vec<(BrickKey, Mask)>,
}

impl Bricks {
    fn new(dims: [u32; 3]) -> Self {
        let (masks, last) = (BrickSlice::new(), Vec::new());
        Self { dims, x: 0, masks, last, runs: Vec::new(), bricks: Vec::new() }
    }

    /// Bytes of memory. Bricks of the slice count twice: they are copied to the others.
    fn bytes(&self) -> u64 {
        let count = self.bricks.len() + self.runs.len() + 2 * self.masks.len();
        count as u64 * BRICK_BYTES
    }

    /// Adds occupied voxels, a range of file indices after all ranges before.
    fn occupy(&mut self, Range { start: mut at, end }: Range<u64>) {
        let [_, ny, nz] = self.dims.map(u64::from);
        while at < end {
            let (x, z, y) = (at / (ny * nz), at / ny % nz, at % ny);
            let len = (end - at).min(ny - y);
            self.occupy_column([x, z].map(|c| c as u32), y as u32..(y + len) as u32);
            at += len;
        }
    }

    fn occupy_column(&mut self, [x, z]: [u32; 2], ys: Range<u32>) {
        if x / BRICK != self.x {
            self.drain();
            self.x = x / BRICK;
        }
        let row = (z / BRICK * self.dims[1].div_ceil(BRICK)) as usize;
        for y in ys.start / BRICK..ys.end.div_ceil(BRICK) {
            let first = ys.start.max(y * BRICK) % BRICK;
            let end = (ys.end - y * BRICK).min(BRICK);
            let bits = (0xff_u32 << first) as u8 & (0xff_u32 >> (BRICK - end)) as u8;
            let word = u64::from_le_bytes(bytes_of_bits(bits)) << (z % BRICK);
            self.masks.get_or_insert(row + y as usize, || [0; 8])[(x % BRICK) as usize] |= word;
        }
    }

    /// Moves the slice's bricks to `bricks` and `runs`.
    fn drain(&mut self) {
        let per_row = self.dims[1].div_ceil(BRICK) as usize;
        for (brick, mask) in self.masks.drain() {
            let key = BrickKey::new([self.x, (brick % per_row) as u32, (brick / per_row) as u32]);
            if mask != FULL {
                self.bricks.push((key, mask));
                continue;
            }
            if self.last.len() <= brick {
                self.last.resize(brick + 1, 0);
            }
            let last = self.last[brick] as usize;
            match self.runs[..last].last_mut() {
                Some((start, len)) if start.along_x(*len) == key => *len += 1,
                _ => {
                    self.runs.push((key, 1));
                    self.last[brick] = self.runs.len() as u32;
                }
            }
        }
    }

    fn finish(mut self) -> Result<VoxelGrid, GridError> {
        self.drain();
        VoxelGrid::from_bricks_and_runs(self.dims, self.bricks, self.runs)
    }
}

/// Writes `grid`, in at most 4 MiB of memory.
pub fn write(grid: &VoxelGrid, out: &mut Out) -> Result<(), WriteError> {
    let edge = u64::from(edge(grid.dims()));
    out.write_all(header(grid).as_bytes())?;
    let mut runs = Runs { out, end: 0, value: 0, length: 0 };
    for layers in Layers::all(grid, None, RowAxis::Y) {
        let rows = |x: u32| {
            let rows = layers.runs.chunk_by(|a, b| a.second == b.second);
            rows.flat_map(move |runs| (0..BRICK).map(move |z| ([x, z], runs)))
        };
        for ([x, z], bricks) in layers.xs.clone().flat_map(rows) {
            let column = u64::from(x) * edge + u64::from(bricks[0].second * BRICK + z);
            for ys in bricks.iter().flat_map(|run| run.voxels([x % BRICK, z])) {
                let [start, end] = [ys.start, ys.end].map(|y| column * edge + u64::from(y));
                runs.extend(0, start)?;
                runs.extend(1, end)?;
            }
        }
    }
    runs.extend(0, edge.pow(3))?;
    Ok(runs.flush()?)
}

fn header(grid: &VoxelGrid) -> String {
    let edge = edge(grid.dims());
    let Place { origin: [x, y, z], voxel_size } = grid.world.place.unwrap_or_default();
    // The nearest float to the cube's edge. If any float divided by `edge` is `voxel_size`, this
    // one is: such floats form an interval around the exact edge, and this is the nearest to it.
    let scale = voxel_size * f64::from(edge);
    format!(
        "#binvox 1\ndim {edge} {edge} {edge}\ntranslate {x:?} {y:?} {z:?}\nscale {scale:?}\ndata\n"
    )
}

/// The run-length encoder, in file order.
struct Runs<'a, 'b> {
    out: &'a mut Out<'b>,
    /// The number of voxels added.
    end: u64,
    /// The value of the last run, which is not written yet.
    value: u8,
    /// The length of the last run, in voxels.
    length: u64,
}

impl Runs<'_, '_> {
    /// Adds voxels with `value`, up to the voxel before `end` in file order.
    fn extend(&mut self, value: u8, end: u64) -> io::Result<()> {
        if value != self.value && end > self.end {
            self.flush()?;
            self.value = value;
        }
        self.length += end - self.end;
        self.end = end;
        Ok(())
    }

    /// Writes the last run.
    fn flush(&mut self) -> io::Result<()> {
        const BATCH: usize = 256;
        let longest = [[self.value, LONGEST_RUN as u8]; BATCH];
        let mut whole = self.length / LONGEST_RUN;
        while whole > 0 {
            let batch = whole.min(BATCH as u64);
            self.out.write_all(longest[..batch as usize].as_flattened())?;
            whole -= batch;
        }
        let rest = (self.length % LONGEST_RUN) as u8;
        self.length = 0;
        if rest > 0 { self.out.write_all(&[self.value, rest]) } else { Ok(()) }
    }
}
