//! The ground of the lighthouse: a square block of sea with a rocky island in it. It is one solid,
//! so that nothing overlaps, and its rings follow the coast.

use super::obj::{Facet, Obj, Paint};
use super::shapes::{Point, Rings, cos_sin, noise, piecewise, polar};

/// Half the edge of the sea.
const HALF: f64 = 48.0;
/// Height of the water.
pub(crate) const SEA: f64 = 8.0;
/// Height of the plateau on which the buildings stand.
pub(crate) const PLATEAU: f64 = 19.0;
/// The block shows the sea floor up to here.
const SEA_FLOOR: f64 = 2.5;
/// Points of a ring; a multiple of 8, so that the corners of the sea are among them.
const SECTORS: usize = 144;
/// Rings from the edge of the sea to the coast.
const SEA_RINGS: usize = 22;
/// The quads from this ring on are land: bottom, sea floor and edge come before the sea.
const COAST: usize = 3 + SEA_RINGS;
/// Where rings are on the island, as parts of the way from the middle to the coast.
const LAND_RINGS: [f64; 15] =
    [0.985, 0.965, 0.945, 0.92, 0.9, 0.88, 0.855, 0.835, 0.8, 0.74, 0.67, 0.58, 0.45, 0.3, 0.15];

/// Heights of the land by the part of the way from the middle to the coast: cliffs, in steps.
const CLIFF: [[f64; 2]; 8] = [
    [0.8, PLATEAU],
    [0.835, 18.3],
    [0.855, 16.0],
    [0.88, 15.2],
    [0.9, 12.8],
    [0.945, 11.8],
    [0.965, 9.2],
    [1.0, SEA - 0.6],
];
/// The same where there is a beach.
const BEACH: [[f64; 2]; 5] =
    [[0.52, PLATEAU], [0.62, 18.0], [0.78, 12.2], [0.9, 9.6], [1.0, SEA - 0.6]];

/// Adds the sea and the island.
pub(crate) fn add(obj: &mut Obj) {
    obj.object("island");
    let rings = rings();
    obj.solid(&rings, |facet| match facet {
        Facet::Side { ring, segment } => Paint::Plain(material(&rings, ring, segment)),
        Facet::First | Facet::Last => Paint::Plain("sand"),
    });
}

/// From the middle of the bottom outwards, up, and inwards over sea and land to the middle.
fn rings() -> Rings {
    let ring = |point: &dyn Fn(usize) -> Point| (0..SECTORS).map(point).collect();
    let mut rings = vec![vec![[0.0; 3]]];
    rings.extend([0.0, SEA_FLOOR].map(|y| ring(&|sector| at(sector, edge(sector), y))));
    rings.extend((0..SEA_RINGS).map(|i| {
        let offshore = 1.0 - i as f64 / SEA_RINGS as f64;
        ring(&|sector| sea(sector, offshore))
    }));
    rings.extend(LAND_RINGS.iter().enumerate().map(|(i, &part)| ring(&|s| land(s, i, part))));
    rings.push(vec![[0.0, PLATEAU, 0.0]]);
    rings
}

fn at(sector: usize, radius: f64, y: f64) -> Point {
    polar(sector as f64 / SECTORS as f64, radius, y)
}

/// Distance of the block's edge from the middle.
fn edge(sector: usize) -> f64 {
    let [x, _, z] = at(sector, 1.0, 0.0);
    HALF / x.abs().max(z.abs())
}

/// Distance of the coast from the middle.
fn coast(sector: usize) -> f64 {
    let turns = sector as f64 / SECTORS as f64;
    let wave = |waves: f64, start: f64| cos_sin(waves * turns + start)[0];
    31.0 + 2.4 * wave(2.0, 0.15) + 1.6 * wave(3.0, 0.4) + 1.0 * wave(7.0, 0.1) + 2.5 * beach(sector)
}

/// 1 in the middle of the beach, 0 where there are cliffs. The beach looks towards `z`.
fn beach(sector: usize) -> f64 {
    let turns = sector as f64 / SECTORS as f64;
    piecewise(&[[0.68, 0.0], [0.73, 1.0], [0.84, 1.0], [0.89, 0.0]], turns)
}

/// A point of the water, from 0 at the coast to 1 at the block's edge; waves fade at the coast.
fn sea(sector: usize, offshore: f64) -> Point {
    let radius = coast(sector) + (edge(sector) - coast(sector)) * offshore;
    let [x, _, z] = at(sector, radius, 0.0);
    at(sector, radius, SEA + swell(x, z) * (2.5 * offshore).min(1.0))
}

/// Height of the waves at a place.
fn swell(x: f64, z: f64) -> f64 {
    let wave = |turns: f64| cos_sin(turns)[0];
    0.9 * wave(0.055 * x + 0.025 * z) + 0.6 * wave(0.048 * z - 0.036 * x + 0.3)
}

/// A point of the land. Cliffs are broken into columns a few sectors wide.
fn land(sector: usize, ring: usize, part: f64) -> Point {
    let beach = beach(sector);
    let height = piecewise(&CLIFF, part) * (1.0 - beach) + piecewise(&BEACH, part) * beach;
    let column = noise([(sector + 1) % SECTORS / 4, 7]) + 0.5 * noise([sector / 2, ring / 2]);
    let rough = if part > CLIFF[0][0] { column * (1.0 - beach) } else { 0.0 };
    at(sector, coast(sector) * part + 0.9 * rough, height + 0.5 * rough)
}

/// What the quad from a ring to the next is made of.
fn material(rings: &Rings, ring: usize, segment: usize) -> &'static str {
    let corner = |ring: usize, segment: usize| rings[ring][segment % rings[ring].len()][1];
    let heights = [0, 1].map(|up| corner(ring + up, segment) + corner(ring + up, segment + 1));
    let height = (heights[0] + heights[1]) / 4.0;
    match ring {
        0 | 1 => "sand",
        2 => "deep_water",
        3..COAST => water(COAST - ring, segment, height - SEA),
        _ => ground(ring, segment, height),
    }
}

/// Surf at the coast, shallow water around it, and white or light crests on the waves.
fn water(from_coast: usize, segment: usize, height: f64) -> &'static str {
    let broken = noise([segment / 5, from_coast]) > 0.0;
    match from_coast {
        1 | 2 => "foam",
        3 if broken => "foam",
        3..=5 => "shallow_water",
        6 | 7 if broken => "shallow_water",
        _ if height > 1.15 => "foam",
        _ if height > 0.55 => "shallow_water",
        _ => "water",
    }
}

/// Sand low at the beach, grass on top, and rock where there are cliffs, dark where it is wet.
fn ground(ring: usize, segment: usize, height: f64) -> &'static str {
    let sandy = beach(segment) > 0.6;
    match (sandy, height) {
        (true, ..12.8) => "sand",
        (_, 17.9..) if noise([segment / 6, ring]) > 0.5 => "meadow",
        (_, 17.9..) | (true, _) => "grass",
        (false, ..10.0) => "wet_rock",
        _ if noise([segment / 4, ring / 2]) > 0.2 => "light_rock",
        _ => "rock",
    }
}
