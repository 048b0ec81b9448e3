// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products and weighted sums of a warp on matrix units, where the user lets them round as the chip does.

#include "codegen/cuda/MatrixUnits.h"
#include "codegen/cuda/attention/AttentionWarp.h"
#include "codegen/cuda/rows/Shuffles.h"
#include "codegen/kernels/ElementMemory.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::attention;

static_assert(kMatrixColumns == 8, "a warp's queries are the columns of a product");

/// Own rows are those of the product, and shared rows its columns.
AttentionWarp::Numbers AttentionWarp::multiplyOnMatrixUnits(const Rows &sharedRows, const Rows &ownRows) {
  Type element = getElementType(ownRows.operand);
  int64_t tiles = plan.ownRows * kWarpThreads / kMatrixRows, size = shape.operands[ownRows.operand].columns;
  Value low = code.both(code.divide(lane, kMatrixPiece), 1), high = code.divide(lane, 2 * kMatrixPiece);
  auto addTerms = [&](Value first, ValueRange carried) {
    code.create<NVVM::Barrier0Op>();
    copyRows(sharedRows, ownRows, first);
    code.create<NVVM::Barrier0Op>();
    Numbers sums(carried);
    Numbers b =
        loadMatrices(code, element, atTerm(shared, code.both(lane, 7), code.multiply(low, kMatrixPiece)), 2, false);
    for (int64_t tile = 0; tile < tiles; ++tile) {
      Value row = code.add(code.both(lane, 15), tile * kMatrixRows);
      Numbers a = loadMatrices(code, element, atTerm(own, row, code.multiply(high, kMatrixPiece)), 4, false);
      multiplyMatrices(code, element, a, b, MutableArrayRef(sums).slice(4 * tile, 4));
    }
    return sums;
  };
  Numbers sums = code.rolledLoop(0, size, plan.terms, Numbers(4 * tiles, constantFloat(0.0)), addTerms);
  code.create<NVVM::Barrier0Op>();
  return exchangeSums(sums, plan.ownRows);
}

/// Sums of a product's rows go to the threads that have these rows, by the memory of weights.
AttentionWarp::Numbers AttentionWarp::exchangeSums(ArrayRef<Value> sums, int64_t ownRows) {
  Value row = code.divide(lane, 4), column = code.multiply(code.remainder(lane, 4), 2);
  for (int64_t first = 0; !sums.empty(); first += kMatrixRows / 2, sums = sums.drop_front(2)) {
    Value slot = code.add(code.multiply(code.add(row, first), plan.sharedRows), column);
    code.create<LLVM::StoreOp>(makeVector(code, sums.take_front(2)), code.at(weights, getArithmetic(), slot), 8);
  }
  synchronize();
  Numbers exchanged(plan.sharedRows * ownRows);
  for (int64_t j = 0; j < ownRows; ++j)
    for (auto [i, sum] : llvm::enumerate(loadWeights(0, getOwn(code.constant(0), j))))
      exchanged[i * ownRows + j] = sum;
  synchronize();
  return exchanged;
}

/// A weight is the sum of three numbers that bf16 holds.
static SmallVector<Value> splitWeight(Code &code, Value weight) {
  auto cut = [&](Value number) { return code.fromBits(code.both(code.bits(number), -(int64_t(1) << 16))); };
  Value high = cut(weight), rest = code.subtract(weight, high), middle = cut(rest);
  return {high, middle, code.subtract(rest, middle)};
}

int64_t AttentionWarp::getTileColumns(unsigned operand) const {
  return int64_t(llvm::alignTo(shape.operands[operand].columns, kMatrixRows));
}

/// 16 rows at a time are in shared memory, for all warps of the block.
void AttentionWarp::copyTile(Value first, Value begin, Value end, unsigned operand, function_ref<Value(Value)> locate) {
  int64_t columns = getTileColumns(operand), size = shape.operands[operand].columns;
  Type element = getElementType(operand);
  auto copy = [&](Value number) {
    Value row = code.divide(number, columns), column = code.remainder(number, columns), own = code.add(first, row);
    Value isThere = code.both(code.isAtMost(begin, own), code.compare(arith::CmpIPredicate::slt, own, end));
    if (size != columns)
      isThere = code.both(isThere, code.isAtMost(column, size - 1));
    auto load = [&]() -> SmallVector<Value> {
      Value place = advance(locate(own), operand, kColumn, column);
      return {kernels::loadElement(code, code.getLoc(), element, place, code.constant(0), kernels::Alignment::Element)};
    };
    auto leaveOut = [&]() -> SmallVector<Value> { return {code.constant(element, 0.0)}; };
    code.create<LLVM::StoreOp>(code.choose(isThere, element, load, leaveOut).front(), atTile(row, column, operand));
  };
  code.rolledLoop(thread, kMatrixTerms * columns, plan.getThreads(), copy);
}

