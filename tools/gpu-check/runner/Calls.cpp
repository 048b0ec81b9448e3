// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block's call for scripts, which bring arrays and a stream of their own; the runner as a shared library has it.

#include "Block.h"

#include <cstdio>
#include <cstring>

/// Enqueues the block of this name. `arrays` are those that pack.py describes, arguments and results, in memory of the
/// device that the stream is of. Gives 0, or 1 where no block has this name.
extern "C" int gpu_check_call(const char *name, void *const *arrays, int64_t rows, int64_t width, Handle stream) {
  // Calls of one stream share what they ask for.
  static Scratch &scratch = *new Scratch(/*isOnDevice=*/true);
  for (const Block &block : blocks) {
    if (std::strcmp(block.name, name) != 0)
      continue;
    callOnGPU(block, Pointers(arrays, arrays + block.arrays.size()), rows, width, stream, &scratch);
    return 0;
  }
  std::fprintf(stderr, "gpu-check: expected the name of a block, but got '%s'\n", name);
  return 1;
}
