//! Tiles put together are the whole grid, to the bit: voxels and colours.

use crate::common::prelude::*;

use std::sync::Arc;

use trivox::backend::Backends;
use trivox::lattice::{MAX_DIM, TileError, Tiles, WindowReach};
use trivox::{GridError, Tile, VoxelizeError, Window};

const INTERIOR: [u8; 4] = [9, 99, 199, 255];

fn on_cpu() -> Voxelizer {
    Voxelizer::new().backend(BackendChoice::Cpu).interior_color(INTERIOR)
}

const SHELL: Mode = Mode::Solid(Solid { fill: Fill::Winding, include_surface: true });

/// The windows between `cuts` along each axis.
fn windows(dims: [u32; 3], cuts: [&[u32]; 3]) -> Vec<Window> {
    let edges = [0, 1, 2].map(|a| {
        let within = cuts[a].iter().copied().filter(|&cut| cut < dims[a]);
        [0].into_iter().chain(within).chain([dims[a]]).collect::<Vec<u32>>()
    });
    let window = |at: [u32; 3]| {
        let edge = |end: usize| [0, 1, 2].map(|a| edges[a][at[a] as usize + end]);
        Window { from: edge(0), to: edge(1) }
    };
    voxels_in([0; 3], [0, 1, 2].map(|a| edges[a].len() as u32 - 1)).map(window).collect()
}

/// So many tiles along each axis, or as many as there are bricks.
fn tiles(lattice: &Lattice, along: [u32; 3]) -> Vec<Window> {
    let of = Tiles::Along([0, 1, 2].map(|a| along[a].min(lattice.dims[a].div_ceil(8))));
    (0..of.count()).map(|index| lattice.tile(&Tile { index, of }).unwrap()).collect()
}

/// What is made of each window, and where it begins.
fn made(
    name: &str,
    voxelizer: &Voxelizer,
    mesh: &Mesh,
    lattice: &Lattice,
    windows: &[Window],
) -> Vec<([u32; 3], VoxelGrid)> {
    let of_window = |window: &Window| {
        let tile = voxelizer.clone().lattice(*lattice).window(*window).run(mesh);
        let grid = tile.unwrap_or_else(|error| panic!("{name}, {window:?}: {error}")).grid;
        assert_eq!(grid.dims(), window.dims(), "{name}, {window:?}");
        (window.from, grid)
    };
    windows.iter().map(of_window).collect()
}

/// Fails unless in each mode the windows of `mesh` put together are the whole.
fn check(
    name: &str,
    modes: &[Mode],
    mesh: &Mesh,
    options: PlaceOptions,
    windows: impl Fn(&Lattice) -> Vec<Window>,
) {
    let lattice = Lattice::of(mesh, &options).unwrap();
    for mode in modes {
        let (name, voxelizer) = (format!("{name}, {mode:?}"), on_cpu().mode(*mode));
        let tiles = made(&name, &voxelizer, mesh, &lattice, &windows(&lattice));
        let joined = assembled(lattice.dims, &tiles);
        let whole = voxelizer.place_options(options).run(mesh).unwrap().grid;
        assert_same(&joined, &whole, &format!("{name}, {} windows", tiles.len()));
        assert_eq!(joined.world, whole.world, "{name}");
        let wrong = whole.voxels().find(|&voxel| joined.color(voxel) != whole.color(voxel));
        assert_eq!(wrong, None, "the colour, {name}");
    }
}

/// Triangles across the whole grid and small ones, none closed.
fn soup(seed: u64, extent: [f64; 3], count: usize) -> Mesh {
    let mut rng = Rng::with_seed(seed);
    let mut triangles = vec![[[0.0; 3], extent, [0.0, extent[1], 0.0]]];
    triangles.extend((0..count).map(|index| {
        let at = extent.map(|e| e * rng.f64());
        let reach = if index % 5 == 0 { 1.0 } else { 0.05 };
        let mut along = |a: usize| at[a] + reach * extent[a] * (rng.f64() - 0.5);
        [(); 3].map(|()| [0, 1, 2].map(|a| along(a).clamp(0.0, extent[a])))
    }));
    mesh_of(&triangles)
}

fn all_modes() -> [Mode; 7] {
    let [auto, parity, winding, vote] =
        [Fill::Auto, Fill::Parity, Fill::Winding, Fill::Vote].map(by_fill);
    [Mode::Surface, Mode::Thin, auto, parity, winding, vote, SHELL]
}

