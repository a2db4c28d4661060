// touched_voxels(triangle, row): which voxels of a row along z a triangle touches. The thirteen
// axes of `touches`, set up once for the row: from one voxel to the next, an axis moves by a
// constant.
//
// Each axis is, for voxel k of the row, the sign of
//     over(k) = max(rise + k step, fall - k step)
// which separates if over(k) > 0: `rise` and `fall` are the signed gaps between the projections of
// the triangle and of the first voxel, above and below. The error bound follows that of `touches`.
// Let m be the sum of the absolute values of the products in over(k), for the last k.
//
// - Let g be the largest power of two that divides all inputs, and `unit` g^2 for an edge, whose
//   products have two factors, and g^3 for the plane. If m < 2^24 unit, all partial sums are
//   multiples of the unit that f32 holds: the result is exact. So it is if the computed m is below
//   2^23 unit.
// - Otherwise: at most fourteen roundings on any path from an input to `over` less its error, in
//   any order and with products distributed over sums (of the plane: two products, and twelve terms
//   to add up; edges have fewer). So |error| <= 14u(1 + 14u) m, and the computed m is at least m (1
//   - 14u): |error| is less than 16u = 2^-19 times the computed m.
//
// Signs in doubt are decided in integers, which are set up once per row too. A face that lies in a
// plane between voxels leaves most of its voxels in doubt.
//
// The box normals need no test: the row holds only voxels that the triangle's bounds touch.
//
// #import exact/touches

// Voxels 0 to 3 and 4 to 7 of a row.
struct Row {
    low: Quad,
    high: Quad,
}

// For four voxels, the maxima over the axes of the lower and the upper bound of `over`.
struct Quad {
    at_least: vec4<f32>,
    at_most: vec4<f32>,
}

struct RowAxis {
    rise: f32,
    fall: f32,
    step: f32,
    error: f32,
}

fn quad_with(quad: Quad, axis: RowAxis, k: vec4<f32>) -> Quad {
    let along = k * axis.step;
    let over = max(axis.rise + along, axis.fall - along);
    return Quad(max(quad.at_least, over - axis.error), max(quad.at_most, over + axis.error));
}

fn row_with(row: Row, axis: RowAxis, last: f32) -> Row {
    var result = row;
    result.low = quad_with(row.low, axis, vec4<f32>(0.0, 1.0, 2.0, 3.0));
    if last > 3.0 {
        result.high = quad_with(row.high, axis, vec4<f32>(4.0, 5.0, 6.0, 7.0));
    }
    return result;
}

fn error_of(m: f32, unit: f32) -> f32 {
    return select(RELATIVE_ERROR * m, 0.0, m < EXACT_BELOW * unit);
}

// The greatest power of two that divides all inputs, called g above. At most 2^23: half is not 0.
fn common_power(v: Triangle, half: i32) -> f32 {
    let all = v.a | v.b | v.c;
    let bits = all.x | all.y | all.z | half;
    return f32(bits & -bits);
}

// As in `touches`, at the first voxel; `step` is the increase of p and q per voxel.
fn edge_axis(
    e: vec2<f32>,
    start: vec2<f32>,
    across: vec2<f32>,
    h: f32,
    step: f32,
    last: f32,
    unit: f32,
) -> RowAxis {
    let p = e.y * start.x - e.x * start.y;
    let q = e.y * across.x - e.x * across.y;
    let r = h * (abs(e.x) + abs(e.y));
    let m = max(
        abs(e.y * start.x) + abs(e.x * start.y),
        abs(e.y * across.x) + abs(e.x * across.y),
    ) + r + last * abs(step);
    return RowAxis(min(p, q) - r, -max(p, q) - r, step, error_of(m, unit));
}

fn row_with_edge(
    row: Row,
    start: vec3<i32>,
    end: vec3<i32>,
    across: vec3<i32>,
    h: f32,
    last: f32,
    unit: f32,
) -> Row {
    let e = vec3<f32>(end - start);
    let s = vec3<f32>(start);
    let t = vec3<f32>(across);
    // Relative to the next voxel, the corners are 2h lower.
    let x = row_with(row, edge_axis(e.yz, s.yz, t.yz, h, 2.0 * h * e.y, last, unit), last);
    let y = row_with(x, edge_axis(e.zx, s.zx, t.zx, h, -2.0 * h * e.x, last, unit), last);
    return row_with(y, edge_axis(e.xy, s.xy, t.xy, h, 0.0, last, unit), last);
}

fn plane_axis(v: Triangle, h: f32, last: f32, unit: f32) -> RowAxis {
    let e = vec3<f32>(v.b - v.a);
    let f = vec3<f32>(v.c - v.b);
    let s = vec3<f32>(v.a);
    let plus = e.yzx * f.zxy;
    let minus = e.zxy * f.yzx;
    let n = plus - minus;
    let d = n.x * s.x + n.y * s.y + n.z * s.z;
    let r = h * (abs(n.x) + abs(n.y) + abs(n.z));
    let sizes = abs(plus) + abs(minus);
    let terms = sizes * (abs(s) + h);
    let m = terms.x + terms.y + terms.z + sizes.z * (2.0 * h * last);
    return RowAxis(d - r, -d - r, -2.0 * h * n.z, error_of(m, unit));
}

// A bit for each of four voxels.
fn bits_of(voxels: vec4<bool>) -> u32 {
    return dot(select(vec4<u32>(0u), vec4<u32>(1u, 2u, 4u, 8u), voxels), vec4<u32>(1u));
}

// A bit for each voxel of a row, by the axes of one kind.
struct RowVerdict {
    separated: u32,
    in_doubt: u32,
}

