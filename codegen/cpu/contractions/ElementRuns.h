// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs of up to 16 elements in memory, at any stride, as vectors. Not: whose elements they are.

#ifndef RESID_CODEGEN_CPU_CONTRACTIONS_ELEMENTRUNS_H
#define RESID_CODEGEN_CPU_CONTRACTIONS_ELEMENTRUNS_H

#include "codegen/builder/Code.h"
#include "codegen/kernels/Extent.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::resid::cpu {

/// What an element is in memory: 16-bit floats are moved as integers, since LLVM takes vectors of bf16 apart where the
/// processor does not know the type.
Type getMovedType(Type element);

class ElementRuns {
public:
  /// Stack memory is taken in `entry`.
  ElementRuns(Code &code, Block *entry) : code(code), entry(entry) {}

  /// 16 elements from `start` on, of type `element`. `count` (i64) says how many there are; null: all. Lanes of absent
  /// ones hold anything. A stride of 0 is one element for all.
  Value load(Type element, Value start, const kernels::Extent &stride, Value count);
  void store(Value vector, Type element, Value start, const kernels::Extent &stride, Value count);

private:
  Value getBuffer(Type type);
  void copy(Type type, Value from, Value fromStride, Value to, Value toStride, Value count);

  Code &code;
  Block *entry;
  DenseMap<Type, Value> buffers;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_CONTRACTIONS_ELEMENTRUNS_H
