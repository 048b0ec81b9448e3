# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Draws the results of gpu-check as SVG.

BAR = 0.9
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]


def choose_best(peers):
    """Of each kernel, type and number of columns, the largest ratio to a copy that another library has."""
    best = {}
    for line in peers:
        key = line[0].rsplit("_", 2)[0], line[1], int(line[2])
        best[key] = max(best.get(key, 0), float(line[7]))
    return best


def draw(times, peers):
    """The ratio to a copy over the columns, a line for each kernel and type, with bars from the least to the most sample;
    and a dotted line for the best other library."""
    width, height, left, top = 640, 360, 60, 20
    widths = sorted({int(line[2]) for line in [*times, *peers]})
    x = lambda columns: left + 20 + widths.index(columns) * (width - left - 220) / max(1, len(widths) - 1)
    y = lambda ratio: top + (1.2 - min(ratio, 1.2)) / 1.2 * (height - top - 50)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
             "<style>text{fill:#222}.axis{stroke:#888}@media(prefers-color-scheme:dark){text{fill:#ddd}}</style>"]
    for ratio in (0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2):
        parts.append(f'<line class="axis" x1="{left}" x2="{width - 180}" y1="{y(ratio):.0f}" y2="{y(ratio):.0f}" stroke-opacity="0.3"/>'
                     f'<text x="{left - 6}" y="{y(ratio) + 4:.0f}" text-anchor="end">{ratio:.1f}</text>')
    parts.append(f'<line x1="{left}" x2="{width - 180}" y1="{y(BAR):.0f}" y2="{y(BAR):.0f}" stroke="#888" stroke-dasharray="4 3"/>'
                 f'<text x="{width - 176}" y="{y(BAR) + 4:.0f}">bar, {BAR}</text>')
    for columns in widths:
        parts.append(f'<text x="{x(columns):.0f}" y="{height - 30}" text-anchor="middle">{columns}</text>')
    parts.append(f'<text x="{(left + width - 180) / 2:.0f}" y="{height - 10}" text-anchor="middle">columns</text>'
                 f'<text transform="translate(14,{height / 2:.0f}) rotate(-90)" text-anchor="middle">speed / speed of a copy</text>')
    series, best = {}, choose_best(peers)
    for kind, element, _ in best:
        series.setdefault((kind, element), [])
    # A width is timed with several numbers of rows, the most of which come last.
    for line in {tuple(line[:3]): line for line in times}.values():
        series.setdefault((line[0].rsplit("_", 2)[0], line[1]), []).append((int(line[2]), *map(float, line[7:10])))
    for number, (key, points) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        parts.append(f'<polyline fill="none" stroke="{colour}" points="{" ".join(f"{x(c):.1f},{y(r):.1f}" for c, r, _, _ in points)}"/>')
        dots = sorted((columns, ratio) for (*of, columns), ratio in best.items() if tuple(of) == key)
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-dasharray="1 4" stroke-linecap="round" stroke-width="2" points="{" ".join(f"{x(c):.1f},{y(r):.1f}" for c, r in dots)}"/>')
        parts += [f'<line stroke="{colour}" x1="{x(c):.1f}" x2="{x(c):.1f}" y1="{y(low):.1f}" y2="{y(high):.1f}"/>' for c, _, low, high in points]
        parts.append(f'<text x="{width - 150}" y="{top + 130 + 18 * number}">{" ".join(key).replace("_", " ")}</text>'
                     f'<line stroke="{colour}" stroke-width="3" x1="{width - 172}" x2="{width - 156}" y1="{top + 126 + 18 * number}" y2="{top + 126 + 18 * number}"/>')
    if best:
        parts.append(f'<text x="{width - 172}" y="{top + 130 + 18 * len(series)}">dotted: best other library</text>')
    return "\n".join([*parts, "</svg>", ""])
