// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops of the forward that no memory has to hold: the backward makes them again.

#ifndef RESID_PASSES_GRAD_COSTLESSOPS_H
#define RESID_PASSES_GRAD_COSTLESSOPS_H

#include "mlir/IR/Operation.h"

namespace mlir::resid {

/// What an op reads, in its regions too, and does not make itself.
SetVector<Value> getReads(Operation *op);

/// Constants, numbers made of numbers, such as the step of a dropout, and tensors made of both; and what has the
/// elements of another tensor, at other places or in a wider type.
bool isCostless(Operation *op);

} // namespace mlir::resid

#endif // RESID_PASSES_GRAD_COSTLESSOPS_H
