// What pixels are the mean of: for each, words with the sums of three colours, how many of its samples
// have one, how many there are, and whether those at its corners differ.
//
// #import draw/params

@group(0) @binding(3) var<storage, read_write> sums: array<atomic<u32>>;

const SUM_WORDS: u32 = 6u;
const COVERED: u32 = 3u;
const SAMPLES: u32 = 4u;
const DIFFERS: u32 = 5u;

// After the sums of all pixels: not 0 if a search was ended early.
fn sums_end() -> u32 {
    return draw.rows * draw.size.x * SUM_WORDS;
}

// The pixel of a number in the rows that are drawn.
fn pixel_at(index: u32) -> vec2<u32> {
    return vec2<u32>(index % draw.size.x, draw.first_row + index / draw.size.x);
}
