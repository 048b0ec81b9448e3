// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Custom parsing and printing of type lists of what stands in whole layers: products, activations, attention, tokens;
// see Assembly.h.

#include "dialect/Assembly.h"

#include "dialect/TypeLists.h"

using namespace mlir;
using namespace mlir::resid;

/// The type of what a row of logits has one of; a wrong type stays one, which the verifier refuses.
static Type getTypeOfRows(Type logits) {
  auto rows = dyn_cast<RankedTensorType>(logits);
  bool hasRows = rows && rows.getRank() != 0 && isa<FloatType>(rows.getElementType());
  return hasRows ? getStatisticsType(rows, 1) : logits;
}

ParseResult resid::parseCrossEntropyTypes(OpAsmParser &parser, Type &logits, Type &labels, Type &loss,
                                          Type &logsumexp) {
  return failure(parseTypes(parser, {{"logits", logits}, {"labels", labels}}) ||
                 parseArrowTypes(parser, "loss and logsumexp", getTypeOfRows(logits), loss, logsumexp));
}

void resid::printCrossEntropyTypes(OpAsmPrinter &printer, Operation *op, Type logits, Type labels, Type, Type) {
  printTypes(printer, op, {logits, labels}, getTypeOfRows(logits));
}

ParseResult resid::parseCrossEntropyGradTypes(OpAsmParser &parser, Type &dloss, Type &logits, Type &labels,
                                              Type &logsumexp, Type &dlogits) {
  if (parseTypes(parser, {{"logits", logits}, {"labels", labels}}))
    return failure();
  dloss = logsumexp = getTypeOfRows(logits);
  dlogits = logits;
  return success();
}

void resid::printCrossEntropyGradTypes(OpAsmPrinter &printer, Operation *, Type, Type logits, Type labels, Type, Type) {
  printer << logits << ", " << labels;
}

ParseResult resid::parseEmbeddingTypes(OpAsmParser &parser, Type &ids, Type &table, Type &result) {
  if (parseTypes(parser, {{"ids", ids}, {"table", table}}))
    return failure();
  // The verifier refuses operands that have no result.
  result = getEmbeddedType(ids, table);
  if (!result)
    result = table;
  return success();
}

void resid::printEmbeddingTypes(OpAsmPrinter &printer, Operation *, Type ids, Type table, Type) {
  printer << ids << ", " << table;
}

ParseResult resid::parseEmbeddingGradTypes(OpAsmParser &parser, Type &dy, Type &ids, Type &table, Type &dtable) {
  if (parseEmbeddingTypes(parser, ids, table, dy))
    return failure();
  dtable = table;
  return success();
}

void resid::printEmbeddingGradTypes(OpAsmPrinter &printer, Operation *, Type, Type ids, Type table, Type) {
  printer << ids << ", " << table;
}

ParseResult resid::parseAttentionTypes(OpAsmParser &parser, OptionalOperand &maskOperand, OptionalOperand &sinkOperand,
                                       OptionalOperand &pastOperand, OptionalOperand &segmentsOperand, Type &q, Type &k,
                                       Type &v, Type &mask, Type &sink, Type &past, Type &querySegments,
                                       Type &keySegments, Type &result, SmallVectorImpl<Type> &statistics) {
  return failure(parseTypes(parser, {{"q", q},
                                     {"k", k},
                                     {"v", v},
                                     {"mask", mask, maskOperand.has_value()},
                                     {"sink", sink, sinkOperand.has_value()},
                                     {"segments of q", querySegments, segmentsOperand.has_value()},
                                     {"segments of k", keySegments, segmentsOperand.has_value()},
                                     {"past", past, pastOperand.has_value(), parser.getBuilder().getI64Type()}}) ||
                 parseArrowTypes(parser, AttentionOp::getResultType(q, v), result, statistics));
}

/// Null where it need not be written.
static Type getWrittenPast(Type past) { return isa_and_nonnull<IntegerType>(past) ? Type() : past; }

void resid::printAttentionTypes(OpAsmPrinter &printer, Operation *op, Value, Value, Value, Value, Type q, Type k,
                                Type v, Type mask, Type sink, Type past, Type querySegments, Type keySegments, Type,
                                TypeRange) {
  printTypes(printer, op, {q, k, v, mask, sink, querySegments, keySegments, getWrittenPast(past)},
             AttentionOp::getResultType(q, v));
}

ParseResult resid::parseAppendTypes(OpAsmParser &parser, Type &cache, Type &x, Type &past) {
  return parseTypes(parser, {{"cache", cache}, {"x", x}, {"past", past, true, parser.getBuilder().getI64Type()}});
}

