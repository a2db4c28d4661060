import pickle
import warnings

import numpy as np
import pytest

import trivox
import trivox.ray
from conftest import CORNERS, SIDES, torus, write_obj


@pytest.mark.parametrize("of_vertices", ["f4", "f8", "f2", "i4", ">f8"])
@pytest.mark.parametrize("of_faces", ["i4", "i8", "u4", "u1", ">i8"])
def test_arrays_of_any_number_type_are_the_same_mesh(tetrahedron, of_vertices, of_faces):
    assert trivox.Mesh(CORNERS.astype(of_vertices), SIDES.astype(of_faces)) == tetrahedron


def test_arrays_of_any_layout_are_the_same_mesh(tetrahedron):
    wide = np.zeros((8, 6))
    wide[::2, ::2] = CORNERS
    assert trivox.Mesh(wide[::2, ::2], np.asfortranarray(SIDES)) == tetrahedron
    for dtype in ("f8", "f4", "i8"):
        assert trivox.Mesh(np.asfortranarray(CORNERS, dtype), SIDES) == tetrahedron
    assert trivox.Mesh(np.array(CORNERS.T.tolist()).T, SIDES) == tetrahedron
    assert trivox.Mesh(CORNERS.tolist(), SIDES.tolist()) == tetrahedron
    assert np.array_equal(tetrahedron.vertices, CORNERS) and np.array_equal(tetrahedron.faces, SIDES)
    assert np.array_equal(tetrahedron.bounds, [[0, 0, 0], [8, 8, 8]])


def test_arrays_that_are_not_aligned_are_the_same_mesh(tetrahedron):
    record = np.zeros(4, [("flag", "u1"), ("xyz", "<f4", 3), ("abc", "<i4", 3), ("uvw", "<u4", 3)])
    record["xyz"], record["abc"], record["uvw"] = CORNERS, SIDES, SIDES
    assert not record["xyz"].flags.aligned
    for faces in ("abc", "uvw"):
        assert trivox.Mesh(record["xyz"], record[faces]) == tetrahedron
    flat = np.frombuffer(b" " + CORNERS.tobytes(), "f8", offset=1).reshape(-1, 3)
    assert not flat.flags.aligned and trivox.Mesh(flat, SIDES) == tetrahedron
    grid = trivox.Voxelizer(8)(tetrahedron)
    points = np.array([[-1.0, -1.0, -1.0], [9.0, 9.0, 9.0]])
    unaligned = np.frombuffer(b" " + points.tobytes(), "f8", offset=1).reshape(-1, 3)
    found, expected = (grid.first_hits(p, -p) for p in (unaligned, points))
    assert all(np.array_equal(a, b) for a, b in zip(found, expected)) and (found[0][0] >= 0).all()
    same = [trivox.Voxelizer(8, bounds=bounds) for bounds in (unaligned, points)]
    assert same[0] == same[1]


def test_numbers_that_would_change_are_refused():
    masked = np.ma.masked_array(CORNERS, CORNERS > 7)
    for vertices in (masked, CORNERS.astype(str), CORNERS > 7, CORNERS + 1j):
        with pytest.raises((TypeError, trivox.MeshError)):
            trivox.Mesh(vertices, SIDES)
    exact = CORNERS.astype("i8") * (1 << 50)
    assert np.array_equal(trivox.Mesh(exact, SIDES).vertices, exact)
    least = np.full((4, 3), np.iinfo(np.int64).min)
    for vertices in (exact + 1, -exact - 1, (exact + 1).astype("u8"), least, least + exact):
        with pytest.raises(trivox.MeshError, match="2\\^53"):
            trivox.Mesh(vertices, SIDES)


def test_errors_name_the_file_of_a_mesh_that_was_read(torus_obj):
    for mesh in (torus_obj, trivox.read_mesh(torus_obj)):
        with pytest.raises(trivox.PlaceError) as error:
            trivox.Voxelizer(voxel_size=1e-9)(mesh)
        assert str(error.value.path) == torus_obj
        with pytest.warns(trivox.TrivoxWarning, match="torus.obj: "):
            trivox.Voxelizer(8, bounds=[[0, 0, 0], [1, 1, 1]])(mesh)


