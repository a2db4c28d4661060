//! Scenes of meshes that change each frame, recorded into the caller's command encoder.

use std::future::Future;
use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use thiserror::Error;
use wgpu::{BindingResource, BufferBinding, BufferSize, BufferUsages as Usage};

use crate::backend::gpu::Gpu;
use crate::backend::gpu::buffers::{Buffers, Sizes};
use crate::backend::gpu::data::{
    BRICKS, BRICKS_FULL, CANDIDATE_GROUPS, FAILURES, GROUP, GROUPS, INVALID_INDEX, INVALID_VERTEX,
    LEVELS, NOT_CLOSED, PAIRS_FULL, SCENE_VOXELS, STARTED, TOO_MANY_CANDIDATES, VOXELS_FULL,
};
use crate::backend::gpu::job::{
    MAX_BITMAP_WORDS, MAX_BRICKS, MAX_CANDIDATES_A_PASS, MAX_PAIRS, SubBatch,
};
use crate::backend::gpu::record::{PARAMS_BYTES, Setting};
use crate::backend::gpu::stages::Step;
use crate::backend::gpu::workspace::needed_pairs;
use crate::backend::{BackendError, Rule, VoxelKernel};
use crate::base::numbers::grouped;
use crate::gpu::{Device, GpuError, MAX_GROUPS, buffer_limit, kernels};
use crate::grid::BRICK;
use crate::lattice::{Lattice, MAX_DIM, SPAN_BITS};
use crate::predicate::crosses::Axis;
use crate::solid::mode::Mode;
use crate::solid::{Fill, Solid};
use crate::view::gpu::tree::Tree;
use crate::view::gpu::{GpuScene, self_test};

/// The capacity of the buffers of a [`SceneBuilder`]. Beside these, a grid takes 152 bytes for each
/// cube of 64 x 64 x 64 voxels and 2 bits for each of 8 x 8 x 8: 75 MB for 4096 x 4096 x 4096
/// voxels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SceneCapacity {
    /// Vertices of all meshes.
    pub vertices: u32,
    /// Triangles of all meshes.
    pub triangles: u32,
    /// (triangle, brick) pairs: for each triangle, the bricks of 8 x 8 x 8 voxels that it touches.
    /// They take 60 bytes each, and are at most `2^22`.
    /// [`brick_pairs`](crate::backend::brick_pairs) estimates them.
    pub pairs: u32,
    /// Bricks that triangles touch, at most `2^21`. They take 76 bytes each, and 4 more in scenes
    /// with colours; those in the interior of a solid take none.
    pub bricks: u32,
    /// Candidates of a pass, at most `2^28`: the pairs of a triangle and a node, or a row or a
    /// column of voxels in a brick, that it tests. They take no memory. They bound its time, which
    /// no other capacity does: at about 1,500 operations each, `2^25` take half a second on a GPU
    /// of 0.1 TFLOPS, and 5 ms on one of 10. Drivers time out after two seconds or more.
    pub candidates: u32,
    /// Voxels with a colour. They take 4 bytes each; 0 for scenes without colours.
    pub voxels: u32,
}

/// A triangle mesh in buffers of the caller, or in parts of them, with the usage
/// [`STORAGE`](Usage::STORAGE). Parts are bound in whole words of 4 bytes.
#[derive(Debug, Clone, Copy)]
pub struct MeshBuffers<'a> {
    /// Holds positions of three `f32`s, [`Float32x3`](wgpu::VertexFormat::Float32x3).
    pub vertices: &'a wgpu::Buffer,
    /// Bytes before the first position, a multiple of 4.
    pub vertex_offset: u64,
    /// Bytes from one position to the next, a multiple of 4, at least 12.
    pub vertex_stride: u64,
    /// The number of positions, finite where triangles use them.
    pub vertex_count: u32,
    /// Holds three indices for each triangle.
    pub indices: &'a wgpu::Buffer,
    /// The type of the indices.
    pub index_format: wgpu::IndexFormat,
    /// Bytes before the first index, a multiple of the size of one.
    pub index_offset: u64,
    /// The number of triangles.
    pub triangle_count: u32,
    /// The rows of the affine transform from mesh coordinates to voxels: voxel `(i, j, k)` is the
    /// cube from `(i, j, k)` to `(i + 1, j + 1, k + 1)`. [`Lattice::voxels_from_mesh`] for a mesh
    /// that does not move.
    pub voxels_from_mesh: [[f32; 4]; 3],
    /// Holds a colour for each triangle: sRGB, red in the lowest byte, opacity in the highest. A
    /// voxel has that of the first triangle that touches it, by mesh and index. Needed if
    /// [`SceneCapacity::voxels`] is above 0, and not used otherwise. It has the usage
    /// [`COPY_SRC`](Usage::COPY_SRC). In a colour's place may be any word for `color_of` to return,
    /// such as the index of the triangle.
    pub colors: Option<&'a wgpu::Buffer>,
}

