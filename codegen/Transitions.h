// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What reports say of kernels on tensors taken together: which of them make transitions between branches, and which
// bytes they have to move in any case. Does not own what one kernel reads and writes (rows/KernelTraffic.h).

#ifndef RESID_CODEGEN_TRANSITIONS_H
#define RESID_CODEGEN_TRANSITIONS_H

#include "codegen/rows/KernelTraffic.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::resid {

using KernelFilter = function_ref<bool(Operation *)>;

/// Whether a tensor holds what the kernels of a filter wrote.
bool isWrittenBy(KernelFilter kernels, Value tensor);

/// The bytes that a row of kernels has to move in any case.
class CompulsoryBytes {
public:
  explicit CompulsoryBytes(KernelFilter kernels) : kernels(kernels) {}

  /// Of one more operand: what comes from elsewhere has to be read once, and what others read has to be written.
  rows::ByteCount count(const rows::OperandTraffic &operand);

private:
  rows::ByteCount countInput(const rows::OperandTraffic &operand);

  KernelFilter kernels;
  DenseSet<Value> known;
  /// Of tensors that were read in parts, the bytes of these.
  DenseMap<Value, rows::ByteCount> parts;
};

/// The transitions of a function, whose kernels stand in its order: a write begins one, and the reads after it end it.
/// What comes after the first dots of streams is a gradient, which has others.
SmallVector<SetVector<Operation *>> findTransitions(ArrayRef<Operation *> kernels);

} // namespace mlir::resid

#endif // RESID_CODEGEN_TRANSITIONS_H
