// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-opt: runs single passes and pipelines on a file, with everything that users of mlir-opt know, and with the exit
// codes and the care for old outputs that all tools of resid share. MlirOptMain alone gives exit code 1 for wrong flags
// (here 2) and for files that cannot be read or written (3).

#include "codegen/PassDiagnostics.h"
#include "dialect/DropoutScheme.h"
#include "mlir/IR/Verifier.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "passes/Passes.h"
#include "tools/common/Diagnostics.h"
#include "tools/common/ExitCodes.h"
#include "tools/common/Files.h"
#include "tools/common/InternalError.h"
#include "tools/common/Parse.h"
#include "tools/common/Registration.h"
#include "tools/flags/Tool.h"
#include "tools/resid-opt/Flags.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/WithColor.h"
#include <atomic>
#include <thread>

using namespace mlir;
using namespace mlir::resid;

static llvm::cl::opt<std::string> inputFile(llvm::cl::Positional, llvm::cl::desc("<input file>"), llvm::cl::init("-"));
static llvm::cl::opt<std::string> outputFile("o", llvm::cl::desc("Output file"), llvm::cl::value_desc("file"),
                                             llvm::cl::init("-"));

static llvm::cl::opt<bool>
    keepArgumentNames("keep-argument-names",
                      llvm::cl::desc("Keep the names that arguments have in the file as the attribute resid.name, "
                                     "from which C headers and manifests have theirs"));

static int report(int code, const llvm::Twine &message) {
  llvm::errs() << "resid-opt: error: " << message << "\n";
  return code;
}

static void registerEverything(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerAllPasses();
  tools::registerPasses();
  tools::registerDialects(registry);
}

/// Whether the program parses and verifies; reports why not. MlirOptMain would print the whole line at fault, however
/// long, and takes no care of a parser that falls over what it has just refused. With --keep-argument-names, `input`
/// then has the names of arguments as attributes, and each operation at the place that it has in the file.
static bool checkProgram(std::unique_ptr<llvm::MemoryBuffer> &input, const MlirOptMainConfig &config,
                         const DialectRegistry &registry) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects(config.shouldAllowUnregisteredDialects());
  llvm::SourceMgr sourceManager;
  tools::DiagnosticPrinter printer(sourceManager, context);
  OwningOpRef<ModuleOp> module =
      tools::parseModule(llvm::MemoryBuffer::getMemBuffer(input->getMemBufferRef()), sourceManager, context);
  if (module && keepArgumentNames) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream, OpPrintingFlags().enableDebugInfo());
    // Under another name, so that diagnostics show lines of the file itself.
    input = llvm::MemoryBuffer::getMemBufferCopy(text, "<with argument names>");
  }
  return static_cast<bool>(module);
}

namespace {

/// Notices passes that leave behind what does not verify, which no program is to blame for.
class BrokenProgramWatch : public PassInstrumentation {
public:
  explicit BrokenProgramWatch(std::atomic<bool> &isBroken) : isBroken(isBroken) {}

  void runAfterPassFailed(Pass *, Operation *op) override {
    // What is wrong was said already, by the pass or by the verifier after it. Other threads may still speak.
    auto isHere = [self = std::this_thread::get_id()](Diagnostic &) {
      return success(std::this_thread::get_id() == self);
    };
    ScopedDiagnosticHandler quiet(op->getContext(), isHere);
    if (failed(verify(op)) && !resid::hasOriginOutOfRange(op))
      isBroken = true;
  }

private:
  std::atomic<bool> &isBroken;
};

} // namespace

/// `config` with a watch on every pass. Comments that expect upstream's messages find them as upstream gives them.
static MlirOptMainConfig watchPasses(const MlirOptMainConfig &config, std::atomic<bool> &isBroken) {
  MlirOptMainConfig watched = config;
  watched.setPassPipelineSetupFn([config, &isBroken](PassManager &manager) -> LogicalResult {
    // Without a pass, the program is printed as it was written.
    PassManager given(manager.getContext());
    if (failed(config.setupPassPipeline(given)))
      return failure();
    if (!given.empty())
      manager.addPass(createExpandQuantizedResults());
    if (failed(config.setupPassPipeline(manager)))
      return failure();
    manager.addInstrumentation(std::make_unique<BrokenProgramWatch>(isBroken));
    if (!config.shouldVerifyDiagnostics())
      manager.addInstrumentation(
          std::make_unique<PassDiagnostics>(manager.getContext(), /*upstreamMeans=*/"", inputFile));
    return success();
  });
  return watched;
}

