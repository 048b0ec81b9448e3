// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The limits.

#include "codegen/rows/GroupLimits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::resid::rows;

/// Norms of one kernel at most. Each phase recomputes what it needs of the norms before it and no row holds, so work
/// and code grow with the square of their number; beyond this a tensor in between is cheaper.
static constexpr int64_t kMaxNorms = 4;

/// Scalar operations on an element at most. Passes over basic blocks take time that grows with the square of the block:
/// chains of 125, 250 and 500 multiplications in bf16 (4 operations each) took 0.7, 2 and 13 seconds to compile. A
/// kernel of this size computes for longer than a tensor in between takes to be written and read.
static constexpr int64_t kMaxScalars = 512;

/// Tensors that are read or written at most. Code for so many rows at once grows likewise: 50 and 100 results of one
/// kernel took 0.6 and 4 seconds, 200 more than a minute.
static constexpr int64_t kMaxOperands = 48;

/// About how many operations of the processor a scalar operation becomes.
static int64_t countOperations(Operation &scalar) {
  if (isa<math::MathDialect>(scalar.getDialect()) && !isa<math::FmaOp, math::AbsFOp, math::SqrtOp>(scalar))
    return 16; // a polynomial
  auto type = dyn_cast<FloatType>(scalar.getResult(0).getType());
  return type && type.getWidth() < 32 && !isa<arith::ConstantOp>(scalar) ? 4 : 1; // a rounding to 16 bits
}

static int64_t countScalars(const RowGroup &group) {
  int64_t scalars = 0;
  for (Operation *member : group.members)
    if (auto generic = dyn_cast<linalg::GenericOp>(member))
      for (Operation &scalar : generic.getBody()->without_terminator())
        scalars += countOperations(scalar);
  return scalars;
}

/// Tensors from outside, and those of members that somebody outside reads, as far as is known by now.
static int64_t countOperands(const RowGroup &group) {
  DenseSet<Operation *> members(group.members.begin(), group.members.end());
  DenseSet<Value> operands;
  for (Operation *member : group.members) {
    for (const Access &read : getReads(member))
      visitLeaves(read, [&](const Access &leaf) {
        if (!members.contains(leaf.tensor.getDefiningOp()) && !isInlined(leaf))
          operands.insert(leaf.tensor);
      });
    for (Value result : member->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !members.contains(user); }))
        operands.insert(result);
  }
  return operands.size();
}

std::string mlir::resid::rows::findExcess(const RowGroup &group) {
  const std::tuple<int64_t, int64_t, StringRef> counts[] = {
      {llvm::count_if(group.members, isStatistics), kMaxNorms, "norms"},
      {countScalars(group), kMaxScalars, "scalar operations"},
      {countOperands(group), kMaxOperands, "tensors read and written"},
  };
  for (auto [count, limit, what] : counts)
    if (count > limit)
      return ("expected at most " + Twine(limit) + " " + what + " in a kernel, but got " + Twine(count)).str();
  return "";
}
