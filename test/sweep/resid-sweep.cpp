// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-sweep: compiles a file of small functions at once, calls each, and compares with the evaluator; with gradients
// too. Draws no programs (sweep.py).

#include "codegen/Pipelines.h"
#include "codegen/cpu/Target.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "reference/Evaluator.h"
#include "tools/common/Files.h"
#include "tools/common/Parse.h"
#include "tools/resid-run/CallContext.h"
#include "tools/resid-run/Check.h"
#include "tools/resid-run/KernelCall.h"
#include "llvm/Support/SourceMgr.h"
#include <set>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::resid;
using run::Array;

static const char *const helpText = R"(resid-sweep: small programs as machine code, beside the evaluator

usage: resid-sweep FILE.mlir [flags]

Each line "// call: F ARRAY..." of the file calls the function F on arrays, which are written as in resid-run's --arg.
All functions are compiled at once. Where that fails, halves are, until the function at fault stands alone.

  --mcpu=CPU       what to compile for (default: native)
  --schedule=KEYS  how row kernels run, as in residc
  --gradients      compile value and gradients of each function instead, for cotangents of normal numbers
  --compile-only   call nothing
  --mtriple=T      the target to compile for; nothing is called then
)";

namespace {

struct Options {
  std::string file, cpu = "native", triple, schedule;
  bool gradients = false, compileOnly = false, help = false;
};

struct Function {
  std::string name;
  std::vector<std::vector<std::string>> calls;
};

class Sweep {
public:
  /// What is wrong goes to `log`.
  Sweep(ModuleOp module, const Options &options, std::shared_ptr<const kernels::Target> target,
        llvm::raw_string_ostream &log)
      : module(module), options(options), target(std::move(target)), log(log) {}

  /// Checks the functions in a process of their own, since the compiler may crash. Returns how many are at fault.
  int64_t checkApart(ArrayRef<Function> functions);
  int64_t calls = 0, unevaluated = 0, underived = 0;

private:
  enum Answer { AllWell, Faults, NotCompiled };
  struct Report {
    int64_t calls = 0, unevaluated = 0, underived = 0, faults = 0;
  };
  Answer check(ArrayRef<Function> functions, Report &report);
  OwningOpRef<ModuleOp> takeFunctions(ArrayRef<Function> functions, Report &report);
  bool compile(ModuleOp program, CompiledModule &code, SmallVectorImpl<char> &object);
  bool call(func::FuncOp function, ArrayRef<std::string> texts, const boundary::KernelSignature &signature,
            run::LoadedObject::PackedFunction entry, Report &report);
  std::optional<std::vector<Array>> readArguments(func::FuncOp function, ArrayRef<std::string> texts);
  bool compare(func::FuncOp function, ArrayRef<Array> arguments, ArrayRef<Array> found, Report &report);

  ModuleOp module;
  const Options &options;
  std::shared_ptr<const kernels::Target> target;
  llvm::raw_string_ostream &log;
};

} // namespace

/// A cotangent for each result that the gradients ask for.
static void addCotangents(func::FuncOp function, ArrayRef<Array> results, std::vector<Array> &arguments) {
  for (const Array &result : results) {
    if (!result.isFloat() || arguments.size() == function.getNumArguments())
      continue;
    arguments.push_back(result);
    run::fillRandom(arguments.back(), arguments.size(), 1.0);
  }
}

/// Value and gradients of a function, by all arguments or by the first alone; null where `message` says why not.
static OwningOpRef<ModuleOp> derive(ModuleOp program, StringRef function, std::string &message) {
  ScopedDiagnosticHandler handler(program.getContext(), [&](Diagnostic &diagnostic) {
    message += diagnostic.str() + "\n";
    return success();
  });
  for (const std::vector<int64_t> &wrt : {std::vector<int64_t>(), std::vector<int64_t>{0}}) {
    OwningOpRef<ModuleOp> derived = program.clone();
    GradOptions grad;
    grad.function = function.str();
    grad.mode = GradMode::ValueAndGrad;
    grad.wrt.assign(wrt.begin(), wrt.end());
    PassManager manager(program.getContext());
    manager.addPass(createGrad(grad));
    if (succeeded(manager.run(*derived)))
      return derived;
  }
  return nullptr;
}

/// What is checked: the functions, or their gradients where they have some.
OwningOpRef<ModuleOp> Sweep::takeFunctions(ArrayRef<Function> functions, Report &report) {
  OwningOpRef<ModuleOp> program = module.clone();
  std::set<StringRef> wanted;
  for (const Function &function : functions)
    wanted.insert(function.name);
  for (auto function : llvm::make_early_inc_range(program->getOps<func::FuncOp>()))
    if (!wanted.count(function.getName()))
      function.erase();
  if (!options.gradients)
    return program;
  for (const Function &function : functions) {
    std::string message;
    if (OwningOpRef<ModuleOp> derived = derive(*program, function.name, message))
      program = std::move(derived);
    else if (StringRef(message).contains("gradient"))
      ++report.underived;
    else
      log << function.name << ": no gradient: " << message, ++report.faults;
  }
  for (auto function : llvm::make_early_inc_range(program->getOps<func::FuncOp>()))
    if (!function.getName().ends_with("_value_and_grad"))
      function.erase();
  return program;
}

