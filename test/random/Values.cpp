// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/random/Values.h"
#include "test/random/Random.h"
#include "tools/resid-run/Arrays.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

namespace mlir::resid::random {

std::string getName(func::FuncOp function, unsigned index) {
  auto name = function.getArgAttrOfType<StringAttr>(index, "resid.name");
  return name ? name.str() : std::string();
}

std::optional<Arguments> Arguments::read(ModuleOp module, const EntryPoint &entry) {
  auto function = module.lookupSymbol<func::FuncOp>(entry.name);
  if (!function || function.getNumArguments() != entry.arguments.size()) {
    llvm::errs() << "expected a function '" << entry.name << "' with " << entry.arguments.size() << " arguments\n";
    return std::nullopt;
  }
  Arguments result;
  for (auto [i, text] : llvm::enumerate(entry.arguments)) {
    llvm::Expected<Array> value = run::readArgument(function, i, text);
    if (!value) {
      llvm::errs() << llvm::toString(value.takeError()) << '\n';
      return std::nullopt;
    }
    result.names.push_back(getName(function, i));
    result.values[result.names.back()] = *value;
  }
  return result;
}

const Array *Arguments::find(StringRef name) const {
  auto found = values.find(name);
  return found == values.end() ? nullptr : &found->second;
}

void Arguments::set(StringRef name, Array value) {
  if (values.insert_or_assign(name, std::move(value)).second)
    names.push_back(name.str());
}

FailureOr<Array> Arguments::find(func::FuncOp function, unsigned index) const {
  const Array *found = find(getName(function, index));
  if (!found)
    return function.emitOpError() << "has an argument " << index << " that there is no value for";
  return *found;
}

FailureOr<std::vector<Array>> Arguments::bind(func::FuncOp function) const {
  auto module = function->getParentOfType<ModuleOp>();
  auto prepare = module.lookupSymbol<func::FuncOp>((function.getName() + "_prepare").str());
  SmallVector<Array> prepared;
  if (prepare) {
    FailureOr<std::vector<Array>> given = bind(prepare);
    if (failed(given))
      return failure();
    auto made = reference::evaluate(prepare, *given);
    if (failed(made))
      return failure();
    prepared = std::move(*made);
  }
  std::vector<Array> result;
  for (unsigned i = 0, e = function.getNumArguments(); i != e; ++i) {
    auto index = function.getArgAttrOfType<IntegerAttr>(i, "resid.prepared");
    if (index && static_cast<size_t>(index.getInt()) >= prepared.size())
      return function.emitOpError() << "has an argument " << i << " that nothing prepares";
    FailureOr<Array> value = index ? FailureOr<Array>(prepared[index.getInt()]) : find(function, i);
    if (failed(value))
      return failure();
    result.push_back(*value);
  }
  return result;
}

Arguments Arguments::perturbed(uint64_t seed, double spacing) const {
  Random random(seed);
  Arguments result = *this;
  for (StringRef name : names) {
    Array &value = result.values[name];
    if (!value.isFloat())
      continue;
    Type element = value.getElementType();
    Type type = value.isTensor() ? Type(RankedTensorType::get(value.getShape(), element)) : element;
    Array moved = Array::zeros(type, value.getShape());
    for (auto [to, from] : llvm::zip_equal(moved.mutableFloats(), value.floats()))
      to = reference::roundTo(moved.floatKind(), from * (1.0 + spacing * static_cast<double>(random.between(-2, 2))));
    value = moved;
  }
  return result;
}

FailureOr<Results> evaluate(func::FuncOp function, const Arguments &arguments, bool trackAccuracy) {
  FailureOr<std::vector<Array>> bound = arguments.bind(function);
  if (failed(bound))
    return failure();
  reference::EvaluationOptions options;
  options.trackAccuracy = trackAccuracy;
  FailureOr<SmallVector<Array>> results = reference::evaluate(function, *bound, options);
  if (failed(results))
    return failure();
  return Results(results->begin(), results->end());
}

FailureOr<std::vector<std::vector<double>>> measureSensitivity(func::FuncOp function, const Arguments &arguments,
                                                               double spacing) {
  FailureOr<Results> middle = evaluate(function, arguments);
  if (failed(middle))
    return failure();
  std::vector<std::vector<double>> moved;
  for (const Array &array : *middle)
    moved.emplace_back(array.isFloat() ? array.size() : 0, 0.0);
  for (uint64_t seed = 1; seed != 9; ++seed) {
    FailureOr<Results> other = evaluate(function, arguments.perturbed(seed, spacing));
    if (failed(other))
      return failure();
    for (auto [result, distances] : llvm::enumerate(moved))
      for (auto [i, distance] : llvm::enumerate(distances)) {
        double d = std::fabs((*other)[result].floats()[i] - (*middle)[result].floats()[i]);
        distance = std::isfinite(d) ? std::max(distance, d) : HUGE_VAL;
      }
  }
  return moved;
}

static std::string describe(size_t result, int64_t element, double before, double after) {
  std::string text;
  llvm::raw_string_ostream(text) << "result " << result << ", element " << element << ": "
                                 << llvm::format("%.17g before, %.17g after", before, after);
  return text;
}

/// Results whose number or shapes differ cannot be compared by element.
static std::optional<std::string> compareShapes(const Results &before, const Results &after) {
  if (before.size() != after.size())
    return "other number of results";
  for (auto [i, a, b] : llvm::enumerate(before, after))
    if (a.getShape() != b.getShape() || a.isFloat() != b.isFloat())
      return "result " + std::to_string(i) + ": " + reference::describe(a) + " before, " + reference::describe(b) +
             " after";
  return std::nullopt;
}

std::optional<std::string> compareBits(const Results &before, const Results &after) {
  if (auto difference = compareShapes(before, after))
    return difference;
  for (auto [r, a, b] : llvm::enumerate(before, after)) {
    if (!a.isFloat()) {
      if (a.integers() != b.integers())
        return "result " + std::to_string(r) + ": other integers";
      continue;
    }
    for (int64_t i = 0, e = a.size(); i != e; ++i) {
      double x = a.floats()[i], y = b.floats()[i];
      bool same = (std::isnan(x) && std::isnan(y)) || (x == y && std::signbit(x) == std::signbit(y));
      if (!same)
        return describe(r, i, x, y);
    }
  }
  return std::nullopt;
}

std::optional<std::string> compareBounded(const Results &before, const Results &after,
                                          llvm::function_ref<double(size_t, int64_t)> bound) {
  if (auto difference = compareShapes(before, after))
    return difference;
  for (auto [r, a, b] : llvm::enumerate(before, after))
    for (int64_t i = 0, e = a.isFloat() ? a.size() : 0; i != e; ++i) {
      double x = a.floats()[i], y = b.floats()[i];
      if (std::isfinite(x) && !(std::fabs(x - y) <= bound(r, i)))
        return describe(r, i, x, y) + llvm::formatv(", allowed {0:e3}", bound(r, i)).str();
    }
  return std::nullopt;
}

double getLargest(const Array &array) {
  double largest = 0.0;
  if (array.isFloat())
    for (double value : array.floats())
      largest = std::isfinite(value) ? std::max(largest, std::fabs(value)) : largest;
  return largest;
}

} // namespace mlir::resid::random
