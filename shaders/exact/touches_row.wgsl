// Which voxels of a row along z does a triangle touch? The thirteen axes of `touches`, set up once
// for a box of up to 8 x 8 rows (`set_up_rows`). A row is then two intervals: the voxels that no
// axis separates for certain, and those that none separates perhaps (`touched_voxels`). The voxels
// between are in doubt, and decided one by one (`touches_in_doubt`).
//
// With (i, j, k) the place of a voxel in the box, an axis separates iff
//     |value + i step.x + j step.y + k step.z| > width,
// so the k that it does not separate are an interval: its center is linear in i and j, and its half
// width constant. The error bound, in the terms of `touches`: let m be the sum of the absolute
// values of all products in these terms, for the last voxel of the box, and 1.
//
// - There are at most 17 products (of the plane: 6 in its offset, 6 in its width, 4 in the steps of
//   i and j; the margin), hence at most 16 roundings of sums on any path from an input to an end of
//   an interval, in any order and with products distributed over sums; three of products; and four
//   of the inverse of step.z, which is 2.5 ULP off, and its product. So the ends, times step.z, are
//   off by at most 23u m.
// - The inverse is of a number of absolute value at least u m. A shorter step moves an end, times
//   step.z, by at most u m for each of at most seven voxels.
//
// Together that is less than 31u m, and the computed m is at least m (1 - 23u): a margin of
// 32u = 2^-18 times the computed m decides. All values are 0 or between 2^-76 and 2^101.
//
// The box normals need no test: a box holds only voxels that the triangle's bounds touch.
//
// #import exact/touches

// Boxes that are set up at a time.
const SLOTS: u32 = 64u;
// Nine edges' axes, and the plane's.
const AXES: u32 = 10u;
const MARGIN: f32 = 0.000003814697265625; // 2^-18
const LEAST_STEP: f32 = 0.00000011920928955078125; // 2^-23

// The axes of each slot: the center of its interval in row (0, 0), the center's increase by i
// and by j, and the half width less the margin; and the half width and the margin.
var<workgroup> row_axes: array<vec4<f32>, AXES * SLOTS>;
var<workgroup> outer_halves: array<f32, AXES * SLOTS>;

// A box of voxels: the size of a voxel, and the place of its last.
struct Box {
    half: f32,
    last: vec3<f32>,
}

fn set_axis(slot: u32, axis: u32, value: f32, step: vec3<f32>, width: f32, m: f32) {
    let least = LEAST_STEP * m;
    let inverse = 1.0 / select(max(step.z, least), min(step.z, -least), step.z < 0.0);
    let half_width = width * abs(inverse);
    let margin = MARGIN * m * abs(inverse);
    let at = axis * SLOTS + slot;
    row_axes[at] = vec4<f32>(vec3<f32>(value, step.xy) * -inverse, half_width - margin);
    outer_halves[at] = half_width + margin;
}

// The axes of the edge e from `start`; `across` is the other corner. In place of the projections of
// both corners their sum, and its distance to 0: twice all values of `touches`. The difference of
// the projections is a component of the normal.
fn set_edge_axes(
    slot: u32,
    axis: u32,
    e: vec3<f32>,
    start: vec3<f32>,
    across: vec3<f32>,
    normal: vec3<f32>,
    normal_products: vec3<f32>,
    box: Box,
) {
    let corners = start + across;
    let sizes = abs(start) + abs(across);
    let value = e.zxy * corners.yzx - e.yzx * corners.zxy;
    let size = abs(e.zxy) * sizes.yzx + abs(e.yzx) * sizes.zxy;
    let reach = 2.0 * box.half * (abs(e.yzx) + abs(e.zxy));
    let width = abs(normal) + reach;
    // From one voxel to the next, both corners are 2 half lower.
    let step = 4.0 * box.half * e;
    let x = vec3<f32>(0.0, -step.z, step.y);
    let y = vec3<f32>(step.z, 0.0, -step.x);
    let z = vec3<f32>(-step.y, step.x, 0.0);
    let steps = vec3<f32>(dot(abs(x), box.last), dot(abs(y), box.last), dot(abs(z), box.last));
    let m = size + normal_products + reach + steps + 1.0;
    set_axis(slot, axis, value.x, x, width.x, m.x);
    set_axis(slot, axis + 1u, value.y, y, width.y, m.y);
    set_axis(slot, axis + 2u, value.z, z, width.z, m.z);
}

