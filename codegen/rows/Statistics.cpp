// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The formulas of the statistics ops as phases and per-row scalars; the definition is in
// RowsOps.td. All rare branches are decided per row. The steps on scalars are in StatisticsArithmetic.h.

#include "codegen/rows/KernelBuilder.h"
#include "codegen/rows/StatisticsArithmetic.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::rows;

namespace {

/// Expands one statistics op. A plain data holder for what all of its formulas use.
struct Expansion : StatisticsArithmetic {
  Expansion(const StatisticsPhases &phases, ImplicitLocOpBuilder &builder, Type type, const APFloat &epsilon)
      : StatisticsArithmetic(cast<FloatType>(type), epsilon), phases(phases), one(createConstant(builder, 1.0)) {}

  /// S(v)/n or S(v²)/n of values made from x, in a pass of its own.
  SmallVector<Value> createMeans(ImplicitLocOpBuilder &builder, RowPass pass, ArrayRef<ReductionKind> kinds,
                                 function_ref<SmallVector<Value>(ImplicitLocOpBuilder &, Value)> values) const;

  /// The scale followed by `means`; redone by `scaled` on x·scale where the row is finite and they are not usable.
  using Means = function_ref<SmallVector<Value>(ImplicitLocOpBuilder &builder, Value scale)>;
  SmallVector<Value> rescue(ImplicitLocOpBuilder &builder, ArrayRef<Value> means, Means scaled) const;

  const StatisticsPhases &phases;
  Value one;
};

} // namespace

/// x as arithmetic sees it.
static Value widen(ImplicitLocOpBuilder &builder, Value x, Type type) {
  return x.getType() == type ? x : Value(arith::ExtFOp::create(builder, type, x));
}

SmallVector<Value>
Expansion::createMeans(ImplicitLocOpBuilder &builder, RowPass pass, ArrayRef<ReductionKind> kinds,
                       function_ref<SmallVector<Value>(ImplicitLocOpBuilder &, Value)> values) const {
  ValueRange sums = phases.add(builder, pass, kinds, getType(), [&](ImplicitLocOpBuilder &inner, ValueRange elements) {
    return values(inner, widen(inner, elements.front(), getType()));
  });
  SmallVector<Value> means;
  for (Value sum : sums)
    means.push_back(arith::DivFOp::create(builder, sum, phases.getWidth()));
  return means;
}

SmallVector<Value> Expansion::rescue(ImplicitLocOpBuilder &builder, ArrayRef<Value> means, Means scaled) const {
  SmallVector<Value> unscaled{one};
  llvm::append_range(unscaled, means);
  SmallVector<Type> types(unscaled.size(), getType());
  auto outer = scf::IfOp::create(builder, types, needsScale(builder, means), /*withElseRegion=*/true);
  ImplicitLocOpBuilder rare(builder.getLoc(), outer.getThenBodyBuilder());
  auto getMagnitude = [&](ImplicitLocOpBuilder &inner, ValueRange elements) {
    Value largest;
    for (Value element : elements) {
      Value magnitude = math::AbsFOp::create(inner, widen(inner, element, getType()));
      largest = largest ? Value(arith::MaximumFOp::create(inner, largest, magnitude)) : magnitude;
    }
    return SmallVector<Value>{largest};
  };
  Value largest = phases.add(rare, RowPass::Further, ReductionKind::Max, getType(), getMagnitude).front();
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
  auto choice =
      scf::IfOp::create(builder, expansion.getType(), expansion.isDirect(builder, e, q), /*withElseRegion=*/true);
  ImplicitLocOpBuilder usual(builder.getLoc(), choice.getThenBodyBuilder());
  scf::YieldOp::create(usual, expansion.createDirectVariance(usual, e, q));
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

/// S(t)/n, where t adds up the squares of all streams times `scale`; without one it is 1.
static Value createStreamMean(ImplicitLocOpBuilder &builder, const Expansion &expansion, RowPass pass, Value scale,
                              size_t streams) {
  auto addSquares = [&](ImplicitLocOpBuilder &inner, ValueRange elements) -> SmallVector<Value> {
    Value sum;
    for (Value element : elements) {
      Value x = widen(inner, element, expansion.getType());
      if (scale)
        x = arith::MulFOp::create(inner, x, scale);
      sum = sum ? Value(math::FmaOp::create(inner, x, x, sum)) : Value(arith::MulFOp::create(inner, x, x));
    }
    return {sum};
  };
  const StatisticsPhases &phases = expansion.phases;
  Value sum = phases.add(builder, pass, ReductionKind::Sum, expansion.getType(), addSquares).front();
  Value count = arith::MulFOp::create(builder, phases.getWidth(),
                                      expansion.createConstant(builder, static_cast<double>(streams)));
  return arith::DivFOp::create(builder, sum, count);
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

SmallVector<Value> StreamStatisticsOp::expand(ImplicitLocOpBuilder &builder, StatisticsPhases &phases) {
  Expansion expansion(phases, builder, getElementTypeOrSelf(getRstd().getType()), getEpsilon());
  Value q = createStreamMean(builder, expansion, RowPass::First, /*scale=*/Value(), getStreams().size());
  auto redo = [&](ImplicitLocOpBuilder &inner, Value scale) {
    return SmallVector<Value>{createStreamMean(inner, expansion, RowPass::Further, scale, getStreams().size())};
  };
  SmallVector<Value> usable = expansion.rescue(builder, q, redo);
  return {usable[0], expansion.createReciprocalRoot(builder, usable[1], usable[0])};
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
