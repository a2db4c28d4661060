//! Scenes that are recorded into an encoder, on every adapter: the bricks of the CPU's grids.
use crate::backend::devices_of_a_renderer;
use crate::common::prelude::*;
use crate::trace::{compare_hits, run_stage};
use trivox::gpu::{BRICK_WORDS, Device, GpuError, KEY_WORDS};
use trivox::view::gpu::{
    MeshBuffers, NO_NODES, Node, SceneBuilder, SceneCapacity, SceneFailure, SceneStatus,
};
use trivox::view::trace::{Ray, Scene};
use wgpu::{BufferUsages as Usage, IndexFormat, Limits};

const CAPACITY: SceneCapacity = SceneCapacity {
    vertices: 4000,
    triangles: 6000,
    pairs: 1 << 15,
    bricks: 1 << 13,
    candidates: 1 << 25,
    voxels: 1 << 19,
};

/// A mesh of `f32`s, with the transform that places it.
struct Floats {
    /// Of `stride` words, positions first.
    vertices: Vec<f32>,
    indices: Vec<[u32; 3]>,
    voxels_from_mesh: [[f32; 4]; 3],
}

const WORDS: usize = 5;

impl Floats {
    /// Positions between other attributes.
    fn new(positions: &[[f64; 3]], indices: &[[u32; 3]], scale: f32, offset: [f32; 3]) -> Self {
        let vertex = |p: &[f64; 3]| [f32::NAN, p[0] as f32, p[1] as f32, p[2] as f32, f32::NAN];
        let row = |a: usize| {
            let mut row = [0.0, 0.0, 0.0, offset[a]];
            row[a] = scale;
            row
        };
        Self {
            vertices: positions.iter().flat_map(vertex).collect(),
            indices: indices.to_vec(),
            voxels_from_mesh: [0, 1, 2].map(row),
        }
    }

    /// Triangles that share no vertices.
    fn of_triangles(triangles: &[[[f64; 3]; 3]], scale: f32, offset: [f32; 3]) -> Self {
        let numbers: Vec<_> =
            (0..triangles.len() as u32).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
        Self::new(triangles.as_flattened(), &numbers, scale, offset)
    }

    /// A mesh in voxels.
    fn of_mesh(mesh: &Mesh) -> Self {
        Self::new(mesh.positions(), mesh.triangles(), 1.0, [0.0; 3])
    }

    /// The lattice points of a placed mesh.
    fn of(mesh: &PlacedMesh) -> Self {
        let positions: Vec<[f64; 3]> = mesh.vertices().iter().map(|v| v.map(f64::from)).collect();
        let scale = 1.0 / mesh.lattice().units_per_voxel() as f32;
        Self::new(&positions, mesh.indices(), scale, [0.0; 3])
    }

    /// Its buffers. The colours are those of triangles from `first_triangle` on.
    fn buffers(&self, device: &Device, index_format: IndexFormat, first_triangle: u32) -> Uploaded {
        let fill = |bytes: &[u8]| {
            let words = bytes.len().div_ceil(4) as u64;
            let usage = Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST;
            let buffer = device.buffer("mesh", words, usage);
            let padded: Vec<u8> = bytes.iter().copied().chain([0; 3]).collect();
            device.queue.write_buffer(&buffer, 0, &padded[..4 * words as usize]);
            buffer
        };
        // Two indices that are not the mesh's come first.
        let all = [&[7, 7], self.indices.as_flattened()].concat();
        let indices = match index_format {
            IndexFormat::Uint16 => {
                let short: Vec<u16> = all.iter().map(|&index| index as u16).collect();
                fill(bytemuck::cast_slice(&short))
            }
            IndexFormat::Uint32 => fill(bytemuck::cast_slice(&all)),
        };
        let triangles = first_triangle..first_triangle + self.indices.len() as u32;
        let colors: Vec<u32> = triangles.map(color_of).collect();
        let vertices = fill(bytemuck::cast_slice(&self.vertices));
        Uploaded { vertices, indices, index_format, colors: fill(bytemuck::cast_slice(&colors)) }
    }

    fn mesh<'a>(&self, buffers: &'a Uploaded) -> MeshBuffers<'a> {
        let Uploaded { vertices, indices, index_format, colors } = buffers;
        MeshBuffers {
            colors: Some(colors),
            vertices,
            vertex_offset: 4,
            vertex_stride: 4 * WORDS as u64,
            vertex_count: (self.vertices.len() / WORDS) as u32,
            indices,
            index_format: *index_format,
            index_offset: 2 * index_format.byte_size() as u64,
            triangle_count: self.indices.len() as u32,
            voxels_from_mesh: self.voxels_from_mesh,
        }
    }

    /// Its scene.
    fn run(&self, builder: &SceneBuilder) -> SceneStatus {
        let buffers = self.buffers(builder.scene().device(), IndexFormat::Uint32, 0);
        run(builder, &[self.mesh(&buffers)])
    }
}

fn surface_builder(gpu: &Gpu, lattice: &Lattice) -> SceneBuilder {
    SceneBuilder::new(gpu, lattice, Mode::Surface, CAPACITY).unwrap()
}

/// Records and submits meshes.
fn run(builder: &SceneBuilder, meshes: &[MeshBuffers]) -> SceneStatus {
    let Device { device, queue, .. } = builder.scene().device();
    let mut encoder = device.create_command_encoder(&Default::default());
    builder.record(&mut encoder, meshes).unwrap();
    queue.submit([encoder.finish()]);
    builder.status().unwrap()
}

/// The buffers of a mesh.
struct Uploaded {
    vertices: wgpu::Buffer,
    indices: wgpu::Buffer,
    index_format: IndexFormat,
    colors: wgpu::Buffer,
}

/// The colour of a triangle.
fn color_of(triangle: u32) -> u32 {
    0xff00_0003 + 5 * triangle
}

type Brick = [u32; BRICK_WORDS];

