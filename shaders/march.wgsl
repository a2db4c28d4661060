// One ray through the tree: the first voxel whose closed cube it touches, exactly. The host's march
// has the same functions, and the proofs that nothing overflows.

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

// A ray and what it is searched with.
struct March {
    ray: Ray,
    // The lengths of the direction along the axes.
    lengths: vec3<u32>,
    // Whether cells end at the plane that the ray reaches, rather than begin there.
    is_down: vec3<bool>,
}

// A walk from cell to cell of one level.
struct Walk {
    level: u32,
    cell: vec3<i32>,
    // By how much the ray leaves the cell later along x than along y, along y than z, and along z
    // than x.
    later: array<Int64, 3>,
    // By which axis the ray came to the cell; NO_AXIS where the walk begins.
    came_by: u32,
}

const NO_AXIS: u32 = 3u;

// How much later than any other is an axis along which the ray never leaves a cell: 2^62.
const NEVER: Int64 = Int64(0u, 0x40000000u);

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

fn first_hit(ray: Ray) -> Touch {
    let start = start_of(ray);
    if !start.exists {
        return NO_TOUCH;
    }
    // A ray that runs in a plane between layers of voxels touches both, all along: it is one ray
    // through each.
    let has_two = vec3<bool>(
        runs_in_plane(ray.origin[0], ray.direction.x),
        runs_in_plane(ray.origin[1], ray.direction.y),
        runs_in_plane(ray.origin[2], ray.direction.z),
    );
    var first = NO_TOUCH;
    for (var side = 0u; side < 8u; side++) {
        let is_upper = (vec3<u32>(side) & vec3<u32>(4u, 2u, 1u)) != vec3<u32>(0u);
        if any(is_upper & !has_two) {
            continue;
        }
        let touch = search(march_of(ray, !is_upper & has_two), start.time);
        if touch.exists && (!first.exists || touch_is_before(touch, first)) {
            first = touch;
        }
    }
    return first;
}

// When the ray comes to the box of the occupied voxels, if it does.
fn start_of(ray: Ray) -> Touch {
    if scene.root == NO_NODES {
        return NO_TOUCH;
    }
    var begin = AT_ONCE;
    // Later than any: 2^37 at the least length.
    var end = Time(Int64(0u, 0x20u), 1u);
    for (var a = 0u; a < 3u; a++) {
        let origin = pick(ray.origin, a);
        let to_lo = int64_sub(int64_shifted(scene.lo[a], UNIT_BITS), origin);
        let to_hi = int64_sub(int64_shifted(scene.hi[a] + 1, UNIT_BITS), origin);
        let d = ray.direction[a];
        if d == 0 {
            let is_outside = int64_less(Int64(0u, 0u), to_lo) || int64_less(to_hi, Int64(0u, 0u));
            if is_outside {
                return NO_TOUCH;
            }
            continue;
        }
        let length = u32(abs(d));
        var near = Time(to_lo, length);
        var far = Time(to_hi, length);
        if d < 0 {
            near = Time(int64_neg(to_hi), length);
            far = Time(int64_neg(to_lo), length);
        }
        if time_is_before(begin, near) {
            begin = near;
        }
        if time_is_before(far, end) {
            end = far;
        }
    }
    return Touch(!time_is_before(end, begin), vec3<i32>(0), begin);
}

