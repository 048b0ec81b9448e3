// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/resid-lsp-server/Connection.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <sys/mman.h>
#include <unistd.h>

using namespace llvm;
using namespace mlir::resid::tools;

/// Puts a file after outs(), which has written what it was given.
static void setOutput(int descriptor) {
  outs().flush();
  if (dup2(descriptor, STDOUT_FILENO) < 0)
    report_fatal_error("cannot exchange standard output");
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
    report_bad_alloc_error("a stream");
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
static std::string rewrite(std::string message, bool isPretty, function_ref<void(json::Object &)> change) {
  Expected<json::Value> value = json::parse(message);
  if (json::Object *object = value ? value->getAsObject() : nullptr) {
    change(*object);
    message = formatv(isPretty ? "{0:2}\n" : "{0}", *value).str();
  }
  if (!value)
    consumeError(value.takeError());
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
    current = rewrite(message, /*isPretty=*/false, [&](json::Object &object) { session.receive(object); });
}

/// Sends the editor what the server has answered.
void Connection::forward() {
  setOutput(editorOutput);
  std::rewind(answers);
  llvm::lsp::JSONTransportInputOverFile input(answers);
  std::string message;
  while (succeeded(input.readMessage(message)))
    outs() << rewrite(message, isPretty, [&](json::Object &object) { session.amend(object); });
  std::rewind(answers);
  if (ftruncate(fileno(answers), 0) < 0)
    report_fatal_error("cannot empty a file in memory");
  setOutput(fileno(answers));
}
