// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference pages of the ops of resid, as the language server shows them. The text is that of the definitions.

#ifndef RESID_TOOLS_RESID_LSP_SERVER_OPPAGES_H
#define RESID_TOOLS_RESID_LSP_SERVER_OPPAGES_H

#include "llvm/ADT/ArrayRef.h"
#include <string>

namespace mlir::resid::editor {

struct OpPage {
  /// With the dialect's name.
  std::string name;
  std::string summary;
  /// In Markdown: syntax, formula, operands and results, constraints, example.
  std::string text;
  /// The first use of the op in the example, from its name on.
  std::string use;
};

/// All ops, in the order of the reference.
llvm::ArrayRef<OpPage> getOpPages();

} // namespace mlir::resid::editor

#endif // RESID_TOOLS_RESID_LSP_SERVER_OPPAGES_H
