# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Draws docs/architecture/layers.json as an SVG: a box per folder, and an arrow from a folder to each one that it may include,
# but for those that another arrow's way covers. Argument: the source folder.

import html
import sys

from layers import layer_of, read_layers

BOX = (226, 46)
GAP = (22, 58)
MARGIN = 24
STYLE = """
  text { font: 13px sans-serif; fill: #1f2328; text-anchor: middle }
  .name { font-weight: 600 }
  .owns { font-size: 11px; fill: #57606a }
  rect { fill: #f6f8fa; stroke: #57606a; rx: 6 }
  path { fill: none; stroke: #8c959f; marker-end: url(#head) }
  marker path { fill: #8c959f; stroke: none; marker-end: none }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .owns { fill: #9198a1 } rect { fill: #161b22; stroke: #9198a1 }
    path { stroke: #6e7681 } marker path { fill: #6e7681 }
  }
"""


def find_arrows(layers):
    """By folder: the other folders that it may include, a folder with those inside of it taken as each of them."""
    arrows = {}
    for folder, layer in layers.items():
        below = set()
        for name in layer["may_include"]:
            below |= {other for other in layers if other == name or other.startswith(name + "/")}
            if name not in layers and layer_of(name + ".h", layers):
                below.add(layer_of(name + ".h", layers))
        arrows[folder] = {other for other in below if other != folder and not folder.startswith(other + "/")}
    return arrows


def reach(arrows, folder):
    """All that can be reached from a folder."""
    found = set()
    for other in arrows[folder]:
        found |= {other} | reach(arrows, other)
    return found


def reduce_arrows(arrows):
    """Leaves out an arrow whose end is reached over another one."""
    return {
        folder: sorted(other for other in below if not any(other in reach(arrows, way) for way in below - {other}))
        for folder, below in arrows.items()
    }


def draw(layers):
    arrows = find_arrows(layers)
    places = {folder: layer["at"] for folder, layer in layers.items()}
    corner = lambda folder: (
        MARGIN + places[folder][1] * (BOX[0] + GAP[0]),
        MARGIN + places[folder][0] * (BOX[1] + GAP[1]),
    )
    width = 2 * MARGIN + max(corner(folder)[0] for folder in layers) - MARGIN + BOX[0]
    height = 2 * MARGIN + max(corner(folder)[1] for folder in layers) - MARGIN + BOX[1]
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" role="img" aria-label="The folders of resid and what each may include">'
    )
    yield f"<style>{STYLE}</style>"
    yield '<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
    yield '<path d="M0 0 L8 4 L0 8 z"/></marker></defs>'
    for folder, below in reduce_arrows(arrows).items():
        x, y = corner(folder)
        for other in below:
            to_x, to_y = corner(other)
            start, end = (x + BOX[0] / 2, y + BOX[1]), (to_x + BOX[0] / 2, to_y - 2)
            bend = (end[1] - start[1]) / 2
            yield (
                f'<path d="M{start[0]:g} {start[1]:g} C{start[0]:g} {start[1] + bend:g} '
                f'{end[0]:g} {end[1] - bend:g} {end[0]:g} {end[1]:g}"/>'
            )
    for folder, layer in layers.items():
        x, y = corner(folder)
        yield f'<rect x="{x:g}" y="{y:g}" width="{BOX[0]}" height="{BOX[1]}"/>'
        yield f'<text class="name" x="{x + BOX[0] / 2:g}" y="{y + 19:g}">{html.escape(folder)}/</text>'
        yield f'<text class="owns" x="{x + BOX[0] / 2:g}" y="{y + 36:g}">{html.escape(layer["owns"])}</text>'
    yield "</svg>"


print("\n".join(draw(read_layers(sys.argv[1]))))
