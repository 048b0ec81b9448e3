// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conditions that a linalg op computes for each element, as one condition of the function. Which conditions programs
// have, their users know (Conditions.cpp, Lookups.cpp).

#ifndef RESID_CODEGEN_LINALG_ELEMENTCONDITIONS_H
#define RESID_CODEGEN_LINALG_ELEMENTCONDITIONS_H

#include "codegen/builder/Code.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::resid {

/// Whether a condition at `op` can answer the call with a status: what runs per element, or in parallel, cannot.
bool hasStatus(Operation *op);

/// Whether `holds` of the elements of the inputs at each point of the loops (i1, true without a point). The inputs'
/// maps are from the loops.
Value holdsForAllPoints(Code &builder, ValueRange inputs, ArrayRef<AffineMap> maps,
                        function_ref<Value(Code &builder, ValueRange elements)> holds);

/// A value of type i1 in the body of an op, and what it is to be.
struct ElementCondition {
  Value value;
  bool expected;
};

/// Whether for each element of `op` one of `conditions` is as expected (i1, true where there are no elements). Made
/// where `builder` stands, before `op`. Null where they cannot be computed apart from the op: they read its own
/// results, or would run what may not run everywhere.
Value holdsForAllElements(Code &builder, linalg::GenericOp op, ArrayRef<ElementCondition> conditions);

/// `condition`, which is computed where `place` stands, or that one of the branches around `place` is not taken.
SmallVector<ElementCondition> holdsWhere(Operation *place, linalg::GenericOp op, Value condition);

} // namespace mlir::resid

#endif // RESID_CODEGEN_LINALG_ELEMENTCONDITIONS_H
