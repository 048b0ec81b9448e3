// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Panels; see Layout.h.

#include "diagram/Layout.h"

#include "diagram/Metrics.h"
#include "diagram/StreamColumn.h"
#include "diagram/TextFit.h"
#include <algorithm>

using namespace mlir::resid::diagram;
using namespace mlir::resid::diagram::metrics;

static int getPanelWidth(const FunctionDrawing &function) {
  int width = 0;
  for (const Stream &stream : function.streams)
    width += getColumnWidth(stream);
  return std::max(width, columnWidth) + 2 * panelPadding;
}

/// Draws a panel and returns its lower edge.
static int drawPanel(const FunctionDrawing &function, Point corner, std::vector<Shape> &shapes) {
  size_t card = shapes.size();
  int width = getPanelWidth(function);
  shapes.push_back({ShapeKind::Box, "card", {corner, {}}});
  FittedText name = fitText("@" + function.name, headerLength, 1);
  shapes.push_back({ShapeKind::Label,
                    "function",
                    {},
                    {{{corner.x + panelPadding + 4, corner.y + 22}, name.lines.front(), "name", Anchor::Start}},
                    name.isCut ? "@" + function.name : ""});
  int x = corner.x + panelPadding, top = corner.y + headerHeight, bottom = top;
  for (const Stream &stream : function.streams) {
    bottom = std::max(bottom, layOutStream(stream, {x, top}, shapes));
    x += getColumnWidth(stream);
  }
  if (function.streams.empty())
    shapes.push_back({ShapeKind::Label,
                      "empty",
                      {},
                      {{{corner.x + width / 2, bottom += 24}, "no residual stream", "note", Anchor::Middle}}});
  bottom += panelPadding;
  shapes[card].points[1] = {corner.x + width, bottom};
  return bottom;
}

Scene mlir::resid::diagram::layOut(const std::vector<FunctionDrawing> &functions) {
  Scene scene;
  scene.title = functions.empty() ? "no public function" : "residual streams of";
  int y = panelGap;
  for (size_t row = 0; row < functions.size(); row += panelsPerRow) {
    int x = panelGap, bottom = y;
    size_t end = std::min(functions.size(), row + panelsPerRow), first = scene.shapes.size();
    for (size_t i = row; i < end; ++i) {
      scene.title += (i ? ", @" : " @") + functions[i].name;
      bottom = std::max(bottom, drawPanel(functions[i], {x, y}, scene.shapes));
      x += getPanelWidth(functions[i]) + panelGap;
    }
    // Panels of one row are equally high.
    for (size_t i = first; i < scene.shapes.size(); ++i)
      if (scene.shapes[i].style == "card")
        scene.shapes[i].points[1].y = bottom;
    scene.width = std::max(scene.width, x);
    y = bottom + panelGap;
  }
  scene.height = y;
  if (functions.empty()) {
    scene.width = 240;
    scene.height = 60;
    scene.shapes.push_back({ShapeKind::Label, "empty", {}, {{{120, 34}, scene.title, "note"}}});
  }
  return scene;
}
