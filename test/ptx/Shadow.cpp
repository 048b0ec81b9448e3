// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of races. A cell holds one word, and four cells one byte each where parts of a word are accessed.

#include "test/ptx/Shadow.h"

#include <algorithm>
#include <new>

using namespace resid::ptx;

static Cell *allocate(uint64_t count) {
  auto *cells = static_cast<Cell *>(std::calloc(std::max<uint64_t>(count, 1), sizeof(Cell)));
  if (!cells)
    std::abort();
  return cells;
}

Shadow::Shadow(uint64_t bytes, bool isShared)
    : wordCount((bytes + 3) / 4), words(allocate(wordCount)), isShared(isShared) {}

Shadow::~Shadow() {
  std::free(words);
  std::free(bytes);
}

void Shadow::clear() {
  std::free(words);
  std::free(bytes);
  words = allocate(wordCount);
  bytes = nullptr;
}

/// Whether an earlier access of this launch lies before what the thread does now.
static bool isOrdered(uint32_t stamp, uint16_t who, uint16_t thread, const WarpTime &time) {
  if (stamp < time.blockStart || who == kManyInLaunch)
    return false;
  if (stamp < time.blockSync || who == thread)
    return true;
  if (who >= kManyInWarp)
    return who < kManyInBlock && who - kManyInWarp == thread / 32 && stamp < time.warpSync;
  if (who / 32 != thread / 32)
    return false;
  return stamp < time.warpSync || (time.seen && stamp < (*time.seen)[thread % 32][who % 32]);
}

/// The reader that stands for two reads, neither of which lies before the other.
static uint16_t joinReaders(uint16_t former, uint32_t stamp, uint16_t thread, const WarpTime &time) {
  if (stamp < time.blockStart || former == kManyInLaunch)
    return kManyInLaunch;
  if (former == thread)
    return thread;
  unsigned warp = former < kManyInWarp ? former / 32 : former < kManyInBlock ? former - kManyInWarp : ~0u;
  return warp == thread / 32u ? kManyInWarp + warp : kManyInBlock;
}

bool Shadow::accessCell(Cell &cell, AccessKind kind, uint16_t thread, const WarpTime &time, Conflict &conflict) {
  uint32_t start = isShared ? time.blockStart : time.launch;
  bool wasWritten = cell.writeTime >= start, wasRead = cell.readTime >= start;
  auto report = [&](Conflict::Kind what, bool ofWrite) {
    conflict = {what, ofWrite ? cell.writeTime : cell.readTime, ofWrite ? cell.writer : cell.reader};
    return false;
  };
  if (kind == AccessKind::Write) {
    if (wasWritten && !isOrdered(cell.writeTime, cell.writer, thread, time))
      return report(Conflict::WriteOfWritten, true);
    if (wasRead && cell.reader == kNonCoherent)
      return report(Conflict::WriteOfNonCoherent, false);
    if (wasRead && !isOrdered(cell.readTime, cell.reader, thread, time))
      return report(Conflict::WriteOfRead, false);
    cell = {time.now, 0, thread, 0};
    return true;
  }
  if (isShared && !wasWritten)
    return report(Conflict::Unwritten, true);
  if (wasWritten && kind == AccessKind::ReadNonCoherent)
    return report(Conflict::NonCoherentOfWritten, true);
  if (wasWritten && !isOrdered(cell.writeTime, cell.writer, thread, time))
    return report(Conflict::ReadOfWritten, true);
  if (kind == AccessKind::ReadNonCoherent)
    cell.reader = kNonCoherent;
  else if (!wasRead || (cell.reader != kNonCoherent && isOrdered(cell.readTime, cell.reader, thread, time)))
    cell.reader = thread;
  else if (cell.reader != kNonCoherent)
    cell.reader = joinReaders(cell.reader, cell.readTime, thread, time);
  cell.readTime = time.now;
  return true;
}

/// The cells of the bytes of a word, which says from now on that it has some.
Cell *Shadow::split(Cell &word) {
  if (!bytes)
    bytes = allocate(4 * wordCount);
  Cell *parts = bytes + 4 * (&word - words);
  if (word.writer != kSplit) {
    std::fill_n(parts, 4, word);
    word.writer = kSplit;
  }
  return parts;
}

bool Shadow::accessSlowly(Cell &cell, AccessKind kind, uint16_t thread, const WarpTime &time, Conflict &conflict) {
  if (cell.writer != kSplit)
    return accessCell(cell, kind, thread, time, conflict);
  Cell *parts = split(cell);
  for (unsigned part = 0; part < 4; ++part)
    if (!accessCell(parts[part], kind, thread, time, conflict))
      return false;
  // A write makes the parts equal again.
  if (kind == AccessKind::Write)
    cell = parts[0];
  return true;
}

bool Shadow::accessBytes(uint64_t offset, unsigned count, AccessKind kind, uint16_t thread, const WarpTime &time,
                         Conflict &conflict) {
  Cell *parts = split(words[offset / 4]) + offset % 4;
  for (unsigned part = 0; part < count; ++part)
    if (!accessCell(parts[part], kind, thread, time, conflict))
      return false;
  return true;
}
