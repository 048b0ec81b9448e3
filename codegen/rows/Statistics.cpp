// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The formulas of the statistics ops as phases and per-row scalars; the definition is in
// RowsOps.td. All rare branches are decided per row.

#include "codegen/rows/KernelBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <limits>

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::rows;

namespace {

/// Expands one statistics op. A plain data holder for what all of its formulas use.
struct Expansion {
  Expansion(const StatisticsPhases &phases, ImplicitLocOpBuilder &builder, Type type, const APFloat &epsilon)
      : phases(phases), type(cast<FloatType>(type)), epsilon(epsilon) {
    bool losesInfo;
    this->epsilon.convert(this->type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
    one = createConstant(builder, 1.0);
  }

  Value createConstant(ImplicitLocOpBuilder &builder, double value) const {
    return builder.create<arith::ConstantOp>(builder.getFloatAttr(type, value));
  }
  /// S(v)/n or S(v²)/n of values made from x, in a pass of its own.
  SmallVector<Value> createMeans(ImplicitLocOpBuilder &builder, RowPass pass, ArrayRef<ReductionKind> kinds,
                                 function_ref<SmallVector<Value>(ImplicitLocOpBuilder &, Value)> values) const;
  Value isFinite(ImplicitLocOpBuilder &builder, Value value) const;
  Value needsScale(ImplicitLocOpBuilder &builder, ArrayRef<Value> means) const;
  Value createPowerOfTwo(ImplicitLocOpBuilder &builder, Value largest) const;
  /// 1/sqrt(variance + epsilon·scale²), where the smallest normal number stands in for an epsilon·scale² that
  /// underflows: a constant row of huge values must give β, and 0·(1/0) is NaN.
  Value createReciprocalRoot(ImplicitLocOpBuilder &builder, Value variance, Value scale) const;

  /// The scale followed by `means`; redone by `scaled` on x·scale where the row is finite and they are not usable.
  using Means = function_ref<SmallVector<Value>(ImplicitLocOpBuilder &builder, Value scale)>;
  SmallVector<Value> rescue(ImplicitLocOpBuilder &builder, ArrayRef<Value> means, Means scaled) const;

  const StatisticsPhases &phases;
  FloatType type;
  Value one;
  APFloat epsilon;
};

} // namespace

/// x as arithmetic sees it.
static Value widen(ImplicitLocOpBuilder &builder, Value x, Type type) {
  return x.getType() == type ? x : Value(arith::ExtFOp::create(builder, type, x));
}

SmallVector<Value>
Expansion::createMeans(ImplicitLocOpBuilder &builder, RowPass pass, ArrayRef<ReductionKind> kinds,
                       function_ref<SmallVector<Value>(ImplicitLocOpBuilder &, Value)> values) const {
  ValueRange sums = phases.add(builder, pass, kinds, type, [&](ImplicitLocOpBuilder &inner, ValueRange elements) {
    return values(inner, widen(inner, elements.front(), type));
  });
  SmallVector<Value> means;
  for (Value sum : sums)
    means.push_back(arith::DivFOp::create(builder, sum, phases.getWidth()));
  return means;
}

Value Expansion::isFinite(ImplicitLocOpBuilder &builder, Value value) const {
  Value infinity = createConstant(builder, std::numeric_limits<double>::infinity());
  Value magnitude = math::AbsFOp::create(builder, value);
  return arith::CmpFOp::create(builder, arith::CmpFPredicate::OLT, magnitude, infinity);
}

/// A mean that is not finite, or, without an epsilon to hide it, squares so small that their sum has lost its bits; the
/// mean square is the last of `means`.
Value Expansion::needsScale(ImplicitLocOpBuilder &builder, ArrayRef<Value> means) const {
  Value usable = isFinite(builder, means.front());
  for (Value mean : means.drop_front())
    usable = arith::AndIOp::create(builder, usable, isFinite(builder, mean));
  if (epsilon.isZero()) {
    Value tiny = createConstant(builder, 0x1p-100);
    Value large = arith::CmpFOp::create(builder, arith::CmpFPredicate::UGE, means.back(), tiny);
    usable = arith::AndIOp::create(builder, usable, large);
  }
  Value yes = arith::ConstantIntOp::create(builder, 1, 1);
  return arith::XOrIOp::create(builder, usable, yes);
}

/// The power of two that brings `largest` (finite, ≥ 0) into [1, 2), from its exponent bits: biased exponent b becomes
/// 2·bias - b. Where that is 0, the power is the subnormal half of the smallest normal number; where `largest` is
/// subnormal or 0, the largest power of two stands in.
Value Expansion::createPowerOfTwo(ImplicitLocOpBuilder &builder, Value largest) const {
  bool isDouble = type.isF64();
  Type bitsType = builder.getIntegerType(isDouble ? 64 : 32);
  int64_t mantissa = isDouble ? 52 : 23, twiceBias = isDouble ? 2046 : 254;
  auto constant = [&](int64_t value) {
    return builder.create<arith::ConstantOp>(builder.getIntegerAttr(bitsType, value));
  };
  Value bits = arith::BitcastOp::create(builder, bitsType, largest);
  Value exponent = arith::ShRUIOp::create(builder, bits, constant(mantissa));
  Value mirrored = arith::SubIOp::create(builder, constant(twiceBias), exponent);
  Value shifted = arith::ShLIOp::create(builder, mirrored, constant(mantissa));
  Value power = arith::MaxUIOp::create(builder, shifted, constant(int64_t(1) << (mantissa - 1)));
  return arith::BitcastOp::create(builder, type, power);
}

SmallVector<Value> Expansion::rescue(ImplicitLocOpBuilder &builder, ArrayRef<Value> means, Means scaled) const {
  SmallVector<Value> unscaled{one};
  llvm::append_range(unscaled, means);
  SmallVector<Type> types(unscaled.size(), type);
  auto outer = scf::IfOp::create(builder, types, needsScale(builder, means), /*withElseRegion=*/true);
  ImplicitLocOpBuilder rare(builder.getLoc(), outer.getThenBodyBuilder());
  auto getMagnitude = [&](ImplicitLocOpBuilder &inner, ValueRange elements) {
    return SmallVector<Value>{math::AbsFOp::create(inner, widen(inner, elements.front(), type))};
  };
  Value largest = phases.add(rare, RowPass::Further, ReductionKind::Max, type, getMagnitude).front();
  auto nested = scf::IfOp::create(rare, types, isFinite(rare, largest), /*withElseRegion=*/true);
  ImplicitLocOpBuilder redo(builder.getLoc(), nested.getThenBodyBuilder());
  Value scale = createPowerOfTwo(redo, largest);
  SmallVector<Value> redone{scale};
  llvm::append_range(redone, scaled(redo, scale));
  scf::YieldOp::create(redo, redone);
  ImplicitLocOpBuilder spoiled(builder.getLoc(), nested.getElseBodyBuilder());
  scf::YieldOp::create(spoiled, unscaled);
  scf::YieldOp::create(rare, nested.getResults());
  ImplicitLocOpBuilder usual(builder.getLoc(), outer.getElseBodyBuilder());
  scf::YieldOp::create(usual, unscaled);
  return outer.getResults();
}

Value Expansion::createReciprocalRoot(ImplicitLocOpBuilder &builder, Value variance, Value scale) const {
  Value sum = variance;
  if (!epsilon.isZero()) {
    Value offset = builder.create<arith::ConstantOp>(builder.getFloatAttr(type, epsilon));
    // One factor at a time: scale² alone could leave the range.
    offset = arith::MulFOp::create(builder, arith::MulFOp::create(builder, offset, scale), scale);
    Value smallest = builder.create<arith::ConstantOp>(
        builder.getFloatAttr(type, APFloat::getSmallestNormalized(type.getFloatSemantics())));
    Value vanishes = arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, offset, createConstant(builder, 0.0));
    offset = arith::SelectOp::create(builder, vanishes, smallest, offset);
    sum = arith::AddFOp::create(builder, variance, offset);
  }
  return arith::DivFOp::create(builder, one, math::SqrtOp::create(builder, sum));
}