/// The state of the recorded scene that was submitted last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SceneStatus {
    /// The reason if the scene is empty because a mesh is not valid or a buffer is too small;
    /// otherwise it is complete.
    pub failure: Option<SceneFailure>,
    /// The number of triangles with bounds that meet the grid; of a thin surface, with a voxel
    /// centre in a projection of these bounds.
    pub triangles: u32,
    /// The number of bricks that triangles touch. After [`SceneFailure::Bricks`], those needed.
    pub bricks: u32,
    /// The capacity of pairs that was needed. After a failure, perhaps more is.
    pub pairs: u32,
    /// The candidates of the pass with most, in whole workgroups. After a failure, perhaps more are
    /// needed.
    pub candidates: u32,
    /// The number of voxels, of a scene with colours. After [`SceneFailure::Voxels`], those needed.
    pub voxels: u32,
}

/// The reason of an empty recorded scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SceneFailure {
    /// An index is not below the number of vertices.
    #[error("an index of a mesh is not below the number of its vertices")]
    Index,
    /// A vertex of a triangle is NaN or infinite; or the bounds of a triangle meet the grid, and one
    /// of its vertices is farther than `2^23` lattice units from the centre of the grid's cube. The
    /// cube's edge is the longest side of the grid, rounded up to a power of two, at least 64
    /// voxels: a vertex may be half an edge outside the cube. Of a solid, only the bounds along `y` and `z` count, and a
    /// vertex may be outside along `x` by less than half a voxel. Triangles beside the grid may be
    /// anywhere.
    #[error(
        "a vertex is NaN or infinite, or a triangle reaches too far from the grid: it may be \
         outside by half the longest side of the grid, but of a solid not along x. Enlarge the \
         grid, divide the triangle, or move the mesh by `voxels_from_mesh`"
    )]
    Vertex,
    /// More pairs than [`SceneCapacity::pairs`].
    #[error("too many pairs: make a builder with a capacity of at least those in its status")]
    Pairs,
    /// More candidates in a pass than [`SceneCapacity::candidates`].
    #[error(
        "too many candidates: make a builder with a capacity of at least those in its status, if \
         the GPU tests them within its driver's time limit, or use larger voxels"
    )]
    Candidates,
    /// More bricks than [`SceneCapacity::bricks`].
    #[error("too many bricks: make a builder with a capacity of those in its status")]
    Bricks,
    /// More voxels than [`SceneCapacity::voxels`], of a scene with colours.
    #[error("too many voxels: make a builder with a capacity of those in its status")]
    Voxels,
    /// A column along `x` crosses a solid an odd number of times, or a brick without triangles is
    /// partly inside. Holes with an even number of missed crossings in each column are not found: a
    /// tube along `x` without its caps is empty.
    #[error("the mesh of a solid is not closed: find its open edges by `Topology`")]
    NotClosed,
}

/// `Source` in `shaders/scene/quantize.wgsl`, which documents the fields.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "documented in the shaders")]
pub struct Source {
    pub transform: [[f32; 4]; 3],
    pub center: [f32; 3],
    pub max_groups: u32,
    pub limit: [f32; 3],
    pub vertex_words: u32,
    pub first_vertex: u32,
    pub vertex_stride: u32,
    pub vertex_count: u32,
    pub first_index: u32,
    pub index_count: u32,
    pub index_bits: u32,
    pub vertex_base: u32,
    pub index_base: u32,
}