@pytest.mark.parametrize(
    ("vertices", "faces", "code", "message"),
    [
        (CORNERS, np.zeros((0, 3), int), "mesh.no_triangles", "no triangles"),
        (CORNERS, [[0, 1, 4]], "mesh.index_out_of_range", "vertex 4, but there are 4"),
        (CORNERS, [[0, 1, -1]], "mesh.index_out_of_range", "vertex -1"),
        (CORNERS, [[0, 1, 1 << 40]], "mesh.index_out_of_range", str(1 << 40)),
        (CORNERS, np.uint64([[0, 1, 1 << 63]]), "mesh.index_out_of_range", str(1 << 63)),
        (CORNERS, [[0.0, 1.0, 2.0]], "mesh.type", "use integers"),
        (CORNERS, [[0, 1, 2, 3]], "mesh.shape", "triangulate"),
        (CORNERS[:, :2], SIDES, "mesh.shape", "(n, 3)"),
        (CORNERS * np.nan, SIDES, "mesh.not_finite", "not a finite number"),
    ],
)
def test_what_is_no_mesh_says_why(vertices, faces, code, message):
    with pytest.raises(trivox.MeshError) as caught:
        trivox.Mesh(vertices, faces)
    assert caught.value.code == code and message in str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_files_and_bytes_give_the_mesh_of_the_arrays(tmp_path):
    mesh = torus()
    path = write_obj(tmp_path / "a.obj", mesh)
    read = trivox.read_mesh(path)
    assert np.array_equal(read.vertices[read.faces], mesh.vertices[mesh.faces])
    assert str(read.path) == path
    data = (tmp_path / "a.obj").read_bytes()
    for same in (data, bytearray(data), memoryview(data), np.frombuffer(data, np.uint8)):
        assert trivox.read_mesh(same, "obj") == read
    red = b"mtllib look.mtl\nusemtl red\n" + (tmp_path / "a.obj").read_bytes()
    sidecars = {"look.mtl": b"newmtl red\nKd 1 0 0\n"}
    assert trivox.read_mesh(red, "obj", sidecars=sidecars).has_colors
    with pytest.raises(trivox.OptionError, match="give format"):
        trivox.read_mesh(b"v 0 0 0")


def test_confined_meshes_read_files_beside_them_and_below_only(tmp_path):
    (tmp_path / "models" / "looks").mkdir(parents=True)
    for folder in (tmp_path, tmp_path / "models" / "looks"):
        (folder / "red.mtl").write_text("newmtl red\nKd 1 0 0\n")
    corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl red\nf 1 2 3\n"
    inside, outside = (tmp_path / "models" / name for name in ("inside.obj", "outside.obj"))
    inside.write_text("mtllib looks/red.mtl\n" + corners)
    outside.write_text("mtllib ../red.mtl\n" + corners)
    reads = [
        lambda path, **options: trivox.read_mesh(path, **options).has_colors,
        lambda path, **options: trivox.ray.read(str(path), **options).has_colors,
        lambda path, **options: trivox.Proximity(path, **options).mesh.has_colors,
        lambda path, **options: trivox.Voxelizer(8, **options)(path).has_colors,
        lambda path, **options: next(trivox.Voxelizer(8, **options).many([path]))[1].has_colors,
    ]
    for read in reads:
        assert read(inside) and read(inside, confine=True) and read(outside)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", trivox.TrivoxWarning)
            assert not read(outside, confine=True)
    grid = trivox.Voxelizer(8)(outside)
    with pytest.warns(trivox.TrivoxWarning, match="red.mtl"):
        assert trivox.verify(outside, grid, confine=True)
    assert trivox.Voxelizer(8, confine=True).options == {"resolution": 8, "confine": True}
    with pytest.raises(TypeError, match="confine takes True or False, not int"):
        trivox.read_mesh(inside, confine=1)


