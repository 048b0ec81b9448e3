// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a processor adds four products of bytes to each number of a vector. Which instructions it has for that decides
// here alone; all give the same numbers.

#ifndef RESID_CODEGEN_CPU_CONTRACTIONS_BYTEDOT_H
#define RESID_CODEGEN_CPU_CONTRACTIONS_BYTEDOT_H

#include "codegen/builder/Code.h"
#include "codegen/cpu/choice/CPUTarget.h"

namespace mlir::resid::cpu {

/// Factors of up to 16 numbers, whose four bytes each are what is multiplied. Vectors are of i32.
class ByteDot {
public:
  explicit ByteDot(const CPUTarget &target) : target(target) {}

  /// Whether b is taken for numbers of 0 to 255 that are 128 too large: x86 multiplies bytes with a sign by bytes
  /// without one. The sums are too large then, by 128 times the sum of a's bytes.
  bool hasExcess() const { return target.isX86 && target.hasByteDot; }

  /// Processors without such an instruction multiply integers of 16 bits: the even bytes of a number, then the odd
  /// ones. So many numbers are four bytes of a packed a, and so many parts has b.
  int64_t getParts() const { return target.hasByteDot ? 1 : 2; }
  /// The parts of b's bytes.
  SmallVector<Value> prepare(Code &code, Value bytes) const;
  /// The same of bytes of a, those of each number after each other.
  Value pack(Code &code, Value bytes) const;
  /// sums + the products of one part of both, in any order and modulo 2^32; `a` is one number in all lanes.
  Value add(Code &code, Value sums, Value a, Value b) const;

  /// Whether eight bytes of two rows are multiplied by those of two columns at a time.
  bool takesPairs() const { return target.hasByteMatrices; }
  /// Sums of two rows, side by side for each two columns, and back.
  Value joinRows(Code &code, Value first, Value second) const;
  std::pair<Value, Value> splitRows(Code &code, Value both) const;
  /// Numbers of b and those that follow them in each column, side by side.
  Value joinTerms(Code &code, Value first, Value second) const;
  /// The sums of two rows + the products; `a` has two numbers of each row, and `b` is of joinTerms.
  Value addPairs(Code &code, Value sums, Value a, Value b) const;

private:
  Value addInPieces(Code &code, Value sums, Value a, Value b, int64_t piece,
                    function_ref<Value(Value sums, Value a, Value b)> add) const;
  Value addPiece(Code &code, Value sums, Value a, Value b) const;
  int64_t getPieceLanes() const { return (hasExcess() ? target.vectorBits : target.integerBits) / 32; }

  const CPUTarget &target;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_CONTRACTIONS_BYTEDOT_H
