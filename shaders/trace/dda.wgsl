// The steps of a ray from cell to cell of one level of the tree (a DDA), in integers.
//
// #import exact/int64
// #import trace/rays

// A ray, set up for the search on one side of the planes that it runs in.
struct Traversal {
    ray: Ray,
    // The absolute direction, per axis.
    lengths: vec3<u32>,
    // Whether cells end at the plane that the ray reaches, rather than begin there.
    is_down: vec3<bool>,
}

// A digital differential analyzer: the position in the cells of one level.
struct Dda {
    level: u32,
    cell: vec3<i32>,
    // By how much the ray leaves the cell later along x than along y, along y than z, and along z
    // than x.
    later: array<Int64, 3>,
    // The axis along which the ray entered the cell; NO_AXIS before the first step.
    entry_axis: u32,
}

const NO_AXIS: u32 = 3u;

// How much later than any other is an axis along which the ray never leaves a cell: 2^62.
const NEVER: Int64 = Int64(0u, 0x40000000u);

struct Entry {
    dda: Dda,
    // Whether the ray is then on planes of two axes that it does not stay in, or more: other cells
    // touch it there, too.
    is_at_edge: bool,
}

// A point on a ray.
struct Point {
    // Rounded down.
    units: array<Int64, 3>,
    // Whether that changed nothing.
    is_exact: vec3<bool>,
}

// Where the ray is at `time`.
fn position(traversal: Traversal, time: Time) -> Point {
    let x = along(traversal.ray.origin[0], traversal.ray.direction.x, time);
    let y = along(traversal.ray.origin[1], traversal.ray.direction.y, time);
    let z = along(traversal.ray.origin[2], traversal.ray.direction.z, time);
    let rest = vec3<u32>(x.remainder, y.remainder, z.remainder);
    return Point(array<Int64, 3>(x.quotient, y.quotient, z.quotient), rest == vec3<u32>(0u));
}

fn along(origin: Int64, direction: i32, time: Time) -> Quotient {
    let distance = int64_times(time.distance, direction);
    return int64_divided(int64_add(int64_scaled(origin, time.length), distance), time.length);
}

// Where a ray is at a time along an axis, in units, rounded down.
fn point_at(origin: Int64, direction: i32, time: Time) -> Int64 {
    return along(origin, direction, time).quotient;
}

// The DDA through the cells of a level that begins at `point`.
fn enter(traversal: Traversal, level: u32, point: Point) -> Entry {
    let upper = cells_of(point, level);
    let lower = upper - vec3<i32>(is_at_end(point, level));
    let cell = select(upper, lower, traversal.is_down);
    let dda = dda_from(traversal, level, cell, NO_AXIS);
    return Entry(dda, planes_about(traversal, point, level) >= 2u);
}

// Between how many layers of cells `point` is that the ray does not stay between.
fn planes_about(traversal: Traversal, point: Point, level: u32) -> u32 {
    let is_on_plane = is_at_end(point, level) & (traversal.lengths != vec3<u32>(0u));
    return u32(is_on_plane.x) + u32(is_on_plane.y) + u32(is_on_plane.z);
}

// The cells of a level that hold `point`, the upper ones where it is where one ends. Rounding down to
// units first changes neither.
fn cells_of(point: Point, level: u32) -> vec3<i32> {
    let bits = UNIT_BITS + 3u * level;
    let low = vec3<u32>(point.units[0].x, point.units[1].x, point.units[2].x);
    let high = vec3<u32>(point.units[0].y, point.units[1].y, point.units[2].y);
    return vec3<i32>((high << vec3<u32>(32u - bits)) | (low >> vec3<u32>(bits)));
}

// Whether a cell of a level ends at `point`, along each axis.
fn is_at_end(point: Point, level: u32) -> vec3<bool> {
    let within = (1u << (UNIT_BITS + 3u * level)) - 1u;
    let low = vec3<u32>(point.units[0].x, point.units[1].x, point.units[2].x);
    return point.is_exact & ((low & vec3<u32>(within)) == vec3<u32>(0u));
}

fn dda_from(traversal: Traversal, level: u32, cell: vec3<i32>, entry_axis: u32) -> Dda {
    let bits = UNIT_BITS + 3u * level;
    let planes = cell + vec3<i32>(traversal.ray.direction > vec3<i32>(0));
    let nx = int64_abs(int64_sub(int64_shifted(planes.x, bits), traversal.ray.origin[0]));
    let ny = int64_abs(int64_sub(int64_shifted(planes.y, bits), traversal.ray.origin[1]));
    let nz = int64_abs(int64_sub(int64_shifted(planes.z, bits), traversal.ray.origin[2]));
    let m = traversal.lengths;
    let later = array<Int64, 3>(
        later_by(nx, ny, m.x, m.y),
        later_by(ny, nz, m.y, m.z),
        later_by(nz, nx, m.z, m.x),
    );
    return Dda(level, cell, later, entry_axis);
}

fn later_by(n_a: Int64, n_b: Int64, m_a: u32, m_b: u32) -> Int64 {
    if m_a == 0u {
        return NEVER;
    }
    if m_b == 0u {
        return int64_neg(NEVER);
    }
    return int64_sub(int64_scaled(n_a, m_b), int64_scaled(n_b, m_a));
}

// Goes on to the next cell, and tells whether others are touched on the way to it: where the ray
// leaves the last along several axes at once.
fn advance(traversal: Traversal, dda: ptr<function, Dda>) -> bool {
    let xy = (*dda).later[0];
    let yz = (*dda).later[1];
    let zx = (*dda).later[2];
    let is_x = !is_positive(xy) && !is_negative(zx);
    let is_y = !is_positive(yz) && !is_negative(xy);
    let is_z = !is_positive(zx) && !is_negative(yz);
    // What a step along each axis adds, by the length along the other.
    let bits = UNIT_BITS + 3u * (*dda).level;
    let step_x = int64_shifted(i32(traversal.lengths.x), bits);
    let step_y = int64_shifted(i32(traversal.lengths.y), bits);
    let step_z = int64_shifted(i32(traversal.lengths.z), bits);
    let signs = sign(traversal.ray.direction);
    if is_x {
        (*dda).later[0] = int64_add((*dda).later[0], step_y);
        (*dda).later[2] = int64_sub((*dda).later[2], step_z);
        (*dda).cell.x += signs.x;
        (*dda).entry_axis = 0u;
    }
    if is_y {
        (*dda).later[1] = int64_add((*dda).later[1], step_z);
        (*dda).later[0] = int64_sub((*dda).later[0], step_x);
        (*dda).cell.y += signs.y;
        (*dda).entry_axis = 1u;
    }
    if is_z {
        (*dda).later[2] = int64_add((*dda).later[2], step_x);
        (*dda).later[1] = int64_sub((*dda).later[1], step_y);
        (*dda).cell.z += signs.z;
        (*dda).entry_axis = 2u;
    }
    return u32(is_x) + u32(is_y) + u32(is_z) > 1u;
}

// When the ray entered the DDA's cell.
fn time_of(traversal: Traversal, dda: Dda, start: Time) -> Time {
    if dda.entry_axis == NO_AXIS {
        return start;
    }
    let is_down = traversal.ray.direction[dda.entry_axis] < 0;
    let plane = dda.cell[dda.entry_axis] + i32(is_down);
    let bits = UNIT_BITS + 3u * dda.level;
    let towards = int64_sub(int64_shifted(plane, bits), pick(traversal.ray.origin, dda.entry_axis));
    let distance = select(towards, int64_neg(towards), is_down);
    return Time(distance, traversal.lengths[dda.entry_axis]);
}
