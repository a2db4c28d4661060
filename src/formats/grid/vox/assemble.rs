//! Assembles a scene: the transforms of all model instances, and their union as a grid.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

use super::paint::Paint;
use super::scene::{Model, NodeKind, Pose, ROOT, Scene};
use super::{ATTRIBUTE, Description, Frame, REST};
use crate::formats::{ReadError, check_memory, checked_dims, content, excerpt};
use crate::grid::{Attribute, Attributes, BrickKey, Mask, Up, VoxelGrid, World, union_bounds};

const MAX_DEPTH: usize = 256;
/// Most node visits; a node is visited once per use, so nested instances multiply.
const MAX_VISITS: usize = 1 << 18;
/// Most voxels of all instances, unless the file itself has more: a few seconds of work.
const MAX_PLACED: u64 = 1 << 28;
/// Most bricks, of the models of all instances and of the scene, unless the file has more voxels:
/// above the 250 cubed of MagicaVoxel's world, and a few seconds of work.
const MAX_BRICKS: u64 = 1 << 24;
/// Bytes of memory for a brick of the scene: in a hash map and a list that grow, in the grid.
const BRICK_BYTES: u64 = 320;
/// Bytes of memory for a voxel of the scene: its palette index, and its colour in a list that
/// grows.
const VOXEL_BYTES: u64 = 10;

/// Bytes of memory for the label of a voxel: in two lists, and in the grid.
const LABEL_BYTES: u64 = 20;

/// An instance of a model in the scene, with the pose of its voxels.
#[derive(Debug, Clone, Copy)]
struct Instance {
    model: usize,
    pose: Pose,
    /// The node below the group at the top.
    part: Option<i32>,
}

/// The union of all instances of `scene`, in at most `limit` bytes of memory, and the number of
/// voxels with each palette index.
pub(super) fn assemble(scene: &Scene, limit: u64) -> Result<(VoxelGrid, [u64; 256]), ReadError> {
    let mut instances = instances(scene)?;
    // Duplicate instances add no voxels, but cost time.
    let mut seen = HashSet::new();
    instances.retain(|instance| seen.insert((instance.model, instance.pose)));
    let bounds = bounds(scene, &instances)?;
    let (frame, corner, description) = match scene.description {
        Some(text) => {
            let description = checked_description(text, bounds).map_err(|what| {
                let at = scene.nodes[&ROOT].at;
                fault(ROOT, at, format_args!("the attribute '{ATTRIBUTE}' {what}"))
            })?;
            let frame = Frame { dims: description.dims, up: description.world.up };
            (frame, frame.corner(), Some(description))
        }
        None => {
            let [lo, hi] = bounds;
            let dims = checked_dims([0, 1, 2].map(|a| (hi[a] - lo[a] + 1) as u64))?;
            (Frame { dims, up: Up::Z }, lo, None)
        }
    };
    let grid_from_scene =
        frame.grid_from_vox().after(&Pose { translation: corner.map(|c| -c), ..Pose::NONE });
    let models = scene.models.iter().map(by_brick).collect();
    let placed = Placed { instances: &instances, models, grid_from_scene };
    let labels = description.as_ref().and_then(|_| labels(scene, &instances));
    let voxel_bytes = VOXEL_BYTES + labels.as_ref().map_or(0, |_| LABEL_BYTES);
    let bricks = placed.bricks(voxel_bytes, limit)?;
    let mut paint = Paint::new(&bricks);
    for instance in &instances {
        placed.each_brick_of(instance, |key, voxels| paint.set(key, voxels.iter().copied()));
    }
    let attributes = labels.map(|(names, label_of)| {
        let mut paint = Paint::new(&bricks);
        for instance in &instances {
            let label = instance.part.map_or(0, |part| label_of[&part]);
            placed.each_brick_of(instance, |key, voxels| {
                paint.set(key, voxels.iter().map(|&(slot, _)| (slot, label)));
            });
        }
        let names = BTreeMap::from([(Attribute::Label, names)]);
        Attributes::new(names, BTreeMap::from([(Attribute::Label, paint.labels())]))
    });
    let (colors, counts) = (paint.colors(scene.palette, description.is_some()), paint.counts());
    let mut grid = VoxelGrid::from_bricks(frame.dims, bricks)?;
    // MagicaVoxel's own axes.
    let plain = World { up: Up::Z, place: None };
    grid.world = description.map_or(plain, |description| description.world);
    grid.colors = colors;
    grid.attributes = attributes;
    Ok((grid, counts))
}

/// The names of the labels, and the label of each part, counted from 1, or `Paint::REST`, if a part
/// has a name.
fn labels(scene: &Scene, instances: &[Instance]) -> Option<(Vec<String>, HashMap<i32, u32>)> {
    let name_of = |part: &i32| scene.nodes.get(part).and_then(|node| node.name);
    let parts = || instances.iter().rev().filter_map(|instance| instance.part);
    parts().find(|part| name_of(part).is_some())?;
    let (mut names, mut label_of) = (Vec::new(), HashMap::new());
    for part in parts() {
        label_of.entry(part).or_insert_with(|| {
            let name = String::from_utf8_lossy(name_of(&part).unwrap_or_default());
            if name == REST {
                return Paint::REST;
            }
            names.push(name.into_owned());
            names.len() as u32
        });
    }
    Some((names, label_of))
}

