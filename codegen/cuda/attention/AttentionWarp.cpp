// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products, scores and weighted sums on warps.

#include "codegen/cuda/attention/AttentionWarp.h"

#include "codegen/arithmetic/Philox.h"
#include "codegen/cuda/MatrixUnits.h"
#include "codegen/cuda/SharedArray.h"
#include "codegen/cuda/rows/OpaqueValues.h"
#include "codegen/cuda/rows/Shuffles.h"
#include "codegen/kernels/ElementMemory.h"
#include "codegen/rows/Reductions.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::attention;

static_assert(AttentionWarp::kOwnStep == kWarpThreads, "each thread has one of so many neighbouring rows");
/// Rows that are copied, and weighted rows, that stand one after the other in the code, so that their loads need not
/// wait for each other.
static constexpr int64_t kUnrolledCopies = 4, kUnrolledRows = 4;
/// An access of shared memory that takes the least time.
static constexpr int64_t kVectorBytes = 16;

AttentionWarp::AttentionWarp(Code &code, kernels::KernelBody &body, const AttentionPlan &plan,
                             ArrayRef<unsigned> weighted)
    : AttentionPlaces(code, body.as<AttentionShape>()), plan(plan), numbers(code, shape) {
  thread = getNumber<NVVM::ThreadIdXOp>(code);
  lane = code.remainder(thread, kWarpThreads);
  warp = code.divide(thread, kWarpThreads);
  rowsBefore = code.multiply(warp, plan.sharedRows);
  allocate(weighted);
}

void AttentionWarp::allocate(ArrayRef<unsigned> weighted) {
  int64_t ownRows = plan.ownRows * kWarpThreads, ofWarp = int64_t(weighted.size()) * ownRows * plan.sharedRows;
  int64_t allWeights = plan.warps * ofWarp, ofTile = 0;
  if (plan.usesMatrixUnits) {
    int64_t columns = 0;
    for (unsigned operand : weighted)
      columns = std::max(columns, getTileColumns(operand));
    ofTile = kMatrixTerms * (columns + kVectorBytes / 2) / 2;
  }
  int64_t size = std::max(allWeights + ofTile, (ownRows + plan.getBlockRows()) * getRowStride());
  own = SharedArray(code, getArithmetic(), size, ".rows").getStart(code);
  shared = atTerm(own, code.add(rowsBefore, ownRows), code.constant(0));
  weights = code.at(own, getArithmetic(), code.multiply(warp, ofWarp));
  tile = code.at(own, getArithmetic(), allWeights);
}

void AttentionWarp::forUnits(Value rows, function_ref<void(Value)> body) {
  Value block = getNumber<NVVM::BlockIdXOp>(code), blocks = getNumber<NVVM::GridDimXOp>(code);
  code.rolledLoop(block, countUnits(code, shape, rows, plan.getBlockRows()), blocks, body);
}

void AttentionWarp::synchronize() { code.create<NVVM::SyncWarpOp>(code.constant(code.getI32Type(), -1)); }

//===------------------------------------------- units ------------------------------------------------------------===//

Value AttentionWarp::countUnits(Code &code, const AttentionShape &shape, Value rows, int64_t blockRows) {
  Value heads = code.multiply(shape.batches.value, shape.keyHeads.value);
  return code.multiply(heads, code.ceilDivide(rows, code.constant(blockRows)));
}

std::pair<KeyHead, Value> AttentionWarp::findBlock(Value unit, Value rows) {
  Value blocks = code.ceilDivide(rows, code.constant(plan.getBlockRows()));
  Value head = code.divide(unit, blocks), keyHeads = shape.keyHeads.value;
  Value first = code.multiply(code.remainder(unit, blocks), plan.getBlockRows());
  return {{code.divide(head, keyHeads), code.remainder(head, keyHeads)}, first};
}

QueryUnit AttentionWarp::makeQueryUnit(Value number) {
  QueryUnit unit;
  Value all = countRows(), firstOfBlock;
  std::tie(unit.head, firstOfBlock) = findBlock(number, all);
  unit.seen = findSeenByRows(unit.head, firstOfBlock, code.min(plan.getBlockRows(), code.subtract(all, firstOfBlock)));
  unit.firstRow = code.add(firstOfBlock, rowsBefore);
  unit.count = code.subtract(all, unit.firstRow);
  unit.first = getPlace(unit.head, getRow(unit, code.constant(0)));
  return unit;
}

