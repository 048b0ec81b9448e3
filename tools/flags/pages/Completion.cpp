// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What bash, zsh and fish complete; see Pages.h. Passes of resid-opt are asked for when they are completed, since there
// are those of plug-ins too.

#include "tools/flags/pages/Pages.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mlir::resid::tools;

/// Prints the passes of resid-opt, one per line, as flags.
static const char *const listPasses = R"(resid-opt --list-passes 2>/dev/null | sed -n 's/^  \(--[a-z0-9-]*\) .*/\1/p')";

static bool hasPasses(const ToolDescription &tool) { return &tool == &resid_opt::tool; }
static bool hasInput(const ToolDescription &tool) { return &tool != &resid_lsp_server::tool; }

/// A name of a shell function.
static std::string toIdentifier(StringRef name) {
  std::string identifier = "_" + name.str();
  llvm::replace(identifier, '-', '_');
  return identifier;
}

//===----------------------------------------------------------------------===//
// bash
//===----------------------------------------------------------------------===//

/// The patterns of a `case` that the flag is, with one dash and with two.
static std::string toPattern(const DescribedFlag &flag) {
  StringRef name = flag.getName();
  return name.starts_with("--") ? (name + "|" + name.drop_front()).str() : name.str();
}

static void writeBashValues(const ToolDescription &tool, raw_ostream &stream) {
  for (const DescribedFlag &flag : describeFlags(tool)) {
    if (flag.valueName.empty())
      continue;
    stream << "    " << toPattern(flag) << ")\n";
    if (!flag.values.empty())
      stream << "      mapfile -t COMPREPLY < <(compgen -W '" << join(flag.values, " ") << "' -- \"$value\")\n";
    else if (flag.takesFile() || flag.takesFolder())
      stream << "      compopt -o filenames; mapfile -t COMPREPLY < <(compgen -" << (flag.takesFile() ? "f" : "d")
             << " -- \"$value\")\n";
    // Only the form with '=' has a value where the flag stands alone too.
    stream << "      " << (flag.mayStandApart ? "" : "[[ $joined ]] && ") << "return ;;\n";
  }
}

void mlir::resid::tools::writeBashCompletion(const ToolDescription &tool, raw_ostream &stream) {
  std::string function = toIdentifier(tool.name);
  std::vector<std::string> words;
  for (const DescribedFlag &flag : describeFlags(tool))
    words.push_back(flag.spelling.str());
  stream << "# What bash completes for " << tool.name << "; written from tools/flags/" << tool.name << ".td.\n"
         << function << "() {\n"
         << R"sh(  local current=${COMP_WORDS[COMP_CWORD]} flag= value= joined= prefix=
  local previous=${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  # Where bash breaks words at '=', as it does by default, the sign is a word.
  if [[ $current == = ]]; then
    flag=$previous joined=1
  elif [[ $previous == = && COMP_CWORD -ge 2 ]]; then
    flag=${COMP_WORDS[COMP_CWORD-2]} value=$current joined=1
  elif [[ $current == -*=* ]]; then
    flag=${current%%=*} value=${current#*=} joined=1 prefix=$flag=
  elif [[ $previous == -* ]]; then
    flag=$previous value=$current
  fi
  case $flag in
)sh";
  writeBashValues(tool, stream);
  stream << "  esac\n  if [[ $current == -* ]]; then\n    mapfile -t COMPREPLY < <(compgen -W '" << join(words, " ")
         << "'";
  if (hasPasses(tool))
    stream << "\" $(" << listPasses << ")\"";
  stream << R"sh( -- "$current")
    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace
    return
  fi
)sh";
  if (hasInput(tool))
    stream << R"sh(  compopt -o filenames
  mapfile -t COMPREPLY < <(compgen -f -X '!*.mlir' -- "$current"; compgen -d -- "$current")
)sh";
  stream << "}\ncomplete -F " << function << " " << tool.name << "\n";
}

//===----------------------------------------------------------------------===//
// zsh
//===----------------------------------------------------------------------===//

/// Between single quotes, in a specification of _arguments.
static std::string quoteForZsh(StringRef text) {
  std::string quoted;
  for (char c : text)
    quoted += c == '\'' ? "'\\''" : StringRef("[]:\\").contains(c) ? std::string("\\") + c : std::string(1, c);
  return quoted;
}

void mlir::resid::tools::writeZshCompletion(const ToolDescription &tool, raw_ostream &stream) {
  stream << "#compdef " << tool.name << "\n# Written from tools/flags/" << tool.name << ".td.\n";
  if (hasPasses(tool))
    stream << "local -a passes=(${(f)\"$(" << listPasses << ")\"})\n";
  stream << "_arguments -S";
  if (hasPasses(tool))
    stream << " \\\n  ${^passes}'[pass]'";
  for (const DescribedFlag &flag : describeFlags(tool)) {
    stream << " \\\n  '" << (flag.isRepeatable ? "*" : "") << flag.spelling;
    // "-o+": the value follows at once or as an argument of its own; "--name=": likewise; "--name=-": at once.
    if (!flag.valueName.empty())
      stream << (!flag.spelling.ends_with("=") ? "+" : flag.mayStandApart ? "" : "-");
    stream << "[" << quoteForZsh(flag.getText()) << "]";
    if (!flag.valueName.empty())
      stream << ":" << quoteForZsh(flag.valueName) << ":"
             << (!flag.values.empty() ? "(" + join(flag.values, " ") + ")"
                 : flag.takesFile()   ? "_files"
                 : flag.takesFolder() ? "_files -/"
                                      : " ");
    stream << "'";
  }
  if (hasInput(tool))
    stream << " \\\n  '1:program:_files -g \"*.mlir\"'";
  stream << "\n";
}

//===----------------------------------------------------------------------===//
// fish
//===----------------------------------------------------------------------===//

static std::string quoteForFish(StringRef text) {
  std::string quoted = "'";
  for (char c : text)
    quoted += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return quoted + "'";
}

void mlir::resid::tools::writeFishCompletion(const ToolDescription &tool, raw_ostream &stream) {
  stream << "# What fish completes for " << tool.name << "; written from tools/flags/" << tool.name << ".td.\n";
  if (!hasInput(tool))
    stream << "complete -c " << tool.name << " -f\n";
  else
    stream << "complete -c " << tool.name << " -k -x -a '(__fish_complete_suffix .mlir)'\n";
  if (hasPasses(tool))
    stream << "complete -c " << tool.name << " -n 'string match -q -- \"--*\" (commandline -ct)' -a '("
           << "resid-opt --list-passes 2>/dev/null | string match -r -g \"^  (--[a-z0-9-]+) \")'\n";
  for (const DescribedFlag &flag : describeFlags(tool)) {
    StringRef name = flag.getName();
    bool isLong = name.starts_with("--");
    stream << "complete -c " << tool.name << (isLong ? " -l " : " -s ") << name.ltrim('-');
    if (!flag.values.empty())
      stream << " -x -a '" << join(flag.values, " ") << "'";
    else if (flag.takesFolder())
      stream << " -x -a '(__fish_complete_directories)'";
    else if (flag.takesFile() && flag.mayStandApart)
      stream << " -r -F";
    else if (!flag.valueName.empty() && flag.mayStandApart)
      stream << " -x";
    stream << " -d " << quoteForFish(flag.getText()) << "\n";
  }
}
