// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block of the check: one program, compiled for GPUs and for the CPU, with its arrays. Both are called with DLPack
// tensors, so that one caller serves all types and widths.

#pragma once

#include "Driver.h"
#include "resid_runtime.h"

#include <map>
#include <string>
#include <vector>

/// y = norm(x + dropout(f)) and s = x + dropout(f), of one type; gamma and beta are rows of `width`.
struct Block {
  const char *name;
  const char *type; ///< f32, bf16 or f16
  int64_t width;
  bool hasDropout, isLayerNorm;
  resid_status (*onGPU)(const resid_ctx *, const DLTensor *const *, int32_t);
  resid_status (*onCPU)(const resid_ctx *, const DLTensor *const *, int32_t);

  int64_t getElementBytes() const { return type[0] == 'f' && type[1] == '3' ? 4 : 2; }
  int64_t getRowBytes() const { return width * getElementBytes(); }
  /// What one call must at least move: x and f in, y and s out, and the parameters once.
  int64_t getCompulsoryBytes(int64_t rows) const { return 4 * rows * getRowBytes() + 2 * getRowBytes(); }
};

/// All blocks that were packed.
extern const std::vector<Block> blocks;

/// Arrays of one call, all on the host or all on a device: x, f, gamma, beta, y and s.
struct Arrays {
  enum { X, F, Gamma, Beta, Y, Sum, Count };
  void *at[Count];
};

/// Numbers that all types hold exactly, the same for the same seed.
std::vector<unsigned char> makeNumbers(const Block &block, int64_t count, uint64_t seed);
/// Element `index` of an array of the block's type.
double getNumber(const Block &block, const void *array, int64_t index);

/// Bytes of local memory per thread, by kernel, of those that were loaded and have some. The runtime warns of them.
const std::map<std::string, int> &getLocalMemory();

/// One call; a status that is no RESID_OK ends the process.
void callOnCPU(const Block &block, const Arrays &arrays, int64_t rows);
void callOnGPU(const Block &block, const Arrays &arrays, int64_t rows, Handle stream);
