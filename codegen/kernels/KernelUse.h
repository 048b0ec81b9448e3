// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel where it stands, with what its code needs of the function around it, and when two kernels are equal. Not:
// the code that equal kernels share (KernelFunctions.h).

#ifndef RESID_CODEGEN_KERNELS_KERNELUSE_H
#define RESID_CODEGEN_KERNELS_KERNELUSE_H

#include "codegen/kernels/RowAddressing.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::resid::kernels {

struct KernelUse {
  rows::KernelOp kernel;
  func::FuncOp enclosing;
  KernelAddresses addresses;
  /// The scalars from above, one entry per use, in an order that equal kernels share.
  SmallVector<Value> outerValues;

  /// Emits what computes addresses before the kernel.
  static FailureOr<KernelUse> prepare(rows::KernelOp kernel);
};

/// The value of a constant, else null.
Attribute getConstant(Value value);

/// Whether two kernels do the same but for the numbers of their dropout sites, so that one function with arguments
/// serves both. Then gives the positions, in outerValues, of constants that differ.
std::optional<SmallVector<unsigned>> findDifferingConstants(KernelUse &a, KernelUse &b);

} // namespace mlir::resid::kernels

#endif // RESID_CODEGEN_KERNELS_KERNELUSE_H
