// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs an order of rewrites on a program and holds the results against each other. Draws nothing at random.

#ifndef RESID_TEST_RANDOM_CHECK_H
#define RESID_TEST_RANDOM_CHECK_H

#include "mlir/Pass/PassManager.h"
#include "test/random/PassTable.h"
#include "test/random/Program.h"
#include "test/random/Values.h"
#include "llvm/ADT/MapVector.h"
#include <map>
#include <memory>

namespace mlir::resid::random {

using PassOrder = SmallVector<const PassEntry *>;

/// How often a rewrite was tried, and what it answered.
struct PassCounts {
  int64_t runs = 0, changed = 0, refused = 0;
};

struct Counts {
  llvm::MapVector<const PassEntry *, PassCounts> passes;
  int64_t programs = 0, bitComparisons = 0, boundedComparisons = 0, compiled = 0, unavailable = 0;
  /// What the compiler says of those that are not available or have no gradient.
  std::map<std::string, int64_t> reasons;
  /// Compiled programs of which the passes of the compiler make the same before and after: compiled once.
  int64_t compiledAlike = 0;
  /// Gradients along a direction that were compared with an extrapolated derivative, and those where the function is
  /// not smooth enough for one; functions that the pass refuses.
  int64_t directions = 0, rough = 0, underived = 0;
  /// Comparisons by bound that only passed when the sensitivity of the program was taken into account.
  int64_t sensitive = 0;
};

/// A context with the dialects of the compiler, and one pass manager per rewrite, kept since it is costly to set up.
class Session {
public:
  Session();
  MLIRContext &getContext() { return *context; }

  enum Answer { Same, Changed, Refused, Failed };
  /// Runs one rewrite; text of diagnostics goes to `messages`.
  Answer run(const PassEntry &entry, ModuleOp module, std::string &messages);

private:
  std::unique_ptr<MLIRContext> context;
  llvm::MapVector<const PassEntry *, std::unique_ptr<PassManager>> managers;
};

struct Disagreement {
  std::string what;
  /// The program before the rewrite that is at fault and after it, as text; empty where none is known.
  std::string before, after;
};

/// Runs those of `order` that apply, one after another, and compares: bits across rewrites that keep them, by 1e-12
/// across those that are exact in real arithmetic. With `compile`, first and last program also run as machine code and
/// are held against each other and against the evaluator. `each` compares after each rewrite, to find the one at fault.
std::optional<Disagreement> checkProgram(Session &session, const Program &program, ArrayRef<const PassEntry *> order,
                                         bool compile, bool each, Counts &counts);

/// Differentiates the program, and what the rewrites of `order` make of it. Programs of f64: the values have the bits
/// of the program, the gradients are those of an extrapolated derivative along a random direction, and those after the
/// rewrites agree with those before. With `compile`, programs of all types: value and gradients as machine code are
/// held against the evaluator.
std::optional<Disagreement> checkGradients(Session &session, const Program &program, ArrayRef<const PassEntry *> order,
                                           bool compile, bool each, Counts &counts);

/// The comparisons of machine code (CheckCompiled.cpp); `isBitExact`: all rewrites between the two keep bits.
std::optional<std::string> checkCompiled(func::FuncOp before, func::FuncOp after, const Arguments &arguments,
                                         bool isBitExact, Counts &counts);

/// The relative spacing of the narrowest float type in a function.
double getSpacing(func::FuncOp function);

std::string printModule(ModuleOp module);

} // namespace mlir::resid::random

#endif // RESID_TEST_RANDOM_CHECK_H
