// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads and stores of a phase's body on vectors, whole or under a mask; see VectorBody.h. Not: arithmetic
// (VectorBody.cpp).

#include "codegen/cpu/rows/LaneSums.h"
#include "codegen/cpu/rows/LineWriter.h"
#include "codegen/cpu/rows/VectorBody.h"
#include "codegen/kernels/ElementMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

/// 16-bit floats are moved as integers: LLVM has holes in what it does with vectors of bf16, and takes them apart where
/// the CPU does not know the type.
Type VectorBody::getMemoryType(Type element) const {
  Type memory = kernels::getMemoryType(element);
  return memory.getIntOrFloatBitWidth() == 16 ? builder.getI16Type() : memory;
}

/// Of the column `first` of the step.
Value VectorBody::address(Value pointer, Type element, int64_t first) {
  // Vectors of which no column is present may lie beyond the row's memory.
  auto inbounds = present ? LLVM::GEPNoWrapFlags::none : LLVM::GEPNoWrapFlags::inbounds;
  Value start = LLVM::GEPOp::create(builder, loc, pointer.getType(), element, pointer, ValueRange(column), inbounds);
  if (first == 0)
    return start;
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), element, start,
                             ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(first)}, inbounds);
}

/// Where one instruction picks 16-bit elements from two registers: AVX-512 with its masks of 16-bit elements.
bool VectorBody::widensByShuffles(rows::LoadOp load) const {
  return order == ColumnOrder::Consecutive && load.getType().isBF16() && !present && target.vectorBits == 512 &&
         target.isX86 && hasMaskedAccess(builder.getI16Type()) && lanes == 16;
}

/// A register of bf16 at a time; each half of it becomes a register of f32, with a zero below every element: one
/// instruction, where extending and shifting integers are two.
void VectorBody::emitWideningLoad(rows::LoadOp load) {
  auto type = VectorType::get(2 * lanes, builder.getI16Type());
  auto wideType = VectorType::get(lanes, builder.getF32Type());
  auto narrowType = VectorType::get(lanes, builder.getBF16Type());
  AffineExpr move = load.getMove();
  Value pointer = places.source(load).pointer,
        zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  Parts narrow, wide;
  Value pair;
  for (int64_t part = 0; part < parts; ++part) {
    if (part % 2 == 0 && move)
      pair = loadMoved(move, pointer, type, part * lanes);
    else if (part % 2 == 0)
      pair = LLVM::LoadOp::create(builder, loc, type, address(pointer, builder.getI16Type(), part * lanes),
                                  /*alignment=*/1);
    int64_t first = part % 2 * lanes;
    SmallVector<int32_t> picks;
    for (int64_t lane = 0; lane < lanes; ++lane)
      picks.append({static_cast<int32_t>(2 * lanes), static_cast<int32_t>(first + lane)});
    Value spread = LLVM::ShuffleVectorOp::create(builder, loc, pair, zero, picks);
    wide.push_back(LLVM::BitcastOp::create(builder, loc, wideType, spread));
    Value bits = extractLanes(builder, pair, first, lanes);
    narrow.push_back(arith::BitcastOp::create(builder, loc, narrowType, bits));
  }
  values[load.getResult()] = narrow;
  widened[load.getResult()] = wide;
}

/// The columns of the step, as many as are worked on, in the order of memory.
VectorBody::Parts VectorBody::loadColumns(RowSource row, VectorType type, AffineExpr move) {
  Type element = type.getElementType();
  if (move) {
    Parts moved;
    for (int64_t first = 0; first < usedParts * lanes; first += type.getNumElements())
      moved.push_back(loadMoved(move, row.pointer, type, first));
    return moved;
  }
  bool isWhole = !present || row.hasRoom;
  if (!isWhole && !present->known && !hasMaskedAccess(element))
    return loadThroughBuffer(row.pointer, type);
  Parts loaded;
  int64_t length = type.getNumElements();
  for (int64_t first = 0; first < usedParts * lanes; first += length) {
    bool isPlain = isWhole || present->areAll(first, length);
    loaded.push_back(isPlain ? LLVM::LoadOp::create(builder, loc, type, address(row.pointer, element, first),
                                                    /*alignment=*/1)
                                   .getResult()
                             : loadPresent(row.pointer, type, first));
  }
  return loaded;
}

/// A vector of columns of which some are absent; those are zeros.
Value VectorBody::loadPresent(Value pointer, VectorType type, int64_t first) {
  Type element = type.getElementType();
  if (!hasMaskedAccess(element))
    return loadPieces(pointer, type, first);
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  if (present->areNone(first))
    return zero;
  Value mask = tail.getMask(*present, first, /*stride=*/1, type.getNumElements());
  return LLVM::MaskedLoadOp::create(builder, loc, type, address(pointer, element, first), mask, zero, /*alignment=*/1);
}

