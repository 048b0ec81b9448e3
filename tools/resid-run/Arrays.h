// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays in and out: --arg values, .npy files, and the summary of results. Computes nothing.

#ifndef RESID_TOOLS_RESID_RUN_ARRAYS_H
#define RESID_TOOLS_RESID_RUN_ARRAYS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "reference/Array.h"
#include "tools/resid-run/Options.h"

namespace mlir::resid::run {

using reference::Array;

/// Bytes of one element as stored: 1 for i1.
unsigned getElementBytes(Type elementType);
/// Bytes of all elements; a byte holds two of i4, the first in its low half.
int64_t getByteSize(const Array &array);
/// The size of a dimension as stored: that of i4's bytes.
int64_t getStoredSize(Type elementType, ArrayRef<int64_t> shape, size_t dimension);

/// The elements in storage form (little-endian, i1 as one byte), into `bytes` of getByteSize(array).
void encode(const Array &array, char *bytes);
/// The inverse of `encode`.
void decode(const char *bytes, Array &array);

/// Normal values by Box and Muller, times `scale`; integers below `limit` for integer arrays. One `seed` always gives
/// the same.
void fillRandom(Array &array, uint64_t seed, double scale, uint64_t limit = 128);

/// `argument 0 ('x') of type tensor<4xf32>`, for messages.
std::string describeArgument(func::FuncOp function, unsigned index);

/// The array that `text` (the value of an --arg) gives to argument `index` of `function`.
llvm::Expected<Array> readArgument(func::FuncOp function, unsigned index, llvm::StringRef text);

/// Writes all results that have a file, each of which appears whole or not at all.
llvm::Error writeResults(llvm::ArrayRef<Array> results, llvm::ArrayRef<std::string> files);

/// "out0: 4x512xf32, min -3.2, max 3.1, first 0.5 0.25 …"
void printSummary(llvm::raw_ostream &os, unsigned index, const Array &array);

} // namespace mlir::resid::run

#endif
