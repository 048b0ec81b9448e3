// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stacks of a function: who follows whom on a stream, and who else reads it.

#include "passes/stream/Stacks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::resid;

namespace {

class StacksTest : public ::testing::Test {
protected:
  StacksTest() {
    context.loadDialect<arith::ArithDialect, func::FuncDialect, math::MathDialect, ResidDialect, scf::SCFDialect,
                        tensor::TensorDialect>();
  }

  /// A block whose place in the text is its dropout site, so that a test can name it; `captured` is read in its branch.
  static std::string block(int site, const std::string &result, const std::string &x,
                           const std::string &captured = "") {
    std::string other = captured.empty() ? "%h" + std::to_string(site) : captured;
    std::string h = "%h" + std::to_string(site);
    return result + " = resid.block post " + x + " norm(rms epsilon = 1.0e-5) dropout(0.5, site " +
           std::to_string(site) + ", seed %seed, step %seed) : tensor<?x8xf32> {\n^bb0(" + h +
           ": tensor<?x8xf32>):\n %f" + std::to_string(site) + " = arith.addf " + h + ", " + other +
           " : tensor<?x8xf32>\n resid.yield %f" + std::to_string(site) + " : tensor<?x8xf32>\n}\n";
  }

  SmallVector<Stack> find(const std::string &body, const std::string &result) {
    std::string text = "func.func @f(%x: tensor<?x8xf32>, %seed: i64, %n: index) -> tensor<?x8xf32> {\n"
                       "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n" +
                       body + "return " + result + " : tensor<?x8xf32>\n}\n";
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    return module ? findStacks(*module->getOps<func::FuncOp>().begin()) : SmallVector<Stack>();
  }

