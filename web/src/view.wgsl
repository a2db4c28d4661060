// One picture of a grid at interactive rates: one ray a pixel, or a few, shaded by the face that it meets, with
// the edges of voxels and a hard shadow. `view.rs` has the twin. The first lines are `scene_source`.

struct View {
    // Where rays begin, in voxels; in units of 2^-16 voxel, low words and high words.
    eye: vec4<f32>,
    eye_low: vec4<u32>,
    eye_high: vec4<u32>,
    // The direction through the corner of the first pixel, and what a pixel more adds to it.
    corner: vec4<f32>,
    right: vec4<f32>,
    down: vec4<f32>,
    // To the sun.
    sun: vec4<f32>,
    // Behind the voxels: linear light at the top and at the bottom.
    top: vec4<f32>,
    bottom: vec4<f32>,
    width: u32,
    height: u32,
    first_row: u32,
    rows: u32,
    // Rays along a side of a pixel.
    samples: u32,
    has_shadow: u32,
    // Voxels below `cut` along `cut_axis` are shown; all where the axis is 3.
    cut_axis: u32,
    cut: i32,
    // Tangent of the angle that a pixel covers.
    pixel: f32,
}

@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var<storage, read_write> pixels: array<u32>;
// Not 0 once a ray has given up: the host refuses the picture.
@group(0) @binding(2) var<storage, read_write> flag: atomic<u32>;

fn linear_of(color: u32) -> vec3<f32> {
    let srgb = vec3<f32>(f32(color & 255u), f32((color >> 8u) & 255u), f32((color >> 16u) & 255u)) / 255.0;
    return pow(srgb, vec3<f32>(2.2));
}

// 1 where a voxel is shown.
fn blocks(voxel: vec3<i32>) -> u32 {
    let axis = view.cut_axis;
    return u32((axis >= 3u || voxel[axis] < view.cut) && contains(voxel));
}

// The part of the sky that voxels in front of a face hide from a point of it: at each corner of the face a third for
// each of the three that touch the corner, all if both at its sides are there.
fn occlusion(voxel: vec3<i32>, normal: vec3<f32>, place: vec3<f32>) -> f32 {
    let axis = select(select(2u, 1u, normal.y != 0.0), 0u, normal.x != 0.0);
    let axis_u = (axis + 1u) % 3u;
    let axis_v = (axis + 2u) % 3u;
    let front = voxel + vec3<i32>(normal);
    var along_u = vec3<i32>(0);
    along_u[axis_u] = 1;
    var along_v = vec3<i32>(0);
    along_v[axis_v] = 1;
    let inside = clamp(place - vec3<f32>(voxel), vec3<f32>(0.0), vec3<f32>(1.0));
    let sides_u = vec2<u32>(blocks(front - along_u), blocks(front + along_u));
    let sides_v = vec2<u32>(blocks(front - along_v), blocks(front + along_v));
    var hidden = 0.0;
    for (var corner = 0u; corner < 4u; corner++) {
        let end_u = corner & 1u;
        let end_v = corner >> 1u;
        let beside = sides_u[end_u] + sides_v[end_v];
        var touching = 3u;
        if beside < 2u {
            touching = beside + blocks(front + (2 * i32(end_u) - 1) * along_u + (2 * i32(end_v) - 1) * along_v);
        }
        let weight_u = select(1.0 - inside[axis_u], inside[axis_u], end_u == 1u);
        let weight_v = select(1.0 - inside[axis_v], inside[axis_v], end_v == 1u);
        hidden += weight_u * weight_v * f32(touching) / 3.0;
    }
    return hidden;
}

