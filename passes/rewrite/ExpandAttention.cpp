// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-expand-attention: attention as two products and a softmax in linalg, with its dropout between them, and a cache
// as a slice that is inserted.

#include "dialect/ResidDialect.h"
#include "dialect/Slices.h"
#include "passes/Passes.h"
#include "passes/linalg/AttentionLinalg.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::resid {
#define GEN_PASS_DEF_EXPANDATTENTION
#include "passes/Passes.h.inc"
} // namespace mlir::resid

using namespace mlir;
using namespace mlir::resid;

/// The results of the op: two products, and a softmax between them.
static SmallVector<Value> expand(AttentionOp op, OpBuilder &builder) {
  AttentionLinalg parts(op, builder);
  ImplicitLocOpBuilder &b = parts.getBuilder();
  Value scores = parts.createScores();
  Value max = parts.reduce(scores, -std::numeric_limits<double>::infinity(),
                           [&](ValueRange row) -> Value { return arith::MaximumFOp::create(b, row[0], row[1]); });
  if (op.getSink())
    max = parts.mapWithSink(max, [&](ValueRange row) -> Value { return arith::MaximumFOp::create(b, row[0], row[1]); });
  auto weigh = [&](Value score, Value largest) -> Value {
    Value weight = math::ExpOp::create(b, arith::SubFOp::create(b, score, largest));
    return arith::SelectOp::create(b, parts.isInfinitelyLow(score), parts.number(0), weight);
  };
  Value weights = parts.map({scores, max}, parts.getType(), [&](ValueRange row) { return weigh(row[0], row[1]); });
  Value sum =
      parts.reduce(weights, 0, [&](ValueRange row) -> Value { return arith::AddFOp::create(b, row[1], row[0]); });
  if (op.getSink())
    sum = parts.mapWithSink(
        {sum, max}, [&](ValueRange row) -> Value { return arith::AddFOp::create(b, row[0], weigh(row[2], row[1])); });
  Type element = getElementTypeOrSelf(op.getResult().getType());
  Value products = parts.multiplyValues(parts.drop(weights));
  Value result = parts.map({products, sum}, element, [&](ValueRange row) -> Value {
    // Where no key is present there is nothing to divide by.
    Value isEmpty = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, row[1], parts.number(0));
    Value mean = arith::SelectOp::create(b, isEmpty, parts.number(0), arith::DivFOp::create(b, row[0], row[1]));
    return parts.convert(mean, element);
  });
  SmallVector<Value> results{result};
  if (op.getMax())
    results.append({max, sum});
  for (auto [value, old] : llvm::zip_equal(results, op.getResults()))
    if (value.getType() != old.getType())
      value = tensor::CastOp::create(b, old.getType(), value);
  return results;
}

namespace {
struct ExpandAttention : resid::impl::ExpandAttentionBase<ExpandAttention> {
  using ExpandAttentionBase::ExpandAttentionBase;

  void runOnOperation() override {
    getOperation()->walk([&](Operation *op) {
      if (auto attention = dyn_cast<AttentionOp>(op))
        replace(op, [&](OpBuilder &builder) { return expand(attention, builder); });
      if (auto append = dyn_cast<AppendOp>(op))
        replace(op, [&](OpBuilder &builder) { return SmallVector<Value>{insert(append, builder)}; });
    });
  }

  void replace(Operation *op, function_ref<SmallVector<Value>(OpBuilder &)> makeResults) {
    if (report)
      op->emitRemark() << "expanded (exact in real arithmetic): " << op->getName().stripDialect();
    OpBuilder builder(op);
    op->replaceAllUsesWith(makeResults(builder));
    op->erase();
  }

  Value insert(AppendOp op, OpBuilder &builder) {
    ImplicitLocOpBuilder b(op.getLoc(), builder);
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, b.getLoc(), op.getX());
    OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
    requirePlaces(b, op.getPast(), sizes[2], tensor::getMixedSize(b, b.getLoc(), op.getCache(), 2));
    SmallVector<OpFoldResult> strides(4, one);
    if (!isa<RankedTensorType>(op.getPast().getType()))
      return insertSlice(b, b.getLoc(), op.getX(), op.getCache(),
                         {zero, zero, getBegin(b, op.getPast(), Value()), zero}, sizes, strides);
    auto addSample = [&](OpBuilder &nested, Location location, Value sample, ValueRange before) {
      ImplicitLocOpBuilder inner(location, nested);
      SmallVector<OpFoldResult> own(sizes);
      own.front() = one;
      Value added =
          extractSlice(inner, location, /*type=*/nullptr, op.getX(), {sample, zero, zero, zero}, own, strides);
      Value after = insertSlice(inner, location, added, before.front(),
                                {sample, zero, getBegin(inner, op.getPast(), sample), zero}, own, strides);
      scf::YieldOp::create(inner, after);
    };
    Value none = arith::ConstantIndexOp::create(b, 0), next = arith::ConstantIndexOp::create(b, 1);
    Value samples = getValueOrCreateConstantIndexOp(b, b.getLoc(), sizes.front());
    return scf::ForOp::create(b, none, samples, next, ValueRange(op.getCache()), addSample).getResult(0);
  }
};
} // namespace
