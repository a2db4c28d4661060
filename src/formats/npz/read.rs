//! Reading: selects the arrays that make a grid.

use std::io::{BufRead, BufReader, Read};

use super::{OCCUPIED, ORIGIN, RGBA, UP, VOXEL_SIZE, npy_header, zip};
use crate::formats::brick_colors::TOO_MANY_COLORS;
use crate::formats::description::is_possible;
use crate::formats::npy::rgba::ColorArray;
use crate::formats::{LoadedGrid, ReadError, npy};
use crate::grid::{Up, VoxelGrid, World};

/// Most bytes read of an array of the world position.
const MAX_SMALL: u64 = 1 << 10;

/// Reads a grid.
///
/// # Errors
/// Not a zip archive, or a damaged one; no array of voxels; the errors of [`npy::read`]; an
/// impossible world position.
pub fn read(input: &mut dyn BufRead) -> Result<LoadedGrid, ReadError> {
    let mut arrays = Arrays::default();
    zip::read(input, |name, content| arrays.take(name, content))?;
    arrays.finish()
}

fn content(what: impl Into<String>) -> ReadError {
    ReadError::Content(what.into())
}

/// The arrays found so far.
#[derive(Default)]
struct Arrays {
    /// The array of voxels, with its name.
    grid: Option<(String, VoxelGrid)>,
    rgba: Option<ColorArray>,
    origin: Option<[f64; 3]>,
    voxel_size: Option<f64>,
    up: Option<Up>,
    ignored: Vec<String>,
    warnings: Vec<String>,
}

impl Arrays {
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
        if self.rgba.is_some() {
            return Err(self::content(format!("{RGBA} is there twice")));
        }
        match ColorArray::read(&mut BufReader::new(content)) {
            Ok(rgba) => self.rgba = Some(rgba),
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
                // An array of another kind.
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

    /// Sets the grid's colours, or makes the grid from them.
    fn color(&mut self) -> Result<(), ReadError> {
        let Some(rgba) = self.rgba.take() else { return Ok(()) };
        match &mut self.grid {
            Some((name, grid)) if name == OCCUPIED && grid.dims() == rgba.dims => {
                grid.colors = rgba.colors(grid);
                if grid.colors.is_none() {
                    self.warnings.push(format!("{RGBA} is ignored: {TOO_MANY_COLORS}"));
                }
            }
            Some((name, grid)) if name == OCCUPIED => {
                let [[x, y, z], [nx, ny, nz]] = [rgba.dims, grid.dims()];
                self.warnings.push(format!(
                    "{RGBA} is ignored: it has {x}x{y}x{z} voxels, and {OCCUPIED} {nx}x{ny}x{nz}"
                ));
            }
            _ => {
                let before = self.grid.replace((RGBA.to_owned(), rgba.grid()?));
                self.ignored.extend(before.map(|(name, _)| name));
            }
        }
        Ok(())
    }
}

/// The elements of an array of exactly this type and shape.
fn small<const N: usize>(
    content: &mut dyn Read,
    descr: &str,
    shape: &str,
    name: &str,
) -> Result<[u8; N], ReadError> {
    let mut bytes = Vec::new();
    content.take(MAX_SMALL).read_to_end(&mut bytes)?;
    let malformed = || self::content(format!("{name} is no array of {descr} of shape {shape}"));
    let words = |header: &[u8]| {
        let text = String::from_utf8_lossy(header);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let (header, elements) = bytes.split_last_chunk().ok_or_else(malformed)?;
    // The texts, after magic string, version and length; the length depends on the padding.
    let is_same =
        header.len() > 10 && words(&header[10..]) == words(&npy_header(descr, shape)[10..]);
    is_same.then_some(*elements).ok_or_else(malformed)
}
