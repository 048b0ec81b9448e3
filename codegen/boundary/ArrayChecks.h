// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a C function checks about its arrays before it works on them: pointers, sizes, row strides, overlaps. Does not
// own which outputs may be an input's buffer (SharedBuffers.h).

#ifndef RESID_CODEGEN_BOUNDARY_ARRAYCHECKS_H
#define RESID_CODEGEN_BOUNDARY_ARRAYCHECKS_H

#include "codegen/boundary/ArraySizes.h"
#include "codegen/boundary/EntryCode.h"
#include <map>

namespace mlir::resid::boundary {

class ArrayChecks {
public:
  ArrayChecks(EntryCode &entry, ArraySizes &code, const KernelSignature &signature, ArrayRef<EntryParameter> arguments,
              ArrayRef<EntryParameter> results)
      : entry(entry), code(code), signature(signature), arguments(arguments), results(results) {}

  /// Refuses with RESID_BAD_POINTER, RESID_BAD_SHAPE or RESID_ALIAS, in this order.
  void emit();

private:
  /// The bytes [start, start + bytes), if the array has elements.
  struct Range {
    const EntryParameter *array;
    SmallVector<int64_t> shape; // by KernelSignature::getSharedSize
    Value start, bytes, lastByte;
  };
  struct Pair {
    const Range *output, *other;
    bool mayBeEqual;
    bool areStrided() const { return output->array->stride && other->array->stride; }
  };
  /// Pairs by the open sizes on which it depends whether both arrays have elements.
  using PairsBySizes = std::map<SmallVector<int64_t>, SmallVector<Pair>>;

  void checkPointers();
  /// The same of addresses that are stored.
  void checkAddresses();
  void checkSizes();
  void checkOverlaps();
  /// Whether arrays are too many to look at each pair.
  bool isTabled() const;
  void checkTables();
  SmallVector<Range> emitRanges(ArrayRef<EntryParameter> arrays);
  PairsBySizes collectPairs(ArrayRef<Range> inputs, ArrayRef<Range> outputs);
  /// Whether the ranges of two arrays that have elements share a byte, and the arrays are not one that may be shared.
  Value doOverlap(const Pair &pair);
  /// Leaves where two strided arrays overlap, but do not take turns.
  void checkStrided(const Pair &pair);
  /// Whether the rows of two strided arrays take turns, each in columns of its own.
  Value areInterleaved(const Range &a, const Range &b);

  EntryCode &entry;
  ArraySizes &code;
  const KernelSignature &signature;
  ArrayRef<EntryParameter> arguments, results;
};

} // namespace mlir::resid::boundary

#endif // RESID_CODEGEN_BOUNDARY_ARRAYCHECKS_H
