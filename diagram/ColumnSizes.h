// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How wide the columns of a stream are: as the texts in them ask for. Places nothing.

#ifndef RESID_DIAGRAM_COLUMNSIZES_H
#define RESID_DIAGRAM_COLUMNSIZES_H

#include "diagram/Stream.h"

namespace mlir::resid::diagram {

/// The widths of what stands in the columns of one stream, in pixels.
struct ColumnSizes {
  int boxWidth, memoryWidth;
  /// From the left edge of a column to the stream, and to the middle of the branch.
  int streamX, branchX;
  int width;
};

ColumnSizes measureColumn(const Stream &stream);

/// The box of a scale on the stream.
int getSkipBoxWidth(const Part &part);

/// How far to the left of the stream the placement of `layer` ends.
int getNoteDistance(const SubLayer &layer);

/// How far right of the middle line `index` of `count` streams stands; negative where it is left of it.
int getStreamOffset(int index, int count);

} // namespace mlir::resid::diagram

#endif // RESID_DIAGRAM_COLUMNSIZES_H
