// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One sub-layer on several MPI ranks: the hidden features of a linear layer are split between them, its sum, the
// residual add and the norm are layer.mlir. Compared with the same on one rank.

#include "kernels.h"

#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRows = 64, kHidden = 512, kWidth = 256 };

// What MLIR passes for a memref of two dimensions, and of one.
typedef struct {
  float *allocated, *aligned;
  int64_t offset, sizes[2], strides[2];
} Matrix;
typedef struct {
  float *allocated, *aligned;
  int64_t offset, sizes[1], strides[1];
} Vector;

int32_t _mlir_ciface_sum_add_norm(Matrix *partial, Matrix *x, Vector *gamma, int64_t seed, int64_t step, Matrix *y,
                                  Matrix *s);

static Matrix matrixOf(float *data) { return (Matrix){data, data, 0, {kRows, kWidth}, {kWidth, 1}}; }

static void *allocate(void *user, size_t bytes, size_t alignment) {
  (void)user;
  return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
static void release(void *user, void *pointer) {
  (void)user;
  free(pointer);
}
static const resid_ctx context = {.abi_version = 1, .alloc = allocate, .free = release};

static void require(resid_status status, const char *what) {
  if (status == RESID_OK)
    return;
  fprintf(stderr, "mpi: %s answered status %d, expected 0\n", what, (int)status);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// Numbers in [-1, 1), the same on every rank.
static void fill(float *data, size_t count, uint32_t state) {
  for (size_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    data[i] = (float)(state >> 8) / 8388608.0f - 1.0f;
  }
}

static float x[kRows * kWidth], h[kRows * kHidden], w[kHidden * kWidth], gamma[kWidth];
static float ownH[kRows * kHidden], partial[kRows * kWidth], y[kRows * kWidth], s[kRows * kWidth];
static float wholeF[kRows * kWidth], wholeY[kRows * kWidth], wholeS[kRows * kWidth];

// How many dropped elements differ, and the largest difference of the results.
static int compare(int ranks) {
  require(product(&context, h, kRows, kHidden, w, kHidden, wholeF), "product");
  require(add_norm(&context, x, kRows, wholeF, kRows, gamma, 7, 1, 0, wholeY, wholeS), "add_norm");
  int dropped = 0, wrong = 0;
  float largest = 0.0f;
  for (int i = 0; i < kRows * kWidth; ++i) {
    int isDropped = wholeS[i] == x[i];
    dropped += isDropped;
    wrong += isDropped != (s[i] == x[i]);
    largest = fmaxf(largest, fmaxf(fabsf(y[i] - wholeY[i]), fabsf(s[i] - wholeS[i])));
  }
  int isGood = dropped > 0 && wrong == 0 && largest <= 1e-4f;
  printf("%d ranks: %d of %d elements dropped, %d of them others than on one rank; largest difference %.1e: %s\n",
         ranks, dropped, kRows * kWidth, wrong, largest, isGood ? "ok" : "wrong");
  return isGood ? 0 : 1;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != RANKS) {
    if (rank == 0)
      fprintf(stderr, "mpi: expected %d ranks, for which this program was compiled, but got %d\n", RANKS, ranks);
    MPI_Finalize();
    return 2;
  }
  fill(x, kRows * kWidth, 1), fill(h, kRows * kHidden, 2), fill(w, kHidden * kWidth, 3), fill(gamma, kWidth, 4);

  // This rank has a part of the hidden features: columns of h and rows of w.
  int64_t own = kHidden / ranks, first = rank * own;
  for (int64_t row = 0; row < kRows; ++row)
    memcpy(ownH + row * own, h + row * kHidden + first, own * sizeof(float));
  require(product(&context, ownH, kRows, own, w + first * kWidth, own, partial), "product");

  Matrix ofPartial = matrixOf(partial), ofX = matrixOf(x), ofY = matrixOf(y), ofS = matrixOf(s);
  Vector ofGamma = {gamma, gamma, 0, {kWidth}, {1}};
  require(_mlir_ciface_sum_add_norm(&ofPartial, &ofX, &ofGamma, 7, 1, &ofY, &ofS), "sum_add_norm");

  // Rows of the others, for the comparison.
  int count = kRows / ranks * kWidth;
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, y, count, MPI_FLOAT, MPI_COMM_WORLD);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, s, count, MPI_FLOAT, MPI_COMM_WORLD);
  int failed = rank == 0 ? compare(ranks) : 0;
  MPI_Bcast(&failed, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return failed;
}
