// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is found in a document of an editor before the language server reads it: text that would end the parser, and the
// warnings of resid-check-stream.

#ifndef RESID_TOOLS_EDITOR_DOCUMENTCHECK_H
#define RESID_TOOLS_EDITOR_DOCUMENTCHECK_H

#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/JSON.h"

namespace mlir::resid::editor {

/// Diagnostics of the protocol.
struct DocumentCheck {
  /// Why the server may not read the text; empty where it may. Other mistakes are the server's to find.
  llvm::json::Array refusals;
  /// Empty for text with mistakes.
  llvm::json::Array warnings;
};

/// Parses and checks in a child process, in which a parser or a check may crash. `uri` names the document.
DocumentCheck checkDocument(llvm::StringRef text, llvm::StringRef uri, const DialectRegistry &registry);

} // namespace mlir::resid::editor

#endif // RESID_TOOLS_EDITOR_DOCUMENTCHECK_H
