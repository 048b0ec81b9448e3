// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Family Residual and dropout: add, add_bias, dropout, computed in the arithmetic type and bit-equal to compiled code;
// and add_norm by its definition, the expansion.

#include "dialect/AddParts.h"
#include "reference/Bounds.h"
#include "reference/Interpreter.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::resid::reference {

FailureOr<SmallVector<int64_t>> getBroadcastStrides(Operation *op, StringRef what, const Array &array,
                                                    ArrayRef<int64_t> shape, ArrayRef<int64_t> staticShape) {
  SmallVector<int64_t> strides(shape.size(), 0);
  SmallVector<int64_t> own = array.getStrides();
  size_t lead = shape.size() - array.getRank();
  for (auto [i, dim] : llvm::enumerate(array.getShape())) {
    if (staticShape[i] == 1)
      continue;
    if (dim != shape[lead + i])
      return op->emitOpError() << "expected " << what << " to have size " << shape[lead + i] << " in dimension " << i
                               << " but got " << dim;
    strides[lead + i] = own[i];
  }
  return strides;
}

/// Calls `body(element, offsets)` for all elements of `shape` in row-major order, one offset for each of `strides`.
template <typename Body>
static void forEachOffset(ArrayRef<int64_t> shape, ArrayRef<ArrayRef<int64_t>> strides, Body body) {
  int64_t count = 1;
  for (int64_t dim : shape)
    count *= dim;
  SmallVector<int64_t> index(shape.size(), 0);
  SmallVector<int64_t> offsets(strides.size(), 0);
  auto move = [&](int64_t dimension, int64_t steps) {
    for (auto [offset, own] : llvm::zip_equal(offsets, strides))
      offset += own[dimension] * steps;
  };
  for (int64_t element = 0; element != count; ++element) {
    body(element, offsets);
    for (int64_t d = static_cast<int64_t>(shape.size()) - 1; d >= 0; --d) {
      move(d, 1);
      if (++index[d] < shape[d])
        break;
      move(d, -shape[d]);
      index[d] = 0;
    }
  }
}

/// skip·x + u with one rounding; a double fma rounded to f32 would round twice.
static double fusedMultiplyAdd(FloatKind arithmetic, bool exact, double a, double b, double c) {
  if (exact && arithmetic == FloatKind::F32)
    return std::fma(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c));
  return std::fma(a, b, c);
}

static LogicalResult checkSameShape(Operation *op, const Array &x, const Array &f) {
  if (x.getShape() == f.getShape())
    return success();
  return op->emitOpError() << "expected x and f of one shape but got " << describe(x) << " and " << describe(f);
}

/// A factor of an add, and where its elements lie; 1 for each element where there is none.
struct Factor {
  const double *values = nullptr;
  SmallVector<int64_t> strides;
};

static FailureOr<Factor> getFactor(Operation *op, StringRef name, Value operand, const Array &factor, const Array &x) {
  if (!factor)
    return Factor{nullptr, SmallVector<int64_t>(x.getRank(), 0)};
  FailureOr<SmallVector<int64_t>> strides =
      getBroadcastStrides(op, name, factor, x.getShape(), cast<RankedTensorType>(operand.getType()).getShape());
  if (failed(strides))
    return failure();
  return Factor{factor.floats().data(), *strides};
}