// Linear light that comes from `towards`, through the film at `row`.
fn light(towards: vec3<f32>, row: f32) -> vec3<f32> {
    let behind = mix(view.top.xyz, view.bottom.xyz, row / f32(view.height));
    var origin = array<Int64, 3>(
        Int64(view.eye_low.x, view.eye_high.x),
        Int64(view.eye_low.y, view.eye_high.y),
        Int64(view.eye_low.z, view.eye_high.z),
    );
    var start = view.eye.xyz;
    var normal = vec3<f32>(0.0);
    let axis = view.cut_axis;
    if axis < 3u {
        let plane = f32(view.cut);
        if start[axis] >= plane {
            if towards[axis] >= 0.0 {
                return behind;
            }
            let time = (plane - start[axis]) / towards[axis];
            start += time * towards;
            if any(abs(start) > vec3<f32>(16000.0)) {
                return behind;
            }
            origin = array<Int64, 3>(in_units(start.x), in_units(start.y), in_units(start.z));
            // Within the last layer that is shown, so that the ray does not touch the next.
            let last = int64_sub(int64_shifted(view.cut, FRACTION_BITS), Int64(1u, 0u));
            if axis == 0u { origin[0] = last; }
            if axis == 1u { origin[1] = last; }
            if axis == 2u { origin[2] = last; }
            normal[axis] = 1.0;
        }
    }
    let ray = Ray(origin, direction_of(towards));
    let touch = first_hit(ray);
    if !touch.exists || (axis < 3u && touch.voxel[axis] >= view.cut) {
        return behind;
    }
    if face_of(touch, ray) != NO_FACE {
        normal = hit_normal(ray, touch);
    } else if all(normal == vec3<f32>(0.0)) {
        normal = -normalize(towards);
    }
    let place = hit_point(ray, touch);
    let away = length(place - view.eye.xyz);

    // Edges are a pixel wide, and fade where voxels are only a few.
    let footprint = away * view.pixel;
    let to_edge = min(fract(place), 1.0 - fract(place)) + abs(normal);
    let nearest = min(to_edge.x, min(to_edge.y, to_edge.z));
    let edge = (1.0 - smoothstep(0.5 * footprint, 1.5 * footprint, nearest))
        * (1.0 - smoothstep(0.08, 0.25, footprint));

    var direct = max(dot(normal, view.sun.xyz), 0.0);
    if view.has_shadow == 1u && direct > 0.0 {
        if first_hit(ray_of(place + normal / 64.0, view.sun.xyz)).exists {
            direct = 0.0;
        }
    }
    var sky = 1.0;
    if view.has_shadow == 1u && face_of(touch, ray) != NO_FACE {
        sky -= 0.6 * occlusion(touch.voxel, normal, place);
    }
    let shade = (0.34 + 0.16 * dot(normal, vec3<f32>(0.1, 0.6, 0.3))) * sky + 0.62 * direct;
    return linear_of(color_of(touch.voxel)) * shade * (1.0 - 0.45 * edge);
}

@compute @workgroup_size(8, 8)
fn draw_view(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= view.width || id.y >= view.rows {
        return;
    }
    var sum = vec3<f32>(0.0);
    for (var n = 0u; n < view.samples * view.samples; n++) {
        let inside = (vec2<f32>(vec2<u32>(n % view.samples, n / view.samples)) + 0.5) / f32(view.samples);
        let at = vec2<f32>(vec2<u32>(id.x, view.first_row + id.y)) + inside;
        sum += light(view.corner.xyz + at.x * view.right.xyz + at.y * view.down.xyz, at.y);
    }
    let mean = clamp(sum / f32(view.samples * view.samples), vec3<f32>(0.0), vec3<f32>(1.0));
    let bytes = vec3<u32>(round(pow(mean, vec3<f32>(1.0 / 2.2)) * 255.0));
    let color = bytes.x | (bytes.y << 8u) | (bytes.z << 16u) | 0xff000000u;
    pixels[id.y * view.width + id.x] = color;
    if has_given_up() {
        atomicStore(&flag, 1u);
    }
}

// One triangle over a canvas of `width` x `rows` pixels.
@vertex
fn corner(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {
    return vec4<f32>(f32(index & 1u) * 4.0 - 1.0, f32(index >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

@fragment
fn pixel_of(@builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {
    return unpack4x8unorm(pixels[u32(at.y) * view.width + u32(at.x)]);
}