AttentionWarp::Numbers AttentionWarp::forParts(const QueryUnit &unit, Numbers first,
                                               function_ref<Numbers(const QueryUnit &, Numbers)> body) {
  if (!shape.hasOrigins())
    return body(unit, std::move(first));
  Value firstOfBlock = code.subtract(unit.firstRow, rowsBefore);
  Value end = code.min(code.add(firstOfBlock, plan.getBlockRows()), countRows());
  return forOrigins(unit.head, firstOfBlock, end, first, [&](Value low, Value high, ValueRange before) {
    QueryUnit part = unit;
    part.seen = findSeenByRows(unit.head, low, code.subtract(high, low));
    part.firstInPart = low, part.endOfPart = high;
    return body(part, llvm::to_vector(before));
  });
}

AttentionWarp::Numbers AttentionWarp::takePart(const QueryUnit &part, Numbers after, ArrayRef<Value> before) {
  if (!part.firstInPart)
    return after;
  size_t ofRow = after.size() / plan.sharedRows;
  for (auto [i, number] : llvm::enumerate(after))
    number = code.select(isInPart(part, i / ofRow), number, before[i]);
  return after;
}

Value AttentionWarp::isInPart(const QueryUnit &part, int64_t row) {
  Value number = getRow(part, code.constant(row));
  return code.both(code.isAtMost(part.firstInPart, number), code.isAtMost(code.add(number, 1), part.endOfPart));
}

/// Without divisions: a row is that after the one before it, or in the next head.
void AttentionWarp::forQueries(const QueryUnit &unit, function_ref<void(int64_t, const WarpQuery &)> body) {
  QueryPlace place = unit.first;
  for (int64_t i = 0; i < plan.sharedRows; ++i) {
    place.head = makeOpaque(code, place.head), place.query = makeOpaque(code, place.query);
    WarpQuery query = makeQuery(place);
    if (unit.firstInPart)
      query.seen.end = code.select(isInPart(unit, i), query.seen.end, 0);
    body(i, query);
    Value isThere = code.isAtMost(code.constant(i + 2), unit.count), next = code.add(place.query, 1);
    Value isInNext = code.both(isThere, code.isEqual(next, shape.queries.value));
    place.head = code.select(isInNext, code.add(place.head, 1), place.head);
    place.query = code.select(isInNext, code.constant(0), code.select(isThere, next, place.query));
  }
}

Value AttentionWarp::getRow(const QueryUnit &unit, Value number) {
  return code.min(code.add(unit.firstRow, number), code.subtract(countRows(), 1));
}

/// From the unit's first place on, by one division of short numbers: one of long ones is a call, across which ptxas
/// keeps little in registers.
QueryPlace AttentionWarp::getRowPlace(const QueryUnit &unit, Value number) {
  auto narrow = [&](Value count) {
    constexpr int64_t most = int64_t(1) << 30; // more than rows of a warp
    return code.castInteger(code.min(count, most), code.getI32Type());
  };
  auto widen = [&](Value count) { return code.castInteger(count, code.getI64Type()); };
  const QueryPlace &first = unit.first;
  Value queries = shape.queries.value, row = narrow(code.max(code.min(number, code.subtract(unit.count, 1)), 0));
  Value ofHead = narrow(code.subtract(queries, first.query)), isLater = code.isAtMost(ofHead, row);
  Value after = code.select(isLater, code.subtract(row, ofHead), 0), all = narrow(queries);
  Value heads = code.select(isLater, code.add(code.divide(after, all), 1), 0);
  Value query = code.select(isLater, widen(code.remainder(after, all)), code.add(first.query, widen(row)));
  return {first.batch, code.add(first.head, widen(heads)), query};
}

//===------------------------------------------- numbers of rows --------------------------------------------------===//

WarpQuery AttentionWarp::makeQuery(const QueryPlace &place) {
  WarpQuery query{place, findSeen(place), {}, {}};
  if (shape.hasMask)
    query.mask = atPlace(AttentionShape::kMask, place);
  if (shape.threshold != 0)
    query.randomRow = getRandomRow(place);
  return query;
}

Value AttentionWarp::load(unsigned operand, Value pointer) {
  return widen(kernels::loadElement(code, code.getLoc(), getElementType(operand), pointer, code.constant(0),
                                    kernels::Alignment::Element));
}

