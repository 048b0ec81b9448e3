// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops of the backward of attention around micro-kernels and rows of scores.

#include "codegen/cpu/attention/BackwardEmitter.h"

#include "codegen/cpu/attention/ChunkPacker.h"
#include "codegen/cpu/contractions/TransposeTile.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::attention;

//===------------------------------------------- places -----------------------------------------------------------===//

void BackwardEmitter::forChunks(const KeyRange &keys, function_ref<void(const Chunk &)> body) {
  code.loop(view.getFirstChunk(keys), keys.end, kChunkKeys, [&](Value first) {
    Chunk chunk{first, code.min(kChunkKeys, code.subtract(keys.end, first)), {}, {}};
    chunk.panels = code.ceilDivide(chunk.keys, code.constant(kPanelColumns));
    Value offset = code.multiply(code.divide(first, kChunkKeys), memory.chunkBytes);
    chunk.place = view.inSlot(memory.blockBytes, code.getI8Type(), offset);
    body(chunk);
  });
}

Value BackwardEmitter::inChunk(const Chunk &chunk, int64_t offset, Type element) {
  return code.at(code.at(chunk.place, code.getI8Type(), offset), element, code.constant(0));
}

Value BackwardEmitter::getRow(Value rows, Value row, int64_t stride) {
  return code.at(rows, view.getArithmetic(), code.multiply(row, stride));
}

BackwardEmitter::Place BackwardEmitter::getPlace(const Head &head, const RowBlock &block, Value row) {
  Value index = code.add(block.first, row), queries = view.shape.queries.value;
  Value number = code.add(code.multiply(head.keyHead, view.shape.group.value), code.divide(index, queries));
  return {number, code.remainder(index, queries)};
}

Value BackwardEmitter::atPlace(unsigned operand, const Head &head, const Place &place) {
  Value pointer = view.advance(view.pointers[operand], operand, kBatch, head.batch);
  return view.advance(view.advance(pointer, operand, kHead, place.head), operand, kQuery, place.query);
}

/// (batch·heads + head)·queries + query, with the heads of q.
Value BackwardEmitter::countRowsBefore(const Head &head, const Place &place) {
  Value heads = code.multiply(view.shape.keyHeads.value, view.shape.group.value);
  Value number = code.add(code.multiply(head.batch, heads), place.head);
  return code.add(code.multiply(number, view.shape.queries.value), place.query);
}

void BackwardEmitter::fillZeros(Value target, Value rows, int64_t columns, int64_t stride) {
  code.loop(0, rows, 1, [&](Value row) {
    Value start = getRow(target, row, stride);
    code.loop(0, columns, kPanelColumns,
              [&](Value column) { code.store(view.splat(0.0), code.at(start, view.getArithmetic(), column)); });
  });
}

//===------------------------------------------- a head of keys ---------------------------------------------------===//

void BackwardEmitter::emit(Value low, Value high) {
  code.loop(low, high, 1, [&](Value number) {
    Value keyHeads = view.shape.keyHeads.value;
    KeyRange keys{{}, view.shape.keys.value};
    Head head{code.divide(number, keyHeads), code.remainder(number, keyHeads)};
    forChunks(keys, [&](const Chunk &chunk) { startChunk(head, chunk); });
    Value all = code.multiply(view.shape.group.value, view.shape.queries.value);
    code.loop(0, all, kBackwardRows, [&](Value first) { emitBlock(head, first, all); });
    forChunks(keys, [&](const Chunk &chunk) {
      finishChunk(head, chunk, memory.keySums, view.shape.getDk());
      finishChunk(head, chunk, memory.valueSums, view.shape.getDv());
    });
  });
}

void BackwardEmitter::startChunk(const Head &head, const Chunk &chunk) {
  ChunkPacker packer(view, head.batch, head.keyHead);
  auto at = [&](int64_t offset, unsigned operand) {
    return inChunk(chunk, offset, getMovedType(view.getElementType(operand)));
  };
  packer.packKeys(AttentionShape::kK, chunk.first, chunk.keys, at(memory.keys, AttentionShape::kK), memory.keyPanel);
  packer.packKeys(AttentionShape::kV, chunk.first, chunk.keys, at(memory.values, AttentionShape::kV),
                  memory.valuePanel);
  packer.packColumns(AttentionShape::kK, chunk.first, chunk.keys, at(memory.columns, AttentionShape::kK),
                     memory.columnPanel);
  for (int64_t sums : {memory.keySums, memory.valueSums})
    fillZeros(inChunk(chunk, sums, view.getArithmetic()), code.constant(view.shape.headSize), kChunkKeys,
              memory.scoreStride);
}

