// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The function that runs some steps of a loop side by side, in the lanes of vectors, and the calls of it. Not: which
// loops may run so (kernels/LaneLoops.h).

#ifndef RESID_CODEGEN_CPU_LOOPS_LANELOOPFUNCTIONS_H
#define RESID_CODEGEN_CPU_LOOPS_LANELOOPFUNCTIONS_H

#include "codegen/builder/Code.h"
#include "codegen/cpu/choice/CPUTarget.h"
#include "codegen/kernels/KernelLowering.h"
#include "codegen/kernels/LaneLoops.h"
#include "codegen/kernels/TakenValues.h"
#include "codegen/kernels/Tasks.h"

namespace mlir::resid::cpu {

/// A loop with what it takes from around it.
class TakenLaneLoop : public kernels::TakingOp, public kernels::LaneLoop {
public:
  /// Nothing of other ops, and where a function cannot be given what the loop takes.
  static std::optional<TakenLaneLoop> find(Operation *op);

  void rebuildAround(OpBuilder &builder, kernels::KernelBody &body) const { rebuildBuffers(builder, body); }

private:
  explicit TakenLaneLoop(const LaneLoop &loop) : TakingOp(loop.getLoop()), LaneLoop(loop) {}
  bool isWritten(Value start) const override;
};

/// Groups of steps are its units, as many steps as a register has lanes. The steps that the last group lacks are
/// the last step once more: they do the same.
class LaneLoopFunctions : public kernels::KernelCode {
public:
  LaneLoopFunctions(TakenLaneLoop loop, kernels::KernelUse first, SymbolTable &symbols, const CPUTarget &target);

  void emit() override;
  LogicalResult launch(kernels::KernelUse &use) override;

private:
  TakenLaneLoop loop;
  int64_t lanes, taskElements;
  kernels::TaskFunction task;
  func::FuncOp function;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_LOOPS_LANELOOPFUNCTIONS_H
