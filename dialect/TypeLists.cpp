// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See TypeLists.h.

#include "dialect/TypeLists.h"

using namespace mlir;
using namespace mlir::resid;

ParseResult resid::parseTypes(OpAsmParser &parser, ArrayRef<StatedType> all) {
  auto stated = llvm::make_filter_range(all, [](const StatedType &stated) { return stated.isWritten; });
  size_t count = llvm::range_size(stated);
  auto refuse = [&](SMLoc location) {
    InFlightDiagnostic message = parser.emitError(location);
    message << "expected " << count << (count == 1 ? " type (" : " types (");
    llvm::interleaveComma(stated, message, [&](const StatedType &type) { message << type.name; });
    message << "), but got ";
    return message;
  };
  SMLoc last;
  for (auto [index, type] : llvm::enumerate(stated)) {
    bool isThere = !index || succeeded(parser.parseOptionalComma());
    if (!isThere && type.unwritten) {
      type.type = type.unwritten;
      continue;
    }
    if (!isThere)
      return refuse(last) << index << ": that of " << type.name << " is missing";
    last = parser.getCurrentLocation();
    if (failed(parser.parseType(type.type)))
      return failure();
  }
  SMLoc location = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalComma()))
    return refuse(location) << "more";
  return success();
}

ParseResult resid::parseArrowTypes(OpAsmParser &parser, SmallVectorImpl<Type> &results) {
  if (failed(parser.parseOptionalArrow()))
    return success();
  return parser.parseTypeList(results);
}

ParseResult resid::parseArrowTypes(OpAsmParser &parser, Type usual, Type &first, SmallVectorImpl<Type> &others) {
  if (parseArrowTypes(parser, others))
    return failure();
  first = usual;
  if (!others.empty()) {
    first = others.front();
    others.erase(others.begin());
  }
  return success();
}

ParseResult resid::parseArrowTypes(OpAsmParser &parser, StringRef names, Type usual, Type &first, Type &second) {
  SmallVector<Type> others;
  SMLoc location = parser.getCurrentLocation();
  if (parseArrowTypes(parser, usual, first, others))
    return failure();
  if (others.size() > 1)
    return parser.emitError(location, "expected the types of ") << names << ", but got " << others.size() + 1;
  second = others.empty() ? Type() : others.front();
  return success();
}

void resid::printTypes(OpAsmPrinter &printer, Operation *op, ArrayRef<Type> stated, TypeRange usualResults) {
  llvm::interleaveComma(llvm::make_filter_range(stated, [](Type type) { return type; }), printer);
  if (op->getResultTypes() != usualResults)
    printer << " -> " << op->getResultTypes();
}
