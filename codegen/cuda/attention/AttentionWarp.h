// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The words in which attention on warps is emitted: units of work, numbers of rows, products, scores and weighted sums.
// Not: their order.

#ifndef RESID_CODEGEN_CUDA_ATTENTION_ATTENTIONWARP_H
#define RESID_CODEGEN_CUDA_ATTENTION_ATTENTIONWARP_H

#include "codegen/attention/AttentionPlaces.h"
#include "codegen/attention/ScoreArithmetic.h"
#include "codegen/cuda/attention/AttentionPlan.h"
#include "codegen/kernels/SharedFunctions.h"
#include "codegen/rows/RowsDialect.h"

namespace mlir::resid::cuda {

/// A query, which keys it sees, and where its numbers are.
struct WarpQuery {
  attention::QueryPlace place;
  attention::KeyRange seen;
  /// Those of its mask, and its row in the counters of dropout; null without one.
  Value mask, randomRow;
};

/// Which keys a query sees among up to 256 that follow each other: by numbers (i32) that count from the first of them.
struct SeenHere {
  /// Null: `first` is 0.
  Value first, end;
  /// Where the mask's numbers of these keys begin, and the last key that has one; null without a mask.
  Value mask, last;
};

/// Some queries of one head of keys, which a warp shares.
struct QueryUnit {
  attention::KeyHead head;
  /// Rows of the head, as AttentionPlaces numbers them. Those past the last one stand for it, and are not in `count`.
  Value firstRow, count;
  /// Keys that one of the block's queries may see, of which the last one is there.
  attention::KeyRange seen;
  /// All other rows see none of them; null: all rows of the block may.
  Value firstInPart, endOfPart;
  /// The place of the first row.
  attention::QueryPlace first;
};

/// Emits into a function of a GPU, at the place of `code`. Rows and columns of a plan stand in lists: element
/// i · n + j is that of shared row i and of a thread's own row (or column) j of n. Columns are those of the operand
/// that is read or stored.
class AttentionWarp : public attention::AttentionPlaces {
public:
  using Numbers = SmallVector<Value>;

  /// `weighted`: operands whose rows are added up by weights. A warp keeps a list of weights for each of them in shared
  /// memory.
  AttentionWarp(Code &code, kernels::KernelBody &body, const AttentionPlan &plan, ArrayRef<unsigned> weighted);
  AttentionWarp(const AttentionWarp &) = delete;

  const AttentionPlan plan;
  attention::ScoreArithmetic numbers;
  /// The thread's number in its warp (i64).
  Value lane;
  /// Rows of the block that come before those of the warp (i64).
  Value rowsBefore;

  /// Units that this block runs, of all heads with `rows` each.
  void forUnits(Value rows, function_ref<void(Value unit)> body);
  /// A thread's row number `own`, of rows that begin at `first`.
  Value getOwn(Value first, int64_t own) { return code.add(first, code.add(lane, own * kOwnStep)); }

  /// Units of all heads of keys (i64), where each head has `rows` and a unit `blockRows`.
  static Value countUnits(Code &code, const attention::AttentionShape &shape, Value rows, int64_t blockRows);
  /// The head of a unit, and the first row of its block.
  std::pair<attention::KeyHead, Value> findBlock(Value unit, Value rows);
  QueryUnit makeQueryUnit(Value number);
  /// Runs a body on the rows of the unit's block, those of each origin by themselves: other rows see no key then.
  Numbers forParts(const QueryUnit &unit, Numbers first,
                   function_ref<Numbers(const QueryUnit &part, Numbers before)> body);
  /// The numbers `after`, as many for each shared row, but those `before` of rows that are not in the part.
  Numbers takePart(const QueryUnit &part, Numbers after, ArrayRef<Value> before);
  /// The row that has this number (i64) among those of the warp, and its place. Those past the last one stand for it.
  Value getRow(const QueryUnit &unit, Value number);
  attention::QueryPlace getRowPlace(const QueryUnit &unit, Value number);
  WarpQuery makeQuery(const attention::QueryPlace &place);
  /// Calls `body` with each row of a unit and its query, which is computed there, so that it takes no registers before.
  void forQueries(const QueryUnit &unit, function_ref<void(int64_t row, const WarpQuery &query)> body);
  /// A query's keys from `first` on, of those before `end`, of which the last one is there.
  SeenHere findSeenHere(const WarpQuery &query, Value first, Value end);
  /// The thread's own keys of a chunk, as SeenHere counts them.
  Numbers getKeyNumbers();
  /// One number in the arithmetic type, and back.
  Value load(unsigned operand, Value pointer);
  void store(Value number, unsigned operand, Value pointer);
  /// What the threads' columns of a row are; of the columns past the last one, any number.
  Numbers loadColumns(unsigned operand, Value row);
  /// Stores the threads' columns of a row. `sums`: one number for each.
  void storeColumns(ArrayRef<Value> sums, unsigned operand, Value row);

  /// What a row of a head has of a chunk (i64), in scratch memory: the largest score, the sum of the weights, and the
  /// sums of values; by the first number of the forward of few queries.
  Value atChunkState(const attention::KeyHead &head, Value row, Value chunk);
  /// Words of it.
  int64_t countStateNumbers() const { return 2 + shape.getValueSize(); }
  /// Whether a unit's row is in its part (i1); null where all are.
  Value isInPart(const QueryUnit &part, int64_t row);

