// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/random/Check.h"
#include "codegen/Pipelines.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::resid::random {

Session::Session() {
  DialectRegistry registry;
  registerCompilerDialects(registry);
  context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->printOpOnDiagnostic(false);
  context->loadAllAvailableDialects();
  for (const PassEntry &entry : getPassTable()) {
    auto manager = std::make_unique<PassManager>(context.get(), ModuleOp::getOperationName());
    // What it leaves is verified here, so that a refusal is told from a broken program.
    manager->enableVerifier(false);
    if (failed(parsePassPipeline(entry.pipeline, *manager)))
      llvm::report_fatal_error("the table has a pipeline that does not parse: " + entry.pipeline);
    managers[&entry] = std::move(manager);
  }
}

Session::Answer Session::run(const PassEntry &entry, ModuleOp module, std::string &messages) {
  bool hasError = false;
  ScopedDiagnosticHandler handler(context.get(), [&](Diagnostic &diagnostic) {
    hasError |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
    messages += diagnostic.str() + "\n";
    return success();
  });
  OperationFingerPrint before(module);
  LogicalResult result = managers[&entry]->run(module);
  if (failed(result))
    return hasError && entry.mayRefuse ? Refused : Failed;
  if (failed(verify(module)))
    return Failed;
  return OperationFingerPrint(module) == before ? Same : Changed;
}