Value AttentionWarp::atTile(Value row, Value column, unsigned operand) {
  Value slot = code.add(code.multiply(row, getTileColumns(operand) + kMatrixPiece), column);
  return code.at(tile, getElementType(operand), slot);
}

/// Whether one of these is Inf or NaN.
Value AttentionWarp::isAnySpecial(ArrayRef<Value> sums) {
  Value isSpecial = code.truth(false);
  for (Value sum : sums)
    isSpecial = code.either(isSpecial, code.isNaN(code.subtract(sum, sum)));
  return isSpecial;
}

/// Columns of the rows are the rows of the product, and shared rows its columns.
AttentionWarp::Numbers AttentionWarp::multiplyWeights(int64_t list, Value begin, Value end, unsigned operand,
                                                      function_ref<Value(Value)> locate) {
  int64_t tiles = getTileColumns(operand) / kMatrixRows;
  Value query = code.divide(lane, 4), pair = code.multiply(code.remainder(lane, 4), 2);
  auto addTile = [&](Value key, ValueRange carried) {
    code.create<NVVM::Barrier0Op>();
    copyTile(key, begin, end, operand, locate);
    code.create<NVVM::Barrier0Op>();
    // Of each of the three numbers that a weight is.
    Numbers b[3];
    SmallVector<Numbers> parts;
    for (int64_t i = 0; i < 4; ++i) {
      Value own = code.add(code.add(key, pair), i % 2 + i / 2 * kMatrixTerms / 2);
      Value place = code.at(atWeights(list, own), getArithmetic(), query);
      parts.push_back(splitWeight(code, code.create<LLVM::LoadOp>(getArithmetic(), place)));
    }
    for (unsigned part = 0; part < 3; ++part)
      for (int64_t i = 0; i < 4; i += 2)
        b[part].push_back(packMatrixPair(code, parts[i][part], parts[i + 1][part]));
    Numbers sums(carried);
    Value row = code.add(code.both(lane, 7), code.multiply(code.divide(lane, 2 * kMatrixPiece), kMatrixPiece));
    Value ofPiece = code.multiply(code.both(code.divide(lane, kMatrixPiece), 1), kMatrixPiece);
    for (int64_t i = 0; i < tiles; ++i) {
      Value column = code.add(ofPiece, i * kMatrixRows);
      Numbers a = loadMatrices(code, getElementType(operand), atTile(row, column, operand), 4, true);
      for (const Numbers &ofPart : b)
        multiplyMatrices(code, getElementType(operand), a, ofPart, MutableArrayRef(sums).slice(4 * i, 4));
    }
    return sums;
  };
  Value firstTile = code.multiply(code.divide(begin, kMatrixTerms), kMatrixTerms);
  return code.rolledLoop(firstTile, end, kMatrixTerms, Numbers(4 * tiles, constantFloat(0.0)), addTile);
}

/// Sums of the warp go from thread to thread, so that all of them take the same way.
AttentionWarp::Numbers AttentionWarp::addOnMatrixUnits(Numbers sums, int64_t list, Value begin, Value end,
                                                       unsigned operand, function_ref<Value(Value)> locate,
                                                       bool skipsAbsent) {
  Numbers made = multiplyWeights(list, begin, end, operand, locate);
  Value isSpecial = code.create<NVVM::VoteSyncOp>(code.getI1Type(), code.constant(code.getI32Type(), -1),
                                                  isAnySpecial(made), NVVM::VoteSyncKind::any);
  synchronize();
  return code.choose(
      isSpecial, TypeRange(ValueRange(sums)),
      [&] { return addInOrder(sums, list, begin, end, operand, locate, skipsAbsent); },
      [&] {
        Numbers next = exchangeSums(made, countColumns(shape, operand));
        for (auto [sum, before] : llvm::zip_equal(next, sums))
          sum = code.add(before, sum);
        return next;
      });
}
