// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arguments of a tool, parsed by its table of flags. Owns the checks that a table can say, and their messages.
// Does not own what the values mean.

#ifndef RESID_TOOLS_FLAGS_COMMANDLINE_H
#define RESID_TOOLS_FLAGS_COMMANDLINE_H

#include "tools/flags/Tool.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Support/Error.h"
#include <optional>

namespace mlir::resid {
/// The case of this name; TableGen makes it for each enum.
template <typename Choice>
std::optional<Choice> symbolizeEnum(llvm::StringRef name);
} // namespace mlir::resid

namespace mlir::resid::tools {

/// A value of a flag that is known, but that this version cannot do.
struct UnavailableValue {
  unsigned flag;
  llvm::StringRef value;
};

class CommandLine {
public:
  /// `arguments` are those after the tool's name; they are kept. An error is a message for exit code 2, or for exit
  /// code 4 where it is of `unavailable` (std::errc::not_supported): flags that are not in the table, that lack a value
  /// or have one that the table does not list, and flags that are given twice.
  static llvm::Expected<CommandLine> parse(const ToolDescription &tool, llvm::ArrayRef<const char *> arguments,
                                           llvm::ArrayRef<UnavailableValue> unavailable = {});

  bool has(unsigned flag) const { return list.hasArg(flag); }
  /// Empty where the flag is not given.
  llvm::StringRef getValue(unsigned flag) const { return list.getLastArgValue(flag); }
  /// Sets `choice` to the case that the flag names, if it is given; its values in the table are the names of cases.
  template <typename Choice>
  void choose(unsigned flag, Choice &choice) const {
    if (has(flag))
      choice = *symbolizeEnum<Choice>(getValue(flag));
  }
  std::vector<std::string> getValues(unsigned flag) const { return list.getAllArgValues(flag); }

  struct Input {
    std::string path;
    /// Where it stands among the arguments.
    unsigned index = 0;
  };
  /// The one argument that is no flag, if there is one; two are an error.
  llvm::Expected<std::optional<Input>> getInput(unsigned inputID) const;

private:
  explicit CommandLine(llvm::opt::InputArgList list) : list(std::move(list)) {}

  llvm::opt::InputArgList list;
};

/// An error that stands for exit code 2, or for 4 where it is not_supported.
llvm::Error makeUsageError(const llvm::Twine &message);
llvm::Error makeUnavailableError(const llvm::Twine &message);

} // namespace mlir::resid::tools

#endif // RESID_TOOLS_FLAGS_COMMANDLINE_H
