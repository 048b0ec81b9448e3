// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builders and verifiers of the family Attention, and of the backward of attention.

#include "dialect/Canonical.h"
#include "dialect/Verification.h"
#include <cmath>

using namespace mlir;
using namespace mlir::resid;

//===----------------------------------------------------------------------===//
// What attention and its backward share
//===----------------------------------------------------------------------===//

template <typename OpTy> static FloatType getArithmeticTypeOf(OpTy op) {
  SmallVector<Value> operands = {op.getQ(), op.getK(), op.getV()};
  for (Value operand : {op.getMask(), op.getSink()})
    if (operand)
      operands.push_back(operand);
  for (Value operand : operands)
    if (Type element = getElementTypeOrSelf(operand.getType()); element.isF64())
      return cast<FloatType>(element);
  return Float32Type::get(op.getContext());
}

template <typename OpTy> static double getScoreScaleOf(OpTy op) {
  if (std::optional<APFloat> scale = op.getScale())
    return scale->convertToDouble();
  return 1.0 / std::sqrt(static_cast<double>(op.getQ().getType().getShape().back()));
}

/// No place of a key is further away than this: tensors hold at most 2^47 bytes.
static constexpr int64_t kWidestWindow = int64_t(1) << 48;

template <typename OpTy> static int64_t getWindowOf(OpTy op) {
  return std::min(static_cast<int64_t>(op.getWindow().value_or(0)), kWidestWindow);
}

template <typename OpTy> static double getCapOf(OpTy op) { return op.getCap() ? op.getCap()->convertToDouble() : 0.0; }

template <typename OpTy> static int64_t getThresholdOf(OpTy op) {
  return op.hasDropout() ? getDropoutThreshold(op.getP()->convertToDouble()) : 0;
}

using Unite = function_ref<void(Value, int64_t, Value, int64_t)>;
static constexpr int64_t kBatch = 0, kHeads = 1, kQueries = 2, kKeys = 2, kSize = 3, kRank = 4;

static void uniteAll(Value first, Value second, int64_t rank, Unite unite) {
  for (int64_t dimension = 0; dimension < rank; ++dimension)
    unite(first, dimension, second, dimension);
}

template <typename OpTy> static void uniteOperands(OpTy op, Unite unite) {
  unite(op.getQ(), kBatch, op.getK(), kBatch);
  uniteAll(op.getV(), op.getK(), kSize, unite);
  if (op.getSink())
    unite(op.getSink(), 0, op.getQ(), kHeads);
  if (op.hasSegments()) {
    for (auto [segments, of] :
         {std::pair(Value(op.getQuerySegments()), Value(op.getQ())), {Value(op.getKeySegments()), Value(op.getK())}}) {
      unite(segments, 0, of, kBatch);
      unite(segments, 1, of, kQueries);
    }
  }
  if (!op.getMask())
    return;
  RankedTensorType mask = op.getMask().getType();
  for (int64_t dimension = 0; dimension < mask.getRank(); ++dimension) {
    int64_t score = dimension + kRank - mask.getRank();
    if (mask.getDimSize(dimension) != 1 && score == kRank - 1)
      unite(op.getMask(), dimension, op.getK(), kKeys);
    else if (mask.getDimSize(dimension) != 1)
      unite(op.getMask(), dimension, op.getQ(), score);
  }
}

template <typename OpTy> static LogicalResult verifyRanks(OpTy op) {
  for (auto [name, value] : {std::pair("q", op.getQ()), {"k", op.getK()}, {"v", op.getV()}})
    if (value.getType().getRank() != 4) // attention.C1, attention_grad.C1
      return op.emitOpError("expected ") << name << " of rank 4, [batch, heads, positions, size], but got "
                                         << value.getType();
  return success();
}