def test_errors_of_files_name_them(tmp_path):
    with pytest.raises(FileNotFoundError) as missing:
        trivox.read_mesh(tmp_path / "none.obj")
    assert missing.value.filename == str(tmp_path / "none.obj")
    broken = tmp_path / "broken.obj"
    broken.write_text("v 0 0 0\nv 1 0 0\nf 1 2 99\n")
    for read in (trivox.read_mesh, trivox.Voxelizer(8)):
        with pytest.raises(trivox.TrivoxError) as caught:
            read(broken)
        assert caught.value.path == str(broken) and str(broken) in str(caught.value)
        assert repr(str(broken)) in repr(caught.value) and caught.value.code in repr(caught.value)
        again = pickle.loads(pickle.dumps(caught.value))
        assert (str(again), again.code, again.path) == (
            str(caught.value),
            caught.value.code,
            caught.value.path,
        )
    with pytest.raises(trivox.ReadError, match="use one of .obj"):
        trivox.read_mesh(__file__)


@pytest.mark.parametrize(
    ("text", "format", "code"),
    [
        (b"v 0 0 x\n", "obj", "read.line"),
        (b"", "obj", "read.content"),
        (b"v 0 0 0\nf 1 1 1\n", "xyz", "read.unsupported"),
    ],
)
def test_codes_tell_kinds_of_files_apart(text, format, code):
    with pytest.raises(trivox.TrivoxError) as caught:
        trivox.read_mesh(text, format)
    assert caught.value.code == code


def test_meshes_survive_pickling_with_their_looks():
    image = np.arange(4 * 5 * 4, dtype=np.uint8).reshape(4, 5, 4)
    uv = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
    plain = trivox.Mesh(CORNERS, SIDES)
    textured = trivox.Mesh(CORNERS, SIDES, uv=uv, texture=image)
    faces = trivox.Mesh(CORNERS, SIDES, face_colors=np.eye(4, 3))
    for mesh in (plain, textured, faces):
        copy = pickle.loads(pickle.dumps(mesh))
        assert copy == mesh and copy.has_colors == mesh.has_colors
    assert textured != plain and faces != textured


def test_uv_points_up():
    # A square with a texture whose upper half is white.
    corners = [[0, 0, 0], [8, 0, 0], [8, 8, 0], [0, 8, 0]]
    image = np.zeros((8, 8, 3), np.uint8)
    image[:4] = 255
    uv = [[0, 0], [1, 0], [1, 1], [0, 1]]
    mesh = trivox.Mesh(corners, [[0, 1, 2], [0, 2, 3]], uv=uv, texture=image)
    grid = trivox.Voxelizer(8)(mesh)
    light = dict(zip(map(tuple, grid.coords().tolist()), grid.colors()[:, 0].tolist()))
    assert light[3, 5, 0] == 255 and light[3, 2, 0] == 0


def test_colours_come_from_numbers_from_0_to_1_as_from_0_to_255():
    of_bytes = np.array([[255, 0, 51], [0, 255, 102], [9, 8, 7], [255, 255, 255]], np.uint8)
    one = trivox.Mesh(CORNERS, SIDES, vertex_colors=of_bytes)
    assert trivox.Mesh(CORNERS, SIDES, vertex_colors=of_bytes / 255) == one
    with pytest.raises(trivox.MeshError, match=r"\(4, 3\) or \(4, 4\)"):
        trivox.Mesh(CORNERS, SIDES, vertex_colors=of_bytes[1:])


@pytest.mark.parametrize("wrong", [np.nan, -0.5, 1.5, 255.0])
@pytest.mark.parametrize("of", ["vertex_colors", "face_colors"])
def test_colours_out_of_range_are_refused(of, wrong):
    with pytest.raises(trivox.MeshError, match=f"{of} as floats are from 0 to 1, .*: divide by 255") as caught:
        trivox.Mesh(CORNERS, SIDES, **{of: np.full((4, 3), wrong)})
    assert caught.value.code == "mesh.color"


