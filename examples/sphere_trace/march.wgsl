// The light that reaches the eye through each pixel, by sphere tracing. One invocation per pixel.
// Lengths are in voxels.

// Signed distances at the centres of voxels; plus or minus the width outside the band, such as in
// the corners. The grid is padded by the width.
@group(0) @binding(0) var field: texture_3d<f32>;
// RGBA, 8 bits each, red first.
@group(0) @binding(1) var<storage, read_write> pixels: array<u32>;

// From a point below the middle of the grid to the eye, in units of its longest side.
const TO_EYE = vec3<f32>(0.66, 0.62, 0.98);
// Width and height of the image plane at distance 1.
const FILM = 0.94;
const TO_SUN = vec3<f32>(-0.64, 0.60, 0.48);
const SUN = vec3<f32>(0.95, 0.80, 0.58);
const SKY = vec3<f32>(0.32, 0.40, 0.52);
// Albedo in linear light.
const CLAY = vec3<f32>(0.71, 0.36, 0.22);
const GROUND = vec3<f32>(0.66, 0.62, 0.55);
// Maximum steps of a ray, and the distance from the surface at which it ends.
const STEPS = 192u;
const CLOSE = 0.01;
// The tangent of the angle below which an occluder takes all light of the sun, inverted.
const SHARPNESS = 10.0;
// Rays per pixel, along each side of it.
const RAYS = 2u;

// Pixels along an edge of a tile.
const TILE = 8u;

@compute @workgroup_size(TILE, TILE)
fn draw(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) tiles: vec3<u32>,
) {
    let side = TILE * tiles.x;
    let dims = vec3<f32>(textureDimensions(field));
    let eye = vec3<f32>(0.5, 0.36, 0.5) * dims + TO_EYE * max(max(dims.x, dims.y), dims.z);
    let back = normalize(TO_EYE);
    let right = normalize(vec3<f32>(back.z, 0.0, -back.x));
    let up = cross(back, right);
    var light = vec3<f32>(0.0);
    for (var ray = 0u; ray < RAYS * RAYS; ray += 1u) {
        let within = (vec2<f32>(vec2<u32>(ray % RAYS, ray / RAYS)) + 0.5) / f32(RAYS);
        let at = FILM * ((vec2<f32>(id.xy) + within) / f32(side) - 0.5);
        light += light_from(eye, normalize(at.x * right - at.y * up - back));
    }
    let linear = clamp(light / f32(RAYS * RAYS), vec3<f32>(0.0), vec3<f32>(1.0));
    pixels[id.y * side + id.x] = pack4x8unorm(vec4<f32>(pow(linear, vec3<f32>(1.0 / 2.2)), 1.0));
}

fn width() -> f32 {
    return texel(vec3<i32>(0));
}

fn texel(voxel: vec3<i32>) -> f32 {
    return textureLoad(field, voxel, 0).x;
}

// The distance by trilinear interpolation. Devices with the feature `float32-filterable` have a
// sampler for it.
fn interpolated(p: vec3<f32>) -> f32 {
    let last = vec3<f32>(textureDimensions(field)) - 1.0;
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

fn is_in_grid(p: vec3<f32>) -> bool {
    return all(p > vec3<f32>(0.0)) && all(p < vec3<f32>(textureDimensions(field)));
}

// A lower bound of the distance from the mesh. Outside the grid the mesh is farther than the grid.
fn distance_from_mesh(p: vec3<f32>) -> f32 {
    let inside = clamp(p, vec3<f32>(0.0), vec3<f32>(textureDimensions(field)));
    let outside = distance(p, inside);
    return max(outside, interpolated(inside) - outside);
}

// The ground touches the mesh.
fn height_above_ground(p: vec3<f32>) -> f32 {
    return p.y - width();
}

fn distance_from_scene(p: vec3<f32>) -> f32 {
    return min(distance_from_mesh(p), height_above_ground(p));
}

// The gradient of the field.
fn normal_at(p: vec3<f32>) -> vec3<f32> {
    let step = vec2<f32>(0.5, 0.0);
    return normalize(vec3<f32>(
        distance_from_mesh(p + step.xyy) - distance_from_mesh(p - step.xyy),
        distance_from_mesh(p + step.yxy) - distance_from_mesh(p - step.yxy),
        distance_from_mesh(p + step.yyx) - distance_from_mesh(p - step.yyx),
    ));
}

// Radiance that reaches the eye from `direction`, a unit vector.
fn light_from(eye: vec3<f32>, direction: vec3<f32>) -> vec3<f32> {
    let farthest = 4.0 * length(eye);
    var along = 0.0;
    for (var step = 0u; step < STEPS && along < farthest; step += 1u) {
        let p = eye + along * direction;
        let free = distance_from_scene(p);
        if free < CLOSE {
            return shaded(p);
        }
        along += free;
    }
    return SKY;
}

fn shaded(p: vec3<f32>) -> vec3<f32> {
    let is_mesh = distance_from_mesh(p) < height_above_ground(p);
    var normal = vec3<f32>(0.0, 1.0, 0.0);
    var albedo = GROUND;
    if is_mesh {
        normal = normal_at(p);
        albedo = CLAY;
    }
    let facing = max(dot(normal, TO_SUN), 0.0);
    let start = p + 2.0 * CLOSE * normal;
    return albedo * (SUN * facing * sun_at(start) + SKY * sky_at(p, normal));
}

// The share of the sun's light: the narrowest free cone along the ray (I. Quilez, 2010). Outside the
// band the distance is not known, and the cone wide.
fn sun_at(p: vec3<f32>) -> f32 {
    var share = 1.0;
    var along = 1.0;
    let farthest = 4.0 * length(vec3<f32>(textureDimensions(field)));
    for (var step = 0u; step < STEPS && along < farthest; step += 1u) {
        let at = p + along * TO_SUN;
        let free = distance_from_mesh(at);
        if is_in_grid(at) && free < 0.99 * width() {
            share = min(share, SHARPNESS * free / along);
        }
        if share < CLOSE {
            return 0.0;
        }
        along += max(0.5 * free, 0.25);
    }
    return share;
}

// The share of the sky's light: by how much five distances along the normal are shorter than they
// would be in the open (A. Evans, 2006).
fn sky_at(p: vec3<f32>, normal: vec3<f32>) -> f32 {
    var taken = 0.0;
    let reach = 0.2 * width();
    for (var step = 1u; step <= 5u; step += 1u) {
        let along = f32(step) * reach;
        taken += (along - distance_from_scene(p + along * normal)) / (along * exp2(f32(step)));
    }
    return clamp(1.0 - taken, 0.1, 1.0);
}
