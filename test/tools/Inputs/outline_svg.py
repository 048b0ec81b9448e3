# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Reads a drawing of residual streams as somebody who looks at it would, by coordinates alone: prints, per panel and per
# stream from top to bottom, what stands on the stream, beside it, and where branches leave and join. Fails if shapes lie
# outside of the image or boxes over each other, if text touches the edge of a box, another text or the stream, if the page
# is a strip, or if a font is not a generic one. Argument: the file.

import re
import sys
import xml.etree.ElementTree as tree

from font_widths import find_font

SVG = "{http://www.w3.org/2000/svg}"
problems = []
FONTS = {"sans-serif": find_font("DejaVuSans"), "monospace": find_font("DejaVuSansMono")}
# Where the fonts are not here: no letter of theirs that names are made of is wider on average.
ESTIMATES = {"sans-serif": 0.6, "monospace": 0.602}


def points(shape):
    return [tuple(map(int, pair.split(","))) for pair in shape.get("points").split()]


def box_of(rect):
    x, y = int(rect.get("x")), int(rect.get("y"))
    return x, y, x + int(rect.get("width")), y + int(rect.get("height"))


def inside(box, outer):
    return outer[0] <= box[0] and outer[1] <= box[1] and box[2] <= outer[2] and box[3] <= outer[3]


def overlap(left, right):
    return left[0] < right[2] and right[0] < left[2] and left[1] < right[3] and right[1] < left[3]


def words(group):
    return [text.text for text in group.iter(SVG + "text")]


def event(group, stream_x):
    """(y, words) of what a group shows on or beside the stream at `stream_x`, or None for lines."""
    shape = next((child for child in group if child.tag not in (SVG + "title", SVG + "text")), None)
    tooltip = group.find(SVG + "title")
    if shape is None:
        text = group.find(SVG + "text")
        return int(text.get("y")), f"{text.get('class')}: {text.text}"
    if shape.tag == SVG + "rect":
        x0, y0, x1, y1 = box_of(shape)
        kind = shape.get("class")
        where = "on stream" if (x0 + x1) // 2 == stream_x else "beside"
        if kind in ("loop", "repeat"):
            return y0, f"{kind} begins"
        full = f" <{tooltip.text}>" if tooltip is not None else ""
        return y0, f"{where}: {kind}: {' | '.join(words(group))}{full}"
    if shape.get("class") == "tap":
        return int(shape.get("cy")), "leaves stream"
    if shape.get("class") == "add":
        if int(shape.get("cx")) != stream_x:
            problems.append("an add beside the stream")
        return int(shape.get("cy")), "add"
    return None


def read_styles(style_sheet):
    """Per class of texts its size in pixels and its font."""
    base = re.search(r"text \{ font-family: ([^;]+); font-size: ([0-9.]+)px", style_sheet)
    styles = {name: [float(base.group(2)), base.group(1)] for name in ("title", "detail", "note", "name")}
    for names, rule in re.findall(r"\n    ([^{\n]+) \{([^}]*)\}", style_sheet):
        for name in re.findall(r"\.resid \.(\w+)", names):
            if name in styles and (size := re.search(r"font-size: ([0-9.]+)px", rule)):
                styles[name][0] = float(size.group(1))
            if name in styles and (family := re.search(r"font-family: ([^;]+);", rule)):
                styles[name][1] = family.group(1)
    return styles


def extent_of(text, styles):
    """What a text covers: from its letters' feet up, four fifths of its size."""
    size, family = styles[text.get("class")]
    font = FONTS[family]
    width = size * (font.width(text.text) if font else len(text.text) * ESTIMATES[family])
    x, y = int(text.get("x")), int(text.get("y"))
    left = x - width * {"start": 0, "middle": 0.5, "end": 1}[text.get("text-anchor")]
    return left, y - 0.8 * size, left + width, y + 0.2 * size


