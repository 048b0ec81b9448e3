// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights in the forms that products read them in: as [in, out], as [out, in] and in panels. Written apart from the
// compiler, whose programs read them.

#include "runtime/resid.h"

#include <cstring>

namespace {
constexpr int64_t kPanelColumns = 16;
}

extern "C" {

/// The transpose of an array of `rows` times `columns` elements of `size` bytes.
RESID_API void bench_transpose(const char *from, char *to, int64_t rows, int64_t columns, int64_t size) {
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      std::memcpy(to + (column * rows + row) * size, from + (row * columns + column) * size, static_cast<size_t>(size));
}

/// Panels of 16 columns of an array of `terms` times `columns` elements: [panels][terms][16] of f32, and of bf16
/// [panels][pairs of terms][16][2]. What is absent is 0. Answers the bytes of the panels; `to` may be NULL.
RESID_API int64_t bench_pack(const char *from, char *to, int64_t terms, int64_t columns, int64_t size) {
  int64_t neighbours = size == 2 ? 2 : 1, groups = (terms + neighbours - 1) / neighbours;
  int64_t panels = (columns + kPanelColumns - 1) / kPanelColumns;
  int64_t bytes = panels * groups * kPanelColumns * neighbours * size;
  if (!to)
    return bytes;
  std::memset(to, 0, static_cast<size_t>(bytes));
  for (int64_t term = 0; term < terms; ++term)
    for (int64_t column = 0; column < columns; ++column) {
      int64_t group = column / kPanelColumns * groups + term / neighbours;
      int64_t place = (group * kPanelColumns + column % kPanelColumns) * neighbours + term % neighbours;
      std::memcpy(to + place * size, from + (term * columns + column) * size, static_cast<size_t>(size));
    }
  return bytes;
}
}
