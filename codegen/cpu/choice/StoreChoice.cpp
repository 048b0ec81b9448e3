// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conditions on sizes and addresses.

#include "codegen/cpu/choice/StoreChoice.h"

#include "codegen/cpu/choice/CacheSize.h"
#include "codegen/kernels/CallerContext.h"
#include "codegen/kernels/DisjointBuffers.h"
#include "codegen/kernels/ElementMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

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
  Value fits(int64_t columns) { return compare(arith::CmpIPredicate::sle, addresses.width, constant(columns)); }
  Value isAtLeast(int64_t columns) { return compare(arith::CmpIPredicate::sge, addresses.width, constant(columns)); }
  Value toBytes(const OperandAddress &operand, Value elements) {
    return arith::MulIOp::create(builder, loc, elements, constant(kernels::getElementBytes(operand.elementType)));
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

  bool hasNarrowElements(const StreamedRows &rows) const {
    return llvm::any_of(rows.getOperands(), [&](unsigned operand) {
      return kernels::getElementBytes(addresses.operands[operand].elementType) < 4;
    });
  }

  /// Copying rows in whole lines costs time per row; rows in batches wait for memory less, so there it pays later.
  int64_t getLeastUnalignedColumns(const StreamedRows &rows, bool isBatched, const ScheduleTable &table) const {
    if (!isBatched)
      return table.unalignedColumns;
    return hasNarrowElements(rows) ? table.batchedUnalignedNarrowColumns : table.batchedUnalignedColumns;
  }

  Value computeWrittenBytes(const StreamedRows &rows) {
    Value bytes = constant(0);
    for (unsigned operand : rows.getOperands())
      bytes = arith::AddIOp::create(builder, loc, bytes, toBytes(addresses.operands[operand], addresses.width));
    return arith::MulIOp::create(builder, loc, bytes, addresses.rows);
  }

  /// Whether so much is written that little of it would be in the caches when it is read. The size of the last level
  /// only lowers the limit: a virtual machine may report one that it shares with many others.
  Value isLarge(ModuleOp module, const StreamedRows &rows, const ScheduleTable &table) {
    CacheBytes cache = emitCacheBytes(builder, loc, module);
    Value share = arith::DivUIOp::create(builder, loc, cache.last, constant(table.cacheShare));
    Value limit = arith::MinUIOp::create(builder, loc, share, constant(table.cacheBytes));
    limit = arith::MaxUIOp::create(builder, loc, limit, cache.second);
    return compare(arith::CmpIPredicate::ugt, computeWrittenBytes(rows), limit);
  }

  /// What the caller says, else `otherwise`.
  Value followHints(Value context, Value otherwise) {
    Value known = arith::ConstantIntOp::create(builder, loc, RESID_HINT_READ_SOON | RESID_HINT_STREAM, 32);
    Value always = arith::ConstantIntOp::create(builder, loc, 1, 1);
    Value given = loadMemberIf(builder, loc, always, builder.getI32Type(), context, Hints);
    Value hints = arith::AndIOp::create(builder, loc, given, known);
    auto isHint = [&](int32_t hint) {
      return compare(arith::CmpIPredicate::eq, hints, arith::ConstantIntOp::create(builder, loc, hint, 32));
    };
    Value isNotSoon = arith::XOrIOp::create(builder, loc, isHint(RESID_HINT_READ_SOON), always);
    return arith::OrIOp::create(builder, loc, isHint(RESID_HINT_STREAM), both(otherwise, isNotSoon));
  }
};

} // namespace

Value cpu::emitAlignment(OpBuilder &builder, Location loc, const KernelAddresses &addresses,
                         ArrayRef<unsigned> operands) {
  ChoiceBuilder choice{builder, loc, addresses};
  Value aligned = arith::ConstantIntOp::create(builder, loc, 1, 1);
  for (unsigned operand : operands)
    aligned = choice.both(aligned, choice.isAligned(addresses.operands[operand]));
  return aligned;
}

Value cpu::emitStoreChoice(OpBuilder &builder, ModuleOp module, rows::KernelOp kernel, const KernelAddresses &addresses,
                           const StreamedRows &rows, const Schedule &schedule, const KernelPlan &plan, Value context) {
  ChoiceBuilder choice{builder, kernel.getLoc(), addresses};
  Value useStream = arith::ConstantIntOp::create(builder, choice.loc, 1, 1);
  if (schedule.stores == StoreKind::Auto) {
    useStream = choice.isLarge(module, rows, schedule.table);
    SmallVector<Value> buffers(kernel.getInputs());
    llvm::append_range(buffers, kernel.getInits());
    // Temporaries are read by this function itself.
    auto isWrittenForCaller = [&](unsigned operand) { return isOfCaller(buffers[operand]); };
    if (context && llvm::all_of(rows.getOperands(), isWrittenForCaller))
      useStream = choice.followHints(context, useStream);
  }
  Value aligned = emitAlignment(builder, choice.loc, addresses, rows.getOperands());
  Value haveRoom = choice.fits(rows.getStagedCapacity());
  if (schedule.stores == StoreKind::Auto)
    haveRoom = choice.both(
        haveRoom, choice.isAtLeast(choice.getLeastUnalignedColumns(rows, plan.isBatchedPastCache, schedule.table)));
  Value keptHaveRoom = rows.getKept().empty() ? aligned : choice.both(aligned, choice.fits(rows.getCapacity()));
  useStream = choice.both(useStream, arith::OrIOp::create(builder, choice.loc, haveRoom, keptHaveRoom));
  if (schedule.stores != StoreKind::Auto)
    return useStream;
  // The version for this is not batched then, and narrow types gain more by that.
  if (plan.isBatched && plan.isPipelined() && choice.hasNarrowElements(rows))
    useStream = choice.both(useStream, choice.isAtLeast(schedule.table.batchedUnalignedNarrowColumns));
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
