// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is generated: a module with the functions to call and the arguments to call them on. Runs nothing.

#ifndef RESID_TEST_RANDOM_PROGRAM_H
#define RESID_TEST_RANDOM_PROGRAM_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>
#include <vector>

namespace mlir::resid::random {

/// A public function and one argument text as in resid-run's --arg per argument. The arguments carry the attribute
/// resid.name, so that they are found again when a pass gives the function another signature.
struct EntryPoint {
  std::string name;
  std::vector<std::string> arguments;
};

struct Program {
  OwningOpRef<ModuleOp> module;
  std::vector<EntryPoint> entries;
};

/// What kinds of programs are drawn.
enum class Family { All, Stacks };

/// The program of this seed.
Program generateProgram(MLIRContext &context, uint64_t seed, Family family);

/// Whether every float in the program is of f64, so that rewrites that are exact in real arithmetic can be judged.
bool isDoubleOnly(ModuleOp module);

} // namespace mlir::resid::random

#endif // RESID_TEST_RANDOM_PROGRAM_H