// Sets up the rows of a box: `first` is its first voxel, `last` the place of its last, at most 7.
// The triangle's bounds must touch all its voxels.
fn set_up_rows(slot: u32, triangle: Triangle, first: Cube, last: vec3<f32>) {
    let v = relative_to(triangle, first.center);
    let box = Box(f32(first.half), last);
    let a = vec3<f32>(v.a);
    let b = vec3<f32>(v.b);
    let c = vec3<f32>(v.c);
    let e = vec3<f32>(v.b - v.a);
    let f = vec3<f32>(v.c - v.b);
    let plus = e.yzx * f.zxy;
    let minus = e.zxy * f.yzx;
    let n = plus - minus;
    let products = abs(plus) + abs(minus);
    set_edge_axes(slot, 0u, e, a, c, n, products, box);
    set_edge_axes(slot, 3u, f, b, a, n, products, box);
    set_edge_axes(slot, 6u, vec3<f32>(v.a - v.c), c, b, n, products, box);
    let h = box.half;
    let value = n.x * a.x + n.y * a.y + n.z * a.z;
    let width = h * (abs(n.x) + abs(n.y) + abs(n.z));
    let m = dot(products, abs(a) + h + 2.0 * h * last) + 1.0;
    set_axis(slot, 9u, value, -2.0 * h * n, width, m);
}

// Bits of the voxels of a row, k for voxel k.
struct RowVoxels {
    // Touched for certain.
    touched: u32,
    in_doubt: u32,
}

// The bits from lo to hi, of at most eight.
fn bits_between(lo: f32, hi: f32) -> u32 {
    let first = u32(clamp(ceil(lo), 0.0, 8.0));
    let end = u32(clamp(floor(hi) + 1.0, 0.0, 8.0));
    return ((1u << end) - 1u) & ~((1u << first) - 1u);
}

// The voxels of row (i, j) of a box, up to number `last` of the row.
fn touched_voxels(slot: u32, row: vec2<f32>, last: f32) -> RowVoxels {
    var inner = vec2<f32>(0.0, last);
    var outer = inner;
    for (var axis = 0u; axis < AXES; axis++) {
        let at = axis * SLOTS + slot;
        let of_axis = row_axes[at];
        let center = of_axis.x + row.x * of_axis.y + row.y * of_axis.z;
        inner.x = max(inner.x, center - of_axis.w);
        inner.y = min(inner.y, center + of_axis.w);
        outer.x = max(outer.x, center - outer_halves[at]);
        outer.y = min(outer.y, center + outer_halves[at]);
    }
    let touched = bits_between(inner.x, inner.y);
    return RowVoxels(touched, bits_between(outer.x, outer.y) & ~touched);
}

