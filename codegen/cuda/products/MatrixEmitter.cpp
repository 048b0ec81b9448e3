// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/products/MatrixEmitter.h"

#include "codegen/cuda/MatrixUnits.h"
#include "codegen/cuda/rows/Shuffles.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::contraction;

/// Of one copy.
static constexpr int64_t kPieceBytes = 16;
static constexpr int64_t kRows = kMatrixRows, kColumns = kMatrixColumns;

MatrixEmitter::MatrixEmitter(Code &code, kernels::KernelBody &body, contraction::KernelOp kernel,
                             const ProductTile &tile)
    : TileBlock(code, body, kernel, tile), element(loops.operands[KernelLoops::kA].elementType),
      piece(kPieceBytes / kernels::getElementBytes(element)) {
  a = makeFactor(KernelLoops::kA, tile.rows, /*begin=*/0);
  b = makeFactor(KernelLoops::kB, tile.columns, tile.rows * tile.terms);
  stageSize = (tile.rows + tile.columns) * tile.terms;
  lane = code.remainder(thread, kWarpThreads);
  Value warp = code.divide(thread, kWarpThreads);
  warpRow = code.multiply(code.remainder(warp, 2), getRows());
  warpColumn = code.multiply(code.divide(warp, 2), getColumns());
}

//===------------------------------------------- to shared memory -------------------------------------------------===//

MatrixEmitter::Factor MatrixEmitter::makeFactor(unsigned operand, int64_t size, int64_t begin) {
  bool isPacked = product.isPacked(operand);
  bool isAlongOther = !isPacked && !element.isInteger(8) && getOther(operand).strides[operand].is(1) &&
                      !loops.contracted.front().strides[operand].is(1);
  Factor factor{operand, size, begin, isAlongOther ? size : tile.terms, !isAlongOther, Value()};
  if (isAlongOther || (!isPacked && loops.contracted.front().strides[operand].is(1)))
    factor.isAligned = findAlignment(factor);
  return factor;
}

Value MatrixEmitter::findAlignment(const Factor &factor) {
  Value all = code.toInteger(loops.pointers[factor.operand]);
  auto look = [&](const contraction::Loop &loop) {
    all = code.either(all, code.multiply(loop.strides[factor.operand].value, kernels::getElementBytes(element)));
  };
  llvm::for_each(loops.batches, look);
  look(factor.isAlongTerms ? getOther(factor.operand) : loops.contracted.front());
  return code.isEqual(code.both(all, kPieceBytes - 1), 0);
}

Value MatrixEmitter::getSlot(const Factor &factor, Value stage, Value line, Value pieceOfLine) {
  // Lines of 64 bytes repeat their banks every two lines.
  Value change = factor.isAlongTerms ? code.both(code.divide(line, 2), 3) : code.both(line, 7);
  Value inLine = code.multiply(code.exclusiveOr(pieceOfLine, change), piece);
  return code.add(code.add(stage, factor.begin), code.add(code.multiply(line, factor.line), inLine));
}

void MatrixEmitter::bringElements(const Factor &factor, const ElementPlace &place, Value term, Value count,
                                  Value slot) {
  Value start = product.getOffset(place, factor.operand);
  const contraction::Loop &terms = loops.contracted.front();
  SmallVector<Value> elements;
  Value zero = code.create<arith::ConstantOp>(code.getZeroAttr(element));
  for (int64_t i = 0; i < piece; ++i) {
    auto load = [&]() -> SmallVector<Value> {
      Value own = factor.isAlongTerms ? code.add(term, i) : term;
      if (product.isPacked(factor.operand))
        return {product.load(factor.operand, product.locatePacked(place.column, own))};
      Value offset = code.add(start, code.multiply(own, terms.strides[factor.operand].value));
      if (!factor.isAlongTerms)
        offset = code.add(offset, code.multiply(getOther(factor.operand).strides[factor.operand].value, i));
      return {product.load(factor.operand, offset)};
    };
    auto leaveOut = [&]() -> SmallVector<Value> { return {zero}; };
    Value isThere = code.compare(arith::CmpIPredicate::sgt, count, i);
    elements.push_back(code.choose(isThere, element, load, leaveOut).front());
  }
  code.create<LLVM::StoreOp>(makeVector(code, elements), at(slot), unsigned(kPieceBytes));
}

void MatrixEmitter::bring(const Factor &factor, Value first, Value stage) {
  int64_t pieces = factor.line / piece, all = factor.size * tile.terms / piece;
  Value places = getOther(factor.operand).size.value, terms = product.countTerms();
  for (int64_t number = 0; number < all / ProductTile::kThreads; ++number) {
    Value own = code.add(thread, number * ProductTile::kThreads);
    Value line = code.divide(own, pieces), ofLine = code.remainder(own, pieces);
    Value along = code.multiply(ofLine, piece), slot = getSlot(factor, stage, line, ofLine);
    Value place = code.add(getFirst(factor.operand), factor.isAlongTerms ? line : along);
    Value term = code.add(first, factor.isAlongTerms ? along : line);
    // How many elements of the piece there are.
    Value left = factor.isAlongTerms ? code.subtract(terms, term) : code.subtract(places, place);
    Value hasLine = factor.isAlongTerms ? code.compare(arith::CmpIPredicate::slt, place, places)
                                        : code.compare(arith::CmpIPredicate::slt, term, terms);
    Value count = code.select(hasLine, code.max(code.min(left, piece), 0), 0);
    ElementPlace at{batch, place, place, Value()};
    auto bringSlowly = [&] { bringElements(factor, at, term, count, slot); };
    if (!factor.isAligned) {
      bringSlowly();
      continue;
    }
    auto copy = [&] {
      Value stride = loops.contracted.front().strides[factor.operand].value;
      Value offset = code.add(product.getOffset(at, factor.operand), code.multiply(term, stride));
      Value from = code.at(loops.pointers[factor.operand], element, offset);
      from = code.create<LLVM::AddrSpaceCastOp>(
          LLVM::LLVMPointerType::get(code.getContext(), unsigned(NVVM::NVVMMemorySpace::Global)), from);
      Value bytes = code.castInteger(code.multiply(count, kernels::getElementBytes(element)), code.getI32Type());
      code.create<NVVM::CpAsyncOp>(this->at(slot), from, kPieceBytes, NVVM::LoadCacheModifierKind::CG, bytes);
    };
    code.choose(factor.isAligned, copy, bringSlowly);
  }
}

