//! The machine's adapters, and opening one of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::backend::gpu::data::{GROUP, Stage};
use crate::backend::gpu::stages::compute_pipeline;
use crate::error::BackendError;

/// Storage buffers that the stage with the most uses; the WebGPU default limit.
const STORAGE_BUFFERS: u32 = 8;

/// One way to reach a GPU, or a CPU that acts as one.
#[derive(Debug, Clone)]
pub struct Adapter {
    adapter: wgpu::Adapter,
    info: wgpu::AdapterInfo,
}

impl Adapter {
    /// All adapters of this machine: Vulkan, Metal and DX12 before OpenGL, hardware before
    /// software, discrete before integrated.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut adapters = Self::of(wgpu::Backends::PRIMARY);
        adapters.extend(Self::of(wgpu::Backends::SECONDARY));
        adapters
    }

    /// The adapters that are used unless named, best first: those of OpenGL only where there is no
    /// other hardware.
    #[must_use]
    pub fn preferred() -> Vec<Self> {
        let mut adapters = Self::of(wgpu::Backends::PRIMARY);
        if adapters.iter().all(Self::is_software) {
            adapters.extend(Self::of(wgpu::Backends::SECONDARY));
            adapters.sort_by_key(Self::is_software);
        }
        adapters
    }

    fn of(backends: wgpu::Backends) -> Vec<Self> {
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        descriptor.backends = backends;
        // Without the drivers' validation layers, in debug builds too; and without wgpu's check of
        // indirect dispatches, a dispatch of its own before each: the stages keep to the limits.
        descriptor.flags = wgpu::InstanceFlags::empty();
        let instance = wgpu::Instance::new(descriptor);
        let adapters = pollster::block_on(instance.enumerate_adapters(backends));
        let mut adapters: Vec<Self> = (adapters.into_iter())
            .map(|adapter| Self { info: adapter.get_info(), adapter })
            .collect();
        adapters.sort_by_key(|adapter| match adapter.info.device_type {
            wgpu::DeviceType::DiscreteGpu => 0,
            wgpu::DeviceType::IntegratedGpu => 1,
            wgpu::DeviceType::VirtualGpu => 2,
            wgpu::DeviceType::Other => 3,
            wgpu::DeviceType::Cpu => 4,
        });
        adapters
    }

    /// The first adapter whose label contains `name`, in any case; without a name the preferred
    /// one.
    ///
    /// # Errors
    /// There are no adapters, or none with that name; the message lists them.
    pub fn find(name: Option<&str>) -> Result<Self, BackendError> {
        let adapters = if name.is_some() { Self::all() } else { Self::preferred() };
        if adapters.is_empty() {
            return Err(BackendError::NoAdapter(
                "no GPU adapter was found: install a Vulkan, Metal, DX12 or OpenGL driver \
                 (mesa-vulkan-drivers has one in software), or use the CPU"
                    .into(),
            ));
        }
        let wanted = name.unwrap_or_default().to_lowercase();
        let labels: Vec<String> = adapters.iter().map(Self::label).collect();
        let found = adapters.into_iter().find(|a| a.label().to_lowercase().contains(&wanted));
        found.ok_or_else(|| {
            let labels = labels.join("', '");
            BackendError::NoAdapter(format!("no adapter matches '{wanted}': there are '{labels}'"))
        })
    }

    /// The name by which it is shown and chosen, such as `vulkan: NVIDIA H200`.
    #[must_use]
    pub fn label(&self) -> String {
        format!("{}: {}", self.info.backend, self.info.name)
    }

    /// The driver's name and version, where it tells.
    #[must_use]
    pub fn driver(&self) -> String {
        format!("{} {}", self.info.driver, self.info.driver_info).trim().to_owned()
    }

    /// Whether it is a CPU that acts as a GPU.
    #[must_use]
    pub fn is_software(&self) -> bool {
        self.info.device_type == wgpu::DeviceType::Cpu
    }

    /// Why the stages cannot run on it, if so.
    ///
    /// # Errors
    /// What it lacks.
    pub fn check(&self) -> Result<(), BackendError> {
        let limits = self.adapter.limits();
        let needs = [
            (
                "storage buffers per stage",
                limits.max_storage_buffers_per_shader_stage,
                STORAGE_BUFFERS,
            ),
            ("invocations per workgroup", limits.max_compute_invocations_per_workgroup, GROUP),
            ("workgroup size", limits.max_compute_workgroup_size_x, GROUP),
            ("workgroup storage bytes", limits.max_compute_workgroup_storage_size, 8 * GROUP),
        ];
        for (what, has, needs) in needs {
            if has < needs {
                let adapter = self.label();
                return Err(BackendError::Unsuitable {
                    adapter,
                    what,
                    has: has.into(),
                    needs: needs.into(),
                });
            }
        }
        let flags = self.adapter.get_downlevel_capabilities().flags;
        if flags.contains(
            wgpu::DownlevelFlags::COMPUTE_SHADERS | wgpu::DownlevelFlags::INDIRECT_EXECUTION,
        ) {
            return Ok(());
        }
        let (adapter, what) = (self.label(), "indirect compute dispatches");
        Err(BackendError::Unsuitable { adapter, what, has: 0, needs: 1 })
    }

    /// Opens a device with all the adapter's limits.
    ///
    /// # Errors
    /// It lacks something the stages need, or the driver refuses.
    pub fn open(&self) -> Result<Device, BackendError> {
        self.check()?;
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("trivox"),
            required_features: self.adapter.features() & wgpu::Features::TIMESTAMP_QUERY,
            required_limits: self.adapter.limits(),
            ..Default::default()
        };
        let (device, queue) = pollster::block_on(self.adapter.request_device(&descriptor))
            .map_err(|e| BackendError::Device(e.to_string()))?;
        let fault = Fault::default();
        let reported = fault.clone();
        device.on_uncaptured_error(Arc::new(move |error| reported.set(error.to_string())));
        let reported = fault.clone();
        device.set_device_lost_callback(move |reason, message| {
            reported.set(format!("the device was lost ({reason:?}): {message}"));
        });
        let software = self.is_software();
        Ok(Device { device, queue, fault, software, pipelines: Arc::default() })
    }
}

