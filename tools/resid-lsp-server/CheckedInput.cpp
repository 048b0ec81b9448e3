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
      session(registry), held([this](json::Object &message) { session.amend(message); }, isPretty) {
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
  do {
    held.forward();
    message.clear();
    while (message.empty() && !input.isEndOfInput() && !input.hasError())
      if (failed(input.readMessage(message)))
        message.clear();
    if (message.empty())
      return;
  } while (!isForServer(message));
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

/// Answers what the session answers. What is no message of the protocol is left to the server.
bool CheckedInput::isForServer(std::string &message) {
  Expected<json::Value> value = json::parse(message);
  if (!value) {
    consumeError(value.takeError());
    return true;
  }
  const json::Object *object = value->getAsObject();
  if (!object)
    return true;
  if (std::optional<json::Value> answer = session.receive(*object)) {
    output.reply(*object->get("id"), std::move(*answer));
    return false;
  }
  check(*value, message);
  return true;
}

/// Empties the document in `message`, whose text is `written`, where it is refused.
void CheckedInput::check(json::Value &message, std::string &written) {
  json::Object *object = message.getAsObject(), *params = object->getObject("params");
  json::Object *document = params ? params->getObject("textDocument") : nullptr;
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
  bool isRefused = !found.refusals.empty();
  session.setDocument(uri, *text->getAsString(), isRefused, std::move(found.warnings));
  if (!isRefused) {
    if (isMarked)
      written = formatv("{0}", message).str();
    return;
  }
  json::Object published{{"diagnostics", std::move(found.refusals)}};
  for (StringRef key : {"uri", "version"})
    if (const json::Value *member = document->get(key))
      published[key] = *member;
  refusal = std::move(published);
  *text = "";
  written = formatv("{0}", message).str();
}
