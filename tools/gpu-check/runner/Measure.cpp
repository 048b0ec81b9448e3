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

/// The arrays of calls that fill the device.
class TimedArrays {
public:
  TimedArrays(const Block &block, int64_t rows, int64_t width, Handle stream) {
    const Driver &driver = Driver::get();
    for (size_t i = 0; i < block.arrays.size(); ++i) {
      const Array &array = block.arrays[i];
      auto bytes = size_t(array.getBytes(rows, width));
      Address address = driver.allocate(bytes);
      pointers.push_back(reinterpret_cast<void *>(address));
      // A megabyte of numbers again and again: making all of them would take longer than the measurement.
      std::vector<unsigned char> numbers =
          makeNumbers(array, std::min<int64_t>(array.getElements(rows, width), 1 << 18), i);
      driver.toDevice(address, numbers.data(), numbers.size());
      for (size_t done = numbers.size(); done < bytes; done += numbers.size())
        driver.copy(address + done, address, std::min(numbers.size(), bytes - done), stream);
    }
    driver.synchronizeAll();
  }
  ~TimedArrays() {
    for (void *array : pointers)
      Driver::get().release(reinterpret_cast<Address>(array));
  }
  TimedArrays(const TimedArrays &) = delete;

  Pointers pointers;
};

/// What was measured of one block.
struct Samples {
  std::vector<double> seconds, ratios;
};

} // namespace

static void print(const Block &block, int64_t rows, int64_t width, Samples samples, const std::vector<double> &copies) {
  double gigabytes = double(block.getCompulsoryBytes(rows, width)) / 1e9;
  std::sort(samples.ratios.begin(), samples.ratios.end());
  std::printf("time,%s,%s,%lld,%lld,%.3f,%.1f,%.1f,%.3f,%.3f,%.3f\n", block.name, block.getType(), (long long)width,
              (long long)rows, takeMedian(samples.seconds) * 1e6, gigabytes / takeMedian(samples.seconds),
              gigabytes / takeMedian(copies), takeMedian(samples.ratios), samples.ratios.front(),
              samples.ratios.back());
}

/// The copy moves as many bytes as a call must.
static void measureWidth(const std::vector<const Block *> &group, int64_t bytes, int samples, int64_t width) {
  const Driver &driver = Driver::get();
  const Block &first = *group.front();
  int64_t rows = std::max<int64_t>(1, bytes / (width * first.arrays.front().getElementBytes()));
  auto half = size_t(first.getCompulsoryBytes(rows, width) / 2);
  Handle stream = driver.createStream();
  TimedArrays arrays(first, rows, width, stream);
  Scratch scratch(/*isOnDevice=*/true);
  Address from = driver.allocate(half), to = driver.allocate(half);
  driver.fill(from, 0, half / 4, stream);
  Timer timer;
  auto timeCopy = [&] { return timer.time(stream, [&] { driver.copy(to, from, half, stream); }); };
  auto timeCall = [&](const Block &block) {
    return timer.time(stream, [&] { callOnGPU(block, arrays.pointers, rows, width, stream, &scratch); });
  };
  // What comes first is not counted: kernels are loaded, and the clock of the device rises.
  timeCopy();
  for (const Block *block : group)
    timeCall(*block);
  std::vector<Samples> found(group.size());
  std::vector<double> copies;
  for (int i = 0; i < samples; ++i) {
    copies.push_back(timeCopy());
    for (size_t block = 0; block < group.size(); ++block) {
      found[block].seconds.push_back(timeCall(*group[block]));
      found[block].ratios.push_back(copies.back() / found[block].seconds.back());
    }
  }
  for (size_t block = 0; block < group.size(); ++block)
    print(*group[block], rows, width, found[block], copies);
  driver.release(from);
  driver.release(to);
}

/// All of a group are timed by turns, so that the clock of the device is that of all.
void measure(const std::vector<const Block *> &group, int64_t bytes, int samples) {
  for (int64_t width : group.front()->timedWidths)
    measureWidth(group, bytes, samples, width);
  for (const Block *block : group)
    std::printf("timed,%s\n", block->name);
  std::fflush(stdout);
}
