//! OBJ text made such that `tobj` reads it as it is meant: in UTF-8 without byte order mark, one
//! statement a line, and only statements that it knows.

use std::collections::BTreeMap;

use crate::formats::ReadError;

/// A text for `tobj`, line for line that of the file, and what was left out.
#[derive(Debug, Default)]
pub(super) struct Tidied {
    pub(super) text: String,
    /// `p` and `l` statements.
    pub(super) points_and_lines: usize,
    /// `curv` and `surf` statements.
    pub(super) free_form: usize,
    /// How often each word that is no OBJ keyword begins a line.
    pub(super) unknown: BTreeMap<String, usize>,
}

/// Statements without effect on the shape.
const HARMLESS: [&str; 36] = [
    "vp",
    "o",
    "g",
    "s",
    "mg",
    "bevel",
    "c_interp",
    "d_interp",
    "lod",
    "shadow_obj",
    "trace_obj",
    "maplib",
    "usemap",
    "ctech",
    "stech",
    "cstype",
    "deg",
    "bmat",
    "step",
    "parm",
    "trim",
    "hole",
    "scrv",
    "sp",
    "end",
    "con",
    "call",
    "csh",
    "bzp",
    "bsp",
    "cdc",
    "cdp",
    "res",
    "unmerge",
    "merge",
    "curv2",
];

impl Tidied {
    /// The text in `bytes`.
    ///
    /// # Errors
    /// There is none, or it is no text.
    pub(super) fn new(bytes: Vec<u8>) -> Result<Self, ReadError> {
        let text = clean(bytes)?;
        let mut tidied = Self::default();
        // Most files need no change: then nothing is copied.
        let mut changed: Option<String> = None;
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let statement = line.trim_end_matches(['\n', '\r']);
            let kept = tidied.tidy(statement);
            if let Some(changed) = &mut changed {
                kept.push_to(changed);
            } else if !matches!(kept, Kept::All(all) if all.len() == statement.len()) {
                let copy = changed.insert(String::with_capacity(text.len()));
                copy.push_str(&text[..start]);
                kept.push_to(copy);
            }
            start += line.len();
        }
        tidied.text = changed.unwrap_or(text);
        Ok(tidied)
    }

    fn tidy<'a>(&mut self, line: &'a str) -> Kept<'a> {
        // Nearly all lines, at once.
        if let [b'v' | b'f', b' ', ..] = line.as_bytes() {
            return Kept::All(without_comment(line));
        }
        let Some(keyword) = first_word(line) else {
            return Kept::All(line);
        };
        let rest = || line.trim_start()[keyword.len()..].trim();
        match keyword {
            "v" | "vt" | "vn" | "f" => Kept::All(without_comment(line)),
            // The keyword of faces in the oldest files.
            "fo" => Kept::Statement("f", without_comment(rest())),
            // A line of three points would be taken for a triangle.
            "p" | "l" => {
                self.points_and_lines += 1;
                Kept::Nothing
            }
            // One space before the name is all that is understood, and no name is an error.
            "usemtl" if rest().is_empty() => Kept::Statement("usemtl", "(none)"),
            "mtllib" if rest().is_empty() => Kept::Nothing,
            "usemtl" => Kept::Statement("usemtl", rest()),
            "mtllib" => Kept::Statement("mtllib", rest()),
            "curv" | "surf" => {
                self.free_form += 1;
                Kept::Nothing
            }
            word if word.starts_with('#') || HARMLESS.contains(&word) => Kept::All(line),
            word => {
                *self.unknown.entry(word.chars().take(20).collect()).or_default() += 1;
                Kept::Nothing
            }
        }
    }
}

/// What becomes of a line.
enum Kept<'a> {
    All(&'a str),
    Statement(&'static str, &'a str),
    Nothing,
}

impl Kept<'_> {
    fn push_to(&self, text: &mut String) {
        match self {
            Self::All(line) => text.push_str(line),
            Self::Statement(keyword, rest) => text.extend([*keyword, " ", rest]),
            Self::Nothing => {}
        }
        text.push('\n');
    }
}

/// The text in `bytes`: UTF-8 without byte order mark, lines ended by `\n`, none continued.
fn clean(bytes: Vec<u8>) -> Result<String, ReadError> {
    if bytes.is_empty() {
        return Err(ReadError::Content("the file is empty".into()));
    }
    if bytes.contains(&0) {
        let what = "not an OBJ text file: it contains zero bytes (binary, or UTF-16 text)";
        return Err(ReadError::Content(what.into()));
    }
    // Names of materials and groups may be in any encoding; nothing else is beyond ASCII.
    let mut text = String::from_utf8(bytes)
        .unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned());
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    if text.contains('\r') && !text.contains('\n') {
        text = text.replace('\r', "\n");
    }
    if text.contains('\\') {
        text = join_continued_lines(&text);
    }
    Ok(text)
}

/// Joins lines that end in a backslash to the next, and keeps later line numbers by adding as many
/// empty lines after them.
fn join_continued_lines(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    let mut owed = 0;
    for line in text.lines() {
        // A comment may end in a backslash that means nothing, such as a folder's.
        let is_comment = owed == 0 && first_word(line).is_some_and(|word| word.starts_with('#'));
        match line.strip_suffix('\\').filter(|_| !is_comment) {
            Some(start) => {
                joined.push_str(start);
                joined.push(' ');
                owed += 1;
            }
            None => {
                joined.push_str(line);
                (0..=owed).for_each(|_| joined.push('\n'));
                owed = 0;
            }
        }
    }
    joined
}

/// The first word of a line; `None` where there is none.
pub(super) fn first_word(line: &str) -> Option<&str> {
    line.split_whitespace().next()
}

/// A comment begins at a word, so that `1.#IND`, which some programs write for NaN, is not `1.`.
fn without_comment(line: &str) -> &str {
    if !line.as_bytes().contains(&b'#') {
        return line;
    }
    let comment = line.find(" #").or_else(|| line.find("\t#"));
    &line[..comment.unwrap_or(line.len())]
}

/// Whether a texture or normal index has a sign, or is so long that `tobj` would overflow. It
/// multiplies these before it compares them, so that one out of range may even wrap into it.
pub(super) fn may_overflow(text: &str) -> bool {
    let long = |rest: &str| rest.bytes().take_while(u8::is_ascii_digit).count() > 15;
    text.split('/').skip(1).any(|rest| rest.starts_with(['-', '+']) || long(rest))
}
