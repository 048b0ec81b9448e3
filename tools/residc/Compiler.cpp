// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Compiler.h. What is wrong with --grad and --wrt is found here, once the program is known.

#include "tools/residc/Compiler.h"

#include "codegen/boundary/Header.h"
#include "codegen/cpu/Target.h"
#include "diagram/Diagram.h"
#include "dialect/Spelling.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "passes/placement/Manifest.h"
#include "tools/common/Diagnostics.h"
#include "tools/common/Files.h"
#include "tools/common/Parse.h"
#include "tools/residc/Options.h"
#include "tools/residc/SharedLibrary.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/TargetParser/Host.h"
#include <optional>
#include <string>

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::tools;

/// Such as `; the program has 'attend', 'layer'; did you mean 'layer'?`
static std::string describeFunctions(ModuleOp program, StringRef written) {
  SmallVector<StringRef> names;
  for (auto function : program.getOps<func::FuncOp>())
    if (!function.isExternal())
      names.push_back(function.getName());
  std::string text = names.empty() ? "; the program has none" : "; the program has '" + llvm::join(names, "', '") + "'";
  return text + suggestNearest(written, {names, {}, {}});
}

/// The pass refuses other arguments too. There they are mistakes of its caller, and here they are one of the flag.
static std::optional<std::string> findArgumentMistake(func::FuncOp function, ArrayRef<int64_t> wrt) {
  std::string expected = "--wrt: expected arguments of '" + function.getName().str() + "'";
  int64_t count = function.getNumArguments();
  for (int64_t index : wrt) {
    if (index >= count)
      return expected + (count ? ", from 0 to " + std::to_string(count - 1) : ", which has none") + ", but got " +
             std::to_string(index);
    Type type = function.getArgumentTypes()[index];
    if (isa<RankedTensorType>(type) && isa<FloatType>(getElementTypeOrSelf(type)))
      continue;
    std::string text = expected + " that are tensors of floats, but got " + std::to_string(index) + " of type ";
    llvm::raw_string_ostream(text) << type;
    return text;
  }
  return std::nullopt;
}

/// What is wrong with the function or the arguments that the flags name, in the program as it is written; nothing where
/// nothing is wrong, or no gradient is asked for.
static std::optional<std::string> findGradientMistake(ModuleOp program, const ResidcOptions &options) {
  const GradOptions &gradients = options.gradients;
  if (gradients.function.empty())
    return std::nullopt;
  if (options.emit.source == EmitSource::Drawing)
    return "expected no --grad with --emit=svg, but got '" + gradients.function + "'";
  if (auto function = program.lookupSymbol<func::FuncOp>(gradients.function))
    return findArgumentMistake(function, gradients.wrt);
  return "--grad: expected a function of the program but got '" + gradients.function + "'" +
         describeFunctions(program, gradients.function);
}

ExitCode tools::reportMistake(llvm::raw_ostream &messages, const llvm::Twine &message, ExitCode code) {
  messages << "residc: error: " << message << "\n";
  return code;
}

ExitCode tools::reportMistake(llvm::raw_ostream &messages, llvm::Error mistake) {
  ExitCode code = ExitUsage;
  llvm::handleAllErrors(std::move(mistake), [&](const llvm::StringError &error) {
    if (error.convertToErrorCode() == std::errc::not_supported)
      code = ExitUnavailable;
    reportMistake(messages, error.getMessage(), code);
  });
  return code;
}

ExitCode Compiler::report(const llvm::Twine &message, ExitCode code) { return reportMistake(messages, message, code); }

ExitCode Compiler::reportError(llvm::Error error) { return reportMistake(messages, std::move(error)); }

static ExitCode toExitCode(CompileFailure failure) {
  switch (failure) {
  case CompileFailure::Program:
    return ExitProgram;
  case CompileFailure::Unavailable:
    return ExitUnavailable;
  case CompileFailure::File:
    return ExitFile;
  case CompileFailure::Internal:
    return ExitInternal;
  }
  llvm_unreachable("unknown failure");
}

static std::string draw(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  drawStreams(module, stream);
  return text;
}

