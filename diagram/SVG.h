// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a scene as SVG: one file, generic fonts, colours for light and dark pages. Knows no programs.

#ifndef RESID_DIAGRAM_SVG_H
#define RESID_DIAGRAM_SVG_H

#include "diagram/Scene.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::resid::diagram {

void writeSVG(const Scene &scene, llvm::raw_ostream &stream);

} // namespace mlir::resid::diagram

#endif // RESID_DIAGRAM_SVG_H
