// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The turns that the threads of a block take. Each runs alone until it needs others. When none can go on by itself, the
// warps whose lanes have all arrived go on, or all threads leave their barrier.

#include "test/ptx/Block.h"

#include <algorithm>
#include <numeric>

using namespace resid::ptx;

const Instruction *Thread::fail(const Instruction *instruction, const llvm::Twine &message) {
  block->run.fail(instruction, block->index, id, message);
  state = State::Failed;
  return nullptr;
}

Block::Block(Run &run) : run(run) {
  unsigned count = run.launch.blockX;
  registers.resize(uint64_t(count) * run.function.stackSlots);
  threads.resize(count);
  times.resize((count + 31) / 32);
  for (unsigned id = 0; id < count; ++id) {
    Thread &thread = threads[id];
    thread.block = this;
    thread.id = id;
    thread.time = &times[id / 32];
    thread.parameters = run.launch.parameters.data();
    thread.counters = run.counters.data();
    thread.fuel = &run.fuel;
  }
}

void Block::startThread(Thread &thread) {
  thread.registers = registers.data() + uint64_t(thread.id) * run.function.stackSlots;
  std::copy(run.function.frame.begin(), run.function.frame.end(), thread.registers);
  thread.next = run.function.code.data();
  thread.state = State::Runnable;
  thread.carry = false;
  thread.calls.clear();
  thread.copies.clear();
  thread.groups = 0;
  uint32_t lane = thread.id % 32, bit = 1u << lane;
  uint32_t values[kSpecials] = {};
  for (Special one : {NtidY, NtidZ, NctaidY, NctaidZ})
    values[one] = 1;
  values[TidX] = thread.id;
  values[NtidX] = run.launch.blockX;
  values[CtaidX] = index;
  values[NctaidX] = run.launch.gridX;
  values[LaneId] = lane;
  values[WarpId] = thread.id / 32;
  values[NwarpId] = times.size();
  values[LaneMaskEq] = bit;
  values[LaneMaskLt] = bit - 1;
  values[LaneMaskLe] = bit | (bit - 1);
  values[LaneMaskGt] = ~(bit | (bit - 1));
  values[LaneMaskGe] = ~(bit - 1);
  values[DynamicShared] = kSharedBase + run.shared.size() - run.launch.sharedBytes;
  std::copy_n(values, unsigned(kSpecials), thread.registers);
}

void Block::start() {
  uint32_t now = ++run.clock.now;
  run.blockStarts.push_back({now, index});
  run.onTheWay.clear();
  for (WarpTime &time : times) {
    time.launch = run.start;
    time.now = time.blockStart = time.blockSync = time.warpSync = now;
    time.seen.reset();
  }
  for (Thread &thread : threads)
    startThread(thread);
}

std::vector<unsigned> Block::order() {
  std::vector<unsigned> order(threads.size());
  std::iota(order.begin(), order.end(), 0);
  if (run.launch.order.kind == Order::Backward)
    std::reverse(order.begin(), order.end());
  if (run.launch.order.kind == Order::Random)
    std::shuffle(order.begin(), order.end(), run.random);
  return order;
}

bool Block::execute(unsigned newIndex) {
  index = newIndex;
  start();
  std::vector<unsigned> turns = order();
  for (;;) {
    if (run.launch.order.kind == Order::Random)
      turns = order();
    for (unsigned id : turns) {
      Thread &thread = threads[id];
      if (thread.state != State::Runnable)
        continue;
      for (const Instruction *i = thread.next; i;)
        i = i->run(i, thread);
      if (thread.state == State::Failed)
        return false;
    }
    bool resolved = false;
    for (unsigned warp = 0; warp < times.size(); ++warp) {
      countRequests(warp);
      resolved |= resolveWarp(warp);
      if (!run.error.empty())
        return false;
    }
    if (resolved)
      continue;
    if (std::all_of(threads.begin(), threads.end(), [](const Thread &t) { return t.state == State::Done; }))
      return true;
    if (!releaseBarrier())
      return false;
  }
}

/// Lets all threads go on that wait for a barrier of the block, if it is all threads and one barrier.
bool Block::releaseBarrier() {
  const Thread *first = nullptr;
  for (Thread &thread : threads)
    if (thread.state == State::AtWarp)
      return reportDeadlock();
    else if (thread.state == State::AtBarrier && !first)
      first = &thread;
  for (Thread &thread : threads) {
    if (thread.state == State::Done) {
      run.fail(first->next, index, first->id,
               "a barrier of the block, but thread " + llvm::Twine(thread.id) + " has exited");
      return false;
    }
    // An aligned barrier is one instruction for all; others need to have the same number only.
    bool isAligned = Together(thread.next->immediate) == Together::BarrierAligned ||
                     Together(first->next->immediate) == Together::BarrierAligned;
    uint32_t number = thread.read<uint32_t>(thread.next->slots[0]);
    if ((isAligned && thread.next != first->next) || number != first->read<uint32_t>(first->next->slots[0])) {
      run.fail(first->next, index, first->id, "threads wait at different barriers: " + describeWait(thread.id));
      return false;
    }
    if (thread.next->slots[2] && thread.read<uint32_t>(thread.next->slots[1]) != threads.size()) {
      run.fail(thread.next, index, thread.id, "a barrier of a part of the block, which is not supported");
      return false;
    }
  }
  uint32_t now = ++run.clock.now;
  for (WarpTime &time : times)
    time.now = time.blockSync = time.warpSync = now;
  for (Thread &thread : threads) {
    ++thread.next;
    thread.state = State::Runnable;
  }
  return true;
}

/// No thread can go on, and at least one waits for lanes of its warp.
bool Block::reportDeadlock() {
  for (Thread &thread : threads) {
    if (thread.state != State::AtWarp)
      continue;
    uint32_t mask = thread.read<uint32_t>(thread.next->slots[kMaskSlot]);
    unsigned first = thread.id / 32 * 32;
    for (unsigned other = first; other < std::min<size_t>(first + 32, threads.size()); ++other) {
      bool isHere = threads[other].state == State::AtWarp && threads[other].next == thread.next;
      if (!(mask >> (other % 32) & 1) || isHere || threads[other].state == State::Done)
        continue;
      run.fail(thread.next, index, thread.id,
               "no thread can go on: this one waits for lane " + llvm::Twine(other % 32) + ", and " +
                   describeWait(other));
      return false;
    }
  }
  for (Thread &thread : threads)
    if (thread.state == State::AtWarp) {
      run.fail(thread.next, index, thread.id, "no thread can go on: lanes of the warp name different masks");
      break;
    }
  return false;
}

std::string Block::describeWait(unsigned id) const {
  const Thread &thread = threads[id];
  std::string who = "thread " + std::to_string(id);
  if (thread.state == State::Done)
    return who + " has exited";
  const SourceLine *line = run.findLine(thread.next);
  return who + " waits at line " + std::to_string(line ? line->line : 0) + " (" + (line ? line->text.str() : "") + ")";
}
