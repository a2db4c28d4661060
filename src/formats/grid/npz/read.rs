//! Reading: selects the arrays that make a grid.

use std::array;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};

use super::{
    COORDS, DISTANCES, OCCUPIED, ORIGIN, RGBA, UP, VOXEL_SIZE, WIDTH, descr_of, file_of,
    file_of_names, zip,
};
use crate::formats::grid::level_set;
use crate::formats::grid::npy;
use crate::formats::grid::npy::header::{Element, Fields, Rows};
use crate::formats::grid::npy::rgba::ColorArray;
use crate::formats::io::bytes::{Budget, ended, read_exactly};
use crate::formats::{LoadedGrid, ReadError, check_memory, content, excerpt, stated_place};
use crate::grid::{
    Attribute, AttributeSet, Attributes, BRICK, Bits, BrickKey, Channel, Mask, Up, VoxelGrid,
    brick_slot, own_values,
};
use crate::solid::distance::{DistanceField, FieldError};

/// The first array that NumPy saves without a name.
const UNNAMED: &str = "arr_0.npy";
/// Maximum bytes read of an array of the world position.
const MAX_SMALL: u64 = 1 << 10;

pub fn read(input: &mut dyn BufRead, limit: u64) -> Result<LoadedGrid, ReadError> {
    let mut arrays = Arrays { limit, ..Arrays::default() };
    zip::read(input, |name, content| arrays.take(name, content))?;
    arrays.finish()
}

/// The arrays found so far.
#[derive(Default)]
struct Arrays {
    /// The array of voxels, with its name and a doubt about its meaning.
    grid: Option<(String, VoxelGrid, Option<String>)>,
    rgba: Option<ColorArray>,
    origin: Option<[f64; 3]>,
    voxel_size: Option<f64>,
    up: Option<Up>,
    /// `coords`, `distances`, attributes and names.
    rows: BTreeMap<String, (Rows, Vec<u8>)>,
    row_bytes: u64,
    /// The width of the band of distances, in voxels.
    width: Option<f64>,
    ignored: Vec<String>,
    /// Bytes of memory.
    limit: u64,
    /// The first array that holds no voxels, and why.
    unread: Option<String>,
    warnings: Vec<String>,
}

impl Arrays {
    /// Bytes of memory of the arrays.
    fn bytes(&self) -> u64 {
        let grid = self.grid.as_ref().map_or(0, |(_, grid, _)| grid.bytes());
        self.row_bytes.saturating_add(grid + self.rgba.as_ref().map_or(0, |rgba| rgba.bytes))
    }

    /// Bytes of memory that another array may take.
    fn left(&self) -> u64 {
        self.limit.saturating_sub(self.bytes())
    }

    fn take(&mut self, name: &str, content: &mut dyn Read) -> Result<(), ReadError> {
        let named = |error| match error {
            ReadError::Content(what) => self::content(format!("{name}: {what}")),
            error => error,
        };
        match name {
            ORIGIN => {
                let origin = numbers(content, &["(3,)"], "three numbers");
                self.origin = Some(origin.map_err(named)?);
            }
            VOXEL_SIZE => {
                let [size] = numbers(content, &["()", "(1,)"], "one number").map_err(named)?;
                self.voxel_size = Some(size);
            }
            UP => self.up = Some(up(content).map_err(named)?),
            WIDTH => match numbers(content, &["()", "(1,)"], "one number") {
                Ok([width]) => self.width = Some(width),
                // An array of another program.
                Err(ReadError::Content(_)) => self.ignored.push(name.to_owned()),
                Err(error) => return Err(error),
            },
            RGBA => self.take_colors(content)?,
            _ => self.take_other(name, BufReader::new(content))?,
        }
        Ok(())
    }

    fn take_colors(&mut self, content: &mut dyn Read) -> Result<(), ReadError> {
        ensure!(self.rgba.is_none(), "{RGBA} appears twice");
        match ColorArray::read(&mut BufReader::new(content), self.left()) {
            Ok(rgba) => self.rgba = Some(rgba),
            Err(error @ (ReadError::Io(_) | ReadError::Cancelled)) => return Err(error),
            Err(error) => self.warnings.push(format!("{RGBA} is ignored: {error}")),
        }
        Ok(())
    }

