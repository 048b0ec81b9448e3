// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builders, verifiers and canonical forms of the family Streams.

#include "dialect/Canonical.h"
#include "dialect/Shapes.h"
#include "dialect/Verification.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::resid;

RankedTensorType resid::getStreamType(Type streams) {
  auto type = dyn_cast<RankedTensorType>(streams);
  if (!type || type.getRank() < 2)
    return {};
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.end() - 2);
  return type.clone(shape);
}

RankedTensorType resid::getProjectedType(Type x, Type weight) {
  auto streams = dyn_cast<RankedTensorType>(x), matrix = dyn_cast<RankedTensorType>(weight);
  if (!streams || !matrix || streams.getRank() < 2 || matrix.getRank() == 0)
    return {};
  SmallVector<int64_t> shape(streams.getShape().drop_back(2));
  shape.push_back(matrix.getDimSize(0));
  return RankedTensorType::get(shape, getWiderArithmeticType(streams, matrix));
}

RankedTensorType resid::getStreamDotsType(Type a, Type b) {
  auto left = dyn_cast<RankedTensorType>(a), right = dyn_cast<RankedTensorType>(b);
  if (!left || !right || left.getRank() < 2 || right.getRank() < 2)
    return {};
  SmallVector<int64_t> shape(left.getShape().drop_back());
  shape.push_back(right.getShape().end()[-2]);
  return RankedTensorType::get(shape, getWiderArithmeticType(left, right));
}

FloatType resid::getWiderArithmeticType(RankedTensorType a, RankedTensorType b) {
  return getArithmeticType(b.getElementType().isF64() ? b.getElementType() : a.getElementType());
}

//===----------------------------------------------------------------------===//
// What the ops have in common
//===----------------------------------------------------------------------===//

LogicalResult resid::verifyStreams(Operation *op, RankedTensorType x, StringRef name) {
  int64_t streams = x.getRank() < 2 ? 0 : x.getShape().end()[-2];
  if (streams >= 1 && streams <= kMaxStreams)
    return success();
  return op->emitOpError("expected ") << name
                                      << " of rank 2 or more, whose last dimension but one is static and from 1 "
                                      << "to " << kMaxStreams << ", but got " << x;
}

LogicalResult resid::verifyStreamWeights(Operation *op, RankedTensorType x, Value weights) {
  if (!weights)
    return success();
  auto type = cast<RankedTensorType>(weights.getType());
  bool fits =
      type.getRank() >= 2 && type.getRank() <= x.getRank() && type.getShape().end()[-2] == x.getShape().end()[-2];
  for (int64_t dim = 0; fits && dim < type.getRank(); ++dim) {
    int64_t size = type.getDimSize(dim);
    fits = size == 1 || agree(size, x.getDimSize(x.getRank() - type.getRank() + dim));
  }
  if (fits)
    return success();
  return op->emitOpError("expected weights that broadcast to x, with one for each of ")
         << x.getShape().end()[-2] << " streams, but got " << type << " beside " << x;
}

/// A value of the shape of `expected`, whose element type may be f32 where that is a narrower one.
static LogicalResult verifyWideResult(Operation *op, RankedTensorType expected, RankedTensorType result) {
  Type element = result.getElementType();
  bool isWide = element.isF32() && getArithmeticType(expected.getElementType()) == element;
  if (result.getShape() == expected.getShape() && (element == expected.getElementType() || isWide))
    return success();
  return op->emitOpError("expected a result of type ")
         << expected << " or of f32 for narrower streams, but got " << result;
}

/// All sizes that are not broadcast are those of x, aligned at the last dimension.
static void uniteTrailing(Value value, Value x, UniteSizes unite) {
  if (!value)
    return;
  auto type = cast<RankedTensorType>(value.getType());
  int64_t offset = cast<RankedTensorType>(x.getType()).getRank() - type.getRank();
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.getDimSize(dim) != 1)
      unite(value, dim, x, dim + offset);
}

/// `one` has the sizes of `x` but for that of the streams.
static void uniteStream(Value one, Value x, UniteSizes unite) {
  if (!one)
    return;
  int64_t rank = cast<RankedTensorType>(x.getType()).getRank();
  uniteLeading(one, x, rank - 2, unite);
  unite(one, rank - 2, x, rank - 1);
}