std::string printModule(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

static bool isBroad(const Results &results) {
  return llvm::all_of(results, [](const Array &array) { return !array.isFloat() || getLargest(array) < 1e100; });
}

namespace {

/// One program on its way through an order of rewrites.
class ProgramCheck {
public:
  ProgramCheck(Session &session, const Program &program, Counts &counts)
      : session(session), program(program), counts(counts), module(ModuleOp(program.module.get()).clone()) {}

  std::optional<Disagreement> run(ArrayRef<const PassEntry *> order, bool compile, bool each);

private:
  /// One rewrite, with the comparisons that its class asks for.
  std::optional<Disagreement> step(const PassEntry &entry, bool each);
  FailureOr<std::vector<Results>> evaluateAll(ModuleOp of);
  std::optional<Disagreement> compareKept(StringRef after);
  std::optional<Disagreement> compareExact(const PassEntry &entry, ModuleOp before);
  std::optional<std::string> compareReal(size_t entry, ModuleOp before, const Results &now);
  std::optional<Disagreement> compareCompiled();
  Disagreement disagree(const Twine &what) { return {what.str(), "", ""}; }

  Session &session;
  const Program &program;
  Counts &counts;
  OwningOpRef<ModuleOp> module;
  std::vector<Arguments> arguments;
  /// What bits are held against: the results of the first program, or those after the last rewrite that is exact only.
  std::vector<Results> expected;
  bool isBitExact = true;
  std::string evaluationMessages;
};

} // namespace

FailureOr<std::vector<Results>> ProgramCheck::evaluateAll(ModuleOp of) {
  ScopedDiagnosticHandler handler(&session.getContext(), [&](Diagnostic &diagnostic) {
    evaluationMessages += diagnostic.str() + "\n";
    return success();
  });
  std::vector<Results> all;
  for (auto [entry, values] : llvm::zip_equal(program.entries, arguments)) {
    auto function = of.lookupSymbol<func::FuncOp>(entry.name);
    if (!function)
      return failure();
    FailureOr<Results> results = evaluate(function, values);
    if (failed(results))
      return failure();
    all.push_back(std::move(*results));
  }
  return all;
}

std::optional<Disagreement> ProgramCheck::compareKept(StringRef after) {
  FailureOr<std::vector<Results>> now = evaluateAll(*module);
  if (failed(now))
    return disagree("cannot be evaluated after " + after + ": " + evaluationMessages);
  for (auto [entry, before, found] : llvm::zip_equal(program.entries, expected, *now)) {
    ++counts.bitComparisons;
    if (auto difference = compareBits(before, found))
      return disagree("other bits after " + after + ": @" + entry.name + ", " + *difference);
  }
  return std::nullopt;
}

std::optional<std::string> ProgramCheck::compareReal(size_t entry, ModuleOp before, const Results &now) {
  const Results &old = expected[entry];
  SmallVector<double> scales;
  for (const Array &array : old)
    scales.push_back(1e-12 * std::max(1.0, getLargest(array)));
  ++counts.boundedComparisons;
  auto difference = compareBounded(old, now, [&](size_t result, int64_t) { return scales[result]; });
  if (!difference)
    return std::nullopt;
  // A program that multiplies roundings has to be judged by that.
  auto function = before.lookupSymbol<func::FuncOp>(program.entries[entry].name);
  auto moved = measureSensitivity(function, arguments[entry], 0x1p-52);
  if (failed(moved))
    return difference;
  ++counts.sensitive;
  return compareBounded(
      old, now, [&](size_t result, int64_t element) { return scales[result] + 64 * (*moved)[result][element]; });
}

std::optional<Disagreement> ProgramCheck::compareExact(const PassEntry &entry, ModuleOp before) {
  FailureOr<std::vector<Results>> now = evaluateAll(*module);
  if (failed(now))
    return disagree("cannot be evaluated after " + entry.name + ": " + evaluationMessages);
  for (size_t i = 0; i != program.entries.size(); ++i)
    if (isBroad(expected[i]))
      if (auto difference = compareReal(i, before, (*now)[i]))
        return disagree("other values after " + entry.name + ": @" + program.entries[i].name + ", " + *difference);
  expected = std::move(*now);
  isBitExact = false;
  return std::nullopt;
}

std::optional<Disagreement> ProgramCheck::step(const PassEntry &entry, bool each) {
  bool isExact = entry.keeps == RewriteClass::Exact;
  OwningOpRef<ModuleOp> before;
  if (each || isExact || entry.mayRefuse)
    before = module->clone();
  // What came before is compared up to here, so that this rewrite alone is judged by its bound.
  if (isExact && !each)
    if (auto found = compareKept("rewrites that keep bits"))
      return found;
  std::string messages;
  PassCounts &passCounts = counts.passes[&entry];
  ++passCounts.runs;
  std::optional<Disagreement> found;
  switch (session.run(entry, *module, messages)) {
  case Session::Failed:
    found = disagree(entry.name + " failed: " + messages);
    break;
  case Session::Refused:
    ++passCounts.refused;
    module = std::move(before);
    return std::nullopt;
  case Session::Changed:
    ++passCounts.changed;
    if (isExact)
      found = compareExact(entry, *before);
    else if (each)
      found = compareKept(entry.name);
    break;
  case Session::Same:
    break;
  }
  if (found && before)
    found->before = printModule(*before);
  if (found)
    found->after = printModule(*module);
  return found;
}

std::optional<Disagreement> ProgramCheck::compareCompiled() {
  for (auto [entry, values] : llvm::zip_equal(program.entries, arguments)) {
    std::string messages;
    ScopedDiagnosticHandler handler(&session.getContext(), [&](Diagnostic &diagnostic) {
      messages += diagnostic.str() + "\n";
      return success();
    });
    auto before = ModuleOp(program.module.get()).lookupSymbol<func::FuncOp>(entry.name);
    auto after = module->lookupSymbol<func::FuncOp>(entry.name);
    int64_t unavailable = counts.unavailable;
    if (auto difference = checkCompiled(before, after, values, isBitExact, counts))
      return disagree("compiled @" + entry.name + ": " + *difference + "\n" + messages);
    if (counts.unavailable != unavailable)
      ++counts.reasons[messages];
  }
  return std::nullopt;
}

std::optional<Disagreement> ProgramCheck::run(ArrayRef<const PassEntry *> order, bool compile, bool each) {
  ++counts.programs;
  std::string messages;
  for (const EntryPoint &entry : program.entries) {
    std::optional<Arguments> values = Arguments::read(*module, entry);
    if (!values)
      return disagree("arguments that do not fit");
    arguments.push_back(std::move(*values));
  }
  FailureOr<std::vector<Results>> first = evaluateAll(*module);
  if (failed(first))
    return disagree("cannot be evaluated: " + evaluationMessages);
  expected = std::move(*first);
  for (const PassEntry *entry : order)
    if (!entry->applies || entry->applies(*module))
      if (auto found = step(*entry, each))
        return found;
  if (auto found = compareKept("all rewrites"))
    return found;
  return compile ? compareCompiled() : std::nullopt;
}

std::optional<Disagreement> checkProgram(Session &session, const Program &program, ArrayRef<const PassEntry *> order,
                                         bool compile, bool each, Counts &counts) {
  {
    std::string messages;
    ScopedDiagnosticHandler handler(&session.getContext(), [&](Diagnostic &diagnostic) {
      messages += diagnostic.str() + "\n";
      return success();
    });
    if (failed(verify(*program.module)))
      return Disagreement{"a program that does not verify: " + messages, "", ""};
  }
  return ProgramCheck(session, program, counts).run(order, compile, each);
}

} // namespace mlir::resid::random
