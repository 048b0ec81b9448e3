// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The flags of residc; see Options.h.

#include "tools/residc/Options.h"

#include "dialect/ResidDialect.h"
#include "tools/common/Files.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"
#include <functional>
#include <optional>

using namespace llvm;
using namespace mlir::resid;
using namespace mlir::resid::tools;

const char *const mlir::resid::tools::residcHelp =
    R"(residc: compiles residual blocks, written in MLIR, to fused kernels

usage: residc IN.mlir [-o OUT] [flags]        '-' is standard input or output

  -o OUT                 output; default: IN with the suffix of what is emitted
  --emit=KIND            obj | asm | llvm | mlir | svg | header; default: by OUT's suffix (.o .s .ll .mlir .svg .h),
                         else obj; svg draws the residual streams
  --header=FILE          also write the C header of the functions
  --depfile=FILE         also write a dependency file for make and ninja
  --mcpu=NAME,…          CPU to compile for: native (default), x86-64-v3, x86-64-v4, znver4, …; of several (x86-64
                         only) the first call chooses the best that the processor is able to run
  --mtriple=TRIPLE       machine to compile for; default: this one
  --target=cpu           kind of machine (default)
  --prefix=NAME          put NAME before every exported function
  --mode=MODE            training (default) | inference: dropout is gone, seed and step stay in the signature, ignored
  --placement=P          convert the norm placement: post | pre | branch_post | peri | post_shifted | none
  --params=HOW           keep | shift: each sub-layer keeps its norm, or it moves to the next one or back; default: shift
                         between post and post_shifted, where that is bit-exact, else keep
  --final-norm=WHAT      args (default) | identity: what a final norm is that the placement wants and IN does not have
  --manifest=FILE        write as JSON what became of each norm parameter
  --schedule=KEY=VALUE,… how row kernels run where several ways give the same bits: path=vector|scalar,
                         stores=auto|plain|nontemporal, prefetch=auto|off|on,
                         rows=auto|single|pipelined|batched (docs/tools.md)
  --report[=FILE]        say on standard error, or as JSON in FILE, which kernels there are and why: what was fused and
                         what not, bytes read and written, schedules
  --dump-stages=DIR      write the program after each stage to DIR: 00-input.mlir, …, its LLVM IR and assembly
  --time                 say on standard error where the time goes
  --werror               warnings are errors
  --help, --version

examples:
  residc block.mlir -o block.o --header=block.h
  residc block.mlir --emit=asm -o - --mcpu=x86-64-v4
  residc block.mlir -o block.o --header=block.h --mcpu=x86-64-v2,x86-64-v3,x86-64-v4
  residc block.mlir -o block.svg
  residc post.mlir --placement=pre --manifest=pre.json -o pre.o --header=pre.h
  residc block.mlir -o block.o --dump-stages=stages
  residc block.mlir --mode=inference --prefix=inference_ -o inference.o --header=inference.h

exit codes: 0 done, 1 the program is wrong, 2 wrong flags, 3 a file cannot be read or written, 4 valid but not available
on the target, 5 out of memory, 70 a mistake in residc (with a file that reproduces it)
)";

static Error usageError(const Twine &message) {
  return createStringError(std::make_error_code(std::errc::invalid_argument), message);
}

static Error unavailable(const Twine &message) {
  return createStringError(std::make_error_code(std::errc::not_supported), message);
}

static Error setEmit(std::optional<EmitKind> &kind, StringRef value) {
  if (value == "ptx")
    return unavailable("--emit=ptx is not available in this version");
  kind = StringSwitch<std::optional<EmitKind>>(value)
             .Case("obj", EmitKind::Object)
             .Case("asm", EmitKind::Assembly)
             .Case("llvm", EmitKind::LLVM)
             .Case("mlir", EmitKind::MLIR)
             .Case("svg", EmitKind::SVG)
             .Case("header", EmitKind::Header)
             .Default(std::nullopt);
  return kind ? Error::success()
              : usageError("expected --emit=obj, asm, llvm, mlir, svg or header, but got '" + value + "'");
}

