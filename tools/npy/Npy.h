// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The .npy file format, versions 1 to 3, on buffers. Knows nothing of files, and of element types only their names.

#ifndef RESID_TOOLS_NPY_NPY_H
#define RESID_TOOLS_NPY_NPY_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace mlir::resid::npy {

/// What a .npy buffer holds. Elements are little-endian, row-major and as long as the shape says.
struct View {
  /// NumPy's kind letter: f float, i signed, u unsigned, b bool, V raw bytes (what bfloat16 becomes).
  char kind = 'f';
  /// Bytes of one element, 1 to 16.
  unsigned itemBytes = 0;
  llvm::SmallVector<int64_t> shape;
  /// Points into the buffer that was parsed.
  llvm::StringRef data;

  /// The type as NumPy writes it, "<f4".
  std::string describe() const;
};

/// Reads a whole .npy file held in `buffer`. Every malformed buffer is an error that says what was expected and found;
/// arrays in Fortran order of rank 2 or more, big-endian ones, structures and objects are refused.
llvm::Expected<View> parse(llvm::StringRef buffer);

/// The bytes before the data: version 1 (2 where the shape is that long), padded to a multiple of 64.
std::string makeHeader(llvm::StringRef descr, llvm::ArrayRef<int64_t> shape);

} // namespace mlir::resid::npy

#endif