SmallVector<ReassociationIndices> resid::groupLastTwo(int64_t rank) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim + 2 < rank; ++dim)
    groups.push_back({dim});
  groups.push_back({rank - 2, rank - 1});
  return groups;
}

Value resid::dropStream(OpBuilder &builder, Location loc, Value value) {
  if (!value)
    return {};
  return tensor::CollapseShapeOp::create(builder, loc, value,
                                         groupLastTwo(cast<RankedTensorType>(value.getType()).getRank()));
}

Value resid::addStream(OpBuilder &builder, Location loc, Value row) {
  if (!row)
    return {};
  auto type = cast<RankedTensorType>(row.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.end() - 1, 1);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, row);
  sizes.insert(sizes.end() - 1, builder.getIndexAttr(1));
  return tensor::ExpandShapeOp::create(builder, loc, type.clone(shape), row, groupLastTwo(type.getRank() + 1), sizes);
}

static bool hasOneStream(RankedTensorType x) { return x.getShape().end()[-2] == 1; }

//===----------------------------------------------------------------------===//
// ReadOp
//===----------------------------------------------------------------------===//

void ReadOp::build(OpBuilder &builder, OperationState &state, Value x, Value weights, double scale) {
  build(builder, state, getStreamType(x.getType()), x, weights, builder.getF64FloatAttr(scale));
}

LogicalResult ReadOp::verify() {
  RankedTensorType x = getX().getType();
  if (failed(verifyStreams(*this, x, "x"))) // read.C2
    return failure();
  return failure(failed(verifyStreamWeights(*this, x, getWeights())) ||                      // read.C3
                 failed(verifyWideResult(*this, getStreamType(x), getResult().getType())) || // read.C4
                 failed(verifyParameterType(*this, x, getWeights(), "weights")) ||           // read.C5
                 failed(verifyScale(*this, x.getElementType(), getScale(), "scale")));       // read.C6
}

LogicalResult ReadOp::canonicalize(ReadOp op, PatternRewriter &rewriter) {
  RankedTensorType x = op.getX().getType();
  // 1·X = X for every X, NaN and -0 included, and fma(1, X, u) is X + u.
  if (isIdentityGate(op.getWeights(), x)) {
    rewriter.modifyOpInPlace(op, [&] { op.getWeightsMutable().clear(); });
    return success();
  }
  if (!hasOneStream(x) || op.getWeights() || !op.getScale().isExactlyValue(1.0) || op.getType() != getStreamType(x))
    return rewriter.notifyMatchFailure(op, "there are weights, a scale or several streams, or the result is wider");
  rewriter.replaceOp(op, dropStream(rewriter, op.getLoc(), op.getX()));
  return success();
}

void ReadOp::forEachEqualSize(UniteSizes unite) {
  uniteTrailing(getWeights(), getX(), unite);
  uniteStream(getResult(), getX(), unite);
}

//===----------------------------------------------------------------------===//
// WriteOp
//===----------------------------------------------------------------------===//

void WriteOp::build(OpBuilder &builder, OperationState &state, Value x, Value y, Value weights, Value mix,
                    bool transposed) {
  build(builder, state, x.getType(), x, y, weights, mix, transposed ? builder.getUnitAttr() : UnitAttr());
}

/// Whether a mix of the streams x has all n by n elements.
static bool isWholeMix(RankedTensorType x, RankedTensorType mix) {
  return mix.getShape().back() != 1 || hasOneStream(x);
}

bool WriteOp::hasWholeMix() { return getMix() && isWholeMix(getX().getType(), getMix().getType()); }

LogicalResult resid::verifyStreamMix(Operation *op, RankedTensorType x, Value value, bool isTransposed) {
  if (!value)
    return success();
  auto mix = cast<RankedTensorType>(value.getType());
  int64_t rank = mix.getRank(), streams = x.getShape().end()[-2];
  bool fits = (rank == 2 || rank == x.getRank()) && rank >= 2 && mix.getShape().end()[-2] == streams &&
              (mix.getShape().back() == streams || mix.getShape().back() == 1);
  for (int64_t dim = 0; fits && dim < rank - 2; ++dim)
    fits = agree(mix.getDimSize(dim), x.getDimSize(dim));
  if (!fits)
    return op->emitOpError("expected a mix of ") << streams << "x" << streams << " or " << streams
                                                 << "x1, for all rows or for each row of " << x << ", but got " << mix;
  if (isTransposed && !isWholeMix(x, mix)) // write.C7
    return op->emitOpError("expected transposed only with a mix of n by n, but got ") << mix;
  return verifyParameterType(op, x, value, "mix"); // write.C8
}

