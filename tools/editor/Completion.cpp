// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds out from the text before the cursor what is being written; see Completion.h. Such text does not parse.

#include "tools/editor/Completion.h"

#include "dialect/Placement.h"
#include "tools/editor/OpPages.h"
#include "tools/editor/Positions.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Regex.h"
#include <tuple>

using namespace llvm;
using namespace mlir::resid;

/// Kinds of items, in the numbers of the protocol.
enum ItemKind { KindFunction = 3, KindField = 5, KindEnumMember = 20 };

/// The first use of an op in the example of its page, from the op's name on: the rest of its line, and the lines that
/// belong to it.
static std::string findUse(const editor::OpPage &page) {
  StringRef text = page.text;
  size_t begin = text.find("resid." + page.name + " ", text.find("```mlir\n", text.find("**Example.**")));
  if (begin == StringRef::npos)
    return "";
  StringRef before = text.take_front(begin), line = before.substr(before.rfind('\n') + 1);
  std::string indentation(line.size() - line.ltrim().size(), ' ');
  auto [use, rest] = text.substr(begin).split('\n');
  std::string all = use.str();
  while (rest.consume_front(indentation) && StringRef(" ^}").contains(rest.front())) {
    std::tie(use, rest) = rest.split('\n');
    all += "\n" + use.str();
  }
  return all;
}

/// A text with its values and types as places to fill in. Equal ones are one place.
static std::string makeSnippet(StringRef text) {
  Regex place("%[A-Za-z_0-9]+|tensor<[^>]*>");
  SmallVector<StringRef> places, match;
  std::string snippet;
  for (; place.match(text, &match); text = StringRef(match[0].end(), text.end() - match[0].end())) {
    size_t number = find(places, match[0]) - places.begin();
    if (number == places.size())
      places.push_back(match[0]);
    snippet.append(text.begin(), match[0].begin());
    snippet += formatv("${{{0}:{1}}", number + 1, match[0]).str();
  }
  return snippet + text.str();
}

static json::Object makeItem(StringRef label, ItemKind kind, size_t place, StringRef text, bool isSnippet,
                             json::Object range) {
  // Editors sort by letters: what is offered here comes before what has no such text, or one that begins with `1`.
  std::string order = utostr(place);
  return json::Object{{"label", label.str()},
                      {"kind", static_cast<int>(kind)},
                      {"sortText", "0" + std::string(3 - std::min<size_t>(order.size(), 3), '0') + order},
                      {"filterText", label.str()},
                      {"insertTextFormat", isSnippet ? 2 : 1},
                      {"textEdit", json::Object{{"range", std::move(range)}, {"newText", text.str()}}}};
}

namespace {
/// The text before the cursor, and the name that is being written at its end.
struct Cursor {
  StringRef before, line, name;
  json::Object range;
};
} // namespace

static json::Array completeOps(const Cursor &cursor, bool hasSnippets) {
  json::Array items;
  for (const editor::OpPage &page : editor::getOpPages()) {
    std::string label = "resid." + page.name;
    std::string use = findUse(page);
    bool isSnippet = hasSnippets && !use.empty();
    json::Object item =
        makeItem(label, KindFunction, items.size(), isSnippet ? makeSnippet(use) : label, isSnippet, cursor.range);
    item["detail"] = page.summary;
    item["documentation"] = json::Object{{"kind", "markdown"}, {"value", page.text}};
    items.push_back(std::move(item));
  }
  return items;
}

static json::Array completeAttributes(const editor::OpPage &page, const Cursor &cursor, bool hasSnippets) {
  json::Array items;
  for (const editor::OpAttribute &attribute : page.attributes) {
    std::string text = attribute.name;
    StringRef value = StringSwitch<StringRef>(attribute.type)
                          .Case("::mlir::FloatAttr", attribute.name == "epsilon" ? "1.0e-5"
                                                     : attribute.name == "p"     ? "0.1"
                                                                                 : "1.0")
                          .Case("::mlir::IntegerAttr", "0")
                          .Default("");
    if (!value.empty())
      text += hasSnippets ? (" = ${1:" + value + "}").str() : " = ";
    json::Object item = makeItem(attribute.name, KindField, items.size(), text, hasSnippets, cursor.range);
    item["detail"] = attribute.description;
    items.push_back(std::move(item));
  }
  return items;
}