#[test]
fn tiles_of_models_of_parts_of_them_and_of_meshes_with_holes_and_overlaps_are_the_whole() {
    let cubes =
        [cube([0.0; 3], 10.0), cube([5.0, 4.0, 3.0], 10.0), lidless_cube([-7.0, 2.0, 1.0], 9.0)];
    let outer = inside_out(&cube([20.0, 0.0, 0.0], 9.0));
    let cavity = cube([22.0, 2.0, 2.0], 4.0);
    let beside = inside_out(&lidless_cube([20.0, 0.0, 0.0], 6.0));
    for (name, mesh) in [
        ("lidless", lidless_cube([0.0; 3], 10.0)),
        ("overlapping", together(&cubes[..2])),
        ("all", together(&cubes)),
        ("inside out", inside_out(&cubes[0])),
        ("inside out in one", together(&[outer, cavity, cubes[0].clone()])),
        ("inside out beside", together(&[cubes[2].clone(), beside])),
        ("moebius", moebius_strip(40, 5)),
        ("klein", klein_bottle(30, 20)),
        ("torus", torus(10.0, 3.0, 40, 24)),
    ] {
        check(name, &all_modes(), &mesh, resolution(72), |lattice| tiles(lattice, [3, 2, 4]));
    }
    for name in ["lighthouse.obj", "torus-knot.obj", "cube.obj", "tetrahedron.obj"] {
        let mesh = asset(name);
        check(name, &all_modes(), &mesh, resolution(64), |lattice| tiles(lattice, [2; 3]));
        let modes = [Mode::Thin, by_fill(Fill::Auto), SHELL];
        check(name, &modes, &mesh, resolution(100).with_pad(3), |lattice| tiles(lattice, [4; 3]));
    }
    let mesh = asset("lighthouse.obj");
    let [min, max] = mesh.bounds();
    let at = |t: f64| [0, 1, 2].map(|a| min[a] + t * (max[a] - min[a]));
    let part = resolution(128).with_bounds(Bounds { min: at(0.21), max: at(0.83) });
    check("a part", &all_modes(), &mesh, part, |lattice| tiles(lattice, [2, 3, 2]));
}

#[test]
fn tiles_of_real_meshes_are_the_whole() {
    let Some(folder) = environment::models() else { return };
    let modes = [Mode::Surface, Mode::Thin, by_fill(Fill::Auto), by_fill(Fill::Parity)];
    for name in ["bunny.obj", "fuze.obj", "spot.obj"] {
        let mesh = read_mesh(folder.join(name)).unwrap().mesh;
        check(name, &modes, &mesh, resolution(200), |lattice| tiles(lattice, [2; 3]));
    }
}

#[test]
fn tiles_of_a_solid_that_the_grid_cuts_are_the_whole_at_any_size() {
    let material_of: Vec<u32> = (0..12).map(|face| face / 2 % 2).collect();
    for size in [32, 36, 40, 64] {
        // Of the last layers, the surface touches what is next to them, outside.
        let extent = f64::from(size);
        let cube = cube([5.0; 3], extent - 4.9);
        let cube = with_materials(cube, vec![plain(RED), plain(BLUE)], material_of.clone());
        let options = voxel_size(1.0).with_bounds(Bounds { min: [0.0; 3], max: [extent; 3] });
        let auto = by_fill(Fill::Auto);
        check(&format!("{size}"), &[auto], &cube, options, |lattice| tiles(lattice, [2, 1, 3]));
        let voxelizer = on_cpu().mode(auto);
        let colors = voxelizer.place_options(options).run(&cube).unwrap().grid.colors.unwrap();
        for axis in 0..3 {
            let mut last = [size / 2; 3];
            last[axis] = size - 1;
            assert_eq!(colors.of(last), INTERIOR, "{size}, axis {axis}");
        }
    }
}

#[test]
fn tiles_of_a_grid_that_takes_all_bits_are_the_whole() {
    // 256 voxels of 2^16 units: no box of a window may reach past the whole's cube.
    for (name, mesh) in [
        ("soup", soup(1, [256.0, 200.0, 120.0], 60)),
        ("cube", cube([0.0; 3], 256.0)),
        ("sphere", sphere(128.0, 12, 20)),
    ] {
        check(name, &all_modes(), &mesh, resolution(256), |lattice| {
            assert_eq!(lattice.fraction_bits, 16);
            windows(lattice.dims, [&[8, 136, 248], &[96], &[16, 104]])
        });
    }
}

