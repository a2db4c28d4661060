//! Distances instead of voxels.

#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
use std::sync::Arc;
use std::time::Duration;

#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
use crate::backend::gpu::Gpu;
use crate::backend::{BackendChoice, BackendError, Chosen, UsedBackend};
use crate::base::timed;
use crate::engine::{
    ColorSource, MeshSource, Placed, Timings, VoxelizeError, Voxelized, Voxelizer, Warning,
};
use crate::grid::VoxelGrid;
use crate::lattice::{Lattice, PlacedMesh};
use crate::solid::distance::{DistanceField, NOT_IN_TILES, band, check_width, field_of};
use crate::solid::mode::Mode;
use crate::solid::{Fill, FillReport, Solid};
#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
use crate::view::gpu::distance_texture;

/// The distances around the surface of a mesh.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Distances {
    /// The distances, with their place in the world.
    pub field: DistanceField,
    /// The lattice of the mesh.
    pub lattice: Lattice,
    /// The number of triangles.
    pub triangles: usize,
    /// How the inside was found.
    pub fill_report: Option<FillReport>,
    /// The backend of the distances.
    pub backend: UsedBackend,
    /// Unexpected properties of the result.
    pub warnings: Vec<Warning>,
    /// Durations of the steps.
    pub timings: Timings,
}

/// The distances around the surface of a mesh, in the memory of a GPU.
#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DistanceTexture {
    /// A 3D texture of the format `R32Float`: the signed distance of each voxel, in voxels.
    pub texture: wgpu::Texture,
    /// The lattice of the mesh. [`voxels_from_mesh`](Lattice::voxels_from_mesh), divided by the
    /// dimensions, gives texture coordinates.
    pub lattice: Lattice,
    /// How the inside was found.
    pub fill_report: Option<FillReport>,
    /// Unexpected properties of the result.
    pub warnings: Vec<Warning>,
}

/// The result of [`Voxelizer::measure`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Measured {
    /// The distances.
    pub field: DistanceField,
    /// Their backend.
    pub backend: UsedBackend,
    /// Whether the band is cut, and whether the GPU failed.
    pub warnings: Vec<Warning>,
    /// The duration of the step.
    pub time: Duration,
}

