// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops of attention around micro-kernels and the softmax of rows.

#include "codegen/cpu/attention/AttentionEmitter.h"

#include "codegen/cpu/attention/ChunkPacker.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::attention;

//===------------------------------------------- units and their rows ---------------------------------------------===//

void AttentionEmitter::emit(Value low, Value high) {
  assert(shape.rows <= kScoreRows && "expected scratch memory for the rows of a micro-kernel");
  chunkMaxima = code.allocate(view.entry, view.getArithmetic(), shape.rows);
  chunkTotals = code.allocate(view.entry, view.getArithmetic(), shape.rows);
  Value all = code.multiply(view.shape.group.value, view.shape.queries.value);
  Value blocks = code.ceilDivide(all, code.constant(kUnitRows));
  code.loop(low, high, 1, [&](Value number) {
    Value head = code.divide(number, blocks), keyHeads = view.shape.keyHeads.value;
    Value first = code.multiply(code.remainder(number, blocks), kUnitRows);
    KeyHead place{code.divide(head, keyHeads), code.remainder(head, keyHeads)};
    view.forOrigins(place, first, code.min(code.add(first, kUnitRows), all),
                    [&](Value low, Value high) { emitUnit(makeUnit(place, low, high)); });
  });
}

void AttentionEmitter::emitUnit(const Unit &unit) {
  startRows(unit);
  code.loop(view.getFirstChunk(unit.seen), unit.seen.end, kChunkKeys, [&](Value first) { emitChunk(unit, first); });
  code.loop(0, unit.count, 1, [&](Value row) { finishRow(unit, row); });
}

AttentionEmitter::Unit AttentionEmitter::makeUnit(const KeyHead &head, Value first, Value end) {
  Unit unit;
  unit.head = head, unit.firstRow = first, unit.count = code.subtract(end, first);
  unit.seen = view.findSeenByRows(head, unit.firstRow, unit.count);
  chooseForm(unit);
  return unit;
}

/// Copies the queries. The states are those of no keys, whose sums the first chunk writes.
void AttentionEmitter::startRows(const Unit &unit) {
  const AttentionMemory &memory = view.memory;
  FloatType arithmetic = view.getArithmetic();
  code.loop(0, unit.count, 1, [&](Value row) {
    Value source = view.atPlace(AttentionShape::kQ, view.getPlace(unit.head, code.add(unit.firstRow, row)));
    view.loadRow(AttentionShape::kQ, source,
                 view.inSlot(memory.queries, arithmetic, code.multiply(row, memory.queryStride)));
    code.store(view.constantFloat(-kInfinity), view.inSlot(memory.maxima, arithmetic, row));
    code.store(view.constantFloat(0.0), view.inSlot(memory.totals, arithmetic, row));
  });
}

void AttentionEmitter::finishRow(const Unit &unit, Value row) {
  const AttentionMemory &memory = view.memory;
  FloatType arithmetic = view.getArithmetic();
  unsigned result = view.shape.getResult();
  Value max = code.load(arithmetic, view.inSlot(memory.maxima, arithmetic, row));
  Value total = code.load(arithmetic, view.inSlot(memory.totals, arithmetic, row));
  Value isEmpty = code.isEqual(max, -kInfinity);
  QueryPlace place = view.getPlace(unit.head, code.add(unit.firstRow, row));
  State state{max, total, {}, {}};
  if (view.shape.hasSink) {
    unsigned sink = view.shape.getSink();
    state = numbers.joinSink(max, total, view.loadNumber(sink, view.atPlace(sink, place)));
    max = state.max, total = state.total;
  }
  Value target = view.atPlace(result, place), divisor = code.spread(total, kPanelColumns);
  Value zero = view.splat(0.0);
  view.storeRow(result, target, [&](int64_t column) {
    Value index = code.add(code.multiply(row, memory.paddedSize), column);
    Value sum = code.load(view.getVectorType(), view.inSlot(memory.states, arithmetic, index));
    if (view.shape.hasSink)
      sum = numbers.joinSums(sum, zero, code.spread(state.oldFactor, kPanelColumns),
                             code.spread(state.newFactor, kPanelColumns));
    return numbers.finish(sum, divisor, isEmpty);
  });
  if (!view.shape.hasStatistics)
    return;
  code.store(view.narrow(max, result + 1), view.atPlace(result + 1, place));
  code.store(view.narrow(total, result + 2), view.atPlace(result + 2, place));
}

