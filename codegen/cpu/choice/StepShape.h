// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many columns a phase works on at a time: the shape of a step, from the types of the phase and the registers of
// the processor. Not: what is done in a step.

#ifndef RESID_CODEGEN_CPU_CHOICE_STEPSHAPE_H
#define RESID_CODEGEN_CPU_CHOICE_STEPSHAPE_H

#include "codegen/cpu/choice/CPUTarget.h"
#include "codegen/rows/RowsDialect.h"

namespace mlir::resid::cpu {

/// A step is `parts` vectors of `lanes` columns.
struct StepShape {
  int64_t lanes, parts;
  int64_t getColumns() const { return lanes * parts; }
};

/// A vector has the lanes of a register, counted in the widest float of the phase.
StepShape chooseStepShape(rows::PhaseOp phase, const CPUTarget &target);

/// The widest float of the phase's arithmetic in bits, at least 32.
unsigned getWidestFloat(rows::PhaseOp phase);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_CHOICE_STEPSHAPE_H
