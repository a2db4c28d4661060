//! MagicaVoxel: against `dot_vox`, and against files made by hand.

use trivox::GridError;
use trivox::grid::{Attribute, Channel, mask_voxels};
use trivox::surface::palette::Palette;

use super::colored::listed;
use super::*;

/// The file of [`tiny`]: `entries` are the palette indices of its two voxels, counted from 1.
fn tiny_file(entries: [u8; 2], palette: impl Iterator<Item = [u8; 3]>) -> Vec<u8> {
    let mut colors: Vec<u8> = palette.flat_map(|[r, g, b]| [r, g, b, 255]).collect();
    colors.resize(1024, 0);
    let described = "1 dims=1,2,3 up=y origin=-1.5,0.0,2.0 voxel=0.125";
    let [first, last] = entries;
    file(&[
        // z is up: mesh z = 0 is the back.
        model([1, 3, 2], &[[0, 2, 0, first], [0, 0, 1, last]]),
        // The root is in no layer, and its only frame has no attributes.
        node("nTRN", 0, &[("trivox", described)], &[ints(&[1, -1, -1, 1]), dict(&[])]),
        group(1, &[2]),
        // The pivot (0, 1, 1) lies at (0, 0, 1).
        transform(2, 3, &[("_t", "0 0 1")]),
        shape(3, 0),
        chunk("RGBA", &colors),
    ])
}

pub(crate) fn tiny_vox() -> Vec<u8> {
    // Light grey; red, green and blue in steps of 51, blue fastest; and greys in steps of 6.
    let cube = (0..216).map(|n| [n / 36, n / 6 % 6, n % 6].map(|c| 51 * c));
    let greys = (1..=38).map(|n| [6 * n; 3]);
    tiny_file([1, 1], std::iter::once([200; 3]).chain(cube).chain(greys))
}

/// All that a scene graph places in MagicaVoxel's world, as `dot_vox` reads it, and its colours. In
/// floating point and with matrices, as other readers do it.
fn walk(data: &dot_vox::DotVoxData, pivot: fn(u32) -> u32) -> BTreeSet<([i64; 3], Rgba)> {
    type Matrix = [[f32; 3]; 3];
    /// Columns times a vector.
    fn times(m: &Matrix, v: [f32; 3]) -> [f32; 3] {
        [0, 1, 2].map(|row| (0..3).map(|column| m[column][row] * v[column]).sum())
    }
    let identity = dot_vox::Rotation::IDENTITY.to_cols_array_2d();
    let mut voxels = BTreeSet::new();
    let mut open = vec![(0, identity, [0.0; 3])];
    while let Some((node, turn, shift)) = open.pop() {
        match &data.scenes[node as usize] {
            dot_vox::SceneNode::Transform { frames, child, .. } => {
                let t = frames[0].position().map_or([0, 0, 0], |p| [p.x, p.y, p.z]);
                let r = frames[0].orientation().unwrap_or(dot_vox::Rotation::IDENTITY);
                let moved = times(&turn, t.map(|c| c as f32));
                let turn = r.to_cols_array_2d().map(|column| times(&turn, column));
                open.push((*child, turn, [0, 1, 2].map(|a| shift[a] + moved[a])));
            }
            dot_vox::SceneNode::Group { children, .. } => {
                open.extend(children.iter().map(|&child| (child, turn, shift)));
            }
            dot_vox::SceneNode::Shape { models, .. } => {
                let model = &data.models[models[0].model_id as usize];
                let pivot = [model.size.x, model.size.y, model.size.z].map(|d| pivot(d) as f32);
                for v in &model.voxels {
                    let color = data.palette[usize::from(v.i)].into();
                    let v = [v.x, v.y, v.z].map(f32::from);
                    let turned = times(&turn, [0, 1, 2].map(|a| v[a] + 0.5 - pivot[a]));
                    let place = [0, 1, 2].map(|a| (turned[a] + shift[a]).floor() as i64);
                    voxels.insert((place, color));
                }
            }
        }
    }
    voxels
}

fn floor_half(size: u32) -> u32 {
    size / 2
}

/// The colour of voxels without one.
const GREY: Rgba = [200, 200, 200, 255];

/// The world of a file without our attribute.
const PLAIN: World = World { up: Up::Z, place: None };

/// Where a voxel of a grid belongs in MagicaVoxel's world.
fn place(grid: &VoxelGrid, voxel: [u32; 3]) -> [i64; 3] {
    let dims = grid.dims().map(i64::from);
    let is_y_up = grid.world.up == Up::Y;
    let ground = |height: i64| if height > 1000 { 1000 - height } else { 0 };
    let [x, y, z] = voxel.map(i64::from);
    if is_y_up {
        // y points up, z out of the screen: to the front of MagicaVoxel, its -y.
        [x - dims[0] / 2, dims[2] - 1 - z - dims[2] / 2, y + ground(dims[1])]
    } else {
        [x - dims[0] / 2, y - dims[1] / 2, z + ground(dims[2])]
    }
}

fn is_in_models_of_256(data: &dot_vox::DotVoxData) -> bool {
    data.models.iter().all(|m| m.size.x.max(m.size.y).max(m.size.z) <= 256)
}

