// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Session.h. The pages of ops have the text of their definitions.

#include "tools/resid-lsp-server/Session.h"

#include "tools/common/Files.h"
#include "tools/resid-lsp-server/DocumentCheck.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/LSP/Protocol.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/SourceMgr.h"
#include <string>
#include <tuple>

using namespace llvm;
using namespace mlir::resid::editor;

namespace {

struct OpPage {
  /// With the dialect's name.
  std::string name;
  std::string summary;
  /// In Markdown: syntax, formula, operands and results, constraints, example.
  std::string text;
  /// The first use of the op in the example, from its name on.
  std::string use;
};

} // namespace

static constexpr struct {
  const char *name, *text;
} pages[] = {
#include "OpPages.inc"
};

/// The first use of an op in the example of its page, from the op's name on: the rest of its line, and the lines that
/// belong to it.
static std::string findUse(StringRef name, StringRef text) {
  size_t begin = text.find((name + " ").str(), text.find("```mlir\n", text.find("**Example.**")));
  if (begin == StringRef::npos)
    return name.str();
  StringRef before = text.take_front(begin), line = before.substr(before.rfind('\n') + 1);
  StringRef indentation = line.take_front(line.size() - line.ltrim().size());
  auto [use, rest] = text.substr(begin).split('\n');
  std::string all = use.str();
  while (rest.consume_front(indentation) && StringRef(" ^}").contains(rest.front())) {
    std::tie(use, rest) = rest.split('\n');
    all += "\n" + use.str();
  }
  return all;
}

/// Leaves out what does not help whoever writes a program: how results round and what gradients are is in the
/// reference.
static OpPage readPage(StringRef name, StringRef page) {
  auto [summary, body] = page.split("\n_").second.split("_\n");
  OpPage result;
  result.name = ("resid." + name).str();
  result.summary = summary.str();
  result.text = "### `" + result.name + "`\n\n_" + result.summary + "_\n";
  SmallVector<StringRef> paragraphs;
  body.split("\nTraits:").first.split("\n#### ").first.trim('\n').split(paragraphs, "\n\n");
  for (StringRef paragraph : paragraphs)
    if (!paragraph.starts_with("**Gradient.**") && !paragraph.starts_with("**Rounding.**"))
      result.text += "\n" + paragraph.str() + "\n";
  result.use = findUse(result.name, result.text);
  return result;
}

/// All ops, in the order of the reference.
static ArrayRef<OpPage> getOpPages() {
  static const auto read = map_to_vector(pages, [](const auto &page) { return readPage(page.name, page.text); });
  return read;
}

/// A member of a member, and so on; null where there is none.
static const json::Object *find(const json::Object *object, ArrayRef<StringRef> keys) {
  for (StringRef key : keys)
    object = object ? object->getObject(key) : nullptr;
  return object;
}

static bool isNameCharacter(char character) { return isAlnum(character) || character == '_' || character == '.'; }

/// The name of an op that ends with `before`, as far as it is there.
static StringRef findNameAtEnd(StringRef before) {
  size_t begin = before.size();
  while (begin > 0 && isNameCharacter(before[begin - 1]))
    --begin;
  return before.substr(begin);
}

/// A text with its values and types as places to fill in. Equal ones are one place.
static std::string makeSnippet(StringRef text) {
  Regex place("%[A-Za-z_0-9]+|tensor<[^>]*>");
  SmallVector<StringRef> places, match;
  std::string snippet;
  for (; place.match(text, &match); text = StringRef(match[0].end(), text.end() - match[0].end())) {
    size_t number = llvm::find(places, match[0]) - places.begin();
    if (number == places.size())
      places.push_back(match[0]);
    snippet.append(text.begin(), match[0].begin());
    snippet += formatv("${{{0}:{1}}", number + 1, match[0]).str();
  }
  return snippet + text.str();
}

/// The whole text of a document that is opened or was changed; null in all other messages.
static json::Value *findText(json::Object &message, json::Object &params) {
  std::optional<StringRef> method = message.getString("method");
  if (method == "textDocument/didOpen") {
    json::Object *document = params.getObject("textDocument");
    return document ? document->get("text") : nullptr;
  }
  json::Array *changes = method == "textDocument/didChange" ? params.getArray("contentChanges") : nullptr;
  json::Object *change = changes && changes->size() == 1 ? changes->front().getAsObject() : nullptr;
  return change ? change->get("text") : nullptr;
}

void Session::receiveText(StringRef uri, json::Value &text) {
  // A blank in place of a mark keeps the columns as the editor counts them.
  StringRef unmarked = *text.getAsString();
  if (unmarked.consume_front(tools::byteOrderMark))
    text = (" " + unmarked).str();
  documents[uri] = text.getAsString()->str();
  Expected<llvm::lsp::URIForFile> address = llvm::lsp::URIForFile::fromURI(uri);
  if (!address)
    return consumeError(address.takeError());
  DocumentCheck check = checkDocument(*text.getAsString(), *address, registry);
  found = std::move(check.diagnostics);
  if (!check.mayBeRead)
    text = "";
}

