// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The module resid._compiler. It has LLVM and MLIR in itself, and exports nothing but its own beginning.

#include "Compile.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace mlir::resid;

/// (code, messages, files, functions, report); see Compile.h.
static nb::tuple compile(const std::string &text, const std::string &name, const std::vector<std::string> &flags) {
  python::Outcome outcome;
  {
    nb::gil_scoped_release release;
    outcome = python::compileInMemory(text, name, flags);
  }
  nb::dict files;
  for (const auto &[path, contents] : outcome.files)
    files[nb::str(path.c_str())] = nb::bytes(contents.data(), contents.size());
  return nb::make_tuple(outcome.code, nb::bytes(outcome.messages.data(), outcome.messages.size()), files,
                        outcome.functions, outcome.report);
}

NB_MODULE(_compiler, module) {
  module.doc() = "The compiler of resid, in memory.";
  nb::dict placements;
  for (const auto &[name, norms, wantsFinalNorm] : python::listPlacements())
    placements[name.c_str()] = nb::make_tuple(norms, wantsFinalNorm);
  module.attr("PLACEMENTS") = placements;
  module.def("compile", &compile, nb::arg("text"), nb::arg("name"), nb::arg("flags"),
             "(code, messages, files, functions, report) of a program, with the flags of residc.");
  module.def("versions", &python::getVersions, "resid's version and LLVM's.");
  module.def("processor", &python::describeProcessor, "What code for this processor depends on.");
}
