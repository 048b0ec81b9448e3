// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The flags of resid-opt; see Flags.h. All flags that are registered are asked for, so that those of plug-ins are among
// them.

#include "tools/resid-opt/Flags.h"

#include "mlir/Pass/PassRegistry.h"
#include "tools/flags/Tool.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Option/Option.h"
#include "llvm/Support/CommandLine.h"

using namespace llvm;
using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::tools;

namespace {
/// An argument, and the flag that it is; null where it is none, and where no such flag is registered.
struct GivenArgument {
  StringRef text, name = {}, value = {};
  cl::Option *flag = nullptr;
  bool isFlag() const { return !name.empty(); }
};
} // namespace

/// The arguments as cl::opt splits them, up to `--`.
static SmallVector<GivenArgument> readArguments(ArrayRef<const char *> arguments) {
  SmallVector<GivenArgument> given;
  auto &registered = cl::getRegisteredOptions();
  for (size_t i = 0; i != arguments.size() && StringRef(arguments[i]) != "--"; ++i) {
    GivenArgument argument = {arguments[i]};
    if (argument.text.size() > 1 && argument.text.starts_with("-")) {
      std::tie(argument.name, argument.value) = argument.text.ltrim('-').split('=');
      argument.flag = registered.lookup(argument.name);
      bool takesNext = argument.flag && !argument.text.contains('=') &&
                       argument.flag->getValueExpectedFlag() == cl::ValueRequired && i + 1 != arguments.size();
      if (takesNext)
        argument.value = arguments[++i];
    }
    given.push_back(argument);
  }
  return given;
}

//===----------------------------------------------------------------------===//
// Help
//===----------------------------------------------------------------------===//

bool mlir::resid::tools::asksForHelp(ArrayRef<const char *> arguments) {
  return any_of(readArguments(arguments), [](const GivenArgument &argument) {
    return argument.text == "--help" || argument.text == "-help" || argument.text == "-h";
  });
}

static const PassRegistryEntry *lookUpPass(StringRef name) {
  if (const PassInfo *pass = PassInfo::lookup(name))
    return pass;
  return PassPipelineInfo::lookup(name);
}

/// Descriptions begin in one column, which upstream's code requires to be right of all names.
static void printPasses(ArrayRef<StringRef> names) {
  size_t column = 0;
  for (StringRef name : names)
    column = std::max({column, name.size() + 8, lookUpPass(name)->getOptionWidth() + 4});
  for (StringRef name : names)
    lookUpPass(name)->printHelpStr(/*indent=*/2, column);
}

/// All flags that are no passes, and not among those that `tool` has.
static void printFlags(const ToolDescription &tool) {
  SmallPtrSet<cl::Option *, 32> seen;
  auto &registered = cl::getRegisteredOptions();
  for (unsigned id = 1; id <= tool.flags->getNumOptions(); ++id)
    seen.insert(registered.lookup(tool.flags->getOptionName(id).rtrim('=')));
  SmallVector<cl::Option *> flags;
  for (auto &entry : registered)
    if (cl::Option *flag = entry.second; flag->hasArgStr() && flag->getOptionHiddenFlag() == cl::NotHidden)
      if (seen.insert(flag).second)
        flags.push_back(flag);
  llvm::sort(flags, [](cl::Option *a, cl::Option *b) { return a->ArgStr < b->ArgStr; });
  size_t column = 0;
  for (cl::Option *flag : flags)
    column = std::max(column, flag->getOptionWidth());
  for (cl::Option *flag : flags)
    flag->printOptionInfo(column);
}

void mlir::resid::tools::printOptHelp() {
  SmallVector<StringRef> own, upstream;
  for (auto &entry : cl::getRegisteredOptions())
    if (lookUpPass(entry.first))
      (entry.first.starts_with("resid-") ? own : upstream).push_back(entry.first);
  llvm::sort(own);
  llvm::sort(upstream);
  resid_opt::tool.printHelp(outs());
  outs() << "\nPasses of resid:\n";
  printPasses(own);
  outs() << "\nFrom MLIR and LLVM, and from plug-ins\n\nPasses:\n";
  printPasses(upstream);
  outs() << "\nFlags:\n";
  printFlags(resid_opt::tool);
}

//===----------------------------------------------------------------------===//
// Wrong flags
//===----------------------------------------------------------------------===//

/// A flag that takes one value: given twice, or without it. cl::opt would take the last value in silence.
std::string mlir::resid::tools::describeWrongValues(ArrayRef<const char *> arguments) {
  SmallVector<GivenArgument> given = readArguments(arguments);
  for (auto [index, argument] : enumerate(given)) {
    if (!argument.flag || argument.flag->getValueExpectedFlag() != cl::ValueRequired || !argument.flag->hasArgStr())
      continue;
    StringRef flag = argument.text.split('=').first;
    if (argument.value.empty() && !argument.text.contains('='))
      return ("expected a value after " + flag + ", but got none").str();
    for (const GivenArgument &earlier : ArrayRef(given).take_front(index))
      if (earlier.flag == argument.flag && argument.flag->getNumOccurrencesFlag() == cl::Optional)
        return ("expected " + flag + " once, but got '" + earlier.value + "' and '" + argument.value + "'").str();
  }
  return "";
}

std::string mlir::resid::tools::describeWrongFlags(ArrayRef<const char *> arguments, StringRef message) {
  const GivenArgument *input = nullptr;
  SmallVector<GivenArgument> given = readArguments(arguments);
  for (const GivenArgument &argument : given) {
    if (argument.isFlag())
      continue;
    if (input)
      return ("expected one input, but got '" + input->text + "' and '" + argument.text + "'").str();
    input = &argument;
  }
  // In upstream's words; what is wrong with a value it has said already.
  message.consume_front("resid-opt: ");
  return message.empty() ? "wrong flags; resid-opt --help lists all" : message.rtrim().str();
}
