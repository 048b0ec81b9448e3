// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Breaks text into lines of a number of characters. Counts characters of UTF-8, not bytes.

#ifndef RESID_DIAGRAM_TEXTFIT_H
#define RESID_DIAGRAM_TEXTFIT_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace mlir::resid::diagram {

struct FittedText {
  /// At least one.
  std::vector<std::string> lines;
  /// Whether some of the text is missing; an ellipsis stands for it.
  bool isCut = false;
};

/// `text` in at most `lines` lines of at most `length` characters, broken at spaces where there are any.
FittedText fitText(llvm::StringRef text, unsigned length, unsigned lines);

} // namespace mlir::resid::diagram

#endif // RESID_DIAGRAM_TEXTFIT_H
