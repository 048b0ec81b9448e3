// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sizes follow from the registers of a thread: 255 at most.

#include "codegen/cuda/attention/AttentionPlan.h"

#include "codegen/cuda/DeviceKernel.h"
#include "codegen/cuda/MatrixUnits.h"
#include "codegen/cuda/rows/Shuffles.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::attention;

/// Words of the sums of a thread's columns, and rows that are shared at most.
static constexpr int64_t kSumWords = 32, kMostShared = 8;
static constexpr int64_t kMostWarps = 4;
/// Of f32.
static constexpr int64_t kLeastTerms = 4, kMostTerms = 16;
/// Of a thread at most: keys of a chunk, and queries.
static constexpr int64_t kOwnKeys = kChunkKeys / kWarpThreads, kOwnQueries = 4;

/// Of the arithmetic type.
static int64_t countRegisters(const AttentionShape &shape) { return FloatType(shape.arithmetic).getWidth() / 32; }

/// To a power of two.
static int64_t raise(int64_t number) { return int64_t(llvm::bit_ceil(uint64_t(std::max<int64_t>(1, number)))); }

int64_t cuda::countColumns(const AttentionShape &shape, unsigned operand) {
  return llvm::divideCeil(shape.operands[operand].columns, kWarpThreads);
}

/// Of a head of keys.
static Extent countRows(const AttentionShape &shape) {
  bool areKnown = shape.group.isKnown() && shape.queries.isKnown();
  return {{}, areKnown ? shape.group.known * shape.queries.known : ShapedType::kDynamic};
}

Value cuda::countChunks(Code &code, const AttentionShape &shape) {
  return code.ceilDivide(shape.keys.value, code.constant(kChunkKeys));
}

/// The blocks of the form for many queries.
static Value countBlocks(Code &code, const AttentionShape &shape) {
  Value rows = code.multiply(shape.group.value, shape.queries.value);
  Value blockRows = code.constant(AttentionPlan::chooseForward(shape, /*relaxesProducts=*/false).getBlockRows());
  return code.multiply(code.multiply(shape.batches.value, shape.keyHeads.value), code.ceilDivide(rows, blockRows));
}

Value cuda::hasFewQueries(Code &code, const AttentionShape &shape) {
  Value hasChunks = code.isAtMost(code.constant(kChunkKeys + 1), shape.keys.value);
  return code.both(hasChunks, code.isAtMost(countBlocks(code, shape), kFewestBlocks - 1));
}

bool cuda::mayHaveFewQueries(const AttentionShape &shape) {
  bool hasOneChunk = shape.keys.isKnown() && shape.keys.known <= kChunkKeys;
  int64_t blocks = 1;
  for (const Extent &size : {shape.batches, shape.keyHeads, countRows(shape)})
    blocks *= size.isKnown() ? std::max<int64_t>(1, size.known) : 1;
  // What is not known makes more blocks, not fewer.
  int64_t least =
      llvm::divideCeil(blocks, AttentionPlan::chooseForward(shape, /*relaxesProducts=*/false).getBlockRows());
  return !hasOneChunk && !shape.isBackward && least < kFewestBlocks;
}

/// As many shared rows as there are registers for: a sum of each of a thread's `columns`, and products of each own row.
/// `rows`: so many there are.
static AttentionPlan choose(const AttentionShape &shape, int64_t most, int64_t columns, const Extent &rows) {
  int64_t wide = countRegisters(shape), fitting = std::min(most / wide, kSumWords / (columns * wide));
  AttentionPlan plan;
  plan.sharedRows = int64_t(llvm::bit_floor(uint64_t(std::max<int64_t>(1, fitting))));
  plan.warps = kMostWarps;
  if (rows.isKnown()) {
    plan.sharedRows = std::min(plan.sharedRows, raise(rows.known));
    plan.warps = std::min(kMostWarps, raise(llvm::divideCeil(rows.known, plan.sharedRows)));
  }
  plan.terms = std::clamp(raise(shape.getHeadSize()), kLeastTerms, kMostTerms / wide);
  return plan;
}

