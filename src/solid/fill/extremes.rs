//! The minimum of values of which only bounds are known: only those that can be it are computed.

/// A value of a voxel.
pub(super) type Valued = (f64, [u32; 3]);

/// The lesser value; of equal ones the first voxel's.
#[inline]
pub(super) fn lesser(a: Option<Valued>, b: Option<Valued>) -> Option<Valued> {
    match (a, b) {
        (Some(old), Some(new)) => Some(if new < old { new } else { old }),
        _ => a.or(b),
    }
}

/// The voxels that may have the least value.
#[derive(Debug)]
pub(super) struct Candidates {
    /// The voxels of which the values are not known exactly, with lower bounds of these.
    voxels: Vec<Valued>,
    /// The least value that is known exactly.
    exact: Option<Valued>,
    /// An upper bound of the least value.
    bound: f64,
}

impl Candidates {
    /// No voxel has been added yet; those above `bound` need not be found.
    pub(super) fn below(bound: f64) -> Self {
        Self { voxels: Vec::new(), exact: None, bound }
    }

    /// An upper bound of the least value.
    #[inline]
    pub(super) fn bound(&self) -> f64 {
        self.bound
    }

    /// Adds a voxel whose value is known up to `error`.
    #[inline]
    pub(super) fn add(&mut self, value: f64, error: f64, voxel: [u32; 3]) {
        if value - error > self.bound {
            return;
        }
        self.bound = self.bound.min(value + error);
        match error == 0.0 {
            // Where a cap passes through voxel centres, many values are equal.
            true => self.exact = lesser(self.exact, Some((value, voxel))),
            false => self.voxels.push((value - error, voxel)),
        }
    }

    /// Adds those of `other`.
    pub(super) fn merge(&mut self, other: Self) {
        self.bound = self.bound.min(other.bound);
        self.exact = lesser(self.exact, other.exact);
        let full = self.voxels.len() + other.voxels.len() > self.voxels.capacity();
        self.voxels.extend(other.voxels.into_iter().filter(|&(lower, _)| lower <= self.bound));
        // Only where the list would grow: the time for a voxel does not depend on their number.
        if full {
            self.voxels.retain(|&(lower, _)| lower <= self.bound);
        }
    }

    /// The least value by `exact`, and its first voxel, if it is not above the first bound.
    /// Otherwise `None` or another value above that.
    pub(super) fn least(mut self, exact: impl Fn([u32; 3]) -> f64) -> Option<Valued> {
        self.voxels.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut least = self.exact;
        for (lower, voxel) in self.voxels {
            // Of equal values the first voxel's is the least.
            if least.is_some_and(|least| (lower, voxel) > least) {
                break;
            }
            least = lesser(least, Some((exact(voxel), voxel)));
        }
        least
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
            let found = candidates.least(|[at, ..]| {
                // Others cannot be it.
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
