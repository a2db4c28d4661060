//! The shaders as text: all valid, and holding the same structs, constants and function names as
//! the host.
#![cfg(feature = "gpu")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::mem::offset_of;
use std::path::PathBuf;
use std::process::Command;

use trivox::backend::gpu::data::{self, CROSSES_SOURCE, Pair, Params, SOURCES, TOUCHES_SOURCE};
use trivox::raymarch::gpu::tree::{NODE_WORDS, TREE_STAGES, TreeParams};
use trivox::raymarch::gpu::{self as rays, FIRST_HITS, Header, RAY_GROUP, SCENE_SOURCE, WordNode};
use trivox::render::gpu::{LookWords, NO_GROUND, STAGES, SUM_WORDS};
use wgpu::naga;

/// Checked with no feature beyond WebGPU's core.
fn validated(name: &str, source: &str) -> naga::Module {
    let module = naga::front::wgsl::parse_str(source)
        .unwrap_or_else(|e| panic!("{name}: {}", e.emit_to_string(source)));
    let flags = naga::valid::ValidationFlags::all();
    naga::valid::Validator::new(flags, naga::valid::Capabilities::empty())
        .validate(&module)
        .unwrap_or_else(|e| panic!("{name}: {}", e.emit_to_string(source)));
    module
}

/// The stages that follow rays.
fn ray_stages() -> impl Iterator<Item = (&'static str, &'static str)> {
    [FIRST_HITS].into_iter().chain(STAGES)
}

/// All stages: their entry points, and their sources.
fn stages() -> impl Iterator<Item = (&'static str, &'static str)> {
    SOURCES.into_iter().chain(TREE_STAGES).chain(ray_stages())
}

#[test]
fn every_stage_is_valid_and_has_its_entry_point() {
    let of_rays = ray_stages().map(|stage| (stage, RAY_GROUP));
    let of_trees = TREE_STAGES.map(|stage| (stage, data::GROUP));
    for ((name, source), group) in
        SOURCES.map(|stage| (stage, data::GROUP)).into_iter().chain(of_trees).chain(of_rays)
    {
        let module = validated(name, source);
        let entries: Vec<&str> = module.entry_points.iter().map(|e| e.name.as_str()).collect();
        assert_eq!(entries, [name]);
        let size = module.entry_points[0].workgroup_size;
        assert_eq!(size, [group, 1, 1], "{name}");
    }
}

#[test]
fn what_follows_rays_is_valid_without_a_stage() {
    validated("scene", SCENE_SOURCE);
}

#[test]
fn crosses_is_valid() {
    validated("crosses", CROSSES_SOURCE);
}

/// `TRIVOX_TINT` names a folder in which the npm package `webgpu` is installed.
#[test]
fn tint_compiles_every_stage_too() {
    let Some(folder) = std::env::var_os("TRIVOX_TINT").map(PathBuf::from) else {
        return println!("skipped: TRIVOX_TINT not set");
    };
    let folder_of_stages = tempfile::TempDir::new().unwrap();
    for (name, source) in stages() {
        std::fs::write(folder_of_stages.path().join(format!("{name}.wgsl")), source).unwrap();
    }
    // Packages are looked for beside the script.
    let script = folder.join("check.mjs");
    std::fs::write(&script, include_str!("tint/check.mjs")).unwrap();
    let mut node = Command::new("node");
    node.arg(script).arg(folder_of_stages.path());
    // Dawn refuses older llvmpipes, so it is shown SwiftShader alone.
    if let Some(driver) = std::env::var_os("VK_ADD_DRIVER_FILES") {
        node.env("VK_DRIVER_FILES", driver);
    }
    let output = node.output().unwrap();
    let said = [output.stdout, output.stderr].map(|said| String::from_utf8(said).unwrap()).concat();
    assert!(output.status.success(), "{said}");
    let stages = stages().count();
    assert!(said.contains(&format!("tint: {stages} stages, 0 complaints")), "{said}");
}

#[test]
fn every_shader_file_belongs_to_a_stage() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/shaders");
    let mut files = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let is_used = stages().any(|(_, source)| source.contains(&text));
        assert!(is_used, "{} is in no stage", path.display());
        files += 1;
    }
    assert!(files > 10, "{files} shaders found");
}

