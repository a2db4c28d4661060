// Stage: the first voxel that each ray of a list touches.
// Dispatch: one invocation per ray.
//
// #import trace/traverse

struct Params {
    rays: u32,
    // Workgroups per dispatch dimension.
    max_groups: u32,
}

// Words of a ray: its origin, two words an axis, and its direction.
const RAY_WORDS: u32 = 9u;
// Words of a hit: the voxel, x in the low and y in the high 16 bits of the first word, z in the
// second; the face, NO_HIT or GAVE_UP; the time's distance, two words, and its length.
const HIT_WORDS: u32 = 6u;
const NO_HIT: u32 = 7u;
const GAVE_UP: u32 = 8u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> rays: array<u32>;
@group(0) @binding(2) var<storage, read_write> hits: array<u32>;

@compute @workgroup_size(RAY_GROUP)
fn first_hits(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = (group.y * params.max_groups + group.x) * RAY_GROUP + lane;
    if index >= params.rays {
        return;
    }
    let at = index * RAY_WORDS;
    let ray = Ray(
        array<Int64, 3>(
            Int64(rays[at], rays[at + 1u]),
            Int64(rays[at + 2u], rays[at + 3u]),
            Int64(rays[at + 4u], rays[at + 5u]),
        ),
        bitcast<vec3<i32>>(vec3<u32>(rays[at + 6u], rays[at + 7u], rays[at + 8u])),
    );
    let touch = first_hit(ray);
    let voxel = vec3<u32>(touch.voxel);
    let to = index * HIT_WORDS;
    hits[to] = voxel.x | (voxel.y << 16u);
    hits[to + 1u] = voxel.z;
    let face = select(NO_HIT, face_of(touch, ray), touch.exists);
    hits[to + 2u] = select(face, GAVE_UP, has_given_up());
    hits[to + 3u] = touch.time.distance.x;
    hits[to + 4u] = touch.time.distance.y;
    hits[to + 5u] = touch.time.length;
}
