// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is checked of a block, and what is measured. Each function prints lines of CSV.

#pragma once

#include "Block.h"

/// Arrays of a call in the memory of a device, with the CPU's results for the same numbers beside them.
class DeviceCall {
public:
  /// `inPlace`: results lie in the buffers of arguments, where the block names some.
  DeviceCall(const Block &block, int64_t rows, int64_t width, bool inPlace = false);
  ~DeviceCall();
  DeviceCall(const DeviceCall &) = delete;

  void run(Handle stream) const { callOnGPU(block, onDevice, rows, width, stream, &scratch); }
  /// With the runtime's own memory.
  void runByItself(Handle stream) const { callOnGPU(block, onDevice, rows, width, stream, nullptr); }
  /// Overwrites the results on the device, so that what a call does not write shows; in place, arguments are made anew.
  void spoil() const;
  /// Overwrites the results in the order of a stream.
  void spoilResults(Handle stream) const;
  /// How many elements of all results have other bits than the CPU's. NaNs are all the same.
  int64_t countOtherBits() const;
  /// Of the CPU's results, which the device's have the bits of (References.h).
  double getLargestError() const;

  const Block &block;
  const int64_t rows, width;

private:
  const Array &getArray(size_t number) const { return block.arrays[number]; }
  size_t getBytes(size_t number) const { return size_t(getArray(number).getBytes(rows, width)); }
  int64_t countOtherBits(size_t number) const;

  /// Arguments as they are, and results as the CPU has them.
  std::vector<std::vector<unsigned char>> onHost;
  Pointers onDevice;
  mutable Scratch scratch{/*isOnDevice=*/true};
  bool inPlace;
};

/// Bits, errors, repeats, streams, a graph, a second context and calls in place, for each of the block's widths. Gives
/// the number of mistakes. Wide rows are fewer, so that no array has more than 2^21 elements.
int check(const Block &block, int64_t rows, int repeats);
/// Times calls of the blocks of a group, which fill the device, by turns with a copy of as many bytes; at most `bytes`
/// of memory for each array.
void measure(const std::vector<const Block *> &group, int64_t bytes, int samples);
