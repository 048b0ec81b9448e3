// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Numbers.h"

#include <cfloat>
#include <cmath>
#include <cstring>

namespace {

/// Numbers in [-4, 4) one after the other. A sum of their squares is rounded, so that its order and its fmas show.
struct Random {
  uint64_t state;

  float makeNumber() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return float(int32_t(state >> 32)) * 0x1p-29f;
  }
  /// A power of two from 2^-12 to 2^12, by bits that the number does not have.
  float makePower() const { return std::ldexp(1.0f, int((state >> 8 & 0xff) % 25) - 12); }
};

uint16_t toHalf(float value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  float magnitude = std::fabs(value);
  if (std::isnan(magnitude))
    return 0x7e00;
  if (std::isinf(magnitude))
    return sign | 0x7c00;
  if (magnitude >= 65504)
    return sign | 0x7bff;
  if (magnitude < 0x1p-14f)
    return sign | uint16_t(magnitude * 0x1p24f);
  int exponent;
  float fraction = std::frexp(magnitude, &exponent); // in [0.5, 1)
  return sign | uint16_t((exponent + 14) << 10 | (int(fraction * 2048) & 1023));
}

double fromHalf(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double magnitude = exponent == 0    ? std::ldexp(fraction, -24)
                     : exponent == 31 ? (fraction ? NAN : INFINITY)
                                      : std::ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

/// Where a number stands, and the one in front of it.
struct Place {
  uint64_t row; ///< which kind of row it is, by its remainder
  int64_t column, width;
  float before;
};

/// Rows of two kinds have larger numbers where f16 does not end before them.
float makeHard(const Place &place, float value, const Random &random, bool isHalf) {
  switch (place.row % 9) {
  case 1: // zeros of both signs
    return place.column % 2 ? -0.0f : 0.0f;
  case 2: // squares overflow
    return value * (isHalf ? 0x1p13f : 0x1p99f);
  case 3: // subnormal numbers
    return value * (isHalf ? 0x1p-18f : 0x1p-130f);
  case 4: // squares underflow
    return value * (isHalf ? 0x1p-10f : 0x1p-80f);
  case 5: // the mean is all but all of it; in bf16, the row is constant
    return 1000 + value / 64;
  case 6: // pairs whose sum is 0
    return place.column % 2 ? -place.before : value * 1000;
  case 7: // large and small ones beside each other
    return value * random.makePower();
  case 8: // one is far larger than the others
    return place.column == place.width / 2 ? value * (isHalf ? 0x1p10f : 0x1p40f) : value;
  default:
    return value;
  }
}

float makeNotFinite(const Place &place, float value) {
  bool isThird = place.column == place.width / 3, isMiddle = place.column == place.width / 2;
  switch (place.row % 5) {
  case 1:
    return isMiddle ? NAN : value;
  case 2:
    return isThird ? INFINITY : value;
  case 3: // their sum is NaN
    return isMiddle ? -INFINITY : isThird ? INFINITY : value;
  case 4: // the largest numbers there are: sums of two overflow
    return std::copysign(FLT_MAX, value);
  default:
    return value;
  }
}

float getFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

void store(const Array &array, float value, unsigned char *to) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  uint16_t narrow = array.type == std::string("f16") ? toHalf(value) : uint16_t(bits >> 16);
  std::memcpy(to, array.getElementBytes() == 4 ? static_cast<const void *>(&bits) : &narrow,
              size_t(array.getElementBytes()));
}

} // namespace

std::vector<unsigned char> makeNumbers(const Array &array, int64_t count, int64_t width, uint64_t seed, Rows rows) {
  std::vector<unsigned char> bytes(size_t(count * array.getElementBytes()));
  bool isHalf = array.type == std::string("f16");
  bool isMatrix = array.shape == Array::Matrix || array.shape == Array::Fixed;
  if (!array.sizes.empty())
    width = array.sizes.back();
  // Products of a weight's rows are to be as large as what they are made of.
  bool isWeight = array.shape == Array::FixedPlain && array.sizes.size() > 1;
  float scale = array.shape == Array::PerRow ? 8 : isWeight ? std::exp2(std::floor(std::log2(float(width)) / 2)) : 1;
  Random random{seed};
  float before = 0;
  for (int64_t i = 0; i < count; ++i) {
    float value = random.makeNumber() / scale;
    auto row = uint64_t(i / width);
    if (isMatrix && rows == Rows::Hard)
      value = makeHard({row + seed, i % width, width, before}, value, random, isHalf);
    if (isMatrix && rows == Rows::NotFinite)
      value = makeNotFinite({row, i % width, width, before}, value);
    store(array, value, &bytes[size_t(i * array.getElementBytes())]);
    before = value;
  }
  return bytes;
}

double getNumber(const Array &array, const void *memory, int64_t index) {
  if (array.getElementBytes() == 4)
    return static_cast<const float *>(memory)[index];
  uint16_t bits = static_cast<const uint16_t *>(memory)[index];
  return array.type == std::string("f16") ? fromHalf(bits) : getFloat(uint32_t(bits) << 16);
}
