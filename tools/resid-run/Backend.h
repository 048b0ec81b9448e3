// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What runs a function: the evaluator, or compiled code.

#ifndef RESID_TOOLS_RESID_RUN_BACKEND_H
#define RESID_TOOLS_RESID_RUN_BACKEND_H

#include "tools/resid-run/Arrays.h"
#include <memory>

namespace mlir::resid::run {

class Backend {
public:
  virtual ~Backend() = default;
  /// One run on the arguments the backend was made for.
  virtual llvm::Error run() = 0;
  /// The results of the last run.
  virtual std::vector<Array> getResults() = 0;
  /// Whether every processor that it compiles for has a fused multiply-add.
  virtual bool hasFMA() const { return true; }
};

/// Evaluates on each run. `function` and `arguments` outlive the backend.
std::unique_ptr<Backend> makeReferenceBackend(func::FuncOp function, llvm::ArrayRef<Array> arguments);

/// Compiles `function` with the default pipeline for --mcpu and runs it on --threads. Arrays whose sizes disagree are
/// an error here.
llvm::Expected<std::unique_ptr<Backend>> makeCPUBackend(func::FuncOp function, llvm::ArrayRef<Array> arguments,
                                                        const Options &options);

/// Compiles `function` for GPUs, brings the arguments to device 0 and runs it there. Without a device an error says why
/// there is none.
llvm::Expected<std::unique_ptr<Backend>> makeCUDABackend(func::FuncOp function, llvm::ArrayRef<Array> arguments,
                                                         const Options &options);

} // namespace mlir::resid::run

#endif
