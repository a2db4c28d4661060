// Stage: counts the occluded sky directions of each sample of the ground.
// Dispatch: one invocation per (sample, direction).
//
// #import trace/traverse
// #import draw/params

// A count per sample, then a word that is not 0 if a driver ended a traversal early.
@group(0) @binding(2) var<storage, read_write> occluded_counts: array<atomic<u32>>;

fn ground_sample(index: u32) -> array<Int64, 3> {
    let step = draw.ground_step << draw.ground_step_bits;
    let column = Int64(index % GROUND_SAMPLES, 0u);
    let row = Int64(index / GROUND_SAMPLES, 0u);
    let i = int64_add(draw.ground_corner.xy, int64_scaled(column, step));
    let j = int64_add(draw.ground_corner.zw, int64_scaled(row, step));
    if draw.ground_up == 1u {
        return array<Int64, 3>(i, draw.ground_height, j);
    }
    return array<Int64, 3>(i, j, draw.ground_height);
}

@compute @workgroup_size(RAY_GROUP)
fn ground_occlusion(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = index_of(group, lane);
    if index >= GROUND_SAMPLES * GROUND_SAMPLES * draw.ground_directions {
        return;
    }
    // Neighbouring invocations trace parallel rays.
    let sample = index % (GROUND_SAMPLES * GROUND_SAMPLES);
    let direction = index / (GROUND_SAMPLES * GROUND_SAMPLES);
    let ray = Ray(ground_sample(sample), direction_at(draw.ground_directions_at + 3u * direction));
    if first_hit(ray).exists {
        atomicAdd(&occluded_counts[sample], 1u);
    }
    if has_given_up() {
        atomicOr(&occluded_counts[GROUND_SAMPLES * GROUND_SAMPLES], 1u);
    }
}
