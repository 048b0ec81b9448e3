// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-lsp-server: MLIR's language server with the dialects of resid, for editors. Owns its flags; the protocol is
// upstream's, with what resid adds on the way between the two (Connection.h).

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "tools/common/ExitCodes.h"
#include "tools/common/InternalError.h"
#include "tools/common/StandaloneRegistration.h"
#include "tools/driver/Tools.h"
#include "tools/flags/CommandLine.h"
#include "tools/resid-lsp-server/Connection.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::tools::resid_lsp_server;

static int refuse(const Twine &message) {
  llvm::errs() << "resid-lsp-server: error: " << message << "\n";
  return tools::ExitUsage;
}

int tools::residLspServerMain(int argc, char **argv) {
  tools::startTool("resid-lsp-server");
  ArrayRef<const char *> arguments(argv + 1, argc - 1);
  llvm::Expected<tools::CommandLine> line = tools::CommandLine::parse(tool, arguments);
  if (!line)
    return refuse(llvm::toString(line.takeError()));
  if (tool.printAsked(line->has(OPT_help), line->has(OPT_version)))
    return tools::ExitDone;
  if (auto files = line->getValues(OPT_INPUT); !files.empty())
    return refuse("expected flags alone, but got the file '" + files.front() + "'");
  DialectRegistry registry;
  tools::registerStandaloneDialects(registry);
  tools::ToolRun run("resid-lsp-server", arguments, std::nullopt);
  bool isLitTest = line->has(OPT_lit_test);
  llvm::StringRef level = isLitTest ? "verbose" : line->has(OPT_log) ? line->getValue(OPT_log) : "info";
  std::string name = "resid-lsp-server", log = ("--log=" + level).str();
  char *upstream[] = {name.data(), log.data()};
  return run.guard([&] {
    tools::Connection connection(registry, isLitTest ? llvm::lsp::Delimited : llvm::lsp::Standard,
                                 isLitTest || line->has(OPT_pretty));
    return succeeded(MlirLspServerMain(std::size(upstream), upstream, registry)) ? tools::ExitDone : tools::ExitProgram;
  });
}
