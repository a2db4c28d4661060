//! The whole job of one model at one resolution, measured step by step.

use std::hint::black_box;

use trivox::backend::{Rule, RunOptions, brick_pairs};
use trivox::formats::{GridFormat, read_mesh, write_grid};
use trivox::{Backend, Cpu, NoProgress, PlaceOptions, PlacedMesh, Sizing, VoxelGrid, World, place};

use crate::common::{Patience, Result, timed};
use crate::gpu::OpenGpu;
use crate::models::Model;
use crate::pairs::touching_pairs;

/// What was measured of one job.
pub struct Job {
    pub mesh: String,
    pub resolution: u32,
    pub vertices: u64,
    pub triangles: u64,
    pub occupied: u64,
    pub bricks: u64,
    /// As the backend is chosen by.
    pub brick_pairs: u64,
    /// (Triangle, voxel) pairs that touch.
    pub touching_pairs: u64,
    pub ms: Steps,
    /// Milliseconds to voxelize on the GPU. Of several runs, the first uploads the mesh.
    pub gpu_ms: Option<f64>,
}

/// Milliseconds of each step, on the CPU: the fastest of several runs of the whole job.
pub struct Steps {
    pub load: f64,
    pub place: f64,
    pub voxelize: f64,
    pub hash: f64,
    pub write: f64,
}

impl Steps {
    pub fn after_load(&self) -> f64 {
        self.place + self.voxelize + self.hash + self.write
    }

    fn or_faster(self, other: &Self) -> Self {
        Self {
            load: self.load.min(other.load),
            place: self.place.min(other.place),
            voxelize: self.voxelize.min(other.voxelize),
            hash: self.hash.min(other.hash),
            write: self.write.min(other.write),
        }
    }
}

impl Job {
    /// Measures it, on the GPU too if there is one, whose grid must be the same.
    pub fn measure(
        model: &Model,
        resolution: u32,
        gpu: Option<&OpenGpu>,
        patience: Patience,
    ) -> Result<Self> {
        let mut last = None;
        patience.repeat(|| -> Result<()> {
            let before = last.take().map(|(_, _, ms)| ms);
            let (placed, grid, ms) = run(model, resolution)?;
            let ms = before.iter().fold(ms, Steps::or_faster);
            last = Some((placed, grid, ms));
            Ok(())
        })?;
        let (placed, grid, ms) = last.ok_or("at least one run")?;
        let gpu_ms = match gpu {
            Some(gpu) => Some(on_gpu(gpu, &placed, &grid, patience)?),
            None => None,
        };
        Ok(Self {
            mesh: model.name.clone(),
            resolution,
            vertices: placed.vertices().len() as u64,
            triangles: placed.len() as u64,
            occupied: grid.occupied(),
            bricks: grid.brick_count(),
            brick_pairs: brick_pairs(&placed),
            touching_pairs: touching_pairs(&placed),
            ms,
            gpu_ms,
        })
    }
}

fn run(model: &Model, resolution: u32) -> Result<(PlacedMesh, VoxelGrid, Steps)> {
    let (loaded, load) = timed(|| read_mesh(&model.path));
    let mesh = loaded?.mesh;
    let options = PlaceOptions::new(Sizing::Resolution(resolution));
    let (placed, placing) = timed(|| place(&mesh, &options));
    let placed = placed?;
    let (grid, voxelize) = timed(|| {
        Backend::Cpu(&Cpu).run(&placed, Rule::Conservative, &RunOptions::default(), &NoProgress)
    });
    let grid = grid?.grid.with_world(World::of(placed.lattice(), Default::default()));
    let (_, hash) = timed(|| grid.hash());
    let (written, write) = timed(|| {
        let mut file = Vec::new();
        write_grid(&grid, GridFormat::Vox, &mut file).map(|()| _ = black_box(file))
    });
    written?;
    Ok((placed, grid, Steps { load, place: placing, voxelize, hash, write }))
}

fn on_gpu(
    gpu: &OpenGpu,
    mesh: &PlacedMesh,
    expected: &VoxelGrid,
    patience: Patience,
) -> Result<f64> {
    let mut fastest = f64::INFINITY;
    patience.repeat(|| -> Result<()> {
        let (run, ms) = timed(|| gpu.run(mesh));
        if run?.grid.hash() != expected.hash() {
            return Err(format!("the grid differs on {}", gpu.label()).into());
        }
        fastest = fastest.min(ms);
        Ok(())
    })?;
    Ok(fastest)
}
