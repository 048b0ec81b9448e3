// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cpu/contractions/ByteDot.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

/// The same bits as a vector of integers of so many bits.
static Value asIntegers(Code &code, Value vector, int64_t bits) {
  auto type = cast<VectorType>(vector.getType());
  int64_t all = type.getNumElements() * type.getElementTypeBitWidth();
  return code.create<LLVM::BitcastOp>(VectorType::get(all / bits, code.getIntegerType(bits)), vector);
}

static Value callIntrinsic(Code &code, StringRef name, Type result, ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(code, code.getLoc(), result, code.getStringAttr(name), operands)->getResult(0);
}

/// The even bytes with their signs as integers of 16 bits, or the odd ones.
static Value widenBytes(Code &code, Value vector, bool isOdd) {
  Value words = asIntegers(code, vector, 16);
  return code.shiftRightSigned(isOdd ? words : code.shiftLeft(words, 8), 8);
}

SmallVector<Value> ByteDot::prepare(Code &code, Value bytes) const {
  if (hasExcess())
    return {code.exclusiveOr(bytes, int64_t(int32_t(0x80808080)))};
  if (target.hasByteDot)
    return {bytes};
  return {widenBytes(code, bytes, false), widenBytes(code, bytes, true)};
}

/// Lanes of a vector from `first` on.
static Value takeLanes(Code &code, Value vector, int64_t first, int64_t count) {
  if (cast<VectorType>(vector.getType()).getNumElements() == count)
    return vector;
  auto lanes = llvm::to_vector(llvm::seq<int32_t>(int32_t(first), int32_t(first + count)));
  return code.create<LLVM::ShuffleVectorOp>(vector, vector, lanes);
}

static Value join(Code &code, ArrayRef<Value> pieces) {
  if (pieces.size() == 1)
    return pieces.front();
  Value first = join(code, pieces.take_front(pieces.size() / 2)),
        second = join(code, pieces.drop_front(pieces.size() / 2));
  auto count = int32_t(2 * cast<VectorType>(first.getType()).getNumElements());
  return code.create<LLVM::ShuffleVectorOp>(first, second, llvm::to_vector(llvm::seq<int32_t>(0, count)));
}

Value ByteDot::pack(Code &code, Value bytes) const {
  if (getParts() == 1)
    return bytes;
  Value even = asIntegers(code, widenBytes(code, bytes, /*isOdd=*/false), 32);
  Value odd = asIntegers(code, widenBytes(code, bytes, /*isOdd=*/true), 32);
  auto count = int32_t(cast<VectorType>(even.getType()).getNumElements());
  SmallVector<int32_t> lanes;
  for (int32_t lane = 0; lane < count; ++lane)
    lanes.append({lane, lane + count});
  return code.create<LLVM::ShuffleVectorOp>(even, odd, lanes);
}

Value ByteDot::addInPieces(Code &code, Value sums, Value a, Value b, int64_t piece,
                           function_ref<Value(Value sums, Value a, Value b)> add) const {
  int64_t lanes = cast<VectorType>(sums.getType()).getNumElements();
  int64_t perLane = cast<VectorType>(b.getType()).getNumElements() / lanes;
  SmallVector<Value> pieces;
  for (int64_t first = 0; first < lanes; first += piece)
    pieces.push_back(add(takeLanes(code, sums, first, piece), takeLanes(code, a, 0, piece),
                         takeLanes(code, b, first * perLane, piece * perLane)));
  return join(code, pieces);
}

Value ByteDot::add(Code &code, Value sums, Value a, Value b) const {
  int64_t piece = std::min(cast<VectorType>(sums.getType()).getNumElements(), getPieceLanes());
  auto add = [&](Value sums, Value a, Value b) { return addPiece(code, sums, a, b); };
  return addInPieces(code, sums, a, b, piece, add);
}

/// A vector of so many lanes that `find` gives for each `group` of them, by its number; those of b follow a's.
static Value shuffle(Code &code, Value a, Value b, int64_t groups, function_ref<SmallVector<int32_t>(int32_t)> find) {
  SmallVector<int32_t> lanes;
  for (int32_t group = 0; group < groups; ++group)
    lanes.append(find(group));
  return code.create<LLVM::ShuffleVectorOp>(a, b, lanes);
}

static int32_t countLanes(Value vector) { return int32_t(cast<VectorType>(vector.getType()).getNumElements()); }

Value ByteDot::joinRows(Code &code, Value first, Value second) const {
  int32_t lanes = countLanes(first);
  return shuffle(code, first, second, lanes / 2, [=](int32_t pair) -> SmallVector<int32_t> {
    return {2 * pair, 2 * pair + 1, lanes + 2 * pair, lanes + 2 * pair + 1};
  });
}

std::pair<Value, Value> ByteDot::splitRows(Code &code, Value both) const {
  auto take = [&](int32_t begin) {
    return shuffle(code, both, both, countLanes(both) / 4, [=](int32_t pair) -> SmallVector<int32_t> {
      return {4 * pair + begin, 4 * pair + begin + 1};
    });
  };
  return {take(0), take(2)};
}

Value ByteDot::joinTerms(Code &code, Value first, Value second) const {
  int32_t lanes = countLanes(first);
  return shuffle(code, first, second, lanes, [=](int32_t column) -> SmallVector<int32_t> {
    return {column, lanes + column};
  });
}

Value ByteDot::addPairs(Code &code, Value sums, Value a, Value b) const {
  auto add = [&](Value sums, Value a, Value b) {
    return callIntrinsic(code, "llvm.aarch64.neon.smmla.v4i32.v16i8", sums.getType(),
                         {sums, asIntegers(code, a, 8), asIntegers(code, b, 8)});
  };
  return addInPieces(code, sums, a, b, /*piece=*/4, add);
}

Value ByteDot::addPiece(Code &code, Value sums, Value a, Value b) const {
  auto type = cast<VectorType>(sums.getType());
  int64_t bits = 32 * type.getNumElements();
  if (hasExcess())
    return callIntrinsic(code, "llvm.x86.avx512.vpdpbusd." + std::to_string(bits), type,
                         {sums, asIntegers(code, b, 8), asIntegers(code, a, 8)});
  if (target.hasByteDot)
    return callIntrinsic(
        code, "llvm.aarch64.neon.sdot.v" + std::to_string(bits / 32) + "i32.v" + std::to_string(bits / 8) + "i8", type,
        {sums, asIntegers(code, b, 8), asIntegers(code, a, 8)});
  Value words = asIntegers(code, a, 16);
  if (target.isX86) {
    StringRef name = bits == 512   ? "llvm.x86.avx512.pmaddw.d.512"
                     : bits == 256 ? "llvm.x86.avx2.pmadd.wd"
                                   : "llvm.x86.sse2.pmadd.wd";
    return code.add(sums, callIntrinsic(code, name, type, {b, words}));
  }
  // Products of words, then those of neighbours.
  Type number = code.getI32Type();
  Value products = code.multiply(code.extendSign(b, number), code.extendSign(words, number));
  for (int32_t half : {0, 1}) {
    auto lanes = llvm::map_to_vector(llvm::seq<int32_t>(0, int32_t(type.getNumElements())),
                                     [&](int32_t lane) { return 2 * lane + half; });
    sums = code.add(sums, Value(code.create<LLVM::ShuffleVectorOp>(products, products, lanes)));
  }
  return sums;
}
