//! NumPy `.npy`: occupancy as an array of shape `(nx, ny, nz)`, index `[x, y, z]`.
//!
//! Written as `bool` in C order. Read as `bool`, `uint8` or `int8` (not zero is occupied), in C or
//! Fortran order. The array is never held as a whole: a file of 4096 cubed is 64 GiB, a grid of it
//! perhaps a hundredth of that. Writing takes a few MiB besides the grid; reading takes a few times
//! the grid, and 4 bytes for each brick of a slab, 1 MiB at 4096 cubed. Where the grid lies in the
//! world is not part of the format.
//!
//! The format is NumPy Enhancement Proposal 1 (Robert Kern, "A Simple File Format for NumPy
//! Arrays", 2007): a magic string, a version, the length of a header, the header as a Python
//! dictionary, and the elements.

use std::fmt;
use std::io::{self, BufRead, BufWriter, ErrorKind, Write};
use std::ops::Range;

use npyz::WriterBuilder;

use crate::error::GridError;
use crate::formats::{GridSpec, LoadedGrid, ReadError, WriteError, excerpt, lost_place};
use crate::grid::{BRICK, BrickKey, FULL, Mask, VoxelGrid, mask_voxels};
use crate::place::MAX_DIM;

/// NumPy's.
pub const SPEC: GridSpec = GridSpec {
    extension: "npy",
    name: "NumPy",
    carries: "up to 65,536 voxels an axis; occupancy only",
    read: Some(read),
    write: Some(|grid, _, out| write(grid, out)),
    check_dims: |_| Ok(()),
    file_size: |dims| Some(file_size(dims)),
    lost: lost_place,
};

const MAGIC: [u8; 6] = *b"\x93NUMPY";
/// Longest header that is read. NumPy's own limit is 10,000 bytes, ours are about 80.
const MAX_HEADER: u32 = 1 << 16;
/// One in each byte of a word.
pub(super) const ONES: u64 = 0x0101_0101_0101_0101;

/// Writes `grid` as `bool` in C order, one byte per voxel. Whatever the grid, that takes no more
/// than 4 MiB of memory.
///
/// # Errors
/// `out` fails.
pub fn write(grid: &VoxelGrid, out: &mut dyn Write) -> Result<(), WriteError> {
    let [nx, ny, nz] = grid.dims();
    let mut out = BufWriter::new(out);
    out.write_all(&header(grid.dims())?)?;
    // The voxels of one x and of one brick along y, which are contiguous in the file.
    let mut rows = vec![0; (BRICK.min(ny) * nz) as usize];
    let mut slab = Slab::default();
    for x in 0..nx {
        for y in 0..ny.div_ceil(BRICK) {
            let rows = &mut rows[..(BRICK.min(ny - y * BRICK) * nz) as usize];
            rows.fill(0);
            for run in slab.row(grid, x / BRICK, y) {
                run.spread(x % BRICK, rows, nz as usize);
            }
            out.write_all(rows)?;
        }
    }
    Ok(out.flush()?)
}

/// Bytes of a file that holds a grid of `dims` voxels.
#[must_use]
pub fn file_size(dims: [u32; 3]) -> u64 {
    let voxels: u64 = dims.iter().map(|&d| u64::from(d)).product();
    // Only a writer that fails could make the header fail.
    voxels + header(dims).map_or(0, |header| header.len() as u64)
}

fn header(dims: [u32; 3]) -> io::Result<Vec<u8>> {
    let mut header = Vec::new();
    npyz::WriteOptions::new_header_only()
        .dtype(<bool as npyz::AutoSerialize>::default_dtype())
        .shape(&dims.map(u64::from))
        .writer(&mut header)
        .write_header_only()?;
    Ok(header)
}

/// Bricks at hand for writing: of one `x`, and of as many `y` in a row as there is room for. All of
/// them, unless they are very many: then each brick is looked up once for its eight `x`.
#[derive(Default)]
struct Slab {
    x: u32,
    y: Range<u32>,
    /// Sorted by `y`, then `z`.
    runs: Vec<Run>,
}

/// Bricks in a row along `z` that hold the same voxels; full ones, for the most part.
struct Run {
    y: u32,
    z: Range<u32>,
    mask: Mask,
}