/// The first bricks of the scene, in the order of the buffer.
fn bricks(builder: &SceneBuilder, count: u32) -> Vec<Brick> {
    let words = u64::from(count) * BRICK_WORDS as u64;
    let scene = builder.scene();
    let read = read_buffer(scene.device(), &scene.buffers().bricks, words);
    read.as_chunks().0.to_vec()
}

/// Those with a voxel: a triangle beside the grid may touch a brick that the grid's end cuts, and
/// none of its voxels.
fn occupied_bricks(builder: &SceneBuilder, count: u32) -> Vec<Brick> {
    let has_voxel = |brick: &Brick| brick[KEY_WORDS..].iter().any(|&word| word != 0);
    bricks(builder, count).into_iter().filter(has_voxel).collect()
}

/// The bricks of a grid without full bricks, in canonical order.
fn bricks_of(grid: &VoxelGrid) -> Vec<Brick> {
    let brick = |(key, mask): (BrickKey, &Mask)| {
        let [x, y, z] = key.position();
        let mask = mask.map(|word| [word as u32, (word >> 32) as u32]);
        [&[x | y << 16, z], mask.as_flattened()].concat().try_into().unwrap()
    };
    Scene::new(grid).bricks().map(brick).collect()
}

/// The set bits of a mask of 8 x 8 x 8 cells.
fn bits(mask: &[u32]) -> impl Iterator<Item = usize> {
    (0..512).filter(|bit| mask[bit / 32] >> (bit % 32) & 1 == 1)
}

/// The cell of a bit, of the node or the brick at `position`.
fn cell(position: [u32; 3], bit: usize) -> [u32; 3] {
    let within = [bit / 64, bit / 8 % 8, bit % 8];
    [0, 1, 2].map(|a| 8 * position[a] + within[a] as u32)
}

fn position(brick: &[u32]) -> [u32; 3] {
    [brick[0] & 0xffff, brick[0] >> 16, brick[1]]
}

/// The voxels of the scene and their colours, by the published layout.
fn colors(builder: &SceneBuilder, count: u32) -> HashMap<[u32; 3], u32> {
    let words = &builder.scene().buffers().colors;
    let words = read_buffer(builder.scene().device(), words, words.size() / 4);
    let mut colors = HashMap::new();
    for (brick, &place) in bricks(builder, count).iter().zip(&words) {
        let own = bits(&brick[KEY_WORDS..]).zip(&words[place as usize..]);
        colors.extend(own.map(|(bit, &color)| (cell(position(brick), bit), color)));
    }
    colors
}

/// The voxels of the scene, by the published layout.
fn voxels(builder: &SceneBuilder, dims: [u32; 3]) -> VoxelGrid {
    let buffers = builder.scene().buffers();
    let device = builder.scene().device();
    let all = |buffer: &wgpu::Buffer| read_buffer(device, buffer, buffer.size() / 4);
    let [header, nodes] = [&buffers.header, &buffers.nodes].map(all);
    let [children, bricks] = [&buffers.children, &buffers.bricks].map(all);
    let nodes: Vec<Node> = bytemuck::pod_collect_to_vec(&nodes);
    let (top, root) = (header[1], header[2]);
    let mut voxels = Vec::new();
    // Level, index and position of nodes.
    let mut open = if root == NO_NODES { vec![] } else { vec![(top, root, [0; 3])] };
    while let Some((level, index, at)) = open.pop() {
        if level == 0 {
            let brick = &bricks[index as usize * BRICK_WORDS..][..BRICK_WORDS];
            assert_eq!(position(brick), at);
            voxels.extend(bits(&brick[KEY_WORDS..]).map(|bit| cell(at, bit)));
            continue;
        }
        let node = &nodes[index as usize];
        let cells = bits(bytemuck::cast_slice(&node.partial)).zip(&children[node.first as usize..]);
        open.extend(cells.map(|(bit, &child)| (level - 1, child, cell(at, bit))));
        for bit in bits(bytemuck::cast_slice(&node.full)) {
            assert_eq!(level, 1, "full cells are bricks");
            let brick = cell(at, bit);
            voxels.extend((0..512).map(|bit| cell(brick, bit)));
        }
    }
    VoxelGrid::from_voxels(dims, voxels).unwrap()
}

/// The colours of the first triangles that touch the voxels of `grid`, by the oracle.
fn first_colors(mesh: &PlacedMesh, grid: &VoxelGrid) -> HashMap<[u32; 3], u32> {
    let unit = mesh.lattice().units_per_voxel();
    let triangles: Vec<Triangle> = mesh.triangles().collect();
    let touches = |voxel: [u32; 3], triangle: &Triangle| {
        let low = voxel.map(|c| c as i32 * unit);
        let is_beside = |a: usize| {
            let [p, q, r] = triangle.map(|corner| corner[a]);
            p.max(q).max(r) < low[a] || p.min(q).min(r) > low[a] + unit
        };
        !(0..3).any(is_beside) && oracle::touches(triangle, low.map(|c| c + unit / 2), unit / 2)
    };
    let first = |voxel| triangles.iter().position(|triangle| touches(voxel, triangle)).unwrap();
    grid.voxels().map(|voxel| (voxel, color_of(first(voxel) as u32))).collect()
}

/// Rays at all of the grid from outside.
fn rays_at(grid: &VoxelGrid) -> Vec<Ray> {
    let mut rng = Rng::with_seed(9);
    let far = grid.dims().map(f64::from);
    let ray = |_| {
        let from = far.map(|d| (rng.f64() * 3.0 - 1.0) * d);
        let to = far.map(|d| rng.f64() * d);
        Ray::new(from, minus(to, from)).unwrap()
    };
    (0..3000).map(ray).collect()
}

/// Runs the mesh, and compares the scene with the grid of `expected`.
fn check(floats: &Floats, expected: &PlacedMesh, builder: &SceneBuilder, what: &str) {
    compare(floats.run(builder), expected, builder, what);
}

