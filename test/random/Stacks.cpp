// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Placement.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "test/random/Parts.h"

namespace mlir::resid::random {

namespace {
/// The norms of a block as it takes them.
struct NormClauses {
  SmallVector<Attribute> attributes;
  SmallVector<Value> parameters;
  bool hasGamma = false;

  void add(Builder &builder, const NormParts &parts) {
    attributes.push_back(getNormAttr(builder.getContext(), parts));
    for (Value parameter : {parts.alpha, parts.gamma, parts.beta})
      if (parameter)
        parameters.push_back(parameter);
    hasGamma |= static_cast<bool>(parts.gamma);
  }
};
} // namespace

/// Fills the region of `block`.
static void drawRegion(Scope &scope, Style &style, BlockOp block, const Dims &dims, unsigned depth) {
  RankedTensorType type = block.getX().getType();
  Type input = type;
  bool mayNarrow = getNormAt(block, NormPosition::BeforeBranch).has_value();
  if (mayNarrow && scope.random.chance(style.narrow))
    input = random::getType(dims, drawNarrowerType(scope.random, type.getElementType()));
  Block &body = block.getBranch().emplaceBlock();
  Value h = body.addArgument(input, scope.loc());
  scope.builder.setInsertionPoint(block);
  RegionScope region(scope, OpBuilder::atBlockEnd(&body));
  Value f = drawBranch(region, style, {h, dims}, type, depth);
  YieldOp::create(region.builder, scope.loc(), f);
  scope.builder.setInsertionPointAfter(block);
}

Stream drawBlock(Scope &scope, Style &style, const Stream &x, unsigned depth) {
  Random &random = scope.random;
  OpBuilder &b = scope.builder;
  Placement placement =
      style.placement && !random.chance(style.odd) ? *style.placement : static_cast<Placement>(random.below(6));
  NormClauses norms;
  for (size_t i = getPlacementRule(placement).positions.size(); i != 0; --i)
    norms.add(b, drawNorm(scope, style, x));
  bool isNarrowAffine = norms.hasGamma && random.chance(0.1);
  DropoutParts d = drawDropout(scope, style);
  AddParts parts = drawAddParts(scope, style, x);
  auto block = BlockOp::create(
      b, scope.loc(), x.getType(), /*scale=*/Type(), PlacementAttr::get(b.getContext(), placement), x.value,
      norms.parameters, d.seed, d.step, d.origin.row, d.origin.site, d.origin.col, d.origin.local, d.origin.global,
      parts.gate, parts.skip, parts.also, parts.alsoScale, /*read_weights=*/Value(),
      /*write_weights=*/Value(), /*mix=*/Value(), /*static_scale=*/Value(), b.getArrayAttr(norms.attributes), d.p,
      d.site, parts.skipScale, parts.branchScale, isNarrowAffine ? b.getUnitAttr() : UnitAttr(),
      /*streams=*/UnitAttr(), b.getF64FloatAttr(1.0), GranularityAttr(), /*group=*/IntegerAttr());
  drawRegion(scope, style, block, x.dims, depth);
  return x.with(block.getResult());
}

Stream drawFlatNorm(Scope &scope, const Style &style, const Stream &x) {
  NormParts parts = drawNorm(scope, style, x);
  parts.narrowAffine = parts.gamma && scope.random.chance(0.1);
  return x.with(createNorm(scope.builder, scope.loc(), parts, x.value, x.getType())->getResult(0));
}

Stream drawStack(Scope &scope, Style &style, Stream x, int64_t depth, SmallVectorImpl<Value> &taps) {
  Random &random = scope.random;
  if (random.chance(0.35))
    x = drawFlatNorm(scope, style, x);
  for (int64_t i = 0; i != depth; ++i) {
    x = drawBlock(scope, style, x);
    if (random.chance(0.3))
      scope.note(x.value);
    if (i + 1 != depth && random.chance(style.taps))
      taps.push_back(random.chance(0.6) ? x.value : drawFlatNorm(scope, style, x).value);
  }
  bool wantsFinalNorm = style.placement && getPlacementRule(*style.placement).wantsFinalNorm;
  if (!style.hasFinalNorm && !random.chance(wantsFinalNorm ? 0.7 : 0.25))
    return x;
  if (random.chance(style.taps))
    taps.push_back(x.value);
  return drawFlatNorm(scope, style, x);
}

/// How often a loop runs: known, or only when run.
static Value drawCount(Scope &scope, int64_t count) {
  OpBuilder &b = scope.builder;
  if (scope.random.chance(0.75))
    return arith::ConstantIndexOp::create(b, scope.loc(), count);
  return arith::IndexCastOp::create(b, scope.loc(), b.getIndexType(), scope.integer(count));
}

Stream drawLoop(Scope &scope, Style &style, Stream x, SmallVectorImpl<Value> &taps) {
  Random &random = scope.random;
  OpBuilder &b = scope.builder;
  int64_t count = random.chance(0.05) ? 0 : random.between(1, 4);
  SmallVector<Value> initial{x.value};
  if (random.chance(0.2)) // a second value that the loop carries: the sum of what passes by
    initial.push_back(x.value);
  Value zero = arith::ConstantIndexOp::create(b, scope.loc(), 0),
        one = arith::ConstantIndexOp::create(b, scope.loc(), 1);
  auto loop = scf::ForOp::create(b, scope.loc(), zero, drawCount(scope, count), one, initial);
  LoopScope body(scope, loop, count);
  Stream current = x.with(loop.getRegionIterArg(0));
  for (int64_t blocks = random.pick<int64_t>({1, 1, 2, 3}); blocks != 0; --blocks)
    current = drawBlock(body, style, current);
  SmallVector<Value> yielded{current.value};
  if (initial.size() > 1)
    yielded.push_back(arith::AddFOp::create(body.builder, scope.loc(), loop.getRegionIterArg(1), current.value));
  scf::YieldOp::create(body.builder, scope.loc(), yielded);
  scope.builder.setInsertionPointAfter(loop);
  taps.append(loop.result_begin() + 1, loop.result_end());
  return x.with(loop.getResult(0));
}

} // namespace mlir::resid::random