/// The sums have a row for each column of the head. They are turned back, some keys at a time, where queries were.
void BackwardEmitter::finishChunk(const Head &head, const Chunk &chunk, int64_t sums, unsigned operand) {
  FloatType arithmetic = view.getArithmetic();
  Value target = view.advance(view.pointers[operand], operand, kBatch, head.batch);
  target = view.advance(view.advance(target, operand, kHead, head.keyHead), operand, kKey, chunk.first);
  Value turned = view.inSlot(memory.queries, arithmetic, code.constant(0));
  code.loop(0, chunk.keys, kBackwardRows, [&](Value first) {
    Value count = code.min(kBackwardRows, code.subtract(chunk.keys, first));
    Value source = code.at(inChunk(chunk, sums, arithmetic), arithmetic, first);
    turn(source, memory.scoreStride, turned, memory.queryStride, code.constant(view.shape.headSize), count);
    code.loop(0, count, 1, [&](Value key) {
      storeRow(getRow(turned, key, memory.queryStride), operand,
               view.advance(target, operand, kKey, code.add(first, key)));
    });
  });
}

/// The sums of one row, in the operand's type.
void BackwardEmitter::storeRow(Value source, unsigned operand, Value target) {
  for (int64_t column = 0; column < view.shape.headSize; column += kPanelColumns) {
    int64_t present = std::min(kPanelColumns, view.shape.headSize - column);
    Value sum = code.load(view.getVectorType(), code.at(source, view.getArithmetic(), column));
    Value result = code.add(sum, 0.0);
    view.runs.store(view.narrow(result, operand), view.getElementType(operand),
                    view.advance(target, operand, kColumn, code.constant(column)), view.getStride(operand, kColumn),
                    present == kPanelColumns ? Value() : code.constant(present));
  }
}

/// Element (row, column) of the source becomes (column, row) of the target, whole blocks of 16 by 16 at a time: there
/// is room for what lies after the last row and column.
void BackwardEmitter::turn(Value source, int64_t sourceStride, Value target, int64_t targetStride, Value rows,
                           Value columns) {
  FloatType arithmetic = view.getArithmetic();
  code.loop(0, rows, kPanelColumns, [&](Value row) {
    code.loop(0, columns, kPanelColumns, [&](Value column) {
      SmallVector<Value> vectors;
      for (int64_t i = 0; i < kPanelColumns; ++i) {
        Value from = getRow(source, code.add(row, i), sourceStride);
        vectors.push_back(code.load(view.getVectorType(), code.at(from, arithmetic, column)));
      }
      transpose(code, vectors);
      for (int64_t i = 0; i < kPanelColumns; ++i) {
        Value to = getRow(target, code.add(column, i), targetStride);
        code.store(vectors[i], code.at(to, arithmetic, row));
      }
    });
  });
}

//===------------------------------------------- a block of queries -----------------------------------------------===//

void BackwardEmitter::emitBlock(const Head &head, Value first, Value all) {
  FloatType arithmetic = view.getArithmetic();
  RowBlock block{first, code.min(kBackwardRows, code.subtract(all, first)), {}};
  block.seen = view.findSeenByRows(block.first, block.count);
  startRows(head, block);
  Value sums = view.inSlot(memory.sums, arithmetic, code.constant(0));
  fillZeros(sums, block.count, memory.paddedSize, memory.paddedSize);
  forChunks(block.seen, [&](const Chunk &chunk) { emitWeights(head, block, chunk); });
  forChunks(block.seen, [&](const Chunk &chunk) { emitScoreGradients(head, block, chunk); });
  code.loop(0, block.count, 1, [&](Value row) {
    unsigned dq = view.shape.getDq();
    Place place = getPlace(head, block, row);
    storeRow(getRow(sums, row, memory.paddedSize), dq, atPlace(dq, head, place));
    if (!view.shape.hasSink)
      return;
    auto load = [&](int64_t offset) { return code.load(arithmetic, view.inSlot(offset, arithmetic, row)); };
    Value sink = view.loadNumber(view.shape.getSink(), atPlace(view.shape.getSink(), head, place));
    code.store(rows.emitSinkGradient(sink, load(memory.maxima), load(memory.totals), load(memory.means)),
               atPlace(view.shape.getDsinks(), head, place));
  });
}

