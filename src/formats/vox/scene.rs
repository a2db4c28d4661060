//! The scene graph: which model lies where, and the grid of all of them.

use std::collections::{HashMap, HashSet};
use std::fmt;

use super::paint::Paint;
use super::read::{Model, NodeKind, Scene};
use super::{ATTRIBUTE, Description, Frame};
use crate::error::GridError;
use crate::formats::description::Place;
use crate::formats::{ReadError, excerpt};
use crate::grid::{BRICK, BrickKey, Mask, Up, VoxelGrid};
use crate::place::MAX_DIM;

/// The node at the top.
pub(super) const ROOT: i32 = 0;
/// Deepest nesting of nodes.
const MAX_DEPTH: usize = 256;
/// Most nodes that are visited, each as often as it is used: instances of instances multiply.
const MAX_VISITS: usize = 1 << 18;
/// Most voxels of all instances, if the file has not more itself: some ten seconds' work, and with
/// their colours 1.3 GB.
const MAX_PLACED: u64 = 1 << 28;
/// Most bricks of all instances, if the file has not more voxels itself: more than MagicaVoxel's
/// world has room for, 250 cubed. About 2 GB.
const MAX_BRICKS: usize = 1 << 24;

/// A quarter turn about any axis, mirrored or not: row `i` of the matrix has `sign[i]` in column
/// `axis[i]` and 0 elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Turn {
    axis: [usize; 3],
    sign: [i64; 3],
}

impl Turn {
    pub(super) const NONE: Self = Self { axis: [0, 1, 2], sign: [1; 3] };

    /// As the file has it: the first row's axis in bits 0 and 1, the second's in bits 2 and 3, the
    /// signs in bits 4 to 6, set for negative. `None` where these are not a rotation.
    pub(super) fn from_bits(bits: u8) -> Option<Self> {
        let (a, b) = (usize::from(bits & 3), usize::from(bits >> 2 & 3));
        let is_valid = a < 3 && b < 3 && a != b && bits < 128;
        let sign = [4, 5, 6].map(|bit| 1 - 2 * i64::from(bits >> bit & 1));
        is_valid.then(|| Self { axis: [a, b, 3 - a - b], sign })
    }

    fn apply(&self, v: [i64; 3]) -> [i64; 3] {
        [0, 1, 2].map(|i| self.sign[i] * v[self.axis[i]])
    }

    /// `self` after `first`.
    fn after(&self, first: &Self) -> Self {
        Self {
            axis: self.axis.map(|row| first.axis[row]),
            sign: [0, 1, 2].map(|i| self.sign[i] * first.sign[self.axis[i]]),
        }
    }
}

/// A turn, then a shift.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Pose {
    turn: Turn,
    /// Below 2^40: `MAX_DEPTH` numbers of 32 bits.
    shift: [i64; 3],
}

impl Pose {
    const NONE: Self = Self { turn: Turn::NONE, shift: [0; 3] };

    fn apply(&self, v: [i64; 3]) -> [i64; 3] {
        let turned = self.turn.apply(v);
        [0, 1, 2].map(|i| turned[i] + self.shift[i])
    }

    /// `self` after a turn and a shift.
    fn after(&self, turn: &Turn, shift: [i32; 3]) -> Self {
        Self { turn: self.turn.after(turn), shift: self.apply(shift.map(i64::from)) }
    }
}

/// A model in the scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Instance {
    model: usize,
    pose: Pose,
}

impl Instance {
    /// Where a voxel of its model lies. What is turned is the voxel's cube, about the pivot's
    /// minimum corner: by its centre, in half voxels, which is then rounded down to its own corner.
    fn place(&self, voxel: [u32; 3], size: [u32; 3]) -> [i64; 3] {
        let centre = [0, 1, 2].map(|a| 2 * (i64::from(voxel[a]) - i64::from(size[a] / 2)) + 1);
        let turned = self.pose.turn.apply(centre);
        [0, 1, 2].map(|a| (turned[a] >> 1) + self.pose.shift[a])
    }