#[test]
fn dot_vox_finds_every_voxel_in_its_place_and_colour() {
    for plain in grids() {
        let grey = plain.clone().with_colors(Colors::uniform(GREY));
        let painted = painted(&plain, 254);
        for (grid, expected) in [(&plain, placed(&grey)), (&painted, placed(&painted))] {
            let mut data = dot_vox::load_bytes(&written(grid, Vox)).unwrap();
            assert!(walk(&data, floor_half) == expected, "{grid:?}");
            assert!(expected.iter().flat_map(|(at, _)| at).all(|c| (-1000..1000).contains(c)));
            assert!(is_in_models_of_256(&data));
            // Canary: pivots rounded up put the voxels of odd models elsewhere.
            let is_odd = data.models.iter().any(|m| m.size.x % 2 == 1 && !m.voxels.is_empty());
            let shifted = walk(&data, |size| size.div_ceil(2)) != expected;
            assert!(shifted || !is_odd, "a shifted pivot went unnoticed in {grid:?}");
            // Canary: another index is another colour.
            data.palette.rotate_right(1);
            assert!(walk(&data, floor_half) != expected || expected.is_empty(), "{grid:?}");
        }
    }
}

/// Where the voxels of a grid belong in MagicaVoxel's world, and their colours.
fn placed(grid: &VoxelGrid) -> BTreeSet<([i64; 3], Rgba)> {
    listed(grid).into_iter().map(|(voxel, color)| (place(grid, voxel), color)).collect()
}

#[test]
fn large_grids_are_several_models_and_empty_ones_are_left_out_but_the_only_one() {
    let sizes = [[256, 256, 256], [88, 256, 256], [256, 44, 256], [88, 44, 9]];
    let corners = [[0, 0, 0], [599, 0, 0], [300, 299, 0], [599, 299, 520]];
    for (dims, voxels, expected) in
        [([600, 300, 521], &corners[..], &sizes[..]), ([300, 2, 3], &[], &[[256, 2, 3]])]
    {
        let grid = VoxelGrid::from_voxels(dims, voxels.iter().copied()).unwrap().with_world(PLAIN);
        let bytes = written(&grid, Vox);
        assert_eq!(read(Vox, &bytes).unwrap(), grid);
        let data = dot_vox::load_bytes(&bytes).unwrap();
        let size = |m: &dot_vox::Model| [m.size.x, m.size.y, m.size.z];
        assert_eq!(data.models.iter().map(size).collect::<Vec<_>>(), expected);
        let count: usize = data.models.iter().map(|model| model.voxels.len()).sum();
        // Below the root and its group, of a model a node with its place and its shape.
        assert_eq!((count, data.scenes.len()), (voxels.len(), 2 + 2 * expected.len()));
    }
}

#[test]
fn a_grid_past_magica_voxels_world_is_refused_with_the_reason() {
    for (dims, long, axis) in [
        ([2001, 1, 1], "2,001", 'x'),
        ([1, 2001, 1], "2,001", 'y'),
        ([1, 2000, 65536], "65,536", 'z'),
    ] {
        let why = unwritable(&VoxelGrid::empty(dims).unwrap(), Vox);
        let limit = format!(
            "the grid is {long} voxels along the {axis} axis, but a .vox holds at most 2,000: use \
             a lower resolution, tiles, or another format such as .vdb"
        );
        assert_eq!(why, limit);
    }
}

#[test]
fn vox_past_32_bit_lengths_is_refused_before_anything_is_written() {
    // 104 x 104 x 100 full bricks are 553,779,200 voxels of 4 bytes.
    let bricks = voxels_in([0; 3], [104, 104, 100]).map(|brick| (BrickKey::new(brick), FULL));
    let grid = VoxelGrid::from_bricks([832, 832, 800], bricks.collect()).unwrap();
    let why = unwritable(&grid, Vox);
    assert!(why.contains("2,147,483,647") && why.contains(".npy"), "{why}");
}

/// A colour for each voxel of `grid`: as many different ones as there are `hues` and voxels. Some
/// have that of the rest.
fn painted(grid: &VoxelGrid, hues: u32) -> VoxelGrid {
    let color = |[x, y, z]: [u32; 3]| {
        let [_, a, b, c] = ((7 * x + 31 * y + 101 * z) % hues * 65_537).to_be_bytes();
        [a, b, c, 255]
    };
    let is_own = |[x, ..]: [u32; 3]| x / BRICK % 3 != 1;
    painted_by(grid.clone(), [200, 100, 50, 255], |v| is_own(v).then(|| color(v)))
}

/// The tiny grid with a red voxel at the origin and a grey one, and its file, whose palette begins
/// with greys.
pub(crate) fn tiny_painted() -> (VoxelGrid, Vec<u8>) {
    let grid = painted_by(tiny(), [64, 64, 64, 255], |voxel| (voxel == [0; 3]).then_some(RED));
    (grid, tiny_file([2, 1], [[64; 3], [255, 0, 0]].into_iter()))
}

#[test]
fn colours_are_read_back_as_they_were_written() {
    for grid in grids() {
        let grey = grid.clone().with_colors(Colors::uniform(GREY));
        for colored in [grey, painted(&grid, 1), painted(&grid, 254)] {
            if grid.occupied() > 0 {
                assert_given_back(&colored, Vox);
                continue;
            }
            // Colours are those of voxels.
            let back = reread(&colored, Vox);
            assert!(back == grid && back.world == grid.world && back.colors.is_none(), "{grid:?}");
        }
    }
}

