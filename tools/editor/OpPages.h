// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference pages of the ops of resid, as the language server shows them. The text is that of the definitions.

#ifndef RESID_TOOLS_EDITOR_OPPAGES_H
#define RESID_TOOLS_EDITOR_OPPAGES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace mlir::resid::editor {

struct OpAttribute {
  /// `type` is the class of MLIR, `::mlir::FloatAttr` say.
  std::string name, type, description;
};

struct OpPage {
  /// Without the dialect's name.
  std::string name;
  std::string summary;
  /// In Markdown: syntax, formula, operands and results, constraints, example.
  std::string text;
  std::vector<OpAttribute> attributes;
};

/// All ops, in the order of the reference.
llvm::ArrayRef<OpPage> getOpPages();

/// Null for names that no op of resid has; `name` begins with `resid.`.
const OpPage *findOpPage(llvm::StringRef name);

} // namespace mlir::resid::editor

#endif // RESID_TOOLS_EDITOR_OPPAGES_H
