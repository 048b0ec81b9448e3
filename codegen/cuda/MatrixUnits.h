// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What warps do with matrices of 16-bit floats (bf16 or f16), with sums of f32, and of i8, with sums of i32: loads from
// shared memory, and products. All threads of a warp run them together. The chip says in which order products of floats
// are added, and how sums are rounded. Sums of integers are exact. Not: which elements a kernel multiplies.

#ifndef RESID_CODEGEN_CUDA_MATRIXUNITS_H
#define RESID_CODEGEN_CUDA_MATRIXUNITS_H

#include "codegen/builder/Code.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::resid::cuda {

/// Rows and columns of a product of one instruction, and its terms of 16 bits; of bytes, there are twice as many.
constexpr int64_t kMatrixRows = 16, kMatrixColumns = 8, kMatrixTerms = 16;
/// Rows of a matrix, and elements of 16 bits in each, which are 16 bytes.
constexpr int64_t kMatrixPiece = 8;

/// Whether matrix units multiply factors of these types with sums of `arithmetic`: both bf16 or both f16, and f32; or
/// both i8, and i32.
bool takesMatrices(Type a, Type b, Type arithmetic);

/// `count` matrices of 8 rows of 16 bytes, one register each: lanes 8 m to 8 m + 7 of a warp have the addresses of the
/// rows of matrix m in shared memory, which are aligned to 16 bytes. Lane l gets two neighbours of 16 bits of row l / 4
/// or, transposed, of column l / 4; of bytes, four.
SmallVector<Value> loadMatrices(Code &code, Type element, Value address, int64_t count, bool isTransposed);

/// Adds the products of 16 rows with 8 columns, of 16 terms, or 32 of bytes. Of eight rows each, `a` has rows 0 to 7
/// and 8 to 15 of the first half of the terms, and then those of the other; `b` has the first half of the terms and the
/// other. Lane l has the sums of row l / 4 and of columns 2 (l mod 4) and the next one, and then those of eight rows
/// below.
void multiplyMatrices(Code &code, Type element, ArrayRef<Value> a, ArrayRef<Value> b, MutableArrayRef<Value> sums);

/// Two numbers (f32) that bf16 holds, as b of multiplyMatrices has them.
Value packMatrixPair(Code &code, Value low, Value high);

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_MATRIXUNITS_H
