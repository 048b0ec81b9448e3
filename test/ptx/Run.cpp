// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launch: what it may access, its blocks, its errors and its counts.

#include "test/ptx/Block.h"

#include "llvm/ADT/STLExtras.h"
#include <mutex>
#include <numeric>

using namespace resid::ptx;

static uint64_t sharedBytes(const Function &function, const Launch &launch) {
  // The memory of a launch lies after what the kernel declares, aligned for every access.
  return launch.sharedBytes ? llvm::alignTo(function.sharedBytes, 16) + launch.sharedBytes : function.sharedBytes;
}

Run::Run(const Kernel &kernel, const Launch &launch, const Memory &memory, Clock &clock)
    : kernel(kernel), function(kernel.function), module(kernel.module), launch(launch), clock(clock),
      start(++clock.now), regionOf(module.sites), counters(module.counters), fuel(launch.maxBasicBlocks),
      shared(sharedBytes(kernel.function, launch)), sharedShadow(shared.size(), true), random(launch.order.seed) {
  for (auto *owned : {&memory.regions, &module.regions})
    for (auto &region : *owned) {
      if (region->shadow.generation != clock.generation)
        region->shadow.clear();
      region->shadow.generation = clock.generation;
      regions.push_back(region.get());
    }
  llvm::sort(regions, [](const Region *a, const Region *b) { return a->begin < b->begin; });
}

llvm::Error Run::checkLaunch() const {
  auto refuse = [&](const llvm::Twine &message) {
    return llvm::createStringError("kernel '" + kernel.name() + "': " + message);
  };
  if (launch.blockX == 0 || launch.gridX == 0)
    return refuse("a launch of no threads");
  if (launch.blockX > function.maxThreads)
    return refuse("at most " + llvm::Twine(function.maxThreads) + " threads in a block but got " +
                  llvm::Twine(launch.blockX));
  if (function.requiredThreads && launch.blockX != function.requiredThreads)
    return refuse("expected " + llvm::Twine(function.requiredThreads) + " threads in a block but got " +
                  llvm::Twine(launch.blockX));
  if (launch.parameters.size() != function.parameterBytes)
    return refuse("expected " + llvm::Twine(function.parameterBytes) + " bytes of parameters but got " +
                  llvm::Twine(launch.parameters.size()));
  return llvm::Error::success();
}

llvm::Expected<Counts> Run::execute() {
  std::vector<unsigned> blocks(launch.gridX);
  std::iota(blocks.begin(), blocks.end(), 0);
  if (launch.order.kind == Order::Backward)
    std::reverse(blocks.begin(), blocks.end());
  if (launch.order.kind == Order::Random)
    std::shuffle(blocks.begin(), blocks.end(), random);
  Block block(*this);
  for (unsigned index : blocks)
    if (!block.execute(index))
      return llvm::createStringError(error);
  return count();
}

const SourceLine *Run::findLine(const Instruction *instruction) const {
  for (auto &candidate : module.functions) {
    const Instruction *begin = candidate->code.data();
    if (instruction >= begin && instruction < begin + candidate->code.size())
      return &candidate->lines[candidate->lineOf[instruction - begin]];
  }
  return nullptr;
}

void Run::fail(const Instruction *instruction, unsigned block, unsigned thread, const llvm::Twine &message) {
  const SourceLine *line = findLine(instruction);
  error = ("kernel '" + kernel.name() + "', block " + llvm::Twine(block) + ", thread " + llvm::Twine(thread) +
           ", line " + llvm::Twine(line ? line->line : 0) + ": " + message + ": " + (line ? line->text : ""))
              .str();
}

std::string Run::describe(uint32_t time, uint16_t who) const {
  if (who == kNonCoherent)
    return "ld.global.nc";
  if (who == kManyInLaunch)
    return "several blocks";
  auto after = llvm::upper_bound(blockStarts, std::make_pair(time, ~0u));
  std::string block = after == blockStarts.begin() ? "?" : std::to_string(std::prev(after)->second);
  if (who == kManyInBlock)
    return "several warps of block " + block;
  if (who >= kManyInWarp)
    return "several lanes of warp " + std::to_string(who - kManyInWarp) + " of block " + block;
  return "thread " + std::to_string(who) + " of block " + block;
}

Counts Run::count() const {
  Counts counts;
  counts.loads = loads;
  counts.stores = stores;
  for (auto &one : module.functions)
    for (const SourceLine &line : one->lines) {
      uint64_t times = counters[line.entered] - (line.skipped == ~0u ? 0 : counters[line.skipped]);
      if (times == 0)
        continue;
      counts.opcodes[line.mnemonic.str()] += times;
      counts.instructions += times;
    }
  return counts;
}

llvm::Expected<Counts> resid::ptx::run(const Kernel &kernel, const Launch &launch, const Memory &memory) {
  static std::mutex mutex;
  static Clock clock;
  std::lock_guard<std::mutex> lock(mutex);
  // Stamps of 32 bits last for many launches, and then all shadows are cleared.
  if (clock.now >= 1u << 31) {
    clock.now = 0;
    ++clock.generation;
  }
  Run run(kernel, launch, memory, clock);
  if (llvm::Error error = run.checkLaunch())
    return error;
  return run.execute();
}
