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

/// Brackets may nest this deep, and signs stand in front of each other; the upstream parser recurses and would overflow
/// its stack on hostile input.
constexpr unsigned maxNesting = 256;

/// Values may nest this deep by operators (`a + b + c` nests twice) and by aliases that stand for values with aliases:
/// what walks over a value recurses as well, and some of it takes time by the square.
constexpr unsigned maxHeight = 4096;

/// The stack that tools parse and compile on.
constexpr unsigned stackBytes = 256 << 20;

/// Reports what would harm the parser: zero bytes, nesting beyond the limits, and aliases that stand for too much.
LogicalResult checkParsable(llvm::SourceMgr &sourceManager, MLIRContext &context);

/// Reports that, and elided weights, which would parse to a program that means nothing.
LogicalResult checkText(llvm::SourceMgr &sourceManager, MLIRContext &context);

/// Reports what no program can mean although it verifies: constants whose values are missing or of another size than
/// their type, sizes that contradict the type they are given for, arguments of one name, and modules in modules.
LogicalResult checkModule(ModuleOp module);

/// Where `place`, of the main buffer, stands.
Location getTextLocation(llvm::SourceMgr &sourceManager, const char *place, MLIRContext &context);

/// Parses, verifies and checks `buffer`, which `sourceManager` takes over. Arguments of functions without the attribute
/// `resid.name` get the name they have in the text. Quantised results of ops are expanded. Null after an error was
/// reported (`file:line:col: error: …`).
OwningOpRef<ModuleOp> parseModule(std::unique_ptr<llvm::MemoryBuffer> buffer, llvm::SourceMgr &sourceManager,
                                  MLIRContext &context);

/// Whether a call of parseModule is under way that has reported an error. Some of the upstream parsers fall over what
/// they have just refused; the error is the answer then.
bool hasParserRefused();

} // namespace mlir::resid::tools

#endif // RESID_TOOLS_COMMON_PARSE_H
