// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is measured: functions with the sizes of a call, and arguments made for it. Does not compile or time.

#ifndef RESID_TOOLS_RESID_TUNE_CASES_H
#define RESID_TOOLS_RESID_TUNE_CASES_H

#include "codegen/boundary/Signature.h"
#include "tools/resid-run/Arrays.h"
#include "tools/resid-tune/Options.h"

namespace mlir::resid::tune {

/// A function with sizes. The sizes are empty where the function leaves none open.
struct Case {
  func::FuncOp function;
  Shape shape;

  /// Such as `add_layer_norm 4096x768`.
  std::string getName() const;
};

/// The cases of a program: each function with the shapes that fit it. An error where no function is left, where a shape
/// fits none, and where no shape fits a function with open sizes.
llvm::Expected<std::vector<Case>> makeCases(ModuleOp program, const Options &options);

/// The kernels of the benchmarks for f32 and bf16 and two widths, as one program, and the shapes that they are measured
/// for. Each function fits the shapes of its own width.
std::string getTableText();
/// `entry` is one of them, or empty.
llvm::Expected<std::vector<Case>> makeTableCases(ModuleOp table, StringRef entry);

/// The elements of all arrays among the arguments.
int64_t countElements(const Case &one, const boundary::KernelSignature &signature);

/// Floats are random (normal, of deviation 1), scalars 0.5. Integers are 1: a seed, and an index into most arrays.
/// `signature` says which sizes must be equal.
llvm::Expected<std::vector<run::Array>> makeArguments(const Case &one, const boundary::KernelSignature &signature);

} // namespace mlir::resid::tune

#endif // RESID_TOOLS_RESID_TUNE_CASES_H
