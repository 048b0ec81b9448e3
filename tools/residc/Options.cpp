// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/residc/Options.h"
#include "tools/residc/SharedLibrary.h"

#include "codegen/cuda/ptx/Assemble.h"
#include "dialect/Shapes.h"
#include "tools/common/Files.h"
#include "tools/common/ScheduleFlag.h"
#include "tools/flags/CommandLine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mlir::resid;
using namespace mlir::resid::tools;
using namespace mlir::resid::tools::residc;

static Error setSchedule(ResidcOptions &options, StringRef value) {
  if (value.consume_front("@")) {
    options.scheduleFile = value.str();
    if (value.split(',').second.contains('='))
      return makeUsageError("expected --schedule=@FILE or --schedule=KEY=VALUE[,...], but got both in '@" + value +
                            "'");
    if (!options.gpus.chips.empty())
      return makeUsageError("expected --schedule=KEY=VALUE[,...] beside --target=cuda, but got the file '" + value +
                            "' of schedules for CPUs");
    return value.empty() ? makeUsageError("--schedule: expected a file after '@', but got none") : Error::success();
  }
  Expected<ScheduleFlag> schedule = parseScheduleFlag(value, !options.gpus.chips.empty());
  if (!schedule)
    return makeUsageError(toString(schedule.takeError()));
  options.schedule = schedule->ofCPUs;
  options.gpus.schedule = schedule->ofGPUs;
  return Error::success();
}

static Error setPrefix(ResidcOptions &options, StringRef value) {
  bool valid =
      !value.empty() && !isDigit(value.front()) && all_of(value, [](char c) { return isAlnum(c) || c == '_'; });
  options.prefix = value.str();
  return valid ? Error::success() : makeUsageError("expected --prefix to begin a C name, but got '" + value + "'");
}

/// What says how to convert a placement says nothing where none is asked for, nor where norms only move.
static Error setConversion(ResidcOptions &options, const CommandLine &line) {
  ConvertNormPlacementOptions &conversion = options.conversion;
  conversion.to = line.getValue(OPT_placement).str();
  for (auto [flag, name] : {std::pair(OPT_params, "--params"), std::pair(OPT_final_norm, "--final-norm")})
    if (conversion.to.empty() && line.has(flag))
      return makeUsageError(Twine("expected --placement beside ") + name + ", but got none");
  if (conversion.to.empty() && !line.has(OPT_streams) && line.has(OPT_manifest))
    return makeUsageError("expected --placement or --streams beside --manifest, but got none");
  line.choose(OPT_params, conversion.params);
  if (conversion.params == NormMapping::Shift && line.has(OPT_final_norm))
    return makeUsageError("expected no --final-norm beside --params=shift, which makes the last norm the final one");
  line.choose(OPT_final_norm, conversion.finalNorm);
  return Error::success();
}

static Error setStreams(ResidcOptions &options, const CommandLine &line) {
  options.hasStreams = line.has(OPT_streams);
  if (!options.hasStreams)
    return line.has(OPT_connection) ? makeUsageError("expected --streams beside --connection, but got none")
                                    : Error::success();
  StringRef number = line.getValue(OPT_streams);
  if (number.getAsInteger(10, options.widening.streams) || options.widening.streams < 1 ||
      options.widening.streams > kMaxStreams)
    return makeUsageError("expected --streams=N, from 1 to " + Twine(kMaxStreams) + ", but got '" + number + "'");
  if (options.widening.streams == 1 && line.has(OPT_connection))
    return makeUsageError("expected no --connection beside --streams=1, which has none");
  line.choose(OPT_connection, options.widening.connection);
  return Error::success();
}

