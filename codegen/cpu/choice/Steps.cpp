// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shape of a step; see Steps.h.

#include "codegen/cpu/choice/Steps.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

unsigned cpu::getWidestFloat(rows::PhaseOp phase) {
  unsigned widest = 32;
  phase.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (isa<FloatType>(type))
        widest = std::max(widest, type.getIntOrFloatBitWidth());
  });
  return widest;
}

/// Four independent chains per reduction hide the latency of an addition; and random numbers come by 16 columns at
/// least.
static int64_t chooseParts(int64_t lanes) { return std::max<int64_t>(4, 16 / lanes); }

StepShape cpu::chooseStepShape(rows::PhaseOp phase, const CPUTarget &target) {
  int64_t lanes = target.vectorBits / getWidestFloat(phase);
  return {lanes, chooseParts(lanes)};
}
