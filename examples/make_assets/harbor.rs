//! What floats or stands in the water before the lighthouse: a jetty, a sailing boat, a buoy.

use super::obj::{Facet, Obj, Paint, plain};
use super::shapes::{Frame, Rings, piecewise};
use super::texture::BOARDS;

/// A jetty from the beach into the sea, on posts.
pub(crate) fn jetty(obj: &mut Obj) {
    obj.object("jetty");
    let frame = Frame::new([10.0, 0.0, 24.0]);
    let deck = frame.cuboid([-2.8, 11.0, 0.0], [2.8, 12.3, 20.0]);
    obj.solid(&deck, |facet| match facet {
        Facet::Side { segment: 0 | 2, .. } => Paint::Tiled("planks", BOARDS),
        _ => Paint::Plain("wood"),
    });
    for z in [2.5, 10.5, 18.5] {
        for x in [-3.3, 3.3] {
            let post = frame.moved([x, 0.0, z]);
            obj.solid(&post.lathe(&[[0.8, 4.0], [0.8, 13.6]], 10), plain("bark"));
        }
    }
}

/// A sailing boat, its bow towards `x`.
pub(crate) fn boat(obj: &mut Obj, frame: &Frame) {
    obj.object("boat");
    let stations: Rings = (0..=10).map(|i| hull_section(f64::from(i) / 10.0)).collect();
    obj.solid(&frame.rings(stations), |facet| match facet {
        Facet::Side { segment: 0 | 4, .. } => Paint::Plain("frame"),
        Facet::Side { segment: 5..=9, .. } => Paint::Plain("wood"),
        _ => Paint::Plain("hull"),
    });
    let mast = frame.moved([0.8, 2.2, 0.0]);
    obj.solid(&mast.lathe(&[[0.65, 0.0], [0.65, 19.5]], 10), plain("bark"));
    let main = [[-0.9, 2.6], [-0.9, 18.4], [-7.4, 3.4]];
    obj.solid(&mast.prism(&main, [-0.5, 0.5]), plain("sail"));
    let jib = [[0.9, 2.6], [6.6, 2.8], [0.9, 16.0]];
    obj.solid(&mast.prism(&jib, [-0.5, 0.5]), plain("cupola"));
}

/// The section of the hull at a part of its length. Around it: strake, side, bottom, side, strake,
/// then gunwale, the hollow inside, gunwale.
fn hull_section(part: f64) -> Vec<[f64; 3]> {
    let beam = piecewise(&[[0.0, 2.6], [0.3, 3.5], [0.6, 3.3], [0.85, 1.9], [1.0, 0.6]], part);
    let top = piecewise(&[[0.0, 4.2], [0.4, 3.8], [1.0, 5.4]], part);
    let keel = piecewise(&[[0.0, 0.4], [0.3, 0.0], [0.8, 0.2], [1.0, 1.8]], part);
    let half = [[top, 1.0], [top - 1.1, 0.97], [keel, 0.4]];
    let hollow = [[top, 0.66], [top - 1.4, 0.6]];
    let outside = half.into_iter().chain(half.into_iter().rev().map(|[y, z]| [y, -z]));
    let inside = hollow.map(|[y, z]| [y, -z]).into_iter().chain(hollow.into_iter().rev());
    outside.chain(inside).map(|[y, z]| [17.0 * part - 8.0, y, z * beam]).collect()
}

/// A red and white buoy.
pub(crate) fn buoy(obj: &mut Obj, frame: &Frame) {
    obj.object("buoy");
    let profile =
        [[2.0, 0.0], [2.8, 1.4], [2.8, 3.4], [1.6, 4.4], [1.3, 6.2], [1.0, 8.0], [0.8, 8.6]];
    obj.solid(&frame.lathe(&profile, 16), |facet| match facet {
        Facet::Side { ring: 4, .. } => Paint::Plain("frame"),
        _ => Paint::Plain("cupola"),
    });
    obj.solid(&frame.lathe(&[[0.8, 8.6], [0.8, 10.2]], 10), plain("lamp"));
}
