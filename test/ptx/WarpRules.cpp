// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decodes what threads do together. They stop there; Warp.cpp and Block.cpp go on.

#include "test/ptx/Block.h"
#include "test/ptx/Decoder.h"

using namespace resid::ptx;

namespace {

const Instruction *waitForBlock(const Instruction *i, Thread &t) { return t.wait(i, State::AtBarrier); }

void decodeShfl(Decoder &d) {
  auto kind = d.takeOne<Together>({{"up", Together::ShuffleUp},
                                   {"down", Together::ShuffleDown},
                                   {"bfly", Together::ShuffleButterfly},
                                   {"idx", Together::ShuffleIndex}});
  if (!d.take("sync") || !kind || d.takeType() != Type::B32 || !d.hasOperands(5))
    return d.fail("unknown instruction");
  const Operand &result = d.statement().operands[0];
  bool isPair = result.kind == Operand::Pair;
  uint32_t value = d.in(1), distance = d.in(2), clamp = d.in(3), mask = d.in(4);
  uint32_t to = d.out(isPair ? result.parts[0] : result), predicate = isPair ? d.out(result.parts[1]) : 0;
  d.emit(waitForWarp, {to, predicate, value, distance, clamp, mask}, uint64_t(*kind));
}

void emitTogether(Decoder &d, Together kind) {
  if (!d.hasOperands(3))
    return;
  uint32_t value = d.in(1), mask = d.in(2), to = d.out(size_t(0));
  d.emit(waitForWarp, {to, 0, value, 0, 0, mask}, uint64_t(kind));
}

void decodeVote(Decoder &d) {
  auto kind = d.takeOne<Together>({{"all", Together::VoteAll},
                                   {"any", Together::VoteAny},
                                   {"uni", Together::VoteUniform},
                                   {"ballot", Together::VoteBallot}});
  auto type = d.takeType();
  if (!d.take("sync") || !kind || type != (kind == Together::VoteBallot ? Type::B32 : Type::Pred))
    return d.fail("unknown instruction");
  emitTogether(d, *kind);
}

void decodeRedux(Decoder &d) {
  auto type = d.takeType();
  bool isSigned = type == Type::S32;
  auto logic =
      d.takeOne<Together>({{"and", Together::ReduceAnd}, {"or", Together::ReduceOr}, {"xor", Together::ReduceXor}});
  auto kind = logic ? logic
                    : d.takeOne<Together>({{"add", Together::ReduceAdd},
                                           {"min", isSigned ? Together::ReduceMinS : Together::ReduceMinU},
                                           {"max", isSigned ? Together::ReduceMaxS : Together::ReduceMaxU}});
  if (!d.take("sync") || !kind || (logic ? type != Type::B32 : type != Type::U32 && !isSigned))
    return d.fail("unknown instruction");
  emitTogether(d, *kind);
}

/// bar.sync is barrier.sync.aligned. A second operand is the number of threads.
void decodeBarrier(Decoder &d) {
  bool isShort = d.opcode() == "bar";
  if (d.take("warp")) {
    if (!isShort || !d.take("sync") || !d.hasOperands(1))
      return d.fail("unknown instruction");
    return d.emit(waitForWarp, {0, 0, 0, 0, 0, d.in(size_t(0))}, uint64_t(Together::WarpBarrier));
  }
  d.take("cta");
  bool isAligned = d.take("aligned") || isShort;
  size_t count = d.statement().operands.size();
  if (!d.take("sync") || count < 1 || count > 2)
    return d.fail("unknown instruction");
  uint32_t number = d.in(size_t(0)), threads = count == 2 ? d.in(1) : 0;
  d.emit(waitForBlock, {number, threads, count == 2},
         uint64_t(isAligned ? Together::BarrierAligned : Together::Barrier));
}

uint32_t copy(uint32_t lane) { return lane; }

/// Which lanes run together is up to the chip. Here each runs alone.
void decodeActivemask(Decoder &d) {
  if (d.takeType() != Type::B32 || !d.hasOperands(1))
    return d.fail("unknown instruction");
  d.emit(pure<copy>.run, {d.out(size_t(0)), LaneMaskEq});
}

} // namespace

void resid::ptx::addWarpRules(Rules &rules) {
  rules.any["shfl"] = decodeShfl;
  rules.any["vote"] = decodeVote;
  rules.any["redux"] = decodeRedux;
  rules.any["bar"] = decodeBarrier;
  rules.any["barrier"] = decodeBarrier;
  rules.any["activemask"] = decodeActivemask;
}
