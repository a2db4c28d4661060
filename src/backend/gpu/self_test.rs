//! The self-test of a GPU: before the first use of a rule, its kernels voxelize a built-in mesh,
//! and the result must equal the specification's for voxels, the CPU's for columns. A driver that
//! miscompiles a kernel is refused by it.
//!
//! The mesh is small but adversarial: every stage processes several workgroups and levels, and many
//! triangles touch corners and edges of voxels exactly or miss them by one lattice unit, so that
//! the float filter is in doubt and the wide integers decide.

use crate::backend::BackendError;
use crate::backend::cpu::Cpu;
use crate::backend::gpu::Gpu;
use crate::backend::{Backend, Rule, Run, RunOptions, VoxelKernel};
use crate::base::progress::NoProgress;
use crate::grid::{BRICK, VoxelGrid};
use crate::lattice::{Bounds, Lattice, PlaceOptions, PlacedMesh, Sizing, Triangle, place};
use crate::mesh::Mesh;
use crate::predicate::boxes::BoxRange;
use crate::predicate::touches;

/// The rule and the kernel that test the kernels of a run by these.
pub(super) fn tested_as(rule: Rule, kernel: VoxelKernel) -> (Rule, VoxelKernel) {
    match rule {
        Rule::Conservative => (rule, kernel),
        // They share their kernels, and crossings have a direction.
        Rule::Winding => (Rule::Crossings, VoxelKernel::default()),
        _ => (rule, VoxelKernel::default()),
    }
}

/// Whether `gpu` computes the known voxels of the built-in mesh.
///
/// # Errors
/// The device fails.
pub(super) async fn self_test(
    gpu: &Gpu,
    rule: Rule,
    kernel: VoxelKernel,
) -> Result<bool, BackendError> {
    let options = RunOptions { kernel, ..RunOptions::default() };
    let mesh = adversarial_mesh(DIMS, &SIZES);
    let result_of = |run: Run| (run.grid, run.crossings.map(|c| c.sorted()));
    let known = match rule {
        Rule::Conservative => {
            let touched = touches_of(&mesh).map(|(voxel, _)| voxel);
            (VoxelGrid::from_voxels(DIMS, touched)?, None)
        }
        rule => result_of(Backend::Cpu(&Cpu).run(&mesh, rule, &options, &NoProgress)?),
    };
    match gpu.run_untested(&mesh, rule, &options, &NoProgress).await {
        Err(BackendError::Failed(_)) => Ok(false),
        run => Ok(result_of(run?) == known),
    }
}

/// The (voxel, triangle index) pairs of `mesh` that touch, by the specification,
/// [`touches`](touches()). Voxels are tested in bricks that the triangle touches.
pub(crate) fn touches_of(mesh: &PlacedMesh) -> impl Iterator<Item = ([u32; 3], u32)> {
    let Lattice { dims, fraction_bits: bits, .. } = *mesh.lattice();
    let grid = BoxRange::of_grid(dims);
    mesh.triangles().zip(0..).flat_map(move |(triangle, number)| {
        let bricks = touched_boxes(&triangle, &grid.coarser(BRICK.ilog2()), bits + BRICK.ilog2());
        bricks.into_iter().flat_map(move |brick| {
            let lo = brick.map(|index| index * BRICK as i32);
            let within = BoxRange { lo, hi: lo.map(|c| c + BRICK as i32 - 1) }.intersect(&grid);
            let voxels = touched_boxes(&triangle, &within, bits).into_iter();
            voxels.map(move |voxel| (voxel.map(|index| index as u32), number))
        })
    })
}

/// The boxes of `2^bits` lattice units in `within` that `triangle` touches.
fn touched_boxes(triangle: &Triangle, within: &BoxRange, bits: u32) -> Vec<[i32; 3]> {
    let BoxRange { lo, hi } = BoxRange::of_triangle(triangle, bits).intersect(within);
    let row = move |x, y| (lo[2]..=hi[2]).map(move |z| [x, y, z]);
    let slice = move |x| (lo[1]..=hi[1]).flat_map(move |y| row(x, y));
    let half = 1 << (bits - 1);
    let is_touched = |index: &[i32; 3]| touches(triangle, index.map(|i| (2 * i + 1) * half), half);
    (lo[0]..=hi[0]).flat_map(slice).filter(is_touched).collect()
}

/// The grid has nodes of 64 voxels, and ends within bricks.
const DIMS: [u32; 3] = [70, 71, 72];

