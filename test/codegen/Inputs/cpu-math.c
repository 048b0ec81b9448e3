// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares the compiled functions with a wider mathematical library: f32 with double, f64 with long double.

#include "cpu-row-model.h"

#define DECLARE(name)                                                                                                  \
  void name##_f32(MEMREF1(float), MEMREF1(float));                                                                     \
  void name##_f64(MEMREF1(double), MEMREF1(double));
DECLARE(exp)
DECLARE(tanh)
DECLARE(erf)
DECLARE(rsqrt)
void others_f32(MEMREF1(float), MEMREF1(float));

enum { kCount = 400000 };
static float x32[kCount], y32[kCount];
static double x64[kCount], y64[kCount];
static const double kSpecial[] = {0.0,  -0.0,   INFINITY, -INFINITY, NAN,  1e-300, -1e-40,
                                  88.7, -103.5, 709.7,    -745.0,    1e30, -1e30};

static long double reciprocal_root(long double x) { return 1 / sqrtl(x); }

// Half of the arguments fall evenly on [-limit, limit], half gather around 0 in all magnitudes; then the special ones.
static void make_arguments(double limit) {
  for (int i = 0; i < kCount; ++i) {
    double u = random_number();
    x64[i] = i % 2 ? u * limit : limit * ldexp(u, (int)(40 * random_number()) - 40);
    if (i < (int)(sizeof kSpecial / sizeof *kSpecial))
      x64[i] = kSpecial[i];
    x32[i] = (float)x64[i];
  }
}

// The error in units of the result's size; results below `smallest` count as that large (rounding of subnormals).
static void check(const char *name, double got, long double expected, double bound, double smallest, int i) {
  int is_special = isnan(expected) || isinf(expected);
  long double size = fabsl(expected) > smallest ? fabsl(expected) : smallest;
  int right = is_special ? (isnan(expected) ? isnan(got) : got == expected)
                         : fabsl(got - expected) <= bound * size && !signbit(got) == !signbit(expected);
  expect(right, name, i, 0);
  if (!right && failures <= 20)
    printf("  got %.17g expected %.20Lg\n", got, expected);
}

typedef void F32(MEMREF1(float), MEMREF1(float));
typedef void F64(MEMREF1(double), MEMREF1(double));
static void check_function(const char *name, F32 f32, F64 f64, long double (*reference)(long double), double limit32,
                           double limit64, double bound32, double bound64) {
  make_arguments(limit32);
  f32(VECTOR(x32, kCount), VECTOR(y32, kCount));
  for (int i = 0; i < kCount; ++i) {
    long double expected = reference(x32[i]);
    if (fabsl(expected) > 0x1.ffffffp127L)
      expected = copysignl(INFINITY, expected);
    check(name, y32[i], expected, bound32, 0x1p-126, i);
  }
  make_arguments(limit64);
  f64(VECTOR(x64, kCount), VECTOR(y64, kCount));
  for (int i = 0; i < kCount; ++i) {
    long double expected = reference(x64[i]);
    if (fabsl(expected) > 0x1.fffffffffffff8p1023L)
      expected = copysignl(INFINITY, expected);
    check(name, y64[i], expected, bound64, 0x1p-1022, i);
  }
}

int main(void) {
  check_function("exp", exp_f32, exp_f64, expl, 104, 745, 2e-7, 5e-16);
  check_function("tanh", tanh_f32, tanh_f64, tanhl, 12, 25, 4e-7, 1e-15);
  check_function("erf", erf_f32, erf_f64, erfl, 5, 7, 2e-7, 1e-15);
  check_function("rsqrt", rsqrt_f32, rsqrt_f64, reciprocal_root, 1000, 1000, 1.2e-7, 2.3e-16);
  for (int i = 0; i < kCount; ++i)
    x32[i] = (float)fabs(random_number()) + 0.1f;
  others_f32(VECTOR(x32, kCount), VECTOR(y32, kCount));
  for (int i = 0; i < kCount; ++i) {
    double x = x32[i];
    check("others", y32[i], sin(x) + cos(x) + log(x) + log1p(x) + pow(x, 1.5) + exp2(x) + floor(x * 3), 1e-6, 1, i);
  }
  return finish();
}