impl Slab {
    /// Runs that are kept; those of the last `y` may be more, by 8192 at most.
    const ROOM: usize = 1 << 15;

    /// The bricks at `x` and `y`, in bricks.
    fn row(&mut self, grid: &VoxelGrid, x: u32, y: u32) -> &[Run] {
        if self.x != x || !self.y.contains(&y) {
            self.gather(grid, x, y);
        }
        let from = self.runs.partition_point(|run| run.y < y);
        let row = &self.runs[from..];
        &row[..row.partition_point(|run| run.y == y)]
    }

    /// Takes bricks at `x`, from `y` on.
    fn gather(&mut self, grid: &VoxelGrid, x: u32, y: u32) {
        let [_, ny, nz] = grid.dims().map(|d| d.div_ceil(BRICK));
        self.runs.clear();
        self.runs.reserve_exact(Self::ROOM.min(ny as usize * nz as usize) + nz as usize);
        (self.x, self.y) = (x, y..y);
        while self.y.end < ny && self.runs.len() < Self::ROOM {
            let y = self.y.end;
            for z in 0..nz {
                let key = BrickKey::new([x, y, z]);
                grid.bricks_between(key, key).for_each(|(_, mask)| self.push(y, z, mask));
            }
            self.y.end += 1;
        }
    }

    fn push(&mut self, y: u32, z: u32, mask: Mask) {
        match self.runs.last_mut() {
            Some(run) if run.y == y && run.z.end == z && run.mask == mask => run.z.end += 1,
            _ => self.runs.push(Run { y, z: z..z + 1, mask }),
        }
    }
}

impl Run {
    /// Sets the bytes of the voxels at `x` within the bricks, in rows of `nz` bytes.
    fn spread(&self, x: u32, rows: &mut [u8], nz: usize) {
        let [begin, end] = [self.z.start, self.z.end].map(|z| (z * BRICK) as usize);
        let word = self.mask[x as usize].to_le_bytes();
        for (row, bits) in rows.chunks_exact_mut(nz).zip(word) {
            let bytes = bytes_of_bits(bits);
            for eight in row[begin..end.min(nz)].chunks_mut(BRICK as usize) {
                eight.copy_from_slice(&bytes[..eight.len()]);
            }
        }
    }
}

/// Byte `i` is bit `i`.
pub(super) fn bytes_of_bits(bits: u8) -> [u8; 8] {
    // Byte i keeps bit i alone, at most 128; adding 127 carries it, if set, to the byte's top.
    let spread = (u64::from(bits) * ONES) & 0x8040_2010_0804_0201;
    (((spread + 0x7f * ONES) >> 7) & ONES).to_le_bytes()
}

