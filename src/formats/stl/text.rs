//! Text STL: keywords in any case, spaces and line ends of any kind, several solids.

use crate::formats::ReadError;
use crate::formats::tokens::{Words, number, quoted};

/// Whether `bytes` are text: they begin with `solid`, and have no zero, as the numbers of nearly every
/// binary file have.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    let first = Words::new(bytes).next();
    first.is_some_and(|word| word.eq_ignore_ascii_case(b"solid")) && !bytes.contains(&0)
}

/// At most so many vertices are in `text`: each is at least `vertex 0 0 0` and a space, and has an `x`
/// in its keyword, as no other keyword and no number has.
pub(super) fn most_vertices(text: &[u8]) -> usize {
    let marks = text.iter().filter(|byte| byte.eq_ignore_ascii_case(&b'x')).count();
    marks.min(text.len() / 13 + 1)
}

/// The corners of all triangles, three by three.
///
/// # Errors
/// Whatever is not in its place, by line; a solid that does not end.
pub(super) fn read(text: &[u8]) -> Result<Vec<[f64; 3]>, ReadError> {
    let mut corners = Vec::with_capacity(most_vertices(text));
    let mut words = Words::new(text);
    let mut in_solid = false;
    while let Some(word) = words.next() {
        let is = |keyword: &str| word.eq_ignore_ascii_case(keyword.as_bytes());
        if in_solid && is("facet") {
            read_facet(&mut words, &mut corners)?;
        } else if is(if in_solid { "endsolid" } else { "solid" }) {
            // Names may hold anything.
            words.rest_of_line();
            in_solid = !in_solid;
        } else {
            let expected = if in_solid { "'facet' or 'endsolid'" } else { "'solid'" };
            return Err(misplaced(&words, word, expected));
        }
    }
    match in_solid {
        true => Err(words.error("the file ends without 'endsolid': it is cut off".into())),
        false => Ok(corners),
    }
}

/// What follows `facet`: a normal, which need not be one, and three vertices.
fn read_facet(words: &mut Words, corners: &mut Vec<[f64; 3]>) -> Result<(), ReadError> {
    for _ in 0..4 {
        if words.clone().next().is_some_and(|word| word.eq_ignore_ascii_case(b"outer")) {
            break;
        }
        words.next();
    }
    expect(words, "outer")?;
    expect(words, "loop")?;
    for _ in 0..3 {
        expect(words, "vertex")?;
        let mut corner = [0.0; 3];
        for coordinate in &mut corner {
            *coordinate = read_coordinate(words)?;
        }
        corners.push(corner);
    }
    expect(words, "endloop")?;
    expect(words, "endfacet")
}

fn read_coordinate(words: &mut Words) -> Result<f64, ReadError> {
    let word = words.next().unwrap_or_default();
    match number(word) {
        Some(number) if number.is_finite() => Ok(number),
        _ if word.is_empty() => Err(cut_off(words, "a number")),
        _ => Err(words.error(format!("{} is not a finite number", quoted(word)))),
    }
}

fn expect(words: &mut Words, keyword: &str) -> Result<(), ReadError> {
    match words.next() {
        Some(word) if word.eq_ignore_ascii_case(keyword.as_bytes()) => Ok(()),
        Some(word) => Err(misplaced(words, word, &format!("'{keyword}'"))),
        None => Err(cut_off(words, &format!("'{keyword}'"))),
    }
}

fn misplaced(words: &Words, word: &[u8], expected: &str) -> ReadError {
    words.error(format!("{} where {expected} belongs", quoted(word)))
}

fn cut_off(words: &Words, expected: &str) -> ReadError {
    words.error(format!("the file ends where {expected} belongs: it is cut off"))
}
