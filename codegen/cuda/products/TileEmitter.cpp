// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/products/TileEmitter.h"

#include "codegen/cuda/rows/Shuffles.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::contraction;

static constexpr int64_t kVectorBytes = 16;
/// Between terms in shared memory, so that threads which store neighbouring terms meet in fewer of its banks.
static constexpr int64_t kPadding = 4;
/// Of a slice: the eight rows of four that a warp has, of two rows of warps.
static constexpr int64_t kGroup = 4, kWarpRows = 8 * kGroup, kSliceRows = 2 * kWarpRows, kThreadColumns = 4 * kGroup;

//===------------------------------------------- places -----------------------------------------------------------===//

TileEmitter::TileEmitter(Code &code, kernels::KernelBody &body, contraction::KernelOp kernel, const ProductTile &tile)
    : product(code, body, kernel), code(code), loops(product.loops), tile(tile) {
  findThread(getNumber<NVVM::ThreadIdXOp>(code));
  a = makeFactor(KernelLoops::kA, tile.rows, /*begin=*/0);
  b = makeFactor(KernelLoops::kB, tile.columns, a.pitch * tile.terms);
  stageSize = (a.pitch + b.pitch) * tile.terms;
  vectorSize = kVectorBytes * 8 / Type(loops.arithmetic).getIntOrFloatBitWidth();
  int64_t sliceSize = tile.isThin() ? 0 : kSliceRows * b.pitch;
  shared.emplace(code, body, loops.arithmetic, std::max(2 * stageSize, sliceSize));
}

