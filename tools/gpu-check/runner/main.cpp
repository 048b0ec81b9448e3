// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks and times the blocks that were packed on the first device, one request of standard input after the other:
// `check ROWS REPEATS BLOCK`, `time MEGABYTES SAMPLES BLOCK ...` for the blocks of a group, or `list`, which needs no
// device. Answers with lines of CSV and the line `end`; what fails ends the process.

#include "Checks.h"

#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>

static void list() {
  for (const Block &block : blocks)
    for (int64_t width : block.widths)
      std::printf("block,%s,%s,%lld,%d,%d\n", block.name, block.group, (long long)width, !block.timedWidths.empty(),
                  block.isWhole());
}

static std::vector<const Block *> readBlocks(std::istream &words) {
  std::vector<const Block *> chosen;
  for (std::string name; words >> name;) {
    size_t before = chosen.size();
    for (const Block &block : blocks)
      if (name == block.name)
        chosen.push_back(&block);
    if (chosen.size() == before)
      fail(2, "expected the name of a block, but got '%s'", name.c_str());
  }
  return chosen;
}

static void beginOnDevice() {
  static bool hasBegun;
  if (std::exchange(hasBegun, true))
    return;
  const Driver &driver = Driver::get();
  driver.setCurrent(driver.retainPrimary(0));
  int version = driver.getVersion();
  std::printf("device,%s,%d.%d\n", driver.getName(0), version / 1000, version % 1000 / 10);
}

int main() {
  for (std::string request; std::getline(std::cin, request);) {
    std::istringstream words(request);
    std::string what;
    int64_t size = 0;
    int times = 0;
    words >> what;
    if (what == "list") {
      list();
    } else {
      words >> size >> times;
      std::vector<const Block *> chosen = readBlocks(words);
      if (chosen.empty() || (what != "check" && what != "time"))
        fail(2, "expected list, check ROWS REPEATS BLOCK or time MEGABYTES SAMPLES BLOCK ..., but got '%s'",
             request.c_str());
      beginOnDevice();
      if (what == "check")
        check(*chosen.front(), size, times);
      else
        measure(chosen, size << 20, times);
      for (const auto &[kernel, bytes] : getLocalMemory())
        std::printf("local,%s,%d\n", kernel.c_str(), bytes);
    }
    std::printf("end\n");
    std::fflush(stdout);
  }
  return 0;
}
