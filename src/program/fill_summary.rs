//! The summary of a fill as text.

use trivox::solid::FillSummary;

use crate::program::numbers::{counted, grouped};

/// The summary as text.
pub fn lines(fill: &FillSummary) -> Vec<String> {
    let mut lines = vec![format!("{}: {}", fill.rule, fill.reason)];
    let mut facts = vec![counted(fill.shells, "shell")];
    let faults = [
        (fill.open_edges, "open"),
        (fill.non_manifold_edges, "non-manifold"),
        (fill.odd_edges - fill.open_edges, "odd"),
        (fill.inconsistent_edges, "inconsistent"),
    ];
    let faults = faults.iter().filter(|(number, _)| *number > 0);
    facts.extend(faults.map(|(number, what)| {
        let edges = if *number == 1 { "edge" } else { "edges" };
        format!("{} {what} {edges}", grouped(*number))
    }));
    if fill.turned_triangles > 0 {
        let [triangles, patches] = [fill.turned_triangles, fill.turned_patches].map(grouped);
        facts.push(format!("turned around: {triangles} triangles, of {patches} patches"));
    }
    lines.push(facts.join(", "));
    lines.extend(fill.caps.clone());
    lines
}