FailureOr<Array> Interpreter::add(Operation *op, const Array &x, const Array &f, const AddParts &parts,
                                  Type resultType) {
  Array also = getOptional(parts.also);
  if (failed(checkSameShape(op, x, f)) || (also && failed(checkSameShape(op, x, also))))
    return failure();
  FloatKind arithmetic = getArithmeticKind(x.floatKind());
  Array result = Array::zeros(resultType, x.getShape());
  FloatKind stored = result.floatKind();
  double skipScale = round(arithmetic, parts.skipScale.getValueAsDouble());
  double branchScale = round(arithmetic, parts.branchScale.getValueAsDouble());
  SmallVector<Factor> factors;
  for (const AddFactor &factor : addFactors) {
    Value operand = parts.*factor.value;
    FailureOr<Factor> found = getFactor(op, factor.name, operand, getOptional(operand), x);
    if (failed(found))
      return failure();
    factors.push_back(*found);
  }
  const double *xs = x.floats().data(), *fs = f.floats().data(), *others = also ? also.floats().data() : nullptr;
  double *out = result.mutableFloats().data();
  bool scalesSkip = parts.scalesSkip(), isSplit = (scalesSkip || parts.alsoScale) && !options.hasFMA;
  Accuracy accuracy{Accuracy::Bounded, {}};
  // y = l·x0 + (s·x + u), where products without a factor are left out.
  auto multiplyAdd = [&](bool isScaled, double a, double b, double c) {
    return isScaled ? fusedMultiplyAdd(arithmetic, isExactMode(), a, b, c) : round(arithmetic, b + c);
  };
  const Factor &gate = factors[0], &skip = factors[1], &alsoScale = factors[2];
  forEachOffset(x.getShape(), {gate.strides, skip.strides, alsoScale.strides}, [&](int64_t i, ArrayRef<int64_t> at) {
    double u = gate.values ? round(arithmetic, gate.values[at[0]] * fs[i]) : fs[i];
    u = branchScale == 1.0 ? u : round(arithmetic, branchScale * u);
    double s = skip.values ? skip.values[at[1]] : skipScale, l = alsoScale.values ? alsoScale.values[at[2]] : 1.0;
    double y = multiplyAdd(scalesSkip, s, xs[i], u);
    if (others)
      y = multiplyAdd(alsoScale.values, l, others[i], y);
    out[i] = round(stored, y);
    if (!isSplit)
      return;
    double second = others ? std::fabs(l * others[i]) : 0.0;
    accuracy.bounds.push_back(
        bounds::contraction(arithmetic, stored, {y, std::fabs(s * xs[i]) + std::fabs(u) + second, others ? 4.0 : 2.0}));
  });
  if (isSplit)
    result.setAccuracy(std::make_shared<const Accuracy>(std::move(accuracy)));
  return result;
}

FailureOr<Array> Interpreter::addBias(Operation *op, const Array &f, const Array &bias) {
  int64_t width = f.getShape().back();
  if (bias.size() != width)
    return op->emitOpError() << "expected bias to have size " << width << " but got " << bias.size();
  FloatKind stored = f.floatKind(), arithmetic = getArithmeticKind(stored);
  Array result = Array::zeros(RankedTensorType::get(f.getShape(), f.getElementType()), f.getShape());
  const double *fs = f.floats().data(), *biases = bias.floats().data();
  double *out = result.mutableFloats().data();
  for (int64_t i = 0, e = f.size(); i != e; ++i)
    out[i] = round(stored, round(arithmetic, fs[i] + biases[i % width]));
  return result;
}

/// Rows, sites and steps are unsigned 32-bit words of the counter.
static LogicalResult checkWord(Operation *op, StringRef what, int64_t value) {
  if (value >= 0 && value <= int64_t(0xffffffff))
    return success();
  return op->emitOpError() << "expected a " << what << " from 0 to 4294967295 but got " << value;
}

DropoutParameters Interpreter::getDropoutParameters(double p, uint64_t site, Value seed, Value step,
                                                    const DropoutOrigin &origin) const {
  DropoutParameters parameters{p, get(seed).asInteger(), get(step).asInteger(), static_cast<int64_t>(site)};
  for (auto [value, number] : {std::pair(origin.row, &parameters.row),
                               {origin.site, &parameters.originSite},
                               {origin.col, &parameters.col},
                               {origin.local, &parameters.local},
                               {origin.global, &parameters.global}})
    if (value)
      *number = get(value).asInteger();
  return parameters;
}

/// T = round(p·65536), half away from zero.
static int64_t getThreshold(const DropoutParameters &parameters) {
  return static_cast<int64_t>(std::round(parameters.p * 65536.0));
}

