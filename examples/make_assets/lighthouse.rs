//! The lighthouse on its island. A unit is about a hundredth of the model, and hardly any part is
//! thinner, so that all can be seen as voxels.

use super::harbor;
use super::island::{self, PLATEAU, SEA};
use super::obj::{Facet, Obj, Paint, Region, plain};
use super::shapes::{Frame, Rings, cos_sin, noise, piecewise, polar};
use super::texture::{BANDS, ROOF, STONES, mirrored, turned};

/// The mesh.
pub(crate) fn obj() -> Vec<u8> {
    let header = "# lighthouse, y up\n# made by the program make_assets\nmtllib lighthouse.mtl";
    let mut obj = Obj::new(header);
    island::add(&mut obj);
    rocks(&mut obj);
    let tower_frame = Frame::new([-9.0, PLATEAU, -6.0]);
    tower(&mut obj, &tower_frame);
    lantern(&mut obj, &tower_frame.moved([0.0, TOWER_TOP, 0.0]));
    house(&mut obj, &Frame::new([11.0, PLATEAU, 1.0]));
    path(&mut obj);
    trees(&mut obj);
    harbor::jetty(&mut obj);
    harbor::boat(&mut obj, &Frame::new([31.0, SEA - 1.5, 33.0]).turned(0.07));
    harbor::buoy(&mut obj, &Frame::new([-34.0, SEA - 2.0, 36.0]));
    obj.finish()
}

/// Height of the gallery above the ground.
const TOWER_TOP: f64 = 49.0;
/// The tower's radius by height above the ground.
const TOWER: [[f64; 2]; 4] = [[3.0, 9.0], [14.0, 7.8], [30.0, 6.6], [TOWER_TOP, 5.8]];

fn tower(obj: &mut Obj, frame: &Frame) {
    obj.object("tower");
    let plinth = [[10.6, 0.0], [10.6, 2.0], [9.8, 3.0]];
    obj.solid(&frame.lathe(&plinth, 36), wrapped("stone", STONES));
    let profile: Vec<[f64; 2]> = (0..=10)
        .map(|i| piecewise(&[[0.0, 3.0], [10.0, TOWER_TOP]], f64::from(i)))
        .map(|y| [piecewise(&TOWER, y), y])
        .collect();
    obj.solid(&frame.lathe(&profile, 36), wrapped("masonry", BANDS));

    for (turns, y) in [(0.15, 15.0), (0.0, 24.0), (0.13, 33.4), (0.04, 42.2), (0.6, 24.0)] {
        let wall = frame.turned(turns).moved([0.0, y, piecewise(&TOWER, y + 2.0) - 0.6]);
        window(obj, &wall, [2.8, 4.2]);
    }
    let wall = frame.turned(0.06).moved([0.0, 0.0, 8.6]);
    door(obj, &wall, [3.6, 7.5]);
    obj.solid(&wall.cuboid([-3.2, 0.0, 1.8], [3.2, 1.0, 4.4]), plain("light_rock"));
}

/// The whole of a part but its ends in one region of the texture.
fn wrapped(material: &'static str, region: Region) -> impl Fn(Facet) -> Paint {
    move |facet| match facet {
        Facet::Side { .. } => Paint::Wrapped(material, region),
        Facet::First | Facet::Last => Paint::Plain("light_rock"),
    }
}

/// Glass between a sill and a lintel, its lower edge at the origin of `wall`, facing `z`.
fn window(obj: &mut Obj, wall: &Frame, [width, height]: [f64; 2]) {
    let (x, y) = (width / 2.0, height);
    obj.solid(&wall.cuboid([-x, 0.0, 0.0], [x, y, 1.2]), plain("glass"));
    obj.solid(&wall.cuboid([-x - 0.6, y, 0.0], [x + 0.6, y + 1.0, 1.6]), plain("frame"));
    obj.solid(&wall.cuboid([-x - 0.6, -1.0, 0.0], [x + 0.6, 0.0, 2.0]), plain("frame"));
}

/// A window with open shutters.
fn shuttered_window(obj: &mut Obj, wall: &Frame, size: [f64; 2]) {
    window(obj, wall, size);
    for side in [-1.0, 1.0] {
        let shutter = wall.moved([side * (size[0] / 2.0 + 0.7), 0.0, 0.0]);
        obj.solid(&shutter.cuboid([-0.7, 0.0, 0.0], [0.7, size[1], 1.4]), plain("door"));
    }
}

