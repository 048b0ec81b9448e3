// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops and memory accesses that LLVM vectorises: over lanes that are independent of each other.

#ifndef RESID_CODEGEN_CPU_ROWS_LANELOOPS_H
#define RESID_CODEGEN_CPU_ROWS_LANELOOPS_H

#include "codegen/kernels/ElementAccess.h"
#include "codegen/kernels/ElementCast.h"
#include "codegen/rows/SumOrder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace mlir::resid::cpu {

/// Columns of a chunk and of a block.
using rows::kBlockColumns;
using rows::kLanes;

using kernels::fromMemory;
using kernels::toMemory;

class LaneLoops {
public:
  /// `vectorLanes`: how many lanes fit into a vector register.
  LaneLoops(OpBuilder &builder, Location loc, unsigned vectorLanes)
      : builder(builder), loc(loc), vectorLanes(vectorLanes) {}

  /// A loop that LLVM leaves rolled, for (i = low; i < high; i += step), all i64.
  void emitLoop(Value low, Value high, int64_t step, function_ref<void(Value)> body);
  void emitLoop(Value low, Value high, Value step, function_ref<void(Value)> body);
  /// emitLoop() with values carried from step to step. `body` gives the next values, and the result is the last ones.
  SmallVector<Value> emitLoop(Value low, Value high, int64_t step, ValueRange first,
                              function_ref<SmallVector<Value>(Value, ValueRange)> body);
  /// A loop over `count` lanes without dependences between them, vectorised `lanes` at a time (0: vectorLanes).
  void emitLanes(Value count, function_ref<void(Value)> body, unsigned lanes = 0);

  /// Element `index` (i64) of the elements at `pointer`; no alignment is assumed. Inside emitLanes the access counts as
  /// independent of those of other lanes. In memory it has the type that kernels::getMemoryType says.
  Value load(Type type, Value pointer, Value index);
  void store(Value value, Value pointer, Value index);
  /// The elements at `pointer` from number `first` on, as many as the vector has.
  Value loadVector(VectorType type, Value pointer, int64_t first);
  unsigned getVectorLanes() const { return vectorLanes; }

private:
  LLVM::LoopAnnotationAttr annotateLanes(unsigned lanes);

  OpBuilder &builder;
  Location loc;
  unsigned vectorLanes;
  LLVM::AccessGroupAttr group;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ROWS_LANELOOPS_H
