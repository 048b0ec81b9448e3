// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "reference/AttentionArithmetic.h"
#include "reference/Bounds.h"
#include "reference/Interpreter.h"

namespace mlir::resid::reference {

namespace {

//===------------------------------------------- the definition ---------------------------------------------------===//

template <typename Number> Number maximum(Number a, Number b) {
  return std::isnan(a) || std::isnan(b) ? std::numeric_limits<Number>::quiet_NaN() : std::max(a, b);
}

/// Present keys, at least one.
template <typename Number> struct State {
  Number max, sum;
  std::vector<Number> values;
};

/// The keys from `first` up to `last`; none where no one of them is present.
template <typename Arithmetic, typename Number = typename Arithmetic::Number>
std::optional<State<Number>> attendChunk(const Arithmetic &arithmetic, const AttentionRow &row, int64_t first,
                                         int64_t last) {
  constexpr Number infinity = std::numeric_limits<Number>::infinity();
  std::vector<Number> scores(last - first, -infinity), weights(last - first, Number(0));
  State<Number> state{-infinity, Number(0), {}};
  SmallVector<int64_t> present;
  for (int64_t key = first; key != last; ++key) {
    if (takesPart(row, key))
      scores[key - first] = getScore<Arithmetic>(row, key);
    if (scores[key - first] == -infinity)
      continue;
    present.push_back(key - first);
    state.max = maximum(state.max, scores[key - first]);
  }
  if (present.empty())
    return std::nullopt;
  state.max += Number(0);
  for (int64_t key : present)
    weights[key] = arithmetic.weigh(scores[key] - state.max);
  state.sum = Arithmetic::sum(weights);
  if (row.dropout) {
    llvm::erase_if(present, [&](int64_t key) { return !row.dropout->keeps(row.index, first + key); });
    for (int64_t key : present)
      weights[key] *= static_cast<Number>(row.dropout->scale);
  }
  for (int64_t i = 0; i != row.valueSize; ++i) {
    typename Arithmetic::Chain chain;
    for (int64_t key : present)
      chain.add(weights[key], static_cast<Number>(row.values[(first + key) * row.valueSize + i]));
    state.values.push_back(chain.value());
  }
  return state;
}

template <typename Arithmetic, typename Number = typename Arithmetic::Number>
void join(const Arithmetic &arithmetic, State<Number> &state, const State<Number> &chunk) {
  Number max = maximum(state.max, chunk.max);
  Number a = arithmetic.weigh(state.max - max), b = arithmetic.weigh(chunk.max - max);
  state.max = max;
  state.sum = std::fma(chunk.sum, b, state.sum * a);
  for (auto [value, added] : llvm::zip_equal(state.values, chunk.values))
    value = std::fma(added, b, value * a);
}

template <typename Arithmetic> AttendedRow attend(const Arithmetic &arithmetic, const AttentionRow &row) {
  using Number = typename Arithmetic::Number;
  std::optional<State<Number>> state;
  int64_t before = (row.begin - row.origin) / attentionChunk * attentionChunk;
  for (int64_t first = row.origin + before; first < row.end; first += attentionChunk) {
    auto chunk = attendChunk(arithmetic, row, first, std::min(first + attentionChunk, row.end));
    if (state && chunk)
      join(arithmetic, *state, *chunk);
    else if (chunk)
      state = chunk;
  }
  if (row.hasSink()) {
    State<Number> sink{static_cast<Number>(*row.sink) + Number(0), Number(1), std::vector<Number>(row.valueSize)};
    if (state)
      join(arithmetic, *state, sink);
    else
      state = sink;
  }
  if (!state)
    return {std::vector<double>(row.valueSize), -std::numeric_limits<double>::infinity(), 0.0};
  AttendedRow result{{}, state->max, state->sum};
  for (Number value : state->values)
    result.values.push_back((value + Number(0)) / state->sum);
  return result;
}

//===------------------------------------------- bounds -----------------------------------------------------------===//

/// A present key, by how much its score may be off, and what dropout multiplies its weight by.
struct JudgedKey {
  int64_t key;
  const double *values;
  double score, error, factor;
};

struct JudgedRow {
  SmallVector<JudgedKey> present;
  /// Whether the arithmetic type may overflow on the way to a score: that decides which keys are present.
  bool mayOverflow = false;
};

JudgedRow judgeKeys(const AttentionRow &row, const AttentionJudge &judge) {
  JudgedRow judged;
  for (int64_t key = row.begin; key < row.end; ++key) {
    if (!takesPart(row, key))
      continue;
    double score = getScore<WideArithmetic>(row, key), addend = row.addends ? row.addends[key * row.maskStride] : 0.0;
    // A product that nearly underflows is off by half of the least number, as much as the smallest normal one is.
    double products = smallestNormal(judge.arithmetic);
    for (int64_t i = 0; i != row.size; ++i)
      products += std::fabs(row.query[i] * row.keys[key * row.size + i]);
    bounds::Score parts{products, std::fabs(row.scale) * products, std::isfinite(addend) ? std::fabs(addend) : 0.0,
                        row.size, row.cap};
    judged.mayOverflow |= bounds::mayOverflow(judge.arithmetic, parts);
    if (score != -HUGE_VAL)
      judged.present.push_back({key, row.values + key * row.valueSize, score,
                                bounds::score(judge.arithmetic, judge.roundings, parts), row.getFactor(key)});
  }
  if (row.hasSink())
    judged.present.push_back({/*key=*/-1, /*values=*/nullptr, *row.sink, /*error=*/0.0, /*factor=*/0.0});
  return judged;
}

bounds::AttentionRow countRoundings(const AttentionRow &row, const AttentionJudge &judge, size_t present) {
  double chunks = static_cast<double>((row.end + attentionChunk - 1) / attentionChunk + row.hasSink());
  return {judge.arithmetic, judge.result,           judge.roundings, static_cast<double>(present),
          chunks,           row.dropout ? 2.0 : 0.0};
}

} // namespace

WeightErrors boundWeights(const AttentionRow &row, const AttentionJudge &judge) {
  JudgedRow judged = judgeKeys(row, judge);
  double none = judged.mayOverflow ? HUGE_VAL : 0.0, max = -HUGE_VAL, largest = 0.0;
  WeightErrors errors{std::vector<double>(row.end, none), std::vector<double>(row.end, none), none};
  if (judged.mayOverflow)
    return errors;
  for (const JudgedKey &key : judged.present)
    max = std::max(max, key.score);
  bounds::AttentionRow all = countRoundings(row, judge, judged.present.size());
  for (const JudgedKey &key : judged.present) {
    double &error = key.key < 0 ? errors.sink : errors.weights[key.key];
    error = bounds::weight(all, key.error, max - key.score);
    // One that is 0 has no share in the sum, however far it is.
    if (key.score - max > -104.0)
      largest = std::max(largest, error);
    if (key.key >= 0)
      errors.scores[key.key] = key.error;
  }
  for (double &error : errors.weights)
    error = bounds::share(all, error, largest);
  errors.sink = bounds::share(all, errors.sink, largest);
  return errors;
}

AttendedRow attendExactly(const AttentionRow &row, FloatKind arithmetic) {
  if (arithmetic == FloatKind::F64)
    return attend(FusedArithmetic<double>(), row);
  return attend(FusedArithmetic<float>(), row);
}

AttendedRow attendWidely(const AttentionRow &row, FloatKind arithmetic) {
  return attend(WideArithmetic{smallestNormal(arithmetic)}, row);
}

AttendedRow boundAttention(const AttentionRow &row, const AttendedRow &attended, const AttentionJudge &judge) {
  JudgedRow judged = judgeKeys(row, judge);
  ArrayRef<JudgedKey> keys = judged.present;
  if (judged.mayOverflow)
    return {std::vector<double>(row.valueSize, HUGE_VAL), HUGE_VAL, HUGE_VAL};
  AttendedRow bound{std::vector<double>(row.valueSize), 0.0, 0.0};
  if (keys.empty())
    return bound;
  // The largest score, and what it may be taken for.
  double max = -HUGE_VAL, most = -HUGE_VAL;
  for (const JudgedKey &key : keys)
    max = std::max(max, key.score), most = std::max(most, key.score + key.error);
  bounds::AttentionRow all = countRoundings(row, judge, keys.size());
  // Weights, and by how much each may be off. A factor that all of them share has no effect on the values.
  double total = 0.0, least = 0.0, moved = 0.0;
  SmallVector<double> errors;
  for (const JudgedKey &key : keys) {
    double weight = std::exp(key.score - max), error = bounds::weight(all, key.error, max - key.score);
    total += weight;
    least += weight == 0.0 ? 0.0 : weight * std::exp(-error);
    // A weight that is 0 here may still be one beyond the error of its score.
    errors.push_back(weight == 0.0 ? std::exp(key.score - max + error) : weight * std::expm1(error));
    moved += errors.back();
  }
  bound.max = most - max + unitInLastPlace(judge.arithmetic, max);
  bound.sum = bounds::attentionSum(all, {attended.sum, total, moved, most - max});
  for (int64_t i = 0; i != row.valueSize; ++i) {
    bounds::Attended value{attended.values[i], 0.0, 0.0, 0.0};
    for (auto [key, error] : llvm::zip_equal(keys, errors)) {
      // What is dropped is left out, whatever it is.
      double magnitude = key.factor == 0.0 ? 0.0 : key.factor * std::fabs(key.values[i]);
      value.moved += error * (magnitude + std::fabs(value.value)) / least;
      value.magnitude += std::exp(key.score - max) * magnitude / total;
      value.largest = std::max(value.largest, magnitude);
    }
    bound.values[i] = bounds::attention(all, value);
  }
  return bound;
}

} // namespace mlir::resid::reference