fn verdict_on(row: Row) -> RowVerdict {
    let zero = vec4<f32>(0.0);
    let separated = bits_of(row.low.at_least > zero) | (bits_of(row.high.at_least > zero) << 4u);
    let perhaps = bits_of(row.low.at_most > zero) | (bits_of(row.high.at_most > zero) << 4u);
    return RowVerdict(separated, perhaps & ~separated);
}

const NO_AXES: Row = Row(
    Quad(vec4<f32>(-1.0), vec4<f32>(-1.0)),
    Quad(vec4<f32>(-1.0), vec4<f32>(-1.0)),
);

// The f32 verdict of the nine axes of the edges on a row of `last` + 1 voxels, the first at the
// origin.
fn edges_row_verdict(v: Triangle, h: f32, last: f32, power: f32) -> RowVerdict {
    let unit = power * power;
    var row = row_with_edge(NO_AXES, v.a, v.b, v.c, h, last, unit);
    row = row_with_edge(row, v.b, v.c, v.a, h, last, unit);
    row = row_with_edge(row, v.c, v.a, v.b, h, last, unit);
    return verdict_on(row);
}

// Likewise of the plane.
fn plane_row_verdict(v: Triangle, h: f32, last: f32, power: f32) -> RowVerdict {
    let unit = power * power * power;
    return verdict_on(row_with(NO_AXES, plane_axis(v, h, last, unit), last));
}

// Those of `voxels` that the edges' axes separate. An axis is decided in integers if its floats are
// in doubt. The compiler may round this second evaluation of the floats differently from the first,
// so what it separates counts too. Not unrolled, as in `edges_separate`.
fn edges_separate_in_row(v: Triangle, half: i32, voxels: u32, last: f32, power: f32) -> u32 {
    var t = v;
    var up = vec3<i32>(0, 0, 2 * half);
    var rest = voxels;
    for (var axis = 0u; (axis < 9u) && (rest != 0u); axis++) {
        let e = (t.b - t.a).yz;
        let verdict = edge_row_verdict(e, t.a.yz, t.c.yz, up.yz, half, last, power);
        rest &= ~verdict.separated;
        let in_doubt = verdict.in_doubt & rest;
        if in_doubt != 0u {
            rest &= ~edge_separates_in_row(e, t.a.yz, t.c.yz, up.yz, half, in_doubt);
        }
        t = turned(t, axis);
        up = up.yzx;
    }
    return voxels & ~rest;
}

// The f32 verdict of an axis as in `edge_separates_in_row`.
fn edge_row_verdict(
    e: vec2<i32>,
    start: vec2<i32>,
    across: vec2<i32>,
    up: vec2<i32>,
    half: i32,
    last: f32,
    power: f32,
) -> RowVerdict {
    let d = vec2<f32>(e);
    let u = vec2<f32>(up);
    let step = d.x * u.y - d.y * u.x;
    let axis =
        edge_axis(d, vec2<f32>(start), vec2<f32>(across), f32(half), step, last, power * power);
    return verdict_on(row_with(NO_AXES, axis, last));
}

// Those of `voxels` that an axis as in `edge_separates` separates. `up` is from one voxel to the
// next, along at most one of the dimensions. At most 2^52.
fn edge_separates_in_row(
    e: vec2<i32>,
    start: vec2<i32>,
    across: vec2<i32>,
    up: vec2<i32>,
    half: i32,
    voxels: u32,
) -> u32 {
    var p = int64_sub(int64_mul(e.y, start.x), int64_mul(e.x, start.y));
    var q = int64_sub(int64_mul(e.y, across.x), int64_mul(e.x, across.y));
    let r = int64_mul(half, abs(e.x) + abs(e.y));
    let minus_r = int64_neg(r);
    let step = int64_sub(int64_mul(e.x, up.y), int64_mul(e.y, up.x));
    var separated = 0u;
    for (var k = 0u; (voxels >> k) != 0u; k++) {
        let is_separated = (int64_less(r, p) && int64_less(r, q))
            || (int64_less(p, minus_r) && int64_less(q, minus_r));
        separated |= select(0u, 1u << k, is_separated);
        p = int64_add(p, step);
        q = int64_add(q, step);
    }
    return separated & voxels;
}

// Those of `voxels` that the plane separates, in integers. The sums stay below 2^77: relative to a
// voxel of the row, corners are at most 2^24.
fn plane_separates_in_row(v: Triangle, half: i32, voxels: u32) -> u32 {
    let plane = plane_of(v);
    let reach = int96_mul(plane.size, half);
    // Relative to the next voxel, the corners are 2 half lower.
    let step = int96_mul(plane.normal[2], -2 * half);
    var offset = plane.offset;
    var separated = 0u;
    for (var k = 0u; (voxels >> k) != 0u; k++) {
        separated |= select(0u, 1u << k, int96_less(reach, int96_abs(offset)));
        offset = int96_add(offset, step);
    }
    return separated & voxels;
}

// Bit k: whether the triangle touches voxel k of the `count` voxels, at most 8, from `first` on
// along z. The triangle's bounds must touch all of them.
fn touched_voxels(triangle: Triangle, first: Cube, count: u32) -> u32 {
    let v = Triangle(
        triangle.a - first.center,
        triangle.b - first.center,
        triangle.c - first.center,
    );
    let h = f32(first.half);
    let last = f32(count - 1u);
    let power = common_power(v, first.half);
    let edges = edges_row_verdict(v, h, last, power);
    let plane = plane_row_verdict(v, h, last, power);
    var touched = ((1u << count) - 1u) & ~(edges.separated | plane.separated);
    let in_doubt = plane.in_doubt & touched;
    if in_doubt != 0u {
        touched &= ~plane_separates_in_row(v, first.half, in_doubt);
    }
    return touched & ~edges_separate_in_row(v, first.half, edges.in_doubt & touched, last, power);
}