void VectorBody::emitLoad(rows::LoadOp load) {
  if (widensByShuffles(load))
    return emitWideningLoad(load);
  Type element = load.getType(), memory = getMemoryType(element);
  RowSource row = places.source(load);
  if (order == ColumnOrder::EvenOdd && element.isBF16()) {
    joined[load.getResult()] = loadColumns(row, VectorType::get(2 * lanes, memory), load.getMove());
    return;
  }
  Parts loaded = loadColumns(row, VectorType::get(lanes, memory), load.getMove());
  if (order == ColumnOrder::EvenOdd)
    for (int64_t part = 0; part < usedParts; part += 2)
      std::tie(loaded[part], loaded[part + 1]) = separateEvenOdd(builder, loaded[part], loaded[part + 1]);
  for (Value &part : loaded)
    part = fromMemory(builder, loc, part, element);
  values[load.getResult()] = loaded;
}

/// A value in the order of memory.
VectorBody::Parts VectorBody::arrangeForMemory(Value value) {
  Type element = value.getType(), memory = getMemoryType(element);
  if (order == ColumnOrder::EvenOdd && element.isBF16())
    return evaluateJoined(value);
  Parts stored = evaluate(value);
  for (Value &part : stored)
    part = toMemory(builder, loc, part, memory);
  if (order == ColumnOrder::EvenOdd)
    for (int64_t part = 0; part < usedParts; part += 2)
      std::tie(stored[part], stored[part + 1]) = mergeEvenOdd(builder, stored[part], stored[part + 1]);
  return stored;
}

void VectorBody::emitStore(rows::StoreOp store) {
  Parts stored = arrangeForMemory(store.getValue());
  for (const RowTarget &row : places.targets(store))
    storeStep(stored, row);
}

/// One request per cache line of the step. The address may lie anywhere: what is not there is not fetched.
void VectorBody::emitPrefetch(const Prefetch &prefetch) {
  int64_t perLine = kLineBytes * 8 / prefetch.elementType.getIntOrFloatBitWidth();
  Value start = LLVM::GEPOp::create(builder, loc, prefetch.pointer.getType(), prefetch.elementType, prefetch.pointer,
                                    ValueRange(column));
  for (int64_t first = 0; first < usedParts * lanes; first += perLine) {
    Value line = LLVM::GEPOp::create(builder, loc, start.getType(), prefetch.elementType, start,
                                     ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(first)});
    // Locality 3 is the first level, 2 the second; data and not code.
    LLVM::Prefetch::create(builder, loc, line, /*rw=*/prefetch.isForStore, /*hint=*/4 - prefetch.level, /*cache=*/1);
  }
}

/// In whole registers: parts of a narrow type are put together first.
VectorBody::Parts VectorBody::fillRegisters(const Parts &stored) {
  auto type = cast<VectorType>(stored.front().getType());
  int64_t bits = type.getNumElements() * type.getElementType().getIntOrFloatBitWidth(), count = stored.size();
  int64_t group = std::min<int64_t>(std::max<int64_t>(target.vectorBits / bits, 1), count);
  Parts filled;
  for (int64_t first = 0; first < count; first += group) {
    // The last parts of a tail may be too few.
    group = std::min(group, static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(count - first))));
    SmallVector<Value> pieces(ArrayRef<Value>(stored).slice(first, group));
    for (; pieces.size() > 1; pieces.truncate(pieces.size() / 2))
      for (size_t i = 0; i < pieces.size() / 2; ++i)
        pieces[i] = concatenate(builder, pieces[2 * i], pieces[2 * i + 1]);
    filled.push_back(pieces.front());
  }
  return filled;
}

void VectorBody::storeRegisters(const Parts &registers, Value pointer, bool nonTemporal) {
  int64_t first = 0;
  for (Value columns : registers) {
    auto type = cast<VectorType>(columns.getType());
    unsigned bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
    LLVM::StoreOp::create(builder, loc, columns, address(pointer, type.getElementType(), first),
                          nonTemporal ? bytes : 1, /*isVolatile=*/false, nonTemporal);
    first += type.getNumElements();
  }
}

/// The columns that are present; past the cache those of whole lines, as far as it is known where they end.
void VectorBody::storePresent(const Parts &stored, Value pointer, bool nonTemporal) {
  auto type = cast<VectorType>(stored.front().getType());
  Type element = type.getElementType();
  if (!present->known && !hasMaskedAccess(element))
    return storeThroughBuffer(stored, pointer, type);
  int64_t length = type.getNumElements(), perLine = kLineBytes * 8 / element.getIntOrFloatBitWidth();
  for (auto [i, columns] : llvm::enumerate(stored)) {
    int64_t first = i * length;
    if (present->areNone(first))
      return;
    if (present->areAll(first, length)) {
      bool isPast = nonTemporal && present->areAll(0, llvm::alignTo(first + length, perLine));
      unsigned alignment = isPast ? length * element.getIntOrFloatBitWidth() / 8 : 1;
      LLVM::StoreOp::create(builder, loc, columns, address(pointer, element, first), alignment,
                            /*isVolatile=*/false, isPast);
    } else if (hasMaskedAccess(element)) {
      Value mask = tail.getMask(*present, first, /*stride=*/1, length);
      LLVM::MaskedStoreOp::create(builder, loc, columns, address(pointer, element, first), mask, /*alignment=*/1);
    } else {
      storePieces(columns, pointer, first);
    }
  }
}