template <typename OpTy> static LogicalResult verifySizes(OpTy op) {
  RankedTensorType q = op.getQ().getType(), k = op.getK().getType(), v = op.getV().getType();
  for (RankedTensorType type : {q, v})
    if (!AttentionOp::isHeadSize(type.getDimSize(kSize))) // attention.C2, attention_grad.C2
      return op.emitOpError("expected heads of a static size from 1 to ")
             << AttentionOp::kLargestHead << " but got " << type;
  if (k.getDimSize(kSize) != q.getDimSize(kSize)) // attention.C2, attention_grad.C2
    return op.emitOpError("expected k with heads of size ") << q.getDimSize(kSize) << " but got " << k;
  ArrayRef<int64_t> keys = k.getShape();
  if (failed(verifyCompatibleShape(keys.drop_back(), v.getShape().drop_back()))) // attention.C3, attention_grad.C3
    return op.emitOpError("expected v of the batch, heads and keys of k, ") << k << ", but got " << v;
  if (failed(verifyCompatibleShape(keys.take_front(1), q.getShape().take_front(1)))) // attention.C3, attention_grad.C3
    return op.emitOpError("expected k and v of the batch of q, ") << q << ", but got " << k;
  int64_t heads = q.getDimSize(1), keyHeads = keys[1];
  bool isOpen = ShapedType::isDynamic(heads) || ShapedType::isDynamic(keyHeads);
  if (isOpen || (keyHeads == 0 ? heads == 0 : heads % keyHeads == 0)) // attention.C4, attention_grad.C4
    return success();
  return op.emitOpError("expected a number of heads in k that divides that of q but got ") << k << " and " << q;
}

/// [batch, heads, queries, keys].
template <typename OpTy> static SmallVector<int64_t> getScoreShape(OpTy op) {
  SmallVector<int64_t> scores(op.getQ().getType().getShape().drop_back());
  scores.push_back(op.getK().getType().getDimSize(2));
  return scores;
}

template <typename OpTy> static LogicalResult verifyMask(OpTy op) {
  if (!op.getMask())
    return success();
  RankedTensorType mask = op.getMask().getType();
  SmallVector<int64_t> scores = getScoreShape(op);
  ArrayRef<int64_t> shape = mask.getShape();
  bool broadcasts = shape.size() <= scores.size() &&
                    llvm::all_of_zip(shape, ArrayRef(scores).take_back(shape.size()), [](int64_t size, int64_t target) {
                      return size == 1 || succeeded(verifyCompatibleShape(ArrayRef(size), ArrayRef(target)));
                    });
  if (broadcasts) // attention.C5, attention_grad.C5
    return success();
  return op.emitOpError("expected a mask that broadcasts to [batch, heads, queries, keys], ")
         << RankedTensorType::get(scores, mask.getElementType()) << ", but got " << mask;
}

/// A number for each sample, where `past` is a tensor.
static LogicalResult verifyPast(Operation *op, Value past, RankedTensorType rows) {
  auto type = past ? dyn_cast<RankedTensorType>(past.getType()) : RankedTensorType();
  if (!type || (type.getRank() == 1 && succeeded(verifyCompatibleShape(type.getShape(), rows.getShape().take_front()))))
    return success();
  return op->emitOpError("expected a past for each sample of ") << rows << ", but got " << type;
}

template <typename OpTy> static LogicalResult verifySegments(OpTy op) {
  if (!op.hasSegments())
    return success();
  for (auto [name, segments, of] :
       {std::tuple("q", op.getQuerySegments(), op.getQ().getType()), {"k", op.getKeySegments(), op.getK().getType()}}) {
    SmallVector<int64_t> expected{of.getDimSize(kBatch), of.getDimSize(kQueries)};
    RankedTensorType type = segments.getType();
    // attention.C18, attention_grad.C19
    if (type.getRank() != 2 || failed(verifyCompatibleShape(type.getShape(), ArrayRef(expected))))
      return op.emitOpError("expected segments of ")
             << name << " of type " << RankedTensorType::get(expected, type.getElementType()) << " but got " << type;
  }
  if (op.hasDropout()) // attention.C19, attention_grad.C20
    return op.emitOpError("expected no dropout beside segments");
  return success();
}

/// Window, cap and sink.
template <typename OpTy> static LogicalResult verifyTerms(OpTy op) {
  if (op.getWindow() && static_cast<int64_t>(*op.getWindow()) < 1) // attention.C14, attention_grad.C15
    return op.emitOpError("expected a window of 1 or more but got ") << static_cast<int64_t>(*op.getWindow());
  if (std::optional<APFloat> cap = op.getCap();
      cap && failed(verifyPositive(op, op.getArithmeticType(), *cap, "cap"))) // attention.C15, attention_grad.C16
    return failure();
  if (!op.getSink())
    return success();
  RankedTensorType sink = op.getSink().getType(), q = op.getQ().getType();
  // attention.C16, attention_grad.C17
  if (sink.getRank() == 1 && succeeded(verifyCompatibleShape(sink.getShape(), q.getShape().slice(kHeads, 1))))
    return success();
  return op.emitOpError("expected a sink with a number for each head of q, ") << q << ", but got " << sink;
}

