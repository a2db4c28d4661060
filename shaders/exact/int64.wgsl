// Signed integers of 64 and 96 bits, two's complement in u32 words, least significant first.
// Portable WGSL has no integer wider than 32 bits. Results wrap; callers prove that they do not.

alias Int64 = vec2<u32>;
alias Int96 = vec3<u32>;

fn mul_u32(a: u32, b: u32) -> vec2<u32> {
    let a0 = a & 0xffffu;
    let a1 = a >> 16u;
    let b0 = b & 0xffffu;
    let b1 = b >> 16u;
    let low = a0 * b0;
    let mid0 = a0 * b1;
    let mid1 = a1 * b0;
    // At most 3 * (2^16 - 1): no overflow.
    let carry = (low >> 16u) + (mid0 & 0xffffu) + (mid1 & 0xffffu);
    return vec2<u32>(
        (low & 0xffffu) | (carry << 16u),
        a1 * b1 + (mid0 >> 16u) + (mid1 >> 16u) + (carry >> 16u),
    );
}

fn int64_add(a: Int64, b: Int64) -> Int64 {
    let low = a.x + b.x;
    return Int64(low, a.y + b.y + u32(low < a.x));
}

fn int64_neg(a: Int64) -> Int64 {
    return int64_add(~a, Int64(1u, 0u));
}

fn int64_sub(a: Int64, b: Int64) -> Int64 {
    return int64_add(a, int64_neg(b));
}

fn int64_abs(a: Int64) -> Int64 {
    return select(a, int64_neg(a), bitcast<i32>(a.y) < 0);
}

fn int64_less(a: Int64, b: Int64) -> bool {
    let high_a = bitcast<i32>(a.y);
    let high_b = bitcast<i32>(b.y);
    return (high_a < high_b) || ((high_a == high_b) && (a.x < b.x));
}

// The unsigned product is too large by 2^32 times the other factor, for each negative factor.
fn int64_mul(a: i32, b: i32) -> Int64 {
    let ua = bitcast<u32>(a);
    let ub = bitcast<u32>(b);
    let product = mul_u32(ua, ub);
    return Int64(product.x, product.y - select(0u, ub, a < 0) - select(0u, ua, b < 0));
}

fn int96_add(a: Int96, b: Int96) -> Int96 {
    let low = a.x + b.x;
    let high = int64_add(int64_add(a.yz, b.yz), Int64(u32(low < a.x), 0u));
    return Int96(low, high);
}

fn int96_neg(a: Int96) -> Int96 {
    return int96_add(~a, Int96(1u, 0u, 0u));
}

fn int96_abs(a: Int96) -> Int96 {
    return select(a, int96_neg(a), bitcast<i32>(a.z) < 0);
}

fn int96_less(a: Int96, b: Int96) -> bool {
    return int64_less(a.yz, b.yz) || (all(a.yz == b.yz) && (a.x < b.x));
}

// a = high * 2^32 + low, with high signed and low unsigned: low * b, corrected for a negative b as
// in int64_mul, plus high * b one word up.
fn int96_mul(a: Int64, b: i32) -> Int96 {
    let low = mul_u32(a.x, bitcast<u32>(b));
    let middle = int64_sub(Int64(low.y, 0u), Int64(select(0u, a.x, b < 0), 0u));
    return Int96(low.x, int64_add(middle, int64_mul(bitcast<i32>(a.y), b)));
}

// a * b.
fn int64_scaled(a: Int64, b: u32) -> Int64 {
    let low = mul_u32(a.x, b);
    return Int64(low.x, low.y + a.y * b);
}

// a * b, corrected for a negative b as in int64_mul.
fn int64_times(a: Int64, b: i32) -> Int64 {
    let product = int64_scaled(a, bitcast<u32>(b));
    return Int64(product.x, product.y - select(0u, a.x, b < 0));
}

// a * 2^bits, for bits from 1 to 31.
fn int64_shifted(a: i32, bits: u32) -> Int64 {
    return Int64(bitcast<u32>(a) << bits, bitcast<u32>(a >> (32u - bits)));
}

struct Quotient {
    quotient: Int64,
    remainder: u32,
}

// floor(a / b), for b from 1 to 2^24 and a >= -2^62. Long division of the low word by bytes: a
// remainder is below b, so with the next eight bits it is below 2^32.
fn int64_divided(a: Int64, b: u32) -> Quotient {
    let is_negative = bitcast<i32>(a.y) < 0;
    // For a < 0: floor(a / b) = ~floor(~a / b).
    let whole = select(a, ~a, is_negative);
    let d3 = ((whole.y % b) << 8u) | (whole.x >> 24u);
    let d2 = ((d3 % b) << 8u) | ((whole.x >> 16u) & 0xffu);
    let d1 = ((d2 % b) << 8u) | ((whole.x >> 8u) & 0xffu);
    let d0 = ((d1 % b) << 8u) | (whole.x & 0xffu);
    // Each below 2^8.
    let low = ((d3 / b) << 24u) | ((d2 / b) << 16u) | ((d1 / b) << 8u) | (d0 / b);
    let quotient = Int64(low, whole.y / b);
    if is_negative {
        return Quotient(~quotient, b - 1u - d0 % b);
    }
    return Quotient(quotient, d0 % b);
}
