// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks an access to memory: bounds, alignment, contents, races.

#include "test/ptx/Block.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace resid::ptx;

static std::string hex(uint64_t address) { return "0x" + llvm::utohexstr(address, /*LowerCase=*/true); }

static uint8_t *fail(const Instruction *i, Thread &t, const llvm::Twine &message) {
  t.fail(i, message);
  return nullptr;
}

Region *Run::find(uint64_t address, unsigned bytes, uint32_t site) {
  Region *&last = regionOf[site];
  if (LLVM_LIKELY(last && last->contains(address, bytes)))
    return last;
  auto after = llvm::upper_bound(regions, address, [](uint64_t a, const Region *region) { return a < region->begin; });
  if (after == regions.begin() || !(*std::prev(after))->contains(address, bytes))
    return nullptr;
  return last = *std::prev(after);
}

/// Says how far the address is from the array before or around it.
static uint8_t *failBounds(const Instruction *i, Thread &t, uint64_t address, unsigned bytes, llvm::StringRef what) {
  const Region *nearest = nullptr;
  for (const Region *region : t.block->run.regions)
    if (region->begin <= address)
      nearest = region;
  std::string place;
  if (nearest)
    place = "; that is " + std::to_string(address - nearest->begin) + " bytes from the start of '" + nearest->name +
            "', which has " + std::to_string(nearest->end - nearest->begin);
  return fail(i, t, what + " out of bounds: " + llvm::Twine(bytes) + " bytes at " + hex(address) + place);
}

static uint8_t *failAlignment(const Instruction *i, Thread &t, uint64_t address, unsigned bytes) {
  return fail(i, t, "misaligned access of " + llvm::Twine(bytes) + " bytes at " + hex(address));
}

static uint8_t *failConflict(const Instruction *i, Thread &t, const Conflict &conflict, const llvm::Twine &where) {
  std::string other = t.block->run.describe(conflict.time, conflict.who);
  switch (conflict.kind) {
  case Conflict::None:
    break;
  case Conflict::Unwritten:
    return fail(i, t, "read of " + where + " that the block has not written");
  case Conflict::ReadOfWritten:
  case Conflict::WriteOfWritten:
  case Conflict::WriteOfRead:
    return fail(i, t,
                (conflict.kind == Conflict::ReadOfWritten ? "race: reads " : "race: writes ") + where + " that " +
                    other + (conflict.kind == Conflict::WriteOfRead ? " read" : " wrote") +
                    ", with no barrier between");
  case Conflict::WriteOfNonCoherent:
    return fail(i, t, "writes " + where + " that ld.global.nc has read in this launch");
  case Conflict::NonCoherentOfWritten:
    return fail(i, t, "ld.global.nc reads " + where + " that " + other + " wrote in this launch");
  }
  return nullptr;
}

uint8_t *resid::ptx::accessGlobal(const Instruction *i, Thread &t, uint64_t address, unsigned bytes, AccessKind kind) {
  Run &run = t.block->run;
  Region *region = run.find(address, bytes, Site::unpack(i->slots[5]).index);
  if (LLVM_UNLIKELY(address & (bytes - 1)))
    return failAlignment(i, t, address, bytes);
  if (LLVM_UNLIKELY(!region || region->space != Space::Global))
    return failBounds(i, t, address, bytes, "global memory");
  Conflict conflict;
  if (LLVM_UNLIKELY(!region->shadow.access(address - region->shadowBegin(), bytes, kind, t.id, *t.time, conflict)))
    return failConflict(i, t, conflict, "byte " + llvm::Twine(address - region->begin) + " of '" + region->name + "'");
  t.requests.push_back({i, address});
  return reinterpret_cast<uint8_t *>(address);
}

uint8_t *resid::ptx::accessConst(const Instruction *i, Thread &t, uint64_t address, unsigned bytes) {
  Region *region = t.block->run.find(address, bytes, Site::unpack(i->slots[5]).index);
  if (address & (bytes - 1))
    return failAlignment(i, t, address, bytes);
  if (!region || region->space != Space::Const)
    return failBounds(i, t, address, bytes, "constant memory");
  return reinterpret_cast<uint8_t *>(address);
}

void Run::markOnTheWay(uint32_t address, unsigned bytes, bool isOnTheWay) {
  onTheWay.resize((shared.size() + 3) / 4);
  auto first = onTheWay.begin() + (address - kSharedBase) / 4;
  std::fill(first, first + bytes / 4, isOnTheWay);
}

static bool isOnTheWay(const Run &run, uint64_t offset, unsigned bytes) {
  auto first = run.onTheWay.begin();
  return std::find(first + offset / 4, first + (offset + bytes + 3) / 4, true) != first + (offset + bytes + 3) / 4;
}

uint8_t *resid::ptx::accessShared(const Instruction *i, Thread &t, uint64_t address, unsigned bytes, AccessKind kind) {
  Run &run = t.block->run;
  uint64_t offset = address - kSharedBase;
  if (LLVM_UNLIKELY(address & (bytes - 1)))
    return failAlignment(i, t, address, bytes);
  if (LLVM_UNLIKELY(offset > run.shared.size() || run.shared.size() - offset < bytes))
    return fail(i, t,
                "shared memory out of bounds: " + llvm::Twine(bytes) + " bytes at " + llvm::Twine(int64_t(offset)) +
                    " of " + llvm::Twine(run.shared.size()));
  if (LLVM_UNLIKELY(!run.onTheWay.empty()) && isOnTheWay(run, offset, bytes))
    return fail(i, t, "race: an asynchronous copy to byte " + llvm::Twine(offset) + " of shared memory is on its way");
  Conflict conflict;
  if (LLVM_UNLIKELY(!run.sharedShadow.access(offset, bytes, kind, t.id, *t.time, conflict)))
    return failConflict(i, t, conflict, "byte " + llvm::Twine(offset) + " of shared memory");
  return run.shared.data() + offset;
}
