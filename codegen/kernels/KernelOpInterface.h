// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What kernels of all kinds tell their targets: how their operands are indexed, and how much work they are. Not: how a
// target runs them (KernelLowering.h).

#ifndef RESID_CODEGEN_KERNELS_KERNELOPINTERFACE_H
#define RESID_CODEGEN_KERNELS_KERNELOPINTERFACE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include <memory>

namespace mlir::resid::kernels {

/// What becomes of a constant that a kernel's code uses.
enum class ConstantUse {
  InCode,        // kernels that share the code have the same
  InCodeIfEqual, // it becomes an argument where kernels differ in it alone
  Argument,      // it always is one
};

/// Pieces of a kernel's work that may run in any order and at the same time, and how many elements, or terms of sums,
/// each of them has. Both i64.
struct KernelWork {
  Value pieces, elements;
};

/// How the operands of one kernel on buffers are indexed: pointers, sizes and strides, as values before the kernel or,
/// in a copy of this object, inside of a function.
class KernelIndexing {
public:
  virtual ~KernelIndexing() = default;
  virtual std::shared_ptr<KernelIndexing> clone() const = 0;
  /// Calls `visit` on each value that the code needs, in an order that equal kernels share.
  virtual void forEachValue(function_ref<void(Value &)> visit) = 0;
  /// What decides the code beside the values and the regions. Kernels with equal facts may be equal.
  virtual ArrayAttr getFacts() const = 0;
  /// Of a constant among these values or, if `isOuter`, among those that the regions use.
  virtual ConstantUse getConstantUse(Value constant, bool isOuter) const { return ConstantUse::InCode; }
  /// Emits what computes the kernel's work.
  virtual KernelWork countWork(OpBuilder &builder, Location loc) const = 0;
};

/// The values from outside of the op's regions that these use, one entry per use, in their order.
SmallVector<Value> collectCaptured(Operation *op);

} // namespace mlir::resid::kernels

#include "codegen/kernels/KernelOpInterface.h.inc"

#endif // RESID_CODEGEN_KERNELS_KERNELOPINTERFACE_H
