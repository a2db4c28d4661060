//! Reading, in file order: the tree's masks and tiles, then the leaves' values.

use std::io::BufRead;

use super::values::{Kind, Values};
use super::{MAGIC, VERSION};
use crate::formats::grid::openvdb::nodes::{Band, FoundGrid, NO_COLOR, Nodes, SelectedGrids};
use crate::formats::grid::openvdb::source::Source;
use crate::formats::grid::openvdb::tree::{
    LOWER, LOWER_WORDS, UPPER_BRICKS, UPPER_VOXELS, UPPER_WORDS, child_corner, set_indices,
};
use crate::formats::grid::openvdb::world::{WorldFromIndex, diagonal};
use crate::formats::grid::openvdb::{COLOR, DENSITY, TEXT};
use crate::formats::{LoadedGrid, ReadError, excerpt};
use crate::grid::{BRICK, Mask};

/// The oldest version that is read, of 2013: the first with a compression flag per grid.
const OLDEST: u32 = 222;

/// Reads the grid named `density`, or else the first with scalar or boolean values that is no level
/// set, or else the first level set. Voxels are occupied if active and above 0; of a level set, if
/// below 0. Colours are those of the grid `Cd` of float vectors.
pub fn read(input: &mut dyn BufRead, limit: u64) -> Result<LoadedGrid, ReadError> {
    let mut source = Source::new(input);
    let has_offsets = read_head(&mut source)?;
    read_metadata(&mut source)?;
    let grids = source.u32("the number of grids")?;
    let mut found = SelectedGrids { limit, ..SelectedGrids::default() };
    for _ in 0..grids {
        let descriptor = Descriptor::read(&mut source)?;
        let is_wanted =
            descriptor.name == DENSITY || found.best().is_none_or(|best| best < [false, true]);
        match descriptor.kind().filter(|kind| is_wanted || kind.is_color()) {
            Some(kind) => {
                let new = read_grid(&mut source, &descriptor, kind, has_offsets, found.left())?;
                found.add(new, kind.is_color());
            }
            None => {
                descriptor.pass(&mut source, has_offsets)?;
                found.others.push(descriptor.name);
            }
        }
    }
    let end = source.at();
    ensure!(source.next_byte()?.is_none(), "there are more bytes after the last grid's, {end}");
    found.into_grid("has numbers or truths as values")
}

/// Reads the header. Returns whether the file has offsets.
fn read_head(source: &mut Source) -> Result<bool, ReadError> {
    let magic = source.array("the first 8 bytes: not an OpenVDB file")?;
    ensure!(magic == MAGIC, "not an OpenVDB file: it does not begin with ' BDV'");
    let version = source.u32("the version")?;
    ensure!(
        (OLDEST..=VERSION).contains(&version),
        "version {version} of the format is not supported, only {OLDEST} to {VERSION}: write it \
         again with a current program"
    );
    source.array::<8>("the library's version")?;
    let has_offsets = source.u8("the head")? != 0;
    source.array::<36>("the file's identity")?;
    Ok(has_offsets)
}

/// The class and the grid description in metadata.
fn read_metadata(source: &mut Source) -> Result<(String, Option<String>), ReadError> {
    let (mut class, mut text) = (String::new(), None);
    for _ in 0..source.u32("the number of metadata")? {
        let name = source.text("the name of metadata")?;
        let kind = source.text("the type of metadata")?;
        let len = source.u32("the length of metadata")?;
        match (&*name, &*kind) {
            ("class", "string") => class = source.text_of(len, "the grid's class")?,
            (TEXT, "string") => text = Some(source.text_of(len, "metadata")?),
            _ => source.skip(len.into(), "metadata")?,
        }
    }
    Ok((class, text))
}

/// The descriptor before a grid.
struct Descriptor {
    name: String,
    kind: String,
    /// The grid whose tree it shares.
    parent: String,
    begin: u64,
    end: u64,
}

impl Descriptor {
    fn read(source: &mut Source) -> Result<Self, ReadError> {
        let name = source.text("a grid's name")?;
        // Repeated names have a suffix after this separator.
        let name = name.split('\u{1e}').next().unwrap_or_default().to_owned();
        let kind = source.text("a grid's type")?;
        let parent = source.text("the name of a grid's parent")?;
        let begin = source.u64("where a grid begins")?;
        source.u64("where a grid's values begin")?;
        let end = source.u64("where a grid ends")?;
        Ok(Self { name, kind, parent, begin, end })
    }

    /// The type of values, if it is supported.
    fn kind(&self) -> Option<Kind> {
        let is_read = |kind: &Kind| !kind.is_color() || self.name == COLOR;
        Kind::of_tree(&self.kind).filter(is_read).filter(|_| self.parent.is_empty())
    }

    fn pass(&self, source: &mut Source, has_offsets: bool) -> Result<(), ReadError> {
        let (name, kind) = (excerpt(&self.name), excerpt(&self.kind));
        ensure!(has_offsets, "the grid {name} of type {kind} cannot be passed over");
        source.skip_to(self.end, "the next grid")
    }
}

fn read_grid(
    source: &mut Source,
    descriptor: &Descriptor,
    kind: Kind,
    has_offsets: bool,
    limit: u64,
) -> Result<FoundGrid, ReadError> {
    if has_offsets {
        source.skip_to(descriptor.begin, "the grid")?;
    }
    let compression = source.u32("the grid's compression")?;
    let name = descriptor.name.clone();
    let (class, text) = read_metadata(source)?;
    let world_from_index = read_transform(source)?;
    let is_level_set = class == "level set" && kind.is_float();
    let values = Values::new(kind, compression, is_level_set)?;
    let mut nodes = Nodes::within(limit);
    nodes.band = world_from_index.filter(|_| is_level_set).map(|of| Band::new(of.scale));
    let nodes = Reader { source, values, nodes }.tree()?;
    let (at, end) = (source.at(), descriptor.end);
    ensure!(!has_offsets || at == end, "the grid ends at byte {at}, but the file says {end}");
    Ok(FoundGrid { name, nodes, text, world_from_index, is_level_set })
}

