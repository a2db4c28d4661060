//! The shaders: every file valid by itself with its imports, and the same layouts and constants in
//! the shaders and on the host.
use crate::common::files::files_below;
use crate::common::prelude::*;
use std::mem::offset_of;
use std::process::{Command, Output};

use trivox::backend::gpu::data::{self, Params};
use trivox::gpu;
use trivox::gpu::kernels::{Binding, File, KERNELS, Kernel, MODULES, bindings, resolve};
use trivox::grid;
use trivox::solid::distance::gpu::{self as distance, CELL, Cluster, Item, MeasureParams, Record};
use trivox::view::gpu::draw::{self, DrawParams};
use trivox::view::gpu::tree::{self, TreeParams};
use trivox::view::gpu::{self as rays, Header, Node, RAY_GROUP, Source, scene_source};
use trivox::view::trace;
use wgpu::naga;
use wgpu::naga::back::{hlsl, msl, pipeline_constants};

#[allow(dead_code, reason = "the names are compared")]
#[path = "../../benches/cards/kernels.rs"]
mod costs;

/// Checked with no feature beyond WebGPU's core.
fn validated(name: &str, source: &str) -> (naga::Module, naga::valid::ModuleInfo) {
    let module = naga::front::wgsl::parse_str(source)
        .unwrap_or_else(|e| panic!("{name}: {}", e.emit_to_string(source)));
    let flags = naga::valid::ValidationFlags::all();
    let info = naga::valid::Validator::new(flags, naga::valid::Capabilities::empty())
        .validate(&module)
        .unwrap_or_else(|e| panic!("{name}: {}", e.emit_to_string(source)));
    (module, info)
}

/// All files of the registry.
fn files() -> impl Iterator<Item = File> {
    MODULES.iter().copied().chain(KERNELS.iter().map(Kernel::file))
}

fn is_kernel(file: &File) -> bool {
    KERNELS.iter().any(|kernel| kernel.file().path == file.path)
}

#[test]
fn every_file_is_registered_once() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
    let name = |path: PathBuf| {
        let path = path.strip_prefix(&root).unwrap().with_extension("");
        path.to_str().unwrap().replace('\\', "/")
    };
    let found: BTreeSet<String> = files_below(&root).into_iter().map(name).collect();
    let registered: BTreeSet<String> = files().map(|file| file.path.to_owned()).collect();
    assert_eq!(found, registered);
    assert_eq!(files().count(), registered.len());
    let names: BTreeSet<&str> = KERNELS.iter().map(Kernel::name).collect();
    assert_eq!(names.len(), KERNELS.len(), "kernels are told apart by their names");
}

#[test]
fn every_file_is_valid_with_its_imports_alone() {
    for file in files() {
        let (module, _) = validated(file.path, &resolve(&file));
        assert_eq!(module.entry_points.len(), usize::from(is_kernel(&file)), "{}", file.path);
    }
}

#[test]
fn every_import_is_used() {
    for file in files() {
        for import in imports(&file) {
            let line = format!("// #import {import}\n");
            let less = File { text: String::leak(file.text.replace(&line, "")), ..file };
            let source = resolve(&less);
            let is_valid = naga::front::wgsl::parse_str(&source).is_ok();
            let others = imports(&less);
            let is_imported_anyway =
                others.iter().any(|other| closure(other).iter().any(|path| path == import));
            assert!(!is_valid || is_imported_anyway, "{} needs no {import}", file.path);
        }
    }
}

fn imports(file: &File) -> Vec<&'static str> {
    file.text.lines().filter_map(|line| line.strip_prefix("// #import ")).collect()
}

/// All that a module imports, directly or not.
fn closure(path: &str) -> BTreeSet<String> {
    let file = MODULES.iter().find(|file| file.path == path).unwrap();
    let direct = imports(file);
    let mut all: BTreeSet<String> = direct.iter().map(|path| (*path).to_owned()).collect();
    direct.iter().for_each(|path| all.append(&mut closure(path)));
    all
}

