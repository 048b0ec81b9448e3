// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arrays of a C function as shared/Arrays.c reads them: a constant table, and words of the stack for what is known at run
// time only. Does not own when they are looked at (ArrayChecks.cpp, ArrayRefusals.cpp).

#ifndef RESID_CODEGEN_BOUNDARY_ARRAYTABLE_H
#define RESID_CODEGEN_BOUNDARY_ARRAYTABLE_H

#include "codegen/boundary/ArraySizes.h"
#include "codegen/boundary/EntryCode.h"

namespace mlir::resid::boundary {

/// The arrays of a function: arguments, then results.
SmallVector<const EntryParameter *> getArrays(const EntryCode &code);

class ArrayTable {
public:
  /// Of some of the function's arrays, in their order.
  ArrayTable(EntryCode &code, SmallVector<const EntryParameter *> arrays);

  /// The words of the stack that anyClash() and findClash() take beside the addresses: extents, an end for each array,
  /// and 32 bits for each output.
  int64_t getStackWords() const { return extentWords + int64_t(arrays.size()) + (getOutputs() + 1) / 2; }
  int64_t getExtentWords() const { return extentWords; }
  /// The most extent words of one array.
  int64_t getMostExtentWords() const { return mostExtentWords; }
  int64_t getOutputs() const { return int64_t(arrays.size()) - firstOutput; }

  /// Stores the bytes of arrays with open sizes, and what strides are. Only where no size is at fault; with
  /// `isUnchecked`, stores for each of these arrays whether it has elements, which can always be told.
  void storeExtents(ArraySizes &sizes, Value extents, bool isUnchecked = false);
  void storeAddresses(Value starts);
  /// Whether an output shares a byte with another array and may not (i1); only where no size is at fault. `starts`:
  /// where the addresses are. `stack`: that many words.
  Value anyClash(ArraySizes &sizes, Value starts, Value stack);
  /// The number of the first such output in the upper 32 bits, and that of the other array below; -1 where there is
  /// none.
  Value findClash(ArraySizes &sizes, Value starts, Value stack);
  /// Whether an address is NULL.
  Value anyNull(Value starts);
  /// The number of the first array that is NULL although it has elements, or -1.
  Value findNull(Value starts, Value extents);
  /// Whether the output of this number may have the buffer of the other array.
  Value mayShare(Value output, Value other);

private:
  void addFact(const EntryParameter &array);
  Value getTable();

  EntryCode &code;
  SmallVector<const EntryParameter *> arrays;
  /// Words of facts, then lists of arrays that may share a buffer.
  SmallVector<int64_t> words;
  /// The arrays whose extents are stored, each with its place.
  SmallVector<std::pair<const EntryParameter *, int64_t>> slots;
  int64_t firstOutput = 0, extentWords = 0, mostExtentWords = 0;
  std::string name; // of the constant
};

} // namespace mlir::resid::boundary

#endif // RESID_CODEGEN_BOUNDARY_ARRAYTABLE_H
