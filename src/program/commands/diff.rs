//! `voxelize diff`: compares two grids voxel by voxel.

use std::borrow::Cow;

use anyhow::{Context, Result, bail};
use serde::Serialize;
use trivox::base::srgb::Rgba;
use trivox::grid::compare::in_colors;
use trivox::grid::{Attribute, Attributes};
use trivox::view::render::{Background, Camera, Picture, RenderOptions, Renderer};
use trivox::{Comparison, DistanceField, VoxelGrid, compare};

use crate::ExitStatus;
use crate::cli::{DiffArgs, SceneArgs};
use crate::grids::{GridSummary, described};
use crate::progress::TerminalProgress;
use crate::text::{counted, escaped, of_file, range, ratio, shown, significant};
use crate::write::pictures::{preview, preview_options};
use crate::write::sink::{Inputs, Sink};

/// Maximum number of differing voxels listed.
const NAMED: usize = 8;

const NAMES: [char; 2] = ['A', 'B'];

/// Colours of voxels in both grids, only in A, and only in B. The last two are distinguishable with
/// any colour vision (M. Okabe and K. Ito, Color Universal Design, 2008).
const IN_BOTH: Rgba = [208, 208, 204, 255];
const ONLY_IN: [Rgba; 2] = [[213, 94, 0, 255], [0, 114, 178, 255]];

/// Opacity of differing voxels behind others.
const SHOWS_THROUGH: f64 = 0.75;

/// Reads both grids, reports how they differ, and draws the difference if requested.
pub fn run(args: &DiffArgs) -> Result<ExitStatus> {
    let inputs = Inputs::new([&*args.a, &*args.b]);
    let sink = args
        .preview
        .as_ref()
        .or(args.picture.as_ref())
        .map(|path| preview(path, &inputs))
        .transpose()?;
    let progress = TerminalProgress::new(args.report.quiet);
    let load = |path| progress.load(path, args.read.memory, SceneArgs::default());
    let (a, b) = (load(&args.a)?, load(&args.b)?);
    progress.finish();
    let distances = match (&a.distances, &b.distances, args.tolerance) {
        (Some(a), Some(b), Some(tolerance)) => {
            let (fields, first) = aligned([a, b])?;
            Some(DistanceErrors::of(fields.each_ref().map(|field| &**field), first, tolerance))
        }
        (Some(a), Some(b), None) if a.dims() == b.dims() => {
            Some(DistanceErrors::of([a, b], [0; 3], 0.0))
        }
        (_, _, None) => None,
        (of_a, ..) => {
            let (path, of) = if of_a.is_none() { (&args.a, &a) } else { (&args.b, &b) };
            let why = match &of.warnings[..] {
                [] => "leave it out".to_owned(),
                warnings => warnings.join("; "),
            };
            bail!("--tolerance is for distances, and {} has none: {why}", shown(path));
        }
    };
    let found = compare(&a.grid, &b.grid, NAMED);
    // Blocks of unknown colours are voxels of one colour.
    let have_blocks = !a.blocks.is_empty() && !b.blocks.is_empty();
    let has_others = have_blocks && found.is_equal() && a.blocks != b.blocks;
    let other_blocks = has_others.then(|| "other blocks".to_owned());
    let mut warnings: Vec<String> =
        of_file(&args.a, a.warnings).chain(of_file(&args.b, b.warnings)).collect();
    let draw = |sink: Sink| {
        if found.both + found.differing() == 0 {
            warnings.push("no voxel is occupied: the picture is empty".to_owned());
        }
        let picture = picture(&a.grid, &b.grid)?;
        anyhow::Ok(sink.write(|out| Ok(picture.write_png(out)?))?.finish()?.name)
    };
    let preview = sink.map(draw).transpose()?;
    let named = |&(voxel, side): &([u32; 3], usize)| Differing { voxel, only_in: NAMES[side] };
    let report = DiffReport {
        a: GridSummary::of_level_set(&args.a, &a.grid, a.distances.as_ref()),
        b: GridSummary::of_level_set(&args.b, &b.grid, b.distances.as_ref()),
        equal: found.is_equal(),
        both: found.both,
        only_a: found.only[0],
        only_b: found.only[1],
        iou: found.iou(),
        bounds: found.bounds,
        other_colors: found.other_colors,
        besides: (besides(&a.grid, &b.grid, &found).into_iter())
            .chain(other_distances(
                [a.distances, b.distances],
                distances.filter(|_| args.tolerance.is_none()),
            ))
            .chain(other_blocks)
            .collect(),
        distances,
        within_tolerance: args.tolerance.zip(distances).map(|(most, by)| by.largest <= most),
        tolerance: args.tolerance,
        voxels: found.first.iter().map(named).collect(),
        preview,
        warnings,
    };
    args.report.print_verdict(&report, &report.warnings, || report.text())?;
    let has_same_voxels = report.equal && (!args.exact || report.besides.is_empty());
    let is_same = report.within_tolerance.unwrap_or(has_same_voxels);
    Ok(if is_same { ExitStatus::Done } else { ExitStatus::Differs })
}

