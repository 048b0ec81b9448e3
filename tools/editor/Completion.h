// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What can stand at a place of a program, as far as resid knows more than MLIR: ops, their attributes, placements.

#ifndef RESID_TOOLS_EDITOR_COMPLETION_H
#define RESID_TOOLS_EDITOR_COMPLETION_H

#include "llvm/Support/JSON.h"

namespace mlir::resid::editor {

/// What is offered at `position` in `text`, in the order of the list; with `hasSnippets`, ops are whole lines with
/// places to fill in.
llvm::json::Array complete(llvm::StringRef text, const llvm::json::Object *position, bool hasSnippets);

/// Puts the items of `offered` in front of the items that a server for all of MLIR offers. Of the server's items it
/// removes duplicates, and those of dialects that users' programs do not have. `result` is null or a completion list.
void mergeCompletions(llvm::json::Value &result, llvm::json::Array offered);

} // namespace mlir::resid::editor

#endif // RESID_TOOLS_EDITOR_COMPLETION_H