/// Distances.
impl Voxelizer {
    /// The signed distances of the voxels nearer than `width` voxels to the surface of a mesh; the
    /// inside is that of [`Mode::Solid`], with the fill of this mode if it is set. The
    /// padding is at least the width, so that the band is whole, unless bounds, dimensions or a
    /// lattice are given.
    ///
    /// ```
    /// use trivox::{Mesh, Voxelizer};
    ///
    /// let corners = vec![[0.0, 0.0, 0.0], [8.0, 0.0, 0.0], [0.0, 8.0, 0.0], [0.0, 0.0, 8.0]];
    /// let mesh = Mesh::new(corners, vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])?;
    /// let distances = Voxelizer::new().resolution(8).distances(&mesh, 2.0)?;
    /// // Two voxels were added on all sides; this one is the first in the mesh.
    /// assert_eq!(distances.field.get([2, 2, 2]), -0.5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A width that is not above 0, or above
    /// [`MAX_WIDTH`](crate::solid::distance::MAX_WIDTH); a tile or a window; as [`run`](Self::run).
    pub fn distances<'a>(
        &self,
        source: impl Into<MeshSource<'a>>,
        width: f32,
    ) -> Result<Distances, VoxelizeError> {
        let (voxelizer, placed, voxelized) = self.with_inside(source.into(), width)?;
        let Voxelized { grid, lattice, triangles, fill_report, backend, .. } = voxelized;
        let measured = voxelizer.measure(&placed.mesh, grid, width, &backend)?;
        let Measured { field, backend, warnings, time } = measured;
        let warnings = voxelized.warnings.into_iter().chain(warnings).collect();
        let timings = Timings { distance: Some(time), ..voxelized.timings };
        Ok(Distances { field, lattice, triangles, fill_report, backend, warnings, timings })
    }

    /// The same distances in a 3D texture of `gpu`, as [`distance_texture`] makes it. They are not
    /// read back.
    ///
    /// # Errors
    /// As [`distances`](Self::distances); the device has no texture or buffer so large.
    #[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
    pub fn distance_texture<'a>(
        &self,
        gpu: &Arc<Gpu>,
        source: impl Into<MeshSource<'a>>,
        width: f32,
    ) -> Result<DistanceTexture, VoxelizeError> {
        let voxelizer = self.clone().gpu(Arc::clone(gpu));
        let (voxelizer, placed, voxelized) = voxelizer.with_inside(source.into(), width)?;
        let Voxelized { grid, lattice, fill_report, mut warnings, .. } = voxelized;
        let (mesh, memory) = (&placed.mesh, (voxelizer.memory)());
        let work = |_: &_| distance_texture(gpu, mesh, &grid, width, memory, &*voxelizer.progress);
        let (texture, _) = voxelizer.run_on(Chosen::gpu(Arc::clone(gpu), "asked for"), work)?;
        warnings.extend(voxelizer.install(|| Warning::of_distances(mesh, width))?);
        Ok(DistanceTexture { texture, lattice, fill_report, warnings })
    }

    /// The mesh for distances of this width, and the voxels inside it, by the voxelizer that made
    /// them.
    fn with_inside(
        &self,
        source: MeshSource,
        width: f32,
    ) -> Result<(Self, Placed, Voxelized), VoxelizeError> {
        check_width(width)?;
        if self.tile.is_some() || self.window.is_some() {
            return Err(NOT_IN_TILES.into());
        }
        let fill = match self.mode {
            Mode::Solid(solid) => solid.fill,
            _ => Fill::default(),
        };
        let solid = Mode::Solid(Solid { fill, include_surface: false });
        let mut voxelizer = self.with_deadline().mode(solid).color(ColorSource::None).band(width);
        if self.place.bounds.is_none() && self.place.dims.is_none() {
            voxelizer.place.pad = self.place.pad.max(width.ceil() as u32);
        }
        let placed = voxelizer.place(source)?;
        let voxelized = voxelizer.voxelize(&placed)?;
        Ok((voxelizer, placed, voxelized))
    }

    /// Measures the distances around the surface of `mesh`; `inside` is its solid. The backend is
    /// the CPU if that made `inside`, else the one chosen for the mesh.
    ///
    /// # Errors
    /// The backend failed; a width out of range; too little memory; cancelled.
    ///
    /// # Panics
    /// The dimensions of `inside` are not the lattice's.
    pub fn measure(
        &self,
        mesh: &PlacedMesh,
        inside: VoxelGrid,
        width: f32,
        found_by: &UsedBackend,
    ) -> Result<Measured, BackendError> {
        // If a GPU failed to find them, it is not tried again.
        let chosen = match (self.backends.choice, &found_by.adapter) {
            (BackendChoice::Auto, None) => Chosen::cpu(&*found_by.reason),
            _ => self.install(|| self.backends.choose(mesh, self.band))??,
        };
        self.measure_on(chosen, mesh, inside, width)
    }

    pub(super) fn measure_on(
        &self,
        chosen: Chosen,
        mesh: &PlacedMesh,
        inside: VoxelGrid,
        width: f32,
    ) -> Result<Measured, BackendError> {
        let memory = (self.memory)();
        let ((field, chosen), time) = timed(|| {
            let (band, chosen) =
                self.run_on(chosen, |by| band(by.backend(), mesh, width, memory, &*self.progress))?;
            let field = self.install(|| field_of(mesh, inside, width, band))??;
            Ok::<_, BackendError>((field, chosen))
        })?;
        let of_distances = self.install(|| Warning::of_distances(mesh, width))?;
        let failure = chosen.warning.map(Warning::Backend);
        let warnings = failure.into_iter().chain(of_distances).collect();
        Ok(Measured { field, backend: chosen.used, warnings, time })
    }
}