#[test]
fn the_lattice_of_a_window_begins_earlier_where_large_triangles_need_the_bits() {
    let mesh = cube([0.0; 3], 256.0);
    let whole = place(&mesh, &resolution(256)).unwrap();
    let window = Window { from: [104; 3], to: [256; 3] };
    let part = whole.in_window(&window, WindowReach::Box).unwrap();
    assert!(part.lattice().dims == [256; 3], "{:?}", part.lattice());
    // Small triangles do not: the window and eight voxels on one side.
    let whole = place(&sphere(128.0, 60, 90), &resolution(256)).unwrap();
    let part = whole.in_window(&window, WindowReach::Box).unwrap();
    assert!(part.lattice().dims.iter().all(|&dim| dim <= 176), "{:?}", part.lattice());
    assert!(part.len() * 3 < whole.len(), "{} of {}", part.len(), whole.len());
}

#[test]
fn a_window_with_too_few_triangles_for_the_mode_is_refused() {
    let mesh = place(&cube([0.0; 3], 64.0), &resolution(64)).unwrap();
    let window = Window { from: [16, 16, 16], to: [48; 3] };
    let within = |reach, mode| {
        let part = mesh.in_window(&window, reach).unwrap();
        voxelize(&Cpu, &part, mode, &Default::default(), &NoProgress)
    };
    let reaches = [WindowReach::Box, WindowReach::ColumnsAlongX, WindowReach::Columns];
    let modes = [(Mode::Surface, 0), (by_fill(Fill::Winding), 1), (by_fill(Fill::Vote), 2)];
    for (mode, least) in modes {
        assert_eq!(mode.reach(), reaches[least]);
        for reach in &reaches[least..] {
            assert!(within(*reach, mode).is_ok(), "{mode:?}, {reach:?}");
        }
        for reach in &reaches[..least] {
            let refused = within(*reach, mode);
            assert!(matches!(refused, Err(BackendError::NotInTiles(_))), "{mode:?}, {reach:?}");
        }
    }
}

#[test]
fn tiles_on_a_gpu_are_the_whole_on_the_cpu() {
    let backends = Arc::new(Backends::new(BackendChoice::Gpu, None));
    let gpu = Voxelizer::new().interior_color(INTERIOR).backends(backends);
    if let Err(VoxelizeError::Backend(error)) = gpu.run(asset("cube.obj")) {
        return environment::skip_without_adapter(&error.to_string());
    }
    let meshes = [
        ("lighthouse", asset("lighthouse.obj"), 64),
        ("soup", soup(2, [256.0, 250.0, 255.0], 40), 256),
        ("cube", cube([0.0; 3], 256.0), 256),
    ];
    for (name, mesh, n) in meshes {
        let lattice = Lattice::of(&mesh, &resolution(n)).unwrap();
        for mode in all_modes() {
            let whole = on_cpu().mode(mode).place_options(resolution(n)).run(&mesh).unwrap().grid;
            let gpu = gpu.clone().mode(mode);
            let made = made(name, &gpu, &mesh, &lattice, &tiles(&lattice, [2; 3]));
            assert!(assembled(lattice.dims, &made) == whole, "{name}, {mode:?}");
        }
    }
}

#[test]
fn assembling_a_wrong_tile_is_noticed() {
    let mesh = asset("torus-knot.obj");
    let lattice = Lattice::of(&mesh, &resolution(64)).unwrap();
    let whole = on_cpu().resolution(64).run(&mesh).unwrap().grid;
    let windows = windows(lattice.dims, [&[24, 48], &[], &[]]);
    let made = made("knot", &on_cpu(), &mesh, &lattice, &windows);
    let [a, b, c] = [0, 1, 2].map(|index| &made[index].1);
    let assemble = |tiles: &[([u32; 3], &VoxelGrid)]| VoxelGrid::assemble(lattice.dims, tiles);
    let swapped = [([0; 3], b), ([24, 0, 0], a), ([48, 0, 0], c)];
    assert!(assemble(&swapped).unwrap() != whole);
    assert!(assemble(&[([0; 3], a), ([0; 3], a)]).is_err());
    assert!(assemble(&[([4, 0, 0], a)]).is_err());
    assert!(assemble(&[([24, 0, 0], &whole)]).is_err());
}

