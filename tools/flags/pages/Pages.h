// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files that are written from the tables of flags when resid is built: man pages, and what shells complete. Does not
// own where they are installed (cmake/ResidInstall.cmake).

#ifndef RESID_TOOLS_FLAGS_PAGES_PAGES_H
#define RESID_TOOLS_FLAGS_PAGES_PAGES_H

#include "tools/flags/Tool.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::resid::tools {

/// A flag as a reader sees it: those without a help text are other spellings of one that has a text.
struct DescribedFlag {
  /// As it is typed, with '=' where a value follows it: "--emit=", "--werror", "-o".
  llvm::StringRef spelling;
  /// Empty for a switch.
  llvm::StringRef valueName;
  /// In lines.
  llvm::StringRef help;
  llvm::StringRef group;
  std::vector<std::string> values;
  /// --name VALUE is the same as --name=VALUE, or -nameVALUE as -name VALUE.
  bool mayStandApart = false;
  bool isRepeatable = false;

  llvm::StringRef getName() const { return spelling.rtrim('='); }
  bool takesFile() const { return valueName == "FILE" || valueName == "PROGRAM" || valueName == "ARRAY"; }
  bool takesFolder() const { return valueName == "DIR"; }
  /// The help text in one line.
  std::string getText() const;
};

/// In the order of the table.
std::vector<DescribedFlag> describeFlags(const ToolDescription &tool);

void writeManPage(const ToolDescription &tool, llvm::raw_ostream &stream);
void writeBashCompletion(const ToolDescription &tool, llvm::raw_ostream &stream);
void writeZshCompletion(const ToolDescription &tool, llvm::raw_ostream &stream);
void writeFishCompletion(const ToolDescription &tool, llvm::raw_ostream &stream);

} // namespace mlir::resid::tools

#endif // RESID_TOOLS_FLAGS_PAGES_PAGES_H
