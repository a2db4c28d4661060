// crosses(triangle, column): does the line through the voxel centres of a column pass through the
// triangle, and in which voxel? Equal to its Rust twin to the bit.
//
// Coverage of a centre is decided like the axes of `touches`, first in f32 with an error bound. An
// edge excludes the centre if over > 0, where `over` is the smallest edge value that is inside (0
// or 1, by the tie rule) minus the centre's edge value: a sum of two products of differences, at
// most 2^24 each, and of 0 or 1, with at most four roundings on any path. It is exact below 2^24;
// above, its error is less than 2^-19 m.
//
// The height of the crossing is interpolated from integers, so that nothing cancels: barycentric
// weights and area are exact, not negative, and rounded to f32 last. With u = 2^-23 and `reach` the
// largest absolute rise, which bounds every weighted mean of rises, the error is at most
//     2u for a weight (each word and their sum), u for the product, u for the sum, 2u for the area,
//     2.5u for the quotient, and 2u for another order, which the compiler may choose,
// plus u for adding the error bound: less than 12u reach. 16u = 2^-19 leaves room for terms of
// second order. No overflow or underflow: values are 0 or between 2^-49 and 2^74.
//
// #import exact/touches

// A column's axis: the coordinates across it are (y, z), (z, x), (x, y).
const AXIS_X: u32 = 0u;
const AXIS_Y: u32 = 1u;
const AXIS_Z: u32 = 2u;

// A triangle, set up for columns along one axis: its corners projected along the axis, in
// counter-clockwise order, and their heights along it.
struct ProjectedTriangle {
    a: vec2<i32>,
    b: vec2<i32>,
    c: vec2<i32>,
    heights: vec3<i32>,
    // Twice the projected area, at most 2^48.
    area: Int64,
    // 1 if a column along +axis enters here, -1 if it leaves, 0 if the projected area is 0.
    winding: i32,
}

// The height at which a column crosses a triangle, as a fraction:
// base + (weight_b rises.x + weight_c rises.y) / area.
struct Height {
    base: i32,
    rises: vec2<i32>,
    weight_b: Int64,
    weight_c: Int64,
    area: Int64,
}

// The coordinates across the axis, then the one along it.
fn project(axis: u32, point: vec3<i32>) -> vec3<i32> {
    if axis == AXIS_X {
        return point.yzx;
    }
    return select(point, point.zxy, axis == AXIS_Y);
}

// The inverse of `project`.
fn unproject(axis: u32, projected: vec3<i32>) -> vec3<i32> {
    if axis == AXIS_X {
        return projected.zxy;
    }
    return select(projected, projected.yzx, axis == AXIS_Y);
}

fn project_triangle(triangle: Triangle, axis: u32) -> ProjectedTriangle {
    let a = project(axis, triangle.a);
    let b = project(axis, triangle.b);
    let c = project(axis, triangle.c);
    let area = edge_value(a.xy, b.xy, c.xy);
    if bitcast<i32>(area.y) < 0 {
        return ProjectedTriangle(a.xy, c.xy, b.xy, vec3<i32>(a.z, c.z, b.z), int64_neg(area), 1);
    }
    let winding = -i32(any(area != Int64(0u, 0u)));
    return ProjectedTriangle(a.xy, b.xy, c.xy, vec3<i32>(a.z, b.z, c.z), area, winding);
}

fn covers(projected: ProjectedTriangle, center: vec2<i32>) -> bool {
    let verdict = edges_verdict_at(projected, center);
    if verdict != IN_DOUBT {
        return verdict == CLEAR;
    }
    return edges_have(projected, center);
}

// The f32 verdict on the centre: SEPARATES if an edge excludes it.
fn edges_verdict_at(projected: ProjectedTriangle, center: vec2<i32>) -> u32 {
    return max(
        edge_verdict_at(projected.b, projected.c, center),
        max(
            edge_verdict_at(projected.c, projected.a, center),
            edge_verdict_at(projected.a, projected.b, center),
        ),
    );
}

