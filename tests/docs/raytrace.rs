//! The examples of ray tracers: the one on the CPU is as short as it is said to be, and draws what
//! it shows; the one on a GPU draws the same.

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
    let model = format!("{ROOT}/assets/lighthouse.obj");
    let drawn = on_gpu::draw(&adapter, &model, 40, 50).unwrap();
    let expected = draw("lighthouse.obj", 40, 50);
    let off = |(a, b): (&u8, &u8)| u32::from(a.abs_diff(*b));
    let differences = || drawn.iter().zip(expected.iter()).map(off);
    // A ray that misses an edge by less than floats resolve is one of 64 of its pixel.
    assert!(differences().all(|off| off < 16), "{:?}", differences().max());
    assert!(differences().sum::<u32>() < 50 * 50, "{}", differences().sum::<u32>());
}
