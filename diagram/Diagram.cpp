// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Diagram.h. Owns how a scene becomes SVG: one file, generic fonts, colours for light and dark pages.

#include "diagram/Diagram.h"

#include "diagram/Layout.h"
#include "diagram/Metrics.h"
#include "diagram/Scene.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

using namespace mlir;
using namespace mlir::resid;
using namespace llvm;
using namespace mlir::resid::diagram;

/// Every rule begins with .resid, so that a page that holds the drawing inline keeps its own style.
static const char *const styleSheet = R"(  <style>
    .resid text { font-family: sans-serif; font-size: 12.5px; fill: #1f2328; }
    .resid .name, .resid .detail { font-family: monospace; }
    .resid .name { font-size: 14px; font-weight: bold; }
    .resid .detail { font-size: 10.5px; fill: #57606a; }
    .resid .note { font-size: 11.5px; font-style: italic; fill: #57606a; }
    .resid .wire, .resid .stream, .resid .add { fill: none; stroke: #57606a; stroke-width: 1.5; }
    .resid .stream { stroke: #0969da; stroke-width: 3; }
    .resid .add { fill: #ffffff; }
    .resid .head { fill: #57606a; }
    .resid .stream-head, .resid .tap { fill: #0969da; }
    .resid rect { stroke-width: 1.2; }
    .resid .card { fill: #ffffff; stroke: #d0d7de; }
    .resid .loop { fill: none; stroke: #57606a; stroke-dasharray: 5 4; }
    .resid .repeat { fill: none; stroke: #57606a; }
    .resid .norm { fill: #ddf4ff; stroke: #0969da; }
    .resid .branch { fill: #fff4d1; stroke: #9a6700; }
    .resid .dropout { fill: #ffebe9; stroke: #cf222e; stroke-dasharray: 4 2; }
    .resid .scale { fill: #fbefff; stroke: #8250df; }
    .resid .memory, .resid .source { fill: #dafbe1; stroke: #1a7f37; }
    @media (prefers-color-scheme: dark) {
      .resid text { fill: #e6edf3; }
      .resid .detail, .resid .note { fill: #9da7b3; }
      .resid .wire, .resid .add, .resid .loop, .resid .repeat { stroke: #9da7b3; }
      .resid .stream { stroke: #58a6ff; }
      .resid .head { fill: #9da7b3; }
      .resid .stream-head, .resid .tap { fill: #58a6ff; }
      .resid .card, .resid .add { fill: #0d1117; }
      .resid .card { stroke: #3d444d; }
      .resid .norm { fill: #0c2d6b; stroke: #58a6ff; }
      .resid .branch { fill: #3b2a07; stroke: #d29922; }
      .resid .dropout { fill: #4a1210; stroke: #f85149; }
      .resid .scale { fill: #2c1a4d; stroke: #bc8cff; }
      .resid .memory, .resid .source { fill: #0f3d1d; stroke: #3fb950; }
    }
  </style>
)";

/// Text for XML: its five signs as entities, characters that XML has no place for (control characters, broken UTF-8)
/// as the replacement character.
static std::string escape(StringRef text) {
  std::string result;
  auto *end = reinterpret_cast<const UTF8 *>(text.end());
  for (size_t i = 0; i < text.size();) {
    auto *begin = reinterpret_cast<const UTF8 *>(text.data()) + i;
    size_t bytes = isLegalUTF8Sequence(begin, end) ? getNumBytesForUTF8(*begin) : 0;
    StringRef character = text.substr(i, bytes ? bytes : 1);
    bool isControl = bytes == 1 && (character.front() < ' ' || character.front() == '\x7f');
    bool isNoCharacter = character == "\xef\xbf\xbe" || character == "\xef\xbf\xbf";
    if (!bytes || isControl || isNoCharacter)
      result += "\xef\xbf\xbd";
    else if (bytes == 1)
      raw_string_ostream(result) << (character == "&"    ? "&amp;"
                                     : character == "<"  ? "&lt;"
                                     : character == ">"  ? "&gt;"
                                     : character == "\"" ? "&quot;"
                                     : character == "'"  ? "&apos;"
                                                         : character);
    else
      result += character;
    i += character.size();
  }
  return result;
}

static StringRef getName(Anchor anchor) {
  return anchor == Anchor::Start ? "start" : anchor == Anchor::End ? "end" : "middle";
}

static void writeText(const Text &text, raw_ostream &stream) {
  stream << "<text class=\"" << text.style << "\" x=\"" << text.place.x << "\" y=\"" << text.place.y
         << "\" text-anchor=\"" << getName(text.anchor) << "\">" << escape(text.text) << "</text>";
}

static void writeBox(const Shape &shape, raw_ostream &stream) {
  Point from = shape.points[0], to = shape.points[1];
  stream << "<rect class=\"" << shape.style << "\" x=\"" << from.x << "\" y=\"" << from.y << "\" width=\""
         << to.x - from.x << "\" height=\"" << to.y - from.y << "\" rx=\"6\"/>";
}

static void writeWire(const Shape &shape, raw_ostream &stream) {
  stream << "<polyline class=\"" << shape.style << "\" points=\"";
  interleave(
      shape.points, stream, [&](Point point) { stream << point.x << "," << point.y; }, " ");
  stream << "\"/>";
}

/// The head of an arrow at the last point, which it reaches along an axis.
static void writeHead(const Shape &shape, raw_ostream &stream) {
  Point tip = shape.points.back(), before = shape.points[shape.points.size() - 2];
  auto sign = [](int value) { return (value > 0) - (value < 0); };
  int dx = sign(tip.x - before.x), dy = sign(tip.y - before.y);
  bool isStream = shape.style == "stream";
  int length = isStream ? 10 : 7, half = isStream ? 6 : 4;
  Point back{tip.x - dx * length, tip.y - dy * length};
  stream << "<polygon class=\"" << (isStream ? "stream-head" : "head") << "\" points=\"" << tip.x << "," << tip.y << " "
         << back.x + dy * half << "," << back.y + dx * half << " " << back.x - dy * half << "," << back.y - dx * half
         << "\"/>";
}

static void writeSum(const Shape &shape, raw_ostream &stream) {
  auto [x, y] = shape.points.front();
  int arm = metrics::sumRadius - 4;
  stream << "<circle class=\"add\" cx=\"" << x << "\" cy=\"" << y << "\" r=\"" << metrics::sumRadius << "\"/>"
         << "<path class=\"add\" d=\"M" << x - arm << "," << y << "h" << 2 * arm << "M" << x << "," << y - arm << "v"
         << 2 * arm << "\"/>";
}

static void writeShape(const Shape &shape, raw_ostream &stream) {
  switch (shape.kind) {
  case ShapeKind::Box:
    return writeBox(shape, stream);
  case ShapeKind::Wire:
    return writeWire(shape, stream);
  case ShapeKind::Arrow:
    writeWire(shape, stream);
    return writeHead(shape, stream);
  case ShapeKind::Dot:
    stream << "<circle class=\"tap\" cx=\"" << shape.points.front().x << "\" cy=\"" << shape.points.front().y
           << "\" r=\"4\"/>";
    return;
  case ShapeKind::Sum:
    return writeSum(shape, stream);
  case ShapeKind::Label:
    return;
  }
}

static void writeSVG(const Scene &scene, raw_ostream &stream) {
  stream << "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"resid\" role=\"img\" width=\"" << scene.width
         << "\" height=\"" << scene.height << "\" viewBox=\"0 0 " << scene.width << " " << scene.height << "\">\n"
         << "  <title>" << escape(scene.title) << "</title>\n"
         << styleSheet;
  for (const Shape &shape : scene.shapes) {
    stream << "  <g>";
    if (!shape.tooltip.empty())
      stream << "<title>" << escape(shape.tooltip) << "</title>";
    writeShape(shape, stream);
    for (const Text &text : shape.texts)
      writeText(text, stream);
    stream << "</g>\n";
  }
  stream << "</svg>\n";
}

void resid::drawStreams(ModuleOp module, llvm::raw_ostream &stream) {
  std::vector<diagram::FunctionDrawing> functions;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      functions.push_back(diagram::readStreams(function));
  writeSVG(diagram::layOut(functions), stream);
}
