// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialect from C++: builders, what follows from types, and the numbers of the dropout scheme.

#include "dialect/ResidDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::resid;

namespace {

class DialectTest : public ::testing::Test {
protected:
  DialectTest() : builder(&context) {
    context.loadDialect<func::FuncDialect, ResidDialect>();
    module = ModuleOp::create(builder.getUnknownLoc());
    x = tensor({ShapedType::kDynamic, 8}, builder.getBF16Type());
    gamma = tensor({8}, builder.getF32Type());
    seed = builder.getI64Type();
    alpha = tensor({}, builder.getF32Type());
    builder.setInsertionPointToEnd(module->getBody());
    function = func::FuncOp::create(
        builder, builder.getUnknownLoc(), "f",
        builder.getFunctionType({x, x, gamma, seed, alpha, tensor({3, 8}, builder.getF64Type())}, {}));
    builder.setInsertionPointToEnd(function.addEntryBlock());
  }

  RankedTensorType tensor(ArrayRef<int64_t> shape, Type element) { return RankedTensorType::get(shape, element); }
  Value argument(unsigned index) { return function.getArgument(index); }
  Value matrix() { return function.getArgument(5); }
  Location location() { return builder.getUnknownLoc(); }
  template <typename OpTy> OpTy verified(OpTy op) {
    EXPECT_TRUE(succeeded(verify(op)));
    return op;
  }

  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
  Type x, gamma, seed, alpha;
};

TEST_F(DialectTest, ArithmeticTypes) {
  for (Type type : {Type(builder.getF16Type()), Type(builder.getBF16Type()), Type(builder.getF32Type())})
    EXPECT_TRUE(getArithmeticType(type).isF32());
  EXPECT_TRUE(getArithmeticType(builder.getF64Type()).isF64());
}

TEST_F(DialectTest, AttributesAreRoundedOnceToTheArithmeticType) {
  llvm::APFloat tenth(0.1);
  EXPECT_EQ(roundToArithmetic(tenth, builder.getBF16Type()).convertToFloat(), 0.1f);
  EXPECT_EQ(roundToArithmetic(tenth, builder.getF64Type()).convertToDouble(), 0.1);
}

TEST_F(DialectTest, StatisticsType) {
  RankedTensorType half = tensor({2, ShapedType::kDynamic, 8}, builder.getF16Type());
  EXPECT_EQ(getStatisticsType(half, 1), tensor({2, ShapedType::kDynamic}, builder.getF32Type()));
  EXPECT_EQ(getStatisticsType(half, 3), tensor({}, builder.getF32Type()));
  EXPECT_EQ(getStatisticsType(tensor({4}, builder.getF64Type()), 1), tensor({}, builder.getF64Type()));
}

TEST_F(DialectTest, ByteLimit) {
  int64_t most = int64_t(1) << 45;
  EXPECT_TRUE(fitsByteLimit(tensor({most}, builder.getF32Type())));
  EXPECT_FALSE(fitsByteLimit(tensor({most + 1}, builder.getF32Type())));
  EXPECT_FALSE(fitsByteLimit(tensor({2, INT64_MAX}, builder.getF16Type())));
  EXPECT_TRUE(fitsByteLimit(tensor({0, ShapedType::kDynamic}, builder.getF16Type())));
}

TEST(DropoutScheme, ThresholdRoundsHalfAwayFromZero) {
  EXPECT_EQ(getDropoutThreshold(0.0), 0);
  EXPECT_EQ(getDropoutThreshold(0.5 / 65536), 1);
  EXPECT_EQ(getDropoutThreshold(1.5 / 65536), 2);
  EXPECT_EQ(getDropoutThreshold(2.5 / 65536), 3);
  EXPECT_EQ(getDropoutThreshold(0.1), 6554);
  EXPECT_EQ(getDropoutThreshold(1.0), dropoutDropsAll);
}

TEST(DropoutScheme, ScaleIsThatOfTheProbabilityReallyUsed) {
  EXPECT_EQ(getDropoutScale(0), 1.0);
  EXPECT_EQ(getDropoutScale(6554), 65536.0 / 58982.0);
  EXPECT_EQ(getDropoutScale(32768), 2.0);
  EXPECT_EQ(getDropoutScale(dropoutDropsAll), 0.0);
}

TEST_F(DialectTest, ResidualBuilders) {
  AddOp add = verified(AddOp::create(builder, location(), argument(0), argument(1)));
  EXPECT_FALSE(add.getGate());
  EXPECT_EQ(add.getResult().getType(), x);
  AddOp gated = verified(AddOp::create(builder, location(), argument(0), argument(1), argument(2), 2.0, 0.5));
  EXPECT_EQ(gated.getSkipScale().convertToDouble(), 2.0);
  EXPECT_EQ(gated.getBranchScale().convertToDouble(), 0.5);
  AddBiasOp bias = verified(AddBiasOp::create(builder, location(), argument(0), argument(2)));
  EXPECT_EQ(bias.getResult().getType(), x);
}

TEST_F(DialectTest, LinearBuilder) {
  LinearOp square = verified(LinearOp::create(builder, location(), argument(0), matrix()));
  EXPECT_FALSE(square.getBias());
  EXPECT_EQ(square.getType(), tensor({ShapedType::kDynamic, 3}, builder.getBF16Type()));
  EXPECT_TRUE(square.getArithmeticType().isF64());
  EXPECT_EQ(square.getInputAxis(), 1);
  LinearOp back = verified(LinearOp::create(builder, location(), square, matrix(), argument(2), /*transposed=*/true));
  EXPECT_EQ(back.getType(), x);
  EXPECT_EQ(back.getInputAxis(), 0);
}

TEST_F(DialectTest, DropoutBuilder) {
  DropoutOp plain = verified(DropoutOp::create(builder, location(), argument(0), argument(3), argument(3), 0.1, 7));
  EXPECT_EQ(plain.getThreshold(), 6554);
  EXPECT_EQ(plain.getSite(), 7);
  EXPECT_FALSE(plain.getOriginRow());
  Value number = argument(3);
  DropoutOp shifted = verified(DropoutOp::create(builder, location(), argument(0), number, number, 0.1, 7,
                                                 DropoutOrigin{number, number, Value(), Value(), Value()}));
  EXPECT_TRUE(shifted.getOriginRow() && shifted.getOriginSite());
  EXPECT_FALSE(shifted.getOriginCol() || shifted.getExtentLocal() || shifted.getExtentGlobal());
  DropoutOp shard = verified(DropoutOp::create(builder, location(), argument(0), number, number, 0.1, 7,
                                               DropoutOrigin{number, number, number, number, number}));
  EXPECT_TRUE(shard.getOriginCol() && shard.getExtentLocal() && shard.getExtentGlobal());
}

TEST_F(DialectTest, NormBuildersDefaultToTheUsualEpsilon) {
  LayerNormOp layer = verified(LayerNormOp::create(builder, location(), argument(0), argument(2)));
  EXPECT_EQ(layer.getEpsilon().convertToDouble(), 1.0e-5);
  EXPECT_FALSE(layer.getMean() || layer.getMeanCorrection() || layer.getRstd());
  RMSNormOp rms = verified(RMSNormOp::create(builder, location(), argument(0)));
  EXPECT_EQ(rms.getEpsilon().convertToDouble(), 1.0e-5);
  EXPECT_FALSE(rms.getRstd());
  EXPECT_EQ(rms.getNormalizedRank(), 1);
  verified(DyTOp::create(builder, location(), argument(0), argument(4), argument(2), argument(2)));
  GroupNormOp group = verified(GroupNormOp::create(builder, location(), argument(0), /*groups=*/1, argument(2)));
  EXPECT_EQ(group.getEpsilon().convertToDouble(), 1.0e-5);
}

TEST_F(DialectTest, NormBuildersWithStatistics) {
  LayerNormOp layer =
      verified(LayerNormOp::create(builder, location(), argument(0), argument(2), argument(2), 1.0e-6, true));
  EXPECT_EQ(layer.getMean(), layer->getResult(1));
  EXPECT_EQ(layer.getMeanCorrection(), layer->getResult(2));
  EXPECT_EQ(layer.getRstd(), layer->getResult(3));
  RMSNormOp rms = verified(RMSNormOp::create(builder, location(), argument(0), Value(), Value(), 1.0e-6, true));
  EXPECT_EQ(rms.getRstd(), rms->getResult(1));
}

TEST_F(DialectTest, AttentionBuilders) {
  auto add = [&](ArrayRef<int64_t> shape, Type element) {
    return function.getBody().front().addArgument(tensor(shape, element), location());
  };
  Value q = add({1, 4, ShapedType::kDynamic, 16}, builder.getBF16Type());
  Value k = add({1, 2, 8, 16}, builder.getBF16Type()), mask = add({8}, builder.getF64Type());
  AttentionOp plain = verified(AttentionOp::create(builder, location(), q, k, k));
  EXPECT_EQ(plain.getResult().getType(), q.getType());
  EXPECT_FALSE(plain.getMax() || plain.getSum() || plain.getCausal());
  EXPECT_TRUE(plain.getArithmeticType().isF32());
  EXPECT_EQ(plain.getScoreScale(), 0.25);
  AttentionOp full = verified(AttentionOp::create(builder, location(), q, k, k, mask, /*causal=*/true, true));
  EXPECT_TRUE(full.getCausal() && full.getArithmeticType().isF64());
  EXPECT_EQ(full.getMax(), full->getResult(1));
  EXPECT_EQ(full.getSum().getType(), tensor({1, 4, ShapedType::kDynamic}, builder.getF64Type()));
  AppendOp append = verified(AppendOp::create(builder, location(), k, k, argument(3)));
  EXPECT_EQ(append.getResult().getType(), k.getType());
}

/// A choosing mask has no part in the arithmetic.
TEST_F(DialectTest, AttentionOfBooleansIsInF32) {
  Block &body = function.getBody().front();
  Value q = body.addArgument(tensor({1, 1, 2, 4}, builder.getF16Type()), location());
  Value mask = body.addArgument(tensor({2, 2}, builder.getI1Type()), location());
  AttentionOp op = verified(AttentionOp::create(builder, location(), q, q, q, mask));
  EXPECT_TRUE(op.getArithmeticType().isF32());
}

TEST_F(DialectTest, AddNormBuilder) {
  AddNormOp fused =
      verified(AddNormOp::create(builder, location(), NormKind::RMS, argument(0), argument(1), argument(2)));
  EXPECT_EQ(fused.getKind(), NormKind::RMS);
  EXPECT_EQ(fused.getEpsilon()->convertToDouble(), 1.0e-5);
  EXPECT_FALSE(fused.hasDropout());
  EXPECT_EQ(fused.getThreshold(), 0);
  EXPECT_FALSE(fused.getMean() || fused.getMeanCorrection() || fused.getRstd());
}

} // namespace
