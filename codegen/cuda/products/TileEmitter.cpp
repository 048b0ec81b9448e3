// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/products/TileEmitter.h"

#include "codegen/cuda/rows/OpaqueValues.h"
#include "codegen/cuda/rows/Shuffles.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::contraction;

static constexpr int64_t kVectorBytes = 16;
/// Of a term in the code of a stage, where several stages stand one after the other: all is to fit into a cache.
static constexpr int64_t kCopies = 16;

//===------------------------------------------- places -----------------------------------------------------------===//

TileEmitter::TileEmitter(Code &code, kernels::KernelBody &body, contraction::KernelOp kernel, const ProductTile &tile)
    : TileBlock(code, body, kernel, tile) {
  a = makeFactor(KernelLoops::kA, tile.rows, /*begin=*/0);
  b = makeFactor(KernelLoops::kB, tile.columns, a.pitch * tile.terms);
  findThread(thread);
  stageSize = (a.pitch + b.pitch) * tile.terms;
  vectorSize = std::min<int64_t>(tile.getGroup(), kVectorBytes * 8 / Type(loops.arithmetic).getIntOrFloatBitWidth());
}

void TileEmitter::findThread(Value number) {
  thread = number;
  placeFactor(a);
  placeFactor(b);
  if (tile.isThin()) {
    threadRow = code.multiply(code.divide(thread, tile.columns), tile.threadRows);
    threadColumn = code.remainder(thread, tile.columns);
    return;
  }
  int64_t group = tile.getGroup();
  Value warp = code.divide(thread, kWarpThreads), lane = code.remainder(thread, kWarpThreads);
  Value warpRow = code.remainder(warp, 2), ownRow = code.multiply(code.remainder(code.divide(lane, 2), 8), group);
  Value ownColumn = code.add(code.remainder(lane, 2), code.multiply(code.divide(lane, 16), 2));
  threadRow = code.add(code.multiply(warpRow, tile.rows / 2), ownRow);
  threadColumn = code.add(code.multiply(code.divide(warp, 2), tile.columns / 4), code.multiply(ownColumn, group));
  sliceRow = code.add(code.multiply(warpRow, tile.getWarpRows()), ownRow);
}

TileEmitter::Factor TileEmitter::makeFactor(unsigned operand, int64_t size, int64_t begin) {
  Factor factor{operand, size, size + ProductTile::kPadding, begin, /*isAlongTerms=*/false, /*count=*/0, /*step=*/0,
                {},      {}};
  factor.isAlongTerms = !product.isPacked(operand) && loops.contracted.front().strides[operand].is(1);
  factor.count = size * tile.terms / ProductTile::kThreads;
  factor.step = ProductTile::kThreads / getNeighbours(factor);
  return factor;
}

/// Finds the first element that the thread brings.
void TileEmitter::placeFactor(Factor &factor) {
  int64_t neighbours = getNeighbours(factor);
  Value along = code.remainder(thread, neighbours), across = code.divide(thread, neighbours);
  factor.place = factor.isAlongTerms ? across : along;
  factor.term = factor.isAlongTerms ? along : across;
}

std::pair<Value, Value> TileEmitter::getElement(const Factor &factor, int64_t number) {
  int64_t distance = number * factor.step;
  if (factor.isAlongTerms)
    return {code.add(factor.place, distance), factor.term};
  return {factor.place, code.add(factor.term, distance)};
}

Value TileEmitter::getSlot(const Factor &factor, int64_t number, Value stage) {
  auto [place, term] = getElement(factor, number);
  return code.add(code.add(stage, factor.begin), code.add(code.multiply(term, factor.pitch), place));
}

//===------------------------------------------- shared memory ----------------------------------------------------===//

void TileEmitter::loadVector(Value index, Sums &elements) {
  auto type = VectorType::get(vectorSize, loops.arithmetic);
  for (int64_t first = 0; first < tile.getGroup(); first += vectorSize) {
    Value vector =
        code.create<LLVM::LoadOp>(type, shared.getAddress(code, code.add(index, first)), getVectorAlignment());
    for (int64_t i = 0; i < vectorSize; ++i)
      elements.push_back(code.create<LLVM::ExtractElementOp>(vector, code.constant(i)));
  }
}

