//! An open device: its errors, pipelines and buffers, and readback.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll, Waker};

use wgpu::BufferUsages as Usage;

use crate::base::lock;
use crate::gpu::adapter::{driver, label};
use crate::gpu::error::GpuError;
use crate::gpu::pipeline::{Constants, Pipeline};
use crate::gpu::{Kernel, MAX_GROUPS};

/// The error of a lost device.
const LOST: &str = "the device was lost";

/// Timeout of one wait on hardware; drivers reset a hung GPU within seconds.
const TIMEOUT: std::time::Duration = std::time::Duration::from_secs(120);

/// Cache of compiled kernels, by name and pipeline constants.
type Pipelines = HashMap<(&'static str, Constants), Arc<OnceLock<Arc<Pipeline>>>>;

/// An open device: one that [`Adapter::open`](crate::gpu::Adapter::open) opened, or
/// [one of yours](Self::from_wgpu). Its errors are asynchronous; the next [`check`](Self::check)
/// returns them.
#[derive(Debug, Clone)]
pub struct Device {
    /// The device.
    pub device: wgpu::Device,
    /// Its queue.
    pub queue: wgpu::Queue,
    /// The first error that it reported.
    fault: Arc<OnceLock<String>>,
    /// The longest wait; `None` for a software adapter, which may be slow.
    #[cfg_attr(target_arch = "wasm32", expect(dead_code, reason = "nothing blocks there"))]
    timeout: Option<std::time::Duration>,
    pipelines: Arc<Mutex<Pipelines>>,
    /// The results of past self-tests, by subject: whether the kernels are correct.
    tested: Arc<Mutex<HashMap<String, bool>>>,
}

fn is_software(device: &wgpu::Device) -> bool {
    device.adapter_info().device_type == wgpu::DeviceType::Cpu
}

impl Device {
    /// A device that this library opened: all its errors are this library's.
    pub(super) fn opened(device: wgpu::Device, queue: wgpu::Queue) -> Self {
        let opened = Self::over(device, queue);
        let reported = opened.fault.clone();
        opened.device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            _ = reported.set(error.to_string());
        }));
        let reported = opened.fault.clone();
        opened.device.set_device_lost_callback(move |reason, message| {
            _ = reported.set(format!("{LOST} ({reason:?}): {message}"));
        });
        opened
    }

    fn over(device: wgpu::Device, queue: wgpu::Queue) -> Self {
        let (fault, pipelines, tested) = Default::default();
        let timeout = (!is_software(&device)).then_some(TIMEOUT);
        Self { device, queue, fault, timeout, pipelines, tested }
    }

    /// Returns the first error that the device reported, if any.
    ///
    /// # Errors
    /// The device was lost, ran out of memory, or reported a validation error.
    pub fn check(&self) -> Result<(), GpuError> {
        self.fault.get().map_or(Ok(()), |message| Err(GpuError::Device(message.clone())))
    }

    /// The label of its [adapter](crate::gpu::Adapter::label).
    #[must_use]
    pub fn label(&self) -> String {
        label(&self.device.adapter_info())
    }

    /// Whether it is implemented in software, on the CPU.
    #[must_use]
    pub fn is_software(&self) -> bool {
        is_software(&self.device)
    }

    /// The driver's name and version.
    pub(crate) fn driver(&self) -> String {
        driver(&self.device.adapter_info())
    }

    /// Runs the self-test of the kernels of `what`, once per device: `test` returns whether they
    /// are correct. Concurrent callers may each run it.
    ///
    /// # Errors
    /// [`GpuError::SelfTest`]; an error of `test`.
    pub(crate) async fn self_test<E: From<GpuError>>(
        &self,
        what: &str,
        test: impl Future<Output = Result<bool, E>>,
    ) -> Result<(), E> {
        let known = lock(&self.tested).get(what).copied();
        let is_right = match known {
            Some(is_right) => is_right,
            None => test.await?,
        };
        lock(&self.tested).insert(what.to_owned(), is_right);
        if is_right {
            return Ok(());
        }
        Err(GpuError::SelfTest { what: what.to_owned(), driver: self.driver() }.into())
    }

    /// A compiled kernel from the cache; compiled on first use with these constants. Threads
    /// compile different kernels at the same time.
    pub(crate) fn pipeline(&self, kernel: Kernel, constants: Constants) -> Arc<Pipeline> {
        let cached = lock(&self.pipelines).entry((kernel.name(), constants)).or_default().clone();
        let compile = || Arc::new(Pipeline::new(&self.device, kernel, kernel.source(), constants));
        cached.get_or_init(compile).clone()
    }

    /// Compiles the kernels that are not in the cache, each in a thread of its own: rayon's may
    /// begin other work in the error scopes of the caller.
    pub(crate) fn compile(
        &self,
        kernels: impl IntoIterator<Item = (Kernel, Constants)>,
    ) -> Result<(), GpuError> {
        let is_compiled = |(kernel, constants): &(Kernel, Constants)| {
            let pipelines = lock(&self.pipelines);
            pipelines.get(&(kernel.name(), *constants)).is_some_and(|cached| cached.get().is_some())
        };
        let missing = kernels.into_iter().filter(|kernel| !is_compiled(kernel));
        #[cfg(target_arch = "wasm32")]
        missing.for_each(|(kernel, constants)| drop(self.pipeline(kernel, constants)));
        #[cfg(not(target_arch = "wasm32"))]
        std::thread::scope(|scope| {
            for (kernel, constants) in missing {
                let compile = move || self.in_scopes(|| drop(self.pipeline(kernel, constants)));
                // If no thread can be started, the kernel is compiled at its first use.
                _ = std::thread::Builder::new().spawn_scoped(scope, compile);
            }
        });
        self.check()
    }

    /// Replaces `right` by `wrong` in a kernel, as a faulty driver would.
    #[cfg(test)]
    pub(crate) fn plant(&self, kernel: Kernel, constants: Constants, right: &str, wrong: &str) {
        let source = kernel.source();
        assert!(source.contains(right), "{} has no {right}", kernel.name());
        let source = source.replace(right, wrong);
        let pipeline = Arc::new(Pipeline::new(&self.device, kernel, source, constants));
        lock(&self.pipelines).insert((kernel.name(), constants), Arc::new(pipeline.into()));
        assert_eq!(self.check(), Ok(()), "{}", kernel.name());
    }

    /// [`record_bound`](Self::record_bound) of whole buffers.
    pub(crate) fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        kernel: Kernel,
        buffers: &[(&str, &wgpu::Buffer)],
        groups: u32,
    ) -> Result<(), GpuError> {
        let named: Vec<_> =
            buffers.iter().map(|(name, buffer)| (*name, buffer.as_entire_binding())).collect();
        self.record_bound(encoder, kernel, &named, groups)
    }

    /// Records a dispatch of `kernel` with `groups` workgroups in a pass of its own. `named` has a
    /// resource for the name of each of its bindings.
    pub(crate) fn record_bound(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        kernel: Kernel,
        named: &[(&str, wgpu::BindingResource)],
        groups: u32,
    ) -> Result<(), GpuError> {
        let pipeline = self.pipeline(kernel, &[]);
        self.check()?;
        let bound = pipeline.bind(&self.device, named)?;
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pipeline.set(&mut pass, &bound);
        dispatch(&mut pass, groups, MAX_GROUPS);
        Ok(())
    }

    pub(crate) fn encoder(&self) -> wgpu::CommandEncoder {
        self.device.create_command_encoder(&Default::default())
    }

    /// A zeroed buffer of `words` 4-byte words, at least one.
    #[must_use]
    pub fn buffer(&self, label: &str, words: u64, usage: Usage) -> wgpu::Buffer {
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            size: 4 * words.max(1),
            usage,
            mapped_at_creation: false,
        })
    }

    /// A zeroed buffer of `words` words that can be copied from and to.
    ///
    /// # Errors
    /// The size exceeds the device's binding limit; the device failed.
    pub(crate) fn checked_buffer(
        &self,
        label: &'static str,
        words: u64,
        usage: Usage,
    ) -> Result<wgpu::Buffer, GpuError> {
        let limit = buffer_limit(&self.device.limits());
        let size = 4 * words;
        if size > limit {
            return Err(GpuError::TooLarge { what: label, size, limit });
        }
        let buffer = self.buffer(label, words, usage | Usage::COPY_DST | Usage::COPY_SRC);
        self.check()?;
        Ok(buffer)
    }

    /// A buffer initialized with `bytes`, whose length is a multiple of 4.
    pub(crate) fn filled(
        &self,
        label: &'static str,
        bytes: &[u8],
        usage: Usage,
    ) -> Result<wgpu::Buffer, GpuError> {
        let buffer = self.checked_buffer(label, bytes.len() as u64 / 4, usage)?;
        self.queue.write_buffer(&buffer, 0, bytes);
        self.check()?;
        Ok(buffer)
    }

    /// A staging buffer to read back `words` words.
    pub(crate) fn staging(&self, words: u64) -> wgpu::Buffer {
        self.buffer("staging", words, Usage::MAP_READ | Usage::COPY_DST)
    }

    /// Submits `encoder`, which writes `staging`. The future completes when it is executed and
    /// `staging[..bytes]` is mapped.
    pub(crate) fn submit(
        &self,
        encoder: wgpu::CommandEncoder,
        staging: &wgpu::Buffer,
        bytes: u64,
    ) -> Mapping<'_> {
        self.queue.submit([encoder.finish()]);
        let mapped = Arc::new(Mutex::new(Mapped::default()));
        let shared = mapped.clone();
        staging.map_async(wgpu::MapMode::Read, ..bytes, move |result| {
            let mut mapped = lock(&shared);
            mapped.result = Some(result.map_err(|e| e.to_string()));
            if let Some(waker) = mapped.waker.take() {
                waker.wake();
            }
        });
        Mapping { device: self, mapped }
    }

    /// Calls `read` on `staging[..bytes]`, which is mapped, and unmaps it.
    pub(crate) fn mapped<T>(
        &self,
        staging: &wgpu::Buffer,
        bytes: u64,
        read: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, GpuError> {
        let view =
            staging.get_mapped_range(..bytes).map_err(|e| GpuError::Device(e.to_string()))?;
        let result = read(&view);
        drop(view);
        staging.unmap();
        Ok(result)
    }

    /// The words of `buffer`, after the commands so far.
    pub(crate) async fn contents(&self, buffer: &wgpu::Buffer) -> Result<Vec<u32>, GpuError> {
        let staging = self.staging(buffer.size() / 4);
        let mut encoder = self.encoder();
        encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, buffer.size());
        self.submit_and_read_async(encoder, &staging).await
    }

    /// Submits `encoder`, and returns the contents of `staging` afterwards, as `u32` words.
    ///
    /// # Errors
    /// The commands are invalid; the device failed.
    pub async fn submit_and_read_async(
        &self,
        encoder: wgpu::CommandEncoder,
        staging: &wgpu::Buffer,
    ) -> Result<Vec<u32>, GpuError> {
        let read = async {
            self.submit(encoder, staging, staging.size()).await?;
            self.mapped(staging, staging.size(), bytemuck::pod_collect_to_vec)
        };
        self.scoped(read).await
    }
}

