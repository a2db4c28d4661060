//! Compiled kernels, and binding buffers to them by the variable names of their source.

use wgpu::BindingResource;

use crate::gpu::Kernel;
use crate::gpu::error::GpuError;
use crate::gpu::kernels::{Binding, bindings};

/// Pipeline constants of a kernel: values of its `override` declarations.
pub(crate) type Constants = &'static [(&'static str, u32)];

#[derive(Debug)]
pub(crate) struct Pipeline {
    kernel: Kernel,
    pipeline: wgpu::ComputePipeline,
    /// By bind group.
    layouts: Vec<wgpu::BindGroupLayout>,
    bindings: Vec<Binding>,
}

impl Pipeline {
    /// Compiles `source`, the source of `kernel`. Errors are reported by the device.
    pub(super) fn new(
        device: &wgpu::Device,
        kernel: Kernel,
        source: String,
        constants: Constants,
    ) -> Self {
        let bindings = bindings(&source);
        let groups = bindings.iter().map(|binding| binding.group + 1).max().unwrap_or(0);
        let layouts: Vec<_> = (0..groups)
            .map(|group| group_layout(device, None, &bindings, group, wgpu::ShaderStages::COMPUTE))
            .collect();
        let name = Some(kernel.name());
        let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: name,
            bind_group_layouts: &layouts.iter().map(Some).collect::<Vec<_>>(),
            immediate_size: 0,
        });
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: name,
            source: wgpu::ShaderSource::Wgsl(source.into()),
        });
        let constants: Vec<(&str, f64)> =
            constants.iter().map(|&(name, value)| (name, value.into())).collect();
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: name,
            layout: Some(&layout),
            module: &module,
            entry_point: name,
            compilation_options: wgpu::PipelineCompilationOptions {
                constants: &constants,
                // Kernels write their workgroup memory before they read it. Zero-initialization,
                // the default, takes long for arrays with some drivers.
                zero_initialize_workgroup_memory: false,
            },
            cache: None,
        });
        Self { kernel, pipeline, layouts, bindings }
    }

    /// Creates the bind groups of the resources that have the names of the bindings.
    ///
    /// # Errors
    /// A name is missing: a bug in this library.
    pub(crate) fn bind(
        &self,
        device: &wgpu::Device,
        named: &[(&str, BindingResource)],
    ) -> Result<Vec<wgpu::BindGroup>, GpuError> {
        let entry = |binding: &Binding| {
            let Some((_, resource)) = named.iter().find(|(name, _)| *name == binding.name) else {
                let (kernel, name) = (self.kernel.name(), &binding.name);
                return Err(GpuError::Device(format!("{kernel} has no buffer for {name}")));
            };
            Ok(wgpu::BindGroupEntry { binding: binding.number, resource: resource.clone() })
        };
        let group = |(layout, group)| {
            let of_group = self.bindings.iter().filter(|binding| binding.group == group);
            let entries = of_group.map(entry).collect::<Result<Vec<_>, _>>()?;
            Ok(device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some(self.kernel.name()),
                layout,
                entries: &entries,
            }))
        };
        self.layouts.iter().zip(0..).map(group).collect()
    }

    /// Sets the pipeline and its bind groups in `pass`.
    pub(crate) fn set(&self, pass: &mut wgpu::ComputePass, groups: &[wgpu::BindGroup]) {
        pass.set_pipeline(&self.pipeline);
        (0..).zip(groups).for_each(|(index, group)| pass.set_bind_group(index, group, &[]));
    }
}

/// The layout of bind group `group` of `bindings`, for the shader stages `visibility`. Errors of
/// wgpu state its `label`.
pub(crate) fn group_layout(
    device: &wgpu::Device,
    label: Option<&str>,
    bindings: &[Binding],
    group: u32,
    visibility: wgpu::ShaderStages,
) -> wgpu::BindGroupLayout {
    let of_group = bindings.iter().filter(|binding| binding.group == group);
    let entries: Vec<_> = of_group
        .map(|binding| wgpu::BindGroupLayoutEntry {
            binding: binding.number,
            visibility,
            ty: wgpu::BindingType::Buffer {
                ty: binding.ty,
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        })
        .collect();
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label, entries: &entries })
}
