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
    Value offset = code.multiply(view.getChunkNumber(keys, first), memory.chunkBytes);
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
    KeyHead head{code.divide(number, keyHeads), code.remainder(number, keyHeads)};
    Value queries = view.shape.queries.value;
    if (!view.shape.hasOrigins())
      return emitKeys(head, {{}, view.shape.keys.value}, code.constant(0), queries);
    clearKeys(head);
    view.forOrigins(head, code.constant(0), queries, [&](Value first, Value end) {
      emitKeys(head, view.findSeenByRows(head, first, code.subtract(end, first)), first, end);
    });
  });
}

/// Keys of a head that no others than its queries [first, end) see, those of each head of q that reads it.
void BackwardEmitter::emitKeys(const KeyHead &head, const KeyRange &keys, Value first, Value end) {
  forChunks(keys, [&](const Chunk &chunk) { startChunk(head, chunk); });
  auto emitRows = [&](Value low, Value high) {
    code.loop(low, high, kBackwardRows, [&](Value row) { emitBlock(head, row, high); });
  };
  Value queries = view.shape.queries.value;
  if (!view.shape.hasOrigins())
    emitRows(first, code.multiply(view.shape.group.value, queries));
  else
    code.loop(0, view.shape.group.value, 1, [&](Value ofGroup) {
      Value before = code.multiply(ofGroup, queries);
      emitRows(code.add(before, first), code.add(before, end));
    });
  forChunks(keys, [&](const Chunk &chunk) {
    finishChunk(head, chunk, memory.keySums, view.shape.getDk(), memory.queries, memory.queryStride);
    finishChunk(head, chunk, memory.valueSums, view.shape.getDv(), memory.gradients, memory.gradientStride);
  });
}

/// The gradients of keys that no query sees.
void BackwardEmitter::clearKeys(const KeyHead &head) {
  for (unsigned operand : {view.shape.getDk(), view.shape.getDv()})
    code.loop(0, view.shape.keys.value, 1, [&](Value key) {
      view.storeRow(operand, view.advance(view.atHead(operand, head), operand, kKey, key),
                    [&](int64_t) { return view.splat(0.0); });
    });
}

void BackwardEmitter::startChunk(const KeyHead &head, const Chunk &chunk) {
  ChunkPacker packer(view, head);
  auto at = [&](int64_t offset, unsigned operand) {
    return inChunk(chunk, offset, getMovedType(view.getElementType(operand)));
  };
  packer.packKeys(AttentionShape::kK, chunk.first, chunk.keys, at(memory.keys, AttentionShape::kK), memory.keyPanel);
  packer.packKeys(AttentionShape::kV, chunk.first, chunk.keys, at(memory.values, AttentionShape::kV),
                  memory.valuePanel);
  packer.packColumns(AttentionShape::kK, chunk.first, chunk.keys, at(memory.columns, AttentionShape::kK),
                     memory.columnPanel);
  for (auto [sums, rows] :
       {std::pair(memory.keySums, view.shape.getHeadSize()), {memory.valueSums, view.shape.getValueSize()}})
    fillZeros(inChunk(chunk, sums, view.getArithmetic()), code.constant(rows), kChunkKeys, memory.scoreStride);
}

/// The sums have a row for each column of the operand. They are turned back, some keys at a time, at `room`, where rows
/// of queries or of gradients were.
void BackwardEmitter::finishChunk(const KeyHead &head, const Chunk &chunk, int64_t sums, unsigned operand, int64_t room,
                                  int64_t stride) {
  FloatType arithmetic = view.getArithmetic();
  Value target = view.advance(view.atHead(operand, head), operand, kKey, chunk.first);
  Value turned = view.inSlot(room, arithmetic, code.constant(0));
  Value columns = code.constant(view.shape.operands[operand].columns);
  code.loop(0, chunk.keys, kBackwardRows, [&](Value first) {
    Value count = code.min(kBackwardRows, code.subtract(chunk.keys, first));
    Value source = code.at(inChunk(chunk, sums, arithmetic), arithmetic, first);
    turn(source, memory.scoreStride, turned, stride, columns, count);
    code.loop(0, count, 1, [&](Value key) {
      storeRow(getRow(turned, key, stride), operand, view.advance(target, operand, kKey, code.add(first, key)));
    });
  });
}

