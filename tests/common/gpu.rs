//! The adapters to test on, and running one kernel on arrays of words.

use std::fmt::Debug;

use rayon::prelude::*;
use trivox::Gpu;
use trivox::backend::gpu::BatchLimits;
use trivox::gpu::kernels::{MODULES, resolve};
use trivox::gpu::{Adapter, Device};
use wgpu::BufferUsages as Usage;

use super::environment;

/// All usable adapters. Where `TRIVOX_GPU` is set it promises at least that many of them, and
/// fewer fail the test; otherwise a machine without any skips it, and says so.
pub fn adapters() -> Vec<Adapter> {
    let adapters: Vec<Adapter> = Adapter::all().into_iter().filter(|a| a.check().is_ok()).collect();
    let promised = environment::number("TRIVOX_GPU", 0);
    assert!(adapters.len() >= promised, "{promised} adapters promised, {adapters:?} found");
    if adapters.is_empty() {
        println!("skipped: no adapter");
    }
    adapters
}

/// The [`adapters`] without SwiftShader, which takes 15 times as long as the others: for what is
/// the host's work. Whether its compiler keeps the bits is tested by the oracles.
pub fn fast_adapters() -> Vec<Adapter> {
    adapters().into_iter().filter(|adapter| !adapter.label().contains("SwiftShader")).collect()
}

/// A GPU on each of these, with its label.
pub fn gpus(adapters: Vec<Adapter>) -> impl Iterator<Item = (String, Gpu)> {
    let open = |adapter: Adapter| (adapter.label(), Gpu::new(&adapter).expect("a GPU"));
    adapters.into_iter().map(open)
}

/// On the first of the [`fast_adapters`]: one is enough for the host's work.
pub fn fast_gpu() -> Option<Gpu> {
    gpus(fast_adapters()).next().map(|(_, gpu)| gpu)
}

/// Every how many cases of the small lattice are compared on the `nth` of the [`adapters`]: all
/// where
/// `TRIVOX_PAIRS` is set, or some on the first and fewer on the others.
pub fn lattice_stride(nth: usize) -> usize {
    match (environment::is_set("TRIVOX_PAIRS"), nth) {
        (true, _) => 1,
        (false, 0) => 13,
        (false, _) => 61,
    }
}

/// Everything in one part.
pub const UNLIMITED: BatchLimits = BatchLimits {
    triangles: u32::MAX,
    pairs: u32::MAX,
    bricks: u32::MAX,
    crossings: u32::MAX,
    candidates: u32::MAX,
    groups: u32::MAX,
};

/// The source, with its imports, of the shader module at `path`, such as `exact/touches`.
pub fn module(path: &str) -> String {
    resolve(MODULES.iter().find(|file| file.path == path).expect("a module"))
}

/// What the source of every test kernel ends with.
const INTERFACE: &str = "
@group(0) @binding(0) var<storage, read> input: array<i32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

fn vector_at(i: u32) -> vec3<i32> {
    return vec3<i32>(input[i], input[i + 1u], input[i + 2u]);
}
";

/// A compute pipeline from an array of words to another.
pub struct Kernel {
    /// The adapter's.
    pub label: String,
    device: Device,
    pipeline: wgpu::ComputePipeline,
}

/// The kernel on each of the [`adapters`].
pub fn kernels(source: &str) -> Vec<Kernel> {
    adapters().iter().map(|adapter| Kernel::new(adapter, source)).collect()
}

/// Invocations per workgroup of every test kernel.
const GROUP: usize = 64;

impl Kernel {
    fn new(adapter: &Adapter, source: &str) -> Self {
        let device = adapter.open().expect("the adapter opens");
        let pipeline = pipeline(&device, source.to_owned() + INTERFACE, None);
        Self { label: adapter.label(), device, pipeline }
    }

    /// Runs `count` invocations on `input`, each writing `words` words, and returns those.
    pub fn run(&self, input: &[i32], count: usize, words: usize) -> Vec<u32> {
        let device = &self.device;
        let out_words = (count * words) as u64;
        let inputs = device.buffer("input", input.len() as u64, Usage::STORAGE | Usage::COPY_DST);
        let outputs = device.buffer("output", out_words, Usage::STORAGE | Usage::COPY_SRC);
        device.queue.write_buffer(&inputs, 0, bytemuck::cast_slice(input));
        let group = device.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &self.pipeline.get_bind_group_layout(0),
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: inputs.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 1, resource: outputs.as_entire_binding() },
            ],
        });
        let groups = count.div_ceil(GROUP) as u32;
        dispatch(device, &self.pipeline, &[&group], [groups, 1, 1]);
        read_buffer(device, &outputs, out_words)
    }
}