    /// Its box: minimum and maximum voxel.
    fn bounds(&self, size: [u32; 3]) -> [[i64; 3]; 2] {
        let [a, b] = [self.place([0; 3], size), self.place(size.map(|d| d - 1), size)];
        [[0, 1, 2].map(|i| a[i].min(b[i])), [0, 1, 2].map(|i| a[i].max(b[i]))]
    }
}

/// What a scene makes.
pub(super) struct Assembled {
    pub(super) grid: VoxelGrid,
    /// Where it lies in a larger grid, if it is a part of one.
    pub(super) part: Option<Place>,
    /// Which of the palette's indices its voxels have.
    pub(super) used: [bool; 256],
}

/// The grid of all that `scene` places.
pub(super) fn assemble(scene: &Scene) -> Result<Assembled, ReadError> {
    let mut instances = instances(scene)?;
    // The same model twice at the same place adds nothing, and takes its time.
    let mut seen = HashSet::new();
    instances.retain(|&instance| seen.insert(instance));
    let bounds = bounds(scene, &instances)?;
    let (frame, corner, description) = match scene.description {
        Some(text) => {
            let description = checked_description(text, bounds).map_err(|what| {
                let at = scene.nodes[&ROOT].at;
                fault(ROOT, at, format_args!("the attribute '{ATTRIBUTE}' {what}"))
            })?;
            let frame = Frame::new(description.dims, description.world);
            (frame, frame.corner(), Some(description))
        }
        None => {
            let [lo, hi] = bounds;
            let dims = checked_dims([0, 1, 2].map(|a| hi[a] - lo[a] + 1))?;
            (Frame { dims, up: Up::Z }, lo, None)
        }
    };
    let limit = MAX_BRICKS.max(stored(scene) as usize);
    let placed = Placed { scene, instances: &instances, frame, corner };
    let bricks = placed.bricks(limit)?;
    let paint = placed.paint(&bricks);
    let (colors, used) = (paint.colors(scene.palette, description.is_some()), paint.used());
    let mut grid = VoxelGrid::from_bricks(frame.dims, bricks)?;
    grid.world = description.and_then(|description| description.world);
    grid.colors = colors;
    Ok(Assembled { grid, part: description.and_then(|description| description.part), used })
}

fn content(what: String) -> ReadError {
    ReadError::Content(what)
}

/// What is wrong with node `id`, which lies at byte `at` of the file.
fn fault(id: i32, at: usize, what: impl fmt::Display) -> ReadError {
    content(format!("node {id} of the scene graph, byte {at}: {what}"))
}

/// What the root says of the grid, in which everything from `lo` to `hi` must lie.
fn checked_description(text: &[u8], [lo, hi]: [[i64; 3]; 2]) -> Result<Description, String> {
    let text = String::from_utf8_lossy(text);
    let description = Description::parse(&text).ok_or_else(|| {
        format!("is malformed, or of a version that is not known: {}", excerpt(&text))
    })?;
    let dims = checked_dims(description.dims.map(i64::from)).map_err(|e| format!("lies: {e}"))?;
    let frame = Frame::new(dims, description.world);
    let (corner, size) = (frame.corner(), frame.size().map(i64::from));
    match (0..3).all(|a| lo[a] >= corner[a] && hi[a] < corner[a] + size[a]) {
        true => Ok(description),
        false => Err(format!(
            "says that the grid is {size:?} from {corner:?}, but its models reach from {lo:?} to \
             {hi:?}: was the file edited? remove the attribute"
        )),
    }
}

fn checked_dims(dims: [i64; 3]) -> Result<[u32; 3], GridError> {
    match dims.iter().all(|&d| d > 0 && d <= i64::from(MAX_DIM)) {
        true => Ok(dims.map(|d| d as u32)),
        false => Err(GridError::Dims(dims.map(|d| d as u64))),
    }
}

/// All models, where they are placed; the last of the scene graph, which covers all others, first.
fn instances(scene: &Scene) -> Result<Vec<Instance>, ReadError> {
    match scene.models.len() {
        _ if !scene.nodes.is_empty() => Walk::default().run(scene),
        1 => Ok(vec![Instance { model: 0, pose: Pose::NONE }]),
        0 => Err(content("the file has no models".into())),
        n => Err(content(format!(
            "the file has {n} models but no scene graph that says where they are: frames of an \
             animation? save it with a current MagicaVoxel"
        ))),
    }
}

