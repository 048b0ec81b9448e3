// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is checked of a block, and what is measured. Each function prints lines of CSV.

#pragma once

#include "Block.h"

/// Arrays of a call in the memory of a device, with the CPU's results for the same numbers beside them.
class DeviceCall {
public:
  DeviceCall(const Block &block, int64_t rows);
  ~DeviceCall();
  DeviceCall(const DeviceCall &) = delete;

  void run(Handle stream) const { callOnGPU(block, onDevice, rows, stream); }
  /// Overwrites the results on the device, so that what a call does not write shows.
  void spoil() const;
  /// How many elements of both results have other bits than the CPU's. NaNs are all the same.
  int64_t countOtherBits() const;
  /// The largest error of y against sums in f64, in units of its type's precision times the largest element of the row;
  /// without dropout only.
  double getLargestError() const;

  const Block &block;
  const int64_t rows;

private:
  size_t getBytes(int array) const;

  std::vector<std::vector<unsigned char>> onHost;
  Arrays onDevice;
};

/// Bits, errors, repeats, streams, a graph, and a second context. Gives the number of mistakes.
int check(const Block &block, int64_t rows, int repeats);
/// Times calls that fill the device, beside a copy of as many bytes; at most `bytes` of memory for each array.
void measure(const Block &block, int64_t bytes, int samples);
