// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which values and ops lie on a way from an argument to a result. Knows nothing of rules.

#ifndef RESID_PASSES_GRAD_ACTIVITY_H
#define RESID_PASSES_GRAD_ACTIVITY_H

#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::resid {

/// Whether values of this type have gradients: floats and tensors of them.
bool hasGradient(Type type);

struct Activity {
  /// `arguments` are those of the block whose gradients are asked for; what the terminator reads are the results.
  Activity(Block &block, ArrayRef<Value> arguments);

  /// The values that an argument reaches.
  DenseSet<Value> needed;
  /// The ops through which an argument reaches a result, in block order.
  SmallVector<Operation *> ops;
};

} // namespace mlir::resid

#endif // RESID_PASSES_GRAD_ACTIVITY_H
