//! Reading: the arrays that make a grid, out of those that there are.

use std::io::{BufRead, BufReader, Read};

use super::{OCCUPIED, ORIGIN, RGBA, UP, VOXEL_SIZE, npy_header, zip};
use crate::formats::brick_colors::TOO_MANY_COLORS;
use crate::formats::description::is_possible;
use crate::formats::npy::rgba::Painted;
use crate::formats::{LoadedGrid, ReadError, npy};
use crate::grid::{Up, VoxelGrid, World};

/// The most of an array that says where a grid lies.
const LONGEST: u64 = 1 << 10;

/// Reads a grid.
///
/// # Errors
/// No zip archive, one that is damaged, or in which there is no array `occupied`, nor just one array;
/// what [`npy::read`] refuses; a place where no grid can lie.
pub fn read(input: &mut dyn BufRead) -> Result<LoadedGrid, ReadError> {
    let mut found = Found::default();
    zip::read(input, |name, content| found.take(name, content))?;
    found.finish()
}

fn content(what: impl Into<String>) -> ReadError {
    ReadError::Content(what.into())
}

#[derive(Default)]
struct Found {
    grid: Option<(String, VoxelGrid)>,
    painted: Option<Painted>,
    origin: Option<[f64; 3]>,
    voxel_size: Option<f64>,
    up: Option<Up>,
    ignored: Vec<String>,
    warnings: Vec<String>,
}

impl Found {
    fn take(&mut self, name: &str, content: &mut dyn Read) -> Result<(), ReadError> {
        match name {
            ORIGIN => {
                let numbers = small::<24>(content, "<f8", "(3,)", name)?;
                let (numbers, _) = numbers.as_chunks();
                self.origin = Some([0, 1, 2].map(|a| f64::from_le_bytes(numbers[a])));
            }
            VOXEL_SIZE => {
                let number = small(content, "<f8", "()", name)?;
                self.voxel_size = Some(f64::from_le_bytes(number));
            }
            UP => {
                let letter = u32::from_le_bytes(small(content, "<U1", "()", name)?);
                self.up = Some(match char::from_u32(letter) {
                    Some('y') => Up::Y,
                    Some('z') => Up::Z,
                    _ => return Err(self::content("'up' is neither 'y' nor 'z'")),
                });
            }
            RGBA => self.take_colors(content)?,
            _ => self.take_array(name, content)?,
        }
        Ok(())
    }

    fn take_colors(&mut self, content: &mut dyn Read) -> Result<(), ReadError> {
        if self.painted.is_some() {
            return Err(self::content(format!("{RGBA} is there twice")));
        }
        match Painted::read(&mut BufReader::new(content)) {
            Ok(painted) => self.painted = Some(painted),
            Err(ReadError::Io(error)) => return Err(error.into()),
            Err(error) => self.warnings.push(format!("{RGBA} is ignored: {error}")),
        }
        Ok(())
    }

    fn take_array(&mut self, name: &str, content: &mut dyn Read) -> Result<(), ReadError> {
        let has_grid = self.grid.as_ref().is_some_and(|(name, _)| name == OCCUPIED);
        if has_grid && name == OCCUPIED {
            return Err(self::content(format!("{OCCUPIED} is there twice")));
        }
        let array = match has_grid {
            true => None,
            false => match npy::read(&mut BufReader::new(content)) {
                Ok(loaded) => Some(loaded.grid),
                Err(error) if name == OCCUPIED => return Err(error),
                Err(ReadError::Io(error)) => return Err(error.into()),
                // Arrays of other kinds may be there.
                Err(_) => None,
            },
        };
        match array {
            Some(grid) if name == OCCUPIED || self.grid.is_none() => {
                let before = self.grid.replace((name.to_owned(), grid));
                self.ignored.extend(before.map(|(name, _)| name));
            }
            _ => self.ignored.push(name.to_owned()),
        }
        Ok(())
    }

    fn finish(mut self) -> Result<LoadedGrid, ReadError> {
        self.color()?;
        let (name, mut grid) = self.grid.ok_or_else(|| {
            content(format!("there is no array of voxels: {OCCUPIED}, of shape (nx, ny, nz)"))
        })?;
        if let (Some(origin), Some(voxel_size)) = (self.origin, self.voxel_size) {
            let world = World { origin, voxel_size, up: self.up.unwrap_or_default() };
            if !is_possible(&world) {
                let what = format!("a grid cannot lie at {origin:?} with voxels of {voxel_size}");
                return Err(content(what));
            }
            grid.world = Some(world);
        }
        let mut warnings = self.warnings;
        if !self.ignored.is_empty() {
            let n = self.ignored.len();
            warnings.push(format!(
                "{n} more of its arrays are ignored: the voxels are those of {name}"
            ));
        }
        Ok(LoadedGrid { grid, warnings })
    }

    /// Gives the grid its colours, or makes it of them.
    fn color(&mut self) -> Result<(), ReadError> {
        let Some(painted) = self.painted.take() else { return Ok(()) };
        match &mut self.grid {
            Some((name, grid)) if name == OCCUPIED && grid.dims() == painted.dims => {
                grid.colors = painted.colors(grid);
                if grid.colors.is_none() {
                    self.warnings.push(format!("{RGBA} is ignored: {TOO_MANY_COLORS}"));
                }
            }
            Some((name, grid)) if name == OCCUPIED => {
                let [[x, y, z], [nx, ny, nz]] = [painted.dims, grid.dims()];
                self.warnings.push(format!(
                    "{RGBA} is ignored: it has {x}x{y}x{z} voxels, and {OCCUPIED} {nx}x{ny}x{nz}"
                ));
            }
            _ => {
                let before = self.grid.replace((RGBA.to_owned(), painted.grid()?));
                self.ignored.extend(before.map(|(name, _)| name));
            }
        }
        Ok(())
    }
}

/// The elements of an array of just this type and shape.
fn small<const N: usize>(
    content: &mut dyn Read,
    descr: &str,
    shape: &str,
    name: &str,
) -> Result<[u8; N], ReadError> {
    let mut bytes = Vec::new();
    content.take(LONGEST).read_to_end(&mut bytes)?;
    let malformed = || self::content(format!("{name} is no array of {descr} of shape {shape}"));
    let words = |header: &[u8]| {
        let text = String::from_utf8_lossy(header);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let (header, elements) = bytes.split_last_chunk().ok_or_else(malformed)?;
    // All after the magic string, the version and the length, which depends on the spaces.
    let is_so = header.len() > 10 && words(&header[10..]) == words(&npy_header(descr, shape)[10..]);
    is_so.then_some(*elements).ok_or_else(malformed)
}
