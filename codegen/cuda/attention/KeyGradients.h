// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a warp does of the backward of attention for the gradients of some keys and their values. The sums of weights
// times gradients are there (QueryGradients.h).

#ifndef RESID_CODEGEN_CUDA_ATTENTION_KEYGRADIENTS_H
#define RESID_CODEGEN_CUDA_ATTENTION_KEYGRADIENTS_H

#include "codegen/cuda/attention/AttentionWarp.h"

namespace mlir::resid::cuda {

/// Walks over the queries that may see a key, of all heads that read it.
class KeyGradients {
public:
  KeyGradients(Code &code, kernels::KernelBody &body);

  /// Everything that the warp does.
  void emit();
  /// Units of all heads, with so many shared keys each (i64).
  static Value countUnits(Code &code, const attention::AttentionShape &shape, int64_t sharedKeys);

private:
  using Numbers = AttentionWarp::Numbers;
  /// Keys of a head, from `first` on; those past the last one stand for it.
  struct Unit {
    attention::KeyHead head;
    Value first, count;
    SmallVector<Value> keys;
  };
  /// Queries of head `head` of q: those from `first` on of those before `end`.
  struct Queries {
    Value head, first, end;
  };

  Unit makeUnit(Value number);
  attention::KeyRange findQueries(const Unit &unit);
  SmallVector<Value> locateKeys(const Unit &unit, unsigned operand);
  SmallVector<Value> locateQueries(ArrayRef<WarpQuery> queries, unsigned operand);
  void makeWeights(const Unit &unit, ArrayRef<WarpQuery> queries);
  Numbers addQueries(const Unit &unit, const Queries &queries, Numbers sums);
  void finish(const Unit &unit, int64_t key, unsigned operand, ArrayRef<Value> sums);

  /// Lists of weights in shared memory: what keys take of queries, and values of dy.
  static constexpr int64_t kOfKeys = 0, kOfValues = 1;

  AttentionWarp warp;
  Code &code;
  const AttentionPlan &plan;
};

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_ATTENTION_KEYGRADIENTS_H
