// Rays, times along them and touched voxels, in integers. The Rust twin is `src/view/trace/`.
//
// #import exact/int64
// #import trace/scene

// A voxel is 2^FRACTION_BITS units of a ray's origin wide.
const FRACTION_BITS: u32 = 16u;

// Invocations per workgroup of stages that trace rays.
const RAY_GROUP: u32 = 64u;

struct Ray {
    // In units, at most 2^36 from the grid's minimum corner along each axis.
    origin: array<Int64, 3>,
    // At most 2^24 along each axis. A ray whose direction is 0 touches nothing.
    direction: vec3<i32>,
}

// A time on a ray as a fraction: a distance along an axis, in units, over the absolute direction
// along that axis, above 0.
struct Time {
    distance: Int64,
    length: u32,
}

// A voxel that a ray touches, and the time of the first touch.
struct Touch {
    exists: bool,
    voxel: vec3<i32>,
    time: Time,
}

const TIME_ZERO: Time = Time(Int64(0u, 0u), 1u);
const NO_TOUCH: Touch = Touch(false, vec3<i32>(0), TIME_ZERO);

// Faces of voxels are numbered by their axis, plus 3 for the upper face.
const NO_FACE: u32 = 6u;

// Whether a driver ended a traversal early: some limit shader loops without reporting it.
var<private> gave_up: bool = false;

// Whether a driver ended a loop early. The limit counts all loops of an invocation; past it, each
// loop iterations once. Stages that trace rays check this last, and report it to the host.
fn has_given_up() -> bool {
    // At least two iterations; the count is unknown at compile time, so that it is not unrolled.
    var iterations = 0u;
    while iterations <= scene.top {
        iterations++;
    }
    return gave_up || iterations <= scene.top;
}

fn time_is_before(a: Time, b: Time) -> bool {
    return int64_less(int64_scaled(a.distance, b.length), int64_scaled(b.distance, a.length));
}

fn time_is_at(a: Time, b: Time) -> bool {
    return all(int64_scaled(a.distance, b.length) == int64_scaled(b.distance, a.length));
}

fn touch_is_before(a: Touch, b: Touch) -> bool {
    if !time_is_at(a.time, b.time) {
        return time_is_before(a.time, b.time);
    }
    let is_less = a.voxel < b.voxel;
    let is_same = a.voxel == b.voxel;
    return is_less.x || (is_same.x && (is_less.y || (is_same.y && is_less.z)));
}

// The face through which the ray enters: of the first axis whose plane it reaches at that time.
// NO_FACE if the ray begins in the voxel.
fn face_of(touch: Touch, ray: Ray) -> u32 {
    if !int64_less(Int64(0u, 0u), touch.time.distance) {
        return NO_FACE;
    }
    for (var a = 0u; a < 3u; a++) {
        let d = ray.direction[a];
        if d == 0 {
            continue;
        }
        let plane = touch.voxel[a] + i32(d < 0);
        let towards = int64_sub(int64_shifted(plane, FRACTION_BITS), pick(ray.origin, a));
        let distance = select(towards, int64_neg(towards), d < 0);
        if time_is_at(Time(distance, u32(abs(d))), touch.time) {
            return a + select(0u, 3u, d < 0);
        }
    }
    return NO_FACE;
}

// The component of an axis.
fn pick(three: array<Int64, 3>, axis: u32) -> Int64 {
    return select(select(three[2], three[1], axis == 1u), three[0], axis == 0u);
}

fn is_negative(a: Int64) -> bool {
    return bitcast<i32>(a.y) < 0;
}

fn is_positive(a: Int64) -> bool {
    return !is_negative(a) && any(a != Int64(0u, 0u));
}
