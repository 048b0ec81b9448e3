// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/resid-tune/Options.h"

#include "codegen/cpu/choice/Schedule.h"
#include "dialect/Spelling.h"
#include "tools/common/Files.h"
#include "tools/flags/CommandLine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mlir::resid;
using namespace mlir::resid::tools;
using namespace mlir::resid::tools::resid_tune;

std::string tune::print(const Shape &shape) {
  return join(map_range(shape, [](int64_t size) { return std::to_string(size); }), "x");
}

/// More elements in one dimension than memory has for several arrays.
static constexpr int64_t kMostElements = (int64_t(1) << 31) - 1;

static Expected<tune::Shape> parseShape(StringRef text) {
  tune::Shape shape;
  for (StringRef part : split(text, 'x')) {
    shape.push_back(0);
    if (part.getAsInteger(10, shape.back()) || shape.back() < 1 || shape.back() > kMostElements)
      return makeUsageError("expected --shapes of sizes from 1 to " + Twine(kMostElements) +
                            ", such as 32x768,4096x768, but got '" + text + "'");
  }
  return shape;
}

static Error parseShapes(tune::Options &options, StringRef text) {
  for (StringRef part : split(text, ',')) {
    Expected<tune::Shape> shape = parseShape(part);
    if (!shape)
      return shape.takeError();
    if (is_contained(options.shapes, *shape))
      return makeUsageError("expected each of --shapes once, but got '" + part + "' twice");
    options.shapes.push_back(std::move(*shape));
  }
  return Error::success();
}

static Error parseKeys(tune::Options &options, StringRef text) {
  SmallVector<StringRef> known;
  for (const cpu::NamedValues &key : cpu::getNamedValues())
    known.push_back(key.key);
  for (const cpu::Threshold &threshold : cpu::getThresholds())
    known.push_back(threshold.key);
  for (StringRef key : split(text, ',')) {
    if (!is_contained(known, key)) {
      StringRef nearest = findNearest(key, {known, {}, {}});
      return makeUsageError(
          "expected --keys of the schedule, but got '" + key + "'; " +
          (nearest.empty() ? "the keys are " + join(known, ", ") : "did you mean '" + nearest.str() + "'?"));
    }
    options.keys.push_back(key.str());
  }
  return Error::success();
}

static Error parseNumbers(tune::Options &options, const CommandLine &line) {
  StringRef threads = line.getValue(OPT_threads), seconds = line.getValue(OPT_seconds);
  if (line.has(OPT_threads) && (threads.getAsInteger(10, options.threads) || options.threads > 1024))
    return makeUsageError("expected --threads from 0 to 1024, but got '" + threads + "'");
  if (line.has(OPT_seconds) &&
      (seconds.getAsDouble(options.seconds) || !(options.seconds > 0) || options.seconds > 86400))
    return makeUsageError("expected --seconds above 0 and up to 86400, but got '" + seconds + "'");
  return Error::success();
}

/// A program, or the table, whose kernels have names and sizes of their own.
static Error takeInput(tune::Options &options, const CommandLine &line) {
  Expected<std::optional<CommandLine::Input>> input = line.getInput(OPT_INPUT);
  if (!input)
    return input.takeError();
  if (*input) {
    options.input = (*input)->path;
    options.inputIndex = (*input)->index;
  }
  bool isDone =
      options.help || options.version || options.mcpu == "help" || (options.verbose && !*input && !options.table);
  if (isDone)
    return Error::success();
  if (!*input && !options.table)
    return makeUsageError("expected an input file or --table, but got neither; resid-tune --help shows examples");
  if (*input && options.table)
    return makeUsageError("expected an input file or --table, but got both");
  for (auto [flag, name] : {std::pair(OPT_shapes, "--shapes"), std::pair(OPT_mode, "--mode")})
    if (options.table && line.has(flag))
      return makeUsageError(Twine("expected no ") + name + " beside --table, which has its own, but got '" +
                            line.getValue(flag) + "'");
  if (Error error = checkOutputs(options.input, {options.output}))
    return makeUsageError(toString(std::move(error)));
  return Error::success();
}

Expected<tune::Options> tune::parseOptions(ArrayRef<const char *> arguments) {
  Expected<CommandLine> line = CommandLine::parse(tool, arguments);
  if (!line)
    return line.takeError();
  Options options;
  options.help = line->has(OPT_help);
  options.version = line->has(OPT_version);
  options.verbose = line->has(OPT_verbose);
  options.table = line->has(OPT_table);
  options.readers = !line->has(OPT_no_readers);
  line->choose(OPT_mode, options.mode);
  options.entry = line->getValue(OPT_entry).str();
  if (line->has(OPT_output))
    options.output = line->getValue(OPT_output).str();
  if (line->has(OPT_mcpu))
    options.mcpu = line->getValue(OPT_mcpu).str();
  if (StringRef(options.mcpu).contains(','))
    return makeUsageError("expected one CPU after --mcpu, but got '" + options.mcpu + "'");
  if (Error error = parseNumbers(options, *line))
    return std::move(error);
  if (line->has(OPT_shapes))
    if (Error error = parseShapes(options, line->getValue(OPT_shapes)))
      return std::move(error);
  if (line->has(OPT_keys))
    if (Error error = parseKeys(options, line->getValue(OPT_keys)))
      return std::move(error);
  if (Error error = takeInput(options, *line))
    return std::move(error);
  return options;
}
