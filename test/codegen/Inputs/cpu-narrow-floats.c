// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares the compiled conversions with rounding done in integers of the target's last place: all 65,536 narrow
// values, and wide values on, just beside and between each pair of neighbours.

#include "cpu-row-model.h"

void bf16_to_f32(MEMREF1(uint16_t), MEMREF1(float));
void f16_to_f32(MEMREF1(uint16_t), MEMREF1(float));
void f16_to_f64(MEMREF1(uint16_t), MEMREF1(double));
void f32_to_bf16(MEMREF1(float), MEMREF1(uint16_t));
void f32_to_f16(MEMREF1(float), MEMREF1(uint16_t));
void f64_to_bf16(MEMREF1(double), MEMREF1(uint16_t));
void f64_to_f16(MEMREF1(double), MEMREF1(uint16_t));
void four_times_f16(MEMREF1(uint16_t), MEMREF1(uint16_t));

typedef struct {
  const char *name;
  int mantissa, bias;
} Format;
static const Format kF16 = {"f16", 10, 15}, kBF16 = {"bf16", 7, 127};

static double decode(Format f, uint16_t bits) {
  int exponent = (bits & 0x7FFF) >> f.mantissa, fraction = bits & ((1 << f.mantissa) - 1);
  double magnitude = exponent == 2 * f.bias + 1 ? (fraction ? NAN : INFINITY)
                     : exponent == 0            ? ldexp(fraction, 1 - f.bias - f.mantissa)
                                                : ldexp(fraction + (1 << f.mantissa), exponent - f.bias - f.mantissa);
  return bits & 0x8000 ? -magnitude : magnitude;
}

static uint16_t encode(Format f, double value) {
  uint16_t sign = signbit(value) ? 0x8000 : 0, infinity = (uint16_t)((2 * f.bias + 1) << f.mantissa);
  double magnitude = fabs(value);
  if (isnan(value))
    return infinity | 1;
  if (isinf(value))
    return sign | infinity;
  int exponent = magnitude == 0 || ilogb(magnitude) < 1 - f.bias ? 1 - f.bias : ilogb(magnitude);
  double units = nearbyint(ldexp(magnitude, f.mantissa - exponent)); // exact but for this rounding, ties to even
  if (units >= 2 << f.mantissa)
    units /= 2, ++exponent;
  if (exponent > f.bias)
    return sign | infinity;
  return (uint16_t)(sign | ((exponent + f.bias - 1) * (1 << f.mantissa) + (int)units));
}

static int same_narrow(Format f, uint16_t a, uint16_t b) {
  return a == b || (isnan(decode(f, a)) && isnan(decode(f, b)));
}

enum { kCount = 65536 * 8 };
static uint16_t narrow[kCount], sums[kCount];
static float singles[kCount];
static double doubles[kCount];

static void check_extensions(void) {
  for (int i = 0; i < 65536; ++i)
    narrow[i] = (uint16_t)i;
  bf16_to_f32(VECTOR(narrow, 65536), VECTOR(singles, 65536));
  for (int i = 0; i < 65536; ++i)
    expect(same_f32(singles[i], (float)decode(kBF16, narrow[i])), "bf16 to f32", i, 0);
  f16_to_f32(VECTOR(narrow, 65536), VECTOR(singles, 65536));
  f16_to_f64(VECTOR(narrow, 65536), VECTOR(doubles, 65536));
  for (int i = 0; i < 65536; ++i) {
    expect(same_f32(singles[i], (float)decode(kF16, narrow[i])), "f16 to f32", i, 0);
    expect(same_f64(doubles[i], decode(kF16, narrow[i])), "f16 to f64", i, 0);
  }
  memcpy(sums, narrow, sizeof sums);
  four_times_f16(VECTOR(sums, 65536), VECTOR(narrow, 65536));
  for (int i = 0; i < 65536; ++i) {
    double value = decode(kF16, (uint16_t)i), tripled = decode(kF16, encode(kF16, value * 3));
    expect(same_narrow(kF16, narrow[i], encode(kF16, tripled + value)), "3 * f16 + f16", i, 0);
  }
}

// Around value i and the midpoint to its neighbour: exact, and one place above and below in f32 and in f64.
static int make_neighbours(Format f) {
  int count = 0;
  for (int i = 0; i < 65536; ++i) {
    double low = decode(f, (uint16_t)i), high = decode(f, (uint16_t)(i ^ 1));
    if ((i & 0x7FFF) == (2 * f.bias + 1) << f.mantissa || (i & 0x7FFF) == ((2 * f.bias + 1) << f.mantissa) - 1)
      high = isinf(low) ? low : copysign(ldexp(1, f.bias + 1), low);
    else if ((i & 0x7FFF) != 0x7FFF)
      high = decode(f, (uint16_t)(i + 1));
    double middle = (low + high) / 2;
    double around[] = {low,
                       middle,
                       nextafterf((float)middle, INFINITY),
                       nextafterf((float)middle, -INFINITY),
                       nextafter(middle, INFINITY),
                       nextafter(middle, -INFINITY),
                       random_number() * low,
                       middle * 1.25};
    for (int k = 0; k < 8; ++k)
      doubles[count++] = around[k];
  }
  return count;
}

static void check_truncations(Format f, void (*from_f32)(MEMREF1(float), MEMREF1(uint16_t)),
                              void (*from_f64)(MEMREF1(double), MEMREF1(uint16_t))) {
  int count = make_neighbours(f);
  from_f64(VECTOR(doubles, count), VECTOR(narrow, count));
  for (int i = 0; i < count; ++i)
    expect(same_narrow(f, narrow[i], encode(f, doubles[i])), f.name, i, encode(f, doubles[i]));
  for (int i = 0; i < count; ++i)
    singles[i] = (float)doubles[i];
  from_f32(VECTOR(singles, count), VECTOR(narrow, count));
  for (int i = 0; i < count; ++i)
    expect(same_narrow(f, narrow[i], encode(f, singles[i])), f.name, i, encode(f, singles[i]));
}

int main(void) {
  check_extensions();
  check_truncations(kBF16, f32_to_bf16, f64_to_bf16);
  check_truncations(kF16, f32_to_f16, f64_to_f16);
  return finish();
}
