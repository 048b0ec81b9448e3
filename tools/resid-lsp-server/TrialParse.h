// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which documents MLIR's parsers fall over: some of them do after they have refused one. Found out in a process of its
// own, which may fall where the server may not. Does not own what is done about such a document (CheckedInput.h).

#ifndef RESID_TOOLS_RESID_LSP_SERVER_TRIALPARSE_H
#define RESID_TOOLS_RESID_LSP_SERVER_TRIALPARSE_H

#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/JSON.h"

namespace mlir::resid::tools {

/// An error as a diagnostic of the protocol, which counts from 0; `line` and `column` count from 1.
llvm::json::Object makeMistake(unsigned line, unsigned column, llvm::StringRef message);

/// Parses `text` as the server does, in a child process. Empty where that comes to its end; else what the parser had
/// refused before it fell, as an array of makeMistake().
llvm::json::Array findFall(llvm::StringRef text, const DialectRegistry &registry);

} // namespace mlir::resid::tools

#endif // RESID_TOOLS_RESID_LSP_SERVER_TRIALPARSE_H
