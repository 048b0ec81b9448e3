// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rule of attention: its scores are made again from q and k, and its weights from these and the statistics of the
// forward. All weights stand in memory.

#include "dialect/ResidDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "passes/grad/Rules.h"
#include "passes/linalg/AttentionLinalg.h"

using namespace mlir;
using namespace mlir::resid;

/// exp(score - max)/sum, [batch, heads, queries, keys]; 0 for keys that are absent, also where none is present.
static Value createWeights(AttentionLinalg &parts, Value max, Value sum) {
  ImplicitLocOpBuilder &b = parts.getBuilder();
  return parts.map({parts.createScores(), max, sum}, parts.getType(), [&](ValueRange row) -> Value {
    Value weight = math::ExpOp::create(b, arith::SubFOp::create(b, row[0], row[1]));
    Value share = arith::DivFOp::create(b, weight, row[2]);
    return arith::SelectOp::create(b, parts.isInfinitelyLow(row[0]), parts.number(0), share);
  });
}

/// (weight·(dweight - Σ weight·dweight))·scale. A weight of 0 has no share, also where the value of its key is NaN.
static Value createScoreGradients(AttentionLinalg &parts, Value weights, Value gradients, double scale) {
  ImplicitLocOpBuilder &b = parts.getBuilder();
  auto whereWeighted = [&](Value weight, Value share) -> Value {
    Value isZero = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, weight, parts.number(0));
    return arith::SelectOp::create(b, isZero, parts.number(0), share);
  };
  Value mean = parts.reduce({weights, gradients}, 0, [&](ValueRange row) -> Value {
    return arith::AddFOp::create(b, row[2], whereWeighted(row[0], arith::MulFOp::create(b, row[0], row[1])));
  });
  return parts.map({weights, gradients, mean}, parts.getType(), [&](ValueRange row) -> Value {
    Value share = arith::MulFOp::create(b, row[0], arith::SubFOp::create(b, row[1], row[2]));
    return whereWeighted(row[0], arith::MulFOp::create(b, share, parts.number(scale)));
  });
}

namespace {

/// The products of one backward. Their loops are batch, heads of k, the heads that share them, queries, keys and size.
class Products {
public:
  Products(AttentionLinalg &parts) : parts(parts) {
    SmallVector<AffineExpr> loops(parts.hasGroups() ? 6 : 5);
    bindDimsList(parts.getBuilder().getContext(), MutableArrayRef(loops));
    ArrayRef<AffineExpr> heads = ArrayRef(loops).drop_back(3), batches = heads.take_front(2),
                         rest = ArrayRef(loops).take_back(3);
    auto getMap = [&](ArrayRef<AffineExpr> first, AffineExpr row, AffineExpr column) {
      SmallVector<AffineExpr> all(first);
      all.append({row, column});
      return AffineMap::get(loops.size(), 0, all, row.getContext());
    };
    perQuery = getMap(heads, rest[0], rest[2]);
    perKey = getMap(batches, rest[1], rest[2]);
    perPair = getMap(heads, rest[0], rest[1]);
  }

  /// What a query and its key have in common, of rows of q and of k.
  Value multiply(Value queries, Value keys, Value likeWeights) {
    return parts.join(sum({parts.split(queries), perQuery}, {keys, perKey}, parts.split(likeWeights), perPair));
  }
  /// Σ weight·key over the keys.
  Value sumKeys(Value weights, Value keys, Value likeQueries) {
    Value rows = parts.join(sum({parts.split(weights), perPair}, {keys, perKey}, parts.split(likeQueries), perQuery));
    if (rows.getType() == likeQueries.getType())
      return rows;
    return tensor::CastOp::create(parts.getBuilder(), likeQueries.getType(), rows);
  }
  /// Σ weight·query over the queries of all heads that share the key.
  Value sumQueries(Value weights, Value queries, Value likeKeys) {
    return sum({parts.split(weights), perPair}, {parts.split(queries), perQuery}, likeKeys, perKey);
  }

private:
  Value sum(Factor a, Factor b, Value like, AffineMap map) {
    return createProductSum(parts.getBuilder(), a, b, cast<RankedTensorType>(like.getType()), map,
                            [&] { return like; });
  }

  AttentionLinalg &parts;
  AffineMap perQuery, perKey, perPair;
};

struct AttentionRule : GradientOpInterface::ExternalModel<AttentionRule, AttentionOp> {
  /// The forward gives its statistics, which are saved.
  LogicalResult prepareForward(Operation *op, OpBuilder &builder, Forward &, const DenseSet<Value> &) const {
    auto attention = cast<AttentionOp>(op);
    if (!attention.getStatistics().empty())
      return success();
    RankedTensorType result = attention.getResult().getType();
    Type statistic =
        RankedTensorType::get(attention.getQ().getType().getShape().drop_back(), attention.getArithmeticType());
    OperationState state(op->getLoc(), op->getName(), op->getOperands(), {result, statistic, statistic},
                         op->getAttrs());
    builder.setInsertionPoint(op);
    Operation *asked = builder.create(state);
    attention.getResult().replaceAllUsesWith(asked->getResult(0));
    op->erase();
    return success();
  }

  LogicalResult differentiate(Operation *op, Gradients &gradients) const {
    auto attention = cast<AttentionOp>(op);
    if (failed(verify(attention, gradients)))
      return failure();
    Value q = attention.getQ(), k = attention.getK(), v = attention.getV(), dy = gradients.get(attention.getResult());
    Value max = gradients.getPrimal(attention.getMax()), sum = gradients.getPrimal(attention.getSum());
    // A copy of the op on values of the backward is what the parts are made of.
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, gradients.getPrimal(operand));
    auto copy = cast<AttentionOp>(gradients.getBuilder().clone(*op, mapping));
    AttentionLinalg parts(copy, gradients.getBuilder());
    Products products(parts);
    Value weights = createWeights(parts, max, sum);
    if (gradients.isNeeded(v))
      gradients.add(v, products.sumQueries(parts.drop(weights), dy, copy.getV()));
    if (gradients.isNeeded(q) || gradients.isNeeded(k)) {
      Value dweights = parts.drop(products.multiply(dy, copy.getV(), weights));
      Value dscores = createScoreGradients(parts, weights, dweights, copy.getScoreScale());
      if (gradients.isNeeded(q))
        gradients.add(q, products.sumKeys(dscores, copy.getK(), copy.getQ()));
      if (gradients.isNeeded(k))
        gradients.add(k, products.sumQueries(dscores, copy.getQ(), copy.getK()));
    }
    copy->erase();
    return success();
  }

  static LogicalResult verify(AttentionOp op, Gradients &gradients) {
    if (op.getPast())
      return op->emitOpError("has no gradient with a cache yet: expected an attention without past");
    if (gradients.isNeeded(op.getMask()))
      return op->emitOpError("has no gradient of its mask yet: expected one that depends on no argument whose gradient "
                             "is taken");
    for (Value statistic : op.getStatistics())
      if (gradients.get(statistic))
        return op->emitOpError("has no gradient through its statistics: expected them to reach no result whose "
                               "gradient is taken");
    return success();
  }
};

} // namespace

void resid::registerAttentionRules(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *context, ResidDialect *) { AttentionOp::attachInterface<AttentionRule>(*context); });
}
