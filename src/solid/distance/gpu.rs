//! Distances on a GPU: the CPU culls the triangles near the blocks of a batch while the GPU
//! measures the batch before.

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;
use wgpu::BufferUsages as Usage;

use crate::backend::gpu::adversarial_mesh;
use crate::backend::{BackendError, check_cancelled};
use crate::base::progress::{NoProgress, Progress};
use crate::gpu::{Device, MAX_GROUPS, Mapping, kernels};
use crate::grid::{BRICK, BrickKey, Mask, count};
use crate::lattice::{Lattice, PlacedMesh, Triangle};
use crate::solid::distance::bricks::Bricks;
pub use crate::solid::distance::clusters::TRIANGLES as CLUSTER_TRIANGLES;
use crate::solid::distance::{BandBrick, Work};

/// Voxels of a brick.
pub const BRICK_VOXELS: u32 = BRICK * BRICK * BRICK;
/// Bricks along the edge of a block, and in it.
pub const BLOCK: u32 = 2;
const BLOCK_BRICKS: u32 = BLOCK * BLOCK * BLOCK;
/// Voxels along the edge of a cell, which is a workgroup's, and the cells of a block.
pub const CELL: u32 = 4;
const BLOCK_CELLS: u32 = (BLOCK * BRICK / CELL).pow(3);
/// Maximum clusters of an item, and maximum clusters that bound its distances: drivers limit the
/// iterations of loops (see the kernel).
pub const ITEM_CLUSTERS: usize = 128;
const BOUNDING_CLUSTERS: usize = 1 << 10;
/// Maximum blocks of a batch, and clusters near them after which it is full.
const BATCH_BLOCKS: u64 = 1 << 11;
const BATCH_CLUSTERS: usize = 1 << 20;
/// Clusters after which a submission is full, which a GPU then runs for well below a second; after
/// two seconds a driver may reset it.
const SUBMITTED_CLUSTERS: usize = 1 << 15;
/// Maximum blocks that are culled at a time, times the clusters near all of them.
const CULLED_CLUSTERS: u64 = 1 << 23;
/// Bytes of memory of a batch with its results, and of the lists that are culled at a time.
const BATCH_BYTES: u64 = 80 << 20;

/// `Params` in `shaders/distance/params.wgsl`, which documents the fields.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "documented in the shader")]
pub struct MeasureParams {
    pub dims: [u32; 3],
    pub fraction_bits: u32,
    pub width: f32,
    pub width_bits: u32,
    pub items: u32,
    pub bricks: u32,
    pub max_groups: u32,
    pub row: u32,
    pub first: u32,
    pub padding: u32,
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

/// `Record` in `shaders/distance/compact.wgsl`, which documents the fields.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "documented in the shader")]
pub struct Record {
    pub brick: u32,
    pub first: u32,
    pub mask: [u32; BRICK_VOXELS as usize / 32],
}

/// The bricks of the band.
///
/// # Errors
/// The mesh exceeds the GPU's buffers; the GPU or its self-test fails; too little memory;
/// cancelled.
pub(crate) fn bricks(
    device: &Device,
    mesh: &PlacedMesh,
    width: f32,
    memory: u64,
    progress: &dyn Progress,
) -> Result<Vec<BandBrick>, BackendError> {
    let bricks = || {
        self_test(device)?;
        measured_bricks(device, mesh, width, memory, progress)
    };
    device.in_scopes(bricks)?
}

/// Tests the kernels that measure distances, unless they are tested.
pub(crate) fn self_test(device: &Device) -> Result<(), BackendError> {
    device.block_on(device.self_test("distances", async { passes_self_test(device) }))
}

/// [`bricks`] by kernels that need not have passed their self-test.
fn measured_bricks(
    device: &Device,
    mesh: &PlacedMesh,
    width: f32,
    memory: u64,
    progress: &dyn Progress,
) -> Result<Vec<BandBrick>, BackendError> {
    let work = work(mesh, width, memory, progress)?;
    let blocks = Bricks::of_grid(mesh.lattice().dims).blocks(BLOCK);
    let bricks = u64::from(BLOCK_BRICKS) * blocks.min(BATCH_BLOCKS);
    let words = bricks * u64::from(BRICK_VOXELS);
    let buffer = |label, words| device.checked_buffer(label, words, Usage::STORAGE);
    let found_bits = buffer("found bits", words)?;
    let records = bricks * (size_of::<Record>() / size_of::<u32>()) as u64;
    let list = BandList {
        counts: buffer("counts", COUNT_WORDS)?,
        records: buffer("records", records)?,
        values: buffer("values", words)?,
        staging: device.staging(words),
        bricks: Vec::new(),
    };
    let staging = device.staging(COUNT_WORDS + records);
    let mut measuring = Measuring::new(device, &work, found_bits, staging)?;
    measuring.list = Some(list);
    measuring.run()?;
    Ok(measuring.list.map(|list| list.bricks).unwrap_or_default())
}

/// Measures distances into a zeroed buffer with `row` words for each row of voxels along x: the
/// complement of each distance's bits, or 0 outside the band.
///
/// # Errors
/// As [`bricks`].
pub(crate) fn measure_rows(
    device: &Device,
    (found_bits, row): (&wgpu::Buffer, u32),
    mesh: &PlacedMesh,
    width: f32,
    memory: u64,
    progress: &dyn Progress,
) -> Result<(), BackendError> {
    let work = work(mesh, width, memory, progress)?;
    let mut measuring = Measuring::new(device, &work, found_bits.clone(), device.staging(1))?;
    measuring.row = row;
    measuring.run()
}

/// Prepares the work, and reserves the memory of the batches.
fn work<'a>(
    mesh: &'a PlacedMesh,
    width: f32,
    memory: u64,
    progress: &'a dyn Progress,
) -> Result<Work<'a>, BackendError> {
    // Bytes of a triangle and its cluster, and their copies for the upload; a block may be near to
    // all.
    let of_triangle = 2 * (size_of::<Triangle>() + size_of::<Cluster>() + size_of::<u32>());
    Work::new(mesh, width, memory, (mesh.len() * of_triangle) as u64 + BATCH_BYTES, progress)
}

