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
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_parts_has_no_limit() {
        let shard = |index| Shard { index, of: usize::MAX }.of(vec![0, 1, 2]);
        assert_eq!([1, 9].map(shard), [vec![0], vec![]]);
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