/// Errors of this library's own work. On native targets they are caught in error scopes, which see
/// the calls of one thread: a device may be shared with other code. In a browser the device is
/// always this library's, and its handler sees them.
impl Device {
    /// Calls `work`, and returns the first error of the device, which may be an older one.
    pub(crate) fn in_scopes<T>(&self, work: impl FnOnce() -> T) -> Result<T, GpuError> {
        #[cfg(target_arch = "wasm32")]
        let result = work();
        #[cfg(not(target_arch = "wasm32"))]
        let result = {
            let (result, error) = self.caught(work);
            error.iter().for_each(|error| self.fail(error));
            result
        };
        self.check().map(|()| result)
    }

    /// [`in_scopes`](Self::in_scopes) for work on read-only buffers of the caller: a validation
    /// error is returned, and does not fail the device.
    pub(crate) fn in_scopes_of_caller<T>(&self, work: impl FnOnce() -> T) -> Result<T, GpuError> {
        #[cfg(target_arch = "wasm32")]
        return self.in_scopes(work);
        #[cfg(not(target_arch = "wasm32"))]
        match self.caught(work) {
            (_, Some(error @ wgpu::Error::Validation { .. })) if !self.is_lost() => {
                Err(GpuError::Device(error.to_string()))
            }
            (result, error) => {
                error.iter().for_each(|error| self.fail(error));
                self.check().map(|()| result)
            }
        }
    }