/// Bit `i` is byte `i`, where each byte is 0 or 1.
pub(super) fn bits_of_bytes(word: u64) -> u64 {
    // Byte i, at bit 8 i, is moved by 56 - 7 i to bit 56 + i; no two of the products meet.
    word.wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Reads a grid.
///
/// # Errors
/// Not `.npy`; another element type than `bool`, `uint8` and `int8`; not three dimensions, or one
/// of 0 or above [`MAX_DIM`]; a `bool` that is neither 0 nor 1; too few bytes, or too many.
pub fn read(input: &mut dyn BufRead) -> Result<LoadedGrid, ReadError> {
    let header = read_header(input)?;
    let bricks = read_bricks(input, &header)?;
    if !input.fill_buf()?.is_empty() {
        let voxels = header.voxels();
        return Err(content(format!("there are more bytes after the array's {voxels}")));
    }
    let grid = VoxelGrid::from_bricks(header.dims, bricks)?;
    Ok(LoadedGrid { grid, warnings: Vec::new() })
}

fn content(what: impl Into<String>) -> ReadError {
    ReadError::Content(what.into())
}

/// Fills `bytes`, or says what the file ends in.
fn fill(
    input: &mut dyn BufRead,
    bytes: &mut [u8],
    what: impl fmt::Display,
) -> Result<(), ReadError> {
    input.read_exact(bytes).map_err(|e| match e.kind() {
        ErrorKind::UnexpectedEof => content(format!("the file ends in {what}")),
        _ => ReadError::Io(e),
    })
}

/// What a header says.
#[derive(Debug, Clone, PartialEq)]
struct Header {
    dims: [u32; 3],
    is_bool: bool,
    is_fortran: bool,
}

impl Header {
    fn voxels(&self) -> u64 {
        self.dims.iter().map(|&d| u64::from(d)).product()
    }

    /// The array's axes from slowest to fastest in the file: C order, or Fortran order, which is
    /// the same with `x` and `z` exchanged. The exchange is its own inverse.
    fn file_order<T>(&self, [x, y, z]: [T; 3]) -> [T; 3] {
        if self.is_fortran { [z, y, x] } else { [x, y, z] }
    }
}

fn read_header(input: &mut dyn BufRead) -> Result<Header, ReadError> {
    let mut start = [0; 8];
    fill(input, &mut start, "the first 8 bytes: not an .npy file")?;
    let [magic @ .., major, minor] = start;
    if magic != MAGIC {
        return Err(content("not an .npy file: it does not begin with '\\x93NUMPY'"));
    }
    let mut length = [0; 4];
    match major {
        1 => fill(input, &mut length[..2], "the header's length")?,
        2 | 3 => fill(input, &mut length, "the header's length")?,
        _ => return Err(content(format!(".npy version {major}.{minor} is not supported"))),
    }
    let length = u32::from_le_bytes(length);
    if length > MAX_HEADER {
        return Err(content(format!("a header of {length} bytes: at most {MAX_HEADER} are read")));
    }
    let mut text = vec![0; length as usize];
    fill(input, &mut text, "the header")?;
    let text = String::from_utf8_lossy(&text);
    let fields = Fields::parse(&text)
        .ok_or_else(|| content(format!("the header is malformed: {}", excerpt(&text))))?;
    fields.interpret()
}

/// The header's dictionary, as text. Read by hand: `npyz` multiplies the dimensions before anybody
/// can check them, and panics where that overflows.
#[derive(Default)]
struct Fields<'a> {
    descr: Option<&'a str>,
    fortran_order: Option<&'a str>,
    shape: Option<&'a str>,
}

impl<'a> Fields<'a> {
    /// `None` where the text is not a dictionary of these three, in any order.
    fn parse(text: &'a str) -> Option<Self> {
        let mut fields = Self::default();
        let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim_start();
        while !rest.is_empty() {
            let (key, after) = quoted(rest)?;
            let after = after.trim_start().strip_prefix(':')?.trim_start();
            let (value, after) = value(after)?;
            let field = match key {
                "descr" => &mut fields.descr,
                "fortran_order" => &mut fields.fortran_order,
                "shape" => &mut fields.shape,
                _ => return None,
            };
            if field.replace(value).is_some() {
                return None;
            }
            rest = match after.trim_start() {
                "" => "",
                more => more.strip_prefix(',')?.trim_start(),
            };
        }
        Some(fields)
    }

    fn interpret(&self) -> Result<Header, ReadError> {
        let present = |field: Option<&'a str>, name| {
            field.ok_or_else(|| content(format!("the header has no '{name}'")))
        };
        let descr = present(self.descr, "descr")?;
        let is_bool = match descr.trim_start_matches(['|', '<', '>', '=']) {
            "b1" | "?" => true,
            "u1" | "i1" => false,
            _ => {
                let descr = excerpt(descr);
                let what = format!("elements of type {descr} are not supported: use bool or uint8");
                return Err(content(what));
            }
        };
        let is_fortran = match present(self.fortran_order, "fortran_order")? {
            "True" => true,
            "False" => false,
            other => return Err(content(format!("'fortran_order' is {}", excerpt(other)))),
        };
        Ok(Header { dims: dims(present(self.shape, "shape")?)?, is_bool, is_fortran })
    }
}

/// A Python string without escapes, and what follows it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    text[1..].split_once(quote)
}

/// A string's content, a tuple with its parentheses or a bare word, and what follows it. A list
/// is the type of a record, and taken to the end: it is not supported, whatever it holds.
fn value(text: &str) -> Option<(&str, &str)> {
    match text.chars().next()? {
        '\'' | '"' => quoted(text),
        '(' => Some(text.split_at(text.find(')')? + 1)),
        '[' => Some((text, "")),
        _ => {
            let (word, after) = text.split_at(text.find(',').unwrap_or(text.len()));
            Some((word.trim_end(), after))
        }
    }
}

