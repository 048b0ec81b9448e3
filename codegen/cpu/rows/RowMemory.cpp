// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cpu/rows/RowMemory.h"

#include "codegen/cpu/choice/LocalRows.h"
#include "codegen/cpu/choice/StoreChoice.h"
#include "codegen/kernels/ElementMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

//===------------------------------------------- rows on the stack ------------------------------------------------===//

static Type getRowMemoryType(Value row) {
  return kernels::getMemoryType(cast<rows::RowType>(row.getType()).getElementType());
}

Value ScratchRows::add(Location loc, Value row, Value start) {
  Type element = getRowMemoryType(row);
  Value columns = function.getPaddedWidth(loc);
  current[row] = first[row] = start;
  clearTails(loc, start, element, columns);
  return builder.at(start, element, builder.multiply(columns, batchRows));
}

void ScratchRows::choosePlace(Location loc, Value place) {
  for (auto [row, start] : first) {
    current[row] = builder.at(start, getRowMemoryType(row), builder.multiply(place, function.getPaddedWidth(loc)));
  }
}

/// Zeros in the columns that are absent from the scratch rows of a batch, since whole steps are read from there.
void ScratchRows::clearTails(Location loc, Value first, Type element, Value columns) {
  if (matchPattern(batchRows, m_One()))
    return clearTail(loc, first, element, columns);
  builder.rolledLoop(0, batchRows, 1, [&](Value place) {
    clearTail(loc, builder.at(first, element, builder.multiply(place, columns)), element, columns);
  });
}

void ScratchRows::clearTail(Location loc, Value row, Type element, Value columns) {
  std::optional<int64_t> known = function.tail.getKnownWidth();
  if (known && *known % kLanes == 0)
    return;
  Value full = builder.both(function.addresses.width, -kLanes);
  int64_t length = std::min<int64_t>(function.target.vectorBits / element.getIntOrFloatBitWidth(), kLanes);
  Value zero = builder.constant(VectorType::get(length, element), 0);
  builder.rolledLoop(full, columns, length,
                     [&](Value column) { builder.store(zero, builder.at(row, element, column)); });
}

//===------------------------------------------- local rows -------------------------------------------------------===//

ScratchRows cpu::allocateLocalRows(VectorFunction &function, rows::KernelOp kernel, Value batchRows) {
  ScratchRows local(function, batchRows);
  int64_t columnBytes = getLocalColumnBytes(kernel);
  if (columnBytes == 0)
    return local;
  Location loc = kernel.getLoc();
  APInt rowsOfBatch;
  bool isKnown = matchPattern(batchRows, m_ConstantInt(&rowsOfBatch));
  assert(isKnown && "local rows have a known width, and so have batches");
  (void)isKnown;
  int64_t columns = rowsOfBatch.getSExtValue() * llvm::alignTo(*function.tail.getKnownWidth(), kLanes);
  Value next = function.allocate(loc, LLVM::LLVMArrayType::get(function.builder.getI8Type(), columns * columnBytes));
  for (auto row : kernel.getBody().front().getOps<rows::LocalRowOp>())
    next = local.add(loc, row, next);
  return local;
}

RowSource RowMemory::getSource(rows::LoadOp load, const RowPointers &pointers) const {
  if (Value row = local.lookup(load.getRow()))
    return {row, /*hasRoom=*/true};
  return getOperandSource(load, pointers);
}

SmallVector<RowTarget> RowMemory::getTargets(rows::StoreOp store, const RowPointers &pointers) const {
  if (Value row = local.lookup(store.getRow()))
    return {{row, /*hasRoom=*/true}};
  return getOperandTargets(store, pointers);
}

void RowMemory::choosePlace(Location loc, Value place) { local.choosePlace(loc, place); }

//===------------------------------------------- through the cache ------------------------------------------------===//

RowSource CachedMemory::getOperandSource(rows::LoadOp load, const RowPointers &pointers) const {
  return {pointers.lookup(load.getRow())};
}

