// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-lsp-server: MLIR's language server with the dialects of resid, for editors. Owns its flags; the protocol is
// upstream's, after checks of the documents (CheckedInput.h), with what resid adds (tools/editor).

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "tools/common/ExitCodes.h"
#include "tools/common/InternalError.h"
#include "tools/common/StandaloneRegistration.h"
#include "tools/driver/Tools.h"
#include "tools/flags/CommandLine.h"
#include "tools/resid-lsp-server/CheckedInput.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::tools::resid_lsp_server;

/// The command line as upstream's server parses it.
static SmallVector<std::string> toUpstream(const tools::CommandLine &line) {
  SmallVector<std::string> arguments = {"resid-lsp-server"};
  if (line.has(OPT_lit_test))
    arguments.push_back("--lit-test");
  if (line.has(OPT_pretty))
    arguments.push_back("--pretty");
  if (line.has(OPT_log))
    arguments.push_back(("--log=" + line.getValue(OPT_log)).str());
  return arguments;
}

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
  if (line->has(OPT_help) || line->has(OPT_version)) {
    line->has(OPT_help) ? tool.printHelp(llvm::outs()) : tool.printVersion(llvm::outs());
    return tools::ExitDone;
  }
  if (auto files = line->getValues(OPT_INPUT); !files.empty())
    return refuse("expected flags alone, but got the file '" + files.front() + "'");
  DialectRegistry registry;
  tools::registerStandaloneDialects(registry);
  tools::ToolRun run("resid-lsp-server", arguments, std::nullopt);
  bool isLitTest = line->has(OPT_lit_test);
  SmallVector<std::string> upstream = toUpstream(*line);
  SmallVector<char *> pointers = llvm::map_to_vector(upstream, [](std::string &text) { return text.data(); });
  return run.guard([&] {
    tools::CheckedInput input(registry, isLitTest ? llvm::lsp::Delimited : llvm::lsp::Standard,
                              isLitTest || line->has(OPT_pretty));
    return succeeded(MlirLspServerMain(pointers.size(), pointers.data(), registry)) ? tools::ExitDone
                                                                                    : tools::ExitProgram;
  });
}
