// touches(triangle, cube): does the closed triangle meet the closed cube? The thirteen axes of
// T. Akenine-Moller, "Fast 3D Triangle-Box Overlap Testing", 2001, decided exactly: first in f32
// with an error bound, then, where a sign is in doubt, in integers.
//
// Each axis is the sign of `over`, a sum of products of integers; it separates if over > 0.
//
// Inputs are exact: differences are taken in i32 and are at most 2^24, which f32 holds.
// WGSL's f32 operations return a neighbour of the true value, so each rounding is off by at most
// u = 2^-23 relative; and a compiler may fuse and reassociate. Let m be the sum of the absolute
// values of the products in `over`, each at least 1 or 0.
//
// - If m < 2^24, every product and every partial sum in any order is an integer below 2^24, which
//   f32 holds: the result is exact, fused or not. The computed m is a sum of positive terms with
//   at most eight roundings on any path, so computed m < 2^23 implies m < 2^23 (1 + 9u) < 2^24.
// - Otherwise: at most eight roundings on any path from an input to `over` (of an edge: sum of two
//   edge components, product, difference, difference: 4; of the plane: product, difference,
//   product, two sums, difference: 6; two to spare for another order), so |error| <= 8u(1 + 8u) m,
//   and the computed m is at least m (1 - 9u). So |error| < 2^-19 times the computed m.
//
// An order that distributes a product over a sum is covered too: every monomial is at most m, since
// `half` is at least 1, and there are no more roundings on its path than that. Nothing can overflow
// or vanish: all values are 0 or between 1 and 2^76.
//
// The Rust twin uses i64 and i128 and needs no f32 test.
//
// #import exact/int64
// #import exact/shapes

const EXACT_BELOW: f32 = 8388608.0; // 2^23
const RELATIVE_ERROR: f32 = 0.0000019073486328125; // 2^-19

// Verdict of the f32 test of an axis; of several axes, the maximum.
const CLEAR: u32 = 0u;
const IN_DOUBT: u32 = 1u;
const SEPARATES: u32 = 2u;

// The triangle with its corners relative to `center`.
fn relative_to(triangle: Triangle, center: vec3<i32>) -> Triangle {
    return Triangle(triangle.a - center, triangle.b - center, triangle.c - center);
}

fn touches(triangle: Triangle, cube: Cube) -> bool {
    let v = relative_to(triangle, cube.center);
    if box_separates(v, cube.half) {
        return false;
    }
    let verdict = max(edges_verdict(v, cube.half), plane_verdict(v, cube.half));
    if verdict != IN_DOUBT {
        return verdict == CLEAR;
    }
    return !(edges_separate(v, cube.half) || plane_separates(v, cube.half));
}

// The three box normals: the bounding box of the triangle against the cube.
fn box_separates(v: Triangle, half: i32) -> bool {
    let lo = min(v.a, min(v.b, v.c));
    let hi = max(v.a, max(v.b, v.c));
    return any(lo > vec3<i32>(half)) || any(hi < vec3<i32>(-half));
}

fn verdict_of(over: f32, m: f32) -> u32 {
    if m < EXACT_BELOW {
        return select(CLEAR, SEPARATES, over > 0.0);
    }
    let error = RELATIVE_ERROR * m;
    if over > error {
        return SEPARATES;
    }
    return select(IN_DOUBT, CLEAR, over < -error);
}

fn edges_verdict(v: Triangle, half: i32) -> u32 {
    return max(
        edge_axes_verdict(v.a, v.b, v.c, half),
        max(edge_axes_verdict(v.b, v.c, v.a, half), edge_axes_verdict(v.c, v.a, v.b, half)),
    );
}

fn edge_axes_verdict(start: vec3<i32>, end: vec3<i32>, across: vec3<i32>, half: i32) -> u32 {
    let e = vec3<f32>(end - start);
    let s = vec3<f32>(start);
    let t = vec3<f32>(across);
    let h = f32(half);
    return max(
        edge_verdict(e.yz, s.yz, t.yz, h),
        max(edge_verdict(e.zx, s.zx, t.zx, h), edge_verdict(e.xy, s.xy, t.xy, h)),
    );
}

