// The light that reaches the eye through each pixel, as in `raytrace.rs`. One invocation per pixel.
// The first lines of the shader are `SCENE_SOURCE`.

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
const UP = vec3<f32>(0.0, 1.0, 0.0);

@compute @workgroup_size(8, 8)
fn draw(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= camera.side || id.y >= camera.side {
        return;
    }
    var light = vec3<f32>(0.0);
    for (var n = 0u; n < camera.rays; n += 1u) {
        let at = (vec2<f32>(id.xy) + spread(n).xy) / f32(camera.side) - 0.5;
        let toward = -camera.back.xyz + FILM * (at.x * camera.right.xyz - at.y * camera.up.xyz);
        light += light_from(toward, n);
    }
    sums[id.y * camera.side + id.x] = vec4<f32>(light, f32(has_given_up()));
}

// Radiance that ray `n` brings to the eye from `direction`. Each call of `first_hit` is compiled by
// itself: there are three.
fn light_from(direction: vec3<f32>, n: u32) -> vec3<f32> {
    let eye = camera.eye.xyz;
    let aside = normalize(spread(n) - 0.5);
    let ray = ray_of(eye, direction);
    let touch = first_hit(ray);
    if !touch.exists && direction.y >= 0.0 {
        return SKY;
    }
    let point = eye - eye.y / direction.y * direction + 0.001 * UP;
    var albedo = GROUND;
    var normal = UP;
    var to_sun = ray_of(point, TO_SUN);
    var to_sky = ray_of(point, UP + 0.99 * aside);
    if touch.exists {
        albedo = linear_color_of(touch.voxel).rgb;
        normal = hit_normal(ray, touch);
        to_sun = secondary_ray(ray, touch, TO_SUN);
        to_sky = secondary_ray(ray, touch, normal + 0.99 * aside);
    }
    return shaded(albedo, normal, to_sun, to_sky);
}

fn shaded(albedo: vec3<f32>, normal: vec3<f32>, to_sun: Ray, to_sky: Ray) -> vec3<f32> {
    let sun = select(max(dot(normal, TO_SUN), 0.0), 0.0, first_hit(to_sun).exists);
    let sky = select(1.0, 0.1, first_hit(to_sky).exists);
    return min(albedo * (SUN * sun + SKY * sky), vec3<f32>(1.0));
}

// Point `n` of the low-discrepancy sequence R3 in the unit cube (M. Roberts, 2018).
fn spread(n: u32) -> vec3<f32> {
    return fract(f32(n) * vec3<f32>(0.819172513, 0.671043607, 0.549700478));
}
