// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cpu/choice/StepShape.h"

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

static bool drawsNumbers(rows::PhaseOp phase) {
  return phase.walk([](rows::RandomHalfOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// Four independent chains per reduction hide the latency of an addition; and random numbers come by 16 columns at
/// least. The generator is one chain of operations per register. Where registers are narrow, a processor waits for
/// that, unless two of them are next to each other.
static int64_t chooseParts(int64_t lanes, bool hasTwoChains) {
  return std::max<int64_t>(hasTwoChains ? 8 : 4, 16 / lanes);
}

StepShape cpu::chooseStepShape(rows::PhaseOp phase, const CPUTarget &target) {
  int64_t lanes = target.vectorBits / getWidestFloat(phase);
  return {lanes, chooseParts(lanes, target.isX86 && target.vectorBits < 512 && drawsNumbers(phase))};
}
