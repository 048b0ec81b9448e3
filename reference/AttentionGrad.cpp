// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The backward of attention in plain loops, as docs/dialect/attention_grad.md has it.

#include "reference/AttentionArithmetic.h"
#include "reference/AttentionHeads.h"
#include "reference/Bounds.h"
#include "reference/Interpreter.h"

namespace mlir::resid::reference {

namespace {

/// Gradients of keys and values, of one head of keys.
template <typename Arithmetic> struct KeySums {
  explicit KeySums(const AttentionHeads &heads) : keys(heads.keys * heads.size), values(heads.keys * heads.valueSize) {}
  std::vector<typename Arithmetic::Chain> keys, values;
};

/// How far sums may be off: by errors of their terms, and by roundings of what these are at most.
struct JudgedSums {
  std::vector<double> errors, magnitudes;
  explicit JudgedSums(size_t size = 0) : errors(size), magnitudes(size) {}
  void add(size_t place, const bounds::Judged &weight, double number) {
    errors[place] += weight.error * std::fabs(number);
    magnitudes[place] += weight.most() * std::fabs(number);
  }
  /// Of sums with so many roundings of `unit` each.
  std::vector<double> get(double roundings, double unit) const {
    std::vector<double> bounds = errors;
    for (auto [bound, magnitude] : llvm::zip_equal(bounds, magnitudes))
      bound += roundings * unit * magnitude;
    return bounds;
  }
};

/// Of a head of keys, as KeySums.
struct JudgedKeySums {
  JudgedSums keys, values;
};

/// A row of the backward: an AttentionRow with its statistics and the gradient of its result.
struct GradientRow {
  AttentionRow row;
  const double *gradient;
  double max, sum;
};

/// Σ a·b over `size` elements.
template <typename Arithmetic> typename Arithmetic::Number multiply(const double *a, const double *b, int64_t size) {
  using Number = typename Arithmetic::Number;
  typename Arithmetic::Chain chain;
  for (int64_t i = 0; i != size; ++i)
    chain.add(static_cast<Number>(a[i]), static_cast<Number>(b[i]));
  return chain.value();
}

/// What a row has of its own, before it is rounded to storage: dq, and what its sink gets.
struct RowGradients {
  std::vector<double> query;
  double sink;
};

template <typename Arithmetic>
typename Arithmetic::Number getSinkWeight(const Arithmetic &arithmetic, const GradientRow &row) {
  using Number = typename Arithmetic::Number;
  if (!row.row.hasSink())
    return Number(0);
  return arithmetic.weigh(static_cast<Number>(*row.row.sink) - static_cast<Number>(row.max)) /
         static_cast<Number>(row.sum);
}

/// Adds what the row gives to its keys and values, and gives the rest.
template <typename Arithmetic>
RowGradients addRow(const Arithmetic &arithmetic, const GradientRow &gradientRow, KeySums<Arithmetic> &sums) {
  using Number = typename Arithmetic::Number;
  constexpr Number infinity = std::numeric_limits<Number>::infinity();
  const AttentionRow &row = gradientRow.row;
  std::vector<Number> weights(row.end, Number(0)), gradients(row.end, Number(0));
  SmallVector<int64_t> present;
  for (int64_t key = 0; key < row.end; ++key) {
    Number score = takesPart(row, key) ? getScore<Arithmetic>(row, key) : -infinity;
    if (score == -infinity)
      continue;
    present.push_back(key);
    weights[key] =
        arithmetic.weigh(score - static_cast<Number>(gradientRow.max)) / static_cast<Number>(gradientRow.sum);
    bool isKept = !row.dropout || row.dropout->keeps(row.index, key);
    Number factor = row.dropout ? static_cast<Number>(row.dropout->scale) : Number(1);
    if (isKept)
      gradients[key] =
          multiply<Arithmetic>(gradientRow.gradient, row.values + key * row.valueSize, row.valueSize) * factor;
    for (int64_t i = 0; isKept && i != row.valueSize; ++i)
      sums.values[key * row.valueSize + i].add(weights[key] * factor, static_cast<Number>(gradientRow.gradient[i]));
  }
  Number mean = 0;
  for (int64_t first = row.origin; first < row.end; first += attentionChunk) {
    std::vector<Number> terms;
    for (int64_t key = first, last = std::min(first + attentionChunk, row.end); key != last; ++key)
      terms.push_back(weights[key] == 0 ? Number(0) : weights[key] * gradients[key]);
    mean += Arithmetic::sum(terms);
  }
  std::vector<typename Arithmetic::Chain> queries(row.size);
  for (int64_t key : present) {
    Number share = weights[key] * (gradients[key] - mean);
    if (row.cap != 0.0) {
      Number bent = getBent<Arithmetic>(row, key);
      share *= std::fma(-bent, bent, Number(1));
    }
    Number score = weights[key] == 0 ? Number(0) : share * static_cast<Number>(row.scale);
    for (int64_t i = 0; i != row.size; ++i) {
      queries[i].add(score, static_cast<Number>(row.keys[key * row.size + i]));
      sums.keys[key * row.size + i].add(score, static_cast<Number>(row.query[i]));
    }
  }
  Number sinkWeight = getSinkWeight(arithmetic, gradientRow);
  RowGradients result{{}, sinkWeight == 0 ? 0.0 : -(sinkWeight * mean)};
  for (const auto &chain : queries)
    result.query.push_back(chain.value() + Number(0));
  return result;
}

/// How far a row's dq and its sink's gradient may be off; adds to what its keys and values may be. In plain float64.
RowGradients boundRow(const GradientRow &gradientRow, const AttentionJudge &judge, JudgedKeySums &sums) {
  const AttentionRow &row = gradientRow.row;
  double unit = judge.roundings * bounds::unitRoundoff(judge.arithmetic), least = smallestNormal(judge.arithmetic);
  double chunks = static_cast<double>((row.end + attentionChunk - 1) / attentionChunk);
  WeightErrors errors = boundWeights(row, judge);
  auto judgeShare = [&](double score, double error) -> bounds::Judged {
    double share = std::exp(score - gradientRow.max) / gradientRow.sum;
    return {share, share * std::expm1(error) + 2 * least};
  };
  struct Key {
    int64_t key;
    bounds::KeyGradient gradient;
  };
  std::vector<Key> keys;
  bounds::Judged mean{0.0};
  double terms = 0.0;
  for (int64_t key = 0; key < row.end; ++key) {
    double score = takesPart(row, key) ? getScore<WideArithmetic>(row, key) : -HUGE_VAL, factor = row.getFactor(key);
    if (score == -HUGE_VAL)
      continue;
    bounds::KeyGradient own{judgeShare(score, errors.weights[key]), {0.0}, {0.0}, {1.0}};
    double magnitude = least;
    for (int64_t i = 0; i != row.valueSize && factor != 0.0; ++i) {
      double product = gradientRow.gradient[i] * row.values[key * row.valueSize + i];
      own.product.value += factor * product, magnitude += factor * std::fabs(product);
    }
    own.product.error = unit * static_cast<double>(row.valueSize + 3) * magnitude;
    mean.value += own.share.value * own.product.value;
    mean.error += own.share.error * own.product.most() + own.share.value * own.product.error;
    terms += own.share.most() * own.product.most();
    if (row.cap != 0.0) {
      double bent = getBent<WideArithmetic>(row, key);
      own.slope = {1 - bent * bent, 2 * errors.scores[key] / row.cap + 2 * unit};
    }
    keys.push_back({key, own});
    bounds::Judged weight{factor * own.share.value, factor * (own.share.error + 2 * unit * own.share.most())};
    for (int64_t i = 0; i != row.valueSize; ++i)
      sums.values.add(key * row.valueSize + i, weight, gradientRow.gradient[i]);
  }
  mean.error += unit * (14 + 2 * chunks) * terms;
  JudgedSums query(row.size);
  for (Key &key : keys) {
    bounds::KeyGradient &own = key.gradient;
    own.mean = mean;
    double value = own.share.value * (own.product.value - mean.value) * own.slope.value * row.scale;
    bounds::Judged score{value, bounds::scoreGradient(own, row.scale, unit) + 2 * least};
    for (int64_t i = 0; i != row.size; ++i) {
      query.add(i, score, row.keys[key.key * row.size + i]);
      sums.keys.add(key.key * row.size + i, score, row.query[i]);
    }
  }
  RowGradients bound{query.get(static_cast<double>(keys.size()) + 2 * chunks + 2, unit), 0.0};
  if (row.hasSink()) {
    bounds::Judged share = judgeShare(*row.sink, errors.sink);
    bound.sink = share.error * mean.most() + share.value * mean.error + 2 * unit * share.most() * mean.most();
  }
  return bound;
}

/// The operands and results of one op.
struct Backward {
  AttentionHeads heads;
  Array dy, max, sum;
  /// dq, dk, dv and, with a sink, dsinks.
  SmallVector<Array> results;
  std::function<double(FloatKind, double)> round;

