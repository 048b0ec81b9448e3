// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fixed sizes of a drawing, in pixels.

#ifndef RESID_DIAGRAM_METRICS_H
#define RESID_DIAGRAM_METRICS_H

namespace mlir::resid::diagram::metrics {

/// A box is as wide as its longest word asks for, within these; texts keep `boxPadding` from its edges.
inline constexpr int boxWidth = 142, maxBoxWidth = 240;
inline constexpr int boxPadding = 8;
inline constexpr int titleHeight = 15;
inline constexpr int detailHeight = 13;
inline constexpr unsigned titleLines = 3, detailLines = 4;

/// What lies between the edge of a column and its boxes, and between the stream's boxes and the branch's.
inline constexpr int columnMargin = 21, branchMargin = 12;
/// The frame of a loop, and how much further in lies that of a loop inside of it.
inline constexpr int frameMargin = 4, frameStep = 5;
/// What a branch attends to: the box, and the arrow from it.
inline constexpr int memoryWidth = 70, maxMemoryWidth = 140, memoryGap = 20, memoryHeight = 24;

inline constexpr int gap = 14;
inline constexpr int sumRadius = 9;
inline constexpr int skipBoxWidth = 58;
inline constexpr int streamStep = 13; // between the lines of several streams
inline constexpr int bundleStep = 3;  // the same where they lead to the next column
/// Between two columns of one stream.
inline constexpr int wrapGap = 16;

inline constexpr int panelPadding = 14, headerHeight = 34, panelGap = 12;
/// No stream is broken into columns below this height. Pages are to be three quarters as high as they are wide.
inline constexpr int leastColumnHeight = 900;

} // namespace mlir::resid::diagram::metrics

#endif // RESID_DIAGRAM_METRICS_H
