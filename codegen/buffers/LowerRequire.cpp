// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns rows.require into a store to the function's status cell.

#include "codegen/buffers/Passes.h"
#include "codegen/rows/RowsDialect.h"

namespace mlir::resid::buffers {
#define GEN_PASS_DEF_LOWERREQUIRE
#include "codegen/buffers/Passes.h.inc"
} // namespace mlir::resid::buffers

using namespace mlir;
using namespace mlir::resid;

namespace {

Value findStatusCell(func::FuncOp function) {
  if (function.isExternal() || function.getNumArguments() == 0)
    return {};
  Value last = function.getArguments().back();
  auto type = dyn_cast<MemRefType>(last.getType());
  return type && type.getRank() == 0 && type.getElementType().isInteger(32) ? last : Value();
}

void lowerRequire(rows::RequireOp require, Value statusCell) {
  OpBuilder builder(require);
  Location loc = require.getLoc();
  Value current = memref::LoadOp::create(builder, loc, statusCell, ValueRange());
  Value zero = arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), 0);
  Value unset = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, current, zero);
  Value status = arith::ConstantOp::create(builder, loc, require.getStatusAttr());
  // The first status that failed wins, so a stored one stays.
  Value failed = arith::SelectOp::create(builder, loc, unset, status, current);
  Value next = arith::SelectOp::create(builder, loc, require.getCondition(), current, failed);
  memref::StoreOp::create(builder, loc, next, statusCell, ValueRange());
  require.erase();
}

struct LowerRequire : public buffers::impl::LowerRequireBase<LowerRequire> {
  void runOnOperation() override {
    Value statusCell = findStatusCell(getOperation());
    WalkResult result = getOperation().walk([&](rows::RequireOp require) {
      if (!statusCell) {
        require.emitOpError("expected a function whose last argument is the status cell, a memref<i32>, but got ")
            << getOperation().getFunctionType();
        return WalkResult::interrupt();
      }
      lowerRequire(require, statusCell);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