#[test]
fn kernels_begin_with_their_stage_and_dispatch() {
    for kernel in KERNELS {
        let text = kernel.file().text;
        let comment: Vec<&str> = text.lines().take_while(|line| line.starts_with("//")).collect();
        assert!(comment[0].starts_with("// Stage: "), "{}", kernel.name());
        let has_dispatch = comment.iter().any(|line| line.starts_with("// Dispatch: "));
        assert!(has_dispatch, "{}", kernel.name());
    }
}

#[test]
fn kernels_have_the_entry_point_and_the_workgroup_of_the_registry() {
    for kernel in KERNELS {
        let (module, _) = validated(kernel.name(), &kernel.source());
        let entry = &module.entry_points[0];
        let path = kernel.file().path;
        let follows_rays =
            path.starts_with("draw/") || imports(&kernel.file()).contains(&"trace/traverse");
        let group = match path {
            _ if follows_rays => RAY_GROUP,
            "distance/measure" => CELL.pow(3),
            "distance/compact" => BRICK.pow(2),
            _ => gpu::GROUP,
        };
        assert_eq!((entry.name.as_str(), entry.workgroup_size), (kernel.name(), [group, 1, 1]));
    }
}

/// The bytes of workgroup memory that a kernel takes.
fn workgroup_bytes(kernel: &Kernel) -> u32 {
    let (module, info) = validated(kernel.name(), &kernel.source());
    let mut sizes = naga::proc::Layouter::default();
    sizes.update(module.to_ctx()).unwrap();
    let used = info.get_entry_point(0);
    let variables = module.global_variables.iter().filter(|(handle, variable)| {
        variable.space == naga::AddressSpace::WorkGroup && !used[*handle].is_empty()
    });
    variables.map(|(_, variable)| sizes[variable.ty].to_stride()).sum()
}

#[test]
fn adapters_have_the_workgroup_memory_of_every_kernel() {
    let bytes = KERNELS.iter().map(|kernel| (workgroup_bytes(kernel), kernel.name()));
    let most = bytes.max().unwrap();
    // The error of an unsuitable adapter states the limit, which is at most 1 KiB above the need.
    let limit = gpu::WORKGROUP_BYTES;
    assert!((limit - 1023..=limit).contains(&most.0), "{most:?}");
}

/// What naga finds where [`bindings`] reads lines.
fn bindings_by_naga(module: &naga::Module) -> Vec<Binding> {
    let bound = module.global_variables.iter().filter_map(|(_, variable)| {
        let at = variable.binding?;
        let ty = match variable.space {
            naga::AddressSpace::Uniform => wgpu::BufferBindingType::Uniform,
            naga::AddressSpace::Storage { access } => wgpu::BufferBindingType::Storage {
                read_only: !access.contains(naga::StorageAccess::STORE),
            },
            space => panic!("{space:?}"),
        };
        let name = variable.name.clone().unwrap();
        Some(Binding { group: at.group, number: at.binding, name, ty })
    });
    bound.collect()
}

#[test]
fn bindings_are_read_as_naga_reads_them_and_fit_the_default_limits() {
    let limits = wgpu::Limits::default();
    for kernel in KERNELS {
        let read = bindings(&kernel.source());
        assert_eq!(read, bindings_by_naga(&validated(kernel.name(), &kernel.source()).0));
        let is_storage = |b: &&Binding| b.ty != wgpu::BufferBindingType::Uniform;
        let storage = read.iter().filter(is_storage).count();
        assert!(storage <= limits.max_storage_buffers_per_shader_stage as usize);
        let numbers: BTreeSet<_> = read.iter().map(|b| (b.group, b.number)).collect();
        let names: BTreeSet<_> = read.iter().map(|b| &b.name).collect();
        assert_eq!((numbers.len(), names.len()), (read.len(), read.len()), "{}", kernel.name());
    }
}