@pytest.mark.parametrize("wrong", [str, complex, bool, object])
def test_texture_coordinates_are_numbers(wrong):
    for uv in (np.zeros((4, 2)), np.zeros((4, 3, 2))):
        with pytest.raises(trivox.MeshError, match="texture coordinates of type .* use numbers") as caught:
            trivox.Mesh(CORNERS, SIDES, uv=uv.astype(wrong), texture=np.zeros((1, 1, 3), "u1"))
        assert caught.value.code == "mesh.type"


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 1e39])
def test_texture_coordinates_are_finite(wrong):
    with pytest.raises(trivox.MeshError, match="not a finite 32-bit number") as caught:
        trivox.Mesh(CORNERS, SIDES, uv=np.full((4, 2), wrong), texture=np.zeros((1, 1, 3), "u1"))
    assert caught.value.code == "mesh.not_finite"


@pytest.mark.parametrize(
    ("looks", "message"),
    [
        ({"uv": np.zeros((4, 2))}, "uv and texture are given together"),
        ({"vertex_colors": np.eye(4, 3), "face_colors": np.eye(4, 3)}, "not several of them"),
    ],
)
def test_looks_that_do_not_go_together_are_refused(looks, message):
    with pytest.raises(trivox.OptionError, match=message) as caught:
        trivox.Mesh(CORNERS, SIDES, **looks)
    assert caught.value.code == "option.combination"


class Plain:
    vertices, faces = CORNERS, SIDES


def test_any_object_with_vertices_and_faces_is_a_mesh(tetrahedron):
    assert trivox.Mesh(Plain()) == tetrahedron
    assert trivox.Voxelizer(8)(Plain()) == trivox.Voxelizer(8)(tetrahedron)
    with pytest.raises(TypeError, match="int is no mesh"):
        trivox.Voxelizer(8)(3)
    with pytest.raises(TypeError, match="use trivox.read_mesh"):
        trivox.Mesh("spot.obj")


def test_arrays_that_are_none_are_named():
    class Lacking:
        vertices, faces = None, SIDES

    class Methods:
        faces = SIDES

        def vertices(self):
            return CORNERS

    for call, message in [
        (lambda: trivox.Mesh(None, SIDES), r"vertices takes an array of shape \(n, 3\), not NoneType"),
        (lambda: trivox.Mesh(CORNERS, len), r"faces takes an array of shape \(m, 3\), not builtin"),
        (lambda: trivox.Mesh(Methods()), r"vertices takes an array of shape \(n, 3\), not method"),
        (lambda: trivox.Mesh(Lacking()), "the vertices of this Lacking are None"),
    ]:
        with pytest.raises(TypeError, match=message):
            call()


def test_trimesh_meshes_and_scenes_are_meshes(tetrahedron):
    trimesh = pytest.importorskip("trimesh")
    theirs = trimesh.Trimesh(CORNERS, SIDES, process=False)
    assert np.array_equal(trivox.Mesh(theirs).vertices, CORNERS)
    expected = trivox.Voxelizer(8)(tetrahedron)
    assert trivox.Voxelizer(8)(theirs) == expected
    assert trivox.Voxelizer(8)(trimesh.Scene([theirs])) == expected
    theirs.visual.face_colors = [[255, 0, 0, 255]] * 4
    assert set(map(tuple, trivox.Voxelizer(8)(theirs).colors().tolist())) == {(255, 0, 0, 255)}


@pytest.fixture
def glb(tmp_path):
    """A file of three boxes: a texture with a factor, one that repeats, and a factor alone."""
    trimesh = pytest.importorskip("trimesh")
    image = pytest.importorskip("PIL.Image")
    random = np.random.default_rng(3)

    def box(at, size, factor, channels=4, **options):
        box = trimesh.creation.box()
        box.apply_translation([at, 0, 0])
        texels = None if size is None else image.fromarray(random.integers(0, 256, (*size, channels)).astype(np.uint8))
        material = trimesh.visual.material.PBRMaterial(baseColorTexture=texels, baseColorFactor=factor, **options)
        uv = None if size is None else random.random((8, 2)) * 3 - 1
        box.visual = trimesh.visual.TextureVisuals(uv=uv, material=material)
        return box

    boxes = [
        box(0, (8, 5), [255, 128, 60, 255]),
        box(2, (3, 7), None, channels=3),
        box(4, None, [10, 128, 255, 255]),
        box(6, (2, 2), [90, 255, 255, 255], alphaMode="BLEND"),
    ]

    def write(*chosen):
        path = tmp_path / "boxes.glb"
        trimesh.Scene([boxes[index] for index in chosen]).export(path)
        return str(path)

    return write


