// Dispatch sizes: up to max_groups in one dimension, beyond that in two.

fn plan_groups(word: u32, groups: u32) {
    dispatch[word] = min(groups, params.max_groups);
    dispatch[word + 1u] = groups / params.max_groups + u32(groups % params.max_groups != 0u);
    dispatch[word + 2u] = 1u;
}
