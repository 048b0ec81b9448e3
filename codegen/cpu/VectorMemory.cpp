// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads and stores of a phase's body on vectors, whole or under a mask; see VectorBody.h. Not: arithmetic
// (VectorBody.cpp).

#include "codegen/cpu/LineWriter.h"
#include "codegen/cpu/RowEmitter.h"
#include "codegen/cpu/VectorBody.h"
#include "codegen/rows/ElementMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

/// 16-bit floats are moved as integers: LLVM has holes in what it does with vectors of bf16, and takes them apart where
/// the CPU does not know the type.
Type VectorBody::getMemoryType(Type element) const {
  Type memory = rows::getMemoryType(element);
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
  Value pointer = places.source(load), zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  Parts narrow, wide;
  Value pair;
  for (int64_t part = 0; part < parts; ++part) {
    if (part % 2 == 0)
      pair = LLVM::LoadOp::create(builder, loc, type, address(pointer, builder.getI16Type(), part * lanes),
                                  /*alignment=*/1);
    int64_t first = part % 2 * lanes;
    SmallVector<int32_t> picks;
    for (int64_t lane = 0; lane < lanes; ++lane)
      picks.append({static_cast<int32_t>(2 * lanes), static_cast<int32_t>(first + lane)});
    Value spread = LLVM::ShuffleVectorOp::create(builder, loc, pair, zero, picks);
    wide.push_back(LLVM::BitcastOp::create(builder, loc, wideType, spread));
    Value bits = extractLanes(builder, loc, pair, first, lanes);
    narrow.push_back(arith::BitcastOp::create(builder, loc, narrowType, bits));
  }
  values[load.getResult()] = narrow;
  widened[load.getResult()] = wide;
}

/// All columns of the step in the order of memory.
VectorBody::Parts VectorBody::loadColumns(Value pointer, VectorType type) {
  Type element = type.getElementType();
  if (present && !hasMaskedAccess(element))
    return loadThroughBuffer(pointer, type);
  Value zero = present ? arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type)) : Value();
  Parts loaded;
  for (int64_t first = 0; first < getColumns(); first += type.getNumElements()) {
    Value start = address(pointer, element, first);
    if (present) {
      Value mask = createMask(first, /*step=*/1, type.getNumElements());
      loaded.push_back(LLVM::MaskedLoadOp::create(builder, loc, type, start, mask, zero, /*alignment=*/1));
    } else {
      loaded.push_back(LLVM::LoadOp::create(builder, loc, type, start, /*alignment=*/1));
    }
  }
  return loaded;
}

void VectorBody::emitLoad(rows::LoadOp load) {
  if (widensByShuffles(load))
    return emitWideningLoad(load);
  Type element = load.getType(), memory = getMemoryType(element);
  Value pointer = places.source(load);
  if (order == ColumnOrder::EvenOdd && element.isBF16()) {
    joined[load.getResult()] = loadColumns(pointer, VectorType::get(2 * lanes, memory));
    return;
  }
  Parts loaded = loadColumns(pointer, VectorType::get(lanes, memory));
  if (order == ColumnOrder::EvenOdd)
    for (int64_t part = 0; part < parts; part += 2)
      std::tie(loaded[part], loaded[part + 1]) = separateEvenOdd(builder, loc, loaded[part], loaded[part + 1]);
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
    for (int64_t part = 0; part < parts; part += 2)
      std::tie(stored[part], stored[part + 1]) = mergeEvenOdd(builder, loc, stored[part], stored[part + 1]);
  return stored;
}

void VectorBody::emitStore(rows::StoreOp store) {
  Parts stored = arrangeForMemory(store.getValue());
  auto type = cast<VectorType>(stored.front().getType());
  Type memory = type.getElementType();
  for (const RowTarget &row : places.targets(store)) {
    if (!present) {
      storeStep(stored, row);
      continue;
    }
    // A row that is there already is stored once more, which is cheaper than to ask for every row.
    Value pointer = row.pointer;
    if (row.aligned)
      pointer = arith::SelectOp::create(builder, loc, row.aligned, pointer, row.otherwise);
    if (!hasMaskedAccess(memory)) {
      storeThroughBuffer(stored, pointer, type);
    } else {
      for (auto [i, columns] : llvm::enumerate(stored)) {
        int64_t first = i * type.getNumElements();
        LLVM::MaskedStoreOp::create(builder, loc, columns, address(pointer, memory, first),
                                    createMask(first, /*step=*/1, type.getNumElements()), /*alignment=*/1);
      }
    }
  }
}

/// One request per cache line of the step. The address may lie anywhere: what is not there is not fetched.
void VectorBody::emitPrefetch(const Prefetch &prefetch) {
  int64_t perLine = kLineBytes * 8 / prefetch.elementType.getIntOrFloatBitWidth();
  Value start = LLVM::GEPOp::create(builder, loc, prefetch.pointer.getType(), prefetch.elementType, prefetch.pointer,
                                    ValueRange(column));
  for (int64_t first = 0; first < getColumns(); first += perLine) {
    Value line = LLVM::GEPOp::create(builder, loc, start.getType(), prefetch.elementType, start,
                                     ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(first)});
    // For reading; locality 3 is the first level, 2 the second; data and not code.
    LLVM::Prefetch::create(builder, loc, line, /*rw=*/0, /*hint=*/4 - prefetch.level, /*cache=*/1);
  }
}