/// Name and offset of each member, and the size, of a struct in a shader.
fn layout(module: &naga::Module, name: &str) -> (Vec<(String, usize)>, usize) {
    let found = module.types.iter().find(|(_, ty)| ty.name.as_deref() == Some(name));
    let naga::TypeInner::Struct { members, span } = &found.unwrap().1.inner else {
        panic!("{name} is no struct");
    };
    let member = |m: &naga::StructMember| (m.name.clone().unwrap(), m.offset as usize);
    (members.iter().map(member).collect(), *span as usize)
}

macro_rules! host_layout {
    ($type:ty, $($field:ident),+) => {
        (vec![$((stringify!($field).to_owned(), offset_of!($type, $field))),+], size_of::<$type>())
    };
}

#[test]
fn host_structs_are_laid_out_as_in_the_shaders() {
    let (_, source) = SOURCES.iter().find(|(name, _)| *name == "voxels").unwrap();
    let module = validated("voxels", source);
    let params = host_layout!(
        Params,
        region_lo,
        unit_bits,
        region_hi,
        level,
        shift,
        top_level,
        axes,
        first_triangle,
        dims,
        triangle_count,
        vertex_words,
        pair_capacity,
        upper_capacity,
        brick_capacity,
        crossing_capacity,
        table_mask,
        candidate_limit,
        max_groups
    );
    assert_eq!(layout(&module, "Params"), params);
    let pair = host_layout!(Pair, triangle, node_xy, node_z, candidates);
    assert_eq!(layout(&module, "Pair"), pair);
}

#[test]
fn scenes_and_looks_are_laid_out_as_in_the_shaders() {
    let (name, source) = STAGES[1];
    let module = validated(name, source);
    let header = host_layout!(Header, version, top, root, rest, lo, bricks, hi, has_colors);
    assert_eq!(layout(&module, "Scene"), header);
    assert_eq!(
        layout(&module, "Node"),
        host_layout!(WordNode, partial, full, before, first, parent)
    );
    let look = host_layout!(
        LookWords,
        size,
        first_row,
        rows,
        samples,
        sky_ways,
        ground_ways,
        max_groups,
        edge_step,
        edge_width,
        edge_from,
        edge_most,
        edge_range,
        edge_shade,
        has_behind,
        is_small,
        corner_light,
        ground_shades,
        ground_step,
        ground_step_bits,
        ground_corner,
        ground_height,
        ground_up,
        rows_at,
        suns_at,
        skies_at,
        ground_ways_at,
        sky_left_at,
        srgb_ends_at,
        sky_sets,
        sun,
        of_sun,
        of_sky
    );
    assert_eq!(layout(&module, "Look"), look);
    let (name, source) = TREE_STAGES[0];
    let params = host_layout!(
        TreeParams, items, item_words, first_item, first_node, nodes, are_nodes, table_mask,
        max_groups
    );
    assert_eq!(layout(&validated(name, source), "Params"), params);
    let words = |offset: usize| (offset / 4) as u32;
    assert_eq!(shader_constant("BEFORE"), words(offset_of!(WordNode, before)));
    assert_eq!(shader_constant("FIRST"), words(offset_of!(WordNode, first)));
    assert_eq!(shader_constant("PARENT"), words(offset_of!(WordNode, parent)));
}

/// The value of `const NAME: u32 = VALUEu;`.
fn shader_constant(name: &str) -> u32 {
    let line = stages().flat_map(|(_, source)| source.lines()).find_map(|line| {
        line.strip_prefix(&format!("const {name}: u32 = ")).map(|rest| rest.to_owned())
    });
    let value = line.unwrap_or_else(|| panic!("no constant {name}"));
    value.split('u').next().unwrap().parse().unwrap()
}

