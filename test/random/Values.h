// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The values of a program's functions by the evaluator, and how far apart two sets of them are.

#ifndef RESID_TEST_RANDOM_VALUES_H
#define RESID_TEST_RANDOM_VALUES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "reference/Evaluator.h"
#include "test/random/Program.h"
#include "llvm/ADT/StringMap.h"
#include <optional>

namespace mlir::resid::random {

using reference::Array;
/// The results of one function.
using Results = std::vector<Array>;

/// The name that an argument had when the program was made, or an empty one.
std::string getName(func::FuncOp function, unsigned index);

/// The arguments of one function, by the names that they had when the program was made.
class Arguments {
public:
  /// Reads the texts of `entry`; null after a message was printed.
  static std::optional<Arguments> read(ModuleOp module, const EntryPoint &entry);

  /// The arguments of the function as it is now: by name, or where a rewrite transforms weights, what
  /// @<function>_prepare makes of them. Fails with a diagnostic where there is none.
  FailureOr<std::vector<Array>> bind(func::FuncOp function) const;

  /// The value of this name, or null.
  const Array *find(StringRef name) const;
  void set(StringRef name, Array value);

  /// Each float moved at random by a few units in the last place of a type with this relative spacing.
  Arguments perturbed(uint64_t seed, double spacing) const;

private:
  FailureOr<Array> find(func::FuncOp function, unsigned index) const;
  llvm::StringMap<Array> values;
  /// The names in the order of the original signature.
  std::vector<std::string> names;
};

/// The results of the function by the evaluator, with the accuracy of each if asked.
FailureOr<Results> evaluate(func::FuncOp function, const Arguments &arguments, bool trackAccuracy = false);

/// How far each element of each result moves when the arguments do, by a relative `spacing`: what rounding on the way
/// may amount to.
FailureOr<std::vector<std::vector<double>>> measureSensitivity(func::FuncOp function, const Arguments &arguments,
                                                               double spacing);

/// Where and how `after` has other bits than `before`, all NaNs being the same; none if it has not.
std::optional<std::string> compareBits(const Results &before, const Results &after);

/// Where a finite value of `before` and that of `after` are further apart than bound(result, element).
std::optional<std::string> compareBounded(const Results &before, const Results &after,
                                          llvm::function_ref<double(size_t, int64_t)> bound);

/// The largest finite magnitude of an array.
double getLargest(const Array &array);

} // namespace mlir::resid::random

#endif // RESID_TEST_RANDOM_VALUES_H
