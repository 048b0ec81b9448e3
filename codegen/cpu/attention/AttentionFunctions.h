// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The function that an attention kernel, or its backward, is outlined into, and the calls that run it. Kernels that are
// equal share it. Not: what is emitted into it (AttentionEmitter.h).

#ifndef RESID_CODEGEN_CPU_ATTENTION_ATTENTIONFUNCTIONS_H
#define RESID_CODEGEN_CPU_ATTENTION_ATTENTIONFUNCTIONS_H

#include "codegen/cpu/attention/AttentionEmitter.h"
#include "codegen/cpu/attention/BackwardEmitter.h"
#include "codegen/kernels/Tasks.h"

namespace mlir::resid::cpu {

/// A kernel where it stands: an attention.kernel, or an attention.backward.
struct AttentionUse {
  Operation *kernel;
  func::FuncOp enclosing;
  attention::AttentionShape shape;
  SmallVector<Value> pointers;
  Value scratch, past;
  SmallVector<Value> dropout;

  static FailureOr<AttentionUse> prepare(attention::KernelOp kernel);
  static FailureOr<AttentionUse> prepare(attention::BackwardOp kernel);
  /// What the function takes beside a range of its units and the size of a task.
  SmallVector<Value> getArguments();
};

class AttentionFunction {
public:
  AttentionFunction(AttentionUse first, SymbolTable &symbols, const CPUTarget &target, MicroKernels &microKernels)
      : first(std::move(first)), symbols(symbols), shape(chooseMicroKernelShape(target, this->first.shape.arithmetic)),
        vectorBits(target.vectorBits), taskTerms(target.schedule.table.productTaskTerms), microKernels(microKernels),
        task([this](TypeRange types) { return createFunction("__attention_task", types); }) {}

  AttentionUse &getFirst() { return first; }
  void outline();
  /// Emits what computes the kernel of `use`, before it.
  void emitCalls(AttentionUse &use);

private:
  func::FuncOp createFunction(StringRef suffix, TypeRange types);
  Value countSlotBytes(AttentionView &view);

  AttentionUse first;
  SymbolTable &symbols;
  MicroKernelShape shape;
  int64_t vectorBits, taskTerms;
  MicroKernels &microKernels;
  kernels::TaskFunction task;
  func::FuncOp function;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ATTENTION_ATTENTIONFUNCTIONS_H
