// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asynchronous copies from global into shared memory. A copy may happen at any time from its instruction to the wait
// for it. So it is checked at both, is done at the wait, and nobody may touch its bytes in between.

#include "test/ptx/Block.h"
#include "test/ptx/Decoder.h"

#include "llvm/Support/MathExtras.h"

using namespace resid::ptx;

namespace {

/// Slots: the bytes that are read, - - -, the address in global memory, its site. The next instruction has the address
/// in shared memory in slot 4, and the bytes that are written in slot 0.
const Instruction *copyAsync(const Instruction *i, Thread &t) {
  uint64_t from = t.read<uint64_t>(i->slots[4]) + i->immediate;
  uint32_t to = t.read<uint64_t>(i[1].slots[4]) + i[1].immediate;
  unsigned bytes = i[1].slots[0], read = t.read<uint32_t>(i->slots[0]);
  if (read > bytes)
    return t.fail(i, "a copy of " + llvm::Twine(read) + " bytes into " + llvm::Twine(bytes));
  if (from % bytes != 0)
    return t.fail(i, "misaligned access of " + llvm::Twine(bytes) + " bytes");
  // What is left out is not looked at, but the part that is there need not be a power of two.
  for (unsigned done = 0; done < read;) {
    unsigned part = llvm::bit_floor(read - done);
    if (!accessGlobal(i, t, from + done, part, AccessKind::Read))
      return nullptr;
    done += part;
  }
  if (!accessShared(i, t, to, bytes, AccessKind::Write))
    return nullptr;
  t.copies.push_back({i, from, to, bytes, read, t.groups});
  t.block->run.markOnTheWay(to, bytes, true);
  return i + 2;
}

const Instruction *commitGroup(const Instruction *i, Thread &t) {
  ++t.groups;
  return i + 1;
}

/// Does the copies of all groups but the last `immediate` ones. ~0: all copies, those of no group too.
const Instruction *waitForGroups(const Instruction *i, Thread &t) {
  Run &run = t.block->run;
  bool isAll = i->immediate == ~uint64_t(0);
  auto isDue = [&](const AsyncCopy &copy) { return isAll || copy.group + i->immediate < t.groups; };
  size_t due = 0;
  for (; due < t.copies.size() && isDue(t.copies[due]); ++due) {
    const AsyncCopy &copy = t.copies[due];
    run.markOnTheWay(copy.to, copy.bytes, false);
    uint8_t *to = accessShared(copy.instruction, t, copy.to, copy.bytes, AccessKind::Write);
    if (!to)
      return nullptr;
    std::memset(to, 0, copy.bytes);
    std::memcpy(to, reinterpret_cast<const uint8_t *>(copy.from), copy.read);
  }
  t.copies.erase(t.copies.begin(), t.copies.begin() + due);
  return i + 1;
}

/// cp.async.{ca, cg}.shared.global [to], [from], bytes{, bytes that are read}; the others become 0.
void decodeCopy(Decoder &d) {
  bool isAnySize = d.take("ca");
  size_t count = d.statement().operands.size();
  if ((!isAnySize && !d.take("cg")) || (!d.take("shared") && !d.take("shared::cta")) || !d.take("global") ||
      count < 3 || count > 4)
    return d.fail("unknown instruction");
  const Operand &to = d.statement().operands[0], &from = d.statement().operands[1];
  const Operand &size = d.statement().operands[2];
  if (to.kind != Operand::Address || from.kind != Operand::Address || size.kind != Operand::Integer)
    return d.fail("expected two addresses in brackets and a number");
  bool isKnown = size.bits == 16 || (isAnySize && (size.bits == 4 || size.bits == 8));
  if (!isKnown)
    return d.fail("unknown size");
  uint32_t read = count == 4 ? d.in(3) : d.constant(size.bits);
  uint32_t target = d.in(d.baseOf(to)), source = d.in(d.baseOf(from));
  uint32_t site = Site::pack(d.moduleNames().module.sites++, /*isStore=*/false, size.bits);
  d.emit(copyAsync, {read, 0, 0, 0, source, site}, from.bits);
  d.emit(copyAsync, {uint32_t(size.bits), 0, 0, 0, target}, to.bits);
}

void decodeCp(Decoder &d) {
  d.take("async");
  if (d.take("commit_group"))
    return d.hasOperands(0) ? d.emit(commitGroup, {}) : void();
  if (d.take("wait_all"))
    return d.hasOperands(0) ? d.emit(waitForGroups, {}, ~uint64_t(0)) : void();
  if (!d.take("wait_group"))
    return decodeCopy(d);
  if (!d.hasOperands(1) || d.statement().operands[0].kind != Operand::Integer)
    return d.fail("expected a number of groups");
  d.emit(waitForGroups, {}, d.statement().operands[0].bits);
}

} // namespace

void resid::ptx::addAsyncRules(Rules &rules) { rules.any["cp"] = decodeCp; }
