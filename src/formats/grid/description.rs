//! The text attribute by which files describe a grid: its dimensions and its world position.

use std::fmt;

use crate::formats::io::tokens::numbers;
use crate::grid::{Place, VoxelGrid, World};

/// The attribute, such as `1 dims=55,99,100 up=y origin=-1.5,0.0,2.0 voxel=0.125`: a version, the
/// grid's dimensions, its [`World`] unless that is the default, without `origin` and `voxel` if the
/// place is not known. Numbers have the fewest digits that read back exactly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Description {
    pub dims: [u32; 3],
    pub world: World,
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { dims: [x, y, z], world } = self;
        write!(f, "1 dims={x},{y},{z}")?;
        if *world != World::default() {
            write!(f, " up={}", world.up)?;
        }
        if let Some(Place { origin: [x, y, z], voxel_size }) = world.place {
            write!(f, " origin={x:?},{y:?},{z:?} voxel={voxel_size:?}")?;
        }
        Ok(())
    }
}

impl Description {
    pub(crate) fn of(grid: &VoxelGrid) -> Self {
        Self { dims: grid.dims(), world: grid.world }
    }

    /// `None` if the text is malformed or of another version.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut words = text.strip_prefix("1 ")?.split(' ').peekable();
        let mut value = |name| {
            let word = words.next_if(|word| word.starts_with(name))?;
            word.strip_prefix(name)
        };
        let dims = numbers(value("dims=")?.split(','))?;
        let mut world = World::default();
        if let Some(up) = value("up=") {
            world.up = up.parse().ok()?;
            if let Some(origin) = value("origin=") {
                let origin = numbers(origin.split(','))?;
                let place = Place { origin, voxel_size: value("voxel=")?.parse().ok()? };
                if !place.is_possible() {
                    return None;
                }
                world.place = Some(place);
            }
        }
        words.next().is_none().then_some(Self { dims, world })
    }
}