//===------------------------------------------- layer norm -------------------------------------------------------===//

/// e = S(d)/n and q = S(d²)/n with d = x·scale - k.
static SmallVector<Value> createCenteredMeans(ImplicitLocOpBuilder &builder, const Expansion &expansion, Value scale,
                                              Value k) {
  Value negated = arith::NegFOp::create(builder, k);
  return expansion.createMeans(builder, RowPass::Further, {ReductionKind::Sum, ReductionKind::SumOfSquares},
                               [&](ImplicitLocOpBuilder &inner, Value x) -> SmallVector<Value> {
                                 Value d = scale ? Value(math::FmaOp::create(inner, x, scale, negated))
                                                 : Value(arith::SubFOp::create(inner, x, k));
                                 return {d, d};
                               });
}

/// var = fma(-e, e, q) where q is finite and e² ≤ q/4; otherwise too many bits cancel, and var = S((d-e)²)/n.
static Value createVariance(ImplicitLocOpBuilder &builder, const Expansion &expansion, Value scale, Value k, Value e,
                            Value q) {
  Value square = arith::MulFOp::create(builder, e, e);
  Value quarter = arith::MulFOp::create(builder, q, expansion.createConstant(builder, 0.25));
  Value small = arith::CmpFOp::create(builder, arith::CmpFPredicate::OLE, square, quarter);
  Value direct = arith::AndIOp::create(builder, expansion.isFinite(builder, q), small);
  auto choice = scf::IfOp::create(builder, expansion.type, direct, /*withElseRegion=*/true);
  ImplicitLocOpBuilder usual(builder.getLoc(), choice.getThenBodyBuilder());
  Value negated = arith::NegFOp::create(usual, e);
  scf::YieldOp::create(usual, Value(math::FmaOp::create(usual, negated, e, q)));
  ImplicitLocOpBuilder rare(builder.getLoc(), choice.getElseBodyBuilder());
  Value minusK = arith::NegFOp::create(rare, k);
  SmallVector<Value> variance = expansion.createMeans(rare, RowPass::Further, ReductionKind::SumOfSquares,
                                                      [&](ImplicitLocOpBuilder &inner, Value x) -> SmallVector<Value> {
                                                        Value d = math::FmaOp::create(inner, x, scale, minusK);
                                                        return {arith::SubFOp::create(inner, d, e)};
                                                      });
  scf::YieldOp::create(rare, variance);
  return choice.getResult(0);
}