def check_colors(mesh, path):
    found, expected = trivox.Voxelizer(60)(mesh), trivox.Voxelizer(60)(path)
    assert found == expected
    # Texels of eight bits, multiplied by the factor before they are interpolated.
    assert np.abs(found.colors().astype(int) - expected.colors()).max() <= 1


@pytest.mark.parametrize("chosen", [(0,), (1,), (2,), (0, 1), (0, 1, 2), (2, 2)])
def test_colours_of_trimesh_are_those_of_the_file(glb, chosen):
    import trimesh

    path = glb(*chosen)
    check_colors(trimesh.load(path), path)
    if len(chosen) == 1:
        check_colors(trimesh.load(path, force="mesh"), path)


def test_opacity_of_trimesh_is_that_of_the_file(glb):
    import trimesh

    path = glb(0, 3)
    found, expected = trivox.Voxelizer(60)(trimesh.load(path)), trivox.Voxelizer(60)(path)
    assert found == expected
    assert np.abs(found.colors().astype(int) - expected.colors())[:, 3].max() <= 1


def test_a_trimesh_scene_is_placed_as_trimesh_places_it():
    trimesh = pytest.importorskip("trimesh")
    box = trimesh.creation.box()
    scene, mirror = trimesh.Scene([box]), np.diag([-1.0, 2, 1, 1])
    mirror[:3, 3] = 3, 0.5, 0
    scene.add_geometry(box, transform=mirror)
    placed, expected = trivox.Mesh(scene), trivox.Mesh(scene.to_mesh())
    assert np.array_equal(placed.vertices, expected.vertices) and np.array_equal(placed.faces, expected.faces)
    with pytest.raises(trivox.MeshError, match="this Scene has no triangles"):
        trivox.Mesh(trimesh.Scene())


def test_colours_of_other_kinds_are_joined():
    trimesh = pytest.importorskip("trimesh")
    one, two = trimesh.creation.box(), trimesh.creation.box()
    two.apply_translation([2, 0, 0])
    one.visual.face_colors = np.arange(48, dtype=np.uint8).reshape(12, 4) | [0, 0, 0, 255]
    mixed = trivox.Mesh(trimesh.Scene([one, two]))
    assert mixed.has_colors
    assert (255, 255, 255, 255) in set(map(tuple, trivox.Voxelizer(30)(mixed).colors().tolist()))
    one.visual = trimesh.visual.ColorVisuals(one, vertex_colors=np.full((8, 4), 9, np.uint8) | [0, 0, 0, 255])
    two.visual = trimesh.visual.ColorVisuals(two, vertex_colors=np.full((8, 4), 77, np.uint8) | [0, 0, 0, 255])
    colors = trivox.Voxelizer(30)(trimesh.Scene([one, two])).colors()
    assert set(map(tuple, colors.tolist())) == {(9, 9, 9, 255), (77, 77, 77, 255)}


def test_parts_of_a_scene_are_objects():
    trimesh = pytest.importorskip("trimesh")
    boxes = [trimesh.creation.box(bounds=[[x, 0, 0], [x + 1, 1, 1]]) for x in (0, 3)]
    scene = trimesh.Scene({"wheel": boxes[0], "axle": boxes[1]})
    vox = trivox.Voxelizer(16, attributes=["label"])
    grid = vox(scene)
    assert grid.names == {"label": ["wheel", "axle"]}
    assert np.array_equal(grid.labels(), (grid.centers()[:, 0] > 2).astype(int))
    assert vox(trimesh.Scene({"wheel": boxes[0]})).names == {"label": ["wheel"]}
    pyvista = pytest.importorskip("pyvista")
    blocks = pyvista.MultiBlock({name: pyvista.wrap(box) for name, box in zip(("wheel", "axle"), boxes)})
    assert vox(blocks) == grid and vox(blocks).names == grid.names
    unnamed = pyvista.MultiBlock([pyvista.wrap(box) for box in boxes])
    for index in range(2):
        unnamed.set_block_name(index, "")
    assert vox(unnamed).names == {"label": ["", ""]}


