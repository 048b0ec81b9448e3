// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers and calls; see Block.h.

#include "Block.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

/// A multiple of 1/32 in [-4, 4), which has eight bits: bf16 and f16 hold it too.
static float makeNumber(uint64_t &state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return float(int(state >> 56) - 128) / 32;
}

static uint16_t toHalf(float value) {
  if (value == 0)
    return 0;
  int exponent;
  float fraction = std::frexp(std::fabs(value), &exponent); // in [0.5, 1)
  auto bits = uint16_t((exponent + 14) << 10 | (int(fraction * 2048) & 1023));
  return value < 0 ? uint16_t(bits | 0x8000) : bits;
}

static double fromHalf(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double magnitude = exponent == 0    ? std::ldexp(fraction, -24)
                     : exponent == 31 ? (fraction ? NAN : INFINITY)
                                      : std::ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

std::vector<unsigned char> makeNumbers(const Array &array, int64_t count, uint64_t seed) {
  std::vector<unsigned char> bytes(size_t(count * array.getElementBytes()));
  bool isHalf = array.type == std::string("f16");
  for (int64_t i = 0; i < count; ++i) {
    float value = makeNumber(seed) / (array.shape == Array::PerRow ? 8 : 1);
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    if (array.getElementBytes() == 4) {
      std::memcpy(&bytes[size_t(4 * i)], &bits, 4);
      continue;
    }
    uint16_t narrow = isHalf ? toHalf(value) : uint16_t(bits >> 16);
    std::memcpy(&bytes[size_t(2 * i)], &narrow, 2);
  }
  return bytes;
}

double getNumber(const Array &array, const void *memory, int64_t index) {
  if (array.getElementBytes() == 4)
    return static_cast<const float *>(memory)[index];
  uint16_t bits = static_cast<const uint16_t *>(memory)[index];
  if (array.type == std::string("f16"))
    return fromHalf(bits);
  uint32_t wide = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}

int Block::find(const std::string &wanted) const {
  for (size_t i = 0; i < arrays.size(); ++i)
    if (wanted == arrays[i].name)
      return int(i);
  std::fprintf(stderr, "gpu-check: expected the block %s to have an array '%s'\n", name, wanted.c_str());
  std::exit(5);
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
  if (status == RESID_OK)
    return;
  std::fprintf(stderr, "gpu-check: %s of %lld columns answered %s\n", block.name, (long long)width,
               resid_status_string(status));
  std::exit(5);
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
    int64_t *shape = array.shape == Array::PerColumn ? &matrix[1] : matrix;
    tensors.push_back({arrays[i],
                       {device, 0},
                       array.shape == Array::Matrix ? 2 : 1,
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
