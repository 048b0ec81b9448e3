// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Passes.h"
#include "test/random/Check.h"
#include "test/random/Random.h"
#include "test/unit/Derivative.h"
#include <cmath>

namespace mlir::resid::random {

namespace {
/// Value and gradients of one function.
struct Derived {
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
};
} // namespace

/// The function with its gradient, by all tensors of floats; none where the pass says why not.
static std::optional<Derived> derive(ModuleOp module, StringRef name, std::string &messages) {
  MLIRContext *context = module.getContext();
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      messages += diagnostic.str() + "\n";
    return success();
  });
  Derived derived{module.clone(), nullptr};
  GradOptions options;
  options.function = name.str();
  options.mode = GradMode::ValueAndGrad;
  PassManager manager(context);
  manager.addPass(createGrad(options));
  if (failed(manager.run(*derived.module)))
    return std::nullopt;
  derived.function = derived.module->lookupSymbol<func::FuncOp>((name + "_value_and_grad").str());
  return derived;
}

/// Whether steps of a sixteenth and less show in numbers of this size.
static bool isModerate(ArrayRef<Array> arrays) {
  return llvm::all_of(arrays, [](const Array &array) {
    return !array.isFloat() || llvm::all_of(array.floats(), [](double x) { return std::fabs(x) < 1e6; });
  });
}

/// Numbers between -1 and 1 in the form of `array`.
static Array drawLike(const Array &array, Random &random) {
  Array drawn = array;
  for (double &element : drawn.mutableFloats())
    element = reference::roundTo(drawn.floatKind(), static_cast<double>(random.between(-64, 64)) / 64.0);
  return drawn;
}

static double multiply(const Array &a, const Array &b) {
  double sum = 0.0;
  for (auto [x, y] : llvm::zip_equal(a.floats(), b.floats()))
    sum += x * y;
  return sum;
}

/// The names of the arguments that have gradients, in order.
static SmallVector<std::string> getNames(func::FuncOp function) {
  SmallVector<std::string> names;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
    if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && isa<FloatType>(tensor.getElementType()))
      names.push_back(getName(function, index));
  return names;
}

/// The results a step along `direction` away, weighed as the cotangents say.
static double evaluateAlong(func::FuncOp function, const Arguments &arguments, ArrayRef<Array> cotangents,
                            ArrayRef<std::string> names, ArrayRef<Array> direction, double step) {
  Arguments moved = arguments;
  for (auto [name, v] : llvm::zip_equal(names, direction)) {
    Array value = *arguments.find(name);
    for (auto [x, slope] : llvm::zip_equal(value.mutableFloats(), v.floats()))
      x += step * slope;
    moved.set(name, value);
  }
  FailureOr<Results> results = evaluate(function, moved);
  double sum = 0.0;
  for (auto [result, cotangent] : llvm::zip_equal(*results, cotangents))
    sum += multiply(result, cotangent);
  return sum;
}

namespace {

/// One function on its way through the comparisons.
class GradientCheck {
public:
  GradientCheck(func::FuncOp function, const Arguments &arguments, Counts &counts)
      : function(function), arguments(arguments), counts(counts), names(getNames(function)) {}

  std::optional<std::string> run(ModuleOp rewritten, bool compile);

private:
  std::optional<std::string> compareValues(const Results &values);
  std::optional<std::string> compareDirection();
  std::optional<std::string> compareRewritten(ModuleOp rewritten);

  func::FuncOp function;
  /// With the cotangents, from run() on.
  Arguments arguments;
  Counts &counts;
  SmallVector<std::string> names;
  std::optional<Derived> derived;
  SmallVector<Array> cotangents, gradients;
};

} // namespace

/// In units of the gradients' own size: ⟨J v, w⟩ = ⟨v, Jᵀ w⟩.
std::optional<std::string> GradientCheck::compareDirection() {
  Random random(gradients.size());
  SmallVector<Array> direction;
  double product = 0.0, size = 1.0;
  for (auto [name, gradient] : llvm::zip_equal(names, gradients)) {
    direction.push_back(drawLike(*arguments.find(name), random));
    product += multiply(direction.back(), gradient);
    for (auto [v, slope] : llvm::zip_equal(direction.back().floats(), gradient.floats()))
      size += std::fabs(v * slope);
  }
  auto along = [&](double step) { return evaluateAlong(function, arguments, cotangents, names, direction, step); };
  reference::Derivative slope = reference::differentiate(along);
  bool isSmooth = slope.error < 1e-6 * size;
  if (isSmooth && std::fabs(slope.value - product) <= 1e-9 * size + 8 * slope.error) {
    ++counts.directions;
    return std::nullopt;
  }
  // Next to a kink small steps alone are on one side, and on a kink the two sides have other slopes.
  double step = 0x1p-26, here = along(0.0), right = (along(step) - here) / step, left = (here - along(-step)) / step;
  bool isKink = std::fabs(right - left) > 1e-5 * size || std::fabs(0.5 * (right + left) - product) <= 1e-5 * size;
  if (!isSmooth || isKink) {
    ++counts.rough;
    return std::nullopt;
  }
  return "the slope along a direction is " + std::to_string(slope.value) + ", the gradient gives " +
         std::to_string(product);
}

