// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an x86 processor must have before code for a CPU name may run on it, and the function that asks it. Does not own
// which CPUs are compiled for.

#ifndef RESID_CODEGEN_EMIT_CPUFEATURES_H
#define RESID_CODEGEN_EMIT_CPUFEATURES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace mlir::resid::emit {

/// The name of the function that asks the processor. Private; compiled for the baseline of the architecture.
constexpr llvm::StringLiteral kCPUChoiceName = "resid_cpu_choice";

/// The names (LLVM's) of the features that can be asked for: all that LLVM uses in code without being told to.
std::vector<std::string> getCheckableFeatures();

/// Adds the function `resid_cpu_choice : () -> i32` to the module: the number, from 1, of the first of `featureSets` of
/// which the processor has all features and the operating system keeps the registers; one more than the last number
/// where there is none. It asks once per loaded object. Null where no set has a feature; features must be checkable.
func::FuncOp buildCPUChoice(ModuleOp module, llvm::ArrayRef<std::vector<std::string>> featureSets);

} // namespace mlir::resid::emit

#endif // RESID_CODEGEN_EMIT_CPUFEATURES_H
