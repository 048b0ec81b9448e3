// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launch and the block that it runs just now. Owns the state of both, and the order in which threads take turns.

#pragma once

#include "test/ptx/Code.h"
#include "llvm/ADT/Twine.h"
#include <random>

namespace resid::ptx {

/// Counts barriers, over all launches of a process, so that stamps of one launch are older than those of the next.
struct Clock {
  uint32_t now = 0, generation = 1;
};

struct Run {
  Run(const Kernel &kernel, const Launch &launch, const Memory &memory, Clock &clock);
  llvm::Error checkLaunch() const;
  llvm::Expected<Counts> execute();
  Region *find(uint64_t address, unsigned bytes, uint32_t site);
  /// "block 3, thread 4": of an access that is noted under this time.
  std::string describe(uint32_t time, uint16_t who) const;
  void fail(const Instruction *instruction, unsigned block, unsigned thread, const llvm::Twine &message);
  /// The line of the text that an instruction comes from.
  const SourceLine *findLine(const Instruction *instruction) const;
  Counts count() const;
  /// Marks words of shared memory that an asynchronous copy will write, or no longer.
  void markOnTheWay(uint32_t address, unsigned bytes, bool isOnTheWay);

  const Kernel &kernel;
  const Function &function;
  const ModuleCode &module;
  const Launch &launch;
  Clock &clock;
  uint32_t start;                 ///< The time when the launch began.
  std::vector<Region *> regions;  ///< By address.
  std::vector<Region *> regionOf; ///< By instruction that accesses memory: what it accessed last.
  std::vector<uint64_t> counters;
  uint64_t fuel;
  std::vector<uint8_t> shared;
  Shadow sharedShadow;
  std::vector<bool> onTheWay; ///< By word of shared memory; empty where a kernel has no asynchronous copies.
  std::vector<std::pair<uint32_t, unsigned>> blockStarts; ///< Times, and which block began.
  std::mt19937_64 random;
  Traffic loads, stores;
  std::string error;
};

struct Block {
  explicit Block(Run &run);
  /// False after an error, which the run has.
  bool execute(unsigned index);

  // In Warp.cpp: what the lanes of a warp do together.
  /// Runs what the lanes of a warp wait for, where all that take part are there. Returns whether any did.
  bool resolveWarp(unsigned warp);
  /// Notes a barrier of these lanes of a warp.
  void synchronize(unsigned warp, uint32_t lanes);
  std::string describeWait(unsigned thread) const;

  // In Sectors.cpp: counts what the lanes of a warp asked for since the last call.
  void countRequests(unsigned warp);

  Run &run;
  unsigned index = 0;
  std::vector<uint64_t> registers;
  std::vector<Thread> threads;
  std::vector<WarpTime> times; ///< By warp.

private:
  void start();
  void startThread(Thread &thread);
  std::vector<unsigned> order();
  bool releaseBarrier();
  bool reportDeadlock();
  uint32_t lanesNotDone(unsigned warp) const;
  bool runTogether(unsigned warp, uint32_t lanes, const Instruction *instruction);
  // In Matrix.cpp.
  bool runMatrix(unsigned warp, uint32_t present, const Instruction *instruction);
  bool loadMatrix(unsigned warp, const Instruction *instruction);
  void multiplyMatrix(unsigned warp, const Instruction *instruction);
};

/// The bytes of an access to memory, after all checks. Null after an error.
uint8_t *accessGlobal(const Instruction *i, Thread &t, uint64_t address, unsigned bytes, AccessKind kind);
uint8_t *accessConst(const Instruction *i, Thread &t, uint64_t address, unsigned bytes);
uint8_t *accessShared(const Instruction *i, Thread &t, uint64_t address, unsigned bytes, AccessKind kind);

/// What an instruction that accesses memory has in its slot 5.
struct Site {
  uint32_t index;
  bool isStore;
  unsigned bytes;
  static uint32_t pack(uint32_t index, bool isStore, unsigned bytes) { return index << 8 | isStore << 7 | bytes; }
  static Site unpack(uint32_t slot) { return {slot >> 8, bool(slot >> 7 & 1), slot & 127}; }
};

/// The handler of what the lanes of a warp do together: they wait for each other.
inline const Instruction *waitForWarp(const Instruction *i, Thread &t) { return t.wait(i, State::AtWarp); }

/// What an instruction that needs other threads has in its immediate.
enum class Together : uint64_t {
  Barrier,
  BarrierAligned,
  WarpBarrier,
  ShuffleUp,
  ShuffleDown,
  ShuffleButterfly,
  ShuffleIndex,
  VoteAll,
  VoteAny,
  VoteUniform,
  VoteBallot,
  ReduceAdd,
  ReduceMinU,
  ReduceMinS,
  ReduceMaxU,
  ReduceMaxS,
  ReduceAnd,
  ReduceOr,
  ReduceXor,
  LoadMatrix,
  MultiplyMatrix
};
/// The slot of such an instruction that holds the mask of lanes.
constexpr unsigned kMaskSlot = 5;

} // namespace resid::ptx
