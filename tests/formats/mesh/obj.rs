//! The OBJ reader: what real files hold, polygons of all shapes, and a clear sentence with the
//! right line number for every bad one.
use super::*;

fn read(text: impl AsRef<[u8]>) -> Result<LoadedMesh, ReadError> {
    read_as("obj", text, &ReadOptions::default())
}

const ABC: [[f64; 3]; 3] = [A, B, C];
const ACD: [[f64; 3]; 3] = [A, C, D];
/// `A` to `D` as vertices 1 to 4.
const SQUARE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

fn with_square(rest: &str) -> String {
    format!("{SQUARE}{rest}")
}

#[test]
fn lines_after_the_squares_corners_are_these_triangles() {
    let groups = "o one\ng left\nf 1 2 3\ng right\nusemtl red\nf 1 3 4\no two\nv 5 5 5\nf 1 2 5\n";
    let back = "f -4 -3 -2\nv 9 9 9\nf -5 -4 -1\ng next\nf -1 -2 -3\n";
    let attributes = "vt 0 0\nvt 1 1 0\nvn 0 0 1\nf 1/1 2/2 3/1\nf 1//1 2//1 3//1\n\
                      f 1/1/1 2/2/1 3/1/1\nf 1/ 2/ 3/\nf -4/-1/-1 2 3\n";
    let comments = "f 1 2 3\t# note # more\nf 1 2 3 # note\t# more\nf 1 2 3\u{a0}# note # more\n";
    let continued = "f 1 \\\n 2 \\\n\\\n3\nf 1 3 4";
    let nine = [9.0; 3];
    for (claim, lines, expected) in [
        ("all groups and objects are one mesh", groups, &[ABC, ACD, [A, B, [5.0; 3]]][..]),
        ("quads are two triangles", "f 1 2 3 4\n", &[ABC, ACD]),
        ("negative indices count back from their line", back, &[ABC, [A, B, nine], [nine, D, C]]),
        ("corners may name texture coordinates and normals", attributes, &[ABC; 5]),
        ("the file may leave those out", "f 1/7/9 2/8/9 3/9/9\n", &[ABC]),
        ("a texture coordinate may be one number", "vt .5\nvt .5 1 0\nf 1/1 2/2 3/1\n", &[ABC]),
        ("continued lines are joined", continued, &[ABC, ACD]),
        ("comments do not continue", "usemtl brick # C:\\textures\\\nf 1 2 3\n", &[ABC]),
        ("not after numbers", "f 1 3 4 # c \\\nf 1 2 3\n", &[ACD, ABC]),
        ("not where the line is continued", "f 1 3 \\\n4\t# c \\\nf 1 2 3\n", &[ACD, ABC]),
        ("a comment begins at the first sign for one", comments, &[ABC; 3]),
        ("names may be in any language", "g größe 你好\nf 1 2 3\n", &[ABC]),
        ("materials may lack a name", "usemtl\nf 1 2 3\nusemtl \nf 1 3 4\n", &[ABC, ACD]),
        ("no effect on the shape", "s off\ns 1\nvp 0.5\nmg 1 0.1\nlod 3\nf 1 2 3\n", &[ABC]),
        ("the oldest keyword of faces", "fo 1 2 3\n", &[ABC]),
    ] {
        for ending in ["\n", "\r\n", "\r"] {
            let text = with_square(lines).replace('\n', ending);
            assert_eq!(triangles(read(text)), expected, "{claim}, with {ending:?}");
        }
    }
}

#[test]
fn labels_are_objects_or_else_several_groups() {
    let (one, two) = ("f 1 2 3\n", "f 1 2 3 4\n");
    let objects = format!("o a b # c\n{one}g x\n{one}o empty\no c\ng y\n{two}o a b\n{one}o d\n");
    let groups = format!("o all\n{one}g x\n{two}g y z\n{one}g\n{one}");
    for (lines, names, of_triangles) in [
        (one, "", &[][..]),
        (&format!("{one}o empty\n"), "", &[]),
        (&objects, "a b,c", &[0, 0, 1, 1, 0]),
        (&groups, ",x,y z", &[0, 1, 1, 2, 0]),
        (&format!("o all\ng x\n{one}"), "all", &[0]),
        (&format!("g x\n{one}"), "x", &[0]),
    ] {
        let found = labels(&read(with_square(lines)).unwrap().mesh);
        assert_eq!(found, (names.to_owned(), of_triangles.to_vec()), "{lines}");
    }
}

