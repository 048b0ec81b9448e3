// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the choice, once per call, between plain and non-temporal stores. Not: what is stored where (StreamedRows.h).

#ifndef RESID_CODEGEN_CPU_CHOICE_STORECHOICE_H
#define RESID_CODEGEN_CPU_CHOICE_STORECHOICE_H

#include "codegen/cpu/choice/KernelPlan.h"
#include "codegen/cpu/choice/Schedule.h"
#include "codegen/cpu/choice/StreamedRows.h"
#include "codegen/rows/RowAddressing.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::resid::cpu {

/// Whether (i1) every row of the operands begins at a cache line.
Value emitAlignment(OpBuilder &builder, Location loc, const rows::KernelAddresses &addresses,
                    ArrayRef<unsigned> operands);

/// Whether (i1) a call writes its rows past the cache: where scratch rows have room and, unless the schedule asks for
/// it, what is written neither stays in the caches for its reader nor overwrites an input. `plan` says in which order
/// rows are worked on: in batches, plain stores are faster. With `isReadSoon`, what is written is read before other
/// rows are. `context` is the caller's resid_ctx, or null where there is none: its hints come before the sizes where
/// all that is written is the caller's.
Value emitStoreChoice(OpBuilder &builder, ModuleOp module, rows::KernelOp kernel,
                      const rows::KernelAddresses &addresses, const StreamedRows &rows, const Schedule &schedule,
                      const KernelPlan &plan, bool isReadSoon, Value context);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_CHOICE_STORECHOICE_H