/// Triangles by size: how many, and their largest extent in half voxels. The largest start at nodes
/// of 64 voxels; of the smallest, a workgroup has more pairs than its kernel sets up in one round.
const SIZES: [(u32, u32); 4] = [(400, 8), (30, 50), (3, 139), (300, 1)];

/// A linear congruential generator (D. Knuth, MMIX).
#[derive(Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// The next number, less than `below`.
    pub(crate) fn below(&mut self, below: u32) -> u32 {
        let next = 6_364_136_223_846_793_005_u64.wrapping_mul(self.0);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32 % below
    }
}

/// Triangles with vertices at the corners, centres and edges of voxels, or one lattice unit away,
/// in a grid of `dims`. `sizes` are those of [`SIZES`].
pub(crate) fn adversarial_mesh(dims: [u32; 3], sizes: &[(u32, u32)]) -> PlacedMesh {
    in_voxels(dims, adversarial_vertices(dims, sizes, 3), &[[0, 1, 2]])
}

/// [`adversarial_mesh`] with closed tetrahedra in place of triangles.
pub(crate) fn adversarial_solid(dims: [u32; 3], sizes: &[(u32, u32)]) -> PlacedMesh {
    let sides = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    in_voxels(dims, adversarial_vertices(dims, sizes, 4), &sides)
}

/// The vertices of polyhedra with this number of `corners`, one polyhedron after another.
fn adversarial_vertices(dims: [u32; 3], sizes: &[(u32, u32)], corners: u32) -> Vec<[f64; 3]> {
    let mut random = Random(1);
    let mut vertices = Vec::new();
    for &(count, size) in sizes {
        for _ in 0..count {
            let first = dims.map(|d| random.below(2 * d - size));
            for _ in 0..corners {
                vertices.push(first.map(|first| {
                    let unit = f64::from(random.below(3)) - 1.0;
                    f64::from(first + random.below(size + 1)) / 2.0 + unit / 65_536.0
                }));
            }
        }
    }
    vertices
}

