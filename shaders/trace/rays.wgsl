// Rays, times on them and what they touch: in integers, as the twin in Rust has them.
//
// #import exact/int64
// #import trace/scene

// A voxel is 2^UNIT_BITS units of a ray's origin wide.
const UNIT_BITS: u32 = 16u;

// Invocations per workgroup of stages that follow rays.
const RAY_GROUP: u32 = 64u;

struct Ray {
    // In units, at most 2^36 from the grid's minimum corner along each axis.
    origin: array<Int64, 3>,
    // At most 2^24 along each axis, not all 0.
    direction: vec3<i32>,
}

// A time on a ray: the quotient of a distance along an axis, in units, and the length of the direction
// along that axis, above 0.
struct Time {
    distance: Int64,
    length: u32,
}

// A voxel that a ray touches, and when it first does.
struct Touch {
    exists: bool,
    voxel: vec3<i32>,
    time: Time,
}

const AT_ONCE: Time = Time(Int64(0u, 0u), 1u);
const NO_TOUCH: Touch = Touch(false, vec3<i32>(0), AT_ONCE);

// Faces of voxels: the axis they are perpendicular to, and 3 more for the upper one.
const NO_FACE: u32 = 6u;

// Whether a driver ended a search early: some limit the loops of a shader, and say nothing.
var<private> gave_up: bool = false;

// Whether a driver ended a search early, or any other loop: the limit is one for all loops of an invocation,
// and past it each runs once. A stage that follows rays asks at its end, and tells its host.
fn has_given_up() -> bool {
    // Twice or more, and how often no compiler knows, which would unroll it.
    var runs = 0u;
    while runs <= scene.top {
        runs++;
    }
    return gave_up || runs <= scene.top;
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

// The face of the first axis whose plane the ray reaches now; none where it begins in the voxel.
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
        let towards = int64_sub(int64_shifted(plane, UNIT_BITS), pick(ray.origin, a));
        let distance = select(towards, int64_neg(towards), d < 0);
        if time_is_at(Time(distance, u32(abs(d))), touch.time) {
            return a + select(0u, 3u, d < 0);
        }
    }
    return NO_FACE;
}

// That of an axis.
fn pick(three: array<Int64, 3>, axis: u32) -> Int64 {
    return select(select(three[2], three[1], axis == 1u), three[0], axis == 0u);
}

fn is_negative(a: Int64) -> bool {
    return bitcast<i32>(a.y) < 0;
}

fn is_positive(a: Int64) -> bool {
    return !is_negative(a) && any(a != Int64(0u, 0u));
}
