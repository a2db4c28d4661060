//! Distances on a GPU: the CPU culls the bricks of a batch while the GPU measures the batch before.

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;
use wgpu::BufferUsages as Usage;

use crate::distance::bricks::Bricks;
use crate::distance::{Part, Work};
use crate::gpu::{Device, GROUP, MAX_GROUPS, Mapping, kernels};
use crate::grid::{BRICK, BrickKey, Mask};
use crate::place::{PlacedMesh, Triangle};
use crate::progress::{NoProgress, Progress};
use crate::voxelize::BackendError;
use crate::voxelize::gpu::adversarial_mesh;

/// Voxels of a brick.
pub const BRICK_VOXELS: usize = (BRICK * BRICK * BRICK) as usize;
/// Maximum clusters of an item, and maximum clusters that bound its distances: drivers limit the
/// iterations of loops (see the kernel).
const ITEM_CLUSTERS: usize = 128;
const BOUNDING_CLUSTERS: usize = 1 << 10;
/// Clusters after which a batch is full. It takes a GPU well below a second; after two seconds a
/// driver may reset it. The clusters of one brick are never divided.
const BATCH_CLUSTERS: usize = 1 << 18;
/// Maximum bricks of a batch, and of a part of it that one thread decodes.
const BATCH_BRICKS: usize = 1 << 12;
const PART_BRICKS: usize = 1 << 7;
/// Maximum bricks that are culled at a time, and maximum sum of their clusters.
const CULLED_BRICKS: u64 = 1 << 16;
const CULLED_CLUSTERS: u64 = 1 << 20;
/// Bytes of memory of two batches with their results, and of the lists that are culled at a time.
const BATCH_BYTES: u64 = 64 << 20;

/// `Params` in `shaders/distance/measure.wgsl`, which documents the fields.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "documented in the shader")]
pub struct MeasureParams {
    pub dims: [u32; 3],
    pub fraction_bits: u32,
    pub width: f32,
    pub items: u32,
    pub max_groups: u32,
    padding: u32,
}

/// `Item` in `shaders/distance/measure.wgsl`, which documents the fields.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "documented in the shader")]
pub struct Item {
    pub xy: u32,
    pub z: u32,
    pub slot: u32,
    pub bounding: u32,
    pub bounding_end: u32,
    pub step: u32,
    pub first: u32,
    pub end: u32,
}

/// `Cluster` in `shaders/distance/measure.wgsl`, which documents the fields.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "documented in the shader")]
pub struct Cluster {
    pub lo: [i32; 3],
    pub first: u32,
    pub hi: [i32; 3],
    pub end: u32,
}

/// The band, in parts.
///
/// # Errors
/// The mesh exceeds the GPU's buffers; the GPU or its self-test fails; too little memory;
/// cancelled.
pub(super) fn parts(
    device: &Device,
    mesh: &PlacedMesh,
    width: f32,
    memory: u64,
    progress: &dyn Progress,
) -> Result<Vec<Part>, BackendError> {
    let parts = || {
        let is_right = device.passes(kernels::MEASURE, || passes_self_test(device))?;
        if !is_right {
            let (kernel, driver) = (kernels::MEASURE.name(), device.driver());
            return Err(BackendError::SelfTest { kernel, driver });
        }
        measured_parts(device, mesh, width, memory, progress)
    };
    device.in_scopes(parts)?
}