/// The first error that a device reported.
#[derive(Debug, Clone, Default)]
struct Fault(Arc<Mutex<Option<String>>>);

impl Fault {
    fn set(&self, message: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(message);
    }

    fn get(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// An open device. Errors that it reports at any time come out of the next [`check`](Self::check).
#[derive(Debug, Clone)]
pub struct Device {
    /// The device.
    pub device: wgpu::Device,
    /// Its queue.
    pub queue: wgpu::Queue,
    fault: Fault,
    software: bool,
    /// By the names of their stages.
    pipelines: Arc<Mutex<HashMap<&'static str, wgpu::ComputePipeline>>>,
}

/// Longest wait for one submission on hardware; drivers themselves give up after seconds.
const TIMEOUT: std::time::Duration = std::time::Duration::from_secs(120);

impl Device {
    /// An error if the device reported one.
    ///
    /// # Errors
    /// The first thing the device reported: lost, out of memory, invalid.
    pub fn check(&self) -> Result<(), BackendError> {
        self.fault.get().map_or(Ok(()), |message| Err(BackendError::Device(message)))
    }

    /// The pipeline of a stage, whose entry point has its name: compiled when it is first asked for.
    pub(crate) fn pipeline(&self, (name, source): Stage) -> wgpu::ComputePipeline {
        let mut pipelines = self.pipelines.lock().unwrap_or_else(PoisonError::into_inner);
        let compile = || compute_pipeline(&self.device, name, source, &[]);
        pipelines.entry(name).or_insert_with(compile).clone()
    }

    /// Submits `encoder` and has the first `bytes` bytes of `staging` mapped after it.
    pub(super) fn submit(&self, encoder: wgpu::CommandEncoder, staging: &wgpu::Buffer, bytes: u64) {
        self.queue.submit([encoder.finish()]);
        // A failure shows when the range is asked for.
        staging.map_async(wgpu::MapMode::Read, ..bytes, |_| {});
    }

    /// Waits for all that was submitted.
    pub(super) fn wait(&self) -> Result<(), BackendError> {
        let timeout = (!self.software).then_some(TIMEOUT);
        let wait = wgpu::PollType::Wait { submission_index: None, timeout };
        let polled = self.device.poll(wait);
        self.check()?;
        polled.map(drop).map_err(|e| BackendError::Device(e.to_string()))
    }

    /// What `read` makes of the first `bytes` bytes of `staging`, which are mapped.
    pub(super) fn mapped<T>(
        &self,
        staging: &wgpu::Buffer,
        bytes: u64,
        read: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, BackendError> {
        let view =
            staging.get_mapped_range(..bytes).map_err(|e| BackendError::Device(e.to_string()))?;
        let result = read(&view);
        drop(view);
        staging.unmap();
        Ok(result)
    }

    /// Submits `encoder`, waits, and returns what `staging` holds then, as `u32` words.
    ///
    /// # Errors
    /// Whatever the device reported.
    pub fn submit_and_read(
        &self,
        encoder: wgpu::CommandEncoder,
        staging: &wgpu::Buffer,
    ) -> Result<Vec<u32>, BackendError> {
        self.submit(encoder, staging, staging.size());
        self.wait()?;
        self.mapped(staging, staging.size(), bytemuck::pod_collect_to_vec)
    }

    /// A buffer of `words` 4-byte words, at least one.
    #[must_use]
    pub fn buffer(&self, label: &str, words: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            size: 4 * words.max(1),
            usage,
            mapped_at_creation: false,
        })
    }
}
