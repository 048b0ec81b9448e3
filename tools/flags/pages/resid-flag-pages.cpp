// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-flag-pages FOLDER: writes man pages and completions of all tools to FOLDER/{man,bash,zsh,fish}. A part of the
// build, not a tool that is installed. Owns the names of the files.

#include "tools/flags/pages/Pages.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Option/Option.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace llvm::opt;
using namespace mlir::resid::tools;

std::string DescribedFlag::getText() const {
  SmallVector<StringRef> lines;
  help.split(lines, '\n');
  // A table belongs on a page alone.
  llvm::erase_if(lines, [](StringRef line) { return line.starts_with(" "); });
  return StringRef(join(lines, " ")).rtrim(':').str();
}

static StringRef toText(const char *text) { return text ? text : ""; }

std::vector<DescribedFlag> mlir::resid::tools::describeFlags(const ToolDescription &tool) {
  const OptTable &table = *tool.flags;
  std::vector<DescribedFlag> flags;
  for (unsigned id = 1; id <= table.getNumOptions(); ++id) {
    Option option = table.getOption(id);
    if (option.getKind() == Option::GroupClass || toText(table.getOptionHelpText(id)).empty())
      continue;
    DescribedFlag flag;
    flag.spelling = option.getPrefixedName();
    flag.valueName = option.getKind() == Option::FlagClass ? "" : toText(table.getOptionMetaVar(id));
    flag.help = table.getOptionHelpText(id);
    flag.group = toText(table.getOptionHelpText(table.getOptionGroupID(id)));
    flag.values = table.suggestValueCompletions(flag.spelling, "");
    flag.isRepeatable = option.hasFlag(Repeatable);
    flag.mayStandApart = option.getKind() == Option::JoinedOrSeparateClass;
    for (unsigned other = 1; other <= table.getNumOptions(); ++other)
      if (table.getOption(other).getKind() == Option::SeparateClass)
        flag.mayStandApart |=
            table.getOption(other).getAlias().isValid() && table.getOption(other).getAlias().getID() == id;
    flags.push_back(std::move(flag));
  }
  return flags;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    errs() << "resid-flag-pages: error: expected the folder to write to\n";
    return 2;
  }
  struct Kind {
    StringRef folder, prefix, suffix;
    void (*write)(const ToolDescription &tool, raw_ostream &stream);
  };
  const Kind kinds[] = {{"man", "", ".1", writeManPage},
                        {"bash", "", "", writeBashCompletion},
                        {"zsh", "_", "", writeZshCompletion},
                        {"fish", "", ".fish", writeFishCompletion}};
  for (const Kind &kind : kinds)
    for (const ToolDescription *tool :
         {&residc::tool, &resid_run::tool, &resid_tune::tool, &resid_reduce::tool, &resid_lsp_server::tool, &resid_opt::tool}) {
      SmallString<128> path(argv[1]);
      sys::path::append(path, kind.folder);
      std::error_code failure = sys::fs::create_directories(path);
      sys::path::append(path, kind.prefix + tool->name + kind.suffix);
      if (!failure) {
        raw_fd_ostream stream(path, failure);
        if (!failure)
          kind.write(*tool, stream);
        stream.close();
        failure = failure ? failure : stream.error();
        stream.clear_error();
      }
      if (failure) {
        errs() << "resid-flag-pages: error: cannot write '" << path << "': " << failure.message() << "\n";
        return 3;
      }
    }
  return 0;
}
