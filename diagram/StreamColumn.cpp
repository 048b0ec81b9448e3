// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "diagram/StreamColumn.h"

#include "diagram/Metrics.h"
#include "diagram/TextFit.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir::resid::diagram;
using namespace mlir::resid::diagram::metrics;

namespace {

/// Goes down a stream; `y` is where the next thing begins.
class Column {
public:
  Column(Point corner, const ColumnSizes &sizes, std::vector<Shape> &shapes)
      : left(corner.x), y(corner.y), sizes(sizes), shapes(shapes) {}

  void beginStream(const Stream &stream);
  /// The lines of `count` streams begin here.
  void continueStream(int count);
  void draw(ArrayRef<Element> elements);
  /// Ends the stream, and returns where.
  int endStream(const Stream &stream);
  /// Leads the stream to the top of the next column, `top`.
  void leadOn(int bottom, int top);
  int getY() const { return y; }

private:
  int getStreamX() const { return left + sizes.streamX; }
  int getBranchX() const { return left + sizes.branchX; }

  void drawElement(const SubLayer &layer);
  void drawElement(const Part &part);
  void drawElement(const LoopBegin &begin);
  void drawElement(const LoopEnd &end);
  void drawElement(const Tap &tap);
  void drawElement(const Head &head);
  void drawConnected(const SubLayer &layer);

  int drawBox(const Part &part, int middle, int top, int width);
  void drawOnStream(const Part &part);
  int drawBranch(const SubLayer &layer, int end);
  void addLine(ShapeKind kind, std::vector<Point> points);
  void addLines(ShapeKind kind, int count, int from, int to);
  void drawMemory(const std::string &memory, int middle);
  void label(std::string style, Point place, const std::string &text, const std::string &textStyle,
             Anchor anchor = Anchor::Middle, int width = 0);

  int left, y;
  const ColumnSizes &sizes;
  std::vector<Shape> &shapes;
  /// From where on there are how many streams, in order, and the place among the shapes of what is drawn behind the
  /// others.
  std::vector<std::pair<int, int>> lines;
  size_t behind = 0;
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
  case PartKind::Connection:
    return "scale";
  }
  return "";
}

/// Draws a box whose upper edge is at `top` and returns its lower edge.
int Column::drawBox(const Part &part, int middle, int top, int width) {
  Shape box{ShapeKind::Box, getStyle(part.kind), {}};
  int line = top + boxPadding - 3, textWidth = width - 2 * boxPadding;
  auto add = [&](const FittedText &fitted, int height, const char *style) {
    for (const std::string &text : fitted.lines)
      box.texts.push_back({{middle, line += height}, text, style});
    return fitted.isCut;
  };
  bool isCut = add(fitText(part.title, "title", textWidth, titleLines), titleHeight, "title");
  if (!part.details.empty())
    isCut |= add(fitText(part.details, "detail", textWidth, detailLines), detailHeight, "detail");
  if (isCut)
    box.tooltip = part.title + (part.details.empty() ? "" : ": " + part.details);
  int bottom = line + boxPadding;
  box.points = {{middle - width / 2, top}, {middle + width / 2, bottom}};
  shapes.push_back(std::move(box));
  return bottom;
}

/// One line of text, which is cut where it would be wider than `width`, if that is given.
void Column::label(std::string style, Point place, const std::string &text, const std::string &textStyle, Anchor anchor,
                   int width) {
  FittedText fitted = width ? fitText(text, textStyle, width, 1) : FittedText{{text}};
  shapes.push_back({ShapeKind::Label,
                    std::move(style),
                    {},
                    {{place, fitted.lines.front(), textStyle, anchor}},
                    fitted.isCut ? text : ""});
}

void Column::drawOnStream(const Part &part) { y = drawBox(part, getStreamX(), y, sizes.boxWidth) + gap; }

/// What the branch attends to comes in from the right.
void Column::drawMemory(const std::string &memory, int middle) {
  int right = getBranchX() + sizes.boxWidth / 2, begin = right + memoryGap, end = begin + sizes.memoryWidth;
  FittedText fitted = fitText(memory, "detail", sizes.memoryWidth - 2 * boxPadding, 1);
  Shape box{ShapeKind::Box, "memory", {{begin, middle - memoryHeight / 2}, {end, middle + memoryHeight / 2}}};
  box.texts.push_back({{(begin + end) / 2, middle + 4}, fitted.lines.front(), "detail"});
  if (fitted.isCut)
    box.tooltip = memory;
  shapes.push_back(std::move(box));
  shapes.push_back({ShapeKind::Arrow, "wire", {{begin, middle}, {right, middle}}});
}

