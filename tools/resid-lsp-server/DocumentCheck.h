// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is found in a document of an editor before the language server reads it: text that would end the parser, and the
// warnings of resid-check-stream.

#ifndef RESID_TOOLS_RESID_LSP_SERVER_DOCUMENTCHECK_H
#define RESID_TOOLS_RESID_LSP_SERVER_DOCUMENTCHECK_H

#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/LSP/Protocol.h"

namespace mlir::resid::editor {

struct DocumentCheck {
  bool mayBeRead = false;
  /// Diagnostics of the protocol: why the server may not read the text, or else warnings. Mistakes in a text that it
  /// may read are the server's to find.
  llvm::json::Array diagnostics;
};

/// Parses and checks in a child process, in which a parser or a check may crash. `uri` names the document.
DocumentCheck checkDocument(llvm::StringRef text, const llvm::lsp::URIForFile &uri, const DialectRegistry &registry);

} // namespace mlir::resid::editor

#endif // RESID_TOOLS_RESID_LSP_SERVER_DOCUMENTCHECK_H