/// A number of the thread as i64, which LLVM does not know to be what it has read before.
Value TileEmitter::readAnew(StringRef name) {
  auto read = code.create<LLVM::InlineAsmOp>(code.getI32Type(), ValueRange(), ("mov.u32 $0, " + name + ";").str(), "=r",
                                             /*has_side_effects=*/true, /*is_align_stack=*/false,
                                             LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
  return code.castInteger(read.getResult(0), code.getI64Type());
}

void TileEmitter::findThread(Value number) {
  thread = number;
  if (tile.isThin()) {
    threadRow = code.divide(thread, tile.columns);
    threadColumn = code.remainder(thread, tile.columns);
    return;
  }
  // Eight warps as two rows of four, and the threads of each as eight rows of four.
  Value warp = code.divide(thread, kWarpThreads), lane = code.remainder(thread, kWarpThreads);
  Value warpRow = code.remainder(warp, 2), ownRow = code.multiply(code.remainder(code.divide(lane, 2), 8), kGroup);
  Value ownColumn = code.add(code.remainder(lane, 2), code.multiply(code.divide(lane, 16), 2));
  threadRow = code.add(code.multiply(warpRow, tile.rows / 2), ownRow);
  threadColumn = code.add(code.multiply(code.divide(warp, 2), tile.columns / 4), code.multiply(ownColumn, kGroup));
  sliceRow = code.add(code.multiply(warpRow, kWarpRows), ownRow);
}

void TileEmitter::findTile(Value number) {
  Value columns = code.ceilDivide(loops.n.size.value, code.constant(tile.columns));
  Value rows = code.ceilDivide(loops.m.size.value, code.constant(tile.rows)), rest = code.divide(number, columns);
  firstColumn = code.multiply(code.remainder(number, columns), tile.columns);
  firstRow = code.multiply(code.remainder(rest, rows), tile.rows);
  SmallVector<Value> sizes;
  for (const contraction::Loop &loop : loops.batches)
    sizes.push_back(loop.size.value);
  batch = code.delinearize(code.divide(rest, rows), sizes);
}

TileEmitter::Factor TileEmitter::makeFactor(unsigned operand, int64_t size, int64_t begin) {
  Factor factor{operand, size, size + kPadding, begin, /*isAlongTerms=*/false, /*count=*/0, /*step=*/0, {}, {}};
  bool isPacked = operand == KernelLoops::kB && loops.isPacked;
  factor.isAlongTerms = !isPacked && loops.contracted.front().strides[operand].is(1);
  factor.count = size * tile.terms / ProductTile::kThreads;
  int64_t neighbours = factor.isAlongTerms ? tile.terms : size;
  factor.step = ProductTile::kThreads / neighbours;
  Value along = code.remainder(thread, neighbours), across = code.divide(thread, neighbours);
  factor.place = factor.isAlongTerms ? across : along;
  factor.term = factor.isAlongTerms ? along : across;
  return factor;
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

ElementPlace TileEmitter::getPlace(Value row, Value column) {
  row = code.add(firstRow, row);
  column = code.add(firstColumn, column);
  Value hasRow = code.compare(arith::CmpIPredicate::slt, row, loops.m.size.value);
  Value hasColumn = code.compare(arith::CmpIPredicate::slt, column, loops.n.size.value);
  return {batch, row, column, code.both(hasRow, hasColumn)};
}

//===------------------------------------------- shared memory ----------------------------------------------------===//

/// Four elements.
void TileEmitter::loadVector(Value index, Sums &elements) {
  auto type = VectorType::get(vectorSize, loops.arithmetic);
  for (int64_t first = 0; first < kGroup; first += vectorSize) {
    Value vector = code.create<LLVM::LoadOp>(type, shared->getAddress(code, code.add(index, first)), kVectorBytes);
    for (int64_t i = 0; i < vectorSize; ++i)
      elements.push_back(code.create<LLVM::ExtractElementOp>(vector, code.constant(i)));
  }
}

void TileEmitter::storeVector(ArrayRef<Value> elements, Value index) {
  for (int64_t first = 0; first < kGroup; first += vectorSize)
    code.create<LLVM::StoreOp>(makeVector(code, elements.slice(first, vectorSize)),
                               shared->getAddress(code, code.add(index, first)), kVectorBytes);
}

void TileEmitter::synchronise() { code.create<NVVM::Barrier0Op>(); }

//===------------------------------------------- terms ------------------------------------------------------------===//

/// Where an element is in memory. All that a thread brings are as far apart as the first from the second, so that one
/// address serves them.
Value TileEmitter::getOffset(const Factor &factor, Value first, int64_t number) {
  const contraction::Loop &terms = loops.contracted.front(), &other = getOther(factor);
  Value place = code.add(getFirst(factor), factor.place), term = code.add(first, factor.term);
  int64_t distance = number * factor.step;
  if (factor.operand == KernelLoops::kB && loops.isPacked)
    return product.locatePacked(place, code.add(term, distance));
  Value start = code.add(product.getOffset({batch, place, place, Value()}, factor.operand),
                         code.multiply(term, terms.strides[factor.operand].value));
  Value stride = (factor.isAlongTerms ? other : terms).strides[factor.operand].value;
  return code.add(start, code.multiply(stride, distance));
}

SmallVector<Value> TileEmitter::bring(const Factor &factor, Value first, bool isRest) {
  const kernels::Extent &size = getOther(factor).size;
  bool isWhole = size.isKnown() && size.known % factor.size == 0 && !isRest;
  Type type = loops.operands[factor.operand].elementType;
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
    auto [place, term] = getElement(factor, number);
    Value isThere = code.compare(arith::CmpIPredicate::slt, code.add(getFirst(factor), place), size.value);
    if (isRest)
      isThere = code.both(
          isThere, code.compare(arith::CmpIPredicate::slt, code.add(first, term), loops.contracted.front().size.value));
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
                                 shared->getAddress(code, getSlot(*factor, number, stage)));
      elements = elements.drop_front();
    }
}

TileEmitter::Sums TileEmitter::addTerm(Value stage, Value term, ValueRange sums) {
  Value atA = code.add(code.add(stage, code.multiply(term, a.pitch)), threadRow);
  Value atB = code.add(code.add(code.add(stage, b.begin), code.multiply(term, b.pitch)), threadColumn);
  Sums rows, columns;
  if (tile.isThin()) {
    rows.push_back(code.create<LLVM::LoadOp>(loops.arithmetic, shared->getAddress(code, atA)));
    columns.push_back(code.create<LLVM::LoadOp>(loops.arithmetic, shared->getAddress(code, atB)));
  }
  for (int64_t group = 0; group < tile.threadRows / kGroup; ++group)
    loadVector(code.add(atA, group * kWarpRows), rows);
  for (int64_t group = 0; group < tile.threadColumns / kGroup; ++group)
    loadVector(code.add(atB, group * kThreadColumns), columns);
  Sums next;
  for (Value row : rows)
    for (Value column : columns)
      next.push_back(code.fma(row, column, sums[next.size()]));
  return next;
}

/// Warps of a thin tile have a row each. Those whose row is not there leave shared memory to the others.
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