//===------------------------------------------- a chunk of keys --------------------------------------------------===//

/// A packed chunk pays where more than one block of rows reads it.
void AttentionEmitter::chooseForm(Unit &unit) {
  const Extent &group = view.shape.group, &queries = view.shape.queries;
  if (!unpacked.arePossible())
    unit.isAlwaysUnpacked = false;
  else if (group.isKnown() && queries.isKnown())
    unit.isAlwaysUnpacked = group.known * queries.known <= shape.rows;
  unit.isUnpacked = code.isAtMost(unit.count, shape.rows);
}

/// Emits what the unit's form needs: both, with a choice between them, if it is not known.
SmallVector<Value> AttentionEmitter::inForm(const Unit &unit, TypeRange types,
                                            function_ref<SmallVector<Value>()> unpackedForm,
                                            function_ref<SmallVector<Value>()> packedForm) {
  if (!unit.isAlwaysUnpacked)
    return code.choose(unit.isUnpacked, types, unpackedForm, packedForm);
  return *unit.isAlwaysUnpacked ? unpackedForm() : packedForm();
}

void AttentionEmitter::emitChunk(const Unit &unit, Value first) {
  Chunk chunk;
  chunk.first = first;
  chunk.keys = code.min(kChunkKeys, code.subtract(unit.seen.end, first));
  // Of those that are not packed, nobody has looked at the values yet.
  auto expectSpecial = [&] { return SmallVector<Value>{code.create<arith::ConstantIntOp>(1, 1)}; };
  auto pack = [&] {
    ChunkPacker packer(view, unit.head);
    packer.pack(chunk.first, chunk.keys);
    return SmallVector<Value>{packer.findSpecial(chunk.keys)};
  };
  chunk.hasSpecial = inForm(unit, code.getI1Type(), expectSpecial, pack).front();
  auto emitRows = [&](Value row) {
    RowBlock block = makeBlock(unit, chunk, row);
    if (!view.shape.isCausal && view.shape.window == 0 && view.shape.ranges == 0)
      return emitBlock(unit, chunk, block);
    Value least = code.add(block.from, 1);
    code.choose(code.isAtMost(least, block.keys), [&] { emitBlock(unit, chunk, block); });
  };
  if (unit.isAlwaysUnpacked.value_or(false))
    return emitRows(code.constant(0));
  code.loop(0, unit.count, shape.rows, emitRows);
}

//===------------------------------------------- a block of rows --------------------------------------------------===//

/// The rows of a micro-kernel from `row` of the unit on. The first chunk with a key that one of them may see is their
/// first, whether a mask leaves them a key there or not: a state without keys is 0.
AttentionEmitter::RowBlock AttentionEmitter::makeBlock(const Unit &unit, const Chunk &chunk, Value row) {
  RowBlock block{row, code.min(shape.rows, code.subtract(unit.count, row)), code.constant(0), {}, {}};
  KeyRange seen = view.findSeenByRows(unit.head, code.add(unit.firstRow, row), block.count);
  block.keys = code.min(chunk.keys, code.subtract(seen.end, chunk.first));
  block.isFirst = code.isEqual(chunk.first, view.getFirstChunk(seen));
  if (seen.first) {
    Value hidden = code.max(code.subtract(seen.first, chunk.first), 0);
    Value lanes = code.constant(ScoreRows::kLanes);
    block.from = code.multiply(code.divide(hidden, lanes), lanes);
  }
  return block;
}

