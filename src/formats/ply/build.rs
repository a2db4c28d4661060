//! The mesh as it is gathered from the records of a PLY file.

use crate::formats::polygons::Cutter;

/// Which records are read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Part {
    All,
    Vertices,
    Faces,
}

/// Positions and triangles.
pub(super) struct Build {
    pub(super) positions: Vec<[f64; 3]>,
    pub(super) triangles: Vec<[u32; 3]>,
    pub(super) cutter: Cutter,
    /// Faces of fewer than three corners.
    pub(super) lean: u64,
}

impl Build {
    /// With room for so many.
    pub(super) fn new(vertices: usize, triangles: usize) -> Self {
        Self {
            positions: Vec::with_capacity(vertices),
            triangles: Vec::with_capacity(triangles),
            cutter: Cutter::default(),
            lean: 0,
        }
    }

    /// The triangles of a polygon.
    pub(super) fn add_face(&mut self, corners: &[i64]) -> Result<(), String> {
        match *corners {
            [] | [_] | [_, _] => self.lean += 1,
            [a, b, c] => {
                let triangle = [self.vertex(a)?, self.vertex(b)?, self.vertex(c)?];
                self.triangles.push(triangle);
            }
            _ => {
                let mut outline = Vec::with_capacity(corners.len());
                for &corner in corners {
                    outline.push(self.positions[self.vertex(corner)? as usize]);
                }
                let triangles = self.cutter.cut(&outline).into_iter();
                let global = |corner: u32| corners[corner as usize] as u32;
                self.triangles.extend(triangles.map(|triangle| triangle.map(global)));
            }
        }
        Ok(())
    }

    /// The triangles of strips, each of which ends in -1 or with the list. Every second one is turned.
    pub(super) fn add_strip(&mut self, corners: &[i64]) -> Result<(), String> {
        for strip in corners.split(|&corner| corner == -1) {
            for (at, triangle) in strip.windows(3).enumerate() {
                let turned = at % 2;
                let [a, b, c] = [0, 1 + turned, 2 - turned].map(|i| triangle[i]);
                let triangle = [self.vertex(a)?, self.vertex(b)?, self.vertex(c)?];
                self.triangles.push(triangle);
            }
        }
        Ok(())
    }

    fn vertex(&self, index: i64) -> Result<u32, String> {
        let count = self.positions.len();
        let vertex = u32::try_from(index).ok().filter(|&index| (index as usize) < count);
        vertex.ok_or_else(|| {
            format!("vertex index {index} is out of range: there are {count}, counted from 0")
        })
    }
}
