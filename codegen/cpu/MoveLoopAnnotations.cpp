// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes loop annotations that survived the conversion of scf.for part of the branches.

#include "codegen/cpu/Passes.h"

namespace mlir::resid::cpu {
#define GEN_PASS_DEF_MOVELOOPANNOTATIONS
#include "codegen/cpu/Passes.h.inc"
} // namespace mlir::resid::cpu

using namespace mlir;
using namespace mlir::resid;

namespace {

template <typename BranchOp> void moveAnnotation(BranchOp branch) {
  StringRef name = LLVM::LoopAnnotationAttr::name;
  auto annotation = dyn_cast_or_null<LLVM::LoopAnnotationAttr>(branch->getDiscardableAttr(name));
  if (!annotation)
    return;
  branch->removeDiscardableAttr(name);
  branch.setLoopAnnotationAttr(annotation);
}

struct MoveLoopAnnotations : public cpu::impl::MoveLoopAnnotationsBase<MoveLoopAnnotations> {
  void runOnOperation() override {
    getOperation()->walk([](LLVM::BrOp branch) { moveAnnotation(branch); });
    getOperation()->walk([](LLVM::CondBrOp branch) { moveAnnotation(branch); });
  }
};

} // namespace