int64_t AttentionPlan::getThreads() const { return warps * kWarpThreads; }

static int64_t countOwn(const Extent &rows, int64_t most) {
  int64_t needed = rows.isKnown() ? std::max<int64_t>(1, llvm::divideCeil(rows.known, kWarpThreads)) : most;
  return std::min(needed, most);
}

/// Eight shared rows are the columns of a product on matrix units. Of own rows there are the most, such as the 256 keys
/// of a forward's chunk. A backward has products of dy and values too.
static bool suitsMatrixUnits(const AttentionPlan &plan, const AttentionShape &shape, int64_t ownRows) {
  auto takes = [&](unsigned a, unsigned b) {
    return takesMatrices(shape.operands[a].elementType, shape.operands[b].elementType, shape.arithmetic);
  };
  constexpr unsigned q = AttentionShape::kQ, k = AttentionShape::kK, v = AttentionShape::kV;
  return plan.sharedRows == kMatrixColumns && plan.ownRows == ownRows && plan.terms == kMatrixTerms && takes(q, k) &&
         (!shape.isBackward || (takes(k, v) && takes(shape.getDy(), v)));
}

AttentionPlan AttentionPlan::chooseForward(const AttentionShape &shape, bool relaxesProducts) {
  AttentionPlan plan = choose(shape, kMostShared, countColumns(shape, AttentionShape::kV), countRows(shape));
  plan.ownRows = countOwn(shape.keys, kOwnKeys);
  plan.usesMatrixUnits = relaxesProducts && suitsMatrixUnits(plan, shape, kOwnKeys);
  // With the most sums, the weights and sums of four warps leave no shared memory for rows of values.
  if (plan.usesMatrixUnits && plan.sharedRows * countColumns(shape, AttentionShape::kV) == kSumWords)
    plan.warps = std::min(plan.warps, kMostWarps / 2);
  return plan;
}

/// Few rows are shared out over warps, which bring keys for each other. As many are shared as a query has heads, where
/// no more is known.
AttentionPlan AttentionPlan::chooseChunks(const AttentionShape &shape) {
  AttentionPlan plan = choose(shape, kMostShared / 2, countColumns(shape, AttentionShape::kV), countRows(shape));
  plan.ownRows = countOwn(shape.keys, kOwnKeys);
  if (!countRows(shape).isKnown())
    plan.sharedRows = std::min(plan.sharedRows, shape.group.isKnown() ? raise(shape.group.known) : 1);
  return plan;
}

AttentionPlan AttentionPlan::chooseJoin() { return {/*sharedRows=*/1, /*ownRows=*/1, kMostWarps, kLeastTerms}; }

/// A thread has two products of each of its keys, and so half as many pairs of queries and keys as in a forward: half
/// of the queries or, with matrix units, half of a chunk's keys.
AttentionPlan AttentionPlan::chooseQueries(const AttentionShape &shape, bool relaxesProducts) {
  auto chooseAtMost = [&](int64_t queries, int64_t keys) {
    AttentionPlan plan = choose(shape, queries, countColumns(shape, AttentionShape::kK), countRows(shape));
    plan.ownRows = countOwn(shape.keys, keys);
    return plan;
  };
  AttentionPlan plan = chooseAtMost(kMostShared, kOwnKeys / 2);
  plan.usesMatrixUnits = relaxesProducts && suitsMatrixUnits(plan, shape, kOwnKeys / 2);
  return plan.usesMatrixUnits ? plan : chooseAtMost(kMostShared / 2, kOwnKeys);
}

AttentionPlan AttentionPlan::chooseKeys(const AttentionShape &shape, bool relaxesProducts) {
  int64_t columns = countColumns(shape, AttentionShape::kK) + countColumns(shape, AttentionShape::kV);
  AttentionPlan plan = choose(shape, kMostShared, columns, shape.keys);
  plan.ownRows = countOwn(shape.queries, kOwnQueries);
  plan.usesMatrixUnits = relaxesProducts && suitsMatrixUnits(plan, shape, kOwnQueries);
  return plan;
}
