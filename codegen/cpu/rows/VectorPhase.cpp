// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits one phase of a row on the vector path. A step is a few vectors of columns. Where a step is a chunk of 64 lanes,
// a block of 1,024 columns is one loop over its chunks; where registers are narrower, the block is swept several times,
// each time over the same lanes of every chunk, so that the accumulators always stay in registers.

#include "codegen/cpu/rows/VectorRows.h"

#include "codegen/cpu/choice/StoreChoice.h"
#include "codegen/rows/ElementMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::kernels;

VectorRowEmitter::VectorRowEmitter(OpBuilder &builder, Block *entry, const KernelAddresses &addresses,
                                   const IRMapping &mapping, const CPUTarget &target, const StreamedRows *stream,
                                   bool prefetch, RareFunctions *rare, bool isBatched)
    : RowEmitter(builder, entry, addresses, mapping), target(target), stream(stream), prefetch(prefetch), rare(rare),
      tail(builder, addresses.width, /*hasMaskRegisters=*/target.maskedBits != 0 && target.maskedBits <= 16) {
  Location loc = entry->getParentOp()->getLoc();
  if (isBatched)
    batchRows = computeBatchRows(loc);
  if (stream)
    allocateScratch(loc);
  places = createPlaces(rowPointers);
}

RowPlaces VectorRowEmitter::createPlaces(const RowPointers &pointers) {
  RowPlaces created;
  created.source = [&](rows::LoadOp load) { return getSource(load, pointers); };
  created.targets = [&](rows::StoreOp store) { return getTargets(store, pointers); };
  return created;
}

Value VectorRowEmitter::emitPaddedWidth(Location loc) {
  if (paddedWidth)
    return paddedWidth;
  Value widest = arith::AddIOp::create(builder, loc, addresses.width, constantI64(builder, loc, kLanes - 1));
  return paddedWidth = arith::AndIOp::create(builder, loc, widest, constantI64(builder, loc, -kLanes));
}

/// Scratch rows lie one after the other, each as long as the rows at hand: kept ones first, so that they have all the
/// room where rows are aligned. 64 bytes more are read by what writes the others.
void VectorRowEmitter::allocateScratch(Location loc) {
  aligned = stream->getStagedCapacity() ? emitAlignment(builder, loc, addresses, stream->getOperands())
                                        : arith::ConstantIntOp::create(builder, loc, 1, 1).getResult();
  Value columns = emitPaddedWidth(loc), next;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(entry);
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), stream->getScratchBytes() + kLineBytes);
    next = LLVM::AllocaOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), type,
                                  constantI64(builder, loc, 1), kLineBytes);
  }
  auto module = entry->getParentOp()->getParentOfType<ModuleOp>();
  for (BlockArgument row : llvm::concat<const BlockArgument>(stream->getKept(), stream->getStaged())) {
    scratch[row] = firstScratch[row] = next;
    Type element = rows::getMemoryType(cast<rows::RowType>(row.getType()).getElementType());
    if (stream->isKept(row)) // Others are not read in steps, and have no room where rows are aligned and wide.
      clearTails(loc, next, element, columns);
    Value all = stream->isKept(row) && batchRows ? arith::MulIOp::create(builder, loc, columns, batchRows) : columns;
    next = LLVM::GEPOp::create(builder, loc, next.getType(), element, next, ValueRange(all));
    if (stream->getStagedCapacity())
      writers.insert({row, LineWriter::create(builder, loc, entry, module, target)});
  }
}

RowSource VectorRowEmitter::getSource(rows::LoadOp load, const RowPointers &pointers) const {
  if (stream && stream->isKept(load.getRow()))
    return {scratch.lookup(load.getRow()), /*hasRoom=*/true};
  return {pointers.lookup(load.getRow())};
}

/// The same for each row of a batch.
void VectorRowEmitter::clearTails(Location loc, Value first, Type element, Value columns) {
  if (!batchRows)
    return clearTail(loc, first, element, columns);
  LaneLoops(builder, loc, /*vectorLanes=*/1).emitLoop(constantI64(builder, loc, 0), batchRows, 1, [&](Value place) {
    Value offset = arith::MulIOp::create(builder, loc, place, columns);
    Value row = LLVM::GEPOp::create(builder, loc, first.getType(), element, first, ValueRange(offset));
    clearTail(loc, row, element, columns);
  });
}