/// Words of the numbers of records and of values.
const COUNT_WORDS: u64 = 2;

/// Blocks that are measured together.
#[derive(Default)]
struct Batch {
    blocks: Vec<Bricks>,
    items: Vec<Item>,
    /// Indices of clusters, block by block.
    near: Vec<u32>,
}

impl Batch {
    fn is_full(&self) -> bool {
        self.blocks.len() as u64 == BATCH_BLOCKS || self.near.len() >= BATCH_CLUSTERS
    }

    fn add(&mut self, block: Bricks, near: &[u32]) {
        let ([x, y, z], slot) = (block.from.map(|c| c / BLOCK), self.blocks.len() as u32);
        let bounding = self.near.len() as u32;
        let bounding_end = bounding + near.len() as u32;
        let step = near.len().div_ceil(BOUNDING_CLUSTERS) as u32;
        self.blocks.push(block);
        for near in near.chunks(ITEM_CLUSTERS) {
            let first = self.near.len() as u32;
            self.near.extend_from_slice(near);
            let end = self.near.len() as u32;
            let xy = x | y << 16;
            self.items.push(Item { xy, z, slot, bounding, bounding_end, step, first, end });
        }
    }
}

struct Measuring<'a> {
    work: &'a Work<'a>,
    device: &'a Device,
    triangles: wgpu::Buffer,
    clusters: wgpu::Buffer,
    found_bits: wgpu::Buffer,
    /// Words of a row of `found_bits` along x; 0 if it holds the blocks of a batch.
    row: u32,
    /// Reads the bricks of each batch back.
    list: Option<BandList>,
    /// The counts and the records of a batch, or one word without a list. Its mapping signals the
    /// end of the batch.
    staging: wgpu::Buffer,
    batch: Batch,
    /// The blocks of the submitted batch, and the mapping of its staging buffer.
    in_flight: Option<(Vec<Bricks>, Mapping<'a>)>,
}

/// The bricks of the band so far, and the buffers to read back a batch.
struct BandList {
    counts: wgpu::Buffer,
    records: wgpu::Buffer,
    values: wgpu::Buffer,
    /// For the values.
    staging: wgpu::Buffer,
    bricks: Vec<BandBrick>,
}

