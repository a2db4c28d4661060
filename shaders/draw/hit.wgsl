// What a ray of a picture meets.
//
// #import trace/rays

// What a ray meets: a voxel, the ground among its places, or nothing.
struct SurfaceHit {
    kind: u32,
    voxel: vec3<i32>,
    face: u32,
    // A little off the voxel, or the ground.
    point: array<Int64, 3>,
}

const NOTHING: u32 = 0u;
const VOXEL: u32 = 1u;
const GROUND: u32 = 2u;
