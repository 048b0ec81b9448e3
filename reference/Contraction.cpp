// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions and linear layers: in exact-type mode the chain of fused multiply-adds that defines them, in wide mode a
// sum in float64.
// Which ops are contractions: dialect/Contraction.h.

#include "reference/Bounds.h"
#include "reference/Interpreter.h"

namespace mlir::resid::reference {

namespace {

/// How far the elements of a, b and the result are apart along a loop, or where they are.
struct Offsets {
  int64_t a = 0, b = 0, result = 0;
};

struct Loop {
  int64_t size;
  Offsets step;
};

/// A result is what one chain of `T` comes to, rounded to storage.
template <typename T> struct FusedChain {
  T sum;
  void start(double initial) { sum = static_cast<T>(initial); }
  void add(double a, double b) { sum = std::fma(static_cast<T>(a), static_cast<T>(b), sum); }
};

/// The exact sum nearly, and the sum of all magnitudes.
struct WideSum {
  CompensatedSum sum;
  double magnitude;
  void start(double initial) { sum = {initial, 0.0}, magnitude = std::fabs(initial); }
  void add(double a, double b) {
    double product = a * b;
    sum.add(product);
    sum.low += std::fma(a, b, -product);
    magnitude += std::fabs(product);
  }
};

/// The loops of one contraction, and what they walk through.
struct Nest {
  const double *a, *b, *initial;
  /// Parallel loops but for the one that runs over a block of chains, and contracted loops, in the op's order.
  SmallVector<Loop> outer, contracted;
  Loop block = {1, {}};
};

/// So many results are computed side by side, so that arrays are read along lines of the cache in any order of axes.
constexpr int64_t maxBlock = 8;

/// Calls `visit` with the offsets of each point of `loops`, the last loop innermost.
template <typename Visit> void forEachPoint(ArrayRef<Loop> loops, Offsets offsets, Visit visit) {
  if (loops.empty())
    return visit(offsets);
  const Loop &loop = loops.front();
  for (int64_t i = 0; i != loop.size; ++i) {
    forEachPoint(loops.drop_front(), offsets, visit);
    offsets.a += loop.step.a, offsets.b += loop.step.b, offsets.result += loop.step.result;
  }
}

/// Adds up the products of `width` results from `from` on.
template <typename Sum> void sumBlock(const Nest &nest, Offsets from, int64_t width, MutableArrayRef<Sum> sums) {
  const Offsets &next = nest.block.step;
  for (int64_t j = 0; j != width; ++j)
    sums[j].start(nest.initial[from.result + j * next.result]);
  forEachPoint(nest.contracted, from, [&](const Offsets &at) {
    for (int64_t j = 0; j != width; ++j)
      sums[j].add(nest.a[at.a + j * next.a], nest.b[at.b + j * next.b]);
  });
}

/// Calls `finish` with the offset and the sum of each result.
template <typename Sum, typename Finish> void forEachSum(const Nest &nest, Finish finish) {
  std::array<Sum, maxBlock> sums;
  const Offsets &next = nest.block.step;
  forEachPoint(nest.outer, {}, [&](Offsets at) {
    for (int64_t j = 0; j < nest.block.size; j += maxBlock) {
      int64_t width = std::min(maxBlock, nest.block.size - j);
      Offsets from{at.a + j * next.a, at.b + j * next.b, at.result + j * next.result};
      sumBlock<Sum>(nest, from, width, sums);
      for (int64_t i = 0; i != width; ++i)
        finish(from.result + i * next.result, sums[i]);
    }
  });
}

/// By how many elements the offset into an operand moves along a loop.
int64_t getStep(AffineMap map, ArrayRef<int64_t> strides, unsigned loop) {
  for (auto [expression, stride] : llvm::zip_equal(map.getResults(), strides))
    if (cast<AffineDimExpr>(expression).getPosition() == loop)
      return stride;
  return 0;
}

Nest makeNest(Contraction contraction, ArrayRef<Array> arrays, ArrayRef<int64_t> sizes) {
  Nest nest{arrays[0].floats().data(), arrays[1].floats().data(), arrays[2].floats().data(), {}, {}};
  SmallVector<AffineMap> maps = contraction.op.getIndexingMapsArray();
  for (auto [loop, kind] : llvm::enumerate(contraction.op.getIteratorTypesArray())) {
    SmallVector<int64_t> steps;
    for (auto [map, array] : llvm::zip_equal(maps, arrays))
      steps.push_back(getStep(map, array.getStrides(), loop));
    Loop entry{sizes[loop], {steps[0], steps[1], steps[2]}};
    (kind == utils::IteratorType::reduction ? nest.contracted : nest.outer).push_back(entry);
  }
  auto *longest = std::max_element(nest.outer.begin(), nest.outer.end(),
                                   [](const Loop &x, const Loop &y) { return x.size < y.size; });
  if (longest != nest.outer.end()) {
    nest.block = *longest;
    nest.outer.erase(longest);
  }
  return nest;
}

/// The rows, the output features and the input features of a linear layer; `zeros` has the result's shape.
Nest makeNest(LinearOp op, const Array &x, const Array &weight, const Array &zeros) {
  int64_t in = weight.getShape()[op.getInputAxis()], out = weight.getShape()[op.getOutputAxis()], rows = 1;
  for (int64_t size : x.getShape().drop_back())
    rows *= size;
  SmallVector<int64_t> strides = weight.getStrides();
  Nest nest{x.floats().data(), weight.floats().data(), zeros.floats().data(), {}, {}};
  nest.outer.push_back({rows, {in, 0, out}});
  nest.block = {out, {0, strides[op.getOutputAxis()], 1}};
  nest.contracted.push_back({in, {1, strides[op.getInputAxis()], 0}});
  return nest;
}

/// How often a sum of `terms` products rounds by 2^-24 of its magnitude, or 0 where it has the bits of its chain.
/// Matrix units: (terms + 16) 2^-22, whatever the chip (docs/numerics.md).
double countRoundings(double terms, Type a, Type b, Type arithmetic, const EvaluationOptions &options) {
  if (options.relaxes(getElementTypeOrSelf(a), getElementTypeOrSelf(b), arithmetic))
    return 4 * (terms + 16);
  bool isChain = options.mode == Mode::ExactType && options.hasFMA;
  return isChain ? 0.0 : terms * (options.hasFMA ? 1.0 : 2.0);
}

} // namespace

FailureOr<Array> Interpreter::weightOf(LinearOp op, const Array &integers) {
  Array scale = get(op.getWeightScale()), zero = getOptional(op.getWeightZero()),
        offset = getOptional(op.getWeightOffset());
  int64_t shape[] = {integers.getShape()[0], integers.getShape()[1] / *op.getGroup()};
  for (const Array &parameter : {scale, zero, offset})
    if (parameter && parameter.getShape() != ArrayRef(shape))
      return op.emitOpError() << "expected parameters of the weight's " << shape[0] << " rows and " << shape[1]
                              << " groups but got " << describe(parameter);
  Array weight = Array::zeros(op.getWeight().getType().clone(op.getArithmeticType()), integers.getShape());
  MutableArrayRef<double> values = weight.mutableFloats();
  auto round = [&](double value) { return isExactMode() ? roundTo(FloatKind::F32, value) : value; };
  for (auto [i, q] : llvm::enumerate(integers.integers())) {
    size_t group = i / static_cast<size_t>(*op.getGroup());
    // Exact in float64: a scale has 24 bits, and q - zero 9.
    double factor = scale.floats()[group], number = static_cast<double>(q - (zero ? zero.integers()[group] : 0));
    if (!offset)
      values[i] = round(factor * number);
    else if (isExactMode() && options.hasFMA)
      values[i] =
          std::fma(static_cast<float>(factor), static_cast<float>(number), -static_cast<float>(offset.floats()[group]));
    else
      values[i] = round(round(factor * number) - offset.floats()[group]);
  }
  return weight;
}

/// Sizes that disagree are diagnosed.
static LogicalResult checkLinearSizes(LinearOp op, const Array &x, const Array &weight, const Array &bias) {
  int64_t in = weight.getShape()[op.getInputAxis()], out = weight.getShape()[op.getOutputAxis()];
  if (x.getShape().back() != in)
    return op.emitOpError() << "expected x to have size " << in << " in its last dimension but got "
                            << x.getShape().back();
  if (bias && bias.size() != out)
    return op.emitOpError() << "expected bias to have size " << out << " but got " << bias.size();
  return success();
}

/// The layer of integers: an exact sum, then one rounding after the other.
FailureOr<Array> Interpreter::quantizedLinear(LinearOp op, const Array &x, const Array &weight, const Array &bias) {
  if (failed(checkLinearSizes(op, x, weight, bias)))
    return failure();
  const Array &xScale = get(op.getXScale()), &weightScale = get(op.getWeightScale());
  SmallVector<int64_t> shape(x.getShape()), strides = weight.getStrides();
  int64_t in = shape.back(), out = shape.back() = weight.getShape()[op.getOutputAxis()];
  if (in > kMostIntegerTerms)
    return op.emitOpError() << "expected at most " << kMostIntegerTerms << " input features but got " << in;
  if (weightScale.size() != out || (xScale.getRank() != 0 && xScale.getShape() != x.getShape().drop_back()))
    return op.emitOpError() << "expected a scale for each row and for each output feature but got " << describe(xScale)
                            << " and " << describe(weightScale);
  Array result = Array::zeros(op.getType(), shape);
  FloatKind kind = result.floatKind();
  MutableArrayRef<double> values = result.mutableFloats();
  auto asF32 = [&](double value) { return round(FloatKind::F32, value); };
  for (int64_t i = 0; i != int64_t(values.size()); ++i) {
    int64_t row = i / out, column = i % out, sum = 0;
    for (int64_t k = 0; k != in; ++k)
      sum += x.integers()[row * in + k] *
             weight.integers()[column * strides[op.getOutputAxis()] + k * strides[op.getInputAxis()]];
    double scale = asF32(xScale.floats()[xScale.getRank() == 0 ? 0 : row] * weightScale.floats()[column]);
    double scaled = asF32(asF32(double(sum)) * scale);
    values[i] = round(kind, bias ? asF32(scaled + bias.floats()[column]) : scaled);
  }
  if (isAnyTainted({x, weight, xScale, weightScale, bias}))
    result.setAccuracy(getToleranceAccuracy());
  return result;
}

FailureOr<Array> Interpreter::linear(LinearOp op, const Array &x, const Array &weight, const Array &bias) {
  if (op.hasIntegerRows())
    return quantizedLinear(op, x, weight, bias);
  if (failed(checkLinearSizes(op, x, weight, bias)))
    return failure();
  SmallVector<int64_t> shape(x.getShape());
  shape.back() = weight.getShape()[op.getOutputAxis()];
  int64_t out = shape.back();
  Array result = Array::zeros(op.getType(), shape), zeros = Array::zeros(op.getType(), shape);
  Nest nest = makeNest(op, x, weight, zeros);
  FloatKind kind = result.floatKind(), arithmetic = *getFloatKind(op.getArithmeticType());
  MutableArrayRef<double> values = result.mutableFloats();
  auto getBias = [&](int64_t i) { return bias ? bias.floats()[i % out] : 0.0; };
  // A bias of +0 would turn a sum of -0.
  auto finish = [&](int64_t i, double sum) {
    values[i] = round(kind, bias ? round(arithmetic, sum + getBias(i)) : sum);
  };
  if (isExactMode() && arithmetic == FloatKind::F32)
    forEachSum<FusedChain<float>>(nest, [&](int64_t i, const auto &chain) { finish(i, chain.sum); });
  else if (isExactMode())
    forEachSum<FusedChain<double>>(nest, [&](int64_t i, const auto &chain) { finish(i, chain.sum); });
  double roundings = countRoundings(static_cast<double>(nest.contracted.front().size), op.getX().getType(),
                                    op.getWeight().getType(), op.getArithmeticType(), options);
  if (roundings == 0.0)
    return result;
  Accuracy accuracy{Accuracy::Bounded, std::vector<double>(values.size())};
  forEachSum<WideSum>(nest, [&](int64_t i, const WideSum &wide) {
    if (!isExactMode())
      finish(i, wide.sum.value());
    accuracy.bounds[i] =
        bounds::contraction(arithmetic, kind, {values[i], wide.magnitude + std::fabs(getBias(i)), roundings + 1});
  });
  result.setAccuracy(options.trackAccuracy ? std::make_shared<const Accuracy>(std::move(accuracy))
                                           : getToleranceAccuracy());
  return result;
}

Interpreter::Results Interpreter::evaluateContraction(Contraction contraction) {
  FailureOr<SmallVector<int64_t>> sizes = getLoopSizes(contraction.op);
  if (failed(sizes))
    return failure();
  SmallVector<Array> arrays =
      llvm::map_to_vector(contraction.op->getOperands(), [&](Value operand) { return get(operand); });
  Nest nest = makeNest(contraction, arrays, *sizes);
  Array result = arrays[2];
  result.setAccuracy(nullptr);
  FloatKind kind = result.floatKind(), arithmetic = *getFloatKind(contraction.arithmetic);
  MutableArrayRef<double> values = result.mutableFloats();
  if (isExactMode() && arithmetic == FloatKind::F32)
    forEachSum<FusedChain<float>>(nest, [&](int64_t i, const auto &chain) { values[i] = roundTo(kind, chain.sum); });
  else if (isExactMode())
    forEachSum<FusedChain<double>>(nest, [&](int64_t i, const auto &chain) { values[i] = roundTo(kind, chain.sum); });
  double terms = 1.0;
  for (const Loop &loop : nest.contracted)
    terms *= static_cast<double>(loop.size);
  double roundings = countRoundings(terms, contraction.op->getOperand(0).getType(),
                                    contraction.op->getOperand(1).getType(), contraction.arithmetic, options);
  if (roundings == 0.0)
    return SmallVector<Array>{result};
  Accuracy accuracy{Accuracy::Bounded, std::vector<double>(values.size())};
  forEachSum<WideSum>(nest, [&](int64_t i, const WideSum &wide) {
    if (!isExactMode())
      values[i] = wide.sum.value();
    accuracy.bounds[i] = bounds::contraction(arithmetic, kind, {values[i], wide.magnitude, roundings});
  });
  result.setAccuracy(options.trackAccuracy ? std::make_shared<const Accuracy>(std::move(accuracy))
                                           : getToleranceAccuracy());
  return SmallVector<Array>{result};
}

} // namespace mlir::resid::reference
