// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the operations of a phase's body on vectors; see VectorBody.h. Operation by operation over all parts, so that
// all loads of a step come before its stores, and independent parts hide each other's latency. Not: memory
// (VectorMemory.cpp).

#include "codegen/cpu/rows/VectorBody.h"

#include "codegen/arithmetic/Philox.h"
#include "codegen/cpu/choice/Obstacles.h"
#include "codegen/cpu/rows/LaneSums.h"
#include "codegen/kernels/Elements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;
using namespace mlir::resid::arithmetic;

VectorBody::VectorBody(VectorFunction &function, rows::PhaseOp phase, const IRMapping &mapping, const RowPlaces &places)
    : function(function), builder(function.builder), loc(phase.getLoc()), phase(phase), mapping(mapping),
      places(places), target(function.target), tail(function.tail), lanes(chooseStepShape(phase, target).lanes),
      parts(chooseStepShape(phase, target).parts), order(chooseColumnOrder(phase, lanes, target)) {
  SetVector<Value> above;
  phase.walk([&](Operation *op) {
    if (isa<rows::LoadOp, rows::StoreOp, rows::RandomHalfOp, rows::AccumulateOp>(op))
      return;
    for (Value operand : op->getOperands())
      if (!phase.getBody().isAncestor(operand.getParentRegion()))
        above.insert(operand);
  });
  phase.walk([&](Operation *op) {
    bool takesValue = isa<rows::StoreOp, rows::AccumulateOp>(op);
    if (takesValue && !phase.getBody().isAncestor(op->getOperand(0).getParentRegion()))
      above.insert(op->getOperand(0));
  });
  llvm::append_range(draws, phase.getBody().front().getOps<rows::RandomHalfOp>());
  twins = rows::findTwins(phase);
  for (Value value : above)
    spread[value] =
        vector::BroadcastOp::create(builder, loc, VectorType::get(lanes, value.getType()), mapping.lookup(value));
}

int64_t VectorBody::countParts() {
  if (!present || !present->known)
    return parts;
  int64_t used = llvm::divideCeil(std::min(*present->known, getColumns()), lanes);
  auto narrowings = phase.getBody().front().getOps<arith::TruncFOp>();
  bool isByTwos = order == ColumnOrder::EvenOdd || !draws.empty() ||
                  llvm::any_of(narrowings, [&](arith::TruncFOp op) { return isNarrowing(op); });
  return isByTwos ? llvm::alignTo(used, 2) : used;
}

Value VectorBody::getMask(int64_t part) {
  bool isEvenOdd = order == ColumnOrder::EvenOdd;
  int64_t firstOfPair = part / 2 * 2 * lanes;
  if (!present || (isEvenOdd ? present->areAll(firstOfPair, 2 * lanes) : present->areAll(part * lanes, lanes)))
    return {};
  return isEvenOdd ? tail.getMask(*present, firstOfPair + part % 2, 2, lanes)
                   : tail.getMask(*present, part * lanes, 1, lanes);
}

void VectorBody::begin(Value firstColumn, std::optional<PresentColumns> presentColumns, ValueRange drawnBefore) {
  column = firstColumn;
  present = presentColumns;
  usedParts = countParts();
  if (drawnBefore.empty())
    drawnHere = draw(column);
  drawn = drawnBefore.empty() ? ValueRange(drawnHere) : drawnBefore;
  values.clear();
  widened.clear();
  joined.clear();
  for (const Prefetch &prefetch : present ? places.prefetchesOfTail : places.prefetches)
    emitPrefetch(prefetch);
}

SmallVector<VectorBody::Parts> VectorBody::emit(Value firstColumn, std::optional<PresentColumns> presentColumns,
                                                ValueRange drawnBefore) {
  begin(firstColumn, presentColumns, drawnBefore);
  Block &body = phase.getBody().front();
  for (Operation &op : body.without_terminator())
    if (!takeMoved(&op, {}))
      emitOperation(&op);
  SmallVector<Parts> yielded;
  for (Value value : body.getTerminator()->getOperands())
    yielded.push_back(evaluate(value));
  return yielded;
}