/// The band, without a self-test of the kernel.
fn measured_parts(
    device: &Device,
    mesh: &PlacedMesh,
    width: f32,
    memory: u64,
    progress: &dyn Progress,
) -> Result<Vec<Part>, BackendError> {
    let words = mesh.len() * size_of::<Triangle>() / size_of::<u32>();
    let triangles = device.checked_buffer("triangles", words as u64, Usage::STORAGE)?;
    // Of a triangle and its cluster, and their copies for the upload; a brick may be near to all.
    let of_triangle = 2 * (size_of::<Triangle>() + size_of::<Cluster>() + size_of::<u32>());
    let taken = (mesh.len() * of_triangle) as u64 + BATCH_BYTES;
    let work = Work::new(mesh, width, memory, taken, progress)?;
    let culling = &work.culling;
    let in_order = culling.clusters.all_triangles().par_iter();
    let corners: Vec<Triangle> = in_order.map(|&index| mesh.triangle(index as usize)).collect();
    device.queue.write_buffer(&triangles, 0, bytemuck::cast_slice(&corners));
    drop(corners);
    let cluster = |cluster| {
        let (bounds, range) = (culling.clusters.bounds(cluster), culling.clusters.range(cluster));
        Cluster { lo: bounds.lo, first: range.start, hi: bounds.hi, end: range.end }
    };
    let boxes: Vec<Cluster> = (0..culling.clusters.len()).map(cluster).collect();
    let clusters = device.filled("clusters", bytemuck::cast_slice(&boxes), Usage::STORAGE)?;
    drop(boxes);
    let mut measuring = Measuring {
        work: &work,
        device,
        triangles,
        clusters,
        batch: Batch::default(),
        in_flight: None,
        parts: Vec::new(),
    };
    measuring.visit(Bricks::of_grid(mesh.lattice().dims), &culling.all())?;
    measuring.submit()?;
    measuring.receive()?;
    Ok(measuring.parts)
}

/// A brick and the clusters near it.
type NearBrick = (BrickKey, Vec<u32>);

/// Bricks that are measured together.
#[derive(Default)]
struct Batch {
    bricks: Vec<BrickKey>,
    /// The number of rows of bricks that end in it.
    rows: u64,
    items: Vec<Item>,
    /// Indices of clusters, brick by brick.
    near: Vec<u32>,
}

impl Batch {
    fn is_full(&self) -> bool {
        self.bricks.len() >= BATCH_BRICKS || self.near.len() >= BATCH_CLUSTERS
    }

    fn add(&mut self, key: BrickKey, near: &[u32]) {
        let ([x, y, z], slot) = (key.position(), self.bricks.len() as u32);
        let bounding = self.near.len() as u32;
        let bounding_end = bounding + near.len() as u32;
        let step = near.len().div_ceil(BOUNDING_CLUSTERS) as u32;
        self.bricks.push(key);
        for near in near.chunks(ITEM_CLUSTERS) {
            let first = self.near.len() as u32;
            self.near.extend_from_slice(near);
            let end = self.near.len() as u32;
            let xy = x | y << 16;
            self.items.push(Item { xy, z, slot, bounding, bounding_end, step, first, end });
        }
    }
}

/// A batch that was submitted.
struct InFlight<'a> {
    bricks: Vec<BrickKey>,
    rows: u64,
    mapping: Mapping<'a>,
    staging: wgpu::Buffer,
}

struct Measuring<'a> {
    work: &'a Work<'a>,
    device: &'a Device,
    triangles: wgpu::Buffer,
    clusters: wgpu::Buffer,
    batch: Batch,
    in_flight: Option<InFlight<'a>>,
    parts: Vec<Part>,
}