def check_texts(root, boxes, styles):
    """Texts of a box keep a margin from its edges; all keep away from what is not theirs."""
    placed, free = [], []
    cards = [box for kind, box in boxes if kind == "card"]
    for group in root.iter(SVG + "g"):
        rect = group.find(SVG + "rect")
        own = box_of(rect) if rect is not None else None
        for text in group.iter(SVG + "text"):
            extent = extent_of(text, styles)
            placed.append((text.text, extent))
            free += [] if own else placed[-1:]
            outer = [own] if own else cards
            if outer and not any(inside((extent[0] - 4, extent[1] - 2, extent[2] + 4, extent[3] + 2), box) for box in outer):
                problems.append(f"'{text.text}' touches its box")
            for kind, box in boxes:
                edge_only = kind in ("card", "loop", "repeat")
                if box != own and overlap(extent, box) and not (edge_only and inside(extent, box)):
                    problems.append(f"'{text.text}' over a {kind}")
    problems.extend(
        f"'{left}' over '{right}'"
        for i, (left, box) in enumerate(placed)
        for right, other in placed[i + 1 :]
        if overlap(box, other)
    )
    for line in root.iter(SVG + "polyline"):
        if line.get("class") == "stream":
            for (x0, y0), (x1, y1) in zip(points(line), points(line)[1:]):
                way = (min(x0, x1) - 2, min(y0, y1) - 2, max(x0, x1) + 2, max(y0, y1) + 2)
                problems.extend(f"'{text}' over a stream" for text, extent in free if overlap(extent, way))


def check_geometry(root, width, height, styles):
    boxes = [(rect.get("class"), box_of(rect)) for rect in root.iter(SVG + "rect")]
    solid = [box for kind, box in boxes if kind not in ("card", "loop", "repeat")]
    cards = [box for kind, box in boxes if kind == "card"]
    problems.extend(f"{box} outside" for _, box in boxes if not inside(box, (0, 0, width, height)))
    for some in (solid, cards):
        problems.extend(
            f"{left} over {right}" for i, left in enumerate(some) for right in some[i + 1 :] if overlap(left, right)
        )
    for kind, box in boxes:
        if kind != "card" and sum(inside(box, card) for card in cards) != 1:
            problems.append(f"{kind} {box} in no panel, or in two")
    check_texts(root, boxes, styles)
    # One column may be as high as a screen; what is more is to fill a page.
    if not 0.5 < width / height < 2.5 and max(width, height) > 1200:
        problems.append(f"a strip of {width} x {height}")


def print_column(column):
    for _, line in sorted(column, key=lambda entry: entry[0]):
        print("  " + line)


def print_outline(root):
    """Every stream begins with the label of what enters, whose x is that of the stream. A stream line of several parts
    leads to the column beside, which is read on. Of several streams, each that is not in the middle is listed."""
    column, stream_x, next_x = [], 0, []
    for group in root.findall(SVG + "g"):
        rect, line, text = (group.find(SVG + tag) for tag in ("rect", "polyline", "text"))
        style = text.get("class") if text is not None and rect is None else ""
        if style == "name" or (style == "title" and int(text.get("x")) != stream_x):
            print_column(column)
            column, next_x = [], []
        if style == "name":
            print("panel", text.text)
            stream_x = 0
            continue
        if style == "title":
            stream_x = int(text.get("x"))
        if line is not None and line.get("class") == "stream":
            way = points(line)
            # Lines of several streams stand beside each other, within the width of a box.
            offset = way[0][0] - stream_x
            if next_x and not (len(way) > 2 and abs(offset) < 110):
                print_column(column)
                print("  goes on beside")
                column, stream_x = [], next_x.pop()
                offset = way[0][0] - stream_x
            if abs(offset) > 110 or (len(way) == 2 and way[1][0] != way[0][0]):
                problems.append("a stream that is not below its label")
            if offset:
                column.append((way[0][1], "one of several streams"))
            if len(way) > 2:
                next_x = [way[-1][0] - offset]
        if rect is not None and rect.get("class") in ("loop", "repeat"):
            column.append((box_of(rect)[3], rect.get("class") + " ends"))
        if (rect is None or rect.get("class") != "card") and (found := event(group, stream_x)):
            column.append(found)
    print_column(column)


def main(path):
    root = tree.parse(path).getroot()
    width, height = int(root.get("width")), int(root.get("height"))
    if root.get("viewBox") != f"0 0 {width} {height}":
        problems.append("viewBox is not the image")
    fonts = set(re.findall(r"font-family: ([^;]*);", root.find(SVG + "style").text))
    if fonts != {"sans-serif", "monospace"}:
        problems.append(f"fonts {fonts}")
    check_geometry(root, width, height, read_styles(root.find(SVG + "style").text))
    print("title:", root.find(SVG + "title").text)
    print_outline(root)
    print("\n".join("problem: " + problem for problem in problems) or "drawn well")
    return 1 if problems else 0


sys.exit(main(sys.argv[1]))