/// Compares the scene that was run last with the grid of `expected`.
fn compare(status: SceneStatus, expected: &PlacedMesh, builder: &SceneBuilder, what: &str) {
    let grid = surface(expected);
    let known = bricks_of(&grid);
    assert_eq!(status.failure, None, "{what}");
    assert!(status.bricks as usize >= known.len(), "{what}");
    assert!(occupied_bricks(builder, status.bricks) == known, "{what}");
    assert_eq!(u64::from(status.voxels), grid.occupied(), "{what}");
    assert!(colors(builder, status.bricks) == first_colors(expected, &grid), "{what}");
    check_hits(builder, &grid, what);
}

/// Compares the hits of rays in the scene with those in the grid.
fn check_hits(builder: &SceneBuilder, grid: &VoxelGrid, what: &str) {
    let (_, wrong) = compare_hits(builder.scene(), grid, &rays_at(grid));
    assert_eq!(wrong, None, "{what}");
}

fn lattice_of(dims: [u32; 3], fraction_bits: u32) -> Lattice {
    lattice_at([0.0; 3], 1.0, dims, fraction_bits)
}

/// The mesh with its coordinates in voxels.
fn in_voxels(placed: &PlacedMesh) -> Mesh {
    let units = f64::from(placed.lattice().units_per_voxel());
    let positions = placed.vertices().iter().map(|v| v.map(|c| f64::from(c) / units)).collect();
    Mesh::new(positions, placed.indices().to_vec()).unwrap()
}

#[test]
fn recorded_scenes_have_the_bricks_of_the_cpu() {
    let of_size = |count: usize, dim: u32| placed_soup(count as u64, count, dim, UNIT / 4);
    let end = 100 * UNIT;
    let whole = placed(&[[[0, 0, 0], [end, 0, end / 3], [end / 2, end, end]]], [100; 3]);
    for (label, gpu) in gpus(adapters()) {
        let builder = surface_builder(&gpu, whole.lattice());
        // One after another in the same buffers: many bricks, then few, then many.
        let meshes = [
            ("a soup", of_size(400, 100)),
            ("one triangle over the grid", whole.clone()),
            ("a point", placed(&[[[5 * UNIT + 3; 3]; 3]], [100; 3])),
            ("another soup", of_size(300, 100)),
        ];
        for (name, mesh) in &meshes {
            check(&Floats::of(mesh), mesh, &builder, &format!("{label}, {name}"));
        }
        let empty = Floats::of_triangles(&[], 1.0, [0.0; 3]).run(&builder);
        assert_eq!((empty.failure, empty.bricks), (None, 0), "{label}");
        check_hits(&builder, &VoxelGrid::empty([100; 3]).unwrap(), &label);
        // Grids of one and of three levels.
        let wide = lattice_of([520, 30, 520], 13);
        let point = placed(&[[[5 * UNIT + 3; 3]; 3]], [70, 9, 11]);
        let in_wide = place_on(&in_voxels(&of_size(40, 250)), &wide).unwrap();
        for mesh in [of_size(2, 8), point, of_size(12, 250), in_wide] {
            let builder = surface_builder(&gpu, mesh.lattice());
            check(&Floats::of(&mesh), &mesh, &builder, &format!("{label}, {:?}", mesh.lattice()));
        }
    }
}

/// The mesh at multiples of 2^-10, which the host and the GPU round alike.
fn moved_to_multiples(mesh: Mesh, by: [f64; 3]) -> Mesh {
    mesh.with_positions(|p| plus(p, by).map(|c| (c * 1024.0).round() / 1024.0)).unwrap()
}

const PARITY: Solid = Solid { fill: Fill::Parity, include_surface: false };

#[test]
fn recorded_solids_and_thin_surfaces_have_the_voxels_of_the_cpu() {
    let lattice = lattice_of([70, 64, 48], 10);
    let mut rng = Rng::with_seed(3);
    let mut boxes = || {
        let random_box = |_| {
            let low = lattice.dims.map(|d| f64::from(rng.u32(0..d - 1)));
            let high = lattice.dims.map(f64::from).map(|d| d.min(rng.f64() * 2.0 * d));
            cuboid(low, [0, 1, 2].map(|a| high[a].max(low[a] + 0.25)))
        };
        together(&(0..12).map(random_box).collect::<Vec<_>>())
    };
    let meshes = [
        ("a ball", moved_to_multiples(sphere(20.3, 20, 40), [33.1, 31.9, 24.2])),
        ("a ring", moved_to_multiples(torus(18.0, 6.0, 30, 16), [30.0, 32.0, 24.0])),
        // Its faces pass through corners of bricks, and end with the grid.
        ("the grid", cuboid([0.0; 3], [70.0, 64.0, 48.0])),
        ("half the grid, between centres", cuboid([7.75, 0.5, 8.5], [40.5, 63.75, 47.25])),
        ("a ball past the grid", moved_to_multiples(sphere(33.0, 20, 40), [35.0, 60.0, 30.0])),
        ("a body thinner than a voxel", cuboid([8.6, 8.6, 8.6], [9.4, 20.0, 20.0])),
        ("boxes", boxes()),
        ("other boxes", boxes()),
    ];
    let capacity = SceneCapacity { voxels: 0, ..CAPACITY };
    for (label, gpu) in gpus(adapters()) {
        for mode in [Mode::Solid(PARITY), Mode::Thin] {
            let builder = SceneBuilder::new(&gpu, &lattice, mode, capacity).unwrap();
            for (name, mesh) in &meshes {
                let what = format!("{label}, {mode:?}, {name}");
                let grid = in_mode(&place_on(mesh, &lattice).unwrap(), mode).grid;
                assert_eq!(Floats::of_mesh(mesh).run(&builder).failure, None, "{what}");
                assert_same(&voxels(&builder, grid.dims()), &grid, &what);
                check_hits(&builder, &grid, &what);
            }
        }
    }
}