void VectorBody::storeStep(const Parts &stored, const RowTarget &row) {
  auto storeTo = [&](Value pointer, bool isWhole, bool nonTemporal) {
    isWhole ? storeRegisters(fillRegisters(stored), pointer, nonTemporal) : storePresent(stored, pointer, nonTemporal);
  };
  if (!row.aligned)
    return storeTo(row.pointer, !present || row.hasRoom, /*nonTemporal=*/false);
  auto choice = scf::IfOp::create(builder, loc, row.aligned, /*withElseRegion=*/!row.isThere);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  storeTo(row.pointer, !present, /*nonTemporal=*/true);
  if (row.isThere)
    return;
  builder.setInsertionPointToStart(choice.elseBlock());
  storeTo(row.otherwise, /*isWhole=*/true, /*nonTemporal=*/false);
}

//===------------------------------------------- columns that are absent ------------------------------------------===//

/// Whether the CPU reads and writes single lanes of a vector in memory.
bool VectorBody::hasMaskedAccess(Type element) const {
  return target.maskedBits != 0 && element.getIntOrFloatBitWidth() >= target.maskedBits;
}

/// Calls `visit` with the offset and the length, a power of two, of each piece of `count` elements, which are fewer
/// than 2 · `largest`.
static void forEachPiece(int64_t count, int64_t largest, function_ref<void(int64_t, int64_t)> visit) {
  int64_t done = 0;
  for (int64_t length = largest; length > 0; length /= 2)
    if (count & length) {
      visit(done, length);
      done += length;
    }
}

/// A known number of columns, fewer than a vector has, where the CPU masks no access.
Value VectorBody::loadPieces(Value pointer, VectorType type, int64_t first) {
  Type element = type.getElementType();
  int64_t lanesOfType = type.getNumElements();
  Value vector = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  forEachPiece(std::max<int64_t>(*present->known - first, 0), lanesOfType / 2, [&](int64_t offset, int64_t length) {
    Value piece = LLVM::LoadOp::create(builder, loc, VectorType::get(length, element),
                                       address(pointer, element, first + offset), /*alignment=*/1);
    auto spreadOut = llvm::to_vector(llvm::seq<int32_t>(0, length));
    spreadOut.resize(lanesOfType, -1);
    Value wide = LLVM::ShuffleVectorOp::create(builder, loc, piece, piece, spreadOut);
    auto picks = llvm::to_vector(llvm::seq<int32_t>(0, lanesOfType));
    for (int64_t lane = 0; lane < length; ++lane)
      picks[offset + lane] = static_cast<int32_t>(lanesOfType + lane);
    vector = LLVM::ShuffleVectorOp::create(builder, loc, vector, wide, picks);
  });
  return vector;
}

void VectorBody::storePieces(Value value, Value pointer, int64_t first) {
  auto type = cast<VectorType>(value.getType());
  forEachPiece(*present->known - first, type.getNumElements() / 2, [&](int64_t offset, int64_t length) {
    LLVM::StoreOp::create(builder, loc, extractLanes(builder, value, offset, length),
                          address(pointer, type.getElementType(), first + offset), /*alignment=*/1);
  });
}

/// Memory on the stack for the columns of a step; zeros at first, later what was there before.
Value VectorBody::getBuffer(Type element) {
  Value &known = function.buffers[VectorType::get(getColumns(), element)];
  if (known)
    return known;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(function.entry);
  auto type = VectorType::get(getColumns(), element);
  Value buffer = LLVM::AllocaOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), type,
                                        builder.constant(1), /*alignment=*/64);
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  LLVM::StoreOp::create(builder, loc, zero, buffer, /*alignment=*/64);
  return known = buffer;
}

void VectorBody::copyPresent(Type element, Value from, Value to) {
  Value columns = builder.constant(getColumns());
  Value count = builder.min(present->count, columns);
  builder.rolledLoop(builder.constant(0), count, 1, [&](Value i) {
    storeElement(builder, loc, loadElement(builder, loc, element, from, i, Alignment::None), to, i, Alignment::None);
  });
}

VectorBody::Parts VectorBody::loadThroughBuffer(Value pointer, VectorType type) {
  Type element = type.getElementType();
  Value buffer = getBuffer(element);
  copyPresent(element, address(pointer, element, 0), buffer);
  Parts loaded;
  for (int64_t first = 0; first < getColumns(); first += type.getNumElements())
    loaded.push_back(loadVector(builder, type, buffer, first));
  return loaded;
}

void VectorBody::storeThroughBuffer(const Parts &stored, Value pointer, VectorType type) {
  Type element = type.getElementType();
  Value buffer = getBuffer(element);
  for (auto [i, columns] : llvm::enumerate(stored)) {
    auto first = static_cast<int32_t>(i * type.getNumElements());
    Value start = LLVM::GEPOp::create(builder, loc, buffer.getType(), element, buffer, ArrayRef<LLVM::GEPArg>{first});
    LLVM::StoreOp::create(builder, loc, columns, start, /*alignment=*/1);
  }
  copyPresent(element, buffer, address(pointer, element, 0));
}
