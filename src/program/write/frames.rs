//! The pictures of a turntable: one animated file, or numbered files.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use trivox::Progress;
use trivox::formats::replaceable;
use trivox::view::render::{
    GifAnimation, MAX_GIF_FPS, Picture, PngAnimation, RenderOptions, Renderer, WebpAnimation,
};

use crate::paths::shown;
use crate::write::complete::{Complete, Written};
use crate::write::sink::{Inputs, Sink};

/// Default time of one orbit, in seconds.
const ORBIT: u32 = 4;

/// Maximum number of digits in a file name.
const MAX_DIGITS: usize = 9;

/// The destination of the pictures, checked before the work begins.
#[derive(Debug)]
pub struct Frames {
    number: u32,
    target: Target,
}

#[derive(Debug)]
enum Target {
    Animation {
        sink: Sink,
        kind: Kind,
        fps: u16,
    },
    /// With the path of the picture that would be next.
    Numbered {
        paths: Vec<PathBuf>,
        next: PathBuf,
        inputs: Inputs,
    },
}

/// The format of an animation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    Png,
    Gif,
    Webp,
}

impl Kind {
    /// By the extension of a path; animated PNG for any other.
    pub fn of(path: &Path) -> Self {
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        match extension.to_str() {
            Some("gif") => Self::Gif,
            Some("webp") => Self::Webp,
            _ => Self::Png,
        }
    }
}

impl Frames {
    /// The destination of `number` pictures at `path`, at `fps` pictures per second. `path` must
    /// be none of `inputs`.
    ///
    /// # Errors
    /// An invalid destination; `fps` with numbered files.
    pub fn new(path: &Path, inputs: &Inputs, number: u32, fps: Option<u16>) -> Result<Self> {
        let named = || shown(path);
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some(pattern) = Pattern::parse(name).with_context(named)? else {
            let default = number.div_ceil(ORBIT).min(MAX_GIF_FPS.into()) as u16;
            let (sink, kind, fps) =
                (Sink::new(path, inputs)?, Kind::of(path), fps.unwrap_or(default));
            if kind == Kind::Gif && fps > MAX_GIF_FPS {
                bail!(
                    "{}: a .gif has at most {MAX_GIF_FPS} pictures a second: use --fps \
                     {MAX_GIF_FPS}",
                    named()
                );
            }
            return Ok(Self { number, target: Target::Animation { sink, kind, fps } });
        };
        if Kind::of(path) != Kind::Png {
            bail!("{}: numbered pictures are .png files", named());
        }
        if fps.is_some() {
            bail!(
                "{}: --fps is for an animation in one file, and this names a file for each \
                 picture: leave one of them out",
                named()
            );
        }
        let paths = (1..=number).map(|n| path.with_file_name(pattern.with(n)));
        let paths: Vec<PathBuf> = paths.collect();
        paths.iter().try_for_each(|path| {
            let free = inputs.refuse(path).and_then(|()| Ok(replaceable(path)?));
            free.map(drop).with_context(|| shown(path))
        })?;
        let next = path.with_file_name(pattern.with(number + 1));
        Ok(Self { number, target: Target::Numbered { paths, next, inputs: inputs.clone() } })
    }

    /// The files that are replaced, which may not exist yet.
    pub fn files(&self) -> Vec<&Path> {
        match &self.target {
            Target::Animation { sink, .. } => sink.file().into_iter().collect(),
            Target::Numbered { paths, .. } => paths.iter().map(PathBuf::as_path).collect(),
        }
    }

    /// Checks that no file is one of `inputs`, which were not known before.
    ///
    /// # Errors
    /// One of them is.
    pub fn refuse(&self, inputs: &Inputs) -> Result<()> {
        match &self.target {
            Target::Animation { sink, .. } => sink.refuse(inputs),
            Target::Numbered { paths, .. } => {
                paths.iter().try_for_each(|path| inputs.refuse(path).with_context(|| shown(path)))
            }
        }
    }

    /// The number of pictures.
    pub fn number(&self) -> usize {
        self.number as usize
    }

