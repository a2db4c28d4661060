//! The machine's adapters, and opening a device on one of them.

use crate::gpu::error::GpuError;
use crate::gpu::{Device, GROUP, MAX_GROUPS, WORKGROUP_BYTES};

/// Storage buffers that a kernel may bind: the WebGPU default limit.
const STORAGE_BUFFERS: u32 = 8;

/// A GPU, or a software implementation of one, accessed through one graphics API.
#[derive(Debug, Clone)]
pub struct Adapter {
    adapter: wgpu::Adapter,
    info: wgpu::AdapterInfo,
}

impl Adapter {
    /// All adapters of this machine: Vulkan, Metal and DX12 before OpenGL, hardware before
    /// software, discrete before integrated.
    pub async fn all_async() -> Vec<Self> {
        let mut adapters = Self::with_backends(wgpu::Backends::PRIMARY).await;
        adapters.extend(Self::with_backends(wgpu::Backends::SECONDARY).await);
        adapters
    }

    /// The adapters used if none is named, best first. OpenGL's are included only if no other API
    /// has a hardware adapter.
    async fn preferred() -> Vec<Self> {
        let mut adapters = Self::with_backends(wgpu::Backends::PRIMARY).await;
        if adapters.iter().all(Self::is_software) {
            adapters.extend(Self::with_backends(wgpu::Backends::SECONDARY).await);
            adapters.sort_by_key(Self::is_software);
        }
        adapters
    }

    async fn with_backends(backends: wgpu::Backends) -> Vec<Self> {
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        descriptor.backends = backends;
        // No validation layers, even in debug builds; no validation of indirect dispatches, which
        // costs a dispatch before each: the stages keep them within the limits.
        descriptor.flags = wgpu::InstanceFlags::empty();
        let instance = wgpu::Instance::new(descriptor);
        let adapters = instance.enumerate_adapters(backends).await;
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

    /// The first adapter whose label contains `name`, ignoring case; without a name, the preferred
    /// adapter.
    ///
    /// # Errors
    /// There are no adapters, or none with that name; the message lists them.
    pub async fn find_async(name: Option<&str>) -> Result<Self, GpuError> {
        let adapters = match name {
            Some(_) => Self::all_async().await,
            None => Self::preferred().await,
        };
        if adapters.is_empty() {
            return Err(GpuError::NoAdapter(
                "no GPU adapter was found: install a Vulkan, Metal, DX12 or OpenGL driver \
                 (mesa-vulkan-drivers has one in software), or use the CPU"
                    .into(),
            ));
        }
        let name = name.unwrap_or_default();
        let wanted = name.to_lowercase();
        let labels: Vec<String> = adapters.iter().map(Self::label).collect();
        let found = adapters.into_iter().find(|a| a.label().to_lowercase().contains(&wanted));
        found.ok_or_else(|| {
            let labels = labels.join("', '");
            GpuError::NoAdapter(format!("no adapter matches '{name}': there are '{labels}'"))
        })
    }

    /// The name by which it is displayed and selected, such as `vulkan: NVIDIA H200`.
    #[must_use]
    pub fn label(&self) -> String {
        label(&self.info)
    }

    /// The driver's name and version; empty if unknown.
    #[must_use]
    pub fn driver(&self) -> String {
        driver(&self.info)
    }

    /// Whether it is implemented in software, on the CPU.
    #[must_use]
    pub fn is_software(&self) -> bool {
        self.info.device_type == wgpu::DeviceType::Cpu
    }

    /// Checks that the kernels can run on it.
    ///
    /// # Errors
    /// A limit or a feature is missing.
    pub fn check(&self) -> Result<(), GpuError> {
        check(&self.info, &self.adapter.limits())?;
        let flags = self.adapter.get_downlevel_capabilities().flags;
        if flags.contains(
            wgpu::DownlevelFlags::COMPUTE_SHADERS | wgpu::DownlevelFlags::INDIRECT_EXECUTION,
        ) {
            return Ok(());
        }
        let (adapter, what) = (self.label(), "indirect compute dispatches");
        Err(GpuError::Unsuitable { adapter, what, has: 0, needs: 1 })
    }

    /// Opens a device with all the adapter's limits.
    ///
    /// # Errors
    /// A limit or a feature is missing, or the driver fails.
    pub async fn open_async(&self) -> Result<Device, GpuError> {
        self.check()?;
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("trivox"),
            required_features: self.adapter.features() & wgpu::Features::TIMESTAMP_QUERY,
            required_limits: self.adapter.limits(),
            ..Default::default()
        };
        let opened = self.adapter.request_device(&descriptor).await;
        let (device, queue) = opened.map_err(|e| GpuError::Device(e.to_string()))?;
        Ok(Device::opened(device, queue))
    }
}

