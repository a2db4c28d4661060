// The distance from a lattice point to the nearest of some triangles, rounded once to f32. Equal to
// its Rust twin to the bit.
//
// The squared distance is a fraction of integers. Coordinates differ by at most 2^24, so a cross
// product of two differences has components below 2^50, and its squared norm is below 2^102. The
// distance to a plane times the normal's norm is below 2^76, its square below 2^152.
//
// #import exact/int160
// #import exact/shapes

alias Int64Vector = array<Int64, 3>;

struct Fraction {
    numerator: Int160,
    denominator: Int160,
}

fn exact_dot(a: vec3<i32>, b: vec3<i32>) -> Int64 {
    return int64_add(int64_add(int64_mul(a.x, b.x), int64_mul(a.y, b.y)), int64_mul(a.z, b.z));
}

fn exact_cross(a: vec3<i32>, b: vec3<i32>) -> Int64Vector {
    return Int64Vector(
        int64_sub(int64_mul(a.y, b.z), int64_mul(a.z, b.y)),
        int64_sub(int64_mul(a.z, b.x), int64_mul(a.x, b.z)),
        int64_sub(int64_mul(a.x, b.y), int64_mul(a.y, b.x)),
    );
}

// The absolute value of a * b.
fn product_norm(a: Int64, b: Int64) -> Int160 {
    return int160_product(Int96(int64_abs(a), 0u), Int96(int64_abs(b), 0u));
}

fn squared_norm(a: Int64Vector) -> Int160 {
    let xy = int160_add(product_norm(a[0], a[0]), product_norm(a[1], a[1]));
    return int160_add(xy, product_norm(a[2], a[2]));
}

// The product if it has this sign, else 0.
fn product_part(a: Int64, b: Int64, negative: bool) -> Int160 {
    if (bitcast<i32>(a.y ^ b.y) < 0) == negative {
        return product_norm(a, b);
    }
    return Int160(0u, 0u, 0u, 0u, 0u);
}

// The sum of the terms of a . b that have this sign.
fn dot_part(a: Int64Vector, b: Int64Vector, negative: bool) -> Int160 {
    let x = product_part(a[0], b[0], negative);
    let y = product_part(a[1], b[1], negative);
    return int160_add(int160_add(x, y), product_part(a[2], b[2], negative));
}

// a . b <= 0.
fn is_dot_at_most_0(a: Int64Vector, b: Int64Vector) -> bool {
    return !int160_less(dot_part(a, b, true), dot_part(a, b, false));
}

// Whether the root of `squared` / 2^fraction_bits, rounded to the nearest f32, is at least the one
// with these bits. The root is compared with the midpoint of this float and the float below; a tie
// goes to the even one. The root is within a relative 2^-16 of the float, so both sides of the
// comparison are about as large, and below 2^153.
fn rounds_to_at_least(squared: Fraction, fraction_bits: u32, bits: u32) -> bool {
    let mantissa = (bits & 0x7fffffu) | 0x800000u;
    // Below a power of 2 floats are half as far apart.
    let is_power = (bits & 0x7fffffu) == 0u;
    // midpoint = odd * 2^exponent, and odd is below 2^25.
    let odd = select(2u * mantissa - 1u, 4u * mantissa - 1u, is_power);
    let exponent = i32(bits >> 23u) - 150 - select(1, 2, is_power);
    var left = squared.numerator;
    var right = int160_scaled(int160_scaled(squared.denominator, odd), odd);
    let shift = 2 * (exponent + i32(fraction_bits));
    if shift < 0 {
        left = int160_shifted(left, u32(-shift));
    } else {
        right = int160_shifted(right, u32(shift));
    }
    if (bits & 1u) == 0u {
        return !int160_less(left, right);
    }
    return int160_less(right, left);
}

// The bits of the f32 nearest to the root of `squared` / 2^fraction_bits.
fn rounded(squared: Fraction, fraction_bits: u32) -> u32 {
    if int160_is_zero(squared.numerator) {
        return 0u;
    }
    // In units of 2^-23, relatively: a conversion is wrong by less than 3, of which the root has
    // half; the root itself by less than 5, as it is 1 over an inverse root; each of the two
    // divisions by less than 3. All together are below 20, and so below 40 floats.
    let numerator = sqrt(int160_to_f32(squared.numerator));
    let denominator = sqrt(int160_to_f32(squared.denominator));
    var bits = bitcast<u32>(numerator / denominator / f32(1u << fraction_bits)) - 64u;
    for (var step = 64u; step > 0u; step = step >> 1u) {
        if rounds_to_at_least(squared, fraction_bits, bits + step) {
            bits += step;
        }
    }
    return bits;
}