static json::Array completePlacements(const Cursor &cursor) {
  json::Array items;
  for (unsigned value = 0; value <= getMaxEnumValForPlacement(); ++value)
    if (std::optional<Placement> placement = symbolizePlacement(value)) {
      StringRef name = stringifyPlacement(*placement);
      items.push_back(makeItem(name, KindEnumMember, items.size(), name, /*isSnippet=*/false, cursor.range));
    }
  return items;
}

/// The op in whose attributes the cursor is: after its name a brace is open that is no region's.
static const editor::OpPage *findOpOfAttributes(StringRef before) {
  size_t begin = before.rfind("resid."), brace = before.rfind('{');
  if (begin == StringRef::npos || brace == StringRef::npos || brace < begin)
    return nullptr;
  // A region stands after the types, attributes do in front of them, and hold no values.
  int parentheses = 0;
  for (char character : before.slice(begin, brace)) {
    parentheses += (character == '(') - (character == ')');
    if (character == ':' && parentheses == 0)
      return nullptr;
  }
  if (before.substr(brace).find_first_of("}%^") != StringRef::npos)
    return nullptr;
  return editor::findOpPage(before.substr(begin).take_while(editor::isNameCharacter));
}

/// Whether an op may begin at the cursor: at the begin of its line, or after the names of its results.
static bool isAtOp(const Cursor &cursor) {
  StringRef rest = cursor.line.drop_back(cursor.name.size()).trim();
  return rest.empty() || (rest.starts_with("%") && rest.ends_with("="));
}

json::Array editor::complete(StringRef text, const json::Object *position, bool hasSnippets) {
  std::optional<size_t> byte = findByte(text, position);
  if (!byte)
    return {};
  Cursor cursor;
  cursor.before = text.take_front(*byte);
  cursor.line = cursor.before.substr(cursor.before.rfind('\n') + 1);
  size_t begin = cursor.line.size();
  while (begin > 0 && isNameCharacter(cursor.line[begin - 1]))
    --begin;
  cursor.name = cursor.line.substr(begin);
  cursor.range = makeRange(*position->getInteger("line"), cursor.line, begin, cursor.line.size());
  if (cursor.line.contains("//"))
    return {};
  StringRef rest = cursor.line.drop_back(cursor.name.size());
  if (rest.rtrim().ends_with("resid.block") && rest != rest.rtrim())
    return completePlacements(cursor);
  bool isAtAttribute = cursor.before.drop_back(cursor.name.size()).rtrim().ends_with("{") ||
                       cursor.before.drop_back(cursor.name.size()).rtrim().ends_with(",");
  if (const OpPage *page = findOpOfAttributes(cursor.before))
    return isAtAttribute ? completeAttributes(*page, cursor, hasSnippets) : json::Array();
  return isAtOp(cursor) ? completeOps(cursor, hasSnippets) : json::Array();
}

/// Whether a label is that of a dialect for the stages of the compiler, or of one of its ops.
static bool isInternal(StringRef label) { return label == "rows" || label.starts_with("rows."); }

void editor::mergeCompletions(json::Value &result, json::Array offered) {
  StringSet<> known;
  for (const json::Value &item : offered)
    known.insert(item.getAsObject()->getString("label").value_or(""));
  if (!offered.empty() && known.contains("resid.add"))
    known.insert("resid");
  json::Array all = std::move(offered);
  json::Object *list = result.getAsObject();
  if (json::Array *items = list ? list->getArray("items") : nullptr)
    for (json::Value &item : *items) {
      json::Object *object = item.getAsObject();
      StringRef label = object ? object->getString("label").value_or("") : "";
      if (!object || isInternal(label) || known.contains(label) || known.contains(("resid." + label).str()))
        continue;
      object->try_emplace("sortText", "1" + label.str());
      all.push_back(std::move(item));
    }
  if (list)
    (*list)["items"] = std::move(all);
  else
    result = json::Object{{"isIncomplete", false}, {"items", std::move(all)}};
}