  static std::vector<int64_t> sites(const Stack &stack) {
    std::vector<int64_t> result;
    for (BlockOp block : stack.blocks)
      result.push_back(block.getSiteAttr().getInt());
    return result;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

const std::string norm = " = resid.layer_norm ", normEnd = " {epsilon = 1.0e-5} : tensor<?x8xf32>\n";
const std::string loopBegin = " = scf.for %i = %c0 to %n step %c1 iter_args(%s = ",
                  loopEnd = ") -> (tensor<?x8xf32>) {\n";
const std::string yield = "scf.yield ", yieldEnd = " : tensor<?x8xf32>\n}\n";
using Sites = std::vector<int64_t>;

TEST_F(StacksTest, StraightLineWithTheNormsAroundIt) {
  auto stacks = find(
      "%e" + norm + "%x" + normEnd + block(1, "%a", "%e") + block(2, "%b", "%a") + "%y" + norm + "%b" + normEnd, "%y");
  ASSERT_EQ(stacks.size(), 1u);
  EXPECT_EQ(sites(stacks[0]), Sites({1, 2}));
  EXPECT_EQ(stacks[0].entryNorm, stacks[0].entry.getDefiningOp());
  ASSERT_TRUE(stacks[0].finalNorm);
  EXPECT_EQ(stacks[0].finalNorm->getOperand(0), stacks[0].exit);
  EXPECT_TRUE(stacks[0].taps.empty());
}

TEST_F(StacksTest, AnEntryThatIsReadElsewhereHasNoEntryNorm) {
  auto stacks = find(
      "%e" + norm + "%x" + normEnd + block(1, "%a", "%e", "%e") + "%y = arith.addf %a, %a : tensor<?x8xf32>\n", "%y");
  ASSERT_EQ(stacks.size(), 1u);
  EXPECT_FALSE(stacks[0].entryNorm);
  EXPECT_FALSE(stacks[0].finalNorm);
}

TEST_F(StacksTest, ReadersInTheMiddleAreTaps) {
  auto stacks =
      find(block(1, "%a", "%x") + "%t = math.absf %a : tensor<?x8xf32>\n%d = tensor.dim %a, %c0 : tensor<?x8xf32>\n" +
               block(2, "%b", "%a") + block(3, "%c", "%b", "%a") + "%z = arith.addf %c, %t : tensor<?x8xf32>\n",
           "%z");
  ASSERT_EQ(stacks.size(), 1u);
  EXPECT_EQ(sites(stacks[0]), Sites({1, 2, 3}));
  ASSERT_EQ(stacks[0].taps.size(), 2u);
  EXPECT_TRUE(isa<math::AbsFOp>(stacks[0].taps[0]->getOwner()));
  EXPECT_TRUE(isa<arith::AddFOp>(stacks[0].taps[1]->getOwner()));
}

TEST_F(StacksTest, ThroughALoop) {
  auto stacks = find(block(1, "%a", "%x") + "%l" + loopBegin + "%a" + loopEnd + block(2, "%b", "%s") +
                         block(3, "%c", "%b") + yield + "%c" + yieldEnd + block(4, "%d", "%l"),
                     "%d");
  ASSERT_EQ(stacks.size(), 1u);
  EXPECT_EQ(sites(stacks[0]), Sites({1, 2, 3, 4}));
  EXPECT_EQ(stacks[0].loops.size(), 1u);
  EXPECT_TRUE(stacks[0].taps.empty());
}

TEST_F(StacksTest, ALoopThatBeginsAStack) {
  auto stacks = find("%l" + loopBegin + "%x" + loopEnd + block(1, "%b", "%s") + yield + "%b" + yieldEnd + "%y" + norm +
                         "%l" + normEnd,
                     "%y");
  ASSERT_EQ(stacks.size(), 1u);
  EXPECT_EQ(stacks[0].loops.size(), 1u);
  EXPECT_EQ(stacks[0].entry, (*module->getOps<func::FuncOp>().begin()).getArgument(0));
  EXPECT_TRUE(stacks[0].finalNorm);
}

TEST_F(StacksTest, ALoopWithOtherWorkOnTheStreamEndsIt) {
  auto stacks = find(block(1, "%a", "%x") + "%l" + loopBegin + "%a" + loopEnd + block(2, "%b", "%s") +
                         "%t = math.absf %b : tensor<?x8xf32>\n" + yield + "%t" + yieldEnd,
                     "%l");
  ASSERT_EQ(stacks.size(), 2u);
  EXPECT_EQ(sites(stacks[0]), Sites({1}));
  EXPECT_EQ(sites(stacks[1]), Sites({2}));
  EXPECT_TRUE(stacks[1].loops.empty());
}

TEST_F(StacksTest, ForksEndAStack) {
  auto stacks = find(block(1, "%a", "%x") + block(2, "%b", "%a") + "%l" + loopBegin + "%a" + loopEnd +
                         block(3, "%c", "%s") + yield + "%c" + yieldEnd + block(4, "%d", "%b", "%l"),
                     "%d");
  ASSERT_EQ(stacks.size(), 3u);
  EXPECT_EQ(sites(stacks[0]), Sites({1}));
  EXPECT_EQ(sites(stacks[1]), Sites({2, 4}));
  EXPECT_EQ(sites(stacks[2]), Sites({3}));
  EXPECT_EQ(stacks[2].loops.size(), 1u);
  EXPECT_EQ(stacks[2].entry, stacks[0].exit);
}

TEST_F(StacksTest, BlocksInABranchAreAStackOfTheirOwn) {
  auto stacks = find("%y = resid.block none %x : tensor<?x8xf32> {\n^bb0(%h: tensor<?x8xf32>):\n" +
                         block(1, "%a", "%h") + block(2, "%b", "%a") + "resid.yield %b : tensor<?x8xf32>\n}\n",
                     "%y");
  ASSERT_EQ(stacks.size(), 2u);
  EXPECT_EQ(stacks[0].blocks.size(), 1u);
  EXPECT_EQ(sites(stacks[1]), Sites({1, 2}));
}

} // namespace