static SmallVector<Value> expandLayer(const Expansion &expansion, ImplicitLocOpBuilder &builder) {
  Value k = expansion
                .createMeans(builder, RowPass::First, ReductionKind::Sum,
                             [](ImplicitLocOpBuilder &, Value x) -> SmallVector<Value> { return {x}; })
                .front();
  SmallVector<Value> means = createCenteredMeans(builder, expansion, /*scale=*/Value(), k);
  auto redo = [&](ImplicitLocOpBuilder &inner, Value scale) {
    Value scaledK = expansion
                        .createMeans(inner, RowPass::Further, ReductionKind::Sum,
                                     [&](ImplicitLocOpBuilder &column, Value x) -> SmallVector<Value> {
                                       return {arith::MulFOp::create(column, x, scale)};
                                     })
                        .front();
    SmallVector<Value> redone{scaledK};
    llvm::append_range(redone, createCenteredMeans(inner, expansion, scale, scaledK));
    return redone;
  };
  SmallVector<Value> usable = expansion.rescue(builder, {k, means[0], means[1]}, redo);
  Value scale = usable[0], e = usable[2], q = usable[3];
  Value variance = createVariance(builder, expansion, scale, usable[1], e, q);
  return {scale, usable[1], e, expansion.createReciprocalRoot(builder, variance, scale)};
}