impl Measuring<'_> {
    /// Culls `bricks`, which only these clusters are near, and submits the batches that they fill.
    fn visit(&mut self, bricks: Bricks, clusters: &[u32]) -> Result<(), BackendError> {
        let culling = &self.work.culling;
        let near = culling.near(&bricks, clusters);
        if near.is_empty() {
            culling.finish(bricks.rows());
            return Ok(());
        }
        let count = bricks.rows() * u64::from(bricks.to[0] - bricks.from[0]);
        if count > CULLED_BRICKS || count * near.len() as u64 > CULLED_CLUSTERS {
            if let Some(halves) = bricks.halves().filter(|_| bricks.rows() > 1) {
                return halves.into_iter().try_for_each(|half| self.visit(half, &near));
            }
            // A row too long for a list goes into batches brick by brick.
            let mut add = |brick: Bricks, near: &[u32]| self.add(BrickKey::new(brick.from), near);
            culling.bricks(bricks, &near, &mut add)?;
            self.batch.rows += 1;
            return Ok(());
        }
        let list_row = |row: Bricks, near: &[u32]| {
            let mut listed: Vec<NearBrick> = Vec::new();
            culling.bricks(row, near, &mut |brick, near| {
                listed.push((BrickKey::new(brick.from), near.to_vec()));
                Ok(())
            })?;
            Ok(Some(listed))
        };
        for row in culling.rows(bricks, &near, &list_row)? {
            row.iter().try_for_each(|(key, near)| self.add(*key, near))?;
            self.batch.rows += 1;
        }
        Ok(())
    }

    fn add(&mut self, key: BrickKey, near: &[u32]) -> Result<(), BackendError> {
        self.batch.add(key, near);
        if self.batch.is_full() { self.submit() } else { Ok(()) }
    }

    /// Receives the batch in flight, then submits the next.
    fn submit(&mut self) -> Result<(), BackendError> {
        self.receive()?;
        self.work.culling.check()?;
        let Batch { bricks, rows, items, near } = std::mem::take(&mut self.batch);
        if bricks.is_empty() {
            self.work.culling.finish(rows);
            return Ok(());
        }
        let (device, work) = (self.device, self.work);
        let lattice = work.culling.mesh.lattice();
        let params = MeasureParams {
            dims: lattice.dims,
            fraction_bits: lattice.fraction_bits,
            width: (work.width * lattice.units_per_voxel() as f32).next_up(),
            items: items.len() as u32,
            max_groups: MAX_GROUPS,
            padding: 0,
        };
        let words = (bricks.len() * BRICK_VOXELS) as u64;
        let params = device.filled("params", bytemuck::bytes_of(&params), Usage::UNIFORM)?;
        let items_buffer = device.filled("items", bytemuck::cast_slice(&items), Usage::STORAGE)?;
        let near = device.filled("near clusters", bytemuck::cast_slice(&near), Usage::STORAGE)?;
        let nearest = device.checked_buffer("distances", words, Usage::STORAGE)?;
        let staging = device.staging(words);
        let buffers = [
            ("params", &params),
            ("items", &items_buffer),
            ("near", &near),
            ("clusters", &self.clusters),
            ("triangles", &self.triangles),
            ("nearest", &nearest),
        ];
        let groups = (items.len() * BRICK_VOXELS) as u32 / GROUP;
        let mut encoder = device.encoder();
        device.record(&mut encoder, kernels::MEASURE, &buffers, groups)?;
        encoder.copy_buffer_to_buffer(&nearest, 0, &staging, 0, 4 * words);
        let mapping = device.submit(encoder, &staging, 4 * words);
        self.in_flight = Some(InFlight { bricks, rows, mapping, staging });
        Ok(())
    }

    /// Waits for the batch in flight, if there is one, and adds its bricks.
    fn receive(&mut self) -> Result<(), BackendError> {
        let Some(InFlight { bricks, rows, mapping, staging }) = self.in_flight.take() else {
            return Ok(());
        };
        self.device.block_on(mapping)?;
        let work = self.work;
        let part_of = |(bricks, nearest): (&[BrickKey], &[[u8; 4 * BRICK_VOXELS]])| {
            let mut part = Part::default();
            for (&key, nearest) in bricks.iter().zip(nearest) {
                let mask = within(nearest, work.width, &mut part.1);
                work.add(key, mask, &mut part)?;
            }
            part.0.shrink_to_fit();
            part.1.shrink_to_fit();
            Ok(part)
        };
        let parts: Result<Vec<Part>, BackendError> =
            self.device.mapped(&staging, staging.size(), |bytes| {
                let nearest = bytes.as_chunks().0.par_chunks(PART_BRICKS);
                bricks.par_chunks(PART_BRICKS).zip(nearest).map(part_of).collect()
            })?;
        self.parts.extend(parts?);
        work.culling.finish(rows);
        Ok(())
    }
}

