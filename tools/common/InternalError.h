// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a tool says and keeps when it cannot go on: out of memory, and mistakes in resid itself, whether they show as a
// failed stage, as a fatal error of LLVM or as a signal. Does not own which of a program's failures is whose mistake.

#ifndef RESID_TOOLS_COMMON_INTERNALERROR_H
#define RESID_TOOLS_COMMON_INTERNALERROR_H

#include "tools/common/ExitCodes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace mlir::resid::tools {

/// The first call of a tool's main. From here on a failed allocation ends the process with exit code 5. A run whose
/// words the standard output or standard error cannot take ends with exit code 3, even if all else was done. And a file
/// that the tool opens is never mistaken for a standard stream that the caller closed.
void startTool(const char *name);

/// While it lives, the message about a failed allocation ends in `text`, which is kept as a pointer: what the memory
/// was for. One lives at a time.
class MemoryNote {
public:
  explicit MemoryNote(const char *text);
  ~MemoryNote();
  MemoryNote(const MemoryNote &) = delete;
  MemoryNote &operator=(const MemoryNote &) = delete;
};

/// One run of a tool on a program: what a reproducer needs. One exists at a time. All that it may have to write is made
/// ready beforehand, because the handler of a signal may not allocate.
class ToolRun {
public:
  /// `input` is the place among `arguments` (without the tool's name) of the program's path; nothing where the program
  /// comes from standard input without being named.
  ToolRun(llvm::StringRef tool, llvm::ArrayRef<const char *> arguments, std::optional<unsigned> input);
  ~ToolRun();
  ToolRun(const ToolRun &) = delete;
  ToolRun &operator=(const ToolRun &) = delete;

  /// The text, or bytecode, that the tool works on from here on; a copy is kept.
  void setProgram(llvm::StringRef text);

  /// Said beside the failures that are reported from here on; null: nothing. Kept as a pointer.
  void setHint(const char *text) { hint = text; }

  /// Runs `work` on a thread with a stack of stackBytes (Parse.h) and returns its exit code. A fault, an abort, a stack
  /// that is full or a fatal error of LLVM ends the process by report().
  int guard(llvm::function_ref<int()> work);

  /// Says on standard error that resid failed for `reason`, and the line that shows it again, with the program in a new
  /// file of the working folder: in place of an input that may be gone or change. Allocates nothing.
  ExitCode report(const char *reason) const;

private:
  friend struct Faults;

  bool writeProgram(int descriptor) const;
  bool holdsProgram(const char *path) const;
  int keepProgram() const;
  void printCommand(const char *path) const;

  std::string tool;
  /// Quoted for a shell.
  std::vector<std::string> arguments;
  std::optional<unsigned> input;
  /// Empty before setProgram(). Text ends in a comment with the command.
  std::string program;
  /// Names to try in turn; a file that is there is never overwritten.
  std::vector<std::string> paths;
  const char *hint = nullptr;
  /// The stack of guard()'s thread from its lowest address up to where it is in use at the latest.
  const char *stackLow = nullptr, *stackGuardEnd = nullptr;
};

} // namespace mlir::resid::tools

#endif // RESID_TOOLS_COMMON_INTERNALERROR_H