void AttentionWarp::store(Value number, unsigned operand, Value pointer) {
  kernels::storeElement(code, code.getLoc(), narrow(number, operand), pointer, code.constant(0),
                        kernels::Alignment::Element);
}

Value AttentionWarp::getColumn(int64_t column) { return getOwn(code.constant(0), column); }

AttentionWarp::Numbers AttentionWarp::loadColumns(unsigned operand, Value row) {
  Numbers loaded;
  int64_t size = shape.operands[operand].columns;
  for (int64_t i = 0; i < countColumns(shape, operand); ++i) {
    bool areThere = (i + 1) * kOwnStep <= size;
    Value column = areThere ? getColumn(i) : code.min(getColumn(i), size - 1);
    loaded.push_back(load(operand, advance(row, operand, kColumn, column)));
  }
  return loaded;
}

void AttentionWarp::storeColumns(ArrayRef<Value> sums, unsigned operand, Value row) {
  int64_t size = shape.operands[operand].columns;
  for (int64_t i = 0; i < countColumns(shape, operand); ++i) {
    Value column = getColumn(i);
    auto storeOne = [&] { store(sums[i], operand, advance(row, operand, kColumn, column)); };
    if ((i + 1) * kOwnStep <= size)
      storeOne();
    else
      code.choose(code.isAtMost(column, size - 1), storeOne);
  }
}

/// Of all heads.
Value AttentionWarp::countRowsBefore(const KeyHead &head, Value row) {
  Value number = code.add(code.multiply(head.batch, shape.keyHeads.value), head.number);
  return code.add(code.multiply(number, countRows()), row);
}

Value AttentionWarp::atMean(const KeyHead &head, Value row) {
  return code.at(shape.scratch, getArithmetic(), countRowsBefore(head, row));
}

Value AttentionWarp::atChunkState(const KeyHead &head, Value row, Value chunk) {
  Value number = code.add(code.multiply(countRowsBefore(head, row), countChunks(code, shape)), chunk);
  return code.at(shape.scratch, getArithmetic(), code.multiply(number, countStateNumbers()));
}

void AttentionWarp::storeMean(Value mean, const KeyHead &head, Value row) {
  code.create<LLVM::StoreOp>(mean, atMean(head, row));
}

Value AttentionWarp::loadMean(const KeyHead &head, const QueryPlace &place) {
  Value ofHead = code.subtract(place.head, code.multiply(head.number, shape.group.value));
  Value row = code.add(code.multiply(ofHead, shape.queries.value), place.query);
  return code.create<LLVM::LoadOp>(getArithmetic(), atMean(head, row));
}

//===------------------------------------------- products ---------------------------------------------------------===//

/// Threads that read neighbouring rows at a time meet in no bank.
int64_t AttentionWarp::getRowStride() const {
  return plan.terms + kVectorBytes * 8 / getRowType().getIntOrFloatBitWidth();
}

Value AttentionWarp::atTerm(Value rows, Value row, Value term) {
  return code.at(rows, getRowType(), code.add(code.multiply(row, getRowStride()), term));
}

/// Column `first` + `term` of a row; 0 past the last one, which changes no chain but for the sign of a zero.
void AttentionWarp::copyTerms(const Rows &rows, Value number, Value first, Value term, Value target) {
  int64_t size = shape.operands[rows.operand].columns;
  bool areThere = size % plan.terms == 0;
  Value column = code.add(first, term), last = code.constant(size - 1);
  Value place = advance(rows.locate(number), rows.operand, kColumn, areThere ? column : code.min(column, last));
  Value element = kernels::loadElement(code, code.getLoc(), getElementType(rows.operand), place, code.constant(0),
                                       kernels::Alignment::Element);
  element = code.castFloat(element, cast<FloatType>(getRowType()));
  if (!areThere)
    element = code.select(code.isAtMost(column, last), element, 0.0);
  code.create<LLVM::StoreOp>(element, atTerm(target, number, term));
}

