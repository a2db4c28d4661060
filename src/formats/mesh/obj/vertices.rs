//! The second pass: vertices, their colours and texture coordinates. Normals are only checked.

use rayon::prelude::*;

use crate::base::divided;
use crate::base::numbers::counted_as;
use crate::base::srgb::{Linear, linear, linear_of};
use crate::formats::io::tokens::{number, shown};
use crate::formats::mesh::flat_colors;
use crate::formats::mesh::obj::contents::{Contents, PAINTED_KEYWORD, Part};
use crate::formats::mesh::obj::materials::exceeds_display;
use crate::formats::mesh::obj::text::{Fault, Keyword, Words, after_keyword, first_word, visit};
use crate::formats::mesh::out_of_range::{clamped_colors, is_unit};

/// The colour of a vertex without one.
const NO_COLOR: [f64; 3] = [f64::NAN; 3];

/// All vertices and texture coordinates of a text, in order.
#[derive(Debug, Default)]
pub(super) struct Vertices {
    pub(super) positions: Vec<[f64; 3]>,
    /// Empty if they are not needed.
    pub(super) texcoords: Vec<[f64; 2]>,
    /// The colours of the vertices of each part; empty if no vertex has one.
    pub(super) colors: Vec<Vec<[f64; 3]>>,
    /// Vertices with a seventh number, which is taken for an opacity.
    pub(super) opacities: usize,
    /// Vertices with a weight other than 1, which only rational curves and surfaces use.
    pub(super) weights: usize,
    /// A warning about colours in comments that are not those of all vertices.
    pub(super) unpainted: Option<String>,
    pub(super) fault: Option<Fault>,
}

impl Vertices {
    pub(super) fn of(contents: &Contents, needs_texcoords: bool) -> Self {
        let [vertices, texcoords, _] = contents.totals;
        let mut all = Self {
            positions: vec![[0.0; 3]; vertices],
            texcoords: vec![[0.0; 2]; if needs_texcoords { texcoords } else { 0 }],
            ..Self::default()
        };
        let lens = |which: usize| contents.parts.iter().map(move |part| part.counts[which]);
        let positions = divided(&mut all.positions, lens(0));
        let lens_of_uvs = lens(1).map(|len| if needs_texcoords { len } else { 0 });
        let texcoords = divided(&mut all.texcoords, lens_of_uvs);
        let buffers = positions.into_iter().zip(texcoords);
        let work: Vec<_> = contents.parts.iter().zip(buffers).enumerate().collect();
        let read = work.into_par_iter().map(|(at, (part, (positions, texcoords)))| {
            let mut reader = Reader { positions, texcoords, ..Reader::default() };
            let fault = reader.read(part).err().map(|(line, what)| Fault { part: at, line, what });
            (reader, fault)
        });
        let read: Vec<_> = read.collect();
        let mut painted = Vec::new();
        for (part, fault) in read {
            all.colors.push(part.colors);
            painted.extend(part.painted);
            all.opacities += part.opacities;
            all.weights += part.weights;
            all.fault = all.fault.or(fault);
        }
        if !painted.is_empty() && all.colors.iter().all(Vec::is_empty) {
            all.paint(&painted, lens(0));
        }
        if all.colors.iter().any(|colors| !colors.is_empty()) {
            all.colors.iter_mut().zip(lens(0)).for_each(|(colors, count)| {
                colors.resize(count, NO_COLOR);
            });
        }
        all
    }

    /// Sets the colours of vertices from comments, if there is one for each; `counts` are the
    /// vertices of the parts.
    fn paint(&mut self, mut painted: &[[u8; 3]], counts: impl Iterator<Item = usize>) {
        let (colors, vertices) = (painted.len(), self.positions.len());
        if colors != vertices {
            let what = format!("colours ({PAINTED_KEYWORD}) are of {colors} vertices");
            self.unpainted = Some(format!("{what}, not of {vertices}, and are not shown"));
            return;
        }
        for (colors, count) in self.colors.iter_mut().zip(counts) {
            let (own, rest) = painted.split_at(count);
            painted = rest;
            colors.extend(own.iter().map(|color| color.map(|value| f64::from(value) / 255.0)));
        }
    }

