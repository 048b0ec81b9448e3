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

using namespace llvm;
using namespace mlir::resid;

/// Kinds of items, in the numbers of the protocol.
enum ItemKind { KindFunction = 3, KindField = 5, KindEnumMember = 20 };

/// The names of the kinds that `isOffered`, as the choices of a snippet.
template <typename Kind> static std::string listKinds(unsigned max, bool (*isOffered)(Kind)) {
  SmallVector<StringRef> names;
  for (unsigned value = 0; value <= max; ++value)
    if (auto kind = static_cast<Kind>(value); isOffered(kind))
      names.push_back(stringifyEnum(kind));
  return "|" + join(names, ",") + "|";
}

/// An op written out. A test parses each of them.
static std::string getSnippet(StringRef op) {
  std::string placements = listKinds<Placement>(
      getMaxEnumValForPlacement(), [](Placement kind) { return getPlacementRule(kind).positions.size() == 1; });
  std::string norms = listKinds<NormKind>(getMaxEnumValForNormKind(), [](NormKind kind) {
    return getNormRule(kind).hasEpsilon && !getNormRule(kind).hasGroups;
  });
  std::string activations = listKinds<ActivationKind>(
      getMaxEnumValForActivationKind(), [](ActivationKind kind) { return !getActivationRule(kind).isGated; });
  return StringSwitch<std::string>(op)
      .Case("add", "${1:%x}, ${2:%f} : ${3:tensor<?x768xf32>}")
      .Case("add_bias", "${1:%f}, ${2:%bias} : ${3:tensor<?x768xf32>}, ${4:tensor<768xf32>}")
      .Case("dropout", "${1:%x} seed(${2:%seed}, ${3:%step}) {p = ${4:0.1}, site = ${5:0}} : ${6:tensor<?x768xf32>}")
      .Case("layer_norm", "${1:%x} gamma(${2:%gamma}) beta(${3:%beta}) {epsilon = ${4:1.0e-5}}\n"
                          "    : ${5:tensor<?x768xf32>}, ${6:tensor<768xf32>}, ${7:tensor<768xf32>}")
      .Case("rms_norm", "${1:%x} gamma(${2:%gamma}) {epsilon = ${3:1.0e-5}}\n"
                        "    : ${4:tensor<?x768xf32>}, ${5:tensor<768xf32>}")
      .Case("group_norm", "${1:%x} gamma(${2:%gamma}) beta(${3:%beta}) {epsilon = ${4:1.0e-5}, groups = ${5:8}}\n"
                          "    : ${6:tensor<?x768xf32>}, ${7:tensor<768xf32>}, ${8:tensor<768xf32>}")
      .Case("dyt", "${1:%x} alpha(${2:%alpha}) gamma(${3:%gamma}) beta(${4:%beta})\n"
                   "    : ${5:tensor<?x768xf32>}, ${6:tensor<f32>}, ${7:tensor<768xf32>}, ${8:tensor<768xf32>}")
      .Case("add_norm", "${1" + norms +
                            "} ${2:%x}, ${3:%f} gamma(${4:%gamma}) {epsilon = ${5:1.0e-5}}\n"
                            "    : ${6:tensor<?x768xf32>}, ${7:tensor<768xf32>}")
      .Case("block",
            "${1" + placements + "} ${2:%x} norm(${3" + norms +
                "} gamma ${4:%gamma} : ${5:tensor<768xf32>} epsilon = ${6:1.0e-5}) : ${7:tensor<?x768xf32>} {\n"
                "^bb0(%h: ${7:tensor<?x768xf32>}):\n"
                "  %branch = ${8:math.tanh} %h : ${7:tensor<?x768xf32>}\n"
                "  resid.yield %branch : ${7:tensor<?x768xf32>}\n}")
      .Case("attention", "${1:%q}, ${2:%k}, ${3:%v} {causal}\n"
                         "    : ${4:tensor<?x8x?x64xf32>}, ${5:tensor<?x8x?x64xf32>}, ${6:tensor<?x8x?x64xf32>}")
      .Case("append", "${1:%cache}, ${2:%k} past(${3:%past})\n"
                      "    : ${4:tensor<?x8x512x64xf32>}, ${5:tensor<?x8x?x64xf32>}")
      .Case("activation", "${1" + activations + "} ${2:%x} : ${3:tensor<?x768xf32>}")
      .Case("linear", "${1:%x}, ${2:%weight} bias(${3:%bias})\n"
                      "    : ${4:tensor<?x768xf32>}, ${5:tensor<768x768xf32>}, ${6:tensor<768xf32>}")
      .Case("rotary", "${1:%q} cos(${2:%cos}) sin(${3:%sin})\n"
                      "    : ${4:tensor<?x8x?x64xf32>}, ${5:tensor<?x32xf32>}, ${6:tensor<?x32xf32>}")
      .Case("layer_norm_grad", "${1:%dy}, ${2:%x} statistics(${3:%mean}, ${4:%corr}, ${5:%rstd}) gamma(${6:%gamma})\n"
                               "    : ${7:tensor<?x768xf32>}, ${8:tensor<?x768xf32>}, ${9:tensor<?xf32>}, "
                               "${10:tensor<768xf32>}")
      .Case("rms_norm_grad", "${1:%dy}, ${2:%x} statistics(${3:%rstd}) gamma(${4:%gamma})\n"
                             "    : ${5:tensor<?x768xf32>}, ${6:tensor<?x768xf32>}, ${7:tensor<?xf32>}, "
                             "${8:tensor<768xf32>}")
      .Case("group_norm_grad", "${1:%dy}, ${2:%x} statistics(${3:%gmean}, ${4:%gcorr}, ${5:%grstd}) gamma(${6:%gamma}) "
                               "{groups = ${7:8}}\n"
                               "    : ${8:tensor<?x768xf32>}, ${9:tensor<?x768xf32>}, ${10:tensor<?x8xf32>}, "
                               "${11:tensor<768xf32>}")
      .Case("gate_grad", "${1:%dy}, ${2:%f}\n"
                         "    : ${3:tensor<?x768xf32>}, ${4:tensor<?x768xf32>} -> ${5:tensor<768xf32>}")
      .Case("dyt_grad", "${1:%dy}, ${2:%x} alpha(${3:%alpha}) gamma(${4:%gamma})\n"
                        "    : ${5:tensor<?x768xf32>}, ${6:tensor<?x768xf32>}, ${7:tensor<f32>}, "
                        "${8:tensor<768xf32>}")
      .Case("attention_grad", "${1:%dheads}, ${2:%q}, ${3:%k}, ${4:%v} statistics(${5:%max}, ${6:%sum}) {causal}\n"
                              "    : ${7:tensor<?x8x?x64xf32>}, ${8:tensor<?x8x?x64xf32>}, "
                              "${9:tensor<?x8x?x64xf32>}, ${10:tensor<?x8x?x64xf32>}")
      .Case("batch_norm", "${1:%x} gamma(${2:%gamma}) beta(${3:%beta}) {epsilon = ${4:1.0e-5}}\n"
                          "    : ${5:tensor<?x768xf32>}, ${6:tensor<768xf32>}, ${7:tensor<768xf32>}")
      .Case("batch_norm_grad", "${1:%dy}, ${2:%x} statistics(${3:%beta}, ${4:%bias}) gamma(${5:%gamma}) "
                               "{epsilon = ${6:1.0e-5}}\n"
                               "    : ${7:tensor<?x768xf32>}, ${8:tensor<?x768xf32>}, ${9:tensor<768xf32>}, "
                               "${10:tensor<768xf32>}")
      .Case("cross_entropy", "${1:%logits} labels(${2:%labels}) : ${3:tensor<?x50257xf32>}, ${4:tensor<?xi64>}")
      .Case("cross_entropy_grad", "${1:%dloss}, ${2:%logits} labels(${3:%labels}) logsumexp(${4:%logsumexp})\n"
                                  "    : ${5:tensor<?x50257xf32>}, ${6:tensor<?xi64>}")
      .Case("embedding", "${1:%ids}, ${2:%table} : ${3:tensor<?xi64>}, ${4:tensor<50257x768xf32>}")
      .Case("embedding_grad", "${1:%dy}, ${2:%ids} like(${3:%table})\n"
                              "    : ${4:tensor<?xi64>}, ${5:tensor<50257x768xf32>}")
      .Case("read", "${1:%streams} weights(${2:%weights}) : ${3:tensor<?x4x768xf32>}, ${4:tensor<4x1xf32>}")
      .Case("write", "${1:%streams}, ${2:%f} weights(${3:%weights})\n"
                     "    : ${4:tensor<?x4x768xf32>}, ${5:tensor<4x1xf32>}")
      .Case("project", "${1:%streams}, ${2:%projection} {epsilon = ${3:1.0e-6}}\n"
                       "    : ${4:tensor<?x4x768xf32>}, ${5:tensor<24x3072xf32>}")
      .Case("sinkhorn", "${1:%mixes} {iterations = ${2:20}, epsilon = ${3:1.0e-6}} : ${4:tensor<?x4x4xf32>}")
      .Case("stream_dots", "${1:%streams}, ${2:%streams} : ${3:tensor<?x4x768xf32>}, ${4:tensor<?x4x768xf32>}")
      .Case("sinkhorn_grad", "${1:%mixes}, ${2:%mixes} {iterations = ${3:20}, epsilon = ${4:1.0e-6}} "
                             ": ${5:tensor<?x4x4xf32>}")
      .Case("yield", "${1:%f} : ${2:tensor<?x768xf32>}")
      .Default("");
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
    std::string snippet = getSnippet(page.name);
    bool isSnippet = hasSnippets && !snippet.empty();
    json::Object item =
        makeItem(label, KindFunction, items.size(), isSnippet ? label + " " + snippet : label, isSnippet, cursor.range);
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
