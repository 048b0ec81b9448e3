# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Reads a drawing of residual streams as somebody who looks at it would, by coordinates alone: prints, per panel and per
# stream from top to bottom, what stands on the stream, beside it, and where branches leave and join. Fails if shapes lie
# outside of the image or boxes over each other, if texts are wider than their box, or if a font is not a generic one.
# Argument: the file.

import re
import sys
import xml.etree.ElementTree as tree

SVG = "{http://www.w3.org/2000/svg}"
problems = []


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
        if kind == "loop":
            return y0, "loop begins"
        full = f" <{tooltip.text}>" if tooltip is not None else ""
        return y0, f"{where}: {kind}: {' | '.join(words(group))}{full}"
    if shape.get("class") == "tap":
        return int(shape.get("cy")), "leaves stream"
    if shape.get("class") == "add":
        if int(shape.get("cx")) != stream_x:
            problems.append("an add beside the stream")
        return int(shape.get("cy")), "add"
    return None


def check_geometry(root, width, height):
    boxes = [(rect.get("class"), box_of(rect)) for rect in root.iter(SVG + "rect")]
    frames = ("card", "loop")
    solid = [box for kind, box in boxes if kind not in frames]
    problems.extend(f"{box} outside" for _, box in boxes if not inside(box, (0, 0, width, height)))
    problems.extend(
        f"{left} over {right}" for i, left in enumerate(solid) for right in solid[i + 1 :] if overlap(left, right)
    )
    for kind, box in boxes:
        cards = [card for other, card in boxes if other == "card" and inside(box, card)]
        if kind != "card" and len(cards) != 1:
            problems.append(f"{kind} {box} in {len(cards)} panels")
    for group in root.iter(SVG + "g"):
        rect = group.find(SVG + "rect")
        for text in group.iter(SVG + "text") if rect is not None else ():
            # An average letter is 0.6 em of 12.5 (title) or of 10.5 (detail) pixels wide.
            em = 12.5 if text.get("class") == "title" else 10.5
            x0, _, x1, _ = box_of(rect)
            if len(text.text) * em * 0.6 > x1 - x0 + 12:
                problems.append(f"'{text.text}' wider than its box")


def print_column(column):
    for _, line in sorted(column, key=lambda entry: entry[0]):
        print("  " + line)


def print_outline(root):
    """Every column begins with the label of what enters, whose x is that of the stream."""
    column, stream_x = [], 0
    for group in root.findall(SVG + "g"):
        rect, line, text = (group.find(SVG + tag) for tag in ("rect", "polyline", "text"))
        style = text.get("class") if text is not None and rect is None else ""
        if style == "name" or (style == "title" and int(text.get("x")) != stream_x):
            print_column(column)
            column = []
        if style == "name":
            print("panel", text.text)
            stream_x = 0
            continue
        if style == "title":
            stream_x = int(text.get("x"))
        if line is not None and line.get("class") == "stream" and any(x != stream_x for x, _ in points(line)):
            problems.append("a stream that is not below its label")
        if rect is not None and rect.get("class") == "loop":
            column.append((box_of(rect)[3], "loop ends"))
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
    check_geometry(root, width, height)
    print("title:", root.find(SVG + "title").text)
    print_outline(root)
    print("\n".join("problem: " + problem for problem in problems) or "drawn well")
    return 1 if problems else 0


sys.exit(main(sys.argv[1]))
