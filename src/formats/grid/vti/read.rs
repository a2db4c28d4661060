//! Reading: selects the arrays that make a grid.

use std::collections::BTreeMap;
use std::io::{BufRead, Read};

use super::image::{Array, Image};
use super::values::Values;
use super::{COLOR, DISTANCE, OCCUPIED, UP, WIDTH, kind_of, name_of_names};
use crate::base::srgb::Rgba;
use crate::base::vector::{minus, plus};
use crate::formats::grid::brick_colors::{self, COLOR_BYTES, ColorRun, RUN_BYTES};
use crate::formats::grid::dense::volume;
use crate::formats::grid::level_set::{self, in_mesh_units, in_voxels, width_of};
use crate::formats::grid::npy;
use crate::formats::grid::npy::header::Header;
use crate::formats::grid::npz::{check_values, known_values};
use crate::formats::grid::openvdb::is_occupied;
use crate::formats::io::bytes::{Budget, fill, read_whole};
use crate::formats::io::joined::Joined;
use crate::formats::io::warnings::NameCounts;
use crate::formats::{LoadedGrid, ReadError, content, excerpt};
use crate::grid::{
    Attribute, Attributes, BRICK, Bits, BrickKey, Channel, Colors, Mask, Up, VoxelGrid, World,
    mask_below, mask_places, mask_voxels,
};
use crate::solid::distance::DistanceField;

pub fn read(input: &mut dyn BufRead, limit: u64) -> Result<LoadedGrid, ReadError> {
    let bytes = read_whole(input, limit)?;
    let mut image = Image::parse(&bytes, limit)?;
    let (voxels, doubt) = image.take_voxels()?;
    let mut warnings = Vec::from_iter(doubt);
    let is_level_set = voxels.name == DISTANCE && warnings.is_empty();
    let (mut grid, farthest) =
        image.grid(&voxels, is_level_set).map_err(|error| named(&voxels, error))?;
    image.memory.take(grid.bytes())?;
    grid.world = World { up: image.take_up()?, place: Some(image.place) };
    let mut distances = None;
    if is_level_set {
        distances = image.take_distances(&voxels, &grid, farthest, &mut warnings)?;
    }
    grid.colors = image.take_colors(&grid)?;
    grid.attributes = image.take_attributes(&grid)?;
    let mut others = NameCounts::default();
    let Image { cells, points, fields, .. } = &image;
    cells.iter().chain(points).chain(fields).for_each(|array| others.add(&array.name));
    warnings.extend(others.warning("arrays that are not read"));
    Ok(LoadedGrid { distances, ..LoadedGrid::new(grid, warnings) })
}

/// An error of an array's values.
fn named(array: &Array, error: ReadError) -> ReadError {
    match error {
        // The file is in memory: these are errors of its blocks.
        ReadError::Io(error) => named(array, content(error.to_string())),
        ReadError::Content(what) => {
            content(format!("the array '{}': {what}", excerpt(&array.name)))
        }
        other => other,
    }
}

/// Takes the array of that name and kind from a list.
fn take<'a>(
    arrays: &mut Vec<Array<'a>>,
    name: &str,
    kind: &str,
    components: &[u64],
) -> Option<Array<'a>> {
    let is_it = |array: &Array| {
        array.name == name && array.kind == kind && components.contains(&array.components)
    };
    let at = arrays.iter().position(is_it)?;
    Some(arrays.remove(at))
}