void TileEmitter::storeVector(ArrayRef<Value> elements, Value index) {
  for (int64_t first = 0; first < tile.getGroup(); first += vectorSize)
    code.create<LLVM::StoreOp>(makeVector(code, elements.slice(first, vectorSize)),
                               shared.getAddress(code, code.add(index, first)), getVectorAlignment());
}

//===------------------------------------------- terms ------------------------------------------------------------===//

/// Where an element is in memory. All that a thread brings are as far apart as the first from the second, so that one
/// address serves them.
Value TileEmitter::getOffset(const Factor &factor, Value first, int64_t number) {
  const contraction::Loop &terms = loops.contracted.front(), &other = getOther(factor.operand);
  Value place = code.add(getFirst(factor.operand), factor.place), term = code.add(first, factor.term);
  int64_t distance = number * factor.step;
  if (product.isPacked(factor.operand))
    return product.locatePacked(place, code.add(term, distance));
  Value start = code.add(product.getOffset({batch, place, place, Value()}, factor.operand),
                         code.multiply(term, terms.strides[factor.operand].value));
  const Extent &stride = (factor.isAlongTerms ? other : terms).strides[factor.operand];
  return code.add(start, code.multiply(stride.isKnown() ? stride.value : makeOpaque(code, stride.value), distance));
}

/// How many places there are from a thread's own on, at most those of a tile (i32). In large tiles, each stage compares
/// it anew: LLVM would keep all answers in registers from before the stages on, where sums leave no room for them.
Value TileEmitter::countPlacesLeft(const Factor &factor) {
  Value place = code.add(getFirst(factor.operand), factor.place);
  Value left = code.min(code.subtract(getOther(factor.operand).size.value, place), factor.size);
  left = code.castInteger(left, code.getI32Type());
  return tile.isLarge() ? makeOpaque(code, left) : left;
}

SmallVector<Value> TileEmitter::bring(const Factor &factor, Value first, bool isRest) {
  const kernels::Extent &size = getOther(factor.operand).size;
  bool isWhole = size.isKnown() && size.known % factor.size == 0 && !isRest;
  Type type = loops.operands[factor.operand].elementType;
  Value placesLeft = isWhole ? Value() : countPlacesLeft(factor);
  SmallVector<Value> elements;
  for (int64_t number = 0; number < factor.count; ++number) {
    auto load = [&]() -> SmallVector<Value> {
      return {product.load(factor.operand, getOffset(factor, first, number))};
    };
    auto leaveOut = [&]() -> SmallVector<Value> { return {code.constant(type, 0.0)}; };
    if (isWhole) {
      elements.push_back(load().front());
      continue;
    }
    int64_t distance = factor.isAlongTerms ? number * factor.step : 0;
    Value isThere = code.compare(arith::CmpIPredicate::sgt, placesLeft, distance);
    if (isRest)
      isThere =
          code.both(isThere, code.compare(arith::CmpIPredicate::slt, code.add(first, getElement(factor, number).second),
                                          loops.contracted.front().size.value));
    elements.push_back(code.choose(isThere, type, load, leaveOut).front());
  }
  return elements;
}

SmallVector<Value> TileEmitter::bring(Value first, bool isRest) {
  SmallVector<Value> elements = bring(a, first, isRest);
  llvm::append_range(elements, bring(b, first, isRest));
  return elements;
}

void TileEmitter::keep(ArrayRef<Value> elements, Value stage) {
  for (const Factor *factor : {&a, &b})
    for (int64_t number = 0; number < factor->count; ++number) {
      code.create<LLVM::StoreOp>(product.widen(elements.front()),
                                 shared.getAddress(code, getSlot(*factor, number, stage)));
      elements = elements.drop_front();
    }
}

TileEmitter::Sums TileEmitter::addTerm(Value stage, Value term, ValueRange sums) {
  Value atA = code.add(code.add(stage, code.multiply(term, a.pitch)), threadRow);
  Value atB = code.add(code.add(code.add(stage, b.begin), code.multiply(term, b.pitch)), threadColumn);
  Sums rows, columns;
  for (int64_t group = 0; group < tile.getSlices(); ++group)
    loadVector(code.add(atA, group * tile.getWarpRows()), rows);
  if (tile.isThin())
    columns.push_back(code.create<LLVM::LoadOp>(loops.arithmetic, shared.getAddress(code, atB)));
  for (int64_t group = 0; group < tile.threadColumns / tile.getGroup(); ++group)
    loadVector(code.add(atB, group * getWarpColumns()), columns);
  if (hasPairs())
    columns = pack(columns);
  Sums next;
  for (Value row : rows)
    for (Value column : columns)
      next.push_back(code.fma(hasPairs() ? makeVector(code, {row, row}) : row, column, sums[next.size()]));
  return next;
}

