// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the flags of residc mean. Compiles nothing; the table of flags is tools/flags/residc.td.

#ifndef RESID_TOOLS_RESIDC_OPTIONS_H
#define RESID_TOOLS_RESIDC_OPTIONS_H

#include "codegen/cpu/choice/Schedule.h"
#include "codegen/cuda/Target.h"
#include "passes/Passes.h"
#include "tools/residc/EmitKinds.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mlir::resid::tools {

struct ResidcOptions {
  /// Where `input` stands on the command line.
  unsigned inputIndex = 0;
  std::string input, output, header, depfile, dumpStages, manifest;
  /// `mcpu` may be "help": all names are listed then, and nothing else is done.
  std::string triple, mcpu = "native", prefix;
  /// The GPUs that kernels are compiled for; empty: the CPU.
  cuda::Chips gpus;
  /// What the main output is.
  EmitKind emit = getEmitKinds().front();
  /// The norm placement to convert to and how; none where `to` is empty.
  ConvertNormPlacementOptions conversion;
  /// The residual streams to convert to; none where `hasStreams` is not set.
  WidenStreamOptions widening;
  bool hasStreams = false;
  /// The function to differentiate and how; none where `function` is empty.
  GradOptions gradients;
  cpu::Schedule schedule;
  /// Where the schedules of the CPUs stand instead; empty where they do not.
  std::string scheduleFile;
  /// Where the report goes as JSON; as text to standard error if empty.
  std::string reportFile;
  bool report = false;
  RaiseLevel raise = RaiseLevel::Exact;
  ProgramMode mode = ProgramMode::Training;
  bool weightsStruct = false, packWeights = false, time = false, warningsAreErrors = false;
  /// Whether to say version and target first. Without an input that is all there is to do.
  bool verbose = false;
  bool help = false, version = false;
};

/// Parses the command line without the program's name. An error is a message for exit 2, or for exit 4 where what was
/// asked for is known but not available (std::errc::not_supported).
llvm::Expected<ResidcOptions> parseResidcOptions(llvm::ArrayRef<const char *> arguments);

} // namespace mlir::resid::tools

#endif // RESID_TOOLS_RESIDC_OPTIONS_H
