//! A cursor over the elements of an XML document.

use std::borrow::Cow;
use std::fmt::Display;
use std::str::FromStr;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use crate::formats::{ReadError, content, excerpt, shortened};

/// Reads elements in the order of the document. Each child is read to its end, or
/// [skipped](Self::skip), before the next.
pub(crate) struct Xml<'a> {
    /// The name of the document.
    part: &'a str,
    text: &'a str,
    reader: Reader<&'a [u8]>,
}

/// The start tag of an element.
pub(crate) struct Element<'a>(BytesStart<'a>);

impl Element<'_> {
    /// The name without its prefix.
    pub(crate) fn name(&self) -> &str {
        self.0.local_name().into_inner()
    }

    /// Whether it is an element of an extension, by the prefix of its name.
    pub(crate) fn has_prefix(&self) -> bool {
        self.0.name().prefix().is_some()
    }
}

impl<'a> Xml<'a> {
    pub(crate) fn new(part: &'a str, text: &'a str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut reader = Reader::from_str(text);
        reader.config_mut().expand_empty_elements = true;
        Self { part, text, reader }
    }

    /// The root element, if it has this name.
    pub(crate) fn root(&mut self, name: &str) -> Result<Element<'a>, ReadError> {
        match self.child()? {
            Some(root) if root.name() == name => Ok(root),
            _ => Err(self.error(format!("the root element is not <{name}>"))),
        }
    }

    /// The next child of an element; `None` at the element's end.
    pub(crate) fn child(&mut self) -> Result<Option<Element<'a>>, ReadError> {
        loop {
            match self.reader.read_event() {
                Ok(Event::Start(start)) => return Ok(Some(Element(start))),
                Ok(Event::End(_)) => return Ok(None),
                Ok(Event::Eof) => return Err(self.error("it ends within an element")),
                Ok(Event::DocType(_)) => return Err(self.error("a document type is not allowed")),
                Ok(_) => {}
                Err(error) => return Err(self.syntax(error)),
            }
        }
    }

    pub(crate) fn skip(&mut self, element: &Element) -> Result<(), ReadError> {
        self.text(element).map(|_| ())
    }

    /// The text of an element before its first child. Reads the element to its end.
    pub(crate) fn text(&mut self, element: &Element) -> Result<&'a str, ReadError> {
        let span = self.reader.read_to_end(element.0.name());
        let span = span.map_err(|error| self.syntax(error))?;
        let inside = &self.text[span.start as usize..span.end as usize];
        Ok(inside.split('<').next().unwrap_or_default().trim())
    }

    /// The attributes with these names, whatever their prefix.
    pub(crate) fn attributes<'e, const N: usize>(
        &self,
        element: &'e Element,
        names: [&str; N],
    ) -> Result<[Option<Cow<'e, str>>; N], ReadError> {
        let mut values = [const { None }; N];
        // The check for duplicates takes a time that is quadratic in their number.
        for attribute in element.0.attributes().with_checks(false) {
            let attribute = attribute.map_err(|error| self.syntax(error))?;
            let name = attribute.key.local_name().into_inner();
            let Some(at) = names.iter().position(|&known| known == name) else { continue };
            let value = attribute.normalized_value(XmlVersion::Implicit1_0);
            values[at] = Some(value.map_err(|error| self.syntax(error))?);
        }
        Ok(values)
    }

    /// The value of a required attribute.
    pub(crate) fn required<T: FromStr>(
        &self,
        element: &Element,
        name: &str,
        value: Option<&str>,
    ) -> Result<T, ReadError> {
        let missing = || self.error(format!("<{}> has no attribute '{name}'", element.name()));
        self.parsed(name, value.ok_or_else(missing)?)
    }

    pub(crate) fn parsed<T: FromStr>(&self, name: &str, value: &str) -> Result<T, ReadError> {
        let malformed =
            |_| self.error(format!("{name}=\"{}\" is not a valid number", excerpt(value)));
        value.trim().parse().map_err(malformed)
    }

    /// An error of the XML, whose text may quote the document.
    fn syntax(&self, error: impl Display) -> ReadError {
        self.error(shortened(&error.to_string(), 160))
    }

    /// An error at the element that was read last.
    pub(crate) fn error(&self, what: impl Display) -> ReadError {
        let at = self.reader.buffer_position().max(self.reader.error_position()) as usize;
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        content(format!("{}, line {line}: {what}", excerpt(self.part)))
    }
}