/// What says how to differentiate says nothing where nothing is differentiated.
static Error setGradients(ResidcOptions &options, const CommandLine &line) {
  options.gradients.function = line.getValue(OPT_grad).str();
  if (line.has(OPT_grad) && options.gradients.function.empty())
    return makeUsageError("expected --grad=FUNC, but got no name");
  for (auto [flag, name] :
       {std::pair(OPT_wrt, "--wrt"), std::pair(OPT_grad_mode, "--grad-mode"), std::pair(OPT_save, "--save")})
    if (!line.has(OPT_grad) && line.has(flag))
      return makeUsageError(Twine("expected --grad beside ") + name + ", but got none");
  line.choose(OPT_grad_mode, options.gradients.mode);
  if (line.has(OPT_save) && options.gradients.mode == GradMode::ValueAndGrad)
    return makeUsageError("expected no --save beside --grad-mode=value-and-grad, which saves nothing");
  line.choose(OPT_save, options.gradients.save);
  if (!line.has(OPT_wrt))
    return Error::success();
  SmallVector<StringRef> numbers;
  line.getValue(OPT_wrt).split(numbers, ',');
  SmallVector<int64_t> wrt;
  for (StringRef number : numbers) {
    int64_t index;
    if (number.getAsInteger(10, index) || index < 0)
      return makeUsageError("expected --wrt=N[,N...], numbers of arguments from 0, but got '" + line.getValue(OPT_wrt) +
                            "'");
    if (is_contained(wrt, index))
      return makeUsageError("expected each argument once in --wrt, but got " + Twine(index) + " twice in '" +
                            line.getValue(OPT_wrt) + "'");
    wrt.push_back(index);
  }
  options.gradients.wrt = wrt;
  return Error::success();
}

/// What says which GPUs says nothing where kernels run on the CPU.
static Error setChips(ResidcOptions &options, const CommandLine &line) {
  bool isForDevice = line.getValue(OPT_target) == "cuda";
  for (auto [flag, name] : {std::pair(OPT_chip, "--chip"), std::pair(OPT_cubin, "--cubin")})
    if (!isForDevice && line.has(flag))
      return makeUsageError(Twine("expected --target=cuda beside ") + name + ", but got none");
  if (!isForDevice)
    return Error::success();
  if (line.has(OPT_mcpu) && !line.has(OPT_mtriple) && line.getValue(OPT_mcpu).contains(','))
    return makeUsageError("expected one CPU in --mcpu beside --target=cuda, but got '" + line.getValue(OPT_mcpu) + "'");
  Expected<std::vector<cuda::Chip>> chips =
      cuda::resolveChips(line.has(OPT_chip) ? line.getValue(OPT_chip) : StringRef(cuda::kDefaultChip));
  if (!chips)
    return makeUsageError("--chip: " + toString(chips.takeError()));
  options.gpus.chips = std::move(*chips);
  if (!line.has(OPT_cubin))
    return Error::success();
  options.gpus.assembler = cuda::findAssembler();
  if (options.gpus.assembler.empty())
    return makeUnavailableError(
        "--cubin is not available without NVIDIA's ptxas: expected it in PATH, or in the variable "
        "RESID_PTXAS; without --cubin, the driver does its work");
  return Error::success();
}

/// The flags that say what they say alone.
static Error setOptions(ResidcOptions &options, const CommandLine &line) {
  options.help = line.has(OPT_help);
  options.version = line.has(OPT_version);
  options.verbose = line.has(OPT_verbose);
  options.time = line.has(OPT_time);
  options.report = line.has(OPT_report);
  options.weightsStruct = line.has(OPT_weights_struct);
  options.packWeights = line.has(OPT_pack_weights);
  options.warningsAreErrors = line.has(OPT_werror);
  options.gpus.relaxesProducts = line.has(OPT_relax_rounding);
  line.choose(OPT_mode, options.mode);
  line.choose(OPT_raise, options.raise);
  for (auto [flag, place] : {std::pair(OPT_output, &options.output), std::pair(OPT_header, &options.header),
                             std::pair(OPT_depfile, &options.depfile), std::pair(OPT_manifest, &options.manifest),
                             std::pair(OPT_report_EQ, &options.reportFile), std::pair(OPT_mcpu, &options.mcpu),
                             std::pair(OPT_mtriple, &options.triple), std::pair(OPT_dump_stages, &options.dumpStages)})
    if (line.has(flag))
      *place = line.getValue(flag).str();
  if (line.has(OPT_prefix))
    if (Error error = setPrefix(options, line.getValue(OPT_prefix)))
      return error;
  if (Error error = setChips(options, line))
    return error;
  if (line.has(OPT_schedule))
    if (Error error = setSchedule(options, line.getValue(OPT_schedule)))
      return error;
  if (Error error = setGradients(options, line))
    return error;
  if (Error error = setStreams(options, line))
    return error;
  return setConversion(options, line);
}

