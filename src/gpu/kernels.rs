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
    file!("voxelize/brick_masks"),
    file!("voxelize/rows"),
    file!("voxelize/column_test"),
    file!("distance/bounds"),
    file!("distance/params"),
    file!("scene/beyond"),
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
    file!("draw/ground"),
    file!("draw/shade"),
    file!("draw/sums"),
];

/// A file with an entry point of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kernel(File);

macro_rules! kernels {
    ($($name:ident = $path:literal;)+) => {
        $(
            #[doc = concat!("See the first lines of `shaders/", $path, ".wgsl`.")]
            pub const $name: Kernel = Kernel(file!($path));
        )+

        /// All kernels.
        pub const KERNELS: &[Kernel] = &[$($name),+];
    };
}

kernels! {
    SEED = "voxelize/seed";
    REFINE = "voxelize/refine";
    MARK_BRICKS = "voxelize/mark_bricks";
    SCAN_BLOCKS = "voxelize/scan_blocks";
    RANK_BRICKS = "voxelize/rank_bricks";
    VOXEL_ROWS = "voxelize/voxel_rows";
    VOXELS = "voxelize/voxels";
    SIX_SEPARATING = "voxelize/six_separating";
    PARITY = "voxelize/parity";
    MARK_CROSSINGS = "voxelize/mark_crossings";
    MEASURE = "distance/measure";
    COMPACT = "distance/compact";
    TEXELS = "distance/texels";
    FIRST_HITS = "trace/first_hits";
    QUANTIZE = "scene/quantize";
    CHECK_TRIANGLES = "scene/check_triangles";
    RESERVE_COLORS = "scene/reserve_colors";
    FIRST_TRIANGLES = "scene/first_triangles";
    COLOR_VOXELS = "scene/color_voxels";
    FILL_ROWS = "scene/fill_rows";
    TREE_FILL = "trace/tree_fill";
    TREE_COUNT = "trace/tree_count";
    TREE_LINK = "trace/tree_link";
    GROUND_OCCLUSION = "draw/ground_occlusion";
    DRAW_CORNERS = "draw/draw_corners";
    DRAW_INTERIOR = "draw/draw_interior";
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
