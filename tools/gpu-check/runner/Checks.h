// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is checked of a block, and what is measured. Each function prints lines of CSV.

#pragma once

#include "Numbers.h"

/// A call on the CPU: its arguments, and the results that a device's must have the bits of.
struct HostCall {
  HostCall(const Block &block, int64_t rows, int64_t width, Rows kind = Rows::Plain);

  const Block &block;
  const int64_t rows, width;
  std::vector<std::vector<unsigned char>> arrays;
};

/// Arrays of a call in the memory of a device.
class DeviceCall {
public:
  /// `inPlace`: results lie in the buffers of arguments, where the block names some.
  explicit DeviceCall(const HostCall &host, bool inPlace = false);
  ~DeviceCall();
  DeviceCall(const DeviceCall &) = delete;

  void run(Handle stream) const { callOnGPU(host.block, onDevice, host.rows, host.width, stream, &scratch); }
  /// With the runtime's own memory.
  void runByItself(Handle stream) const { callOnGPU(host.block, onDevice, host.rows, host.width, stream, nullptr); }
  /// Overwrites the results on the device, so that what a call does not write shows; in place, arguments are made anew.
  void spoil() const;
  /// Overwrites the results in the order of a stream.
  void spoilResults(Handle stream) const;
  /// How many elements of all results have other bits than the CPU's. NaNs are all the same.
  int64_t countOtherBits() const;

private:
  const Array &getArray(size_t number) const { return host.block.arrays[number]; }
  size_t getBytes(size_t number) const { return host.arrays[number].size(); }
  int64_t countOtherBits(size_t number) const;

  const HostCall &host;
  Pointers onDevice;
  mutable Scratch scratch{/*isOnDevice=*/true};
  bool inPlace;
};

/// Bits of plain and of hard rows, errors, repeats, streams, a graph, a second context and calls in place, for each of
/// the block's widths. Wide rows are fewer, so that no array has more than 2^21 elements.
void check(const Block &block, int64_t rows, int repeats);
/// Times calls of the blocks of a group by turns with a copy of as many bytes: of few rows, and of as many as fill the
/// device, by `bytes` of memory for each array.
void measure(const std::vector<const Block *> &group, int64_t bytes, int samples);