/// Draws the branch from `end` down, and returns its lower end.
int Column::drawBranch(const SubLayer &layer, int end) {
  int x = getBranchX();
  for (const Part &part : layer.branch) {
    if (&part != &layer.branch.front())
      shapes.push_back({ShapeKind::Arrow, "wire", {{x, end}, {x, end + gap}}});
    int top = &part == &layer.branch.front() ? end : end + gap;
    end = drawBox(part, x, top, sizes.boxWidth);
    if (part.kind == PartKind::Branch && !layer.memory.empty())
      drawMemory(layer.memory, (top + end) / 2);
  }
  return end;
}

void Column::drawElement(const SubLayer &layer) {
  if (layer.beforeSubLayer)
    drawOnStream(*layer.beforeSubLayer);
  if (layer.streams > 1)
    return drawConnected(layer);
  int top = y, x = getStreamX();
  if (layer.readsStream) {
    shapes.push_back({ShapeKind::Dot, "tap", {{x, y}}});
    shapes.push_back({ShapeKind::Arrow, "wire", {{x, y}, {getBranchX(), y}, {getBranchX(), y + gap}}});
  }
  int sum = drawBranch(layer, y + gap) + gap;
  if (layer.skipScale)
    drawBox(*layer.skipScale, x, (top + sum) / 2 - 14, getSkipBoxWidth(*layer.skipScale));
  if (!layer.placement.empty())
    label("placement", {x - getNoteDistance(layer), (top + sum) / 2 + 4}, layer.placement, "note", Anchor::End);
  shapes.push_back({ShapeKind::Arrow, "wire", {{getBranchX(), sum - gap}, {getBranchX(), sum}, {x + sumRadius, sum}}});
  shapes.push_back({ShapeKind::Sum, "add", {{x, sum}}});
  y = sum + sumRadius + gap;
  if (layer.afterAdd)
    drawOnStream(*layer.afterAdd);
}

/// A box across all streams reads them, and one writes them.
void Column::drawConnected(const SubLayer &layer) {
  int x = getStreamX(), side = x + sizes.boxWidth / 2, top = y;
  int bottom = drawBox(*layer.read, x, top, sizes.boxWidth), middle = (top + bottom) / 2;
  int begin = std::max(bottom, middle + gap);
  if (layer.readsStream)
    shapes.push_back({ShapeKind::Arrow, "wire", {{side, middle}, {getBranchX(), middle}, {getBranchX(), begin}}});
  int end = drawBranch(layer, begin), writeTop = end + gap;
  label("placement", {x - getNoteDistance(layer), (bottom + writeTop) / 2 + 4}, layer.placement, "note", Anchor::End);
  bottom = drawBox(*layer.write, x, writeTop, sizes.boxWidth);
  middle = (writeTop + bottom) / 2;
  shapes.push_back({ShapeKind::Arrow, "wire", {{getBranchX(), end}, {getBranchX(), middle}, {side, middle}}});
  y = bottom + gap;
}

void Column::drawElement(const Head &head) {
  int top = y;
  drawOnStream(head.read);
  lines.emplace_back((top + y - gap) / 2, 1);
}

void Column::drawElement(const Part &part) { drawOnStream(part); }

void Column::drawElement(const LoopBegin &begin) {
  int inset = frameMargin + frameStep * static_cast<int>(loops.size());
  loops.emplace_back(shapes.size(), y);
  const char *style = begin.isWritten ? "loop" : "repeat";
  shapes.push_back({ShapeKind::Box, style, {{left + inset, y}, {}}});
  label(style, {left + inset + boxPadding, y + 15}, begin.label, "note", Anchor::Start);
  y += 2 * gap;
}

void Column::drawElement(const LoopEnd &) {
  auto [frame, top] = loops.back();
  loops.pop_back();
  int inset = frameMargin + frameStep * static_cast<int>(loops.size());
  shapes[frame].points[1] = {left + sizes.width - inset, y};
  y += gap;
}

void Column::drawElement(const Tap &tap) {
  y += gap / 2;
  int end = left + frameMargin + frameStep * static_cast<int>(loops.size()) + 6;
  shapes.push_back({ShapeKind::Dot, "tap", {{getStreamX(), y}}});
  shapes.push_back({ShapeKind::Arrow, "wire", {{getStreamX(), y}, {end, y}}});
  label("tap", {end, y - 5}, tap.readers, "detail", Anchor::Start, getStreamX() - end - boxPadding);
  y += gap;
}

/// How many streams lead to the first of `elements`.
static int getStreamCount(ArrayRef<Element> elements) {
  for (const Element &element : elements) {
    if (auto *layer = std::get_if<SubLayer>(&element))
      return layer->streams;
    if (auto *head = std::get_if<Head>(&element))
      return head->streams;
  }
  return 1;
}

void Column::beginStream(const Stream &stream) {
  int width = 2 * (sizes.streamX - frameMargin);
  label("entry", {getStreamX(), y += 12}, stream.entry, "title", Anchor::Middle, width);
  label("entry", {getStreamX(), y += detailHeight}, stream.type, "detail", Anchor::Middle, width);
  y += 6;
  continueStream(getStreamCount(stream.elements));
}

