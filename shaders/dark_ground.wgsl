// Stage: how many of the ways to the sky are dark from each place on the ground.

// After those of all places: not 0 if a search was ended early.
@group(0) @binding(2) var<storage, read_write> dark: array<atomic<u32>>;

fn place_on_ground(number: u32) -> array<Int64, 3> {
    let step = look.ground_step << look.ground_step_bits;
    let i = int64_add(look.ground_corner.xy, int64_scaled(Int64(number % PLACES, 0u), step));
    let j = int64_add(look.ground_corner.zw, int64_scaled(Int64(number / PLACES, 0u), step));
    if look.ground_up == 1u {
        return array<Int64, 3>(i, look.ground_height, j);
    }
    return array<Int64, 3>(i, j, look.ground_height);
}

// One invocation per place and way.
@compute @workgroup_size(RAY_GROUP)
fn dark_ground(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = (group.y * look.max_groups + group.x) * RAY_GROUP + lane;
    if index >= PLACES * PLACES * look.ground_ways {
        return;
    }
    // Ways of neighbours are alike.
    let place = index % (PLACES * PLACES);
    let way = index / (PLACES * PLACES);
    let ray = Ray(place_on_ground(place), way_at(look.ground_ways_at + 3u * way));
    if first_hit(ray).exists {
        atomicAdd(&dark[place], 1u);
    }
    if has_given_up() {
        atomicOr(&dark[PLACES * PLACES], 1u);
    }
}
