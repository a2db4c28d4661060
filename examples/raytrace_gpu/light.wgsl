// The light that reaches the eye through each pixel, as in `raytrace.rs`. One invocation per pixel.
// The first lines of the shader are `scene_source`.

struct Camera {
    eye: vec4<f32>,
    right: vec4<f32>,
    up: vec4<f32>,
    back: vec4<f32>,
    // Pixels along a side of the picture.
    side: u32,
    // Rays per pixel.
    rays: u32,
}

@group(0) @binding(0) var<uniform> camera: Camera;
// Radiance, and the number of rays that a driver ended early.
@group(0) @binding(1) var<storage, read_write> sums: array<vec4<f32>>;

// Width and height of the image plane at distance 1.
const FILM = 0.94;
const TO_SUN = vec3<f32>(-0.64, 0.60, 0.48);
const SUN = vec3<f32>(0.95, 0.80, 0.58);
const SKY = vec3<f32>(0.32, 0.40, 0.52);
// Albedo in linear light.
const GROUND = vec3<f32>(0.66, 0.62, 0.55);
const TURN = 6.28318531;
const UP = vec3<f32>(0.0, 1.0, 0.0);

@compute @workgroup_size(8, 8)
fn draw(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= camera.side || id.y >= camera.side {
        return;
    }
    var light = vec3<f32>(0.0);
    for (var n = 0u; n < camera.rays; n += 1u) {
        let at = (vec2<f32>(id.xy) + spread(n)) / f32(camera.side) - 0.5;
        let toward = -camera.back.xyz + FILM * (at.x * camera.right.xyz - at.y * camera.up.xyz);
        light += light_from(toward, n, noise_at(vec2<f32>(id.xy)));
    }
    sums[id.y * camera.side + id.x] = vec4<f32>(light, f32(has_given_up()));
}

// Radiance that ray `n` of a pixel with that noise brings to the eye from `direction`. Each call of
// `first_hit` is compiled by itself: there are three.
fn light_from(direction: vec3<f32>, n: u32, noise: f32) -> vec3<f32> {
    let eye = camera.eye.xyz;
    let ray = ray_of(eye, direction);
    let touch = first_hit(ray);
    if !touch.exists && direction.y >= 0.0 {
        return SKY;
    }
    let point = eye - eye.y / direction.y * direction + 0.001 * UP;
    var albedo = GROUND;
    var normal = UP;
    var to_sun = ray_of(point, TO_SUN);
    var to_sky = ray_of(point, toward_sky(UP, n, noise));
    if touch.exists {
        albedo = linear_color_of(touch.voxel).rgb;
        normal = hit_normal(ray, touch);
        to_sun = secondary_ray(ray, touch, TO_SUN);
        to_sky = secondary_ray(ray, touch, toward_sky(normal, n, noise));
    }
    return shaded(albedo, normal, to_sun, to_sky);
}

fn shaded(albedo: vec3<f32>, normal: vec3<f32>, to_sun: Ray, to_sky: Ray) -> vec3<f32> {
    let sun = select(max(dot(normal, TO_SUN), 0.0), 0.0, first_hit(to_sun).exists);
    let sky = select(1.0, 0.1, first_hit(to_sky).exists);
    return min(albedo * (SUN * sun + SKY * sky), vec3<f32>(1.0));
}

// The direction of ray `n` from a face: `normal`, an axis, plus point `n` of a spiral over the unit
// sphere. The density is the cosine of the angle to `normal`. The noise turns the spiral: the same few
// directions for all pixels would show as edges of shadows.
fn toward_sky(normal: vec3<f32>, n: u32, noise: f32) -> vec3<f32> {
    let height = (2.0 * f32(n) + 1.0) / f32(camera.rays) - 1.0;
    let angle = TURN * (0.618033989 * f32(n) + noise);
    let aside = cos(angle) * normal.yzx + sin(angle) * normal.zxy;
    return (1.0 + height) * normal + sqrt(1.0 - height * height) * aside;
}

// Interleaved gradient noise from 0 to 1 (J. Jimenez, 2014): neighbouring pixels differ widely.
fn noise_at(pixel: vec2<f32>) -> f32 {
    return fract(52.9829189 * fract(dot(pixel, vec2<f32>(0.06711056, 0.00583715))));
}

// Point `n` of the low-discrepancy sequence R2 in the unit square (M. Roberts, 2018).
fn spread(n: u32) -> vec2<f32> {
    return fract(f32(n) * vec2<f32>(0.754877666, 0.569840291));
}