void Column::continueStream(int count) {
  lines = {{y, count}};
  behind = shapes.size();
  y += gap;
}

/// Behind everything that is drawn of the column.
void Column::addLine(ShapeKind kind, std::vector<Point> points) {
  shapes.insert(shapes.begin() + behind, {kind, "stream", std::move(points)});
}

void Column::addLines(ShapeKind kind, int count, int from, int to) {
  for (int index = count - 1; index >= 0; --index) {
    int x = getStreamX() + getStreamOffset(index, count);
    addLine(kind, {{x, from}, {x, to}});
  }
}

void Column::draw(ArrayRef<Element> elements) {
  for (const Element &element : elements)
    std::visit([&](const auto &value) { drawElement(value); }, element);
}

int Column::endStream(const Stream &stream) {
  y += 6;
  for (size_t i = 0; i + 1 < lines.size(); ++i)
    addLines(ShapeKind::Wire, lines[i].second, lines[i].first, lines[i + 1].first);
  addLines(ShapeKind::Arrow, lines.back().second, lines.back().first, y);
  label("exit", {getStreamX(), y += 15}, stream.exit.empty() ? "unused" : stream.exit, "title", Anchor::Middle,
        2 * (sizes.streamX - frameMargin));
  return y + 6;
}

void Column::leadOn(int bottom, int nextTop) {
  for (size_t i = 0; i + 1 < lines.size(); ++i)
    addLines(ShapeKind::Wire, lines[i].second, lines[i].first, lines[i + 1].first);
  auto [top, count] = lines.back();
  for (int index = count - 1; index >= 0; --index) {
    // The line on the left is the outer one of both bends.
    int x = getStreamX() + getStreamOffset(index, count);
    int offset = (count - 1 - 2 * index) * std::min(bundleStep, wrapGap / count) / 2;
    int between = left + sizes.width + wrapGap / 2 + offset, next = x + sizes.width + wrapGap;
    addLine(ShapeKind::Wire, {{x, top},
                              {x, bottom + offset},
                              {between, bottom + offset},
                              {between, nextTop + offset},
                              {next, nextTop + offset}});
  }
}

/// The end of the element at `begin`, or of the whole loop that begins there.
static size_t getUnitEnd(const Stream &stream, size_t begin) {
  int depth = 0;
  do {
    const Element &element = stream.elements[begin++];
    depth += std::holds_alternative<LoopBegin>(element) - std::holds_alternative<LoopEnd>(element);
  } while (depth > 0 && begin < stream.elements.size());
  return begin;
}

StreamPlan::StreamPlan(const Stream &stream) : stream(&stream), sizes(measureColumn(stream)) {
  for (size_t begin = 0, end = 0; begin < stream.elements.size(); begin = end) {
    end = getUnitEnd(stream, begin);
    std::vector<Shape> shapes;
    Column column({0, 0}, sizes, shapes);
    column.draw(ArrayRef(stream.elements).slice(begin, end - begin));
    units.push_back({end, column.getY()});
  }
  ends = {stream.elements.size()};
}

void StreamPlan::cut(int height) {
  ends.clear();
  int used = 0;
  size_t begin = 0;
  for (const Unit &unit : units) {
    if (used && used + unit.height > height) {
      ends.push_back(begin);
      used = 0;
    }
    used += unit.height;
    begin = unit.end;
  }
  ends.push_back(stream->elements.size());
}

int StreamPlan::getLength() const {
  int length = 0;
  for (const Unit &unit : units)
    length += unit.height;
  return length;
}

int StreamPlan::getHighest() const {
  int highest = 0;
  for (const Unit &unit : units)
    highest = std::max(highest, unit.height);
  return highest;
}

int StreamPlan::getWidth() const {
  auto columns = static_cast<int>(ends.size());
  return columns * sizes.width + (columns - 1) * wrapGap;
}

int mlir::resid::diagram::layOutStream(const StreamPlan &plan, Point corner, std::vector<Shape> &shapes) {
  std::vector<Column> columns;
  size_t begin = 0;
  int bottom = corner.y;
  for (size_t end : plan.ends) {
    int offset = static_cast<int>(columns.size()) * (plan.sizes.width + wrapGap);
    Column &column = columns.emplace_back(Point{corner.x + offset, corner.y}, plan.sizes, shapes);
    if (begin == 0)
      column.beginStream(*plan.stream);
    else
      column.continueStream(getStreamCount(ArrayRef(plan.stream->elements).drop_front(begin)));
    column.draw(ArrayRef(plan.stream->elements).slice(begin, end - begin));
    begin = end;
    bottom = std::max(bottom, column.getY());
  }
  bottom = std::max(bottom, columns.back().endStream(*plan.stream));
  // From the last on: each is put behind shapes that come before those of the columns after it.
  for (Column &column : llvm::drop_begin(llvm::reverse(columns)))
    column.leadOn(bottom, corner.y);
  return bottom;
}
