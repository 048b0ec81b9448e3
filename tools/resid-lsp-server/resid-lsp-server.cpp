// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-lsp-server: MLIR's language server with the dialects of resid, for editors. Owns its flags, and joins an editor
// and upstream's server, which reads from stdin, writes to LLVM's outs(), and has no hooks for either: another stream
// stands in place of stdin, and another file after outs(). What is added to the messages on their way, and what is kept
// away from the server, is the Session's (Session.h).

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "tools/common/ExitCodes.h"
#include "tools/common/InternalError.h"
#include "tools/common/StandaloneRegistration.h"
#include "tools/driver/Tools.h"
#include "tools/flags/CommandLine.h"
#include "tools/resid-lsp-server/Session.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/LSP/Transport.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdio>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::tools::resid_lsp_server;
using namespace mlir::resid::tools;

namespace {

/// While an object lives, it owns the variable stdin and the standard output. All is done on the server's own thread:
/// it has handled a message, and answered it, when it asks for the next one.
class Connection {
public:
  /// `registry` has the dialects of the server, and outlives this.
  Connection(const DialectRegistry &registry, llvm::lsp::JSONStreamStyle style, bool isPretty);
  ~Connection();
  Connection(const Connection &) = delete;
  Connection &operator=(const Connection &) = delete;

private:
  size_t read(char *buffer, size_t size);
  void fetch();
  void forward();

  editor::Session session;
  bool isPretty;
  std::FILE *editorInput;
  llvm::lsp::JSONTransportInputOverFile input;
  /// The message that the server is reading, and how much of it it has.
  std::string current;
  size_t done = 0;
  int editorOutput;
  /// In memory: what the server has written since its last message.
  std::FILE *answers;
};

} // namespace

/// Puts a file after llvm::outs(), which has written what it was given.
static void setOutput(int descriptor) {
  llvm::outs().flush();
  if (dup2(descriptor, STDOUT_FILENO) < 0)
    llvm::report_fatal_error("cannot exchange standard output");
}

Connection::Connection(const DialectRegistry &registry, llvm::lsp::JSONStreamStyle style, bool isPretty)
    : session(registry), isPretty(isPretty), editorInput(stdin), input(editorInput, style),
      editorOutput(dup(STDOUT_FILENO)), answers(fdopen(memfd_create("answers", MFD_CLOEXEC), "r")) {
  cookie_io_functions_t functions = {};
  functions.read = [](void *self, char *buffer, size_t size) -> ssize_t {
    return static_cast<Connection *>(self)->read(buffer, size);
  };
  // A variable in the C library of GNU, as its manual says.
  stdin = fopencookie(this, "r", functions);
  if (!stdin || !answers || editorOutput < 0)
    llvm::report_bad_alloc_error("a stream");
  // What is read ahead would hide what is written later.
  setvbuf(answers, nullptr, _IONBF, 0);
  setOutput(fileno(answers));
}

Connection::~Connection() {
  forward();
  setOutput(editorOutput);
  close(editorOutput);
  fclose(answers);
  fclose(stdin);
  stdin = editorInput;
}

/// Never more than the rest of one message: nothing of the next one is asked for before this one was handled.
size_t Connection::read(char *buffer, size_t size) {
  if (done == current.size())
    fetch();
  size = std::min(size, current.size() - done);
  std::copy_n(current.data() + done, size, buffer);
  done += size;
  return size;
}

/// Lets `change` see a message, if it is one, and writes it for a reader of the protocol.
static std::string rewrite(std::string message, bool isPretty, function_ref<void(llvm::json::Object &)> change) {
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(message);
  if (llvm::json::Object *object = value ? value->getAsObject() : nullptr) {
    change(*object);
    message = llvm::formatv(isPretty ? "{0:2}\n" : "{0}", *value).str();
  }
  if (!value)
    llvm::consumeError(value.takeError());
  return "Content-Length: " + std::to_string(message.size()) + "\r\n\r\n" + message;
}

/// The next message, or nothing at the end of the input.
void Connection::fetch() {
  forward();
  current.clear();
  done = 0;
  std::string message;
  while (message.empty() && !input.isEndOfInput() && !input.hasError())
    if (failed(input.readMessage(message)))
      message.clear();
  if (!message.empty())
    current = rewrite(message, /*isPretty=*/false, [&](llvm::json::Object &object) { session.receive(object); });
}

/// Sends the editor what the server has answered.
void Connection::forward() {
  setOutput(editorOutput);
  std::rewind(answers);
  llvm::lsp::JSONTransportInputOverFile input(answers);
  std::string message;
  while (succeeded(input.readMessage(message)))
    llvm::outs() << rewrite(message, isPretty, [&](llvm::json::Object &object) { session.amend(object); });
  std::rewind(answers);
  if (ftruncate(fileno(answers), 0) < 0)
    llvm::report_fatal_error("cannot empty a file in memory");
  setOutput(fileno(answers));
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
    Connection connection(registry, isLitTest ? llvm::lsp::Delimited : llvm::lsp::Standard,
                          isLitTest || line->has(OPT_pretty));
    return succeeded(MlirLspServerMain(std::size(upstream), upstream, registry)) ? tools::ExitDone : tools::ExitProgram;
  });
}
