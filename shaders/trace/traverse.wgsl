// Tree traversal: the first voxel whose closed cube a ray touches, exactly, as the search of
// `src/view/trace/traverse.rs` finds it. `src/view/trace/mod.rs` proves that nothing overflows.
//
// #import trace/rays
// #import trace/scene
// #import trace/dda

fn first_hit(ray: Ray) -> Touch {
    let start = scene_entry(ray);
    if !start.exists {
        return NO_TOUCH;
    }
    // A ray within a plane between two layers of voxels touches both: traverse each of them.
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
        let touch = search(traversal_of(ray, !is_upper & has_two), start.time);
        if touch.exists && (!first.exists || touch_is_before(touch, first)) {
            first = touch;
        }
    }
    return first;
}

// The time at which the ray enters the box of the occupied voxels, if it does. A ray without a
// direction would never leave it.
fn scene_entry(ray: Ray) -> Touch {
    if scene.root == NO_NODES || all(ray.direction == vec3<i32>(0)) {
        return NO_TOUCH;
    }
    var begin = TIME_ZERO;
    // Later than any: distance 2^37 over length 1.
    var end = Time(Int64(0u, 0x20u), 1u);
    for (var a = 0u; a < 3u; a++) {
        let origin = pick(ray.origin, a);
        let to_lo = int64_sub(int64_shifted(scene.lo[a], FRACTION_BITS), origin);
        let to_hi = int64_sub(int64_shifted(scene.hi[a] + 1, FRACTION_BITS), origin);
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

// Whether the ray stays in a plane between two layers of voxels.
fn runs_in_plane(origin: Int64, direction: i32) -> bool {
    return direction == 0 && (origin.x & 0xffffu) == 0u;
}

// is_lower: for each axis on which the ray runs in a plane, whether to traverse the layer below it.
fn traversal_of(ray: Ray, is_lower: vec3<bool>) -> Traversal {
    let takes_lower = (ray.direction < vec3<i32>(0)) | is_lower;
    return Traversal(ray, vec3<u32>(abs(ray.direction)), takes_lower);
}

// An axis along which `cell` is outside `parent`, a cell one level up; NO_AXIS if it is inside.
fn outside_axis(cell: vec3<i32>, parent: vec3<i32>) -> u32 {
    let is_outside = (cell >> vec3<u32>(3u)) != parent;
    return select(select(select(NO_AXIS, 2u, is_outside.z), 1u, is_outside.y), 0u, is_outside.x);
}

// Traverses the tree from its root: down into cells that are not empty, up where a node ends.
fn search(traversal: Traversal, start: Time) -> Touch {
    var node = scene.root;
    // The brick that is traversed at level 0, and the time at which the ray entered it, or the
    // node.
    var brick = 0u;
    var time = start;
    // The position of the current node or brick, among those of its level.
    var parent = vec3<i32>(0);
    var point = position(traversal, start);
    var dda = enter(traversal, scene.top, point).dda;
    // Whether the ray may now touch voxels other than the DDA's: if it begins on a plane (a ray
    // that enters the occupied box through one touches only empty voxels outside it), and at edges.
    let least_planes = select(1u, 2u, is_positive(start.distance));
    var touches_others = crossed_planes(traversal, point, 0u) >= least_planes;
    var now = start;
    loop {
        if touches_others {
            let touch = touched_at(traversal, now);
            if touch.exists {
                return touch;
            }
            touches_others = false;
        }
        let axis = outside_axis(dda.cell, parent);
        if axis != NO_AXIS {
            if dda.level == scene.top {
                break;
            }
            if dda.level > 0u {
                node = nodes[node].parent;
            }
            // The node is a cell one level up: the ray enters that cell's neighbour.
            dda = dda_from(traversal, dda.level + 1u, dda.cell >> vec3<u32>(3u), axis);
            parent = parent >> vec3<u32>(3u);
            continue;
        }
        var cell: Cell;
        if dda.level == 0u {
            cell = voxel_of(brick, dda.cell);
        } else {
            cell = cell_of(node, dda.cell);
        }
        if cell.kind == EMPTY {
            touches_others = advance(traversal, &dda);
        }
        if cell.kind != EMPTY || touches_others {
            now = entry_time(traversal, dda, time);
        }
        if cell.kind == FULL {
            if dda.level == 0u {
                return Touch(true, dda.cell, now);
            }
            // The first in order of its voxels at this point.
            touches_others = true;
        } else if cell.kind == PARTIAL {
            // A DDA before its first step is at the point of the one above.
            if dda.entry_axis != NO_AXIS {
                point = position(traversal, now);
            }
            time = now;
            if dda.level == 1u {
                brick = cell.child;
            } else {
                node = cell.child;
            }
            parent = dda.cell;
            let entry = enter(traversal, dda.level - 1u, point);
            dda = entry.dda;
            touches_others = entry.is_at_edge;
        }
    }
    if dda.level != scene.top || outside_axis(dda.cell, parent) == NO_AXIS {
        gave_up = true;
    }
    return NO_TOUCH;
}

// The first in order of the occupied voxels whose closed cubes contain the ray's point at `time`.
fn touched_at(traversal: Traversal, time: Time) -> Touch {
    let point = position(traversal, time);
    let hi = cell_at(point, 0u);
    let lo = hi - vec3<i32>(is_on_plane(point, 0u));
    for (var corner = 0u; corner < 8u; corner++) {
        let is_upper = (vec3<u32>(corner) & vec3<u32>(4u, 2u, 1u)) != vec3<u32>(0u);
        let voxel = select(lo, hi, is_upper);
        // On an axis with one cell only, lo == hi: visited already.
        if any(is_upper & (lo == hi)) {
            continue;
        }
        if contains(voxel) {
            return Touch(true, voxel, time);
        }
    }
    return NO_TOUCH;
}
