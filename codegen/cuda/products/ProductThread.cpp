// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/products/ProductThread.h"

#include "codegen/cuda/rows/Shuffles.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::contraction;

static constexpr unsigned kA = KernelLoops::kA, kB = KernelLoops::kB;
/// Terms that stand one after the other in the code, so that their loads need not wait for each other.
static constexpr int64_t kUnrolledTerms = 4;

ProductThread::ProductThread(Code &code, kernels::KernelBody &body, contraction::KernelOp kernel)
    : product(code, body, kernel), code(code), loops(product.loops), shape(ProductShape::choose(loops)) {
  Value thread = getNumber<NVVM::ThreadIdXOp>(code);
  warpThread = code.remainder(thread, kWarpThreads);
  warp = code.divide(thread, kWarpThreads);
  if (!shape.sharesChains)
    return;
  shared.emplace(code, loops.arithmetic, shape.getWarps() * shape.tile * kWarpThreads, ".chains");
}

static SmallVector<Value> getSizes(ArrayRef<contraction::Loop> loops) {
  return llvm::map_to_vector(loops, [](const contraction::Loop &loop) { return loop.size.value; });
}

//===------------------------------------------- which elements ---------------------------------------------------===//

Value ProductThread::countUnits(Code &code, const KernelLoops &loops, const ProductShape &shape) {
  Value units = code.multiply(code.ceilDivide(shape.getThreadLoop(loops).size.value, code.constant(kWarpThreads)),
                              code.ceilDivide(shape.getTileLoop(loops).size.value, code.constant(shape.tile)));
  for (const contraction::Loop &loop : loops.batches)
    units = code.multiply(units, loop.size.value);
  return units;
}

ProductThread::Elements ProductThread::findElements(Value unit) {
  Elements elements;
  Value threads = shape.getThreadLoop(loops).size.value, tiled = shape.getTileLoop(loops).size.value;
  Value warps = code.ceilDivide(threads, code.constant(kWarpThreads));
  Value tiles = code.ceilDivide(tiled, code.constant(shape.tile)), rest = code.divide(unit, warps);
  Value thread = code.add(code.multiply(code.remainder(unit, warps), kWarpThreads), warpThread);
  Value last = code.subtract(threads, 1);
  elements.isThere = code.isAtMost(thread, last);
  elements.thread = code.min(thread, last);
  elements.tile = code.multiply(code.remainder(rest, tiles), shape.tile);
  elements.batch = code.delinearize(code.divide(rest, tiles), getSizes(loops.batches));
  return elements;
}

void ProductThread::emit() {
  Value block = getNumber<NVVM::BlockIdXOp>(code), blocks = getNumber<NVVM::GridDimXOp>(code);
  int64_t unitsOfBlock = shape.getUnitsOfBlock();
  Value first = code.multiply(block, unitsOfBlock), step = code.multiply(blocks, unitsOfBlock);
  if (!shape.sharesChains)
    first = code.add(first, warp);
  code.rolledLoop(first, countUnits(code, loops, shape), step, [&](Value unit) {
    Elements elements = findElements(unit);
    shape.sharesChains ? emitSharedChains(elements) : emitUnit(elements);
  });
}

Value ProductThread::getTile(const Elements &elements, int64_t number) {
  Value tile = number == 0 ? elements.tile : code.add(elements.tile, number);
  const kernels::Extent &size = shape.getTileLoop(loops).size;
  if (number == 0 || (size.isKnown() && size.known % shape.tile == 0))
    return tile;
  return code.min(tile, code.subtract(size.value, 1));
}

bool ProductThread::isAlongThreads(unsigned factor) const { return (factor == kA) == shape.goesAlongRows; }

ElementPlace ProductThread::getPlace(const Elements &elements, Value tile) const {
  return {elements.batch, shape.goesAlongRows ? elements.thread : tile, shape.goesAlongRows ? tile : elements.thread,
          elements.isThere};
}

void ProductThread::finish(const Elements &elements, Value tile, Value sum) {
  ElementPlace place = getPlace(elements, tile);
  place.isThere =
      code.both(place.isThere, code.compare(arith::CmpIPredicate::slt, tile, shape.getTileLoop(loops).size.value));
  product.finish(place, sum);
}

//===------------------------------------------- chains -----------------------------------------------------------===//

/// Terms are numbered through all contracted loops. Those that differ in the innermost one alone are a run.
ProductThread::Sums ProductThread::emitTerms(const Elements &elements, Value first, Value end, Sums sums) {
  if (loops.contracted.size() == 1)
    return emitRun(elements, {}, first, end, sums);
  Value length = loops.contracted.back().size.value, isSome = code.compare(arith::CmpIPredicate::slt, first, end);
  // Without terms, a length of 0 divides nothing.
  length = code.max(length, 1);
  Value lines = code.select(isSome, code.ceilDivide(end, length), code.constant(0));
  return code.rolledLoop(code.divide(first, length), lines, 1, sums, [&](Value line, ValueRange carried) {
    SmallVector<Value> outer = code.delinearize(line, getSizes(ArrayRef(loops.contracted).drop_back()));
    Value start = code.multiply(line, length);
    Value from = code.max(code.subtract(first, start), 0), to = code.min(code.subtract(end, start), length);
    return emitRun(elements, outer, from, to, llvm::to_vector(carried));
  });
}

