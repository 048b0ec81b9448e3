// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Compile.h"

#include "codegen/Pipelines.h"
#include "codegen/boundary/Passes.h"
#include "codegen/boundary/Signature.h"
#include "codegen/machine/Target.h"
#include "dialect/Placement.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "tools/common/Diagnostics.h"
#include "tools/common/Parse.h"
#include "tools/flags/Tool.h"
#include "tools/residc/Compiler.h"
#include "tools/residc/SharedLibrary.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/thread.h"
#include <mutex>

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::tools;
using boundary::KernelSignature, boundary::KernelValue, boundary::SizeParameter;

static llvm::json::Object describeValue(const KernelValue &value) {
  std::string type;
  llvm::raw_string_ostream stream(type);
  value.type.print(stream);
  return llvm::json::Object{{"name", value.name}, {"type", type}};
}

/// A code of KernelValue::shape.
static llvm::json::Value describeSize(const KernelSignature &signature, int64_t code) {
  if (code >= 0)
    return code;
  if (boundary::SizeExpr derived = signature.getDerivedSize(code))
    return signature.printSize(derived);
  return signature.sizes[size_t(-1 - code)].name;
}

static llvm::json::Object describe(const KernelSignature &signature) {
  llvm::json::Array arguments, results, sizes;
  for (const KernelValue &value : signature.arguments)
    arguments.push_back(describeValue(value));
  for (const KernelValue &value : signature.results) {
    llvm::json::Object result = describeValue(value);
    llvm::json::Array shape;
    for (int64_t code : value.shape)
      shape.push_back(describeSize(signature, code));
    result["sizes"] = std::move(shape);
    results.push_back(std::move(result));
  }
  for (const SizeParameter &size : signature.sizes) {
    llvm::json::Object one{{"name", size.name}, {"argument", size.argument}, {"dimension", size.dimension}};
    if (size.fixed >= 0)
      one["fixed"] = size.fixed;
    else
      one["same_as"] = signature.sizes[size.sameAs].name;
    sizes.push_back(std::move(one));
  }
  return llvm::json::Object{{"symbol", signature.symbol},
                            {"type", signature.typeText},
                            {"arguments", std::move(arguments)},
                            {"results", std::move(results)},
                            {"sizes", std::move(sizes)}};
}

/// As JSON: an array with, for each function, `symbol`, `type` (in MLIR), `arguments` and `results` (`name` and `type`
/// of each, and for results `sizes`: numbers, names of sizes, or expressions of these), and `sizes`: `name`,
/// `argument`, `dimension`, and either `fixed`, the only value that is right, or `same_as`, the name of the first size
/// that is equal.
static std::string describeFunctions(ArrayRef<KernelSignature> signatures) {
  llvm::json::Array functions;
  for (const KernelSignature &signature : signatures)
    functions.push_back(describe(signature));
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(functions));
  return text;
}

/// The linker has variables of the process.
static std::mutex compiling;

static ExitCode compile(const std::string &text, const std::string &name, ArrayRef<const char *> flags,
                        python::Outcome &outcome) {
  llvm::raw_string_ostream messages(outcome.messages);
  llvm::Expected<ResidcOptions> options = parseResidcOptions(flags);
  if (!options)
    return reportMistake(messages, options.takeError());
  DefaultTimingManager timing;
  TimingScope scope = timing.getRootScope();
  Compiler compiler(*options, scope, messages);
  if (ExitCode code = compiler.run(llvm::MemoryBuffer::getMemBufferCopy(text, name)))
    return code;
  for (const auto &[path, contents] : compiler.getFiles())
    outcome.files[path] = contents;
  if (options->emit.source != EmitSource::Code)
    return ExitDone;
  llvm::Expected<std::string> library = linkSharedLibrary(outcome.files[options->output], "");
  if (!library)
    return reportMistake(messages, llvm::toString(library.takeError()), ExitInternal);
  outcome.files[options->output] = std::move(*library);
  outcome.functions = describeFunctions(compiler.getSignatures());
  llvm::raw_string_ostream report(outcome.report);
  compiler.getReport().printText(report);
  return ExitDone;
}

