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

std::vector<unsigned char> makeNumbers(const Block &block, int64_t count, uint64_t seed) {
  std::vector<unsigned char> bytes(size_t(count * block.getElementBytes()));
  bool isHalf = block.type == std::string("f16");
  for (int64_t i = 0; i < count; ++i) {
    float value = makeNumber(seed);
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    if (block.getElementBytes() == 4) {
      std::memcpy(&bytes[size_t(4 * i)], &bits, 4);
      continue;
    }
    uint16_t narrow = isHalf ? toHalf(value) : uint16_t(bits >> 16);
    std::memcpy(&bytes[size_t(2 * i)], &narrow, 2);
  }
  return bytes;
}

double getNumber(const Block &block, const void *array, int64_t index) {
  if (block.getElementBytes() == 4)
    return static_cast<const float *>(array)[index];
  uint16_t bits = static_cast<const uint16_t *>(array)[index];
  if (block.type == std::string("f16"))
    return fromHalf(bits);
  uint32_t wide = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}

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

/// The tensors of a call: arrays, then the scalars seed and step, then results.
static void call(const Block &block, const Arrays &arrays, int64_t rows, DLDeviceType device, Handle stream) {
  int64_t matrix[] = {rows, block.width}, seed = 7, step = 11;
  auto code = uint8_t(block.type == std::string("bf16") ? kDLBfloat : kDLFloat);
  DLDataType type = {code, uint8_t(8 * block.getElementBytes()), 1};
  auto makeTensor = [&](void *data, int64_t *shape, int32_t rank) {
    return DLTensor{data, {device, 0}, rank, type, shape, nullptr, 0};
  };
  DLTensor tensors[] = {makeTensor(arrays.at[Arrays::X], matrix, 2),
                        makeTensor(arrays.at[Arrays::F], matrix, 2),
                        makeTensor(arrays.at[Arrays::Gamma], &matrix[1], 1),
                        makeTensor(arrays.at[Arrays::Beta], &matrix[1], 1),
                        {&seed, {kDLCPU, 0}, 0, {kDLInt, 64, 1}, nullptr, nullptr, 0},
                        {&step, {kDLCPU, 0}, 0, {kDLInt, 64, 1}, nullptr, nullptr, 0},
                        makeTensor(arrays.at[Arrays::Y], matrix, 2),
                        makeTensor(arrays.at[Arrays::Sum], matrix, 2)};
  constexpr int32_t count = sizeof(tensors) / sizeof(tensors[0]);
  const DLTensor *pointers[count];
  for (int32_t i = 0; i < count; ++i)
    pointers[i] = &tensors[i];
  resid_ctx ctx = RESID_CTX_INIT;
  ctx.stream = stream;
  ctx.log = printLine;
  resid_status status = (device == kDLCPU ? block.onCPU : block.onGPU)(&ctx, pointers, count);
  if (status == RESID_OK)
    return;
  std::fprintf(stderr, "gpu-check: %s answered %s\n", block.name, resid_status_string(status));
  std::exit(5);
}

void callOnCPU(const Block &block, const Arrays &arrays, int64_t rows) { call(block, arrays, rows, kDLCPU, nullptr); }

void callOnGPU(const Block &block, const Arrays &arrays, int64_t rows, Handle stream) {
  call(block, arrays, rows, kDLCUDA, stream);
}
