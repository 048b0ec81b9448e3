// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the operations of a phase's body on vectors; see VectorBody.h. Operation by operation over all parts, so that
// all loads of a step come before its stores, and independent parts hide each other's latency.

#include "codegen/cpu/VectorBody.h"

#include "codegen/cpu/Philox.h"
#include "codegen/cpu/RowEmitter.h"
#include "codegen/cpu/StreamedRows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

/// Four independent chains per reduction hide the latency of an addition; and random numbers come by 16 columns at
/// least.
static int64_t chooseParts(int64_t lanes) { return std::max<int64_t>(4, 16 / lanes); }

VectorBody::VectorBody(OpBuilder &builder, Block *entry, rows::PhaseOp phase, const IRMapping &mapping,
                       const RowPlaces &places, const CPUTarget &target, DenseMap<Type, Value> &buffers)
    : builder(builder), loc(phase.getLoc()), entry(entry), phase(phase), mapping(mapping), places(places),
      target(target), buffers(buffers), lanes(target.vectorBits / getWidestFloat(phase)), parts(chooseParts(lanes)) {
  SetVector<Value> above;
  phase.walk([&](Operation *op) {
    if (isa<rows::LoadOp, rows::StoreOp, rows::RandomHalfOp>(op))
      return;
    for (Value operand : op->getOperands())
      if (!phase.getBody().isAncestor(operand.getParentRegion()))
        above.insert(operand);
  });
  phase.walk([&](rows::StoreOp store) {
    if (!phase.getBody().isAncestor(store.getValue().getParentRegion()))
      above.insert(store.getValue());
  });
  for (Value value : above)
    spread[value] =
        vector::BroadcastOp::create(builder, loc, VectorType::get(lanes, value.getType()), mapping.lookup(value));
}

SmallVector<VectorBody::Parts> VectorBody::emit(Value firstColumn, Value presentColumns) {
  column = firstColumn;
  present = presentColumns;
  values.clear();
  widened.clear();
  if (present)
    createMasks();
  else
    llvm::for_each(places.prefetches, [&](const Prefetch &prefetch) { emitPrefetch(prefetch); });
  Block &body = phase.getBody().front();
  for (Operation &op : body.without_terminator())
    emitOperation(&op);
  SmallVector<Parts> yielded;
  for (Value value : body.getTerminator()->getOperands())
    yielded.push_back(evaluate(value));
  return yielded;
}

VectorBody::Parts VectorBody::evaluate(Value value) {
  auto found = values.find(value);
  return found != values.end() ? found->second : Parts(parts, spread.lookup(value));
}

void VectorBody::emitOperation(Operation *op) {
  if (auto load = dyn_cast<rows::LoadOp>(op))
    return emitLoad(load);
  if (auto store = dyn_cast<rows::StoreOp>(op))
    return emitStore(store);
  if (auto half = dyn_cast<rows::RandomHalfOp>(op))
    return emitRandomHalf(half);
  if (isa<arith::ExtFOp>(op) && op->getResult(0).getType().isF32() && widened.contains(op->getOperand(0))) {
    values[op->getResult(0)] = widened.lookup(op->getOperand(0));
    return;
  }
  isPackedConversion(op) ? emitPackedConversion(op) : emitElementwise(op);
}

void VectorBody::emitElementwise(Operation *op) {
  Attribute constant;
  if (matchPattern(op, m_Constant(&constant))) {
    auto type = VectorType::get(lanes, op->getResult(0).getType());
    Value vector = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, constant));
    values[op->getResult(0)] = Parts(parts, vector);
    return;
  }
  SmallVector<Parts> operands =
      llvm::map_to_vector(op->getOperands(), [&](Value operand) { return evaluate(operand); });
  SmallVector<Type> types =
      llvm::map_to_vector(op->getResultTypes(), [&](Type type) -> Type { return VectorType::get(lanes, type); });
  for (int64_t part = 0; part < parts; ++part) {
    OperationState state(op->getLoc(), op->getName());
    for (const Parts &operand : operands)
      state.operands.push_back(operand[part]);
    state.addTypes(types);
    state.addAttributes(op->getAttrs());
    Operation *wide = builder.create(state);
    for (auto [from, to] : llvm::zip_equal(op->getResults(), wide->getResults()))
      values[from].push_back(to);
  }
}

//===------------------------------------------- conversions to bf16 ---------------------------------------------===//

bool VectorBody::isPackedConversion(Operation *op) const {
  auto truncation = dyn_cast<arith::TruncFOp>(op);
  return truncation && target.hasPackedBF16 && truncation.getType().isBF16() && truncation.getIn().getType().isF32() &&
         getPackedBits() >= 256;
}

