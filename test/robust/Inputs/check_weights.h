// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What must hold of any bytes that are read as a file of weights: they are refused with a reason, or all that is said
// of them is true. For the deterministic test of this folder, and for the fuzz target.

#ifndef RESID_TEST_ROBUST_CHECK_WEIGHTS_H
#define RESID_TEST_ROBUST_CHECK_WEIGHTS_H

#include "runtime/resid_runtime.h"

#include <cstring>
#include <string>
#include <vector>

namespace resid::robust {

struct Verdict {
  bool isAccepted;
  /// What does not hold; null where all does.
  const char *mistake;
};

/// Bits of an element of the types of the format, by their names: the digits in them, but for the two without.
inline int64_t countBits(const std::string &dtype) {
  if (dtype == "BOOL")
    return 8;
  int64_t bits = 0;
  for (size_t i = dtype.find_first_of("0123456789"); i < dtype.size() && dtype[i] >= '0' && dtype[i] <= '9'; ++i)
    bits = 10 * bits + (dtype[i] - '0');
  return bits;
}

inline const char *checkTensors(const resid_weights *weights, const char *file, size_t size) {
  uint64_t length = 0;
  std::memcpy(&length, file, 8);
  std::vector<unsigned char> seen(size - 8 - length);
  const char *last = nullptr;
  for (int64_t i = 0; i < resid_weights_count(weights); ++i) {
    resid_weight tensor, found;
    const void *data, *again;
    if (resid_weights_get(weights, i, &tensor, &data) != RESID_OK)
      return "each tensor is there";
    if (last && std::strcmp(last, tensor.name) >= 0)
      return "tensors stand in the order of their names";
    last = tensor.name;
    int64_t bits = countBits(tensor.dtype);
    for (int32_t j = 0; j < tensor.rank; ++j)
      if (tensor.shape[j] < 0 || __builtin_mul_overflow(bits, tensor.shape[j], &bits))
        return "shapes are as large as the file at most";
    // By the distance: pointers of two arrays could not be compared.
    int64_t from = static_cast<const char *>(data) - (file + 8 + length);
    if (from < 0 || bits % 8 != 0 || bits / 8 > static_cast<int64_t>(seen.size()) - from)
      return "tensors lie in the file";
    for (int64_t j = from; j < from + bits / 8; ++j)
      if (seen[static_cast<size_t>(j)]++)
        return "tensors do not overlap";
    if (resid_weights_find(weights, &tensor, &found, &again, nullptr, 0) != RESID_OK || again != data ||
        found.name != tensor.name)
      return "a tensor is found by its name";
  }
  for (unsigned char count : seen)
    if (!count)
      return "tensors leave no hole";
  return nullptr;
}

inline Verdict checkWeights(const char *file, size_t size) {
  char text[300];
  std::memset(text, '#', sizeof(text));
  resid_weights *weights = nullptr;
  resid_status status = resid_weights_read(file, size, &weights, text, sizeof(text) - 1);
  if (text[sizeof(text) - 1] != '#' || !std::memchr(text, '\0', sizeof(text)))
    return {false, "texts end in their memory"};
  if (status == RESID_BAD_VALUE)
    return {false, weights ? "what is refused is NULL" : !text[0] ? "refusals have a reason" : nullptr};
  if (status != RESID_OK || text[0])
    return {false, "files are good or refused"};
  const char *mistake = checkTensors(weights, file, size);
  resid_weights_close(weights);
  return {true, mistake};
}

} // namespace resid::robust

#endif // RESID_TEST_ROBUST_CHECK_WEIGHTS_H
