// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Family Streams: reads, writes, dot products and Sinkhorn iterations bit-equal to compiled code, where that has fused
// multiply-adds; projections in float64 with the bounds of their results.

#include "reference/AttentionArithmetic.h"
#include "reference/Bounds.h"
#include "reference/Interpreter.h"
#include "reference/RowStatistics.h"

namespace mlir::resid::reference {

namespace {

/// Where the parts of streams lie: `rows` rows of `count` streams of `width` features.
struct StreamSizes {
  explicit StreamSizes(ArrayRef<int64_t> shape) : count(shape.end()[-2]), width(shape.back()) {
    for (int64_t size : shape.drop_back(2))
      rows *= size;
  }
  int64_t rows = 1, count, width;

  int64_t getRow(int64_t row, int64_t stream) const { return (row * count + stream) * width; }
};

/// An operand that broadcasts to streams.
struct Coefficients {
  const Array *array = nullptr;
  SmallVector<int64_t> strides;

  /// That of an element of the streams, of which `place` is the number.
  double get(ArrayRef<int64_t> shape, int64_t place) const {
    int64_t offset = 0;
    for (int64_t dim = static_cast<int64_t>(shape.size()) - 1; dim >= 0; --dim) {
      offset += place % shape[dim] * strides[dim];
      place /= shape[dim];
    }
    return array->floats()[offset];
  }
};

/// Sums up one element, step by step, and notes by how much a target without fused multiply-adds may miss it.
class ElementSum {
public:
  ElementSum(FloatKind arithmetic, bool isExact) : arithmetic(arithmetic), isExact(isExact) {}

  void add(std::optional<double> factor, double value) {
    magnitude += std::fabs(factor.value_or(1.0) * value);
    double next = factor      ? isStarted ? fuse(*factor, value, sum) : round(*factor * value)
                       : isStarted ? round(sum + value)
                              : value;
    sum = next;
    isStarted = true;
    ++terms;
  }
  void scale(double factor) {
    sum = round(factor * sum);
    magnitude *= std::fabs(factor);
  }
  double value() const { return sum; }
  double bound(FloatKind stored) const {
    return bounds::contraction(arithmetic, stored, {sum, magnitude, 2.0 * terms + 1.0});
  }

private:
  double round(double value) const { return isExact ? roundTo(arithmetic, value) : value; }
  double fuse(double a, double b, double c) const {
    if (isExact && arithmetic == FloatKind::F32)
      return std::fma(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c));
    return std::fma(a, b, c);
  }

  FloatKind arithmetic;
  bool isExact, isStarted = false;
  double sum = 0.0, magnitude = 0.0;
  int terms = 0;
};

} // namespace

/// The weights of a read or write of streams; nothing where there are none.
static FailureOr<std::optional<Coefficients>> getCoefficients(Operation *op, const Array &weights, Value operand,
                                                              ArrayRef<int64_t> shape) {
  if (!weights)
    return std::optional<Coefficients>();
  FailureOr<SmallVector<int64_t>> strides =
      getBroadcastStrides(op, "weights", weights, shape, cast<RankedTensorType>(operand.getType()).getShape());
  if (failed(strides))
    return failure();
  return std::optional(Coefficients{&weights, *strides});
}

/// One stream of x has the shape of `one`.
static LogicalResult checkStream(Operation *op, const Array &x, const Array &one) {
  SmallVector<int64_t> shape(x.getShape());
  shape.erase(shape.end() - 2);
  if (!one || one.getShape() == ArrayRef(shape))
    return success();
  return op->emitOpError() << "expected one stream of " << describe(x) << " but got " << describe(one);
}