#[test]
fn labels_are_right_among_very_many_faces_and_vertices() {
    // Polygons without area have fewer triangles than there is room for.
    let flat = "f 1 2 2 1\n".repeat(30_000);
    let (faces, vertices) = ("f 1 2 3 4\n".repeat(60_000), "v 9 9 9\n".repeat(60_000));
    let text = format!("o a\n{flat}{faces}o b\n{vertices}f 1 2 3 4\no a\nf 1 2 3\n");
    let (names, of) = labels(&read(with_square(&text)).unwrap().mesh);
    assert_eq!(names, "a,b");
    assert_eq!(of[of.len() - 4..], [0, 1, 1, 0]);
    assert_eq!(of.iter().filter(|&&label| label == 1).count(), 2);
}

/// Files of the first triangle of the square, `;` for line ends and `+` for the square's corners.
const FILES: &str = "
vertices may come after faces | f 1 2 3;+
in whatever group | f 1 2 3;g next;+
a byte order mark is skipped | \u{feff}+f 1 2 3
a first comment ends in a backslash | # C:\\a\\;+f 1 2 3
comments may follow numbers | v 0 0 0 # origin;v 1 0 0\t#;v 1 1 0 #x y z;f 1 2 3 # 1 2 3
close by | v 0 0 0#origin;v 1 0 0#9 9 9;v 1 1 0#;vt 0#;f 1/1 2 3#4 x
tabs and spaces | \tv  0\t0 0 ; v 1 0 0;v\t1 1 0;\tusemtl\tred ;  g\tside;f\t1  2\t3 \n\
colours of vertices are no coordinates | v 0 0 0 1 0 0;v 1 0 0 0 1 0;v 1 1 0 0.5 0.5 0.5;f 1 2 3
weights of 1 | v 0 0 0 1.0;v 1 0 0\t1 ;v 1 1 0 1;f 1 2 3
";

#[test]
fn files_are_these_triangles() {
    for (claim, text) in rows(FILES) {
        let text = text.replace('+', SQUARE).replace(';', "\n");
        assert_eq!(triangles(read(text + "\n")), [ABC], "{claim}");
    }
    let digits = "v 1234567.0000001 -0.1 1e-300\nv +.5 5. 1E3\nv 0 0 0\nf 1 2 3\n";
    let expected = [[1_234_567.000_000_1, -0.1, 1e-300], [0.5, 5.0, 1000.0], A];
    assert_eq!(triangles(read(digits)), [expected]);
}

#[test]
fn line_endings_do_not_matter() {
    let text = with_square("# comment\n\nf 1 2 3\nf 1 3 4");
    let expected = [ABC, ACD];
    for ending in ["\r\n", "\r"] {
        assert_eq!(triangles(read(text.replace('\n', ending) + ending)), expected, "{ending:?}");
        // The first lines only, and all but the last, which has none.
        for lines in 1..8 {
            let mixed = text.replacen('\n', ending, lines);
            assert_eq!(triangles(read(mixed)), expected, "{lines} lines with {ending:?}");
        }
    }
    assert_eq!(triangles(read(with_square("# comment\rf 1 2 3\nf 1 3 4\r"))), expected);
}
#[test]
fn names_may_be_in_any_encoding() {
    let mut latin_1 = b"# caf\xe9\no b\xf6se\ng \xff\xfe\nusemtl gr\xfcn # 1\n".to_vec();
    latin_1.extend(with_square("f 1 2 3\n").bytes());
    assert_eq!(triangles(read(latin_1)), [ABC]);
}

