// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The column of one stream; see StreamColumn.h.

#include "diagram/StreamColumn.h"

#include "diagram/Metrics.h"
#include "diagram/TextFit.h"

using namespace mlir::resid::diagram;
using namespace mlir::resid::diagram::metrics;

namespace {

/// Goes down a stream; `y` is where the next thing begins.
class Column {
public:
  Column(Point corner, int width, std::vector<Shape> &shapes)
      : left(corner.x), width(width), y(corner.y), shapes(shapes) {}

  int draw(const Stream &stream);

private:
  int getStreamX() const { return left + streamX; }
  int getBranchX() const { return left + branchX; }

  void drawElement(const SubLayer &layer);
  void drawElement(const Part &part);
  void drawElement(const LoopBegin &begin);
  void drawElement(const LoopEnd &end);
  void drawElement(const Tap &tap);

  int drawBox(const Part &part, int middle, int top, int width = boxWidth);
  void drawOnStream(const Part &part);
  int drawBranch(const SubLayer &layer);
  void drawMemory(const std::string &memory, int middle);
  void drawStream(size_t place, int top);
  void label(std::string style, Point place, const std::string &text, const std::string &textStyle,
             Anchor anchor = Anchor::Middle);

  int left, width, y;
  std::vector<Shape> &shapes;
  /// The loops around the present element: where their frames stand among the shapes, and their upper edges.
  std::vector<std::pair<size_t, int>> loops;
};

} // namespace

static const char *getStyle(PartKind kind) {
  switch (kind) {
  case PartKind::Source:
    return "source";
  case PartKind::Norm:
    return "norm";
  case PartKind::Branch:
    return "branch";
  case PartKind::Dropout:
    return "dropout";
  case PartKind::Scale:
    return "scale";
  }
  return "";
}

/// Draws a box whose upper edge is at `top` and returns its lower edge.
int Column::drawBox(const Part &part, int middle, int top, int width) {
  unsigned letters = width == boxWidth ? titleLength : titleLength * width / boxWidth;
  Shape box{ShapeKind::Box, getStyle(part.kind), {}};
  int line = top + boxPadding - 3;
  auto add = [&](const FittedText &fitted, int height, const char *style) {
    for (const std::string &text : fitted.lines)
      box.texts.push_back({{middle, line += height}, text, style});
    return fitted.isCut;
  };
  bool isCut = add(fitText(part.title, letters, titleLines), titleHeight, "title");
  if (!part.details.empty())
    isCut |= add(fitText(part.details, detailLength, detailLines), detailHeight, "detail");
  if (isCut)
    box.tooltip = part.title + (part.details.empty() ? "" : ": " + part.details);
  int bottom = line + boxPadding;
  box.points = {{middle - width / 2, top}, {middle + width / 2, bottom}};
  shapes.push_back(std::move(box));
  return bottom;
}

void Column::label(std::string style, Point place, const std::string &text, const std::string &textStyle,
                   Anchor anchor) {
  shapes.push_back({ShapeKind::Label, std::move(style), {}, {{place, text, textStyle, anchor}}});
}

void Column::drawOnStream(const Part &part) { y = drawBox(part, getStreamX(), y, boxWidth) + gap; }

/// What the branch attends to comes in from the right.
void Column::drawMemory(const std::string &memory, int middle) {
  int right = getBranchX() + boxWidth / 2;
  FittedText fitted = fitText(memory, memoryLength, 1);
  int begin = right + memoryGap;
  Shape box{ShapeKind::Box, "memory", {{begin, middle - 12}, {begin + memoryWidth - memoryGap - 6, middle + 12}}};
  box.texts.push_back({{begin + (memoryWidth - memoryGap - 6) / 2, middle + 4}, fitted.lines.front(), "detail"});
  if (fitted.isCut)
    box.tooltip = memory;
  shapes.push_back(std::move(box));
  shapes.push_back({ShapeKind::Arrow, "wire", {{begin, middle}, {right, middle}}});
}

