// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shuffles of a transposition: in parts of 128 bits, then of such parts.

#include "codegen/cpu/contractions/TransposeTile.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

/// Processors shuffle best inside of so many bits, and move such parts as a whole.
static constexpr int64_t kPartBits = 128;

namespace {

/// One tile. In-part rounds are unpackings, of elements and of pairs; what is left is a transposition of parts.
class Transposition {
public:
  Transposition(Code &code, SmallVector<Value> &vectors)
      : code(code), vectors(vectors), size(static_cast<int32_t>(vectors.size())) {
    auto type = cast<VectorType>(vectors.front().getType());
    lanes = static_cast<int32_t>(type.getNumElements());
    perPart = std::min<int32_t>(kPartBits / type.getElementTypeBitWidth(), size);
  }

  void run() {
    for (int32_t length = 1; length < perPart; length *= 2)
      unpack(length);
    SmallVector<Value> result(size);
    for (int32_t column = 0; column < perPart; ++column) {
      SmallVector<Value> parts;
      for (int32_t row = column; row < size; row += perPart)
        parts.push_back(vectors[row]);
      sortParts(parts, column, perPart, result);
    }
    vectors = result;
  }

private:
  Value shuffle(Value a, Value b, ArrayRef<int32_t> mask) { return code.create<LLVM::ShuffleVectorOp>(a, b, mask); }

  /// In each part of two vectors, runs of so many elements take turns: those of the lower halves, and of the upper.
  /// Vectors of perPart rows thus become its columns; their order is that of the columns at the end.
  void unpack(int32_t length) {
    SmallVector<Value> next(vectors);
    for (int32_t group = 0; group < size; group += perPart)
      for (int32_t pair = 0; pair < perPart / 2; ++pair) {
        // Columns that are apart already, and pairs of runs of rows in each of them.
        int32_t runs = perPart / (2 * length), column = pair / runs, run = pair % runs;
        Value a = vectors[group + column * 2 * runs + 2 * run], b = vectors[group + column * 2 * runs + 2 * run + 1];
        for (int32_t half : {0, 1}) {
          SmallVector<int32_t> mask;
          for (int32_t part = 0; part < lanes; part += perPart)
            for (int32_t start = half * perPart / 2; start < (half + 1) * perPart / 2; start += length)
              for (int32_t offset : {0, lanes})
                for (int32_t lane = 0; lane < length; ++lane)
                  mask.push_back(offset + part + start + lane);
          next[group + (2 * column + half) * runs + run] = shuffle(a, b, mask);
        }
      }
    vectors = next;
  }

  /// Transposes a square of parts; row i of what comes out is result[first + i·step].
  void sortParts(ArrayRef<Value> parts, int32_t first, int32_t step, SmallVector<Value> &result) {
    if (parts.size() == 1) {
      result[first] = parts.front();
      return;
    }
    for (int32_t odd : {0, 1}) {
      SmallVector<int32_t> mask;
      for (int32_t start = odd * perPart; start < 2 * size; start += 2 * perPart)
        for (int32_t lane = 0; lane < perPart; ++lane)
          mask.push_back(start + lane);
      SmallVector<Value> half;
      for (size_t i = 0; i < parts.size(); i += 2)
        half.push_back(shuffle(parts[i], parts[i + 1], mask));
      sortParts(half, first + odd * step, 2 * step, result);
    }
  }

  Code &code;
  SmallVector<Value> &vectors;
  int32_t size, lanes, perPart;
};

} // namespace

void cpu::transpose(Code &code, SmallVector<Value> &vectors) { Transposition(code, vectors).run(); }
