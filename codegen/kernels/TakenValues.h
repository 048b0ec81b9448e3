// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a loop nest or a kernel on buffers takes from around it, and the same inside of a function that it is outlined
// into: pointers, open sizes and strides, scalars. Not: which ops are outlined, nor what a function does.

#ifndef RESID_CODEGEN_KERNELS_TAKENVALUES_H
#define RESID_CODEGEN_KERNELS_TAKENVALUES_H

#include "codegen/kernels/SharedFunctions.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace mlir::resid::kernels {

/// A buffer that a function is given: the pointer to where it begins is one of several, and the rest are values of its
/// own.
struct TakenBuffer {
  Value buffer;
  unsigned start;
  /// Indices.
  SmallVector<Value> openSizes, openStrides;
  /// An i64, where all rows are equally far apart.
  Value rowStride;
};

/// What a function is given in place of the values that an op takes from around it.
struct TakenValues : KernelIndexing {
  /// The caller's context, of kernels; else null.
  Value context;
  /// Where buffers begin, which several shapes of one buffer share.
  SmallVector<Value> pointers;
  std::vector<TakenBuffer> buffers;
  /// Numbers of dropout sites, which differ between layers.
  llvm::SmallPtrSet<Value, 2> sites;
  ArrayAttr facts;

  std::shared_ptr<KernelIndexing> clone() const override { return std::make_shared<TakenValues>(*this); }
  ArrayAttr getFacts() const override { return facts; }
  void forEachValue(function_ref<void(Value &)> visit) override;
  ConstantUse getConstantUse(Value constant, bool isOuter) const override {
    return !isOuter || sites.contains(constant) ? ConstantUse::Argument : ConstantUse::InCode;
  }
  /// The op as a whole.
  KernelWork countWork(OpBuilder &builder, Location loc) const override;
};

/// An op on buffers, with all that it takes from around it.
class TakingOp {
public:
  /// False where the op takes what no function can be given. Buffers that `isKnown` holds for are not taken.
  bool takeAll(function_ref<bool(Value)> isKnown = [](Value) { return false; });
  /// Emits what computes the values before the op.
  KernelUse createUse() const;

protected:
  explicit TakingOp(Operation *op) : op(op) {}
  virtual ~TakingOp() = default;

  /// Whether the op writes a buffer that begins here.
  virtual bool isWritten(Value start) const;
  /// The attribute of the pointer that says what is known of the buffers that begin there; empty where that is nothing.
  virtual StringRef chooseMark(Value start) const;
  /// What decides the code beside what all ops have.
  virtual void collectMoreFacts(SmallVectorImpl<Attribute> &facts) const {}

  /// Makes the buffers anew at the start of the function, and marks its pointers.
  void rebuildBuffers(OpBuilder &builder, KernelBody &body) const;

  Operation *op;
  Value context;
  llvm::SetVector<Value> buffers, starts, scalars;
  llvm::SmallPtrSet<Value, 2> sites;

private:
  bool take(Value value);
  TakenBuffer describe(OpBuilder &builder, Value buffer) const;
  ArrayAttr collectFacts(const TakenValues &taken) const;
  Value rebuild(OpBuilder &builder, const TakenBuffer &taken, Value pointer) const;
};

} // namespace mlir::resid::kernels

#endif // RESID_CODEGEN_KERNELS_TAKENVALUES_H