/// Voxelizes meshes in GPU memory into one [`GpuScene`], each time that [`record`](Self::record) is
/// executed. All buffers are made once. Nothing is read back between the stages: their sizes stay
/// on the card.
///
/// # Solids
/// A solid is filled by parity along `x` ([`Fill::Parity`]): a voxel is inside if a column crosses
/// the meshes an odd number of times up to the voxel's centre. Parts that overlap are outside where
/// an even number of them does. The mesh must be closed, which is a property of its indices:
/// examine them once by [`Topology`](crate::solid::topology::Topology). A brick entirely inside is
/// a full cell of the tree, without a mask.
///
/// # Exactness
/// The voxels of the rounded vertices are exact, and have the same bits on every card and on the
/// CPU. The rounding is in `f32`: each coordinate is `round_ties_even(m0 x + m1 y + m2 z + m3)`,
/// with a row of `voxels_from_mesh` times the lattice units per voxel. If no product and no sum
/// rounds, as with a scale and an offset of powers of two and coordinates of few bits, the vertices
/// equal those of [`place_on`](crate::place_on), on a lattice of as many fraction bits. Otherwise
/// cards may differ, since compilers may fuse and reorder these operations.
///
/// # Overflow
/// A scene is complete, or empty and its [`status`](Self::status) says why: no part of it is left
/// out. Grow the builder then, and record again.
///
/// ```no_run
/// use trivox::view::gpu::{MeshBuffers, SceneBuilder, SceneCapacity};
/// use trivox::{BackendError, Gpu, Lattice, Mode, wgpu};
///
/// fn frame(
///     builder: &SceneBuilder,
///     queue: &wgpu::Queue,
///     mut encoder: wgpu::CommandEncoder,
///     mesh: &MeshBuffers,
/// ) -> Result<(), trivox::gpu::GpuError> {
///     builder.record(&mut encoder, &[*mesh])?;
///     // Here, passes of yours bind `builder.scene().buffers()`.
///     queue.submit([encoder.finish()]);
///     Ok(())
/// }
///
/// fn builder(gpu: &Gpu, lattice: &Lattice) -> Result<SceneBuilder, BackendError> {
///     let capacity = SceneCapacity {
///         vertices: 50_000,
///         triangles: 100_000,
///         pairs: 1 << 19,
///         bricks: 1 << 17,
///         candidates: 1 << 25,
///         voxels: 0,
///     };
///     SceneBuilder::new(gpu, lattice, Mode::Surface, capacity)
/// }
/// ```
#[derive(Debug)]
pub struct SceneBuilder {
    device: Device,
    setting: Setting,
    /// The caller's lattice, with the fraction bits of the scene.
    lattice: Lattice,
    /// The middle of the vertices, and their largest distance from it, in lattice units.
    center: [f32; 3],
    limit: [f32; 3],
    capacity: SceneCapacity,
    /// A [`Source`], a uniform.
    source: wgpu::Buffer,
    /// The colours of the triangles of all meshes.
    triangle_colors: wgpu::Buffer,
    buffers: Buffers,
    tree: Tree,
}

impl SceneBuilder {
    /// Makes the buffers for scenes of a grid with the dimensions and fraction bits of `lattice`,
    /// and tests the kernels that fill them, unless these have passed the test. Its scale and
    /// origin are not used: meshes have transforms of their own. The scene has at most
    /// `23 - log2 P` fraction bits, `P` being the longest side rounded up to a power of two: 16 to
    /// 128 voxels, 15 to 256, 14 to 512. A finer lattice is coarsened to that: see
    /// [`lattice`](Self::lattice).
    ///
    /// # Errors
    /// The lattice is not valid, or larger than a grid; the grid has more than `2^27` bricks of 8 x
    /// 8 x 8 voxels; the fill of a solid is not [`Fill::Parity`]; a solid has colours or its
    /// surface, or no multiple of 8 voxels along `y` or `z`; a thin surface has colours; a capacity
    /// exceeds its largest value, or a buffer the device's limit; the kernels compute wrong voxels
    /// ([`GpuError::SelfTest`]); the device fails.
    pub async fn new_async(
        gpu: &Gpu,
        lattice: &Lattice,
        mode: Mode,
        capacity: SceneCapacity,
    ) -> Result<Self, BackendError> {
        let made = async {
            let builder = Self::untested(gpu, lattice, mode, capacity)?;
            self_test::scenes(gpu, mode, capacity.voxels > 0).await?;
            Ok(builder)
        };
        gpu.device().scoped(made).await
    }

