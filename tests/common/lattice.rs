//! The small world that is tested exhaustively.

use trivox::lattice::Triangle;

/// Corners of the small lattice: half voxels, so that corners, edges, faces and centres of voxels
/// are all among them.
pub fn lattice_points() -> Vec<[i32; 3]> {
    (0..125).map(|i| [i / 25, i / 5 % 5, i % 5]).collect()
}

/// All triangles with corners on the small lattice: multisets of three of its 125 points.
pub fn lattice_triangles() -> Vec<Triangle> {
    let p = lattice_points();
    let from = |i: usize| (i..p.len()).flat_map(move |j| (j..125).map(move |k| [i, j, k]));
    let triangles: Vec<Triangle> =
        (0..p.len()).flat_map(from).map(|corners| corners.map(|i| p[i])).collect();
    assert_eq!(triangles.len(), 333_375);
    triangles
}

/// Centres of the 4x4x4 voxels, two units wide, around and within the small lattice.
pub fn voxel_centers() -> Vec<[i32; 3]> {
    (0..64).map(|i| [i / 16, i / 4 % 4, i % 4].map(|c| 2 * c - 1)).collect()
}