/// Neighbouring threads have neighbouring columns.
void AttentionWarp::copyRows(const Rows &sharedRows, const Rows &ownRows, Value first) {
  int64_t ownStep = plan.getThreads() / plan.terms, sharedStep = kWarpThreads / plan.terms;
  Value term = code.remainder(lane, plan.terms), ofWarp = code.divide(lane, plan.terms);
  Value ofBlock = code.divide(thread, plan.terms);
  auto copyOwn = [&](function_ref<Value(Value)> locate) {
    auto copy = [&](Value step) {
      Value row = code.add(ofBlock, code.multiply(step, ownStep));
      copyTerms({ownRows.operand, locate}, row, first, term, own);
    };
    code.loop(0, plan.ownRows * kWarpThreads / ownStep, 1, copy, kUnrolledCopies);
  };
  auto copyShared = [&](int64_t row) { copyTerms(sharedRows, code.add(ofWarp, row), first, term, shared); };
  if (ownRows.locateEach)
    code.choose(
        ownRows.areThere, [&] { copyOwn(ownRows.locateEach); }, [&] { copyOwn(ownRows.locate); });
  else
    copyOwn(ownRows.locate);
  if (plan.sharedRows < sharedStep)
    return code.choose(code.isAtMost(ofWarp, plan.sharedRows - 1), [&] { copyShared(0); });
  for (int64_t row = 0; row < plan.sharedRows; row += sharedStep)
    copyShared(row);
}

/// Some terms from `term` on of each row.
SmallVector<AttentionWarp::Numbers> AttentionWarp::loadTerms(Value rows, ArrayRef<Value> rowNumbers, Value term) {
  int64_t count = getRowStride() - plan.terms;
  SmallVector<Numbers> terms(count);
  for (Value number : rowNumbers) {
    Value vector = code.create<LLVM::LoadOp>(VectorType::get(count, getArithmetic()), atTerm(rows, number, term),
                                             unsigned(kVectorBytes));
    for (int64_t i = 0; i < count; ++i)
      terms[i].push_back(code.create<LLVM::ExtractElementOp>(vector, code.constant(i)));
  }
  return terms;
}

AttentionWarp::Numbers AttentionWarp::multiply(const Rows &sharedRows, const Rows &ownRows) {
  if (plan.usesMatrixUnits)
    return multiplyOnMatrixUnits(sharedRows, ownRows);
  Numbers zeros(plan.sharedRows * plan.ownRows, constantFloat(0.0)), sharedNumbers, ownNumbers;
  for (int64_t i = 0; i < plan.sharedRows; ++i)
    sharedNumbers.push_back(code.constant(i));
  for (int64_t j = 0; j < plan.ownRows; ++j)
    ownNumbers.push_back(getOwn(code.constant(0), j));
  auto addTerms = [&](Value term, ValueRange carried) {
    SmallVector<Numbers> a = loadTerms(shared, sharedNumbers, term), b = loadTerms(own, ownNumbers, term);
    Numbers sums(carried);
    for (auto [ofShared, ofOwn] : llvm::zip_equal(a, b))
      for (auto [i, sum] : llvm::enumerate(sums))
        sum = code.fma(ofShared[i / plan.ownRows], ofOwn[i % plan.ownRows], sum);
    return sums;
  };
  int64_t size = shape.operands[ownRows.operand].columns;
  Numbers sums = code.rolledLoop(0, size, plan.terms, zeros, [&](Value first, ValueRange carried) {
    code.create<NVVM::Barrier0Op>();
    copyRows(sharedRows, ownRows, first);
    code.create<NVVM::Barrier0Op>();
    return code.rolledLoop(0, plan.terms, getRowStride() - plan.terms, carried, addTerms);
  });
  code.create<NVVM::Barrier0Op>();
  return sums;
}

AttentionWarp::Numbers AttentionWarp::multiplyChunk(const QueryUnit &unit, Value first, unsigned ofQueries,
                                                    unsigned ofKeys) {
  Value head = atHead(ofKeys, unit.head);
  auto locateQuery = [&](Value number) { return atPlace(ofQueries, getRowPlace(unit, number)); };
  auto locateKey = [&](Value number) { return advance(head, ofKeys, kKey, code.add(first, number)); };
  auto locateLastKey = [&](Value number) {
    return advance(head, ofKeys, kKey, code.min(code.add(first, number), code.subtract(unit.seen.end, 1)));
  };
  Value areThere = code.isAtMost(code.add(first, plan.ownRows * kWarpThreads), unit.seen.end);
  return multiply({ofQueries, locateQuery}, {ofKeys, locateLastKey, locateKey, areThere});
}

//===------------------------------------------- scores -----------------------------------------------------------===//

AttentionWarp::Numbers AttentionWarp::getKeyNumbers() {
  Numbers keys;
  for (int64_t j = 0; j < plan.ownRows; ++j)
    keys.push_back(code.castInteger(getOwn(code.constant(0), j), code.getI32Type()));
  return keys;
}

