// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrices of a warp: loads from shared memory, and products. Which lane has which element is as the manual of PTX
// draws it.

#include "test/ptx/Matrix.h"

#include "test/ptx/Block.h"
#include "test/ptx/FloatMath.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>

using namespace resid::ptx;

//===------------------------------------------- sums of products -------------------------------------------------===//

MatrixUnit MatrixUnit::ofChip(llvm::StringRef chip) {
  unsigned number = 0;
  chip.consume_front("sm_");
  chip.rtrim("af").getAsInteger(10, number);
  return number < 90 ? MatrixUnit{8, 1} : MatrixUnit{16, 2};
}

/// Towards zero, as an f32.
static float truncate(double value) {
  float rounded = float(value);
  return std::fabs(double(rounded)) > std::fabs(value) ? std::nextafter(rounded, 0.0f) : rounded;
}

/// That of the leading bit; far below all others for 0, as no operand is a subnormal double.
static int exponentOf(double value) { return int(llvm::bit_cast<uint64_t>(value) >> 52 & 2047) - 1023; }
static double powerOfTwo(int exponent) { return llvm::bit_cast<double>(uint64_t(exponent + 1023) << 52); }

float MatrixUnit::add(float sum, llvm::ArrayRef<double> a, llvm::ArrayRef<double> b) const {
  for (size_t first = 0; first < a.size(); first += products) {
    // Products are not normalized before they are shifted.
    int largest = exponentOf(sum);
    double special = 0;
    for (size_t k = first; k < first + products; ++k) {
      largest = std::max(largest, exponentOf(a[k]) + exponentOf(b[k]));
      special += a[k] * b[k] * 0;
    }
    // Of numbers that are no finite ones, the rules of IEEE 754 say what the sum is.
    if (std::isnan(special + sum * 0.0)) {
      double total = sum;
      for (size_t k = first; k < first + products; ++k)
        total += std::isfinite(a[k] * b[k]) ? 0.0 : a[k] * b[k];
      sum = canonical(float(total));
      continue;
    }
    // All are 0.
    if (largest < -600)
      continue;
    // Whole multiples of this, of which the sum is exact in double: 17 numbers below 2^(24 + 3).
    int unit = largest - 23 - int(extraBits);
    double scale = powerOfTwo(-unit), total = std::trunc(sum * scale);
    for (size_t k = first; k < first + products; ++k)
      total += std::trunc(a[k] * b[k] * scale);
    double value = total * powerOfTwo(unit);
    sum = std::fabs(value) >= 0x1p128 ? std::copysign(HUGE_VALF, float(total)) : truncate(value);
  }
  return sum;
}

//===------------------------------------------- what a warp does -------------------------------------------------===//

/// Row i of matrix m has the address of lane 8 m + i. Lane l gets two neighbours of row l / 4; or, transposed, of
/// column l / 4.
bool Block::loadMatrix(unsigned warp, const Instruction *instruction) {
  Thread *lanes = &threads[warp * 32];
  unsigned count = instruction[1].slots[0];
  bool isTransposed = instruction[1].slots[1];
  for (unsigned matrix = 0; matrix < count; ++matrix) {
    const uint8_t *rows[8];
    for (unsigned row = 0; row < 8; ++row) {
      Thread &owner = lanes[8 * matrix + row];
      uint32_t address = owner.read<uint64_t>(instruction->slots[4]) + instruction[1].immediate;
      // Each lane reads a word of a row, as races see it.
      for (unsigned word = 0; word < 4; ++word) {
        const uint8_t *at = accessShared(instruction, lanes[4 * row + word], address + 4 * word, 4, AccessKind::Read);
        if (!at)
          return false;
        rows[row] = at - 4 * word;
      }
      if (address % 16 != 0) {
        owner.fail(instruction, "misaligned row of a matrix");
        return false;
      }
    }
    for (unsigned lane = 0; lane < 32; ++lane) {
      uint16_t pair[2];
      for (unsigned i = 0; i < 2; ++i) {
        unsigned row = isTransposed ? 2 * (lane % 4) + i : lane / 4,
                 column = isTransposed ? lane / 4 : 2 * (lane % 4) + i;
        std::memcpy(&pair[i], rows[row] + 2 * column, 2);
      }
      lanes[lane].write(instruction->slots[matrix], uint32_t(pair[0]) | uint32_t(pair[1]) << 16);
    }
  }
  return true;
}

/// Elements of a register, the first one in its low bits.
template <typename T> static void unpack(uint32_t word, double *to) {
  T parts[4 / sizeof(T)];
  std::memcpy(parts, &word, 4);
  for (T part : parts)
    if constexpr (std::is_same_v<T, int8_t>)
      *to++ = part;
    else
      *to++ = widen(part);
}

void Block::multiplyMatrix(unsigned warp, const Instruction *instruction) {
  Thread *lanes = &threads[warp * 32];
  auto factor = MatrixFactor(instruction[1].immediate);
  bool isBytes = factor == MatrixFactor::Byte;
  unsigned each = isBytes ? 4 : 2, depth = 8 * each;
  double a[16][32], b[8][32];
  auto take = [&](uint32_t word, double *to) {
    isBytes                          ? unpack<int8_t>(word, to)
    : factor == MatrixFactor::BFloat ? unpack<BFloat>(word, to)
                                     : unpack<Half>(word, to);
  };
  for (unsigned lane = 0; lane < 32; ++lane) {
    auto read = [&](unsigned slot) { return lanes[lane].read<uint32_t>(instruction[1].slots[slot]); };
    unsigned group = lane / 4, first = each * (lane % 4);
    for (unsigned i = 0; i < 4; ++i)
      take(read(i), &a[group + i % 2 * 8][first + i / 2 * depth / 2]);
    for (unsigned i = 0; i < 2; ++i)
      take(read(4 + i), &b[group][first + i * depth / 2]);
  }
  MatrixUnit unit = MatrixUnit::ofChip(run.module.target);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 4; ++i) {
      const double *row = a[lane / 4 + i / 2 * 8], *column = b[lane % 4 * 2 + i % 2];
      uint32_t start = instruction[2].slots[i], result = instruction->slots[i];
      if (!isBytes) {
        lanes[lane].write(result, unit.add(lanes[lane].read<float>(start), {row, depth}, {column, depth}));
        continue;
      }
      int64_t sum = lanes[lane].read<int32_t>(start);
      for (unsigned k = 0; k < depth; ++k)
        sum += int64_t(row[k]) * int64_t(column[k]);
      lanes[lane].write(result, uint32_t(sum));
    }
}

bool Block::runMatrix(unsigned warp, uint32_t present, const Instruction *instruction) {
  bool isLoad = Together(instruction->immediate) == Together::LoadMatrix;
  Thread *lanes = &threads[warp * 32];
  if (present != 0xffffffff) {
    lanes[llvm::countr_zero(present)].fail(instruction, "a matrix needs all lanes of its warp");
    return false;
  }
  if (isLoad && !loadMatrix(warp, instruction))
    return false;
  if (!isLoad)
    multiplyMatrix(warp, instruction);
  for (unsigned lane = 0; lane < 32; ++lane) {
    lanes[lane].next += isLoad ? 2 : 3;
    lanes[lane].state = State::Runnable;
  }
  return true;
}
