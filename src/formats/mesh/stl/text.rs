//! Text STL: case-insensitive keywords, any white space and line ends, several solids.

use std::borrow::Cow;

use crate::formats::ReadError;
use crate::formats::io::bytes::Budget;
use crate::formats::io::tokens::{Tokens, number, quoted};
use crate::mesh::Labels;

/// Whether `bytes` are text: they begin with `solid` and have no zero byte, as nearly all binary
/// files do.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    let first = Tokens::new(bytes).next();
    first.is_some_and(|token| token.eq_ignore_ascii_case(b"solid")) && !bytes.contains(&0)
}

/// An upper bound of the number of vertices in `text`: each takes at least `vertex 0 0 0` and a
/// space, and only the keyword `vertex` contains an `x`.
pub(super) fn most_vertices(text: &[u8]) -> usize {
    let marks = text.iter().filter(|byte| byte.eq_ignore_ascii_case(&b'x')).count();
    marks.min(text.len() / 13 + 1)
}

/// The corners of all triangles, three per triangle, and the solids.
pub(super) fn read(
    text: &[u8],
    mut memory: Budget,
) -> Result<(Vec<[f64; 3]>, Option<Labels>), ReadError> {
    let mut solids: Vec<(usize, Cow<str>)> = Vec::new();
    let mut corners = Vec::with_capacity(most_vertices(text));
    let mut tokens = Tokens::new(text);
    let mut in_solid = false;
    while let Some(token) = tokens.next() {
        let is = |keyword: &str| token.eq_ignore_ascii_case(keyword.as_bytes());
        if in_solid && is("facet") {
            read_facet(&mut tokens, &mut corners)?;
        } else if is(if in_solid { "endsolid" } else { "solid" }) {
            in_solid = !in_solid;
            let name = skip_name(&mut tokens, if in_solid { "facet" } else { "solid" });
            if in_solid {
                // Bytes that are not UTF-8 become three times as many.
                memory.take(Labels::OBJECT + 6 * name.len() as u64)?;
                solids.push((corners.len() / 3, String::from_utf8_lossy(name.trim_ascii())));
            }
        } else {
            let expected = if in_solid { "'facet' or 'endsolid'" } else { "'solid'" };
            return Err(tokens.misplaced(Some(token), expected));
        }
    }
    if in_solid {
        return Err(tokens.error("the file ends without 'endsolid': it is cut off".into()));
    }
    let solids = solids.iter().map(|(first, name)| (*first, &name[..]));
    let labels = Labels::of(solids, corners.len() / 3, false);
    Ok((corners, labels))
}

/// Takes the name of a solid, which may contain any words: to the end of the line or, if the solid
/// goes on in this line, to the keyword `next` before a facet.
fn skip_name<'a>(tokens: &mut Tokens<'a>, next: &str) -> &'a [u8] {
    let start = tokens.clone();
    let mut ahead = tokens.clone();
    // Where the last `next` is.
    let mut found = None;
    loop {
        let before = ahead.clone();
        let Some(token) = ahead.next_in_line() else { break };
        if token.eq_ignore_ascii_case(next.as_bytes()) {
            found = Some(before);
        }
        let is_facet = token.eq_ignore_ascii_case(b"facet");
        let normal = ahead.clone().next_in_line();
        if is_facet && normal.is_some_and(|token| token.eq_ignore_ascii_case(b"normal")) {
            if let Some(found) = found {
                *tokens = found;
                return start.until(tokens);
            }
            break;
        }
    }
    tokens.rest_of_line()
}

/// Parses a facet after its keyword: a normal, which is ignored, and three vertices.
fn read_facet(tokens: &mut Tokens, corners: &mut Vec<[f64; 3]>) -> Result<(), ReadError> {
    for _ in 0..4 {
        if tokens.clone().next().is_some_and(|token| token.eq_ignore_ascii_case(b"outer")) {
            break;
        }
        tokens.next();
    }
    expect(tokens, "outer")?;
    expect(tokens, "loop")?;
    for _ in 0..3 {
        expect(tokens, "vertex")?;
        let mut corner = [0.0; 3];
        for coordinate in &mut corner {
            *coordinate = read_coordinate(tokens)?;
        }
        corners.push(corner);
    }
    expect(tokens, "endloop")?;
    expect(tokens, "endfacet")
}

fn read_coordinate(tokens: &mut Tokens) -> Result<f64, ReadError> {
    let token = tokens.next().ok_or_else(|| tokens.misplaced(None, "a number"))?;
    let finite = number(token).filter(|number| number.is_finite());
    finite.ok_or_else(|| tokens.error(format!("{} is not a finite number", quoted(token))))
}

fn expect(tokens: &mut Tokens, keyword: &str) -> Result<(), ReadError> {
    match tokens.next() {
        Some(token) if token.eq_ignore_ascii_case(keyword.as_bytes()) => Ok(()),
        other => Err(tokens.misplaced(other, &format!("'{keyword}'"))),
    }
}
