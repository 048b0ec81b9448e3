// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arrays that a kernel may access in global and constant memory. Owns where they lie.

#pragma once

#include "test/ptx/Shadow.h"
#include <string>
#include <vector>

namespace resid::ptx {

enum class Space : uint8_t { Global, Const, Shared, Generic };

struct Region {
  /// The shadow counts from a word's boundary, whatever the address of the array is.
  Region(uint64_t begin, uint64_t bytes, std::string name, Space space)
      : begin(begin), end(begin + bytes), name(std::move(name)), space(space), shadow(end - shadowBegin(), false) {}

  uint64_t shadowBegin() const { return begin & ~uint64_t(3); }
  bool contains(uint64_t address, unsigned bytes) const {
    return address >= begin && address <= end && end - address >= bytes;
  }

  uint64_t begin, end;
  std::string name;
  Space space;
  mutable Shadow shadow;
};

} // namespace resid::ptx
