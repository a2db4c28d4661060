//! The materials of the lighthouse: colours, and one texture.

/// Materials without texture, and their colours.
const COLORS: [(&str, [u8; 3]); 27] = [
    ("sand", [0xee, 0xd3, 0x8e]),
    ("deep_water", [0x15, 0x55, 0x9b]),
    ("water", [0x1f, 0x74, 0xbf]),
    ("shallow_water", [0x46, 0xab, 0xd9]),
    ("foam", [0xf3, 0xfa, 0xfb]),
    ("wet_rock", [0x4c, 0x4b, 0x52]),
    ("rock", [0x73, 0x70, 0x72]),
    ("light_rock", [0x92, 0x8d, 0x88]),
    ("grass", [0x6f, 0xb5, 0x3c]),
    ("meadow", [0x8c, 0xc8, 0x4b]),
    ("path", [0xdc, 0xc8, 0xa0]),
    ("iron", [0x2c, 0x33, 0x42]),
    ("lamp", [0xff, 0xd8, 0x3d]),
    ("cupola", [0xc9, 0x2b, 0x2b]),
    ("gold", [0xf0, 0xb4, 0x29]),
    ("plaster", [0xfb, 0xec, 0xcb]),
    ("eaves", [0x97, 0x3d, 0x22]),
    ("brick", [0xa8, 0x4b, 0x3c]),
    ("door", [0x1f, 0x7a, 0x80]),
    ("glass", [0x3c, 0x63, 0x94]),
    ("frame", [0xff, 0xff, 0xff]),
    ("wood", [0x8a, 0x5a, 0x33]),
    ("bark", [0x6a, 0x43, 0x25]),
    ("leaves", [0x3f, 0x94, 0x3d]),
    ("needles", [0x22, 0x6b, 0x4a]),
    ("hull", [0x1d, 0x3f, 0x7a]),
    ("sail", [0xff, 0xf6, 0xdc]),
];
/// Materials with the texture.
const TEXTURED: [&str; 4] = ["masonry", "stone", "roof_tiles", "planks"];

/// The material file.
pub(crate) fn mtl() -> Vec<u8> {
    let mut text = "# lighthouse\n# made by the program make_assets\n".to_owned();
    for (name, color) in COLORS {
        let [r, g, b] = color.map(|c| f64::from(c) / 255.0);
        text += &format!("\nnewmtl {name}\nKd {r:.3} {g:.3} {b:.3}\n");
        if name == "lamp" {
            text += &format!("Ke {r:.3} {g:.3} {b:.3}\n");
        }
    }
    for name in TEXTURED {
        text += &format!("\nnewmtl {name}\nKd 1 1 1\nmap_Kd lighthouse.png\n");
    }
    text.into_bytes()
}