    /// The blocking form of [`new_async`](Self::new_async).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new(
        gpu: &Gpu,
        lattice: &Lattice,
        mode: Mode,
        capacity: SceneCapacity,
    ) -> Result<Self, BackendError> {
        gpu.device().block_on(Self::new_async(gpu, lattice, mode, capacity))
    }

    /// [`new_async`](Self::new_async) without the self-test.
    pub(super) fn untested(
        gpu: &Gpu,
        lattice: &Lattice,
        mode: Mode,
        capacity: SceneCapacity,
    ) -> Result<Self, BackendError> {
        lattice.check().map_err(|error| GpuError::Scene(error.to_string()))?;
        let Lattice { dims, fraction_bits, .. } = *lattice;
        let rule = rule_of(mode, dims, capacity.voxels > 0)?;
        let cube = lattice.cube();
        let units = u64::from(cube) << fraction_bits;
        if dims.iter().any(|&d| d > MAX_DIM) || units > 1 << SPAN_BITS {
            let [x, y, z] = dims;
            let why = format!("no grid has {x} x {y} x {z} voxels on its lattice");
            return Err(GpuError::Scene(why).into());
        }
        // A mesh that fills the cube would reach past all of the span by the rounding of floats,
        // and one that moves by more: the cube takes half of it.
        let lattice = lattice.coarsened(SPAN_BITS - 1 - cube.ilog2());
        let Lattice { dims, fraction_bits, .. } = lattice;
        let center = ((cube << fraction_bits) / 2) as f32;
        let limit = (1_u32 << (SPAN_BITS - 1)) as f32;
        let is_solid = rule.counting_axis().is_some();
        // Exact: half of at most 2^23 units, of 16 or more a voxel.
        let half_x = ((dims[0] << fraction_bits) / 2) as f32;
        // Crossings less than half a voxel beside the grid flip its first or its last voxel, or
        // that after it.
        let beyond = (1_u32 << (fraction_bits - 1)) as f32 - 1.0;
        let device = gpu.device().clone();
        // All rows of a solid end outside: there is room for the last crossings.
        let dims = rule.grid_dims(dims);
        let setting = Setting {
            rule,
            kernel: VoxelKernel::default(),
            keeps_bricks: true,
            dims,
            fraction_bits,
            candidates: capacity.candidates,
            groups: gpu.batch_limits.groups,
        };
        let SceneCapacity { vertices, triangles, pairs, bricks, voxels, .. } = capacity;
        let bitmap = SubBatch::of_grid(0, 0, dims).bitmap_words(setting.rule);
        let mesh_words = 3 * (u64::from(triangles) + u64::from(vertices));
        if bitmap > MAX_BITMAP_WORDS {
            return Err(too_many_bricks(dims).into());
        }
        check(gpu, &capacity)?;
        let of_colors = [kernels::RESERVE_COLORS, kernels::FIRST_TRIANGLES, kernels::COLOR_VOXELS];
        let of_colors = of_colors.into_iter().filter(|_| voxels > 0);
        let fill = if is_solid { kernels::FILL_ROWS } else { kernels::TREE_FILL };
        let of_all = [kernels::QUANTIZE, fill, kernels::TREE_COUNT, kernels::TREE_LINK];
        let own = of_colors.chain(of_all).map(|kernel| (kernel, &[][..]));
        device.compile(setting.steps().iter().map(Step::variant).chain(own))?;
        let sizes = Sizes { pairs: pairs.max(1), bricks, crossings: 0, bitmap };
        let mesh = device.checked_buffer("mesh", mesh_words, Usage::STORAGE)?;
        let mut buffers = Buffers::new(&device, mesh, sizes);
        buffers.bind_all(&device, &setting.steps())?;
        let tree = Tree::new(&device, dims, &buffers, voxels, is_solid)?;
        let color_words = if voxels > 0 { triangles.into() } else { 1 };
        Ok(Self {
            source: device.filled("source", &[0; size_of::<Source>()], Usage::UNIFORM)?,
            triangle_colors: device.checked_buffer(
                "triangle colours",
                color_words,
                Usage::STORAGE,
            )?,
            device,
            setting,
            lattice,
            center: [if is_solid { half_x } else { center }, center, center],
            limit: [if is_solid { half_x + beyond } else { limit }, limit, limit],
            capacity,
            buffers,
            tree,
        })
    }

    /// Records the voxelization of the meshes into [`scene`](Self::scene), all together: it neither
    /// submits nor waits. Later commands see the scene of these meshes, up to the next that is
    /// recorded.
    ///
    /// # Errors
    /// [`GpuError::Scene`]: the meshes exceed the capacity, or their buffers; a buffer has not the
    /// usage or the alignment of [`MeshBuffers`]. The encoder is as before. Others: a buffer of a
    /// mesh is destroyed or of another device, or the device fails. Drop the encoder then, which
    /// may not be finished. An invalid buffer of colours is an error of the encoder's `finish`.
    pub fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        meshes: &[MeshBuffers],
    ) -> Result<(), GpuError> {
        let sources = self.sources_of(meshes)?;
        self.device.in_scopes_of_caller(|| self.record_unscoped(encoder, meshes, &sources))?
    }

    fn record_unscoped(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        meshes: &[MeshBuffers],
        sources: &[Source],
    ) -> Result<(), GpuError> {
        let Self { device, setting, buffers, source, .. } = self;
        let triangles = meshes.iter().map(|mesh| mesh.triangle_count).sum();
        let sub_batch = SubBatch::of_grid(triangles, self.vertex_words(), setting.dims);
        // A buffer of its own for each recording: several may wait in encoders.
        let params = buffers.params_of(setting, &sub_batch);
        let uniforms = [&params[..], bytemuck::cast_slice(sources)].concat();
        let staging = device.filled("uniforms", &uniforms, Usage::COPY_SRC)?;
        encoder.copy_buffer_to_buffer(&staging, 0, &buffers.params, 0, PARAMS_BYTES as u64);
        buffers.clear(encoder, buffers.sizes.bitmap);
        let bytes = size_of::<Source>() as u64;
        for ((mesh, place), own) in meshes.iter().zip(0..).zip(sources) {
            let from = PARAMS_BYTES as u64 + place * bytes;
            encoder.copy_buffer_to_buffer(&staging, from, source, 0, bytes);
            let [vertices, indices] = self.bound(mesh).map(BindingResource::Buffer);
            let named = [
                ("source", source.as_entire_binding()),
                ("vertices", vertices),
                ("counters", buffers.counters.as_entire_binding()),
                ("indices", indices),
                ("mesh", buffers.mesh.as_entire_binding()),
            ];
            let invocations = mesh.vertex_count.max(3 * mesh.triangle_count);
            device.record_bound(encoder, kernels::QUANTIZE, &named, invocations.div_ceil(GROUP))?;
            if let Some(colors) = mesh.colors.filter(|_| self.capacity.voxels > 0) {
                let to = &self.triangle_colors;
                let words = [own.index_base / 3, mesh.triangle_count].map(u64::from);
                encoder.copy_buffer_to_buffer(colors, 0, to, 4 * words[0], 4 * words[1]);
            }
        }
        buffers.record(device, encoder, setting, &sub_batch, None);
        if self.capacity.voxels > 0 {
            self.record_colors(encoder)?;
        }
        self.tree.record(encoder, buffers)
    }

    /// Records the stages that colour voxels, after those that find them.
    fn record_colors(&self, encoder: &mut wgpu::CommandEncoder) -> Result<(), GpuError> {
        let Self { device, buffers, tree, triangle_colors, .. } = self;
        let first_triangles = device.pipeline(kernels::FIRST_TRIANGLES, &[]);
        let colors = [("colors", tree.scene.buffers.colors.as_entire_binding())];
        // Dispatched by `dispatch[0]`.
        let rows = [&colors[..], &buffers.named(0, Some(0))].concat();
        let rows = first_triangles.bind(&device.device, &rows)?;
        let named = [
            ("params", &tree.params),
            ("counters", &buffers.counters),
            ("bricks", &buffers.bricks),
            ("colors", &tree.scene.buffers.colors),
            ("triangle_colors", triangle_colors),
        ];
        let groups = self.capacity.bricks.div_ceil(GROUP);
        device.record(encoder, kernels::RESERVE_COLORS, &named, groups)?;
        let mut pass = encoder.begin_compute_pass(&Default::default());
        first_triangles.set(&mut pass, &rows);
        pass.dispatch_workgroups_indirect(&buffers.dispatch[0], 4 * CANDIDATE_GROUPS);
        drop(pass);
        device.record(encoder, kernels::COLOR_VOXELS, &named, groups)
    }

    /// The lattice of the builder, with the fraction bits of the scene:
    /// [`place_on`](crate::place_on) with it gives the voxels to compare with.
    #[must_use]
    pub fn lattice(&self) -> Lattice {
        self.lattice
    }

    /// The scene of the recorded meshes that were submitted last; empty before. It stays the same
    /// object: bind its buffers once.
    #[must_use]
    pub fn scene(&self) -> &GpuScene {
        &self.tree.scene
    }

    /// Reads the status of the last scene that was submitted before the first poll. It is ready
    /// when the GPU has executed that submission: poll it in later frames. It borrows nothing: keep
    /// it beside the builder.
    ///
    /// # Errors
    /// The device fails.
    pub fn status_async(&self) -> impl Future<Output = Result<SceneStatus, GpuError>> + use<> {
        let (device, counters) = (self.device.clone(), self.buffers.counters.clone());
        async move { Ok(status_of(&device.contents(&counters).await?)) }
    }

    /// The blocking form of [`status_async`](Self::status_async).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn status(&self) -> Result<SceneStatus, GpuError> {
        self.device.block_on(self.status_async())
    }

    /// The words of the indices in the mesh buffer, which come first.
    fn vertex_words(&self) -> u32 {
        3 * self.capacity.triangles
    }

    /// The places of the meshes in the buffers, one after another.
    ///
    /// # Errors
    /// A mesh cannot be recorded: an error before the device sees it, which would fail for good.
    fn sources_of(&self, meshes: &[MeshBuffers]) -> Result<Vec<Source>, GpuError> {
        let SceneCapacity { vertices, triangles, .. } = self.capacity;
        let all = |count: fn(&MeshBuffers) -> u32| -> u64 {
            meshes.iter().map(|mesh| u64::from(count(mesh))).sum()
        };
        let needed = [all(|mesh| mesh.vertex_count), all(|mesh| mesh.triangle_count)];
        if needed[0] > vertices.into() || needed[1] > triangles.into() {
            return Err(GpuError::Scene(format!(
                "the meshes have {} vertices and {} triangles, and the capacity is {vertices} and \
                 {triangles}",
                needed[0], needed[1]
            )));
        }
        let mut sources = Vec::with_capacity(meshes.len());
        let (mut vertex_base, mut index_base) = (0, 0);
        for (index, mesh) in meshes.iter().enumerate() {
            if let Some(problem) = self.problem_of(mesh) {
                return Err(GpuError::Scene(format!("mesh {index}: {problem}")));
            }
            sources.push(self.source_of(mesh, vertex_base, index_base));
            vertex_base += mesh.vertex_count;
            index_base += 3 * mesh.triangle_count;
        }
        Ok(sources)
    }

    /// The reason not to record a mesh: a buffer is too short or too long, not aligned, or of
    /// another usage.
    fn problem_of(&self, mesh: &MeshBuffers) -> Option<String> {
        let index_bytes = u64::from(mesh.index_format.byte_size());
        for (name, bytes, unit) in [
            ("vertex_offset", mesh.vertex_offset, 4),
            ("vertex_stride", mesh.vertex_stride, 4),
            ("index_offset", mesh.index_offset, index_bytes),
        ] {
            if !bytes.is_multiple_of(unit) {
                return Some(format!("its {name} of {bytes} is not a multiple of {unit}"));
            }
        }
        if mesh.vertex_stride < 12 {
            let stride = mesh.vertex_stride;
            return Some(format!("its stride of {stride} bytes is less than a position's 12"));
        }
        let limit = buffer_limit(&self.device.device.limits()).min(u32::MAX.into());
        let [vertices, indices] = self.bytes_of(mesh);
        for (what, buffer, bytes) in
            [("vertices", mesh.vertices, vertices), ("indices", mesh.indices, indices)]
        {
            let size = buffer.size();
            if !buffer.usage().contains(Usage::STORAGE) {
                return Some(format!("the buffer of its {what} has not the usage STORAGE"));
            }
            let Some(Range { start, end }) = bytes.filter(|bytes| bytes.end <= size) else {
                return Some(format!(
                    "its {what}, to a whole word, end past their buffer of {size} bytes"
                ));
            };
            if end - start > limit {
                let bytes = grouped(end - start);
                let limit = grouped(limit);
                return Some(format!(
                    "its {what} take {bytes} bytes, and the device binds {limit}"
                ));
            }
        }
        if self.capacity.voxels == 0 {
            return None;
        }
        let Some(colors) = mesh.colors else {
            return Some("it has no colours, and the scene has room for them: set `colors`".into());
        };
        if !colors.usage().contains(Usage::COPY_SRC) {
            Some("the buffer of its colours has not the usage COPY_SRC".into())
        } else if colors.size() < 4 * u64::from(mesh.triangle_count) {
            Some("its colours end before its triangles".into())
        } else {
            None
        }
    }

    /// The bytes of the buffers of vertices and of indices that are bound: whole words from an
    /// aligned offset on, at least one. `None` past any buffer.
    fn bytes_of(&self, mesh: &MeshBuffers) -> [Option<Range<u64>>; 2] {
        let unit = self.device.device.limits().min_storage_buffer_offset_alignment.max(4);
        let bound = |offset: u64, bytes: Option<u64>| match bytes? {
            0 => Some(0..4),
            bytes => {
                let end = offset.checked_add(bytes)?.checked_next_multiple_of(4)?;
                Some(offset - offset % u64::from(unit)..end)
            }
        };
        let strides = u64::from(mesh.vertex_count).checked_sub(1);
        let vertices =
            strides.map_or(Some(0), |n| n.checked_mul(mesh.vertex_stride)?.checked_add(12));
        let indices = 3 * u64::from(mesh.triangle_count) * u64::from(mesh.index_format.byte_size());
        [bound(mesh.vertex_offset, vertices), bound(mesh.index_offset, Some(indices))]
    }

    /// The bound parts of the buffers of vertices and of indices, of a mesh without a problem.
    fn bound<'a>(&self, mesh: &MeshBuffers<'a>) -> [BufferBinding<'a>; 2] {
        let [vertices, indices] = self.bytes_of(mesh).map(Option::unwrap_or_default);
        [(mesh.vertices, vertices), (mesh.indices, indices)].map(|(buffer, bytes)| BufferBinding {
            buffer,
            offset: bytes.start,
            size: BufferSize::new(bytes.end - bytes.start),
        })
    }

    fn source_of(&self, mesh: &MeshBuffers, vertex_base: u32, index_base: u32) -> Source {
        let units = (1_u32 << self.setting.fraction_bits) as f32;
        let index_bytes = mesh.index_format.byte_size();
        let [vertices, indices] = self.bound(mesh);
        // `problem_of` refuses parts of 2^32 bytes: words and indices fit in `u32`.
        let of = |bytes: u64, size: u32| (bytes / u64::from(size)) as u32;
        Source {
            transform: mesh.voxels_from_mesh.map(|row| row.map(|c| c * units)),
            center: self.center,
            max_groups: MAX_GROUPS,
            limit: self.limit,
            vertex_words: self.vertex_words(),
            first_vertex: of(mesh.vertex_offset - vertices.offset, 4),
            vertex_stride: of(mesh.vertex_stride, 4),
            vertex_count: mesh.vertex_count,
            first_index: of(mesh.index_offset - indices.offset, index_bytes),
            index_count: 3 * mesh.triangle_count,
            index_bits: 8 * index_bytes,
            vertex_base,
            index_base,
        }
    }
}

