// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Logic, shifts, bit fields, and counts of bits.

#include "test/ptx/IntegerTypes.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace resid::ptx;

namespace {

template <typename T> T bitAnd(T a, T b) { return a & b; }
template <typename T> T bitOr(T a, T b) { return a | b; }
template <typename T> T bitXor(T a, T b) { return a ^ b; }
template <typename T> T bitNot(T a) { return ~a; }
bool predicateAnd(bool a, bool b) { return a && b; }
bool predicateOr(bool a, bool b) { return a || b; }
bool predicateXor(bool a, bool b) { return a != b; }
bool predicateNot(bool a) { return !a; }

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
  using U = Unsigned<T>;
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

template <typename Make> void decodeLogic(Decoder &d, Handler predicate, Make make, size_t operands) {
  auto type = d.takeType();
  d.emitPure(type == Type::Pred ? predicate : forBits(type, make), operands);
}

void decodeAnd(Decoder &d) {
  decodeLogic(d, pure<predicateAnd>, []<typename T>() { return pure<bitAnd<T>>; }, 3);
}
void decodeOr(Decoder &d) {
  decodeLogic(d, pure<predicateOr>, []<typename T>() { return pure<bitOr<T>>; }, 3);
}
void decodeXor(Decoder &d) {
  decodeLogic(d, pure<predicateXor>, []<typename T>() { return pure<bitXor<T>>; }, 3);
}
void decodeNot(Decoder &d) {
  decodeLogic(d, pure<predicateNot>, []<typename T>() { return pure<bitNot<T>>; }, 2);
}

void decodeShl(Decoder &d) {
  d.emitPure(forBits(d.takeType(), []<typename T>() { return pure<shiftLeft<T>>; }), 3);
}

void decodeShr(Decoder &d) {
  auto type = d.takeType();
  auto make = []<typename T>() { return pure<shiftRight<T>>; };
  Handler run = forBits(type, make);
  d.emitPure(run ? run : forInteger(type, make), 3);
}

void decodeShf(Decoder &d) {
  llvm::StringRef direction = d.takeAny({"l", "r"}), mode = d.takeAny({"wrap", "clamp"});
  if (d.takeType() != Type::B32 || direction.empty() || mode.empty())
    return d.fail("unknown instruction");
  if (direction == "l")
    d.emitPure(mode == "wrap" ? pure<funnelLeftWrap> : pure<funnelLeftClamp>, 4);
  else
    d.emitPure(mode == "wrap" ? pure<funnelRightWrap> : pure<funnelRightClamp>, 4);
}

void decodeLop3(Decoder &d) { d.emitPure(d.takeType() == Type::B32 ? pure<lookUp> : nullptr, 5); }
void decodePrmt(Decoder &d) { d.emitPure(d.takeType() == Type::B32 ? pure<permute> : nullptr, 4); }

void decodeBfe(Decoder &d) {
  auto type = d.takeType();
  bool isNarrow = type == Type::U16 || type == Type::S16;
  Handler run = forInteger(type, []<typename T>() { return pure<extractField<T>>; });
  d.emitPure(isNarrow ? nullptr : run, 4);
}

void decodeBfi(Decoder &d) {
  auto type = d.takeType();
  Handler run = forBits(type, []<typename T>() { return pure<insertField<T>>; });
  d.emitPure(type == Type::B16 ? nullptr : run, 5);
}

template <typename Make> void decodeCount(Decoder &d, Make make) {
  auto type = d.takeType();
  d.emitPure(type == Type::B16 ? nullptr : forBits(type, make), 2);
}
void decodeClz(Decoder &d) {
  decodeCount(d, []<typename T>() { return pure<countLeadingZeros<T>>; });
}
void decodePopc(Decoder &d) {
  decodeCount(d, []<typename T>() { return pure<countOnes<T>>; });
}
void decodeBrev(Decoder &d) {
  decodeCount(d, []<typename T>() { return pure<reverse<T>>; });
}

} // namespace

void resid::ptx::addBitRules(Rules &rules) {
  rules["and"] = decodeAnd;
  rules["or"] = decodeOr;
  rules["xor"] = decodeXor;
  rules["not"] = decodeNot;
  rules["shl"] = decodeShl;
  rules["shr"] = decodeShr;
  rules["shf"] = decodeShf;
  rules["lop3"] = decodeLop3;
  rules["prmt"] = decodePrmt;
  rules["bfe"] = decodeBfe;
  rules["bfi"] = decodeBfi;
  rules["clz"] = decodeClz;
  rules["popc"] = decodePopc;
  rules["brev"] = decodeBrev;
}
