// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the compiler in memory, for the Python package. Knows nothing of Python (Module.cpp).

#ifndef RESID_PYTHON_COMPILE_H
#define RESID_PYTHON_COMPILE_H

#include "llvm/ADT/ArrayRef.h"
#include <map>
#include <string>
#include <vector>

namespace mlir::resid::python {

struct Outcome {
  /// As residc ends: 0 where all went well.
  int code = 0;
  /// What residc prints.
  std::string messages;
  /// What it would write, by the paths in the flags. An object comes as a shared library.
  std::map<std::string, std::string> files;
  /// Of code: its functions (describeFunctions in Compile.cpp), and the report as text.
  std::string functions, report;
};

/// Compiles the program `text`, which messages call `name`, with the flags of residc (none of which reads the program).
/// One call at a time does its work; others wait.
Outcome compileInMemory(const std::string &text, const std::string &name, const std::vector<std::string> &flags);

/// Whence the integers of weights come: as arguments, or from @F_prepare, which also puts them into panels. Or what
/// whoever makes them wants to see.
enum class QuantizeMode { Given, Prepared, Observe };

/// What is asked of resid-quantize-linear, in its options.
struct Quantization {
  std::string scheme;
  std::vector<std::string> keep, factors;
  bool keepHeads = true;
  QuantizeMode mode = QuantizeMode::Given;
};

/// Runs resid-quantize-linear on a program, after its calls are inlined. `files` has the program as `program.mlir`, and
/// what the pass recorded, if it did, as JSON in `record.json`. To be observed, a program is first expanded, and loses
/// its dropout.
Outcome quantizeInMemory(const std::string &text, const std::string &name, const Quantization &quantization);

/// What a placement asks of who writes a model.
struct PlacementFacts {
  std::string name;
  /// How many norms a sub-layer has.
  size_t norms;
  bool wantsFinalNorm;
};
std::vector<PlacementFacts> listPlacements();

/// resid's version and LLVM's; and what code for this processor depends on.
std::string getVersions();
std::string describeProcessor();

} // namespace mlir::resid::python

#endif // RESID_PYTHON_COMPILE_H
