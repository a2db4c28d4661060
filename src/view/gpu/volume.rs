//! Signed distances in a 3D texture, for renderers and physics.

use bytemuck::bytes_of;
use wgpu::BufferUsages as Usage;

use crate::backend::cpu::Cpu;
use crate::backend::gpu::{Gpu, adversarial_mesh};
use crate::backend::{BackendError, check_cancelled, check_memory};
use crate::base::progress::{NoProgress, Progress};
use crate::gpu::{Device, GROUP, GpuError, MAX_GROUPS, kernels};
use crate::grid::VoxelGrid;
use crate::lattice::PlacedMesh;
use crate::solid::distance::gpu::{MeasureParams, measure_rows, self_test};
use crate::solid::distance::{checked, distances};
use crate::view::gpu::GpuScene;
use crate::view::trace::Scene;

/// Rows of texels in a buffer are padded to a multiple of this: WebGPU copies whole 256 bytes.
const ROW_TEXELS: u32 = wgpu::COPY_BYTES_PER_ROW_ALIGNMENT / 4;

/// Maximum texels per submission: half a second at ten million a second.
const MAX_PASS_TEXELS: u32 = 1 << 22;
// Dispatches are one-dimensional.
const _: () = assert!(MAX_PASS_TEXELS / GROUP <= MAX_GROUPS);

/// Host memory of the solid's scene and its upload, in bytes per brick that is not full: about 30
/// and twice 72, and more where bricks are scattered.
const SCENE_BYTES: u64 = 256;

/// The signed distances of [`distances`](fn@crate::solid::distance::distances) in a 3D texture of
/// the format `R32Float`, with a texel per voxel, in voxels, negative where `inside` has the voxel.
/// Outside the band they are plus or minus `width`, as
/// [`DistanceField::get`](crate::solid::distance::DistanceField::get) gives them, to the bit. The
/// result stays on the GPU. Its bind group layout has the sample type
/// `Float { filterable: false }`, unless the device has the feature `FLOAT32_FILTERABLE`.
///
/// `memory` limits the host's memory, in bytes, beside the mesh and `inside`. The GPU needs a
/// buffer as large as the texture, with rows padded to 64 texels. With the default limits of wgpu a
/// buffer holds 320 voxels along each axis.
///
/// # Errors
/// A width that is not above 0, or above [`MAX_WIDTH`](crate::solid::distance::MAX_WIDTH); a grid
/// larger than a texture or a buffer of the device; a mesh in a window; too little memory;
/// cancelled; the kernels fail their self-test, which precedes their first use; the device fails.
///
/// # Panics
/// `inside` has other dimensions than the grid.
pub fn distance_texture(
    gpu: &Gpu,
    mesh: &PlacedMesh,
    inside: &VoxelGrid,
    width: f32,
    memory: u64,
    progress: &dyn Progress,
) -> Result<wgpu::Texture, BackendError> {
    let (device, dims) = (gpu.device(), mesh.lattice().dims);
    assert_eq!(dims, inside.dims(), "the grid of voxels inside");
    let limit = device.device.limits().max_texture_dimension_3d;
    if let Some(needed) = dims.into_iter().find(|&voxels| voxels > limit) {
        return Err(GpuError::TooLongForTexture { needed, limit }.into());
    }
    check_memory(SCENE_BYTES * inside.keys().len() as u64, memory)?;
    let mesh = &*checked(mesh, width)?;
    let texture = || {
        self_test(device)?;
        let test = async { passes_self_test(device) };
        device.block_on(device.self_test("distance textures", test))?;
        let texels = texels(device, mesh, inside, width, memory, progress)?;
        let [width, height, depth_or_array_layers] = dims;
        let size = wgpu::Extent3d { width, height, depth_or_array_layers };
        let usage = wgpu::TextureUsages::COPY_DST | wgpu::TextureUsages::COPY_SRC;
        let texture = device.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("distances"),
            size,
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D3,
            format: wgpu::TextureFormat::R32Float,
            usage: usage | wgpu::TextureUsages::TEXTURE_BINDING,
            view_formats: &[],
        });
        let bytes_per_row = Some(4 * row_of(dims));
        let layout =
            wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row, rows_per_image: Some(height) };
        let source = wgpu::TexelCopyBufferInfo { buffer: &texels, layout };
        let mut encoder = device.encoder();
        encoder.copy_buffer_to_texture(source, texture.as_image_copy(), size);
        device.queue.submit([encoder.finish()]);
        Ok(texture)
    };
    device.in_scopes(texture)?
}

/// Words of a row of texels.
fn row_of(dims: [u32; 3]) -> u32 {
    dims[0].next_multiple_of(ROW_TEXELS)
}