/// Lines of a file, with `;` for each line end, and their warnings.
const SKIPPED: &str = "
F 1 2 3;something else;F 2 3 4 | 3 lines were skipped with unknown OBJ keywords: 'F', 'something'
mtllib no such file.mtl;usemtl red | material files not found: 'no such file.mtl'
p 1;p 1 2 3;l 1 2;l 1 2 3;l 1/1 2/2 3/3 4/4;f 1;f 1 2;f
    8 points and lines were skipped: no surface
cstype bezier;surf 0 1 0 1 1 2 3 4;end
    1 free-form curve or surface was skipped: convert them to polygons
bzp 1 2 3 4;bsp 1 2 3 4;cdp 1 2 3 4;cdc 1 2 3 4
    4 free-form curves and surfaces were skipped: convert them to polygons
call part.obj 1;csh -rm *
    2 lines were skipped that may include a file or run a command: 'call part.obj 1', 'csh -rm *'
call 0.obj;call 1.obj;call 2.obj;call 3.obj;call 4.obj;call 5.obj;call 6.obj;call 7.obj;call 8.obj
    9 lines were skipped that may include a file or run a command: 'call 0.obj', 'call 1.obj',
    'call 2.obj' and 6 others
";

#[test]
fn what_is_skipped_is_one_warning_and_the_rest_is_read() {
    let libraries: String = (0..1000).map(|n| format!("mtllib {n}.mtl;")).collect();
    let not_found = "material files not found: '0.mtl', '1.mtl', '2.mtl' and 997 others".to_owned();
    for (lines, expected) in rows(SKIPPED).into_iter().chain([(libraries, not_found)]) {
        let text = format!("{SQUARE}{lines}\nf 1 2 3\n").replace(';', "\n");
        assert_eq!(corners(&warned(read(text), &expected)), [ABC], "{expected}");
    }
}

#[test]
fn polygons_that_cross_themselves_are_a_warning() {
    let star = "v 0 1 0\nv .588 -.809 0\nv -.951 .309 0\nv .951 .309 0\nv -.588 -.809 0\n\
                f 1 2 3 4 5\n";
    for (claim, text) in [
        ("a bow tie", "v 0 0 0\nv 4 4 0\nv 4 0 0\nv 0 3 0\nf 1 2 3 4\n"),
        ("a quad whose halves cancel out", "v 0 0 0\nv 1 1 0\nv 1 0 0\nv 0 1 0\nf 1 2 3 4\n"),
        ("a star that winds around twice", star),
    ] {
        assert!(warning(text).starts_with("1 polygon crosses itself"), "{claim}");
    }
}

#[test]
fn a_message_is_short_however_long_the_word() {
    let word = "z".repeat(1_000_000);
    for line in [format!("f 1 2 {word}\n"), format!("v 1 2 {word}\n")] {
        assert!(fault(read(with_square(&line))).len() < 200);
    }
    assert!(warning(&with_square(&format!("f 1 2 3/{word}\n"))).len() < 250);
}

/// More faces than a thread reads at once.
const MANY: usize = 100_000;

#[test]
fn indices_and_lines_count_right_among_very_many_faces() {
    for (after, more) in [("", vec![]), ("f -1 -2 -3\n", vec![[D, C, B]])] {
        let all = triangles(read(format!("{}{SQUARE}{after}", "f 1 2 3\n".repeat(MANY))));
        assert_eq!(all, [vec![ABC; MANY], more].concat(), "{after}");
    }
    let (nine, face) = ([9.0; 3], "v 9 9 9\nf -5 -4 -1\nf 1 2 3\n");
    let faces = "f -1 -4 -5\n".repeat(MANY);
    let all = triangles(read(with_square(&format!("{face}{faces}v 8 8 8\nf -6 -5 -1\n"))));
    let expected = [vec![[A, B, nine], ABC], vec![[nine, B, A]; MANY], vec![[A, B, [8.0; 3]]]];
    assert_eq!(all, expected.concat());
    let text = with_square(&format!("{}f 1 2 5\n", "f 1 2 3\n".repeat(MANY)));
    let line = MANY + 5;
    let expected = format!("line {line}: vertex index 5 in '5' is out of range: there are 4");
    assert_eq!(fault(read(text)), expected);
}

