//! A picture, or a turntable as an animation.

use std::io;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use trivox::view::render::{
    GifAnimation, MAX_GIF_FPS, Picture, PngAnimation, RenderOptions, Renderer,
};
use trivox::{NoProgress, Progress};

use crate::progress::TerminalProgress;
use crate::text::shown;
use crate::write::sink::{Inputs, Sink, Written};

/// Default time of one orbit, in seconds.
const ORBIT: u32 = 4;

/// The destination of a picture or an animation, checked before the work begins.
#[derive(Debug)]
pub struct Pictures {
    pub sink: Sink,
    /// The number of pictures of a turntable, and the pictures a second.
    animation: Option<(u32, u16)>,
}

/// Whether an animation at `path` is a GIF, or else an animated PNG.
fn is_gif(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gif"))
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
        let is_animated_gif = frames.is_some() && is_gif(path);
        let sink =
            if is_animated_gif { Sink::new(path, inputs)? } else { picture_sink(path, inputs)? };
        let Some(frames) = frames else { return Ok(Self { sink, animation: None }) };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.contains('%') || name.contains("##") {
            bail!("{}: a turntable is one file: name it without a place for a number", shown(path));
        }
        let default = frames.div_ceil(ORBIT).min(MAX_GIF_FPS.into()) as u16;
        let fps = fps.unwrap_or(default);
        if is_animated_gif && fps > MAX_GIF_FPS {
            bail!(
                "{}: a .gif has at most {MAX_GIF_FPS} pictures a second: use --fps {MAX_GIF_FPS}",
                shown(path)
            );
        }
        Ok(Self { sink, animation: Some((frames, fps)) })
    }

    /// Draws the picture, or the pictures one after another, and writes the file.
    pub fn write(
        &self,
        renderer: &Renderer,
        options: &RenderOptions,
        progress: &TerminalProgress,
    ) -> Result<Written> {
        let Some((frames, fps)) = self.animation else {
            let picture = renderer.render(options, progress)?;
            return self.sink.write(|out| Ok(picture.write_png(out)?))?.finish();
        };
        progress.count("pictures", frames as usize);
        let mut undrawn = None;
        let mut draw_all = |add: &mut dyn FnMut(&Picture) -> io::Result<()>| {
            options.turntable(frames).try_for_each(|frame| {
                let picture = renderer.render(&frame, &NoProgress);
                add(&picture.map_err(|error| io::Error::other(undrawn.insert(error).clone()))?)?;
                progress.advance(1);
                io::Result::Ok(())
            })
        };
        let written = self.sink.write(|out| {
            if is_gif(Path::new(&self.sink.name)) {
                let mut animation = GifAnimation::new(out, options, fps)?;
                draw_all(&mut |picture| animation.add(picture))?;
                animation.finish()?;
            } else {
                let mut animation = PngAnimation::new(out, options, frames, fps)?;
                draw_all(&mut |picture| animation.add(picture))?;
                animation.finish()?;
            }
            Ok(())
        });
        match undrawn {
            Some(error) => Err(error).with_context(|| self.sink.shown()),
            None => written?.finish(),
        }
    }
}

/// The options of a picture besides the main output: smaller and with fewer samples than the
/// default of `render`, so that it takes less time than most jobs.
pub fn preview_options() -> RenderOptions {
    RenderOptions { samples: 2, ..RenderOptions::new([512; 2]) }
}

/// The destination of a picture besides the main output, which must be none of `inputs`.
pub fn preview(path: &Path, inputs: &Inputs) -> Result<Sink> {
    ensure!(
        path.as_os_str() != "-",
        "standard output: a picture beside other output needs a file: name a .png"
    );
    picture_sink(path, inputs)
}

/// The destination of a picture, a .png file or standard output, which must be none of `inputs`.
pub fn picture_sink(path: &Path, inputs: &Inputs) -> Result<Sink> {
    if path != Path::new("-") {
        check_extension(path).with_context(|| shown(path))?;
    }
    Sink::new(path, inputs)
}

fn check_extension(path: &Path) -> Result<()> {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    match &extension[..] {
        "png" => Ok(()),
        "" => bail!("no file extension: pictures are .png files"),
        "gif" => bail!("a .gif is an animation: use --turntable N of `voxelize render`, or a .png"),
        _ => bail!(
            "unknown file extension '.{extension}': pictures are .png files, animations \
             (--turntable) also .gif"
        ),
    }
}
