// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Times calls on a device; see Checks.h.

#include "Checks.h"

#include <algorithm>
#include <cstdio>
#include <functional>

namespace {

/// Calls between two events: enough that the events cost nothing.
constexpr int kCalls = 10;

struct Timer {
  Timer() : first(Driver::get().createEvent()), second(Driver::get().createEvent()) {}

  /// Seconds of one call.
  double time(Handle stream, const std::function<void()> &call) const {
    const Driver &driver = Driver::get();
    driver.record(first, stream);
    for (int i = 0; i < kCalls; ++i)
      call();
    driver.record(second, stream);
    return double(driver.elapsed(first, second)) / 1000 / kCalls;
  }

  Handle first, second;
};

double takeMedian(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

} // namespace

/// The copy moves as many bytes as the call must. Both are timed by turns, so that the clock of the device is that of
/// both.
void measure(const Block &block, int64_t bytes, int samples) {
  const Driver &driver = Driver::get();
  int64_t rows = std::max<int64_t>(1, bytes / block.getRowBytes());
  auto half = size_t(block.getCompulsoryBytes(rows) / 2);
  Handle stream = driver.createStream();
  Arrays arrays;
  for (int array = 0; array < Arrays::Count; ++array) {
    bool isParameter = array == Arrays::Gamma || array == Arrays::Beta;
    int64_t count = (isParameter ? 1 : rows) * block.width;
    Address address = driver.allocate(size_t(count * block.getElementBytes()));
    arrays.at[array] = reinterpret_cast<void *>(address);
    // A megabyte of numbers again and again: making all of them would take longer than the measurement.
    auto bytesOfArray = size_t(count * block.getElementBytes());
    std::vector<unsigned char> numbers = makeNumbers(block, std::min<int64_t>(count, 1 << 18), uint64_t(array));
    driver.toDevice(address, numbers.data(), numbers.size());
    for (size_t done = numbers.size(); done < bytesOfArray; done += numbers.size())
      driver.copy(address + done, address, std::min(numbers.size(), bytesOfArray - done), stream);
  }
  Address from = driver.allocate(half), to = driver.allocate(half);
  driver.fill(from, 0, half / 4, stream);
  Timer timer;
  auto call = [&] { callOnGPU(block, arrays, rows, stream); };
  auto copy = [&] { driver.copy(to, from, half, stream); };
  timer.time(stream, call);
  timer.time(stream, copy);
  std::vector<double> calls, copies, ratios;
  for (int i = 0; i < samples; ++i) {
    calls.push_back(timer.time(stream, call));
    copies.push_back(timer.time(stream, copy));
    ratios.push_back(copies.back() / calls.back());
  }
  double gigabytes = double(block.getCompulsoryBytes(rows)) / 1e9;
  std::sort(ratios.begin(), ratios.end());
  std::printf("time,%s,%s,%lld,%lld,%.3f,%.1f,%.1f,%.3f,%.3f,%.3f\n", block.name, block.type, (long long)block.width,
              (long long)rows, takeMedian(calls) * 1e6, gigabytes / takeMedian(calls), gigabytes / takeMedian(copies),
              takeMedian(ratios), ratios.front(), ratios.back());
  std::fflush(stdout);
  for (void *array : arrays.at)
    driver.release(reinterpret_cast<Address>(array));
  driver.release(from);
  driver.release(to);
}
