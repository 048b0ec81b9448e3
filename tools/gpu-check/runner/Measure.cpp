// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Checks.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <iterator>
#include <set>

namespace {

/// Calls between two events: enough that the events cost nothing.
constexpr int kCalls = 20;
/// Rows that leave most of a device idle.
constexpr int64_t kFewRows[] = {1, 8, 64};

/// What is timed: calls on a stream, by themselves or as a graph. Of few rows, a call is shorter than it takes the host
/// to enqueue the next one, so that those must be a graph.
class Timed {
public:
  Timed(Handle stream, bool isGraph, const std::function<void()> &call) : stream(stream) {
    const Driver &driver = Driver::get();
    enqueue = [call] {
      for (int i = 0; i < kCalls; ++i)
        call();
    };
    // What comes first is not counted: kernels are loaded, and the clock of the device rises.
    enqueue();
    if (isGraph) {
      driver.beginCapture(stream);
      enqueue();
      Handle graph = driver.endCapture(stream);
      enqueue = [graph, stream] { Driver::get().launchGraph(graph, stream); };
    }
    time();
  }

  /// Seconds of one call.
  double time() const {
    static const Handle first = Driver::get().createEvent(), second = Driver::get().createEvent();
    Driver::get().record(first, stream);
    enqueue();
    Driver::get().record(second, stream);
    return double(Driver::get().elapsed(first, second)) / 1000 / kCalls;
  }

private:
  Handle stream;
  std::function<void()> enqueue;
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
          makeNumbers(array, std::min<int64_t>(array.getElements(rows, width), 1 << 18), width, i, Rows::Plain);
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
  if (block.flops != 0)
    std::printf("rate,%s,%s,%.3f\n", block.name, block.getType(),
                double(block.flops) / takeMedian(samples.seconds) / 1e12);
}

/// The copy moves as many bytes as a call must. All of a group are timed by turns, so that the clock of the device is
/// that of all.
static void measureRows(const std::vector<const Block *> &group, int64_t rows, int64_t width, int samples) {
  const Driver &driver = Driver::get();
  static const Handle stream = driver.createStream();
  const Block &first = *group.front();
  auto half = size_t(first.getCompulsoryBytes(rows, width) / 2);
  TimedArrays arrays(first, rows, width, stream);
  Scratch scratch(/*isOnDevice=*/true);
  Address from = driver.allocate(half), to = driver.allocate(half);
  driver.fill(from, 0, half / 4, stream);
  bool isGraph = first.isWhole() || rows <= *std::rbegin(kFewRows);
  Timed copy(stream, isGraph, [&] { driver.copy(to, from, half, stream); });
  std::vector<Timed> calls;
  for (const Block *block : group)
    calls.emplace_back(stream, isGraph,
                       [&, block] { callOnGPU(*block, arrays.pointers, rows, width, stream, &scratch); });
  std::vector<Samples> found(group.size());
  std::vector<double> copies;
  for (int i = 0; i < samples; ++i) {
    copies.push_back(copy.time());
    for (size_t block = 0; block < group.size(); ++block) {
      found[block].seconds.push_back(calls[block].time());
      found[block].ratios.push_back(copies.back() / found[block].seconds.back());
    }
  }
  for (size_t block = 0; block < group.size(); ++block)
    print(*group[block], rows, width, found[block], copies);
  driver.release(from);
  driver.release(to);
}

void measure(const std::vector<const Block *> &group, int64_t bytes, int samples) {
  const Block &first = *group.front();
  for (int64_t width : first.timedWidths) {
    std::set<int64_t> all;
    if (first.isWhole()) {
      all.insert(first.getOwnRows());
    } else {
      all.insert(std::begin(kFewRows), std::end(kFewRows));
      all.insert(std::max<int64_t>(1, bytes / (width * first.arrays.front().getElementBytes())));
    }
    for (int64_t rows : all)
      measureRows(group, rows, width, samples);
  }
  for (const Block *block : group)
    std::printf("done,%s\n", block->name);
}
