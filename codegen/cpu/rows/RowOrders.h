// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In which order the rows of a kernel are run. An order drives an emitter, which runs the operations of a row
// (RowEmitter.h). Not: which order a kernel takes (KernelPlan.h).

#ifndef RESID_CODEGEN_CPU_ROWS_ROWORDERS_H
#define RESID_CODEGEN_CPU_ROWS_ROWORDERS_H

#include "codegen/cpu/rows/VectorRows.h"

namespace mlir::resid::cpu {

/// The rows [low, high) (i64), one after the other.
void emitSingleRows(RowEmitter &emitter, rows::KernelOp kernel, Value low, Value high);

/// Row 0 alone.
void emitLoneRow(RowEmitter &emitter, rows::KernelOp kernel);

/// How many rows (i64) a batch has: those that `room` columns are enough for; at least one.
Value emitBatchRows(VectorFunction &function, Location loc, int64_t room);
/// The rows [low, high) in batches of `batchRows`, which emitBatchRows() made of that room: each phase goes over a few
/// rows before the next one begins.
void emitBatchedRows(VectorRowEmitter &emitter, rows::KernelOp kernel, int64_t room, Value batchRows, Value low,
                     Value high);

/// The rows [low, high) of a kernel without findPipelineObstacle: the last phase of a row together with the first one
/// of the next row.
void emitPipelinedRows(VectorRowEmitter &emitter, rows::KernelOp kernel, Value low, Value high);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ROWS_ROWORDERS_H