impl<'a> Image<'a> {
    /// The array whose values tell which voxels are occupied, and a warning about it.
    fn take_voxels(&mut self) -> Result<(Array<'a>, Option<String>), ReadError> {
        let Self { cells, points, .. } = self;
        if let Some(at) = cells.iter().position(|array| array.name == OCCUPIED) {
            return Ok((cells.remove(at), None));
        }
        let is_only = cells.len() == 1;
        let is_distance = |array: &Array| {
            let is_signed = array.kind.starts_with("Float") || array.kind.starts_with("Int");
            array.name == DISTANCE && array.components == 1 && is_signed
        };
        if let Some(at) = cells.iter().position(is_distance) {
            return Ok((cells.remove(at), None));
        }
        if let Some(only) = cells.pop_if(|_| is_only) {
            let doubt = format!(
                "the voxels are those where the array '{}' is not 0: there is none named \
                 '{OCCUPIED}'",
                excerpt(&only.name)
            );
            return Ok((only, Some(doubt)));
        }
        let mut names = NameCounts::default();
        let all = if cells.is_empty() { points } else { &mut *cells };
        all.iter().for_each(|array| names.add(&array.name));
        let (is_empty, names) = (all.is_empty(), names.quoted_and_counted());
        ensure!(cells.is_empty(), "no array of cells is named '{OCCUPIED}': rename one of {names}");
        ensure!(!is_empty, "it has no arrays: voxels are an array of cells");
        bail!(
            "it has arrays of points only, {names}, and voxels are cells: convert them by \
             ParaView's filter Point Data to Cell Data"
        )
    }

