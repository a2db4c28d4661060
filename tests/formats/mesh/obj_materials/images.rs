//! Images of every format that is read, and files that are none.

use crate::common::files::png_with;
use crate::common::prelude::*;
use image::{DynamicImage, ImageBuffer, ImageFormat};

use super::*;

/// A folder with this file as the image of `a`.
fn with_image(name: &str, bytes: impl AsRef<[u8]>) -> Folder {
    defined(&format!("Kd 0 0 1\nmap_Kd {name}")).with(name, bytes)
}

#[test]
fn images_of_every_format_are_read_by_their_content_and_not_their_extension() {
    for (name, format) in [
        ("t.png", ImageFormat::Png),
        ("t.tga", ImageFormat::Tga),
        ("t.TGA", ImageFormat::Tga),
        ("t.bmp", ImageFormat::Bmp),
        ("t.webp", ImageFormat::WebP),
        ("t.gif", ImageFormat::Gif),
        ("t.jpg", ImageFormat::Png),
        ("t.tga", ImageFormat::Png),
        ("t.dds", ImageFormat::Png),
        ("t", ImageFormat::Png),
        ("t.png.bak", ImageFormat::Png),
    ] {
        let found = texture(&with_image(name, encoded(&TEXELS, format)));
        assert_eq!(found.texels(), TEXELS, "{name} of {format:?}");
    }
    let grey = DynamicImage::ImageRgb8(ImageBuffer::from_pixel(8, 8, image::Rgb([200; 3])));
    let jpeg = encode(grey, ImageFormat::Jpeg);
    let texel = texture(&with_image("t.png", jpeg)).texels()[9];
    assert!(texel[..3].iter().all(|&value| value.abs_diff(200) < 3), "{texel:?}");
}

#[test]
fn pngs_of_grey_and_of_16_bits_are_read() {
    let [dark, bright] = [0x4040, 0xc0c0];
    let grey = ImageBuffer::from_raw(2, 1, vec![0x40, 0xc0]).unwrap();
    let grey_16 = ImageBuffer::from_raw(2, 1, vec![dark, bright]).unwrap();
    let clear = ImageBuffer::from_raw(2, 1, vec![0x40, 0xff, 0xc0, 0xff]).unwrap();
    let color_16 = ImageBuffer::from_raw(2, 1, [[dark; 3], [bright; 3]].concat()).unwrap();
    for image in [
        DynamicImage::ImageLuma8(grey),
        DynamicImage::ImageLuma16(grey_16),
        DynamicImage::ImageLumaA8(clear),
        DynamicImage::ImageRgb16(color_16),
    ] {
        let kind = format!("{:?}", image.color());
        let texels = texture(&with_image("t.png", encode(image, ImageFormat::Png)));
        assert_eq!(texels.texels(), [[0x40, 0x40, 0x40, 255], [0xc0, 0xc0, 0xc0, 255]], "{kind}");
    }
}

#[test]
fn pngs_with_a_palette_are_read_also_if_it_and_a_text_are_much_larger_than_the_image() {
    let read = |size, colors: Vec<u8>, bits, text: &str, data: &[u8]| {
        let set = |encoder: &mut png::Encoder<'_, &mut Vec<u8>>| {
            encoder.set_color(png::ColorType::Indexed);
            encoder.set_depth(bits);
            encoder.set_palette(colors.clone());
            encoder.set_trns(vec![255, 255, 7]);
            encoder.add_text_chunk("Comment".to_owned(), text.to_owned()).unwrap();
        };
        texture(&with_image("t.png", png_with(size, set, data))).texels().to_vec()
    };
    let four = TEXELS.map(|[r, g, b, _]| [r, g, b]).concat();
    let found = read([2, 2], four, png::BitDepth::Two, "", &[0b0001_0000, 0b1011_0000]);
    assert_eq!(found, [RED, GREEN, [0, 0, 255, 7], GREY]);
    let many = [255, 0, 0].repeat(256);
    assert_eq!(read([1, 1], many, png::BitDepth::Eight, &"x".repeat(40_000), &[255]), [RED]);
}

