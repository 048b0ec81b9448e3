// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The warnings of resid-check-stream for a document of an editor.

#ifndef RESID_TOOLS_EDITOR_STREAMWARNINGS_H
#define RESID_TOOLS_EDITOR_STREAMWARNINGS_H

#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/JSON.h"

namespace mlir::resid::editor {

/// As diagnostics of the protocol; `uri` names the document in them. Empty for text with mistakes. Parses and checks in
/// a child process, in which a parser or a check may fall; then there are no warnings.
llvm::json::Array findStreamWarnings(llvm::StringRef text, llvm::StringRef uri, const DialectRegistry &registry);

} // namespace mlir::resid::editor

#endif // RESID_TOOLS_EDITOR_STREAMWARNINGS_H
