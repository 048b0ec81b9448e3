// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rule of attention: one backward op, which makes scores and weights again from q, k and the statistics of the
// forward.

#include "dialect/ResidDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/grad/Rules.h"

using namespace mlir;
using namespace mlir::resid;

namespace {

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
    ImplicitLocOpBuilder &builder = gradients.getBuilder();
    auto read = [&](Value value) { return gradients.getPrimal(value); };
    Value q = attention.getQ(), k = attention.getK(), v = attention.getV(), dy = gradients.get(attention.getResult());
    // A result of f64 may be one of narrower operands. Its gradient is a number of their arithmetic type then.
    FloatType arithmetic = attention.getArithmeticType();
    auto type = cast<RankedTensorType>(dy.getType());
    if (type.getElementTypeBitWidth() > arithmetic.getWidth())
      dy = arith::TruncFOp::create(builder, type.clone(arithmetic), dy);
    SmallVector<Type> types = {q.getType(), k.getType(), v.getType()};
    TypedValue<RankedTensorType> sink = attention.getSink();
    ArrayRef<int64_t> sizes = attention.getQ().getType().getShape();
    if (sink)
      types.push_back(RankedTensorType::get({sizes[0], sizes[2], sizes[1]}, arithmetic));
    auto backward = AttentionGradOp::create(
        builder, types, dy, read(q), read(k), read(v), read(attention.getMax()), read(attention.getSum()),
        read(attention.getMask()), read(sink), read(attention.getQuerySegments()), read(attention.getKeySegments()),
        read(attention.getSeed()), read(attention.getStep()), read(attention.getOriginRow()),
        read(attention.getOriginSite()), read(attention.getOriginCol()), read(attention.getExtentLocal()),
        read(attention.getExtentGlobal()), attention.getScaleAttr(), attention.getCausalAttr(),
        attention.getWindowAttr(), attention.getCapAttr(), attention.getPAttr(), attention.getSiteAttr());
    for (auto [operand, gradient] :
         {std::pair(q, backward.getDq()), std::pair(k, backward.getDk()), std::pair(v, backward.getDv())})
      if (gradients.isNeeded(operand))
        gradients.add(operand, gradient);
    if (gradients.isNeeded(sink))
      gradients.add(sink, createColumnSum(builder, backward.getDsinks(), sink.getType()));
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