/// A 3D texture of a scene's voxels, filled by the kernel of the documents.
fn texture(builder: &SceneBuilder, size: [u32; 3]) -> Vec<u32> {
    let page = include_str!("../../docs/library.md");
    let start = page.find("@group(0) @binding(0) var occupancy").expect("the kernel");
    let source = page[start..].split("```").next().unwrap();
    let [width, height, depth_or_array_layers] = size;
    let size = wgpu::Extent3d { width, height, depth_or_array_layers };
    let format = wgpu::TextureFormat::R32Uint;
    let device = builder.scene().device();
    let texture = device.device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size,
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D3,
        format,
        usage: wgpu::TextureUsages::STORAGE_BINDING | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    });
    let written = wgpu::BindingType::StorageTexture {
        access: wgpu::StorageTextureAccess::WriteOnly,
        format,
        view_dimension: wgpu::TextureViewDimension::D3,
    };
    let view = texture.create_view(&Default::default());
    let groups = [width, height, depth_or_array_layers].map(|texels| texels / 4);
    let view = wgpu::BindingResource::TextureView(&view);
    run_stage(source, builder.scene(), written, view, groups);
    let words = u64::from(width * height * depth_or_array_layers);
    let copied = device.buffer("copied", words, Usage::COPY_DST | Usage::COPY_SRC);
    let layout = wgpu::TexelCopyBufferLayout {
        offset: 0,
        bytes_per_row: Some(4 * width),
        rows_per_image: Some(height),
    };
    let to = wgpu::TexelCopyBufferInfo { buffer: &copied, layout };
    let mut encoder = device.device.create_command_encoder(&Default::default());
    encoder.copy_texture_to_buffer(texture.as_image_copy(), to, size);
    device.queue.submit([encoder.finish()]);
    read_buffer(device, &copied, words)
}

#[test]
fn the_kernel_of_the_documents_fills_a_texture_with_the_voxels() {
    let lattice = lattice_of([64; 3], 10);
    let mesh = cuboid([10.2; 3], [51.7, 40.3, 33.3]);
    let capacity = SceneCapacity { voxels: 0, ..CAPACITY };
    // On OpenGL wgpu 30 binds only the first layer of a 3D storage texture, and copies zeros from
    // the others (gfx-rs/wgpu#10015).
    for (label, gpu) in gpus(adapters()) {
        if label.starts_with("gl") {
            println!("skipped: {label}");
            continue;
        }
        let mode = Mode::Solid(PARITY);
        let builder = SceneBuilder::new(&gpu, &lattice, mode, capacity).unwrap();
        Floats::of_mesh(&mesh).run(&builder);
        let texels = texture(&builder, [64; 3]);
        let grid = in_mode(&place_on(&mesh, &lattice).unwrap(), mode).grid;
        let occupied = (0..64_u32.pow(3)).filter(|&i| texels[i as usize] == 1);
        let found = occupied.map(|i| [i % 64, i / 64 % 64, i / 64 / 64]);
        assert!(VoxelGrid::from_voxels([64; 3], found).unwrap() == grid, "{label}");
        assert!(texels.iter().all(|&texel| texel <= 1), "{label}");
    }
}

#[test]
fn the_bricks_of_a_long_solid_need_no_more_room_than_its_status_says() {
    let lattice = lattice_of([1000, 8, 8], 10);
    let mesh = cuboid([3.0, -2.0, -2.0], [997.0, 10.0, 10.0]);
    let mode = Mode::Solid(PARITY);
    for (label, gpu) in gpus(adapters()) {
        let new = |bricks| {
            let capacity = SceneCapacity { voxels: 0, bricks, ..CAPACITY };
            SceneBuilder::new(&gpu, &lattice, mode, capacity).unwrap()
        };
        let floats = Floats::of_mesh(&mesh);
        let needed = floats.run(&new(1000)).bricks;
        let builder = new(needed);
        assert_eq!(floats.run(&builder).failure, None, "{label}");
        let inside = block(lattice.dims, [3, 0, 0], [997, 8, 8]);
        assert_same(&voxels(&builder, lattice.dims), &inside, &label);
    }
}

#[test]
fn a_solid_that_cannot_be_filled_is_empty_and_says_why() {
    let lattice = lattice_of([64; 3], 10);
    let closed = cuboid([9.0; 3], [50.0; 3]);
    // Two sheets across x, the first sides of a box: each column through them crosses both.
    let sheets = first_triangles(&closed, 4);
    let without_one = with_triangles(&closed, closed.triangles()[1..].to_vec());
    for (label, gpu) in gpus(adapters()) {
        let new = |lattice, mode, voxels| {
            SceneBuilder::new(&gpu, lattice, mode, SceneCapacity { voxels, ..CAPACITY })
        };
        let builder = new(&lattice, Mode::Solid(PARITY), 0).unwrap();
        let failure = |mesh: &Mesh| Floats::of_mesh(mesh).run(&builder).failure;
        for open in [&sheets, &without_one] {
            assert_eq!(failure(open), Some(SceneFailure::NotClosed), "{label}");
            assert_eq!(voxels(&builder, [64; 3]).occupied(), 0, "{label}");
        }
        // Vertices may be less than half a voxel beside the grid along x.
        for (x, why) in [
            ([-0.5, 20.0], Some(SceneFailure::Vertex)),
            ([20.0, 64.5], Some(SceneFailure::Vertex)),
            ([-0.25, 20.0], None),
            ([20.0, 64.25], None),
        ] {
            let past = cuboid([x[0], 20.0, 20.0], [x[1], 30.0, 30.0]);
            assert_eq!(failure(&past), why, "{label}");
        }
        assert_eq!(failure(&cuboid([0.0, 20.0, -9.0], [64.0, 30.0, 70.0])), None, "{label}");
        // Beside all columns they may be anywhere along x.
        let beside = cuboid([-1e6, 70.0, 20.0], [1e6, 1e9, 30.0]);
        assert_eq!(failure(&beside), None, "{label}");
        assert_eq!(failure(&together(&[closed.clone(), beside])), None, "{label}");
        let grid = in_mode(&place_on(&closed, &lattice).unwrap(), Mode::Solid(PARITY)).grid;
        assert_same(&voxels(&builder, [64; 3]), &grid, &label);
        let thick = Mode::Solid(Solid { include_surface: true, ..PARITY });
        let wound = Mode::Solid(Solid { fill: Fill::Winding, ..PARITY });
        let chosen = Mode::Solid(Solid::default());
        let cut = lattice_of([64, 64, 60], 10);
        for (lattice, mode, voxels, word) in [
            (&lattice, Mode::Solid(PARITY), 1, "only the voxels of surfaces"),
            (&lattice, Mode::Thin, 1, "only the voxels of surfaces"),
            (&lattice, thick, 0, "filled by `Fill::Parity`"),
            (&lattice, wound, 0, "filled by `Fill::Parity`"),
            (&lattice, chosen, 0, "filled by `Fill::Parity`"),
            (&cut, Mode::Solid(PARITY), 0, "multiple of 8"),
        ] {
            let error = new(lattice, mode, voxels).unwrap_err().to_string();
            assert!(error.contains(word), "{label}: {error}");
        }
    }
}

