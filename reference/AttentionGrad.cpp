// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The backward of attention in plain loops, as docs/dialect/attention_grad.md has it.

#include "reference/AttentionArithmetic.h"
#include "reference/AttentionHeads.h"
#include "reference/Interpreter.h"

namespace mlir::resid::reference {

namespace {

/// Gradients of keys and values, of one head of keys.
template <typename Arithmetic> struct KeySums {
  explicit KeySums(const AttentionHeads &heads) : keys(heads.keys * heads.size), values(heads.keys * heads.valueSize) {}
  std::vector<typename Arithmetic::Chain> keys, values;
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

/// The operands and results of one op.
struct Backward {
  AttentionHeads heads;
  Array dy, max, sum;
  /// dq, dk, dv and, with a sink, dsinks.
  SmallVector<Array> results;
  std::function<double(FloatKind, double)> round;

  template <typename Arithmetic> void run(const Arithmetic &arithmetic);
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
    for (int64_t i = 0, rows = group * heads.queries; i != rows; ++i) {
      // The heads that share one are neighbours.
      int64_t row = head * rows + i;
      GradientRow gradientRow{heads.getRow(row), dy.floats().data() + row * heads.valueSize, max.floats()[row],
                              sum.floats()[row]};
      RowGradients own = addRow(arithmetic, gradientRow, sums);
      store(0, row * heads.size, own.query);
      int64_t query = row % heads.queries, queryHead = row / heads.queries;
      if (heads.sink)
        store(3, (queryHead / heads.heads * heads.queries + query) * heads.heads + queryHead % heads.heads, own.sink);
    }
    for (auto [result, chains] : {std::pair(1, &sums.keys), {2, &sums.values}}) {
      std::vector<double> gradients;
      for (const auto &chain : *chains)
        gradients.push_back(chain.value() + typename Arithmetic::Number(0));
      store(result, head * int64_t(gradients.size()), gradients);
    }
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
  if (!isExactMode())
    backward.run(WideArithmetic{smallestNormal(arithmetic)});
  else if (arithmetic == FloatKind::F64)
    backward.run(FusedArithmetic<double>());
  else
    backward.run(FusedArithmetic<float>());
  bool isRelaxed = options.relaxes(op.getQ().getType().getElementType(), op.getK().getType().getElementType(),
                                   op.getArithmeticType());
  for (Array &result : backward.results)
    result.setAccuracy(isExactMode() && options.hasFMA && !isRelaxed ? nullptr : getToleranceAccuracy());
  return backward.results;
}

} // namespace mlir::resid::reference
