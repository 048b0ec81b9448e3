// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration of the rows dialect and the parts of its text that assemblyFormat cannot state. Verifiers: RowsOps.cpp.

#include "codegen/rows/RowsDialect.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::resid::rows;

static ParseResult parseReductionKinds(OpAsmParser &parser, ArrayAttr &kinds) {
  SmallVector<Attribute> parsed;
  auto parseKind = [&]() -> ParseResult {
    StringRef keyword;
    SMLoc location = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword))
      return failure();
    std::optional<ReductionKind> kind = symbolizeReductionKind(keyword);
    if (!kind)
      return parser.emitError(location, "expected 'sum', 'sum_of_squares' or 'max', but got '") << keyword << "'";
    parsed.push_back(ReductionKindAttr::get(parser.getContext(), *kind));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseKind))
    return failure();
  kinds = parser.getBuilder().getArrayAttr(parsed);
  return success();
}

static void printReductionKinds(OpAsmPrinter &printer, Operation *, ArrayAttr kinds) {
  printer << "[";
  llvm::interleaveComma(kinds.getAsRange<ReductionKindAttr>(), printer,
                        [&](ReductionKindAttr kind) { printer << stringifyReductionKind(kind.getValue()); });
  printer << "]";
}

#include "codegen/rows/RowsDialect.cpp.inc"
#include "codegen/rows/StatisticsInterface.cpp.inc"

#include "codegen/rows/RowsEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "codegen/rows/RowsTypes.cpp.inc"

#define GET_OP_CLASSES
#include "codegen/rows/RowsOps.cpp.inc"

void RowsDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "codegen/rows/RowsTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "codegen/rows/RowsOps.cpp.inc"
      >();
}