/// Whether (i1) some lane of some part is a subnormal number.
Value VectorBody::isAnySubnormal(const Parts &wide) {
  auto maskType = VectorType::get(lanes, builder.getI1Type());
  auto bitsType = builder.getIntegerType(lanes);
  auto name = builder.getStringAttr("llvm.x86.avx512.fpclass.ps." + std::to_string(getPackedBits()));
  // The class of subnormal numbers in the instruction's table.
  Value subnormal = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), builder.getI32IntegerAttr(0x20));
  Value any;
  for (Value part : wide) {
    Value mask = LLVM::CallIntrinsicOp::create(builder, loc, maskType, name, ValueRange{part, subnormal}).getResult(0);
    any = any ? Value(arith::OrIOp::create(builder, loc, any, mask)) : mask;
  }
  Value bits = LLVM::BitcastOp::create(builder, loc, bitsType, any);
  Value zero = arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(bitsType, 0));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, bits, zero);
}

Value VectorBody::packPair(Value low, Value high) {
  auto name = builder.getStringAttr("llvm.x86.avx512bf16.cvtne2ps2bf16." + std::to_string(getPackedBits()));
  auto type = VectorType::get(2 * lanes, builder.getBF16Type());
  return LLVM::CallIntrinsicOp::create(builder, loc, type, name, ValueRange{high, low}).getResult(0);
}

/// Two parts per instruction. It takes subnormal numbers for zeros, so where there is one, integers do the work.
void VectorBody::emitPackedConversion(Operation *op) {
  Parts wide = evaluate(op->getOperand(0));
  auto half = VectorType::get(lanes, builder.getI16Type()), pair = VectorType::get(2 * lanes, builder.getI16Type());
  SmallVector<Type> types(parts / 2, pair);
  auto emitBranch = [&](function_ref<Value(Value, Value)> convert) {
    SmallVector<Value> results;
    for (int64_t part = 0; part < parts; part += 2)
      results.push_back(convert(wide[part], wide[part + 1]));
    scf::YieldOp::create(builder, loc, results);
  };
  auto convertByIntegers = [&](Value low, Value high) {
    for (Value *part : {&low, &high}) {
      Value narrow = arith::TruncFOp::create(builder, loc, VectorType::get(lanes, builder.getBF16Type()), *part);
      *part = arith::BitcastOp::create(builder, loc, half, narrow);
    }
    return concatenate(builder, loc, low, high);
  };
  auto choice = scf::IfOp::create(builder, loc, types, isAnySubnormal(wide), /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(choice.thenBlock());
    emitBranch(convertByIntegers);
    builder.setInsertionPointToStart(choice.elseBlock());
    emitBranch([&](Value low, Value high) -> Value {
      return LLVM::BitcastOp::create(builder, loc, pair, packPair(low, high));
    });
  }
  Parts &narrow = values[op->getResult(0)];
  for (int64_t part = 0; part < parts; ++part) {
    Value bits = extractLanes(builder, loc, choice.getResult(part / 2), part % 2 * lanes, lanes);
    narrow.push_back(arith::BitcastOp::create(builder, loc, VectorType::get(lanes, builder.getBF16Type()), bits));
  }
}

//===------------------------------------------- random numbers ---------------------------------------------------===//

void VectorBody::emitRandomHalf(rows::RandomHalfOp half) {
  Value call = arith::ShRUIOp::create(builder, loc, column, constantI64(builder, loc, 3));
  SmallVector<Value, 4> counter{call, mapping.lookup(half.getRow()), mapping.lookup(half.getSite()),
                                mapping.lookup(half.getStep())};
  auto [first, second] = emitPhiloxColumns(builder, loc, counter, mapping.lookup(half.getSeed()), getColumns() / 8);
  auto type = VectorType::get(lanes, builder.getI32Type());
  for (int64_t part = 0; part < parts; ++part) {
    int64_t start = part * lanes, middle = getColumns() / 2;
    Value source = start < middle ? first : second;
    Value halves = extractLanes(builder, loc, source, start % middle, lanes);
    values[half.getResult()].push_back(arith::ExtUIOp::create(builder, loc, type, halves));
  }
}

//===------------------------------------------- memory -----------------------------------------------------------===//

/// 16-bit floats are moved as integers: LLVM has holes in what it does with vectors of bf16, and takes them apart where
/// the CPU does not know the type.
Type VectorBody::getMemoryType(Type element) const {
  return element.getIntOrFloatBitWidth() == 16 ? builder.getI16Type() : element;
}

Value VectorBody::address(Value pointer, Type element, int64_t part) {
  // Parts of which no column is present may lie beyond the row's memory.
  auto inbounds = present ? LLVM::GEPNoWrapFlags::none : LLVM::GEPNoWrapFlags::inbounds;
  Value start = LLVM::GEPOp::create(builder, loc, pointer.getType(), element, pointer, ValueRange(column), inbounds);
  if (part == 0)
    return start;
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), element, start,
                             ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(part * lanes)}, inbounds);
}