// Whether it stays between two layers of voxels.
fn runs_in_plane(origin: Int64, direction: i32) -> bool {
    return direction == 0 && (origin.x & 0xffffu) == 0u;
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

// is_lower says of an axis along which the ray stays in a plane whether it is searched for voxels
// below this.
fn march_of(ray: Ray, is_lower: vec3<bool>) -> March {
    let is_down = (ray.direction < vec3<i32>(0)) | is_lower;
    return March(ray, vec3<u32>(abs(ray.direction)), is_down);
}

// An axis along which `cell` is not in `parent`, a cell of the next larger size.
fn left_by(cell: vec3<i32>, parent: vec3<i32>) -> u32 {
    let has_left = (cell >> vec3<u32>(3u)) != parent;
    return select(select(select(NO_AXIS, 2u, has_left.z), 1u, has_left.y), 0u, has_left.x);
}

// Searches the tree from its root, down into cells that hold something and up again past their ends.
fn search(march: March, start: Time) -> Touch {
    var node = scene.root;
    // The brick that is walked through at level 0, and when the ray came to it, or to the node.
    var brick = 0u;
    var time = start;
    // The node's own cell, or the brick's, among those of its size.
    var parent = vec3<i32>(0);
    var point = position(march, start);
    var walk = enter(march, scene.top, point).walk;
    // Whether the ray may now be in voxels beside that of the walk: in two where it begins on a plane,
    // but not where it comes through one to the box of those that are occupied; in more at an edge.
    var is_beside = planes_about(march, point, 0u) >= select(1u, 2u, is_positive(start.distance));
    var now = start;
    loop {
        if is_beside {
            let touch = touched_at(march, now);
            if touch.exists {
                return touch;
            }
            is_beside = false;
        }
        let axis = left_by(walk.cell, parent);
        if axis != NO_AXIS {
            if walk.level == scene.top {
                break;
            }
            if walk.level > 0u {
                node = nodes[node].parent;
            }
            // Where a node ends a cell of the next larger one ends: the ray comes to that cell's
            // neighbour now.
            walk = walk_from(march, walk.level + 1u, walk.cell >> vec3<u32>(3u), axis);
            parent = parent >> vec3<u32>(3u);
            continue;
        }
        var cell: Cell;
        if walk.level == 0u {
            cell = voxel_of(brick, walk.cell);
        } else {
            cell = cell_of(node, walk.cell);
        }
        if cell.kind == EMPTY {
            is_beside = advance(march, &walk);
        }
        if cell.kind != EMPTY || is_beside {
            now = time_of(march, walk, time);
        }
        if cell.kind == FULL {
            if walk.level == 0u {
                return Touch(true, walk.cell, now);
            }
            // Which of its voxels.
            is_beside = true;
        } else if cell.kind == PARTIAL {
            // A walk that just began is where the one before was.
            if walk.came_by != NO_AXIS {
                point = position(march, now);
            }
            time = now;
            if walk.level == 1u {
                brick = cell.child;
            } else {
                node = cell.child;
            }
            parent = walk.cell;
            let entry = enter(march, walk.level - 1u, point);
            walk = entry.walk;
            is_beside = entry.is_at_edge;
        }
    }
    if walk.level != scene.top || left_by(walk.cell, parent) == NO_AXIS {
        gave_up = true;
    }
    return NO_TOUCH;
}

// The first in order of the occupied voxels whose closed cubes hold the ray's point at `time`.
fn touched_at(march: March, time: Time) -> Touch {
    let point = position(march, time);
    let hi = cells_of(point, 0u);
    let lo = hi - vec3<i32>(is_at_end(point, 0u));
    for (var corner = 0u; corner < 8u; corner++) {
        let is_upper = (vec3<u32>(corner) & vec3<u32>(4u, 2u, 1u)) != vec3<u32>(0u);
        let voxel = select(lo, hi, is_upper);
        // Where an axis has one cell alone, its upper one was looked at.
        if any(is_upper & (lo == hi)) {
            continue;
        }
        if contains(voxel) {
            return Touch(true, voxel, time);
        }
    }
    return NO_TOUCH;
}

struct Entry {
    walk: Walk,
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
fn position(march: March, time: Time) -> Point {
    let x = along(march.ray.origin[0], march.ray.direction.x, time);
    let y = along(march.ray.origin[1], march.ray.direction.y, time);
    let z = along(march.ray.origin[2], march.ray.direction.z, time);
    let rest = vec3<u32>(x.remainder, y.remainder, z.remainder);
    return Point(array<Int64, 3>(x.quotient, y.quotient, z.quotient), rest == vec3<u32>(0u));
}

fn along(origin: Int64, direction: i32, time: Time) -> Quotient {
    let distance = int64_times(time.distance, direction);
    return int64_divided(int64_add(int64_scaled(origin, time.length), distance), time.length);
}

// The walk through cells of a level that begins at `point`.
fn enter(march: March, level: u32, point: Point) -> Entry {
    let upper = cells_of(point, level);
    let lower = upper - vec3<i32>(is_at_end(point, level));
    let cell = select(upper, lower, march.is_down);
    let walk = walk_from(march, level, cell, NO_AXIS);
    return Entry(walk, planes_about(march, point, level) >= 2u);
}

// Between how many layers of cells `point` is that the ray does not stay between.
fn planes_about(march: March, point: Point, level: u32) -> u32 {
    let is_on_plane = is_at_end(point, level) & (march.lengths != vec3<u32>(0u));
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

fn walk_from(march: March, level: u32, cell: vec3<i32>, came_by: u32) -> Walk {
    let bits = UNIT_BITS + 3u * level;
    let planes = cell + vec3<i32>(march.ray.direction > vec3<i32>(0));
    let nx = int64_abs(int64_sub(int64_shifted(planes.x, bits), march.ray.origin[0]));
    let ny = int64_abs(int64_sub(int64_shifted(planes.y, bits), march.ray.origin[1]));
    let nz = int64_abs(int64_sub(int64_shifted(planes.z, bits), march.ray.origin[2]));
    let m = march.lengths;
    let later = array<Int64, 3>(
        later_by(nx, ny, m.x, m.y),
        later_by(ny, nz, m.y, m.z),
        later_by(nz, nx, m.z, m.x),
    );
    return Walk(level, cell, later, came_by);
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
fn advance(march: March, walk: ptr<function, Walk>) -> bool {
    let xy = (*walk).later[0];
    let yz = (*walk).later[1];
    let zx = (*walk).later[2];
    let is_x = !is_positive(xy) && !is_negative(zx);
    let is_y = !is_positive(yz) && !is_negative(xy);
    let is_z = !is_positive(zx) && !is_negative(yz);
    // What a step along each axis adds, by the length along the other.
    let bits = UNIT_BITS + 3u * (*walk).level;
    let step_x = int64_shifted(i32(march.lengths.x), bits);
    let step_y = int64_shifted(i32(march.lengths.y), bits);
    let step_z = int64_shifted(i32(march.lengths.z), bits);
    let signs = sign(march.ray.direction);
    if is_x {
        (*walk).later[0] = int64_add((*walk).later[0], step_y);
        (*walk).later[2] = int64_sub((*walk).later[2], step_z);
        (*walk).cell.x += signs.x;
        (*walk).came_by = 0u;
    }
    if is_y {
        (*walk).later[1] = int64_add((*walk).later[1], step_z);
        (*walk).later[0] = int64_sub((*walk).later[0], step_x);
        (*walk).cell.y += signs.y;
        (*walk).came_by = 1u;
    }
    if is_z {
        (*walk).later[2] = int64_add((*walk).later[2], step_x);
        (*walk).later[1] = int64_sub((*walk).later[1], step_y);
        (*walk).cell.z += signs.z;
        (*walk).came_by = 2u;
    }
    return u32(is_x) + u32(is_y) + u32(is_z) > 1u;
}

// When the ray came to the walk's cell.
fn time_of(march: March, walk: Walk, start: Time) -> Time {
    if walk.came_by == NO_AXIS {
        return start;
    }
    let is_down = march.ray.direction[walk.came_by] < 0;
    let plane = walk.cell[walk.came_by] + i32(is_down);
    let bits = UNIT_BITS + 3u * walk.level;
    let towards = int64_sub(int64_shifted(plane, bits), pick(march.ray.origin, walk.came_by));
    let distance = select(towards, int64_neg(towards), is_down);
    return Time(distance, march.lengths[walk.came_by]);
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

// A quotient rounded down, of a point on a ray: b is a length of a direction.
fn divided(a: Int64, b: u32) -> Int64 {
    return int64_divided(a, b).quotient;
}

// Where a ray is at a time along an axis, in units, rounded down.
fn point_at(origin: Int64, direction: i32, time: Time) -> Int64 {
    return int64_add(origin, divided(int64_times(time.distance, direction), time.length));
}
