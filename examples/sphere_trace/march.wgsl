// The light that reaches the eye through each pixel, by sphere tracing. One invocation per pixel.
// Lengths are in voxels.

// The signed distances of voxel centres, outside the band plus or minus its width. The grid is
// padded by the width, so that its corners are outside the band.
@group(0) @binding(0) var field: texture_3d<f32>;
// RGBA, 8 bits each, red first.
@group(0) @binding(1) var<storage, read_write> pixels: array<u32>;

// Pixels along an edge of a workgroup's tile.
const TILE = 8u;
// Rays along each edge of a pixel.
const RAYS = 2u;
// From a point below the middle of the grid to the eye, in units of its longest side.
const TO_EYE = vec3<f32>(0.66, 0.62, 0.98);
// Width and height of the image plane at distance 1.
const FILM = 0.94;
const UP = vec3<f32>(0.0, 1.0, 0.0);
const TO_SUN = vec3<f32>(-0.64, 0.60, 0.48);
const SUN = vec3<f32>(0.95, 0.80, 0.58);
const SKY = vec3<f32>(0.32, 0.40, 0.52);
// Albedo in linear light.
const CLAY = vec3<f32>(0.71, 0.36, 0.22);
const GROUND = vec3<f32>(0.66, 0.62, 0.55);
// Maximum steps of a ray, and the distance from the surface at which it ends.
const STEPS = 192u;
const CLOSE = 0.01;
// An occluder dims the sun where its distance from the ray, divided by that from the ray's start,
// is below 1 / SHARPNESS.
const SHARPNESS = 10.0;

@compute @workgroup_size(TILE, TILE)
fn draw(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) tiles: vec3<u32>,
) {
    let side = TILE * tiles.x;
    let dims = grid_size();
    let eye = vec3<f32>(0.5, 0.36, 0.5) * dims + TO_EYE * max(max(dims.x, dims.y), dims.z);
    let back = normalize(TO_EYE);
    let right = normalize(vec3<f32>(back.z, 0.0, -back.x));
    let up = cross(back, right);
    var light = vec3<f32>(0.0);
    for (var n = 0u; n < RAYS * RAYS; n += 1u) {
        let within = (vec2<f32>(vec2<u32>(n % RAYS, n / RAYS)) + 0.5) / f32(RAYS);
        let at = FILM * ((vec2<f32>(id.xy) + within) / f32(side) - 0.5);
        light += light_from(eye, normalize(at.x * right - at.y * up - back));
    }
    let linear = clamp(light / f32(RAYS * RAYS), vec3<f32>(0.0), vec3<f32>(1.0));
    pixels[id.y * side + id.x] = pack4x8unorm(vec4<f32>(pow(linear, vec3<f32>(1.0 / 2.2)), 1.0));
}

fn grid_size() -> vec3<f32> {
    return vec3<f32>(textureDimensions(field));
}

// The width of the band.
fn width() -> f32 {
    return texel(vec3<i32>(0));
}

fn texel(voxel: vec3<i32>) -> f32 {
    return textureLoad(field, voxel, 0).x;
}

// Trilinear interpolation between voxel centres, which a sampler does on devices with the feature
// `float32-filterable`.
fn interpolated(p: vec3<f32>) -> f32 {
    let last = grid_size() - 1.0;
    let at = clamp(p - 0.5, vec3<f32>(0.0), last);
    let low = vec3<i32>(at);
    let high = min(low + 1, vec3<i32>(last));
    let share = at - vec3<f32>(low);
    let near = mix(
        vec2<f32>(texel(low), texel(vec3<i32>(low.x, high.y, low.z))),
        vec2<f32>(texel(vec3<i32>(high.x, low.yz)), texel(vec3<i32>(high.xy, low.z))),
        share.x,
    );
    let far = mix(
        vec2<f32>(texel(vec3<i32>(low.xy, high.z)), texel(vec3<i32>(low.x, high.yz))),
        vec2<f32>(texel(vec3<i32>(high.x, low.y, high.z)), texel(high)),
        share.x,
    );
    return mix(mix(near.x, near.y, share.y), mix(far.x, far.y, share.y), share.z);
}

// The interpolated distance from the mesh, at most the width, with an error below one voxel.
// Outside the grid a lower bound: the grid is padded by the width.
fn distance_from_mesh(p: vec3<f32>) -> f32 {
    let outside = distance(p, clamp(p, vec3<f32>(0.0), grid_size()));
    return select(interpolated(p), outside + width(), outside > 0.0);
}

// Above the ground, which touches the mesh.
fn height(p: vec3<f32>) -> f32 {
    return p.y - width();
}

// The direction of the field's gradient.
fn normal_at(p: vec3<f32>) -> vec3<f32> {
    let half = vec2<f32>(0.5, 0.0);
    let gradient = vec3<f32>(
        distance_from_mesh(p + half.xyy) - distance_from_mesh(p - half.xyy),
        distance_from_mesh(p + half.yxy) - distance_from_mesh(p - half.yxy),
        distance_from_mesh(p + half.yyx) - distance_from_mesh(p - half.yyx),
    );
    // In the middle of a thin sheet it is 0.
    return normalize(gradient + 1e-6 * UP);
}

// The radiance that reaches the eye from `direction`, a unit vector.
fn light_from(eye: vec3<f32>, direction: vec3<f32>) -> vec3<f32> {
    let is_down = direction.y < 0.0;
    let end = select(4.0 * length(grid_size()), -height(eye) / direction.y, is_down);
    var along = 0.0;
    for (var n = 0u; n < STEPS && along < end; n += 1u) {
        let p = eye + along * direction;
        let free = distance_from_mesh(p);
        if free < CLOSE {
            return shaded(p, normal_at(p), CLAY);
        }
        along += free;
    }
    if is_down {
        return shaded(eye + end * direction, UP, GROUND);
    }
    return SKY;
}

fn shaded(p: vec3<f32>, normal: vec3<f32>, albedo: vec3<f32>) -> vec3<f32> {
    let facing = max(dot(normal, TO_SUN), 0.0);
    return albedo * (SUN * facing * sun_at(p) + SKY * sky_at(p, normal));
}

// The visible share of the sun: the narrowest free cone along the ray (I. Quilez, 2010). Points
// outside the band do not narrow it, since their distance is only known to exceed the width.
fn sun_at(p: vec3<f32>) -> f32 {
    var share = 1.0;
    let end = 2.0 * length(grid_size());
    var along = 1.0;
    for (var n = 0u; n < STEPS && along < end; n += 1u) {
        let free = distance_from_mesh(p + along * TO_SUN);
        if free < 0.99 * width() {
            share = min(share, SHARPNESS * free / along);
        }
        if share < CLOSE {
            return 0.0;
        }
        along += max(0.5 * free, 0.25);
    }
    return share;
}

// Ambient occlusion from five distances along the normal, each compared with that in the open
// (A. Evans, 2006).
fn sky_at(p: vec3<f32>, normal: vec3<f32>) -> f32 {
    var taken = 0.0;
    for (var n = 1u; n <= 5u; n += 1u) {
        let along = 0.2 * f32(n) * width();
        let q = p + along * normal;
        let free = min(distance_from_mesh(q), height(q));
        taken += max(along - free, 0.0) / (along * exp2(f32(n)));
    }
    return clamp(1.0 - taken, 0.1, 1.0);
}
