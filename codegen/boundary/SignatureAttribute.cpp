// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/boundary/Signature.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::resid::boundary;

static DictionaryAttr toAttribute(Builder &builder, const KernelValue &value) {
  SmallVector<NamedAttribute> entries = {builder.getNamedAttr("name", builder.getStringAttr(value.name)),
                                         builder.getNamedAttr("type", TypeAttr::get(value.type))};
  if (value.isArray())
    entries.push_back(builder.getNamedAttr("shape", builder.getDenseI64ArrayAttr(value.shape)));
  if (value.isStrided())
    entries.push_back(builder.getNamedAttr("stride", builder.getStringAttr(value.stride)));
  if (value.weight)
    entries.push_back(builder.getNamedAttr("weight", builder.getStringAttr(*value.weight)));
  return builder.getDictionaryAttr(entries);
}

static KernelValue valueFromAttribute(DictionaryAttr attribute) {
  KernelValue value{attribute.getAs<StringAttr>("name").str(), attribute.getAs<TypeAttr>("type").getValue(), {}};
  if (auto shape = attribute.getAs<DenseI64ArrayAttr>("shape"))
    value.shape.assign(shape.asArrayRef().begin(), shape.asArrayRef().end());
  if (auto stride = attribute.getAs<StringAttr>("stride"))
    value.stride = stride.str();
  if (auto weight = attribute.getAs<StringAttr>("weight"))
    value.weight = weight.str();
  return value;
}

DictionaryAttr KernelSignature::toAttribute(MLIRContext *context) const {
  Builder builder(context);
  auto valuesToAttribute = [&](ArrayRef<KernelValue> values) {
    return builder.getArrayAttr(llvm::map_to_vector(
        values, [&](const KernelValue &value) -> Attribute { return ::toAttribute(builder, value); }));
  };
  SmallVector<Attribute> sizeList, inPlaceList;
  for (const SizeParameter &size : sizes)
    sizeList.push_back(
        builder.getDictionaryAttr({builder.getNamedAttr("name", builder.getStringAttr(size.name)),
                                   builder.getNamedAttr("argument", builder.getI64IntegerAttr(size.argument)),
                                   builder.getNamedAttr("dimension", builder.getI64IntegerAttr(size.dimension)),
                                   builder.getNamedAttr("same_as", builder.getI64IntegerAttr(size.sameAs)),
                                   builder.getNamedAttr("fixed", builder.getI64IntegerAttr(size.fixed))}));
  for (auto [result, argument] : inPlace)
    inPlaceList.push_back(builder.getDenseI64ArrayAttr({int64_t(result), int64_t(argument)}));
  SmallVector<NamedAttribute> entries = {builder.getNamedAttr("symbol", builder.getStringAttr(symbol)),
                                         builder.getNamedAttr("type", builder.getStringAttr(typeText)),
                                         builder.getNamedAttr("arguments", valuesToAttribute(arguments)),
                                         builder.getNamedAttr("results", valuesToAttribute(results)),
                                         builder.getNamedAttr("sizes", builder.getArrayAttr(sizeList)),
                                         builder.getNamedAttr("in_place", builder.getArrayAttr(inPlaceList))};
  auto addExpressions = [&](StringRef name, ArrayRef<SizeExpr> expressions) {
    if (!expressions.empty())
      entries.push_back(
          builder.getNamedAttr(name, builder.getArrayAttr(llvm::map_to_vector(
                                         expressions, [](SizeExpr expression) { return expression.getAttribute(); }))));
  };
  addExpressions("derived_sizes", derivedSizes);
  SmallVector<SizeExpr> sides; // of the equalities, two by two
  for (auto [a, b] : equalities)
    sides.append({a, b});
  addExpressions("equalities", sides);
  auto checkList = llvm::map_to_vector(checks, [&](const ValueCheck &check) -> Attribute {
    return builder.getDictionaryAttr({builder.getNamedAttr("text", builder.getStringAttr(check.text)),
                                      builder.getNamedAttr("status", builder.getI32IntegerAttr(check.status)),
                                      builder.getNamedAttr("inside", builder.getBoolAttr(check.isInside))});
  });
  if (!checkList.empty())
    entries.push_back(builder.getNamedAttr("checks", builder.getArrayAttr(checkList)));
  if (isForDevice)
    entries.push_back(builder.getNamedAttr("device", builder.getUnitAttr()));
  if (!weights.empty())
    entries.push_back(builder.getNamedAttr("weights", builder.getStringAttr(weights)));
  return builder.getDictionaryAttr(entries);
}

KernelSignature KernelSignature::fromAttribute(DictionaryAttr attribute) {
  KernelSignature signature;
  signature.symbol = attribute.getAs<StringAttr>("symbol").str();
  signature.typeText = attribute.getAs<StringAttr>("type").str();
  for (auto value : attribute.getAs<ArrayAttr>("arguments").getAsRange<DictionaryAttr>())
    signature.arguments.push_back(valueFromAttribute(value));
  for (auto value : attribute.getAs<ArrayAttr>("results").getAsRange<DictionaryAttr>())
    signature.results.push_back(valueFromAttribute(value));
  for (auto size : attribute.getAs<ArrayAttr>("sizes").getAsRange<DictionaryAttr>()) {
    auto integer = [&](llvm::StringRef name) { return size.getAs<IntegerAttr>(name).getInt(); };
    signature.sizes.push_back({size.getAs<StringAttr>("name").str(), unsigned(integer("argument")),
                               unsigned(integer("dimension")), unsigned(integer("same_as")), integer("fixed")});
  }
  for (auto pair : attribute.getAs<ArrayAttr>("in_place").getAsRange<DenseI64ArrayAttr>())
    signature.inPlace.push_back({unsigned(pair[0]), unsigned(pair[1])});
  if (auto expressions = attribute.getAs<ArrayAttr>("derived_sizes"))
    for (Attribute size : expressions)
      signature.derivedSizes.push_back(SizeExpr(size));
  if (auto expressions = attribute.getAs<ArrayAttr>("equalities"))
    for (ArrayRef<Attribute> sides = expressions.getValue(); !sides.empty(); sides = sides.drop_front(2))
      signature.equalities.push_back({SizeExpr(sides[0]), SizeExpr(sides[1])});
  if (auto checks = attribute.getAs<ArrayAttr>("checks"))
    for (auto check : checks.getAsRange<DictionaryAttr>())
      signature.checks.push_back({check.getAs<StringAttr>("text").str(),
                                  int32_t(check.getAs<IntegerAttr>("status").getInt()),
                                  check.getAs<BoolAttr>("inside").getValue()});
  signature.isForDevice = attribute.contains("device");
  if (auto weights = attribute.getAs<StringAttr>("weights"))
    signature.weights = weights.str();
  return signature;
}
