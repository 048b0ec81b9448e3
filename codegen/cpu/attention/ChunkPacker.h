// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packs the keys and values of a chunk into the slot, in panels of 16. Not: what they are multiplied by.

#ifndef RESID_CODEGEN_CPU_ATTENTION_CHUNKPACKER_H
#define RESID_CODEGEN_CPU_ATTENTION_CHUNKPACKER_H

#include "codegen/cpu/attention/AttentionView.h"
#include "codegen/cpu/contractions/KernelView.h"

namespace mlir::resid::cpu {

class ChunkPacker {
public:
  ChunkPacker(AttentionView &view, const KeyHead &head) : view(view), code(view.code), head(head) {}

  /// The keys [first, first + count).
  void pack(Value first, Value count);
  /// The same of one operand, k or v, at `target`: as panels whose columns are keys, or those of the head. The distance
  /// of panels is in elements.
  void packKeys(unsigned operand, Value first, Value count, Value target, int64_t panelStride);
  void packColumns(unsigned operand, Value first, Value count, Value target, int64_t panelStride);
  /// Whether one of the packed values is Inf or NaN (i1). Columns past the size of a head hold anything; they may make
  /// it true for nothing.
  Value findSpecial(Value count);

private:
  KernelView viewKeys(unsigned operand, Value end);
  KernelView viewColumns(unsigned operand);

  AttentionView &view;
  Code &code;
  KeyHead head;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ATTENTION_CHUNKPACKER_H