/// A walk of the scene graph, depth first from the root on, the last child of a node first.
#[derive(Default)]
struct Walk {
    /// From the root to the node that is visited.
    path: Vec<i32>,
    /// Nodes to visit, each with how many are above it and what they do to it.
    open: Vec<(i32, usize, Pose)>,
    visits: usize,
    found: Vec<Instance>,
}

impl Walk {
    fn run(mut self, scene: &Scene) -> Result<Vec<Instance>, ReadError> {
        self.open.push((ROOT, 0, Pose::NONE));
        while let Some((id, depth, pose)) = self.open.pop() {
            self.path.truncate(depth);
            self.visit(scene, id, pose)?;
        }
        Ok(self.found)
    }

    fn visit(&mut self, scene: &Scene, id: i32, pose: Pose) -> Result<(), ReadError> {
        let Some(node) = scene.nodes.get(&id) else {
            let above = self.path.last().map_or("root".into(), |above| format!("child of {above}"));
            return Err(content(format!("the scene graph has no node {id}, the {above}")));
        };
        let fault = |what| fault(id, node.at, what);
        self.check(id).map_err(fault)?;
        self.visits += 1;
        self.path.push(id);
        let depth = self.path.len();
        match &node.kind {
            NodeKind::Transform { turn, shift, child } => {
                self.open.push((*child, depth, pose.after(turn, *shift)));
            }
            NodeKind::Group { children } => {
                self.open.extend(children.iter().map(|&child| (child, depth, pose)));
            }
            NodeKind::Shape { model } => {
                let index = usize::try_from(*model).ok().filter(|&m| m < scene.models.len());
                let index = index.ok_or_else(|| fault(format!("there is no model {model}")))?;
                self.found.push(Instance { model: index, pose });
            }
        }
        Ok(())
    }

    /// Whether the walk may go on to node `id`.
    fn check(&self, id: i32) -> Result<(), String> {
        if self.path.contains(&id) {
            Err("it is part of itself".into())
        } else if self.path.len() >= MAX_DEPTH {
            Err(format!("it is nested more than {MAX_DEPTH} deep"))
        } else if self.visits + self.open.len() >= MAX_VISITS {
            Err(format!("it is one of more than {MAX_VISITS} nodes: too many instances"))
        } else {
            Ok(())
        }
    }
}

/// Minimum and maximum voxel of all instances' boxes.
fn bounds(scene: &Scene, instances: &[Instance]) -> Result<[[i64; 3]; 2], ReadError> {
    let all = instances.iter().map(|instance| instance.bounds(scene.models[instance.model].size));
    let union = all.reduce(|[a, b], [c, d]| {
        [[0, 1, 2].map(|i| a[i].min(c[i])), [0, 1, 2].map(|i| b[i].max(d[i]))]
    });
    union.ok_or_else(|| content("the scene graph places no models".into()))
}

/// Voxels in the file, each once.
fn stored(scene: &Scene) -> u64 {
    scene.models.iter().map(|model| model.voxels.len() as u64).sum()
}

/// The instances of a scene's models, in a grid.
struct Placed<'a> {
    scene: &'a Scene<'a>,
    instances: &'a [Instance],
    frame: Frame,
    /// Where the grid begins in the scene; all instances lie in it.
    corner: [i64; 3],
}

