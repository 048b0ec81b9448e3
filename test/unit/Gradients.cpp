// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients in float64 against central differences, with the tolerances of PyTorch's gradcheck: the pass and the
// evaluator together.

#include "test/unit/ReferenceTest.h"

#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"

namespace mlir::resid::reference {

class GradientTest : public ReferenceTest {
protected:
  /// Numbers between -1.5 and 1.5 that look like no pattern.
  Array numbers(Type type, unsigned seed) {
    auto tensorType = cast<RankedTensorType>(type);
    Array array = Array::zeros(type, tensorType.getShape());
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

  /// Differentiates @f of the text, with respect to all tensors, and compares each element of each gradient.
  void check(StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module) << message;
    PassManager manager(&context);
    GradOptions options;
    options.function = "f";
    manager.addPass(createGrad(options));
    ASSERT_TRUE(succeeded(manager.run(*module))) << message;
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
    size_t next = 0;
    for (size_t index = 0; index != arguments.size(); ++index) {
      if (!arguments[index].isFloat())
        continue;
      ASSERT_LT(next, gradients.size());
      ArrayRef<double> gradient = gradients[next++].floats();
      for (int64_t element = 0; element != arguments[index].size(); ++element) {
        double step = 1e-6, sides[2];
        for (int side : {0, 1}) {
          SmallVector<Array> moved(arguments);
          moved[index].mutableFloats()[element] += side ? step : -step;
          sides[side] = weigh(moved, cotangents);
        }
        double numeric = (sides[1] - sides[0]) / (2 * step);
        EXPECT_NEAR(gradient[element], numeric, 1e-5 + 1e-3 * std::fabs(numeric))
            << "argument " << index << ", element " << element;
      }
    }
    EXPECT_EQ(next, gradients.size());
  }
};

TEST_F(GradientTest, PostNorm) {
  check(R"(
    func.func @f(%x: tensor<3x9xf64>, %f: tensor<3x9xf64>, %b: tensor<9xf64>, %g: tensor<9xf64>, %be: tensor<9xf64>,
                 %seed: i64, %step: i64) -> tensor<3x9xf64> {
      %c = resid.add_bias %f, %b : tensor<3x9xf64>, tensor<9xf64>
      %d = resid.dropout %c seed(%seed, %step) {p = 0.3, site = 2} : tensor<3x9xf64>
      %s = resid.add %x, %d {skip_scale = 1.25, branch_scale = -0.5} : tensor<3x9xf64>
      %y = resid.layer_norm %s gamma(%g) beta(%be) {epsilon = 1.0e-5} : tensor<3x9xf64>, tensor<9xf64>, tensor<9xf64>
      return %y : tensor<3x9xf64>
    })");
}

TEST_F(GradientTest, PreNormWithTwoResults) {
  check(R"(
    func.func @f(%x: tensor<2x2x5xf64>, %f: tensor<2x2x5xf64>, %g: tensor<5xf64>)
        -> (tensor<2x2x5xf64>, tensor<2x2x5xf64>) {
      %n, %s = resid.add_norm rms %x, %f gamma(%g) {epsilon = 1.0e-6, zero_centered_gamma}
          : tensor<2x2x5xf64>, tensor<5xf64>
      return %n, %s : tensor<2x2x5xf64>, tensor<2x2x5xf64>
    })");
}

TEST_F(GradientTest, NormsOfSeveralDimensions) {
  check(R"(
    func.func @f(%x: tensor<2x3x4xf64>, %g: tensor<3x4xf64>, %b: tensor<3x4xf64>) -> tensor<2x3x4xf64> {
      %y = resid.layer_norm %x gamma(%g) beta(%b) {epsilon = 1.0e-5} : tensor<2x3x4xf64>, tensor<3x4xf64>, tensor<3x4xf64>
      %z = resid.rms_norm %y gamma(%g) beta(%b) {epsilon = 1.0e-5} : tensor<2x3x4xf64>, tensor<3x4xf64>, tensor<3x4xf64>
      return %z : tensor<2x3x4xf64>
    })");
}

TEST_F(GradientTest, WithoutParameters) {
  check(R"(
    func.func @f(%x: tensor<3x7xf64>) -> tensor<3x7xf64> {
      %y = resid.layer_norm %x {epsilon = 1.0e-5} : tensor<3x7xf64>
      %z = resid.add %x, %y : tensor<3x7xf64>
      %w = resid.rms_norm %z {epsilon = 1.0e-5, norm_rank = 2} : tensor<3x7xf64>
      return %w : tensor<3x7xf64>
    })");
}

TEST_F(GradientTest, OneRow) {
  check(R"(
    func.func @f(%x: tensor<6xf64>, %b: tensor<6xf64>, %g: tensor<6xf64>) -> tensor<6xf64> {
      %c = resid.add_bias %x, %b : tensor<6xf64>, tensor<6xf64>
      %y = resid.layer_norm %c gamma(%g) {epsilon = 1.0e-5} : tensor<6xf64>, tensor<6xf64>
      return %y : tensor<6xf64>
    })");
}

} // namespace mlir::resid::reference
