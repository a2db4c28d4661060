//! Counts of names for warnings.

use crate::formats::excerpt;

/// A tally of names, of which a warning lists the first few.
#[derive(Debug, Default)]
pub(super) struct Tally {
    names: Vec<String>,
    /// The number of occurrences.
    pub(super) count: usize,
    /// The number of occurrences of names not in `names`.
    others: usize,
}

impl Tally {
    pub(super) fn add(&mut self, name: &str) {
        const LISTED: usize = 3;
        let name = excerpt(name);
        self.count += 1;
        match self.names.len() {
            _ if self.names.contains(&name) => {}
            0..LISTED => self.names.push(name),
            _ => self.others += 1,
        }
    }

    /// The names in quotation marks.
    pub(super) fn quoted(&self) -> String {
        let names: Vec<String> = self.names.iter().map(|name| format!("'{name}'")).collect();
        names.join(", ")
    }

    /// As [`quoted`](Self::quoted), with " and others" if there are any.
    pub(super) fn quoted_and_others(&self) -> String {
        let and = if self.others > 0 { " and others" } else { "" };
        self.quoted() + and
    }

    /// As [`quoted`](Self::quoted), with the number of others.
    pub(super) fn quoted_and_counted(&self) -> String {
        let and = match self.others {
            0 => String::new(),
            others => format!(" and {others} others"),
        };
        self.quoted() + &and
    }

    /// A warning that begins with `what`, if there was any occurrence.
    pub(super) fn warning(&self, what: &str) -> Option<String> {
        (self.count > 0).then(|| format!("{what}: {}", self.quoted_and_counted()))
    }
}