SmallVector<VectorBody::Parts>
VectorBody::emitWithoutStores(Value firstColumn, std::optional<PresentColumns> presentColumns, ValueRange drawnBefore) {
  withStores = false;
  SmallVector<Parts> yielded = emit(firstColumn, presentColumns, drawnBefore);
  withStores = true;
  return yielded;
}

void VectorBody::emitStores() {
  for (auto store : phase.getBody().front().getOps<rows::StoreOp>())
    emitStore(store);
}

VectorBody::Parts VectorBody::evaluate(Value value) {
  auto found = values.find(value);
  if (found != values.end())
    return found->second;
  if (!joined.contains(value))
    return Parts(usedParts, spread.lookup(value));
  Parts narrow;
  for (Value pair : joined.lookup(value)) {
    Value first = extractLanes(builder, pair, 0, lanes), second = extractLanes(builder, pair, lanes, lanes);
    auto [even, odd] = separateEvenOdd(builder, first, second);
    for (Value part : {even, odd})
      narrow.push_back(builder.castBits(part, builder.getBF16Type()));
  }
  return values[value] = narrow;
}

VectorBody::Parts VectorBody::evaluateJoined(Value value) {
  auto found = joined.find(value);
  if (found != joined.end())
    return found->second;
  Parts narrow = evaluate(value), pairs;
  for (int64_t part = 0; part < usedParts; part += 2)
    pairs.push_back(joinHalves(builder, narrow[part], narrow[part + 1]));
  return joined[value] = pairs;
}

void VectorBody::emitOperation(Operation *op) {
  if (auto load = dyn_cast<rows::LoadOp>(op))
    return emitLoad(load);
  if (auto store = dyn_cast<rows::StoreOp>(op))
    return withStores ? emitStore(store) : void();
  if (auto half = dyn_cast<rows::RandomHalfOp>(op))
    return emitRandomHalf(half);
  if (isColumnNumber(op))
    return emitColumnNumber(op);
  if (auto term = dyn_cast<rows::AccumulateOp>(op))
    return withTerms ? storeTerm(term, evaluateTerm(term), /*isFirst=*/false) : void();
  if (isa<arith::ExtFOp>(op) && op->getResult(0).getType().isF32() && op->getOperand(0).getType().isBF16())
    return emitWidening(op);
  isNarrowing(op) ? emitNarrowing(op) : emitElementwise(op);
}

void VectorBody::emitElementwise(Operation *op) {
  if (matchPattern(op, m_Constant())) {
    values[op->getResult(0)] = Parts(usedParts, emitElements(builder, op, {}, lanes).front());
    return;
  }
  SmallVector<Parts> operands =
      llvm::map_to_vector(op->getOperands(), [&](Value operand) { return evaluate(operand); });
  for (int64_t part = 0; part < usedParts; ++part) {
    auto ofPart = llvm::map_to_vector(operands, [&](const Parts &operand) { return operand[part]; });
    for (auto [from, to] : llvm::zip_equal(op->getResults(), emitElements(builder, op, ofPart, lanes)))
      values[from].push_back(to);
  }
}

void VectorBody::emitColumnNumber(Operation *op) {
  auto type = VectorType::get(lanes, builder.getI32Type());
  Value first = builder.spread(builder.castInteger(column, builder.getI32Type()), lanes);
  bool isEvenOdd = order == ColumnOrder::EvenOdd;
  for (int64_t part = 0; part < usedParts; ++part) {
    SmallVector<int32_t> places;
    for (int64_t lane = 0; lane < lanes; ++lane)
      places.push_back(isEvenOdd ? part / 2 * 2 * lanes + 2 * lane + part % 2 : part * lanes + lane);
    Value step = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, ArrayRef(places)));
    values[op->getResult(0)].push_back(builder.add(first, step));
  }
}

//===------------------------------------------- conversions of bf16 ---------------------------------------------===//