/// The translators of wgpu for DX12 and Metal, which this machine may not have.
#[test]
fn every_kernel_is_translated_to_hlsl_and_msl() {
    for kernel in KERNELS {
        let (module, info) = validated(kernel.name(), &kernel.source());
        // With the defaults of pipeline constants.
        let (module, info) =
            pipeline_constants::process_overrides(&module, &info, None, &Default::default())
                .unwrap();
        let mut text = String::new();
        let (options, all) = (hlsl::Options::default(), hlsl::PipelineOptions::default());
        let translated = hlsl::Writer::new(&mut text, &options, &all).write(&module, &info, None);
        translated.unwrap_or_else(|e| panic!("{} to HLSL: {e}", kernel.name()));
        let options = msl::Options { lang_version: (2, 4), ..msl::Options::default() };
        let translated = msl::write_string(&module, &info, &options, &Default::default());
        translated.unwrap_or_else(|e| panic!("{} to MSL: {e}", kernel.name()));
    }
}

/// The output of `check.mjs`, copied to `folder` as `script`, for the files in `sources`. `stages`
/// holds the bits of the shader stages for scenes, if there are any.
fn checked_by_tint(folder: &Path, script: &str, sources: &Path, stages: &[String]) -> Output {
    // Packages are looked for beside the script.
    let script = folder.join(script);
    fs::write(&script, include_str!("../tint/check.mjs")).unwrap();
    let mut node = Command::new("node");
    node.arg(script).arg(sources).args(stages);
    // Dawn refuses older llvmpipes, so it is shown SwiftShader alone.
    if let Some(driver) = std::env::var_os("VK_ADD_DRIVER_FILES") {
        node.env("VK_DRIVER_FILES", driver);
    }
    node.output().unwrap()
}

/// `TRIVOX_TINT` names a folder in which the npm package `webgpu` is installed.
#[test]
fn tint_compiles_every_file_too() {
    let Some(folder) = environment::path("TRIVOX_TINT") else { return };
    let sources = tempfile::TempDir::new().unwrap();
    for file in files() {
        // Tint makes a pipeline of a kernel: its file has the name of its entry point.
        let name = file.path.rsplit('/').next().unwrap();
        let name =
            if is_kernel(&file) { name.into() } else { file.path.replace('/', ".") + ".module" };
        std::fs::write(sources.path().join(name + ".wgsl"), resolve(&file)).unwrap();
    }
    let output = checked_by_tint(&folder, "check.mjs", sources.path(), &[]);
    let said = [output.stdout, output.stderr].map(|said| String::from_utf8(said).unwrap()).concat();
    assert!(output.status.success(), "{said}");
    let (files, kernels) = (files().count(), KERNELS.len());
    assert!(
        said.contains(&format!("tint: {files} files, {kernels} kernels, 0 complaints")),
        "{said}"
    );
}

/// Name and offset of each member, and the size, of a struct in a shader.
fn layout(file: &str, name: &str) -> (Vec<(String, usize)>, usize) {
    let file = files().find(|one| one.path == file).unwrap();
    let (module, _) = validated(file.path, &resolve(&file));
    let found = module.types.iter().find(|(_, ty)| ty.name.as_deref() == Some(name));
    let naga::TypeInner::Struct { members, span } = &found.unwrap().1.inner else {
        panic!("{name} is no struct");
    };
    let member = |m: &naga::StructMember| (m.name.clone().unwrap(), m.offset as usize);
    (members.iter().map(member).collect(), *span as usize)
}

/// The layout of a host struct that has these fields.
macro_rules! fields_of {
    ($type:ty: $($field:ident)+) => {
        (vec![$((stringify!($field).to_owned(), offset_of!($type, $field))),+], size_of::<$type>())
    };
}

#[test]
fn the_model_of_cards_has_every_kernel_of_voxelization() {
    let with_cost: BTreeSet<&str> = costs::COSTS.iter().map(|cost| cost.kernel).collect();
    let kernels = KERNELS.iter().filter(|kernel| kernel.file().path.starts_with("voxelize/"));
    assert_eq!(with_cost, kernels.map(Kernel::name).collect());
}

