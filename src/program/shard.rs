//! A shard of a list of meshes, by which several runs of one command divide the work.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;

/// Shard `index` of `of`, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    index: usize,
    of: usize,
}

impl Shard {
    /// Parses `I/N`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(index, of)| {
            Some((index.trim().parse::<usize>().ok()?, of.trim().parse::<usize>().ok()?))
        });
        match numbers {
            None => Err("write I/N, such as 2/8 for the second of eight parts".into()),
            Some((_, 0)) => Err("there must be at least one part: write 1/1 for all".into()),
            Some((index, of)) if (1..=of).contains(&index) => Ok(Self { index, of }),
            Some((_, of)) => Err(format!("parts are counted from 1: write 1/{of} to {of}/{of}")),
        }
    }

    /// The items of this shard, in their order. From the one with the most `work` to the one with
    /// the least, each item goes to the shard with the least work so far.
    pub fn of<T>(self, all: Vec<T>, work: impl Fn(&T) -> u64) -> Vec<T> {
        let work: Vec<u64> = all.iter().map(work).collect();
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by_key(|&item| Reverse(work[item]));
        // The first items go to the first shards, one each: shards past them are empty.
        let shards = 1..=self.of.min(all.len());
        let mut shards: BinaryHeap<_> = shards.map(|index| Reverse((0, index))).collect();
        let mut is_mine = vec![false; all.len()];
        for item in order {
            let Some(mut least) = shards.peek_mut() else { break };
            let Reverse((sum, index)) = &mut *least;
            is_mine[item] = *index == self.index;
            *sum += work[item];
        }
        all.into_iter().zip(is_mine).filter_map(|(item, is_mine)| is_mine.then_some(item)).collect()
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn shards_together_are_the_whole_and_share_nothing() {
        for of in 1..10 {
            let all: Vec<u64> = (0..7).collect();
            let shards: Vec<Vec<u64>> = (1..=of)
                .map(|index| Shard { index, of }.of(all.clone(), |item| item * item))
                .collect();
            assert!(shards.iter().all(|shard| shard.is_sorted()), "{shards:?}");
            let mut together = shards.concat();
            together.sort_unstable();
            assert_eq!(together, all, "{of} parts");
        }
    }

    #[test]
    fn equal_work_is_dealt_in_turns_and_no_shard_has_an_item_more_than_its_share() {
        // A shard of far more than there are items.
        assert_eq!(Shard { index: 2, of: usize::MAX }.of(vec!['a', 'b'], |_| 1), ['b']);
        assert_eq!(Shard { index: 3, of: usize::MAX }.of(vec!['a', 'b'], |_| 1), []);
        assert_eq!(Shard { index: 2, of: 3 }.of(vec![0, 1, 2, 3, 4, 5, 6, 7], |_| 9), [1, 4, 7]);
        for of in 1..10 {
            let all: Vec<u64> = (1..200).map(|item| item * item % 97).collect();
            let share = all.iter().sum::<u64>() / of as u64;
            for index in 1..=of {
                let work: u64 = Shard { index, of }.of(all.clone(), |&item| item).iter().sum();
                assert!(work.abs_diff(share) <= 97, "{work} of {share}");
            }
        }
    }

    #[test]
    fn what_is_no_part_is_refused_with_those_that_are() {
        assert_eq!(Shard::parse("2/8"), Ok(Shard { index: 2, of: 8 }));
        for text in ["0/3", "4/3"] {
            assert!(Shard::parse(text).unwrap_err().contains("write 1/3 to 3/3"), "{text}");
        }
        for text in ["", "3", "/", "1/", "a/b", "-1/2", "1/2/3", "1.5/2", "1/99999999999999999999"]
        {
            assert!(Shard::parse(text).unwrap_err().contains("such as 2/8"), "{text}");
        }
        assert!(Shard::parse("1/0").unwrap_err().contains("at least one part"));
    }
}
