// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the function of an attention.backward: for each head of keys, blocks of queries go through chunks of its keys.
// All sums of a head are made in one task, in the order that docs/dialect/attention_grad.md fixes. Not: how the heads
// are cut into tasks (LowerKernels.cpp).

#ifndef RESID_CODEGEN_CPU_ATTENTION_BACKWARDEMITTER_H
#define RESID_CODEGEN_CPU_ATTENTION_BACKWARDEMITTER_H

#include "codegen/cpu/attention/BackwardMemory.h"
#include "codegen/cpu/attention/BackwardRows.h"
#include "codegen/cpu/contractions/MicroKernels.h"

namespace mlir::resid::cpu {

class BackwardEmitter {
public:
  BackwardEmitter(AttentionView &view, MicroKernelShape shape, MicroKernels &microKernels)
      : view(view), code(view.code), memory(view.shape), shape(shape), microKernels(microKernels), rows(view),
        numbers(view.code, view.shape) {}

  /// Emits the heads of keys [low, high).
  void emit(Value low, Value high);

private:
  /// Rows of one head of keys. Row r is query r mod queries of head r div queries, of those that read it.
  struct RowBlock {
    Value first, count;
    /// All others are absent for all rows.
    KeyRange seen;
  };
  struct Chunk {
    /// The first key, how many there are, and panels of 16 of them.
    Value first, keys, panels;
    /// Where its memory begins.
    Value place;
  };
  /// Adds the products of some rows and panels to sums.
  struct Product {
    Value rows, panels;
    Type bType;
    int64_t sumStride;
    bool startsAtZero;
    MicroKernels::Operands operands;
  };

  void forChunks(const KeyRange &keys, function_ref<void(const Chunk &)> body);
  Value inChunk(const Chunk &chunk, int64_t offset, Type element);
  Value getRow(Value rows, Value row, int64_t stride);
  void fillZeros(Value target, Value rows, int64_t columns, int64_t stride);

  void emitKeys(const KeyHead &head, const KeyRange &keys, Value first, Value end);
  void clearKeys(const KeyHead &head);
  void startChunk(const KeyHead &head, const Chunk &chunk);
  void emitBlock(const KeyHead &head, Value first, Value all);
  void startRows(const KeyHead &head, const RowBlock &block);
  void turn(Value source, int64_t sourceStride, Value target, int64_t targetStride, Value rows, Value columns);
  void emitWeights(const KeyHead &head, const RowBlock &block, const Chunk &chunk);
  void emitScoreGradients(const KeyHead &head, const RowBlock &block, const Chunk &chunk);
  BackwardRow makeRow(const KeyHead &head, const RowBlock &block, const Chunk &chunk, Value row);
  void storeRow(Value source, unsigned operand, Value target);
  void finishChunk(const KeyHead &head, const Chunk &chunk, int64_t sums, unsigned operand, int64_t room,
                   int64_t stride);
  void emitProduct(const Product &product);
  void emitPanels(const Product &product, Value panel, int64_t count);

  AttentionView &view;
  Code &code;
  BackwardMemory memory;
  MicroKernelShape shape;
  MicroKernels &microKernels;
  BackwardRows rows;
  attention::ScoreArithmetic numbers;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ATTENTION_BACKWARDEMITTER_H
