// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conditions on sizes and addresses.

#include "codegen/cpu/StoreChoice.h"

#include "codegen/cpu/CacheSize.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

/// Of the last-level cache: outputs beyond this part of it are written past it.
static constexpr int64_t kCacheShare = 4;

namespace {

struct ChoiceBuilder {
  OpBuilder &builder;
  Location loc;
  const KernelAddresses &addresses;

  Value constant(int64_t value) { return constantI64(builder, loc, value); }
  Value both(Value a, Value b) { return arith::AndIOp::create(builder, loc, a, b); }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  Value toInteger(Value pointer) { return LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), pointer); }
  Value toBytes(const OperandAddress &operand, Value elements) {
    int64_t size = operand.elementType.getIntOrFloatBitWidth() / 8;
    return arith::MulIOp::create(builder, loc, elements, constant(size));
  }

  /// Whether every row of the operand begins at a cache line.
  Value isAligned(const OperandAddress &operand) {
    Value bits = toInteger(operand.pointer);
    SmallVector<Value> strides = llvm::map_to_vector(operand.strides, [](const auto &entry) { return entry.second; });
    if (operand.linearStride)
      strides.push_back(operand.linearStride);
    for (Value stride : strides)
      bits = arith::OrIOp::create(builder, loc, bits, toBytes(operand, stride));
    Value rest = arith::AndIOp::create(builder, loc, bits, constant(kLineBytes - 1));
    return compare(arith::CmpIPredicate::eq, rest, constant(0));
  }

  Value computeWrittenBytes(const StreamedRows &rows) {
    Value bytes = constant(0);
    for (unsigned operand : rows.getOperands())
      bytes = arith::AddIOp::create(builder, loc, bytes, toBytes(addresses.operands[operand], addresses.width));
    return arith::MulIOp::create(builder, loc, bytes, addresses.rows);
  }
};

} // namespace

Value cpu::emitStoreChoice(OpBuilder &builder, ModuleOp module, rows::KernelOp kernel, const KernelAddresses &addresses,
                           const StreamedRows &rows, const Schedule &schedule) {
  ChoiceBuilder choice{builder, kernel.getLoc(), addresses};
  Value useStream = arith::ConstantIntOp::create(builder, choice.loc, 1, 1);
  if (schedule.stores == StoreKind::Auto) {
    Value cache = emitLastCacheBytes(builder, choice.loc, module);
    Value limit = arith::DivUIOp::create(builder, choice.loc, cache, choice.constant(kCacheShare));
    useStream = choice.compare(arith::CmpIPredicate::ugt, choice.computeWrittenBytes(rows), limit);
  }
  for (unsigned operand : rows.getOperands())
    useStream = choice.both(useStream, choice.isAligned(addresses.operands[operand]));
  if (!rows.getKept().empty()) {
    Value room = choice.constant(rows.getCapacity());
    useStream = choice.both(useStream, choice.compare(arith::CmpIPredicate::sle, addresses.width, room));
  }
  if (schedule.stores != StoreKind::Auto)
    return useStream;
  // In place, the line that a plain store needs was just read.
  for (unsigned operand : rows.getOperands())
    for (unsigned input = 0; input < kernel.getInputs().size(); ++input)
      if (kernel.isAlongColumns(input)) {
        Value apart = choice.compare(arith::CmpIPredicate::ne, choice.toInteger(addresses.operands[operand].pointer),
                                     choice.toInteger(addresses.operands[input].pointer));
        useStream = choice.both(useStream, apart);
      }
  return useStream;
}