    /// Sets the fault, if it is the first.
    #[cfg(not(target_arch = "wasm32"))]
    fn fail(&self, error: &wgpu::Error) {
        let is_lost = self.is_lost();
        _ = self.fault.set(if is_lost { LOST.into() } else { error.to_string() });
    }

    /// Calls `work`, and catches its errors. Returns the first of the kind that explains most: a
    /// lack of memory before the invalid calls that follow from it.
    #[cfg(not(target_arch = "wasm32"))]
    fn caught<T>(&self, work: impl FnOnce() -> T) -> (T, Option<wgpu::Error>) {
        use wgpu::ErrorFilter::{Internal, OutOfMemory, Validation};
        let scopes =
            [Validation, Internal, OutOfMemory].map(|filter| self.device.push_error_scope(filter));
        let result = work();
        // Ready at once.
        let errors = scopes.into_iter().rev().map(|scope| pollster::block_on(scope.pop()));
        (result, errors.fold(None, Option::or))
    }

    /// Whether the device is lost. It reports this to one callback only, which is the renderer's;
    /// but a write to a new buffer is invalid on it.
    #[cfg(not(target_arch = "wasm32"))]
    fn is_lost(&self) -> bool {
        let write =
            || self.queue.write_buffer(&self.buffer("probe", 1, Usage::COPY_DST), 0, &[0; 4]);
        matches!(self.caught(write).1, Some(wgpu::Error::Validation { .. }))
    }

