//! Reading: from runs along `y` to bricks, slice by slice.

use std::io::{BufRead, ErrorKind, Read};
use std::ops::Range;

use crate::formats::grid::brick_slice::{BRICK_BYTES, BrickSlice};
use crate::formats::grid::dense::{bytes_of_bits, volume};
use crate::formats::io::tokens::numbers;
use crate::formats::{
    LoadedGrid, ReadError, check_memory, checked_dims, checked_place, content, excerpt,
};
use crate::grid::{BRICK, BrickKey, FULL, GridError, Mask, Place, Up, VoxelGrid, World};

/// Longest header that is read, in bytes; `write` makes about 100.
const MAX_HEADER: u64 = 1 << 12;

/// Reads a grid, which need not be a cube, as some tools write. Every value but 0 is occupied.
///
/// # Errors
/// The file is not `.binvox`; dimensions are missing, 0 or above
/// [`MAX_DIM`](crate::lattice::MAX_DIM); the world position is not finite or out of range; there are
/// too few or too many voxels; more memory than `limit` bytes.
pub fn read(input: &mut dyn BufRead, limit: u64) -> Result<LoadedGrid, ReadError> {
    let header = read_header(input)?;
    let mut bricks = Bricks::new(header.dims);
    let voxels = header.voxels();
    let mut at = 0;
    let mut pair = [0; 2];
    while read_pair(input, &mut pair, at, voxels)? {
        let [value, count] = pair;
        let end = at + u64::from(count);
        if end > voxels {
            return Err(content(format!("there are more voxels than the {voxels} of the grid")));
        }
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

/// Reads the next pair; `false` at the end of the file, which is an error before `voxels` are read.
fn read_pair(
    input: &mut dyn BufRead,
    pair: &mut [u8; 2],
    at: u64,
    voxels: u64,
) -> Result<bool, ReadError> {
    if at == voxels && input.fill_buf()?.is_empty() {
        return Ok(false);
    }
    input.read_exact(pair).map(|()| true).map_err(|e| match e.kind() {
        ErrorKind::UnexpectedEof if at == voxels => {
            content("there are more bytes after the voxels")
        }
        ErrorKind::UnexpectedEof => content(format!("the file ends after {at} of {voxels} voxels")),
        _ => e.into(),
    })
}

/// The header's fields.
#[derive(Debug, Default, PartialEq)]
struct Header {
    dims: [u32; 3],
    translate: Option<[f64; 3]>,
    scale: Option<f64>,
}

impl Header {
    fn voxels(&self) -> u64 {
        volume(self.dims)
    }

    /// The place, if stated, and a warning.
    fn place(&self) -> Result<(Option<Place>, Option<String>), ReadError> {
        let (Some(origin), Some(scale)) = (self.translate, self.scale) else {
            let is_half = self.translate.is_some() || self.scale.is_some();
            let warning = "the grid's position is ignored: it needs both 'translate' and 'scale'";
            return Ok((None, is_half.then(|| warning.to_owned())));
        };
        let [x, y, z] = self.dims;
        if x != y || y != z {
            let warning = "the grid's position is ignored: 'scale' is defined for cubes only";
            return Ok((None, Some(warning.to_owned())));
        }
        let place = Place { origin, voxel_size: scale / f64::from(x) };
        Ok((Some(checked_place(place)?), None))
    }
}

fn read_header(input: &mut dyn BufRead) -> Result<Header, ReadError> {
    let mut input = input.take(MAX_HEADER);
    let mut line = || {
        let mut line = Vec::new();
        input.read_until(b'\n', &mut line)?;
        match line.pop() {
            Some(b'\n') => Ok(String::from_utf8_lossy(&line).into_owned()),
            _ => Err(content("the file ends in the header, or is not a .binvox file")),
        }
    };
    let first = line()?;
    let version = first.strip_prefix("#binvox").map(str::trim);
    match version {
        Some("1" | "2") => {}
        Some(other) => {
            let other = excerpt(other);
            return Err(content(format!(
                ".binvox version '{other}' is not supported, only 1 and 2"
            )));
        }
        None => return Err(content("not a .binvox file: it does not begin with '#binvox'")),
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
                let [x, z, y] = numbers(words).ok_or_else(malformed)?;
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
    match header.dims {
        [0, ..] => Err(content("the header has no 'dim'")),
        _ => Ok(header),
    }
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
