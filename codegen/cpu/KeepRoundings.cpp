// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes from conversions between floats the permission to be skipped.

#include "codegen/cpu/Passes.h"

namespace mlir::resid::cpu {
#define GEN_PASS_DEF_KEEPROUNDINGS
#include "codegen/cpu/Passes.h.inc"
} // namespace mlir::resid::cpu

using namespace mlir;
using namespace mlir::resid;

namespace {

struct KeepRoundings : public cpu::impl::KeepRoundingsBase<KeepRoundings> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      if (auto extension = dyn_cast<arith::ExtFOp>(op))
        extension.removeFastmathAttr();
      else if (auto truncation = dyn_cast<arith::TruncFOp>(op))
        truncation.removeFastmathAttr();
    });
  }
};

} // namespace
