// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is drawn of a program: its residual streams as lists of sub-layers, norms and loops, with their labels. Knows no
// coordinates (Layout) and no output format (SVG).

#ifndef RESID_DIAGRAM_STREAM_H
#define RESID_DIAGRAM_STREAM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace mlir::resid::diagram {

enum class PartKind { Source, Norm, Branch, Dropout, Scale, Connection };

/// One box. `details` says what else belongs to it, parameters first.
struct Part {
  PartKind kind;
  std::string title;
  std::string details = {};
};

/// One residual add with its branch. The parts follow the formula of NormPosition (dialect/Placement.h).
struct SubLayer {
  /// The placement of a block; empty for a flat add.
  std::string placement;
  /// On the stream, before the branch leaves it.
  std::optional<Part> beforeSubLayer;
  /// From where the branch leaves the stream, or from a Source, to the add.
  std::vector<Part> branch;
  /// Whether the branch reads the stream.
  bool readsStream = true;
  /// What the branch attends to beside the stream; empty if nothing.
  std::string memory;
  /// On the stream, beside the branch.
  std::optional<Part> skipScale;
  /// On the stream, after the add.
  std::optional<Part> afterAdd;
  /// How many residual streams there are, and where there are several, what reads and writes them.
  int streams = 1;
  std::optional<Part> read, write;
};

/// What makes one row of several streams after the last sub-layer.
struct Head {
  Part read;
  int streams;
};

struct LoopBegin {
  std::string label;
  /// Whether this is a loop of the program; else it stands for equal layers that the program has one by one.
  bool isWritten = true;
};
struct LoopEnd {};

/// Others that read the stream here.
struct Tap {
  std::string readers;
};

using Element = std::variant<SubLayer, Part, LoopBegin, LoopEnd, Tap, Head>;

/// One residual stream, from where it enters to where it leaves.
struct Stream {
  std::string entry, type, exit;
  std::vector<Element> elements;
};

struct FunctionDrawing {
  std::string name;
  std::vector<Stream> streams;
};

/// The residual streams of a function, the order being that of the program. Streams inside of branches are not drawn.
FunctionDrawing readStreams(func::FuncOp function);

} // namespace mlir::resid::diagram

#endif // RESID_DIAGRAM_STREAM_H
