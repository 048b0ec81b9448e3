# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# One picture per kernel: GB/s over width, for cases beyond the cache, with the machine's limit drawn in. Plain SVG.

import math
from xml.sax.saxutils import escape

PANEL_WIDTH, PANEL_HEIGHT, LEFT, TOP, GAP = 380, 260, 58, 56, 62
LEGEND_LINE = 18

# Groups are told apart by colour; what is not resid's is drawn thinner. The best of a group stands for it.
CURVES = (
    ("limit", "the machine's limit for these streams", "#6b7280", "5 4", 1.6),
    ("hand", "hand-written AVX-512, the best", "#b45309", "", 1.6),
    ("resid", "resid", "#1d4ed8", "", 2.6),
    ("resid-scalar", "resid, scalar path", "#60a5fa", "", 1.6),
    ("unfused", "resid, op by op", "#0f766e", "2 3", 1.6),
    ("peer", "the best installed peer", "#be185d", "", 1.6),
)


def pick(results, case, curve):
    """The record that a curve shows: a variant by its name, else the best of a group."""
    return results.records.get((case, curve)) or results.best(case, curve)


class Panel:
    """Axes for one element type, and the curves in them."""

    def __init__(self, title, cases, top_value, left):
        self.title, self.cases, self.left = title, cases, left
        self.top_value = top_value
        self.low = math.log2(min(case.width for case in cases)) - 0.15
        self.high = math.log2(max(case.width for case in cases)) + 0.15

    def x(self, width):
        return self.left + (math.log2(width) - self.low) / (self.high - self.low) * PANEL_WIDTH

    def y(self, value):
        return TOP + PANEL_HEIGHT * (1 - value / self.top_value)

    def axes(self):
        right, bottom = self.left + PANEL_WIDTH, TOP + PANEL_HEIGHT
        parts = [f'<text x="{self.left}" y="{TOP - 12}" class="title">{escape(self.title)}</text>']
        step = tick_step(self.top_value)
        for index in range(int(self.top_value / step) + 1):
            y = self.y(index * step)
            parts.append(f'<line x1="{self.left}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" class="grid"/>')
            parts.append(f'<text x="{self.left - 8}" y="{y + 4:.1f}" text-anchor="end">{index * step:g}</text>')
        # 769 stands beside 768; its place needs no second label.
        for width in sorted({case.width for case in self.cases if case.width % 2 == 0}):
            x = self.x(width)
            parts.append(f'<line x1="{x:.1f}" y1="{bottom}" x2="{x:.1f}" y2="{bottom + 5}" class="tick"/>')
            parts.append(f'<text x="{x:.1f}" y="{bottom + 19}" text-anchor="middle">{width}</text>')
        parts.append(f'<text x="{(self.left + right) / 2:.1f}" y="{bottom + 38}" text-anchor="middle">width</text>')
        return parts

    def curve(self, results, name, colour, dashes, thickness):
        """A line through even widths; odd widths are rings beside it."""
        points = [(case, pick(results, case, name)) for case in sorted(self.cases, key=lambda case: case.width)]
        points = [(case.width, record.gigabytes()) for case, record in points if record]
        parts, line = [], [point for point in points if point[0] % 2 == 0]
        if len(line) > 1:
            path = " ".join(f"{self.x(width):.1f},{self.y(value):.1f}" for width, value in line)
            dash = f' stroke-dasharray="{dashes}"' if dashes else ""
            parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{thickness}"{dash}/>')
        for width, value in points:
            fill = "#ffffff" if width % 2 else colour
            parts.append(f'<circle cx="{self.x(width):.1f}" cy="{self.y(value):.1f}" r="{2 + thickness / 2:.1f}" '
                         f'fill="{fill}" stroke="{colour}"/>')
        return parts


def tick_step(top):
    """Five to ten lines: 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(top / 5))
    return next(factor * power for factor in (1, 2, 5, 10) if top / (factor * power) <= 8)


def legend(curves, left, top):
    parts = []
    for index, (_, title, colour, dashes, thickness) in enumerate(curves):
        x, y = left + (index % 2) * (PANEL_WIDTH + GAP), top + index // 2 * LEGEND_LINE
        dash = f' stroke-dasharray="{dashes}"' if dashes else ""
        parts.append(f'<line x1="{x}" y1="{y}" x2="{x + 30}" y2="{y}" stroke="{colour}" '
                     f'stroke-width="{thickness}"{dash}/>')
        parts.append(f'<text x="{x + 38}" y="{y + 4}">{escape(title)}</text>')
    return parts


def draw(results, kernel, threads, cases):
    """The picture of one kernel as text: a panel per element type."""
    curves = [curve for curve in CURVES if any(pick(results, case, curve[0]) for case in cases)]
    top_value = 1.08 * max(pick(results, case, curve[0]).gigabytes() for case in cases for curve in curves
                           if pick(results, case, curve[0]))
    types = list(dict.fromkeys(case.type for case in cases))
    width = LEFT + len(types) * (PANEL_WIDTH + GAP)
    legend_top = TOP + PANEL_HEIGHT + 62
    height = legend_top + (len(curves) + 1) // 2 * LEGEND_LINE + 4
    count = "one thread" if threads == 1 else f"{threads} threads"
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
             f'viewBox="0 0 {width} {height}">',
             "<style>text { font: 12px sans-serif; fill: #1f2937 } .title { font-weight: bold } "
             ".grid { stroke: #e5e7eb } .tick { stroke: #1f2937 }</style>",
             f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
             f'<text x="{LEFT}" y="22" class="title">{escape(kernel.title)}, {count}: GB/s over width</text>']
    for index, element in enumerate(types):
        panel = Panel(element, [case for case in cases if case.type == element], top_value,
                      LEFT + index * (PANEL_WIDTH + GAP))
        parts += panel.axes()
        for name, _, colour, dashes, thickness in curves:
            parts += panel.curve(results, name, colour, dashes, thickness)
    return "\n".join(parts + legend(curves, LEFT, legend_top) + ["</svg>"]) + "\n"


def write_plots(results, folder, is_shown):
    """One file per kernel and number of threads, of the cases for which is_shown(case). Answers the paths."""
    paths = []
    for kernel, threads in dict.fromkeys((case.kernel, case.threads) for case in results.cases):
        cases = [case for case in results.cases if (case.kernel, case.threads) == (kernel, threads) and is_shown(case)]
        if cases:
            paths.append(folder / f"{kernel.name}-{threads}t.svg")
            paths[-1].write_text(draw(results, kernel, threads, cases))
    return paths
