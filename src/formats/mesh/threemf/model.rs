//! The objects of a package, from the XML of its model and of the parts that it names.

use std::array::from_fn;
use std::collections::HashMap;

use crate::base::srgb::{Rgba, linear_of_rgba, rgba_of};
use crate::formats::io::bytes::Budget;
use crate::formats::io::tokens::numbers;
use crate::formats::io::warnings::{NameCounts, counted_warning};
use crate::formats::io::xml::{Element, Xml};
use crate::formats::mesh::threemf::package::Package;
use crate::formats::mesh::transform::Transform;
use crate::formats::{ReadError, excerpt};

/// The extensions that a file may require: of the production extension paths are read, of the
/// materials extension colours; sets of triangles do not change the mesh.
const EXTENSIONS: [&str; 3] = [
    "http://schemas.microsoft.com/3dmanufacturing/production/2015/06",
    "http://schemas.microsoft.com/3dmanufacturing/material/2015/02",
    "http://schemas.microsoft.com/3dmanufacturing/trianglesets/2021/07",
];

const UNITS: [&str; 6] = ["micron", "millimeter", "centimeter", "inch", "foot", "meter"];

const MAX_DEPTH: u32 = 64;

/// The objects of a package and its build.
#[derive(Default)]
pub(super) struct Model {
    /// Each after its components.
    pub(super) objects: Vec<Object>,
    pub(super) build: Vec<Instance>,
    /// The base materials: names and colours.
    pub(super) bases: Vec<(String, Rgba)>,
    /// Bytes of the longest name of an object.
    pub(super) longest_name: u64,
    unit: String,
    parts: HashMap<String, usize>,
    /// Indices of objects, and groups of properties, by the number of the part and the identifier;
    /// of textures, composites and several properties `None`.
    object_at: HashMap<(usize, u32), usize>,
    groups: HashMap<(usize, u32), Option<Vec<Paint>>>,
    notes: Notes,
}

/// An object: a mesh, or components.
#[derive(Default)]
pub(super) struct Object {
    pub(super) name: String,
    pub(super) positions: Vec<[f64; 3]>,
    pub(super) triangles: Vec<[u32; 3]>,
    /// The paints of the first triangles; the others have none.
    pub(super) paints: Vec<Option<Paint>>,
    pub(super) components: Vec<Instance>,
    pub(super) counts: Counts,
}

/// An object in another one, or in the build.
pub(super) struct Instance {
    pub(super) object: usize,
    pub(super) transform: Transform,
}

/// The sizes of an object with all its components.
#[derive(Default, Clone, Copy)]
pub(super) struct Counts {
    pub(super) vertices: u64,
    pub(super) triangles: u64,
    /// The instances of meshes.
    pub(super) meshes: u64,
    depth: u32,
}

impl Counts {
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            vertices: self.vertices.saturating_add(other.vertices),
            triangles: self.triangles.saturating_add(other.triangles),
            meshes: self.meshes.saturating_add(other.meshes),
            depth: self.depth.max(other.depth),
        }
    }
}

/// The colour of a triangle.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Paint {
    /// The index of a base material.
    Base(u32),
    Color(Rgba),
}

/// Skipped and changed content, for warnings.
#[derive(Default)]
struct Notes {
    /// The types of supports and modifiers.
    other_types: NameCounts,
    beams: u64,
    /// Triangles with an unread group of properties.
    unread_properties: u64,
    /// Triangles with colours of a slicer.
    painted: u64,
    /// Triangles with a mean of colours.
    mixed: u64,
    /// The units of parts that differ from the model's.
    other_units: NameCounts,
    /// Units that the format does not have.
    unknown_units: NameCounts,
}

/// An object's default property of its triangles.
#[derive(Clone, Copy)]
struct Property {
    group: Option<u32>,
    index: usize,
}

impl Model {
    pub(super) fn read(package: &Package, memory: &mut Budget) -> Result<Self, ReadError> {
        let mut model = Self::default();
        let root = package.model(memory)?;
        read_part(&mut model, package, memory, &root, true)?;
        Ok(model)
    }