#[test]
fn colours_of_empty_voxels_are_not_assembled() {
    let [a, b] = [[0, 0, 0], [8, 0, 0]].map(|at| VoxelGrid::from_voxels([16, 8, 8], [at]).unwrap());
    let brick = |x: u32, color| (BrickKey::new([x, 0, 0]), [1, 0, 0, 0, 0, 0, 0, 0], vec![color]);
    let bricks = vec![brick(0, [1, 2, 3, 255]), brick(1, [4, 5, 6, 255])];
    let colors = Colors::from_bricks(bricks, [0; 4]);
    let both = a.union(&b).with_colors(colors.clone());
    let tiles = [a.with_colors(colors.clone()), b.with_colors(colors)];
    let again = VoxelGrid::assemble([16, 8, 8], &[([0; 3], &tiles[0]), ([0; 3], &tiles[1])]);
    assert!(again.unwrap() == both);
}

#[test]
#[should_panic(expected = "the grid of the mesh")]
fn a_tile_is_painted_once() {
    let mesh = asset("torus-knot.obj");
    let lattice = Lattice::of(&mesh, &resolution(64)).unwrap();
    let window = Window { from: [24, 0, 0], to: [48, lattice.dims[1], lattice.dims[2]] };
    let placed = on_cpu().lattice(lattice).place(&mesh).unwrap().mesh;
    let placed = trivox::engine::Placed::from(placed.in_window(&window, WindowReach::Box).unwrap());
    let painted = on_cpu().paint(&placed.mesh, on_cpu().voxelize(&placed).unwrap()).unwrap();
    let expected = on_cpu().lattice(lattice).window(window).run(&mesh).unwrap();
    assert_eq!(painted.grid, expected.grid);
    let _ = on_cpu().paint(&placed.mesh, painted);
}

#[test]
fn tiles_of_which_only_some_have_colours_are_refused() {
    let one = |voxel| VoxelGrid::from_voxels([8; 3], [voxel]).unwrap();
    let (colored, plain) = (one([1, 2, 3]).with_colors(Colors::uniform(RED)), one([4; 3]));
    let joined = |other: &VoxelGrid| {
        VoxelGrid::assemble([16, 8, 8], &[([0; 3], &colored), ([8, 0, 0], other)])
    };
    assert_eq!(joined(&plain), Err(GridError::SomeColors));
    let nothing = VoxelGrid::empty([8, 8, 8]).unwrap();
    assert_eq!(joined(&nothing).unwrap().color([1, 2, 3]), Some(RED));
    assert_eq!(VoxelGrid::join(&[]), Err(GridError::NoTiles));
}

#[test]
fn fills_that_depend_on_the_whole_grid_are_refused_in_tiles() {
    let refused = |mesh: &Mesh, mode: Mode| {
        let tile = "1/2".parse().unwrap();
        match on_cpu().mode(mode).resolution(256).tile(tile).run(mesh) {
            Err(VoxelizeError::Backend(error @ BackendError::NotInTiles(_))) => error.to_string(),
            other => panic!("{:?}", other.map(|made| made.grid)),
        }
    };
    let cube = cube([0.0; 3], 10.0);
    assert!(refused(&cube, by_fill(Fill::Flood)).contains("winding or vote"));
    let soup = mesh_of(&large_triangles(300));
    let auto = by_fill(Fill::Auto);
    let voted = on_cpu().mode(auto).resolution(256).run(&soup).unwrap().fill_report.unwrap();
    assert_ne!(voted.fill, Fill::Winding, "{}", voted.reason);
    assert!(refused(&soup, auto).contains("use the fill vote or winding"));
}

