// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lanes of sums in vector registers, and how they are added up in the fixed order. Not: the loops that fill them.

#ifndef RESID_CODEGEN_CPU_ROWS_LANESUMS_H
#define RESID_CODEGEN_CPU_ROWS_LANESUMS_H

#include "codegen/builder/Code.h"
#include "codegen/cpu/rows/ColumnOrder.h"
#include "codegen/kernels/ElementMemory.h"
#include "codegen/rows/Reductions.h"
#include "codegen/rows/SumOrder.h"

namespace mlir::resid::cpu {

/// The 64 lanes of a sum, in vectors of equal length, added up: lane l += lane l+32, l+16, l+8, l+4, l+2, l+1. On whole
/// registers, so that LLVM need not keep the lanes in memory.
Value reduceLanes(Code &builder, rows::ReductionKind kind, SmallVector<Value> parts,
                  ColumnOrder order = ColumnOrder::Consecutive);
/// The elements [first, first + count) of a vector.
Value extractLanes(Code &builder, Value vector, int32_t first, int32_t count);
/// The elements of two vectors of one type, one after the other.
Value concatenate(Code &builder, Value low, Value high);
/// The end of the full chunks of 64 columns in [first, end).
Value computeFullEnd(Code &builder, Value first, Value end);
/// The elements at `pointer` from number `first` on, as many as the vector has.
Value loadVector(Code &code, VectorType type, Value pointer, int64_t first);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ROWS_LANESUMS_H
