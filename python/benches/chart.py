"""A chart of times as SVG: two bars for each package, on a logarithmic scale."""

import math
from xml.sax.saxutils import escape

WIDTH, ROW, TOP = 960, 46, 64
LEFT, RIGHT = 330, 80
COLORS = {"ours": ("#1d4ed8", "#93b4f5"), "others": ("#b45309", "#f0c48a")}
INK, LINES = "#1f2937", "#e2e8f0"


def label(ms):
    """A time with two or three digits."""
    if ms >= 999.5:
        return f"{ms / 1e3:.1f} s" if ms < 1e4 else f"{ms / 1e3:.0f} s"
    return f"{ms:.1f} ms" if ms < 9.95 else f"{ms:.0f} ms"


def axis_label(ms):
    return f"{ms / 1e3:g} s" if ms >= 1e3 else f"{ms:g} ms"


def draw(title, rows):
    """The chart of `rows`: name, what it computes, time of the step or None, and of the whole job, in ms."""
    times = [ms for *_, step, whole in rows for ms in (step, whole) if ms]
    low = 10 ** math.floor(math.log10(min(times)))
    decades = max(1, math.ceil(math.log10(max(times) / low)))
    height = TOP + ROW * len(rows) + 28
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
    ]

    def text(x, y, what, anchor="start", size=13, color=INK, weight="normal"):
        style = f'font-size="{size}" fill="{color}" text-anchor="{anchor}" font-weight="{weight}"'
        parts.append(f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(what)}</text>')

    def x_of(ms):
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log10(ms / low) / decades

    text(16, 24, title, size=15, weight="bold")
    text(16, 44, "dark: from the mesh in memory to voxels; light: from the file. Shorter is faster; log scale.")
    for decade in range(decades + 1):
        x = x_of(low * 10**decade)
        parts.append(f'<path d="M{x:.1f} {TOP - 8}V{height - 26}" stroke="{LINES}"/>')
        text(x, height - 10, axis_label(low * 10**decade), "middle", 12)
    for index, (name, what, step, whole) in enumerate(rows):
        y = TOP + ROW * index
        colors = COLORS["ours" if name.startswith(("trivox", "voxelize")) else "others"]
        text(LEFT - 12, y + 14, name, "end", weight="bold")
        text(LEFT - 12, y + 30, what, "end", 12, "#64748b")
        for line, (ms, color) in enumerate(zip((step, whole), colors)):
            if ms:
                end = x_of(ms)
                at = y + 2 + 17 * line
                parts.append(f'<path d="M{LEFT} {at}H{end:.1f}v15H{LEFT}z" fill="{color}"/>')
                text(end + 6, at + 12, label(ms), size=12)
    return "\n".join([*parts, "</svg>", ""])
