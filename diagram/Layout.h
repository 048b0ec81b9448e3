// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places streams on paper: the stream runs down, each branch beside it. Texts that are too long
// are cut. Does not write files.

#ifndef RESID_DIAGRAM_LAYOUT_H
#define RESID_DIAGRAM_LAYOUT_H

#include "diagram/Scene.h"
#include "diagram/Stream.h"

namespace mlir::resid::diagram {

/// One panel per function. Long streams go on in a column beside, and panels stand so that the page, which is wider
/// than high, is as small as possible.
Scene layOut(const std::vector<FunctionDrawing> &functions);

} // namespace mlir::resid::diagram

#endif // RESID_DIAGRAM_LAYOUT_H
