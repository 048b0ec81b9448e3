// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the lanes of a warp do together: shuffles, votes, reductions, barriers of the warp. Only barriers order memory:
// shuffles and votes do not, as NVIDIA says.

#include "test/ptx/Block.h"

#include "llvm/ADT/bit.h"
#include <algorithm>

using namespace resid::ptx;

uint32_t Block::lanesNotDone(unsigned warp) const {
  uint32_t lanes = 0;
  for (unsigned id = warp * 32; id < std::min<size_t>(warp * 32 + 32, threads.size()); ++id)
    if (threads[id].state != State::Done)
      lanes |= 1u << (id % 32);
  return lanes;
}

bool Block::resolveWarp(unsigned warp) {
  bool resolved = false;
  uint32_t tried = 0;
  for (unsigned lane = 0; lane < 32 && warp * 32 + lane < threads.size(); ++lane) {
    Thread &thread = threads[warp * 32 + lane];
    if (thread.state != State::AtWarp || (tried >> lane & 1))
      continue;
    const Instruction *instruction = thread.next;
    uint32_t mask = thread.read<uint32_t>(instruction->slots[kMaskSlot]);
    if (!(mask >> lane & 1)) {
      thread.fail(instruction,
                  "the mask 0x" + llvm::Twine::utohexstr(mask) + " lacks the lane itself, " + llvm::Twine(lane));
      return false;
    }
    // Lanes that have exited are not waited for.
    uint32_t lanes = mask & lanesNotDone(warp), ready = 0;
    for (unsigned other = 0; other < 32; ++other) {
      if (!(lanes >> other & 1))
        continue;
      Thread &partner = threads[warp * 32 + other];
      if (partner.state == State::AtWarp && partner.next == instruction &&
          partner.read<uint32_t>(instruction->slots[kMaskSlot]) == mask)
        ready |= 1u << other;
    }
    tried |= ready;
    if (ready != lanes)
      continue;
    bool isMatrix = Together(instruction->immediate) >= Together::LoadMatrix;
    if (!(isMatrix ? runMatrix(warp, lanes, instruction) : runTogether(warp, lanes, instruction)))
      return false;
    resolved = true;
  }
  return resolved;
}

void Block::synchronize(unsigned warp, uint32_t lanes) {
  WarpTime &time = times[warp];
  unsigned present = std::min<size_t>(32, threads.size() - warp * 32);
  uint32_t now = ++run.clock.now;
  time.now = now;
  if (lanes == (present == 32 ? ~0u : (1u << present) - 1)) {
    time.warpSync = now;
    return;
  }
  if (!time.seen)
    time.seen = std::make_unique<std::array<std::array<uint32_t, 32>, 32>>();
  auto &seen = *time.seen;
  // Each lane learns what any of them knows, and that all of them have come here.
  std::array<uint32_t, 32> joined{};
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned of = 0; (lanes >> lane & 1) && of < 32; ++of)
      joined[of] = std::max(joined[of], lanes >> of & 1 ? now : seen[lane][of]);
  for (unsigned lane = 0; lane < 32; ++lane)
    if (lanes >> lane & 1)
      seen[lane] = joined;
}

/// Where a shuffle reads, and whether that lies within the segment, as the manual's pseudo code has it.
static unsigned sourceLane(Together kind, unsigned lane, uint32_t distance, uint32_t clampAndMask, bool &inRange) {
  unsigned clamp = clampAndMask & 31, segment = clampAndMask >> 8 & 31, by = distance & 31;
  int last = (lane & segment) | (clamp & ~segment), first = lane & segment, source = 0;
  switch (kind) {
  case Together::ShuffleUp:
    source = int(lane) - int(by);
    inRange = source >= last;
    break;
  case Together::ShuffleDown:
    source = lane + by;
    inRange = source <= last;
    break;
  case Together::ShuffleButterfly:
    source = lane ^ by;
    inRange = source <= last;
    break;
  default:
    source = first | (by & ~segment);
    inRange = source <= last;
    break;
  }
  return inRange ? source : lane;
}

static bool isShuffle(Together kind) { return kind >= Together::ShuffleUp && kind <= Together::ShuffleIndex; }

static uint32_t reduce(Together kind, uint32_t a, uint32_t b) {
  switch (kind) {
  case Together::ReduceAdd:
    return a + b;
  case Together::ReduceMinU:
    return std::min(a, b);
  case Together::ReduceMaxU:
    return std::max(a, b);
  case Together::ReduceMinS:
    return std::min(int32_t(a), int32_t(b));
  case Together::ReduceMaxS:
    return std::max(int32_t(a), int32_t(b));
  case Together::ReduceAnd:
    return a & b;
  case Together::ReduceOr:
    return a | b;
  default:
    return a ^ b;
  }
}

/// Slot 0 is the result, 1 a predicate (0: none), 2 the value, 3 the distance, 4 the clamp of a shuffle.
bool Block::runTogether(unsigned warp, uint32_t lanes, const Instruction *instruction) {
  auto kind = Together(instruction->immediate);
  Thread *first = &threads[warp * 32];
  uint32_t values[32] = {}, results[32] = {}, votes = 0, reduced = 0;
  bool inRange[32] = {}, isFirst = true;
  if (kind == Together::WarpBarrier)
    synchronize(warp, lanes);
  else
    for (unsigned lane = 0; lane < 32; ++lane)
      if (lanes >> lane & 1) {
        values[lane] = first[lane].read<uint32_t>(instruction->slots[2]);
        votes |= (values[lane] & 1) << lane;
        reduced = isFirst ? values[lane] : reduce(kind, reduced, values[lane]);
        isFirst = false;
      }
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!(lanes >> lane & 1))
      continue;
    if (isShuffle(kind)) {
      unsigned from = sourceLane(kind, lane, first[lane].read<uint32_t>(instruction->slots[3]),
                                 first[lane].read<uint32_t>(instruction->slots[4]), inRange[lane]);
      if (!(lanes >> from & 1)) {
        first[lane].fail(instruction, "the shuffle reads lane " + llvm::Twine(from) + ", which is not there");
        return false;
      }
      results[lane] = values[from];
    } else {
      results[lane] = kind == Together::VoteAll       ? votes == lanes
                      : kind == Together::VoteAny     ? votes != 0
                      : kind == Together::VoteUniform ? votes == 0 || votes == lanes
                      : kind == Together::VoteBallot  ? votes
                                                      : reduced;
    }
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!(lanes >> lane & 1))
      continue;
    Thread &thread = first[lane];
    if (kind != Together::WarpBarrier)
      thread.write(instruction->slots[0], results[lane]);
    if (isShuffle(kind) && instruction->slots[1])
      thread.write<bool>(instruction->slots[1], inRange[lane]);
    ++thread.next;
    thread.state = State::Runnable;
  }
  return true;
}
