// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places in a text as the language server protocol counts them: lines from 0, columns in units of UTF-16.

#ifndef RESID_TOOLS_EDITOR_POSITIONS_H
#define RESID_TOOLS_EDITOR_POSITIONS_H

#include "llvm/Support/JSON.h"
#include <optional>

namespace mlir::resid::editor {

/// How many units of UTF-16 a text has that is written in UTF-8.
unsigned getUTF16Length(llvm::StringRef text);

/// The byte of `text` at a position of the protocol; the end of the line where it is shorter, nothing where there is no
/// such line or where `position` is no position.
std::optional<size_t> findByte(llvm::StringRef text, const llvm::json::Object *position);

/// A range within one line, from one byte of it to another.
llvm::json::Object makeRange(unsigned line, llvm::StringRef lineText, size_t begin, size_t end);

/// Whether a character may stand in the name of an op.
bool isNameCharacter(char character);

} // namespace mlir::resid::editor

#endif // RESID_TOOLS_EDITOR_POSITIONS_H