/// An error about node `id`, at byte `at` of the file.
fn fault(id: i32, at: usize, what: impl fmt::Display) -> ReadError {
    content(format!("node {id} of the scene graph, byte {at}: {what}"))
}

/// Parses the root's description of the grid, which must contain the box from `lo` to `hi`.
fn checked_description(text: &[u8], [lo, hi]: [[i64; 3]; 2]) -> Result<Description, String> {
    let text = String::from_utf8_lossy(text);
    let description = Description::parse(&text).ok_or_else(|| {
        format!("is malformed, or of a version that is not known: {}", excerpt(&text))
    })?;
    let dims = checked_dims(description.dims).map_err(|e| format!("lies: {e}"))?;
    let frame = Frame { dims, up: description.world.up };
    let (corner, size) = (frame.corner(), frame.size().map(i64::from));
    if (0..3).all(|a| lo[a] >= corner[a] && hi[a] < corner[a] + size[a]) {
        Ok(description)
    } else {
        Err(format!(
            "says that the grid is {size:?} from {corner:?}, but its models reach from {lo:?} to \
             {hi:?}: was the file edited? remove the attribute"
        ))
    }
}

/// All instances, in reverse order of the scene graph: the first takes precedence.
fn instances(scene: &Scene) -> Result<Vec<Instance>, ReadError> {
    match (scene.models.len(), scene.options.frame) {
        _ if !scene.nodes.is_empty() => instances_of_nodes(scene),
        (0, _) => bail!("the file has no models"),
        (1, _) | (_, Some(_)) => {
            let model = scene.options.frame.unwrap_or_default() as usize;
            let pose = Pose::NONE.of_voxels(scene.models[model].size);
            Ok(vec![Instance { model, pose, part: None }])
        }
        (n, None) => bail!(
            "the file has {n} models but no scene graph that says where they are: frames of an \
             animation? choose a frame from 0 to {}, or save it with a current MagicaVoxel",
            n - 1
        ),
    }
}

/// The instances that the scene graph places: a depth-first traversal, the last child of a node
/// first.
fn instances_of_nodes(scene: &Scene) -> Result<Vec<Instance>, ReadError> {
    let (mut instances, mut visits) = (Vec::new(), 0);
    // The nodes from the root to the current one.
    let mut path: Vec<i32> = Vec::new();
    // Nodes to visit, each with its depth and its parent's pose.
    let mut stack = vec![(ROOT, 0, Pose::NONE)];
    while let Some((id, depth, pose)) = stack.pop() {
        path.truncate(depth);
        let Some(node) = scene.nodes.get(&id) else {
            let above = path.last().map_or("root".into(), |above| format!("child of {above}"));
            bail!("the scene graph has no node {id}, the {above}");
        };
        let fault = |what: String| Err(fault(id, node.at, what));
        if path.contains(&id) {
            return fault("it is part of itself".into());
        }
        if path.len() >= MAX_DEPTH {
            return fault(format!("it is nested more than {MAX_DEPTH} deep"));
        }
        if visits + stack.len() >= MAX_VISITS {
            return fault(format!("it is one of more than {MAX_VISITS} nodes: too many instances"));
        }
        visits += 1;
        if scene.leaves_out(node) {
            continue;
        }
        path.push(id);
        let depth = path.len();
        match &node.kind {
            NodeKind::Transform { pose: own, child, .. } => {
                stack.push((*child, depth, pose.after(own)));
            }
            NodeKind::Group { children } => {
                stack.extend(children.iter().map(|&child| (child, depth, pose)));
            }
            NodeKind::Shape { model, .. } => {
                let index = usize::try_from(*model).ok().filter(|&m| m < scene.models.len());
                let Some(model) = index else {
                    return fault(format!("there is no model {model}"));
                };
                let pose = pose.of_voxels(scene.models[model].size);
                instances.push(Instance { model, pose, part: path.get(2).copied() });
            }
        }
    }
    Ok(instances)
}

/// Minimum and maximum voxel of all instances' boxes.
fn bounds(scene: &Scene, instances: &[Instance]) -> Result<[[i64; 3]; 2], ReadError> {
    let all = instances.iter().map(|&Instance { model, pose, .. }| {
        let last = scene.models[model].size.map(|d| i64::from(d) - 1);
        let [a, b] = [[0; 3], last].map(|voxel| pose.apply(voxel));
        union_bounds([a; 2], [b; 2])
    });
    let models = if scene.options.visible_only { "visible models" } else { "models" };
    all.reduce(union_bounds).ok_or_else(|| content(format!("the scene graph places no {models}")))
}