impl<'a> Measuring<'a> {
    fn new(
        device: &'a Device,
        work: &'a Work<'a>,
        found_bits: wgpu::Buffer,
        staging: wgpu::Buffer,
    ) -> Result<Self, BackendError> {
        let mesh = work.mesh;
        let words = mesh.len() * size_of::<Triangle>() / size_of::<u32>();
        let triangles = device.checked_buffer("triangles", words as u64, Usage::STORAGE)?;
        let in_order = work.clusters.all_triangles.par_iter();
        let corners: Vec<Triangle> = in_order.map(|&index| mesh.triangle(index as usize)).collect();
        device.queue.write_buffer(&triangles, 0, bytemuck::cast_slice(&corners));
        drop(corners);
        let cluster = |cluster| {
            let (bounds, range) = (work.clusters.bounds(cluster), work.clusters.range(cluster));
            Cluster { lo: bounds.lo, first: range.start, hi: bounds.hi, end: range.end }
        };
        let boxes: Vec<Cluster> = (0..work.clusters.len()).map(cluster).collect();
        let clusters = device.filled("clusters", bytemuck::cast_slice(&boxes), Usage::STORAGE)?;
        Ok(Self {
            work,
            device,
            triangles,
            clusters,
            found_bits,
            row: 0,
            list: None,
            staging,
            batch: Batch::default(),
            in_flight: None,
        })
    }

    fn run(&mut self) -> Result<(), BackendError> {
        self.visit(Bricks::of_grid(self.work.mesh.lattice().dims), self.work.all())?;
        self.submit()?;
        self.receive()
    }

    /// Culls `bricks`, which only the clusters `near` are near, and submits the batches that they
    /// fill.
    fn visit(&mut self, bricks: Bricks, near: Vec<u32>) -> Result<(), BackendError> {
        let work = self.work;
        let halves = bricks.halves(BLOCK);
        let blocks = bricks.blocks(BLOCK);
        let is_large = blocks > BATCH_BLOCKS || blocks * near.len() as u64 > CULLED_CLUSTERS;
        if let Some([before, after]) = halves.filter(|_| is_large && !near.is_empty()) {
            let near_half = |half: &Bricks| work.near(half, &near);
            let (first, second) = rayon::join(|| near_half(&before), || near_half(&after));
            drop(near);
            self.visit(before, first)?;
            return self.visit(after, second);
        }
        let all = |block, near| Ok(Some((block, near)));
        for (block, near) in work.divide(bricks, near, BLOCK, &all)? {
            self.batch.add(block, &near);
            if self.batch.is_full() {
                self.submit()?;
            }
        }
        Ok(())
    }

    /// Receives the batch in flight, then submits the next.
    fn submit(&mut self) -> Result<(), BackendError> {
        self.receive()?;
        check_cancelled(self.work.progress)?;
        let Batch { blocks, items, near } = std::mem::take(&mut self.batch);
        if blocks.is_empty() {
            return Ok(());
        }
        let device = self.device;
        let bricks = blocks.len() as u32 * BLOCK_BRICKS;
        let near = device.filled("near clusters", bytemuck::cast_slice(&near), Usage::STORAGE)?;
        let mut encoder = device.encoder();
        if let Some(list) = &self.list {
            encoder.clear_buffer(&self.found_bits, 0, Some(4 * u64::from(bricks * BRICK_VOXELS)));
            encoder.clear_buffer(&list.counts, 0, None);
        }
        let mut clusters = 0;
        let share_a_submission = |item: &Item, _: &Item| {
            clusters += (item.end - item.first) as usize;
            let is_full = clusters >= SUBMITTED_CLUSTERS;
            clusters = if is_full { 0 } else { clusters };
            !is_full
        };
        for items in items.chunk_by(share_a_submission) {
            self.measure(&mut encoder, items, &near)?;
            let full = std::mem::replace(&mut encoder, device.encoder());
            device.queue.submit([full.finish()]);
        }
        let bytes = self.list.as_ref().map_or(4, |_| record_bytes(&blocks));
        match &self.list {
            Some(list) => {
                let params = self.params(0, bricks)?;
                list.record(device, &mut encoder, [&params, &self.found_bits], bricks)?;
                let counts = 4 * COUNT_WORDS;
                encoder.copy_buffer_to_buffer(&list.counts, 0, &self.staging, 0, counts);
                let (records, size) = (&list.records, bytes - counts);
                encoder.copy_buffer_to_buffer(records, 0, &self.staging, counts, size);
            }
            None => encoder.clear_buffer(&self.staging, 0, None),
        }
        let mapping = device.submit(encoder, &self.staging, bytes);
        self.in_flight = Some((blocks, mapping));
        Ok(())
    }

    fn params(&self, items: u32, bricks: u32) -> Result<wgpu::Buffer, BackendError> {
        let params = MeasureParams {
            items,
            bricks,
            row: self.row,
            ..MeasureParams::new(self.work.mesh.lattice(), self.work.width)
        };
        Ok(self.device.filled("params", bytemuck::bytes_of(&params), Usage::UNIFORM)?)
    }

