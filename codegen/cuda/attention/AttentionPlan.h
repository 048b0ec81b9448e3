// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How attention and its backward are dealt out to warps. Not: what a warp does.

#ifndef RESID_CODEGEN_CUDA_ATTENTION_ATTENTIONPLAN_H
#define RESID_CODEGEN_CUDA_ATTENTION_ATTENTIONPLAN_H

#include "codegen/attention/AttentionShape.h"
#include "codegen/builder/Code.h"
#include <optional>

namespace mlir::resid::cuda {

/// Columns of an operand's rows that a thread has: those of its number, its number + 32, and so on.
int64_t countColumns(const attention::AttentionShape &shape, unsigned operand);

/// The chunks of all keys, of which a query of any origin sees no more (i64).
Value countChunks(Code &code, const attention::AttentionShape &shape);
/// Whether a forward has so few queries that a block has one chunk of their keys (i1); and whether it may, as far as
/// that is known when compiling.
Value hasFewQueries(Code &code, const attention::AttentionShape &shape);
bool mayHaveFewQueries(const attention::AttentionShape &shape);

/// What a warp has at a time: the products of some rows, which all threads share, with others, of which each thread has
/// its own: those of its number, its number + 32, and so on. Then it adds up rows that the other ones weigh; there,
/// each thread has the columns of its number, its number + 32, and so on. The warps of a block have the same own rows,
/// which go through shared memory some columns at a time.
struct AttentionPlan {
  /// Rows that threads share: queries of a head of keys, or keys where these are summed.
  int64_t sharedRows;
  /// Of a thread: keys of a chunk, or queries.
  int64_t ownRows;
  /// Of a block; 1, 2 or 4.
  int64_t warps;
  /// Columns that are in shared memory at a time: a power of two, from 4 to 16.
  int64_t terms;
  /// Whether matrix units add up products of queries and keys, and of weights and values of bf16.
  bool usesMatrixUnits = false;

  int64_t getBlockRows() const { return warps * sharedRows; }
  int64_t getThreads() const;

  /// Of the forward: queries are shared. `relaxesProducts`: matrix units may add up products of floats.
  static AttentionPlan chooseForward(const attention::AttentionShape &shape, bool relaxesProducts);
  /// Of the forward of few queries, where a block has one chunk of the keys, and of what joins the chunks of a query.
  static AttentionPlan chooseChunks(const attention::AttentionShape &shape);
  static AttentionPlan chooseJoin();
  /// Of the backward, for the gradients of queries: these are shared. `relaxesProducts`: as of the forward.
  static AttentionPlan chooseQueries(const attention::AttentionShape &shape, bool relaxesProducts);
  /// Of the backward, for the gradients of keys and values: keys are shared. Their number divides the columns of a call
  /// of dropout's generator.
  static AttentionPlan chooseKeys(const attention::AttentionShape &shape, bool relaxesProducts);
};

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_ATTENTION_ATTENTIONPLAN_H
