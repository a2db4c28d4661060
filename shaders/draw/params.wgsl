// The parameters of a picture, which the host computes: integers, so that all machines draw the same.
//
// #import trace/rays

struct DrawParams {
    // Pixels.
    size: vec2<u32>,
    // The rows of pixels that are drawn.
    first_row: u32,
    rows: u32,
    // Places along each side of a pixel.
    samples: u32,
    // Ways from a face to the sky, and from a place on the ground.
    sky_directions: u32,
    ground_directions: u32,
    // Workgroups per dispatch dimension.
    max_groups: u32,
    // By how much half the width of an edge changes by a step along an axis.
    edge_step: vec3<i32>,
    // Half the width of an edge at the voxel `edge_from`, in multiples of 2^-24 voxel.
    edge_width: i32,
    edge_from: vec3<i32>,
    // Wider ones are not seen.
    edge_most: i32,
    // Narrower ones than so much below are as dark as any.
    edge_range: i32,
    edge_shade: u32,
    // 1 if there is something behind the voxels.
    has_behind: u32,
    // 1 if voxels cover so few pixels that a face is lit as its middle is.
    is_small: u32,
    // At a corner between 0, 1, 2 and 3 free voxels.
    corner_light: vec4<u32>,
    // How much of the background's light is the sun's, and the sky's.
    ground_shades: vec2<u32>,
    // The next place on the ground is step << step_bits further, in units.
    ground_step: u32,
    ground_step_bits: u32,
    // The first place, along the two level axes, 64 bits each.
    ground_corner: vec4<u32>,
    // Of the places, along the axis that is up.
    ground_height: vec2<u32>,
    // NO_GROUND if there is none.
    ground_up: u32,
    // Words of `numbers` at which lists begin: of the rows of places, of the directions to points of the
    // sun, to the sky from the six faces, and to the sky from the ground, ...
    rows_at: u32,
    sun_directions_at: u32,
    sky_directions_at: u32,
    ground_directions_at: u32,
    // ... of what there is of the sky's light where no direction to it is occluded, one, and so on ...
    sky_left_at: u32,
    // ... and where the linear values end that each value of sRGB is nearest to.
    srgb_ends_at: u32,
    // How many sets of directions to the sky a face has, a power of two.
    sky_sets: u32,
    // To the middle of the sun.
    sun: vec3<i32>,
    // Of the sun on a face that it shines on; 0 on those that look away from it.
    of_sun: array<vec4<u32>, 6>,
    // Of the whole sky, and from the ground, on a face.
    of_sky: array<vec4<u32>, 6>,
}

// A share of light, or light itself, is a multiple of 1 / ONE.
const ONE: u32 = 32768u;

// How far off a surface light is looked for, in units.
const OFF: Int64 = Int64(4u, 0u);

// In the place of the axis that is up.
const NO_GROUND: u32 = 3u;

// Places on the ground along a side of the table.
const GROUND_SAMPLES: u32 = 128u;

@group(0) @binding(0) var<uniform> draw: DrawParams;
// Words of a part of a ray: what a column or a row of places adds to its origin, and to its
// direction. A row has the colour that is behind it, too.
@group(0) @binding(1) var<storage, read> numbers: array<u32>;

const COLUMN_WORDS: u32 = 9u;
const ROW_WORDS: u32 = 12u;

// A share of a share, or of light: rounded, half up. One is below 2^17, the other at most ONE.
fn share_of(a: u32, b: u32) -> u32 {
    return (a * b + ONE / 2u) / ONE;
}

// From a at 0 to b at ONE.
fn between(a: u32, b: u32, at: u32) -> u32 {
    return (a * (ONE - at) + b * at) / ONE;
}

fn direction_at(word: u32) -> vec3<i32> {
    return bitcast<vec3<i32>>(vec3<u32>(numbers[word], numbers[word + 1u], numbers[word + 2u]));
}

fn int64_at(word: u32) -> Int64 {
    return Int64(numbers[word], numbers[word + 1u]);
}

// The ray through a place, by its column and its row.
fn ray_through(place: vec2<u32>) -> Ray {
    let column = place.x * COLUMN_WORDS;
    let row = draw.rows_at + place.y * ROW_WORDS;
    let origin = array<Int64, 3>(
        int64_add(int64_at(column), int64_at(row)),
        int64_add(int64_at(column + 2u), int64_at(row + 2u)),
        int64_add(int64_at(column + 4u), int64_at(row + 4u)),
    );
    return Ray(origin, direction_at(column + 6u) + direction_at(row + 6u));
}
