// The hit of a camera ray.
//
// #import trace/rays

// The hit of a ray: a voxel, the sampled ground, or nothing.
struct SurfaceHit {
    kind: u32,
    voxel: vec3<i32>,
    face: u32,
    // The origin of secondary rays: RAY_OFFSET off the surface.
    point: array<Int64, 3>,
}

const NOTHING: u32 = 0u;
const VOXEL: u32 = 1u;
const GROUND: u32 = 2u;
