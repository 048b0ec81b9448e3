// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Block.h"

#include <cstdio>

int Block::find(const std::string &wanted) const {
  for (size_t i = 0; i < arrays.size(); ++i)
    if (wanted == arrays[i].name)
      return int(i);
  fail(5, "expected the block %s to have an array '%s'", name, wanted.c_str());
}

int64_t Block::getCompulsoryBytes(int64_t rows, int64_t width) const {
  int64_t bytes = 0;
  for (const Array &array : arrays)
    bytes += array.getBytes(rows, width);
  return bytes;
}

//===------------------------------------------- scratch memory ---------------------------------------------------===//

Scratch::~Scratch() {
  for (const Piece &piece : pieces) {
    if (isOnDevice)
      Driver::get().release(reinterpret_cast<Address>(piece.memory));
    else
      resid_free(nullptr, piece.memory);
  }
}

void Scratch::lend(resid_ctx &ctx) {
  ctx.user = this;
  ctx.alloc = allocate;
  ctx.free = release;
}

/// The driver's memory and that of resid_alloc are aligned more than kernels ask for.
void *Scratch::allocate(void *user, size_t bytes, size_t alignment) {
  auto &scratch = *static_cast<Scratch *>(user);
  for (Piece &piece : scratch.pieces) {
    if (piece.isLent || piece.bytes < bytes)
      continue;
    piece.isLent = true;
    return piece.memory;
  }
  void *memory = scratch.isOnDevice ? reinterpret_cast<void *>(Driver::get().allocate(bytes))
                                    : resid_alloc(nullptr, bytes, alignment);
  scratch.pieces.push_back({memory, bytes, true});
  return memory;
}

void Scratch::release(void *user, void *memory) {
  for (Piece &piece : static_cast<Scratch *>(user)->pieces)
    piece.isLent &= piece.memory != memory;
}

//===------------------------------------------- calls ------------------------------------------------------------===//

static std::map<std::string, int> localMemory;

const std::map<std::string, int> &getLocalMemory() { return localMemory; }

static void printLine(void *, int32_t level, const char *text) {
  char kernel[200];
  int bytes;
  if (level == RESID_LOG_WARNING &&
      std::sscanf(text, "'%199[^']': expected no local memory, but it has %d bytes", kernel, &bytes) == 2)
    localMemory[kernel] = bytes;
  else
    std::fprintf(stderr, "gpu-check: %s\n", text);
}

static void expectDone(const Block &block, int64_t width, resid_status status) {
  if (status != RESID_OK)
    fail(5, "%s of %lld columns answered %s", block.name, (long long)width, resid_status_string(status));
}

static void call(const Block &block, const Pointers &arrays, int64_t rows, int64_t width, DLDeviceType device,
                 const resid_ctx &ctx) {
  int64_t matrix[] = {rows, width}, seed = 7, step = 11;
  std::vector<DLTensor> tensors;
  auto addScalar = [&](int64_t &value) {
    tensors.push_back({&value, {kDLCPU, 0}, 0, {kDLInt, 64, 1}, nullptr, nullptr, 0});
  };
  bool needsScalars = block.hasScalars;
  for (size_t i = 0; i < block.arrays.size(); ++i) {
    const Array &array = block.arrays[i];
    if (array.isResult && needsScalars) {
      addScalar(seed);
      addScalar(step);
      needsScalars = false;
    }
    auto code = uint8_t(array.type == std::string("bf16") ? kDLBfloat : kDLFloat);
    bool isFixed = !array.sizes.empty();
    int64_t *shape = isFixed                           ? const_cast<int64_t *>(array.sizes.data())
                     : array.shape == Array::PerColumn ? &matrix[1]
                                                       : matrix;
    tensors.push_back({arrays[i],
                       {device, 0},
                       isFixed                        ? int32_t(array.sizes.size())
                       : array.shape == Array::Matrix ? 2
                                                      : 1,
                       {code, uint8_t(8 * array.getElementBytes()), 1},
                       shape,
                       nullptr,
                       0});
  }
  std::vector<const DLTensor *> pointers;
  for (const DLTensor &tensor : tensors)
    pointers.push_back(&tensor);
  auto *function = device == kDLCPU ? block.onCPU : block.onGPU;
  expectDone(block, width, function(&ctx, pointers.data(), int32_t(pointers.size())));
}

void callOnCPU(const Block &block, const Pointers &arrays, int64_t rows, int64_t width) {
  Scratch scratch(/*isOnDevice=*/false);
  resid_ctx ctx = RESID_CTX_INIT;
  ctx.log = printLine;
  scratch.lend(ctx);
  call(block, arrays, rows, width, kDLCPU, ctx);
}

static resid_ctx makeContext(const Block &block, int64_t width, Handle stream) {
  resid_ctx ctx;
  expectDone(block, width, resid_cuda_ctx_init(&ctx, stream));
  ctx.log = printLine;
  return ctx;
}

void callOnGPU(const Block &block, const Pointers &arrays, int64_t rows, int64_t width, Handle stream,
               Scratch *scratch) {
  resid_ctx ctx = makeContext(block, width, stream);
  if (scratch)
    scratch->lend(ctx);
  call(block, arrays, rows, width, kDLCUDA, ctx);
}

void preload(const Block &block) {
  int64_t width = block.widths.front();
  resid_ctx ctx = makeContext(block, width, nullptr);
  expectDone(block, width, block.preload(&ctx));
}
