// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plug-in that gives the packaged mlir-opt, and other tools of MLIR 22 that load plug-ins, the dialects and the
// passes of resid. Exports its two entry points only; MLIR and LLVM are those of the tool.

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "tools/common/Registration.h"

extern "C" __attribute__((visibility("default"))) mlir::DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "resid", RESID_TOOL_VERSION,
          [](mlir::DialectRegistry *registry) { mlir::resid::tools::registerDialects(*registry); }};
}

extern "C" __attribute__((visibility("default"))) mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "resid", RESID_TOOL_VERSION, mlir::resid::tools::registerPasses};
}