void AttentionEmitter::emitBlock(const Unit &unit, const Chunk &chunk, RowBlock block) {
  const AttentionMemory &memory = view.memory;
  FloatType arithmetic = view.getArithmetic();
  emitScores(unit, chunk, block);
  emitWeights(unit, chunk, block);
  Value states = view.inSlot(memory.states, arithmetic, code.multiply(block.first, memory.paddedSize));
  Value sums = view.inSlot(memory.sums, arithmetic, code.constant(0));
  emitValues(unit, chunk, block, code.select(block.isFirst, states, sums));
  auto emitFirst = [&] {
    code.loop(0, block.count, 1, [&](Value i) {
      Value row = code.add(block.first, i);
      code.store(code.load(arithmetic, code.at(chunkMaxima, arithmetic, i)),
                 view.inSlot(memory.maxima, arithmetic, row));
      code.store(code.load(arithmetic, code.at(chunkTotals, arithmetic, i)),
                 view.inSlot(memory.totals, arithmetic, row));
    });
  };
  auto emitNext = [&] { code.loop(0, block.count, 1, [&](Value i) { mergeRow(code.add(block.first, i), i); }); };
  code.choose(block.isFirst, emitFirst, emitNext);
}

ScoreRow AttentionEmitter::getScoreRow(const Unit &unit, const Chunk &chunk, const RowBlock &block, Value index) {
  ScoreRow row;
  Value start = code.multiply(index, view.memory.scoreStride);
  row.scores = view.inSlot(view.memory.scores, view.getArithmetic(), start);
  row.from = block.from, row.keys = block.keys;
  row.marksAbsent = chunk.hasSpecial;
  row.see(view, view.getPlace(unit.head, code.add(unit.firstRow, code.add(block.first, index))), chunk.first);
  return row;
}

/// In two loops, so that the next row is worked on while the lanes of one are combined.
void AttentionEmitter::emitWeights(const Unit &unit, const Chunk &chunk, const RowBlock &block) {
  FloatType arithmetic = view.getArithmetic();
  code.loop(0, block.count, 1, [&](Value index) {
    Value max = rows.emitScores(getScoreRow(unit, chunk, block, index));
    code.store(max, code.at(chunkMaxima, arithmetic, index));
  });
  code.loop(0, block.count, 1, [&](Value index) {
    Value max = code.load(arithmetic, code.at(chunkMaxima, arithmetic, index));
    Value sum = rows.emitWeights(getScoreRow(unit, chunk, block, index), max);
    code.store(sum, code.at(chunkTotals, arithmetic, index));
  });
}

/// The state of a row takes in the chunk, whose sums wait in row `waiting`.
void AttentionEmitter::mergeRow(Value row, Value waiting) {
  const AttentionMemory &memory = view.memory;
  FloatType arithmetic = view.getArithmetic();
  Value chunkMax = code.load(arithmetic, code.at(chunkMaxima, arithmetic, waiting));
  Value isThere = code.compare(arith::CmpFPredicate::UNE, chunkMax, -kInfinity);
  code.choose(isThere, [&] {
    Value maxPlace = view.inSlot(memory.maxima, arithmetic, row);
    Value totalPlace = view.inSlot(memory.totals, arithmetic, row);
    Value chunkTotal = code.load(arithmetic, code.at(chunkTotals, arithmetic, waiting));
    State joined =
        numbers.join(code.load(arithmetic, maxPlace), code.load(arithmetic, totalPlace), chunkMax, chunkTotal);
    code.store(joined.max, maxPlace);
    code.store(joined.total, totalPlace);
    Value oldFactor = code.spread(joined.oldFactor, kPanelColumns),
          newFactor = code.spread(joined.newFactor, kPanelColumns);
    Value start = code.multiply(row, memory.paddedSize);
    Value added = code.multiply(waiting, memory.paddedSize);
    code.loop(0, memory.paddedSize, kPanelColumns, [&](Value column) {
      Value place = view.inSlot(memory.states, arithmetic, code.add(start, column));
      Value sum = code.load(view.getVectorType(), view.inSlot(memory.sums, arithmetic, code.add(added, column)));
      Value state = code.load(view.getVectorType(), place);
      code.store(numbers.joinSums(state, sum, oldFactor, newFactor), place);
    });
  });
}