    /// Takes rows, or else an array that may be of voxels.
    fn take_other(&mut self, name: &str, mut content: impl BufRead) -> Result<(), ReadError> {
        let fields = Fields::read(&mut content);
        let rows = fields.as_ref().ok().and_then(Fields::rows);
        match rows {
            Some(rows) if is_rows(name) => self.take_rows(name, rows, &mut content),
            _ => {
                let limit = self.left();
                self.take_array(name, || {
                    let mut header = fields?.grid()?;
                    if name == OCCUPIED {
                        header = header.as_batch().unwrap_or(header);
                    }
                    Ok((npy::read_grid(&mut content, &header, limit)?, header.doubt()))
                })
            }
        }
    }

    fn take_rows(
        &mut self,
        name: &str,
        rows: Rows,
        content: &mut dyn BufRead,
    ) -> Result<(), ReadError> {
        let length = rows.count.saturating_mul(rows.row);
        // Texts are kept as such too.
        let texts = if rows.descr.starts_with("<U") { rows.count.saturating_mul(64) } else { 0 };
        self.row_bytes = self.row_bytes.saturating_add(length).saturating_add(texts);
        // Twice, while the buffer grows.
        check_memory(self.bytes().saturating_add(length), self.limit)?;
        let bytes = read_exactly(content, length);
        let bytes = bytes.map_err(|error| ended(error, format_args!("the array {name}")))?;
        let before = self.rows.insert(name.to_owned(), (rows, bytes));
        ensure!(before.is_none(), "{name} appears twice");
        Ok(())
    }

