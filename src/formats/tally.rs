//! Things to be told by name in a warning.

use crate::formats::excerpt;

/// Things of which the first few are told by name.
#[derive(Debug, Default)]
pub(super) struct Named {
    names: Vec<String>,
    /// How often any was met.
    pub(super) count: usize,
    /// How often one that is not in `names` was met.
    others: usize,
}

impl Named {
    pub(super) fn add(&mut self, name: &str) {
        const MOST: usize = 3;
        let name = excerpt(name);
        self.count += 1;
        match self.names.len() {
            _ if self.names.contains(&name) => {}
            0..MOST => self.names.push(name),
            _ => self.others += 1,
        }
    }

    /// The names in quotation marks.
    pub(super) fn quoted(&self) -> String {
        let names: Vec<String> = self.names.iter().map(|name| format!("'{name}'")).collect();
        names.join(", ")
    }

    /// The same, and that there are others.
    pub(super) fn quoted_and_others(&self) -> String {
        let and = if self.others > 0 { " and others" } else { "" };
        self.quoted() + and
    }

    /// The same, and how many others.
    pub(super) fn quoted_and_counted(&self) -> String {
        let and = match self.others {
            0 => String::new(),
            others => format!(" and {others} others"),
        };
        self.quoted() + &and
    }

    /// A warning that begins with `what`, if any was met.
    pub(super) fn warning(&self, what: &str) -> Option<String> {
        (self.count > 0).then(|| format!("{what}: {}", self.quoted_and_counted()))
    }
}
