// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/unit/GradientTest.h"

namespace mlir::resid::reference {

TEST_F(GradientTest, Reshapes) {
  check(R"(
    func.func @f(%x: tensor<2x6xf64>) -> tensor<4x3xf64> {
      %0 = tensor.expand_shape %x [[0], [1, 2]] output_shape [2, 2, 3] : tensor<2x6xf64> into tensor<2x2x3xf64>
      %1 = math.exp %0 : tensor<2x2x3xf64>
      %2 = tensor.collapse_shape %1 [[0, 1], [2]] : tensor<2x2x3xf64> into tensor<4x3xf64>
      %3 = tensor.cast %2 : tensor<4x3xf64> to tensor<?x3xf64>
      %4 = math.tanh %3 : tensor<?x3xf64>
      %5 = tensor.cast %4 : tensor<?x3xf64> to tensor<4x3xf64>
      return %5 : tensor<4x3xf64>
    })");
}

// Slices that overlap, one of which drops a dimension; what is inserted and what it is inserted into.
TEST_F(GradientTest, Slices) {
  check(R"(
    func.func @f(%x: tensor<4x6xf64>, %y: tensor<2x2xf64>) -> (tensor<6xf64>, tensor<2x3xf64>, tensor<4x6xf64>) {
      %0 = tensor.extract_slice %x[1, 0] [1, 6] [1, 1] : tensor<4x6xf64> to tensor<6xf64>
      %1 = tensor.extract_slice %x[0, 1] [2, 3] [2, 2] : tensor<4x6xf64> to tensor<2x3xf64>
      %2 = math.exp %1 : tensor<2x3xf64>
      %3 = tensor.insert_slice %y into %x[1, 2] [2, 2] [1, 1] : tensor<2x2xf64> into tensor<4x6xf64>
      %4 = math.sin %3 : tensor<4x6xf64>
      return %0, %2, %4 : tensor<6xf64>, tensor<2x3xf64>, tensor<4x6xf64>
    })");
}

// A number that comes from tensors, and is read by two ops.
TEST_F(GradientTest, Numbers) {
  check(R"(
    func.func @f(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
      %c1 = arith.constant 1 : index
      %0 = tensor.extract %x[%c1, %c1] : tensor<2x3xf64>
      %e = tensor.empty() : tensor<2x3xf64>
      %1 = linalg.fill ins(%0 : f64) outs(%e : tensor<2x3xf64>) -> tensor<2x3xf64>
      %2 = linalg.mul ins(%x, %1 : tensor<2x3xf64>, tensor<2x3xf64>) outs(%e : tensor<2x3xf64>) -> tensor<2x3xf64>
      return %2 : tensor<2x3xf64>
    })");
}

TEST_F(GradientTest, ConcatenationAndPadding) {
  check(R"(
    func.func @f(%x: tensor<2x3xf64>, %y: tensor<2x1xf64>) -> tensor<3x6xf64> {
      %zero = arith.constant 0.5 : f64
      %0 = tensor.concat dim(1) %x, %y, %y : (tensor<2x3xf64>, tensor<2x1xf64>, tensor<2x1xf64>) -> tensor<2x5xf64>
      %1 = tensor.pad %0 low[1, 0] high[0, 1] {
        ^bb0(%i: index, %j: index):
          tensor.yield %zero : f64
      } : tensor<2x5xf64> to tensor<3x6xf64>
      %2 = math.exp %1 : tensor<3x6xf64>
      return %2 : tensor<3x6xf64>
    })");
}

TEST_F(GradientTest, Activations) {
  for (const char *kind : {"relu", "relu2", "gelu", "gelu_tanh", "silu", "sigmoid"}) {
    SCOPED_TRACE(kind);
    check("func.func @f(%x: tensor<3x5xf64>) -> tensor<3x5xf64> {\n %y = resid.activation " + std::string(kind) +
          " %x : tensor<3x5xf64>\n return %y : tensor<3x5xf64> }");
  }
  for (auto [kind, attributes] :
       {std::pair("swiglu", ""), std::pair("geglu", ""), std::pair("geglu_tanh", ""),
        std::pair("swiglu", "{limit = 0.75}"), std::pair("swiglu_oai", "{alpha = 1.702, limit = 0.75}")}) {
    SCOPED_TRACE(std::string(kind) + attributes);
    check("func.func @f(%x: tensor<3x5xf64>, %up: tensor<3x5xf64>) -> tensor<3x5xf64> {\n %y = resid.activation " +
          std::string(kind) + " %x, %up " + attributes + " : tensor<3x5xf64>\n return %y : tensor<3x5xf64> }");
  }
}

// At any finite number a derivative is one: 0 or 1 far from zero, of a sigmoid 0, and no NaN where a power of x
// overflows.
TEST_F(GradientTest, ActivationsOfExtremes) {
  SmallVector<double> numbers{-3e38, -1e20, -200.0, -88.8, -20.0, 20.0, 88.8, 200.0, 1e20, 3e38};
  for (const char *kind : {"relu", "gelu", "gelu_tanh", "silu", "sigmoid"})
    for (const char *type : {"f32", "bf16", "f64"}) {
      SCOPED_TRACE(std::string(kind) + " " + type);
      std::string text = "tensor<1x10x" + std::string(type) + ">";
      module = parseSourceString<ModuleOp>("func.func @f(%x: " + text + ") -> " + text + " {\n %y = resid.activation " +
                                               kind + " %x : " + text + "\n return %y : " + text + " }",
                                           &context);
      differentiate();
      Array x = tensor(text, {1, 10}, numbers), dy = tensor(text, {1, 10}, {1.0});
      SmallVector<Array> gradients = evaluateNamed("f_backward", {x, dy});
      for (auto [number, gradient] : llvm::zip_equal(numbers, gradients.front().floats()))
        EXPECT_NEAR(gradient, number > 0 && StringRef(kind) != "sigmoid" ? 1.0 : 0.0, 1e-7) << number;
    }
}

// With the keys of the cache and of a call open or known, and how many there are a number of the call or of the
// program.
TEST_F(GradientTest, Append) {
  check(R"(
    func.func @f(%c: tensor<1x2x6x3xf64>, %x: tensor<1x2x?x3xf64>, %past: i64) -> tensor<1x2x6x3xf64> {
      %y = resid.append %c, %x past(%past) : tensor<1x2x6x3xf64>, tensor<1x2x?x3xf64>
      return %y : tensor<1x2x6x3xf64>
    })");
  check(R"(
    func.func @f(%c: tensor<2x?x?x2xf64>, %x: tensor<2x?x3x2xf64>) -> (tensor<2x?x?x2xf64>, tensor<2x?x?x2xf64>) {
      %first = arith.constant 0 : i64
      %next = arith.constant 1 : i64
      %s = arith.mulf %x, %x : tensor<2x?x3x2xf64>
      %a = resid.append %c, %s past(%first) : tensor<2x?x?x2xf64>, tensor<2x?x3x2xf64>
      %y = resid.append %a, %x past(%next) : tensor<2x?x?x2xf64>, tensor<2x?x3x2xf64>
      %z = arith.mulf %y, %y : tensor<2x?x?x2xf64>
      return %z, %a : tensor<2x?x?x2xf64>, tensor<2x?x?x2xf64>
    })");
  // Of each sample another number.
  check(R"(
    func.func @f(%c: tensor<2x2x?x3xf64>, %x: tensor<2x2x3x3xf64>) -> tensor<2x2x?x3xf64> {
      %past = arith.constant dense<[1, 0]> : tensor<2xi64>
      %y = resid.append %c, %x past(%past) : tensor<2x2x?x3xf64>, tensor<2x2x3x3xf64>, tensor<2xi64>
      return %y : tensor<2x2x?x3xf64>
    })");
}

} // namespace mlir::resid::reference