/// The voxels of a brick whose distance is below `width`; their distances are appended to `values`.
fn within(nearest: &[u8; 4 * BRICK_VOXELS], width: f32, values: &mut Vec<f32>) -> Mask {
    let mut mask = [0; BRICK as usize];
    for (voxel, &word) in nearest.as_chunks().0.iter().enumerate() {
        // The complement of the bits; that of 0, for none, is not a number.
        let distance = f32::from_bits(!u32::from_le_bytes(word));
        if distance < width {
            mask[voxel / 64] |= 1 << (voxel % 64);
            values.push(distance);
        }
    }
    mask
}

/// Whether `device` measures a built-in mesh as the CPU does. This detects drivers that miscompile
/// the kernel.
fn passes_self_test(device: &Device) -> Result<bool, BackendError> {
    let mesh = adversarial_mesh([20, 21, 22], &[(60, 8), (6, 39)]);
    let width = 3.0;
    let known = Work::new(&mesh, width, u64::MAX, 0, &NoProgress)?.parts()?;
    let found = measured_parts(device, &mesh, width, u64::MAX, &NoProgress)?;
    let joined = |parts: Vec<Part>| {
        let (bricks, distances): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        (bricks.concat(), distances.concat())
    };
    Ok(joined(known) == joined(found))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::gpu::Adapter;

    /// Each fault: the replaced text in the kernel with its imports.
    const FAULTS: [(&str, &str); 13] = [
        // Of a triangle: an edge or the plane is left out, corners are exchanged.
        ("&& is_dot_at_most_0(normal, exact_cross(b, b - c))", ""),
        ("edge < 3u", "edge < 2u"),
        ("if !int64_less(along, squared)", "if false"),
        ("a = b;\n        b = c;", "b = c;"),
        // Wide integers lose a carry, a word or a sign.
        ("return vec2<u32>(low, u32(sum < a) + u32(low < sum));", "return vec2<u32>(low, 0u);"),
        ("words = Int160(0u, 0u, words[0]", "words = Int160(0u, words[0], 0u"),
        ("(bitcast<i32>(a.y ^ b.y) < 0) == negative", "!negative"),
        // Rounding down, and of ties.
        (
            "bits += step;\n        }\n    }\n    return bits;",
            "bits += step;\n        }\n    }\n    return bits + 1u;",
        ),
        // Culling by a wrong bound, and lists that end early.
        ("length + error);", "0.9 * length);"),
        ("far = max(from_lo, to_hi)", "far = min(abs(from_lo), abs(to_hi))"),
        ("let i = 9u * index;", "let i = 9u * (index ^ 1u);"),
        ("end = cluster.end;", "end = cluster.first + 1u;"),
        ("item.slot * BRICK_VOXELS + place", "place"),
    ];

    #[test]
    fn a_kernel_that_measures_wrong_distances_is_refused() {
        let adapters = Adapter::all().into_iter().filter(|adapter| adapter.check().is_ok());
        let Some(adapter) = adapters.max_by_key(|adapter| adapter.label().contains("llvmpipe"))
        else {
            assert!(std::env::var_os("TRIVOX_GPU").is_none(), "an adapter was promised");
            println!("skipped: no adapter");
            return;
        };
        let mesh = adversarial_mesh([9, 8, 7], &[(4, 9)]);
        let measure = |device: &Device| parts(device, &mesh, 2.0, u64::MAX, &NoProgress);
        let kernel = kernels::MEASURE;
        measure(&adapter.open().unwrap()).unwrap();
        for (right, wrong) in FAULTS {
            let source = kernel.source();
            assert!(source.contains(right), "{right}");
            let device = adapter.open().unwrap();
            device.plant(kernel, source.replace(right, wrong), &[]);
            match measure(&device) {
                Err(error @ BackendError::SelfTest { .. }) => println!("{right}: {error}"),
                other => panic!("{right}: not refused: {:?}", other.map(|parts| parts.len())),
            }
            // The outcome is kept.
            assert!(measure(&device).is_err(), "{right}");
        }
    }
}