/// All that holds of q, k, v, the mask, the sink, the scale, the cap, the window and dropout.
template <typename OpTy> static LogicalResult verifyOperands(OpTy op) {
  if (failed(verifyRanks(op)) || failed(verifySizes(op)) || failed(verifyMask(op)) || failed(verifyTerms(op)) ||
      failed(verifySegments(op)))
    return failure();
  if (std::optional<APFloat> scale = op.getScale();
      scale && failed(verifyScale(op, op.getArithmeticType(), *scale, "scale")))
    return failure(); // attention.C6, attention_grad.C6
  DropoutClause dropout{op.getSeed(), op.getStep(), getDropoutOrigin(op), op.getP(), op.getSite()};
  // attention.C9, attention.C10, attention.C11, attention.C12, attention.C13
  // attention_grad.C9, attention_grad.C10, attention_grad.C11, attention_grad.C12, attention_grad.C14
  return verifyDropoutClause(op, dropout, getScoreShape(op));
}

/// The statistics' type.
template <typename OpTy> static RankedTensorType getStatisticsTypeOf(OpTy op) {
  return RankedTensorType::get(op.getQ().getType().getShape().drop_back(), op.getArithmeticType());
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

FloatType AttentionOp::getArithmeticType() { return getArithmeticTypeOf(*this); }
double AttentionOp::getScoreScale() { return getScoreScaleOf(*this); }
int64_t AttentionOp::getWindowOrZero() { return getWindowOf(*this); }
double AttentionOp::getCapOrZero() { return getCapOf(*this); }
int64_t AttentionOp::getThreshold() { return getThresholdOf(*this); }

void AttentionOp::build(OpBuilder &builder, OperationState &state, Value q, Value k, Value v, Value mask, bool causal,
                        bool withStatistics) {
  SmallVector<Type> statistics;
  auto type = cast<RankedTensorType>(getResultType(q.getType(), v.getType()));
  auto isWide = [](Value value) { return value && getElementTypeOrSelf(value.getType()).isF64(); };
  bool hasWide = isWide(q) || isWide(k) || isWide(v) || isWide(mask);
  Type arithmetic = hasWide ? Type(builder.getF64Type()) : Type(builder.getF32Type());
  if (withStatistics)
    statistics.append(2, RankedTensorType::get(type.getShape().drop_back(), arithmetic));
  build(builder, state, type, statistics, q, k, v, mask, /*sink=*/Value(), /*past=*/Value(),
        /*query_segments=*/Value(), /*key_segments=*/Value(), /*seed=*/Value(), /*step=*/Value(),
        /*origin_row=*/Value(), /*origin_site=*/Value(), /*origin_col=*/Value(), /*extent_local=*/Value(),
        /*extent_global=*/Value(), /*scale=*/FloatAttr(), causal, /*window=*/IntegerAttr(), /*cap=*/FloatAttr(),
        /*p=*/FloatAttr(), /*site=*/IntegerAttr());
}

bool AttentionOp::isHeadSize(int64_t size) { return !ShapedType::isDynamic(size) && size >= 1 && size <= kLargestHead; }

Type AttentionOp::getResultType(Type q, Type v) {
  auto queries = dyn_cast<RankedTensorType>(q), values = dyn_cast<RankedTensorType>(v);
  if (!queries || !values || queries.getRank() != kRank || values.getRank() != kRank)
    return q;
  SmallVector<int64_t> sizes(queries.getShape());
  sizes[kSize] = values.getDimSize(kSize);
  return queries.clone(sizes);
}

void AttentionOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  if (getStatistics().size() != 2)
    return;
  setName(getResult(), "attention");
  setName(getMax(), "max");
  setName(getSum(), "sum");
}

void AttentionOp::forEachEqualSize(Unite unite) {
  uniteOperands(*this, unite);
  uniteAll(getResult(), getQ(), kSize, unite);
  if (getPast() && isa<RankedTensorType>(getPast().getType()))
    unite(getPast(), 0, getQ(), kBatch);
  for (Value statistic : getStatistics())
    uniteAll(statistic, getQ(), kQueries + 1, unite);
}

