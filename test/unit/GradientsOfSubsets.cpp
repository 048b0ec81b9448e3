// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every op with every subset of its results used and of its gradients asked for. Whether a gradient is right, check()
// finds out with all of them; here it has to have the same bits whatever else is asked for.

#include "test/unit/GradientTest.h"

#include <map>

namespace mlir::resid::reference {

class GradientSubsetTest : public GradientTest {
protected:
  /// For each subset of the results: checks all gradients, then compares those of each subset of the arguments.
  void checkSubsets(StringRef text) {
    unsigned results = countResults(text);
    for (unsigned used = 1; used != 1u << results; ++used) {
      SCOPED_TRACE("used results " + std::to_string(used));
      std::string kept = keepResults(text, used);
      ASSERT_NO_FATAL_FAILURE(check(kept));
      std::map<int64_t, Array> all = differentiateAll(kept, {});
      SmallVector<int64_t> arguments;
      for (const auto &entry : all)
        arguments.push_back(entry.first);
      for (unsigned asked = 1; asked != 1u << arguments.size(); ++asked) {
        SmallVector<int64_t> wrt;
        for (auto [bit, argument] : llvm::enumerate(arguments))
          if (asked >> bit & 1)
            wrt.push_back(argument);
        for (auto &[argument, gradient] : differentiateAll(kept, wrt))
          EXPECT_EQ(gradient.floats().vec(), all.at(argument).floats().vec())
              << "argument " << argument << " of subset " << asked;
      }
    }
  }

private:
  unsigned countResults(StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    return module ? module->lookupSymbol<func::FuncOp>("f").getNumResults() : 0;
  }

  /// The program with these results of @f alone.
  std::string keepResults(StringRef text, unsigned used) {
    module = parseSourceString<ModuleOp>(text, &context);
    auto function = module->lookupSymbol<func::FuncOp>("f");
    llvm::BitVector dropped(function.getNumResults());
    for (unsigned index = 0; index != dropped.size(); ++index)
      dropped[index] = !(used >> index & 1);
    function.front().getTerminator()->eraseOperands(dropped);
    [[maybe_unused]] LogicalResult erased = function.eraseResults(dropped);
    std::string kept;
    llvm::raw_string_ostream(kept) << *module;
    return kept;
  }

  /// The gradients by argument, in one function with the value.
  std::map<int64_t, Array> differentiateAll(StringRef text, ArrayRef<int64_t> wrt) {
    module = parseSourceString<ModuleOp>(text, &context);
    PassManager manager(&context);
    GradOptions options;
    options.function = "f";
    options.mode = GradMode::ValueAndGrad;
    options.wrt.assign(wrt.begin(), wrt.end());
    manager.addPass(createGrad(options));
    EXPECT_TRUE(succeeded(manager.run(*module))) << message;
    auto function = module->lookupSymbol<func::FuncOp>("f");
    SmallVector<Array> inputs;
    SmallVector<int64_t> floats;
    for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
      inputs.push_back(isa<RankedTensorType>(type) ? numbers(type, index) : integer(int64_t(index)));
      if (inputs.back().isFloat())
        floats.push_back(int64_t(index));
    }
    for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
      inputs.push_back(numbers(type, 40 + index));
    SmallVector<Array> found = evaluateNamed("f_value_and_grad", inputs);
    std::map<int64_t, Array> gradients;
    for (auto [argument, gradient] : llvm::zip_equal(wrt.empty() ? ArrayRef<int64_t>(floats) : wrt,
                                                     ArrayRef(found).drop_front(function.getNumResults())))
      gradients[argument] = gradient;
    return gradients;
  }
};

TEST_F(GradientSubsetTest, Residuals) {
  checkSubsets(R"(
    func.func @f(%x: tensor<3x4xf64>, %f: tensor<3x4xf64>, %b: tensor<4xf64>, %gate: tensor<4xf64>, %seed: i64,
                 %step: i64) -> (tensor<3x4xf64>, tensor<3x4xf64>) {
      %c = resid.add_bias %f, %b : tensor<3x4xf64>, tensor<4xf64>
      %d = resid.dropout %c seed(%seed, %step) {p = 0.3, site = 2} : tensor<3x4xf64>
      %s = resid.add %x, %d gate(%gate) {skip_scale = 1.25, branch_scale = -0.5} : tensor<3x4xf64>, tensor<4xf64>
      return %s, %d : tensor<3x4xf64>, tensor<3x4xf64>
    })");
}