    pub(super) fn warnings(&self) -> Vec<String> {
        let Notes { other_types, beams, unread_properties, painted, mixed, .. } = &self.notes;
        let Notes { other_units, unknown_units, .. } = &self.notes;
        let has = ["triangle has", "triangles have"];
        let unread = "a texture, a composite or several properties, which are not read: plain";
        let painted_as = "colours painted in the program's own way, which are not read";
        let mixed_as = "different colours at the corners: each has their mean";
        let beam = ["beam lattice was", "beam lattices were"];
        let of_unit = format!(
            "coordinates are in the model's unit, {}; parts of the package state another",
            self.unit
        );
        [
            other_types.warning("objects that are no parts of the model were skipped, of the type"),
            counted_warning(*beams, beam, "skipped: only triangles are read"),
            counted_warning(*unread_properties, has, unread),
            counted_warning(*painted, has, painted_as),
            counted_warning(*mixed, has, mixed_as),
            other_units.warning(&of_unit),
            unknown_units.warning("coordinates are in a unit that 3MF does not have"),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// Reads a part of a package into the model, unless it has been. Returns its number.
fn read_part(
    model: &mut Model,
    package: &Package,
    memory: &mut Budget,
    name: &str,
    is_root: bool,
) -> Result<usize, ReadError> {
    if let Some(&part) = model.parts.get(name) {
        return Ok(part);
    }
    let part = model.parts.len();
    model.parts.insert(name.to_owned(), part);
    let text = package.text(name, memory)?;
    let xml = Xml::new(name, &text);
    PartReader { model, package, memory, xml, part, is_root }.read()?;
    memory.give_back(text.len() as u64);
    Ok(part)
}

/// Reads one part. Each method reads an element to its end.
struct PartReader<'a, 'p> {
    model: &'a mut Model,
    package: &'a Package<'p>,
    memory: &'a mut Budget,
    xml: Xml<'a>,
    /// The number of the part.
    part: usize,
    /// Whether it is the part with the build.
    is_root: bool,
}

impl PartReader<'_, '_> {
    fn read(&mut self) -> Result<(), ReadError> {
        let root = self.xml.root("model")?;
        self.check_root(&root)?;
        while let Some(element) = self.xml.child()? {
            match element.name() {
                "resources" => self.resources()?,
                "build" if self.is_root => {
                    let items = self.instances("item")?;
                    self.model.build.extend(items);
                }
                _ => self.xml.skip(&element)?,
            }
        }
        Ok(())
    }

    /// Checks the extensions that a part requires, and its unit.
    fn check_root(&mut self, root: &Element) -> Result<(), ReadError> {
        let [required, unit] = self.xml.attributes(root, ["requiredextensions", "unit"])?;
        for prefix in required.unwrap_or_default().split_whitespace() {
            let [namespace] = self.xml.attributes(root, [prefix])?;
            let namespace = namespace.unwrap_or_default();
            if !EXTENSIONS.contains(&&*namespace) {
                let namespace = excerpt(&namespace);
                return Err(self.xml.error(format!(
                    "it requires the extension {} ({namespace}), which is not read: export the \
                     model without it, or as .stl",
                    excerpt(prefix)
                )));
            }
        }
        let unit = unit.as_deref().unwrap_or("millimeter");
        if !UNITS.contains(&unit) {
            self.model.notes.unknown_units.add(unit);
        }
        if self.is_root {
            self.model.unit = excerpt(unit);
        } else if self.model.unit != excerpt(unit) {
            self.model.notes.other_units.add(unit);
        }
        Ok(())
    }

    fn resources(&mut self) -> Result<(), ReadError> {
        while let Some(element) = self.xml.child()? {
            let group = match element.name() {
                "basematerials" => Some(self.bases()?),
                "colorgroup" => Some(self.colors()?),
                "texture2dgroup" | "compositematerials" | "multiproperties" => {
                    self.xml.skip(&element)?;
                    None
                }
                "object" => {
                    self.object(&element)?;
                    continue;
                }
                _ => {
                    self.xml.skip(&element)?;
                    continue;
                }
            };
            let [id] = self.xml.attributes(&element, ["id"])?;
            let id = self.xml.required(&element, "id", id.as_deref())?;
            self.memory.take_record::<((usize, u32), Option<Vec<Paint>>)>()?;
            self.model.groups.insert((self.part, id), group);
        }
        Ok(())
    }

    fn bases(&mut self) -> Result<Vec<Paint>, ReadError> {
        let mut paints = Vec::new();
        while let Some(base) = self.xml.child()? {
            let [name, color] = self.xml.attributes(&base, ["name", "displaycolor"])?;
            let name = name.unwrap_or_default().into_owned();
            let color = color_of(&self.xml, color.as_deref().unwrap_or("#FFFFFF"))?;
            self.memory.take_record::<(String, Rgba, Paint)>()?;
            self.memory.take(name.len() as u64)?;
            paints.push(Paint::Base(self.model.bases.len() as u32));
            self.model.bases.push((name, color));
            self.xml.skip(&base)?;
        }
        Ok(paints)
    }

    fn colors(&mut self) -> Result<Vec<Paint>, ReadError> {
        let mut paints = Vec::new();
        while let Some(color) = self.xml.child()? {
            let [value] = self.xml.attributes(&color, ["color"])?;
            let value: String = self.xml.required(&color, "color", value.as_deref())?;
            self.memory.take_record::<Paint>()?;
            paints.push(Paint::Color(color_of(&self.xml, &value)?));
            self.xml.skip(&color)?;
        }
        Ok(paints)
    }

    fn object(&mut self, element: &Element) -> Result<(), ReadError> {
        let names = ["id", "name", "type", "pid", "pindex"];
        let [id, name, kind, pid, pindex] = self.xml.attributes(element, names)?;
        let id: u32 = self.xml.required(element, "id", id.as_deref())?;
        let property = Property {
            group: pid.map(|pid| self.xml.parsed("pid", &pid)).transpose()?,
            index: pindex.map_or(Ok(0), |pindex| self.xml.parsed("pindex", &pindex))?,
        };
        let mut object =
            Object { name: name.unwrap_or_default().into_owned(), ..Object::default() };
        let mut contents = 0;
        while let Some(child) = self.xml.child()? {
            match child.name() {
                "mesh" => self.mesh(property, &mut object)?,
                "components" => object.components = self.instances("component")?,
                _ => {
                    self.xml.skip(&child)?;
                    continue;
                }
            }
            contents += 1;
        }
        if contents != 1 {
            let what = "needs a mesh or components, and not both: only these are read";
            return Err(self.xml.error(format!("object {id} {what}")));
        }
        if let Some(kind @ ("support" | "solidsupport" | "other")) = kind.as_deref() {
            self.model.notes.other_types.add(kind);
            object = Object { name: object.name, ..Object::default() };
        }
        object.counts = self.counts(&object);
        if object.counts.depth > MAX_DEPTH {
            return Err(self.xml.error(format!(
                "object {id} has components in components, more than {MAX_DEPTH} deep"
            )));
        }
        self.memory.take_record::<(Object, ((usize, u32), usize))>()?;
        self.memory.take(object.name.len() as u64)?;
        self.model.longest_name = self.model.longest_name.max(object.name.len() as u64);
        if self.model.object_at.insert((self.part, id), self.model.objects.len()).is_some() {
            return Err(self.xml.error(format!("there are two objects {id}")));
        }
        self.model.objects.push(object);
        Ok(())
    }

    fn counts(&self, object: &Object) -> Counts {
        // Vertices of no triangle are not placed.
        let own = match object.triangles.len() as u64 {
            0 => Counts::default(),
            triangles => {
                Counts { vertices: object.positions.len() as u64, triangles, meshes: 1, depth: 0 }
            }
        };
        let components = object.components.iter();
        let of = |component: &Instance| self.model.objects[component.object].counts;
        let all = components.map(of).fold(own, Counts::plus);
        Counts { depth: all.depth + 1, ..all }
    }

    fn mesh(&mut self, property: Property, object: &mut Object) -> Result<(), ReadError> {
        while let Some(list) = self.xml.child()? {
            match list.name() {
                // Extensions have vertices of their own, of slices for example.
                "vertices" if !list.has_prefix() => self.vertices(object)?,
                "triangles" if !list.has_prefix() => self.triangles(property, object)?,
                name => {
                    self.model.notes.beams += u64::from(name == "beamlattice");
                    self.xml.skip(&list)?;
                }
            }
        }
        Ok(())
    }

    fn vertices(&mut self, object: &mut Object) -> Result<(), ReadError> {
        const NAMES: [&str; 3] = ["x", "y", "z"];
        while let Some(vertex) = self.xml.child()? {
            let values = self.xml.attributes(&vertex, NAMES)?;
            let mut position = [0.0; 3];
            for ((name, value), number) in NAMES.iter().zip(&values).zip(&mut position) {
                *number = self.xml.required::<f64>(&vertex, name, value.as_deref())?;
                if !number.is_finite() {
                    return Err(self.xml.error(format!("{name} is {number}, not a finite number")));
                }
            }
            self.memory.take_record::<[f64; 3]>()?;
            object.positions.push(position);
            self.xml.skip(&vertex)?;
        }
        Ok(())
    }

    fn triangles(&mut self, property: Property, object: &mut Object) -> Result<(), ReadError> {
        const NAMES: [&str; 9] =
            ["v1", "v2", "v3", "pid", "p1", "p2", "p3", "paint_color", "mmu_segmentation"];
        while let Some(triangle) = self.xml.child()? {
            let [v1, v2, v3, pid, p1, p2, p3, bambu, prusa] =
                self.xml.attributes(&triangle, NAMES)?;
            let mut corners = [0; 3];
            for (at, value) in [v1, v2, v3].into_iter().enumerate() {
                let index: u32 = self.xml.required(&triangle, NAMES[at], value.as_deref())?;
                if index as usize >= object.positions.len() {
                    return Err(self.xml.error(format!(
                        "vertex index {index} is out of range: there are {}, counted from 0",
                        object.positions.len()
                    )));
                }
                corners[at] = index;
            }
            let group = match pid {
                Some(pid) => Some(self.xml.parsed("pid", &pid)?),
                None => property.group,
            };
            let mut indices = [property.index; 3];
            for (at, value) in [p1, p2, p3].into_iter().enumerate() {
                match value {
                    Some(value) => indices[at] = self.xml.parsed(NAMES[4 + at], &value)?,
                    None if at > 0 => indices[at] = indices[0],
                    None => {}
                }
            }
            let paint = if let Some(group) = group { self.paint(group, indices)? } else { None };
            self.model.notes.painted += u64::from(bambu.is_some() || prusa.is_some());
            self.memory.take_record::<([u32; 3], Option<Paint>)>()?;
            if paint.is_some() {
                object.paints.resize(object.triangles.len(), None);
                object.paints.push(paint);
            }
            object.triangles.push(corners);
            self.xml.skip(&triangle)?;
        }
        Ok(())
    }

    /// The paint of a triangle whose corners have the properties `indices` of a group.
    fn paint(&mut self, group: u32, indices: [usize; 3]) -> Result<Option<Paint>, ReadError> {
        let paints = match self.model.groups.get(&(self.part, group)) {
            Some(Some(paints)) => paints,
            Some(None) => {
                self.model.notes.unread_properties += 1;
                return Ok(None);
            }
            None => {
                let what = "there is no group of properties with the identifier";
                return Err(self.xml.error(format!("{what} {group}")));
            }
        };
        let of = |index: usize| {
            paints.get(index).copied().ok_or_else(|| {
                let count = paints.len();
                self.xml.error(format!(
                    "property {index} is out of range: its group has {count}, counted from 0"
                ))
            })
        };
        let [first, second, third] = indices.map(of);
        let corners = [first?, second?, third?];
        if corners == [corners[0]; 3] {
            return Ok(Some(corners[0]));
        }
        self.model.notes.mixed += 1;
        let colors = corners.map(|corner| match corner {
            Paint::Base(base) => self.model.bases[base as usize].1,
            Paint::Color(color) => color,
        });
        let linear = colors.map(linear_of_rgba);
        let mean = |channel: usize| {
            let sum: u32 = linear.iter().map(|color| u32::from(color[channel])).sum();
            ((sum + 1) / 3) as u16
        };
        Ok(Some(Paint::Color(rgba_of(from_fn(mean)))))
    }

    /// The children called `name` of the components of an object, or of the build.
    fn instances(&mut self, name: &str) -> Result<Vec<Instance>, ReadError> {
        let mut instances = Vec::new();
        while let Some(instance) = self.xml.child()? {
            if instance.name() != name {
                self.xml.skip(&instance)?;
                continue;
            }
            let names = ["objectid", "transform", "path"];
            let [id, transform, path] = self.xml.attributes(&instance, names)?;
            let id: u32 = self.xml.required(&instance, "objectid", id.as_deref())?;
            let of = match path {
                None => self.part,
                Some(path) if self.is_root => {
                    read_part(self.model, self.package, self.memory, &path, false)?
                }
                Some(_) => {
                    let what = "only the root model may refer to other parts by a path";
                    return Err(self.xml.error(what));
                }
            };
            let Some(&object) = self.model.object_at.get(&(of, id)) else {
                let what = "does not exist, or is defined after this reference to it";
                return Err(self.xml.error(format!("object {id} {what}")));
            };
            let transform = match transform {
                Some(text) => transform_of(&text).ok_or_else(|| {
                    let text = excerpt(&text);
                    self.xml.error(format!("transform=\"{text}\" is not 12 finite numbers"))
                })?,
                None => Transform::IDENTITY,
            };
            self.memory.take_record::<Instance>()?;
            instances.push(Instance { object, transform });
            self.xml.skip(&instance)?;
        }
        Ok(instances)
    }
}

/// A transform, whose twelve numbers are the columns of its affine matrix.
fn transform_of(text: &str) -> Option<Transform> {
    let numbers: [f64; 12] = numbers(text.split_whitespace())?;
    let is_finite = numbers.iter().all(|number| number.is_finite());
    is_finite.then(|| Transform::of_columns(&numbers, 3))
}

/// The sRGB colour of `#RRGGBB` or `#RRGGBBAA`.
fn color_of(xml: &Xml, text: &str) -> Result<Rgba, ReadError> {
    let malformed = || {
        let text = excerpt(text);
        xml.error(format!("the colour '{text}' is neither #RRGGBB nor #RRGGBBAA"))
    };
    let digits = text.trim().strip_prefix('#');
    // A sign is parsed, too.
    let digits = digits.filter(|digits| !digits.starts_with('+')).ok_or_else(malformed)?;
    let number = u32::from_str_radix(digits, 16).map_err(|_| malformed())?;
    match digits.len() {
        6 => Ok((number << 8 | 0xff).to_be_bytes()),
        8 => Ok(number.to_be_bytes()),
        _ => Err(malformed()),
    }
}
