//! Locates errors in an OBJ file. `tobj` reports only the kind of error, so after an error the text
//! is read again to find its line.

use crate::formats::obj::text::{first_word, statements, without_comment};
use crate::formats::{ReadError, excerpt};

/// The numbers of vertices, texture coordinates and normals.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Counts([usize; 3]);

impl Counts {
    /// The counts of `text`.
    pub(super) fn of(text: &str) -> Self {
        let mut counts = Self::default();
        statements(text).for_each(|(_, line)| counts.add(first_word(&line).unwrap_or_default()));
        counts
    }

    /// Counts a statement by its keyword.
    pub(super) fn add(&mut self, keyword: &str) {
        match keyword {
            "v" => self.0[0] += 1,
            "vt" => self.0[1] += 1,
            "vn" => self.0[2] += 1,
            _ => {}
        }
    }
}

/// The first malformed line, as an error. Invalid indices of texture coordinates and normals are
/// ignored.
pub(super) fn locate(text: &str) -> Option<ReadError> {
    let totals = Counts::of(text);
    let mut counts = Counts::default();
    for (line, statement) in statements(text) {
        let mut words = without_comment(&statement).split_whitespace();
        let keyword = words.next().unwrap_or_default();
        counts.add(keyword);
        let fault = match keyword {
            "v" => vertex_fault(words),
            "vt" => attribute_fault(words, 2),
            "vn" => attribute_fault(words, 3),
            "f" | "fo" => words.find_map(|word| corner_fault(word, 0, counts, totals)),
            _ => None,
        };
        if let Some(what) = fault {
            return Some(ReadError::Line { line, what });
        }
    }
    None
}

/// Describes the invalid texture coordinate or normal indices of a face.
pub(super) fn bad_corner(line: &str, counts: Counts, totals: Counts) -> Option<String> {
    let mut words = line.split_whitespace().skip(1);
    words.find_map(|word| (1..3).find_map(|part| corner_fault(word, part, counts, totals)))
}

/// A warning about faces with invalid indices of texture coordinates or normals.
pub(super) fn bad_corners(text: &str) -> Option<String> {
    let totals = Counts::of(text);
    let mut counts = Counts::default();
    let (mut first, mut others) = (None, 0);
    for (line, statement) in statements(text) {
        let statement = without_comment(&statement);
        let keyword = first_word(statement).unwrap_or_default();
        counts.add(keyword);
        if matches!(keyword, "f" | "fo")
            && let Some(what) = bad_corner(statement, counts, totals)
        {
            match first {
                None => first = Some((line, what)),
                Some(_) => others += 1,
            }
        }
    }
    let (line, what) = first?;
    let others = if others > 0 { format!("; so do {others} others") } else { String::new() };
    Some(format!(
        "a face lost its texture coordinates and normals, which do not exist: line {line}: \
         {what}{others}"
    ))
}

/// Describes an error that no single line explains.
pub(super) fn describe(error: &tobj::LoadError) -> ReadError {
    ReadError::Content(match error {
        tobj::LoadError::FaceVertexOutOfBounds => {
            "a face uses a vertex that is defined far below it, and negative indices depend on the \
             order of lines: define all vertices before the faces"
                .into()
        }
        other => other.to_string(),
    })
}

/// Describes the error of a vertex: it must be a position, optionally followed by a weight, or by a
/// colour and an optional opacity. Colours are not checked.
fn vertex_fault<'a>(mut rest: impl Iterator<Item = &'a str>) -> Option<String> {
    const MOST: usize = 4;
    let words: Vec<&str> = rest.by_ref().take(MOST).collect();
    let count = words.len() + rest.count();
    let words = if count > MOST { &words[..3] } else { &words[..] };
    let numbers: Vec<f64> = words.iter().map_while(|word| word.parse().ok()).collect();
    let finite = numbers.iter().take_while(|number| number.is_finite()).count();
    if let Some(word) = words.get(finite) {
        return Some(format!("'{}' is not a finite number", excerpt(word)));
    }
    match numbers[..] {
        _ if matches!(count, 3 | 4 | 6 | 7) => None,
        _ => Some(format!("{count} numbers where 3 belong")),
    }
}

/// Describes the error of a texture coordinate or normal of `count` numbers. They need not be
/// finite, and more numbers may follow.
fn attribute_fault<'a>(words: impl Iterator<Item = &'a str>, count: usize) -> Option<String> {
    let words: Vec<&str> = words.take(count).collect();
    match words.iter().find(|word| word.parse::<f64>().is_err()) {
        Some(word) => Some(format!("'{}' is not a number", excerpt(word))),
        None if words.len() < count => {
            Some(format!("{} numbers where {count} belong", words.len()))
        }
        None => None,
    }
}

/// Describes the error of one index of a face's corner `v`, `v/vt`, `v//vn` or `v/vt/vn`, after
/// `counts` of `totals`: of its vertex (0; also too many indices), texture coordinate (1) or normal
/// (2).
fn corner_fault(corner: &str, part: usize, counts: Counts, totals: Counts) -> Option<String> {
    let shown = excerpt(corner);
    if part == 0 && corner.split('/').nth(3).is_some() {
        return Some(format!("'{shown}' has more than three indices"));
    }
    let text = corner.split('/').nth(part)?;
    if text.is_empty() && part > 0 {
        return None;
    }
    let name = ["vertex", "texture coordinate", "normal"][part];
    let total = totals.0[part];
    let Ok(index) = text.parse::<i64>() else {
        return Some(format!("'{}' in '{shown}' is not an index", excerpt(text)));
    };
    // Negative indices count back from the line they are on.
    let limit = if index < 0 { counts.0[part] } else { total };
    // A file may omit all texture coordinates or normals and still refer to them.
    let is_absent = part > 0 && total == 0;
    let is_bad = index == 0 || index.unsigned_abs() > limit as u64;
    (is_bad && !is_absent).then(|| match index {
        0 => format!("{name} index 0 in '{shown}': indices start at 1"),
        _ => format!("{name} index {index} in '{shown}' is out of range: there are {limit}"),
    })
}