/// A JPEG of 8 x 8 equal texels, of these components; four are cyan, magenta, yellow and black,
/// inverted as Adobe writes them.
fn jpeg(components: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0xff, 0xd8];
    let mut segment = |marker: u8, content: &[u8]| {
        bytes.extend([0xff, marker]);
        bytes.extend((content.len() as u16 + 2).to_be_bytes());
        bytes.extend(content);
    };
    segment(0xee, b"Adobe\0\x64\0\0\0\0\0");
    segment(0xdb, &[&[0][..], &[8; 64]].concat());
    let count = components.len() as u8;
    let each = |of: fn(u8) -> Vec<u8>| (1..=count).flat_map(of).collect::<Vec<u8>>();
    let frame = [&[8, 0, 8, 0, 8, count][..], &each(|id| vec![id, 0x11, 0])].concat();
    segment(0xc0, &frame);
    // Twelve lengths of differences, of four bits each; and the end of a block, of one bit.
    let lengths =
        |at: usize, count: u8| (1..=16).map(move |bits| if bits == at { count } else { 0 });
    segment(0xc4, &[0].into_iter().chain(lengths(4, 12)).chain(0..12).collect::<Vec<u8>>());
    segment(0xc4, &[0x10].into_iter().chain(lengths(1, 1)).chain([0]).collect::<Vec<u8>>());
    segment(0xda, &[&[count][..], &each(|id| vec![id, 0]), &[0, 63, 0]].concat());
    let mut bits = String::new();
    for &component in components {
        let difference = i32::from(component) - 128;
        let length = 32 - difference.unsigned_abs().leading_zeros() as usize;
        let shown = if difference < 0 { difference + (1 << length) - 1 } else { difference };
        bits += &format!("{length:04b}");
        if length > 0 {
            bits += &format!("{shown:0length$b}");
        }
        bits += "0";
    }
    bits += &"1".repeat(bits.len().next_multiple_of(8) - bits.len());
    for byte in bits.as_bytes().chunks(8) {
        let byte = byte.iter().fold(0, |byte, bit| byte << 1 | bit & 1);
        bytes.push(byte);
        bytes.extend((byte == 0xff).then_some(0));
    }
    bytes.extend([0xff, 0xd9]);
    bytes
}

#[test]
fn jpegs_in_colour_in_grey_and_for_print_are_read() {
    for (components, expected) in [
        (&[255, 0, 64][..], [255, 0, 64]),
        (&[77], [77; 3]),
        (&[255, 0, 0, 255], [255, 0, 0]),
        (&[0, 255, 255, 255], [0, 255, 255]),
        (&[255, 255, 255, 128], [128; 3]),
    ] {
        let texture = texture(&with_image("t.jpg", jpeg(components)));
        assert_eq!(texture.size(), [8, 8]);
        let close = |found: &u8, expected: &u8| found.abs_diff(*expected) < 3;
        let texel = texture.texels()[20];
        assert!(texel.iter().zip(&expected).all(|(f, e)| close(f, e)), "{components:?}: {texel:?}");
        assert_eq!(texel[3], 255);
    }
}

#[test]
fn images_that_cannot_be_read_are_said_with_their_reason_and_shown_plain() {
    let whole = png(&TEXELS);
    let kinds = "files of this kind are not read; save it as PNG or JPEG";
    for (name, bytes, why) in [
        ("t.dds", &b"DDS |\0\0\0"[..], kinds),
        ("t.tif", b"II*\0\x08\0\0\0", kinds),
        ("t.exr", b"\x76\x2f\x31\x01\x02\0\0\0", kinds),
        ("t.psd", b"8BPS\0\x01", kinds),
        ("t.svg", b"<svg/>", kinds),
        ("t.jp2", b"\0\0\0\x0cjP  ", kinds),
        ("text", b"no image", kinds),
        ("t.png", &whole[..40], ""),
        ("cut.png", &whole[..whole.len() - 20], ""),
        ("t.jpg", b"", ""),
        ("none.tga", b"", ""),
    ] {
        let (appearance, warning) = with_image(name, bytes).warned(PAINTED_BY_A);
        let said = format!("a texture was replaced by a plain colour: '{name}' (");
        assert!(warning.starts_with(&said) && warning.len() > said.len() + 1, "{warning}");
        assert!(warning.ends_with(&format!("{why})")), "{warning}");
        let material = only(&appearance);
        assert_eq!((material.color, material.texture), (screen([0.0, 0.0, 1.0]), None));
        assert!(appearance.textures.is_empty() && appearance.uvs.is_empty());
    }
}

