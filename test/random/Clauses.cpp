// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/random/Parts.h"

namespace mlir::resid::random {

static NormKind drawKind(Random &random) { return static_cast<NormKind>(random.below(getMaxEnumValForNormKind() + 1)); }

/// Layers as rewrites of weights want them, which a draw of all parts seldom gives.
static Style drawFoldableStyle(Random &random) {
  Style style;
  style.placement = random.pick({Placement::Pre, Placement::Pre, Placement::Peri, Placement::Post});
  style.kind = random.chance(0.7) ? NormKind::Layer : NormKind::RMS;
  style.scales = random.pick({0.0, 0.5});
  style.gate = random.pick({0.0, 0.0, 0.4});
  style.odd = random.pick({0.0, 0.0, 0.05});
  style.isLinear = style.hasFinalNorm = true;
  return style;
}

Style drawStyle(Random &random) {
  if (random.chance(0.2))
    return drawFoldableStyle(random);
  Style style;
  if (random.chance(0.75))
    style.placement =
        random.chance(0.5) ? random.pick({Placement::Post, Placement::Pre}) : static_cast<Placement>(random.below(6));
  if (random.chance(0.7))
    style.kind = drawKind(random);
  style.dropout = random.pick({0.0, 0.3, 0.9});
  style.gate = random.pick({0.0, 0.0, 0.4});
  style.scales = random.pick({0.0, 0.0, 0.5});
  style.narrow = random.pick({0.0, 0.0, 0.3});
  style.taps = random.pick({0.0, 0.0, 0.2});
  style.odd = random.pick({0.0, 0.07});
  style.isLinear = random.chance(0.3);
  return style;
}

Type drawParameterType(Random &random, Type element) {
  Builder builder(element.getContext());
  if (element.isF64() || random.chance(0.6))
    return element;
  return random.pick<Type>({builder.getF32Type(), builder.getF32Type(), builder.getBF16Type(), builder.getF16Type()});
}

Type drawNarrowerType(Random &random, Type element) {
  Builder builder(element.getContext());
  if (element.isF64())
    return random.pick<Type>({builder.getF32Type(), builder.getBF16Type(), builder.getF16Type()});
  return element.isF32() ? random.pick<Type>({builder.getBF16Type(), builder.getF16Type()}) : element;
}

NormParts drawNorm(Scope &scope, const Style &style, const Stream &x) {
  Random &random = scope.random;
  NormParts parts{};
  parts.kind = style.kind && !random.chance(style.odd) ? *style.kind : drawKind(random);
  parts.rank = x.getRank() > 1 && random.chance(0.08) ? random.between(2, x.getRank()) : 1;
  if (getNormRule(parts.kind).hasGroups) {
    parts.rank = 1;
    int64_t columns = x.dims.back().size, groups = random.pick<int64_t>({1, 2, 3, 4});
    parts.groups = scope.builder.getI64IntegerAttr(columns % groups == 0 ? groups : 1);
  }
  ArrayRef<Dim> last = ArrayRef<Dim>(x.dims).take_back(parts.rank);
  Type element = drawParameterType(random, x.getElement());
  if (getNormRule(parts.kind).hasAlpha)
    parts.alpha = scope.weight({}, drawParameterType(random, x.getElement()));
  if (getNormRule(parts.kind).hasEpsilon)
    parts.epsilon =
        scope.builder.getF64FloatAttr(random.chance(0.02) ? 0.0 : random.pick({1e-5, 1e-5, 1e-6, 1e-3, 0.1}));
  if (random.chance(0.8)) {
    parts.gamma = scope.weight(last, element);
    if (random.chance(0.6))
      parts.beta = scope.weight(last, drawParameterType(random, x.getElement()));
    parts.zeroCenteredGamma = random.chance(0.15);
  }
  bool isRankWritten = !parts.gamma && !getNormRule(parts.kind).isElementwise();
  parts.normRank = scope.builder.getI64IntegerAttr(isRankWritten ? parts.rank : 1);
  return parts;
}

/// A factor of an add, of any shape that broadcasts to x.
static Value drawFactor(Scope &scope, const Stream &x) {
  Random &random = scope.random;
  Dims dims = x.dims;
  switch (random.below(5)) {
  case 0: // the whole branch, ReZero
    dims.clear();
    break;
  case 1: // each feature, LayerScale
    dims = Dims{x.dims.back()};
    break;
  case 2: // each row
    dims.back() = {1, false};
    break;
  case 3: // each sample, drop path
    for (Dim &dim : MutableArrayRef<Dim>(dims).drop_front())
      dim = {1, false};
    break;
  default: // each element
    break;
  }
  return scope.weight(dims, drawParameterType(random, x.getElement()));
}

static FloatAttr drawScale(Scope &scope, const Style &style) {
  double scale = scope.random.chance(style.scales) ? scope.random.pick({1.25, 0.8, 2.0, 0.5, 1.2, -0.75}) : 1.0;
  return scope.builder.getF64FloatAttr(scale);
}

AddParts drawAddParts(Scope &scope, const Style &style, const Stream &x) {
  Random &random = scope.random;
  AddParts parts;
  if (random.chance(style.gate))
    parts.gate = drawFactor(scope, x);
  if (random.chance(style.gate / 2))
    parts.skip = drawFactor(scope, x);
  if (random.chance(style.gate / 2))
    parts.also = scope.weight(x.dims, x.getElement());
  if (parts.also && random.chance(0.7))
    parts.alsoScale = drawFactor(scope, x);
  parts.skipScale = parts.skip ? scope.builder.getF64FloatAttr(1.0) : drawScale(scope, style);
  parts.branchScale = drawScale(scope, style);
  return parts;
}

DropoutParts drawDropout(Scope &scope, Style &style) {
  Random &random = scope.random;
  DropoutParts parts;
  if (!random.chance(style.dropout))
    return parts;
  parts.seed = scope.integer(random.pick<int64_t>({81985529216486895, -7, 1}));
  parts.step = scope.integer(random.pick<int64_t>({0, 5, 4000000000}));
  if (scope.layer() || random.chance(0.3)) {
    parts.origin.row = scope.integer(random.pick<int64_t>({0, 1000, 3000000000}));
    parts.origin.site = scope.layer() ? scope.layer() : scope.integer(random.below(100) * 1000);
    if (random.chance(0.3))
      parts.origin.col = scope.integer(random.pick<int64_t>({0, 8, 776, 34359000000}));
    if (random.chance(0.3)) {
      parts.origin.local = scope.integer(random.between(1, 5));
      parts.origin.global = scope.integer(random.pick<int64_t>({5, 6, 1000}));
    }
  }
  parts.p = scope.builder.getF64FloatAttr(random.pick({0.1, 0.1, 0.5, 0.5, 0.3, 0.0, 1.0}));
  parts.site = scope.builder.getI64IntegerAttr(style.site);
  style.site += random.between(0, 40) ? 1 : 0;
  return parts;
}

} // namespace mlir::resid::random