#[test]
fn a_weight_of_a_vertex_is_ignored_with_a_warning() {
    for weight in ["2", "0", "0.5", "1e-300", "nan"] {
        let said = "1 vertex has a weight: it was ignored, since polygons do not use weights";
        let text = format!("v 0 0 0 1.0\nv 1 0 0 {weight}\nv 1 1 0\nf 1 2 3\n");
        assert_eq!(corners(&warned(read(text), said)), [ABC], "{weight}");
    }
}

#[test]
fn bad_texture_coordinates_and_normals_leave_the_geometry() {
    for (faces, what) in [
        ("vt 0 0\nf 1/1 2/1 3/2", "line 6: texture coordinate index 2 in '3/2' is out of range"),
        ("vn 0 0 1\nf 1//1 2//1 3//-2", "line 6: normal index -2 in '3//-2' is out of range"),
        ("vt 0 0\nf 1/0 2/1 3/1", "line 6: texture coordinate index 0 in '1/0': indices start"),
        ("vt 0 0\nvn 0 0 1\nf 1/1/x 2 3", "line 7: 'x' in '1/1/x' is not an index"),
    ] {
        let text = with_square(&format!("{faces}\nf 1 3 4\n"));
        assert_eq!(corners(&read(&text).unwrap().mesh), [ABC, ACD], "{faces}");
        let said = warning(&text);
        assert!(said.contains(what), "{said}");
    }
    let said = warning(&with_square("vt 0 0\nf 1/1 2/1 3/2\nf 1/1 2/3 3/1"));
    assert!(said.ends_with("there are 1; so do 1 others"), "{said}");
}

#[test]
fn a_file_of_another_kind_is_refused_by_its_start() {
    let folder = tempfile::tempdir().unwrap();
    for (extension, expected) in [
        (
            "obj",
            "not an OBJ text file: it contains zero bytes: save it in UTF-8, decompress it, or \
             correct its extension",
        ),
        ("ply", "not a PLY file: it does not begin with 'ply'"),
        ("off", "not an OFF file: it does not begin with 'OFF'"),
        ("gltf", "not a glTF file: it begins with neither '{' nor 'glTF'"),
        ("glb", "not a glTF file: it begins with neither '{' nor 'glTF'"),
        ("stl", "the header (bytes 80 to 83) says that it holds 4,294,967,295 triangles"),
    ] {
        let path = folder.path().join("other").with_extension(extension);
        // 2 GB, of which none is on the disk: to read it all takes memory and seconds.
        let file = std::fs::File::create(&path).unwrap();
        file.set_len(2_000_000_000).unwrap();
        std::io::Write::write_all(&mut &file, &[[0; 80], [255; 80]].concat()).unwrap();
        let options = ReadOptions { memory: 1 << 20, ..ReadOptions::default() };
        let refused = read_mesh_with(&path, &options, &NoProgress).map(|_| ()).unwrap_err();
        assert!(refused.to_string().starts_with(expected), "{refused}");
    }
}

/// The only warning of a file that is read all the same.
fn warning(text: &str) -> String {
    let loaded = read(text).unwrap();
    assert_eq!(loaded.warnings.len(), 1, "{:?}", loaded.warnings);
    loaded.warnings[0].clone()
}

/// Twice the area of a polygon in the plane, positive where it is counter-clockwise.
fn twice_area(points: &[[i32; 2]]) -> i32 {
    let next = points.iter().cycle().skip(1);
    points.iter().zip(next).map(|(p, q)| p[0] * q[1] - p[1] * q[0]).sum()
}

/// A polygon's name and corners, and triangles that cover it.
type Shape = (String, Vec<[i32; 2]>, Vec<[[i32; 2]; 3]>);

/// Concave (or convex) polygons, counter-clockwise: the name and the corners of each and, below,
/// triangles of these corners that cover exactly it, by hand.
const SHAPES: &str = "
square: 0 0, 8 0, 8 8, 0 8
    0 1 2, 0 2 3
arrow: 0 0, 10 5, 0 10, 4 5
    0 1 3, 1 2 3
L: 0 0, 9 0, 9 3, 3 3, 3 11, 0 11
    0 1 2, 0 2 3, 0 3 5, 3 4 5