/// A round-arched door with its frame, standing at the origin of `wall`, facing `z`.
fn door(obj: &mut Obj, wall: &Frame, [width, height]: [f64; 2]) {
    let arch = |margin: f64| -> Vec<[f64; 2]> {
        let (radius, spring) = (width / 2.0 + margin, height - width / 2.0);
        let round = (0..=8).map(|i| cos_sin(f64::from(i) / 16.0));
        let foot = [[-radius, 0.0], [radius, 0.0]];
        let top = round.map(|[cos, sin]| [radius * cos, spring + radius * sin]);
        foot.into_iter().chain(top).collect()
    };
    obj.solid(&wall.prism(&arch(1.0), [-1.0, 1.6]), plain("frame"));
    obj.solid(&wall.prism(&arch(0.0), [-1.0, 2.2]), plain("door"));
}

/// Gallery, railing, lamp and roof, on the top of the tower.
fn lantern(obj: &mut Obj, frame: &Frame) {
    obj.object("lantern");
    let gallery = [[5.8, 0.0], [8.6, 1.4], [8.6, 2.8], [4.8, 2.8]];
    obj.solid(&frame.lathe(&gallery, 32), plain("iron"));
    for i in 0..12 {
        let post = frame.turned(f64::from(i) / 12.0).moved([0.0, 2.8, 7.9]);
        obj.solid(&post.cuboid([-0.5, 0.0, -0.5], [0.5, 2.4, 0.5]), plain("iron"));
    }
    let rail = [[7.3, 5.2], [8.5, 5.2], [8.5, 6.3], [7.3, 6.3], [7.3, 5.2]];
    obj.solid(&frame.lathe(&rail, 32), plain("frame"));

    let lamp = frame.moved([0.0, 2.8, 0.0]);
    obj.solid(&lamp.lathe(&[[4.8, 0.0], [4.8, 1.6]], 24), plain("frame"));
    obj.solid(&lamp.lathe(&[[4.2, 1.6], [4.2, 9.6]], 24), plain("lamp"));
    for i in 0..6 {
        let post = lamp.turned(f64::from(i) / 6.0).moved([0.0, 1.6, 4.3]);
        obj.solid(&post.cuboid([-0.55, 0.0, -0.5], [0.55, 8.0, 0.5]), plain("iron"));
    }
    let roof = [[6.2, 9.6], [6.2, 10.8], [5.2, 12.4], [3.8, 14.2], [2.0, 15.6], [1.0, 16.2]];
    obj.solid(&lamp.lathe(&roof, 32), plain("cupola"));
    let finial = [[1.0, 16.2], [0.9, 16.6], [1.7, 17.6], [1.7, 18.2], [0.7, 19.4], [0.6, 22.5]];
    obj.solid(&lamp.lathe(&finial, 16), plain("gold"));
}

/// Half the house's depth, and the height of its walls.
const HOUSE: [f64; 2] = [5.0, 7.4];
/// Half the house's length.
const HOUSE_LENGTH: f64 = 7.5;
/// How much the roof rises per unit.
const PITCH: f64 = 0.9;

/// The keeper's house, its door facing `z`.
fn house(obj: &mut Obj, frame: &Frame) {
    obj.object("house");
    let [depth, height] = HOUSE;
    // The ridge runs along this frame's `z`.
    let gable = frame.turned(0.25);
    let ridge = height + PITCH * depth;
    let walls = [[-depth, 0.0], [depth, 0.0], [depth, height], [0.0, ridge], [-depth, height]];
    obj.solid(&gable.prism(&walls, [-HOUSE_LENGTH, HOUSE_LENGTH]), plain("plaster"));

    let eaves = depth + 1.2;
    let low = height - PITCH * 1.2;
    let roof = [
        [eaves, low],
        [eaves, low + 1.6],
        [0.0, ridge + 1.6],
        [-eaves, low + 1.6],
        [-eaves, low],
        [0.0, ridge],
    ];
    // Its segments 1 and 2 are the slopes: up the one, down the other.
    let overhang = HOUSE_LENGTH + 1.4;
    obj.solid(&gable.prism(&roof, [-overhang, overhang]), |facet| match facet {
        Facet::Side { segment: 1, .. } => Paint::Tiled("roof_tiles", turned(ROOF)),
        Facet::Side { segment: 2, .. } => Paint::Tiled("roof_tiles", mirrored(turned(ROOF))),
        _ => Paint::Plain("eaves"),
    });

    let chimney = frame.moved([-4.4, 9.0, -1.8]);
    obj.solid(&chimney.cuboid([-1.3, 0.0, -1.3], [1.3, 7.0, 1.3]), plain("brick"));
    obj.solid(&chimney.cuboid([-1.8, 7.0, -1.8], [1.8, 8.2, 1.8]), plain("iron"));

    let front = frame.moved([0.0, 0.0, depth]);
    door(obj, &front.moved([-2.2, 0.0, -1.0]), [2.8, 5.8]);
    shuttered_window(obj, &front.moved([3.6, 2.6, -0.4]), [2.6, 2.8]);
    for turns in [0.25, 0.75] {
        let wall = frame.turned(turns).moved([0.0, 3.0, HOUSE_LENGTH - 0.4]);
        shuttered_window(obj, &wall, [2.8, 3.4]);
    }
}

