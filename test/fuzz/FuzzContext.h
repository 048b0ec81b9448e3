// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the fuzz targets share: a context that is used again and again, and the way from bytes to a verified module that
// the tools go. Does not own what is done with the module.

#ifndef RESID_TEST_FUZZ_FUZZCONTEXT_H
#define RESID_TEST_FUZZ_FUZZCONTEXT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::resid::fuzz {

/// Parses and verifies `text` as the tools do, prints every diagnostic into a string, and hands a module that is right
/// to `use`.
void withModule(llvm::StringRef text, llvm::function_ref<void(ModuleOp)> use);

} // namespace mlir::resid::fuzz

#endif // RESID_TEST_FUZZ_FUZZCONTEXT_H
