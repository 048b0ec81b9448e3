// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the header of a safetensors file says, checked, and the table of tensors that readers of files fill (Npz.h is
// the other one). Knows nothing of files, nor of what a program expects (Weights.cpp).

#ifndef RESID_RUNTIME_SAFETENSORS_H
#define RESID_RUNTIME_SAFETENSORS_H

#include "runtime/HeaderText.h"
#include "runtime/resid.h"

#include <stdlib.h>

namespace resid::runtime {

/// A growing array of plain values; false where there is no memory for more.
template <typename T> struct Array {
  T *values = nullptr;
  size_t count = 0, room = 0;

  bool add(const T &value);
  void sort(int (*compare)(const void *, const void *));
  void clear();
};

template <typename T> bool Array<T>::add(const T &value) {
  if (count == room) {
    size_t wanted = room == 0 ? 16 : 2 * room;
    T *larger = static_cast<T *>(realloc(values, wanted * sizeof(T)));
    if (!larger)
      return false;
    values = larger;
    room = wanted;
  }
  values[count++] = value;
  return true;
}

template <typename T> void Array<T>::sort(int (*compare)(const void *, const void *)) {
  if (count > 1)
    qsort(values, count, sizeof(T), compare);
}

template <typename T> void Array<T>::clear() {
  free(values);
  *this = Array();
}

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
  /// Puts the tensors into the order of their names. Says where two have one name.
  bool sortByNames(Message &message);
  void clear();
  /// The tensor whose name is `prefix` and `name` joined; null where there is none.
  const Tensor *find(const Name &name, const Name &prefix = {"", 0}) const;
};

/// The bytes that type and shape make. False where they are too many, or end within a byte.
bool countBytes(const Tensor &tensor, const int64_t *sizes, int64_t &bytes);

/// What begins a sentence about a tensor.
Message &tell(Message &message, const Tensor &tensor);

} // namespace resid::runtime

#endif // RESID_RUNTIME_SAFETENSORS_H