/// In whole registers: parts of a narrow type are put together first.
VectorBody::Parts VectorBody::fillRegisters(const Parts &stored) {
  auto type = cast<VectorType>(stored.front().getType());
  int64_t bits = type.getNumElements() * type.getElementType().getIntOrFloatBitWidth(), count = stored.size();
  int64_t group = std::min<int64_t>(std::max<int64_t>(target.vectorBits / bits, 1), count);
  Parts filled;
  for (int64_t first = 0; first < count; first += group) {
    SmallVector<Value> pieces(ArrayRef<Value>(stored).slice(first, group));
    for (; pieces.size() > 1; pieces.truncate(pieces.size() / 2))
      for (size_t i = 0; i < pieces.size() / 2; ++i)
        pieces[i] = concatenate(builder, loc, pieces[2 * i], pieces[2 * i + 1]);
    filled.push_back(pieces.front());
  }
  return filled;
}

void VectorBody::storeRegisters(const Parts &registers, Value pointer, bool nonTemporal) {
  auto type = cast<VectorType>(registers.front().getType());
  Type element = type.getElementType();
  unsigned alignment = nonTemporal ? type.getNumElements() * element.getIntOrFloatBitWidth() / 8 : 1;
  for (auto [i, columns] : llvm::enumerate(registers)) {
    Value start = address(pointer, element, i * type.getNumElements());
    LLVM::StoreOp::create(builder, loc, columns, start, alignment, /*isVolatile=*/false, nonTemporal);
  }
}

void VectorBody::storeStep(const Parts &stored, const RowTarget &row) {
  Parts registers = fillRegisters(stored);
  if (!row.aligned)
    return storeRegisters(registers, row.pointer, /*nonTemporal=*/false);
  auto choice = scf::IfOp::create(builder, loc, row.aligned, /*withElseRegion=*/!row.isThere);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  storeRegisters(registers, row.pointer, /*nonTemporal=*/true);
  if (row.isThere)
    return;
  builder.setInsertionPointToStart(choice.elseBlock());
  storeRegisters(registers, row.otherwise, /*nonTemporal=*/false);
}

//===------------------------------------------- columns that are absent ------------------------------------------===//

/// A number that LLVM knows nothing about. Where it knows that a mask has a single lane, LLVM 22 makes 32 bits of a
/// masked store of 16-bit lanes that were truncated before, and so writes beyond the row.
static Value hideNumber(OpBuilder &builder, Location loc, Value number) {
  return LLVM::InlineAsmOp::create(builder, loc, number.getType(), number, /*asm_string=*/"", "=r,0",
                                   /*has_side_effects=*/false, /*is_align_stack=*/false,
                                   LLVM::tailcallkind::TailCallKind::None, /*asm_dialect=*/nullptr,
                                   /*operand_attrs=*/nullptr)
      ->getResult(0);
}

/// Which of the columns first, first + step, … of the step are present.
Value VectorBody::createMask(int64_t first, int64_t step, int64_t length) {
  auto type = VectorType::get(length, builder.getI32Type());
  SmallVector<int32_t> numbers;
  for (int64_t lane = 0; lane < length; ++lane)
    numbers.push_back(static_cast<int32_t>(first + lane * step));
  Value columns = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, ArrayRef<int32_t>(numbers)));
  Value limit = vector::BroadcastOp::create(builder, loc, type, presentInStep);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, columns, limit);
}

void VectorBody::createMasks() {
  masks.clear();
  // Counts beyond a step say no more than a step, and then fit into 32 bits.
  Value count = arith::MinSIOp::create(builder, loc, present, constantI64(builder, loc, getColumns()));
  presentInStep = arith::TruncIOp::create(builder, loc, builder.getI32Type(), count);
  if (hasMaskedAccess(builder.getI16Type()))
    presentInStep = hideNumber(builder, loc, presentInStep);
  for (int64_t part = 0; part < parts; ++part) {
    bool isEvenOdd = order == ColumnOrder::EvenOdd;
    int64_t first = isEvenOdd ? part / 2 * 2 * lanes + part % 2 : part * lanes;
    masks.push_back(createMask(first, isEvenOdd ? 2 : 1, lanes));
  }
}

/// Whether the CPU reads and writes single lanes of a vector in memory.
bool VectorBody::hasMaskedAccess(Type element) const {
  return target.maskedBits != 0 && element.getIntOrFloatBitWidth() >= target.maskedBits;
}

/// Memory on the stack for the columns of a step; zeros at first, later what was there before.
Value VectorBody::getBuffer(Type element) {
  Value &known = buffers[VectorType::get(getColumns(), element)];
  if (known)
    return known;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(entry);
  auto type = VectorType::get(getColumns(), element);
  Value buffer = LLVM::AllocaOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), type,
                                        constantI64(builder, loc, 1), /*alignment=*/64);
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  LLVM::StoreOp::create(builder, loc, zero, buffer, /*alignment=*/64);
  return known = buffer;
}

void VectorBody::copyPresent(Type element, Value from, Value to) {
  Value columns = constantI64(builder, loc, getColumns());
  Value count = arith::MinSIOp::create(builder, loc, present, columns);
  LaneLoops loops(builder, loc, /*vectorLanes=*/1);
  loops.emitLoop(constantI64(builder, loc, 0), count, 1,
                 [&](Value i) { loops.store(loops.load(element, from, i), to, i); });
}

VectorBody::Parts VectorBody::loadThroughBuffer(Value pointer, VectorType type) {
  Type element = type.getElementType();
  Value buffer = getBuffer(element);
  copyPresent(element, address(pointer, element, 0), buffer);
  LaneLoops loops(builder, loc, /*vectorLanes=*/1);
  Parts loaded;
  for (int64_t first = 0; first < getColumns(); first += type.getNumElements())
    loaded.push_back(loops.loadVector(type, buffer, first));
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