/// Zeros in the columns of a scratch row that are absent, since whole steps are read from there.
void VectorRowEmitter::clearTail(Location loc, Value row, Type element, Value columns) {
  std::optional<int64_t> known = tail.getKnownWidth();
  if (known && *known % kLanes == 0)
    return;
  Value full = arith::AndIOp::create(builder, loc, addresses.width, constantI64(builder, loc, -kLanes));
  int64_t length = std::min<int64_t>(target.vectorBits / element.getIntOrFloatBitWidth(), kLanes);
  auto type = VectorType::get(length, element);
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  LaneLoops(builder, loc, /*vectorLanes=*/1).emitLoop(full, columns, length, [&](Value column) {
    Value place = LLVM::GEPOp::create(builder, loc, row.getType(), element, row, ValueRange(column));
    LLVM::StoreOp::create(builder, loc, zero, place, /*alignment=*/1);
  });
}

SmallVector<RowTarget> VectorRowEmitter::getTargets(rows::StoreOp store, const RowPointers &pointers) {
  Value pointer = pointers.lookup(store.getRow());
  if (!stream)
    return {{pointer}};
  Value own = scratch.lookup(store.getRow());
  SmallVector<RowTarget> targets;
  if (stream->isReadLater(store))
    targets.push_back({own, /*hasRoom=*/true});
  if (stream->isLast(store))
    targets.push_back({pointer, /*hasRoom=*/false, aligned, own, /*isThere=*/stream->isReadLater(store)});
  return targets;
}

/// Writes the rows that are complete after the phase, where they do not begin at cache lines. In one go, since a load
/// of what was stored a moment before waits until that has left the processor's queue of stores, past slow ones.
void VectorRowEmitter::copyUnaligned(rows::PhaseOp phase) {
  Location loc = phase.getLoc();
  for (rows::StoreOp store : phase.getBody().front().getOps<rows::StoreOp>()) {
    auto writer = writers.find(store.getRow());
    if (writer == writers.end() || !stream->isLast(store))
      continue;
    int64_t size = rows::getElementBytes(store.getValue().getType());
    auto choice = scf::IfOp::create(builder, loc, aligned, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(choice.elseBlock());
    Value bytes = arith::MulIOp::create(builder, loc, addresses.width, constantI64(builder, loc, size));
    writer->second.emitWrite(builder, loc, getRowPointer(store.getRow()), scratch.lookup(store.getRow()), bytes);
  }
}

void VectorRowEmitter::finish(Location loc) {
  if (!stream)
    return;
  for (const auto &[row, writer] : writers)
    writer.emitFlush(builder, loc);
  LLVM::CallIntrinsicOp::create(builder, loc, builder.getStringAttr("llvm.x86.sse.sfence"), ValueRange());
}

void VectorRowEmitter::emitColumnOperation(Operation *op) {
  llvm_unreachable("column operations stand in phases, which VectorBody emits");
}

void VectorRowEmitter::emitPhase(rows::PhaseOp phase) {
  places.prefetches = getPrefetches(phase);
  places.prefetchesOfTail = stream ? places.prefetches : getPrefetchesOfMasked(phase);
  VectorBody body(builder, entry, phase, mapping, places, target, tail, buffers);
  phase.getReduced().empty() ? emitElementwise(body, phase.getLoc()) : emitReductions(phase, body);
  copyUnaligned(phase);
}

void VectorRowEmitter::emitReductions(rows::PhaseOp phase, VectorBody &body) {
  Location loc = phase.getLoc();
  Accumulators allTotals = behind ? emitSharedBlocks(phase, body) : emitBlocks(phase, body);
  ArrayRef<Value> totals = allTotals;
  int64_t partsOfLanes = kLanes / body.getLanes();
  for (auto [kind, result] :
       llvm::zip_equal(phase.getKinds().getAsRange<rows::ReductionKindAttr>(), phase.getReduced())) {
    SmallVector<Value> parts(totals.take_front(partsOfLanes));
    totals = totals.drop_front(partsOfLanes);
    mapping.map(result, reduceLanes(builder, loc, kind.getValue(), std::move(parts), body.getOrder()));
  }
}

/// Emits `body` where columns are left in [first, end); what it gives, else `otherwise`. `isThere`: whether that is so,
/// where it is known.
SmallVector<Value> VectorRowEmitter::emitInTail(std::optional<bool> isThere, Value first, Value end,
                                                ValueRange otherwise, function_ref<SmallVector<Value>()> body) {
  if (isThere)
    return *isThere ? body() : SmallVector<Value>(otherwise);
  Location loc = first.getLoc();
  Value hasTail = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, first, end);
  auto choice = scf::IfOp::create(builder, loc, otherwise.getTypes(), hasTail, /*withElseRegion=*/!otherwise.empty());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  SmallVector<Value> results = body();
  if (otherwise.empty())
    return {};
  scf::YieldOp::create(builder, loc, results);
  builder.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(builder, loc, otherwise);
  return SmallVector<Value>(choice.getResults());
}