    /// [`in_scopes`](Self::in_scopes) for every poll of a future.
    pub(crate) async fn scoped<T, E: From<GpuError>>(
        &self,
        future: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let mut future = std::pin::pin!(future);
        let poll = |context: &mut Context<'_>| {
            self.in_scopes(|| future.as_mut().poll(context))
                .unwrap_or_else(|error| Poll::Ready(Err(error.into())))
        };
        std::future::poll_fn(poll).await
    }
}

/// Blocking forms, and devices of other code, for native targets.
#[cfg(not(target_arch = "wasm32"))]
impl Device {
    /// A device of yours, such as that of a renderer: its pipelines can then bind the buffers that
    /// trivox makes, and nothing is copied. Make it of the version of wgpu that this crate exports
    /// as [`trivox::wgpu`](crate::wgpu).
    ///
    /// The limits that your device was requested with bound the size of buffers: request those of
    /// the adapter for large meshes. Your handlers of uncaptured errors and of a lost device stay
    /// as they are, and see no error of a call of trivox that returns a `Result`. After a
    /// [`GpuError::Device`], wrap the device again, or a new one if it was lost.
    ///
    /// Make its instance without [`VALIDATION_INDIRECT_CALL`], a default of wgpu also in release
    /// builds: it adds a dispatch to each indirect one, to check numbers of workgroups that trivox
    /// keeps within the limits. On DX12 the built-in `num_workgroups` is then 0 in shaders of yours
    /// that are dispatched indirectly; trivox does not use it.
    ///
    /// [`VALIDATION_INDIRECT_CALL`]: wgpu::InstanceFlags::VALIDATION_INDIRECT_CALL
    ///
    /// Other threads may use the device and the queue at the same time. A thread that waits in
    /// trivox polls the device, which calls callbacks of yours that are due, such as those of
    /// `map_async`.
    ///
    /// # Errors
    /// A limit that the device was requested with is too low for the kernels. The defaults of wgpu
    /// suffice.
    pub fn from_wgpu(device: wgpu::Device, queue: wgpu::Queue) -> Result<Self, GpuError> {
        crate::gpu::adapter::check(&device.adapter_info(), &device.limits())?;
        Ok(Self::over(device, queue))
    }