  /// Where results are judged: how, and their bounds.
  std::optional<AttentionJudge> judge;
  SmallVector<Accuracy> accuracies;

  template <typename Arithmetic> void run(const Arithmetic &arithmetic);
  /// After the results are stored.
  void bound(unsigned result, int64_t first, ArrayRef<double> bounds) {
    for (auto [index, bound] : llvm::enumerate(bounds)) {
      double value = std::fabs(results[result].floats()[first + index]) + bound;
      accuracies[result].bounds[first + index] = bound + unitInLastPlace(results[result].floatKind(), value);
    }
  }
  void store(unsigned result, int64_t first, ArrayRef<double> values) {
    FloatKind kind = results[result].floatKind();
    for (auto [index, value] : llvm::enumerate(values))
      results[result].mutableFloats()[first + index] = round(kind, value);
  }
};

/// Heads of keys one after the other, and for each the rows that read it, in their order.
template <typename Arithmetic> void Backward::run(const Arithmetic &arithmetic) {
  int64_t group = heads.keyHeads == 0 ? 0 : heads.heads / heads.keyHeads;
  for (int64_t head = 0, count = heads.batch * heads.keyHeads; head != count; ++head) {
    KeySums<Arithmetic> sums(heads);
    JudgedKeySums judged{JudgedSums(sums.keys.size()), JudgedSums(sums.values.size())};
    for (int64_t i = 0, rows = group * heads.queries; i != rows; ++i) {
      // The heads that share one are neighbours.
      int64_t row = head * rows + i;
      GradientRow gradientRow{heads.getRow(row), dy.floats().data() + row * heads.valueSize, max.floats()[row],
                              sum.floats()[row]};
      RowGradients own = addRow(arithmetic, gradientRow, sums);
      store(0, row * heads.size, own.query);
      int64_t query = row % heads.queries, queryHead = row / heads.queries;
      int64_t ofSink = (queryHead / heads.heads * heads.queries + query) * heads.heads + queryHead % heads.heads;
      if (heads.sink)
        store(3, ofSink, own.sink);
      if (!judge)
        continue;
      RowGradients limits = boundRow(gradientRow, *judge, judged);
      bound(0, row * heads.size, limits.query);
      if (heads.sink)
        bound(3, ofSink, limits.sink);
    }
    for (auto [result, chains] : {std::pair(1, &sums.keys), {2, &sums.values}}) {
      std::vector<double> gradients;
      for (const auto &chain : *chains)
        gradients.push_back(chain.value() + typename Arithmetic::Number(0));
      store(result, head * int64_t(gradients.size()), gradients);
    }
    if (!judge)
      continue;
    // Each step of 128 queries may be a sum of its own that is added.
    double unit = judge->roundings * bounds::unitRoundoff(judge->arithmetic);
    double roundings = static_cast<double>(2 * group * heads.queries + 2);
    bound(1, head * int64_t(sums.keys.size()), judged.keys.get(roundings, unit));
    bound(2, head * int64_t(sums.values.size()), judged.values.get(roundings, unit));
  }
}

} // namespace

Interpreter::Results Interpreter::evaluate(AttentionGradOp op) {
  FloatKind arithmetic = *getFloatKind(op.getArithmeticType());
  Backward backward;
  AttentionHeads &heads = backward.heads;
  heads.q = get(op.getQ()), heads.k = get(op.getK()), heads.v = get(op.getV()), heads.mask = getOptional(op.getMask());
  heads.sink = getOptional(op.getSink()), heads.isCausal = op.getCausal(), heads.window = op.getWindowOrZero();
  heads.scale = round(arithmetic, op.getScoreScale()), heads.cap = round(arithmetic, op.getCapOrZero());
  backward.dy = get(op.getDy()), backward.max = get(op.getMax()), backward.sum = get(op.getSum());
  heads.querySegments = getOptional(op.getQuerySegments()), heads.keySegments = getOptional(op.getKeySegments());
  if (failed(heads.prepare(op, op.getMask() ? op.getMask().getType().getShape() : ArrayRef<int64_t>())))
    return failure();
  if (backward.dy.getShape() != ArrayRef(heads.getResultShape()))
    return op.emitOpError() << "expected dy of the shape of the attention's result, rows of " << describe(heads.q)
                            << " with the size of " << describe(heads.v) << ", but got " << describe(backward.dy);
  for (const Array *statistic : {&backward.max, &backward.sum})
    if (statistic->getShape() != heads.q.getShape().drop_back())
      return op.emitOpError() << "expected statistics of the rows of q, " << describe(heads.q) << ", but got "
                              << describe(*statistic);
  if (op.getThreshold() != 0) {
    DropoutParameters parameters = getDropoutParameters(op.getP()->convertToDouble(), *op.getSite(), op.getSeed(),
                                                        op.getStep(), getDropoutOrigin(op));
    FailureOr<DropoutMask> drawn = getDropoutMask(op, parameters, heads.getRowCount(), heads.keys, arithmetic);
    if (failed(drawn))
      return failure();
    heads.dropout = *drawn;
  }
  for (auto [result, like] : {std::pair(op.getDq(), &heads.q), {op.getDk(), &heads.k}, {op.getDv(), &heads.v}})
    backward.results.push_back(Array::zeros(result.getType(), like->getShape()));
  if (op.getDsinks())
    backward.results.push_back(Array::zeros(op.getDsinks().getType(), {heads.batch, heads.queries, heads.heads}));
  backward.round = [&](FloatKind kind, double value) { return round(kind, value); };
  bool isRelaxed = options.relaxes(op.getQ().getType().getElementType(), op.getK().getType().getElementType(),
                                   op.getArithmeticType());
  bool isBounded = isExactMode() && isRelaxed && options.trackAccuracy;
  // As of a forward: 18 of matrix units, and one of the evaluator.
  if (isBounded)
    backward.judge = AttentionJudge{arithmetic, backward.results.front().floatKind(), /*roundings=*/19.0};
  for (Array &result : backward.results)
    backward.accuracies.push_back({Accuracy::Bounded, std::vector<double>(isBounded ? result.size() : 0)});
  if (!isExactMode())
    backward.run(WideArithmetic{smallestNormal(arithmetic)});
  else if (arithmetic == FloatKind::F64)
    backward.run(FusedArithmetic<double>());
  else
    backward.run(FusedArithmetic<float>());
  bool isBitEqual = isExactMode() && options.hasFMA && !isRelaxed;
  for (auto [result, accuracy] : llvm::zip_equal(backward.results, backward.accuracies))
    result.setAccuracy(isBitEqual  ? nullptr
                       : isBounded ? std::make_shared<const Accuracy>(std::move(accuracy))
                                   : getToleranceAccuracy());
  return backward.results;
}

} // namespace mlir::resid::reference
