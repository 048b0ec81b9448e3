// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/placement/Manifest.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::resid;

StringRef resid::stringifyRewriteClass(RewriteClass rewriteClass) {
  switch (rewriteClass) {
  case RewriteClass::BitExact:
    return "bit-exact";
  case RewriteClass::Exact:
    return "exact";
  case RewriteClass::ChangesFunction:
    return "changes-function";
  }
  llvm_unreachable("a class without a name");
}

static StringRef stringifyAction(ParameterAction action) {
  switch (action) {
  case ParameterAction::Move:
    return "move";
  case ParameterAction::Fold:
    return "fold";
  case ParameterAction::New:
    return "new";
  case ParameterAction::Drop:
    return "drop";
  }
  llvm_unreachable("an action without a name");
}

/// The conversions recorded so far. An attribute of this name that a file brought along in another form counts as none.
static SmallVector<DictionaryAttr> getConversions(ModuleOp module) {
  auto recorded = module->getAttrOfType<ArrayAttr>(kManifestAttribute);
  auto isConversion = [](Attribute attribute) {
    auto entry = dyn_cast<DictionaryAttr>(attribute);
    auto parameters = entry ? entry.getAs<ArrayAttr>("parameters") : ArrayAttr();
    return parameters && llvm::all_of(parameters, llvm::IsaPred<DictionaryAttr>);
  };
  if (!recorded || !llvm::all_of(recorded, isConversion))
    return {};
  return llvm::to_vector(recorded.getAsRange<DictionaryAttr>());
}

/// Numbers, or what tells them.
static Attribute makeInitial(Builder &builder, const ParameterChange &change) {
  auto name = [&](StringRef key, Attribute value) { return builder.getNamedAttr(key, value); };
  if (change.deviation != 0.0)
    return builder.getDictionaryAttr({name("normal", builder.getF64FloatAttr(change.deviation))});
  if (!change.of.empty())
    return builder.getDictionaryAttr({name("of", builder.getStringAttr(change.of)),
                                      name("factor", builder.getF64FloatAttr(change.factor)),
                                      name("offset", builder.getF64FloatAttr(change.offset))});
  return builder.getDenseF64ArrayAttr(change.initial);
}

void resid::recordConversion(ModuleOp module, const Conversion &conversion) {
  Builder builder(module.getContext());
  // What is empty here is null in JSON.
  auto makeEntry = [&](ArrayRef<std::pair<StringRef, StringRef>> texts, ArrayAttr parameters) {
    SmallVector<NamedAttribute> entry;
    for (auto [name, text] : texts)
      if (!text.empty())
        entry.push_back(builder.getNamedAttr(name, builder.getStringAttr(text)));
    if (parameters)
      entry.push_back(builder.getNamedAttr("parameters", parameters));
    return builder.getDictionaryAttr(entry);
  };
  SmallVector<Attribute> parameters, conversions;
  for (const ParameterChange &change : conversion.parameters) {
    NamedAttrList entry(makeEntry(
        {{"name", change.name}, {"action", stringifyAction(change.action)}, {"from", change.from}, {"to", change.to}},
        nullptr));
    if (!change.shape.empty()) {
      entry.set("shape", builder.getDenseI64ArrayAttr(change.shape));
      entry.set("initial", makeInitial(builder, change));
    }
    parameters.push_back(entry.getDictionary(module.getContext()));
  }
  llvm::append_range(conversions, getConversions(module));
  conversions.push_back(makeEntry({{"function", conversion.function},
                                   {"from", conversion.from},
                                   {"to", conversion.to},
                                   {"class", stringifyRewriteClass(conversion.rewriteClass)}},
                                  builder.getArrayAttr(parameters)));
  module->setAttr(kManifestAttribute, builder.getArrayAttr(conversions));
}

/// Names in MLIR are bytes, strings in JSON are text.
static llvm::json::Value toJSON(StringAttr text) {
  return text ? llvm::json::Value(llvm::json::fixUTF8(text.getValue())) : llvm::json::Value(nullptr);
}

static void printTexts(llvm::json::OStream &json, DictionaryAttr entry, ArrayRef<StringRef> keys) {
  for (StringRef key : keys)
    json.attribute(key, toJSON(entry.getAs<StringAttr>(key)));
}

/// What a new parameter begins with: a number for all elements, an array of all in order, or an object that tells them.
static void printInitial(llvm::json::OStream &json, DictionaryAttr change) {
  auto shape = change.getAs<DenseI64ArrayAttr>("shape");
  auto initial = change.getAs<DenseF64ArrayAttr>("initial");
  auto rule = change.getAs<DictionaryAttr>("initial");
  if (!shape || (!initial && !rule))
    return;
  json.attribute("shape", llvm::json::Array(shape.asArrayRef()));
  if (rule) {
    json.attributeObject("initial", [&] {
      printTexts(json, rule, rule.contains("of") ? ArrayRef<StringRef>{"of"} : ArrayRef<StringRef>());
      for (StringRef key : {"factor", "offset", "normal"})
        if (auto number = rule.getAs<FloatAttr>(key))
          json.attribute(key, number.getValueAsDouble());
    });
    return;
  }
  ArrayRef<double> values = initial;
  if (values.size() == 1)
    json.attribute("initial", values.front());
  else
    json.attribute("initial", llvm::json::Array(values));
}

static void printConversion(llvm::json::OStream &json, DictionaryAttr conversion) {
  json.object([&] {
    json.attribute("version", 1);
    printTexts(json, conversion, {"function", "from", "to", "class"});
    json.attributeArray("parameters", [&] {
      for (auto change : conversion.getAs<ArrayAttr>("parameters").getAsRange<DictionaryAttr>())
        json.object([&] {
          printTexts(json, change, {"name", "action", "from", "to"});
          printInitial(json, change);
        });
    });
  });
}

void resid::printManifest(ModuleOp module, raw_ostream &stream) {
  SmallVector<DictionaryAttr> conversions = getConversions(module);
  llvm::json::OStream json(stream, /*IndentSize=*/2);
  if (conversions.size() == 1)
    printConversion(json, conversions.front());
  else
    json.array([&] {
      for (DictionaryAttr conversion : conversions)
        printConversion(json, conversion);
    });
  json.flush();
  stream << "\n";
}