/// The texels of [`distance_texture`] in rows of [`row_of`], by kernels that need not have passed
/// their self-test.
fn texels(
    device: &Device,
    mesh: &PlacedMesh,
    inside: &VoxelGrid,
    width: f32,
    memory: u64,
    progress: &dyn Progress,
) -> Result<wgpu::Buffer, BackendError> {
    let lattice = mesh.lattice();
    let row = row_of(lattice.dims);
    let words = [row, lattice.dims[1], lattice.dims[2]].map(u64::from).iter().product();
    let texels = device.checked_buffer("distances", words, Usage::STORAGE)?;
    measure_rows(device, (&texels, row), mesh, width, memory, progress)?;
    let inside = GpuScene::upload(device, &Scene::new(inside))?;
    // Below 2^29: the buffer could be made.
    let words = words as u32;
    for first in (0..words).step_by(MAX_PASS_TEXELS as usize) {
        check_cancelled(progress)?;
        let params = MeasureParams { row, first, ..MeasureParams::new(lattice, width) };
        let params = device.filled("params", bytes_of(&params), Usage::UNIFORM)?;
        let own = [("params", &params), ("found_bits", &texels)];
        let buffers = [&own[..], &inside.buffers().named()].concat();
        let mut encoder = device.encoder();
        let groups = (words - first).min(MAX_PASS_TEXELS).div_ceil(GROUP);
        device.record(&mut encoder, kernels::TEXELS, &buffers, groups)?;
        device.queue.submit([encoder.finish()]);
    }
    Ok(texels)
}

/// Whether the texels of a built-in mesh are the CPU's distances. The solid has bricks that are
/// full, empty or neither, below two levels of nodes.
fn passes_self_test(device: &Device) -> Result<bool, BackendError> {
    let dims = [70, 29, 30];
    let mesh = adversarial_mesh(dims, &[(24, 8), (4, 55)]);
    let is_inside = |&[x, y, z]: &[u32; 3]| x < 24 || (x > 40 && (x + 2 * y + 3 * z) % 7 < 3);
    let row = |(y, z)| (0..dims[0]).map(move |x| [x, y, z]);
    let mut all = (0..dims[2]).flat_map(|z| (0..dims[1]).map(move |y| (y, z))).flat_map(row);
    let inside = VoxelGrid::from_voxels(dims, all.clone().filter(is_inside))?;
    let texels = texels(device, &mesh, &inside, 5.0, u64::MAX, &NoProgress)?;
    let words = device.block_on(device.contents(&texels))?;
    let known = distances(&Cpu, &mesh, inside, 5.0, u64::MAX, &NoProgress)?;
    Ok(all.all(|[x, y, z]| {
        let word = words[(x + row_of(dims) * (y + dims[1] * z)) as usize];
        word == known.get([x, y, z]).to_bits()
    }))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::gpu::{Kernel, promised};

    const FAULTS: [(Kernel, &str, &str); 7] = [
        (kernels::MEASURE, "params.row * (voxel.y", "params.row * (voxel.x"),
        (kernels::MEASURE, "first + place, params.row == 0u", "first + place, true"),
        (kernels::TEXELS, ", params.width_bits)", ", params.width_bits + 1u)"),
        (kernels::TEXELS, " | sign;", ";"),
        (kernels::TEXELS, "row / params.dims.y)", "row / params.dims.x)"),
        (kernels::TEXELS, "cell.kind == FULL", "false"),
        (kernels::TEXELS, "level > 0u; level--", "level > 1u; level--"),
    ];

    #[test]
    fn a_kernel_that_computes_wrong_texels_is_refused() {
        let adapters = promised().into_iter();
        let Some(adapter) = adapters.max_by_key(|adapter| adapter.label().contains("llvmpipe"))
        else {
            return;
        };
        let mesh = adversarial_mesh([9, 8, 7], &[(4, 9)]);
        let inside = VoxelGrid::empty([9, 8, 7]).unwrap();
        let texture = |device: Device| {
            let gpu = Gpu::on_device(device).unwrap();
            distance_texture(&gpu, &mesh, &inside, 2.0, u64::MAX, &NoProgress)
        };
        texture(adapter.open().unwrap()).unwrap();
        for (kernel, right, wrong) in FAULTS {
            let device = adapter.open().unwrap();
            device.plant(kernel, &[], right, wrong);
            let refused = texture(device).unwrap_err();
            let is_refused = matches!(refused, BackendError::Gpu(GpuError::SelfTest { .. }));
            assert!(is_refused, "{right}: {refused}");
        }
    }
}
