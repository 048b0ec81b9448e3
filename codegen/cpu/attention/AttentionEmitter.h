// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits attention: units of rows, chunks of keys, and the states that chunks are merged into. Not: the softmax of a row
// (ScoreRows.h), nor who calls which units (LowerKernels.cpp).

#ifndef RESID_CODEGEN_CPU_ATTENTION_ATTENTIONEMITTER_H
#define RESID_CODEGEN_CPU_ATTENTION_ATTENTIONEMITTER_H

#include "codegen/cpu/attention/ScoreRows.h"
#include "codegen/cpu/attention/UnpackedProducts.h"
#include "codegen/cpu/contractions/MicroKernels.h"

namespace mlir::resid::cpu {

class AttentionEmitter {
public:
  /// `vectorBits`: of a register.
  AttentionEmitter(AttentionView &view, MicroKernelShape shape, int64_t vectorBits, MicroKernels &microKernels)
      : view(view), code(view.code), shape(shape), microKernels(microKernels), rows(view),
        numbers(view.code, view.shape), unpacked(view, shape, vectorBits) {}

  /// Emits the units [low, high).
  void emit(Value low, Value high);

private:
  /// Rows of one head of keys. Row r is query r mod queries of head r div queries, of those that read it.
  struct Unit {
    KeyHead head;
    Value firstRow, count;
    /// All others are absent for all rows.
    KeyRange seen;
    /// Whether keys and values are read where they lie: of this call (i1), and of all calls, if that is known.
    Value isUnpacked;
    std::optional<bool> isAlwaysUnpacked;
  };
  struct Chunk {
    /// The first key, and how many.
    Value first, keys;
    /// Whether a value is, or may be, Inf or NaN, so that 0 times it is not 0.
    Value hasSpecial;
  };
  /// Rows that go through a micro-kernel together: the first within its unit.
  struct RowBlock {
    Value first, count;
    /// Keys of the chunk from `from`, a multiple of 64, up to `keys` are those that some row may see.
    Value from, keys;
    /// Whether no row has seen a key before the chunk.
    Value isFirst;
  };

  Unit makeUnit(const KeyHead &head, Value first, Value end);
  void emitUnit(const Unit &unit);
  void startRows(const Unit &unit);
  void chooseForm(Unit &unit);
  SmallVector<Value> inForm(const Unit &unit, TypeRange types, function_ref<SmallVector<Value>()> unpacked,
                            function_ref<SmallVector<Value>()> packed);
  void emitChunk(const Unit &unit, Value first);
  RowBlock makeBlock(const Unit &unit, const Chunk &chunk, Value row);
  void emitBlock(const Unit &unit, const Chunk &chunk, RowBlock block);
  void forHeights(Value count, function_ref<void(int64_t height, Value first)> body);
  void forUnpackedHeights(Value count, function_ref<void(int64_t height, Value first)> body);
  UnpackedProducts::Keys getKeys(const Unit &unit, const Chunk &chunk, const RowBlock &block);
  void emitPackedScores(const RowBlock &block, int64_t height, Value first);
  void emitUnpackedScores(const Unit &unit, const Chunk &chunk, const RowBlock &block, int64_t height, Value first);
  void emitPackedValues(const RowBlock &block, Value target);
  void emitUnpackedValues(const Unit &unit, const Chunk &chunk, const RowBlock &block, Value target);
  void emitScores(const Unit &unit, const Chunk &chunk, const RowBlock &block);
  ScoreRow getScoreRow(const Unit &unit, const Chunk &chunk, const RowBlock &block, Value index);
  void emitWeights(const Unit &unit, const Chunk &chunk, const RowBlock &block);
  void emitValues(const Unit &unit, const Chunk &chunk, const RowBlock &block, Value target);
  void emitSpecialValues(const Unit &unit, const Chunk &chunk, const RowBlock &block, Value target);
  using State = attention::ScoreArithmetic::State;
  void mergeRow(Value row, Value waiting);
  void finishRow(const Unit &unit, Value row);

  AttentionView &view;
  Code &code;
  MicroKernelShape shape;
  MicroKernels &microKernels;
  ScoreRows rows;
  attention::ScoreArithmetic numbers;
  UnpackedProducts unpacked;
  /// Stack memory for m and l of the rows of a block.
  Value chunkMaxima, chunkTotals;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ATTENTION_ATTENTIONEMITTER_H
