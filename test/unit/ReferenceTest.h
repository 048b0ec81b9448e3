// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the tests of the reference evaluator stand on: programs as text, arrays of numbers, how results
// are compared.

#ifndef RESID_TEST_UNIT_REFERENCETEST_H
#define RESID_TEST_UNIT_REFERENCETEST_H

#include "reference/Evaluator.h"

#include "dialect/ResidDialect.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <limits>

namespace mlir::resid::reference {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

class ReferenceTest : public ::testing::Test {
protected:
  ReferenceTest() {
    context.loadDialect<arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect, math::MathDialect,
                        resid::ResidDialect, scf::SCFDialect, tensor::TensorDialect>();
    context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) { message += diagnostic.str(); });
  }

  Array tensor(StringRef type, ArrayRef<int64_t> shape, ArrayRef<double> values) {
    Array array = Array::zeros(parseType(type, &context), shape);
    for (int64_t i = 0; i != array.size(); ++i)
      array.mutableFloats()[i] = values[i % values.size()];
    return array;
  }
  Array integer(int64_t value) { return Array::scalar(IntegerType::get(&context, 64), value); }

  /// The results of @f, none where the text or the evaluation is refused (then `message` says why).
  SmallVector<Array> run(StringRef text, ArrayRef<Array> arguments, EvaluationOptions options = {}) {
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return {};
    auto results = evaluate(module->lookupSymbol<func::FuncOp>("f"), arguments, options);
    return succeeded(results) ? *results : SmallVector<Array>();
  }
  std::vector<double> floats(StringRef text, ArrayRef<Array> arguments, EvaluationOptions options = {}) {
    SmallVector<Array> results = run(text, arguments, options);
    return results.empty() ? std::vector<double>() : results.front().floats().vec();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string message;
};

inline void expectNear(ArrayRef<double> found, ArrayRef<double> expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i != found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], tolerance) << "element " << i;
}

} // namespace mlir::resid::reference

#endif // RESID_TEST_UNIT_REFERENCETEST_H