    /// Converts the colours of all vertices, sRGB values from 0 to 1 or from 0 to 255, to linear
    /// light, with [`flat_colors::NO_COLOR`] for a vertex without a colour. Returns them, or none
    /// if no vertex has a colour, and warnings.
    pub(super) fn linear_colors(&self) -> (Vec<Linear>, Vec<String>) {
        let colors = || self.colors.iter().flatten();
        let is_missing = |color: &[f64; 3]| color.iter().any(|value| value.is_nan());
        if colors().all(is_missing) {
            return (Vec::new(), Vec::new());
        }
        let is_of_255 = colors().any(|&color| exceeds_display(color));
        let most = if is_of_255 { 255.0 } else { 1.0 };
        let mut clamped = 0;
        let convert = |color: &[f64; 3]| {
            if is_missing(color) {
                return flat_colors::NO_COLOR;
            }
            clamped += u64::from(!color.iter().all(|value| is_unit(value / most)));
            let [r, g, b] = color.map(|value| linear_of_steps(value * (255.0 / most)));
            [r, g, b, u16::MAX]
        };
        let mut all = Vec::with_capacity(self.positions.len());
        all.extend(colors().map(convert));
        let of_255 = "colours of vertices exceed 1, and are read as 0 to 255";
        let missing = "some vertices have no colour: their faces have the colour of the material";
        let opaque = "the seventh numbers of vertices are taken for opacities, and not used";
        let warnings = [
            (is_of_255, of_255),
            (colors().any(is_missing), missing),
            (self.opacities > 0, opaque),
        ];
        let warnings = warnings.into_iter().filter(|(is_so, _)| *is_so);
        let warnings = warnings.map(|(_, what)| what.to_owned());
        (all, warnings.chain(clamped_colors([clamped, 0])).collect())
    }
}

/// The linear light of a value from 0 to 255. Nearly all values are rounded bytes, which a table
/// converts.
fn linear_of_steps(steps: f64) -> u16 {
    let nearest = steps.round();
    if (0.0..=255.0).contains(&nearest) && (steps - nearest).abs() < 1e-3 {
        linear_of(nearest as u8)
    } else {
        linear(steps / 255.0)
    }
}

#[derive(Default)]
struct Reader<'a> {
    positions: &'a mut [[f64; 3]],
    texcoords: &'a mut [[f64; 2]],
    /// Vertices so far.
    count: usize,
    texcoord_count: usize,
    colors: Vec<[f64; 3]>,
    /// Colours in comments, which are those of all vertices in order.
    painted: Vec<[u8; 3]>,
    opacities: usize,
    weights: usize,
}

