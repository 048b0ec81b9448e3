// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an x86 processor must have before code for a CPU name may run on it, and the function that asks it. Does not own
// which CPU is compiled for.

#ifndef RESID_CODEGEN_EMIT_CPUFEATURES_H
#define RESID_CODEGEN_EMIT_CPUFEATURES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace mlir::resid::emit {

/// The name of the function that asks the processor. Private; compiled for the baseline of the architecture.
constexpr llvm::StringLiteral kCPUCheckName = "resid_cpu_supported";

/// The names (LLVM's) of the features that can be asked for: all that LLVM uses in code without being told to.
std::vector<std::string> getCheckableFeatures();

/// Adds the function `resid_cpu_supported : () -> i1` to the module: whether the processor has all of `features` and
/// the operating system keeps their registers. It asks once per loaded object. Null where there is nothing to ask;
/// features must be checkable.
func::FuncOp buildCPUCheck(ModuleOp module, ArrayRef<std::string> features);

} // namespace mlir::resid::emit

#endif // RESID_CODEGEN_EMIT_CPUFEATURES_H