#[test]
fn floats_are_rounded_as_on_the_host_where_nothing_else_is() {
    // Coordinates are multiples of 2^-12 below 4. The scale and the offset keep products and sums
    // within 24 bits; the lattice has fewer, so that halves are rounded to even.
    let mut rng = Rng::with_seed(4);
    let mut corner = || [(); 3].map(|()| f64::from(rng.u32(0..1 << 14)) / 4096.0);
    let triangles: Vec<_> = (0..100).map(|_| [(); 3].map(|()| corner())).collect();
    let lattice = lattice_of([90, 80, 70], 6);
    for (label, gpu) in gpus(adapters()) {
        let builder = surface_builder(&gpu, &lattice);
        // The second reaches out of the grid on some sides, and the third misses it.
        for (scale, offset) in
            [(16.0, [3.5, 0.25, 1.0]), (32.0, [-40.5, 7.0, -9.0]), (0.5, [200.0, 0.0, 0.0])]
        {
            let in_voxels =
                |p: [f64; 3]| [0, 1, 2].map(|a| p[a] * f64::from(scale) + f64::from(offset[a]));
            let expected = mesh_of(&triangles).with_positions(in_voxels).unwrap();
            let expected = place_on(&expected, &lattice).unwrap();
            let floats = Floats::of_triangles(&triangles, scale, offset);
            check(&floats, &expected, &builder, &format!("{label}, {scale}"));
        }
    }
}

#[test]
fn a_mesh_may_reach_half_a_grid_beyond_a_grid_of_any_size() {
    for (label, gpu) in gpus(fast_adapters()) {
        for dim in [64_u32, 128, 256, 512, 1024] {
            // Coordinates of tenths are rounded to either side of the grid's ends.
            let corners = [[0.1, 0.2, 0.3], [0.7, 0.8, 0.9], [0.1, 0.2, 0.3001]];
            let tight = Lattice::of(&mesh_of(&[corners]), &resolution(dim)).unwrap();
            let builder = surface_builder(&gpu, &tight);
            let what = format!("{label}, {dim}");
            let per_unit = 1.0 / tight.voxel_size;
            let offset = tight.origin.map(|c| (-c * per_unit) as f32);
            let floats = Floats::of_triangles(&[corners], per_unit as f32, offset);
            assert_eq!(floats.run(&builder).failure, None, "{what}");
            // Half a grid beyond it, and a lattice unit or more past that.
            let [low, high] = [-0.5, 1.5].map(|end| end * f64::from(dim));
            let far = [[low; 3], [high; 3], [low, low, low + 0.5]];
            let wide = lattice_of(tight.dims, tight.fraction_bits.min(23 - dim.ilog2()));
            let expected = place_on(&mesh_of(&[far]), &wide).unwrap();
            check(&Floats::of_triangles(&[far], 1.0, [0.0; 3]), &expected, &builder, &what);
            let failure = Floats::of_triangles(&[far], 1.01, [0.0; 3]).run(&builder).failure;
            assert_eq!(failure, (dim >= 128).then_some(SceneFailure::Vertex), "{what}");
        }
    }
}

#[test]
fn triangles_beside_the_grid_may_be_anywhere() {
    let whole = placed_soup(7, 100, 100, UNIT / 4);
    let near = Floats::of(&whole);
    let huge = f64::from(f32::MAX);
    for (label, gpu) in gpus(adapters()) {
        let device = gpu.device();
        let builder = surface_builder(&gpu, whole.lattice());
        let near_buffers = near.buffers(device, IndexFormat::Uint32, 0);
        let run_in = |builder: &SceneBuilder, triangles: &[[[f64; 3]; 3]]| {
            let far = Floats::of_triangles(triangles, 2.0, [0.5; 3]);
            let buffers = far.buffers(device, IndexFormat::Uint32, 100);
            run(builder, &[near.mesh(&near_buffers), far.mesh(&buffers)])
        };
        let run_with = |triangles: &[[[f64; 3]; 3]]| run_in(&builder, triangles);
        // The last overflows, along x to both sides.
        let beside = [
            [[1e6, 3.0, 3.0], [1e6, 9.0, 3.0], [1e6, 3.0, 9.0]],
            [[3.0, -1e9, 3.0], [-1e9, -1e9, 3.0], [huge, -1e9, 9.0]],
            [[-huge, 3.0, huge], [huge, 3.0, huge], [3.0, 3.0, huge]],
        ];
        compare(run_with(&beside), &whole, &builder, &label);
        let capacity = SceneCapacity { voxels: 0, ..CAPACITY };
        let thin = SceneBuilder::new(&gpu, whole.lattice(), Mode::Thin, capacity).unwrap();
        assert_eq!(run_in(&thin, &beside).failure, None, "{label}");
        let grid = in_mode(&whole, Mode::Thin).grid;
        assert_same(&voxels(&thin, grid.dims()), &grid, &label);
        for across in [
            [[1e6, 3.0, 3.0], [3.0, 9.0, 3.0], [3.0, 3.0, 9.0]],
            [[-1e6, 3.0, 3.0], [1e6, 9.0, 3.0], [1e6, 3.0, 9.0]],
            [[3.0, -huge, 3.0], [3.0, 9.0, 3.0], [3.0, huge, 9.0]],
            [[f64::NAN, 1e6, 1e6], [1e6; 3], [1e6; 3]],
        ] {
            let failure = run_with(&[across]).failure;
            assert_eq!(failure, Some(SceneFailure::Vertex), "{label}, {across:?}");
        }
        // The sum of products that overflow to both sides is no number.
        let mut summed =
            Floats::of_triangles(&[[[4.0; 3], [4.0, 4.0, 9.0], [4.0, 4.0, 5.0]]], 1.0, [0.0; 3]);
        summed.voxels_from_mesh[0] = [f32::MAX, -f32::MAX, 0.0, 0.0];
        assert_eq!(summed.run(&builder).failure, Some(SceneFailure::Vertex), "{label}");
        // A vertex that no triangle uses.
        let mut unused = Floats::of(&whole);
        unused.vertices.extend([f32::NAN; WORDS]);
        compare(unused.run(&builder), &whole, &builder, &label);
    }
}