FailureOr<Array> Interpreter::read(Operation *op, const Array &x, Value weightsOperand, double statedScale,
                                   Type resultType) {
  Array weights = getOptional(weightsOperand);
  ArrayRef<int64_t> shape = x.getShape();
  StreamSizes sizes(shape);
  FailureOr<std::optional<Coefficients>> found = getCoefficients(op, weights, weightsOperand, shape);
  if (failed(found))
    return failure();
  const std::optional<Coefficients> &factors = *found;
  SmallVector<int64_t> one(shape);
  one.erase(one.end() - 2);
  Array result = Array::zeros(resultType, one);
  FloatKind stored = result.floatKind(), arithmetic = getArithmeticKind(x.floatKind());
  double scale = round(arithmetic, statedScale);
  std::vector<double> allowed;
  for (auto [place, element] : llvm::enumerate(result.mutableFloats())) {
    int64_t row = static_cast<int64_t>(place) / sizes.width, column = static_cast<int64_t>(place) % sizes.width;
    ElementSum sum(arithmetic, isExactMode());
    for (int64_t i = 0; i != sizes.count; ++i) {
      int64_t at = sizes.getRow(row, i) + column;
      sum.add(factors ? std::optional(factors->get(shape, at)) : std::nullopt, x.floats()[at]);
    }
    if (scale != 1.0)
      sum.scale(scale);
    element = round(stored, sum.value());
    allowed.push_back(sum.bound(stored));
  }
  // Sums without factors have no products to round.
  if (!options.hasFMA && weights)
    judge(result, std::move(allowed), false);
  return result;
}

/// What stream i of a row gives to stream j; nothing where it gives itself.
static std::optional<double> getMix(const Array &mix, bool isTransposed, int64_t row, int64_t i, int64_t j) {
  if (!mix)
    return std::nullopt;
  int64_t count = mix.getShape().end()[-2], columns = mix.getShape().back();
  int64_t first = mix.getRank() == 2 ? 0 : row * count * columns;
  if (columns != count)
    return mix.floats()[first + j];
  return mix.floats()[first + (isTransposed ? j * count + i : i * count + j)];
}

FailureOr<Array> Interpreter::write(Operation *op, const Array &x, const Array &y, Value weightsOperand,
                                    Value mixOperand, bool isTransposed, Type resultType) {
  Array weights = getOptional(weightsOperand), mix = getOptional(mixOperand);
  ArrayRef<int64_t> shape = x.getShape();
  StreamSizes sizes(shape);
  FailureOr<std::optional<Coefficients>> found = getCoefficients(op, weights, weightsOperand, shape);
  if (failed(found) || failed(checkStream(op, x, y)))
    return failure();
  const std::optional<Coefficients> &factors = *found;
  if (mix && mix.getRank() > 2 && mix.getShape().drop_back(2) != shape.drop_back(2))
    return op->emitOpError() << "expected a mix for each row of " << describe(x) << " but got " << describe(mix);
  Array result = Array::zeros(resultType, shape);
  FloatKind stored = result.floatKind(), arithmetic = getArithmeticKind(x.floatKind());
  bool isWhole = mix && mix.getShape().back() == sizes.count;
  std::vector<double> allowed;
  for (auto [place, element] : llvm::enumerate(result.mutableFloats())) {
    int64_t column = place % sizes.width, j = place / sizes.width % sizes.count,
            row = place / sizes.width / sizes.count;
    ElementSum sum(arithmetic, isExactMode());
    auto addStream = [&](int64_t i) {
      sum.add(getMix(mix, isTransposed, row, i, j), x.floats()[sizes.getRow(row, i) + column]);
    };
    if (y)
      sum.add(factors ? std::optional(factors->get(shape, place)) : std::nullopt,
              y.floats()[row * sizes.width + column]);
    if (isWhole)
      for (int64_t i = 0; i != sizes.count; ++i)
        addStream(i);
    else
      addStream(j);
    element = round(stored, sum.value());
    allowed.push_back(sum.bound(stored));
  }
  // Without a mix, no product is added to a sum.
  if (!options.hasFMA && mix)
    judge(result, std::move(allowed), false);
  return result;
}

