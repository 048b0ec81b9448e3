// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits products of few rows: keys are transposed in registers, so that each element has the chain of a key; values are
// read as they are.

#include "codegen/cpu/attention/UnpackedProducts.h"

#include "codegen/cpu/attention/ScoreRows.h"
#include "codegen/cpu/contractions/MicroKernels.h"
#include "codegen/cpu/contractions/TransposeTile.h"
#include "codegen/kernels/ElementMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::attention;

/// A group of keys: panels, and bytes of a cache of 32 KiB.
static constexpr int64_t kMostPanels = 4, kGroupBytes = 16 << 10;

UnpackedProducts::UnpackedProducts(AttentionView &view, MicroKernelShape shape, int64_t vectorBits)
    : view(view), code(view.code), shape(shape) {
  vectorElements = std::clamp<int64_t>(vectorBits / view.getArithmetic().getWidth(), 2, kPanelColumns);
  terms = vectorElements * getInterleavedTerms(view.getElementType(AttentionShape::kK));
}

/// The last vectors of a row overlap those before, so that nothing after the row is read. Pairs of terms stay pairs.
bool UnpackedProducts::arePossible() const {
  int64_t size = view.shape.getHeadSize();
  return view.getStride(AttentionShape::kK, kColumn).is(1) && view.getStride(AttentionShape::kV, kColumn).is(1) &&
         size >= std::max(terms, kPanelColumns) && size % (terms / vectorElements) == 0 &&
         view.shape.getValueSize() >= kPanelColumns;
}

/// Where the first of the keys, or its value, begins.
Value UnpackedProducts::atFirst(unsigned operand, const Keys &keys) {
  return view.advance(view.atHead(operand, keys.head), operand, kKey, keys.first);
}

//===------------------------------------------- queries and keys -------------------------------------------------===//

/// The terms of a panel of keys, one vector each.
SmallVector<Value> UnpackedProducts::loadTerms(ArrayRef<Value> keys, Value first) {
  Type element = view.getElementType(AttentionShape::kK), moved = getMovedType(element);
  bool arePaired = terms != vectorElements;
  auto type = VectorType::get(vectorElements, arePaired ? code.getI32Type() : moved);
  SmallVector<Value> block, columns;
  for (Value key : keys)
    block.push_back(code.load(type, code.at(key, moved, first)));
  transpose(code, block);
  for (Value vector : block) {
    if (arePaired)
      columns.append({widenFirst(code, vector), widenSecond(code, vector)});
    else
      columns.push_back(kernels::fromMemory(code, code.getLoc(), vector, element));
  }
  for (Value &column : columns)
    column = view.widen(column);
  return columns;
}

/// Calls `body` for the first of each block of terms, and how many of the block are there already.
void UnpackedProducts::forTerms(function_ref<void(Value first, int64_t skipped)> body) {
  int64_t size = view.shape.getHeadSize(), whole = size / terms * terms;
  code.loop(0, whole, terms, [&](Value first) { body(first, /*skipped=*/0); });
  if (whole < size)
    body(code.constant(size - terms), terms - (size - whole));
}

/// Adds a block of terms to the scores of a panel.
void UnpackedProducts::addTerms(const Panel &panel, Value first, int64_t skipped) {
  FloatType arithmetic = view.getArithmetic();
  auto type = VectorType::get(vectorElements, arithmetic);
  SmallVector<Value> columns = loadTerms(panel.keys, first), sums;
  auto atRow = [&](int64_t row) { return code.at(panel.scores, arithmetic, row * view.memory.scoreStride); };
  for (int64_t row = 0; row < panel.rows; ++row)
    sums.push_back(code.load(type, atRow(row)));
  for (int64_t term = skipped; term < terms; ++term)
    for (auto [row, sum] : llvm::enumerate(sums)) {
      Value query = code.at(panel.queries, arithmetic, static_cast<int64_t>(row) * view.memory.queryStride);
      Value number = code.load(arithmetic, code.at(code.at(query, arithmetic, first), arithmetic, term));
      sum = code.fma(code.spread(number, vectorElements), columns[term], sum);
    }
  for (auto [row, sum] : llvm::enumerate(sums))
    code.store(sum, atRow(static_cast<int64_t>(row)));
}

/// Where the keys of a panel lie. If it is not whole, absent keys repeat the last one, whose memory is there.
SmallVector<Value> UnpackedProducts::findKeys(const Keys &keys, Value key, bool isWhole) {
  Value start = atFirst(AttentionShape::kK, keys), first = view.advance(start, AttentionShape::kK, kKey, key);
  Value last = code.subtract(keys.count, 1);
  SmallVector<Value> places;
  for (int64_t element = 0; element < vectorElements; ++element) {
    Value index = code.constant(element);
    places.push_back(isWhole ? view.advance(first, AttentionShape::kK, kKey, index)
                             : view.advance(start, AttentionShape::kK, kKey, code.min(code.add(key, index), last)));
  }
  return places;
}

void UnpackedProducts::startScores(const Keys &keys, int64_t rows, Value scores) {
  FloatType arithmetic = view.getArithmetic();
  auto type = VectorType::get(vectorElements, arithmetic);
  Value zeros = code.create<arith::ConstantOp>(code.getZeroAttr(type));
  code.loop(0, keys.count, vectorElements, [&](Value key) {
    for (int64_t row = 0; row < rows; ++row)
      code.store(zeros, code.at(code.at(scores, arithmetic, row * view.memory.scoreStride), arithmetic, key));
  });
}

