// Sums over the samples of each pixel. Words of a pixel: the sums of three colour channels, the
// number of samples with a colour, the number of samples, and whether the keys at the corners
// differ.
//
// #import draw/params

@group(0) @binding(3) var<storage, read_write> sums: array<atomic<u32>>;

const SUM_WORDS: u32 = 6u;
const COVERED: u32 = 3u;
const SAMPLES: u32 = 4u;
const DIFFERS: u32 = 5u;

// The error word after the sums of all pixels: not 0 if a driver ended a traversal early.
fn sums_end() -> u32 {
    return draw.rows * draw.size.x * SUM_WORDS;
}

// The pixel of an index in the range of rows that is drawn.
fn pixel_at(index: u32) -> vec2<u32> {
    return vec2<u32>(index % draw.size.x, draw.first_row + index / draw.size.x);
}
