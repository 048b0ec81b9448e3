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
    if (index && failed(parser.parseOptionalComma()))
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

void resid::printClauseType(OpAsmPrinter &printer, Type type) {
  if (type)
    printer << ", " << type;
}

ParseResult resid::parseArrowTypes(OpAsmParser &parser, SmallVectorImpl<Type> &results) {
  if (failed(parser.parseOptionalArrow()))
    return success();
  return parser.parseTypeList(results);
}

void resid::printArrowTypes(OpAsmPrinter &printer, TypeRange results) {
  printer << " -> ";
  llvm::interleaveComma(results, printer);
}
