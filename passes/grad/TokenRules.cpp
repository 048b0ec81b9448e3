// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of the family Tokens: cross-entropy and embedding have backward ops of their own.

#include "dialect/ResidDialect.h"
#include "passes/grad/Rules.h"

using namespace mlir;
using namespace mlir::resid;

namespace {

/// The backward reads the logsumexp, so that the forward gives it.
struct CrossEntropyRule : GradientOpInterface::ExternalModel<CrossEntropyRule, CrossEntropyOp> {
  LogicalResult prepareForward(Operation *op, OpBuilder &builder, Forward &, const DenseSet<Value> &) const {
    auto loss = cast<CrossEntropyOp>(op);
    if (loss.getLogsumexp())
      return success();
    builder.setInsertionPoint(op);
    Type type = loss.getLoss().getType();
    auto asked = CrossEntropyOp::create(builder, op->getLoc(), type, type, loss.getLogits(), loss.getLabels(),
                                        loss.getIgnoreIndexAttr());
    asked->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    loss.getLoss().replaceAllUsesWith(asked.getLoss());
    op->erase();
    return success();
  }

  LogicalResult differentiate(Operation *op, Gradients &gradients) const {
    auto loss = cast<CrossEntropyOp>(op);
    if (gradients.get(loss.getLogsumexp()))
      return op->emitOpError("has no gradient through its logsumexp: expected it to reach no result whose gradient is "
                             "taken");
    Value logits = loss.getLogits();
    gradients.add(logits,
                  CrossEntropyGradOp::create(gradients.getBuilder(), logits.getType(), gradients.get(loss.getLoss()),
                                             gradients.getPrimal(logits), gradients.getPrimal(loss.getLabels()),
                                             gradients.getPrimal(loss.getLogsumexp()), loss.getIgnoreIndexAttr()));
    return success();
  }
};

/// dtable takes in each row of dy at its id.
struct EmbeddingRule : GradientOpInterface::ExternalModel<EmbeddingRule, EmbeddingOp> {
  LogicalResult differentiate(Operation *op, Gradients &gradients) const {
    auto lookup = cast<EmbeddingOp>(op);
    Value table = lookup.getTable();
    gradients.add(table,
                  EmbeddingGradOp::create(gradients.getBuilder(), table.getType(), gradients.get(lookup.getResult()),
                                          gradients.getPrimal(lookup.getIds()), gradients.getPrimal(table)));
    return success();
  }
};

} // namespace

void resid::registerTokenRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ResidDialect *) {
    CrossEntropyOp::attachInterface<CrossEntropyRule>(*context);
    EmbeddingOp::attachInterface<EmbeddingRule>(*context);
  });
}