#[test]
fn a_grid_past_the_largest_is_made_tile_by_tile() {
    // A wall of a unit cube, whose voxels are known, in a grid of 2^20 voxels along each axis.
    let n = 1 << 20;
    let mesh = cube([0.0; 3], 1.0);
    assert!(matches!(place(&mesh, &resolution(n)), Err(PlaceError::Resolution(_))));
    let lattice = Lattice::of(&mesh, &resolution(n)).unwrap();
    assert_eq!((lattice.dims, lattice.fraction_bits), ([n; 3], 4));
    for (mode, depth) in [(Mode::Surface, 1), (by_fill(Fill::Winding), 64)] {
        let end = Window { from: [n - 64, 524_288, 8], to: [n, 524_352, 72] };
        let part = on_cpu().mode(mode).lattice(lattice).window(end).run(&mesh);
        let grid = part.unwrap().grid;
        assert_eq!(grid.occupied(), depth * 64 * 64, "{mode:?}");
        assert!(grid.contains([63, 0, 0]), "{mode:?}");
        let world = grid.world.place.unwrap();
        assert_eq!(world.origin, [n - 64, 524_288, 8].map(|c| f64::from(c) / f64::from(n)));
    }
    let large = Window { from: [0; 3], to: [MAX_DIM, 8, 8] };
    let placed = place_on(&mesh, &lattice).unwrap();
    assert!(placed.in_window(&large, WindowReach::Box).is_err());
    let text = format!("1/{}", 1_u64 << 30);
    let first = on_cpu().resolution(n).tile(text.parse::<Tile>().unwrap()).run(&mesh).unwrap();
    assert_eq!(first.grid.dims(), [1024; 3]);
}

#[test]
fn tiles_cut_a_lattice_into_windows_that_share_nothing() {
    let mesh = soup(3, [100.0, 61.0, 20.0], 3);
    let lattice = Lattice::of(&mesh, &resolution(100)).unwrap();
    assert_eq!(lattice.dims, [100, 61, 20]);
    for of in ["1", "2", "3", "8", "12", "1x1x3", "13x8x3", "7x3x2"] {
        let tile = |number: u64| format!("{number}/{of}").parse::<Tile>();
        let count = tile(1).unwrap().of.count();
        let windows: Vec<Window> =
            (1..=count).map(|number| lattice.tile(&tile(number).unwrap()).unwrap()).collect();
        let volume = |w: &Window| w.dims().into_iter().map(u64::from).product::<u64>();
        assert_eq!(windows.iter().map(volume).sum::<u64>(), 100 * 61 * 20, "{of}");
        for (index, one) in windows.iter().enumerate() {
            let apart =
                |two: &Window| (0..3).any(|a| one.to[a] <= two.from[a] || two.to[a] <= one.from[a]);
            assert!(windows[..index].iter().all(apart), "{of}");
        }
        assert_eq!(tile(count + 1), Err(TileError::Number { number: count + 1, count }));
        assert_eq!(tile(1).unwrap().to_string(), format!("1/{of}"));
    }
    assert_eq!(Tiles::Total(12).along(lattice.dims), [6, 2, 1]);
    assert_eq!(Tiles::Total(9).along([64; 3]), [3, 3, 1]);
    assert_eq!(Tiles::Total(4_294_967_291).along([64, 64, 65]), [1, 1, 4_294_967_291], "a prime");
    assert_eq!(Tiles::Total(2).along([64; 3]), [2, 1, 1], "the first of equals is cut");
    let too_many = lattice.tile(&"1/14x1x1".parse().unwrap());
    assert_eq!(too_many, Err(TileError::TooMany { axis: 'x', tiles: 14, bricks: 13 }));
    for text in ["", "1", "0/4", "1/0", "1/2x2", "a/4", "1/2x2x2x2", "-1/4", "1/2x0x2"] {
        assert!(text.parse::<Tile>().is_err(), "{text}");
    }
    assert_eq!("1/0".parse::<Tile>(), Err(TileError::Syntax));
    let too_many = |bricks: u32| TileError::TooMany { axis: 'x', tiles: 14, bricks }.to_string();
    assert!(too_many(1).contains("has 1 brick of") && too_many(2).contains("has 2 bricks of"));
}

#[test]
fn windows_that_a_lattice_does_not_have_are_refused() {
    let mesh = asset("cube.obj");
    let placed = place(&mesh, &resolution(60)).unwrap();
    let window = |from: u32, to: u32| {
        placed.in_window(&Window { from: [0, from, 0], to: [60, to, 60] }, WindowReach::Box)
    };
    assert!(window(0, 60).is_ok() && window(16, 24).is_ok());
    for (from, to) in [(4, 60), (0, 20), (0, 64), (8, 8), (16, 8)] {
        let expected = TileError::Window { axis: 'y', from, to, dim: 60 };
        assert_eq!(window(from, to), Err(expected.into()));
    }
    let corner = window(16, 24).unwrap();
    assert!(!placed.is_empty() && !corner.is_empty());
    let between = Window { from: [24; 3], to: [32; 3] };
    assert!(placed.in_window(&between, WindowReach::Box).unwrap().is_empty());
}

