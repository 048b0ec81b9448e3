// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The formulas of the statistics ops as phases and per-row scalars; the definition is in
// RowsOps.td. All rare branches are decided per row. The steps on scalars are in StatisticsArithmetic.h.

#include "codegen/rows/KernelBuilder.h"
#include "codegen/rows/StatisticsArithmetic.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::rows;

namespace {

/// Expands one statistics op. A plain data holder for what all of its formulas use.
struct Expansion : StatisticsArithmetic {
  Expansion(const StatisticsPhases &phases, Code &builder, Type type, const APFloat &epsilon)
      : StatisticsArithmetic(cast<FloatType>(type), epsilon), phases(phases), one(builder.constant(type, 1.0)) {}

  /// S(v) or S(v²) of values made from x, in a pass of its own.
  ValueRange createSums(Code &builder, RowPass pass, ArrayRef<ReductionKind> kinds,
                        function_ref<SmallVector<Value>(Code &, Value)> values) const;
  /// The same over n.
  SmallVector<Value> createMeans(Code &builder, RowPass pass, ArrayRef<ReductionKind> kinds,
                                 function_ref<SmallVector<Value>(Code &, Value)> values) const;
  Value createMean(Code &builder, RowPass pass, ReductionKind kind, function_ref<Value(Code &, Value)> value) const {
    auto single = [&](Code &inner, Value x) { return SmallVector<Value>{value(inner, x)}; };
    return createMeans(builder, pass, kind, single).front();
  }

  /// The scale followed by `means`; redone by `scaled` on x·scale where the row is finite and they are not usable, as
  /// needsScale says.
  SmallVector<Value> rescue(Code &builder, ArrayRef<Value> means, function_ref<SmallVector<Value>(Value scale)> scaled,
                            double leastEpsilon = std::numeric_limits<double>::denorm_min()) const;

  const StatisticsPhases &phases;
  Value one;
};

} // namespace

static Value takeElement(Code &, Value x) { return x; }

ValueRange Expansion::createSums(Code &builder, RowPass pass, ArrayRef<ReductionKind> kinds,
                                 function_ref<SmallVector<Value>(Code &, Value)> values) const {
  return phases.add(builder, pass, kinds, getType(), [&](Code &inner, ValueRange elements) {
    return values(inner, inner.castFloat(elements.front(), getType()));
  });
}

SmallVector<Value> Expansion::createMeans(Code &builder, RowPass pass, ArrayRef<ReductionKind> kinds,
                                          function_ref<SmallVector<Value>(Code &, Value)> values) const {
  return llvm::map_to_vector(createSums(builder, pass, kinds, values),
                             [&](Value sum) { return builder.divide(sum, phases.getWidth()); });
}

SmallVector<Value> Expansion::rescue(Code &builder, ArrayRef<Value> means,
                                     function_ref<SmallVector<Value>(Value)> scaled, double leastEpsilon) const {
  SmallVector<Value> unscaled{one};
  llvm::append_range(unscaled, means);
  SmallVector<Type> types(unscaled.size(), getType());
  auto getMagnitude = [&](Code &inner, ValueRange elements) {
    Value largest;
    for (Value element : elements) {
      Value magnitude = inner.absolute(inner.castFloat(element, getType()));
      largest = largest ? Value(inner.create<arith::MaximumFOp>(largest, magnitude)) : magnitude;
    }
    return SmallVector<Value>{largest};
  };
  auto keep = [&] { return unscaled; };
  auto emitRare = [&] {
    Value largest = phases.add(builder, RowPass::Further, ReductionKind::Max, getType(), getMagnitude).front();
    auto redo = [&] {
      SmallVector<Value> redone{createPowerOfTwo(builder, largest)};
      llvm::append_range(redone, scaled(redone.front()));
      return redone;
    };
    return builder.choose(isFinite(builder, largest), types, redo, keep);
  };
  return builder.choose(needsScale(builder, means, leastEpsilon), types, emitRare, keep);
}

//===------------------------------------------- layer norm -------------------------------------------------------===//