static Error setMode(ResidcOptions &options, StringRef value) {
  if (value != "training" && value != "inference")
    return usageError("expected --mode=training or inference, but got '" + value + "'");
  options.inference = value == "inference";
  return Error::success();
}

static Error setTarget(StringRef value) {
  if (value == "cuda")
    return unavailable("--target=cuda is not available in this version");
  return value == "cpu" ? Error::success() : usageError("expected --target=cpu, but got '" + value + "'");
}

static Error setSchedule(ResidcOptions &options, StringRef value) {
  Expected<mlir::resid::cpu::Schedule> schedule = mlir::resid::cpu::parseSchedule(value);
  if (!schedule)
    return usageError("--schedule: " + toString(schedule.takeError()));
  options.schedule = *schedule;
  return Error::success();
}

static Error setPrefix(ResidcOptions &options, StringRef value) {
  bool valid =
      !value.empty() && !isDigit(value.front()) && all_of(value, [](char c) { return isAlnum(c) || c == '_'; });
  options.prefix = value.str();
  return valid ? Error::success() : usageError("expected --prefix to begin a C name, but got '" + value + "'");
}

static Error setPlacement(ResidcOptions &options, StringRef value) {
  options.conversion.to = value.str();
  return symbolizePlacement(value)
             ? Error::success()
             : usageError("expected --placement=post, pre, branch_post, peri, post_shifted or none, but got '" + value +
                          "'");
}

static Error setParams(ResidcOptions &options, StringRef value) {
  if (value != "keep" && value != "shift")
    return usageError("expected --params=keep or shift, but got '" + value + "'");
  options.conversion.params = value == "keep" ? NormMapping::Keep : NormMapping::Shift;
  return Error::success();
}

static Error setFinalNorm(ResidcOptions &options, StringRef value) {
  if (value != "args" && value != "identity")
    return usageError("expected --final-norm=args or identity, but got '" + value + "'");
  options.conversion.finalNorm = value == "args" ? FinalNormSource::Arguments : FinalNormSource::Identity;
  return Error::success();
}

/// What says how to convert a placement says nothing where none is asked for, nor where norms only move.
static Error checkConversion(const ResidcOptions &options, ArrayRef<const char *> arguments) {
  for (StringRef argument : arguments)
    for (StringRef flag : {"--params", "--final-norm", "--manifest"})
      if (options.conversion.to.empty() && argument.starts_with((flag + "=").str()))
        return usageError("expected --placement beside " + flag + ", but got none");
  bool namesFinalNorm = any_of(arguments, [](StringRef argument) { return argument.starts_with("--final-norm="); });
  if (options.conversion.params == NormMapping::Shift && namesFinalNorm)
    return usageError("expected no --final-norm beside --params=shift, which makes the last norm the final one");
  return Error::success();
}

/// A flag that takes a value, by `--name=value`.
static Error setValue(ResidcOptions &options, std::optional<EmitKind> &emit, StringRef name, StringRef value) {
  auto text = [&](std::string &place) {
    place = value.str();
    return value.empty() ? usageError("expected a value after --" + name + "=, but got none") : Error::success();
  };
  if (name == "emit")
    return setEmit(emit, value);
  if (name == "mode")
    return setMode(options, value);
  if (name == "target")
    return setTarget(value);
  if (name == "schedule")
    return setSchedule(options, value);
  if (name == "prefix")
    return setPrefix(options, value);
  if (name == "placement")
    return setPlacement(options, value);
  if (name == "params")
    return setParams(options, value);
  if (name == "final-norm")
    return setFinalNorm(options, value);
  std::string *place = StringSwitch<std::string *>(name)
                           .Case("header", &options.header)
                           .Case("depfile", &options.depfile)
                           .Case("manifest", &options.manifest)
                           .Case("report", &options.reportFile)
                           .Case("mcpu", &options.mcpu)
                           .Case("mtriple", &options.triple)
                           .Case("dump-stages", &options.dumpStages)
                           .Default(nullptr);
  return place ? text(*place) : usageError("unknown flag '--" + name + "'; residc --help lists all");
}

