// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures compiled math functions against the C library in the next wider type: f32 at every STEP-th bit pattern, f64
// at 2^32 / STEP random ones, f16 and bf16 (where functions.h says so) at all. Prints a line of Markdown per function
// and type; exits 1 where a bound of docs/numerics.md is not kept. math-functions.h is what residc makes of the program
// that write_math_functions.py writes beside functions.h.
//
// Usage: math-functions STEP [NAME [TYPE]]

#include "math-functions.h"
#include "functions.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef long double Wide;

static double rsqrt(double x) { return 1 / sqrt(x); }
static Wide rsqrtl(Wide x) { return 1 / sqrtl(x); }

// What residc compiled, with one signature, beside the functions of the C library.
#define UNARY(NAME, EXACT)                                                                                             \
  static void NAME##32(const float *x, const float *y, int64_t n, float *out) {                                        \
    (void)y;                                                                                                           \
    if (k_##NAME##_f32(NULL, x, n, out))                                                                               \
      abort();                                                                                                         \
  }                                                                                                                    \
  static void NAME##64(const double *x, const double *y, int64_t n, double *out) {                                     \
    (void)y;                                                                                                           \
    if (k_##NAME##_f64(NULL, x, n, out))                                                                               \
      abort();                                                                                                         \
  }                                                                                                                    \
  static double NAME##Exact32(double x, double y) { return (void)y, EXACT(x); }                                        \
  static Wide NAME##Exact64(Wide x, Wide y) { return (void)y, EXACT##l(x); }                                           \
  NARROW_UNARY(NAME)
#define BINARY(NAME, EXACT)                                                                                            \
  static void NAME##32(const float *x, const float *y, int64_t n, float *out) {                                        \
    if (k_##NAME##_f32(NULL, x, n, y, n, out))                                                                         \
      abort();                                                                                                         \
  }                                                                                                                    \
  static void NAME##64(const double *x, const double *y, int64_t n, double *out) {                                     \
    if (k_##NAME##_f64(NULL, x, n, y, n, out))                                                                         \
      abort();                                                                                                         \
  }                                                                                                                    \
  static double NAME##Exact32(double x, double y) { return EXACT(x, y); }                                              \
  static Wide NAME##Exact64(Wide x, Wide y) { return EXACT##l(x, y); }                                                 \
  NARROW_BINARY(NAME)
#ifdef NARROW
#define NARROW_CALL(NAME, TYPE, ...)                                                                                   \
  static void NAME##_##TYPE(const uint16_t *x, const uint16_t *y, int64_t n, uint16_t *out) {                          \
    (void)y;                                                                                                           \
    if (k_##NAME##_##TYPE(NULL, __VA_ARGS__, out))                                                                     \
      abort();                                                                                                         \
  }
#define NARROW_UNARY(NAME) NARROW_CALL(NAME, f16, x, n) NARROW_CALL(NAME, bf16, x, n)
#define NARROW_BINARY(NAME) NARROW_CALL(NAME, f16, x, n, y, n) NARROW_CALL(NAME, bf16, x, n, y, n)
#define NARROW_LIST(NAME) , NAME##_f16, NAME##_bf16
#else
#define NARROW_UNARY(NAME)
#define NARROW_BINARY(NAME)
#define NARROW_LIST(NAME) , NULL, NULL
#endif
UNARIES(UNARY)
BINARIES(BINARY)

typedef struct {
  const char *name;
  void (*f32)(const float *, const float *, int64_t, float *);
  void (*f64)(const double *, const double *, int64_t, double *);
  double (*exact32)(double, double);
  Wide (*exact64)(Wide, Wide);
  void (*f16)(const uint16_t *, const uint16_t *, int64_t, uint16_t *);
  void (*bf16)(const uint16_t *, const uint16_t *, int64_t, uint16_t *);
} Function;
#define LIST(NAME, EXACT) {#NAME, NAME##32, NAME##64, NAME##Exact32, NAME##Exact64 NARROW_LIST(NAME)},
static const Function kFunctions[] = {UNARIES(LIST) BINARIES(LIST)};
enum { kCount = sizeof(kFunctions) / sizeof(kFunctions[0]), kBlock = 1 << 14 };

// The promise, in units in the last place.
static double getBound32(const char *name) {
  return !strcmp(name, "tanh") || !strcmp(name, "erf") ? 4 : !strcmp(name, "exp") || !strcmp(name, "rsqrt") ? 2 : 1;
}
static const double kBound64 = 4, kBound16 = 1;