/// Places polyhedra, in voxel coordinates. `sides` are the triangles of each, as indices of its own
/// vertices.
fn in_voxels(dims: [u32; 3], vertices: Vec<[f64; 3]>, sides: &[[u32; 3]]) -> PlacedMesh {
    let corners = sides.as_flattened().iter().max().map_or(0, |last| last + 1);
    let first = (0..vertices.len() as u32).step_by(corners as usize);
    let triangles = first.flat_map(|first| sides.iter().map(move |side| side.map(|i| first + i)));
    let triangles = triangles.collect();
    let mesh = Mesh::new(vertices, triangles).expect("the built-in mesh is valid");
    let bounds = Bounds { min: [0.0; 3], max: dims.map(f64::from) };
    let options = PlaceOptions::new(Sizing::VoxelSize(1.0)).with_bounds(bounds);
    place(&mesh, &options).expect("the built-in mesh fits the lattice")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use web_time::Instant;

    use super::*;
    use crate::backend::gpu::stages::{Step, steps};
    use crate::gpu::{Adapter, promised};
    use crate::predicate::crosses::Axis;

    const RULES: [Rule; 6] = [
        Rule::Conservative,
        Rule::SixSeparating,
        Rule::Parity(Axis::X),
        Rule::Parity(Axis::Y),
        Rule::Parity(Axis::Z),
        Rule::Winding,
    ];

    fn built_in() -> PlacedMesh {
        adversarial_mesh(DIMS, &SIZES)
    }

    /// Each fault: the kernel that is wrong, the rule that uses it, and the replaced text.
    const FAULTS: [(Rule, &str, &str, &str); 29] = {
        const TOUCH: Rule = Rule::Conservative;
        const THIN: Rule = Rule::SixSeparating;
        const PARITY: Rule = Rule::Parity(Axis::Y);
        [
            // Workgroups of a stage write over each other.
            (TOUCH, "seed", "let slot = starts[level].x + ", "let slot = "),
            (TOUCH, "refine", "let slot = starts[level].x + ", "let slot = "),
            (TOUCH, "scan_blocks", "sums[lane] = own;", "sums[lane] = 0u;"),
            (Rule::Winding, "mark_crossings", "atomicAdd(&counters[CROSSINGS], 1u)", "0u"),
            // Candidates are numbered or found wrongly.
            (TOUCH, "seed", "appended.first += before & CANDIDATE_MASK;", ""),
            (TOUCH, "refine", "first * GROUP);", "0u);"),
            (TOUCH, "voxel_rows", "return begun - 1u;", "return min(begun, 1u) - 1u;"),
            // Two-dimensional dispatches.
            (TOUCH, "voxel_rows", "group.y * params.max_groups", "group.y"),
            // Pairs are set up in more than one round.
            (TOUCH, "voxel_rows", "round < GROUP / SLOTS", "round < 1u"),
            // Bricks are confused.
            (TOUCH, "rank_bricks", "index += countOneBits(bitmap[other]);", ""),
            (TOUCH, "mark_bricks", "brick.z * size.y + brick.y", "brick.z + brick.y"),
            (TOUCH, "voxel_rows", "+ countOneBits(lower)", ""),
            // An atomic operation is not atomic, or another.
            (TOUCH, "voxel_rows", "atomicOr(&bricks[word]", "atomicStore(&bricks[word]"),
            (PARITY, "parity", "atomicXor", "atomicOr"),
            // The float filter trusts a wrong sign.
            (TOUCH, "voxel_rows", "0.0000019073486328125", "-0.0001"),
            (TOUCH, "voxel_rows", "0.000003814697265625", "-0.0001"),
            (TOUCH, "refine", "0.0000019073486328125", "-0.0001"),
            (TOUCH, "voxels", "0.0000019073486328125", "-0.0001"),
            // Wide integers lose a carry, a borrow or a sign.
            (TOUCH, "voxel_rows", "+ u32(low < a.x)", ""),
            (TOUCH, "voxels", "(carry >> 16u)", "0u"),
            (THIN, "six_separating", "- select(0u, ub, a < 0)", ""),
            (PARITY, "parity", "(closed && all(rise == limit_rise))", "false"),
            (Rule::Winding, "refine", "AXIS_X).winding < 0", "AXIS_X).winding > 0"),
            (Rule::Winding, "seed", "AXIS_X).winding < 0", "AXIS_X).winding > 0"),
            // Rows in doubt: the step to the next voxel, and the test for exactness.
            (TOUCH, "voxel_rows", "normal[2], -2 * half", "normal[2], 2 * half"),
            (TOUCH, "voxel_rows", "q = int64_add(q, step);", ""),
            (TOUCH, "voxel_rows", "f32(bits & -bits)", "f32(bits)"),
            // The tie rules.
            (THIN, "six_separating", "(along.y < 0) ||", "(along.y > 0) ||"),
            (TOUCH, "voxel_rows", "u32(over > axis.error)", "u32(over > -axis.error)"),
        ]
    };

    /// The kernel of voxels that runs `name`.
    fn kernel_of(name: &str) -> VoxelKernel {
        if name == "voxels" { VoxelKernel::Voxels } else { VoxelKernel::Rows }
    }

    /// A GPU with a fault: `name`, a kernel of `rule`, has `to` in place of `from`.
    fn faulty(adapter: &Adapter, (rule, name, from, to): (Rule, &str, &str, &str)) -> Gpu {
        let gpu = Gpu::over(adapter.open().unwrap());
        let mut planted = 0;
        for Step { kernel, constants, .. } in steps(rule, kernel_of(name), false, 2) {
            if kernel.name() == name {
                gpu.device.plant(kernel, constants, from, to);
                planted += 1;
            }
        }
        assert!(planted > 0, "{name} is not a kernel of {rule:?}");
        gpu
    }

    /// The quickest adapter.
    fn adapter() -> Option<Adapter> {
        let mut adapters = promised();
        adapters.sort_by_key(|adapter| adapter.label().contains("SwiftShader"));
        adapters.into_iter().next()
    }

    #[test]
    fn every_adapter_passes() {
        for adapter in promised() {
            let gpu = Gpu::new(&adapter).unwrap();
            for rule in RULES {
                for kernel in [VoxelKernel::Rows, VoxelKernel::Voxels] {
                    let compiling = Instant::now();
                    crate::backend::gpu::prepare(&gpu.device, rule, kernel).unwrap();
                    let began = Instant::now();
                    pollster::block_on(gpu.test(rule, kernel)).unwrap();
                    println!(
                        "{}, {rule:?}, {kernel:?}: compiled in {:?}, tested in {:?}",
                        adapter.label(),
                        began - compiling,
                        began.elapsed()
                    );
                }
            }
        }
    }

    #[test]
    fn a_kernel_that_computes_wrong_voxels_is_refused() {
        let Some(adapter) = adapter() else { return };
        for fault in FAULTS {
            let (rule, name, ..) = fault;
            let gpu = faulty(&adapter, fault);
            let options = RunOptions { kernel: kernel_of(name), ..RunOptions::default() };
            let Err(error) = Backend::Gpu(&gpu).run(&built_in(), rule, &options, &NoProgress)
            else {
                panic!("not refused: {fault:?}");
            };
            println!("{name}: {error}");
        }
    }
}
