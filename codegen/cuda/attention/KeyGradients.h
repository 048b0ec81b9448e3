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
  KeyGradients(Code &code, kernels::KernelBody &body, const AttentionPlan &plan);

  /// Everything that the warp does.
  void emit();

private:
  using Numbers = AttentionWarp::Numbers;
  /// Keys of a head: those of the block, and of them the warp's, from `first` on. There are `count` or more.
  struct Unit {
    attention::KeyHead head;
    Value firstOfBlock, first, count;
  };
  /// Queries of head `head` of q: those from `first` on of those before `end`.
  struct Queries {
    Value head, first, end;
  };

  Unit makeUnit(Value number);
  attention::KeyRange findQueries(const Unit &unit);
  attention::QueryPlace getPlace(const Unit &unit, const Queries &queries, Value number);
  Numbers multiply(const Unit &unit, unsigned ofKeys, const Queries &queries, unsigned ofQueries);
  void makeWeights(const Unit &unit, const Queries &queries);
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