TileEmitter::Sums TileEmitter::pack(ArrayRef<Value> numbers) {
  Sums pairs;
  for (; !numbers.empty(); numbers = numbers.drop_front(2))
    pairs.push_back(makeVector(code, numbers.take_front(2)));
  return pairs;
}

TileEmitter::Sums TileEmitter::unpack(ArrayRef<Value> pairs) {
  Sums numbers;
  for (Value pair : pairs)
    for (int64_t i = 0; i < 2; ++i)
      numbers.push_back(code.create<LLVM::ExtractElementOp>(pair, code.constant(i)));
  return numbers;
}

/// Two warps of a thin tile have rows, and the others bring terms. Rows that are not there need no sums.
TileEmitter::Sums TileEmitter::addTerms(Value stage, Value count, int64_t copies, ValueRange sums) {
  auto add = [&]() -> Sums {
    return code.loop(
        0, count, 1, sums, [&](Value term, ValueRange own) { return addTerm(stage, term, own); }, copies);
  };
  if (!tile.isThin())
    return add();
  Value hasRow = code.compare(arith::CmpIPredicate::slt, code.add(firstRow, threadRow), loops.m.size.value);
  return code.choose(hasRow, sums.getTypes(), add, [&] { return Sums(sums); });
}

/// Found anew, it takes no registers before. Where the number is known, it takes none at all; but of few stages, ptxas
/// would put all into one piece of code.
Value TileEmitter::countTermsAnew() {
  constexpr int64_t fewStages = 16;
  const kernels::Extent &size = loops.contracted.front().size;
  bool isLoop = size.isKnown() && size.known > fewStages * tile.terms;
  return isLoop ? product.countTerms() : makeOpaque(code, product.countTerms());
}

/// The first term of the last whole stage. It is found anew in each stage, which takes less registers.
Value TileEmitter::findLastStage() {
  Value terms = countTermsAnew();
  return code.subtract(code.subtract(terms, code.remainder(terms, tile.terms)), tile.terms);
}

/// The next stage is on its way from memory while one is added up.
TileEmitter::Sums TileEmitter::emitStages(Value end, Sums sums) {
  sums.push_back(code.constant(0));
  Sums added = code.rolledLoop(0, end, tile.terms, sums, [&](Value first, ValueRange carried) {
    Value last = findLastStage();
    SmallVector<Value> brought = bring(code.min(code.add(first, tile.terms), last), /*isRest=*/false);
    Value stage = carried.back(), other = code.subtract(stageSize, stage);
    Sums next = addTerms(stage, code.constant(tile.terms), /*copies=*/tile.terms, carried.drop_back());
    keep(brought, other);
    synchronise();
    next.push_back(other);
    return next;
  });
  added.pop_back();
  return added;
}

/// Several stages are on their way, each in registers of its own: none is moved before it has come.
TileEmitter::Sums TileEmitter::emitStagesAhead(Value stages, Value end, Sums sums) {
  Value own = code.multiply(code.divide(stages, tile.ahead), tile.ahead * tile.terms);
  size_t count = sums.size(), size = a.count + b.count;
  auto bringStage = [&](Value first, int64_t number) {
    Value last = findLastStage();
    return bring(code.min(code.add(first, number * tile.terms), last), /*isRest=*/false);
  };
  auto addStage = [&](int64_t number, int64_t copies, ValueRange before, ArrayRef<Value> brought) {
    Value stage = code.constant(number % 2 * stageSize), other = code.constant((number + 1) % 2 * stageSize);
    Sums next = addTerms(stage, code.constant(tile.terms), copies, before);
    keep(brought, other);
    synchronise();
    return next;
  };
  for (int64_t number = 0; number < tile.ahead; ++number)
    llvm::append_range(sums, bringStage(code.constant(0), number + 1));
  Sums all = code.rolledLoop(0, own, tile.ahead * tile.terms, sums, [&](Value first, ValueRange carried) {
    Sums next(carried.take_front(count));
    SmallVector<Value> following;
    for (int64_t number = 0; number < tile.ahead; ++number) {
      SmallVector<Value> brought(carried.slice(count + number * size, size));
      next = addStage(number, kCopies, next, brought);
      llvm::append_range(following, bringStage(first, number + 1 + tile.ahead));
    }
    llvm::append_range(next, following);
    return next;
  });
  // What is left of whole stages.
  SmallVector<Value> brought(ArrayRef(all).drop_front(count));
  all.truncate(count);
  SmallVector<Type> types(ValueRange(all).getTypes());
  for (int64_t number = 0; number + 1 < tile.ahead; ++number) {
    Value isThere = code.compare(arith::CmpIPredicate::slt, code.add(own, number * tile.terms), end);
    all = code.choose(
        isThere, types, [&] { return addStage(number, kCopies, all, ArrayRef(brought).slice(number * size, size)); },
        [&] { return all; });
  }
  return all;
}

