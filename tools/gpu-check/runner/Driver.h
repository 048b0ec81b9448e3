// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of the CUDA driver that the runner calls, found when it starts: no toolkit has to be there.

#pragma once

#include <cstddef>
#include <cstdint>

using Handle = void *;
using Address = uint64_t;

/// Ends the process after a line on standard error, and one of CSV for who started it.
[[noreturn]] void fail(int code, const char *format, ...);

/// Its members are the driver's functions. A call that fails ends the process with its name and its answer.
struct Driver {
  /// Loads libcuda.so.1, or the file that RESID_CUDA_DRIVER names.
  static const Driver &get();

  Handle retainPrimary(int device) const;
  Handle createContext(int device) const;
  void setCurrent(Handle context) const;
  Handle createStream() const;
  void synchronize(Handle stream) const;
  void synchronizeAll() const;
  Address allocate(size_t bytes) const;
  void release(Address address) const;
  void toDevice(Address to, const void *from, size_t bytes) const;
  void toHost(void *to, Address from, size_t bytes) const;
  void copy(Address to, Address from, size_t bytes, Handle stream) const;
  void fill(Address to, unsigned word, size_t words, Handle stream) const;
  void beginCapture(Handle stream) const;
  Handle endCapture(Handle stream) const;
  void launchGraph(Handle graph, Handle stream) const;
  Handle createEvent() const;
  void record(Handle event, Handle stream) const;
  /// Milliseconds between two events, of which it waits for the second.
  float elapsed(Handle first, Handle second) const;
  const char *getName(int device) const;
  int getVersion() const;

private:
  Driver();
};