ExitCode Compiler::findTarget() {
  // What launches kernels on a GPU runs on every processor of this kind.
  bool isForDevice = !options.gpus.chips.empty() && options.mcpu == "native";
  llvm::Triple host(options.triple.empty() ? llvm::sys::getDefaultTargetTriple() : options.triple);
  llvm::Expected<std::vector<machine::TargetDescription>> targets = machine::resolveTargets(
      options.triple, isForDevice ? (host.isX86() ? "x86-64" : "generic") : StringRef(options.mcpu));
  if (!targets)
    return reportError(targets.takeError());
  for (machine::TargetDescription &target : *targets) {
    llvm::Expected<const cpu::Schedule *> schedule =
        scheduleFile ? scheduleFile->find(target.cpu) : llvm::Expected<const cpu::Schedule *>(&options.schedule);
    if (!schedule)
      return report(options.scheduleFile + ": " + llvm::toString(schedule.takeError()), ExitUsage);
    // The one thing that can be wrong for a processor is the width.
    if (llvm::Error failure = target.facts.use(**schedule))
      return report((*schedule)->findSetting("vector-bits")->source + ": " + target.cpu + ": " +
                        llvm::toString(std::move(failure)),
                    ExitUsage);
  }
  target = cpu::makeTarget(std::move(*targets));
  if (!options.gpus.chips.empty())
    target = cuda::makeTarget(options.gpus, target);
  return ExitDone;
}

/// --schedule=@FILE, before anything is compiled.
ExitCode Compiler::readScheduleFile() {
  if (options.scheduleFile.empty())
    return ExitDone;
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> buffer = readProgram(options.scheduleFile);
  if (!buffer)
    return report(llvm::toString(buffer.takeError()), ExitFile);
  llvm::Expected<cpu::ScheduleFile> file = cpu::parseScheduleFile((*buffer)->getBuffer(), options.scheduleFile);
  if (!file)
    return report(llvm::toString(file.takeError()), ExitUsage);
  scheduleFile = std::move(*file);
  return ExitDone;
}

/// Most likely another file was meant.
static void warnOfNoFunctions(ModuleOp module) {
  if (llvm::none_of(module.getOps<func::FuncOp>(), [](func::FuncOp function) { return function.isPublic(); }))
    module.emitWarning("expected a public function (func.func), but there is none, so the output has none either");
}

/// Most likely the marks were forgotten.
static void warnOfNoWeights(ModuleOp module, ArrayRef<boundary::KernelSignature> signatures) {
  if (!signatures.empty() && llvm::all_of(signatures, [](const auto &signature) { return signature.weights.empty(); }))
    module.emitWarning(
        "expected arguments with 'resid.weight' beside --weights-struct, but no public function has any");
}

ExitCode Compiler::emitCode(ModuleOp module, CompileOptions compileOptions) {
  warnOfNoFunctions(module);
  if (ExitCode code = findTarget())
    return code;
  compileOptions.target = target;
  std::string code;
  if (options.emit.source == EmitSource::Header) {
    if (auto failure = compileSignatures(module, compileOptions, compiled.signatures))
      return toExitCode(*failure);
  } else {
    if (auto failure = compileToCode(module, compileOptions, compiled))
      return toExitCode(*failure);
    stages.add(compiled);
    TimingScope scope = timing.nest("write code");
    SmallVector<char> bytes;
    if (options.emit.source == EmitSource::PTX)
      code = compiled.device->getText();
    else if (auto failure = writeCompiled(compiled, *options.emit.code, bytes))
      return compiled.failure.empty() ? toExitCode(*failure) : report(compiled.failure, toExitCode(*failure));
    code.append(bytes.begin(), bytes.end());
  }
  if (options.emit.source == EmitSource::Shared) {
    TimingScope scope = timing.nest("link");
    StringRef name = options.output == "-" ? StringRef() : llvm::sys::path::filename(options.output);
    llvm::Expected<std::string> library = linkSharedLibrary(code, name, /*hasRuntime=*/bool(target->getDevice()));
    if (!library)
      return report(llvm::toString(library.takeError()), ExitFile);
    code = std::move(*library);
  }
  if (options.weightsStruct)
    warnOfNoWeights(module, compiled.signatures);
  std::string header = boundary::writeHeader(compiled.signatures, machine::getCPUNames(target->getProcessors()));
  if (!options.header.empty())
    files.emplace_back(options.header, header);
  files.emplace_back(options.output, options.emit.source == EmitSource::Header ? header : code);
  return ExitDone;
}

/// The record of a conversion is a file of its own, and no part of what is compiled.
void Compiler::takeManifest(ModuleOp module) {
  if (!options.manifest.empty()) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    printManifest(module, stream);
    files.emplace_back(options.manifest, text);
  }
  module->removeAttr(kManifestAttribute);
}

/// The report of a program of which no code is wanted, on a copy of what it is before the passes.
ExitCode Compiler::reportKernels(ModuleOp module, CompileOptions compileOptions) {
  if (ExitCode code = findTarget())
    return code;
  compileOptions.target = target;
  compileOptions.record = true;
  compileOptions.afterStage = [this](StringRef stage, ModuleOp module) {
    kernels.collect(stage, module, target.get());
  };
  // What is to be said beside errors is said when the program itself goes through the passes.
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() != DiagnosticSeverity::Error);
  });
  OwningOpRef<ModuleOp> copy = module.clone();
  kernels.begin(*copy);
  if (auto failure = runResidStages(*copy, compileOptions))
    return toExitCode(*failure);
  std::vector<boundary::KernelSignature> signatures;
  auto failure = compileSignatures(*copy, compileOptions, signatures);
  return failure ? toExitCode(*failure) : ExitDone;
}