pub(super) fn label(info: &wgpu::AdapterInfo) -> String {
    format!("{}: {}", info.backend, info.name)
}

/// Whether `version`, as a driver of OpenGL states it, is below 4.3, the first with compute
/// shaders. That of OpenGL ES begins with its name.
fn is_old_opengl(version: &str) -> bool {
    let mut numbers = version.split(['.', ' ']).map_while(|number| number.parse::<u32>().ok());
    let (major, minor) = (numbers.next(), numbers.next());
    major.is_some() && (major, minor) < (Some(4), Some(3))
}

/// The name and version of an adapter's driver.
pub(super) fn driver(info: &wgpu::AdapterInfo) -> String {
    format!("{} {}", info.driver, info.driver_info).trim().to_owned()
}

/// Checks that the kernels can run on an adapter, or on a device of it, with these limits.
pub(super) fn check(info: &wgpu::AdapterInfo, limits: &wgpu::Limits) -> Result<(), GpuError> {
    // NVIDIA's driver gives exactly the version that wgpu 30 asks for, 3.3, with compute shaders as
    // an extension, for which naga does not write them.
    if info.backend == wgpu::Backend::Gl && is_old_opengl(&info.driver_info) {
        let (adapter, version) = (label(info), info.driver_info.clone());
        return Err(GpuError::OldOpenGl { adapter, version });
    }
    let needs = [
        ("storage buffers per stage", limits.max_storage_buffers_per_shader_stage, STORAGE_BUFFERS),
        ("invocations per workgroup", limits.max_compute_invocations_per_workgroup, GROUP),
        ("workgroup size", limits.max_compute_workgroup_size_x, GROUP),
        ("workgroup storage bytes", limits.max_compute_workgroup_storage_size, WORKGROUP_BYTES),
        ("workgroups per dimension", limits.max_compute_workgroups_per_dimension, MAX_GROUPS),
        ("bind groups", limits.max_bind_groups, 2),
        ("uniform buffers per stage", limits.max_uniform_buffers_per_shader_stage, 2),
    ];
    match needs.into_iter().find(|(_, has, needs)| has < needs) {
        None => Ok(()),
        Some((what, has, needs)) => Err(GpuError::Unsuitable {
            adapter: label(info),
            what,
            has: has.into(),
            needs: needs.into(),
        }),
    }
}

/// Blocking forms, for native targets.
#[cfg(not(target_arch = "wasm32"))]
impl Adapter {
    /// The blocking form of [`all_async`](Self::all_async).
    #[must_use]
    pub fn all() -> Vec<Self> {
        pollster::block_on(Self::all_async())
    }

    /// The blocking form of [`find_async`](Self::find_async).
    pub fn find(name: Option<&str>) -> Result<Self, GpuError> {
        pollster::block_on(Self::find_async(name))
    }

    /// The blocking form of [`open_async`](Self::open_async).
    pub fn open(&self) -> Result<Device, GpuError> {
        pollster::block_on(self.open_async())
    }
}

/// All adapters that can be used, at least as many as `TRIVOX_GPU` promises; without any the test is
/// skipped.
#[cfg(test)]
pub(crate) fn promised() -> Vec<Adapter> {
    let adapters = Adapter::all().into_iter().filter(|adapter| adapter.check().is_ok());
    let adapters: Vec<Adapter> = adapters.collect();
    let promised = std::env::var("TRIVOX_GPU").map_or(0, |n| n.parse().expect("a number"));
    assert!(adapters.len() >= promised, "{promised} adapters promised, {adapters:?} found");
    if adapters.is_empty() {
        println!("skipped: no adapter");
    }
    adapters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opengl_before_4_3_is_too_old() {
        for old in ["3.3.0 NVIDIA 580.159.04", "4.2 (Core Profile) Mesa 22.3.6", "2.1 Metal - 83"] {
            assert!(is_old_opengl(old), "{old}");
        }
        for new in ["4.5 (Core Profile) Mesa 22.3.6", "4.3.0", "OpenGL ES 3.2 v1.r38p1", ""] {
            assert!(!is_old_opengl(new), "{new}");
        }
    }
}
