// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM-dialect module to LLVM IR, and that to text or an object. Owns neither which functions are exported nor the LLVM
// passes.

#ifndef RESID_CODEGEN_MACHINE_OBJECT_H
#define RESID_CODEGEN_MACHINE_OBJECT_H

#include "codegen/machine/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"

namespace mlir::resid::machine {

/// What is written: machine code, its text, or optimised LLVM IR.
enum class CodeKind { Object, Assembly, LLVM };

/// Translates the LLVM-dialect `module` to LLVM IR. For one of `targets` the module has everything; for several,
/// `variants` holds the implementations for each, in the same order. Null after an error was reported at a module.
std::unique_ptr<llvm::Module> translate(ModuleOp module, ArrayRef<OwningOpRef<ModuleOp>> variants,
                                        ArrayRef<TargetDescription> targets, llvm::LLVMContext &context);

/// Says for which CPU a function is compiled.
void setCPU(llvm::Function &function, llvm::StringRef cpu, llvm::StringRef features);

/// Writes `module`, which has code for all of `targets`, as `kind`. The bytes depend on these alone.
LogicalResult writeCode(llvm::Module &module, ArrayRef<TargetDescription> targets, CodeKind kind,
                        SmallVectorImpl<char> &bytes);

/// Names of undefined symbols of an object that kernels must not import (all but memcpy, memset, memmove). It may
/// import what begins with `prefix`, if that is not empty.
llvm::Expected<std::vector<std::string>> findForbiddenImports(llvm::ArrayRef<char> object, llvm::StringRef prefix = "");

} // namespace mlir::resid::machine

#endif // RESID_CODEGEN_MACHINE_OBJECT_H