U: 0 0, 9 0, 9 8, 6 8, 6 2, 3 2, 3 8, 0 8
    0 1 4, 1 2 3, 1 3 4, 0 4 5, 0 5 6, 0 6 7
star: 5 0, 7 4, 12 5, 7 7, 5 12, 4 7, 0 5, 4 4
    0 1 7, 1 2 3, 3 4 5, 5 6 7, 1 3 5, 1 5 7
spiral: 0 0, 12 0, 12 10, 3 10, 3 4, 8 4, 8 6, 5 6, 5 8, 10 8, 10 2, 0 2
    0 1 10, 0 10 11, 1 2 9, 1 9 10, 2 3 8, 2 8 9, 3 4 7, 3 7 8, 4 5 6, 4 6 7
square with corners along its sides: 0 0, 4 0, 8 0, 8 8, 5 8, 2 8, 0 8, 0 3
    0 1 7, 1 2 3, 1 3 4, 1 4 5, 1 5 6, 1 6 7
";

fn numbers<T: std::str::FromStr<Err: std::fmt::Debug>, const N: usize>(list: &str) -> Vec<[T; N]> {
    let of = |row: &str| row.split(' ').map(|number| number.parse().unwrap()).collect::<Vec<T>>();
    list.split(", ").map(|row| of(row).try_into().ok().unwrap()).collect()
}

fn shapes() -> Vec<Shape> {
    let shape = |(shape, cover): (String, String)| {
        let (name, outline) = shape.split_once(": ").unwrap();
        let outline = numbers(outline);
        let cover = numbers(&cover).into_iter().map(|t| t.map(|i: usize| outline[i])).collect();
        (name.to_owned(), outline, cover)
    };
    rows(SHAPES).into_iter().map(shape).collect()
}

/// Planes in space, each a map from the polygon's plane that is exact in integers.
const PLANES: [fn([i32; 2]) -> [i32; 3]; 6] = [
    |[u, v]| [u, v, 3],
    |[u, v]| [3, u, v],
    |[u, v]| [v, 3, u],
    |[u, v]| [u, v, u + v],
    |[u, v]| [u + v, 12 - u, v],
    |[u, v]| [2 * u, v, 24 - u - v],
];

/// Voxels of a quarter unit. Sharp enough to tell one triangulation's cover from another's.
fn voxels(mesh: &Mesh) -> VoxelGrid {
    let bounds = Bounds { min: [-1.0; 3], max: [26.0; 3] };
    let options = PlaceOptions::new(Sizing::VoxelSize(0.25)).with_bounds(bounds);
    surface(&place(mesh, &options).unwrap())
}

/// An OBJ file with one face.
fn polygon(points: &[[f64; 3]]) -> String {
    let vertices: String = points.iter().map(|[x, y, z]| format!("v {x} {y} {z}\n")).collect();
    let numbers: String = (1..=points.len()).map(|i| format!(" {i}")).collect();
    format!("{vertices}f{numbers}\n")
}

#[test]
fn polygons_of_every_shape_orientation_and_plane_are_covered_exactly() {
    for (name, outline, cover) in shapes() {
        let covered: i32 = cover.iter().map(|t| twice_area(t)).sum();
        assert_eq!(covered, twice_area(&outline), "{name}: wrong by hand");
        for (plane, to_space) in PLANES.into_iter().enumerate() {
            let to_space = |p: [i32; 2]| to_space(p).map(f64::from);
            let by_hand: Vec<_> = cover.iter().map(|t| t.map(to_space)).collect();
            let expected = voxels(&mesh_of(&by_hand));
            let mut corners: Vec<_> = outline.iter().copied().map(to_space).collect();
            for _ in 0..2 {
                corners.reverse();
                for first in 0..corners.len() {
                    corners.rotate_left(1);
                    let loaded = read(polygon(&corners)).unwrap();
                    assert!(loaded.warnings.is_empty(), "{name}: {:?}", loaded.warnings);
                    let what = format!("{name} in plane {plane} from corner {first}");
                    assert_eq!(voxels(&loaded.mesh), expected, "{what}");
                    assert!((area(&loaded.mesh) / area_of(&by_hand) - 1.0).abs() < 1e-12, "{what}");
                }
            }
        }
    }
}