void Session::receive(json::Object &message) {
  asked = {};
  found = {};
  json::Object *params = message.getObject("params");
  if (!params)
    return;
  const json::Object *item = find(params, {"capabilities", "textDocument", "completion", "completionItem"});
  hasSnippets |= item && item->getBoolean("snippetSupport").value_or(false);
  const json::Object *document = params->getObject("textDocument");
  StringRef uri = document ? document->getString("uri").value_or("") : "";
  if (message.getString("method") == "textDocument/didClose")
    documents.erase(uri);
  json::Value *text = findText(message, *params);
  if (!text)
    asked = message;
  else if (text->getAsString())
    receiveText(uri, *text);
}

std::optional<Session::Place> Session::findPlace() const {
  const json::Object *params = asked.getObject("params"), *document = find(params, {"textDocument"});
  auto text = document ? documents.find(document->getString("uri").value_or("")) : documents.end();
  const json::Value *written = params ? params->get("position") : nullptr;
  llvm::lsp::Position position;
  json::Path::Root root;
  if (text == documents.end() || !written || !fromJSON(*written, position, root))
    return std::nullopt;
  SourceMgr sources;
  sources.AddNewSourceBuffer(MemoryBuffer::getMemBuffer(text->second), SMLoc());
  const char *place = position.getAsSMLoc(sources).getPointer();
  if (!place)
    return std::nullopt;
  StringRef whole = text->second;
  size_t byte = place - whole.data();
  return Place{whole.take_front(byte), whole.substr(byte), position.line, position.character};
}

/// Ops as they stand in the examples of their pages, where one may begin: at the begin of a line, or after the names of
/// its results.
json::Array Session::completeOps(const Place &place) const {
  StringRef name = findNameAtEnd(place.before), rest = place.before.drop_back(name.size());
  rest = rest.substr(rest.rfind('\n') + 1).trim();
  json::Array items;
  if (!rest.empty() && !(rest.starts_with("%") && rest.ends_with("=")))
    return items;
  llvm::lsp::Position begin(place.line, place.column - name.size()), end(place.line, place.column);
  for (const OpPage &page : getOpPages()) {
    // Editors sort by letters: the ops of resid come before those of others, whose text to sort by is a digit.
    llvm::lsp::CompletionItem item(page.name, llvm::lsp::CompletionItemKind::Function,
                                   formatv("0{0,0+2}", items.size()).str());
    item.detail = page.summary;
    item.documentation = llvm::lsp::MarkupContent{llvm::lsp::MarkupKind::Markdown, page.text};
    item.filterText = page.name;
    if (hasSnippets)
      item.insertTextFormat = llvm::lsp::InsertTextFormat::Snippet;
    item.textEdit = llvm::lsp::TextEdit{{begin, end}, hasSnippets ? makeSnippet(page.use) : page.name};
    items.push_back(toJSON(item));
  }
  return items;
}

/// Puts the page of an op in front of what upstream says of it.
static void addPage(const OpPage &page, json::Value &result) {
  std::string shown = page.text;
  if (!result.getAsObject())
    result = json::Object();
  json::Object &hover = *result.getAsObject();
  if (const json::Object *contents = hover.getObject("contents"))
    shown += ("\n---\n\n" + contents->getString("value").value_or("")).str();
  hover["contents"] = toJSON(llvm::lsp::MarkupContent{llvm::lsp::MarkupKind::Markdown, shown});
}

/// Puts ops of resid in front of what upstream offers, and removes their dialect there, and the dialect of the
/// compiler's own stages.
static void addOps(json::Array ops, StringRef name, json::Array &items) {
  for (json::Value &item : items) {
    const json::Object *object = item.getAsObject();
    StringRef label = object ? object->getString("label").value_or("") : "";
    bool isOfResid = !ops.empty() && (label == "resid" || name.starts_with("resid."));
    if (label != "rows" && !isOfResid)
      ops.push_back(std::move(item));
  }
  items = std::move(ops);
}

void Session::amend(json::Object &message) {
  json::Object *params = message.getObject("params");
  if (json::Array *diagnostics = params ? params->getArray("diagnostics") : nullptr)
    append_range(*diagnostics, found);
  json::Value *result = message.get("result");
  std::optional<Place> place = result ? findPlace() : std::nullopt;
  if (!place)
    return;
  StringRef name = findNameAtEnd(place->before);
  if (asked.getString("method") == "textDocument/completion")
    if (json::Array *items = result->getAsObject() ? result->getAsObject()->getArray("items") : nullptr)
      addOps(completeOps(*place), name, *items);
  if (asked.getString("method") == "textDocument/hover") {
    std::string whole = (name + place->after.take_while(isNameCharacter)).str();
    for (const OpPage &page : getOpPages())
      if (page.name == whole)
        addPage(page, *result);
  }
}
