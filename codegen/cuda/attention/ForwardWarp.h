// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a warp does of attention: some queries of a head, and the chunks of keys that they see, one after the other.

#ifndef RESID_CODEGEN_CUDA_ATTENTION_FORWARDWARP_H
#define RESID_CODEGEN_CUDA_ATTENTION_FORWARDWARP_H

#include "codegen/cuda/attention/AttentionWarp.h"

namespace mlir::resid::cuda {

class ForwardWarp {
public:
  ForwardWarp(Code &code, kernels::KernelBody &body, const AttentionPlan &plan);

  /// Everything that the warp does: its chunks one after the other.
  void emit();
  /// Of few queries: one chunk, whose states go to scratch memory.
  void emitOneChunk();
  /// Of few queries: joins the chunks of one row, in their order.
  void emitJoin();

private:
  using Numbers = AttentionWarp::Numbers;
  /// Of each query, the largest score and the sum of the weights, and of each of the thread's columns the sum of
  /// values.
  struct States {
    Numbers maxima, totals, sums;
  };

  /// What a thread keeps in registers of the states, from chunk to chunk.
  Numbers pack(const States &states);
  States unpack(ValueRange packed);
  Value atSum(int64_t number);
  States join(const States &states, const States &chunk);
  States emitChunk(const QueryUnit &unit, Value first);
  void storeStates(const QueryUnit &part, Value chunk, const States &states);
  States loadState(const QueryUnit &unit, Value chunk);
  void emitWeights(const QueryUnit &unit, Value first, States &chunk);
  Numbers emitRowWeights(const QueryUnit &unit, Value first, const WarpQuery &query, ArrayRef<Value> products);
  Numbers emitValues(const QueryUnit &unit, Value first);
  void finish(const WarpQuery &query, int64_t row, const States &states);

  AttentionWarp warp;
  Code &code;
  const AttentionPlan &plan;
  /// Of values, that a thread has.
  int64_t columns;
  /// In shared memory, the thread's first sum of values, of all queries.
  Value sums;
};

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_ATTENTION_FORWARDWARP_H
