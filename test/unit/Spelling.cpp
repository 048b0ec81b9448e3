// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which name is meant by one that is written wrong.

#include "dialect/Spelling.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::resid;

static StringRef find(StringRef written) {
  static constexpr StringRef names[] = {"min", "default", "all", "shift", "keep", "layer_norm", "rms_norm"};
  static constexpr ForeignName foreign[] = {{"LayerNorm", "layer_norm"}, {"T5Norm", "group_norm"}};
  return findNearest(written, {names, foreign, {}});
}

TEST(Spelling, OneLetterInThreeMayDiffer) {
  EXPECT_EQ(find("man"), "min");
  EXPECT_EQ(find("defult"), "default");
  EXPECT_EQ(find("lyer_nrm"), "layer_norm");
  EXPECT_EQ(find("man_"), "");
  // Of five letters, two.
  EXPECT_EQ(find("dfult"), "");
  EXPECT_EQ(find(""), "");
}

TEST(Spelling, LettersThatAreSwappedCountAsOne) {
  EXPECT_EQ(find("mni"), "min");
  EXPECT_EQ(find("shfit"), "shift");
  EXPECT_EQ(find("nim"), "");
  EXPECT_EQ(find("kepe"), "keep");
}

TEST(Spelling, CapitalLettersAreSmallOnes) {
  EXPECT_EQ(find("ALL"), "all");
  EXPECT_EQ(find("RMS_nrom"), "rms_norm");
}

TEST(Spelling, ForeignNamesAndBeginningsAreKnown) {
  EXPECT_EQ(find("LayerNorm"), "layer_norm");
  // What a foreign name stands for is not among the names.
  EXPECT_EQ(find("T5Norm"), "");
  EXPECT_EQ(find("def"), "default");
  EXPECT_EQ(find("de"), "");
}