#[test]
fn a_finer_lattice_is_coarsened_to_that_of_the_scene() {
    let lattice = lattice_of([256; 3], 16);
    let mesh = moved_to_multiples(torus(80.3, 20.7, 40, 20), [128.0; 3]);
    for (label, gpu) in gpus(fast_adapters()) {
        let builder = surface_builder(&gpu, &lattice);
        let coarse = builder.lattice();
        assert_eq!((coarse.fraction_bits, coarse.dims), (15, lattice.dims), "{label}");
        check(&Floats::of_mesh(&mesh), &place_on(&mesh, &coarse).unwrap(), &builder, &label);
    }
}

#[test]
fn the_scene_of_a_frame_is_that_of_the_mesh_recorded_last() {
    let ball = moved_to_multiples(sphere(20.0, 12, 24), [32.0; 3]);
    let ring = moved_to_multiples(torus(18.0, 6.0, 30, 16), [32.0; 3]);
    let lattice = lattice_of([64; 3], 10);
    for (label, gpu) in gpus(fast_adapters()) {
        let device = gpu.device();
        let builder = surface_builder(&gpu, &lattice);
        let mut encoder = device.device.create_command_encoder(&Default::default());
        for (mesh, format) in [(&ring, IndexFormat::Uint32), (&ball, IndexFormat::Uint16)] {
            let floats = Floats::of_mesh(mesh);
            let buffers = floats.buffers(device, format, 0);
            builder.record(&mut encoder, &[floats.mesh(&buffers)]).unwrap();
        }
        device.queue.submit([encoder.finish()]);
        let status = builder.status().unwrap();
        let grid = surface(&place_on(&ball, &lattice).unwrap());
        assert!(occupied_bricks(&builder, status.bricks) == bricks_of(&grid), "{label}");
        let placed = place_on(&ring, &lattice).unwrap();
        check(&Floats::of_mesh(&ring), &placed, &builder, &label);
    }
}

#[test]
fn meshes_of_one_recording_are_one_scene() {
    let whole = placed_soup(6, 300, 100, UNIT / 4);
    let scale = 1.0 / whole.lattice().units_per_voxel() as f32;
    // Triangles by mesh, and its coordinates by those of the lattice: exact in `f32`.
    let parts =
        [(0..100, 1.0, 0.0), (100..101, 0.5, -32.0), (101..101, 1.0, 0.0), (101..300, 4.0, 8.0)];
    let parts = parts.map(|(range, factor, offset)| {
        let own = |c: i32| (f64::from(c) * f64::from(scale) - offset) * factor;
        let triangles: Vec<_> =
            range.map(|index| whole.triangle(index).map(|corner| corner.map(own))).collect();
        Floats::of_triangles(&triangles, 1.0 / factor as f32, [offset as f32; 3])
    });
    for (label, gpu) in gpus(adapters()) {
        let device = gpu.device();
        let builder = surface_builder(&gpu, whole.lattice());
        let formats = [IndexFormat::Uint16, IndexFormat::Uint32].into_iter().cycle();
        let buffers: Vec<Uploaded> = (parts.iter().zip(formats).zip([0, 100, 101, 101]))
            .map(|((part, format), first)| part.buffers(device, format, first))
            .collect();
        let meshes: Vec<_> =
            parts.iter().zip(&buffers).map(|(part, buffers)| part.mesh(buffers)).collect();
        compare(run(&builder, &meshes), &whole, &builder, &label);
        // Nothing is a scene too.
        let status = run(&builder, &[]);
        assert_eq!((status.failure, status.bricks, status.triangles), (None, 0, 0), "{label}");
    }
}

#[test]
fn triangles_beside_the_grid_are_counted() {
    let lattice = lattice_of([64; 3], 10);
    let both = together(&[cuboid([10.0; 3], [20.0; 3]), cuboid([70.0; 3], [90.0; 3])]);
    for (label, gpu) in gpus(fast_adapters()) {
        let builder = surface_builder(&gpu, &lattice);
        let status = Floats::of_mesh(&both).run(&builder);
        assert_eq!((status.failure, status.triangles), (None, 12), "{label}");
    }
}