impl Placed<'_> {
    /// The voxels of an instance, each with its colour's index, the last first.
    fn voxels(&self, instance: &Instance) -> impl Iterator<Item = ([u32; 3], u8)> {
        let Model { size, voxels } = self.scene.models[instance.model];
        let coloured = voxels.iter().rev().filter(|&&[.., color]| color != 0);
        coloured.map(move |&[x, y, z, color]| {
            let placed = instance.place([x, y, z].map(u32::from), size);
            // Not negative and below the frame's size: all boxes lie inside.
            let voxel = [0, 1, 2].map(|a| (placed[a] - self.corner[a]) as u32);
            (self.frame.grid_from_vox(voxel), color)
        })
    }

    /// The bricks of all instances in canonical order, `limit` or fewer.
    fn bricks(&self, limit: usize) -> Result<Vec<(BrickKey, Mask)>, ReadError> {
        let models = &self.scene.models;
        let placed: u64 = self.instances.iter().map(|i| models[i.model].voxels.len() as u64).sum();
        if placed > stored(self.scene).max(MAX_PLACED) {
            return Err(content(format!(
                "the scene graph's instances have {placed} voxels: too many"
            )));
        }
        let mut bricks = Bricks::default();
        for instance in self.instances {
            self.voxels(instance).for_each(|(voxel, _)| bricks.set(voxel));
            bricks.put_away();
            if bricks.all.len() > limit {
                return Err(content(format!(
                    "the scene graph's instances fill more than {limit} bricks"
                )));
            }
        }
        let mut bricks: Vec<_> = bricks.all.into_iter().collect();
        bricks.sort_unstable_by_key(|&(key, _)| key);
        Ok(bricks)
    }

    /// The colours of the voxels in `bricks`, which are all.
    fn paint<'a>(&self, bricks: &'a [(BrickKey, Mask)]) -> Paint<'a> {
        let mut paint = Paint::new(bricks);
        for instance in self.instances {
            self.voxels(instance).for_each(|(voxel, color)| paint.set(voxel, color));
        }
        paint
    }
}

/// Bricks of voxels in any order. The latest is kept at hand: most voxels are in the brick of the
/// one before.
#[derive(Default)]
struct Bricks {
    all: HashMap<BrickKey, Mask>,
    latest: Option<(BrickKey, Mask)>,
}

impl Bricks {
    fn set(&mut self, voxel: [u32; 3]) {
        let key = BrickKey::new(voxel.map(|c| c / BRICK));
        if self.latest.is_none_or(|(latest, _)| latest != key) {
            self.put_away();
            self.latest = Some((key, [0; 8]));
        }
        if let Some((_, mask)) = &mut self.latest {
            let [x, y, z] = voxel.map(|c| c % BRICK);
            mask[x as usize] |= 1 << (8 * y + z);
        }
    }

    fn put_away(&mut self) {
        if let Some((key, mask)) = self.latest.take() {
            let union = self.all.entry(key).or_default();
            (0..8).for_each(|x| union[x] |= mask[x]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_compose_as_they_apply() {
        let turns: Vec<Turn> = (0..=u8::MAX).filter_map(Turn::from_bits).collect();
        assert_eq!(turns.len(), 48);
        let v = [1, 20, 300];
        for (a, b) in turns.iter().flat_map(|a| turns.iter().map(move |b| (a, b))) {
            assert_eq!(a.after(b).apply(v), a.apply(b.apply(v)));
        }
    }

    #[test]
    fn the_example_of_the_specification_is_read_as_it_says() {
        let turn = Turn::from_bits(1 | 2 << 2 | 1 << 5 | 1 << 6).expect("a rotation");
        // Rows (0 1 0), (0 0 -1), (-1 0 0).
        assert_eq!(turn.apply([1, 2, 3]), [2, -3, -1]);
    }

    #[test]
    fn instances_may_not_fill_more_bricks_than_the_limit() {
        let voxels: Vec<[u8; 4]> = (0..32).map(|i| [8 * i, 0, 0, 1]).collect();
        let model = Model { size: [256, 1, 1], voxels: &voxels };
        let scene = Scene { models: vec![model], ..Scene::default() };
        let pose = |y| Pose { shift: [128, y, 0], ..Pose::NONE };
        let instances: Vec<_> = (0..5).map(|y| Instance { model: 0, pose: pose(8 * y) }).collect();
        let frame = Frame { dims: [256, 256, 1], up: Up::Z };
        let placed = Placed { scene: &scene, instances: &instances, frame, corner: [0; 3] };
        assert_eq!(placed.bricks(160).map(|bricks| bricks.len()).ok(), Some(160));
        assert!(matches!(placed.bricks(159), Err(ReadError::Content(_))));
    }
}
