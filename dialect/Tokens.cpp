// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers and helpers of the family Tokens.

#include "dialect/Assembly.h"
#include "dialect/Verification.h"

using namespace mlir;
using namespace mlir::resid;

RankedTensorType resid::getEmbeddedType(Type ids, Type table) {
  auto rows = dyn_cast<RankedTensorType>(ids), matrix = dyn_cast<RankedTensorType>(table);
  if (!rows || !matrix || matrix.getRank() == 0)
    return {};
  SmallVector<int64_t> shape(rows.getShape());
  shape.push_back(matrix.getShape().back());
  return RankedTensorType::get(shape, matrix.getElementType());
}

//===----------------------------------------------------------------------===//
// Cross-entropy
//===----------------------------------------------------------------------===//

static LogicalResult verifyLabels(Operation *op, RankedTensorType logits, RankedTensorType labels) {
  ArrayRef<int64_t> rows = logits.getShape().drop_back();
  bool isOnePerRow = labels.getRank() == int64_t(rows.size()) &&
                     llvm::all_of(llvm::zip(labels.getShape(), rows),
                                  [](auto sizes) { return agree(std::get<0>(sizes), std::get<1>(sizes)); });
  if (isOnePerRow)
    return success();
  return op->emitOpError("expected a label for each row of ") << logits << ", but got " << labels;
}

static LogicalResult verifyRowType(Operation *op, RankedTensorType logits, Value value, StringRef name) {
  RankedTensorType type = getStatisticsType(logits, 1);
  if (!value || value.getType() == type)
    return success();
  return op->emitOpError("expected ") << name << " of type " << type << " but got " << value.getType();
}

static LogicalResult verifyClasses(Operation *op, RankedTensorType logits) {
  if (logits.getShape().back() <= (int64_t(1) << 31))
    return success();
  return op->emitOpError("expected rows of at most 2^31 logits but got ") << logits;
}

static LogicalResult verifyIgnoreIndex(Operation *op, RankedTensorType labels, std::optional<int64_t> ignoreIndex) {
  if (!ignoreIndex || labels.getElementType().isInteger(64) || llvm::isInt<32>(*ignoreIndex))
    return success();
  return op->emitOpError("expected ignore_index to be a number of ")
         << labels.getElementType() << " but got " << *ignoreIndex;
}

LogicalResult CrossEntropyOp::verify() {
  RankedTensorType logits = getLogits().getType(), labels = getLabels().getType();
  return failure(failed(verifyLabels(*this, logits, labels)) ||                       // cross_entropy.C2
                 failed(verifyRowType(*this, logits, getLoss(), "loss")) ||           // cross_entropy.C3
                 failed(verifyRowType(*this, logits, getLogsumexp(), "logsumexp")) || // cross_entropy.C3
                 failed(verifyClasses(*this, logits)) ||                              // cross_entropy.C4
                 failed(verifyIgnoreIndex(*this, labels, getIgnoreIndex())));         // cross_entropy.C5
}

void CrossEntropyOp::forEachEqualSize(function_ref<void(Value, int64_t, Value, int64_t)> unite) {
  uniteLeading(getLabels(), getLogits(), unite);
  for (Value result : getResults())
    uniteLeading(result, getLogits(), unite);
}

LogicalResult CrossEntropyGradOp::verify() {
  RankedTensorType logits = getLogits().getType(), labels = getLabels().getType();
  if (failed(verifyLabels(*this, logits, labels)) ||                       // cross_entropy_grad.C2
      failed(verifyRowType(*this, logits, getDloss(), "dloss")) ||         // cross_entropy_grad.C3
      failed(verifyRowType(*this, logits, getLogsumexp(), "logsumexp")) || // cross_entropy_grad.C3
      failed(verifyClasses(*this, logits)) ||                              // cross_entropy_grad.C4
      failed(verifyIgnoreIndex(*this, labels, getIgnoreIndex())))          // cross_entropy_grad.C5
    return failure();
  if (getDlogits().getType() != logits) // cross_entropy_grad.C6
    return emitOpError("expected dlogits of the type of logits, ") << logits << ", but got " << getDlogits().getType();
  return success();
}

void CrossEntropyGradOp::forEachEqualSize(function_ref<void(Value, int64_t, Value, int64_t)> unite) {
  for (Value value : {Value(getDloss()), Value(getLabels()), Value(getLogsumexp()), Value(getDlogits())})
    uniteLeading(value, getLogits(), unite);
}

//===----------------------------------------------------------------------===//
// Embedding
//===----------------------------------------------------------------------===//

/// What is looked up in a table, or its gradient.
static LogicalResult verifyEmbedded(Operation *op, RankedTensorType ids, RankedTensorType table, Value rows,
                                    StringRef name) {
  if (table.getRank() != 2) // embedding.C2, embedding_grad.C2
    return op->emitOpError("expected a table of rank 2 but got ") << table;
  RankedTensorType type = getEmbeddedType(ids, table);
  if (rows.getType() != type) // embedding.C3, embedding_grad.C3
    return op->emitOpError("expected ") << name << " of type " << type << " but got " << rows.getType();
  return success();
}

/// Of what is looked up, the leading sizes are those of the ids, and the last one is the table's.
static void uniteEmbedded(Value ids, Value table, Value rows,
                          function_ref<void(Value, int64_t, Value, int64_t)> unite) {
  uniteLeading(ids, rows, unite);
  unite(rows, cast<RankedTensorType>(rows.getType()).getRank() - 1, table, 1);
}

LogicalResult EmbeddingOp::verify() {
  return verifyEmbedded(*this, getIds().getType(), getTable().getType(), getResult(), "a result");
}

void EmbeddingOp::forEachEqualSize(function_ref<void(Value, int64_t, Value, int64_t)> unite) {
  uniteEmbedded(getIds(), getTable(), getResult(), unite);
}

LogicalResult EmbeddingGradOp::verify() {
  RankedTensorType table = getTable().getType();
  if (failed(verifyEmbedded(*this, getIds().getType(), table, getDy(), "dy")))
    return failure();
  if (getDtable().getType() != table) // embedding_grad.C4
    return emitOpError("expected dtable of the type of table, ") << table << ", but got " << getDtable().getType();
  return success();
}

void EmbeddingGradOp::forEachEqualSize(function_ref<void(Value, int64_t, Value, int64_t)> unite) {
  uniteEmbedded(getIds(), getTable(), getDy(), unite);
  uniteLeading(getDtable(), getTable(), unite);
}