/// The dimensions in a tuple.
fn dims(shape: &str) -> Result<[u32; 3], ReadError> {
    let shown = excerpt(shape);
    let malformed = || content(format!("the shape {shown} is malformed"));
    let inner = shape.strip_prefix('(').and_then(|s| s.strip_suffix(')')).ok_or_else(malformed)?;
    let numbers = inner.trim_end().trim_end_matches(',').split(',').map(str::trim);
    // NumPy under Python 2 wrote `(3L, 4L, 5L)`.
    let numbers = numbers.filter(|n| !n.is_empty()).map(|n| n.trim_end_matches('L').parse());
    let dims: Vec<u64> = numbers.collect::<Result<_, _>>().map_err(|_| malformed())?;
    let Ok(dims) = <[u64; 3]>::try_from(dims) else {
        return Err(content(format!("an array of shape {shown} is not a grid: use (nx, ny, nz)")));
    };
    match dims.iter().all(|&d| d > 0 && d <= u64::from(MAX_DIM)) {
        true => Ok(dims.map(|d| d as u32)),
        false => Err(GridError::Dims(dims).into()),
    }
}

/// The bricks of the array that follows the header, each once.
fn read_bricks(
    input: &mut dyn BufRead,
    header: &Header,
) -> Result<Vec<(BrickKey, Mask)>, ReadError> {
    let [slow, mid, fast] = header.file_order(header.dims).map(|d| d as usize);
    let mut bricks = Vec::new();
    let mut slab = ReadSlab { row: fast, ..ReadSlab::default() };
    let mut rows = vec![0; mid.min(8) * fast];
    for s in 0..slow {
        for m in (0..mid).step_by(8) {
            let rows = &mut rows[..(mid - m).min(8) * fast];
            let before = (s * mid + m) as u64 * fast as u64;
            let all = header.voxels();
            fill(input, rows, format_args!("the array, after {before} or more of {all} bytes"))?;
            if header.is_bool {
                check_bools(rows, before)?;
            }
            slab.gather(s % 8, m / 8, rows);
        }
        if s % 8 == 7 || s + 1 == slow {
            slab.drain(s / 8, header, &mut bricks);
        }
    }
    Ok(bricks)
}

fn check_bools(rows: &[u8], before: u64) -> Result<(), ReadError> {
    // Folded rather than searched: this way it runs at the speed of memory.
    if rows.iter().fold(0, |all, byte| all | byte) <= 1 {
        return Ok(());
    }
    let index = rows.iter().position(|&byte| byte > 1).unwrap_or_default();
    let (value, index) = (rows[index], before + index as u64);
    Err(content(format!("element {index} is {value}, but a bool is 0 or 1")))
}

/// A slab one brick thick as it is read, with the file's axes: word = slowest, bit = `8 mid + fast`.
#[derive(Default)]
struct ReadSlab {
    /// Voxels along the fastest axis.
    row: usize,
    /// One for each brick, fastest axis first: 0 where no voxel has been met, else the number of
    /// its mask, from 1. Grows with what is read, so that a lying header allocates nothing.
    numbers: Vec<u32>,
    /// The masks, with their brick's place in `numbers`.
    masks: Vec<(usize, Mask)>,
}

impl ReadSlab {
    /// Takes the up to eight rows at `slow` within the slab and at brick `mid`.
    fn gather(&mut self, slow: usize, mid: usize, rows: &[u8]) {
        let bricks = self.row.div_ceil(8);
        let begin = mid * bricks;
        self.numbers.resize(self.numbers.len().max(begin + bricks), 0);
        for (m, row) in rows.chunks_exact(self.row).enumerate() {
            let (eights, rest) = row.as_chunks::<8>();
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            for (place, eight) in (begin..begin + bricks).zip(eights.iter().chain([&last])) {
                let word = u64::from_le_bytes(*eight);
                if word != 0 {
                    let bits = bits_of_bytes(ones_where_not_zero(word)) << (8 * m);
                    self.mask(place)[slow] |= bits;
                }
            }
        }
    }