Interpreter::Results Interpreter::evaluate(ProjectOp op) {
  const Array &x = get(op.getX()), &weight = get(op.getWeight());
  StreamSizes sizes(x.getShape());
  int64_t columns = sizes.count * sizes.width, outputs = weight.getShape()[0];
  if (weight.getShape()[1] != columns)
    return op.emitOpError() << "expected a weight of " << columns << " columns but got " << describe(weight);
  SmallVector<int64_t> shape(x.getShape().drop_back(2));
  SmallVector<Array> results;
  if (op.getRstd())
    results.push_back(Array::zeros(op.getRstd().getType(), shape));
  shape.push_back(outputs);
  results.insert(results.begin(), Array::zeros(op.getZ().getType(), shape));
  FloatKind arithmetic = results.front().floatKind();
  StatisticsContext context{arithmetic, isExactMode(), round(arithmetic, op.getEpsilon().convertToDouble())};
  double unit = std::ldexp(options.hasFMA ? 1.0 : 2.0, arithmetic == FloatKind::F64 ? -53 : -24);
  double roundings = 1024.0 + static_cast<double>(columns) / 1024.0 + 70.0;
  std::vector<double> allowed, allowedRstd;
  for (int64_t row = 0; row != sizes.rows; ++row) {
    ArrayRef<double> elements = x.floats().slice(row * columns, columns);
    RowStatistics statistics = getRMSStatistics(context, elements);
    for (int64_t m = 0; m != outputs; ++m) {
      WideArithmetic::Chain sum;
      double magnitude = 0.0;
      for (int64_t k = 0; k != columns; ++k) {
        double element = elements[k] * statistics.scale, factor = weight.floats()[m * columns + k];
        sum.add(element, factor);
        magnitude += std::fabs(element * factor);
      }
      results[0].mutableFloats()[row * outputs + m] = round(arithmetic, sum.value() * statistics.rstd);
      allowed.push_back(roundings * unit * statistics.rstd * (magnitude + smallestNormal(arithmetic)));
    }
    if (results.size() == 1)
      continue;
    results[1].mutableFloats()[row] = round(arithmetic, statistics.getRstd());
    allowedRstd.push_back(bounds::rstd(arithmetic, statistics.getRstd()));
  }
  judge(results[0], std::move(allowed), false);
  if (results.size() == 2)
    judge(results[1], std::move(allowedRstd), false);
  return results;
}

/// S of the products of two rows, each rounded to T.
template <typename T> static double addProducts(ArrayRef<double> a, ArrayRef<double> b) {
  T lanes[64] = {}, second[64] = {};
  auto flush = [&] {
    for (int lane = 0; lane != 64; ++lane) {
      second[lane] += lanes[lane];
      lanes[lane] = 0;
    }
  };
  for (size_t d = 0; d != a.size(); ++d) {
    lanes[d % 64] += static_cast<T>(a[d]) * static_cast<T>(b[d]);
    if (d % 1024 == 1023)
      flush();
  }
  flush();
  for (int step = 32; step != 0; step /= 2)
    for (int lane = 0; lane != step; ++lane)
      second[lane] += second[lane + step];
  return second[0];
}

