// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "test/random/Parts.h"

namespace mlir::resid::random {

namespace {
class FlatOps {
public:
  FlatOps(Scope &scope, Style &style, ArrayRef<Stream> inputs)
      : scope(scope), style(style), random(scope.random), b(scope.builder), pool(inputs) {}

  void draw();
  /// What the function returns: the last value, and some of the others.
  void finish(SmallVectorImpl<Value> &results);

private:
  /// A value, often a late one.
  Stream pick() {
    auto size = static_cast<int64_t>(pool.size());
    return random.chance(0.6) ? pool[size - 1 - random.below(std::min<int64_t>(size, 3))] : pool[random.below(size)];
  }
  /// Another value of the type of `x`.
  Value pickLike(const Stream &x) {
    for (int tries = 0; tries != 6; ++tries)
      if (Stream y = pick(); y.getType() == x.getType())
        return y.value;
    return scope.weight(x.dims, x.getElement());
  }
  Value drawBias(const Stream &x) { return scope.weight({x.dims.back()}, drawParameterType(random, x.getElement())); }
  RankedTensorType drawSumType(const Stream &x);
  RankedTensorType drawNormalizedType(const Stream &x, Type sumElement);
  SmallVector<Type> drawStatistics(const NormParts &parts, RankedTensorType x);
  void keep(ValueRange values, const Dims &dims);

  void drawAdd();
  void drawDropout();
  void drawNorm();
  void drawAddNorm();
  void drawChain();
  void drawCast();

  Scope &scope;
  Style &style;
  Random &random;
  OpBuilder &b;
  SmallVector<Stream> pool;
  SmallVector<Value> statistics;
};
} // namespace

RankedTensorType FlatOps::drawSumType(const Stream &x) {
  bool widens = (x.getElement().isF16() || x.getElement().isBF16()) && random.chance(0.2);
  return random::getType(x.dims, widens ? b.getF32Type() : x.getElement());
}

RankedTensorType FlatOps::drawNormalizedType(const Stream &x, Type sumElement) {
  bool narrows = random.chance(style.narrow);
  return random::getType(x.dims, narrows ? drawNarrowerType(random, sumElement) : sumElement);
}

SmallVector<Type> FlatOps::drawStatistics(const NormParts &parts, RankedTensorType x) {
  size_t count = getNormRule(parts.kind).statistics.size();
  return SmallVector<Type>(random.chance(0.25) ? count : 0, parts.getStatisticsType(x));
}

void FlatOps::keep(ValueRange values, const Dims &dims) {
  for (Value value : values) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getShape() == pool.front().getType().getShape())
      pool.push_back({value, dims});
    else
      statistics.push_back(value);
  }
}

void FlatOps::drawAdd() {
  Stream x = pick();
  Value f = pickLike(x);
  AddParts parts = drawAddParts(scope, style, x);
  keep(createAdd(b, scope.loc(), drawSumType(x), x.value, f, parts)->getResults(), x.dims);
}

void FlatOps::drawDropout() {
  Stream x = pick();
  DropoutParts d = random::drawDropout(scope, style);
  if (d.seed)
    keep(DropoutOp::create(b, scope.loc(), x.value.getType(), x.value, d.seed, d.step, d.origin.row, d.origin.site,
                           d.origin.col, d.origin.local, d.origin.global, d.p, d.site)
             ->getResults(),
         x.dims);
}

void FlatOps::drawNorm() {
  Stream x = pick();
  NormParts parts = random::drawNorm(scope, style, x);
  parts.narrowAffine = parts.gamma && random.chance(0.15);
  RankedTensorType type = drawNormalizedType(x, x.getElement());
  keep(createNorm(b, scope.loc(), parts, x.value, type, drawStatistics(parts, x.getType()))->getResults(), x.dims);
}