#[test]
fn host_structs_are_laid_out_as_in_the_shaders() {
    let params = fields_of! { Params:
        region_lo fraction_bits region_hi level shift top_level axes first_triangle dims
        triangle_count vertex_words pair_capacity upper_capacity brick_capacity crossing_capacity
        directions candidate_limit max_groups
    };
    let header = fields_of! { Header: version top root rest lo bricks hi has_colors };
    let source = fields_of! { Source:
        transform center max_groups limit vertex_words first_vertex vertex_stride vertex_count
        first_index index_count index_bits vertex_base index_base
    };
    let draw = fields_of! { DrawParams:
        size first_row rows samples sky_directions ground_directions first edge_step
        edge_width edge_origin edge_max edge_fade edge_shade has_background is_small corner_light
        ground_shades ground_step ground_step_bits ground_corner ground_height ground_up rows_at
        sun_directions_at sky_directions_at ground_directions_at sky_shares_at srgb_ends_at
        sky_sets sun sun_light sky_light
    };
    let measure = fields_of! { MeasureParams:
        dims fraction_bits width width_bits items bricks max_groups row first padding
    };
    let item = fields_of! { Item: xy z slot bounding bounding_end step first end };
    for (file, name, host) in [
        ("voxelize/params", "Params", params),
        ("trace/scene", "Scene", header),
        ("trace/scene", "Node", fields_of! { Node: partial full before first parent }),
        ("trace/tree", "Params", fields_of! { TreeParams: bricks top nodes max_groups padding }),
        ("scene/quantize", "Source", source),
        ("draw/params", "DrawParams", draw),
        ("distance/params", "Params", measure),
        ("distance/measure", "Item", item),
        ("distance/measure", "Cluster", fields_of! { Cluster: lo first hi end }),
        ("distance/compact", "Record", fields_of! { Record: brick first mask }),
    ] {
        assert_eq!(layout(file, name), host, "{file}, {name}");
    }
    // The host uses only its size.
    assert_eq!(layout("voxelize/pair", "Pair").1, 4 * data::PAIR_WORDS);
}

/// The constants that files declare as `const NAME: u32 = VALUEu;`, by file and name.
fn shader_constants() -> BTreeMap<(&'static str, &'static str), u32> {
    let mut constants = BTreeMap::new();
    for file in files() {
        for line in file.text.lines() {
            let Some((name, rest)) =
                line.strip_prefix("const ").and_then(|line| line.split_once(": u32 = "))
            else {
                continue;
            };
            let value = rest.split(['u', ';']).next().unwrap();
            let value = match value.strip_prefix("0x") {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => value.parse(),
            };
            constants.insert((file.path, name), value.unwrap());
        }
    }
    constants
}

/// Constants that no host code uses: kinds, axes, and parts of records inside the shaders.
const SHADER_ONLY: &str = "
    CLEAR IN_DOUBT SEPARATES AXIS_X AXIS_Y AXIS_Z NO_NODE NO_CANDIDATE CANDIDATE_BITS
    CANDIDATE_MASK EMPTY PARTIAL FULL NO_AXIS NO_FACE NOTHING VOXEL GROUND CAMERA_RAY SKY_RAY
    SUN_RAY NOT_LIT LIT LIT_PER_RAY COVERED SAMPLES DIFFERS COLUMN_WORDS ROW_WORDS ONE
    GROUND_SAMPLES NO_RECORD SLOTS AXES ANY_FAILURE NO_TRIANGLE EXPONENT
";

fn word(value: impl TryInto<u32>) -> u32 {
    value.try_into().ok().expect("a word")
}

/// The constants of these names in these modules of the host.
macro_rules! constants_of {
    ($($module:ident: $($name:ident)+;)+) => {
        BTreeMap::from([$($((stringify!($name), word($module::$name))),+),+])
    };
}

