//! What is wrong with an OBJ file, and on which line. `tobj` says only what kind of thing it
//! stumbled over, so the text is read again; only once something is known to be wrong.

use crate::formats::obj::text::{first_word, statements, without_comment};
use crate::formats::{ReadError, excerpt};

/// The first line that is malformed, and how.
pub(super) fn locate(text: &str) -> Option<ReadError> {
    let count =
        |keyword| statements(text).filter(|(_, line)| first_word(line) == Some(keyword)).count();
    let totals = ["v", "vt", "vn"].map(count);
    let mut counts = [0; 3];
    for (line, statement) in statements(text) {
        let mut words = without_comment(&statement).split_whitespace();
        let fault = match words.next() {
            Some("v") => next(&mut counts[0], vertex_fault(words)),
            Some("vt") => next(&mut counts[1], attribute_fault(words, 2)),
            Some("vn") => next(&mut counts[2], attribute_fault(words, 3)),
            Some("f" | "fo") => words.find_map(|word| corner_fault(word, counts, totals)),
            _ => None,
        };
        if let Some(what) = fault {
            return Some(ReadError::Line { line, what });
        }
    }
    None
}

/// What is wrong where each line by itself is right.
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

fn next<T>(count: &mut usize, value: T) -> T {
    *count += 1;
    value
}

/// What is wrong with the numbers of a vertex: a position, then nothing, a weight, or a colour and
/// perhaps an opacity. Colours may be anything.
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
        [_, _, _, 0.0] => Some("the weight is 0, by which the position is divided".into()),
        _ if matches!(count, 3 | 4 | 6 | 7) => None,
        _ => Some(format!("{count} numbers where 3 belong")),
    }
}

/// What is wrong with a texture coordinate or normal of `count` numbers. They need not be finite,
/// and more may follow.
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

/// What is wrong with one corner `v`, `v/vt`, `v//vn` or `v/vt/vn` of a face, after `counts` of
/// `totals` vertices, texture coordinates and normals.
fn corner_fault(corner: &str, counts: [usize; 3], totals: [usize; 3]) -> Option<String> {
    let names = ["vertex", "texture coordinate", "normal"];
    let shown = excerpt(corner);
    for (part, text) in corner.split('/').enumerate() {
        if text.is_empty() && part > 0 {
            continue;
        }
        let Some((&name, &total)) = names.get(part).zip(totals.get(part)) else {
            return Some(format!("'{shown}' has more than three indices"));
        };
        let Ok(index) = text.parse::<i64>() else {
            return Some(format!("'{}' in '{shown}' is not an index", excerpt(text)));
        };
        // Negative indices count back from the line they are on.
        let limit = if index < 0 { counts[part] } else { total };
        // A file may leave out all texture coordinates or normals and still refer to them.
        let absent = part > 0 && total == 0;
        if !absent && (index == 0 || index.unsigned_abs() > limit as u64) {
            return Some(match index {
                0 => format!("{name} index 0 in '{shown}': indices start at 1"),
                _ => {
                    format!("{name} index {index} in '{shown}' is out of range: there are {limit}")
                }
            });
        }
    }
    None
}
