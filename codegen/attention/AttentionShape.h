// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes of an attention kernel on buffers, and where its operands' elements lie. Not: how a target runs it.

#ifndef RESID_CODEGEN_ATTENTION_ATTENTIONSHAPE_H
#define RESID_CODEGEN_ATTENTION_ATTENTIONSHAPE_H

#include "codegen/attention/AttentionDialect.h"
#include "codegen/kernels/Extent.h"
#include "dialect/SeenKeys.h"

namespace mlir::resid::attention {

using kernels::Extent;

/// Keys whose softmax is taken at once; part of the arithmetic (docs/numerics.md).
inline constexpr int64_t kChunkKeys = 256;

/// An operand with a map.
struct MappedBuffer {
  Value buffer;
  Type elementType;
  /// The distance of neighbours in elements, per loop; 0 where the operand does not have it, or broadcasts.
  SmallVector<Extent> strides;
  /// Of a row; 0 where it has none. Queries and keys have those of a head, values and what is made of them have theirs.
  int64_t columns = 0;
};

struct AttentionShape : kernels::KernelIndexing {
  /// q, k, v, the mask, the sink and the ranges (if they are there), the inits. Of a backward, dy, max and sum come
  /// before the inits.
  SmallVector<MappedBuffer> operands;
  bool hasMask = false, hasSink = false, hasStatistics = false, isCausal = false, isCache = false, isBackward = false;
  /// How many operands the range of a query is: first and end, or origin too; none without ranges.
  unsigned ranges = 0;
  /// Heads of keys; heads of queries for each of them.
  Extent batches, keyHeads, group;
  Extent queries, keys;
  FloatType arithmetic;
  /// 0 without one.
  int64_t window = 0;
  double scale = 0, cap = 0;
  /// Those of dropout; 0 without one.
  int64_t threshold = 0;
  double keptScale = 0;
  /// Where operands lie, and scratch memory, if the target asked for some.
  SmallVector<Value> pointers;
  Value scratch;
  /// How many keys were in the cache before (i64); null without a cache.
  Value past;
  /// What the counters of dropout have in common (i64), as the kernel has it.
  SmallVector<Value> dropout;

  static constexpr unsigned kQ = 0, kK = 1, kV = 2, kMask = 3;
  int64_t getHeadSize() const { return operands[kQ].columns; }
  int64_t getValueSize() const { return operands[kV].columns; }
  /// Of the products that each pair of a query and a key takes part in.
  int64_t countTerms() const {
    return isBackward ? 3 * getHeadSize() + 2 * getValueSize() : getHeadSize() + getValueSize();
  }
  SeenKeys getSeenKeys() const { return {isCausal, window}; }
  unsigned getSink() const { return hasMask ? 4 : 3; }
  /// The first of them: first, end, origin.
  unsigned getRanges() const { return getSink() + (hasSink ? 1 : 0); }
  bool hasOrigins() const { return ranges == 3; }
  unsigned getResult() const { return getRanges() + ranges; }
  /// Of a backward.
  unsigned getDy() const { return getResult(); }
  unsigned getMax() const { return getDy() + 1; }
  unsigned getSum() const { return getDy() + 2; }
  unsigned getDq() const { return getDy() + 3; }
  unsigned getDk() const { return getDy() + 4; }
  unsigned getDv() const { return getDy() + 5; }
  unsigned getDsinks() const { return getDy() + 6; }

  std::shared_ptr<KernelIndexing> clone() const override { return std::make_shared<AttentionShape>(*this); }
  void forEachValue(function_ref<void(Value &)> visit) override;
  ArrayAttr getFacts() const override;
  /// The words of dropout are arguments.
  kernels::ConstantUse getConstantUse(Value constant, bool isOuter) const override {
    return llvm::is_contained(dropout, constant) ? kernels::ConstantUse::Argument : kernels::ConstantUse::InCode;
  }
  /// So many keys at most may be seen by `rows` queries of a head that follow each other.
  Extent countSeenKeys(OpBuilder &builder, Location loc, int64_t rows) const;
  /// Rows of all heads, or of a backward the heads of keys; and the terms of their products.
  kernels::KernelWork countWork(OpBuilder &builder, Location loc) const override;

  /// Reads a kernel on buffers; emits what reads sizes and strides that are not known, before the kernel. Pointers are
  /// left out.
  static FailureOr<AttentionShape> create(OpBuilder &builder, KernelOp kernel);
  static FailureOr<AttentionShape> create(OpBuilder &builder, BackwardOp kernel);
};

} // namespace mlir::resid::attention

#endif // RESID_CODEGEN_ATTENTION_ATTENTIONSHAPE_H
