// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fixed sizes of a drawing, in pixels.

#ifndef RESID_DIAGRAM_METRICS_H
#define RESID_DIAGRAM_METRICS_H

namespace mlir::resid::diagram::metrics {

inline constexpr int boxWidth = 142;
inline constexpr int boxPadding = 8;
inline constexpr int titleHeight = 15;
inline constexpr int detailHeight = 13;
/// How many characters fit into a box, and how many lines of each size.
inline constexpr unsigned titleLength = 20, detailLength = 22, titleLines = 3, detailLines = 2;

/// From the left edge of a stream's column to the stream, and on to the middle of the branch.
inline constexpr int streamX = 92, branchX = streamX + 154;
inline constexpr int columnWidth = branchX + boxWidth / 2 + 12;
/// What a column with memories has beside that.
inline constexpr int memoryWidth = 96, memoryGap = 20;
inline constexpr unsigned memoryLength = 11;

inline constexpr int gap = 14;
inline constexpr int sumRadius = 9;
inline constexpr int skipBoxWidth = 58;
inline constexpr unsigned tapLength = 12, headerLength = 40;

inline constexpr int panelPadding = 14, headerHeight = 34, panelGap = 12, panelsPerRow = 3;

} // namespace mlir::resid::diagram::metrics

#endif // RESID_DIAGRAM_METRICS_H