void resid::printAppendTypes(OpAsmPrinter &printer, Operation *op, Type cache, Type x, Type past) {
  printTypes(printer, op, {cache, x, getWrittenPast(past)}, cache);
}

/// A wrong type stays one, which the verifier refuses.
ParseResult resid::parseAttentionGradTypes(OpAsmParser &parser, OptionalOperand &maskOperand,
                                           OptionalOperand &sinkOperand, OptionalOperand &segmentsOperand, Type &dy,
                                           Type &q, Type &k, Type &v, Type &max, Type &sum, Type &mask, Type &sink,
                                           Type &querySegments, Type &keySegments, Type &dq, Type &dk, Type &dv,
                                           Type &dsinks) {
  if (parseTypes(parser, {{"dy", dy},
                          {"q", q},
                          {"k", k},
                          {"v", v},
                          {"mask", mask, maskOperand.has_value()},
                          {"sink", sink, sinkOperand.has_value()},
                          {"segments of q", querySegments, segmentsOperand.has_value()},
                          {"segments of k", keySegments, segmentsOperand.has_value()}}))
    return failure();
  dq = q, dk = k, dv = v, max = sum = q;
  if (sinkOperand)
    dsinks = q;
  auto queries = dyn_cast<RankedTensorType>(q);
  if (!queries || queries.getRank() == 0)
    return success();
  auto isWide = [](Type type) { return type && getElementTypeOrSelf(type).isF64(); };
  Builder &b = parser.getBuilder();
  bool hasWide = isWide(q) || isWide(k) || isWide(v) || isWide(mask) || isWide(sink);
  Type arithmetic = hasWide ? Type(b.getF64Type()) : Type(b.getF32Type());
  ArrayRef<int64_t> sizes = queries.getShape();
  max = sum = RankedTensorType::get(sizes.drop_back(), arithmetic);
  if (sinkOperand && sizes.size() == 4)
    dsinks = RankedTensorType::get({sizes[0], sizes[2], sizes[1]}, arithmetic);
  return success();
}

void resid::printAttentionGradTypes(OpAsmPrinter &printer, Operation *op, Value, Value, Value, Type dy, Type q, Type k,
                                    Type v, Type, Type, Type mask, Type sink, Type querySegments, Type keySegments,
                                    Type, Type, Type, Type) {
  printTypes(printer, op, {dy, q, k, v, mask, sink, querySegments, keySegments}, op->getResultTypes());
}

ParseResult resid::parseRotaryTypes(OpAsmParser &parser, OptionalOperand &offsetOperand, Type &x, Type &cos, Type &sin,
                                    Type &offset) {
  return parseTypes(parser, {{"x", x},
                             {"cos", cos},
                             {"sin", sin},
                             {"offset", offset, offsetOperand.has_value(), parser.getBuilder().getI64Type()}});
}

void resid::printRotaryTypes(OpAsmPrinter &printer, Operation *op, Value, Type x, Type cos, Type sin, Type offset) {
  printTypes(printer, op, {x, cos, sin, getWrittenPast(offset)}, x);
}

ParseResult resid::parseActivationTypes(OpAsmParser &parser, OptionalOperand &upOperand, Type &x, Type &up) {
  if (parseTypes(parser, {{upOperand ? "x and up" : "x", x}}))
    return failure();
  if (upOperand)
    up = x;
  return success();
}

// The types of x and up are one, which the verifier holds.
void resid::printActivationTypes(OpAsmPrinter &printer, Operation *, Value, Type x, Type) { printer << x; }

/// What PyTorch and the models of Hugging Face call them.
static constexpr ForeignName foreignActivations[] = {{"gelu_new", "gelu_tanh"}, {"gelu_pytorch_tanh", "gelu_tanh"},
                                                     {"gelu_erf", "gelu"},      {"swish", "silu"},
                                                     {"logistic", "sigmoid"},   {"swish_glu", "swiglu"}};

ParseResult resid::parseKeyword(OpAsmParser &parser, ActivationKindAttr &kind) {
  SmallVector<StringRef> names;
  for (unsigned value = 0; value <= getMaxEnumValForActivationKind(); ++value)
    names.push_back(stringifyActivationKind(static_cast<ActivationKind>(value)));
  StringRef name;
  if (parseNameOf(parser, "activation", {names, foreignActivations, /*prefix=*/""}, name))
    return failure();
  kind = ActivationKindAttr::get(parser.getContext(), *symbolizeActivationKind(name));
  return success();
}

void resid::printKeyword(OpAsmPrinter &printer, Operation *, ActivationKindAttr kind) {
  printer << stringifyActivationKind(kind.getValue());
}