#[test]
fn a_given_palette_keeps_its_order_and_every_voxel_has_the_nearest_colour() {
    let palette = Palette::new(&[[0; 4], [250, 250, 250, 255], [10, 10, 10, 255]]).unwrap();
    let options = WriteOptions { palette: Some(palette), ..WriteOptions::default() };
    let dark = |[x, ..]: [u32; 3]| (x == 0).then_some([30, 20, 20, 255]);
    let grid = painted_by(block([2, 1, 1], [0; 3], [2, 1, 1]), [220, 230, 240, 255], dark);
    let bytes = written_with(&grid, Vox, &options);
    let data = dot_vox::load_bytes(&bytes).unwrap();
    let indices: Vec<u8> = data.models[0].voxels.iter().map(|v| v.i).collect();
    assert_eq!(indices, [2, 1]);
    let colors: Vec<[u8; 4]> = data.palette.iter().map(|&color| color.into()).collect();
    assert_eq!(colors[..4], [[0; 4], [250, 250, 250, 255], [10, 10, 10, 255], [0; 4]]);
    let back = read(Vox, &bytes).unwrap();
    assert_eq!(back.color([0; 3]), Some([10, 10, 10, 255]));
}

#[test]
fn colours_that_the_palette_has_no_room_for_are_said() {
    let grid = random_grid([64, 64, 64], 2000, &mut fastrand::Rng::with_seed(3));
    assert_eq!((lost(&grid, Vox), lost(&painted(&grid, 254), Vox)), ("".into(), "".into()));
    let many =
        "301 colours are approximated by 255 or fewer, the most that the file's palette holds";
    assert_eq!(lost(&painted(&grid, 300), Vox), many);
}

/// A chunk without children.
fn chunk(name: &str, content: &[u8]) -> Vec<u8> {
    [name.as_bytes(), &(content.len() as i32).to_le_bytes(), &[0; 4], content].concat()
}

