//! A picture, or a turntable: an animation or numbered files.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use trivox::formats::replaceable;
use trivox::grid::Colors;
use trivox::view::render::{
    GifAnimation, MAX_GIF_FPS, Picture, PngAnimation, RenderOptions, Renderer, WebpAnimation,
};
use trivox::{Progress, VoxelGrid};

use crate::progress::TerminalProgress;
use crate::text::shown;
use crate::write::sink::{Inputs, Sink, Written};

/// Default time of one orbit, in seconds.
const ORBIT: u32 = 4;

/// Maximum number of digits in a file name.
const MAX_DIGITS: usize = 9;

/// The destination of pictures, checked before the work begins.
#[derive(Debug)]
pub enum Pictures {
    One(Sink),
    Animation {
        number: u32,
        sink: Sink,
        kind: Kind,
        fps: u16,
    },
    /// With the path of the picture that would be next.
    Numbered {
        paths: Vec<PathBuf>,
        next: PathBuf,
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

impl Pictures {
    /// The destination at `path` of one picture, or of `frames` pictures, at `fps` pictures per
    /// second. `path` must be none of `inputs`.
    pub fn new(
        path: &Path,
        inputs: &Inputs,
        frames: Option<u32>,
        fps: Option<u16>,
    ) -> Result<Self> {
        let Some(number) = frames else { return Ok(Self::One(Sink::new(path, inputs)?)) };
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
            return Ok(Self::Animation { number, sink, kind, fps });
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
        Ok(Self::Numbered { paths, next })
    }

    /// The files that are replaced, which may not exist yet.
    pub fn files(&self) -> Vec<&Path> {
        match self {
            Self::One(sink) | Self::Animation { sink, .. } => sink.file().into_iter().collect(),
            Self::Numbered { paths, .. } => paths.iter().map(PathBuf::as_path).collect(),
        }
    }

    /// Checks that no file is one of `inputs`, which were not known before.
    pub fn refuse(&self, inputs: &Inputs) -> Result<()> {
        match self {
            Self::One(sink) | Self::Animation { sink, .. } => sink.refuse(inputs),
            Self::Numbered { paths, .. } => {
                paths.iter().try_for_each(|path| inputs.refuse(path).with_context(|| shown(path)))
            }
        }
    }

    /// Draws the pictures one after another, and writes all or none.
    pub fn write(
        &self,
        renderer: &Renderer,
        options: &RenderOptions,
        progress: &TerminalProgress,
    ) -> Result<Written> {
        match self {
            Self::One(sink) => {
                let picture = renderer.render_with(options, progress)?;
                sink.write(|out| Ok(picture.write_png(out)?))?.finish()
            }
            Self::Animation { number, sink, kind, fps } => {
                progress.count("pictures", *number as usize);
                let mut frames = options.turntable(*number);
                let mut draw_all = |add: &mut dyn FnMut(&Picture) -> io::Result<()>| {
                    frames.try_for_each(|frame| {
                        add(&renderer.render(&frame).map_err(io::Error::other)?)?;
                        progress.advance(1);
                        io::Result::Ok(())
                    })
                };
                // The three types of animations have methods of the same names.
                macro_rules! draw {
                    ($animation:expr) => {{
                        let mut animation = $animation?;
                        draw_all(&mut |picture| animation.add(picture))?;
                        animation.finish()?;
                    }};
                }
                let written = sink.write(|out| {
                    match kind {
                        Kind::Png => draw!(PngAnimation::new(out, options, *number, *fps)),
                        Kind::Gif => draw!(GifAnimation::new(out, options, *fps)),
                        Kind::Webp => draw!(WebpAnimation::new(out, options, *fps)),
                    }
                    Ok(())
                })?;
                written.finish()
            }
            Self::Numbered { paths, next } => {
                progress.count("pictures", paths.len());
                let frames = options.turntable(paths.len() as u32);
                let write = |frame: RenderOptions, out: &mut dyn Write| {
                    renderer.render(&frame).map_err(io::Error::other)?.write_png(out)?;
                    progress.advance(1);
                    Ok(())
                };
                let mut written = Written::several(paths.iter().zip(frames), write)?.finish()?;
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

/// The options of a picture besides the main output: smaller and with fewer samples than the
/// default of `render`, so that it takes less time than most jobs.
pub fn preview_options() -> RenderOptions {
    RenderOptions::new([512; 2]).with_samples(2)
}

/// The destination of a picture besides the main output, which must be none of `inputs`.
pub fn preview(path: &Path, inputs: &Inputs) -> Result<Sink> {
    check_extension(path).with_context(|| shown(path))?;
    Sink::new(path, inputs)
}

/// Draws `grid` with [`preview_options`], in the colours `painted` if a file has others.
pub fn draw(
    grid: &VoxelGrid,
    painted: Option<Colors>,
    sink: &Sink,
    progress: &dyn Progress,
) -> Result<Written> {
    let painted = painted.map(|colors| grid.clone().with_colors(colors));
    let grid = painted.as_ref().unwrap_or(grid);
    let picture = Renderer::new(grid).render_with(&preview_options(), progress)?;
    sink.write(|out| Ok(picture.write_png(out)?))
}

/// Checks the extension of a picture.
pub fn check_extension(path: &Path) -> Result<()> {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    match &extension[..] {
        "png" => Ok(()),
        "" => bail!("no file extension: pictures are .png files"),
        "gif" | "webp" => bail!(
            "a .{extension} is an animation: use --turntable N of `voxelize render`, or a .png"
        ),
        _ => bail!(
            "unknown file extension '.{extension}': pictures are .png files, animations \
             (--turntable) also .gif and .webp"
        ),
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
