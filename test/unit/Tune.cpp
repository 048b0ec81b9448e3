// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What resid-tune measures by: statistics over times that are given here, values to try, and the comparison of bits.

#include "codegen/Pipelines.h"
#include "mlir/Parser/Parser.h"
#include "tools/resid-tune/Candidates.h"
#include "tools/resid-tune/Comparison.h"
#include "tools/resid-tune/Subject.h"
#include "tools/resid-tune/Variant.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::tune;

TEST(Tune, ARatioIsAboveOneWhereTheSecondIsFaster) {
  Comparison comparison(2);
  // The first case takes half of the time, the second one as much; what disturbs a round disturbs both.
  for (double noise : {1.0, 5.0, 1.2, 1.0, 3.0})
    comparison.addRound([&](size_t i, bool isAfter) { return noise * (i == 0 && isAfter ? 1.0 : 2.0); });
  EXPECT_DOUBLE_EQ(comparison.getRatio(0).median, 2.0);
  EXPECT_DOUBLE_EQ(comparison.getRatio(1).median, 1.0);
  EXPECT_DOUBLE_EQ(comparison.getRatio().median, std::sqrt(2.0));
  EXPECT_TRUE(comparison.getRatio().isFaster());
  EXPECT_FALSE(comparison.getRatio(1).isFaster());
  EXPECT_FALSE(comparison.getRatio(1).isSlower());
  EXPECT_DOUBLE_EQ(comparison.getSeconds(0, false), 2.4);
  EXPECT_DOUBLE_EQ(comparison.getSeconds(0, true), 1.2);
}

TEST(Tune, TheOrderAlternates) {
  Comparison comparison(1);
  std::vector<bool> order;
  for (unsigned round = 0; round != 3; ++round)
    comparison.addRound([&](size_t, bool isAfter) {
      order.push_back(isAfter);
      return 1.0;
    });
  EXPECT_EQ(order, (std::vector<bool>{false, true, true, false, false, true}));
}

TEST(Tune, WhatSpreadsAcrossOneIsNoise) {
  Ratio noise = summarize({0.9, 1.1, 0.95, 1.2, 1.05}), gain = summarize({1.1, 1.02, 0.9, 1.05, 1.04});
  EXPECT_FALSE(noise.isFaster());
  EXPECT_FALSE(noise.isSlower());
  EXPECT_DOUBLE_EQ(gain.low, 1.02);
  EXPECT_DOUBLE_EQ(gain.high, 1.05);
  EXPECT_TRUE(gain.isFaster());
  EXPECT_TRUE(summarize({0.9}).isSlower());
}

static bool contains(const std::vector<Candidate> &candidates, StringRef key, StringRef value) {
  return llvm::any_of(candidates, [&](const Candidate &one) { return one.key == key && one.value == value; });
}

TEST(Tune, EachKeyOfTheScheduleIsTried) {
  std::vector<Candidate> candidates = listCandidates({}, 512);
  for (const cpu::NamedValues &named : cpu::getNamedValues())
    for (StringRef value : named.values)
      EXPECT_TRUE(contains(candidates, named.key, value) || value == "512") << named.key.str() << "=" << value.str();
  for (const cpu::Threshold &threshold : cpu::getThresholds())
    EXPECT_TRUE(llvm::any_of(candidates, [&](const Candidate &one) { return one.key == threshold.key; }))
        << threshold.key.str();
  EXPECT_FALSE(contains(listCandidates({}, 256), "vector-bits", "256"));
  for (const Candidate &one : listCandidates({"rows"}, 512))
    EXPECT_EQ(one.key, "rows");
}

TEST(Tune, CandidatesAreSettingsThatParse) {
  for (const Candidate &one : listCandidates({}, 512)) {
    cpu::Schedule changed = change({}, one);
    EXPECT_TRUE(has(changed, one)) << one.key << "=" << one.value;
    EXPECT_EQ(has({}, one), changed.settings.empty());
    llvm::Expected<cpu::Schedule> parsed = cpu::parseSchedule(cpu::printSettings(changed));
    ASSERT_TRUE(bool(parsed));
    EXPECT_EQ(cpu::printSchedule(*parsed), cpu::printSchedule(changed));
    EXPECT_TRUE(reset(changed, one.key).settings.empty());
  }
}

namespace {
/// Two functions of one signature.
class TuneBits : public testing::Test {
protected:
  void SetUp() override {
    DialectRegistry registry;
    registerCompilerDialects(registry);
    context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
    program = parseSourceString<ModuleOp>(R"(
      func.func @a(%x: tensor<?xf32>) -> tensor<?xf32> {
        %0 = arith.addf %x, %x : tensor<?xf32>
        return %0 : tensor<?xf32>
      }
      func.func @b(%x: tensor<?xf32>) -> tensor<?xf32> {
        %0 = arith.subf %x, %x : tensor<?xf32>
        return %0 : tensor<?xf32>
      }
    )",
                                          context.get());
  }
  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> program;
};
} // namespace

TEST_F(TuneBits, ResultsAreHeldToThoseOfTheFirst) {
  ASSERT_TRUE(bool(program));
  auto functions = llvm::to_vector(program->getOps<func::FuncOp>());
  std::vector<Case> cases = {{functions[0], {1000}}, {functions[1], {1000}}};
  llvm::Expected<Variant> variant = makeVariant(cases, {}, {"native", ProgramMode::Training}, nullptr);
  ASSERT_TRUE(bool(variant)) << llvm::toString(variant.takeError());
  resid_ctx calls = RESID_CTX_INIT;
  std::string refusal;
  const VariantFunction &a = variant->functions[0], &b = variant->functions[1];
  llvm::Expected<Subject> subject =
      Subject::create(cases[0], a.compiled.signature, a.getEntry(), CallOptions{&calls, /*readers=*/true, &refusal});
  ASSERT_TRUE(bool(subject)) << llvm::toString(subject.takeError());
  EXPECT_TRUE(llvm::cantFail(subject->hasSameResults(a.getEntry())));
  EXPECT_FALSE(llvm::cantFail(subject->hasSameResults(b.getEntry())));
  EXPECT_TRUE(llvm::cantFail(subject->hasSameResults(a.getEntry())));
  EXPECT_GT(subject->time(a.getEntry()), 0);
}