def test_parts_of_a_scene_without_triangles_have_a_warning_and_faulty_ones_their_name():
    trimesh = pytest.importorskip("trimesh")
    box = trimesh.creation.box()
    with pytest.warns(trivox.TrivoxWarning, match="part 'points' has no triangles"):
        assert len(trivox.Mesh(trimesh.Scene({"box": box, "points": trimesh.PointCloud([[9, 9, 9]])})).faces) == 12
    bad = trimesh.Trimesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 7]], process=False)
    with pytest.raises(trivox.MeshError, match="part 'bad': triangle 0 uses vertex 7") as error:
        trivox.Mesh(trimesh.Scene({"ok": box, "bad": bad}))
    assert error.value.code == "mesh.index_out_of_range"


def test_a_mesh_equals_itself_and_its_pickle():
    trimesh = pytest.importorskip("trimesh")
    image = pytest.importorskip("PIL.Image").new("RGB", (2, 2), (9, 8, 7))
    material = trimesh.visual.material.SimpleMaterial(image=image)
    boxes = [trimesh.creation.box(), trimesh.creation.box()]
    boxes[0].visual = trimesh.visual.TextureVisuals(uv=np.zeros((8, 2)), material=material)
    mesh = trivox.Mesh(trimesh.Scene(boxes))
    # The triangles of the second box have no texture coordinates.
    assert mesh == mesh and mesh == pickle.loads(pickle.dumps(mesh))


def test_vertex_colours_beside_a_texture_have_a_warning():
    trimesh = pytest.importorskip("trimesh")
    image = pytest.importorskip("PIL.Image").new("RGB", (2, 2), (9, 8, 7))
    box = trimesh.creation.box()
    material = trimesh.visual.material.SimpleMaterial(image=image)
    box.visual = trimesh.visual.TextureVisuals(uv=np.zeros((8, 2)), material=material)
    assert set(map(tuple, trivox.Voxelizer(9)(box).colors().tolist())) == {(9, 8, 7, 255)}
    box.visual.vertex_attributes["color"] = np.zeros((8, 4), np.uint8)
    with pytest.warns(trivox.TrivoxWarning, match="vertex colours of a trimesh mesh") as caught:
        trivox.Mesh(box)
    assert caught[0].filename == __file__


def test_meshio_meshes_are_meshes(tetrahedron):
    meshio = pytest.importorskip("meshio")
    assert trivox.Mesh(meshio.Mesh(CORNERS, [("triangle", SIDES)])) == tetrahedron
    quad = meshio.Mesh([[0, 0], [1, 0], [1, 1], [0, 1]], [("quad", [[0, 1, 2, 3]])])
    assert trivox.Mesh(quad).faces.tolist() == [[0, 1, 2], [0, 2, 3]]
    concave = meshio.Mesh([[0, 0, 0], [1, 0.5, 0], [2, 0, 0], [1, 2, 0]], [("quad", [[0, 1, 2, 3]])])
    assert trivox.Mesh(concave).faces.tolist() == [[0, 1, 3], [1, 2, 3]]
    with pytest.warns(trivox.TrivoxWarning, match="1 cells of type tetra"):
        trivox.Mesh(meshio.Mesh(CORNERS, [("triangle", SIDES), ("tetra", [[0, 1, 2, 3]])]))


def test_colours_that_meshio_reads_from_ply_are_those_of_the_file(tmp_path):
    meshio = pytest.importorskip("meshio")
    names = ("red", "green", "blue")
    colors = np.array([[255, 0, 51], [0, 128, 102], [9, 8, 127], [255, 255, 255]], np.uint8)
    path = tmp_path / "colors.ply"
    vertices = [" ".join(map(str, [*corner, *color])) for corner, color in zip(CORNERS.tolist(), colors.tolist())]
    header = ["ply", "format ascii 1.0", f"element vertex {len(CORNERS)}"]
    header += [f"property float {axis}" for axis in "xyz"] + [f"property uchar {name}" for name in names]
    header += [f"element face {len(SIDES)}", "property list uchar int vertex_indices", "end_header"]
    faces = [" ".join(map(str, [3, *side])) for side in SIDES.tolist()]
    path.write_text("\n".join([*header, *vertices, *faces, ""]))
    expected = trivox.Mesh(CORNERS, SIDES, vertex_colors=colors)
    assert trivox.Mesh(meshio.read(path)) == expected
    # As meshio reads unsigned bytes of binary files.
    data = dict(zip(names, colors.view("int8").T))
    assert trivox.Mesh(meshio.Mesh(CORNERS, [("triangle", SIDES)], point_data=data)) == expected