LogicalResult WriteOp::verify() {
  RankedTensorType x = getX().getType();
  if (failed(verifyStreams(*this, x, "x"))) // write.C2
    return failure();
  if (getY() && getY().getType() != getStreamType(x)) // write.C2
    return emitOpError("expected y of type ") << getStreamType(x) << " but got " << getY().getType();
  if (!getY() && (!getMix() || getWeights())) // write.C3
    return emitOpError("expected y or a mix, and weights only with y, but got no y");
  if (getTransposed() && !getMix()) // write.C7
    return emitOpError("expected transposed only with a mix of n by n, but got no mix");
  return failure(failed(verifyStreamWeights(*this, x, getWeights())) ||           // write.C4
                 failed(verifyStreamMix(*this, x, getMix(), getTransposed())) ||  // write.C5
                 failed(verifyWideResult(*this, x, getResult().getType())) ||     // write.C6
                 failed(verifyParameterType(*this, x, getWeights(), "weights"))); // write.C8
}

/// The mix of one stream as a factor of the stream: 1 without a mix; nothing where it is no finite constant.
static std::optional<double> getConstantMix(WriteOp op) {
  APFloat value(1.0);
  if (op.getMix() && !matchPattern(op.getMix(), m_ConstantFloat(&value)))
    return std::nullopt;
  return value.isFinite() ? std::optional(value.convertToDouble()) : std::nullopt;
}

LogicalResult WriteOp::canonicalize(WriteOp op, PatternRewriter &rewriter) {
  RankedTensorType x = op.getX().getType();
  if (isIdentityGate(op.getWeights(), x)) {
    rewriter.modifyOpInPlace(op, [&] { op.getWeightsMutable().clear(); });
    return success();
  }
  std::optional<double> skipScale = hasOneStream(x) && op.getY() ? getConstantMix(op) : std::nullopt;
  if (!skipScale)
    return rewriter.notifyMatchFailure(op, "there are several streams, no branch, or a mix that is no finite constant");
  Location loc = op.getLoc();
  Value stream = dropStream(rewriter, loc, op.getX()), gate = dropStream(rewriter, loc, op.getWeights());
  Value added = AddOp::create(rewriter, loc, getStreamType(op.getType()), stream, op.getY(), gate,
                              /*skip=*/Value(), /*also=*/Value(), /*also_scale=*/Value(),
                              rewriter.getF64FloatAttr(*skipScale), rewriter.getF64FloatAttr(1.0));
  rewriter.replaceOp(op, addStream(rewriter, loc, added));
  return success();
}

void WriteOp::forEachEqualSize(UniteSizes unite) {
  uniteTrailing(getWeights(), getX(), unite);
  uniteStream(getY(), getX(), unite);
  if (getMix())
    uniteLeading(getMix(), getX(), getMix().getType().getRank() - 2, unite);
  uniteLeading(getResult(), getX(), getX().getType().getRank(), unite);
}

//===----------------------------------------------------------------------===//
// ProjectOp
//===----------------------------------------------------------------------===//

FloatType ProjectOp::getArithmeticType() { return getWiderArithmeticType(getX().getType(), getWeight().getType()); }

void ProjectOp::build(OpBuilder &builder, OperationState &state, Value x, Value weight, double epsilon, bool withRstd) {
  RankedTensorType z = getProjectedType(x.getType(), weight.getType());
  build(builder, state, z, withRstd ? z.clone(z.getShape().drop_back()) : Type(), x, weight,
        builder.getF64FloatAttr(epsilon));
}

void ProjectOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getZ(), "z");
  if (getRstd())
    setName(getRstd(), "rstd");
}