fn ints(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn dict(entries: &[(&str, &str)]) -> Vec<u8> {
    let text = |text: &str| [&ints(&[text.len() as i32]), text.as_bytes()].concat();
    let texts = entries.iter().flat_map(|(key, value)| [text(key), text(value)].concat());
    [ints(&[entries.len() as i32]), texts.collect()].concat()
}

pub(crate) fn file(chunks: &[Vec<u8>]) -> Vec<u8> {
    let chunks = chunks.concat();
    let main = [&b"MAIN"[..], &ints(&[0, chunks.len() as i32]), &chunks].concat();
    [&b"VOX "[..], &ints(&[150]), &main].concat()
}

pub(crate) fn model(size: [i32; 3], voxels: &[[u8; 4]]) -> Vec<u8> {
    let voxels = [ints(&[voxels.len() as i32]), voxels.concat()].concat();
    [chunk("SIZE", &ints(&size)), chunk("XYZI", &voxels)].concat()
}

/// A node of the scene graph: its attributes, and what follows them.
fn node(name: &str, id: i32, attributes: &[(&str, &str)], parts: &[Vec<u8>]) -> Vec<u8> {
    chunk(name, &[ints(&[id]), dict(attributes), parts.concat()].concat())
}

pub(crate) fn transform(id: i32, child: i32, frame: &[(&str, &str)]) -> Vec<u8> {
    node("nTRN", id, &[], &[ints(&[child, -1, 0, 1]), dict(frame)])
}

pub(crate) fn group(id: i32, children: &[i32]) -> Vec<u8> {
    node("nGRP", id, &[], &[ints(&[children.len() as i32]), ints(children)])
}

pub(crate) fn shape(id: i32, model: i32) -> Vec<u8> {
    node("nSHP", id, &[], &[ints(&[1, model]), dict(&[])])
}

/// An L of three voxels in a box of odd and even sizes: no two of its 48 poses are alike.
fn bent() -> Vec<u8> {
    model([5, 4, 2], &[[0, 0, 0, 9], [4, 0, 0, 9], [4, 3, 1, 255]])
}

fn read_vox(chunks: &[Vec<u8>]) -> Result<VoxelGrid, ReadError> {
    read(Vox, &file(chunks))
}

#[test]
fn vox_without_a_scene_graph_is_its_only_model() {
    let grid = read_vox(&[bent()]).unwrap();
    assert_eq!((grid.dims(), grid.world), ([5, 4, 2], PLAIN));
    assert_eq!(voxel_set(&grid), BTreeSet::from([[0, 0, 0], [4, 0, 0], [4, 3, 1]]));
}

#[test]
fn voxels_of_colour_0_are_none_and_unknown_chunks_are_skipped() {
    let parent = [&b"junk"[..], &ints(&[1, 12]), b"x", &chunk("more", &[])].concat();
    let model = model([2, 1, 1], &[[0, 0, 0, 0], [1, 0, 0, 1]]);
    let grid = read_vox(&[chunk("PACK", &ints(&[1])), parent, model]).unwrap();
    assert_eq!(grid.voxels().collect::<Vec<_>>(), [[1, 0, 0]]);
}

/// Two turned instances of one model under a turned group, in all 48 poses.
#[test]
fn turned_instances_lie_where_dot_vox_puts_them() {
    let mut seen = BTreeSet::new();
    for rows in [0b0100, 0b1000, 0b0001, 0b1001, 0b0010, 0b0110] {
        for signs in 0..8 {
            let outer = (rows | signs << 4).to_string();
            let chunks = [
                bent(),
                transform(0, 1, &[("_r", &outer), ("_t", "7 -30 1")]),
                group(1, &[2, 4]),
                transform(2, 3, &[("_t", "3 11 -2")]),
                shape(3, 0),
                transform(4, 3, &[("_r", "40"), ("_t", "-9 2 1")]),
            ];
            let grid = read_vox(&chunks).unwrap();
            let world = walk(&dot_vox::load_bytes(&file(&chunks)).unwrap(), floor_half);
            let world = world.into_iter().map(|(place, _)| place).collect();
            // The boxes' extent has no voxel at its corner: compare up to the voxels' own minimum.
            let normal = |voxels: BTreeSet<[i64; 3]>| -> BTreeSet<[i64; 3]> {
                let lo = [0, 1, 2].map(|a| voxels.iter().map(|v| v[a]).min().unwrap());
                voxels.into_iter().map(|voxel| minus(voxel, lo)).collect()
            };
            let voxels = normal(voxel_set(&grid));
            assert_eq!(voxels.len(), 6);
            assert_eq!(voxels, normal(world), "_r {outer}");
            assert!(seen.insert(voxels), "_r {outer} made the same as another");
        }
    }
}

#[test]
fn boxes_count_for_the_size_though_their_corners_are_empty() {
    let box_with_one = model([3, 3, 3], &[[1, 1, 1, 1]]);
    let graph = [
        transform(0, 1, &[]),
        group(1, &[2, 4]),
        transform(2, 3, &[]),
        shape(3, 0),
        transform(4, 3, &[("_t", "10 0 0")]),
    ];
    let grid = read_vox(&[box_with_one, graph.concat()]).unwrap();
    assert_eq!(grid.dims(), [13, 3, 3]);
    assert_eq!(grid.voxels().collect::<Vec<_>>(), [[1, 1, 1], [11, 1, 1]]);
}

#[test]
fn malformed_vox_is_refused_with_the_reason() {
    let turn = |number: &str| vec![bent(), transform(0, 1, &[("_r", number)]), shape(1, 0)];
    let shift = |text: &str| vec![bent(), transform(0, 1, &[("_t", text)]), shape(1, 0)];
    let below_root = |nodes: Vec<Vec<u8>>| [vec![bent(), transform(0, 1, &[])], nodes].concat();
    let size = chunk("SIZE", &ints(&[1, 1, 1]));
    let of_itself = "node 0 of the scene graph, byte 84: it is part of itself";
    let palette = |len: usize| vec![bent(), chunk("RGBA", &vec![0; len])];
    // 40 groups, each the next one twice: 2^40 instances of nothing.
    let mut doubling = vec![model([1, 1, 1], &[]), transform(0, 1, &[]), shape(41, 0)];
    doubling.extend((1..41).map(|id| group(id, &[id + 1, id + 1])));
    let mut deep = vec![bent(), shape(1000, 0)];
    deep.extend((0..1000).map(|id| transform(id, id + 1, &[])));
    for (why, chunks) in [
        ("no models", vec![]),
        ("2 models but no scene graph", vec![bent(), bent()]),
        ("too many instances", doubling),
        ("nested more than", deep),
        ("chunk RGBA, byte 84: the palette should be 1024 bytes", palette(1020)),
        ("chunk RGBA, byte 1108: 4 bytes more than it should have", palette(1028)),
        (of_itself, below_root(vec![group(1, &[0])])),
        ("is part of itself", vec![bent(), transform(0, 0, &[])]),
        ("no node 7, the child of 0", vec![bent(), transform(0, 7, &[])]),
        ("no node 0, the root", vec![bent(), transform(3, 1, &[]), shape(1, 0)]),
        ("places no models", below_root(vec![group(1, &[])])),
        ("no model 1", below_root(vec![shape(1, 1)])),
        ("no model -1", below_root(vec![shape(1, -1)])),
        ("two nodes 1", below_root(vec![shape(1, 0), shape(1, 0)])),
        ("not a rotation", turn("0")),
        ("not a rotation", turn("132")),
        ("not a rotation", turn("-4")),
        ("not a translation", shift("1 2")),
        ("not a translation", shift("1 2 3e9")),
        ("size of 0", vec![model([1, 0, 1], &[])]),
        ("size of -5", vec![model([1, 1, -5], &[])]),
        ("size of 257", vec![model([257, 1, 1], &[])]),
        ("outside the model", vec![model([1, 1, 1], &[[0, 1, 0, 1]])]),
        ("no SIZE before it", vec![chunk("XYZI", &ints(&[0]))]),
        ("has no XYZI", vec![size.clone()]),
        ("has no XYZI", vec![size.clone(), bent()]),
        ("chunk XYZI, byte 60: 9 voxels", vec![size.clone(), chunk("XYZI", &ints(&[9, 0]))]),
        ("number of items is -1", vec![size, chunk("XYZI", &ints(&[-1, 0]))]),
        ("4 bytes more", vec![chunk("SIZE", &ints(&[1, 1, 1, 1]))]),
        ("chunk nGRP, byte 44: 1000000 children", vec![chunk("nGRP", &ints(&[1, 0, 1_000_000]))]),
        ("a text should be 77 bytes", vec![chunk("nTRN", &ints(&[0, 1, 77, 0]))]),
    ] {
        let error = refused(Vox, &file(&chunks), why);
        assert!(matches!(error, ReadError::Content(_)), "{why}");
    }
}

#[test]
fn what_is_no_vox_is_refused_before_it_is_read() {
    let zeros = vec![0_u8; 4096];
    let mut rest = &zeros[..];
    let mut start = std::io::BufReader::with_capacity(64, &mut rest);
    let error = read_grid_from(&mut start, Vox, &ReadOptions::default()).unwrap_err().to_string();
    assert_eq!(error, "not a MagicaVoxel file: it does not begin with 'VOX '");
    assert_eq!(rest.len(), 4096 - 64);
}

#[test]
fn scenes_past_the_largest_grid_are_refused() {
    let far = |t: &str| {
        let graph = [transform(0, 1, &[]), group(1, &[2, 3]), shape(2, 0)].concat();
        read_vox(&[bent(), graph, transform(3, 2, &[("_t", t)])])
    };
    assert_eq!(far("65531 0 0").unwrap().dims(), [65536, 4, 2]);
    for t in ["65532 0 0", "0 2147483647 0", "0 0 -2147483648"] {
        assert!(matches!(far(t), Err(ReadError::Grid(GridError::Dims(_)))), "{t}");
    }
}

#[test]
fn instances_in_one_place_are_one() {
    // Placed each on its own these would be 2^31 voxels: too many.
    let voxels: Vec<_> = (0..=u16::MAX).map(|i| [i as u8, (i >> 8) as u8, 0, 1]).collect();
    let scene = [model([256, 256, 1], &voxels), group(0, &[1; 1 << 15]), shape(1, 0)];
    assert_eq!(read_vox(&scene).unwrap().occupied(), 1 << 16);
}

#[test]
fn a_root_that_lies_about_the_grid_is_refused() {
    let with = |from: &str, to: &str| {
        assert_eq!(from.len(), to.len());
        patched(&tiny_vox(), position(&tiny_vox(), from.as_bytes()), to.as_bytes())
    };
    assert!(read(Vox, &with("voxel=0.125", "voxel=0.250")).is_ok());
    for (from, to, why) in [
        ("dims=1,2,3", "dims=1,2,2", "models reach"),
        ("dims=1,2,3", "dims=1,1,3", "models reach"),
        ("up=y", "up=z", "models reach"),
        ("0 0 1", "0 1 1", "models reach"),
        ("dims=1,2,3", "dims=0,2,3", "0x2x3"),
    ] {
        refused(Vox, &with(from, to), why);
    }
    // Canary: the key is what makes it ours. Without it the extent of the models is read.
    assert_eq!(read(Vox, &with("trivox", "trivux")).unwrap().world, PLAIN);
}

#[test]
fn a_description_that_is_malformed_is_refused() {
    let of = |text: &str| {
        let model = model([1, 3, 2], &[[0, 2, 0, 1], [0, 0, 1, 1]]);
        let root = node("nTRN", 0, &[("trivox", text)], &[ints(&[1, -1, -1, 1]), dict(&[])]);
        file(&[model, root, group(1, &[2]), transform(2, 3, &[("_t", "0 0 1")]), shape(3, 0)])
    };
    let good = "1 dims=1,2,3 up=y origin=-1.5,0.0,2.0 voxel=0.125";
    assert_eq!(read(Vox, &of(good)).unwrap(), tiny());
    for (from, to) in [
        ("1 ", "2 "),
        ("1 ", "1  "),
        ("1,2,3", "1,2"),
        ("1,2,3", "1,2,-3"),
        ("1,2,3", "1,2,4294967296"),
        ("up=y", "up=x"),
        ("up=y ", ""),
        ("voxel=0.125", ""),
        ("2.0 ", "NaN "),
        ("2.0 ", "1e999 "),
        ("voxel=0.125", "voxel=0.0"),
        ("voxel=0.125", "voxel=0.125 more"),
    ] {
        refused(Vox, &of(&good.replace(from, to)), "malformed, or of a version");
    }
}

#[test]
fn a_place_is_read_back_to_the_last_bit() {
    for (up, c) in [(Up::Y, 0.1 + 0.2), (Up::Z, -0.0), (Up::Y, 5e-324), (Up::Z, f64::MAX)] {
        let place = Place { origin: [c, -c, 1.0 / 3.0], voxel_size: f64::MIN_POSITIVE };
        for world in [None, Some(place)].map(|place| World { up, place }) {
            let back = reread(&tiny().with_world(world), Vox).world;
            let bits = |world: World| world.place.map(|place| place.origin.map(f64::to_bits));
            assert_eq!((back, bits(back)), (world, bits(world)));
        }
    }
}

fn warnings(chunks: &[Vec<u8>]) -> Vec<String> {
    load_bytes(Vox, &file(chunks)).unwrap().warnings
}

#[test]
fn hidden_nodes_and_later_frames_are_said() {
    let plain = [bent(), transform(0, 1, &[]), shape(1, 0)];
    assert_eq!(warnings(&plain), Vec::<String>::new());
    let two_frames = [ints(&[1, -1, 0, 2]), dict(&[]), dict(&[])];
    let hidden = node("nTRN", 0, &[("_hidden", "1")], &two_frames);
    let two_models = [ints(&[2, 0]), dict(&[]), ints(&[1]), dict(&[("_f", "5")])];
    let animated = node("nSHP", 1, &[], &two_models);
    let hidden_nodes = "hidden nodes are read like any other: there are 1";
    let frames = "only the first frame is read: 2 nodes are animated";
    assert_eq!(warnings(&[bent(), bent(), hidden, animated]), [hidden_nodes, frames]);
}

/// The dimensions of a scene, read with these options.
fn dims_with(chunks: &[Vec<u8>], options: &ReadOptions) -> Result<[u32; 3], ReadError> {
    let loaded = read_grid_from(&mut &file(chunks)[..], Vox, options)?;
    assert_eq!(loaded.warnings, Vec::<String>::new());
    Ok(loaded.grid.dims())
}

fn dims_at(chunks: &[Vec<u8>], frame: u32) -> Result<[u32; 3], ReadError> {
    dims_with(chunks, &ReadOptions { frame: Some(frame), ..ReadOptions::default() })
}

#[test]
fn a_frame_of_an_animation_can_be_chosen() {
    let models = || [model([1, 1, 1], &[[0, 0, 0, 1]]), model([1, 1, 2], &[[0, 0, 0, 1]])].concat();
    // One instance moves from x = 0 to 9 in frames 0 to 4, and is two high from frame 2 on.
    let scene = |attributes: &[(&str, &str)]| {
        let keys = [dict(&[("_f", "0")]), dict(&[("_t", "9 0 0"), ("_f", "4")])].concat();
        let growing = [ints(&[2, 0]), dict(&[]), ints(&[1]), dict(&[("_f", "2")])];
        vec![
            models(),
            transform(0, 1, &[]),
            group(1, &[2, 4]),
            node("nTRN", 2, &[], &[ints(&[3, -1, 0, 2]), keys]),
            node("nSHP", 3, attributes, &growing),
            shape(4, 0),
        ]
    };
    let (once, looped) = (scene(&[]), scene(&[("_loop", "1")]));
    for (frame, x, z, z_looped) in [(0, 1, 1, 1), (1, 3, 1, 1), (3, 7, 2, 1), (4, 10, 2, 1)] {
        assert_eq!(dims_at(&once, frame).unwrap(), [x, 1, z], "frame {frame}");
        assert_eq!(dims_at(&looped, frame).unwrap(), [x, 1, z_looped], "frame {frame} of a loop");
    }
    let past = dims_at(&once, 5).unwrap_err().to_string();
    assert_eq!(past, "there is no frame 5: the file has the frames 0 to 4");
    // Without a chosen frame, those of the keys are not read.
    let odd = [bent(), transform(0, 1, &[("_f", "-1")]), shape(1, 0)];
    assert!(dims_with(&odd, &ReadOptions::default()).is_ok());
    let error = dims_at(&odd, 0).unwrap_err().to_string();
    assert!(error.contains("'-1' is not a frame"), "{error}");
    // Without a scene graph each model is a frame.
    assert_eq!([0, 1].map(|frame| dims_at(&[models()], frame).unwrap()), [[1, 1, 1], [1, 1, 2]]);
    assert!(dims_at(&[models()], 2).is_err());
    refused(Vox, &file(&[models()]), "choose a frame from 0 to 1");
}

#[test]
fn what_is_hidden_can_be_left_out() {
    let options = ReadOptions { visible_only: true, ..ReadOptions::default() };
    // Two voxels, one in a group of its own.
    let scene = |layer: i32, attributes: &[(&str, &str)], hidden_layer: &[(&str, &str)]| {
        let in_layer = [ints(&[4, -1, layer, 1]), dict(&[("_t", "5 0 0")])];
        [
            model([1, 1, 1], &[[0, 0, 0, 1]]),
            transform(0, 1, &[]),
            group(1, &[2, 3]),
            shape(2, 0),
            node("nTRN", 3, attributes, &in_layer),
            group(4, &[2]),
            node("LAYR", 7, hidden_layer, &[ints(&[-1])]),
        ]
    };
    let hidden = [("_hidden", "1")];
    for (layer, attributes, of_layer, length) in
        [(0, &[][..], &hidden[..], 6), (7, &[], &[], 6), (7, &[], &hidden, 1), (0, &hidden, &[], 1)]
    {
        let dims = dims_with(&scene(layer, attributes, of_layer), &options).unwrap();
        assert_eq!(dims, [length, 1, 1], "{layer} {attributes:?} {of_layer:?}");
    }
    let root = node("nTRN", 0, &hidden, &[ints(&[1, -1, 0, 1]), dict(&[])]);
    let error = dims_with(&[bent(), root, shape(1, 0)], &options).unwrap_err();
    assert_eq!(error.to_string(), "the scene graph places no visible models");
    // A malformed layer is an error only if layers decide what is read.
    let mut cut = scene(7, &[], &hidden);
    cut[6] = chunk("LAYR", &ints(&[7, 1]));
    assert!(dims_with(&cut, &ReadOptions::default()).is_ok());
    let error = dims_with(&cut, &options).unwrap_err().to_string();
    assert!(error.contains("chunk LAYR, byte"), "{error}");
}

/// The colours of a file's voxels, by place.
fn read_colors(chunks: &[Vec<u8>]) -> Vec<Rgba> {
    listed(&read_vox(chunks).unwrap()).into_iter().map(|(_, color)| color).collect()
}

/// A palette in which entry `n` is `(n, 2 n, 3 n)`, modulo 256.
fn palette() -> Vec<u8> {
    let colors = (0..=u8::MAX).map(|n| [n, n.wrapping_mul(2), n.wrapping_mul(3), n]);
    chunk("RGBA", &colors.collect::<Vec<_>>().concat())
}

#[test]
fn voxels_have_the_palettes_colours_whatever_their_opacity_there() {
    let model = model([3, 1, 1], &[[0, 0, 0, 1], [1, 0, 0, 2], [2, 0, 0, 255]]);
    let expected = [[0, 0, 0, 255], [1, 2, 3, 255], [254, 252, 250, 255]];
    assert_eq!(read_colors(&[model.clone(), palette()]), expected);
    // The order in which MagicaVoxel shows the palette changes no voxel.
    let order: Vec<u8> = (0..=u8::MAX).rev().collect();
    assert_eq!(read_colors(&[model, palette(), chunk("IMAP", &order)]), expected);
}

#[test]
fn without_a_palette_colours_are_magica_voxels_own() {
    let all: Vec<[u8; 4]> = (1..=255).map(|i| [i - 1, 0, 0, i]).collect();
    let found = read_colors(&[model([256, 1, 1], &all)]);
    let expected: Vec<Rgba> = dot_vox::DEFAULT_PALETTE[..255].iter().map(|&c| c.into()).collect();
    assert_eq!(found, expected);
}

#[test]
fn of_voxels_in_one_place_the_last_of_the_last_model_wins() {
    let one = |color| model([1, 1, 1], &[[0, 0, 0, color]]);
    let graph =
        |children: &[i32]| [transform(0, 1, &[]), group(1, children), shape(2, 0), shape(3, 1)];
    let read = |children: &[i32]| {
        read_colors(&[&[one(10), one(20), palette()][..], &graph(children)].concat())[0][0]
    };
    assert_eq!([read(&[2, 3]), read(&[3, 2]), read(&[2, 3, 2])], [19, 9, 9]);
    let twice = model([1, 1, 1], &[[0, 0, 0, 10], [0, 0, 0, 20]]);
    assert_eq!(read_colors(&[twice, palette()])[0][0], 19);
}

#[test]
fn materials_that_voxels_have_are_said() {
    let material = |index, kind| node("MATL", index, &[("_type", kind)], &[]);
    let with = |materials: &[Vec<u8>]| warnings(&[&[bent()], materials].concat());
    let cut_off = chunk("MATL", &ints(&[9, 7]));
    let unseen = [material(9, "_diffuse"), material(8, "_glass"), material(256, "_emit"), cut_off];
    assert_eq!(with(&unseen), Vec::<String>::new());
    let glass = "materials are not read: 1 colour is of glass, metal or light, but for the colour";
    assert_eq!(with(&[material(9, "_glass")]), [glass]);
    let both = [material(9, "_glass"), material(255, "_metal")];
    assert!(with(&both)[0].contains("2 colours are"));
}

#[test]
fn a_plain_vox_is_one_model_and_its_palette() {
    let plain = WriteOptions { plain: true, ..WriteOptions::default() };
    for grid in grids().into_iter().filter(|grid| grid.dims().iter().all(|&d| d <= 256)) {
        let bytes = written_with(&grid, Vox, &plain);
        let data = dot_vox::load_bytes(&bytes).unwrap();
        assert_eq!((data.models.len(), data.scenes.len()), (1, 0));
        let back = read(Vox, &bytes).unwrap();
        assert_eq!(back.world, PLAIN);
        let turned = |[x, y, z]: [u32; 3]| match grid.world.up {
            Up::Y => [x, grid.dims()[2] - 1 - z, y],
            Up::Z => [x, y, z],
        };
        let expected = VoxelGrid::from_voxels(back.dims(), grid.voxels().map(turned)).unwrap();
        assert_eq!(back, expected);
    }
    let long = VoxelGrid::empty([5, 257, 5]).unwrap();
    let error = write_grid_with(&long, Vox, &plain, &mut Vec::new()).unwrap_err().to_string();
    assert!(error.starts_with("a plain .vox has one model of at most 256 voxels"), "{error}");
    // The same before there is a grid.
    assert_eq!(Vox.check_dims([5, 257, 5], &plain).unwrap_err().to_string(), error);
    assert!(Vox.check_dims([5, 256, 5], &plain).is_ok());
}

/// `grid` with an attribute of these values; `names` are those of labels.
fn with_attribute(
    grid: &VoxelGrid,
    attribute: Attribute,
    names: Vec<String>,
    of: impl Fn([u32; 3]) -> [u32; 3],
) -> VoxelGrid {
    let values = |(key, mask): (BrickKey, Mask)| {
        (key, mask, mask_voxels(key.first_voxel(), mask).map(&of).collect())
    };
    let channel = Channel::from_bricks(attribute, grid.bricks().map(values).collect());
    let names = BTreeMap::from([(Attribute::Label, names)]);
    let mut grid = grid.clone();
    grid.attributes = Some(Attributes::new(names, BTreeMap::from([(attribute, channel)])));
    grid
}

/// The label of each voxel.
fn labels(grid: &VoxelGrid) -> Vec<i32> {
    attributes_of(grid).of_voxels(grid).map(|of| of.label).collect()
}

#[test]
fn labels_are_named_parts_in_their_place() {
    let mut random = fastrand::Rng::with_seed(8);
    for (dims, up) in [([600, 21, 30], Up::Y), ([9, 300, 41], Up::Z)] {
        let grid = random_grid(dims, 3000, &mut random).with_world(World { up, place: None });
        let grid = painted(&grid, 200);
        // The sword is long, the skull in the second half.
        let label_of = |[x, y, z]: [u32; 3]| match (z % 3, 2 * (x + y) > dims[0] + dims[1]) {
            (0, _) => 0,
            (1, true) => 2,
            (1, false) => 1,
            _ => u32::MAX,
        };
        let names = ["sword", "", "Schädel", "of no voxel"].map(str::to_owned).to_vec();
        let named = with_attribute(&grid, Attribute::Label, names, |at| [label_of(at), 0, 0]);
        let bytes = written(&named, Vox);
        let data = dot_vox::load_bytes(&bytes).unwrap();
        assert!(walk(&data, floor_half) == placed(&grid), "{dims:?}");
        assert!(is_in_models_of_256(&data));
        let name = |node: &dot_vox::SceneNode| match node {
            dot_vox::SceneNode::Transform { attributes, .. } => attributes.get("_name").cloned(),
            _ => None,
        };
        let names: Vec<String> = data.scenes.iter().filter_map(name).collect();
        assert_eq!(names, ["sword", "Schädel", "(no label)"]);
        let dot_vox::SceneNode::Group { children, .. } = &data.scenes[1] else { panic!() };
        assert_eq!((children.len(), data.models.len() > 4), (4, true));

        assert_given_back(&named, Vox);
        let back = read(Vox, &bytes).unwrap();
        // The label without voxels is gone.
        assert_eq!(attributes_of(&back).names()[&Attribute::Label], ["sword", "", "Schädel"]);
        assert_eq!(labels(&back), labels(&named));

        let plain = WriteOptions { plain: true, ..WriteOptions::default() };
        assert_eq!(Vox.lost(&named, &plain), ["the voxels' attributes are not kept: label"]);
    }
}

#[test]
fn labels_beyond_the_parts_of_a_file_are_not_kept_and_that_is_said() {
    let grid = painted(&random_grid([40; 3], 500, &mut fastrand::Rng::with_seed(9)), 20);
    let said = "the labels are not kept: 4,097 objects are more than the 4,096 parts of a file";
    for (objects, expected, models) in [(4096, "", 40), (4097, said, 1)] {
        let names = (0..objects).map(|n| n.to_string()).collect();
        let named = with_attribute(&grid, Attribute::Label, names, |[x, ..]| [x, 0, 0]);
        assert_eq!(lost(&named, Vox), expected);
        let data = dot_vox::load_bytes(&written(&named, Vox)).unwrap();
        assert_eq!(data.models.len(), models);
    }
}

#[test]
fn a_voxel_that_emits_light_has_the_colour_of_surface_and_light() {
    let grey = linear_of(50);
    let sum = |light: u16| rgba_of([grey + light, grey, grey, u16::MAX]);
    let half = f32::from(u16::MAX / 2) / f32::from(u16::MAX);
    for (base, light, expected) in [
        ([50, 50, 50, 255], [0.0; 3], [50, 50, 50, 255]),
        ([50, 50, 50, 255], [half, 0.0, 0.0], sum(u16::MAX / 2)),
        ([50, 50, 50, 255], [1.0, 1.0, 0.0], [255, 255, 50, 255]),
        // Its hue, whatever its strength.
        ([0, 0, 0, 255], [8.0, 2.0, 0.0], rgba_of([u16::MAX, u16::MAX / 4 + 1, 0, u16::MAX])),
        // A black surface has this colour already.
        ([188, 0, 0, 255], [half, 0.0, 0.0], [188, 0, 0, 255]),
        ([255, 255, 0, 255], [8.0, 2.0, 0.0], rgba_of([u16::MAX, u16::MAX / 4 + 1, 0, u16::MAX])),
    ] {
        let grid = block([3, 2, 2], [0; 3], [3, 2, 2]).with_colors(Colors::uniform(base));
        let light_of = |_| light.map(f32::to_bits);
        let lit = with_attribute(&grid, Attribute::Emission, Vec::new(), light_of);
        let back = reread(&lit, Vox);
        assert!(listed(&back).iter().all(|&(_, color)| color == expected), "{base:?} {light:?}");
        let painted = Vox.painted(&lit, &WriteOptions::default()).unwrap();
        assert_eq!(painted.of([1, 1, 1]), expected);
    }
}