fn wide(a: Int64) -> Int160 {
    return Int160(a.x, a.y, 0u, 0u, 0u);
}

// The squared distance from an edge as a fraction, where `start` and `end` are the differences from
// its corners.
fn squared_distance_to_edge(start: vec3<i32>, end: vec3<i32>) -> Fraction {
    let edge = start - end;
    let along = exact_dot(start, edge);
    let squared = exact_dot(edge, edge);
    if !int64_less(Int64(0u, 0u), along) {
        return Fraction(wide(exact_dot(start, start)), wide(Int64(1u, 0u)));
    }
    if !int64_less(along, squared) {
        return Fraction(wide(exact_dot(end, end)), wide(Int64(1u, 0u)));
    }
    return Fraction(squared_norm(exact_cross(start, edge)), wide(squared));
}

// The least of some squared distances. Rounding takes as long as the rest, so it is put off: mostly
// one distance is much less than the others, or they share the nearest edge or corner.
struct Nearest {
    squared: Fraction,
    // `squared` with a relative error below 2^-19, or NO_DISTANCE.
    approximate: f32,
    // The least of the distances that were rounded, in voxels.
    bits: u32,
}

// Above all squared distances in lattice units, which are below 2^50.
const NO_DISTANCE: f32 = 0x1p100f;

fn nothing_near() -> Nearest {
    let zero = Int160(0u, 0u, 0u, 0u, 0u);
    return Nearest(Fraction(zero, zero), NO_DISTANCE, 0xffffffffu);
}

// Both conversions and the division are each wrong by less than 3 units of 2^-23: together 2^-19.
// Bounds that differ by a relative 2^-17 decide which of two fractions is less.
fn lower_to(nearest: ptr<function, Nearest>, squared: Fraction, fraction_bits: u32) {
    let approximate = int160_to_f32(squared.numerator) / int160_to_f32(squared.denominator);
    let least = (*nearest).approximate;
    if approximate < least * (1.0 - 0x1p-17f) {
        (*nearest).squared = squared;
        (*nearest).approximate = approximate;
    } else if (approximate <= least * (1.0 + 0x1p-17f)) && !is_same(squared, (*nearest).squared) {
        (*nearest).bits = min((*nearest).bits, rounded(squared, fraction_bits));
    }
}

fn is_same(a: Fraction, b: Fraction) -> bool {
    return int160_is_same(a.numerator, b.numerator)
        && int160_is_same(a.denominator, b.denominator);
}

// Lowers `nearest` to the distance of `p` from `triangle`, in voxels of 2^fraction_bits lattice
// units. If p's projection to the plane is outside the triangle, the nearest point is on an edge
// that p is beyond: from any other point of the triangle, a step towards the projection stays in
// the triangle.
fn lower_to_triangle(
    nearest: ptr<function, Nearest>,
    p: vec3<i32>,
    triangle: Triangle,
    fraction_bits: u32,
) {
    var a = p - triangle.a;
    var b = p - triangle.b;
    var c = p - triangle.c;
    let normal = exact_cross(a - b, b - c);
    let squared = squared_norm(normal);
    // The edges of a triangle without area have no side.
    let has_area = !int160_is_zero(squared);
    var is_above = has_area;
    for (var edge = 0u; edge < 3u; edge += 1u) {
        // Above 0 along the normal if p is beyond the edge.
        if !has_area || !is_dot_at_most_0(normal, exact_cross(a, a - b)) {
            lower_to(nearest, squared_distance_to_edge(a, b), fraction_bits);
            is_above = false;
        }
        let start = a;
        a = b;
        b = c;
        c = start;
    }
    if is_above {
        let xy = int96_add(int96_mul(normal[0], a.x), int96_mul(normal[1], a.y));
        let height = int96_abs(int96_add(xy, int96_mul(normal[2], a.z)));
        lower_to(nearest, Fraction(int160_product(height, height), squared), fraction_bits);
    }
}

// The bits of the least distance, rounded to the nearest f32; 0xffffffff if there is none.
fn rounded_nearest(nearest: Nearest, fraction_bits: u32) -> u32 {
    if nearest.approximate == NO_DISTANCE {
        return nearest.bits;
    }
    return min(nearest.bits, rounded(nearest.squared, fraction_bits));
}
