//! Finds a minimum with few exact evaluations: a value is evaluated only if its lower bound is at
//! most the smallest upper bound.

/// A value and its voxel.
pub(super) type VoxelValue = (f64, [u32; 3]);

/// The lexicographic minimum: equal values are ordered by voxel.
#[inline]
pub(super) fn lexicographic_min(
    a: Option<VoxelValue>,
    b: Option<VoxelValue>,
) -> Option<VoxelValue> {
    match (a, b) {
        (Some(old), Some(new)) => Some(if new < old { new } else { old }),
        _ => a.or(b),
    }
}

/// Candidates for the minimum of a function of voxels.
#[derive(Debug)]
pub(super) struct Candidates {
    /// Voxels with an approximate value: the lower bound of each.
    lower_bounds: Vec<VoxelValue>,
    /// The minimum of the exact values.
    exact_minimum: Option<VoxelValue>,
    /// An upper bound of the minimum.
    upper_bound: f64,
}

impl Candidates {
    /// No candidates. Values above `upper_bound` are ignored.
    pub(super) fn below(upper_bound: f64) -> Self {
        Self { lower_bounds: Vec::new(), exact_minimum: None, upper_bound }
    }

    /// An upper bound of the minimum.
    #[inline]
    pub(super) fn upper_bound(&self) -> f64 {
        self.upper_bound
    }

    /// Adds a voxel; `error` bounds the error of `value`, and is 0 for an exact value.
    #[inline]
    pub(super) fn add(&mut self, value: f64, error: f64, voxel: [u32; 3]) {
        if value - error > self.upper_bound {
            return;
        }
        self.upper_bound = self.upper_bound.min(value + error);
        if error == 0.0 {
            // One for all: on a cap through voxel centres, many values are equal.
            self.exact_minimum = lexicographic_min(self.exact_minimum, Some((value, voxel)));
        } else {
            self.lower_bounds.push((value - error, voxel));
        }
    }

    /// Adds the candidates of `other`.
    pub(super) fn merge(&mut self, other: Self) {
        self.upper_bound = self.upper_bound.min(other.upper_bound);
        self.exact_minimum = lexicographic_min(self.exact_minimum, other.exact_minimum);
        let is_candidate = |&(lower, _): &VoxelValue| lower <= self.upper_bound;
        let count = self.lower_bounds.len() + other.lower_bounds.len();
        let grows = count > self.lower_bounds.capacity();
        self.lower_bounds.extend(other.lower_bounds.into_iter().filter(is_candidate));
        // Only after a reallocation: amortized, a voxel costs constant time.
        if grows {
            self.lower_bounds.retain(is_candidate);
        }
    }

    /// The minimum of `evaluate` and its first voxel, if it is at most the first upper bound;
    /// otherwise `None` or a value above that bound.
    pub(super) fn minimum(mut self, evaluate: impl Fn([u32; 3]) -> f64) -> Option<VoxelValue> {
        self.lower_bounds.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut minimum = self.exact_minimum;
        for (lower, voxel) in self.lower_bounds {
            // The pairs are in ascending order: no later voxel can have the minimum.
            if minimum.is_some_and(|minimum| (lower, voxel) > minimum) {
                break;
            }
            minimum = lexicographic_min(minimum, Some((evaluate(voxel), voxel)));
        }
        minimum
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    #[test]
    fn the_first_of_the_least_values_is_found_from_any_bounds() {
        let (mut rng, mut checked) = (Rng::with_seed(11), 0);
        for case in 0..2000 {
            // Few different values, so that many are equal.
            let values: Vec<f64> = (0..1 + case % 50).map(|_| f64::from(rng.u32(1..9))).collect();
            let bound = f64::from(rng.u32(0..12));
            let mut groups = [bound, f64::INFINITY, bound].map(Candidates::below);
            let mut order: Vec<usize> = (0..values.len()).collect();
            rng.shuffle(&mut order);
            let mut lower = values.clone();
            for &at in &order {
                // Some are known exactly.
                let error = if rng.bool() { 0.0 } else { 3.0 * rng.f64() };
                let known = values[at] + error * (2.0 * rng.f64() - 1.0);
                lower[at] = known - error;
                groups[rng.usize(0..3)].add(known, error, [at as u32, 0, 0]);
            }
            let [mut candidates, second, third] = groups;
            candidates.merge(second);
            candidates.merge(third);
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let first = values.iter().position(|&value| value == least).unwrap_or(0);
            let found = candidates.minimum(|[at, ..]| {
                // No other value can be the minimum.
                assert!(least > bound || lower[at as usize] <= least, "{at} of {lower:?}");
                values[at as usize]
            });
            if least <= bound {
                assert_eq!(found, Some((least, [first as u32, 0, 0])));
                checked += 1;
            }
        }
        assert!(checked > 1000, "{checked}");
    }
}