    fn measure(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        items: &[Item],
        near: &wgpu::Buffer,
    ) -> Result<(), BackendError> {
        let device = self.device;
        let params = self.params(items.len() as u32, 0)?;
        let groups = items.len() as u32 * BLOCK_CELLS;
        let items = device.filled("items", bytemuck::cast_slice(items), Usage::STORAGE)?;
        let buffers = [
            ("params", &params),
            ("items", &items),
            ("near", near),
            ("clusters", &self.clusters),
            ("triangles", &self.triangles),
            ("found_bits", &self.found_bits),
        ];
        Ok(device.record(encoder, kernels::MEASURE, &buffers, groups)?)
    }

    /// Waits for the batch in flight, if there is one, and adds its bricks to the list.
    fn receive(&mut self) -> Result<(), BackendError> {
        let Some((blocks, mapping)) = self.in_flight.take() else {
            return Ok(());
        };
        let (device, work) = (self.device, self.work);
        device.block_on(mapping)?;
        match &mut self.list {
            Some(list) => list.receive(device, work, &self.staging, &blocks)?,
            None => self.staging.unmap(),
        }
        blocks.iter().for_each(|block| work.finish(block));
        Ok(())
    }
}

impl BandList {
    /// Records the compaction of a batch of `bricks`.
    fn record(
        &self,
        device: &Device,
        encoder: &mut wgpu::CommandEncoder,
        [params, found_bits]: [&wgpu::Buffer; 2],
        bricks: u32,
    ) -> Result<(), BackendError> {
        let buffers = [
            ("params", params),
            ("found_bits", found_bits),
            ("counts", &self.counts),
            ("records", &self.records),
            ("values", &self.values),
        ];
        Ok(device.record(encoder, kernels::COMPACT, &buffers, bricks)?)
    }

    /// Adds the bricks of `blocks`, whose counts and records are in `staging`, which is mapped.
    fn receive(
        &mut self,
        device: &Device,
        work: &Work,
        staging: &wgpu::Buffer,
        blocks: &[Bricks],
    ) -> Result<(), BackendError> {
        let (records, values) = device.mapped(staging, record_bytes(blocks), read_records)?;
        let records = checked(records, values, blocks).ok_or_else(|| {
            BackendError::Failed("the bricks of the band do not match their distances".into())
        })?;
        if values == 0 {
            return Ok(());
        }
        let bytes = 4 * u64::from(values);
        let mut encoder = device.encoder();
        encoder.copy_buffer_to_buffer(&self.values, 0, &self.staging, 0, bytes);
        device.block_on(device.submit(encoder, &self.staging, bytes))?;
        let brick = |record: &Record, values: &[u8]| {
            let own = &values[4 * record.first as usize..][..4 * record.values() as usize];
            work.claim(record.key(blocks), record.mask(), bytemuck::pod_collect_to_vec(own))
        };
        let bricks: Result<Vec<_>, _> = device.mapped(&self.staging, bytes, |values| {
            let kept = |record| brick(record, values).transpose();
            records.par_iter().filter_map(kept).collect()
        })?;
        self.bricks.extend(bricks?);
        Ok(())
    }
}

impl MeasureParams {
    /// Without items, bricks and rows.
    pub(crate) fn new(lattice: &Lattice, width: f32) -> Self {
        Self {
            dims: lattice.dims,
            fraction_bits: lattice.fraction_bits,
            width: (width * lattice.units_per_voxel() as f32).next_up(),
            width_bits: width.to_bits(),
            max_groups: MAX_GROUPS,
            ..Self::zeroed()
        }
    }
}

impl Record {
    /// The key of its brick, in a batch of `blocks`.
    fn key(&self, blocks: &[Bricks]) -> BrickKey {
        let (block, brick) = (self.brick / BLOCK_BRICKS, self.brick % BLOCK_BRICKS);
        let within = [brick / (BLOCK * BLOCK), brick / BLOCK % BLOCK, brick % BLOCK];
        let from = blocks[block as usize].from;
        BrickKey::new([0, 1, 2].map(|a| from[a] + within[a]))
    }

    fn mask(&self) -> Mask {
        std::array::from_fn(|x| u64::from(self.mask[2 * x]) | u64::from(self.mask[2 * x + 1]) << 32)
    }

    /// The number of its values.
    fn values(&self) -> u32 {
        count(&self.mask())
    }
}

/// Bytes of the counts and the records of a batch.
fn record_bytes(blocks: &[Bricks]) -> u64 {
    4 * COUNT_WORDS + (blocks.len() * BLOCK_BRICKS as usize * size_of::<Record>()) as u64
}