/// Keys of a group stay in the first level of the cache.
int64_t UnpackedProducts::getGroupKeys() const {
  int64_t bytes =
      view.shape.getHeadSize() * getMovedType(view.getElementType(AttentionShape::kK)).getIntOrFloatBitWidth() / 8;
  return std::max<int64_t>(
      std::min(kMostPanels * vectorElements, kGroupBytes / bytes / vectorElements * vectorElements), vectorElements);
}

/// Each block of terms is added to all panels of a group before the next is, so that the chains of many panels run at a
/// time. They are loops, since LLVM would else mix transpositions, of which one takes most registers.
void UnpackedProducts::emitScores(const Keys &keys, int64_t rows, Value queries, Value scores) {
  Value whole = code.multiply(code.divide(keys.count, vectorElements), vectorElements);
  startScores(keys, rows, scores);
  auto addToPanel = [&](Value key, bool isWhole, Value first, int64_t skipped) {
    Panel panel{rows, queries, code.at(scores, view.getArithmetic(), key), findKeys(keys, key, isWhole)};
    addTerms(panel, first, skipped);
  };
  int64_t step = getGroupKeys();
  code.loop(0, whole, step, [&](Value group) {
    Value end = code.min(code.add(group, step), whole);
    forTerms([&](Value first, int64_t skipped) {
      code.loop(group, end, vectorElements, [&](Value key) {
        // Processors do not see this order by themselves. An address after the last key does no harm.
        for (Value next : findKeys(keys, code.add(key, step), /*isWhole=*/true))
          code.prefetch(code.at(next, getMovedType(view.getElementType(AttentionShape::kK)), first));
        addToPanel(key, /*isWhole=*/true, first, skipped);
      });
    });
  });
  code.loop(whole, keys.count, vectorElements, [&](Value key) {
    forTerms([&](Value first, int64_t skipped) { addToPanel(key, /*isWhole=*/false, first, skipped); });
  });
}

//===------------------------------------------- weights and values -----------------------------------------------===//

/// Where the vectors of a row of values begin.
SmallVector<int64_t> UnpackedProducts::getColumns() const {
  SmallVector<int64_t> columns;
  int64_t size = view.shape.getValueSize();
  for (int64_t column = 0; column < size; column += kPanelColumns)
    columns.push_back(std::min(column, size - kPanelColumns));
  return columns;
}

/// Whatever is added to Inf or NaN, and even 0 times one of them, is no number any more.
Value UnpackedProducts::findSpecial(Value rows, Value sums) {
  Value none = code.create<arith::ConstantOp>(code.getZeroAttr(VectorType::get(kPanelColumns, code.getI1Type())));
  SmallVector<Value> flags = code.loop(0, rows, 1, none, [&](Value row, ValueRange carried) {
    Value start = code.at(sums, view.getArithmetic(), code.multiply(row, view.memory.paddedSize));
    Value any = carried.front();
    for (int64_t column : getColumns()) {
      Value sum = code.load(view.getVectorType(), code.at(start, view.getArithmetic(), column));
      any = code.either(any, code.isNaN(code.subtract(sum, sum)));
    }
    return SmallVector<Value>{any};
  });
  return ScoreRows(view).hasAny(flags);
}

void UnpackedProducts::emitValues(const Keys &keys, int64_t rows, Value weights, Value sums) {
  FloatType arithmetic = view.getArithmetic();
  Type element = view.getElementType(AttentionShape::kV), moved = getMovedType(element);
  auto type = VectorType::get(kPanelColumns, moved);
  Value start = atFirst(AttentionShape::kV, keys);
  SmallVector<int64_t> all = getColumns();
  size_t most = std::max<int64_t>(shape.rows * shape.panels / rows, 1);
  for (ArrayRef<int64_t> left = all; !left.empty(); left = left.drop_front(std::min(most, left.size()))) {
    ArrayRef<int64_t> columns = left.take_front(most);
    SmallVector<Value> zeros(rows * columns.size(), view.splat(0.0));
    SmallVector<Value> totals = code.loop(0, keys.count, 1, zeros, [&](Value key, ValueRange carried) {
      SmallVector<Value> next(carried), vectors;
      for (int64_t column : columns) {
        Value loaded = code.load(type, code.at(view.advance(start, AttentionShape::kV, kKey, key), moved, column));
        vectors.push_back(view.widen(kernels::fromMemory(code, code.getLoc(), loaded, element)));
      }
      for (int64_t row = 0; row < rows; ++row) {
        Value place = code.at(code.at(weights, arithmetic, row * view.memory.scoreStride), arithmetic, key);
        Value weight = code.spread(code.load(arithmetic, place), kPanelColumns);
        for (auto [i, vector] : llvm::enumerate(vectors)) {
          Value &sum = next[row * columns.size() + i];
          sum = code.fma(weight, vector, sum);
        }
      }
      return next;
    });
    for (int64_t row = 0; row < rows; ++row)
      for (auto [i, column] : llvm::enumerate(columns))
        code.store(totals[row * columns.size() + i], code.at(sums, arithmetic, row * view.memory.paddedSize + column));
  }
}
