// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a processor must have before code for a CPU name may run on it, and the function that asks it: by CPUID on
// x86-64 (X86Features.cpp), by what Linux says of the processor on aarch64 (AArch64Features.cpp). Does not own which
// CPUs are compiled for.

#ifndef RESID_CODEGEN_MACHINE_CPUFEATURES_H
#define RESID_CODEGEN_MACHINE_CPUFEATURES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace mlir::resid::machine {

/// The name of the function that asks the processor. Private; compiled for the baseline of the architecture.
constexpr llvm::StringLiteral kCPUChoiceName = "resid_cpu_choice";
/// The name of the global that keeps its answer: an i32, 0 before the processor was asked.
constexpr llvm::StringLiteral kCPUStateName = "resid_cpu_state";

enum class Architecture { X86, AArch64 };

/// LLVM's names of features that code for a CPU may need.
using FeatureSet = std::vector<std::string>;

/// The names of the features that can be asked for: all that LLVM uses in code without being told to.
FeatureSet getCheckableFeatures(Architecture architecture);

/// Adds the function `resid_cpu_choice : () -> i32` to the module: the number, from 1, of the first of `featureSets` of
/// which the processor has all features and the operating system keeps the registers; one more than the last number
/// where there is none. It asks once per loaded object. Null where no set has a feature; features must be checkable.
func::FuncOp buildCPUChoice(ModuleOp module, Architecture architecture, llvm::ArrayRef<FeatureSet> featureSets);

//===------------------------------------------- one architecture each --------------------------------------------===//

FeatureSet getX86Features();
FeatureSet getAArch64Features();

/// Emits the questions, and gives for each set whether (i1) the processor has all of it. May go on in another block.
llvm::SmallVector<Value> askX86(OpBuilder &builder, Location loc, func::FuncOp function,
                                llvm::ArrayRef<FeatureSet> featureSets);
llvm::SmallVector<Value> askAArch64(OpBuilder &builder, Location loc, func::FuncOp function,
                                    llvm::ArrayRef<FeatureSet> featureSets);

} // namespace mlir::resid::machine

#endif // RESID_CODEGEN_MACHINE_CPUFEATURES_H
