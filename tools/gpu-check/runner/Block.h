// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block of the check: one program, compiled for GPUs and for the CPU, and the arrays it takes. Both are called with
// DLPack tensors, so that one caller serves all programs, types and widths.

#pragma once

#include "Driver.h"
#include "resid_runtime.h"

#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

/// One array of a call, as pack.py describes it.
struct Array {
  enum Shape {
    Matrix, // rows x columns
    PerColumn,
    PerRow,
    Fixed,     // sizes of its own
    FixedPlain // the same; its numbers are always plain
  };
  const char *name;
  const char *type; ///< f32, bf16 or f16
  Shape shape;
  bool isResult;
  /// The array whose buffer a result may have, by number; -1: none.
  int place;
  /// Of an array that is Fixed.
  std::vector<int64_t> sizes;

  int64_t getElementBytes() const { return type[0] == 'f' && type[1] == '3' ? 4 : 2; }
  int64_t getElements(int64_t rows, int64_t width) const {
    if (!sizes.empty())
      return std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies<>());
    return shape == Matrix ? rows * width : shape == PerColumn ? width : rows;
  }
  int64_t getBytes(int64_t rows, int64_t width) const { return getElements(rows, width) * getElementBytes(); }
};

/// What a block's results are compared with in f64, if with anything (References.h).
enum class Reference { None, LayerNorm, RMSNorm, LayerNormGradient, RMSNormGradient };

struct Block {
  const char *name;
  /// Blocks of one group are the same program by different schedules. They are timed by turns.
  const char *group;
  /// Arguments in the order of the function, then results. After the arguments come the scalars seed and step, if the
  /// function has them.
  std::vector<Array> arrays;
  bool hasScalars;
  Reference reference;
  /// The columns to check and to time: one number where the width is known when compiling.
  std::vector<int64_t> widths, timedWidths;
  /// Floating-point operations of a call, of blocks whose arrays are Fixed.
  int64_t flops;
  resid_status (*onGPU)(const resid_ctx *, const DLTensor *const *, int32_t);
  resid_status (*onCPU)(const resid_ctx *, const DLTensor *const *, int32_t);
  resid_status (*preload)(const resid_ctx *);

  /// Whether all arrays are Fixed, so that a block has one number of rows.
  bool isWhole() const { return !arrays.front().sizes.empty(); }
  /// What is named in results: the type of the first array.
  const char *getType() const { return arrays.front().type; }
  /// The number of the array of this name.
  int find(const std::string &name) const;
  /// Of a block that is whole: the rows of its first array.
  int64_t getOwnRows() const { return arrays.front().getElements(0, 0) / arrays.front().sizes.back(); }
  /// What one call must at least move: each array once.
  int64_t getCompulsoryBytes(int64_t rows, int64_t width) const;
};

/// All blocks that were packed.
extern const std::vector<Block> blocks;

/// The arrays of a call, all on the host or all on a device, as in the block.
using Pointers = std::vector<void *>;

/// Memory that calls of one stream ask for: it is kept for the next one, so that a call that is captured into a graph
/// allocates nothing.
class Scratch {
public:
  explicit Scratch(bool isOnDevice) : isOnDevice(isOnDevice) {}
  ~Scratch();
  Scratch(const Scratch &) = delete;
  void lend(resid_ctx &ctx);

private:
  struct Piece {
    void *memory;
    size_t bytes;
    bool isLent;
  };
  static void *allocate(void *user, size_t bytes, size_t alignment);
  static void release(void *user, void *memory);

  bool isOnDevice;
  std::vector<Piece> pieces;
};

/// Bytes of local memory per thread, by kernel, of those that were loaded and have some. The runtime warns of them.
const std::map<std::string, int> &getLocalMemory();

/// One call; a status that is no RESID_OK ends the process. On a GPU, no scratch memory means the runtime's own, which
/// is ordered on the stream.
void callOnCPU(const Block &block, const Pointers &arrays, int64_t rows, int64_t width);
void callOnGPU(const Block &block, const Pointers &arrays, int64_t rows, int64_t width, Handle stream,
               Scratch *scratch);
/// Loads the kernels into the current context.
void preload(const Block &block);