    /// The blocking form of [`submit_and_read_async`](Self::submit_and_read_async).
    pub fn submit_and_read(
        &self,
        encoder: wgpu::CommandEncoder,
        staging: &wgpu::Buffer,
    ) -> Result<Vec<u32>, GpuError> {
        self.block_on(self.submit_and_read_async(encoder, staging))
    }

    /// Runs a future to completion that waits for nothing but this device.
    ///
    /// # Errors
    /// The future's; the device failed, or did not respond within two minutes.
    pub fn block_on<T, E: From<GpuError>>(
        &self,
        future: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let mut future = std::pin::pin!(future);
        let mut context = Context::from_waker(Waker::noop());
        loop {
            if let Poll::Ready(result) = future.as_mut().poll(&mut context) {
                return result;
            }
            let wait = wgpu::PollType::Wait { submission_index: None, timeout: self.timeout };
            if let Err(error) = self.device.poll(wait) {
                self.check()?;
                let why = match (error, self.timeout) {
                    (wgpu::PollError::Timeout, Some(timeout)) => {
                        format!("it did not respond within {timeout:?}; it may be hung")
                    }
                    (error, _) => error.to_string(),
                };
                // The device counts as failed, so that no later call waits for it.
                _ = self.fault.set(why);
            }
            self.check()?;
        }
    }
}

/// A browser cannot block.
#[cfg(target_arch = "wasm32")]
impl Device {
    /// An error.
    pub(crate) fn block_on<T, E>(
        &self,
        _: impl Future<Output = Result<T, E>>,
    ) -> Result<T, GpuError> {
        Err(GpuError::Device("a browser cannot wait for it: use `render_async`".into()))
    }
}

/// The largest buffer that a kernel reads or writes, in bytes: below 2^31 on every system, so that
/// kernels can count its bytes.
pub(crate) fn buffer_limit(limits: &wgpu::Limits) -> u64 {
    let most = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
    most.min(i32::MAX as u64)
}

/// Dispatches `groups` workgroups, two-dimensional if there are more than `most`. The linear index
/// of a workgroup is `y * most + x`.
pub(crate) fn dispatch(pass: &mut wgpu::ComputePass, groups: u32, most: u32) {
    pass.dispatch_workgroups(groups.min(most), groups.div_ceil(most), 1);
}

/// The state of a buffer mapping in progress.
#[derive(Default)]
struct Mapped {
    result: Option<Result<(), String>>,
    waker: Option<Waker>,
}

/// Completes when a submission is executed and its staging buffer is mapped.
pub(crate) struct Mapping<'a> {
    device: &'a Device,
    mapped: Arc<Mutex<Mapped>>,
}

