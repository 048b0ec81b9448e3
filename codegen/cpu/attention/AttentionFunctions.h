// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The function that an attention kernel, or its backward, is outlined into, and the calls that run it. Kernels that are
// equal share it. Not: what is emitted into it (AttentionEmitter.h).

#ifndef RESID_CODEGEN_CPU_ATTENTION_ATTENTIONFUNCTIONS_H
#define RESID_CODEGEN_CPU_ATTENTION_ATTENTIONFUNCTIONS_H

#include "codegen/cpu/attention/AttentionEmitter.h"
#include "codegen/cpu/attention/BackwardEmitter.h"
#include "codegen/kernels/KernelLowering.h"
#include "codegen/kernels/Tasks.h"

namespace mlir::resid::cpu {

class AttentionFunction : public kernels::KernelCode {
public:
  AttentionFunction(kernels::KernelUse first, SymbolTable &symbols, const CPUTarget &target, MicroKernels &microKernels)
      : KernelCode(std::move(first), symbols), shape(chooseMicroKernelShape(target, getShape().arithmetic)),
        vectorBits(target.vectorBits), taskTerms(target.schedule.table.productTaskTerms), microKernels(microKernels),
        task(functions, "__attention_task") {}

  void emit() override;
  LogicalResult launch(kernels::KernelUse &use) override;

private:
  const attention::AttentionShape &getShape() { return getFirst().as<attention::AttentionShape>(); }
  Value countSlotBytes(AttentionView &view);

  MicroKernelShape shape;
  int64_t vectorBits, taskTerms;
  MicroKernels &microKernels;
  kernels::TaskFunction task;
  func::FuncOp function;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ATTENTION_ATTENTIONFUNCTIONS_H
