// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The column of one stream: its elements from top to bottom.

#ifndef RESID_DIAGRAM_STREAMCOLUMN_H
#define RESID_DIAGRAM_STREAMCOLUMN_H

#include "diagram/Scene.h"
#include "diagram/Stream.h"

namespace mlir::resid::diagram {

/// How wide the column of a stream is.
int getColumnWidth(const Stream &stream);

/// Appends the shapes of a stream whose column has `corner` at its upper left. Returns the y where it ends.
int layOutStream(const Stream &stream, Point corner, std::vector<Shape> &shapes);

} // namespace mlir::resid::diagram

#endif // RESID_DIAGRAM_STREAMCOLUMN_H