/// The next stage is on its way from memory while one is added up.
TileEmitter::Sums TileEmitter::emitWholeStages(Value stages, Sums sums) {
  keep(bring(code.constant(0), /*isRest=*/false), code.constant(0));
  synchronise();
  Value end = code.multiply(stages, tile.terms), last = code.subtract(end, tile.terms);
  sums.push_back(code.constant(0));
  Sums added = code.rolledLoop(0, end, tile.terms, sums, [&](Value first, ValueRange carried) {
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

/// No term of zeros is added, which would make +0 of -0.
TileEmitter::Sums TileEmitter::emitRest(Value first, Value count, Sums sums) {
  keep(bring(first, /*isRest=*/true), code.constant(0));
  synchronise();
  Sums added = addTerms(code.constant(0), count, /*copies=*/1, sums);
  synchronise();
  return added;
}

//===------------------------------------------- elements ---------------------------------------------------------===//

Value TileEmitter::getSliceSlot(int64_t row, int64_t column) {
  return code.add(code.multiply(code.add(sliceRow, row), b.pitch), code.add(threadColumn, column));
}

void TileEmitter::forSlice(int64_t slice, function_ref<void(const ElementPlace &place, Value slot)> body) {
  code.rolledLoop(thread, kSliceRows * tile.columns, ProductTile::kThreads, [&](Value number) {
    Value row = code.divide(number, tile.columns), column = code.remainder(number, tile.columns);
    Value slot = code.add(code.multiply(row, b.pitch), column);
    Value ofTile = code.add(code.multiply(code.divide(row, kWarpRows), tile.rows / 2), code.remainder(row, kWarpRows));
    body(getPlace(code.add(ofTile, slice * kWarpRows), column), shared->getAddress(code, slot));
  });
}

TileEmitter::Sums TileEmitter::emitStarts() {
  if (tile.isThin())
    return {product.loadStart(getPlace(threadRow, threadColumn))};
  if (product.kernel.getStart())
    return Sums(tile.threadRows * tile.threadColumns, product.loadStart({}));
  Sums sums;
  for (int64_t slice = 0; slice < getSlices(); ++slice) {
    forSlice(slice, [&](const ElementPlace &place, Value slot) {
      code.create<LLVM::StoreOp>(product.loadStart(place), slot);
    });
    synchronise();
    for (int64_t row = 0; row < kGroup; ++row)
      for (int64_t group = 0; group < tile.threadColumns / kGroup; ++group)
        loadVector(getSliceSlot(row, group * kThreadColumns), sums);
    synchronise();
  }
  return sums;
}

void TileEmitter::finish(ArrayRef<Value> sums) {
  if (tile.isThin())
    return product.finish(getPlace(threadRow, threadColumn), sums.front());
  for (int64_t slice = 0; slice < getSlices(); ++slice) {
    for (int64_t row = 0; row < kGroup; ++row)
      for (int64_t group = 0; group < tile.threadColumns / kGroup; ++group) {
        storeVector(sums.take_front(kGroup), getSliceSlot(row, group * kThreadColumns));
        sums = sums.drop_front(kGroup);
      }
    synchronise();
    forSlice(slice, [&](const ElementPlace &place, Value slot) {
      product.finish(place, code.create<LLVM::LoadOp>(loops.arithmetic, slot));
    });
    synchronise();
  }
}

void TileEmitter::emitTile(Value number) {
  findTile(number);
  Sums sums = emitStarts();
  SmallVector<Type> types(sums.size(), loops.arithmetic);
  Value terms = product.countTerms(), stages = code.divide(terms, tile.terms), left = code.remainder(terms, tile.terms);
  auto isSome = [&](Value count) { return code.compare(arith::CmpIPredicate::sgt, count, 0); };
  auto keepSums = [&] { return sums; };
  sums = code.choose(
      isSome(stages), types, [&] { return emitWholeStages(stages, sums); }, keepSums);
  sums = code.choose(
      isSome(left), types, [&] { return emitRest(code.multiply(stages, tile.terms), left, sums); }, keepSums);
  // What is found anew needs no registers while terms are added. So does a block that has one tile alone.
  if (tile.isLarge()) {
    findThread(readAnew("%tid.x"));
    findTile(readAnew("%ctaid.x"));
  }
  finish(sums);
}

void TileEmitter::emit() {
  Value block = getNumber<NVVM::BlockIdXOp>(code), blocks = getNumber<NVVM::GridDimXOp>(code);
  if (tile.isLarge())
    return emitTile(block);
  code.rolledLoop(block, tile.count(code, loops), blocks, [&](Value number) { emitTile(number); });
}