fn area(mesh: &Mesh) -> f64 {
    area_of(&corners(mesh))
}

pub(crate) fn area_of(triangles: &[[[f64; 3]; 3]]) -> f64 {
    let area = |[a, b, c]: &[[f64; 3]; 3]| length(cross(minus(*b, *a), minus(*c, *a))) / 2.0;
    triangles.iter().map(area).sum()
}

#[test]
fn concave_polygons_far_away_or_tiny_are_covered_too() {
    for (name, outline, _) in shapes() {
        for (scale, offset) in [(1.0, 1e6), (1e-3, 1e3), (1e-12, 0.0), (1e9, 0.0), (1e-3, 0.0)] {
            let points: Vec<[f64; 3]> = (outline.iter())
                .map(|&p| PLANES[3](p).map(|c| f64::from(c) * scale + offset))
                .collect();
            let loaded = read(polygon(&points)).unwrap();
            let expected = f64::from(twice_area(&outline)) / 2.0 * 3f64.sqrt() * scale * scale;
            let relative = area(&loaded.mesh) / expected;
            assert!((relative - 1.0).abs() < 1e-4, "{name} at {scale:e}, {offset:e}: {relative}");
        }
    }
}

#[test]
fn each_corner_of_a_polygon_is_in_one_of_fewer_than_twice_as_many_triangles() {
    let mut rng = Rng::with_seed(1);
    for range in 1..=5 {
        let (mut text, mut ends) = (String::new(), vec![0]);
        for round in 0..40_000 {
            let corners = rng.u32(4..12);
            for _ in 0..corners {
                let [x, y, z] = [(); 3].map(|()| rng.i32(0..=range));
                text += &format!("v {x} {y} {}\n", z * (round % 2));
            }
            let numbers: String = (1..=corners).map(|i| format!(" -{i}")).collect();
            text += &format!("f{numbers}\n");
            ends.push(ends[round as usize] + corners);
        }
        let mesh = read(text).unwrap().mesh;
        let mut rest = mesh.triangles();
        for polygon in ends.windows(2).map(|ends| ends[0]..ends[1]) {
            let count = rest.partition_point(|triangle| triangle[0] < polygon.end);
            let (own, others) = rest.split_at(count);
            let corners = own.as_flattened();
            assert!(own.len() <= 2 * (polygon.len() - 3), "{own:?}: {polygon:?}");
            assert!(corners.iter().all(|corner| polygon.contains(corner)), "{own:?}: {polygon:?}");
            assert!(
                polygon.clone().all(|corner| corners.contains(&corner)),
                "{own:?}: {polygon:?}"
            );
            rest = others;
        }
    }
}

#[test]
fn a_tangle_of_repeated_corners_is_a_fan_and_a_large_outline_with_holes_is_none() {
    let mut rng = Rng::with_seed(2);
    let points: Vec<[f64; 3]> = (0..1000).map(|_| [rng.f64(), rng.f64(), 0.0]).collect();
    // Ear clipping of this polygon takes minutes.
    let tangle: Vec<[f64; 3]> = (0..150_000).map(|_| points[rng.usize(..1000)]).collect();
    let said = "1 polygon crosses itself or is far from planar: part of the area may be missing";
    assert_eq!(warned(read(polygon(&tangle)), said).triangles().len(), tangle.len() - 2);
    // A comb whose teeth have triangular holes, each with a bridge to the tip.
    let tooth = |x: f64| {
        let hole = [[x, 0.8, 0.0], [x + 0.1, 0.4, 0.0], [x - 0.1, 0.4, 0.0], [x, 0.8, 0.0]];
        [[x + 0.5, 0.0, 0.0], [x, 1.0, 0.0]].into_iter().chain(hole).chain([[x, 1.0, 0.0]])
    };
    let mut comb: Vec<[f64; 3]> = (1..1000).rev().flat_map(|x| tooth(x.into())).collect();
    comb.extend([[0.0, -1.0, 0.0], [1000.0, -1.0, 0.0]]);
    assert!(comb.len() > 5000);
    let loaded = read(polygon(&comb)).unwrap();
    assert_eq!(loaded.warnings, Vec::<String>::new());
    let next = comb.iter().cycle().skip(1);
    let outline: f64 = comb.iter().zip(next).map(|(a, b)| (a[0] * b[1] - a[1] * b[0]) / 2.0).sum();
    let sum = area(&loaded.mesh);
    assert!((sum - outline.abs()).abs() < 1e-6 * sum, "{sum} of {outline}");
}

