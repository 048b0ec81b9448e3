// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the tests of gradients stand on: a function is differentiated, and in float64 its gradients are compared with
// central differences, with a hundredth of the tolerances of PyTorch's gradcheck, and along one direction with an
// extrapolated derivative, to 1e-12. The pass and the evaluator together.

#ifndef RESID_TEST_UNIT_GRADIENTTEST_H
#define RESID_TEST_UNIT_GRADIENTTEST_H

#include "test/unit/Derivative.h"
#include "test/unit/ReferenceTest.h"

#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"

namespace mlir::resid::reference {

class GradientTest : public ReferenceTest {
protected:
  /// Numbers between -1.5 and 1.5 that look like no pattern. Sizes that the type leaves open are 4.
  Array numbers(Type type, unsigned seed) {
    SmallVector<int64_t> shape(cast<RankedTensorType>(type).getShape());
    llvm::replace(shape, ShapedType::kDynamic, int64_t(4));
    return fill(Array::zeros(type, shape), seed);
  }

  static Array fill(Array array, unsigned seed) {
    for (auto [index, element] : llvm::enumerate(array.mutableFloats()))
      element = 1.5 * std::sin(7.0 * static_cast<double>(index + 1) + 3.0 * seed + 0.3 * std::cos(5.0 * index));
    return array;
  }

  SmallVector<Array> evaluateNamed(StringRef name, ArrayRef<Array> arguments) {
    auto function = module->lookupSymbol<func::FuncOp>(name);
    EXPECT_TRUE(function) << name.str();
    auto found = evaluate(function, arguments);
    EXPECT_TRUE(succeeded(found)) << message;
    return succeeded(found) ? *found : SmallVector<Array>();
  }

  /// Σ results ⊙ cotangents: what is differentiated.
  double weigh(ArrayRef<Array> arguments, ArrayRef<Array> cotangents) {
    double sum = 0.0;
    for (auto [result, cotangent] : llvm::zip_equal(evaluateNamed("f", arguments), cotangents))
      for (auto [a, b] : llvm::zip_equal(result.floats(), cotangent.floats()))
        sum += a * b;
    return sum;
  }

  /// Differentiates @f of the module.
  void differentiate(ArrayRef<int64_t> wrt = {}, GradSave save = GradSave::Default) {
    ASSERT_TRUE(module) << message;
    PassManager manager(&context);
    GradOptions options;
    options.function = "f";
    options.wrt.assign(wrt.begin(), wrt.end());
    options.save = save;
    manager.addPass(createGrad(options));
    ASSERT_TRUE(succeeded(manager.run(*module))) << message;
  }

  /// The text with each name replaced by its meaning.
  static std::string replaceNames(std::string text, ArrayRef<std::pair<StringRef, StringRef>> names) {
    for (auto [name, meaning] : names)
      for (size_t place; (place = text.find(name)) != std::string::npos;)
        text.replace(place, name.size(), meaning);
    return text;
  }

  /// Differentiates @f of the text, with respect to the arguments `wrt`, by default all tensors, and compares each
  /// element of each gradient. Whatever is saved, they have to be right.
  void check(StringRef text, ArrayRef<int64_t> wrt = {}) {
    for (GradSave save : {GradSave::Default, GradSave::Min, GradSave::All}) {
      SCOPED_TRACE("saves " + std::to_string(static_cast<int>(save)));
      ASSERT_NO_FATAL_FAILURE(checkSaved(text, wrt, save));
    }
  }

private:
  void checkSaved(StringRef text, ArrayRef<int64_t> wrt, GradSave save) {
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_NO_FATAL_FAILURE(differentiate(wrt, save));
    auto function = module->lookupSymbol<func::FuncOp>("f");
    SmallVector<Array> arguments, cotangents;
    for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
      arguments.push_back(isa<RankedTensorType>(type) ? numbers(type, index) : integer(int64_t(index)));
    for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
      cotangents.push_back(numbers(type, 40 + index));

    SmallVector<Array> forward = evaluateNamed("f_forward", arguments), inputs(arguments);
    ASSERT_GE(forward.size(), cotangents.size());
    inputs.append(forward.begin() + cotangents.size(), forward.end());
    llvm::append_range(inputs, cotangents);
    SmallVector<Array> gradients = evaluateNamed("f_backward", inputs);
    SmallVector<size_t> moved;
    for (auto [index, argument] : llvm::enumerate(arguments))
      if (wrt.empty() ? argument.isFloat() : llvm::is_contained(wrt, int64_t(index)))
        moved.push_back(index);
    ASSERT_EQ(moved.size(), gradients.size());
    checkElements(arguments, cotangents, moved, gradients);
    checkDirection(arguments, cotangents, moved, gradients);
  }

  /// Each element by itself.
  void checkElements(ArrayRef<Array> arguments, ArrayRef<Array> cotangents, ArrayRef<size_t> moved,
                     ArrayRef<Array> gradients) {
    for (auto [index, gradient] : llvm::zip_equal(moved, gradients)) {
      for (int64_t element = 0; element != arguments[index].size(); ++element) {
        double step = 1e-6, sides[2];
        for (int side : {0, 1}) {
          SmallVector<Array> inputs(arguments);
          inputs[index].mutableFloats()[element] += side ? step : -step;
          sides[side] = weigh(inputs, cotangents);
        }
        double numeric = (sides[1] - sides[0]) / (2 * step);
        EXPECT_NEAR(gradient.floats()[element], numeric, 1e-7 + 1e-5 * std::fabs(numeric))
            << "argument " << index << ", element " << element;
      }
    }
  }

  /// ⟨J v, w⟩ = ⟨v, Jᵀ w⟩ for the cotangents w and a direction v of all arguments at once.
  void checkDirection(ArrayRef<Array> arguments, ArrayRef<Array> cotangents, ArrayRef<size_t> moved,
                      ArrayRef<Array> gradients) {
    SmallVector<Array> directions;
    double product = 0.0, size = 1.0;
    for (auto [index, gradient] : llvm::zip_equal(moved, gradients)) {
      directions.push_back(fill(arguments[index], 20 + index));
      for (auto [v, slope] : llvm::zip_equal(directions.back().mutableFloats(), gradient.floats())) {
        v *= 0.125;
        product += v * slope;
        size += std::fabs(v * slope);
      }
    }
    auto along = [&](double t) {
      SmallVector<Array> inputs(arguments);
      for (auto [index, direction] : llvm::zip_equal(moved, directions))
        for (auto [x, v] : llvm::zip_equal(inputs[index].mutableFloats(), direction.floats()))
          x += t * v;
      return weigh(inputs, cotangents);
    };
    EXPECT_NEAR(reference::differentiate(along).value, product, 1e-12 * size);
  }
};

} // namespace mlir::resid::reference

#endif // RESID_TEST_UNIT_GRADIENTTEST_H
