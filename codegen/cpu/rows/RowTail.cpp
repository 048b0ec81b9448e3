// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What serves all rows is emitted right after what it is computed from, in the function's first block.

#include "codegen/cpu/rows/RowTail.h"

#include "codegen/rows/RowAddressing.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

RowTail::RowTail(Code &builder, Value width, bool hasMaskRegisters)
    : builder(builder), width(width), hasMaskRegisters(hasMaskRegisters) {
  APInt value;
  if (matchPattern(width, m_ConstantInt(&value)))
    knownWidth = value.getSExtValue();
}

PresentColumns RowTail::getPresent(int64_t unit, int64_t lane) {
  auto [place, isNew] = steps.try_emplace({unit, lane});
  PresentColumns &present = place->second;
  if (!isNew)
    return present;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(width);
  if (knownWidth) {
    present.known = *knownWidth % unit - lane;
    present.count = builder.constant(*present.known);
    return present;
  }
  Value rest = builder.both(width, unit - 1);
  present.count = lane ? builder.subtract(rest, lane) : rest;
  return present;
}

/// A number that LLVM knows nothing about. Where it knows that a mask has a single lane, LLVM 22 makes 32 bits of a
/// masked store of 16-bit lanes that were truncated before, and so writes beyond the row.
static Value hideNumber(OpBuilder &builder, Location loc, Value number) {
  return LLVM::InlineAsmOp::create(builder, loc, number.getType(), number, /*asm_string=*/"", "=r,0",
                                   /*has_side_effects=*/false, /*is_align_stack=*/false,
                                   LLVM::tailcallkind::TailCallKind::None, /*asm_dialect=*/nullptr,
                                   /*operand_attrs=*/nullptr)
      ->getResult(0);
}

/// Fewer than a chunk, so that they fit.
Value RowTail::getNumber(Value count) {
  Value &number = numbers[count];
  if (number)
    return number;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(count);
  number = builder.castInteger(count, builder.getI32Type());
  if (hasMaskRegisters)
    number = hideNumber(builder, width.getLoc(), number);
  return number;
}

Value RowTail::createMask(Value number, int64_t first, int64_t stride, int64_t lanes) {
  auto type = VectorType::get(lanes, builder.getI32Type());
  SmallVector<int32_t> columns;
  for (int64_t lane = 0; lane < lanes; ++lane)
    columns.push_back(static_cast<int32_t>(first + lane * stride));
  Value all = builder.create<arith::ConstantOp>(DenseElementsAttr::get(type, ArrayRef<int32_t>(columns)));
  return builder.compare(arith::CmpIPredicate::slt, all, builder.spread(number, lanes));
}

Value RowTail::getMask(const PresentColumns &present, int64_t first, int64_t stride, int64_t lanes) {
  Value number = getNumber(present.count);
  if (!hasMaskRegisters)
    return createMask(number, first, stride, lanes);
  Value &mask = masks[{present.count.getAsOpaquePointer(), first, stride, lanes}];
  if (mask)
    return mask;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(number);
  return mask = createMask(number, first, stride, lanes);
}
