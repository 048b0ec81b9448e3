// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The columns of one stream: its elements from top to bottom, and on beside them.

#ifndef RESID_DIAGRAM_STREAMCOLUMN_H
#define RESID_DIAGRAM_STREAMCOLUMN_H

#include "diagram/ColumnSizes.h"
#include "diagram/Scene.h"
#include "diagram/Stream.h"

namespace mlir::resid::diagram {

/// A stream cut into columns. Loops are not cut.
class StreamPlan {
public:
  explicit StreamPlan(const Stream &stream);
  /// Cuts so that no column is higher than `height`, as far as single elements and loops allow it.
  void cut(int height);
  /// How high the stream is in one column, and its highest loop or element.
  int getLength() const;
  int getHighest() const;
  int getWidth() const;
  size_t getColumns() const { return ends.size(); }

private:
  friend int layOutStream(const StreamPlan &plan, Point corner, std::vector<Shape> &shapes);
  struct Unit {
    size_t end;
    int height;
  };
  const Stream *stream;
  ColumnSizes sizes;
  /// What is not cut, and how high it is.
  std::vector<Unit> units;
  /// Per column: the first element that is not in it.
  std::vector<size_t> ends;
};

/// Appends the shapes of a stream whose columns have `corner` at their upper left. Returns the y where they end.
int layOutStream(const StreamPlan &plan, Point corner, std::vector<Shape> &shapes);

} // namespace mlir::resid::diagram

#endif // RESID_DIAGRAM_STREAMCOLUMN_H