    fn take_array(
        &mut self,
        name: &str,
        read: impl FnOnce() -> Result<(VoxelGrid, Option<String>), ReadError>,
    ) -> Result<(), ReadError> {
        let is_occupied = name == OCCUPIED;
        if self.grid.as_ref().is_some_and(|(name, ..)| name == OCCUPIED) {
            ensure!(!is_occupied, "{OCCUPIED} appears twice");
            self.ignored.push(name.to_owned());
            return Ok(());
        }
        match read() {
            Ok((grid, doubt)) if is_occupied || self.grid.is_none() => {
                let before = self.grid.replace((name.to_owned(), grid, doubt));
                self.ignored.extend(before.map(|(name, ..)| name));
            }
            Ok(_) => self.ignored.push(name.to_owned()),
            Err(error @ (ReadError::Io(_) | ReadError::Cancelled)) => return Err(error),
            Err(error) if is_occupied => return Err(error),
            // An array of another kind.
            Err(error) => {
                self.unread.get_or_insert_with(|| format!("{}: {error}", excerpt(name)));
                self.ignored.push(name.to_owned());
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<LoadedGrid, ReadError> {
        self.color()?;
        let (name, mut grid, doubt) = self.grid.ok_or_else(|| {
            let unread = self.unread.map_or(String::new(), |why| format!("; {why}"));
            content(format!(
                "there is no array of voxels: {OCCUPIED}, of shape (nx, ny, nz){unread}"
            ))
        })?;
        grid.world.up = self.up.unwrap_or_default();
        let (place, warning) = stated_place(self.origin, self.voxel_size, [ORIGIN, VOXEL_SIZE])?;
        grid.world.place = place;
        self.warnings.extend(warning);
        let colors = grid.colors.as_ref().map_or(0, |colors| colors.bytes());
        let taken = self.row_bytes.saturating_add(grid.bytes() + colors);
        let left = self.limit.saturating_sub(taken);
        let (mut ignored, mut warnings) = (self.ignored, self.warnings);
        let has_distances =
            self.rows.contains_key(DISTANCES) || ignored.iter().any(|name| name == DISTANCES);
        let mut distances = None;
        if has_distances {
            match self::distances(&grid, &self.rows, self.width, left)? {
                Ok(field) => distances = Some(field),
                Err(why) => warnings.push(level_set::unread(why)),
            }
        }
        let taken = distances.as_ref().map_or(0, DistanceField::bytes);
        grid.attributes = attributes(&grid, &mut self.rows, left.saturating_sub(taken))?;
        warnings.extend(doubt);
        ignored.extend(self.rows.into_keys());
        if has_distances {
            ignored.retain(|name| ![COORDS, DISTANCES, WIDTH].contains(&&name[..]));
        } else {
            ignored.extend(self.width.map(|_| WIDTH.to_owned()));
        }
        let (rows, ignored): (Vec<_>, Vec<_>) = ignored.into_iter().partition(|name| is_rows(name));
        if !rows.is_empty() {
            let (names, are) = (rows.join(", "), if rows.len() == 1 { "is" } else { "are" });
            warnings.push(format!(
                "{names} {are} ignored: an attribute has a row for each occupied voxel, whose \
                 coordinates are those of {COORDS} in int32; indices are int32, other numbers \
                 float32"
            ));
        }
        let (n, name) = (ignored.len(), excerpt(&name));
        if n > 0 {
            warnings.push(format!(
                "{n} more of its arrays are ignored: the voxels are those of {name}"
            ));
        } else if ![OCCUPIED, RGBA, UNNAMED].contains(&&name[..]) {
            warnings.push(format!("the voxels are those of {name}: there is no {OCCUPIED}"));
        }
        Ok(LoadedGrid { distances, ..LoadedGrid::new(grid, warnings) })
    }

    /// Sets the grid's colours, or makes the grid from them.
    fn color(&mut self) -> Result<(), ReadError> {
        let Some(rgba) = self.rgba.take() else { return Ok(()) };
        match &mut self.grid {
            Some((name, grid, _)) if name == OCCUPIED && grid.dims() == rgba.dims => {
                let used = self.row_bytes + grid.bytes();
                match rgba.colors(grid, Budget { used, limit: self.limit }) {
                    Ok(colors) => grid.colors = Some(colors),
                    Err(error) => self.warnings.push(format!("{RGBA} is ignored: {error}")),
                }
            }
            Some((name, grid, _)) if name == OCCUPIED => {
                let [[x, y, z], [nx, ny, nz]] = [rgba.dims, grid.dims()];
                self.warnings.push(format!(
                    "{RGBA} is ignored: it has {x}x{y}x{z} voxels, and {OCCUPIED} {nx}x{ny}x{nz}"
                ));
            }
            _ => {
                let left = self.left();
                let before = self.grid.replace((RGBA.to_owned(), rgba.grid(left)?, None));
                self.ignored.extend(before.map(|(name, ..)| name));
            }
        }
        Ok(())
    }
}

/// Whether an array of this name may be of distances or of [`attributes`].
fn is_rows(name: &str) -> bool {
    let mut all = Attribute::ALL.iter();
    [COORDS, DISTANCES].contains(&name)
        || all.any(|&of| name == file_of(of) || name == file_of_names(of))
}

/// The distance field of a solid, from `width` and the arrays `coords` and `distances` in `rows`,
/// within `limit` bytes of memory. The inner error, a warning, names an array of unsuitable type or
/// shape: other programs use these names too.
fn distances(
    inside: &VoxelGrid,
    rows: &BTreeMap<String, (Rows, Vec<u8>)>,
    width: Option<f64>,
    limit: u64,
) -> Result<Result<DistanceField, String>, ReadError> {
    let array = |name: &str, columns: u64, is_float: bool| {
        let (array, bytes) = rows.get(name)?;
        let of = Element::of(&array.descr).filter(|of| of.is_float() == is_float)?;
        (array.columns == columns).then_some((of, bytes, array))
    };
    let Some((of_distances, distances, Rows { count, .. })) = array(DISTANCES, 1, true) else {
        return Ok(Err(format!("{DISTANCES} is not float32 or float64 of shape (n,)")));
    };
    let Some((of_coords, coords, rows)) = array(COORDS, 3, false) else {
        return Ok(Err(format!("{COORDS} is not int32 or int64 of shape (n, 3)")));
    };
    let Some(width) = width.map(|width| width as f32) else {
        return Ok(Err(format!("{WIDTH} is not one number")));
    };
    ensure!(rows.count == *count, "{COORDS} has {} rows, and {DISTANCES} {count}", rows.count);
    let count = *count as usize;
    let [of_row, of_axis] = if rows.is_fortran { [1, count] } else { [3, 1] };
    let integers = |row: usize| -> [i128; 3] {
        let at = |axis| (row * of_row + axis * of_axis) * of_coords.bytes;
        array::from_fn(|axis| of_coords.integer(&coords[at(axis)..]))
    };
    let dims = inside.dims().map(i128::from);
    let is_outside = |row: &usize| (0..3).any(|a| !(0..dims[a]).contains(&integers(*row)[a]));
    if let Some(row) = (0..count).find(is_outside) {
        bail!("row {row} of {COORDS}, {:?}, lies outside a grid of {dims:?}", integers(row));
    }
    let row = |row: usize| {
        let number = of_distances.number(&distances[row * of_distances.bytes..]);
        // A float64 below the width stays below.
        let most = if number.abs() < width.into() { width.next_down() } else { f32::INFINITY };
        (integers(row).map(|c| c as u32), (number as f32).clamp(-most, most))
    };
    // The rows, as many bricks in a list that grows, the distances, and the copy of the solid.
    let key_of = |at| BrickKey::of_voxel(row(at).0);
    let bricks = (0..count).filter(|&at| at == 0 || key_of(at) != key_of(at - 1)).count();
    let per_row = (size_of::<([u32; 3], f32)>() + size_of::<f32>()) as u64;
    let per_brick = 3 * size_of::<(BrickKey, Mask)>() as u64;
    let bytes = per_row * count as u64 + per_brick * bricks as u64;
    check_memory(inside.bytes().saturating_add(bytes), limit)?;
    let voxels = (0..count).map(row).collect();
    let field = DistanceField::of_voxels(width, inside.without_values(), voxels);
    let field = field.map_err(|error| {
        let array = if matches!(error, FieldError::Width(_)) { WIDTH } else { DISTANCES };
        content(format!("{array}: {error}"))
    });
    Ok(Ok(field?))
}

/// Takes the attributes of `grid` from `rows`, within `limit` bytes of memory, if `coords` are its
/// voxels, each once.
fn attributes(
    grid: &VoxelGrid,
    rows: &mut BTreeMap<String, (Rows, Vec<u8>)>,
    limit: u64,
) -> Result<Option<Attributes>, ReadError> {
    let has = |(array, _): &(Rows, Vec<u8>), descr: &str, columns: usize| {
        let Rows { count, columns: found, is_fortran, .. } = *array;
        let is_own = count == grid.occupied() && found == columns as u64 && !is_fortran;
        array.descr == descr && is_own
    };
    let is_own = |of: Attribute| {
        let array = rows.get(&file_of(of));
        array.is_some_and(|array| has(array, descr_of(of), of.components()))
    };
    let set: AttributeSet = Attribute::ALL.iter().copied().filter(|&of| is_own(of)).collect();
    let coords = rows.get(COORDS).filter(|array| has(array, "<i4", 3));
    let Some((_, coords)) = coords.filter(|_| !set.is_empty()) else { return Ok(None) };
    let Some(order) = order_of(grid, coords.as_chunks().0, limit)? else { return Ok(None) };
    // The values, and one attribute in a list of twice the size of its values as it grows.
    let numbers: usize = set.iter().map(|of| of.components()).sum();
    let bytes = 4 * numbers + 2 * size_of::<Bits>();
    check_memory(size_of_val(&order[..]) as u64 + grid.occupied() * bytes as u64, limit)?;
    rows.remove(COORDS);
    let names = set.iter().filter(|of| of.has_names()).filter_map(|&of| {
        let is_text = |(array, _): &(Rows, Vec<u8>)| array.descr.starts_with("<U");
        rows.get(&file_of_names(of)).filter(|array| is_text(array))?;
        let (Rows { row, .. }, bytes) = rows.remove(&file_of_names(of))?;
        Some((of, bytes.chunks_exact(row as usize).map(text_of).collect()))
    });
    let names: BTreeMap<Attribute, Vec<String>> = names.collect();
    let mut channels = BTreeMap::new();
    for of in set {
        let Some((_, bytes)) = rows.remove(&file_of(of)) else { continue };
        let names = names.get(&of).map(Vec::len);
        check_values(of, &bytes, names)
            .map_err(|(row, error)| content(format!("{}, row {row}: {error}", file_of(of))))?;
        channels.insert(of, channel(grid, of, &bytes, &order));
    }
    Ok(Some(Attributes::new(names, channels)))
}

/// [`Attribute::check`] of all values; an error has the row.
pub(in crate::formats::grid) fn check_values(
    of: Attribute,
    bytes: &[u8],
    names: Option<usize>,
) -> Result<(), (usize, String)> {
    let mut rows = bytes.chunks_exact(4 * of.components()).enumerate();
    rows.try_for_each(|(n, row)| of.check(bits_of(row), names).map_err(|error| (n, error)))
}

/// Little-endian components.
fn bits_of(row: &[u8]) -> Bits {
    let mut numbers = row.as_chunks().0.iter().map(|&bytes| u32::from_le_bytes(bytes));
    array::from_fn(|_| numbers.next().unwrap_or_default())
}

/// The row of each voxel of `grid`, in the grid's order; empty if the rows have this order, `None`
/// if those of `coords` are not its voxels, each once. Takes at most `limit` bytes of memory.
fn order_of(
    grid: &VoxelGrid,
    coords: &[[u8; 12]],
    limit: u64,
) -> Result<Option<Vec<usize>>, ReadError> {
    let voxel_at = |row: usize| bits_of(&coords[row]);
    if (0..).zip(grid.voxels()).all(|(row, voxel)| voxel_at(row) == voxel) {
        return Ok(Some(Vec::new()));
    }
    // The order, and each row with its key while they are sorted.
    let key_bytes = size_of::<([u32; 3], usize, usize)>();
    check_memory(grid.occupied() * (key_bytes + size_of::<usize>()) as u64, limit)?;
    let mut order: Vec<usize> = (0..coords.len()).collect();
    order.sort_by_cached_key(|&row| {
        let voxel @ [x, y, z] = voxel_at(row);
        ([z, y, x].map(|c| c / BRICK), brick_slot(voxel))
    });
    let is_order = grid.voxels().zip(&order).all(|(voxel, &row)| voxel_at(row) == voxel);
    Ok(is_order.then_some(order))
}

/// An attribute with these little-endian components, a row a voxel, in an order by [`order_of`].
fn channel(grid: &VoxelGrid, attribute: Attribute, bytes: &[u8], order: &[usize]) -> Channel {
    let size = 4 * attribute.components();
    let row_of = |n: usize| order.get(n).copied().unwrap_or(n);
    let mut rows = (0..bytes.len() / size).map(|n| &bytes[row_of(n) * size..][..size]);
    let bricks = grid.bricks().map(|(key, mask)| known_values(attribute, key, mask, &mut rows));
    Channel::from_bricks(attribute, bricks.collect())
}

/// The voxels of a brick that have the attribute, and their values, by the next of the `rows`, one
/// for each voxel in `mask`.
pub(in crate::formats::grid) fn known_values<'a>(
    attribute: Attribute,
    key: BrickKey,
    mask: Mask,
    rows: &mut impl Iterator<Item = &'a [u8]>,
) -> (BrickKey, Mask, Vec<Bits>) {
    let none = attribute.none();
    let (known, own) = own_values(mask, none, |_, _| rows.next().map_or(none, bits_of));
    (key, known, own)
}

/// A text in UTF-32 that ends at a zero. A number that is no character is a question mark.
fn text_of(row: &[u8]) -> String {
    let numbers = row.as_chunks().0.iter().map(|&bytes| u32::from_le_bytes(bytes));
    numbers.take_while(|&number| number != 0).map(|n| char::from_u32(n).unwrap_or('?')).collect()
}

/// Reads an array of one of these shapes as `f64`, of one of four types and either byte order.
fn numbers<const N: usize>(
    input: &mut dyn Read,
    shapes: &[&str],
    what: &str,
) -> Result<[f64; N], ReadError> {
    let (fields, bytes) = small(input)?;
    let descr = fields.get("descr").unwrap_or_default();
    let shape = fields.get("shape").unwrap_or_default().replace(' ', "");
    let is_read = shapes.contains(&&shape[..])
        && matches!(descr, "<f8" | ">f8" | "<f4" | ">f4" | "<i4" | ">i4" | "<i8" | ">i8");
    let elements = Element::of(descr).filter(|of| is_read && bytes.len() == N * of.bytes);
    let elements = elements.map(|of| array::from_fn(|n| of.number(&bytes[n * of.bytes..])));
    elements.ok_or_else(|| {
        let [descr, shape] = [descr, &shape].map(excerpt);
        content(format!("elements of type {descr} and shape {shape}: use {what} of float64"))
    })
}

fn up(input: &mut dyn Read) -> Result<Up, ReadError> {
    let (fields, bytes) = small(input)?;
    match (fields.get("descr").unwrap_or_default(), &bytes[..]) {
        ("<U1", b"y\0\0\0") | (">U1", b"\0\0\0y") => Ok(Up::Y),
        ("<U1", b"z\0\0\0") | (">U1", b"\0\0\0z") => Ok(Up::Z),
        _ => bail!("it is neither 'y' nor 'z'"),
    }
}

/// The header and the elements of a small array.
fn small(input: &mut dyn Read) -> Result<(Fields, Vec<u8>), ReadError> {
    let mut input = BufReader::new(input);
    let (fields, mut bytes) = (Fields::read(&mut input)?, Vec::new());
    input.take(MAX_SMALL).read_to_end(&mut bytes)?;
    Ok((fields, bytes))
}