// An axis of one row: it separates voxel k iff over(k) = max(rise + k step, fall - k step) > 0:
// `rise` and `fall` are the signed gaps between the projections of the triangle and of the first
// voxel, above and below. The error bound follows that of `touches`. Let m be the sum of the
// absolute values of the products in over(k), for the last k.
//
// - Let g be the largest power of two that divides all inputs, and `unit` g^2 for an edge, whose
//   products have two factors, and g^3 for the plane. If m < 2^24 unit, all partial sums are
//   multiples of the unit that f32 holds: the result is exact. So it is if the computed m is below
//   2^23 unit.
// - Otherwise: at most fourteen roundings on any path from an input to `over` less its error, in
//   any order and with products distributed over sums (of the plane: two products, and twelve terms
//   to add up; edges have fewer). So |error| <= 14u(1 + 14u) m, and the computed m is at least
//   m (1 - 14u): |error| is less than 16u = 2^-19 times the computed m.
//
// A face in a plane between voxels leaves most of its voxels in doubt, and is decided by exact
// floats.
struct RowAxis {
    rise: f32,
    fall: f32,
    step: f32,
    error: f32,
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

// An edge's axis, by the terms of `edge_verdict` for the first voxel; `up` is from one voxel to the
// next, along at most one of the dimensions.
fn edge_axis(
    e: vec2<f32>,
    start: vec2<f32>,
    across: vec2<f32>,
    up: vec2<f32>,
    h: f32,
    last: f32,
    unit: f32,
) -> RowAxis {
    let p = e.y * start.x - e.x * start.y;
    let q = e.y * across.x - e.x * across.y;
    let r = h * (abs(e.x) + abs(e.y));
    let step = e.x * up.y - e.y * up.x;
    let m = max(
        abs(e.y * start.x) + abs(e.x * start.y),
        abs(e.y * across.x) + abs(e.x * across.y),
    ) + r + last * abs(step);
    return RowAxis(min(p, q) - r, -max(p, q) - r, step, error_of(m, unit));
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

// The voxels that the axis separates, and those of which its floats are in doubt.
struct RowVerdict {
    separated: u32,
    in_doubt: u32,
}

fn verdict_on(axis: RowAxis, voxels: u32) -> RowVerdict {
    var separated = 0u;
    var perhaps = 0u;
    for (var k = 0u; (voxels >> k) != 0u; k++) {
        let along = f32(k) * axis.step;
        let over = max(axis.rise + along, axis.fall - along);
        separated |= u32(over > axis.error) << k;
        perhaps |= u32(over > -axis.error) << k;
    }
    return RowVerdict(separated & voxels, perhaps & ~separated & voxels);
}

// The subset of `voxels` that the edges' axes separate: an axis is decided in integers where its
// floats are in doubt. Not unrolled, as in `edges_separate`.
fn edges_separate_in_row(v: Triangle, half: i32, voxels: u32, last: f32, power: f32) -> u32 {
    var t = v;
    var up = vec3<i32>(0, 0, 2 * half);
    var rest = voxels;
    for (var axis = 0u; (axis < 9u) && (rest != 0u); axis++) {
        let verdict = verdict_on(edge_axis_of(t, up, half, last, power), rest);
        rest &= ~verdict.separated;
        if verdict.in_doubt != 0u {
            let e = (t.b - t.a).yz;
            rest &= ~edge_separates_in_row(e, t.a.yz, t.c.yz, up.yz, half, verdict.in_doubt);
        }
        t = turned(t, axis);
        up = up.yzx;
    }
    return voxels & ~rest;
}

// The axis of the edge ab and the box normal x.
fn edge_axis_of(t: Triangle, up: vec3<i32>, half: i32, last: f32, power: f32) -> RowAxis {
    let e = vec2<f32>((t.b - t.a).yz);
    let start = vec2<f32>(t.a.yz);
    let across = vec2<f32>(t.c.yz);
    return edge_axis(e, start, across, vec2<f32>(up.yz), f32(half), last, power * power);
}

// The subset of `voxels` that an edge's axis separates, by `edge_separates`. `up` is from one voxel to the
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

// The subset of `voxels` that the plane separates, in integers. The sums stay below 2^77: relative to
// a voxel of the row, corners are at most 2^24.
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

// The subset of `voxels` that the triangle touches, in the row along z that begins at `first`.
fn touches_in_doubt(triangle: Triangle, first: Cube, voxels: u32) -> u32 {
    let v = relative_to(triangle, first.center);
    let last = f32(firstLeadingBit(voxels));
    let power = common_power(v, first.half);
    let unit = power * power * power;
    let plane = verdict_on(plane_axis(v, f32(first.half), last, unit), voxels);
    var touched = voxels & ~plane.separated;
    if plane.in_doubt != 0u {
        touched &= ~plane_separates_in_row(v, first.half, plane.in_doubt);
    }
    return touched & ~edges_separate_in_row(v, first.half, touched, last, power);
}
