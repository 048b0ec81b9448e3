// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block's call for scripts, which bring arrays and a stream of their own; the runner as a shared library has it.

#include "Block.h"

#include <cstdio>
#include <cstring>

/// Enqueues the block of this name. `arrays` are x, f, gamma, beta, y and s, in memory of the device that the stream is
/// of, y and s as large as x: rows times the block's width. Gives 0, or 1 where no block has this name.
extern "C" int gpu_check_call(const char *name, void *const *arrays, int64_t rows, Handle stream) {
  for (const Block &block : blocks) {
    if (std::strcmp(block.name, name) != 0)
      continue;
    Arrays at;
    std::memcpy(at.at, arrays, sizeof(at.at));
    callOnGPU(block, at, rows, stream);
    return 0;
  }
  std::fprintf(stderr, "gpu-check: expected the name of a block, but got '%s'\n", name);
  return 1;
}
