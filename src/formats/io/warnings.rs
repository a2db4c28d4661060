//! Counts for warnings.

use crate::base::numbers::counted_as;
use crate::formats::excerpt;

/// A warning about `count` things, called `one` or `more`; `None` if there are none.
pub(crate) fn counted_warning(count: u64, [one, more]: [&str; 2], what: &str) -> Option<String> {
    (count > 0).then(|| format!("{} {what}", counted_as(count, one, more)))
}

/// The fault of a mesh of `count` points and lines only.
pub(crate) fn only_points_and_lines(count: u64) -> String {
    let found = counted_as(count, "point or line", "points and lines");
    format!("no faces found, only {found}: nothing to voxelize")
}

/// The number of times that each name occurs; a warning lists the first few names.
#[derive(Debug, Default)]
pub(crate) struct NameCounts {
    /// The first few names, each with its number of occurrences.
    names: Vec<(String, usize)>,
    /// The number of occurrences.
    pub(crate) count: usize,
    /// The number of occurrences of names not in `names`.
    others: usize,
}

impl NameCounts {
    pub(crate) fn add(&mut self, name: &str) {
        self.add_many(excerpt(name), 1);
    }

    fn add_many(&mut self, name: String, count: usize) {
        const LISTED: usize = 3;
        self.count += count;
        match self.names.iter().position(|(known, _)| *known == name) {
            Some(at) => self.names[at].1 += count,
            None if self.names.len() < LISTED => self.names.push((name, count)),
            None => self.others += count,
        }
    }

    /// Adds later occurrences.
    pub(crate) fn append(&mut self, later: Self) {
        later.names.into_iter().for_each(|(name, count)| self.add_many(name, count));
        self.count += later.others;
        self.others += later.others;
    }

    /// The names in quotation marks, with the number of others.
    pub(crate) fn quoted_and_counted(&self) -> String {
        let names: Vec<String> = self.names.iter().map(|(name, _)| format!("'{name}'")).collect();
        let and = match self.others {
            0 => String::new(),
            others => format!(" and {others} others"),
        };
        names.join(", ") + &and
    }

    /// A warning that begins with `what`, if there was any occurrence.
    pub(crate) fn warning(&self, what: &str) -> Option<String> {
        (self.count > 0).then(|| format!("{what}: {}", self.quoted_and_counted()))
    }
}

/// Warnings about names: each is a sentence, and the names that were added to it. They are in the
/// order of their first names.
#[derive(Debug, Default)]
pub(crate) struct NamedWarnings(Vec<(&'static str, NameCounts)>);

impl NamedWarnings {
    /// Adds a name to the warning that begins with `what`.
    pub(crate) fn add(&mut self, what: &'static str, name: &str) {
        self.add_whole(what, excerpt(name));
    }

    /// Adds a name, like [`add`](Self::add), without shortening it.
    pub(crate) fn add_whole(&mut self, what: &'static str, name: String) {
        let at = self.0.iter().position(|&(known, _)| known == what).unwrap_or_else(|| {
            self.0.push((what, NameCounts::default()));
            self.0.len() - 1
        });
        self.0[at].1.add_many(name, 1);
    }

    pub(crate) fn list(&self) -> impl Iterator<Item = String> {
        self.0.iter().filter_map(|(what, names)| names.warning(what))
    }
}