impl Future for Mapping<'_> {
    type Output = Result<(), GpuError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // A browser polls the device itself.
        #[cfg(not(target_arch = "wasm32"))]
        if let Err(error) = self.device.device.poll(wgpu::PollType::Poll) {
            self.device.check()?;
            return Poll::Ready(Err(GpuError::Device(error.to_string())));
        }
        self.device.check()?;
        let mut mapped = lock(&self.mapped);
        if let Some(result) = mapped.result.take() {
            return Poll::Ready(result.map_err(GpuError::Device));
        }
        mapped.waker = Some(context.waker().clone());
        drop(mapped);
        #[cfg(not(target_arch = "wasm32"))]
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::gpu::promised;

    /// A device of Vulkan: a wait on OpenGL cannot end early.
    fn open() -> Option<Device> {
        let mut adapters = promised();
        adapters.retain(|adapter| adapter.label().starts_with("vulkan"));
        let is_promised = std::env::var_os("TRIVOX_GPU").is_some();
        assert!(!is_promised || !adapters.is_empty(), "an adapter was promised");
        if adapters.is_empty() {
            println!("skipped: no adapter");
        }
        adapters.sort_by_key(|adapter| adapter.label().contains("SwiftShader"));
        adapters.first().map(|adapter| adapter.open().expect("it opens"))
    }

    #[test]
    fn a_wait_that_takes_too_long_is_an_error_that_names_the_limit() {
        let Some(device) = open() else { return };
        let device = Device { timeout: Some(Duration::from_millis(1)), ..device };
        // Copies of 4 GiB in all.
        let words = 1 << 24;
        let usage = Usage::COPY_SRC | Usage::COPY_DST;
        let [from, to] = ["from", "to"].map(|label| device.buffer(label, words, usage));
        let staging = device.staging(1);
        let mut encoder = device.encoder();
        for _ in 0..64 {
            encoder.copy_buffer_to_buffer(&from, 0, &to, 0, 4 * words);
        }
        encoder.copy_buffer_to_buffer(&to, 0, &staging, 0, 4);
        let read = device.submit_and_read(encoder, &staging);
        let error = read.expect_err("no time").to_string();
        assert_eq!(error, "the GPU failed: it did not respond within 1ms; it may be hung");
    }

    #[test]
    fn of_a_shared_device_each_sees_its_own_errors() {
        let Some(renderer) = open() else { return };
        let wrap = || Device::from_wgpu(renderer.device.clone(), renderer.queue.clone());
        let words = renderer.device.limits().max_buffer_size / 4 + 1;
        let shared = wrap().expect("its limits are those of the adapter");
        let made = shared.in_scopes(|| shared.buffer("too large", words, Usage::STORAGE));
        assert!(matches!(made, Err(GpuError::Device(_))), "{made:?}");
        assert_eq!(renderer.check(), Ok(()));

        let shared = wrap().expect("the error was not the renderer's");
        let (staging, mut encoder) = (shared.staging(1), shared.encoder());
        encoder.copy_buffer_to_buffer(&staging, 0, &staging, 0, 8);
        let read = shared.submit_and_read(encoder, &staging);
        assert!(matches!(read, Err(GpuError::Device(_))), "{read:?}");
        assert_eq!(renderer.check(), Ok(()));

        let shared = wrap().expect("the error was not the renderer's");
        let _ = renderer.buffer("too large", words, Usage::STORAGE);
        assert!(renderer.check().is_err());
        assert_eq!(shared.in_scopes(|| ()), Ok(()));
    }

    #[test]
    fn a_shared_device_that_is_lost_is_said_to_be() {
        let Some(renderer) = open() else { return };
        let wrap = || Device::from_wgpu(renderer.device.clone(), renderer.queue.clone());
        let upload = || {
            let shared = wrap().expect("its limits are those of the adapter");
            shared.in_scopes(|| shared.filled("small", &[0; 4], Usage::STORAGE)).map(|_| ())
        };
        assert_eq!(upload(), Ok(()));
        renderer.device.destroy();
        assert_eq!(upload(), Err(GpuError::Device("the device was lost".into())));
    }

    #[test]
    fn a_buffer_that_cannot_be_had_fails_the_device() {
        let Some(device) = open() else { return };
        let limit = device.device.limits().max_buffer_size;
        let _ = device.buffer("too large", limit / 4 + 1, Usage::STORAGE);
        let error = device.check().expect_err("too large");
        assert!(matches!(error, GpuError::Device(_)), "{error}");
        let Err(same) = device.filled("small", &[0; 4], Usage::STORAGE) else {
            panic!("a buffer of a failed device");
        };
        assert_eq!(same, error);
    }
}
