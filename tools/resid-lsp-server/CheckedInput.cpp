// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/resid-lsp-server/CheckedInput.h"

#include "tools/common/Files.h"
#include "tools/editor/DocumentCheck.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace mlir;
using namespace mlir::resid::tools;

CheckedInput::CheckedInput(const DialectRegistry &registry, lsp::JSONStreamStyle style, bool isPretty)
    : registry(registry), editor(stdin), style(style), input(editor, style), output(/*In=*/nullptr, outs(), isPretty),
      held([this](json::Object &message) { session.amend(message); }, isPretty) {
  cookie_io_functions_t functions = {};
  functions.read = [](void *self, char *buffer, size_t size) -> ssize_t {
    return static_cast<CheckedInput *>(self)->read(buffer, size);
  };
  // A variable in the C library of GNU, as its manual says.
  stdin = fopencookie(this, "r", functions);
  if (!stdin)
    report_bad_alloc_error("a stream");
}

CheckedInput::~CheckedInput() {
  fclose(stdin);
  stdin = editor;
}

/// Never more than the rest of one message: nothing of the next one is asked for before this one was handled.
size_t CheckedInput::read(char *buffer, size_t size) {
  if (done == current.size())
    fetch();
  size = std::min(size, current.size() - done);
  std::copy_n(current.data() + done, size, buffer);
  done += size;
  return size;
}

/// The next message, or nothing at the end of the input.
void CheckedInput::fetch() {
  if (refusal.getAsObject())
    output.notify("textDocument/publishDiagnostics", std::exchange(refusal, nullptr));
  current.clear();
  done = 0;
  std::string message;
  held.forward();
  while (message.empty() && !input.isEndOfInput() && !input.hasError())
    if (failed(input.readMessage(message)))
      message.clear();
  if (message.empty())
    return;
  check(message);
  current = style == lsp::Delimited ? message + "\n// -----\n"
                                    : "Content-Length: " + std::to_string(message.size()) + "\r\n\r\n" + message;
}

/// The whole text of a document that is opened or was changed; null in all other messages.
static json::Value *findText(const json::Object &message, json::Object &params) {
  std::optional<StringRef> method = message.getString("method");
  if (method == "textDocument/didOpen") {
    json::Object *document = params.getObject("textDocument");
    return document ? document->get("text") : nullptr;
  }
  json::Array *changes = method == "textDocument/didChange" ? params.getArray("contentChanges") : nullptr;
  json::Object *change = changes && changes->size() == 1 ? changes->front().getAsObject() : nullptr;
  return change ? change->get("text") : nullptr;
}

/// Empties the document in the message `written` where it is refused. What is no message of the protocol is left to the
/// server.
void CheckedInput::check(std::string &written) {
  Expected<json::Value> message = json::parse(written);
  if (!message)
    return consumeError(message.takeError());
  json::Object *object = message->getAsObject(), *params = object ? object->getObject("params") : nullptr;
  if (!params)
    return;
  session.receive(*object);
  json::Object *document = params->getObject("textDocument");
  json::Value *text = document ? findText(*object, *params) : nullptr;
  if (!text || !text->getAsString())
    return;
  // A blank in its place keeps the columns as the editor counts them.
  StringRef unmarked = *text->getAsString();
  bool isMarked = unmarked.consume_front(byteOrderMark);
  if (isMarked)
    *text = (" " + unmarked).str();
  StringRef uri = document->getString("uri").value_or("");
  editor::DocumentCheck found = editor::checkDocument(*text->getAsString(), uri, registry);
  session.setDocument(uri, *text->getAsString(), std::move(found.warnings));
  if (found.refusals.empty()) {
    if (isMarked)
      written = formatv("{0}", *message).str();
    return;
  }
  json::Object published{{"diagnostics", std::move(found.refusals)}};
  for (StringRef key : {"uri", "version"})
    if (const json::Value *member = document->get(key))
      published[key] = *member;
  refusal = std::move(published);
  *text = "";
  written = formatv("{0}", *message).str();
}