/// The extent, and the columns from the origin's on.
static LogicalResult checkShard(Operation *op, const DropoutParameters &parameters, int64_t columns) {
  constexpr int64_t limit = int64_t(1) << 32;
  if (parameters.local < 1 || parameters.local > parameters.global || parameters.global > limit)
    return op->emitOpError() << "expected an extent with 1 <= local <= global <= " << limit << " but got "
                             << parameters.local << " and " << parameters.global;
  int64_t last = limit * DropoutMask::kColumns - columns;
  if (parameters.col % DropoutMask::kColumns == 0 && parameters.col >= 0 && parameters.col <= last)
    return success();
  return op->emitOpError() << "expected a column of the origin that is a multiple of " << DropoutMask::kColumns
                           << " from 0 to " << last << " but got " << parameters.col;
}

FailureOr<DropoutMask> Interpreter::getDropoutMask(Operation *op, const DropoutParameters &parameters, int64_t rows,
                                                   int64_t columns, FloatKind arithmetic) const {
  if (failed(checkShard(op, parameters, columns)))
    return failure();
  DropoutMask mask{};
  mask.firstRow = parameters.row, mask.firstBlock = parameters.col / DropoutMask::kColumns;
  mask.localRows = parameters.local, mask.globalRows = parameters.global;
  int64_t site = parameters.site, last = std::max<int64_t>(rows - 1, 0), group = last / mask.localRows;
  if (llvm::AddOverflow(site, parameters.originSite, site) || llvm::MulOverflow(group, mask.globalRows, group) ||
      llvm::AddOverflow(group, last % mask.localRows, last) || llvm::AddOverflow(parameters.row, last, last))
    return op->emitOpError("expected row and site from 0 to 4294967295, but with the origin they overflow");
  if (failed(checkWord(op, "row", parameters.row)) || failed(checkWord(op, "row", last)) ||
      failed(checkWord(op, "site", site)) || failed(checkWord(op, "step", parameters.step)))
    return failure();
  int64_t threshold = getThreshold(parameters);
  double scale = threshold == 65536 ? 1.0 : round(arithmetic, 65536.0 / static_cast<double>(65536 - threshold));
  uint64_t seed = static_cast<uint64_t>(parameters.seed);
  mask.seed = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  mask.step = static_cast<uint32_t>(parameters.step), mask.site = static_cast<uint32_t>(site);
  mask.threshold = threshold, mask.scale = scale;
  return mask;
}

FailureOr<Array> Interpreter::dropout(Operation *op, const Array &x, const DropoutParameters &parameters) {
  if (getThreshold(parameters) == 0)
    return x;
  int64_t width = x.getShape().back(), rows = width ? x.size() / width : 0;
  FloatKind stored = x.floatKind(), arithmetic = getArithmeticKind(stored);
  FailureOr<DropoutMask> mask = getDropoutMask(op, parameters, rows, width, arithmetic);
  if (failed(mask))
    return failure();
  Array result = Array::zeros(RankedTensorType::get(x.getShape(), x.getElementType()), x.getShape());
  const double *xs = x.floats().data();
  double *out = result.mutableFloats().data();
  for (int64_t row = 0; row != rows; ++row) {
    for (int64_t block = 0; block < width; block += DropoutMask::kColumns) {
      std::array<uint32_t, 4> words = mask->draw(row, block / DropoutMask::kColumns);
      for (int64_t column = block, e = std::min(width, block + DropoutMask::kColumns); column != e; ++column) {
        int64_t i = row * width + column;
        out[i] = mask->keepsOf(words, column) ? round(stored, round(arithmetic, xs[i] * mask->scale)) : 0.0;
      }
    }
  }
  return result;
}

Interpreter::Results Interpreter::evaluate(AddNormOp op) {
  FailureOr<Array> branch = get(op.getF());
  if (op.getBias())
    branch = addBias(op, *branch, get(op.getBias()));
  if (succeeded(branch) && op.getSeed())
    branch = dropout(op, *branch,
                     getDropoutParameters(op.getP() ? op.getP()->convertToDouble() : 0.0, op.getSite().value_or(0),
                                          op.getSeed(), op.getStep(), getDropoutOrigin(op)));
  if (failed(branch))
    return failure();
  FailureOr<Array> sum = add(op, get(op.getX()), *branch, getAddParts(op), op.getSum().getType());
  if (failed(sum))
    return failure();
  SmallVector<Type> types{op.getNormalized().getType()};
  llvm::append_range(types, op.getStatistics().getTypes());
  Results results = norm(op, *sum, op.getNormParts(), types);
  if (succeeded(results))
    results->insert(results->begin() + 1, *sum);
  return results;
}