/// Of two words, numbers of keys would take twice the registers, and twice the time.
SeenHere AttentionWarp::findSeenHere(const WarpQuery &query, Value first, Value end) {
  auto count = [&](Value key) {
    return code.castInteger(code.min(code.max(code.subtract(key, first), 0), kChunkKeys), code.getI32Type());
  };
  SeenHere seen{query.seen.first ? count(query.seen.first) : Value(), count(query.seen.end), {}, {}};
  if (shape.hasMask) {
    Value last = code.subtract(end, 1);
    seen.mask = advance(query.mask, AttentionShape::kMask, kKey, code.min(first, last));
    seen.last = count(last);
  }
  return seen;
}

Value AttentionWarp::makeScore(const SeenHere &seen, Value product, Value key, Value *slope) {
  Value isPresent = code.compare(arith::CmpIPredicate::slt, key, seen.end);
  if (seen.first)
    isPresent = code.both(isPresent, code.compare(arith::CmpIPredicate::sge, key, seen.first));
  Value score = numbers.scale(product, slope);
  if (shape.hasMask) {
    constexpr unsigned operand = AttentionShape::kMask;
    Value number = code.castInteger(code.min(key, seen.last), code.getI64Type());
    Value place = advance(seen.mask, operand, kKey, number);
    Value element = kernels::loadElement(code, code.getLoc(), getElementType(operand), place, code.constant(0),
                                         kernels::Alignment::Element);
    score = numbers.mask(score, element, isPresent);
  }
  return numbers.hide(score, isPresent);
}

/// Key j belongs to lane j mod 64 of the sum: a thread has two of these lanes.
Value AttentionWarp::reduce(rows::ReductionKind kind, ArrayRef<Value> own) {
  SmallVector<Value> lanes(2, rows::createNeutral(code, code.getLoc(), kind, getArithmetic()));
  for (auto [i, number] : llvm::enumerate(own))
    lanes[i % 2] = rows::combine(code, kind, lanes[i % 2], number);
  return reduceLanes(code, kind, lanes[0], lanes[1]);
}

//===------------------------------------------- dropout ----------------------------------------------------------===//

Value AttentionWarp::drawCall(const WarpQuery &query, Value first) {
  Value call = arithmetic::emitCounterOf(code, code.getLoc(), first);
  if (firstCall)
    call = code.add(firstCall, call);
  Value counter[] = {call, query.randomRow, site, step};
  for (Value &word : counter)
    word = code.castInteger(word, code.getI32Type());
  SmallVector<Value, 4> words = arithmetic::emitPhilox(code, code.getLoc(), counter, seed);
  Value bits = code.constant(code.getI32Type(), 0);
  for (int64_t i = 0; i < arithmetic::kColumnsPerCounter; ++i) {
    Value half = i % 2 == 1 ? code.shiftRight(words[i / 2], 16) : code.both(words[i / 2], 0xFFFF);
    Value isKept = code.compare(arith::CmpIPredicate::uge, half, shape.threshold);
    bits = code.either(bits, code.select(isKept, code.constant(code.getI32Type(), int64_t(1) << i), 0));
  }
  return bits;
}

/// Eight neighbours have keys of the same calls. Each of them makes the call of one own row, and they hand the bits to
/// each other: byte j of what all end with is the call of own row j.
AttentionWarp::Numbers AttentionWarp::drawKept(const WarpQuery &query, Value first) {
  constexpr int64_t neighbours = arithmetic::kColumnsPerCounter;
  Type i32 = code.getI32Type();
  Value number = code.remainder(lane, neighbours), group = code.subtract(lane, number);
  Value bits = drawCall(query, code.add(first, code.add(group, code.multiply(number, kOwnStep))));
  Value place = code.castInteger(number, i32);
  for (int64_t distance = 1; distance < neighbours / 2; distance *= 2) {
    Value bit = code.both(code.shiftRight(place, llvm::Log2_64(distance)), 1);
    bits = code.shiftLeft(bits, code.multiply(bit, 8 * distance));
    bits = code.either(bits, exchange(code, bits, distance));
  }
  Value other = exchange(code, bits, neighbours / 2);
  Value isLower = code.compare(arith::CmpIPredicate::ult, place, neighbours / 2);
  Value words[] = {code.select(isLower, bits, other), code.select(isLower, other, bits)};
  Numbers kept;
  for (int64_t i = 0; i < plan.ownRows; ++i) {
    Value ofCall = code.shiftRight(words[i / 4], i % 4 * 8);
    kept.push_back(code.castInteger(code.shiftRight(ofCall, place), code.getI1Type()));
  }
  return kept;
}