LogicalResult AttentionOp::verify() {
  if (failed(verifyOperands(*this)) || failed(verifyPast(*this, getPast(), getQ().getType()))) // attention.C17
    return failure();
  if (hasSegments() && getPast()) // attention.C19
    return emitOpError("expected no past beside segments");
  RankedTensorType q = getQ().getType(), result = getResult().getType();
  auto expectedResult = cast<RankedTensorType>(getResultType(q, getV().getType()));
  if (result.getShape() != expectedResult.getShape()) // attention.C7
    return emitOpError("expected a result of the rows of q and the size of v, ")
           << expectedResult << ", but got " << result;
  if (getStatistics().size() != 0 && getStatistics().size() != 2) // attention.C8
    return emitOpError("expected no statistics or 2 but got ") << getStatistics().size();
  RankedTensorType expected = getStatisticsTypeOf(*this);
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

//===----------------------------------------------------------------------===//
// The backward of attention
//===----------------------------------------------------------------------===//

FloatType AttentionGradOp::getArithmeticType() { return getArithmeticTypeOf(*this); }
double AttentionGradOp::getScoreScale() { return getScoreScaleOf(*this); }
int64_t AttentionGradOp::getWindowOrZero() { return getWindowOf(*this); }
double AttentionGradOp::getCapOrZero() { return getCapOf(*this); }
int64_t AttentionGradOp::getThreshold() { return getThresholdOf(*this); }

void AttentionGradOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getDq(), "dq");
  setName(getDk(), "dk");
  setName(getDv(), "dv");
  if (getDsinks())
    setName(getDsinks(), "dsinks");
}

void AttentionGradOp::forEachEqualSize(Unite unite) {
  uniteOperands(*this, unite);
  for (Value rows : {Value(getDy()), Value(getDq())})
    uniteAll(rows, getQ(), kSize, unite);
  for (Value statistic : {Value(getMax()), Value(getSum())})
    uniteAll(statistic, getQ(), kQueries + 1, unite);
  uniteAll(getDk(), getK(), kRank, unite);
  uniteAll(getDv(), getV(), kRank, unite);
  if (!getDsinks())
    return;
  for (auto [dimension, of] : {std::pair(0, kBatch), {1, kQueries}, {2, kHeads}})
    unite(getDsinks(), dimension, getQ(), of);
}

LogicalResult AttentionGradOp::verify() {
  if (failed(verifyOperands(*this)))
    return failure();
  RankedTensorType q = getQ().getType(), dy = getDy().getType();
  auto result = cast<RankedTensorType>(AttentionOp::getResultType(q, getV().getType()));
  if (dy.getShape() != result.getShape()) // attention_grad.C7
    return emitOpError("expected dy of the rows of q and the size of v, ") << result << ", but got " << dy;
  if (dy.getElementType().isF64() && !getArithmeticType().isF64()) // attention_grad.C7
    return emitOpError("expected dy of f64 only where q, k, v, the mask or the sink is but got ") << dy;
  RankedTensorType expected = getStatisticsTypeOf(*this);
  for (Value statistic : {Value(getMax()), Value(getSum())})
    if (statistic.getType() != expected) // attention_grad.C8
      return emitOpError("expected statistics of type ") << expected << " but got " << statistic.getType();
  for (auto [name, gradient, of] : {std::tuple("dq", Value(getDq()), Value(getQ())),
                                    {"dk", Value(getDk()), Value(getK())},
                                    {"dv", Value(getDv()), Value(getV())}})
    if (gradient.getType() != of.getType()) // attention_grad.C13
      return emitOpError("expected ") << name << " of type " << of.getType() << " but got " << gradient.getType();
  ArrayRef<int64_t> sizes = q.getShape();
  auto sinks = RankedTensorType::get({sizes[kBatch], sizes[kQueries], sizes[kHeads]}, getArithmeticType());
  if (static_cast<bool>(getDsinks()) != static_cast<bool>(getSink())) // attention_grad.C18
    return emitOpError("expected dsinks beside a sink, and only there");
  if (getDsinks() && getDsinks().getType() != sinks) // attention_grad.C18
    return emitOpError("expected dsinks of type ") << sinks << " but got " << getDsinks().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Append
//===----------------------------------------------------------------------===//

LogicalResult AppendOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getCache().getType());
  return success();
}

void AppendOp::forEachEqualSize(Unite unite) {
  for (int64_t dimension = 0; dimension < kRank; ++dimension) {
    unite(getResult(), dimension, getCache(), dimension);
    if (dimension != kKeys)
      unite(getX(), dimension, getCache(), dimension);
  }
  if (isa<RankedTensorType>(getPast().getType()))
    unite(getPast(), 0, getCache(), kBatch);
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
    return verifyPast(*this, getPast(), cache);                            // append.C4
  return emitOpError("expected [batch, heads, new keys, size] that fit into the cache ") << cache << " but got " << x;
}
