// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known of each tool's command line: its table of flags, made from a .td file, and the texts around it. Help
// texts, man pages and completion are all written from these descriptions. Parses nothing.

#ifndef RESID_TOOLS_FLAGS_TOOL_H
#define RESID_TOOLS_FLAGS_TOOL_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Option/OptTable.h"
#include <string>
#include <vector>

namespace mlir::resid::tools {

/// Flags of options beside LLVM's own; Shared.td says what they mean.
enum FlagKind : unsigned { Repeatable = 1 << 4, MayBeEmpty = 1 << 5 };

struct ToolDescription {
  const char *name;
  /// One line without the tool's name.
  const char *overview;
  const char *usage;
  /// What a reader has to know before the flags. May be empty.
  const char *details;
  /// Lines of commands.
  const char *examples;
  const char *exitCodes;
  const llvm::opt::OptTable *flags;

  void printHelp(llvm::raw_ostream &stream) const;
  void printVersion(llvm::raw_ostream &stream) const;
  /// Prints to standard output which of the two is asked for; whether one was.
  bool printAsked(bool help, bool version) const;
};

/// The tables, and the numbers of their flags: OPT_ and the name of the record.
#define OPTION(...) LLVM_MAKE_OPT_ID(__VA_ARGS__),
namespace residc {
enum FlagID : unsigned {
  OPT_INVALID = 0,
#include "tools/flags/residc.inc"
};
extern const ToolDescription tool;
} // namespace residc

namespace resid_run {
enum FlagID : unsigned {
  OPT_INVALID = 0,
#include "tools/flags/resid-run.inc"
};
extern const ToolDescription tool;
} // namespace resid_run

namespace resid_tune {
enum FlagID : unsigned {
  OPT_INVALID = 0,
#include "tools/flags/resid-tune.inc"
};
extern const ToolDescription tool;
} // namespace resid_tune

namespace resid_reduce {
enum FlagID : unsigned {
  OPT_INVALID = 0,
#include "tools/flags/resid-reduce.inc"
};
extern const ToolDescription tool;
} // namespace resid_reduce

namespace resid_lsp_server {
enum FlagID : unsigned {
  OPT_INVALID = 0,
#include "tools/flags/resid-lsp-server.inc"
};
extern const ToolDescription tool;
} // namespace resid_lsp_server

/// For pages and completion only: LLVM's cl::opt parses these.
namespace resid_opt {
enum FlagID : unsigned {
  OPT_INVALID = 0,
#include "tools/flags/resid-opt.inc"
};
extern const ToolDescription tool;
} // namespace resid_opt
#undef OPTION

} // namespace mlir::resid::tools

#endif // RESID_TOOLS_FLAGS_TOOL_H
