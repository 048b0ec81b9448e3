// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes loop annotations that survived the conversion of scf.for part of the branches.

#include "codegen/conversion/Passes.h"

namespace mlir::resid::conversion {
#define GEN_PASS_DEF_MOVELOOPANNOTATIONS
#include "codegen/conversion/Passes.h.inc"
} // namespace mlir::resid::conversion

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

struct MoveLoopAnnotations : public conversion::impl::MoveLoopAnnotationsBase<MoveLoopAnnotations> {
  void runOnOperation() override {
    getOperation()->walk([](LLVM::BrOp branch) { moveAnnotation(branch); });
    getOperation()->walk([](LLVM::CondBrOp branch) { moveAnnotation(branch); });
  }
};

} // namespace
