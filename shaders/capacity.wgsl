// Room for pairs: the two lowest levels have most.

fn capacity_of(level: u32) -> u32 {
    return select(params.pair_capacity, params.upper_capacity, level > 1u);
}