/// Draws both grids, and over them the differing voxels from the same camera, so that these show
/// through.
fn picture(a: &VoxelGrid, b: &VoxelGrid) -> Result<Picture> {
    let options = preview_options();
    let all = in_colors(a, b, IN_BOTH, ONLY_IN);
    let camera = Camera::new(&all, all.world.up, &options)?;
    let mut picture = Renderer::new(&all).render_from(&camera, &options)?;
    let differing = in_colors(&a.subtract(b), &b.subtract(a), IN_BOTH, ONLY_IN);
    let clear = RenderOptions { background: Background::Transparent, ..options };
    picture.overlay(&Renderer::new(&differing).render_from(&camera, &clear)?, SHOWS_THROUGH);
    Ok(picture)
}

/// What only one of the grids has.
fn only(has: [bool; 2], what: &str) -> Option<String> {
    match has {
        [true, false] => Some(format!("only A has {what}")),
        [false, true] => Some(format!("only B has {what}")),
        _ => None,
    }
}

/// The differences besides voxels: colours, attributes, placement, or information that only one
/// file has.
fn besides(a: &VoxelGrid, b: &VoxelGrid, found: &Comparison) -> Vec<String> {
    let colors = match found.other_colors {
        Some(0) => None,
        Some(other) => Some(format!("{} of other colours", counted(other, "voxel"))),
        None => only([a.colors.is_some(), b.colors.is_some()], "colours"),
    };
    let place = match [a.world.place, b.world.place] {
        [Some(a), Some(b)] if a != b => {
            Some(format!("places: A has {}, B has {}", described(&a), described(&b)))
        }
        places => only(places.map(|place| place.is_some()), "a place"),
    };
    let sets = [a, b].map(|grid| grid.attributes.as_ref().map(Attributes::set).unwrap_or_default());
    let attributes = Attribute::ALL.iter().filter_map(|&attribute| {
        match found.other_attributes.get(&attribute) {
            Some(0) => None,
            Some(&other) => Some(format!("{} of another {attribute}", counted(other, "voxel"))),
            None => only(sets.each_ref().map(|set| set.contains(&attribute)), attribute.name()),
        }
    });
    let names = [a, b].map(|grid| grid.attributes.as_ref().map(Attributes::names));
    let are_other = matches!(names, [Some(a), Some(b)]
        if a.iter().any(|(of, names)| b.get(of).is_some_and(|other| other != names)));
    let names = are_other.then(|| "other names of labels or materials".to_owned());
    let [up_a, up_b] = [a.world.up, b.world.up];
    let up = (up_a != up_b).then(|| format!("up axes: A has {up_a}, B has {up_b}"));
    colors.into_iter().chain(attributes).chain(names).chain(place).chain(up).collect()
}

/// The differences of distances: the widths of their bands, and the voxels.
fn other_distances(
    distances: [Option<DistanceField>; 2],
    errors: Option<DistanceErrors>,
) -> Vec<String> {
    let [Some(a), Some(b)] = &distances else {
        return Vec::from_iter(only(distances.map(|of| of.is_some()), "distances"));
    };
    let mut differences = Vec::new();
    if a.width() != b.width() {
        let [a, b] = [a.width(), b.width()];
        differences.push(format!("widths of bands: A has {a} voxels, B has {b}"));
    }
    let other = errors.filter(|errors| errors.differing > 0).map(|errors| {
        let (other, most) = (counted(errors.differing, "voxel"), significant(errors.largest));
        format!("{other} of another distance, by up to about {most} voxels")
    });
    differences.extend(other);
    differences
}

/// The differences between the distances of two fields.
#[derive(Debug, Clone, Copy, Serialize)]
struct DistanceErrors {
    /// The number of voxels with a difference above the tolerance.
    differing: u64,
    /// The largest difference, in voxels.
    largest: f64,
    /// Its voxel, by the indices of A.
    at: Option<[i64; 3]>,
}

impl DistanceErrors {
    /// Of fields of the same dimensions, whose first voxel has the indices `first` in A. Beyond the
    /// narrower band only the signs are compared.
    fn of([a, b]: [&DistanceField; 2], first: [i64; 3], tolerance: f64) -> Self {
        let width = a.width().min(b.width());
        let at = |field: &DistanceField, voxel| f64::from(field.get(voxel).clamp(-width, width));
        let mut errors = Self { differing: 0, largest: 0.0, at: None };
        for voxel in a.differing_voxels(b) {
            let error = (at(a, voxel) - at(b, voxel)).abs();
            errors.differing += u64::from(error > tolerance);
            if error > errors.largest {
                errors.largest = error;
                errors.at = Some([0, 1, 2].map(|i| first[i] + i64::from(voxel[i])));
            }
        }
        errors
    }
}

