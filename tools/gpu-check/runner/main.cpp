// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the blocks that were packed on the first device. Usage: runner check ROWS REPEATS, runner time MEGABYTES
// SAMPLES, or runner load 0 0, and behind these names of blocks, or none for all. Prints CSV; exit code 1 where bits
// differ. runner list 0 0 needs no device and prints blocks with the widths that are checked.

#include "Checks.h"

#include <cstdio>
#include <cstdlib>
#include <string>

static bool isChosen(const Block &block, int count, char **values) {
  for (int i = 4; i < count; ++i)
    if (values[i] == std::string(block.name))
      return true;
  return count <= 4;
}

static std::vector<const Block *> choose(int count, char **values) {
  std::vector<const Block *> chosen;
  for (const Block &block : blocks)
    if (isChosen(block, count, values))
      chosen.push_back(&block);
  return chosen;
}

/// Blocks that are timed together, in the order of their first ones.
static std::vector<std::vector<const Block *>> makeGroups(const std::vector<const Block *> &chosen) {
  std::vector<std::vector<const Block *>> groups;
  std::map<std::string, size_t> numbers;
  for (const Block *block : chosen) {
    auto [found, isNew] = numbers.emplace(block->group, groups.size());
    if (isNew)
      groups.emplace_back();
    groups[found->second].push_back(block);
  }
  return groups;
}

int main(int count, char **values) {
  std::string what = count >= 4 ? values[1] : "";
  if (what != "check" && what != "time" && what != "load" && what != "list") {
    std::fprintf(stderr, "expected: runner check ROWS REPEATS [BLOCK ...], runner time MEGABYTES SAMPLES [BLOCK ...], "
                         "runner load 0 0 [BLOCK ...], or runner list 0 0 [BLOCK ...]\n");
    return 2;
  }
  std::vector<const Block *> chosen = choose(count, values);
  if (what == "list") {
    for (const Block *block : chosen)
      for (int64_t width : block->widths)
        std::printf("block,%s,%lld\n", block->name, (long long)width);
    return 0;
  }
  const Driver &driver = Driver::get();
  driver.setCurrent(driver.retainPrimary(0));
  int version = driver.getVersion();
  std::printf("device,%s,%d.%d\n", driver.getName(0), version / 1000, version % 1000 / 10);
  if (what == "time" && !driver.hasEvents()) {
    std::fprintf(stderr, "gpu-check: expected a driver with events, but this one has none\n");
    return 4;
  }
  // Kernels that keep rows in registers would be slow with local memory; looped ones may have some.
  auto reportLocalMemory = [] {
    int kept = 0;
    for (const auto &[kernel, bytes] : getLocalMemory()) {
      std::printf("local,%s,%d\n", kernel.c_str(), bytes);
      kept += kernel.find("__registers_") != std::string::npos;
    }
    return kept;
  };
  int mistakes = 0;
  if (what == "load")
    for (const Block *block : chosen)
      preload(*block);
  else if (what == "check")
    for (const Block *block : chosen)
      mistakes += check(*block, std::atoll(values[2]), std::atoi(values[3]));
  else
    for (const std::vector<const Block *> &group : makeGroups(chosen))
      measure(group, std::atoll(values[2]) << 20, std::atoi(values[3]));
  mistakes += reportLocalMemory();
  std::fprintf(stderr, "gpu-check: %zu blocks, %d mistakes\n", chosen.size(), mistakes);
  return mistakes ? 1 : 0;
}