/// Copies a row of queries or of gradients, in the arithmetic type.
void BackwardEmitter::loadRow(Value source, unsigned operand, Value target) {
  for (int64_t column = 0; column < view.shape.headSize; column += kPanelColumns) {
    int64_t present = std::min(kPanelColumns, view.shape.headSize - column);
    Value run =
        view.runs.load(view.getElementType(operand), view.advance(source, operand, kColumn, code.constant(column)),
                       view.getStride(operand, kColumn), present == kPanelColumns ? Value() : code.constant(present));
    code.store(view.widen(run), code.at(target, view.getArithmetic(), column));
  }
}

void BackwardEmitter::startRows(const Head &head, const RowBlock &block) {
  FloatType arithmetic = view.getArithmetic();
  unsigned dy = view.shape.getDy(), max = view.shape.getMax(), sum = view.shape.getSum();
  auto at = [&](int64_t offset) { return view.inSlot(offset, arithmetic, code.constant(0)); };
  Value queries = at(memory.queries), gradients = at(memory.gradients);
  code.loop(0, block.count, 1, [&](Value row) {
    Place place = getPlace(head, block, row);
    loadRow(atPlace(AttentionShape::kQ, head, place), AttentionShape::kQ, getRow(queries, row, memory.queryStride));
    loadRow(atPlace(dy, head, place), dy, getRow(gradients, row, memory.queryStride));
    code.store(code.load(arithmetic, atPlace(max, head, place)), view.inSlot(memory.maxima, arithmetic, row));
    code.store(code.load(arithmetic, atPlace(sum, head, place)), view.inSlot(memory.totals, arithmetic, row));
    code.store(view.constantFloat(0.0), view.inSlot(memory.means, arithmetic, row));
  });
  Value size = code.constant(view.shape.headSize);
  turn(queries, memory.queryStride, at(memory.turnedQueries), memory.turnedStride, block.count, size);
  turn(gradients, memory.queryStride, at(memory.turnedGradients), memory.turnedStride, block.count, size);
}

BackwardRow BackwardEmitter::makeRow(const Head &head, const RowBlock &block, const Chunk &chunk, Value row) {
  FloatType arithmetic = view.getArithmetic();
  BackwardRow made;
  ScoreRow &score = made.score;
  score.scores = getRow(inChunk(chunk, memory.weights, arithmetic), row, memory.scoreStride);
  score.from = code.constant(0), score.keys = chunk.keys;
  Place place = getPlace(head, block, row);
  score.see(view, place.query, chunk.first);
  if (view.shape.hasMask)
    score.mask = view.advance(atPlace(AttentionShape::kMask, head, place), AttentionShape::kMask, kKey, chunk.first);
  if (view.shape.threshold != 0) {
    score.firstKey = chunk.first;
    score.randomRow = view.getRandomRow(countRowsBefore(head, place));
  }
  if (view.shape.cap != 0)
    score.slopes = getRow(inChunk(chunk, memory.slopes, arithmetic), row, memory.scoreStride);
  made.gradients = getRow(inChunk(chunk, memory.scoreGradients, arithmetic), row, memory.scoreStride);
  made.panels = view.inSlot(memory.panels, arithmetic, code.multiply(row, kPanelColumns));
  made.panelStride = memory.scorePanel;
  return made;
}

