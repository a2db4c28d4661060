//! Names of materials and material files.

use std::collections::HashMap;

/// Distinct names, numbered in order of first use.
#[derive(Debug, Default)]
pub(super) struct Names {
    numbers: HashMap<String, u32>,
}

impl Names {
    /// Bytes of an entry of the hash map, besides the name: a string, a number and a control byte.
    const ENTRY: u64 = 33;

    /// The number of `name`, from 0.
    pub(super) fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.numbers.len() as u32;
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// The number of `name`, if it has one.
    pub(super) fn find(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// An upper bound of bytes of memory, while it grows.
    pub(super) fn bytes(&self) -> u64 {
        let names: u64 = self.numbers.keys().map(|name| name.capacity() as u64).sum();
        names + 3 * Self::ENTRY * (self.numbers.len() as u64 + 4)
    }

    /// The names by their numbers.
    pub(super) fn in_order(&self) -> Vec<&str> {
        let mut names = vec![""; self.numbers.len()];
        self.numbers.iter().for_each(|(name, &number)| names[number as usize] = name);
        names
    }
}

/// The materials that faces have. A material's number is that of its name plus 1; 0 is none.
#[derive(Debug, Default)]
pub(super) struct Uses {
    pub(super) names: Names,
    /// Whether any face has each material; shorter by those that no face has.
    is_used: Vec<bool>,
}

impl Uses {
    /// The number of the material `name`; an empty name is none.
    pub(super) fn number(&mut self, name: &str) -> u32 {
        if name.is_empty() { 0 } else { self.names.number(name) + 1 }
    }

    /// As [`number`](Self::number), of a name that has one.
    pub(super) fn find(&self, name: &str) -> u32 {
        self.names.find(name).map_or(0, |number| number + 1)
    }

    pub(super) fn set_used(&mut self, material: u32) {
        let at = material as usize;
        if self.is_used.len() <= at {
            self.is_used.resize(at + 1, false);
        }
        self.is_used[at] = true;
    }

    pub(super) fn is_used(&self, material: u32) -> bool {
        self.is_used.get(material as usize) == Some(&true)
    }
}
