//! The labels of a mesh's triangles: the objects of its file, such as the parts of an assembly.

use std::collections::HashMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// The objects of a mesh: ranges of its triangles, each with a label, and the labels' names.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Labels {
    /// By label; empty for an object without a name.
    names: Vec<String>,
    /// The first triangle of each range, which increases, and its label.
    ranges: Vec<(u32, u32)>,
}

impl Labels {
    /// An upper bound of bytes of memory for an object besides twice its name: here and in the
    /// lists of a reader, as they grow.
    pub(crate) const OBJECT: u64 = 400;

    /// The objects that begin at these triangles, in increasing order; the last ends at
    /// `triangles`. Objects without triangles have no label. With `by_name`, objects of the same
    /// name are one. `None` if all triangles are of one object without a name.
    #[must_use]
    pub fn of<'a>(
        objects: impl IntoIterator<Item = (usize, &'a str)>,
        triangles: usize,
        by_name: bool,
    ) -> Option<Self> {
        let mut labels = Self::default();
        let mut known = HashMap::new();
        let mut objects = [(0, "")].into_iter().chain(objects).peekable();
        while let Some((first, name)) = objects.next() {
            if first == objects.peek().map_or(triangles, |&(next, _)| next) {
                continue;
            }
            let next = labels.names.len() as u32;
            let label = if by_name { *known.entry(name).or_insert(next) } else { next };
            if label == next {
                labels.names.push(name.to_owned());
            }
            if labels.ranges.last().is_none_or(|&(_, last)| last != label) {
                labels.ranges.push((first as u32, label));
            }
        }
        (labels.names != [""]).then_some(labels)
    }

    /// The names by label. Several objects may have the same; a name may be empty.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The triangles of each object, by label, of a mesh of so many.
    pub(crate) fn objects(&self, triangles: usize) -> Vec<Vec<Range<u32>>> {
        let (mut objects, most) = (vec![Vec::new(); self.names.len()], triangles as u32);
        let ends = self.ranges.iter().skip(1).map(|&(first, _)| first).chain([most]);
        for (&(first, label), end) in self.ranges.iter().zip(ends) {
            // Labels of another mesh may be out of range.
            if let Some(object) = objects.get_mut(label as usize) {
                object.push(first..end.min(most));
            }
        }
        objects
    }

    /// The label of a triangle.
    #[must_use]
    pub fn of_triangle(&self, triangle: usize) -> u32 {
        let after = self.ranges.partition_point(|&(first, _)| first as usize <= triangle);
        after.checked_sub(1).map_or(0, |at| self.ranges[at].1)
    }
}
