// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a .npz file of NumPy has, checked: a ZIP archive of .npy files that are stored and not compressed, so that they
// can be read where they lie.

#ifndef RESID_RUNTIME_NPZ_H
#define RESID_RUNTIME_NPZ_H

#include "runtime/Safetensors.h"

namespace resid::runtime {

/// Whether the file begins as archives do, and no safetensors file can.
bool isArchive(const char *file, size_t size);

/// Fills the table, whose tensors count from the beginning of the file. Where the file does not follow the formats, or
/// has a member that cannot be read where it lies, says why and answers RESID_BAD_VALUE.
resid_status readArchive(const char *file, size_t size, TensorTable &table, Message &message);

} // namespace resid::runtime

#endif // RESID_RUNTIME_NPZ_H
