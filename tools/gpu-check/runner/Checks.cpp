// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Checks.h"
#include "References.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>

HostCall::HostCall(const Block &block, int64_t rows, int64_t width, Rows kind)
    : block(block), rows(rows), width(width) {
  Pointers pointers;
  for (size_t i = 0; i < block.arrays.size(); ++i) {
    const Array &array = block.arrays[i];
    arrays.push_back(array.isResult ? std::vector<unsigned char>(size_t(array.getBytes(rows, width)))
                                    : makeNumbers(array, array.getElements(rows, width), width, i, kind));
    pointers.push_back(arrays.back().data());
  }
  callOnCPU(block, pointers, rows, width);
}

DeviceCall::DeviceCall(const HostCall &host, bool inPlace) : host(host), inPlace(inPlace) {
  for (size_t i = 0; i < host.arrays.size(); ++i) {
    bool hasOwn = !inPlace || getArray(i).place < 0;
    onDevice.push_back(hasOwn ? reinterpret_cast<void *>(Driver::get().allocate(getBytes(i)))
                              : onDevice[size_t(getArray(i).place)]);
  }
  spoil();
}

DeviceCall::~DeviceCall() {
  for (size_t i = 0; i < onDevice.size(); ++i)
    if (!inPlace || getArray(i).place < 0)
      Driver::get().release(reinterpret_cast<Address>(onDevice[i]));
}

void DeviceCall::spoil() const {
  for (size_t i = 0; i < onDevice.size(); ++i) {
    const Array &array = getArray(i);
    if (array.isResult && inPlace && array.place >= 0)
      continue;
    std::vector<unsigned char> spoiled(array.isResult ? getBytes(i) : 0, 0xa5);
    const std::vector<unsigned char> &bytes = array.isResult ? spoiled : host.arrays[i];
    Driver::get().toDevice(reinterpret_cast<Address>(onDevice[i]), bytes.data(), bytes.size());
  }
  // The copies go on after their return, and the streams of calls do not wait for them.
  Driver::get().synchronizeAll();
}

void DeviceCall::spoilResults(Handle stream) const {
  constexpr unsigned spoiled = 0xa5a5a5a5;
  for (size_t i = 0; i < onDevice.size(); ++i)
    if (getArray(i).isResult)
      Driver::get().fill(reinterpret_cast<Address>(onDevice[i]), spoiled, getBytes(i) / sizeof(spoiled), stream);
}

int64_t DeviceCall::countOtherBits(size_t number) const {
  const Array &array = getArray(number);
  auto elementBytes = size_t(array.getElementBytes());
  std::vector<unsigned char> found(getBytes(number));
  Driver::get().toHost(found.data(), reinterpret_cast<Address>(onDevice[number]), found.size());
  const unsigned char *expected = host.arrays[number].data();
  if (std::memcmp(found.data(), expected, found.size()) == 0)
    return 0;
  int64_t others = 0, elements = array.getElements(host.rows, host.width);
  for (int64_t i = 0; i < elements; ++i) {
    size_t at = size_t(i) * elementBytes;
    bool isSame = std::memcmp(&found[at], expected + at, elementBytes) == 0;
    others += !isSame && !(std::isnan(getNumber(array, found.data(), i)) && std::isnan(getNumber(array, expected, i)));
  }
  // Once for each result, since repeats would say it again.
  static std::set<std::pair<const Array *, int64_t>> said;
  if (others && said.insert({&array, host.width}).second)
    std::fprintf(stderr, "gpu-check: %s of %s: %lld of %lld elements have other bits (%lld rows, %lld columns)\n",
                 array.name, host.block.name, (long long)others, (long long)elements, (long long)host.rows,
                 (long long)host.width);
  return others;
}

int64_t DeviceCall::countOtherBits() const {
  int64_t others = 0;
  for (size_t i = 0; i < onDevice.size(); ++i)
    if (getArray(i).isResult)
      others += countOtherBits(i);
  return others;
}

