// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares calls on a device with those on the CPU; see Checks.h.

#include "Checks.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>

DeviceCall::DeviceCall(const Block &block, int64_t rows) : block(block), rows(rows) {
  const Driver &driver = Driver::get();
  Arrays host;
  for (int array = 0; array < Arrays::Count; ++array) {
    bool isResult = array >= Arrays::Y;
    int64_t count = int64_t(getBytes(array)) / block.getElementBytes();
    onHost.push_back(isResult ? std::vector<unsigned char>(getBytes(array))
                              : makeNumbers(block, count, uint64_t(array)));
  }
  for (int array = 0; array < Arrays::Count; ++array) {
    host.at[array] = onHost[size_t(array)].data();
    Address address = driver.allocate(getBytes(array));
    onDevice.at[array] = reinterpret_cast<void *>(address);
    driver.toDevice(address, onHost[size_t(array)].data(), getBytes(array));
  }
  callOnCPU(block, host, rows);
}

DeviceCall::~DeviceCall() {
  for (void *array : onDevice.at)
    Driver::get().release(reinterpret_cast<Address>(array));
}

size_t DeviceCall::getBytes(int array) const {
  bool isParameter = array == Arrays::Gamma || array == Arrays::Beta;
  return size_t((isParameter ? 1 : rows) * block.getRowBytes());
}

void DeviceCall::spoil() const {
  std::vector<unsigned char> bytes(getBytes(Arrays::Y), 0xa5);
  for (int array : {Arrays::Y, Arrays::Sum})
    Driver::get().toDevice(reinterpret_cast<Address>(onDevice.at[array]), bytes.data(), bytes.size());
}

int64_t DeviceCall::countOtherBits() const {
  int64_t others = 0;
  auto elementBytes = size_t(block.getElementBytes());
  for (int array : {Arrays::Y, Arrays::Sum}) {
    std::vector<unsigned char> found(getBytes(array));
    Driver::get().toHost(found.data(), reinterpret_cast<Address>(onDevice.at[array]), found.size());
    const unsigned char *expected = onHost[size_t(array)].data();
    if (std::memcmp(found.data(), expected, found.size()) == 0)
      continue;
    for (int64_t i = 0; i < rows * block.width; ++i) {
      bool isSame =
          std::memcmp(&found[size_t(i) * elementBytes], expected + size_t(i) * elementBytes, elementBytes) == 0;
      others +=
          !isSame && !(std::isnan(getNumber(block, found.data(), i)) && std::isnan(getNumber(block, expected, i)));
    }
  }
  return others;
}

double DeviceCall::getLargestError() const {
  double largest = 0, precision = block.getElementBytes() == 4        ? std::ldexp(1, -24)
                                  : block.type == std::string("bf16") ? std::ldexp(1, -8)
                                                                      : std::ldexp(1, -11);
  std::vector<double> row(size_t(block.width));
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0, squares = 0, most = 0, error = 0;
    // The sum as it was stored: its rounding is not the norm's.
    for (int64_t i = 0; i < block.width; ++i)
      sum += row[size_t(i)] = getNumber(block, onHost[Arrays::Sum].data(), r * block.width + i);
    double mean = block.isLayerNorm ? sum / double(block.width) : 0;
    for (double value : row)
      squares += (value - mean) * (value - mean);
    double epsilon = block.isLayerNorm ? 1e-5 : 1e-6, rstd = 1 / std::sqrt(squares / double(block.width) + epsilon);
    for (int64_t i = 0; i < block.width; ++i) {
      double y = (row[size_t(i)] - mean) * rstd * getNumber(block, onHost[Arrays::Gamma].data(), i);
      if (block.isLayerNorm)
        y += getNumber(block, onHost[Arrays::Beta].data(), i);
      most = std::max(most, std::fabs(y));
      error = std::max(error, std::fabs(y - getNumber(block, onHost[Arrays::Y].data(), r * block.width + i)));
    }
    if (most > 0)
      largest = std::max(largest, error / (most * precision));
  }
  return largest;
}

namespace {

/// Prints one line per check, and counts mistakes.
struct Report {
  const Block &block;
  int64_t rows;
  int mistakes = 0;

  void add(const char *what, int64_t others) {
    std::printf("check,%s,%s,%lld,%lld,%s,%lld\n", block.name, block.type, (long long)block.width, (long long)rows,
                what, (long long)others);
    mistakes += others != 0;
  }
};

} // namespace

int check(const Block &block, int64_t rows, int repeats) {
  const Driver &driver = Driver::get();
  Report report{block, rows};
  Handle streams[3], primary = driver.retainPrimary(0);
  driver.setCurrent(primary);
  for (Handle &stream : streams)
    stream = driver.createStream();
  {
    DeviceCall call(block, rows);
    call.spoil();
    call.run(nullptr);
    driver.synchronizeAll();
    report.add("bits", call.countOtherBits());
    // Repeats run back to back; each result is compared on the host.
    int64_t others = 0;
    for (int i = 0; i < repeats; ++i) {
      call.run(streams[i % 3]);
      driver.synchronize(streams[i % 3]);
      others += call.countOtherBits();
    }
    report.add("repeats", others);
    call.spoil();
    driver.beginCapture(streams[0]);
    call.run(streams[0]);
    Handle graph = driver.endCapture(streams[0]);
    driver.launchGraph(graph, streams[0]);
    driver.synchronize(streams[0]);
    report.add("graph", call.countOtherBits());
    if (!block.hasDropout)
      std::printf("error,%s,%s,%lld,%lld,ulp of the row's largest element,%.3f\n", block.name, block.type,
                  (long long)block.width, (long long)rows, call.getLargestError());
  }
  {
    DeviceCall first(block, rows), second(block, rows), third(block, rows);
    const DeviceCall *calls[] = {&first, &second, &third};
    for (const DeviceCall *call : calls)
      call->spoil();
    for (int i = 0; i < 3; ++i)
      calls[i]->run(streams[i]);
    driver.synchronizeAll();
    report.add("streams", first.countOtherBits() + second.countOtherBits() + third.countOtherBits());
  }
  static Handle other = driver.createContext(0);
  driver.setCurrent(other);
  {
    DeviceCall call(block, rows);
    call.spoil();
    call.run(nullptr);
    driver.synchronizeAll();
    report.add("second context", call.countOtherBits());
  }
  driver.setCurrent(primary);
  std::fflush(stdout);
  return report.mistakes;
}