static bool setSwitch(ResidcOptions &options, StringRef flag) {
  bool *place = StringSwitch<bool *>(flag)
                    .Case("--time", &options.time)
                    .Case("--report", &options.report)
                    .Case("--werror", &options.warningsAreErrors)
                    .Cases({"--help", "-h"}, &options.help)
                    .Case("--version", &options.version)
                    .Default(nullptr);
  if (place)
    *place = true;
  return place;
}

static StringRef suffixOf(EmitKind kind) {
  switch (kind) {
  case EmitKind::Object:
    return ".o";
  case EmitKind::Assembly:
    return ".s";
  case EmitKind::LLVM:
    return ".ll";
  case EmitKind::MLIR:
    return ".mlir";
  case EmitKind::SVG:
    return ".svg";
  case EmitKind::Header:
    return ".h";
  }
  llvm_unreachable("unknown kind of output");
}

/// Decides output and kind from each other.
static Error completeOutput(ResidcOptions &options, std::optional<EmitKind> emit) {
  StringRef suffix = sys::path::extension(options.output);
  if (!emit && !options.output.empty() && options.output != "-") {
    if (suffix == ".ptx")
      return unavailable("output '" + options.output + "': ptx is not available in this version");
    for (EmitKind kind :
         {EmitKind::Object, EmitKind::Assembly, EmitKind::LLVM, EmitKind::MLIR, EmitKind::SVG, EmitKind::Header})
      if (suffix == suffixOf(kind))
        emit = kind;
    if (!emit)
      return usageError("expected an output that ends in .o, .s, .ll, .mlir, .svg or .h, or --emit, but got '" +
                        options.output + "'");
  }
  options.emit = emit.value_or(EmitKind::Object);
  if (!options.output.empty())
    return Error::success();
  if (options.input == "-")
    return usageError("expected -o OUT when the program comes from standard input");
  options.output = (sys::path::stem(options.input) + suffixOf(options.emit)).str();
  if (options.output == options.input)
    return usageError("expected -o OUT, because the default output would be the input '" + options.input + "'");
  return Error::success();
}

Expected<ResidcOptions> mlir::resid::tools::parseResidcOptions(ArrayRef<const char *> arguments) {
  ResidcOptions options;
  std::optional<EmitKind> emit;
  for (unsigned i = 0; i < arguments.size(); ++i) {
    StringRef argument = arguments[i];
    if (setSwitch(options, argument))
      continue;
    if (argument == "-o") {
      if (++i == arguments.size() || !*arguments[i])
        return usageError("expected a file after -o, but got none");
      options.output = arguments[i];
    } else if (argument.starts_with("--") && argument.contains('=')) {
      auto [name, value] = argument.drop_front(2).split('=');
      if (Error error = setValue(options, emit, name, value))
        return std::move(error);
    } else if (argument.starts_with("-") && argument != "-") {
      return usageError("unknown flag '" + argument + "'; residc --help lists all (values follow '=')");
    } else if (!options.input.empty()) {
      return usageError("expected one input, but got '" + options.input + "' and '" + argument + "'");
    } else {
      options.input = argument.str();
      options.inputIndex = i;
    }
  }
  if (options.help || options.version)
    return options;
  if (options.input.empty())
    return usageError("expected an input file, but got none; residc --help shows examples");
  if (Error error = checkConversion(options, arguments))
    return std::move(error);
  if (Error error = completeOutput(options, emit))
    return std::move(error);
  if (Error error = checkOutputs(options.input, {options.output, options.header, options.manifest, options.reportFile,
                                                 options.depfile}))
    return usageError(toString(std::move(error)));
  return options;
}