/// Prints one line per check.
static void report(const HostCall &host, const char *what, int64_t others) {
  std::printf("check,%s,%s,%lld,%lld,%s,%lld\n", host.block.name, host.block.getType(), (long long)host.width,
              (long long)host.rows, what, (long long)others);
}

/// A call, repeats of it on all streams, and the same as a graph.
static void checkOneCall(const HostCall &host, const Handle (&streams)[3], int repeats) {
  const Driver &driver = Driver::get();
  DeviceCall call(host);
  call.run(nullptr);
  driver.synchronizeAll();
  report(host, "bits", call.countOtherBits());
  call.spoil();
  call.runByItself(streams[0]);
  driver.synchronize(streams[0]);
  report(host, "runtime's memory", call.countOtherBits());
  // Repeats run back to back; each result is compared on the host.
  int64_t others = 0;
  for (int i = 0; i < repeats; ++i) {
    call.spoilResults(streams[i % 3]);
    call.run(streams[i % 3]);
    driver.synchronize(streams[i % 3]);
    others += call.countOtherBits();
  }
  report(host, "repeats", others);
  call.spoil();
  driver.beginCapture(streams[0]);
  call.run(streams[0]);
  Handle graph = driver.endCapture(streams[0]);
  driver.launchGraph(graph, streams[0]);
  driver.synchronize(streams[0]);
  report(host, "graph", call.countOtherBits());
  // In rows of few columns all terms of an element may cancel each other, with no larger element beside it to compare
  // the error with.
  constexpr int64_t leastColumns = 64;
  if (host.block.reference != Reference::None && host.width >= leastColumns)
    std::printf("error,%s,%s,%lld,%lld,ulp of the row's largest element,%.3f\n", host.block.name, host.block.getType(),
                (long long)host.width, (long long)host.rows,
                getLargestError(host.block, host.arrays, host.rows, host.width));
}

static void checkStreams(const HostCall &host, const Handle (&streams)[3]) {
  DeviceCall first(host), second(host), third(host);
  const DeviceCall *calls[] = {&first, &second, &third};
  for (int i = 0; i < 3; ++i)
    calls[i]->run(streams[i]);
  Driver::get().synchronizeAll();
  report(host, "streams", first.countOtherBits() + second.countOtherBits() + third.countOtherBits());
}

static void checkAlone(const HostCall &host, const char *what, bool inPlace = false) {
  DeviceCall call(host, inPlace);
  call.run(nullptr);
  Driver::get().synchronizeAll();
  report(host, what, call.countOtherBits());
}

void check(const Block &block, int64_t rows, int repeats) {
  const Driver &driver = Driver::get();
  static const Handle primary = driver.retainPrimary(0), other = driver.createContext(0);
  driver.setCurrent(primary);
  static const Handle streams[3] = {driver.createStream(), driver.createStream(), driver.createStream()};
  bool hasPlaces = std::any_of(block.arrays.begin(), block.arrays.end(), [](const Array &a) { return a.place >= 0; });
  for (int64_t width : block.widths) {
    constexpr int64_t mostElements = 1 << 21;
    int64_t some = block.isWhole() ? block.getOwnRows() : std::max<int64_t>(1, std::min(rows, mostElements / width));
    HostCall host(block, some, width);
    checkOneCall(host, streams, repeats);
    checkStreams(host, streams);
    if (hasPlaces)
      checkAlone(host, "in place", /*inPlace=*/true);
    checkAlone(HostCall(block, some, width, Rows::Hard), "hard rows");
    checkAlone(HostCall(block, some, width, Rows::NotFinite), "NaN and infinities");
    driver.setCurrent(other);
    preload(block);
    checkAlone(host, "second context");
    driver.setCurrent(primary);
    std::printf("done,%s of %lld columns\n", block.name, (long long)width);
  }
}