bool Sweep::compile(ModuleOp program, CompiledModule &code, SmallVectorImpl<char> &object) {
  CompileOptions compileOptions;
  compileOptions.packedEntries = true;
  compileOptions.target = target;
  if (runResidStages(program, compileOptions) || compileToCode(program, compileOptions, code))
    return false;
  if (!writeCompiled(code, machine::CodeKind::Object, object))
    return true;
  log << code.failure << '\n';
  return false;
}

std::optional<std::vector<Array>> Sweep::readArguments(func::FuncOp function, ArrayRef<std::string> texts) {
  std::vector<Array> arguments;
  for (auto [index, text] : llvm::enumerate(texts)) {
    auto argument = run::readArgument(function, static_cast<unsigned>(index), text);
    if (!argument) {
      log << function.getName() << ": " << llvm::toString(argument.takeError()) << '\n';
      return std::nullopt;
    }
    arguments.push_back(std::move(*argument));
  }
  return arguments;
}

/// Every result against the evaluator; what differs is told. Some ops that gradients are made of, the evaluator lacks.
bool Sweep::compare(func::FuncOp function, ArrayRef<Array> arguments, ArrayRef<Array> found, Report &report) {
  bool isUnsupported = false;
  bool hasFMA =
      llvm::all_of(target->getProcessors(), [](const machine::TargetDescription &cpu) { return cpu.facts.hasFMA; });
  reference::EvaluationOptions evaluation{reference::Mode::ExactType, /*trackAccuracy=*/true, &isUnsupported, hasFMA};
  auto expected = reference::evaluate(function, arguments, evaluation);
  report.unevaluated += isUnsupported;
  if (failed(expected))
    return isUnsupported;
  run::Tolerances tolerances = run::getTolerances(run::Options(), function);
  std::string text;
  llvm::raw_string_ostream stream(text);
  bool isRight = true;
  for (auto [index, array] : llvm::enumerate(found))
    isRight &= run::checkResult(stream, static_cast<unsigned>(index), array, (*expected)[index], false, tolerances);
  if (!isRight)
    log << text;
  return isRight;
}

/// One call; the evaluator and the compiled function take it, or both refuse it.
bool Sweep::call(func::FuncOp function, ArrayRef<std::string> texts, const boundary::KernelSignature &signature,
                 run::LoadedObject::PackedFunction entry, Report &report) {
  ++report.calls;
  std::optional<std::vector<Array>> arguments = readArguments(function, texts);
  if (!arguments)
    return false;
  auto original = module.lookupSymbol<func::FuncOp>(function.getName().split("_value_and_grad").first);
  if (options.gradients) {
    auto values = reference::evaluate(original, *arguments);
    if (failed(values))
      return false;
    addCotangents(function, *values, *arguments);
  }
  auto kernelCall = run::KernelCall::create(signature, *arguments, {});
  auto context = run::CallContext::create(1);
  if (!kernelCall || !context) {
    log << llvm::toString(llvm::joinErrors(kernelCall.takeError(), context.takeError())) << '\n';
    return false;
  }
  resid_status status = (*kernelCall)->call(entry, (*context)->get());
  if (status != RESID_OK) {
    log << "answered " << resid_status_string(status) << "; " << (*context)->refusal << '\n';
    return false;
  }
  return compare(function, *arguments, (*kernelCall)->getResults(), report);
}

Sweep::Answer Sweep::check(ArrayRef<Function> functions, Report &report) {
  OwningOpRef<ModuleOp> program = takeFunctions(functions, report);
  OwningOpRef<ModuleOp> lowered = program->clone();
  CompiledModule code;
  SmallVector<char> object;
  if (!compile(*lowered, code, object))
    return NotCompiled;
  if (options.compileOnly || !options.triple.empty())
    return report.faults ? Faults : AllWell;
  auto loaded = run::LoadedObject::load(object);
  if (!loaded) {
    log << llvm::toString(loaded.takeError()) << '\n';
    return NotCompiled;
  }
  for (const boundary::KernelSignature &signature : code.signatures) {
    StringRef name = StringRef(signature.symbol).split("_value_and_grad").first;
    auto function = llvm::find_if(functions, [&](const Function &each) { return each.name == name; });
    auto entry = loaded->lookUp(signature.symbol);
    for (const std::vector<std::string> &texts : function->calls) {
      if (entry && call(program->lookupSymbol<func::FuncOp>(signature.symbol), texts, signature, *entry, report))
        continue;
      log << "wrong: " << signature.symbol << ' ' << llvm::join(texts, " ") << '\n';
      ++report.faults;
    }
    if (!entry)
      llvm::consumeError(entry.takeError());
  }
  return report.faults ? Faults : AllWell;
}

