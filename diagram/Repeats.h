// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layers that follow each other and are equal, as one. Knows no coordinates.

#ifndef RESID_DIAGRAM_REPEATS_H
#define RESID_DIAGRAM_REPEATS_H

#include "diagram/Stream.h"

namespace mlir::resid::diagram {

/// `elements` with each run of equal layers in place of its layers: one layer between LoopBegin and LoopEnd. Layers are
/// equal if they differ in the numbers of names and dropout sites alone, and these go up evenly. The one layer has them
/// all: `gamma0..5`, `site 0,2..10`.
std::vector<Element> foldRepeats(std::vector<Element> elements);

} // namespace mlir::resid::diagram

#endif // RESID_DIAGRAM_REPEATS_H