def test_pyvista_meshes_are_meshes(tetrahedron):
    pyvista = pytest.importorskip("pyvista")
    theirs = pyvista.PolyData.from_regular_faces(CORNERS, SIDES)
    assert trivox.Voxelizer(8)(theirs) == trivox.Voxelizer(8)(tetrahedron)
    assert trivox.Mesh(pyvista.Box()).faces.shape == (12, 3)
    blocks = pyvista.MultiBlock([theirs, None, pyvista.MultiBlock([pyvista.Box()])])
    assert trivox.Mesh(blocks).faces.shape == (16, 3)


def test_colours_of_pyvista_are_those_of_the_file_or_have_a_warning(glb):
    pyvista = pytest.importorskip("pyvista")
    path = glb(2)
    check_colors(pyvista.read(path), path)
    with pytest.warns(trivox.TrivoxWarning, match="PyVista keeps no texture with a mesh"):
        assert not trivox.Mesh(pyvista.read(glb(0))).has_colors
    box = pyvista.Box().triangulate()
    box.cell_data["RGB"] = np.full((12, 3), 5, np.uint8)
    assert set(map(tuple, trivox.Voxelizer(9)(box).colors().tolist())) == {(5, 5, 5, 255)}


@pytest.mark.parametrize("chosen", [(0,), (1,), (2,), (0, 1), (0, 1, 2)])
def test_colours_of_open3d_are_those_of_the_file(glb, chosen):
    open3d = pytest.importorskip("open3d")
    path = glb(*chosen)
    check_colors(open3d.io.read_triangle_model(path), path)
    if len(chosen) == 1:
        check_colors(open3d.t.io.read_triangle_mesh(path), path)
    if chosen == (1,):  # Open3D reads no factor into these.
        check_colors(open3d.io.read_triangle_mesh(path, True), path)


def test_textures_of_open3d_are_of_their_triangles(tetrahedron):
    open3d = pytest.importorskip("open3d")
    theirs = open3d.geometry.TriangleMesh(
        open3d.utility.Vector3dVector(CORNERS), open3d.utility.Vector3iVector(SIDES.astype("i4"))
    )
    theirs.triangle_uvs = open3d.utility.Vector2dVector(np.full((12, 2), 0.5))
    with pytest.warns(trivox.TrivoxWarning, match="but not both"):
        assert not trivox.Mesh(theirs).has_colors
    colors = [(255, 0, 0), (0, 0, 255)]
    theirs.textures = [open3d.geometry.Image(np.tile(np.uint8(color), (4, 4, 1))) for color in colors]
    theirs.triangle_material_ids = open3d.utility.IntVector([0, 1, 1, 1])
    expected = trivox.Mesh(CORNERS, SIDES, face_colors=np.uint8([colors[0], *[colors[1]] * 3]))
    difference = trivox.diff(trivox.Voxelizer(30)(theirs), trivox.Voxelizer(30)(expected))
    assert not difference and difference.other_colors == 0


def test_open3d_meshes_are_meshes(tetrahedron):
    open3d = pytest.importorskip("open3d")
    theirs = open3d.geometry.TriangleMesh(
        open3d.utility.Vector3dVector(CORNERS), open3d.utility.Vector3iVector(SIDES.astype("i4"))
    )
    assert trivox.Mesh(theirs) == tetrahedron
    assert trivox.Mesh(open3d.t.geometry.TriangleMesh.from_legacy(theirs)) == tetrahedron
    theirs.paint_uniform_color([0, 1, 0])
    assert set(map(tuple, trivox.Voxelizer(8)(theirs).colors().tolist())) == {(0, 255, 0, 255)}