FailureOr<Array> Interpreter::evaluate(StreamDotsOp op) {
  const Array &a = get(op.getA()), &b = get(op.getB());
  StreamSizes left(a.getShape()), right(b.getShape());
  if (left.rows != right.rows || left.width != right.width)
    return op.emitOpError() << "expected the same rows and features but got " << describe(a) << " and " << describe(b);
  SmallVector<int64_t> shape(a.getShape());
  shape.back() = right.count;
  Array result = Array::zeros(op.getType(), shape);
  bool isFloat = isExactMode() && result.floatKind() == FloatKind::F32;
  for (auto [place, element] : llvm::enumerate(result.mutableFloats())) {
    int64_t j = place % right.count, i = place / right.count % left.count, row = place / right.count / left.count;
    ArrayRef<double> first = a.floats().slice(left.getRow(row, i), left.width);
    ArrayRef<double> second = b.floats().slice(right.getRow(row, j), left.width);
    element = isFloat ? addProducts<float>(first, second) : addProducts<double>(first, second);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Sinkhorn
//===----------------------------------------------------------------------===//

namespace {

/// The iterations on one matrix, in the numbers of the definition.
template <typename T> class Sinkhorn {
public:
  Sinkhorn(int64_t size, int64_t iterations, T epsilon) : size(size), iterations(iterations), epsilon(epsilon) {}

  std::vector<T> run(ArrayRef<double> logits);
  /// Of the matrix that was run last.
  std::vector<T> differentiate(std::vector<T> gradient) const;

private:
  /// Divides the rows, or the columns, by their sums.
  void divide(bool isRows);
  int64_t at(bool isRows, int64_t line, int64_t k) const { return isRows ? line * size + k : k * size + line; }
  T dot(const std::vector<T> &a, const std::vector<T> &b, bool isRows, int64_t line) const;

  /// What a division gave, and what it divided by.
  struct Division {
    bool isRows;
    std::vector<T> quotients, sums;
  };

  int64_t size, iterations;
  T epsilon;
  std::vector<T> matrix, softmax;
  std::vector<Division> divisions;
};

} // namespace

template <typename T> void Sinkhorn<T>::divide(bool isRows) {
  Division division{isRows, {}, {}};
  for (int64_t line = 0; line != size; ++line) {
    T sum = matrix[at(isRows, line, 0)];
    for (int64_t k = 1; k != size; ++k)
      sum += matrix[at(isRows, line, k)];
    division.sums.push_back(sum += epsilon);
    for (int64_t k = 0; k != size; ++k)
      matrix[at(isRows, line, k)] /= sum;
  }
  division.quotients = matrix;
  divisions.push_back(std::move(division));
}

template <typename T> std::vector<T> Sinkhorn<T>::run(ArrayRef<double> logits) {
  divisions.clear();
  matrix.assign(logits.begin(), logits.end());
  for (int64_t i = 0; i != size; ++i) {
    T *row = &matrix[i * size], largest = row[0], sum = 0;
    for (int64_t j = 1; j != size; ++j)
      largest = std::isnan(row[j]) || row[j] > largest ? row[j] : largest;
    for (int64_t j = 0; j != size; ++j)
      sum += row[j] = FusedArithmetic<T>().weigh(row[j] - largest);
    for (int64_t j = 0; j != size; ++j)
      row[j] /= sum;
  }
  softmax = matrix;
  for (T &element : matrix)
    element += epsilon;
  for (int64_t iteration = 0; iteration != iterations; ++iteration) {
    if (iteration != 0)
      divide(/*isRows=*/true);
    divide(/*isRows=*/false);
  }
  return matrix;
}

template <typename T>
T Sinkhorn<T>::dot(const std::vector<T> &a, const std::vector<T> &b, bool isRows, int64_t line) const {
  T sum = a[at(isRows, line, 0)] * b[at(isRows, line, 0)];
  for (int64_t k = 1; k != size; ++k)
    sum = std::fma(a[at(isRows, line, k)], b[at(isRows, line, k)], sum);
  return sum;
}

template <typename T> std::vector<T> Sinkhorn<T>::differentiate(std::vector<T> gradient) const {
  for (const Division &division : llvm::reverse(divisions))
    for (int64_t line = 0; line != size; ++line) {
      T sum = dot(gradient, division.quotients, division.isRows, line);
      for (int64_t k = 0; k != size; ++k) {
        T &element = gradient[at(division.isRows, line, k)];
        element = (element - sum) / division.sums[line];
      }
    }
  for (int64_t line = 0; line != size; ++line) {
    T sum = dot(gradient, softmax, /*isRows=*/true, line);
    for (int64_t k = 0; k != size; ++k)
      gradient[line * size + k] = softmax[line * size + k] * (gradient[line * size + k] - sum);
  }
  return gradient;
}

/// For each matrix of the logits the iterations, or with a gradient of the result, the one of the logits.
template <typename T>
static void fillSinkhorn(Array &result, const Array &logits, const Array &gradient, Sinkhorn<T> sinkhorn) {
  int64_t size = logits.getShape().back(), elements = size * size;
  MutableArrayRef<double> out = result.mutableFloats();
  for (int64_t first = 0; first != logits.size(); first += elements) {
    std::vector<T> values = sinkhorn.run(logits.floats().slice(first, elements));
    if (gradient) {
      ArrayRef<double> given = gradient.floats().slice(first, elements);
      values = sinkhorn.differentiate({given.begin(), given.end()});
    }
    llvm::copy(values, out.begin() + first);
  }
}

FailureOr<Array> Interpreter::sinkhorn(Operation *op, const Array &logits, const Array &gradient, int64_t iterations,
                                       double epsilon) {
  if (gradient && gradient.getShape() != logits.getShape())
    return op->emitOpError() << "expected dmix of the shape of the logits but got " << describe(gradient) << " and "
                             << describe(logits);
  Array result = Array::zeros(op->getResult(0).getType(), logits.getShape());
  int64_t size = logits.getShape().back();
  if (isExactMode() && result.floatKind() == FloatKind::F32)
    fillSinkhorn<float>(result, logits, gradient, {size, iterations, static_cast<float>(epsilon)});
  else
    fillSinkhorn<double>(result, logits, gradient, {size, iterations, epsilon});
  if (!options.hasFMA)
    result.setAccuracy(getToleranceAccuracy());
  return result;
}

} // namespace mlir::resid::reference