void Compiler::takeReport() {
  if (options.report)
    kernels.printText(messages);
  if (options.reportFile.empty())
    return;
  std::string text;
  llvm::raw_string_ostream stream(text);
  kernels.printJSON(stream);
  files.emplace_back(options.reportFile, text);
}

ExitCode Compiler::compile(ModuleOp module) {
  CompileOptions compileOptions;
  compileOptions.mode = options.mode;
  compileOptions.raise = options.raise;
  compileOptions.prefix = options.prefix;
  compileOptions.weightsStruct = options.weightsStruct;
  compileOptions.packWeights = options.packWeights;
  compileOptions.timing = &timing;
  if (std::optional<std::string> mistake = findGradientMistake(module, options))
    return report(*mistake, ExitUsage);
  if (!options.gradients.function.empty())
    compileOptions.gradients = options.gradients;
  if (!options.conversion.to.empty())
    compileOptions.conversion = options.conversion;
  if (options.hasStreams)
    compileOptions.widening = options.widening;
  if (stages.isWanted()) {
    stages.open();
    if (!stages.getFailure().empty())
      return ExitFile;
    stages.add("input", module);
  }
  if (auto failure = checkProgram(module, compileOptions))
    return toExitCode(*failure);
  bool isDrawing = options.emit.source == EmitSource::Drawing;
  bool makesCode = options.emit.source != EmitSource::Program && !isDrawing;
  compileOptions.record = hasReport() && makesCode;
  compileOptions.afterStage = [this, makesReport = compileOptions.record](StringRef stage, ModuleOp module) {
    stages.add(stage, module);
    if (makesReport)
      kernels.collect(stage, module, target.get());
  };
  if (compileOptions.record)
    kernels.begin(module);
  else if (hasReport())
    if (ExitCode code = reportKernels(module, compileOptions))
      return code;
  if (auto failure = isDrawing ? runDrawingStages(module, compileOptions) : runResidStages(module, compileOptions))
    return toExitCode(*failure);
  takeManifest(module);
  if (makesCode)
    return emitCode(module, compileOptions);
  if (!options.header.empty())
    return report(llvm::Twine("expected no --header with --emit=") + (isDrawing ? "svg" : "mlir") + ", but got '" +
                      options.header + "'",
                  ExitUsage);
  files.emplace_back(options.output, isDrawing ? draw(module) : print(module));
  return ExitDone;
}

/// A path as make and ninja read it.
static std::string escapePath(StringRef path) {
  std::string text;
  for (char c : path)
    text += c == ' ' || c == '#' || c == '\\' ? std::string("\\") + c : c == '$' ? "$$" : std::string(1, c);
  return text;
}

void Compiler::takeDependencies() {
  if (options.depfile.empty())
    return;
  std::string schedule = options.scheduleFile.empty() ? "" : " " + escapePath(options.scheduleFile);
  files.emplace_back(options.depfile, escapePath(options.output) + ": " + escapePath(options.input) + schedule + "\n");
}

ExitCode Compiler::run(std::unique_ptr<llvm::MemoryBuffer> input) {
  if (ExitCode code = readScheduleFile())
    return code;
  DialectRegistry registry;
  registerCompilerDialects(registry);
  context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->printOpOnDiagnostic(false);
  llvm::SourceMgr sourceManager;
  DiagnosticPrinter printer(sourceManager, *context, messages);
  bool warned = false;
  ScopedDiagnosticHandler counter(context.get(), [&](Diagnostic &diagnostic) {
    warned |= diagnostic.getSeverity() == DiagnosticSeverity::Warning;
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      kernels.addRefusal(diagnostic.getLocation(), diagnostic.str());
    return failure(); // let the printer have it
  });
  TimingScope parsing = timing.nest("parse");
  program = parseModule(std::move(input), sourceManager, *context);
  parsing.stop();
  if (!program)
    return ExitProgram;
  ExitCode code = compile(*program);
  if (!stages.getFailure().empty())
    return report(stages.getFailure(), ExitFile);
  if (code == ExitUnavailable) {
    // Of a refused program, the report alone is written.
    files.clear();
    if (hasReport())
      takeReport();
  }
  if (code != ExitDone)
    return code;
  if (warned && options.warningsAreErrors)
    return report("warnings were given, and --werror makes them errors", ExitProgram);
  if (hasReport())
    takeReport();
  takeDependencies();
  return ExitDone;
}
