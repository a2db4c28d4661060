// Unsigned integers of 160 bits in u32 words, least significant first. Results wrap; callers prove
// that they do not. There are no loops: some drivers limit their iterations.
//
// #import exact/int64

alias Int160 = array<u32, 5>;

// The low word of a + b + carry, and the carry; `carry` is 0 or 1.
fn add_u32(a: u32, b: u32, carry: u32) -> vec2<u32> {
    let sum = a + b;
    let low = sum + carry;
    return vec2<u32>(low, u32(sum < a) + u32(low < sum));
}

fn int160_add(a: Int160, b: Int160) -> Int160 {
    let s0 = add_u32(a[0], b[0], 0u);
    let s1 = add_u32(a[1], b[1], s0.y);
    let s2 = add_u32(a[2], b[2], s1.y);
    let s3 = add_u32(a[3], b[3], s2.y);
    return Int160(s0.x, s1.x, s2.x, s3.x, a[4] + b[4] + s3.y);
}

// a * b.
fn int160_scaled(a: Int160, b: u32) -> Int160 {
    let p0 = mul_u32(a[0], b);
    let p1 = mul_u32(a[1], b);
    let p2 = mul_u32(a[2], b);
    let p3 = mul_u32(a[3], b);
    let s1 = add_u32(p0.y, p1.x, 0u);
    let s2 = add_u32(p1.y, p2.x, s1.y);
    let s3 = add_u32(p2.y, p3.x, s2.y);
    return Int160(p0.x, s1.x, s2.x, s3.x, p3.y + a[4] * b + s3.y);
}

// a * 2^bits, for bits below 160.
fn int160_shifted(a: Int160, bits: u32) -> Int160 {
    var words = a;
    if (bits & 128u) != 0u {
        words = Int160(0u, 0u, 0u, 0u, words[0]);
    }
    if (bits & 64u) != 0u {
        words = Int160(0u, 0u, words[0], words[1], words[2]);
    }
    if (bits & 32u) != 0u {
        words = Int160(0u, words[0], words[1], words[2], words[3]);
    }
    // A shift by 32 bits is undefined, so the words below are shifted twice.
    let left = bits & 31u;
    let right = 31u - left;
    return Int160(
        words[0] << left,
        (words[1] << left) | ((words[0] >> right) >> 1u),
        (words[2] << left) | ((words[1] >> right) >> 1u),
        (words[3] << left) | ((words[2] >> right) >> 1u),
        (words[4] << left) | ((words[3] >> right) >> 1u),
    );
}

// The product of integers that are not negative.
fn int160_product(a: Int96, b: Int96) -> Int160 {
    let wide = Int160(a.x, a.y, a.z, 0u, 0u);
    let middle = int160_shifted(int160_scaled(wide, b.y), 32u);
    let high = int160_shifted(int160_scaled(wide, b.z), 64u);
    return int160_add(int160_add(int160_scaled(wide, b.x), middle), high);
}

fn int160_is_zero(a: Int160) -> bool {
    return (a[0] | a[1] | a[2] | a[3] | a[4]) == 0u;
}

fn int160_is_same(a: Int160, b: Int160) -> bool {
    let differing =
        (a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3]) | (a[4] ^ b[4]);
    return differing == 0u;
}

fn int160_less(a: Int160, b: Int160) -> bool {
    if a[4] != b[4] {
        return a[4] < b[4];
    }
    if a[3] != b[3] {
        return a[3] < b[3];
    }
    if a[2] != b[2] {
        return a[2] < b[2];
    }
    if a[1] != b[1] {
        return a[1] < b[1];
    }
    return a[0] < b[0];
}

// a / 2^64, with a relative error below 3 * 2^-23. By induction from the lowest word, in units of
// 2^-23: a sum is rounded by at most 1. A word below 2^24 is converted exactly and, unless it is 0,
// the words below it are less than half of the sum: 1 + 3 / 2 < 3. A larger word is rounded by 1,
// and the words below it are less than 2^-24 of the sum: 1 + 1 + 3 / 2^24 < 3.
fn int160_to_f32(a: Int160) -> f32 {
    let low = f32(a[0]) * 0x1p-64f + f32(a[1]) * 0x1p-32f;
    return low + f32(a[2]) + f32(a[3]) * 0x1p32f + f32(a[4]) * 0x1p64f;
}