  /// Of a backward: the sum of weights times gradients of a row of a head, in scratch memory.
  void storeMean(Value mean, const attention::KeyHead &head, Value row);
  Value loadMean(const attention::KeyHead &head, const attention::QueryPlace &place);

  /// Rows of an operand, and where the one with a number (i64) begins.
  struct Rows {
    unsigned operand;
    function_ref<Value(Value number)> locate;
    /// The same where all of them are there (i1), which takes less time; null without such a form.
    function_ref<Value(Value number)> locateEach = {};
    Value areThere = {};
  };
  /// The products of shared rows of the warp and own rows of all threads of the block: chains along their columns. All
  /// warps of the block come here, and may store weights afterwards.
  Numbers multiply(const Rows &sharedRows, const Rows &ownRows);
  /// The same by the plan's matrix units.
  Numbers multiplyOnMatrixUnits(const Rows &sharedRows, const Rows &ownRows);
  /// Those of a unit's queries and the keys of the chunk that begins at `first`.
  Numbers multiplyChunk(const QueryUnit &unit, Value first, unsigned ofQueries, unsigned ofKeys);
  /// The score of a query's product with the key that has this number (i32). `slope`: as ScoreArithmetic::scale has it.
  Value makeScore(const SeenHere &seen, Value product, Value key, Value *slope = nullptr);
  /// The sum S, or the largest, of numbers of the keys of a chunk, of which the thread has those of its own.
  Value reduce(rows::ReductionKind kind, ArrayRef<Value> own);
  /// Which of a thread's own keys of the chunk that begins at key `first` dropout keeps (i1).
  Numbers drawKept(const WarpQuery &query, Value first);
  /// Which of the 8 keys from `first` on, a multiple of 8, dropout keeps: bits of an i32.
  Value drawCall(const WarpQuery &query, Value first);

  /// In shared memory, list `list`: the weights of the thread's own rows for shared rows from `first` on. Number
  /// i · n + j is that of shared row `first` + i and own row j of n.
  void storeWeights(int64_t list, ArrayRef<Value> weights, int64_t first = 0);
  /// Shared rows whose weights for an own row are one access.
  int64_t getVectorRows() const;
  Numbers loadWeights(int64_t list, Value own);
  /// Adds the columns of rows, each times its weight for each shared row, to `sums`: those from `begin` up to `end`
  /// (i64), ascending. `locate`: where a row begins. `skipsAbsent`: those of weight -0 are left out. Rows of bf16 are
  /// for the plan's matrix units, which say in which order; all warps of the block come here then with the same
  /// numbers, and it overwrites list 0.
  Numbers addWeighted(Numbers sums, int64_t list, Value begin, Value end, unsigned operand,
                      function_ref<Value(Value own)> locate, bool skipsAbsent = false);
  /// The same with the keys of a chunk that a unit may see.
  Numbers addKeys(Numbers sums, const QueryUnit &unit, Value first, unsigned operand, bool skipsAbsent = false);
  /// Whether one of these is Inf or NaN (i1).
  Value isAnySpecial(ArrayRef<Value> sums);
  /// What threads left in shared memory, the warp may read then; and overwrite what it has read.
  void synchronize();

  static constexpr int64_t kOwnStep = 32;

private:
  /// What a block keeps in shared memory: rows of columns, and then weights in the same place.
  void allocate(ArrayRef<unsigned> weighted);
  int64_t getRowStride() const;
  /// Of rows in shared memory: the arithmetic type, or that of memory for matrix units.
  Type getRowType() const {
    return plan.usesMatrixUnits ? getElementType(attention::AttentionShape::kK) : getArithmetic();
  }
  Value atTerm(Value rows, Value row, Value term);
  void copyTerms(const Rows &rows, Value number, Value first, Value term, Value target);
  void copyRows(const Rows &sharedRows, const Rows &ownRows, Value first);
  SmallVector<Numbers> loadTerms(Value rows, ArrayRef<Value> numbers, Value term);
  Value atWeights(int64_t list, Value own, int64_t first = 0);
  Value getColumn(int64_t column);
  int64_t getTileColumns(unsigned operand) const;
  Value atTile(Value row, Value column, unsigned operand);
  void copyTile(Value first, Value begin, Value end, unsigned operand, function_ref<Value(Value)> locate);
  Numbers addInOrder(Numbers sums, int64_t list, Value begin, Value end, unsigned operand,
                     function_ref<Value(Value)> locate, bool skipsAbsent);
  /// By matrix units. Sums that are Inf or NaN are made again in order, from the weights that are not split.
  Numbers addOnMatrixUnits(Numbers sums, int64_t list, Value begin, Value end, unsigned operand,
                           function_ref<Value(Value)> locate, bool skipsAbsent);
  /// The sums that multiplyMatrices gives, of 16 columns after the other and of the shared rows.
  Numbers multiplyWeights(int64_t list, Value begin, Value end, unsigned operand, function_ref<Value(Value)> locate);
  /// Sums of products, of which the thread gets those of `ownRows` rows. Overwrites list 0 of the weights.
  Numbers exchangeSums(ArrayRef<Value> sums, int64_t ownRows);
  Value countRowsBefore(const attention::KeyHead &head, Value row);
  Value atMean(const attention::KeyHead &head, Value row);

  /// The numbers of the thread and of the warp in their block (i64).
  Value thread, warp;
  /// In shared memory: the weights and the shared rows of the warp, and the own rows of the block.
  Value weights, shared, own;
  /// With matrix units: some rows of values, after the weights of all warps.
  Value tile;
};

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_ATTENTION_ATTENTIONWARP_H