#[test]
fn a_scene_that_overflows_is_empty_and_says_why() {
    let mesh = placed_soup(8, 200, 100, UNIT / 4);
    let floats = Floats::of(&mesh);
    let grid = surface(&mesh);
    let rays = rays_at(&grid);
    let [count, voxels] = [bricks_of(&grid).len() as u32, grid.occupied() as u32];
    let exact = SceneCapacity { bricks: count, ..CAPACITY };
    let mut broken = [SceneFailure::Vertex; 4].map(|why| (Floats::of(&mesh), why));
    broken[0].0.vertices[1] = f32::NAN;
    broken[1].0.vertices[7] = f32::INFINITY;
    broken[2].0.vertices[WORDS + 2] = -3.0e7;
    broken[3].0.indices[11][1] = (floats.vertices.len() / WORDS) as u32;
    broken[3].1 = SceneFailure::Index;
    for (label, gpu) in gpus(fast_adapters()) {
        let status = |capacity: SceneCapacity, floats: &Floats| {
            let builder = SceneBuilder::new(&gpu, mesh.lattice(), Mode::Surface, capacity).unwrap();
            let status = floats.run(&builder);
            let is_empty = builder.scene().first_hits(&rays).unwrap().iter().all(Option::is_none);
            assert_eq!(is_empty, status.failure.is_some(), "{label}, {status:?}");
            status
        };
        assert_eq!(status(exact, &floats).failure, None);
        let few = status(SceneCapacity { bricks: count - 1, ..CAPACITY }, &floats);
        assert_eq!((few.failure, few.bricks), (Some(SceneFailure::Bricks), count), "{label}");
        for (room, failure, needed) in [
            (voxels, None, voxels),
            (voxels - 1, Some(SceneFailure::Voxels), voxels),
            (1, Some(SceneFailure::Voxels), voxels),
            (0, None, 0),
        ] {
            let status = status(SceneCapacity { voxels: room, ..CAPACITY }, &floats);
            assert_eq!((status.failure, status.voxels), (failure, needed), "{label}, {room}");
        }
        let few = status(SceneCapacity { pairs: 300, ..CAPACITY }, &floats);
        assert_eq!(few.failure, Some(SceneFailure::Pairs), "{label}");
        for (broken, why) in &broken {
            assert_eq!(status(CAPACITY, broken).failure, Some(*why), "{label}");
        }
        // After a failure, the next scene is complete again.
        let builder = SceneBuilder::new(&gpu, mesh.lattice(), Mode::Surface, exact).unwrap();
        assert!(broken[0].0.run(&builder).failure.is_some());
        assert_eq!(floats.run(&builder).failure, None);
        check_hits(&builder, &grid, &label);
    }
}

#[test]
fn a_mesh_that_cannot_be_recorded_is_an_error_and_the_next_one_is_not() {
    let mesh = placed(&[[[5 * UNIT + 3; 3]; 3]], [20; 3]);
    for (_, gpu) in gpus(adapters()).take(1) {
        let device = gpu.device();
        let small = SceneCapacity { vertices: 3, triangles: 1, pairs: 64, bricks: 64, ..CAPACITY };
        let builder = SceneBuilder::new(&gpu, mesh.lattice(), Mode::Surface, small).unwrap();
        let buffer = |usage| device.buffer("mesh", 9, usage);
        let right = buffer(Usage::STORAGE | Usage::COPY_SRC);
        let wrong = buffer(Usage::VERTEX);
        let destroyed = buffer(Usage::STORAGE);
        destroyed.destroy();
        let cut = device.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: 6,
            usage: Usage::STORAGE,
            mapped_at_creation: false,
        });
        let good = MeshBuffers {
            vertices: &right,
            vertex_offset: 0,
            vertex_stride: 12,
            vertex_count: 3,
            indices: &right,
            index_format: IndexFormat::Uint32,
            index_offset: 0,
            triangle_count: 1,
            voxels_from_mesh: [[0.0; 4]; 3],
            colors: Some(&right),
        };
        let bad = [
            (MeshBuffers { vertices: &wrong, ..good }, "vertices has not the usage STORAGE"),
            (MeshBuffers { indices: &wrong, ..good }, "indices has not the usage STORAGE"),
            (MeshBuffers { vertex_offset: 2, ..good }, "vertex_offset of 2 is not a multiple of 4"),
            (MeshBuffers { vertex_stride: 13, ..good }, "vertex_stride of 13"),
            (MeshBuffers { vertex_stride: 0, ..good }, "less than a position"),
            (MeshBuffers { vertex_stride: 8, ..good }, "less than a position"),
            (MeshBuffers { index_offset: 2, ..good }, "index_offset of 2"),
            (MeshBuffers { vertex_offset: 4, ..good }, "vertices, to a whole word, end past"),
            (MeshBuffers { vertex_offset: u64::MAX - 3, ..good }, "past"),
            (MeshBuffers { vertex_stride: u64::MAX - 3, ..good }, "past"),
            (MeshBuffers { index_offset: 28, ..good }, "indices, to a whole word, end past"),
            (
                MeshBuffers { indices: &cut, index_format: IndexFormat::Uint16, ..good },
                "indices, to a whole word, end past their buffer of 6 bytes",
            ),
            (MeshBuffers { vertex_count: 4, ..good }, "capacity"),
            (MeshBuffers { triangle_count: 2, ..good }, "capacity"),
            (MeshBuffers { colors: None, ..good }, "no colours"),
            (MeshBuffers { colors: Some(&wrong), ..good }, "usage COPY_SRC"),
        ];
        let mut encoder = device.device.create_command_encoder(&Default::default());
        for (mesh, word) in bad {
            let error = builder.record(&mut encoder, &[mesh]).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
        let twice = builder.record(&mut encoder, &[good, good]).unwrap_err().to_string();
        assert!(twice.contains("capacity"), "{twice}");
        builder.record(&mut encoder, &[good]).unwrap();
        // An error of the caller's buffer is not one of the device.
        let mut dropped = device.device.create_command_encoder(&Default::default());
        let refused = builder.record(&mut dropped, &[MeshBuffers { vertices: &destroyed, ..good }]);
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("destroyed"), "{refused}");
        let outside = Lattice { fraction_bits: 16, ..lattice_of([1000; 3], 14) };
        assert!(matches!(
            SceneBuilder::new(&gpu, &outside, Mode::Surface, small),
            Err(BackendError::Gpu(GpuError::Scene(_)))
        ));
        let large = lattice_of([1 << 16; 3], 8);
        let refused = SceneBuilder::new(&gpu, &large, Mode::Surface, small).unwrap_err();
        let says = "549,755,813,888 bricks of 8 x 8 x 8 voxels, and a scene 134,217,728 at most";
        assert!(refused.to_string().contains(says), "{refused}");
        assert_eq!(device.check(), Ok(()));
        device.queue.submit([encoder.finish()]);
        assert_eq!(builder.status().map(|status| status.failure), Ok(None));
        device.device.destroy();
        let mut encoder = device.device.create_command_encoder(&Default::default());
        for meshes in [&[good][..], &[]] {
            assert!(matches!(builder.record(&mut encoder, meshes), Err(GpuError::Device(_))));
        }
    }
}

