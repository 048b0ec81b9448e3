// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The indentation of programs. Nothing but white space at the ends of lines is changed, so comments stay as they are.

#ifndef RESID_TOOLS_EDITOR_FORMATTING_H
#define RESID_TOOLS_EDITOR_FORMATTING_H

#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/JSON.h"
#include <optional>

namespace mlir::resid::editor {

/// The edits that indent `text`, as of the protocol: ops by two columns per region around them, lines that continue an
/// op as far after its first line as they were. Nothing for a text that does not parse, since where ops begin is what
/// the parser says.
std::optional<llvm::json::Array> format(llvm::StringRef text, const DialectRegistry &registry);

} // namespace mlir::resid::editor

#endif // RESID_TOOLS_EDITOR_FORMATTING_H