#[test]
fn every_constant_that_host_and_shaders_share_has_one_value() {
    let mut shared = constants_of! {
        gpu: GROUP BRICK_WORDS KEY_WORDS;
        data: LEVELS BRICKS FAILURES PAIRS CANDIDATES STARTED GROUPS CROSSINGS CHILDREN SCENE_VOXELS
            EXITS PAIRS_FULL BRICKS_FULL TOO_MANY_CANDIDATES INVALID_VERTEX VOXELS_FULL NOT_CLOSED
            INVALID_INDEX PAIR_GROUPS CANDIDATE_GROUPS DISPATCH_WORDS BLOCK_WORDS KIND_ROW
            KIND_COLUMN KIND_VOXEL KIND_DIRECTED_COLUMN KIND_SOLID_COLUMN;
        rays: SCENE_VERSION NO_NODES RAY_GROUP RAY_WORDS HIT_WORDS NO_HIT GAVE_UP;
        trace: FRACTION_BITS;
        tree: NODE_WORDS;
        draw: NO_GROUND SUM_WORDS;
        distance: BRICK_VOXELS BLOCK CELL ITEM_CLUSTERS CLUSTER_TRIANGLES;
        grid: BRICK;
    };
    let words = |offset: usize| (offset / 4) as u32;
    shared.extend([
        ("START_NODES", data::MAX_CANDIDATES),
        ("SCENE_BRICK_WORDS", word(gpu::BRICK_WORDS)),
        ("SCENE_KEY_WORDS", word(gpu::KEY_WORDS)),
        ("PARTIAL_MASK", words(offset_of!(Node, partial))),
        ("FULL_MASK", words(offset_of!(Node, full))),
        ("BEFORE", words(offset_of!(Node, before))),
        ("FIRST", words(offset_of!(Node, first))),
        ("PARENT", words(offset_of!(Node, parent))),
        ("HEADER_ROOT", words(offset_of!(Header, root))),
        ("HEADER_BRICKS", words(offset_of!(Header, bricks))),
        ("CELL_VOXELS", CELL.pow(3)),
        ("ROWS", BRICK * BRICK),
        ("MASK_WORDS", distance::BRICK_VOXELS / 32),
    ]);
    let only: Vec<&str> = SHADER_ONLY.split_whitespace().collect();
    let shader = shader_constants();
    for ((file, name), value) in &shader {
        match shared.get(name) {
            Some(host) => assert_eq!(value, host, "{name} in {file}"),
            None => assert!(only.contains(name), "{name} in {file} is not checked"),
        }
    }
    let declared: BTreeSet<&str> = shader.keys().map(|(_, name)| *name).collect();
    let unknown: Vec<_> =
        shared.keys().chain(&only).filter(|name| !declared.contains(**name)).collect();
    assert!(unknown.is_empty(), "no shader declares {unknown:?}");
}

#[test]
fn the_published_source_takes_the_bind_group_that_is_asked_for() {
    for group in [0, 1, 3] {
        let (module, _) = validated("scene", &scene_source(group));
        let bound = bindings_by_naga(&module);
        assert_eq!(bound.len(), 5);
        assert!(bound.iter().all(|binding| binding.group == group), "{group}: {bound:?}");
    }
}

/// A shader that somebody else wrote.
const TRACED: &str = "
@compute @workgroup_size(1)
fn traced() {
    _ = first_hit(ray_of(vec3<f32>(0.5), vec3<f32>(1.0)));
}
";

#[test]
fn the_layout_of_a_scene_is_one_of_webgpu() {
    let stages = rays::SceneBuffers::STAGES;
    assert!(stages.bits() < 8, "{stages:?}: WebGPU has three stages");
    let Some(folder) = environment::path("TRIVOX_TINT") else { return };
    let sources = tempfile::TempDir::new().unwrap();
    std::fs::write(sources.path().join("traced.scene.wgsl"), scene_source(0) + TRACED).unwrap();
    let check = |stages: wgpu::ShaderStages| {
        let stages = [stages.bits().to_string()];
        checked_by_tint(&folder, "check_scene.mjs", sources.path(), &stages)
    };
    let of_webgpu = check(stages);
    assert!(of_webgpu.status.success(), "{of_webgpu:?}");
    let of_more = check(wgpu::ShaderStages::all());
    assert!(!of_more.status.success(), "{of_more:?}");
}
