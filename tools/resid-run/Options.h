// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the flags of resid-run mean, and errors that carry an exit code. Runs nothing; the table of flags is
// tools/flags/resid-run.td.

#ifndef RESID_TOOLS_RESID_RUN_OPTIONS_H
#define RESID_TOOLS_RESID_RUN_OPTIONS_H

#include "passes/Passes.h"
#include "tools/common/InternalError.h"
#include "tools/common/ScheduleFlag.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace mlir::resid::run {

/// An error that ends the tool with `code`. An empty message: a diagnostic has been printed.
class RunError : public llvm::ErrorInfo<RunError> {
public:
  static char ID;
  RunError(tools::ExitCode code, std::string message) : code(code), message(std::move(message)) {}
  void log(llvm::raw_ostream &os) const override { os << message; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

  const tools::ExitCode code;
  const std::string message;
};

llvm::Error makeError(tools::ExitCode code, const llvm::Twine &message);

/// Reports `error` for `tool` and gives its exit code. A mistake in resid is reported by `run`, if there is one.
int reportError(llvm::StringRef tool, llvm::Error error, const tools::ToolRun *run);

/// An open size of arguments that are made; without a name, any that none is given for.
struct SizeOption {
  std::string name;
  int64_t size = 0;
};

struct Options {
  /// Where `input` stands on the command line.
  unsigned inputIndex = 0;
  /// `mcpu` may be "help": all names are listed then, and nothing else is done.
  std::string input, entry, mcpu = "native";
  std::vector<std::string> arguments, outputs;
  /// What of the program becomes ops of resid before it is compiled. The evaluator runs it as it is written.
  RaiseLevel raise = RaiseLevel::Exact;
  /// Whether products on GPUs may have the roundings of matrix units; never on CPUs.
  bool relaxesProducts = false;
  /// How row kernels run.
  tools::ScheduleFlag schedule;
  std::vector<SizeOption> sizes;
  /// The file of weights; empty where all arguments are given one by one. And what stands in front of names there.
  std::string weights, weightsPrefix;
  enum { CPU, CUDA, Reference } backend = CPU;
  enum { NoCheck, CheckExactType, CheckWide } check = NoCheck;
  /// Absent: a default that depends on the program's types.
  std::optional<double> rtol, atol;
  /// 0: run once, without timing.
  unsigned repeat = 0;
  /// 0: as many as there are processors.
  unsigned threads = 1;
  /// Elements between the rows of arrays that are resid.strided.
  unsigned rowPadding = 0;
  /// Whether results lie in arguments where they may.
  bool inPlace = false;
  /// Whether to say version and target first. Without an input that is all there is to do.
  bool verbose = false;
  bool help = false, version = false;
};

llvm::Expected<Options> parseOptions(llvm::ArrayRef<const char *> arguments);

} // namespace mlir::resid::run

#endif
