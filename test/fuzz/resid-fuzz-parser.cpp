// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libFuzzer target: any bytes are a module or an error, never a crash. Goes the way of the tools: the checks before
// parsing, the parser, the verifiers, and the printer. `make fuzz-parser`; docs/fuzz.md.

#include "test/fuzz/FuzzContext.h"
#include "llvm/Support/raw_ostream.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  mlir::resid::fuzz::withModule(text, [](mlir::ModuleOp module) { module.print(llvm::nulls()); });
  return 0;
}