TileEmitter::Sums TileEmitter::emitWholeStages(Value stages, Sums sums) {
  Value end = code.multiply(stages, tile.terms);
  keep(bring(code.constant(0), /*isRest=*/false), code.constant(0));
  synchronise();
  return tile.ahead == 1 ? emitStages(end, sums) : emitStagesAhead(stages, end, sums);
}

/// No term of zeros is added, which would make +0 of -0.
TileEmitter::Sums TileEmitter::emitRest(Value first, Value count, Sums sums) {
  keep(bring(first, /*isRest=*/true), code.constant(0));
  synchronise();
  Sums added = addTerms(code.constant(0), count, /*copies=*/1, sums);
  synchronise();
  return added;
}

//===------------------------------------------- elements ---------------------------------------------------------===//

void TileEmitter::forGroups(function_ref<void(Value)> body) {
  for (int64_t row = 0; row < tile.getGroup(); ++row)
    for (int64_t group = 0; group < tile.threadColumns / tile.getGroup(); ++group)
      body(code.add(code.multiply(code.add(sliceRow, row), getSlicePitch()),
                    code.add(threadColumn, group * getWarpColumns())));
}

TileEmitter::Sums TileEmitter::emitOwnStarts() {
  if (!tile.isThin() || product.kernel.getStart())
    return emitStarts(tile.threadRows * tile.threadColumns,
                      [&](Sums &sums) { forGroups([&](Value slot) { loadVector(slot, sums); }); });
  Sums sums;
  for (int64_t row = 0; row < tile.threadRows; ++row)
    sums.push_back(product.loadStart(getPlace(code.add(threadRow, row), threadColumn)));
  return sums;
}

void TileEmitter::finish(ArrayRef<Value> sums) {
  if (tile.isThin()) {
    for (auto [row, sum] : llvm::enumerate(sums))
      product.finish(getPlace(code.add(threadRow, int64_t(row)), threadColumn), sum);
    return;
  }
  finishSlices([&](int64_t) {
    forGroups([&](Value slot) {
      storeVector(sums.take_front(tile.getGroup()), slot);
      sums = sums.drop_front(tile.getGroup());
    });
  });
}

/// What is found anew needs no registers while terms are added. A large tile is the only one of its block.
void TileEmitter::findAnew() {
  if (!tile.isLarge())
    return;
  auto read = [&](StringRef name) { return code.castInteger(readAnew(code, code.getLoc(), name), code.getI64Type()); };
  findThread(read("%tid.x"));
  findTile(read("%ctaid.x"), /*isAgain=*/true);
}

void TileEmitter::emitTile(Value number) {
  findTile(number);
  Sums sums = emitOwnStarts();
  if (hasPairs())
    sums = pack(sums);
  SmallVector<Type> types(ValueRange(sums).getTypes());
  auto isSome = [&](Value count) { return code.compare(arith::CmpIPredicate::sgt, count, 0); };
  auto keepSums = [&] { return sums; };
  Value stages = code.divide(product.countTerms(), tile.terms);
  sums = code.choose(
      isSome(stages), types, [&] { return emitWholeStages(stages, sums); }, keepSums);
  Value terms = countTermsAnew(), left = code.remainder(terms, tile.terms);
  auto addRest = [&] {
    findAnew();
    return emitRest(code.subtract(terms, left), left, sums);
  };
  sums = code.choose(isSome(left), types, addRest, keepSums);
  findAnew();
  finish(hasPairs() ? unpack(sums) : sums);
}
