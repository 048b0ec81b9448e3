// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-reduce: makes a program smaller as long as a test finds it interesting. The pass of upstream's
// mlir-reduce is not used: it takes out only what has no uses, and fails on some programs.

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "tools/common/Diagnostics.h"
#include "tools/common/Files.h"
#include "tools/common/InternalError.h"
#include "tools/common/Parse.h"
#include "tools/common/StandaloneRegistration.h"
#include "tools/driver/Tools.h"
#include "tools/flags/Tool.h"
#include "tools/resid-reduce/InterestTest.h"
#include "tools/resid-reduce/Options.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::tools;

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
