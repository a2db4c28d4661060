//! The glTF 2.0 reader: JSON documents with embedded buffers or sidecar files, and binary files.
//!
//! Reads the triangles of all meshes in the scene, transformed by their nodes, their base colours,
//! and what their materials say of metal, roughness and emission.
//!
//! Hand-written: the crate `gltf` reads transforms as 32-bit numbers, rejects quantized meshes and
//! panics if arrays contradict the document; and only a small part of a document is needed here.

mod accessors;
mod attributes;
mod buffers;
mod build;
#[cfg(feature = "gltf-compression")]
mod compression;
mod images;
mod json;
mod materials;
mod parts;
mod pose;
mod scene;

use crate::base::numbers::counted;
use crate::formats::io::bytes::Budget;
use crate::formats::io::warnings::{NameCounts, counted_warning};
use crate::formats::mesh::gltf::accessors::Arrays;
use crate::formats::mesh::gltf::attributes::DocumentAppearance;
use crate::formats::mesh::gltf::build::{Build, Totals};
use crate::formats::mesh::gltf::images::DocumentTextures;
use crate::formats::mesh::gltf::json::Document;
use crate::formats::mesh::gltf::parts::{DECOMPRESS, DRACO, Skipped, parts};
use crate::formats::mesh::gltf::pose::Skins;
use crate::formats::mesh::gltf::scene::{expanded, scene};
use crate::formats::{
    LoadedMesh, MeshSpec, ReadError, ReadOptions, Sidecars, check_memory, content, excerpt,
};

pub const SPEC: MeshSpec = MeshSpec { extension: "gltf", ..BINARY_SPEC };

pub const BINARY_SPEC: MeshSpec = MeshSpec {
    extension: "glb",
    name: "glTF 2.0",
    carries: "triangles of the scene in its default pose, y up; base colours, metal, roughness, \
              emission, their textures, vertex colours",
    check_start: |start, _| buffers::check_start(start),
    read: |bytes, sidecars, options| read(&bytes, sidecars, options),
};

/// Bytes of memory independent of the file.
const REST: u64 = 16 << 10;

/// Reads the meshes in the scene of `bytes`. Buffers and images in other files are among the
/// `sidecars`.
fn read(bytes: &[u8], sidecars: &Sidecars, options: &ReadOptions) -> Result<LoadedMesh, ReadError> {
    let mut memory = Budget::new(options.memory);
    let (json, binary) = buffers::open(bytes)?;
    memory.take(bytes.len() as u64 + json::most_memory(json) + REST)?;
    let document = json::parse(json)?;
    refuse_extensions(&document)?;
    #[cfg(feature = "gltf-compression")]
    let mut document = document;

    let buffers = buffers::load(&document.buffers, binary, sidecars, &mut memory)?;
    #[cfg(feature = "gltf-compression")]
    let buffers = compression::decompress(&mut document, buffers, &mut memory)?;
    let arrays = Arrays::new(&document, buffers);
    let scene = scene(&document).map_err(content)?;
    let instances = expanded(scene.instances, &arrays, &mut memory)?;
    let for_matrices = Skins::most_memory(&arrays, &instances);
    memory.take(for_matrices)?;
    let skins = Skins::new(&arrays, &instances, &scene.scene_from_node);
    memory.give_back(for_matrices);
    let mut appearance = DocumentAppearance::new(&document, options);
    let mut skipped = Skipped::default();
    let mut parts = parts(&arrays, &mut skipped, &mut appearance)?;

    let totals = Totals::of(&instances, &parts);
    let needed = totals.memory(memory.used);
    check_memory(needed, memory.limit)?;
    totals.check()?;
    if options.appearance {
        let used = || instances.iter().map(|instance| instance.mesh);
        let shown = used().flat_map(|mesh| &parts[mesh]);
        let shown = shown.map(|part| appearance.textures_of(part));
        // Colours first: the memory may not suffice for all.
        let shown = (0..3).flat_map(|layer| shown.clone().filter_map(move |of| of[layer]));
        let textures = DocumentTextures::read(&arrays, sidecars, shown, memory.limit - needed);
        appearance.choose_materials(textures, &mut parts, used());
    }
    // Computed again, without the attributes for textures that could not be read.
    let totals = Totals::of(&instances, &parts);
    let mut build = Build::new(&arrays, &skins, &totals, appearance)?;
    for instance in &instances {
        build.add(instance, &parts[instance.mesh])?;
    }
    if totals.triangles == 0 {
        let sets = skipped.points_and_lines;
        ensure!(sets > 0, "no triangles in the scene: nothing to voxelize");
        let sets = counted(sets, "set");
        bail!("no triangles in the scene, only {sets} of points or lines: nothing to voxelize");
    }
    let mut warnings = warnings(&document, &skipped, scene.other_scenes);
    warnings.extend(skins.warnings());
    warnings.extend(build.appearance.warnings());
    Ok(LoadedMesh::new(build.finish()?, warnings))
}

