// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/flags/CommandLine.h"

#include "dialect/Spelling.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Option/Arg.h"
#include "llvm/Option/Option.h"

using namespace llvm;
using namespace llvm::opt;
using namespace mlir::resid;
using namespace mlir::resid::tools;

Error mlir::resid::tools::makeUsageError(const Twine &message) {
  return createStringError(std::make_error_code(std::errc::invalid_argument), message);
}

Error mlir::resid::tools::makeUnavailableError(const Twine &message) {
  return createStringError(std::make_error_code(std::errc::not_supported), message);
}

namespace {

/// The checks of one command line.
class Checker {
public:
  Checker(const ToolDescription &tool, const InputArgList &list) : tool(tool), flags(*tool.flags), list(list) {}

  Error checkUnknown(const Arg &argument) const;
  Error checkMissing(StringRef spelling, unsigned index) const;
  Error checkValue(const Arg &argument, ArrayRef<UnavailableValue> unavailable) const;
  Error checkOnce(const Arg &argument) const;
  Error checkEmpty(ArrayRef<const char *> arguments) const;

private:
  bool isFlag(StringRef text, Option::OptionClass kind = Option::UnknownClass) const;
  Option getFlag(const Arg &argument) const { return argument.getOption().getUnaliasedOption(); }
  bool isApart(const Arg &argument) const;

  const ToolDescription &tool;
  const OptTable &flags;
  const InputArgList &list;
};

} // namespace

/// A flag as messages name it.
static StringRef nameOf(const Option &flag) { return flag.getPrefixedName().rtrim('='); }

static StringRef describeValue(const OptTable &flags, const Option &flag) {
  StringRef value = flags.getOptionMetaVar(flag.getID());
  return value == "FILE" ? "a file" : value == "DIR" ? "a folder" : "a value";
}

/// Whether `text` is a flag of the table, of `kind` where one is given.
bool Checker::isFlag(StringRef text, Option::OptionClass kind) const {
  std::string copy = text.str();
  const char *arguments[] = {copy.c_str()};
  InputArgList alone(std::begin(arguments), std::end(arguments));
  unsigned index = 0;
  std::unique_ptr<Arg> parsed = flags.ParseOneArg(alone, index);
  // Without its value, which is not here, a flag parses as nothing.
  if (!parsed)
    return kind == Option::UnknownClass;
  Option::OptionClass found = parsed->getOption().getKind();
  return kind == Option::UnknownClass ? found != Option::InputClass && found != Option::UnknownClass : found == kind;
}

/// Whether the value is an argument of its own.
bool Checker::isApart(const Arg &argument) const {
  unsigned next = argument.getIndex() + 1;
  return argument.getNumValues() == 1 && next < list.getNumInputArgStrings() &&
         argument.getValue() == list.getArgString(next);
}

Error Checker::checkUnknown(const Arg &argument) const {
  StringRef text = argument.getSpelling();
  auto [name, value] = text.split('=');
  if (name != text && isFlag(name, Option::FlagClass))
    return makeUsageError("expected no value after " + name + ", but got '" + value + "'");
  std::string nearest;
  if (flags.findNearest(text, nearest, Visibility(), /*MinimumLength=*/4, /*MaximumDistance=*/2) <= 2)
    return makeUsageError("unknown flag '" + text + "'; did you mean '" + nearest + "'?");
  return makeUsageError("unknown flag '" + text + "'; " + tool.name + " --help lists all");
}

/// Of a flag whose value should have been the next argument, or stand after '='.
Error Checker::checkMissing(StringRef spelling, unsigned index) const {
  for (unsigned id = 1; id <= flags.getNumOptions(); ++id) {
    Option flag = flags.getOption(id);
    if (flag.getKind() == Option::SeparateClass || flag.getKind() == Option::JoinedOrSeparateClass)
      if (flag.getPrefixedName().ltrim('-') == spelling.ltrim('-'))
        return makeUsageError("expected " + describeValue(flags, flag) + " after " + spelling + ", but got none");
  }
  return makeUsageError("expected a value after " + spelling + ", but got none");
}

