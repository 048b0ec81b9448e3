// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Comparison of results with the evaluator's. The bounds themselves stand in reference/Bounds.h.

#include "tools/resid-run/Check.h"
#include "reference/Bounds.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

namespace mlir::resid::run {

using reference::Accuracy;
using reference::FloatKind;

static void widenBy(Type type, double &tolerance) {
  auto kind = reference::getFloatKind(getElementTypeOrSelf(type));
  if (kind && reference::bounds::isNarrow(*kind))
    tolerance = std::max(tolerance, 4 * reference::unitInLastPlace(*kind, 1.0));
}

Tolerances getTolerances(const Options &options, func::FuncOp function) {
  double tolerance = 1e-5;
  for (Type type : function.getArgumentTypes())
    widenBy(type, tolerance);
  function.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      widenBy(type, tolerance);
  });
  return {options.rtol.value_or(tolerance), options.atol.value_or(tolerance)};
}

namespace {

/// What a comparison of two arrays came to.
struct Comparison {
  int64_t differing = 0, beyond = 0;
  /// The element whose error is largest beside its bound.
  int64_t worst = -1;
  double worstRatio = -1.0, error = 0.0, bound = 0.0;

  void add(int64_t element, double newError, double newBound) {
    bool isBeyond = !(newError <= newBound);
    beyond += isBeyond;
    double ratio = newError == 0.0 ? 0.0 : newBound > 0.0 ? newError / newBound : HUGE_VAL;
    ratio = std::isnan(ratio) ? HUGE_VAL : ratio;
    if (ratio <= worstRatio)
      return;
    worst = element, worstRatio = ratio, error = newError, bound = newBound;
  }
};

/// All NaNs are the same, +0 and -0 are not.
bool isSame(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

/// An infinity beside a finite number stands for the first value that overflowed.
double getDistance(FloatKind kind, double found, double expected) {
  if (isSame(found, expected))
    return 0.0;
  auto bounded = [&](double value) {
    return std::isinf(value) ? std::copysign(reference::overflowValue(kind), value) : value;
  };
  return std::fabs(bounded(found) - bounded(expected));
}

Comparison compareFloats(const Array &found, const Array &expected, bool wide, const Tolerances &tolerances) {
  Comparison comparison;
  const Accuracy *accuracy = expected.getAccuracy().get();
  for (int64_t i = 0, e = found.size(); i != e; ++i) {
    double a = found.floats()[i], b = expected.floats()[i];
    bool same = isSame(a, b);
    comparison.differing += !same;
    if (!accuracy && !wide) {
      if (!same)
        comparison.add(i, getDistance(found.floatKind(), a, b), -1.0);
      continue;
    }
    double bound = accuracy && accuracy->kind == Accuracy::Bounded ? accuracy->bounds[i]
                                                                   : tolerances.atol + tolerances.rtol * std::fabs(b);
    // The bound of an infinity or NaN says nothing: it has to be the same, or one step of overflow away.
    if (!std::isfinite(b))
      bound = reference::unitInLastPlace(found.floatKind(), reference::overflowValue(found.floatKind()) / 2);
    else if (std::isinf(bound))
      continue; // what may overflow on its way to a finite number may end as a NaN
    else if (std::isnan(bound))
      bound = tolerances.atol + tolerances.rtol * std::fabs(b);
    comparison.add(i, getDistance(found.floatKind(), a, b), bound);
  }
  return comparison;
}

/// How far an integer may be from the evaluator's; -1: not at all.
double getBound(const Array &expected, int64_t element) {
  const Accuracy *accuracy = expected.getAccuracy().get();
  return accuracy && accuracy->kind == Accuracy::Bounded ? accuracy->bounds[element] : -1.0;
}

Comparison compareIntegers(const Array &found, const Array &expected) {
  Comparison comparison;
  for (int64_t i = 0, e = found.size(); i != e; ++i) {
    if (found.integers()[i] == expected.integers()[i])
      continue;
    ++comparison.differing;
    double distance = std::fabs(double(found.integers()[i]) - double(expected.integers()[i]));
    comparison.add(i, distance, getBound(expected, i));
  }
  return comparison;
}

void printPlace(llvm::raw_ostream &os, const Array &array, int64_t element) {
  os << " at [";
  SmallVector<int64_t> strides = array.getStrides();
  for (auto [d, stride] : llvm::enumerate(strides))
    os << (d ? ", " : "") << (element / stride) % array.getShape()[d];
  os << ']';
}

} // namespace

bool checkResult(llvm::raw_ostream &os, unsigned index, const Array &found, const Array &expected, bool wide,
                 const Tolerances &tolerances) {
  os << "out" << index << ": ";
  if (found.getShape() != expected.getShape()) {
    os << "expected " << reference::describe(expected) << " but got " << reference::describe(found) << '\n';
    return false;
  }
  bool judgedByBits = found.isFloat() ? !expected.getAccuracy() && !wide : getBound(expected, 0) < 0.0;
  Comparison c = found.isFloat() ? compareFloats(found, expected, wide, tolerances) : compareIntegers(found, expected);
  if (judgedByBits && c.differing == 0) {
    os << "ok, bit-equal\n";
    return true;
  }
  os << (c.beyond ? "failed, " : "ok, ") << "largest error " << llvm::format("%.3g", c.error);
  if (c.worst >= 0)
    printPlace(os, found, c.worst);
  if (judgedByBits)
    os << ", expected bit-equal";
  else
    os << ", bound there " << llvm::format("%.3g", c.bound);
  if (c.beyond)
    os << ", " << c.beyond << " of " << found.size() << " elements beyond";
  os << '\n';
  return c.beyond == 0;
}

bool compareBits(llvm::raw_ostream &os, unsigned index, const Array &found, const Array &expected) {
  int64_t differing = 0, first = -1;
  for (int64_t i = 0; i < found.size(); ++i) {
    bool isEqual = found.isFloat() ? isSame(found.floats()[i], expected.floats()[i])
                                   : found.integers()[i] == expected.integers()[i];
    if (isEqual)
      continue;
    first = differing++ ? first : i;
  }
  if (differing == 0)
    os << "out" << index << ": the bits of the CPU\n";
  else
    os << "out" << index << ": " << differing << " of " << found.size()
       << " elements have other bits than on the CPU, the first is element " << first << "\n";
  return differing == 0;
}

} // namespace mlir::resid::run
