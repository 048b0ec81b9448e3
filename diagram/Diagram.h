// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a program to a picture of its residual streams: reading (Stream), placing (Layout) and writing (SVG) in a row.

#ifndef RESID_DIAGRAM_DIAGRAM_H
#define RESID_DIAGRAM_DIAGRAM_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::resid {

/// Writes the residual streams of the public functions of `module` as one SVG image. Sees blocks, residual adds and
/// norms; fused ops have to be expanded before, and flat sub-layers look better as blocks.
void drawStreams(ModuleOp module, llvm::raw_ostream &stream);

} // namespace mlir::resid

#endif // RESID_DIAGRAM_DIAGRAM_H
