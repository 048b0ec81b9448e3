// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the kernels of cpu-row-kernels.mlir at many widths and compares each bit with the plain model.

#include "cpu-row-model.h"

void add_layer_norm(MEMREF2(float), MEMREF2(float), MEMREF1(float), MEMREF1(float), MEMREF2(float));
void sums_f64(MEMREF2(double), MEMREF1(double), MEMREF1(double), MEMREF1(double), MEMREF1(double));
void broadcasts(MEMREF3(float), MEMREF1(float), MEMREF3(float), MEMREF3(float), MEMREF3(float));
void dropout(MEMREF2(float), int64_t, int64_t, int64_t, int64_t, MEMREF2(float));
void dropout_moving_rows(MEMREF2(float), int64_t, int64_t, MEMREF2(float));
void square_in_tasks(const void *, MEMREF2(float), float, MEMREF2(float));
void two_columns(MEMREF3(float), MEMREF2(float), float *, float *, int64_t, MEMREF1(float), MEMREF3(float));
void copies(MEMREF2(float), MEMREF2(float), MEMREF2(float), MEMREF2(float));

static const int64_t widths[] = {0, 1, 5, 63, 64, 65, 100, 768, 1000, 1023, 1024, 1025, 1088, 2048, 2500};
enum { kWidths = sizeof widths / sizeof *widths, kRows = 3, kLargest = 2500 };
static float x[kRows * kLargest + 1], f[kRows * kLargest + 1], y[kRows * kLargest + 1], gamma_[kLargest],
    beta[kLargest];
static float sum[kLargest], centred[kLargest];

static void model_layer_norm(const float *xr, const float *fr, int64_t n, float *out) {
  for (int64_t j = 0; j < n; ++j)
    sum[j] = xr[j] + fr[j];
  float k = ordered_sum_f32(sum, n, 0) / n;
  for (int64_t j = 0; j < n; ++j)
    centred[j] = sum[j] - k;
  float e = ordered_sum_f32(centred, n, 0) / n, q = ordered_sum_f32(centred, n, 1) / n, variance;
  if (fabsf(q) < INFINITY && e * e <= q * 0.25f) {
    variance = fmaf(-e, e, q);
  } else {
    for (int64_t j = 0; j < n; ++j)
      out[j] = centred[j] - e;
    variance = ordered_sum_f32(out, n, 1) / n;
  }
  float rstd = 1.0f / sqrtf(variance + 1e-5f);
  for (int64_t j = 0; j < n; ++j)
    out[j] = fmaf((centred[j] - e) * rstd, gamma_[j], beta[j]);
}

// One element off the natural alignment of vectors; in place; a NaN, a row where the mean's error dominates.
static void check_layer_norm(int64_t n) {
  static float expected[kRows * kLargest];
  for (int64_t i = 0; i < kRows * n; ++i) {
    x[1 + i] = (float)random_number() + (i / (n ? n : 1) == 1 ? 1e6f : 0.0f);
    f[1 + i] = (float)random_number();
  }
  for (int64_t j = 0; j < n; ++j) {
    gamma_[j] = (float)random_number();
    beta[j] = (float)random_number();
    x[1 + 1 * n + j] = f[1 + 1 * n + j] = 1e6f + (j == n / 2 ? 0.5f : 0.0f);
  }
  if (n)
    x[1 + 2 * n + n / 2] = NAN;
  for (int r = 0; r < kRows; ++r)
    model_layer_norm(x + 1 + r * n, f + 1 + r * n, n, expected + r * n);
  add_layer_norm(MATRIX(x + 1, kRows, n), MATRIX(f + 1, kRows, n), VECTOR(gamma_, n), VECTOR(beta, n),
                 MATRIX(y + 1, kRows, n));
  for (int64_t i = 0; i < kRows * n; ++i)
    expect(same_f32(y[1 + i], expected[i]), "layer norm", n, i);
  add_layer_norm(MATRIX(x + 1, kRows, n), MATRIX(f + 1, kRows, n), VECTOR(gamma_, n), VECTOR(beta, n),
                 MATRIX(f + 1, kRows, n));
  for (int64_t i = 0; i < kRows * n; ++i)
    expect(same_f32(f[1 + i], expected[i]), "layer norm in place", n, i);
}

