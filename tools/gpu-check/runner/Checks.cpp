// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares calls on a device with those on the CPU; see Checks.h.

#include "Checks.h"
#include "References.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>

DeviceCall::DeviceCall(const Block &block, int64_t rows, int64_t width, bool inPlace)
    : block(block), rows(rows), width(width), inPlace(inPlace) {
  Pointers host;
  for (size_t i = 0; i < block.arrays.size(); ++i) {
    const Array &array = getArray(i);
    onHost.push_back(array.isResult ? std::vector<unsigned char>(getBytes(i))
                                    : makeNumbers(array, array.getElements(rows, width), i));
    bool hasOwn = !inPlace || array.place < 0;
    onDevice.push_back(hasOwn ? reinterpret_cast<void *>(Driver::get().allocate(getBytes(i)))
                              : onDevice[size_t(array.place)]);
  }
  for (std::vector<unsigned char> &array : onHost)
    host.push_back(array.data());
  callOnCPU(block, host, rows, width);
  spoil();
}

DeviceCall::~DeviceCall() {
  for (size_t i = 0; i < onDevice.size(); ++i)
    if (!inPlace || getArray(i).place < 0)
      Driver::get().release(reinterpret_cast<Address>(onDevice[i]));
}

void DeviceCall::spoil() const {
  for (size_t i = 0; i < block.arrays.size(); ++i) {
    const Array &array = getArray(i);
    if (array.isResult && inPlace && array.place >= 0)
      continue;
    std::vector<unsigned char> spoiled(array.isResult ? getBytes(i) : 0, 0xa5);
    const std::vector<unsigned char> &bytes = array.isResult ? spoiled : onHost[i];
    Driver::get().toDevice(reinterpret_cast<Address>(onDevice[i]), bytes.data(), bytes.size());
  }
  // The copies go on behind their return, and the streams of calls do not wait for them.
  Driver::get().synchronizeAll();
}

void DeviceCall::spoilResults(Handle stream) const {
  constexpr unsigned spoiled = 0xa5a5a5a5;
  for (size_t i = 0; i < block.arrays.size(); ++i)
    if (getArray(i).isResult)
      Driver::get().fill(reinterpret_cast<Address>(onDevice[i]), spoiled, getBytes(i) / sizeof(spoiled), stream);
}

int64_t DeviceCall::countOtherBits(size_t number) const {
  const Array &array = getArray(number);
  auto elementBytes = size_t(array.getElementBytes());
  std::vector<unsigned char> found(getBytes(number));
  Driver::get().toHost(found.data(), reinterpret_cast<Address>(onDevice[number]), found.size());
  const unsigned char *expected = onHost[number].data();
  if (std::memcmp(found.data(), expected, found.size()) == 0)
    return 0;
  int64_t others = 0, elements = array.getElements(rows, width);
  for (int64_t i = 0; i < elements; ++i) {
    size_t at = size_t(i) * elementBytes;
    bool isSame = std::memcmp(&found[at], expected + at, elementBytes) == 0;
    others += !isSame && !(std::isnan(getNumber(array, found.data(), i)) && std::isnan(getNumber(array, expected, i)));
  }
  // Once for each result, since repeats would say it again.
  static std::set<std::pair<const Array *, int64_t>> said;
  if (others && said.insert({&array, width}).second)
    std::fprintf(stderr, "gpu-check: %s of %s: %lld of %lld elements have other bits (%lld rows, %lld columns)\n",
                 array.name, block.name, (long long)others, (long long)elements, (long long)rows, (long long)width);
  return others;
}

int64_t DeviceCall::countOtherBits() const {
  int64_t others = 0;
  for (size_t i = 0; i < block.arrays.size(); ++i)
    if (getArray(i).isResult)
      others += countOtherBits(i);
  return others;
}

double DeviceCall::getLargestError() const { return ::getLargestError(block, onHost, rows, width); }

namespace {

/// Prints one line per check, and counts mistakes.
struct Report {
  const Block &block;
  int64_t rows, width;
  int mistakes = 0;

  void add(const char *what, int64_t others) {
    std::printf("check,%s,%s,%lld,%lld,%s,%lld\n", block.name, block.getType(), (long long)width, (long long)rows, what,
                (long long)others);
    mistakes += others != 0;
  }
};

} // namespace

/// A call, repeats of it on all streams, and the same as a graph.
static void checkOneCall(Report &report, const Handle (&streams)[3], int repeats) {
  const Driver &driver = Driver::get();
  DeviceCall call(report.block, report.rows, report.width);
  call.run(nullptr);
  driver.synchronizeAll();
  report.add("bits", call.countOtherBits());
  call.spoil();
  call.runByItself(streams[0]);
  driver.synchronize(streams[0]);
  report.add("runtime's memory", call.countOtherBits());
  // Repeats run back to back; each result is compared on the host.
  int64_t others = 0;
  for (int i = 0; i < repeats; ++i) {
    call.spoilResults(streams[i % 3]);
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
  // In rows of few columns all terms of an element may cancel each other, with no larger element beside it to compare
  // the error with.
  constexpr int64_t leastColumns = 64;
  if (report.block.reference != Reference::None && report.width >= leastColumns)
    std::printf("error,%s,%s,%lld,%lld,ulp of the row's largest element,%.3f\n", report.block.name,
                report.block.getType(), (long long)report.width, (long long)report.rows, call.getLargestError());
}

static void checkStreams(Report &report, const Handle (&streams)[3]) {
  DeviceCall first(report.block, report.rows, report.width), second(report.block, report.rows, report.width),
      third(report.block, report.rows, report.width);
  const DeviceCall *calls[] = {&first, &second, &third};
  for (int i = 0; i < 3; ++i)
    calls[i]->run(streams[i]);
  Driver::get().synchronizeAll();
  report.add("streams", first.countOtherBits() + second.countOtherBits() + third.countOtherBits());
}

static void checkAlone(Report &report, const char *what, bool inPlace) {
  DeviceCall call(report.block, report.rows, report.width, inPlace);
  call.run(nullptr);
  Driver::get().synchronizeAll();
  report.add(what, call.countOtherBits());
}

int check(const Block &block, int64_t rows, int repeats) {
  const Driver &driver = Driver::get();
  static const Handle primary = driver.retainPrimary(0), other = driver.createContext(0);
  driver.setCurrent(primary);
  static const Handle streams[3] = {driver.createStream(), driver.createStream(), driver.createStream()};
  bool hasPlaces = std::any_of(block.arrays.begin(), block.arrays.end(), [](const Array &a) { return a.place >= 0; });
  int mistakes = 0;
  for (int64_t width : block.widths) {
    constexpr int64_t mostElements = 1 << 21;
    Report report{block, std::max<int64_t>(1, std::min(rows, mostElements / width)), width};
    checkOneCall(report, streams, repeats);
    checkStreams(report, streams);
    if (hasPlaces)
      checkAlone(report, "in place", /*inPlace=*/true);
    driver.setCurrent(other);
    checkAlone(report, "second context", /*inPlace=*/false);
    driver.setCurrent(primary);
    mistakes += report.mistakes;
  }
  std::fflush(stdout);
  return mistakes;
}