/// Reads, runs, and writes only what is complete.
static int runOnFile(const MlirOptMainConfig &config, DialectRegistry &registry, tools::ToolRun &run) {
  MLIRContext probe(MLIRContext::Threading::DISABLED);
  PassManager pipeline(&probe);
  {
    ScopedDiagnosticHandler handler(&probe, [](Diagnostic &diagnostic) {
      std::string text = diagnostic.str();
      StringRef said = StringRef(text).trim();
      // What upstream has said already, and says again without words.
      if (said.consume_front("<Pass-Options-Parser>: "); !said.empty())
        report(tools::ExitUsage, said);
    });
    if (failed(config.setupPassPipeline(pipeline)))
      return report(tools::ExitUsage, "expected passes with options that they take; resid-opt --help lists them");
  }
  if (llvm::Error error = tools::checkOutputs(inputFile, {outputFile}))
    return report(tools::ExitUsage, llvm::toString(std::move(error)));
  if (keepArgumentNames && !config.inputSplitMarker().empty())
    return report(tools::ExitUsage, "expected one program with --keep-argument-names, but got --split-input-file");
  // MlirOptMain would call it a mistake in the program.
  if (!config.getIrdlFile().empty())
    if (auto irdl = tools::readInput(config.getIrdlFile()); !irdl)
      return report(tools::ExitFile, llvm::toString(irdl.takeError()));
  auto input = tools::readProgram(inputFile);
  if (!input)
    return report(tools::ExitFile, llvm::toString(input.takeError()));

  run.setProgram((*input)->getBuffer());
  llvm::SourceMgr sourceManager;
  sourceManager.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBuffer((*input)->getBuffer(), (*input)->getBufferIdentifier()), llvm::SMLoc());
  {
    tools::DiagnosticPrinter printer(sourceManager, probe);
    bool bytecode = (*input)->getBuffer().starts_with("ML\xefR");
    if (!bytecode && failed(tools::checkText(sourceManager, probe)))
      return tools::ExitProgram;
  }
  bool isWhole = config.inputSplitMarker().empty() && !config.shouldVerifyDiagnostics() &&
                 config.shouldVerifyOnParsing() && config.getIrdlFile().empty();
  if ((isWhole || keepArgumentNames) && !checkProgram(*input, config, registry))
    return tools::ExitProgram;
  std::string output;
  llvm::raw_string_ostream stream(output);
  std::atomic<bool> isBroken = false;
  if (failed(MlirOptMain(stream, std::move(*input), registry, watchPasses(config, isBroken))))
    return isBroken ? run.report("a pass left a program that does not verify") : tools::ExitProgram;
  if (llvm::Error error = tools::writeOutput(outputFile, output))
    return report(tools::ExitFile, llvm::toString(std::move(error)));
  return tools::ExitDone;
}

/// The command line, with the op left out of messages unless it is asked for: they name its place.
static SmallVector<const char *> addDefaults(ArrayRef<const char *> arguments) {
  SmallVector<const char *> all(arguments);
  StringRef name = "mlir-print-op-on-diagnostic";
  auto isGiven = [&](StringRef argument) { return argument.ltrim('-').split('=').first == name; };
  if (llvm::none_of(arguments.drop_front(), isGiven))
    all.insert(all.begin() + 1, "--mlir-print-op-on-diagnostic=false");
  return all;
}

/// Upstream ignores a plug-in that is missing, and ends without an exit code where dialects and passes come twice.
static int checkPlugins(ArrayRef<const char *> arguments) {
  for (StringRef argument : arguments) {
    auto [flag, file] = argument.ltrim('-').split('=');
    if (flag != "load-pass-plugin" && flag != "load-dialect-plugin")
      continue;
    if (llvm::sys::path::filename(file).starts_with("resid-plugin"))
      return report(tools::ExitUsage, "expected another plug-in: that of resid is built in, but got '" + file + "'");
    if (auto library = tools::readInput(file); !library)
      return report(tools::ExitFile, llvm::toString(library.takeError()));
  }
  return tools::ExitDone;
}

int main(int argc, char **argv) {
  tools::startTool("resid-opt");
  if (int code = checkPlugins(ArrayRef<const char *>(argv, argc)))
    return code;
  DialectRegistry registry;
  registerEverything(registry);
  std::string overview = registerCLIOptions(tools::resid_opt::tool.overview, registry);
  llvm::cl::SetVersionPrinter([](llvm::raw_ostream &stream) { tools::resid_opt::tool.printVersion(stream); });
  ArrayRef<const char *> arguments = ArrayRef<const char *>(argv, argc).drop_front();
  if (tools::asksForHelp(arguments)) {
    tools::printOptHelp();
    return tools::ExitDone;
  }
  if (std::string wrong = tools::describeWrongValues(arguments); !wrong.empty())
    return report(tools::ExitUsage, wrong);
  std::string message;
  llvm::raw_string_ostream stream(message);
  SmallVector<const char *> all = addDefaults(ArrayRef<const char *>(argv, argc));
  if (!llvm::cl::ParseCommandLineOptions(all.size(), all.data(), overview, &stream))
    return report(tools::ExitUsage, tools::describeWrongFlags(arguments, message));
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return asMainReturnCode(MlirOptMain(argc, argv, inputFile, outputFile, registry));

  // Positions count from the tool's name.
  std::optional<unsigned> input;
  if (inputFile.getNumOccurrences())
    input = inputFile.getPosition() - 1;
  tools::ToolRun run("resid-opt", ArrayRef<const char *>(all).drop_front(), input);
  return run.guard([&] { return runOnFile(config, registry, run); });
}
