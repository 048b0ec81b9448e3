// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The backend that runs the reference evaluator.

#include "reference/Evaluator.h"
#include "tools/resid-run/Backend.h"

namespace mlir::resid::run {

namespace {
class ReferenceBackend : public Backend {
public:
  ReferenceBackend(func::FuncOp function, llvm::ArrayRef<Array> arguments) : function(function), arguments(arguments) {}

  llvm::Error run() override {
    bool unsupported = false;
    reference::EvaluationOptions options;
    options.unsupported = &unsupported;
    FailureOr<SmallVector<Array>> evaluated = reference::evaluate(function, arguments, options);
    if (failed(evaluated))
      return makeError(unsupported ? tools::ExitUnavailable : tools::ExitProgram, "");
    results.assign(evaluated->begin(), evaluated->end());
    return llvm::Error::success();
  }
  std::vector<Array> getResults() override { return results; }

private:
  func::FuncOp function;
  llvm::ArrayRef<Array> arguments;
  std::vector<Array> results;
};
} // namespace

std::unique_ptr<Backend> makeReferenceBackend(func::FuncOp function, llvm::ArrayRef<Array> arguments) {
  return std::make_unique<ReferenceBackend>(function, arguments);
}

} // namespace mlir::resid::run