    /// Draws the pictures one after another, and writes all or none.
    ///
    /// # Errors
    /// Invalid options; a picture cannot be written.
    pub fn write(
        &self,
        renderer: &Renderer,
        options: &RenderOptions,
        progress: &dyn Progress,
    ) -> Result<Written> {
        let mut frames = options.turntable(self.number);
        match &self.target {
            Target::Animation { sink, kind, fps } => {
                let mut draw_all = |add: &mut dyn FnMut(&Picture) -> io::Result<()>| {
                    frames.try_for_each(|frame| {
                        add(&renderer.render(&frame).map_err(io::Error::other)?)?;
                        progress.advance(1);
                        io::Result::Ok(())
                    })
                };
                let complete = sink.write(|out| {
                    match kind {
                        Kind::Png => {
                            let mut animation = PngAnimation::new(out, options, self.number, *fps)?;
                            draw_all(&mut |picture| animation.add(picture))?;
                            animation.finish()?;
                        }
                        Kind::Gif => {
                            let mut animation = GifAnimation::new(out, options, *fps)?;
                            draw_all(&mut |picture| animation.add(picture))?;
                            animation.finish()?;
                        }
                        Kind::Webp => {
                            let mut animation = WebpAnimation::new(out, options, *fps)?;
                            draw_all(&mut |picture| animation.add(picture))?;
                            animation.finish()?;
                        }
                    }
                    Ok(())
                })?;
                complete.finish()
            }
            Target::Numbered { paths, next, inputs } => {
                let write = |frame: RenderOptions, out: &mut dyn Write| {
                    renderer.render(&frame).map_err(io::Error::other)?.write_png(out)?;
                    progress.advance(1);
                    Ok(())
                };
                let files = Complete::several(paths.iter().zip(frames), inputs, write)?;
                let mut written = files.finish()?;
                if next.exists() {
                    written.warnings.push(format!(
                        "{} and perhaps others follow the last picture: remove them if an earlier \
                         run made them",
                        shown(next)
                    ));
                }
                Ok(written)
            }
        }
    }
}

/// A file name with a placeholder for a number: `####` (Blender) or `%04d` (ffmpeg).
#[derive(Debug, PartialEq, Eq)]
struct Pattern {
    before: String,
    /// Minimum number of digits, with leading zeros.
    digits: usize,
    after: String,
}

impl Pattern {
    /// Parses a name; `None` without a placeholder.
    ///
    /// # Errors
    /// Several placeholders, or a malformed one.
    fn parse(name: &str) -> Result<Option<Self>> {
        let Some(start) = name.find(['#', '%']) else { return Ok(None) };
        let (before, place) = name.split_at(start);
        let (digits, after) = match place.strip_prefix('%') {
            Some(format) => {
                let after = format.trim_start_matches(|c: char| c.is_ascii_digit());
                let digits = &format[..format.len() - after.len()];
                let is_padded = digits.is_empty() || digits.starts_with('0');
                match (after.strip_prefix('d'), digits.parse().unwrap_or(0)) {
                    (Some(after), digits) if is_padded && digits <= MAX_DIGITS => (digits, after),
                    _ => bail!(
                        "'%' stands for the number of a picture, such as %04d, at most \
                         %0{MAX_DIGITS}d"
                    ),
                }
            }
            None => {
                let after = place.trim_start_matches('#');
                (place.len() - after.len(), after)
            }
        };
        if digits > MAX_DIGITS {
            bail!("'{}' is too long a number: use at most {MAX_DIGITS} digits", "#".repeat(digits));
        }
        if after.contains(['#', '%']) {
            bail!("has several places for the number of a picture: use one, such as out-####.png");
        }
        Ok(Some(Self { before: before.to_owned(), digits, after: after.to_owned() }))
    }

    /// The file name of picture `number`.
    fn with(&self, number: u32) -> String {
        let Self { before, digits, after } = self;
        format!("{before}{number:0digits$}{after}")
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn names_have_a_place_for_a_number_as_blender_and_ffmpeg_know_it() {
        for (name, first, last) in [
            ("out-####.png", "out-0001.png", "out-12345.png"),
            ("#.png", "1.png", "12345.png"),
            ("a%03d.png", "a001.png", "a12345.png"),
            ("a%d b.png", "a1 b.png", "a12345 b.png"),
            ("%09d", "000000001", "000012345"),
        ] {
            let pattern = Pattern::parse(name).unwrap().unwrap();
            assert_eq!([pattern.with(1), pattern.with(12345)], [first, last], "{name}");
        }
        assert_eq!(Pattern::parse("out.png").unwrap(), None);
        for name in ["a%.png", "%s.png", "%3d.png", "%010d.png", "100%%.png", "##########.png"] {
            assert!(Pattern::parse(name).is_err(), "{name}");
        }
        for name in ["#-#.png", "%d-%d.png", "%d#.png", "#%d.png"] {
            let message = Pattern::parse(name).unwrap_err().to_string();
            assert!(message.contains("several places"), "{name}: {message}");
        }
    }
}