static void check_sums(int64_t n, int with_nan) {
  static double values[2 * kLargest];
  double sums[2], squares[2], largest[2], top[2];
  // The second row lies below zero.
  for (int64_t i = 0; i < 2 * n; ++i)
    values[i] = i < n ? random_number() : -1.0 - fabs(random_number());
  if (with_nan)
    values[n - 1] = NAN;
  sums_f64(MATRIX(values, 2, n), VECTOR(sums, 2), VECTOR(squares, 2), VECTOR(largest, 2), VECTOR(top, 2));
  for (int r = 0; r < 2; ++r) {
    double *row = values + r * n, expected = 0;
    for (int64_t j = 0; j < n && expected == expected; ++j)
      if (!(fabs(row[j]) <= expected))
        expected = fabs(row[j]);
    expect(same_f64(sums[r], ordered_sum_f64(row, n, 0)), "sum", n, r);
    expect(same_f64(squares[r], ordered_sum_f64(row, n, 1)), "sum of squares", n, r);
    expect(same_f64(largest[r], expected), "max", n, r);
    double highest = -INFINITY;
    for (int64_t j = 0; j < n && highest == highest; ++j)
      if (!(row[j] <= highest))
        highest = row[j];
    expect(same_f64(top[r], highest), "signed max", n, r);
  }
}

static void check_broadcasts(int64_t n) {
  enum { kA = 2, kB = 3 };
  static float a[kA * kB * 40], perBatch[kA], perRow[kA * kB], out[kA * kB * 50];
  for (int64_t i = 0; i < kA * kB * n; ++i)
    a[i] = (float)random_number();
  for (int i = 0; i < kA * kB; ++i)
    perRow[i] = (float)random_number();
  perBatch[0] = 2.0f, perBatch[1] = -3.0f;
  static float full[kA * kB * 40];
  for (int64_t i = 0; i < kA * kB * n; ++i)
    full[i] = (float)random_number();
  broadcasts(CUBE(a, kA, kB, n), VECTOR(perBatch, kA), CUBE(perRow, kA, kB, 1), CUBE(full, kA, kB, n), out, out, 0, kA,
             kB, n, kB * 50, 50, 1);
  for (int i = 0; i < kA * kB; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float expected = a[i * n + j] * perBatch[i / kB] + perRow[i] + full[i * n + j];
      expect(same_f32(out[i * 50 + j], expected), "broadcast", i, j);
    }
}

static void check_dropout(int64_t n) {
  for (int64_t i = 0; i < 2 * n; ++i)
    x[i] = (float)random_number();
  uint64_t seed = 0x123456789ABCDEF0u;
  dropout(MATRIX(x, 2, n), seed, 7, 5, 3, MATRIX(y, 2, n));
  for (int64_t i = 0; i < 2 * n; ++i) {
    uint32_t half = philox_half(seed, i % n, i / n + 5, 3, 7);
    expect(same_f32(y[i], half >= 6554 ? x[i] * (65536.0f / (65536 - 6554)) : 0.0f), "dropout", n, i);
  }
}

static void check_dropout_moving_rows(void) {
  enum { kLast = 13, kPerRow = 7, kWidth = kLast * kPerRow };
  for (int i = 0; i < 2 * kWidth; ++i)
    x[i] = (float)random_number();
  dropout_moving_rows(MATRIX(x, 2, kWidth), kLast, 99, MATRIX(y, 2, kWidth));
  for (int i = 0; i < 2 * kWidth; ++i) {
    float expected = philox_half(99, i % kWidth, i / kLast, 0, 0) >= 32768 ? x[i] : 0.0f;
    expect(same_f32(y[i], expected), "dropout with moving rows", i, 0);
  }
}

