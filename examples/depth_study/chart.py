# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Draws curves as SVG, with nothing but Python: panels beside each other, one legend below. Lines and letters are dark on
# light pages and light on dark ones; the page shines through.

import dataclasses
import html
import math

PANEL, LEFT, RIGHT, TOP, BOTTOM, LINE = (350, 240), 58, 14, 48, 44, 18
STYLE = """
  text { font: 12px sans-serif; fill: #1f2937 }
  .title { font-weight: 600 }
  .grid { stroke: #d1d5db; fill: none }
  .axis { stroke: #1f2937; fill: none }
  @media (prefers-color-scheme: dark) { text { fill: #e5e7eb } .grid { stroke: #4b5563 } .axis { stroke: #e5e7eb } }
"""
# The shapes of marks, around 0, 0: curves differ in shape too, not in colour alone.
MARKS = {"circle": "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", "square": "M-3.5 -3.5h7v7h-7z", "up": "M0 -4.5l4.5 8h-9z",
         "down": "M0 4.5l4.5 -8h-9z", "diamond": "M0 -5l4.5 5l-4.5 5l-4.5 -5z", "cross": "M-4 -4L4 4M4 -4L-4 4"}


@dataclasses.dataclass
class Curve:
    """Points (x, y, lowest, highest); a bar goes from the lowest to the highest where these differ."""
    title: str
    colour: str
    mark: str
    points: list
    dashes: str = ""


@dataclasses.dataclass
class Axis:
    label: str
    low: float
    high: float
    ticks: list  # of (value, text)
    logarithmic: bool = False

    def place(self, value):
        """0 at the low end, 1 at the high one; what lies beyond an end stands at it."""
        turn = math.log if self.logarithmic else float
        if not value > (0 if self.logarithmic else -math.inf):
            return 0
        if math.isinf(value):
            return 1
        return min(1, max(0, (turn(value) - turn(self.low)) / (turn(self.high) - turn(self.low))))


def text(x, y, words, anchor="start", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{html.escape(words)}</text>'


def draw_axes(left, title, x, y):
    width, height = PANEL
    yield text(left + width / 2, TOP - 12, title, "middle", ' class="title"')
    for value, words in y.ticks:
        at = TOP + height * (1 - y.place(value))
        yield f'<path class="grid" d="M{left} {at:.1f}h{width}"/>' + text(left - 6, at + 4, words, "end")
    for value, words in x.ticks:
        at = left + width * x.place(value)
        yield f'<path class="axis" d="M{at:.1f} {TOP + height}v4"/>' + text(at, TOP + height + 17, words, "middle")
    yield f'<path class="axis" d="M{left} {TOP}v{height}h{width}"/>'
    yield text(left + width / 2, TOP + height + 36, x.label, "middle")
    yield text(0, 0, y.label, "middle", f' transform="translate({left - 44} {TOP + height / 2}) rotate(-90)"')


def draw_mark(curve, x, y):
    fill = "none" if curve.mark == "cross" else curve.colour
    return f'<path d="{MARKS[curve.mark]}" transform="translate({x:.1f} {y:.1f})" fill="{fill}" stroke="{curve.colour}"/>'


def draw_line(curve, places):
    dashes = f' stroke-dasharray="{curve.dashes}"' if curve.dashes else ""
    return f'<polyline fill="none" stroke="{curve.colour}" stroke-width="1.5"{dashes} points="{places}"/>'


def draw_curve(left, curve, x, y, every):
    width, height = PANEL
    at = lambda value, other: (left + width * x.place(value), TOP + height * (1 - y.place(other)))
    yield draw_line(curve, " ".join("{:.1f},{:.1f}".format(*at(point[0], point[1])) for point in curve.points))
    for index, (value, middle, low, high) in enumerate(curve.points):
        if low != high:
            (place, bottom), (_, top) = at(value, low), at(value, high)
            yield f'<path stroke="{curve.colour}" d="M{place:.1f} {bottom:.1f}V{top:.1f}"/>'
        if index % every == 0 or index == len(curve.points) - 1:
            yield draw_mark(curve, *at(value, middle))


def draw_legend(curves, top, width, columns, note):
    """In the order of the curves; then what bars mean."""
    for index, curve in enumerate(curves):
        left, y = 20 + (index % columns) * (width - 20) / columns, top + (index // columns) * LINE
        yield draw_line(curve, f"{left},{y} {left + 26},{y}") + draw_mark(curve, left + 13, y)
        yield text(left + 34, y + 4, curve.title)
    if note:
        yield text(20, top + -(-len(curves) // columns) * LINE + 4, note)


def draw(path, panels, note, every=1):
    """Panels are (title, x axis, y axis, curves), with equal curves in all. A curve has a mark at one point of `every`."""
    step = LEFT + PANEL[0] + RIGHT
    width, curves = step * len(panels), panels[0][3]
    below = TOP + PANEL[1] + BOTTOM + 14
    # Below one panel there is room for one title.
    columns = min(2, len(panels))
    height = below + (-(-len(curves) // columns) + bool(note)) * LINE
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">',
             f"<style>{STYLE}</style>"]
    for index, (title, x, y, drawn) in enumerate(panels):
        lines += draw_axes(LEFT + index * step, title, x, y)
        for curve in drawn:
            lines += draw_curve(LEFT + index * step, curve, x, y, every)
    lines += [*draw_legend(curves, below, width, columns, note), "</svg>"]
    path.write_text("\n".join(lines) + "\n")
