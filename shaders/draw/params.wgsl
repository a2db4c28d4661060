// The parameters of a picture, computed by the host: integers, so that all devices draw the same.
//
// #import trace/rays

struct DrawParams {
    // Pixels.
    size: vec2<u32>,
    // The range of rows of pixels drawn by this dispatch.
    first_row: u32,
    rows: u32,
    // Samples along each side of a pixel.
    samples: u32,
    // Number of ambient-occlusion rays of a face, and of a sample of the ground.
    sky_directions: u32,
    ground_directions: u32,
    // The first invocation of this dispatch: the host divides a stage into several.
    first: u32,
    // Change of the edge half-width per voxel along each axis.
    edge_step: vec3<i32>,
    // Half-width of edge lines at the voxel `edge_origin`, in multiples of 2^-24 voxel.
    edge_width: i32,
    edge_origin: vec3<i32>,
    // Half-width at which edge lines have faded out.
    edge_max: i32,
    // Edge lines fade over this range of half-widths below `edge_max`.
    edge_fade: i32,
    edge_shade: u32,
    // 1 if the background is not transparent.
    has_background: u32,
    // 1 if voxels cover so few pixels that the sun's shadow is traced once per face, from its
    // centre.
    is_small: u32,
    // Ambient light at a corner with 0, 1, 2 and 3 of its three neighbours empty.
    corner_light: vec4<u32>,
    // Shares of the background's light that the sun and the sky contribute.
    ground_shades: vec2<u32>,
    // The spacing of ground samples is ground_step << ground_step_bits units.
    ground_step: u32,
    ground_step_bits: u32,
    // Position of the first ground sample along the two horizontal axes, 64 bits each.
    ground_corner: vec4<u32>,
    // Position of the ground samples along the up axis, 64 bits.
    ground_height: vec2<u32>,
    // The up axis, or NO_GROUND.
    ground_up: u32,
    // Word offsets of lists in `tables`: row terms, directions to points on the sun's disc, sky
    // directions of the six faces, sky directions of the ground, ...
    rows_at: u32,
    sun_directions_at: u32,
    sky_directions_at: u32,
    ground_directions_at: u32,
    // ... shares of the sky's light with 0, 1, ... occluded directions, ...
    sky_shares_at: u32,
    // ... and the ends of the ranges of linear values nearest to each sRGB value, followed by the
    // linear values of the sRGB values.
    srgb_ends_at: u32,
    // Number of sets of sky directions per face, a power of two.
    sky_sets: u32,
    // Direction to the centre of the sun.
    sun: vec3<i32>,
    // Sunlight on each unshadowed face; 0 on faces that face away.
    sun_light: array<vec4<u32>, 6>,
    // Light of the unoccluded sky, and from the ground, on each face.
    sky_light: array<vec4<u32>, 6>,
}

// Light and shares of light are fixed-point numbers: multiples of 1 / ONE.
const ONE: u32 = 32768u;

// Stored in place of the up axis.
const NO_GROUND: u32 = 3u;

// Samples of the ground along each side.
const GROUND_SAMPLES: u32 = 128u;

@group(0) @binding(0) var<uniform> draw: DrawParams;
// Lists of words: first column terms, then the lists at the offsets above.
@group(0) @binding(1) var<storage, read> tables: array<u32>;

// Words of the column term and the row term of a ray: origin, 64 bits per axis, and direction. A
// row term is followed by the background colour of the row.
const COLUMN_WORDS: u32 = 9u;
const ROW_WORDS: u32 = 12u;

// The index of an invocation in its stage, over all of its dispatches.
fn index_of(group: vec3<u32>, lane: u32) -> u32 {
    return draw.first + group.x * RAY_GROUP + lane;
}

// The fixed-point product, rounded half up. One factor is below 2^17, the other at most ONE.
fn scale(a: u32, b: u32) -> u32 {
    return (a * b + ONE / 2u) / ONE;
}

// Linear interpolation from a at 0 to b at ONE.
fn lerp_fixed(a: u32, b: u32, at: u32) -> u32 {
    return (a * (ONE - at) + b * at) / ONE;
}

fn direction_at(word: u32) -> vec3<i32> {
    return bitcast<vec3<i32>>(vec3<u32>(tables[word], tables[word + 1u], tables[word + 2u]));
}

fn int64_at(word: u32) -> Int64 {
    return Int64(tables[word], tables[word + 1u]);
}

// The ray of a sample: the sum of its column term and its row term.
fn sample_ray(sample: vec2<u32>) -> Ray {
    let column = sample.x * COLUMN_WORDS;
    let row = draw.rows_at + sample.y * ROW_WORDS;
    let origin = array<Int64, 3>(
        int64_add(int64_at(column), int64_at(row)),
        int64_add(int64_at(column + 2u), int64_at(row + 2u)),
        int64_add(int64_at(column + 4u), int64_at(row + 4u)),
    );
    return Ray(origin, direction_at(column + 6u) + direction_at(row + 6u));
}
