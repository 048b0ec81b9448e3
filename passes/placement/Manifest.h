// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The manifest of conversions: which parameter of a function was moved, folded, added or dropped. Passes record into
// the module, tools print. Knows nothing of how a conversion is done.

#ifndef RESID_PASSES_PLACEMENT_MANIFEST_H
#define RESID_PASSES_PLACEMENT_MANIFEST_H

#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace mlir::resid {

/// What a rewrite keeps.
enum class RewriteClass {
  BitExact,        // the same bits
  Exact,           // the same function in real arithmetic, other roundings
  ChangesFunction, // another function of the same parameters
};

/// As it stands in remarks and in the manifest: bit-exact, exact or changes-function.
StringRef stringifyRewriteClass(RewriteClass rewriteClass);

enum class ParameterAction { Move, Fold, New, Drop };

/// What became of one parameter. The norms that it belonged to before and after are "norm i", "final norm" or "entry
/// norm"; empty where there is none.
struct ParameterChange {
  std::string name; // of the argument in the C header; empty for a parameter that is no argument
  ParameterAction action;
  std::string from, to;
  /// Of a new parameter with a value to begin with: its sizes, and its elements in order, or one for all of them.
  std::vector<int64_t> shape = {};
  std::vector<double> initial = {};
  /// Or `factor` times the elements of this parameter, plus `offset`, repeated along the first dimension.
  std::string of = "";
  double factor = 1.0, offset = 0.0;
  /// Or independent normal numbers of this standard deviation: the function does not depend on them.
  double deviation = 0.0;
};

/// One conversion of one stack of blocks; `from` and `to` are placements, or say how many streams there are.
struct Conversion {
  std::string function, from, to;
  RewriteClass rewriteClass;
  SmallVector<ParameterChange> parameters;
};

/// The module attribute that keeps the conversions, in the order they were done, until a tool writes them.
constexpr StringLiteral kManifestAttribute = "resid.manifest";

/// Appends to the module's manifest.
void recordConversion(ModuleOp module, const Conversion &conversion);

/// Writes the manifest as JSON: an object for one conversion, an array of objects for none or several.
void printManifest(ModuleOp module, raw_ostream &stream);

} // namespace mlir::resid

#endif // RESID_PASSES_PLACEMENT_MANIFEST_H
