// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds chains of bias, dropout, residual add and norm that can become one resid.add_norm, and says why others cannot.
// Looks at the program only; rewriting is FuseAddNorm's.

#ifndef RESID_PASSES_STREAM_ADDNORMCHAIN_H
#define RESID_PASSES_STREAM_ADDNORMCHAIN_H

#include "passes/stream/NormParts.h"
#include <optional>
#include <string>

namespace mlir::resid {

/// Why a norm was not fused, or why the fused chain starts no earlier.
struct FusionRefusal {
  Operation *op;               ///< where it stops
  std::string reason;          ///< lower case, no full stop
  Operation *reader = nullptr; ///< the reader of the sum that stands in the way, if that is the reason
};

/// A chain that can be fused; `bias` and `dropout` are null where the chain has none.
struct AddNormChain {
  AddBiasOp bias;
  DropoutOp dropout;
  AddOp add;
  Operation *norm;
  NormParts parts;
  Value skip;   ///< the stream
  Value branch; ///< what enters the chain on the side of the branch
  /// The fused op belongs before this op: after the norm's parameters and before every reader of the sum.
  Operation *place;
};

/// The longest chain that ends in `norm`. Where there is none, or a longer one exists but must not be fused, the
/// reasons are appended to `refusals`; a norm of something else than a sum is no chain and needs no reason.
std::optional<AddNormChain> findAddNormChain(Operation *norm, SmallVectorImpl<FusionRefusal> &refusals);

/// Every refusal in a program that has been through resid-fuse-add-norm, in the order of the program.
SmallVector<FusionRefusal> collectFusionRefusals(Operation *root);

/// Emits each refusal as a remark at its op.
void emitFusionRefusals(ArrayRef<FusionRefusal> refusals);

} // namespace mlir::resid

#endif // RESID_PASSES_STREAM_ADDNORMCHAIN_H
