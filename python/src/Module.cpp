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
template <typename Work> static nb::tuple run(Work work) {
  python::Outcome outcome;
  {
    nb::gil_scoped_release release;
    outcome = work();
  }
  nb::dict files;
  for (const auto &[path, contents] : outcome.files)
    files[nb::str(path.c_str())] = nb::bytes(contents.data(), contents.size());
  return nb::make_tuple(outcome.code, nb::bytes(outcome.messages.data(), outcome.messages.size()), files,
                        outcome.functions, outcome.report);
}

static nb::tuple compile(const std::string &text, const std::string &name, const std::vector<std::string> &flags) {
  return run([&] { return python::compileInMemory(text, name, flags); });
}

static nb::tuple quantize(const std::string &text, const std::string &name, const std::string &scheme,
                          const std::vector<std::string> &keep, const std::vector<std::string> &factors, bool keepHeads,
                          python::QuantizeMode mode) {
  return run([&] { return python::quantizeInMemory(text, name, {scheme, keep, factors, keepHeads, mode}); });
}

NB_MODULE(_compiler, module) {
  module.doc() = "The compiler of resid, in memory.";
  nb::dict placements;
  for (const auto &[name, norms, wantsFinalNorm] : python::listPlacements())
    placements[name.c_str()] = nb::make_tuple(norms, wantsFinalNorm);
  module.attr("PLACEMENTS") = placements;
  module.def("compile", &compile, nb::arg("text"), nb::arg("name"), nb::arg("flags"),
             "(code, messages, files, functions, report) of a program, with the flags of residc.");
  nb::enum_<python::QuantizeMode>(module, "QuantizeMode")
      .value("GIVEN", python::QuantizeMode::Given)
      .value("PREPARED", python::QuantizeMode::Prepared)
      .value("OBSERVE", python::QuantizeMode::Observe);
  module.def("quantize", &quantize, nb::arg("text"), nb::arg("name"), nb::arg("scheme"), nb::arg("keep"),
             nb::arg("factors"), nb::arg("keep_heads"), nb::arg("mode"),
             "The same of a program whose linear layers get integers.");
  module.def("versions", &python::getVersions, "resid's version and LLVM's.");
  module.def("processor", &python::describeProcessor, "What code for this processor depends on.");
}
