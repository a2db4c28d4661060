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
        let mut objects = vec![Vec::new(); self.names.len()];
        let ends = self.ranges.iter().skip(1).map(|&(first, _)| first).chain([triangles as u32]);
        for (&(first, label), end) in self.ranges.iter().zip(ends) {
            objects[label as usize].push(first..end);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_with_triangles_have_labels_in_their_order() {
        let labels = |objects: &[(usize, &'static str)], by_name| {
            let labels = Labels::of(objects.iter().copied(), 6, by_name)?;
            let of: Vec<u32> = (0..6).map(|triangle| labels.of_triangle(triangle)).collect();
            Some((labels.names.join(","), of))
        };
        let expect = |names: &str, of: [u32; 6]| Some((names.to_owned(), of.to_vec()));
        assert_eq!(labels(&[], true), None);
        assert_eq!(labels(&[(6, "late")], true), None);
        assert_eq!(labels(&[(0, "a")], true), expect("a", [0; 6]));
        let twice = [(0, "a"), (2, "none"), (2, "b"), (3, "a"), (6, "late")];
        assert_eq!(labels(&twice, true), expect("a,b", [0, 0, 1, 0, 0, 0]));
        assert_eq!(labels(&twice, false), expect("a,b,a", [0, 0, 1, 2, 2, 2]));
        assert_eq!(labels(&[(4, "b")], true), expect(",b", [0, 0, 0, 0, 1, 1]));
    }
}