//===------------------------------------------- products ---------------------------------------------------------===//

MatrixEmitter::Fragment MatrixEmitter::loadFragment(const Factor &factor, Value stage, Value first, int64_t number) {
  // Lanes 8 m to 8 m + 7 have the rows of matrix m. Of a, matrices 0 and 1 have the first half of the terms; of b, 0
  // and 2.
  Value inMatrix = code.both(lane, 7), low = code.both(code.divide(lane, 8), 1), high = code.divide(lane, 16);
  bool isA = factor.operand == KernelLoops::kA;
  Value ofPlaces = isA ? low : high, ofTerms = isA ? high : low, line, ofLine;
  if (factor.isAlongTerms) {
    line = code.add(first, code.add(inMatrix, code.multiply(ofPlaces, kMatrixPiece)));
    ofLine = code.add(ofTerms, 2 * number);
  } else {
    line = code.add(code.add(inMatrix, code.multiply(ofTerms, kMatrixPiece)), number * kMatrixTerms);
    ofLine = code.add(code.divide(first, kMatrixPiece), ofPlaces);
  }
  return loadMatrices(code, element, at(getSlot(factor, stage, line, ofLine)), 4, !factor.isAlongTerms);
}

MatrixEmitter::Sums MatrixEmitter::multiply(Value stage, Sums sums) {
  for (int64_t number = 0; number < tile.terms / (2 * piece); ++number) {
    SmallVector<Fragment> rows, columns;
    for (int64_t row = 0; row < getRows(); row += kRows)
      rows.push_back(loadFragment(a, stage, code.add(warpRow, row), number));
    for (int64_t column = 0; column < getColumns(); column += 2 * kColumns) {
      Fragment two = loadFragment(b, stage, code.add(warpColumn, column), number);
      columns.emplace_back(ArrayRef(two).take_front(2));
      columns.emplace_back(ArrayRef(two).drop_front(2));
    }
    MutableArrayRef<Value> left = sums;
    for (const Fragment &row : rows)
      for (const Fragment &column : columns) {
        multiplyMatrices(code, element, row, column, left.take_front(4));
        left = left.drop_front(4);
      }
  }
  return sums;
}

//===------------------------------------------- tiles ------------------------------------------------------------===//

void MatrixEmitter::forPairs(function_ref<void(Value address)> body) {
  Value row = code.add(code.multiply(code.divide(warpRow, getRows()), kRows), code.divide(lane, 4));
  Value column = code.add(warpColumn, code.multiply(code.remainder(lane, 4), 2));
  for (int64_t ofWarp = 0; ofWarp < getColumns(); ofWarp += kColumns)
    for (int64_t below = 0; below < kRows; below += kRows / 2) {
      Value slot = code.add(code.multiply(code.add(row, below), getSlicePitch()), code.add(column, ofWarp));
      body(shared.getAddress(code, slot));
    }
}

void MatrixEmitter::emitTile(Value number) {
  findTile(number);
  auto pair = VectorType::get(2, loops.arithmetic);
  constexpr unsigned pairBytes = 8;
  int64_t count = tile.rows * tile.columns / ProductTile::kThreads;
  Sums sums = emitStarts(count, [&](Sums &own) {
    forPairs([&](Value address) {
      Value two = code.create<LLVM::LoadOp>(pair, address, pairBytes);
      for (int64_t i = 0; i < 2; ++i)
        own.push_back(code.create<LLVM::ExtractElementOp>(two, code.constant(i)));
    });
  });
  auto bringStage = [&](Value first, Value stage) {
    bring(a, first, stage);
    bring(b, first, stage);
    code.create<NVVM::CpAsyncCommitGroupOp>();
  };
  for (int64_t stage = 0; stage < tile.ahead; ++stage)
    bringStage(code.constant(stage * tile.terms), code.constant(stage * stageSize));
  // The stage that is added up, and the one that terms are brought into: the last one that was added up.
  auto next = [&](Value stage) {
    Value after = code.add(stage, stageSize);
    return code.select(code.isEqual(after, countStages() * stageSize), 0, after);
  };
  sums.append({code.constant(0), code.constant(tile.ahead * stageSize)});
  sums = code.rolledLoop(0, product.countTerms(), tile.terms, sums, [&](Value first, ValueRange carried) {
    Value own = carried[count], free = carried[count + 1];
    code.create<NVVM::CpAsyncWaitGroupOp>(tile.ahead - 1);
    synchronise();
    bringStage(code.add(first, tile.ahead * tile.terms), free);
    Sums after = multiply(own, Sums(carried.take_front(count)));
    after.append({next(own), next(free)});
    return after;
  });
  sums.truncate(count);
  code.create<NVVM::CpAsyncWaitGroupOp>(0);
  synchronise();
  ArrayRef<Value> left = sums;
  finishSlices([&](int64_t) {
    forPairs([&](Value address) {
      code.create<LLVM::StoreOp>(makeVector(code, left.take_front(2)), address, pairBytes);
      left = left.drop_front(2);
    });
  });
}
