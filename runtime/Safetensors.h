// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the header of a safetensors file says, checked. Knows nothing of files, nor of what a program expects
// (Weights.cpp).

#ifndef RESID_RUNTIME_SAFETENSORS_H
#define RESID_RUNTIME_SAFETENSORS_H

#include "runtime/HeaderText.h"
#include "runtime/resid.h"

namespace resid::runtime {

/// A growing array of plain values; false where there is no memory for more.
template <typename T> struct Array {
  T *values = nullptr;
  size_t count = 0, room = 0;

  bool add(const T &value);
  void sort(int (*compare)(const void *, const void *));
  void clear();
};

struct Tensor {
  Name name;
  /// As the format writes it: one of a table.
  const char *dtype;
  unsigned bits; // of an element
  int32_t rank;
  /// Where the sizes begin in TensorTable::sizes.
  size_t sizes;
  int64_t begin, end; // of the bytes, from the end of the header
};

/// The tensors of a file, in the order of their names.
struct TensorTable {
  Array<Tensor> tensors;
  Array<int64_t> sizes;
  /// The characters of all names.
  char *names = nullptr;
  /// Where the bytes of the tensors begin in the file.
  size_t dataStart = 0;

  /// Reads the file of `size` bytes. Where it does not follow the format, says why and answers RESID_BAD_VALUE.
  resid_status read(const char *file, size_t size, Message &message);
  void clear();
  /// Null where there is no tensor of that name.
  const Tensor *find(const Name &name) const;
};

} // namespace resid::runtime

#endif // RESID_RUNTIME_SAFETENSORS_H
