// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "diagram/Layout.h"

#include "diagram/Metrics.h"
#include "diagram/StreamColumn.h"
#include "diagram/TextFit.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace mlir::resid::diagram;
using namespace mlir::resid::diagram::metrics;

namespace {
/// A function as it is drawn with its upper left corner at 0, 0. The first shape is its card.
struct Panel {
  std::vector<Shape> shapes;
  int width = 0, height = 0;
};
} // namespace

/// The width of the smallest page, three quarters as high as it is wide, that holds something.
static int getPageWidth(int width, int height) { return std::max(width, height * 4 / 3); }

static int getWidth(const std::vector<StreamPlan> &plans) {
  int width = 0;
  for (const StreamPlan &plan : plans)
    width += plan.getWidth();
  return width;
}

/// Cuts the streams of a panel into columns of at most `height`, and returns how many the longest has then.
static size_t cut(std::vector<StreamPlan> &plans, int height) {
  size_t columns = 0;
  for (StreamPlan &plan : plans) {
    plan.cut(height);
    columns = std::max(columns, plan.getColumns());
  }
  return columns;
}

/// The lowest height at which no stream has more than `columns` columns.
static int findHeight(std::vector<StreamPlan> &plans, size_t columns, int lowest, int highest) {
  while (lowest < highest) {
    int middle = lowest + (highest - lowest) / 2;
    if (cut(plans, middle) <= columns)
      highest = middle;
    else
      lowest = middle + 1;
  }
  return lowest;
}

/// Cuts streams that are too long for one column so that the panel fits a page that is as small as possible.
static std::vector<StreamPlan> planStreams(const FunctionDrawing &function) {
  std::vector<StreamPlan> plans(function.streams.begin(), function.streams.end());
  int length = 0, highest = 1;
  for (const StreamPlan &plan : plans) {
    length = std::max(length, plan.getLength());
    highest = std::max(highest, plan.getHighest());
  }
  if (length <= leastColumnHeight)
    return plans;
  int best = length, bestPage = getPageWidth(getWidth(plans), length);
  for (size_t columns = 2;; ++columns) {
    int height = findHeight(plans, columns, highest, length);
    cut(plans, height);
    int page = getPageWidth(getWidth(plans), height);
    if (page < bestPage) {
      best = height;
      bestPage = page;
    }
    if (getWidth(plans) > height * 4 / 3 || height == highest)
      break;
  }
  cut(plans, best);
  return plans;
}

static Panel drawPanel(const FunctionDrawing &function) {
  std::vector<StreamPlan> plans = planStreams(function);
  Panel panel;
  panel.width = std::max(getWidth(plans), measureColumn({}).width) + 2 * panelPadding;
  panel.shapes.push_back({ShapeKind::Box, "card", {{0, 0}, {}}});
  std::string title = "@" + function.name;
  FittedText name = fitText(title, "name", panel.width - 2 * (panelPadding + 4), 1);
  panel.shapes.push_back({ShapeKind::Label,
                          "function",
                          {},
                          {{{panelPadding + 4, 22}, name.lines.front(), "name", Anchor::Start}},
                          name.isCut ? title : ""});
  int x = panelPadding, bottom = headerHeight;
  for (const StreamPlan &plan : plans) {
    bottom = std::max(bottom, layOutStream(plan, {x, headerHeight}, panel.shapes));
    x += plan.getWidth();
  }
  if (plans.empty())
    panel.shapes.push_back({ShapeKind::Label,
                            "empty",
                            {},
                            {{{panel.width / 2, bottom += 24}, "no residual stream", "note", Anchor::Middle}}});
  panel.height = bottom + panelPadding;
  panel.shapes.front().points[1] = {panel.width, panel.height};
  return panel;
}

namespace {
/// Where each panel stands, if none stands further right than a limit. Panels stand in rows; what is left in a row
/// below a lower panel holds the next ones, if they fit.
struct Page {
  Page(const std::vector<Panel> &panels, int limit);
  std::vector<Point> corners;
  int width = 0, height = panelGap;

private:
  void add(const Panel &panel, int limit);
  /// The row: its upper edge. In it, the last column of panels: its edges but the upper one.
  int top = panelGap, left = panelGap, right = panelGap, bottom = panelGap;
};
} // namespace

Page::Page(const std::vector<Panel> &panels, int limit) {
  for (const Panel &panel : panels)
    add(panel, limit);
}

void Page::add(const Panel &panel, int limit) {
  bool fitsBelow = bottom > top && bottom + panel.height + panelGap <= height && left + panel.width + panelGap <= right;
  if (!fitsBelow) {
    left = right;
    bottom = top;
    if (left > panelGap && left + panel.width + panelGap > limit) {
      left = right = panelGap;
      top = bottom = height;
    }
  }
  corners.push_back({left, bottom});
  bottom += panel.height + panelGap;
  right = std::max(right, left + panel.width + panelGap);
  width = std::max(width, right);
  height = std::max(height, bottom);
}

/// Of all widths, the one whose page is smallest.
static Page arrange(const std::vector<Panel> &panels) {
  // More panels than these in one row are no drawing that somebody reads.
  constexpr size_t mostInRow = 32;
  Page best(panels, /*limit=*/0);
  int limit = panelGap;
  for (const Panel &panel : llvm::ArrayRef(panels).take_front(mostInRow)) {
    limit += panel.width + panelGap;
    Page page(panels, limit);
    if (getPageWidth(page.width, page.height) < getPageWidth(best.width, best.height))
      best = page;
  }
  return best;
}

static void append(Panel panel, Point corner, std::vector<Shape> &shapes) {
  auto move = [&](Point &point) { point = {point.x + corner.x, point.y + corner.y}; };
  for (Shape &shape : panel.shapes) {
    llvm::for_each(shape.points, move);
    for (Text &text : shape.texts)
      move(text.place);
    shapes.push_back(std::move(shape));
  }
}

Scene mlir::resid::diagram::layOut(const std::vector<FunctionDrawing> &functions) {
  Scene scene;
  if (functions.empty()) {
    scene = {240, 60, "no public function", {}};
    scene.shapes.push_back({ShapeKind::Label, "empty", {}, {{{120, 34}, scene.title, "note"}}});
    return scene;
  }
  std::vector<Panel> panels;
  for (const FunctionDrawing &function : functions) {
    scene.title += (panels.empty() ? "residual streams of @" : ", @") + function.name;
    panels.push_back(drawPanel(function));
  }
  Page page = arrange(panels);
  for (auto [panel, corner] : llvm::zip_equal(panels, page.corners))
    append(std::move(panel), corner, scene.shapes);
  scene.width = page.width;
  scene.height = page.height;
  return scene;
}