/// The error for a grid with more bricks than a bitmap has bits.
fn too_many_bricks(dims: [u32; 3]) -> GpuError {
    let bricks = dims.map(|d| u64::from(d.div_ceil(BRICK))).iter().product();
    let most = u64::from(MAX_BITMAP_WORDS) * u64::from(u32::BITS);
    GpuError::Scene(format!(
        "its grid has {} bricks of 8 x 8 x 8 voxels, and a scene {} at most: use larger voxels",
        grouped(bricks),
        grouped(most)
    ))
}

/// Checks that no part of a capacity exceeds its largest value, or the limits of `gpu`.
fn check(gpu: &Gpu, capacity: &SceneCapacity) -> Result<(), GpuError> {
    let SceneCapacity { vertices, triangles, pairs, bricks, candidates, voxels } = *capacity;
    let bytes = buffer_limit(&gpu.device().device.limits());
    let limits = gpu.batch_limits;
    let sum = |a: u32, b: u32| u64::from(a) + u64::from(b);
    // What, how many, at most, and how many the device allows. A vertex and a triangle have three
    // words each, with 32-bit offsets; each brick and voxel has a word of the colours.
    for (what, count, most, limit) in [
        ("vertices and triangles", sum(vertices, triangles), u64::from(u32::MAX) / 3, bytes / 12),
        ("pairs", pairs.into(), MAX_PAIRS.into(), limits.pairs.into()),
        ("bricks", bricks.into(), MAX_BRICKS.into(), limits.bricks.into()),
        ("candidates", candidates.into(), MAX_CANDIDATES_A_PASS.into(), limits.candidates.into()),
        ("bricks and voxels", sum(bricks, voxels), u64::MAX, bytes / 4),
    ] {
        let least = most.min(limit);
        if count > least {
            let [count, least] = [count, least].map(grouped);
            let advice = if limit < most {
                "with the limits of the device: reduce it, or request higher limits if its \
                 adapter has them"
            } else {
                "in a scene: reduce it"
            };
            return Err(GpuError::Scene(format!(
                "its capacity is {count} {what}, and {least} are possible {advice}"
            )));
        }
    }
    Ok(())
}

