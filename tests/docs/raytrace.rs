//! The examples of ray tracers: the one on the CPU is as short as it is said to be, and draws what
//! it shows; the one on a GPU draws the same, and then the mesh of another frame.

#[path = "../../examples/raytrace.rs"]
#[allow(dead_code, reason = "the program's entry point is not called")]
mod on_cpu;

#[cfg(feature = "gpu")]
#[path = "../../examples/raytrace_gpu/main.rs"]
#[allow(dead_code, reason = "the program's entry point is not called")]
mod on_gpu;

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
