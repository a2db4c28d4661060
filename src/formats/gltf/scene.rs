//! The scene of a glTF document: which meshes are placed where.

use std::array::from_fn;

use crate::formats::gltf::json::{Document, Node};

/// A mesh in the scene.
#[derive(Debug, Clone, Copy)]
pub(super) struct Instance {
    pub(super) mesh: usize,
    pub(super) scene_from_mesh: Transform,
}

/// Three rows of an affine matrix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Transform([[f64; 4]; 3]);

impl Transform {
    const IDENTITY: Self = Self([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]);

    fn of_node(node: &Node) -> Result<Self, String> {
        let Some(columns) = node.matrix else { return Self::of_parts(node) };
        let last: [f64; 4] = from_fn(|column| columns[4 * column + 3]);
        let is_affine = last.iter().zip([0.0, 0.0, 0.0, 1.0]).all(|(a, b)| (a - b).abs() < 1e-6);
        match is_affine {
            true => Ok(Self(from_fn(|row| from_fn(|column| columns[4 * column + row])))),
            false => Err(format!("a matrix whose last row is {last:?}, not 0, 0, 0, 1")),
        }
    }

    /// Scaled, then turned, then moved.
    fn of_parts(node: &Node) -> Result<Self, String> {
        let [sx, sy, sz] = node.scale.unwrap_or([1.0; 3]);
        let [tx, ty, tz] = node.translation.unwrap_or_default();
        let quaternion = node.rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]);
        let length = quaternion.iter().map(|c| c * c).sum::<f64>().sqrt();
        if !(length > 0.0 && length.is_finite()) {
            return Err(format!("the rotation {quaternion:?}, which is no unit quaternion"));
        }
        // Those that were rounded are not of length 1.
        let [x, y, z, w] = quaternion.map(|c| c / length);
        Ok(Self([
            [
                sx * (1.0 - 2.0 * (y * y + z * z)),
                sy * 2.0 * (x * y - z * w),
                sz * 2.0 * (x * z + y * w),
                tx,
            ],
            [
                sx * 2.0 * (x * y + z * w),
                sy * (1.0 - 2.0 * (x * x + z * z)),
                sz * 2.0 * (y * z - x * w),
                ty,
            ],
            [
                sx * 2.0 * (x * z - y * w),
                sy * 2.0 * (y * z + x * w),
                sz * (1.0 - 2.0 * (x * x + y * y)),
                tz,
            ],
        ]))
    }

    fn times(self, other: Self) -> Self {
        let Self(b) = other;
        Self(self.0.map(|row| {
            from_fn(|column| {
                let moved = if column == 3 { row[3] } else { 0.0 };
                row[0] * b[0][column] + row[1] * b[1][column] + row[2] * b[2][column] + moved
            })
        }))
    }

    /// Transforms all of `points`.
    pub(super) fn apply(self, points: &mut [[f64; 3]]) {
        // Which would change nothing, but the sign of zeros.
        if self == Self::IDENTITY {
            return;
        }
        for point in points {
            let [x, y, z] = *point;
            *point = self.0.map(|[a, b, c, d]| a * x + b * y + c * z + d);
        }
    }

    /// Whether it turns orientations around.
    pub(super) fn is_mirror(self) -> bool {
        let Self([[a, b, c, _], [d, e, f, _], [g, h, i, _]]) = self;
        a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) < 0.0
    }
}

/// The meshes of the scene, and how many scenes were left out.
///
/// # Errors
/// A node or scene that does not exist; a node that is below two others, or below itself.
pub(super) fn instances(document: &Document) -> Result<(Vec<Instance>, usize), String> {
    let (roots, left_out) = roots(document)?;
    if document.nodes.is_empty() {
        let place = |mesh| Instance { mesh, scene_from_mesh: Transform::IDENTITY };
        return Ok(((0..document.meshes.len()).map(place).collect(), 0));
    }
    let mut instances = Vec::new();
    let mut is_placed = vec![false; document.nodes.len()];
    let mut stack: Vec<(usize, Transform)> =
        roots.into_iter().rev().map(|root| (root, Transform::IDENTITY)).collect();
    while let Some((index, scene_from_parent)) = stack.pop() {
        let error = |what: &str| format!("node {index} (counted from 0) {what}");
        let node = document.nodes.get(index).ok_or_else(|| error("does not exist"))?;
        if std::mem::replace(&mut is_placed[index], true) {
            return Err(error("is below two nodes: a scene is a tree"));
        }
        let parent_from_node =
            Transform::of_node(node).map_err(|what| error(&format!("has {what}")))?;
        let scene_from_node = scene_from_parent.times(parent_from_node);
        if let Some(mesh) = node.mesh {
            if mesh >= document.meshes.len() {
                return Err(error(&format!("has the mesh {mesh}, which does not exist")));
            }
            instances.push(Instance { mesh, scene_from_mesh: scene_from_node });
        }
        stack.extend(node.children.iter().rev().map(|&child| (child, scene_from_node)));
    }
    Ok((instances, left_out))
}

/// The nodes at the top, each once: of the scene that is shown first; if none is said to be, of all
/// scenes; if there are none, those that are below no other.
fn roots(document: &Document) -> Result<(Vec<usize>, usize), String> {
    let Document { scene, scenes, nodes, .. } = document;
    if let Some(index) = *scene {
        let missing = || format!("scene {index} (counted from 0) does not exist");
        let scene = scenes.get(index).ok_or_else(missing)?;
        return Ok((scene.nodes.clone(), scenes.len() - 1));
    }
    let mut is_taken = vec![false; nodes.len()];
    let mut is_first = |&index: &usize| {
        is_taken.get_mut(index).is_none_or(|is_taken| !std::mem::replace(is_taken, true))
    };
    if !scenes.is_empty() {
        let all = scenes.iter().flat_map(|scene| scene.nodes.iter().copied());
        return Ok((all.filter(&mut is_first).collect(), 0));
    }
    nodes.iter().flat_map(|node| &node.children).for_each(|child| _ = is_first(child));
    Ok(((0..nodes.len()).filter(is_first).collect(), 0))
}
