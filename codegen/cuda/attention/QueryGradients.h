// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a warp does of the backward of attention for the gradients of some queries, and of their sinks. Not: those of
// keys and values (KeyGradients.h).

#ifndef RESID_CODEGEN_CUDA_ATTENTION_QUERYGRADIENTS_H
#define RESID_CODEGEN_CUDA_ATTENTION_QUERYGRADIENTS_H

#include "codegen/cuda/attention/AttentionWarp.h"

namespace mlir::resid::cuda {

/// Walks over the chunks of keys twice, or over halves of them: for the sums of weights times gradients, which stay in
/// scratch memory too, and for the gradients of queries.
class QueryGradients {
public:
  QueryGradients(Code &code, kernels::KernelBody &body, const AttentionPlan &plan);

  /// Everything that the warp does.
  void emit();

private:
  using Numbers = AttentionWarp::Numbers;
  /// Of each query: m and l of the forward.
  struct Statistics {
    Numbers max, sum;
  };
  /// Of the queries and the thread's keys of a chunk.
  struct Weights {
    Numbers weights, gradients, slopes;
  };

  Statistics loadStatistics(const QueryUnit &unit);
  Weights makeWeights(const QueryUnit &unit, const Statistics &statistics, Value first);
  Numbers addTerms(const QueryUnit &unit, const Statistics &statistics, Value first, Numbers means);
  Numbers addChunk(const QueryUnit &unit, const Statistics &statistics, ArrayRef<Value> means, Value first,
                   Numbers sums);
  void finish(const QueryUnit &unit, const WarpQuery &query, int64_t row, const Statistics &statistics, Value mean,
              ArrayRef<Value> sums);

  AttentionWarp warp;
  Code &code;
  const AttentionPlan &plan;
};

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_ATTENTION_QUERYGRADIENTS_H