ProductThread::Sums ProductThread::emitRun(const Elements &elements, ValueRange outer, Value first, Value end,
                                           Sums sums) {
  auto atOuter = [&](unsigned operand, Value tile) {
    Value offset = product.getOffset(getPlace(elements, tile), operand);
    for (auto [i, index] : llvm::enumerate(outer))
      offset = code.add(offset, code.multiply(index, loops.contracted[i].strides[operand].value));
    return offset;
  };
  unsigned threadFactor = shape.goesAlongRows ? kA : kB, tileFactor = shape.goesAlongRows ? kB : kA;
  Value own = atOuter(threadFactor, elements.tile);
  SmallVector<Value> others, scales;
  for (int64_t i = 0; i < shape.tile; ++i)
    others.push_back(atOuter(tileFactor, getTile(elements, i)));
  for (int64_t i = 0; loops.hasRowScale && i < (shape.goesAlongRows ? 1 : shape.tile); ++i)
    scales.push_back(product.load(loops.getRowScale(),
                                  product.getOffset(getPlace(elements, getTile(elements, i)), loops.getRowScale())));
  // The number of the run's first term, should one be there.
  Value before = code.constant(0);
  for (auto [i, index] : llvm::enumerate(outer))
    before = code.multiply(code.add(before, index), loops.contracted[i + 1].size.value);
  auto load = [&](unsigned factor, Value offset, Value term, int64_t number) {
    Value at = code.add(offset, code.multiply(term, loops.contracted.back().strides[factor].value));
    if (product.isPacked(factor))
      at = product.locatePacked(isAlongThreads(kB) ? elements.thread : getTile(elements, number),
                                code.add(before, term));
    Value element = product.widen(product.load(factor, at));
    return factor == kA && loops.hasRowScale ? code.multiply(element, scales[number]) : element;
  };
  auto addTerm = [&](Value term, ValueRange carried) {
    Value factor = load(threadFactor, own, term, 0);
    Sums next;
    for (int64_t i = 0; i < shape.tile; ++i) {
      Value other = load(tileFactor, others[i], term, i);
      next.push_back(code.fma(shape.goesAlongRows ? factor : other, shape.goesAlongRows ? other : factor, carried[i]));
    }
    return next;
  };
  return code.loop(first, end, 1, sums, addTerm, kUnrolledTerms);
}

void ProductThread::emitUnit(const Elements &elements) {
  Sums sums;
  for (int64_t i = 0; i < shape.tile; ++i)
    sums.push_back(product.loadStart(getPlace(elements, getTile(elements, i))));
  sums = emitTerms(elements, code.constant(0), product.countTerms(), sums);
  for (auto [i, sum] : llvm::enumerate(sums))
    finish(elements, i == 0 ? elements.tile : code.add(elements.tile, int64_t(i)), sum);
}

Value ProductThread::getSlot(Value ofWarp, Value tile) {
  Value place = code.add(code.multiply(ofWarp, shape.tile), tile);
  Value slot = code.add(code.multiply(place, kWarpThreads), warpThread);
  return shared->getAddress(code, slot);
}

/// Every warp sums a chain, and leaves its sums in shared memory; then warp i adds up those of element i, in order.
void ProductThread::emitSharedChains(const Elements &elements) {
  int64_t warps = shape.getWarps();
  Value start = product.loadStart(getPlace(elements, elements.tile)), terms = product.countTerms();
  Value number = code.min(warp, shape.tile - 1);
  auto addChains = [&](Value firstTerm, ValueRange total) -> SmallVector<Value> {
    Value first = code.min(code.add(firstTerm, code.multiply(warp, loops.chain)), terms);
    Value end = code.min(code.add(first, loops.chain), terms);
    Sums sums = emitTerms(elements, first, end, Sums(shape.tile, start));
    for (int64_t i = 0; i < shape.tile; ++i)
      code.create<LLVM::StoreOp>(sums[i], getSlot(warp, code.constant(i)));
    code.create<NVVM::Barrier0Op>();
    Value sum = total.front();
    for (int64_t i = 0; i < warps; ++i) {
      Value chain = code.create<LLVM::LoadOp>(loops.arithmetic, getSlot(code.constant(i), number));
      Value next = code.add(sum, chain), chainStart = code.add(firstTerm, i * loops.chain);
      if (i == 0)
        next = code.select(code.isEqual(firstTerm, code.constant(0)), chain, next);
      sum = code.select(code.compare(arith::CmpIPredicate::slt, chainStart, terms), next, sum);
    }
    code.create<NVVM::Barrier0Op>();
    return {sum};
  };
  Value sum = code.rolledLoop(0, terms, warps * loops.chain, ValueRange(start), addChains).front();
  Value tile = code.add(elements.tile, warp), isOne = code.isAtMost(warp, code.constant(shape.tile - 1));
  code.choose(isOne, [&] { finish(elements, tile, sum); });
}