/// The largest error, where it is, and how often a NaN, an infinity or a zero's sign was wrong.
typedef struct {
  double error, x, y;
  int64_t wrong;
  double wrongX, wrongY;
} Worst;

static uint64_t state = 1;
static uint64_t random64(void) {
  uint64_t z = (state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/// A checksum of all results, NaNs as one, by which two ways to compile them are compared.
static uint64_t checksum;
static void mix(double found) {
  uint64_t bits = 0;
  if (!isnan(found))
    memcpy(&bits, &found, sizeof bits);
  checksum = (checksum ^ bits) * 0x100000001B3u;
}

static void note(Worst *worst, double found, Wide exact, Wide unit, double largest, double x, double y) {
  mix(found);
  Wide magnitude = fabsl(exact);
  int overflows = isinf(exact) || magnitude > largest + unit / 2;
  int isSame = isnan(exact) ? isnan(found) : overflows ? isinf(found) && (found > 0) == (exact > 0) : 1;
  if (exact == 0)
    isSame = found == 0 && !signbit(found) == !signbit(exact);
  // Beside the largest number an infinity is one unit off.
  if (isinf(found) && !overflows && magnitude >= largest - unit)
    return;
  if (!isSame || isnan(found) != !!isnan(exact) || (isinf(found) && !overflows)) {
    if (overflows && fabs(found) >= largest)
      return;
    worst->wrongX = x, worst->wrongY = y, ++worst->wrong;
    return;
  }
  if (isnan(exact) || overflows)
    return;
  double error = (double)(fabsl((Wide)found - exact) / unit);
  if (error > worst->error)
    worst->error = error, worst->x = x, worst->y = y;
}

static Wide getUnit(Wide exact, int precision, int smallest) {
  int exponent = exact == 0 || !isfinite(exact) ? smallest : ilogbl(exact) - (precision - 1);
  return ldexpl(1, exponent < smallest ? smallest : exponent);
}

/// The same for normal results of f32, which nearly all are, without long double; 0 where it is not one.
static int noteNormal32(Worst *worst, float found, double exact, double x, double y) {
  double magnitude = fabs(exact), unit;
  if (!(magnitude >= 0x1p-126 && magnitude <= 0x1.fffffep127) || !isfinite(found))
    return 0;
  mix(found);
  uint64_t bits;
  memcpy(&bits, &magnitude, sizeof bits);
  bits = ((bits >> 52) - 23) << 52;
  memcpy(&unit, &bits, sizeof unit);
  double error = fabs(found - exact) / unit;
  if (error > worst->error)
    worst->error = error, worst->x = x, worst->y = y;
  return 1;
}

static Worst measure32(const Function *function, uint64_t step) {
  static float x[kBlock], y[kBlock], out[kBlock];
  int isPower = !strcmp(function->name, "powf");
  Worst worst = {0, 0, 0, 0, 0, 0};
  for (uint64_t bits = 0; bits < (uint64_t)1 << 32;) {
    int n = 0;
    for (; n < kBlock && bits < (uint64_t)1 << 32; ++n, bits += step) {
      uint32_t low = (uint32_t)bits, other = (uint32_t)random64();
      memcpy(&x[n], &low, 4);
      memcpy(&y[n], &other, 4);
      if (isPower && random64() % 8)
        y[n] = (float)((double)(int64_t)random64() / 0x1p63 * 150 / log2(fabs(x[n])));
    }
    function->f32(x, y, n, out);
    for (int i = 0; i < n; ++i) {
      double exact = function->exact32(x[i], y[i]);
      if (!noteNormal32(&worst, out[i], exact, x[i], y[i]))
        note(&worst, out[i], exact, getUnit(exact, 24, -149), 0x1.fffffep127, x[i], y[i]);
    }
  }
  return worst;
}

/// Bits of any exponent, or numbers of ordinary size, or near 1.
static double pick(void) {
  uint64_t bits = random64();
  double any;
  memcpy(&any, &bits, 8);
  double uniform = (double)(int64_t)random64() / 0x1p63;
  switch (bits % 4) {
  case 0:
    return any;
  case 1:
    return uniform * 800;
  case 2:
    return ldexp(uniform, (int)(random64() % 40) - 34);
  default:
    return 1 + ldexp(uniform, -(int)(random64() % 54));
  }
}

static Worst measure64(const Function *function, uint64_t step) {
  static double x[kBlock], y[kBlock], out[kBlock];
  int isPower = !strcmp(function->name, "powf");
  Worst worst = {0, 0, 0, 0, 0, 0};
  for (uint64_t done = 0; done < ((uint64_t)1 << 32) / step; done += kBlock) {
    for (int i = 0; i < kBlock; ++i) {
      x[i] = pick(), y[i] = pick();
      if (isPower && random64() % 8)
        y[i] = (double)(int64_t)random64() / 0x1p63 * 1080 / log2(fabs(x[i]));
    }
    function->f64(x, y, kBlock, out);
    for (int i = 0; i < kBlock; ++i) {
      Wide exact = function->exact64(x[i], y[i]);
      note(&worst, out[i], exact, getUnit(exact, 53, -1074), 0x1.fffffffffffffp1023, x[i], y[i]);
    }
  }
  return worst;
}

/// The number of 16 bits whose fraction has `fractionBits` of them.
static double decode(uint16_t bits, int fractionBits) {
  int exponentBits = 15 - fractionBits, bias = (1 << (exponentBits - 1)) - 1;
  int exponent = (bits & 0x7FFF) >> fractionBits, fraction = bits & ((1 << fractionBits) - 1);
  double magnitude = exponent == (1 << exponentBits) - 1 ? (fraction ? NAN : INFINITY)
                     : exponent ? ldexp(fraction + (1 << fractionBits), exponent - bias - fractionBits)
                                : ldexp(fraction, 1 - bias - fractionBits);
  return bits >> 15 ? -magnitude : magnitude;
}

/// All 65,536 arguments, each with a random second one.
static Worst measure16(const Function *function, int isBrain) {
  static uint16_t x[1 << 16], y[1 << 16], out[1 << 16];
  int fractionBits = isBrain ? 7 : 10;
  int smallest = isBrain ? -133 : -24;
  double largest = isBrain ? 0x1.fep127 : 0x1.ffcp15;
  Worst worst = {0, 0, 0, 0, 0, 0};
  for (int i = 0; i < 1 << 16; ++i)
    x[i] = (uint16_t)i, y[i] = (uint16_t)random64();
  (isBrain ? function->bf16 : function->f16)(x, y, 1 << 16, out);
  for (int i = 0; i < 1 << 16; ++i) {
    double first = decode(x[i], fractionBits), second = decode(y[i], fractionBits);
    double exact = function->exact32(first, second);
    Wide unit = getUnit(exact, fractionBits + 1, smallest);
    note(&worst, decode(out[i], fractionBits), exact, unit, largest, first, second);
  }
  return worst;
}

static int report(const Function *function, const char *type, Worst worst, double bound) {
  int isBinary = !strcmp(function->name, "atan2") || !strcmp(function->name, "powf");
  printf("| %s | %s | %.3f at %.17g", function->name, type, worst.error, worst.x);
  if (isBinary)
    printf(", %.17g", worst.y);
  printf(" | %g |\n", bound);
  fflush(stdout);
  if (worst.wrong)
    fprintf(stderr, "math-functions: %s on %s: %lld wrong special values, such as that of %.17g, %.17g\n",
            function->name, type, (long long)worst.wrong, worst.wrongX, worst.wrongY);
  if (worst.error > bound)
    fprintf(stderr, "math-functions: %s on %s: expected an error of %g units at most but got %g\n", function->name,
            type, bound, worst.error);
  return worst.wrong != 0 || worst.error > bound;
}

static int measure(const Function *function, const char *type, uint64_t step) {
  if (!strcmp(type, "f32"))
    return report(function, type, measure32(function, step), getBound32(function->name));
  if (!strcmp(type, "f64"))
    return report(function, type, measure64(function, step), kBound64);
  return function->f16 && report(function, type, measure16(function, type[0] == 'b'), kBound16);
}

int main(int argc, char **argv) {
  static const char *const types[] = {"f32", "f64", "f16", "bf16"};
  uint64_t step = argc > 1 ? strtoull(argv[1], NULL, 10) : 4093;
  int failures = 0;
  for (const Function *function = kFunctions; function != kFunctions + kCount; ++function)
    for (int i = 0; i < 4; ++i)
      if ((argc <= 2 || !strcmp(argv[2], function->name)) && (argc <= 3 || !strcmp(argv[3], types[i])))
        failures += measure(function, types[i], step);
  fprintf(stderr, "bits %016llx\n", (unsigned long long)checksum);
  return failures != 0;
}
