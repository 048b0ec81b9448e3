// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-reduce: makes a program smaller as long as a test finds it interesting. The pass of upstream's mlir-reduce is
// not used: it takes out only what has no uses, and fails on some programs. Nor is its Tester, which ends the process
// as by an internal error where the test cannot be run; it is the user's, so that is a message here.

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "tools/common/Diagnostics.h"
#include "tools/common/FatalSignal.h"
#include "tools/common/Files.h"
#include "tools/common/InternalError.h"
#include "tools/common/Parse.h"
#include "tools/common/StandaloneRegistration.h"
#include "tools/driver/Tools.h"
#include "tools/flags/CommandLine.h"
#include "tools/flags/Tool.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/ToolOutputFile.h"
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::tools;
using namespace mlir::resid::tools::resid_reduce;

namespace {

class InterestTest {
public:
  /// `program` is looked for as a shell does; an error says why it cannot be run.
  static llvm::Expected<InterestTest> find(llvm::StringRef program, llvm::ArrayRef<std::string> arguments);

  /// Whether the program ends with another exit code than 0, or by a signal, for a file with the text of `module`,
  /// which is its last argument. False from the first failure on, so that a reduction comes to its end.
  bool isInteresting(ModuleOp module);

  /// Why the program could not be run, or its file not be written, at some time; success where neither happened.
  llvm::Error takeFailure();

private:
  InterestTest(llvm::StringRef name, std::string program, llvm::ArrayRef<std::string> arguments)
      : name(name), program(std::move(program)), arguments(arguments.begin(), arguments.end()) {}

  llvm::Expected<int> run(ModuleOp module) const;

  std::string name, program;
  std::vector<std::string> arguments;
  std::string failure;
};

} // namespace

static llvm::Error cannotRun(StringRef name, const llvm::Twine &reason) {
  return llvm::createStringError("cannot run '" + name + "': " + reason);
}

static llvm::Error cannotWrite(StringRef path, std::error_code code) {
  return llvm::createStringError(code, "cannot write '" + path + "': " + code.message());
}

llvm::Expected<InterestTest> InterestTest::find(StringRef name, ArrayRef<std::string> arguments) {
  llvm::ErrorOr<std::string> program = llvm::sys::findProgramByName(name);
  if (!program || !llvm::sys::fs::exists(*program))
    return cannotRun(name, "no such program");
  if (llvm::sys::fs::is_directory(*program))
    return cannotRun(name, "is a directory");
  if (!llvm::sys::fs::can_execute(*program))
    return cannotRun(name, "not executable; 'chmod +x' makes it so");
  return InterestTest(name, std::move(*program), arguments);
}

/// The exit code; below zero after a signal.
llvm::Expected<int> InterestTest::run(ModuleOp module) const {
  SmallString<128> path;
  int descriptor;
  if (std::error_code code = llvm::sys::fs::createTemporaryFile("resid-reduce", "mlir", descriptor, path)) {
    llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, path);
    return cannotWrite(path, code);
  }
  llvm::ToolOutputFile file(path, descriptor); // removed on the way out, and by a signal
  file.os() << module << "\n";
  file.os().close();
  if (std::error_code code = file.os().error()) {
    file.os().clear_error();
    return cannotWrite(path, code);
  }
  SmallVector<StringRef> command = {program};
  command.append(arguments.begin(), arguments.end());
  command.push_back(path);
  std::string reason;
  int code = llvm::sys::ExecuteAndWait(program, command, /*Env=*/std::nullopt, /*Redirects=*/{}, /*SecondsToWait=*/0,
                                       /*MemoryLimit=*/0, &reason);
  // The file was taken away from the test, whose answer is about no program then.
  if (awaitFatalSignal())
    return llvm::createStringError("interrupted");
  if (code == -1 && StringRef(reason).ends_with(std::strerror(ENOMEM)))
    llvm::report_bad_alloc_error("a process");
  // A shell that does not find a command ends with this code too.
  if (code == -1)
    return cannotRun(name, "it, or a command in it, was not found or is not executable (" + reason +
                               "); a script needs a first line such as '#!/bin/sh'");
  return code;
}

bool InterestTest::isInteresting(ModuleOp module) {
  if (!failure.empty())
    return false;
  llvm::Expected<int> code = run(module);
  if (!code)
    failure = llvm::toString(code.takeError());
  return failure.empty() && *code != 0;
}

llvm::Error InterestTest::takeFailure() {
  return failure.empty() ? llvm::Error::success() : llvm::createStringError(std::exchange(failure, {}));
}

namespace {
struct ReduceOptions {
  std::string input, output = "-", test, passes;
  std::vector<std::string> testArguments;
  /// Where `input` stands on the command line.
  unsigned inputIndex = 0;
  bool help = false, version = false;
};
} // namespace

/// Parses the command line without the program's name. An error is a message for exit code 2.
static llvm::Expected<ReduceOptions> parseReduceOptions(llvm::ArrayRef<const char *> arguments) {
  llvm::Expected<CommandLine> line = CommandLine::parse(tool, arguments);
  if (!line)
    return line.takeError();
  ReduceOptions options;
  options.help = line->has(OPT_help);
  options.version = line->has(OPT_version);
  if (line->has(OPT_output))
    options.output = line->getValue(OPT_output).str();
  options.test = line->getValue(OPT_test).str();
  options.testArguments = line->getValues(OPT_test_arg);
  options.passes = line->getValue(OPT_passes).str();
  llvm::Expected<std::optional<CommandLine::Input>> input = line->getInput(OPT_INPUT);
  if (!input)
    return input.takeError();
  if (options.help || options.version)
    return options;
  if (!*input)
    return makeUsageError("expected an input file, but got none; resid-reduce --help shows examples");
  if (options.test.empty())
    return makeUsageError("expected --test=PROGRAM, but got none");
  options.input = (*input)->path;
  options.inputIndex = (*input)->index;
  if (llvm::Error error = checkOutputs(options.input, {options.output}))
    return makeUsageError(llvm::toString(std::move(error)));
  return options;
}