Error Checker::checkValue(const Arg &argument, ArrayRef<UnavailableValue> unavailable) const {
  Option flag = getFlag(argument);
  StringRef value = argument.getValue();
  StringRef spelling = list.getArgString(argument.getIndex());
  if (isApart(argument) && value.size() > 1 && value.starts_with("-") && isFlag(value))
    return makeUsageError("expected " + describeValue(flags, flag) + " after " + spelling + ", but got the flag '" +
                          value + "'");
  if (value.empty() && !flag.hasFlag(MayBeEmpty))
    return makeUsageError("expected " + describeValue(flags, flag) + " after " + spelling + ", but got none");
  for (const UnavailableValue &known : unavailable)
    if (flag.getID() == known.flag && value == known.value)
      return makeUnavailableError(nameOf(flag) + "=" + value + " is not available in this version");
  std::vector<std::string> texts = flags.suggestValueCompletions(flag.getPrefixedName(), "");
  if (texts.empty() || is_contained(texts, value))
    return Error::success();
  SmallVector<StringRef> values(texts.begin(), texts.end());
  std::string all =
      values.size() == 1 ? texts.front() : join(ArrayRef(values).drop_back(), ", ") + " or " + texts.back();
  return makeUsageError("expected " + nameOf(flag) + "=" + all + ", but got '" + value + "'" +
                        suggestNearest(value, {values, {}, {}}));
}

Error Checker::checkOnce(const Arg &argument) const {
  Option flag = getFlag(argument);
  if (flag.hasFlag(Repeatable))
    return Error::success();
  // Earlier ones were found to be alone.
  for (const Arg *other : list.filtered(flag.getID())) {
    if (other == &argument)
      continue;
    if (argument.getNumValues() == 0)
      return makeUsageError("expected " + nameOf(flag) + " once, but got it twice");
    return makeUsageError("expected " + nameOf(flag) + " once, but got '" + argument.getValue() + "' and '" +
                          other->getValue() + "'");
  }
  return Error::success();
}

/// The parser passes over an empty argument that is no flag's value, which may be a variable of a script that is not
/// set.
Error Checker::checkEmpty(ArrayRef<const char *> arguments) const {
  for (auto [index, text] : enumerate(arguments)) {
    auto takes = [&, index = index](const Arg *argument) {
      return argument->getIndex() + 1 == index && isApart(*argument);
    };
    if (!*text && none_of(list, takes))
      return makeUsageError("expected a file or a flag, but got ''");
  }
  return Error::success();
}

Expected<CommandLine> CommandLine::parse(const ToolDescription &tool, ArrayRef<const char *> arguments,
                                         ArrayRef<UnavailableValue> unavailable) {
  unsigned missingIndex = 0, missingCount = 0;
  CommandLine line(tool.flags->ParseArgs(arguments, missingIndex, missingCount));
  Checker checker(tool, line.list);
  if (missingCount)
    return checker.checkMissing(arguments[missingIndex], missingIndex);
  for (const Arg *argument : line.list) {
    Option::OptionClass kind = argument->getOption().getKind();
    if (kind == Option::UnknownClass)
      return checker.checkUnknown(*argument);
    if (kind == Option::InputClass || kind == Option::FlagClass)
      continue;
    if (Error error = checker.checkValue(*argument, unavailable))
      return std::move(error);
  }
  for (const Arg *argument : line.list)
    if (argument->getOption().getKind() != Option::InputClass)
      if (Error error = checker.checkOnce(*argument))
        return std::move(error);
  if (Error error = checker.checkEmpty(arguments))
    return std::move(error);
  return std::move(line);
}

Expected<std::optional<CommandLine::Input>> CommandLine::getInput(unsigned inputID) const {
  std::optional<Input> input;
  for (const Arg *argument : list.filtered(inputID)) {
    if (input)
      return makeUsageError("expected one input, but got '" + input->path + "' and '" + argument->getValue() + "'");
    input = Input{argument->getValue(), argument->getIndex()};
  }
  return input;
}