//===------------------------------------------- RMS norm ---------------------------------------------------------===//

static SmallVector<Value> expandRMS(const Expansion &expansion, ImplicitLocOpBuilder &builder) {
  Value q = expansion
                .createMeans(builder, RowPass::First, ReductionKind::SumOfSquares,
                             [](ImplicitLocOpBuilder &, Value x) -> SmallVector<Value> { return {x}; })
                .front();
  auto redo = [&](ImplicitLocOpBuilder &inner, Value scale) {
    return expansion.createMeans(inner, RowPass::Further, ReductionKind::SumOfSquares,
                                 [&](ImplicitLocOpBuilder &column, Value x) -> SmallVector<Value> {
                                   return {arith::MulFOp::create(column, x, scale)};
                                 });
  };
  SmallVector<Value> usable = expansion.rescue(builder, q, redo);
  return {usable[0], expansion.createReciprocalRoot(builder, usable[1], usable[0])};
}

//===------------------------------------------- the ops ----------------------------------------------------------===//

/// k comes from the first pass, e and q from the second.
unsigned LayerStatisticsOp::getUsualPasses() { return 2; }

SmallVector<Value> LayerStatisticsOp::expand(ImplicitLocOpBuilder &builder, StatisticsPhases &phases) {
  return expandLayer(Expansion(phases, builder, getElementTypeOrSelf(getRstd().getType()), getEpsilon()), builder);
}

SmallVector<Value> RMSStatisticsOp::expand(ImplicitLocOpBuilder &builder, StatisticsPhases &phases) {
  return expandRMS(Expansion(phases, builder, getElementTypeOrSelf(getRstd().getType()), getEpsilon()), builder);
}

/// The exponentials need the largest element, which the first pass gives.
unsigned SoftmaxStatisticsOp::getUsualPasses() { return 2; }

SmallVector<Value> SoftmaxStatisticsOp::expand(ImplicitLocOpBuilder &builder, StatisticsPhases &phases) {
  Type type = getElementTypeOrSelf(getMax().getType());
  ValueRange first =
      phases.add(builder, RowPass::First, {ReductionKind::SignedMax, ReductionKind::Sum}, type,
                 [](ImplicitLocOpBuilder &, ValueRange elements) -> SmallVector<Value> { return elements; });
  Value largest = first[0];
  auto getExponential = [&](ImplicitLocOpBuilder &inner, ValueRange elements) -> SmallVector<Value> {
    Value difference = arith::SubFOp::create(inner, elements.front(), largest);
    return {math::ExpOp::create(inner, difference)};
  };
  Value sum = phases.add(builder, RowPass::Further, ReductionKind::Sum, type, getExponential).front();
  return {largest, math::LogOp::create(builder, sum), first[1]};
}

/// S of each of so many tensors.
static SmallVector<Value> createSums(ImplicitLocOpBuilder &builder, StatisticsPhases &phases, TypeRange results) {
  SmallVector<ReductionKind> kinds(results.size(), ReductionKind::Sum);
  return phases.add(builder, RowPass::First, kinds, getElementTypeOrSelf(results.front()),
                    [](ImplicitLocOpBuilder &, ValueRange elements) -> SmallVector<Value> { return elements; });
}

SmallVector<Value> RowMeansOp::expand(ImplicitLocOpBuilder &builder, StatisticsPhases &phases) {
  return llvm::map_to_vector(createSums(builder, phases, getMeans().getTypes()), [&](Value sum) -> Value {
    return arith::DivFOp::create(builder, sum, phases.getWidth());
  });
}

SmallVector<Value> RowSumsOp::expand(ImplicitLocOpBuilder &builder, StatisticsPhases &phases) {
  return createSums(builder, phases, getSums().getTypes());
}