/// bf16 to f32. Where even and odd columns are apart, those are the halves of 32-bit words.
void VectorBody::emitWidening(Operation *op) {
  Value narrow = op->getOperand(0);
  if (order == ColumnOrder::EvenOdd) {
    Parts wide;
    for (Value pair : evaluateJoined(narrow)) {
      auto [even, odd] = splitToUpperHalves(builder, pair);
      for (Value words : {even, odd})
        wide.push_back(LLVM::BitcastOp::create(builder, loc, VectorType::get(lanes, builder.getF32Type()), words));
    }
    values[op->getResult(0)] = wide;
  } else if (widened.contains(narrow)) {
    values[op->getResult(0)] = widened.lookup(narrow);
  } else {
    emitElementwise(op);
  }
}

/// f32 to bf16 by more than one vector at a time.
bool VectorBody::isNarrowing(Operation *op) const {
  auto truncation = dyn_cast<arith::TruncFOp>(op);
  return truncation && truncation.getType().isBF16() && truncation.getIn().getType().isF32() &&
         (order == ColumnOrder::EvenOdd || hasPackedConversion() ||
          (target.isX86 && getPackedBits() == target.vectorBits));
}

bool VectorBody::hasPackedConversion() const { return target.hasPackedBF16 && getPackedBits() >= 256; }

/// Whether (i1) some lane of a mask is set.
Value VectorBody::isAnyLane(Value mask) {
  auto bitsType = builder.getIntegerType(lanes);
  Value bits = builder.create<LLVM::BitcastOp>(bitsType, mask);
  return builder.compare(arith::CmpIPredicate::ne, bits, 0);
}

/// Whether (i1) some lane of some part is a subnormal number.
Value VectorBody::isAnySubnormal(const Parts &wide) {
  auto maskType = VectorType::get(lanes, builder.getI1Type());
  auto name = builder.getStringAttr("llvm.x86.avx512.fpclass.ps." + std::to_string(getPackedBits()));
  // The class of subnormal numbers in the instruction's table.
  Value subnormal = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), builder.getI32IntegerAttr(0x20));
  Value any;
  for (Value part : wide) {
    Value mask = LLVM::CallIntrinsicOp::create(builder, loc, maskType, name, ValueRange{part, subnormal}).getResult(0);
    any = any ? builder.either(any, mask) : mask;
  }
  return isAnyLane(any);
}

/// A NaN as it is in bf16, with zeros below; another number as it is.
static Value quietNaN(Code &builder, Value part) {
  Value quiet = builder.both(builder.either(builder.bits(part), 0x00400000), kUpperHalf);
  return builder.select(builder.isNaN(part), builder.fromBits(quiet), part);
}

/// quietNaN() of all parts. NaNs are rare, and one comparison tells of two parts whether there is one.
VectorBody::Parts VectorBody::quietNaNs(const Parts &wide) {
  Value any;
  for (int64_t part = 0; part < usedParts; part += 2) {
    Value mask = builder.compare(arith::CmpFPredicate::UNO, wide[part], wide[part + 1]);
    any = any ? builder.either(any, mask) : mask;
  }
  SmallVector<Type> types = llvm::map_to_vector(wide, [](Value part) { return part.getType(); });
  auto quieten = [&] { return llvm::map_to_vector(wide, [&](Value part) { return quietNaN(builder, part); }); };
  return Parts(builder.choose(isAnyLane(any), types, quieten, [&] { return llvm::to_vector_of<Value>(wide); }));
}

/// Two vectors of f32 to one of bf16, as i16, by the instruction for that.
Value VectorBody::packPair(Value first, Value second) {
  auto name = builder.getStringAttr("llvm.x86.avx512bf16.cvtne2ps2bf16." + std::to_string(getPackedBits()));
  auto type = VectorType::get(2 * lanes, builder.getBF16Type()),
       bits = VectorType::get(2 * lanes, builder.getI16Type());
  // The instruction has the later elements first.
  Value pair = LLVM::CallIntrinsicOp::create(builder, loc, type, name, ValueRange{second, first}).getResult(0);
  pair = LLVM::BitcastOp::create(builder, loc, bits, pair);
  return order == ColumnOrder::EvenOdd ? interleaveHalves(builder, pair) : pair;
}