/// Bad fifth lines after the four corners of the square, `;` for line ends, and what is wrong with
/// them. A negative index names no vertex of a later line.
const BAD_LINES: &str = "
f 1 2 5 | vertex index 5 in '5' is out of range: there are 4
f 1 2 -5 | vertex index -5 in '-5' is out of range: there are 4
f 1 2 -5;v 9 9 9;v 8 8 8 | vertex index -5 in '-5' is out of range: there are 4
f 0 1 2 | vertex index 0 in '0': indices start at 1
f 1 2 3 4 99 | vertex index 99 in '99' is out of range: there are 4
f 1 2 3.5 | '3.5' in '3.5' is not an index
f 1 2 x | 'x' in 'x' is not an index
f 1 2 3/1/1/1 | '3/1/1/1' has more than three indices
f 1 2 /1 | '' in '/1' is not an index
f 1 2 99999999999999999999 | '99999999999999999999' in '99999999999999999999' is not an index
f 1 2 9223372036854775807
    vertex index 9223372036854775807 in '9223372036854775807' is out of range: there are 4
f 1 2 -9223372036854775808
    vertex index -9223372036854775808 in '-9223372036854775808' is out of range: there are 4
v 1 2 | 2 numbers where 3 belong
v | 0 numbers where 3 belong
v 1 2 3 4 5 | 5 numbers where 3 belong
v 1 2 3 4 5 6 7 8 | 8 numbers where 3 belong
v 1 2 three | 'three' is not a finite number
v 1 2,5 3 | '2,5' is not a finite number
v 1 2 0x3 | '0x3' is not a finite number
v 1 1 0.# | '0.#' is not a finite number
v 1 2 1.#IND | '1.#IND' is not a finite number
v 1 2 3 x | 'x' is not a finite number
vt | 0 numbers where 2 belong
v 1 | 1 number where 3 belong
vt 0 u | 'u' is not a number
vn 0 1 | 2 numbers where 3 belong
vn 0 1 up | 'up' is not a number
";

#[test]
fn bad_lines_are_named_by_number_with_what_is_wrong() {
    for (bad, what) in rows(BAD_LINES) {
        let text = with_square(&format!("{}\nf 1 2 3\n", bad.replace(';', "\n")));
        for ending in ["\n", "\r\n", "\r"] {
            let said = fault(read(text.replace('\n', ending)));
            assert_eq!(said, format!("line 5: {what}"), "{bad} with {ending:?}");
        }
        // Four lines later, after a comment, an empty line and a continued one.
        let later = format!("# first\n\nf 1 2 \\\n3\n{text}");
        assert_eq!(fault(read(later)), format!("line 9: {what}"), "{bad}");
    }
}

#[test]
fn coordinates_that_are_not_finite_are_named_by_line_if_a_face_uses_them() {
    for number in ["nan", "NaN", "inf", "-inf", "infinity", "1e999", "-1e999"] {
        for vertex in [format!("{number} 0 0"), format!("0 {number} 0"), format!("0 0 {number}")] {
            let text = with_square(&format!("v {vertex}\nf 1 2 5\n"));
            assert_eq!(fault(read(&text)), format!("line 5: '{number}' is not a finite number"));
        }
        let unused = with_square(&format!("v {number} 0 0\nf 1 2 3\n"));
        assert_eq!(triangles(read(unused)), [ABC]);
    }
}