TEST_F(GradientSubsetTest, Norms) {
  struct Norm {
    const char *op, *attributes;
  };
  for (auto [op, attributes] :
       {Norm{"layer_norm", "{epsilon = 1.0e-5}"}, Norm{"rms_norm", "{epsilon = 1.0e-5}"},
        Norm{"group_norm", "{epsilon = 1.0e-5, groups = 2}"}, Norm{"batch_norm", "{epsilon = 1.0e-5}"}})
    for (const char *parameters : {"", "gamma(%g)", "gamma(%g) beta(%b)"}) {
      SCOPED_TRACE(std::string(op) + " " + parameters);
      StringRef types = StringRef(parameters).contains("beta") ? ", tensor<4xf64>, tensor<4xf64>"
                        : *parameters                          ? ", tensor<4xf64>"
                                                               : "";
      checkSubsets(
          replaceNames(R"(
        func.func @f(%x: tensor<3x4xf64>, %r: tensor<3x4xf64>, %g: tensor<4xf64>, %b: tensor<4xf64>)
            -> (tensor<3x4xf64>, tensor<3x4xf64>) {
          %s = resid.add %x, %r : tensor<3x4xf64>
          %y = resid.OP %s PARAMETERS ATTRIBUTES : tensor<3x4xf64>TYPES
          return %y, %s : tensor<3x4xf64>, tensor<3x4xf64>
        })",
                       {{"OP", op}, {"PARAMETERS", parameters}, {"ATTRIBUTES", attributes}, {"TYPES", types}}));
    }
}

TEST_F(GradientSubsetTest, DynamicTanh) {
  checkSubsets(R"(
    func.func @f(%x: tensor<3x4xf64>, %a: tensor<f64>, %g: tensor<4xf64>, %b: tensor<4xf64>)
        -> (tensor<3x4xf64>, tensor<3x4xf64>) {
      %s = resid.add %x, %x : tensor<3x4xf64>
      %y = resid.dyt %s alpha(%a) gamma(%g) beta(%b) : tensor<3x4xf64>, tensor<f64>, tensor<4xf64>, tensor<4xf64>
      return %y, %s : tensor<3x4xf64>, tensor<3x4xf64>
    })");
}

TEST_F(GradientSubsetTest, FusedAddAndNorm) {
  for (const char *kind : {"layer", "rms"})
    checkSubsets(replaceNames(R"(
      func.func @f(%x: tensor<3x4xf64>, %f: tensor<3x4xf64>, %bias: tensor<4xf64>, %g: tensor<4xf64>, %b: tensor<4xf64>)
          -> (tensor<3x4xf64>, tensor<3x4xf64>) {
        %n, %s = resid.add_norm KIND %x, %f bias(%bias) gamma(%g) beta(%b) {epsilon = 1.0e-5}
            : tensor<3x4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>
        return %n, %s : tensor<3x4xf64>, tensor<3x4xf64>
      })",
                              {{"KIND", kind}}));
}

TEST_F(GradientSubsetTest, Placements) {
  StringRef one = "norm(layer gamma %g : tensor<4xf64> beta %b : tensor<4xf64> epsilon = 1.0e-5)";
  std::string two = (one + " norm(rms gamma %h : tensor<4xf64> epsilon = 1.0e-5)").str();
  for (auto [placement, norms] : {std::pair<const char *, StringRef>("pre", one),
                                  {"post", one},
                                  {"post_shifted", one},
                                  {"branch_post", one},
                                  {"peri", two},
                                  {"none", ""}}) {
    SCOPED_TRACE(placement);
    checkSubsets(replaceNames(R"(
      func.func @f(%x: tensor<3x4xf64>, %g: tensor<4xf64>, %b: tensor<4xf64>, %h: tensor<4xf64>, %w: tensor<4x4xf64>)
          -> tensor<3x4xf64> {
        %y = resid.block PLACEMENT %x NORMS : tensor<3x4xf64> {
        ^bb0(%u: tensor<3x4xf64>):
          %f = resid.linear %u, %w : tensor<3x4xf64>, tensor<4x4xf64>
          %t = resid.activation silu %f : tensor<3x4xf64>
          resid.yield %t : tensor<3x4xf64>
        }
        return %y : tensor<3x4xf64>
      })",
                              {{"PLACEMENT", placement}, {"NORMS", norms}}));
  }
}

TEST_F(GradientSubsetTest, SubLayers) {
  checkSubsets(R"(
    func.func @f(%x: tensor<3x4xf64>, %w: tensor<6x4xf64>, %b: tensor<6xf64>, %v: tensor<6x4xf64>)
        -> (tensor<3x6xf64>, tensor<3x6xf64>) {
      %h = resid.linear %x, %w bias(%b) : tensor<3x4xf64>, tensor<6x4xf64>, tensor<6xf64>
      %u = resid.linear %x, %v : tensor<3x4xf64>, tensor<6x4xf64>
      %a = resid.activation geglu %h, %u : tensor<3x6xf64>
      return %a, %h : tensor<3x6xf64>, tensor<3x6xf64>
    })");
}

TEST_F(GradientSubsetTest, Attention) {
  checkSubsets(R"(
    func.func @f(%q: tensor<1x2x3x4xf64>, %k: tensor<1x1x5x4xf64>, %v: tensor<1x1x5x4xf64>) -> tensor<1x2x3x4xf64> {
      %y = resid.attention %q, %k, %v {causal} : tensor<1x2x3x4xf64>, tensor<1x1x5x4xf64>, tensor<1x1x5x4xf64>
      return %y : tensor<1x2x3x4xf64>
    })");
}

} // namespace mlir::resid::reference