/// The kind with that value of a member; null where there is none.
static const EmitKind *findKind(StringLiteral EmitKind::*member, StringRef value) {
  ArrayRef<EmitKind> kinds = getEmitKinds();
  const EmitKind *found = find_if(kinds, [&](const EmitKind &kind) { return kind.*member == value; });
  return found == kinds.end() ? nullptr : found;
}

/// All suffixes as `.a, .b or .c`.
static std::string listSuffixes() {
  SmallVector<StringRef> suffixes =
      map_to_vector(getEmitKinds(), [](const EmitKind &kind) -> StringRef { return kind.suffix; });
  return join(ArrayRef(suffixes).drop_back(), ", ") + " or " + suffixes.back().str();
}

/// Decides output and kind from each other.
static Error completeOutput(ResidcOptions &options, const EmitKind *emit) {
  StringRef suffix = sys::path::extension(options.output);
  if (!emit && !options.output.empty() && options.output != "-") {
    emit = findKind(&EmitKind::suffix, suffix);
    if (!emit)
      return makeUsageError("expected an output that ends in " + listSuffixes() + ", or --emit, but got '" +
                            options.output + "'");
  }
  if (emit)
    options.emit = *emit;
  if (options.emit.source == EmitSource::PTX && options.gpus.chips.empty())
    return makeUsageError("expected --target=cuda beside --emit=ptx, but got a CPU");
  if (options.emit.source == EmitSource::PTX && options.gpus.chips.size() > 1)
    return makeUsageError("expected one chip in --chip beside --emit=ptx, but got " + Twine(options.gpus.chips.size()));
  if (!options.gpus.assembler.empty() && options.emit.source != EmitSource::Code)
    return makeUsageError("expected --emit=obj beside --cubin, but got --emit=" + options.emit.name);
  if (options.emit.source == EmitSource::Shared && !hasLinker())
    return makeUnavailableError("shared libraries are not available: this residc was built without the linker of LLVM");
  if (!options.output.empty())
    return Error::success();
  if (options.input == "-")
    return makeUsageError("expected -o OUT when the program comes from standard input");
  options.output = (sys::path::stem(options.input) + options.emit.suffix).str();
  if (options.output == options.input)
    return makeUsageError("expected -o OUT, because the default output would be the input '" + options.input + "'");
  return Error::success();
}

Expected<ResidcOptions> mlir::resid::tools::parseResidcOptions(ArrayRef<const char *> arguments) {
  Expected<CommandLine> line = CommandLine::parse(tool, arguments);
  if (!line)
    return line.takeError();
  ResidcOptions options;
  if (Error error = setOptions(options, *line))
    return std::move(error);
  Expected<std::optional<CommandLine::Input>> input = line->getInput(OPT_INPUT);
  if (!input)
    return input.takeError();
  if (*input) {
    options.input = (*input)->path;
    options.inputIndex = (*input)->index;
  }
  if (options.help || options.version || options.mcpu == "help" || (options.verbose && !*input))
    return options;
  if (!*input)
    return makeUsageError("expected an input file, but got none; residc --help shows examples");
  const EmitKind *emit = line->has(OPT_emit) ? findKind(&EmitKind::name, line->getValue(OPT_emit)) : nullptr;
  if (Error error = completeOutput(options, emit))
    return std::move(error);
  for (StringRef file : {options.input, options.scheduleFile})
    if (Error error =
            checkOutputs(file, {options.output, options.header, options.manifest, options.reportFile, options.depfile}))
      return makeUsageError(toString(std::move(error)));
  return options;
}
