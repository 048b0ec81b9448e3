// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a layout hands to a writer: shapes with coordinates in the order they are drawn. Knows neither programs nor the
// output format.

#ifndef RESID_DIAGRAM_SCENE_H
#define RESID_DIAGRAM_SCENE_H

#include <string>
#include <vector>

namespace mlir::resid::diagram {

struct Point {
  int x, y;
};

enum class Anchor { Start, Middle, End };

/// One line of text; `style` is a class of the style sheet.
struct Text {
  Point place;
  std::string text, style;
  Anchor anchor = Anchor::Middle;
};

enum class ShapeKind {
  Box,   ///< a rounded rectangle with its texts
  Wire,  ///< a line through points
  Arrow, ///< a wire with a head at its last point
  Dot,   ///< where a wire leaves the stream
  Sum,   ///< a residual add
  Label, ///< texts alone
};

struct Shape {
  ShapeKind kind;
  std::string style;
  /// A box: two corners. A dot, a sum: the middle.
  std::vector<Point> points;
  std::vector<Text> texts = {};
  /// The full words where the texts are cut.
  std::string tooltip = {};
};

struct Scene {
  int width = 0, height = 0;
  std::string title;
  std::vector<Shape> shapes;
};

} // namespace mlir::resid::diagram

#endif // RESID_DIAGRAM_SCENE_H