/// e = S(d)/n and q = S(d²)/n with d = x·scale - k.
static SmallVector<Value> createCenteredMeans(Code &builder, const Expansion &expansion, Value scale, Value k) {
  Value negated = builder.negate(k);
  return expansion.createMeans(builder, RowPass::Further, {ReductionKind::Sum, ReductionKind::SumOfSquares},
                               [&](Code &inner, Value x) {
                                 Value d = scale ? inner.fma(x, scale, negated) : inner.subtract(x, k);
                                 return SmallVector<Value>{d, d};
                               });
}

/// var = fma(-e, e, q) where q is finite and e² ≤ q/4; otherwise too many bits cancel, and var = S((d-e)²)/n.
static Value createVariance(Code &builder, const Expansion &expansion, Value scale, Value k, Value e, Value q) {
  auto emitUsual = [&] { return SmallVector<Value>{expansion.createDirectVariance(builder, e, q)}; };
  auto emitRare = [&] {
    Value minusK = builder.negate(k);
    auto getRest = [&](Code &inner, Value x) { return inner.subtract(inner.fma(x, scale, minusK), e); };
    return SmallVector<Value>{expansion.createMean(builder, RowPass::Further, ReductionKind::SumOfSquares, getRest)};
  };
  return builder.choose(expansion.isDirect(builder, e, q), expansion.getType(), emitUsual, emitRare).front();
}

static SmallVector<Value> expandLayer(const Expansion &expansion, Code &builder) {
  Value k = expansion.createMean(builder, RowPass::First, ReductionKind::Sum, takeElement);
  SmallVector<Value> means = createCenteredMeans(builder, expansion, /*scale=*/Value(), k);
  auto redo = [&](Value scale) {
    auto multiply = [&](Code &inner, Value x) { return inner.multiply(x, scale); };
    SmallVector<Value> redone{expansion.createMean(builder, RowPass::Further, ReductionKind::Sum, multiply)};
    llvm::append_range(redone, createCenteredMeans(builder, expansion, scale, redone.front()));
    return redone;
  };
  SmallVector<Value> usable = expansion.rescue(builder, {k, means[0], means[1]}, redo);
  Value scale = usable[0], e = usable[2], q = usable[3];
  Value variance = createVariance(builder, expansion, scale, usable[1], e, q);
  return {scale, usable[1], e, expansion.createReciprocalRoot(builder, variance, scale)};
}

//===------------------------------------------- RMS norm ---------------------------------------------------------===//

/// The mean of the squares, or with `isLength` their sum, and what follows from it.
static SmallVector<Value> expandRMS(const Expansion &expansion, Code &builder, bool isLength) {
  auto getSquares = [&](RowPass pass, function_ref<Value(Code &, Value)> value) {
    auto single = [&](Code &inner, Value x) { return SmallVector<Value>{value(inner, x)}; };
    return isLength ? expansion.createSums(builder, pass, ReductionKind::SumOfSquares, single).front()
                    : expansion.createMean(builder, pass, ReductionKind::SumOfSquares, value);
  };
  Value q = getSquares(RowPass::First, takeElement);
  auto redo = [&](Value scale) {
    auto multiply = [&](Code &inner, Value x) { return inner.multiply(x, scale); };
    return SmallVector<Value>{getSquares(RowPass::Further, multiply)};
  };
  // Squares below 2^-100 are those of lengths below 2^-50.
  SmallVector<Value> usable =
      isLength ? expansion.rescue(builder, q, redo, /*leastEpsilon=*/0x1p-50) : expansion.rescue(builder, q, redo);
  return {usable[0], isLength ? expansion.createReciprocalLength(builder, usable[1], usable[0])
                              : expansion.createReciprocalRoot(builder, usable[1], usable[0])};
}

/// S(t)/n, where t adds up the squares of all streams times `scale`; without one it is 1.
static Value createStreamMean(Code &builder, const Expansion &expansion, RowPass pass, Value scale, size_t streams) {
  auto addSquares = [&](Code &inner, ValueRange elements) {
    Value sum;
    for (Value element : elements) {
      Value x = inner.castFloat(element, expansion.getType());
      if (scale)
        x = inner.multiply(x, scale);
      sum = sum ? inner.fma(x, x, sum) : inner.multiply(x, x);
    }
    return SmallVector<Value>{sum};
  };
  const StatisticsPhases &phases = expansion.phases;
  Value sum = phases.add(builder, pass, ReductionKind::Sum, expansion.getType(), addSquares).front();
  return builder.divide(sum, builder.multiply(phases.getWidth(), double(streams)));
}

