//! The voxels with the least and the greatest distance of their number from the nearest `i + 1/2`,
//! with few exact evaluations: a candidate for the least is evaluated only if its lower bound is at
//! most the smallest upper bound.

use crate::solid::fill::offsets::ROUNDING;

/// A distance from the nearest `i + 1/2`, or a bound of it, and its voxel.
pub(super) type VoxelDistance = (f64, [u32; 3]);

/// The lexicographic minimum: equal distances are ordered by voxel.
#[inline]
pub(super) fn lexicographic_min(
    a: Option<VoxelDistance>,
    b: Option<VoxelDistance>,
) -> Option<VoxelDistance> {
    match (a, b) {
        (Some(old), Some(new)) => Some(if new < old { new } else { old }),
        _ => a.or(b),
    }
}

/// The candidates among some voxels.
#[derive(Debug)]
pub(super) struct Extremes {
    /// The voxels that may be nearest by their approximate distance: the lower bound of each.
    lower_bounds: Vec<VoxelDistance>,
    /// The least exact distance.
    exact: Option<VoxelDistance>,
    /// An upper bound of the least distance.
    pub(super) upper_bound: f64,
    /// The greatest lower bound of a distance, negated, and its voxel.
    pub(super) farthest: Option<VoxelDistance>,
}

impl Extremes {
    /// Without voxels. A distance above `upper_bound` is no candidate for the least.
    pub(super) fn below(upper_bound: f64) -> Self {
        Self { lower_bounds: Vec::new(), exact: None, upper_bound, farthest: None }
    }

    /// Whether no voxel with a lower bound from `least` to `greatest` can be the nearest or the
    /// farthest. These bounds do not include [`ROUNDING`].
    #[inline]
    pub(super) fn exclude(&self, least: f64, greatest: f64) -> bool {
        least > self.upper_bound + ROUNDING && self.farthest.is_some_and(|(far, _)| greatest < -far)
    }

    /// Adds a voxel; `error` bounds the error of `distance`, and is 0 for the sum over all edges.
    #[inline]
    pub(super) fn add(&mut self, distance: f64, error: f64, voxel: [u32; 3]) {
        self.farthest = lexicographic_min(self.farthest, Some((error - distance, voxel)));
        // An approximation and the sum have different rounding errors.
        let error = if error == 0.0 { 0.0 } else { error + ROUNDING };
        if distance - error > self.upper_bound {
            return;
        }
        self.upper_bound = self.upper_bound.min(distance + error);
        if error == 0.0 {
            // One for all: on a cap through many voxel centres, all distances are about 0.
            self.exact = lexicographic_min(self.exact, Some((distance, voxel)));
        } else {
            self.lower_bounds.push((distance - error, voxel));
        }
    }

    /// Adds the candidates of `other`.
    pub(super) fn merge(&mut self, other: Self) {
        self.upper_bound = self.upper_bound.min(other.upper_bound);
        self.exact = lexicographic_min(self.exact, other.exact);
        self.farthest = lexicographic_min(self.farthest, other.farthest);
        let is_candidate = |&(lower, _): &VoxelDistance| lower <= self.upper_bound;
        let count = self.lower_bounds.len() + other.lower_bounds.len();
        let grows = count > self.lower_bounds.capacity();
        self.lower_bounds.extend(other.lower_bounds.into_iter().filter(is_candidate));
        // Only after a reallocation: amortized, a voxel costs constant time.
        if grows {
            self.lower_bounds.retain(is_candidate);
        }
    }

    /// The least distance by `evaluate` with its first voxel, and the distance of the farthest
    /// voxel. If the least is above the first upper bound, the first result is `None` or a greater
    /// distance.
    pub(super) fn evaluated(
        mut self,
        evaluate: impl Fn([u32; 3]) -> f64,
    ) -> [Option<VoxelDistance>; 2] {
        let evaluated = |voxel| (evaluate(voxel), voxel);
        self.lower_bounds.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut least = self.exact;
        for (lower, voxel) in self.lower_bounds {
            // The pairs are in ascending order: no later voxel can have the minimum.
            if least.is_some_and(|least| (lower, voxel) > least) {
                break;
            }
            least = lexicographic_min(least, Some(evaluated(voxel)));
        }
        [least, self.farthest.map(|(_, voxel)| evaluated(voxel))]
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    #[test]
    fn the_first_of_the_least_distances_and_a_far_one_are_found_from_any_bounds() {
        let (mut rng, mut checked) = (Rng::with_seed(11), 0);
        for case in 0..2000 {
            // Few different distances, so that many are equal.
            let distances: Vec<f64> =
                (0..1 + case % 50).map(|_| f64::from(rng.u32(1..9))).collect();
            let bound = f64::from(rng.u32(0..12));
            let mut groups = [bound, f64::INFINITY, bound].map(Extremes::below);
            let mut order: Vec<usize> = (0..distances.len()).collect();
            rng.shuffle(&mut order);
            let mut lower = distances.clone();
            for &at in &order {
                // Some are known exactly.
                let error = if rng.bool() { 0.0 } else { 3.0 * rng.f64() };
                let known = distances[at] + error * (2.0 * rng.f64() - 1.0);
                lower[at] = known - error;
                groups[rng.usize(0..3)].add(known, error, [at as u32, 0, 0]);
            }
            let [mut extremes, second, third] = groups;
            extremes.merge(second);
            extremes.merge(third);
            let least = distances.iter().copied().fold(f64::INFINITY, f64::min);
            let first = |all: &[f64], value| all.iter().position(|&each| each == value);
            let greatest = lower.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let far = first(&lower, greatest).unwrap_or(0);
            let [found, found_far] = extremes.evaluated(|[at, ..]| {
                let at = at as usize;
                // No other distance can be the least.
                assert!(
                    at == far || least > bound || lower[at] - ROUNDING <= least,
                    "{at} of {lower:?}"
                );
                distances[at]
            });
            let voxel = |at: usize| [at as u32, 0, 0];
            assert_eq!(found_far, Some((distances[far], voxel(far))));
            if least <= bound {
                let nearest = first(&distances, least).unwrap_or(0);
                assert_eq!(found, Some((least, voxel(nearest))));
                checked += 1;
            }
        }
        assert!(checked > 1000, "{checked}");
    }
}