fn edge_verdict(e: vec2<f32>, start: vec2<f32>, across: vec2<f32>, h: f32) -> u32 {
    let p = e.y * start.x - e.x * start.y;
    let q = e.y * across.x - e.x * across.y;
    let r = h * (abs(e.x) + abs(e.y));
    let over = max(min(p, q), -max(p, q)) - r;
    let m = max(
        abs(e.y * start.x) + abs(e.x * start.y),
        abs(e.y * across.x) + abs(e.x * across.y),
    ) + r;
    return verdict_of(over, m);
}

fn plane_verdict(v: Triangle, half: i32) -> u32 {
    let e = vec3<f32>(v.b - v.a);
    let f = vec3<f32>(v.c - v.b);
    let s = vec3<f32>(v.a);
    let h = f32(half);
    let plus = e.yzx * f.zxy;
    let minus = e.zxy * f.yzx;
    let n = plus - minus;
    let over = abs(n.x * s.x + n.y * s.y + n.z * s.z) - h * (abs(n.x) + abs(n.y) + abs(n.z));
    let terms = (abs(plus) + abs(minus)) * (abs(s) + h);
    return verdict_of(over, terms.x + terms.y + terms.z);
}

// The nine cross products of a box normal and an edge. A loop, not unrolled: it rarely runs.
fn edges_separate(v: Triangle, half: i32) -> bool {
    var t = v;
    for (var axis = 0u; axis < 9u; axis++) {
        let e = t.b - t.a;
        if edge_separates(e.yz, t.a.yz, t.c.yz, half) {
            return true;
        }
        t = turned(t, axis);
    }
    return false;
}

// The triangle for the next of the nine axes. The axis is the cross product of the edge ab and the
// box normal x: dimensions are rotated for the next normal, and after three normals also the
// corners, for the next edge.
fn turned(v: Triangle, axis: u32) -> Triangle {
    if axis % 3u < 2u {
        return Triangle(v.a.yzx, v.b.yzx, v.c.yzx);
    }
    return Triangle(v.b.yzx, v.c.yzx, v.a.yzx);
}

// The axis e x n, where n is the box normal perpendicular to the two given dimensions. Both ends of
// the edge project to one value, so `start` and the opposite corner `across` suffice. At most 2^51.
fn edge_separates(e: vec2<i32>, start: vec2<i32>, across: vec2<i32>, half: i32) -> bool {
    let p = int64_sub(int64_mul(e.y, start.x), int64_mul(e.x, start.y));
    let q = int64_sub(int64_mul(e.y, across.x), int64_mul(e.x, across.y));
    let r = int64_mul(half, abs(e.x) + abs(e.y));
    let minus_r = int64_neg(r);
    return (int64_less(r, p) && int64_less(r, q))
        || (int64_less(p, minus_r) && int64_less(q, minus_r));
}

// The plane of a triangle.
struct Plane {
    normal: array<Int64, 3>,
    // The 1-norm of the normal.
    size: Int64,
    // The product of the normal and a point of the plane.
    offset: Int96,
}

// A component of the normal is at most 2^49, the sums below 2^76.
fn plane_of(v: Triangle) -> Plane {
    let e = v.b - v.a;
    let f = v.c - v.b;
    let nx = int64_sub(int64_mul(e.y, f.z), int64_mul(e.z, f.y));
    let ny = int64_sub(int64_mul(e.z, f.x), int64_mul(e.x, f.z));
    let nz = int64_sub(int64_mul(e.x, f.y), int64_mul(e.y, f.x));
    let offset = int96_add(
        int96_mul(nx, v.a.x),
        int96_add(int96_mul(ny, v.a.y), int96_mul(nz, v.a.z)),
    );
    let size = int64_add(int64_abs(nx), int64_add(int64_abs(ny), int64_abs(nz)));
    return Plane(array<Int64, 3>(nx, ny, nz), size, offset);
}

// The triangle's own plane.
fn plane_separates(v: Triangle, half: i32) -> bool {
    let plane = plane_of(v);
    return int96_less(int96_mul(plane.size, half), int96_abs(plane.offset));
}