SmallVector<RowTarget> CachedMemory::getOperandTargets(rows::StoreOp store, const RowPointers &pointers) const {
  return {{pointers.lookup(store.getRow())}};
}

//===------------------------------------------- past the cache ---------------------------------------------------===//

/// Scratch rows lie one after the other, each as long as the rows at hand: kept ones first, so that they have all the
/// room where rows are aligned. 64 bytes more are read by what writes the others. Staged rows are not read in steps,
/// and have no room where rows are aligned and wide.
StreamedMemory::StreamedMemory(ScratchRows local, VectorFunction &function, const StreamedRows &stream, Value batchRows)
    : RowMemory(std::move(local)), function(function), builder(function.builder), stream(stream),
      kept(function, batchRows) {
  Location loc = function.entry->getParentOp()->getLoc();
  aligned = stream.getStagedCapacity() ? emitAlignment(builder, loc, function.addresses, stream.getOperands())
                                       : builder.truth(true);
  Value columns = function.getPaddedWidth(loc);
  Value next =
      function.allocate(loc, LLVM::LLVMArrayType::get(builder.getI8Type(), stream.getScratchBytes() + kLineBytes));
  for (BlockArgument row : stream.getKept())
    next = kept.add(loc, row, next);
  for (BlockArgument row : stream.getStaged()) {
    staged[row] = next;
    next = builder.at(next, getRowMemoryType(row), columns);
  }
  if (!stream.getStagedCapacity())
    return;
  auto module = function.entry->getParentOp()->getParentOfType<ModuleOp>();
  for (BlockArgument row : llvm::concat<const BlockArgument>(stream.getKept(), stream.getStaged()))
    writers.insert({row, LineWriter::create(builder, loc, function.entry, module, function.target)});
}

Value StreamedMemory::getScratch(Value row) const { return stream.isKept(row) ? kept.lookup(row) : staged.lookup(row); }

RowSource StreamedMemory::getOperandSource(rows::LoadOp load, const RowPointers &pointers) const {
  if (stream.isKept(load.getRow()))
    return {kept.lookup(load.getRow()), /*hasRoom=*/true};
  return {pointers.lookup(load.getRow())};
}

SmallVector<RowTarget> StreamedMemory::getOperandTargets(rows::StoreOp store, const RowPointers &pointers) const {
  Value pointer = pointers.lookup(store.getRow()), own = getScratch(store.getRow());
  SmallVector<RowTarget> targets;
  if (stream.isReadLater(store))
    targets.push_back({own, /*hasRoom=*/true});
  if (stream.isLast(store))
    targets.push_back({pointer, /*hasRoom=*/false, aligned, own, /*isThere=*/stream.isReadLater(store)});
  return targets;
}

void StreamedMemory::choosePlace(Location loc, Value place) {
  RowMemory::choosePlace(loc, place);
  kept.choosePlace(loc, place);
}

/// Writes the rows that are complete after the phase, where they do not begin at cache lines. In one go, since a load
/// of what was stored a moment before waits until that has left the processor's queue of stores, past slow ones.
void StreamedMemory::endPhase(rows::PhaseOp phase, const RowPointers &pointers) {
  Location loc = phase.getLoc();
  for (rows::StoreOp store : phase.getBody().front().getOps<rows::StoreOp>()) {
    auto writer = writers.find(store.getRow());
    if (writer == writers.end() || !stream.isLast(store))
      continue;
    int64_t size = kernels::getElementBytes(store.getValue().getType());
    builder.choose(
        aligned, [] {},
        [&] {
          Value bytes = builder.multiply(function.addresses.width, size);
          writer->second.emitWrite(builder, loc, pointers.lookup(store.getRow()), getScratch(store.getRow()), bytes);
        });
  }
}

void StreamedMemory::finish(Location loc) {
  for (const auto &[row, writer] : writers)
    writer.emitFlush(builder, loc);
  LLVM::CallIntrinsicOp::create(builder, loc, builder.getStringAttr("llvm.x86.sse.sfence"), ValueRange());
}
