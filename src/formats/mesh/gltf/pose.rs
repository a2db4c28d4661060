//! The default pose: morph targets with the node's weights, and skins with the joints' transforms
//! in the scene (glTF 2.0, 3.7.2.2 and 3.7.3).

use std::collections::BTreeMap;

use crate::formats::mesh::gltf::accessors::Arrays;
use crate::formats::mesh::gltf::json::Skin;
use crate::formats::mesh::gltf::parts::Part;
use crate::formats::mesh::gltf::scene::Instance;
use crate::formats::mesh::transform::Transform;

/// The skins that are used.
pub(super) struct Skins {
    /// By skin: for each joint the transform from mesh space to scene space; or why the skin is not
    /// used.
    scene_from_mesh: BTreeMap<usize, Result<Vec<Transform>, String>>,
}

impl Skins {
    /// Bytes of the bind matrices of a skin, which are read whole; each skin's are freed before the
    /// next one's are read.
    pub(super) fn most_memory(arrays: &Arrays, instances: &[Instance]) -> u64 {
        let skins = used(instances).filter_map(|index| arrays.document.skins.get(index));
        let matrices = skins.filter_map(|skin| arrays.count(skin.inverse_bind_matrices?).ok());
        matrices.max().map_or(0, |count| (count * size_of::<[f64; 16]>()) as u64)
    }

    /// The skins of `instances`, with joints placed by `scene_from_node`.
    pub(super) fn new(
        arrays: &Arrays,
        instances: &[Instance],
        scene_from_node: &[Option<Transform>],
    ) -> Self {
        let mut scene_from_mesh = BTreeMap::new();
        for index in used(instances) {
            scene_from_mesh.entry(index).or_insert_with(|| {
                let skin = arrays.document.skins.get(index);
                joints(arrays, skin.ok_or("does not exist")?, scene_from_node)
            });
        }
        Self { scene_from_mesh }
    }

    /// A warning for each skin that is not used.
    pub(super) fn warnings(&self) -> impl Iterator<Item = String> {
        self.scene_from_mesh.iter().filter_map(|(index, joints)| {
            let what = joints.as_ref().err()?;
            Some(format!("skin {index} (counted from 0) was ignored: it {what}"))
        })
    }

    /// Transforms the vertices of a part from mesh space to scene space. Returns whether that
    /// mirrors.
    pub(super) fn place(
        &self,
        arrays: &Arrays,
        instance: &Instance,
        part: &Part,
        positions: &mut [[f64; 3]],
    ) -> Result<bool, String> {
        morph(arrays, part, instance.weights, positions)?;
        let joints = instance.skin.and_then(|skin| self.scene_from_mesh.get(&skin)?.as_ref().ok());
        let Some(joints) = joints.filter(|all| !all.is_empty() && part.joint_sets > 0) else {
            instance.scene_from_mesh.apply(positions);
            return Ok(instance.scene_from_mesh.is_mirror());
        };
        skin(arrays, part, joints, positions)?;
        Ok(joints[0].is_mirror())
    }
}

fn used(instances: &[Instance]) -> impl Iterator<Item = usize> {
    instances.iter().filter_map(|instance| instance.skin)
}

/// For each joint the transform from mesh space to scene space.
fn joints(
    arrays: &Arrays,
    skin: &Skin,
    scene_from_node: &[Option<Transform>],
) -> Result<Vec<Transform>, String> {
    let matrices = |at| arrays.numbers::<16>(at, "matrices");
    let inverse_bind = skin.inverse_bind_matrices.map(matrices).transpose();
    let inverse_bind = inverse_bind.map_err(|what| format!("has bind matrices whose {what}"))?;
    let joint = |(n, &node): (usize, &usize)| {
        let scene_from_joint = scene_from_node.get(node).copied().flatten();
        let scene_from_joint =
            scene_from_joint.ok_or_else(|| format!("has the joint {node}, not in the scene"))?;
        let Some(matrices) = &inverse_bind else { return Ok(scene_from_joint) };
        let matrix = matrices.get(n).ok_or("has more joints than bind matrices")?;
        Ok(scene_from_joint.times(Transform::of_columns(matrix, 4)))
    };
    skin.joints.iter().enumerate().map(joint).collect()
}

fn morph(
    arrays: &Arrays,
    part: &Part,
    weights: &[f64],
    positions: &mut [[f64; 3]],
) -> Result<(), String> {
    let targets = part.primitive.targets.iter().zip(weights);
    for (target, &weight) in targets.filter(|&(_, &weight)| weight != 0.0) {
        let Some(&accessor) = target.get("POSITION") else { continue };
        arrays.check_count(accessor, positions.len() as u64)?;
        let moves: Vec<[f64; 3]> = arrays.numbers(accessor, "positions")?;
        for (position, by) in positions.iter_mut().zip(moves) {
            (0..3).for_each(|axis| position[axis] += weight * by[axis]);
        }
    }
    Ok(())
}

fn skin(
    arrays: &Arrays,
    part: &Part,
    joints: &[Transform],
    positions: &mut [[f64; 3]],
) -> Result<(), String> {
    let mut sets = Vec::with_capacity(part.joint_sets);
    for set in 0..part.joint_sets {
        let get = |name: &str| {
            let name = format!("{name}_{set}");
            let found = part.primitive.attributes.get(&name).copied();
            found.ok_or_else(|| format!("it is skinned, but has no {name}"))
        };
        let (numbers, weights) = (get("JOINTS")?, get("WEIGHTS")?);
        arrays.check_count(numbers, positions.len() as u64)?;
        arrays.check_count(weights, positions.len() as u64)?;
        let numbers = arrays.indices(numbers)?;
        sets.push((numbers, arrays.numbers(weights, "rotations or weights")?));
    }
    for (vertex, position) in positions.iter_mut().enumerate() {
        let influences = || {
            let of_set = |(numbers, weights): &(Vec<[u32; 4]>, Vec<[f64; 4]>)| {
                numbers[vertex].into_iter().zip(weights[vertex])
            };
            sets.iter().flat_map(of_set).filter(|&(_, weight)| weight != 0.0)
        };
        let total: f64 = influences().map(|(_, weight)| weight).sum();
        if let Some((joint, _)) = influences().find(|&(joint, _)| joint as usize >= joints.len()) {
            return Err(format!("the joint {joint} is out of range: there are {}", joints.len()));
        }
        let scene_from_mesh = if total > 0.0 {
            let joint = |(joint, weight): (u32, f64)| (weight / total, joints[joint as usize]);
            Transform::weighted(influences().map(joint))
        } else {
            // A vertex without weights is bound to the first joint, as in viewers.
            joints[0]
        };
        *position = scene_from_mesh.apply_to(*position);
    }
    Ok(())
}
