// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builders and verifiers of the family Attention.

#include "dialect/Canonical.h"
#include "dialect/Verification.h"
#include <cmath>

using namespace mlir;
using namespace mlir::resid;

FloatType AttentionOp::getArithmeticType() {
  SmallVector<Value> operands = {getQ(), getK(), getV()};
  if (getMask())
    operands.push_back(getMask());
  for (Value operand : operands)
    if (Type element = getElementTypeOrSelf(operand.getType()); element.isF64())
      return cast<FloatType>(element);
  return Float32Type::get(getContext());
}

double AttentionOp::getScoreScale() {
  if (std::optional<APFloat> scale = getScale())
    return scale->convertToDouble();
  return 1.0 / std::sqrt(static_cast<double>(getQ().getType().getShape().back()));
}

int64_t AttentionOp::getThreshold() { return hasDropout() ? getDropoutThreshold(getP()->convertToDouble()) : 0; }

void AttentionOp::build(OpBuilder &builder, OperationState &state, Value q, Value k, Value v, Value mask, bool causal,
                        bool withStatistics) {
  SmallVector<Type> statistics;
  auto type = cast<RankedTensorType>(q.getType());
  auto isWide = [](Value value) { return value && getElementTypeOrSelf(value.getType()).isF64(); };
  bool hasWide = isWide(q) || isWide(k) || isWide(v) || isWide(mask);
  Type arithmetic = hasWide ? Type(builder.getF64Type()) : Type(builder.getF32Type());
  if (withStatistics)
    statistics.append(2, RankedTensorType::get(type.getShape().drop_back(), arithmetic));
  build(builder, state, type, statistics, q, k, v, mask, /*past=*/Value(), /*seed=*/Value(), /*step=*/Value(),
        /*origin_row=*/Value(), /*origin_site=*/Value(), /*scale=*/FloatAttr(), causal, /*p=*/FloatAttr(),
        /*site=*/IntegerAttr());
}

void AttentionOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  if (getStatistics().size() != 2)
    return;
  setName(getResult(), "attention");
  setName(getMax(), "max");
  setName(getSum(), "sum");
}

void AttentionOp::forEachEqualSize(function_ref<void(Value, int64_t, Value, int64_t)> unite) {
  constexpr int64_t kBatch = 0, kQueries = 2, kKeys = 2, kRank = 4;
  unite(getQ(), kBatch, getK(), kBatch);
  for (int64_t dimension = 0; dimension < kRank; ++dimension) {
    unite(getV(), dimension, getK(), dimension);
    unite(getResult(), dimension, getQ(), dimension);
  }
  for (Value statistic : getStatistics())
    for (int64_t dimension = 0; dimension <= kQueries; ++dimension)
      unite(statistic, dimension, getQ(), dimension);
  if (!getMask())
    return;
  RankedTensorType mask = getMask().getType();
  for (int64_t dimension = 0; dimension < mask.getRank(); ++dimension) {
    int64_t score = dimension + kRank - mask.getRank();
    if (mask.getDimSize(dimension) != 1 && score == kRank - 1)
      unite(getMask(), dimension, getK(), kKeys);
    else if (mask.getDimSize(dimension) != 1)
      unite(getMask(), dimension, getQ(), score);
  }
}

static LogicalResult verifyRanks(AttentionOp op) {
  for (auto [name, value] : {std::pair("q", op.getQ()), {"k", op.getK()}, {"v", op.getV()}})
    if (value.getType().getRank() != 4) // attention.C1
      return op.emitOpError("expected ") << name << " of rank 4, [batch, heads, positions, size], but got "
                                         << value.getType();
  return success();
}

static LogicalResult verifySizes(AttentionOp op) {
  RankedTensorType q = op.getQ().getType(), k = op.getK().getType(), v = op.getV().getType();
  int64_t size = q.getDimSize(3);
  if (ShapedType::isDynamic(size) || size < 1 || size > AttentionOp::kLargestHead) // attention.C2
    return op.emitOpError("expected heads of a static size from 1 to ")
           << AttentionOp::kLargestHead << " but got " << q;
  if (k.getDimSize(3) != size || v.getDimSize(3) != size) // attention.C2
    return op.emitOpError("expected k and v with heads of size ") << size << " but got " << k << " and " << v;
  ArrayRef<int64_t> keys = k.getShape();
  if (failed(verifyCompatibleShape(keys, v.getShape()))) // attention.C3
    return op.emitOpError("expected v of the shape of k, ") << k << ", but got " << v;
  if (failed(verifyCompatibleShape(keys.take_front(1), q.getShape().take_front(1)))) // attention.C3
    return op.emitOpError("expected k and v of the batch of q, ") << q << ", but got " << k;
  int64_t heads = q.getDimSize(1), keyHeads = keys[1];
  bool isOpen = ShapedType::isDynamic(heads) || ShapedType::isDynamic(keyHeads);
  if (isOpen || (keyHeads == 0 ? heads == 0 : heads % keyHeads == 0)) // attention.C4
    return success();
  return op.emitOpError("expected a number of heads in k that divides that of q but got ") << k << " and " << q;
}