impl Reader<'_> {
    fn read(&mut self, part: &Part) -> Result<(), (usize, String)> {
        if part.counts == [0; 3] && part.painted == 0 {
            return Ok(());
        }
        visit(part.text, |line, statement, keyword, words| {
            match keyword {
                Keyword::Vertex => self.vertex(words),
                Keyword::Texcoord => self.texcoord(words),
                Keyword::Normal => self.attribute::<3>(words, 3).map(|_| ()),
                Keyword::Other if part.painted > 0 => {
                    self.paint(statement);
                    Ok(())
                }
                Keyword::Face | Keyword::Other => Ok(()),
            }
            .map_err(|what| (line, what))
        })
    }

    #[inline]
    fn vertex(&mut self, words: Words) -> Result<(), String> {
        let mut rest = words.clone();
        let mut position = [0.0; 3];
        for value in &mut position {
            let parsed = rest.next().and_then(number);
            *value = parsed.ok_or_else(|| vertex_fault(words.clone()))?;
        }
        self.positions[self.count] = position;
        self.count += 1;
        match rest.next() {
            None => {}
            Some(word) => self.extras(word, rest).ok_or_else(|| vertex_fault(words))?,
        }
        if !self.colors.is_empty() {
            self.colors.resize(self.count, NO_COLOR);
        }
        Ok(())
    }

    /// The numbers after a position: a weight, or a colour and possibly an opacity. `None` if they
    /// are neither. A colour that is not made of numbers is none.
    fn extras(&mut self, first: &[u8], mut words: Words) -> Option<()> {
        let Some(second) = words.next() else {
            self.weights += usize::from(number(first)? != 1.0);
            return Some(());
        };
        let color = [first, second, words.next()?].map(number);
        self.opacities += usize::from(words.next().is_some());
        if words.next().is_some() {
            return None;
        }
        if let [Some(r), Some(g), Some(b)] = color {
            if self.colors.is_empty() {
                self.colors.reserve_exact(self.positions.len());
            }
            self.colors.resize(self.count - 1, NO_COLOR);
            self.colors.push([r, g, b]);
        }
        Some(())
    }

    /// Adds the colours in a comment of ZBrush: for each vertex a mask, red, green and blue, of two
    /// hexadecimal digits each.
    fn paint(&mut self, statement: &str) {
        if first_word(statement) != Some(PAINTED_KEYWORD) {
            return;
        }
        let (values, _) = after_keyword(statement).as_bytes().as_chunks::<8>();
        let parse = |digits| u32::from_str_radix(str::from_utf8(digits).ok()?, 16).ok();
        // A sign is parsed, too.
        let values = values.iter().filter(|digits| digits[0] != b'+');
        let values = values.filter_map(|digits| parse(digits));
        self.painted.extend(values.map(|value| {
            let [_, r, g, b] = value.to_be_bytes();
            [r, g, b]
        }));
    }

    #[inline]
    fn texcoord(&mut self, words: Words) -> Result<(), String> {
        // Without `v` it is 0.
        let uv = self.attribute(words, 1)?;
        if let Some(texcoord) = self.texcoords.get_mut(self.texcoord_count) {
            *texcoord = uv;
        }
        self.texcoord_count += 1;
        Ok(())
    }

    /// The first `N` numbers, which need not be finite; more may follow. At least `needed` must be
    /// there; the others are 0.
    #[inline]
    fn attribute<const N: usize>(
        &mut self,
        mut words: Words,
        needed: usize,
    ) -> Result<[f64; N], String> {
        let mut numbers = [0.0; N];
        for (count, value) in numbers.iter_mut().enumerate() {
            let Some(word) = words.next() else {
                let is = counted_as(count as u64, "number", "numbers");
                if count < needed {
                    return Err(format!("{is} where {N} belong"));
                }
                break;
            };
            *value = number(word).ok_or_else(|| format!("'{}' is not a number", shown(word)))?;
        }
        Ok(numbers)
    }
}

/// Describes the error of a vertex: it must be a position, optionally followed by a weight, or by a
/// colour and an optional opacity. Colours are not checked.
fn vertex_fault(words: Words) -> String {
    let count = words.clone().count();
    let checked = if count > 4 { 3 } else { 4 };
    non_finite(words, checked).unwrap_or_else(|| {
        let is = counted_as(count as u64, "number", "numbers");
        format!("{is} where 3 belong")
    })
}

/// Describes the first of `most` words that is not a finite number.
fn non_finite(mut words: Words, most: usize) -> Option<String> {
    let is_finite = |word: &&[u8]| number(word).is_some_and(f64::is_finite);
    let word = words.by_ref().take(most).find(|word| !is_finite(word))?;
    Some(format!("'{}' is not a finite number", shown(word)))
}

/// The error of vertex `vertex`, which has a coordinate that is not finite.
pub(super) fn fault_of_vertex(contents: &Contents, vertex: usize) -> Option<Fault> {
    let at = contents.parts.partition_point(|part| part.before[0] <= vertex).checked_sub(1)?;
    let part = &contents.parts[at];
    let mut before = part.before[0];
    let found = visit(part.text, |line, _, keyword, words| {
        if keyword == Keyword::Vertex {
            if before == vertex {
                return Err((line, non_finite(words, 3)));
            }
            before += 1;
        }
        Ok(())
    });
    let (line, what) = found.err()?;
    Some(Fault { part: at, line, what: what? })
}
