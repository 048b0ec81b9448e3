// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-check-stream: runs the checks of StreamChecks.h on copies of the program in the form that each of them reads.

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"
#include "passes/checks/StreamChecks.h"

namespace mlir::resid {
#define GEN_PASS_DEF_CHECKSTREAM
#include "passes/Passes.h.inc"
} // namespace mlir::resid

using namespace mlir;
using namespace mlir::resid;

void resid::warn(Location place, const Twine &mistake, const Twine &mend) {
  InFlightDiagnostic warning = emitWarning(place) << mistake;
  warning.attachNote() << "mend: " << mend;
}

namespace {
struct CheckStream : resid::impl::CheckStreamBase<CheckStream> {
  using CheckStreamBase::CheckStreamBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    checkUnfilled(getOperation());
    OwningOpRef<ModuleOp> copy = getOperation().clone();
    if (failed(rewrite(*copy, [](OpPassManager &manager) { manager.addPass(createExpandAddNorm()); })))
      return signalPassFailure();
    checkSubLayers(*copy);
    OwningOpRef<ModuleOp> formed = copy->clone();
    if (failed(rewrite(*formed, [](OpPassManager &manager) { manager.addPass(createFormBlocks()); })))
      return signalPassFailure();
    checkFinalNorms(*formed);
    // Ops that compute the same become one, so that equal seeds, steps and origins are one value.
    if (failed(rewrite(*copy, [](OpPassManager &manager) {
          manager.addPass(createExpandBlocks());
          manager.addPass(createCSEPass());
        })))
      return signalPassFailure();
    checkConnections(*copy);
    checkDropoutSites(*copy);
  }

private:
  static LogicalResult rewrite(ModuleOp module, function_ref<void(OpPassManager &)> build) {
    PassManager manager(module.getContext(), ModuleOp::getOperationName());
    build(manager);
    return manager.run(module);
  }
};
} // namespace