/// The voxels of a model that are not empty, brick by brick, from the last to the first in the
/// file: of several in one place, the last takes precedence. A counting sort.
fn by_brick(&Model { size, voxels }: &Model) -> Vec<[u8; 4]> {
    let [nx, ny, nz] = size.map(|d| d.div_ceil(8) as usize);
    let brick_of = |&[x, y, z, _]: &[u8; 4]| {
        let [x, y, z] = [x, y, z].map(|c| usize::from(c / 8));
        (x * ny + y) * nz + z
    };
    let coloured = || voxels.iter().rev().filter(|&&[.., color]| color != 0);
    let mut next = vec![0; nx * ny * nz + 1];
    coloured().for_each(|voxel| next[brick_of(voxel) + 1] += 1);
    (1..next.len()).for_each(|brick| next[brick] += next[brick - 1]);
    let mut sorted = vec![[0; 4]; next[nx * ny * nz]];
    for voxel in coloured() {
        let next = &mut next[brick_of(voxel)];
        sorted[*next] = *voxel;
        *next += 1;
    }
    sorted
}

/// The voxels of each brick of a model.
fn bricks_of(voxels: &[[u8; 4]]) -> impl Iterator<Item = &[[u8; 4]]> {
    voxels.chunk_by(|a, b| (0..3).all(|axis| a[axis] / 8 == b[axis] / 8))
}

/// The instances of a scene's models, in a grid.
struct Placed<'a> {
    instances: &'a [Instance],
    /// The voxels of each model, [by brick](by_brick).
    models: Vec<Vec<[u8; 4]>>,
    /// The boxes of all instances are inside the grid.
    grid_from_scene: Pose,
}

impl Placed<'_> {
    /// Calls `visit` with the voxels of an instance that are in one brick of the grid, each with
    /// its [slot](crate::grid::brick_slot) and its palette index. A brick may come several times.
    fn each_brick_of(&self, instance: &Instance, mut visit: impl FnMut(BrickKey, &[(u16, u8)])) {
        let pose = self.grid_from_scene.after(&instance.pose);
        let (bricks, shares) = pose.of_bricks();
        // By whether the second brick along `x`, `y` and `z`.
        let mut parts: [Vec<(u16, u8)>; 8] = Default::default();
        for voxels in bricks_of(&self.models[instance.model]) {
            let [x, y, z, _] = voxels[0];
            let first = bricks.apply([x, y, z].map(|c| i64::from(c / 8)));
            for &[x, y, z, color] in voxels {
                let [x, y, z] = [x, y, z].map(|c| usize::from(c % 8));
                let place = shares[0][x] + shares[1][y] + shares[2][z];
                parts[usize::from(place >> 9)].push((place & 511, color));
            }
            for (n, part) in (0..).zip(&mut parts).filter(|(_, part)| !part.is_empty()) {
                // In range, since the brick has a voxel.
                let position = [0, 1, 2].map(|a| (first[a] + (n >> a & 1)) as u32);
                visit(BrickKey::new(position), part);
                part.clear();
            }
        }
    }

    /// The bricks of all instances in canonical order; they and their voxels, of so many bytes
    /// each, take at most `limit` bytes of memory.
    fn bricks(&self, voxel_bytes: u64, limit: u64) -> Result<Vec<(BrickKey, Mask)>, ReadError> {
        let of_instances = |counts: Vec<u64>| -> u64 {
            self.instances.iter().map(|instance| counts[instance.model]).sum()
        };
        let counts: Vec<u64> = self.models.iter().map(|voxels| voxels.len() as u64).collect();
        let stored: u64 = counts.iter().sum();
        let voxels = of_instances(counts);
        ensure!(
            voxels <= stored.max(MAX_PLACED),
            "the scene graph's instances have {voxels} voxels: too many"
        );
        let most = stored.max(MAX_BRICKS);
        let check = |bricks: u64| {
            ensure!(bricks <= most, "the scene graph's instances fill more than {most} bricks");
            Ok(())
        };
        let counts = self.models.iter().map(|voxels| bricks_of(voxels).count() as u64);
        check(of_instances(counts.collect()))?;
        let mut indices: HashMap<BrickKey, usize> = HashMap::new();
        let mut bricks: Vec<(BrickKey, Mask)> = Vec::new();
        for instance in self.instances {
            self.each_brick_of(instance, |key, voxels| {
                let index = *indices.entry(key).or_insert(bricks.len());
                if index == bricks.len() {
                    bricks.push((key, [0; 8]));
                }
                let mask = &mut bricks[index].1;
                for &(slot, _) in voxels {
                    mask[usize::from(slot / 64)] |= 1 << (slot % 64);
                }
            });
            let count = bricks.len() as u64;
            check_memory(count * BRICK_BYTES + voxels.min(512 * count) * voxel_bytes, limit)?;
            check(count)?;
        }
        bricks.sort_unstable_by_key(|&(key, _)| key);
        Ok(bricks)
    }
}
