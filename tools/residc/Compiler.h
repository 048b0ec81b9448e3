// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One run of residc, from options and a program to the files that come out. In memory: it reads no file but one of
// schedules, and writes none.

#ifndef RESID_TOOLS_RESIDC_COMPILER_H
#define RESID_TOOLS_RESIDC_COMPILER_H

#include "codegen/KernelReport.h"
#include "codegen/Pipelines.h"
#include "codegen/cpu/choice/ScheduleFile.h"
#include "tools/common/ExitCodes.h"
#include "tools/residc/Options.h"
#include "tools/residc/StageDump.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::resid::tools {

/// One run of the compiler, from options to the files to write.
class Compiler {
public:
  /// What is to be said goes to `messages`.
  Compiler(const ResidcOptions &options, TimingScope &timing, llvm::raw_ostream &messages)
      : options(options), timing(timing), messages(messages), stages(options.dumpStages) {}

  /// Compiles the program.
  ExitCode run(std::unique_ptr<llvm::MemoryBuffer> input);
  /// What came out, with the paths of the options, in the order in which files are to be written.
  llvm::ArrayRef<std::pair<std::string, std::string>> getFiles() const { return files; }
  /// What became of the program's row-wise ops, where the options ask for a report.
  const KernelReport &getReport() const { return kernels; }
  /// Of the functions, where the options ask for code.
  llvm::ArrayRef<boundary::KernelSignature> getSignatures() const { return compiled.signatures; }

private:
  ExitCode compile(ModuleOp module);
  ExitCode emitCode(ModuleOp module, CompileOptions compileOptions);
  ExitCode findTarget();
  ExitCode readScheduleFile();
  void takeManifest(ModuleOp module);
  ExitCode reportKernels(ModuleOp module, CompileOptions compileOptions);
  void takeReport();
  void takeDependencies();
  ExitCode report(const llvm::Twine &message, ExitCode code);
  ExitCode reportError(llvm::Error error);

  const ResidcOptions &options;
  TimingScope &timing;
  llvm::raw_ostream &messages;
  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> program;
  CompiledModule compiled;
  KernelReport kernels;
  /// Once it is needed.
  std::shared_ptr<const kernels::Target> target;
  std::optional<cpu::ScheduleFile> scheduleFile;
  bool hasReport() const { return options.report || !options.reportFile.empty(); }
  /// (path, contents), in the order they are written.
  std::vector<std::pair<std::string, std::string>> files;
  StageDump stages;
};

/// Says what is wrong as residc does, and gives the code.
ExitCode reportMistake(llvm::raw_ostream &messages, const llvm::Twine &message, ExitCode code);
/// The same for wrong flags, or what is known but not available.
ExitCode reportMistake(llvm::raw_ostream &messages, llvm::Error error);

} // namespace mlir::resid::tools

#endif // RESID_TOOLS_RESIDC_COMPILER_H