//===------------------------------------------- weights in shared memory -----------------------------------------===//

/// `first`: of the shared rows.
Value AttentionWarp::atWeights(int64_t list, Value own, int64_t first) {
  Value row = code.add(own, list * plan.ownRows * kWarpThreads);
  return code.at(weights, getArithmetic(), code.add(code.multiply(row, plan.sharedRows), first));
}

static int64_t getBytes(FloatType type) { return type.getWidth() / 8; }

int64_t AttentionWarp::getVectorRows() const {
  return std::min(plan.sharedRows, kVectorBytes / getBytes(getArithmetic()));
}

void AttentionWarp::storeWeights(int64_t list, ArrayRef<Value> weights, int64_t first) {
  int64_t rows = int64_t(weights.size()) / plan.ownRows;
  for (int64_t j = 0; j < plan.ownRows; ++j) {
    Numbers ofOwn;
    for (int64_t i = 0; i < rows; ++i)
      ofOwn.push_back(weights[i * plan.ownRows + j]);
    Value stored = rows == 1 ? ofOwn.front() : makeVector(code, ofOwn);
    code.create<LLVM::StoreOp>(stored, atWeights(list, getOwn(code.constant(0), j), first),
                               unsigned(getVectorRows() * getBytes(getArithmetic())));
  }
}

AttentionWarp::Numbers AttentionWarp::loadWeights(int64_t list, Value own) {
  Type type = getArithmetic();
  if (plan.sharedRows > 1)
    type = VectorType::get(plan.sharedRows, type);
  Value loaded =
      code.create<LLVM::LoadOp>(type, atWeights(list, own), unsigned(getVectorRows() * getBytes(getArithmetic())));
  if (plan.sharedRows == 1)
    return {loaded};
  Numbers ofShared;
  for (int64_t i = 0; i < plan.sharedRows; ++i)
    ofShared.push_back(code.create<LLVM::ExtractElementOp>(loaded, code.constant(i)));
  return ofShared;
}

AttentionWarp::Numbers AttentionWarp::addWeighted(Numbers sums, int64_t list, Value begin, Value end, unsigned operand,
                                                  function_ref<Value(Value)> locate, bool skipsAbsent) {
  bool onMatrixUnits = plan.usesMatrixUnits && getElementType(operand).isBF16();
  return onMatrixUnits ? addOnMatrixUnits(std::move(sums), list, begin, end, operand, locate, skipsAbsent)
                       : addInOrder(std::move(sums), list, begin, end, operand, locate, skipsAbsent);
}

AttentionWarp::Numbers AttentionWarp::addInOrder(Numbers sums, int64_t list, Value begin, Value end, unsigned operand,
                                                 function_ref<Value(Value)> locate, bool skipsAbsent) {
  size_t count = countColumns(shape, operand);
  auto addRow = [&](Value own, ValueRange carried) {
    Numbers ofRow = loadWeights(list, own), columns = loadColumns(operand, locate(own)), next;
    for (auto [i, sum] : llvm::enumerate(carried)) {
      Value weight = ofRow[i / count], added = code.fma(weight, columns[i % count], sum);
      if (skipsAbsent)
        added = code.select(code.isEqual(code.bits(weight), code.bits(constantFloat(-0.0))), sum, added);
      next.push_back(added);
    }
    return next;
  };
  return code.loop(begin, end, 1, sums, addRow, skipsAbsent ? 1 : kUnrolledRows);
}

AttentionWarp::Numbers AttentionWarp::addKeys(Numbers sums, const QueryUnit &unit, Value first, unsigned operand,
                                              bool skipsAbsent) {
  Value begin = code.constant(0), head = atHead(operand, unit.head);
  if (unit.seen.first)
    begin = code.max(begin, code.subtract(unit.seen.first, first));
  Value end = code.min(plan.ownRows * kWarpThreads, code.subtract(unit.seen.end, first));
  auto locate = [&](Value key) { return advance(head, operand, kKey, code.add(first, key)); };
  return addWeighted(std::move(sums), /*list=*/0, begin, end, operand, locate, skipsAbsent);
}