static int report(int code, const llvm::Twine &message) {
  llvm::errs() << "resid-reduce: error: " << message << "\n";
  return code;
}

/// A value of the type of `result` that may take its place: an operand of `op`, or an argument of a block around it.
static Value findSubstitute(Operation *op, Value result) {
  for (Value operand : op->getOperands())
    if (operand.getType() == result.getType())
      return operand;
  for (Block *block = op->getBlock(); block; block = block->getParentOp() ? block->getParentOp()->getBlock() : nullptr)
    for (Value argument : block->getArguments())
      if (argument.getType() == result.getType())
        return argument;
  return Value();
}

/// Whether `op` could be taken out of its program. What is left may not verify.
static bool takeOut(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>())
    return false;
  for (Value result : op->getResults()) {
    if (result.use_empty())
      continue;
    Value substitute = findSubstitute(op, result);
    if (!substitute)
      return false;
    result.replaceAllUsesWith(substitute);
  }
  op->erase();
  return true;
}

/// The op `index` of the module in the order of the text; null after the last one.
static Operation *findOp(ModuleOp module, unsigned index) {
  Operation *found = nullptr;
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == module.getOperation() || index-- != 0)
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

/// Takes out single ops, functions too, until none is left that the test can do without.
static bool takeOutAll(OwningOpRef<ModuleOp> &module, InterestTest &test) {
  bool isSmaller = false;
  for (unsigned index = 0;;) {
    OwningOpRef<ModuleOp> candidate = module->clone();
    Operation *op = findOp(*candidate, index);
    if (!op)
      return isSmaller;
    if (takeOut(op) && test.isInteresting(*candidate)) {
      module = std::move(candidate);
      isSmaller = true;
    } else {
      ++index;
    }
  }
}

static std::string toText(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module << "\n";
  return text;
}

/// What passes make of the program, if the test likes it and it is shorter.
static bool runPasses(OwningOpRef<ModuleOp> &module, InterestTest &test, StringRef passes) {
  OwningOpRef<ModuleOp> candidate = module->clone();
  PassManager manager(module->getContext(), ModuleOp::getOperationName());
  if (passes.empty() || failed(parsePassPipeline(passes, manager)) || failed(manager.run(*candidate)))
    return false;
  if (toText(*candidate).size() >= toText(*module).size() || !test.isInteresting(*candidate))
    return false;
  module = std::move(candidate);
  return true;
}

static void reduce(OwningOpRef<ModuleOp> &module, InterestTest &test, StringRef passes) {
  // What is tried and found wrong is of no interest.
  ScopedDiagnosticHandler silence(module->getContext(), [](Diagnostic &) { return success(); });
  bool isSmaller = true;
  while (isSmaller) {
    isSmaller = takeOutAll(module, test);
    isSmaller |= runPasses(module, test, passes);
  }
}

static int run(const ReduceOptions &options, ToolRun &toolRun) {
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> input = readProgram(options.input);
  if (!input)
    return report(ExitFile, llvm::toString(input.takeError()));
  toolRun.setProgram((*input)->getBuffer());
  llvm::Expected<InterestTest> test = InterestTest::find(options.test, options.testArguments);
  if (!test)
    return report(ExitFile, llvm::toString(test.takeError()));
  DialectRegistry registry;
  registerStandaloneDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  PassManager probe(&context, ModuleOp::getOperationName());
  if (failed(parsePassPipeline(options.passes, probe)))
    return report(ExitUsage, "expected --passes=PIPELINE of passes with options that they take, but got '" +
                                 options.passes + "'; resid-opt --help lists them");
  llvm::SourceMgr sourceManager;
  DiagnosticPrinter printer(sourceManager, context);
  OwningOpRef<ModuleOp> module = parseModule(std::move(*input), sourceManager, context);
  if (!module)
    return ExitProgram;
  bool isInteresting = test->isInteresting(*module);
  if (isInteresting)
    reduce(module, *test, options.passes);
  if (llvm::Error error = test->takeFailure())
    return report(ExitFile, llvm::toString(std::move(error)));
  if (!isInteresting)
    return report(ExitProgram, "expected a program that the test finds interesting, but it ended with exit code 0");
  if (llvm::Error error = writeOutput(options.output, toText(*module)))
    return report(ExitFile, llvm::toString(std::move(error)));
  return ExitDone;
}

int mlir::resid::tools::residReduceMain(int argc, char **argv) {
  startTool("resid-reduce");
  ArrayRef<const char *> arguments(argv + 1, argc - 1);
  llvm::Expected<ReduceOptions> options = parseReduceOptions(arguments);
  if (!options)
    return report(ExitUsage, llvm::toString(options.takeError()));
  if (resid_reduce::tool.printAsked(options->help, options->version))
    return ExitDone;
  registerStandalonePasses();
  ToolRun toolRun("resid-reduce", arguments, options->inputIndex);
  return toolRun.guard([&] { return run(*options, toolRun); });
}