void VectorRowEmitter::emitElementwise(VectorBody &body, Location loc) {
  Value zero = constantI64(builder, loc, 0), width = addresses.width;
  int64_t step = body.getColumns();
  std::optional<int64_t> known = tail.getKnownWidth();
  Value full = known ? constantI64(builder, loc, *known / step * step)
                     : arith::AndIOp::create(builder, loc, width, constantI64(builder, loc, -step)).getResult();
  SmallVector<Value> last = body.drawsAhead() ? body.draw(zero) : SmallVector<Value>();
  if (!known || *known >= step)
    last = LaneLoops(builder, loc, 1).emitLoop(zero, full, step, last, [&](Value column, ValueRange drawn) {
      Value following = arith::AddIOp::create(builder, loc, column, constantI64(builder, loc, step));
      SmallVector<Value> next = drawNext(body, following, width, drawn);
      body.emit(column, {}, drawn);
      return next;
    });
  auto isThere = known ? std::optional<bool>(*known % step != 0) : std::nullopt;
  emitInTail(isThere, full, width, {}, [&] {
    body.emit(full, tail.getPresent(step, /*lane=*/0), last);
    return SmallVector<Value>();
  });
}

/// The random numbers for the step from `column` on, if there is one before `end`; none where they are not drawn ahead.
SmallVector<Value> VectorRowEmitter::drawNext(VectorBody &body, Value column, Value end, ValueRange drawn) {
  if (drawn.empty())
    return {};
  Location loc = column.getLoc();
  Value isAny = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, column, end);
  auto choice = scf::IfOp::create(builder, loc, drawn.getTypes(), isAny, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(builder, loc, body.draw(column));
  builder.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(builder, loc, drawn);
  return choice.getResults();
}

//===------------------------------------------- reductions -------------------------------------------------------===//

VectorRowEmitter::Accumulators VectorRowEmitter::createNeutral(rows::PhaseOp phase, int64_t lanes, int64_t parts) {
  Accumulators neutral;
  for (auto [kind, type] :
       llvm::zip_equal(phase.getKinds().getAsRange<rows::ReductionKindAttr>(), phase.getReduced().getTypes()))
    neutral.append(parts, cpu::createNeutral(builder, phase.getLoc(), kind.getValue(), VectorType::get(lanes, type)));
  return neutral;
}

/// The totals of all blocks: per reduction, the vectors that make up its 64 lanes. The lanes of one block alone are the
/// totals: lanes begin at +0 and are never -0 after that, so to add them to zeros would change no bit.
VectorRowEmitter::Accumulators VectorRowEmitter::emitBlocks(rows::PhaseOp phase, VectorBody &body) {
  Location loc = phase.getLoc();
  LaneLoops loops(builder, loc, 1);
  Value zero = constantI64(builder, loc, 0);
  if (std::optional<int64_t> known = tail.getKnownWidth(); known && *known <= kBlockColumns) {
    Accumulators totals(phase.getNumResults() * kLanes / body.getLanes());
    for (int64_t lane = 0; lane < kLanes; lane += body.getColumns())
      emitSweep(phase, body, zero, addresses.width, lane, totals);
    return totals;
  }
  Accumulators neutral = createNeutral(phase, body.getLanes(), kLanes / body.getLanes());
  return loops.emitLoop(zero, addresses.width, kBlockColumns, neutral, [&](Value first, ValueRange carried) {
    Accumulators totals(carried);
    Value next = arith::AddIOp::create(builder, loc, first, constantI64(builder, loc, kBlockColumns));
    Value end = arith::MinSIOp::create(builder, loc, next, addresses.width);
    for (int64_t lane = 0; lane < kLanes; lane += body.getColumns())
      emitSweep(phase, body, first, end, lane, totals);
    return totals;
  });
}