/// The sums of one row, in the operand's type.
void BackwardEmitter::storeRow(Value source, unsigned operand, Value target) {
  view.storeRow(operand, target, [&](int64_t column) {
    return code.add(code.load(view.getVectorType(), code.at(source, view.getArithmetic(), column)), 0.0);
  });
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

void BackwardEmitter::emitBlock(const KeyHead &head, Value first, Value all) {
  FloatType arithmetic = view.getArithmetic();
  RowBlock block{first, code.min(kBackwardRows, code.subtract(all, first)), {}};
  block.seen = view.findSeenByRows(head, block.first, block.count);
  startRows(head, block);
  Value sums = view.inSlot(memory.sums, arithmetic, code.constant(0));
  fillZeros(sums, block.count, memory.paddedSize, memory.paddedSize);
  forChunks(block.seen, [&](const Chunk &chunk) { emitWeights(head, block, chunk); });
  forChunks(block.seen, [&](const Chunk &chunk) { emitScoreGradients(head, block, chunk); });
  code.loop(0, block.count, 1, [&](Value row) {
    unsigned dq = view.shape.getDq();
    QueryPlace place = view.getPlace(head, code.add(block.first, row));
    storeRow(getRow(sums, row, memory.paddedSize), dq, view.atPlace(dq, place));
    if (!view.shape.hasSink)
      return;
    auto load = [&](int64_t offset) { return code.load(arithmetic, view.inSlot(offset, arithmetic, row)); };
    Value sink = view.loadNumber(view.shape.getSink(), view.atPlace(view.shape.getSink(), place));
    code.store(numbers.makeSinkGradient(sink, load(memory.maxima), load(memory.totals), load(memory.means)),
               view.atPlace(view.shape.getDsinks(), place));
  });
}

void BackwardEmitter::startRows(const KeyHead &head, const RowBlock &block) {
  FloatType arithmetic = view.getArithmetic();
  unsigned dy = view.shape.getDy(), max = view.shape.getMax(), sum = view.shape.getSum();
  auto at = [&](int64_t offset) { return view.inSlot(offset, arithmetic, code.constant(0)); };
  Value queries = at(memory.queries), gradients = at(memory.gradients);
  code.loop(0, block.count, 1, [&](Value row) {
    QueryPlace place = view.getPlace(head, code.add(block.first, row));
    view.loadRow(AttentionShape::kQ, view.atPlace(AttentionShape::kQ, place), getRow(queries, row, memory.queryStride));
    view.loadRow(dy, view.atPlace(dy, place), getRow(gradients, row, memory.gradientStride));
    code.store(code.load(arithmetic, view.atPlace(max, place)), view.inSlot(memory.maxima, arithmetic, row));
    code.store(code.load(arithmetic, view.atPlace(sum, place)), view.inSlot(memory.totals, arithmetic, row));
    code.store(view.constantFloat(0.0), view.inSlot(memory.means, arithmetic, row));
  });
  turn(queries, memory.queryStride, at(memory.turnedQueries), memory.turnedStride, block.count,
       code.constant(view.shape.getHeadSize()));
  turn(gradients, memory.gradientStride, at(memory.turnedGradients), memory.turnedStride, block.count,
       code.constant(view.shape.getValueSize()));
}

BackwardRow BackwardEmitter::makeRow(const KeyHead &head, const RowBlock &block, const Chunk &chunk, Value row) {
  FloatType arithmetic = view.getArithmetic();
  BackwardRow made;
  ScoreRow &score = made.score;
  score.scores = getRow(inChunk(chunk, memory.weights, arithmetic), row, memory.scoreStride);
  score.from = code.constant(0), score.keys = chunk.keys;
  score.see(view, view.getPlace(head, code.add(block.first, row)), chunk.first);
  if (view.shape.cap != 0)
    score.slopes = getRow(inChunk(chunk, memory.slopes, arithmetic), row, memory.scoreStride);
  made.gradients = getRow(inChunk(chunk, memory.scoreGradients, arithmetic), row, memory.scoreStride);
  made.panels = view.inSlot(memory.panels, arithmetic, code.multiply(row, kPanelColumns));
  made.panelStride = memory.scorePanel;
  return made;
}

/// Scores, weights and their gradients of a chunk, and what its values take of dy.
void BackwardEmitter::emitWeights(const KeyHead &head, const RowBlock &block, const Chunk &chunk) {
  FloatType arithmetic = view.getArithmetic();
  auto at = [&](int64_t offset) { return view.inSlot(offset, arithmetic, code.constant(0)); };
  auto multiply = [&](int64_t a, int64_t stride, unsigned operand, int64_t b, int64_t panel, int64_t sums) {
    Type type = view.getElementType(operand);
    Value terms = code.constant(view.shape.operands[operand].columns);
    emitProduct({block.count,
                 chunk.panels,
                 type,
                 memory.scoreStride,
                 /*startsAtZero=*/true,
                 {at(a), code.constant(stride), inChunk(chunk, b, getMovedType(type)), code.constant(panel), terms,
                  inChunk(chunk, sums, arithmetic)}});
  };
  multiply(memory.queries, memory.queryStride, AttentionShape::kK, memory.keys, memory.keyPanel, memory.weights);
  multiply(memory.gradients, memory.gradientStride, AttentionShape::kV, memory.values, memory.valuePanel,
           memory.scoreGradients);
  code.loop(0, block.count, 1, [&](Value row) {
    Value max = code.load(arithmetic, view.inSlot(memory.maxima, arithmetic, row));
    Value sum = code.load(arithmetic, view.inSlot(memory.totals, arithmetic, row));
    Value part = rows.emitWeights(makeRow(head, block, chunk, row), max, sum);
    Value mean = view.inSlot(memory.means, arithmetic, row);
    code.store(code.create<arith::AddFOp>(code.load(arithmetic, mean), part), mean);
  });
  emitProduct({code.constant(view.shape.getValueSize()),
               chunk.panels,
               arithmetic,
               memory.scoreStride,
               /*startsAtZero=*/false,
               {at(memory.turnedGradients), code.constant(memory.turnedStride), at(memory.panels),
                code.constant(memory.scorePanel), block.count, inChunk(chunk, memory.valueSums, arithmetic)}});
}

/// The gradients of a chunk's scores, and what queries and keys take of them.
void BackwardEmitter::emitScoreGradients(const KeyHead &head, const RowBlock &block, const Chunk &chunk) {
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
  emitProduct({code.constant(view.shape.getHeadSize()),
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
    shape.choosePanels(code, code.subtract(product.panels, panel),
                       [&](int64_t count) { emitPanels(product, panel, count); });
  });
}

void BackwardEmitter::emitPanels(const Product &product, Value panel, int64_t count) {
  FloatType arithmetic = view.getArithmetic();
  auto call = [&](int64_t height, Value row) {
    MicroKernels::Operands operands = product.operands;
    operands.a = code.at(operands.a, arithmetic, code.multiply(row, operands.aStride));
    operands.b = code.at(operands.b, getMovedType(product.bType), code.multiply(panel, operands.panelStride));
    Value sum = code.add(code.multiply(row, product.sumStride), code.multiply(panel, kPanelColumns));
    operands.sums = code.at(operands.sums, arithmetic, sum);
    microKernels.emitCall(
        code, {arithmetic, product.bType, height, count * kPanelColumns, product.sumStride, product.startsAtZero},
        operands);
  };
  shape.forRows(code, code.constant(0), product.rows, {product.rows}, call);
}