#[test]
fn host_constants_are_those_of_the_shaders() {
    let constants = [
        ("GROUP", data::GROUP),
        ("SCAN_BLOCK", data::SCAN_BLOCK),
        ("START_NODES", data::MAX_CANDIDATES),
        ("BRICK_WORDS", data::BRICK_WORDS as u32),
        ("KEY_WORDS", data::KEY_WORDS as u32),
        ("LEVELS", data::LEVELS as u32),
        ("BRICKS", data::BRICKS as u32),
        ("FAILURES", data::FAILURES as u32),
        ("PAIRS", data::PAIRS as u32),
        ("CANDIDATES", data::CANDIDATES as u32),
        ("STARTED", data::STARTED as u32),
        ("CROSSINGS", data::CROSSINGS as u32),
        ("LEAVES", data::LEAVES),
        ("PAIRS_FULL", data::PAIRS_FULL),
        ("BRICKS_FULL", data::BRICKS_FULL),
        ("TOO_MANY_CANDIDATES", data::TOO_MANY_CANDIDATES),
        ("PAIR_GROUPS", data::PAIR_GROUPS as u32),
        ("CANDIDATE_GROUPS", data::CANDIDATE_GROUPS as u32),
        ("SCENE_VERSION", rays::SCENE_VERSION),
        ("SCENE_BRICK_WORDS", data::BRICK_WORDS as u32),
        ("SCENE_KEY_WORDS", data::KEY_WORDS as u32),
        ("RAY_GROUP", RAY_GROUP),
        ("RAY_WORDS", rays::RAY_WORDS as u32),
        ("HIT_WORDS", rays::HIT_WORDS as u32),
        ("NO_HIT", rays::NO_HIT),
        ("GAVE_UP", rays::GAVE_UP),
        ("NO_GROUND", NO_GROUND),
        ("SUM_WORDS", SUM_WORDS),
        ("NODE_WORDS", NODE_WORDS),
        ("UNIT_BITS", trivox::raymarch::UNIT_BITS),
    ];
    for (name, host) in constants {
        assert_eq!(shader_constant(name), host, "{name}");
    }
    assert_eq!(shader_constant("SCAN_ITEMS") * data::GROUP, data::SCAN_BLOCK);
}

/// Names of the functions in a source, in order.
fn functions(source: &str) -> Vec<&str> {
    let names = source.lines().filter_map(|line| {
        let line = line.trim_start().trim_start_matches("pub ").trim_start_matches("pub(crate) ");
        line.strip_prefix("fn ")?.split(['(', '<']).next()
    });
    names.collect()
}

#[test]
fn the_twins_of_touches_have_the_same_functions_in_the_same_order() {
    let rust = include_str!("../src/predicate/touches.rs");
    let wgsl = include_str!("../shaders/touches.wgsl");
    let decisions = |source| -> Vec<&str> {
        let all = functions(source).into_iter();
        all.filter(|name| *name == "touches" || name.contains("separate")).collect()
    };
    assert_eq!(decisions(rust), decisions(wgsl));
    assert_eq!(decisions(rust).len(), 6);
    assert!(TOUCHES_SOURCE.contains(wgsl));
}

#[test]
fn the_twins_of_crosses_have_the_same_functions_in_the_same_order() {
    let rust = include_str!("../src/predicate/crosses.rs");
    let wgsl = include_str!("../shaders/crosses.wgsl");
    let shared = |source| -> Vec<&str> {
        const SHARED: [&str; 10] = [
            "project",
            "unproject",
            "covers",
            "at",
            "runs_down",
            "first_center",
            "voxel",
            "first_end",
            "bounds",
            "is_below",
        ];
        functions(source).into_iter().filter(|name| SHARED.contains(name)).collect()
    };
    assert_eq!(shared(rust), shared(wgsl));
    assert_eq!(shared(rust).len(), 10);
}

#[test]
fn the_twins_of_rays_have_the_same_functions_in_the_same_order() {
    const SHARED: [(&str, &str, &[&str]); 2] = [
        (
            include_str!("../src/raymarch/march.rs"),
            concat!(include_str!("../shaders/march.wgsl"), include_str!("../shaders/walk.wgsl")),
            &[
                "runs_in_plane",
                "left_by",
                "search",
                "touched_at",
                "position",
                "along",
                "enter",
                "planes_about",
                "walk_from",
                "advance",
                "time_of",
            ],
        ),
        (
            include_str!("../src/render/shade.rs"),
            concat!(
                include_str!("../shaders/shade.wgsl"),
                include_str!("../shaders/ground.wgsl"),
                include_str!("../shaders/surface.wgsl"),
                include_str!("../shaders/faces.wgsl"),
            ),
            &[
                "background",
                "light_on_ground",
                "look_at",
                "facing",
                "point_on",
                "middle_of",
                "off",
                "others",
                "bilinear",
            ],
        ),
    ];
    for (rust, wgsl, names) in SHARED {
        let shared = |source| -> Vec<&str> {
            functions(source).into_iter().filter(|name| names.contains(name)).collect()
        };
        assert_eq!(shared(rust), names);
        assert_eq!(shared(wgsl), names);
    }
}
