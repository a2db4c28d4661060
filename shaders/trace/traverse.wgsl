// A ray through the tree: the first voxel whose closed cube it touches, exactly. The twin in Rust has
// the same functions, and the proofs that nothing overflows.
//
// #import trace/rays
// #import trace/scene
// #import trace/dda

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
        let touch = search(traversal_of(ray, !is_upper & has_two), start.time);
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

// is_lower says of an axis along which the ray stays in a plane whether it is searched for voxels
// below this.
fn traversal_of(ray: Ray, is_lower: vec3<bool>) -> Traversal {
    let is_down = (ray.direction < vec3<i32>(0)) | is_lower;
    return Traversal(ray, vec3<u32>(abs(ray.direction)), is_down);
}

// An axis along which `cell` is not in `parent`, a cell of the next larger size.
fn left_by(cell: vec3<i32>, parent: vec3<i32>) -> u32 {
    let has_left = (cell >> vec3<u32>(3u)) != parent;
    return select(select(select(NO_AXIS, 2u, has_left.z), 1u, has_left.y), 0u, has_left.x);
}

// Searches the tree from its root, down into cells that hold something and up again past their ends.
fn search(traversal: Traversal, start: Time) -> Touch {
    var node = scene.root;
    // The brick that is traversed at level 0, and when the ray came to it, or to the node.
    var brick = 0u;
    var time = start;
    // The node's own cell, or the brick's, among those of its size.
    var parent = vec3<i32>(0);
    var point = position(traversal, start);
    var dda = enter(traversal, scene.top, point).dda;
    // Whether the ray may now be in voxels beside that of the DDA: in two where it begins on a plane,
    // but not where it comes through one to the box of those that are occupied; in more at an edge.
    var is_beside = planes_about(traversal, point, 0u) >= select(1u, 2u, is_positive(start.distance));
    var now = start;
    loop {
        if is_beside {
            let touch = touched_at(traversal, now);
            if touch.exists {
                return touch;
            }
            is_beside = false;
        }
        let axis = left_by(dda.cell, parent);
        if axis != NO_AXIS {
            if dda.level == scene.top {
                break;
            }
            if dda.level > 0u {
                node = nodes[node].parent;
            }
            // Where a node ends a cell of the next larger one ends: the ray comes to that cell's
            // neighbour now.
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
            is_beside = advance(traversal, &dda);
        }
        if cell.kind != EMPTY || is_beside {
            now = time_of(traversal, dda, time);
        }
        if cell.kind == FULL {
            if dda.level == 0u {
                return Touch(true, dda.cell, now);
            }
            // Which of its voxels.
            is_beside = true;
        } else if cell.kind == PARTIAL {
            // A DDA without a step is at the point of the one before.
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
            is_beside = entry.is_at_edge;
        }
    }
    if dda.level != scene.top || left_by(dda.cell, parent) == NO_AXIS {
        gave_up = true;
    }
    return NO_TOUCH;
}

// The first in order of the occupied voxels whose closed cubes hold the ray's point at `time`.
fn touched_at(traversal: Traversal, time: Time) -> Touch {
    let point = position(traversal, time);
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
