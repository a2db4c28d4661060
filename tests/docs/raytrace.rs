//! The examples of ray tracers: the one on the CPU is as short as it is said to be, and draws what
//! it shows; the one on a GPU draws the same, and then the mesh of another frame. Sphere tracing
//! draws the same cube.

#[path = "../../examples/raytrace.rs"]
#[allow(dead_code, reason = "the program's entry point is not called")]
mod on_cpu;

#[cfg(feature = "gpu")]
#[path = "../../examples/raytrace_gpu/main.rs"]
#[allow(dead_code, reason = "the program's entry point is not called")]
mod on_gpu;

#[cfg(feature = "gpu")]
#[path = "../../examples/sphere_trace/main.rs"]
#[allow(dead_code, reason = "the program's entry point is not called")]
mod by_distances;

const SOURCE: &str = include_str!("../../examples/raytrace.rs");
const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn draw(asset: &str, resolution: u32, side: u32) -> image::RgbImage {
    on_cpu::draw(&format!("{ROOT}/assets/{asset}"), resolution, side).unwrap()
}

#[test]
fn it_has_less_than_100_lines() {
    assert!(SOURCE.lines().count() < 100);
}

#[test]
fn a_cube_is_brightest_on_top_and_throws_a_shadow() {
    let picture = draw("cube.obj", 8, 60);
    let light = |column, row| picture.get_pixel(column, row).0.map(u32::from).iter().sum::<u32>();
    let [top, front, side] = [light(25, 8), light(20, 30), light(45, 24)];
    assert!(top > front + 20 && front > side + 100, "{top} {front} {side}");
    // On the ground to its right, away from the sun, and to its left.
    let [shadow, ground] = [light(57, 45), light(3, 50)];
    assert!(shadow + 100 < ground, "{shadow} {ground}");
}

#[test]
fn the_picture_in_the_readme_is_what_it_draws() {
    let shown = image::open(format!("{ROOT}/docs/gallery/raytrace.png")).unwrap().to_rgb8();
    let drawn = draw("lighthouse.obj", 96, 480);
    let differing = |a: &image::RgbImage, b: &image::RgbImage| {
        let is_other = |(a, b): &(&image::Rgb<u8>, &image::Rgb<u8>)| {
            a.0.iter().zip(b.0).any(|(a, b)| a.abs_diff(b) > 1)
        };
        a.pixels().zip(b.pixels()).filter(is_other).count()
    };
    assert_eq!(shown.dimensions(), drawn.dimensions());
    let run = "run `cargo run --release --example raytrace -- assets/lighthouse.obj 96 \
               docs/gallery/raytrace.png`";
    assert!(differing(&shown, &drawn) < 100, "{run}");
    let turned = image::imageops::rotate180(&drawn);
    assert!(differing(&shown, &turned) > 10_000, "another picture goes unnoticed");
}

#[cfg(feature = "gpu")]
#[test]
fn a_gpu_draws_what_the_cpu_does() {
    let adapter = wgpu::Instance::default().request_adapter(&Default::default());
    let Ok(adapter) = pollster::block_on(adapter) else {
        return crate::environment::skip_without_adapter("no adapter");
    };
    let model = format!("{ROOT}/assets/torus-knot.obj");
    let mesh = trivox::formats::read_mesh(&model).unwrap().mesh;
    let renderer = on_gpu::Renderer::new(&adapter, &mesh, 40, 50, 64).unwrap();
    let expected = draw("torus-knot.obj", 40, 50);
    let differing = |angle| {
        renderer.draw(angle).unwrap();
        let drawn = renderer.picture().unwrap();
        drawn.iter().zip(expected.iter()).filter(|(a, b)| a.abs_diff(**b) >= 16).count()
    };
    // The vertices are rounded in `f32`, and rays may miss an edge by less than floats resolve.
    let differing = [0.0, 90.0, 360.0].map(differing);
    let all = expected.len();
    let [still, turned, whole_turn] = differing;
    assert!(still < all / 100 && turned > all / 10 && whole_turn < all / 100, "{differing:?}");
}

#[cfg(feature = "gpu")]
#[test]
fn spheres_trace_the_outline_of_a_cube_and_its_shadow() {
    let Ok(adapter) = trivox::gpu::Adapter::find(None) else {
        return crate::environment::skip_without_adapter("no adapter");
    };
    let gpu = std::sync::Arc::new(trivox::Gpu::new(&adapter).unwrap());
    let model = format!("{ROOT}/assets/cube.obj");
    let picture = by_distances::draw(&gpu, &model, 32, 64).unwrap();
    // The cube has 32 voxels along each edge, and a padding of 8. The sun lights top and front.
    let (to_eye, cube): ([f64; 3], _) = ([0.66, 0.62, 0.98], [8.0, 40.0]);
    let eye = [0, 1, 2].map(|a| [24.0, 17.28, 24.0][a] + 48.0 * to_eye[a]);
    let length = to_eye.iter().map(|c| c * c).sum::<f64>().sqrt();
    let [x, y, z] = to_eye.map(|c| c / length);
    let aside = x.hypot(z);
    let (right, up) = ([z / aside, 0.0, -x / aside], [-x * y / aside, aside, -z * y / aside]);
    let is_lit = |column: u32, row: u32| {
        let [u, v] = [column, row].map(|pixel| 0.94 * ((f64::from(pixel) + 0.5) / 64.0 - 0.5));
        let way = [0, 1, 2].map(|a| u * right[a] - v * up[a] - [x, y, z][a]);
        let times = |a: usize| cube.map(|plane: f64| (plane - eye[a]) / way[a]);
        let [begin, end] =
            [f64::min, f64::max].map(|of| [0, 1, 2].map(|a| of(times(a)[0], times(a)[1])));
        let enters = begin.into_iter().fold(0.0, f64::max);
        enters < end.into_iter().fold(f64::INFINITY, f64::min) && enters > begin[0]
    };
    let is_clay = |image::Rgb([red, _, blue]): &image::Rgb<u8>| red.saturating_sub(*blue) > 60;
    // Interpolation rounds the edges off.
    let differing = picture
        .enumerate_pixels()
        .filter(|&(column, row, pixel)| is_lit(column, row) != is_clay(pixel));
    let lit = picture.pixels().filter(|pixel| is_clay(pixel)).count();
    let differing = differing.count();
    assert!(lit > 1000 && differing < lit / 10, "{lit} lit, {differing} differ");
    let light = |column, row| picture.get_pixel(column, row).0.map(u32::from).iter().sum::<u32>();
    let [top, front, shadow, ground] = [light(24, 10), light(20, 30), light(60, 40), light(4, 48)];
    assert!(top > front + 10 && shadow + 100 < ground, "{top} {front} {shadow} {ground}");
}
