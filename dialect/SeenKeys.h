// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which keys a query of attention sees by causality and a window. Not: masks, and keys that are not there.

#ifndef RESID_DIALECT_SEENKEYS_H
#define RESID_DIALECT_SEENKEYS_H

#include <cstdint>
#include <optional>

namespace mlir::resid {

/// A query at place p sees the keys from p + first up to, but without, p + end; all of them on a side that is absent.
struct SeenKeys {
  std::optional<int64_t> first, end;

  /// `window`: 0 without one.
  SeenKeys(bool isCausal, int64_t window) {
    if (isCausal || window != 0)
      end = isCausal ? 1 : window;
    if (window != 0)
      first = 1 - window;
  }
};

} // namespace mlir::resid

#endif // RESID_DIALECT_SEENKEYS_H
