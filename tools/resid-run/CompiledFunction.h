// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One function of a program, compiled in memory with the default pipeline, and loaded. Does not call it.

#ifndef RESID_TOOLS_RESID_RUN_COMPILEDFUNCTION_H
#define RESID_TOOLS_RESID_RUN_COMPILEDFUNCTION_H

#include "codegen/boundary/Signature.h"
#include "codegen/kernels/Target.h"
#include "passes/Passes.h"
#include "runtime/resid.h"
#include "tools/common/ExitCodes.h"
#include "tools/resid-run/LoadedObject.h"

namespace mlir::resid::run {

/// An object with the packed entry of one function, and the signature of that function.
struct CompiledFunction {
  SmallVector<char, 0> object;
  boundary::KernelSignature signature;
};

/// Gives the warnings of residc; fails where resid itself is wrong.
llvm::Error warnOfMistakes(ModuleOp module);

/// Compiles what `function` reaches. The program stays as it is.
llvm::Expected<CompiledFunction> compileFunction(func::FuncOp function, std::shared_ptr<const kernels::Target> target,
                                                 ProgramMode mode = ProgramMode::Training,
                                                 RaiseLevel raise = RaiseLevel::Exact);

/// The signature of `function` without its code.
llvm::Expected<boundary::KernelSignature> findSignature(func::FuncOp function);

/// Its code, to be called.
struct LoadedFunction {
  std::shared_ptr<LoadedObject> object;
  LoadedObject::PackedFunction entry = nullptr;
};
llvm::Expected<LoadedFunction> loadFunction(const CompiledFunction &function);

/// Said beside a fault of compiled code: who divides by 0 in a program of their own sees resid fail.
extern const char *const runningHint;

/// What a tool ends with when a function answers so.
tools::ExitCode getExitCode(resid_status status);

} // namespace mlir::resid::run

#endif
