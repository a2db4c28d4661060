//! The scene of a glTF document: mesh instances and their transforms.

use std::array::from_fn;

use crate::formats::io::bytes::Budget;
use crate::formats::io::warnings::NameCounts;
use crate::formats::mesh::gltf::accessors::Arrays;
use crate::formats::mesh::gltf::json::{Document, Instancing, Mesh, Node};
use crate::formats::mesh::transform::Transform;
use crate::formats::{ReadError, content};
use crate::mesh::Labels;

/// Bytes of an instance, and of its translation, rotation and scale.
const INSTANCE: u64 = (size_of::<Instance>() + 10 * size_of::<f64>()) as u64;

/// A mesh in the scene.
#[derive(Debug, Clone, Copy)]
pub(super) struct Instance<'a> {
    pub(super) mesh: usize,
    /// The index of its node; without nodes, of its mesh.
    pub(super) node: usize,
    /// The name of its node, or else of its mesh.
    pub(super) name: &'a str,
    pub(super) scene_from_mesh: Transform,
    /// Weights of the mesh's morph targets.
    pub(super) weights: &'a [f64],
    pub(super) skin: Option<usize>,
    instancing: Option<&'a Instancing>,
}

pub(super) struct Scene<'a> {
    /// One for each node with a mesh, before `EXT_mesh_gpu_instancing`.
    pub(super) instances: Vec<Instance<'a>>,
    /// The transform of each node; `None` if it is not in the scene.
    pub(super) scene_from_node: Vec<Option<Transform>>,
    /// The names of the scenes that are not read.
    pub(super) other_scenes: NameCounts,
}

/// The default scene, or else the first.
pub(super) fn scene<'a>(document: &'a Document) -> Result<Scene<'a>, String> {
    let (roots, other_scenes) = roots(document)?;
    if document.nodes.is_empty() {
        let place = |(mesh, content): (usize, &'a Mesh)| Instance {
            mesh,
            node: mesh,
            name: content.name.as_deref().unwrap_or_default(),
            scene_from_mesh: Transform::IDENTITY,
            weights: content.weights.as_deref().unwrap_or_default(),
            skin: None,
            instancing: None,
        };
        let instances = document.meshes.iter().enumerate().map(place).collect();
        return Ok(Scene { instances, scene_from_node: Vec::new(), other_scenes });
    }
    let mut instances = Vec::new();
    let mut placed = vec![None; document.nodes.len()];
    let mut stack: Vec<(usize, Transform)> =
        roots.into_iter().rev().map(|root| (root, Transform::IDENTITY)).collect();
    while let Some((index, scene_from_parent)) = stack.pop() {
        let error = |what: &str| format!("node {index} (counted from 0) {what}");
        let node = document.nodes.get(index).ok_or_else(|| error("does not exist"))?;
        let parent_from_node =
            parent_from_node(node).map_err(|what| error(&format!("has {what}")))?;
        let scene_from_node = scene_from_parent.times(parent_from_node);
        if placed[index].replace(scene_from_node).is_some() {
            return Err(error("is below two nodes: a scene is a tree"));
        }
        if let Some(mesh) = node.mesh {
            let Some(content) = document.meshes.get(mesh) else {
                return Err(error(&format!("has the mesh {mesh}, which does not exist")));
            };
            let weights = node.weights.as_deref().or(content.weights.as_deref());
            let name = node.name.as_deref().or(content.name.as_deref());
            instances.push(Instance {
                mesh,
                node: index,
                name: name.unwrap_or_default(),
                scene_from_mesh: scene_from_node,
                weights: weights.unwrap_or_default(),
                skin: node.skin,
                instancing: node.extensions.instancing.as_ref(),
            });
        }
        stack.extend(node.children.iter().rev().map(|&child| (child, scene_from_node)));
    }
    Ok(Scene { instances, scene_from_node: placed, other_scenes })
}

fn parent_from_node(node: &Node) -> Result<Transform, String> {
    let Some(columns) = node.matrix else {
        return Transform::of_trs(node.translation, node.rotation, node.scale);
    };
    let last: [f64; 4] = from_fn(|column| columns[4 * column + 3]);
    let is_affine = last.iter().zip([0.0, 0.0, 0.0, 1.0]).all(|(a, b)| (a - b).abs() < 1e-6);
    if is_affine {
        Ok(Transform::of_columns(&columns, 4))
    } else {
        Err(format!("a matrix whose last row is {last:?}, not 0, 0, 0, 1"))
    }
}

