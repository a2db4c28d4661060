// Stage: resolves pixels as the means of their samples.
// Dispatch: one invocation per pixel, and one that copies the error word of `sums`.
//
// #import draw/sums

@group(0) @binding(4) var<storage, read_write> pixels: array<u32>;

// Packs the mean of the `covered` samples with a colour: red in the lowest byte, opacity, which is
// covered / all_samples, in the highest.
fn mean(sum: vec3<u32>, covered: u32, all_samples: u32) -> u32 {
    let divisor = max(covered, 1u);
    let light = (sum + divisor / 2u) / divisor;
    let opacity = (covered * 510u + all_samples) / (2u * all_samples);
    return srgb_of(light.x) | (srgb_of(light.y) << 8u) | (srgb_of(light.z) << 16u)
        | (opacity << 24u);
}

// The nearest sRGB value: the number of sRGB values whose range ends at or below `light`.
fn srgb_of(light: u32) -> u32 {
    var value = 0u;
    for (var half = 128u; half > 0u; half >>= 1u) {
        if tables[draw.srgb_ends_at + value + half - 1u] <= light {
            value += half;
        }
    }
    return value;
}

@compute @workgroup_size(RAY_GROUP)
fn mean_pixels(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = index_of(group, lane);
    let count = draw.rows * draw.size.x;
    if index == count {
        pixels[index] = atomicLoad(&sums[sums_end()]);
    }
    if index >= count {
        return;
    }
    let first = index * SUM_WORDS;
    let sum = vec3<u32>(
        atomicLoad(&sums[first]),
        atomicLoad(&sums[first + 1u]),
        atomicLoad(&sums[first + 2u]),
    );
    let covered = atomicLoad(&sums[first + COVERED]);
    pixels[index] = mean(sum, covered, atomicLoad(&sums[first + SAMPLES]));
}
