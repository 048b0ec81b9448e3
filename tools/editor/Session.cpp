// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/editor/Session.h"

#include "tools/editor/Completion.h"
#include "tools/editor/OpPages.h"
#include "tools/editor/Positions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/LSP/Protocol.h"

using namespace llvm;
using namespace mlir::resid;
using namespace mlir::resid::editor;

/// Upstream's server writes some addresses in another way than the editor does.
static std::string normalise(StringRef uri) {
  Expected<lsp::URIForFile> parsed = lsp::URIForFile::fromURI(uri);
  if (parsed)
    return parsed->uri().str();
  consumeError(parsed.takeError());
  return uri.str();
}

void Session::setDocument(StringRef uri, StringRef text, json::Array warnings) {
  Document &document = documents[normalise(uri)];
  document.text = text.str();
  document.warnings = std::move(warnings);
}

const Session::Document *Session::findDocument(const json::Object &params) const {
  const json::Object *identity = params.getObject("textDocument");
  std::optional<StringRef> uri = identity ? identity->getString("uri") : std::nullopt;
  auto found = uri ? documents.find(normalise(*uri)) : documents.end();
  return found == documents.end() ? nullptr : &found->second;
}

/// What the editor says of itself when the session begins.
static bool takesSnippets(const json::Object &params) {
  const json::Object *object = &params;
  for (StringRef key : {"capabilities", "textDocument", "completion", "completionItem"})
    if (object)
      object = object->getObject(key);
  return object && object->getBoolean("snippetSupport").value_or(false);
}

void Session::receive(const json::Object &message) {
  std::optional<StringRef> method = message.getString("method");
  const json::Object *params = message.getObject("params");
  if (!method || !params)
    return;
  if (method == "textDocument/didClose") {
    const json::Object *identity = params->getObject("textDocument");
    documents.erase(normalise(identity ? identity->getString("uri").value_or("") : ""));
  }
  if (method == "initialize")
    hasSnippets = takesSnippets(*params);
  const json::Value *id = message.get("id");
  if (id && is_contained({"textDocument/hover", "textDocument/completion"}, *method))
    asked[formatv("{0}", *id).str()] = {method->str(), *params};
}

/// Puts the page of the op that is pointed at in front of what upstream says of it.
void Session::addDocumentation(const json::Object &params, json::Value &result) const {
  const Document *document = findDocument(params);
  std::optional<size_t> byte = document ? findByte(document->text, params.getObject("position")) : std::nullopt;
  if (!byte)
    return;
  StringRef text = document->text;
  size_t begin = *byte, end = *byte;
  while (begin > 0 && isNameCharacter(text[begin - 1]))
    --begin;
  while (end < text.size() && isNameCharacter(text[end]))
    ++end;
  const OpPage *page = findOpPage(text.slice(begin, end));
  if (!page)
    return;
  std::string shown = page->text;
  json::Object *hover = result.getAsObject();
  json::Object *contents = hover ? hover->getObject("contents") : nullptr;
  if (std::optional<StringRef> known = contents ? contents->getString("value") : std::nullopt)
    shown += "\n---\n\n" + known->str();
  json::Object markdown{{"kind", "markdown"}, {"value", shown}};
  if (hover)
    (*hover)["contents"] = std::move(markdown);
  else
    result = json::Object{{"contents", std::move(markdown)}};
}

void Session::amendResult(const Question &question, json::Value &result) const {
  if (question.method == "textDocument/hover")
    return addDocumentation(question.params, result);
  const Document *document = findDocument(question.params);
  json::Array offered =
      document ? complete(document->text, question.params.getObject("position"), hasSnippets) : json::Array();
  mergeCompletions(result, std::move(offered));
}

void Session::amend(json::Object &message) {
  if (message.getString("method") == "textDocument/publishDiagnostics") {
    json::Object *params = message.getObject("params");
    json::Array *diagnostics = params ? params->getArray("diagnostics") : nullptr;
    auto found = params ? documents.find(normalise(params->getString("uri").value_or(""))) : documents.end();
    if (diagnostics && found != documents.end())
      append_range(*diagnostics, found->second.warnings);
    return;
  }
  const json::Value *id = message.get("id");
  json::Value *result = message.get("result");
  auto question = id && result ? asked.find(formatv("{0}", *id).str()) : asked.end();
  if (question == asked.end())
    return;
  amendResult(question->second, *result);
  asked.erase(question);
}