/// Slabs from the tower past the house down to the jetty.
fn path(obj: &mut Obj) {
    obj.object("path");
    let slabs = [
        [-4.0, PLATEAU, 8.4],
        [-0.6, PLATEAU, 10.6],
        [3.0, PLATEAU, 11.8],
        [8.6, PLATEAU, 8.9],
        [6.0, PLATEAU, 13.6],
        [7.4, PLATEAU - 0.3, 17.2],
    ];
    for (i, slab) in slabs.into_iter().enumerate() {
        let frame = Frame::new(slab).turned(0.03 * noise([i, 1]));
        obj.solid(&frame.cuboid([-1.6, -0.4, -1.2], [1.6, 0.8, 1.2]), plain("path"));
    }
}

fn trees(obj: &mut Obj) {
    obj.object("trees");
    for (x, z, size) in [(7.0, -14.0, 1.15), (14.5, -11.5, 0.85), (-20.0, 7.0, 0.8)] {
        pine(obj, &Frame::new([x, PLATEAU, z]), size);
    }
    leafy_tree(obj, &Frame::new([-13.0, PLATEAU, 11.0]));
    let bushes = [(-19.5, -12.0, 2.0), (-1.0, -19.0, 2.3), (19.5, 9.0, 1.8), (-8.5, 14.5, 1.6)];
    for (i, (x, z, radius)) in bushes.into_iter().enumerate() {
        let frame = Frame::new([x, PLATEAU + 0.5 * radius, z]);
        obj.solid(&boulder(&frame, radius, 0.12, 5 + i), plain("leaves"));
    }
}

/// Three skirts of needles on a trunk.
fn pine(obj: &mut Obj, frame: &Frame, size: f64) {
    let scaled = |profile: &[[f64; 2]]| -> Vec<[f64; 2]> {
        profile.iter().map(|p| p.map(|c| c * size)).collect()
    };
    obj.solid(&frame.lathe(&scaled(&[[1.1, 0.0], [0.9, 4.0]]), 10), plain("bark"));
    let skirts =
        [[1.4, 3.6], [4.8, 3.0], [2.6, 7.6], [4.0, 7.2], [2.0, 11.4], [3.1, 11.0], [0.0, 17.0]];
    obj.solid(&frame.lathe(&scaled(&skirts), 14), plain("needles"));
}

fn leafy_tree(obj: &mut Obj, frame: &Frame) {
    obj.solid(&frame.lathe(&[[1.5, 0.0], [1.0, 2.0], [1.0, 6.0]], 10), plain("bark"));
    let crown = [([0.0, 8.6, 0.0], 4.4), ([2.6, 7.2, 1.6], 2.8), ([-2.4, 7.4, 1.2], 2.9)];
    for (i, (at, radius)) in crown.into_iter().enumerate() {
        obj.solid(&boulder(&frame.moved(at), radius, 0.08, i), plain("leaves"));
    }
}

/// A ball with dents of up to `rough` of its radius.
fn boulder(frame: &Frame, radius: f64, rough: f64, seed: usize) -> Rings {
    const RINGS: usize = 7;
    const SEGMENTS: usize = 12;
    let ball = |ring: usize| {
        let [cos, sin] = cos_sin(ring as f64 / (2 * RINGS) as f64);
        let point = |segment: usize| {
            let radius = radius * (1.0 + rough * noise([100 * seed + ring, segment]));
            polar(segment as f64 / SEGMENTS as f64, radius * sin, -radius * cos)
        };
        let points = if ring.is_multiple_of(RINGS) { 1 } else { SEGMENTS };
        (0..points).map(point).collect()
    };
    frame.rings((0..=RINGS).map(ball).collect())
}

/// Rocks in the water.
fn rocks(obj: &mut Obj) {
    obj.object("rocks");
    let rocks = [
        (-38.0, -24.0, 4.6),
        (-41.5, -18.0, 2.8),
        (39.0, -30.0, 4.2),
        (35.0, -35.5, 2.6),
        (-39.0, 14.0, 3.2),
        (41.0, 4.0, 3.0),
    ];
    for (i, (x, z, radius)) in rocks.into_iter().enumerate() {
        let frame = Frame::new([x, SEA + 0.2 * radius, z]);
        obj.solid(&boulder(&frame, radius, 0.3, 10 + i), |facet| match facet {
            Facet::Side { ring: 0..=2, .. } => Paint::Plain("wet_rock"),
            Facet::Side { ring: 3, .. } => Paint::Plain("rock"),
            _ => Paint::Plain("light_rock"),
        });
    }
}
