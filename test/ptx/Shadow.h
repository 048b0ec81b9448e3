// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who read and wrote memory last, and whether a barrier lies between. Owns the rules of races. Does not own bounds.
//
// Time is a count of barriers. An access is stamped with the time of its warp. It is ordered before a thread's next
// access if it is the thread's own, or if its stamp is older than a barrier that both threads took part in.

#pragma once

#include "llvm/Support/Compiler.h"
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace resid::ptx {

/// What the threads of a warp know of time.
struct WarpTime {
  uint32_t now = 0;        ///< The stamp of accesses.
  uint32_t launch = 0;     ///< Older stamps are of earlier launches.
  uint32_t blockStart = 0; ///< Older stamps are of other blocks.
  uint32_t blockSync = 0;  ///< Older stamps of this block lie before a barrier of the block.
  uint32_t warpSync = 0;   ///< Older stamps of this warp lie before a barrier of the warp.
  /// seen[a][b]: older stamps of lane b lie before a barrier that lane a took part in, where some lanes did not.
  std::unique_ptr<std::array<std::array<uint32_t, 32>, 32>> seen;
};

enum class AccessKind : uint8_t { Read, ReadNonCoherent, Write };

/// The last write of some bytes, and the reads since.
struct Cell {
  uint32_t writeTime, readTime;
  uint16_t writer, reader; ///< Threads of a block, or one of the values below.
};

/// Values of `reader` that are no thread.
constexpr uint16_t kManyInWarp = 0x8000; ///< And the number of the warp.
constexpr uint16_t kManyInBlock = 0xfffc, kManyInLaunch = 0xfffd, kNonCoherent = 0xfffe;
/// A value of `writer`: the bytes of this word have cells of their own.
constexpr uint16_t kSplit = 0xffff;

struct Conflict {
  enum Kind { None, Unwritten, ReadOfWritten, WriteOfWritten, WriteOfRead, WriteOfNonCoherent, NonCoherentOfWritten };
  Kind kind = None;
  uint32_t time = 0; ///< Of the other access.
  uint16_t who = 0;  ///< The other thread, or one of the values above.
};

class Shadow {
public:
  /// Memory that is shared by the threads of a block has no contents before the block writes it.
  Shadow(uint64_t bytes, bool isShared);
  ~Shadow();
  Shadow(const Shadow &) = delete;
  Shadow &operator=(const Shadow &) = delete;

  /// Notes an access of aligned bytes, from an offset on. False if it conflicts with an earlier one.
  bool access(uint64_t offset, unsigned bytes, AccessKind kind, uint16_t thread, const WarpTime &time,
              Conflict &conflict) {
    if (LLVM_UNLIKELY(bytes < 4))
      return accessBytes(offset, bytes, kind, thread, time, conflict);
    for (Cell *cell = words + offset / 4, *end = cell + bytes / 4; cell != end; ++cell)
      if (!accessWord(*cell, kind, thread, time, conflict))
        return false;
    return true;
  }
  /// Forgets everything, which a clock that starts anew asks for.
  void clear();
  uint32_t generation = 0; ///< Of the clock that its stamps are of.

private:
  bool accessWord(Cell &cell, AccessKind kind, uint16_t thread, const WarpTime &time, Conflict &conflict) {
    uint32_t start = isShared ? time.blockStart : time.launch;
    // Most accesses are the first of their kind, or of a thread to what it knows already.
    if (kind == AccessKind::Write && cell.writer != kSplit && cell.writeTime < start && cell.readTime < start) {
      cell = {time.now, 0, thread, 0};
      return true;
    }
    if (LLVM_LIKELY(kind != AccessKind::Write && cell.writer != kSplit)) {
      bool ownWrite = cell.writer == thread && cell.writeTime >= time.blockStart;
      if (ownWrite ? kind == AccessKind::Read : !isShared && cell.writeTime < start) {
        if (cell.readTime < start ||
            (cell.reader == thread && cell.readTime >= time.blockStart && kind == AccessKind::Read)) {
          cell.readTime = time.now;
          cell.reader = kind == AccessKind::Read ? thread : kNonCoherent;
          return true;
        }
        if (cell.reader == kNonCoherent || (cell.reader == kManyInLaunch && kind == AccessKind::Read))
          return true;
      }
    }
    return accessSlowly(cell, kind, thread, time, conflict);
  }
  bool accessSlowly(Cell &cell, AccessKind kind, uint16_t thread, const WarpTime &time, Conflict &conflict);
  bool accessCell(Cell &cell, AccessKind kind, uint16_t thread, const WarpTime &time, Conflict &conflict);
  bool accessBytes(uint64_t offset, unsigned bytes, AccessKind kind, uint16_t thread, const WarpTime &time,
                   Conflict &conflict);
  Cell *split(Cell &word);

  uint64_t wordCount;
  Cell *words, *bytes = nullptr; ///< Zero pages until they are touched, since most of a buffer may never be.
  bool isShared;
};

} // namespace resid::ptx