    /// The values of an array of `size` bytes a voxel.
    fn values_of_voxels(
        &self,
        array: &Array<'a>,
        size: usize,
        memory: &mut Budget,
    ) -> Result<Values<'a>, ReadError> {
        let (values, len) = self.values(array, memory)?;
        let needed = volume(self.dims).saturating_mul(size as u64);
        ensure!(len == needed, "its values have {len} bytes, but the extent needs {needed}");
        Ok(values)
    }

    /// The grid of the voxels that `array` marks as occupied and, of a level set, the largest of
    /// its distances without their signs.
    fn grid(&self, array: &Array<'a>, is_level_set: bool) -> Result<(VoxelGrid, f64), ReadError> {
        let (n, element) = (array.components, array.element()?);
        ensure!(
            n == 1 && !array.is_text(),
            "each voxel needs one number, not {n} of type {}",
            array.kind
        );
        let mut memory = self.memory;
        let mut values = self.values_of_voxels(array, element.bytes, &mut memory)?;
        let (header, left) = (Header::x_fastest(self.dims), memory.limit - memory.used);
        if element.bytes == 1 && !is_level_set {
            return Ok((npy::read_grid(&mut values, &header, left)?, 0.0));
        }
        let is_set: fn(f64) -> bool = if is_level_set {
            |number| is_occupied(number, true)
        } else {
            |number| number != 0.0 && !number.is_nan()
        };
        let mut farthest = 0.0;
        // A byte for each of the next numbers: 1 for an occupied voxel, 0 for an empty one.
        let mut flags = Joined::new(|| {
            let mut bytes = Vec::new();
            values.by_ref().take(4096 * element.bytes as u64).read_to_end(&mut bytes)?;
            let numbers = bytes.chunks_exact(element.bytes).map(|chunk| element.number(chunk));
            farthest = numbers.clone().map(f64::abs).fold(farthest, f64::max);
            let flags: Vec<u8> = numbers.map(|number| is_set(number).into()).collect();
            Ok(Some(flags).filter(|flags| !flags.is_empty()))
        });
        let grid = npy::read_grid(&mut flags, &header, left)?;
        Ok((grid, farthest))
    }

    /// The distance field of a solid, from the distances in `array`, at most `farthest`. Without a
    /// width in the file, the farthest voxels are outside the band. Without a possible width there
    /// is no field, and a warning.
    fn take_distances(
        &mut self,
        array: &Array<'a>,
        inside: &VoxelGrid,
        farthest: f64,
        warnings: &mut Vec<String>,
    ) -> Result<Option<DistanceField>, ReadError> {
        let (element, voxel_size) = (array.element()?, self.place.voxel_size);
        let stated = self.take_field(WIDTH, "Float32")?.map(|bytes| {
            let number = <[u8; 4]>::try_from(&bytes[..]).map(f32::from_le_bytes);
            number.map_err(|_| content(format!("the array '{WIDTH}' is not one number")))
        });
        let stated = stated.transpose()?;
        let width = stated.unwrap_or_else(|| width_of(farthest, voxel_size));
        // In mesh units.
        let end = stated.map_or(farthest, |width| in_mesh_units(width, voxel_size).into());
        let (mut bricks, mut distances) = (Vec::new(), Vec::new());
        let dims = self.dims;
        let edges = dims.map(|d| d.div_ceil(BRICK));
        let keys = (0..edges[2])
            .flat_map(|z| (0..edges[1]).map(move |y| (y, z)))
            .flat_map(|(y, z)| (0..edges[0]).map(move |x| BrickKey::new([x, y, z])));
        let all = keys.map(|key| (key, mask_below(minus(dims, key.first_voxel()))));
        let memory = self.each_brick(array, element.bytes, all, |memory, key, all, bytes| {
            let (mut mask, before) = (Mask::default(), distances.len());
            for ((x, bit), bytes) in mask_places(all).zip(bytes.chunks_exact(element.bytes)) {
                let number = element.number(bytes);
                if number.is_nan() {
                    let local = [x, bit / 8, bit % 8];
                    return Err(level_set::no_number(plus(key.first_voxel(), local)));
                }
                if number.abs() < end {
                    mask[x as usize] |= 1 << bit;
                    distances.push(in_voxels(number, voxel_size, width));
                }
            }
            if distances.len() > before {
                // In lists that grow, and in the field.
                let bytes =
                    3 * size_of::<(BrickKey, Mask)>() + size_of::<(BrickKey, Mask, usize)>();
                memory.take((bytes + 4 * size_of_val(&distances[before..])) as u64)?;
                bricks.push((key, mask));
            }
            Ok(())
        })?;
        memory.check(inside.bytes())?;
        let field = level_set::field(width, inside, &bricks, distances);
        let field = field.map_err(|why| warnings.push(why)).ok();
        self.memory.take(field.as_ref().map_or(0, DistanceField::bytes))?;
        Ok(field)
    }

    fn take_up(&mut self) -> Result<Up, ReadError> {
        let Some(bytes) = self.take_field(UP, "UInt8")? else { return Ok(Up::default()) };
        let up = Up::ALL.iter().find(|up| bytes == [up.axis() as u8]);
        up.copied().ok_or_else(|| content("the array 'up' is neither 1, for y, nor 2, for z"))
    }

    /// The values of a field.
    fn take_field(&mut self, name: &str, kind: &str) -> Result<Option<Vec<u8>>, ReadError> {
        let Some(array) = take(&mut self.fields, name, kind, &[1]) else { return Ok(None) };
        let (mut bytes, mut memory) = (Vec::new(), self.memory);
        let mut all = || {
            let (mut values, len) = self.values(&array, &mut memory)?;
            // At most one text a byte, in a list that grows.
            memory.take(len.saturating_mul(2 + 2 * size_of::<String>() as u64))?;
            Ok(values.read_to_end(&mut bytes)?)
        };
        all().map_err(|error| named(&array, error))?;
        self.memory = memory;
        Ok(Some(bytes))
    }

    fn take_colors(&mut self, grid: &VoxelGrid) -> Result<Option<Colors>, ReadError> {
        let array = take(&mut self.cells, COLOR, "UInt8", &[3, 4]);
        let Some(array) = array else { return Ok(None) };
        let mut runs: Vec<ColorRun> = Vec::new();
        let size = array.components as usize;
        let memory = self.each_brick(&array, size, grid.bricks(), |memory, key, mask, bytes| {
            let color = |bytes: &[u8]| std::array::from_fn(|n| bytes.get(n).map_or(255, |&c| c));
            let colors: Vec<Rgba> = bytes.chunks_exact(size).map(color).collect();
            let run = ColorRun::of_brick(key, mask, colors);
            if runs.last_mut().is_some_and(|last| last.extend(&run)) {
                return Ok(());
            }
            memory.take(RUN_BYTES + COLOR_BYTES * run.own_count())?;
            runs.push(run);
            Ok(())
        })?;
        let borrowed = runs.iter().map(ColorRun::borrowed);
        let colors = brick_colors::colors(grid, borrowed, [0; 4], memory, u64::MAX)?;
        self.memory.take(colors.bytes())?;
        Ok(Some(colors))
    }

    fn take_attributes(&mut self, grid: &VoxelGrid) -> Result<Option<Attributes>, ReadError> {
        let (mut names, mut channels) = (BTreeMap::new(), BTreeMap::new());
        for &of in Attribute::ALL {
            let components = [of.components() as u64];
            let array = take(&mut self.cells, of.name(), kind_of(of), &components);
            let Some(array) = array else { continue };
            if of.has_names()
                && let Some(bytes) = self.take_field(&name_of_names(of), "String")?
            {
                let texts = String::from_utf8_lossy(&bytes);
                names.insert(of, texts.split_terminator('\0').map(String::from).collect());
            }
            let channel = self.channel(of, &array, grid, names.get(&of).map(Vec::len))?;
            self.memory.take(channel.bytes())?;
            channels.insert(of, channel);
        }
        Ok((!channels.is_empty()).then(|| Attributes::new(names, channels)))
    }

    fn channel(
        &self,
        of: Attribute,
        array: &Array<'a>,
        grid: &VoxelGrid,
        names: Option<usize>,
    ) -> Result<Channel, ReadError> {
        let size = 4 * of.components();
        let mut bricks = Vec::new();
        self.each_brick(array, size, grid.bricks(), |memory, key, mask, bytes| {
            check_values(of, bytes, names).map_err(|(row, error)| {
                let voxel = mask_voxels(key.first_voxel(), mask).nth(row).unwrap_or_default();
                content(format!("voxel {voxel:?}: {error}"))
            })?;
            let (key, known, own) = known_values(of, key, mask, &mut bytes.chunks_exact(size));
            if !own.is_empty() {
                // In a list that grows, and in the channel.
                let brick = 3 * size_of::<(BrickKey, Mask, Vec<Bits>)>();
                memory.take((brick + 3 * size_of::<Bits>() * own.len()) as u64)?;
                bricks.push((key, known, own));
            }
            Ok(())
        })?;
        Ok(Channel::from_bricks(of, bricks))
    }

    /// Calls `take` with each of `bricks`, in canonical order, and the values of its voxels, in the
    /// order of mask words and of bits within a word, from an array of `size` bytes a voxel. Keeps
    /// eight layers of voxels in memory. Returns the budget with all memory taken here and by
    /// `take`.
    fn each_brick(
        &self,
        array: &Array<'a>,
        size: usize,
        bricks: impl Iterator<Item = (BrickKey, Mask)>,
        mut take: impl FnMut(&mut Budget, BrickKey, Mask, &[u8]) -> Result<(), ReadError>,
    ) -> Result<Budget, ReadError> {
        let mut memory = self.memory;
        let all = || {
            let mut input = self.values_of_voxels(array, size, &mut memory)?;
            let [nx, ny, nz] = self.dims;
            let slab_bytes = volume([nx, ny, nz.min(BRICK)]).saturating_mul(size as u64);
            memory.take(slab_bytes)?;
            let mut slab = vec![0; slab_bytes as usize];
            let layer = nx as usize * ny as usize * size;
            let (mut bricks, mut values) = (bricks.peekable(), Vec::new());
            for z in (0..nz).step_by(BRICK as usize) {
                fill(&mut input, &mut slab[..layer * BRICK.min(nz - z) as usize], "the values")?;
                while let Some((key, mask)) = bricks.next_if(|(key, _)| key.first_voxel()[2] == z) {
                    values.clear();
                    for [x, y, of_z] in mask_voxels(key.first_voxel(), mask) {
                        let row = (of_z - z) as usize * ny as usize + y as usize;
                        let at = (row * nx as usize + x as usize) * size;
                        values.extend_from_slice(&slab[at..][..size]);
                    }
                    take(&mut memory, key, mask, &values)?;
                }
            }
            Ok(())
        };
        all().map_err(|error| named(array, error))?;
        Ok(memory)
    }
}