#[test]
fn indices_so_large_that_they_wrap_around_are_out_of_range() {
    // Twice or three times these, plus 1 or 2, is a small number in 64 bits.
    let attributes = "vt 0 0\nvt 1 1\nvn 0 0 1\nvn 0 1 0\n";
    for index in [
        "-9223372036854775808",
        "-6148914691236517207",
        "6148914691236517206",
        "-9223372036854775807",
    ] {
        for corner in [format!("1/{index}"), format!("1//{index}"), format!("1/1/{index}")] {
            let text = with_square(&format!("{attributes}f {corner} 2 3\n"));
            let expected = format!("index {index} in '{corner}' is out of range: there are 2");
            assert_eq!(corners(&read(&text).unwrap().mesh), [ABC]);
            let said = warning(&text);
            assert!(said.contains("line 9: ") && said.ends_with(&expected), "{said}");
        }
    }
}

#[test]
fn files_that_are_not_obj_text_say_what_they_are() {
    let zeros = "not an OBJ text file: it contains zero bytes: save it in UTF-8, decompress it, or \
                 correct its extension";
    let nothing = "no faces found: is this an OBJ mesh?";
    assert_eq!(fault(read(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")), zeros);
    let stl = "solid stl\nfacet normal 0 0 1\n";
    for text in ["\n", "# nothing\n", stl, "{\"json\": 1}", "\u{feff}", SQUARE] {
        assert_eq!(fault(read(text)), nothing, "{text:?}");
    }
    let points = "no faces found, only 3 points and lines: nothing to voxelize";
    assert_eq!(fault(read(with_square("p 1\nl 1 2 3\nf 1 2\n"))), points);
}

#[test]
fn files_that_cannot_be_read_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |name: &str| read_mesh(folder.path().join(name)).map(|_| ()).unwrap_err();
    assert!(matches!(refused("missing.obj"), ReadError::Io(_)));
    std::fs::write(folder.path().join("mesh.xyz"), "").unwrap();
    std::fs::write(folder.path().join("mesh"), "").unwrap();
    let unknown =
        "unknown file extension '.xyz': use one of .obj, .stl, .ply, .off, .gltf, .glb, .3mf";
    assert_eq!(refused("mesh.xyz").to_string(), unknown);
    let none = "no file extension: use one of .obj, .stl, .ply, .off, .gltf, .glb, .3mf";
    assert_eq!(refused("mesh").to_string(), none);
}

#[cfg(unix)]
#[test]
fn a_pipe_is_read_up_to_the_memory_there_is() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.obj");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let read = |length: usize, limit: u64| {
        let text = with_square("f 1 2 3\n") + &"#".repeat(length);
        std::thread::scope(|scope| {
            // Fails where the reader goes away, as it should.
            scope.spawn(|| _ = std::fs::write(&pipe, text));
            read_mesh_with(
                &pipe,
                &ReadOptions { memory: limit, ..ReadOptions::default() },
                &NoProgress,
            )
        })
    };
    assert_eq!(corners(&read(1000, 10_000_000).unwrap().mesh), [ABC]);
    let refused = read(2_000_000, 3_000_000).unwrap_err().to_string();
    assert!(refused.starts_with("holds more than the 1000000 bytes that it may"), "{refused}");
}

/// A file with some of everything, to be mutated.
pub(crate) const SEED_FILE: &str = "\u{feff}# seed \\\nmtllib a.mtl\no thing\nv 0 0 0\nv 1 0 0 1\n\
v 1 1 0\nv 0 1 0\nv .5 .5 1e0 1 0 0\nvt 0 0\nvt 1 1\nvn 0 0 1\nusemtl red\ng a b\n\
f 1 2 3\nf 1/1/1 2/2/1 \\\n3/-1/-1 4//1\nf -1 -2 -3\nf 1 2 5 3 4\nl 1 2 3\np 1\ns off\n";

/// Fragments that are likelier than random bytes to reach odd places, between bars.
pub(crate) const FRAGMENTS: &str = "\n|\r|\r\n|\\\n|\\| |\t|/|//|-|0|9|99999999999999999999|\
    -9223372036854775808|9223372036854775807|-6148914691236517206|4294967296|nan|inf|1e999|-0|f |\
    \nf 1 2 3 4 5 1 2 3 4 5|\nv |\nvt 1|\nl 1 2 3|\ng|\nusemtl|\u{feff}|#";