void FlatOps::drawAddNorm() {
  Stream x = pick();
  Value f = pickLike(x), bias = random.chance(0.4) ? drawBias(x) : Value();
  NormParts n = random::drawNorm(scope, style, x);
  DropoutParts d = n.rank == 1 ? random::drawDropout(scope, style) : DropoutParts();
  AddParts parts = drawAddParts(scope, style, x);
  RankedTensorType sum = drawSumType(x), normalized = drawNormalizedType(x, sum.getElementType());
  auto unit = [&](bool is) { return is ? b.getUnitAttr() : UnitAttr(); };
  auto op = AddNormOp::create(
      b, scope.loc(), normalized, sum, drawStatistics(n, sum), NormKindAttr::get(b.getContext(), n.kind), x.value, f,
      bias, d.seed, d.step, d.origin.row, d.origin.site, d.origin.col, d.origin.local, d.origin.global, parts.gate,
      parts.skip, parts.also, parts.alsoScale, n.alpha, n.gamma, n.beta, /*static_scale=*/Value(), n.epsilon, d.p,
      d.site, parts.skipScale, parts.branchScale, n.normRank, n.groups, unit(n.zeroCenteredGamma),
      unit(n.gamma && random.chance(0.15)), GranularityAttr(), /*group=*/IntegerAttr());
  keep(op->getResults(), x.dims);
}

/// Bias, dropout, add and norm on a branch of their own, as a Transformer has them.
void FlatOps::drawChain() {
  Stream x = pick();
  Stream f = x.with(random.chance(0.5) ? pickLike(x) : drawBranchOps(scope, style, x, 1));
  if (random.chance(0.5))
    f.value = AddBiasOp::create(b, scope.loc(), f.value, drawBias(x));
  if (DropoutParts d = random::drawDropout(scope, style); d.seed)
    f.value = DropoutOp::create(b, scope.loc(), f.value.getType(), f.value, d.seed, d.step, d.origin.row, d.origin.site,
                                d.origin.col, d.origin.local, d.origin.global, d.p, d.site);
  bool isSwapped = random.chance(0.2);
  AddParts parts = drawAddParts(scope, style, x);
  auto add =
      createAdd(b, scope.loc(), drawSumType(x), isSwapped ? f.value : x.value, isSwapped ? x.value : f.value, parts);
  keep(add->getResults(), x.dims);
  if (random.chance(0.7)) {
    Stream sum = x.with(add);
    NormParts parts = random::drawNorm(scope, style, sum);
    RankedTensorType type = drawNormalizedType(x, sum.getElement());
    keep(createNorm(b, scope.loc(), parts, sum.value, type, drawStatistics(parts, sum.getType()))->getResults(),
         x.dims);
  }
}

void FlatOps::drawCast() {
  Stream x = pick();
  if (Type element = drawNarrowerType(random, x.getElement()); element != x.getElement() && random.chance(style.narrow))
    keep(arith::TruncFOp::create(b, scope.loc(), random::getType(x.dims, element), x.value)->getResults(), x.dims);
  else if (x.getElement() != pool.front().getElement() &&
           x.getElement().getIntOrFloatBitWidth() < pool.front().getElement().getIntOrFloatBitWidth())
    keep(arith::ExtFOp::create(b, scope.loc(), pool.front().getType(), x.value)->getResults(), x.dims);
}

void FlatOps::draw() {
  switch (random.below(13)) {
  case 0:
  case 1:
    return drawAdd();
  case 2:
    return drawDropout();
  case 3:
  case 4:
    return drawNorm();
  case 5:
    return drawAddNorm();
  case 6:
  case 7:
  case 8:
    return drawChain();
  case 9:
    return drawCast();
  case 10: {
    Stream x = pick();
    return keep(drawBranchOps(scope, style, x, 1), x.dims);
  }
  case 11: {
    Stream x = pick();
    pool.push_back(drawStreams(scope, style, x, pickLike(x)));
    return;
  }
  default:
    pool.push_back(drawBlock(scope, style, pick()));
  }
}

void FlatOps::finish(SmallVectorImpl<Value> &results) {
  results.push_back(pool.back().value);
  for (const Stream &value : ArrayRef<Stream>(pool).drop_back())
    if (random.chance(0.15))
      results.push_back(value.value);
  for (Value value : statistics)
    if (random.chance(0.5))
      results.push_back(value);
}

void drawFlatOps(Scope &scope, Style &style, ArrayRef<Stream> inputs, int64_t count, SmallVectorImpl<Value> &results) {
  FlatOps ops(scope, style, inputs);
  for (int64_t i = 0; i != count; ++i)
    ops.draw();
  ops.finish(results);
}

} // namespace mlir::resid::random
