//! The summary of a fill as text.

use std::iter;

use trivox::solid::FillSummary;

use crate::numbers::counted;

/// The summary as lines of text, each with its label.
pub fn lines(fill: &FillSummary) -> impl Iterator<Item = (&'static str, String)> {
    let topology = &fill.topology;
    let mut facts = vec![counted(topology.shells, "shell")];
    let faults = [
        (topology.open_edges, "open"),
        (topology.non_manifold_edges, "non-manifold"),
        (topology.odd_edges - topology.open_edges, "odd"),
        (topology.inconsistent_edges, "inconsistent"),
    ];
    let faults = faults.iter().filter(|(number, _)| *number > 0);
    facts.extend(faults.map(|(number, what)| counted(*number, &format!("{what} edge"))));
    if fill.flipped_triangles > 0 {
        let triangles = counted(fill.flipped_triangles, "triangle");
        let patches = counted(fill.flipped_patches, "patch");
        facts.push(format!("flipped: {triangles} in {patches}"));
    }
    let them = if fill.empty_shells == Some(1) { "it" } else { "them" };
    let empty = fill.empty_shells_text.iter();
    let empty = empty.map(move |text| format!("{text}; --include-surface keeps {them}"));
    let pieces = fill.pieces_text.iter();
    let pieces = pieces.map(|text| format!("{text}; --include-surface joins them"));
    let more = iter::once(facts.join(", ")).chain(fill.caps.clone()).chain(empty).chain(pieces);
    let first = ("fill", format!("{}: {}", fill.rule, fill.reason));
    iter::once(first).chain(more.map(|text| ("", text)))
}