#[test]
fn a_mesh_may_be_a_part_of_a_buffer_that_is_too_large_to_be_bound() {
    let mesh = placed_soup(6, 50, 100, UNIT / 4);
    let floats = Floats::of(&mesh);
    for (device, queue, _) in devices_of_a_renderer(&Limits::default()).into_iter().take(1) {
        let gpu =
            Gpu::on_device(Device::from_wgpu(device.clone(), queue.clone()).unwrap()).unwrap();
        let builder = surface_builder(&gpu, mesh.lattice());
        let small = floats.buffers(gpu.device(), IndexFormat::Uint16, 0);
        let size = device.limits().max_storage_buffer_binding_size + 4096;
        let large = device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage: Usage::STORAGE | Usage::COPY_DST,
            mapped_at_creation: false,
        });
        let (at_indices, at_vertices) = (500, size - small.vertices.size());
        let mut encoder = device.create_command_encoder(&Default::default());
        for (from, at) in [(&small.indices, at_indices), (&small.vertices, at_vertices)] {
            encoder.copy_buffer_to_buffer(from, 0, &large, at, from.size());
        }
        queue.submit([encoder.finish()]);
        let whole = floats.mesh(&small);
        let part = MeshBuffers {
            vertices: &large,
            vertex_offset: at_vertices + whole.vertex_offset,
            indices: &large,
            index_offset: at_indices + whole.index_offset,
            ..whole
        };
        compare(run(&builder, &[part]), &mesh, &builder, "a part");
        // From an index on that is half a word.
        let first = MeshBuffers { triangle_count: 1, ..part };
        let others = floats.buffers(gpu.device(), IndexFormat::Uint16, 1);
        let rest = MeshBuffers {
            index_offset: part.index_offset + 6,
            triangle_count: part.triangle_count - 1,
            colors: Some(&others.colors),
            ..part
        };
        assert_eq!(rest.index_offset % 4, 2);
        compare(run(&builder, &[first, rest]), &mesh, &builder, "two parts");
        let mut encoder = device.create_command_encoder(&Default::default());
        let all = MeshBuffers { vertex_offset: 0, vertex_stride: size - 16, ..part };
        let all = MeshBuffers { vertex_count: 2, ..all };
        let error = builder.record(&mut encoder, &[all]).unwrap_err().to_string();
        assert!(error.contains("the device binds 134,217,728"), "{error}");
    }
}

#[test]
fn a_capacity_that_is_refused_is_named_and_so_is_the_limit_that_refuses_it() {
    let lattice = lattice_of([64; 3], 10);
    for (_, gpu) in gpus(adapters()).take(1) {
        let refused = |gpu: &Gpu, capacity| {
            SceneBuilder::new(gpu, &lattice, Mode::Surface, capacity).unwrap_err().to_string()
        };
        let [pairs, bricks] = [(1 << 22) + 1, (1 << 21) + 1];
        let candidates = SceneCapacity { candidates: u32::MAX, ..CAPACITY };
        for (capacity, says) in [
            (SceneCapacity { pairs, ..CAPACITY }, "4,194,305 pairs, and 4,194,304 are"),
            (SceneCapacity { bricks, ..CAPACITY }, "2,097,153 bricks, and 2,097,152 are"),
            (candidates, "4,294,967,295 candidates, and 268,435,456 are"),
        ] {
            let message = refused(&gpu, capacity);
            assert!(message.contains(says), "{message}");
            assert!(message.contains("in a scene: reduce it"), "{message}");
        }
        let small = gpu.with_batch_limits(BatchLimits { pairs: 1000, ..UNLIMITED });
        let message = refused(&small, SceneCapacity { pairs: 1001, ..CAPACITY });
        assert!(message.contains("1,001 pairs, and 1,000 are"), "{message}");
        assert!(message.contains("with the limits of the device: reduce it"), "{message}");
    }
}

#[test]
fn more_candidates_than_the_capacity_leave_the_scene_empty() {
    let mesh = placed_soup(8, 200, 100, UNIT / 4);
    let floats = Floats::of(&mesh);
    for (label, gpu) in gpus(adapters()) {
        let run = |candidates| {
            let capacity = SceneCapacity { candidates, ..CAPACITY };
            let builder = SceneBuilder::new(&gpu, mesh.lattice(), Mode::Surface, capacity).unwrap();
            (floats.run(&builder), builder)
        };
        let needed = run(CAPACITY.candidates).0.candidates;
        // Which pairs share a workgroup, and so the number of workgroups, depends on the order.
        let few = run(needed / 2).0;
        assert_eq!(few.failure, Some(SceneFailure::Candidates), "{label}");
        assert!(few.candidates > needed / 2, "{label}: {few:?}, {needed}");
        let (status, builder) = run(2 * needed);
        compare(status, &mesh, &builder, &label);
    }
}

#[test]
fn the_future_of_a_status_outlives_its_builder() {
    let mesh = placed(&[[[5 * UNIT + 3; 3]; 3]], [20; 3]);
    for (label, gpu) in gpus(fast_adapters()) {
        let new = || SceneBuilder::new(&gpu, mesh.lattice(), Mode::Surface, CAPACITY).unwrap();
        let builder = new();
        let recorded = Floats::of(&mesh).run(&builder);
        let later = builder.status_async();
        drop(builder);
        assert_eq!(gpu.device().block_on(later).unwrap(), recorded, "{label}");
        assert_eq!(recorded.failure, None, "{label}");
    }
}
