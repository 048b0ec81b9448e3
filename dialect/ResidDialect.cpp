// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration of the dialect's ops and attributes. Verifiers and folds live in the file of each family.

#include "dialect/ResidDialect.h"

#include "dialect/Assembly.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::resid;

#include "dialect/EqualSizes.cpp.inc"
#include "dialect/ResidDialect.cpp.inc"
#include "dialect/ResidEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/ResidAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "dialect/ResidOps.cpp.inc"

template <typename... OpTs> static void insertOps(Dialect &dialect) {
  static_assert((OpTs::template hasTrait<DefinedAttributes>() && ...), "expected every op to be a Resid_BaseOp");
  (RegisteredOperationName::insert<WithTextHooks<OpTs>>(dialect), ...);
}

void ResidDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/ResidAttrs.cpp.inc"
      >();
  insertOps<
#define GET_OP_LIST
#include "dialect/ResidOps.cpp.inc"
      >(*this);
}

std::optional<Dialect::ParseOpHook> ResidDialect::getParseOperationHook(StringRef name) const {
  if (std::optional<ParseOpHook> hook = Dialect::getParseOperationHook(name))
    return hook;
  return parseUnknownOp;
}

Operation *ResidDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}