/// Draws the branch from `y` down, and returns its lower end.
int Column::drawBranch(const SubLayer &layer) {
  int x = getBranchX(), end = y + gap;
  if (layer.readsStream) {
    shapes.push_back({ShapeKind::Dot, "tap", {{getStreamX(), y}}});
    shapes.push_back({ShapeKind::Arrow, "wire", {{getStreamX(), y}, {x, y}, {x, end}}});
  }
  for (const Part &part : layer.branch) {
    if (&part != &layer.branch.front())
      shapes.push_back({ShapeKind::Arrow, "wire", {{x, end}, {x, end + gap}}});
    int top = &part == &layer.branch.front() ? end : end + gap;
    end = drawBox(part, x, top);
    if (part.kind == PartKind::Branch && !layer.memory.empty())
      drawMemory(layer.memory, (top + end) / 2);
  }
  return end;
}

void Column::drawElement(const SubLayer &layer) {
  if (layer.beforeSubLayer)
    drawOnStream(*layer.beforeSubLayer);
  int top = y, x = getStreamX();
  int sum = drawBranch(layer) + gap;
  if (layer.skipScale)
    drawBox(*layer.skipScale, x, (top + sum) / 2 - 14, skipBoxWidth);
  if (!layer.placement.empty())
    label("placement", {x - (layer.skipScale ? skipBoxWidth / 2 + 6 : 10), (top + sum) / 2 + 4}, layer.placement,
          "note", Anchor::End);
  shapes.push_back({ShapeKind::Arrow, "wire", {{getBranchX(), sum - gap}, {getBranchX(), sum}, {x + sumRadius, sum}}});
  shapes.push_back({ShapeKind::Sum, "add", {{x, sum}}});
  y = sum + sumRadius + gap;
  if (layer.afterAdd)
    drawOnStream(*layer.afterAdd);
}

void Column::drawElement(const Part &part) { drawOnStream(part); }

void Column::drawElement(const LoopBegin &begin) {
  int inset = 4 + 5 * static_cast<int>(loops.size());
  loops.emplace_back(shapes.size(), y);
  shapes.push_back({ShapeKind::Box, "loop", {{left + inset, y}, {}}});
  label("loop", {left + inset + 8, y + 15}, begin.label, "note", Anchor::Start);
  y += 2 * gap;
}

void Column::drawElement(const LoopEnd &) {
  auto [frame, top] = loops.back();
  loops.pop_back();
  int inset = 4 + 5 * static_cast<int>(loops.size());
  shapes[frame].points[1] = {left + width - inset, y};
  y += gap;
}

void Column::drawElement(const Tap &tap) {
  FittedText fitted = fitText(tap.readers, tapLength, 1);
  int end = left + 14;
  shapes.push_back({ShapeKind::Dot, "tap", {{getStreamX(), y}}});
  shapes.push_back({ShapeKind::Arrow, "wire", {{getStreamX(), y}, {end, y}}});
  label("tap", {end, y - 5}, fitted.lines.front(), "detail", Anchor::Start);
  if (fitted.isCut)
    shapes.back().tooltip = tap.readers;
  y += gap;
}

/// The stream itself, behind everything that was drawn since `place`.
void Column::drawStream(size_t place, int top) {
  shapes.insert(shapes.begin() + place, {ShapeKind::Arrow, "stream", {{getStreamX(), top}, {getStreamX(), y}}});
}

int Column::draw(const Stream &stream) {
  label("entry", {getStreamX(), y += 12}, fitText(stream.entry, titleLength, 1).lines.front(), "title");
  label("entry", {getStreamX(), y += detailHeight}, fitText(stream.type, detailLength, 1).lines.front(), "detail");
  int top = y += 6;
  size_t place = shapes.size();
  y += gap;
  for (const Element &element : stream.elements)
    std::visit([&](const auto &value) { drawElement(value); }, element);
  y += 6;
  drawStream(place, top);
  label("exit", {getStreamX(), y += 15},
        fitText(stream.exit.empty() ? "unused" : stream.exit, titleLength, 1).lines.front(), "title");
  return y + 6;
}

int mlir::resid::diagram::getColumnWidth(const Stream &stream) {
  for (const Element &element : stream.elements)
    if (auto *layer = std::get_if<SubLayer>(&element); layer && !layer->memory.empty())
      return columnWidth + memoryWidth;
  return columnWidth;
}

int mlir::resid::diagram::layOutStream(const Stream &stream, Point corner, std::vector<Shape> &shapes) {
  return Column(corner, getColumnWidth(stream), shapes).draw(stream);
}