/// The rule of scenes of `mode`, of `dims` voxels.
fn rule_of(mode: Mode, dims: [u32; 3], has_colors: bool) -> Result<Rule, GpuError> {
    let why = match mode {
        Mode::Surface => return Ok(Rule::Conservative),
        Mode::Thin | Mode::Solid(_) if has_colors => {
            "only the voxels of surfaces have colours: set `voxels` to 0"
        }
        Mode::Thin => return Ok(Rule::SixSeparating),
        Mode::Solid(Solid { fill: Fill::Parity, include_surface: false }) => {
            if dims[1..].iter().all(|d| d.is_multiple_of(BRICK)) && dims[0] < MAX_DIM {
                return Ok(Rule::Parity(Axis::X));
            }
            "a solid needs a multiple of 8 voxels along y and z, and less than 65,536 along x"
        }
        Mode::Solid(_) => "a solid is filled by `Fill::Parity`, without its surface",
    };
    Err(GpuError::Scene(why.to_owned()))
}

fn status_of(counters: &[u32]) -> SceneStatus {
    let failures = counters[FAILURES];
    // In the order of the stages: after the first, others may follow from it.
    let failure = [
        (INVALID_INDEX, SceneFailure::Index),
        (INVALID_VERTEX, SceneFailure::Vertex),
        (PAIRS_FULL, SceneFailure::Pairs),
        (TOO_MANY_CANDIDATES, SceneFailure::Candidates),
        (BRICKS_FULL, SceneFailure::Bricks),
        (VOXELS_FULL, SceneFailure::Voxels),
        (NOT_CLOSED, SceneFailure::NotClosed),
    ]
    .into_iter()
    .find_map(|(bit, failure)| (failures & bit != 0).then_some(failure));
    SceneStatus {
        failure,
        triangles: counters[STARTED..][..LEVELS].iter().sum(),
        bricks: counters[BRICKS],
        pairs: needed_pairs(counters),
        candidates: counters[GROUPS..][..LEVELS].iter().fold(0, |most, &n| most.max(n)) * GROUP,
        voxels: counters[SCENE_VOXELS],
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::backend::gpu::adversarial_mesh;
    use crate::gpu::promised;
    use crate::view::gpu::SceneBuffers;

    const CAPACITY: SceneCapacity = SceneCapacity {
        vertices: 3,
        triangles: 1,
        pairs: 100,
        bricks: 50,
        candidates: 1 << 20,
        voxels: 0,
    };

    fn lattice() -> Lattice {
        *adversarial_mesh([64; 3], &[(1, 1)]).lattice()
    }

    fn builder(
        gpu: &Gpu,
        mode: Mode,
        capacity: SceneCapacity,
    ) -> Result<SceneBuilder, BackendError> {
        SceneBuilder::new(gpu, &lattice(), mode, capacity)
    }

    #[test]
    fn vertices_that_are_no_numbers_are_found_without_arithmetic() {
        for adapter in promised() {
            let device = adapter.open().unwrap();
            // A compiler that assumes that no number is NaN: whatever it computes with one.
            let arithmetic = "c = coordinate(axis, bitcast<vec3<f32>>(bits));";
            device.plant(kernels::QUANTIZE, &[], arithmetic, "c = i32(axis);");
            let gpu = Gpu::on_device(device).unwrap();
            let builder =
                SceneBuilder::untested(&gpu, &lattice(), Mode::Surface, CAPACITY).unwrap();
            let device = gpu.device();
            let indices = device.filled("indices", bytemuck::bytes_of(&[0, 1, 2]), Usage::STORAGE);
            let indices = indices.unwrap();
            for last in [3.0, f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                let corners = [1.0, 2.0, 3.0, 9.0, 9.0, 4.0, 7.0, 1.0, last];
                let vertices =
                    device.filled("vertices", bytemuck::bytes_of(&corners), Usage::STORAGE);
                let mesh = MeshBuffers {
                    vertices: &vertices.unwrap(),
                    vertex_offset: 0,
                    vertex_stride: 12,
                    vertex_count: 3,
                    indices: &indices,
                    index_format: wgpu::IndexFormat::Uint32,
                    index_offset: 0,
                    triangle_count: 1,
                    voxels_from_mesh: [0, 1, 2].map(|a| [0, 1, 2, 3].map(|b| f32::from(a == b))),
                    colors: None,
                };
                let mut encoder = device.encoder();
                builder.record(&mut encoder, &[mesh]).unwrap();
                device.queue.submit([encoder.finish()]);
                let expected = (!last.is_finite()).then_some(SceneFailure::Vertex);
                let failure = builder.status().unwrap().failure;
                assert_eq!(failure, expected, "{}, {last}", adapter.label());
            }
        }
    }

    #[test]
    fn pairs_and_bricks_take_the_documented_bytes() {
        let Some(adapter) = promised().into_iter().next() else { return };
        let gpu = Gpu::new(&adapter).unwrap();
        let bytes = |pairs, bricks, voxels| {
            let capacity = SceneCapacity { pairs, bricks, voxels, ..CAPACITY };
            let builder = builder(&gpu, Mode::Surface, capacity).unwrap();
            let Buffers { pairs, first_pairs, bricks, .. } = &builder.buffers;
            let SceneBuffers { children, colors, .. } = builder.scene().buffers();
            [pairs, first_pairs, bricks, children, colors].iter().map(|b| b.size()).sum::<u64>()
        };
        let least = bytes(800, 50, 0);
        assert_eq!(bytes(1600, 50, 0) - least, 60 * 800);
        assert_eq!(bytes(800, 100, 0) - least, 76 * 50);
        assert_eq!(bytes(800, 100, 1) - bytes(800, 50, 1), 80 * 50);
    }
}
