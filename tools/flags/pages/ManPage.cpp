// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/flags/pages/Pages.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mlir::resid::tools;

/// For roff: backslashes and hyphens are escaped, and no line begins with a control character.
static std::string escape(StringRef text) {
  std::string escaped;
  for (char c : text) {
    bool beginsLine = escaped.empty() || escaped.back() == '\n';
    if (beginsLine && (c == '.' || c == '\''))
      escaped += "\\&";
    escaped += c == '\\' ? "\\e" : c == '-' ? "\\-" : c == '\'' ? "\\(aq" : std::string(1, c);
  }
  return escaped;
}

/// Text as it stands, line by line.
static void writeLines(StringRef text, raw_ostream &stream) {
  stream << ".nf\n" << escape(text.rtrim('\n')) << "\n.fi\n";
}

/// A help text: lines that are indented are a table.
static void writeText(StringRef help, raw_ostream &stream) {
  SmallVector<StringRef> lines;
  help.split(lines, '\n');
  bool isTable = false;
  for (StringRef line : lines) {
    if (line.starts_with(" ") != isTable)
      stream << (isTable ? ".fi\n" : ".nf\n");
    isTable = line.starts_with(" ");
    stream << escape(line) << "\n";
  }
  if (isTable)
    stream << ".fi\n";
}

static void writeFlags(const ToolDescription &tool, raw_ostream &stream) {
  std::vector<DescribedFlag> flags = describeFlags(tool);
  // Groups in the order of --help, which is the alphabet's.
  std::vector<StringRef> groups;
  for (const DescribedFlag &flag : flags)
    if (!is_contained(groups, flag.group))
      groups.push_back(flag.group);
  llvm::sort(groups);
  for (StringRef group : groups) {
    stream << ".SS " << escape(group) << "\n";
    for (const DescribedFlag &flag : flags) {
      if (flag.group != group)
        continue;
      stream << ".TP\n\\fB" << escape(flag.spelling) << "\\fR";
      if (!flag.valueName.empty())
        stream << (flag.spelling.ends_with("=") ? "" : " ") << "\\fI" << escape(flag.valueName) << "\\fR";
      stream << "\n";
      writeText(flag.help, stream);
    }
  }
}

void mlir::resid::tools::writeManPage(const ToolDescription &tool, raw_ostream &stream) {
  stream << ".\\\" Written from tools/flags/" << tool.name << ".td.\n";
  stream << ".TH " << StringRef(tool.name).upper() << " 1 \"\" \"resid " RESID_TOOL_VERSION "\" \"resid\"\n";
  stream << ".SH NAME\n" << escape(tool.name) << " \\- " << escape(tool.overview) << "\n";
  stream << ".SH SYNOPSIS\n";
  writeLines(tool.usage, stream);
  if (*tool.details)
    stream << ".SH DESCRIPTION\n" << escape(tool.details) << "\n";
  stream << ".SH OPTIONS\nA value may be an argument of its own: \\fB\\-\\-name VALUE\\fR for "
            "\\fB\\-\\-name=VALUE\\fR. Flags that also\n"
            "stand without a value need the sign. One dash does for two.\n";
  writeFlags(tool, stream);
  stream << ".SH EXAMPLES\n";
  writeLines(tool.examples, stream);
  stream << ".SH EXIT STATUS\n" << escape(tool.exitCodes) << "\n";
  stream << ".SH SEE ALSO\n";
  bool isFirst = true;
  for (StringRef other : {"residc", "resid-lsp-server", "resid-opt", "resid-reduce", "resid-run"})
    if (other != tool.name) {
      stream << (isFirst ? "" : ",\n") << ".BR " << escape(other) << " (1)";
      isFirst = false;
    }
  stream << "\n";
}
