// Steps a ray from cell to cell of one level of the tree: a DDA in integers.
//
// #import exact/int64
// #import trace/rays

// A ray, set up for one traversal: on one side of each plane between voxels that it runs in.
struct Traversal {
    ray: Ray,
    // The absolute direction, per axis.
    lengths: vec3<u32>,
    // Per axis, whether a point on a plane between cells counts to the lower cell.
    takes_lower: vec3<bool>,
}

// A digital differential analyzer: the current cell of one level and the order of its exits.
struct Dda {
    level: u32,
    cell: vec3<i32>,
    // Differences of exit times, scaled to integers: x minus y, y minus z, z minus x. With
    // distances n to the exit planes and lengths m: n.x m.y - n.y m.x and so on.
    exit_differences: array<Int64, 3>,
    // The axis along which the ray entered the cell; NO_AXIS before the first step.
    entry_axis: u32,
}

const NO_AXIS: u32 = 3u;

// Exit time, relative to other axes, of an axis along which the ray never leaves a cell: 2^62.
const NEVER: Int64 = Int64(0u, 0x40000000u);

struct Entry {
    dda: Dda,
    // Whether the ray crosses planes of two or more axes at the entry point: an edge or a corner,
    // where it touches other cells too.
    is_at_edge: bool,
}

// A point on a ray.
struct Point {
    // Rounded down to units.
    units: array<Int64, 3>,
    // Whether rounding changed nothing.
    is_exact: vec3<bool>,
}

// The point of the ray at `time`.
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

// The point of a ray at a time, in units, rounded down.
fn point_at(ray: Ray, time: Time) -> array<Int64, 3> {
    return array<Int64, 3>(
        along(ray.origin[0], ray.direction.x, time).quotient,
        along(ray.origin[1], ray.direction.y, time).quotient,
        along(ray.origin[2], ray.direction.z, time).quotient,
    );
}

// Begins a DDA through the cells of a level at `point`.
fn enter(traversal: Traversal, level: u32, point: Point) -> Entry {
    let upper = cell_at(point, level);
    let lower = upper - vec3<i32>(is_on_plane(point, level));
    let cell = select(upper, lower, traversal.takes_lower);
    let dda = dda_from(traversal, level, cell, NO_AXIS);
    return Entry(dda, crossed_planes(traversal, point, level) >= 2u);
}

// The number of axes on which `point` is on a plane between cells that the ray crosses.
fn crossed_planes(traversal: Traversal, point: Point, level: u32) -> u32 {
    let is_crossed = is_on_plane(point, level) & (traversal.lengths != vec3<u32>(0u));
    return u32(is_crossed.x) + u32(is_crossed.y) + u32(is_crossed.z);
}

// The cell of a level that contains `point`: the upper one if the point is on a plane between
// cells. Rounding down to units does not change it.
fn cell_at(point: Point, level: u32) -> vec3<i32> {
    let bits = FRACTION_BITS + 3u * level;
    let low = vec3<u32>(point.units[0].x, point.units[1].x, point.units[2].x);
    let high = vec3<u32>(point.units[0].y, point.units[1].y, point.units[2].y);
    return vec3<i32>((high << vec3<u32>(32u - bits)) | (low >> vec3<u32>(bits)));
}

// Per axis, whether `point` is on a plane between cells of a level.
fn is_on_plane(point: Point, level: u32) -> vec3<bool> {
    let within = (1u << (FRACTION_BITS + 3u * level)) - 1u;
    let low = vec3<u32>(point.units[0].x, point.units[1].x, point.units[2].x);
    return point.is_exact & ((low & vec3<u32>(within)) == vec3<u32>(0u));
}

fn dda_from(traversal: Traversal, level: u32, cell: vec3<i32>, entry_axis: u32) -> Dda {
    let bits = FRACTION_BITS + 3u * level;
    let planes = cell + vec3<i32>(traversal.ray.direction > vec3<i32>(0));
    let nx = int64_abs(int64_sub(int64_shifted(planes.x, bits), traversal.ray.origin[0]));
    let ny = int64_abs(int64_sub(int64_shifted(planes.y, bits), traversal.ray.origin[1]));
    let nz = int64_abs(int64_sub(int64_shifted(planes.z, bits), traversal.ray.origin[2]));
    let m = traversal.lengths;
    let exit_differences = array<Int64, 3>(
        exit_difference(nx, ny, m.x, m.y),
        exit_difference(ny, nz, m.y, m.z),
        exit_difference(nz, nx, m.z, m.x),
    );
    return Dda(level, cell, exit_differences, entry_axis);
}

fn exit_difference(n_a: Int64, n_b: Int64, m_a: u32, m_b: u32) -> Int64 {
    if m_a == 0u {
        return NEVER;
    }
    if m_b == 0u {
        return int64_neg(NEVER);
    }
    return int64_sub(int64_scaled(n_a, m_b), int64_scaled(n_b, m_a));
}

// Steps to the next cell. Returns whether the ray leaves the cell along several axes at once,
// through an edge or a corner, where it touches other cells too.
fn advance(traversal: Traversal, dda: ptr<function, Dda>) -> bool {
    let xy = (*dda).exit_differences[0];
    let yz = (*dda).exit_differences[1];
    let zx = (*dda).exit_differences[2];
    let is_x = !is_positive(xy) && !is_negative(zx);
    let is_y = !is_positive(yz) && !is_negative(xy);
    let is_z = !is_positive(zx) && !is_negative(yz);
    // A cell's side times each length: the change of the differences by one step.
    let bits = FRACTION_BITS + 3u * (*dda).level;
    let step_x = int64_shifted(i32(traversal.lengths.x), bits);
    let step_y = int64_shifted(i32(traversal.lengths.y), bits);
    let step_z = int64_shifted(i32(traversal.lengths.z), bits);
    let signs = sign(traversal.ray.direction);
    if is_x {
        (*dda).exit_differences[0] = int64_add((*dda).exit_differences[0], step_y);
        (*dda).exit_differences[2] = int64_sub((*dda).exit_differences[2], step_z);
        (*dda).cell.x += signs.x;
        (*dda).entry_axis = 0u;
    }
    if is_y {
        (*dda).exit_differences[1] = int64_add((*dda).exit_differences[1], step_z);
        (*dda).exit_differences[0] = int64_sub((*dda).exit_differences[0], step_x);
        (*dda).cell.y += signs.y;
        (*dda).entry_axis = 1u;
    }
    if is_z {
        (*dda).exit_differences[2] = int64_add((*dda).exit_differences[2], step_x);
        (*dda).exit_differences[1] = int64_sub((*dda).exit_differences[1], step_y);
        (*dda).cell.z += signs.z;
        (*dda).entry_axis = 2u;
    }
    return u32(is_x) + u32(is_y) + u32(is_z) > 1u;
}

// The time at which the ray entered the DDA's cell.
fn entry_time(traversal: Traversal, dda: Dda, start: Time) -> Time {
    if dda.entry_axis == NO_AXIS {
        return start;
    }
    let is_down = traversal.ray.direction[dda.entry_axis] < 0;
    let plane = dda.cell[dda.entry_axis] + i32(is_down);
    let bits = FRACTION_BITS + 3u * dda.level;
    let towards = int64_sub(int64_shifted(plane, bits), pick(traversal.ray.origin, dda.entry_axis));
    let distance = select(towards, int64_neg(towards), is_down);
    return Time(distance, traversal.lengths[dda.entry_axis]);
}