/// Where one instruction picks 16-bit elements from two registers: AVX-512 with its masks of 16-bit elements.
bool VectorBody::widensByShuffles(rows::LoadOp load) const {
  return load.getType().isBF16() && !present && target.vectorBits == 512 && target.isX86 &&
         hasMaskedAccess(builder.getI16Type()) && lanes == 16;
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
      pair = LLVM::LoadOp::create(builder, loc, type, address(pointer, builder.getI16Type(), part), /*alignment=*/1);
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

void VectorBody::emitLoad(rows::LoadOp load) {
  if (widensByShuffles(load))
    return emitWideningLoad(load);
  Type element = load.getType(), memory = getMemoryType(element);
  auto type = VectorType::get(lanes, memory);
  Value pointer = places.source(load);
  Parts &loaded = values[load.getResult()];
  if (present && !hasMaskedAccess(memory)) {
    loaded = loadThroughBuffer(pointer, memory);
  } else {
    Value zero = present ? arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type)) : Value();
    for (int64_t part = 0; part < parts; ++part) {
      Value start = address(pointer, memory, part);
      if (present)
        loaded.push_back(LLVM::MaskedLoadOp::create(builder, loc, type, start, masks[part], zero, /*alignment=*/1));
      else
        loaded.push_back(LLVM::LoadOp::create(builder, loc, type, start, /*alignment=*/1));
    }
  }
  if (memory != element)
    for (Value &part : loaded)
      part = arith::BitcastOp::create(builder, loc, VectorType::get(lanes, element), part);
}

void VectorBody::emitStore(rows::StoreOp store) {
  Type element = store.getValue().getType(), memory = getMemoryType(element);
  Parts stored = evaluate(store.getValue());
  if (memory != element)
    for (Value &part : stored)
      part = arith::BitcastOp::create(builder, loc, VectorType::get(lanes, memory), part);
  for (const RowTarget &row : places.targets(store)) {
    if (!present)
      storeWide(stored, row);
    else if (!hasMaskedAccess(memory))
      storeThroughBuffer(stored, row.pointer, memory);
    else
      for (int64_t part = 0; part < parts; ++part)
        LLVM::MaskedStoreOp::create(builder, loc, stored[part], address(row.pointer, memory, part), masks[part],
                                    /*alignment=*/1);
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
void VectorBody::storeWide(const Parts &stored, const RowTarget &row) {
  auto type = cast<VectorType>(stored.front().getType());
  Type element = type.getElementType();
  int64_t bits = lanes * element.getIntOrFloatBitWidth();
  int64_t group = std::min<int64_t>(std::max<int64_t>(target.vectorBits / bits, 1), parts);
  unsigned alignment = row.nonTemporal ? bits * group / 8 : 1;
  for (int64_t first = 0; first < parts; first += group) {
    SmallVector<Value> pieces(ArrayRef<Value>(stored).slice(first, group));
    for (; pieces.size() > 1; pieces.truncate(pieces.size() / 2))
      for (size_t i = 0; i < pieces.size() / 2; ++i)
        pieces[i] = concatenate(builder, loc, pieces[2 * i], pieces[2 * i + 1]);
    LLVM::StoreOp::create(builder, loc, pieces.front(), address(row.pointer, element, first), alignment,
                          /*isVolatile=*/false, row.nonTemporal);
  }
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

void VectorBody::createMasks() {
  masks.clear();
  auto type = VectorType::get(lanes, builder.getI32Type());
  // Counts beyond a step say no more than a step, and then fit into 32 bits.
  Value count = arith::MinSIOp::create(builder, loc, present, constantI64(builder, loc, getColumns()));
  Value narrow = arith::TruncIOp::create(builder, loc, builder.getI32Type(), count);
  if (hasMaskedAccess(builder.getI16Type()))
    narrow = hideNumber(builder, loc, narrow);
  Value limit = vector::BroadcastOp::create(builder, loc, type, narrow);
  for (int64_t part = 0; part < parts; ++part) {
    auto numbers = llvm::to_vector(llvm::seq<int32_t>(part * lanes, (part + 1) * lanes));
    Value lane = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, ArrayRef<int32_t>(numbers)));
    masks.push_back(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, lane, limit));
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

VectorBody::Parts VectorBody::loadThroughBuffer(Value pointer, Type element) {
  Value buffer = getBuffer(element);
  copyPresent(element, address(pointer, element, 0), buffer);
  LaneLoops loops(builder, loc, /*vectorLanes=*/1);
  Parts loaded;
  for (int64_t part = 0; part < parts; ++part)
    loaded.push_back(loops.loadVector(VectorType::get(lanes, element), buffer, part * lanes));
  return loaded;
}

void VectorBody::storeThroughBuffer(const Parts &stored, Value pointer, Type element) {
  Value buffer = getBuffer(element);
  for (int64_t part = 0; part < parts; ++part) {
    Value start = LLVM::GEPOp::create(builder, loc, buffer.getType(), element, buffer,
                                      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(part * lanes)});
    LLVM::StoreOp::create(builder, loc, stored[part], start, /*alignment=*/1);
  }
  copyPresent(element, buffer, address(pointer, element, 0));
}