/// The number of instances that an instance stands for: several with the extension.
fn instancing_count(instance: &Instance, arrays: &Arrays) -> Result<usize, String> {
    let Some(Instancing { attributes }) = instance.instancing else { return Ok(1) };
    let mut counts = ["TRANSLATION", "ROTATION", "SCALE"]
        .into_iter()
        .filter_map(|name| attributes.get(name))
        .map(|&accessor| arrays.count(accessor));
    let Some(first) = counts.next().transpose()? else { return Ok(1) };
    for count in counts {
        if count? != first {
            return Err("EXT_mesh_gpu_instancing has accessors of different counts".into());
        }
    }
    Ok(first)
}

/// All instances, with those of `EXT_mesh_gpu_instancing` expanded.
pub(super) fn expanded<'a>(
    instances: Vec<Instance<'a>>,
    arrays: &Arrays,
    memory: &mut Budget,
) -> Result<Vec<Instance<'a>>, ReadError> {
    let counts = instances.iter().map(|instance| instancing_count(instance, arrays));
    let counts: Vec<usize> = counts.collect::<Result<_, _>>().map_err(content)?;
    let count = counts.iter().copied().fold(0, usize::saturating_add);
    // The instances of one node are one object.
    let for_object = |instance: &Instance| Labels::OBJECT + instance.name.len() as u64;
    memory.take(instances.iter().map(for_object).sum())?;
    memory.take((count as u64).saturating_mul(INSTANCE))?;
    if instances.iter().all(|instance| instance.instancing.is_none()) {
        return Ok(instances);
    }
    let mut all = Vec::with_capacity(count);
    for (instance, count) in instances.into_iter().zip(counts) {
        add_instances(&instance, count, arrays, &mut all).map_err(content)?;
    }
    Ok(all)
}

fn add_instances<'a>(
    instance: &Instance<'a>,
    count: usize,
    arrays: &Arrays,
    all: &mut Vec<Instance<'a>>,
) -> Result<(), String> {
    let get = |name: &str| instance.instancing?.attributes.get(name).copied();
    let vectors = |at| arrays.numbers::<3>(at, "positions");
    let translations = get("TRANSLATION").map(vectors).transpose()?;
    let rotations = |at| arrays.numbers(at, "rotations or weights");
    let rotations = get("ROTATION").map(rotations).transpose()?;
    let scales = get("SCALE").map(vectors).transpose()?;
    for n in 0..count {
        let node_from_mesh = Transform::of_trs(
            translations.as_ref().map(|all| all[n]),
            rotations.as_ref().map(|all| all[n]),
            scales.as_ref().map(|all| all[n]),
        )
        .map_err(|what| format!("EXT_mesh_gpu_instancing: instance {n} has {what}"))?;
        let scene_from_mesh = instance.scene_from_mesh.times(node_from_mesh);
        all.push(Instance { scene_from_mesh, instancing: None, ..*instance });
    }
    Ok(())
}

/// The root nodes of the default scene, or else of the first, which most programs show; without
/// scenes, the nodes without a parent. With the names of the other scenes.
fn roots(document: &Document) -> Result<(Vec<usize>, NameCounts), String> {
    let Document { scene, scenes, nodes, .. } = document;
    let mut others = NameCounts::default();
    if scene.is_none() && scenes.is_empty() {
        let mut has_parent = vec![false; nodes.len()];
        let children = nodes.iter().flat_map(|node| &node.children);
        children.for_each(|&child| _ = has_parent.get_mut(child).map(|has| *has = true));
        return Ok(((0..nodes.len()).filter(|&node| !has_parent[node]).collect(), others));
    }
    let read = scene.unwrap_or_default();
    let missing = || format!("scene {read} (counted from 0) does not exist");
    let roots = scenes.get(read).ok_or_else(missing)?.nodes.clone();
    for (index, scene) in scenes.iter().enumerate().filter(|&(index, _)| index != read) {
        others.add(&scene.name.clone().unwrap_or_else(|| format!("scene {index}")));
    }
    Ok((roots, others))
}