// The head of resid_ctx; tasks are run from the last to the first.
typedef struct {
  uint32_t abi_version, hints;
  void *user;
  void (*parallel_for)(void *, int64_t, void (*)(void *, int64_t), void *);
} Context;
static int64_t tasks_seen;
static void run_backwards(void *user, int64_t n, void (*task)(void *, int64_t), void *argument) {
  *(int64_t *)user = n;
  while (n-- > 0)
    task(argument, n);
}

static void check_tasks(int64_t rows, int64_t n, int64_t expected_tasks) {
  float *in = malloc(rows * n * 4 + 1), *out = malloc(rows * n * 4 + 1);
  Context context = {1, 0, &tasks_seen, run_backwards}, serial = {1, 0, &tasks_seen, 0};
  const void *contexts[] = {&context, &serial, 0};
  for (int64_t i = 0; i < rows * n; ++i)
    in[i] = (float)random_number();
  for (int k = 0; k < 3; ++k) {
    tasks_seen = 0;
    memset(out, 0, rows * n * 4);
    square_in_tasks(contexts[k], MATRIX(in, rows, n), 3.0f, MATRIX(out, rows, n));
    expect(tasks_seen == (k == 0 ? expected_tasks : 0), "number of tasks", rows, tasks_seen);
    for (int64_t i = 0; i < rows * n; ++i)
      expect(same_f32(out[i], fmaf(in[i], 3.0f, (float)(i / n))), "tasks", rows, i);
  }
  free(in);
  free(out);
}

static void check_two_columns(void) {
  enum { kB = 9, kC = 31, kWidth = kB * kC };
  float alpha = 0.75f, sums[2], row[kWidth];
  for (int i = 0; i < 2 * kWidth; ++i)
    x[i] = (float)random_number();
  for (int i = 0; i < kWidth; ++i)
    gamma_[i] = (float)random_number();
  two_columns(CUBE(x, 2, kB, kC), MATRIX(gamma_, kB, kC), &alpha, &alpha, 0, VECTOR(sums, 2), CUBE(y, 2, kB, kC));
  for (int r = 0; r < 2; ++r) {
    for (int j = 0; j < kWidth; ++j) {
      row[j] = x[r * kWidth + j] * gamma_[j] * alpha;
      expect(same_f32(y[r * kWidth + j], row[j]), "two column dimensions", r, j);
    }
    expect(same_f32(sums[r], ordered_sum_f32(row, kWidth, 0)), "sum over two column dimensions", r, 0);
  }
}

static void check_copies(void) {
  float big[6 * 9], dense[4 * 5], copied[4 * 5], cut[4 * 5];
  for (int i = 0; i < 6 * 9; ++i)
    big[i] = (float)i;
  for (int i = 0; i < 4 * 5; ++i)
    dense[i] = (float)-i;
  copies(MATRIX(dense, 4, 5), big, big, 12, 4, 5, 9, 1, MATRIX(copied, 4, 5), MATRIX(cut, 4, 5));
  expect(!memcmp(dense, copied, sizeof dense), "dense copy", 0, 0);
  for (int i = 0; i < 4 * 5; ++i)
    expect(cut[i] == big[12 + i / 5 * 9 + i % 5], "copy of a part", i, 0);
}

int main(void) {
  for (int i = 0; i < kWidths; ++i) {
    check_layer_norm(widths[i]);
    check_sums(widths[i], 0);
    check_dropout(widths[i]);
  }
  check_sums(65, 1);
  check_broadcasts(1);
  check_broadcasts(40);
  check_dropout_moving_rows();
  check_tasks(100, 1024, 4); // 32 rows a task
  check_tasks(32, 1024, 0);  // one task: a plain call
  check_tasks(3, 40000, 3);  // rows beyond a task's size
  check_tasks(0, 64, 0);
  check_tasks(7, 0, 0);
  check_two_columns();
  check_copies();
  return finish();
}