/// Programs may be nested deeply, and threads of Python have small stacks.
static python::Outcome runAside(llvm::function_ref<ExitCode(python::Outcome &)> work) {
  std::lock_guard<std::mutex> lock(compiling);
  python::Outcome outcome;
  llvm::thread worker(std::optional<unsigned>(stackBytes), [&] { outcome.code = work(outcome); });
  worker.join();
  return outcome;
}

python::Outcome python::compileInMemory(const std::string &text, const std::string &name,
                                        const std::vector<std::string> &flags) {
  SmallVector<const char *> arguments = {name.c_str()};
  for (const std::string &flag : flags)
    arguments.push_back(flag.c_str());
  return runAside([&](Outcome &outcome) { return compile(text, name, arguments, outcome); });
}

/// A record of the passes: strings, numbers, and arrays and dictionaries of them.
static llvm::json::Value describe(Attribute attribute) {
  if (auto array = dyn_cast<ArrayAttr>(attribute))
    return llvm::json::Array(llvm::map_range(array, [](Attribute each) { return describe(each); }));
  if (auto number = dyn_cast<IntegerAttr>(attribute))
    return number.getInt();
  if (auto text = dyn_cast<StringAttr>(attribute))
    return text.getValue();
  llvm::json::Object object;
  for (NamedAttribute each : cast<DictionaryAttr>(attribute))
    object[each.getName().getValue()] = describe(each.getValue());
  return object;
}

static ExitCode quantize(const std::string &text, const std::string &name, const python::Quantization &quantization,
                         python::Outcome &outcome) {
  llvm::raw_string_ostream messages(outcome.messages);
  DialectRegistry registry;
  registerCompilerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sourceManager;
  DiagnosticPrinter printer(sourceManager, context, messages);
  OwningOpRef<ModuleOp> module = parseModule(llvm::MemoryBuffer::getMemBufferCopy(text, name), sourceManager, context);
  if (!module)
    return ExitProgram;
  PassManager manager(&context);
  manager.addPass(boundary::createInlineCalls());
  if (quantization.mode == python::QuantizeMode::Observe) {
    manager.addPass(createInference());
    manager.addPass(createExpandBlocks());
    manager.addPass(createExpandAddNorm());
  }
  QuantizeLinearOptions options;
  options.schemeName = quantization.scheme;
  options.keep.assign(quantization.keep.begin(), quantization.keep.end());
  options.factors.assign(quantization.factors.begin(), quantization.factors.end());
  options.keepHeads = quantization.keepHeads;
  options.observe = quantization.mode == python::QuantizeMode::Observe;
  options.given = quantization.mode == python::QuantizeMode::Given;
  manager.addPass(createQuantizeLinear(options));
  if (quantization.mode == python::QuantizeMode::Prepared)
    manager.addPass(createPackWeights());
  if (failed(manager.run(*module)))
    return ExitProgram;
  if (Attribute record = (*module)->removeAttr(kQuantizedAttribute))
    llvm::raw_string_ostream(outcome.files["record.json"]) << describe(record);
  llvm::raw_string_ostream(outcome.files["program.mlir"]) << *module << "\n";
  return ExitDone;
}

python::Outcome python::quantizeInMemory(const std::string &text, const std::string &name,
                                         const Quantization &quantization) {
  return runAside([&](Outcome &outcome) { return quantize(text, name, quantization, outcome); });
}

std::vector<python::PlacementFacts> python::listPlacements() {
  std::vector<PlacementFacts> placements;
  for (StringRef name : getPlacementNames()) {
    const PlacementRule &rule = getPlacementRule(*symbolizePlacement(name));
    placements.push_back({name.str(), rule.positions.size(), rule.wantsFinalNorm});
  }
  return placements;
}

std::string python::getVersions() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  tools::residc::tool.printVersion(stream);
  return text;
}

std::string python::describeProcessor() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::Expected<std::vector<machine::TargetDescription>> targets = machine::resolveTargets("", "native");
  if (targets)
    machine::printTargets(*targets, stream);
  else
    stream << llvm::toString(targets.takeError());
  return text;
}
