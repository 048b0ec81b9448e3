// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all F_dl functions of an object share: one DLTensor, checked and taken apart. Does not own the order of
// arguments (DLPackEntry.cpp).

#include "runtime/resid.h"

/// The words of an array: its first element, the distance of its rows, and its sizes; after a refusal, what was found,
/// what was expected, and the number of the dimension.
enum { First = 0, Row = 1, Sizes = 2, Found = 0, Expected = 1, Dimension = 2 };

/// As in RefusalText.h.
enum { NullTensor = 5, OtherDevice, OtherType, OtherRank, NullShape, OtherSize, OtherStride };

static int32_t dl_pack(resid_status status, int32_t reason, int64_t dimension) {
  return (status & 255) | reason << 8 | (int32_t)dimension << 16;
}

static int32_t dl_refuse(int64_t *array, resid_status status, int32_t reason, int64_t dimension, int64_t found,
                         int64_t expected) {
  array[Found] = found;
  array[Expected] = expected;
  return dl_pack(status, reason, dimension);
}

/// Fills the words of `array` from `tensor` and answers 0. The caller puts in the sizes that are known, and -1 for the
/// others. `isStrided`: the dimensions before the last need only be evenly apart. Else it answers a packed refusal
/// (RefusalText.h).
__attribute__((noinline)) int32_t dl_read(const DLTensor *tensor, uint32_t device, uint32_t type, int32_t rank,
                                          int32_t isStrided, int64_t *array) {
  if (!tensor)
    return dl_pack(RESID_BAD_POINTER, NullTensor, 0);
  uint32_t ownDevice = (uint32_t)tensor->device.device_type;
  uint32_t ownType = tensor->dtype.code | (uint32_t)tensor->dtype.bits << 8 | (uint32_t)tensor->dtype.lanes << 16;
  if (ownDevice != device)
    return dl_refuse(array, RESID_UNSUPPORTED, OtherDevice, 0, ownDevice, device);
  if (ownType != type)
    return dl_refuse(array, RESID_BAD_DTYPE, OtherType, 0, ownType, type);
  if (tensor->ndim != rank)
    return dl_refuse(array, RESID_BAD_SHAPE, OtherRank, 0, tensor->ndim, rank);
  // NULL stays NULL, which the function refuses where there are elements.
  array[First] = tensor->data ? (int64_t)((uint64_t)tensor->data + tensor->byte_offset) : 0;
  if (rank > 0 && !tensor->shape)
    return dl_pack(RESID_BAD_POINTER, NullShape, 0);
  bool isEmpty = false;
  for (int64_t dimension = 0; dimension < rank; ++dimension) {
    int64_t size = tensor->shape[dimension], wanted = array[Sizes + dimension];
    if (size < 0 || (wanted >= 0 && size != wanted))
      return dl_refuse(array, RESID_BAD_SHAPE, OtherSize, dimension, size, wanted);
    // The last one is what rows are apart if nothing else is said.
    array[Sizes + dimension] = array[Row] = size;
    isEmpty |= size == 0;
  }
  // Where nothing is stored, strides say nothing.
  if (!tensor->strides || isEmpty)
    return 0;
  int64_t wanted = 1;
  for (int64_t dimension = rank; dimension-- > 0;) {
    int64_t size = tensor->shape[dimension], stride = tensor->strides[dimension];
    // A size of 1 takes no step, whatever its stride is.
    if (size == 1)
      continue;
    if (isStrided && dimension != rank - 1) {
      array[Row] = stride;
      isStrided = false;
    } else if (stride != wanted) {
      return dl_refuse(array, RESID_UNSUPPORTED, OtherStride, dimension, stride, wanted);
    }
    wanted = stride * size;
  }
  return 0;
}

/// What a packed refusal is told as, after the name of the tensor; \1 and \3 stand for words of the array (Refuse.c).
/// Puts the number of the dimension into its word.
__attribute__((noinline, cold)) const char *dl_text(uint32_t packed, int64_t *array) {
  array[Dimension] = packed >> 16;
  switch (packed >> 8 & 255) {
  case OtherDevice:
    return array[Expected] == kDLCPU ? ": device type is \1\1, expected \1\2 (the CPU)"
                                     : ": device type is \1\1, expected \1\2 (CUDA)";
  case OtherType:
    return ": element type is \3\1, expected \3\2";
  case OtherRank:
    return ": number of dimensions is \1\1, expected \1\2";
  case NullShape:
    return ": shape is NULL, expected sizes";
  case OtherSize:
    return array[Expected] < 0 ? ": dimension \1\3 is \1\1, expected 0 or more"
                               : ": dimension \1\3 is \1\1, expected \1\2";
  case OtherStride:
    return ": stride of dimension \1\3 is \1\1, expected \1\2";
  default:
    return " is NULL, expected a tensor";
  }
}
