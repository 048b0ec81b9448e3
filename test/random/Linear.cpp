// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "test/random/Parts.h"
#include <cmath>

namespace mlir::resid::random {

namespace {
/// Where the size of a dimension is found: an axis of a tensor.
struct SizeSource {
  Value tensor;
  int64_t axis;
};

/// A weight, and in which order it has its axes.
struct Weight {
  Stream value;
  bool isTransposed;
  int64_t inAxis() const { return isTransposed ? 1 : 0; }
  int64_t outAxis() const { return isTransposed ? 0 : 1; }
};
} // namespace

static Value makeEmpty(Scope &scope, RankedTensorType type, ArrayRef<SizeSource> sources) {
  SmallVector<Value> sizes;
  for (auto [i, source] : llvm::enumerate(sources))
    if (type.isDynamicDim(i))
      sizes.push_back(tensor::DimOp::create(scope.builder, scope.loc(), source.tensor, source.axis));
  return tensor::EmptyOp::create(scope.builder, scope.loc(), type, sizes);
}

static SmallVector<SizeSource> getSources(Value tensor, int64_t count) {
  return llvm::map_to_vector(llvm::seq(count), [&](int64_t axis) { return SizeSource{tensor, axis}; });
}

Value makeEmptyLike(Scope &scope, const Stream &x) {
  return makeEmpty(scope, x.getType(), getSources(x.value, x.getRank()));
}

static Weight drawWeight(Scope &scope, Dim in, Dim out, Type element) {
  OpBuilder &b = scope.builder;
  bool isTransposed = scope.random.chance(0.4);
  double scale = 0.8 / std::sqrt(static_cast<double>(std::max<int64_t>(in.size, 1)));
  Dims dims = isTransposed ? Dims{out, in} : Dims{in, out};
  Stream value{scope.weight(dims, element, scale), dims};
  if (!scope.random.chance(0.15))
    return {value, isTransposed};
  std::swap(dims[0], dims[1]);
  Value empty = makeEmpty(scope, random::getType(dims, element), {{value.value, 1}, {value.value, 0}});
  auto turned = linalg::TransposeOp::create(b, scope.loc(), value.value, empty, ArrayRef<int64_t>{1, 0});
  return {{turned->getResult(0), dims}, !isTransposed};
}

/// What the contraction starts from: zeros, or a bias for every row.
static Value drawStart(Scope &scope, const Stream &x, const Weight &weight, RankedTensorType type, Dim out) {
  OpBuilder &b = scope.builder;
  SmallVector<SizeSource> sources = getSources(x.value, x.getRank());
  sources.back() = {weight.value.value, weight.outAxis()};
  Value empty = makeEmpty(scope, type, sources);
  if (scope.random.chance(0.15)) {
    Value bias = scope.weight({out}, x.getElement());
    auto rows = llvm::to_vector(llvm::seq(x.getRank() - 1));
    return linalg::BroadcastOp::create(b, scope.loc(), bias, empty, rows)->getResult(0);
  }
  auto zero = arith::ConstantOp::create(b, scope.loc(), b.getZeroAttr(x.getElement()));
  return linalg::FillOp::create(b, scope.loc(), ValueRange{zero}, ValueRange{empty}).getResult(0);
}

/// The maps of y[…, j] += x[…, k]·w[k, j], or ·w[j, k].
static SmallVector<AffineMap> getMaps(MLIRContext *context, int64_t rank, bool isTransposed) {
  SmallVector<AffineExpr> input, output;
  for (int64_t i = 0; i + 1 < rank; ++i)
    input.push_back(getAffineDimExpr(i, context));
  output = input;
  AffineExpr j = getAffineDimExpr(rank - 1, context), k = getAffineDimExpr(rank, context);
  input.push_back(k);
  output.push_back(j);
  SmallVector<AffineExpr> weight = isTransposed ? SmallVector<AffineExpr>{j, k} : SmallVector<AffineExpr>{k, j};
  return {AffineMap::get(rank + 1, 0, input, context), AffineMap::get(rank + 1, 0, weight, context),
          AffineMap::get(rank + 1, 0, output, context)};
}

static Value makeGenericContraction(Scope &scope, Value x, Value weight, Value start, ArrayRef<AffineMap> maps) {
  auto type = cast<RankedTensorType>(start.getType());
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  iterators.push_back(utils::IteratorType::reduction);
  return linalg::GenericOp::create(scope.builder, scope.loc(), TypeRange{type}, ValueRange{x, weight},
                                   ValueRange{start}, maps, iterators,
                                   [](OpBuilder &inner, Location loc, ValueRange values) {
                                     Value product = arith::MulFOp::create(inner, loc, values[0], values[1]);
                                     Value sum = arith::AddFOp::create(inner, loc, values[2], product);
                                     linalg::YieldOp::create(inner, loc, sum);
                                   })
      .getResult(0);
}

/// A product of a batch with one weight, which is repeated for it.
static Value makeBatchMatmul(Scope &scope, const Stream &x, const Weight &weight, Value start) {
  OpBuilder &b = scope.builder;
  Dims dims{x.dims.front(), weight.value.dims[0], weight.value.dims[1]};
  Value empty = makeEmpty(scope, random::getType(dims, x.getElement()),
                          {{x.value, 0}, {weight.value.value, 0}, {weight.value.value, 1}});
  Value repeated =
      linalg::BroadcastOp::create(b, scope.loc(), weight.value.value, empty, ArrayRef<int64_t>{0})->getResult(0);
  return linalg::BatchMatmulOp::create(b, scope.loc(), TypeRange{start.getType()}, ValueRange{x.value, repeated},
                                       ValueRange{start})
      .getResult(0);
}

static Stream drawContraction(Scope &scope, const Stream &x, Dim out) {
  OpBuilder &b = scope.builder;
  Weight weight = drawWeight(scope, x.dims.back(), out, x.getElement());
  Dims dims = x.dims;
  dims.back() = out;
  if (scope.random.chance(0.2)) {
    Value bias =
        scope.random.chance(0.5) ? scope.weight({out}, drawParameterType(scope.random, x.getElement())) : Value();
    return {LinearOp::create(b, scope.loc(), x.value, weight.value.value, bias, !weight.isTransposed), dims};
  }
  RankedTensorType type = random::getType(dims, x.getElement());
  Value start = drawStart(scope, x, weight, type, out), w = weight.value.value;
  SmallVector<AffineMap> maps = getMaps(b.getContext(), x.getRank(), weight.isTransposed);
  if (x.getRank() == 2 && scope.random.chance(0.7)) {
    SmallVector<NamedAttribute> attributes;
    if (weight.isTransposed)
      attributes.push_back(b.getNamedAttr("indexing_maps", b.getAffineMapArrayAttr(maps)));
    auto matmul = linalg::MatmulOp::create(b, scope.loc(), TypeRange{type}, ValueRange{x.value, w}, ValueRange{start},
                                           attributes);
    return {matmul.getResult(0), dims};
  }
  if (x.getRank() == 3 && !weight.isTransposed && scope.random.chance(0.3))
    return {makeBatchMatmul(scope, x, weight, start), dims};
  if (scope.random.chance(0.3)) {
    auto contract = linalg::ContractOp::create(b, scope.loc(), TypeRange{type}, ValueRange{x.value, w},
                                               ValueRange{start}, b.getAffineMapArrayAttr(maps));
    return {contract->getResult(0), dims};
  }
  return {makeGenericContraction(scope, x.value, w, start, maps), dims};
}

/// y + b for every row as an elementwise op.
static Value makeGenericBias(Scope &scope, const Stream &y, Value bias) {
  OpBuilder &b = scope.builder;
  AffineMap elements = b.getMultiDimIdentityMap(y.getRank());
  AffineMap features = AffineMap::get(y.getRank(), 0, b.getAffineDimExpr(y.getRank() - 1));
  SmallVector<utils::IteratorType> iterators(y.getRank(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(b, scope.loc(), TypeRange{y.getType()}, ValueRange{y.value, bias},
                                   ValueRange{makeEmptyLike(scope, y)},
                                   ArrayRef<AffineMap>{elements, features, elements}, iterators,
                                   [](OpBuilder &inner, Location loc, ValueRange values) {
                                     Value sum = arith::AddFOp::create(inner, loc, values[0], values[1]);
                                     linalg::YieldOp::create(inner, loc, sum);
                                   })
      .getResult(0);
}

Stream drawLinear(Scope &scope, const Stream &x, Dim out) {
  Stream y = drawContraction(scope, x, out);
  if (!scope.random.chance(0.5))
    return y;
  if (scope.random.chance(0.2))
    return y.with(makeGenericBias(scope, y, scope.weight({out}, x.getElement())));
  Value bias = scope.weight({out}, drawParameterType(scope.random, x.getElement()));
  return y.with(AddBiasOp::create(scope.builder, scope.loc(), y.value, bias));
}

} // namespace mlir::resid::random
