// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How wide text is, and how it breaks into lines: at spaces only.

#ifndef RESID_DIAGRAM_TEXTFIT_H
#define RESID_DIAGRAM_TEXTFIT_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace mlir::resid::diagram {

/// How many pixels wide one line of text is at most, in the fonts of a reader; `style` is a class of the style sheet.
int getTextWidth(llvm::StringRef text, llvm::StringRef style);

struct FittedText {
  /// At least one.
  std::vector<std::string> lines;
  /// Whether some of the text is missing; an ellipsis stands for it.
  bool isCut = false;
};

/// `text` in at most `lines` lines that are not wider than `width`. A word that is wider than a line ends in an
/// ellipsis, and so does the last line where there are more words.
FittedText fitText(llvm::StringRef text, llvm::StringRef style, int width, unsigned lines);

} // namespace mlir::resid::diagram

#endif // RESID_DIAGRAM_TEXTFIT_H