/// One array as the results of an op.
static FailureOr<SmallVector<Array>> single(FailureOr<Array> array) {
  if (failed(array))
    return failure();
  return SmallVector<Array>{*array};
}

Interpreter::Results Interpreter::evaluateResid(Operation &op) {
  if (std::optional<NormParts> parts = getNormParts(&op))
    return norm(&op, get(parts->x), *parts, op.getResultTypes());
  if (std::optional<NormGradParts> parts = getNormGradParts(&op))
    return normGrad(&op, *parts);
  return llvm::TypeSwitch<Operation *, Results>(&op)
      .Case([&](AddOp addOp) {
        return single(add(addOp, get(addOp.getX()), get(addOp.getF()), getAddParts(addOp), addOp.getType()));
      })
      .Case([&](AddBiasOp bias) { return single(addBias(bias, get(bias.getF()), get(bias.getBias()))); })
      .Case([&](DropoutOp dropoutOp) {
        DropoutParameters parameters =
            getDropoutParameters(dropoutOp.getP().convertToDouble(), dropoutOp.getSite(), dropoutOp.getSeed(),
                                 dropoutOp.getStep(), getDropoutOrigin(dropoutOp));
        return single(dropout(dropoutOp, get(dropoutOp.getX()), parameters));
      })
      .Case<AddNormOp, DyTGradOp, BatchNormOp, BatchNormGradOp, CrossEntropyOp, ProjectOp, AttentionGradOp, AttentionOp,
            AppendOp, QuantizeOp>([&](auto known) { return evaluate(known); })
      .Case<BlockOp, CrossEntropyGradOp, DequantizeOp, EmbeddingOp, EmbeddingGradOp, StreamDotsOp>(
          [&](auto known) { return single(evaluate(known)); })
      .Case([&](LinearOp linearOp) -> Results {
        FailureOr<Array> weight = get(linearOp.getWeight());
        if (linearOp.getGroup())
          weight = weightOf(linearOp, *weight);
        if (failed(weight))
          return failure();
        return single(linear(linearOp, get(linearOp.getX()), *weight, getOptional(linearOp.getBias())));
      })
      .Case([&](ActivationOp act) { return single(activation(act, get(act.getX()), getOptional(act.getUp()))); })
      .Case(
          [&](RotaryOp turn) { return single(rotary(turn, get(turn.getX()), get(turn.getCos()), get(turn.getSin()))); })
      .Case([&](GateGradOp gate) { return single(gateGrad(gate, get(gate.getDy()), get(gate.getF()))); })
      .Case([&](ReadOp readOp) {
        return single(read(readOp, get(readOp.getX()), readOp.getWeights(), readOp.getScale().convertToDouble(),
                           readOp.getType()));
      })
      .Case([&](WriteOp writeOp) {
        return single(write(writeOp, get(writeOp.getX()), getOptional(writeOp.getY()), writeOp.getWeights(),
                            writeOp.getMix(), writeOp.getTransposed(), writeOp.getType()));
      })
      .Case([&](SinkhornOp mix) {
        return single(
            sinkhorn(mix, get(mix.getLogits()), Array(), mix.getIterations(), mix.getEpsilon().convertToDouble()));
      })
      .Case([&](SinkhornGradOp mix) {
        return single(sinkhorn(mix, get(mix.getLogits()), get(mix.getDmix()), mix.getIterations(),
                               mix.getEpsilon().convertToDouble()));
      })
      .Default([&](Operation *) -> Results { return LogicalResult(unsupported(&op)); });
}

} // namespace mlir::resid::reference
