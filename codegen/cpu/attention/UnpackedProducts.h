// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two products of a few rows with keys and values where they lie. Each of these is read once, so that packing would
// not pay. Not: the softmax between the products.

#ifndef RESID_CODEGEN_CPU_ATTENTION_UNPACKEDPRODUCTS_H
#define RESID_CODEGEN_CPU_ATTENTION_UNPACKEDPRODUCTS_H

#include "codegen/cpu/attention/AttentionView.h"
#include "codegen/cpu/contractions/MicroKernelShape.h"

namespace mlir::resid::cpu {

class UnpackedProducts {
public:
  /// `vectorBits`: of a register.
  UnpackedProducts(AttentionView &view, MicroKernelShape shape, int64_t vectorBits);

  /// Whether keys and values lie such that vectors of them can be read.
  bool arePossible() const;

  /// Keys of one head.
  struct Keys {
    KeyHead head;
    Value first, count;
  };
  /// Of `rows` queries with all keys. Rows are as far apart as they are in a slot, here and below.
  void emitScores(const Keys &keys, int64_t rows, Value queries, Value scores);
  /// The sums of the values times their weights.
  void emitValues(const Keys &keys, int64_t rows, Value weights, Value sums);
  /// Whether one of the sums of `rows` rows is Inf or NaN (i1), which it is where a value was.
  Value findSpecial(Value rows, Value sums);

private:
  /// Keys whose products with some rows are taken at a time: where each of them lies, and where their scores begin.
  struct Panel {
    int64_t rows;
    Value queries, scores;
    SmallVector<Value> keys;
  };
  Value atFirst(unsigned operand, const Keys &keys);
  int64_t getGroupKeys() const;
  void forTerms(function_ref<void(Value first, int64_t skipped)> body);
  void startScores(const Keys &keys, int64_t rows, Value scores);
  SmallVector<Value> findKeys(const Keys &keys, Value key, bool isWhole);
  void addTerms(const Panel &panel, Value first, int64_t skipped);
  SmallVector<Value> loadTerms(ArrayRef<Value> keys, Value first);
  SmallVector<int64_t> getColumns() const;

  AttentionView &view;
  Code &code;
  MicroKernelShape shape;
  /// Keys whose scores fill a register, and terms of them that are read at a time.
  int64_t vectorElements, terms;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ATTENTION_UNPACKEDPRODUCTS_H