    fn mask(&mut self, place: usize) -> &mut Mask {
        if self.numbers[place] == 0 {
            self.masks.push((place, [0; 8]));
            // At most 8192 squared.
            self.numbers[place] = self.masks.len() as u32;
        }
        &mut self.masks[self.numbers[place] as usize - 1].1
    }

    /// Moves the bricks of the slab at `slow` (in bricks) that hold a voxel to `bricks`.
    fn drain(&mut self, slow: usize, header: &Header, bricks: &mut Vec<(BrickKey, Mask)>) {
        let per_row = self.row.div_ceil(8);
        for (place, mask) in self.masks.drain(..) {
            self.numbers[place] = 0;
            let position = [slow, place / per_row, place % per_row].map(|b| b as u32);
            let key = BrickKey::new(header.file_order(position));
            bricks.push((key, if header.is_fortran { exchange_x_z(&mask) } else { mask }));
        }
    }
}

/// Each byte that is not 0 becomes 1.
fn ones_where_not_zero(word: u64) -> u64 {
    let low_bits = 0x7f * ONES;
    ((((word & low_bits) + low_bits) | word) >> 7) & ONES
}

fn exchange_x_z(mask: &Mask) -> Mask {
    if *mask == FULL {
        return FULL;
    }
    mask_voxels([0; 3], *mask).fold([0; 8], |mut turned: Mask, [x, y, z]| {
        turned[z as usize] |= 1 << (8 * y + x);
        turned
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_bits_convert_as_defined() {
        for bits in 0..=u8::MAX {
            let bytes = bytes_of_bits(bits);
            assert_eq!(bytes, std::array::from_fn(|i| bits >> i & 1));
            assert_eq!(bits_of_bytes(u64::from_le_bytes(bytes)), u64::from(bits));
        }
        for (byte, one) in (0..=u8::MAX).map(|byte| (byte, u8::from(byte != 0))) {
            let word = u64::from_le_bytes([byte, 0, 255, byte, byte, 0, 0, byte]);
            let ones = u64::from_le_bytes([one, 0, 1, one, one, 0, 0, one]);
            assert_eq!(ones_where_not_zero(word), ones, "{byte}");
        }
    }

    #[test]
    fn headers_are_read_in_any_order_and_quoting() {
        let parse = |text| Fields::parse(text).map(|fields| fields.interpret().ok());
        let header = Header { dims: [3, 4, 5], is_bool: true, is_fortran: false };
        for text in [
            "{'descr': '|b1', 'fortran_order': False, 'shape': (3, 4, 5), }  \n",
            "{ 'shape':(3L,4L,5L),'fortran_order':False ,'descr' :\"|b1\"}",
        ] {
            assert_eq!(parse(text), Some(Some(header.clone())), "{text}");
        }
    }

    #[test]
    fn headers_that_lie_or_are_malformed_are_refused() {
        let header = |text: &str| {
            Fields::parse(text).ok_or_else(|| content("malformed")).and_then(|f| f.interpret())
        };
        let good = "{'descr': '|b1', 'fortran_order': False, 'shape': (3, 4, 5), }";
        assert!(header(good).is_ok());
        for (from, to) in [
            ("|b1", "<f4"),
            ("'|b1'", "[('a', '|b1')]"),
            ("'|b1'", "\u{e9}"),
            ("(3, 4, 5)", "(3, 4)"),
            ("(3, 4, 5)", "(3, 4, 5, 6)"),
            ("(3, 4, 5)", "(3, 4, 0)"),
            ("(3, 4, 5)", "(3, 4, -5)"),
            ("(3, 4, 5)", "(3, 4, 65537)"),
            ("(3, 4, 5)", "(3, 4, 99999999999999999999999)"),
            ("(3, 4, 5)", "(4294967296, 4294967296, 4294967296)"),
            ("(3, 4, 5)", "((((3, 4, 5))))"),
            ("(3, 4, 5)", "3, 4, 5"),
            ("(3, 4, 5)", "(3, 4, 5"),
            ("(3, 4, 5)", ""),
            ("False", "Maybe"),
            ("'shape'", "'descr'"),
            ("'shape'", "'Shape'"),
            ("'shape'", "'shape"),
            ("{", "["),
        ] {
            let text = good.replace(from, to);
            assert!(header(&text).is_err(), "{text}");
        }
    }
}
