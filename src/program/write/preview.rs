//! A picture besides the main output.

use std::path::Path;

use anyhow::{Context, Result, bail};
use trivox::view::render::{Picture, RenderOptions, Renderer};
use trivox::{Progress, VoxelGrid};

use crate::paths::shown;
use crate::write::sink::{Inputs, Pending, Sink};

/// A picture besides the main output.
#[derive(Debug)]
pub struct Preview(Sink);

impl Preview {
    /// Smaller and with fewer samples than the default of `render`, so that it takes less time than
    /// most jobs.
    pub fn options() -> RenderOptions {
        RenderOptions::new([512; 2]).with_samples(2)
    }

    /// Checks that `path` can be written as a picture, and is none of `inputs`.
    ///
    /// # Errors
    /// `path` is not suitable.
    pub fn new(path: &Path, inputs: &Inputs) -> Result<Self> {
        check_extension(path).with_context(|| shown(path))?;
        Ok(Self(Sink::new(path, inputs)?))
    }

    /// Checks that the picture is none of `inputs`, which were not known before.
    ///
    /// # Errors
    /// The file is one of `inputs`.
    pub fn refuse(&self, inputs: &Inputs) -> Result<()> {
        self.0.refuse(inputs)
    }

    /// The file that is replaced, which may not exist yet.
    pub fn file(&self) -> Option<&Path> {
        self.0.file()
    }

    /// Draws `grid`; the picture does not replace an existing one yet.
    ///
    /// # Errors
    /// The picture cannot be written.
    pub fn draw(&self, grid: &VoxelGrid, progress: &dyn Progress) -> Result<Pending<'_>> {
        let picture = Renderer::new(grid).render_with(&Self::options(), progress)?;
        self.0.prepare(|out| Ok(picture.write_png(out)?))
    }

    /// The file's name.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// Writes a picture; returns the file's name.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, picture: &Picture) -> Result<String> {
        self.0.write(|out| Ok(picture.write_png(out)?))?;
        Ok(self.0.name().to_owned())
    }
}

/// Checks the extension of a picture.
///
/// # Errors
/// The extension is not `.png`.
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
