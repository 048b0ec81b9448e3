// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls between functions to the bodies of their callees.

#include "dialect/InlineCalls.h"
#include "codegen/boundary/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace mlir::resid::boundary {
#define GEN_PASS_DEF_INLINECALLS
#include "codegen/boundary/Passes.h.inc"
} // namespace mlir::resid::boundary

using namespace mlir;

static LogicalResult verifyCallees(func::FuncOp function) {
  return failure(function
                     .walk([](func::CallIndirectOp call) {
                       call.emitError(
                           "a call of a function value is not available: expected a call of a function by name");
                       return WalkResult::interrupt();
                     })
                     .wasInterrupted());
}

/// A step that a caller gives as a constant shows only here; upstream's patterns would take such a loop away.
static LogicalResult verifySteps(ModuleOp module) {
  return failure(module
                     .walk([](scf::ForOp loop) {
                       std::optional<int64_t> step = getConstantIntValue(loop.getStep());
                       if (!step || (loop.getUnsignedCmp() ? *step != 0 : *step > 0))
                         return WalkResult::advance();
                       loop.emitOpError() << "expected a step of 1 or more, but got " << *step;
                       return WalkResult::interrupt();
                     })
                     .wasInterrupted());
}

namespace {
struct InlineCalls : resid::boundary::impl::InlineCallsBase<InlineCalls> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      if (function.isPublic() && (failed(resid::inlineCalls(function)) || failed(verifyCallees(function))))
        return signalPassFailure();
    if (failed(verifySteps(getOperation())))
      return signalPassFailure();
    for (func::FuncOp function : functions)
      if (function.isPrivate())
        function.erase();
  }
};
} // namespace