/// Extensions, by the beginnings of their names, that are supported, or affect neither shape nor
/// colours.
const HARMLESS: &str = "\
    KHR_materials_ KHR_texture_ KHR_lights_ KHR_animation_pointer KHR_interactivity \
    KHR_node_hoverability KHR_node_selectability KHR_physics_ KHR_xmp KHR_audio \
    KHR_mesh_quantization EXT_mesh_gpu_instancing EXT_texture_ EXT_lights_ EXT_feature_metadata \
    EXT_instance_features EXT_mesh_features EXT_structural_metadata CESIUM_primitive_outline \
    FB_ngon_encoding MSFT_lod MSFT_texture_ OMI_ VRM AGI_articulations";

/// Extensions, by the beginnings of their names, that affect colours only.
const LOOKS_ONLY: &str = "\
    KHR_techniques_webgl KHR_technique_webgl KHR_blend EXT_materials_ ADOBE_materials_ \
    FB_materials_ MSFT_packing_ MPEG_texture_video";

/// Extensions with a fallback, which is read unless they are required and not supported.
const COMPRESSIONS: [&str; 3] = [DRACO, "EXT_meshopt_compression", "KHR_meshopt_compression"];

fn is_one_of(extension: &str, beginnings: &str) -> bool {
    beginnings.split(' ').any(|beginning| extension.starts_with(beginning))
}

fn refuse_extensions(document: &Document) -> Result<(), ReadError> {
    let is_read = |name: &str| {
        let is_decompressed = cfg!(feature = "gltf-compression") && COMPRESSIONS.contains(&name);
        is_decompressed || is_one_of(name, HARMLESS) || is_one_of(name, LOOKS_ONLY)
    };
    let Some(extension) = document.extensions_required.iter().find(|name| !is_read(name)) else {
        return Ok(());
    };
    let fix = if COMPRESSIONS.contains(&&extension[..]) {
        DECOMPRESS
    } else {
        "write it without, with the tool that made it, or with gltf-transform"
    };
    bail!("the file needs the extension {}, which is not read: {fix}", excerpt(extension))
}

fn warnings(document: &Document, skipped: &Skipped, other_scenes: NameCounts) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut warn = |count: u64, names: [&str; 2], what: &str| {
        warnings.extend(counted_warning(count, names, what));
    };
    let Skipped { points_and_lines, without_positions, zero } = *skipped;
    let sets_were = ["set of points or lines was", "sets of points or lines were"];
    warn(points_and_lines, sets_were, "skipped: they have no surface");
    warn(without_positions, ["primitive was", "primitives were"], "skipped: no positions");
    let zeros = "positions or indices without data, which are all zero";
    warn(zero, ["primitive has", "primitives have"], zeros);
    let scenes = other_scenes.quoted_and_counted();
    let which = match document.scene {
        Some(_) => "the default scene is read",
        None => "the file has no default scene, so its first is read",
    };
    let scenes = format!("skipped, {scenes}: {which}");
    warn(other_scenes.count as u64, ["scene was", "scenes were"], &scenes);
    if document.animations.is_some_and(|list| list.get().contains('{')) {
        warnings.push("the mesh is animated: its default pose is voxelized".to_owned());
    }
    for name in &document.extensions_used {
        if is_one_of(name, LOOKS_ONLY) {
            let name = excerpt(name);
            warnings.push(format!("the extension {name} was ignored: colours may differ"));
        }
    }
    let is_known = |name: &str| {
        is_one_of(name, HARMLESS) || is_one_of(name, LOOKS_ONLY) || COMPRESSIONS.contains(&name)
    };
    if let Some(extension) = document.extensions_used.iter().find(|name| !is_known(name)) {
        let extension = excerpt(extension);
        warnings.push(format!("the extension {extension} was ignored: the shape may differ"));
    }
    warnings
}
