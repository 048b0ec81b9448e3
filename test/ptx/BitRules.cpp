// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Logic, shifts, bit fields, and counts of bits.

#include "test/ptx/Handlers.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace resid::ptx;

namespace {

// Of predicates too.
template <typename T> T bitAnd(T a, T b) { return a & b; }
template <typename T> T bitOr(T a, T b) { return a | b; }
template <typename T> T bitXor(T a, T b) { return a ^ b; }
template <typename T> T bitNot(T a) { return a ^ T(-1); }
constexpr OneOf<Type::Pred, Type::B16, Type::B32, Type::B64> forLogic;

// A shift by the width or more gives 0, or copies of the sign.
template <typename T> T shiftLeft(T a, uint32_t by) { return by < 8 * sizeof(T) ? T(a << by) : T(0); }
template <typename T> T shiftRight(T a, uint32_t by) {
  constexpr uint32_t width = 8 * sizeof(T);
  return by < width ? T(a >> by) : a < 0 ? T(-1) : T(0);
}

// A funnel shift moves the 64 bits of b (high) and a (low).
uint64_t both(uint32_t a, uint32_t b) { return uint64_t(b) << 32 | a; }
uint32_t funnelLeftWrap(uint32_t a, uint32_t b, uint32_t by) { return both(a, b) << (by & 31) >> 32; }
uint32_t funnelLeftClamp(uint32_t a, uint32_t b, uint32_t by) { return by >= 32 ? a : both(a, b) << by >> 32; }
uint32_t funnelRightWrap(uint32_t a, uint32_t b, uint32_t by) { return both(a, b) >> (by & 31); }
uint32_t funnelRightClamp(uint32_t a, uint32_t b, uint32_t by) { return by >= 32 ? b : both(a, b) >> by; }

/// Bit by bit: a, b and c choose a bit of the table.
uint32_t lookUp(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t result = 0;
  for (unsigned row = 0; row < 8; ++row)
    if (table >> row & 1)
      result |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
  return result;
}

/// Each hexadecimal digit of the selector names one of the 8 bytes of b and a, or the sign of that byte.
uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
  uint32_t result = 0;
  for (unsigned byte = 0; byte < 4; ++byte) {
    unsigned digit = selector >> (4 * byte) & 15;
    uint8_t value = both(a, b) >> (8 * (digit & 7));
    if (digit & 8)
      value = value & 0x80 ? 0xff : 0;
    result |= uint32_t(value) << (8 * byte);
  }
  return result;
}

/// The field of a at a position, with its sign, as the loop of the PTX manual defines it.
template <typename T> T extractField(T a, uint32_t positionBits, uint32_t lengthBits) {
  constexpr unsigned msb = 8 * sizeof(T) - 1;
  unsigned position = positionBits & 255, length = lengthBits & 255;
  using U = std::make_unsigned_t<T>;
  bool sign = std::is_signed_v<T> && length && (U(a) >> std::min(position + length - 1, msb) & 1);
  U shifted = position <= msb ? U(a) >> position : 0;
  unsigned present = position <= msb ? std::min(length, msb + 1 - position) : 0;
  U mask = present > msb ? ~U(0) : U((U(1) << present) - 1);
  return T((shifted & mask) | (sign ? ~mask : U(0)));
}

template <typename T> T insertField(T a, T b, uint32_t positionBits, uint32_t lengthBits) {
  constexpr unsigned width = 8 * sizeof(T);
  unsigned position = positionBits & 255, length = lengthBits & 255;
  if (position >= width)
    return b;
  T mask = length >= width ? ~T(0) : T((T(1) << length) - 1);
  return T((b & ~(mask << position)) | ((a & mask) << position));
}

template <typename T> uint32_t countLeadingZeros(T a) { return llvm::countl_zero(a); }
template <typename T> uint32_t countOnes(T a) { return llvm::popcount(a); }
template <typename T> T reverse(T a) { return llvm::reverseBits(a); }

constexpr OneOf<Type::B16, Type::B32, Type::B64, Type::U16, Type::S16, Type::U32, Type::S32, Type::U64, Type::S64>
    forShifted;

void decodeShf(Decoder &d) {
  llvm::StringRef direction = d.takeAny({"l", "r"}), mode = d.takeAny({"wrap", "clamp"});
  if (d.takeType() != Type::B32 || direction.empty() || mode.empty())
    return d.fail("unknown instruction");
  if (direction == "l")
    d.emitPure(mode == "wrap" ? pure<funnelLeftWrap> : pure<funnelLeftClamp>);
  else
    d.emitPure(mode == "wrap" ? pure<funnelRightWrap> : pure<funnelRightClamp>);
}

} // namespace

void resid::ptx::addBitRules(Rules &rules) {
  constexpr OneOf<Type::B32> forWord;
  rules.any["and"] = decodeTyped<forLogic, []<typename T>() { return pure<bitAnd<T>>; }>;
  rules.any["or"] = decodeTyped<forLogic, []<typename T>() { return pure<bitOr<T>>; }>;
  rules.any["xor"] = decodeTyped<forLogic, []<typename T>() { return pure<bitXor<T>>; }>;
  rules.any["not"] = decodeTyped<forLogic, []<typename T>() { return pure<bitNot<T>>; }>;
  rules.any["shl"] = decodeTyped<forBits, []<typename T>() { return pure<shiftLeft<T>>; }>;
  rules.any["shr"] = decodeTyped<forShifted, []<typename T>() { return pure<shiftRight<T>>; }>;
  rules.any["shf"] = decodeShf;
  rules.any["lop3"] = decodeTyped<forWord, []<typename T>() { return pure<lookUp>; }>;
  rules.any["prmt"] = decodeTyped<forWord, []<typename T>() { return pure<permute>; }>;
  rules.any["bfe"] = decodeTyped<forWideInteger, []<typename T>() { return pure<extractField<T>>; }>;
  rules.any["bfi"] = decodeTyped<forWideBits, []<typename T>() { return pure<insertField<T>>; }>;
  rules.any["clz"] = decodeTyped<forWideBits, []<typename T>() { return pure<countLeadingZeros<T>>; }>;
  rules.any["popc"] = decodeTyped<forWideBits, []<typename T>() { return pure<countOnes<T>>; }>;
  rules.any["brev"] = decodeTyped<forWideBits, []<typename T>() { return pure<reverse<T>>; }>;
}
