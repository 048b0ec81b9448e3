// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libFuzzer target: what parses and verifies goes on through the stages from resid to resid. A refusal is an answer; a
// crash, or a module that no longer verifies, is not. `make fuzz-parser`; docs/fuzz.md.

#include "codegen/Pipelines.h"
#include "test/fuzz/FuzzContext.h"
#include <cstdlib>

using namespace mlir::resid;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  fuzz::withModule(text, [&](mlir::ModuleOp module) {
    CompileOptions options;
    // Both modes, by something that mutations change.
    options.mode = size % 2 ? ProgramMode::Training : ProgramMode::Inference;
    if (checkProgram(module, options) == CompileFailure::Internal ||
        runResidStages(module, options) == CompileFailure::Internal)
      abort();
  });
  return 0;
}
