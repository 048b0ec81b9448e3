// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which ops a value is made of, back to a given one. Looks at the program only; knows nothing of streams.

#ifndef RESID_PASSES_DEPENDENCE_H
#define RESID_PASSES_DEPENDENCE_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::resid {

/// What a backward walk from a value met.
struct Ancestry {
  /// Whether the walk met the source.
  bool dependsOnSource = false;
  /// Arguments of blocks, those of functions and loops, that the walk ended at; not the source.
  llvm::SetVector<Value> arguments;
  /// The ops in between, in no order.
  llvm::SetVector<Operation *> ops;
};

/// Walks from `value` through operands, and through what regions read from above, until `source`, which may be null,
/// and the values of `barriers`. Ops that stand before `source` in its block cannot depend on it and are met only where
/// `everything` is asked for.
Ancestry findAncestry(Value value, Value source, ValueRange barriers = {}, bool everything = false);

/// Whether `value` is computed from `source` by a path that avoids `barriers`.
bool dependsOn(Value value, Value source, ValueRange barriers = {});

} // namespace mlir::resid

#endif // RESID_PASSES_DEPENDENCE_H
