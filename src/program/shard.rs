//! A shard of a list of meshes, by which several runs of one command divide the work.

use std::fmt;

/// Shard `index` of `of`, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    index: usize,
    of: usize,
}

impl Shard {
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

    pub fn is_first(self) -> bool {
        self.index == 1
    }

    /// Every `of`th item, from item `index` on.
    pub fn of<T>(self, all: Vec<T>) -> Vec<T> {
        all.into_iter().skip(self.index - 1).step_by(self.of).collect()
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_parts_has_no_limit() {
        let shard = |index| Shard { index, of: usize::MAX }.of(vec![0, 1, 2]);
        assert_eq!([1, 9].map(shard), [vec![0], vec![]]);
    }
}