#[test]
fn the_largest_window_is_placed_and_one_brick_more_is_refused() {
    let lattice = Lattice::of(&asset("cube.obj"), &resolution(2 * MAX_DIM)).unwrap();
    let placed = place_on(&asset("cube.obj"), &lattice).unwrap();
    let whole = voxelize(&Cpu, &placed, Mode::Surface, &RunOptions::default(), &NoProgress);
    assert!(matches!(whole, Err(BackendError::Lattice(_))), "{whole:?}");
    let window = |to: u32| Window { from: [0; 3], to: [to; 3] };
    // The halo is 8 voxels.
    let largest = placed.in_window(&window(MAX_DIM - 8), WindowReach::Box).unwrap();
    assert_eq!(largest.lattice().dims, [MAX_DIM; 3]);
    let refused = placed.in_window(&window(MAX_DIM), WindowReach::Box);
    assert_eq!(refused, Err(TileError::TooLarge { axis: 'x', voxels: MAX_DIM }.into()));
}

#[test]
fn a_lattice_survives_json_and_a_wrong_one_is_refused() {
    let mesh = asset("lighthouse.obj");
    let options = voxel_size(0.0123).with_pad(2);
    let lattice = Lattice::of(&mesh, &options).unwrap();
    let text = serde_json::to_string(&lattice).unwrap();
    let read: Lattice = serde_json::from_str(&text).unwrap();
    assert_eq!(read, lattice);
    let placed = [place_on(&mesh, &read).unwrap(), place(&mesh, &options).unwrap()];
    assert_eq!(placed[0].vertices(), placed[1].vertices());
    let wrong = [
        Lattice { dims: [0, 4, 4], ..lattice },
        Lattice { dims: [4, (1 << 20) + 1, 4], ..lattice },
        Lattice { fraction_bits: 3, ..lattice },
        Lattice { fraction_bits: 17, ..lattice },
        Lattice { scale: 0.0, ..lattice },
        Lattice { voxel_size: f64::NAN, ..lattice },
        Lattice { anchor: [f64::INFINITY; 3], ..lattice },
        Lattice { anchor_voxel: [i32::MIN; 3], ..lattice },
        // Numbers that contradict each other.
        Lattice { voxel_size: 2.0 * lattice.voxel_size, ..lattice },
        Lattice { scale: 1.01 * lattice.scale, ..lattice },
        Lattice { origin: [7.0; 3], ..lattice },
        Lattice { anchor_voxel: lattice.anchor_voxel.map(|v| v + 1), ..lattice },
        Lattice { fraction_bits: lattice.fraction_bits - 1, ..lattice },
    ];
    for lattice in wrong {
        assert!(matches!(place_on(&mesh, &lattice), Err(PlaceError::Lattice(_))), "{lattice:?}");
        let text = serde_json::to_string(&lattice).unwrap();
        let error = serde_json::from_str::<Lattice>(&text).unwrap_err().to_string();
        // JSON has no numbers that are not finite.
        assert!(error.contains("the lattice is not valid") || text.contains("null"), "{error}");
    }
    let offset = f64::from(lattice.anchor_voxel[0]) * lattice.voxel_size;
    let far = Lattice { anchor: [1e9; 3], origin: [1e9 - offset; 3], ..lattice };
    assert!(matches!(place_on(&mesh, &far), Err(PlaceError::TooFar { .. })));
}

#[test]
fn another_mesh_on_the_same_lattice_has_its_voxels_there() {
    let large = cube([0.0; 3], 10.0);
    let lattice = Lattice::of(&large, &resolution(40)).unwrap();
    let small = cube([5.0; 3], 2.5);
    let placed = place_on(&small, &lattice).unwrap();
    let grid = surface(&placed);
    assert_eq!(grid.dims(), [40; 3]);
    assert_eq!(grid.occupied_bounds(), Some([[19; 3], [30; 3]]));
}
