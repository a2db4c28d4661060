//! The registry of kernels: one row for each WGSL file in `shaders/` with an entry point, which has
//! the name of the file.
//!
//! A file declares its imports at the top, `// #import exact/int64`. They are resolved here: each
//! file once, depth first, before the file that imports it. Bindings are parsed from the resolved
//! source.

/// A WGSL file: its path in `shaders/` without the extension, and its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct File {
    /// Such as `exact/int64`.
    pub path: &'static str,
    /// The WGSL.
    pub text: &'static str,
}

macro_rules! file {
    ($path:literal) => {
        File {
            path: $path,
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/", $path, ".wgsl")),
        }
    };
}

/// Files without an entry point, which others import.
pub const MODULES: &[File] = &[
    file!("exact/int64"),
    file!("exact/shapes"),
    file!("exact/touches"),
    file!("exact/touches_row"),
    file!("exact/crosses"),
    file!("exact/int160"),
    file!("exact/distance"),
    file!("voxelize/params"),
    file!("voxelize/counters"),
    file!("voxelize/pair"),
    file!("voxelize/pair_lists"),
    file!("voxelize/brick_bits"),
    file!("voxelize/nodes"),
    file!("voxelize/columns"),
    file!("voxelize/candidates"),
    file!("voxelize/mesh"),
    file!("voxelize/load_balance"),
    file!("voxelize/append"),
    file!("voxelize/masks"),
    file!("voxelize/voxel_candidate"),
    file!("voxelize/rows"),
    file!("voxelize/column_test"),
    file!("distance/bounds"),
    file!("distance/params"),
    file!("trace/scene"),
    file!("trace/rays"),
    file!("trace/dda"),
    file!("trace/traverse"),
    file!("trace/faces"),
    file!("trace/float_rays"),
    file!("trace/tree"),
    file!("trace/tree_bricks"),
    file!("trace/tree_masks"),
    file!("draw/params"),
    file!("draw/hit"),
    file!("draw/faces"),
    file!("draw/surface"),
    file!("draw/ground"),
    file!("draw/shade"),
    file!("draw/sums"),
];

/// A file with an entry point of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kernel(File);

macro_rules! kernels {
    ($($(#[$doc:meta])* $name:ident = $path:literal;)+) => {
        $($(#[$doc])* pub const $name: Kernel = Kernel(file!($path));)+

        /// All kernels.
        pub const KERNELS: &[Kernel] = &[$($name),+];
    };
}

kernels! {
    /// Appends triangles to the pair lists of their start levels.
    SEED = "voxelize/seed";
    /// Tests nodes, and lists those touched.
    REFINE = "voxelize/refine";
    /// Marks bricks in the bitmap, and counts those of its blocks.
    MARK_BRICKS = "voxelize/mark_bricks";
    /// Adds up the bricks of the blocks.
    SCAN_BLOCKS = "voxelize/scan_blocks";
    /// Numbers the bricks in canonical order.
    RANK_BRICKS = "voxelize/rank_bricks";
    /// Tests rows of voxels.
    VOXEL_ROWS = "voxelize/voxel_rows";
    /// Tests single voxels.
    VOXELS = "voxelize/voxels";
    /// Sets voxels in which a column crosses a triangle.
    SIX_SEPARATING = "voxelize/six_separating";
    /// Flips voxels at which the parity of crossings changes.
    PARITY = "voxelize/parity";
    /// Marks crossings by their direction.
    MARK_CROSSINGS = "voxelize/mark_crossings";
    /// Distances of voxels to the nearest triangle.
    MEASURE = "distance/measure";
    /// Lists the bricks of the band.
    COMPACT = "distance/compact";
    /// First hits of a list of rays.
    FIRST_HITS = "trace/first_hits";
    /// Rounds vertices to the lattice.
    QUANTIZE = "scene/quantize";
    /// Reserves the words of the voxels' colours.
    RESERVE_COLORS = "scene/reserve_colors";
    /// Finds the first triangle that touches each voxel.
    FIRST_TRIANGLES = "scene/first_triangles";
    /// Replaces the triangles of voxels by their colours.
    COLOR_VOXELS = "scene/color_voxels";
    /// Fills a solid along rows of bricks.
    FILL_ROWS = "scene/fill_rows";
    /// Sets the masks of a tree's nodes.
    TREE_FILL = "trace/tree_fill";
    /// Counts the cells of nodes.
    TREE_COUNT = "trace/tree_count";
    /// Lists the children of nodes.
    TREE_LINK = "trace/tree_link";
    /// Ambient occlusion of the samples of the ground.
    GROUND_OCCLUSION = "draw/ground_occlusion";
    /// Samples at the corners of pixels.
    DRAW_CORNERS = "draw/draw_corners";
    /// The other samples of pixels.
    DRAW_INTERIOR = "draw/draw_interior";
    /// Pixels from their samples.
    MEAN_PIXELS = "draw/mean_pixels";
}

impl Kernel {
    /// The name of the file and of the entry point.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.0.path.rsplit('/').next().unwrap_or(self.0.path)
    }

    /// The file.
    #[must_use]
    pub fn file(&self) -> File {
        self.0
    }

    /// The source, with its imports.
    #[must_use]
    pub fn source(&self) -> String {
        resolve(&self.0)
    }
}

/// Prefix of a line that declares an import.
const IMPORT: &str = "// #import ";

/// The text of `file`, preceded by the texts of its imports, direct and indirect, each once.
///
/// # Panics
/// An import is not in [`MODULES`]. The tests resolve all files.
#[must_use]
pub fn resolve(file: &File) -> String {
    let mut source = String::new();
    append(file, &mut Vec::new(), &mut source);
    source
}

/// The source of a module with its imports, such as `exact/touches`; `None` if there is none.
#[must_use]
pub fn module(path: &str) -> Option<String> {
    MODULES.iter().find(|file| file.path == path).map(resolve)
}

fn append(file: &File, done: &mut Vec<&'static str>, source: &mut String) {
    if done.contains(&file.path) {
        return;
    }
    done.push(file.path);
    for path in file.text.lines().filter_map(|line| line.strip_prefix(IMPORT)) {
        let import = MODULES.iter().find(|module| module.path == path);
        let import = import.unwrap_or_else(|| panic!("{} imports {path}: no such file", file.path));
        append(import, done, source);
    }
    source.push_str(file.text);
    source.push('\n');
}

/// A buffer binding of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// The bind group.
    pub group: u32,
    /// The binding number in the group.
    pub number: u32,
    /// The name of the variable.
    pub name: String,
    /// Uniform or storage, and whether read-only.
    pub ty: wgpu::BufferBindingType,
}

/// Parses the bindings that a source declares, one per line, such as
/// `@group(0) @binding(3) var<storage, read> pairs: array<Pair>;`.
#[must_use]
pub fn bindings(source: &str) -> Vec<Binding> {
    source.lines().filter_map(binding).collect()
}

fn binding(line: &str) -> Option<Binding> {
    let (group, rest) = line.strip_prefix("@group(")?.split_once(") @binding(")?;
    let (number, rest) = rest.split_once(") var<")?;
    let (space, rest) = rest.split_once("> ")?;
    let (name, _) = rest.split_once(':')?;
    let ty = match space {
        "uniform" => wgpu::BufferBindingType::Uniform,
        _ => wgpu::BufferBindingType::Storage { read_only: space == "storage, read" },
    };
    Some(Binding {
        group: group.parse().ok()?,
        number: number.parse().ok()?,
        name: name.into(),
        ty,
    })
}
