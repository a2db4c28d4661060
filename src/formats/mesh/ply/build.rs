//! Builds the mesh from the records of a PLY file.

use crate::formats::mesh::ply::appearance::{AppearanceBuilder, Face, FaceMaterial};
use crate::formats::mesh::polygons::Triangulator;

/// The roles of the records that are read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Part {
    All,
    Vertices,
    Faces,
}

/// Positions, triangles and appearance.
pub(super) struct Build {
    pub(super) positions: Vec<[f64; 3]>,
    pub(super) triangles: Vec<[u32; 3]>,
    pub(super) appearance: AppearanceBuilder,
    pub(super) triangulator: Triangulator,
    /// Faces of fewer than three corners.
    pub(super) points_and_lines: u64,
}

impl Build {
    /// With capacity for `vertices` and `triangles`.
    pub(super) fn new([vertices, triangles]: [usize; 2], appearance: AppearanceBuilder) -> Self {
        Self {
            positions: Vec::with_capacity(vertices),
            triangles: Vec::with_capacity(triangles),
            appearance,
            triangulator: Triangulator::default(),
            points_and_lines: 0,
        }
    }

    /// Adds the triangles of a polygon.
    pub(super) fn add_face(&mut self, corners: &[i64], face: Face) -> Result<(), String> {
        let triangles = match *corners {
            [] | [_] | [_, _] => {
                self.points_and_lines += 1;
                return Ok(());
            }
            [_, _, _] => {
                let material = self.appearance.material_of(face, 3);
                return self.add_triangle(corners, [0, 1, 2], material);
            }
            _ => {
                let mut outline = Vec::with_capacity(corners.len());
                for &corner in corners {
                    outline.push(self.positions[self.vertex(corner)? as usize]);
                }
                self.triangulator.triangulate(&outline)
            }
        };
        let material = self.appearance.material_of(face, corners.len());
        triangles
            .into_iter()
            .try_for_each(|triangle| self.add_triangle(corners, triangle, material))
    }

    /// Adds the triangles of strips; -1 or the end of the list ends a strip. The orientation
    /// alternates.
    pub(super) fn add_strip(&mut self, corners: &[i64], face: Face) -> Result<(), String> {
        let material = self.appearance.material_of(face, corners.len());
        let mut start = 0;
        for strip in corners.split(|&corner| corner == -1) {
            for at in 0..strip.len().saturating_sub(2) {
                let turned = at % 2;
                let triangle = [0, 1 + turned, 2 - turned].map(|i| (start + at + i) as u32);
                self.add_triangle(corners, triangle, material)?;
            }
            start += strip.len() + 1;
        }
        Ok(())
    }

    /// Adds the triangle of three of the `corners` of a face.
    #[inline]
    fn add_triangle(
        &mut self,
        corners: &[i64],
        triangle: [u32; 3],
        material: FaceMaterial,
    ) -> Result<(), String> {
        let [a, b, c] = triangle.map(|corner| corners[corner as usize]);
        let vertices = [self.vertex(a)?, self.vertex(b)?, self.vertex(c)?];
        self.triangles.push(vertices);
        self.appearance.add(vertices, triangle, material);
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
