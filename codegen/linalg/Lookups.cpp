// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lookups in tables, such as embeddings: indices that a linalg op computes or reads must lie in the table.

#include "codegen/linalg/ElementConditions.h"
#include "codegen/linalg/Patterns.h"
#include "codegen/rows/RowsDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "runtime/resid.h"

using namespace mlir;
using namespace mlir::resid;

namespace {

/// An index of a tensor.extract that may lie outside.
struct Lookup {
  tensor::ExtractOp extract;
  int64_t dimension;
};

} // namespace

/// Whether 0 <= index < size follows from constants, sizes and loops.
static bool isKnownInside(OpFoldResult index, Value tensor, int64_t dimension) {
  using Bounds = ValueBoundsConstraintSet;
  MLIRContext *context = tensor.getContext();
  return Bounds::compare(index, Bounds::GE, OpFoldResult(IntegerAttr::get(IndexType::get(context), 0))) &&
         Bounds::compare(index, Bounds::LT, {tensor, dimension});
}

/// Whether the op has no elements, or `size` is not 0. Sizes tell, so a call where it is not so is refused at once.
static Value hasRoom(Code &builder, linalg::GenericOp op, Value size) {
  Value count = arith::ConstantIndexOp::create(builder, 1);
  for (int64_t loop = 0, e = op.getNumLoops(); loop < e; ++loop) {
    SmallVector<std::pair<Value, unsigned>> dimensions;
    op.mapIterationSpaceDimToAllOperandDims(loop, dimensions);
    if (dimensions.empty())
      continue;
    auto [operand, dimension] = dimensions.front();
    count = builder.multiply(count, builder.createOrFold<tensor::DimOp>(operand, dimension));
  }
  return builder.either(builder.isEqual(count, 0), builder.compare(arith::CmpIPredicate::ne, size, 0));
}

/// Requires that all indices are inside, and keeps the op inside where they are not. One unsigned comparison: a
/// negative number is a large unsigned one.
static LogicalResult requireInside(linalg::GenericOp op, Lookup lookup) {
  tensor::ExtractOp extract = lookup.extract;
  Code outside(OpBuilder(op), extract.getLoc()), inside(OpBuilder(extract), extract.getLoc());
  Value size = outside.createOrFold<tensor::DimOp>(extract.getTensor(), lookup.dimension);
  Value index = extract.getIndices()[lookup.dimension];
  Value isInside = inside.compare(arith::CmpIPredicate::ult, index, size);
  constexpr StringLiteral text = "an index of tensor.extract lies outside of its tensor";
  if (cast<RankedTensorType>(extract.getTensor().getType()).getDimSize(lookup.dimension) <= 0)
    rows::RequireOp::create(outside, hasRoom(outside, op, size), RESID_BAD_VALUE, text, Value());
  Value areInside = holdsForAllElements(outside, op, holdsWhere(extract, op, isInside));
  if (!areInside)
    return extract.emitOpError("is not available on any target: expected indices that can be computed ahead");
  rows::RequireOp::create(outside, areInside, RESID_BAD_VALUE, text, Value());
  extract.getIndicesMutable().slice(lookup.dimension, 1).assign(keepInside(inside, isInside, index));
  return success();
}

/// Bodies of linalg.map and linalg.reduce look things up too.
static LogicalResult generalizeLookups(Operation *root) {
  SmallVector<linalg::LinalgOp> named;
  root->walk([&](linalg::LinalgOp op) {
    if (isa<linalg::MapOp, linalg::ReduceOp>(op.getOperation()) &&
        op->walk([](tensor::ExtractOp) { return WalkResult::interrupt(); }).wasInterrupted())
      named.push_back(op);
  });
  IRRewriter rewriter(root->getContext());
  return success(llvm::all_of(named, [&](linalg::LinalgOp op) {
    rewriter.setInsertionPoint(op);
    return succeeded(linalg::generalizeNamedOp(rewriter, op));
  }));
}

LogicalResult resid::requireLookups(Operation *root) {
  if (failed(generalizeLookups(root)))
    return failure();
  WalkResult result = root->walk([](linalg::GenericOp op) {
    SmallVector<Lookup> lookups;
    if (!op.hasPureTensorSemantics() || !hasStatus(op))
      return WalkResult::advance();
    op.getBody()->walk([&](tensor::ExtractOp extract) {
      if (!op.getRegion().isAncestor(extract.getTensor().getParentRegion()))
        for (auto [dimension, index] : llvm::enumerate(extract.getIndices()))
          if (!isKnownInside(index, extract.getTensor(), dimension))
            lookups.push_back({extract, int64_t(dimension)});
    });
    for (Lookup lookup : lookups)
      if (failed(requireInside(op, lookup)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