/// The world-from-index transform; `None` if it rotates or scales the axes differently.
fn read_transform(source: &mut Source) -> Result<Option<WorldFromIndex>, ReadError> {
    const WHAT: &str = "the transform";
    let name = source.text(WHAT)?;
    let has_shift = name.ends_with("TranslateMap");
    let (matrix, translation) = match &*name {
        "UniformScaleMap" | "ScaleMap" | "UniformScaleTranslateMap" | "ScaleTranslateMap" => {
            let translation =
                if has_shift { source.numbers(f64::from_le_bytes, WHAT)? } else { [0.0; 3] };
            let scale = source.numbers(f64::from_le_bytes, WHAT)?;
            // Values that the library derives from the scale.
            source.array::<96>(WHAT)?;
            (diagonal(scale), translation)
        }
        "TranslationMap" => (diagonal([1.0; 3]), source.numbers(f64::from_le_bytes, WHAT)?),
        "AffineMap" | "UnitaryMap" => {
            let numbers: [f64; 16] = source.numbers(f64::from_le_bytes, WHAT)?;
            let [x, y, z, translation] =
                [0, 4, 8, 12].map(|n| [numbers[n], numbers[n + 1], numbers[n + 2]]);
            ([x, y, z], translation)
        }
        _ => bail!("a transform of type {} is not supported", excerpt(&name)),
    };
    Ok(WorldFromIndex::of_matrix(matrix, translation))
}

struct Reader<'a, 'b> {
    source: &'a mut Source<'b>,
    values: Values,
    nodes: Nodes,
}

impl Reader<'_, '_> {
    fn tree(mut self) -> Result<Nodes, ReadError> {
        let buffers = self.source.u32("the tree")?;
        let too_many = format_args!("{buffers} buffers a leaf: only 1 is read");
        self.source.ensure(buffers == 1, too_many)?;
        self.root()?;
        for n in 0..self.nodes.leaves.len() {
            let Nodes { leaves, colors, band, .. } = &mut self.nodes;
            let (at, mask) = &mut leaves[n];
            let active = *mask;
            self.values.leaf(self.source, mask, colors)?;
            if let Some(band) = band {
                band.leaf(*at, &active, self.values.numbers(&active))?;
            }
            self.nodes.check_memory(0)?;
        }
        Ok(self.nodes)
    }

    fn root(&mut self) -> Result<(), ReadError> {
        let (number, color) = self.values.background(self.source)?;
        self.nodes.background = color.unwrap_or(NO_COLOR);
        self.nodes.outside(number);
        let tiles = self.source.u32("the root")?;
        let children = self.source.u32("the root")?;
        for _ in 0..tiles {
            let corner = self.corner()?;
            let value = self.values.whole(self.source, "a tile of the root")?;
            let is_active = self.source.u8("a tile of the root")? != 0;
            self.nodes.active_tiles(&[is_active.into()], UPPER_BRICKS);
            if let Some(value) = value.filter(|_| is_active || self.values.is_level_set()) {
                self.nodes.tile(corner, UPPER_BRICKS, value);
                self.nodes.check_tiles()?;
            }
        }
        for _ in 0..children {
            let corner = self.corner()?;
            let lowers = self.node::<UPPER_WORDS>(corner, LOWER)?;
            set_indices(&lowers).try_for_each(|n| self.lower(child_corner(corner, n, LOWER)))?;
        }
        Ok(())
    }

    /// The corner of a root's entry, in bricks.
    fn corner(&mut self) -> Result<[i32; 3], ReadError> {
        let corner = self.source.numbers(i32::from_le_bytes, "the root")?;
        let is_aligned = corner.iter().all(|c| c % UPPER_VOXELS as i32 == 0);
        self.source.ensure(is_aligned, format_args!("no node of the root lies at {corner:?}"))?;
        Ok(corner.map(|c| c / BRICK as i32))
    }

    fn lower(&mut self, corner: [i32; 3]) -> Result<(), ReadError> {
        let leaves = self.node::<LOWER_WORDS>(corner, 1)?;
        set_indices(&leaves).try_for_each(|n| {
            let mut mask = Mask::default();
            self.source.words(&mut mask, "the mask of a leaf")?;
            self.nodes.leaves.push((child_corner(corner, n, 1), mask));
            Ok(())
        })
    }

    /// Reads a node with masks of `WORDS` words; adds its tiles, of `edge` bricks, and returns the
    /// mask of its children.
    fn node<const WORDS: usize>(
        &mut self,
        corner: [i32; 3],
        edge: u32,
    ) -> Result<[u64; WORDS], ReadError> {
        let (mut children, mut tiles) = ([0; WORDS], [0; WORDS]);
        self.source.words(&mut children, "the masks of a node")?;
        self.source.words(&mut tiles, "the masks of a node")?;
        let nodes = &mut self.nodes;
        nodes.active_tiles(&tiles, edge);
        self.values.node(self.source, &mut tiles, |place, value| {
            if children[place as usize / 64] >> (place % 64) & 1 == 0 {
                nodes.tile(child_corner(corner, place, edge), edge, value);
            }
        })?;
        self.nodes.check_tiles()?;
        self.nodes.check_memory(0)?;
        Ok(children)
    }
}