/// The records that are listed, and the number of values.
fn read_records(bytes: &[u8]) -> (Vec<Record>, u32) {
    let (counts, records) = bytes.split_at(4 * COUNT_WORDS as usize);
    let counts: [u32; COUNT_WORDS as usize] = bytemuck::pod_read_unaligned(counts);
    let records = records.chunks_exact(size_of::<Record>()).take(counts[0] as usize);
    (records.map(bytemuck::pod_read_unaligned).collect(), counts[1])
}

/// The records in the order of their values, if each value belongs to one record, and each record
/// to another brick of `blocks`.
fn checked(mut records: Vec<Record>, values: u32, blocks: &[Bricks]) -> Option<Vec<Record>> {
    records.par_sort_unstable_by_key(|record| record.first);
    let mut is_listed = vec![false; blocks.len() * BLOCK_BRICKS as usize];
    let mut end = 0;
    for record in &records {
        let is_listed = is_listed.get_mut(record.brick as usize)?;
        if record.first != end || std::mem::replace(is_listed, true) {
            return None;
        }
        end += record.values();
    }
    (end == values).then_some(records)
}

/// Whether `device` measures built-in meshes as the CPU does. This detects drivers that miscompile
/// the kernels.
fn passes_self_test(device: &Device) -> Result<bool, BackendError> {
    // With many triangles near a cell, and with few, among which the bounds decide.
    let dense = (adversarial_mesh([12, 13, 14], &[(100, 8), (4, 23)]), 3.0);
    let sparse = (adversarial_mesh([28, 29, 30], &[(24, 8), (4, 55)]), 9.0);
    for (mesh, width) in [dense, sparse] {
        let mut known = Work::new(&mesh, width, u64::MAX, 0, &NoProgress)?.bricks()?;
        let mut found = match measured_bricks(device, &mesh, width, u64::MAX, &NoProgress) {
            Err(BackendError::Failed(_)) => return Ok(false),
            found => found?,
        };
        for bricks in [&mut known, &mut found] {
            bricks.sort_unstable_by_key(|&(key, ..)| key);
        }
        if known != found {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::gpu::{GpuError, promised};

    /// Each fault: the replaced text in the kernel with its imports.
    const FAULTS: [(&str, &str); 18] = [
        // Faults of a triangle: an edge or the plane is left out, corners are exchanged.
        ("|| !is_dot_at_most_0(normal, exact_cross(a, a - b))", ""),
        ("is_above = false;", ""),
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
        ("(cluster.first, cluster.end)", "(cluster.first, cluster.first + 1u)"),
        ("min(most + 2.0 * radius, params.width + radius)", "min(most, params.width)"),
        ("is_near |= u32", "is_near = u32"),
        ("first += 32u", "first += 64u"),
        // One of two almost equal distances is dropped.
        ("!is_same(squared, (*nearest).squared)", "false"),
        ("first + place, params.row", "place, params.row"),
    ];
    /// Faults planted in the kernel that compacts.
    const COMPACTING_FAULTS: [(&str, &str); 4] = [
        ("< params.width_bits", "<= params.width_bits + 1000000u"),
        ("atomicAdd(&counts[1], count)", "atomicAdd(&counts[1], count - 1u)"),
        ("+ countOneBits(before)", ""),
        (".brick = brick;", ".brick = brick ^ 1u;"),
    ];

    #[test]
    fn a_kernel_that_measures_wrong_distances_is_refused() {
        let adapters = promised().into_iter();
        let Some(adapter) = adapters.max_by_key(|adapter| adapter.label().contains("llvmpipe"))
        else {
            return;
        };
        let mesh = adversarial_mesh([9, 8, 7], &[(4, 9)]);
        let measure = |device: &Device| bricks(device, &mesh, 2.0, u64::MAX, &NoProgress);
        measure(&adapter.open().unwrap()).unwrap();
        let faults = FAULTS.map(|fault| (kernels::MEASURE, fault)).into_iter();
        let compacting = COMPACTING_FAULTS.map(|fault| (kernels::COMPACT, fault));
        for (kernel, (right, wrong)) in faults.chain(compacting) {
            let device = adapter.open().unwrap();
            device.plant(kernel, &[], right, wrong);
            match measure(&device) {
                Err(BackendError::Gpu(error @ GpuError::SelfTest { .. })) => {
                    println!("{right}: {error}")
                }
                other => panic!("{right}: not refused: {:?}", other.map(|bricks| bricks.len())),
            }
            // The outcome is kept.
            assert!(measure(&device).is_err(), "{right}");
        }
    }
}