/// Holds the gradients of what rewrites made of the program against those of the program.
std::optional<std::string> GradientCheck::compareRewritten(ModuleOp rewritten) {
  auto after = rewritten.lookupSymbol<func::FuncOp>(function.getName());
  // Weights that are prepared are other arguments.
  if (!after || rewritten.lookupSymbol((function.getName() + "_prepare").str()))
    return std::nullopt;
  std::string messages;
  std::optional<Derived> other = derive(rewritten, function.getName(), messages);
  if (!other)
    return "has no gradient after the rewrites: " + messages;
  FailureOr<Results> results = evaluate(other->function, arguments);
  if (failed(results))
    return "the gradient cannot be evaluated after the rewrites";
  size_t values = after.getNumResults();
  std::map<std::string, Array> found;
  for (auto [name, gradient] : llvm::zip_equal(getNames(after), ArrayRef<Array>(*results).drop_front(values)))
    found[name] = gradient;
  Results before, now;
  for (auto [name, gradient] : llvm::zip_equal(names, gradients))
    if (found.count(name)) {
      before.push_back(gradient);
      now.push_back(found[name]);
    }
  ++counts.boundedComparisons;
  auto getBound = [&](size_t result, int64_t) { return 1e-12 * std::max(1.0, getLargest(before[result])); };
  auto difference = compareBounded(before, now, getBound);
  if (!difference)
    return std::nullopt;
  auto moved = measureSensitivity(derived->function, arguments, 0x1p-52);
  if (failed(moved) || before.size() != gradients.size())
    return difference;
  ++counts.sensitive;
  return compareBounded(before, now, [&](size_t result, int64_t element) {
    return getBound(result, element) + 64 * (*moved)[values + result][element];
  });
}

std::optional<std::string> GradientCheck::compareValues(const Results &values) {
  FailureOr<Results> results = evaluate(derived->function, arguments);
  if (failed(results) || results->size() != values.size() + names.size())
    return "the gradient cannot be evaluated";
  gradients.assign(results->begin() + values.size(), results->end());
  results->resize(values.size());
  ++counts.bitComparisons;
  return compareBits(values, *results);
}

std::optional<std::string> GradientCheck::run(ModuleOp rewritten, bool compile) {
  std::string messages;
  derived = derive(function->getParentOfType<ModuleOp>(), function.getName(), messages);
  // What has no gradient is told in such words; anything else is a mistake of the pass.
  if (!derived && !StringRef(messages).contains("gradient"))
    return "resid-grad failed: " + messages;
  if (!derived) {
    ++counts.underived;
    ++counts.reasons[messages];
    return std::nullopt;
  }
  FailureOr<Results> values = evaluate(function, arguments);
  if (failed(values))
    return "cannot be evaluated";
  Random random(names.size());
  for (const Array &value : *values) {
    arguments.set("d_out" + std::to_string(cotangents.size()), drawLike(value, random));
    cotangents.push_back(*arguments.find("d_out" + std::to_string(cotangents.size())));
  }
  if (isDoubleOnly(function->getParentOfType<ModuleOp>())) {
    if (auto difference = compareValues(*values))
      return "the value beside the gradient: " + *difference;
    if (isModerate(*values) && isModerate(gradients)) {
      if (auto difference = compareDirection())
        return difference;
      if (auto difference = compareRewritten(rewritten))
        return "gradients after the rewrites: " + *difference;
    }
  }
  if (!compile)
    return std::nullopt;
  return checkCompiled(derived->function, derived->function, arguments, /*isBitExact=*/true, counts);
}

std::optional<Disagreement> checkGradients(Session &session, const Program &program, ArrayRef<const PassEntry *> order,
                                           bool compile, bool, Counts &counts) {
  ++counts.programs;
  ModuleOp module = *program.module;
  OwningOpRef<ModuleOp> rewritten = module.clone();
  for (const PassEntry *entry : order) {
    if (entry->applies && !entry->applies(*rewritten))
      continue;
    OwningOpRef<ModuleOp> before = rewritten->clone();
    std::string messages;
    PassCounts &passCounts = counts.passes[entry];
    ++passCounts.runs;
    Session::Answer answer = session.run(*entry, *rewritten, messages);
    passCounts.changed += answer == Session::Changed;
    passCounts.refused += answer == Session::Refused;
    if (answer == Session::Failed)
      return Disagreement{(entry->name + " failed: " + messages).str(), printModule(*before), ""};
    if (answer == Session::Refused)
      rewritten = std::move(before);
  }
  for (const EntryPoint &entry : program.entries) {
    std::optional<Arguments> arguments = Arguments::read(module, entry);
    if (!arguments)
      return Disagreement{"arguments that do not fit", "", ""};
    GradientCheck check(module.lookupSymbol<func::FuncOp>(entry.name), *arguments, counts);
    if (auto difference = check.run(*rewritten, compile))
      return Disagreement{"@" + entry.name + ": " + *difference, printModule(module), printModule(*rewritten)};
  }
  return std::nullopt;
}

} // namespace mlir::resid::random
