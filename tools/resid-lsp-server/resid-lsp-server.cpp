// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-lsp-server: MLIR's language server with the dialects of resid, for editors. Owns its flags; the protocol is
// upstream's, behind checks of the documents (CheckedInput.h), with what resid adds (tools/editor).

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "tools/common/ExitCodes.h"
#include "tools/common/InternalError.h"
#include "tools/common/Upstream.h"
#include "tools/driver/Tools.h"
#include "tools/resid-lsp-server/CheckedInput.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::resid;

static const char *const helpText =
    R"(resid-lsp-server: diagnostics, hover, definitions, completion and formatting of programs in MLIR, in the editor

usage: resid-lsp-server [flags]        an editor starts it and speaks the language server protocol over its standard
                                       input and output; docs/editor.md says how to set editors up

  --log=error|info|verbose  how much is said on standard error (default: info)
  --pretty                  indent what is sent
  --lit-test                messages separated by lines of '// -----', indented, everything logged: for tests
  --help, --version

examples:
  resid-lsp-server                             what an editor runs
  resid-lsp-server --log=verbose 2> log.txt    the same, with what was received and sent in a file
  resid-lsp-server --lit-test < session.txt    a session by hand

exit codes: 0 the editor said goodbye (shutdown, exit), 1 it ended without, 2 wrong flags, 5 out of memory, 70 a mistake
in resid-lsp-server or in MLIR
)";

/// The flags of upstream's server; its parser would take those of every library that is linked, and exit with 1.
static bool isServerFlag(StringRef argument) {
  StringRef flag = argument;
  return argument.starts_with("-") && flag.consume_front("-") && (flag.consume_front("-"), true) &&
         llvm::is_contained({"lit-test", "pretty", "log=error", "log=info", "log=verbose"}, flag);
}

static bool hasFlag(ArrayRef<const char *> arguments, StringRef name) {
  return llvm::any_of(arguments, [&](StringRef argument) { return argument.ltrim('-') == name; });
}

int tools::residLspServerMain(int argc, char **argv) {
  tools::startTool("resid-lsp-server");
  ArrayRef<const char *> arguments(argv + 1, argc - 1);
  for (StringRef argument : arguments) {
    if (argument == "--help" || argument == "-h") {
      llvm::outs() << helpText;
      return tools::ExitDone;
    }
    if (argument == "--version") {
      llvm::outs() << "resid-lsp-server " RESID_TOOL_VERSION " (LLVM " LLVM_VERSION_STRING ")\n";
      return tools::ExitDone;
    }
    if (!isServerFlag(argument)) {
      llvm::errs() << "resid-lsp-server: error: unknown flag '" << argument << "'; resid-lsp-server --help lists all\n";
      return tools::ExitUsage;
    }
  }
  DialectRegistry registry;
  tools::registerStandaloneDialects(registry);
  tools::ToolRun run("resid-lsp-server", arguments, std::nullopt);
  bool isLitTest = hasFlag(arguments, "lit-test");
  return run.guard([&] {
    tools::CheckedInput input(registry, isLitTest ? llvm::lsp::Delimited : llvm::lsp::Standard,
                              isLitTest || hasFlag(arguments, "pretty"));
    return succeeded(MlirLspServerMain(argc, argv, registry)) ? tools::ExitDone : tools::ExitProgram;
  });
}