#[test]
fn every_prefix_of_an_image_is_shown_or_said() {
    let tga = encoded(&TEXELS, ImageFormat::Tga);
    for (name, whole) in [("t.png", png(&TEXELS)), ("t.jpg", jpeg(&[255, 0, 64])), ("t.tga", tga)] {
        let mut folder = defined(&format!("map_Kd {name}"));
        for end in 0..whole.len() {
            folder = folder.with(name, &whole[..end]);
            let loaded = folder.read(PAINTED_BY_A);
            let textures = appearance(&loaded.mesh).textures.len();
            assert_eq!(textures + loaded.warnings.len(), 1, "{end} bytes of {name}");
        }
    }
}

#[test]
fn an_image_that_several_materials_have_is_read_once() {
    let mtl = "newmtl a\nmap_Kd t.png\nnewmtl b\nmap_Kd -clamp on -s 2 .\\T.png\n\
               newmtl c\nmap_Kd sub/../t.png\n";
    let folder = Folder::new().with("m.mtl", mtl).with("t.png", png(&TEXELS)).with("sub/x", "");
    let faces = ["a", "b", "c"].map(|name| format!("usemtl {name}\n{PAINTED}")).concat();
    let appearance = folder.quiet(format!("mtllib m.mtl\n{faces}"));
    assert_eq!(appearance.textures.len(), 1);
    let textures = [0, 1, 2].map(|triangle| appearance.material(triangle).texture.unwrap().texture);
    assert_eq!(textures, [0; 3]);
    assert_eq!(appearance.uvs[1][1], [2.0, 1.0]);
}

#[test]
fn images_take_the_memory_that_is_left_and_no_more() {
    let mtl: String = (0..4).map(|n| format!("newmtl {n}\nmap_Kd {n}.png\n")).collect();
    let mut folder = Folder::new().with("m.mtl", mtl);
    for n in 0..4 {
        let image = ImageBuffer::from_pixel(500, 500, image::Rgba([n, 0, 0, 255]));
        let bytes = encode(DynamicImage::ImageRgba8(image), ImageFormat::Png);
        folder = folder.with(&format!("{n}.png"), bytes);
    }
    let faces: String = (0..4).map(|n| format!("usemtl {n}\n{PAINTED}")).collect();
    let text = format!("{CORNERS}mtllib m.mtl\n{faces}");
    assert_eq!(folder.read_text(&text).warnings, Vec::<String>::new());
    // A megabyte each, and three times that for one that is to be decoded.
    for (megabytes, expected) in [(1, 0), (2, 0), (3, 1), (4, 2), (5, 3), (6, 4), (12, 4), (25, 4)]
    {
        let memory = megabytes * 1_000_000 + 300_000;
        let options = ReadOptions { memory, ..ReadOptions::default() };
        for threads in [1, 4] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let loaded = pool.install(|| folder.read_with(text.as_bytes(), &options));
            let textures = appearance(&loaded.mesh).textures;
            let found: Vec<u8> = textures.iter().map(|texture| texture.texels()[0][0]).collect();
            assert_eq!(found, (0..expected).collect::<Vec<_>>(), "{megabytes} MB");
            let said = loaded.warnings.concat();
            let missing = said.matches("for the memory that is left").count();
            assert_eq!(missing, 4 - usize::from(expected), "{megabytes} MB: {said}");
        }
    }
}