/// [batch, heads, queries, keys].
static SmallVector<int64_t> getScoreShape(AttentionOp op) {
  SmallVector<int64_t> scores(op.getQ().getType().getShape().drop_back());
  scores.push_back(op.getK().getType().getDimSize(2));
  return scores;
}

static LogicalResult verifyMask(AttentionOp op) {
  if (!op.getMask())
    return success();
  RankedTensorType mask = op.getMask().getType();
  SmallVector<int64_t> scores = getScoreShape(op);
  ArrayRef<int64_t> shape = mask.getShape();
  bool broadcasts = shape.size() <= scores.size() &&
                    llvm::all_of_zip(shape, ArrayRef(scores).take_back(shape.size()), [](int64_t size, int64_t target) {
                      return size == 1 || succeeded(verifyCompatibleShape(ArrayRef(size), ArrayRef(target)));
                    });
  if (broadcasts) // attention.C5
    return success();
  return op.emitOpError("expected a mask that broadcasts to [batch, heads, queries, keys], ")
         << RankedTensorType::get(scores, mask.getElementType()) << ", but got " << mask;
}

LogicalResult AttentionOp::verify() {
  if (failed(verifyRanks(*this)) || failed(verifySizes(*this)) || failed(verifyMask(*this)))
    return failure();
  if (std::optional<APFloat> scale = getScale();
      scale && failed(verifyScale(*this, getArithmeticType(), *scale, "scale")))
    return failure(); // attention.C6
  DropoutClause dropout{getSeed(), getStep(), getOriginRow(), getOriginSite(), getP(), getSite()};
  // attention.C9, attention.C10, attention.C11, attention.C12
  if (failed(verifyDropoutClause(*this, dropout, getScoreShape(*this))))
    return failure();
  RankedTensorType q = getQ().getType(), result = getResult().getType();
  if (result.getShape() != q.getShape()) // attention.C7
    return emitOpError("expected a result of the shape of q, ") << q << ", but got " << result;
  if (getStatistics().size() != 0 && getStatistics().size() != 2) // attention.C8
    return emitOpError("expected no statistics or 2 but got ") << getStatistics().size();
  auto expected = RankedTensorType::get(q.getShape().drop_back(), getArithmeticType());
  for (Type type : getStatistics().getTypes())
    if (type != expected) // attention.C8
      return emitOpError("expected statistics of type ") << expected << " but got " << type;
  return success();
}

LogicalResult AttentionOp::canonicalize(AttentionOp op, PatternRewriter &rewriter) {
  if (leaveOutDropout(op, rewriter))
    return success();
  return rewriter.notifyMatchFailure(op, "expected a dropout clause that drops nothing");
}

LogicalResult AppendOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getCache().getType());
  return success();
}

void AppendOp::forEachEqualSize(function_ref<void(Value, int64_t, Value, int64_t)> unite) {
  constexpr int64_t kKeys = 2, kRank = 4;
  for (int64_t dimension = 0; dimension < kRank; ++dimension) {
    unite(getResult(), dimension, getCache(), dimension);
    if (dimension != kKeys)
      unite(getX(), dimension, getCache(), dimension);
  }
}

LogicalResult AppendOp::verify() {
  RankedTensorType cache = getCache().getType(), x = getX().getType();
  SmallVector<int64_t> expected(cache.getShape());
  bool isWhole = cache.getRank() == 4 && x.getRank() == 4 && cache.getElementType() == x.getElementType();
  if (isWhole) {
    int64_t added = x.getDimSize(2), places = cache.getDimSize(2);
    isWhole = ShapedType::isDynamic(added) || ShapedType::isDynamic(places) || added <= places;
    expected[2] = added;
  }
  if (isWhole && succeeded(verifyCompatibleShape(expected, x.getShape()))) // append.C2
    return success();
  return emitOpError("expected [batch, heads, new keys, size] that fit into the cache ") << cache << " but got " << x;
}
