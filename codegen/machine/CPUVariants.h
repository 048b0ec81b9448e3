// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One program for several CPUs: what each is called and needs, and which functions are lowered once per CPU. Does not
// own the choice between them (CPUFeatures.h), nor the order of stages.

#ifndef RESID_CODEGEN_MACHINE_CPUVARIANTS_H
#define RESID_CODEGEN_MACHINE_CPUVARIANTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>
#include <vector>

namespace mlir::resid::machine {

/// A CPU among those that a program is compiled for. As text it is name:feature+feature.
struct CPUVariant {
  std::string name;
  std::vector<std::string> features;

  static CPUVariant parse(llvm::StringRef text);
  std::string print() const;
};

/// The name of a function's form for a CPU.
std::string getVariantName(llvm::StringRef function, llvm::StringRef cpu);

/// Declares the forms of an implementation, one per CPU, and marks it as what their bodies are made from.
SmallVector<func::FuncOp> declareVariants(func::FuncOp implementation, llvm::ArrayRef<CPUVariant> variants);

/// Takes the implementations that declareVariants marked, with the constants, out of `module` into one of their own;
/// they become public there.
OwningOpRef<ModuleOp> takeImplementations(ModuleOp module);

} // namespace mlir::resid::machine

#endif // RESID_CODEGEN_MACHINE_CPUVARIANTS_H