/// Adds what the lanes from `lane` on, as many as a step has, collect in the columns [first, end) to the totals; those
/// that are null begin with it.
void VectorRowEmitter::emitSweep(rows::PhaseOp phase, VectorBody &body, Value first, Value end, int64_t lane,
                                 Accumulators &totals) {
  Location loc = phase.getLoc();
  LaneLoops loops(builder, loc, 1);
  Value fullEnd = computeFullEnd(builder, loc, first, end), offset = constantI64(builder, loc, lane);
  Accumulators neutral = createNeutral(phase, body.getLanes(), body.getParts());
  Accumulators carried = neutral;
  if (body.drawsAhead())
    carried.append(body.draw(arith::AddIOp::create(builder, loc, first, offset)));
  carried = loops.emitLoop(first, fullEnd, kLanes, carried, [&](Value chunk, ValueRange values) {
    Value column = arith::AddIOp::create(builder, loc, chunk, offset);
    ValueRange drawn = values.drop_front(neutral.size());
    Value following = arith::AddIOp::create(builder, loc, column, constantI64(builder, loc, kLanes));
    SmallVector<Value> next = drawNext(body, following, end, drawn);
    Accumulators sums = emitChunk(phase, body, column, {}, values.take_front(neutral.size()), drawn);
    sums.append(next);
    return sums;
  });
  ValueRange sums = ValueRange(carried).take_front(neutral.size()),
             drawn = ValueRange(carried).drop_front(neutral.size());
  Value column = arith::AddIOp::create(builder, loc, fullEnd, offset);
  Accumulators all = emitTail(phase, body, lane, column, end, sums, drawn);
  int64_t parts = body.getParts(), partsOfLanes = kLanes / body.getLanes(), firstPart = lane / body.getLanes();
  for (auto [i, kind] : llvm::enumerate(phase.getKinds().getAsRange<rows::ReductionKindAttr>()))
    for (int64_t part = 0; part < parts; ++part) {
      Value &total = totals[i * partsOfLanes + firstPart + part];
      Value sum = all[i * parts + part];
      total = total ? combine(builder, getCombiningKind(kind.getValue()), total, sum) : sum;
    }
}

/// Takes in the columns of the last chunk from lane `lane` on, which may be absent: in all blocks of a row but the
/// last.
VectorRowEmitter::Accumulators VectorRowEmitter::emitTail(rows::PhaseOp phase, VectorBody &body, int64_t lane,
                                                          Value column, Value end, ValueRange sums, ValueRange drawn) {
  std::optional<int64_t> known = tail.getKnownWidth();
  std::optional<bool> isThere;
  if (known && (*known % kLanes <= lane || *known <= kBlockColumns))
    isThere = *known % kLanes > lane;
  return emitInTail(isThere, column, end, sums,
                    [&] { return emitChunk(phase, body, column, tail.getPresent(kLanes, lane), sums, drawn); });
}

/// One step; absent columns add nothing. What the row before has left in a scratch row is read before it is replaced.
VectorRowEmitter::Accumulators VectorRowEmitter::emitChunk(rows::PhaseOp phase, VectorBody &body, Value column,
                                                           std::optional<PresentColumns> present,
                                                           ValueRange accumulators, ValueRange drawn) {
  if (behind)
    behind->emitWithoutStores(column, present);
  SmallVector<Parts> values = body.emit(column, present, drawn);
  if (behind)
    behind->emitStores();
  Accumulators next(accumulators);
  Value *accumulator = next.begin();
  for (auto [kind, parts] : llvm::zip_equal(phase.getKinds().getAsRange<rows::ReductionKindAttr>(), values)) {
    for (auto [part, value] : llvm::enumerate(parts)) {
      Value combined = combine(builder, kind.getValue(), accumulator[part], value);
      if (Value mask = body.getMask(part))
        combined = arith::SelectOp::create(builder, phase.getLoc(), mask, combined, accumulator[part]);
      accumulator[part] = combined;
    }
    accumulator += body.getParts();
  }
  return next;
}
