// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops of a contraction on buffers as a matrix product sees them: rows m of one factor, columns n of the other,
// contracted loops k, and batches. Not: how a target runs the loops.

#ifndef RESID_CODEGEN_CONTRACTIONS_CONTRACTIONLOOPS_H
#define RESID_CODEGEN_CONTRACTIONS_CONTRACTIONLOOPS_H

#include "codegen/contractions/ContractionDialect.h"
#include "codegen/kernels/Extent.h"

namespace mlir::resid::contraction {

using kernels::Extent;
using kernels::getSize;
using kernels::getStride;
using kernels::makeExtent;
using kernels::multiply;

/// One loop, or several that run through every operand as one.
struct Loop {
  Extent size;
  /// The distance of neighbours in elements, per operand in the order of KernelLoops::operands; 0 where it has none.
  SmallVector<Extent> strides;
};

/// An operand with a map.
struct LoopOperand {
  Value buffer;
  Type elementType;
};

struct KernelLoops : kernels::KernelIndexing {
  /// a, b, initial (if there is one), inputs, row_scale (if there is one), init, and what b's integers are scaled with.
  /// The factors are swapped where a holds the columns of the result.
  SmallVector<LoopOperand> operands;
  bool hasInitial = false, hasRowScale = false, hasAnyRows = false;
  /// Terms of a chain; 0: all of them are one.
  int64_t chain = 0;
  /// The columns of the panels that b is in already; 0: it is a matrix.
  int64_t packedColumns = 0;
  /// Where b holds integers, so many of a row have one scale; 0: it has floats. `bParameters` counts the scale, and the
  /// zero or offset after it.
  int64_t bGroup = 0, bParameters = 0;
  bool hasNibbles = false;
  SmallVector<Loop> batches;
  /// m is in a, n in b; each is in the result. A loop of size 1 stands for one that there is not.
  Loop m, n;
  /// In lexicographic order.
  SmallVector<Loop> contracted;
  Type arithmetic;
  /// Where operands lie, and scratch memory; null where there is none.
  SmallVector<Value> pointers;
  Value scratch;

  static constexpr unsigned kA = 0, kB = 1, kInitial = 2;
  unsigned getFirstInput() const { return hasInitial ? 3 : 2; }
  unsigned getRowScale() const { return getInit() - 1; }
  unsigned getInit() const { return operands.size() - 1 - bParameters; }
  unsigned getParameter(int64_t number) const { return getInit() + 1 + number; }
  /// The type of b's elements as they are multiplied, or as they are widened for it.
  Type getFactorType() const { return bGroup == 0 ? operands[kB].elementType : arithmetic; }
  /// Whether a and b are i8, and sums i32.
  bool isInteger() const { return isa<IntegerType>(arithmetic); }

  /// Whether rows of `a` are contiguous along one contracted loop.
  bool hasContiguousRows() const;
  /// Whether a micro-kernel can read such rows where they lie: they are in the arithmetic type.
  bool readsAInPlace() const { return hasContiguousRows() && operands[kA].elementType == arithmetic; }

  std::shared_ptr<KernelIndexing> clone() const override { return std::make_shared<KernelLoops>(*this); }
  void forEachValue(function_ref<void(Value &)> visit) override;
  ArrayAttr getFacts() const override;
  /// Rows of all batches, and the terms of their columns.
  kernels::KernelWork countWork(OpBuilder &builder, Location loc) const override;

  /// Finds the loops of a kernel on buffers; emits what reads sizes and strides that are not known, before the kernel.
  /// Pointers are left out.
  static FailureOr<KernelLoops> create(OpBuilder &builder, KernelOp kernel);
};

} // namespace mlir::resid::contraction

#endif // RESID_CODEGEN_CONTRACTIONS_CONTRACTIONLOOPS_H