fn edge_verdict_at(start: vec2<i32>, end: vec2<i32>, center: vec2<i32>) -> u32 {
    let along = vec2<f32>(end - start);
    let to = vec2<f32>(center - start);
    let least = f32(!runs_down(end - start));
    let plus = along.y * to.x;
    let minus = along.x * to.y;
    return verdict_of(least + (plus - minus), least + (abs(plus) + abs(minus)));
}

fn edges_have(projected: ProjectedTriangle, center: vec2<i32>) -> bool {
    return edge_has(projected.b, projected.c, center)
        && edge_has(projected.c, projected.a, center)
        && edge_has(projected.a, projected.b, center);
}

// For a covered centre.
fn at(projected: ProjectedTriangle, center: vec2<i32>) -> Height {
    return Height(
        projected.heights.x,
        projected.heights.yz - projected.heights.xx,
        edge_value(projected.c, projected.a, center),
        edge_value(projected.a, projected.b, center),
        projected.area,
    );
}

// The edge function: twice the area of (start, end, center), positive on the left of the edge. At
// most 2^49.
fn edge_value(start: vec2<i32>, end: vec2<i32>, center: vec2<i32>) -> Int64 {
    let along = end - start;
    let to = center - start;
    return int64_sub(int64_mul(along.x, to.y), int64_mul(along.y, to.x));
}

fn edge_has(start: vec2<i32>, end: vec2<i32>, center: vec2<i32>) -> bool {
    let least = Int64(u32(!runs_down(end - start)), 0u);
    return !int64_less(edge_value(start, end, center), least);
}

// The tie rule: a centre on an edge belongs to the triangle if the edge points towards smaller
// second coordinates or, if level, towards smaller first ones.
fn runs_down(along: vec2<i32>) -> bool {
    return (along.y < 0) || ((along.y == 0) && (along.x < 0));
}

// The first voxel, of 2^fraction_bits units, whose centre is at the crossing or past it.
fn first_center(height: Height, fraction_bits: u32) -> i32 {
    return first_end(height, bounds(height), fraction_bits, 1 << (fraction_bits - 1u), true);
}

// The voxel k whose interval [k S, (k + 1) S) contains the crossing; a crossing exactly on the far
// face of the grid is in the last of its `count` voxels.
fn voxel(height: Height, fraction_bits: u32, count: i32) -> i32 {
    let voxel = first_end(height, bounds(height), fraction_bits, 1 << fraction_bits, false);
    if voxel != count {
        return voxel;
    }
    return voxel - i32(is_below(height, count << fraction_bits, true));
}

// The first voxel k for which the crossing is below k S + end, or at it if `closed`: a binary
// search, since `bounds` contains the crossing.
fn first_end(height: Height, bounds: vec2<i32>, fraction_bits: u32, end: i32, closed: bool) -> i32 {
    let past = (1 << fraction_bits) - i32(closed);
    let first = (bounds - end + past) >> vec2<u32>(fraction_bits);
    var lo = first.x;
    var hi = first.y;
    while lo < hi {
        let middle = (lo + hi) >> 1u;
        if is_below(height, (middle << fraction_bits) + end, closed) {
            hi = middle;
        } else {
            lo = middle + 1;
        }
    }
    return lo;
}

// A closed interval of integers that contains the height.
fn bounds(height: Height) -> vec2<i32> {
    let rises = vec2<f32>(height.rises);
    let terms = vec2<f32>(f32_of(height.weight_b), f32_of(height.weight_c)) * rises;
    let rise = (terms.x + terms.y) / f32_of(height.area);
    let error = RELATIVE_ERROR * max(abs(rises.x), abs(rises.y));
    return height.base + vec2<i32>(i32(floor(rise - error)), i32(ceil(rise + error)));
}

// For a >= 0.
fn f32_of(a: Int64) -> f32 {
    return f32(a.y) * 4294967296.0 + f32(a.x);
}

// Whether the crossing is below `limit`, or at it if `closed`. Both sides are below 2^75.
fn is_below(height: Height, limit: i32, closed: bool) -> bool {
    let rise = int96_add(
        int96_mul(height.weight_b, height.rises.x),
        int96_mul(height.weight_c, height.rises.y),
    );
    let limit_rise = int96_mul(height.area, limit - height.base);
    return int96_less(rise, limit_rise) || (closed && all(rise == limit_rise));
}