/// The pipeline of the only entry point in `source`; without a `layout`, wgpu derives it.
pub fn pipeline(
    device: &Device,
    source: String,
    layout: Option<&wgpu::PipelineLayout>,
) -> wgpu::ComputePipeline {
    let module = device.device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(source.into()),
    });
    device.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout,
        module: &module,
        entry_point: None,
        compilation_options: Default::default(),
        cache: None,
    })
}

/// Runs `pipeline` in so many workgroups along each axis, with the bind groups `groups`.
pub fn dispatch(
    device: &Device,
    pipeline: &wgpu::ComputePipeline,
    groups: &[&wgpu::BindGroup],
    [x, y, z]: [u32; 3],
) {
    let mut encoder = device.device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(pipeline);
    (0..).zip(groups).for_each(|(index, group)| pass.set_bind_group(index, *group, &[]));
    pass.dispatch_workgroups(x, y, z);
    drop(pass);
    device.queue.submit([encoder.finish()]);
}

/// The first `words` words of a buffer.
pub fn read_buffer(device: &Device, buffer: &wgpu::Buffer, words: u64) -> Vec<u32> {
    let staging = device.buffer("staging", words, Usage::MAP_READ | Usage::COPY_DST);
    let mut encoder = device.device.create_command_encoder(&Default::default());
    encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, 4 * words);
    let mut read = device.submit_and_read(encoder, &staging).unwrap();
    read.truncate(words as usize);
    read
}

/// What the answers of a kernel to some cases came to.
#[derive(Debug, Clone)]
pub struct Tally<C> {
    /// The adapter's.
    pub label: String,
    pub compared: usize,
    /// How many first words have each bit set.
    pub set: [usize; 32],
    pub wrong: Vec<C>,
}

impl<C: Debug> Tally<C> {
    pub fn assert_right(&self) {
        let Self { label, compared, set, wrong } = self;
        println!("{label}: {compared} cases, of which have each bit set: {set:?}");
        let first = &wrong[..wrong.len().min(5)];
        assert!(wrong.is_empty(), "{label}: {} of {compared} are wrong: {first:?}", wrong.len());
    }
}

/// Runs `cases`, of `IN` words each, on each of `kernels`, and compares its answers, of `OUT`
/// words, with the expected ones: a tally for each kernel.
pub fn tallies<C: Copy + Sync, E: Send, const IN: usize, const OUT: usize>(
    kernels: &[Kernel],
    cases: impl Iterator<Item = C>,
    words: impl Fn(&C) -> [i32; IN],
    expected: impl Fn(&C) -> E + Sync,
    is_right: impl Fn(&E, &[u32; OUT]) -> bool,
) -> Vec<Tally<C>> {
    const BATCH: usize = 1 << 18;
    let tally = |label: String| Tally { label, compared: 0, set: [0; 32], wrong: Vec::new() };
    let mut tallies: Vec<_> = kernels.iter().map(|kernel| tally(kernel.label.clone())).collect();
    let mut cases = cases.peekable();
    while cases.peek().is_some() {
        let batch: Vec<C> = cases.by_ref().take(BATCH).collect();
        let input: Vec<i32> = batch.iter().flat_map(&words).collect();
        let expected: Vec<E> = batch.par_iter().map(&expected).collect();
        for (kernel, tally) in kernels.iter().zip(&mut tallies) {
            let answers = kernel.run(&input, batch.len(), OUT);
            let answers = answers.as_chunks::<OUT>().0;
            tally.compared += answers.len();
            for (bit, set) in tally.set.iter_mut().enumerate() {
                *set += answers.iter().filter(|answer| answer[0] >> bit & 1 == 1).count();
            }
            let compared = batch.iter().zip(&expected).zip(answers);
            let wrong = compared.filter(|((_, expected), answer)| !is_right(expected, answer));
            tally.wrong.extend(wrong.map(|((case, _), _)| *case));
        }
    }
    tallies
}