/// Both fields, A and B, on the smallest grid that holds them, and its first voxel by the indices
/// of A. They lie by their places, if both have one and voxels of one size, and else by indices.
fn aligned<'a>(fields: [&'a DistanceField; 2]) -> Result<([Cow<'a, DistanceField>; 2], [i64; 3])> {
    let [a, b] = fields.map(DistanceField::dims);
    let shift = match fields.map(|field| field.world().place) {
        [Some(a), Some(b)] if (a.voxel_size / b.voxel_size - 1.0).abs() < 1e-6 => {
            [0, 1, 2].map(|i| {
                let voxels = (b.origin[i] - a.origin[i]) / a.voxel_size;
                voxels.round().clamp(-1e9, 1e9) as i64
            })
        }
        _ => [0; 3],
    };
    if a == b && shift == [0; 3] {
        return Ok((fields.map(Cow::Borrowed), shift));
    }
    let first = shift.map(|shift| shift.min(0));
    let dims = [0, 1, 2].map(|i| i64::from(a[i]).max(shift[i] + i64::from(b[i])) - first[i]);
    let dims = dims.map(|d| d as u32);
    let moved = |field: &DistanceField, by: [i64; 3]| {
        let to = |voxel: [u32; 3]| [0, 1, 2].map(|i| (i64::from(voxel[i]) + by[i]) as u32);
        let inside = VoxelGrid::from_voxels(dims, field.inside().voxels().map(to));
        let inside = inside.context("the places of the grids are too far apart")?;
        let voxels = field.distances().map(|(voxel, distance)| (to(voxel), distance)).collect();
        anyhow::Ok(Cow::Owned(DistanceField::of_voxels(field.width(), inside, voxels)?))
    };
    let to_b = [0, 1, 2].map(|i| shift[i] - first[i]);
    Ok(([moved(fields[0], first.map(|c| -c))?, moved(fields[1], to_b)?], first))
}

#[derive(Debug, Serialize)]
struct DiffReport {
    a: GridSummary,
    b: GridSummary,
    /// The same dimensions and voxels.
    equal: bool,
    both: u64,
    only_a: u64,
    only_b: u64,
    /// Intersection over union.
    iou: f64,
    /// Smallest and largest differing voxel.
    bounds: Option<[[u32; 3]; 2]>,
    /// The number of voxels in both grids with different colours, if both have colours.
    other_colors: Option<u64>,
    /// The differences besides voxels: a phrase each for colours, attributes, placement, distances
    /// and blocks.
    besides: Vec<String>,
    /// Of two level sets of the same dimensions.
    #[serde(skip_serializing_if = "Option::is_none")]
    distances: Option<DistanceErrors>,
    /// Whether they differ by no more than the tolerance, which is in voxels.
    #[serde(skip_serializing_if = "Option::is_none")]
    within_tolerance: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tolerance: Option<f64>,
    /// The first differing voxels.
    voxels: Vec<Differing>,
    /// The picture of both, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    preview: Option<String>,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Differing {
    voxel: [u32; 3],
    /// `A` or `B`.
    only_in: char,
}

impl DiffReport {
    fn text(&self) -> String {
        let mut lines = Vec::new();
        let mut line = |label: &str, text: String| lines.push(format!("{label:<9} {text}"));
        line("A", self.a.text());
        line("B", self.b.text());
        line("both", counted(self.both, "voxel"));
        line("only in A", counted(self.only_a, "voxel"));
        line("only in B", counted(self.only_b, "voxel"));
        line("iou", ratio(self.iou));
        if let Some(other) = self.other_colors {
            line("colours", format!("{} in both of another colour", counted(other, "voxel")));
        }
        if let Some(bounds) = &self.bounds {
            line("where", range(bounds));
        }
        for Differing { voxel: [x, y, z], only_in } in &self.voxels {
            line("", format!("({x}, {y}, {z}) only in {only_in}"));
        }
        let unnamed = self.only_a + self.only_b - self.voxels.len() as u64;
        if unnamed > 0 {
            line("", format!("and {} more", counted(unnamed, "voxel")));
        }
        if let Some(preview) = &self.preview {
            let preview = escaped(preview);
            line("drew", format!("{preview}: in both grey, only in A orange, only in B blue"));
        }
        if !self.besides.is_empty() && (!self.equal || self.tolerance.is_some()) {
            line("besides", self.besides.join("; "));
        }
        line("verdict", self.verdict());
        lines.join("\n")
    }

    fn verdict(&self) -> String {
        if let (Some(most), Some(errors)) = (self.tolerance, self.distances) {
            let DistanceErrors { differing, largest, at } = errors;
            let Some([x, y, z]) = at.filter(|_| differing > 0) else {
                return format!("distances are equal within {most} voxels");
            };
            return format!(
                "{} whose distances differ by more than {most} voxels, by up to about {} at \
                 ({x}, {y}, {z}) of A",
                counted(differing, "voxel"),
                significant(largest)
            );
        }
        let voxels = match (self.equal, self.a.contents.dims == self.b.contents.dims) {
            (true, _) if self.besides.is_empty() => "equal",
            (true, _) => return format!("equal voxels, but {}", self.besides.join("; ")),
            (false, true) => "different voxels",
            (false, false) if self.only_a + self.only_b == 0 => {
                "different dimensions, the same voxels"
            }
            (false, false) => "different dimensions and voxels",
        };
        voxels.to_owned()
    }
}
