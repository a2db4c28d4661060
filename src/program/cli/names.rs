//! Values of options that are one of several names.

use clap::ValueEnum;
use trivox::Up;
use trivox::render::{Projection, View};
use trivox::solid::Fill;
use trivox::voxelize::BackendChoice;

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ViewName {
    Front,
    Back,
    Left,
    Right,
    Top,
    Bottom,
    /// From the front, the right and above: isometric, without perspective
    Iso,
    /// From the front, the right and above, in perspective
    ThreeQuarter,
}

impl From<ViewName> for View {
    fn from(name: ViewName) -> Self {
        match name {
            ViewName::Front => Self::Front,
            ViewName::Back => Self::Back,
            ViewName::Left => Self::Left,
            ViewName::Right => Self::Right,
            ViewName::Top => Self::Top,
            ViewName::Bottom => Self::Bottom,
            ViewName::Iso => Self::Iso,
            ViewName::ThreeQuarter => Self::ThreeQuarter,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum CameraName {
    /// What is nearer is larger
    Perspective,
    /// What is parallel remains so
    Orthographic,
}

impl From<CameraName> for Projection {
    fn from(name: CameraName) -> Self {
        match name {
            CameraName::Perspective => Self::Perspective,
            CameraName::Orthographic => Self::Orthographic,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum UpAxis {
    Y,
    Z,
}

impl From<UpAxis> for Up {
    fn from(axis: UpAxis) -> Self {
        match axis {
            UpAxis::Y => Self::Y,
            UpAxis::Z => Self::Z,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub enum ModeName {
    /// Those that touch the mesh: a surface that nothing slips through
    Surface,
    /// Those in which a line through voxel centres crosses the mesh: a surface one voxel thin
    Thin,
    /// Those whose centre is inside the mesh
    Solid,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum FillName {
    /// Chosen by the mesh's topology; the report says why
    Auto,
    /// Past an odd number of crossings along x: exact for closed meshes
    Parity,
    /// Where the generalized winding number is at least 1/2: for holes and overlapping parts
    Winding,
    /// What cannot be reached from outside, and the surface: for holes smaller than a voxel
    Flood,
    /// What most rays along the three axes find inside, whichever way triangles face
    Vote,
}

impl From<FillName> for Fill {
    fn from(name: FillName) -> Self {
        match name {
            FillName::Auto => Self::Auto,
            FillName::Parity => Self::Parity,
            FillName::Winding => Self::Winding,
            FillName::Flood => Self::Flood,
            FillName::Vote => Self::Vote,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum RenderBackendName {
    /// A GPU, or an error
    Gpu,
    /// The CPU
    Cpu,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum BackendName {
    /// The GPU where that is likely to be faster, else the CPU
    Auto,
    /// The GPU, or an error
    Gpu,
    /// The CPU
    Cpu,
}

impl From<BackendName> for BackendChoice {
    fn from(name: BackendName) -> Self {
        match name {
            BackendName::Auto => Self::Auto,
            BackendName::Gpu => Self::Gpu,
            BackendName::Cpu => Self::Cpu,
        }
    }
}