//===------------------------------------------- the ops ----------------------------------------------------------===//

/// k comes from the first pass, e and q from the second.
unsigned LayerStatisticsOp::getUsualPasses() { return 2; }

SmallVector<Value> LayerStatisticsOp::expand(Code &builder, StatisticsPhases &phases) {
  return expandLayer(Expansion(phases, builder, getElementTypeOrSelf(getRstd().getType()), getEpsilon()), builder);
}

SmallVector<Value> RMSStatisticsOp::expand(Code &builder, StatisticsPhases &phases) {
  Expansion expansion(phases, builder, getElementTypeOrSelf(getRstd().getType()), getEpsilon());
  return expandRMS(expansion, builder, getLength());
}

SmallVector<Value> StreamStatisticsOp::expand(Code &builder, StatisticsPhases &phases) {
  Expansion expansion(phases, builder, getElementTypeOrSelf(getRstd().getType()), getEpsilon());
  Value q = createStreamMean(builder, expansion, RowPass::First, /*scale=*/Value(), getStreams().size());
  auto redo = [&](Value scale) {
    return SmallVector<Value>{createStreamMean(builder, expansion, RowPass::Further, scale, getStreams().size())};
  };
  SmallVector<Value> usable = expansion.rescue(builder, q, redo);
  return {usable[0], expansion.createReciprocalRoot(builder, usable[1], usable[0])};
}

/// The exponentials need the largest element, which the first pass gives.
unsigned SoftmaxStatisticsOp::getUsualPasses() { return 2; }

SmallVector<Value> SoftmaxStatisticsOp::expand(Code &builder, StatisticsPhases &phases) {
  Type type = getElementTypeOrSelf(getMax().getType());
  SmallVector<ReductionKind> kinds = {ReductionKind::SignedMax, ReductionKind::Sum};
  kinds.resize(getNumOperands());
  SmallVector<Value> first = phases.add(builder, RowPass::First, kinds, type,
                                        [](Code &, ValueRange elements) -> SmallVector<Value> { return elements; });
  Value largest = first[0];
  auto getExponential = [&](Code &inner, ValueRange elements) -> SmallVector<Value> {
    return {inner.create<math::ExpOp>(inner.subtract(elements.front(), largest))};
  };
  Value sum = phases.add(builder, RowPass::Further, ReductionKind::Sum, type, getExponential).front();
  first.insert(first.begin() + 1, sum);
  return first;
}

SmallVector<Value> RowMagnitudesOp::expand(Code &builder, StatisticsPhases &phases) {
  Type type = getElementTypeOrSelf(getLargest().getType());
  auto getMagnitude = [&](Code &inner, ValueRange elements) -> SmallVector<Value> {
    return {inner.absolute(inner.castFloat(elements.front(), type))};
  };
  return phases.add(builder, RowPass::First, ReductionKind::Max, type, getMagnitude);
}

/// S of each of so many tensors.
static SmallVector<Value> createSums(Code &builder, StatisticsPhases &phases, TypeRange results) {
  SmallVector<ReductionKind> kinds(results.size(), ReductionKind::Sum);
  return phases.add(builder, RowPass::First, kinds, getElementTypeOrSelf(results.front()),
                    [](Code &, ValueRange elements) -> SmallVector<Value> { return elements; });
}

SmallVector<Value> RowMeansOp::expand(Code &builder, StatisticsPhases &phases) {
  return llvm::map_to_vector(createSums(builder, phases, getMeans().getTypes()),
                             [&](Value sum) { return builder.divide(sum, phases.getWidth()); });
}

SmallVector<Value> RowSumsOp::expand(Code &builder, StatisticsPhases &phases) {
  return createSums(builder, phases, getSums().getTypes());
}