/// Scores, weights and their gradients of a chunk, and what its values take of dy.
void BackwardEmitter::emitWeights(const Head &head, const RowBlock &block, const Chunk &chunk) {
  FloatType arithmetic = view.getArithmetic();
  auto at = [&](int64_t offset) { return view.inSlot(offset, arithmetic, code.constant(0)); };
  Value stride = code.constant(memory.queryStride), size = code.constant(view.shape.headSize);
  auto multiply = [&](int64_t a, unsigned operand, int64_t b, int64_t panel, int64_t sums) {
    Type type = view.getElementType(operand);
    emitProduct({block.count,
                 chunk.panels,
                 type,
                 memory.scoreStride,
                 /*startsAtZero=*/true,
                 {at(a), stride, inChunk(chunk, b, getMovedType(type)), code.constant(panel), size,
                  inChunk(chunk, sums, arithmetic)}});
  };
  multiply(memory.queries, AttentionShape::kK, memory.keys, memory.keyPanel, memory.weights);
  multiply(memory.gradients, AttentionShape::kV, memory.values, memory.valuePanel, memory.scoreGradients);
  code.loop(0, block.count, 1, [&](Value row) {
    Value max = code.load(arithmetic, view.inSlot(memory.maxima, arithmetic, row));
    Value sum = code.load(arithmetic, view.inSlot(memory.totals, arithmetic, row));
    Value part = rows.emitWeights(makeRow(head, block, chunk, row), max, sum);
    Value mean = view.inSlot(memory.means, arithmetic, row);
    code.store(code.create<arith::AddFOp>(code.load(arithmetic, mean), part), mean);
  });
  emitProduct({size,
               chunk.panels,
               arithmetic,
               memory.scoreStride,
               /*startsAtZero=*/false,
               {at(memory.turnedGradients), code.constant(memory.turnedStride), at(memory.panels),
                code.constant(memory.scorePanel), block.count, inChunk(chunk, memory.valueSums, arithmetic)}});
}

/// The gradients of a chunk's scores, and what queries and keys take of them.
void BackwardEmitter::emitScoreGradients(const Head &head, const RowBlock &block, const Chunk &chunk) {
  FloatType arithmetic = view.getArithmetic();
  Type key = view.getElementType(AttentionShape::kK);
  auto at = [&](int64_t offset) { return view.inSlot(offset, arithmetic, code.constant(0)); };
  code.loop(0, block.count, 1, [&](Value row) {
    Value mean = code.load(arithmetic, view.inSlot(memory.means, arithmetic, row));
    rows.emitScoreGradients(makeRow(head, block, chunk, row), mean);
  });
  emitProduct({block.count,
               code.constant(memory.paddedSize / kPanelColumns),
               key,
               memory.paddedSize,
               /*startsAtZero=*/false,
               {inChunk(chunk, memory.scoreGradients, arithmetic), code.constant(memory.scoreStride),
                inChunk(chunk, memory.columns, getMovedType(key)), code.constant(memory.columnPanel), chunk.keys,
                at(memory.sums)}});
  emitProduct({code.constant(view.shape.headSize),
               chunk.panels,
               arithmetic,
               memory.scoreStride,
               /*startsAtZero=*/false,
               {at(memory.turnedQueries), code.constant(memory.turnedStride), at(memory.panels),
                code.constant(memory.scorePanel), block.count, inChunk(chunk, memory.keySums, arithmetic)}});
}

//===------------------------------------------- products ---------------------------------------------------------===//

/// Panels that a micro-kernel takes together are read for all rows before the next ones.
void BackwardEmitter::emitProduct(const Product &product) {
  code.loop(0, product.panels, shape.panels, [&](Value panel) {
    Value left = code.subtract(product.panels, panel);
    std::function<void(int64_t)> emit = [&](int64_t count) {
      if (count == 1)
        return emitPanels(product, panel, count);
      code.choose(
          code.isAtMost(count, left), [&] { emitPanels(product, panel, count); }, [&] { emit(count - 1); });
    };
    emit(shape.panels);
  });
}

void BackwardEmitter::emitPanels(const Product &product, Value panel, int64_t count) {
  FloatType arithmetic = view.getArithmetic();
  auto call = [&](Value row, int64_t height) {
    MicroKernels::Operands operands = product.operands;
    operands.a = code.at(operands.a, arithmetic, code.multiply(row, operands.aStride));
    operands.b = code.at(operands.b, getMovedType(product.bType), code.multiply(panel, operands.panelStride));
    Value sum = code.add(code.multiply(row, product.sumStride), code.multiply(panel, kPanelColumns));
    operands.sums = code.at(operands.sums, arithmetic, sum);
    microKernels.emitCall(code, arithmetic, product.bType, height, count * kPanelColumns, product.sumStride, operands,
                          product.startsAtZero);
  };
  Value height = code.constant(shape.rows);
  Value at = code.multiply(code.divide(product.rows, height), height);
  code.loop(0, at, shape.rows, [&](Value row) { call(row, shape.rows); });
  for (int64_t lower : ArrayRef(shape.getHeights()).drop_front()) {
    Value next = code.add(at, lower), fits = code.isAtMost(next, product.rows);
    code.choose(fits, [&] { call(at, lower); });
    at = code.select(fits, next, at);
  }
}