/// Rounds a pair of vectors by integer arithmetic.
Value VectorBody::roundPair(Value first, Value second) {
  for (Value *part : {&first, &second})
    *part = builder.bits(builder.castFloat(*part, builder.getBF16Type()));
  return order == ColumnOrder::EvenOdd ? joinHalves(builder, first, second) : concatenate(builder, first, second);
}

/// roundPair() of what quietNaNs() gives: a NaN has nothing below that would be rounded. Odd columns that are apart
/// stay in the upper halves of their words, where the rounding leaves them.
Value VectorBody::roundQuietPair(Value first, Value second) {
  // Half a unit of what is kept, less a bit where that is even.
  auto round = [&](Value part) {
    Value bits = builder.bits(part);
    Value isOdd = builder.both(builder.shiftRight(bits, 16), 1);
    return builder.add(builder.add(bits, 0x7FFF), isOdd);
  };
  Value low = builder.shiftRight(round(first), 16), high = round(second);
  if (order == ColumnOrder::EvenOdd)
    return blendHalves(builder, low, high);
  Type half = builder.getI16Type();
  return concatenate(builder, builder.castInteger(low, half), builder.castInteger(builder.shiftRight(high, 16), half));
}

/// Two parts at a time. The instruction takes subnormal numbers for zeros, so where there is one, integers do the work.
VectorBody::Parts VectorBody::narrowPairs(const Parts &wide) {
  auto convert = [&](const Parts &parts, Value (VectorBody::*convertPair)(Value, Value)) {
    SmallVector<Value> pairs;
    for (int64_t part = 0; part < usedParts; part += 2)
      pairs.push_back((this->*convertPair)(parts[part], parts[part + 1]));
    return pairs;
  };
  if (!hasPackedConversion())
    return Parts(convert(quietNaNs(wide), &VectorBody::roundQuietPair));
  SmallVector<Type> types(usedParts / 2, VectorType::get(2 * lanes, builder.getI16Type()));
  return Parts(builder.choose(
      isAnySubnormal(wide), types, [&] { return convert(wide, &VectorBody::roundPair); },
      [&] { return convert(wide, &VectorBody::packPair); }));
}

void VectorBody::emitNarrowing(Operation *op) {
  Parts pairs = narrowPairs(evaluate(op->getOperand(0)));
  if (order == ColumnOrder::EvenOdd) {
    joined[op->getResult(0)] = pairs;
    return;
  }
  Parts &narrow = values[op->getResult(0)];
  for (int64_t part = 0; part < usedParts; ++part) {
    Value bits = extractLanes(builder, pairs[part / 2], part % 2 * lanes, lanes);
    narrow.push_back(builder.castBits(bits, builder.getBF16Type()));
  }
}

//===------------------------------------------- random numbers ---------------------------------------------------===//

SmallVector<Value> VectorBody::draw(Value start) {
  SmallVector<Value> numbers;
  for (rows::RandomHalfOp half : draws) {
    Value call = emitCounterOf(builder, loc, start);
    if (Value first = half.getOriginCall())
      call = builder.add(call, mapping.lookup(first));
    SmallVector<Value, 4> counter{call, mapping.lookup(half.getRow()), mapping.lookup(half.getSite()),
                                  mapping.lookup(half.getStep())};
    auto [first, second] = emitPhiloxColumns(builder, loc, counter, mapping.lookup(half.getSeed()), getColumns());
    numbers.append({first, second});
  }
  return numbers;
}

void VectorBody::emitRandomHalf(rows::RandomHalfOp half) {
  int64_t position = llvm::find(draws, half) - draws.begin();
  Value first = drawn[2 * position], second = drawn[2 * position + 1];
  int64_t middle = getColumns() / 2;
  Parts &wide = values[half.getResult()];
  for (int64_t start = 0; start < usedParts * lanes; start += 2 * lanes) {
    Value pair = extractLanes(builder, start < middle ? first : second, start % middle, 2 * lanes);
    if (order == ColumnOrder::EvenOdd) {
      auto [even, odd] = splitToLowerHalves(builder, pair);
      wide.append({even, odd});
      continue;
    }
    for (int64_t lane : {int64_t(0), lanes})
      wide.push_back(builder.castInteger(extractLanes(builder, pair, lane, lanes), builder.getI32Type()));
  }
}