int64_t Sweep::checkApart(ArrayRef<Function> functions) {
  int ends[2];
  if (functions.empty() || pipe(ends) != 0)
    return 0;
  llvm::outs().flush();
  pid_t child = fork();
  if (child == 0) {
    Report report;
    Answer answer = check(functions, report);
    // What a half is at fault for, the half will say.
    if (answer != NotCompiled || functions.size() == 1)
      llvm::outs() << log.str();
    llvm::outs().flush();
    bool isWritten = answer != NotCompiled && write(ends[1], &report, sizeof(report)) == sizeof(report);
    _exit(isWritten ? 0 : 1);
  }
  close(ends[1]);
  Report report;
  bool isRead = read(ends[0], &report, sizeof(report)) == sizeof(report);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (isRead) {
    calls += report.calls, unevaluated += report.unevaluated, underived += report.underived;
    return report.faults;
  }
  if (functions.size() > 1)
    return checkApart(functions.take_front(functions.size() / 2)) +
           checkApart(functions.drop_front(functions.size() / 2));
  llvm::outs() << (WIFSIGNALED(status) ? "crash: " : "not compiled: ") << functions.front().name << '\n';
  return 1;
}

/// The functions of the file in order, with their calls.
static std::vector<Function> readFunctions(StringRef text) {
  std::vector<Function> functions;
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (StringRef line : lines) {
    if (!line.consume_front("// call: "))
      continue;
    SmallVector<StringRef> words;
    line.split(words, ' ', -1, /*KeepEmpty=*/false);
    if (functions.empty() || functions.back().name != words.front())
      functions.push_back({words.front().str(), {}});
    functions.back().calls.emplace_back(words.begin() + 1, words.end());
  }
  return functions;
}

static bool parseFlag(StringRef flag, Options &options) {
  if (flag.consume_front("--mcpu="))
    return options.cpu = flag.str(), true;
  if (flag.consume_front("--mtriple="))
    return options.triple = flag.str(), true;
  if (flag.consume_front("--schedule="))
    return options.schedule = flag.str(), true;
  if (!flag.starts_with("--"))
    return options.file = flag.str(), true;
  options.gradients |= flag == "--gradients";
  options.compileOnly |= flag == "--compile-only";
  options.help |= flag == "--help";
  return llvm::is_contained({"--gradients", "--compile-only", "--help"}, flag);
}

static llvm::Expected<std::shared_ptr<const kernels::Target>> findTarget(const Options &options) {
  auto targets = machine::resolveTargets(options.triple, options.cpu);
  if (!targets)
    return targets.takeError();
  auto schedule = tools::parseScheduleFlag(options.schedule, /*isForDevice=*/false);
  if (!schedule)
    return schedule.takeError();
  for (machine::TargetDescription &target : *targets)
    if (llvm::Error error = target.facts.use(schedule->ofCPUs))
      return std::move(error);
  return cpu::makeTarget(std::move(*targets));
}

static int sweep(const Options &options) {
  auto target = findTarget(options);
  if (!target) {
    llvm::errs() << "resid-sweep: error: " << llvm::toString(target.takeError()) << '\n';
    return 2;
  }
  auto input = tools::readInput(options.file);
  if (!input) {
    llvm::errs() << "resid-sweep: error: " << llvm::toString(input.takeError()) << '\n';
    return 3;
  }
  std::vector<Function> functions = readFunctions((*input)->getBuffer());
  DialectRegistry registry;
  registerCompilerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  std::string text;
  llvm::raw_string_ostream log(text);
  SourceMgrDiagnosticHandler handler(sources, &context, log);
  OwningOpRef<ModuleOp> module = tools::parseModule(std::move(*input), sources, context);
  if (!module) {
    llvm::errs() << text;
    return 1;
  }
  text.clear();
  Sweep sweep(*module, options, std::move(*target), log);
  int64_t faults = 0;
  // A module of all would be cloned for each part of it.
  constexpr size_t most = 64;
  for (size_t first = 0; first < functions.size(); first += most)
    faults += sweep.checkApart(ArrayRef(functions).slice(first, std::min(most, functions.size() - first)));
  llvm::outs() << functions.size() << " functions, " << sweep.calls << " calls, " << sweep.underived
               << " without a gradient, " << sweep.unevaluated << " beyond the evaluator, " << faults << " faults\n";
  return faults ? 1 : 0;
}

int main(int argc, char **argv) {
  Options options;
  for (StringRef flag : ArrayRef<const char *>(argv, argc).drop_front())
    if (!parseFlag(flag, options)) {
      llvm::errs() << "resid-sweep: error: unknown flag '" << flag << "'; --help lists all\n";
      return 2;
    }
  if (!options.help)
    return sweep(options);
  llvm::outs() << helpText;
  return 0;
}
