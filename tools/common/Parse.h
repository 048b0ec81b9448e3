// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From text to a verified module: the checks before parsing that keep bad input from harming the parser, and the
// argument names of the source, which become names in C.

#ifndef RESID_TOOLS_COMMON_PARSE_H
#define RESID_TOOLS_COMMON_PARSE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include <memory>

namespace mlir::resid::tools {

/// Brackets may nest this deep; the upstream parser recurses and would overflow its stack on hostile input.
constexpr unsigned maxNesting = 256;

/// The stack that tools parse and compile on: what still recurses in the upstream parser (chains of aliases) fits.
constexpr unsigned stackBytes = 256 << 20;

/// Reports what must not reach the parser: zero bytes, brackets or signs that nest deeper than maxNesting, and elided
/// weights, which would parse to a program that means nothing.
LogicalResult checkText(llvm::SourceMgr &sourceManager, MLIRContext &context);

/// Parses and verifies `buffer`, which `sourceManager` takes over. Arguments of functions without the attribute
/// `resid.name` get the name they have in the text. Null after an error was reported (`file:line:col: error: …`).
OwningOpRef<ModuleOp> parseModule(std::unique_ptr<llvm::MemoryBuffer> buffer, llvm::SourceMgr &sourceManager,
                                  MLIRContext &context);

} // namespace mlir::resid::tools

#endif // RESID_TOOLS_COMMON_PARSE_H