LogicalResult ProjectOp::verify() {
  RankedTensorType x = getX().getType(), weight = getWeight().getType();
  if (failed(verifyStreams(*this, x, "x"))) // project.C2
    return failure();
  constexpr int64_t maxRows = 64;
  int64_t width = x.getShape().back(), streams = x.getShape().end()[-2];
  int64_t columns = ShapedType::isDynamic(width) ? width : width * streams;
  if (weight.getRank() != 2 || weight.getDimSize(0) < 1 || weight.getDimSize(0) > maxRows ||
      !agree(weight.getDimSize(1), columns)) // project.C2
    return emitOpError("expected a weight of 1 to ")
           << maxRows << " rows of " << streams << " times the features of " << x << ", but got " << weight;
  RankedTensorType z = getProjectedType(x, weight), rstd = z.clone(z.getShape().drop_back());
  if (getZ().getType() != z) // project.C3
    return emitOpError("expected z of type ") << z << " but got " << getZ().getType();
  if (getRstd() && getRstd().getType() != rstd) // project.C3
    return emitOpError("expected rstd of type ") << rstd << " but got " << getRstd().getType();
  return verifyEpsilon(*this, getArithmeticType(), getEpsilon()); // project.C4
}

void ProjectOp::forEachEqualSize(UniteSizes unite) {
  int64_t leading = getX().getType().getRank() - 2;
  unite(getZ(), leading, getWeight(), 0);
  for (Value result : getResults())
    uniteLeading(result, getX(), leading, unite);
}

//===----------------------------------------------------------------------===//
// SinkhornOp, SinkhornGradOp
//===----------------------------------------------------------------------===//

template <typename Op> static LogicalResult verifySinkhorn(Op op) {
  RankedTensorType logits = op.getLogits().getType();
  if (logits.getRank() < 2 || logits.getShape().back() != logits.getShape().end()[-2]) // sinkhorn.C2, sinkhorn_grad.C2
    return op.emitOpError("expected logits of rank 2 or more, whose last two dimensions are static and equal, but got ")
           << logits;
  if (failed(verifyStreams(op, logits, "logits"))) // sinkhorn.C2, sinkhorn_grad.C2
    return failure();
  constexpr int64_t maxIterations = 1000;
  if (op.getIterations() < 1 || op.getIterations() > maxIterations) // sinkhorn.C3, sinkhorn_grad.C3
    return op.emitOpError("expected 1 to ") << maxIterations << " iterations but got " << op.getIterations();
  return verifyEpsilon(op, logits.getElementType(), op.getEpsilon()); // sinkhorn.C4, sinkhorn_grad.C4
}

LogicalResult SinkhornOp::verify() { return verifySinkhorn(*this); }

void SinkhornOp::forEachEqualSize(UniteSizes unite) {
  uniteLeading(getResult(), getLogits(), getLogits().getType().getRank(), unite);
}

LogicalResult SinkhornGradOp::verify() { return verifySinkhorn(*this); }

void SinkhornGradOp::forEachEqualSize(UniteSizes unite) {
  for (Value value : {Value(getDmix()), Value(getDlogits())})
    uniteLeading(value, getLogits(), getLogits().getType().getRank(), unite);
}

//===----------------------------------------------------------------------===//
// StreamDotsOp
//===----------------------------------------------------------------------===//

FloatType StreamDotsOp::getArithmeticType() { return getWiderArithmeticType(getA().getType(), getB().getType()); }

void StreamDotsOp::build(OpBuilder &builder, OperationState &state, Value a, Value b) {
  build(builder, state, getStreamDotsType(a.getType(), b.getType()), a, b);
}

LogicalResult StreamDotsOp::verify() {
  RankedTensorType a = getA().getType(), b = getB().getType();
  if (failed(verifyStreams(*this, a, "a")) || failed(verifyStreams(*this, b, "b"))) // stream_dots.C2
    return failure();
  bool fits = a.getRank() == b.getRank();
  for (int64_t dim = 0; fits && dim < a.getRank(); ++dim)
    fits = dim == a.getRank() - 2 || agree(a.getDimSize(dim), b.getDimSize(dim));
  if (!fits) // stream_dots.C2
    return emitOpError("expected a and b of the same rows and features but got ") << a << " and " << b;
  if (RankedTensorType type = getStreamDotsType(a, b); getResult().getType() != type) // stream_dots.C3
    return emitOpError("expected a result of type ") << type << " but got " << getResult().getType();
  return success();
}

void StreamDotsOp::forEachEqualSize(UniteSizes unite) {
  int64_t rank = getA().getType().getRank();
  uniteLeading(getB(), getA(), rank - 2, unite);
  unite(getB(), rank - 1, getA(), rank - 1);
  uniteLeading(getResult(), getA(), rank - 2, unite);
}
