//! The materials of faces, as the OBJ file itself states them.

use std::collections::HashMap;

/// Distinct names, numbered in order of first use.
#[derive(Debug, Default)]
pub(super) struct Names {
    numbers: HashMap<String, u32>,
}

impl Names {
    /// Bytes of an entry of the hash map, besides the name: a string, a number and a control byte.
    pub(super) const ENTRY: u64 = 33;

    /// The number of `name`, from 0.
    pub(super) fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.numbers.len() as u32;
        self.numbers.insert(name.to_owned(), number);
        number
    }

    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Bytes of the names themselves.
    pub(super) fn bytes(&self) -> u64 {
        self.numbers.keys().map(|name| name.capacity() as u64).sum()
    }

    /// The names by their numbers.
    pub(super) fn in_order(&self) -> Vec<&str> {
        let mut names = vec![""; self.numbers.len()];
        self.numbers.iter().for_each(|(name, &number)| names[number as usize] = name);
        names
    }
}

/// The material of a face, and whether it has texture coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct FaceMaterial {
    /// The number of its material's name plus 1; 0 for none.
    pub(super) material: u32,
    /// Whether each corner has a texture coordinate.
    pub(super) has_uvs: bool,
}

/// Consecutive faces with the same material and kind of corners.
#[derive(Debug)]
struct Run {
    faces: usize,
    face_material: FaceMaterial,
}

/// The materials of all faces, and the material files.
#[derive(Debug, Default)]
pub(super) struct FaceMaterials {
    /// The arguments of `mtllib`: possibly several files, possibly with a comment.
    pub(super) libraries: Names,
    /// The names of materials.
    pub(super) materials: Names,
    runs: Vec<Run>,
    material: u32,
}

impl FaceMaterials {
    /// Bytes of a [`Run`].
    pub(super) const RUN: u64 = size_of::<Run>() as u64;

    /// Sets the material of the faces that follow.
    pub(super) fn set_material(&mut self, name: &str) {
        self.material = match name {
            "" => 0,
            _ => self.materials.number(name) + 1,
        };
    }

    pub(super) fn add_face(&mut self, line: &str) {
        let face_material = FaceMaterial { material: self.material, has_uvs: has_uvs(line) };
        match self.runs.last_mut() {
            Some(run) if run.face_material == face_material => run.faces += 1,
            _ => self.runs.push(Run { faces: 1, face_material }),
        }
    }

    /// The material of each face, in order.
    pub(super) fn of_faces(&self) -> impl Iterator<Item = FaceMaterial> {
        self.runs.iter().flat_map(|run| std::iter::repeat_n(run.face_material, run.faces))
    }

    /// Whether each number of [`FaceMaterial::material`] is in use.
    pub(super) fn used_materials(&self) -> Vec<bool> {
        let mut used = vec![false; self.materials.numbers.len() + 1];
        self.runs.iter().for_each(|run| used[run.face_material.material as usize] = true);
        used
    }
}

/// Whether each corner of the face in `line` has a texture coordinate; `line` must have no comment.
pub(super) fn has_uvs(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace().skip(1);
    // The first corner nearly always decides; only if it does not are spaces outside ASCII checked.
    words.next().is_some_and(has_uv)
        && match line.is_ascii() {
            true => words.all(has_uv),
            false => line.split_whitespace().skip(1).all(has_uv),
        }
}

fn has_uv(corner: &str) -> bool {
    let mut after = corner.bytes().skip_while(|&byte| byte != b'/').skip(1);
    after.next().is_some_and(|byte| byte != b'/')
}
